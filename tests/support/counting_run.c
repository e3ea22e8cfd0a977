/* One run of the counting plugins. */
#include "support/counting_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void hear(void *state, enum gpumc_message_level level, const char *text)
{
  struct heard *heard = state;
  (void)level;
  strncat(heard->notes, text, sizeof heard->notes - strlen(heard->notes) - 1);
}

static void count(void *state, const struct gpumc_position *where, double seconds)
{
  struct heard *heard = state;
  assert_true(where->fraction > 0 && where->fraction <= 1 && seconds >= 0);
  heard->units++;
  if (heard->units == heard->stop_after)
    heard->stop = 1;
}

/* Returns the task; the caller deletes `resolved`. */
static struct gpumc_task task_of(const struct attempt *wanted)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"seed\": 1, \"rng\": \"philox4x32-10\", \"title\": \"\","
           " \"model\": {\"name\": \"counter\"}, \"algorithm\": {\"name\": \"counting\","
           " \"population\": %lld, \"units\": %lld, \"fail_at\": %lld},"
           " \"kernel\": {\"device\": \"cpu\", \"variant\": \"auto\", \"isa\": \"auto\"},"
           " \"output\": \"run.h5\", \"checkpoint\": {\"every\": 1e-9}}",
           (long long)wanted->population, (long long)wanted->units, (long long)wanted->fail_at);
  static char output[] = "run.h5", label[] = "";
  struct gpumc_task task = {.resolved = cJSON_Parse(text),
                            .model = &counting_model,
                            .algorithm = &counting_algorithm,
                            .output = output,
                            .label = label};
  assert_non_null(task.resolved);
  return task;
}

enum gpumc_status
attempt(const struct attempt *wanted, struct heard *heard, struct gpumc_error *error)
{
  struct gpumc_config config = {.n_tasks = 1};
  struct gpumc_task task = task_of(wanted);
  struct gpumc_observer observer = {heard, hear, count};
  struct gpumc_run_options options = {.threads = 1,
                                      .max_seconds = wanted->max_seconds,
                                      .fresh = wanted->fresh,
                                      .command_line = "test",
                                      .stop = &heard->stop,
                                      .observer = &observer};
  enum gpumc_status status = gpumc_run_task(&config, &task, &options, error);
  cJSON_Delete(task.resolved);
  return status;
}

void inspect(const struct attempt *wanted, struct gpumc_task_report *report)
{
  struct gpumc_task task = task_of(wanted);
  gpumc_task_inspect(&task, NULL, report);
  cJSON_Delete(task.resolved);
}
