/* The spin kernel on the CPU: one byte per spin, threads over replicas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/cluster/cluster.h"
#include "models/ising/ising.h"
#include "models/ising/ising_channels.h"
#include "models/ising/spin/spin.h"
#include "models/ising/spin/spin_exchange.h"
#include "models/lattice/replicas_cpu.h"

/* lattice_cpu_storage.own: places of sites, samples of the disorder, waves, rules of the runs. */
struct tables {
  struct ising_spin_lattice lattice;
  uint8_t *place;
  struct ising_spin_samples samples;
  struct ising_spin_rule *rule; /* [plan.runs] */
  struct lattice_wave wave;
  int32_t *cosine, *sine;
  struct ising_cluster_cpu clusters;
};

static struct ising_spin_lattice lattice_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *checkerboard = &ising_parameters(model)->lattice;
  const bool cubic = checkerboard->dimension == 3;
  struct ising_spin_lattice lattice = {.checkerboard = *checkerboard};
  lattice.shift = cubic ? checkerboard->plane : checkerboard->row;
  lattice.period = 2 * lattice.shift;
  return lattice;
}

/* Returns the number for a chunk that begins at the end of a period, of either colour. */
static size_t places(const struct ising_spin_lattice *lattice)
{
  return lattice->period + lattice->shift + ISING_SPIN_CHUNK + GPUMC_CHECKERBOARD_PADDING;
}

static uint8_t place_of(const struct gpumc_checkerboard *lattice, size_t k)
{
  const size_t line = k / lattice->row, j = k % lattice->row;
  struct gpumc_checkerboard_place place = {.y = line};
  if (lattice->dimension == 3) {
    place.y = line % lattice->length_y;
    place.z = line / lattice->length_y;
  }
  const bool back = gpumc_checkerboard_side_is_back(&place);
  return (uint8_t)((uint32_t)back << ISING_SPIN_BACK |
                   (uint32_t)(back && j == 0) << ISING_SPIN_BACK_AROUND |
                   (uint32_t)(!back && j + 1 == lattice->row) << ISING_SPIN_FORWARD_AROUND |
                   (uint32_t)(place.y == 0) << ISING_SPIN_FIRST_ROW |
                   (uint32_t)(place.y + 1 == lattice->length_y) << ISING_SPIN_LAST_ROW);
}

static size_t tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_spin_lattice lattice = lattice_of(model);
  const struct ising_spin_samples samples = ising_spin_samples_of(model, plan);
  return sizeof(struct tables) + places(&lattice) + samples.count * samples.bytes +
         plan->runs * sizeof(struct ising_spin_rule) +
         2 * ising_wave_of(model).length * sizeof(int32_t);
}

static enum gpumc_status
create_waves(const struct gpumc_model *model, struct tables *tables, struct gpumc_error *error)
{
  tables->wave = ising_wave_of(model);
  GPUMC_TRY(gpumc_allocate_array(&tables->cosine, 2 * tables->wave.length, "waves", error));
  tables->sine = tables->cosine + tables->wave.length;
  lattice_wave_table(&tables->wave, tables->cosine, tables->sine);
  return GPUMC_OK;
}

static enum gpumc_status create_tables(const struct gpumc_model *model,
                                       const struct gpumc_ensemble_plan *plan, void *own,
                                       struct gpumc_error *error)
{
  struct tables *tables = own;
  struct ising_spin_samples *samples = &tables->samples;
  tables->lattice = lattice_of(model);
  const size_t n = places(&tables->lattice);
  *samples = ising_spin_samples_of(model, plan);
  GPUMC_TRY(gpumc_allocate_array(&tables->place, n, "places of sites", error));
  for (size_t k = 0; k < n; k++)
    tables->place[k] = place_of(&tables->lattice.checkerboard, k);
  tables->lattice.place = tables->place;
  GPUMC_TRY(gpumc_allocate_array(&tables->rule, plan->runs, "rules of the runs", error));
  GPUMC_TRY(create_waves(model, tables, error));
  GPUMC_TRY(gpumc_allocate(samples->count, samples->bytes, "samples", &samples->data, error));
  return ising_spin_samples_fill(model, samples, 0, samples->count, samples->data, error);
}

static void free_tables(void *own)
{
  struct tables *tables = own;
  free(tables->place);
  free(tables->samples.data);
  free(tables->rule);
  free(tables->cosine);
  ising_cluster_cpu_free(&tables->clusters);
}

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

static const struct tables *tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

static const struct ising_spin_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_spin, storage->isa);
}

static int64_t wave_of(const struct tables *tables, const uint32_t *layers)
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
  return lattice_wave_square(&tables->wave, cosine, sine);
}

/* `layers`: where they are counted if they are wanted, at the beginning of the scratch. */
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

static struct ising_spin_sample
sample_of(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  return ising_spin_sample(&tables_of(ensemble)->samples,
                           gpumc_ensemble_sample(&ensemble->plan, place->run, place->first));
}

/* Compares the replica at `place` with `other`; the results go to place `at`. */
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
  const struct tables *tables = tables_of(ensemble);
  const size_t at = place->run * ensemble->plan.capacity + place->first;
  struct ising_spin_measurement with = measurement_of(ensemble, place, channel[ISING_WAVE] != NULL);
  struct ising_spin_sums sums;
  with.sample = sample_of(ensemble, place);
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
                             int64_t *const overlap[GPUMC_PAIRS_MAXIMUM])
{
  const struct tables *tables = tables_of(ensemble);
  const int64_t sites = (int64_t)ensemble->model->sites;
  const int64_t bonds = (int64_t)tables->lattice.checkerboard.dimension * sites;
  struct ising_spin_measurement with =
      measurement_of(ensemble, place, overlap[ISING_PAIR_WAVE] != NULL);
  struct ising_spin_sums sums;
  with.other = other;
  ops_of(ensemble)->measure(&with, &sums);
  if (overlap[ISING_PAIR_SPIN] != NULL)
    overlap[ISING_PAIR_SPIN][at] = 2 * sums.up - sites;
  if (overlap[ISING_PAIR_LINK] != NULL)
    overlap[ISING_PAIR_LINK][at] = bonds - 2 * sums.unsatisfied;
  if (overlap[ISING_PAIR_WAVE] != NULL)
    overlap[ISING_PAIR_WAVE][at] = wave_of(tables, with.layers);
}

/* A block is one replica, spins[position], 0 or 1. */
static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites;
}

/* Returns where the queue of an exchange begins in a thread's scratch. */
static size_t queue_offset(const struct gpumc_checkerboard *lattice)
{
  return (ising_spin_scratch(lattice) + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  return plan->clusters ? queue_offset(lattice) + ising_spin_exchange_bytes(lattice)
                        : ising_spin_scratch(lattice);
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
    gpumc_random_draw(random, (uint32_t)(first / 128), place->number, 0, label, word);
    for (size_t i = 0; i < n; i++)
      spins[first + i] = word[i / 32] >> i % 32 & 1;
  }
}

static bool is_rule_of(const struct ising_spin_rule *rule, uint32_t move, const double *control)
{
  return rule->exact.quantum > 0 && rule->exact.beta == control[ISING_BETA] &&
         rule->field == control[ISING_FIELD] &&
         rule->start == (move == ISING_MOVE_METROPOLIS ? 1 : 0);
}

/* Sets one for each run; most have the controls and the move of the sweep before, or of the run
 * before. */
static void set_rules(const struct gpumc_ensemble *ensemble, const double *control)
{
  struct ising_spin_rule *rule = tables_of(ensemble)->rule;
  for (size_t m = 0; m < ensemble->runs; m++)
    if (!is_rule_of(&rule[m], ensemble->plan.move, ising_controls_of(control, m)))
      rule[m] = m > 0 && ising_same_controls(control, m, m - 1)
                    ? rule[m - 1]
                    : ising_spin_rule(ensemble->model, ensemble->plan.move,
                                      ising_controls_of(control, m));
}

static void sweep_replica(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct tables *tables = tables_of(ensemble);
  const struct ising_spin_sweep with = {
      .rule = &tables->rule[place->run],
      .lattice = &tables->lattice,
      .sample = sample_of(ensemble, place),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
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

static void exchange_cluster(const struct gpumc_ensemble *ensemble,
                             const struct lattice_cpu_place *place, void *other,
                             const struct gpumc_cluster_exchange *with,
                             struct gpumc_cluster_counts *counts)
{
  const struct tables *tables = tables_of(ensemble);
  uint8_t *scratch = lattice_cpu_scratch(ensemble->storage);
  struct ising_spin_pair pair = {
      .lattice = &tables->lattice.checkerboard,
      .sample = sample_of(ensemble, place),
      .rule = with->rule,
      .beta = ising_controls_of(with->control, place->run)[ISING_BETA],
      .coupling = ising_spin_coupling(ensemble->model),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
      .time = with->time,
      .spins = place->data,
      .other = other,
      .queue = (void *)(scratch + queue_offset(&tables->lattice.checkerboard)),
  };
  pair.threshold = ising_exchange_threshold(pair.beta, pair.coupling);
  ising_spin_exchange(&pair, counts);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1,
    .buffers = 1,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct tables),
    .own_bytes = tables_bytes,
    .own_create = create_tables,
    .own_free = free_tables,
    .set = set_replica,
    .get = get_replica,
    .start = randomize_replica,
    .set_rules = set_rules,
    .sweep = sweep_replica,
    .measure = measure_replica,
    .sweep_and_measure = sweep_and_measure,
    .compare = overlap_replicas,
    .exchange_clusters = exchange_cluster,
};

size_t ising_spin_cpu_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                            const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan) +
         ising_cluster_cpu_bytes(model, device, plan);
}

enum gpumc_status ising_spin_cpu_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_cpu_create(&layout, ensemble, error));
  const struct lattice_cpu_storage *storage = ensemble->storage;
  struct tables *tables = storage->own;
  const enum gpumc_status status = ising_cluster_cpu_create(ensemble, &tables->clusters, error);
  if (status != GPUMC_OK)
    lattice_cpu_destroy(ensemble);
  return status;
}

const struct ising_spin_samples *ising_spin_cpu_samples(const struct gpumc_ensemble *ensemble)
{
  return &tables_of(ensemble)->samples;
}

/* Measures what is of clusters, of replicas at that time. */
static void measure_clusters(const struct gpumc_ensemble *ensemble, const double *control,
                             uint32_t time, int64_t *const *channel)
{
  const struct tables *tables = tables_of(ensemble);
  const struct lattice_cluster_scale scale = {
      .wave = tables->wave,
      .shift = (uint32_t)ilogb(ensemble->model->quantum[ISING_CLUSTER_SQUARE]),
      .cosine = tables->cosine,
      .sine = tables->sine,
  };
  if (ising_cluster_is_planned(&ensemble->plan))
    ising_cluster_cpu_measure(ensemble, &tables->clusters, control, time, &scale, channel);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  if (!ising_cluster_moves(&ensemble->plan)) {
    GPUMC_TRY(lattice_cpu_sweep(ensemble, target, sweeps, channel, error));
  } else {
    if (sweeps > 0)
      ising_cluster_cpu_sweep(ensemble, &tables_of(ensemble)->clusters, target->control, sweeps);
    if (channel != NULL)
      GPUMC_TRY(lattice_cpu_measure(ensemble, channel, error));
  }
  if (channel != NULL)
    measure_clusters(ensemble, sweeps > 0 ? target->control : ensemble->control,
                     ensemble->time + sweeps, channel);
  return GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_cpu_measure(ensemble, channel, error));
  measure_clusters(ensemble, ensemble->control, ensemble->time, channel);
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_spin_cpu = {
    LATTICE_CPU_COMMON,
    ISING_SPIN_NAMES,
    .refuses = ising_cpu_refuses,
    .summary = "one byte and one 32-bit random number per spin",
    .takes = ISING_TAKES_SPIN ISING_TAKES_ON_CPUS,
    .bytes = ising_spin_cpu_bytes,
    .create = ising_spin_cpu_create,
    .start = lattice_cpu_start,
    .sweep = sweep,
    .measure = measure,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
    .compare = lattice_cpu_compare,
    .exchange_clusters = lattice_cpu_exchange_clusters,
};
