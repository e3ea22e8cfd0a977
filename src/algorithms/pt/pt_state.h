/* Parallel tempering: declarations shared by its files.
 *
 * A temperature is a value of the moved control: an inverse temperature, from the hottest to the
 * coldest, or a field, from the first to the last.
 *
 * Every sample is simulated at every temperature in several copies. The ensemble's run c T + t is
 * copy c at temperature t, from the hottest to the coldest, and replica s of each run is sample s:
 * the s-th disorder sample, or an independent simulation if there is no disorder.
 *
 * Processes divide the samples among them: ensemble, tempering and the host's data by sample are
 * those of the process's own samples, pt.held from tempering.plan.first_sample on. For averages
 * over all samples, settings.samples, each process gets some of the temperatures when a bin of time
 * ends (pt_collect.c); for the summary the root gets all (pt_bring_together). Everything else is
 * the same in every process. */
#ifndef GPUMC_ALGORITHMS_PT_STATE_H
#define GPUMC_ALGORITHMS_PT_STATE_H

#include "algorithms/pt/pt_tempering.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/configurations.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

enum { PT_COMPARED_MAXIMUM = 4 };

/* The terms are the selected means, in their order. */
struct pt_terms {
  size_t count;
  struct pt_term term[PT_TERMS_MAXIMUM];
  size_t tracked, tracked2;
  size_t n_compared, compared[PT_COMPARED_MAXIMUM]; /* between bins of time */
  size_t identity; /* the quantity that is 0 in equilibrium; n_quantities: none */
};

/* Labels of the quantities, borrowed from the model and from here; units are declared ones
 * (curves.h). */
struct pt_labels {
  struct gpumc_label of[GPUMC_QUANTITIES_MAXIMUM];
  char biased[GPUMC_QUANTITIES_MAXIMUM][96];
};

void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   struct pt_terms *terms);
void pt_labels_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                    struct pt_labels *labels);

enum {
  /* With at least this many samples errors come from the scatter of the samples, with fewer from
   * that of blocks of time. */
  PT_SAMPLES_FOR_ERRORS = 8,
  /* Minimum number of blocks of time in a bin: with 128, two or three percent of the series in
   * equilibrium are joined to fewer than the 32 that errors need. */
  PT_BLOCKS = 256,
  /* Bins of time that are compared with each other, including the last one. */
  PT_BINS_COMPARED = 3,
  PT_TUNING_ROUNDS_MINIMUM = 2, /* of an iteration */
  PT_TEMPERATURES_MINIMUM = 2,
  PT_TEMPERATURES_MAXIMUM = 4096,
  PT_COPIES_MAXIMUM = 64,
  PT_PATH_BYTES = 64
};

/* The stages of the device's time, by the names in pt.c. */
enum pt_stage {
  PT_STAGE_OTHER = GPUMC_STAGE_OTHER,
  PT_STAGE_SWEEP,
  PT_STAGE_TALLY,
  PT_STAGE_EXCHANGE
};

/* Exchanges of clusters between copies: after every `every` rounds, 0 for none, at values of the
 * moved control from `least` on. */
struct pt_clusters {
  enum gpumc_cluster_rule rule;
  uint32_t every;
  double least;
};

/* Settings from the configuration. A round is `round_sweeps` sweeps, after which replicas may be
 * exchanged; every `measure_rounds` rounds there is a measurement. */
struct pt_settings {
  size_t samples, copies, temperatures;
  struct gpumc_moved moved; /* the control that differs between temperatures */
  bool exchange;
  uint32_t round_sweeps, measure_rounds;
  uint64_t tuning_rounds; /* of all iterations */
  size_t tuning_iterations;
  uint64_t thermalization_rounds;
  uint64_t measurements;
  size_t blocks; /* of time in a bin, for errors: 1 if these come from samples */
  bool by_time;  /* whether errors come from blocks of time */
  struct pt_clusters clusters;
  struct gpumc_observables observables;
};

/* A stretch of rounds at whose end sums and counters are copied to the host. `index`: the iteration
 * of the tuning, or the bin of time that the block of a measurement belongs to. */
enum pt_phase { PT_TUNING, PT_THERMALIZATION, PT_MEASUREMENT };
struct pt_stretch {
  enum pt_phase phase;
  size_t index;
  uint64_t rounds;
};

/* The whole run. Bins of time are logarithmic, counted from the end: the last one is the last half
 * of the measurements, the one before it the quarter before. */
struct pt_timeline {
  struct pt_stretch *stretch;
  size_t count, bins;
  uint64_t rounds; /* of all */
  uint64_t lead;   /* before the first measured one */
};

/* Exchanges and walkers, summed up since the measurements (or the tuning's iteration) began. */
struct pt_counts {
  uint64_t rounds[2];     /* exchanges of even and of odd pairs */
  uint64_t *accepted;     /* [temperatures] */
  uint64_t *labelled;     /* [temperatures] */
  uint64_t *from_hottest; /* [temperatures] */
  uint64_t *round_trips;  /* The sums of the current bin of time, block by block. */
  uint64_t cluster_pairs; /* of copies that exchanged clusters, at all temperatures that do */
  struct gpumc_cluster_counts *clusters; /* [temperatures]; NULL: they do not */
};

/* The sums of the present bin of time, block by block. */
struct pt_bin {
  size_t blocks;          /* collected so far */
  uint64_t *measurements; /* [blocks] */
  double *sums;           /* [blocks][terms][temperatures][held] */
  double *of_all;         /* [blocks][terms][own temperatures][samples]; NULL if all are held */
  uint64_t *accepted;     /* [temperatures], in this bin */
  uint64_t rounds[2];
};

/* Counts at each temperature, each process in its samples: accepted, labelled, from_hottest. */
enum { PT_COUNTED = 3, PT_CLUSTER_COUNTS = sizeof(struct gpumc_cluster_counts) / sizeof(uint64_t) };

struct pt {
  struct gpumc_context context;
  struct pt_settings settings;
  struct pt_timeline timeline;
  struct pt_terms terms;
  struct pt_labels labels;
  struct pt_tempering tempering;
  struct gpumc_label axis; /* of the control that is moved */
  char axis_of_summary[PT_PATH_BYTES], axis_of_samples[PT_PATH_BYTES]; /* its paths */
  double *value;     /* [temperatures] of it, ascending */
  double *run_value; /* [copies][temperatures], for the ensemble */
  size_t stretch;    /* the current one; timeline.count: all are done */
  uint64_t done;     /* rounds of it */
  uint64_t round;    /* rounds of the whole run */
  uint32_t swept;    /* sweeps of the current round */
  bool begun;        /* the ensemble's replicas are drawn */
  /* The stretch before `stretch` is published, but not yet collected. */
  bool pending;
  size_t held; /* samples that the host has: its own; for the root's summary, all */
  struct pt_bin bin;
  struct pt_counts counts;
  uint64_t *counted; /* [PT_COUNTED][temperatures] of a stretch, over all processes, */
  struct gpumc_cluster_counts *counted_clusters; /* [temperatures], the same */
  int64_t *lowest; /* [held] lowest value of the tracked channel, in quanta */
  /* The compared terms by sample in the last bins, that of bin b at b mod PT_BINS_COMPARED:
   * [PT_BINS_COMPARED][compared][temperatures][held]. */
  double *history;
  /* Histograms of overlaps in the last bin: [rows][temperatures][bins]. Rows are strata of samples
   * or blocks of time. */
  uint64_t *histogram[GPUMC_PAIRS_MAXIMUM];
  /* For a merged result, in place of the histograms: densities and errors, [temperatures][bins]. */
  struct pt_merged_distribution {
    double *density, *error_of;
  } merged[GPUMC_PAIRS_MAXIMUM];
  size_t table_bins, table_tuning;
  double *row;
  struct gpumc_configurations_request request;
  struct gpumc_configurations configurations;
};

extern const struct gpumc_key pt_keys[];
extern const struct gpumc_check pt_checks[];
/* gpumc_algorithm_ops.warn: few simulations of a ladder whose states may all be metastable. */
GPUMC_MUST_CHECK enum gpumc_status
pt_warn(const struct gpumc_params *params, const struct gpumc_model *model,
        const struct gpumc_kernel_ops *kernel, const char **name, char text[GPUMC_WARNING_BYTES],
        struct gpumc_error *error);
/* gpumc_algorithm_ops.replicas */
size_t pt_replicas(const struct gpumc_params *params);
/* gpumc_algorithm_ops.needs */
uint32_t pt_needs(const struct gpumc_params *params);
/* gpumc_algorithm_ops.merger (pt_merge.c) */
extern const struct gpumc_merger pt_merger;
/* gpumc_algorithm_ops.defaults */
cJSON *pt_defaults(const struct gpumc_params *params, const struct gpumc_model *model);
void pt_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct pt_settings *settings);

GPUMC_MUST_CHECK enum gpumc_status pt_timeline_make(const struct pt_settings *settings,
                                                    struct pt_timeline *timeline,
                                                    struct gpumc_error *error);
void pt_timeline_free(struct pt_timeline *timeline);
/* Returns the maximum number of sweeps in one call of `advance`: whole rounds, or a part of one
 * that is long. It follows from the configuration and the number of processes alone. */
uint64_t pt_unit_sweeps(const struct pt_settings *settings, const struct gpumc_model *model,
                        size_t processes);
/* Returns the sweeps of a stretch that are enqueued before the outcome of the previous one is
 * processed, which takes the host a while: a GPU should not wait for it. */
uint64_t pt_sweeps_ahead(const struct pt_settings *settings, const struct gpumc_model *model);
/* Returns the site updates of a sweep of all replicas. */
double pt_sweep_updates(const struct pt_settings *settings, const struct gpumc_model *model);
/* Returns whether "temperatures" are temperatures, for the wording of messages. */
static inline bool pt_moves_beta(const struct pt *pt)
{
  return pt->settings.moved.beta;
}
static inline struct gpumc_controls pt_controls(const struct pt *pt, size_t t)
{
  return gpumc_controls_at(pt->settings.moved.fixed, pt->settings.moved.control, pt->value[t]);
}
static inline bool pt_is_last_bin(const struct pt *pt, const struct pt_stretch *stretch)
{
  return stretch->phase == PT_MEASUREMENT && stretch->index + 1 == pt->timeline.bins;
}

/* Returns whether all are finite and each is above the one before. */
bool pt_ladder_ascends(const double *beta, size_t temperatures);
/* Finds temperatures between the first and the last such that neighbours exchange equally often,
 * judging by the counts at the current ones; keeps the current ones if the new ones would not
 * ascend. */
void pt_ladder_adjust(const struct pt_counts *counts, double places, size_t temperatures,
                      const double *present, double *beta);
/* Returns the share of the exchanges of t and t + 1 that were accepted; NaN for the coldest and if
 * there were none. `places`: copies times samples. */
double pt_acceptance(const uint64_t rounds[2], const uint64_t *accepted, double places,
                     size_t temperatures, size_t t);

/* Returns the rows of the histograms on the host. */
size_t pt_histogram_rows(const struct pt_settings *settings);
/* gpumc_algorithm_ops.demand */
GPUMC_MUST_CHECK enum gpumc_status
pt_demand(const struct gpumc_params *params, const struct gpumc_model *model,
          const struct gpumc_device *device, const struct gpumc_spread *spread,
          struct gpumc_demand *demanded, struct gpumc_error *error);
/* Fills in the work of the device if it has all samples. */
void pt_tempering_plan(const struct pt_settings *settings, const struct gpumc_model *model,
                       const struct pt_terms *terms, struct pt_tempering_plan *plan);

/* Draws the replicas and starts the walkers. */
GPUMC_MUST_CHECK enum gpumc_status pt_begin(struct pt *pt, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pt_set_temperatures(struct pt *pt, struct gpumc_error *error);
/* Enqueues `sweeps` sweeps of the current stretch, and the operations at the end of its rounds. */
GPUMC_MUST_CHECK enum gpumc_status
pt_enqueue(struct pt *pt, uint64_t sweeps, struct gpumc_error *error);
/* Enqueues the end of the current stretch, whose rounds are done. Collective. */
GPUMC_MUST_CHECK enum gpumc_status pt_publish(struct pt *pt, struct gpumc_error *error);
/* Allocates bin.of_all, if it is needed. */
GPUMC_MUST_CHECK enum gpumc_status pt_allocate_of_all(struct pt *pt, struct gpumc_error *error);
/* Waits for the end of the stretch `pt->stretch - 1` and records what it completes. Collective. */
GPUMC_MUST_CHECK enum gpumc_status pt_collect(struct pt *pt, struct gpumc_error *error);
/* gpumc_algorithm_ops.bring_together */
GPUMC_MUST_CHECK enum gpumc_status pt_bring_together(void *state, struct gpumc_error *error);

/* ---- exchanges of clusters (pt_clusters.c) ---- */

static inline bool pt_has_clusters(const struct pt_settings *settings)
{
  return settings->clusters.every > 0;
}
struct pt_pair {
  size_t first, second;
};
/* Returns how many disjoint pairs `copies` copies make; all of them are in one exchange. */
static inline size_t pt_cluster_pairs(size_t copies)
{
  return copies / 2;
}
/* Returns pair number p of exchange number n: any two copies meet once in copies - 1 successive
 * exchanges, or copies, if that is odd and one of them pauses. */
struct pt_pair pt_cluster_pair(size_t copies, uint64_t n, size_t p);
/* Returns the pairs in all exchanges of the rounds before `round`. */
uint64_t pt_cluster_pairs_before(const struct pt_settings *settings, uint64_t round);
/* Called at the end of the current round, after the exchange of temperatures. */
GPUMC_MUST_CHECK enum gpumc_status pt_exchange_clusters(struct pt *pt, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pt_clusters_allocate(struct pt *pt, struct gpumc_error *error);
/* Adds the counts of a stretch up over all processes. */
void pt_clusters_add_up(const struct pt *pt, struct pt_outcome *outcome);
void pt_clusters_count(struct pt *pt, const struct pt_outcome *outcome);
void pt_clusters_clear(struct pt *pt);
/* Writes curves to the summary, `values` [temperatures] being scratch, and a note if clusters
 * percolate. */
GPUMC_MUST_CHECK enum gpumc_status pt_clusters_write(struct pt *pt,
                                                     const struct gpumc_curve_place *place,
                                                     double *values, struct gpumc_error *error);
/* Sets the counts of a merged result from the curves of its sources. */
GPUMC_MUST_CHECK enum gpumc_status
pt_clusters_merge(struct pt *pt, const struct gpumc_sources *sources, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status pt_tables_declare(struct pt *pt, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
pt_configurations_declare(struct pt *pt, struct gpumc_error *error);
/* Returns the number of rows after `round` rounds of the run. */
uint64_t pt_configurations_rows(const struct pt *pt, uint64_t round);
/* Adds what they need of memory and of the result. */
GPUMC_MUST_CHECK enum gpumc_status
pt_configurations_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                         const struct pt_settings *settings, struct gpumc_demand *demanded,
                         struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status pt_summarize(void *state, struct gpumc_error *error);

#endif
