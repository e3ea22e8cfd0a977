/* The multispin kernel on a GPU: memory, rules and spreads for the drivers. */
#include "models/ising/multispin/multispin_cuda.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_cuda.h"
#include "models/ising/ising_host_cuda.h"
#include "models/ising/ising_storage_cuda.h"
#include "models/ising/multispin/multispin_table_cuda.h"
#include "models/ising/multispin/multispin_temperature_cuda.h"

/* ising_storage.notes: the sums of the table of waves, cosines and sines, and control
 * [plan.runs][ISING_CONTROLS], whose thresholds are on the device. */
struct notes {
  int64_t wave_sum[2];
  double control[];
};

static size_t tiles_of(const struct gpumc_model *model)
{
  return ising_parts(model->sites, ISING_MULTISPIN_TILE_SITES);
}

static struct ising_layout
layout_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return (struct ising_layout){
      .group = ISING_MULTISPIN_LANES,
      .group_bytes = tiles_of(model) * ISING_MULTISPIN_TILE_BYTES,
      .table_bytes = ising_multispin_table_of(model, plan).bytes,
  };
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const struct ising_layout layout = layout_of(model, plan);
  return ising_storage_bytes(model, &layout, plan);
}

struct ising_multispin_replicas
ising_multispin_replicas_on(const struct gpumc_ensemble *ensemble,
                            const struct gpumc_checkerboard *lattice, size_t groups)
{
  return (struct ising_multispin_replicas){
      .batch = ising_batch_of(ensemble),
      .words = ising_storage_of(ensemble)->replicas,
      .groups = (uint32_t)groups,
      .dimension = (uint32_t)lattice->dimension,
      .length_x = (uint32_t)lattice->length_x,
      .colour = (uint32_t)lattice->colour,
      .plane = (uint32_t)lattice->plane,
      .row = gpumc_divisor_make((uint32_t)lattice->row),
      .height = gpumc_divisor_make((uint32_t)lattice->length_y),
  };
}

static struct ising_multispin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const size_t groups = ising_parts(ensemble->plan.capacity, ISING_MULTISPIN_LANES);
  struct ising_multispin_replicas replicas =
      ising_multispin_replicas_on(ensemble, &ising_parameters(ensemble->model)->lattice, groups);
  replicas.tiles = (uint32_t)tiles_of(ensemble->model);
  return replicas;
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct ising_portable *portable,
                                 enum ising_direction direction, struct gpumc_error *error)
{
  const struct ising_multispin_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == ISING_FROM_PORTABLE ? ising_multispin_from_portable(&arguments, error)
                                          : ising_multispin_to_portable(&arguments, error);
}

static enum gpumc_status
take_notes(const struct gpumc_ensemble *ensemble, struct notes **notes, struct gpumc_error *error)
{
  const size_t controls = ensemble->plan.runs * ISING_CONTROLS * sizeof(double);
  void *memory;
  enum gpumc_status status =
      gpumc_allocate(1, sizeof(struct notes) + controls, "the kernel's notes", &memory, error);
  *notes = memory;
  if (status == GPUMC_OK)
    memset((*notes)->control, ISING_NO_TEMPERATURE, controls);
  return status;
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_layout layout = layout_of(ensemble->model, &ensemble->plan);
  struct notes *notes;
  enum gpumc_status status = ising_storage_create(ensemble, &layout, convert, error);
  if (status != GPUMC_OK)
    return status;
  status = take_notes(ensemble, &notes, error);
  ((struct ising_storage *)ensemble->storage)->notes = notes;
  if (status == GPUMC_OK)
    status = ising_multispin_table_fill(ensemble, notes->wave_sum, error);
  if (status != GPUMC_OK)
    ising_storage_destroy(ensemble);
  return status;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_multispin_replicas replicas = replicas_of(ensemble);
  return ising_multispin_randomize(&replicas, error);
}

/* control: NULL where there are no sweeps. */
static enum gpumc_status set_rule(const struct gpumc_ensemble *ensemble, const double *control,
                                  struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  struct ising_multispin_device_rule *rule = &sweep->rule;
  struct notes *notes = ising_storage_of(ensemble)->notes;
  if (rule->physics.plain && rule->physics.coupling < 0.0)
    sweep->disorder.stagger = UINT32_MAX;
  rule->each = sweep->disorder.signs != NULL;
  rule->thresholds = ising_storage_table(
      ensemble, ising_multispin_table_of(ensemble->model, &ensemble->plan).thresholds);
  if (control == NULL)
    return GPUMC_OK;
  return ising_multispin_set_temperatures(ensemble, control, notes->control, rule, error);
}

/* What there is to compare, the replicas of the runs first + i with those of second + i. */
static enum gpumc_status compare(const struct gpumc_ensemble *ensemble,
                                 struct ising_multispin_comparison *comparison,
                                 struct gpumc_error *error)
{
  const struct notes *notes = ising_storage_of(ensemble)->notes;
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  const struct ising_multispin_replicas replicas = replicas_of(ensemble);
  const size_t shared = ising_multispin_comparison_bytes(&replicas, true);
  comparison->replicas = replicas;
  comparison->wave = ising_wave_of(ensemble->model);
  comparison->cosine = ising_storage_table(ensemble, table.cosine);
  comparison->sine = ising_storage_table(ensemble, table.sine);
  comparison->sum_cosine = notes->wave_sum[0];
  comparison->sum_sine = notes->wave_sum[1];
  comparison->in_shared = shared <= ensemble->device->shared_bytes;
  comparison->by_fours = replicas.row.value % ISING_MULTISPIN_VECTOR == 0;
  comparison->shared_bytes =
      (uint32_t)ising_multispin_comparison_bytes(&replicas, comparison->in_shared);
  return ising_multispin_compare(comparison, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_multispin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .disorder = ising_multispin_disorder_of(ensemble),
      .rule = {.physics = ising_multispin_physics_of(ensemble)},
      .channels = ising_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  struct ising_multispin_comparison waves = {
      .runs = (uint32_t)ensemble->runs, .square = channel != NULL ? channel[ISING_WAVE] : NULL};
  enum gpumc_status status =
      set_rule(ensemble, sweeps > 0 ? target->control : NULL, &arguments, error);
  arguments.spread = ising_multispin_spread(ensemble->device, &arguments.replicas);
  if (status == GPUMC_OK && (sweeps > 0 || ising_wanted(&arguments.channels)))
    status = arguments.spread.in_shared ? ising_multispin_sweep_shared(&arguments, error)
                                        : ising_multispin_sweep_global(&arguments, error);
  return status == GPUMC_OK && waves.square != NULL ? compare(ensemble, &waves, error) : status;
}

static enum gpumc_status
exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap, struct gpumc_error *error)
{
  const struct ising_multispin_exchange arguments = {
      replicas_of(ensemble), swap, (uint32_t)gpumc_swap_words(ensemble->plan.capacity)};
  return ising_multispin_swap(&arguments, error);
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_OVERLAPS],
                                 struct gpumc_error *error)
{
  assert(first != second && first + runs <= ensemble->runs && second + runs <= ensemble->runs);
  struct ising_multispin_comparison pairs = {
      .pairs = 1,
      .first = (uint32_t)first,
      .second = (uint32_t)second,
      .runs = (uint32_t)runs,
      .spin = overlap[GPUMC_OVERLAP_SPIN],
      .link = overlap[GPUMC_OVERLAP_LINK],
      .square = overlap[GPUMC_OVERLAP_WAVE],
  };
  return compare(ensemble, &pairs, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising_multispin_gather arguments = {replicas_of(ensemble), parent};
  return ising_multispin_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising_multispin_cuda = {
    ISING_MULTISPIN_CUDA_NAMES,
    ISING_STORAGE_COMMON,
    .bytes = bytes,
    .create = create,
    .randomize = randomize,
    .sweep = sweep,
    .measure = ising_host_measure,
    .gather = gather,
    .exchange = exchange,
    .overlap = overlap,
};
