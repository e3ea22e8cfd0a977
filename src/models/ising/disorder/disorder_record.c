/* Samples of quenched disorder written into a result, in the form that disorder_samples_hdf5.c
 * reads: without the uniform field, and in whole quanta of the energy, as the kernels had them. And
 * what they are known by. */
#include <stdlib.h>

#include "core/checksum.h"
#include "core/memory.h"
#include "core/recorder.h"
#include "models/ising/ising.h"

/* The samples, and room for one in quanta. */
struct disorder_record {
  const struct gpumc_model *model;
  size_t samples, bonds; /* bonds of a sample */
  bool has_fields;
  int32_t *quanta;
  double *coupling, *field; /* [samples][bonds], [samples][sites] */
};

static void record_free(struct disorder_record *record)
{
  free(record->quanta);
  free(record->coupling);
  free(record->field);
}

static enum gpumc_status record_init(struct disorder_record *record,
                                     const struct gpumc_model *model, size_t samples,
                                     struct gpumc_error *error)
{
  *record =
      (struct disorder_record){.model = model,
                               .samples = samples,
                               .bonds = model->sites * ising_parameters(model)->lattice.dimension,
                               .has_fields = ising_disorder_traits(model).fields};
  enum gpumc_status status =
      gpumc_allocate_array(&record->quanta, record->bonds, "couplings of a sample", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&record->coupling, samples * record->bonds,
                                  "couplings of the samples", error);
  if (status == GPUMC_OK && record->has_fields)
    status = gpumc_allocate_array(&record->field, samples * model->sites,
                                  "random fields of the samples", error);
  return status;
}

static enum gpumc_status
fill_sample(struct disorder_record *record, size_t number, struct gpumc_error *error)
{
  const struct gpumc_model *model = record->model;
  const double quantum = model->quantum[ISING_ENERGY];
  const double uniform = ising_parameters(model)->field_quanta;
  enum gpumc_status status = ising_disorder_sample(model, number, record->quanta, NULL, error);
  for (size_t i = 0; i < record->bonds && status == GPUMC_OK; i++)
    record->coupling[number * record->bonds + i] = (double)record->quanta[i] * quantum;
  if (status == GPUMC_OK && record->has_fields)
    status = ising_disorder_sample(model, number, NULL, record->quanta, error);
  for (size_t i = 0; record->has_fields && i < model->sites && status == GPUMC_OK; i++)
    record->field[number * model->sites + i] = ((double)record->quanta[i] - uniform) * quantum;
  return status;
}

static enum gpumc_status write_shape(const struct gpumc_model *model,
                                     struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const double shape[ISING_DIMENSIONS_MAXIMUM] = {
      (double)lattice->length_x, (double)lattice->length_y, (double)lattice->length_z};
  const struct gpumc_dataset dataset = {
      .group = "disorder",
      .label = {"shape", "sides of the lattice", "1", "L"},
      .rank = 1,
      .shape = {lattice->dimension},
      .integer = true,
      .values = shape,
  };
  return gpumc_recorder_dataset(recorder, &dataset, error);
}

static enum gpumc_status write_samples(const struct disorder_record *record,
                                       struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_model *model = record->model;
  const struct gpumc_dataset couplings = {
      .group = "disorder",
      .label = {"couplings", "coupling of each site to the next one in each direction, by sample",
                model->energy_unit, "J_ij"},
      .rank = 3,
      .shape = {record->samples, model->sites, record->bonds / model->sites},
      .values = record->coupling,
  };
  const struct gpumc_dataset fields = {
      .group = "disorder",
      .label = {"fields", "random field of each site, by sample", model->energy_unit, "h_i"},
      .rank = 2,
      .shape = {record->samples, model->sites},
      .values = record->field,
  };
  enum gpumc_status status = gpumc_recorder_dataset(recorder, &couplings, error);
  if (status == GPUMC_OK && record->has_fields)
    status = gpumc_recorder_dataset(recorder, &fields, error);
  return status;
}

enum gpumc_status ising_record(const struct gpumc_model *model, size_t samples,
                               struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct disorder_record record;
  if (!ising_parameters(model)->write_disorder)
    return GPUMC_OK;
  enum gpumc_status status = record_init(&record, model, samples, error);
  for (size_t number = 0; number < samples && status == GPUMC_OK; number++)
    status = fill_sample(&record, number, error);
  if (status == GPUMC_OK)
    status = write_shape(model, recorder, error);
  if (status == GPUMC_OK)
    status = write_samples(&record, recorder, error);
  record_free(&record);
  return status;
}

enum gpumc_status ising_sample_checksum(const struct gpumc_model *model, size_t number,
                                        uint64_t *checksum, struct gpumc_error *error)
{
  const size_t bonds = model->sites * ising_parameters(model)->lattice.dimension;
  struct gpumc_checksum sum;
  int32_t *quanta = NULL;
  enum gpumc_status status =
      gpumc_allocate_array(&quanta, bonds + model->sites, "a sample of the disorder", error);
  if (status == GPUMC_OK)
    status = ising_disorder_sample(model, number, quanta, quanta + bonds, error);
  gpumc_checksum_begin(&sum);
  for (size_t i = 0; i < bonds + model->sites && status == GPUMC_OK; i++) {
    const double energy = (double)quanta[i] * model->quantum[ISING_ENERGY];
    gpumc_checksum_add(&sum, &energy, sizeof energy);
  }
  *checksum = gpumc_checksum_value(&sum);
  free(quanta);
  return status;
}
