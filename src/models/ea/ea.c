/* The Edwards-Anderson spin glass in two and three dimensions. */
#include "models/ising/ising_keys.h"

extern const struct gpumc_model_ops gpumc_model_ea;

static const char *const distributions[] = {"bimodal", "gaussian", "file", NULL};

static const struct gpumc_key keys[] = {
    ISING_KEY_SHAPE(2, 3, "[4, 4, 4]", "Sides [Lx, Ly] or [Lx, Ly, Lz] of the periodic lattice."),
    LATTICE_KEY_COUPLINGS(
        distributions,
        "+1 with probability p and -1 otherwise (bimodal), Gaussian of variance 1, or read from "
        "a file."),
    LATTICE_KEY_POSITIVE,
    LATTICE_KEY_DISORDER_SEED,
    LATTICE_KEY_SAMPLE,
    LATTICE_KEY_FILE,
    ISING_KEY_FIELD,
    ISING_KEY_RANDOM_FIELD,
    LATTICE_KEY_WRITE_COUPLINGS("couplings and random fields"),
    {.name = NULL},
};

static void check_seed(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  if (lattice_couplings_are(params, "file") && !ising_has_random_field(params))
    lattice_check_unused(params, report, "disorder_seed",
                         "the couplings are read from a file, and there is no random_field");
}

static const struct gpumc_check checks[] = {
    ISING_CHECK_SHAPE,
    ISING_CHECK_RANDOM_FIELD,
    LATTICE_CHECK_FILE,
    LATTICE_CHECK_POSITIVE,
    {.reads = "couplings random_field disorder_seed", .run = check_seed},
    {.run = NULL},
};

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct ising_settings settings = {.ops = &gpumc_model_ea, .coupling = 1.0};
  ising_read_shape(params, &settings);
  lattice_read_couplings(params, &settings.disorder);
  ising_read_fields(params, &settings);
  return ising_instance(&settings, model, error);
}

const struct gpumc_model_ops gpumc_model_ea = {
    .name = "ea",
    .summary = "Edwards-Anderson spin glass on the periodic square or simple cubic lattice",
    .citation = "@article{EdwardsAnderson1975,\n"
                "  author = {Edwards, S. F. and Anderson, P. W.},\n"
                "  title = {Theory of spin glasses},\n"
                "  journal = {Journal of Physics F: Metal Physics},\n"
                "  volume = {5},\n"
                "  pages = {965--974},\n"
                "  year = {1975},\n"
                "  doi = {10.1088/0305-4608/5/5/017}\n"
                "}\n",
    ISING_MODEL,
    .keys = keys,
    .file_key = "file",
    .kernels = ising_disorder_kernels,
    .checks = checks,
    .create = create,
    .record = ising_record,
    .sample_checksum = ising_sample_checksum,
};
