/* The replica kernel on a GPU: replicas of one byte a spin, a thread to each. */
#include "models/ising/replica/replica_gpu.h"

#include "models/ising/ising_host_gpu.h"
#include "models/ising/ising_takes.h"
#include "models/lattice/replicas_gpu.h"

/* `lanes` samples side by side: those of replicas that lie side by side, or one. */
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
  struct ising_tables_layout layout = {.lanes = ISING_REPLICA_GROUP, .pack = pack};
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

static struct ising_replica_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(ensemble->model)->lattice;
  return (struct ising_replica_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .dimension = (uint32_t)lattice->dimension,
      .row = (uint32_t)lattice->row,
      .height = (uint32_t)lattice->length_y,
      .plane = (uint32_t)lattice->plane,
      .colour = (uint32_t)lattice->colour,
      .groups = lattice_parts(ensemble->plan.capacity, ISING_REPLICA_GROUP),
      .spins = lattice_gpu_storage_of(ensemble)->replicas,
      .block_threads = ensemble->device->block_threads,
  };
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_replica_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? ising_replica_from_portable(&arguments, error)
                                            : ising_replica_to_portable(&arguments, error);
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

static const struct lattice_gpu_layout layout = {
    .group = ISING_REPLICA_GROUP,
    .unit_bytes = 1,
    .sites_limit = LATTICE_GPU_SITES_LIMIT,
    .units = units,
    .table_bytes = table_bytes,
    .notes_bytes = ising_tables_notes_bytes,
    .fill = fill,
    .convert = convert,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  return lattice_gpu_bytes(&layout, model, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_gpu_create(&layout, ensemble, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_replica_replicas replicas = replicas_of(ensemble);
  return ising_replica_randomize(&replicas, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_replica_measurement arguments = {
      replicas_of(ensemble), tables_of(ensemble), ising_measured_channels(ensemble->runs, channel)};
  return ising_replica_measure(&arguments, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_replica_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .sweeps = sweeps,
  };
  if (sweeps > 0)
    GPUMC_TRY(ising_tables_set_rules(ensemble, &arguments.tables, target->control, error));
  if (sweeps > 0)
    GPUMC_TRY(ising_replica_run(&arguments, error));
  if (channel != NULL)
    GPUMC_TRY(measure(ensemble, channel, error));
  return GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  const struct ising_replica_measurement arguments = {
      replicas_of(ensemble), tables_of(ensemble),
      ising_measured_overlaps(first, second, runs, overlap)};
  return ising_replica_measure(&arguments, error);
}

const struct gpumc_kernel_ops ising_replica_cuda = {
    ISING_REPLICA_CUDA_NAMES, LATTICE_GPU_COMMON,           .bytes = bytes,
    .create = create,         .start = randomize,           .sweep = sweep,
    .measure = measure,       .gather = lattice_gpu_gather, .exchange = lattice_gpu_exchange,
    .compare = overlap,
};
