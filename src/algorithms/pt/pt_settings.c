/* Parallel tempering: what the configuration says, and the order of events that follows from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_state.h"
#include "core/base/memory.h"
#include "core/simulation/sweeps.h"
#include "core/simulation/ladder.h"

/* Updates between two looks at signals and time limits: a tenth of a second to a second on two
 * processors. */
static const double unit_updates = 0x1p31;
enum { SWEEPS_WITHOUT_EXCHANGE = 10 };

static uint64_t whole_rounds(int64_t sweeps, uint32_t round_sweeps)
{
  return ((uint64_t)sweeps + round_sweeps - 1) / round_sweeps;
}

static int64_t default_measure_every(const struct gpumc_params *params)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  return every > 0
             ? every
             : gpumc_divisor_up_to(gpumc_params_integer(params, "sweeps"), SWEEPS_WITHOUT_EXCHANGE);
}

int64_t pt_measure_every(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "measure_every") ? gpumc_params_integer(params, "measure_every")
                                                   : default_measure_every(params);
}

static size_t default_copies(const struct gpumc_model *model)
{
  return model == NULL || model->disorder ? 2 : 1;
}

size_t pt_copies(const struct gpumc_params *params, const struct gpumc_model *model)
{
  return gpumc_params_has(params, "replicas") ? (size_t)gpumc_params_integer(params, "replicas")
                                              : default_copies(model);
}

cJSON *pt_defaults(const struct gpumc_params *params, const struct gpumc_model *model)
{
  cJSON *defaults = cJSON_CreateObject();
  bool good =
      gpumc_ladder_default(params, "beta", defaults) &&
      cJSON_AddNumberToObject(defaults, "replicas", (double)default_copies(model)) &&
      cJSON_AddNumberToObject(defaults, "measure_every", (double)default_measure_every(params));
  if (good && gpumc_params_integer(params, "samples") < PT_SAMPLES_FOR_ERRORS)
    good = cJSON_AddNumberToObject(defaults, "blocks", PT_BLOCKS) != NULL;
  if (good)
    return defaults;
  cJSON_Delete(defaults);
  return NULL;
}

static void read_rounds(const struct gpumc_params *params, struct pt_settings *settings)
{
  const int64_t every = gpumc_params_integer(params, "exchange_every");
  const int64_t measure = pt_measure_every(params);
  settings->exchange = every > 0;
  settings->round_sweeps = (uint32_t)(settings->exchange ? every : measure);
  settings->measure_rounds = (uint32_t)measure / settings->round_sweeps;
  settings->measurements = (uint64_t)(gpumc_params_integer(params, "sweeps") / measure);
  settings->thermalization_rounds =
      whole_rounds(gpumc_params_integer(params, "thermalization"), settings->round_sweeps);
  if (!gpumc_params_has(params, "tune.sweeps"))
    return;
  settings->tuning_rounds =
      whole_rounds(gpumc_params_integer(params, "tune.sweeps"), settings->round_sweeps);
  settings->tuning_iterations = (size_t)gpumc_params_integer(params, "tune.iterations");
}

void pt_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct pt_settings *settings)
{
  memset(settings, 0, sizeof *settings);
  settings->samples = (size_t)gpumc_params_integer(params, "samples");
  settings->copies = pt_copies(params, model);
  gpumc_moved_make(model, &settings->moved);
  settings->temperatures = gpumc_ladder_count(params, "beta");
  read_rounds(params, settings);
  settings->by_time = settings->samples < PT_SAMPLES_FOR_ERRORS;
  settings->blocks = settings->by_time ? PT_BLOCKS : 1;
  if (gpumc_params_has(params, "blocks"))
    settings->blocks = (size_t)gpumc_params_integer(params, "blocks");
  settings->update = gpumc_update_of(params);
  settings->observables =
      gpumc_observables_of(params, model->ops, settings->copies >= 2 ? model : NULL);
}

double pt_sweep_updates(const struct pt_settings *settings, const struct gpumc_model *model)
{
  return (double)settings->copies * (double)settings->temperatures * (double)settings->samples *
         (double)model->sites;
}

uint64_t pt_unit_sweeps(const struct pt_settings *settings, const struct gpumc_model *model)
{
  const uint64_t sweeps = (uint64_t)fmax(1.0, unit_updates / pt_sweep_updates(settings, model));
  return sweeps < settings->round_sweeps ? sweeps : sweeps - sweeps % settings->round_sweeps;
}

static void append(struct pt_timeline *timeline, enum pt_phase phase, size_t index, uint64_t rounds)
{
  if (rounds == 0)
    return;
  timeline->stretch[timeline->count++] = (struct pt_stretch){phase, index, rounds};
  timeline->rounds += rounds;
}

/* Iteration i is 2^i shares long of the 2^iterations - 1 that there are, and long enough for all
 * neighbours to exchange: even and odd pairs take turns. */
static void append_tuning(const struct pt_settings *settings, struct pt_timeline *timeline)
{
  const double shares = (double)(((uint64_t)1 << settings->tuning_iterations) - 1);
  for (size_t i = 0; i < settings->tuning_iterations; i++) {
    const double share = (double)settings->tuning_rounds * (double)((uint64_t)1 << i) / shares;
    append(timeline, PT_TUNING, i, (uint64_t)fmax(ceil(share), PT_TUNING_ROUNDS_MINIMUM));
  }
}

/* The measurements begin + 1 .. end in blocks that differ by one measurement at the most. */
static void append_bin(const struct pt_settings *settings, struct pt_timeline *timeline,
                       uint64_t begin, uint64_t end)
{
  const uint64_t length = end - begin;
  const uint64_t blocks = length < settings->blocks ? length : settings->blocks;
  for (uint64_t b = 0; b < blocks; b++)
    append(timeline, PT_MEASUREMENT, timeline->bins,
           (length * (b + 1) / blocks - length * b / blocks) * settings->measure_rounds);
  timeline->bins++;
}

enum gpumc_status pt_timeline_make(const struct pt_settings *settings, struct pt_timeline *timeline,
                                   struct gpumc_error *error)
{
  enum { BINS_MAXIMUM = 32 };
  memset(timeline, 0, sizeof *timeline);
  const size_t most = settings->tuning_iterations + 1 + BINS_MAXIMUM * settings->blocks;
  enum gpumc_status status =
      gpumc_allocate_array(&timeline->stretch, most, "order of events", error);
  if (status != GPUMC_OK)
    return status;
  int halvings = 0;
  while (settings->measurements >> (halvings + 1) > 0)
    halvings++;
  append_tuning(settings, timeline);
  append(timeline, PT_THERMALIZATION, 0, settings->thermalization_rounds);
  timeline->lead = timeline->rounds;
  append_bin(settings, timeline, 0, settings->measurements >> halvings);
  for (int k = halvings; k > 0; k--)
    append_bin(settings, timeline, settings->measurements >> k, settings->measurements >> (k - 1));
  return GPUMC_OK;
}

void pt_timeline_free(struct pt_timeline *timeline)
{
  free(timeline->stretch);
  memset(timeline, 0, sizeof *timeline);
}
