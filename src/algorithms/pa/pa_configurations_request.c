/* Population annealing: which populations the block `configurations` asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"

/* Temperatures that differ by this share are the same: sums of equal steps, and what is told here
 * with twelve digits. */
static const double rounding = 1e-9;

const struct gpumc_key pa_configurations_keys[] = {
    {.name = "every",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = PA_BETA_ROWS_MAXIMUM,
     .unit = "steps",
     .exactly_one_of = "moments",
     .doc = "Number of temperature steps between configurations; the last step always writes one."},
    GPUMC_BETA_KEY("betas", .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM,
                   .ascending = true, .exactly_one_of = "moments",
                   .doc = "At these inverse temperatures, which must be among those of the steps. "
                          "With adaptive steps, at the first temperature that reaches each of "
                          "them."),
    {0}};

/* The temperature of the schedule that is nearest to `beta`, at `*i` or behind it. */
static double nearest(const struct pa_schedule *schedule, double beta, size_t *i)
{
  while (*i + 1 < schedule->count &&
         fabs(schedule->beta[*i + 1] - beta) <= fabs(schedule->beta[*i] - beta))
    ++*i;
  return schedule->beta[*i];
}

/* Whether `asked` is not beyond `beta`, but for its last digits. */
static bool is_reached(double asked, double beta)
{
  return asked * (1 - rounding) <= beta;
}

static void check_betas(const struct gpumc_params *params, const struct pa_schedule *schedule,
                        struct gpumc_report *report)
{
  struct gpumc_list betas = gpumc_params_list(params, "configurations.betas");
  size_t i = 0;
  while (betas.left > 0) {
    const double wanted = gpumc_list_real(&betas);
    const double found = nearest(schedule, wanted, &i);
    if (fabs(found - wanted) > rounding * wanted)
      gpumc_params_mistake(
          params, report, "configurations.betas",
          "%.12g is not one of the %zu inverse temperatures of `beta`; the nearest "
          "is %.12g",
          wanted, schedule->count, found);
  }
}

void pa_configurations_request_check(const struct gpumc_params *params, double end,
                                     struct gpumc_report *report)
{
  struct gpumc_error error = {0};
  struct pa_schedule schedule = {0};
  if (!gpumc_params_has(params, "configurations.betas"))
    return;
  const double coldest = gpumc_params_last(params, "configurations.betas");
  if (!is_reached(coldest, end))
    gpumc_params_mistake(params, report, "configurations.betas",
                         "%.12g is beyond the last inverse temperature, %.12g", coldest, end);
  else if (gpumc_params_has(params, "beta.overlap"))
    return;
  else if (pa_schedule_make(params, &schedule, &error) == GPUMC_OK)
    check_betas(params, &schedule, report);
  else
    gpumc_params_mistake(params, report, "beta", "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  free(schedule.beta);
}

enum gpumc_status pa_configurations_request_read(const struct gpumc_params *params,
                                                 struct pa_configurations_request *request,
                                                 struct gpumc_error *error)
{
  memset(request, 0, sizeof *request);
  if (gpumc_params_has(params, "configurations.every"))
    request->every = (size_t)gpumc_params_integer(params, "configurations.every");
  if (!gpumc_params_has(params, "configurations.betas"))
    return GPUMC_OK;
  struct gpumc_list betas = gpumc_params_list(params, "configurations.betas");
  request->count = betas.left;
  enum gpumc_status status =
      gpumc_allocate_array(&request->beta, request->count, "temperatures of configurations", error);
  for (size_t k = 0; k < request->count && status == GPUMC_OK; k++)
    request->beta[k] = gpumc_list_real(&betas);
  return status;
}

void pa_configurations_request_free(struct pa_configurations_request *request)
{
  free(request->beta);
  memset(request, 0, sizeof *request);
}

bool pa_configurations_request_asks(const struct pa_configurations_request *request)
{
  return request->every > 0 || request->count > 0;
}

/* How many of those asked for are not beyond `beta`. */
static size_t reached(const struct pa_configurations_request *request, double beta)
{
  size_t past = 0, end = request->count;
  while (past < end) {
    const size_t middle = past + (end - past) / 2;
    if (is_reached(request->beta[middle], beta))
      past = middle + 1;
    else
      end = middle;
  }
  return past;
}

bool pa_configurations_request_has_row(const struct pa_configurations_request *request,
                                       const double *beta, size_t row, double last)
{
  if (request->every > 0)
    return row > 0 && (row % request->every == 0 || beta[row] >= last);
  return reached(request, beta[row]) > (row > 0 ? reached(request, beta[row - 1]) : 0);
}
