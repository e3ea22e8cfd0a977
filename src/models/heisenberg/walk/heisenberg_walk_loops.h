/* Walks of O(n) spins on the CPU, in one precision: included by heisenberg_walk_double_isa.c and
 * heisenberg_walk_float_isa.c, which set HEISENBERG_PRECISION, and HEISENBERG_SHARED_COUNTERS if
 * two updates share a counter.
 *
 * The 32 replicas of a group are lanes, adjacent in memory: an update visits one site of all of
 * them. It consists of loops over the lanes, without branches, which the compiler vectorises. Lanes
 * without a replica are copies of the first one, with random numbers of their own, and are never
 * counted. */
#include "core/numerics/simd_philox.h"
#include "models/heisenberg/walk/heisenberg_walk_isa.h"

#define REAL HEISENBERG_PRECISION
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define OPS HEISENBERG_NAME(heisenberg_walk)

enum { LANES = HEISENBERG_WALK_LANES, VECTORS = LANES / GPUMC_VECTOR_WORDS };

/* ---- replicas as lanes ---- */

static void load(const struct heisenberg_walk_group *group)
{
  const size_t sites = group->sites, n = (size_t)group->components;
  const REAL *replica[LANES];
  REAL *to = group->spins;
  for (size_t i = 0; i < LANES; i++)
    replica[i] = group->replica[i < group->count ? i : 0];
  for (size_t p = 0; p < sites; p++)
    for (size_t a = 0; a < n; a++, to += LANES)
      for (size_t i = 0; i < LANES; i++)
        to[i] = replica[i][a * sites + p];
}

static void store(const struct heisenberg_walk_group *group)
{
  const size_t sites = group->sites, n = (size_t)group->components;
  for (size_t i = 0; i < group->count; i++) {
    const REAL *from = (const REAL *)group->spins + i;
    REAL *to = group->replica[i];
    for (size_t p = 0; p < sites; p++)
      for (size_t a = 0; a < n; a++, from += LANES)
        to[a * sites + p] = *from;
  }
}

/* One site of all lanes, component by component. */
GPUMC_INLINE VECTOR lane_of(const int components, const REAL *site, size_t i)
{
  return (VECTOR){site[i], site[LANES + i], components == 3 ? site[2 * LANES + i] : 0};
}

GPUMC_INLINE REAL *
site_of(const int components, const struct heisenberg_walk_group *group, size_t position)
{
  return (REAL *)group->spins + position * (size_t)components * LANES;
}

/* ---- random words ---- */

struct words {
  uint32_t a[LANES], b[LANES], azimuth[LANES], number[LANES];
};

/* Draws one number for all lanes, outputs 0 .. 3. */
GPUMC_INLINE void draw(const struct heisenberg_walk_group *group,
                       const struct gpumc_philox_stream *stream, const uint32_t rounds,
                       uint32_t number, uint32_t *const to[4])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, number);
  gpumc_v32 replica[VECTORS], word[VECTORS][4];
  uint32_t labels[VECTORS];
  for (uint32_t v = 0; v < VECTORS; v++) {
    replica[v] = gpumc_lane_numbers() + (group->number * LANES + v * GPUMC_VECTOR_WORDS);
    labels[v] = label;
  }
  gpumc_philox_draws(stream, rounds, VECTORS, replica, labels, word);
  for (size_t v = 0; v < VECTORS; v++)
    for (size_t i = 0; i < 4; i++)
      gpumc_store(to[i] + v * GPUMC_VECTOR_WORDS, word[v][i]);
}

/* Draws the numbers of the four updates of a step. */
GPUMC_INLINE void draw_step(const int components, const struct heisenberg_walk_group *group,
                            const uint32_t rounds, uint64_t time,
                            struct words words[GPUMC_WALK_UPDATES])
{
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(group->random, (uint32_t)(time >> 32), (uint32_t)time);
  if (components == 3 && !HEISENBERG_SHARED_COUNTERS) {
    for (uint32_t j = 0; j < GPUMC_WALK_UPDATES; j++)
      draw(group, &stream, rounds, HEISENBERG_WALK_SPINS + j,
           (uint32_t *const[4]){words[j].a, words[j].b, words[j].azimuth, words[j].number});
    return;
  }
  for (uint32_t j = 0; j < GPUMC_WALK_UPDATES; j += 2) {
    struct words *one = &words[j], *two = one + 1;
    uint32_t *const sphere[4] = {one->a, one->azimuth, two->a, two->azimuth};
    uint32_t *const circle[4] = {one->azimuth, one->number, two->azimuth, two->number};
    draw(group, &stream, rounds, HEISENBERG_WALK_SPINS + j / 2, components == 3 ? sphere : circle);
  }
  if (components == 3)
    draw(group, &stream, rounds, HEISENBERG_WALK_NUMBERS,
         (uint32_t *const[4]){words[0].number, words[1].number, words[2].number, words[3].number});
}

GPUMC_INLINE VECTOR proposal_of(const int components, const struct words *words, size_t i)
{
  struct HEISENBERG_NAME(heisenberg_uniform) uniform = {.azimuth = words->azimuth[i]};
  if (components == 3)
    uniform = HEISENBERG_NAME(heisenberg_of_sphere)(
        HEISENBERG_SHARED_COUNTERS
            ? (struct heisenberg_words){words->a[i], words->azimuth[i], 0, 0}
            : (struct heisenberg_words){words->a[i], words->b[i], words->azimuth[i], 0});
  return HEISENBERG_NAME(heisenberg_anywhere)(components, uniform);
}

/* ---- updates ---- */

struct states {
  double bonds[LANES], along[LANES], energy[LANES], magnetization[LANES], place[LANES];
  double weight[LANES];
};

GPUMC_INLINE struct heisenberg_walk_state state_of(const struct states *states, size_t i)
{
  return (struct heisenberg_walk_state){states->bonds[i], states->along[i], states->energy[i],
                                        states->magnetization[i], states->place[i]};
}

GPUMC_INLINE void
set_state(struct states *states, size_t i, struct heisenberg_walk_state state, double weight)
{
  states->bonds[i] = state.bonds;
  states->along[i] = state.along;
  states->energy[i] = state.energy;
  states->magnetization[i] = state.magnetization;
  states->place[i] = state.place;
  states->weight[i] = weight;
}

/* Each bond is counted from its end of colour 0. */
GPUMC_INLINE void
find_states(const int components, const struct heisenberg_walk_group *group, struct states *states)
{
  *states = (struct states){0};
  for (size_t p = 0; p < group->sites; p++) {
    const REAL *site = site_of(components, group, p);
    const uint32_t neighbours = 2 * p < group->sites ? group->neighbours : 0;
    int32_t bonds[LANES] = {0};
    for (uint32_t n = 0; n < neighbours; n++) {
      const REAL *other = site_of(components, group, group->around[p][group->first + n]);
      for (size_t i = 0; i < LANES; i++)
        bonds[i] += HEISENBERG_NAME(heisenberg_quanta)(HEISENBERG_NAME(heisenberg_dot)(
            components, lane_of(components, site, i), lane_of(components, other, i)));
    }
    for (size_t i = 0; i < LANES; i++) {
      states->bonds[i] += (double)bonds[i];
      states->along[i] += (double)HEISENBERG_NAME(heisenberg_quanta)(site[i]);
    }
  }
  for (size_t i = 0; i < LANES; i++) {
    struct heisenberg_walk_state state = state_of(states, i);
    heisenberg_walk_find(group->rule, group->lowest, &state);
    set_state(states, i, state, group->weight[(int32_t)state.place]);
  }
}

/* The changes made by an update. */
struct proposals {
  REAL x[LANES], y[LANES], z[LANES];
  int32_t before[LANES], after[LANES], along_before[LANES], along_after[LANES];
};

GPUMC_INLINE void propose(const int components, const struct heisenberg_walk_group *group,
                          size_t position, const struct words *words, struct proposals *proposals)
{
  const REAL *site = site_of(components, group, position);
  for (size_t i = 0; i < LANES; i++) {
    const VECTOR proposal = proposal_of(components, words, i);
    proposals->x[i] = proposal.x;
    proposals->y[i] = proposal.y;
    proposals->z[i] = proposal.z;
    proposals->before[i] = proposals->after[i] = 0;
    proposals->along_before[i] = HEISENBERG_NAME(heisenberg_quanta)(site[i]);
    proposals->along_after[i] = HEISENBERG_NAME(heisenberg_quanta)(proposal.x);
  }
  for (uint32_t n = 0; n < group->neighbours; n++) {
    const REAL *restrict other =
        site_of(components, group, group->around[position][group->first + n]);
    for (size_t i = 0; i < LANES; i++) {
      const VECTOR spin = lane_of(components, site, i), near = lane_of(components, other, i);
      const VECTOR proposal = {proposals->x[i], proposals->y[i], proposals->z[i]};
      proposals->before[i] += HEISENBERG_NAME(heisenberg_quanta)(
          HEISENBERG_NAME(heisenberg_dot)(components, spin, near));
      proposals->after[i] += HEISENBERG_NAME(heisenberg_quanta)(
          HEISENBERG_NAME(heisenberg_dot)(components, proposal, near));
    }
  }
}

/* Sets accepted[i]: whether lane i accepts its proposal; updates its state. */
GPUMC_INLINE void decide(const struct heisenberg_walk_group *group,
                         const struct proposals *proposals, const struct words *words,
                         struct states *states, int32_t *restrict accepted)
{
  const struct heisenberg_walk_rule rule = *group->rule;
  const struct lattice_walk_canonical canonical = group->canonical;
  const double *restrict weight = group->weight;
  const double lowest = group->lowest;
#pragma GCC ivdep
  for (size_t i = 0; i < LANES; i++) {
    const struct heisenberg_walk_state from = state_of(states, i);
    struct heisenberg_walk_state to = from;
    to.bonds += (double)proposals->after[i] - (double)proposals->before[i];
    to.along += (double)proposals->along_after[i] - (double)proposals->along_before[i];
    heisenberg_walk_find(&rule, lowest, &to);
    const double weight_from = states->weight[i], weight_to = weight[(int32_t)to.place];
    const bool taken =
        heisenberg_walk_accepts(canonical, &from, &to, weight_from, weight_to, words->number[i]);
    accepted[i] = taken;
    const struct heisenberg_walk_state next = {
        taken ? to.bonds : from.bonds, taken ? to.along : from.along,
        taken ? to.energy : from.energy, taken ? to.magnetization : from.magnetization,
        taken ? to.place : from.place};
    set_state(states, i, next, taken ? weight_to : weight_from);
  }
}

GPUMC_INLINE void
take(const int32_t *restrict accepted, const REAL *restrict proposed, REAL *restrict spin)
{
  for (size_t i = 0; i < LANES; i++)
    spin[i] = accepted[i] != 0 ? proposed[i] : spin[i];
}

GPUMC_INLINE void update(const int components, const struct heisenberg_walk_group *group,
                         size_t position, const struct words *words, struct states *states)
{
  REAL *site = site_of(components, group, position);
  struct proposals proposals;
  int32_t accepted[LANES];
  propose(components, group, position, words, &proposals);
  decide(group, &proposals, words, states, accepted);
  take(accepted, proposals.x, site);
  take(accepted, proposals.y, site + LANES);
  if (components == 3)
    take(accepted, proposals.z, site + 2 * LANES);
}

/* ---- walks ---- */

static void count(const struct heisenberg_walk_group *group, const struct states *states)
{
  for (size_t i = 0; i < group->count; i++) {
    const uint32_t level = (uint32_t)(int32_t)states->place[i] - 1;
    if (group->visits != NULL)
      group->visits[level]++;
    for (uint32_t side = 0; side < 2 && group->passages != NULL; side++)
      if (level == group->end[side])
        group->passages[i] = gpumc_walk_arrive(group->passages[i], side);
  }
}

GPUMC_INLINE void
walk_as(const int components, const uint32_t rounds, const struct heisenberg_walk_group *group)
{
  struct states states;
  struct words words[GPUMC_WALK_UPDATES];
  find_states(components, group, &states);
  for (uint32_t step = 0; step < group->steps; step++) {
    const uint64_t time = group->time + step;
    uint32_t site[GPUMC_WALK_UPDATES];
    lattice_walk_sites(group->random, group->number, time, group->sites, site);
    draw_step(components, group, rounds, time, words);
    for (size_t j = 0; j < GPUMC_WALK_UPDATES; j++)
      update(components, group, site[j], &words[j], &states);
    count(group, &states);
  }
}

static void walk(const struct heisenberg_walk_group *group)
{
  load(group);
  if (group->components == 3 && group->random.rounds == 7)
    walk_as(3, 7, group);
  else if (group->components == 3)
    walk_as(3, 10, group);
  else if (group->random.rounds == 7)
    walk_as(2, 7, group);
  else
    walk_as(2, 10, group);
  store(group);
}

/* ---- measurement ---- */

/* A colour of a replica, component by component. */
struct colour {
  const REAL *x, *y, *z; /* z = NULL with two components */
};

/* Returns the bonds of n sites from k on with those from `other_k` on. */
GPUMC_INLINE int64_t bonds_of(const int components, const struct colour *own, size_t k,
                              const struct colour *other, size_t other_k, size_t n)
{
  int64_t bonds = 0;
  for (size_t i = 0; i < n; i++) {
    const VECTOR one = {own->x[k + i], own->y[k + i], components == 3 ? own->z[k + i] : 0};
    const VECTOR two = {other->x[other_k + i], other->y[other_k + i],
                        components == 3 ? other->z[other_k + i] : 0};
    bonds +=
        HEISENBERG_NAME(heisenberg_quanta)(HEISENBERG_NAME(heisenberg_dot)(components, one, two));
  }
  return bonds;
}

/* For a row of colour 0 from k on, whose neighbours are rows as well except for the sides. */
GPUMC_INLINE int64_t bonds_of_row(const int components, const struct gpumc_checkerboard *lattice,
                                  const struct colour *own, const struct colour *other, size_t k)
{
  const size_t row = lattice->row;
  const struct gpumc_checkerboard_place place = gpumc_checkerboard_place_at(lattice, 0, k);
  uint32_t around[GPUMC_NEIGHBOURS_MAXIMUM];
  gpumc_checkerboard_positions_around(lattice, k, around);
  int64_t bonds = 0;
  for (uint32_t n = lattice->dimension == 1 ? GPUMC_SAME_INDEX : 0;
       n < (lattice->dimension == 3 ? 6 : 4); n++)
    if (n != GPUMC_SIDE)
      bonds += bonds_of(components, own, k, other, around[n] - lattice->colour, row);
  if (gpumc_checkerboard_side_is_back(&place))
    return bonds + bonds_of(components, own, k, other, k + row - 1, 1) +
           bonds_of(components, own, k + 1, other, k, row - 1);
  return bonds + bonds_of(components, own, k, other, k + 1, row - 1) +
         bonds_of(components, own, k + row - 1, other, k, 1);
}

GPUMC_INLINE int64_t bonds_of_replica(const int components,
                                      const struct gpumc_checkerboard *lattice, const REAL *spins)
{
  const size_t half = lattice->colour;
  const struct colour own = {spins, spins + 2 * half, components == 3 ? spins + 4 * half : NULL};
  const struct colour other = {spins + half, spins + 3 * half,
                               components == 3 ? spins + 5 * half : NULL};
  int64_t bonds = 0;
  for (size_t k = 0; k < half; k += lattice->row)
    bonds += bonds_of_row(components, lattice, &own, &other, k);
  return bonds;
}

static int64_t
bonds_of_spins(const struct gpumc_checkerboard *lattice, int components, const void *spins)
{
  return components == 3 ? bonds_of_replica(3, lattice, spins)
                         : bonds_of_replica(2, lattice, spins);
}

extern const struct heisenberg_walk_ops GPUMC_ISA_NAME(OPS);
const struct heisenberg_walk_ops GPUMC_ISA_NAME(OPS) = {.bonds = bonds_of_spins, .walk = walk};
