/* Parallel tempering's work on a device, to and from a checkpoint: the same arrays from every
 * device and any number of processes. */
#include <stdlib.h>

#include "algorithms/pt/pt_device.h"
#include "core/base/memory.h"
#include "core/simulation/columns.h"
#include "core/storage/checkpoint.h"

enum { PARTS_MAXIMUM = 7 + GPUMC_PAIRS_MAXIMUM };

/* What a process has of an array of all samples. */
enum holding {
  HOLDS_COLUMNS, /* those of its samples */
  HOLDS_ROWS,    /* the same; a sample is a row */
  HOLDS_COUNTS   /* what it has counted in them */
};

struct kept {
  struct gpumc_part part;
  enum holding holding;
};

/* Those that hold anything. */
static size_t list_parts(const struct pt_tempering *tempering, struct kept kept[PARTS_MAXIMUM])
{
  static const char *const bins[GPUMC_PAIRS_MAXIMUM] = {"spin_bins", "link_bins", "wave_bins"};
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_layout layout = pt_layout_make(plan);
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  uint8_t *record = tempering->record;
  const struct kept all[] = {
      {{"walker", GPUMC_UINT32, plan->copies * temperatures, samples, tempering->walker},
       HOLDS_COLUMNS},
      {{"sums", GPUMC_FLOAT64, plan->n_terms * temperatures, samples, record + layout.sums},
       HOLDS_COLUMNS},
      {{"accepted", GPUMC_UINT64, temperatures, 1, record + layout.accepted}, HOLDS_COUNTS},
      {{"labelled", GPUMC_UINT64, temperatures, 1, record + layout.labelled}, HOLDS_COUNTS},
      {{"from_hottest", GPUMC_UINT64, temperatures, 1, record + layout.from_hottest}, HOLDS_COUNTS},
      {{"lowest", GPUMC_INT64, samples, 1, record + layout.lowest}, HOLDS_ROWS},
      {{"round_trips", GPUMC_UINT32, plan->copies, samples, record + layout.round_trips},
       HOLDS_COLUMNS},
  };
  size_t count = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].part.rows > 0)
      kept[count++] = all[i];
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (tempering->bins[k] != NULL)
      kept[count++] = (struct kept){{bins[k], GPUMC_UINT64, plan->strata * temperatures,
                                     plan->histogram[k].bins, tempering->bins[k]},
                                    HOLDS_COUNTS};
  return count;
}

static bool is_divided(const struct pt_tempering *tempering)
{
  return tempering->ensemble != NULL && tempering->ensemble->plan.division == GPUMC_BY_REPLICAS;
}

/* ---- rows of several processes, on the host ---- */

/* Numbers of 64 bits on their way, a row for each sample. */
struct passage {
  struct gpumc_part part; /* as the file has them, in `whole` */
  uint64_t *own, *whole;
  size_t bytes; /* of the own ones */
};

static enum gpumc_status begin(const struct pt_tempering *tempering, const struct gpumc_part *part,
                               struct passage *passage, struct gpumc_error *error)
{
  *passage = (struct passage){.part = *part, .bytes = part->rows * sizeof *passage->own};
  passage->part.rows = gpumc_plan_whole(&tempering->ensemble->plan);
  GPUMC_TRY(gpumc_allocate_array(&passage->own, part->rows, part->name, error));
  GPUMC_TRY(gpumc_allocate_array(&passage->whole, passage->part.rows, part->name, error));
  passage->part.values = passage->whole;
  return GPUMC_OK;
}

static void end(struct passage *passage)
{
  free(passage->own);
  free(passage->whole);
}

static enum gpumc_status
save_rows(const struct pt_tempering *tempering, const struct gpumc_part *part,
          struct gpumc_checkpoint_writer *writer, const char *name, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, begin(tempering, part, &passage, error));
  GPUMC_TRY_OUT(status,
                device->ops->copy_to_host(device, passage.own, part->values, passage.bytes, error));
  GPUMC_TRY_OUT(status, gpumc_columns_gather(tempering->ensemble, passage.own, 1,
                                             sizeof *passage.own, passage.whole, error));
  status = gpumc_parts_save(&passage.part, 1, NULL, writer, name, error);
out:
  end(&passage);
  return status;
}

static enum gpumc_status
load_rows(const struct pt_tempering *tempering, const struct gpumc_part *part,
          struct gpumc_checkpoint_reader *reader, const char *name, struct gpumc_error *error)
{
  struct gpumc_device *device = tempering->device;
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, begin(tempering, part, &passage, error));
  GPUMC_TRY_OUT(status, gpumc_parts_load(&passage.part, 1, NULL, reader, name, error));
  gpumc_columns_take(tempering->ensemble, passage.whole, 1, sizeof *passage.own, passage.own);
  status = device->ops->copy_to_device(device, part->values, passage.own, passage.bytes, error);
out:
  end(&passage);
  return status;
}

/* ---- to and from the file ---- */

static enum gpumc_status save_part(const struct pt_tempering *tempering, const struct kept *kept,
                                   struct gpumc_checkpoint_writer *writer, const char *name,
                                   struct gpumc_error *error)
{
  const struct gpumc_part *part = &kept->part;
  const struct gpumc_ensemble *ensemble = tempering->ensemble;
  if (!is_divided(tempering))
    return gpumc_parts_save(part, 1, tempering->device, writer, name, error);
  switch (kept->holding) {
  case HOLDS_COLUMNS:
    return gpumc_columns_save(ensemble, part, 1, tempering->device, writer, name, error);
  case HOLDS_ROWS:
    return save_rows(tempering, part, writer, name, error);
  case HOLDS_COUNTS:
    break;
  }
  return gpumc_columns_save_counts(ensemble, part, writer, name, error);
}

static enum gpumc_status load_part(const struct pt_tempering *tempering, const struct kept *kept,
                                   struct gpumc_checkpoint_reader *reader, const char *name,
                                   struct gpumc_error *error)
{
  const struct gpumc_part *part = &kept->part;
  const struct gpumc_ensemble *ensemble = tempering->ensemble;
  if (!is_divided(tempering))
    return gpumc_parts_load(part, 1, tempering->device, reader, name, error);
  switch (kept->holding) {
  case HOLDS_COLUMNS:
    return gpumc_columns_load(ensemble, part, 1, tempering->device, reader, name, error);
  case HOLDS_ROWS:
    return load_rows(tempering, part, reader, name, error);
  case HOLDS_COUNTS:
    break;
  }
  return gpumc_columns_load_counts(ensemble, part, reader, name, error);
}

/* The calls that the record is about. */
enum { CALLS_MEASUREMENTS, CALLS_EVEN_ROUNDS, CALLS_ODD_ROUNDS, N_CALLS };

static struct gpumc_part calls_part(uint64_t numbers[N_CALLS])
{
  return (struct gpumc_part){"calls", GPUMC_UINT64, N_CALLS, 1, numbers};
}

enum gpumc_status pt_tempering_save(const struct pt_tempering *tempering,
                                    struct gpumc_checkpoint_writer *writer, const char *name,
                                    struct gpumc_error *error)
{
  struct kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, kept);
  const struct pt_calls *calls = &tempering->calls;
  uint64_t numbers[N_CALLS] = {[CALLS_MEASUREMENTS] = calls->measurements,
                               [CALLS_EVEN_ROUNDS] = calls->rounds[0],
                               [CALLS_ODD_ROUNDS] = calls->rounds[1]};
  const struct gpumc_part of_calls = calls_part(numbers);
  GPUMC_TRY(gpumc_parts_save(&of_calls, 1, NULL, writer, name, error));
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(tempering, &kept[i], writer, name, error));
  return GPUMC_OK;
}

enum gpumc_status pt_tempering_load(struct pt_tempering *tempering,
                                    struct gpumc_checkpoint_reader *reader, const char *name,
                                    struct gpumc_error *error)
{
  struct kept kept[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, kept);
  uint64_t numbers[N_CALLS];
  const struct gpumc_part of_calls = calls_part(numbers);
  GPUMC_TRY(gpumc_parts_load(&of_calls, 1, NULL, reader, name, error));
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(tempering, &kept[i], reader, name, error));
  tempering->calls =
      (struct pt_calls){.measurements = numbers[CALLS_MEASUREMENTS],
                        .rounds = {numbers[CALLS_EVEN_ROUNDS], numbers[CALLS_ODD_ROUNDS]}};
  return GPUMC_OK;
}
