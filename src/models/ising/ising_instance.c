/* Instances of the models of Ising spins: geometry, spectrum, units. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "models/ising/ising.h"
#include "models/lattice/instance.h"
#include "models/lattice/wave.h"

enum {
  /* With a field or Gaussian disorder, the largest energy is between 2^(ENERGY_BITS - 1) and
   * 2^ENERGY_BITS quanta, and a bond or field below 2^TERM_BITS. */
  ENERGY_BITS = 40,
  TERM_BITS = 30,
};

/* Returns a power of two. */
static double fine_quantum(double largest_energy, double largest_term)
{
  int of_energy, of_term;
  frexp(largest_energy, &of_energy);
  frexp(largest_term, &of_term);
  of_energy -= ENERGY_BITS;
  of_term -= TERM_BITS;
  return ldexp(1.0, of_energy > of_term ? of_energy : of_term);
}

/* Plain: energies are multiples of |J|; flipping a spin, which has an even number of neighbours,
 * changes the sum of all bonds by a multiple of 4. With disorder, the offset of the multiples
 * depends on the sample. */
static void describe_energy(struct gpumc_model *model, struct ising_parameters *parameters)
{
  const double coupling = parameters->coupling, bonds = (double)parameters->lattice.dimension;
  const double of_site =
      bonds * ising_largest_coupling(parameters) + ising_largest_field(parameters);
  const double largest = (double)model->sites * of_site;
  double *quantum = &model->quantum[ISING_ENERGY];
  if (parameters->plain) {
    *quantum = fabs(coupling);
    struct gpumc_grid *grid = &model->grid[ISING_ENERGY];
    grid->lowest = -(int64_t)(parameters->lattice.dimension * model->sites);
    grid->spacing = parameters->disorder == NULL ? 4 : 2;
    grid->levels = (size_t)(-2 * grid->lowest / grid->spacing) + 1;
  } else if (parameters->disorder == NULL) {
    int exponent;
    frexp(largest, &exponent);
    *quantum = ldexp(1.0, exponent - ENERGY_BITS);
  } else {
    *quantum = fine_quantum(
        largest, fmax(ising_largest_coupling(parameters), ising_largest_field(parameters)));
  }
  /* Spins without any coupling or field have one energy, 0, but a bound is never 0. */
  model->bound[ISING_ENERGY] = largest > 0.0 ? largest / *quantum : 1.0;
  parameters->coupling_quanta = coupling / *quantum;
  parameters->field_quanta = parameters->field / *quantum;
  if (parameters->disorder != NULL) {
    parameters->coupling_quanta = rint(parameters->coupling_quanta);
    parameters->field_quanta = rint(parameters->field_quanta);
  }
  if (!parameters->plain)
    ising_describe_spectrum(model);
}

/* With disorder the field is a whole number of quanta, like couplings. */
static void describe_controls(struct gpumc_model *model, const struct ising_parameters *parameters)
{
  model->control[ISING_BETA] = NAN;
  model->control[ISING_FIELD] = parameters->disorder == NULL
                                    ? parameters->field
                                    : parameters->field_quanta * model->quantum[ISING_ENERGY];
  const struct lattice_disorder_traits traits = lattice_samples_traits(parameters->disorder);
  if (parameters->field != 0.0)
    model->immovable[ISING_FIELD] = "model.h gives it a value of its own; leave model.h out";
  else if (traits.fields)
    model->immovable[ISING_FIELD] = "there are random fields";
  else if (traits.couplings && !traits.couplings_are_signs)
    model->immovable[ISING_FIELD] = "couplings are other than +J and -J";
}

/* Amplitudes are those of spins and of overlaps. */
static void describe_waves(struct gpumc_model *model, struct ising_parameters *parameters)
{
  const double sites = (double)model->sites;
  parameters->wave_number = lattice_wave_number(&parameters->lattice);
  model->quantum[ISING_WAVE] = lattice_wave_quantum(sites);
  model->bound[ISING_WAVE] = sites * sites / model->quantum[ISING_WAVE];
  /* Rounded to the nearest, squares of clusters may exceed this by half a quantum each. */
  model->quantum[ISING_CLUSTER_WAVE] = model->quantum[ISING_WAVE];
  model->bound[ISING_CLUSTER_WAVE] = model->bound[ISING_WAVE] + 2.0 * sites;
  model->quantum[ISING_CLUSTER_SQUARE] = fmax(1.0, model->quantum[ISING_WAVE]);
  model->bound[ISING_CLUSTER_SQUARE] = sites * sites / model->quantum[ISING_CLUSTER_SQUARE] + sites;
}

/* Returns, at beta = 0, the sum of the squares of all couplings and fields, averaged over the
 * samples. */
static double
energy_variance(const struct gpumc_model *model, const struct ising_parameters *parameters)
{
  const struct lattice_disorder *disorder = parameters->disorder;
  const double coupling = parameters->coupling, field = parameters->field;
  double coupling_square = coupling * coupling, field_square = field * field;
  if (disorder != NULL) {
    coupling_square = lattice_samples_coupling_square(disorder);
    field_square += lattice_samples_field_square(disorder);
  }
  return (double)model->sites *
         fma((double)parameters->lattice.dimension, coupling_square, field_square);
}

/* Sides are even: domain walls cross every line of the lattice an even number of times, so link
 * overlaps are multiples of 4 apart. */
static void describe_pairs(const struct ising_settings *settings, struct gpumc_model *model,
                           struct ising_parameters *parameters)
{
  const int64_t sites = (int64_t)model->sites, bonds = (int64_t)settings->dimension * sites;
  model->pair[ISING_PAIR_SPIN] = (struct gpumc_pair_scale){1.0 / (double)sites, sites, 2};
  model->pair[ISING_PAIR_LINK] = (struct gpumc_pair_scale){1.0 / (double)bonds, bonds, 4};
  model->pair[ISING_PAIR_WAVE].unit = model->quantum[ISING_WAVE] / (double)model->sites;
  if (settings->disorder.couplings == LATTICE_GAUSSIAN && settings->field == 0.0 &&
      settings->disorder.fields == LATTICE_UNIFORM)
    parameters->bond_variance =
        (double)settings->dimension * settings->coupling * settings->coupling;
}

static void describe(const struct ising_settings *settings, struct gpumc_model *model,
                     struct ising_parameters *parameters)
{
  const struct lattice_disorder_traits traits = lattice_samples_traits(parameters->disorder);
  parameters->plain =
      settings->field == 0.0 && !traits.fields && (!traits.couplings || traits.couplings_are_signs);
  model->quantum[ISING_MAGNETIZATION] = 1.0;
  model->bound[ISING_MAGNETIZATION] = (double)model->sites;
  model->grid[ISING_MAGNETIZATION] =
      (struct gpumc_grid){-(int64_t)model->sites, 2, model->sites + 1};
  model->log_states = (double)model->sites * GPUMC_LN2;
  model->portable_bytes = (model->sites + 7) / 8;
  model->disorder = parameters->disorder != NULL;
  model->samples = model->disorder ? lattice_samples_count(parameters->disorder) : 1;
  if (model->disorder) {
    model->first_sample = (size_t)settings->disorder.first_sample;
    model->reads_file = settings->disorder.couplings == LATTICE_FILE;
    if (parameters->write_disorder)
      model->recorded_bytes =
          model->sites * (parameters->lattice.dimension + (traits.fields ? 1 : 0)) * sizeof(double);
  }
  describe_energy(model, parameters);
  describe_controls(model, parameters);
  describe_waves(model, parameters);
  describe_pairs(settings, model, parameters);
  lattice_name_units(model, settings->coupling);
}

/* Checks that quanta are fine enough. The error of a value shared by all sites is systematic; for
 * random values it averages out. */
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
      "%s = %.10g would become %.10g: with disorder, energies are rounded to multiples of %.3g, "
      "because the largest energy of the lattice is so large; give a multiple of it, or let "
      "couplings and fields differ less in size",
      name, value, rounded, quantum);
}

static enum gpumc_status
check_gaussian(const char *name, double width, double quantum, struct gpumc_error *error)
{
  if (quantum <= RANDOM_LIMIT * fabs(width))
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "Gaussian %s of standard deviation %g would be rounded too coarsely: energies are multiples "
      "of %.3g, more than 2^-12 of that deviation, because the lattice or other couplings and "
      "fields are large; use a smaller lattice, or let couplings and fields differ less in size",
      name, fabs(width), quantum);
}

static enum gpumc_status check_file(const struct ising_settings *settings,
                                    const struct lattice_disorder *disorder, double quantum,
                                    struct gpumc_error *error)
{
  const double change = lattice_samples_rounding(disorder);
  if (change <= RANDOM_LIMIT)
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s: its values differ too much in size: energies are rounded to multiples of %.3g, which "
      "would change couplings or fields by a fraction of %.2g on average; at most 2^-12 is "
      "allowed; scale or leave out the smallest, or use a smaller lattice",
      settings->disorder.path, quantum, change);
}

/* Returns GPUMC_INVALID if J, h or a bimodal width changes by more than one part in 2^17 when it is
 * rounded to quanta, if quanta are coarser than 2^-12 of a Gaussian's standard deviation, or if the
 * values of a file change by more than one part in 2^12, the mean over those that are not 0. For an
 * instance that is otherwise complete; without disorder nothing is rounded. */
static enum gpumc_status check_rounding(const struct ising_settings *settings,
                                        const struct gpumc_model *model, struct gpumc_error *error)
{
  const struct lattice_disorder_settings *given = &settings->disorder;
  const struct lattice_disorder *disorder = ising_parameters(model)->disorder;
  const double quantum = model->quantum[ISING_ENERGY];
  if (disorder == NULL)
    return GPUMC_OK;
  GPUMC_TRY(check_shared("h", settings->field, quantum, error));
  if (given->couplings == LATTICE_FILE)
    GPUMC_TRY(check_file(settings, disorder, quantum, error));
  else if (given->couplings == LATTICE_GAUSSIAN)
    GPUMC_TRY(check_gaussian("couplings", settings->coupling, quantum, error));
  else
    GPUMC_TRY(check_shared("J", settings->coupling, quantum, error));
  if (given->fields == LATTICE_GAUSSIAN)
    GPUMC_TRY(check_gaussian("random fields", given->width, quantum, error));
  else if (given->fields == LATTICE_BIMODAL)
    GPUMC_TRY(check_shared("random_field.width", given->width, quantum, error));
  return GPUMC_OK;
}

enum gpumc_status ising_instance(const struct ising_settings *settings, struct gpumc_model *model,
                                 struct gpumc_error *error)
{
  struct ising_parameters *parameters;
  memset(model, 0, sizeof *model);
  GPUMC_TRY(gpumc_allocate_array(&parameters, 1, "parameters of the model", error));
  parameters->lattice = gpumc_checkerboard_make(settings->dimension, settings->shape);
  parameters->coupling = settings->coupling;
  parameters->field = settings->field;
  parameters->write_disorder = settings->write_disorder;
  model->ops = settings->ops;
  model->sites = 2 * parameters->lattice.colour;
  model->parameters = parameters;
  GPUMC_TRY(lattice_samples_create(&settings->disorder, &parameters->lattice, settings->coupling,
                                   &parameters->disorder, error));
  describe(settings, model, parameters);
  if (parameters->disorder != NULL)
    GPUMC_TRY(lattice_samples_complete(parameters->disorder, model->quantum[ISING_ENERGY], error));
  model->variance[ISING_ENERGY] = energy_variance(model, parameters);
  model->variance[ISING_MAGNETIZATION] = (double)model->sites;
  return check_rounding(settings, model, error);
}

void ising_destroy(struct gpumc_model *model)
{
  struct ising_parameters *parameters = model->parameters;
  if (parameters != NULL)
    lattice_samples_free(parameters->disorder);
  free(parameters);
  memset(model, 0, sizeof *model);
}

/* ---- instances that kernels refuse ---- */

/* Kernels on a GPU accept fewer than 2^31 sites. */
static const size_t gpu_sites_limit = (size_t)1 << 31;

static const char *refuses_sites(const struct gpumc_model *model, bool on_gpu)
{
  if (model->sites > ISING_WORD_SITES_MAXIMUM)
    return "it numbers sites with 32 bits, but there are more than 2^32; `packed` supports "
           "lattices without disorder below 2^37 sites";
  if (on_gpu && model->sites >= gpu_sites_limit)
    return "on a GPU it supports lattices below 2^31 sites; `packed` supports larger ones without "
           "disorder";
  return NULL;
}

const char *ising_cpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  return refuses_sites(model, false);
}

const char *ising_gpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  return refuses_sites(model, true);
}
