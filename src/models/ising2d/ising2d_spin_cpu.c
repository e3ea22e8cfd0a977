/* The spin kernel on the CPU: one byte a spin, threads over replicas. */
#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_spin.h"

enum { CACHE_LINE = 64 };

/* spins[replica][position], 0 or 1; scratch[thread][scratch_bytes]. */
struct storage {
  const struct ising2d_spin_ops *ops;
  uint8_t *spins, *scratch;
  size_t scratch_bytes;
  int threads;
};

static const struct ising2d_spin_ops *ops_for(enum gpumc_isa isa)
{
#ifdef GPUMC_ISA_X86_64
  if (isa == GPUMC_ISA_LEVEL_V4)
    return &ising2d_spin_v4;
  return isa == GPUMC_ISA_LEVEL_V3 ? &ising2d_spin_v3 : &ising2d_spin_v2;
#else
  (void)isa;
  return &ising2d_spin_portable;
#endif
}

static size_t scratch_bytes(const struct gpumc_model *model)
{
  const size_t scratch = ising2d_spin_scratch(&ising2d_parameters(model)->lattice);
  return (scratch + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t bytes(const struct gpumc_model *model, size_t capacity, int threads)
{
  return capacity * model->sites + (size_t)(threads < 1 ? 1 : threads) * scratch_bytes(model);
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  free(storage->spins);
  free(storage->scratch);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage;
  enum gpumc_status status = gpumc_allocate_array(&storage, 1, "an ensemble", error);
  if (status != GPUMC_OK)
    return status;
  ensemble->storage = storage;
  storage->ops = ops_for(ensemble->device->isa);
  storage->threads = ensemble->device->threads < 1 ? 1 : ensemble->device->threads;
  storage->scratch_bytes = scratch_bytes(ensemble->model);
  status = gpumc_allocate(ensemble->capacity, ensemble->model->sites, "replicas",
                          (void **)&storage->spins, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate((size_t)storage->threads, storage->scratch_bytes,
                            "scratch of the threads", (void **)&storage->scratch, error);
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

static uint8_t *scratch_of_thread(const struct storage *storage)
{
  return storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_bytes;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites, size = ensemble->size;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t replica = 0; replica < size; replica++) {
    uint8_t *spins = storage->spins + replica * sites;
    for (size_t first = 0; first < sites; first += 128) {
      uint32_t word[4];
      const size_t n = sites - first < 128 ? sites - first : 128;
      gpumc_random_draw(random, (uint32_t)(first / 128), (uint32_t)replica, 0, label, word);
      for (size_t i = 0; i < n; i++)
        spins[first + i] = word[i / 32] >> i % 32 & 1;
    }
  }
  return GPUMC_OK;
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  assert(first + count <= ensemble->capacity);
  struct storage *storage = ensemble->storage;
  const struct gpumc_model *model = ensemble->model;
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t r = 0; r < count; r++) {
    uint8_t *spins = storage->spins + (first + r) * model->sites;
    const uint8_t *bits = portable + r * model->portable_bytes;
    for (size_t y = 0, i = 0; y < lattice->length_y; y++)
      for (size_t x = 0; x < lattice->length_x; x++, i++)
        spins[gpumc_checkerboard_position(lattice, x, y)] = bits[i / 8] >> i % 8 & 1;
  }
  return GPUMC_OK;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  assert(first + count <= ensemble->capacity);
  const struct storage *storage = ensemble->storage;
  const struct gpumc_model *model = ensemble->model;
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t r = 0; r < count; r++) {
    const uint8_t *spins = storage->spins + (first + r) * model->sites;
    uint8_t *bits = portable + r * model->portable_bytes;
    memset(bits, 0, model->portable_bytes);
    for (size_t y = 0, i = 0; y < lattice->length_y; y++)
      for (size_t x = 0; x < lattice->length_x; x++, i++) {
        const uint32_t spin = spins[gpumc_checkerboard_position(lattice, x, y)];
        bits[i / 8] = (uint8_t)(bits[i / 8] | spin << i % 8);
      }
  }
  return GPUMC_OK;
}

static enum gpumc_status
sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_spin_rule rule =
      ising2d_spin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble), beta,
                        parameters->coupling, parameters->field);
  const size_t size = ensemble->size, sites = ensemble->model->sites;
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t replica = 0; replica < size; replica++)
    storage->ops->sweep(&rule, storage->spins + replica * sites, (uint32_t)replica, ensemble->time,
                        sweeps, scratch_of_thread(storage));
  return GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const size_t size = ensemble->size, sites = ensemble->model->sites;
#pragma omp parallel for schedule(dynamic, 64) num_threads(storage->threads)
  for (size_t replica = 0; replica < size; replica++) {
    struct ising2d_spin_sums sums;
    storage->ops->measure(&parameters->lattice, storage->spins + replica * sites,
                          scratch_of_thread(storage), &sums);
    const int64_t spins = 2 * sums.up - (int64_t)sites;
    const int64_t bonds = 2 * ((int64_t)sites - sums.unsatisfied);
    if (channel[ISING2D_ENERGY] != NULL)
      channel[ISING2D_ENERGY][replica] =
          ising2d_energy(parameters->coupling_quanta, parameters->field_quanta, bonds, spins);
    if (channel[ISING2D_MAGNETIZATION] != NULL)
      channel[ISING2D_MAGNETIZATION][replica] = spins;
  }
  return GPUMC_OK;
}

/* Parents do not change place, so that no replica is both read and written. */
static enum gpumc_status gather(struct gpumc_ensemble *ensemble, const uint32_t *parent,
                                size_t new_size, struct gpumc_error *error)
{
  (void)error;
  assert(new_size <= ensemble->capacity);
  struct storage *storage = ensemble->storage;
  const size_t sites = ensemble->model->sites;
#pragma omp parallel for schedule(dynamic, 64) num_threads(storage->threads)
  for (size_t replica = 0; replica < new_size; replica++)
    if (parent[replica] != replica)
      memcpy(storage->spins + replica * sites, storage->spins + parent[replica] * sites, sites);
  ensemble->size = new_size;
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising2d_spin_cpu = {
    .device = "cpu",
    .variant = "spin",
    .summary = "one byte and one 32-bit random number a spin",
    .trajectory = "ising2d.spin.1",
    .capabilities = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE |
                    GPUMC_CAN_GATHER,
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .randomize = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .gather = gather,
};
