/* The kernels `double` and `float` on the CPU: threads over replicas. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/steps.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/heisenberg_isa.h"
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

/* Where component a of site number `site` is. */
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

/* lattice_cpu_storage.own. The scratch of a thread has layers[n][..] (heisenberg_isa.h). */
struct tables {
  struct gpumc_checkerboard_edges *edges; /* [2][blocks], of each colour */
  struct lattice_wave wave;
  int32_t *cosine, *sine; /* [wave.length] */
};

static size_t layers_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  return (size_t)parameters->components * heisenberg_layers(&parameters->lattice) * sizeof(int64_t);
}

static size_t tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  const size_t blocks = gpumc_checkerboard_edge_blocks(&heisenberg_parameters(model)->lattice);
  return sizeof(struct tables) + 2 * blocks * sizeof(struct gpumc_checkerboard_edges) +
         2 * heisenberg_wave_of(model).length * sizeof(int32_t);
}

static enum gpumc_status tables_create(const struct gpumc_model *model,
                                       const struct gpumc_ensemble_plan *plan, void *own,
                                       struct gpumc_error *error)
{
  struct tables *tables = own;
  const struct gpumc_checkerboard *lattice = &heisenberg_parameters(model)->lattice;
  const size_t blocks = gpumc_checkerboard_edge_blocks(lattice);
  (void)plan;
  GPUMC_TRY(gpumc_allocate_array(&tables->edges, 2 * blocks, "places of neighbours", error));
  for (size_t colour = 0; colour < 2; colour++)
    gpumc_checkerboard_edges_fill(lattice, colour, tables->edges + colour * blocks);
  tables->wave = heisenberg_wave_of(model);
  const size_t length = tables->wave.length;
  GPUMC_TRY(gpumc_allocate_array(&tables->cosine, 2 * length, "waves", error));
  tables->sine = tables->cosine + length;
  lattice_wave_table(&tables->wave, tables->cosine, tables->sine);
  return GPUMC_OK;
}

static void tables_free(void *own)
{
  struct tables *tables = own;
  free(tables->edges);
  free(tables->cosine);
}

/* ---- waves ---- */

/* The sum over the layers of one axis, layer[length], times table[length]. `row`: even layers that
 * stand before odd ones; 0: in their order. */
static struct heisenberg_wave_sum
project(const int64_t *layer, const int32_t *table, size_t length, size_t row)
{
  __int128 sum = 0;
  for (size_t x = 0; x < length; x++)
    sum += (__int128)layer[row > 0 ? x % 2 * row + x / 2 : x] * table[x];
  return (struct heisenberg_wave_sum){(int64_t)(sum >> 32), (int64_t)(uint32_t)sum};
}

static int64_t wave_of(const struct heisenberg_parameters *parameters, const struct tables *tables,
                       const int64_t *layers)
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
  return heisenberg_wave_square(&tables->wave, components, &sums);
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

/* Without controls. */
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
      .coupling = parameters->coupling,
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = (uint32_t)place->first,
      .time = ensemble->time,
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
  if (ensemble->step != NULL)
    replica.reach = heisenberg_reach(replica.components, ensemble->step[place->run]);
  ops_of(ensemble)->sweep(&replica);
  if (ensemble->step != NULL)
    gpumc_steps_count(ensemble, place->run, accepted);
}

static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct heisenberg_units units = heisenberg_units_of(ensemble->model);
  struct heisenberg_sums sums;
  const struct tables *tables = tables_of(ensemble);
  ops_of(ensemble)->measure(&parameters->lattice, tables->edges, parameters->components,
                            place->data, &sums);
  if (ensemble->plan.walks)
    sums.bonds = heisenberg_walk_cpu_bonds(ensemble, place->data, is_single(ensemble));
  if (channel[HEISENBERG_DRIFT] != NULL)
    sums.drift = ops_of(ensemble)->drift(&parameters->lattice, parameters->components, place->data);
  if (channel[HEISENBERG_WAVE] != NULL) {
    int64_t *layers = lattice_cpu_scratch(ensemble->storage);
    ops_of(ensemble)->layers(&parameters->lattice, parameters->components, place->data, layers);
    sums.wave = wave_of(parameters, tables, layers);
  }
  heisenberg_record(&units, &sums, channel, place->run * ensemble->plan.capacity + place->first);
}

static enum gpumc_status
walk(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, struct gpumc_error *error)
{
  return heisenberg_walk_cpu(ensemble, target, is_single(ensemble), error);
}

#define KERNEL(precision, names)                                                                   \
  static const struct lattice_cpu_layout layout_##precision = {                                    \
      .replicas = 1,                                                                               \
      .buffers = 1,                                                                                \
      .block_bytes = block_bytes_##precision,                                                      \
      .scratch_bytes = layers_bytes,                                                               \
      .own_size = sizeof(struct tables),                                                           \
      .own_bytes = tables_bytes,                                                                   \
      .own_create = tables_create,                                                                 \
      .own_free = tables_free,                                                                     \
      .set = set_##precision,                                                                      \
      .get = get_##precision,                                                                      \
      .start = start,                                                                              \
      .sweep = sweep,                                                                              \
      .measure = measure,                                                                          \
  };                                                                                               \
  static size_t bytes_##precision(const struct gpumc_model *model,                                 \
                                  const struct gpumc_device *device,                               \
                                  const struct gpumc_ensemble_plan *plan)                          \
  {                                                                                                \
    return lattice_cpu_bytes(&layout_##precision, model, device, plan);                            \
  }                                                                                                \
  static enum gpumc_status create_##precision(struct gpumc_ensemble *ensemble,                     \
                                              struct gpumc_error *error)                           \
  {                                                                                                \
    return lattice_cpu_create(&layout_##precision, ensemble, error);                               \
  }                                                                                                \
  const struct gpumc_kernel_ops heisenberg_##precision##_cpu = {                                   \
      LATTICE_CPU_OPERATIONS,       names,        .bytes = bytes_##precision,                      \
      .create = create_##precision, .walk = walk, .fills = heisenberg_walk_cpu_fills,              \
  };
KERNEL(double, HEISENBERG_DOUBLE_NAMES)
KERNEL(float, HEISENBERG_FLOAT_NAMES)
