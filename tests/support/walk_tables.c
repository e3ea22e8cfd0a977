/* Weights and counts of walks under a tabulated weight. */
#include "support/walk_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"

/* Makes weights that pull towards the ends, differ between runs, and differ from level to level. */
static void make_weights(struct walk_tables *tables, bool closed)
{
  const size_t levels = tables->table.levels;
  for (size_t m = 0; m < WALK_RUNS; m++) {
    int64_t *weight = tables->log_weight + m * levels;
    for (size_t l = 0; l < levels; l++) {
      const double x = ((double)l - (double)m) / (double)(levels - 1) - 0.5;
      weight[l] =
          (int64_t)((m == 0 ? 20 : 9) * x * x * 0x1p32) + (int64_t)(l * 7919 % 1000) * 1000000;
    }
    if (closed)
      weight[levels - 1] = GPUMC_WEIGHT_NONE;
    tables->end[2 * m] = m + (levels - 1) * 2 / 5;
    tables->end[2 * m + 1] = m + (levels - 1) * 3 / 5;
  }
}

void walk_tables_open(struct walk_tables *tables, struct gpumc_ensemble *ensemble, size_t channel,
                      struct gpumc_grid bins, size_t parts, uint32_t steps, double beta,
                      bool closed)
{
  struct gpumc_error error = {0};
  struct gpumc_weight_table *table = &tables->table;
  const size_t replicas = WALK_RUNS * ensemble->plan.capacity;
  memset(tables, 0, sizeof *tables);
  tables->ensemble = ensemble;
  tables->steps = steps;
  tables->canonical = beta > 0;
  for (size_t m = 0; m < WALK_RUNS; m++) {
    tables->lowest[m] = bins.lowest - (int64_t)m * bins.spacing;
    tables->control[m * WALK_CONTROLS] = beta * (double)(m + 1);
    tables->control[m * WALK_CONTROLS + 1] = 0.1;
  }
  *table = (struct gpumc_weight_table){.channel = channel,
                                       .lowest = tables->lowest,
                                       .spacing = bins.spacing,
                                       .levels = bins.levels + WALK_RUNS - 1,
                                       .end = tables->end,
                                       .parts = parts};
  tables->counts = WALK_RUNS * parts * table->levels;
  tables->log_weight = calloc(WALK_RUNS * table->levels, sizeof *tables->log_weight);
  tables->visits = calloc(tables->counts, sizeof *tables->visits);
  tables->passages = calloc(replicas, sizeof *tables->passages);
  assert_true(tables->log_weight != NULL && tables->visits != NULL && tables->passages != NULL);
  assert_ok(gpumc_device_array(ensemble->device, &table->visits, tables->counts, "visits", &error),
            &error);
  assert_ok(gpumc_device_array(ensemble->device, &table->passages, replicas, "passages", &error),
            &error);
  make_weights(tables, closed);
  table->log_weight = tables->log_weight;
}

void walk_tables_close(struct walk_tables *tables)
{
  struct gpumc_device *device = tables->ensemble->device;
  device->ops->release(device, tables->table.visits);
  device->ops->release(device, tables->table.passages);
  free(tables->log_weight);
  free(tables->visits);
  free(tables->passages);
}

uint64_t walk_tables_time(const struct walk_tables *tables, uint32_t walk, size_t m)
{
  const uint64_t begin = m == 0 ? 0 : ((uint64_t)1 << 32) - tables->steps - tables->steps / 2;
  return begin + walk * tables->steps;
}

void walk_tables_walk(const struct walk_tables *tables, uint32_t walk)
{
  struct gpumc_error error = {0};
  struct gpumc_weight_table table = tables->table;
  uint64_t time[WALK_RUNS];
  uint32_t steps[WALK_RUNS];
  for (size_t m = 0; m < WALK_RUNS; m++) {
    time[m] = walk_tables_time(tables, walk, m);
    steps[m] = tables->steps;
  }
  table.time = time;
  table.steps = steps;
  const struct gpumc_target target = {.kind = GPUMC_TABULATED,
                                      .control = tables->canonical ? tables->control : NULL,
                                      .table = &table};
  assert_ok(tables->ensemble->ops->walk(tables->ensemble, &target, &error), &error);
}

void walk_tables_arrive(struct walk_tables *tables, size_t m, size_t r, size_t level)
{
  const struct gpumc_weight_table *table = &tables->table;
  const size_t replicas = tables->ensemble->plan.capacity;
  const size_t part = r / 32 * table->parts / ((replicas + 31) / 32);
  uint32_t *passages = &tables->passages[m * replicas + r];
  assert_true(level < table->levels);
  tables->visits[(m * table->parts + part) * table->levels + level]++;
  for (uint32_t side = 0; side < 2; side++)
    if (level == tables->end[2 * m + side])
      *passages = gpumc_walk_arrive(*passages, side);
}

size_t walk_tables_different(const struct walk_tables *tables)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = tables->ensemble->device;
  const size_t replicas = WALK_RUNS * tables->ensemble->plan.capacity;
  uint64_t *visits = calloc(tables->counts, sizeof *visits);
  uint32_t *passages = calloc(replicas, sizeof *passages);
  size_t different = 0;
  assert_true(visits != NULL && passages != NULL);
  assert_ok(device->ops->copy_to_host(device, visits, tables->table.visits,
                                      tables->counts * sizeof *visits, &error),
            &error);
  assert_ok(device->ops->copy_to_host(device, passages, tables->table.passages,
                                      replicas * sizeof *passages, &error),
            &error);
  for (size_t i = 0; i < tables->counts; i++)
    different += visits[i] != tables->visits[i];
  for (size_t i = 0; i < replicas; i++)
    different += passages[i] != tables->passages[i];
  free(visits);
  free(passages);
  return different;
}
