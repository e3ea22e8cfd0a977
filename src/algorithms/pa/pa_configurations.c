/* Population annealing: the populations that the block `configurations` asks for. */
#include <math.h>
#include <stdlib.h>

#include "algorithms/pa/pa_state.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"

enum { STEP, VALUE, RUN, REPLICA, FAMILY, LABELS };

const struct gpumc_key pa_configurations_keys[] = {
    {.name = "every",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 1,
     .maximum = PA_ROWS_MAXIMUM,
     .unit = "steps",
     .exactly_one_of = "moments",
     .doc = "Number of temperature steps between configurations; the last step always writes one."},
    GPUMC_BETA_KEY("betas", .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM,
                   .ascending = true, .exactly_one_of = "moments",
                   .doc = "At these inverse temperatures, which must be among those of the steps. "
                          "With adaptive steps, at the first temperature that reaches each of "
                          "them."),
    {0}};

/* The temperature of the schedule that is nearest to `beta`, at `*i` or after it. */
static double nearest(const struct pa_schedule *schedule, double beta, size_t *i)
{
  while (*i + 1 < schedule->count &&
         fabs(schedule->value[*i + 1] - beta) <= fabs(schedule->value[*i] - beta))
    ++*i;
  return schedule->value[*i];
}

static void check_betas(const struct gpumc_params *params, const struct pa_schedule *schedule,
                        struct gpumc_report *report)
{
  struct gpumc_list betas = gpumc_params_list(params, "configurations.betas");
  size_t i = 0;
  while (betas.left > 0) {
    const double wanted = gpumc_list_real(&betas);
    const double found = nearest(schedule, wanted, &i);
    if (fabs(found - wanted) > GPUMC_CONFIGURATIONS_ROUNDING * wanted)
      gpumc_params_mistake(
          params, report, "configurations.betas",
          "%.12g is not one of the %zu inverse temperatures of `beta`; the nearest "
          "is %.12g",
          wanted, schedule->count, found);
  }
}

void pa_configurations_check(const struct gpumc_params *params, double end,
                             struct gpumc_report *report)
{
  struct gpumc_error error = {0};
  struct pa_schedule schedule = {0};
  if (!gpumc_params_has(params, "configurations.betas"))
    return;
  if (gpumc_params_has(params, "control")) {
    gpumc_params_mistake(params, report, "configurations.betas",
                         "betas are inverse temperatures, which stay while another control is "
                         "moved: use configurations.every");
    return;
  }
  const double coldest = gpumc_params_last(params, "configurations.betas");
  if (coldest * (1 - GPUMC_CONFIGURATIONS_ROUNDING) > end)
    gpumc_params_mistake(params, report, "configurations.betas",
                         "%.12g is beyond the last inverse temperature, %.12g", coldest, end);
  else if (gpumc_params_has(params, "beta.overlap"))
    return;
  else if (pa_schedule_make(params, &schedule, &error) == GPUMC_OK)
    check_betas(params, &schedule, report);
  else
    gpumc_params_mistake(params, report, "beta", "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  free(schedule.value);
}

/* Whether the populations of a row are asked for; the row stands in a schedule that ends at the
 * value `last`. */
static bool has_row(const struct gpumc_configurations_request *request, const double *value,
                    size_t row, double last)
{
  const size_t passed = gpumc_configurations_request_passed(request, (uint32_t)row, value[row]);
  if (row == 0)
    return passed > 0;
  if (request->every > 0 && value[row] >= last)
    return true;
  return passed > gpumc_configurations_request_passed(request, (uint32_t)row - 1, value[row - 1]);
}

enum gpumc_status pa_configurations_declare(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_column labels[LABELS] = {
      [STEP] = {.label = {"step",
                          gpumc_moves_beta(&pa->settings.moved) ? "temperature steps from beta = 0"
                                                                : "steps from the first value",
                          "steps", "i"},
                .width = 1,
                .integer = true},
      [VALUE] = {.label = pa->axis, .width = 1},
      [RUN] = {.label = {"run", "index of the run, from 0", "1", ""}, .width = 1, .integer = true},
      [REPLICA] = {.label = {"replica", "index of the replica in its population, from 0", "1", ""},
                   .width = 1,
                   .integer = true},
      [FAMILY] = {.label = {"family", "initial replica from which it descends", "1", ""},
                  .width = 1,
                  .integer = true},
  };
  if (!gpumc_configurations_request_any(&pa->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&pa->context, labels, LABELS, &pa->configurations, error);
}

static enum gpumc_status
write_populations(struct pa *pa, const struct pa_families *families, struct gpumc_error *error)
{
  const uint32_t *family = families->family;
  for (size_t m = 0; m < pa->batch.count; m++) {
    const double shared[] = {[STEP] = (double)pa->row,
                             [VALUE] = pa->schedule.value[pa->row],
                             [RUN] = (double)(pa->batch.first + m)};
    const struct gpumc_configurations_rows rows = {
        .run = m, .count = families->size[m], .label = shared, .mark = family};
    GPUMC_TRY(gpumc_configurations_write(&pa->configurations, &rows, error));
    family += families->size[m];
  }
  return GPUMC_OK;
}

enum gpumc_status pa_configurations_write(struct pa *pa, struct gpumc_error *error)
{
  struct pa_families families;
  if (!has_row(&pa->request, pa->schedule.value, pa->row, pa->settings.end))
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, pa_families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, pa_families_fetch(pa, &families, error));
  status = write_populations(pa, &families, error);
out:
  pa_families_free(&families);
  return status;
}

bool pa_configurations_fit(const struct pa *pa)
{
  uint64_t expected = 0;
  for (size_t m = 0; m < pa->settings.runs && gpumc_configurations_request_any(&pa->request); m++) {
    size_t rows;
    gpumc_recorder_rows(pa->context.recorder, pa->tables[m].curve, &rows);
    for (size_t row = 0; row < rows; row++)
      if (has_row(&pa->request, pa->schedule.value, row, pa->settings.end))
        expected += (uint64_t)pa_curve_value(pa, m, row, PA_POPULATION);
  }
  return gpumc_configurations_count(&pa->configurations) == expected;
}

/* Of a run, in a schedule of so many steps that is known unless it is adaptive. */
static double populations(const struct gpumc_configurations_request *request,
                          const struct pa_settings *settings, const struct pa_schedule *schedule,
                          double steps)
{
  double count = 0;
  if (settings->adaptive)
    return request->every > 0 ? ceil(steps / (double)request->every) : (double)request->n_values;
  for (size_t row = 0; row < schedule->count; row++)
    count += has_row(request, schedule->value, row, settings->end);
  return count;
}

enum gpumc_status
pa_configurations_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                         const struct pa_settings *settings, const struct pa_schedule *schedule,
                         double steps, struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct gpumc_configurations_request request;
  enum gpumc_status status =
      gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_BETAS, 0, &request, error);
  if (status == GPUMC_OK && gpumc_configurations_request_any(&request)) {
    const double rows = populations(&request, settings, schedule, steps) *
                        (double)settings->population * (double)settings->runs;
    gpumc_configurations_demand(model, LABELS, rows, (double)demanded->plan.capacity, demanded);
  }
  gpumc_configurations_request_free(&request);
  return status;
}
