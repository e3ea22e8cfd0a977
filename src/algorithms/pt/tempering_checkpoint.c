/* Parallel tempering's state to and from a checkpoint: the same arrays from every device. */
#include "algorithms/pt/tempering_record.h"
#include "core/storage/checkpoint_parts.h"

enum { PARTS_MAXIMUM = 8 + GPUMC_OVERLAPS };

/* Those that hold anything. */
static size_t
list_parts(const struct gpumc_tempering *tempering, struct gpumc_part part[PARTS_MAXIMUM])
{
  static const char *const bins[GPUMC_OVERLAPS] = {"spin_bins", "link_bins", "wave_bins"};
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(plan);
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  uint8_t *record = tempering->record;
  const struct gpumc_part all[PARTS_MAXIMUM] = {
      {"walker", GPUMC_UINT32, plan->copies * temperatures, samples, tempering->walker},
      {"sums", GPUMC_FLOAT64, plan->n_terms * temperatures, samples, record + layout.sums},
      {"accepted", GPUMC_UINT64, temperatures, 1, record + layout.accepted},
      {"labelled", GPUMC_UINT64, temperatures, 1, record + layout.labelled},
      {"from_hottest", GPUMC_UINT64, temperatures, 1, record + layout.from_hottest},
      {"lowest", GPUMC_INT64, samples, 1, record + layout.lowest},
      {"round_trips", GPUMC_UINT32, plan->copies, samples, record + layout.round_trips},
  };
  size_t count = 0;
  for (size_t i = 0; i < PARTS_MAXIMUM; i++)
    if (all[i].rows > 0)
      part[count++] = all[i];
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++)
    if (tempering->bins[k] != NULL)
      part[count++] = (struct gpumc_part){bins[k], GPUMC_UINT64, plan->strata * temperatures,
                                          plan->histogram[k].bins, tempering->bins[k]};
  return count;
}

/* The calls that the record is about. */
enum { CALLS_MEASUREMENTS, CALLS_EVEN_ROUNDS, CALLS_ODD_ROUNDS, N_CALLS };

static struct gpumc_part calls_part(uint64_t numbers[N_CALLS])
{
  return (struct gpumc_part){"calls", GPUMC_UINT64, N_CALLS, 1, numbers};
}

enum gpumc_status gpumc_tempering_save(const struct gpumc_tempering *tempering,
                                       struct gpumc_checkpoint_writer *writer, const char *name,
                                       struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, part);
  const struct gpumc_tempering_calls *calls = &tempering->calls;
  uint64_t numbers[N_CALLS] = {[CALLS_MEASUREMENTS] = calls->measurements,
                               [CALLS_EVEN_ROUNDS] = calls->rounds[0],
                               [CALLS_ODD_ROUNDS] = calls->rounds[1]};
  const struct gpumc_part of_calls = calls_part(numbers);
  enum gpumc_status status = gpumc_parts_save(&of_calls, 1, NULL, writer, name, error);
  return status == GPUMC_OK ? gpumc_parts_save(part, count, tempering->device, writer, name, error)
                            : status;
}

enum gpumc_status gpumc_tempering_load(struct gpumc_tempering *tempering,
                                       struct gpumc_checkpoint_reader *reader, const char *name,
                                       struct gpumc_error *error)
{
  struct gpumc_part part[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, part);
  uint64_t numbers[N_CALLS];
  const struct gpumc_part of_calls = calls_part(numbers);
  enum gpumc_status status = gpumc_parts_load(&of_calls, 1, NULL, reader, name, error);
  if (status == GPUMC_OK)
    status = gpumc_parts_load(part, count, tempering->device, reader, name, error);
  if (status == GPUMC_OK)
    tempering->calls = (struct gpumc_tempering_calls){
        .measurements = numbers[CALLS_MEASUREMENTS],
        .rounds = {numbers[CALLS_EVEN_ROUNDS], numbers[CALLS_ODD_ROUNDS]}};
  return status;
}
