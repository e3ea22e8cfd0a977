/* The slow, simple parallel tempering. */
#include "support/tempering_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pt/pt_rules.h"

enum { DATA_SEED = 99, OVERLAP_BOUND = 1000 };

static void *zeros(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

static size_t places(const struct tempering_reference *reference)
{
  return reference->plan.copies * reference->plan.temperatures * reference->plan.samples;
}

static size_t places_of_pairs(const struct tempering_reference *reference)
{
  return pt_tempering_pairs(&reference->plan) * reference->plan.temperatures *
         reference->plan.samples;
}

/* Returns place (c, t, s), or the overlap of pair c. */
static size_t place(const struct tempering_reference *reference, size_t c, size_t t, size_t s)
{
  return (c * reference->plan.temperatures + t) * reference->plan.samples + s;
}

static void visit(struct tempering_reference *reference, size_t c, size_t t, size_t s)
{
  struct tempering_walker *walker = &reference->walker[place(reference, c, t, s)];
  if (t == 0) {
    if (walker->last == TEMPERING_COLDEST && walker->was_hot)
      reference->round_trips[c * reference->plan.samples + s]++;
    walker->last = TEMPERING_HOTTEST;
    walker->was_hot = true;
  } else if (t == reference->plan.temperatures - 1)
    walker->last = TEMPERING_COLDEST;
}

void tempering_reference_init(struct tempering_reference *reference,
                              const struct pt_tempering_plan *plan, const double *beta,
                              double quantum)
{
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  memset(reference, 0, sizeof *reference);
  reference->plan = *plan;
  reference->step = zeros(temperatures, sizeof *reference->step);
  for (size_t t = 0; t + 1 < temperatures; t++)
    reference->step[t] = (beta[t + 1] - beta[t]) * quantum;
  for (size_t c = 0; c < plan->n_channels; c++)
    reference->channel[c] = zeros(places(reference), sizeof *reference->channel[c]);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    reference->overlap[k] = zeros(places_of_pairs(reference), sizeof *reference->overlap[k]);
    reference->bins[k] =
        zeros(plan->strata * temperatures * plan->histogram[k].bins, sizeof *reference->bins[k]);
  }
  reference->swap =
      zeros(plan->copies * temperatures * gpumc_swap_words(samples), sizeof *reference->swap);
  reference->walker = zeros(places(reference), sizeof *reference->walker);
  reference->sums = zeros(plan->n_terms * temperatures * samples, sizeof *reference->sums);
  reference->accepted = zeros(temperatures, sizeof *reference->accepted);
  reference->labelled = zeros(temperatures, sizeof *reference->labelled);
  reference->from_hottest = zeros(temperatures, sizeof *reference->from_hottest);
  reference->lowest = zeros(samples, sizeof *reference->lowest);
  reference->round_trips = zeros(plan->copies * samples, sizeof *reference->round_trips);
  for (size_t c = 0; c < plan->copies; c++)
    for (size_t t = 0; t < temperatures; t++)
      for (size_t s = 0; s < samples; s++) {
        reference->walker[place(reference, c, t, s)].number = (uint32_t)t;
        visit(reference, c, t, s);
      }
  tempering_reference_clear(reference);
}

void tempering_reference_free(struct tempering_reference *reference)
{
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    free(reference->channel[c]);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    free(reference->overlap[k]);
    free(reference->bins[k]);
  }
  free(reference->step);
  free(reference->swap);
  free(reference->walker);
  free(reference->sums);
  free(reference->accepted);
  free(reference->labelled);
  free(reference->from_hottest);
  free(reference->lowest);
  free(reference->round_trips);
  memset(reference, 0, sizeof *reference);
}

/* Returns a uniform number from lowest to highest; the ends are hit more often than other
 * values. */
static int64_t
draw(uint32_t element, uint32_t array, uint32_t time, int64_t lowest, int64_t highest)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(DATA_SEED, 0, 10), element, array, time, 0, word);
  if (word[2] % 16 == 0)
    return word[3] % 2 == 0 ? lowest : highest;
  const uint64_t uniform = (uint64_t)word[0] << 32 | word[1];
  return lowest + (int64_t)(uniform % ((uint64_t)(highest - lowest) + 1));
}

void tempering_reference_measure(struct tempering_reference *reference, const int64_t *bound,
                                 uint32_t time)
{
  for (uint32_t c = 0; c < reference->plan.n_channels; c++)
    for (size_t i = 0; i < places(reference); i++)
      reference->channel[c][i] = draw((uint32_t)i, c, time, -bound[c], bound[c]);
  for (uint32_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    const struct pt_histogram *histogram = &reference->plan.histogram[k];
    const int64_t lowest = histogram->bins > 0 ? histogram->lowest : -OVERLAP_BOUND;
    const int64_t highest = histogram->bins > 0
                                ? lowest + (int64_t)histogram->bins * histogram->spacing - 1
                                : OVERLAP_BOUND;
    for (size_t i = 0; i < places_of_pairs(reference); i++)
      reference->overlap[k][i] =
          draw((uint32_t)i, GPUMC_CHANNELS_MAXIMUM + k, time, lowest, highest);
  }
}

static double scaled(const struct pt_term *term, int64_t value)
{
  return (double)value * term->scale;
}

static void add_terms(struct tempering_reference *reference, size_t t, size_t s)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  for (size_t i = 0; i < plan->n_terms; i++) {
    const struct pt_term *term = &plan->term[i];
    const bool is_pair = term->source == GPUMC_MEAN_PAIR;
    const bool is_product = term->source == GPUMC_MEAN_PRODUCT;
    const size_t count = is_pair ? pt_tempering_pairs(plan) : plan->copies;
    const int64_t *values =
        is_pair ? reference->overlap[term->index] : reference->channel[term->index];
    double *sum = &reference->sums[place(reference, i, t, s)];
    for (size_t c = 0; c < count; c++) {
      const int64_t value = values[place(reference, c, t, s)];
      for (size_t d = c + 1; d < count && is_product; d++)
        *sum += scaled(term, value) * scaled(term, values[place(reference, d, t, s)]);
      if (!is_product)
        *sum += pt_term_value(value, term->scale, term->moment);
    }
  }
}

static void add_overlaps(struct tempering_reference *reference, size_t t, size_t s)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    const struct pt_histogram *histogram = &plan->histogram[k];
    uint64_t *bins =
        reference->bins[k] + (s % plan->strata * plan->temperatures + t) * histogram->bins;
    for (size_t p = 0; histogram->bins > 0 && p < pt_tempering_pairs(plan); p++) {
      const int64_t above = reference->overlap[k][place(reference, p, t, s)] - histogram->lowest;
      bins[above / histogram->spacing]++;
    }
  }
}

void tempering_reference_accumulate(struct tempering_reference *reference, bool histogram)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  reference->measurements++;
  for (size_t t = 0; t < plan->temperatures; t++)
    for (size_t s = 0; s < plan->samples; s++) {
      add_terms(reference, t, s);
      if (histogram)
        add_overlaps(reference, t, s);
      for (size_t c = 0; c < plan->copies; c++) {
        const int64_t energy = reference->channel[0][place(reference, c, t, s)];
        if (energy < reference->lowest[s])
          reference->lowest[s] = energy;
      }
    }
}

static void exchange_places(struct tempering_reference *reference, size_t a, size_t b)
{
  const struct tempering_walker walker = reference->walker[a];
  reference->walker[a] = reference->walker[b];
  reference->walker[b] = walker;
  for (size_t c = 0; c < reference->plan.n_channels; c++) {
    const int64_t value = reference->channel[c][a];
    reference->channel[c][a] = reference->channel[c][b];
    reference->channel[c][b] = value;
  }
}

/* Exchanges one sample of one copy. */
static void exchange_column(struct tempering_reference *reference, struct gpumc_random random,
                            uint32_t round, size_t c, size_t s)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  const size_t words = gpumc_swap_words(plan->samples);
  for (size_t t = round % 2; t + 1 < plan->temperatures; t += 2) {
    const size_t hotter = place(reference, c, t, s), colder = place(reference, c, t + 1, s);
    const size_t run = c * plan->temperatures + t;
    const uint32_t drawn = pt_exchange_draw(random, (uint32_t)s, (uint32_t)run, round);
    if (!pt_exchange_accepted(drawn, reference->step[t], reference->channel[0][hotter],
                              reference->channel[0][colder]))
      continue;
    exchange_places(reference, hotter, colder);
    reference->swap[run * words + s / 32] |= (uint32_t)1 << s % 32;
    reference->accepted[t]++;
  }
  for (size_t t = 0; t < plan->temperatures; t++) {
    visit(reference, c, t, s);
    const struct tempering_walker *walker = &reference->walker[place(reference, c, t, s)];
    reference->labelled[t] += walker->last != TEMPERING_NO_EXTREME;
    reference->from_hottest[t] += walker->last == TEMPERING_HOTTEST;
  }
}

void tempering_reference_exchange(struct tempering_reference *reference, struct gpumc_random random,
                                  uint32_t round)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  memset(reference->swap, 0,
         plan->copies * plan->temperatures * gpumc_swap_words(plan->samples) *
             sizeof *reference->swap);
  reference->rounds[round % 2]++;
  for (size_t c = 0; c < plan->copies; c++)
    for (size_t s = 0; s < plan->samples; s++)
      exchange_column(reference, random, round, c, s);
}

void tempering_reference_clear(struct tempering_reference *reference)
{
  const struct pt_tempering_plan *plan = &reference->plan;
  const size_t temperatures = plan->temperatures, samples = plan->samples;
  reference->measurements = reference->rounds[0] = reference->rounds[1] = 0;
  memset(reference->sums, 0, plan->n_terms * temperatures * samples * sizeof *reference->sums);
  memset(reference->accepted, 0, temperatures * sizeof *reference->accepted);
  memset(reference->labelled, 0, temperatures * sizeof *reference->labelled);
  memset(reference->from_hottest, 0, temperatures * sizeof *reference->from_hottest);
  memset(reference->round_trips, 0, plan->copies * samples * sizeof *reference->round_trips);
  for (size_t s = 0; s < samples; s++)
    reference->lowest[s] = INT64_MAX;
}
