/* The kernels of parallel tempering: one launch for the exchanges of a round, one for its sums.
 * Every sum has one thread and the order of the copies; all counts are of integers. */
#include <assert.h>

#include "algorithms/pt/tempering_cuda.h"
#include "algorithms/pt/tempering_rules.h"
#include "core/device/cuda_error.h"

enum { WARP = 32, BLOCK_THREADS_MAXIMUM = 1024 };

#define ALL_LANES 0xffffffffu

__device__ static inline void add_to(uint64_t *counter, int count)
{
  if (threadIdx.x == 0 && count > 0)
    atomicAdd((unsigned long long *)counter, (unsigned long long)count);
}

/* Channels of the elements `hotter` and hotter + samples change places. */
__device__ static inline void
exchange_channels(const struct gpumc_tempering_work *work, size_t hotter)
{
  const size_t colder = hotter + work->samples;
  for (uint32_t c = 0; c < work->n_channels; c++) {
    int64_t *channel = work->channel[c];
    const int64_t value = channel[hotter];
    channel[hotter] = channel[colder];
    channel[colder] = value;
  }
}

/* The walker that is now at temperature t of copy c, and how many of the block's tell of an
 * extreme. Every thread of the block calls it, for a sample or for none. */
__device__ static inline void meet_walker(const struct gpumc_tempering_work *work, uint32_t c,
                                          uint32_t t, uint32_t s, uint32_t walker)
{
  const bool is_sample = s < work->samples;
  bool returned = false;
  const uint32_t arrived = is_sample
                               ? gpumc_walker_arrived(walker, t, work->temperatures, &returned)
                               : gpumc_walker(0, GPUMC_WALKER_FRESH);
  const uint32_t label = gpumc_walker_label(arrived);
  if (is_sample)
    work->walker[((size_t)c * work->temperatures + t) * work->samples + s] = arrived;
  if (returned)
    work->round_trips[(size_t)c * work->samples + s]++;
  add_to(&work->labelled[t], __syncthreads_count(label != GPUMC_WALKER_FRESH));
  add_to(&work->from_hottest[t], __syncthreads_count(label == GPUMC_WALKER_HOT));
}

__device__ static inline void
write_word(const struct gpumc_tempering_work *work, size_t run, uint32_t s, uint32_t word)
{
  if (s % WARP == 0 && s < work->samples)
    work->swap[run * work->words + s / WARP] = word;
}

/* A row of blocks for each unit of each copy, a thread for each sample. */
__global__ void __launch_bounds__(BLOCK_THREADS_MAXIMUM)
    exchange(const struct gpumc_exchange_work round, uint32_t units, uint32_t blocks)
{
  const struct gpumc_tempering_work *work = &round.tempering;
  const uint32_t row = blockIdx.x / blocks, c = row / units;
  const struct gpumc_exchange_unit unit =
      gpumc_exchange_unit(row % units, work->temperatures, round.number);
  const uint32_t t = (uint32_t)unit.t, run = c * work->temperatures + t;
  const uint32_t s = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  const bool is_sample = s < work->samples;
  const size_t hotter = (size_t)run * work->samples + s, colder = hotter + work->samples;
  uint32_t walker = is_sample ? work->walker[hotter] : 0;
  if (unit.count == 1) {
    write_word(work, run, s, 0);
    meet_walker(work, c, t, s, walker);
    return;
  }
  uint32_t other = is_sample ? work->walker[colder] : 0;
  const int64_t *value = work->conjugate;
  const bool accepted =
      is_sample && gpumc_exchange_accepted(round.random, s, run, round.number, work->step[t],
                                           value[hotter], value[colder]);
  if (accepted) {
    const uint32_t before = walker;
    walker = other;
    other = before;
    exchange_channels(work, hotter);
  }
  write_word(work, run, s, __ballot_sync(ALL_LANES, accepted));
  write_word(work, run + 1, s, 0);
  add_to(&work->accepted[t], __syncthreads_count(accepted));
  meet_walker(work, c, t, s, walker);
  meet_walker(work, c, t + 1, s, other);
}

__device__ static inline void
add_term(const struct gpumc_tempering_work *work, uint32_t number, size_t i, size_t stride)
{
  const struct gpumc_term_work *term = &work->term[number];
  double sum = work->sums[number * stride + i];
  for (uint32_t k = 0; k < term->count && !term->products; k++)
    sum += gpumc_term_value(term->values[k * stride + i], term->scale, term->moment);
  for (uint32_t k = 0; k < term->count && term->products; k++)
    for (uint32_t l = k + 1; l < term->count; l++)
      sum += gpumc_term_product(term->values[k * stride + i], term->values[l * stride + i],
                                term->scale);
  work->sums[number * stride + i] = sum;
}

__device__ static inline void
find_lowest(const struct gpumc_tempering_work *work, size_t i, size_t stride)
{
  const int64_t *energy = work->channel[0];
  int64_t *lowest = &work->lowest[i % work->samples];
  int64_t mine = energy[i];
  for (uint32_t c = 1; c < work->copies; c++) {
    const int64_t of_copy = energy[c * stride + i];
    mine = of_copy < mine ? of_copy : mine;
  }
  /* It only ever falls, so that a value read too early costs no more than an operation. */
  if (mine < *lowest)
    atomicMin((long long *)lowest, (long long)mine);
}

__device__ static inline void
count_overlaps(const struct gpumc_tempering_work *work, uint32_t number, size_t i, size_t stride)
{
  const struct gpumc_histogram_work *histogram = &work->histogram[number];
  const size_t stratum = i % work->samples % work->strata, t = i / work->samples;
  uint64_t *bins = histogram->bins + (stratum * work->temperatures + t) * histogram->count;
  for (uint32_t p = 0; p < work->pairs; p++) {
    const int64_t value = histogram->values[p * stride + i];
    const uint64_t bin = (uint64_t)((value - histogram->lowest) / histogram->spacing);
    assert(value >= histogram->lowest && bin < histogram->count);
    atomicAdd((unsigned long long *)&bins[bin], 1ull);
  }
}

/* A thread for each temperature and sample; a row of blocks for each term, then one for the lowest
 * energies, then one for each histogram. */
__global__ void __launch_bounds__(BLOCK_THREADS_MAXIMUM)
    accumulate(const struct gpumc_tempering_work work)
{
  const size_t stride = (size_t)work.temperatures * work.samples;
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= stride)
    return;
  if (blockIdx.y < work.n_terms)
    add_term(&work, blockIdx.y, i, stride);
  else if (blockIdx.y == work.n_terms)
    find_lowest(&work, i, stride);
  else
    count_overlaps(&work, blockIdx.y - work.n_terms - 1, i, stride);
}

extern "C" enum gpumc_status
gpumc_tempering_exchange_cuda(const struct gpumc_exchange_work *work, struct gpumc_error *error)
{
  const struct gpumc_tempering_work *tempering = &work->tempering;
  const uint32_t units = (uint32_t)gpumc_exchange_units(tempering->temperatures, work->number);
  const uint32_t of_samples = tempering->words * WARP;
  const uint32_t threads = tempering->threads < of_samples ? tempering->threads : of_samples;
  const uint32_t blocks = (tempering->samples + threads - 1) / threads;
  exchange<<<blocks * units * tempering->copies, threads, 0, (cudaStream_t)tempering->stream>>>(
      *work, units, blocks);
  return GPUMC_CUDA_LAUNCHED("exchange", error);
}

extern "C" enum gpumc_status
gpumc_tempering_accumulate_cuda(const struct gpumc_tempering_work *work, bool histogram,
                                struct gpumc_error *error)
{
  const size_t count = (size_t)work->temperatures * work->samples;
  const dim3 grid((uint32_t)((count + work->threads - 1) / work->threads),
                  work->n_terms + 1 + (histogram ? work->n_histograms : 0));
  accumulate<<<grid, work->threads, 0, (cudaStream_t)work->stream>>>(*work);
  return GPUMC_CUDA_LAUNCHED("accumulate", error);
}
