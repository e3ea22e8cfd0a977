/* The two-dimensional Ising model: keys, observables, and instances. */
#include "models/ising2d/ising2d.h"

#include "models/ising/ising_keys.h"

static const struct gpumc_key keys[] = {
    ISING_KEY_SHAPE(2, 2, "[12, 12]", "Sides [Lx, Ly] of the periodic lattice."),
    ISING_KEY_COUPLING,
    ISING_KEY_FIELD,
    {.name = NULL},
};

enum gpumc_status ising2d_instance(const size_t shape[2], double coupling, double field,
                                   struct gpumc_model *model, struct gpumc_error *error)
{
  const struct ising_settings settings = {.ops = &gpumc_model_ising2d,
                                          .dimension = 2,
                                          .shape = {shape[0], shape[1]},
                                          .coupling = coupling,
                                          .field = field};
  return ising_instance(&settings, model, error);
}

static const struct gpumc_check checks[] = {ISING_CHECK_SHAPE, ISING_CHECK_COUPLING, {.run = NULL}};

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct ising_settings settings = {0};
  ising_read_shape(params, &settings);
  return ising2d_instance(settings.shape, gpumc_params_real(params, "J"),
                          gpumc_params_real(params, "h"), model, error);
}

/* The transition is at 0.4407. */
static const char *const examples[] = {"algorithm.beta.to=0.6", NULL};

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
    ISING_MODEL,
    .keys = keys,
    .examples = examples,
    .kernels = ising_kernels,
    .checks = checks,
    .create = create,
};
