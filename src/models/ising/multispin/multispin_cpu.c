/* The multispin kernel on the CPU: groups of 32 replicas, one bit each, threads over groups. */
#include <assert.h>

#include "models/ising/ising.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/lattice/bit_sliced.h"
#include "models/lattice/replicas_cpu.h"

/* Finds where the sites i .. i+31, in site order, are in a group; returns how many exist. */
static size_t positions(const struct gpumc_checkerboard *lattice, size_t i, size_t position[32])
{
  const size_t sites = 2 * lattice->colour, n = sites - i < 32 ? sites - i : 32;
  for (size_t j = 0; j < n; j++)
    position[j] = gpumc_checkerboard_position(lattice, i + j);
  return n;
}

static void set_group(const struct gpumc_model *model, void *block,
                      const uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  uint32_t *words = block, lanes = 0;
  for (size_t lane = 0; lane < ISING_LANES; lane++)
    lanes |= (uint32_t)(portable[lane] != NULL) << lane;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising_parameters(model)->lattice, i, position);
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        row[lane] |= (uint32_t)portable[lane][i / 8 + b] << 8 * b;
    gpumc_bit_transpose(row);
    for (size_t j = 0; j < n; j++)
      words[position[j]] = (words[position[j]] & ~lanes) | (row[j] & lanes);
  }
}

static void get_group(const struct gpumc_model *model, const void *block,
                      uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  const uint32_t *words = block;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising_parameters(model)->lattice, i, position);
    for (size_t j = 0; j < n; j++)
      row[j] = words[position[j]];
    gpumc_bit_transpose(row);
    for (size_t lane = 0; lane < ISING_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        portable[lane][i / 8 + b] = (uint8_t)(row[lane] >> 8 * b);
  }
}

static const struct ising_multispin_tables *tables_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

static const struct ising_multispin_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_multispin, storage->isa);
}

static struct ising_multispin_group
group_of(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct ising_multispin_tables *tables = tables_of(ensemble);
  return (struct ising_multispin_group){
      .instance = &tables->instance,
      .signs = ising_multispin_signs(tables, place->block),
      .words = place->data,
      .number = place->number,
      .scratch = lattice_cpu_scratch(ensemble->storage),
  };
}

static void
randomize_group(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites;
  uint32_t *words = place->data;
  for (size_t w = 0; w < sites; w += 4)
    gpumc_random_draw(random, (uint32_t)(w >> 2), place->number, 0, label, words + w);
}

static void set_rules(const struct gpumc_ensemble *ensemble, const double *control)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  ising_multispin_set_rules(ensemble, storage->own, control);
}

static void sweep_group(const struct gpumc_ensemble *ensemble,
                        const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct ising_multispin_group group = group_of(ensemble, place);
  ops_of(ensemble)->sweep(&group, &tables_of(ensemble)->rule[place->run], ensemble->time, sweeps);
}

static int64_t wave_of(const struct ising_multispin_waves *waves,
                       const struct ising_multispin_sums *sums, size_t lane)
{
  int64_t cosine[ISING_AXES], sine[ISING_AXES];
  for (size_t axis = 0; axis < ISING_AXES; axis++) {
    cosine[axis] = sums->cosine[axis][lane];
    sine[axis] = sums->sine[axis][lane];
  }
  return lattice_wave_square(&waves->wave, cosine, sine);
}

static void measure_as(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                       const struct ising_multispin_group *group, int64_t *const *channel)
{
  const struct ising_multispin_tables *tables = tables_of(ensemble);
  const int64_t sites = (int64_t)ensemble->model->sites;
  const int64_t bonds = (int64_t)tables->instance.lattice.dimension * sites;
  const size_t first = place->run * ensemble->plan.capacity + place->first;
  const bool waves = channel[ISING_WAVE] != NULL;
  struct ising_multispin_sums sums;
  ops_of(ensemble)->measure(group, NULL, waves ? &tables->waves : NULL, &sums);
  for (size_t lane = 0; lane < place->count; lane++) {
    if (channel[ISING_ENERGY] != NULL)
      channel[ISING_ENERGY][first + lane] =
          ising_energy(tables->coupling_quanta, tables->field_quanta,
                       bonds - 2 * sums.unsatisfied[lane], 2 * sums.along[lane] - sites);
    if (channel[ISING_MAGNETIZATION] != NULL)
      channel[ISING_MAGNETIZATION][first + lane] = 2 * sums.up[lane] - sites;
    if (waves)
      channel[ISING_WAVE][first + lane] = wave_of(&tables->waves, &sums, lane);
  }
}

static void measure_group(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cpu_place *place, int64_t *const *channel)
{
  const struct ising_multispin_group group = group_of(ensemble, place);
  measure_as(ensemble, place, &group, channel);
}

static void sweep_and_measure_group(const struct gpumc_ensemble *ensemble,
                                    const struct lattice_cpu_place *place, uint32_t sweeps,
                                    int64_t *const *channel)
{
  const struct ising_multispin_tables *tables = tables_of(ensemble);
  const struct ising_multispin_rule *rule = &tables->rule[place->run];
  struct ising_multispin_group group = group_of(ensemble, place);
  int64_t unsatisfied[ISING_LANES];
  if (ising_multispin_counts_bonds(&tables->instance, rule))
    group.unsatisfied = unsatisfied;
  ops_of(ensemble)->sweep(&group, rule, ensemble->time, sweeps);
  group.copied = true;
  measure_as(ensemble, place, &group, channel);
}

static void overlap_group(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cpu_place *place, const void *other, size_t first,
                          int64_t *const overlap[GPUMC_PAIRS_MAXIMUM])
{
  const struct ising_multispin_tables *tables = tables_of(ensemble);
  const struct ising_multispin_group group = group_of(ensemble, place);
  const int64_t sites = (int64_t)ensemble->model->sites;
  const int64_t bonds = (int64_t)tables->instance.lattice.dimension * sites;
  const bool waves = overlap[ISING_PAIR_WAVE] != NULL;
  struct ising_multispin_sums sums;
  ops_of(ensemble)->measure(&group, other, waves ? &tables->waves : NULL, &sums);
  for (size_t lane = 0; lane < place->count; lane++) {
    if (overlap[ISING_PAIR_SPIN] != NULL)
      overlap[ISING_PAIR_SPIN][first + lane] = sites - 2 * sums.up[lane];
    if (overlap[ISING_PAIR_LINK] != NULL)
      overlap[ISING_PAIR_LINK][first + lane] = bonds - 2 * sums.unsatisfied[lane];
    if (waves)
      overlap[ISING_PAIR_WAVE][first + lane] = wave_of(&tables->waves, &sums, lane);
  }
}

/* Lists the replicas of a group that are copied; returns how many. parent: of the run. */
static size_t copies_of(const struct lattice_cpu_storage *storage, const uint32_t *parent,
                        const struct lattice_cpu_place *place, struct ising_multispin_copy *copy)
{
  size_t n = 0;
  for (size_t lane = 0; lane < place->count; lane++) {
    const size_t from = parent[place->first + lane];
    if (from == place->first + lane)
      continue;
    copy[n].source = lattice_cpu_block(storage, place->run, from / ISING_LANES);
    copy[n].rotation = (uint32_t)(lane - from) % ISING_LANES;
    copy[n++].lane = (uint32_t)lane;
  }
  return n;
}

static void gather_group(const struct gpumc_ensemble *ensemble,
                         const struct lattice_cpu_place *place, const uint32_t *parent, void *to)
{
  struct ising_multispin_copy copy[ISING_LANES];
  const size_t n = copies_of(ensemble->storage, parent, place, copy);
  ops_of(ensemble)->gather(to, place->data, ensemble->model->sites, copy, n);
}

static void
exchange_groups(const struct gpumc_ensemble *ensemble, void *one, void *other, uint32_t lanes)
{
  ops_of(ensemble)->exchange(one, other, ensemble->model->sites, lanes);
}

static void exchange_group(const struct gpumc_ensemble *ensemble,
                           const struct lattice_cpu_place *place, void *other,
                           const struct gpumc_cluster_exchange *with,
                           struct gpumc_cluster_counts *counts)
{
  const struct ising_multispin_group group = group_of(ensemble, place);
  const double beta = ising_controls_of(with->control, place->run)[ISING_BETA];
  const double coupling = tables_of(ensemble)->coupling;
  const struct ising_multispin_pair pair = {
      .group = &group,
      .other = other,
      .lanes = UINT32_MAX >> (ISING_LANES - place->count),
      .rule = with->rule,
      .threshold = ising_exchange_threshold(beta, coupling),
      .like = beta * coupling > 0.0 ? UINT32_MAX : 0,
      .random = gpumc_ensemble_random(ensemble, place->run),
      .time = with->time,
  };
  ops_of(ensemble)->exchange_clusters(&pair, counts);
}

/* A block is a group, words[position]. */
static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites * sizeof(uint32_t);
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t more = plan->clusters ? ising_multispin_exchange_scratch(lattice) : 0;
  return sizeof(uint32_t) * (ising_multispin_scratch(lattice) + more);
}

static enum gpumc_status create_tables(const struct gpumc_model *model,
                                       const struct gpumc_ensemble_plan *plan, void *own,
                                       struct gpumc_error *error)
{
  return ising_multispin_tables_create(model, plan, own, error);
}

static void free_tables(void *own)
{
  ising_multispin_tables_free(own);
}

static const struct lattice_cpu_layout layout = {
    .replicas = ISING_LANES,
    .buffers = 2,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct ising_multispin_tables),
    .own_bytes = ising_multispin_tables_bytes,
    .own_create = create_tables,
    .own_free = free_tables,
    .set = set_group,
    .get = get_group,
    .gather = gather_group,
    .exchange = exchange_groups,
    .start = randomize_group,
    .set_rules = set_rules,
    .sweep = sweep_group,
    .measure = measure_group,
    .sweep_and_measure = sweep_and_measure_group,
    .compare = overlap_group,
    .exchange_clusters = exchange_group,
};

static_assert((int)ISING_LANES <= (int)LATTICE_CPU_BLOCK, "a group is a block");

LATTICE_CPU_BYTES_AND_CREATE(layout)

const struct gpumc_kernel_ops ising_multispin_cpu = {
    LATTICE_CPU_OPERATIONS,
    ISING_MULTISPIN_NAMES,
    .refuses = ising_multispin_cpu_refuses,
    .summary = "one bit per spin, 32 replicas per word, bit-serial comparison",
    .takes = ISING_MULTISPIN_TAKES ISING_TAKES_ON_CPUS,
    .bytes = bytes,
    .create = create,
    .compare = lattice_cpu_compare,
    .exchange_clusters = lattice_cpu_exchange_clusters,
};
