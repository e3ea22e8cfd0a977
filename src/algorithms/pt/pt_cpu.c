/* The steps of parallel tempering on the CPU. All counts are of integers, and every sum of doubles
 * is in the order of the copies, so threads decide nothing. */
#include "algorithms/pt/pt_device.h"

#include <assert.h>

#include "algorithms/pt/pt_loops.h"

/* Number of places that is worth a thread: tens of microseconds. */
enum { PLACES_A_THREAD = 2048 };

static int threads_of(const struct pt_tempering *tempering)
{
  const size_t useful = pt_tempering_places(&tempering->plan) / PLACES_A_THREAD + 1;
  const size_t threads = (size_t)tempering->device->threads;
  return (int)(useful < threads ? useful : threads);
}

static const struct pt_loops *loops_of(const struct pt_tempering *tempering)
{
  return GPUMC_ISA_OBJECT(pt_loops, tempering->device->isa);
}

/* ---- sums and histograms ---- */

/* Samples that a thread processes at a time. */
enum { STRETCH = 1024 };

static size_t stretches(size_t samples)
{
  return (samples + STRETCH - 1) / STRETCH;
}

/* Counters of a histogram that are prefetched: they are seldom in the cache. */
enum { AHEAD = 64 };

/* One term at one temperature: its sums by sample, and rows of values by copy, or by pair of
 * copies, `stride` apart. */
struct rows {
  double *sums;
  const int64_t *values;
  size_t count, stride;
};

static struct rows rows_of(const struct pt_tempering *tempering, size_t term, size_t t)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_term *what = &plan->term[term];
  const bool is_pair = what->source == GPUMC_MEAN_PAIR;
  const size_t samples = plan->samples;
  double *sums = (double *)(void *)tempering->record;
  return (struct rows){.sums = sums + (term * plan->temperatures + t) * samples,
                       .values = (is_pair ? tempering->pair : tempering->channel)[what->index] +
                                 t * samples,
                       .count = is_pair ? pt_tempering_pairs(plan) : plan->copies,
                       .stride = plan->temperatures * samples};
}

static void
add_products(const struct pt_loops *loops, struct rows rows, double scale, size_t first, size_t end)
{
  for (size_t c = 0; c < rows.count; c++)
    for (size_t d = c + 1; d < rows.count; d++) {
      const int64_t *one = rows.values + c * rows.stride, *other = rows.values + d * rows.stride;
      loops->add_products(rows.sums + first, one + first, other + first, end - first, scale);
    }
}

/* Adds the term's sums at temperature t; every sample's in the order of the copies. */
static void
add_term(const struct pt_tempering *tempering, size_t term, size_t t, size_t first, size_t end)
{
  const struct pt_term what = tempering->plan.term[term];
  const struct rows rows = rows_of(tempering, term, t);
  const struct pt_loops *loops = loops_of(tempering);
  if (what.source == GPUMC_MEAN_PRODUCT) {
    add_products(loops, rows, what.scale, first, end);
    return;
  }
  for (size_t i = 0; i < rows.count; i++)
    loops->add_values(rows.sums + first, rows.values + i * rows.stride + first, end - first,
                      what.scale, what.moment);
}

static void find_lowest(const struct pt_tempering *tempering, size_t first, size_t end)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  int64_t *lowest = (int64_t *)(void *)(tempering->record + pt_layout_make(plan).lowest);
  for (size_t m = 0; m < plan->copies * plan->temperatures; m++)
    loops_of(tempering)->find_lowest(
        lowest + first, tempering->channel[plan->tracked] + m * plan->samples + first, end - first);
}

static void add_to_histogram(const struct pt_tempering *tempering, size_t overlap, size_t t)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_histogram histogram = plan->histogram[overlap];
  /* Most spacings are powers of two: a division would take as long as everything else. */
  const int shift = __builtin_ctzll((unsigned long long)histogram.spacing);
  const size_t odd = (size_t)histogram.spacing >> shift;
  for (size_t p = 0; p < pt_tempering_pairs(plan); p++) {
    const int64_t *row = tempering->pair[overlap] + (p * plan->temperatures + t) * plan->samples;
    for (size_t s = 0, stratum = plan->first_sample % plan->strata; s < plan->samples; s += AHEAD) {
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
accumulate(const struct pt_tempering *tempering, bool histogram, struct gpumc_error *error)
{
  (void)error;
  const struct pt_tempering_plan *plan = &tempering->plan;
  const size_t samples = plan->samples, n = stretches(samples);
#pragma omp parallel num_threads(threads_of(tempering))
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
    for (size_t overlap = 0; overlap < GPUMC_PAIRS_MAXIMUM; overlap++)
      for (size_t t = 0; t < plan->temperatures; t++)
        if (histogram && plan->histogram[overlap].bins > 0)
          add_to_histogram(tempering, overlap, t);
  }
  return GPUMC_OK;
}

/* ---- exchanges ---- */

enum {
  LANES = PT_LANES,
  STRETCH_WORDS = 32 /* that a thread works on at a time */
};

/* The data of a round. */
struct round {
  const struct pt_tempering *tempering;
  const struct pt_loops *loops;
  struct gpumc_random random;
  uint32_t number;
  size_t units, words, stretches;               /* per copy; per place; per unit */
  uint64_t *accepted, *labelled, *from_hottest; /* in the record */
  uint32_t *round_trips;
};

static struct round
round_make(const struct pt_tempering *tempering, struct gpumc_random random, uint32_t number)
{
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_layout layout = pt_layout_make(plan);
  const size_t words = gpumc_swap_words(plan->samples);
  return (struct round){
      .tempering = tempering,
      .loops = loops_of(tempering),
      .random = random,
      .number = number,
      .units = pt_exchange_units(plan->temperatures, number),
      .words = words,
      .stretches = (words + STRETCH_WORDS - 1) / STRETCH_WORDS,
      .accepted = (void *)(tempering->record + layout.accepted),
      .labelled = (void *)(tempering->record + layout.labelled),
      .from_hottest = (void *)(tempering->record + layout.from_hottest),
      .round_trips = (void *)(tempering->record + layout.round_trips),
  };
}

static void add_to(uint64_t *counter, uint64_t count)
{
#pragma omp atomic
  *counter += count;
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Swaps channels and walkers of the n elements from `hotter` on with those `samples` places
 * further. */
static void exchange_places(const struct round *round, size_t hotter, size_t n, uint32_t swap)
{
  const struct pt_tempering *tempering = round->tempering;
  const size_t colder = hotter + tempering->plan.samples;
  round->loops->exchange_walkers(tempering->walker + hotter, tempering->walker + colder, n, swap);
  for (size_t c = 0; c < tempering->plan.n_channels; c++)
    if (tempering->channel[c] != NULL)
      round->loops->exchange(tempering->channel[c] + hotter, tempering->channel[c] + colder, n,
                             swap);
}

/* For the runs `hotter` and hotter + 1, at temperatures t and t + 1: decides, exchanges, and
 * counts. */
static void exchange_pair(const struct round *round, size_t hotter, size_t t, size_t first_word,
                          size_t end_word)
{
  const struct pt_tempering *tempering = round->tempering;
  const size_t samples = tempering->plan.samples;
  const struct pt_exchange_pair pair = {.random = round->random,
                                        .run = (uint32_t)hotter,
                                        .round = round->number,
                                        .step = tempering->step[t]};
  uint64_t accepted = 0;
  for (size_t w = first_word; w < end_word; w++) {
    const size_t first = w * LANES, n = smaller(first + LANES, samples) - first;
    const int64_t *value = tempering->channel[tempering->plan.conjugate] + hotter * samples + first;
    const uint32_t number = (uint32_t)(tempering->plan.first_sample + first);
    const uint32_t swap = round->loops->decide(&pair, number, n, value, value + samples);
    if (swap != 0)
      exchange_places(round, hotter * samples + first, n, swap);
    tempering->swap[hotter * round->words + w] = swap;
    accepted += (uint64_t)__builtin_popcount(swap);
  }
  add_to(&round->accepted[t], accepted);
}

/* Labels change at the ends of the ladder. */
static void label_walkers(const struct round *round, size_t c, size_t t, size_t first, size_t end)
{
  const struct pt_tempering_plan *plan = &round->tempering->plan;
  uint32_t *walker = round->tempering->walker + (c * plan->temperatures + t) * plan->samples;
  for (size_t s = first; s < end; s++) {
    bool returned;
    walker[s] = pt_walker_arrived(walker[s], t, plan->temperatures, &returned);
    if (returned)
      round->round_trips[c * plan->samples + s]++;
  }
}

/* Handles the walkers of copy c that are now at temperature t. */
static void meet_walkers(const struct round *round, size_t c, size_t t, size_t first, size_t end)
{
  const struct pt_tempering_plan *plan = &round->tempering->plan;
  const uint32_t *walker = round->tempering->walker + (c * plan->temperatures + t) * plan->samples;
  uint64_t labelled, from_hottest;
  if (t == 0 || t + 1 == plan->temperatures)
    label_walkers(round, c, t, first, end);
  round->loops->count_labels(walker + first, end - first, &labelled, &from_hottest);
  add_to(&round->labelled[t], labelled);
  add_to(&round->from_hottest[t], from_hottest);
}

static void exchange_unit(const struct round *round, size_t c, size_t number, size_t stretch)
{
  const struct pt_tempering *tempering = round->tempering;
  const struct pt_tempering_plan *plan = &tempering->plan;
  const struct pt_exchange_unit unit = pt_exchange_unit(number, plan->temperatures, round->number);
  const size_t first = stretch * STRETCH_WORDS;
  const size_t end = smaller(first + STRETCH_WORDS, round->words);
  const size_t run = c * plan->temperatures + unit.t, last = run + unit.count - 1;
  if (unit.count == 2)
    exchange_pair(round, run, unit.t, first, end);
  /* No replica moves on from the last one of the unit. */
  for (size_t w = first; w < end; w++)
    tempering->swap[last * round->words + w] = 0;
  for (size_t i = 0; i < unit.count; i++)
    meet_walkers(round, c, unit.t + i, first * LANES, smaller(end * LANES, plan->samples));
}

static enum gpumc_status exchange(const struct pt_tempering *tempering, struct gpumc_random random,
                                  uint32_t number, struct gpumc_error *error)
{
  (void)error;
  const struct round round = round_make(tempering, random, number);
#pragma omp parallel for collapse(3) num_threads(threads_of(tempering))
  for (size_t c = 0; c < tempering->plan.copies; c++)
    for (size_t unit = 0; unit < round.units; unit++)
      for (size_t stretch = 0; stretch < round.stretches; stretch++)
        exchange_unit(&round, c, unit, stretch);
  return GPUMC_OK;
}

const struct pt_steps pt_steps_cpu = {.accumulate = accumulate, .exchange = exchange};
