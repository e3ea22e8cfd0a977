/* The packed kernel on the CPU: one bit a spin, threads over the rows of all replicas. */
#include "models/ising/packed/packed_cpu.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising_takes.h"
#include "models/lattice/bit_interleave.h"

/* Words of one colour that take a thread well longer than to wait for another one, a microsecond or
 * so; parts of each thread, so that none waits long for the slowest. */
enum { WORDS_OF_THREAD = 1024, PARTS_OF_THREAD = 4 };

/* In portable form 64 sites in a row are 8 bytes, the least significant bit first. */
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
  return sizeof(struct ising_packed_own) +
         plan->runs * plan->capacity * sizeof(struct ising_packed_counts) +
         2 * ising_wave_of(model).length * sizeof(int32_t) +
         plan->runs * sizeof(struct ising_multispin_rule);
}

static enum gpumc_status create_own(const struct gpumc_model *model,
                                    const struct gpumc_ensemble_plan *plan, void *own_memory,
                                    struct gpumc_error *error)
{
  struct ising_packed_own *own = own_memory;
  own->lattice = ising_packed_lattice(&ising_parameters(model)->lattice);
  enum gpumc_status status = gpumc_allocate_array(&own->counts, plan->runs * plan->capacity,
                                                  "counts of the replicas", error);
  if (status == GPUMC_OK)
    status = ising_multispin_tables_begin(model, plan, &own->tables, error);
  return status;
}

static void free_own(void *own_memory)
{
  struct ising_packed_own *own = own_memory;
  ising_multispin_tables_free(&own->tables);
  free(own->counts);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1,
    .buffers = 1,
    .block_bytes = block_bytes,
    .scratch_bytes = scratch_bytes,
    .own_size = sizeof(struct ising_packed_own),
    .own_bytes = own_bytes,
    .own_create = create_own,
    .own_free = free_own,
    .set = set_replica,
    .get = get_replica,
};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const enum gpumc_status status = ising_packed_check(ensemble->model, error);
  return status == GPUMC_OK ? lattice_cpu_create(&layout, ensemble, error) : status;
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)error;
  enum { OUTPUTS = 4, CHUNK = 1 << 12 };
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t words = 2 * ising_packed_own_of(ensemble)->lattice.colour,
               chunks = (words + CHUNK - 1) / CHUNK;
  const size_t all = lattice_cpu_places(ensemble) * chunks;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t i = 0; i < all; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i / chunks);
    const struct gpumc_random random = gpumc_ensemble_random(ensemble, place.run);
    const size_t first = i % chunks * CHUNK, end = first + CHUNK < words ? first + CHUNK : words;
    uint32_t *word = place.data;
    for (size_t w = first; place.count > 0 && w < end; w += OUTPUTS)
      gpumc_random_draw(random, (uint32_t)(w / OUTPUTS), (uint32_t)place.first, 0, label, word + w);
  }
  return GPUMC_OK;
}

/* Threads that pay: they wait for each other twice a sweep. */
static size_t threads_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t pay = lattice_cpu_places(ensemble) * ising_packed_own_of(ensemble)->lattice.colour /
                     WORDS_OF_THREAD,
               all = (size_t)storage->threads;
  return pay < 1 ? 1 : pay < all ? pay : all;
}

/* Rows of a part: no more than stay in the cache, and few enough that every thread has several. */
static size_t lines_of_parts(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_packed_own_of(ensemble)->lattice;
  const size_t most = ising_packed_part_lines(lattice), threads = threads_of(ensemble),
               all = lattice_cpu_places(ensemble) * ising_packed_lines(lattice);
  const size_t lines = threads > 1 ? all / (threads * PARTS_OF_THREAD) : most;
  return lines < 1 ? 1 : lines < most ? lines : most;
}

/* Every colour is done everywhere before the other one begins. */
static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_packed_own *own = ising_packed_own_of(ensemble);
  const struct ising_packed_ops *ops = ising_packed_ops_of(ensemble);
  const size_t most = lines_of_parts(ensemble), parts = ising_packed_parts(ensemble, most);
  const int threads = (int)threads_of(ensemble);
  if (sweeps > 0)
    ising_multispin_set_rules(ensemble, &own->tables, target->control);
#pragma omp parallel num_threads(threads)
  for (uint32_t half = 0; half < 2 * sweeps; half++) {
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < parts; i++) {
      struct lattice_cpu_place place;
      const struct ising_packed_part part = ising_packed_part_at(ensemble, most, i, &place);
      if (part.lines > 0)
        ops->update(&part, &own->tables.rule[place.run], half % 2, ensemble->time + half / 2);
    }
  }
  return channel != NULL ? ising_packed_cpu_measure(ensemble, channel, error) : GPUMC_OK;
}

const struct gpumc_kernel_ops ising_packed_cpu = {
    LATTICE_CPU_COMMON,
    .variant = "packed",
    .cost = ising_packed_cost,
    .refuses = ising_packed_refuses,
    .summary = "one bit a spin, 32 sites of a row a word, for few large lattices without disorder",
    .takes = ISING_TAKES_PACKED,
    .trajectory = "ising.packed.1",
    .capabilities = ISING_CPU_CAPABILITIES,
    .bytes = bytes,
    .create = create,
    .randomize = randomize,
    .sweep = sweep,
    .measure = ising_packed_cpu_measure,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
    .overlap = ising_packed_cpu_overlap,
};
