/* Signs of couplings and fields, sample by sample. */
#include "models/ising/multispin/multispin_signs.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/multispin/multispin.h"

/* Couplings and fields of one sample on their way to words. `negative`: J < 0. */
struct sample {
  const struct gpumc_checkerboard *lattice;
  bool fields, negative;
  int32_t *coupling, *field;
};

enum gpumc_status ising_multispin_check(const struct gpumc_model *model, struct gpumc_error *error)
{
  const char *why = ising_disorder_no_bits(model);
  return why == NULL ? GPUMC_OK
                     : gpumc_error_set(error, GPUMC_INVALID, "kernel multispin: %s", why);
}

size_t ising_multispin_sign_groups(const struct gpumc_ensemble_plan *plan)
{
  return plan->samples == 1 ? 1 : (plan->samples + ISING_LANES - 1) / ISING_LANES;
}

static bool is_below(const struct sample *sample, size_t site)
{
  return sample->fields && sample->field[site] < 0;
}

static void tell_site(const struct sample *sample, size_t site, uint32_t lanes,
                      const struct ising_multispin_signs_to *to)
{
  const struct gpumc_checkerboard *lattice = sample->lattice;
  const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, site);
  if (is_below(sample, site))
    to->field(to->words, &place, lanes);
  for (size_t axis = 0; axis < lattice->dimension; axis++) {
    const size_t other = gpumc_checkerboard_next(lattice, site, axis);
    const struct gpumc_checkerboard_place next = gpumc_checkerboard_place(lattice, other);
    const bool against =
        (sample->coupling[site * lattice->dimension + axis] < 0) != sample->negative;
    const bool turned = to->turned && is_below(sample, site) != is_below(sample, other);
    if (against == turned)
      continue;
    to->bond(to->words, &place, gpumc_checkerboard_towards(&place, axis, true), lanes);
    to->bond(to->words, &next, gpumc_checkerboard_towards(&next, axis, false), lanes);
  }
}

enum gpumc_status
ising_multispin_signs_of_group(const struct gpumc_model *model,
                               const struct gpumc_ensemble_plan *plan, size_t group,
                               const struct ising_multispin_signs_to *to, struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const size_t first = group * ISING_LANES, left = plan->samples - first;
  struct sample sample = {.lattice = &parameters->lattice,
                          .fields = ising_disorder_traits(model).fields,
                          .negative = parameters->coupling_quanta < 0.0};
  enum gpumc_status status = gpumc_allocate_array(
      &sample.coupling, model->sites * sample.lattice->dimension, "couplings of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&sample.field, model->sites, "fields of a sample", error);
  for (size_t lane = 0; status == GPUMC_OK && lane < ISING_LANES && lane < left; lane++) {
    const uint32_t lanes = plan->samples == 1 ? UINT32_MAX : (uint32_t)1 << lane;
    status = ising_disorder_sample(model, first + lane, sample.coupling, sample.field, error);
    for (size_t i = 0; status == GPUMC_OK && i < model->sites; i++)
      tell_site(&sample, i, lanes, to);
  }
  free(sample.coupling);
  free(sample.field);
  return status;
}
