/* Parallel tempering's state to and from a checkpoint: the same arrays from every device. */
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/tempering_record.h"

/* A part of the state: an array of the device. */
struct part {
  const char *name;
  enum gpumc_element element;
  size_t rows, width;
  void *memory;
};

enum { PARTS_MAXIMUM = 8 + GPUMC_OVERLAPS, NAME_BYTES = 128 };

static size_t element_bytes(enum gpumc_element element)
{
  return element == GPUMC_UINT32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

/* Those that hold anything. */
static size_t list_parts(const struct gpumc_tempering *tempering, struct part part[PARTS_MAXIMUM])
{
  static const char *const bins[GPUMC_OVERLAPS] = {"spin_bins", "link_bins", "wave_bins"};
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(plan);
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  uint8_t *record = tempering->record;
  const struct part all[PARTS_MAXIMUM] = {
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
      part[count++] = (struct part){bins[k], GPUMC_UINT64, plan->strata * temperatures,
                                    plan->histogram[k].bins, tempering->bins[k]};
  return count;
}

/* The calls that the record is about. */
enum { CALLS_MEASUREMENTS, CALLS_EVEN_ROUNDS, CALLS_ODD_ROUNDS, N_CALLS };

static void array_name(const char *name, const char *part, char text[NAME_BYTES])
{
  snprintf(text, NAME_BYTES, "%s/%s", name, part);
}

static enum gpumc_status save_part(const struct gpumc_tempering *tempering, const struct part *part,
                                   struct gpumc_checkpoint_writer *writer, const char *name,
                                   struct gpumc_error *error)
{
  char text[NAME_BYTES];
  const size_t bytes = element_bytes(part->element), count = part->rows * part->width;
  void *values = NULL;
  array_name(name, part->name, text);
  enum gpumc_status status = gpumc_allocate(count, bytes, text, &values, error);
  if (status == GPUMC_OK)
    status = tempering->device->ops->copy_to_host(tempering->device, values, part->memory,
                                                  count * bytes, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_put(writer, text, part->element, part->rows, part->width, values, error);
  free(values);
  return status;
}

static enum gpumc_status load_part(const struct gpumc_tempering *tempering, const struct part *part,
                                   struct gpumc_checkpoint_reader *reader, const char *name,
                                   struct gpumc_error *error)
{
  char text[NAME_BYTES];
  const size_t bytes = element_bytes(part->element), count = part->rows * part->width;
  void *values = NULL;
  array_name(name, part->name, text);
  enum gpumc_status status = gpumc_allocate(count, bytes, text, &values, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, text, part->element, 0, part->rows, part->width,
                                       values, error);
  if (status == GPUMC_OK)
    status = tempering->device->ops->copy_to_device(tempering->device, part->memory, values,
                                                    count * bytes, error);
  free(values);
  return status;
}

enum gpumc_status gpumc_tempering_save(const struct gpumc_tempering *tempering,
                                       struct gpumc_checkpoint_writer *writer, const char *name,
                                       struct gpumc_error *error)
{
  char text[NAME_BYTES];
  struct part part[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, part);
  const struct gpumc_tempering_calls *calls = &tempering->calls;
  const uint64_t numbers[N_CALLS] = {[CALLS_MEASUREMENTS] = calls->measurements,
                                     [CALLS_EVEN_ROUNDS] = calls->rounds[0],
                                     [CALLS_ODD_ROUNDS] = calls->rounds[1]};
  array_name(name, "calls", text);
  enum gpumc_status status =
      gpumc_checkpoint_put(writer, text, GPUMC_UINT64, N_CALLS, 1, numbers, error);
  for (size_t i = 0; i < count && status == GPUMC_OK; i++)
    status = save_part(tempering, &part[i], writer, name, error);
  return status;
}

enum gpumc_status gpumc_tempering_load(struct gpumc_tempering *tempering,
                                       struct gpumc_checkpoint_reader *reader, const char *name,
                                       struct gpumc_error *error)
{
  char text[NAME_BYTES];
  struct part part[PARTS_MAXIMUM];
  const size_t count = list_parts(tempering, part);
  uint64_t numbers[N_CALLS];
  array_name(name, "calls", text);
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, text, GPUMC_UINT64, 0, N_CALLS, 1, numbers, error);
  for (size_t i = 0; i < count && status == GPUMC_OK; i++)
    status = load_part(tempering, &part[i], reader, name, error);
  if (status == GPUMC_OK)
    tempering->calls = (struct gpumc_tempering_calls){
        .measurements = numbers[CALLS_MEASUREMENTS],
        .rounds = {numbers[CALLS_EVEN_ROUNDS], numbers[CALLS_ODD_ROUNDS]}};
  return status;
}
