/* Samples of quenched disorder in files, text or HDF5 (docs/file-format.md).
 *
 * A file is read from its beginning to its end in blocks, and only the requested samples stay in
 * memory; what is known of all of them is gathered on the way. */
#ifndef GPUMC_ISING_DISORDER_SAMPLES_FILE_H
#define GPUMC_ISING_DISORDER_SAMPLES_FILE_H

#include "models/ising/ising.h"

enum ising_file_kind { ISING_FILE_COUPLINGS, ISING_FILE_FIELDS, ISING_FILE_KINDS };

/* The couplings, or the fields, of a file, in units of the energy. */
struct ising_file_values {
  size_t of_sample; /* numbers of a sample */
  /* Over all samples of the file. */
  size_t count;
  double largest;          /* size */
  bool alike;              /* all have the same size */
  double square, rounding; /* as ising_samples_weigh finds them */
  double *kept;            /* [kept_samples][of_sample] */
  size_t kept_count, capacity;
};

struct ising_samples_file {
  char *path;
  size_t dimension, shape[ISING_DIMENSIONS_MAXIMUM], sites, samples;
  bool has_fields;            /* and they are not all 0 */
  bool verified;              /* a result of gpumc, if it is one, has been found undamaged */
  size_t first, kept_samples; /* in memory: samples from `first` on */
  struct ising_file_values values[ISING_FILE_KINDS];
};

/* No value of a file may be larger. */
#define ISING_FILE_LARGEST 1e6

/* Reads all numbers of a file for a lattice of this dimension and shape, and keeps samples from
 * `first` on, of some megabytes. GPUMC_INVALID with the place in the file when it cannot be read,
 * or holds anything else. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_open(const char *path, size_t dimension, const size_t *shape, size_t first,
                   struct ising_samples_file *file, struct gpumc_error *error);
/* Finds the mean square of all values, and the mean of their relative change when rounded to
 * quanta, over those that are not 0. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_weigh(struct ising_samples_file *file, double quantum, struct gpumc_error *error);
/* Has sample `number` >= first of the file in memory, and all between; GPUMC_INVALID where the file
 * has changed meanwhile. May move what is kept. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_keep(struct ising_samples_file *file, size_t number, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void ising_samples_file_free(struct ising_samples_file *file);

/* One pass over a file, inside the functions above. */
struct ising_samples_pass {
  struct ising_samples_file *file;
  size_t begin, end; /* samples that are kept */
  bool all;          /* the others are read, too; else a reader may leave them out */
  double quantum;
  /* Takes the numbers at..at + count - 1 of all of a kind, in their order. */
  enum gpumc_status (*take)(struct ising_samples_pass *pass, enum ising_file_kind kind, size_t at,
                            const double *values, size_t count, struct gpumc_error *error);
  size_t samples; /* that were found */
};
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_read_text(struct ising_samples_pass *pass, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_read_hdf5(struct ising_samples_pass *pass, struct gpumc_error *error);
/* "8 x 8 x 8" into `text`, which is returned. */
const char *ising_shape_text(size_t dimension, const size_t *shape, char text[static 64]);

#endif
