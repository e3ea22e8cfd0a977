/* Walks under a tabulated weight: the work of runs in a call; and on the CPU, threads over
 * groups. */
#include "models/lattice/walk.h"

#include <omp.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/model.h"
#include "models/lattice/walk_cpu.h"

/* ---- runs, for both devices ---- */

struct lattice_walk_canonical lattice_walk_canonical_of(const struct gpumc_model *model,
                                                        const struct gpumc_target *target, size_t m,
                                                        size_t energy, size_t magnetization)
{
  double coefficient[GPUMC_CHANNELS_MAXIMUM];
  if (target->control == NULL)
    return (struct lattice_walk_canonical){0, 0};
  model->ops->coefficients(model, target->control + m * model->ops->n_controls, coefficient);
  return (struct lattice_walk_canonical){coefficient[energy] * model->quantum[energy],
                                         coefficient[magnetization] *
                                             model->quantum[magnetization]};
}

uint32_t
lattice_walk_runs(const struct gpumc_weight_table *table, size_t runs, struct lattice_walk_run *run)
{
  uint32_t active = 0;
  for (uint32_t m = 0; m < runs; m++) {
    if (table->steps[m] == 0)
      continue;
    run[active] = (struct lattice_walk_run){
        .lowest = table->lowest[m],
        .time = table->time[m],
        .number = m,
        .steps = table->steps[m],
        .parts = table->run_parts != NULL ? table->run_parts[m] : (uint32_t)table->parts,
    };
    for (size_t side = 0; side < 2 && table->end != NULL; side++)
      run[active].end[side] = (uint32_t)table->end[2 * m + side];
    active++;
  }
  return active;
}

/* ---- groups, on the CPU ---- */

enum {
  LANES = GPUMC_WALK_GROUP,
  /* Steps of a part of a call: keeps visits of a group by one thread below 2^32. */
  STEPS_OF_A_PART = 1 << 24
};

/* A run, and the steps that it makes in the call. */
struct job {
  size_t run;
  uint32_t steps;
};

/* Makes `steps` steps, or as many as are left, of the first `jobs` jobs, of which `done` are
 * done. */
static void walk_groups(const struct gpumc_ensemble *ensemble,
                        const struct gpumc_weight_table *table, lattice_walk_body *body,
                        const void *call, const struct job *jobs, size_t n_jobs, uint32_t done,
                        uint32_t steps)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t run_groups = (ensemble->plan.capacity + LANES - 1) / LANES,
               groups = n_jobs * run_groups;
  const int threads = groups < (size_t)storage->threads ? (int)groups : storage->threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (size_t i = 0; i < groups; i++) {
    const struct job *job = &jobs[i / run_groups];
    struct lattice_walk_group group = {.run = job->run, .first = i % run_groups * LANES};
    const size_t size = ensemble->size[group.run];
    group.time = table->time[group.run] + done;
    group.steps = job->steps - done < steps ? job->steps - done : steps;
    group.number = gpumc_plan_replica(&ensemble->plan, group.first) / LANES;
    group.count = size > group.first ? size - group.first : 0;
    group.count = group.count < LANES ? group.count : LANES;
    if (group.count > 0)
      body(call, (size_t)omp_get_thread_num(), &group);
  }
}

static int longer_first(const void *left, const void *right)
{
  const struct job *a = left, *b = right;
  if (a->steps != b->steps)
    return a->steps > b->steps ? -1 : 1;
  return a->run < b->run ? -1 : a->run > b->run;
}

/* The longest runs first, so that all threads have short ones at the end. */
enum gpumc_status lattice_walk_cpu(const struct gpumc_ensemble *ensemble,
                                   const struct gpumc_weight_table *table, lattice_walk_body *body,
                                   const void *call, struct gpumc_error *error)
{
  struct job *job;
  size_t jobs = ensemble->runs;
  GPUMC_TRY(gpumc_allocate_array(&job, jobs, "runs of a walk", error));
  for (size_t m = 0; m < jobs; m++)
    job[m] = (struct job){m, table->steps[m]};
  qsort(job, jobs, sizeof *job, longer_first);
  const uint32_t most = jobs > 0 ? job[0].steps : 0;
  uint32_t steps;
  for (uint32_t done = 0; done < most; done += steps) {
    steps = most - done < STEPS_OF_A_PART ? most - done : STEPS_OF_A_PART;
    while (job[jobs - 1].steps <= done)
      jobs--;
    walk_groups(ensemble, table, body, call, job, jobs, done, steps);
  }
  free(job);
  return GPUMC_OK;
}

size_t lattice_walk_cpu_bytes(size_t runs)
{
  return runs * sizeof(struct job);
}

void lattice_walk_flush(const struct gpumc_ensemble *ensemble,
                        const struct gpumc_weight_table *table,
                        const struct lattice_walk_group *group, uint32_t *visits)
{
  const size_t part = gpumc_walk_part(
      group->number * LANES, gpumc_plan_size(&ensemble->plan, ensemble->size[group->run]),
      table->run_parts != NULL ? table->run_parts[group->run] : table->parts);
  uint64_t *to = table->visits + (group->run * table->parts + part) * table->levels;
  for (size_t l = 0; l < table->levels; l++) {
    if (visits[l] == 0)
      continue;
#pragma omp atomic
    to[l] += visits[l];
    visits[l] = 0;
  }
}
