/* What a sweep costs with each kernel, and which instances they cannot take. */
#include "models/ising/ising.h"
#include "models/ising/packed/packed.h"

/* Costs, as far as the configuration determines them: for the choice of `kernel.variant: auto`,
 * which must be the same on every device. Rates are those of one core with AVX-512; what GPUs do
 * with few replicas is in docs/performance.md, "Few replicas". */
enum { LANES = 32 }; /* replicas that share a word */
/* Spin flips per nanosecond. A replica that has a word for itself costs as much as 32. */
static const double multispin_rate = 16.0, spin_rate = 4.8;
/* Of `packed` on large lattices. On small ones the two halves of a sweep, in which nobody goes on
 * before all are done, cost as much time as so many sites more. */
static const double packed_rate = 10.0, packed_waiting_sites = 20000;

double ising_multispin_cost(const struct gpumc_model *model, size_t replicas)
{
  const size_t words = (replicas + LANES - 1) / LANES;
  return (double)model->sites * (double)(words * LANES) / multispin_rate;
}

double ising_spin_cost(const struct gpumc_model *model, size_t replicas)
{
  return (double)model->sites * (double)replicas / spin_rate;
}

double ising_packed_cost(const struct gpumc_model *model, size_t replicas)
{
  return ((double)model->sites + packed_waiting_sites) * (double)replicas / packed_rate;
}

/* Sites below 2^31 are what kernels on a GPU take. */
static const size_t gpu_sites_limit = (size_t)1 << 31;

static const char *refuses_sites(const struct gpumc_model *model, bool on_gpu)
{
  if (model->sites > ISING_WORD_SITES_MAXIMUM)
    return "it numbers sites with 32 bits, and there are more than 2^32; `packed` takes lattices "
           "without disorder below 2^37 sites";
  if (on_gpu && model->sites >= gpu_sites_limit)
    return "on a GPU it takes lattices below 2^31 sites; `packed` takes larger ones without "
           "disorder";
  return NULL;
}

const char *ising_cpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  return refuses_sites(model, false);
}

const char *ising_gpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  return refuses_sites(model, true);
}

const char *ising_multispin_cpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key)
{
  const char *why = ising_cpu_refuses(model, options, key);
  return why != NULL ? why : ising_disorder_no_bits(model);
}

const char *ising_multispin_gpu_refuses(const struct gpumc_model *model,
                                        const struct gpumc_kernel_options *options,
                                        const char **key)
{
  const char *why = ising_gpu_refuses(model, options, key);
  return why != NULL ? why : ising_disorder_no_bits(model);
}

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
