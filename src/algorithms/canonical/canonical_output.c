/* Canonical runs: averages over bins of the time, and over the time for every replica. */
#include "algorithms/canonical/canonical_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/curves.h"

enum { LONGEST_PATH = 64 };

/* table[quantities][place->count[0]] over the axis. */
static enum gpumc_status write_table(const struct canonical *canonical,
                                     const struct gpumc_curve_place *place,
                                     const struct gpumc_label *axis, const double *along,
                                     const double *table, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_curve_write_axis(place, 0, axis, true, along, error);
  for (size_t q = 0; q < canonical->quantities.count && status == GPUMC_OK; q++) {
    const struct gpumc_label *label = &canonical->quantities.observables.mean[q]->label;
    status = gpumc_curve_write(place, label, false, table + q * place->count[0], error);
  }
  return status;
}

struct paths {
  char group[LONGEST_PATH], axis[LONGEST_PATH];
};

static struct gpumc_curve_place place_of(const struct canonical *canonical, size_t m,
                                         const char *table, const char *axis, size_t count,
                                         struct paths *paths)
{
  snprintf(paths->group, sizeof paths->group, "runs/%04zu/%s", m, table);
  snprintf(paths->axis, sizeof paths->axis, "runs/%04zu/%s/%s", m, table, axis);
  return (struct gpumc_curve_place){.recorder = canonical->context.recorder,
                                    .model = canonical->context.model,
                                    .group = paths->group,
                                    .axis = {paths->axis},
                                    .count = {count}};
}

/* The complete bins, averages over the replicas. */
static enum gpumc_status
write_bins(const struct canonical *canonical, size_t m, double *scratch, struct gpumc_error *error)
{
  static const struct gpumc_label axis = {"sweep",
                                          "sweeps from the end of the thermalization to the end of "
                                          "the bin",
                                          "sweeps", "t"};
  const struct gpumc_bins *bins = &canonical->sums[m].bins;
  const size_t count = (size_t)bins->state[GPUMC_BINS_COUNT];
  const double length =
      (double)bins->state[GPUMC_BINS_LENGTH] * (double)canonical->settings.interval;
  struct paths paths;
  const struct gpumc_curve_place place = place_of(canonical, m, "bins", axis.name, count, &paths);
  double *along = scratch, *table = along + count;
  double *mean = table + canonical->quantities.count * count;
  for (size_t b = 0; b < count; b++) {
    along[b] = (double)(b + 1) * length;
    gpumc_bins_mean(bins, b, mean);
    for (size_t q = 0; q < canonical->quantities.count; q++)
      table[q * count + b] = mean[q];
  }
  return write_table(canonical, &place, &axis, along, table, error);
}

static enum gpumc_status write_replicas(const struct canonical *canonical, size_t m,
                                        double *scratch, struct gpumc_error *error)
{
  static const struct gpumc_label axis = {"replica", "index of the replica, from 0", "1", ""};
  const size_t replicas = canonical->settings.replicas;
  struct paths paths;
  const struct gpumc_curve_place place =
      place_of(canonical, m, "replicas", axis.name, replicas, &paths);
  double *along = scratch, *table = along + replicas;
  for (size_t r = 0; r < replicas; r++)
    along[r] = (double)r;
  for (size_t i = 0; i < canonical->quantities.count * replicas; i++)
    table[i] = canonical->sums[m].replica[i] / (double)canonical->measured;
  return write_table(canonical, &place, &axis, along, table, error);
}

enum gpumc_status canonical_write_runs(const struct canonical *canonical, struct gpumc_error *error)
{
  const size_t replicas = canonical->settings.replicas;
  const size_t most = replicas > GPUMC_BINS_MOST ? replicas : GPUMC_BINS_MOST;
  double *scratch = NULL;
  enum gpumc_status status = gpumc_allocate_array(
      &scratch, (1 + canonical->quantities.count) * most + canonical_scratch_width(canonical),
      "tables of the result", error);
  for (size_t m = 0; m < canonical->betas.count && status == GPUMC_OK; m++) {
    status = write_bins(canonical, m, scratch, error);
    if (status == GPUMC_OK)
      status = write_replicas(canonical, m, scratch, error);
  }
  free(scratch);
  return status;
}
