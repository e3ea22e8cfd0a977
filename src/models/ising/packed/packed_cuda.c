/* The packed kernel on a GPU: memory, rules, replicas in and out in pieces. */
#include "models/ising/packed/packed_cuda.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_cuda.h"
#include "models/ising/ising_host_cuda.h"
#include "models/ising/multispin/multispin_temperature_cuda.h"
#include "models/ising/ising_storage_cuda.h"

/* ising_storage.table: where its parts begin. */
struct table {
  size_t sums;       /* [plan.runs][plan.capacity] of struct ising_packed_sums */
  size_t thresholds; /* [plan.runs] of struct ising_multispin_thresholds */
  size_t cosine, sine;
  size_t bytes;
};

static struct table
table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t wave_bytes = ising_wave_of(model).length * sizeof(int32_t);
  struct table table = {0};
  table.thresholds = plan->runs * plan->capacity * sizeof(struct ising_packed_sums);
  table.cosine = table.thresholds + plan->runs * sizeof(struct ising_multispin_thresholds);
  table.sine = table.cosine + wave_bytes;
  table.bytes = table.sine + wave_bytes;
  return table;
}

static void *place_of(const struct gpumc_ensemble *ensemble, size_t place)
{
  return (unsigned char *)ising_storage_of(ensemble)->table + place;
}

static struct ising_layout
layout_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return (struct ising_layout){.group = 1,
                               .group_bytes = model->sites / 8,
                               .table_bytes = table_of(model, plan).bytes,
                               .in_pieces = true};
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const struct ising_layout layout = layout_of(model, plan);
  return ising_storage_bytes(model, &layout, plan);
}

static struct ising_multispin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(ensemble->model)->lattice;
  return (struct ising_multispin_replicas){
      .batch = ising_batch_of(ensemble),
      .words = ising_storage_of(ensemble)->replicas,
      .groups = (uint32_t)ensemble->plan.capacity,
      .dimension = (uint32_t)lattice->dimension,
      .length_x = (uint32_t)lattice->length_x,
      .colour = (uint32_t)(lattice->colour / 32),
      .plane = (uint32_t)(lattice->plane / 32),
      .row = gpumc_divisor_make((uint32_t)(lattice->row / 32)),
      .height = gpumc_divisor_make((uint32_t)lattice->length_y),
  };
}

/* Without a field Metropolis of an antiferromagnet is that of a ferromagnet turned over. */
static uint32_t stagger_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_multispin_physics physics = ising_multispin_physics_of(ensemble);
  return physics.plain && physics.coupling < 0.0 ? UINT32_MAX : 0;
}

static enum gpumc_status
fill_waves(const struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_wave wave = ising_wave_of(ensemble->model);
  const size_t place = table_of(ensemble->model, &ensemble->plan).cosine;
  struct gpumc_device *device = ensemble->device;
  int32_t *cosine;
  enum gpumc_status status =
      gpumc_allocate_array(&cosine, 2 * (size_t)wave.length, "a table of waves", error);
  if (status != GPUMC_OK)
    return status;
  ising_wave_table(&wave, cosine, cosine + wave.length);
  status = device->ops->copy_to_device(device, place_of(ensemble, place), cosine,
                                       2 * (size_t)wave.length * sizeof *cosine, error);
  free(cosine);
  return status;
}

/* ising_storage.notes: temperatures whose thresholds are on the device. */
static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_layout layout = layout_of(ensemble->model, &ensemble->plan);
  const size_t runs = ensemble->plan.runs;
  double *known;
  const char *refusal = ising_packed_refuses(ensemble->model);
  if (refusal != NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "the packed kernel cannot take this: %s", refusal);
  enum gpumc_status status = ising_storage_create(ensemble, &layout, NULL, NULL, error);
  if (status != GPUMC_OK)
    return status;
  status = gpumc_allocate_array(&known, runs, "the kernel's notes", error);
  if (status == GPUMC_OK) {
    memset(known, ISING_NO_TEMPERATURE, runs * sizeof *known);
    ((struct ising_storage *)ensemble->storage)->notes = known;
    status = fill_waves(ensemble, error);
  }
  if (status != GPUMC_OK)
    ising_storage_destroy(ensemble);
  return status;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_packed_start arguments = {replicas_of(ensemble), stagger_of(ensemble)};
  return ising_packed_randomize(&arguments, error);
}

/* What the buffer takes of the `rest` pairs of words from `first` on. */
static struct ising_packed_transfer
next_piece(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t rest)
{
  const struct ising_storage *storage = ising_storage_of(ensemble);
  struct ising_packed_transfer piece = {.replicas = replicas_of(ensemble),
                                        .stagger = stagger_of(ensemble),
                                        .run = (uint32_t)m,
                                        .first = first,
                                        .sites = (uint64_t *)storage->staging};
  const size_t most = storage->staging_bytes / sizeof *piece.sites;
  piece.count = (uint32_t)(rest < most ? rest : most);
  return piece;
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t of_replica = replicas_of(ensemble).colour, pairs = count * of_replica;
  enum gpumc_status status = GPUMC_OK;
  assert(first + count <= ensemble->plan.capacity);
  for (size_t done = 0; done < pairs && status == GPUMC_OK;) {
    const struct ising_packed_transfer piece =
        next_piece(ensemble, m, first * of_replica + done, pairs - done);
    status = device->ops->copy_to_device(device, piece.sites, portable + done * sizeof *piece.sites,
                                         piece.count * sizeof *piece.sites, error);
    if (status == GPUMC_OK)
      status = ising_packed_from_portable(&piece, error);
    done += piece.count;
  }
  return status == GPUMC_OK ? device->ops->synchronize(device, error) : status;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t of_replica = replicas_of(ensemble).colour, pairs = count * of_replica;
  enum gpumc_status status = GPUMC_OK;
  assert(first + count <= ensemble->plan.capacity);
  for (size_t done = 0; done < pairs && status == GPUMC_OK;) {
    const struct ising_packed_transfer piece =
        next_piece(ensemble, m, first * of_replica + done, pairs - done);
    status = ising_packed_to_portable(&piece, error);
    if (status == GPUMC_OK)
      status = device->ops->copy_to_host(device, portable + done * sizeof *piece.sites, piece.sites,
                                         piece.count * sizeof *piece.sites, error);
    done += piece.count;
  }
  return status;
}

/* Of the replicas, or of the runs' pairs of them; results are added by the caller. */
static struct ising_packed_measurement measurement_of(const struct gpumc_ensemble *ensemble)
{
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  struct ising_packed_measurement measurement = {
      .replicas = replicas_of(ensemble),
      .sums = place_of(ensemble, table.sums),
      .wave = ising_wave_of(ensemble->model),
      .cosine = place_of(ensemble, table.cosine),
      .sine = place_of(ensemble, table.sine),
      .stagger = stagger_of(ensemble),
      .runs = (uint32_t)ensemble->runs,
  };
  measurement.by_fours = measurement.replicas.row.value % ISING_MULTISPIN_VECTOR == 0;
  return measurement;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_packed_measurement measurement = measurement_of(ensemble);
  measurement.channels = ising_channels_of(ensemble->model, channel);
  measurement.square = channel[ISING_WAVE];
  if (!ising_wanted(&measurement.channels) && measurement.square == NULL)
    return GPUMC_OK;
  return ising_packed_measure(&measurement, error);
}

static uint32_t block_of(const struct gpumc_device *device)
{
  const uint32_t asked = (device->block_threads + 31) / 32 * 32;
  if (asked > ISING_MULTISPIN_THREADS)
    return ISING_MULTISPIN_THREADS;
  return asked > 0 ? asked : ISING_PACKED_THREADS;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const size_t place = table_of(ensemble->model, &ensemble->plan).thresholds;
  struct ising_multispin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = {.physics = ising_multispin_physics_of(ensemble),
               .thresholds = place_of(ensemble, place)},
      .spread = {.slots = 1, .threads = block_of(ensemble->device), .width = 1},
      .sweeps = sweeps,
  };
  enum gpumc_status status = GPUMC_OK;
  if (arguments.replicas.row.value % ISING_MULTISPIN_VECTOR == 0)
    arguments.spread.width = ISING_MULTISPIN_VECTOR;
  if (sweeps > 0)
    status = ising_multispin_set_temperatures(ensemble, beta, ising_storage_of(ensemble)->notes,
                                              &arguments.rule, error);
  if (status == GPUMC_OK && sweeps > 0)
    status = ising_packed_sweep(&arguments, error);
  return status == GPUMC_OK && channel != NULL ? measure(ensemble, channel, error) : status;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_OVERLAPS],
                                 struct gpumc_error *error)
{
  assert(first != second && first + runs <= ensemble->runs && second + runs <= ensemble->runs);
  struct ising_packed_measurement pairs = measurement_of(ensemble);
  pairs.pairs = 1;
  pairs.first = (uint32_t)first;
  pairs.second = (uint32_t)second;
  pairs.runs = (uint32_t)runs;
  pairs.spin = overlap[GPUMC_OVERLAP_SPIN];
  pairs.link = overlap[GPUMC_OVERLAP_LINK];
  pairs.square = overlap[GPUMC_OVERLAP_WAVE];
  return ising_packed_measure(&pairs, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising_multispin_gather arguments = {replicas_of(ensemble), parent};
  return ising_packed_copy_parents(&arguments, error);
}

static enum gpumc_status
exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap, struct gpumc_error *error)
{
  const struct ising_multispin_exchange arguments = {
      replicas_of(ensemble), swap, (uint32_t)gpumc_swap_words(ensemble->plan.capacity)};
  return ising_packed_swap(&arguments, error);
}

const struct gpumc_kernel_ops ising_packed_cuda = {
    ISING_PACKED_CUDA_NAMES,
    .bytes = bytes,
    .create = create,
    .destroy = ising_storage_destroy,
    .randomize = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .gather = gather,
    .exchange = exchange,
    .overlap = overlap,
};
