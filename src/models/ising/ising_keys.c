/* Keys that models of Ising spins share, and which kernel cannot take what. */
#include "models/ising/ising_keys.h"

#include <string.h>

/* A site is a word of the counter. */
static const double sites_maximum = 4294967296.0;

static const char *const distributions[] = {"none", "bimodal", "gaussian", NULL};

const struct gpumc_key ising_random_field_keys[] = {
    {.name = "distribution",
     .type = GPUMC_KEY_CHOICE,
     .doc = "+-width with equal probability (bimodal), or Gaussian.",
     .default_text = "none",
     .choices = distributions},
    {.name = "width",
     .type = GPUMC_KEY_REAL,
     .doc = "Size of a bimodal random field, standard deviation of a Gaussian one.",
     .default_text = "0.0",
     .unit = "energy",
     .minimum = 0,
     .maximum = 1e6,
     .sweepable = true},
    {.name = NULL},
};

void ising_check_shape(const struct gpumc_params *params, struct gpumc_report *report)
{
  double sites = 1;
  for (size_t d = 0; d < gpumc_params_count(params, "shape"); d++)
    sites *= (double)gpumc_params_integer_at(params, "shape", d);
  if (sites > sites_maximum)
    gpumc_params_mistake(params, report, "shape", "shape: a lattice of %g sites, at most 2^32",
                         sites);
}

void ising_check_coupling(const struct gpumc_params *params, struct gpumc_report *report)
{
  if (gpumc_params_real(params, "J") == 0.0)
    gpumc_params_mistake(params, report, "J", "J must not be 0: there would be no interaction");
}

void ising_check_random_field(const struct gpumc_params *params, struct gpumc_report *report)
{
  const char *distribution = gpumc_params_string(params, "random_field.distribution");
  const double width = gpumc_params_real(params, "random_field.width");
  const bool none = strcmp(distribution, "none") == 0;
  if (none && width > 0)
    gpumc_params_mistake(params, report, "random_field.width",
                         "random_field.width = %g needs a random_field.distribution, bimodal or "
                         "gaussian",
                         width);
  if (!none && width <= 0)
    gpumc_params_mistake(params, report, "random_field.distribution",
                         "a %s random field needs a random_field.width above 0", distribution);
}

void ising_read_shape(const struct gpumc_params *params, struct ising_settings *settings)
{
  settings->dimension = gpumc_params_count(params, "shape");
  for (size_t d = 0; d < settings->dimension; d++)
    settings->shape[d] = (size_t)gpumc_params_integer_at(params, "shape", d);
}

void ising_read_fields(const struct gpumc_params *params, struct ising_settings *settings)
{
  const char *distribution = gpumc_params_string(params, "random_field.distribution");
  struct ising_disorder_settings *disorder = &settings->disorder;
  settings->field = gpumc_params_real(params, "h");
  disorder->seed = (uint64_t)gpumc_params_integer(params, "disorder_seed");
  disorder->first_sample = (uint64_t)gpumc_params_integer(params, "sample");
  disorder->width = gpumc_params_real(params, "random_field.width");
  if (strcmp(distribution, "bimodal") == 0)
    disorder->fields = ISING_BIMODAL;
  if (strcmp(distribution, "gaussian") == 0)
    disorder->fields = ISING_GAUSSIAN;
}

const char *ising_refuses(const struct gpumc_model *model, const struct gpumc_kernel_ops *kernel)
{
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  const struct gpumc_tiling any_tiling = {0};
  if (kernel->refuses_tiling != NULL)
    return kernel->refuses_tiling(model, &any_tiling);
  if (strcmp(kernel->variant, "multispin") != 0)
    return NULL;
  if (traits.couplings && !traits.couplings_are_signs)
    return "it keeps a coupling as one bit, and these are not all +1 or -1";
  if (traits.fields && !traits.fields_are_signs)
    return "it keeps a random field as one bit, and these differ in size";
  if (traits.fields && ising_parameters(model)->field != 0.0)
    return "it keeps a field as one bit, and random fields with a uniform one differ in size";
  return NULL;
}
