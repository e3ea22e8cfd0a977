#include "models/hard_disks/hard_disks_cpu.h"

#include <stdlib.h>

#include "core/base/memory.h"

static enum gpumc_status start_replica(struct gpumc_ensemble *ensemble, size_t m, size_t r,
                                       int threads, struct gpumc_error *error)
{
  uint8_t *portable = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&portable, ensemble->model->portable_bytes,
                                             "a state to begin with", error));
  GPUMC_TRY_OUT(status, hard_disks_start_state(ensemble->model, &ensemble->plan,
                                               gpumc_ensemble_random(ensemble, m), (uint32_t)r,
                                               threads, portable, error));
  status = ensemble->ops->set(ensemble, m, r, 1, portable, error);
out:
  free(portable);
  return status;
}

/* Keeps the first error that occurs. */
static void keep_error(enum gpumc_status found, const struct gpumc_error *of,
                       enum gpumc_status *status, struct gpumc_error *error)
{
  if (found == GPUMC_OK)
    return;
#pragma omp critical(hard_disks_error)
  if (*status == GPUMC_OK) {
    *status = found;
    *error = *of;
  }
}

enum gpumc_status hard_disks_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
  const bool share = places < (size_t)storage->threads; /* each replica is divided among the
                                                         * threads */
  enum gpumc_status status = GPUMC_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(storage->threads) if (!share)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    struct gpumc_error of = {0};
    if (place.count > 0)
      keep_error(start_replica(ensemble, place.run, place.first, share ? storage->threads : 1, &of),
                 &of, &status, error);
  }
  return status;
}

enum gpumc_status hard_disks_measure_places(struct gpumc_ensemble *ensemble,
                                            hard_disks_work measure, int64_t *const *channel,
                                            struct gpumc_error *error)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
  enum gpumc_status status = GPUMC_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    struct gpumc_error of = {0};
    if (place.count > 0)
      keep_error(measure(ensemble, &place, channel, &of), &of, &status, error);
  }
  return status;
}

enum gpumc_status hard_disks_inspect_places(struct gpumc_ensemble *ensemble,
                                            hard_disks_work measure, struct gpumc_error *error)
{
  int64_t *const nothing[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  return hard_disks_measure_places(ensemble, measure, nothing, error);
}

/* ---- data that kernels keep beside replicas ---- */

size_t hard_disks_own_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return sizeof(struct hard_disks_own) + plan->runs * sizeof(struct hard_disks_volume_rule);
}

enum gpumc_status hard_disks_own_create(const struct gpumc_model *model,
                                        const struct gpumc_ensemble_plan *plan, void *own,
                                        struct gpumc_error *error)
{
  (void)model;
  return gpumc_allocate_array(&((struct hard_disks_own *)own)->rule, plan->runs,
                              "rules of volume moves", error);
}

void hard_disks_own_free(void *own)
{
  free(((struct hard_disks_own *)own)->rule);
}

enum gpumc_status hard_disks_set_rules(struct gpumc_ensemble *ensemble,
                                       const struct gpumc_target *target, uint32_t sweeps,
                                       struct gpumc_error *error)
{
  const struct hard_disks_own *own = hard_disks_own_of(ensemble);
  if (sweeps == 0 || ensemble->plan.move != HARD_DISKS_VOLUME_MOVE)
    return GPUMC_OK;
  return hard_disks_find_rules(ensemble, target, own->rule, error);
}
