/* The steps of population annealing on the CPU. All sums are of integers, so the order of the
 * threads does not matter. */
#include "algorithms/pa/pa_device.h"

#include <string.h>

/* Threads of a loop over the replicas of a run, within a loop over runs. */
static int threads_inside(const struct gpumc_device *device, size_t runs)
{
  return device->threads / gpumc_threads_outside(device, runs);
}

static enum gpumc_status
found(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, work->runs))
  for (size_t m = 0; m < work->runs; m++) {
    work->weighed[m].own = work->copied[m].size = work->founders;
    for (size_t r = 0; r < pa_own_of(work, work->founders); r++)
      work->family[m * work->capacity + r] = (uint32_t)(work->first + r);
  }
  return GPUMC_OK;
}

/* Weights by value: replicas of lattice models share a few hundred energies. Multiples of one
 * number are spread evenly (D. E. Knuth, The Art of Computer Programming 3, 6.4). */
enum { REMEMBERED_BITS = 9, REMEMBERED = 1 << REMEMBERED_BITS };

struct remembered {
  int64_t value;
  uint64_t weight;
};

static uint64_t
weight_of(struct remembered *remembered, double step, int64_t value, int64_t reference, int shift)
{
  struct remembered *at =
      &remembered[(uint64_t)value * 0x9e3779b97f4a7c15u >> (64 - REMEMBERED_BITS)];
  if (at->value != value)
    *at = (struct remembered){value, pa_weight(step, value, reference, shift)};
  return at->weight;
}

static void weigh_run(const struct pa_resample_work *work, size_t m, int threads)
{
  const struct pa_work *population = &work->population;
  const size_t n = population->size[m];
  const int64_t *value = population->conjugate + m * population->capacity;
  uint64_t *weight = population->weight + m * population->capacity;
  const int64_t reference = pa_reference_of(population, &population->reached[m]);
  uint64_t total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    struct remembered remembered[REMEMBERED];
    const uint64_t of_reference =
        pa_weight(work->request.step, reference, reference, work->weight_shift);
    for (size_t i = 0; i < REMEMBERED; i++)
      remembered[i] = (struct remembered){reference, of_reference};
#pragma omp for
    for (size_t r = 0; r < n; r++) {
      weight[r] =
          weight_of(remembered, work->request.step, value[r], reference, work->weight_shift);
      total += weight[r];
    }
  }
  population->reference[m] = reference;
  population->weighed[pa_own_row(population, m)] = (struct pa_weighed){n, total};
}

static enum gpumc_status
weigh(struct gpumc_device *device, const struct pa_resample_work *work, struct gpumc_error *error)
{
  const struct pa_work *population = &work->population;
  const size_t runs = population->runs;
  const int inside = threads_inside(device, runs);
  const struct gpumc_tally_values values = {
      .runs = runs,
      .size = population->size,
      .label = population->family,
      .channel = {(const int64_t *)population->weight}, /* below 2^63 */
      .sums = work->block_weights};
#pragma omp parallel for num_threads(gpumc_threads_outside(device, runs))
  for (size_t m = 0; m < runs; m++)
    weigh_run(work, m, inside);
  return values.sums != NULL ? device->ops->tally(device, &work->tally, &values, error) : GPUMC_OK;
}

/* Parameters of the copies of one run. */
struct lot {
  struct gpumc_random random;
  uint32_t time, first_replica;
  uint64_t total, target, offset;
  uint64_t n;      /* in the whole */
  uint64_t before; /* before the first weight, cumulated */
  const uint64_t *weight;
  uint32_t *copies;
  uint64_t base; /* of the cumulated weights: those of earlier runs, less those of this run that
                  * other processes have before these */
};

/* Handles the replicas first .. end-1. */
static struct pa_copied overlap_alone(const struct lot *lot, size_t first, size_t end)
{
  struct pa_copied copied = {0};
  for (size_t r = first; r < end; r++)
    pa_add_share(&copied, lot->weight[r], lot->n, lot->total);
  return copied;
}

static struct pa_copied nearest_integer(const struct lot *lot, size_t first, size_t end)
{
  struct pa_copied copied = {0};
  for (size_t r = first; r < end; r++) {
    const uint64_t copies =
        pa_copies_nearest_integer(lot->random, lot->first_replica + (uint32_t)r, lot->time,
                                  lot->weight[r], lot->target, lot->total);
    pa_add_share(&copied, lot->weight[r], lot->n, lot->total);
    lot->copies[r] = (uint32_t)copies;
    copied.size += copies;
    copied.living += copies > 0;
  }
  return copied;
}

/* Uses one uniform number for all; the population stays exactly at the target. */
static struct pa_copied systematic(const struct lot *lot, size_t first, size_t end)
{
  struct pa_copied copied = {0};
  uint64_t cumulated = (first > 0 ? lot->weight[first - 1] : lot->before) - lot->base;
  uint64_t before = pa_points_below(cumulated, lot->offset, lot->target, lot->total);
  for (size_t r = first; r < end; r++) {
    const uint64_t weight = lot->weight[r] - lot->base - cumulated;
    cumulated += weight;
    const uint64_t after = pa_points_below(cumulated, lot->offset, lot->target, lot->total);
    pa_add_share(&copied, weight, lot->n, lot->total);
    lot->copies[r] = (uint32_t)(after - before);
    copied.size += after - before;
    copied.living += after > before;
    before = after;
  }
  return copied;
}

static void copy_run(const struct pa_resample_work *work, size_t m, int method, size_t threads)
{
  const struct pa_work *population = &work->population;
  const size_t row = pa_own_row(population, m), n = population->weighed[row].own;
  const size_t first = m * population->capacity;
  const struct pa_weights weights = pa_weights_of(population, m);
  const uint64_t earlier = first > 0 ? population->weight[first - 1] : 0;
  const uint32_t run = work->request.first_run + (uint32_t)m;
  struct lot lot = {.random = gpumc_random_make(work->request.seed, run, work->request.rounds),
                    .time = work->request.time,
                    .first_replica = work->request.first_replica,
                    .total = weights.total,
                    .target = work->request.target,
                    .n = weights.before,
                    .weight = population->weight + first,
                    .copies = population->copies + first,
                    .before = earlier,
                    .base = earlier - weights.below};
  uint64_t high = 0, low = 0, size = 0, living = 0;
  if (n == 0)
    return;
  if (method == PA_RESAMPLING_SYSTEMATIC)
    lot.offset = pa_resampling_uniform(lot.random, 0, lot.time, lot.total);
#pragma omp parallel for num_threads((int)threads) reduction(+ : high, low, size, living)
  for (size_t t = 0; t < threads; t++) {
    const size_t begin = n * t / threads, end = n * (t + 1) / threads;
    struct pa_copied copied = {0};
    if (begin == end)
      continue;
    if (method == PA_RESAMPLING_SYSTEMATIC)
      copied = systematic(&lot, begin, end);
    else if (method == PA_RESAMPLING_NEAREST_INTEGER)
      copied = nearest_integer(&lot, begin, end);
    else
      copied = overlap_alone(&lot, begin, end);
    high += copied.high;
    low += copied.low;
    size += copied.size;
    living += copied.living;
  }
  population->copied[row] = (struct pa_copied){size, high, low, living};
}

static enum gpumc_status copies(struct gpumc_device *device, const struct pa_resample_work *work,
                                int method, struct gpumc_error *error)
{
  const size_t runs = work->population.runs;
  const size_t inside = (size_t)threads_inside(device, runs);
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, runs))
  for (size_t m = 0; m < runs; m++)
    copy_run(work, m, method, inside);
  return GPUMC_OK;
}

/* Called only if processes divide the population: otherwise assign_places does without. */
static void needs_run(const struct pa_work *work, size_t m)
{
  const size_t n = work->weighed[pa_own_row(work, m)].own;
  const size_t first = m * work->capacity;
  const uint64_t whole_size = pa_copied_of(work, m).size;
  const size_t size = pa_size_after(work, whole_size);
  const bool any = whole_size <= work->whole;
  uint64_t sum = 0;
  for (size_t r = 0; r < work->capacity; r++) {
    work->weight[first + r] = sum;
    sum += pa_demand_and_supply(any && r < n ? work->copies[first + r] : 0, r < size);
  }
  work->need[m] = (struct pa_need){.children = sum >> 32, .places = sum & UINT32_MAX};
}

static enum gpumc_status
needs(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, work->runs)) if (work->divided)
  for (size_t m = 0; m < (work->divided ? work->runs : 0); m++)
    needs_run(work, m);
  return GPUMC_OK;
}

/* Uses the numbers of `needs`, like other devices: handles those whose child is here. */
static void assign_own_places(const struct pa_work *work, size_t m, size_t size, int threads)
{
  const size_t n = work->weighed[pa_own_row(work, m)].own;
  const size_t first = m * work->capacity;
  const int64_t shift = pa_shift_of(work, m, pa_copied_of(work, m).size);
  const uint64_t *scanned = work->weight + first;
  const uint32_t *copies = work->copies + first;
  uint32_t *parent = work->parent + first, *family = work->family + first;
#pragma omp parallel for num_threads(threads)
  for (size_t p = 0; p < size; p++) {
    parent[p] = (uint32_t)p;
    if (p < n && copies[p] > 0)
      continue;
    const int64_t child = (int64_t)pa_places_before(scanned, p) + shift;
    if (child < 0 || child >= (int64_t)work->need[m].children)
      continue;
    parent[p] = pa_parent_of_child(scanned, n, (uint32_t)child);
    family[p] = family[parent[p]];
  }
}

/* Assigns places after resampling n replicas to `size`. */
static void assign_places(const uint32_t *copies, size_t n, size_t size, uint32_t *parent)
{
  const uint32_t free_place = UINT32_MAX;
  for (size_t r = 0; r < size; r++)
    parent[r] = r < n && copies[r] > 0 ? (uint32_t)r : free_place;
  size_t place = 0;
  for (size_t r = 0; r < n; r++) {
    uint32_t children = copies[r] - (r < size && copies[r] > 0);
    for (; children > 0; children--) {
      while (parent[place] != free_place)
        place++;
      parent[place] = (uint32_t)r;
    }
  }
}

/* A parent below `size` is its own parent, so no thread writes what another reads. */
static void inherit_families(const uint32_t *parent, uint32_t *family, size_t size, int threads)
{
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < size; r++)
    if (parent[r] != r)
      family[r] = family[parent[r]];
}

static enum gpumc_status
places(struct gpumc_device *device, const struct pa_work *work, struct gpumc_error *error)
{
  const int inside = threads_inside(device, work->runs);
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, work->runs))
  for (size_t m = 0; m < work->runs; m++) {
    const size_t first = m * work->capacity;
    const size_t size = pa_size_after(work, pa_copied_of(work, m).size);
    work->size[m] = (uint32_t)size;
    if (work->divided) {
      assign_own_places(work, m, size, inside);
      continue;
    }
    if (size > 0)
      assign_places(work->copies + first, work->weighed[m].own, size, work->parent + first);
    inherit_families(work->parent + first, work->family + first, size, inside);
  }
  return GPUMC_OK;
}

/* Returns the reach of the reference of the weights if that is not the lowest value. */
static uint64_t extent_of(const struct pa_work *population, size_t first, size_t n)
{
  uint64_t extent = 0;
  for (size_t r = first; r < first + n; r++) {
    const uint64_t reach = pa_reach(population->conjugate[r], population->falls);
    extent = reach > extent ? reach : extent;
  }
  return extent;
}

/* Finds, for run m, its lowest value, the reference of its weights, and members of families. */
static void survey_run(const struct pa_survey_work *work, size_t m)
{
  const struct pa_work *population = &work->population;
  const size_t first = m * population->capacity, n = population->size[m];
  const size_t families = pa_own_families(population);
  struct pa_reached *reached = &population->reached[m];
  uint32_t *members = work->members + first;
  int64_t lowest = INT64_MAX;
  for (size_t r = first; r < first + n; r++)
    lowest = population->tracked[r] < lowest ? population->tracked[r] : lowest;
  *reached = (struct pa_reached){.depth = n > 0 ? pa_reach(lowest, false) : 0};
  if (pa_is_apart(population))
    reached->extent = extent_of(population, first, n);
  for (size_t r = first; r < first + n; r++) {
    const size_t number = population->family[r] - population->first;
    if (number < families)
      members[number]++;
  }
}

/* Runs of one stratum add to the same bins, one after another. */
static void add_to_histograms(const struct gpumc_device *device, const struct pa_survey_work *work)
{
  const struct pa_work *population = &work->population;
  const size_t strata = work->strata, runs = population->runs;
#pragma omp parallel for num_threads(device->threads) schedule(dynamic)
  for (size_t stratum = 0; stratum < (runs < strata ? runs : strata); stratum++)
    for (size_t m = stratum; m < runs; m += strata) {
      const size_t first = m * population->capacity;
      for (size_t r = first; r < first + population->size[m]; r++)
        work->bins[pa_bin_of(work, work->first_run + m, population->family[r],
                             population->tracked[r])]++;
    }
}

static enum gpumc_status
survey(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const size_t runs = work->population.runs;
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, runs))
  for (size_t m = 0; m < runs; m++)
    survey_run(work, m);
  if (work->bins != NULL)
    add_to_histograms(device, work);
  return GPUMC_OK;
}

/* Returns whether family number `number` had no mark before. */
static bool mark_family(const struct pa_survey_work *work, size_t first, size_t number)
{
  const uint32_t mark = (uint32_t)1 << PA_MEMBERS_MARK;
  uint32_t *word = (work->population.divided ? work->members : work->mark) + first + number;
  const bool had = (*word & mark) != 0;
  *word |= mark;
  return !had;
}

static void list_stranger(const struct pa_work *work, size_t m, uint32_t family, bool holds)
{
  uint64_t at;
#pragma omp atomic capture
  at = (*work->n_strangers)++;
  work->stranger[at] = (struct pa_stranger){family, (uint32_t)m << 1 | holds};
}

/* Handles the families of run m, and finds those with the lowest value. */
static void families_of_run(const struct pa_survey_work *work, size_t m)
{
  const struct pa_work *population = &work->population;
  const size_t first = m * population->capacity, n = population->size[m];
  const size_t families = pa_own_families(population);
  const uint64_t whole = population->divided ? pa_copied_of(population, m).size : n;
  const int64_t lowest = pa_lowest_of(&population->reached[m]);
  struct pa_tallied tallied = {0};
  if (whole == 0)
    return;
  for (size_t f = 0; f < families; f++)
    pa_add_family(&tallied, work->members[first + f], whole);
  for (size_t r = 0; r < n; r++) {
    const uint32_t family = population->family[first + r];
    const size_t number = family - population->first;
    const bool holds = population->tracked[first + r] == lowest;
    tallied.lowest_replicas += holds;
    if (number >= families)
      list_stranger(population, m, family, holds);
    else if (holds)
      tallied.lowest_families += mark_family(work, first, number);
  }
  population->tallied[m] = tallied;
}

static enum gpumc_status
families(struct gpumc_device *device, const struct pa_survey_work *work, struct gpumc_error *error)
{
  const size_t runs = work->population.runs;
  (void)error;
#pragma omp parallel for num_threads(gpumc_threads_outside(device, runs))
  for (size_t m = 0; m < runs; m++)
    families_of_run(work, m);
  return GPUMC_OK;
}

static enum gpumc_status find_movers(struct gpumc_device *device, const struct pa_work *work,
                                     const struct pa_movers *movers, struct gpumc_error *error)
{
  const size_t n = work->weighed[pa_own_row(work, movers->m)].own;
  const size_t first = movers->m * work->capacity;
  const uint64_t *scanned = work->weight + first;
  (void)device;
  (void)error;
  for (size_t i = 0; i < movers->count; i++) {
    const uint32_t number = (uint32_t)(movers->first + i);
    if (movers->movement == PA_ARRIVING) {
      movers->slot[i] = pa_place_of_number(scanned, work->size[movers->m], number);
      continue;
    }
    movers->slot[i] = pa_parent_of_child(scanned, n, number);
    movers->family[i] = work->family[first + movers->slot[i]];
  }
  return GPUMC_OK;
}

static enum gpumc_status adopt(struct gpumc_device *device, const struct pa_work *work,
                               const struct pa_movers *movers, struct gpumc_error *error)
{
  (void)device;
  (void)error;
  for (size_t i = 0; i < movers->count; i++)
    work->family[movers->m * work->capacity + movers->slot[i]] = movers->family[i];
  return GPUMC_OK;
}

const struct pa_steps pa_steps_cpu = {
    .found = found,
    .weigh = weigh,
    .copies = copies,
    .needs = needs,
    .places = places,
    .survey = survey,
    .families = families,
    .find_movers = find_movers,
    .adopt = adopt,
};
