/* Measuring and copying multispin replicas of the Ising model. */
#include "models/ising/ising_multispin.h"
#include "models/lattice/checkerboard_simd.h"
#include "models/lattice/vertical_counter.h"

enum { BLOCK = 4 }; /* vectors that are counted, or copied, together */

/* Lanes of words that are still within the lattice. */
GPUMC_INLINE gpumc_v32 within(size_t words)
{
  if (words >= GPUMC_VECTOR_WORDS)
    return gpumc_broadcast(UINT32_MAX);
  return (gpumc_v32)(gpumc_lane_numbers() < gpumc_broadcast((uint32_t)words));
}

/* Unsatisfied bonds of the sites k0 <= k < k0 + n of colour 0: each bond has one end there. */
static void count_bonds(const struct gpumc_checkerboard *lattice, const uint32_t *sites,
                        const uint32_t *other, const uint32_t *side, size_t k0, size_t n,
                        int64_t count[ISING_LANES])
{
  const size_t row = lattice->row, planes = gpumc_counter_planes(4 * n / GPUMC_VECTOR_WORDS + 8);
  struct gpumc_vertical_counter counter = {0};
  gpumc_v32 ones = counter.plane[0], twos = counter.plane[1], fours = counter.plane[2];
  for (size_t i = 0; i < n; i += 2 * GPUMC_VECTOR_WORDS) {
    gpumc_v32 carry[2] = {0};
    for (size_t v = 0; v < 2 && i + v * GPUMC_VECTOR_WORDS < n; v++) {
      const size_t at = i + v * GPUMC_VECTOR_WORDS, k = k0 + at;
      const gpumc_v32 inside = within(n - at), spin = gpumc_load(sites + k);
      carry[v] = gpumc_counter_add4(&ones, &twos, inside & (spin ^ gpumc_load(other + k - row)),
                                    inside & (spin ^ gpumc_load(other + k + row)),
                                    inside & (spin ^ gpumc_load(other + k)),
                                    inside & (spin ^ gpumc_load(side + at)));
    }
    gpumc_counter_add(&counter, 3, planes, gpumc_full_add(&fours, carry[0], carry[1]));
  }
  counter.plane[0] = ones;
  counter.plane[1] = twos;
  counter.plane[2] = fours;
  gpumc_counter_flush(&counter, planes > 3 ? planes : 3, count);
}

/* Spins up among n words of each colour. */
static void count_up(const uint32_t *const colour[2], size_t n, int64_t count[ISING_LANES])
{
  const size_t planes = gpumc_counter_planes(2 * n / GPUMC_VECTOR_WORDS + 2 * BLOCK);
  struct gpumc_vertical_counter counter = {0};
  gpumc_v32 ones = counter.plane[0], twos = counter.plane[1];
  for (size_t c = 0; c < 2; c++)
    for (size_t i = 0; i + BLOCK * GPUMC_VECTOR_WORDS <= n; i += BLOCK * GPUMC_VECTOR_WORDS) {
      const uint32_t *at = colour[c] + i;
      gpumc_v32 carry = gpumc_counter_add4(
          &ones, &twos, gpumc_load(at), gpumc_load(at + GPUMC_VECTOR_WORDS),
          gpumc_load(at + 2 * GPUMC_VECTOR_WORDS), gpumc_load(at + 3 * GPUMC_VECTOR_WORDS));
      gpumc_counter_add(&counter, 2, planes, carry);
    }
  counter.plane[0] = ones;
  counter.plane[1] = twos;
  for (size_t c = 0; c < 2; c++)
    for (size_t i = n / (BLOCK * GPUMC_VECTOR_WORDS) * BLOCK * GPUMC_VECTOR_WORDS; i < n;
         i += GPUMC_VECTOR_WORDS)
      gpumc_counter_add(&counter, 0, planes, gpumc_load(colour[c] + i) & within(n - i));
  gpumc_counter_flush(&counter, planes, count);
}

void GPUMC_ISA_NAME(ising_multispin_measure)(const struct gpumc_checkerboard *lattice,
                                             const uint32_t *words, uint32_t *scratch,
                                             struct ising_multispin_sums *sums);
void GPUMC_ISA_NAME(ising_multispin_measure)(const struct gpumc_checkerboard *lattice,
                                             const uint32_t *words, uint32_t *scratch,
                                             struct ising_multispin_sums *sums)
{
  const size_t extent = gpumc_checkerboard_extent(lattice);
  uint32_t *sites[2], *side = scratch + 2 * extent;
  for (size_t colour = 0; colour < 2; colour++) {
    sites[colour] = scratch + colour * extent + gpumc_checkerboard_lead(lattice);
    memcpy(sites[colour], words + colour * lattice->colour, lattice->colour * sizeof *words);
  }
  gpumc_checkerboard_wrap(lattice, sites[1], sizeof(uint32_t));
  memset(sums, 0, sizeof *sums);
  for (size_t y = 0; y < lattice->length_y; y += lattice->part_rows) {
    size_t rows = lattice->length_y - y;
    rows = rows < lattice->part_rows ? rows : lattice->part_rows;
    const size_t k0 = y * lattice->row, n = rows * lattice->row;
    gpumc_checkerboard_side(lattice, sites[1], 0, y, rows, side, sizeof(uint32_t));
    count_bonds(lattice, sites[0], sites[1], side, k0, n, sums->unsatisfied);
    count_up((const uint32_t *const[2]){sites[0] + k0, sites[1] + k0}, n, sums->up);
  }
}

GPUMC_INLINE gpumc_v32 with_copy(gpumc_v32 words, const struct ising_multispin_copy *copy,
                                 size_t at)
{
  const uint32_t left = copy->rotation & 31, right = (32 - copy->rotation) & 31;
  gpumc_v32 source = gpumc_load(copy->source + at);
  return gpumc_select(gpumc_broadcast((uint32_t)1 << copy->lane),
                      (source << left) | (source >> right), words);
}

void GPUMC_ISA_NAME(ising_multispin_gather)(uint32_t *words, const uint32_t *old, size_t n,
                                            const struct ising_multispin_copy *copies,
                                            size_t n_copies);
void GPUMC_ISA_NAME(ising_multispin_gather)(uint32_t *words, const uint32_t *old, size_t n,
                                            const struct ising_multispin_copy *copies,
                                            size_t n_copies)
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
