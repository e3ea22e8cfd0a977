/* Quenched disorder of Ising spins: couplings J_ij and fields h_i of a sample.
 *
 * Everything is an integer number of quanta of the energy, so that energies are exact; a Gaussian
 * number is rounded to the next one. A sample is known by its number: it depends on the seed of the
 * disorder and this number alone, never on shape of a batch, kernel or device. */
#ifndef GPUMC_ISING_DISORDER_H
#define GPUMC_ISING_DISORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum ising_distribution {
  ISING_UNIFORM,  /* the same value everywhere: no disorder */
  ISING_BIMODAL,  /* +-width, + with probability p */
  ISING_GAUSSIAN, /* mean 0, standard deviation width */
  ISING_FILE      /* read */
};

/* The number of a sample is below 2^32: a word of the counter. */
#define ISING_SAMPLES_MAXIMUM 4294967295

struct ising_disorder_settings {
  /* fields: never ISING_FILE, since a file of couplings may have fields too. */
  enum ising_distribution couplings, fields;
  double positive; /* p: probability of +J */
  double width;    /* of the random fields, energy */
  uint64_t seed;
  uint64_t first_sample;
  const char *path; /* of ISING_FILE; docs/file-format.md says what stands in it */
};

struct gpumc_model;
struct ising_disorder;

/* What kernels must know before they see a sample. */
struct ising_disorder_traits {
  bool couplings; /* J_ij differ from bond to bond */
  bool fields;    /* so do h_i from site to site */
  /* Every J_ij is +1 or -1 times the coupling, every random field +1 or -1 times one width. */
  bool couplings_are_signs, fields_are_signs;
  double field_width; /* of random fields that are signs, in quanta; else 0 */
};
/* Of a model without disorder: all false. */
struct ising_disorder_traits ising_disorder_traits(const struct gpumc_model *model);
/* Why couplings and fields cannot be kept as one bit each, NULL where they can. */
const char *ising_disorder_no_bits(const struct gpumc_model *model);

/* Sample `number` after the first: coupling[sites][dimension] = J(i, i + e_d) and field[sites] =
 * h_i, the uniform field included, in quanta; sites in the order x + Lx (y + Ly z). NULL: not
 * wanted. For any instance, with disorder or without. Samples of a file are read into memory when
 * one of them is first needed, so calls for one instance must follow one another. */
GPUMC_MUST_CHECK enum gpumc_status ising_disorder_sample(const struct gpumc_model *model,
                                                         size_t number, int32_t *coupling,
                                                         int32_t *field, struct gpumc_error *error);

#endif
