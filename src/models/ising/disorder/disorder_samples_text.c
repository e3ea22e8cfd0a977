/* Samples of quenched disorder in a text file: words between white space, # begins a comment.
 *
 *     shape 4 4            sides Lx, Ly and in three dimensions Lz
 *     couplings 1 -1 ...   of a sample: dimension numbers a site, J(i, i + e_x), J(i, i + e_y), ...
 *     fields 0.5 -0.2 ...  of the same sample: a number a site; in all samples or in none
 *     couplings ...        of the next sample
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/regular_file.h"
#include "models/ising/disorder/disorder_samples_file.h"

/* Of UTF-8, which some editors write. */
static const char byte_order_mark[] = "\xef\xbb\xbf";
static const size_t mark_length = sizeof byte_order_mark - 1;

enum section { NOTHING, SHAPE, COUPLINGS, FIELDS };

static const char *const section_names[] = {
    [NOTHING] = "beginning", [SHAPE] = "shape", [COUPLINGS] = "couplings", [FIELDS] = "fields"};

/* What is being read: `filled` numbers of `section` so far. */
struct text_reader {
  const char *path;
  const size_t *shape;
  struct ising_samples_file *file;
  size_t line;
  size_t coupling_capacity, field_capacity; /* in numbers */
  enum section section;
  size_t filled;
  size_t shape_read[ISING_DIMENSIONS_MAXIMUM];
};

static size_t numbers_wanted(const struct text_reader *reader)
{
  const struct ising_samples_file *file = reader->file;
  switch (reader->section) {
  case NOTHING:
    return 0;
  case SHAPE:
    return file->dimension;
  case COUPLINGS:
    return file->sites * file->dimension;
  case FIELDS:
    return file->sites;
  }
  return 0;
}

/* Where a reader is in its section, for messages: "couplings of sample 3, number 17 of 192". */
static enum gpumc_status
refuse(const struct text_reader *reader, const char *found, struct gpumc_error *error)
{
  char where[96] = "";
  const size_t wanted = numbers_wanted(reader);
  if (reader->section == SHAPE)
    snprintf(where, sizeof where, "a side of the shape");
  else
    snprintf(where, sizeof where, "number %zu of the %zu %s of sample %zu", reader->filled + 1,
             wanted, section_names[reader->section], reader->file->samples - 1);
  return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected %s, found %s", reader->path,
                         reader->line, where, found);
}

/* Room grows with the numbers that are there, not with those that a lattice asks for. */
static enum gpumc_status lengthen(const struct text_reader *reader, double **values,
                                  size_t *capacity, struct gpumc_error *error)
{
  enum { FIRST_CAPACITY = 1024 };
  const size_t count = *capacity == 0 ? FIRST_CAPACITY : 2 * *capacity;
  double *longer = realloc(*values, count * sizeof *longer);
  if (longer == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: the samples up to here do not fit into the memory that is "
                           "left: put fewer into a file",
                           reader->path, reader->line);
  *values = longer;
  *capacity = count;
  return GPUMC_OK;
}

/* The beginning of a word in quotes; what is not printable ASCII is escaped, as \x1b. */
enum { SHOWN_BYTES = 4 * 40 + 3 };
static const char *quoted(const char *word, char text[static SHOWN_BYTES])
{
  size_t length = 0;
  text[length++] = '\'';
  for (size_t i = 0; i < 40 && word[i] != '\0'; i++) {
    const unsigned char byte = (unsigned char)word[i];
    const bool plain = byte > ' ' && byte < 0x7f;
    length += (size_t)snprintf(text + length, SHOWN_BYTES - length, plain ? "%c" : "\\x%02x", byte);
  }
  snprintf(text + length, SHOWN_BYTES - length, "'");
  return text;
}

/* Every sample has fields, or none: asked when one is complete. */
static enum gpumc_status check_sample(const struct text_reader *reader, struct gpumc_error *error)
{
  if (reader->section == COUPLINGS && reader->file->field != NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has no fields, and those before it have",
                           reader->path, reader->line, reader->file->samples - 1);
  return GPUMC_OK;
}

static enum gpumc_status begin_fields(struct text_reader *reader, struct gpumc_error *error)
{
  struct ising_samples_file *file = reader->file;
  if (reader->section != COUPLINGS)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: fields must follow the couplings of their sample", reader->path,
                           reader->line);
  if (file->samples > 1 && file->field == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has fields, and those before it have none",
                           reader->path, reader->line, file->samples - 1);
  return file->field != NULL ? GPUMC_OK
                             : lengthen(reader, &file->field, &reader->field_capacity, error);
}

/* A word where a section may begin. */
static enum gpumc_status
begin_section(struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  char found[SHOWN_BYTES];
  enum gpumc_status status = GPUMC_OK;
  enum section next = NOTHING;
  for (enum section section = SHAPE; section <= FIELDS; section++)
    if (strcmp(word, section_names[section]) == 0)
      next = section;
  if (next == NOTHING || (next == SHAPE) != (reader->section == NOTHING))
    return gpumc_error_set(
        error, GPUMC_INVALID, "%s:%zu: expected %s, found %s", reader->path, reader->line,
        reader->section == NOTHING ? "'shape'" : "'couplings' or 'fields'", quoted(word, found));
  if (next == FIELDS)
    status = begin_fields(reader, error);
  if (next == COUPLINGS)
    status = check_sample(reader, error);
  if (next == COUPLINGS && status == GPUMC_OK)
    reader->file->samples++;
  reader->section = next;
  reader->filled = 0;
  return status;
}

static enum gpumc_status check_shape(const struct text_reader *reader, struct gpumc_error *error)
{
  char found[64], wanted[64];
  const size_t dimension = reader->file->dimension;
  for (size_t d = 0; d < dimension; d++)
    if (reader->shape_read[d] != reader->shape[d])
      return gpumc_error_set(
          error, GPUMC_INVALID, "%s:%zu: the shape is %s, and the lattice of the model %s",
          reader->path, reader->line, ising_shape_text(dimension, reader->shape_read, found),
          ising_shape_text(dimension, reader->shape, wanted));
  return GPUMC_OK;
}

static enum gpumc_status
refuse_size(const struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  return gpumc_error_set(
      error, GPUMC_INVALID, "%s:%zu: number %zu of the %zu %s of sample %zu is %.40s, beyond +-%g",
      reader->path, reader->line, reader->filled + 1, numbers_wanted(reader),
      section_names[reader->section], reader->file->samples - 1, word, ISING_FILE_LARGEST);
}

/* A number of the couplings or fields of the last sample. */
static enum gpumc_status
keep_number(struct text_reader *reader, double value, struct gpumc_error *error)
{
  struct ising_samples_file *file = reader->file;
  const bool is_coupling = reader->section == COUPLINGS;
  double **values = is_coupling ? &file->coupling : &file->field;
  size_t *capacity = is_coupling ? &reader->coupling_capacity : &reader->field_capacity;
  const size_t at = (file->samples - 1) * numbers_wanted(reader) + reader->filled;
  enum gpumc_status status = at < *capacity ? GPUMC_OK : lengthen(reader, values, capacity, error);
  if (status == GPUMC_OK)
    (*values)[at] = value;
  return status;
}

static enum gpumc_status
take_number(struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  char *end, found[SHOWN_BYTES];
  const double value = strtod(word, &end);
  const bool is_side = reader->section == SHAPE;
  const bool is_small = fabs(value) <= ISING_FILE_LARGEST;
  if (*end == '\0' && !is_side && !is_small)
    return refuse_size(reader, word, error);
  if (*end != '\0' || (is_side && !(is_small && value >= 1.0 && value == trunc(value))))
    return refuse(reader, quoted(word, found), error);
  if (is_side)
    reader->shape_read[reader->filled] = (size_t)value;
  else
    status = keep_number(reader, value, error);
  reader->filled++;
  if (is_side && reader->filled == reader->file->dimension)
    return check_shape(reader, error);
  return status;
}

/* Of `length` bytes. */
static enum gpumc_status
take_line(struct text_reader *reader, char *line, size_t length, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  char *rest;
  if (strlen(line) < length)
    return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: a zero byte: this is no text file",
                           reader->path, reader->line);
  line[strcspn(line, "#")] = '\0';
  for (char *word = strtok_r(line, " \t\r\n", &rest); word != NULL && status == GPUMC_OK;
       word = strtok_r(NULL, " \t\r\n", &rest))
    status = reader->filled < numbers_wanted(reader) ? take_number(reader, word, error)
                                                     : begin_section(reader, word, error);
  return status;
}

static enum gpumc_status check_end(const struct text_reader *reader, struct gpumc_error *error)
{
  if (reader->line == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: is empty, and must begin with 'shape'",
                           reader->path);
  if (reader->filled < numbers_wanted(reader))
    return refuse(reader, "the end of the file", error);
  if (reader->file->samples == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected '%s', found the end of the file",
                           reader->path, reader->line,
                           reader->section == NOTHING ? "shape" : "couplings");
  return check_sample(reader, error);
}

enum gpumc_status ising_samples_read_text(const char *path, const size_t *shape,
                                          struct ising_samples_file *file,
                                          struct gpumc_error *error)
{
  struct text_reader reader = {.path = path, .shape = shape, .file = file};
  enum gpumc_status status = GPUMC_OK;
  char *line = NULL;
  size_t room = 0;
  const char *reason;
  FILE *stream = gpumc_regular_stream(path, &reason);
  if (stream == NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", path, reason);
  ssize_t length = 0;
  while (status == GPUMC_OK && (length = getline(&line, &room, stream)) >= 0) {
    const bool marked = reader.line == 0 && strncmp(line, byte_order_mark, mark_length) == 0;
    const size_t skipped = marked ? mark_length : 0;
    reader.line++;
    status = take_line(&reader, line + skipped, (size_t)length - skipped, error);
  }
  if (status == GPUMC_OK && !feof(stream))
    status = gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", path, strerror(errno));
  if (status == GPUMC_OK)
    status = check_end(&reader, error);
  free(line);
  fclose(stream);
  return status;
}
