/* Lists of a process's own replicas, for kernels with and without list operations. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/columns.h"
#include "core/simulation/shares/share_view.h"

/* A list that passes through the host, for a kernel without list operations: in ranges of about
 * this many bytes at most, unless one replica has more. Up to this many bytes of replicas between
 * those of the list cost less than another call, on the host and on a GPU, where a call takes some
 * 15 us. */
enum { RANGE_BYTES = 1 << 22, GAP_BYTES = 1 << 14, GAP_BYTES_OF_GPU = 1 << 18 };

struct list {
  struct gpumc_ensemble own;
  size_t m, count, bytes;
  const uint8_t *from;     /* device memory, [count][bytes]: states that replicas receive */
  uint8_t *to;             /* likewise: where their states go */
  uint32_t *slot;          /* [count] */
  uint8_t *range, *listed; /* [most][bytes]: the replicas as they are, and those of the list */
  size_t most, gap;        /* replicas */
  /* The current range, replicas first .. first + span - 1: numbers i .. i + n - 1 of the list. */
  size_t i, n, first, span;
};

typedef enum gpumc_status list_step(struct list *list, struct gpumc_error *error);

static enum gpumc_status
list_open(struct list *list, const uint32_t *slot, struct gpumc_error *error)
{
  struct gpumc_device *device = list->own.device;
  const size_t bytes = list->own.model->portable_bytes, count = list->count;
  const bool on_cpu = device->ops->kind == GPUMC_KIND_CPU;
  list->bytes = bytes;
  list->most = RANGE_BYTES / bytes > 0 ? RANGE_BYTES / bytes : 1;
  list->gap = (on_cpu ? GAP_BYTES : GAP_BYTES_OF_GPU) / bytes;
  GPUMC_TRY(gpumc_allocate_array(&list->slot, count, "a list of replicas", error));
  GPUMC_TRY(gpumc_allocate_array(&list->range, list->most * bytes, "replicas of a list", error));
  GPUMC_TRY(gpumc_allocate_array(&list->listed, list->most * bytes, "replicas of a list", error));
  return device->ops->copy_to_host(device, list->slot, slot, count * sizeof *slot, error);
}

static void list_close(struct list *list)
{
  free(list->slot);
  free(list->range);
  free(list->listed);
}

/* Finds as many entries of the list, from number i on, as make one range. */
static void list_find(struct list *list)
{
  const uint32_t *slot = list->slot + list->i;
  size_t n = 1;
  while (list->i + n < list->count && n < list->most && slot[n] - slot[n - 1] <= 1 + list->gap &&
         slot[n] - slot[0] < list->most)
    n++;
  list->n = n;
  list->first = slot[0];
  list->span = slot[n - 1] - slot[0] + 1;
}

/* Returns where number i + k of the list is in the range. */
static uint8_t *list_place(const struct list *list, size_t k)
{
  return list->range + (list->slot[list->i + k] - list->first) * list->bytes;
}

static enum gpumc_status list_get(struct list *list, struct gpumc_error *error)
{
  struct gpumc_ensemble *own = &list->own;
  GPUMC_TRY(own->ops->get(own, list->m, list->first, list->span, list->range, error));
  for (size_t k = 0; k < list->n; k++)
    memcpy(list->listed + k * list->bytes, list_place(list, k), list->bytes);
  return own->device->ops->copy_to_device(own->device, list->to + list->i * list->bytes,
                                          list->listed, list->n * list->bytes, error);
}

/* Replicas between those of the list are read first, and keep their states. */
static enum gpumc_status list_set(struct list *list, struct gpumc_error *error)
{
  struct gpumc_ensemble *own = &list->own;
  GPUMC_TRY(own->device->ops->copy_to_host(
      own->device, list->listed, list->from + list->i * list->bytes, list->n * list->bytes, error));
  if (list->span > list->n)
    GPUMC_TRY(own->ops->get(own, list->m, list->first, list->span, list->range, error));
  for (size_t k = 0; k < list->n; k++)
    memcpy(list_place(list, k), list->listed + k * list->bytes, list->bytes);
  return own->ops->set(own, list->m, list->first, list->span, list->range, error);
}

static enum gpumc_status
for_ranges(struct list *list, const uint32_t *slot, list_step *step, struct gpumc_error *error)
{
  enum gpumc_status status = list_open(list, slot, error);
  for (; list->i < list->count && status == GPUMC_OK; list->i += list->n) {
    list_find(list);
    status = step(list, error);
  }
  list_close(list);
  return status;
}

enum gpumc_status gpumc_columns_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                         const uint32_t *slot, size_t count, uint8_t *states,
                                         struct gpumc_error *error)
{
  struct list list = {gpumc_share_own_view(ensemble), .m = m, .count = count, .to = states};
  return list.own.ops->get_list != NULL
             ? list.own.ops->get_list(&list.own, m, slot, count, states, error)
             : for_ranges(&list, slot, list_get, error);
}

enum gpumc_status gpumc_columns_set_list(struct gpumc_ensemble *ensemble, size_t m,
                                         const uint32_t *slot, size_t count, const uint8_t *states,
                                         struct gpumc_error *error)
{
  struct list list = {gpumc_share_own_view(ensemble), .m = m, .count = count, .from = states};
  return list.own.ops->set_list != NULL
             ? list.own.ops->set_list(&list.own, m, slot, count, states, error)
             : for_ranges(&list, slot, list_set, error);
}
