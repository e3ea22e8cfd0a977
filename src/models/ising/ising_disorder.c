/* Samples of quenched disorder as models of Ising spins use them: in quanta of the energy. */
#include <math.h>

#include "models/ising/ising.h"

struct lattice_disorder_traits ising_disorder_traits(const struct gpumc_model *model)
{
  struct lattice_disorder_traits traits = lattice_samples_traits(ising_parameters(model)->disorder);
  traits.field_width = rint(traits.field_width / model->quantum[ISING_ENERGY]);
  return traits;
}

const char *ising_disorder_no_bits(const struct gpumc_model *model)
{
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  if (traits.couplings && !traits.couplings_are_signs &&
      ising_parameters(model)->disorder->couplings_are_alike)
    return "it stores a coupling as one bit, +1 or -1, but all of these have another size: give "
           "their signs, and multiply beta by the size";
  if (traits.couplings && !traits.couplings_are_signs)
    return "it stores a coupling as one bit, but not all of these are +1 or -1";
  if (traits.fields && !traits.fields_are_signs)
    return "it stores a random field as one bit, but these differ in size";
  if (traits.fields && ising_parameters(model)->field != 0.0)
    return "it stores a field as one bit, but random fields with a uniform one differ in size";
  return NULL;
}

static int32_t in_quanta(const struct gpumc_model *model, double energy)
{
  return (int32_t)rint(energy / model->quantum[ISING_ENERGY]);
}

static void fill_couplings(const struct gpumc_model *model, uint32_t sample, int32_t *coupling)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct lattice_disorder *disorder = parameters->disorder;
  const size_t bonds = model->sites * parameters->lattice.dimension;
  for (size_t i = 0; i < bonds; i++)
    coupling[i] = disorder != NULL ? in_quanta(model, lattice_samples_coupling(disorder, sample, i))
                                   : (int32_t)rint(parameters->coupling_quanta);
}

static int32_t random_field(const struct gpumc_model *model, uint32_t sample, size_t site)
{
  return in_quanta(model, lattice_samples_field(ising_parameters(model)->disorder, sample, site));
}

static int32_t uniform_field(const struct gpumc_model *model)
{
  return (int32_t)rint(ising_parameters(model)->field_quanta);
}

static void fill_fields(const struct gpumc_model *model, uint32_t sample, int32_t *field)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const int32_t uniform = uniform_field(model);
  for (size_t i = 0; i < model->sites; i++)
    field[i] = uniform + (parameters->disorder == NULL ? 0 : random_field(model, sample, i));
}

enum gpumc_status ising_disorder_sample(const struct gpumc_model *model, size_t number,
                                        int32_t *coupling, int32_t *field,
                                        struct gpumc_error *error)
{
  struct lattice_disorder *disorder = ising_parameters(model)->disorder;
  uint32_t sample = 0;
  if (disorder != NULL)
    GPUMC_TRY(lattice_samples_find(disorder, number, &sample, error));
  if (coupling != NULL)
    fill_couplings(model, sample, coupling);
  if (field != NULL)
    fill_fields(model, sample, field);
  return GPUMC_OK;
}

/* Returns the energies of a sample; for its fields, those of a uniform one, in quanta, are
 * added. */
static enum gpumc_status energies_of(const struct gpumc_model *model, size_t number, bool fields,
                                     int32_t uniform, double *value, struct gpumc_error *error)
{
  struct lattice_disorder *disorder = ising_parameters(model)->disorder;
  const size_t count = fields ? model->sites : model->sites * disorder->dimension;
  uint32_t sample;
  GPUMC_TRY(lattice_samples_find(disorder, number, &sample, error));
  for (size_t i = 0; i < count; i++)
    value[i] = model->quantum[ISING_ENERGY] *
               (fields ? uniform + random_field(model, sample, i)
                       : in_quanta(model, lattice_samples_coupling(disorder, sample, i)));
  return GPUMC_OK;
}

/* lattice_disorder_record.values for results and checksums. */
static enum gpumc_status random_values(const struct gpumc_model *model, size_t number, bool fields,
                                       double *value, struct gpumc_error *error)
{
  return energies_of(model, number, fields, 0, value, error);
}

static enum gpumc_status all_values(const struct gpumc_model *model, size_t number, bool fields,
                                    double *value, struct gpumc_error *error)
{
  return energies_of(model, number, fields, uniform_field(model), value, error);
}

enum gpumc_status ising_record(const struct gpumc_model *model, size_t samples,
                               struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct lattice_disorder_record record = {.model = model,
                                                 .lattice = &ising_parameters(model)->lattice,
                                                 .fields = ising_disorder_traits(model).fields,
                                                 .values = random_values};
  if (!ising_parameters(model)->write_disorder)
    return GPUMC_OK;
  return lattice_disorder_write(&record, samples, recorder, error);
}

enum gpumc_status ising_sample_checksum(const struct gpumc_model *model, size_t number,
                                        uint64_t *checksum, struct gpumc_error *error)
{
  const struct lattice_disorder_record record = {.model = model,
                                                 .lattice = &ising_parameters(model)->lattice,
                                                 .fields = true,
                                                 .values = all_values};
  return lattice_disorder_checksum(&record, number, checksum, error);
}
