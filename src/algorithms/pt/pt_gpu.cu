/* The steps of parallel tempering on CUDA: one launch for the exchanges of a round, one for its
 * sums. Every sum has one thread and is in the order of the copies; all counts are of integers. */
#include <assert.h>

#include "algorithms/pt/pt_device.h"
#include "core/device/cuda_error.h"
#include "core/device/early.cuh"

enum {
  WARP = 32,
  BLOCK_THREADS = 128, /* unless the device says otherwise; whole warps */
  BLOCK_THREADS_MAXIMUM = 1024
};

/* A sum: of the elements i, i + T S, i + 2 T S, .. of `values`, or of the products of any two of
 * them, into element i. */
struct term_work {
  const int64_t *values;
  uint32_t count; /* of the copies, or pairs, whose values it has */
  bool products;
  enum gpumc_moment_choice moment;
  double scale;
};

struct histogram_work {
  const int64_t *values; /* [pairs][temperatures][samples] */
  uint64_t *bins;
  int64_t lowest, spacing;
  uint32_t count; /* of bins */
};

/* Arguments of both kernels; arrays as in struct pt_tempering and its outcome. */
struct work {
  uint32_t temperatures, copies, samples, first_sample, words, pairs, strata;
  uint32_t n_terms, n_channels, n_histograms; /* numbers that are kept */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  const int64_t *tracked;   /* the one of these whose lowest value is kept */
  const int64_t *conjugate; /* the one that decides exchanges */
  uint32_t *swap, *walker;
  const double *step;
  double *sums;
  uint64_t *accepted, *labelled, *from_hottest;
  uint32_t *round_trips;
  int64_t *lowest;
  struct term_work term[PT_TERMS_MAXIMUM];
  struct histogram_work histogram[GPUMC_PAIRS_MAXIMUM];
};

/* One round. */
struct round_work {
  struct work tempering;
  struct gpumc_random random;
  uint32_t number;
};

static uint32_t block_threads(const struct gpumc_device *device)
{
  const uint32_t asked = device->block_threads > 0 ? device->block_threads : BLOCK_THREADS;
  const uint32_t whole = (asked + WARP - 1) / WARP * WARP;
  return whole < BLOCK_THREADS_MAXIMUM ? whole : BLOCK_THREADS_MAXIMUM;
}

static void
list_term(const struct pt_tempering *tempering, const struct pt_term *term, struct term_work *work)
{
  const bool is_pair = term->source == GPUMC_MEAN_PAIR;
  const struct pt_tempering_plan *plan = &tempering->plan;
  work->values = is_pair ? tempering->pair[term->index] : tempering->channel[term->index];
  work->count = (uint32_t)(is_pair ? pt_tempering_pairs(plan) : plan->copies);
  work->products = term->source == GPUMC_MEAN_PRODUCT;
  work->moment = term->moment;
  work->scale = term->scale;
}

static void list_arrays(const struct pt_tempering *tempering, struct work *work)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  work->tracked = tempering->channel[plan->tracked];
  work->conjugate = tempering->channel[plan->conjugate];
  for (size_t c = 0; c < plan->n_channels; c++)
    if (tempering->channel[c] != NULL)
      work->channel[work->n_channels++] = tempering->channel[c];
  for (size_t i = 0; i < plan->n_terms; i++)
    list_term(tempering, &plan->term[i], &work->term[work->n_terms++]);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    if (tempering->bins[k] == NULL)
      continue;
    struct histogram_work *histogram = &work->histogram[work->n_histograms++];
    histogram->values = tempering->pair[k];
    histogram->bins = tempering->bins[k];
    histogram->lowest = plan->histogram[k].lowest;
    histogram->spacing = plan->histogram[k].spacing;
    histogram->count = (uint32_t)plan->histogram[k].bins;
  }
}

static struct work work_of(const struct pt_tempering *tempering)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_layout layout = pt_layout_make(plan);
  uint8_t *record = tempering->record;
  struct work work = {};
  work.temperatures = (uint32_t)plan->temperatures;
  work.copies = (uint32_t)plan->copies;
  work.samples = (uint32_t)plan->samples;
  work.first_sample = (uint32_t)plan->first_sample;
  work.words = (uint32_t)gpumc_swap_words(plan->samples);
  work.pairs = (uint32_t)pt_tempering_pairs(plan);
  work.strata = (uint32_t)plan->strata;
  work.swap = tempering->swap;
  work.walker = tempering->walker;
  work.step = tempering->step;
  work.sums = (double *)(record + layout.sums);
  work.accepted = (uint64_t *)(record + layout.accepted);
  work.labelled = (uint64_t *)(record + layout.labelled);
  work.from_hottest = (uint64_t *)(record + layout.from_hottest);
  work.round_trips = (uint32_t *)(record + layout.round_trips);
  work.lowest = (int64_t *)(record + layout.lowest);
  list_arrays(tempering, &work);
  return work;
}

#define ALL_LANES 0xffffffffu

/* Adds the number of lanes that are set. */
__device__ static inline void add_lanes(uint64_t *counter, uint32_t lanes)
{
  if (threadIdx.x % WARP == 0 && lanes != 0)
    atomicAdd((unsigned long long *)counter, (unsigned long long)__popc(lanes));
}

/* Swaps the channels of the elements `hotter` and hotter + samples. */
__device__ static inline void exchange_channels(const struct work *work, size_t hotter)
{
  const size_t colder = hotter + work->samples;
  for (uint32_t c = 0; c < work->n_channels; c++) {
    int64_t *channel = work->channel[c];
    const int64_t value = channel[hotter];
    channel[hotter] = channel[colder];
    channel[colder] = value;
  }
}

/* Updates the walker that is now at temperature t of copy c, and counts how many of the
 * warp's walkers carry a label. Every thread of the warp calls it, for a sample or for none. */
__device__ static inline void
meet_walker(const struct work *work, uint32_t c, uint32_t t, uint32_t s, uint32_t walker)
{
  const bool is_sample = s < work->samples;
  bool returned = false;
  const uint32_t arrived = is_sample ? pt_walker_arrived(walker, t, work->temperatures, &returned)
                                     : pt_walker(0, PT_WALKER_FRESH);
  const uint32_t label = pt_walker_label(arrived);
  if (is_sample)
    work->walker[((size_t)c * work->temperatures + t) * work->samples + s] = arrived;
  if (returned)
    work->round_trips[(size_t)c * work->samples + s]++;
  add_lanes(&work->labelled[t], __ballot_sync(ALL_LANES, label != PT_WALKER_FRESH));
  add_lanes(&work->from_hottest[t], __ballot_sync(ALL_LANES, label == PT_WALKER_HOT));
}

__device__ static inline void
write_word(const struct work *work, size_t run, uint32_t s, uint32_t word)
{
  if (s % WARP == 0 && s < work->samples)
    work->swap[run * work->words + s / WARP] = word;
}

/* A row of blocks for each unit of each copy, a thread for each sample. */
__global__ void __launch_bounds__(BLOCK_THREADS_MAXIMUM)
    exchange(const struct round_work round, uint32_t units, uint32_t blocks)
{
  const struct work *work = &round.tempering;
  const uint32_t row = blockIdx.x / blocks, c = row / units;
  const struct pt_exchange_unit unit =
      pt_exchange_unit(row % units, work->temperatures, round.number);
  const uint32_t t = (uint32_t)unit.t, run = c * work->temperatures + t;
  const uint32_t s = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  const bool is_sample = s < work->samples;
  const size_t hotter = (size_t)run * work->samples + s, colder = hotter + work->samples;
  gpumc_let_next_begin();
  const uint32_t drawn = pt_exchange_draw(round.random, work->first_sample + s, run, round.number);
  gpumc_wait_for_before();
  uint32_t walker = is_sample ? work->walker[hotter] : 0;
  if (unit.count == 1) {
    write_word(work, run, s, 0);
    meet_walker(work, c, t, s, walker);
    return;
  }
  uint32_t other = is_sample ? work->walker[colder] : 0;
  const int64_t *value = work->conjugate;
  const bool accepted =
      is_sample && pt_exchange_accepted(drawn, work->step[t], value[hotter], value[colder]);
  if (accepted) {
    const uint32_t before = walker;
    walker = other;
    other = before;
    exchange_channels(work, hotter);
  }
  const uint32_t word = __ballot_sync(ALL_LANES, accepted);
  write_word(work, run, s, word);
  write_word(work, run + 1, s, 0);
  add_lanes(&work->accepted[t], word);
  meet_walker(work, c, t, s, walker);
  meet_walker(work, c, t + 1, s, other);
}

__device__ static inline void
add_term(const struct work *work, uint32_t number, size_t i, size_t stride)
{
  const struct term_work *term = &work->term[number];
  double sum = work->sums[number * stride + i];
  for (uint32_t k = 0; k < term->count && !term->products; k++)
    sum += pt_term_value(term->values[k * stride + i], term->scale, term->moment);
  for (uint32_t k = 0; k < term->count && term->products; k++)
    for (uint32_t l = k + 1; l < term->count; l++)
      sum +=
          pt_term_product(term->values[k * stride + i], term->values[l * stride + i], term->scale);
  work->sums[number * stride + i] = sum;
}

__device__ static inline void find_lowest(const struct work *work, size_t i, size_t stride)
{
  int64_t *lowest = &work->lowest[i % work->samples];
  int64_t mine = work->tracked[i];
  for (uint32_t c = 1; c < work->copies; c++) {
    const int64_t of_copy = work->tracked[c * stride + i];
    mine = of_copy < mine ? of_copy : mine;
  }
  /* It only ever falls, so a value read too early only costs an operation. */
  if (mine < *lowest)
    atomicMin((long long *)lowest, (long long)mine);
}

__device__ static inline void
count_overlaps(const struct work *work, uint32_t number, size_t i, size_t stride)
{
  const struct histogram_work *histogram = &work->histogram[number];
  const size_t stratum = (work->first_sample + i % work->samples) % work->strata;
  const size_t t = i / work->samples;
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
__global__ void __launch_bounds__(BLOCK_THREADS_MAXIMUM) accumulate(const struct work work)
{
  const size_t stride = (size_t)work.temperatures * work.samples;
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  gpumc_let_next_begin();
  gpumc_wait_for_before();
  if (i >= stride)
    return;
  if (blockIdx.y < work.n_terms)
    add_term(&work, blockIdx.y, i, stride);
  else if (blockIdx.y == work.n_terms)
    find_lowest(&work, i, stride);
  else
    count_overlaps(&work, blockIdx.y - work.n_terms - 1, i, stride);
}

static enum gpumc_status exchange_round(const struct pt_tempering *tempering,
                                        struct gpumc_random random, uint32_t round,
                                        struct gpumc_error *error)
{
  struct round_work work;
  work.tempering = work_of(tempering);
  work.random = random;
  work.number = round;
  const uint32_t asked = block_threads(tempering->device);
  const uint32_t units = (uint32_t)pt_exchange_units(work.tempering.temperatures, round);
  const uint32_t of_samples = work.tempering.words * WARP;
  const uint32_t threads = asked < of_samples ? asked : of_samples;
  const uint32_t blocks = (work.tempering.samples + threads - 1) / threads;
  struct gpumc_early_launch launch = {dim3(blocks * units * work.tempering.copies), threads, 0,
                                      tempering->device->stream, false};
  GPUMC_TRY(gpumc_may_begin_early(exchange, &launch.early, error));
  return gpumc_launch_early(exchange, launch, error, work, units, blocks);
}

static enum gpumc_status
accumulate_all(const struct pt_tempering *tempering, bool histogram, struct gpumc_error *error)
{
  const struct work work = work_of(tempering);
  const uint32_t threads = block_threads(tempering->device);
  const size_t count = (size_t)work.temperatures * work.samples;
  const dim3 grid((uint32_t)((count + threads - 1) / threads),
                  work.n_terms + 1 + (histogram ? work.n_histograms : 0));
  struct gpumc_early_launch launch = {grid, threads, 0, tempering->device->stream, false};
  GPUMC_TRY(gpumc_may_begin_early(accumulate, &launch.early, error));
  return gpumc_launch_early(accumulate, launch, error, work);
}

/* In the order of the struct: C++17 has no designated initialisers. */
extern const struct pt_steps pt_steps_gpu = {accumulate_all, exchange_round};
