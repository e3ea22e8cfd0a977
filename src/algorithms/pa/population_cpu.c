/* The population operations on the CPU: their memory, founding, and outcomes. */
#include "algorithms/pa/population_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

static size_t findings_count(const struct gpumc_population_plan *plan)
{
  return (1 + GPUMC_OUTCOME_SLOTS) * plan->runs;
}

static size_t own_bytes(const struct gpumc_population_plan *plan)
{
  size_t sums = plan->n_channels * plan->blocks * sizeof(struct gpumc_moment_sums);
  return findings_count(plan) *
         (sizeof(struct gpumc_population_findings) + plan->blocks * sizeof(uint64_t) + sums);
}

/* What there is, is device memory. */
static size_t host_bytes(const struct gpumc_population_plan *plan)
{
  (void)plan;
  return 0;
}

static void destroy(struct gpumc_population *population)
{
  struct gpumc_population_cpu *own = gpumc_population_cpu_of(population);
  if (own == NULL)
    return;
  free(own->findings);
  free(own->block_weights);
  free(own->sums);
  free(own->partial);
  free(own);
  population->own = NULL;
}

static void
point_findings(const struct gpumc_population_plan *plan, struct gpumc_population_cpu *own)
{
  for (size_t i = 0; i < findings_count(plan); i++) {
    struct gpumc_population_findings *findings = &own->findings[i];
    findings->block_weight = own->block_weights + i * plan->blocks;
    findings->found.block_weight = findings->block_weight;
    for (size_t c = 0; c < plan->n_channels; c++) {
      findings->sums[c] = own->sums + (i * plan->n_channels + c) * plan->blocks;
      findings->found.sums[c] = findings->sums[c];
    }
  }
}

static enum gpumc_status create(struct gpumc_population *population, struct gpumc_error *error)
{
  const struct gpumc_population_plan *plan = &population->plan;
  const size_t findings = findings_count(plan), blocks = plan->blocks;
  struct gpumc_population_cpu *own = NULL;
  enum gpumc_status status = gpumc_allocate_array(&own, 1, "a population", error);
  population->own = own;
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&own->findings, findings, "outcomes", error);
  if (status == GPUMC_OK)
    status =
        gpumc_allocate_array(&own->block_weights, findings * blocks, "weights by block", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&own->sums, findings * plan->n_channels * blocks, "sums by block",
                                  error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&own->partial, (size_t)population->device->threads * blocks,
                                  "sums by block", error);
  if (status == GPUMC_OK)
    point_findings(plan, own);
  else
    destroy(population);
  return status;
}

static enum gpumc_status found(struct gpumc_population *population, struct gpumc_error *error)
{
  (void)error;
  const struct gpumc_population_plan *plan = &population->plan;
  for (size_t m = 0; m < population->runs; m++) {
    const struct gpumc_population_run run = gpumc_population_run(population, m);
    struct gpumc_population_findings *findings = &gpumc_population_cpu_of(population)->findings[m];
    for (size_t r = 0; r < plan->founders; r++)
      run.family[r] = (uint32_t)r;
    findings->found.before = findings->found.size = plan->founders;
    findings->found.reference = 0;
    findings->found.total = 0;
    findings->found.overlap = 0;
    memset(findings->block_weight, 0, plan->blocks * sizeof *findings->block_weight);
  }
  return GPUMC_OK;
}

static void copy_findings(const struct gpumc_population_plan *plan,
                          const struct gpumc_population_findings *from,
                          struct gpumc_population_findings *to)
{
  struct gpumc_population_outcome outcome = from->found;
  memcpy(to->block_weight, from->block_weight, plan->blocks * sizeof *to->block_weight);
  outcome.block_weight = to->block_weight;
  for (size_t c = 0; c < plan->n_channels; c++) {
    memcpy(to->sums[c], from->sums[c], plan->blocks * sizeof *to->sums[c]);
    outcome.sums[c] = to->sums[c];
  }
  to->found = outcome;
}

static enum gpumc_status
publish(struct gpumc_population *population, size_t slot, struct gpumc_error *error)
{
  (void)error;
  struct gpumc_population_findings *present = gpumc_population_cpu_of(population)->findings;
  struct gpumc_population_findings *published = present + (1 + slot) * population->plan.runs;
  for (size_t m = 0; m < population->runs; m++)
    copy_findings(&population->plan, &present[m], &published[m]);
  return GPUMC_OK;
}

static enum gpumc_status collect(struct gpumc_population *population, size_t slot,
                                 struct gpumc_population_outcome *outcome,
                                 struct gpumc_error *error)
{
  (void)error;
  const struct gpumc_population_findings *published =
      gpumc_population_cpu_of(population)->findings + (1 + slot) * population->plan.runs;
  for (size_t m = 0; m < population->runs; m++)
    outcome[m] = published[m].found;
  return GPUMC_OK;
}

const struct gpumc_population_ops gpumc_population_cpu = {
    .own_bytes = own_bytes,
    .host_bytes = host_bytes,
    .create = create,
    .destroy = destroy,
    .found = found,
    .tally = gpumc_population_cpu_tally,
    .trial = gpumc_population_cpu_trial,
    .resample = gpumc_population_cpu_resample,
    .publish = publish,
    .collect = collect,
};
