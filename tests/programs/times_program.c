/* Seconds that messages between processes take, by the operations of core/processes:
 *
 *   mpirun -n P times_program ROUNDS
 *
 * prints, for `ROUNDS` calls of each in a row, the microseconds of one and, where it is long, the
 * bytes a second. tools/scaling.json has such numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/processes/launcher.h"

enum { LONG = 1 << 24 };

struct bench {
  const struct gpumc_processes *all;
  size_t size, rank, rounds;
  unsigned char *out, *in; /* [LONG] */
  size_t *n_out, *n_in;    /* [size] */
};

typedef void operation(const struct bench *bench, size_t bytes);

static void sum(const struct bench *bench, size_t bytes)
{
  gpumc_processes_sum(bench->all, (uint64_t *)(void *)bench->out, bytes / sizeof(uint64_t));
}

static void largest(const struct bench *bench, size_t bytes)
{
  gpumc_processes_largest(bench->all, (uint64_t *)(void *)bench->out, bytes / sizeof(uint64_t));
}

static void gather(const struct bench *bench, size_t bytes)
{
  for (size_t p = 0; p < bench->size; p++)
    bench->n_out[p] = bytes;
  gpumc_processes_gather(bench->all, bench->out, bench->in, bench->n_out, -1);
}

/* To the next process, from the one before. */
static void pass_on(const struct bench *bench, size_t bytes)
{
  memset(bench->n_out, 0, bench->size * sizeof *bench->n_out);
  memset(bench->n_in, 0, bench->size * sizeof *bench->n_in);
  bench->n_out[(bench->rank + 1) % bench->size] = bytes;
  bench->n_in[(bench->rank + bench->size - 1) % bench->size] = bytes;
  gpumc_processes_trade(bench->all, bench->out, bench->n_out, bench->in, bench->n_in);
}

/* The fastest of ten series: other programs disturb the rest. */
static void
measure(const struct bench *bench, const char *name, operation *call, size_t bytes, size_t rounds)
{
  double best = 1e300;
  for (int repeat = 0; repeat < 10; repeat++) {
    gpumc_processes_barrier(bench->all);
    const double begin = gpumc_clock();
    for (size_t round = 0; round < rounds; round++)
      call(bench, bytes);
    const double seconds = (gpumc_clock() - begin) / (double)rounds;
    best = seconds < best ? seconds : best;
  }
  if (bench->rank == 0)
    printf("%-10s %10zu bytes %12.2f us %10.3f GB/s\n", name, bytes, 1e6 * best,
           1e-9 * (double)bytes / best);
}

static void measure_all(const struct bench *bench)
{
  measure(bench, "largest", largest, 16, bench->rounds);
  measure(bench, "sum", sum, 8, bench->rounds);
  measure(bench, "sum", sum, 2400, bench->rounds);
  measure(bench, "sum", sum, 1 << 18, bench->rounds / 20 + 1);
  measure(bench, "gather", gather, 16, bench->rounds);
  measure(bench, "pass on", pass_on, 16, bench->rounds);
  measure(bench, "pass on", pass_on, 1 << 17, bench->rounds / 20 + 1);
  measure(bench, "pass on", pass_on, LONG, 4);
}

int main(int argc, char **argv)
{
  struct gpumc_launcher launcher;
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  if (argc != 2)
    return 2;
  gpumc_launcher_find(&launcher);
  const enum gpumc_status status = gpumc_launcher_join(&launcher, &processes, &error);
  const struct gpumc_processes *all = processes != NULL ? processes : gpumc_processes_alone();
  const size_t size = (size_t)all->module.size;
  struct bench bench = {.all = all,
                        .size = size,
                        .rank = (size_t)all->module.rank,
                        .rounds = strtoul(argv[1], NULL, 10),
                        .out = calloc(LONG, 1),
                        .in = calloc(LONG, 1),
                        .n_out = calloc(size, sizeof(size_t)),
                        .n_in = calloc(size, sizeof(size_t))};
  const bool ready = status == GPUMC_OK && bench.rounds > 0 && bench.out != NULL &&
                     bench.in != NULL && bench.n_out != NULL && bench.n_in != NULL;
  if (!ready && launcher.rank == 0)
    printf("error: %s\n", status == GPUMC_OK ? "ROUNDS or memory" : gpumc_error_text(&error));
  if (ready && bench.rank == 0)
    printf("%zu processes, %s\n", size, all->module.name);
  if (ready)
    measure_all(&bench);
  gpumc_processes_close(processes);
  gpumc_error_free(&error);
  free(bench.out);
  free(bench.in);
  free(bench.n_out);
  free(bench.n_in);
  return ready ? 0 : 1;
}
