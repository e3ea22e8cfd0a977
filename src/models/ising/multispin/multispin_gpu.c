/* The multispin kernel on a GPU: memory, rules and spreads for the drivers. */
#include "models/ising/multispin/multispin_gpu.h"

#include <assert.h>

#include "core/device/beside_gpu.h"
#include "models/ising/ising.h"
#include "models/ising/ising_host_gpu.h"
#include "models/ising/multispin/multispin_exchange_gpu.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/lattice/replicas_gpu.h"

enum { SHARED_BYTES_MOST = 227 << 10 }; /* that a block has on any GPU of today */

/* lattice_gpu_storage.notes: sums of the table of waves, cosines and sines, and whose thresholds
 * are on the device. */
struct notes {
  int64_t wave_sum[2];
  double known[];
};

static size_t tiles_of(const struct gpumc_model *model)
{
  return lattice_parts(model->sites, ISING_MULTISPIN_TILE_SITES);
}

struct ising_multispin_replicas
ising_multispin_replicas_on(const struct gpumc_ensemble *ensemble,
                            const struct gpumc_checkerboard *lattice, size_t groups)
{
  return (struct ising_multispin_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .words = lattice_gpu_storage_of(ensemble)->replicas,
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
  const size_t groups = lattice_parts(ensemble->plan.capacity, ISING_MULTISPIN_LANES);
  struct ising_multispin_replicas replicas =
      ising_multispin_replicas_on(ensemble, &ising_parameters(ensemble->model)->lattice, groups);
  replicas.tiles = (uint32_t)tiles_of(ensemble->model);
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  if (table.n_pairs > 0)
    replicas.pairs = lattice_gpu_table(ensemble, table.pairs);
  return replicas;
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_multispin_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? ising_multispin_from_portable(&arguments, error)
                                            : ising_multispin_to_portable(&arguments, error);
}

/* A unit is one replica's part of a tile. */
static size_t units(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return tiles_of(model);
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return ising_multispin_table_of(model, plan).bytes;
}

static size_t notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return sizeof(struct notes) + ising_known_bytes(plan);
}

static struct ising_multispin_spread spread_of(const struct gpumc_device *device,
                                               const struct ising_multispin_replicas *replicas,
                                               bool plain);

static void load(const void *argument)
{
  ising_multispin_load_start();
  ising_multispin_load_shared(argument);
}

/* Populations have one temperature, chains and tempering one for each run. */
static void load_code(struct gpumc_ensemble *ensemble)
{
  struct ising_multispin_sweep sweep = {
      .replicas = replicas_of(ensemble),
      .disorder = ising_multispin_disorder_of(ensemble),
      .rule = {.physics = ising_multispin_physics_of(ensemble)},
  };
  sweep.rule.each = sweep.disorder.signs != NULL || !ensemble->plan.copies;
  sweep.spread = spread_of(ensemble->device, &sweep.replicas, sweep.rule.physics.plain);
  if (sweep.spread.in_shared)
    gpumc_gpu_beside(ensemble->device, load, &sweep, sizeof sweep);
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct notes *notes = lattice_gpu_storage_of(ensemble)->notes;
  ising_known_forget(&ensemble->plan, notes->known);
  load_code(ensemble);
  return ising_multispin_table_fill(ensemble, notes->wave_sum, error);
}

/* Returns the words that a block of an exchange works in: two groups by site, and links. */
static size_t exchange_words(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t words = lattice_parts(model->sites, 8) * 8;
  return 2 * words + lattice_parts(2 * lattice->dimension * lattice->colour, 4) * 4;
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t pairs = plan->runs * lattice_parts(plan->capacity, ISING_MULTISPIN_LANES);
  return plan->clusters ? ising_exchange_scratch_bytes(pairs, exchange_words(model)) : 0;
}

/* Sweeps in shared memory do, for which larger groups have no room on any GPU. */
static bool moves_in_sweeps(const struct gpumc_model *model)
{
  return model->sites <= SHARED_BYTES_MOST / sizeof(uint32_t);
}

static const struct lattice_gpu_layout layout = {
    .group = ISING_MULTISPIN_LANES,
    .unit_bytes = ISING_MULTISPIN_TILE_BYTES / ISING_MULTISPIN_LANES,
    .moves_in_sweeps = moves_in_sweeps,
    .sites_limit = LATTICE_GPU_SITES_LIMIT,
    .units = units,
    .table_bytes = table_bytes,
    .scratch_bytes = scratch_bytes,
    .notes_bytes = notes_bytes,
    .fill = fill,
    .convert = convert,
};

LATTICE_GPU_BYTES_AND_CREATE(layout)

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  const struct ising_multispin_replicas replicas = replicas_of(ensemble);
  return ising_multispin_randomize(&replicas, error);
}

/* control: NULL if there are no sweeps. */
static enum gpumc_status set_rule(const struct gpumc_ensemble *ensemble, const double *control,
                                  struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  struct ising_multispin_device_rule *rule = &sweep->rule;
  struct notes *notes = lattice_gpu_storage_of(ensemble)->notes;
  if (rule->physics.plain && rule->physics.coupling < 0.0)
    sweep->disorder.stagger = UINT32_MAX;
  rule->each = sweep->disorder.signs != NULL;
  rule->thresholds = lattice_gpu_table(
      ensemble, ising_multispin_table_of(ensemble->model, &ensemble->plan).thresholds);
  if (control == NULL)
    return GPUMC_OK;
  return ising_multispin_set_temperatures(ensemble, control, notes->known, rule, error);
}

/* Compares the replicas of the runs first + i with those of second + i. */
static enum gpumc_status compare(struct gpumc_ensemble *ensemble,
                                 struct ising_multispin_comparison *comparison,
                                 struct gpumc_error *error)
{
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  const struct notes *notes = lattice_gpu_storage_of(ensemble)->notes;
  const struct ising_multispin_table table =
      ising_multispin_table_of(ensemble->model, &ensemble->plan);
  const struct ising_multispin_replicas replicas = replicas_of(ensemble);
  const size_t shared = ising_multispin_comparison_bytes(&replicas, true);
  comparison->replicas = replicas;
  comparison->wave = ising_wave_of(ensemble->model);
  comparison->cosine = lattice_gpu_table(ensemble, table.cosine);
  comparison->sine = lattice_gpu_table(ensemble, table.sine);
  comparison->sum_cosine = notes->wave_sum[0];
  comparison->sum_sine = notes->wave_sum[1];
  comparison->in_shared = shared <= ensemble->device->shared_bytes;
  comparison->by_fours = replicas.row.value % ISING_MULTISPIN_VECTOR == 0;
  comparison->shared_bytes =
      (uint32_t)ising_multispin_comparison_bytes(&replicas, comparison->in_shared);
  return ising_multispin_compare(comparison, error);
}

/* How groups are spread over the blocks and threads of a GPU: as fast as we know, or with
 * device->block_threads. This decides no result. */
enum {
  LEAST_BLOCK = 128,     /* threads of a freely chosen block: one warp per scheduler */
  BUSY_THREADS = 448,    /* threads that keep a multiprocessor busy */
  BLOCK_OVERHEAD = 1024, /* shared memory that each block needs in addition to its own */
  STEP_COST = 10,        /* of one step of a thread, and of finishing a colour */
  FINISH_COST = 6,
  WAVES_IN_STEP = 2,
  GROUPS_COLOUR = 128, /* words of a colour at most, for several groups at once */
};

static uint32_t whole_warps(size_t threads)
{
  return (uint32_t)lattice_parts(threads, 32) * 32;
}

/* Returns how many blocks of this spread fit into the registers and shared memory of a
 * multiprocessor. */
static size_t
resident(const struct gpumc_device *device, const struct ising_multispin_spread *spread)
{
  const size_t by_threads = (size_t)ISING_MULTISPIN_THREADS / (spread->slots * spread->threads);
  const size_t by_shared =
      (device->shared_bytes + BLOCK_OVERHEAD) / (spread->shared_bytes + BLOCK_OVERHEAD);
  return by_threads < by_shared ? by_threads : by_shared;
}

/* Returns how long blocks with `threads` threads in total take for one step: few threads do not
 * keep the units busy. */
static size_t weight(size_t threads)
{
  return threads > BUSY_THREADS ? threads : threads > 0 ? BUSY_THREADS : 0;
}

/* Returns how long `groups` groups take, shared out among the multiprocessors. One or two waves of
 * blocks run in step: all of the first, then the rest. If there are more, blocks end one by one,
 * and new ones replace them at once. Open words are finished after each colour. */
static double duration(const struct gpumc_device *device,
                       const struct ising_multispin_spread *spread, size_t groups, size_t vectors)
{
  const size_t multiprocessors = device->multiprocessors > 0 ? (size_t)device->multiprocessors : 1;
  const size_t block = spread->slots * spread->threads, together = resident(device, spread);
  const size_t blocks = lattice_parts(groups, spread->slots * spread->groups);
  const size_t most = lattice_parts(blocks, multiprocessors);
  const double cost = (double)(lattice_parts(vectors, spread->threads) * STEP_COST + FINISH_COST);
  if (most <= WAVES_IN_STEP * together)
    return cost *
           (double)(most / together * weight(together * block) + weight(most % together * block));
  const double slowed = (double)weight(together * block) / (double)(together * block);
  return cost * slowed * (double)blocks * (double)block / (double)multiprocessors;
}

/* Returns the spread with `threads` for `groups` at once, and as many of these as fit `block`
 * threads and shared memory. */
static struct ising_multispin_spread filled(const struct gpumc_device *device,
                                            const struct ising_multispin_replicas *replicas,
                                            uint32_t groups, uint32_t threads, uint32_t block)
{
  struct ising_multispin_spread spread = {.slots = 1, .groups = groups, .threads = threads};
  while ((spread.slots + 1) * threads <= block &&
         ising_multispin_shared_bytes(replicas, spread.slots + 1, groups, threads) <=
             device->shared_bytes)
    spread.slots++;
  spread.shared_bytes =
      (uint32_t)ising_multispin_shared_bytes(replicas, spread.slots, groups, threads);
  return spread;
}

/* Returns the spread with the shortest duration; of two equal ones, that with fewer threads. */
static struct ising_multispin_spread best_spread(const struct gpumc_device *device,
                                                 const struct ising_multispin_replicas *replicas,
                                                 uint32_t at_once, size_t vectors)
{
  const size_t of_run = lattice_parts(replicas->batch.expected, ISING_MULTISPIN_LANES);
  const size_t groups = replicas->batch.runs * of_run;
  struct ising_multispin_spread best = filled(device, replicas, at_once, 32, LEAST_BLOCK);
  for (uint32_t threads = 64; threads <= ISING_MULTISPIN_THREADS && threads < 2 * vectors;
       threads *= 2) {
    const struct ising_multispin_spread spread =
        filled(device, replicas, at_once, threads, LEAST_BLOCK);
    if (spread.shared_bytes > device->shared_bytes)
      break;
    if (duration(device, &spread, groups, vectors) < duration(device, &best, groups, vectors))
      best = spread;
  }
  return best;
}

/* Returns the requested spread as far as possible: whole warps, and enough shared memory for
 * them. */
static struct ising_multispin_spread asked_spread(const struct gpumc_device *device,
                                                  const struct ising_multispin_replicas *replicas,
                                                  uint32_t at_once, uint32_t block, size_t vectors)
{
  uint32_t threads = block < whole_warps(vectors) ? block : whole_warps(vectors);
  while (ising_multispin_shared_bytes(replicas, 1, at_once, threads) > device->shared_bytes)
    threads -= 32;
  return filled(device, replicas, at_once, threads, block);
}

/* Returns how many consecutive words a thread takes at once: as many as always stay within one row
 * and leave enough for a warp. */
static uint32_t width_of(const struct ising_multispin_replicas *replicas)
{
  uint32_t width = ISING_MULTISPIN_VECTOR;
  while (width > 1 && (replicas->row.value % width != 0 || replicas->colour < 32 * width))
    width /= 2;
  return width;
}

/* Returns how many groups a thread takes at once if it takes one word of each: several if lattices
 * are small and there are enough groups. */
static uint32_t groups_at_once(const struct gpumc_device *device,
                               const struct ising_multispin_replicas *replicas, bool plain)
{
  const size_t groups =
      replicas->batch.runs * lattice_parts(replicas->batch.expected, ISING_MULTISPIN_LANES);
  const size_t busy = (size_t)device->multiprocessors * (BUSY_THREADS / 32);
  return plain && replicas->dimension == 3 && replicas->colour <= GROUPS_COLOUR &&
                 groups >= ISING_MULTISPIN_GROUPS * busy
             ? ISING_MULTISPIN_GROUPS
             : 1;
}

static struct ising_multispin_spread spread_of(const struct gpumc_device *device,
                                               const struct ising_multispin_replicas *replicas,
                                               bool plain)
{
  const bool in_shared = ising_multispin_shared_bytes(replicas, 1, 1, 32) <= device->shared_bytes;
  const uint32_t of_row = width_of(replicas);
  const uint32_t at_once = in_shared && of_row == 1 ? groups_at_once(device, replicas, plain) : 1;
  const bool pairs =
      in_shared && at_once == 1 && replicas->pairs != NULL && replicas->colour >= 2 * 32;
  const uint32_t width = pairs ? 2 : of_row;
  const size_t vectors = replicas->colour / width;
  uint32_t block = whole_warps(device->block_threads);
  block = block > ISING_MULTISPIN_THREADS ? ISING_MULTISPIN_THREADS : block;
  struct ising_multispin_spread spread;
  if (!in_shared)
    spread =
        (struct ising_multispin_spread){.slots = 1, .threads = block > 0 ? block : LEAST_BLOCK};
  else if (block > 0)
    spread = asked_spread(device, replicas, at_once, block, vectors);
  else
    spread = best_spread(device, replicas, at_once, vectors);
  /* Two rows of a square lattice, or two planes, contain all possible places. */
  const uint32_t period = 2 * (replicas->dimension == 3 ? replicas->plane : replicas->row.value);
  spread.in_shared = in_shared;
  spread.width = width;
  spread.regular = spread.threads * width % period == 0;
  spread.pairs = pairs;
  return spread;
}

/* Replicas are copied and exchanged by sweeps in shared memory, and before others. */
static enum gpumc_status move_replicas(struct gpumc_ensemble *ensemble,
                                       struct ising_multispin_sweep *sweep,
                                       struct gpumc_error *error)
{
  if (!sweep->spread.in_shared || sweep->sweeps == 0)
    return lattice_gpu_settle(ensemble, error);
  sweep->moves = lattice_gpu_move_in_sweep(ensemble);
  assert((sweep->moves.parent == NULL && sweep->moves.swap == NULL) ||
         ensemble->plan.runs * sweep->replicas.groups * sweep->replicas.tiles <=
             UINT32_MAX / (ISING_MULTISPIN_TILE_BYTES / sizeof(uint32_t)));
  sweep->replicas.words = lattice_gpu_storage_of(ensemble)->replicas;
  return GPUMC_OK;
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
  GPUMC_TRY(set_rule(ensemble, sweeps > 0 ? target->control : NULL, &arguments, error));
  arguments.spread = spread_of(ensemble->device, &arguments.replicas, arguments.rule.physics.plain);
  GPUMC_TRY(move_replicas(ensemble, &arguments, error));
  if (sweeps > 0 || ising_wanted(&arguments.channels))
    GPUMC_TRY(arguments.spread.in_shared ? ising_multispin_sweep_shared(&arguments, error)
                                         : ising_multispin_sweep_global(&arguments, error));
  return waves.square != NULL ? compare(ensemble, &waves, error) : GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  assert(first != second && first + runs <= ensemble->runs && second + runs <= ensemble->runs);
  struct ising_multispin_comparison pairs = {
      .pairs = 1,
      .first = (uint32_t)first,
      .second = (uint32_t)second,
      .runs = (uint32_t)runs,
      .spin = overlap[ISING_PAIR_SPIN],
      .link = overlap[ISING_PAIR_LINK],
      .square = overlap[ISING_PAIR_WAVE],
  };
  return compare(ensemble, &pairs, error);
}

static enum gpumc_status exchange_clusters(struct gpumc_ensemble *ensemble,
                                           const struct gpumc_cluster_exchange *with,
                                           struct gpumc_error *error)
{
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  const double coupling = ising_multispin_physics_of(ensemble).coupling;
  const uint32_t asked = whole_warps(ensemble->device->block_threads);
  const uint32_t most = asked < ISING_MULTISPIN_THREADS ? asked : ISING_MULTISPIN_THREADS;
  struct ising_multispin_gpu_exchange arguments = {
      .replicas = replicas_of(ensemble),
      .disorder = ising_multispin_disorder_of(ensemble),
      .launch = ising_exchange_launch_of(with, coupling),
  };
  struct ising_exchange_launch *launch = &arguments.launch;
  launch->threads = asked == 0 ? ISING_EXCHANGE_THREADS : most;
  launch->words = exchange_words(ensemble->model);
  while (ising_exchange_next(with, launch)) {
    const size_t pairs = launch->runs * arguments.replicas.groups;
    GPUMC_TRY(ising_exchange_spread(ensemble, pairs, launch, error));
    GPUMC_TRY(ising_multispin_exchange_groups(&arguments, error));
  }
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_multispin_cuda = {
    ISING_MULTISPIN_CUDA_NAMES,
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
