/* Positions of hard disks from a text file: two numbers x y for each disk, in diameters, from the
 * corner of the box. White space separates numbers, # begins a comment. Places outside of the box
 * are mapped to their periodic images in it. Numbers are rounded to quanta; no two disks may
 * overlap afterwards. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "models/hard_disks/hard_disks.h"

enum { WORD_BYTES = 64 };
/* Largest coordinate allowed: a box has fewer diameters, and its whole quanta fit into a double. */
#define LARGEST 1e6

struct reader {
  const char *path;
  FILE *stream;
  size_t line;
};

/* Skips white space and comments. Returns the first byte of a word, or EOF. */
static int find_word(struct reader *reader)
{
  bool in_comment = false;
  int byte;
  while ((byte = getc_unlocked(reader->stream)) != EOF) {
    in_comment = (in_comment || byte == '#') && byte != '\n';
    reader->line += byte == '\n';
    if (!in_comment && strchr(" \t\r\n", byte) == NULL)
      break;
  }
  return byte;
}

/* Reads the next number; `*end` at the end of the file. */
static enum gpumc_status
next_number(struct reader *reader, double *number, bool *end, struct gpumc_error *error)
{
  char word[WORD_BYTES], *rest;
  size_t length = 0;
  int byte = find_word(reader);
  *end = byte == EOF;
  if (*end)
    return ferror(reader->stream) ? gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s",
                                                    reader->path, strerror(errno))
                                  : GPUMC_OK;
  for (; byte != EOF && strchr(" \t\r\n#", byte) == NULL && length < WORD_BYTES - 1;
       byte = getc_unlocked(reader->stream))
    word[length++] = (char)byte;
  word[length] = '\0';
  if (byte != EOF)
    (void)ungetc(byte, reader->stream);
  *number = strtod(word, &rest);
  if (length != strlen(word) || *rest != '\0' || !(fabs(*number) <= LARGEST))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: expected a coordinate, a number up to 1e6 in size",
                           reader->path, reader->line);
  return GPUMC_OK;
}

static enum gpumc_status read_positions(struct reader *reader,
                                        struct hard_disks_parameters *parameters,
                                        struct gpumc_error *error)
{
  const size_t count = 2 * (size_t)parameters->box.particles;
  double number = 0.0;
  bool end = false;
  for (size_t i = 0; i < count; i++) {
    GPUMC_TRY(next_number(reader, &number, &end, error));
    if (end)
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the file ends after %zu coordinates, but %u disks have %zu",
                             reader->path, i, parameters->box.particles, count);
    parameters->positions[i] = hard_disks_in_box(number, parameters->length[i % 2]);
  }
  GPUMC_TRY(next_number(reader, &number, &end, error));
  return end ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID,
                               "%s:%zu: more coordinates than the %zu of %u disks", reader->path,
                               reader->line, count, parameters->box.particles);
}

enum gpumc_status hard_disks_read_file(const char *path, struct hard_disks_parameters *parameters,
                                       struct gpumc_error *error)
{
  const char *reason;
  struct reader reader = {.path = path, .line = 1};
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&parameters->positions, 2 * (size_t)parameters->box.particles,
                                 "positions of disks", error));
  reader.stream = gpumc_regular_stream(path, &reason);
  if (reader.stream == NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", path, reason);
  status = read_positions(&reader, parameters, error);
  fclose(reader.stream);
  size_t one = 0, other = 0;
  if (status == GPUMC_OK)
    status = hard_disks_find_overlap(parameters, &one, &other, error);
  if (status == GPUMC_OK && one != other)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: disks %zu and %zu, counted from 1, overlap",
                           path, one + 1, other + 1);
  return status;
}
