/* The arguments of a device's steps for a population. */
#include "algorithms/pa/pa_parts.h"

static size_t after(size_t *offset, size_t bytes)
{
  const size_t here = *offset;
  *offset += bytes;
  return here;
}

size_t pa_layout_resampled(const struct pa_population_plan *plan, size_t runs, size_t first,
                           struct pa_resampled_layout *layout)
{
  const size_t rows = pa_plan_processes(plan) * runs;
  layout->reference = after(&first, runs * sizeof(int64_t));
  layout->weighed = after(&first, rows * sizeof(struct pa_weighed));
  layout->copied = after(&first, rows * sizeof(struct pa_copied));
  layout->need = after(&first, runs * sizeof(struct pa_need));
  return first;
}

void pa_work_find_resampled(struct pa_work *work, uint8_t *record,
                            const struct pa_resampled_layout *layout)
{
  work->reference = (void *)(record + layout->reference);
  work->weighed = (void *)(record + layout->weighed);
  work->copied = (void *)(record + layout->copied);
  work->need = (void *)(record + layout->need);
}

struct pa_work
pa_population_work_in(const struct pa_population *population, uint8_t *record, size_t runs)
{
  const struct pa_population_plan *plan = &population->plan;
  const struct pa_layout *layout = &population->layout;
  const struct pa_parts *parts = population->parts;
  struct pa_work work = {
      .runs = runs,
      .capacity = plan->capacity,
      .founders = plan->founders,
      .blocks = plan->blocks,
      .first = plan->first,
      .whole = pa_plan_whole(plan),
      .divided = parts != NULL,
      .processes = pa_plan_processes(plan),
      .rank = plan->rank,
      .size = population->size,
      .tracked = population->channel[plan->tracked],
      .conjugate = population->channel[plan->conjugate],
      .falls = plan->falls,
      .weight = population->weight,
      .parent = population->parent,
      .copies = population->copies,
      .family = population->family,
      .reached = (void *)(record + layout->reached),
      .tallied = (void *)(record + layout->tallied),
      .n_strangers = (void *)(record + layout->strangers),
      .scan = population->scan,
      .stranger = parts != NULL ? parts->stranger : NULL,
  };
  pa_work_find_resampled(&work, record, &layout->resampled);
  return work;
}

struct pa_work pa_population_work(const struct pa_population *population, size_t runs)
{
  return pa_population_work_in(population, population->record, runs);
}
