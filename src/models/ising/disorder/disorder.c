/* Samples of quenched disorder: what an instance has of them, what is known of them all, and how
 * each is drawn, or found in a file. */
#include <math.h>
#include <stdlib.h>

#include "core/base/checksum.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/numerics/threshold.h"
#include "core/storage/recorder.h"
#include "models/ising/disorder/disorder.h"
#include "models/ising/ising.h"

/* A Gaussian number is below (-2 ln s)^(1/2), s >= 2^-63. */
#define GAUSSIAN_LARGEST 9.35

enum { RANDOM_ROUNDS = 10 };

static void describe_file(struct ising_disorder *disorder)
{
  const struct ising_file_values *couplings = &disorder->file.values[ISING_FILE_COUPLINGS];
  const struct ising_file_values *fields = &disorder->file.values[ISING_FILE_FIELDS];
  disorder->largest_coupling = couplings->largest;
  disorder->couplings_are_alike = couplings->alike && couplings->largest > 0.0;
  disorder->couplings_are_signs = couplings->alike && couplings->largest == 1.0;
  if (!disorder->file.has_fields)
    return;
  disorder->largest_field = fields->largest;
  disorder->fields_are_signs = fields->alike;
}

static void describe_distributions(struct ising_disorder *disorder)
{
  const double coupling = disorder->coupling, width = disorder->width;
  const bool gaussian = disorder->couplings == ISING_GAUSSIAN;
  const bool gaussian_fields = disorder->fields == ISING_GAUSSIAN;
  disorder->couplings_are_signs = disorder->couplings == ISING_BIMODAL;
  disorder->largest_coupling = fabs(coupling) * (gaussian ? GAUSSIAN_LARGEST : 1.0);
  disorder->coupling_square = coupling * coupling;
  disorder->fields_are_signs = disorder->fields == ISING_BIMODAL;
  disorder->largest_field = width * (gaussian_fields ? GAUSSIAN_LARGEST : 1.0);
  disorder->field_square = width * width;
}

static enum gpumc_status read_file(const struct ising_settings *settings,
                                   struct ising_disorder *disorder, struct gpumc_error *error)
{
  const char *path = settings->disorder.path;
  const uint64_t first = disorder->first_sample;
  GPUMC_TRY(ising_samples_open(path, settings->dimension, settings->shape, (size_t)first,
                               &disorder->file, error));
  if (first >= disorder->file.samples)
    return gpumc_error_set(error, GPUMC_INVALID, "%s holds samples 0 to %zu, not sample %llu", path,
                           disorder->file.samples - 1, (unsigned long long)first);
  if (disorder->file.has_fields && disorder->fields != ISING_UNIFORM)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s holds random fields already: leave out random_field, or take the "
                           "fields out of the file",
                           path);
  describe_file(disorder);
  return GPUMC_OK;
}

enum gpumc_status ising_samples_create(const struct ising_settings *settings,
                                       struct ising_disorder **disorder, struct gpumc_error *error)
{
  const struct ising_disorder_settings *given = &settings->disorder;
  struct ising_disorder *made = NULL;
  *disorder = NULL;
  if (given->couplings == ISING_UNIFORM && given->fields == ISING_UNIFORM)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&made, 1, "samples of the disorder", error));
  made->couplings = given->couplings;
  made->fields = given->fields;
  made->positive = gpumc_threshold(given->positive);
  made->coupling = settings->coupling;
  made->width = given->fields == ISING_UNIFORM ? 0.0 : given->width;
  made->random = gpumc_random_make(given->seed, 0, RANDOM_ROUNDS);
  made->first_sample = given->first_sample;
  describe_distributions(made);
  const enum gpumc_status status =
      given->couplings == ISING_FILE ? read_file(settings, made, error) : GPUMC_OK;
  if (status == GPUMC_OK)
    *disorder = made;
  else
    ising_samples_free(made);
  return status;
}

void ising_samples_free(struct ising_disorder *disorder)
{
  if (disorder != NULL)
    ising_samples_file_free(&disorder->file);
  free(disorder);
}

struct ising_disorder_traits ising_samples_traits(const struct ising_disorder *disorder)
{
  if (disorder == NULL)
    return (struct ising_disorder_traits){0};
  return (struct ising_disorder_traits){
      .couplings = disorder->couplings != ISING_UNIFORM,
      .fields = disorder->fields != ISING_UNIFORM || disorder->file.has_fields,
      .couplings_are_signs = disorder->couplings_are_signs,
      .fields_are_signs = disorder->fields_are_signs,
      .field_width = disorder->fields_are_signs ? disorder->largest_field : 0.0};
}

double ising_samples_largest_coupling(const struct ising_disorder *disorder)
{
  return disorder->largest_coupling;
}

double ising_samples_largest_field(const struct ising_disorder *disorder)
{
  return disorder->largest_field;
}

double ising_samples_coupling_square(const struct ising_disorder *disorder)
{
  return disorder->coupling_square;
}

double ising_samples_field_square(const struct ising_disorder *disorder)
{
  return disorder->field_square;
}

enum gpumc_status
ising_samples_complete(struct ising_disorder *disorder, double quantum, struct gpumc_error *error)
{
  const struct ising_file_values *values = disorder->file.values;
  if (disorder->couplings != ISING_FILE)
    return GPUMC_OK;
  GPUMC_TRY(ising_samples_weigh(&disorder->file, quantum, error));
  disorder->coupling_square = values[ISING_FILE_COUPLINGS].square;
  if (disorder->file.has_fields)
    disorder->field_square = values[ISING_FILE_FIELDS].square;
  return GPUMC_OK;
}

double ising_samples_rounding(const struct ising_disorder *disorder)
{
  const struct ising_file_values *values = disorder->file.values;
  return fmax(values[ISING_FILE_COUPLINGS].rounding, values[ISING_FILE_FIELDS].rounding);
}

size_t ising_samples_count(const struct ising_disorder *disorder)
{
  const size_t all = disorder->couplings == ISING_FILE ? disorder->file.samples
                                                       : (size_t)ISING_SAMPLES_MAXIMUM + 1;
  return all - (size_t)disorder->first_sample;
}

struct ising_disorder_traits ising_disorder_traits(const struct gpumc_model *model)
{
  struct ising_disorder_traits traits = ising_samples_traits(ising_parameters(model)->disorder);
  traits.field_width = rint(traits.field_width / model->quantum[ISING_ENERGY]);
  return traits;
}

const char *ising_disorder_no_bits(const struct gpumc_model *model)
{
  const struct ising_disorder_traits traits = ising_disorder_traits(model);
  if (traits.couplings && !traits.couplings_are_signs &&
      ising_parameters(model)->disorder->couplings_are_alike)
    return "it keeps a coupling as one bit, +1 or -1, but these all have another size: give their "
           "signs, and multiply beta by the size";
  if (traits.couplings && !traits.couplings_are_signs)
    return "it keeps a coupling as one bit, but not all of these are +1 or -1";
  if (traits.fields && !traits.fields_are_signs)
    return "it keeps a random field as one bit, but these differ in size";
  if (traits.fields && ising_parameters(model)->field != 0.0)
    return "it keeps a field as one bit, but random fields with a uniform one differ in size";
  return NULL;
}

/* Where a random number stands: of a purpose, for a site, or for the bond in a direction from it.
 */
struct place {
  struct gpumc_random random;
  uint32_t site, sample, direction, purpose;
};

static void draw_words(const struct place *place, uint32_t draw, uint32_t word[4])
{
  gpumc_random_draw(place->random, place->site, place->sample, place->direction,
                    gpumc_random_label(place->purpose, draw), word);
}

/* The middle of one of 2^32 equal parts of (-1, 1): odd multiples of 2^-32. */
static double symmetric_uniform(uint32_t word)
{
  return fma((double)word, 0x1p-31, 0x1p-32 - 1.0);
}

/* Variance 1. One attempt in five fails. */
static double gaussian(const struct place *place)
{
  uint32_t word[4];
  for (uint32_t draw = 0;; draw++) {
    draw_words(place, draw, word);
    for (int half = 0; half < 2; half++) {
      const double x = symmetric_uniform(word[2 * half]), y = symmetric_uniform(word[2 * half + 1]);
      const double s = fma(x, x, y * y);
      if (s < 1.0)
        return x * sqrt(-2.0 * gpumc_log(s) / s);
    }
  }
}

static double draw_value(enum ising_distribution distribution, uint64_t positive, double size,
                         const struct place *place)
{
  uint32_t word[4];
  if (distribution == ISING_GAUSSIAN)
    return size * gaussian(place);
  draw_words(place, 0, word);
  return word[0] < positive ? size : -size;
}

static int32_t in_quanta(const struct gpumc_model *model, double energy)
{
  return (int32_t)rint(energy / model->quantum[ISING_ENERGY]);
}

/* Of a sample that is kept; NULL where nothing is read. */
static const double *
read_values(const struct ising_disorder *disorder, enum ising_file_kind kind, uint32_t sample)
{
  const struct ising_file_values *values = &disorder->file.values[kind];
  if (values->kept_count == 0)
    return NULL;
  return values->kept + (sample - disorder->file.first) * values->of_sample;
}

static void fill_couplings(const struct gpumc_model *model, uint32_t sample, int32_t *coupling)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct ising_disorder *disorder = parameters->disorder;
  const size_t dimension = parameters->lattice.dimension, bonds = model->sites * dimension;
  if (disorder == NULL || disorder->couplings == ISING_UNIFORM) {
    for (size_t i = 0; i < bonds; i++)
      coupling[i] = (int32_t)rint(parameters->coupling_quanta);
    return;
  }
  const double *read = read_values(disorder, ISING_FILE_COUPLINGS, sample);
  for (size_t i = 0; i < bonds; i++) {
    const struct place place = {disorder->random, (uint32_t)(i / dimension), sample,
                                (uint32_t)(i % dimension), GPUMC_RANDOM_LATTICE_COUPLINGS};
    coupling[i] = in_quanta(model, disorder->couplings == ISING_FILE
                                       ? read[i]
                                       : draw_value(disorder->couplings, disorder->positive,
                                                    disorder->coupling, &place));
  }
}

static double random_field(const struct ising_disorder *disorder, uint32_t sample, size_t site)
{
  const struct place place = {disorder->random, (uint32_t)site, sample, 0,
                              GPUMC_RANDOM_LATTICE_FIELDS};
  if (disorder->file.has_fields)
    return read_values(disorder, ISING_FILE_FIELDS, sample)[site];
  if (disorder->fields == ISING_UNIFORM)
    return 0.0;
  return draw_value(disorder->fields, gpumc_threshold(0.5), disorder->width, &place);
}

static void fill_fields(const struct gpumc_model *model, uint32_t sample, int32_t *field)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const int32_t uniform = (int32_t)rint(parameters->field_quanta);
  for (size_t i = 0; i < model->sites; i++)
    field[i] = uniform + (parameters->disorder == NULL
                              ? 0
                              : in_quanta(model, random_field(parameters->disorder, sample, i)));
}

enum gpumc_status ising_disorder_sample(const struct gpumc_model *model, size_t number,
                                        int32_t *coupling, int32_t *field,
                                        struct gpumc_error *error)
{
  struct ising_disorder *disorder = ising_parameters(model)->disorder;
  if (disorder != NULL && number >= ising_samples_count(disorder))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "sample %zu after the first requested, but only %zu exist", number,
                           ising_samples_count(disorder));
  const uint32_t sample = disorder != NULL ? (uint32_t)(disorder->first_sample + number) : 0;
  if (disorder != NULL && disorder->couplings == ISING_FILE)
    GPUMC_TRY(ising_samples_keep(&disorder->file, sample, error));
  if (coupling != NULL)
    fill_couplings(model, sample, coupling);
  if (field != NULL)
    fill_fields(model, sample, field);
  return GPUMC_OK;
}

/* ---- what of the samples stands in results ---- */

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
  GPUMC_TRY(ising_disorder_sample(model, number, record->fields ? NULL : record->quanta,
                                  record->fields ? record->quanta : NULL, error));
  for (size_t i = 0; i < record->of_sample; i++)
    value[i] = ((double)record->quanta[i] - uniform) * model->quantum[ISING_ENERGY];
  return GPUMC_OK;
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
  enum gpumc_status status;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&record.quanta, record.of_sample, "a sample in quanta", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&record.value, record.most * record.of_sample,
                                             "samples on their way to the file", error));
  GPUMC_TRY_OUT(status, write_pieces(&record, recorder, error));
out:
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
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&quanta, bonds + model->sites,
                                             "a sample of the disorder", error));
  GPUMC_TRY_OUT(status, ising_disorder_sample(model, number, quanta, quanta + bonds, error));
  gpumc_checksum_begin(&sum);
  for (size_t i = 0; i < bonds + model->sites; i++) {
    const double energy = (double)quanta[i] * model->quantum[ISING_ENERGY];
    gpumc_checksum_add(&sum, &energy, sizeof energy);
  }
  *checksum = gpumc_checksum_value(&sum);
out:
  free(quanta);
  return status;
}
