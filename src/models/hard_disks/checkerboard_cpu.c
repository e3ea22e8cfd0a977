/* The kernel `checkerboard` of hard disks on the CPU. */
#include <string.h>

#include "core/simulation/steps.h"
#include "models/hard_disks/checkerboard_plain.h"
#include "models/hard_disks/hard_disks_cpu.h"

/* A block is a replica: the offset of its grid, and from HEAD_BYTES on x[count] and y[count]. */
enum { HEAD_BYTES = 64, LANES = 16, CACHE_LINE = 64 };

/* Rows of cells one after the other; in a row the even columns, then the odd ones; of each the
 * slots, whose columns are consecutive, so that vectors hold cells of one colour. After the last
 * column there is room for a copy of the first one, and before the first for one of the last. */
static struct hard_disks_layout layout_of(const struct gpumc_model *model)
{
  const struct hard_disks_box *box = &hard_disks_parameters(model)->box;
  const size_t columns = (box->cells_x / 2 + 2 + LANES - 1) / LANES * LANES;
  return (struct hard_disks_layout){.count = LANES + 2 * HARD_DISKS_SLOTS * columns * box->cells_y,
                                    .first = LANES,
                                    .slot = columns,
                                    .row = 2 * HARD_DISKS_SLOTS * columns,
                                    .parity = HARD_DISKS_SLOTS * columns,
                                    .column = 1};
}

static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return HEAD_BYTES + 2 * layout_of(model).count * sizeof(float);
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return 2 * layout_of(model).count * sizeof(float);
}

static struct hard_disks_replica replica_in(const struct hard_disks_layout *layout, void *block)
{
  float *x = (float *)(void *)((unsigned char *)block + HEAD_BYTES);
  return (struct hard_disks_replica){layout, x, x + layout->count, block};
}

static void
get(const struct gpumc_model *model, const void *block, uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  const struct hard_disks_layout layout = layout_of(model);
  /* Only read. */
  const struct hard_disks_replica replica = replica_in(&layout, (void *)(uintptr_t)block);
  hard_disks_get(&hard_disks_parameters(model)->box, &replica, portable[0]);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  const struct hard_disks_layout layout = layout_of(ensemble->model);
  for (size_t r = 0; r < count; r++) {
    const struct hard_disks_replica replica =
        replica_in(&layout, lattice_cpu_block(ensemble->storage, m, first + r));
    GPUMC_TRY(hard_disks_set(&hard_disks_parameters(ensemble->model)->box,
                             portable + r * ensemble->model->portable_bytes, &replica, error));
  }
  return GPUMC_OK;
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct hard_disks_layout layout = layout_of(ensemble->model);
  const struct hard_disks_replica replica = replica_in(&layout, place->data);
  const struct checkerboard_sweeps job = {
      .box = &hard_disks_parameters(ensemble->model)->box,
      .options = hard_disks_options_of(&ensemble->plan.options),
      .scale = hard_disks_scale(ensemble->step[place->run]),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = (uint32_t)place->first,
      .time = ensemble->time,
      .sweeps = sweeps,
  };
  uint64_t accepted = 0;
  (void)checkerboard_plain(&job, &replica, lattice_cpu_scratch(ensemble->storage), &accepted);
  gpumc_steps_count(ensemble, place->run, accepted);
}

static enum gpumc_status measure_place(const struct gpumc_ensemble *ensemble,
                                       const struct lattice_cpu_place *place,
                                       int64_t *const *channel, struct gpumc_error *error)
{
  const struct hard_disks_layout layout = layout_of(ensemble->model);
  const struct hard_disks_replica replica = replica_in(&layout, place->data);
  return hard_disks_measure(ensemble->model, &replica, channel,
                            place->run * ensemble->plan.capacity + place->first, error);
}

static const struct lattice_cpu_layout layout = {.replicas = 1,
                                                 .buffers = 1,
                                                 .block_bytes = block_bytes,
                                                 .scratch_bytes = scratch_bytes,
                                                 .get = get,
                                                 .sweep = sweep};
LATTICE_CPU_BYTES_AND_CREATE(layout)

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return hard_disks_measure_places(ensemble, measure_place, channel, error);
}

static enum gpumc_status sweep_all(struct gpumc_ensemble *ensemble,
                                   const struct gpumc_target *target, uint32_t sweeps,
                                   int64_t *const *channel, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_cpu_sweep(ensemble, target, sweeps, NULL, error));
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

const struct gpumc_kernel_ops hard_disks_checkerboard_cpu = {
    HARD_DISKS_CHECKERBOARD_NAMES,
    .device = "cpu",
    .bytes = bytes,
    .create = create,
    .destroy = lattice_cpu_destroy,
    .start = hard_disks_start,
    .set = set,
    .get = lattice_cpu_get,
    .sweep = sweep_all,
    .measure = measure,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
};
