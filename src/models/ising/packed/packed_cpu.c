/* The packed kernel on the CPU: one bit a spin, threads over the rows of all replicas. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "models/ising/ising_cpu.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/ising/packed/packed.h"
#include "models/lattice/bit_interleave.h"

/* ising_cpu_storage.own. counts[plan.runs][plan.capacity] */
struct own {
  struct ising_multispin_tables tables;
  struct gpumc_checkerboard lattice; /* in words */
  struct ising_packed_counts *counts;
};

const char *ising_packed_refuses(const struct gpumc_model *model)
{
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  if (ising_parameters(model)->lattice.length_x % ISING_PACKED_PAIR != 0)
    return "a word holds 32 sites of one colour of a row, so that Lx must be a multiple of 64";
  if (traits.couplings || traits.fields)
    return "the sites of a word share their coupling and field, and there is disorder";
  return NULL;
}

static struct own *own_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

/* In portable form 64 sites in a row are 8 bytes, the least significant bit first. */
static void set_replica(const struct gpumc_model *model, void *block,
                        const uint8_t *const portable[ISING_CPU_BLOCK])
{
  const struct gpumc_checkerboard lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  uint32_t *words = block;
  for (size_t k = 0; k < lattice.colour; k++) {
    const size_t line = k / lattice.row;
    const size_t even = (line % lattice.length_y + line / lattice.length_y) & 1;
    uint64_t sites = 0;
    for (size_t b = 0; b < sizeof sites; b++)
      sites |= (uint64_t)portable[0][k * sizeof sites + b] << 8 * b;
    words[even * lattice.colour + k] = gpumc_bits_even(sites);
    words[(1 - even) * lattice.colour + k] = gpumc_bits_even(sites >> 1);
  }
}

static void get_replica(const struct gpumc_model *model, const void *block,
                        uint8_t *const portable[ISING_CPU_BLOCK])
{
  const struct gpumc_checkerboard lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  const uint32_t *words = block;
  for (size_t k = 0; k < lattice.colour; k++) {
    const size_t line = k / lattice.row;
    const size_t even = (line % lattice.length_y + line / lattice.length_y) & 1;
    const uint64_t sites = gpumc_bits_spread(words[even * lattice.colour + k]) |
                           gpumc_bits_spread(words[(1 - even) * lattice.colour + k]) << 1;
    for (size_t b = 0; b < sizeof sites; b++)
      portable[0][k * sizeof sites + b] = (uint8_t)(sites >> 8 * b);
  }
}

static size_t scratch_bytes(const struct gpumc_checkerboard *of_sites)
{
  const struct gpumc_checkerboard lattice = ising_packed_lattice(of_sites);
  return lattice.row == 0 ? 0
                          : ISING_PACKED_ARRAYS * ising_packed_extent(&lattice) * sizeof(uint32_t);
}

/* A block is one replica, words[2][colour]. */
static const struct ising_cpu_layout layout = {
    .replicas = 1,
    .site_bits = 1,
    .buffers = 1,
    .scratch_bytes = scratch_bytes,
    .set = set_replica,
    .get = get_replica,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return ising_cpu_bytes(&layout, model, device, plan) + sizeof(struct own) +
         plan->runs * plan->capacity * sizeof(struct ising_packed_counts) +
         2 * ising_wave_of(model).length * sizeof(int32_t) +
         plan->runs * sizeof(struct ising_multispin_rule);
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct ising_cpu_storage *storage = ensemble->storage;
  if (storage != NULL && storage->own != NULL) {
    struct own *own = storage->own;
    ising_multispin_tables_free(&own->tables);
    free(own->counts);
    free(own);
  }
  ising_cpu_destroy(ensemble);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const char *refusal = ising_packed_refuses(ensemble->model);
  struct own *own;
  if (refusal != NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "the packed kernel cannot take this: %s", refusal);
  enum gpumc_status status = ising_cpu_create(&layout, ensemble, error);
  if (status != GPUMC_OK)
    return status;
  status = gpumc_allocate_array(&own, 1, "tables of the kernel", error);
  ((struct ising_cpu_storage *)ensemble->storage)->own = own;
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&own->counts, plan->runs * plan->capacity,
                                  "counts of the replicas", error);
  if (status == GPUMC_OK)
    status = ising_multispin_tables_begin(ensemble->model, plan, &own->tables, error);
  if (status == GPUMC_OK)
    own->lattice = ising_packed_lattice(&ising_parameters(ensemble->model)->lattice);
  else
    destroy(ensemble);
  return status;
}

/* Rows of all replicas, shared out: number i of the parts with at most `most` rows each. No rows
 * for a replica that is not in use. */
static struct ising_packed_part
part_of(const struct gpumc_ensemble *ensemble, size_t most, size_t i, struct ising_cpu_place *place)
{
  const struct own *own = own_of(ensemble);
  const size_t lines = ising_packed_lines(&own->lattice), parts = (lines + most - 1) / most;
  struct ising_packed_part part = {.lattice = &own->lattice, .first = i % parts * most};
  *place = ising_cpu_place(ensemble, i / parts);
  part.words = place->data;
  part.replica = (uint32_t)place->first;
  part.lines = lines - part.first < most ? lines - part.first : most;
  part.lines = place->count > 0 ? part.lines : 0;
  part.scratch = ising_cpu_scratch(ensemble->storage);
  return part;
}

static size_t parts_of(const struct gpumc_ensemble *ensemble, size_t most)
{
  const size_t lines = ising_packed_lines(&own_of(ensemble)->lattice);
  return ising_cpu_places(ensemble) * ((lines + most - 1) / most);
}

static const struct ising_packed_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  return ISING_CPU_OPS(ising_packed, storage->isa);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  enum { OUTPUTS = 4, CHUNK = 1 << 12 };
  const struct ising_cpu_storage *storage = ensemble->storage;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t words = 2 * own_of(ensemble)->lattice.colour, chunks = (words + CHUNK - 1) / CHUNK;
  const size_t all = ising_cpu_places(ensemble) * chunks;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < all; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i / chunks);
    const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.run);
    const size_t first = i % chunks * CHUNK, end = first + CHUNK < words ? first + CHUNK : words;
    uint32_t *word = place.data;
    for (size_t w = first; place.count > 0 && w < end; w += OUTPUTS)
      gpumc_random_draw(random, (uint32_t)(w / OUTPUTS), (uint32_t)place.first, 0, label, word + w);
  }
  return GPUMC_OK;
}

/* Threads share what the parts of a replica count. */
static void add_counts(struct ising_packed_counts *to, const struct ising_packed_counts *part)
{
  int64_t *sum = (int64_t *)to;
  const int64_t *term = (const int64_t *)part;
  for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) {
#pragma omp atomic
    sum[i] += term[i];
  }
}

/* Replicas of the runs first + i, or where they differ from those of the runs second + i if these
 * are others; i < runs. */
struct subjects {
  size_t first, second, runs;
};

/* Bonds and spins, or `waves`; to counts[runs][capacity]. */
static void
count_parts(const struct gpumc_ensemble *ensemble, const struct subjects *subjects, bool waves)
{
  const struct own *own = own_of(ensemble);
  const struct ising_cpu_storage *storage = ensemble->storage;
  const struct ising_packed_ops *ops = ops_of(ensemble);
  const size_t most = waves ? ISING_PACKED_WAVE_ROWS : ising_packed_part_lines(&own->lattice);
  const size_t of_run = parts_of(ensemble, most) / ensemble->runs, first = subjects->first;
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < subjects->runs * of_run; i++) {
    struct ising_packed_counts counts = {0};
    struct ising_cpu_place place;
    struct ising_packed_part part = part_of(ensemble, most, first * of_run + i, &place);
    const size_t run = place.run - first;
    if (part.lines == 0)
      continue;
    if (subjects->second != first)
      part.other = ising_cpu_block(storage, subjects->second + run, place.block);
    if (waves)
      ops->wave(&part, &own->tables.waves, &counts);
    else
      ops->count(&part, &counts);
    add_counts(&own->counts[run * ensemble->plan.capacity + place.first], &counts);
  }
}

/* What is wanted of the channels, or of the kinds of overlaps. */
static void count(const struct gpumc_ensemble *ensemble, const struct subjects *subjects,
                  bool bonds, bool waves)
{
  const size_t n = subjects->runs * ensemble->plan.capacity;
  memset(own_of(ensemble)->counts, 0, n * sizeof *own_of(ensemble)->counts);
  if (bonds)
    count_parts(ensemble, subjects, false);
  if (waves)
    count_parts(ensemble, subjects, true);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)error;
  const struct own *own = own_of(ensemble);
  const struct ising_multispin_tables *tables = &own->tables;
  const struct subjects subjects = {.runs = ensemble->runs};
  const int64_t sites = (int64_t)ensemble->model->sites;
  const int64_t bonds = (int64_t)own->lattice.dimension * sites;
  const bool waves = channel[ISING_WAVE] != NULL;
  count(ensemble, &subjects, channel[ISING_ENERGY] != NULL || channel[ISING_MAGNETIZATION] != NULL,
        waves);
  for (size_t i = 0; i < ensemble->runs * ensemble->plan.capacity; i++) {
    const struct ising_packed_counts *counts = &own->counts[i];
    const int64_t spins = 2 * counts->up - sites;
    if (i % ensemble->plan.capacity >= ensemble->size[i / ensemble->plan.capacity])
      continue;
    if (channel[ISING_ENERGY] != NULL)
      channel[ISING_ENERGY][i] = ising_energy(tables->coupling_quanta, tables->field_quanta,
                                              bonds - 2 * counts->unlike, spins);
    if (channel[ISING_MAGNETIZATION] != NULL)
      channel[ISING_MAGNETIZATION][i] = spins;
    if (waves)
      channel[ISING_WAVE][i] = ising_wave_square(&tables->waves.wave, counts->cosine, counts->sine);
  }
  return GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_OVERLAPS],
                                 struct gpumc_error *error)
{
  (void)error;
  const struct own *own = own_of(ensemble);
  const size_t capacity = ensemble->plan.capacity;
  const struct subjects subjects = {first, second, runs};
  const int64_t sites = (int64_t)ensemble->model->sites;
  const bool waves = overlap[GPUMC_OVERLAP_WAVE] != NULL;
  assert(first != second);
  count(ensemble, &subjects,
        overlap[GPUMC_OVERLAP_SPIN] != NULL || overlap[GPUMC_OVERLAP_LINK] != NULL, waves);
  for (size_t i = 0; i < runs * capacity; i++) {
    const struct ising_packed_counts *counts = &own->counts[i];
    if (i % capacity >= ensemble->size[first + i / capacity])
      continue;
    if (overlap[GPUMC_OVERLAP_SPIN] != NULL)
      overlap[GPUMC_OVERLAP_SPIN][i] = sites - 2 * counts->up;
    if (overlap[GPUMC_OVERLAP_LINK] != NULL)
      overlap[GPUMC_OVERLAP_LINK][i] = (int64_t)own->lattice.dimension * sites - 2 * counts->unlike;
    if (waves)
      overlap[GPUMC_OVERLAP_WAVE][i] =
          ising_wave_square(&own->tables.waves.wave, counts->cosine, counts->sine);
  }
  return GPUMC_OK;
}

/* Every colour is done everywhere before the other one begins. */
static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising_cpu_storage *storage = ensemble->storage;
  struct own *own = own_of(ensemble);
  const struct ising_packed_ops *ops = ops_of(ensemble);
  const size_t most = ising_packed_part_lines(&own->lattice), parts = parts_of(ensemble, most);
  if (sweeps > 0)
    ising_multispin_set_rules(ensemble, &own->tables, beta);
#pragma omp parallel num_threads(storage->threads)
  for (uint32_t half = 0; half < 2 * sweeps; half++) {
#pragma omp for schedule(dynamic, 8)
    for (size_t i = 0; i < parts; i++) {
      struct ising_cpu_place place;
      const struct ising_packed_part part = part_of(ensemble, most, i, &place);
      if (part.lines > 0)
        ops->update(&part, &own->tables.rule[place.run], half % 2, ensemble->time + half / 2);
    }
  }
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

/* Parents do not change place, so that no replica is both read and written. */
static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  (void)error;
  const struct ising_cpu_storage *storage = ensemble->storage;
  const size_t places = ising_cpu_places(ensemble);
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t i = 0; i < places; i++) {
    const struct ising_cpu_place place = ising_cpu_place(ensemble, i);
    const size_t from = parent[place.run * ensemble->plan.capacity + place.first];
    if (place.count > 0 && from != place.first)
      memcpy(place.data, ising_cpu_block(storage, place.run, from), storage->block_bytes);
  }
  return GPUMC_OK;
}

static void exchange_words(uint32_t *restrict a, uint32_t *restrict b, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const uint32_t word = a[i];
    a[i] = b[i];
    b[i] = word;
  }
}

/* A replica is part of one exchange at the most. */
static enum gpumc_status
exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap, struct gpumc_error *error)
{
  (void)error;
  const struct ising_cpu_storage *storage = ensemble->storage;
  const size_t capacity = ensemble->plan.capacity, row = gpumc_swap_words(capacity);
  const size_t pairs = (ensemble->runs - 1) * capacity;
#pragma omp parallel for schedule(dynamic) num_threads(storage->threads)
  for (size_t i = 0; i < pairs; i++) {
    const size_t run = i / capacity, replica = i % capacity;
    if ((swap[run * row + replica / 32] >> replica % 32 & 1) != 0)
      exchange_words(ising_cpu_block(storage, run, replica),
                     ising_cpu_block(storage, run + 1, replica),
                     storage->block_bytes / sizeof(uint32_t));
  }
  return GPUMC_OK;
}

const struct gpumc_kernel_ops ising_packed_cpu = {
    .device = "cpu",
    .variant = "packed",
    .summary = "one bit a spin, 32 sites of a row a word, for huge lattices without disorder",
    .trajectory = "ising.packed.1",
    .capabilities =
        ISING_CPU_CAPABILITIES | GPUMC_CAN_HEAT_BATH | GPUMC_CAN_EXCHANGE | GPUMC_CAN_OVERLAP,
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .randomize = randomize,
    .set = ising_cpu_set,
    .get = ising_cpu_get,
    .sweep = sweep,
    .measure = measure,
    .gather = gather,
    .exchange = exchange,
    .overlap = overlap,
};
