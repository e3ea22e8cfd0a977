/* The populations of a batch: their memory, the order of their steps, and copying outcomes to the
 * host. */
#include "algorithms/pa/pa_population.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_device.h"
#include "algorithms/pa/pa_parts.h"
#include "core/base/memory.h"

static const struct pa_steps *steps_of(const struct gpumc_device *device)
{
  static const struct pa_steps *const steps[GPUMC_KINDS] = {
      [GPUMC_KIND_CPU] = &pa_steps_cpu, [GPUMC_KIND_CUDA] = &pa_steps_gpu};
  return steps[device->ops->kind];
}

static size_t places_count(const struct pa_population_plan *plan)
{
  return plan->runs * plan->capacity;
}

static size_t bins_count(const struct pa_population_plan *plan)
{
  return plan->strata * plan->blocks * plan->levels;
}

/* ---- memory ---- */

static struct pa_layout layout_make(const struct pa_population_plan *plan)
{
  struct pa_layout layout;
  struct gpumc_tally_plan by_value = {.capacity = pa_plan_whole(plan),
                                      .rows = plan->blocks,
                                      .count = true,
                                      .n_channels = plan->n_channels};
  const struct gpumc_tally_plan by_weight = {
      .capacity = pa_plan_whole(plan),
      .rows = plan->blocks,
      .n_channels = 1,
      .sums = {GPUMC_SUM_FIRST},
      .bound = {gpumc_power_of_two(pa_weight_shift(pa_plan_whole(plan)))}};
  memcpy(by_value.sums, plan->sums, sizeof by_value.sums);
  memcpy(by_value.bound, plan->bound, sizeof by_value.bound);
  gpumc_tally_make(&by_weight, &layout.by_weight);
  gpumc_tally_make(&by_value, &layout.by_value);
  /* Sums have room for the whole; only the values here are added. */
  layout.by_weight.capacity = layout.by_value.capacity = plan->capacity;
  layout.weights = pa_layout_resampled(plan, plan->runs, 0, &layout.resampled);
  layout.reached = layout.weights + plan->runs * layout.by_weight.stride;
  layout.tallied = layout.reached + plan->runs * sizeof(struct pa_reached);
  layout.strangers = layout.tallied + plan->runs * sizeof(struct pa_tallied);
  layout.sums = layout.strangers + sizeof(uint64_t);
  layout.bytes = layout.sums + plan->runs * layout.by_value.stride;
  layout.trial_bytes = pa_layout_resampled(plan, 1, 0, &layout.trial);
  return layout;
}

static size_t record_bytes(const struct pa_layout *layout)
{
  return layout->bytes + layout->trial_bytes;
}

size_t pa_population_replica_bytes(const struct gpumc_device *device,
                                   const struct pa_population_plan *plan)
{
  const struct pa_population *population = NULL;
  const size_t replica = plan->n_channels * sizeof *population->channel[0] +
                         sizeof *population->weight + sizeof *population->parent +
                         sizeof *population->copies + sizeof *population->family;
  return places_count(plan) * replica + device->ops->scan_bytes(places_count(plan));
}

size_t pa_population_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan)
{
  const struct pa_population *population = NULL;
  const struct pa_layout layout = layout_make(plan);
  return pa_population_replica_bytes(device, plan) + bins_count(plan) * sizeof *population->bins +
         record_bytes(&layout) + gpumc_slots_device_bytes(device, layout.bytes);
}

size_t
pa_population_host_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan)
{
  const struct pa_population *population = NULL;
  const size_t block =
      sizeof *population->block_weight + plan->n_channels * sizeof *population->moments;
  return gpumc_slots_host_bytes(device, layout_make(plan).bytes) +
         pa_plan_batch(plan) * plan->blocks * block;
}

static enum gpumc_status
allocate_on_device(struct pa_population *population, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  const struct pa_population_plan *plan = &population->plan;
  const size_t count = places_count(plan);
  for (size_t c = 0; c < plan->n_channels; c++)
    GPUMC_TRY(gpumc_device_array(device, &population->channel[c], count, "measurements", error));
  GPUMC_TRY(gpumc_device_array(device, &population->weight, count, "weights", error));
  GPUMC_TRY(gpumc_device_array(device, &population->parent, count, "parents", error));
  GPUMC_TRY(gpumc_device_array(device, &population->copies, count, "numbers of copies", error));
  GPUMC_TRY(gpumc_device_array(device, &population->family, count, "families", error));
  if (plan->levels > 0)
    GPUMC_TRY(gpumc_device_array(device, &population->bins, bins_count(plan), "energy histograms",
                                 error));
  GPUMC_TRY(gpumc_device_array(device, &population->record, record_bytes(&population->layout),
                               "sums of a population", error));
  return device->ops->allocate(device, device->ops->scan_bytes(count), 1, "scan of a population",
                               &population->scan, error);
}

static enum gpumc_status
allocate_on_host(struct pa_population *population, struct gpumc_error *error)
{
  const struct pa_population_plan *plan = &population->plan;
  const size_t rows = pa_plan_batch(plan) * plan->blocks;
  GPUMC_TRY(gpumc_slots_create(population->device, population->layout.bytes, "outcomes",
                               population->slot, error));
  GPUMC_TRY(gpumc_allocate_array(&population->block_weight, rows, "weights by block", error));
  GPUMC_TRY(
      gpumc_allocate_array(&population->trial, population->layout.trial_bytes, "outcomes", error));
  return gpumc_allocate_array(&population->moments, rows * plan->n_channels, "sums by block",
                              error);
}

enum gpumc_status pa_population_create(struct gpumc_device *device,
                                       const struct pa_population_plan *plan, uint32_t *size,
                                       struct pa_population *population, struct gpumc_error *error)
{
  *population = (struct pa_population){.plan = *plan,
                                       .device = device,
                                       .steps = steps_of(device),
                                       .size = size,
                                       .layout = layout_make(plan)};
  enum gpumc_status status = GPUMC_OK;
  if (population->steps->load != NULL)
    population->steps->load(device);
  GPUMC_TRY_OUT(status, allocate_on_device(population, error));
  GPUMC_TRY_OUT(status, allocate_on_host(population, error));
out:
  if (status != GPUMC_OK)
    pa_population_free(population);
  return status;
}

void pa_population_free(struct pa_population *population)
{
  struct gpumc_device *device = population->device;
  if (device == NULL)
    return;
  pa_parts_free(population);
  gpumc_slots_free(device, population->slot);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, population->channel[c]);
  device->ops->release(device, population->weight);
  device->ops->release(device, population->parent);
  device->ops->release(device, population->copies);
  device->ops->release(device, population->family);
  device->ops->release(device, population->bins);
  device->ops->release(device, population->record);
  device->ops->release(device, population->scan);
  free(population->block_weight);
  free(population->trial);
  free(population->moments);
  memset(population, 0, sizeof *population);
}

/* ---- steps ---- */

/* Clears a part of the record. */
static enum gpumc_status
clear(struct pa_population *population, size_t first, size_t bytes, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  return device->ops->fill(device, population->record + first, 0, bytes, error);
}

static struct gpumc_tally_values values_of(const struct pa_population *population)
{
  struct gpumc_tally_values values = {.runs = population->runs,
                                      .size = population->size,
                                      .label = population->family,
                                      .sums = population->record + population->layout.sums};
  for (size_t c = 0; c < population->plan.n_channels; c++)
    values.channel[c] = population->channel[c];
  return values;
}

enum gpumc_status pa_population_found(struct pa_population *population, struct gpumc_error *error)
{
  const struct pa_work work = pa_population_work(population, population->runs);
  if (work.runs == 0)
    return GPUMC_OK;
  GPUMC_TRY(clear(population, 0, population->layout.reached, error));
  return population->steps->found(population->device, &work, error);
}

static enum gpumc_status tally_by_steps(struct pa_population *population,
                                        const struct pa_tally_work *work,
                                        struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  const struct pa_survey_work *survey = &work->survey;
  const size_t count = population->runs * population->plan.capacity;
  GPUMC_TRY(device->ops->fill(device, work->record, 0, work->cleared, error));
  GPUMC_TRY(
      device->ops->fill(device, population->weight, 0, count * sizeof *population->weight, error));
  GPUMC_TRY(device->ops->tally(device, &work->tally, &work->values, error));
  GPUMC_TRY(population->steps->survey(device, survey, error));
  GPUMC_TRY(pa_parts_share_reaches(population, &survey->population, error));
  return population->steps->families(device, survey, error);
}

/* The tally does not need the weights: their memory holds two words for every family. */
enum gpumc_status pa_population_tally(struct pa_population *population, uint32_t first_run,
                                      bool histogram, struct gpumc_error *error)
{
  const struct pa_population_plan *plan = &population->plan;
  const struct pa_layout *layout = &population->layout;
  const size_t count = population->runs * plan->capacity;
  const struct pa_tally_work work = {
      .survey = {.population = pa_population_work(population, population->runs),
                 .bins = histogram ? population->bins : NULL,
                 .first_run = first_run,
                 .strata = plan->strata,
                 .levels = plan->levels,
                 .lowest = plan->lowest,
                 .spacing = plan->spacing,
                 .members = (uint32_t *)population->weight,
                 .mark = (uint32_t *)population->weight + count},
      .tally = layout->by_value,
      .values = values_of(population),
      .record = population->record + layout->reached,
      .cleared = layout->bytes - layout->reached,
  };
  bool done = population->runs == 0;
  if (!done && population->steps->tally != NULL)
    GPUMC_TRY(population->steps->tally(population->device, &work, &done, error));
  return done ? GPUMC_OK : tally_by_steps(population, &work, error);
}

static struct pa_resample_work resample_work(const struct pa_population *population, size_t runs,
                                             const struct pa_resampling_request *request)
{
  return (struct pa_resample_work){.population = pa_population_work(population, runs),
                                   .request = *request,
                                   .weight_shift =
                                       pa_weight_shift(pa_plan_whole(&population->plan)),
                                   .tally = population->layout.by_weight};
}

enum gpumc_status pa_population_trial(struct pa_population *population, double step,
                                      double *overlap, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  const struct pa_resampling_request request = {.step = step};
  const struct pa_layout *layout = &population->layout;
  uint8_t *record = population->record + layout->bytes;
  struct pa_resample_work work = resample_work(population, 1, &request);
  struct pa_work *on_device = &work.population;
  pa_work_find_resampled(on_device, record, &layout->trial);
  GPUMC_TRY(clear(population, layout->bytes, layout->trial_bytes, error));
  GPUMC_TRY(population->steps->weigh(device, &work, error));
  GPUMC_TRY(pa_parts_share_weights(population, on_device, error));
  GPUMC_TRY(population->steps->copies(device, &work, PA_OVERLAP_ONLY, error));
  GPUMC_TRY(pa_parts_share_copies(population, on_device, error));
  GPUMC_TRY(
      device->ops->copy_to_host(device, population->trial, record, layout->trial_bytes, error));
  struct pa_work found = *on_device;
  pa_work_find_resampled(&found, population->trial, &layout->trial);
  const struct pa_weights weights = pa_weights_of(&found, 0);
  const struct pa_copied copied = pa_copied_of(&found, 0);
  *overlap = pa_overlap(copied.high, copied.low, weights.before, weights.total);
  return GPUMC_OK;
}

enum gpumc_status pa_population_resample(struct pa_population *population,
                                         const struct pa_resampling_request *request,
                                         struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  struct pa_resample_work work = resample_work(population, population->runs, request);
  work.block_weights = population->record + population->layout.weights;
  bool done = false;
  if (population->runs == 0)
    return GPUMC_OK;
  GPUMC_TRY(clear(population, 0, population->layout.reached, error));
  if (population->steps->resample != NULL && request->method == PA_RESAMPLING_NEAREST_INTEGER)
    GPUMC_TRY(population->steps->resample(device, &work, &done, error));
  if (done)
    return GPUMC_OK;
  GPUMC_TRY(population->steps->weigh(device, &work, error));
  GPUMC_TRY(pa_parts_share_weights(population, &work.population, error));
  if (request->method == PA_RESAMPLING_SYSTEMATIC)
    GPUMC_TRY(device->ops->scan(device, population->weight,
                                population->runs * population->plan.capacity, true,
                                population->scan, error));
  GPUMC_TRY(population->steps->copies(device, &work, (int)request->method, error));
  GPUMC_TRY(pa_parts_share_copies(population, &work.population, error));
  GPUMC_TRY(pa_parts_publish_copies(population, error));
  GPUMC_TRY(population->steps->needs(device, &work.population, error));
  return population->steps->places(device, &work.population, error);
}

/* ---- outcomes ---- */

enum gpumc_status
pa_population_publish(struct pa_population *population, size_t slot, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  population->published[slot] = population->runs;
  if (population->runs == 0)
    return GPUMC_OK;
  GPUMC_TRY(device->ops->publish(device, &population->slot[slot], population->record,
                                 population->layout.bytes, error));
  return pa_parts_publish(population, slot, error);
}

void pa_population_point(const struct pa_population *population, size_t m,
                         struct pa_outcome *outcome)
{
  const size_t blocks = population->plan.blocks, n_channels = population->plan.n_channels;
  outcome->block_weight = population->block_weight + m * blocks;
  for (size_t c = 0; c < n_channels; c++)
    outcome->sums[c] = population->moments + (m * n_channels + c) * blocks;
}

/* Reads the findings for run m of the own ones, from a record whose arrays `found` has. */
static void read_outcome(const struct pa_population *population, const uint8_t *record,
                         const struct pa_work *found, size_t m, struct pa_outcome *outcome)
{
  const struct pa_layout *layout = &population->layout;
  const size_t blocks = population->plan.blocks, n_channels = population->plan.n_channels;
  const struct pa_weights weights = pa_weights_of(found, m);
  const struct pa_copied copied = pa_copied_of(found, m);
  const struct pa_tallied *tallied = &found->tallied[m];
  struct gpumc_moment_sums *moments =
      population->moments + (population->first + m) * n_channels * blocks;
  uint64_t *block_weight = population->block_weight + (population->first + m) * blocks;
  /* The channels' sums follow those of the weights in the same memory. */
  gpumc_tally_read(&layout->by_weight, record + layout->weights + m * layout->by_weight.stride,
                   moments);
  for (size_t b = 0; b < blocks; b++)
    block_weight[b] = (uint64_t)moments[b].first;
  gpumc_tally_read(&layout->by_value, record + layout->sums + m * layout->by_value.stride, moments);
  *outcome = (struct pa_outcome){
      .before = weights.before,
      .size = copied.size,
      .reference = found->reference[m],
      .total = weights.total,
      .overlap = pa_overlap(copied.high, copied.low, weights.before, weights.total),
      .lowest = pa_lowest_of(&found->reached[m]),
      .lowest_replicas = tallied->lowest_replicas,
      .lowest_families = tallied->lowest_families,
      .families = tallied->families,
      .square_sum = tallied->square_sum,
      .entropy = (double)tallied->entropy * PA_ENTROPY_UNIT,
  };
  pa_population_point(population, population->first + m, outcome);
}

enum gpumc_status pa_population_collect(struct pa_population *population, size_t slot,
                                        struct pa_outcome *outcome, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  uint8_t *record = population->slot[slot].memory;
  const struct pa_work found =
      pa_population_work_in(population, record, population->published[slot]);
  if (found.runs == 0)
    return GPUMC_OK;
  GPUMC_TRY(device->ops->collect(device, &population->slot[slot], error));
  GPUMC_TRY(pa_parts_collect(population, slot, &found, error));
  for (size_t m = 0; m < found.runs; m++)
    read_outcome(population, record, &found, m, &outcome[population->first + m]);
  return GPUMC_OK;
}
