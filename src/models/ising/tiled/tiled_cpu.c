/* The tiled kernel on the CPU: threads over the tiles of one half at a time. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/tiled/tiled.h"
#include "models/ising/tiled/tiled_isa.h"
#include "models/ising/tiled/tiled_lattice.h"
#include "models/lattice/replicas_cpu.h"

/* lattice_cpu_storage.own. state[plan.runs][plan.capacity][state_words], those of the generators;
 * rule[plan.runs], of the current call; wave_table: cosines, then sines. */
struct ising_tiled_own {
  struct ising_tiled_geometry geometry;
  struct ising_tiled_generator generator;
  size_t state_words;
  uint32_t *state;
  struct ising_tiled_rule *rule;
  struct ising_tiled_waves waves;
  int32_t *wave_table;
  struct ising_tiled_masks masks;
  uint32_t *mask_table;
};

static struct ising_tiled_own *ising_tiled_own_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

/* Returns the state of the generator of a replica of a run. */
static uint32_t *
ising_tiled_state(const struct gpumc_ensemble *ensemble, size_t run, size_t replica)
{
  const struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  return own->state + (run * ensemble->plan.capacity + replica) * own->state_words;
}

/* Returns the scratch of the calling thread. */
static struct ising_tiled_scratch ising_tiled_scratch_of(const struct gpumc_ensemble *ensemble)
{
  return ising_tiled_scratch_at(&ising_tiled_own_of(ensemble)->geometry,
                                lattice_cpu_scratch(ensemble->storage));
}

/* Returns what follows from the plan; allocates nothing. */
static struct ising_tiled_own
own_for(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiling tiling = ising_tiling_of(&plan->options);
  struct ising_tiled_own own = {.geometry = ising_tiled_geometry(model, &tiling)};
  own.generator = ising_tiled_generator(&own.geometry, tiling.generator);
  own.state_words = ising_tiled_state_words(&own.generator);
  own.waves.wave = ising_wave_of(model);
  return own;
}

static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiling tiling = ising_tiling_of(&plan->options);
  const struct ising_tiled_geometry geometry = ising_tiled_geometry(model, &tiling);
  return ising_tiled_replica_words(&geometry) * sizeof(uint32_t);
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiled_own own = own_for(model, plan);
  return ising_tiled_scratch_words(&own.geometry, &own.generator) * sizeof(uint32_t);
}

static size_t own_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiled_own own = own_for(model, plan);
  return sizeof own + plan->runs * plan->capacity * own.state_words * sizeof *own.state +
         plan->runs * sizeof *own.rule + 2 * own.waves.wave.length * sizeof *own.wave_table +
         (size_t)ISING_TILED_MASKS * ising_tiled_padded(&own.geometry) * sizeof *own.mask_table;
}

static enum gpumc_status create_masks(struct ising_tiled_own *own, struct gpumc_error *error)
{
  const size_t n = ising_tiled_padded(&own->geometry);
  uint32_t **const mask[ISING_TILED_MASKS] = {
      &own->masks.sites,    &own->masks.left[0], &own->masks.left[1], &own->masks.right[0],
      &own->masks.right[1], &own->masks.before,  &own->masks.after};
  GPUMC_TRY(
      gpumc_allocate_array(&own->mask_table, ISING_TILED_MASKS * n, "masks of a tile", error));
  for (size_t i = 0; i < ISING_TILED_MASKS; i++)
    *mask[i] = own->mask_table + i * n;
  ising_tiled_set_masks(&own->geometry, &own->masks);
  return GPUMC_OK;
}

static enum gpumc_status create_own(const struct gpumc_model *model,
                                    const struct gpumc_ensemble_plan *plan, void *own_memory,
                                    struct gpumc_error *error)
{
  struct ising_tiled_own *own = own_memory;
  *own = own_for(model, plan);
  const size_t length = own->waves.wave.length;
  GPUMC_TRY(gpumc_allocate(plan->runs * plan->capacity, (own->state_words + 1) * sizeof *own->state,
                           "states of generators", (void **)&own->state, error));
  GPUMC_TRY(gpumc_allocate_array(&own->rule, plan->runs, "rules of the runs", error));
  GPUMC_TRY(gpumc_allocate_array(&own->wave_table, 2 * length, "tables of waves", error));
  own->waves.cosine = own->wave_table;
  own->waves.sine = own->wave_table + length;
  lattice_wave_table(&own->waves.wave, own->wave_table, own->wave_table + length);
  return create_masks(own, error);
}

static void free_own(void *own_memory)
{
  struct ising_tiled_own *own = own_memory;
  free(own->state);
  free(own->rule);
  free(own->wave_table);
  free(own->mask_table);
}

/* A block is one replica as in tiled_lattice.h. Threads share a replica, so replicas are copied in
 * and out one after the other. */
static const struct lattice_cpu_layout layout = {
    .replicas = 1,
    .buffers = 1,
    .check = ising_tiled_check,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct ising_tiled_own),
    .own_bytes = own_bytes,
    .own_create = create_own,
    .own_free = free_own,
};

LATTICE_CPU_BYTES_AND_CREATE(layout)

static void
randomize_replica(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_tiled_own *own = storage->own;
  const struct ising_tiled_geometry *geometry = &own->geometry;
  const struct ising_tiled_generator *generator = &own->generator;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  uint8_t *spins = place->data;
  uint32_t *state = ising_tiled_state(ensemble, place->run, place->first);
  const uint32_t replica = place->number, elements = ising_tiled_elements(generator);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < ensemble->model->sites; i++) {
    const struct ising_tiled_site site = ising_tiled_site(geometry, i);
    spins[ising_tiled_byte(geometry, site)] =
        (uint8_t)ising_tiled_initial(geometry, random, replica, site.colour, i);
  }
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (uint32_t b = 0; b < generator->blocks; b++)
    for (uint32_t i = 0; i < elements; i++)
      ising_tiled_set_state(generator, state + (size_t)b * generator->block_words, i,
                            ising_tiled_first_state(generator, random, replica, b, i, elements));
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  for (size_t i = 0; i < lattice_cpu_places(ensemble); i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count > 0)
      randomize_replica(ensemble, &place);
  }
  return GPUMC_OK;
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_tiled_geometry *geometry = &ising_tiled_own_of(ensemble)->geometry;
  for (size_t r = 0; r < count; r++) {
    const uint8_t *bits = portable + r * ensemble->model->portable_bytes;
    uint8_t *spins = lattice_cpu_block(storage, m, first + r);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
    for (size_t i = 0; i < ensemble->model->sites; i++)
      spins[ising_tiled_byte(geometry, ising_tiled_site(geometry, i))] = bits[i / 8] >> i % 8 & 1;
  }
  return GPUMC_OK;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_tiled_geometry *geometry = &ising_tiled_own_of(ensemble)->geometry;
  const size_t sites = ensemble->model->sites;
  for (size_t r = 0; r < count; r++) {
    uint8_t *bits = portable + r * ensemble->model->portable_bytes;
    const uint8_t *spins = lattice_cpu_block(storage, m, first + r);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
    for (size_t i = 0; i < sites; i += 8) {
      uint32_t byte = 0;
      for (size_t j = i; j < i + 8 && j < sites; j++) {
        const struct ising_tiled_site site = ising_tiled_site(geometry, j);
        byte |= (uint32_t)spins[ising_tiled_byte(geometry, site)] << j % 8;
      }
      bits[i / 8] = (uint8_t)byte;
    }
  }
  return GPUMC_OK;
}

/* Measures tile number i of a replica, of both halves. */
static struct ising_tiled_sums
measure_tile(const struct gpumc_ensemble *ensemble, const uint32_t *words, uint32_t i, bool waves)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_tiled_own *own = storage->own;
  const struct ising_tiled_geometry *geometry = &own->geometry;
  const struct ising_tiled_scratch scratch = ising_tiled_scratch_of(ensemble);
  const struct ising_tiled_tile tile = ising_tiled_tile(geometry, i % 2, i / 2);
  struct ising_tiled_sums sums = {0};
  ising_tiled_load(geometry, words, tile, &scratch);
  GPUMC_ISA_OBJECT(ising_tiled, storage->isa)->count(geometry, &own->masks, &scratch, &sums);
  for (uint32_t j = 0; waves && j < 2 * geometry->words; j++) {
    const uint32_t colour = j / geometry->words, word = j % geometry->words;
    ising_tiled_add_waves(geometry, &own->waves, tile, scratch.spins[colour][word], colour,
                          word / geometry->row_words, word % geometry->row_words, &sums);
  }
  return sums;
}

/* Measures one replica; threads share its tiles. */
static struct ising_tiled_sums measure_replica(const struct gpumc_ensemble *ensemble,
                                               const struct lattice_cpu_place *place, bool waves)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const uint32_t n_tiles = ising_tiled_own_of(ensemble)->geometry.n_tiles;
  struct ising_tiled_sums sums = {0};
  int64_t up = 0, unlike = 0, *cosine = sums.cosine, *sine = sums.sine;
#pragma omp parallel for schedule(static) num_threads(storage->threads)                            \
    reduction(+ : up, unlike, cosine[ : ISING_TILED_AXES], sine[ : ISING_TILED_AXES])
  for (uint32_t i = 0; i < n_tiles; i++) {
    const struct ising_tiled_sums of_tile = measure_tile(ensemble, place->data, i, waves);
    up += of_tile.up;
    unlike += of_tile.unlike;
    for (uint32_t axis = 0; axis < ISING_TILED_AXES; axis++) {
      cosine[axis] += of_tile.cosine[axis];
      sine[axis] += of_tile.sine[axis];
    }
  }
  sums.up = up;
  sums.unlike = unlike;
  return sums;
}

static void record(const struct gpumc_ensemble *ensemble, const struct ising_tiled_sums *sums,
                   size_t at, int64_t *const *channel)
{
  const struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  if (channel[ISING_ENERGY] != NULL)
    channel[ISING_ENERGY][at] = ising_tiled_energy(&own->geometry, parameters->coupling_quanta,
                                                   parameters->field_quanta, sums);
  if (channel[ISING_MAGNETIZATION] != NULL)
    channel[ISING_MAGNETIZATION][at] = ising_tiled_spins(&own->geometry, sums);
  if (channel[ISING_WAVE] != NULL)
    channel[ISING_WAVE][at] = lattice_wave_square(&own->waves.wave, sums->cosine, sums->sine);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  for (size_t i = 0; i < lattice_cpu_places(ensemble); i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count == 0)
      continue;
    const struct ising_tiled_sums sums =
        measure_replica(ensemble, &place, channel[ISING_WAVE] != NULL);
    record(ensemble, &sums, i, channel);
  }
  return GPUMC_OK;
}

/* Updates one half of the tiles of all replicas. */
static void do_visit(const struct gpumc_ensemble *ensemble, const struct ising_tiled_visit *visit)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_tiled_own *own = storage->own;
  const struct ising_tiled_ops *ops = GPUMC_ISA_OBJECT(ising_tiled, storage->isa);
  const uint32_t blocks = own->generator.blocks;
  const size_t count = lattice_cpu_places(ensemble) * blocks;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < count; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i / blocks);
    if (place.count == 0)
      continue;
    const struct ising_tiled_work work = {
        .geometry = &own->geometry,
        .generator = &own->generator,
        .masks = &own->masks,
        .rule = &own->rule[place.run],
        .random = gpumc_ensemble_random(ensemble, place.run),
        .replica = place.number,
        .time = ensemble->time,
        .words = place.data,
        .state = ising_tiled_state(ensemble, place.run, place.first),
    };
    ops->visit(&work, visit, (uint32_t)(i % blocks), ising_tiled_scratch_of(ensemble));
  }
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  const struct ising_tiling tiling = ising_tiling_of(&ensemble->plan.options);
  struct ising_tiled_visit visit;
  for (size_t m = 0; m < ensemble->runs && sweeps > 0; m++)
    own->rule[m] = ising_tiled_rule(ensemble->model, ensemble->plan.move,
                                    ising_controls_of(target->control, m));
  for (uint32_t v = 0; ising_tiled_visit(&tiling, sweeps, v, &visit); v++)
    do_visit(ensemble, &visit);
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.capacity * ising_tiled_own_of(ensemble)->state_words * sizeof(uint32_t);
}

static enum gpumc_status
get_state(struct gpumc_ensemble *ensemble, size_t m, uint8_t *state, struct gpumc_error *error)
{
  (void)error;
  memcpy(state, ising_tiled_state(ensemble, m, 0), state_bytes(ensemble));
  return GPUMC_OK;
}

static enum gpumc_status set_state(struct gpumc_ensemble *ensemble, size_t m, const uint8_t *state,
                                   struct gpumc_error *error)
{
  (void)error;
  memcpy(ising_tiled_state(ensemble, m, 0), state, state_bytes(ensemble));
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_tiled_cpu = {
    ISING_TILED_NAMES,
    .device = "cpu",
    .bytes = bytes,
    .create = create,
    .destroy = lattice_cpu_destroy,
    .start = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .state_bytes = state_bytes,
    .get_state = get_state,
    .set_state = set_state,
};
