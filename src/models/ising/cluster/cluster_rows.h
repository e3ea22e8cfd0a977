/* Rows of a lattice as words of 64 sites on the CPU, and their bonds: for sources that are compiled
 * once for each instruction-set level.
 *
 * Bit i of word X of a row is site 64 X + i; the last word of a row may have fewer. All that is
 * known of a word is in one line of the cache. */
#ifndef GPUMC_ISING_CLUSTER_ROWS_H
#define GPUMC_ISING_CLUSTER_ROWS_H

#include "models/ising/cluster/cluster_bonds.h"
#include "models/lattice/bit_sliced.h"

enum {
  ISING_ROW_AXES = LATTICE_DIMENSIONS_MAXIMUM,
  ISING_ROW_KINDS = LATTICE_CLUSTER_GHOST + 1, /* of bonds: along axes, with the ghost */
  /* Counters are drawn by halves: of a word, or two words if two sites share one. */
  ISING_DRAW_COUNTERS = 32,
  ISING_DRAW_HALVES = 2,
  ISING_DRAW_VECTORS = 4, /* that go through the rounds together */
  ISING_BATCH_WORDS = LATTICE_CLUSTER_CHUNK / ISING_ROW_WORD
};

/* ---- bits ---- */

static inline uint32_t ising_row_count(uint64_t bits)
{
  return (uint32_t)__builtin_popcountll(bits);
}

static inline uint64_t ising_row_lowest(uint64_t bits)
{
  return bits & (0 - bits);
}

/* Returns the bits up to that one, and it. */
static inline uint64_t ising_row_up_to(uint64_t bit)
{
  return bit | (bit - 1);
}

/* Returns bits 0 .. n - 1, 1 <= n <= 64. */
static inline uint64_t ising_row_below(size_t n)
{
  return UINT64_MAX >> (ISING_ROW_WORD - n);
}

/* Returns 64 bits from number `at` of a sequence on, which ends with one more word. */
static inline uint64_t ising_row_bits(const uint64_t *bits, size_t at)
{
  const uint64_t *word = bits + at / ISING_ROW_WORD;
  const size_t shift = at % ISING_ROW_WORD;
  return word[0] >> shift | word[1] << 1 << (ISING_ROW_WORD - 1 - shift);
}

/* Puts the lowest bits at the places where `places` has ones, in order, and back. */
static inline uint64_t ising_row_deposit(uint64_t bits, uint64_t places)
{
#ifdef __BMI2__
  return _pdep_u64(bits, places);
#else
  uint64_t put = 0;
  for (; places != 0; places &= places - 1, bits >>= 1)
    put |= ising_row_lowest(places) & (0 - (bits & 1));
  return put;
#endif
}
static inline uint64_t ising_row_extract(uint64_t bits, uint64_t places)
{
#ifdef __BMI2__
  return _pext_u64(bits, places);
#else
  uint64_t taken = 0;
  for (uint32_t i = 0; places != 0; places &= places - 1, i++)
    taken |= (uint64_t)((bits & ising_row_lowest(places)) != 0) << i;
  return taken;
#endif
}

/* The same for every second place, from the lowest on. */
static inline uint64_t ising_row_spread(uint32_t bits)
{
#ifdef __BMI2__
  return _pdep_u64(bits, 0x5555555555555555u);
#else
  return gpumc_bits_spread(bits);
#endif
}
static inline uint32_t ising_row_gather(uint64_t bits)
{
#ifdef __BMI2__
  return (uint32_t)_pext_u64(bits, 0x5555555555555555u);
#else
  return gpumc_bits_even(bits);
#endif
}

/* Returns bit `bit` of each of n bytes, at most 64. */
static inline uint64_t ising_row_of_bytes(const uint8_t *bytes, size_t n, uint32_t bit)
{
#if defined(__AVX512BW__)
  const __mmask64 all = n < ISING_ROW_WORD ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
  const __m512i loaded = _mm512_maskz_loadu_epi8(all, bytes);
  return _mm512_test_epi8_mask(loaded, _mm512_set1_epi8((char)(1 << bit)));
#else
  uint64_t bits = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + i, sizeof eight);
    bits |= ((eight >> bit & 0x0101010101010101u) * 0x0102040810204080u >> 56) << i;
  }
  for (; i < n; i++)
    bits |= (uint64_t)(bytes[i] >> bit & 1) << i;
  return bits;
#endif
}

/* Writes n bits, at most 64, as bytes. */
static inline void ising_row_to_bytes(uint64_t bits, size_t n, uint8_t *bytes)
{
#if defined(__AVX512BW__)
  const __mmask64 all = n < ISING_ROW_WORD ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
  _mm512_mask_storeu_epi8(bytes, all, _mm512_maskz_set1_epi8(bits, 1));
#else
  for (size_t i = 0; i < n; i++)
    bytes[i] = bits >> i & 1;
#endif
}

/* Runs: bit i of `joined`, site i is joined to site i - 1. Returns from these sites on, all joined
 * ones, those that are reached from the ones before them: a carry runs on from each. */
static inline uint64_t ising_row_onwards(uint64_t joined, uint64_t sites)
{
  const uint64_t from = sites & joined;
  return ((joined ^ (joined + from)) | from) & joined;
}

/* Returns all sites of the runs that have one of these sites of a word. */
static inline uint64_t ising_row_runs(uint64_t joined, uint64_t all, uint64_t sites)
{
  uint64_t onwards = sites | ising_row_onwards(joined, sites << 1);
#ifdef __BMI2__
  const uint64_t ends = all & ~(joined >> 1), touched = onwards & ends;
  return (touched << 1) - _pdep_u64(_pext_u64(touched, ends), all & ~joined);
#else
  uint64_t through = joined >> 1;
  (void)all;
  for (uint32_t step = 1; step < ISING_ROW_WORD; through &= through >> step, step *= 2)
    onwards |= through & onwards >> step;
  return onwards;
#endif
}

/* ---- words ---- */

struct ising_cluster_word {
  uint64_t spins, bond[ISING_ROW_AXES], ghost; /* active bonds of its sites */
  uint64_t cluster, pending;                   /* of Wolff's cluster (cluster_wolff_isa.c) */
  uint32_t base;                               /* the number of its first run */
  uint32_t state;
};

_Static_assert(sizeof(struct ising_cluster_word) == ISING_ROW_WORD_BYTES, "as planned");

/* Words of a row, and sites of the last one. */
struct ising_cluster_rows {
  size_t words, last, length_x, length_y, length_z;
};

static inline struct ising_cluster_rows
ising_cluster_rows_of(const struct gpumc_checkerboard *lattice)
{
  struct ising_cluster_rows rows = {
      .length_x = lattice->length_x, .length_y = lattice->length_y, .length_z = lattice->length_z};
  rows.words = (rows.length_x + ISING_ROW_WORD - 1) / ISING_ROW_WORD;
  rows.last = rows.length_x - ISING_ROW_WORD * (rows.words - 1);
  return rows;
}

/* Returns the sites of word X of a row, as bits. */
static inline uint64_t ising_row_sites(const struct ising_cluster_rows *rows, size_t x)
{
  return x + 1 < rows->words ? UINT64_MAX : ising_row_below(rows->last);
}

/* Returns the row that is next to a row along y or z. */
static inline size_t ising_row_after(const struct ising_cluster_rows *rows, size_t row, size_t axis)
{
  const size_t y = row % rows->length_y, lines = rows->length_y * rows->length_z;
  if (axis == 1)
    return y + 1 < rows->length_y ? row + 1 : row - y;
  return row + rows->length_y < lines ? row + rows->length_y : row + rows->length_y - lines;
}

/* ---- bonds ---- */

/* Numbers of the sites from an even one on, as bits: whether they make bonds active, and which
 * spins satisfy these (1: equal ones; of the ghost, those that are down). */
struct ising_row_bonds {
  uint64_t active[ISING_ROW_KINDS][ISING_BATCH_WORDS + 1];
  uint64_t sign[ISING_ROW_KINDS][ISING_BATCH_WORDS + 1];
};
_Static_assert(ISING_BATCH_WORDS % ISING_DRAW_HALVES == 0, "words are drawn in pairs");

/* Returns bit i: word i of v is at most `last`. */
GPUMC_INLINE uint32_t ising_row_at_most(gpumc_v32 v, uint32_t last)
{
#if defined(__AVX512F__)
  return _mm512_cmple_epu32_mask((__m512i)v, _mm512_set1_epi32((int)last));
#elif defined(__AVX2__)
  return (uint32_t)_mm256_movemask_ps((__m256)(v <= last));
#elif defined(__SSE2__)
  return (uint32_t)_mm_movemask_ps((__m128)(v <= last));
#else
  uint32_t bits = 0;
  for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    bits |= (uint32_t)(v[i] <= last) << i;
  return bits;
#endif
}

/* Of both halves h: sets bit i of below[h][w] if word w of counter first[h] + i, or first[h] +
 * after[h][i] unless that is NULL, makes its bond active. `rounds`: a constant. */
GPUMC_INLINE void ising_row_draw_counters(const struct ising_bonds *bonds, const uint32_t rounds,
                                          const uint32_t *const after[ISING_DRAW_HALVES],
                                          const uint32_t first[ISING_DRAW_HALVES],
                                          uint32_t below[][LATTICE_CLUSTER_WORDS])
{
  enum { VECTORS = ISING_DRAW_COUNTERS / GPUMC_VECTOR_WORDS };
  const uint32_t label[4] = {bonds->label, bonds->label, bonds->label, bonds->label};
  memset(below, 0, ISING_DRAW_HALVES * sizeof *below);
#pragma GCC unroll 4
  for (uint32_t c = 0; c < ISING_DRAW_HALVES * VECTORS; c += ISING_DRAW_VECTORS) {
    gpumc_v32 site[ISING_DRAW_VECTORS], word[ISING_DRAW_VECTORS][LATTICE_CLUSTER_WORDS];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < ISING_DRAW_VECTORS; v++) {
      const uint32_t h = (c + v) / VECTORS, i = (c + v) % VECTORS * GPUMC_VECTOR_WORDS;
      site[v] = (after != NULL ? gpumc_load(after[h] + i) : gpumc_lane_numbers() + i) + first[h];
    }
    gpumc_philox_draws(&bonds->stream, rounds, ISING_DRAW_VECTORS, site, label, word);
#pragma GCC unroll 4
    for (uint32_t v = 0; v < ISING_DRAW_VECTORS; v++)
#pragma GCC unroll 4
      for (uint32_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
        below[(c + v) / VECTORS][w] |= ising_row_at_most(word[v][w], bonds->last[w])
                                       << (c + v) % VECTORS * GPUMC_VECTOR_WORDS;
  }
#pragma GCC unroll 2
  for (uint32_t h = 0; h < ISING_DRAW_HALVES; h++)
#pragma GCC unroll 4
    for (uint32_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
      below[h][w] = bonds->below[w] != 0 ? below[h][w] : 0;
}

/* Returns bond d of the 64 sites whose pairs have these bits. */
GPUMC_INLINE uint64_t ising_row_of_pairs(const uint32_t below[LATTICE_CLUSTER_WORDS], size_t d)
{
  return ising_row_spread(below[d]) | ising_row_spread(below[d + 2]) << 1;
}

/* Words of `active` for the n sites from `first` on. `rounds`, `paired`: constants. */
GPUMC_INLINE void ising_row_draw_with(const struct ising_bonds *bonds, const uint32_t rounds,
                                      const bool paired, uint32_t first, size_t n,
                                      struct ising_row_bonds *drawn)
{
  const size_t words = paired ? ISING_DRAW_HALVES : 1; /* drawn together */
  for (size_t w = 0; w * ISING_ROW_WORD < n; w += words) {
    const uint32_t counter =
        lattice_cluster_counter(paired, first + (uint32_t)(w * ISING_ROW_WORD));
    const uint32_t from[ISING_DRAW_HALVES] = {counter, counter + ISING_DRAW_COUNTERS};
    uint32_t below[ISING_DRAW_HALVES][LATTICE_CLUSTER_WORDS];
    ising_row_draw_counters(bonds, rounds, NULL, from, below);
    if (paired) {
      for (size_t h = 0; h < ISING_DRAW_HALVES; h++)
        for (size_t d = 0; d < 2; d++)
          drawn->active[d][w + h] = ising_row_of_pairs(below[h], d);
      continue;
    }
    for (size_t d = 0; d < ISING_ROW_KINDS; d++)
      drawn->active[d][w] = below[0][d] | (uint64_t)below[1][d] << ISING_DRAW_COUNTERS;
  }
}

/* Words of `active` and `sign` for n sites of a sample from `first` on. */
static inline void ising_row_draw_terms(const struct ising_cluster_work *work,
                                        const struct ising_bonds *bonds, size_t first, size_t n,
                                        struct ising_row_bonds *drawn)
{
  uint8_t bits[LATTICE_CLUSTER_CHUNK];
  ising_bonds_draw_terms(work, bonds, first, n, bits);
  for (size_t d = 0; d < ISING_ROW_KINDS; d++)
    for (size_t at = 0; at < n; at += ISING_ROW_WORD) {
      const size_t sites = n - at < ISING_ROW_WORD ? n - at : ISING_ROW_WORD;
      drawn->active[d][at / ISING_ROW_WORD] = ising_row_of_bytes(bits + at, sites, (uint32_t)d);
      drawn->sign[d][at / ISING_ROW_WORD] =
          ising_row_of_bytes(bits + at, sites, (uint32_t)d + ISING_BONDS_SIGNS);
    }
}

/* Draws for n sites from an even one on, LATTICE_CLUSTER_CHUNK at most. */
static inline void ising_row_draw(const struct ising_cluster_work *work,
                                  const struct ising_bonds *bonds, size_t first, size_t n,
                                  struct ising_row_bonds *drawn)
{
  const bool paired = work->rule.paired;
  if (work->terms != NULL) {
    ising_row_draw_terms(work, bonds, first, n, drawn);
    return;
  }
  if (work->graph.random.rounds == 7 && paired)
    ising_row_draw_with(bonds, 7, true, (uint32_t)first, n, drawn);
  else if (work->graph.random.rounds == 7)
    ising_row_draw_with(bonds, 7, false, (uint32_t)first, n, drawn);
  else if (paired)
    ising_row_draw_with(bonds, 10, true, (uint32_t)first, n, drawn);
  else
    ising_row_draw_with(bonds, 10, false, (uint32_t)first, n, drawn);
}

/* Returns all ones if equal spins satisfy bonds of kind d that are all alike, of the ghost spins
 * down. */
static inline uint64_t ising_row_sign(const struct ising_bonds *bonds, size_t d)
{
  return 0 - (uint64_t)(bonds->signs >> (d + ISING_BONDS_SIGNS) & 1);
}

/* Returns for bonds of kind d from number `at` of those drawn on which of them are active, where
 * `unlike` has the spins that differ (of the ghost, those that are up). */
static inline uint64_t
ising_row_active(const struct ising_cluster_work *work, const struct ising_bonds *bonds,
                 const struct ising_row_bonds *drawn, size_t d, size_t at, uint64_t unlike)
{
  uint64_t sign = ising_row_sign(bonds, d);
  if (work->terms != NULL)
    sign = ising_row_bits(drawn->sign[d], at);
  return ising_row_bits(drawn->active[d], at) & (unlike ^ sign);
}

/* Finds the active bonds of word X of a row, whose first site is number `at` of those drawn. */
static inline void
ising_row_bind(const struct ising_cluster_work *work, const struct ising_cluster_rows *rows,
               const struct ising_bonds *bonds, const struct ising_row_bonds *drawn, size_t at,
               size_t row, size_t x)
{
  struct ising_cluster_word *words = work->words, *word = words + row * rows->words + x;
  const uint64_t sites = ising_row_sites(rows, x), here = word->spins;
  const size_t axes = work->graph.shape->checkerboard.dimension;
  const size_t beyond = x + 1 < rows->words ? 1 : 0 - x, last = ising_row_count(sites) - 1;
  const uint64_t next = here >> 1 | (word[(ptrdiff_t)beyond].spins & 1) << last;
  word->bond[0] = ising_row_active(work, bonds, drawn, 0, at, here ^ next) & sites;
  for (size_t d = 1; d < axes; d++) {
    const uint64_t other = words[ising_row_after(rows, row, d) * rows->words + x].spins;
    word->bond[d] = ising_row_active(work, bonds, drawn, d, at, here ^ other) & sites;
  }
  if (work->rule.has_field)
    word->ghost = ising_row_active(work, bonds, drawn, LATTICE_CLUSTER_GHOST, at, here) & sites;
}

/* ---- spins by colour ---- */

/* The spins of the kernel of 64 sites of a row from number 64 X on, or of fewer at its end: the
 * even ones, of that colour, and the odd ones. */
struct ising_row_coloured {
  size_t even, odd, n;
};

static inline struct ising_row_coloured
ising_row_coloured(const struct gpumc_checkerboard *lattice, size_t row, size_t colour, size_t x)
{
  const size_t first = x * ISING_ROW_WORD / 2, left = lattice->row - first;
  const size_t at = row * lattice->row + first;
  return (struct ising_row_coloured){.even = colour * lattice->colour + at,
                                     .odd = (1 - colour) * lattice->colour + at,
                                     .n = left < ISING_ROW_WORD / 2 ? left : ISING_ROW_WORD / 2};
}

static inline uint64_t ising_row_load(const struct gpumc_checkerboard *lattice,
                                      const uint8_t *coloured, size_t row, size_t colour, size_t x)
{
  const struct ising_row_coloured at = ising_row_coloured(lattice, row, colour, x);
  return ising_row_spread((uint32_t)ising_row_of_bytes(coloured + at.even, at.n, 0)) |
         ising_row_spread((uint32_t)ising_row_of_bytes(coloured + at.odd, at.n, 0)) << 1;
}

static inline void ising_row_store(const struct gpumc_checkerboard *lattice, uint8_t *coloured,
                                   size_t row, size_t colour, size_t x, uint64_t spins)
{
  const struct ising_row_coloured at = ising_row_coloured(lattice, row, colour, x);
  ising_row_to_bytes(ising_row_gather(spins), at.n, coloured + at.even);
  ising_row_to_bytes(ising_row_gather(spins >> 1), at.n, coloured + at.odd);
}

#endif
