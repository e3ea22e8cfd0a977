/* The two-dimensional Ising model: keys, observables, and instances. */
#include "models/ising2d/ising2d.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/elementary.h"
#include "core/memory.h"

/* With a field, the largest energy is between 2^(ENERGY_BITS - 1) and 2^ENERGY_BITS quanta. */
enum { ENERGY_BITS = 40 };

static const struct gpumc_key keys[] = {
    {.name = "shape",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Sides [Lx, Ly] of the periodic lattice.",
     .unit = "sites",
     .minimum = 2,
     .maximum = 65536,
     .multiple_of = 2,
     .list_minimum = 2,
     .list_maximum = 2,
     .required = true,
     .sweepable = true},
    {.name = "J",
     .type = GPUMC_KEY_REAL,
     .doc = "Coupling of nearest neighbours; positive is ferromagnetic, 0 is refused.",
     .default_text = "1.0",
     .unit = "energy",
     .minimum = -1e6,
     .maximum = 1e6,
     .sweepable = true},
    {.name = "h",
     .type = GPUMC_KEY_REAL,
     .doc = "Magnetic field.",
     .default_text = "0.0",
     .unit = "energy",
     .minimum = -1e6,
     .maximum = 1e6,
     .sweepable = true},
    {.name = NULL},
};

static const struct gpumc_channel channels[ISING2D_CHANNELS] = {
    [ISING2D_ENERGY] = {"energy", "E"},
    [ISING2D_MAGNETIZATION] = {"magnetization", "M"},
};

static const struct gpumc_observable observables[] = {
    {"abs_magnetization", "<|m|>", "1", "absolute magnetization per site", ISING2D_MAGNETIZATION,
     GPUMC_MOMENT_ABSOLUTE},
    {"magnetization2", "<m^2>", "1", "second moment of the magnetization per site",
     ISING2D_MAGNETIZATION, GPUMC_MOMENT_SECOND},
    {"magnetization4", "<m^4>", "1", "fourth moment of the magnetization per site",
     ISING2D_MAGNETIZATION, GPUMC_MOMENT_FOURTH},
};

static void check(const struct gpumc_params *params, struct gpumc_report *report)
{
  if (gpumc_params_real(params, "J") == 0.0)
    gpumc_params_mistake(params, report, "J", "J must not be 0: there would be no interaction");
}

/* Without a field, energies are multiples of |J|, and flipping a spin with an even number of
 * neighbours changes the sum of all bonds by a multiple of 4. */
static void describe_energy(struct gpumc_model *model, struct ising2d_parameters *parameters)
{
  const double coupling = parameters->coupling, field = parameters->field;
  if (field == 0.0) {
    model->quantum[ISING2D_ENERGY] = fabs(coupling);
    model->lowest = -2 * (int64_t)model->sites;
    model->spacing = 4;
    model->levels = model->sites + 1;
  } else {
    int exponent;
    frexp((double)model->sites * (2.0 * fabs(coupling) + fabs(field)), &exponent);
    model->quantum[ISING2D_ENERGY] = ldexp(1.0, exponent - ENERGY_BITS);
  }
  model->bound[ISING2D_ENERGY] =
      (double)model->sites * (2.0 * fabs(coupling) + fabs(field)) / model->quantum[ISING2D_ENERGY];
  model->bound[ISING2D_MAGNETIZATION] = (double)model->sites;
  parameters->coupling_quanta = coupling / model->quantum[ISING2D_ENERGY];
  parameters->field_quanta = field / model->quantum[ISING2D_ENERGY];
}

/* Energies are in the unit in which J is given. */
static void name_units(struct gpumc_model *model, double coupling)
{
  const char *symbol = coupling < 0 ? "|J|" : "J";
  double size = fabs(coupling);
  if (size == 1.0) {
    snprintf(model->energy_unit, sizeof model->energy_unit, "%s", symbol);
    snprintf(model->beta_unit, sizeof model->beta_unit, "1/%s", symbol);
  } else {
    snprintf(model->energy_unit, sizeof model->energy_unit, "%s/%g", symbol, size);
    snprintf(model->beta_unit, sizeof model->beta_unit, "%g/%s", size, symbol);
  }
}

enum gpumc_status ising2d_instance(const size_t shape[2], double coupling, double field,
                                   struct gpumc_model *model, struct gpumc_error *error)
{
  struct ising2d_parameters *parameters;
  memset(model, 0, sizeof *model);
  enum gpumc_status status = gpumc_allocate_array(&parameters, 1, "parameters of the model", error);
  if (status != GPUMC_OK)
    return status;
  parameters->lattice = gpumc_checkerboard_make(shape[0], shape[1]);
  parameters->coupling = coupling;
  parameters->field = field;
  model->ops = &gpumc_model_ising2d;
  model->sites = shape[0] * shape[1];
  model->quantum[ISING2D_MAGNETIZATION] = 1.0;
  model->log_states = (double)model->sites * GPUMC_LN2;
  model->portable_bytes = (model->sites + 7) / 8;
  model->parameters = parameters;
  model->energy_variance = (double)model->sites * fma(2.0 * coupling, coupling, field * field);
  describe_energy(model, parameters);
  name_units(model, coupling);
  return GPUMC_OK;
}

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  const size_t shape[2] = {(size_t)gpumc_params_integer_at(params, "shape", 0),
                           (size_t)gpumc_params_integer_at(params, "shape", 1)};
  return ising2d_instance(shape, gpumc_params_real(params, "J"), gpumc_params_real(params, "h"),
                          model, error);
}

static void destroy(struct gpumc_model *model)
{
  free(model->parameters);
  memset(model, 0, sizeof *model);
}

static const struct gpumc_kernel_ops *const kernels[] = {
    &ising2d_multispin_cpu, &ising2d_spin_cpu,     &ising2d_multispin_cuda,
    &ising2d_spin_cuda,     &ising2d_replica_cuda, NULL};

const struct gpumc_model_ops gpumc_model_ising2d = {
    .name = "ising2d",
    .summary = "Ising model on the periodic square lattice",
    .citation = "@article{Onsager1944,\n"
                "  author = {Onsager, Lars},\n"
                "  title = {Crystal Statistics. {I}. A Two-Dimensional Model with an "
                "Order-Disorder Transition},\n"
                "  journal = {Physical Review},\n"
                "  volume = {65},\n"
                "  pages = {117--149},\n"
                "  year = {1944},\n"
                "  doi = {10.1103/PhysRev.65.117}\n"
                "}\n",
    .traits = GPUMC_TRAIT_LATTICE,
    .keys = keys,
    .channels = channels,
    .n_channels = ISING2D_CHANNELS,
    .observables = observables,
    .n_observables = sizeof observables / sizeof *observables,
    .kernels = kernels,
    .check = check,
    .create = create,
    .destroy = destroy,
};
