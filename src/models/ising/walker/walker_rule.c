/* The walker kernel: the host's preparation of a table of weights. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/walker/walker.h"

/* Changes of energy and magnetization by a flip in a class, in quanta: E = - sum of J s s. If
 * couplings have signs of their own, likeness is counted relative to these. */
struct change {
  int64_t energy, magnetization;
};

static struct change change_of(const struct gpumc_model *model, uint32_t like, uint32_t up)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const int64_t neighbours = 2 * (int64_t)parameters->lattice.dimension;
  const int64_t quanta = (int64_t)rint(parameters->coupling_quanta);
  const int64_t coupling = parameters->disorder != NULL ? llabs(quanta) : quanta;
  return (struct change){2 * coupling * (2 * (int64_t)like - neighbours), up ? -2 : 2};
}

/* Returns whether a flip in any class moves a replica by whole levels, `from` there and `like` and
 * `up` more for each. */
static bool find_steps(const struct gpumc_model *model, struct ising_walk *walk)
{
  const struct change none = change_of(model, 0, 0), one = change_of(model, 1, 0);
  const bool by_energy = walk->channel == ISING_ENERGY;
  const int64_t base = by_energy ? none.energy : none.magnetization;
  const int64_t like = by_energy ? one.energy - none.energy : 0, up = by_energy ? 0 : -4;
  if (base % walk->spacing != 0 || like % walk->spacing != 0 || up % walk->spacing != 0)
    return false;
  walk->step_base = (int32_t)(base / walk->spacing);
  walk->step_like = (int32_t)(like / walk->spacing);
  walk->step_up = (int32_t)(up / walk->spacing);
  return true;
}

static void
fill_level(const struct gpumc_model *model, const struct ising_walk *walk, size_t run, size_t level)
{
  const int64_t *weight = walk->log_weight + run * walk->levels;
  uint32_t *threshold = walk->threshold + (run * walk->levels + level) * walk->stride;
  for (uint32_t c = 0; c < walk->stride; c++) {
    const uint32_t like = c % ISING_WALKER_LIKE, up = c / ISING_WALKER_LIKE;
    const struct change change = change_of(model, like, up);
    const int64_t to = (int64_t)level + walk->step_base + walk->step_like * (int64_t)like +
                       walk->step_up * (int64_t)up;
    const bool inside = to >= 0 && to < (int64_t)walk->levels && weight[level] != GPUMC_WEIGHT_NONE;
    threshold[c] = inside ? ising_walker_threshold(&walk->canonical[run], weight[level], weight[to],
                                                   change.energy, change.magnetization)
                          : 0;
  }
}

static enum gpumc_status make_canonical(const struct gpumc_ensemble *ensemble,
                                        const struct gpumc_target *target, struct ising_walk *walk,
                                        struct gpumc_error *error)
{
  const struct gpumc_model *model = ensemble->model;
  GPUMC_TRY(gpumc_allocate_array(&walk->canonical, ensemble->runs, "weights of the runs", error));
  for (size_t m = 0; m < ensemble->runs; m++)
    walk->canonical[m] =
        lattice_walk_canonical_of(model, target, m, ISING_ENERGY, ISING_MAGNETIZATION);
  return GPUMC_OK;
}

enum gpumc_status ising_walk_make(const struct gpumc_ensemble *ensemble,
                                  const struct gpumc_target *target, struct ising_walk *walk,
                                  struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct gpumc_weight_table *table = target->table;
  *walk = (struct ising_walk){.levels = table->levels,
                              .channel = table->channel,
                              .lowest = table->lowest,
                              .spacing = table->spacing,
                              .log_weight = table->log_weight};
  walk->stride = table->channel == ISING_ENERGY && target->control == NULL ? ISING_WALKER_LIKE
                                                                           : ISING_WALKER_CLASSES;
  if (table->channel != ISING_ENERGY && table->channel != ISING_MAGNETIZATION)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "kernel walker: weights depend on the energy or the magnetization, not on the %s",
        ising_channels[table->channel].label.name);
  if (ensemble->plan.samples > 1 && !ensemble->plan.sample_by_run)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "kernel walker: each run has one sample of the disorder");
  GPUMC_TRY(make_canonical(ensemble, target, walk, error));
  walk->tabled = parameters->plain && find_steps(ensemble->model, walk);
  if (!walk->tabled)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate(ensemble->runs * walk->levels, walk->stride * sizeof *walk->threshold,
                           "acceptance thresholds", (void **)&walk->threshold, error));
  const int threads = ensemble->device->threads;
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t level = 0; level < walk->levels; level++)
      if (table->steps[m] > 0)
        fill_level(ensemble->model, walk, m, level);
  return GPUMC_OK;
}

void ising_walk_free(struct ising_walk *walk)
{
  free(walk->threshold);
  free(walk->canonical);
}
