#include "support/heisenberg_emulated.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "models/heisenberg/tiles/heisenberg_tile.cuh"
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

/* Returns whether there are elements at a place, for all components; two if they are loaded as a
 * pair. */
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
  for (uint32_t colour = 0; colour < 2; colour++) {
    const struct heisenberg_turn<KIND> turn = {
      &job->lattice, colours_of(emulation, colour), stream, colour, strength
    };
    for (const struct heisenberg_four &four : emulation.fours)
      taken += heisenberg_update_four<KIND, MOVE>(turn, four);
  }
  return taken;
}

template <class KIND>
static struct heisenberg_strength<KIND>
strength_of(const struct heisenberg_emulated *job, enum heisenberg_move move) {
  typedef typename KIND::real real;
  const double beta = move == HEISENBERG_OVER_RELAXATION ? 1.0 : job->beta;
  const struct heisenberg_strength<KIND> strength = {
    (real)(beta * job->coupling), KIND::rules::bias(move, (real)(beta * job->field)),
        (real)job->reach
  };
  return strength;
}

template <class KIND>
static void sweep_at(struct emulation<KIND> &emulation, uint32_t time)
{
  const struct heisenberg_emulated *job = emulation.job;
  const enum heisenberg_move move = heisenberg_move_at(job->move, job->over_relaxations, time);
  const struct heisenberg_strength<KIND> strength = strength_of<KIND>(job, move);
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

/* ---- tiles ---- */

/* Counts the places of a tile's updates that are outside the region read for it. */
template <class KIND>
static size_t
count_outside_of(const struct heisenberg_tile<KIND> &tile, const struct heisenberg_tile_unit &unit)
{
  const uint32_t end = heisenberg_tile_colour(tile.tiling) * KIND::STEP;
  size_t outside = 0;
  for (uint32_t p = 0; p < unit.pairs; p++) {
    const struct heisenberg_pair &pair = unit.pair[p];
    const uint32_t pairs[] = {pair.same[0], pair.row_before[0], pair.row_after[0]};
    for (uint32_t place : pairs)
      outside += place % (2 * KIND::STEP) != 0 || place >= end;
    outside += pair.back[0] >= end || pair.forth[1] >= end;
  }
  return outside;
}

template <class KIND> static size_t count_outside_of(const struct heisenberg_tile<KIND> &tile)
{
  size_t outside = 0;
  for (uint32_t margin = 0; margin < 2 * tile.tiling->sweeps; margin++) {
    const struct heisenberg_tile_part part = heisenberg_tile_part_of(tile.tiling, margin);
    for (uint32_t a = 0; a < part.lines; a++) {
      for (uint32_t c = 0; c < 2 * tile.tiling->units; c++)
        outside += count_outside_of(
            tile, heisenberg_tile_unit_of(
                      tile, part, heisenberg_tile_column_within(tile, c / 2, c % 2 != 0), a));
      for (uint32_t c = 0; c < 2 * part.edge; c++)
        outside += count_outside_of(
            tile,
            heisenberg_tile_unit_of(tile, part, heisenberg_tile_column_beside(tile, part, c), a));
    }
  }
  return outside;
}

template <class KIND, enum heisenberg_move MOVE>
static uint32_t sweep_tile(const struct heisenberg_emulated *job,
                           const struct heisenberg_tile<KIND> &tile, uint32_t time, uint32_t margin)
{
  uint32_t taken = 0;
  for (uint32_t colour = 0; colour < 2; colour++) {
    const struct heisenberg_turn<KIND> turn = {
      tile.lattice, heisenberg_tile_colours(tile, colour),
          heisenberg_stream_make(job->random, job->replica, time), colour,
          strength_of<KIND>(job, MOVE)
    };
    for (uint32_t thread = 0; thread < job->tiles.threads; thread++)
      taken += heisenberg_tile_update<KIND, MOVE>(tile, margin - colour, turn, thread,
                                                  job->tiles.threads);
  }
  return taken;
}

/* Performs a launch's sweeps, starting at `time`. */
template <class KIND>
static size_t sweep_one_tile(const struct heisenberg_emulated *job,
                             const struct heisenberg_tile<KIND> &tile, uint32_t time)
{
  const size_t outside = count_outside_of(tile);
  if (outside > 0)
    return outside;
  for (uint32_t thread = 0; thread < job->tiles.threads; thread++)
    heisenberg_tile_read(tile, thread, job->tiles.threads);
  for (uint32_t s = 0; s < tile.tiling->sweeps; s++) {
    const uint32_t margin = 2 * (tile.tiling->sweeps - s) - 1;
    const enum heisenberg_move move =
        heisenberg_move_at(job->move, job->over_relaxations, time + s);
    if (move == HEISENBERG_METROPOLIS)
      sweep_tile<KIND, HEISENBERG_METROPOLIS>(job, tile, time + s, margin);
    else if (move == HEISENBERG_METROPOLIS_SMALL)
      *job->accepted += sweep_tile<KIND, HEISENBERG_METROPOLIS_SMALL>(job, tile, time + s, margin);
    else if (move == HEISENBERG_HEAT_BATH)
      sweep_tile<KIND, HEISENBERG_HEAT_BATH>(job, tile, time + s, margin);
    else
      sweep_tile<KIND, HEISENBERG_OVER_RELAXATION>(job, tile, time + s, margin);
  }
  for (uint32_t thread = 0; thread < job->tiles.threads; thread++)
    heisenberg_tile_write(tile, thread, job->tiles.threads);
  return 0;
}

/* What no thread has written is NaN. */
template <class KIND> static size_t sweep_tiles(const struct heisenberg_emulated *job)
{
  typedef typename KIND::real real;
  const real nothing = std::numeric_limits<real>::quiet_NaN();
  const size_t numbers = (size_t)2 * KIND::COMPONENTS * job->lattice.colour;
  std::vector<real> from((const real *)job->spins, (const real *)job->spins + numbers);
  size_t outside = 0;
  for (uint32_t done = 0; done < job->sweeps; done += job->tiles.sweeps) {
    const uint32_t left = job->sweeps - done;
    const struct heisenberg_tiling tiling =
        heisenberg_tiling_of(&job->lattice, job->tiles.wide, job->tiles.high,
                             left < job->tiles.sweeps ? left : job->tiles.sweeps);
    std::vector<real> to(numbers, nothing);
    for (uint32_t j = 0; j < tiling.tiles_y; j++)
      for (uint32_t i = 0; i < tiling.tiles_x; i++) {
        std::vector<real> memory(2 * KIND::COMPONENTS * heisenberg_tile_colour(&tiling), nothing);
        const struct heisenberg_tile<KIND> tile = {
          &job->lattice, &tiling, i *tiling.wide, j *tiling.high,
              memory.data(), from.data(), to.data()
        };
        outside += sweep_one_tile(job, tile, job->time + done);
      }
    from.swap(to);
  }
  std::copy(from.begin(), from.end(), (real *)job->spins);
  return outside;
}

/* ---- whole replicas ---- */

/* Copies the replica to memory, or back. */
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
    add_site<real, KIND::COMPONENTS, KIND::QUENCHED>(&job->lattice, (const real *)job->couplings,
                                                     (const real *)job->spins, k,
                                                     {true, true, true}, job->sums);
}

template <class KIND> static void compare(const struct heisenberg_emulated *job)
{
  typedef typename KIND::real real;
  const int n = KIND::COMPONENTS;
  const struct two<real> both = {
    &job->lattice, (const real *)job->spins, (const real *)job->other, (const real *)job->couplings
  };
  int64_t overlap[n][n] = {};
  *job->pair = {};
  for (uint32_t k = 0; k < job->lattice.colour; k++)
    for (uint32_t colour = 0; colour < 2; colour++) {
      add_overlap<real, n>(both, colour, k, overlap);
      add_bonds<real, n>(both, colour, k, &job->pair->link, &job->pair->chirality);
    }
  for (uint32_t a = 0; a < n; a++)
    for (uint32_t b = 0; b < n; b++) {
      job->pair->overlap[a][b] = overlap[a][b];
      for (uint32_t axis = 0; axis < 3; axis++)
        for (uint32_t k = 0; k < job->lattice.colour && job->wave.along[axis]; k++)
          add_waves<real, n>(both, job->cosine, job->sine, a, b, axis, k,
                             &job->pair->wave[a].cosine[b][axis],
                             &job->pair->wave[a].sine[b][axis]);
    }
}

template <class KIND> static size_t emulate(const struct heisenberg_emulated *job)
{
  if constexpr (KIND::SHARED && KIND::DIMENSION == 2 && !KIND::QUENCHED)
    if (job->tiles.wide > 0) {
      const size_t outside = sweep_tiles<KIND>(job);
      measure<KIND>(job);
      return outside;
    }
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
  const uint32_t threads = heisenberg_threads_of(lattice), block = 256;
  const struct heisenberg_fold fold = heisenberg_fold_of(lattice, block);
  for (uint32_t i = 0; i < (KIND::SHARED ? threads : threads + block); i++) {
    const uint32_t q = KIND::SHARED ? i : heisenberg_folded(lattice, fold, i);
    if (heisenberg_first_site(q) >= lattice->colour)
      continue;
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
