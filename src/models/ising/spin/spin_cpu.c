/* The spin kernel on the CPU: one byte a spin, threads over replicas. */
#include <string.h>

#include "models/ising/ising.h"
#include "models/lattice/replicas_cpu.h"
#include "models/ising/ising_takes.h"
#include "models/ising/spin/spin_tables.h"

static void set_replica(const struct gpumc_model *model, void *block,
                        const uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  uint8_t *spins = block;
  const uint8_t *bits = portable[0];
  for (size_t i = 0; i < model->sites; i++)
    spins[gpumc_checkerboard_position(lattice, i)] = bits[i / 8] >> i % 8 & 1;
}

static void get_replica(const struct gpumc_model *model, const void *block,
                        uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const uint8_t *spins = block;
  uint8_t *bits = portable[0];
  memset(bits, 0, model->portable_bytes);
  for (size_t i = 0; i < model->sites; i++) {
    const uint32_t spin = spins[gpumc_checkerboard_position(lattice, i)];
    bits[i / 8] = (uint8_t)(bits[i / 8] | spin << i % 8);
  }
}

static const struct ising_spin_tables *tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

static const struct ising_spin_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_spin, storage->isa);
}

static int64_t wave_of(const struct ising_spin_tables *tables, const uint32_t *layers)
{
  const struct gpumc_checkerboard *lattice = &tables->lattice.checkerboard;
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  int64_t cosine[3] = {0}, sine[3] = {0};
  for (size_t axis = 0; axis < 3; layers += length[axis++])
    for (size_t x = 0; tables->wave.along[axis] != 0 && x < length[axis]; x++) {
      const int64_t spins = 2 * (int64_t)layers[x] - (int64_t)(2 * lattice->colour / length[axis]);
      cosine[axis] += spins * tables->cosine[x];
      sine[axis] += spins * tables->sine[x];
    }
  return ising_wave_square(&tables->wave, cosine, sine);
}

/* In quanta. */
static int64_t energy_of(const struct gpumc_model *model, enum ising_spin_kind kind,
                         const struct ising_spin_sums *sums)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const int64_t sites = (int64_t)model->sites, spins = 2 * sums->up - sites;
  const int64_t bonds = (int64_t)parameters->lattice.dimension * sites - 2 * sums->unsatisfied;
  if (kind == ISING_SPIN_TERMS)
    return sums->energy;
  if (kind == ISING_SPIN_UNIFORM)
    return ising_energy(parameters->coupling_quanta, parameters->field_quanta, bonds, spins);
  return ising_energy_of_signs(parameters->coupling_quanta, parameters->field_quanta,
                               ising_disorder_traits(model).field_width, bonds, spins,
                               sites - 2 * sums->against);
}

/* `layers`: where they are counted if they are wanted, at the beginning of the scratch. */
static struct ising_spin_measurement measurement_of(const struct gpumc_ensemble *ensemble,
                                                    const struct lattice_cpu_place *place,
                                                    bool layers)
{
  void *scratch = lattice_cpu_scratch(ensemble->storage);
  return (struct ising_spin_measurement){
      .lattice = &tables_of(ensemble)->lattice,
      .spins = place->data,
      .scratch = scratch,
      .layers = layers ? scratch : NULL,
  };
}

static void measure_replica(const struct gpumc_ensemble *ensemble,
                            const struct lattice_cpu_place *place, int64_t *const *channel)
{
  const struct ising_spin_tables *tables = tables_of(ensemble);
  const size_t at = place->run * ensemble->plan.capacity + place->first;
  struct ising_spin_measurement with = measurement_of(ensemble, place, channel[ISING_WAVE] != NULL);
  struct ising_spin_sums sums;
  with.sample = ising_spin_sample(&tables->samples, place->first);
  ops_of(ensemble)->measure(&with, &sums);
  if (channel[ISING_ENERGY] != NULL)
    channel[ISING_ENERGY][at] = energy_of(ensemble->model, tables->samples.kind, &sums);
  if (channel[ISING_MAGNETIZATION] != NULL)
    channel[ISING_MAGNETIZATION][at] = 2 * sums.up - (int64_t)ensemble->model->sites;
  if (channel[ISING_WAVE] != NULL)
    channel[ISING_WAVE][at] = wave_of(tables, with.layers);
}

/* The replica at `place` with `other`; the results go to place `at`. */
static void overlap_replicas(const struct gpumc_ensemble *ensemble,
                             const struct lattice_cpu_place *place, const void *other, size_t at,
                             int64_t *const overlap[GPUMC_OVERLAPS])
{
  const struct ising_spin_tables *tables = tables_of(ensemble);
  const int64_t sites = (int64_t)ensemble->model->sites;
  const int64_t bonds = (int64_t)tables->lattice.checkerboard.dimension * sites;
  struct ising_spin_measurement with =
      measurement_of(ensemble, place, overlap[GPUMC_OVERLAP_WAVE] != NULL);
  struct ising_spin_sums sums;
  with.other = other;
  ops_of(ensemble)->measure(&with, &sums);
  if (overlap[GPUMC_OVERLAP_SPIN] != NULL)
    overlap[GPUMC_OVERLAP_SPIN][at] = 2 * sums.up - sites;
  if (overlap[GPUMC_OVERLAP_LINK] != NULL)
    overlap[GPUMC_OVERLAP_LINK][at] = bonds - 2 * sums.unsatisfied;
  if (overlap[GPUMC_OVERLAP_WAVE] != NULL)
    overlap[GPUMC_OVERLAP_WAVE][at] = wave_of(tables, with.layers);
}

/* A block is one replica, spins[position], 0 or 1. */
static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites;
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return ising_spin_scratch(&ising_parameters(model)->lattice);
}

static enum gpumc_status create_tables(const struct gpumc_model *model,
                                       const struct gpumc_ensemble_plan *plan, void *own,
                                       struct gpumc_error *error)
{
  return ising_spin_tables_create(model, plan, own, error);
}

static void free_tables(void *own)
{
  ising_spin_tables_free(own);
}

static void
randomize_replica(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites;
  uint8_t *spins = place->data;
  for (size_t first = 0; first < sites; first += 128) {
    uint32_t word[4];
    const size_t n = sites - first < 128 ? sites - first : 128;
    gpumc_random_draw(random, (uint32_t)(first / 128), (uint32_t)place->first, 0, label, word);
    for (size_t i = 0; i < n; i++)
      spins[first + i] = word[i / 32] >> i % 32 & 1;
  }
}

static bool is_rule_of(const struct ising_spin_rule *rule, const double *control)
{
  return rule->exact.quantum > 0 && rule->exact.beta == control[ISING_BETA] &&
         rule->field == control[ISING_FIELD];
}

/* One for each run; most have the controls of the sweep before, or of the run before. */
static void set_rules(const struct gpumc_ensemble *ensemble, const double *control)
{
  struct ising_spin_rule *rule = tables_of(ensemble)->rule;
  for (size_t m = 0; m < ensemble->runs; m++)
    if (!is_rule_of(&rule[m], ising_controls_of(control, m)))
      rule[m] = m > 0 && ising_same_controls(control, m, m - 1)
                    ? rule[m - 1]
                    : ising_spin_rule(ensemble->model, ensemble->plan.update,
                                      ising_controls_of(control, m));
}

static void sweep_replica(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct ising_spin_tables *tables = tables_of(ensemble);
  const struct ising_spin_sweep with = {
      .rule = &tables->rule[place->run],
      .lattice = &tables->lattice,
      .sample = ising_spin_sample(&tables->samples, place->first),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = (uint32_t)place->first,
      .time = ensemble->time,
      .sweeps = sweeps,
      .spins = place->data,
      .scratch = lattice_cpu_scratch(ensemble->storage),
  };
  ops_of(ensemble)->sweep(&with);
}

static void sweep_and_measure(const struct gpumc_ensemble *ensemble,
                              const struct lattice_cpu_place *place, uint32_t sweeps,
                              int64_t *const *channel)
{
  sweep_replica(ensemble, place, sweeps);
  measure_replica(ensemble, place, channel);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1,
    .buffers = 1,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct ising_spin_tables),
    .own_bytes = ising_spin_tables_bytes,
    .own_create = create_tables,
    .own_free = free_tables,
    .set = set_replica,
    .get = get_replica,
    .randomize = randomize_replica,
    .set_rules = set_rules,
    .sweep = sweep_replica,
    .measure = measure_replica,
    .sweep_and_measure = sweep_and_measure,
    .overlap = overlap_replicas,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&layout, ensemble, error);
}

const struct gpumc_kernel_ops ising_spin_cpu = {
    LATTICE_CPU_COMMON,
    .variant = "spin",
    .cost = ising_spin_cost,
    .summary = "one byte and one 32-bit random number a spin",
    .takes = ISING_TAKES_SPIN ISING_TAKES_ON_CPUS,
    .trajectory = "ising.spin.1",
    .capabilities = ISING_CPU_CAPABILITIES,
    .bytes = bytes,
    .create = create,
    .randomize = lattice_cpu_randomize,
    .sweep = lattice_cpu_sweep,
    .measure = lattice_cpu_measure,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
    .overlap = lattice_cpu_overlap,
};
