/* The tiled kernel on a GPU: memory, and launches. */
#include "models/ising/tiled/tiled_gpu.h"

#include "models/ising/ising_host_gpu.h"
#include "models/ising/tiled/tiled.h"
#include "models/lattice/replicas_gpu.h"

/* The table of lattice_gpu_storage: offsets of its parts in bytes. */
struct table {
  size_t rules;  /* struct ising_tiled_rule [runs] */
  size_t sums;   /* struct ising_tiled_sums [runs][capacity] */
  size_t states; /* uint32_t [runs][capacity][state words] */
  size_t waves;  /* int32_t [2][length] */
  size_t bytes;
};

static struct ising_tiled_geometry
geometry_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiling tiling = ising_tiling_of(&plan->options);
  return ising_tiled_geometry(model, &tiling);
}

/* Returns the words of the state of a replica's generator. */
static size_t state_words(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiled_geometry geometry = geometry_of(model, plan);
  const struct ising_tiled_generator generator =
      ising_tiled_generator(&geometry, ising_tiling_of(&plan->options).generator);
  return ising_tiled_state_words(&generator);
}

static struct table
table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t replicas = plan->runs * plan->capacity;
  struct table table = {.rules = 0};
  table.sums = plan->runs * sizeof(struct ising_tiled_rule);
  table.states = table.sums + replicas * sizeof(struct ising_tiled_sums);
  table.waves = table.states + replicas * state_words(model, plan) * sizeof(uint32_t);
  table.bytes = table.waves + 2 * (size_t)ising_wave_of(model).length * sizeof(int32_t);
  return table;
}

static struct ising_tiled_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  struct ising_tiled_replicas replicas = {
      .batch = lattice_gpu_batch(ensemble),
      .geometry = geometry_of(ensemble->model, &ensemble->plan),
      .words = lattice_gpu_storage_of(ensemble)->replicas,
      .state = lattice_gpu_table(ensemble, table.states),
      .rule = lattice_gpu_table(ensemble, table.rules),
      .block_threads = ensemble->device->block_threads,
  };
  replicas.generator =
      ising_tiled_generator(&replicas.geometry, ising_tiling_of(&ensemble->plan.options).generator);
  return replicas;
}

static enum gpumc_status convert(const struct gpumc_ensemble *ensemble,
                                 const struct lattice_portable *portable,
                                 enum lattice_direction direction, struct gpumc_error *error)
{
  const struct ising_tiled_transfer arguments = {replicas_of(ensemble), *portable};
  return direction == LATTICE_FROM_PORTABLE ? ising_tiled_from_portable(&arguments, error)
                                            : ising_tiled_to_portable(&arguments, error);
}

/* A unit is a spin, or padding. */
static size_t units(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_tiled_geometry geometry = geometry_of(model, plan);
  return ising_tiled_replica_words(&geometry) * sizeof(uint32_t);
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return table_of(model, plan).bytes;
}

static enum gpumc_status fill(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  int32_t *const waves =
      lattice_gpu_table(ensemble, table_of(ensemble->model, &ensemble->plan).waves);
  return ising_bring_waves(ensemble, waves, waves + ising_wave_of(ensemble->model).length, NULL,
                           error);
}

static const struct lattice_gpu_layout layout = {
    .group = 1,
    .unit_bytes = 1,
    .sites_limit = LATTICE_GPU_SITES_LIMIT,
    .check = ising_tiled_check,
    .units = units,
    .table_bytes = table_bytes,
    .fill = fill,
    .convert = convert,
};

LATTICE_GPU_BYTES_AND_CREATE(layout)

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_tiled_replicas replicas = replicas_of(ensemble);
  return ising_tiled_randomize(&replicas, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct table table = table_of(ensemble->model, &ensemble->plan);
  struct ising_tiled_measurement arguments = {
      .replicas = replicas_of(ensemble),
      .waves = {.wave = ising_wave_of(ensemble->model),
                .cosine = lattice_gpu_table(ensemble, table.waves)},
      .sums = lattice_gpu_table(ensemble, table.sums),
      .energy = channel[ISING_ENERGY],
      .magnetization = channel[ISING_MAGNETIZATION],
      .wave = channel[ISING_WAVE],
      .coupling = parameters->coupling_quanta,
      .field = parameters->field_quanta,
  };
  arguments.waves.sine = arguments.waves.cosine + arguments.waves.wave.length;
  return ising_tiled_measure_all(&arguments, error);
}

static enum gpumc_status set_rules(const struct gpumc_ensemble *ensemble,
                                   struct ising_tiled_rule *rule, const double *control,
                                   struct gpumc_error *error)
{
  struct ising_tiled_rules rules = {.rule = rule, .stream = ensemble->device->stream};
  for (size_t m = 0; m < ensemble->runs; m += rules.count) {
    const size_t left = ensemble->runs - m;
    rules.first = (uint32_t)m;
    rules.count = left < ISING_TILED_RULES ? (uint32_t)left : ISING_TILED_RULES;
    for (uint32_t i = 0; i < rules.count; i++)
      rules.value[i] =
          ising_tiled_rule(ensemble->model, ensemble->plan.move, ising_controls_of(control, m + i));
    GPUMC_TRY(ising_tiled_set_rules(&rules, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_tiling tiling = ising_tiling_of(&ensemble->plan.options);
  struct ising_tiled_sweep arguments = {.replicas = replicas_of(ensemble)};
  if (sweeps > 0)
    GPUMC_TRY(set_rules(ensemble, arguments.replicas.rule, target->control, error));
  for (uint32_t v = 0; ising_tiled_visit(&tiling, sweeps, v, &arguments.visit); v++)
    GPUMC_TRY(ising_tiled_visit_blocks(&arguments, error));
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.capacity * state_words(ensemble->model, &ensemble->plan) * sizeof(uint32_t);
}

/* Returns that of run m. */
static void *state_of(const struct gpumc_ensemble *ensemble, size_t m)
{
  return lattice_gpu_table(ensemble, table_of(ensemble->model, &ensemble->plan).states +
                                         m * state_bytes(ensemble));
}

static enum gpumc_status
get_state(struct gpumc_ensemble *ensemble, size_t m, uint8_t *state, struct gpumc_error *error)
{
  return ensemble->device->ops->copy_to_host(ensemble->device, state, state_of(ensemble, m),
                                             state_bytes(ensemble), error);
}

static enum gpumc_status set_state(struct gpumc_ensemble *ensemble, size_t m, const uint8_t *state,
                                   struct gpumc_error *error)
{
  return ensemble->device->ops->copy_to_device(ensemble->device, state_of(ensemble, m), state,
                                               state_bytes(ensemble), error);
}

const struct gpumc_kernel_ops ising_tiled_cuda = {
    ISING_TILED_NAMES,          LATTICE_GPU_COMMON,     .device = "cuda",       .bytes = bytes,
    .create = create,           .start = randomize,     .sweep = sweep,         .measure = measure,
    .state_bytes = state_bytes, .get_state = get_state, .set_state = set_state,
};
