/* Population annealing: the families of its replicas on the host, and the populations that the
 * block `configurations` asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"

/* ---- sizes and families between the device and the host ---- */

enum gpumc_status
pa_families_make(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  memset(families, 0, sizeof *families);
  GPUMC_TRY(
      gpumc_allocate_array(&families->size, ensemble->runs + 1, "sizes of the populations", error));
  GPUMC_TRY(gpumc_ensemble_get_sizes(ensemble, families->size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    families->replicas += families->size[m];
  return gpumc_allocate_array(&families->family, families->replicas + 1, "families", error);
}

void pa_families_free(struct pa_families *families)
{
  free(families->size);
  free(families->family);
}

typedef enum gpumc_status copy_labels(struct gpumc_device *device, uint32_t *on_device,
                                      uint32_t *on_host, size_t count, struct gpumc_error *error);

static enum gpumc_status fetch(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_host(device, on_host, on_device, count * sizeof *on_host, error);
}

static enum gpumc_status bring(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_device(device, on_device, on_host, count * sizeof *on_host, error);
}

/* On the device every run has room for `capacity`. */
static enum gpumc_status copy_families(const struct pa *pa, copy_labels *copy,
                                       const struct pa_families *families,
                                       struct gpumc_error *error)
{
  uint32_t *on_host = families->family;
  for (size_t m = 0; m < pa->context.ensemble->runs; m++) {
    GPUMC_TRY(copy(pa->context.device, pa->population.family + m * pa->population.plan.capacity,
                   on_host, families->size[m], error));
    on_host += families->size[m];
  }
  return GPUMC_OK;
}

enum gpumc_status
pa_families_fetch(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, fetch, families, error);
}

enum gpumc_status
pa_families_bring(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, bring, families, error);
}

/* ---- configurations ---- */

enum { STEP, VALUE, RUN, REPLICA, FAMILY, LABELS };

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
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_configurations_request_read(params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                                          &request, error));
  if (gpumc_configurations_request_any(&request)) {
    const double rows = populations(&request, settings, schedule, steps) *
                        (double)settings->population * (double)settings->runs;
    gpumc_configurations_demand(model, LABELS, rows, (double)demanded->plan.capacity, demanded);
  }
out:
  gpumc_configurations_request_free(&request);
  return status;
}
