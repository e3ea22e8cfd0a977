/* The multispin kernel on the CPU: groups of 32 replicas, one bit each, threads over groups.
 *
 * There are two buffers of words. `gather` reads the one and writes the other, so that no thread
 * reads a word that another one writes; everything else works in place. */
#include <assert.h>

#include "models/ising/ising_cpu.h"
#include "models/ising/ising_multispin.h"
#include "models/lattice/bit_matrix.h"

/* Where the sites i .. i+31, in site order, stand in a group; returns how many there are. */
static size_t positions(const struct gpumc_checkerboard *lattice, size_t i, size_t position[32])
{
  const size_t sites = 2 * lattice->colour, n = sites - i < 32 ? sites - i : 32;
  for (size_t j = 0; j < n; j++)
    position[j] = gpumc_checkerboard_position(lattice, i + j);
  return n;
}

static void set_group(const struct gpumc_model *model, void *block,
                      const uint8_t *const portable[ISING_CPU_BLOCK])
{
  uint32_t *words = block, lanes = 0;
  for (size_t lane = 0; lane < ISING_LANES; lane++)
    lanes |= (uint32_t)(portable[lane] != NULL) << lane;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising_parameters(model)->lattice, i, position);
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        row[lane] |= (uint32_t)portable[lane][i / 8 + b] << 8 * b;
    gpumc_bit_transpose(row);
    for (size_t j = 0; j < n; j++)
      words[position[j]] = (words[position[j]] & ~lanes) | (row[j] & lanes);
  }
}

static void get_group(const struct gpumc_model *model, const void *block,
                      uint8_t *const portable[ISING_CPU_BLOCK])
{
  const uint32_t *words = block;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising_parameters(model)->lattice, i, position);
    for (size_t j = 0; j < n; j++)
      row[j] = words[position[j]];
    gpumc_bit_transpose(row);
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        portable[lane][i / 8 + b] = (uint8_t)(row[lane] >> 8 * b);
  }
}

static size_t scratch_bytes(const struct gpumc_checkerboard *lattice)
{
  return sizeof(uint32_t) * ising_multispin_scratch(lattice);
}

static void measure_group(const struct gpumc_ensemble *ensemble,
                          const struct ising_cpu_place *place, int64_t *const *channel)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_multispin_ops *ops = ISING_CPU_OPS(ising_multispin, storage->isa);
  struct ising_multispin_sums sums;
  ops->measure(&ising_parameters(ensemble->model)->lattice, place->data, ising_cpu_scratch(storage),
               &sums);
  for (size_t lane = 0; lane < place->count; lane++)
    ising_cpu_record(ensemble, channel, place->run, place->first + lane, sums.up[lane],
                     sums.unsatisfied[lane]);
}

/* A block is a group, words[position]. */
static const struct ising_cpu_layout layout = {
    .replicas = ISING_LANES,
    .site_bytes = sizeof(uint32_t),
    .buffers = 2,
    .scratch_bytes = scratch_bytes,
    .set = set_group,
    .get = get_group,
    .measure = measure_group,
};

static_assert((int)ISING_LANES <= (int)ISING_CPU_BLOCK, "a group is a block");

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return ising_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ising_cpu_create(&layout, ensemble, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites, places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.run);
    uint32_t *words = place.data;
    for (size_t w = 0; w < sites && place.count > 0; w += 4)
      gpumc_random_draw(random, (uint32_t)(w >> 2), (uint32_t)place.block, 0, label, words + w);
  }
  return GPUMC_OK;
}

/* beta: NULL where there are no sweeps. */
static struct ising_multispin_rule
rule_of(const struct gpumc_ensemble *ensemble, size_t run, const double *beta)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  return ising_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, run),
                              beta != NULL ? beta[run] : 0.0, parameters->coupling,
                              parameters->field);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_multispin_ops *ops = ISING_CPU_OPS(ising_multispin, storage->isa);
  const struct ising_multispin_rule of_first_run = rule_of(ensemble, 0, beta);
  const size_t places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    struct ising_multispin_rule rule = of_first_run;
    if (place.count == 0)
      continue;
    if (sweeps > 0 && beta[place.run] != beta[0])
      rule = rule_of(ensemble, place.run, beta);
    rule.random = gpumc_ensemble_random(ensemble, place.run);
    ops->sweep(&rule, place.data, (uint32_t)place.block, ensemble->time, sweeps,
               ising_cpu_scratch(storage));
    if (channel != NULL)
      measure_group(ensemble, &place, channel);
  }
  return GPUMC_OK;
}

/* The replicas of a group that are copied; returns how many. parent: of the run. */
static size_t copies_of(const struct ising_cpu_storage *storage, const uint32_t *parent,
                        const struct ising_cpu_place *place, struct ising_multispin_copy *copy)
{
  size_t n = 0;
  for (size_t lane = 0; lane < place->count; lane++) {
    const size_t from = parent[place->first + lane];
    if (from == place->first + lane)
      continue;
    copy[n].source = ising_cpu_block(storage, place->run, from / ISING_LANES);
    copy[n].rotation = (uint32_t)(lane - from) % ISING_LANES;
    copy[n++].lane = (uint32_t)lane;
  }
  return n;
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_multispin_ops *ops = ISING_CPU_OPS(ising_multispin, storage->isa);
  const size_t sites = ensemble->model->sites, places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    struct ising_multispin_copy copy[ISING_LANES];
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    if (place.count == 0)
      continue;
    const size_t n = copies_of(storage, parent + place.run * ensemble->plan.capacity, &place, copy);
    ops->gather((uint32_t *)storage->spare + i * sites, place.data, sites, copy, n);
  }
  void *gathered = storage->spare;
  storage->spare = storage->blocks;
  storage->blocks = gathered;
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_multispin_cpu = {
    .device = "cpu",
    .variant = "multispin",
    .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis",
    .trajectory = "ising.multispin.1",
    .capabilities = ISING_CPU_CAPABILITIES,
    .bytes = bytes,
    .create = create,
    .destroy = ising_cpu_destroy,
    .randomize = randomize,
    .set = ising_cpu_set,
    .get = ising_cpu_get,
    .sweep = sweep,
    .measure = ising_cpu_measure,
    .gather = gather,
};
