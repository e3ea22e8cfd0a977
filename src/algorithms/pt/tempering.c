/* What parallel tempering on every device has in common: its arrays, its state, and the calls. */
#include "algorithms/pt/tempering.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/tempering_record.h"
#include "algorithms/pt/tempering_rules.h"
#include "core/base/memory.h"

/* Elements of an array of overlaps. */
static size_t overlap_count(const struct gpumc_tempering_plan *plan)
{
  return gpumc_tempering_pairs(plan) * plan->temperatures * plan->samples;
}

static size_t swap_count(const struct gpumc_tempering_plan *plan)
{
  return plan->copies * plan->temperatures * gpumc_swap_words(plan->samples);
}

static size_t bins_count(const struct gpumc_tempering_plan *plan, size_t overlap)
{
  return plan->strata * plan->temperatures * plan->histogram[overlap].bins;
}

static bool
is_term(const struct gpumc_tempering_plan *plan, enum gpumc_term_source source, size_t index)
{
  for (size_t i = 0; i < plan->n_terms; i++)
    if (plan->term[i].source == source && plan->term[i].index == index)
      return true;
  return false;
}

static bool keeps_channel(const struct gpumc_tempering_plan *plan, size_t channel)
{
  return channel == 0 || channel == plan->conjugate || is_term(plan, GPUMC_TERM_CHANNEL, channel) ||
         is_term(plan, GPUMC_TERM_PRODUCT, channel);
}

static bool keeps_overlap(const struct gpumc_tempering_plan *plan, size_t overlap)
{
  return plan->histogram[overlap].bins > 0 || is_term(plan, GPUMC_TERM_OVERLAP, overlap);
}

size_t
gpumc_tempering_bytes(const struct gpumc_device *device, const struct gpumc_tempering_plan *plan)
{
  const struct gpumc_tempering *tempering = NULL;
  size_t bytes = gpumc_tempering_places(plan) * sizeof *tempering->walker +
                 swap_count(plan) * sizeof *tempering->swap +
                 plan->temperatures * sizeof *tempering->step +
                 gpumc_tempering_layout_make(plan).bytes + device->ops->tempering->own_bytes(plan);
  for (size_t c = 0; c < plan->n_channels; c++)
    if (keeps_channel(plan, c))
      bytes += gpumc_tempering_places(plan) * sizeof *tempering->channel[c];
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++) {
    bytes += bins_count(plan, k) * sizeof *tempering->bins[k];
    if (keeps_overlap(plan, k))
      bytes += overlap_count(plan) * sizeof *tempering->overlap[k];
  }
  return bytes;
}

size_t gpumc_tempering_host_bytes(const struct gpumc_device *device,
                                  const struct gpumc_tempering_plan *plan)
{
  return device->ops->tempering->host_bytes(plan);
}

static enum gpumc_status
allocate_measurements(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < plan->n_channels && status == GPUMC_OK; c++)
    if (keeps_channel(plan, c))
      status = gpumc_device_array(device, &tempering->channel[c], gpumc_tempering_places(plan),
                                  "measurements", error);
  for (size_t k = 0; k < GPUMC_OVERLAPS && status == GPUMC_OK; k++)
    if (keeps_overlap(plan, k))
      status = gpumc_device_array(device, &tempering->overlap[k], overlap_count(plan), "overlaps",
                                  error);
  for (size_t k = 0; k < GPUMC_OVERLAPS && status == GPUMC_OK; k++)
    if (plan->histogram[k].bins > 0)
      status = gpumc_device_array(device, &tempering->bins[k], bins_count(plan, k),
                                  "histograms of overlaps", error);
  return status;
}

static enum gpumc_status
allocate_state(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  enum gpumc_status status =
      gpumc_device_array(device, &tempering->swap, swap_count(plan), "exchanges", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &tempering->walker, gpumc_tempering_places(plan), "walkers",
                                error);
  if (status == GPUMC_OK)
    status =
        gpumc_device_array(device, &tempering->step, plan->temperatures, "temperatures", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &tempering->record, gpumc_tempering_layout_make(plan).bytes,
                                "sums of the samples", error);
  return status;
}

static void assert_sound(const struct gpumc_tempering_plan *plan)
{
  assert(plan->temperatures > 0 && plan->copies > 0 && plan->samples > 0 && plan->strata > 0);
  assert(gpumc_tempering_places(plan) <= UINT32_MAX);
  assert(plan->n_channels > 0 && plan->n_channels <= GPUMC_CHANNELS_MAXIMUM);
  assert(plan->n_terms <= GPUMC_TERMS_MAXIMUM);
  for (size_t i = 0; i < plan->n_terms; i++)
    assert(plan->term[i].index <
           (plan->term[i].source == GPUMC_TERM_OVERLAP ? GPUMC_OVERLAPS : plan->n_channels));
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++)
    assert(plan->histogram[k].bins == 0 || plan->histogram[k].spacing > 0);
}

enum gpumc_status
gpumc_tempering_create(struct gpumc_device *device, const struct gpumc_tempering_plan *plan,
                       struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  assert_sound(plan);
  *tempering = (struct gpumc_tempering){.plan = *plan, .device = device};
  enum gpumc_status status = allocate_measurements(tempering, error);
  if (status == GPUMC_OK)
    status = allocate_state(tempering, error);
  if (status == GPUMC_OK)
    status = device->ops->tempering->create(tempering, error);
  if (status == GPUMC_OK)
    status = gpumc_tempering_start(tempering, error);
  if (status != GPUMC_OK)
    gpumc_tempering_free(tempering);
  return status;
}

void gpumc_tempering_free(struct gpumc_tempering *tempering)
{
  struct gpumc_device *device = tempering->device;
  if (device == NULL)
    return;
  device->ops->tempering->destroy(tempering);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, tempering->channel[c]);
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++) {
    device->ops->release(device, tempering->overlap[k]);
    device->ops->release(device, tempering->bins[k]);
  }
  device->ops->release(device, tempering->swap);
  device->ops->release(device, tempering->walker);
  device->ops->release(device, tempering->step);
  device->ops->release(device, tempering->record);
  memset(tempering, 0, sizeof *tempering);
}

static enum gpumc_status place_walkers(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const size_t places = gpumc_tempering_places(plan);
  uint32_t *walker = NULL;
  enum gpumc_status status = gpumc_allocate_array(&walker, places, "walkers", error);
  for (size_t i = 0; i < places && status == GPUMC_OK; i++) {
    const size_t t = i / plan->samples % plan->temperatures;
    bool returned;
    walker[i] = gpumc_walker_arrived(gpumc_walker((uint32_t)t, GPUMC_WALKER_FRESH), t,
                                     plan->temperatures, &returned);
  }
  if (status == GPUMC_OK)
    status = tempering->device->ops->copy_to_device(tempering->device, tempering->walker, walker,
                                                    places * sizeof *walker, error);
  free(walker);
  return status;
}

static enum gpumc_status clear_record(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  const struct gpumc_tempering_ops *ops = tempering->device->ops->tempering;
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(&tempering->plan);
  tempering->calls = (struct gpumc_tempering_calls){.measurements = 0};
  enum gpumc_status status = ops->fill(tempering, tempering->record, 0, layout.lowest, error);
  return status == GPUMC_OK ? ops->fill(tempering, tempering->record + layout.lowest,
                                        GPUMC_LOWEST_BYTE, layout.bytes - layout.lowest, error)
                            : status;
}

enum gpumc_status
gpumc_tempering_start(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  enum gpumc_status status = place_walkers(tempering, error);
  if (status == GPUMC_OK)
    status = clear_record(tempering, error);
  return status == GPUMC_OK ? gpumc_tempering_clear_histograms(tempering, error) : status;
}

enum gpumc_status gpumc_tempering_set_temperatures(struct gpumc_tempering *tempering,
                                                   const double *coefficient, double quantum,
                                                   struct gpumc_error *error)
{
  const size_t temperatures = tempering->plan.temperatures;
  double *step = NULL;
  enum gpumc_status status = gpumc_allocate_array(&step, temperatures, "temperatures", error);
  for (size_t t = 0; t + 1 < temperatures && status == GPUMC_OK; t++)
    step[t] = (coefficient[t + 1] - coefficient[t]) * quantum;
  if (status == GPUMC_OK)
    status = tempering->device->ops->copy_to_device(tempering->device, tempering->step, step,
                                                    temperatures * sizeof *step, error);
  free(step);
  return status;
}

enum gpumc_status gpumc_tempering_accumulate(struct gpumc_tempering *tempering, bool histogram,
                                             struct gpumc_error *error)
{
  tempering->calls.measurements++;
  return tempering->device->ops->tempering->accumulate(tempering, histogram, error);
}

enum gpumc_status gpumc_tempering_exchange(struct gpumc_tempering *tempering,
                                           struct gpumc_random random, uint32_t round,
                                           struct gpumc_error *error)
{
  tempering->calls.rounds[round % 2]++;
  return tempering->device->ops->tempering->exchange(tempering, random, round, error);
}

enum gpumc_status
gpumc_tempering_publish(struct gpumc_tempering *tempering, size_t slot, struct gpumc_error *error)
{
  assert(slot < GPUMC_OUTCOME_SLOTS);
  tempering->published[slot] = tempering->calls;
  enum gpumc_status status = tempering->device->ops->tempering->publish(tempering, slot, error);
  return status == GPUMC_OK ? clear_record(tempering, error) : status;
}

enum gpumc_status gpumc_tempering_collect(struct gpumc_tempering *tempering, size_t slot,
                                          struct gpumc_tempering_outcome *outcome,
                                          struct gpumc_error *error)
{
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(&tempering->plan);
  const struct gpumc_tempering_calls *calls = &tempering->published[slot];
  const uint8_t *record = NULL;
  enum gpumc_status status =
      tempering->device->ops->tempering->collect(tempering, slot, &record, error);
  if (status != GPUMC_OK)
    return status;
  *outcome = (struct gpumc_tempering_outcome){
      .measurements = calls->measurements,
      .rounds = {calls->rounds[0], calls->rounds[1]},
      .sums = (const void *)(record + layout.sums),
      .accepted = (const void *)(record + layout.accepted),
      .labelled = (const void *)(record + layout.labelled),
      .from_hottest = (const void *)(record + layout.from_hottest),
      .lowest = (const void *)(record + layout.lowest),
      .round_trips = (const void *)(record + layout.round_trips),
  };
  return GPUMC_OK;
}

enum gpumc_status
gpumc_tempering_clear_histograms(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t k = 0; k < GPUMC_OVERLAPS && status == GPUMC_OK; k++)
    if (tempering->bins[k] != NULL)
      status = tempering->device->ops->tempering->fill(
          tempering, tempering->bins[k], 0,
          bins_count(&tempering->plan, k) * sizeof *tempering->bins[k], error);
  return status;
}
