/* The packed kernel on a GPU: memory, rules, and calls of the drivers. */
#include "models/ising/packed/packed_gpu.h"

#include <assert.h>
#include <stdbool.h>

#include "models/ising/ising.h"
#include "models/ising/ising_host_gpu.h"
#include "models/ising/multispin/multispin_gpu.h"
#include "models/ising/packed/packed.h"
#include "models/lattice/replicas_gpu.h"

/* lattice_gpu_storage.table: offsets of its parts in bytes. */
struct table {
  size_t mail;       /* lattice_strips.mail */
  size_t sums;       /* [plan.runs][plan.capacity] of struct ising_packed_sums */
  size_t thresholds; /* [plan.runs] of struct ising_multispin_thresholds */
  size_t cosine, sine;
  size_t mail_bytes, bytes;
};

/* Strips are of whole layers. */
static size_t layers_of(const struct gpumc_checkerboard *lattice)
{
  return lattice->dimension == 3 ? lattice->length_z : lattice->length_y;
}

static struct table
table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t wave_bytes = ising_wave_of(model).length * sizeof(int32_t);
  const struct gpumc_checkerboard lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  const size_t layers = layers_of(&lattice), edge = lattice.colour / layers;
  struct table table = {0};
  table.mail = 0;
  table.mail_bytes = lattice_strips_mail_bytes(plan->runs * plan->capacity, layers, edge);
  table.sums = table.mail_bytes;
  table.thresholds = table.sums + plan->runs * plan->capacity * sizeof(struct ising_packed_sums);
  table.cosine = table.thresholds + plan->runs * sizeof(struct ising_multispin_thresholds);
  table.sine = table.cosine + wave_bytes;
  table.bytes = table.sine + wave_bytes;
  return table;
}

static struct ising_multispin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard lattice =
      ising_packed_lattice(&ising_parameters(ensemble->model)->lattice);
  return ising_multispin_replicas_on(ensemble, &lattice, ensemble->plan.capacity);
}

/* Without a field, Metropolis of an antiferromagnet is that of a ferromagnet with one colour
 * inverted. */
static uint32_t stagger_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_multispin_physics physics = ising_multispin_physics_of(ensemble);
  return physics.plain && physics.coupling < 0.0 ? UINT32_MAX : 0;
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_packed_transfer arguments = {
      .replicas = replicas_of(ensemble),
      .portable = *portable,
      .stagger = stagger_of(ensemble),
  };
  return direction == LATTICE_FROM_PORTABLE ? ising_packed_from_portable(&arguments, error)
                                            : ising_packed_to_portable(&arguments, error);
}

/* A unit is four words: sides are even, so a replica has a multiple of four. */
static size_t units(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites / 8 / (4 * sizeof(uint32_t));
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return table_of(model, plan).bytes;
}

/* Whose thresholds are on the device. */
static size_t notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return ising_known_bytes(plan);
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  ising_known_forget(&ensemble->plan, lattice_gpu_storage_of(ensemble)->notes);
  return ising_bring_waves(ensemble, lattice_gpu_table(ensemble, table.cosine),
                           lattice_gpu_table(ensemble, table.sine), NULL, error);
}

static const struct lattice_gpu_layout layout = {
    .group = 1,
    .unit_bytes = 4 * sizeof(uint32_t),
    .sites_limit = ISING_SITES_LIMIT,
    .check = ising_packed_check,
    .piece_bytes = sizeof(uint64_t),
    .units = units,
    .table_bytes = table_bytes,
    .notes_bytes = notes_bytes,
    .fill = fill,
    .convert = convert,
};

LATTICE_GPU_BYTES_AND_CREATE(layout)

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_packed_start arguments = {replicas_of(ensemble), stagger_of(ensemble)};
  return ising_packed_randomize(&arguments, error);
}

/* For the replicas, or for pairs of them in two runs; results are added by the caller. */
static struct ising_packed_measurement measurement_of(const struct gpumc_ensemble *ensemble)
{
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  struct ising_packed_measurement measurement = {
      .replicas = replicas_of(ensemble),
      .sums = lattice_gpu_table(ensemble, table.sums),
      .wave = ising_wave_of(ensemble->model),
      .cosine = lattice_gpu_table(ensemble, table.cosine),
      .sine = lattice_gpu_table(ensemble, table.sine),
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

/* What decides about strips, by rates of an H200, as words of a colour that a multiprocessor
 * updates in that time: two launches less two exchanges of messages; two exchanges (1 us). Then the
 * words that a strip has at least, since fewer take no less time, and those from which on a thread
 * takes several at once; and the most threads. */
enum {
  WORDS_OF_LAUNCH = 2600,
  WORDS_OF_EXCHANGE = 250,
  WORDS_LEAST = 128,
  WORDS_WIDE = 1024,
  STRIP_THREADS = 512,
};

/* Returns the words that a thread may take at once. */
static uint32_t width_for(const struct ising_multispin_replicas *replicas)
{
  return replicas->row.value % ISING_MULTISPIN_VECTOR == 0 ? ISING_MULTISPIN_VECTOR : 1;
}

static uint32_t threads_for(const struct gpumc_device *device, size_t units)
{
  const size_t own = lattice_parts(units, 32) * 32;
  if (device->block_threads > 0)
    return block_of(device);
  return own < STRIP_THREADS ? (uint32_t)own : (uint32_t)STRIP_THREADS;
}

/* Returns how many strips a replica is cut into, if messages cost less than that saves. */
static uint32_t
strips_for(const struct ising_multispin_replicas *replicas, size_t processors, size_t all)
{
  const size_t layer = ising_packed_layer(replicas), layers = replicas->colour / layer;
  const size_t room = replicas->colour / WORDS_LEAST, most = room < layers ? room : layers;
  const uint32_t count = lattice_strips_count(processors, all, most);
  const size_t words = lattice_strip_most((uint32_t)layers, count) * layer;
  const size_t whole = lattice_parts(all, processors) * replicas->colour;
  return whole <= words + WORDS_OF_EXCHANGE ? 1 : count;
}

/* Cuts replicas into strips, or leaves them whole, so that multiprocessors have equal shares of
 * them; returns whether that is faster than a launch for each colour. */
static bool
spread_over_strips(const struct gpumc_ensemble *ensemble, struct ising_multispin_sweep *sweep)
{
  const struct gpumc_device *device = ensemble->device;
  const struct ising_multispin_replicas *replicas = &sweep->replicas;
  const size_t processors = (size_t)device->multiprocessors;
  const size_t all = ensemble->plan.runs * ensemble->plan.capacity;
  const uint32_t layer = ising_packed_layer(replicas);
  const uint32_t count = strips_for(replicas, processors, all);
  const size_t words = (size_t)lattice_strip_most(replicas->colour / layer, count) * layer;
  const size_t waves = lattice_parts(all * count, processors);
  if (words * waves > all * replicas->colour / processors + WORDS_OF_LAUNCH)
    return false;
  sweep->strips = (struct lattice_strips){.count = count, .edge = layer};
  sweep->spread.width = words < WORDS_WIDE ? 1 : width_for(replicas);
  sweep->spread.threads = threads_for(device, words / sweep->spread.width);
  return ising_packed_strips_fit(sweep, device->shared_bytes);
}

static enum gpumc_status sweep_strips(struct gpumc_ensemble *ensemble,
                                      struct ising_multispin_sweep *sweep,
                                      struct gpumc_error *error)
{
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  const uint32_t sweeps = sweep->sweeps;
  sweep->strips.mail = lattice_gpu_table(ensemble, table.mail);
  for (uint32_t done = 0; done < sweeps; done += sweep->sweeps) {
    sweep->sweeps = sweeps - done < LATTICE_STRIPS_SWEEPS ? sweeps - done : LATTICE_STRIPS_SWEEPS;
    sweep->replicas.batch.time = ensemble->time + done;
    GPUMC_TRY(lattice_gpu_post(ensemble, sweep->sweeps, table.mail_bytes, &sweep->strips, error));
    GPUMC_TRY(ising_packed_sweep_strips(sweep, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status sweep_colours(const struct gpumc_ensemble *ensemble,
                                       struct ising_multispin_sweep *sweep,
                                       struct gpumc_error *error)
{
  sweep->spread.width = width_for(&sweep->replicas);
  sweep->spread.threads = block_of(ensemble->device);
  return ising_packed_sweep(sweep, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const size_t place = table_of(ensemble->model, &ensemble->plan).thresholds;
  struct ising_multispin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = {.physics = ising_multispin_physics_of(ensemble),
               .thresholds = lattice_gpu_table(ensemble, place)},
      .spread = {.slots = 1},
      .sweeps = sweeps,
  };
  if (sweeps > 0) {
    GPUMC_TRY(ising_multispin_set_temperatures(ensemble, target->control,
                                               lattice_gpu_storage_of(ensemble)->notes,
                                               &arguments.rule, error));
    GPUMC_TRY(spread_over_strips(ensemble, &arguments)
                  ? sweep_strips(ensemble, &arguments, error)
                  : sweep_colours(ensemble, &arguments, error));
  }
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  assert(first != second && first + runs <= ensemble->runs && second + runs <= ensemble->runs);
  struct ising_packed_measurement pairs = measurement_of(ensemble);
  pairs.pairs = 1;
  pairs.first = (uint32_t)first;
  pairs.second = (uint32_t)second;
  pairs.runs = (uint32_t)runs;
  pairs.spin = overlap[ISING_PAIR_SPIN];
  pairs.link = overlap[ISING_PAIR_LINK];
  pairs.square = overlap[ISING_PAIR_WAVE];
  return ising_packed_measure(&pairs, error);
}

const struct gpumc_kernel_ops ising_packed_cuda = {
    ISING_PACKED_NAMES,
    .device = "cuda",
    LATTICE_GPU_COMMON,
    .bytes = bytes,
    .create = create,
    .start = randomize,
    .sweep = sweep,
    .measure = measure,
    .gather = lattice_gpu_gather,
    .exchange = lattice_gpu_exchange,
    .compare = overlap,
};
