/* Parallel tempering: its life from creation to destruction, checkpoints, and the vtable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "algorithms/pt/pt_state.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/storage/checkpoint.h"

/* ---- the state to and from a checkpoint ---- */

enum {
  COUNTER_STRETCH,
  COUNTER_DONE,
  COUNTER_ROUND,
  COUNTER_SWEPT,
  COUNTER_BEGUN,
  COUNTER_BLOCKS,
  COUNTER_BIN_ROUNDS,                      /* of even and of odd pairs */
  COUNTER_ROUNDS = COUNTER_BIN_ROUNDS + 2, /* the same */
  N_COUNTERS = COUNTER_ROUNDS + 2,
  COUNTER_CLUSTER_PAIRS = N_COUNTERS, /* by itself, with exchanges of clusters */
  ALL_COUNTERS
};

enum { PARTS_MAXIMUM = 13 + GPUMC_PAIRS_MAXIMUM };

/* There may be no overlaps of some kinds. */
static size_t
list_parts(const struct pt *pt, uint64_t counters[ALL_COUNTERS], struct pt_kept kept[PARTS_MAXIMUM])
{
  static const char *const histograms[GPUMC_PAIRS_MAXIMUM] = {"histogram_spin", "histogram_link",
                                                              "histogram_wave"};
  const struct pt_settings *settings = &pt->settings;
  const size_t temperatures = settings->temperatures, samples = pt->held;
  const struct pt_kept all[] = {
      {{"counters", GPUMC_UINT64, N_COUNTERS, 1, counters}, PT_HOLDS_ALL},
      {{"beta", GPUMC_FLOAT64, temperatures, 1, pt->value}, PT_HOLDS_ALL},
      {{"measurements", GPUMC_UINT64, settings->blocks, 1, pt->bin.measurements}, PT_HOLDS_ALL},
      {{"sums", GPUMC_FLOAT64, settings->blocks * pt->terms.count * temperatures, samples,
        pt->bin.sums},
       PT_HOLDS_COLUMNS},
      {{"accepted_in_bin", GPUMC_UINT64, temperatures, 1, pt->bin.accepted}, PT_HOLDS_ALL},
      {{"accepted", GPUMC_UINT64, temperatures, 1, pt->counts.accepted}, PT_HOLDS_ALL},
      {{"labelled", GPUMC_UINT64, temperatures, 1, pt->counts.labelled}, PT_HOLDS_ALL},
      {{"from_hottest", GPUMC_UINT64, temperatures, 1, pt->counts.from_hottest}, PT_HOLDS_ALL},
      {{"round_trips", GPUMC_UINT64, samples, 1, pt->counts.round_trips}, PT_HOLDS_ROWS},
      {{"lowest", GPUMC_INT64, samples, 1, pt->lowest}, PT_HOLDS_ROWS},
      {{"history", GPUMC_FLOAT64, PT_BINS_COMPARED * pt->terms.n_compared * temperatures, samples,
        pt->history},
       PT_HOLDS_COLUMNS},
  };
  const size_t rows = pt_histogram_rows(settings) * temperatures;
  size_t count = sizeof all / sizeof *all;
  memcpy(kept, all, sizeof all);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (pt->histogram[k] != NULL)
      kept[count++] = (struct pt_kept){{histograms[k], GPUMC_UINT64, rows,
                                        pt->tempering.plan.histogram[k].bins, pt->histogram[k]},
                                       PT_HOLDS_ALL};
  if (pt->counts.clusters != NULL) {
    kept[count++] = (struct pt_kept){
        {"cluster_pairs", GPUMC_UINT64, 1, 1, counters + COUNTER_CLUSTER_PAIRS}, PT_HOLDS_ALL};
    kept[count++] = (struct pt_kept){
        {"clusters", GPUMC_UINT64, temperatures, PT_CLUSTER_COUNTS, pt->counts.clusters},
        PT_HOLDS_ALL};
  }
  return count;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pt *pt = state;
  uint64_t counters[ALL_COUNTERS] = {
      [COUNTER_STRETCH] = pt->stretch,
      [COUNTER_DONE] = pt->done,
      [COUNTER_ROUND] = pt->round,
      [COUNTER_SWEPT] = pt->swept,
      [COUNTER_BEGUN] = pt->begun,
      [COUNTER_BLOCKS] = pt->bin.blocks,
      [COUNTER_BIN_ROUNDS] = pt->bin.rounds[0],
      [COUNTER_BIN_ROUNDS + 1] = pt->bin.rounds[1],
      [COUNTER_ROUNDS] = pt->counts.rounds[0],
      [COUNTER_ROUNDS + 1] = pt->counts.rounds[1],
      [COUNTER_CLUSTER_PAIRS] = pt->counts.cluster_pairs,
  };
  struct pt_kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(pt, counters, kept);
  GPUMC_TRY(pt_kept_save(pt->context.ensemble, kept, count, NULL, writer, "pt", error));
  return pt_tempering_save(&pt->tempering, writer, "pt/tempering", error);
}

/* Returns the rounds of the stretches before the current one. */
static uint64_t rounds_before(const struct pt_timeline *timeline, uint64_t stretch)
{
  uint64_t rounds = 0;
  for (uint64_t i = 0; i < stretch; i++)
    rounds += timeline->stretch[i].rounds;
  return rounds;
}

/* A readable checkpoint may still be wrong: numbers that index arrays must fit them. */
static enum gpumc_status
check(const struct pt *pt, const uint64_t counters[ALL_COUNTERS], struct gpumc_error *error)
{
  const struct pt_timeline *timeline = &pt->timeline;
  const uint64_t stretch = counters[COUNTER_STRETCH], done = counters[COUNTER_DONE];
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  bool fits = stretch <= timeline->count && counters[COUNTER_BLOCKS] <= pt->settings.blocks;
  fits = fits && (stretch < timeline->count ? done < timeline->stretch[stretch].rounds : done == 0);
  fits = fits && counters[COUNTER_SWEPT] < pt->settings.round_sweeps &&
         (stretch < timeline->count || counters[COUNTER_SWEPT] == 0);
  fits = fits && counters[COUNTER_ROUND] == rounds_before(timeline, stretch) + done;
  fits = fits && gpumc_configurations_count(&pt->configurations) ==
                     pt_configurations_rows(pt, counters[COUNTER_ROUND]);
  if (fits && counters[COUNTER_BEGUN] != 0)
    fits = ensemble->runs == pt->settings.copies * pt->settings.temperatures;
  if (fits && pt_ladder_ascends(pt->value, pt->settings.temperatures))
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "is damaged: its counters, temperatures, replicas and rows are "
                         "inconsistent");
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct pt *pt = state;
  uint64_t counters[ALL_COUNTERS];
  struct pt_kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(pt, counters, kept);
  GPUMC_TRY(pt_kept_load(pt->context.ensemble, kept, count, NULL, reader, "pt", error));
  GPUMC_TRY(check(pt, counters, error));
  GPUMC_TRY(pt_tempering_load(&pt->tempering, reader, "pt/tempering", error));
  pt->stretch = counters[COUNTER_STRETCH];
  pt->done = counters[COUNTER_DONE];
  pt->round = counters[COUNTER_ROUND];
  pt->swept = (uint32_t)counters[COUNTER_SWEPT];
  pt->begun = counters[COUNTER_BEGUN] != 0;
  pt->bin.blocks = counters[COUNTER_BLOCKS];
  memcpy(pt->bin.rounds, counters + COUNTER_BIN_ROUNDS, sizeof pt->bin.rounds);
  memcpy(pt->counts.rounds, counters + COUNTER_ROUNDS, sizeof pt->counts.rounds);
  if (pt->counts.clusters != NULL)
    pt->counts.cluster_pairs = counters[COUNTER_CLUSTER_PAIRS];
  *finished = pt->stretch == pt->timeline.count;
  return pt_set_temperatures(pt, error);
}

/* ---- from creation to destruction ---- */

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
  free(pt->bin.of_all);
  free(pt->bin.accepted);
  free(pt->counts.accepted);
  free(pt->counts.labelled);
  free(pt->counts.from_hottest);
  free(pt->counts.round_trips);
  free(pt->counts.clusters);
  free(pt->counted);
  free(pt->counted_clusters);
  free(pt->lowest);
  free(pt->history);
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    free(pt->histogram[kind]);
    free(pt->merged[kind].density);
    free(pt->merged[kind].error_of);
  }
  free(pt->row);
  gpumc_configurations_request_free(&pt->request);
  gpumc_configurations_free(&pt->configurations);
  free(pt);
}

static enum gpumc_status allocate_bin(struct pt *pt, struct gpumc_error *error)
{
  const struct pt_settings *settings = &pt->settings;
  const size_t places = settings->temperatures * pt->held;
  GPUMC_TRY(gpumc_allocate_array(&pt->bin.measurements, settings->blocks, "measurements", error));
  GPUMC_TRY(gpumc_allocate_array(&pt->bin.sums, settings->blocks * pt->terms.count * places,
                                 "sums of a bin of time", error));
  GPUMC_TRY(pt_allocate_of_all(pt, error));
  GPUMC_TRY(gpumc_allocate_array(&pt->bin.accepted, settings->temperatures, "exchanges", error));
  return gpumc_allocate_array(&pt->history, PT_BINS_COMPARED * pt->terms.n_compared * places,
                              "averages of the last bins", error);
}

static enum gpumc_status allocate_counts(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  struct pt_counts *counts = &pt->counts;
  GPUMC_TRY(gpumc_allocate_array(&counts->accepted, temperatures, "exchanges", error));
  GPUMC_TRY(gpumc_allocate_array(&counts->labelled, temperatures, "walkers", error));
  GPUMC_TRY(gpumc_allocate_array(&counts->from_hottest, temperatures, "walkers", error));
  GPUMC_TRY(gpumc_allocate_array(&counts->round_trips, pt->held, "round trips", error));
  GPUMC_TRY(gpumc_allocate_array(&pt->counted, PT_COUNTED * temperatures, "exchanges", error));
  GPUMC_TRY(gpumc_allocate_array(&pt->lowest, pt->held, "lowest values", error));
  for (size_t s = 0; s < pt->held; s++)
    pt->lowest[s] = INT64_MAX;
  return pt_clusters_allocate(pt, error);
}

static enum gpumc_status allocate_histograms(struct pt *pt, struct gpumc_error *error)
{
  const size_t rows = pt_histogram_rows(&pt->settings) * pt->settings.temperatures;
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    const size_t bins = pt->tempering.plan.histogram[kind].bins;
    if (bins > 0)
      GPUMC_TRY(gpumc_allocate_array(&pt->histogram[kind], rows * bins, "histograms", error));
  }
  return GPUMC_OK;
}

static enum gpumc_status make_temperatures(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  GPUMC_TRY(gpumc_allocate_array(&pt->value, temperatures, "inverse temperatures", error));
  GPUMC_TRY(gpumc_allocate_array(&pt->run_value, pt->settings.copies * temperatures,
                                 "inverse temperatures", error));
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
  plan.samples = pt->held = pt->context.ensemble->plan.capacity;
  plan.first_sample = pt->context.ensemble->plan.first_replica;
  GPUMC_TRY(pt_timeline_make(&pt->settings, &pt->timeline, error));
  GPUMC_TRY(pt_tempering_create(pt->context.device, &plan, &pt->tempering, error));
  pt->tempering.ensemble = pt->context.ensemble;
  GPUMC_TRY(make_temperatures(pt, error));
  GPUMC_TRY(allocate_bin(pt, error));
  GPUMC_TRY(allocate_counts(pt, error));
  GPUMC_TRY(allocate_histograms(pt, error));
  GPUMC_TRY(gpumc_allocate_array(&pt->row, pt_bin_row_width(pt), "a row", error));
  GPUMC_TRY(pt_tables_declare(pt, error));
  GPUMC_TRY(gpumc_configurations_request_read(&pt->context.params, GPUMC_CONFIGURATIONS_TIMES,
                                              pt->settings.temperatures, &pt->request, error));
  return pt_configurations_declare(pt, error);
}

/* Leaves no partial state: the position may be requested at any time. */
static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct pt *pt;
  GPUMC_TRY(gpumc_allocate_array(&pt, 1, "parallel tempering", error));
  pt->context = *context;
  const enum gpumc_status status = build(pt, error);
  if (status == GPUMC_OK)
    *state = pt;
  else
    destroy(pt);
  return status;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  if (!pt->pending)
    return GPUMC_OK;
  pt->pending = false;
  const struct gpumc_processes *processes = pt->context.device->processes;
  gpumc_processes_enter(processes, PT_STAGE_TALLY); /* for messages; the device carries on */
  const enum gpumc_status status = pt_collect(pt, error);
  gpumc_processes_enter(processes, PT_STAGE_OTHER);
  return status;
}

/* Ends the current stretch. The next one may begin before the sums arrive, unless they decide
 * temperatures. */
static enum gpumc_status end_stretch(struct pt *pt, struct gpumc_error *error)
{
  const bool tuning = pt->timeline.stretch[pt->stretch].phase == PT_TUNING;
  GPUMC_TRY(pt_publish(pt, error));
  pt->stretch++;
  pt->done = 0;
  pt->pending = true;
  return tuning || pt->stretch == pt->timeline.count ? settle(pt, error) : GPUMC_OK;
}

static size_t processes_of(const struct pt *pt)
{
  return pt->context.processes != NULL ? (size_t)pt->context.processes->module.size : 1;
}

/* Enqueues a unit of sweeps and, once the device has enough work, records the previous stretch. */
static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct pt *pt = state;
  const struct gpumc_model *model = pt->context.model;
  const uint64_t round_sweeps = pt->settings.round_sweeps;
  const uint64_t all = pt->timeline.stretch[pt->stretch].rounds * round_sweeps;
  const uint64_t done = pt->done * round_sweeps + pt->swept;
  const uint64_t unit = pt_unit_sweeps(&pt->settings, model, processes_of(pt));
  const uint64_t sweeps = all - done < unit ? all - done : unit;
  *finished = false;
  if (!pt->begun)
    GPUMC_TRY(pt_begin(pt, error));
  GPUMC_TRY(pt_enqueue(pt, sweeps, error));
  if (done + sweeps == all || done + sweeps >= pt_sweeps_ahead(&pt->settings, model))
    GPUMC_TRY(settle(pt, error));
  if (done + sweeps == all)
    GPUMC_TRY(end_stretch(pt, error));
  *finished = pt->stretch == pt->timeline.count;
  return GPUMC_OK;
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
    "}\n"
    "@article{Houdayer2001,\n"
    "  author  = {Houdayer, J.},\n"
    "  title   = {A cluster {M}onte {C}arlo algorithm for 2-dimensional spin glasses},\n"
    "  journal = {The European Physical Journal B},\n"
    "  volume  = {22},\n"
    "  pages   = {479--484},\n"
    "  year    = {2001},\n"
    "  doi     = {10.1007/PL00011151}\n"
    "}\n"
    "@article{Joerg2005,\n"
    "  author  = {J{\\\"o}rg, Thomas},\n"
    "  title   = {Cluster {M}onte {C}arlo Algorithms for Diluted Spin Glasses},\n"
    "  journal = {Progress of Theoretical Physics Supplement},\n"
    "  volume  = {157},\n"
    "  pages   = {349--352},\n"
    "  year    = {2005},\n"
    "  doi     = {10.1143/PTPS.157.349}\n"
    "}\n";

/* Samples are independent of each other; temperatures exchange replicas. */
static const enum gpumc_division divides[] = {GPUMC_BY_REPLICAS, GPUMC_BY_RUNS, GPUMC_UNDIVIDED};

static const char *const stages[] = {"sweep", "tally", "exchange", NULL};

const struct gpumc_algorithm_ops gpumc_algorithm_pt = {
    .name = "pt",
    .summary = "parallel tempering: replicas of many temperatures and samples, exchanged",
    .citation = citation,
    .keys = pt_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE |
                GPUMC_OPERATION_EXCHANGE, /* these imply overlaps (core/simulation/model.h) */
    .divides = divides,
    .sweeps_alone = true,
    .merger = &pt_merger,
    .checks = pt_checks,
    .defaults = pt_defaults,
    .warn = pt_warn,
    .replicas = pt_replicas,
    .needs = pt_needs,
    .demand = pt_demand,
    .create = create,
    .advance = advance,
    .position = position,
    .settle = settle,
    .bring_together = pt_bring_together,
    .save = save,
    .load = load,
    .summarize = pt_summarize,
    .destroy = destroy,
};
