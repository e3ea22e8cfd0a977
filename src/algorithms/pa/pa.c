/* Population annealing: its life from demand to destruction, and its vtable. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/memory.h"

/* One histogram for each stratum and block. */
static size_t histogram_rows(const struct pa *pa)
{
  return pa->settings.strata * pa->settings.blocks;
}

static void destroy(void *state)
{
  struct pa *pa = state;
  if (pa == NULL)
    return;
  struct gpumc_device *device = pa->context.device;
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, pa->channel[c]);
  device->ops->release(device, pa->weight);
  device->ops->release(device, pa->parent);
  device->ops->release(device, pa->scratch);
  device->ops->release(device, pa->family);
  device->ops->release(device, pa->bins);
  free(pa->schedule.beta);
  free(pa->tables);
  free(pa->sums);
  free(pa->block_weight);
  free(pa->family_sizes);
  free(pa->curve_row);
  free(pa->block_row);
  free(pa);
}

static enum gpumc_status allocate_device_arrays(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_model *model = pa->context.model;
  struct gpumc_device *device = pa->context.device;
  size_t capacity = pa->context.ensemble->capacity;
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < model->ops->n_channels && status == GPUMC_OK; c++)
    status = gpumc_device_array(device, &pa->channel[c], capacity, "measurements", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &pa->weight, capacity, "weights", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &pa->parent, capacity, "parents", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &pa->scratch, capacity, "copies", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &pa->family, capacity, "families", error);
  if (status == GPUMC_OK && pa->settings.reweight)
    status = gpumc_device_array(device, &pa->bins, histogram_rows(pa) * model->levels,
                                "energy histograms", error);
  return status;
}

static enum gpumc_status allocate_host_arrays(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = pa->context.model->ops;
  size_t blocks = pa->settings.blocks;
  enum gpumc_status status = gpumc_allocate_array(&pa->tables, pa->settings.runs, "tables", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->sums, blocks, "sums by block", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->block_weight, blocks, "weights by block", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->family_sizes, pa->context.ensemble->capacity + 1,
                                  "family sizes", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->curve_row, pa_curve_width(model), "a row", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->block_row, pa_block_width(model, blocks), "a row", error);
  return status;
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct pa *pa = NULL;
  *state = NULL;
  enum gpumc_status status = gpumc_allocate_array(&pa, 1, "population annealing", error);
  if (status != GPUMC_OK)
    return status;
  pa->context = *context;
  pa_settings_read(&context->params, &pa->settings);
  status = pa_schedule_make(&context->params, &pa->schedule, error);
  if (status == GPUMC_OK)
    status = allocate_device_arrays(pa, error);
  if (status == GPUMC_OK)
    status = allocate_host_arrays(pa, error);
  if (status == GPUMC_OK)
    status = pa_tables_declare(pa, error);
  if (status != GPUMC_OK) {
    destroy(pa);
    return status;
  }
  *state = pa;
  return GPUMC_OK;
}

static bool run_is_over(const struct pa *pa)
{
  return pa->row > 0 && pa->schedule.beta[pa->row - 1] >= pa->settings.beta_end;
}

static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct pa *pa = state;
  enum gpumc_status status = pa->row == 0 ? pa_start_run(pa, error) : pa_anneal(pa, error);
  *finished = false;
  if (status != GPUMC_OK)
    return status;
  pa->row++;
  if (run_is_over(pa)) {
    pa->run++;
    pa->row = 0;
    *finished = pa->run == pa->settings.runs;
  }
  return GPUMC_OK;
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct pa *pa = state;
  double beta = pa->row > 0 ? pa->schedule.beta[pa->row - 1] : 0.0;
  bool growing = pa->settings.adaptive && pa->run == 0;
  double of_run =
      growing ? beta / pa->settings.beta_end : (double)pa->row / (double)pa->schedule.count;
  where->fraction = ((double)pa->run + of_run) / (double)pa->settings.runs;
  where->updates = pa->updates;
  where->coordinate = "beta";
  where->value = beta;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pa *pa = state;
  struct gpumc_device *device = pa->context.device;
  size_t size = pa->context.ensemble->size;
  size_t n_bins = histogram_rows(pa) * pa->context.model->levels;
  int64_t counters[2] = {(int64_t)pa->run, (int64_t)pa->row};
  double numbers[2] = {pa->log_partition, pa->updates};
  enum gpumc_status status =
      gpumc_checkpoint_put(writer, "pa/counters", GPUMC_INT64, 2, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/numbers", GPUMC_FLOAT64, 2, 1, numbers, error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_host(device, pa->family_sizes, pa->family,
                                       size * sizeof *pa->family, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_put(writer, "pa/family", GPUMC_UINT32, size, 1, pa->family_sizes, error);
  if (status != GPUMC_OK || !pa->settings.reweight)
    return status;
  uint64_t *bins = NULL;
  status = gpumc_allocate_array(&bins, n_bins, "energy histograms", error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_host(device, bins, pa->bins, n_bins * sizeof *bins, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/bins", GPUMC_UINT64, histogram_rows(pa),
                                  pa->context.model->levels, bins, error);
  free(bins);
  return status;
}

static enum gpumc_status
load_bins(struct pa *pa, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  size_t levels = pa->context.model->levels;
  size_t rows = histogram_rows(pa);
  uint64_t *bins = NULL;
  enum gpumc_status status = gpumc_allocate_array(&bins, rows * levels, "energy histograms", error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_get_rows(reader, "pa/bins", GPUMC_UINT64, 0, rows, levels, bins, error);
  if (status == GPUMC_OK)
    status =
        device->ops->copy_to_device(device, pa->bins, bins, rows * levels * sizeof *bins, error);
  free(bins);
  return status;
}

/* The temperatures that the first run chose stand in its rows. */
static enum gpumc_status reload_schedule(struct pa *pa, struct gpumc_error *error)
{
  size_t n_rows;
  size_t width = pa_curve_width(pa->context.model->ops);
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[0].curve, &n_rows);
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = pa->schedule.count; i < n_rows && status == GPUMC_OK; i++)
    status = pa_schedule_append(&pa->schedule, rows[i * width + PA_BETA], error);
  return status;
}

/* A checkpoint that is whole may still be wrong: what indexes arrays must fit them. family_sizes
 * holds the labels just read. */
static enum gpumc_status check_position(const struct pa *pa, const int64_t counters[2],
                                        size_t replicas, struct gpumc_error *error)
{
  size_t runs = pa->settings.runs;
  bool fits = counters[0] >= 0 && counters[0] <= (int64_t)runs && counters[1] >= 0;
  if (counters[0] == (int64_t)runs)
    fits = counters[1] == 0;
  for (size_t m = 0; m < runs && fits; m++) {
    size_t n_rows;
    gpumc_recorder_rows(pa->context.recorder, pa->tables[m].curve, &n_rows);
    if ((int64_t)m == counters[0])
      fits = (int64_t)n_rows == counters[1] && n_rows <= pa->schedule.count;
    else
      fits = n_rows == ((int64_t)m < counters[0] ? pa->schedule.count : 0);
  }
  for (size_t r = 0; r < replicas && fits; r++)
    fits = pa->family_sizes[r] < pa->settings.population;
  if (fits)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "the checkpoint's counters, rows and families contradict each other");
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct pa *pa = state;
  struct gpumc_device *device = pa->context.device;
  int64_t counters[2];
  double numbers[2];
  size_t size;
  size_t width;
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, "pa/counters", GPUMC_INT64, 0, 2, 1, counters, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_get_rows(reader, "pa/numbers", GPUMC_FLOAT64, 0, 2, 1, numbers, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_shape(reader, "pa/family", &size, &width, error);
  if (status == GPUMC_OK && size > pa->context.ensemble->capacity)
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "the checkpoint holds %zu replicas, more than "
                             "there is room for",
                             size);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "pa/family", GPUMC_UINT32, 0, size, 1,
                                       pa->family_sizes, error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_device(device, pa->family, pa->family_sizes,
                                         size * sizeof *pa->family, error);
  if (status == GPUMC_OK && pa->settings.reweight)
    status = load_bins(pa, reader, error);
  if (status == GPUMC_OK)
    status = reload_schedule(pa, error);
  if (status == GPUMC_OK)
    status = check_position(pa, counters, size, error);
  if (status != GPUMC_OK)
    return status;
  pa->run = (size_t)counters[0];
  pa->row = (size_t)counters[1];
  pa->log_partition = numbers[0];
  pa->updates = numbers[1];
  pa->measured = false;
  *finished = pa->run == pa->settings.runs;
  return GPUMC_OK;
}

static const char citation[] =
    "@article{barash2017population,\n"
    "  author  = {Barash, Lev Yu. and Weigel, Martin and Borovsk{\\'y}, Michal and Janke, Wolfhard "
    "and Shchur, Lev N.},\n"
    "  title   = {{GPU} accelerated population annealing algorithm},\n"
    "  journal = {Computer Physics Communications},\n"
    "  volume  = {220},\n"
    "  pages   = {341--350},\n"
    "  year    = {2017},\n"
    "  doi     = {10.1016/j.cpc.2017.06.020}\n"
    "}\n";

const struct gpumc_algorithm_ops gpumc_algorithm_pa = {
    .name = "pa",
    .summary = "population annealing: a population of replicas, cooled and resampled",
    .citation = citation,
    .keys = pa_keys,
    .required = GPUMC_CAN_RANDOMIZE | GPUMC_CAN_TRANSFER | GPUMC_CAN_SWEEP | GPUMC_CAN_MEASURE |
                GPUMC_CAN_GATHER,
    .check = pa_check,
    .check_instance = pa_check_instance,
    .demand = pa_demand,
    .create = create,
    .advance = advance,
    .position = position,
    .save = save,
    .load = load,
    .summarize = pa_summarize,
    .destroy = destroy,
};
