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

#include "core/base/files.h"
#include "models/lattice/disorder/disorder.h"

/* The mark of UTF-8, which some editors write. */
static const char byte_order_mark[] = "\xef\xbb\xbf";
static const size_t mark_length = sizeof byte_order_mark - 1;

enum section { NOTHING, SHAPE, COUPLINGS, FIELDS };

static const char *const section_names[] = {
    [NOTHING] = "beginning", [SHAPE] = "shape", [COUPLINGS] = "couplings", [FIELDS] = "fields"};

/* The section being read: `filled` numbers of `section` so far. */
struct text_reader {
  struct lattice_samples_pass *pass;
  const char *path; /* of the pass, as the next two */
  const struct lattice_samples_file *file;
  const size_t *shape;
  FILE *stream;
  size_t line;         /* of the last byte that was read */
  bool at_end_of_line; /* the next byte begins a line */
  bool has_fields;     /* samples up to here have */
  enum section section;
  size_t filled;
  size_t shape_read[LATTICE_DIMENSIONS_MAXIMUM];
};

static size_t numbers_wanted(const struct text_reader *reader)
{
  const struct lattice_samples_file *file = reader->file;
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

/* Refuses with the position in the section: "couplings of sample 3, number 17 of 192". */
static enum gpumc_status
refuse(const struct text_reader *reader, const char *found, struct gpumc_error *error)
{
  char where[96] = "";
  const size_t wanted = numbers_wanted(reader);
  if (reader->section == SHAPE)
    snprintf(where, sizeof where, "a side of the shape");
  else
    snprintf(where, sizeof where, "number %zu of the %zu %s of sample %zu", reader->filled + 1,
             wanted, section_names[reader->section], reader->pass->samples - 1);
  return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected %s, found %s", reader->path,
                         reader->line, where, found);
}

/* The beginning of a word in quotes; anything but printable ASCII is escaped, as \x1b. */
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

/* Either every sample has fields, or none: checked when one is complete. */
static enum gpumc_status check_sample(const struct text_reader *reader, struct gpumc_error *error)
{
  if (reader->section == COUPLINGS && reader->has_fields)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has no fields, but those before it have",
                           reader->path, reader->line, reader->pass->samples - 1);
  return GPUMC_OK;
}

static enum gpumc_status begin_fields(struct text_reader *reader, struct gpumc_error *error)
{
  const size_t samples = reader->pass->samples;
  if (reader->section != COUPLINGS)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: fields must follow the couplings of their sample", reader->path,
                           reader->line);
  if (samples > 1 && !reader->has_fields)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has fields, but those before it have none",
                           reader->path, reader->line, samples - 1);
  reader->has_fields = true;
  return GPUMC_OK;
}

/* Handles a word where a section may begin. */
static enum gpumc_status
begin_section(struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  char found[SHOWN_BYTES];
  enum section next = NOTHING;
  for (enum section section = SHAPE; section <= FIELDS; section++)
    if (strcmp(word, section_names[section]) == 0)
      next = section;
  if (next == NOTHING || (next == SHAPE) != (reader->section == NOTHING))
    return gpumc_error_set(
        error, GPUMC_INVALID, "%s:%zu: expected %s, found %s", reader->path, reader->line,
        reader->section == NOTHING ? "'shape'" : "'couplings' or 'fields'", quoted(word, found));
  if (next == FIELDS)
    GPUMC_TRY(begin_fields(reader, error));
  if (next == COUPLINGS) {
    GPUMC_TRY(check_sample(reader, error));
    reader->pass->samples++;
  }
  reader->section = next;
  reader->filled = 0;
  return GPUMC_OK;
}

static enum gpumc_status check_shape(const struct text_reader *reader, struct gpumc_error *error)
{
  char found[LATTICE_SHAPE_BYTES], wanted[LATTICE_SHAPE_BYTES];
  const size_t dimension = reader->file->dimension;
  for (size_t d = 0; d < dimension; d++)
    if (reader->shape_read[d] != reader->shape[d])
      return gpumc_error_set(
          error, GPUMC_INVALID, "%s:%zu: the shape is %s, but the lattice of the model is %s",
          reader->path, reader->line, lattice_shape_text(dimension, reader->shape_read, found),
          lattice_shape_text(dimension, reader->shape, wanted));
  return GPUMC_OK;
}

static enum gpumc_status
refuse_size(const struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  return gpumc_error_set(
      error, GPUMC_INVALID, "%s:%zu: number %zu of the %zu %s of sample %zu is %.40s, beyond +-%g",
      reader->path, reader->line, reader->filled + 1, numbers_wanted(reader),
      section_names[reader->section], reader->pass->samples - 1, word, LATTICE_FILE_LARGEST);
}

/* Keeps a number of the couplings or fields of the last sample. */
static enum gpumc_status
keep_number(struct text_reader *reader, double value, struct gpumc_error *error)
{
  const bool is_coupling = reader->section == COUPLINGS;
  const size_t at = (reader->pass->samples - 1) * numbers_wanted(reader) + reader->filled;
  return reader->pass->take(reader->pass,
                            is_coupling ? LATTICE_FILE_COUPLINGS : LATTICE_FILE_FIELDS, at, &value,
                            1, error);
}

static enum gpumc_status
take_number(struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  char *end, found[SHOWN_BYTES];
  const double value = strtod(word, &end);
  const bool is_side = reader->section == SHAPE;
  const bool is_small = fabs(value) <= LATTICE_FILE_LARGEST;
  if (*end == '\0' && !is_side && !is_small)
    return refuse_size(reader, word, error);
  if (*end != '\0' || (is_side && !(is_small && value >= 1.0 && value == trunc(value))))
    return refuse(reader, quoted(word, found), error);
  if (is_side)
    reader->shape_read[reader->filled] = (size_t)value;
  else
    GPUMC_TRY(keep_number(reader, value, error));
  reader->filled++;
  if (is_side && reader->filled == reader->file->dimension)
    return check_shape(reader, error);
  return GPUMC_OK;
}

/* Returns a byte of the file, EOF at its end; counts lines. */
static int next_byte(struct text_reader *reader)
{
  const int byte = getc_unlocked(reader->stream);
  if (byte != EOF && reader->at_end_of_line)
    reader->line++;
  reader->at_end_of_line = byte == '\n' || (byte == EOF && reader->at_end_of_line);
  return byte;
}

static bool is_space(int byte)
{
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static enum gpumc_status no_text(const struct text_reader *reader, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: a zero byte: this is not a text file",
                         reader->path, reader->line);
}

/* Reads the next word, "" at the end of the file. The byte that ends it is left in the stream, so
 * that the line is that of the word; a file may be one line. */
enum { WORD_BYTES = 4096 };
static enum gpumc_status
next_word(struct text_reader *reader, char word[static WORD_BYTES], struct gpumc_error *error)
{
  bool in_comment = false;
  size_t length = 0;
  int byte;
  while ((byte = next_byte(reader)) != EOF) {
    if (byte == '\0')
      return no_text(reader, error);
    in_comment = (in_comment || byte == '#') && byte != '\n';
    if (!in_comment && !is_space(byte))
      break;
  }
  for (; byte != EOF && !is_space(byte) && byte != '#'; byte = next_byte(reader)) {
    if (byte == '\0')
      return no_text(reader, error);
    if (length == WORD_BYTES - 1)
      return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: a word of more than %d bytes",
                             reader->path, reader->line, WORD_BYTES - 1);
    word[length++] = (char)byte;
  }
  word[length] = '\0';
  if (byte != EOF)
    (void)ungetc(byte, reader->stream);
  reader->at_end_of_line = byte == EOF && reader->at_end_of_line;
  return GPUMC_OK;
}

static void skip_mark(struct text_reader *reader)
{
  char begin[sizeof byte_order_mark] = "";
  if (fread(begin, mark_length, 1, reader->stream) != 1 || strcmp(begin, byte_order_mark) != 0)
    rewind(reader->stream);
}

static enum gpumc_status take_words(struct text_reader *reader, struct gpumc_error *error)
{
  char word[WORD_BYTES];
  GPUMC_TRY(next_word(reader, word, error));
  while (word[0] != '\0') {
    GPUMC_TRY(reader->filled < numbers_wanted(reader) ? take_number(reader, word, error)
                                                      : begin_section(reader, word, error));
    GPUMC_TRY(next_word(reader, word, error));
  }
  return GPUMC_OK;
}

/* Checks that the file was read to its end, and ends where it may. */
static enum gpumc_status check_end(const struct text_reader *reader, struct gpumc_error *error)
{
  if (ferror(reader->stream))
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", reader->path,
                           strerror(errno));
  if (reader->line == 0)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: the file is empty; it must begin with 'shape'", reader->path);
  if (reader->filled < numbers_wanted(reader))
    return refuse(reader, "the end of the file", error);
  if (reader->pass->samples == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected '%s', found the end of the file",
                           reader->path, reader->line,
                           reader->section == NOTHING ? "shape" : "couplings");
  return check_sample(reader, error);
}

enum gpumc_status
lattice_samples_read_text(struct lattice_samples_pass *pass, struct gpumc_error *error)
{
  struct text_reader reader = {.pass = pass,
                               .path = pass->file->path,
                               .file = pass->file,
                               .shape = pass->file->shape,
                               .at_end_of_line = true};
  const char *reason;
  reader.stream = gpumc_regular_stream(reader.path, &reason);
  if (reader.stream == NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", reader.path, reason);
  skip_mark(&reader);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, take_words(&reader, error));
  GPUMC_TRY_OUT(status, check_end(&reader, error));
out:
  fclose(reader.stream);
  return status;
}
