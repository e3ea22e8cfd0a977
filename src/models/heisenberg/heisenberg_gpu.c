/* The kernels `double`, `float` and `fast` on a GPU: memory, rules, and calls of the drivers. */
#include "models/heisenberg/heisenberg_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/heisenberg/cluster/cluster.h"
#include "models/heisenberg/cluster/cluster_host_gpu.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/precise/heisenberg_precise.h"
#include "models/heisenberg/walk/heisenberg_walk_host.h"
#include "models/lattice/replicas_gpu.h"

enum {
  UNIT_BYTES = 16,
  COMPONENT_BYTES = sizeof(double),
  TILES_BYTES = 16 << 20, /* of replicas that are swept by tiles at a time, unless one is larger */
};

typedef enum gpumc_status
sweep_driver(const struct heisenberg_gpu_sweep *arguments, struct gpumc_error *error);

/* ---- storage ---- */

/* lattice_gpu_storage.table: sums[plan.runs][plan.capacity], then the runs' rules, then cosines and
 * sines of the waves, and last quenched couplings, with padding to begin with a whole unit. */
static size_t place_of_rules(const struct gpumc_ensemble_plan *plan)
{
  return plan->runs * plan->capacity * sizeof(struct heisenberg_sums);
}

static size_t place_of_waves(const struct gpumc_ensemble_plan *plan)
{
  return place_of_rules(plan) + plan->runs * sizeof(struct heisenberg_rule);
}

static size_t
place_of_couplings(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t end = place_of_waves(plan) + 2 * heisenberg_wave_of(model).length * sizeof(int32_t);
  return lattice_parts(end, UNIT_BYTES) * UNIT_BYTES;
}

static size_t table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                          size_t number_bytes)
{
  return place_of_couplings(model, plan) +
         plan->samples * heisenberg_couplings_count(model) * number_bytes;
}

static size_t waves_bytes(size_t runs, size_t capacity)
{
  return runs * capacity * sizeof(struct heisenberg_wave_sums);
}

static size_t comparison_bytes(size_t runs, size_t capacity)
{
  return runs * capacity * sizeof(struct heisenberg_pair_sums);
}

static size_t units_of(const struct gpumc_model *model, bool single)
{
  return lattice_parts(model->portable_bytes / (single ? sizeof(double) / sizeof(float) : 1),
                       UNIT_BYTES);
}

/* Returns how many replicas are swept by tiles at a time, the room of the second buffer; 0: none
 * are. */
static size_t replicas_by_tiles(const struct gpumc_model *model,
                                const struct gpumc_ensemble_plan *plan, bool single)
{
  const struct heisenberg_gpu_lattice lattice =
      heisenberg_gpu_lattice_of(&heisenberg_parameters(model)->lattice);
  const size_t all = plan->runs * plan->capacity;
  const size_t most = TILES_BYTES / (units_of(model, single) * UNIT_BYTES);
  if (plan->walks || !heisenberg_goes_by_tiles(&lattice, single, model->disorder))
    return 0;
  return most < 1 ? 1 : most < all ? most : all;
}

static size_t
tiles_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan, bool single)
{
  return replicas_by_tiles(model, plan, single) * units_of(model, single) * UNIT_BYTES;
}

/* Shared by one operation at a time: data of walks, tiles and clusters, sums of waves, or sums of
 * pairs. */
static size_t
scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan, bool single)
{
  const size_t operation[] = {
      heisenberg_walk_gpu_bytes(model, plan, single),
      tiles_bytes(model, plan, single),
      plan->channels > HEISENBERG_WAVE ? waves_bytes(plan->runs, plan->capacity) : 0,
      comparison_bytes(plan->compared, plan->capacity),
      heisenberg_cluster_scratch_bytes(model, plan),
  };
  size_t most = 0;
  for (size_t i = 0; i < sizeof operation / sizeof *operation; i++)
    most = operation[i] > most ? operation[i] : most;
  return most;
}

/* The numbers that rules on the device were computed from: the runs' controls, then their steps. */
static size_t known_numbers(const struct gpumc_ensemble_plan *plan)
{
  return plan->runs * (HEISENBERG_CONTROLS + 1);
}

/* The kernel's notes: those numbers, then how the last call went by tiles. */
static size_t notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return known_numbers(plan) * sizeof(double) + sizeof(struct heisenberg_tile_course);
}

static struct heisenberg_tile_course *course_of(const struct gpumc_ensemble *ensemble)
{
  double *known = lattice_gpu_storage_of(ensemble)->notes;
  return (struct heisenberg_tile_course *)(known + known_numbers(&ensemble->plan));
}

/* Copies them sample by sample. */
static enum gpumc_status
bring_couplings(struct gpumc_ensemble *ensemble, size_t number_bytes, struct gpumc_error *error)
{
  const size_t bytes = heisenberg_couplings_count(ensemble->model) * number_bytes;
  struct gpumc_device *device = ensemble->device;
  unsigned char *to =
      lattice_gpu_table(ensemble, place_of_couplings(ensemble->model, &ensemble->plan));
  void *couplings = NULL;
  if (bytes == 0)
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate(1, bytes, "couplings of a sample", &couplings, error));
  for (size_t s = 0; s < ensemble->plan.samples; s++) {
    GPUMC_TRY_OUT(status,
                  heisenberg_couplings_fill(ensemble->model, ensemble->plan.first_sample + s, 1,
                                            number_bytes == sizeof(float), couplings, error));
    GPUMC_TRY_OUT(status,
                  device->ops->copy_to_device(device, to + s * bytes, couplings, bytes, error));
  }
out:
  free(couplings);
  return status;
}

static enum gpumc_status
fill(struct gpumc_ensemble *ensemble, size_t number_bytes, struct gpumc_error *error)
{
  double *known = lattice_gpu_storage_of(ensemble)->notes;
  const struct lattice_wave wave = heisenberg_wave_of(ensemble->model);
  int32_t *cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan));
  for (size_t i = 0; i < known_numbers(&ensemble->plan); i++)
    known[i] = (double)NAN;
  GPUMC_TRY(lattice_wave_bring(&wave, ensemble->device, cosine, cosine + wave.length, NULL, error));
  return bring_couplings(ensemble, number_bytes, error);
}

static size_t units_double(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return units_of(model, false);
}

static size_t units_float(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return units_of(model, true);
}

static const struct lattice_gpu_layout layout_float;

static struct heisenberg_gpu_couplings couplings_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_model *model = ensemble->model;
  if (!model->disorder)
    return (struct heisenberg_gpu_couplings){NULL, 0};
  return (struct heisenberg_gpu_couplings){
      .numbers = lattice_gpu_table(ensemble, place_of_couplings(model, &ensemble->plan)),
      .stride = ensemble->plan.samples > 1 ? heisenberg_couplings_count(model) : 0,
  };
}

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
      .couplings = couplings_of(ensemble),
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
  static size_t table_bytes_##precision(const struct gpumc_model *model,                           \
                                        const struct gpumc_ensemble_plan *plan)                    \
  {                                                                                                \
    return table_bytes(model, plan, sizeof(precision));                                            \
  }                                                                                                \
  static size_t scratch_bytes_##precision(const struct gpumc_model *model,                         \
                                          const struct gpumc_ensemble_plan *plan)                  \
  {                                                                                                \
    return scratch_bytes(model, plan, sizeof(precision) == sizeof(float));                         \
  }                                                                                                \
  static enum gpumc_status fill_##precision(struct gpumc_ensemble *ensemble,                       \
                                            struct gpumc_error *error)                             \
  {                                                                                                \
    return fill(ensemble, sizeof(precision), error);                                               \
  }                                                                                                \
  static const struct lattice_gpu_layout layout_##precision = {                                    \
      .group = 1,                                                                                  \
      .unit_bytes = UNIT_BYTES,                                                                    \
      .sites_limit = LATTICE_GPU_SITES_LIMIT,                                                      \
      .piece_bytes = COMPONENT_BYTES,                                                              \
      .units = units_##precision,                                                                  \
      .table_bytes = table_bytes_##precision,                                                      \
      .scratch_bytes = scratch_bytes_##precision,                                                  \
      .notes_bytes = notes_bytes,                                                                  \
      .fill = fill_##precision,                                                                    \
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
      .walks = ensemble->plan.walks,
  };
  bool wanted = false;
  arguments.wave = heisenberg_wave_of(ensemble->model);
  arguments.cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan));
  arguments.sine = arguments.cosine + arguments.wave.length;
  if (channel[HEISENBERG_WAVE] != NULL)
    GPUMC_TRY(lattice_gpu_scratch(ensemble, waves_bytes(ensemble->runs, ensemble->plan.capacity),
                                  (void **)&arguments.waves, error));
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++) {
    arguments.channel[c] = channel[c];
    wanted = wanted || channel[c] != NULL;
  }
  return wanted ? heisenberg_measure(&arguments, error) : GPUMC_OK;
}

static enum gpumc_status compare(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const pair[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  struct heisenberg_gpu_comparison arguments = {
      .replicas = replicas_of(ensemble),
      .first = (uint32_t)first,
      .second = (uint32_t)second,
      .runs = (uint32_t)runs,
      .wave = heisenberg_wave_of(ensemble->model),
      .cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan)),
  };
  arguments.sine = arguments.cosine + arguments.wave.length;
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    arguments.pair[k] = pair[k];
  GPUMC_TRY(lattice_gpu_scratch(ensemble, comparison_bytes(runs, ensemble->plan.capacity),
                                (void **)&arguments.sums, error));
  return heisenberg_compare(&arguments, error);
}

/* Returns J for uniform couplings, J w for quenched ones. */
static double coupling_of(const struct gpumc_ensemble *ensemble)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  return parameters->coupling * parameters->weight;
}

static enum gpumc_status bring_rules(struct gpumc_ensemble *ensemble, const double *control,
                                     struct heisenberg_rule *rules, struct gpumc_error *error)
{
  const int components = heisenberg_parameters(ensemble->model)->components;
  const bool small = gpumc_plan_makes(&ensemble->plan, HEISENBERG_METROPOLIS_SMALL);
  const double coupling = coupling_of(ensemble), *step = small ? ensemble->step : NULL;
  const size_t bytes = ensemble->runs * HEISENBERG_CONTROLS * sizeof *control;
  const size_t step_bytes = step != NULL ? ensemble->runs * sizeof *step : 0;
  double *known = lattice_gpu_storage_of(ensemble)->notes;
  double *known_step = known + ensemble->plan.runs * HEISENBERG_CONTROLS;
  struct heisenberg_rules arguments = {.rules = rules, .stream = ensemble->device->stream};
  if (memcmp(known, control, bytes) == 0 &&
      (step == NULL || memcmp(known_step, step, step_bytes) == 0))
    return GPUMC_OK;
  for (size_t m = 0; m < ensemble->runs; m += arguments.count) {
    const size_t left = ensemble->runs - m;
    arguments.first = (uint32_t)m;
    arguments.count =
        left < HEISENBERG_RULES_AT_ONCE ? (uint32_t)left : (uint32_t)HEISENBERG_RULES_AT_ONCE;
    for (size_t i = 0; i < arguments.count; i++) {
      const double *of_run = control + (m + i) * HEISENBERG_CONTROLS;
      const double beta = of_run[HEISENBERG_BETA], field = of_run[HEISENBERG_FIELD];
      const double reach = step != NULL ? heisenberg_reach(components, step[m + i]) : 0.0;
      arguments.rule[i] = (struct heisenberg_rule){beta * coupling, beta * field, field, reach};
    }
    GPUMC_TRY(heisenberg_store_rules(&arguments, error));
  }
  memcpy(known, control, bytes);
  if (step != NULL)
    memcpy(known_step, step, step_bytes);
  return GPUMC_OK;
}

static enum gpumc_status sweep_clusters(struct gpumc_ensemble *ensemble, const double *control,
                                        uint32_t sweeps, struct gpumc_error *error)
{
  const struct heisenberg_replicas replicas = replicas_of(ensemble);
  struct heisenberg_rule *rules = lattice_gpu_table(ensemble, place_of_rules(&ensemble->plan));
  GPUMC_TRY(bring_rules(ensemble, control, rules, error));
  return heisenberg_cluster_gpu_sweep(ensemble, &replicas, rules, sweeps, error);
}

/* Measures what is of clusters, of replicas at that time. */
static enum gpumc_status measure_clusters(struct gpumc_ensemble *ensemble, const double *control,
                                          uint32_t time, int64_t *const *channel,
                                          struct gpumc_error *error)
{
  const struct heisenberg_replicas replicas = replicas_of(ensemble);
  struct heisenberg_rule *rules = lattice_gpu_table(ensemble, place_of_rules(&ensemble->plan));
  const int32_t *cosine = lattice_gpu_table(ensemble, place_of_waves(&ensemble->plan));
  struct lattice_cluster_scale scale = {
      .wave = heisenberg_wave_of(ensemble->model),
      .shift = heisenberg_cluster_shift(ensemble->model),
      .cosine = cosine,
  };
  scale.sine = cosine + scale.wave.length;
  if (!heisenberg_cluster_is_planned(&ensemble->plan) ||
      (channel[HEISENBERG_CLUSTER_SQUARE] == NULL && channel[HEISENBERG_CLUSTER_WAVE] == NULL))
    return GPUMC_OK;
  GPUMC_TRY(bring_rules(ensemble, control, rules, error));
  return heisenberg_cluster_gpu_measure(ensemble, &replicas, rules, &scale, time, channel, error);
}

/* After that many sweeps, if there are channels. */
static enum gpumc_status measure_after(struct gpumc_ensemble *ensemble, const double *control,
                                       uint32_t sweeps, int64_t *const *channel,
                                       struct gpumc_error *error)
{
  if (channel == NULL)
    return GPUMC_OK;
  GPUMC_TRY(measure(ensemble, channel, error));
  return measure_clusters(ensemble, sweeps > 0 ? control : ensemble->control,
                          ensemble->time + sweeps, channel, error);
}

static enum gpumc_status
measure_all(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return measure_after(ensemble, ensemble->control, 0, channel, error);
}

static enum gpumc_status sweep_by(sweep_driver *driver, struct gpumc_ensemble *ensemble,
                                  const struct gpumc_target *target, uint32_t sweeps,
                                  int64_t *const *channel, struct gpumc_error *error)
{
  struct heisenberg_rule *rules = lattice_gpu_table(ensemble, place_of_rules(&ensemble->plan));
  struct heisenberg_gpu_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rules = rules,
      .move = (enum heisenberg_move)ensemble->plan.move,
      .over_relaxations = (uint32_t)ensemble->plan.options.own[0],
      .sweeps = sweeps,
      .coupling = coupling_of(ensemble),
      .accepted = ensemble->accepted,
      .course = course_of(ensemble),
      .block_threads = ensemble->device->block_threads,
      .multiprocessors = (uint32_t)ensemble->device->multiprocessors,
      .shared_bytes = ensemble->device->shared_bytes,
  };
  if (sweeps > 1) {
    const bool single = arguments.replicas.single != 0;
    arguments.others = replicas_by_tiles(ensemble->model, &ensemble->plan, single);
    if (arguments.others > 0)
      GPUMC_TRY(lattice_gpu_scratch(ensemble, tiles_bytes(ensemble->model, &ensemble->plan, single),
                                    &arguments.other, error));
  }
  if (sweeps > 0) {
    if (arguments.replicas.single != 0)
      GPUMC_TRY(heisenberg_check_precise(ensemble, target->control, error));
    GPUMC_TRY(bring_rules(ensemble, target->control, rules, error));
    GPUMC_TRY(driver(&arguments, error));
  }
  return measure_after(ensemble, target->control, sweeps, channel, error);
}

static enum gpumc_status
walk(struct gpumc_ensemble *ensemble, const struct gpumc_target *target, struct gpumc_error *error)
{
  const struct heisenberg_replicas replicas = replicas_of(ensemble);
  return heisenberg_walk_gpu(ensemble, target, &replicas, error);
}

static size_t fills_double(const struct gpumc_model *model, const struct gpumc_device *device,
                           const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return heisenberg_walk_gpu_fills(model, device, false);
}

static size_t fills_float(const struct gpumc_model *model, const struct gpumc_device *device,
                          const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return heisenberg_walk_gpu_fills(model, device, true);
}

/* Definitions that depend on the layout, followed by operations that not all have. */
#define KERNEL(name, names, layout, ...)                                                           \
  static enum gpumc_status sweep_##name(struct gpumc_ensemble *ensemble,                           \
                                        const struct gpumc_target *target, uint32_t sweeps,        \
                                        int64_t *const *channel, struct gpumc_error *error)        \
  {                                                                                                \
    if (sweeps > 0 && ensemble->plan.move >= HEISENBERG_LOCAL_MOVES) {                             \
      GPUMC_TRY(sweep_clusters(ensemble, target->control, sweeps, error));                         \
      return measure_after(ensemble, target->control, sweeps, channel, error);                     \
    }                                                                                              \
    return sweep_by(ensemble->model->disorder ? heisenberg_sweep_quenched_##name                   \
                                              : heisenberg_sweep_##name,                           \
                    ensemble, target, sweeps, channel, error);                                     \
  }                                                                                                \
  const struct gpumc_kernel_ops heisenberg_##name##_cuda = {                                       \
      names,                                                                                       \
      .device = "cuda",                                                                            \
      LATTICE_GPU_COMMON,                                                                          \
      .bytes = bytes_##layout,                                                                     \
      .create = create_##layout,                                                                   \
      .start = randomize,                                                                          \
      .sweep = sweep_##name,                                                                       \
      .measure = measure_all,                                                                      \
      .gather = lattice_gpu_gather,                                                                \
      .exchange = lattice_gpu_exchange,                                                            \
      .compare = compare,                                                                          \
      __VA_ARGS__,                                                                                 \
  };
KERNEL(double, HEISENBERG_DOUBLE_NAMES, double, .walk = walk, .fills = fills_double)
KERNEL(float, HEISENBERG_FLOAT_NAMES, float, .walk = walk, .fills = fills_float)
KERNEL(fast, HEISENBERG_FAST_NAMES, float, .walk = NULL)
