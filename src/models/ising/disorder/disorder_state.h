/* Inside the disorder: what samples are drawn from, or read. */
#ifndef GPUMC_ISING_DISORDER_STATE_H
#define GPUMC_ISING_DISORDER_STATE_H

#include "core/numerics/random.h"
#include "models/ising/disorder/disorder_samples.h"
#include "models/ising/disorder/disorder_samples_file.h"

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
