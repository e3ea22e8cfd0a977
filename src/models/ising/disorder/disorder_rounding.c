#include "models/ising/disorder/disorder_rounding.h"

#include <math.h>

#include "models/ising/disorder/disorder_samples.h"

/* Of a value that all sites share an error is systematic; of random ones it averages out. */
#define SHARED_LIMIT 0x1p-17
#define RANDOM_LIMIT 0x1p-12

static enum gpumc_status
check_shared(const char *name, double value, double quantum, struct gpumc_error *error)
{
  const double rounded = rint(value / quantum) * quantum;
  if (fabs(rounded - value) <= SHARED_LIMIT * fabs(value))
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s = %.10g would become %.10g: with disorder energies are whole numbers "
      "of quanta, here of %.3g, which the largest energy of the lattice decides; "
      "give a multiple of it, or let couplings and fields differ less in size",
      name, value, rounded, quantum);
}

static enum gpumc_status
check_gaussian(const char *name, double width, double quantum, struct gpumc_error *error)
{
  if (quantum <= RANDOM_LIMIT * fabs(width))
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "Gaussian %s of standard deviation %g would be coarse: energies are whole "
                         "numbers of quanta, here of %.3g, more than 2^-12 of it, because the "
                         "lattice is large or other terms are",
                         name, fabs(width), quantum);
}

static enum gpumc_status check_file(const struct ising_settings *settings,
                                    const struct ising_disorder *disorder, double quantum,
                                    struct gpumc_error *error)
{
  const double change = ising_samples_rounding(disorder);
  if (change <= RANDOM_LIMIT)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s: its values differ too much in size: energies are whole numbers of "
                         "quanta, here of %.3g, and rounding would change couplings or fields by "
                         "%.2g of their size in the mean, more than 2^-12",
                         settings->disorder.path, quantum, change);
}

enum gpumc_status ising_rounding_check(const struct ising_settings *settings,
                                       const struct gpumc_model *model, struct gpumc_error *error)
{
  const struct ising_disorder_settings *given = &settings->disorder;
  const struct ising_disorder *disorder = ising_parameters(model)->disorder;
  const double quantum = model->quantum[ISING_ENERGY];
  if (disorder == NULL)
    return GPUMC_OK;
  enum gpumc_status status = check_shared("h", settings->field, quantum, error);
  if (status == GPUMC_OK && given->couplings == ISING_FILE)
    status = check_file(settings, disorder, quantum, error);
  else if (status == GPUMC_OK && given->couplings == ISING_GAUSSIAN)
    status = check_gaussian("couplings", settings->coupling, quantum, error);
  else if (status == GPUMC_OK)
    status = check_shared("J", settings->coupling, quantum, error);
  if (status == GPUMC_OK && given->fields == ISING_GAUSSIAN)
    status = check_gaussian("random fields", given->width, quantum, error);
  else if (status == GPUMC_OK && given->fields == ISING_BIMODAL)
    status = check_shared("random_field.width", given->width, quantum, error);
  return status;
}
