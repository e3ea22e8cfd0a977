#include "support/heisenberg_emulated.h"

#include <vector>

#include "models/heisenberg/heisenberg_block.cuh"
#include "models/heisenberg/quenched/quenched_compare.cuh"

/* One replica, its threads, and what a launch would give them. */
template <class KIND> struct emulation {
  typedef typename KIND::real real;
  const struct heisenberg_emulated *job;
  std::vector<real> memory;
  size_t colour_elements, stride;
  std::vector<struct heisenberg_four> fours;
  std::vector<struct heisenberg_rows> rows;
};

template <class KIND>
static typename KIND::real *colour_at(struct emulation<KIND> &emulation, uint32_t colour)
{
  return emulation.memory.data() + colour * emulation.colour_elements;
}

/* Whether there are elements at a place, of all components, two where they are loaded as a pair. */
template <class KIND>
static bool is_inside(const struct emulation<KIND> &emulation, uint32_t place, bool pair)
{
  const size_t element = place / KIND::STEP;
  const size_t end = KIND::SHARED ? emulation.colour_elements
                                  : emulation.memory.size() - emulation.colour_elements;
  return place % KIND::STEP == 0 && (!pair || element % 2 == 0) &&
         element + (KIND::COMPONENTS - 1) * emulation.stride + pair < end;
}

template <class KIND>
static size_t
count_outside(const struct emulation<KIND> &emulation, const struct heisenberg_four &four)
{
  size_t outside = 0;
  for (const struct heisenberg_pair &pair : four.pair)
    for (int i = 0; i < 2; i++) {
      const bool whole = KIND::PAIRED;
      if (!KIND::PAIRED || i == 1)
        outside += !is_inside<KIND>(emulation, pair.forth[i], false);
      if (KIND::PAIRED && i == 1)
        continue;
      outside += !is_inside<KIND>(emulation, pair.back[i], false);
      outside += !is_inside<KIND>(emulation, pair.same[i], whole);
      if (heisenberg_has<KIND>(&emulation.job->lattice, 2)) {
        outside += !is_inside<KIND>(emulation, pair.row_before[i], whole);
        outside += !is_inside<KIND>(emulation, pair.row_after[i], whole);
      }
      if (heisenberg_has<KIND>(&emulation.job->lattice, 3)) {
        outside += !is_inside<KIND>(emulation, pair.plane_before[i], whole);
        outside += !is_inside<KIND>(emulation, pair.plane_after[i], whole);
      }
    }
  return outside;
}

template <class KIND>
static struct heisenberg_colours<KIND>
colours_of(struct emulation<KIND> &emulation, uint32_t colour) {
  const struct heisenberg_emulated *job = emulation.job;
  const struct heisenberg_colours<KIND> colours = {
    colour_at(emulation, colour), colour_at(emulation, 1 - colour), emulation.stride,
        heisenberg_couplings_at<KIND>(&job->lattice, (const typename KIND::real *)job->couplings,
                                      colour)
  };
  return colours;
}

template <class KIND, enum heisenberg_move MOVE>
static uint32_t sweep_fours(struct emulation<KIND> &emulation, uint32_t time,
                            struct heisenberg_strength<KIND> strength)
{
  uint32_t taken = 0;
  const struct heisenberg_emulated *job = emulation.job;
  const struct heisenberg_stream stream = heisenberg_stream_make(job->random, job->replica, time);
  for (uint32_t colour = 0; colour < 2; colour++)
    for (const struct heisenberg_four &four : emulation.fours)
      taken += heisenberg_update_four<KIND, MOVE>(&job->lattice, colours_of(emulation, colour),
                                                  four, stream, colour, strength);
  return taken;
}

template <class KIND> static void sweep_at(struct emulation<KIND> &emulation, uint32_t time)
{
  typedef typename KIND::real real;
  const struct heisenberg_emulated *job = emulation.job;
  const enum heisenberg_move move = heisenberg_move_at(job->move, job->over_relaxations, time);
  const double beta = move == HEISENBERG_OVER_RELAXATION ? 1.0 : job->beta;
  const struct heisenberg_strength<KIND> strength = {
    (real)(beta * job->coupling), KIND::rules::bias(move, (real)(beta * job->field)),
        (real)job->reach
  };
  if (move == HEISENBERG_METROPOLIS) {
    sweep_fours<KIND, HEISENBERG_METROPOLIS>(emulation, time, strength);
  } else if (move == HEISENBERG_METROPOLIS_SMALL) {
    *job->accepted += sweep_fours<KIND, HEISENBERG_METROPOLIS_SMALL>(emulation, time, strength);
  } else if (move == HEISENBERG_HEAT_BATH) {
    sweep_fours<KIND, HEISENBERG_HEAT_BATH>(emulation, time, strength);
  } else if (KIND::SHARED && heisenberg_goes_by_rows<KIND>(&job->lattice)) {
    const bool renormalise = time % HEISENBERG_RENORMALISATION == 0;
    for (const struct heisenberg_rows &rows : emulation.rows)
      heisenberg_reflect_rows<KIND, 0>(colours_of(emulation, 0), rows, strength, renormalise);
    for (const struct heisenberg_rows &rows : emulation.rows)
      heisenberg_reflect_rows<KIND, 1>(colours_of(emulation, 1), rows, strength, renormalise);
  } else {
    sweep_fours<KIND, HEISENBERG_OVER_RELAXATION>(emulation, time, strength);
  }
}

/* From the replica to memory, or back. */
template <class KIND> static void copy(struct emulation<KIND> &emulation, bool back)
{
  typedef typename KIND::real real;
  const size_t n = emulation.job->lattice.colour;
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t k = 0; k < n; k++)
      for (size_t a = 0; a < (size_t)KIND::COMPONENTS; a++) {
        real *here = KIND::at(colour_at(emulation, colour), KIND::place(k)) + a * emulation.stride;
        real *there = (real *)emulation.job->spins + (a * 2 + colour) * n + k;
        (back ? *there : *here) = back ? *here : *there;
      }
}

template <class KIND> static void measure(const struct heisenberg_emulated *job)
{
  typedef typename KIND::real real;
  *job->sums = {};
  for (uint32_t k = 0; k < job->lattice.colour; k++)
    add_site<typename KIND::rules, KIND::COMPONENTS, KIND::QUENCHED>(
        &job->lattice, (const real *)job->couplings, (const real *)job->spins, k, true, true,
        job->sums);
}

template <class KIND> static void compare(const struct heisenberg_emulated *job)
{
  typedef typename KIND::real real;
  typedef typename KIND::rules rules;
  const int n = KIND::COMPONENTS;
  const struct two<rules> both = {
    &job->lattice, (const real *)job->spins, (const real *)job->other, (const real *)job->couplings
  };
  int64_t overlap[n][n] = {};
  *job->pair = {};
  for (uint32_t k = 0; k < job->lattice.colour; k++)
    for (uint32_t colour = 0; colour < 2; colour++) {
      add_overlap<rules, n>(both, colour, k, overlap);
      add_bonds<rules, n>(both, colour, k, &job->pair->link, &job->pair->chirality);
    }
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b < n; b++) {
      job->pair->overlap[a][b] = overlap[a][b];
      for (uint32_t axis = 0; axis < 3; axis++)
        for (uint32_t k = 0; k < job->lattice.colour && job->wave.along[axis]; k++)
          add_waves<rules>(both, job->cosine, job->sine, a, b, axis, k,
                           &job->pair->wave[a].cosine[b][axis], &job->pair->wave[a].sine[b][axis]);
    }
}

template <class KIND> static size_t emulate(const struct heisenberg_emulated *job)
{
  const struct heisenberg_gpu_lattice *lattice = &job->lattice;
  const size_t n = lattice->colour;
  struct emulation<KIND> emulation = {
    job, {}, 0, 0, {},
    {
    }
  };
  emulation.colour_elements =
      KIND::SHARED ? heisenberg_shared_colour<KIND::COMPONENTS>(lattice->colour) : n;
  emulation.stride = KIND::SHARED ? HEISENBERG_SHARING : 2 * n;
  emulation.memory.resize(KIND::SHARED ? 2 * emulation.colour_elements : 2 * n * KIND::COMPONENTS);
  size_t outside = 0;
  for (uint32_t q = 0; q < heisenberg_threads_of(lattice); q++) {
    emulation.fours.push_back(heisenberg_four_of<KIND>(lattice, q, 0));
    outside += count_outside(emulation, emulation.fours.back());
    if constexpr (KIND::PAIRED)
      emulation.rows.push_back(heisenberg_rows_of<KIND>(lattice, q, 0));
  }
  if (outside > 0)
    return outside;
  copy(emulation, false);
  for (uint32_t s = 0; s < job->sweeps; s++)
    sweep_at(emulation, job->time + s);
  copy(emulation, true);
  measure<KIND>(job);
  if constexpr (KIND::QUENCHED)
    compare<KIND>(job);
  return 0;
}

template <class RULES, int N, bool SHARED, bool QUENCHED>
static size_t emulate_lattice(const struct heisenberg_emulated *job)
{
  const struct heisenberg_gpu_lattice *lattice = &job->lattice;
  if (lattice->row.value % 2 != 0 || lattice->dimension == 1)
    return emulate<struct heisenberg_kind<RULES, N, HEISENBERG_ANY, SHARED, QUENCHED>>(job);
  return lattice->dimension == 2
             ? emulate<struct heisenberg_kind<RULES, N, 2, SHARED, QUENCHED>>(job)
             : emulate<struct heisenberg_kind<RULES, N, 3, SHARED, QUENCHED>>(job);
}

template <class RULES, int N, bool SHARED>
static size_t emulate_couplings(const struct heisenberg_emulated *job)
{
  return job->couplings != NULL ? emulate_lattice<RULES, N, SHARED, true>(job)
                                : emulate_lattice<RULES, N, SHARED, false>(job);
}

template <class RULES> static size_t emulate_precision(const struct heisenberg_emulated *job)
{
  if (job->components == 3)
    return job->in_shared ? emulate_couplings<RULES, 3, true>(job)
                          : emulate_couplings<RULES, 3, false>(job);
  return job->in_shared ? emulate_couplings<RULES, 2, true>(job)
                        : emulate_couplings<RULES, 2, false>(job);
}

size_t heisenberg_emulate(const struct heisenberg_emulated *job)
{
  return job->single ? emulate_precision<struct heisenberg_in_float>(job)
                     : emulate_precision<struct heisenberg_in_double>(job);
}
