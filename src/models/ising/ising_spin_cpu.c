/* The spin kernel on the CPU: one byte a spin, threads over replicas. */
#include <assert.h>
#include <string.h>

#include "models/ising/ising_cpu.h"
#include "models/ising/ising_spin.h"

/* A block is one replica, spins[position], 0 or 1. */
static void set_replica(const struct gpumc_model *model, void *block,
                        const uint8_t *const portable[ISING_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  uint8_t *spins = block;
  const uint8_t *bits = portable[0];
  for (size_t i = 0; i < model->sites; i++)
    spins[gpumc_checkerboard_position(lattice, i)] = bits[i / 8] >> i % 8 & 1;
}

static void get_replica(const struct gpumc_model *model, const void *block,
                        uint8_t *const portable[ISING_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const uint8_t *spins = block;
  uint8_t *bits = portable[0];
  memset(bits, 0, model->portable_bytes);
  for (size_t i = 0; i < model->sites; i++) {
    const uint32_t spin = spins[gpumc_checkerboard_position(lattice, i)];
    bits[i / 8] = (uint8_t)(bits[i / 8] | spin << i % 8);
  }
}

static void measure_replica(const struct gpumc_ensemble *ensemble,
                            const struct ising_cpu_place *place, int64_t *const *channel)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_spin_ops *ops = ISING_CPU_OPS(ising_spin, storage->isa);
  struct ising_spin_sums sums;
  ops->measure(&ising_parameters(ensemble->model)->lattice, place->data, ising_cpu_scratch(storage),
               &sums);
  ising_cpu_record(ensemble, channel, place->run, place->first, sums.up, sums.unsatisfied);
}

static const struct ising_cpu_layout layout = {
    .replicas = 1,
    .site_bytes = sizeof(uint8_t),
    .buffers = 1,
    .scratch_bytes = ising_spin_scratch,
    .set = set_replica,
    .get = get_replica,
    .measure = measure_replica,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return ising_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ising_cpu_create(&layout, ensemble, error);
}

static void
randomize_replica(const struct gpumc_ensemble *ensemble, const struct ising_cpu_place *place)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites;
  uint8_t *spins = place->data;
  for (size_t first = 0; first < sites; first += 128) {
    uint32_t word[4];
    const size_t n = sites - first < 128 ? sites - first : 128;
    gpumc_random_draw(random, (uint32_t)(first / 128), (uint32_t)place->first, 0, label, word);
    for (size_t i = 0; i < n; i++)
      spins[first + i] = word[i / 32] >> i % 32 & 1;
  }
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const size_t places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    if (place.count > 0)
      randomize_replica(ensemble, &place);
  }
  return GPUMC_OK;
}

/* beta: NULL where there are no sweeps. */
static struct ising_spin_rule
rule_of(const struct gpumc_ensemble *ensemble, size_t run, const double *beta)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  return ising_spin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, run),
                         beta != NULL ? beta[run] : 0.0, parameters->coupling, parameters->field);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_spin_ops *ops = ISING_CPU_OPS(ising_spin, storage->isa);
  const struct ising_spin_rule of_first_run = rule_of(ensemble, 0, beta);
  const size_t places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    struct ising_spin_rule rule = of_first_run;
    if (place.count == 0)
      continue;
    if (sweeps > 0 && beta[place.run] != beta[0])
      rule = rule_of(ensemble, place.run, beta);
    rule.random = gpumc_ensemble_random(ensemble, place.run);
    ops->sweep(&rule, place.data, (uint32_t)place.first, ensemble->time, sweeps,
               ising_cpu_scratch(storage));
    if (channel != NULL)
      measure_replica(ensemble, &place, channel);
  }
  return GPUMC_OK;
}

/* Parents do not change place, so that no replica is both read and written. */
static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  (void)error;
  struct ising_cpu_storage *storage = ensemble->storage;
  const size_t places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 64) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    const size_t from = parent[place.run * ensemble->plan.capacity + place.first];
    if (place.count > 0 && from != place.first)
      memcpy(place.data, ising_cpu_block(storage, place.run, from), storage->block_bytes);
  }
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_spin_cpu = {
    .device = "cpu",
    .variant = "spin",
    .summary = "one byte and one 32-bit random number a spin",
    .trajectory = "ising.spin.1",
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
