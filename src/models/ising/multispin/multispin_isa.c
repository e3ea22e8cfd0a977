/* The operations of the multispin kernel at one level: sweeps, copies, exchanges. */
#include "models/ising/multispin/multispin_isa.h"
#include "models/lattice/checkerboard_simd.h"

static ising_sweep_function *
variant_of(const struct ising_multispin_instance *instance, const struct ising_multispin_rule *rule)
{
  const ising_sweep_table *table = rule->update == ISING_PLAIN ? &GPUMC_ISA_NAME(ising_sweep_plain)
                                   : rule->update == ISING_METROPOLIS
                                       ? &GPUMC_ISA_NAME(ising_sweep_metropolis)
                                       : &GPUMC_ISA_NAME(ising_sweep_heat_bath);
  return (*table)[instance->signs][instance->lattice.dimension - 2][rule->random.rounds == 7];
}

static void sweep(const struct ising_multispin_group *group,
                  const struct ising_multispin_rule *rule, uint32_t time, uint32_t sweeps)
{
  const struct ising_multispin_instance *instance = group->instance;
  const struct gpumc_checkerboard *lattice = &instance->lattice;
  struct ising_sweep work = {.instance = instance,
                             .rule = rule,
                             .group = group->number,
                             .time = time,
                             .sweeps = sweeps,
                             .unsatisfied = group->unsatisfied};
  for (size_t colour = 0; colour < 2; colour++) {
    if (group->signs != NULL)
      work.signs[colour] =
          group->signs + colour * ising_multispin_sign_words(lattice, instance->signs);
    work.sites[colour] = ising_multispin_copy_of(lattice, group->scratch, colour);
    memcpy(work.sites[colour], group->words + colour * lattice->colour,
           lattice->colour * sizeof *group->words);
    gpumc_checkerboard_wrap(lattice, work.sites[colour], sizeof(uint32_t));
  }
  work.undecided.index = ising_multispin_part(lattice, group->scratch, 0);
  work.undecided.open = ising_multispin_part(lattice, group->scratch, 1);
  for (size_t b = 0; b < ISING_CLASS_BITS; b++)
    work.undecided.class_bit[b] = ising_multispin_part(lattice, group->scratch, 2 + b);
  for (size_t lane = 0; group->unsatisfied != NULL && lane < ISING_LANES; lane++)
    group->unsatisfied[lane] = 0;
  variant_of(instance, rule)(&work);
  if (group->unsatisfied != NULL && rule->like == 0)
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      group->unsatisfied[lane] =
          (int64_t)(2 * lattice->dimension * lattice->colour) - group->unsatisfied[lane];
  for (size_t colour = 0; colour < 2; colour++)
    memcpy(group->words + colour * lattice->colour, work.sites[colour],
           lattice->colour * sizeof *group->words);
}

enum { BLOCK = 4 }; /* vectors that are copied together */

/* Returns the words rotated to the left by less than 32 bits. */
GPUMC_INLINE gpumc_v32 rotated(gpumc_v32 words, uint32_t bits)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_rolv_epi32((__m512i)words, (__m512i)gpumc_broadcast(bits));
#elif defined(__AVX2__)
  return (words << gpumc_broadcast(bits)) | (words >> gpumc_broadcast((32 - bits) & 31));
#else
  return (words << bits) | (words >> ((32 - bits) & 31));
#endif
}

GPUMC_INLINE gpumc_v32 with_copy(gpumc_v32 words, const struct ising_multispin_copy *copy,
                                 size_t at)
{
  return gpumc_select(gpumc_broadcast((uint32_t)1 << copy->lane),
                      rotated(gpumc_load(copy->source + at), copy->rotation), words);
}

static void gather(uint32_t *words, const uint32_t *old, size_t n,
                   const struct ising_multispin_copy *copies, size_t n_copies)
{
  size_t i = 0;
  for (; i + BLOCK * GPUMC_VECTOR_WORDS <= n; i += BLOCK * GPUMC_VECTOR_WORDS) {
    gpumc_v32 block[BLOCK];
    for (size_t v = 0; v < BLOCK; v++)
      block[v] = gpumc_load(old + i + v * GPUMC_VECTOR_WORDS);
    for (size_t c = 0; c < n_copies; c++)
      for (size_t v = 0; v < BLOCK; v++)
        block[v] = with_copy(block[v], &copies[c], i + v * GPUMC_VECTOR_WORDS);
    for (size_t v = 0; v < BLOCK; v++)
      gpumc_store(words + i + v * GPUMC_VECTOR_WORDS, block[v]);
  }
  for (; i < n; i++) {
    uint32_t word = old[i];
    for (size_t c = 0; c < n_copies; c++) {
      const uint32_t bit = (uint32_t)1 << copies[c].lane;
      const uint32_t left = copies[c].rotation & 31, right = (32 - copies[c].rotation) & 31;
      const uint32_t source = copies[c].source[i];
      word = (word & ~bit) | (((source << left) | (source >> right)) & bit);
    }
    words[i] = word;
  }
}

static void exchange(uint32_t *a, uint32_t *b, size_t n, uint32_t swap)
{
  for (size_t i = 0; i < n; i++) {
    const uint32_t exchanged = (a[i] ^ b[i]) & swap;
    a[i] ^= exchanged;
    b[i] ^= exchanged;
  }
}

extern const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin);
const struct ising_multispin_ops GPUMC_ISA_NAME(ising_multispin) = {
    .sweep = sweep,
    .measure = GPUMC_ISA_NAME(ising_multispin_measure),
    .gather = gather,
    .exchange = exchange,
    .exchange_clusters = GPUMC_ISA_NAME(ising_multispin_exchange),
};
