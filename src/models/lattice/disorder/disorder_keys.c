/* Keys that models with quenched couplings share. */
#include "models/lattice/disorder/disorder_keys.h"

#include <string.h>

bool lattice_couplings_are(const struct gpumc_params *params, const char *distribution)
{
  return strcmp(gpumc_params_string(params, "couplings"), distribution) == 0;
}

void lattice_check_unused(const struct gpumc_params *params, struct gpumc_report *report,
                          const char *key, const char *why)
{
  const long long value = (long long)gpumc_params_integer(params, key);
  if (value != 0)
    gpumc_params_mistake(params, report, key, "%s = %lld would change nothing: %s", key, value,
                         why);
}

/* For messages: "the couplings are ..". */
static const char *named(const struct gpumc_params *params)
{
  if (lattice_couplings_are(params, "file"))
    return "read from a file";
  return lattice_couplings_are(params, "gaussian") ? "Gaussian"
                                                   : gpumc_params_string(params, "couplings");
}

void lattice_check_file(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  const bool wanted = lattice_couplings_are(params, "file"),
             given = gpumc_params_has(params, "file");
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

void lattice_check_positive(const struct gpumc_params *params, const struct gpumc_subject *subject,
                            struct gpumc_report *report)
{
  (void)subject;
  if (!lattice_couplings_are(params, "bimodal") && gpumc_params_real(params, "p") != 0.5)
    gpumc_params_mistake(params, report, "p", "p applies to bimodal couplings only; these are %s",
                         named(params));
}

void lattice_read_couplings(const struct gpumc_params *params,
                            struct lattice_disorder_settings *settings)
{
  settings->positive = gpumc_params_real(params, "p");
  settings->couplings = LATTICE_UNIFORM;
  if (lattice_couplings_are(params, "bimodal"))
    settings->couplings = LATTICE_BIMODAL;
  if (lattice_couplings_are(params, "gaussian"))
    settings->couplings = LATTICE_GAUSSIAN;
  if (lattice_couplings_are(params, "file")) {
    settings->couplings = LATTICE_FILE;
    settings->path = gpumc_params_string(params, "file");
  }
}

void lattice_read_sample(const struct gpumc_params *params,
                         struct lattice_disorder_settings *settings)
{
  settings->seed = (uint64_t)gpumc_params_integer(params, "disorder_seed");
  settings->first_sample = (uint64_t)gpumc_params_integer(params, "sample");
}
