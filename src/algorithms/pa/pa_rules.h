/* The arithmetic of weights, copies and families, for both compilers, which every device must
 * reproduce bit for bit. Equations are those of Barash et al., Comput. Phys. Commun. 220, 341
 * (2017). */
#ifndef GPUMC_ALGORITHMS_PA_RULES_H
#define GPUMC_ALGORITHMS_PA_RULES_H

#include "core/numerics/elementary.h"
#include "core/numerics/random.h"

/* Weights are integers in units of 2^-shift, at most 2^shift, so that the sum over `capacity` of
 * them, and a weight times the population, stay within 2^62. */
GPUMC_HOST_DEVICE static inline int pa_weight_shift(uint64_t capacity)
{
  int bits = 0;
  while (bits < 32 && capacity > (uint64_t)1 << bits)
    bits++;
  return 62 - bits;
}

/* Returns exp(-step (value - reference)) in units of 2^-shift: of the energy, or the channel
 * conjugate to the moved control. */
GPUMC_HOST_DEVICE static inline uint64_t
pa_weight(double step, int64_t value, int64_t reference, int shift)
{
  double exponent = -step * (double)(value - reference);
  return (uint64_t)rint(gpumc_exp(exponent) * gpumc_power_of_two(shift));
}

/* The overlap (eq. 8) is the sum over replicas of min(total, n weight), over n total; the sum may
 * need 93 bits and is kept in two words, its low 31 bits separately. 0 if nothing was weighed. */
enum { PA_OVERLAP_LOW_BITS = 31 };

GPUMC_HOST_DEVICE static inline uint64_t
pa_overlap_share(uint64_t weight, uint64_t n, uint64_t total)
{
  uint64_t share = n * weight;
  return share < total ? share : total;
}

GPUMC_HOST_DEVICE static inline double
pa_overlap(uint64_t high, uint64_t low, uint64_t n, uint64_t total)
{
  return total > 0 ? fma((double)high, 0x1p31, (double)low) / ((double)n * (double)total) : 0.0;
}

/* Returns a uniform integer below `limit`. */
GPUMC_HOST_DEVICE static inline uint64_t
pa_resampling_uniform(struct gpumc_random random, uint32_t replica, uint32_t time, uint64_t limit)
{
  uint32_t word[4];
  gpumc_random_draw(random, replica, 0, time, gpumc_random_label(GPUMC_RANDOM_RESAMPLE, 0), word);
  uint64_t uniform = (uint64_t)word[0] << 32 | word[1];
  return (uint64_t)((unsigned __int128)uniform * limit >> 64);
}

/* Eq. 2 in integers: tau = target weight / total, its floor, and one more with the probability of
 * its fraction. */
GPUMC_HOST_DEVICE static inline uint64_t
pa_copies_nearest_integer(struct gpumc_random random, uint32_t replica, uint32_t time,
                          uint64_t weight, uint64_t target, uint64_t total)
{
  uint64_t scaled = target * weight;
  uint64_t uniform = pa_resampling_uniform(random, replica, time, total);
  return scaled / total + (uniform < scaled % total);
}

/* Systematic resampling: returns how many of the points (i + u) total / target, i = 0, 1, .., are
 * below the sum `cumulated` of the first weights; offset = pa_resampling_uniform(random, 0, time,
 * total). Replica j gets the difference between the sums with it and without it. */
GPUMC_HOST_DEVICE static inline uint64_t
pa_points_below(uint64_t cumulated, uint64_t offset, uint64_t target, uint64_t total)
{
  return (uint64_t)((offset + (unsigned __int128)target * cumulated) / total);
}

/* Returns share ln(share) of a family of `members` among `size` replicas, in units of 2^-56: the
 * sum over all families stays within 2^61 in size. */
#define PA_ENTROPY_UNIT 0x1p-56

GPUMC_HOST_DEVICE static inline int64_t pa_family_entropy(uint64_t members, uint64_t size)
{
  double share = (double)members / (double)size;
  return (int64_t)rint(share * gpumc_log(share) * 0x1p56);
}

#endif
