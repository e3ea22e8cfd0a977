/* Samples of quenched disorder. */
#include "models/ising/ising_samples.h"

#include <math.h>
#include <stdlib.h>

struct ising_disorder {
  struct ising_disorder_settings settings;
};

enum gpumc_status ising_samples_create(const struct ising_settings *settings,
                                       struct ising_disorder **disorder, struct gpumc_error *error)
{
  (void)settings;
  (void)error;
  *disorder = NULL;
  return GPUMC_OK;
}

void ising_samples_free(struct ising_disorder *disorder)
{
  free(disorder);
}

double ising_samples_largest_coupling(const struct ising_disorder *disorder)
{
  (void)disorder;
  return 1.0;
}

double ising_samples_largest_field(const struct ising_disorder *disorder)
{
  return disorder->settings.width;
}

struct ising_disorder_traits ising_disorder_traits(const struct gpumc_model *model)
{
  (void)model;
  return (struct ising_disorder_traits){0};
}

enum gpumc_status ising_disorder_sample(const struct gpumc_model *model, size_t number,
                                        int32_t *coupling, int32_t *field,
                                        struct gpumc_error *error)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  (void)number;
  (void)error;
  for (size_t i = 0; coupling != NULL && i < model->sites * parameters->lattice.dimension; i++)
    coupling[i] = (int32_t)rint(parameters->coupling_quanta);
  for (size_t i = 0; field != NULL && i < model->sites; i++)
    field[i] = (int32_t)rint(parameters->field_quanta);
  return GPUMC_OK;
}
