/* The spin kernel on a GPU: replicas with one bit per spin, swept in shared memory if they fit. */
#include "models/ising/spin/spin_gpu.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/cluster/cluster.h"
#include "models/ising/cluster/cluster_host_gpu.h"
#include "models/ising/ising_host_gpu.h"
#include "models/ising/spin/spin_exchange_gpu.h"
#include "models/lattice/replicas_gpu.h"

/* Replicas that may be measured in parts, blocks of threads for a multiprocessor, and the fewest
 * words of a block. */
enum { PARTED_REPLICAS = 1024, MEASURING_BLOCKS = 8, PART_WORDS = 256 };

static struct ising_spin_gpu_lattice lattice_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const uint32_t row_words = (uint32_t)lattice->row / ISING_SPIN_WORD_BITS;
  return (struct ising_spin_gpu_lattice){
      .dimension = (uint32_t)lattice->dimension,
      .row = (uint32_t)lattice->row,
      .height = (uint32_t)lattice->length_y,
      .plane = (uint32_t)lattice->plane,
      .colour = (uint32_t)lattice->colour,
      .blocks = (uint32_t)lattice_parts(lattice->colour, ISING_SPIN_BLOCK),
      .row_words = gpumc_divisor_make(row_words > 0 ? row_words : 1),
  };
}

/* Masks of rows, then of planes. */
static size_t masks_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  return ising_spin_words(lattice) *
         (sizeof(struct ising_spin_row_masks) + sizeof(struct ising_spin_plane_masks));
}

static void pack(const struct gpumc_model *model, const struct ising_spin_samples *samples,
                 const void *from, size_t count, size_t lanes, void *to)
{
  const struct ising_spin_gpu_lattice lattice = lattice_of(model);
  (void)count;
  (void)lanes;
  if (samples->kind == ISING_SPIN_SIGNS)
    ising_spin_pack_signs(&lattice, from, samples->stride, to);
  if (samples->kind == ISING_SPIN_TERMS)
    ising_spin_pack_terms(&lattice, from, samples->stride, to);
}

/* Returns the bytes of messages between strips. */
static size_t mail_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_spin_gpu_lattice lattice = lattice_of(model);
  return lattice_strips_mail_bytes(plan->runs * plan->capacity, lattice.blocks,
                                   ising_spin_edge(&lattice));
}

/* Returns the replicas of which blocks of threads may measure parts: more of them, a block each,
 * are enough for any GPU. */
static size_t measured_in_parts(const struct gpumc_ensemble_plan *plan)
{
  const size_t replicas = plan->runs * plan->capacity;
  return replicas <= PARTED_REPLICAS ? replicas : 0;
}

static size_t sums_bytes(const struct gpumc_ensemble_plan *plan)
{
  return measured_in_parts(plan) * sizeof(struct ising_spin_sums);
}

/* The table's own part: masks, mail, sums of measurements, then what cluster moves take. */
static struct ising_tables_layout
tables_layout_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_spin_gpu_lattice lattice = lattice_of(model);
  const enum ising_spin_kind kind = ising_spin_kind(model);
  const size_t slots = 2 * (2 * lattice.dimension + 1);
  struct ising_tables_layout layout = {.own_bytes = masks_bytes(&lattice) +
                                                    mail_bytes(model, plan) + sums_bytes(plan) +
                                                    ising_cluster_table_bytes(model, plan),
                                       .lanes = 1,
                                       .pack = pack};
  if (kind == ISING_SPIN_SIGNS)
    layout.group_bytes = slots * ising_spin_words(&lattice) * sizeof(uint32_t);
  if (kind == ISING_SPIN_TERMS)
    layout.group_bytes = ising_spin_packed_bytes(&lattice);
  return layout;
}

static void mask_spin(const struct ising_spin_gpu_lattice *lattice, uint32_t k,
                      struct ising_spin_row_masks *rows, struct ising_spin_plane_masks *planes)
{
  const uint32_t line = k / lattice->row, x = k % lattice->row;
  const uint32_t y = line % lattice->height, z = line / lattice->height;
  const uint32_t w = k / ISING_SPIN_WORD_BITS, bit = 1u << k % ISING_SPIN_WORD_BITS;
  rows[w].first |= x == 0 ? bit : 0;
  rows[w].last |= x == lattice->row - 1 ? bit : 0;
  rows[w].odd |= (y + z) % 2 != 0 ? bit : 0;
  planes[w].first |= y == 0 ? bit : 0;
  planes[w].last |= y == lattice->height - 1 ? bit : 0;
}

static enum gpumc_status
fill_masks(const struct gpumc_ensemble *ensemble, void *own, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct ising_spin_gpu_lattice lattice = lattice_of(ensemble->model);
  const size_t n = masks_bytes(&lattice);
  void *masks;
  GPUMC_TRY(gpumc_allocate(1, n, "masks of rows", &masks, error));
  struct ising_spin_row_masks *rows = masks;
  for (uint32_t k = 0; k < lattice.colour; k++)
    mask_spin(&lattice, k, rows, (void *)(rows + ising_spin_words(&lattice)));
  const enum gpumc_status status = device->ops->copy_to_device(device, own, masks, n, error);
  free(masks);
  return status;
}

static struct ising_tables tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_tables_layout layout = tables_layout_of(ensemble->model, &ensemble->plan);
  return ising_tables_of(ensemble, &layout);
}

/* Returns the parts of the table that are for messages between strips, for sums, and for cluster
 * moves. */
static void *mail_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_spin_gpu_lattice lattice = lattice_of(ensemble->model);
  return (unsigned char *)tables_of(ensemble).own + masks_bytes(&lattice);
}

static void *sums_of(const struct gpumc_ensemble *ensemble)
{
  return (unsigned char *)mail_of(ensemble) + mail_bytes(ensemble->model, &ensemble->plan);
}

static void *cluster_table(const struct gpumc_ensemble *ensemble)
{
  return (unsigned char *)sums_of(ensemble) + sums_bytes(&ensemble->plan);
}

/* Returns a description without replicas. */
static struct ising_spin_replicas
description_of(const struct gpumc_model *model, const struct gpumc_device *device)
{
  return (struct ising_spin_replicas){
      .lattice = lattice_of(model),
      .block_threads = device->block_threads,
      .multiprocessors = (uint32_t)device->multiprocessors,
      .shared_bytes = device->shared_bytes,
  };
}

static struct ising_spin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  struct ising_spin_replicas replicas = description_of(ensemble->model, ensemble->device);
  replicas.batch = lattice_gpu_batch(ensemble);
  replicas.words = lattice_gpu_storage_of(ensemble)->replicas;
  replicas.lattice.masks = tables_of(ensemble).own;
  replicas.lattice.plane_masks =
      (const void *)(replicas.lattice.masks + ising_spin_words(&replicas.lattice));
  return replicas;
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_spin_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? ising_spin_from_portable(&arguments, error)
                                            : ising_spin_to_portable(&arguments, error);
}

/* A unit is a block of both colours. */
static size_t units(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return lattice_of(model).blocks;
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tables_layout tables = tables_layout_of(model, plan);
  return ising_tables_bytes(model, plan, &tables);
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_tables_layout tables = tables_layout_of(ensemble->model, &ensemble->plan);
  GPUMC_TRY(ising_tables_fill(ensemble, &tables, error));
  GPUMC_TRY(ising_cluster_table_fill(ensemble, cluster_table(ensemble), error));
  if (sums_bytes(&ensemble->plan) > 0)
    GPUMC_TRY(ensemble->device->ops->fill(ensemble->device, sums_of(ensemble), 0,
                                          sums_bytes(&ensemble->plan), error));
  return fill_masks(ensemble, tables_of(ensemble).own, error);
}

/* Returns the words that a block of an exchange works in: clusters, differences, and links in all
 * directions. */
static size_t exchange_words(const struct gpumc_model *model)
{
  const struct ising_spin_gpu_lattice lattice = lattice_of(model);
  return (4 + 4 * (size_t)lattice.dimension) * ising_spin_words(&lattice);
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t pairs = plan->runs * plan->capacity;
  return plan->clusters ? ising_exchange_scratch_bytes(pairs, exchange_words(model)) : 0;
}

static const struct lattice_gpu_layout layout = {
    .group = 1,
    .unit_bytes = (size_t)2 * ISING_SPIN_WORDS * sizeof(uint32_t),
    .sites_limit = LATTICE_GPU_SITES_LIMIT,
    .units = units,
    .table_bytes = table_bytes,
    .scratch_bytes = scratch_bytes,
    .notes_bytes = ising_tables_notes_bytes,
    .fill = fill,
    .convert = convert,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  const struct ising_spin_replicas replicas = description_of(model, device);
  return lattice_gpu_bytes(&layout, model, plan) +
         ising_cluster_scratch_bytes(&replicas, model, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_gpu_create(&layout, ensemble, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_spin_replicas replicas = replicas_of(ensemble);
  return ising_spin_randomize(&replicas, error);
}

static enum ising_spin_mode mode_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const enum ising_spin_kind kind = ising_spin_kind(ensemble->model);
  if (kind == ISING_SPIN_TERMS)
    return ISING_SPIN_BY_TERMS;
  if (kind == ISING_SPIN_SIGNS || parameters->lattice.dimension == 3)
    return ISING_SPIN_CLASSES;
  return ensemble->plan.move == ISING_MOVE_METROPOLIS && parameters->field == 0.0 &&
                 ensemble->plan.moved != ISING_FIELD
             ? ISING_SPIN_PLAIN
             : ISING_SPIN_FIELD;
}

/* Sets how the runs get their rules. */
static enum gpumc_status set_rules(struct gpumc_ensemble *ensemble, const double *control,
                                   struct ising_spin_gpu_sweep *arguments,
                                   struct gpumc_error *error)
{
  arguments->each_its_own =
      arguments->mode > ISING_SPIN_FIELD || !ising_one_temperature(ensemble, control);
  if (arguments->each_its_own)
    return ising_tables_set_rules(ensemble, &arguments->tables, control, error);
  const struct ising_run_rule rule = ising_run_rule_of(ensemble, control);
  arguments->rule = ising_rule_of_words(&rule);
  return GPUMC_OK;
}

/* Spreads a measurement of stored replicas over the GPU. */
static struct ising_spin_gpu_measurement
measurement_of(const struct gpumc_ensemble *ensemble, const struct ising_measured *measured)
{
  struct ising_spin_gpu_measurement measurement = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .measured = *measured,
      .parts = 1,
      .sums = sums_of(ensemble),
  };
  const size_t words = 2 * ising_spin_words(&measurement.replicas.lattice);
  const size_t most = lattice_parts(words, PART_WORDS);
  const size_t blocks = (size_t)measurement.replicas.multiprocessors * MEASURING_BLOCKS;
  const size_t wanted = blocks / (measured->runs * ensemble->plan.capacity);
  if (measured_in_parts(&ensemble->plan) > 0 && wanted > 1)
    measurement.parts = (uint32_t)(wanted < most ? wanted : most);
  return measurement;
}

/* Measures the part of `channel` that the sweeps have not measured. */
static enum gpumc_status measure_rest(const struct gpumc_ensemble *ensemble,
                                      const struct ising_channels *by_sweeps,
                                      int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_measured measured = ising_measured_channels(ensemble->runs, channel);
  if (ising_wanted(by_sweeps))
    measured.energy = measured.spins = NULL;
  if (measured.energy == NULL && measured.spins == NULL && measured.wave == NULL)
    return GPUMC_OK;
  const struct ising_spin_gpu_measurement arguments = measurement_of(ensemble, &measured);
  return ising_spin_measure_stored(&arguments, error);
}

static enum gpumc_status sweep_clusters(struct gpumc_ensemble *ensemble, const double *control,
                                        uint32_t sweeps, struct gpumc_error *error)
{
  const struct ising_spin_replicas replicas = replicas_of(ensemble);
  const struct ising_tables tables = tables_of(ensemble);
  GPUMC_TRY(ising_tables_set_rules(ensemble, &tables, control, error));
  return ising_cluster_gpu_sweep(ensemble, &replicas, &tables, cluster_table(ensemble), control,
                                 sweeps, error);
}

/* Measures what is of clusters, of replicas at that time. */
static enum gpumc_status measure_clusters(struct gpumc_ensemble *ensemble, const double *control,
                                          uint32_t time, int64_t *const *channel,
                                          struct gpumc_error *error)
{
  const struct ising_spin_replicas replicas = replicas_of(ensemble);
  const struct ising_tables tables = tables_of(ensemble);
  if (!ising_cluster_is_planned(&ensemble->plan))
    return GPUMC_OK;
  return ising_cluster_gpu_measure(ensemble, &replicas, &tables, cluster_table(ensemble), control,
                                   time, channel, error);
}

static bool has_fields(const struct gpumc_ensemble *ensemble)
{
  return ising_parameters(ensemble->model)->field != 0.0 ||
         ising_disorder_traits(ensemble->model).fields || ensemble->plan.moved == ISING_FIELD;
}

/* With each replica on one multiprocessor, or a launch for each colour. */
static enum gpumc_status sweep_local(struct ising_spin_gpu_sweep *sweep, struct gpumc_error *error)
{
  if (ising_spin_fits(&sweep->replicas))
    return ising_spin_sweep_shared(sweep, error);
  sweep->channels = (struct ising_channels){0};
  return ising_spin_sweep_global(sweep, error);
}

/* Sweeps, and leaves in `channels` what it has measured: many replicas with terms by lanes, few of
 * any kind with each of them spread out. */
static enum gpumc_status sweep_spins(struct gpumc_ensemble *ensemble,
                                     struct ising_spin_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const uint32_t sweeps = sweep->sweeps;
  struct ising_spin_replicas *replicas = &sweep->replicas;
  if (sweep->mode == ISING_SPIN_BY_TERMS && ising_spin_fits_lanes(replicas))
    return ising_spin_sweep_lanes(sweep, error);
  if (!ising_spin_spread(sweep, plan->runs * plan->capacity))
    return sweep_local(sweep, error);
  if (sweeps == 0 || replicas->strips.count > 1)
    sweep->channels = (struct ising_channels){0};
  const struct ising_channels channels = sweep->channels;
  replicas->strips.mail = mail_of(ensemble);
  for (uint32_t done = 0; done < sweeps; done += sweep->sweeps) {
    const uint32_t left = sweeps - done;
    sweep->sweeps = left < LATTICE_STRIPS_SWEEPS ? left : LATTICE_STRIPS_SWEEPS;
    sweep->channels = left > LATTICE_STRIPS_SWEEPS ? (struct ising_channels){0} : channels;
    replicas->batch.time = ensemble->time + done;
    GPUMC_TRY(lattice_gpu_post(ensemble, sweep->sweeps, mail_bytes(ensemble->model, plan),
                               &replicas->strips, error));
    GPUMC_TRY(ising_spin_sweep_strips(sweep, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const double *control = sweeps > 0 ? target->control : ensemble->control;
  const uint32_t time = ensemble->time + sweeps;
  if (sweeps > 0 && ising_cluster_moves(&ensemble->plan)) {
    GPUMC_TRY(sweep_clusters(ensemble, target->control, sweeps, error));
    sweeps = 0;
  }
  struct ising_spin_gpu_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .mode = mode_of(ensemble),
      .fields = has_fields(ensemble),
      .sweeps = sweeps,
  };
  if (arguments.mode <= ISING_SPIN_FIELD)
    arguments.channels = ising_channels_of(ensemble->model, channel);
  if (sweeps > 0)
    GPUMC_TRY(set_rules(ensemble, target->control, &arguments, error));
  if (sweeps > 0 || ising_wanted(&arguments.channels))
    GPUMC_TRY(sweep_spins(ensemble, &arguments, error));
  if (channel == NULL)
    return GPUMC_OK;
  GPUMC_TRY(measure_rest(ensemble, &arguments.channels, channel, error));
  return measure_clusters(ensemble, control, time, channel, error);
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  const struct ising_measured measured = ising_measured_overlaps(first, second, runs, overlap);
  const struct ising_spin_gpu_measurement arguments = measurement_of(ensemble, &measured);
  return ising_spin_measure_stored(&arguments, error);
}

/* Returns the threads of a block: a warp at least, and no more than there are words. */
static uint32_t exchange_threads(const struct gpumc_ensemble *ensemble,
                                 const struct ising_spin_gpu_lattice *lattice)
{
  const size_t block = ensemble->device->block_threads;
  const size_t asked = block > 0 ? block : 2 * ising_spin_words(lattice);
  const size_t warps = lattice_parts(asked, ISING_SPIN_WORD_BITS);
  const size_t threads = warps * ISING_SPIN_WORD_BITS;
  return (uint32_t)(threads < ISING_EXCHANGE_THREADS ? threads : ISING_EXCHANGE_THREADS);
}

static enum gpumc_status exchange_clusters(struct gpumc_ensemble *ensemble,
                                           const struct gpumc_cluster_exchange *with,
                                           struct gpumc_error *error)
{
  struct ising_spin_gpu_exchange arguments = {
      .replicas = replicas_of(ensemble),
      .tables = tables_of(ensemble),
      .launch = ising_exchange_launch_of(with, ising_spin_coupling(ensemble->model)),
  };
  struct ising_exchange_launch *launch = &arguments.launch;
  launch->threads = exchange_threads(ensemble, &arguments.replicas.lattice);
  launch->words = exchange_words(ensemble->model);
  while (ising_exchange_next(with, launch)) {
    const size_t pairs = launch->runs * ensemble->plan.capacity;
    GPUMC_TRY(ising_exchange_spread(ensemble, pairs, launch, error));
    GPUMC_TRY(ising_spin_exchange_replicas(&arguments, error));
  }
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_spin_cuda = {
    ISING_SPIN_CUDA_NAMES,
    LATTICE_GPU_COMMON,
    .bytes = bytes,
    .create = create,
    .start = randomize,
    .sweep = sweep,
    .measure = ising_host_measure,
    .gather = lattice_gpu_gather,
    .exchange = lattice_gpu_exchange,
    .compare = overlap,
    .exchange_clusters = exchange_clusters,
};
