/* Parallel tempering's work on a device, to and from a checkpoint: the same arrays from every
 * device and any number of processes. */
#include "algorithms/pt/pt_device.h"
#include "core/simulation/columns.h"
#include "core/storage/checkpoint.h"

enum {
  PARTS_MAXIMUM = 8 + GPUMC_PAIRS_MAXIMUM,
  COUNTS_OF_CLUSTERS = sizeof(struct gpumc_cluster_counts) / sizeof(uint64_t)
};

/* Lists those that hold anything. */
static size_t list_parts(const struct pt_tempering *tempering, struct pt_kept kept[PARTS_MAXIMUM])
{
  static const char *const bins[GPUMC_PAIRS_MAXIMUM] = {"spin_bins", "link_bins", "wave_bins"};
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_layout layout = pt_layout_make(plan);
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  uint8_t *record = tempering->record;
  const struct pt_kept all[] = {
      {{"walker", GPUMC_UINT32, plan->copies * temperatures, samples, tempering->walker},
       PT_HOLDS_COLUMNS},
      {{"sums", GPUMC_FLOAT64, plan->n_terms * temperatures, samples, record + layout.sums},
       PT_HOLDS_COLUMNS},
      {{"accepted", GPUMC_UINT64, temperatures, 1, record + layout.accepted}, PT_HOLDS_COUNTS},
      {{"labelled", GPUMC_UINT64, temperatures, 1, record + layout.labelled}, PT_HOLDS_COUNTS},
      {{"from_hottest", GPUMC_UINT64, temperatures, 1, record + layout.from_hottest},
       PT_HOLDS_COUNTS},
      {{"lowest", GPUMC_INT64, samples, 1, record + layout.lowest}, PT_HOLDS_ROWS},
      {{"round_trips", GPUMC_UINT32, plan->copies, samples, record + layout.round_trips},
       PT_HOLDS_COLUMNS},
      {{"clusters", GPUMC_UINT64, pt_cluster_counts(plan), COUNTS_OF_CLUSTERS,
        record + layout.clusters},
       PT_HOLDS_COUNTS},
  };
  size_t count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].part.rows > 0)
      kept[count++] = all[i];
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (tempering->bins[k] != NULL)
      kept[count++] = (struct pt_kept){{bins[k], GPUMC_UINT64, plan->strata * temperatures,
                                        plan->histogram[k].bins, tempering->bins[k]},
                                       PT_HOLDS_COUNTS};
  return count;
}

static bool is_divided(const struct gpumc_ensemble *ensemble)
{
  return ensemble != NULL && ensemble->plan.division == GPUMC_BY_REPLICAS;
}

static enum gpumc_status save_part(const struct gpumc_ensemble *ensemble,
                                   const struct pt_kept *kept, struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *name,
                                   struct gpumc_error *error)
{
  const struct gpumc_part *part = &kept->part;
  switch (is_divided(ensemble) ? kept->holding : PT_HOLDS_ALL) {
  case PT_HOLDS_COLUMNS:
    return gpumc_columns_save(ensemble, part, 1, device, writer, name, error);
  case PT_HOLDS_ROWS:
    return gpumc_columns_save_rows(ensemble, part, device, writer, name, error);
  case PT_HOLDS_COUNTS:
    return gpumc_columns_save_counts(ensemble->device, gpumc_columns_processes(ensemble), part,
                                     writer, name, error);
  case PT_HOLDS_ALL:
    break;
  }
  return gpumc_parts_save(part, 1, device, writer, name, error);
}

static enum gpumc_status load_part(const struct gpumc_ensemble *ensemble,
                                   const struct pt_kept *kept, struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *name,
                                   struct gpumc_error *error)
{
  const struct gpumc_part *part = &kept->part;
  switch (is_divided(ensemble) ? kept->holding : PT_HOLDS_ALL) {
  case PT_HOLDS_COLUMNS:
    return gpumc_columns_load(ensemble, part, 1, device, reader, name, error);
  case PT_HOLDS_ROWS:
    return gpumc_columns_load_rows(ensemble, part, device, reader, name, error);
  case PT_HOLDS_COUNTS:
    return gpumc_columns_load_counts(ensemble->device, gpumc_columns_processes(ensemble), part,
                                     reader, name, error);
  case PT_HOLDS_ALL:
    break;
  }
  return gpumc_parts_load(part, 1, device, reader, name, error);
}

enum gpumc_status pt_kept_save(const struct gpumc_ensemble *ensemble, const struct pt_kept *kept,
                               size_t count, struct gpumc_device *device,
                               struct gpumc_checkpoint_writer *writer, const char *name,
                               struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(ensemble, &kept[i], device, writer, name, error));
  return GPUMC_OK;
}

enum gpumc_status pt_kept_load(const struct gpumc_ensemble *ensemble, const struct pt_kept *kept,
                               size_t count, struct gpumc_device *device,
                               struct gpumc_checkpoint_reader *reader, const char *name,
                               struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(ensemble, &kept[i], device, reader, name, error));
  return GPUMC_OK;
}

/* The calls counted for the record. */
enum { CALLS_MEASUREMENTS, CALLS_EVEN_ROUNDS, CALLS_ODD_ROUNDS, N_CALLS };

static struct gpumc_part calls_part(uint64_t numbers[N_CALLS])
{
  return (struct gpumc_part){"calls", GPUMC_UINT64, N_CALLS, 1, numbers};
}

/* The calls that a run without exchanges of clusters does not have. */
static struct gpumc_part cluster_calls_part(uint64_t *pairs)
{
  return (struct gpumc_part){"cluster_pairs", GPUMC_UINT64, 1, 1, pairs};
}

enum gpumc_status pt_tempering_save(const struct pt_tempering *tempering,
                                    struct gpumc_checkpoint_writer *writer, const char *name,
                                    struct gpumc_error *error)
{
  struct pt_kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, kept);
  const struct pt_calls *calls = &tempering->calls;
  uint64_t numbers[N_CALLS] = {[CALLS_MEASUREMENTS] = calls->measurements,
                               [CALLS_EVEN_ROUNDS] = calls->rounds[0],
                               [CALLS_ODD_ROUNDS] = calls->rounds[1]};
  const struct gpumc_part of_calls = calls_part(numbers);
  uint64_t pairs = calls->cluster_pairs;
  const struct gpumc_part of_clusters = cluster_calls_part(&pairs);
  GPUMC_TRY(gpumc_parts_save(&of_calls, 1, NULL, writer, name, error));
  GPUMC_TRY(gpumc_parts_save(&of_clusters, tempering->plan.clusters, NULL, writer, name, error));
  return pt_kept_save(tempering->ensemble, kept, count, tempering->device, writer, name, error);
}

enum gpumc_status pt_tempering_load(struct pt_tempering *tempering,
                                    struct gpumc_checkpoint_reader *reader, const char *name,
                                    struct gpumc_error *error)
{
  struct pt_kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, kept);
  uint64_t numbers[N_CALLS];
  const struct gpumc_part of_calls = calls_part(numbers);
  uint64_t pairs = 0;
  const struct gpumc_part of_clusters = cluster_calls_part(&pairs);
  GPUMC_TRY(gpumc_parts_load(&of_calls, 1, NULL, reader, name, error));
  GPUMC_TRY(gpumc_parts_load(&of_clusters, tempering->plan.clusters, NULL, reader, name, error));
  GPUMC_TRY(pt_kept_load(tempering->ensemble, kept, count, tempering->device, reader, name, error));
  tempering->calls =
      (struct pt_calls){.measurements = numbers[CALLS_MEASUREMENTS],
                        .rounds = {numbers[CALLS_EVEN_ROUNDS], numbers[CALLS_ODD_ROUNDS]},
                        .cluster_pairs = pairs};
  return GPUMC_OK;
}
