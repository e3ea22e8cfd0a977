/* Population annealing: one temperature step (section 2.1 of the paper). */
#include <math.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/elementary.h"

enum { BISECTIONS = 30 };

/* The weights of a step to some beta, as last computed. */
struct weighed {
  struct gpumc_weighing weighing;
  uint64_t total;
  double overlap;
};

enum gpumc_status pa_measure(struct pa *pa, struct gpumc_error *error)
{
  enum gpumc_status status =
      pa->context.ensemble->ops->measure(pa->context.ensemble, pa->channel, error);
  pa->measured = status == GPUMC_OK;
  return status;
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

static enum gpumc_status
measure_and_record(struct pa *pa, const struct pa_step *step, struct gpumc_error *error)
{
  enum gpumc_status status = pa_measure(pa, error);
  if (status == GPUMC_OK)
    status = add_to_histogram(pa, error);
  return status == GPUMC_OK ? pa_record(pa, step, error) : status;
}

enum gpumc_status pa_start_run(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  size_t size = pa->settings.population;
  struct pa_step start = {.beta = 0.0, .log_ratio = 0.0, .overlap = 1.0};
  enum gpumc_status status =
      gpumc_ensemble_randomize(pa->context.ensemble, (uint32_t)pa->run, size, error);
  if (status != GPUMC_OK)
    return status;
  /* family_sizes doubles as host memory for the founders' labels. */
  for (size_t r = 0; r < size; r++)
    pa->family_sizes[r] = (uint32_t)r;
  status = device->ops->copy_to_device(device, pa->family, pa->family_sizes,
                                       size * sizeof *pa->family, error);
  if (status != GPUMC_OK)
    return status;
  pa->log_partition = pa->context.model->log_states;
  memset(pa->block_weight, 0, pa->settings.blocks * sizeof *pa->block_weight);
  return measure_and_record(pa, &start, error);
}

/* R w <= 2^62 must hold in the resampling. */
static int weight_shift(size_t capacity)
{
  int bits = 0;
  while (bits < 32 && capacity > (size_t)1 << bits)
    bits++;
  return 62 - bits;
}

/* Weights of the step to `beta`, their sum and the overlap, eq. 8 with the present population for
 * R: with the target instead it would not tend to 1 for small steps, where the population has
 * grown. */
static enum gpumc_status weigh(struct pa *pa, double beta, int64_t reference,
                               struct weighed *weighed, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_population_ops *population = device->ops->population;
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  weighed->weighing = (struct gpumc_weighing){
      .step = (beta - pa->schedule.beta[pa->row - 1]) * pa->context.model->quantum[0],
      .reference = reference,
      .shift = weight_shift(ensemble->capacity),
  };
  enum gpumc_status status =
      population->weigh(device, pa->channel[0], ensemble->size, weighed->weighing, pa->weight,
                        &weighed->total, error);
  if (status != GPUMC_OK)
    return status;
  return population->overlap(device, pa->weight, ensemble->size, ensemble->size, weighed->total,
                             &weighed->overlap, error);
}

/* A beta above *low whose overlap is below alpha*, or beta_end: doubles the last step. *low follows
 * as far as the overlap suffices. */
static enum gpumc_status bracket(struct pa *pa, int64_t reference, double *low, double *high,
                                 bool *reached, struct gpumc_error *error)
{
  struct weighed weighed = {0};
  const double present = pa->schedule.beta[pa->row - 1];
  double end = pa->settings.beta_end;
  double step = pa->row >= 2 ? present - pa->schedule.beta[pa->row - 2] : end / 1024.0;
  *low = present;
  *reached = false;
  for (;; step *= 2) {
    *high = fmin(present + step, end);
    enum gpumc_status status = weigh(pa, *high, reference, &weighed, error);
    if (status != GPUMC_OK || weighed.overlap < pa->settings.overlap)
      return status;
    *low = *high;
    *reached = *high >= end;
    if (*reached)
      return GPUMC_OK;
  }
}

/* The beta whose overlap with the present one is alpha* (section 2.3), by bisection: the overlap
 * falls from 1 continuously as beta grows. */
static enum gpumc_status
choose_beta(struct pa *pa, int64_t reference, double *beta, struct gpumc_error *error)
{
  struct weighed weighed = {0};
  double low;
  double high;
  bool reached;
  enum gpumc_status status = bracket(pa, reference, &low, &high, &reached, error);
  for (int i = 0; i < BISECTIONS && !reached && status == GPUMC_OK; i++) {
    double middle = 0.5 * (low + high);
    status = weigh(pa, middle, reference, &weighed, error);
    if (weighed.overlap < pa->settings.overlap)
      high = middle;
    else
      low = middle;
  }
  *beta = low;
  if (status == GPUMC_OK && !(low > pa->schedule.beta[pa->row - 1]))
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "at beta = %.17g the next step with an overlap of %g is too small to "
                             "be taken; use a smaller algorithm.beta.overlap",
                             low, pa->settings.overlap);
  return status;
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
  enum gpumc_status status = population->block_weights(
      device, pa->weight, pa->family, ensemble->size, pa->settings.blocks, pa->block_weight, error);
  if (status == GPUMC_OK)
    status = population->resample(device, pa->weight, ensemble->size, &request, pa->parent,
                                  pa->scratch, &size, error);
  if (status == GPUMC_OK)
    status = population->inherit(device, pa->family, pa->parent, size, error);
  return status == GPUMC_OK ? ensemble->ops->gather(ensemble, pa->parent, size, error) : status;
}

/* Choose the temperature and weigh: fills *step and *total. */
static enum gpumc_status
prepare_step(struct pa *pa, struct pa_step *step, uint64_t *total, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  struct weighed weighed = {0};
  int64_t least;
  int64_t greatest;
  enum gpumc_status status = device->ops->population->extremes(
      device, pa->channel[0], ensemble->size, &least, &greatest, error);
  if (status == GPUMC_OK && pa->row == pa->schedule.count) {
    status = choose_beta(pa, least, &step->beta, error);
    if (status == GPUMC_OK)
      status = pa_schedule_append(&pa->schedule, step->beta, error);
  }
  if (status != GPUMC_OK)
    return status;
  step->beta = pa->schedule.beta[pa->row];
  status = weigh(pa, step->beta, least, &weighed, error);
  /* ln Q (eq. 1): the mean weight, its unit and its reference put back. */
  step->log_ratio = gpumc_log((double)weighed.total) - weighed.weighing.shift * GPUMC_LN2 -
                    gpumc_log((double)ensemble->size) - weighed.weighing.step * (double)least;
  step->overlap = weighed.overlap;
  *total = weighed.total;
  return status;
}

enum gpumc_status pa_anneal(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  struct pa_step step = {0};
  uint64_t total;
  enum gpumc_status status = pa->measured ? GPUMC_OK : pa_measure(pa, error);
  if (status == GPUMC_OK)
    status = prepare_step(pa, &step, &total, error);
  if (status == GPUMC_OK)
    status = resample(pa, total, error);
  pa->measured = false;
  if (status == GPUMC_OK)
    status = gpumc_ensemble_sweep(ensemble, pa->settings.sweeps, step.beta, error);
  if (status != GPUMC_OK)
    return status;
  pa->log_partition += step.log_ratio;
  pa->updates += (double)ensemble->size * (double)pa->context.model->sites * pa->settings.sweeps;
  return measure_and_record(pa, &step, error);
}
