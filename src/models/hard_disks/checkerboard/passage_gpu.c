/* Copies replicas of the kernel `checkerboard` between a GPU and the host, where they are in
 * portable form or in cells. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/ensemble.h"
#include "models/hard_disks/checkerboard/checkerboard_gpu.h"
#include "models/hard_disks/hard_disks.h"

enum { STAGING_BYTES = 16 << 20 }; /* of replicas in transit, unless one is larger */

static enum gpumc_status
disks_of(const struct hard_disks_layout *layout, float **x, float **y, struct gpumc_error *error)
{
  *x = *y = NULL;
  GPUMC_TRY(gpumc_allocate_array(x, layout->count, "coordinates of a replica", error));
  const enum gpumc_status status =
      gpumc_allocate_array(y, layout->count, "coordinates of a replica", error);
  if (status != GPUMC_OK) {
    free(*x);
    *x = NULL;
  }
  return status;
}

/* Returns the first coordinate of a slot of a cell. */
static float *
slot_of(const struct hard_disks_stored *stored, unsigned char *replica, size_t cell, size_t slot)
{
  unsigned char *pairs = replica + (slot < 2 ? stored->first : stored->second);
  return (float *)(void *)(pairs + cell * HARD_DISKS_PAIR_BYTES) + slot % 2 * 2;
}

void hard_disks_store(const struct hard_disks_stored *stored, const struct hard_disks_replica *from,
                      size_t cells, unsigned char *to)
{
  memcpy(to, from->head, sizeof *from->head);
  for (size_t cell = 0; cell < cells; cell++) {
    uint8_t count = 0;
    for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
      const size_t place = s * from->layout->slot + cell;
      float *disk = slot_of(stored, to, cell, s);
      disk[0] = from->x[place];
      disk[1] = from->y[place];
      if (disk[0] >= 0.0f)
        count++;
    }
    to[stored->count + cell] = count;
  }
}

uint64_t hard_disks_restore(const struct hard_disks_stored *stored, unsigned char *from,
                            size_t cells, const struct hard_disks_replica *to)
{
  uint64_t disks = 0;
  memcpy(to->head, from, sizeof *to->head);
  for (size_t cell = 0; cell < cells; cell++) {
    const size_t count = from[stored->count + cell];
    disks += count;
    for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
      const size_t place = s * to->layout->slot + cell;
      const float *disk = slot_of(stored, from, cell, s);
      to->x[place] = s < count ? disk[0] : HARD_DISKS_NOWHERE;
      to->y[place] = s < count ? disk[1] : HARD_DISKS_NOWHERE;
    }
  }
  return disks;
}

/* Replica r of run m converted from its portable form, or to it, through `stored`. */
struct passage {
  const struct gpumc_ensemble *ensemble;
  size_t m, r;
  const uint8_t *in; /* NULL: its starting state, or the direction is `out` */
  uint8_t *out;      /* NULL: from portable form */
  unsigned char *stored;
};

static enum gpumc_status pass(const struct passage *passage, int threads, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = passage->ensemble;
  const struct gpumc_model *model = ensemble->model;
  const struct hard_disks_grid *grid = hard_disks_grid_of(ensemble->model, &ensemble->plan);
  const struct hard_disks_box *box = &grid->box;
  const struct hard_disks_stored stored = hard_disks_stored_of(box);
  const struct hard_disks_layout layout = hard_disks_plain_layout(box);
  const size_t cells = (size_t)box->cells_x * box->cells_y;
  struct hard_disks_head head = {0};
  struct hard_disks_replica replica = {.grid = box, .layout = &layout, .head = &head};
  uint8_t *begin = NULL;
  enum gpumc_status status;
  GPUMC_TRY(disks_of(&layout, &replica.x, &replica.y, error));
  if (passage->out != NULL) {
    const uint64_t disks = hard_disks_restore(&stored, passage->stored, cells, &replica);
    if (disks != model->sites)
      GPUMC_TRY_OUT(status, hard_disks_lost(model, disks, error));
    hard_disks_get(&replica, passage->out);
    status = GPUMC_OK;
    goto out;
  }
  if (passage->in == NULL) {
    GPUMC_TRY_OUT(status, gpumc_allocate_array(&begin, model->portable_bytes,
                                               "a state to begin with", error));
    GPUMC_TRY_OUT(status, hard_disks_start_state(model, &ensemble->plan,
                                                 gpumc_ensemble_random(ensemble, passage->m),
                                                 (uint32_t)passage->r, threads, begin, error));
  }
  GPUMC_TRY_OUT(status, hard_disks_set(grid, begin != NULL ? begin : passage->in, &replica, error));
  hard_disks_store(&stored, &replica, cells, passage->stored);
out:
  free(begin);
  free(replica.x);
  free(replica.y);
  return status;
}

/* Converts the replicas first .. first + count - 1 of run m with the host's threads; the error is
 * that of one of those that failed. */
static enum gpumc_status
pass_all(const struct passage *of_first, size_t count, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = of_first->ensemble;
  const size_t portable_bytes = ensemble->model->portable_bytes;
  const size_t stored_bytes =
      hard_disks_stored_of(&hard_disks_grid_of(ensemble->model, &ensemble->plan)->box).bytes;
  const int threads = ensemble->device->threads;
  const bool starts = of_first->in == NULL && of_first->out == NULL;
  const bool share = starts && count < (size_t)threads; /* each replica is divided among the
                                                         * threads */
  enum gpumc_status status = GPUMC_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (!share)
  for (size_t i = 0; i < count; i++) {
    struct passage passage = *of_first;
    struct gpumc_error of = {0};
    passage.r += i;
    passage.in = passage.in != NULL ? passage.in + i * portable_bytes : NULL;
    passage.out = passage.out != NULL ? passage.out + i * portable_bytes : NULL;
    passage.stored += i * stored_bytes;
    const enum gpumc_status found = pass(&passage, share ? threads : 1, &of);
    if (found == GPUMC_OK)
      continue;
#pragma omp critical(hard_disks_passage)
    {
      status = found;
      *error = of;
    }
  }
  return status;
}

enum gpumc_status hard_disks_pass_replicas(const struct gpumc_ensemble *ensemble,
                                           unsigned char *replicas, size_t m, size_t first,
                                           size_t count, const uint8_t *in, uint8_t *out,
                                           struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t portable_bytes = ensemble->model->portable_bytes;
  const size_t bytes =
      hard_disks_stored_of(&hard_disks_grid_of(ensemble->model, &ensemble->plan)->box).bytes;
  const size_t fit = STAGING_BYTES / bytes, most = fit < 1 ? 1 : fit < count ? fit : count;
  unsigned char *staging = NULL;
  enum gpumc_status status = GPUMC_OK;
  if (count == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate(most, bytes, "replicas on their way", (void **)&staging, error));
  for (size_t done = 0; done < count; done += most) {
    const size_t now = count - done < most ? count - done : most;
    unsigned char *there = replicas + (m * ensemble->plan.capacity + first + done) * bytes;
    const struct passage passage = {ensemble,
                                    m,
                                    first + done,
                                    in != NULL ? in + done * portable_bytes : NULL,
                                    out != NULL ? out + done * portable_bytes : NULL,
                                    staging};
    if (out != NULL)
      GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, staging, there, now * bytes, error));
    GPUMC_TRY_OUT(status, pass_all(&passage, now, error));
    if (out == NULL)
      GPUMC_TRY_OUT(status,
                    device->ops->copy_to_device(device, there, staging, now * bytes, error));
  }
out:
  free(staging);
  return status;
}
