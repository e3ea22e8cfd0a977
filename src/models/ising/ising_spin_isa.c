/* The spin kernel of the Ising model: one byte a spin, one 32-bit number a spin.
 *
 * Blocks of 64 spins of a colour: 16 Philox counters, whose outputs j = 0..3 belong to the spins
 * 16 j .. 16 j + 15. Four vectors of counters at a time, which is four vectors of spins. */
#include "core/simd_philox.h"
#include "models/ising/ising_spin.h"
#include "models/lattice/checkerboard_simd.h"

enum { BLOCK = 64, COUNTERS = 16, OUTPUTS = 4 };
enum {
  VECTORS = 4,
  BLOCK_VECTORS = COUNTERS / GPUMC_VECTOR_WORDS,
  BLOCKS = VECTORS / BLOCK_VECTORS
};

GPUMC_INLINE gpumc_v8 load_bytes(const uint8_t *bytes)
{
  gpumc_v8 v;
  memcpy(&v, bytes, sizeof v);
  return v;
}

/* `spin` after the update with the numbers u of a vector of bytes, in order. A spin stays if it is
 * the one that needs a comparison and its number is not below threshold[up]. */
#if defined(__AVX512F__)
GPUMC_INLINE __mmask16 below(const struct ising_spin_rule *rule, gpumc_v32 u, const uint8_t *up)
{
  const __m512i table = _mm512_loadu_si512(rule->threshold);
  __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)up));
  return _mm512_cmplt_epu32_mask((__m512i)u, _mm512_permutexvar_epi32(index, table));
}

GPUMC_INLINE gpumc_v8 updated(const struct ising_spin_rule *rule, const gpumc_v32 u[OUTPUTS],
                              gpumc_v8 spin, const uint8_t *up)
{
  const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)rule->compared));
  __mmask32 low = _mm512_kunpackw(below(rule, u[1], up + 16), below(rule, u[0], up));
  __mmask32 high = _mm512_kunpackw(below(rule, u[3], up + 48), below(rule, u[2], up + 32));
  __m512i needs = _mm512_shuffle_epi8(table, _mm512_loadu_si512(up));
  __mmask64 flips = _mm512_kunpackd(high, low) | _mm512_cmpneq_epi8_mask(needs, (__m512i)spin);
  return spin ^ (gpumc_v8)_mm512_maskz_set1_epi8(flips, 1);
}
#elif defined(__AVX2__)
GPUMC_INLINE __m256i above(const struct ising_spin_rule *rule, gpumc_v32 u, const uint8_t *up)
{
  const __m256i table = _mm256_loadu_si256((const __m256i_u *)rule->threshold);
  __m256i index = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)up));
  __m256i threshold = _mm256_permutevar8x32_epi32(table, index);
  return _mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)u, threshold), (__m256i)u);
}

GPUMC_INLINE gpumc_v8 updated(const struct ising_spin_rule *rule, const gpumc_v32 u[OUTPUTS],
                              gpumc_v8 spin, const uint8_t *up)
{
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)rule->compared));
  __m256i low = _mm256_packs_epi32(above(rule, u[0], up), above(rule, u[1], up + 8));
  __m256i high = _mm256_packs_epi32(above(rule, u[2], up + 16), above(rule, u[3], up + 24));
  __m256i rejected = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
  __m256i needs = _mm256_shuffle_epi8(table, _mm256_loadu_si256((const __m256i_u *)up));
  return spin ^ (~((gpumc_v8)rejected & (gpumc_v8)_mm256_cmpeq_epi8(needs, (__m256i)spin)) & 1);
}
#elif defined(__SSE4_1__)
/* `place`: 4 up + 0x70, whose sign says up = 4; the table of bytes holds the other four. */
GPUMC_INLINE __m128i above(const struct ising_spin_rule *rule, gpumc_v32 u, __m128i place,
                           const int first)
{
  const __m128i table = _mm_loadu_si128((const __m128i_u *)rule->threshold);
  const __m128i last = _mm_set1_epi32((int)rule->threshold[ISING_CLASSES - 1]);
  const __m128i spread = _mm_setr_epi32(0, 0x01010101, 0x02020202, 0x03030303);
  __m128i index = _mm_shuffle_epi8(place, _mm_add_epi8(spread, _mm_set1_epi8((char)first)));
  index = _mm_or_si128(index, _mm_set1_epi32(0x03020100));
  __m128i threshold = _mm_blendv_epi8(_mm_shuffle_epi8(table, index), last, index);
  return _mm_cmpeq_epi32(_mm_max_epu32((__m128i)u, threshold), (__m128i)u);
}

GPUMC_INLINE gpumc_v8 updated(const struct ising_spin_rule *rule, const gpumc_v32 u[OUTPUTS],
                              gpumc_v8 spin, const uint8_t *up)
{
  const __m128i table = _mm_loadu_si128((const __m128i_u *)rule->compared);
  const gpumc_v8 sum = load_bytes(up);
  const __m128i place = (__m128i)(4 * sum + 0x70);
  __m128i low = _mm_packs_epi32(above(rule, u[0], place, 0), above(rule, u[1], place, 4));
  __m128i high = _mm_packs_epi32(above(rule, u[2], place, 8), above(rule, u[3], place, 12));
  gpumc_v8 rejected = (gpumc_v8)_mm_packs_epi16(low, high);
  gpumc_v8 needs = (gpumc_v8)_mm_shuffle_epi8(table, (__m128i)sum);
  return spin ^ (~(rejected & (gpumc_v8)(needs == spin)) & 1);
}
#else
GPUMC_INLINE gpumc_v8 updated(const struct ising_spin_rule *rule, const gpumc_v32 u[OUTPUTS],
                              gpumc_v8 spin, const uint8_t *up)
{
  for (size_t i = 0; i < GPUMC_VECTOR_BYTES; i++)
    spin[i] ^= u[i / GPUMC_VECTOR_WORDS][i % GPUMC_VECTOR_WORDS] < rule->threshold[up[i]] ||
               rule->compared[up[i]] != spin[i];
  return spin;
}
#endif

/* Update `blocks` (a constant) blocks; `counter` is the number of the first of their counters. */
GPUMC_INLINE void update_blocks(const struct ising_spin_rule *rule, const uint32_t rounds,
                                const struct gpumc_philox_stream *stream, uint32_t label,
                                const size_t blocks, uint32_t counter, uint8_t *spins,
                                const uint8_t *up)
{
  gpumc_v32 site[VECTORS], u[VECTORS][OUTPUTS];
  const uint32_t labels[VECTORS] = {label, label, label, label};
#pragma GCC unroll 4
  for (size_t v = 0; v < blocks * BLOCK_VECTORS; v++)
    site[v] = gpumc_lane_numbers() + (uint32_t)v * GPUMC_VECTOR_WORDS + counter;
  gpumc_philox_draws(stream, rounds, blocks * BLOCK_VECTORS, site, labels, u);
#pragma GCC unroll 4
  for (size_t p = 0; p < blocks * BLOCK; p += GPUMC_VECTOR_BYTES) {
    gpumc_v32 number[OUTPUTS];
#pragma GCC unroll 4
    for (size_t i = 0; i < OUTPUTS; i++) {
      const size_t q = p + i * GPUMC_VECTOR_WORDS, block = q / BLOCK, place = q % BLOCK;
      number[i] =
          u[block * BLOCK_VECTORS + place % COUNTERS / GPUMC_VECTOR_WORDS][place / COUNTERS];
    }
    gpumc_v8 spin = updated(rule, number, load_bytes(spins + p), up + p);
    memcpy(spins + p, &spin, sizeof spin);
  }
}

/* `side`: the neighbours beside, which become the sums of all four. */
GPUMC_INLINE void update_part(const struct ising_spin_rule *rule, const uint32_t rounds,
                              const struct gpumc_philox_stream *stream, uint8_t *const sites[2],
                              uint8_t *side, size_t colour, size_t k0, size_t n)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, (uint32_t)colour);
  const uint32_t counter = (uint32_t)(k0 / OUTPUTS);
  const uint8_t *other = sites[1 - colour] + k0;
  uint8_t *spins = sites[colour] + k0;
  const size_t row = rule->lattice.row;
  for (size_t i = 0; i < n; i += GPUMC_VECTOR_BYTES) {
    gpumc_v8 up = load_bytes(other + i - row) + load_bytes(other + i + row) +
                  load_bytes(other + i) + load_bytes(side + i);
    memcpy(side + i, &up, sizeof up);
  }
  size_t i = 0;
  for (; i + (BLOCKS - 1) * BLOCK < n; i += BLOCKS * BLOCK)
    update_blocks(rule, rounds, stream, label, BLOCKS, counter + (uint32_t)(i / OUTPUTS), spins + i,
                  side + i);
  for (; i < n; i += BLOCK)
    update_blocks(rule, rounds, stream, label, 1, counter + (uint32_t)(i / OUTPUTS), spins + i,
                  side + i);
}

GPUMC_INLINE void sweep_with(const struct ising_spin_rule *rule, const uint32_t rounds,
                             uint8_t *const sites[2], uint8_t *side, uint32_t replica,
                             uint32_t time, uint32_t sweeps)
{
  const struct gpumc_checkerboard *lattice = &rule->lattice;
  for (uint32_t s = 0; s < sweeps; s++) {
    const struct gpumc_philox_stream stream =
        gpumc_philox_stream_make(rule->random, replica, time + s);
    for (size_t colour = 0; colour < 2; colour++) {
      for (size_t y = 0; y < lattice->length_y; y += lattice->part_rows) {
        size_t rows = lattice->length_y - y;
        rows = rows < lattice->part_rows ? rows : lattice->part_rows;
        gpumc_checkerboard_side(lattice, sites[1 - colour], colour, y, rows, side, sizeof(uint8_t));
        update_part(rule, rounds, &stream, sites, side, colour, y * lattice->row,
                    rows * lattice->row);
      }
      gpumc_checkerboard_wrap(lattice, sites[colour], sizeof(uint8_t));
    }
  }
}

static void load(const struct gpumc_checkerboard *lattice, const uint8_t *spins, uint8_t *scratch,
                 uint8_t *sites[2])
{
  for (size_t colour = 0; colour < 2; colour++) {
    sites[colour] =
        scratch + colour * gpumc_checkerboard_extent(lattice) + gpumc_checkerboard_lead(lattice);
    memcpy(sites[colour], spins + colour * lattice->colour, lattice->colour);
    gpumc_checkerboard_wrap(lattice, sites[colour], sizeof(uint8_t));
  }
}

static void sweep(const struct ising_spin_rule *rule, uint8_t *spins, uint32_t replica,
                  uint32_t time, uint32_t sweeps, uint8_t *scratch)
{
  const struct gpumc_checkerboard *lattice = &rule->lattice;
  uint8_t *sites[2], *side = scratch + 2 * gpumc_checkerboard_extent(lattice);
  load(lattice, spins, scratch, sites);
  if (rule->random.rounds == 7)
    sweep_with(rule, 7, sites, side, replica, time, sweeps);
  else
    sweep_with(rule, 10, sites, side, replica, time, sweeps);
  for (size_t colour = 0; colour < 2; colour++)
    memcpy(spins + colour * lattice->colour, sites[colour], lattice->colour);
}

/* The sum of a[i] XOR b[i]: |a - b| of zeros and ones, which compilers know how to sum. n is that
 * of a part, below 2^22. */
static int unlike(const uint8_t *a, const uint8_t *b, size_t n)
{
  int sum = 0;
  for (size_t i = 0; i < n; i++) {
    int difference = a[i] - b[i];
    sum += difference < 0 ? -difference : difference;
  }
  return sum;
}

static void measure(const struct gpumc_checkerboard *lattice, const uint8_t *spins,
                    uint8_t *scratch, struct ising_spin_sums *sums)
{
  uint8_t *sites[2], *side = scratch + 2 * gpumc_checkerboard_extent(lattice);
  const size_t row = lattice->row;
  load(lattice, spins, scratch, sites);
  memset(sums, 0, sizeof *sums);
  for (size_t y = 0; y < lattice->length_y; y += lattice->part_rows) {
    size_t rows = lattice->length_y - y;
    rows = rows < lattice->part_rows ? rows : lattice->part_rows;
    const size_t k = y * row, n = rows * row;
    gpumc_checkerboard_side(lattice, sites[1], 0, y, rows, side, sizeof(uint8_t));
    sums->unsatisfied += unlike(sites[0] + k, sites[1] + k - row, n) +
                         unlike(sites[0] + k, sites[1] + k + row, n) +
                         unlike(sites[0] + k, sites[1] + k, n) + unlike(sites[0] + k, side, n);
    for (size_t colour = 0; colour < 2; colour++) {
      uint32_t up = 0;
      for (size_t i = 0; i < n; i++)
        up += sites[colour][k + i];
      sums->up += up;
    }
  }
}

extern const struct ising_spin_ops GPUMC_ISA_NAME(ising_spin);
const struct ising_spin_ops GPUMC_ISA_NAME(ising_spin) = {.sweep = sweep, .measure = measure};
