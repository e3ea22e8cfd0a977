/* Quenched disorder of spins on a lattice: couplings J_ij and fields h_i of a sample, drawn, or
 * read from a file, text or HDF5 (docs/file-format.md).
 *
 * A sample is identified by its number: it depends on the seed of the disorder and this number
 * alone, never on the shape of a batch, kernel or device. Values are energies; each model rounds
 * them in its own way.
 *
 * A file is read from its beginning to its end in blocks, and only the requested samples stay in
 * memory; properties of all of them are gathered on the way. */
#ifndef GPUMC_LATTICE_DISORDER_H
#define GPUMC_LATTICE_DISORDER_H

#include <stdio.h>

#include "core/numerics/random.h"
#include "core/simulation/model.h"
#include "models/lattice/checkerboard.h"
#include "models/lattice/disorder/multiples.h"

enum lattice_distribution {
  LATTICE_UNIFORM,  /* the same value everywhere: no disorder */
  LATTICE_BIMODAL,  /* +-width, + with probability p */
  LATTICE_GAUSSIAN, /* mean 0, standard deviation width */
  LATTICE_FILE      /* read */
};

/* Sample numbers are below 2^32: a word of the counter. */
#define LATTICE_SAMPLES_MAXIMUM 4294967295

struct lattice_disorder_settings {
  /* fields: never LATTICE_FILE, since a file of couplings may have fields too. */
  enum lattice_distribution couplings, fields;
  double positive; /* p: probability of +J */
  double width;    /* of the random fields, energy */
  uint64_t seed;
  uint64_t first_sample;
  const char *path; /* for LATTICE_FILE; its contents are described in docs/file-format.md */
};

/* Properties that kernels must know before they see a sample. */
struct lattice_disorder_traits {
  bool couplings; /* J_ij differ from bond to bond */
  bool fields;    /* so do h_i from site to site */
  /* Every J_ij is +1 or -1 times the coupling, every random field +1 or -1 times one width. */
  bool couplings_are_signs, fields_are_signs;
  double field_width; /* of random fields that are signs; otherwise 0 */
};

/* ---- files ---- */

enum lattice_file_kind { LATTICE_FILE_COUPLINGS, LATTICE_FILE_FIELDS, LATTICE_FILE_KINDS };

/* The couplings, or the fields, of a file, in units of the energy. */
struct lattice_file_values {
  size_t of_sample; /* numbers per sample */
  /* Over all samples of the file. */
  size_t count;
  double largest; /* size */
  bool alike;     /* all have the same size */
  struct lattice_multiples multiples;
  double square, rounding; /* found by lattice_samples_weigh */
  double *kept;            /* [kept_samples][of_sample] */
  size_t kept_count, capacity;
};

struct lattice_samples_file {
  char *path;
  size_t dimension, shape[LATTICE_DIMENSIONS_MAXIMUM], sites, samples;
  bool has_fields;            /* and they are not all 0 */
  bool verified;              /* whether a result of gpumc has been found undamaged, if it is one */
  size_t first, kept_samples; /* in memory: samples from `first` on */
  struct lattice_file_values values[LATTICE_FILE_KINDS];
};

/* Upper limit of the values of a file. */
#define LATTICE_FILE_LARGEST 1e6

/* Reads all numbers of a file for a lattice of this dimension and shape, and keeps samples from
 * `first` on, of some megabytes. GPUMC_INVALID with the place in the file if it cannot be read, or
 * contains anything else. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_open(const char *path, size_t dimension, const size_t *shape, size_t first,
                     struct lattice_samples_file *file, struct gpumc_error *error);
/* Finds the mean square of all values, and the mean of their relative change when rounded to
 * quanta, over those that are not 0. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_weigh(struct lattice_samples_file *file, double quantum, struct gpumc_error *error);
/* Makes sure that sample `number` >= first of the file is in memory, and all between; GPUMC_INVALID
 * if the file has changed meanwhile. May move the samples that are kept. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_keep(struct lattice_samples_file *file, size_t number, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void lattice_samples_file_free(struct lattice_samples_file *file);

/* One pass over a file, inside the functions above. */
struct lattice_samples_pass {
  struct lattice_samples_file *file;
  size_t begin, end; /* samples that are kept */
  bool all;          /* the others are read, too; otherwise a reader may skip them */
  double quantum;
  /* Takes the numbers at..at + count - 1 of all of a kind, in order. */
  enum gpumc_status (*take)(struct lattice_samples_pass *pass, enum lattice_file_kind kind,
                            size_t at, const double *values, size_t count,
                            struct gpumc_error *error);
  size_t samples; /* that were found */
};
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_read_text(struct lattice_samples_pass *pass, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_read_hdf5(struct lattice_samples_pass *pass, struct gpumc_error *error);
/* Writes "8 x 8 x 8" to `text`, and returns it. */
enum { LATTICE_SHAPE_BYTES = 64 };
static inline const char *
lattice_shape_text(size_t dimension, const size_t *shape, char text[static LATTICE_SHAPE_BYTES])
{
  const int room = LATTICE_SHAPE_BYTES;
  int length = snprintf(text, (size_t)room, "%zu", shape[0]);
  for (size_t d = 1; d < dimension && length > 0 && length < room; d++)
    length += snprintf(text + length, (size_t)(room - length), " x %zu", shape[d]);
  return text;
}

/* ---- samples ---- */

struct lattice_disorder;

/* Sets *disorder, NULL if the settings have none; `coupling` is J, the size of bimodal and Gaussian
 * couplings. Reads the file of LATTICE_FILE, and keeps some of its samples; GPUMC_INVALID if it
 * does not contain the requested samples. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_samples_create(const struct lattice_disorder_settings *settings,
                       const struct gpumc_checkerboard *lattice, double coupling,
                       struct lattice_disorder **disorder, struct gpumc_error *error);
/* Computes what needs the quantum of the energy, which follows from the largest values: mean
 * squares and rounding of the values of a file. */
GPUMC_MUST_CHECK enum gpumc_status lattice_samples_complete(struct lattice_disorder *disorder,
                                                            double quantum,
                                                            struct gpumc_error *error);
/* Legal on NULL. */
void lattice_samples_free(struct lattice_disorder *disorder);
/* All false for NULL. */
struct lattice_disorder_traits lattice_samples_traits(const struct lattice_disorder *disorder);
/* Return bounds on |J_ij| and on random |h_i| of all samples; `coupling`: that of all bonds where
 * there is no disorder. */
double lattice_largest_coupling(const struct lattice_disorder *disorder, double coupling);
double lattice_samples_largest_field(const struct lattice_disorder *disorder);
/* Return the means of J_ij^2 and of the square of a random field, over all possible samples. */
double lattice_samples_coupling_square(const struct lattice_disorder *disorder);
double lattice_samples_field_square(const struct lattice_disorder *disorder);
/* Returns the larger of the mean relative changes of a file's couplings and fields when rounded to
 * quanta, over those that are not 0. */
double lattice_samples_rounding(const struct lattice_disorder *disorder);
/* Return J_ij, or random h_i, of all samples as multiples of a unit; `of_sample`: how many a sample
 * has. */
struct lattice_multiples
lattice_samples_coupling_multiples(const struct lattice_disorder *disorder, size_t of_sample);
struct lattice_multiples
lattice_samples_field_multiples(const struct lattice_disorder *disorder, size_t of_sample);
/* Returns the number of samples from the first on: those of a file, or as many as have a number. */
size_t lattice_samples_count(const struct lattice_disorder *disorder);

/* Returns the number of the sample that is `number` places after the first, and reads it into
 * memory if it is from a file: calls for one instance must be made one after the other. */
GPUMC_MUST_CHECK enum gpumc_status lattice_samples_find(struct lattice_disorder *disorder,
                                                        size_t number, uint32_t *sample,
                                                        struct gpumc_error *error);
/* Return, for a sample that was found: J_ij of bond d + dimension i, from site i = x + Lx (y + Ly
 * z) one step along axis d; the random field h_i of a site, 0 if there are none. */
double
lattice_samples_coupling(const struct lattice_disorder *disorder, uint32_t sample, size_t bond);
double lattice_samples_field(const struct lattice_disorder *disorder, uint32_t sample, size_t site);

struct lattice_disorder {
  size_t dimension;
  enum lattice_distribution couplings, fields; /* of the settings */
  uint64_t positive;                           /* threshold of +J */
  double coupling;                             /* J, if it is uniform */
  double width;                                /* of the random fields; 0: none */
  struct gpumc_random random;
  uint64_t first_sample;
  struct lattice_samples_file file; /* of LATTICE_FILE */
  /* Over the file, or as given by the distributions. */
  bool couplings_are_alike; /* the same in size */
  bool couplings_are_signs, fields_are_signs;
  double largest_coupling, largest_field, coupling_square, field_square;
};

/* ---- results ---- */

/* Samples in the form used in results and checksums; in results they can be read back. */
struct lattice_disorder_record {
  const struct gpumc_model *model;
  const struct gpumc_checkerboard *lattice;
  bool fields;
  /* Returns sample `number` after the first, as the model uses it: value[sites][dimension] of the
   * couplings, or value[sites] of the random fields, energies. */
  enum gpumc_status (*values)(const struct gpumc_model *model, size_t number, bool fields,
                              double *value, struct gpumc_error *error);
};
/* Writes samples 0 .. samples - 1 to the group /disorder. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_disorder_write(const struct lattice_disorder_record *record, size_t samples,
                       struct gpumc_recorder *recorder, struct gpumc_error *error);
/* gpumc_model_ops.sample_checksum: of what `values` returns for a sample, of the couplings and
 * then, if the record has them, of the fields. */
GPUMC_MUST_CHECK enum gpumc_status
lattice_disorder_checksum(const struct lattice_disorder_record *record, size_t number,
                          uint64_t *checksum, struct gpumc_error *error);

#endif
