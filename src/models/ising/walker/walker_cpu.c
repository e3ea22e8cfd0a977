/* The walker kernel on the CPU: replicas as the spin kernel stores them, threads over groups of 32,
 * which are converted to words for a walk. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_takes.h"
#include "models/ising/spin/spin.h"
#include "models/ising/walker/walker.h"
#include "models/lattice/replicas_cpu.h"
#include "models/lattice/walk_cpu.h"
#include "models/lattice/word_counter.h"

enum { LANES = GPUMC_WALK_GROUP };

/* Scratch of one thread. `site`: of all positions, with the signs of `sample`. */
struct scratch {
  uint32_t *words;                /* [sites] */
  uint32_t *visits;               /* [levels] */
  struct ising_walker_site *site; /* [sites] */
  size_t sample;
};

/* A call. */
struct call {
  const struct gpumc_ensemble *ensemble;
  const struct gpumc_weight_table *table;
  struct ising_walk walk;
  struct ising_walker_site *site; /* of all positions, without signs */
  struct scratch *scratch;        /* of each thread */
};

/* The current group: replicas first .. first + count - 1 of a run, in its sample; `group`: its
 * number in the whole. */
struct place {
  const struct call *call;
  const struct gpumc_ensemble *ensemble;
  size_t run, group, first, count;
  uint64_t time;
  uint32_t steps;
  struct ising_spin_sample sample;
  const struct ising_walker_site *site;
};

static enum gpumc_status make_sites(struct call *call, struct gpumc_error *error)
{
  const struct gpumc_model *model = call->ensemble->model;
  GPUMC_TRY(gpumc_allocate_array(&call->site, model->sites, "neighbours", error));
  for (size_t p = 0; p < model->sites; p++)
    gpumc_checkerboard_positions_around(&ising_parameters(model)->lattice, p,
                                        call->site[p].neighbour);
  return GPUMC_OK;
}

/* A thread walks through many groups of one sample, one after the other. */
static void set_signs(struct ising_walker_site *site, const struct gpumc_checkerboard *lattice,
                      const struct ising_spin_sample *sample)
{
  const uint32_t couplings = (1u << 2 * lattice->dimension) - 1;
  for (size_t p = 0; p < 2 * lattice->colour; p++) {
    const size_t colour = p >= lattice->colour, k = p - colour * lattice->colour;
    site[p].against = sample->signs[colour * sample->stride + k] & couplings;
  }
}

/* Brings the sample of the group's run, and sites with its signs. */
static void bring_sample(struct place *place, struct scratch *scratch)
{
  const struct gpumc_ensemble *ensemble = place->ensemble;
  const size_t number = gpumc_ensemble_sample(&ensemble->plan, place->run, place->first);
  place->sample = ising_spin_sample(ising_spin_cpu_samples(ensemble), number);
  if (place->sample.signs != NULL && scratch->sample != number)
    set_signs(scratch->site, &ising_parameters(ensemble->model)->lattice, &place->sample);
  scratch->sample = number;
  place->site = scratch->site;
}

/* ---- one replica, its spins in one lane of the words ---- */

/* The sums that the energy and the magnetization are computed from. */
struct state {
  int64_t bonds, spins, along, terms;
};

static int64_t spin_at(const uint32_t *words, size_t p, uint32_t lane)
{
  return (words[p] >> lane & 1) != 0 ? 1 : -1;
}

/* Return the sign of the field at p, if fields have signs, and the couplings and the field of p. */
static int64_t field_sign(const struct place *place, size_t p)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(place->ensemble->model)->lattice;
  const size_t colour = p >= lattice->colour, k = p - colour * lattice->colour;
  if (place->sample.signs == NULL)
    return 1;
  return (place->sample.signs[colour * place->sample.stride + k] >> ISING_FIELD_SIGN & 1) != 0 ? 1
                                                                                               : -1;
}

static const int32_t *terms_at(const struct place *place, size_t p)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(place->ensemble->model)->lattice;
  const size_t colour = p >= lattice->colour, k = p - colour * lattice->colour;
  return place->sample.terms + colour * (2 * lattice->dimension + 1) * place->sample.stride + k;
}

/* Sums over the neighbours of p: of their spins times the signs of the couplings, or of the
 * couplings. */
struct near {
  int64_t signs, terms;
};

static struct near
near_of(const struct place *place, const uint32_t *words, size_t p, uint32_t lane)
{
  const struct ising_walker_site *site = &place->site[p];
  const size_t n = 2 * ising_parameters(place->ensemble->model)->lattice.dimension;
  struct near near = {0};
  for (size_t i = 0; i < n; i++) {
    const int64_t spin = spin_at(words, site->neighbour[i], lane);
    near.signs += (site->against >> i & 1) != 0 ? -spin : spin;
    if (place->sample.terms != NULL)
      near.terms += spin * terms_at(place, p)[i * place->sample.stride];
  }
  return near;
}

static int64_t field_term(const struct place *place, size_t p)
{
  const size_t n = 2 * ising_parameters(place->ensemble->model)->lattice.dimension;
  return place->sample.terms != NULL ? terms_at(place, p)[n * place->sample.stride] : 0;
}

static struct state state_of(const struct place *place, const uint32_t *words, uint32_t lane)
{
  struct state state = {0};
  int64_t twice = 0;
  for (size_t p = 0; p < place->ensemble->model->sites; p++) {
    const int64_t spin = spin_at(words, p, lane);
    const struct near near = near_of(place, words, p, lane);
    state.bonds += spin * near.signs;
    twice += spin * near.terms;
    state.spins += spin;
    state.along += spin * field_sign(place, p);
    state.terms -= spin * field_term(place, p);
  }
  state.bonds /= 2;
  state.terms -= twice / 2;
  return state;
}

/* state_of for all lanes at once, for couplings and fields that are all signs. */
static void
states_of(const struct place *place, const uint32_t *words, struct state state[static LANES])
{
  const int64_t sites = (int64_t)place->ensemble->model->sites;
  const size_t n = 2 * ising_parameters(place->ensemble->model)->lattice.dimension;
  struct gpumc_word_counter unlike = {0}, up = {0}, along = {0};
  for (size_t p = 0; p < (size_t)sites; p++) {
    const struct ising_walker_site *site = &place->site[p];
    for (size_t i = 0; i < n; i++)
      gpumc_word_counter_add(&unlike,
                             words[p] ^ words[site->neighbour[i]] ^ -(site->against >> i & 1));
    gpumc_word_counter_add(&up, words[p]);
    gpumc_word_counter_add(&along, field_sign(place, p) > 0 ? words[p] : ~words[p]);
  }
  for (uint32_t lane = 0; lane < LANES; lane++)
    state[lane] =
        (struct state){.bonds = sites * (int64_t)n / 2 - gpumc_word_counter_lane(&unlike, lane),
                       .spins = 2 * gpumc_word_counter_lane(&up, lane) - sites,
                       .along = 2 * gpumc_word_counter_lane(&along, lane) - sites};
}

static struct state flipped(const struct place *place, const uint32_t *words, size_t p,
                            uint32_t lane, struct state state)
{
  const int64_t spin = spin_at(words, p, lane);
  const struct near near = near_of(place, words, p, lane);
  state.bonds -= 2 * spin * near.signs;
  state.spins -= 2 * spin;
  state.along -= 2 * spin * field_sign(place, p);
  state.terms += 2 * spin * (near.terms + field_term(place, p));
  return state;
}

static int64_t energy_of(const struct gpumc_model *model, const struct state *state)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const enum ising_spin_kind kind = ising_spin_kind(model);
  if (kind == ISING_SPIN_TERMS)
    return state->terms;
  if (kind == ISING_SPIN_UNIFORM)
    return ising_energy(parameters->coupling_quanta, parameters->field_quanta, state->bonds,
                        state->spins);
  return ising_energy_of_signs(parameters->coupling_quanta, parameters->field_quanta,
                               ising_disorder_traits(model).field_width, state->bonds, state->spins,
                               state->along);
}

static size_t level_of(const struct place *place, const struct state *state)
{
  const struct ising_walk *walk = &place->call->walk;
  const int64_t value =
      walk->channel == ISING_ENERGY ? energy_of(place->ensemble->model, state) : state->spins;
  const int64_t above = value - walk->lowest[place->run];
  return above < 0 ? SIZE_MAX : (size_t)(above / walk->spacing);
}

/* ---- one group ---- */

static void load_words(const struct place *place, uint32_t *words)
{
  const struct lattice_cpu_storage *storage = place->ensemble->storage;
  const size_t sites = place->ensemble->model->sites;
  const uint8_t *spins[LANES];
  for (size_t i = 0; i < LANES; i++)
    spins[i] = lattice_cpu_block(storage, place->run, place->first + (i < place->count ? i : 0));
  for (size_t p = 0; p < sites; p++) {
    uint32_t word = 0;
    for (size_t i = 0; i < LANES; i++)
      word |= (uint32_t)spins[i][p] << i;
    words[p] = word;
  }
}

static void store_words(const struct place *place, const uint32_t *words)
{
  const struct lattice_cpu_storage *storage = place->ensemble->storage;
  for (size_t i = 0; i < place->count; i++) {
    uint8_t *spins = lattice_cpu_block(storage, place->run, place->first + i);
    for (size_t p = 0; p < place->ensemble->model->sites; p++)
      spins[p] = words[p] >> i & 1;
  }
}

static uint32_t *passages_of(const struct place *place)
{
  uint32_t *passages = place->call->table->passages;
  return passages == NULL ? NULL
                          : passages + place->run * place->ensemble->plan.capacity + place->first;
}

static void walk_tabled(const struct place *place, uint32_t *words, uint32_t *visits)
{
  const struct lattice_cpu_storage *storage = place->ensemble->storage;
  const struct ising_walker_ops *ops = GPUMC_ISA_OBJECT(ising_walker, storage->isa);
  const struct ising_walk *walk = &place->call->walk;
  uint32_t base[LANES], passages[LANES] = {0}, *of_replicas = passages_of(place);
  struct state state[LANES];
  states_of(place, words, state);
  for (uint32_t i = 0; i < LANES; i++) {
    base[i] = (uint32_t)level_of(place, &state[i]) * walk->stride;
    passages[i] = of_replicas != NULL && i < place->count ? of_replicas[i] : 0;
  }
  struct ising_walker_group group = {
      .walk = walk,
      .threshold = walk->threshold + place->run * walk->levels * walk->stride,
      .site = place->site,
      .sites = (uint32_t)place->ensemble->model->sites,
      .neighbours = 2 * (uint32_t)ising_parameters(place->ensemble->model)->lattice.dimension,
      .random = gpumc_ensemble_random(place->ensemble, place->run),
      .number = (uint32_t)place->group,
      .time = place->time,
      .steps = place->steps,
      .lanes = place->count == LANES ? UINT32_MAX : (1u << place->count) - 1,
      .words = words,
      .base = base,
      .visits = visits,
      .passages = of_replicas != NULL ? passages : NULL,
  };
  for (size_t side = 0; side < 2 && of_replicas != NULL; side++)
    group.end[side] = (uint32_t)place->call->table->end[2 * place->run + side] * walk->stride;
  ops->walk(&group);
  for (size_t i = 0; i < place->count && of_replicas != NULL; i++)
    of_replicas[i] = passages[i];
}

/* Walks with a single replica, computing its thresholds one by one. */
static void
walk_replica(const struct place *place, uint32_t *words, uint32_t lane, uint32_t *visits)
{
  const struct gpumc_ensemble *ensemble = place->ensemble;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const int64_t *weight = place->call->walk.log_weight + place->run * place->call->walk.levels;
  const uint32_t replica = (uint32_t)(place->group * LANES) + lane;
  uint32_t *passages = passages_of(place);
  struct state state = state_of(place, words, lane);
  size_t level = level_of(place, &state);
  for (uint32_t step = 0; step < place->steps; step++) {
    const uint64_t time = place->time + step;
    uint32_t site[GPUMC_WALK_UPDATES], number[4];
    lattice_walk_sites(random, (uint32_t)place->group, time, (uint32_t)ensemble->model->sites,
                       site);
    gpumc_random_draw(random, replica, (uint32_t)(time >> 32), (uint32_t)time,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, ISING_WALKER_ACCEPTANCE),
                      number);
    for (size_t j = 0; j < GPUMC_WALK_UPDATES; j++) {
      const struct state next = flipped(place, words, site[j], lane, state);
      const size_t to = level_of(place, &next);
      const int64_t energy = energy_of(ensemble->model, &next) - energy_of(ensemble->model, &state);
      if (to < place->call->walk.levels &&
          number[j] < ising_walker_threshold(&place->call->walk.canonical[place->run],
                                             weight[level], weight[to], energy,
                                             next.spins - state.spins)) {
        words[site[j]] ^= 1u << lane;
        state = next;
        level = to;
      }
    }
    if (visits != NULL)
      visits[level]++;
    for (uint32_t side = 0; passages != NULL && side < 2; side++)
      if (level == place->call->table->end[2 * place->run + side])
        passages[lane] = gpumc_walk_arrive(passages[lane], side);
  }
}

static void walk_group(const void *context, size_t thread, const struct lattice_walk_group *group)
{
  const struct call *call = context;
  struct scratch *scratch = &call->scratch[thread];
  uint32_t *visits = call->table->visits != NULL ? scratch->visits : NULL;
  struct place place = {.call = call,
                        .ensemble = call->ensemble,
                        .run = group->run,
                        .group = group->number,
                        .first = group->first,
                        .count = group->count,
                        .time = group->time,
                        .steps = group->steps};
  bring_sample(&place, scratch);
  load_words(&place, scratch->words);
  if (call->walk.tabled)
    walk_tabled(&place, scratch->words, visits);
  else
    for (uint32_t lane = 0; lane < place.count; lane++)
      walk_replica(&place, scratch->words, lane, visits);
  store_words(&place, scratch->words);
  if (visits != NULL)
    lattice_walk_flush(call->ensemble, call->table, group, visits);
}

/* ---- all groups ---- */

static enum gpumc_status make_scratch(struct call *call, size_t threads, struct gpumc_error *error)
{
  const size_t sites = call->ensemble->model->sites;
  GPUMC_TRY(gpumc_allocate_array(&call->scratch, threads, "scratch of the threads", error));
  struct scratch *scratch = call->scratch;
  for (size_t t = 0; t < threads; t++) {
    GPUMC_TRY(gpumc_allocate_array(&scratch[t].words, sites, "words", error));
    GPUMC_TRY(gpumc_allocate_array(&scratch[t].visits, call->walk.levels, "visits", error));
    GPUMC_TRY(gpumc_allocate_array(&scratch[t].site, sites, "neighbours", error));
    memcpy(scratch[t].site, call->site, sites * sizeof *call->site);
    scratch[t].sample = SIZE_MAX;
  }
  return GPUMC_OK;
}

static enum gpumc_status
walk(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, struct gpumc_error *error)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t threads = (size_t)storage->threads;
  struct call call = {.ensemble = ensemble, .table = target->table};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, ising_walk_make(ensemble, target, &call.walk, error));
  GPUMC_TRY_OUT(status, make_sites(&call, error));
  GPUMC_TRY_OUT(status, make_scratch(&call, threads, error));
  GPUMC_TRY_OUT(status, lattice_walk_cpu(ensemble, target->table, walk_group, &call, error));
out:
  for (size_t t = 0; t < threads && call.scratch != NULL; t++) {
    free(call.scratch[t].words);
    free(call.scratch[t].visits);
    free(call.scratch[t].site);
  }
  free(call.scratch);
  free(call.site);
  ising_walk_free(&call.walk);
  return status;
}

/* Returns the bytes of replicas, and of what `walk` allocates: per thread, and for all of them
 * neighbours, thresholds if there are any, and weights of the runs. */
static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  const size_t sites = model->sites * sizeof(struct ising_walker_site);
  const size_t of_thread = sizeof(struct scratch) + model->sites * sizeof(uint32_t) +
                           plan->levels * sizeof(uint32_t) + sites;
  const size_t classes = plan->moved == 0 ? ISING_WALKER_LIKE : ISING_WALKER_CLASSES;
  const size_t thresholds =
      ising_parameters(model)->plain ? plan->levels * classes * sizeof(uint32_t) : 0;
  const size_t walk = (size_t)device->threads * of_thread + sites +
                      plan->runs * (thresholds + sizeof(struct lattice_walk_canonical)) +
                      lattice_walk_cpu_bytes(plan->runs);
  return ising_spin_cpu_bytes(model, device, plan) + (plan->walks ? walk : 0);
}

/* A thread takes a group at a time. */
static size_t fills(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)model, (void)plan;
  return (size_t)device->threads * GPUMC_WALK_GROUP;
}

const struct gpumc_kernel_ops ising_walker_cpu = {
    LATTICE_CPU_OPERATIONS,
    .variant = "walker",
    .refuses = ising_cpu_refuses,
    .summary = "many replicas under one tabulated weight, 32 of which update the same site",
    .takes = ISING_TAKES_SPIN ISING_TAKES_ON_CPUS,
    .trajectory = "ising.spin.1",
    .moves = ising_moves,
    .n_moves = ISING_LOCAL_MOVES,
    .group = 1,
    .bytes = bytes,
    .create = ising_spin_cpu_create,
    .compare = lattice_cpu_compare,
    .walk = walk,
    .fills = fills,
};
