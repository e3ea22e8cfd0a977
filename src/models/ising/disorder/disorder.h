/* Quenched disorder, what stays inside models/ising: samples in files, text or HDF5
 * (docs/file-format.md), and what an instance keeps.
 *
 * A file is read from its beginning to its end in blocks, and only the requested samples stay in
 * memory; what is known of all of them is gathered on the way. */
#ifndef GPUMC_ISING_DISORDER_H
#define GPUMC_ISING_DISORDER_H

#include <stdio.h>

#include "core/numerics/random.h"
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
/* Writes "8 x 8 x 8" into `text`, and returns it. */
enum { ISING_SHAPE_BYTES = 64 };
static inline const char *
ising_shape_text(size_t dimension, const size_t *shape, char text[static ISING_SHAPE_BYTES])
{
  const int room = ISING_SHAPE_BYTES;
  int length = snprintf(text, (size_t)room, "%zu x %zu", shape[0], shape[1]);
  if (dimension == 3 && length > 0 && length < room)
    snprintf(text + length, (size_t)(room - length), " x %zu", shape[2]);
  return text;
}

/* *disorder is NULL where the settings have none. Reads the file of ISING_FILE, and keeps some of
 * its samples; GPUMC_INVALID when it does not hold the requested samples. */
GPUMC_MUST_CHECK enum gpumc_status ising_samples_create(const struct ising_settings *settings,
                                                        struct ising_disorder **disorder,
                                                        struct gpumc_error *error);
/* What needs the quantum of the energy, which follows from the largest values: mean squares and
 * rounding of the values of a file. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_complete(struct ising_disorder *disorder, double quantum, struct gpumc_error *error);
/* Legal on NULL. */
void ising_samples_free(struct ising_disorder *disorder);
/* As ising_disorder_traits, but field_width is an energy; all false for NULL. */
struct ising_disorder_traits ising_samples_traits(const struct ising_disorder *disorder);
/* No |J_ij| and no random |h_i| of any sample is larger. */
double ising_samples_largest_coupling(const struct ising_disorder *disorder);
double ising_samples_largest_field(const struct ising_disorder *disorder);
/* Means of J_ij^2 and of the square of a random field, over the samples there can be. */
double ising_samples_coupling_square(const struct ising_disorder *disorder);
double ising_samples_field_square(const struct ising_disorder *disorder);
/* Of the values of a file, couplings or fields, whichever is more: the mean of their relative
 * change when rounded to quanta, over those that are not 0. */
double ising_samples_rounding(const struct ising_disorder *disorder);
/* Samples from the first on: those of a file, or as many as have a number. */
size_t ising_samples_count(const struct ising_disorder *disorder);

struct ising_disorder {
  enum ising_distribution couplings, fields; /* of the settings */
  uint64_t positive;                         /* threshold of +J */
  double coupling;                           /* J, where it is uniform */
  double width;                              /* of the random fields; 0: none */
  struct gpumc_random random;
  uint64_t first_sample;
  struct ising_samples_file file; /* of ISING_FILE */
  /* Over the file, or as the distributions have it. */
  bool couplings_are_alike; /* the same in size */
  bool couplings_are_signs, fields_are_signs;
  double largest_coupling, largest_field, coupling_square, field_square;
};

#endif
