/* The Edwards-Anderson spin glass in two and three dimensions. */
#include <string.h>

#include "models/ising/ising_keys.h"

extern const struct gpumc_model_ops gpumc_model_ea;

static const char *const distributions[] = {"bimodal", "gaussian", "file", NULL};

static const struct gpumc_key keys[] = {
    ISING_KEY_SHAPE(2, 3, "Sides [Lx, Ly] or [Lx, Ly, Lz] of the periodic lattice."),
    {.name = "couplings",
     .type = GPUMC_KEY_CHOICE,
     .doc =
         "+1 with probability p and -1 otherwise (bimodal), Gaussian of variance 1, or read from "
         "a file.",
     .default_text = "bimodal",
     .choices = distributions,
     .sweepable = true},
    {.name = "p",
     .type = GPUMC_KEY_REAL,
     .doc = "Probability of the coupling +1; bimodal couplings only.",
     .default_text = "0.5",
     .minimum = 0,
     .maximum = 1,
     .sweepable = true},
    ISING_KEY_DISORDER_SEED,
    ISING_KEY_SAMPLE,
    {.name = "file",
     .type = GPUMC_KEY_STRING,
     .doc = "Path of the file with the couplings, text or HDF5; docs/file-format.md "
            "describes its form.",
     .sweepable = true},
    ISING_KEY_FIELD,
    ISING_KEY_RANDOM_FIELD,
    ISING_KEY_WRITE_COUPLINGS,
    {.name = NULL},
};

static bool couplings_are(const struct gpumc_params *params, const char *distribution)
{
  return strcmp(gpumc_params_string(params, "couplings"), distribution) == 0;
}

static void check_file(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  const bool wanted = couplings_are(params, "file"), given = gpumc_params_has(params, "file");
  (void)subject;
  if (wanted && !given)
    gpumc_params_mistake(params, report, "couplings",
                         "couplings: file needs the key 'file', the path of the couplings");
  else if (wanted && gpumc_params_string(params, "file")[0] == '\0')
    gpumc_params_mistake(params, report, "file", "file must be the path of the couplings");
  else if (given && !wanted)
    gpumc_params_mistake(params, report, "file",
                         "file is read with couplings: file only; the couplings are %s",
                         gpumc_params_string(params, "couplings"));
}

static void check_probability(const struct gpumc_params *params,
                              const struct gpumc_subject *subject, struct gpumc_report *report)
{
  (void)subject;
  if (!couplings_are(params, "bimodal") && gpumc_params_real(params, "p") != 0.5)
    gpumc_params_mistake(params, report, "p", "p applies to bimodal couplings only; these are %s",
                         couplings_are(params, "file") ? "read from a file" : "Gaussian");
}

static void check_seed(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  if (couplings_are(params, "file") && !ising_has_random_field(params))
    ising_check_unused(params, report, "disorder_seed",
                       "the couplings are read from a file, and there is no random_field");
}

static const struct gpumc_check checks[] = {
    ISING_CHECK_SHAPE,
    ISING_CHECK_RANDOM_FIELD,
    {.reads = "couplings file", .run = check_file},
    {.reads = "couplings p", .run = check_probability},
    {.reads = "couplings random_field disorder_seed", .run = check_seed},
    {.run = NULL},
};

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct ising_settings settings = {
      .ops = &gpumc_model_ea,
      .coupling = 1.0,
      .disorder = {.couplings = ISING_BIMODAL, .positive = gpumc_params_real(params, "p")}};
  if (couplings_are(params, "gaussian"))
    settings.disorder.couplings = ISING_GAUSSIAN;
  if (couplings_are(params, "file")) {
    settings.disorder.couplings = ISING_FILE;
    settings.disorder.path = gpumc_params_string(params, "file");
  }
  ising_read_shape(params, &settings);
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
