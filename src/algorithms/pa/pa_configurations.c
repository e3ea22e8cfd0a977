/* Population annealing: the rows of populations that are written as configurations. */
#include <math.h>

#include "algorithms/pa/pa_families.h"
#include "core/simulation/curves.h"

enum { STEP, BETA, RUN, REPLICA, FAMILY, LABELS };

enum gpumc_status pa_configurations_declare(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_column labels[LABELS] = {
      [STEP] = {.label = {"step", "temperature steps from beta = 0", "steps", "i"},
                .width = 1,
                .integer = true},
      [BETA] = {.label = gpumc_label_beta, .width = 1},
      [RUN] = {.label = {"run", "index of the run, from 0", "1", ""}, .width = 1, .integer = true},
      [REPLICA] = {.label = {"replica", "index of the replica in its population, from 0", "1", ""},
                   .width = 1,
                   .integer = true},
      [FAMILY] = {.label = {"family", "initial replica from which it descends", "1", ""},
                  .width = 1,
                  .integer = true},
  };
  if (!pa_configurations_request_asks(&pa->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&pa->context, labels, LABELS, &pa->configurations, error);
}

/* The population of a run. */
struct place {
  size_t step, run;
  double beta;
  const uint32_t *family;
};

static void label(const void *of, size_t r, double *label)
{
  const struct place *place = of;
  label[STEP] = (double)place->step;
  label[BETA] = place->beta;
  label[RUN] = (double)place->run;
  label[REPLICA] = (double)r;
  label[FAMILY] = (double)place->family[r];
}

static enum gpumc_status
write_populations(struct pa *pa, const struct pa_families *families, struct gpumc_error *error)
{
  struct place place = {
      .step = pa->row, .beta = pa->schedule.beta[pa->row], .family = families->family};
  enum gpumc_status status = GPUMC_OK;
  for (size_t m = 0; m < pa->batch.count && status == GPUMC_OK; m++) {
    place.run = pa->batch.first + m;
    status =
        gpumc_configurations_write(&pa->configurations, m, families->size[m], label, &place, error);
    place.family += families->size[m];
  }
  return status;
}

enum gpumc_status pa_configurations_write(struct pa *pa, struct gpumc_error *error)
{
  struct pa_families families;
  if (!pa_configurations_request_has_row(&pa->request, pa->schedule.beta, pa->row,
                                         pa->settings.beta_end))
    return GPUMC_OK;
  enum gpumc_status status = pa_families_make(pa, &families, error);
  if (status == GPUMC_OK)
    status = pa_families_fetch(pa, &families, error);
  if (status == GPUMC_OK)
    status = write_populations(pa, &families, error);
  pa_families_free(&families);
  return status;
}

bool pa_configurations_fit(const struct pa *pa)
{
  uint64_t expected = 0;
  for (size_t m = 0; m < pa->settings.runs && pa_configurations_request_asks(&pa->request); m++) {
    size_t rows;
    gpumc_recorder_rows(pa->context.recorder, pa->tables[m].curve, &rows);
    for (size_t row = 0; row < rows; row++)
      if (pa_configurations_request_has_row(&pa->request, pa->schedule.beta, row,
                                            pa->settings.beta_end))
        expected += (uint64_t)pa_curve_value(pa, m, row, PA_POPULATION);
  }
  return gpumc_configurations_count(&pa->configurations) == expected;
}

/* Of a run, in a schedule of so many steps that is known unless it is adaptive. */
static double populations(const struct pa_configurations_request *request,
                          const struct pa_settings *settings, const struct pa_schedule *schedule,
                          double steps)
{
  double count = 0;
  if (settings->adaptive)
    return request->every > 0 ? ceil(steps / (double)request->every) : (double)request->count;
  for (size_t row = 0; row < schedule->count; row++)
    count += pa_configurations_request_has_row(request, schedule->beta, row, settings->beta_end);
  return count;
}

enum gpumc_status
pa_configurations_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                         const struct pa_settings *settings, const struct pa_schedule *schedule,
                         double steps, struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct pa_configurations_request request;
  enum gpumc_status status = pa_configurations_request_read(params, &request, error);
  if (status == GPUMC_OK && pa_configurations_request_asks(&request)) {
    const double rows = populations(&request, settings, schedule, steps) *
                        (double)settings->population * (double)settings->runs;
    gpumc_configurations_demand(model, LABELS, rows, (double)demanded->plan.capacity, demanded);
  }
  pa_configurations_request_free(&request);
  return status;
}
