/* The O(n) model: keys and instances. */
#include "models/heisenberg/heisenberg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/heisenberg/walk/heisenberg_walk.h"
#include "models/lattice/disorder/disorder_keys.h"
#include "models/lattice/instance.h"

enum {
  /* The largest energy and the largest M are below 2^CHANNEL_BITS quanta, so that a tally has room
   * for the squares of all replicas. */
  CHANNEL_BITS = 40,
  /* For those that are not squared in sums. */
  SUM_BITS = 60,
  /* The finest quantum of squared amplitudes of waves is 2^-WAVE_BITS: those of cold spins are of
   * the order of the temperature, and are rounded down. */
  WAVE_BITS = 48,
};

static const char *const distributions[] = {"uniform", "bimodal", "gaussian", "file", NULL};

static const struct gpumc_key keys[] = {
    {.name = "shape",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Sides [Lx], [Lx, Ly] or [Lx, Ly, Lz] of the periodic lattice.",
     .unit = "sites",
     .minimum = 2,
     .maximum = 1048576,
     .multiple_of = 2,
     .list_minimum = 1,
     .list_maximum = HEISENBERG_DIMENSIONS_MAXIMUM,
     .example = "[4, 4]",
     .required = true,
     .sweepable = true},
    {.name = "components",
     .type = GPUMC_KEY_INTEGER,
     .doc =
         "Components of a spin: 3 (Heisenberg) or 2 (XY). Entropies, free energies and numbers of "
         "states measure directions by area (ln(4 pi) for a free spin) or, with two components, "
         "by angle (ln(2 pi)).",
     .default_text = "3",
     .minimum = 2,
     .maximum = 3,
     .sweepable = true},
    {.name = "J",
     .type = GPUMC_KEY_REAL,
     .doc = "Coupling of nearest neighbours, positive for a ferromagnet; its size must be 1e-12 or "
            "more. For quenched couplings, the size of bimodal ones or the standard deviation of "
            "Gaussian ones.",
     .default_text = "1.0",
     .unit = "energy",
     .minimum = -1e6,
     .maximum = 1e6,
     .sweepable = true},
    {.name = "h",
     .type = GPUMC_KEY_REAL,
     .doc = "Magnetic field along the first axis of the spins, x.",
     .default_text = "0.0",
     .unit = "energy",
     .minimum = -1e6,
     .maximum = 1e6,
     .sweepable = true},
    LATTICE_KEY_COUPLINGS(distributions,
                          "J for every bond (uniform), or quenched: +J with probability p and -J "
                          "otherwise (bimodal), Gaussian of mean 0, or read from a file."),
    LATTICE_KEY_POSITIVE,
    LATTICE_KEY_DISORDER_SEED,
    LATTICE_KEY_SAMPLE,
    LATTICE_KEY_FILE,
    LATTICE_KEY_WRITE_COUPLINGS("couplings"),
    {.name = NULL},
};

/* ---- checks ---- */

static void check_shape(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  (void)subject;
  double sites = 1;
  for (struct gpumc_list shape = gpumc_params_list(params, "shape"); shape.left > 0;)
    sites *= (double)gpumc_list_integer(&shape);
  if (sites >= (double)HEISENBERG_SITES_LIMIT)
    gpumc_params_mistake(
        params, report, "shape",
        "shape: %g sites are too many: lattices of these spins must have fewer than 2^32", sites);
}

static void check_coupling(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report)
{
  (void)subject;
  const double J = gpumc_params_real(params, "J");
  if (J == 0.0)
    gpumc_params_mistake(params, report, "J", "J must not be 0: there would be no interaction");
  else if (fabs(J) < HEISENBERG_COUPLING_LEAST)
    gpumc_params_mistake(params, report, "J",
                         "J = %g is too small: kernels need a size of %g or more; give energies in "
                         "a smaller unit, such as J itself",
                         J, HEISENBERG_COUPLING_LEAST);
  else if (lattice_couplings_are(params, "file") && J != 1.0)
    gpumc_params_mistake(params, report, "J",
                         "J must be left at 1: couplings that are read from a file are energies");
  else if (!lattice_couplings_are(params, "uniform") && J < 0.0)
    gpumc_params_mistake(params, report, "J",
                         "J must be above 0: it is the size of couplings of both signs");
}

static void check_unused(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  (void)subject;
  const bool uniform = lattice_couplings_are(params, "uniform");
  if (uniform || lattice_couplings_are(params, "file"))
    lattice_check_unused(params, report, "disorder_seed",
                         uniform ? "couplings are uniform" : "couplings are read from a file");
  if (uniform)
    lattice_check_unused(params, report, "sample", "couplings are uniform");
  if (uniform && gpumc_params_boolean(params, "write_couplings"))
    gpumc_params_mistake(params, report, "write_couplings",
                         "write_couplings needs quenched couplings: these are all J");
}

static const struct gpumc_check checks[] = {
    {.reads = "shape", .run = check_shape},
    {.reads = "J couplings", .run = check_coupling},
    LATTICE_CHECK_FILE,
    LATTICE_CHECK_POSITIVE,
    {.reads = "couplings disorder_seed sample write_couplings", .run = check_unused},
    {.run = NULL}};

/* ---- instances ---- */

/* Sets the power of two for which `largest` is below 2^bits, and the bound in it. */
static void describe_channel(struct gpumc_model *model, size_t channel, double largest, int bits)
{
  int exponent;
  frexp(largest, &exponent);
  model->quantum[channel] = ldexp(1.0, exponent - bits);
  model->bound[channel] = largest / model->quantum[channel];
}

/* Returns a power of two, at most 2^SUM_BITS of which make up the largest square. */
static double wave_quantum(double sites)
{
  int exponent;
  frexp(sites * sites, &exponent);
  return ldexp(1.0, exponent > SUM_BITS - WAVE_BITS ? exponent - SUM_BITS : -WAVE_BITS);
}

/* Rounding makes spins so little longer than 1 that the next power of two has room for it. */
static void
describe_channels(struct gpumc_model *model, const struct heisenberg_parameters *parameters)
{
  const double sites = (double)model->sites, bonds = sites * (double)parameters->lattice.dimension;
  const double longer = 1.0 + 0x1p-16;
  const double strongest = lattice_largest_coupling(parameters->disorder, parameters->coupling);
  /* For bonds along x. */
  const double along = sites * fmax(strongest / fabs(parameters->coupling), 1.0);
  const double energy = longer * (bonds * strongest + sites * fabs(parameters->field));
  describe_channel(model, HEISENBERG_ENERGY, energy, CHANNEL_BITS);
  for (size_t c = HEISENBERG_MAGNETIZATION_X; c <= HEISENBERG_MAGNETIZATION2; c++)
    describe_channel(model, c, longer * sites, CHANNEL_BITS);
  describe_channel(model, HEISENBERG_ALONG, longer * along, CHANNEL_BITS);
  describe_channel(model, HEISENBERG_ACROSS, longer * along * along, SUM_BITS);
  describe_channel(model, HEISENBERG_DRIFT, sites, SUM_BITS);
  model->quantum[HEISENBERG_WAVE] = wave_quantum(sites);
  model->bound[HEISENBERG_WAVE] = longer * sites * sites / model->quantum[HEISENBERG_WAVE];
  /* Rounded to the nearest, squares of clusters may exceed this by half a quantum each. */
  model->quantum[HEISENBERG_CLUSTER_WAVE] = model->quantum[HEISENBERG_WAVE];
  model->bound[HEISENBERG_CLUSTER_WAVE] = model->bound[HEISENBERG_WAVE] + 2.0 * sites;
  model->quantum[HEISENBERG_CLUSTER_SQUARE] =
      fmax(lattice_wave_quantum(sites), ldexp(1.0, -2 * HEISENBERG_QUANTUM_BITS));
  model->bound[HEISENBERG_CLUSTER_SQUARE] =
      longer * sites * sites / model->quantum[HEISENBERG_CLUSTER_SQUARE] + sites;
}

/* At beta = 0, where <(S_i . S_j)^2> = <(S_i^x)^2> = 1/n. Both bonds of a pair along a side of
 * length 2 have the same product, so their couplings add up before they are squared. This is
 * ignored if couplings are quenched, which is right for independent ones of mean 0. */
static void
describe_variances(struct gpumc_model *model, const struct heisenberg_parameters *parameters)
{
  const double components = (double)parameters->components, sites = (double)model->sites;
  const double dimension = (double)parameters->lattice.dimension;
  const double coupling = parameters->coupling, field = parameters->field;
  const bool quenched = parameters->disorder != NULL;
  const struct gpumc_checkerboard *lattice = &parameters->lattice;
  const double doubled =
      (lattice->length_x == 2) + (lattice->length_y == 2) + (lattice->length_z == 2);
  const double square = quenched ? lattice_samples_coupling_square(parameters->disorder) : coupling;
  model->variance[HEISENBERG_ENERGY] =
      sites * fma(quenched ? dimension : (dimension + doubled) * coupling, square, field * field) /
      components;
  for (size_t c = HEISENBERG_MAGNETIZATION_X; c <= HEISENBERG_MAGNETIZATION_Z; c++)
    model->variance[c] = sites / components;
}

/* Limit on the rounding of a file's values to those of kernels: the mean over those that are not
 * 0. */
#define ROUNDING_LIMIT 0x1p-12

/* Sets what follows from the samples. */
static enum gpumc_status describe_samples(const struct heisenberg_settings *settings,
                                          struct gpumc_model *model, struct gpumc_error *error)
{
  struct heisenberg_parameters *parameters = model->parameters;
  const struct lattice_disorder_settings *given = &settings->disorder;
  parameters->weight = 1.0;
  GPUMC_TRY(lattice_samples_create(given, &parameters->lattice, settings->coupling,
                                   &parameters->disorder, error));
  if (parameters->disorder == NULL)
    return GPUMC_OK;
  const double strongest = lattice_largest_coupling(parameters->disorder, 0);
  const double largest = strongest / fabs(settings->coupling);
  if (largest > 0 && strongest < HEISENBERG_COUPLING_LEAST)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: the largest coupling is %g, but kernels need a size of %g or more: "
                           "give energies in a smaller unit",
                           given->path, strongest, HEISENBERG_COUPLING_LEAST);
  if (largest > 0)
    parameters->weight = exp2(ceil(log2(largest)));
  const double quantum =
      ldexp(fabs(settings->coupling) * parameters->weight, -HEISENBERG_COUPLING_BITS);
  GPUMC_TRY(lattice_samples_complete(parameters->disorder, quantum, error));
  model->disorder = true;
  model->samples = lattice_samples_count(parameters->disorder);
  model->first_sample = (size_t)given->first_sample;
  model->reads_file = given->couplings == LATTICE_FILE;
  if (settings->write_couplings)
    model->recorded_bytes = model->sites * parameters->lattice.dimension * sizeof(double);
  if (lattice_samples_traits(parameters->disorder).fields)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s holds random fields, which these spins do not have", given->path);
  if (model->reads_file && lattice_samples_rounding(parameters->disorder) > ROUNDING_LIMIT)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: its values differ too much in size: couplings are multiples of %.3g, and rounding "
        "would change them by a fraction of %.2g on average; at most 2^-12 is allowed",
        given->path, quantum, lattice_samples_rounding(parameters->disorder));
  return GPUMC_OK;
}

/* There are as many chiralities as bonds, or as plaquettes. */
static void
describe_pairs(struct gpumc_model *model, const struct heisenberg_parameters *parameters)
{
  const double sites = (double)model->sites, bonds = sites * (double)parameters->lattice.dimension;
  const double unit = ldexp(1.0, -HEISENBERG_QUANTUM_BITS),
               chiralities = heisenberg_chiralities(model);
  if (parameters->disorder == NULL)
    return;
  model->pair[HEISENBERG_PAIR_OVERLAP2].unit = ldexp(1.0, -HEISENBERG_OVERLAP2_BITS);
  model->pair[HEISENBERG_PAIR_LINK].unit = unit / bonds;
  model->pair[HEISENBERG_PAIR_CHIRALITY].unit = chiralities > 0 ? unit / chiralities : 0.0;
  model->pair[HEISENBERG_PAIR_WAVE].unit = model->quantum[HEISENBERG_WAVE] / sites;
}

static void describe_walks(struct gpumc_model *model, struct heisenberg_parameters *parameters)
{
  const size_t bonds = model->sites * parameters->lattice.dimension;
  if (model->disorder) {
    model->unwalkable = "its couplings are quenched; leave model.couplings at uniform, or use "
                        "algorithm canonical, pt or pa";
  } else if (bonds >= HEISENBERG_WALK_BONDS_LIMIT) {
    snprintf(parameters->unwalkable, sizeof parameters->unwalkable,
             "it has %zu bonds, but exact sums over them need fewer than 2^24 = %zu; use a smaller "
             "model.shape",
             bonds, HEISENBERG_WALK_BONDS_LIMIT);
    model->unwalkable = parameters->unwalkable;
  }
}

enum gpumc_status heisenberg_instance(const struct heisenberg_settings *settings,
                                      struct gpumc_model *model, struct gpumc_error *error)
{
  struct heisenberg_parameters *parameters;
  memset(model, 0, sizeof *model);
  model->ops = &gpumc_model_heisenberg;
  GPUMC_TRY(gpumc_allocate_array(&parameters, 1, "parameters of the model", error));
  model->parameters = parameters;
  parameters->lattice = gpumc_checkerboard_make(settings->dimension, settings->shape);
  parameters->components = settings->components;
  parameters->coupling = settings->coupling;
  parameters->field = settings->field;
  parameters->write_couplings = settings->write_couplings;
  model->sites = 2 * parameters->lattice.colour;
  model->portable_bytes = model->sites * (size_t)settings->components * sizeof(double);
  model->samples = 1;
  model->reaches_bounds = true;
  /* ln of the surface of the sphere, or of the length of the circle. */
  model->log_states =
      (double)model->sites * log((settings->components == 3 ? 4.0 : 2.0) * GPUMC_PI);
  model->free_site = settings->components == 3 ? "ln(4 pi)" : "ln(2 pi)";
  model->control[HEISENBERG_BETA] = NAN;
  model->control[HEISENBERG_FIELD] = settings->field;
  if (settings->field != 0.0)
    model->immovable[HEISENBERG_FIELD] = "model.h gives it a value of its own; leave model.h out";
  GPUMC_TRY(describe_samples(settings, model, error));
  describe_channels(model, parameters);
  describe_variances(model, parameters);
  describe_pairs(model, parameters);
  describe_walks(model, parameters);
  lattice_name_units(model, settings->coupling);
  return GPUMC_OK;
}

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct gpumc_list shape = gpumc_params_list(params, "shape");
  struct heisenberg_settings settings = {
      .dimension = shape.left,
      .components = (int)gpumc_params_integer(params, "components"),
      .coupling = gpumc_params_real(params, "J"),
      .field = gpumc_params_real(params, "h"),
      .write_couplings = gpumc_params_boolean(params, "write_couplings"),
  };
  lattice_read_couplings(params, &settings.disorder);
  lattice_read_sample(params, &settings.disorder);
  for (size_t d = 0; d < settings.dimension; d++)
    settings.shape[d] = (size_t)gpumc_list_integer(&shape);
  return heisenberg_instance(&settings, model, error);
}

static void destroy(struct gpumc_model *model)
{
  struct heisenberg_parameters *parameters = model->parameters;
  if (parameters != NULL)
    lattice_samples_free(parameters->disorder);
  free(parameters);
  memset(model, 0, sizeof *model);
}

/* In order of preference. */
static const struct gpumc_kernel_ops *const kernels[] = {
    &heisenberg_double_cpu, &heisenberg_float_cpu, &heisenberg_double_cuda,
    &heisenberg_float_cuda, &heisenberg_fast_cuda, NULL};

/* Without a range a density of states takes minutes: all energies are looked for. */
static const char *const examples[] = {"algorithm.range={from: -1.8, to: 1.0}", NULL};

const struct gpumc_model_ops gpumc_model_heisenberg = {
    .name = "heisenberg",
    .summary = "Heisenberg and XY spins on periodic chains, square and cubic lattices",
    .citation = "@article{Fisher1964,\n"
                "  author = {Fisher, Michael E.},\n"
                "  title = {Magnetism in One-Dimensional Systems---The {H}eisenberg Model for "
                "Infinite Spin},\n"
                "  journal = {American Journal of Physics},\n"
                "  volume = {32},\n"
                "  pages = {343--346},\n"
                "  year = {1964},\n"
                "  doi = {10.1119/1.1970340}\n"
                "}\n",
    .keys = keys,
    .examples = examples,
    .file_key = "file",
    .channels = heisenberg_channels,
    .n_channels = HEISENBERG_CHANNELS,
    .tracked = HEISENBERG_ENERGY,
    .pairs = heisenberg_pairs,
    .n_pairs = HEISENBERG_PAIRS,
    .means = heisenberg_means,
    .n_means = HEISENBERG_MEANS,
    .quantities = heisenberg_quantities,
    .n_quantities = HEISENBERG_QUANTITIES,
    .controls = heisenberg_controls,
    .n_controls = HEISENBERG_CONTROLS,
    .coefficients = heisenberg_coefficients,
    .kernels = kernels,
    .checks = checks,
    .create = create,
    .record = heisenberg_record_samples,
    .sample_checksum = heisenberg_sample_checksum,
    .destroy = destroy,
};
