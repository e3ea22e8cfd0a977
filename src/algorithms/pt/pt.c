/* Parallel tempering: its life from creation to destruction, and its vtable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"

static void destroy(void *state)
{
  struct pt *pt = state;
  if (pt == NULL)
    return;
  pt_tempering_free(&pt->tempering);
  pt_timeline_free(&pt->timeline);
  free(pt->value);
  free(pt->run_value);
  free(pt->bin.measurements);
  free(pt->bin.sums);
  free(pt->bin.accepted);
  free(pt->counts.accepted);
  free(pt->counts.labelled);
  free(pt->counts.from_hottest);
  free(pt->counts.round_trips);
  free(pt->lowest);
  free(pt->history);
  for (int kind = 0; kind < GPUMC_OVERLAPS; kind++)
    free(pt->histogram[kind]);
  free(pt->row);
  gpumc_configurations_request_free(&pt->request);
  gpumc_configurations_free(&pt->configurations);
  free(pt);
}

static enum gpumc_status allocate_bin(struct pt *pt, struct gpumc_error *error)
{
  const struct pt_settings *settings = &pt->settings;
  const size_t places = settings->temperatures * settings->samples;
  enum gpumc_status status =
      gpumc_allocate_array(&pt->bin.measurements, settings->blocks, "measurements", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->bin.sums, settings->blocks * pt->terms.count * places,
                                  "sums of a bin of time", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->bin.accepted, settings->temperatures, "exchanges", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->history, PT_BINS_COMPARED * pt->terms.n_compared * places,
                                  "averages of the last bins", error);
  return status;
}

static enum gpumc_status allocate_counts(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  struct pt_counts *counts = &pt->counts;
  enum gpumc_status status =
      gpumc_allocate_array(&counts->accepted, temperatures, "exchanges", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&counts->labelled, temperatures, "walkers", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&counts->from_hottest, temperatures, "walkers", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&counts->round_trips, pt->settings.samples, "round trips", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->lowest, pt->settings.samples, "lowest energies", error);
  for (size_t s = 0; s < pt->settings.samples && status == GPUMC_OK; s++)
    pt->lowest[s] = INT64_MAX;
  return status;
}

static enum gpumc_status allocate_histograms(struct pt *pt, struct gpumc_error *error)
{
  const size_t rows = pt_histogram_rows(&pt->settings) * pt->settings.temperatures;
  enum gpumc_status status = GPUMC_OK;
  for (int kind = 0; kind < GPUMC_OVERLAPS && status == GPUMC_OK; kind++) {
    const size_t bins = pt->tempering.plan.histogram[kind].bins;
    if (bins > 0)
      status = gpumc_allocate_array(&pt->histogram[kind], rows * bins, "histograms", error);
  }
  return status;
}

static enum gpumc_status make_temperatures(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  enum gpumc_status status =
      gpumc_allocate_array(&pt->value, temperatures, "inverse temperatures", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->run_value, pt->settings.copies * temperatures,
                                  "inverse temperatures", error);
  if (status != GPUMC_OK)
    return status;
  gpumc_ladder_read(&pt->context.params, gpumc_ladder_block(&pt->context.params), pt->value);
  return pt_set_temperatures(pt, error);
}

static enum gpumc_status build(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  struct pt_tempering_plan plan;
  pt_settings_read(&pt->context.params, model, &pt->settings);
  pt->axis = gpumc_moved_label(model, &pt->settings.moved);
  snprintf(pt->axis_of_summary, PT_PATH_BYTES, "summary/%s", pt->axis.name);
  snprintf(pt->axis_of_samples, PT_PATH_BYTES, "samples/%s", pt->axis.name);
  pt_terms_make(model, &pt->settings.observables, &pt->terms);
  pt_labels_make(model, &pt->settings.observables, &pt->labels);
  pt_tempering_plan(&pt->settings, model, &pt->terms, &plan);
  enum gpumc_status status = pt_timeline_make(&pt->settings, &pt->timeline, error);
  if (status == GPUMC_OK)
    status = pt_tempering_create(pt->context.device, &plan, &pt->tempering, error);
  if (status == GPUMC_OK)
    status = make_temperatures(pt, error);
  if (status == GPUMC_OK)
    status = allocate_bin(pt, error);
  if (status == GPUMC_OK)
    status = allocate_counts(pt, error);
  if (status == GPUMC_OK)
    status = allocate_histograms(pt, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pt->row, pt_bin_row_width(pt), "a row", error);
  if (status == GPUMC_OK)
    status = pt_tables_declare(pt, error);
  if (status == GPUMC_OK)
    status = gpumc_configurations_request_read(&pt->context.params, GPUMC_CONFIGURATIONS_TIMES,
                                               pt->settings.temperatures, &pt->request, error);
  return status == GPUMC_OK ? pt_configurations_declare(pt, error) : status;
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct pt *pt = NULL;
  *state = NULL;
  enum gpumc_status status = gpumc_allocate_array(&pt, 1, "parallel tempering", error);
  if (status != GPUMC_OK)
    return status;
  pt->context = *context;
  status = build(pt, error);
  if (status != GPUMC_OK) {
    destroy(pt);
    return status;
  }
  *state = pt;
  return GPUMC_OK;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  if (!pt->pending)
    return GPUMC_OK;
  pt->pending = false;
  return pt_collect(pt, error);
}

/* The present stretch is over. The next one may begin before its sums have come, unless they decide
 * temperatures. */
static enum gpumc_status end_stretch(struct pt *pt, struct gpumc_error *error)
{
  const bool tuning = pt->timeline.stretch[pt->stretch].phase == PT_TUNING;
  enum gpumc_status status = pt_publish(pt, error);
  if (status != GPUMC_OK)
    return status;
  pt->stretch++;
  pt->done = 0;
  pt->pending = true;
  return tuning || pt->stretch == pt->timeline.count ? settle(pt, error) : GPUMC_OK;
}

/* A unit of sweeps is enqueued, then the stretch before it recorded, so that the device works
 * meanwhile. */
static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct pt *pt = state;
  const uint64_t rounds = pt->timeline.stretch[pt->stretch].rounds - pt->done;
  const uint64_t left = rounds * pt->settings.round_sweeps - pt->swept;
  const uint64_t unit = pt_unit_sweeps(&pt->settings, pt->context.model);
  enum gpumc_status status = pt->begun ? GPUMC_OK : pt_begin(pt, error);
  *finished = false;
  if (status == GPUMC_OK)
    status = pt_enqueue(pt, left < unit ? left : unit, error);
  if (status == GPUMC_OK)
    status = settle(pt, error);
  if (status == GPUMC_OK && pt->done == pt->timeline.stretch[pt->stretch].rounds)
    status = end_stretch(pt, error);
  *finished = status == GPUMC_OK && pt->stretch == pt->timeline.count;
  return status;
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct pt *pt = state;
  const double round_sweeps = (double)pt->settings.round_sweeps;
  const double sweeps = (double)pt->round * round_sweeps + (double)pt->swept;
  where->fraction = sweeps / ((double)pt->timeline.rounds * round_sweeps);
  where->updates = sweeps * pt_sweep_updates(&pt->settings, pt->context.model);
  where->coordinate = "sweep";
  where->value = sweeps;
}

static const char citation[] =
    "@article{HukushimaNemoto1996,\n"
    "  author  = {Hukushima, Koji and Nemoto, Koji},\n"
    "  title   = {Exchange {M}onte {C}arlo Method and Application to Spin Glass Simulations},\n"
    "  journal = {Journal of the Physical Society of Japan},\n"
    "  volume  = {65},\n"
    "  pages   = {1604--1608},\n"
    "  year    = {1996},\n"
    "  doi     = {10.1143/JPSJ.65.1604}\n"
    "}\n"
    "@article{Katzgraber2006,\n"
    "  author  = {Katzgraber, Helmut G. and Trebst, Simon and Huse, David A. and Troyer, "
    "Matthias},\n"
    "  title   = {Feedback-optimized parallel tempering {M}onte {C}arlo},\n"
    "  journal = {Journal of Statistical Mechanics: Theory and Experiment},\n"
    "  volume  = {2006},\n"
    "  pages   = {P03018},\n"
    "  year    = {2006},\n"
    "  doi     = {10.1088/1742-5468/2006/03/P03018}\n"
    "}\n"
    "@article{Katzgraber2001,\n"
    "  author  = {Katzgraber, Helmut G. and Palassini, Matteo and Young, A. P.},\n"
    "  title   = {{M}onte {C}arlo simulations of spin glasses at low temperatures},\n"
    "  journal = {Physical Review B},\n"
    "  volume  = {63},\n"
    "  pages   = {184422},\n"
    "  year    = {2001},\n"
    "  doi     = {10.1103/PhysRevB.63.184422}\n"
    "}\n";

static const char *const stages[] = {"sweep", "tally", "exchange", NULL};

const struct gpumc_algorithm_ops gpumc_algorithm_pt = {
    .name = "pt",
    .summary = "parallel tempering: replicas of many temperatures and samples, exchanged",
    .citation = citation,
    .keys = pt_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE |
                GPUMC_OPERATION_EXCHANGE, /* with these come overlaps (core/simulation/model.h) */
    .sweeps_alone = true,
    .unmergeable = pt_unmergeable,
    .checks = pt_checks,
    .defaults = pt_defaults,
    .replicas = pt_replicas,
    .demand = pt_demand,
    .create = create,
    .advance = advance,
    .position = position,
    .settle = settle,
    .save = pt_save,
    .load = pt_load,
    .summarize = pt_summarize,
    .destroy = destroy,
};
