/* The spin kernel with updates by table: one byte a spin, one 32-bit number a spin. */
#include "models/ising/spin/spin_numbers.h"
#include "models/ising/spin/spin_table_simd.h"

/* What is constant in a sweep of a kind. */
struct variant {
  size_t dimension;
  bool signs; /* of couplings and fields */
  uint32_t rounds;
};

/* Of one colour in one sweep. */
struct half_sweep {
  const struct ising_spin_sweep *of;
  struct gpumc_philox_stream stream;
  size_t colour;
  uint8_t *sites, *other; /* working copies of the colour, and of the other one */
};

/* Classes of n spins from k on; n: whole blocks. */
GPUMC_INLINE void classify(const struct half_sweep *half, const struct variant variant, size_t k,
                           size_t n, uint8_t *class)
{
  const struct ising_spin_lattice *lattice = half->of->lattice;
  const uint8_t *places = ising_spin_places(lattice, half->colour, k);
  const uint8_t *signs = half->of->sample.signs;
  if (variant.signs)
    signs += half->colour * half->of->sample.stride + k;
  for (size_t i = 0; i < n; i += GPUMC_VECTOR_BYTES) {
    gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM], of_spin = {0};
    ising_spin_neighbours(&lattice->checkerboard, variant.dimension, half->other + k + i,
                          places + i, neighbour);
    if (variant.signs) {
      const gpumc_v8 sign = ising_load_bytes(signs + i);
      ising_spin_pulls(variant.dimension, sign, neighbour);
      of_spin = ((sign >> (uint8_t)ISING_FIELD_SIGN) & 1) * (uint8_t)ISING_TABLE_FIELD;
    }
    ising_store_bytes(class + i, of_spin + ising_spin_count(variant.dimension, neighbour));
  }
}

/* Update `blocks` (a constant) blocks from k on, with their classes. */
GPUMC_INLINE void update_blocks(const struct half_sweep *half, const struct variant variant,
                                const size_t blocks, size_t k, const uint8_t *class)
{
  const struct ising_spin_rule *rule = half->of->rule;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, (uint32_t)half->colour);
  gpumc_v32 number[ISING_SPIN_VECTORS * ISING_SPIN_OUTPUTS];
  ising_spin_numbers(&half->stream, variant.rounds, label, blocks, k, number);
#pragma GCC unroll 4
  for (size_t p = 0; p < blocks * ISING_SPIN_BLOCK; p += GPUMC_VECTOR_BYTES) {
    const gpumc_v8 start = ising_load_bytes(half->sites + k + p) & (uint8_t)rule->start;
    ising_store_bytes(half->sites + k + p,
                      ising_spin_updated(&rule->table, variant.signs,
                                         number + p / GPUMC_VECTOR_WORDS, start, class + p));
  }
}

GPUMC_INLINE void
update_chunk(const struct half_sweep *half, const struct variant variant, size_t k, size_t n)
{
  uint8_t class[ISING_SPIN_CHUNK] __attribute__((aligned(64)));
  const size_t step = ISING_SPIN_BLOCKS * ISING_SPIN_BLOCK;
  size_t i = 0;
  classify(half, variant, k, n, class);
  for (; i + step <= n; i += step)
    update_blocks(half, variant, ISING_SPIN_BLOCKS, k + i, class + i);
  for (; i < n; i += ISING_SPIN_BLOCK)
    update_blocks(half, variant, 1, k + i, class + i);
}

GPUMC_INLINE void sweep_with(const struct ising_spin_sweep *sweep, const struct variant variant,
                             uint8_t *const sites[2])
{
  const struct gpumc_checkerboard *lattice = &sweep->lattice->checkerboard;
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    struct half_sweep half = {.of = sweep};
    half.stream = gpumc_philox_stream_make(sweep->random, sweep->replica, sweep->time + s);
    for (size_t colour = 0; colour < 2; colour++) {
      half.colour = colour;
      half.sites = sites[colour];
      half.other = sites[1 - colour];
      for (size_t k = 0; k < lattice->colour; k += ISING_SPIN_CHUNK) {
        update_chunk(&half, variant, k, ising_spin_chunk(lattice, k));
      }
      gpumc_checkerboard_wrap(lattice, sites[colour], sizeof(uint8_t));
    }
  }
}

#define SWEEP(name, dimension, signs, rounds)                                                      \
  static void name(const struct ising_spin_sweep *sweep, uint8_t *const sites[2])                  \
  {                                                                                                \
    sweep_with(sweep, (struct variant){dimension, signs, rounds}, sites);                          \
  }
SWEEP(sweep_square_7, 2, false, 7)
SWEEP(sweep_square_10, 2, false, 10)
SWEEP(sweep_square_signs_7, 2, true, 7)
SWEEP(sweep_square_signs_10, 2, true, 10)
SWEEP(sweep_cubic_7, 3, false, 7)
SWEEP(sweep_cubic_10, 3, false, 10)
SWEEP(sweep_cubic_signs_7, 3, true, 7)
SWEEP(sweep_cubic_signs_10, 3, true, 10)

/* In spin_terms_isa.c. */
void GPUMC_ISA_NAME(ising_spin_sweep_terms)(const struct ising_spin_sweep *sweep,
                                            uint8_t *const sites[2]);

static void sweep(const struct ising_spin_sweep *sweep)
{
  /* By dimension, signs, and ten rounds. */
  static void (*const by_table[2][2][2])(const struct ising_spin_sweep *, uint8_t *const[2]) = {
      {{sweep_square_7, sweep_square_10}, {sweep_square_signs_7, sweep_square_signs_10}},
      {{sweep_cubic_7, sweep_cubic_10}, {sweep_cubic_signs_7, sweep_cubic_signs_10}}};
  const struct gpumc_checkerboard *lattice = &sweep->lattice->checkerboard;
  uint8_t *sites[2];
  ising_spin_load(lattice, sweep->spins, NULL, sweep->scratch, sites);
  if (sweep->rule->kind == ISING_SPIN_TERMS)
    GPUMC_ISA_NAME(ising_spin_sweep_terms)(sweep, sites);
  else
    by_table[lattice->dimension == 3][sweep->rule->kind == ISING_SPIN_SIGNS]
            [sweep->random.rounds != 7](sweep, sites);
  for (size_t colour = 0; colour < 2; colour++)
    memcpy(sweep->spins + colour * lattice->colour, sites[colour], lattice->colour);
}

/* In spin_measure_isa.c. */
void GPUMC_ISA_NAME(ising_spin_measure)(const struct ising_spin_measurement *measurement,
                                        struct ising_spin_sums *sums);

extern const struct ising_spin_ops GPUMC_ISA_NAME(ising_spin);
const struct ising_spin_ops GPUMC_ISA_NAME(ising_spin) = {
    .sweep = sweep,
    .measure = GPUMC_ISA_NAME(ising_spin_measure),
};
