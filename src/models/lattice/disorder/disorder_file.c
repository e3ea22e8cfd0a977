/* Samples of quenched disorder from a file: recognises its kind and processes its numbers. */
#include "models/lattice/disorder/disorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text_file.h"

/* Bytes of samples that are kept before they are requested, unless one is larger. */
enum { KEPT_BYTES = 16 << 20 };

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

static enum gpumc_status
run_pass(struct lattice_samples_pass *pass, size_t begin, size_t end, struct gpumc_error *error)
{
  bool hdf5 = false;
  pass->begin = begin;
  pass->end = end;
  pass->samples = 0;
  GPUMC_TRY(gpumc_file_is_hdf5(pass->file->path, &hdf5, error));
  return hdf5 ? lattice_samples_read_hdf5(pass, error) : lattice_samples_read_text(pass, error);
}

static enum gpumc_status
has_changed(const struct lattice_samples_file *file, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_INVALID, "%s: changed while it was being read", file->path);
}

/* Memory grows with the numbers that are present, not with those that a file declares. */
static enum gpumc_status lengthen(const struct lattice_samples_file *file,
                                  struct lattice_file_values *values, size_t count, size_t most,
                                  struct gpumc_error *error)
{
  enum { FIRST_CAPACITY = 1024 };
  if (count <= values->capacity)
    return GPUMC_OK;
  size_t capacity = larger(larger(count, FIRST_CAPACITY), 2 * values->capacity);
  capacity = larger(count, smaller(capacity, most));
  double *longer = realloc(values->kept, capacity * sizeof *longer);
  if (longer == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: the requested samples do not fit into the available memory",
                           file->path);
  values->kept = longer;
  values->capacity = capacity;
  return GPUMC_OK;
}

/* Keeps the part of a block that belongs to the samples of a pass. */
static enum gpumc_status keep_block(struct lattice_samples_pass *pass, enum lattice_file_kind kind,
                                    size_t at, const double *block, size_t count,
                                    struct gpumc_error *error)
{
  struct lattice_samples_file *file = pass->file;
  struct lattice_file_values *values = &file->values[kind];
  const size_t begin = larger(at, pass->begin * values->of_sample);
  size_t end = 0, most;
  if (__builtin_mul_overflow(pass->end, values->of_sample, &most))
    most = SIZE_MAX / sizeof *block;
  end = smaller(at + count, most);
  if (begin >= end)
    return GPUMC_OK;
  const size_t kept = values->kept_count + (end - begin);
  GPUMC_TRY(lengthen(file, values, kept, most, error));
  memcpy(values->kept + values->kept_count, block + (begin - at), (end - begin) * sizeof *block);
  values->kept_count = kept;
  return GPUMC_OK;
}

/* The first pass: gathers properties of all numbers, and keeps the first samples. */
static enum gpumc_status survey(struct lattice_samples_pass *pass, enum lattice_file_kind kind,
                                size_t at, const double *block, size_t count,
                                struct gpumc_error *error)
{
  struct lattice_file_values *values = &pass->file->values[kind];
  for (size_t i = 0; i < count; i++) {
    const double size = fabs(block[i]);
    values->alike = at + i == 0 || (values->alike && size == values->largest);
    values->largest = fmax(values->largest, size);
    lattice_multiples_add(&values->multiples, size);
    if ((at + i + 1) % values->of_sample == 0)
      lattice_multiples_end_sample(&values->multiples);
  }
  values->count += count;
  return keep_block(pass, kind, at, block, count, error);
}

/* Sums of the second pass, in the order of the file; `rounding` is at first a sum, and `changed`
 * counts its terms. */
struct weights {
  struct lattice_samples_pass pass;
  double changed[LATTICE_FILE_KINDS];
  size_t found[LATTICE_FILE_KINDS];
};

static enum gpumc_status weigh(struct lattice_samples_pass *pass, enum lattice_file_kind kind,
                               size_t at, const double *block, size_t count,
                               struct gpumc_error *error)
{
  struct weights *weights = (struct weights *)pass;
  struct lattice_file_values *values = &pass->file->values[kind];
  (void)at;
  (void)error;
  for (size_t i = 0; i < count; i++) {
    const double value = block[i];
    values->square += value * value / (double)values->count;
    if (value == 0.0)
      continue;
    values->rounding += fabs(rint(value / pass->quantum) * pass->quantum - value) / fabs(value);
    weights->changed[kind] += 1.0;
  }
  weights->found[kind] += count;
  return GPUMC_OK;
}

/* Computes the results of weigh() for numbers of equal size from that size alone: `square` must
 * have the same bits, since spectra are computed from it. */
static void weigh_alike(struct lattice_file_values *values, double quantum)
{
  const double size = values->largest, term = size * size / (double)values->count;
  for (size_t i = 0; i < values->count; i++)
    values->square += term;
  if (size != 0.0)
    values->rounding = fabs(rint(size / quantum) * quantum - size) / size;
}

static bool all_are_alike(const struct lattice_samples_file *file)
{
  bool alike = true;
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++)
    alike = alike && (file->values[kind].count == 0 || file->values[kind].alike);
  return alike;
}

enum gpumc_status
lattice_samples_weigh(struct lattice_samples_file *file, double quantum, struct gpumc_error *error)
{
  struct weights weights = {.pass = {.file = file, .quantum = quantum, .take = weigh, .all = true}};
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++)
    file->values[kind].square = file->values[kind].rounding = 0.0;
  if (all_are_alike(file)) {
    for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++)
      weigh_alike(&file->values[kind], quantum);
    return GPUMC_OK;
  }
  if (file->kept_samples == file->samples)
    for (enum lattice_file_kind kind = 0; kind < LATTICE_FILE_KINDS; kind++)
      GPUMC_TRY(weigh(&weights.pass, kind, 0, file->values[kind].kept,
                      file->values[kind].kept_count, error));
  else
    GPUMC_TRY(run_pass(&weights.pass, 0, SIZE_MAX, error));
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++) {
    if (weights.found[kind] != file->values[kind].count)
      GPUMC_TRY(has_changed(file, error));
    if (weights.changed[kind] > 0.0)
      file->values[kind].rounding /= weights.changed[kind];
  }
  return GPUMC_OK;
}

/* A later pass: numbers larger than those of the first would not be whole quanta. */
static enum gpumc_status keep_again(struct lattice_samples_pass *pass, enum lattice_file_kind kind,
                                    size_t at, const double *block, size_t count,
                                    struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    if (fabs(block[i]) > pass->file->values[kind].largest)
      return has_changed(pass->file, error);
  return keep_block(pass, kind, at, block, count, error);
}

enum gpumc_status
lattice_samples_keep(struct lattice_samples_file *file, size_t number, struct gpumc_error *error)
{
  struct lattice_samples_pass pass = {.file = file, .take = keep_again};
  const size_t wanted = number - file->first + 1;
  if (wanted <= file->kept_samples)
    return GPUMC_OK;
  const size_t samples =
      smaller(larger(wanted, 2 * file->kept_samples), file->samples - file->first);
  file->kept_samples = 0;
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++)
    file->values[kind].kept_count = 0;
  GPUMC_TRY(run_pass(&pass, file->first, file->first + samples, error));
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++) {
    const struct lattice_file_values *values = &file->values[kind];
    if (values->kept_count != (values->count > 0 ? samples * values->of_sample : 0))
      GPUMC_TRY(has_changed(file, error));
  }
  file->kept_samples = samples;
  return GPUMC_OK;
}

static size_t bytes_of_sample(const struct lattice_samples_file *file)
{
  return file->sites * (file->dimension + 1) * sizeof(double);
}

enum gpumc_status lattice_samples_open(const char *path, size_t dimension, const size_t *shape,
                                       size_t first, struct lattice_samples_file *file,
                                       struct gpumc_error *error)
{
  struct lattice_samples_pass pass = {.file = file, .take = survey, .all = true};
  memset(file, 0, sizeof *file);
  file->path = strdup(path);
  if (file->path == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the path of the couplings");
  file->dimension = dimension;
  file->first = first;
  file->sites = 1;
  for (size_t d = 0; d < dimension; d++)
    file->sites *= file->shape[d] = shape[d];
  file->values[LATTICE_FILE_COUPLINGS].of_sample = file->sites * dimension;
  file->values[LATTICE_FILE_FIELDS].of_sample = file->sites;
  const size_t window = larger(1, KEPT_BYTES / bytes_of_sample(file));
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, run_pass(&pass, first, first + window, error));
  file->samples = pass.samples;
  file->has_fields = file->values[LATTICE_FILE_FIELDS].largest > 0.0;
  file->kept_samples = first < file->samples ? smaller(window, file->samples - first) : 0;
out:
  if (status != GPUMC_OK)
    lattice_samples_file_free(file);
  return status;
}

void lattice_samples_file_free(struct lattice_samples_file *file)
{
  for (int kind = 0; kind < LATTICE_FILE_KINDS; kind++)
    free(file->values[kind].kept);
  free(file->path);
  memset(file, 0, sizeof *file);
}
