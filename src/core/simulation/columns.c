#include "core/simulation/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum { NAME_BYTES = 128 };

/* Bytes of the whole in transit at once, unless a row or a plane has more: in a checkpoint; and in
 * the middle of the work, where large messages would need new memory each time. */
enum { AT_ONCE_BYTES = 1 << 24, PIECE_BYTES = 1 << 20 };

static bool is_divided(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.division == GPUMC_BY_REPLICAS;
}

const struct gpumc_processes *gpumc_columns_processes(const struct gpumc_ensemble *ensemble)
{
  return is_divided(ensemble) ? ensemble->plan.processes : gpumc_processes_alone();
}

/* Puts the rows of all processes, process after process, into the order of the whole. */
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

/* Gathers into process `to`, or into all (GPUMC_TO_ALL). */
static enum gpumc_status gather(const struct gpumc_ensemble *ensemble, const void *own, size_t rows,
                                size_t bytes, int to, void *whole, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = ensemble->plan.processes;
  const size_t size = (size_t)processes->module.size;
  const bool gets = to == GPUMC_TO_ALL || to == processes->module.rank;
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
    return gather(ensemble, own, rows, bytes, GPUMC_TO_ALL, whole, error);
  memmove(whole, own, rows * ensemble->plan.capacity * bytes);
  return GPUMC_OK;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Returns how many of `count` pieces of `bytes` bytes each in the whole have at most `most` bytes
 * together; at least 1. */
static size_t at_once(size_t count, size_t bytes, size_t most)
{
  const size_t fitting = smaller(most / (bytes > 0 ? bytes : 1), count);
  return fitting > 0 ? fitting : 1;
}

enum gpumc_status gpumc_columns_gather_to_root(const struct gpumc_ensemble *ensemble,
                                               const void *own, size_t rows, size_t bytes,
                                               void *whole, struct gpumc_error *error)
{
  const size_t from = ensemble->plan.capacity * bytes;
  const size_t to = gpumc_plan_whole(&ensemble->plan) * bytes;
  const size_t most = at_once(rows, to, PIECE_BYTES);
  if (!is_divided(ensemble)) {
    memmove(whole, own, rows * from);
    return GPUMC_OK;
  }
  for (size_t first = 0; first < rows; first += most)
    GPUMC_TRY(gather(ensemble, (const uint8_t *)own + first * from, smaller(most, rows - first),
                     bytes, GPUMC_TO_ROOT, whole != NULL ? (uint8_t *)whole + first * to : NULL,
                     error));
  return GPUMC_OK;
}

/* ---- rows in place of columns ---- */

struct gpumc_slice gpumc_columns_rows(const struct gpumc_ensemble *ensemble, size_t rows, int rank)
{
  return gpumc_slice(rows, 1, (size_t)gpumc_columns_processes(ensemble)->module.size, (size_t)rank);
}

/* Trades own[planes][rows][own] for some[planes][count][whole]. A single plane leaves as it is. */
static void trade_planes(const struct gpumc_ensemble *ensemble, const uint8_t *own, size_t planes,
                         size_t rows, size_t bytes, const struct gpumc_trade *trade, uint8_t *some)
{
  const struct gpumc_module *module = &ensemble->plan.processes->module;
  const size_t mine = gpumc_columns_rows(ensemble, rows, module->rank).count;
  const size_t row_bytes = ensemble->plan.capacity * bytes;
  uint8_t *out = trade->out;
  for (int p = 0; p < module->size; p++) {
    const struct gpumc_slice theirs = gpumc_columns_rows(ensemble, rows, p);
    const size_t count = theirs.count * row_bytes;
    for (size_t plane = 0; plane < planes && planes > 1; plane++, out += count)
      memcpy(out, own + (plane * rows + theirs.first) * row_bytes, count);
    trade->n_out[p] = planes * count;
    trade->n_in[p] =
        planes * mine * gpumc_share_of(&ensemble->plan, ensemble->plan.runs, p).replicas * bytes;
  }
  gpumc_processes_trade(ensemble->plan.processes, planes > 1 ? trade->out : own, trade->n_out,
                        trade->in, trade->n_in);
  put_in_order(ensemble, trade->in, planes * mine, bytes, some);
}

enum gpumc_status gpumc_columns_trade(const struct gpumc_ensemble *ensemble, const void *own,
                                      size_t planes, size_t rows, size_t bytes, void *some,
                                      struct gpumc_error *error)
{
  const struct gpumc_processes *processes = ensemble->plan.processes;
  const size_t of_plane = rows * ensemble->plan.capacity * bytes;
  struct gpumc_trade trade;
  enum gpumc_status status;
  if (!is_divided(ensemble)) {
    memmove(some, own, planes * of_plane);
    return GPUMC_OK;
  }
  const size_t whole = gpumc_plan_whole(&ensemble->plan) * bytes;
  const size_t to_plane = gpumc_columns_rows(ensemble, rows, processes->module.rank).count * whole;
  const size_t most = at_once(planes, rows * whole, PIECE_BYTES);
  GPUMC_TRY_OUT(status, gpumc_trade_make(processes, most > 1 ? most * of_plane : 0, most * to_plane,
                                         &trade, error));
  for (size_t first = 0; first < planes; first += most)
    trade_planes(ensemble, (const uint8_t *)own + first * of_plane, smaller(most, planes - first),
                 rows, bytes, &trade, (uint8_t *)some + first * to_plane);
out:
  gpumc_trade_free(&trade);
  return status;
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

/* ---- checkpoints ---- */

/* What a part holds for each replica: columns of every row, or rows of its own. */
enum holding { HOLDS_COLUMNS, HOLDS_ROWS };

/* A part in transit, as rows of columns, own and whole, on the host. */
struct passage {
  struct gpumc_part part;      /* own */
  struct gpumc_device *device; /* NULL: the values are on the host */
  char name[NAME_BYTES];
  size_t bytes;                 /* of a replica in a row */
  size_t file_rows, file_width; /* that make up a row in the file, in elements */
  size_t most;                  /* rows at once */
  uint8_t *own, *whole;
};

static enum gpumc_status begin(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                               enum holding holding, struct gpumc_device *device,
                               const char *prefix, struct passage *passage,
                               struct gpumc_error *error)
{
  const size_t capacity = ensemble->plan.capacity, whole = gpumc_plan_whole(&ensemble->plan);
  *passage = (struct passage){.part = *part, .device = device, .file_rows = 1};
  if (holding == HOLDS_ROWS) {
    passage->part.rows = 1;
    passage->part.width = part->rows * part->width;
    passage->file_rows = part->rows / capacity * whole;
  }
  const size_t each = passage->part.width / capacity;
  passage->file_width = each * whole / passage->file_rows;
  passage->bytes = each * gpumc_element_bytes(part->element);
  passage->most = at_once(passage->part.rows, whole * passage->bytes, AT_ONCE_BYTES);
  snprintf(passage->name, NAME_BYTES, "%s/%s", prefix, part->name);
  GPUMC_TRY(gpumc_allocate_array(&passage->own, passage->most * capacity * passage->bytes,
                                 passage->name, error));
  return gpumc_allocate_array(&passage->whole, passage->most * whole * passage->bytes,
                              passage->name, error);
}

static void end(struct passage *passage)
{
  free(passage->own);
  free(passage->whole);
}

static uint8_t *
row_of(const struct gpumc_ensemble *ensemble, const struct passage *passage, size_t row)
{
  return (uint8_t *)passage->part.values + row * ensemble->plan.capacity * passage->bytes;
}

/* Saves the rows first .. first + count - 1. */
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
  GPUMC_TRY(gather(ensemble, own, count, passage->bytes, GPUMC_TO_ROOT, passage->whole, error));
  return gpumc_checkpoint_put_rows(writer, passage->name, first * passage->file_rows,
                                   count * passage->file_rows, passage->whole, error);
}

static enum gpumc_status
load_rows(const struct gpumc_ensemble *ensemble, struct passage *passage, size_t first,
          size_t count, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  struct gpumc_device *device = passage->device;
  uint8_t *own = row_of(ensemble, passage, first);
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, passage->name, passage->part.element,
                                      first * passage->file_rows, count * passage->file_rows,
                                      passage->file_width, passage->whole, error));
  if (device == NULL) {
    gpumc_columns_take(ensemble, passage->whole, count, passage->bytes, own);
    return GPUMC_OK;
  }
  gpumc_columns_take(ensemble, passage->whole, count, passage->bytes, passage->own);
  return device->ops->copy_to_device(device, own, passage->own,
                                     count * ensemble->plan.capacity * passage->bytes, error);
}

static enum gpumc_status
save_part(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
          enum holding holding, struct gpumc_device *device, struct gpumc_checkpoint_writer *writer,
          const char *prefix, struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  if (!is_divided(ensemble))
    return gpumc_parts_save(part, 1, device, writer, prefix, error);
  GPUMC_TRY_OUT(status, begin(ensemble, part, holding, device, prefix, &passage, error));
  const size_t rows = passage.part.rows;
  GPUMC_TRY_OUT(status,
                gpumc_checkpoint_declare(writer, passage.name, part->element,
                                         rows * passage.file_rows, passage.file_width, error));
  for (size_t first = 0; first < rows; first += passage.most)
    GPUMC_TRY_OUT(status, save_rows(ensemble, &passage, first, smaller(passage.most, rows - first),
                                    writer, error));
out:
  end(&passage);
  return status;
}

static enum gpumc_status
load_part(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
          enum holding holding, struct gpumc_device *device, struct gpumc_checkpoint_reader *reader,
          const char *prefix, struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  if (!is_divided(ensemble))
    return gpumc_parts_load(part, 1, device, reader, prefix, error);
  GPUMC_TRY_OUT(status, begin(ensemble, part, holding, device, prefix, &passage, error));
  const size_t rows = passage.part.rows;
  for (size_t first = 0; first < rows; first += passage.most)
    GPUMC_TRY_OUT(status, load_rows(ensemble, &passage, first, smaller(passage.most, rows - first),
                                    reader, error));
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
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(ensemble, &parts[i], HOLDS_COLUMNS, device, writer, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status gpumc_columns_load(const struct gpumc_ensemble *ensemble,
                                     const struct gpumc_part *parts, size_t count,
                                     struct gpumc_device *device,
                                     struct gpumc_checkpoint_reader *reader, const char *prefix,
                                     struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(ensemble, &parts[i], HOLDS_COLUMNS, device, reader, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status
gpumc_columns_save_rows(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                        struct gpumc_device *device, struct gpumc_checkpoint_writer *writer,
                        const char *prefix, struct gpumc_error *error)
{
  return save_part(ensemble, part, HOLDS_ROWS, device, writer, prefix, error);
}

enum gpumc_status
gpumc_columns_load_rows(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                        struct gpumc_device *device, struct gpumc_checkpoint_reader *reader,
                        const char *prefix, struct gpumc_error *error)
{
  return load_part(ensemble, part, HOLDS_ROWS, device, reader, prefix, error);
}

enum gpumc_status gpumc_columns_sum_counts(struct gpumc_device *device,
                                           const struct gpumc_processes *processes,
                                           const uint64_t *counted, struct gpumc_slice own,
                                           uint64_t *sum, size_t count, struct gpumc_error *error)
{
  GPUMC_TRY(
      device->ops->copy_to_host(device, sum + own.first, counted, own.count * sizeof *sum, error));
  gpumc_processes_sum(processes, sum, count);
  return GPUMC_OK;
}

enum gpumc_status
gpumc_columns_save_counts(struct gpumc_device *device, const struct gpumc_processes *processes,
                          const struct gpumc_part *part, struct gpumc_checkpoint_writer *writer,
                          const char *prefix, struct gpumc_error *error)
{
  const size_t count = part->rows * part->width;
  struct gpumc_part whole = *part;
  uint64_t *sum = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sum, count, part->name, error));
  GPUMC_TRY_OUT(status,
                gpumc_columns_sum_counts(device, processes, part->values,
                                         (struct gpumc_slice){0, count}, sum, count, error));
  whole.values = sum;
  status = gpumc_parts_save(&whole, 1, NULL, writer, prefix, error);
out:
  free(sum);
  return status;
}

enum gpumc_status
gpumc_columns_load_counts(struct gpumc_device *device, const struct gpumc_processes *processes,
                          const struct gpumc_part *part, struct gpumc_checkpoint_reader *reader,
                          const char *prefix, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_parts_load(part, 1, device, reader, prefix, error));
  return gpumc_is_root(processes)
             ? GPUMC_OK
             : device->ops->fill(device, part->values, 0,
                                 part->rows * part->width * sizeof(uint64_t), error);
}
