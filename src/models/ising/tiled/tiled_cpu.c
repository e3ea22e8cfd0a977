/* The tiled kernel on the CPU: threads over the tiles of one half at a time. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising/ising_cpu.h"
#include "models/ising/tiled/tiled.h"
#include "models/ising/tiled/tiled_isa.h"
#include "models/ising/tiled/tiled_measure.h"
#include "models/ising/tiled/tiled_names.h"

/* gpumc_ensemble.storage: words[runs][capacity][replica_words], the same of the states of
 * generators, scratch[threads][scratch_words], rule[runs] of the present call. */
struct tiled_storage {
  struct ising_tiled_geometry geometry;
  struct ising_tiled_generator generator;
  enum gpumc_isa isa;
  int threads;
  size_t replica_words, state_words, scratch_words;
  uint32_t *words, *state, *scratch;
  struct ising_tiled_rule *rule;
  struct ising_tiled_waves waves;
  int32_t *tables; /* cosine, then sine */
};

/* Replica r of run m. */
struct place {
  size_t m, r;
};

static struct place place_of(const struct gpumc_ensemble *ensemble, size_t i)
{
  return (struct place){i / ensemble->plan.capacity, i % ensemble->plan.capacity};
}

static size_t index_of(const struct gpumc_ensemble *ensemble, struct place place)
{
  return place.m * ensemble->plan.capacity + place.r;
}

static uint32_t *words_of(const struct gpumc_ensemble *ensemble, struct place place)
{
  const struct tiled_storage *storage = ensemble->storage;
  return storage->words + index_of(ensemble, place) * storage->replica_words;
}

static uint32_t *state_of(const struct gpumc_ensemble *ensemble, struct place place)
{
  const struct tiled_storage *storage = ensemble->storage;
  return storage->state + index_of(ensemble, place) * storage->state_words;
}

/* The calling thread's. */
static struct ising_tiled_scratch scratch_of(const struct tiled_storage *storage)
{
  return ising_tiled_scratch_at(
      &storage->geometry, storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_words);
}

static int threads_of(const struct gpumc_device *device)
{
  return device->threads < 1 ? 1 : device->threads;
}

/* All sizes that follow from the plan; nothing is allocated. */
static struct tiled_storage layout_of(const struct gpumc_model *model,
                                      const struct gpumc_device *device,
                                      const struct gpumc_ensemble_plan *plan)
{
  enum { LINE_WORDS = 16 };
  struct tiled_storage storage = {.isa = device->isa, .threads = threads_of(device)};
  storage.geometry = ising_tiled_geometry(model, &plan->tiling);
  storage.generator = ising_tiled_generator(&storage.geometry, plan->tiling.generator);
  storage.replica_words = ising_tiled_replica_words(&storage.geometry);
  storage.state_words = (size_t)storage.generator.blocks * storage.generator.block_words;
  const size_t words = ising_tiled_scratch_words(&storage.geometry, &storage.generator);
  storage.scratch_words = (words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
  storage.waves.wave = ising_wave_of(model);
  return storage;
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  const struct tiled_storage storage = layout_of(model, device, plan);
  const size_t replicas = plan->runs * plan->capacity;
  return (replicas * (storage.replica_words + storage.state_words) +
          (size_t)storage.threads * storage.scratch_words + 2 * storage.waves.wave.length) *
             sizeof(uint32_t) +
         plan->runs * sizeof *storage.rule;
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct tiled_storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  free(storage->words);
  free(storage->state);
  free(storage->scratch);
  free(storage->rule);
  free(storage->tables);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status allocate(const struct gpumc_ensemble *ensemble,
                                  struct tiled_storage *storage, struct gpumc_error *error)
{
  const size_t replicas = ensemble->plan.runs * ensemble->plan.capacity;
  enum gpumc_status status =
      gpumc_allocate(replicas, storage->replica_words * sizeof *storage->words, "replicas",
                     (void **)&storage->words, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate(replicas, (storage->state_words + 1) * sizeof *storage->state,
                            "states of generators", (void **)&storage->state, error);
  if (status == GPUMC_OK)
    status =
        gpumc_allocate((size_t)storage->threads, storage->scratch_words * sizeof *storage->scratch,
                       "scratch of the threads", (void **)&storage->scratch, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&storage->rule, ensemble->plan.runs, "rules of the runs", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&storage->tables, 2 * (size_t)storage->waves.wave.length,
                                  "tables of waves", error);
  return status;
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct tiled_storage *storage;
  const char *refusal = ising_tiled_refuses(ensemble->model, &ensemble->plan.tiling);
  if (refusal != NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "kernel tiled: %s", refusal);
  enum gpumc_status status = gpumc_allocate_array(&storage, 1, "an ensemble", error);
  if (status != GPUMC_OK)
    return status;
  *storage = layout_of(ensemble->model, ensemble->device, &ensemble->plan);
  ensemble->storage = storage;
  status = allocate(ensemble, storage, error);
  if (status != GPUMC_OK) {
    destroy(ensemble);
    return status;
  }
  storage->waves.cosine = storage->tables;
  storage->waves.sine = storage->tables + storage->waves.wave.length;
  ising_wave_table(&storage->waves.wave, storage->tables,
                   storage->tables + storage->waves.wave.length);
  return GPUMC_OK;
}

static void randomize_replica(const struct gpumc_ensemble *ensemble, struct place place)
{
  const struct tiled_storage *storage = ensemble->storage;
  const struct ising_tiled_geometry *geometry = &storage->geometry;
  const struct ising_tiled_generator *generator = &storage->generator;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.m);
  uint8_t *spins = (uint8_t *)words_of(ensemble, place);
  uint32_t *state = state_of(ensemble, place);
  const uint32_t replica = (uint32_t)place.r, elements = ising_tiled_elements(generator);
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
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < ensemble->size[m]; r++)
      randomize_replica(ensemble, (struct place){m, r});
  return GPUMC_OK;
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  const struct tiled_storage *storage = ensemble->storage;
  for (size_t r = 0; r < count; r++) {
    const uint8_t *bits = portable + r * ensemble->model->portable_bytes;
    uint8_t *spins = (uint8_t *)words_of(ensemble, (struct place){m, first + r});
#pragma omp parallel for schedule(static) num_threads(storage->threads)
    for (size_t i = 0; i < ensemble->model->sites; i++)
      spins[ising_tiled_byte(&storage->geometry, ising_tiled_site(&storage->geometry, i))] =
          bits[i / 8] >> i % 8 & 1;
  }
  return GPUMC_OK;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  const struct tiled_storage *storage = ensemble->storage;
  const size_t sites = ensemble->model->sites;
  for (size_t r = 0; r < count; r++) {
    uint8_t *bits = portable + r * ensemble->model->portable_bytes;
    const uint8_t *spins = (const uint8_t *)words_of(ensemble, (struct place){m, first + r});
#pragma omp parallel for schedule(static) num_threads(storage->threads)
    for (size_t i = 0; i < sites; i += 8) {
      uint32_t byte = 0;
      for (size_t j = i; j < i + 8 && j < sites; j++) {
        const struct ising_tiled_site site = ising_tiled_site(&storage->geometry, j);
        byte |= (uint32_t)spins[ising_tiled_byte(&storage->geometry, site)] << j % 8;
      }
      bits[i / 8] = (uint8_t)byte;
    }
  }
  return GPUMC_OK;
}

static void
measure_replica(const struct gpumc_ensemble *ensemble, struct place place, int64_t *const *channel)
{
  const struct tiled_storage *storage = ensemble->storage;
  const struct ising_tiled_geometry *geometry = &storage->geometry;
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const bool waves = channel[ISING_WAVE] != NULL;
  const uint32_t *words = words_of(ensemble, place);
  struct ising_tiled_sums sums = {0};
  int64_t up = 0, unlike = 0, *cosine = sums.cosine, *sine = sums.sine;
#pragma omp parallel for schedule(static) num_threads(storage->threads)                            \
    reduction(+ : up, unlike, cosine[ : ISING_TILED_AXES], sine[ : ISING_TILED_AXES])
  for (uint32_t i = 0; i < geometry->n_tiles; i++) {
    const struct ising_tiled_scratch scratch = scratch_of(storage);
    const uint32_t half = i % 2;
    const struct ising_tiled_tile tile = ising_tiled_tile(geometry, half, i / 2);
    struct ising_tiled_sums of_tile = {0};
    ising_tiled_load(geometry, words, tile, scratch.copy);
    for (uint32_t j = 0; j < 2 * geometry->words; j++) {
      const uint32_t colour = j / geometry->words, word = j % geometry->words;
      const uint32_t l = word / geometry->row_words, w = word % geometry->row_words;
      ising_tiled_count(geometry, scratch.copy[colour], scratch.copy[1 - colour], colour, l, w,
                        &of_tile);
      if (waves)
        ising_tiled_add_waves(geometry, &storage->waves, tile, scratch.copy[colour], colour, l, w,
                              &of_tile);
    }
    up += of_tile.up;
    unlike += of_tile.unlike;
    for (uint32_t axis = 0; axis < ISING_TILED_AXES; axis++) {
      cosine[axis] += of_tile.cosine[axis];
      sine[axis] += of_tile.sine[axis];
    }
  }
  sums.up = up;
  sums.unlike = unlike;
  const size_t at = index_of(ensemble, place);
  if (channel[ISING_ENERGY] != NULL)
    channel[ISING_ENERGY][at] =
        ising_tiled_energy(geometry, parameters->coupling_quanta, parameters->field_quanta, &sums);
  if (channel[ISING_MAGNETIZATION] != NULL)
    channel[ISING_MAGNETIZATION][at] = ising_tiled_spins(geometry, &sums);
  if (waves)
    channel[ISING_WAVE][at] = ising_wave_square(&storage->waves.wave, sums.cosine, sums.sine);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < ensemble->size[m]; r++)
      measure_replica(ensemble, (struct place){m, r}, channel);
  return GPUMC_OK;
}

/* One half of the tiles of all replicas. */
static void do_visit(const struct gpumc_ensemble *ensemble, const struct ising_tiled_visit *visit)
{
  const struct tiled_storage *storage = ensemble->storage;
  const struct ising_tiled_ops *ops = ISING_CPU_OPS(ising_tiled, storage->isa);
  const uint32_t blocks = storage->generator.blocks;
  const size_t count = ensemble->runs * ensemble->plan.capacity * blocks;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < count; i++) {
    const struct place place = place_of(ensemble, i / blocks);
    if (place.r >= ensemble->size[place.m])
      continue;
    const struct ising_tiled_work work = {.geometry = &storage->geometry,
                                          .generator = &storage->generator,
                                          .rule = &storage->rule[place.m],
                                          .random = gpumc_ensemble_random(ensemble, place.m),
                                          .replica = (uint32_t)place.r,
                                          .time = ensemble->time,
                                          .words = words_of(ensemble, place),
                                          .state = state_of(ensemble, place)};
    ops->visit(&work, visit, (uint32_t)(i % blocks), scratch_of(storage));
  }
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  struct tiled_storage *storage = ensemble->storage;
  struct ising_tiled_visit visit;
  for (size_t m = 0; m < ensemble->runs && sweeps > 0; m++)
    storage->rule[m] = ising_tiled_rule(ensemble->model, ensemble->plan.update, beta[m]);
  for (uint32_t v = 0; ising_tiled_visit(&ensemble->plan.tiling, sweeps, v, &visit); v++)
    do_visit(ensemble, &visit);
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  const struct tiled_storage *storage = ensemble->storage;
  return ensemble->plan.capacity * storage->state_words * sizeof *storage->state;
}

static enum gpumc_status
get_state(struct gpumc_ensemble *ensemble, size_t m, uint8_t *state, struct gpumc_error *error)
{
  (void)error;
  memcpy(state, state_of(ensemble, (struct place){m, 0}), state_bytes(ensemble));
  return GPUMC_OK;
}

static enum gpumc_status set_state(struct gpumc_ensemble *ensemble, size_t m, const uint8_t *state,
                                   struct gpumc_error *error)
{
  (void)error;
  memcpy(state_of(ensemble, (struct place){m, 0}), state, state_bytes(ensemble));
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_tiled_cpu = {
    ISING_TILED_NAMES,
    .device = "cpu",
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .randomize = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .state_bytes = state_bytes,
    .get_state = get_state,
    .set_state = set_state,
    .refuses_tiling = ising_tiled_refuses,
};
