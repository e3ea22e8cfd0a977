/* Population annealing: its life from demand to destruction, and its vtable. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/memory.h"

/* Sums of fourth powers must stay below 2^127 (gpumc_moment_sums). */
static enum gpumc_status
check_range(const struct gpumc_model *model, size_t capacity, struct gpumc_error *error)
{
  bool fourth = false;
  for (size_t k = 0; k < model->ops->n_observables; k++)
    fourth = fourth || model->ops->observables[k].moment == GPUMC_MOMENT_FOURTH;
  if (fourth && 4 * log2((double)model->sites) + log2((double)capacity) > 126)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "algorithm pa: %zu replicas of %zu sites are too many for exact sums "
                           "of fourth powers (population times sites^4 must stay below 2^126)",
                           capacity, model->sites);
  return GPUMC_OK;
}

/* Adaptive steps: Gaussian energies of variance s^2 = N z J^2/2 at beta = 0 shifted by dbeta s^2
 * overlap by erfc(dbeta s/sqrt 8); later steps differ, so this only sets the scale. */
static double adaptive_steps(const struct pa_settings *settings, const struct gpumc_model *model)
{
  double low = 0;
  double high = 10;
  for (int i = 0; i < 60; i++) {
    double middle = 0.5 * (low + high);
    if (erfc(middle / sqrt(8.0)) > settings->overlap)
      low = middle;
    else
      high = middle;
  }
  double deviation = sqrt(2.0 * (double)model->sites) * model->quantum[0];
  return ceil(settings->beta_end * deviation / low);
}

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct pa_settings settings;
  struct pa_schedule schedule;
  pa_settings_read(params, &settings);
  size_t capacity = pa_capacity(settings.population);
  enum gpumc_status status = check_range(model, capacity, error);
  if (status == GPUMC_OK && settings.reweight && model->levels == 0)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "algorithm.reweight needs a model with a discrete spectrum; %s with "
                             "these parameters has none (a field h makes it continuous): remove "
                             "the block or the field",
                             model->ops->name);
  if (status == GPUMC_OK)
    status = pa_schedule_make(params, &schedule, error);
  if (status != GPUMC_OK)
    return status;
  double steps = settings.adaptive ? adaptive_steps(&settings, model) : (double)schedule.count - 1;
  free(schedule.beta);
  size_t row = pa_curve_width(model->ops) + pa_block_width(model->ops, settings.blocks);
  size_t bins = settings.reweight ? settings.strata * settings.blocks * model->levels : 0;
  memset(demanded, 0, sizeof *demanded);
  demanded->replicas = settings.population;
  demanded->capacity = capacity;
  demanded->host_bytes = capacity * sizeof(uint32_t) + bins * 2 * sizeof(double) +
                         (size_t)((steps + 1) * (double)settings.runs) * row * sizeof(double);
  demanded->device_bytes = capacity * (model->ops->n_channels * sizeof(int64_t) + sizeof(uint64_t) +
                                       3 * sizeof(uint32_t)) +
                           bins * sizeof(uint64_t);
  demanded->updates = (double)settings.population * (double)model->sites * settings.sweeps * steps *
                      (double)settings.runs;
  demanded->estimated = settings.adaptive;
  return GPUMC_OK;
}

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
  if (status == GPUMC_OK && (size > pa->context.ensemble->capacity || counters[0] < 0 ||
                             counters[0] > (int64_t)pa->settings.runs || counters[1] < 0 ||
                             (counters[0] == (int64_t)pa->settings.runs && counters[1] != 0)))
    status = gpumc_error_set(error, GPUMC_FAILURE, "the checkpoint's counters are out of range");
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
    .demand = demand,
    .create = create,
    .advance = advance,
    .position = position,
    .save = save,
    .load = load,
    .summarize = pa_summarize,
    .destroy = destroy,
};
