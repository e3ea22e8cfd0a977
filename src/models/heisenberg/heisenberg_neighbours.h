/* Sums of neighbours in vectors, in one precision: included by heisenberg_loops.h.
 *
 * Sites are processed in blocks of GPUMC_EDGE_SITES, however short the rows are. A kind of
 * neighbour is loaded at its usual distance from the block, and at another one for sites from which
 * the step leads around the lattice. Such loads are masked, so that nothing outside of the lattice
 * is read. */
#include "core/numerics/simd.h"
#include "models/lattice/checkerboard.h"

enum {
  WIDTH = GPUMC_VECTOR_BYTES / sizeof(REAL),
  PARTS = GPUMC_EDGE_SITES / WIDTH, /* vectors of a block */
  ALL_LANES = (1 << WIDTH) - 1,
  ALL_SITES = (1 << GPUMC_EDGE_SITES) - 1,
};

typedef REAL reals __attribute__((vector_size(GPUMC_VECTOR_BYTES)));
typedef __typeof__((reals){0} == (reals){0}) lanes; /* whole numbers */

GPUMC_INLINE reals load_reals(const REAL *from)
{
  reals v;
  memcpy(&v, from, sizeof v);
  return v;
}

GPUMC_INLINE void store_reals(REAL *to, reals v)
{
  memcpy(to, &v, sizeof v);
}

/* ---- masks ---- */

/* Bit i of `where` is that of lane i; bits of further lanes do not matter. */

#if defined(__AVX2__) && !defined(__AVX512F__)
GPUMC_INLINE __m256i mask_of(uint32_t where)
{
  const __m256i bits = _mm256_set1_epi32((int)where);
  const __m256i bit = sizeof(REAL) == sizeof(uint32_t)
                          ? _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128)
                          : _mm256_setr_epi32(1, 1, 2, 2, 4, 4, 8, 8);
  return _mm256_cmpeq_epi32(_mm256_and_si256(bits, bit), bit);
}
#endif

/* For functions that go lane by lane at x86-64-v2: copies of these in every loop would take two
 * thirds of the time to compile. */
#if defined(__x86_64__) && !defined(__AVX2__)
#define MASKED static __attribute__((noinline))
#else
#define MASKED GPUMC_INLINE
#endif

/* Returns from[i] for the lanes of `where`, the only ones that are read, and otherwise[i] for
 * others. */
GPUMC_INLINE reals load_where(uint32_t where, const REAL *from, reals otherwise)
{
#if defined(__AVX512F__)
  return sizeof(REAL) == sizeof(uint32_t)
             ? (reals)_mm512_mask_loadu_epi32((__m512i)otherwise, (__mmask16)where, from)
             : (reals)_mm512_mask_loadu_epi64((__m512i)otherwise, (__mmask8)where, from);
#elif defined(__AVX2__)
  const __m256i mask = mask_of(where);
  const __m256i loaded = sizeof(REAL) == sizeof(uint32_t)
                             ? _mm256_maskload_epi32((const void *)from, mask)
                             : _mm256_maskload_epi64((const void *)from, mask);
  return (reals)_mm256_blendv_epi8((__m256i)otherwise, loaded, mask);
#else
  for (uint32_t i = 0; i < WIDTH; i++)
    if ((where >> i & 1) != 0)
      otherwise[i] = from[i];
  return otherwise;
#endif
}

/* Returns a for the lanes of `where`, b for others. */
GPUMC_INLINE lanes select_where(uint32_t where, lanes a, lanes b)
{
#if defined(__AVX512F__)
  return sizeof(REAL) == sizeof(uint32_t)
             ? (lanes)_mm512_mask_blend_epi32((__mmask16)where, (__m512i)b, (__m512i)a)
             : (lanes)_mm512_mask_blend_epi64((__mmask8)where, (__m512i)b, (__m512i)a);
#elif defined(__AVX2__)
  return (lanes)_mm256_blendv_epi8((__m256i)b, (__m256i)a, mask_of(where));
#else
  lanes selected = b;
  for (uint32_t i = 0; i < WIDTH; i++)
    if ((where >> i & 1) != 0)
      selected[i] = a[i];
  return selected;
#endif
}

/* Returns v[index[i]]. AVX2 has this only for 32 bits: there a 64-bit index names two halves. */
MASKED reals permute(reals v, lanes index)
{
#if defined(__AVX512F__)
  return sizeof(REAL) == sizeof(uint32_t)
             ? (reals)_mm512_permutexvar_epi32((__m512i)index, (__m512i)v)
             : (reals)_mm512_permutexvar_epi64((__m512i)index, (__m512i)v);
#elif defined(__AVX2__)
  return (reals)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)index);
#else
  reals permuted;
  for (size_t i = 0; i < WIDTH; i++)
    permuted[i] = v[(size_t)index[i]];
  return permuted;
#endif
}

GPUMC_INLINE lanes index_of(lanes lane)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
  if (sizeof(REAL) == sizeof(int64_t))
    return (lanes)((__m256i)(2 * lane) | _mm256_slli_epi64((__m256i)(2 * lane + 1), 32));
#endif
  return lane;
}

/* ---- blocks ---- */

/* Rows that fill a vector, one or several of them: all sides of its sites are in the same vector.
 */
struct short_rows {
  bool fill;
  lanes back, forward; /* lanes whose sides are one site back, or forward */
};

GPUMC_INLINE struct short_rows short_rows_of(const struct gpumc_checkerboard *lattice)
{
  struct short_rows rows = {.fill = WIDTH % lattice->row == 0};
  const int last = (int)lattice->row - 1;
  lanes lane;
  for (int i = 0; i < WIDTH; i++)
    lane[i] = i;
  rows.back = index_of((lane & ~last) | ((lane - 1) & last));
  rows.forward = index_of((lane & ~last) | ((lane + 1) & last));
  return rows;
}

/* The positions of the neighbours of the sites of a block; bit i: of site k + i. */
struct block {
  size_t k;
  uint32_t all;                                          /* sites that exist */
  uint32_t forward, forward_around, back, back_around;   /* the side */
  uint32_t first_row, last_row, first_plane, last_plane; /* around the lattice */
  bool within;                                           /* sides are in the vector, */
  lanes index[PARTS];                                    /* at these lanes */
};

/* Returns the sites of the block from k on that have numbers below `end`. */
GPUMC_INLINE uint32_t sites_below(size_t end, size_t k)
{
  return end >= k + GPUMC_EDGE_SITES ? ALL_SITES : end > k ? (1u << (end - k)) - 1 : 0;
}

/* Returns whether all sites of the block exist and no step from it leads around the lattice except
 * along x. */
GPUMC_INLINE bool is_inner(const struct gpumc_checkerboard *lattice,
                           const struct gpumc_checkerboard_edges *edge, size_t k)
{
  const size_t halo = lattice->dimension == 3 ? lattice->plane : 0;
  return (edge->first_row | edge->last_row) == 0 && k >= halo &&
         k + GPUMC_EDGE_SITES + halo <= lattice->colour;
}

/* `inner`: a constant; if it is set, masks are constants too. */
GPUMC_INLINE struct block block_at(const struct gpumc_checkerboard *lattice,
                                   const struct gpumc_checkerboard_edges *edge,
                                   const struct short_rows *rows, const bool inner, size_t k)
{
  const uint32_t all = inner ? ALL_SITES : sites_below(lattice->colour, k);
  const uint32_t around = (uint32_t)edge->back_around | edge->forward_around;
  const size_t last = lattice->colour - lattice->plane;
  struct block block = {
      .k = k,
      .all = all,
      .forward = all & ~edge->back & ~around,
      .forward_around = edge->forward_around,
      .back = edge->back & ~around,
      .back_around = edge->back_around,
      .first_row = inner ? 0 : edge->first_row,
      .last_row = inner ? 0 : edge->last_row,
      .first_plane = inner ? 0 : sites_below(lattice->plane, k),
      .last_plane = inner ? 0 : all & ~sites_below(last, k),
      .within = rows->fill,
  };
  for (size_t p = 0; rows->fill && p < PARTS; p++)
    block.index[p] = select_where((uint32_t)edge->back >> p * WIDTH, rows->back, rows->forward);
  return block;
}

/* The same as load_shifted() for any sites. */
MASKED void
load_around(uint32_t all, const REAL *at, uint32_t around, const REAL *at_around, reals near[PARTS])
{
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++) {
    const reals usual = load_where((all & ~around) >> p * WIDTH, at + p * WIDTH, (reals){0});
    near[p] = load_where(around >> p * WIDTH, at_around + p * WIDTH, usual);
  }
}

/* Loads near[PARTS]: the values from `at` on, and for the sites `around` those from at_around
 * on. */
GPUMC_INLINE void load_shifted(uint32_t all, const REAL *at, uint32_t around, const REAL *at_around,
                               reals near[PARTS])
{
  if ((all & ~around) == ALL_SITES) {
#pragma GCC unroll 8
    for (size_t p = 0; p < PARTS; p++)
      near[p] = load_reals(at + p * WIDTH);
    return;
  }
  load_around(all, at, around, at_around, near);
}

/* Adds them to sum[PARTS]. */
GPUMC_INLINE void
add_shifted(uint32_t all, const REAL *at, uint32_t around, const REAL *at_around, reals sum[PARTS])
{
  reals near[PARTS];
  load_shifted(all, at, around, at_around, near);
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++)
    sum[p] += near[p];
}

/* Returns the sides of the vector `shift` sites into a block, whose same indices are at `at`. */
MASKED reals load_sides_of(const struct block *block, const REAL *at, size_t row,
                           const uint32_t shift)
{
  reals side = load_where(block->forward >> shift, at + 1, (reals){0});
  side = load_where(block->back >> shift, at - 1, side);
  side = load_where(block->forward_around >> shift, at + 1 - row, side);
  return load_where(block->back_around >> shift, at + row - 1, side);
}

/* Computes side[PARTS] from same[PARTS], those of the same indices, which are loaded from `at`
 * on. */
GPUMC_INLINE void load_sides(const struct block *block, const REAL *at, size_t row,
                             const reals same[PARTS], reals side[PARTS])
{
  if (block->within) {
#pragma GCC unroll 8
    for (size_t p = 0; p < PARTS; p++)
      side[p] = permute(same[p], block->index[p]);
    return;
  }
  if (block->forward == ALL_SITES || block->back == ALL_SITES) {
    const REAL *from = block->back != 0 ? at - 1 : at + 1;
#pragma GCC unroll 8
    for (size_t p = 0; p < PARTS; p++)
      side[p] = load_reals(from + p * WIDTH);
    return;
  }
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++)
    side[p] = load_sides_of(block, at + p * WIDTH, row, (uint32_t)(p * WIDTH));
}

/* One component of the neighbours of a chunk: those along x, if wanted, and all. */
struct neighbours {
  REAL side[CHUNK], sum[CHUNK];
};

/* Adds those of a block, i sites into the chunk. `other`: that component of the other colour;
 * `sides`: a constant, whether they are wanted. */
GPUMC_INLINE void add_neighbours(const struct gpumc_checkerboard *lattice,
                                 const struct block *block, const REAL *other, const bool sides,
                                 struct neighbours *of, size_t i)
{
  const size_t row = lattice->row, plane = lattice->plane, whole = lattice->colour;
  const REAL *at = other + block->k;
  reals side[PARTS], sum[PARTS] = {{0}};
  add_shifted(block->all, at, 0, at, sum);
  load_sides(block, at, row, sum, side);
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++) {
    if (sides)
      store_reals(of->side + i + p * WIDTH, side[p]);
    sum[p] += side[p];
  }
  if (lattice->dimension >= 2) {
    add_shifted(block->all, at - row, block->first_row, at + plane - row, sum);
    add_shifted(block->all, at + row, block->last_row, at + row - plane, sum);
  }
  if (lattice->dimension == 3) {
    add_shifted(block->all, at - plane, block->first_plane, at + whole - plane, sum);
    add_shifted(block->all, at + plane, block->last_plane, at + plane - whole, sum);
  }
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++)
    store_reals(of->sum + i + p * WIDTH, sum[p]);
}
