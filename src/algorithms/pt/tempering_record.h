/* Where sums and counters of parallel tempering stand in the record that is published: the same on
 * every device. */
#ifndef GPUMC_CORE_TEMPERING_RECORD_H
#define GPUMC_CORE_TEMPERING_RECORD_H

#include "algorithms/pt/tempering.h"

/* Bytes from the beginning of the record; arrays as in struct gpumc_tempering_outcome. `lowest` is
 * the last, because it does not begin with 0. */
struct gpumc_tempering_layout {
  size_t sums, accepted, labelled, from_hottest, round_trips, lowest, bytes;
};

/* All bytes of a lowest energy before the first is found: above any energy. */
enum { GPUMC_LOWEST_BYTE = 0x7f };

static inline size_t gpumc_tempering_places(const struct gpumc_tempering_plan *plan)
{
  return plan->copies * plan->temperatures * plan->samples;
}

static inline struct gpumc_tempering_layout
gpumc_tempering_layout_make(const struct gpumc_tempering_plan *plan)
{
  const size_t of_temperatures = plan->temperatures * sizeof(uint64_t);
  /* An even number of trips keeps the rest aligned. */
  const size_t trips = (plan->copies * plan->samples + 1) / 2 * 2 * sizeof(uint32_t);
  struct gpumc_tempering_layout layout = {.sums = 0};
  layout.accepted = plan->n_terms * plan->temperatures * plan->samples * sizeof(double);
  layout.labelled = layout.accepted + of_temperatures;
  layout.from_hottest = layout.labelled + of_temperatures;
  layout.round_trips = layout.from_hottest + of_temperatures;
  layout.lowest = layout.round_trips + trips;
  layout.bytes = layout.lowest + plan->samples * sizeof(int64_t);
  return layout;
}

#endif
