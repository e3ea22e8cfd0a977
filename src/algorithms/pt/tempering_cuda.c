/* Parallel tempering on CUDA: memory, what is launched, and the record's way to the host. */
#include "algorithms/pt/tempering_cuda.h"

#include <stdlib.h>

#include "algorithms/pt/tempering_record.h"
#include "core/base/memory.h"
#include "core/device/cuda_error.h"

enum {
  BLOCK_THREADS = 128, /* unless the device says otherwise; whole warps */
  WARP_THREADS = 32,
  BLOCK_THREADS_MAXIMUM = 1024
};

/* gpumc_tempering.own */
struct own {
  struct gpumc_tempering_work work;     /* fixed */
  uint8_t *record[GPUMC_OUTCOME_SLOTS]; /* pinned */
  cudaEvent_t arrived[GPUMC_OUTCOME_SLOTS];
};

/* The slots are host memory. */
static size_t own_bytes(const struct gpumc_tempering_plan *plan)
{
  (void)plan;
  return 0;
}

static size_t host_bytes(const struct gpumc_tempering_plan *plan)
{
  return GPUMC_OUTCOME_SLOTS * gpumc_tempering_layout_make(plan).bytes;
}

static void destroy(struct gpumc_tempering *tempering)
{
  struct own *own = tempering->own;
  if (own == NULL)
    return;
  /* What is still on its way to the slots; a failure has been or will be told elsewhere. */
  (void)cudaStreamSynchronize(tempering->device->stream);
  for (size_t i = 0; i < GPUMC_OUTCOME_SLOTS; i++) {
    if (own->arrived[i] != NULL)
      (void)cudaEventDestroy(own->arrived[i]);
    (void)cudaFreeHost(own->record[i]);
  }
  free(own);
  tempering->own = NULL;
}

static struct gpumc_term_work
term_work(const struct gpumc_tempering *tempering, const struct gpumc_tempering_term *term)
{
  const bool is_overlap = term->source == GPUMC_TERM_OVERLAP;
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  return (struct gpumc_term_work){
      .values = is_overlap ? tempering->overlap[term->index] : tempering->channel[term->index],
      .count = (uint32_t)(is_overlap ? gpumc_tempering_pairs(plan) : plan->copies),
      .products = term->source == GPUMC_TERM_PRODUCT,
      .moment = term->moment,
      .scale = term->scale,
  };
}

static uint32_t block_threads(const struct gpumc_device *device)
{
  const uint32_t asked = device->block_threads > 0 ? device->block_threads : BLOCK_THREADS;
  const uint32_t whole = (asked + WARP_THREADS - 1) / WARP_THREADS * WARP_THREADS;
  return whole < BLOCK_THREADS_MAXIMUM ? whole : BLOCK_THREADS_MAXIMUM;
}

static void list_arrays(const struct gpumc_tempering *tempering, struct gpumc_tempering_work *work)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  work->conjugate = tempering->channel[plan->conjugate];
  for (size_t c = 0; c < plan->n_channels; c++)
    if (tempering->channel[c] != NULL)
      work->channel[work->n_channels++] = tempering->channel[c];
  for (size_t i = 0; i < plan->n_terms; i++)
    work->term[work->n_terms++] = term_work(tempering, &plan->term[i]);
  for (size_t k = 0; k < GPUMC_OVERLAPS; k++)
    if (tempering->bins[k] != NULL)
      work->histogram[work->n_histograms++] = (struct gpumc_histogram_work){
          .values = tempering->overlap[k],
          .bins = tempering->bins[k],
          .lowest = plan->histogram[k].lowest,
          .spacing = plan->histogram[k].spacing,
          .count = (uint32_t)plan->histogram[k].bins,
      };
}

static struct gpumc_tempering_work work_of(const struct gpumc_tempering *tempering)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(plan);
  uint8_t *record = tempering->record;
  struct gpumc_tempering_work work = {
      .stream = tempering->device->stream,
      .threads = block_threads(tempering->device),
      .temperatures = (uint32_t)plan->temperatures,
      .copies = (uint32_t)plan->copies,
      .samples = (uint32_t)plan->samples,
      .words = (uint32_t)gpumc_swap_words(plan->samples),
      .pairs = (uint32_t)gpumc_tempering_pairs(plan),
      .strata = (uint32_t)plan->strata,
      .swap = tempering->swap,
      .walker = tempering->walker,
      .step = tempering->step,
      .sums = (void *)(record + layout.sums),
      .accepted = (void *)(record + layout.accepted),
      .labelled = (void *)(record + layout.labelled),
      .from_hottest = (void *)(record + layout.from_hottest),
      .round_trips = (void *)(record + layout.round_trips),
      .lowest = (void *)(record + layout.lowest),
  };
  list_arrays(tempering, &work);
  return work;
}

/* A slot of memory that the GPU writes to by itself. */
static enum gpumc_status
create_slot(struct own *own, size_t slot, size_t bytes, struct gpumc_error *error)
{
  char size[32];
  enum gpumc_status status =
      GPUMC_CUDA(cudaHostAlloc((void **)&own->record[slot], bytes, cudaHostAllocDefault), error);
  if (status == GPUMC_OK)
    return GPUMC_CUDA(cudaEventCreateWithFlags(&own->arrived[slot], cudaEventDisableTiming), error);
  gpumc_size_text((double)bytes, size);
  gpumc_error_prefix(error, "pinned host memory for sums of the samples needs %s", size);
  return status;
}

static enum gpumc_status create(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  const size_t bytes = gpumc_tempering_layout_make(&tempering->plan).bytes;
  struct own *own = NULL;
  enum gpumc_status status = gpumc_allocate_array(&own, 1, "parallel tempering", error);
  if (status != GPUMC_OK)
    return status;
  tempering->own = own;
  own->work = work_of(tempering);
  for (size_t slot = 0; slot < GPUMC_OUTCOME_SLOTS && status == GPUMC_OK; slot++)
    status = create_slot(own, slot, bytes, error);
  if (status != GPUMC_OK)
    destroy(tempering);
  return status;
}

static enum gpumc_status
accumulate(struct gpumc_tempering *tempering, bool histogram, struct gpumc_error *error)
{
  const struct own *own = tempering->own;
  return gpumc_tempering_accumulate_cuda(&own->work, histogram, error);
}

static enum gpumc_status exchange(struct gpumc_tempering *tempering, struct gpumc_random random,
                                  uint32_t round, struct gpumc_error *error)
{
  const struct own *own = tempering->own;
  const struct gpumc_exchange_work work = {
      .tempering = own->work, .random = random, .number = round};
  return gpumc_tempering_exchange_cuda(&work, error);
}

static enum gpumc_status fill(struct gpumc_tempering *tempering, void *memory, int byte,
                              size_t count, struct gpumc_error *error)
{
  return GPUMC_CUDA(cudaMemsetAsync(memory, byte, count, tempering->device->stream), error);
}

static enum gpumc_status
publish(struct gpumc_tempering *tempering, size_t slot, struct gpumc_error *error)
{
  const struct own *own = tempering->own;
  cudaStream_t stream = tempering->device->stream;
  enum gpumc_status status =
      GPUMC_CUDA(cudaMemcpyAsync(own->record[slot], tempering->record,
                                 gpumc_tempering_layout_make(&tempering->plan).bytes,
                                 cudaMemcpyDeviceToHost, stream),
                 error);
  return status == GPUMC_OK ? GPUMC_CUDA(cudaEventRecord(own->arrived[slot], stream), error)
                            : status;
}

static enum gpumc_status collect(struct gpumc_tempering *tempering, size_t slot,
                                 const uint8_t **record, struct gpumc_error *error)
{
  const struct own *own = tempering->own;
  *record = own->record[slot];
  return GPUMC_CUDA(cudaEventSynchronize(own->arrived[slot]), error);
}

const struct gpumc_tempering_ops gpumc_tempering_cuda = {
    .own_bytes = own_bytes,
    .host_bytes = host_bytes,
    .create = create,
    .destroy = destroy,
    .accumulate = accumulate,
    .exchange = exchange,
    .fill = fill,
    .publish = publish,
    .collect = collect,
};
