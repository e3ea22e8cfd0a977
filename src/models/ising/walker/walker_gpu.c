/* The walker kernel on a GPU: replicas with one byte per spin, one thread each. */
#include "models/ising/walker/walker_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising_host_gpu.h"
#include "models/ising/ising_takes.h"
#include "models/lattice/replicas_gpu.h"

/* `lanes` samples side by side: those of replicas that are stored side by side, or one. */
static void pack(const struct gpumc_model *model, const struct ising_spin_samples *samples,
                 const void *from, size_t count, size_t lanes, void *to)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t slots = samples->kind == ISING_SPIN_SIGNS ? 1 : 2 * lattice->dimension + 1;
  for (size_t lane = 0; lane < count; lane++) {
    const uint8_t *signs = (const uint8_t *)from + lane * samples->bytes;
    const int32_t *terms = (const void *)signs;
    for (size_t i = 0; i < 2 * slots * lattice->colour; i++) {
      const size_t k = i % lattice->colour, slot = i / lattice->colour % slots;
      const size_t colour = i / lattice->colour / slots;
      const size_t source = (colour * slots + slot) * samples->stride + k;
      const size_t place = (slot * model->sites + colour * lattice->colour + k) * lanes + lane;
      if (samples->kind == ISING_SPIN_SIGNS)
        ((uint8_t *)to)[place] = signs[source];
      else
        ((int32_t *)to)[place] = terms[source];
    }
  }
}

static struct ising_tables_layout
tables_layout_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const enum ising_spin_kind kind = ising_spin_kind(model);
  const size_t slots = 2 * ising_parameters(model)->lattice.dimension + 1;
  struct ising_tables_layout layout = {.lanes = plan->sample_by_run ? 1 : GPUMC_WALK_GROUP,
                                       .pack = pack};
  const size_t lanes = plan->samples == 1 ? 1 : layout.lanes;
  if (kind == ISING_SPIN_SIGNS)
    layout.group_bytes = model->sites * lanes;
  if (kind == ISING_SPIN_TERMS)
    layout.group_bytes = slots * model->sites * lanes * sizeof(int32_t);
  return layout;
}

static struct ising_tables tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_tables_layout layout = tables_layout_of(ensemble->model, &ensemble->plan);
  return ising_tables_of(ensemble, &layout);
}

static struct ising_walker_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(ensemble->model)->lattice;
  return (struct ising_walker_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .dimension = (uint32_t)lattice->dimension,
      .row = (uint32_t)lattice->row,
      .height = (uint32_t)lattice->length_y,
      .plane = (uint32_t)lattice->plane,
      .colour = (uint32_t)lattice->colour,
      .groups = lattice_parts(ensemble->plan.capacity, GPUMC_WALK_GROUP),
      .spins = lattice_gpu_storage_of(ensemble)->replicas,
      .block_threads = ensemble->device->block_threads,
  };
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_walker_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? ising_walker_from_portable(&arguments, error)
                                            : ising_walker_to_portable(&arguments, error);
}

/* A unit is a spin. */
static size_t units(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites;
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tables_layout tables = tables_layout_of(model, plan);
  return ising_tables_bytes(model, plan, &tables);
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_tables_layout tables = tables_layout_of(ensemble->model, &ensemble->plan);
  return ising_tables_fill(ensemble, &tables, error);
}

/* Returns the samples whose sites differ for a walk. */
static size_t samples_of_walk(const struct gpumc_ensemble_plan *plan)
{
  return plan->sample_by_run ? plan->samples : 1;
}

/* Visits of a level by a block of threads stay below 2^32. */
enum { STEPS_OF_A_LAUNCH = 1 << 22, ALIGNMENT = 256 };

/* Offsets of the parts of a walk in the scratch; those from `threshold` on come from the host. */
struct places_of_walk {
  size_t places, threshold, log_weight, run, end;
};

static size_t aligned(size_t bytes)
{
  return lattice_parts(bytes, ALIGNMENT) * ALIGNMENT;
}

static uint32_t classes_of(const struct gpumc_model *model, const struct ising_walk *walk)
{
  const uint32_t like = 2 * (uint32_t)ising_parameters(model)->lattice.dimension + 1;
  return walk->stride == ISING_WALKER_CLASSES ? 2 * like : like;
}

/* For a walk with this many runs, of which it reads `levels`, `stride` and `tabled`. */
static struct places_of_walk places_of_walk(const struct gpumc_model *model,
                                            const struct gpumc_ensemble_plan *plan, size_t runs,
                                            const struct ising_walk *walk)
{
  struct places_of_walk at = {.places = 0};
  const size_t levels = runs * walk->levels, sites = samples_of_walk(plan) * model->sites;
  at.threshold = walk->tabled ? aligned(sites * sizeof(struct ising_walker_places)) : 0;
  at.log_weight = at.threshold +
                  (walk->tabled ? aligned(levels * classes_of(model, walk) * sizeof(uint32_t)) : 0);
  at.run = at.log_weight + aligned(levels * sizeof(int64_t));
  at.end = at.run + aligned(runs * sizeof(struct lattice_walk_run));
  return at;
}

/* Includes thresholds whenever there may be any. */
static size_t walk_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_walk walk = {
      .levels = plan->levels,
      .stride = plan->moved == 0 ? ISING_WALKER_LIKE : ISING_WALKER_CLASSES,
      .tabled = ising_parameters(model)->plain,
  };
  return plan->walks ? places_of_walk(model, plan, plan->runs, &walk).end : 0;
}

static const struct lattice_gpu_layout layout = {
    .group = GPUMC_WALK_GROUP,
    .unit_bytes = 1,
    .sites_limit = LATTICE_GPU_SITES_LIMIT,
    .units = units,
    .table_bytes = table_bytes,
    .scratch_bytes = walk_bytes,
    .notes_bytes = ising_tables_notes_bytes,
    .fill = fill,
    .convert = convert,
};

LATTICE_GPU_BYTES_AND_CREATE(layout)

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_walker_replicas replicas = replicas_of(ensemble);
  return ising_walker_randomize(&replicas, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_walker_measurement arguments = {
      replicas_of(ensemble), tables_of(ensemble), ising_measured_channels(ensemble->runs, channel)};
  return ising_walker_measure(&arguments, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_walker_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .sweeps = sweeps,
  };
  if (sweeps > 0)
    GPUMC_TRY(ising_tables_set_rules(ensemble, &arguments.tables, target->control, error));
  if (sweeps > 0)
    GPUMC_TRY(ising_walker_run(&arguments, error));
  if (channel != NULL)
    GPUMC_TRY(measure(ensemble, channel, error));
  return GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  const struct ising_walker_measurement arguments = {
      replicas_of(ensemble), tables_of(ensemble),
      ising_measured_overlaps(first, second, runs, overlap)};
  return ising_walker_measure(&arguments, error);
}

/* ---- walks ---- */

/* Converts from classes by like neighbours to those by unlike ones, without gaps. */
static void pack_thresholds(const struct gpumc_model *model, const struct ising_walk *walk,
                            size_t runs, uint32_t *to)
{
  const uint32_t neighbours = 2 * (uint32_t)ising_parameters(model)->lattice.dimension;
  for (size_t l = 0; l < runs * walk->levels; l++)
    for (uint32_t up = 0; up < walk->stride; up += ISING_WALKER_LIKE)
      for (uint32_t unlike = 0; unlike <= neighbours; unlike++)
        *to++ = walk->threshold[l * walk->stride + up + neighbours - unlike];
}

/* Fills run[active]; returns how many walk. */
static uint32_t make_runs(const struct gpumc_ensemble *ensemble,
                          const struct gpumc_weight_table *table, const struct ising_walk *walk,
                          struct lattice_walk_run *run)
{
  const uint32_t active = lattice_walk_runs(table, ensemble->runs, run);
  for (uint32_t i = 0; i < active; i++)
    run[i].canonical = walk->canonical[run[i].number];
  return active;
}

static enum gpumc_status
bring_tables(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
             const struct ising_walk *walk, struct ising_walker_walk *arguments,
             struct gpumc_error *error)
{
  const struct places_of_walk at =
      places_of_walk(ensemble->model, &ensemble->plan, ensemble->runs, walk);
  struct gpumc_device *device = ensemble->device;
  void *scratch;
  unsigned char *made, *there;
  GPUMC_TRY(lattice_gpu_scratch(ensemble, at.end, &scratch, error));
  GPUMC_TRY(gpumc_allocate_array(&made, at.end - at.threshold, "tables of a walk", error));
  there = scratch;
  arguments->places = scratch;
  arguments->threshold = (void *)(there + at.threshold);
  arguments->log_weight = (void *)(there + at.log_weight);
  arguments->run = (void *)(there + at.run);
  if (walk->tabled)
    pack_thresholds(ensemble->model, walk, ensemble->runs, (void *)made);
  memcpy(made + (at.log_weight - at.threshold), walk->log_weight,
         ensemble->runs * walk->levels * sizeof *walk->log_weight);
  arguments->active =
      make_runs(ensemble, target->table, walk, (void *)(made + (at.run - at.threshold)));
  const enum gpumc_status status =
      device->ops->copy_to_device(device, there + at.threshold, made, at.end - at.threshold, error);
  free(made);
  return status;
}

static enum gpumc_status walk_by(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                                 const struct ising_walk *walk, struct gpumc_error *error)
{
  uint32_t most = 0;
  const int32_t neighbours = 2 * (int32_t)ising_parameters(ensemble->model)->lattice.dimension;
  for (size_t m = 0; m < ensemble->runs; m++)
    most = target->table->steps[m] > most ? target->table->steps[m] : most;
  struct ising_walker_walk arguments = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .tabled = walk->tabled,
      .by_spin = walk->stride == ISING_WALKER_CLASSES,
      .classes = classes_of(ensemble->model, walk),
      .by_energy = walk->channel == ISING_ENERGY,
      .step_base = walk->step_base + walk->step_like * neighbours,
      .step_unlike = -walk->step_like,
      .step_up = walk->step_up,
      .levels = (uint32_t)walk->levels,
      .spacing = walk->spacing,
      .visits = target->table->visits,
      .parts = target->table->parts,
      .passages = target->table->passages,
      .multiprocessors = (uint32_t)ensemble->device->multiprocessors,
      .shared_bytes = ensemble->device->shared_bytes,
  };
  GPUMC_TRY(bring_tables(ensemble, target, walk, &arguments, error));
  for (; arguments.done < most; arguments.done += arguments.steps) {
    const uint32_t left = most - arguments.done;
    arguments.steps = left < STEPS_OF_A_LAUNCH ? left : STEPS_OF_A_LAUNCH;
    if (ising_walker_warps(&arguments) > 0)
      GPUMC_TRY(ising_walker_walk_shared(&arguments, error));
    else
      GPUMC_TRY(ising_walker_walk_global(&arguments, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status
walk(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, struct gpumc_error *error)
{
  struct ising_walk of_host;
  enum gpumc_status status = ising_walk_make(ensemble, target, &of_host, error);
  if (status == GPUMC_OK)
    status = walk_by(ensemble, target, &of_host, error);
  ising_walk_free(&of_host);
  return status;
}

/* Uses the levels of the channel itself: bins may be fewer. */
static size_t fills(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct gpumc_grid *grid =
      &model->grid[plan->moved == 0 ? ISING_ENERGY : ISING_MAGNETIZATION];
  const uint32_t like = 2 * (uint32_t)parameters->lattice.dimension + 1;
  uint64_t counted = 0;
  const struct ising_walker_walk walk = {
      .replicas = {.batch = {.runs = 1, .capacity = (size_t)1 << 30},
                   .dimension = (uint32_t)parameters->lattice.dimension,
                   .colour = (uint32_t)parameters->lattice.colour,
                   .block_threads = device->block_threads},
      .tables = {.kind = ising_spin_kind(model)},
      .tabled = parameters->plain && grid->levels > 0,
      .by_spin = plan->moved != 0,
      .classes = plan->moved == 0 ? like : 2 * like,
      .levels = (uint32_t)grid->levels,
      .visits = &counted,
      .multiprocessors = (uint32_t)device->multiprocessors,
      .active = 1,
      .shared_bytes = device->shared_bytes,
  };
  return ising_walker_fills(&walk);
}

const struct gpumc_kernel_ops ising_walker_cuda = {
    ISING_WALKER_CUDA_NAMES,
    LATTICE_GPU_COMMON,
    .bytes = bytes,
    .create = create,
    .start = randomize,
    .sweep = sweep,
    .measure = measure,
    .gather = lattice_gpu_gather,
    .exchange = lattice_gpu_exchange,
    .compare = overlap,
    .walk = walk,
    .fills = fills,
};
