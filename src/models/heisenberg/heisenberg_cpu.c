/* The kernels `double` and `float` on the CPU: threads over replicas. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/steps.h"
#include "models/heisenberg/cluster/cluster.h"
#include "models/heisenberg/heisenberg_isa.h"
#include "models/heisenberg/precise/heisenberg_precise.h"
#include "models/heisenberg/heisenberg_wave.h"
#include "models/heisenberg/walk/heisenberg_walk_host.h"
#include "models/lattice/replicas_cpu.h"

/* ---- storage: a block is one replica, spins[n][2][N/2] ---- */

static size_t
block_bytes_double(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->portable_bytes;
}

static size_t
block_bytes_float(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->portable_bytes / sizeof(double) * sizeof(float);
}

/* Returns the position of component a of site number `site`. */
static size_t place_of(const struct gpumc_model *model, size_t site, size_t a)
{
  return a * model->sites +
         gpumc_checkerboard_position(&heisenberg_parameters(model)->lattice, site);
}

#define TRANSFER(precision)                                                                        \
  static void set_##precision(const struct gpumc_model *model, void *block,                        \
                              const uint8_t *const portable[LATTICE_CPU_BLOCK])                    \
  {                                                                                                \
    const size_t n = (size_t)heisenberg_parameters(model)->components;                             \
    precision *spins = block;                                                                      \
    for (size_t i = 0; i < model->sites * n; i++) {                                                \
      double value;                                                                                \
      memcpy(&value, portable[0] + i * sizeof value, sizeof value);                                \
      spins[place_of(model, i / n, i % n)] = (precision)value;                                     \
    }                                                                                              \
  }                                                                                                \
  static void get_##precision(const struct gpumc_model *model, const void *block,                  \
                              uint8_t *const portable[LATTICE_CPU_BLOCK])                          \
  {                                                                                                \
    const size_t n = (size_t)heisenberg_parameters(model)->components;                             \
    const precision *spins = block;                                                                \
    for (size_t i = 0; i < model->sites * n; i++) {                                                \
      const double value = (double)spins[place_of(model, i / n, i % n)];                           \
      memcpy(portable[0] + i * sizeof value, &value, sizeof value);                                \
    }                                                                                              \
  }
TRANSFER(double)
TRANSFER(float)

/* ---- tables ---- */

/* lattice_cpu_storage.own. The scratch of a thread has layers[n][..] (heisenberg_isa.h).
 * couplings[plan.samples] (heisenberg_couplings_fill), NULL without any. */
struct tables {
  struct gpumc_checkerboard_edges *edges; /* [2][blocks], of each colour */
  struct lattice_wave wave;
  int32_t *cosine, *sine; /* [wave.length] */
  void *couplings;
  size_t sample_bytes;      /* of them */
  uint32_t *forward, *back; /* [dimension][N], of heisenberg_comparison; NULL without couplings */
  uint32_t (*around)[GPUMC_NEIGHBOURS_MAXIMUM]; /* [N], of heisenberg_walk_group; NULL: no walks */
  struct lattice_clusters_cpu clusters;
};

/* Returns the bytes of the layers of one replica, or of products of two. */
static size_t layers_bytes(const struct gpumc_model *model)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const size_t n = (size_t)parameters->components;
  return n * (model->disorder ? n : 1) * heisenberg_layers(&parameters->lattice) * sizeof(int64_t);
}

/* Returns the scratch of a thread that measures: layers and, for the kernel `float`, a replica in
 * double precision or, if couplings are quenched, two and the couplings of their sample; or the
 * spins of a group that walks (enough in either precision). */
static size_t
scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan, bool single)
{
  const size_t wide = (model->disorder ? 2 : 1) * model->portable_bytes +
                      heisenberg_couplings_count(model) * sizeof(double);
  const size_t measuring = layers_bytes(model) + (single ? wide : 0);
  const size_t group = plan->walks ? GPUMC_WALK_GROUP * model->portable_bytes : 0;
  return measuring > group ? measuring : group;
}

static size_t
scratch_bytes_double(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return scratch_bytes(model, plan, false);
}

static size_t
scratch_bytes_float(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return scratch_bytes(model, plan, true);
}

static size_t tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                           size_t number_bytes)
{
  const size_t blocks = gpumc_checkerboard_edge_blocks(&heisenberg_parameters(model)->lattice);
  return sizeof(struct tables) + 2 * blocks * sizeof(struct gpumc_checkerboard_edges) +
         2 * heisenberg_wave_of(model).length * sizeof(int32_t) +
         heisenberg_couplings_count(model) * (plan->samples * number_bytes + sizeof(uint32_t)) +
         (plan->walks ? model->sites * sizeof(uint32_t[GPUMC_NEIGHBOURS_MAXIMUM]) : 0);
}

/* Lists both ends of each bond: as many numbers as a sample has couplings. */
static enum gpumc_status
create_neighbours(const struct gpumc_model *model, struct tables *tables, struct gpumc_error *error)
{
  const struct gpumc_checkerboard *lattice = &heisenberg_parameters(model)->lattice;
  const size_t count = lattice->dimension * model->sites;
  GPUMC_TRY(gpumc_allocate_array(&tables->forward, 2 * count, "neighbours", error));
  tables->back = tables->forward + count;
  for (size_t axis = 0; axis < lattice->dimension; axis++)
    for (size_t i = 0; i < model->sites; i++) {
      const size_t next = gpumc_checkerboard_next(lattice, i, axis),
                   from = gpumc_checkerboard_position(lattice, i),
                   to = gpumc_checkerboard_position(lattice, next);
      tables->forward[axis * model->sites + from] = (uint32_t)to;
      tables->back[axis * model->sites + to] = (uint32_t)from;
    }
  return GPUMC_OK;
}

static enum gpumc_status
create_around(const struct gpumc_model *model, struct tables *tables, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(&tables->around, model->sites, "neighbours", error));
  for (size_t p = 0; p < model->sites; p++)
    gpumc_checkerboard_positions_around(&heisenberg_parameters(model)->lattice, p,
                                        tables->around[p]);
  return GPUMC_OK;
}

static enum gpumc_status tables_create(const struct gpumc_model *model,
                                       const struct gpumc_ensemble_plan *plan, size_t number_bytes,
                                       void *own, struct gpumc_error *error)
{
  struct tables *tables = own;
  const struct gpumc_checkerboard *lattice = &heisenberg_parameters(model)->lattice;
  const size_t blocks = gpumc_checkerboard_edge_blocks(lattice);
  GPUMC_TRY(gpumc_allocate_array(&tables->edges, 2 * blocks, "places of neighbours", error));
  for (size_t colour = 0; colour < 2; colour++)
    gpumc_checkerboard_edges_fill(lattice, colour, tables->edges + colour * blocks);
  tables->wave = heisenberg_wave_of(model);
  const size_t length = tables->wave.length;
  GPUMC_TRY(gpumc_allocate_array(&tables->cosine, 2 * length, "waves", error));
  tables->sine = tables->cosine + length;
  lattice_wave_table(&tables->wave, tables->cosine, tables->sine);
  if (plan->walks)
    GPUMC_TRY(create_around(model, tables, error));
  tables->sample_bytes = heisenberg_couplings_count(model) * number_bytes;
  if (tables->sample_bytes == 0)
    return GPUMC_OK;
  GPUMC_TRY(create_neighbours(model, tables, error));
  GPUMC_TRY(gpumc_allocate(plan->samples, tables->sample_bytes, "quenched couplings",
                           &tables->couplings, error));
  return heisenberg_couplings_fill(model, plan->first_sample, plan->samples,
                                   number_bytes == sizeof(float), tables->couplings, error);
}

static void tables_free(void *own)
{
  struct tables *tables = own;
  free(tables->edges);
  free(tables->cosine);
  free(tables->couplings);
  free(tables->forward);
  free(tables->around);
  lattice_clusters_cpu_free(&tables->clusters);
}

/* ---- waves ---- */

/* Returns the sum over the layers of one axis, layer[length], times table[length]. `row`: even
 * layers precede odd ones; 0: in their order. */
static struct heisenberg_wave_sum
project(const int64_t *layer, const int32_t *table, size_t length, size_t row)
{
  __int128 sum = 0;
  for (size_t x = 0; x < length; x++)
    sum += (__int128)layer[row > 0 ? x % 2 * row + x / 2 : x] * table[x];
  return (struct heisenberg_wave_sum){(int64_t)(sum >> 32), (int64_t)(uint32_t)sum};
}

static struct heisenberg_wave_sums waves_of(const struct heisenberg_parameters *parameters,
                                            const struct tables *tables, const int64_t *layers)
{
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  const uint32_t components = (uint32_t)parameters->components;
  struct heisenberg_wave_sums sums;
  for (uint32_t a = 0; a < components; a++)
    for (size_t axis = 0; axis < 3; layers += length[axis++])
      if (tables->wave.along[axis]) {
        const size_t row = axis == 0 ? lattice->row : 0;
        sums.cosine[a][axis] = project(layers, tables->cosine, length[axis], row);
        sums.sine[a][axis] = project(layers, tables->sine, length[axis], row);
      }
  return sums;
}

/* ---- operations on a replica ---- */

static const struct lattice_cpu_layout layout_float;

static bool is_single(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->layout == &layout_float;
}

static const struct heisenberg_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return is_single(ensemble) ? GPUMC_ISA_OBJECT(heisenberg_ops_float, storage->isa)
                             : GPUMC_ISA_OBJECT(heisenberg_ops_double, storage->isa);
}

static const struct tables *tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

/* Returns the couplings of a replica's sample; NULL without any. */
static const void *
couplings_of(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct tables *tables = tables_of(ensemble);
  const size_t sample = gpumc_ensemble_sample(&ensemble->plan, place->run, place->first);
  return tables->couplings != NULL
             ? (const unsigned char *)tables->couplings + sample * tables->sample_bytes
             : NULL;
}

/* Returns it without controls. */
static struct heisenberg_sweep
replica_of(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  return (struct heisenberg_sweep){
      .lattice = &parameters->lattice,
      .edges = tables_of(ensemble)->edges,
      .components = parameters->components,
      .move = (enum heisenberg_move)ensemble->plan.move,
      .over_relaxations = (uint32_t)ensemble->plan.options.own[0],
      .coupling = parameters->coupling * parameters->weight,
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
      .time = ensemble->time,
      .couplings = couplings_of(ensemble, place),
      .spins = place->data,
  };
}

static void start(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct heisenberg_sweep replica = replica_of(ensemble, place);
  ops_of(ensemble)->start(&replica);
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const double *control = ensemble->control + place->run * HEISENBERG_CONTROLS;
  struct heisenberg_sweep replica = replica_of(ensemble, place);
  uint64_t accepted = 0;
  replica.beta = control[HEISENBERG_BETA];
  replica.field = control[HEISENBERG_FIELD];
  replica.sweeps = sweeps;
  replica.accepted = &accepted;
  const bool small = ensemble->plan.move == HEISENBERG_METROPOLIS_SMALL;
  if (small)
    replica.reach = heisenberg_reach(replica.components, ensemble->step[place->run]);
  ops_of(ensemble)->sweep(&replica);
  if (small)
    gpumc_steps_count(ensemble, place->run, accepted);
}

/* ---- measurements ---- */

static const struct heisenberg_measuring *measuring_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(heisenberg_measuring, storage->isa);
}

/* The scratch of a thread that measures. */
struct scratch {
  int64_t *layers;
  double *one, *other, *couplings;
};

static struct scratch scratch_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_model *model = ensemble->model;
  const size_t numbers = model->portable_bytes / sizeof(double);
  int64_t *layers = lattice_cpu_scratch(ensemble->storage);
  double *one = (double *)(layers + layers_bytes(model) / sizeof *layers);
  return (struct scratch){layers, one, one + numbers, one + 2 * numbers};
}

/* Returns the spins of a replica in double precision, their own or in `wide`; of length 1 if
 * `unit`. */
static const void *
spins_of(const struct gpumc_ensemble *ensemble, const void *spins, bool unit, double *wide)
{
  const struct heisenberg_ops *ops = ops_of(ensemble);
  if (ops->widen_spins == NULL)
    return spins;
  ops->widen_spins(ensemble->model->sites, heisenberg_parameters(ensemble->model)->components, unit,
                   spins, wide);
  return wide;
}

/* Returns the couplings of a replica's sample in the same way, those of colour 0, which come first,
 * or all of them; NULL without any. */
static const void *wide_couplings(const struct gpumc_ensemble *ensemble,
                                  const struct lattice_cpu_place *place, bool all, double *wide)
{
  const void *couplings = couplings_of(ensemble, place);
  const size_t count = heisenberg_couplings_count(ensemble->model);
  if (couplings == NULL || ops_of(ensemble)->widen == NULL)
    return couplings;
  ops_of(ensemble)->widen(all ? count : count / 2, couplings, wide);
  return wide;
}

/* What a walk goes by is of the spins as they are. */
static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct heisenberg_units units = heisenberg_units_of(ensemble->model);
  const struct heisenberg_measuring *measuring = measuring_of(ensemble);
  const struct tables *tables = tables_of(ensemble);
  const struct scratch scratch = scratch_of(ensemble);
  const int n = parameters->components;
  struct heisenberg_sums sums;
  int64_t drift = 0;
  if (channel[HEISENBERG_DRIFT] != NULL)
    drift = measuring->drift(&parameters->lattice, n,
                             spins_of(ensemble, place->data, false, scratch.one));
  const void *spins = spins_of(ensemble, place->data, !ensemble->plan.walks, scratch.one);
  measuring->measure(&parameters->lattice, tables->edges, n,
                     wide_couplings(ensemble, place, false, scratch.couplings), spins, &sums);
  sums.drift = drift;
  if (ensemble->plan.walks)
    sums.bonds = heisenberg_walk_cpu_bonds(ensemble, place->data, is_single(ensemble));
  if (channel[HEISENBERG_WAVE] != NULL) {
    measuring->layers(&parameters->lattice, n, spins, scratch.layers);
    const struct heisenberg_wave_sums waves = waves_of(parameters, tables, scratch.layers);
    sums.wave = heisenberg_wave_square(&tables->wave, (uint32_t)n, &waves);
  }
  heisenberg_record(&units, &sums, channel, place->run * ensemble->plan.capacity + place->first);
}

/* lattice_cpu_layout.compare, with quenched couplings. */
static void compare(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    const void *other, size_t at, int64_t *const pair[GPUMC_PAIRS_MAXIMUM])
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct tables *tables = tables_of(ensemble);
  const struct scratch scratch = scratch_of(ensemble);
  const size_t n = (size_t)parameters->components;
  const struct heisenberg_comparison with = {
      .lattice = &parameters->lattice,
      .components = parameters->components,
      .forward = tables->forward,
      .back = tables->back,
      .couplings = wide_couplings(ensemble, place, true, scratch.couplings),
      .one = spins_of(ensemble, place->data, true, scratch.one),
      .other = spins_of(ensemble, other, true, scratch.other),
      .layers = scratch.layers,
  };
  struct heisenberg_pair_sums sums;
  measuring_of(ensemble)->compare(&with, &sums);
  for (size_t a = 0; a < n; a++)
    sums.wave[a] =
        waves_of(parameters, tables, with.layers + a * n * heisenberg_layers(&parameters->lattice));
  heisenberg_record_pair(&tables->wave, (uint32_t)n, (double)ensemble->model->sites, &sums, pair,
                         at);
}

static enum gpumc_status
walk(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, struct gpumc_error *error)
{
  return heisenberg_walk_cpu(ensemble, target, tables_of(ensemble)->around, is_single(ensemble),
                             error);
}

static enum gpumc_status create(const struct lattice_cpu_layout *layout, size_t number_bytes,
                                struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_cpu_create(layout, ensemble, error));
  const struct lattice_cpu_storage *storage = ensemble->storage;
  struct tables *tables = storage->own;
  const enum gpumc_status status =
      heisenberg_cluster_cpu_create(ensemble, number_bytes, &tables->clusters, error);
  if (status != GPUMC_OK)
    lattice_cpu_destroy(ensemble);
  return status;
}

static struct heisenberg_cluster_sweep
clusters_with(const struct gpumc_ensemble *ensemble, const double *control)
{
  const struct tables *tables = tables_of(ensemble);
  return (struct heisenberg_cluster_sweep){
      .clusters = &tables->clusters,
      .control = control,
      .couplings = tables->couplings,
      .sample_bytes = tables->sample_bytes,
      .single = is_single(ensemble),
  };
}

/* Measures what is of clusters, of replicas at that time. */
static void measure_clusters(const struct gpumc_ensemble *ensemble, const double *control,
                             uint32_t time, int64_t *const *channel)
{
  const struct tables *tables = tables_of(ensemble);
  const struct heisenberg_cluster_sweep with = clusters_with(ensemble, control);
  const struct lattice_cluster_scale scale = {
      .wave = tables->wave,
      .shift = heisenberg_cluster_shift(ensemble->model),
      .cosine = tables->cosine,
      .sine = tables->sine,
  };
  if (heisenberg_cluster_is_planned(&ensemble->plan))
    heisenberg_cluster_cpu_measure(ensemble, &with, time, &scale, channel);
}

static enum gpumc_status sweep_all(struct gpumc_ensemble *ensemble,
                                   const struct gpumc_target *target, uint32_t sweeps,
                                   int64_t *const *channel, struct gpumc_error *error)
{
  if (is_single(ensemble) && sweeps > 0)
    GPUMC_TRY(heisenberg_check_precise(ensemble, target->control, error));
  if (!heisenberg_cluster_moves(&ensemble->plan)) {
    GPUMC_TRY(lattice_cpu_sweep(ensemble, target, sweeps, channel, error));
  } else {
    const struct heisenberg_cluster_sweep with = clusters_with(ensemble, target->control);
    if (sweeps > 0)
      heisenberg_cluster_cpu_sweep(ensemble, &with, sweeps);
    if (channel != NULL)
      GPUMC_TRY(lattice_cpu_measure(ensemble, channel, error));
  }
  if (channel != NULL)
    measure_clusters(ensemble, sweeps > 0 ? target->control : ensemble->control,
                     ensemble->time + sweeps, channel);
  return GPUMC_OK;
}

static enum gpumc_status
measure_all(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_cpu_measure(ensemble, channel, error));
  measure_clusters(ensemble, ensemble->control, ensemble->time, channel);
  return GPUMC_OK;
}

#define KERNEL(precision, names)                                                                   \
  static size_t tables_bytes_##precision(const struct gpumc_model *model,                          \
                                         const struct gpumc_ensemble_plan *plan)                   \
  {                                                                                                \
    return tables_bytes(model, plan, sizeof(precision));                                           \
  }                                                                                                \
  static enum gpumc_status tables_create_##precision(const struct gpumc_model *model,              \
                                                     const struct gpumc_ensemble_plan *plan,       \
                                                     void *own, struct gpumc_error *error)         \
  {                                                                                                \
    return tables_create(model, plan, sizeof(precision), own, error);                              \
  }                                                                                                \
  static const struct lattice_cpu_layout layout_##precision = {                                    \
      .replicas = 1,                                                                               \
      .buffers = 1,                                                                                \
      .block_bytes = block_bytes_##precision,                                                      \
      .scratch_bytes = scratch_bytes_##precision,                                                  \
      .scratch_of_places = true,                                                                   \
      .own_size = sizeof(struct tables),                                                           \
      .own_bytes = tables_bytes_##precision,                                                       \
      .own_create = tables_create_##precision,                                                     \
      .own_free = tables_free,                                                                     \
      .set = set_##precision,                                                                      \
      .get = get_##precision,                                                                      \
      .start = start,                                                                              \
      .sweep = sweep,                                                                              \
      .measure = measure,                                                                          \
      .compare = compare,                                                                          \
  };                                                                                               \
  static size_t bytes_##precision(const struct gpumc_model *model,                                 \
                                  const struct gpumc_device *device,                               \
                                  const struct gpumc_ensemble_plan *plan)                          \
  {                                                                                                \
    return lattice_cpu_bytes(&layout_##precision, model, device, plan) +                           \
           heisenberg_walk_cpu_bytes(device, plan) +                                               \
           heisenberg_cluster_cpu_bytes(model, device, plan, sizeof(precision));                   \
  }                                                                                                \
  static enum gpumc_status create_##precision(struct gpumc_ensemble *ensemble,                     \
                                              struct gpumc_error *error)                           \
  {                                                                                                \
    return create(&layout_##precision, sizeof(precision), ensemble, error);                        \
  }                                                                                                \
  const struct gpumc_kernel_ops heisenberg_##precision##_cpu = {                                   \
      LATTICE_CPU_COMMON,                                                                          \
      names,                                                                                       \
      .bytes = bytes_##precision,                                                                  \
      .create = create_##precision,                                                                \
      .start = lattice_cpu_start,                                                                  \
      .sweep = sweep_all,                                                                          \
      .measure = measure_all,                                                                      \
      .gather = lattice_cpu_gather,                                                                \
      .exchange = lattice_cpu_exchange,                                                            \
      .compare = lattice_cpu_compare,                                                              \
      .walk = walk,                                                                                \
      .fills = heisenberg_walk_cpu_fills,                                                          \
  };
KERNEL(double, HEISENBERG_DOUBLE_NAMES)
KERNEL(float, HEISENBERG_FLOAT_NAMES)
