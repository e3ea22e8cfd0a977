/* Parallel tempering on the CPU: sums and histograms, and the record's way to its slots. */
#include "algorithms/pt/tempering_cpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/tempering_record.h"
#include "core/base/memory.h"

/* gpumc_tempering.own */
struct slots {
  uint8_t *record[GPUMC_OUTCOME_SLOTS];
};

static size_t own_bytes(const struct gpumc_tempering_plan *plan)
{
  return GPUMC_OUTCOME_SLOTS * gpumc_tempering_layout_make(plan).bytes;
}

/* What there is, is device memory. */
static size_t host_bytes(const struct gpumc_tempering_plan *plan)
{
  (void)plan;
  return 0;
}

static void destroy(struct gpumc_tempering *tempering)
{
  struct slots *slots = tempering->own;
  for (size_t i = 0; slots != NULL && i < GPUMC_OUTCOME_SLOTS; i++)
    free(slots->record[i]);
  free(slots);
  tempering->own = NULL;
}

static enum gpumc_status create(struct gpumc_tempering *tempering, struct gpumc_error *error)
{
  const size_t bytes = gpumc_tempering_layout_make(&tempering->plan).bytes;
  struct slots *slots = NULL;
  enum gpumc_status status = gpumc_allocate_array(&slots, 1, "parallel tempering", error);
  tempering->own = slots;
  for (size_t i = 0; i < GPUMC_OUTCOME_SLOTS && status == GPUMC_OK; i++)
    status = gpumc_allocate_array(&slots->record[i], bytes, "sums of the samples", error);
  if (status != GPUMC_OK)
    destroy(tempering);
  return status;
}

/* Samples that a thread works on at a time. */
enum { STRETCH = 1024 };

static size_t stretches(size_t samples)
{
  return (samples + STRETCH - 1) / STRETCH;
}

/* Counters of a histogram that are asked for before they are needed: they seldom are in the cache.
 */
enum { AHEAD = 64 };

/* One term at one temperature: its sums by sample, and rows of values by copy, or by pair of
 * copies, `stride` apart. */
struct rows {
  double *sums;
  const int64_t *values;
  size_t count, stride;
};

static struct rows rows_of(const struct gpumc_tempering *tempering, size_t term, size_t t)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_term *what = &plan->term[term];
  const bool is_overlap = what->source == GPUMC_TERM_OVERLAP;
  const size_t samples = plan->samples;
  double *sums = (double *)(void *)tempering->record;
  return (struct rows){
      .sums = sums + (term * plan->temperatures + t) * samples,
      .values = (is_overlap ? tempering->overlap : tempering->channel)[what->index] + t * samples,
      .count = is_overlap ? gpumc_tempering_pairs(plan) : plan->copies,
      .stride = plan->temperatures * samples};
}

static void add_products(const struct gpumc_tempering_loops *loops, struct rows rows, double scale,
                         size_t first, size_t end)
{
  for (size_t c = 0; c < rows.count; c++)
    for (size_t d = c + 1; d < rows.count; d++) {
      const int64_t *one = rows.values + c * rows.stride, *other = rows.values + d * rows.stride;
      loops->add_products(rows.sums + first, one + first, other + first, end - first, scale);
    }
}

/* The term's sums at temperature t; every sample's in the order of the copies. */
static void
add_term(const struct gpumc_tempering *tempering, size_t term, size_t t, size_t first, size_t end)
{
  const struct gpumc_tempering_term what = tempering->plan.term[term];
  const struct rows rows = rows_of(tempering, term, t);
  const struct gpumc_tempering_loops *loops = gpumc_tempering_loops_of(tempering);
  if (what.source == GPUMC_TERM_PRODUCT) {
    add_products(loops, rows, what.scale, first, end);
    return;
  }
  for (size_t i = 0; i < rows.count; i++)
    loops->add_values(rows.sums + first, rows.values + i * rows.stride + first, end - first,
                      what.scale, what.moment);
}

static void find_lowest(const struct gpumc_tempering *tempering, size_t first, size_t end)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  int64_t *lowest =
      (int64_t *)(void *)(tempering->record + gpumc_tempering_layout_make(plan).lowest);
  for (size_t m = 0; m < plan->copies * plan->temperatures; m++)
    gpumc_tempering_loops_of(tempering)->find_lowest(
        lowest + first, tempering->channel[0] + m * plan->samples + first, end - first);
}

static void add_to_histogram(const struct gpumc_tempering *tempering, size_t overlap, size_t t)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_histogram histogram = plan->histogram[overlap];
  /* Most spacings are powers of two: a division would take as long as all the rest. */
  const int shift = __builtin_ctzll((unsigned long long)histogram.spacing);
  const size_t odd = (size_t)histogram.spacing >> shift;
  for (size_t p = 0; p < gpumc_tempering_pairs(plan); p++) {
    const int64_t *row = tempering->overlap[overlap] + (p * plan->temperatures + t) * plan->samples;
    for (size_t s = 0, stratum = 0; s < plan->samples; s += AHEAD) {
      uint64_t *counter[AHEAD];
      const size_t n = plan->samples - s < AHEAD ? plan->samples - s : AHEAD;
      for (size_t i = 0; i < n; i++) {
        const size_t steps = (size_t)(row[s + i] - histogram.lowest) >> shift;
        const size_t bin = odd == 1 ? steps : steps / odd;
        assert(row[s + i] >= histogram.lowest && bin < histogram.bins);
        counter[i] =
            tempering->bins[overlap] + (stratum * plan->temperatures + t) * histogram.bins + bin;
        __builtin_prefetch(counter[i], 1);
        stratum = stratum + 1 < plan->strata ? stratum + 1 : 0;
      }
      for (size_t i = 0; i < n; i++)
        ++*counter[i];
    }
  }
}

static enum gpumc_status
accumulate(struct gpumc_tempering *tempering, bool histogram, struct gpumc_error *error)
{
  (void)error;
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const size_t samples = plan->samples, n = stretches(samples);
#pragma omp parallel num_threads(gpumc_tempering_threads(tempering))
  {
#pragma omp for collapse(3) nowait
    for (size_t i = 0; i < plan->n_terms; i++)
      for (size_t t = 0; t < plan->temperatures; t++)
        for (size_t k = 0; k < n; k++)
          add_term(tempering, i, t, k * samples / n, (k + 1) * samples / n);
#pragma omp for nowait
    for (size_t k = 0; k < n; k++)
      find_lowest(tempering, k * samples / n, (k + 1) * samples / n);
#pragma omp for collapse(2) schedule(dynamic)
    for (size_t overlap = 0; overlap < GPUMC_OVERLAPS; overlap++)
      for (size_t t = 0; t < plan->temperatures; t++)
        if (histogram && plan->histogram[overlap].bins > 0)
          add_to_histogram(tempering, overlap, t);
  }
  return GPUMC_OK;
}

static enum gpumc_status fill(struct gpumc_tempering *tempering, void *memory, int byte,
                              size_t count, struct gpumc_error *error)
{
  (void)tempering;
  (void)error;
  memset(memory, byte, count);
  return GPUMC_OK;
}

static enum gpumc_status
publish(struct gpumc_tempering *tempering, size_t slot, struct gpumc_error *error)
{
  (void)error;
  const struct slots *slots = tempering->own;
  memcpy(slots->record[slot], tempering->record,
         gpumc_tempering_layout_make(&tempering->plan).bytes);
  return GPUMC_OK;
}

static enum gpumc_status collect(struct gpumc_tempering *tempering, size_t slot,
                                 const uint8_t **record, struct gpumc_error *error)
{
  (void)error;
  const struct slots *slots = tempering->own;
  *record = slots->record[slot];
  return GPUMC_OK;
}

const struct gpumc_tempering_ops gpumc_tempering_cpu = {
    .own_bytes = own_bytes,
    .host_bytes = host_bytes,
    .create = create,
    .destroy = destroy,
    .accumulate = accumulate,
    .exchange = gpumc_tempering_cpu_exchange,
    .fill = fill,
    .publish = publish,
    .collect = collect,
};
