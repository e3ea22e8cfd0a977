/* The multispin kernel on the CPU: groups of 32 replicas, one bit each, threads over groups.
 *
 * There are two buffers of words. `gather` reads the one and writes the other, so that no thread
 * reads a word that another one writes; everything else works in place. */
#include <assert.h>

#include "models/ising2d/ising2d_cpu.h"
#include "models/ising2d/ising2d_multispin.h"
#include "models/lattice/bit_matrix.h"

/* Where the sites i .. i+31, in site order, stand in a group; returns how many there are. */
static size_t positions(const struct gpumc_checkerboard *lattice, size_t i, size_t position[32])
{
  const size_t sites = 2 * lattice->colour, n = sites - i < 32 ? sites - i : 32;
  for (size_t j = 0; j < n; j++)
    position[j] = gpumc_checkerboard_position(lattice, (i + j) % lattice->length_x,
                                              (i + j) / lattice->length_x);
  return n;
}

static void set_group(const struct gpumc_model *model, void *block,
                      const uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  uint32_t *words = block, lanes = 0;
  for (size_t lane = 0; lane < ISING2D_LANES; lane++)
    lanes |= (uint32_t)(portable[lane] != NULL) << lane;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        row[lane] |= (uint32_t)portable[lane][i / 8 + b] << 8 * b;
    gpumc_bit_transpose(row);
    for (size_t j = 0; j < n; j++)
      words[position[j]] = (words[position[j]] & ~lanes) | (row[j] & lanes);
  }
}

static void get_group(const struct gpumc_model *model, const void *block,
                      uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  const uint32_t *words = block;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t j = 0; j < n; j++)
      row[j] = words[position[j]];
    gpumc_bit_transpose(row);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        portable[lane][i / 8 + b] = (uint8_t)(row[lane] >> 8 * b);
  }
}

static size_t scratch_bytes(const struct gpumc_checkerboard *lattice)
{
  return sizeof(uint32_t) * ising2d_multispin_scratch(lattice);
}

static void measure_group(const struct gpumc_ensemble *ensemble,
                          const struct ising2d_cpu_place *place, int64_t *const *channel)
{
  const struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  struct ising2d_multispin_sums sums;
  ops->measure(&ising2d_parameters(ensemble->model)->lattice, place->data,
               ising2d_cpu_scratch(storage), &sums);
  for (size_t lane = 0; lane < place->count; lane++)
    ising2d_cpu_record(ensemble, channel, place->run, place->first + lane, sums.up[lane],
                       sums.unsatisfied[lane]);
}

/* A block is a group, words[position]. */
static const struct ising2d_cpu_layout layout = {
    .replicas = ISING2D_LANES,
    .site_bytes = sizeof(uint32_t),
    .buffers = 2,
    .scratch_bytes = scratch_bytes,
    .set = set_group,
    .get = get_group,
    .measure = measure_group,
};

static_assert((int)ISING2D_LANES <= (int)ISING2D_CPU_BLOCK, "a group is a block");

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  return ising2d_cpu_bytes(&layout, model, device, runs, capacity);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ising2d_cpu_create(&layout, ensemble, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites, places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.run);
    uint32_t *words = place.data;
    for (size_t w = 0; w < sites && place.count > 0; w += 4)
      gpumc_random_draw(random, (uint32_t)(w >> 2), (uint32_t)place.block, 0, label, words + w);
  }
  return GPUMC_OK;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_multispin_rule of_first_run =
      ising2d_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, 0), beta,
                             parameters->coupling, parameters->field);
  const size_t places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    struct ising2d_multispin_rule rule = of_first_run;
    if (place.count == 0)
      continue;
    rule.random = gpumc_ensemble_random(ensemble, place.run);
    ops->sweep(&rule, place.data, (uint32_t)place.block, ensemble->time, sweeps,
               ising2d_cpu_scratch(storage));
    if (channel != NULL)
      measure_group(ensemble, &place, channel);
  }
  return GPUMC_OK;
}

/* The replicas of a group that are copied; returns how many. parent: of the run. */
static size_t copies_of(const struct ising2d_cpu_storage *storage, const uint32_t *parent,
                        const struct ising2d_cpu_place *place, struct ising2d_multispin_copy *copy)
{
  size_t n = 0;
  for (size_t lane = 0; lane < place->count; lane++) {
    const size_t from = parent[place->first + lane];
    if (from == place->first + lane)
      continue;
    copy[n].source = ising2d_cpu_block(storage, place->run, from / ISING2D_LANES);
    copy[n].rotation = (uint32_t)(lane - from) % ISING2D_LANES;
    copy[n++].lane = (uint32_t)lane;
  }
  return n;
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  const size_t sites = ensemble->model->sites, places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    struct ising2d_multispin_copy copy[ISING2D_LANES];
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    if (place.count == 0)
      continue;
    const size_t n = copies_of(storage, parent + place.run * ensemble->capacity, &place, copy);
    ops->gather((uint32_t *)storage->spare + i * sites, place.data, sites, copy, n);
  }
  void *gathered = storage->spare;
  storage->spare = storage->blocks;
  storage->blocks = gathered;
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising2d_multispin_cpu = {
    .device = "cpu",
    .variant = "multispin",
    .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis",
    .trajectory = "ising2d.multispin.1",
    .capabilities = ISING2D_CPU_CAPABILITIES,
    .bytes = bytes,
    .create = create,
    .destroy = ising2d_cpu_destroy,
    .randomize = randomize,
    .set = ising2d_cpu_set,
    .get = ising2d_cpu_get,
    .sweep = sweep,
    .measure = ising2d_cpu_measure,
    .gather = gather,
};
