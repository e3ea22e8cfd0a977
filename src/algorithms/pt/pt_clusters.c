/* Parallel tempering: exchanges of clusters between the copies of a sample, which pairs of copies
 * exchange them, what is counted, and how it is reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/columns.h"

/* ---- exchanges ---- */

/* A tournament in which everybody meets everybody: the last one of an even number of players stays
 * at its place, the others go round in a circle of `circle` places. For an odd number of copies the
 * last player is none of them. */
struct pt_pair pt_cluster_pair(size_t copies, uint64_t n, size_t p)
{
  const size_t circle = copies % 2 == 0 ? copies - 1 : copies;
  const size_t turn = (size_t)(n % circle), step = copies % 2 == 0 ? p : p + 1;
  const size_t one = (turn + step) % circle;
  const size_t other = step == 0 ? copies - 1 : (turn + circle - step) % circle;
  return one < other ? (struct pt_pair){one, other} : (struct pt_pair){other, one};
}

uint64_t pt_cluster_pairs_before(const struct pt_settings *settings, uint64_t round)
{
  return pt_has_clusters(settings)
             ? round / settings->clusters.every * pt_cluster_pairs(settings->copies)
             : 0;
}

/* Returns the number of the hottest temperature at which clusters are exchanged. */
static size_t hottest_of(const struct pt *pt)
{
  size_t t = 0;
  while (t < pt->settings.temperatures && pt->value[t] < pt->settings.clusters.least)
    t++;
  return t;
}

enum gpumc_status pt_exchange_clusters(struct pt *pt, struct gpumc_error *error)
{
  const struct pt_clusters *clusters = &pt->settings.clusters;
  const size_t hottest = hottest_of(pt), copies = pt->settings.copies;
  if ((pt->round + 1) % clusters->every != 0 || hottest == pt->settings.temperatures)
    return GPUMC_OK;
  pt->context.device->ops->enter(pt->context.device, PT_STAGE_EXCHANGE);
  for (size_t p = 0; p < pt_cluster_pairs(copies); p++) {
    const struct pt_pair pair = pt_cluster_pair(copies, pt->round / clusters->every, p);
    GPUMC_TRY(pt_tempering_exchange_clusters(&pt->tempering, pt->context.ensemble, pair.first,
                                             pair.second, hottest, clusters->rule,
                                             (uint32_t)pt->round, error));
  }
  return GPUMC_OK;
}

/* ---- counts ---- */

enum gpumc_status pt_clusters_allocate(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  if (!pt_has_clusters(&pt->settings))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&pt->counts.clusters, temperatures, "clusters", error));
  return gpumc_allocate_array(&pt->counted_clusters, temperatures, "clusters", error);
}

void pt_clusters_add_up(const struct pt *pt, struct pt_outcome *outcome)
{
  const size_t temperatures = pt->settings.temperatures;
  struct gpumc_cluster_counts *counted = pt->counted_clusters;
  if (counted == NULL)
    return;
  memcpy(counted, outcome->clusters, temperatures * sizeof *counted);
  gpumc_processes_sum(gpumc_columns_processes(pt->context.ensemble), (uint64_t *)counted,
                      PT_CLUSTER_COUNTS * temperatures);
  outcome->clusters = counted;
}

void pt_clusters_count(struct pt *pt, const struct pt_outcome *outcome)
{
  struct gpumc_cluster_counts *counts = pt->counts.clusters;
  pt->counts.cluster_pairs += outcome->cluster_pairs;
  for (size_t t = 0; counts != NULL && t < pt->settings.temperatures; t++) {
    const struct gpumc_cluster_counts *new = &outcome->clusters[t];
    counts[t].exchanges += new->exchanges;
    counts[t].differing += new->differing;
    counts[t].exchanged += new->exchanged;
    counts[t].shares += new->shares;
  }
}

void pt_clusters_clear(struct pt *pt)
{
  pt->counts.cluster_pairs = 0;
  if (pt->counts.clusters != NULL)
    memset(pt->counts.clusters, 0, pt->settings.temperatures * sizeof *pt->counts.clusters);
}

/* ---- curves ---- */

enum curve { DIFFERENT_PAIRS, DIFFERING, SIZE, SHARE, CURVES };

static const struct gpumc_label labels[CURVES] = {
    [DIFFERENT_PAIRS] = {"cluster_exchanges",
                         "share of the pairs of copies that differed and exchanged a cluster", "1",
                         ""},
    [DIFFERING] = {"cluster_differing", "share of the sites at which two copies differed, q = -1",
                   "1", ""},
    [SIZE] = {"cluster_size", "sites of the exchanged cluster, per site", "1", ""},
    [SHARE] = {"cluster_share",
               "share of the sites with q = -1 that are in the exchanged cluster, mean over the "
               "exchanges",
               "1", ""}};

/* The units of a count: 1, and the largest that a curve could have, at a temperature where
 * exchanges take place in `places` pairs of replicas. */
static double unit_of(const struct pt *pt, enum curve curve, double places)
{
  const double sites = (double)pt->context.model->sites;
  return curve == DIFFERENT_PAIRS ? places : places * sites;
}

static const double whole_share = (double)((uint64_t)1 << GPUMC_CLUSTER_SHARE_BITS);

/* Returns a curve's value; NaN where no clusters were exchanged. */
static double value_of(const struct pt *pt, enum curve curve, size_t t)
{
  const struct gpumc_cluster_counts *counts = &pt->counts.clusters[t];
  const double places = (double)pt->counts.cluster_pairs * (double)pt->settings.samples;
  if (t < hottest_of(pt) || places == 0)
    return NAN;
  switch (curve) {
  case DIFFERENT_PAIRS:
    return (double)counts->exchanges / unit_of(pt, curve, places);
  case DIFFERING:
    return (double)counts->differing / unit_of(pt, curve, places);
  case SIZE:
    return (double)counts->exchanged / unit_of(pt, curve, places);
  default:
    return counts->exchanges > 0
               ? (double)counts->shares / ((double)counts->exchanges * whole_share)
               : NAN;
  }
}

/* With more than this share of the sites with q = -1 in it, a cluster is nearly all of them, and
 * its exchange nearly an exchange of the copies. */
static const double percolating = 0.9;

/* Says so, at the coldest such temperature. */
static enum gpumc_status
note_percolation(struct pt *pt, const double *share, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  size_t count = 0, coldest = 0;
  char text[320];
  for (size_t t = 0; t < temperatures; t++)
    if (share[t] > percolating) {
      count++;
      coldest = t;
    }
  if (count == 0)
    return GPUMC_OK;
  const bool is_beta = pt_moves_beta(pt);
  snprintf(
      text, sizeof text,
      "clusters percolate at %zu of %zu %s: %.3g of the sites with q = -1 are in the exchanged "
      "cluster at %s = %.6g, so that copies hardly do more than change places; exchange "
      "clusters where they are smaller%s",
      count, temperatures, is_beta ? "temperatures" : "values", share[coldest],
      is_beta ? "T" : pt->axis.name, is_beta ? 1 / pt->value[coldest] : pt->value[coldest],
      is_beta ? " (cluster_exchange.max_temperature)" : "");
  gpumc_observer_tell(pt->context.observer, GPUMC_NOTE, text);
  return gpumc_recorder_text(pt->context.recorder, "summary", "percolation", text, error);
}

enum gpumc_status pt_clusters_write(struct pt *pt, const struct gpumc_curve_place *place,
                                    double *values, struct gpumc_error *error)
{
  if (!pt_has_clusters(&pt->settings))
    return GPUMC_OK;
  for (int curve = 0; curve < CURVES; curve++) {
    for (size_t t = 0; t < pt->settings.temperatures; t++)
      values[t] = value_of(pt, curve, t);
    GPUMC_TRY(gpumc_curve_write(place, &labels[curve], false, values, error));
  }
  return note_percolation(pt, values, error);
}

/* ---- merging ---- */

static uint64_t count_of(double value, double unit)
{
  return isnan(value) ? 0 : (uint64_t)llround(value * unit);
}

/* Adds the counts of a source of `samples` samples; value[CURVES][temperatures]. */
static void add_counts(struct pt *pt, const double *value, double samples)
{
  const size_t temperatures = pt->settings.temperatures;
  const double places = (double)pt->counts.cluster_pairs * samples;
  for (size_t t = 0; t < temperatures; t++) {
    struct gpumc_cluster_counts *counts = &pt->counts.clusters[t];
    const uint64_t exchanges =
        count_of(value[DIFFERENT_PAIRS * temperatures + t], unit_of(pt, DIFFERENT_PAIRS, places));
    counts->exchanges += exchanges;
    counts->differing +=
        count_of(value[DIFFERING * temperatures + t], unit_of(pt, DIFFERING, places));
    counts->exchanged += count_of(value[SIZE * temperatures + t], unit_of(pt, SIZE, places));
    counts->shares += count_of(value[SHARE * temperatures + t], (double)exchanges * whole_share);
  }
}

enum gpumc_status
pt_clusters_merge(struct pt *pt, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  double *value = NULL;
  enum gpumc_status status;
  pt->counts.cluster_pairs = pt_cluster_pairs_before(&pt->settings, pt->timeline.rounds) -
                             pt_cluster_pairs_before(&pt->settings, pt->timeline.lead);
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&value, CURVES * temperatures, "clusters", error));
  for (size_t i = 0; i < sources->count; i++) {
    for (size_t curve = 0; curve < CURVES; curve++) {
      char path[64];
      snprintf(path, sizeof path, "summary/%s", labels[curve].name);
      GPUMC_TRY_OUT(status, gpumc_source_read(&sources->of[i], path, &temperatures, 1,
                                              value + curve * temperatures, error));
    }
    add_counts(pt, value, (double)sources->of[i].counted);
  }
out:
  free(value);
  return status;
}
