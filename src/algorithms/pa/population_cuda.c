/* The population operations on CUDA: memory, and what is launched for each. */
#include "algorithms/pa/population_cuda.h"

#include <stdlib.h>

#include "algorithms/pa/population_rules.h"
#include "core/base/memory.h"
#include "core/device/cuda_error.h"
#include "core/device/device.h"

enum {
  BLOCK_THREADS = 512, /* unless the device says otherwise */
  RESIDENT_THREADS =
      2048, /* of a multiprocessor; more of them only add to the work of summing up */
};

/* One record more than there are runs, for `trial`. */
static size_t
record_bytes(const struct gpumc_population_plan *plan, const struct gpumc_population_layout *layout)
{
  return (plan->runs + 1) * layout->stride;
}

static size_t host_bytes(const struct gpumc_population_plan *plan)
{
  struct gpumc_population_layout layout;
  gpumc_population_layout_make(plan, &layout);
  return GPUMC_OUTCOME_SLOTS * gpumc_outcome_slot_bytes(plan, &layout);
}

static size_t own_bytes(const struct gpumc_population_plan *plan)
{
  struct gpumc_population_layout layout;
  struct gpumc_error error = {0};
  size_t scan_bytes = 0;
  gpumc_population_layout_make(plan, &layout);
  /* Without a device to ask, create is going to say so. */
  if (gpumc_scan_bytes_cuda(plan->runs * plan->capacity, &scan_bytes, &error) != GPUMC_OK)
    gpumc_error_free(&error);
  return record_bytes(plan, &layout) + scan_bytes;
}

static enum gpumc_status allocate(struct gpumc_population *population,
                                  struct gpumc_population_cuda *cuda, struct gpumc_error *error)
{
  const struct gpumc_population_plan *plan = &population->plan;
  struct gpumc_device *device = population->device;
  struct gpumc_population_work *work = &cuda->work;
  enum gpumc_status status = gpumc_device_array(
      device, &work->records, record_bytes(plan, &work->layout), "sums of a population", error);
  if (status == GPUMC_OK)
    status = gpumc_scan_bytes_cuda(plan->runs * plan->capacity, &work->scan_bytes, error);
  if (status == GPUMC_OK)
    status = device->ops->allocate(device, work->scan_bytes, 1, "scan of a population",
                                   &work->scan_memory, error);
  for (size_t s = 0; s < GPUMC_OUTCOME_SLOTS && status == GPUMC_OK; s++)
    status = gpumc_outcome_slot_create(plan, &work->layout, &cuda->slot[s], error);
  return status;
}

static void destroy(struct gpumc_population *population)
{
  struct gpumc_population_cuda *cuda = population->own;
  if (cuda == NULL)
    return;
  /* Waits for what is still on its way to the slots. */
  population->device->ops->release(population->device, cuda->work.records);
  population->device->ops->release(population->device, cuda->work.scan_memory);
  for (size_t s = 0; s < GPUMC_OUTCOME_SLOTS; s++)
    gpumc_outcome_slot_free(&cuda->slot[s]);
  free(cuda);
  population->own = NULL;
}

static void set_threads(struct gpumc_population_work *work, const struct gpumc_device *device)
{
  size_t threads = device->block_threads > 0 ? device->block_threads : BLOCK_THREADS;
  threads = threads < work->capacity ? threads : work->capacity;
  threads = (threads + GPUMC_WARP_THREADS - 1) / GPUMC_WARP_THREADS * GPUMC_WARP_THREADS;
  work->threads =
      (uint32_t)(threads < GPUMC_BLOCK_THREADS_MAXIMUM ? threads : GPUMC_BLOCK_THREADS_MAXIMUM);
}

static enum gpumc_status create(struct gpumc_population *population, struct gpumc_error *error)
{
  const struct gpumc_population_plan *plan = &population->plan;
  struct gpumc_population_cuda *cuda = NULL;
  enum gpumc_status status = gpumc_allocate_array(&cuda, 1, "a population", error);
  if (status != GPUMC_OK)
    return status;
  struct gpumc_population_work *work = &cuda->work;
  work->capacity = plan->capacity;
  work->founders = plan->founders;
  work->blocks = plan->blocks;
  work->n_channels = plan->n_channels;
  gpumc_population_layout_make(plan, &work->layout);
  set_threads(work, population->device);
  population->own = cuda;
  status = allocate(population, cuda, error);
  if (status != GPUMC_OK)
    destroy(population);
  return status;
}

/* The work of `runs` runs, in as many blocks of threads as are of use. */
static struct gpumc_population_work work_of(const struct gpumc_population *population, size_t runs)
{
  const struct gpumc_population_cuda *cuda = population->own;
  struct gpumc_population_work work = cuda->work;
  size_t multiprocessors = (size_t)population->device->multiprocessors;
  size_t blocks = (work.capacity + work.threads - 1) / work.threads;
  size_t useful = multiprocessors * RESIDENT_THREADS / work.threads / (runs > 0 ? runs : 1);
  useful = useful > 0 ? useful : 1;
  work.stream = population->device->stream;
  work.runs = runs;
  work.blocks_per_run = (uint32_t)(blocks < useful ? blocks : useful);
  work.size = population->size;
  for (size_t c = 0; c < work.n_channels; c++)
    work.channel[c] = population->channel[c];
  work.weight = population->weight;
  work.parent = population->parent;
  work.copies = population->copies;
  work.family = population->family;
  work.resampled = work.records;
  return work;
}

/* Clear the part of the records that begins at `from`, `bytes` long. */
static enum gpumc_status clear(const struct gpumc_population_work *work, uint8_t *from,
                               size_t bytes, struct gpumc_error *error)
{
  return GPUMC_CUDA(
      cudaMemset2DAsync(from, work->layout.stride, 0, bytes, work->runs, work->stream), error);
}

static enum gpumc_status found(struct gpumc_population *population, struct gpumc_error *error)
{
  const struct gpumc_population_work work = work_of(population, population->runs);
  enum gpumc_status status = clear(&work, work.records, work.layout.tallied, error);
  return status == GPUMC_OK ? gpumc_found_cuda(&work, error) : status;
}

/* The tally does not need the weights: their memory holds two words for every family. */
static enum gpumc_status tally(struct gpumc_population *population, uint32_t first_run,
                               bool histogram, struct gpumc_error *error)
{
  const struct gpumc_population_plan *plan = &population->plan;
  size_t count = population->runs * plan->capacity;
  struct gpumc_tally_work work = {
      .population = work_of(population, population->runs),
      .bins = histogram ? population->bins : NULL,
      .first_run = first_run,
      .strata = plan->strata,
      .levels = plan->levels,
      .lowest = plan->lowest,
      .spacing = plan->spacing,
      .members = (uint32_t *)population->weight,
      .mark = (uint32_t *)population->weight + count,
  };
  const struct gpumc_population_layout *layout = &work.population.layout;
  enum gpumc_status status = clear(&work.population, work.population.records + layout->tallied,
                                   layout->stride - layout->tallied, error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(cudaMemsetAsync(population->weight, 0, count * sizeof *population->weight,
                                        work.population.stream),
                        error);
  return status == GPUMC_OK ? gpumc_tally_cuda(&work, error) : status;
}

static enum gpumc_status
trial(struct gpumc_population *population, double step, double *overlap, struct gpumc_error *error)
{
  struct gpumc_resampled resampled;
  struct gpumc_resample_work work = {
      .population = work_of(population, 1),
      .request = {.step = step},
      .weight_shift = gpumc_weight_shift(population->plan.capacity),
  };
  size_t stride = work.population.layout.stride;
  cudaStream_t stream = work.population.stream;
  work.population.resampled = work.population.records + population->plan.runs * stride;
  enum gpumc_status status =
      clear(&work.population, work.population.resampled, work.population.layout.tallied, error);
  if (status == GPUMC_OK)
    status = gpumc_weigh_cuda(&work, error);
  if (status == GPUMC_OK)
    status = gpumc_overlap_cuda(&work, error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(cudaMemcpyAsync(&resampled, work.population.resampled, sizeof resampled,
                                        cudaMemcpyDeviceToHost, stream),
                        error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(cudaStreamSynchronize(stream), error);
  if (status == GPUMC_OK)
    *overlap = gpumc_overlap(resampled.overlap_high, resampled.overlap_low, resampled.before,
                             resampled.total);
  return status;
}

static enum gpumc_status resample(struct gpumc_population *population,
                                  const struct gpumc_resampling_request *request,
                                  struct gpumc_error *error)
{
  struct gpumc_resample_work work = {
      .population = work_of(population, population->runs),
      .request = *request,
      .weight_shift = gpumc_weight_shift(population->plan.capacity),
  };
  enum gpumc_status status =
      clear(&work.population, work.population.records, work.population.layout.tallied, error);
  if (status == GPUMC_OK)
    status = gpumc_weigh_cuda(&work, error);
  if (status == GPUMC_OK && request->method == GPUMC_RESAMPLING_SYSTEMATIC)
    status = gpumc_cumulate_cuda(&work.population, error);
  if (status == GPUMC_OK)
    status = gpumc_copies_cuda(&work, error);
  return status == GPUMC_OK ? gpumc_places_cuda(&work.population, error) : status;
}

const struct gpumc_population_ops gpumc_population_cuda = {
    .own_bytes = own_bytes,
    .host_bytes = host_bytes,
    .create = create,
    .destroy = destroy,
    .found = found,
    .tally = tally,
    .trial = trial,
    .resample = resample,
    .publish = gpumc_population_cuda_publish,
    .collect = gpumc_population_cuda_collect,
};
