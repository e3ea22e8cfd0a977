/* Keys that models of Ising spins share. */
#include "models/ising/ising_keys.h"

#include <string.h>

static const char *const distributions[] = {"none", "bimodal", "gaussian", NULL};

const struct gpumc_key ising_random_field_keys[] = {
    {.name = "distribution",
     .type = GPUMC_KEY_CHOICE,
     .doc = "+-width with equal probability (bimodal), or Gaussian.",
     .default_text = "none",
     .example = "gaussian",
     .choices = distributions},
    {.name = "width",
     .type = GPUMC_KEY_REAL,
     .doc = "Size of a bimodal random field, standard deviation of a Gaussian one.",
     .default_text = "0.0",
     .example = "1.0",
     .unit = "energy",
     .minimum = 0,
     .maximum = 1e6,
     .sweepable = true},
    {.name = NULL},
};

void ising_check_shape(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  double sites = 1;
  for (struct gpumc_list shape = gpumc_params_list(params, "shape"); shape.left > 0;)
    sites *= (double)gpumc_list_integer(&shape);
  if (sites >= (double)ISING_SITES_LIMIT)
    gpumc_params_mistake(params, report, "shape",
                         "shape: %g sites are too many: lattices must have fewer than 2^37", sites);
}

void ising_check_coupling(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_real(params, "J") == 0.0)
    gpumc_params_mistake(params, report, "J", "J must not be 0: there would be no interaction");
}

void ising_check_random_field(const struct gpumc_params *params,
                              const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  const char *distribution = gpumc_params_string(params, "random_field.distribution");
  const double width = gpumc_params_real(params, "random_field.width");
  const bool none = !ising_has_random_field(params);
  if (none && width > 0)
    gpumc_params_mistake(params, report, "random_field.width",
                         "random_field.width = %g needs a random_field.distribution, bimodal or "
                         "gaussian",
                         width);
  if (!none && width <= 0)
    gpumc_params_mistake(params, report, "random_field.distribution",
                         "a %s random field needs a random_field.width above 0", distribution);
}

bool ising_has_random_field(const struct gpumc_params *params)
{
  return strcmp(gpumc_params_string(params, "random_field.distribution"), "none") != 0;
}

void ising_read_shape(const struct gpumc_params *params, struct ising_settings *settings)
{
  struct gpumc_list shape = gpumc_params_list(params, "shape");
  settings->dimension = shape.left;
  for (size_t d = 0; d < settings->dimension; d++)
    settings->shape[d] = (size_t)gpumc_list_integer(&shape);
}

void ising_read_fields(const struct gpumc_params *params, struct ising_settings *settings)
{
  const char *distribution = gpumc_params_string(params, "random_field.distribution");
  struct lattice_disorder_settings *disorder = &settings->disorder;
  settings->field = gpumc_params_real(params, "h");
  settings->write_disorder = gpumc_params_boolean(params, "write_couplings");
  lattice_read_sample(params, disorder);
  disorder->width = gpumc_params_real(params, "random_field.width");
  if (strcmp(distribution, "bimodal") == 0)
    disorder->fields = LATTICE_BIMODAL;
  if (strcmp(distribution, "gaussian") == 0)
    disorder->fields = LATTICE_GAUSSIAN;
}
