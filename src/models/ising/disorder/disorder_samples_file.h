/* Samples of quenched disorder in files, text or HDF5 (docs/file-format.md). */
#ifndef GPUMC_ISING_DISORDER_SAMPLES_FILE_H
#define GPUMC_ISING_DISORDER_SAMPLES_FILE_H

#include "models/ising/ising.h"

/* What a file holds: values in units of the energy, sites in the order x + Lx (y + Ly z). */
struct ising_samples_file {
  size_t samples, sites, dimension;
  double *coupling; /* [samples][sites][dimension] */
  double *field;    /* [samples][sites]; NULL: none, or all are 0 */
};

/* No value of a file may be larger. */
#define ISING_FILE_LARGEST 1e6

/* The samples of a lattice of this dimension and shape. GPUMC_INVALID with the place in the file
 * when it cannot be read, or holds anything else. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_read(const char *path, size_t dimension, const size_t *shape,
                   struct ising_samples_file *file, struct gpumc_error *error);
/* The two kinds of files, inside ising_samples_read; `file` has sites and dimension. */
GPUMC_MUST_CHECK enum gpumc_status ising_samples_read_text(const char *path, const size_t *shape,
                                                           struct ising_samples_file *file,
                                                           struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status ising_samples_read_hdf5(const char *path, const size_t *shape,
                                                           struct ising_samples_file *file,
                                                           struct gpumc_error *error);
/* "8 x 8 x 8" into `text`, which is returned. */
const char *ising_shape_text(size_t dimension, const size_t *shape, char text[static 64]);
/* Legal on a zeroed object; leaves it zeroed. */
void ising_samples_file_free(struct ising_samples_file *file);

#endif
