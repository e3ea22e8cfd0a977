/* The spin kernel for couplings or fields of any size: the local field of each spin is summed up,
 * and its threshold estimated, or found exactly if that leaves the spin open. */
#include "models/ising/spin/spin_rule.h"
#include "models/ising/spin/spin_simd.h"

enum { BLOCK = ISING_SPIN_BLOCK };

/* A block of spins of one colour, and the fields that they see. */
struct block {
  uint32_t number[BLOCK];
  uint8_t neighbour[GPUMC_NEIGHBOURS_MAXIMUM][BLOCK];
  const int32_t *terms; /* of the first spin, those of a kind `stride` apart */
  size_t stride;
};

/* Sums the terms in single precision. */
GPUMC_INLINE void
estimate_fields(const struct block *block, const size_t dimension, float field[BLOCK])
{
  const int32_t *terms = block->terms;
  for (size_t i = 0; i < BLOCK; i++)
    field[i] = (float)terms[2 * dimension * block->stride + i];
#pragma GCC unroll 6
  for (size_t n = 0; n < 2 * dimension; n++)
    for (size_t i = 0; i < BLOCK; i++) {
      const uint32_t coupling = ising_float_bits((float)terms[n * block->stride + i]);
      field[i] += ising_float_of(coupling ^ ((uint32_t)block->neighbour[n][i] ^ 1) << 31);
    }
}

static int64_t exact_field(const struct block *block, size_t dimension, size_t i)
{
  int64_t field = block->terms[2 * dimension * block->stride + i];
  for (size_t n = 0; n < 2 * dimension; n++) {
    const int64_t coupling = block->terms[n * block->stride + i];
    field += block->neighbour[n][i] != 0 ? coupling : -coupling;
  }
  return field;
}

GPUMC_INLINE void update_block(const struct ising_spin_rule *rule, const size_t dimension,
                               const struct block *block, uint8_t *spins)
{
  float field[BLOCK];
  uint8_t verdict[BLOCK], open = 0;
  const struct ising_spin_estimate estimate = rule->estimate;
  const uint8_t start = (uint8_t)rule->start;
  estimate_fields(block, dimension, field);
  for (size_t i = 0; i < BLOCK; i++)
    verdict[i] =
        (uint8_t)ising_spin_estimate(&estimate, field[i], spins[i] & start, block->number[i]);
  for (size_t i = 0; i < BLOCK; i++)
    open |= verdict[i];
  for (size_t i = 0; (open & ISING_OPEN) != 0 && i < BLOCK; i++)
    if (verdict[i] == ISING_OPEN)
      verdict[i] = ising_spin_flips(&rule->exact, start == 0, exact_field(block, dimension, i),
                                    spins[i] & start, block->number[i]);
  for (size_t i = 0; i < BLOCK; i++)
    spins[i] = (uint8_t)((spins[i] & start) ^ verdict[i]);
}

/* The numbers of `blocks` (a constant) blocks from spin k on are drawn together. */
GPUMC_INLINE void update_blocks(const struct ising_spin_sweep *sweep, const size_t dimension,
                                const uint32_t rounds, const size_t blocks,
                                const struct gpumc_philox_stream *stream, size_t colour, size_t k,
                                uint8_t *const sites[2])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, (uint32_t)colour);
  const uint8_t *places = ising_spin_places(sweep->lattice, colour, k);
  const size_t vectors = BLOCK / GPUMC_VECTOR_WORDS;
  gpumc_v32 number[ISING_SPIN_VECTORS * ISING_SPIN_OUTPUTS];
  struct block block = {.stride = sweep->sample.stride};
  ising_spin_numbers(stream, rounds, label, blocks, k, number);
  for (size_t b = 0; b < blocks; b++) {
    const size_t first = k + b * BLOCK;
    block.terms = sweep->sample.terms + colour * (2 * dimension + 1) * block.stride + first;
    for (size_t v = 0; v < vectors; v++)
      gpumc_store(block.number + v * GPUMC_VECTOR_WORDS, number[b * vectors + v]);
    for (size_t i = 0; i < BLOCK; i += GPUMC_VECTOR_BYTES) {
      gpumc_v8 neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
      ising_spin_neighbours(&sweep->lattice->checkerboard, dimension, sites[1 - colour] + first + i,
                            places + b * BLOCK + i, neighbour);
      for (size_t n = 0; n < 2 * dimension; n++)
        ising_store_bytes(block.neighbour[n] + i, neighbour[n]);
    }
    update_block(sweep->rule, dimension, &block, sites[colour] + first);
  }
}

GPUMC_INLINE void sweep_with(const struct ising_spin_sweep *sweep, const size_t dimension,
                             const uint32_t rounds, uint8_t *const sites[2])
{
  const struct gpumc_checkerboard *lattice = &sweep->lattice->checkerboard;
  const size_t step = ISING_SPIN_BLOCKS * BLOCK;
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    const struct gpumc_philox_stream stream =
        gpumc_philox_stream_make(sweep->random, sweep->replica, sweep->time + s);
    for (size_t colour = 0; colour < 2; colour++) {
      size_t k = 0;
      for (; k + step <= lattice->colour; k += step)
        update_blocks(sweep, dimension, rounds, ISING_SPIN_BLOCKS, &stream, colour, k, sites);
      for (; k < lattice->colour; k += BLOCK)
        update_blocks(sweep, dimension, rounds, 1, &stream, colour, k, sites);
      gpumc_checkerboard_wrap(lattice, sites[colour], sizeof(uint8_t));
    }
  }
}

#define SWEEP(name, dimension, rounds)                                                             \
  static void name(const struct ising_spin_sweep *sweep, uint8_t *const sites[2])                  \
  {                                                                                                \
    sweep_with(sweep, dimension, rounds, sites);                                                   \
  }
SWEEP(sweep_square_7, 2, 7)
SWEEP(sweep_square_10, 2, 10)
SWEEP(sweep_cubic_7, 3, 7)
SWEEP(sweep_cubic_10, 3, 10)

void GPUMC_ISA_NAME(ising_spin_sweep_terms)(const struct ising_spin_sweep *sweep,
                                            uint8_t *const sites[2]);
void GPUMC_ISA_NAME(ising_spin_sweep_terms)(const struct ising_spin_sweep *sweep,
                                            uint8_t *const sites[2])
{
  const bool seven = sweep->random.rounds == 7;
  if (sweep->lattice->checkerboard.dimension == 3)
    (seven ? sweep_cubic_7 : sweep_cubic_10)(sweep, sites);
  else
    (seven ? sweep_square_7 : sweep_square_10)(sweep, sites);
}
