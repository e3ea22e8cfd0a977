/* Samples of the disorder as cluster moves read them. */
#include "models/ising/cluster/cluster_samples.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/ising.h"

size_t ising_cluster_sample_terms(const struct gpumc_model *model)
{
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const size_t axes = ising_parameters(model)->lattice.dimension;
  return traits.couplings || traits.fields ? model->sites * (axes + traits.fields) : 0;
}

enum gpumc_status ising_cluster_sample(const struct gpumc_model *model, size_t number,
                                       int32_t *terms, struct gpumc_error *error)
{
  const size_t sites = model->sites, axes = ising_parameters(model)->lattice.dimension;
  int32_t *field = ising_disorder_traits(model).fields ? terms + axes * sites : NULL, *coupling;
  GPUMC_TRY(gpumc_allocate_array(&coupling, axes * sites, "couplings of a sample", error));
  const enum gpumc_status status = ising_disorder_sample(model, number, coupling, field, error);
  for (size_t d = 0; d < axes && status == GPUMC_OK; d++)
    for (size_t i = 0; i < sites; i++)
      terms[d * sites + i] = coupling[i * axes + d];
  free(coupling);
  return status;
}
