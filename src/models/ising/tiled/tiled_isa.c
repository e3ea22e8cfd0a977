/* Updates of a tile on the CPU. */
#include "models/ising/tiled/tiled_isa.h"

#include "core/numerics/simd_philox.h"

enum { VECTORS = 4 }; /* of words that are drawn together */
_Static_assert(ISING_TILED_STEP % (VECTORS * GPUMC_VECTOR_WORDS) == 0, "whole steps");

/* A rule as vectors need it: a spin of class c is decided by u <= limit[c] if `ever`[c] is 1. */
struct rule {
  uint32_t limit[ISING_TILED_CLASSES];
  uint8_t ever[ISING_TILED_CLASSES];
  gpumc_v32 inverted;
};

static struct rule rule_of(const struct ising_tiled_rule *of)
{
  struct rule rule = {.inverted = gpumc_broadcast(of->inverted)};
  for (uint32_t c = 0; c < ISING_TILED_CLASSES; c++) {
    rule.limit[c] = (uint32_t)(of->threshold[c] - 1);
    rule.ever[c] = of->threshold[c] > 0;
  }
  return rule;
}

/* Returns limit[] of the lowest byte of each word, whose upper bytes are classes, too. */
GPUMC_INLINE gpumc_v32 limits(const struct rule *rule, gpumc_v32 class)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_permutexvar_epi32((__m512i) class, _mm512_loadu_si512(rule->limit));
#elif defined(__AVX2__)
  const __m256i *limit = (const __m256i *)(const void *)rule->limit;
  return (gpumc_v32)_mm256_blendv_ps(
      (__m256)_mm256_permutevar8x32_epi32(_mm256_loadu_si256(limit), (__m256i) class),
      (__m256)_mm256_permutevar8x32_epi32(_mm256_loadu_si256(limit + 1), (__m256i) class),
      (__m256)(class << 28));
#else
  for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    class[i] = rule->limit[class[i] & 15];
  return class;
#endif
}

/* Returns ever[] of each byte. */
GPUMC_INLINE gpumc_v32 ever(const struct rule *rule, gpumc_v32 class)
{
#if defined(__AVX512F__)
  const __m128i table = _mm_loadu_si128((const __m128i_u *)rule->ever);
  return (gpumc_v32)_mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), (__m512i) class);
#elif defined(__AVX2__)
  const __m128i table = _mm_loadu_si128((const __m128i_u *)rule->ever);
  return (gpumc_v32)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), (__m256i) class);
#else
  gpumc_v8 byte = (gpumc_v8) class;
  for (size_t i = 0; i < GPUMC_VECTOR_BYTES; i++)
    byte[i] = rule->ever[byte[i]];
  return (gpumc_v32)byte;
#endif
}

/* One colour of a tile, and what its updates read. */
struct colour {
  uint32_t *own;
  const uint32_t *other, *beyond, *sites, *left, *right, *before, *after;
  size_t line, plane; /* words; plane: 0 in two dimensions */
};

static struct colour colour_of(const struct ising_tiled_geometry *geometry,
                               const struct ising_tiled_masks *masks,
                               const struct ising_tiled_scratch *scratch, uint32_t colour)
{
  return (struct colour){
      .own = scratch->spins[colour],
      .other = scratch->spins[1 - colour],
      .beyond = scratch->beyond[colour],
      .sites = masks->sites,
      .left = masks->left[colour],
      .right = masks->right[colour],
      .before = masks->before,
      .after = masks->after,
      .line = geometry->row_words,
      .plane = geometry->dimension == 3 ? geometry->tile * geometry->row_words : 0,
  };
}

/* Returns the vector that begins `bytes` after `words`. */
GPUMC_INLINE gpumc_v32 shifted(const uint32_t *words, const int bytes)
{
  gpumc_v32 v;
  memcpy(&v, (const uint8_t *)words + bytes, sizeof v);
  return v;
}

/* Returns the neighbours up of the vector of words from w on. */
GPUMC_INLINE gpumc_v32 neighbours_up(const struct colour *colour, size_t w)
{
  const uint32_t *at = colour->other + w;
  gpumc_v32 before = gpumc_load(at - colour->line), after = gpumc_load(at + colour->line);
  gpumc_v32 up = gpumc_load(colour->beyond + w) + gpumc_load(at);
  up += (shifted(at, -1) & gpumc_load(colour->left + w)) |
        (shifted(at, 1) & gpumc_load(colour->right + w));
  if (colour->plane > 0) {
    before &= gpumc_load(colour->before + w);
    after &= gpumc_load(colour->after + w);
    up += gpumc_load(at - colour->plane) + gpumc_load(at + colour->plane);
  }
  return up + before + after;
}

/* Updates the vector of words from w on; u[lane]: of their spins number `lane`. */
GPUMC_INLINE void update_vector(const struct rule *rule, const struct colour *colour, size_t w,
                                const gpumc_v32 u[ISING_TILED_LANES])
{
  const gpumc_v32 spins = gpumc_load(colour->own + w);
  const gpumc_v32 class = neighbours_up(colour, w) | spins << 3;
  gpumc_v32 decided = gpumc_broadcast(0);
#pragma GCC unroll 4
  for (uint32_t lane = 0; lane < ISING_TILED_LANES; lane++)
    decided |= (gpumc_v32)(u[lane] <= limits(rule, class >> 8 * lane)) & (1u << 8 * lane);
  decided &= ever(rule, class);
  gpumc_store(colour->own + w, spins ^ (gpumc_xor3(decided, spins & rule->inverted, spins) &
                                        gpumc_load(colour->sites + w)));
}

/* One colour of a block in one sweep. */
struct half_sweep {
  const struct ising_tiled_work *work;
  uint32_t tile, colour, time; /* tile: its number */
};

GPUMC_INLINE void update_with(const struct half_sweep *half, const struct rule *rule,
                              const struct colour *colour, const uint32_t rounds)
{
  const struct ising_tiled_work *work = half->work;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(work->random, work->replica, half->time);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, half->colour);
  const uint32_t words = work->geometry->words;
  const uint32_t labels[VECTORS] = {label, label, label, label};
  for (uint32_t w = 0; w < words; w += VECTORS * GPUMC_VECTOR_WORDS) {
    gpumc_v32 site[VECTORS], u[VECTORS][ISING_TILED_LANES];
    for (uint32_t v = 0; v < VECTORS; v++)
      site[v] = gpumc_lane_numbers() + (half->tile * words + w + v * (uint32_t)GPUMC_VECTOR_WORDS);
    gpumc_philox_draws(&stream, rounds, VECTORS, site, labels, u);
    for (uint32_t v = 0; v < VECTORS; v++)
      update_vector(rule, colour, w + v * GPUMC_VECTOR_WORDS, u[v]);
  }
}

static void
update_philox(const struct half_sweep *half, const struct rule *rule, const struct colour *colour)
{
  if (half->work->random.rounds == 7)
    update_with(half, rule, colour, 7);
  else
    update_with(half, rule, colour, 10);
}

/* Returns the next number of a block, from a ring of the last r ones; `*oldest`: its oldest
 * place. */
static uint32_t
next_fibonacci(const struct ising_tiled_generator *generator, uint32_t *ring, uint32_t *oldest)
{
  const uint32_t r = generator->lag_r, now = *oldest, before = now + r - generator->lag_s;
  ring[now] += ring[before < r ? before : before - r];
  *oldest = now + 1 < r ? now + 1 : 0;
  return ring[now];
}

/* Draws the numbers of all places, from the state of the block. */
static void draw_unsafe(const struct ising_tiled_work *work, uint32_t *state, uint32_t *oldest,
                        uint32_t *numbers)
{
  const struct ising_tiled_geometry *geometry = work->geometry;
  const uint32_t stride = ising_tiled_padded(geometry);
  for (uint32_t place = 0; place < geometry->places; place++) {
    const uint32_t line = place / geometry->row, along = place % geometry->row;
    numbers[along % ISING_TILED_LANES * stride + line * geometry->row_words +
            along / ISING_TILED_LANES] = work->generator->kind == ISING_TILED_FIBONACCI
                                             ? next_fibonacci(work->generator, state, oldest)
                                             : ising_tiled_lcg(work->generator, state, place);
  }
}

/* Updates a colour with numbers that are drawn. */
static void update_drawn(const struct ising_tiled_geometry *geometry, const struct rule *rule,
                         const struct colour *colour, const uint32_t *numbers)
{
  const size_t stride = ising_tiled_padded(geometry);
  for (size_t w = 0; w < geometry->words; w += GPUMC_VECTOR_WORDS) {
    gpumc_v32 u[ISING_TILED_LANES];
    for (size_t lane = 0; lane < ISING_TILED_LANES; lane++)
      u[lane] = gpumc_load(numbers + lane * stride + w);
    update_vector(rule, colour, w, u);
  }
}

/* Rotates the ring so that its oldest number comes first. */
static void turn_ring(uint32_t *ring, uint32_t r, uint32_t oldest, uint32_t *room)
{
  memcpy(room, ring, r * sizeof *ring);
  memcpy(ring, room + oldest, (r - oldest) * sizeof *ring);
  memcpy(ring + (r - oldest), room, oldest * sizeof *ring);
}

static void visit_block(const struct ising_tiled_work *work, const struct ising_tiled_visit *visit,
                        uint32_t b, struct ising_tiled_scratch scratch)
{
  const struct ising_tiled_geometry *geometry = work->geometry;
  const struct ising_tiled_generator *generator = work->generator;
  const struct ising_tiled_tile tile = ising_tiled_tile(geometry, visit->half, b);
  const struct rule rule = rule_of(work->rule);
  struct half_sweep half = {.work = work, .tile = ising_tiled_number(geometry, tile)};
  uint32_t *state = work->state + (size_t)b * generator->block_words;
  uint32_t *words = work->words + ising_tiled_words(geometry, tile);
  uint32_t oldest = 0;
  ising_tiled_load(geometry, work->words, tile, &scratch);
  for (uint32_t hit = 0; hit < visit->hits; hit++) {
    const uint32_t reversed = (hit < visit->turn) == (visit->reversed != 0);
    half.time = work->time + visit->first + hit;
    for (uint32_t i = 0; i < 2; i++) {
      half.colour = i ^ reversed;
      const struct colour colour = colour_of(geometry, work->masks, &scratch, half.colour);
      if (generator->kind == ISING_TILED_PHILOX) {
        update_philox(&half, &rule, &colour);
      } else {
        draw_unsafe(work, state, &oldest, scratch.numbers);
        update_drawn(geometry, &rule, &colour, scratch.numbers);
      }
    }
  }
  for (uint32_t colour = 0; colour < 2; colour++)
    memcpy(words + colour * geometry->words, scratch.spins[colour],
           geometry->words * sizeof *words);
  if (oldest > 0)
    turn_ring(state, generator->lag_r, oldest, scratch.state);
}

/* Returns the sum of the bytes of the vectors whose neighbouring bytes were added up in 16 bits. */
static int64_t sum_of(gpumc_v32 pairs)
{
  int64_t sum = 0;
  for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    sum += (pairs[i] & 0xffff) + (pairs[i] >> 16);
  return sum;
}

GPUMC_INLINE gpumc_v32 pairs_of(gpumc_v32 bytes)
{
  return (bytes & 0x00ff00ff) + (bytes >> 8 & 0x00ff00ff);
}

/* A site with n of m neighbours up is in m - n bonds between unlike spins if it is up, or else in
 * n. Those of colour 0 are in all bonds. */
static void count(const struct ising_tiled_geometry *geometry,
                  const struct ising_tiled_masks *masks, const struct ising_tiled_scratch *scratch,
                  struct ising_tiled_sums *sums)
{
  const struct colour colour = colour_of(geometry, masks, scratch, 0);
  gpumc_v32 up = gpumc_broadcast(0), own_up = up, others_up = up, like = up;
  for (size_t w = 0; w < geometry->words; w += GPUMC_VECTOR_WORDS) {
    const gpumc_v32 spins = gpumc_load(colour.own + w);
    const gpumc_v32 n = neighbours_up(&colour, w) & (gpumc_load(colour.sites + w) * 0xff);
    own_up += pairs_of(spins);
    up += pairs_of(spins + gpumc_load(colour.other + w));
    others_up += pairs_of(n);
    like += pairs_of(n & (spins * 0xff));
  }
  sums->up += sum_of(up);
  sums->unlike +=
      sum_of(others_up) - 2 * sum_of(like) + 2 * (int64_t)geometry->dimension * sum_of(own_up);
}

extern const struct ising_tiled_ops GPUMC_ISA_NAME(ising_tiled);
const struct ising_tiled_ops GPUMC_ISA_NAME(ising_tiled) = {.visit = visit_block, .count = count};
