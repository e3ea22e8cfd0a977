/* Samples of quenched disorder: an instance's settings for them, the properties of all of them, and
 * how each is drawn, or found in a file. */
#include <math.h>
#include <stdlib.h>

#include "core/base/checksum.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/numerics/threshold.h"
#include "core/storage/recorder.h"
#include "models/lattice/disorder/disorder.h"

/* A Gaussian number is below (-2 ln s)^(1/2), s >= 2^-63. */
#define GAUSSIAN_LARGEST 9.35

enum { RANDOM_ROUNDS = 10 };

static void describe_file(struct lattice_disorder *disorder)
{
  const struct lattice_file_values *couplings = &disorder->file.values[LATTICE_FILE_COUPLINGS];
  const struct lattice_file_values *fields = &disorder->file.values[LATTICE_FILE_FIELDS];
  disorder->largest_coupling = couplings->largest;
  disorder->couplings_are_alike = couplings->alike && couplings->largest > 0.0;
  disorder->couplings_are_signs = couplings->alike && couplings->largest == 1.0;
  if (!disorder->file.has_fields)
    return;
  disorder->largest_field = fields->largest;
  disorder->fields_are_signs = fields->alike;
}

static void describe_distributions(struct lattice_disorder *disorder)
{
  const double coupling = disorder->coupling, width = disorder->width;
  const bool gaussian = disorder->couplings == LATTICE_GAUSSIAN;
  const bool gaussian_fields = disorder->fields == LATTICE_GAUSSIAN;
  disorder->couplings_are_signs = disorder->couplings == LATTICE_BIMODAL;
  disorder->largest_coupling = fabs(coupling) * (gaussian ? GAUSSIAN_LARGEST : 1.0);
  disorder->coupling_square = coupling * coupling;
  disorder->fields_are_signs = disorder->fields == LATTICE_BIMODAL;
  disorder->largest_field = width * (gaussian_fields ? GAUSSIAN_LARGEST : 1.0);
  disorder->field_square = width * width;
}

static enum gpumc_status read_file(const char *path, const struct gpumc_checkerboard *lattice,
                                   struct lattice_disorder *disorder, struct gpumc_error *error)
{
  const size_t shape[] = {lattice->length_x, lattice->length_y, lattice->length_z};
  const uint64_t first = disorder->first_sample;
  GPUMC_TRY(
      lattice_samples_open(path, lattice->dimension, shape, (size_t)first, &disorder->file, error));
  if (first >= disorder->file.samples)
    return gpumc_error_set(error, GPUMC_INVALID, "%s holds samples 0 to %zu, not sample %llu", path,
                           disorder->file.samples - 1, (unsigned long long)first);
  if (disorder->file.has_fields && disorder->fields != LATTICE_UNIFORM)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s holds random fields already: leave out random_field, or take the "
                           "fields out of the file",
                           path);
  describe_file(disorder);
  return GPUMC_OK;
}

enum gpumc_status lattice_samples_create(const struct lattice_disorder_settings *settings,
                                         const struct gpumc_checkerboard *lattice, double coupling,
                                         struct lattice_disorder **disorder,
                                         struct gpumc_error *error)
{
  struct lattice_disorder *made = NULL;
  *disorder = NULL;
  if (settings->couplings == LATTICE_UNIFORM && settings->fields == LATTICE_UNIFORM)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&made, 1, "samples of the disorder", error));
  made->dimension = lattice->dimension;
  made->couplings = settings->couplings;
  made->fields = settings->fields;
  made->positive = gpumc_threshold(settings->positive);
  made->coupling = coupling;
  made->width = settings->fields == LATTICE_UNIFORM ? 0.0 : settings->width;
  made->random = gpumc_random_make(settings->seed, 0, RANDOM_ROUNDS);
  made->first_sample = settings->first_sample;
  describe_distributions(made);
  const enum gpumc_status status = settings->couplings == LATTICE_FILE
                                       ? read_file(settings->path, lattice, made, error)
                                       : GPUMC_OK;
  if (status == GPUMC_OK)
    *disorder = made;
  else
    lattice_samples_free(made);
  return status;
}

void lattice_samples_free(struct lattice_disorder *disorder)
{
  if (disorder != NULL)
    lattice_samples_file_free(&disorder->file);
  free(disorder);
}

struct lattice_disorder_traits lattice_samples_traits(const struct lattice_disorder *disorder)
{
  if (disorder == NULL)
    return (struct lattice_disorder_traits){0};
  return (struct lattice_disorder_traits){
      .couplings = disorder->couplings != LATTICE_UNIFORM,
      .fields = disorder->fields != LATTICE_UNIFORM || disorder->file.has_fields,
      .couplings_are_signs = disorder->couplings_are_signs,
      .fields_are_signs = disorder->fields_are_signs,
      .field_width = disorder->fields_are_signs ? disorder->largest_field : 0.0};
}

double lattice_largest_coupling(const struct lattice_disorder *disorder, double coupling)
{
  return disorder != NULL ? disorder->largest_coupling : fabs(coupling);
}

double lattice_samples_largest_field(const struct lattice_disorder *disorder)
{
  return disorder->largest_field;
}

double lattice_samples_coupling_square(const struct lattice_disorder *disorder)
{
  return disorder->coupling_square;
}

double lattice_samples_field_square(const struct lattice_disorder *disorder)
{
  return disorder->field_square;
}

/* Bimodal numbers are of one size; there are none if it is 0. */
static struct lattice_multiples
drawn_multiples(enum lattice_distribution distribution, double size, size_t of_sample)
{
  if (distribution == LATTICE_GAUSSIAN)
    return (struct lattice_multiples){.none = true};
  return lattice_multiples_alike(size, of_sample);
}

struct lattice_multiples
lattice_samples_coupling_multiples(const struct lattice_disorder *disorder, size_t of_sample)
{
  return disorder->couplings == LATTICE_FILE
             ? disorder->file.values[LATTICE_FILE_COUPLINGS].multiples
             : drawn_multiples(disorder->couplings, fabs(disorder->coupling), of_sample);
}

struct lattice_multiples
lattice_samples_field_multiples(const struct lattice_disorder *disorder, size_t of_sample)
{
  return disorder->file.has_fields ? disorder->file.values[LATTICE_FILE_FIELDS].multiples
                                   : drawn_multiples(disorder->fields, disorder->width, of_sample);
}

enum gpumc_status lattice_samples_complete(struct lattice_disorder *disorder, double quantum,
                                           struct gpumc_error *error)
{
  const struct lattice_file_values *values = disorder->file.values;
  if (disorder->couplings != LATTICE_FILE)
    return GPUMC_OK;
  GPUMC_TRY(lattice_samples_weigh(&disorder->file, quantum, error));
  disorder->coupling_square = values[LATTICE_FILE_COUPLINGS].square;
  if (disorder->file.has_fields)
    disorder->field_square = values[LATTICE_FILE_FIELDS].square;
  return GPUMC_OK;
}

double lattice_samples_rounding(const struct lattice_disorder *disorder)
{
  const struct lattice_file_values *values = disorder->file.values;
  return fmax(values[LATTICE_FILE_COUPLINGS].rounding, values[LATTICE_FILE_FIELDS].rounding);
}

size_t lattice_samples_count(const struct lattice_disorder *disorder)
{
  const size_t all = disorder->couplings == LATTICE_FILE ? disorder->file.samples
                                                         : (size_t)LATTICE_SAMPLES_MAXIMUM + 1;
  return all - (size_t)disorder->first_sample;
}

/* The place of a random number: a purpose, and a site or the bond in a direction from it. */
struct place {
  struct gpumc_random random;
  uint32_t site, sample, direction, purpose;
};

static void draw_words(const struct place *place, uint32_t draw, uint32_t word[4])
{
  gpumc_random_draw(place->random, place->site, place->sample, place->direction,
                    gpumc_random_label(place->purpose, draw), word);
}

/* Returns the middle of one of 2^32 equal parts of (-1, 1): odd multiples of 2^-32. */
static double symmetric_uniform(uint32_t word)
{
  return fma((double)word, 0x1p-31, 0x1p-32 - 1.0);
}

/* Returns a number of variance 1. One attempt in five fails. */
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

static double draw_value(enum lattice_distribution distribution, uint64_t positive, double size,
                         const struct place *place)
{
  uint32_t word[4];
  if (distribution == LATTICE_GAUSSIAN)
    return size * gaussian(place);
  draw_words(place, 0, word);
  return word[0] < positive ? size : -size;
}

/* Returns values of a sample that is kept; NULL if nothing is read. */
static const double *
read_values(const struct lattice_disorder *disorder, enum lattice_file_kind kind, uint32_t sample)
{
  const struct lattice_file_values *values = &disorder->file.values[kind];
  if (values->kept_count == 0)
    return NULL;
  return values->kept + (sample - disorder->file.first) * values->of_sample;
}

double
lattice_samples_coupling(const struct lattice_disorder *disorder, uint32_t sample, size_t bond)
{
  const struct place place = {disorder->random, (uint32_t)(bond / disorder->dimension), sample,
                              (uint32_t)(bond % disorder->dimension),
                              GPUMC_RANDOM_LATTICE_COUPLINGS};
  if (disorder->couplings == LATTICE_UNIFORM)
    return disorder->coupling;
  if (disorder->couplings == LATTICE_FILE)
    return read_values(disorder, LATTICE_FILE_COUPLINGS, sample)[bond];
  return draw_value(disorder->couplings, disorder->positive, disorder->coupling, &place);
}

double lattice_samples_field(const struct lattice_disorder *disorder, uint32_t sample, size_t site)
{
  const struct place place = {disorder->random, (uint32_t)site, sample, 0,
                              GPUMC_RANDOM_LATTICE_FIELDS};
  if (disorder->file.has_fields)
    return read_values(disorder, LATTICE_FILE_FIELDS, sample)[site];
  if (disorder->fields == LATTICE_UNIFORM)
    return 0.0;
  return draw_value(disorder->fields, gpumc_threshold(0.5), disorder->width, &place);
}

enum gpumc_status lattice_samples_find(struct lattice_disorder *disorder, size_t number,
                                       uint32_t *sample, struct gpumc_error *error)
{
  if (number >= lattice_samples_count(disorder))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "sample %zu after the first requested, but only %zu exist", number,
                           lattice_samples_count(disorder));
  *sample = (uint32_t)(disorder->first_sample + number);
  return disorder->couplings == LATTICE_FILE ? lattice_samples_keep(&disorder->file, *sample, error)
                                             : GPUMC_OK;
}

/* ---- samples in results ---- */

/* Bytes of samples that are written at a time, unless one is larger. */
enum { PIECE_BYTES = 1 << 20 };

static enum gpumc_status write_values(const struct lattice_disorder_record *record,
                                      const struct gpumc_dataset *dataset, bool fields,
                                      struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const size_t samples = dataset->shape[0],
               of_sample = dataset->shape[1] * (dataset->rank == 3 ? dataset->shape[2] : 1);
  size_t most = PIECE_BYTES / (of_sample * sizeof(double));
  double *value = NULL;
  most = most < samples ? most : samples;
  most = most < 1 ? 1 : most;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&value, most * of_sample,
                                             "samples on their way to the file", error));
  GPUMC_TRY_OUT(status, gpumc_recorder_dataset(recorder, dataset, error));
  for (size_t first = 0, count; first < samples; first += count) {
    count = most < samples - first ? most : samples - first;
    for (size_t s = 0; s < count; s++)
      GPUMC_TRY_OUT(status,
                    record->values(record->model, first + s, fields, value + s * of_sample, error));
    GPUMC_TRY_OUT(status,
                  gpumc_recorder_dataset_rows(recorder, dataset, first, count, value, error));
  }
out:
  free(value);
  return status;
}

static enum gpumc_status write_shape(const struct gpumc_checkerboard *lattice,
                                     struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  const double shape[LATTICE_DIMENSIONS_MAXIMUM] = {
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

enum gpumc_status lattice_disorder_write(const struct lattice_disorder_record *record,
                                         size_t samples, struct gpumc_recorder *recorder,
                                         struct gpumc_error *error)
{
  const struct gpumc_model *model = record->model;
  const struct gpumc_dataset couplings = {
      .group = "disorder",
      .label = {"couplings", "coupling of each site to the next one in each direction, by sample",
                model->energy_unit, "J_ij"},
      .rank = 3,
      .shape = {samples, model->sites, record->lattice->dimension},
  };
  const struct gpumc_dataset fields = {
      .group = "disorder",
      .label = {"fields", "random field of each site, by sample", model->energy_unit, "h_i"},
      .rank = 2,
      .shape = {samples, model->sites},
  };
  GPUMC_TRY(write_shape(record->lattice, recorder, error));
  GPUMC_TRY(write_values(record, &couplings, false, recorder, error));
  return record->fields ? write_values(record, &fields, true, recorder, error) : GPUMC_OK;
}

enum gpumc_status lattice_disorder_checksum(const struct lattice_disorder_record *record,
                                            size_t number, uint64_t *checksum,
                                            struct gpumc_error *error)
{
  const struct gpumc_model *model = record->model;
  const size_t bonds = model->sites * record->lattice->dimension;
  const size_t count = bonds + (record->fields ? model->sites : 0);
  struct gpumc_checksum sum;
  double *value = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&value, count, "a sample of the disorder", error));
  GPUMC_TRY_OUT(status, record->values(model, number, false, value, error));
  if (record->fields)
    GPUMC_TRY_OUT(status, record->values(model, number, true, value + bonds, error));
  gpumc_checksum_begin(&sum);
  gpumc_checksum_add(&sum, value, count * sizeof *value);
  *checksum = gpumc_checksum_value(&sum);
out:
  free(value);
  return status;
}
