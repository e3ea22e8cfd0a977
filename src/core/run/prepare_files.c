/* Files that a task will write: its recorder, and the space they take on the disk. */
#include <math.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "core/run/prepare.h"

enum gpumc_status gpumc_prepare_recorder(const struct gpumc_task *task, const char *source,
                                         bool silent, struct gpumc_recorder **recorder,
                                         struct gpumc_error *error)
{
  struct gpumc_params root = gpumc_task_params(task, "");
  struct gpumc_text citations = {0};
  char *resolved = cJSON_Print(task->resolved);
  gpumc_text_append(&citations, "%s%s", task->model->citation != NULL ? task->model->citation : "",
                    task->algorithm->citation != NULL ? task->algorithm->citation : "");
  enum gpumc_status status;
  if (resolved == NULL || citations.failed) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the resolved configuration");
  } else {
    struct gpumc_recorder_header header = {
        .output = task->output,
        .title = gpumc_params_has(&root, "title") ? gpumc_params_string(&root, "title") : "",
        .source = source,
        .resolved = resolved,
        .citations = gpumc_text_string(&citations)};
    status = silent ? gpumc_recorder_create_silent(&header, recorder, error)
                    : gpumc_recorder_create(&header, recorder, error);
  }
  gpumc_text_free(&citations);
  free(resolved);
  return status;
}

/* Overhead of HDF5: in a file of at most some hundred datasets, in a checkpoint, and for each row
 * of a dataset that is stored row by row. */
static const double result_overhead = 0x1p19, checkpoint_overhead = 0x1p14, row_overhead = 64;

void gpumc_disk_plan_make(const struct gpumc_preparation *preparation, struct gpumc_disk_plan *plan)
{
  const struct gpumc_demand *demand = &preparation->demand;
  const double replicas = (double)demand->plan.runs * (double)demand->replicas;
  plan->recorded = (double)demand->plan.samples * (double)preparation->model.recorded_bytes;
  plan->result =
      result_overhead + demand->result_bytes + demand->configuration_bytes + plan->recorded;
  if (plan->recorded > 0)
    plan->result += 2 * row_overhead * (double)demand->plan.samples; /* couplings and fields */
  plan->log = demand->series_bytes + demand->configuration_bytes;
  plan->checkpoint = checkpoint_overhead + demand->state_bytes +
                     replicas * (double)preparation->model.portable_bytes;
  plan->running = plan->result + plan->log + 2 * plan->checkpoint;
  plan->resuming = fmax(plan->running, 2 * plan->result + plan->log + plan->checkpoint);
}
