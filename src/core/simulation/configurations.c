/* Configurations: from the replicas of an ensemble to the rows of their table. */
#include "core/simulation/configurations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/curves.h"

/* Of replicas that come from the ensemble together, unless one is larger: enough for a GPU not to
 * wait for each of them. */
static const double block_bytes = 0x1p24;

/* At least one. */
static double replicas_at_once(const struct gpumc_model *model, double replicas)
{
  return fmax(1, fmin(replicas, floor(block_bytes / (double)model->portable_bytes)));
}

static size_t bytes_column(const struct gpumc_configurations *configurations)
{
  return 1 + configurations->n_labels;
}

static enum gpumc_status declare_table(struct gpumc_configurations *configurations,
                                       const struct gpumc_column *labels, size_t bytes,
                                       struct gpumc_error *error)
{
  const size_t last = bytes_column(configurations);
  struct gpumc_column *columns = NULL;
  enum gpumc_status status = gpumc_allocate_array(&columns, last + 1, "columns", error);
  if (status != GPUMC_OK)
    return status;
  columns[0] = (struct gpumc_column){
      .label = {"configuration", "index of the configuration, from 0", "1", ""},
      .width = 1,
      .integer = true};
  memcpy(columns + 1, labels, configurations->n_labels * sizeof *columns);
  columns[last] = (struct gpumc_column){.label = {"bytes", "the replica in portable form", "1", ""},
                                        .width = gpumc_column_words(bytes),
                                        .bytes = bytes};
  status =
      gpumc_curve_add_series(configurations->recorder, configurations->ensemble->model,
                             "configurations", columns, last + 1, &configurations->table, error);
  free(columns);
  return status;
}

enum gpumc_status gpumc_configurations_declare(const struct gpumc_context *context,
                                               const struct gpumc_column *labels, size_t n_labels,
                                               struct gpumc_configurations *configurations,
                                               struct gpumc_error *error)
{
  const struct gpumc_model *model = context->model;
  const size_t bytes = model->portable_bytes;
  *configurations = (struct gpumc_configurations){
      .ensemble = context->ensemble,
      .recorder = context->recorder,
      .n_labels = n_labels,
      .at_once = (size_t)replicas_at_once(model, (double)context->ensemble->plan.capacity)};
  enum gpumc_status status = gpumc_allocate_array(
      &configurations->row, 1 + n_labels + gpumc_column_words(bytes), "a configuration", error);
  if (status == GPUMC_OK && configurations->at_once > 1)
    status = gpumc_allocate_array(&configurations->block, configurations->at_once * bytes,
                                  "configurations", error);
  return status == GPUMC_OK ? declare_table(configurations, labels, bytes, error) : status;
}

void gpumc_configurations_free(struct gpumc_configurations *configurations)
{
  free(configurations->row);
  free(configurations->block);
  memset(configurations, 0, sizeof *configurations);
}

uint64_t gpumc_configurations_count(const struct gpumc_configurations *configurations)
{
  if (configurations->row == NULL)
    return 0;
  return gpumc_recorder_count(configurations->recorder, configurations->table);
}

/* The replicas first .. first + count - 1, no more than there is room for. */
static enum gpumc_status write_block(struct gpumc_configurations *configurations, size_t m,
                                     size_t first, size_t count, gpumc_configurations_label *label,
                                     const void *of, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = configurations->ensemble;
  const size_t bytes = ensemble->model->portable_bytes;
  double *row = configurations->row;
  uint8_t *replica = (uint8_t *)(row + bytes_column(configurations));
  uint8_t *block = configurations->block != NULL ? configurations->block : replica;
  enum gpumc_status status = ensemble->ops->get(ensemble, m, first, count, block, error);
  for (size_t i = 0; i < count && status == GPUMC_OK; i++) {
    row[0] = (double)gpumc_configurations_count(configurations);
    label(of, first + i, row + 1);
    if (block != replica)
      memcpy(replica, block + i * bytes, bytes);
    status = gpumc_recorder_append(configurations->recorder, configurations->table, row, error);
  }
  return status;
}

enum gpumc_status gpumc_configurations_write(struct gpumc_configurations *configurations, size_t m,
                                             size_t count, gpumc_configurations_label *label,
                                             const void *of, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t first = 0; first < count && status == GPUMC_OK; first += configurations->at_once) {
    const size_t left = count - first;
    const size_t next = left < configurations->at_once ? left : configurations->at_once;
    status = write_block(configurations, m, first, next, label, of, error);
  }
  return status;
}

void gpumc_configurations_demand(const struct gpumc_model *model, size_t n_labels, double rows,
                                 double replicas, struct gpumc_demand *demanded)
{
  const double bytes = (double)model->portable_bytes;
  const double row = bytes + (double)(1 + n_labels) * sizeof(double);
  const double at_once = replicas_at_once(model, replicas);
  const double block = at_once > 1 ? at_once * bytes : 0;
  demanded->configuration_bytes = rows * row;
  demanded->host_bytes +=
      gpumc_demand_bytes(row + block + gpumc_recorder_series_bytes(row, rows * row));
}
