/* Parallel tempering's work on a device: its arrays, its state, and the order of its calls. */
#include "algorithms/pt/pt_tempering.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_device.h"
#include "core/base/memory.h"
#include "core/simulation/ensemble.h"

static const struct pt_steps *steps_of(const struct gpumc_device *device)
{
  static const struct pt_steps *const steps[GPUMC_KINDS] = {
      [GPUMC_KIND_CPU] = &pt_steps_cpu, [GPUMC_KIND_CUDA] = &pt_steps_gpu};
  return steps[device->ops->kind];
}

/* Returns the elements of an array of a pair. */
static size_t pair_count(const struct pt_tempering_plan *plan)
{
  return pt_tempering_pairs(plan) * plan->temperatures * plan->samples;
}

static size_t swap_count(const struct pt_tempering_plan *plan)
{
  return plan->copies * plan->temperatures * gpumc_swap_words(plan->samples);
}

static size_t bins_count(const struct pt_tempering_plan *plan, size_t pair)
{
  return plan->strata * plan->temperatures * plan->histogram[pair].bins;
}

static bool
is_term(const struct pt_tempering_plan *plan, enum gpumc_mean_source source, size_t index)
{
  for (size_t i = 0; i < plan->n_terms; i++)
    if (plan->term[i].source == source && plan->term[i].index == index)
      return true;
  return false;
}

static bool keeps_channel(const struct pt_tempering_plan *plan, size_t channel)
{
  return channel == plan->tracked || channel == plan->conjugate ||
         is_term(plan, GPUMC_MEAN_CHANNEL, channel) || is_term(plan, GPUMC_MEAN_PRODUCT, channel);
}

static bool keeps_pair(const struct pt_tempering_plan *plan, size_t pair)
{
  return plan->histogram[pair].bins > 0 || is_term(plan, GPUMC_MEAN_PAIR, pair);
}

size_t pt_tempering_bytes(const struct gpumc_device *device, const struct pt_tempering_plan *plan)
{
  const struct pt_tempering *tempering = NULL;
  size_t bytes = pt_tempering_places(plan) * sizeof *tempering->walker +
                 swap_count(plan) * sizeof *tempering->swap +
                 plan->temperatures * sizeof *tempering->step + pt_layout_make(plan).bytes +
                 gpumc_slots_device_bytes(device, pt_layout_make(plan).bytes);
  for (size_t c = 0; c < plan->n_channels; c++)
    if (keeps_channel(plan, c))
      bytes += pt_tempering_places(plan) * sizeof *tempering->channel[c];
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    bytes += bins_count(plan, k) * sizeof *tempering->bins[k];
    if (keeps_pair(plan, k))
      bytes += pair_count(plan) * sizeof *tempering->pair[k];
  }
  return bytes;
}

size_t
pt_tempering_host_bytes(const struct gpumc_device *device, const struct pt_tempering_plan *plan)
{
  return gpumc_slots_host_bytes(device, pt_layout_make(plan).bytes);
}

static enum gpumc_status
allocate_measurements(struct pt_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  const struct pt_tempering_plan *plan = &tempering->plan;
  for (size_t c = 0; c < plan->n_channels; c++)
    if (keeps_channel(plan, c))
      GPUMC_TRY(gpumc_device_array(device, &tempering->channel[c], pt_tempering_places(plan),
                                   "measurements", error));
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (keeps_pair(plan, k))
      GPUMC_TRY(
          gpumc_device_array(device, &tempering->pair[k], pair_count(plan), "overlaps", error));
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (plan->histogram[k].bins > 0)
      GPUMC_TRY(gpumc_device_array(device, &tempering->bins[k], bins_count(plan, k),
                                   "histograms of overlaps", error));
  return GPUMC_OK;
}

static enum gpumc_status allocate_state(struct pt_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  const struct pt_tempering_plan *plan = &tempering->plan;
  GPUMC_TRY(gpumc_device_array(device, &tempering->swap, swap_count(plan), "exchanges", error));
  GPUMC_TRY(
      gpumc_device_array(device, &tempering->walker, pt_tempering_places(plan), "walkers", error));
  GPUMC_TRY(
      gpumc_device_array(device, &tempering->step, plan->temperatures, "temperatures", error));
  return gpumc_device_array(device, &tempering->record, pt_layout_make(plan).bytes,
                            "sums of the samples", error);
}

static void assert_sound(const struct pt_tempering_plan *plan)
{
  assert(plan->temperatures > 0 && plan->copies > 0 && plan->samples > 0 && plan->strata > 0);
  assert(pt_tempering_places(plan) <= UINT32_MAX);
  assert(plan->n_channels > 0 && plan->n_channels <= GPUMC_CHANNELS_MAXIMUM);
  assert(plan->n_terms <= PT_TERMS_MAXIMUM);
  for (size_t i = 0; i < plan->n_terms; i++)
    assert(plan->term[i].index <
           (plan->term[i].source == GPUMC_MEAN_PAIR ? GPUMC_PAIRS_MAXIMUM : plan->n_channels));
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    assert(plan->histogram[k].bins == 0 || plan->histogram[k].spacing > 0);
}

enum gpumc_status pt_tempering_create(struct gpumc_device *device,
                                      const struct pt_tempering_plan *plan,
                                      struct pt_tempering *tempering, struct gpumc_error *error)
{
  assert_sound(plan);
  *tempering = (struct pt_tempering){.plan = *plan, .device = device, .steps = steps_of(device)};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, allocate_measurements(tempering, error));
  GPUMC_TRY_OUT(status, allocate_state(tempering, error));
  GPUMC_TRY_OUT(status, gpumc_slots_create(device, pt_layout_make(plan).bytes,
                                           "sums of the samples", tempering->slot, error));
  GPUMC_TRY_OUT(status, pt_tempering_start(tempering, error));
out:
  if (status != GPUMC_OK)
    pt_tempering_free(tempering);
  return status;
}

void pt_tempering_free(struct pt_tempering *tempering)
{
  struct gpumc_device *device = tempering->device;
  if (device == NULL)
    return;
  gpumc_slots_free(device, tempering->slot);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, tempering->channel[c]);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    device->ops->release(device, tempering->pair[k]);
    device->ops->release(device, tempering->bins[k]);
  }
  device->ops->release(device, tempering->swap);
  device->ops->release(device, tempering->walker);
  device->ops->release(device, tempering->step);
  device->ops->release(device, tempering->record);
  memset(tempering, 0, sizeof *tempering);
}

static enum gpumc_status place_walkers(struct pt_tempering *tempering, struct gpumc_error *error)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  const size_t places = pt_tempering_places(plan);
  uint32_t *walker = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&walker, places, "walkers", error));
  for (size_t i = 0; i < places; i++) {
    const size_t t = i / plan->samples % plan->temperatures;
    bool returned;
    walker[i] = pt_walker_arrived(pt_walker((uint32_t)t, PT_WALKER_FRESH), t, plan->temperatures,
                                  &returned);
  }
  GPUMC_TRY_OUT(status,
                tempering->device->ops->copy_to_device(tempering->device, tempering->walker, walker,
                                                       places * sizeof *walker, error));
out:
  free(walker);
  return status;
}

static enum gpumc_status clear_record(struct pt_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  const struct pt_layout layout = pt_layout_make(&tempering->plan);
  tempering->calls = (struct pt_calls){.measurements = 0};
  GPUMC_TRY(device->ops->fill(device, tempering->record, 0, layout.lowest, error));
  return device->ops->fill(device, tempering->record + layout.lowest, PT_LOWEST_BYTE,
                           layout.bytes - layout.lowest, error);
}

enum gpumc_status pt_tempering_start(struct pt_tempering *tempering, struct gpumc_error *error)
{
  GPUMC_TRY(place_walkers(tempering, error));
  GPUMC_TRY(clear_record(tempering, error));
  return pt_tempering_clear_histograms(tempering, error);
}

enum gpumc_status pt_tempering_set_temperatures(struct pt_tempering *tempering,
                                                const double *coefficient, double quantum,
                                                struct gpumc_error *error)
{
  const size_t temperatures = tempering->plan.temperatures;
  double *step = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&step, temperatures, "temperatures", error));
  for (size_t t = 0; t + 1 < temperatures; t++)
    step[t] = (coefficient[t + 1] - coefficient[t]) * quantum;
  GPUMC_TRY_OUT(status,
                tempering->device->ops->copy_to_device(tempering->device, tempering->step, step,
                                                       temperatures * sizeof *step, error));
out:
  free(step);
  return status;
}

enum gpumc_status
pt_tempering_accumulate(struct pt_tempering *tempering, bool histogram, struct gpumc_error *error)
{
  tempering->calls.measurements++;
  return tempering->steps->accumulate(tempering, histogram, error);
}

enum gpumc_status pt_tempering_exchange(struct pt_tempering *tempering, struct gpumc_random random,
                                        uint32_t round, struct gpumc_error *error)
{
  tempering->calls.rounds[round % 2]++;
  return tempering->steps->exchange(tempering, random, round, error);
}

enum gpumc_status pt_tempering_exchange_clusters(struct pt_tempering *tempering,
                                                 struct gpumc_ensemble *ensemble, size_t first,
                                                 size_t second, size_t hottest,
                                                 enum gpumc_cluster_rule rule, uint32_t round,
                                                 struct gpumc_error *error)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  struct gpumc_cluster_counts *counts = (void *)(tempering->record + pt_layout_make(plan).clusters);
  const struct gpumc_cluster_exchange with = {.first = first * plan->temperatures + hottest,
                                              .second = second * plan->temperatures + hottest,
                                              .runs = plan->temperatures - hottest,
                                              .rule = rule,
                                              .time = round,
                                              .counts = counts + hottest};
  assert(plan->clusters && first < second && second < plan->copies);
  tempering->calls.cluster_pairs++;
  return gpumc_ensemble_exchange_clusters(ensemble, &with, error);
}

enum gpumc_status
pt_tempering_publish(struct pt_tempering *tempering, size_t slot, struct gpumc_error *error)
{
  assert(slot < GPUMC_SLOTS);
  tempering->published[slot] = tempering->calls;
  struct gpumc_device *device = tempering->device;
  GPUMC_TRY(device->ops->publish(device, &tempering->slot[slot], tempering->record,
                                 pt_layout_make(&tempering->plan).bytes, error));
  return clear_record(tempering, error);
}

enum gpumc_status pt_tempering_collect(struct pt_tempering *tempering, size_t slot,
                                       struct pt_outcome *outcome, struct gpumc_error *error)
{
  const struct pt_layout layout = pt_layout_make(&tempering->plan);
  const struct pt_calls *calls = &tempering->published[slot];
  const uint8_t *record = tempering->slot[slot].memory;
  GPUMC_TRY(tempering->device->ops->collect(tempering->device, &tempering->slot[slot], error));
  *outcome = (struct pt_outcome){
      .measurements = calls->measurements,
      .rounds = {calls->rounds[0], calls->rounds[1]},
      .sums = (const void *)(record + layout.sums),
      .accepted = (const void *)(record + layout.accepted),
      .labelled = (const void *)(record + layout.labelled),
      .from_hottest = (const void *)(record + layout.from_hottest),
      .lowest = (const void *)(record + layout.lowest),
      .round_trips = (const void *)(record + layout.round_trips),
      .cluster_pairs = calls->cluster_pairs,
      .clusters = (const void *)(record + layout.clusters),
  };
  return GPUMC_OK;
}

enum gpumc_status
pt_tempering_clear_histograms(struct pt_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (tempering->bins[k] != NULL)
      GPUMC_TRY(device->ops->fill(device, tempering->bins[k], 0,
                                  bins_count(&tempering->plan, k) * sizeof *tempering->bins[k],
                                  error));
  return GPUMC_OK;
}
