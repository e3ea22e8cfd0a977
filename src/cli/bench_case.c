/* One model instance from the keys on the command line, and the measurement of one case: update
 * rates, through the kernel's operations only. */
#include "cli/bench_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

enum { REPEATS_MINIMUM = 3, SWEEPS_MAXIMUM = 1 << 24, RATE_SEED = 1 };
/* Shorter repeats would measure the start of the threads and the grain of the scheduler. */
static const double repeat_seconds = 0.01;

/* By the dimensions that a model has at least. */
static const char *const default_shape_2d = "64x64", *const default_shape_3d = "32x32x32";

static enum gpumc_status find_model(struct gpumc_plugin_set *plugins, const char *name,
                                    const struct gpumc_model_ops **ops, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_plugin_set_want(plugins, GPUMC_PLUGIN_MODEL, name, true, error));
  *ops = gpumc_plugin_set_model(plugins, name);
  if (*ops != NULL)
    return GPUMC_OK;
  struct gpumc_text names = {0};
  for (const struct gpumc_model_ops *const *m = plugins->models; *m != NULL; m++)
    gpumc_text_append(&names, "%s%s", names.length > 0 ? ", " : "", (*m)->name);
  gpumc_error_set(error, GPUMC_INVALID, "unknown model '%s'; known models: %s", name,
                  gpumc_text_string(&names));
  gpumc_text_free(&names);
  return GPUMC_INVALID;
}

/* "64x32" as the YAML text "model: {shape: [64, 32]}"; NULL as "model: {}". */
static void model_yaml(const char *shape, struct gpumc_text *yaml)
{
  gpumc_text_append(yaml, "model: {");
  if (shape != NULL)
    gpumc_text_append(yaml, "shape: [");
  for (const char *c = shape; c != NULL && *c != '\0'; c++)
    if (*c == 'x')
      gpumc_text_append(yaml, ", ");
    else
      gpumc_text_append(yaml, "%c", *c);
  gpumc_text_append(yaml, shape != NULL ? "]}\n" : "}\n");
}

/* The report as a message: without places within the command line, and without a last line end. */
static enum gpumc_status refuse(const struct gpumc_report *report, struct gpumc_error *error)
{
  struct gpumc_text message = {0};
  for (const char *line = gpumc_text_string(&report->lines); *line != '\0';) {
    size_t length = strcspn(line, "\n");
    const char *place = strstr(line, ":1:"); /* of SOURCE:1:COLUMN: MESSAGE */
    size_t source = place != NULL && place < line + length ? (size_t)(place - line) : 0;
    size_t column = source > 0 ? strspn(place + strlen(":1:"), "0123456789") : 0;
    size_t rest = source > 0 ? source + strlen(":1:") + column : 0;
    gpumc_text_append(&message, "%s%.*s%.*s", message.length > 0 ? "\n" : "", (int)source, line,
                      (int)(length - rest), line + rest);
    line += length + (line[length] == '\n');
  }
  enum gpumc_status status =
      report->lines.failed || message.failed
          ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the model's keys")
          : gpumc_error_set(error, GPUMC_INVALID, "%s", gpumc_text_string(&message));
  gpumc_text_free(&message);
  return status;
}

/* NULL for a model without shape. */
static const char *default_shape(const struct gpumc_key *keys)
{
  while (keys->name != NULL && strcmp(keys->name, "shape") != 0)
    keys++;
  if (keys->name == NULL)
    return NULL;
  return keys->list_minimum > 2 ? default_shape_3d : default_shape_2d;
}

/* The model's block from the defaults, --shape and --set. */
static enum gpumc_status resolve(const struct bench_settings *settings, struct bench_bed *bed,
                                 struct gpumc_report *report, struct gpumc_document *document,
                                 struct gpumc_error *error)
{
  struct gpumc_text yaml = {0};
  const char *shape = settings->shape != NULL ? settings->shape : default_shape(bed->ops->keys);
  char source[128] = "bench";
  if (settings->shape != NULL)
    snprintf(source, sizeof source, "--shape %s", settings->shape);
  model_yaml(shape, &yaml);
  const enum gpumc_status status =
      yaml.failed
          ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the model's keys")
          : gpumc_document_parse(source, yaml.characters, yaml.length, document, report, error);
  gpumc_text_free(&yaml);
  GPUMC_TRY(status);
  for (size_t i = 0; i < settings->keys.n_assignments; i++)
    GPUMC_TRY(gpumc_document_set(document, settings->keys.assignments[i], report, error));
  if (document->root == NULL)
    return GPUMC_OK;
  const struct gpumc_node *keys = gpumc_node_find(document->root, "model");
  if (report->mistakes > 0 || keys == NULL)
    return GPUMC_OK;
  bed->params = gpumc_params_resolve(bed->ops->keys, keys, keys->mark, "model", report);
  if (bed->params == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the model's keys");
  const struct gpumc_params params = {.values = bed->params, .node = keys, .block = "model"};
  const struct gpumc_subject subject = {.model = bed->ops};
  gpumc_checks_run(bed->ops->checks, GPUMC_NEEDS_KEYS, &params, &subject, report);
  return GPUMC_OK;
}

enum gpumc_status
bench_bed_make(struct bench_settings *settings, struct bench_bed *bed, struct gpumc_error *error)
{
  struct gpumc_report report = {0};
  struct gpumc_document document = {0};
  memset(bed, 0, sizeof *bed);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, find_model(&settings->plugins, settings->model, &bed->ops, error));
  GPUMC_TRY_OUT(status, resolve(settings, bed, &report, &document, error));
  if (report.mistakes > 0)
    GPUMC_TRY_OUT(status, refuse(&report, error));
  const struct gpumc_params params = {.values = bed->params};
  status = gpumc_model_create(bed->ops, &params, &bed->model, error);
out:
  gpumc_document_free(&document);
  gpumc_report_free(&report);
  if (status != GPUMC_OK)
    bench_bed_free(bed);
  return status;
}

void bench_bed_free(struct bench_bed *bed)
{
  if (bed->model.ops != NULL)
    bed->model.ops->destroy(&bed->model);
  cJSON_Delete(bed->params);
  memset(bed, 0, sizeof *bed);
}

/* Whatever target it serves; NULL: there is none. */
static const struct gpumc_move *move_named(const struct gpumc_kernel_ops *kernel, const char *name)
{
  const struct gpumc_move *move = gpumc_kernel_move(kernel, name, GPUMC_BOLTZMANN);
  return move != NULL ? move : gpumc_kernel_move(kernel, name, GPUMC_ATHERMAL);
}

bool bench_wants(const struct bench_settings *settings, const char *kind,
                 const struct gpumc_kernel_ops *kernel)
{
  return strcmp(kernel->device, kind) == 0 && kernel->sweep != NULL &&
         (settings->update == NULL || move_named(kernel, settings->update) != NULL) &&
         (settings->variant == NULL || gpumc_kernel_is_named(kernel, settings->variant));
}

static uint32_t
move_of(const struct bench_settings *settings, const struct gpumc_kernel_ops *kernel)
{
  return settings->update != NULL ? (uint32_t)(move_named(kernel, settings->update) - kernel->moves)
                                  : 0;
}

const char *
bench_control(const struct bench_settings *settings, const struct bench_bed *bed, const char *kind)
{
  for (const struct gpumc_kernel_ops *const *kernel = bed->ops->kernels; *kernel != NULL; kernel++)
    if (bed->ops->n_controls > 0 && bench_wants(settings, kind, *kernel) &&
        ((*kernel)->n_moves == 0 ||
         gpumc_move_serves(&(*kernel)->moves[move_of(settings, *kernel)], GPUMC_BOLTZMANN)))
      return bed->ops->controls[0].label.name;
  return NULL;
}

enum gpumc_status bench_check_kernels(const struct bench_settings *settings,
                                      const struct bench_bed *bed, const char *kind,
                                      struct gpumc_error *error)
{
  const char *variant = settings->variant != NULL ? settings->variant : "";
  bool exists = settings->variant == NULL;
  struct gpumc_text why_not = {0};
  for (const struct gpumc_kernel_ops *const *kernel = bed->ops->kernels; *kernel != NULL;
       kernel++) {
    const char *refusal = gpumc_kernel_refusal(*kernel, &bed->model);
    exists =
        exists || (strcmp((*kernel)->device, kind) == 0 && gpumc_kernel_is_named(*kernel, variant));
    if (!bench_wants(settings, kind, *kernel))
      continue;
    if (refusal == NULL) {
      gpumc_text_free(&why_not);
      return GPUMC_OK;
    }
    gpumc_text_append(&why_not, "%s%s: %s", why_not.length > 0 ? "; " : ": ", (*kernel)->variant,
                      refusal);
  }
  if (!exists)
    return gpumc_kernel_refuse_variant(bed->ops, kind, variant, error);
  enum gpumc_status status =
      gpumc_error_set(error, GPUMC_INVALID, "no kernel%s%s of model %s on %s can be measured%s%s%s",
                      settings->variant != NULL ? " " : "", variant, bed->ops->name, kind,
                      settings->update != NULL ? " with update " : "",
                      settings->update != NULL ? settings->update : "",
                      why_not.length > 0 ? gpumc_text_string(&why_not) : "");
  gpumc_text_free(&why_not);
  return status;
}

/* What to measure. */
struct rate_request {
  const struct gpumc_kernel_ops *kernel;
  const struct gpumc_model *model;
  struct gpumc_device *device;
  size_t runs, population; /* runs side by side; replicas of each */
  uint32_t sweeps;         /* of one repeat; more of them where that is too short to be timed */
  uint32_t rounds;         /* of Philox */
  struct gpumc_kernel_options options;
  uint32_t move;
  double control;
  double repeat_seconds; /* shorter repeats do not count */
  double seconds;        /* repeats take about that long together, */
  uint32_t repeats;      /* and are these at least; 1: one that takes that long is enough */
};

/* The rates of the repeats that count. */
struct repeats {
  double *rate; /* [capacity] */
  size_t count, capacity;
};

/* From an idle device to an idle device: operations only ask for work (core/device/device.h). */
static enum gpumc_status time_sweeps(const struct rate_request *request,
                                     struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                     double *seconds, struct gpumc_error *error)
{
  struct gpumc_device *device = request->device;
  if (ensemble->time > UINT32_MAX - sweeps)
    ensemble->time = 0; /* the same random numbers again do no harm here */
  GPUMC_TRY(device->ops->synchronize(device, error));
  const double begin = gpumc_clock();
  GPUMC_TRY(gpumc_ensemble_sweep_any(ensemble, sweeps, request->control, NULL, error));
  GPUMC_TRY(device->ops->synchronize(device, error));
  *seconds = gpumc_clock() - begin;
  return GPUMC_OK;
}

/* Repeats that turn out too short are not counted and double the sweeps. */
static enum gpumc_status time_repeats(const struct rate_request *request,
                                      struct gpumc_ensemble *ensemble, struct repeats *repeats,
                                      struct gpumc_error *error)
{
  double updates_per_sweep = (double)request->runs * (double)request->population *
                             gpumc_kernel_trials(request->kernel, request->model, &ensemble->plan);
  double elapsed, begin = gpumc_clock();
  uint32_t sweeps = request->sweeps;
  GPUMC_TRY(time_sweeps(request, ensemble, sweeps, &elapsed, error));
  if (request->repeats == 1 && elapsed >= request->seconds)
    repeats->rate[repeats->count++] = updates_per_sweep * sweeps / elapsed;
  while (repeats->count < repeats->capacity &&
         (repeats->count < request->repeats || gpumc_clock() - begin < request->seconds)) {
    GPUMC_TRY(time_sweeps(request, ensemble, sweeps, &elapsed, error));
    if (elapsed < request->repeat_seconds && sweeps < SWEEPS_MAXIMUM)
      sweeps *= 2;
    else
      repeats->rate[repeats->count++] = updates_per_sweep * sweeps / elapsed;
  }
  return GPUMC_OK;
}

static int ascending(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The fastest shows the rate of the machine: whatever else it does can only slow a repeat down. */
static struct bench_rate evaluate(const struct repeats *repeats)
{
  size_t n = repeats->count;
  qsort(repeats->rate, n, sizeof *repeats->rate, ascending);
  return (struct bench_rate){.fastest = repeats->rate[n - 1],
                             .median = (repeats->rate[(n - 1) / 2] + repeats->rate[n / 2]) / 2};
}

/* Returns the sweeps in which the move's step is tuned before it is timed, if it is adapted after
 * each: until then a sweep of Wolff's clusters flips only a few random spins. */
static uint32_t warm_up_of(const struct rate_request *request)
{
  const struct gpumc_kernel_ops *kernel = request->kernel;
  const struct gpumc_step *step = kernel->n_moves > 0 ? kernel->moves[request->move].step : NULL;
  if (step == NULL || step->often == 0 ||
      (step->given != NULL && step->given(&request->options) > 0))
    return 0;
  return gpumc_steps_enough(step);
}

static enum gpumc_status
measure_rate(const struct rate_request *request, struct bench_rate *rate, struct gpumc_error *error)
{
  struct gpumc_ensemble ensemble = {0};
  struct repeats repeats = {.capacity = request->repeats +
                                        (size_t)(request->seconds / request->repeat_seconds)};
  const struct gpumc_ensemble_plan plan = {.runs = request->runs,
                                           .capacity = request->population,
                                           .samples = 1,
                                           .move = request->move,
                                           .warm_up = warm_up_of(request),
                                           .options = request->options};
  enum gpumc_status status;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&repeats.rate, repeats.capacity, "rates of the repeats", error));
  GPUMC_TRY_OUT(status, gpumc_ensemble_create(request->kernel, request->model, request->device,
                                              &plan, RATE_SEED, request->rounds, &ensemble, error));
  GPUMC_TRY_OUT(status,
                gpumc_ensemble_start(&ensemble, 0, request->runs, request->population, error));
  if (plan.warm_up > 0)
    GPUMC_TRY_OUT(status,
                  gpumc_ensemble_sweep_any(&ensemble, plan.warm_up, request->control, NULL, error));
  GPUMC_TRY_OUT(status, time_repeats(request, &ensemble, &repeats, error));
  *rate = evaluate(&repeats);
out:
  gpumc_ensemble_free(&ensemble);
  free(repeats.rate);
  return status;
}

/* The kernel's own keys at their defaults, but for the hits of kernels that have some. */
static void set_options(struct rate_request *request, uint32_t hits)
{
  cJSON *values = cJSON_CreateObject();
  const struct gpumc_params params = {.values = values};
  if (values != NULL && (hits == 0 || cJSON_AddNumberToObject(values, "hits", hits) != NULL))
    request->kernel->read(&params, &request->options);
  cJSON_Delete(values);
}

enum gpumc_status bench_measure(const struct bench_settings *settings, const struct bench_bed *bed,
                                struct bench_case *measured, struct gpumc_error *error)
{
  struct gpumc_device device;
  GPUMC_TRY(gpumc_device_open(settings->device, measured->threads, &device, error));
  device.isa = measured->isa;
  const uint32_t hits = measured->hits > 0 ? measured->hits : 1;
  const uint32_t groups = (settings->sweeps + hits - 1) / hits;
  struct rate_request request = {.kernel = measured->kernel,
                                 .model = &bed->model,
                                 .device = &device,
                                 .runs = 1,
                                 .population = settings->population,
                                 .sweeps = groups * hits,
                                 .rounds = measured->rounds,
                                 .move = move_of(settings, measured->kernel),
                                 .control = settings->control,
                                 .repeat_seconds = repeat_seconds,
                                 .seconds = settings->seconds,
                                 .repeats = REPEATS_MINIMUM};
  if (measured->kernel->read != NULL)
    set_options(&request, measured->hits);
  enum gpumc_status status = measure_rate(&request, &measured->rate, error);
  const struct gpumc_ensemble_plan plan = {
      .runs = 1, .capacity = settings->population, .samples = 1, .options = request.options};
  measured->bytes_per_site = (double)measured->kernel->bytes(&bed->model, &device, &plan) /
                             ((double)settings->population * (double)bed->model.sites);
  gpumc_device_close(&device);
  return status;
}
