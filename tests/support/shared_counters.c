/* Two threads add to counters that threads share; built with the thread sanitizer, which then says
 * whether they do so atomically, even if they never run at once: tests/unit/test_shared_counters.py
 */
#include <pthread.h>
#include <stdio.h>

#include "core/simulation/steps.h"
#include "models/lattice/walk_cpu.h"

enum { LEVELS = 4, TIMES = 1000 };

static uint64_t accepted[1], proposed[1], visits[LEVELS];
static uint32_t size[1] = {1};

static void *add(void *unused)
{
  const struct gpumc_ensemble ensemble = {
      .size = size, .plan = {.capacity = 1}, .accepted = accepted, .proposed = proposed};
  const struct gpumc_weight_table table = {.visits = visits, .levels = LEVELS, .parts = 1};
  const struct lattice_walk_group group = {.count = 1};
  for (int i = 0; i < TIMES; i++) {
    uint32_t own[LEVELS] = {1, 2, 3, 4};
    gpumc_steps_count(&ensemble, 0, 1);
    gpumc_steps_propose(&ensemble, 0, 2);
    lattice_walk_flush(&ensemble, &table, &group, own);
  }
  return unused;
}

int main(void)
{
  pthread_t thread[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread[i], NULL, add, NULL) != 0)
      return 1;
  for (int i = 0; i < 2; i++)
    pthread_join(thread[i], NULL);
  printf("%d %d %d\n", (int)accepted[0], (int)proposed[0], (int)visits[LEVELS - 1]);
  return 0;
}
