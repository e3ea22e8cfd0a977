/* Outcomes of the CUDA populations on their way to the host: slots of pinned memory. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/population_cuda.h"
#include "algorithms/pa/population_rules.h"
#include "core/base/memory.h"
#include "core/device/cuda_error.h"
#include "core/device/device.h"

size_t gpumc_outcome_slot_bytes(const struct gpumc_population_plan *plan,
                                const struct gpumc_population_layout *layout)
{
  const size_t block = sizeof(uint64_t) + plan->n_channels * sizeof(struct gpumc_moment_sums);
  return plan->runs * (layout->stride + plan->blocks * block);
}

/* Memory that the GPU writes to by itself. */
static enum gpumc_status allocate_pinned(size_t bytes, uint8_t **memory, struct gpumc_error *error)
{
  char size[32];
  enum gpumc_status status =
      GPUMC_CUDA(cudaHostAlloc((void **)memory, bytes, cudaHostAllocDefault), error);
  if (status == GPUMC_OK)
    return status;
  gpumc_size_text((double)bytes, size);
  gpumc_error_prefix(error, "pinned host memory for outcomes needs %s", size);
  return status;
}

enum gpumc_status gpumc_outcome_slot_create(const struct gpumc_population_plan *plan,
                                            const struct gpumc_population_layout *layout,
                                            struct gpumc_outcome_slot *slot,
                                            struct gpumc_error *error)
{
  size_t rows = plan->runs * plan->blocks;
  cudaEvent_t arrived = NULL;
  enum gpumc_status status = allocate_pinned(plan->runs * layout->stride, &slot->records, error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming), error);
  slot->arrived = arrived;
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&slot->block_weight, rows, "weights by block", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&slot->sums, rows * plan->n_channels, "sums by block", error);
  return status;
}

void gpumc_outcome_slot_free(struct gpumc_outcome_slot *slot)
{
  if (slot->arrived != NULL)
    (void)cudaEventDestroy(slot->arrived);
  if (slot->records != NULL)
    (void)cudaFreeHost(slot->records);
  free(slot->block_weight);
  free(slot->sums);
  memset(slot, 0, sizeof *slot);
}

enum gpumc_status gpumc_population_cuda_publish(struct gpumc_population *population, size_t slot,
                                                struct gpumc_error *error)
{
  struct gpumc_population_cuda *cuda = population->own;
  struct gpumc_outcome_slot *into = &cuda->slot[slot];
  cudaStream_t stream = population->device->stream;
  enum gpumc_status status = GPUMC_CUDA(cudaMemcpyAsync(into->records, cuda->work.records,
                                                        population->runs * cuda->work.layout.stride,
                                                        cudaMemcpyDeviceToHost, stream),
                                        error);
  into->runs = population->runs;
  return status == GPUMC_OK ? GPUMC_CUDA(cudaEventRecord(into->arrived, stream), error) : status;
}

/* A sum of the record, its sign extended. */
static gpumc_wide value_of(const uint32_t *word, size_t stride, uint32_t words)
{
  int unused = 128 - 32 * (int)words;
  return (gpumc_wide)(gpumc_words_value(word, stride, words) << unused) >> unused;
}

/* Row `sum` of the record into the moments of its channel; the counts are those of all. */
static void fill_moments(const struct gpumc_population_plan *plan,
                         const struct gpumc_exact_sum *sum, const uint32_t *words,
                         struct gpumc_moment_sums *moments)
{
  for (size_t b = 0; b < plan->blocks; b++) {
    gpumc_wide value = value_of(words + sum->first * plan->blocks + b, plan->blocks, sum->words);
    struct gpumc_moment_sums *block = &moments[sum->channel * plan->blocks + b];
    switch (sum->power) {
    case GPUMC_SUM_FIRST:
      block->first = value;
      break;
    case GPUMC_SUM_ABSOLUTE:
      block->absolute = value;
      break;
    case GPUMC_SUM_SECOND:
      block->second = value;
      break;
    case GPUMC_SUM_FOURTH:
      block->fourth = value;
      break;
    default:
      for (size_t c = 0; c < plan->n_channels; c++)
        moments[c * plan->blocks + b].count = (int64_t)value;
    }
  }
}

static void fill_resampled(const struct gpumc_population_plan *plan,
                           const struct gpumc_population_layout *layout, const uint8_t *record,
                           uint64_t *block_weight, struct gpumc_population_outcome *outcome)
{
  const struct gpumc_resampled *resampled = (const void *)record;
  const uint32_t *words = (const void *)(record + layout->block_weight);
  outcome->before = resampled->before;
  outcome->size = resampled->size;
  outcome->reference = resampled->reference;
  outcome->total = resampled->total;
  outcome->overlap = gpumc_overlap(resampled->overlap_high, resampled->overlap_low,
                                   resampled->before, resampled->total);
  for (size_t b = 0; b < plan->blocks; b++)
    block_weight[b] = (uint64_t)value_of(words + b, plan->blocks, GPUMC_WEIGHT_WORDS);
  outcome->block_weight = block_weight;
}

static void fill_tallied(const struct gpumc_population_plan *plan,
                         const struct gpumc_population_layout *layout, const uint8_t *record,
                         struct gpumc_moment_sums *moments,
                         struct gpumc_population_outcome *outcome)
{
  const struct gpumc_tallied *tallied = (const void *)(record + layout->tallied);
  const uint32_t *words = (const void *)(record + layout->sums);
  outcome->lowest = gpumc_lowest_of(tallied);
  outcome->lowest_replicas = tallied->lowest_replicas;
  outcome->lowest_families = tallied->lowest_families;
  outcome->families = tallied->families;
  outcome->square_sum = tallied->square_sum;
  outcome->entropy = (double)tallied->entropy * GPUMC_ENTROPY_UNIT;
  for (uint32_t s = 0; s < layout->n_sums; s++)
    fill_moments(plan, &layout->sum[s], words, moments);
  for (size_t c = 0; c < plan->n_channels; c++)
    outcome->sums[c] = moments + c * plan->blocks;
}

enum gpumc_status gpumc_population_cuda_collect(struct gpumc_population *population, size_t slot,
                                                struct gpumc_population_outcome *outcome,
                                                struct gpumc_error *error)
{
  const struct gpumc_population_plan *plan = &population->plan;
  const struct gpumc_population_cuda *cuda = population->own;
  const struct gpumc_population_layout *layout = &cuda->work.layout;
  const struct gpumc_outcome_slot *from = &cuda->slot[slot];
  enum gpumc_status status = GPUMC_CUDA(cudaEventSynchronize(from->arrived), error);
  for (size_t m = 0; m < from->runs && status == GPUMC_OK; m++) {
    const uint8_t *record = from->records + m * layout->stride;
    memset(&outcome[m], 0, sizeof outcome[m]);
    fill_resampled(plan, layout, record, from->block_weight + m * plan->blocks, &outcome[m]);
    fill_tallied(plan, layout, record, from->sums + m * plan->n_channels * plan->blocks,
                 &outcome[m]);
  }
  return status;
}
