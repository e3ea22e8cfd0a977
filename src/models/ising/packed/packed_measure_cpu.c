/* The packed kernel on the CPU: channels and overlaps. */
#include <assert.h>
#include <string.h>

#include "models/ising/packed/packed_cpu.h"

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
  const struct ising_packed_own *own = ising_packed_own_of(ensemble);
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct ising_packed_ops *ops = ising_packed_ops_of(ensemble);
  const size_t most = waves ? ISING_PACKED_WAVE_ROWS : ising_packed_part_lines(&own->lattice);
  const size_t of_run = ising_packed_parts(ensemble, most) / ensemble->runs,
               first = subjects->first;
#pragma omp parallel for schedule(dynamic, 8) num_threads(storage->threads)
  for (size_t i = 0; i < subjects->runs * of_run; i++) {
    struct ising_packed_counts counts = {0};
    struct lattice_cpu_place place;
    struct ising_packed_part part =
        ising_packed_part_at(ensemble, most, first * of_run + i, &place);
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

/* What is wanted of the channels, or of the kinds of overlaps. */
static void count(const struct gpumc_ensemble *ensemble, const struct subjects *subjects,
                  bool bonds, bool waves)
{
  const size_t n = subjects->runs * ensemble->plan.capacity;
  memset(ising_packed_own_of(ensemble)->counts, 0,
         n * sizeof *ising_packed_own_of(ensemble)->counts);
  if (bonds)
    count_parts(ensemble, subjects, false);
  if (waves)
    count_parts(ensemble, subjects, true);
}

enum gpumc_status ising_packed_cpu_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                           struct gpumc_error *error)
{
  (void)error;
  const struct ising_packed_own *own = ising_packed_own_of(ensemble);
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

enum gpumc_status
ising_packed_cpu_overlap(struct gpumc_ensemble *ensemble, size_t first, size_t second, size_t runs,
                         int64_t *const overlap[GPUMC_OVERLAPS], struct gpumc_error *error)
{
  (void)error;
  const struct ising_packed_own *own = ising_packed_own_of(ensemble);
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
