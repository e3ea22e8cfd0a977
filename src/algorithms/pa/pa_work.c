/* What the steps of a device get of a population. */
#include "algorithms/pa/pa_parts.h"

struct pa_work pa_population_work(const struct pa_population *population, size_t runs)
{
  const struct pa_population_plan *plan = &population->plan;
  return (struct pa_work){
      .runs = runs,
      .capacity = plan->capacity,
      .founders = plan->founders,
      .blocks = plan->blocks,
      .first = plan->first,
      .whole = pa_plan_whole(plan),
      .divided = population->parts != NULL,
      .size = population->size,
      .tracked = population->channel[plan->tracked],
      .conjugate = population->channel[plan->conjugate],
      .falls = plan->falls,
      .weight = population->weight,
      .parent = population->parent,
      .copies = population->copies,
      .family = population->family,
      .resampled = (struct pa_resampled *)(void *)population->record,
      .tallied = (struct pa_tallied *)(void *)(population->record + population->layout.tallied),
      .scan = population->scan,
      .list = population->parts != NULL ? population->parts->list : NULL,
  };
}
