/* Population annealing: one temperature step (section 2.1 of the paper). */
#include <math.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/elementary.h"

#define TRY(call)                                                                                  \
  do {                                                                                             \
    enum gpumc_status status_ = (call);                                                            \
    if (status_ != GPUMC_OK)                                                                       \
      return status_;                                                                              \
  } while (0)

enum { BISECTIONS = 30 };

enum gpumc_status pa_measure(struct pa *pa, struct gpumc_error *error)
{
  TRY(pa->context.ensemble->ops->measure(pa->context.ensemble, pa->channel, error));
  pa->measured = true;
  return GPUMC_OK;
}

static enum gpumc_status add_to_histogram(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_model *model = pa->context.model;
  struct gpumc_device *device = pa->context.device;
  if (!pa->settings.reweight)
    return GPUMC_OK;
  size_t stratum = pa->run % pa->settings.strata;
  return device->ops->population->histogram(
      device, pa->channel[0], pa->family, pa->context.ensemble->size, pa->settings.blocks,
      model->lowest, model->spacing, model->levels,
      pa->bins + stratum * pa->settings.blocks * model->levels, error);
}

enum gpumc_status pa_start_run(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  size_t size = pa->settings.population;
  TRY(gpumc_ensemble_randomize(pa->context.ensemble, (uint32_t)pa->run, size, error));
  /* family_sizes doubles as host memory for the founders' labels. */
  for (size_t r = 0; r < size; r++)
    pa->family_sizes[r] = (uint32_t)r;
  TRY(device->ops->copy_to_device(device, pa->family, pa->family_sizes, size * sizeof *pa->family,
                                  error));
  pa->log_partition = pa->context.model->log_states;
  TRY(pa_measure(pa, error));
  TRY(add_to_histogram(pa, error));
  struct pa_step start = {.beta = 0.0, .log_ratio = 0.0, .overlap = 1.0};
  memset(pa->block_weight, 0, pa->settings.blocks * sizeof *pa->block_weight);
  return pa_record(pa, &start, error);
}

/* R w <= 2^62 must hold in the resampling. */
static int weight_shift(size_t capacity)
{
  int bits = 0;
  while (bits < 32 && capacity > (size_t)1 << bits)
    bits++;
  return 62 - bits;
}

/* Weights of the step to `beta`, their sum and the overlap. */
static enum gpumc_status weigh(struct pa *pa, double beta, int64_t reference,
                               struct gpumc_weighing *weighing, uint64_t *total, double *overlap,
                               struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_population_ops *population = device->ops->population;
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  *weighing = (struct gpumc_weighing){
      .step = (beta - pa->schedule.beta[pa->row - 1]) * pa->context.model->quantum[0],
      .reference = reference,
      .shift = weight_shift(ensemble->capacity),
  };
  TRY(population->weigh(device, pa->channel[0], ensemble->size, *weighing, pa->weight, total,
                        error));
  return population->overlap(device, pa->weight, ensemble->size, pa->settings.population, *total,
                             overlap, error);
}

/* The beta whose overlap with the present one is alpha* (section 2.3): bracket by doubling the last
 * step, then bisect. The overlap falls from 1 continuously as beta grows. */
static enum gpumc_status
choose_beta(struct pa *pa, int64_t reference, double *beta, struct gpumc_error *error)
{
  struct gpumc_weighing weighing;
  uint64_t total;
  double overlap;
  double low = pa->schedule.beta[pa->row - 1];
  double end = pa->settings.beta_end;
  double last_step = pa->row >= 2 ? low - pa->schedule.beta[pa->row - 2] : 0.0;
  double high = last_step > 0 ? low + last_step : low + end / 1024.0;
  for (;;) {
    high = high < end ? high : end;
    TRY(weigh(pa, high, reference, &weighing, &total, &overlap, error));
    if (overlap < pa->settings.overlap)
      break;
    if (high >= end) {
      *beta = end;
      return GPUMC_OK;
    }
    low = high;
    high = low + 2.0 * (low - pa->schedule.beta[pa->row - 1]);
  }
  for (int i = 0; i < BISECTIONS; i++) {
    double middle = 0.5 * (low + high);
    TRY(weigh(pa, middle, reference, &weighing, &total, &overlap, error));
    if (overlap < pa->settings.overlap)
      high = middle;
    else
      low = middle;
  }
  if (!(low > pa->schedule.beta[pa->row - 1]))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "at beta = %.17g no step reaches an overlap of %g; use a smaller "
                           "algorithm.beta.overlap or a larger population",
                           pa->schedule.beta[pa->row - 1], pa->settings.overlap);
  *beta = low;
  return GPUMC_OK;
}

static enum gpumc_status resample(struct pa *pa, uint64_t total, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_population_ops *population = device->ops->population;
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  struct gpumc_resampling_request request = {
      .method = pa->settings.resampling,
      .random = gpumc_ensemble_random(ensemble),
      .time = (uint32_t)pa->row,
      .total = total,
      .target = pa->settings.population,
      .capacity = ensemble->capacity,
  };
  size_t size = 0;
  TRY(population->resample(device, pa->weight, ensemble->size, &request, pa->parent, pa->scratch,
                           &size, error));
  TRY(population->inherit(device, pa->family, pa->parent, size, error));
  return ensemble->ops->gather(ensemble, pa->parent, size, error);
}

enum gpumc_status pa_anneal(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_population_ops *population = device->ops->population;
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  struct gpumc_weighing weighing;
  struct pa_step step;
  int64_t least;
  int64_t greatest;
  uint64_t total;
  if (!pa->measured)
    TRY(pa_measure(pa, error));
  TRY(population->extremes(device, pa->channel[0], ensemble->size, &least, &greatest, error));
  if (pa->row == pa->schedule.count) {
    TRY(choose_beta(pa, least, &step.beta, error));
    TRY(pa_schedule_append(&pa->schedule, step.beta, error));
  }
  step.beta = pa->schedule.beta[pa->row];
  TRY(weigh(pa, step.beta, least, &weighing, &total, &step.overlap, error));
  TRY(population->block_weights(device, pa->weight, pa->family, ensemble->size, pa->settings.blocks,
                                pa->block_weight, error));
  /* ln Q (eq. 1): the mean weight, its unit and its reference put back. */
  step.log_ratio = gpumc_log((double)total) - weighing.shift * GPUMC_LN2 -
                   gpumc_log((double)ensemble->size) - weighing.step * (double)least;
  pa->log_partition += step.log_ratio;
  TRY(resample(pa, total, error));
  pa->measured = false;
  TRY(gpumc_ensemble_sweep(ensemble, pa->settings.sweeps, step.beta, error));
  pa->updates += (double)ensemble->size * (double)pa->context.model->sites * pa->settings.sweeps;
  TRY(pa_measure(pa, error));
  TRY(add_to_histogram(pa, error));
  return pa_record(pa, &step, error);
}
