/* Lists of a process's own replicas, for kernels that have them and for those that do not. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/columns.h"
#include "core/simulation/shares/share_view.h"

/* A list that passes through the host, for a kernel that knows of none: in ranges of about so many
 * bytes at the most, unless one replica has more. Replicas between those of the list cost less than
 * another call up to so many bytes of them, of the host and of a GPU, where a call takes some 15
 * us.
 */
enum { RANGE_BYTES = 1 << 22, GAP_BYTES = 1 << 14, GAP_BYTES_OF_GPU = 1 << 18 };

struct list {
  struct gpumc_ensemble own;
  size_t m, count, bytes;
  uint32_t *slot;          /* [count] */
  uint8_t *range, *listed; /* [most][bytes]: as they stand, and those of the list */
  size_t most, gap;        /* replicas */
};

static enum gpumc_status list_open(const struct gpumc_ensemble *ensemble, size_t m,
                                   const uint32_t *slot, size_t count, struct list *list,
                                   struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t bytes = ensemble->model->portable_bytes;
  const bool on_cpu = device->ops->kind == GPUMC_KIND_CPU;
  *list = (struct list){.own = gpumc_share_own_view(ensemble),
                        .m = m,
                        .count = count,
                        .bytes = bytes,
                        .most = RANGE_BYTES / bytes > 0 ? RANGE_BYTES / bytes : 1,
                        .gap = (on_cpu ? GAP_BYTES : GAP_BYTES_OF_GPU) / bytes};
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

/* How many of the list, from number i on, make one range. */
static size_t list_next(const struct list *list, size_t i)
{
  const uint32_t *slot = list->slot + i;
  size_t n = 1;
  while (i + n < list->count && n < list->most && slot[n] - slot[n - 1] <= 1 + list->gap &&
         slot[n] - slot[0] < list->most)
    n++;
  return n;
}

/* Where a replica of the list stands in a range that begins with number i of it. */
static uint8_t *list_place(const struct list *list, size_t i, size_t k)
{
  return list->range + (list->slot[i + k] - list->slot[i]) * list->bytes;
}

static enum gpumc_status list_get(struct list *list, uint8_t *states, struct gpumc_error *error)
{
  struct gpumc_device *device = list->own.device;
  for (size_t i = 0, n; i < list->count; i += n) {
    n = list_next(list, i);
    const size_t first = list->slot[i], span = list->slot[i + n - 1] - first + 1;
    GPUMC_TRY(list->own.ops->get(&list->own, list->m, first, span, list->range, error));
    for (size_t k = 0; k < n; k++)
      memcpy(list->listed + k * list->bytes, list_place(list, i, k), list->bytes);
    GPUMC_TRY(device->ops->copy_to_device(device, states + i * list->bytes, list->listed,
                                          n * list->bytes, error));
  }
  return GPUMC_OK;
}

/* Replicas between those of the list are read before, and get what they had. */
static enum gpumc_status
list_set(struct list *list, const uint8_t *states, struct gpumc_error *error)
{
  struct gpumc_device *device = list->own.device;
  for (size_t i = 0, n; i < list->count; i += n) {
    n = list_next(list, i);
    const size_t first = list->slot[i], span = list->slot[i + n - 1] - first + 1;
    GPUMC_TRY(device->ops->copy_to_host(device, list->listed, states + i * list->bytes,
                                        n * list->bytes, error));
    if (span > n)
      GPUMC_TRY(list->own.ops->get(&list->own, list->m, first, span, list->range, error));
    for (size_t k = 0; k < n; k++)
      memcpy(list_place(list, i, k), list->listed + k * list->bytes, list->bytes);
    GPUMC_TRY(list->own.ops->set(&list->own, list->m, first, span, list->range, error));
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_columns_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                         const uint32_t *slot, size_t count, uint8_t *states,
                                         struct gpumc_error *error)
{
  struct gpumc_ensemble own = gpumc_share_own_view(ensemble);
  struct list list;
  if (own.ops->get_list != NULL)
    return own.ops->get_list(&own, m, slot, count, states, error);
  enum gpumc_status status = list_open(ensemble, m, slot, count, &list, error);
  if (status == GPUMC_OK)
    status = list_get(&list, states, error);
  list_close(&list);
  return status;
}

enum gpumc_status gpumc_columns_set_list(struct gpumc_ensemble *ensemble, size_t m,
                                         const uint32_t *slot, size_t count, const uint8_t *states,
                                         struct gpumc_error *error)
{
  struct gpumc_ensemble own = gpumc_share_own_view(ensemble);
  struct list list;
  if (own.ops->set_list != NULL)
    return own.ops->set_list(&own, m, slot, count, states, error);
  enum gpumc_status status = list_open(ensemble, m, slot, count, &list, error);
  if (status == GPUMC_OK)
    status = list_set(&list, states, error);
  list_close(&list);
  return status;
}
