#include "core/simulation/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/shares/share_view.h"

enum { ALL = -1, NAME_BYTES = 128 };

static bool is_divided(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.division == GPUMC_BY_REPLICAS;
}

const struct gpumc_processes *gpumc_columns_processes(const struct gpumc_ensemble *ensemble)
{
  return is_divided(ensemble) ? ensemble->plan.processes : gpumc_processes_alone();
}

/* The rows of all processes, process after process, into the order of the whole. */
static void put_in_order(const struct gpumc_ensemble *ensemble, const uint8_t *received,
                         size_t rows, size_t bytes, uint8_t *whole)
{
  const size_t row_bytes = gpumc_plan_whole(&ensemble->plan) * bytes;
  for (int p = 0; p < ensemble->plan.processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_of(&ensemble->plan, ensemble->plan.runs, p);
    const size_t count = share.replicas * bytes;
    for (size_t row = 0; row < rows; row++, received += count)
      memcpy(whole + row * row_bytes + share.first_replica * bytes, received, count);
  }
}

/* Into process `to`, or into ALL. */
static enum gpumc_status gather(const struct gpumc_ensemble *ensemble, const void *own, size_t rows,
                                size_t bytes, int to, void *whole, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = ensemble->plan.processes;
  const size_t size = (size_t)processes->module.size;
  const bool gets = to == ALL || to == processes->module.rank;
  const size_t all = rows * gpumc_plan_whole(&ensemble->plan) * bytes;
  size_t *counts = NULL;
  uint8_t *received = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&counts, size, "counts of bytes", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&received, gets && all > 0 ? all : 1, "messages", error));
  for (size_t p = 0; p < size; p++)
    counts[p] =
        gpumc_share_of(&ensemble->plan, ensemble->plan.runs, (int)p).replicas * rows * bytes;
  gpumc_processes_gather(processes, own, received, counts, to);
  if (gets)
    put_in_order(ensemble, received, rows, bytes, whole);
out:
  free(counts);
  free(received);
  return status;
}

enum gpumc_status gpumc_columns_gather(const struct gpumc_ensemble *ensemble, const void *own,
                                       size_t rows, size_t bytes, void *whole,
                                       struct gpumc_error *error)
{
  if (is_divided(ensemble))
    return gather(ensemble, own, rows, bytes, ALL, whole, error);
  memmove(whole, own, rows * ensemble->plan.capacity * bytes);
  return GPUMC_OK;
}

void gpumc_columns_take(const struct gpumc_ensemble *ensemble, const void *whole, size_t rows,
                        size_t bytes, void *own)
{
  const size_t from = gpumc_plan_whole(&ensemble->plan) * bytes;
  const size_t first = is_divided(ensemble) ? ensemble->plan.first_replica * bytes : 0;
  const size_t count = ensemble->plan.capacity * bytes;
  for (size_t row = 0; row < rows; row++)
    memmove((uint8_t *)own + row * count, (const uint8_t *)whole + row * from + first, count);
}

enum gpumc_status gpumc_columns_get_own(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                        size_t count, uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_ensemble own = gpumc_share_own_view(ensemble);
  return own.ops->get(&own, m, first, count, portable, error);
}

enum gpumc_status gpumc_columns_set_own(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                        size_t count, const uint8_t *portable,
                                        struct gpumc_error *error)
{
  struct gpumc_ensemble own = gpumc_share_own_view(ensemble);
  return own.ops->set(&own, m, first, count, portable, error);
}

/* ---- checkpoints ---- */

/* Of the whole, bytes that are on their way at once, unless a row has more. */
enum { AT_ONCE_BYTES = 1 << 24 };

/* A part on its way: some rows of it, own and whole, on the host. */
struct passage {
  const struct gpumc_part *part;
  struct gpumc_device *device; /* NULL: the values are the host's */
  char name[NAME_BYTES];
  size_t bytes;       /* of a replica in a row */
  size_t whole_width; /* elements */
  size_t most;        /* rows at once */
  uint8_t *own, *whole;
};

static enum gpumc_status begin(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                               struct gpumc_device *device, const char *prefix,
                               struct passage *passage, struct gpumc_error *error)
{
  const size_t each = part->width / ensemble->plan.capacity;
  const size_t whole = gpumc_plan_whole(&ensemble->plan);
  const size_t bytes = each * gpumc_element_bytes(part->element);
  const size_t fitting = AT_ONCE_BYTES / (whole * bytes > 0 ? whole * bytes : 1);
  *passage = (struct passage){.part = part,
                              .device = device,
                              .bytes = bytes,
                              .whole_width = each * whole,
                              .most = fitting > 1 ? fitting : 1};
  if (passage->most > part->rows)
    passage->most = part->rows > 0 ? part->rows : 1;
  snprintf(passage->name, NAME_BYTES, "%s/%s", prefix, part->name);
  GPUMC_TRY(gpumc_allocate_array(&passage->own, passage->most * ensemble->plan.capacity * bytes,
                                 passage->name, error));
  return gpumc_allocate_array(&passage->whole, passage->most * whole * bytes, passage->name, error);
}

static void end(struct passage *passage)
{
  free(passage->own);
  free(passage->whole);
}

static uint8_t *
row_of(const struct gpumc_ensemble *ensemble, const struct passage *passage, size_t row)
{
  return (uint8_t *)passage->part->values + row * ensemble->plan.capacity * passage->bytes;
}

/* The rows first .. first + count - 1. */
static enum gpumc_status
save_rows(const struct gpumc_ensemble *ensemble, struct passage *passage, size_t first,
          size_t count, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct gpumc_device *device = passage->device;
  const uint8_t *own = row_of(ensemble, passage, first);
  if (device != NULL) {
    GPUMC_TRY(device->ops->copy_to_host(device, passage->own, own,
                                        count * ensemble->plan.capacity * passage->bytes, error));
    own = passage->own;
  }
  GPUMC_TRY(gather(ensemble, own, count, passage->bytes, 0, passage->whole, error));
  return gpumc_checkpoint_put_rows(writer, passage->name, first, count, passage->whole, error);
}

static enum gpumc_status
load_rows(const struct gpumc_ensemble *ensemble, struct passage *passage, size_t first,
          size_t count, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  struct gpumc_device *device = passage->device;
  uint8_t *own = row_of(ensemble, passage, first);
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, passage->name, passage->part->element, first, count,
                                      passage->whole_width, passage->whole, error));
  if (device == NULL) {
    gpumc_columns_take(ensemble, passage->whole, count, passage->bytes, own);
    return GPUMC_OK;
  }
  gpumc_columns_take(ensemble, passage->whole, count, passage->bytes, passage->own);
  return device->ops->copy_to_device(device, own, passage->own,
                                     count * ensemble->plan.capacity * passage->bytes, error);
}

static size_t next_rows(const struct passage *passage, size_t first)
{
  const size_t left = passage->part->rows - first;
  return left < passage->most ? left : passage->most;
}

static enum gpumc_status save_part(const struct gpumc_ensemble *ensemble,
                                   const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, begin(ensemble, part, device, prefix, &passage, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_declare(writer, passage.name, part->element, part->rows,
                                                 passage.whole_width, error));
  for (size_t first = 0; first < part->rows; first += passage.most)
    GPUMC_TRY_OUT(status,
                  save_rows(ensemble, &passage, first, next_rows(&passage, first), writer, error));
out:
  end(&passage);
  return status;
}

static enum gpumc_status load_part(const struct gpumc_ensemble *ensemble,
                                   const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, begin(ensemble, part, device, prefix, &passage, error));
  for (size_t first = 0; first < part->rows; first += passage.most)
    GPUMC_TRY_OUT(status,
                  load_rows(ensemble, &passage, first, next_rows(&passage, first), reader, error));
out:
  end(&passage);
  return status;
}

enum gpumc_status gpumc_columns_save(const struct gpumc_ensemble *ensemble,
                                     const struct gpumc_part *parts, size_t count,
                                     struct gpumc_device *device,
                                     struct gpumc_checkpoint_writer *writer, const char *prefix,
                                     struct gpumc_error *error)
{
  if (!is_divided(ensemble))
    return gpumc_parts_save(parts, count, device, writer, prefix, error);
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(ensemble, &parts[i], device, writer, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status gpumc_columns_load(const struct gpumc_ensemble *ensemble,
                                     const struct gpumc_part *parts, size_t count,
                                     struct gpumc_device *device,
                                     struct gpumc_checkpoint_reader *reader, const char *prefix,
                                     struct gpumc_error *error)
{
  if (!is_divided(ensemble))
    return gpumc_parts_load(parts, count, device, reader, prefix, error);
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(ensemble, &parts[i], device, reader, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status gpumc_columns_save_counts(const struct gpumc_ensemble *ensemble,
                                            const struct gpumc_part *part,
                                            struct gpumc_checkpoint_writer *writer,
                                            const char *prefix, struct gpumc_error *error)
{
  const size_t count = part->rows * part->width;
  struct gpumc_part whole = *part;
  uint64_t *sum = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sum, count, part->name, error));
  GPUMC_TRY_OUT(status, ensemble->device->ops->copy_to_host(ensemble->device, sum, part->values,
                                                            count * sizeof *sum, error));
  gpumc_processes_sum(gpumc_columns_processes(ensemble), sum, count);
  whole.values = sum;
  status = gpumc_parts_save(&whole, 1, NULL, writer, prefix, error);
out:
  free(sum);
  return status;
}

enum gpumc_status gpumc_columns_load_counts(const struct gpumc_ensemble *ensemble,
                                            const struct gpumc_part *part,
                                            struct gpumc_checkpoint_reader *reader,
                                            const char *prefix, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_parts_load(part, 1, ensemble->device, reader, prefix, error));
  return gpumc_is_root(gpumc_columns_processes(ensemble))
             ? GPUMC_OK
             : ensemble->device->ops->fill(ensemble->device, part->values, 0,
                                           part->rows * part->width * sizeof(uint64_t), error);
}
