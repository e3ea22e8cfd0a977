/* Population annealing: the state at the end, from finished results of other seeds.
 *
 * A result has all rows of all its runs, and of their blocks of families, so those of several
 * results are those of one run of the program with as many independent runs: nothing is lost, and
 * the summary weights runs by their estimates of the partition function as always. Energy
 * histograms, which reweighting needs, are not in results. */
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"

static const char *const dropped[] = {"reweight", "configurations", NULL};

/* Takes the values of the first source's first run: adaptive runs find their own. */
static enum gpumc_status
take_schedule(struct pa *pa, const struct gpumc_source *source, struct gpumc_error *error)
{
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], rank;
  double *values = NULL;
  char path[96];
  enum gpumc_status status;
  snprintf(path, sizeof path, "runs/0000/%s", pa->axis.name);
  GPUMC_TRY(gpumc_source_shape(source, path, shape, &rank, error));
  if (rank != 1)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: %s is not a list of values: leave it out",
                           source->path, path);
  GPUMC_TRY(gpumc_allocate_array(&values, shape[0] + 1, "values of a control", error));
  status = gpumc_source_read(source, path, shape, 1, values, error);
  for (size_t i = pa->schedule.count; i < shape[0] && status == GPUMC_OK; i++)
    status = pa_schedule_append(&pa->schedule, values[i], error);
  free(values);
  return status;
}

/* Adaptive runs of another seed find other values. */
static enum gpumc_status
check_rows(const struct pa *pa, const struct gpumc_source *source, struct gpumc_error *error)
{
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], rank;
  double *values = NULL;
  char path[96];
  enum gpumc_status status;
  snprintf(path, sizeof path, "summary/%s", pa->axis.name);
  GPUMC_TRY(gpumc_source_shape(source, path, shape, &rank, error));
  const size_t count = rank == 1 ? shape[0] : 0;
  bool same = rank == 1 && count == pa->schedule.count;
  GPUMC_TRY(gpumc_allocate_array(&values, count + 1, "values of a control", error));
  status = same ? gpumc_source_read(source, path, shape, 1, values, error) : GPUMC_OK;
  for (size_t i = 0; i < pa->schedule.count && same; i++)
    same = values[i] == pa->schedule.value[i];
  free(values);
  if (status == GPUMC_OK && !same)
    status =
        gpumc_error_set(error, GPUMC_INVALID,
                        "%s has other values of %s than the files before it, because adaptive "
                        "steps depend on the seed: give all runs the values of one as %s.values",
                        source->path, pa->axis.name, pa->schedule.block);
  return status;
}

static enum gpumc_status take_run(struct pa *pa, const struct gpumc_source *source, size_t from,
                                  size_t to, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = pa->context.recorder;
  char group[64];
  snprintf(group, sizeof group, "runs/%04zu", from);
  GPUMC_TRY(gpumc_source_append_rows(source, group, pa->schedule.value, pa->schedule.count,
                                     recorder, pa->tables[to].curve, error));
  snprintf(group, sizeof group, "runs/%04zu/blocks", from);
  GPUMC_TRY(gpumc_source_append_rows(source, group, pa->schedule.value, pa->schedule.count,
                                     recorder, pa->tables[to].blocks, error));
  snprintf(group, sizeof group, "runs/%04zu/steps", from);
  return pa_has_steps(pa) ? gpumc_source_append_rows(source, group, pa->schedule.value,
                                                     pa->schedule.count, recorder,
                                                     pa->tables[to].steps, error)
                          : GPUMC_OK;
}

static enum gpumc_status
fill(void *state, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  struct pa *pa = state;
  size_t run = 0;
  GPUMC_TRY(take_schedule(pa, &sources->of[0], error));
  for (size_t i = 0; i < sources->count; i++) {
    const struct gpumc_source *source = &sources->of[i];
    GPUMC_TRY(check_rows(pa, source, error));
    for (size_t m = 0; m < (size_t)source->counted; m++)
      GPUMC_TRY(take_run(pa, source, m, run++, error));
  }
  pa->batch = (struct pa_batch){run, 0};
  return GPUMC_OK;
}

const struct gpumc_merger pa_merger = {.counted = "runs", .dropped = dropped, .fill = fill};
