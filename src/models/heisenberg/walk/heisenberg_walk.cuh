/* Walks of O(n) spins on a GPU: the work of one thread, for both compilers. */
#ifndef GPUMC_HEISENBERG_WALK_CUH
#define GPUMC_HEISENBERG_WALK_CUH

#include "models/heisenberg/heisenberg_places.cuh"
#include "models/heisenberg/walk/heisenberg_walk_gpu.h"

/* Fills in the positions of the neighbours of a site; returns how many. */
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_walk_around(const struct heisenberg_gpu_lattice *lattice, uint32_t position,
                       uint32_t around[6])
{
  const uint32_t n = lattice->colour, colour = position >= n, k = position - (colour ? n : 0);
  const uint32_t other = colour ? 0 : n;
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  around[0] = other + k;
  around[1] =
      other + (heisenberg_is_back(place, colour) ? heisenberg_before_in_row(lattice, k, place.x)
                                                 : heisenberg_after_in_row(lattice, k, place.x));
  if (lattice->dimension == 1)
    return 2;
  around[2] = other + heisenberg_row_before(lattice, k, place.y);
  around[3] = other + heisenberg_row_after(lattice, k, place.y);
  if (lattice->dimension == 2)
    return 4;
  around[4] = other + heisenberg_plane_before(lattice, k);
  around[5] = other + heisenberg_plane_after(lattice, k);
  return 6;
}

/* A walking replica: `spins` is its lane's first element. */
template <class RULES, int N> struct heisenberg_walker {
  typedef typename RULES::real real;
  typedef typename RULES::vector vector;
  const struct heisenberg_walk_rule *rule;
  const struct heisenberg_gpu_lattice *lattice;
  const double *weight;
  struct lattice_walk_canonical canonical;
  double lowest;
  struct gpumc_random random;
  uint32_t replica;
  real *spins;
  struct heisenberg_walk_state state;
  double weight_here;

  GPUMC_HOST_DEVICE vector spin_at(uint32_t position) const
  {
    const real *site = spins + (size_t)position * (N * GPUMC_WALK_GROUP);
    vector spin = {site[0], site[GPUMC_WALK_GROUP], 0};
    if (N == 3)
      spin.z = site[2 * GPUMC_WALK_GROUP];
    return spin;
  }

  GPUMC_HOST_DEVICE void set_spin(uint32_t position, vector spin)
  {
    real *site = spins + (size_t)position * (N * GPUMC_WALK_GROUP);
    site[0] = spin.x;
    site[GPUMC_WALK_GROUP] = spin.y;
    if (N == 3)
      site[2 * GPUMC_WALK_GROUP] = spin.z;
  }

  GPUMC_HOST_DEVICE uint32_t level() const
  {
    return (uint32_t)(int32_t)state.place - 1;
  }
};

/* Computes the state of a replica from its spins; each bond has one end of colour 0. */
template <class RULES, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_walk_begin(struct heisenberg_walker<RULES, N> *walker)
{
  typedef typename RULES::vector vector;
  const uint32_t n = walker->lattice->colour;
  int64_t bonds = 0, along = 0;
  for (uint32_t p = 0; p < 2 * n; p++) {
    const vector spin = walker->spin_at(p);
    uint32_t around[6];
    const uint32_t neighbours = p < n ? heisenberg_walk_around(walker->lattice, p, around) : 0;
    along += RULES::quanta(spin.x);
    for (uint32_t i = 0; i < neighbours; i++)
      bonds += RULES::quanta(RULES::dot(N, spin, walker->spin_at(around[i])));
  }
  walker->state.bonds = (double)bonds;
  walker->state.along = (double)along;
  heisenberg_walk_find(walker->rule, walker->lowest, &walker->state);
  walker->weight_here = walker->weight[(int32_t)walker->state.place];
}

/* The random numbers that the four updates of a step propose and decide with. */
template <class RULES> struct heisenberg_walk_words {
  typename RULES::uniform uniform[GPUMC_WALK_UPDATES];
  uint32_t number[GPUMC_WALK_UPDATES];
};

template <class RULES, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_walk_draw(const struct heisenberg_walker<RULES, N> *walker, uint64_t time,
                     struct heisenberg_walk_words<RULES> *words)
{
  enum { EACH = N == 3 && !RULES::SHARED }; /* a counter for each update */
  const uint32_t upper = (uint32_t)(time >> 32), lower = (uint32_t)time;
  uint32_t word[4];
  HEISENBERG_UNROLL
  for (uint32_t j = 0; j < GPUMC_WALK_UPDATES; j++) {
    struct heisenberg_words of_update = {0, 0, 0, 0};
    const uint32_t half = 2 * (j % 2);
    if (EACH || half == 0)
      gpumc_random_draw(
          walker->random, walker->replica, upper, lower,
          gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, HEISENBERG_WALK_SPINS + (EACH ? j : j / 2)),
          word);
    if (N == 2) {
      words->uniform[j] = {};
      words->uniform[j].azimuth = word[half];
      words->number[j] = word[half + 1];
      continue;
    }
    of_update.a = EACH ? word[0] : word[half];
    of_update.b = EACH ? word[1] : word[half + 1];
    of_update.c = EACH ? word[2] : 0;
    words->uniform[j] = RULES::of_sphere(of_update);
    words->number[j] = word[3];
  }
  if (N == 3 && !EACH)
    gpumc_random_draw(walker->random, walker->replica, upper, lower,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, HEISENBERG_WALK_NUMBERS),
                      words->number);
}

template <class RULES, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_walk_update(struct heisenberg_walker<RULES, N> *walker, uint32_t position,
                       typename RULES::uniform uniform, uint32_t number)
{
  typedef typename RULES::vector vector;
  const vector spin = walker->spin_at(position), proposal = RULES::anywhere(N, uniform);
  int32_t before = 0, after = 0;
  uint32_t around[6];
  const uint32_t neighbours = heisenberg_walk_around(walker->lattice, position, around);
  HEISENBERG_UNROLL
  for (uint32_t i = 0; i < 6; i++) {
    if (i >= neighbours)
      continue;
    const vector near = walker->spin_at(around[i]);
    before += RULES::quanta(RULES::dot(N, spin, near));
    after += RULES::quanta(RULES::dot(N, proposal, near));
  }
  struct heisenberg_walk_state next = walker->state;
  next.bonds += (double)after - (double)before;
  next.along += (double)RULES::quanta(proposal.x) - (double)RULES::quanta(spin.x);
  heisenberg_walk_find(walker->rule, walker->lowest, &next);
  const double weight = walker->weight[(int32_t)next.place];
  if (!heisenberg_walk_accepts(walker->canonical, &walker->state, &next, walker->weight_here,
                               weight, number))
    return;
  walker->set_spin(position, proposal);
  walker->state = next;
  walker->weight_here = weight;
}

template <class RULES, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_walk_step(struct heisenberg_walker<RULES, N> *walker, uint64_t time)
{
  uint32_t site[GPUMC_WALK_UPDATES];
  struct heisenberg_walk_words<RULES> words;
  lattice_walk_sites(walker->random, walker->replica / GPUMC_WALK_GROUP, time,
                     2 * walker->lattice->colour, site);
  heisenberg_walk_draw<RULES, N>(walker, time, &words);
  HEISENBERG_UNROLL
  for (uint32_t j = 0; j < GPUMC_WALK_UPDATES; j++)
    heisenberg_walk_update<RULES, N>(walker, site[j], words.uniform[j], words.number[j]);
}

#endif
