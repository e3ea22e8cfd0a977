/* Exchanges on the CPU. All counts are of integers, so that the order of the threads does not
 * matter. */
#include "algorithms/pt/tempering_cpu.h"
#include "algorithms/pt/tempering_record.h"
#include "algorithms/pt/tempering_rules.h"

enum {
  LANES = GPUMC_TEMPERING_LANES,
  STRETCH_WORDS = 32 /* that a thread works on at a time */
};

/* What a round works on. */
struct round {
  const struct gpumc_tempering *tempering;
  const struct gpumc_tempering_loops *loops;
  struct gpumc_random random;
  uint32_t number;
  size_t units, words, stretches;               /* of a copy; of a place; of a unit */
  uint64_t *accepted, *labelled, *from_hottest; /* of the record */
  uint32_t *round_trips;
};

static struct round
round_make(const struct gpumc_tempering *tempering, struct gpumc_random random, uint32_t number)
{
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_tempering_layout layout = gpumc_tempering_layout_make(plan);
  const size_t words = gpumc_swap_words(plan->samples);
  return (struct round){
      .tempering = tempering,
      .loops = gpumc_tempering_loops_of(tempering),
      .random = random,
      .number = number,
      .units = gpumc_exchange_units(plan->temperatures, number),
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

/* Channels and walkers of the n elements from `hotter` on, and those `samples` places further. */
static void exchange_places(const struct round *round, size_t hotter, size_t n, uint32_t swap)
{
  const struct gpumc_tempering *tempering = round->tempering;
  const size_t colder = hotter + tempering->plan.samples;
  round->loops->exchange_walkers(tempering->walker + hotter, tempering->walker + colder, n, swap);
  for (size_t c = 0; c < tempering->plan.n_channels; c++)
    if (tempering->channel[c] != NULL)
      round->loops->exchange(tempering->channel[c] + hotter, tempering->channel[c] + colder, n,
                             swap);
}

/* The runs `hotter` and hotter + 1, at temperatures t and t + 1: decide, exchange, and count. */
static void exchange_pair(const struct round *round, size_t hotter, size_t t, size_t first_word,
                          size_t end_word)
{
  const struct gpumc_tempering *tempering = round->tempering;
  const size_t samples = tempering->plan.samples;
  const struct gpumc_exchange_pair pair = {.random = round->random,
                                           .run = (uint32_t)hotter,
                                           .round = round->number,
                                           .step = tempering->step[t]};
  uint64_t accepted = 0;
  for (size_t w = first_word; w < end_word; w++) {
    const size_t first = w * LANES, n = smaller(first + LANES, samples) - first;
    const int64_t *value = tempering->channel[tempering->plan.conjugate] + hotter * samples + first;
    const uint32_t swap = round->loops->decide(&pair, (uint32_t)first, n, value, value + samples);
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
  const struct gpumc_tempering_plan *plan = &round->tempering->plan;
  uint32_t *walker = round->tempering->walker + (c * plan->temperatures + t) * plan->samples;
  for (size_t s = first; s < end; s++) {
    bool returned;
    walker[s] = gpumc_walker_arrived(walker[s], t, plan->temperatures, &returned);
    if (returned)
      round->round_trips[c * plan->samples + s]++;
  }
}

/* The walkers of copy c that are now at temperature t. */
static void meet_walkers(const struct round *round, size_t c, size_t t, size_t first, size_t end)
{
  const struct gpumc_tempering_plan *plan = &round->tempering->plan;
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
  const struct gpumc_tempering *tempering = round->tempering;
  const struct gpumc_tempering_plan *plan = &tempering->plan;
  const struct gpumc_exchange_unit unit =
      gpumc_exchange_unit(number, plan->temperatures, round->number);
  const size_t first = stretch * STRETCH_WORDS;
  const size_t end = smaller(first + STRETCH_WORDS, round->words);
  const size_t run = c * plan->temperatures + unit.t, last = run + unit.count - 1;
  if (unit.count == 2)
    exchange_pair(round, run, unit.t, first, end);
  /* No replica goes on from the last of the unit. */
  for (size_t w = first; w < end; w++)
    tempering->swap[last * round->words + w] = 0;
  for (size_t i = 0; i < unit.count; i++)
    meet_walkers(round, c, unit.t + i, first * LANES, smaller(end * LANES, plan->samples));
}

enum gpumc_status gpumc_tempering_cpu_exchange(struct gpumc_tempering *tempering,
                                               struct gpumc_random random, uint32_t number,
                                               struct gpumc_error *error)
{
  (void)error;
  const struct round round = round_make(tempering, random, number);
#pragma omp parallel for collapse(3) num_threads(gpumc_tempering_threads(tempering))
  for (size_t c = 0; c < tempering->plan.copies; c++)
    for (size_t unit = 0; unit < round.units; unit++)
      for (size_t stretch = 0; stretch < round.stretches; stretch++)
        exchange_unit(&round, c, unit, stretch);
  return GPUMC_OK;
}
