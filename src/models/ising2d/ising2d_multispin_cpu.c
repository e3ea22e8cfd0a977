/* The multispin kernel on the CPU: groups of 32 replicas, one bit each, threads over groups.
 *
 * There are two buffers of words. `gather` reads the one and writes the other, so that no thread
 * reads a word that another one writes; everything else works in place. */
#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_multispin.h"
#include "models/lattice/bit_matrix.h"

/* words[group][position], spare the same; scratch[thread][scratch_words]. */
struct storage {
  const struct ising2d_multispin_ops *ops;
  uint32_t *words, *spare, *scratch;
  size_t scratch_words;
  int threads;
};

static const struct ising2d_multispin_ops *ops_for(enum gpumc_isa isa)
{
#ifdef GPUMC_ISA_X86_64
  if (isa == GPUMC_ISA_LEVEL_V4)
    return &ising2d_multispin_v4;
  return isa == GPUMC_ISA_LEVEL_V3 ? &ising2d_multispin_v3 : &ising2d_multispin_v2;
#else
  (void)isa;
  return &ising2d_multispin_portable;
#endif
}

static size_t groups_of(size_t replicas)
{
  return (replicas + ISING2D_LANES - 1) / ISING2D_LANES;
}

/* A multiple of 16 words, so that every thread's scratch is aligned. */
static size_t scratch_words(const struct gpumc_model *model)
{
  return (ising2d_multispin_scratch(&ising2d_parameters(model)->lattice) + 15) / 16 * 16;
}

static size_t bytes(const struct gpumc_model *model, size_t capacity, int threads)
{
  return sizeof(uint32_t) * (2 * groups_of(capacity) * model->sites +
                             (size_t)(threads < 1 ? 1 : threads) * scratch_words(model));
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  free(storage->words);
  free(storage->spare);
  free(storage->scratch);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage;
  enum gpumc_status status = gpumc_allocate_array(&storage, 1, "an ensemble", error);
  if (status != GPUMC_OK)
    return status;
  const size_t groups = groups_of(ensemble->capacity), sites = ensemble->model->sites;
  ensemble->storage = storage;
  storage->ops = ops_for(ensemble->device->isa);
  storage->threads = ensemble->device->threads < 1 ? 1 : ensemble->device->threads;
  storage->scratch_words = scratch_words(ensemble->model);
  status =
      gpumc_allocate(groups, sites * sizeof(uint32_t), "replicas", (void **)&storage->words, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate(groups, sites * sizeof(uint32_t), "copies of replicas",
                            (void **)&storage->spare, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate((size_t)storage->threads, storage->scratch_words * sizeof(uint32_t),
                            "scratch of the threads", (void **)&storage->scratch, error);
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct gpumc_random random = gpumc_ensemble_random(ensemble);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = ensemble->model->sites, groups = groups_of(ensemble->size);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++)
    for (size_t w = 0; w < sites; w += 4)
      gpumc_random_draw(random, (uint32_t)(w >> 2), (uint32_t)group, 0, label,
                        storage->words + group * sites + w);
  return GPUMC_OK;
}

/* Where the sites i .. i+31, in site order, stand in a group; returns how many there are. */
static size_t positions(const struct gpumc_checkerboard *lattice, size_t i, size_t position[32])
{
  const size_t sites = 2 * lattice->colour, n = sites - i < 32 ? sites - i : 32;
  for (size_t j = 0; j < n; j++)
    position[j] = gpumc_checkerboard_position(lattice, (i + j) % lattice->length_x,
                                              (i + j) / lattice->length_x);
  return n;
}

/* The lanes of a group that belong to the replicas first .. first+count-1. */
static uint32_t lanes_within(size_t group, size_t first, size_t count)
{
  uint32_t lanes = 0;
  for (size_t lane = 0; lane < ISING2D_LANES; lane++) {
    size_t replica = group * ISING2D_LANES + lane;
    lanes |= (uint32_t)(replica >= first && replica < first + count) << lane;
  }
  return lanes;
}

/* portable[lane] is the first byte of lane's replica, for the lanes named. */
static void set_group(const struct gpumc_model *model, uint32_t *words, uint32_t lanes,
                      const uint8_t *const portable[ISING2D_LANES])
{
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; (lanes >> lane & 1) != 0 && b < (n + 7) / 8; b++)
        row[lane] |= (uint32_t)portable[lane][i / 8 + b] << 8 * b;
    gpumc_bit_transpose(row);
    for (size_t j = 0; j < n; j++)
      words[position[j]] = (words[position[j]] & ~lanes) | (row[j] & lanes);
  }
}

static void get_group(const struct gpumc_model *model, const uint32_t *words, uint32_t lanes,
                      uint8_t *const portable[ISING2D_LANES])
{
  for (size_t i = 0; i < model->sites; i += 32) {
    size_t position[32];
    uint32_t row[32] = {0};
    const size_t n = positions(&ising2d_parameters(model)->lattice, i, position);
    for (size_t j = 0; j < n; j++)
      row[j] = words[position[j]];
    gpumc_bit_transpose(row);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      for (size_t b = 0; (lanes >> lane & 1) != 0 && b < (n + 7) / 8; b++)
        portable[lane][i / 8 + b] = (uint8_t)(row[lane] >> 8 * b);
  }
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  assert(first + count <= ensemble->capacity);
  struct storage *storage = ensemble->storage;
  const struct gpumc_model *model = ensemble->model;
  const size_t end = groups_of(first + count);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t group = first / ISING2D_LANES; group < end; group++) {
    const uint8_t *of_lane[ISING2D_LANES] = {NULL};
    const uint32_t lanes = lanes_within(group, first, count);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      if ((lanes >> lane & 1) != 0)
        of_lane[lane] = portable + (group * ISING2D_LANES + lane - first) * model->portable_bytes;
    set_group(model, storage->words + group * model->sites, lanes, of_lane);
  }
  return GPUMC_OK;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  assert(first + count <= ensemble->capacity);
  const struct storage *storage = ensemble->storage;
  const struct gpumc_model *model = ensemble->model;
  const size_t end = groups_of(first + count);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t group = first / ISING2D_LANES; group < end; group++) {
    uint8_t *of_lane[ISING2D_LANES] = {NULL};
    const uint32_t lanes = lanes_within(group, first, count);
    for (size_t lane = 0; lane < ISING2D_LANES; lane++)
      if ((lanes >> lane & 1) != 0)
        of_lane[lane] = portable + (group * ISING2D_LANES + lane - first) * model->portable_bytes;
    get_group(model, storage->words + group * model->sites, lanes, of_lane);
  }
  return GPUMC_OK;
}

static enum gpumc_status
sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_multispin_rule rule =
      ising2d_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble), beta,
                             parameters->coupling, parameters->field);
  const size_t groups = groups_of(ensemble->size), sites = ensemble->model->sites;
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++)
    storage->ops->sweep(&rule, storage->words + group * sites, (uint32_t)group, ensemble->time,
                        sweeps,
                        storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_words);
  return GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  struct storage *storage = ensemble->storage;
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const size_t groups = groups_of(ensemble->size), sites = ensemble->model->sites;
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++) {
    struct ising2d_multispin_sums sums;
    storage->ops->measure(&parameters->lattice, storage->words + group * sites,
                          storage->scratch + (size_t)omp_get_thread_num() * storage->scratch_words,
                          &sums);
    const size_t first = group * ISING2D_LANES;
    for (size_t lane = 0; lane < ISING2D_LANES && first + lane < ensemble->size; lane++) {
      const int64_t spins = 2 * sums.up[lane] - (int64_t)sites;
      const int64_t bonds = 2 * ((int64_t)sites - sums.unsatisfied[lane]);
      if (channel[ISING2D_ENERGY] != NULL)
        channel[ISING2D_ENERGY][first + lane] =
            ising2d_energy(parameters->coupling_quanta, parameters->field_quanta, bonds, spins);
      if (channel[ISING2D_MAGNETIZATION] != NULL)
        channel[ISING2D_MAGNETIZATION][first + lane] = spins;
    }
  }
  return GPUMC_OK;
}

/* The replicas of a group that are copied; returns how many. */
static size_t copies_of(const struct storage *storage, size_t sites, const uint32_t *parent,
                        size_t group, size_t size, struct ising2d_multispin_copy *copy)
{
  size_t n = 0;
  const size_t first = group * ISING2D_LANES;
  for (size_t lane = 0; lane < ISING2D_LANES && first + lane < size; lane++) {
    const size_t from = parent[first + lane];
    if (from == first + lane)
      continue;
    copy[n].source = storage->words + from / ISING2D_LANES * sites;
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
  struct storage *storage = ensemble->storage;
  const size_t sites = ensemble->model->sites, groups = groups_of(new_size);
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t group = 0; group < groups; group++) {
    struct ising2d_multispin_copy copy[ISING2D_LANES];
    const size_t n = copies_of(storage, sites, parent, group, new_size, copy);
    storage->ops->gather(storage->spare + group * sites, storage->words + group * sites, sites,
                         copy, n);
  }
  uint32_t *gathered = storage->spare;
  storage->spare = storage->words;
  storage->words = gathered;
  ensemble->size = new_size;
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising2d_multispin_cpu = {
    .device = "cpu",
    .variant = "multispin",
    .summary = "one bit a spin, 32 replicas a word, bit-serial Metropolis",
    .trajectory = "ising2d.multispin.1",
    .capabilities = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE |
                    GPUMC_CAN_GATHER,
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .randomize = randomize,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .gather = gather,
};
