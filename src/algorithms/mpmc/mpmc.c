/* Monte Carlo of an athermal target, in which all allowed states have the same weight, such as
 * those of hard particles: chains (algorithms/chains) without temperatures. It is named after
 * massively parallel Monte Carlo, whose kernels it is meant for. */
#include "algorithms/chains/chains.h"

static const struct gpumc_key keys[] = {
    {.name = "replicas",
     .type = GPUMC_KEY_INTEGER,
     .default_text = "8",
     .minimum = 1,
     .maximum = 2147483647,
     .unit = "replicas",
     .sweepable = true,
     .proportional = true,
     .doc = "Independent systems side by side. With fewer than 8 no result is trusted, since only "
            "systems from different starts can show that some of them missed states."},
    GPUMC_UPDATE_KEY_FOR(GPUMC_ATHERMAL,
                         "Move that makes up a sweep, one that gives all allowed states the same "
                         "weight, or moves that take turns, each for a number of sweeps."),
    CHAINS_TIMES_KEYS,
    {.name = "tune",
     .type = GPUMC_KEY_DURATION,
     .maximum = 1e7,
     .doc = "Time to spend, before the run, on tuning the keys of the kernel that decide how fast "
            "it decorrelates, such as the size of its moves. They are chosen by the "
            "autocorrelation time, in seconds, of the slowest observable that the model watches. "
            "Interrupted tuning starts over, so each part of a run must be longer than this. The "
            "result records the values that reproduce it without tuning."},
    GPUMC_REQUESTS_KEY_FOR(GPUMC_ATHERMAL),
    CHAINS_SERIES_KEY,
    CHAINS_CONFIGURATIONS_KEY(gpumc_configurations_times_keys),
    {0}};

static void check_tune(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  bool any = false;
  for (size_t k = 0; subject->model->kernels[k] != NULL; k++)
    any = any || subject->model->kernels[k]->n_tunables > 0;
  if (gpumc_params_has(params, "tune") && !any)
    gpumc_params_mistake(params, report, "tune", "model %s has no kernel that can be tuned",
                         subject->model->name);
}

static const struct gpumc_check checks[] = {
    CHAINS_CHECKS,
    {.reads = "tune", .needs = GPUMC_NEEDS_MODEL, .run = check_tune},
    {.run = NULL},
};

static size_t replicas_of(const struct gpumc_params *params)
{
  return (size_t)gpumc_params_integer(params, "replicas");
}

static enum gpumc_status
read_keys(const struct gpumc_params *params, struct chains *chains, struct gpumc_error *error)
{
  (void)error;
  chains->name = "mpmc";
  chains->settings = chains_settings_read(params, replicas_of(params), 1);
  if (gpumc_params_has(params, "tune"))
    chains->settings.tune = gpumc_params_real(params, "tune");
  chains->runs = 1;
  return GPUMC_OK;
}

static cJSON *defaults_of(const struct gpumc_params *params, const struct gpumc_model *model)
{
  (void)model;
  cJSON *defaults = cJSON_CreateObject();
  if (chains_default_thermalization(params, defaults))
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

static enum gpumc_status warn(const struct gpumc_params *params, const struct gpumc_model *model,
                              const struct gpumc_kernel_ops *kernel, const char **name,
                              char text[GPUMC_WARNING_BYTES], struct gpumc_error *error)
{
  return chains_warn(read_keys, params, model, kernel, name, text, error);
}

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device,
                                const struct gpumc_spread *spread, struct gpumc_demand *demanded,
                                struct gpumc_error *error)
{
  (void)spread;
  return chains_demand(read_keys, params, model, device, demanded, error);
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  return chains_create(read_keys, context, state, error);
}

static const char citation[] =
    "@article{anderson2013massively,\n"
    "  author  = {Anderson, Joshua A. and Jankowski, Eric and Grubb, Thomas L. and Engel, Michael "
    "and Glotzer, Sharon C.},\n"
    "  title   = {Massively parallel {Monte} {Carlo} for many-particle simulations on {GPUs}},\n"
    "  journal = {Journal of Computational Physics},\n"
    "  volume  = {254},\n"
    "  pages   = {27--38},\n"
    "  year    = {2013},\n"
    "  doi     = {10.1016/j.jcp.2013.07.023}\n"
    "}\n";

static const char *const not_merged[] = {"tune", "series", "configurations", NULL};

static const struct gpumc_merger merger = {
    .counted = "replicas", .dropped = not_merged, .fill = chains_merge};

const struct gpumc_algorithm_ops gpumc_algorithm_mpmc = {
    CHAINS_OPERATIONS,
    .name = "mpmc",
    .summary = "updates of hard particles, whose states have equal weight: averages, time series",
    .citation = citation,
    .keys = keys,
    .target = GPUMC_ATHERMAL,
    .merger = &merger,
    .checks = checks,
    .defaults = defaults_of,
    .warn = warn,
    .replicas = replicas_of,
    .demand = demand,
    .create = create,
};
