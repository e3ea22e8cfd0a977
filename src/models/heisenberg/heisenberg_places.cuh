/* The positions of a thread's spins and their neighbours, in shared or in device memory, and the
 * sums of neighbours: for both compilers.
 *
 * A thread has four sites of a colour: k, k + 1, k + 16 and k + 17, k even, which in single
 * precision share two Philox counters. They are two pairs of neighbours in memory. In a `paired`
 * lattice, whose lines have an even number of sites of a colour, the neighbours of a pair are pairs
 * as well, except at its side, and are loaded as such. */
#ifndef GPUMC_HEISENBERG_PLACES_CUH
#define GPUMC_HEISENBERG_PLACES_CUH

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/heisenberg_precision.cuh"

#ifdef __CUDA_ARCH__
#define HEISENBERG_UNROLL _Pragma("unroll")
#else
#define HEISENBERG_UNROLL
#endif

enum { HEISENBERG_ANY = 0 }; /* dimension of a lattice that is not paired */

/* Elements of a colour in shared memory: tiles of 32 sites, [tile][n][32]. */
template <int N> GPUMC_HOST_DEVICE static inline uint32_t heisenberg_shared_colour(uint32_t colour)
{
  return (colour + HEISENBERG_SHARING - 1) / HEISENBERG_SHARING * (N * HEISENBERG_SHARING);
}

/* Parameters: a precision, the components, the dimension or HEISENBERG_ANY, and where spins are: in
 * shared memory, or in device memory as in heisenberg_gpu.h; and whether couplings are quenched,
 * which stay in device memory. A place is that of a site's first component in its colour, as an
 * element in device memory and as a byte in shared memory, where addresses have 32 bits. */
template <class RULES, int N, int DIMENSION_OR_ANY, bool IN_SHARED, bool WITH_COUPLINGS = false>
struct heisenberg_kind {
  typedef RULES rules;
  typedef typename RULES::real real;
  typedef typename RULES::vector vector;
  static const int COMPONENTS = N, DIMENSION = DIMENSION_OR_ANY;
  static const bool PAIRED = DIMENSION_OR_ANY != HEISENBERG_ANY, SHARED = IN_SHARED,
                    QUENCHED = WITH_COUPLINGS;
  static const uint32_t STEP = IN_SHARED ? sizeof(real) : 1; /* between places of a pair */

  /* The halves of every other tile are swapped in shared memory: consecutive lanes access different
   * banks, both 16 lanes with the first 16 sites of two tiles and 16 lanes with any other 16
   * consecutive sites. */
  GPUMC_HOST_DEVICE static uint32_t place(uint32_t k)
  {
    if (!SHARED)
      return k;
    const uint32_t tile = k / HEISENBERG_SHARING, halves = tile & 1;
    return (tile * (N * HEISENBERG_SHARING) +
            ((k ^ halves * HEISENBERG_SECOND) % HEISENBERG_SHARING)) *
           STEP;
  }

  GPUMC_HOST_DEVICE static const real *at(const real *colour, uint32_t place)
  {
    return SHARED ? (const real *)((const char *)colour + place) : colour + place;
  }
  GPUMC_HOST_DEVICE static real *at(real *colour, uint32_t place)
  {
    return SHARED ? (real *)((char *)colour + place) : colour + place;
  }
};

/* Returns the first site of thread q. */
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_first_site(uint32_t q)
{
  return q / HEISENBERG_OF_SHARING * HEISENBERG_SHARING + 2 * (q % HEISENBERG_OF_SHARING);
}

/* ---- the order of threads in device memory ---- */

/* Threads that have the same 32 sites of successive lines are adjacent, 2^rows rows of 2^planes
 * planes, before those of the next 32 sites: most neighbours in other lines are then in the cache.
 * `together`: groups of 32 sites in that many lines; `blocks`: such blocks of rows in a plane. */
struct heisenberg_fold {
  uint32_t rows, planes;
  struct gpumc_divisor together, blocks;
};

/* Returns the fold for blocks of this many threads. Every line of a block has neighbours in 2/rows
 * and 2/planes lines outside of it. */
static inline struct heisenberg_fold
heisenberg_fold_of(const struct heisenberg_gpu_lattice *lattice, uint32_t threads)
{
  const uint32_t lines = threads / HEISENBERG_OF_SHARING, height = lattice->height.value;
  const uint32_t depth = lattice->colour / lattice->plane;
  struct heisenberg_fold fold = {};
  double least = 2.0;
  if (lattice->row.value % HEISENBERG_SHARING == 0)
    for (uint32_t planes = 0; depth % (1u << planes) == 0 && 1u << planes <= lines; planes++)
      for (uint32_t rows = 0; height % (1u << rows) == 0 && 1u << (rows + planes) <= lines;
           rows++) {
        const double outside = 1.0 / (1u << rows) + (depth > 1 ? 1.0 / (1u << planes) : 0.0);
        if (outside >= least)
          continue;
        least = outside;
        fold.rows = rows;
        fold.planes = planes;
      }
  fold.together =
      gpumc_divisor_make((lattice->row.value + HEISENBERG_SHARING - 1) / HEISENBERG_SHARING
                         << (fold.rows + fold.planes));
  fold.blocks = gpumc_divisor_make(height >> fold.rows);
  return fold;
}

/* Returns the thread of heisenberg_first_site() whose sites thread q has. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_folded(const struct heisenberg_gpu_lattice *lattice, const struct heisenberg_fold &fold,
                  uint32_t q)
{
  const uint32_t lines = fold.rows + fold.planes, sharing = q / HEISENBERG_OF_SHARING;
  if (lines == 0)
    return q;
  const uint32_t block = gpumc_divide(sharing, fold.together);
  const uint32_t within = sharing - block * fold.together.value,
                 line = within & ((1u << lines) - 1);
  const uint32_t block_z = gpumc_divide(block, fold.blocks);
  const uint32_t block_y = block - block_z * fold.blocks.value;
  const uint32_t y = (block_y << fold.rows) + (line & ((1u << fold.rows) - 1));
  const uint32_t z = (block_z << fold.planes) + (line >> fold.rows);
  const uint32_t wide = lattice->row.value / HEISENBERG_SHARING;
  return ((z * lattice->height.value + y) * wide + (within >> lines)) * HEISENBERG_OF_SHARING +
         q % HEISENBERG_OF_SHARING;
}

/* ---- places ---- */

template <class KIND>
GPUMC_HOST_DEVICE static inline bool
heisenberg_has(const struct heisenberg_gpu_lattice *lattice, int dimension)
{
  return KIND::PAIRED ? KIND::DIMENSION >= dimension : lattice->dimension >= (uint32_t)dimension;
}

/* Positions of the neighbours of a pair of sites in the other colour; `back` and `forth` are those
 * before and after each site in its row. In a paired lattice only the first element of each counts,
 * and the second of `forth`. */
struct heisenberg_pair {
  uint32_t same[2], back[2], forth[2], row_before[2], row_after[2], plane_before[2], plane_after[2];
};

/* For a thread's four sites from k on: bit i of `bits` says whether site i exists; bit 4 + i,
 * whether its side is back in colour 0. */
struct heisenberg_four {
  struct heisenberg_pair pair[2];
  uint32_t k, bits;
};

enum { HEISENBERG_PRESENT = 0xf, HEISENBERG_BACK = 4 };

/* Sites beyond the end of the colour are replaced by the thread's first one, which always exists
 * and which no other thread writes: values read for them are not used. `from`: added to all
 * places. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_four
heisenberg_four_of(const struct heisenberg_gpu_lattice *lattice, uint32_t q, uint32_t from)
{
  struct heisenberg_four four;
  four.k = heisenberg_first_site(q);
  four.bits = 0;
  for (uint32_t i = 0; i < 2 * HEISENBERG_PAIR; i++) {
    const uint32_t k = four.k + HEISENBERG_SECOND * (i / 2) + i % 2;
    const uint32_t site = k < lattice->colour ? k : four.k;
    const struct heisenberg_place place = heisenberg_place_at(lattice, site);
    struct heisenberg_pair *pair = &four.pair[i / 2];
    four.bits |= (uint32_t)(k < lattice->colour) << i | (uint32_t)heisenberg_is_back(place, 0)
                                                            << (HEISENBERG_BACK + i);
    pair->same[i % 2] = KIND::place(site) + from;
    pair->back[i % 2] = KIND::place(heisenberg_before_in_row(lattice, site, place.x)) + from;
    pair->forth[i % 2] = KIND::place(heisenberg_after_in_row(lattice, site, place.x)) + from;
    pair->row_before[i % 2] = KIND::place(heisenberg_row_before(lattice, site, place.y)) + from;
    pair->row_after[i % 2] = KIND::place(heisenberg_row_after(lattice, site, place.y)) + from;
    pair->plane_before[i % 2] = KIND::place(heisenberg_plane_before(lattice, site)) + from;
    pair->plane_after[i % 2] = KIND::place(heisenberg_plane_after(lattice, site)) + from;
  }
  return four;
}

/* Keeps a number in a register instead of recomputing it in every sweep. */
GPUMC_HOST_DEVICE static inline void heisenberg_keep(uint32_t &number)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
}

template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_keep_four(const struct heisenberg_gpu_lattice *lattice, struct heisenberg_four &four)
{
  heisenberg_keep(four.k);
  heisenberg_keep(four.bits);
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < HEISENBERG_PAIR; i++) {
      struct heisenberg_pair *pair = &four.pair[p];
      if (!KIND::PAIRED || i == 1)
        heisenberg_keep(pair->forth[i]);
      if (KIND::PAIRED && i == 1)
        continue;
      heisenberg_keep(pair->same[i]);
      heisenberg_keep(pair->back[i]);
      if (heisenberg_has<KIND>(lattice, 2)) {
        heisenberg_keep(pair->row_before[i]);
        heisenberg_keep(pair->row_after[i]);
      }
      if (heisenberg_has<KIND>(lattice, 3)) {
        heisenberg_keep(pair->plane_before[i]);
        heisenberg_keep(pair->plane_after[i]);
      }
    }
}

/* ---- memory ---- */

template <class REAL> struct __align__(2 * sizeof(REAL)) heisenberg_two
{
  REAL first, second;
};

template <class KIND, class REAL>
GPUMC_HOST_DEVICE static inline void
heisenberg_load(const REAL *from, const uint32_t at[2], REAL value[2])
{
  if constexpr (KIND::PAIRED) {
    const heisenberg_two<REAL> both = *(const heisenberg_two<REAL> *)KIND::at(from, at[0]);
    value[0] = both.first;
    value[1] = both.second;
  } else {
    value[0] = *KIND::at(from, at[0]);
    value[1] = *KIND::at(from, at[1]);
  }
}

/* Loads the sides of a pair whose neighbours of the same index are `same`; `back`: bit i, whether
 * that of site i is back. For a pair in a row one is among them. */
template <class KIND, class REAL>
GPUMC_HOST_DEVICE static inline void
heisenberg_load_sides(const REAL *from, const struct heisenberg_pair &pair, uint32_t back,
                      const REAL same[2], REAL side[2])
{
  if constexpr (KIND::PAIRED) {
    const bool first = (back & 1) != 0;
    const REAL end = *KIND::at(from, first ? pair.back[0] : pair.forth[1]);
    side[0] = first ? end : same[1];
    side[1] = first ? same[0] : end;
  } else {
    for (int i = 0; i < HEISENBERG_PAIR; i++)
      side[i] = *KIND::at(from, (back >> i & 1) != 0 ? pair.back[i] : pair.forth[i]);
  }
}

/* Stores those of a pair that are `present`, bits 0 and 1; in a paired lattice both are, or
 * none. */
template <class KIND, class REAL>
GPUMC_HOST_DEVICE static inline void
heisenberg_store(REAL *to, const uint32_t at[2], uint32_t present, const REAL value[2])
{
  if constexpr (KIND::PAIRED) {
    const heisenberg_two<REAL> both = {value[0], value[1]};
    if (present != 0)
      *(heisenberg_two<REAL> *)KIND::at(to, at[0]) = both;
  } else {
    for (uint32_t i = 0; i < HEISENBERG_PAIR; i++)
      if ((present >> i & 1) != 0)
        *KIND::at(to, at[i]) = value[i];
  }
}

/* A colour of a replica, and the other one; component a is a * stride elements further. Of quenched
 * couplings, those of the colour, [2 d][N/2]. */
template <class KIND> struct heisenberg_colours {
  typename KIND::real *own;
  const typename KIND::real *other;
  size_t stride;
  const typename KIND::real *couplings;
};

/* Returns `couplings` of a colour, from those of a sample. */
template <class KIND>
GPUMC_HOST_DEVICE static inline const typename KIND::real *
heisenberg_couplings_at(const struct heisenberg_gpu_lattice *lattice,
                        const typename KIND::real *of_sample, uint32_t colour)
{
  return KIND::QUENCHED ? of_sample + (size_t)colour * 2 * lattice->dimension * lattice->colour
                        : NULL;
}

template <class KIND>
GPUMC_HOST_DEVICE static inline typename KIND::vector
heisenberg_vector(const typename KIND::real component[KIND::COMPONENTS])
{
  typename KIND::vector vector = {component[0], component[1], 0};
  if (KIND::COMPONENTS == 3)
    vector.z = component[KIND::COMPONENTS - 1];
  return vector;
}

template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_load_spins(const struct heisenberg_colours<KIND> &colours, const uint32_t at[2],
                      typename KIND::vector spin[2])
{
  typename KIND::real component[2][KIND::COMPONENTS];
  for (int a = 0; a < KIND::COMPONENTS; a++) {
    typename KIND::real value[2];
    heisenberg_load<KIND>((const typename KIND::real *)colours.own + a * colours.stride, at, value);
    component[0][a] = value[0];
    component[1][a] = value[1];
  }
  spin[0] = heisenberg_vector<KIND>(component[0]);
  spin[1] = heisenberg_vector<KIND>(component[1]);
}

template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_store_spins(const struct heisenberg_colours<KIND> &colours, const uint32_t at[2],
                       uint32_t present, const typename KIND::vector spin[2])
{
  const typename KIND::real x[2] = {spin[0].x, spin[1].x}, y[2] = {spin[0].y, spin[1].y},
                            z[2] = {spin[0].z, spin[1].z};
  heisenberg_store<KIND>(colours.own, at, present, x);
  heisenberg_store<KIND>(colours.own + colours.stride, at, present, y);
  if (KIND::COMPONENTS == 3)
    heisenberg_store<KIND>(colours.own + 2 * colours.stride, at, present, z);
}

/* Computes the sums of the neighbours of a pair, in the order of heisenberg_physics.h. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_surround(const struct heisenberg_gpu_lattice *lattice,
                    const struct heisenberg_colours<KIND> &colours,
                    const struct heisenberg_pair &pair, uint32_t back, typename KIND::vector sum[2])
{
  typename KIND::real component[2][KIND::COMPONENTS];
  for (int a = 0; a < KIND::COMPONENTS; a++) {
    const typename KIND::real *other = colours.other + a * colours.stride;
    typename KIND::real same[2], side[2], before[2], after[2];
    heisenberg_load<KIND>(other, pair.same, same);
    heisenberg_load_sides<KIND>(other, pair, back, same, side);
    for (int i = 0; i < HEISENBERG_PAIR; i++)
      component[i][a] = same[i] + side[i];
    if (heisenberg_has<KIND>(lattice, 2)) {
      heisenberg_load<KIND>(other, pair.row_before, before);
      heisenberg_load<KIND>(other, pair.row_after, after);
      for (int i = 0; i < HEISENBERG_PAIR; i++)
        component[i][a] = component[i][a] + before[i] + after[i];
    }
    if (heisenberg_has<KIND>(lattice, 3)) {
      heisenberg_load<KIND>(other, pair.plane_before, before);
      heisenberg_load<KIND>(other, pair.plane_after, after);
      for (int i = 0; i < HEISENBERG_PAIR; i++)
        component[i][a] = component[i][a] + before[i] + after[i];
    }
  }
  sum[0] = heisenberg_vector<KIND>(component[0]);
  sum[1] = heisenberg_vector<KIND>(component[1]);
}

/* Loads the couplings of sites k[2] with one kind of their neighbours; a pair in device memory if
 * the lattice is paired. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_load_couplings(const struct heisenberg_gpu_lattice *lattice,
                          const typename KIND::real *couplings, enum heisenberg_neighbour neighbour,
                          const uint32_t k[2], typename KIND::real value[2])
{
  typedef typename KIND::real real;
  const real *from = couplings + (size_t)neighbour * lattice->colour;
  if constexpr (KIND::PAIRED) {
    const heisenberg_two<real> both = *(const heisenberg_two<real> *)(from + k[0]);
    value[0] = both.first;
    value[1] = both.second;
  } else {
    value[0] = from[k[0]];
    value[1] = from[k[1]];
  }
}

/* The same sums with quenched couplings, for sites k[2]. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
heisenberg_surround_quenched(const struct heisenberg_gpu_lattice *lattice,
                             const struct heisenberg_colours<KIND> &colours,
                             const struct heisenberg_pair &pair, uint32_t back, const uint32_t k[2],
                             typename KIND::vector sum[2])
{
  typedef typename KIND::real real;
  typedef typename KIND::rules rules;
  real component[2][KIND::COMPONENTS], coupling[HEISENBERG_PLANE_AFTER + 1][2] = {};
  const int kinds = heisenberg_has<KIND>(lattice, 3)   ? HEISENBERG_PLANE_AFTER + 1
                    : heisenberg_has<KIND>(lattice, 2) ? HEISENBERG_ROW_AFTER + 1
                                                       : HEISENBERG_SIDE + 1;
  HEISENBERG_UNROLL
  for (int n = 0; n <= HEISENBERG_PLANE_AFTER; n++)
    if (n < kinds)
      heisenberg_load_couplings<KIND>(lattice, colours.couplings, (enum heisenberg_neighbour)n, k,
                                      coupling[n]);
  for (int a = 0; a < KIND::COMPONENTS; a++) {
    const real *other = colours.other + a * colours.stride;
    real same[2], side[2], before[2], after[2];
    heisenberg_load<KIND>(other, pair.same, same);
    heisenberg_load_sides<KIND>(other, pair, back, same, side);
    for (int i = 0; i < HEISENBERG_PAIR; i++)
      component[i][a] = rules::fused(coupling[HEISENBERG_SIDE][i], side[i],
                                     coupling[HEISENBERG_SAME][i] * same[i]);
    if (heisenberg_has<KIND>(lattice, 2)) {
      heisenberg_load<KIND>(other, pair.row_before, before);
      heisenberg_load<KIND>(other, pair.row_after, after);
      for (int i = 0; i < HEISENBERG_PAIR; i++)
        component[i][a] = rules::fused(
            coupling[HEISENBERG_ROW_AFTER][i], after[i],
            rules::fused(coupling[HEISENBERG_ROW_BEFORE][i], before[i], component[i][a]));
    }
    if (heisenberg_has<KIND>(lattice, 3)) {
      heisenberg_load<KIND>(other, pair.plane_before, before);
      heisenberg_load<KIND>(other, pair.plane_after, after);
      for (int i = 0; i < HEISENBERG_PAIR; i++)
        component[i][a] = rules::fused(
            coupling[HEISENBERG_PLANE_AFTER][i], after[i],
            rules::fused(coupling[HEISENBERG_PLANE_BEFORE][i], before[i], component[i][a]));
    }
  }
  sum[0] = heisenberg_vector<KIND>(component[0]);
  sum[1] = heisenberg_vector<KIND>(component[1]);
}

#endif
