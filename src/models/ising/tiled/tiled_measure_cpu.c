/* The tiled kernel on the CPU: channels. */
#include "models/ising/tiled/tiled_cpu.h"

/* Tile number i of a replica, of both halves. */
static struct ising_tiled_sums
measure_tile(const struct gpumc_ensemble *ensemble, const uint32_t *words, uint32_t i, bool waves)
{
  const struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  const struct ising_tiled_geometry *geometry = &own->geometry;
  const struct ising_tiled_scratch scratch = ising_tiled_scratch_of(ensemble);
  const struct ising_tiled_tile tile = ising_tiled_tile(geometry, i % 2, i / 2);
  struct ising_tiled_sums sums = {0};
  ising_tiled_load(geometry, words, tile, scratch.copy);
  for (uint32_t j = 0; j < 2 * geometry->words; j++) {
    const uint32_t colour = j / geometry->words, word = j % geometry->words;
    const uint32_t l = word / geometry->row_words, w = word % geometry->row_words;
    ising_tiled_count(geometry, scratch.copy[colour], scratch.copy[1 - colour], colour, l, w,
                      &sums);
    if (waves)
      ising_tiled_add_waves(geometry, &own->waves, tile, scratch.copy[colour], colour, l, w, &sums);
  }
  return sums;
}

/* One replica; threads share its tiles. */
static struct ising_tiled_sums measure_replica(const struct gpumc_ensemble *ensemble,
                                               const struct lattice_cpu_place *place, bool waves)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const uint32_t n_tiles = ising_tiled_own_of(ensemble)->geometry.n_tiles;
  struct ising_tiled_sums sums = {0};
  int64_t up = 0, unlike = 0, *cosine = sums.cosine, *sine = sums.sine;
#pragma omp parallel for schedule(static) num_threads(storage->threads)                            \
    reduction(+ : up, unlike, cosine[ : ISING_TILED_AXES], sine[ : ISING_TILED_AXES])
  for (uint32_t i = 0; i < n_tiles; i++) {
    const struct ising_tiled_sums of_tile = measure_tile(ensemble, place->data, i, waves);
    up += of_tile.up;
    unlike += of_tile.unlike;
    for (uint32_t axis = 0; axis < ISING_TILED_AXES; axis++) {
      cosine[axis] += of_tile.cosine[axis];
      sine[axis] += of_tile.sine[axis];
    }
  }
  sums.up = up;
  sums.unlike = unlike;
  return sums;
}

static void record(const struct gpumc_ensemble *ensemble, const struct ising_tiled_sums *sums,
                   size_t at, int64_t *const *channel)
{
  const struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  if (channel[ISING_ENERGY] != NULL)
    channel[ISING_ENERGY][at] = ising_tiled_energy(&own->geometry, parameters->coupling_quanta,
                                                   parameters->field_quanta, sums);
  if (channel[ISING_MAGNETIZATION] != NULL)
    channel[ISING_MAGNETIZATION][at] = ising_tiled_spins(&own->geometry, sums);
  if (channel[ISING_WAVE] != NULL)
    channel[ISING_WAVE][at] = ising_wave_square(&own->waves.wave, sums->cosine, sums->sine);
}

enum gpumc_status ising_tiled_cpu_measure(struct gpumc_ensemble *ensemble, int64_t *const *channel,
                                          struct gpumc_error *error)
{
  (void)error;
  for (size_t i = 0; i < lattice_cpu_places(ensemble); i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count == 0)
      continue;
    const struct ising_tiled_sums sums =
        measure_replica(ensemble, &place, channel[ISING_WAVE] != NULL);
    record(ensemble, &sums, i, channel);
  }
  return GPUMC_OK;
}
