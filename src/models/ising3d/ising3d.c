/* The three-dimensional Ising model, optionally with a random field. */
#include "models/ising/ising_keys.h"

extern const struct gpumc_model_ops gpumc_model_ising3d;

static const struct gpumc_key keys[] = {
    ISING_KEY_SHAPE(3, 3, "[4, 4, 4]", "Sides [Lx, Ly, Lz] of the periodic lattice."),
    ISING_KEY_COUPLING,
    ISING_KEY_FIELD,
    ISING_KEY_RANDOM_FIELD,
    LATTICE_KEY_DISORDER_SEED,
    LATTICE_KEY_SAMPLE,
    LATTICE_KEY_WRITE_COUPLINGS("couplings and random fields"),
    {.name = NULL},
};

static void check_seed(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  if (!ising_has_random_field(params))
    lattice_check_unused(params, report, "disorder_seed", "there is no random_field");
}

static void check_sample(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  (void)subject;
  if (!ising_has_random_field(params))
    lattice_check_unused(params, report, "sample", "there is no random_field");
}

static void check_written(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  (void)subject;
  if (!ising_has_random_field(params) && gpumc_params_boolean(params, "write_couplings"))
    gpumc_params_mistake(params, report, "write_couplings",
                         "write_couplings needs a random_field: without one all couplings are J");
}

static const struct gpumc_check checks[] = {
    ISING_CHECK_SHAPE,
    ISING_CHECK_COUPLING,
    ISING_CHECK_RANDOM_FIELD,
    {.reads = "random_field disorder_seed", .run = check_seed},
    {.reads = "random_field sample", .run = check_sample},
    {.reads = "random_field write_couplings", .run = check_written},
    {.run = NULL},
};

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct ising_settings settings = {.ops = &gpumc_model_ising3d,
                                    .coupling = gpumc_params_real(params, "J")};
  ising_read_shape(params, &settings);
  ising_read_fields(params, &settings);
  return ising_instance(&settings, model, error);
}

/* The transition is at 0.2217. */
static const char *const examples[] = {"algorithm.beta.to=0.3", NULL};

const struct gpumc_model_ops gpumc_model_ising3d = {
    .name = "ising3d",
    .summary = "Ising model on the periodic simple cubic lattice",
    .citation = "@article{FerrenbergXuLandau2018,\n"
                "  author = {Ferrenberg, Alan M. and Xu, Jiahao and Landau, David P.},\n"
                "  title = {Pushing the limits of {M}onte {C}arlo simulations for the "
                "three-dimensional {I}sing model},\n"
                "  journal = {Physical Review E},\n"
                "  volume = {97},\n"
                "  pages = {043301},\n"
                "  year = {2018},\n"
                "  doi = {10.1103/PhysRevE.97.043301}\n"
                "}\n",
    ISING_MODEL,
    .keys = keys,
    .examples = examples,
    .kernels = ising_kernels,
    .checks = checks,
    .create = create,
    .record = ising_record,
    .sample_checksum = ising_sample_checksum,
};
