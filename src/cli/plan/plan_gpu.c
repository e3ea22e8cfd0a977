/* gpumc plan --gpu: memory and, at least, time on a GPU that is not here, by the rates measured on
 * such a card. */
#include "cli/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "core/base/memory.h"
#include "core/base/text.h"

static const struct cli_plan_gpu cards[] = {
    {"H200", 141e9}, {"GH200", 96e9}, {"H100", 80e9},     {"A100", 80e9},     {"A100-40GB", 40e9},
    {"L40S", 48e9},  {"A40", 48e9},   {"RTX 4090", 24e9}, {"RTX 3090", 24e9},
};
/* As their drivers name them, without "NVIDIA ". */
static const struct {
  const char *product, *card;
} products[] = {
    {"H100 80GB HBM3", "H100"},       {"H100 PCIe", "H100"},    {"A100-SXM4-80GB", "A100"},
    {"A100 80GB PCIe", "A100"},       {"A100-80GB", "A100"},    {"A100-SXM4-40GB", "A100-40GB"},
    {"A100-PCIE-40GB", "A100-40GB"},  {"GH200 480GB", "GH200"}, {"GeForce RTX 4090", "RTX 4090"},
    {"GeForce RTX 3090", "RTX 3090"},
};
/* The highest rates of sweeps in docs/performance.md and docs/kernels. */
static const struct rate {
  const char *card, *model, *couplings; /* NULL: the model has no such key */
  size_t dimension;
  const char *variant;
  double flips; /* per nanosecond */
} rates[] = {
    {"H200", "ising2d", NULL, 2, "multispin", 4099},
    {"H200", "ising2d", NULL, 2, "spin", 1341},
    {"H200", "ising2d", NULL, 2, "walker", 126},
    {"H200", "ising2d", NULL, 2, "packed", 3679},
    {"H200", "ising2d", NULL, 2, "tiled", 631},
    {"H200", "ising3d", NULL, 3, "multispin", 3392},
    {"H200", "ising3d", NULL, 3, "spin", 502},
    {"H200", "ising3d", NULL, 3, "walker", 107},
    {"H200", "ea", "bimodal", 2, "multispin", 3663},
    {"H200", "ea", "bimodal", 3, "multispin", 3107},
    {"H200", "ea", "bimodal", 3, "spin", 458},
    {"H200", "ea", "bimodal", 3, "walker", 120},
    {"H200", "ea", "gaussian", 3, "spin", 487},
    {"H200", "ea", "gaussian", 3, "walker", 81},
    /* Of over-relaxation, of which `mixed` has four sweeps in five. */
    {"H200", "heisenberg", "uniform", 2, "float", 442},
    {"H200", "heisenberg", "uniform", 3, "float", 340},
    {"H200", "heisenberg", "uniform", 2, "double", 200},
    {"H200", "heisenberg", "uniform", 3, "double", 127},
    {"H200", "hard_disks", NULL, 0, "checkerboard", 17.7},
};
enum { CARDS = sizeof cards / sizeof *cards, RATES = sizeof rates / sizeof *rates };

static double unit_of(const char *text)
{
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"GiB", 0x1p30}, {"GB", 1e9}, {"MiB", 0x1p20}, {"MB", 1e6}, {"TiB", 0x1p40}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcasecmp(text + strspn(text, " "), units[i].name) == 0)
      return units[i].bytes;
  return 0;
}

/* NULL: none of ours. */
static const struct cli_plan_gpu *card_of(const char *text)
{
  static const char maker[] = "NVIDIA ";
  const char *name = strncasecmp(text, maker, strlen(maker)) == 0 ? text + strlen(maker) : text;
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    if (strcasecmp(name, products[i].product) == 0)
      name = products[i].card;
  for (size_t i = 0; i < CARDS; i++)
    if (strcasecmp(name, cards[i].name) == 0)
      return &cards[i];
  return NULL;
}

/* "80 GiB"; 0: none. */
static double size_of(const char *text)
{
  const size_t digits = strspn(text, "0123456789.");
  char *end;
  const double number = strtod(text, &end);
  return digits > 0 && end == text + digits ? number * unit_of(end) : 0;
}

enum gpumc_status
cli_plan_gpu_find(const char *text, struct cli_plan_gpu *gpu, struct gpumc_error *error)
{
  const double bytes = size_of(text);
  const struct cli_plan_gpu *card = card_of(text);
  if (card != NULL) {
    *gpu = *card;
    return GPUMC_OK;
  }
  if (bytes > 0 && isfinite(bytes) && strlen(text) < sizeof gpu->name) {
    *gpu = (struct cli_plan_gpu){.bytes = bytes};
    memcpy(gpu->name, text, strlen(text) + 1);
    return GPUMC_OK;
  }
  struct gpumc_text list = {0};
  for (size_t i = 0; i < CARDS; i++)
    gpumc_text_append(&list, "%s, ", cards[i].name);
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID, "--gpu: expected %sor a size of memory such as '80 GiB', found '%s'",
      gpumc_text_string(&list), text);
  gpumc_text_free(&list);
  return status;
}

static bool is_of(const struct rate *rate, const struct gpumc_preparation *preparation)
{
  const struct gpumc_params model = gpumc_task_params(preparation->task, "model");
  const char *couplings =
      gpumc_params_has(&model, "couplings") ? gpumc_params_string(&model, "couplings") : NULL;
  const cJSON *shape = cJSON_GetObjectItemCaseSensitive(model.values, "shape");
  return strcmp(rate->model, preparation->task->model->name) == 0 &&
         strcmp(rate->variant, preparation->kernel->variant) == 0 &&
         (rate->couplings == NULL) == (couplings == NULL) &&
         (couplings == NULL || strcmp(rate->couplings, couplings) == 0) &&
         (size_t)cJSON_GetArraySize(shape) == rate->dimension;
}

double
cli_plan_gpu_seconds(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation)
{
  for (size_t i = 0; i < RATES; i++)
    if (strcmp(gpu->name, rates[i].card) == 0 && is_of(&rates[i], preparation))
      return preparation->demand.updates / (rates[i].flips * 1e9);
  return 0;
}

cJSON *cli_plan_gpu_json(const struct cli_plan_gpu *gpu, double needed, double seconds)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", gpu->name);
  cJSON_AddNumberToObject(json, "bytes", gpu->bytes);
  cJSON_AddNumberToObject(json, "needed_bytes", needed);
  cJSON_AddBoolToObject(json, "fits", needed < gpu->bytes);
  if (seconds > 0)
    cJSON_AddNumberToObject(json, "least_seconds", seconds);
  return json;
}

const char *cli_plan_gpu_time(const cJSON *gpu, char text[static 64])
{
  char duration[32];
  if (cli_has(gpu, "least_seconds"))
    snprintf(text, 64, "at least %s",
             gpumc_duration_text(cli_number(gpu, "least_seconds"), duration));
  else
    snprintf(text, 64, "unknown");
  return text;
}

void cli_plan_gpu_print(const cJSON *gpu)
{
  char size[32], there[32];
  printf("gpu         %s", cli_text(gpu, "name"));
  if (card_of(cli_text(gpu, "name")) != NULL)
    printf(" with %s", gpumc_size_text(cli_number(gpu, "bytes"), there));
  printf(": about %s needed, %s\n", gpumc_size_text(cli_number(gpu, "needed_bytes"), size),
         cli_true(gpu, "fits") ? "fits" : "does not fit");
}

void cli_plan_gpu_print_time(const cJSON *gpu)
{
  char time[64];
  printf("time        %s: %s\n", cli_plan_gpu_time(gpu, time),
         cli_has(gpu, "least_seconds") ? "sweeps alone on a fully used card (estimate)"
                                       : "never measured with this card, kernel and model");
}
