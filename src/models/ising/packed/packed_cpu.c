/* The packed kernel on the CPU: one bit per spin, threads over the rows of all replicas. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/ising/multispin/multispin_tables.h"
#include "models/ising/packed/packed.h"
#include "models/lattice/bit_sliced.h"
#include "models/lattice/replicas_cpu.h"

/* ---- cost and refusals, on every device ---- */

/* Nanoseconds of one core with AVX-512, for the choice of `kernel.variant: auto`, which must be the
 * same on every device (docs/performance.md, "Few replicas"): spin flips per nanosecond on large
 * lattices. On small lattices the two halves of a sweep, each of which waits for all threads, cost
 * as much time as this many additional sites. */
static const double rate = 10.0, waiting_sites = 20000;

double ising_packed_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                         size_t replicas)
{
  (void)plan;
  return ((double)model->sites + waiting_sites) * (double)replicas / rate;
}

const char *ising_packed_refuses(const struct gpumc_model *model,
                                 const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  if (ising_parameters(model)->lattice.length_x % ISING_PACKED_PAIR != 0)
    return "Lx must be a multiple of 64, since a word holds 32 sites of one colour of a row";
  if (traits.couplings || traits.fields)
    return "the sites of a word share their coupling and field, which rules out disorder";
  return NULL;
}

enum gpumc_status
ising_packed_check(const struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const char *refusal = ising_packed_refuses(ensemble->model, NULL, NULL);
  return refusal == NULL ? GPUMC_OK
                         : gpumc_error_set(error, GPUMC_INVALID, "kernel packed: %s", refusal);
}

/* ---- memory ---- */

/* lattice_cpu_storage.own. counts[plan.runs][plan.capacity] */
struct own {
  struct ising_multispin_tables tables;
  struct gpumc_checkerboard lattice; /* in words */
  struct ising_packed_counts *counts;
};

static struct own *own_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

static const struct ising_packed_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_packed, storage->isa);
}

/* Returns number i of the parts with at most `most` rows each, into which the rows of all replicas
 * are divided; no rows for a replica that is not in use. */
static struct ising_packed_part part_at(const struct gpumc_ensemble *ensemble, size_t most,
                                        size_t i, struct lattice_cpu_place *place)
{
  const struct own *own = own_of(ensemble);
  const size_t lines = ising_packed_lines(&own->lattice), parts = (lines + most - 1) / most;
  struct ising_packed_part part = {.lattice = &own->lattice, .first = i % parts * most};
  *place = lattice_cpu_place(ensemble, i / parts);
  part.words = place->data;
  part.replica = place->number;
  part.lines = lines - part.first < most ? lines - part.first : most;
  part.lines = place->count > 0 ? part.lines : 0;
  part.scratch = lattice_cpu_scratch(ensemble->storage);
  return part;
}

static size_t parts_of(const struct gpumc_ensemble *ensemble, size_t most)
{
  const size_t lines = ising_packed_lines(&own_of(ensemble)->lattice);
  return lattice_cpu_places(ensemble) * ((lines + most - 1) / most);
}

/* Threads share the counts of a replica's parts. */
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

/* Counts bonds and spins, or `waves`, to counts[runs][capacity]. */
static void
count_parts(const struct gpumc_ensemble *ensemble, const struct subjects *subjects, bool waves)
{
  const struct own *own = own_of(ensemble);
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_packed_ops *ops = ops_of(ensemble);
  const size_t most = waves ? ISING_PACKED_WAVE_ROWS : ising_packed_part_lines(&own->lattice);
  const size_t of_run = parts_of(ensemble, most) / ensemble->runs, first = subjects->first;
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < subjects->runs * of_run; i++) {
    struct ising_packed_counts counts = {0};
    struct lattice_cpu_place place;
    struct ising_packed_part part = part_at(ensemble, most, first * of_run + i, &place);
    const size_t run = place.run - first;
    if (part.lines == 0)
      continue;
    if (subjects->second != first)
      part.other = lattice_cpu_block(storage, subjects->second + run, place.block);
    if (waves)
      ops->wave(&part, &own->tables.waves, &counts);
    else
      ops->count(&part, &counts);
    add_counts(&own->counts[run * ensemble->plan.capacity + place.first], &counts);
  }
}

/* Counts what the wanted channels, or kinds of overlaps, need. */
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
      channel[ISING_WAVE][i] =
          lattice_wave_square(&tables->waves.wave, counts->cosine, counts->sine);
  }
  return GPUMC_OK;
}

static enum gpumc_status overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                 size_t runs, int64_t *const overlap[GPUMC_PAIRS_MAXIMUM],
                                 struct gpumc_error *error)
{
  (void)error;
  const struct own *own = own_of(ensemble);
  const size_t capacity = ensemble->plan.capacity;
  const struct subjects subjects = {first, second, runs};
  const int64_t sites = (int64_t)ensemble->model->sites;
  const bool waves = overlap[ISING_PAIR_WAVE] != NULL;
  assert(first != second);
  count(ensemble, &subjects, overlap[ISING_PAIR_SPIN] != NULL || overlap[ISING_PAIR_LINK] != NULL,
        waves);
  for (size_t i = 0; i < runs * capacity; i++) {
    const struct ising_packed_counts *counts = &own->counts[i];
    if (i % capacity >= ensemble->size[first + i / capacity])
      continue;
    if (overlap[ISING_PAIR_SPIN] != NULL)
      overlap[ISING_PAIR_SPIN][i] = sites - 2 * counts->up;
    if (overlap[ISING_PAIR_LINK] != NULL)
      overlap[ISING_PAIR_LINK][i] = (int64_t)own->lattice.dimension * sites - 2 * counts->unlike;
    if (waves)
      overlap[ISING_PAIR_WAVE][i] =
          lattice_wave_square(&own->tables.waves.wave, counts->cosine, counts->sine);
  }
  return GPUMC_OK;
}

/* Words of one colour that take a thread considerably longer than waiting for another one, a
 * microsecond or so; and parts per thread, so that none waits long for the slowest. */
enum { WORDS_OF_THREAD = 1024, PARTS_OF_THREAD = 4 };

/* In portable form 64 sites in a row are 8 bytes, least significant bit first. */
static void set_replica(const struct gpumc_model *model, void *block,
                        const uint8_t *const portable[LATTICE_CPU_BLOCK])
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
                        uint8_t *const portable[LATTICE_CPU_BLOCK])
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

/* A block is one replica, words[2][colour]. */
static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites / 8;
}

static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  const struct gpumc_checkerboard lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  return lattice.row == 0 ? 0
                          : ISING_PACKED_ARRAYS * ising_packed_extent(&lattice) * sizeof(uint32_t);
}

static size_t own_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return sizeof(struct own) + plan->runs * plan->capacity * sizeof(struct ising_packed_counts) +
         2 * ising_wave_of(model).length * sizeof(int32_t) +
         plan->runs * sizeof(struct ising_multispin_rule);
}

static enum gpumc_status create_own(const struct gpumc_model *model,
                                    const struct gpumc_ensemble_plan *plan, void *own_memory,
                                    struct gpumc_error *error)
{
  struct own *own = own_memory;
  own->lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  GPUMC_TRY(gpumc_allocate_array(&own->counts, plan->runs * plan->capacity,
                                 "counts of the replicas", error));
  return ising_multispin_tables_begin(model, plan, &own->tables, error);
}

static void free_own(void *own_memory)
{
  struct own *own = own_memory;
  ising_multispin_tables_free(&own->tables);
  free(own->counts);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1,
    .buffers = 1,
    .check = ising_packed_check,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct own),
    .own_bytes = own_bytes,
    .own_create = create_own,
    .own_free = free_own,
    .set = set_replica,
    .get = get_replica,
};

LATTICE_CPU_BYTES_AND_CREATE(layout)

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  enum { OUTPUTS = 4, CHUNK = 1 << 12 };
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t words = 2 * own_of(ensemble)->lattice.colour, chunks = (words + CHUNK - 1) / CHUNK;
  const size_t all = lattice_cpu_places(ensemble) * chunks;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < all; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i / chunks);
    const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.run);
    const size_t first = i % chunks * CHUNK, end = first + CHUNK < words ? first + CHUNK : words;
    uint32_t *word = place.data;
    for (size_t w = first; place.count > 0 && w < end; w += OUTPUTS)
      gpumc_random_draw(random, (uint32_t)(w / OUTPUTS), place.number, 0, label, word + w);
  }
  return GPUMC_OK;
}

/* Returns a useful number of threads: they wait for each other twice per sweep. */
static size_t threads_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t pay = lattice_cpu_places(ensemble) * own_of(ensemble)->lattice.colour /
                     WORDS_OF_THREAD,
               all = (size_t)storage->threads;
  return pay < 1 ? 1 : pay < all ? pay : all;
}

/* Returns the rows of a part: few enough to stay in the cache, and for every thread to have several
 * parts. */
static size_t lines_of_parts(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &own_of(ensemble)->lattice;
  const size_t most = ising_packed_part_lines(lattice), threads = threads_of(ensemble),
               all = lattice_cpu_places(ensemble) * ising_packed_lines(lattice);
  const size_t lines = threads > 1 ? all / (threads * PARTS_OF_THREAD) : most;
  return lines < 1 ? 1 : lines < most ? lines : most;
}

/* Every colour is finished everywhere before the other one begins. */
static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct own *own = own_of(ensemble);
  const struct ising_packed_ops *ops = ops_of(ensemble);
  const size_t most = lines_of_parts(ensemble), parts = parts_of(ensemble, most);
  const int threads = (int)threads_of(ensemble);
  if (sweeps > 0)
    ising_multispin_set_rules(ensemble, &own->tables, target->control);
#pragma omp parallel num_threads(threads)
  for (uint32_t half = 0; half < 2 * sweeps; half++) {
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < parts; i++) {
      struct lattice_cpu_place place;
      const struct ising_packed_part part = part_at(ensemble, most, i, &place);
      if (part.lines > 0)
        ops->update(&part, &own->tables.rule[place.run], half % 2, ensemble->time + half / 2);
    }
  }
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

const struct gpumc_kernel_ops ising_packed_cpu = {
    LATTICE_CPU_COMMON, ISING_PACKED_NAMES,           .bytes = bytes,
    .create = create,   .start = randomize,           .sweep = sweep,
    .measure = measure, .gather = lattice_cpu_gather, .exchange = lattice_cpu_exchange,
    .compare = overlap,
};
