/* What the spin kernel on the CPU keeps beside the replicas. */
#include "models/ising/spin/spin_tables.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"

static struct ising_spin_lattice lattice_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *checkerboard = &ising_parameters(model)->lattice;
  const bool cubic = checkerboard->dimension == 3;
  struct ising_spin_lattice lattice = {.checkerboard = *checkerboard};
  lattice.shift = cubic ? checkerboard->plane : checkerboard->row;
  lattice.period = 2 * lattice.shift;
  return lattice;
}

/* For a chunk that begins at the end of a period, of either colour. */
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

size_t
ising_spin_tables_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct ising_spin_lattice lattice = lattice_of(model);
  const struct ising_spin_samples samples = ising_spin_samples_of(model, plan);
  return sizeof(struct ising_spin_tables) + places(&lattice) + samples.count * samples.bytes +
         plan->runs * sizeof(struct ising_spin_rule) +
         2 * ising_wave_of(model).length * sizeof(int32_t);
}

static enum gpumc_status create_waves(const struct gpumc_model *model,
                                      struct ising_spin_tables *tables, struct gpumc_error *error)
{
  tables->wave = ising_wave_of(model);
  enum gpumc_status status =
      gpumc_allocate_array(&tables->cosine, 2 * tables->wave.length, "waves", error);
  if (status != GPUMC_OK)
    return status;
  tables->sine = tables->cosine + tables->wave.length;
  ising_wave_table(&tables->wave, tables->cosine, tables->sine);
  return GPUMC_OK;
}

enum gpumc_status
ising_spin_tables_create(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                         struct ising_spin_tables *tables, struct gpumc_error *error)
{
  tables->lattice = lattice_of(model);
  tables->samples = ising_spin_samples_of(model, plan);
  const size_t n = places(&tables->lattice);
  struct ising_spin_samples *samples = &tables->samples;
  enum gpumc_status status = gpumc_allocate_array(&tables->place, n, "places of sites", error);
  for (size_t k = 0; status == GPUMC_OK && k < n; k++)
    tables->place[k] = place_of(&tables->lattice.checkerboard, k);
  tables->lattice.place = tables->place;
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&tables->rule, plan->runs, "rules of the runs", error);
  if (status == GPUMC_OK)
    status = create_waves(model, tables, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate(samples->count, samples->bytes, "samples", &samples->data, error);
  if (status == GPUMC_OK)
    status = ising_spin_samples_fill(model, samples, 0, samples->count, samples->data, error);
  return status;
}

void ising_spin_tables_free(struct ising_spin_tables *tables)
{
  free(tables->place);
  free(tables->samples.data);
  free(tables->rule);
  free(tables->cosine);
}
