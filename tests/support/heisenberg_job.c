#include "support/heisenberg_job.h"

struct heisenberg_job heisenberg_job_of(const struct heisenberg_settings *lattice, size_t number,
                                        int components, const char *variant, uint32_t move)
{
  struct heisenberg_job job = {.settings = *lattice,
                               .variant = variant,
                               .move = move,
                               .rounds = (number + move) % 2 == 0 ? 10 : 7,
                               .in_field = (number + move) % 3 == 1,
                               .samples = 1};
  job.settings.components = components;
  job.settings.coupling = number % 4 == 1 ? -0.7 : 1.0;
  job.settings.field = job.in_field || number % 3 == 0 ? 0.0 : 0.25;
  return job;
}

void heisenberg_job_quench(struct heisenberg_job *job, size_t number, size_t replicas)
{
  job->settings.coupling = 1.0;
  job->settings.disorder = (struct lattice_disorder_settings){
      .couplings = (number + job->move) % 2 == 0 ? LATTICE_BIMODAL : LATTICE_GAUSSIAN,
      .positive = 0.5,
      .seed = 11,
      .first_sample = number};
  job->samples = number % 4 < 2 ? replicas : 1;
}

struct gpumc_ensemble_plan
heisenberg_job_plan(const struct heisenberg_job *job, size_t runs, size_t replicas)
{
  struct gpumc_ensemble_plan plan = {
      .runs = runs, .capacity = replicas, .samples = job->samples, .move = job->move};
  if (job->in_field) {
    plan.moved = HEISENBERG_FIELD;
    plan.fixes = true;
    plan.fixed[HEISENBERG_BETA] = HEISENBERG_JOB_BETA;
  }
  return plan;
}
