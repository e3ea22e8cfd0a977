/* Positions of hard disks from a text file: two numbers x y for each disk, in diameters, from the
 * corner of the box. White space separates numbers, # begins a comment. Places outside of the box
 * are mapped to their periodic images in it. Numbers are rounded to quanta; no two disks may
 * overlap afterwards. */
#include <math.h>

#include "core/base/memory.h"
#include "core/base/text_file.h"
#include "models/hard_disks/hard_disks.h"

/* Largest coordinate allowed: a box has fewer diameters, and its whole quanta fit into a double. */
#define LARGEST 1e6

/* Reads the next number; `*end` at the end of the file. */
static enum gpumc_status
next_number(struct gpumc_text_file *file, double *number, bool *end, struct gpumc_error *error)
{
  char word[GPUMC_WORD_BYTES], found[GPUMC_QUOTED_BYTES];
  GPUMC_TRY(gpumc_text_file_word(file, word, error));
  *end = word[0] == '\0';
  if (*end || (gpumc_word_is_number(word, number) && fabs(*number) <= LARGEST))
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s:%zu: expected a coordinate, a number up to 1e6 in size, found %s",
                         file->path, file->line, gpumc_word_quoted(word, found));
}

static enum gpumc_status read_positions(struct gpumc_text_file *file,
                                        struct hard_disks_parameters *parameters,
                                        struct gpumc_error *error)
{
  const size_t count = 2 * (size_t)parameters->box.particles;
  double number = 0.0;
  bool end = false;
  for (size_t i = 0; i < count; i++) {
    GPUMC_TRY(next_number(file, &number, &end, error));
    if (end)
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the file ends after %zu coordinates, but %u disks have %zu",
                             file->path, i, parameters->box.particles, count);
    parameters->positions[i] = hard_disks_in_box(number, parameters->length[i % 2]);
  }
  GPUMC_TRY(next_number(file, &number, &end, error));
  return end ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID,
                               "%s:%zu: more coordinates than the %zu of %u disks", file->path,
                               file->line, count, parameters->box.particles);
}

enum gpumc_status hard_disks_read_file(const char *path, struct hard_disks_parameters *parameters,
                                       struct gpumc_error *error)
{
  struct gpumc_text_file file = {0};
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&parameters->positions, 2 * (size_t)parameters->box.particles,
                                 "positions of disks", error));
  status = gpumc_text_file_open(path, &file, error);
  if (status == GPUMC_OK)
    status = read_positions(&file, parameters, error);
  gpumc_text_file_close(&file);
  size_t one = 0, other = 0;
  if (status == GPUMC_OK)
    status = hard_disks_find_overlap(parameters, &one, &other, error);
  if (status == GPUMC_OK && one != other)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: disks %zu and %zu, counted from 1, overlap",
                           path, one + 1, other + 1);
  return status;
}
