/* Samples of quenched disorder from a file: which kind it is, and what every kind has. */
#include "models/ising/disorder/disorder_samples_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/regular_file.h"

static const char hdf5_signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

const char *ising_shape_text(size_t dimension, const size_t *shape, char text[static 64])
{
  const int room = 64;
  int length = snprintf(text, (size_t)room, "%zu x %zu", shape[0], shape[1]);
  if (dimension == 3 && length > 0 && length < room)
    snprintf(text + length, (size_t)(room - length), " x %zu", shape[2]);
  return text;
}

static enum gpumc_status is_hdf5(const char *path, bool *hdf5, struct gpumc_error *error)
{
  char begin[sizeof hdf5_signature];
  const char *reason;
  FILE *stream = gpumc_regular_stream(path, &reason);
  if (stream == NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", path, reason);
  *hdf5 = fread(begin, sizeof begin, 1, stream) == 1 &&
          memcmp(begin, hdf5_signature, sizeof begin) == 0;
  fclose(stream);
  return GPUMC_OK;
}

/* Fields that are all 0 are none, and cost none. */
static void drop_zero_fields(struct ising_samples_file *file)
{
  const size_t count = file->field != NULL ? file->samples * file->sites : 0;
  for (size_t i = 0; i < count; i++)
    if (file->field[i] != 0.0)
      return;
  free(file->field);
  file->field = NULL;
}

enum gpumc_status ising_samples_read(const char *path, size_t dimension, const size_t *shape,
                                     struct ising_samples_file *file, struct gpumc_error *error)
{
  bool hdf5 = false;
  memset(file, 0, sizeof *file);
  file->dimension = dimension;
  file->sites = 1;
  for (size_t d = 0; d < dimension; d++)
    file->sites *= shape[d];
  enum gpumc_status status = is_hdf5(path, &hdf5, error);
  if (status == GPUMC_OK)
    status = hdf5 ? ising_samples_read_hdf5(path, shape, file, error)
                  : ising_samples_read_text(path, shape, file, error);
  if (status == GPUMC_OK)
    drop_zero_fields(file);
  else
    ising_samples_file_free(file);
  return status;
}

void ising_samples_file_free(struct ising_samples_file *file)
{
  free(file->coupling);
  free(file->field);
  memset(file, 0, sizeof *file);
}
