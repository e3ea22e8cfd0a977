/* The spin kernel with updates by table: one byte and one 32-bit number per spin.
 *
 * ising_spin_updated: `start` (see spin_rule.h) after the update with the numbers u, in order, of
 * spins whose classes are at `class`. A spin stays as it started if it needs a comparison and its
 * number is not below the threshold.
 *
 * `wide`, a constant: classes from ISING_TABLE_FIELD on are in use. */
#include "models/ising/spin/spin_simd.h"

enum { ISING_SPIN_WORD_VECTORS = 4 }; /* vectors of words per vector of bytes */

#if defined(__AVX512F__)
GPUMC_INLINE __mmask16 ising_spin_below(const struct ising_spin_table *table, gpumc_v32 u,
                                        const uint8_t *class)
{
  const __m512i thresholds = _mm512_loadu_si512(table->threshold);
  const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i_u *)class));
  return _mm512_cmplt_epu32_mask((__m512i)u, _mm512_permutexvar_epi32(index, thresholds));
}

GPUMC_INLINE gpumc_v8 ising_spin_updated(const struct ising_spin_table *table, const bool wide,
                                         const gpumc_v32 u[ISING_SPIN_WORD_VECTORS], gpumc_v8 start,
                                         const uint8_t *class)
{
  (void)wide;
  const __m512i compared =
      _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)table->compared));
  const __mmask32 low = _mm512_kunpackw(ising_spin_below(table, u[1], class + 16),
                                        ising_spin_below(table, u[0], class));
  const __mmask32 high = _mm512_kunpackw(ising_spin_below(table, u[3], class + 48),
                                         ising_spin_below(table, u[2], class + 32));
  const __m512i needs = _mm512_shuffle_epi8(compared, _mm512_loadu_si512(class));
  const __mmask64 flips =
      _mm512_kunpackd(high, low) | _mm512_cmpneq_epi8_mask(needs, (__m512i)start);
  return start ^ (gpumc_v8)_mm512_maskz_set1_epi8(flips, 1);
}
#elif defined(__AVX2__)
GPUMC_INLINE __m256i ising_spin_above(const struct ising_spin_table *table, const bool wide,
                                      gpumc_v32 u, const uint8_t *class)
{
  const __m256i low = _mm256_loadu_si256((const __m256i_u *)table->threshold);
  const __m256i index = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)class));
  __m256i threshold = _mm256_permutevar8x32_epi32(low, index);
  if (wide) {
    const __m256i high =
        _mm256_loadu_si256((const __m256i_u *)(table->threshold + ISING_TABLE_FIELD));
    const __m256 larger = (__m256)_mm256_slli_epi32(index, 28);
    threshold = (__m256i)_mm256_blendv_ps((__m256)threshold,
                                          (__m256)_mm256_permutevar8x32_epi32(high, index), larger);
  }
  return _mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)u, threshold), (__m256i)u);
}

GPUMC_INLINE gpumc_v8 ising_spin_updated(const struct ising_spin_table *table, const bool wide,
                                         const gpumc_v32 u[ISING_SPIN_WORD_VECTORS], gpumc_v8 start,
                                         const uint8_t *class)
{
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i compared =
      _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)table->compared));
  __m256i word[ISING_SPIN_WORD_VECTORS];
  for (size_t i = 0; i < ISING_SPIN_WORD_VECTORS; i++)
    word[i] = ising_spin_above(table, wide, u[i], class + i * GPUMC_VECTOR_WORDS);
  const __m256i low = _mm256_packs_epi32(word[0], word[1]);
  const __m256i high = _mm256_packs_epi32(word[2], word[3]);
  const __m256i rejected = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
  const __m256i needs = _mm256_shuffle_epi8(compared, _mm256_loadu_si256((const __m256i_u *)class));
  return start ^ (~((gpumc_v8)rejected & (gpumc_v8)_mm256_cmpeq_epi8(needs, (__m256i)start)) & 1);
}
#elif defined(__SSE4_1__)
/* Returns byte `place` of the thresholds of the classes. */
GPUMC_INLINE __m128i ising_spin_byte(const struct ising_spin_table *table, __m128i class,
                                     const int place)
{
  return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)table->byte[place]), class);
}

GPUMC_INLINE __m128i ising_spin_above(gpumc_v32 u, __m128i threshold)
{
  return _mm_cmpeq_epi32(_mm_max_epu32((__m128i)u, threshold), (__m128i)u);
}

GPUMC_INLINE gpumc_v8 ising_spin_updated(const struct ising_spin_table *table, const bool wide,
                                         const gpumc_v32 u[ISING_SPIN_WORD_VECTORS], gpumc_v8 start,
                                         const uint8_t *class)
{
  (void)wide;
  const __m128i index = (__m128i)ising_load_bytes(class);
  const __m128i compared = _mm_loadu_si128((const __m128i_u *)table->compared);
  const __m128i byte0 = ising_spin_byte(table, index, 0), byte1 = ising_spin_byte(table, index, 1);
  const __m128i byte2 = ising_spin_byte(table, index, 2), byte3 = ising_spin_byte(table, index, 3);
  const __m128i low0 = _mm_unpacklo_epi8(byte0, byte1), high0 = _mm_unpacklo_epi8(byte2, byte3);
  const __m128i low1 = _mm_unpackhi_epi8(byte0, byte1), high1 = _mm_unpackhi_epi8(byte2, byte3);
  const __m128i low = _mm_packs_epi32(ising_spin_above(u[0], _mm_unpacklo_epi16(low0, high0)),
                                      ising_spin_above(u[1], _mm_unpackhi_epi16(low0, high0)));
  const __m128i high = _mm_packs_epi32(ising_spin_above(u[2], _mm_unpacklo_epi16(low1, high1)),
                                       ising_spin_above(u[3], _mm_unpackhi_epi16(low1, high1)));
  const gpumc_v8 rejected = (gpumc_v8)_mm_packs_epi16(low, high);
  const gpumc_v8 needs = (gpumc_v8)_mm_shuffle_epi8(compared, index);
  return start ^ (~(rejected & (gpumc_v8)(needs == start)) & 1);
}
#else
GPUMC_INLINE gpumc_v8 ising_spin_updated(const struct ising_spin_table *table, const bool wide,
                                         const gpumc_v32 u[ISING_SPIN_WORD_VECTORS], gpumc_v8 start,
                                         const uint8_t *class)
{
  (void)wide;
  for (size_t i = 0; i < GPUMC_VECTOR_BYTES; i++)
    start[i] ^= u[i / GPUMC_VECTOR_WORDS][i % GPUMC_VECTOR_WORDS] < table->threshold[class[i]] ||
                table->compared[class[i]] != start[i];
  return start;
}
#endif

/* The constants of a kind of sweep. */
struct variant {
  size_t dimension;
  bool signs; /* of couplings and fields */
  uint32_t rounds;
};

/* One colour in one sweep. */
struct half_sweep {
  const struct ising_spin_sweep *of;
  struct gpumc_philox_stream stream;
  size_t colour;
  uint8_t *sites, *other; /* working copies of the colour, and of the other one */
};

/* Computes the classes of n spins from k on; n: whole blocks. */
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

/* Updates `blocks` (a constant) blocks from k on, with their classes. */
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
