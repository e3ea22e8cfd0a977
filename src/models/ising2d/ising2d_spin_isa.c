/* The spin kernel of the two-dimensional Ising model: one byte a spin, one 32-bit number a spin.
 *
 * 64 spins of a colour at a time: 16 Philox counters, whose outputs j = 0..3 belong to the spins
 * 16 j .. 16 j + 15. The comparisons give a mask of 64 bits. */
#include "core/simd_philox.h"
#include "models/ising2d/ising2d_spin.h"
#include "models/lattice/checkerboard_simd.h"

enum { BLOCK = 64, COUNTERS = 16, OUTPUTS = 4 };

GPUMC_INLINE gpumc_v8 load_bytes(const uint8_t *bytes)
{
  gpumc_v8 v;
  memcpy(&v, bytes, sizeof v);
  return v;
}

/* Bit i: u[i] < threshold[up[i]]. `table`: the thresholds in the form lookups take. */
#if defined(__AVX512F__)
typedef __m512i threshold_table;

GPUMC_INLINE threshold_table table_of(const uint32_t threshold[ISING2D_TABLE])
{
  return _mm512_loadu_si512(threshold);
}

GPUMC_INLINE uint32_t accepted(threshold_table table, gpumc_v32 u, const uint8_t *up)
{
  __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)up));
  return _mm512_cmplt_epu32_mask((__m512i)u, _mm512_permutexvar_epi32(index, table));
}
#elif defined(__AVX2__)
typedef __m256i threshold_table;

GPUMC_INLINE threshold_table table_of(const uint32_t threshold[ISING2D_TABLE])
{
  return _mm256_loadu_si256((const __m256i_u *)threshold);
}

GPUMC_INLINE uint32_t accepted(threshold_table table, gpumc_v32 u, const uint8_t *up)
{
  __m256i index = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)up));
  __m256i threshold = _mm256_permutevar8x32_epi32(table, index);
  __m256i rejected = _mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)u, threshold), (__m256i)u);
  return 0xffu & ~(uint32_t)_mm256_movemask_ps((__m256)rejected);
}
#else
typedef const uint32_t *threshold_table;

GPUMC_INLINE threshold_table table_of(const uint32_t threshold[ISING2D_TABLE])
{
  return threshold;
}

GPUMC_INLINE uint32_t accepted(threshold_table table, gpumc_v32 u, const uint8_t *up)
{
  uint32_t bits = 0;
  for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    bits |= (uint32_t)(u[i] < table[up[i]]) << i;
  return bits;
}
#endif

/* Flip the 64 spins whose bit is set, and those that need no comparison. */
GPUMC_INLINE void
flip(uint8_t *spins, uint64_t flips, const uint8_t *up, const uint8_t compared[ISING2D_TABLE])
{
#if defined(__AVX512F__)
  __m512i spin = _mm512_loadu_si512(spins);
  __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)compared));
  __m512i needs = _mm512_shuffle_epi8(table, _mm512_loadu_si512(up));
  flips |= _mm512_cmpneq_epi8_mask(needs, spin);
  _mm512_storeu_si512(spins, _mm512_xor_si512(spin, _mm512_maskz_set1_epi8(flips, 1)));
#elif defined(__AVX2__)
  const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
  const __m256i byte =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)compared));
  for (size_t half = 0; half < 2; half++) {
    __m256i_u *place = (__m256i_u *)(spins + 32 * half);
    __m256i spin = _mm256_loadu_si256(place);
    __m256i needs =
        _mm256_shuffle_epi8(table, _mm256_loadu_si256((const __m256i_u *)(up + 32 * half)));
    __m256i set = _mm256_set1_epi32((int)(uint32_t)(flips >> 32 * half));
    set = _mm256_and_si256(_mm256_shuffle_epi8(set, byte), bit);
    /* Rejected: the bit is clear and the spin is the one that needs a comparison. */
    __m256i stay = _mm256_and_si256(_mm256_cmpeq_epi8(set, _mm256_setzero_si256()),
                                    _mm256_cmpeq_epi8(needs, spin));
    _mm256_storeu_si256(place,
                        _mm256_xor_si256(spin, _mm256_andnot_si256(stay, _mm256_set1_epi8(1))));
  }
#else
  for (size_t i = 0; i < BLOCK; i++)
    spins[i] ^= (uint8_t)((flips >> i & 1) | (compared[up[i]] != spins[i]));
#endif
}

/* Update 64 spins; `block` is the number of the first of their counters. */
GPUMC_INLINE void update_block(const struct ising2d_spin_rule *rule, threshold_table table,
                               const uint32_t rounds, const struct gpumc_philox_stream *stream,
                               uint32_t label, uint32_t block, uint8_t *spins, const uint8_t *up)
{
  uint64_t flips = 0;
  for (size_t c = 0; c < COUNTERS; c += GPUMC_VECTOR_WORDS) {
    gpumc_v32 u[OUTPUTS];
    gpumc_philox_draw(stream, rounds, gpumc_lane_numbers() + (block + (uint32_t)c), label, u);
    for (size_t j = 0; j < OUTPUTS; j++)
      flips |= (uint64_t)accepted(table, u[j], up + COUNTERS * j + c) << (COUNTERS * j + c);
  }
  flip(spins, flips, up, rule->compared);
}

GPUMC_INLINE void update_part(const struct ising2d_spin_rule *rule, const uint32_t rounds,
                              const struct gpumc_philox_stream *stream, uint8_t *const sites[2],
                              const uint8_t *side, size_t colour, size_t k0, size_t n)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, (uint32_t)colour);
  const size_t row = rule->lattice.row;
  const uint8_t *other = sites[1 - colour];
  const threshold_table table = table_of(rule->threshold);
  for (size_t i = 0; i < n; i += BLOCK) {
    const size_t k = k0 + i;
    uint8_t up[BLOCK];
    for (size_t b = 0; b < BLOCK; b += GPUMC_VECTOR_BYTES) {
      gpumc_v8 sum = load_bytes(other + k + b - row) + load_bytes(other + k + b + row) +
                     load_bytes(other + k + b) + load_bytes(side + i + b);
      memcpy(up + b, &sum, sizeof sum);
    }
    update_block(rule, table, rounds, stream, label, (uint32_t)(k / BLOCK * COUNTERS),
                 sites[colour] + k, up);
  }
}

GPUMC_INLINE void sweep_with(const struct ising2d_spin_rule *rule, const uint32_t rounds,
                             uint8_t *const sites[2], uint8_t *side, uint32_t replica,
                             uint32_t time, uint32_t sweeps)
{
  const struct gpumc_checkerboard *lattice = &rule->lattice;
  for (uint32_t s = 0; s < sweeps; s++) {
    struct gpumc_philox_stream stream = gpumc_philox_stream_make(rule->random, replica, time + s);
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

static void sweep(const struct ising2d_spin_rule *rule, uint8_t *spins, uint32_t replica,
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
                    uint8_t *scratch, struct ising2d_spin_sums *sums)
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

extern const struct ising2d_spin_ops GPUMC_ISA_NAME(ising2d_spin);
const struct ising2d_spin_ops GPUMC_ISA_NAME(ising2d_spin) = {.sweep = sweep, .measure = measure};
