/* Which instances the packed kernel takes, on every device. */
#include "models/ising/packed/packed.h"

#include "models/ising/ising.h"

const char *ising_packed_refuses(const struct gpumc_model *model,
                                 const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  if (ising_parameters(model)->lattice.length_x % ISING_PACKED_PAIR != 0)
    return "Lx must be a multiple of 64, since a word holds 32 sites of one colour of a row";
  if (traits.couplings || traits.fields)
    return "the sites of a word share their coupling and field, and there is disorder";
  return NULL;
}

enum gpumc_status ising_packed_check(const struct gpumc_model *model, struct gpumc_error *error)
{
  const char *refusal = ising_packed_refuses(model, NULL, NULL);
  return refusal == NULL ? GPUMC_OK
                         : gpumc_error_set(error, GPUMC_INVALID,
                                           "the packed kernel cannot take this: %s", refusal);
}
