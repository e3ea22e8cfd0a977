/* The spin kernel on the CPU: one byte a spin, threads over replicas. */
#include <assert.h>
#include <string.h>

#include "models/ising2d/ising2d_cpu.h"
#include "models/ising2d/ising2d_spin.h"

/* A block is one replica, spins[position], 0 or 1. */
static void set_replica(const struct gpumc_model *model, void *block,
                        const uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
  uint8_t *spins = block;
  const uint8_t *bits = portable[0];
  for (size_t y = 0, i = 0; y < lattice->length_y; y++)
    for (size_t x = 0; x < lattice->length_x; x++, i++)
      spins[gpumc_checkerboard_position(lattice, x, y)] = bits[i / 8] >> i % 8 & 1;
}

static void get_replica(const struct gpumc_model *model, const void *block,
                        uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
  const uint8_t *spins = block;
  uint8_t *bits = portable[0];
  memset(bits, 0, model->portable_bytes);
  for (size_t y = 0, i = 0; y < lattice->length_y; y++)
    for (size_t x = 0; x < lattice->length_x; x++, i++) {
      const uint32_t spin = spins[gpumc_checkerboard_position(lattice, x, y)];
      bits[i / 8] = (uint8_t)(bits[i / 8] | spin << i % 8);
    }
}

static void measure_replica(const struct gpumc_ensemble *ensemble,
                            const struct ising2d_cpu_place *place, int64_t *const *channel)
{
  const struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_spin_ops *ops = ISING2D_CPU_OPS(ising2d_spin, storage->isa);
  struct ising2d_spin_sums sums;
  ops->measure(&ising2d_parameters(ensemble->model)->lattice, place->data,
               ising2d_cpu_scratch(storage), &sums);
  ising2d_cpu_record(ensemble, channel, place->run, place->first, sums.up, sums.unsatisfied);
}

static const struct ising2d_cpu_layout layout = {
    .replicas = 1,
    .site_bytes = sizeof(uint8_t),
    .buffers = 1,
    .scratch_bytes = ising2d_spin_scratch,
    .set = set_replica,
    .get = get_replica,
    .measure = measure_replica,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  return ising2d_cpu_bytes(&layout, model, device, runs, capacity);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ising2d_cpu_create(&layout, ensemble, error);
}

static void
randomize_replica(const struct gpumc_ensemble *ensemble, const struct ising2d_cpu_place *place)
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
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const size_t places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    if (place.count > 0)
      randomize_replica(ensemble, &place);
  }
  return GPUMC_OK;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_spin_ops *ops = ISING2D_CPU_OPS(ising2d_spin, storage->isa);
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_spin_rule of_first_run =
      ising2d_spin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, 0), beta,
                        parameters->coupling, parameters->field);
  const size_t places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    struct ising2d_spin_rule rule = of_first_run;
    if (place.count == 0)
      continue;
    rule.random = gpumc_ensemble_random(ensemble, place.run);
    ops->sweep(&rule, place.data, (uint32_t)place.first, ensemble->time, sweeps,
               ising2d_cpu_scratch(storage));
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
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const size_t places = ising2d_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, 64) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising2d_cpu_place place = ising2d_cpu_place(ensemble, i);
    const size_t from = parent[place.run * ensemble->capacity + place.first];
    if (place.count > 0 && from != place.first)
      memcpy(place.data, ising2d_cpu_block(storage, place.run, from), storage->block_bytes);
  }
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising2d_spin_cpu = {
    .device = "cpu",
    .variant = "spin",
    .summary = "one byte and one 32-bit random number a spin",
    .trajectory = "ising2d.spin.1",
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
