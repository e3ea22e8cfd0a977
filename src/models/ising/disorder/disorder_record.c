/* Samples of quenched disorder written into a result, in the form that disorder_file_hdf5.c
 * reads: without the uniform field, and in whole quanta of the energy, as the kernels had them. And
 * what they are known by. */
#include <stdlib.h>

#include "core/base/checksum.h"
#include "core/base/memory.h"
#include "core/storage/recorder.h"
#include "models/ising/ising.h"

/* Of samples that are written at a time, unless one is larger. */
enum { PIECE_BYTES = 1 << 20 };

/* One kind of values, couplings or fields, of all samples, and room for some of them. */
struct values_record {
  const struct gpumc_model *model;
  const struct gpumc_dataset *dataset; /* a row is a sample */
  bool fields;
  size_t of_sample, most; /* values of a sample; samples there is room for */
  int32_t *quanta;        /* [of_sample] */
  double *value;          /* [most][of_sample] */
};

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Sample `number`, without the uniform field. */
static enum gpumc_status fill_sample(const struct values_record *record, size_t number,
                                     double *value, struct gpumc_error *error)
{
  const struct gpumc_model *model = record->model;
  const double uniform = record->fields ? ising_parameters(model)->field_quanta : 0.0;
  enum gpumc_status status =
      ising_disorder_sample(model, number, record->fields ? NULL : record->quanta,
                            record->fields ? record->quanta : NULL, error);
  for (size_t i = 0; i < record->of_sample && status == GPUMC_OK; i++)
    value[i] = ((double)record->quanta[i] - uniform) * model->quantum[ISING_ENERGY];
  return status;
}

static enum gpumc_status write_pieces(const struct values_record *record,
                                      struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const size_t samples = record->dataset->shape[0];
  GPUMC_TRY(gpumc_recorder_dataset(recorder, record->dataset, error));
  for (size_t first = 0, count; first < samples; first += count) {
    count = smaller(record->most, samples - first);
    for (size_t s = 0; s < count; s++)
      GPUMC_TRY(fill_sample(record, first + s, record->value + s * record->of_sample, error));
    GPUMC_TRY(
        gpumc_recorder_dataset_rows(recorder, record->dataset, first, count, record->value, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status write_values(const struct gpumc_model *model,
                                      const struct gpumc_dataset *dataset, bool fields,
                                      struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct values_record record = {.model = model, .dataset = dataset, .fields = fields};
  record.of_sample = dataset->shape[1] * (dataset->rank == 3 ? dataset->shape[2] : 1);
  record.most = smaller(PIECE_BYTES / (record.of_sample * sizeof *record.value), dataset->shape[0]);
  record.most = record.most < 1 ? 1 : record.most;
  enum gpumc_status status =
      gpumc_allocate_array(&record.quanta, record.of_sample, "a sample in quanta", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&record.value, record.most * record.of_sample,
                                  "samples on their way to the file", error);
  if (status == GPUMC_OK)
    status = write_pieces(&record, recorder, error);
  free(record.quanta);
  free(record.value);
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

enum gpumc_status ising_record(const struct gpumc_model *model, size_t samples,
                               struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const struct gpumc_dataset couplings = {
      .group = "disorder",
      .label = {"couplings", "coupling of each site to the next one in each direction, by sample",
                model->energy_unit, "J_ij"},
      .rank = 3,
      .shape = {samples, model->sites, ising_parameters(model)->lattice.dimension},
  };
  const struct gpumc_dataset fields = {
      .group = "disorder",
      .label = {"fields", "random field of each site, by sample", model->energy_unit, "h_i"},
      .rank = 2,
      .shape = {samples, model->sites},
  };
  if (!ising_parameters(model)->write_disorder)
    return GPUMC_OK;
  GPUMC_TRY(write_shape(model, recorder, error));
  GPUMC_TRY(write_values(model, &couplings, false, recorder, error));
  if (ising_disorder_traits(model).fields)
    GPUMC_TRY(write_values(model, &fields, true, recorder, error));
  return GPUMC_OK;
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
