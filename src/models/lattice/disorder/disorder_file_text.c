/* Samples of quenched disorder in a text file: words between white space, # begins a comment.
 *
 *     shape 4 4            sides Lx, Ly and in three dimensions Lz
 *     couplings 1 -1 ...   of a sample: dimension numbers a site, J(i, i + e_x), J(i, i + e_y), ...
 *     fields 0.5 -0.2 ...  of the same sample: a number a site; in all samples or in none
 *     couplings ...        of the next sample
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text_file.h"
#include "models/lattice/disorder/disorder.h"

enum section { NOTHING, SHAPE, COUPLINGS, FIELDS };

static const char *const section_names[] = {
    [NOTHING] = "beginning", [SHAPE] = "shape", [COUPLINGS] = "couplings", [FIELDS] = "fields"};

/* The section being read: `filled` numbers of `section` so far. */
struct text_reader {
  struct lattice_samples_pass *pass;
  const char *path; /* of the pass, as the next two */
  const struct lattice_samples_file *file;
  const size_t *shape;
  struct gpumc_text_file text;
  bool has_fields; /* samples up to here have */
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
                         reader->text.line, where, found);
}

/* Either every sample has fields, or none: checked when one is complete. */
static enum gpumc_status check_sample(const struct text_reader *reader, struct gpumc_error *error)
{
  if (reader->section == COUPLINGS && reader->has_fields)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has no fields, but those before it have",
                           reader->path, reader->text.line, reader->pass->samples - 1);
  return GPUMC_OK;
}

static enum gpumc_status begin_fields(struct text_reader *reader, struct gpumc_error *error)
{
  const size_t samples = reader->pass->samples;
  if (reader->section != COUPLINGS)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: fields must follow the couplings of their sample", reader->path,
                           reader->text.line);
  if (samples > 1 && !reader->has_fields)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: sample %zu has fields, but those before it have none",
                           reader->path, reader->text.line, samples - 1);
  reader->has_fields = true;
  return GPUMC_OK;
}

/* Handles a word where a section may begin. */
static enum gpumc_status
begin_section(struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  char found[GPUMC_QUOTED_BYTES];
  enum section next = NOTHING;
  for (enum section section = SHAPE; section <= FIELDS; section++)
    if (strcmp(word, section_names[section]) == 0)
      next = section;
  if (next == NOTHING || (next == SHAPE) != (reader->section == NOTHING))
    return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected %s, found %s", reader->path,
                           reader->text.line,
                           reader->section == NOTHING ? "'shape'" : "'couplings' or 'fields'",
                           gpumc_word_quoted(word, found));
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
          reader->path, reader->text.line, lattice_shape_text(dimension, reader->shape_read, found),
          lattice_shape_text(dimension, reader->shape, wanted));
  return GPUMC_OK;
}

static enum gpumc_status
refuse_size(const struct text_reader *reader, const char *word, struct gpumc_error *error)
{
  return gpumc_error_set(
      error, GPUMC_INVALID, "%s:%zu: number %zu of the %zu %s of sample %zu is %.40s, beyond +-%g",
      reader->path, reader->text.line, reader->filled + 1, numbers_wanted(reader),
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
  char found[GPUMC_QUOTED_BYTES];
  double value;
  const bool is_number = gpumc_word_is_number(word, &value);
  const bool is_side = reader->section == SHAPE;
  const bool is_small = fabs(value) <= LATTICE_FILE_LARGEST;
  if (is_number && !is_side && !is_small)
    return refuse_size(reader, word, error);
  if (!is_number || (is_side && !(is_small && value >= 1.0 && value == trunc(value))))
    return refuse(reader, gpumc_word_quoted(word, found), error);
  if (is_side)
    reader->shape_read[reader->filled] = (size_t)value;
  else
    GPUMC_TRY(keep_number(reader, value, error));
  reader->filled++;
  if (is_side && reader->filled == reader->file->dimension)
    return check_shape(reader, error);
  return GPUMC_OK;
}

static enum gpumc_status take_words(struct text_reader *reader, struct gpumc_error *error)
{
  char word[GPUMC_WORD_BYTES];
  GPUMC_TRY(gpumc_text_file_word(&reader->text, word, error));
  while (word[0] != '\0') {
    GPUMC_TRY(reader->filled < numbers_wanted(reader) ? take_number(reader, word, error)
                                                      : begin_section(reader, word, error));
    GPUMC_TRY(gpumc_text_file_word(&reader->text, word, error));
  }
  return GPUMC_OK;
}

/* Checks that the file ends where it may. */
static enum gpumc_status check_end(const struct text_reader *reader, struct gpumc_error *error)
{
  if (reader->text.line == 0)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: the file is empty; it must begin with 'shape'", reader->path);
  if (reader->filled < numbers_wanted(reader))
    return refuse(reader, "the end of the file", error);
  if (reader->pass->samples == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: expected '%s', found the end of the file",
                           reader->path, reader->text.line,
                           reader->section == NOTHING ? "shape" : "couplings");
  return check_sample(reader, error);
}

enum gpumc_status
lattice_samples_read_text(struct lattice_samples_pass *pass, struct gpumc_error *error)
{
  struct text_reader reader = {
      .pass = pass, .path = pass->file->path, .file = pass->file, .shape = pass->file->shape};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_text_file_open(reader.path, &reader.text, error));
  GPUMC_TRY_OUT(status, take_words(&reader, error));
  GPUMC_TRY_OUT(status, check_end(&reader, error));
out:
  gpumc_text_file_close(&reader.text);
  return status;
}
