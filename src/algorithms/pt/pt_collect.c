/* Parallel tempering: what comes of a stretch of rounds to the host, of all processes, and what it
 * completes. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/columns.h"

/* Blocks of the bin that come before this one. */
static size_t block_of(const struct pt_timeline *timeline, size_t stretch)
{
  size_t block = 0;
  while (block < stretch && timeline->stretch[stretch - block - 1].phase == PT_MEASUREMENT &&
         timeline->stretch[stretch - block - 1].index == timeline->stretch[stretch].index)
    block++;
  return block;
}

/* The histograms of this block of the last bin, over all processes; on the device they begin anew.
 */
static enum gpumc_status fetch_histograms(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_device *device = pt->context.device;
  const struct pt_tempering_plan *plan = &pt->tempering.plan;
  const size_t block = block_of(&pt->timeline, pt->stretch);
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    const size_t count = plan->strata * plan->temperatures * plan->histogram[kind].bins;
    uint64_t *of_block = pt->histogram[kind] + block * count;
    if (count == 0)
      continue;
    GPUMC_TRY(device->ops->copy_to_host(device, of_block, pt->tempering.bins[kind],
                                        count * sizeof *of_block, error));
    gpumc_processes_sum(gpumc_columns_processes(pt->context.ensemble), of_block, count);
  }
  return pt_tempering_clear_histograms(&pt->tempering, error);
}

static size_t slot_of(size_t stretch)
{
  return stretch % GPUMC_SLOTS;
}

enum gpumc_status pt_publish(struct pt *pt, struct gpumc_error *error)
{
  GPUMC_TRY(pt_tempering_publish(&pt->tempering, slot_of(pt->stretch), error));
  if (pt->settings.observables.pairs && pt_is_last_bin(pt, &pt->timeline.stretch[pt->stretch]))
    GPUMC_TRY(fetch_histograms(pt, error));
  return GPUMC_OK;
}

/* ---- the outcome of all processes ---- */

enum gpumc_status pt_whole_create(struct pt *pt, struct gpumc_error *error)
{
  const struct pt_settings *settings = &pt->settings;
  struct pt_whole *whole = &pt->whole;
  GPUMC_TRY(gpumc_allocate_array(&whole->counted, PT_COUNTED * settings->temperatures,
                                 "exchanges and walkers", error));
  GPUMC_TRY(gpumc_allocate_array(&whole->round_trips, settings->copies * settings->samples,
                                 "round trips", error));
  return gpumc_allocate_array(&whole->lowest, settings->samples, "lowest values", error);
}

void pt_whole_free(struct pt *pt)
{
  free(pt->whole.counted);
  free(pt->whole.round_trips);
  free(pt->whole.lowest);
}

/* Of an outcome of the own samples one of all, but for the sums, which stay the own ones. */
static enum gpumc_status
make_whole(struct pt *pt, struct pt_outcome *outcome, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  const struct pt_whole *whole = &pt->whole;
  const size_t temperatures = pt->settings.temperatures;
  const uint64_t **const counted[PT_COUNTED] = {&outcome->accepted, &outcome->labelled,
                                                &outcome->from_hottest};
  for (size_t i = 0; i < PT_COUNTED; i++) {
    uint64_t *numbers = whole->counted + i * temperatures;
    memcpy(numbers, *counted[i], temperatures * sizeof *numbers);
    *counted[i] = numbers;
  }
  gpumc_processes_sum(gpumc_columns_processes(ensemble), whole->counted, PT_COUNTED * temperatures);
  GPUMC_TRY(gpumc_columns_gather(ensemble, outcome->round_trips, pt->settings.copies,
                                 sizeof *whole->round_trips, whole->round_trips, error));
  GPUMC_TRY(gpumc_columns_gather(ensemble, outcome->lowest, 1, sizeof *whole->lowest, whole->lowest,
                                 error));
  outcome->round_trips = whole->round_trips;
  outcome->lowest = whole->lowest;
  return GPUMC_OK;
}

/* Sums of the own samples into those of all, term after term: a message needs the memory of one. */
static enum gpumc_status
gather_sums(const struct pt *pt, const double *own, double *sums, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  for (size_t k = 0; k < pt->terms.count; k++)
    GPUMC_TRY(gpumc_columns_gather(
        pt->context.ensemble, own + k * temperatures * pt->tempering.plan.samples, temperatures,
        sizeof *sums, sums + k * temperatures * pt->settings.samples, error));
  return GPUMC_OK;
}

/* ---- what it becomes ---- */

static void count(struct pt *pt, const struct pt_outcome *outcome)
{
  struct pt_counts *counts = &pt->counts;
  const size_t samples = pt->settings.samples;
  for (size_t parity = 0; parity < 2; parity++)
    counts->rounds[parity] += outcome->rounds[parity];
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    counts->accepted[t] += outcome->accepted[t];
    counts->labelled[t] += outcome->labelled[t];
    counts->from_hottest[t] += outcome->from_hottest[t];
  }
  for (size_t c = 0; c < pt->settings.copies; c++)
    for (size_t s = 0; s < samples; s++)
      counts->round_trips[s] += outcome->round_trips[c * samples + s];
}

static void clear_counts(struct pt *pt)
{
  struct pt_counts *counts = &pt->counts;
  const size_t bytes = pt->settings.temperatures * sizeof *counts->accepted;
  memset(counts->rounds, 0, sizeof counts->rounds);
  memset(counts->accepted, 0, bytes);
  memset(counts->labelled, 0, bytes);
  memset(counts->from_hottest, 0, bytes);
  memset(counts->round_trips, 0, pt->settings.samples * sizeof *counts->round_trips);
}

/* An iteration of the tuning is over: its row, and other temperatures. */
static enum gpumc_status
end_iteration(struct pt *pt, const struct pt_stretch *stretch, struct gpumc_error *error)
{
  GPUMC_TRY(pt_record_tuning(pt, stretch, error));
  pt_ladder_adjust(&pt->counts, (double)(pt->settings.copies * pt->settings.samples),
                   pt->settings.temperatures, pt->run_value, pt->value);
  clear_counts(pt);
  return pt_set_temperatures(pt, error);
}

static enum gpumc_status
add_block(struct pt *pt, const struct pt_outcome *outcome, struct gpumc_error *error)
{
  struct pt_bin *bin = &pt->bin;
  const size_t size = pt->terms.count * pt->settings.temperatures * pt->settings.samples;
  bin->measurements[bin->blocks] = outcome->measurements;
  GPUMC_TRY(gather_sums(pt, outcome->sums, bin->sums + bin->blocks * size, error));
  bin->blocks++;
  for (size_t parity = 0; parity < 2; parity++)
    bin->rounds[parity] += outcome->rounds[parity];
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    bin->accepted[t] += outcome->accepted[t];
  for (size_t s = 0; s < pt->settings.samples; s++)
    if (outcome->lowest[s] < pt->lowest[s])
      pt->lowest[s] = outcome->lowest[s];
  return GPUMC_OK;
}

static void clear_bin(struct pt *pt)
{
  pt->bin.blocks = 0;
  memset(pt->bin.rounds, 0, sizeof pt->bin.rounds);
  memset(pt->bin.accepted, 0, pt->settings.temperatures * sizeof *pt->bin.accepted);
}

static enum gpumc_status
end_block(struct pt *pt, const struct pt_outcome *outcome, size_t number, struct gpumc_error *error)
{
  const struct pt_stretch *stretch = &pt->timeline.stretch[number];
  if (block_of(&pt->timeline, number) == 0)
    clear_bin(pt);
  GPUMC_TRY(add_block(pt, outcome, error));
  const bool complete =
      number + 1 == pt->timeline.count || pt->timeline.stretch[number + 1].index != stretch->index;
  return complete ? pt_record_bin(pt, stretch->index, error) : GPUMC_OK;
}

enum gpumc_status pt_collect(struct pt *pt, struct gpumc_error *error)
{
  const size_t number = pt->stretch - 1;
  const struct pt_stretch *stretch = &pt->timeline.stretch[number];
  struct pt_outcome outcome;
  GPUMC_TRY(pt_tempering_collect(&pt->tempering, slot_of(number), &outcome, error));
  if (stretch->phase == PT_THERMALIZATION)
    return GPUMC_OK;
  GPUMC_TRY(make_whole(pt, &outcome, error));
  count(pt, &outcome);
  return stretch->phase == PT_TUNING ? end_iteration(pt, stretch, error)
                                     : end_block(pt, &outcome, number, error);
}
