/* The steps of parallel tempering that each device performs in its own way: pt_cpu.c on the CPU,
 * pt_gpu.cu on CUDA; and the record in which both sum up. */
#ifndef GPUMC_ALGORITHMS_PT_DEVICE_H
#define GPUMC_ALGORITHMS_PT_DEVICE_H

#include "algorithms/pt/pt_rules.h"
#include "algorithms/pt/pt_tempering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arguments as for the functions of pt_tempering.h. */
struct pt_steps {
  GPUMC_MUST_CHECK enum gpumc_status (*accumulate)(const struct pt_tempering *tempering,
                                                   bool histogram, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*exchange)(const struct pt_tempering *tempering,
                                                 struct gpumc_random random, uint32_t round,
                                                 struct gpumc_error *error);
};

extern const struct pt_steps pt_steps_cpu, pt_steps_gpu;

/* Offsets of sums and counters in the record that is published: bytes from its beginning, arrays as
 * in struct pt_outcome. `lowest` comes last, because it does not begin with 0. */
struct pt_layout {
  size_t sums, accepted, labelled, from_hottest, round_trips, clusters, lowest, bytes;
};

/* The value of all bytes of a lowest value before the first is found: above any value. */
enum { PT_LOWEST_BYTE = 0x7f };

static inline size_t pt_tempering_places(const struct pt_tempering_plan *plan)
{
  return plan->copies * plan->temperatures * plan->samples;
}

/* Returns at how many temperatures exchanges of clusters are counted: all, if there are any. */
static inline size_t pt_cluster_counts(const struct pt_tempering_plan *plan)
{
  return plan->clusters ? plan->temperatures : 0;
}

static inline struct pt_layout pt_layout_make(const struct pt_tempering_plan *plan)
{
  const size_t of_temperatures = plan->temperatures * sizeof(uint64_t);
  /* An even number of trips keeps the rest aligned. */
  const size_t trips = (plan->copies * plan->samples + 1) / 2 * 2 * sizeof(uint32_t);
  struct pt_layout layout;
  layout.sums = 0;
  layout.accepted = plan->n_terms * plan->temperatures * plan->samples * sizeof(double);
  layout.labelled = layout.accepted + of_temperatures;
  layout.from_hottest = layout.labelled + of_temperatures;
  layout.round_trips = layout.from_hottest + of_temperatures;
  layout.clusters = layout.round_trips + trips;
  layout.lowest = layout.clusters + pt_cluster_counts(plan) * sizeof(struct gpumc_cluster_counts);
  layout.bytes = layout.lowest + plan->samples * sizeof(int64_t);
  return layout;
}

#ifdef __cplusplus
}
#endif

#endif
