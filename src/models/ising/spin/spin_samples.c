/* Samples of the disorder, from the order of their sites to that of the kernels. */
#include "models/ising/spin/spin_samples.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"
#include "models/lattice/checkerboard_neighbour.h"

struct ising_spin_samples
ising_spin_samples_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t step = GPUMC_CHECKERBOARD_PADDING;
  struct ising_spin_samples samples = {.kind = ising_spin_kind(model), .count = plan->samples};
  samples.stride = (lattice->colour + step - 1) / step * step;
  if (samples.kind == ISING_SPIN_SIGNS)
    samples.bytes = 2 * samples.stride;
  if (samples.kind == ISING_SPIN_TERMS)
    samples.bytes = 2 * (2 * lattice->dimension + 1) * samples.stride * sizeof(int32_t);
  return samples;
}

/* Both ends of the bond from site i along `axis`. */
struct bond {
  struct gpumc_checkerboard_place place[2];
  enum gpumc_neighbour neighbour[2]; /* what one end is to the other */
};

static struct bond bond_of(const struct gpumc_checkerboard *lattice, size_t i, size_t axis)
{
  struct bond bond;
  bond.place[0] = gpumc_checkerboard_place(lattice, i);
  bond.place[1] = gpumc_checkerboard_place(lattice, gpumc_checkerboard_next(lattice, i, axis));
  for (size_t end = 0; end < 2; end++)
    bond.neighbour[end] = gpumc_checkerboard_towards(&bond.place[end], axis, end == 0);
  return bond;
}

static void fill_signs(const struct gpumc_model *model, size_t stride, const int32_t *coupling,
                       const int32_t *field, uint8_t *signs)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const int32_t uniform = (int32_t)rint(ising_parameters(model)->field_quanta);
  for (size_t i = 0; i < model->sites; i++) {
    for (size_t axis = 0; axis < lattice->dimension; axis++) {
      const struct bond bond = bond_of(lattice, i, axis);
      const uint32_t negative = coupling[i * lattice->dimension + axis] < 0;
      for (size_t end = 0; end < 2; end++)
        signs[bond.place[end].colour * stride + bond.place[end].k] |=
            (uint8_t)(negative << bond.neighbour[end]);
    }
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, i);
    const uint32_t larger = field[i] > uniform;
    signs[place.colour * stride + place.k] |= (uint8_t)(larger << ISING_FIELD_SIGN);
  }
}

static void fill_terms(const struct gpumc_model *model, size_t stride, const int32_t *coupling,
                       const int32_t *field, int32_t *terms)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t neighbours = 2 * lattice->dimension, of_colour = (neighbours + 1) * stride;
  for (size_t i = 0; i < model->sites; i++) {
    for (size_t axis = 0; axis < lattice->dimension; axis++) {
      const struct bond bond = bond_of(lattice, i, axis);
      for (size_t end = 0; end < 2; end++)
        terms[bond.place[end].colour * of_colour + bond.neighbour[end] * stride +
              bond.place[end].k] = coupling[i * lattice->dimension + axis];
    }
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, i);
    terms[place.colour * of_colour + neighbours * stride + place.k] = field[i];
  }
}

enum gpumc_status ising_spin_samples_fill(const struct gpumc_model *model,
                                          const struct ising_spin_samples *samples, size_t first,
                                          size_t count, void *data, struct gpumc_error *error)
{
  const size_t bonds = model->sites * ising_parameters(model)->lattice.dimension;
  int32_t *coupling = NULL, *field = NULL;
  if (samples->kind == ISING_SPIN_UNIFORM)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_allocate_array(&coupling, bonds, "couplings of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&field, model->sites, "fields of a sample", error);
  for (size_t s = 0; status == GPUMC_OK && s < count; s++) {
    uint8_t *sample = (uint8_t *)data + s * samples->bytes;
    status = ising_disorder_sample(model, first + s, coupling, field, error);
    if (status == GPUMC_OK && samples->kind == ISING_SPIN_SIGNS)
      fill_signs(model, samples->stride, coupling, field, sample);
    else if (status == GPUMC_OK)
      fill_terms(model, samples->stride, coupling, field, (int32_t *)(void *)sample);
  }
  free(coupling);
  free(field);
  return status;
}
