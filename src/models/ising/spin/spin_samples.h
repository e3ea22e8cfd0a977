/* Samples of the disorder as the kernels of one number a spin keep them, on CPUs and GPUs. */
#ifndef GPUMC_ISING_SPIN_SAMPLES_H
#define GPUMC_ISING_SPIN_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "core/simulation/kernel.h"
#include "models/ising/spin/spin_rule.h"

enum { ISING_FIELD_SIGN = 6 }; /* behind the bits of the neighbours */

/* One sample, by colour and neighbour (enum gpumc_neighbour); the sites of one colour take `stride`
 * places, those beyond the lattice are 0.
 * ISING_SPIN_SIGNS: signs[colour][stride], bit n: the coupling with neighbour n is negative, bit
 * ISING_FIELD_SIGN: the field is the larger one of two.
 * ISING_SPIN_TERMS: terms[colour][2d + 1][stride], couplings and then the field, in quanta.
 * NULL: not of this kind. */
struct ising_spin_sample {
  const uint8_t *signs;
  const int32_t *terms;
  size_t stride;
};

/* data[count][bytes], samples of one kind; host memory, or a device's. */
struct ising_spin_samples {
  enum ising_spin_kind kind;
  size_t count, bytes, stride; /* count = 1: for all replicas */
  void *data;
};

/* What they are going to be, data = NULL. */
struct ising_spin_samples
ising_spin_samples_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
/* Samples first .. first + count - 1 to data[count][bytes], zeroed, in host memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_spin_samples_fill(const struct gpumc_model *model, const struct ising_spin_samples *samples,
                        size_t first, size_t count, void *data, struct gpumc_error *error);

/* The sample of a replica. */
GPUMC_HOST_DEVICE static inline struct ising_spin_sample
ising_spin_sample(const struct ising_spin_samples *samples, size_t replica)
{
  const size_t number = samples->count == 1 ? 0 : replica;
  const uint8_t *data = (const uint8_t *)samples->data + number * samples->bytes;
  struct ising_spin_sample sample = {NULL, NULL, samples->stride};
  if (samples->kind == ISING_SPIN_SIGNS)
    sample.signs = data;
  if (samples->kind == ISING_SPIN_TERMS)
    sample.terms = (const int32_t *)data;
  return sample;
}

#endif
