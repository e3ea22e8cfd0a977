/* Parallel tempering's own part of the work on a device: which replicas are exchanged, the sums
 * meanwhile, and where the walkers have been. Models and kernels know nothing of it.
 *
 * Temperatures t = 0 .. T-1 from the hottest to the coldest, copies c = 0 .. C-1 of all of them and
 * samples s = 0 .. S-1. Place (c, t, s) is replica s of the ensemble's run c T + t, and element
 * (c T + t) S + s of every array of places. Pairs of copies (c, d), c < d, are in the order (0, 1),
 * (0, 2), .., (1, 2), ..: element (p T + t) S + s of an array of overlaps compares the replicas at
 * (c, t, s) and (d, t, s).
 *
 * One round:
 *
 *   gpumc_ensemble_sweep_each(.., tempering.channel)          energies of all places, at least
 *   ensemble->ops->compare(.., T runs, tempering.pair + p T S)   for every pair of copies
 *   pt_tempering_accumulate                                both only on measuring rounds
 *   pt_tempering_exchange                                  decides
 *   ensemble->ops->exchange(.., tempering.swap)               moves the replicas
 *   pt_tempering_exchange_clusters                         between copies, in some rounds
 *
 * Operations are enqueued in the order of the calls (core/device/device.h) and wait for nothing;
 * their findings are copied to the host by `publish` and, later, `collect`. Every number is decided
 * by integers or by sums in a fixed order, so it is the same, bit for bit, on all devices. The
 * formulas are in algorithms/pt/pt_rules.h. */
#ifndef GPUMC_ALGORITHMS_PT_TEMPERING_H
#define GPUMC_ALGORITHMS_PT_TEMPERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/numerics/random.h"
#include "core/simulation/kernel.h"
#include "core/storage/checkpoint.h"

enum { PT_TERMS_MAXIMUM = 32 };

/* A sum that is kept for every temperature and sample: of x, |x|, x^2 or x^4 over the copies (or
 * the pairs of copies) and the measurements, x = scale times the measured integer; for products, of
 * x in one copy times x in the other. */
struct pt_term {
  enum gpumc_mean_source source;
  uint32_t index;                  /* of the channel, or of the pair */
  enum gpumc_moment_choice moment; /* products: GPUMC_SUM_FIRST */
  double scale;
};

/* Bins of an overlap: number (value - lowest) / spacing, rounded down; every measured value falls
 * into one of them. bins = 0: no histogram. */
struct pt_histogram {
  int64_t lowest, spacing;
  size_t bins;
};

/* Parameters that are fixed when it is created. Channels and overlaps that no term and no histogram
 * uses are not kept, except for the tracked and the conjugate one. */
struct pt_tempering_plan {
  size_t temperatures, copies, samples; /* >= 1; places are fewer than 2^32 */
  size_t first_sample;                  /* of the share: number in the whole, for counters */
  size_t n_channels;                    /* of the model */
  size_t tracked;                       /* channel whose lowest value is kept */
  size_t conjugate;                     /* channel by which exchanges are decided */
  size_t n_terms;
  struct pt_term term[PT_TERMS_MAXIMUM];
  struct pt_histogram histogram[GPUMC_PAIRS_MAXIMUM];
  bool clusters; /* are exchanged between copies, and counted */
  size_t strata; /* of histograms: number s of the whole is in stratum s mod strata; >= 1 */
};

/* The findings between two publications. Arrays are the slot's. */
struct pt_outcome {
  uint64_t measurements;    /* calls of `accumulate` */
  uint64_t rounds[2];       /* calls of `exchange` by parity: pair t took part in rounds[t % 2] */
  const double *sums;       /* [n_terms][temperatures][samples] */
  const uint64_t *accepted; /* [temperatures] exchanges of t and t + 1, all copies and samples */
  const uint64_t *labelled; /* [temperatures] walkers met there after an exchange that have been
                               at the hottest or the coldest temperature before */
  const uint64_t *from_hottest; /* [temperatures] those of them that visited the hottest last */
  const int64_t *lowest;        /* [samples] lowest value of the tracked channel, in quanta */
  const uint32_t *round_trips;  /* [copies][samples] from the hottest to the coldest and back */
  uint64_t cluster_pairs;       /* pairs of copies in calls of `exchange_clusters` */
  const struct gpumc_cluster_counts *clusters; /* [temperatures], all pairs and samples; if any */
};

struct pt_steps;

/* Calls counted since the last publication. */
struct pt_calls {
  uint64_t measurements, rounds[2], cluster_pairs;
};

/* Pointers are to device memory. */
struct pt_tempering {
  struct pt_tempering_plan plan;
  struct gpumc_device *device;
  const struct pt_steps *steps; /* the device's */
  /* The ensemble of these samples; NULL, as at first: all samples are here. If processes divide it
   * (core/simulation/columns.h), a checkpoint has the samples of all. */
  const struct gpumc_ensemble *ensemble;
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM]; /* [copies][temperatures][samples]; NULL: not kept */
  int64_t *pair[GPUMC_PAIRS_MAXIMUM];       /* [pairs][temperatures][samples]; NULL: not kept */
  uint32_t *swap;   /* [copies][temperatures][gpumc_swap_words(samples)], of the last exchange */
  uint32_t *walker; /* [copies][temperatures][samples], see algorithms/pt/pt_rules.h */
  uint64_t
      *bins[GPUMC_PAIRS_MAXIMUM]; /* [strata][temperatures][bins]; NULL: none. For copy_to_host */
  double *step;    /* [temperatures] coefficient[t + 1] - coefficient[t], times the quantum */
  uint8_t *record; /* the published record (algorithms/pt/pt_device.h) */
  struct pt_calls calls, published[GPUMC_SLOTS];
  struct gpumc_slot slot[GPUMC_SLOTS];
};

/* Returns C (C - 1) / 2. */
static inline size_t pt_tempering_pairs(const struct pt_tempering_plan *plan)
{
  return plan->copies * (plan->copies - 1) / 2;
}

/* Returns how many values a term adds up in one measurement of a sample. */
static inline size_t pt_tempering_values(const struct pt_tempering_plan *plan, size_t term)
{
  return plan->term[term].source == GPUMC_MEAN_CHANNEL ? plan->copies : pt_tempering_pairs(plan);
}

/* Return its device memory, and the host memory beside it. */
size_t pt_tempering_bytes(const struct gpumc_device *device, const struct pt_tempering_plan *plan);
size_t
pt_tempering_host_bytes(const struct gpumc_device *device, const struct pt_tempering_plan *plan);
/* Creates it started, but without temperatures. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_create(struct gpumc_device *device, const struct pt_tempering_plan *plan,
                    struct pt_tempering *tempering, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void pt_tempering_free(struct pt_tempering *tempering);
/* Moves every walker to the place with its number; sets sums, counters and histograms to 0.
 * Waits. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_start(struct pt_tempering *tempering, struct gpumc_error *error);
/* Sets coefficient[temperatures] of the conjugate channel in - ln of the weight, beta for the
 * energy, and its quantum. Waits for what was enqueued. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_set_temperatures(struct pt_tempering *tempering, const double *coefficient,
                              double quantum, struct gpumc_error *error);
/* Adds the current channels and overlaps to the sums and, with `histogram`, the overlaps to the
 * histograms; finds the lowest values of the tracked channel. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_accumulate(struct pt_tempering *tempering, bool histogram, struct gpumc_error *error);
/* Decides on an exchange of the temperatures t and t + 1 for every t with t % 2 = round % 2, in
 * every copy and sample: accepted with the probability min(1, exp((c[t + 1] - c[t]) (X[t + 1] -
 * X[t]))), c the coefficients and X the conjugate channel: beta and the energy. Writes `swap`,
 * exchanges channels and walkers, and counts. `random`: the generator of the ensemble's run 0
 * (gpumc_ensemble_random); the number of a round is used only once. */
GPUMC_MUST_CHECK enum gpumc_status pt_tempering_exchange(struct pt_tempering *tempering,
                                                         struct gpumc_random random, uint32_t round,
                                                         struct gpumc_error *error);
/* Exchanges a cluster between the copies first and second, first < second, of every sample at the
 * temperatures from number `hottest` on, and counts. Channels and overlaps are no longer those of
 * the replicas afterwards. `round`: used once for a pair. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_exchange_clusters(struct pt_tempering *tempering, struct gpumc_ensemble *ensemble,
                               size_t first, size_t second, size_t hottest,
                               enum gpumc_cluster_rule rule, uint32_t round,
                               struct gpumc_error *error);
/* Starts copying sums and counters to `slot` < GPUMC_SLOTS; on the device they become 0. Histograms
 * are not published; they keep counting. */
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_publish(struct pt_tempering *tempering, size_t slot, struct gpumc_error *error);
/* Waits for it; the outcome is valid until the slot is published again. */
GPUMC_MUST_CHECK enum gpumc_status pt_tempering_collect(struct pt_tempering *tempering, size_t slot,
                                                        struct pt_outcome *outcome,
                                                        struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pt_tempering_clear_histograms(struct pt_tempering *tempering, struct gpumc_error *error);

/* Saves walkers, histograms and everything not yet published to the arrays NAME/.. of a checkpoint,
 * or loads them; it may come from another device. Channels, overlaps, swap words and temperatures
 * are not part of it: they are set anew in every round, or by the caller that loads. `name`:
 * "pt/tempering", say. Collective; counts of all processes together continue in the root. */
GPUMC_MUST_CHECK enum gpumc_status pt_tempering_save(const struct pt_tempering *tempering,
                                                     struct gpumc_checkpoint_writer *writer,
                                                     const char *name, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pt_tempering_load(struct pt_tempering *tempering,
                                                     struct gpumc_checkpoint_reader *reader,
                                                     const char *name, struct gpumc_error *error);

/* A process's part of an array of a checkpoint. */
enum pt_holding {
  PT_HOLDS_ALL,     /* all of it, like every process */
  PT_HOLDS_COLUMNS, /* the columns of its samples */
  PT_HOLDS_ROWS,    /* likewise, but each sample is a row */
  PT_HOLDS_COUNTS   /* its counts in its samples: numbers on the device */
};

struct pt_kept {
  struct gpumc_part part;
  enum pt_holding holding;
};

/* Like gpumc_parts_save and gpumc_parts_load, for arrays of all processes. `ensemble`: that of the
 * samples; NULL: a single process. Collective. */
GPUMC_MUST_CHECK enum gpumc_status
pt_kept_save(const struct gpumc_ensemble *ensemble, const struct pt_kept *kept, size_t count,
             struct gpumc_device *device, struct gpumc_checkpoint_writer *writer, const char *name,
             struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pt_kept_load(const struct gpumc_ensemble *ensemble, const struct pt_kept *kept, size_t count,
             struct gpumc_device *device, struct gpumc_checkpoint_reader *reader, const char *name,
             struct gpumc_error *error);

#endif
