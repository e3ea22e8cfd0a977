/* Couplings and fields of one sample: drawn from the seed and the number of the sample, or read.
 *
 * Coupling of site i in direction d, sample n: words of the counters {i, n, d, (LATTICE_COUPLINGS,
 * draw)}; random field of site i: of {i, n, 0, (LATTICE_FIELDS, draw)}, Philox with 10 rounds, key
 * = seed of the disorder and run 0. Bimodal: + where word 0 of draw 0 is below floor(p 2^32 + 1/2).
 * Gaussian: Marsaglia's polar method (Marsaglia and Bray, SIAM Rev. 6, 260 (1964)), an attempt for
 * each half of the words of draw 0, 1, ...; it needs a logarithm and a square root only, which have
 * the same bits everywhere. */
#include <math.h>

#include "core/numerics/elementary.h"
#include "core/numerics/threshold.h"
#include "models/ising/disorder/disorder_state.h"

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
                           "sample %zu behind the first is asked for, and there are %zu of them",
                           number, ising_samples_count(disorder));
  const uint32_t sample = disorder != NULL ? (uint32_t)(disorder->first_sample + number) : 0;
  if (disorder != NULL && disorder->couplings == ISING_FILE) {
    enum gpumc_status status = ising_samples_keep(&disorder->file, sample, error);
    if (status != GPUMC_OK)
      return status;
  }
  if (coupling != NULL)
    fill_couplings(model, sample, coupling);
  if (field != NULL)
    fill_fields(model, sample, field);
  return GPUMC_OK;
}
