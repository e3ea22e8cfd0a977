/* The kernels `double` and `float` on the CPU: threads over replicas. */
#include <string.h>

#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/heisenberg_isa.h"
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

/* ---- operations on a replica ---- */

static const struct lattice_cpu_layout layout_float;

static const struct heisenberg_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->layout == &layout_float ? GPUMC_ISA_OBJECT(heisenberg_ops_float, storage->isa)
                                          : GPUMC_ISA_OBJECT(heisenberg_ops_double, storage->isa);
}

/* Without controls. */
static struct heisenberg_sweep
replica_of(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  return (struct heisenberg_sweep){
      .lattice = &parameters->lattice,
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
  replica.beta = control[HEISENBERG_BETA];
  replica.field = control[HEISENBERG_FIELD];
  replica.sweeps = sweeps;
  ops_of(ensemble)->sweep(&replica);
}

static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct heisenberg_units units = heisenberg_units_of(ensemble->model);
  struct heisenberg_sums sums;
  ops_of(ensemble)->measure(&parameters->lattice, parameters->components, place->data, &sums);
  heisenberg_record(&units, &sums, channel, place->run * ensemble->plan.capacity + place->first);
}

#define KERNEL(precision, names)                                                                   \
  static const struct lattice_cpu_layout layout_##precision = {                                    \
      .replicas = 1,                                                                               \
      .buffers = 1,                                                                                \
      .block_bytes = block_bytes_##precision,                                                      \
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
      LATTICE_CPU_OPERATIONS,                                                                      \
      names,                                                                                       \
      .bytes = bytes_##precision,                                                                  \
      .create = create_##precision,                                                                \
  };
KERNEL(double, HEISENBERG_DOUBLE_NAMES)
KERNEL(float, HEISENBERG_FLOAT_NAMES)
