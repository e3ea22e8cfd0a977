/* The multispin kernel on the CPU: groups of 32 replicas, one bit each, threads over groups.
 *
 * There are two buffers of words. `gather` reads the one and writes the other, so that no thread
 * reads a word that another one writes; everything else works in place. */
#include <assert.h>

#include "models/ising2d/ising2d_cpu.h"
#include "models/ising2d/ising2d_multispin.h"
#include "models/lattice/bit_matrix.h"

/* Where the sites i .. i+31, in site order, stand in a group; returns how many there are. */
static size_t positions(const struct gpumc_checkerboard *lattice, size_t i, size_t position[32])
{
  const size_t sites = 2 * lattice->colour, n = sites - i < 32 ? sites - i : 32;
  for (size_t j = 0; j < n; j++)
    position[j] = gpumc_checkerboard_position(lattice, (i + j) % lattice->length_x,
                                              (i + j) / lattice->length_x);
  return n;
}

static void set_group(const struct gpumc_model *model, void *block,
                      const uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  uint32_t *words = block, lanes = 0;
  for (size_t lane = 0; lane < ISING2D_LANES; lane++)
    lanes |= (uint32_t)(portable[lane] != NULL) << lane;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        row[lane] |= (uint32_t)portable[lane][i / 8 + b] << 8 * b;
    gpumc_bit_transpose(row);
    for (size_t j = 0; j < n; j++)
      words[position[j]] = (words[position[j]] & ~lanes) | (row[j] & lanes);
  }
}

static void get_group(const struct gpumc_model *model, const void *block,
                      uint8_t *const portable[ISING2D_CPU_BLOCK])
{
  const uint32_t *words = block;
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t j = 0; j < n; j++)
      row[j] = words[position[j]];
    gpumc_bit_transpose(row);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; portable[lane] != NULL && b < (n + 7) / 8; b++)
        portable[lane][i / 8 + b] = (uint8_t)(row[lane] >> 8 * b);
  }
}

static size_t scratch_bytes(const struct gpumc_checkerboard *lattice)
{
  return sizeof(uint32_t) * ising2d_multispin_scratch(lattice);
}

/* A block is a group, words[position]. */
static const struct ising2d_cpu_layout layout = {
    .replicas = ISING2D_LANES,
    .site_bytes = sizeof(uint32_t),
    .buffers = 2,
    .scratch_bytes = scratch_bytes,
    .set = set_group,
    .get = get_group,
};

static_assert((int)ISING2D_LANES <= (int)ISING2D_CPU_BLOCK, "a group is a block");

static size_t bytes(const struct gpumc_model *model, size_t capacity, int threads)
{
  return ising2d_cpu_bytes(&layout, model, capacity, threads);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ising2d_cpu_create(&layout, ensemble, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites, groups = ising2d_cpu_blocks(&layout, ensemble->size);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++) {
    uint32_t *words = ising2d_cpu_block(storage, group);
    for (size_t w = 0; w < sites; w += 4)
      gpumc_random_draw(random, (uint32_t)(w >> 2), (uint32_t)group, 0, label, words + w);
  }
  return GPUMC_OK;
}

static enum gpumc_status
sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_multispin_rule rule =
      ising2d_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble), beta,
                             parameters->coupling, parameters->field);
  const size_t groups = ising2d_cpu_blocks(&layout, ensemble->size);
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++)
    ops->sweep(&rule, ising2d_cpu_block(storage, group), (uint32_t)group, ensemble->time, sweeps,
               ising2d_cpu_scratch(storage));
  return GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const size_t groups = ising2d_cpu_blocks(&layout, ensemble->size);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++) {
    struct ising2d_multispin_sums sums;
    ops->measure(&parameters->lattice, ising2d_cpu_block(storage, group),
                 ising2d_cpu_scratch(storage), &sums);
    const size_t first = group * ISING2D_LANES;
    for (size_t lane = 0; lane < ISING2D_LANES && first + lane < ensemble->size; lane++)
      ising2d_cpu_record(ensemble->model, channel, first + lane, sums.up[lane],
                         sums.unsatisfied[lane]);
  }
  return GPUMC_OK;
}

/* The replicas of a group that are copied; returns how many. */
static size_t copies_of(const struct ising2d_cpu_storage *storage, const uint32_t *parent,
                        size_t group, size_t size, struct ising2d_multispin_copy *copy)
{
  size_t n = 0;
  const size_t first = group * ISING2D_LANES;
  for (size_t lane = 0; lane < ISING2D_LANES && first + lane < size; lane++) {
    const size_t from = parent[first + lane];
    if (from == first + lane)
      continue;
    copy[n].source = ising2d_cpu_block(storage, from / ISING2D_LANES);
    copy[n].rotation = (uint32_t)(lane - from) % ISING2D_LANES;
    copy[n++].lane = (uint32_t)lane;
  }
  return n;
}

static enum gpumc_status gather(struct gpumc_ensemble *ensemble, const uint32_t *parent,
                                size_t new_size, struct gpumc_error *error)
{
  (void)error;
  assert(new_size <= ensemble->capacity);
  struct ising2d_cpu_storage *storage = ensemble->storage;
  const struct ising2d_multispin_ops *ops = ISING2D_CPU_OPS(ising2d_multispin, storage->isa);
  const size_t sites = ensemble->model->sites, groups = ising2d_cpu_blocks(&layout, new_size);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++) {
    struct ising2d_multispin_copy copy[ISING2D_LANES];
    const size_t n = copies_of(storage, parent, group, new_size, copy);
    ops->gather((uint32_t *)storage->spare + group * sites, ising2d_cpu_block(storage, group),
                sites, copy, n);
  }
  void *gathered = storage->spare;
  storage->spare = storage->blocks;
  storage->blocks = gathered;
  ensemble->size = new_size;
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising2d_multispin_cpu = {
    .device = "cpu",
    .variant = "multispin",
    .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis",
    .trajectory = "ising2d.multispin.1",
    .capabilities = ISING2D_CPU_CAPABILITIES,
    .bytes = bytes,
    .create = create,
    .destroy = ising2d_cpu_destroy,
    .randomize = randomize,
    .set = ising2d_cpu_set,
    .get = ising2d_cpu_get,
    .sweep = sweep,
    .measure = measure,
    .gather = gather,
};
