/* Data of the CUDA kernels with one number per spin beside the replicas. */
#include "models/ising/spin/spin_tables_gpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/ising_host_gpu.h"
#include "models/lattice/replicas_gpu.h"

enum { ALIGNMENT = 256 };

/* Offsets of the parts in the table. */
struct places {
  size_t own, rules, waves, samples, end;
};

static size_t aligned(size_t bytes)
{
  return lattice_parts(bytes, ALIGNMENT) * ALIGNMENT;
}

static size_t
groups_of(const struct gpumc_ensemble_plan *plan, const struct ising_tables_layout *layout)
{
  return plan->samples == 1 ? 1 : lattice_parts(plan->samples, layout->lanes);
}

static struct places places_of(const struct gpumc_model *model,
                               const struct gpumc_ensemble_plan *plan,
                               const struct ising_tables_layout *layout)
{
  struct places places = {.own = 0};
  places.rules = aligned(layout->own_bytes);
  places.waves = places.rules + aligned(plan->runs * sizeof(struct ising_run_rule));
  places.samples =
      places.waves + aligned(2 * (size_t)ising_wave_of(model).length * sizeof(int32_t));
  places.end = places.samples + groups_of(plan, layout) * layout->group_bytes;
  return places;
}

size_t ising_tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                          const struct ising_tables_layout *layout)
{
  return places_of(model, plan, layout).end;
}

struct ising_tables
ising_tables_of(const struct gpumc_ensemble *ensemble, const struct ising_tables_layout *layout)
{
  const struct gpumc_model *model = ensemble->model;
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct places places = places_of(model, &ensemble->plan, layout);
  uint8_t *table = lattice_gpu_table(ensemble, 0);
  struct ising_tables tables = {
      .kind = ising_spin_kind(model),
      .dimension = (uint32_t)parameters->lattice.dimension,
      .rules = (void *)(table + places.rules),
      .cosine = (void *)(table + places.waves),
      .wave = ising_wave_of(model),
      .coupling = parameters->coupling_quanta,
      .field = parameters->field_quanta,
      .width = ising_disorder_traits(model).field_width,
      .samples = table + places.samples,
      .group_bytes = layout->group_bytes,
      .lanes = ensemble->plan.samples == 1 ? 0 : (uint32_t)layout->lanes,
      .by_run = ensemble->plan.sample_by_run ? (uint32_t)ensemble->plan.samples : 0,
      .plan_runs = (uint32_t)ensemble->plan.runs,
      .own = table + places.own,
  };
  tables.sine = tables.cosine + tables.wave.length;
  return tables;
}

/* Copies one group of samples after the other, through host memory. */
static enum gpumc_status bring_samples(struct gpumc_ensemble *ensemble,
                                       const struct ising_tables_layout *layout, uint8_t *to,
                                       struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct ising_spin_samples samples = ising_spin_samples_of(ensemble->model, &ensemble->plan);
  const size_t lanes = samples.count == 1 ? 1 : layout->lanes;
  void *made = NULL, *packed = NULL;
  if (samples.kind == ISING_SPIN_UNIFORM)
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate(lanes, samples.bytes, "samples", &made, error));
  GPUMC_TRY_OUT(status, gpumc_allocate(1, layout->group_bytes, "samples", &packed, error));
  for (size_t s = 0; s < samples.count; s += lanes) {
    const size_t count = samples.count - s < lanes ? samples.count - s : lanes;
    memset(made, 0, lanes * samples.bytes);
    memset(packed, 0, layout->group_bytes);
    GPUMC_TRY_OUT(status,
                  ising_spin_samples_fill(ensemble->model, &samples, s, count, made, error));
    layout->pack(ensemble->model, &samples, made, count, lanes, packed);
    GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, to + s / lanes * layout->group_bytes,
                                                      packed, layout->group_bytes, error));
  }
out:
  free(made);
  free(packed);
  return status;
}

size_t
ising_tables_notes_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  return ising_known_bytes(plan);
}

enum gpumc_status ising_tables_fill(struct gpumc_ensemble *ensemble,
                                    const struct ising_tables_layout *layout,
                                    struct gpumc_error *error)
{
  const struct ising_tables tables = ising_tables_of(ensemble, layout);
  ising_known_forget(&ensemble->plan, lattice_gpu_storage_of(ensemble)->notes);
  GPUMC_TRY(ising_bring_waves(ensemble, tables.cosine, tables.sine, NULL, error));
  return bring_samples(ensemble, layout, tables.samples, error);
}

static struct ising_cluster_run
cluster_run_of(const struct gpumc_model *model, const double control[ISING_CONTROLS])
{
  const struct ising_parameters *parameters = ising_parameters(model);
  struct ising_cluster_run run = {
      .rule = ising_cluster_rule_of(control[ISING_BETA], parameters->coupling, control[ISING_FIELD],
                                    model->quantum[ISING_ENERGY], parameters->lattice.dimension,
                                    ising_disorder_traits(model).fields)};
  const double bond = ising_cluster_exponent(&run.rule, parameters->coupling),
               ghost = ising_cluster_exponent(&run.rule, control[ISING_FIELD]);
  const uint64_t of_bond = ising_cluster_threshold(fabs(bond)),
                 of_ghost = ising_cluster_threshold(fabs(ghost));
  run.bond_any = of_bond > 0 ? UINT32_MAX : 0;
  run.bond_last = (uint32_t)(of_bond - (of_bond > 0));
  run.alike = bond > 0.0 ? UINT32_MAX : 0;
  run.ghost_any = of_ghost > 0 ? UINT32_MAX : 0;
  run.ghost_last = (uint32_t)(of_ghost - (of_ghost > 0));
  run.down = ghost > 0.0 ? 0 : UINT32_MAX;
  return run;
}

struct ising_run_rule
ising_run_rule_of(const struct gpumc_ensemble *ensemble, const double control[ISING_CONTROLS])
{
  if (ensemble->plan.move >= ISING_LOCAL_MOVES)
    return (struct ising_run_rule){.clusters = cluster_run_of(ensemble->model, control)};
  const struct ising_spin_rule of_cpu =
      ising_spin_rule(ensemble->model, ensemble->plan.move, control);
  struct ising_run_rule rule = {.start = of_cpu.start != 0 ? UINT32_MAX : 0,
                                .estimate = of_cpu.estimate,
                                .exact = of_cpu.exact};
  for (uint32_t i = 0; i < ISING_TABLE; i++) {
    rule.threshold[i] = of_cpu.table.threshold[i];
    rule.compared |= (uint32_t)of_cpu.table.compared[i] << 2 * i;
  }
  return rule;
}

enum gpumc_status ising_tables_set_rules(struct gpumc_ensemble *ensemble,
                                         const struct ising_tables *tables, const double *control,
                                         struct gpumc_error *error)
{
  const size_t runs = ensemble->runs;
  double *there = lattice_gpu_storage_of(ensemble)->notes;
  struct ising_rules_part part = {.rules = tables->rules, .stream = ensemble->device->stream};
  ising_known_refresh(&ensemble->plan, there);
  for (size_t m = 0; m < runs; m += part.count) {
    part.first = (uint32_t)m;
    part.count = (uint32_t)(runs - m < ISING_RULES_AT_ONCE ? runs - m : ISING_RULES_AT_ONCE);
    const double *known = there + m * ISING_CONTROLS, *now = ising_controls_of(control, m);
    const size_t bytes = part.count * ISING_CONTROLS * sizeof *control;
    if (memcmp(known, now, bytes) == 0)
      continue;
    for (uint32_t i = 0; i < part.count; i++)
      part.rule[i] = i > 0 && ising_same_controls(now, i, i - 1)
                         ? part.rule[i - 1]
                         : ising_run_rule_of(ensemble, ising_controls_of(now, i));
    GPUMC_TRY(ising_rules_store(&part, error));
    memcpy(there + m * ISING_CONTROLS, now, bytes);
  }
  return GPUMC_OK;
}

struct ising_measured ising_measured_channels(size_t runs, int64_t *const *channel)
{
  return (struct ising_measured){
      .runs = (uint32_t)runs,
      .energy = channel[ISING_ENERGY],
      .spins = channel[ISING_MAGNETIZATION],
      .wave = channel[ISING_WAVE],
  };
}

struct ising_measured ising_measured_overlaps(size_t first, size_t second, size_t runs,
                                              int64_t *const overlap[GPUMC_PAIRS_MAXIMUM])
{
  return (struct ising_measured){
      .first = (uint32_t)first,
      .second = (uint32_t)second,
      .runs = (uint32_t)runs,
      .product = 1,
      .spins = overlap[ISING_PAIR_SPIN],
      .links = overlap[ISING_PAIR_LINK],
      .wave = overlap[ISING_PAIR_WAVE],
  };
}
