/* gpumc plan: what its files share. */
#ifndef GPUMC_CLI_PLAN_H
#define GPUMC_CLI_PLAN_H

#include <cjson/cJSON.h>

#include "core/run/prepare.h"

/* Bytes that a task needs of its device, in its JSON: of the host where that is the CPU. */
double cli_plan_memory(const cJSON *task);
/* 0 where the member is missing. */
double cli_plan_amount(const cJSON *json, const char *name);
/* The whole plan as text. */
void cli_plan_print(const cJSON *json);

/* How long a run would take: its operations timed on a scratch ensemble, as often as it does them.
 */
struct cli_plan_time {
  double rate;    /* updates per second, of sweeps, or walks, alone */
  double seconds; /* of the whole run */
};

/* Seconds of one call of each operation, 0 where the run does not call it. */
struct cli_plan_calls {
  double update, step, look, exchange, compare;
};

/* Appends all that decides how long the calls take, as a text: tasks with the same one are timed
 * once. Seeds and temperatures do not. */
void cli_plan_time_key(const struct gpumc_preparation *preparation, struct gpumc_text *key);

/* Takes a third of a second, times `budget`, or, where a single operation takes longer, a few of
 * these. */
GPUMC_MUST_CHECK enum gpumc_status
cli_plan_time_measure(struct gpumc_preparation *preparation, double budget,
                      struct cli_plan_calls *calls, struct gpumc_error *error);

/* What a run takes whose calls take so long. */
struct cli_plan_time
cli_plan_time_of(const struct gpumc_preparation *preparation, const struct cli_plan_calls *calls);

/* A GPU that is not here: a login node plans for the card of a batch job. */
struct cli_plan_gpu {
  char name[32]; /* "H200", or "80 GiB" */
  double bytes;  /* of its memory */
};

/* From the name of a known card or a size of memory, "80 GiB". GPUMC_INVALID, with the cards that
 * are known, for anything else. */
GPUMC_MUST_CHECK enum gpumc_status
cli_plan_gpu_find(const char *text, struct cli_plan_gpu *gpu, struct gpumc_error *error);
/* The least time that the sweeps take, at the highest rate measured with this card, kernel and kind
 * of model; 0: not measured. */
double
cli_plan_gpu_seconds(const struct cli_plan_gpu *gpu, const struct gpumc_preparation *preparation);
/* The card in JSON, with the memory that is needed, whether that fits, and the least time. */
cJSON *cli_plan_gpu_json(const struct cli_plan_gpu *gpu, double needed, double seconds);
/* Of such JSON, the row of the card and that of the time. */
void cli_plan_gpu_print(const cJSON *gpu);
void cli_plan_gpu_print_time(const cJSON *gpu);
/* "at least 3 min", or "unknown", of such JSON or NULL, into `text`, which it returns. */
const char *cli_plan_gpu_time(const cJSON *gpu, char text[static 64]);

/* The part of the work that the process with most has, as they divide it; 1 where they do not. */
double cli_plan_share(const struct gpumc_preparation *preparation);
/* Processes that work on one GPU of this machine; 1 on a CPU, and on GPUs that are not here. */
int cli_plan_gpu_sharers(const struct gpumc_preparation *preparation, bool absent);
/* What each process has and needs, in JSON; of a task with that member, its rows; and of all tasks
 * what is to be warned of. */
cJSON *cli_plan_processes_json(const struct gpumc_preparation *preparation,
                               const struct gpumc_processes *planned);
void cli_plan_processes_print(const cJSON *task);
void cli_plan_processes_warn(const cJSON *tasks);

/* The samples of the disorder that a task has: `count` of them from the first on; 0: none, or they
 * play no part in merging. */
struct cli_plan_samples {
  const struct gpumc_task *task;
  size_t first, count;
};
struct cli_plan_samples cli_plan_samples_of(const struct gpumc_preparation *preparation);

/* What a plan is for. */
struct cli_plan_hardware {
  int threads;                             /* as in gpumc_prepare */
  const struct cli_plan_gpu *gpu;          /* NULL: none that is not here */
  const struct gpumc_processes *processes; /* NULL: one */
};

/* Plans all tasks, into the array `tasks` as JSON and, for remarks on them together,
 * samples[n_tasks]. A task that does not fit into memory has the reason as its "refusal". */
GPUMC_MUST_CHECK enum gpumc_status
cli_plan_tasks(const struct cli_plan_hardware *hardware, const struct gpumc_config *config,
               cJSON *tasks, struct cli_plan_samples *samples, struct gpumc_error *error);

/* What is to be known of the tasks of a campaign together, before they are run: an array of texts;
 * NULL when memory ran out. Tasks of an algorithm whose results can be merged, which differ in
 * model.sample alone, are meant to be: with samples in common, or keys that are against it, they
 * cannot. */
cJSON *cli_plan_remarks(const struct cli_plan_samples *samples, size_t count);

#endif
