/* Parallel tempering: the summary - the last bin of time, exchanges, walkers, equilibrium. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/trust.h"

/* Curves over the temperatures. */
static struct gpumc_curve_place place_of(const struct pt *pt)
{
  return (struct gpumc_curve_place){.recorder = pt->context.recorder,
                                    .model = pt->context.model,
                                    .group = "summary",
                                    .axis = {"summary/beta"},
                                    .count = {pt->settings.temperatures}};
}

static enum gpumc_status write_quantities(struct pt *pt, struct gpumc_error *error)
{
  const size_t last = pt->timeline.bins - 1;
  const struct gpumc_curve_place place = place_of(pt);
  enum gpumc_status status =
      gpumc_curve_write_axis(&place, 0, &gpumc_label_beta, false, pt->beta, error);
  for (size_t q = 0; q < pt->settings.observables.n_quantities && status == GPUMC_OK; q++)
    status = gpumc_curve_write_with_error(&place, &pt->labels.of[q], pt_bin_values(pt, last, q),
                                          pt_bin_errors(pt, last, q), error);
  return status;
}

/* Acceptance and flow over the temperatures; `values` is scratch. */
static enum gpumc_status write_exchanges(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label acceptance = PT_LABEL_ACCEPTANCE;
  const struct gpumc_label flow = {
      "flow", "share of the walkers that were at the hottest temperature after the coldest one",
      "1", "f"};
  const struct pt_counts *counts = &pt->counts;
  const struct gpumc_curve_place place = place_of(pt);
  const size_t temperatures = pt->settings.temperatures;
  const double places = (double)(pt->settings.copies * pt->settings.samples);
  for (size_t t = 0; t < temperatures; t++)
    values[t] = pt_acceptance(counts->rounds, counts->accepted, places, temperatures, t);
  enum gpumc_status status = gpumc_curve_write(&place, &acceptance, false, values, error);
  for (size_t t = 0; t < temperatures; t++)
    values[t] = counts->labelled[t] > 0
                    ? (double)counts->from_hottest[t] / (double)counts->labelled[t]
                    : NAN;
  return status == GPUMC_OK ? gpumc_curve_write(&place, &flow, false, values, error) : status;
}

/* 0 or 1, [temperatures] */
struct flags {
  double *equilibrated, *determined;
};

static enum gpumc_status find_flags(struct pt *pt, struct flags *flags, struct gpumc_error *error)
{
  struct pt_average average;
  enum gpumc_status status = pt_average_init(pt, &average, error);
  if (status != GPUMC_OK)
    return status;
  status = pt_find_drift(pt, flags->equilibrated, error);
  for (size_t t = 0; t < pt->settings.temperatures && status == GPUMC_OK; t++) {
    flags->equilibrated[t] = flags->equilibrated[t] != 0 && pt_equilibrated(pt, t);
    status = pt_determined(&average, t, &flags->determined[t], error);
  }
  pt_average_free(&average);
  return status;
}

static enum gpumc_status write_flag(struct pt *pt, const struct gpumc_label *label,
                                    const double *flag, bool *all, struct gpumc_error *error)
{
  const struct gpumc_curve_place place = place_of(pt);
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    *all = *all && flag[t] != 0;
  return gpumc_curve_write(&place, label, true, flag, error);
}

static enum gpumc_status
write_equilibrium(struct pt *pt, struct flags *flags, struct gpumc_error *error)
{
  const struct gpumc_label equilibrated = {
      "equilibrated", "1 where the last bins of time agree with each other", "1", "eq"};
  const struct gpumc_label determined = {
      "determined", "1 where the energy fluctuates often enough to know its error", "1", ""};
  bool all = !pt_errors_are_thermal(pt) && pt_walkers_return(pt);
  enum gpumc_status status = find_flags(pt, flags, error);
  if (status == GPUMC_OK)
    status = write_flag(pt, &equilibrated, flags->equilibrated, &all, error);
  if (status == GPUMC_OK)
    status = write_flag(pt, &determined, flags->determined, &all, error);
  if (status == GPUMC_OK)
    status = gpumc_trust_record(&pt->context, all, error);
  return status == GPUMC_OK ? pt_write_warnings(pt, flags->equilibrated, flags->determined, error)
                            : status;
}

/* Numbers that are no curves. */
static enum gpumc_status write_numbers(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = pt->context.recorder;
  const struct pt_settings *settings = &pt->settings;
  uint64_t measurements = 0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    measurements += pt->bin.measurements[b];
  const struct {
    const char *name;
    uint64_t value;
  } numbers[] = {
      {"sites", pt->context.model->sites}, {"samples", settings->samples},
      {"replicas", settings->copies},      {"measurements", measurements},
      {"round_trips", pt_round_trips(pt)},
  };
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == GPUMC_OK; i++)
    status = gpumc_recorder_integer(recorder, "summary", numbers[i].name, (int64_t)numbers[i].value,
                                    error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "summary", "round_trips_per_walker",
                                   pt_round_trips_per_walker(pt), error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_text(recorder, "summary", "errors_from",
                                 settings->by_time ? "blocks of time" : "samples", error);
  return status;
}

enum gpumc_status pt_summarize(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  double *values = NULL;
  struct flags flags = {0};
  enum gpumc_status status =
      gpumc_allocate_array(&values, pt->settings.temperatures, "the summary", error);
  if (status == GPUMC_OK)
    status =
        gpumc_allocate_array(&flags.equilibrated, pt->settings.temperatures, "the summary", error);
  if (status == GPUMC_OK)
    status =
        gpumc_allocate_array(&flags.determined, pt->settings.temperatures, "the summary", error);
  if (status == GPUMC_OK)
    status = write_quantities(pt, error);
  if (status == GPUMC_OK && pt->settings.exchange)
    status = write_exchanges(pt, values, error);
  if (status == GPUMC_OK)
    status = write_numbers(pt, error);
  if (status == GPUMC_OK)
    status = write_equilibrium(pt, &flags, error);
  if (status == GPUMC_OK && pt->settings.observables.pairs)
    status = pt_write_distributions(pt, error);
  if (status == GPUMC_OK)
    status = pt_write_samples(pt, error);
  free(values);
  free(flags.equilibrated);
  free(flags.determined);
  return status;
}
