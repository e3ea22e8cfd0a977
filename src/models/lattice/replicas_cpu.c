/* Replicas of a lattice model in the memory of the CPU, and operations on blocks of them. */
#include "models/lattice/replicas_cpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum {
  CACHE_LINE = 64,
  PART_BYTES = 1 << 18,    /* of small replicas copied by a thread at a time */
  PART_MEASURED = 1 << 13, /* measured at a time */
  PART_GATHERED = 8,       /* blocks of several replicas copied or exchanged at a time */
  PART_REPLICAS = 8,       /* swept at a time, or a block of more; */
  PART_SWEPT = 1 << 15,    /* fewer if fewer have this many bytes */
  PART_BLOCKS = 8,         /* or this many with the same samples, in parts of which a thread has */
  PARTS_A_THREAD = 64,     /* this many */
};

static int at_least_one(int threads)
{
  return threads < 1 ? 1 : threads;
}

static size_t scratch_bytes(const struct lattice_cpu_layout *layout,
                            const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t bytes = layout->scratch_bytes != NULL ? layout->scratch_bytes(model, plan) : 0;
  return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t block_bytes(const struct lattice_cpu_layout *layout, const struct gpumc_model *model,
                          const struct gpumc_ensemble_plan *plan)
{
  return layout->block_bytes != NULL ? layout->block_bytes(model, plan) : model->portable_bytes;
}

/* Returns how many threads have scratch. */
static size_t scratch_threads(const struct lattice_cpu_layout *layout,
                              const struct gpumc_device *device,
                              const struct gpumc_ensemble_plan *plan)
{
  const size_t threads = (size_t)at_least_one(device->threads),
               blocks = plan->runs * lattice_cpu_blocks(layout, plan->capacity);
  return layout->scratch_of_places && blocks < threads ? blocks : threads;
}

size_t lattice_cpu_bytes(const struct lattice_cpu_layout *layout, const struct gpumc_model *model,
                         const struct gpumc_device *device, const struct gpumc_ensemble_plan *plan)
{
  return layout->buffers * plan->runs * lattice_cpu_blocks(layout, plan->capacity) *
             block_bytes(layout, model, plan) +
         scratch_threads(layout, device, plan) * scratch_bytes(layout, model, plan) +
         (layout->own_size > 0 ? layout->own_bytes(model, plan) : 0);
}

void lattice_cpu_destroy(struct gpumc_ensemble *ensemble)
{
  struct lattice_cpu_storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  if (storage->own != NULL)
    storage->layout->own_free(storage->own);
  free(storage->own);
  free(storage->blocks);
  free(storage->spare);
  free(storage->scratch);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status allocate(const struct gpumc_ensemble *ensemble,
                                  struct lattice_cpu_storage *storage, struct gpumc_error *error)
{
  const struct lattice_cpu_layout *layout = storage->layout;
  const size_t blocks = ensemble->plan.runs * storage->run_blocks;
  GPUMC_TRY(gpumc_allocate(blocks, storage->block_bytes, "replicas", &storage->blocks, error));
  if (layout->buffers == 2)
    GPUMC_TRY(
        gpumc_allocate(blocks, storage->block_bytes, "copies of replicas", &storage->spare, error));
  GPUMC_TRY(gpumc_allocate(scratch_threads(layout, ensemble->device, &ensemble->plan),
                           storage->scratch_bytes, "scratch of the threads", &storage->scratch,
                           error));
  if (layout->own_size == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate(1, layout->own_size, "tables of the kernel", &storage->own, error));
  return layout->own_create(ensemble->model, &ensemble->plan, storage->own, error);
}

enum gpumc_status lattice_cpu_create(const struct lattice_cpu_layout *layout,
                                     struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  struct lattice_cpu_storage *storage;
  if (layout->check != NULL)
    GPUMC_TRY(layout->check(ensemble, error));
  GPUMC_TRY(gpumc_allocate_array(&storage, 1, "an ensemble", error));
  ensemble->storage = storage;
  storage->layout = layout;
  storage->run_blocks = lattice_cpu_blocks(layout, plan->capacity);
  storage->isa = ensemble->device->isa;
  storage->threads = at_least_one(ensemble->device->threads);
  storage->block_bytes = block_bytes(layout, ensemble->model, plan);
  storage->scratch_bytes = scratch_bytes(layout, ensemble->model, plan);
  const enum gpumc_status status = allocate(ensemble, storage, error);
  if (status != GPUMC_OK)
    lattice_cpu_destroy(ensemble);
  return status;
}

/* Copies replicas of block `block` of run m, from `from` into it or from it to `to`, [lane] as in
 * struct lattice_cpu_layout; the other is NULL. */
static void pass_block(const struct gpumc_ensemble *ensemble, size_t m, size_t block,
                       const uint8_t *const *from, uint8_t *const *to)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct lattice_cpu_layout *layout = storage->layout;
  const struct gpumc_model *model = ensemble->model;
  void *data = lattice_cpu_block(storage, m, block);
  if (layout->block_bytes == NULL)
    memcpy(from != NULL ? data : to[0], from != NULL ? from[0] : data, model->portable_bytes);
  else if (from != NULL)
    layout->set(model, data, from);
  else
    layout->get(model, data, to);
}

/* Copies from `in` to the replicas first .. first+count-1 of run m, or from them to `out`; the
 * other is NULL. */
static void transfer(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                     const uint8_t *in, uint8_t *out)
{
  assert(first + count <= ensemble->plan.capacity);
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct lattice_cpu_layout *layout = storage->layout;
  const struct gpumc_model *model = ensemble->model;
  const size_t end = lattice_cpu_blocks(layout, first + count);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t block = first / layout->replicas; block < end; block++) {
    const uint8_t *from[LATTICE_CPU_BLOCK];
    uint8_t *to[LATTICE_CPU_BLOCK];
    for (size_t lane = 0; lane < layout->replicas; lane++) {
      const size_t replica = block * layout->replicas + lane;
      const int within = replica >= first && replica < first + count;
      const size_t offset = within ? (replica - first) * model->portable_bytes : 0;
      from[lane] = within && in != NULL ? in + offset : NULL;
      to[lane] = within && out != NULL ? out + offset : NULL;
    }
    pass_block(ensemble, m, block, in != NULL ? from : NULL, out != NULL ? to : NULL);
  }
}

enum gpumc_status lattice_cpu_set(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  transfer(ensemble, m, first, count, portable, NULL);
  return GPUMC_OK;
}

enum gpumc_status lattice_cpu_get(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, uint8_t *portable, struct gpumc_error *error)
{
  (void)error;
  transfer(ensemble, m, first, count, NULL, portable);
  return GPUMC_OK;
}

/* Handles the entries of a list that share a block with the first of them, slot[0]. */
static void pass_listed(const struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot,
                        size_t count, const uint8_t *in, uint8_t *out)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t replicas = storage->layout->replicas, block = slot[0] / replicas;
  const size_t bytes = ensemble->model->portable_bytes;
  const uint8_t *from[LATTICE_CPU_BLOCK] = {NULL};
  uint8_t *to[LATTICE_CPU_BLOCK] = {NULL};
  size_t n = 0;
  for (; n < count && slot[n] / replicas == block; n++) {
    const size_t lane = slot[n] % replicas;
    assert(slot[n] < ensemble->plan.capacity && (n == 0 || slot[n] >= slot[n - 1]));
    if (in != NULL)
      from[lane] = in + n * bytes;
    else if (to[lane] == NULL)
      to[lane] = out + n * bytes;
  }
  pass_block(ensemble, m, block, in != NULL ? from : NULL, out != NULL ? to : NULL);
  for (size_t i = 1; i < n && out != NULL; i++)
    if (slot[i] == slot[i - 1])
      memcpy(out + i * bytes, out + (i - 1) * bytes, bytes);
}

/* A thread handles all entries of a block, since they share words. */
static void pass_list(const struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot,
                      size_t count, const uint8_t *in, uint8_t *out)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t replicas = storage->layout->replicas, bytes = ensemble->model->portable_bytes;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < count; i++)
    if (i == 0 || slot[i] / replicas != slot[i - 1] / replicas)
      pass_listed(ensemble, m, slot + i, count - i, in != NULL ? in + i * bytes : NULL,
                  out != NULL ? out + i * bytes : NULL);
}

enum gpumc_status lattice_cpu_set_list(struct gpumc_ensemble *ensemble, size_t m,
                                       const uint32_t *slot, size_t count, const uint8_t *states,
                                       struct gpumc_error *error)
{
  (void)error;
  pass_list(ensemble, m, slot, count, states, NULL);
  return GPUMC_OK;
}

enum gpumc_status lattice_cpu_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                       const uint32_t *slot, size_t count, uint8_t *states,
                                       struct gpumc_error *error)
{
  (void)error;
  pass_list(ensemble, m, slot, count, NULL, states);
  return GPUMC_OK;
}

enum gpumc_status lattice_cpu_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count > 0)
      storage->layout->start(ensemble, &place);
  }
  return GPUMC_OK;
}

/* Returns the blocks per part of a thread, about this many bytes: one that is large, many that are
 * small. */
static int part_blocks(const struct lattice_cpu_storage *storage, size_t bytes)
{
  return 1 + (int)(bytes / (storage->block_bytes + 1));
}

/* Returns no more threads than get a part: the others would only be waited for. */
static int busy_threads(const struct lattice_cpu_storage *storage, size_t places, int part)
{
  const size_t parts = (places + (size_t)part - 1) / (size_t)part;
  return at_least_one(parts < (size_t)storage->threads ? (int)parts : storage->threads);
}

/* Returns the blocks that a thread sweeps at a time. If neighbours in the order of work share
 * couplings, a few more, as long as every thread gets many parts. */
static int swept_blocks(const struct gpumc_ensemble *ensemble, size_t places)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const int replicas = (int)lattice_cpu_blocks(storage->layout, PART_REPLICAS),
            bytes = part_blocks(storage, PART_SWEPT), least = replicas < bytes ? replicas : bytes;
  const size_t parts = places / (PARTS_A_THREAD * (size_t)storage->threads);
  const int part = parts < PART_BLOCKS ? (int)parts : PART_BLOCKS;
  return ensemble->plan.samples > 1 && part > least ? part : least;
}

static void
sweep_place(struct gpumc_ensemble *ensemble, size_t i, uint32_t sweeps, int64_t *const *channel)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct lattice_cpu_layout *layout = storage->layout;
  const struct lattice_cpu_place place = lattice_cpu_next_place(ensemble, 0, ensemble->runs, i);
  if (place.count == 0)
    return;
  if (channel != NULL && sweeps > 0 && layout->sweep_and_measure != NULL) {
    layout->sweep_and_measure(ensemble, &place, sweeps, channel);
    return;
  }
  if (sweeps > 0)
    layout->sweep(ensemble, &place, sweeps);
  if (channel != NULL)
    layout->measure(ensemble, &place, channel);
}

/* Gathering a team of threads, even of one, takes a microsecond: as long as a small lattice. */
enum gpumc_status lattice_cpu_sweep(struct gpumc_ensemble *ensemble,
                                    const struct gpumc_target *target, uint32_t sweeps,
                                    int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct lattice_cpu_layout *layout = storage->layout;
  const size_t places = lattice_cpu_places(ensemble);
  const int part = swept_blocks(ensemble, places), threads = busy_threads(storage, places, part);
  if (sweeps > 0 && layout->set_rules != NULL)
    layout->set_rules(ensemble, target->control);
  if (threads == 1) {
    for (size_t i = 0; i < places; i++)
      sweep_place(ensemble, i, sweeps, channel);
    return GPUMC_OK;
  }
#pragma omp parallel for schedule(dynamic, part) num_threads(threads)
  for (size_t i = 0; i < places; i++)
    sweep_place(ensemble, i, sweeps, channel);
  return GPUMC_OK;
}

enum gpumc_status lattice_cpu_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                      struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
  const int part = part_blocks(storage, PART_MEASURED);
#pragma omp parallel for schedule(dynamic, part) num_threads(busy_threads(storage, places, part))
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count > 0)
      storage->layout->measure(ensemble, &place, channel);
  }
  return GPUMC_OK;
}

enum gpumc_status lattice_cpu_compare(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                      size_t runs, int64_t *const pair[GPUMC_PAIRS_MAXIMUM],
                                      struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = runs * storage->run_blocks;
  const int part = part_blocks(storage, PART_MEASURED);
#pragma omp parallel for schedule(dynamic, part) num_threads(busy_threads(storage, places, part))
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_next_place(ensemble, first, runs, i);
    const size_t run = place.run - first;
    if (place.count > 0)
      storage->layout->compare(ensemble, &place,
                               lattice_cpu_block(storage, second + run, place.block),
                               run * ensemble->plan.capacity + place.first, pair);
  }
  return GPUMC_OK;
}

/* For blocks of one replica, in place: parents stay in place, so no replica is both read and
 * written. */
static void copy_blocks(const struct gpumc_ensemble *ensemble, const uint32_t *parent)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, part_blocks(storage, PART_BYTES))                       \
    num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    const size_t from = parent[place.run * ensemble->plan.capacity + place.first];
    if (place.count > 0 && from != place.first)
      memcpy(place.data, lattice_cpu_block(storage, place.run, from), storage->block_bytes);
  }
}

/* Copies from one buffer to the other, so that no thread reads what another one writes. */
static void gather_blocks(const struct gpumc_ensemble *ensemble, const uint32_t *parent)
{
  struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = lattice_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic, PART_GATHERED) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count > 0)
      storage->layout->gather(ensemble, &place, parent + place.run * ensemble->plan.capacity,
                              (unsigned char *)storage->spare + i * storage->block_bytes);
  }
  void *const gathered = storage->spare;
  storage->spare = storage->blocks;
  storage->blocks = gathered;
}

enum gpumc_status lattice_cpu_gather(struct gpumc_ensemble *ensemble, const uint32_t *parent,
                                     struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  if (storage->layout->replicas == 1)
    copy_blocks(ensemble, parent);
  else
    gather_blocks(ensemble, parent);
  return GPUMC_OK;
}

static void exchange_bytes(unsigned char *restrict a, unsigned char *restrict b, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const unsigned char byte = a[i];
    a[i] = b[i];
    b[i] = byte;
  }
}

/* For blocks of one replica. A replica takes part in at most one exchange, so threads do not
 * collide. */
static void exchange_blocks(const struct gpumc_ensemble *ensemble, const uint32_t *swap)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t words = gpumc_swap_words(ensemble->plan.capacity);
  const size_t places = ensemble->runs > 0 ? (ensemble->runs - 1) * storage->run_blocks : 0;
#pragma omp parallel for schedule(dynamic, part_blocks(storage, PART_BYTES))                       \
    num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const size_t run = i / storage->run_blocks, replica = i % storage->run_blocks;
    if ((swap[run * words + replica / 32] >> replica % 32 & 1) != 0)
      exchange_bytes(lattice_cpu_block(storage, run, replica),
                     lattice_cpu_block(storage, run + 1, replica), storage->block_bytes);
  }
}

/* First the pairs of runs that begin with an even one, then the others: no two pairs of a pass
 * share a run, so threads do not collide. */
static void exchange_lanes(const struct gpumc_ensemble *ensemble, const uint32_t *swap)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t words = gpumc_swap_words(ensemble->plan.capacity), blocks = storage->run_blocks;
  const size_t replicas = storage->layout->replicas;
  const uint32_t all = UINT32_MAX >> (32 - replicas);
  for (size_t parity = 0; parity < 2; parity++) {
    const size_t pairs = ensemble->runs > parity ? (ensemble->runs - parity) / 2 : 0;
#pragma omp parallel for schedule(dynamic, PART_GATHERED) num_threads(storage->threads)
    for (size_t i = 0; i < pairs * blocks; i++) {
      const size_t run = 2 * (i / blocks) + parity, block = i % blocks, first = block * replicas;
      const uint32_t lanes = swap[run * words + first / 32] >> first % 32 & all;
      if (lanes != 0)
        storage->layout->exchange(ensemble, lattice_cpu_block(storage, run, block),
                                  lattice_cpu_block(storage, run + 1, block), lanes);
    }
  }
}

enum gpumc_status lattice_cpu_exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap,
                                       struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  if (storage->layout->replicas == 1)
    exchange_blocks(ensemble, swap);
  else
    exchange_lanes(ensemble, swap);
  return GPUMC_OK;
}

static void add_counts(const struct gpumc_cluster_counts *own, struct gpumc_cluster_counts *counts)
{
#pragma omp atomic
  counts->exchanges += own->exchanges;
#pragma omp atomic
  counts->differing += own->differing;
#pragma omp atomic
  counts->exchanged += own->exchanged;
#pragma omp atomic
  counts->shares += own->shares;
}

enum gpumc_status lattice_cpu_exchange_clusters(struct gpumc_ensemble *ensemble,
                                                const struct gpumc_cluster_exchange *with,
                                                struct gpumc_error *error)
{
  (void)error;
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t places = with->runs * storage->run_blocks;
  const int part = part_blocks(storage, PART_MEASURED);
#pragma omp parallel for schedule(dynamic, part) num_threads(busy_threads(storage, places, part))
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place =
        lattice_cpu_next_place(ensemble, with->first, with->runs, i);
    const size_t run = place.run - with->first;
    struct gpumc_cluster_counts counts = {0};
    if (place.count == 0)
      continue;
    storage->layout->exchange_clusters(ensemble, &place,
                                       lattice_cpu_block(storage, with->second + run, place.block),
                                       with, &counts);
    add_counts(&counts, &with->counts[run]);
  }
  return GPUMC_OK;
}
