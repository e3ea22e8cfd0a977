/* Plugins that compute nothing: every type of key, and kernels that lack operations. */
#include "core/simulation/curves.h"
#include "support/fake_plugins.h"

#include <math.h>

static const struct gpumc_key chain_keys[] = {{.name = "shape",
                                               .type = GPUMC_KEY_INTEGER,
                                               .doc = "Sites in each direction.",
                                               .unit = "sites",
                                               .minimum = 2,
                                               .maximum = 1024,
                                               .multiple_of = 2,
                                               .list_minimum = 1,
                                               .list_maximum = 3,
                                               .required = true,
                                               .sweepable = true},
                                              {.name = "J",
                                               .type = GPUMC_KEY_REAL,
                                               .doc = "Coupling.",
                                               .default_text = "1.0",
                                               .sweepable = true},
                                              {.name = "periodic",
                                               .type = GPUMC_KEY_BOOLEAN,
                                               .doc = "Closed or open.",
                                               .default_text = "true"},
                                              {.name = "weights",
                                               .type = GPUMC_KEY_REAL,
                                               .doc = "A list with a default.",
                                               .default_text = "[0.25, 1]",
                                               .minimum = 0,
                                               .maximum = INFINITY,
                                               .list_minimum = 1,
                                               .list_maximum = 8,
                                               .ascending = true},
                                              {0}};

static const struct gpumc_key beta_keys[] = {
    {.name = "from",
     .type = GPUMC_KEY_REAL,
     .doc = "First.",
     .minimum = 0,
     .maximum = INFINITY,
     .default_text = "0.0"},
    {.name = "to", .type = GPUMC_KEY_REAL, .doc = "Last.", .required = true},
    {.name = "step",
     .type = GPUMC_KEY_REAL,
     .doc = "Constant step.",
     .minimum = 0,
     .maximum = INFINITY,
     .minimum_exclusive = true,
     .sweepable = true,
     .exactly_one_of = "steps"},
    {.name = "overlap",
     .type = GPUMC_KEY_REAL,
     .doc = "Adaptive steps.",
     .minimum = 0,
     .maximum = 1,
     .minimum_exclusive = true,
     .sweepable = true,
     .exactly_one_of = "steps"},
    {0}};

static const struct gpumc_key window_keys[] = {
    {.name = "from", .type = GPUMC_KEY_REAL, .doc = "Lower end.", .required = true},
    {.name = "to", .type = GPUMC_KEY_REAL, .doc = "Upper end.", .required = true},
    {0}};

static const char *const flavours[] = {"plain", "systematic", NULL};

static const struct gpumc_key anneal_keys[] = {
    {.name = "population",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Replicas.",
     .unit = "replicas",
     .minimum = 2,
     .maximum = 2147483647.0,
     .required = true,
     .sweepable = true,
     .proportional = true},
    {.name = "offset", .type = GPUMC_KEY_INTEGER, .doc = "Any integer.", .default_text = "0"},
    {.name = "flavour",
     .type = GPUMC_KEY_CHOICE,
     .doc = "How.",
     .choices = flavours,
     .default_text = "plain",
     .sweepable = true},
    {.name = "beta",
     .type = GPUMC_KEY_MAPPING,
     .doc = "The temperatures.",
     .required = true,
     .children = beta_keys},
    {.name = "window",
     .type = GPUMC_KEY_MAPPING,
     .doc = "May be left out.",
     .children = window_keys},
    {.name = "pause",
     .type = GPUMC_KEY_DURATION,
     .doc = "A time.",
     .default_text = "90 s",
     .minimum = 1,
     .maximum = 3600},
    {.name = "memory", .type = GPUMC_KEY_SIZE, .doc = "A size.", .default_text = "2 KiB"},
    {.name = "where",
     .type = GPUMC_KEY_DEVICE,
     .doc = "A device.",
     .default_text = "cpu",
     .incidental = true},
    {.name = "note", .type = GPUMC_KEY_STRING, .doc = "A text without default."},
    {0}};

static const struct gpumc_key look_keys[] = {{0}};

static void check_chain(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report)
{
  (void)subject;
  int64_t sites = 1;
  for (struct gpumc_list shape = gpumc_params_list(params, "shape"); shape.left > 0;)
    sites *= gpumc_list_integer(&shape);
  if (sites > 4096)
    gpumc_params_mistake(params, report, "shape", "%lld sites are too many for a test",
                         (long long)sites);
}

static enum gpumc_status create_chain(const struct gpumc_params *params, struct gpumc_model *model,
                                      struct gpumc_error *error)
{
  if (gpumc_params_real(params, "J") == 13)
    return gpumc_error_set(error, GPUMC_INVALID, "no chain is made with J = 13");
  model->ops = &fake_chain;
  model->sites = 1;
  for (struct gpumc_list shape = gpumc_params_list(params, "shape"); shape.left > 0;)
    model->sites *= (size_t)gpumc_list_integer(&shape);
  return GPUMC_OK;
}

static enum gpumc_status create_frozen(const struct gpumc_params *params, struct gpumc_model *model,
                                       struct gpumc_error *error)
{
  (void)params;
  (void)error;
  model->ops = &fake_frozen;
  model->sites = 1;
  return GPUMC_OK;
}

static void destroy_model(struct gpumc_model *model)
{
  *model = (struct gpumc_model){0};
}

static void check_anneal_instance(const struct gpumc_params *params,
                                  const struct gpumc_subject *subject, struct gpumc_report *report)
{
  int64_t population = gpumc_params_integer(params, "population");
  if ((double)population * (double)subject->instance->sites > 1e10)
    gpumc_params_mistake(params, report, "population", "%lld replicas of %zu sites are too many",
                         (long long)population, subject->instance->sites);
}

static void check_anneal(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report)
{
  double from = gpumc_params_real(params, "beta.from"), to = gpumc_params_real(params, "beta.to");
  (void)subject;
  if (to <= from)
    gpumc_params_mistake(params, report, "beta.to", "beta.to must exceed beta.from");
}

static void check_anneal_model(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report)
{
  if (gpumc_params_integer(params, "offset") == 13)
    gpumc_params_mistake(params, report, "beta.nowhere", "nothing to anneal in %s at offset 13",
                         subject->model->name);
}

static const struct gpumc_check chain_checks[] = {{.reads = "shape", .run = check_chain}, {0}};
static const struct gpumc_check anneal_checks[] = {
    {.reads = "beta", .run = check_anneal},
    {.reads = "offset", .needs = GPUMC_NEEDS_MODEL, .run = check_anneal_model},
    {.reads = "population", .needs = GPUMC_NEEDS_INSTANCE, .run = check_anneal_instance},
    {0}};

/* Is never called by a test. */
static enum gpumc_status never_done(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "kernels of fake models do nothing");
}

static enum gpumc_status start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  (void)ensemble;
  return never_done(error);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  (void)ensemble, (void)m, (void)first, (void)count, (void)portable;
  return never_done(error);
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  (void)ensemble, (void)m, (void)first, (void)count, (void)portable;
  return never_done(error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  (void)ensemble, (void)target, (void)sweeps, (void)channel;
  return never_done(error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)ensemble, (void)channel;
  return never_done(error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  (void)ensemble, (void)parent;
  return never_done(error);
}

static const struct gpumc_move moves[] = {{.name = "metropolis", .summary = "Moves nothing."}};

#define MOVES .moves = moves, .n_moves = sizeof moves / sizeof *moves
#define EVERYTHING                                                                                 \
  MOVES, .start = start, .set = set, .get = get, .sweep = sweep, .measure = measure,               \
         .gather = gather

static const struct gpumc_kernel_ops cpu_plain = {.device = "cpu",
                                                  .variant = "plain",
                                                  .summary = "Cannot gather.",
                                                  .trajectory = "chain-plain",
                                                  MOVES,
                                                  .sweep = sweep,
                                                  .measure = measure};
static const struct gpumc_kernel_ops cpu_wide = {.device = "cpu",
                                                 .variant = "wide",
                                                 .summary = "Can do all.",
                                                 .trajectory = "chain-wide",
                                                 EVERYTHING};
static const struct gpumc_kernel_ops cuda_wide = {.device = "cuda",
                                                  .variant = "wide",
                                                  .summary = "Can do all.",
                                                  .trajectory = "chain-wide",
                                                  EVERYTHING};
static const struct gpumc_kernel_ops cuda_deep = {.device = "cuda",
                                                  .variant = "deep",
                                                  .former = "bottom",
                                                  .summary = "On no CPU.",
                                                  .trajectory = "chain-deep",
                                                  EVERYTHING};
static const struct gpumc_kernel_ops cpu_still = {.device = "cpu",
                                                  .variant = "still",
                                                  .summary = "Measures.",
                                                  .trajectory = "frozen",
                                                  .measure = measure};
static const struct gpumc_kernel_ops *const chain_kernels[] = {&cpu_plain, &cpu_wide, &cuda_wide,
                                                               &cuda_deep, NULL};
static const struct gpumc_kernel_ops *const frozen_kernels[] = {&cpu_still, NULL};

static const struct gpumc_channel channels[] = {
    {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
    {.label = {"magnetization", "magnetization per site", "1", "M"}}};
static const struct gpumc_mean means[] = {
    {.label = {"abs_magnetization", "absolute magnetization per site", "1", "<|m|>"},
     .index = 1,
     .power = 1,
     .absolute = true}};
static const struct gpumc_quantity quantities[] = {{.n_uses = 1}};
static const struct gpumc_control controls[] = {
    {{"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"}, .inverse_temperature = true}};

const struct gpumc_model_ops fake_chain = {.name = "chain",
                                           .summary = "A chain that does nothing.",
                                           .citation = "@misc{chain}",
                                           .keys = chain_keys,
                                           .channels = channels,
                                           .n_channels = 2,
                                           .means = means,
                                           .n_means = 1,
                                           .quantities = quantities,
                                           .n_quantities = 1,
                                           .controls = controls,
                                           .n_controls = 1,
                                           .kernels = chain_kernels,
                                           .checks = chain_checks,
                                           .create = create_chain,
                                           .destroy = destroy_model};
const struct gpumc_model_ops fake_frozen = {.name = "frozen",
                                            .summary = "Has no keys and cannot move.",
                                            .keys = look_keys,
                                            .controls = controls,
                                            .n_controls = 1,
                                            .kernels = frozen_kernels,
                                            .create = create_frozen,
                                            .destroy = destroy_model};
const struct gpumc_algorithm_ops fake_anneal = {
    .name = "anneal",
    .summary = "Anneals nothing.",
    .citation = "@misc{anneal}",
    .keys = anneal_keys,
    .required = GPUMC_OPERATION_SWEEP | GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_GATHER,
    .checks = anneal_checks};
const struct gpumc_algorithm_ops fake_look = {.name = "look",
                                              .summary = "Only looks.",
                                              .keys = look_keys,
                                              .required = GPUMC_OPERATION_MEASURE};

static const struct gpumc_model_ops *const models[] = {&fake_chain, &fake_frozen, NULL};
static const struct gpumc_algorithm_ops *const algorithms[] = {&fake_anneal, &fake_look, NULL};
const struct gpumc_plugins fake_plugins = {.models = models, .algorithms = algorithms};
