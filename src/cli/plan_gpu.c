/* Planning for a GPU that is not here. */
#include "cli/plan_gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Only the H200 was measured (docs/performance.md): 4000 flips/ns, where a core does 16. */
static const struct cli_plan_gpu cards[] = {
    {"H200", 141e9, 250}, {"GH200", 96e9, 0},     {"H100", 80e9, 0},
    {"A100", 80e9, 0},    {"A100-40GB", 40e9, 0}, {"L40S", 48e9, 0},
    {"A40", 48e9, 0},     {"RTX 4090", 24e9, 0},  {"RTX 3090", 24e9, 0},
};
enum { CARDS = sizeof cards / sizeof *cards, LANES = 32 };

static double unit_of(const char *text)
{
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"GiB", 0x1p30}, {"GB", 1e9}, {"MiB", 0x1p20}, {"MB", 1e6}, {"TiB", 0x1p40}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text + strspn(text, " "), units[i].name) == 0)
      return units[i].bytes;
  return 0;
}

enum gpumc_status
cli_plan_gpu_find(const char *text, struct cli_plan_gpu *gpu, struct gpumc_error *error)
{
  char *end;
  const double number = strtod(text, &end), bytes = number * unit_of(end);
  for (size_t i = 0; i < CARDS; i++)
    if (strcasecmp(text, cards[i].name) == 0) {
      *gpu = cards[i];
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

double cli_plan_gpu_needs(const struct gpumc_preparation *preparation)
{
  const struct gpumc_demand *demand = &preparation->demand;
  const double groups = ceil((double)demand->plan.capacity / LANES);
  const double replicas =
      (double)demand->plan.runs * (demand->plan.capacity == 1 ? 1.0 : groups * LANES);
  return replicas * (double)preparation->model.sites / 8 + (double)demand->device_bytes;
}

double
cli_plan_gpu_seconds(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation)
{
  const struct gpumc_kernel_ops *kernel = preparation->kernel;
  const struct gpumc_demand *demand = &preparation->demand;
  if (gpu->cores == 0 || kernel->cost == NULL)
    return 0;
  const double updates = (double)demand->replicas * (double)preparation->model.sites;
  const double each = kernel->cost(&preparation->model, demand->replicas) / updates;
  return demand->updates * each * 1e-9 / gpu->cores;
}
