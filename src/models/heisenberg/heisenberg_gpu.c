/* The kernels `double`, `float` and `fast` on a GPU: memory, rules, and what is asked of the
 * drivers. */
#include "models/heisenberg/heisenberg_gpu.h"

#include <math.h>
#include <string.h>

#include "models/heisenberg/heisenberg.h"
#include "models/lattice/replicas_gpu.h"

enum { UNIT_BYTES = 16, COMPONENT_BYTES = sizeof(double) };

typedef enum gpumc_status
sweep_driver(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error);

/* ---- storage ---- */

/* lattice_gpu_storage.table: sums[plan.runs][plan.capacity], then the runs' rules, then cosines and
 * sines of the waves. */
static size_t place_of_rules(const struct gpumc_ensemble_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(struct heisenberg_sums);
}

static size_t place_of_waves(const struct gpumc_ensemble_plan *plan)
{
  return place_of_rules(plan) + plan->runs * sizeof(struct heisenberg_rule);
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return place_of_waves(plan) + 2 * heisenberg_wave_of(model).length * sizeof(int32_t);
}

/* Controls of the runs whose rules are on the device. */
static size_t notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return plan->runs * HEISENBERG_CONTROLS * sizeof(double);
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  double *known = lattice_gpu_storage_of(ensemble)->notes;
  const struct lattice_wave wave = heisenberg_wave_of(ensemble->model);
  int32_t *cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan));
  for (size_t i = 0; i < ensemble->plan.runs * HEISENBERG_CONTROLS; i++)
    known[i] = (double)NAN;
  return lattice_wave_bring(&wave, ensemble->device, cosine, cosine + wave.length, NULL, error);
}

static size_t units_double(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return lattice_parts(model->portable_bytes, UNIT_BYTES);
}

static size_t units_float(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return lattice_parts(model->portable_bytes / sizeof(double) * sizeof(float), UNIT_BYTES);
}

static const struct lattice_gpu_layout layout_float;

static struct heisenberg_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  return (struct heisenberg_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .lattice = heisenberg_gpu_lattice_of(&heisenberg_parameters(ensemble->model)->lattice),
      .components = (uint32_t)heisenberg_parameters(ensemble->model)->components,
      .single = storage->layout == &layout_float,
      .spins = storage->replicas,
      .stride = storage->units * UNIT_BYTES,
  };
}

/* Pieces are components of sites. */
static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct heisenberg_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? heisenberg_from_portable(&arguments, error)
                                            : heisenberg_to_portable(&arguments, error);
}

#define LAYOUT(precision)                                                                          \
  static const struct lattice_gpu_layout layout_##precision = {                                    \
      .group = 1,                                                                                  \
      .unit_bytes = UNIT_BYTES,                                                                    \
      .sites_limit = LATTICE_GPU_SITES_LIMIT,                                                      \
      .piece_bytes = COMPONENT_BYTES,                                                              \
      .units = units_##precision,                                                                  \
      .table_bytes = table_bytes,                                                                  \
      .notes_bytes = notes_bytes,                                                                  \
      .fill = fill,                                                                                \
      .convert = convert,                                                                          \
  };                                                                                               \
  static size_t bytes_##precision(const struct gpumc_model *model,                                 \
                                  const struct gpumc_device *device,                               \
                                  const struct gpumc_ensemble_plan *plan)                          \
  {                                                                                                \
    (void)device;                                                                                  \
    return lattice_gpu_bytes(&layout_##precision, model, plan);                                    \
  }                                                                                                \
  static enum gpumc_status create_##precision(struct gpumc_ensemble *ensemble,                     \
                                              struct gpumc_error *error)                           \
  {                                                                                                \
    return lattice_gpu_create(&layout_##precision, ensemble, error);                               \
  }
LAYOUT(double)
LAYOUT(float)

/* ---- operations ---- */

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct heisenberg_replicas replicas = replicas_of(ensemble);
  return heisenberg_randomize(&replicas, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  struct heisenberg_gpu_measurement arguments = {
      .replicas = replicas_of(ensemble),
      .sums = lattice_gpu_table(ensemble, 0),
      .units = heisenberg_units_of(ensemble->model),
  };
  bool wanted = false;
  arguments.wave = heisenberg_wave_of(ensemble->model);
  arguments.cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan));
  arguments.sine = arguments.cosine + arguments.wave.length;
  if (channel[HEISENBERG_WAVE] != NULL)
    GPUMC_TRY(lattice_gpu_scratch(
        ensemble, ensemble->runs * ensemble->plan.capacity * sizeof *arguments.waves,
        (void **)&arguments.waves, error));
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++) {
    arguments.channel[c] = channel[c];
    wanted = wanted || channel[c] != NULL;
  }
  return wanted ? heisenberg_measure(&arguments, error) : GPUMC_OK;
}

static enum gpumc_status bring_rules(struct gpumc_ensemble *ensemble, const double *control,
                                     struct heisenberg_rule *rules, struct gpumc_error *error)
{
  const double coupling = heisenberg_parameters(ensemble->model)->coupling;
  const size_t bytes = ensemble->runs * HEISENBERG_CONTROLS * sizeof *control;
  double *known = lattice_gpu_storage_of(ensemble)->notes;
  struct heisenberg_rules arguments = {.rules = rules, .stream = ensemble->device->stream};
  if (memcmp(known, control, bytes) == 0)
    return GPUMC_OK;
  for (size_t m = 0; m < ensemble->runs; m += arguments.count) {
    const size_t left = ensemble->runs - m;
    arguments.first = (uint32_t)m;
    arguments.count =
        left < HEISENBERG_RULES_AT_ONCE ? (uint32_t)left : (uint32_t)HEISENBERG_RULES_AT_ONCE;
    for (size_t i = 0; i < arguments.count; i++) {
      const double *of_run = control + (m + i) * HEISENBERG_CONTROLS;
      const double beta = of_run[HEISENBERG_BETA], field = of_run[HEISENBERG_FIELD];
      arguments.rule[i] = (struct heisenberg_rule){beta * coupling, beta * field, field};
    }
    GPUMC_TRY(heisenberg_store_rules(&arguments, error));
  }
  memcpy(known, control, bytes);
  return GPUMC_OK;
}

static enum gpumc_status sweep_by(sweep_driver *driver, struct gpumc_ensemble *ensemble,
                                  const struct gpumc_target *target, uint32_t sweeps,
                                  int64_t *const *channel, struct gpumc_error *error)
{
  struct heisenberg_rule *rules = lattice_gpu_table(ensemble, place_of_rules(&ensemble->plan));
  const struct heisenberg_gpu_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rules = rules,
      .move = (enum heisenberg_move)ensemble->plan.move,
      .over_relaxations = (uint32_t)ensemble->plan.options.own[0],
      .sweeps = sweeps,
      .coupling = heisenberg_parameters(ensemble->model)->coupling,
      .block_threads = ensemble->device->block_threads,
      .shared_bytes = ensemble->device->shared_bytes,
  };
  if (sweeps > 0) {
    GPUMC_TRY(bring_rules(ensemble, target->control, rules, error));
    GPUMC_TRY(driver(&arguments, error));
  }
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static const char *refuses(const struct gpumc_model *model,
                           const struct gpumc_kernel_options *options, const char **key)
{
  (void)options, (void)key;
  return model->disorder ? "on a GPU it takes the same coupling for all bonds" : NULL;
}

#define KERNEL(name, names, layout)                                                                \
  static enum gpumc_status sweep_##name(struct gpumc_ensemble *ensemble,                           \
                                        const struct gpumc_target *target, uint32_t sweeps,        \
                                        int64_t *const *channel, struct gpumc_error *error)        \
  {                                                                                                \
    return sweep_by(heisenberg_sweep_##name, ensemble, target, sweeps, channel, error);            \
  }                                                                                                \
  const struct gpumc_kernel_ops heisenberg_##name##_cuda = {                                       \
      names,                                                                                       \
      .device = "cuda",                                                                            \
      LATTICE_GPU_COMMON,                                                                          \
      .bytes = bytes_##layout,                                                                     \
      .create = create_##layout,                                                                   \
      .start = randomize,                                                                          \
      .sweep = sweep_##name,                                                                       \
      .measure = measure,                                                                          \
      .gather = lattice_gpu_gather,                                                                \
      .exchange = lattice_gpu_exchange,                                                            \
      .refuses = refuses,                                                                          \
  };
KERNEL(double, HEISENBERG_DOUBLE_NAMES, double)
KERNEL(float, HEISENBERG_FLOAT_NAMES, float)
KERNEL(fast, HEISENBERG_FAST_NAMES, float)
