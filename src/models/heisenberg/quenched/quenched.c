/* Quenched couplings of O(n) spins: samples in the form that kernels use, and in results. */
#include <math.h>

#include "models/heisenberg/heisenberg.h"

/* Returns c_ij of heisenberg_physics.h, for a sample that was found. */
static double relative_coupling(const struct gpumc_model *model, uint32_t sample, size_t bond)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double one = parameters->coupling * parameters->weight;
  const double coupling = lattice_samples_coupling(parameters->disorder, sample, bond);
  return ldexp(rint(ldexp(coupling / one, HEISENBERG_COUPLING_BITS)), -HEISENBERG_COUPLING_BITS);
}

size_t heisenberg_couplings_count(const struct gpumc_model *model)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  return parameters->disorder != NULL ? 2 * parameters->lattice.dimension * model->sites : 0;
}

static void fill_sample(const struct gpumc_model *model, uint32_t sample, bool single, size_t at,
                        void *couplings)
{
  const struct gpumc_checkerboard *lattice = &heisenberg_parameters(model)->lattice;
  const size_t dimension = lattice->dimension, half = lattice->colour;
  for (size_t i = 0; i < model->sites; i++)
    for (size_t axis = 0; axis < dimension; axis++) {
      const double coupling = relative_coupling(model, sample, i * dimension + axis);
      const size_t ends[2] = {i, gpumc_checkerboard_next(lattice, i, axis)};
      for (size_t end = 0; end < 2; end++) {
        const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, ends[end]);
        const size_t neighbour =
            heisenberg_towards(gpumc_checkerboard_side_is_back(&place), (uint32_t)axis, end == 0);
        const size_t to = at + (place.colour * 2 * dimension + neighbour) * half + place.k;
        if (single)
          ((float *)couplings)[to] = (float)coupling;
        else
          ((double *)couplings)[to] = coupling;
      }
    }
}

enum gpumc_status heisenberg_couplings_fill(const struct gpumc_model *model, size_t first,
                                            size_t count, bool single, void *couplings,
                                            struct gpumc_error *error)
{
  struct lattice_disorder *disorder = heisenberg_parameters(model)->disorder;
  const size_t of_sample = heisenberg_couplings_count(model);
  for (size_t s = 0; s < count && of_sample > 0; s++) {
    uint32_t sample;
    GPUMC_TRY(lattice_samples_find(disorder, first + s, &sample, error));
    fill_sample(model, sample, single, s * of_sample, couplings);
  }
  return GPUMC_OK;
}

/* lattice_disorder_record.values; there are no fields. */
static enum gpumc_status values_of(const struct gpumc_model *model, size_t number, bool fields,
                                   double *value, struct gpumc_error *error)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double one = parameters->coupling * parameters->weight;
  const size_t bonds = model->sites * parameters->lattice.dimension;
  uint32_t sample;
  (void)fields;
  GPUMC_TRY(lattice_samples_find(parameters->disorder, number, &sample, error));
  for (size_t i = 0; i < bonds; i++)
    value[i] = one * relative_coupling(model, sample, i);
  return GPUMC_OK;
}

static struct lattice_disorder_record record_of(const struct gpumc_model *model)
{
  return (struct lattice_disorder_record){
      .model = model, .lattice = &heisenberg_parameters(model)->lattice, .values = values_of};
}

enum gpumc_status heisenberg_record_samples(const struct gpumc_model *model, size_t samples,
                                            struct gpumc_recorder *recorder,
                                            struct gpumc_error *error)
{
  const struct lattice_disorder_record record = record_of(model);
  if (!heisenberg_parameters(model)->write_couplings)
    return GPUMC_OK;
  return lattice_disorder_write(&record, samples, recorder, error);
}

enum gpumc_status heisenberg_sample_checksum(const struct gpumc_model *model, size_t number,
                                             uint64_t *checksum, struct gpumc_error *error)
{
  const struct lattice_disorder_record record = record_of(model);
  return lattice_disorder_checksum(&record, number, checksum, error);
}
