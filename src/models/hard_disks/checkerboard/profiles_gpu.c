/* Profiles of hard disks on a GPU: replicas are copied to the host and measured there. */
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/ensemble.h"
#include "models/hard_disks/checkerboard/checkerboard_gpu.h"
#include "models/hard_disks/hard_disks.h"

/* Room for one replica, in device form and in cells, and for the numbers of its profiles. */
struct visit {
  struct hard_disks_stored stored;
  unsigned char *bytes;
  struct hard_disks_layout layout;
  struct hard_disks_replica replica;
  struct hard_disks_head head;
  int64_t *value[HARD_DISKS_CHANNELS]; /* NULL: not wanted */
};

static void visit_free(struct visit *visit)
{
  free(visit->bytes);
  free(visit->replica.x);
  free(visit->replica.y);
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    free(visit->value[c]);
}

static enum gpumc_status visit_make(const struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                    struct visit *visit, struct gpumc_error *error)
{
  const struct gpumc_model *model = ensemble->model;
  const struct hard_disks_box *box = &hard_disks_grid_of(model, &ensemble->plan)->box;
  const char *what = "a replica on its way";
  visit->stored = hard_disks_stored_of(box);
  visit->layout = hard_disks_plain_layout(box);
  visit->replica.grid = box;
  visit->replica.layout = &visit->layout;
  visit->replica.head = &visit->head;
  for (size_t c = HARD_DISKS_NUMBERS; c < HARD_DISKS_CHANNELS; c++)
    if (channel[c] != NULL)
      GPUMC_TRY(gpumc_allocate_array(&visit->value[c], model->profile[c].width, what, error));
  GPUMC_TRY(gpumc_allocate_array(&visit->replica.x, visit->layout.count, what, error));
  GPUMC_TRY(gpumc_allocate_array(&visit->replica.y, visit->layout.count, what, error));
  return gpumc_allocate(1, visit->stored.bytes, what, (void **)&visit->bytes, error);
}

/* Measures the replica at place `at` of the batch, which is at `from` in device memory. */
static enum gpumc_status
visit_replica(const struct gpumc_ensemble *ensemble, const unsigned char *from, size_t at,
              int64_t *const *channel, struct visit *visit, struct gpumc_error *error)
{
  const struct gpumc_model *model = ensemble->model;
  struct gpumc_device *device = ensemble->device;
  const struct hard_disks_box *box = visit->replica.grid;
  GPUMC_TRY(device->ops->copy_to_host(device, visit->bytes, from, visit->stored.bytes, error));
  const uint64_t disks = hard_disks_restore(&visit->stored, visit->bytes,
                                            (size_t)box->cells_x * box->cells_y, &visit->replica);
  if (disks != model->sites)
    return hard_disks_lost(model, disks, error);
  GPUMC_TRY(hard_disks_measure_profiles(model, &visit->replica, visit->value, 0, error));
  for (size_t c = HARD_DISKS_NUMBERS; c < HARD_DISKS_CHANNELS; c++) {
    const size_t width = model->profile[c].width;
    if (channel[c] != NULL)
      GPUMC_TRY(device->ops->copy_to_device(device, channel[c] + at * width, visit->value[c],
                                            width * sizeof **channel, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status visit_all(struct gpumc_ensemble *ensemble, const unsigned char *replicas,
                                   int64_t *const *channel, struct visit *visit,
                                   struct gpumc_error *error)
{
  uint32_t *size;
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&size, ensemble->plan.runs, "numbers of replicas", error));
  GPUMC_TRY_OUT(status, gpumc_ensemble_get_sizes(ensemble, size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < size[m]; r++) {
      const size_t at = m * ensemble->plan.capacity + r;
      GPUMC_TRY_OUT(status, visit_replica(ensemble, replicas + at * visit->stored.bytes, at,
                                          channel, visit, error));
    }
out:
  free(size);
  return status;
}

enum gpumc_status hard_disks_profiles_by_host(struct gpumc_ensemble *ensemble,
                                              const unsigned char *replicas,
                                              int64_t *const *channel, struct gpumc_error *error)
{
  struct visit visit = {0};
  bool any = false;
  for (size_t c = HARD_DISKS_NUMBERS; c < HARD_DISKS_CHANNELS; c++)
    any = any || channel[c] != NULL;
  if (!any)
    return GPUMC_OK;
  enum gpumc_status status = visit_make(ensemble, channel, &visit, error);
  if (status == GPUMC_OK)
    status = visit_all(ensemble, replicas, channel, &visit, error);
  visit_free(&visit);
  return status;
}
