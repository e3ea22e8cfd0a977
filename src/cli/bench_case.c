/* One model instance from the keys on the command line, and the measurement of one case. */
#include "cli/bench_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rate.h"
#include "core/registry.h"

static const char *const default_shape = "64x64";

void bench_list_add(struct bench_list *list, int value)
{
  if (list->count < BENCH_LIST_MAXIMUM)
    list->values[list->count++] = value;
}

bool bench_list_word(const char **text, char *word, size_t size)
{
  if (**text == '\0')
    return false;
  size_t length = strcspn(*text, ",");
  snprintf(word, size, "%.*s", (int)length, *text);
  *text += length;
  *text += **text == ',';
  return true;
}

static enum gpumc_status
find_model(const char *name, const struct gpumc_model_ops **ops, struct gpumc_error *error)
{
  *ops = gpumc_model_find(name);
  if (*ops != NULL)
    return GPUMC_OK;
  struct gpumc_text names = {0};
  for (const struct gpumc_model_ops *const *m = gpumc_models(); *m != NULL; m++)
    gpumc_text_append(&names, "%s%s", names.length > 0 ? ", " : "", (*m)->name);
  gpumc_error_set(error, GPUMC_INVALID, "there is no model '%s'; there are %s", name,
                  gpumc_text_string(&names));
  gpumc_text_free(&names);
  return GPUMC_INVALID;
}

/* "64x32" as the YAML text "shape: [64, 32]". */
static void shape_yaml(const char *shape, struct gpumc_text *yaml)
{
  gpumc_text_append(yaml, "shape: [");
  for (; *shape != '\0'; shape++)
    gpumc_text_append(yaml, *shape == 'x' ? ", " : "%c", *shape);
  gpumc_text_append(yaml, "]\n");
}

static bool has_key(const struct gpumc_key *keys, const char *name)
{
  while (keys->name != NULL && strcmp(keys->name, name) != 0)
    keys++;
  return keys->name != NULL;
}

/* The model's block from the defaults, --shape and --set. */
static enum gpumc_status resolve(const struct bench_settings *settings, struct bench_bed *bed,
                                 struct gpumc_report *report, struct gpumc_document *document,
                                 struct gpumc_error *error)
{
  struct gpumc_text yaml = {0};
  const char *shape = settings->shape;
  if (shape == NULL && has_key(bed->ops->keys, "shape"))
    shape = default_shape;
  if (shape != NULL)
    shape_yaml(shape, &yaml);
  else
    gpumc_text_append(&yaml, "{}\n");
  enum gpumc_status status =
      yaml.failed
          ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the model's keys")
          : gpumc_document_parse("--shape", yaml.characters, yaml.length, document, report, error);
  gpumc_text_free(&yaml);
  for (size_t i = 0; i < settings->keys.n_assignments && status == GPUMC_OK; i++)
    status = gpumc_document_set(document, settings->keys.assignments[i], report, error);
  if (status != GPUMC_OK || document->root == NULL)
    return status;
  bed->params =
      gpumc_params_resolve(bed->ops->keys, document->root, document->root->mark, "model", report);
  if (bed->params == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the model's keys");
  struct gpumc_params params = {bed->params, document->root};
  if (report->mistakes == 0 && bed->ops->check != NULL)
    bed->ops->check(&params, report);
  return GPUMC_OK;
}

enum gpumc_status bench_bed_make(const struct bench_settings *settings, struct bench_bed *bed,
                                 struct gpumc_error *error)
{
  struct gpumc_report report = {0};
  struct gpumc_document document = {0};
  memset(bed, 0, sizeof *bed);
  enum gpumc_status status = find_model(settings->model, &bed->ops, error);
  if (status == GPUMC_OK)
    status = resolve(settings, bed, &report, &document, error);
  if (status == GPUMC_OK && report.mistakes > 0)
    status = gpumc_error_set(error, GPUMC_INVALID, "%s", gpumc_text_string(&report.lines));
  if (status == GPUMC_OK) {
    struct gpumc_params params = {bed->params, NULL};
    status = bed->ops->create(&params, &bed->model, error);
    bed->model.ops = bed->ops;
  }
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

enum gpumc_status bench_measure(const struct bench_settings *settings, const struct bench_bed *bed,
                                struct bench_case *measured, struct gpumc_error *error)
{
  struct gpumc_device device;
  enum gpumc_status status =
      gpumc_device_open(measured->kernel->device, measured->threads, &device, error);
  if (status != GPUMC_OK)
    return status;
  device.isa = measured->isa;
  struct cli_rate_request request = {.kernel = measured->kernel,
                                     .model = &bed->model,
                                     .device = &device,
                                     .population = settings->population,
                                     .sweeps = settings->sweeps,
                                     .rounds = measured->rounds,
                                     .beta = settings->beta,
                                     .seconds = settings->seconds};
  status = cli_measure_rate(&request, &measured->rate, error);
  measured->bytes_per_site =
      (double)measured->kernel->bytes(&bed->model, settings->population, measured->threads) /
      ((double)settings->population * (double)bed->model.sites);
  gpumc_device_close(&device);
  return status;
}
