/* Processes that a launcher has started, for tests/cli/test_processes.py:
 *
 *   processes_program operations MESSAGE_BYTES   every operation, compared with what it must give
 *   processes_program agree RANK STATUS...       those processes fail with that status
 *   processes_program same RANK                  that process has another text
 *   processes_program abandon RANK               that process ends all
 *   processes_program step RANK                  that process is at another operation
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/processes/launcher.h"

enum { COUNT = 1000, ROUNDS = 3, SECONDS_TO_SPEAK = 4 };

static const struct gpumc_processes *all;
static int rank, size;

static void require(bool good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "process %d of %d: wrong: %s\n", rank, size, what);
  exit(1);
}

static uint64_t value(int of, size_t i)
{
  return (uint64_t)(of + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static void try_reductions(void)
{
  uint64_t sums[COUNT], most[COUNT], sum, largest;
  for (size_t i = 0; i < COUNT; i++)
    sums[i] = most[i] = value(rank, i);
  gpumc_processes_sum(all, sums, COUNT);
  gpumc_processes_largest(all, most, COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    sum = largest = 0;
    for (int p = 0; p < size; p++) {
      sum += value(p, i);
      largest = value(p, i) > largest ? value(p, i) : largest;
    }
    require(sums[i] == sum, "sum");
    require(most[i] == largest, "largest");
  }
}

static void try_broadcast(void)
{
  for (int from = 0; from < size; from++) {
    uint64_t values[COUNT] = {0};
    for (size_t i = 0; i < COUNT && rank == from; i++)
      values[i] = value(from, i);
    gpumc_processes_broadcast(all, values, sizeof values, from);
    for (size_t i = 0; i < COUNT; i++)
      require(values[i] == value(from, i), "broadcast");
  }
}

/* Process p has 5 p bytes of the value p + 1: none at all of the root. */
static void try_gather(void)
{
  char *own = malloc((size_t)(5 * size)), *bytes = malloc((size_t)(5 * size * size));
  size_t *counts = malloc((size_t)size * sizeof *counts), total = 0;
  require(own != NULL && bytes != NULL && counts != NULL, "memory");
  memset(own, rank + 1, (size_t)(5 * size));
  for (int p = 0; p < size; p++)
    total += counts[p] = (size_t)(5 * p);
  for (int to = -1; to < size; to++) {
    memset(bytes, 0, total);
    gpumc_processes_gather(all, own, bytes, counts, to);
    size_t place = 0;
    for (int p = 0; p < size; p++)
      for (size_t i = 0; i < counts[p]; i++, place++)
        require(bytes[place] == (to < 0 || rank == to ? p + 1 : 0), "gather");
  }
  free(own);
  free(bytes);
  free(counts);
}

/* From p to q go (p + 2 q) % 4 messages of 9 bytes. */
static size_t traded(int from, int to)
{
  return (size_t)((from + 2 * to) % 4) * 9;
}

static void try_trade(void)
{
  char *out = calloc((size_t)size, 64), *in = calloc((size_t)size, 64);
  size_t *n_out = malloc((size_t)size * sizeof *n_out), *n_in = malloc((size_t)size * sizeof *n_in);
  require(out != NULL && in != NULL && n_out != NULL && n_in != NULL, "memory");
  size_t place = 0;
  for (int p = 0; p < size; p++) {
    n_out[p] = traded(rank, p);
    n_in[p] = traded(p, rank);
    memset(out + place, 7 * rank + p, n_out[p]);
    place += n_out[p];
  }
  gpumc_processes_trade(all, out, n_out, in, n_in);
  place = 0;
  for (int p = 0; p < size; p++)
    for (size_t i = 0; i < n_in[p]; i++, place++)
      require(in[place] == (char)(7 * p + rank), "trade");
  free(out);
  free(in);
  free(n_out);
  free(n_in);
}

/* Around the ring: every process adds to what the one before it sends. */
static void try_ring(void)
{
  uint64_t token[COUNT];
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (size_t i = 0; i < COUNT; i++)
    token[i] = i;
  if (size == 1)
    return;
  if (rank == 0)
    gpumc_processes_send(all, next, token, sizeof token);
  gpumc_processes_receive(all, before, token, sizeof token);
  for (size_t i = 0; i < COUNT; i++) {
    require(token[i] == i + (uint64_t)(rank > 0 ? rank - 1 : size - 1), "ring");
    token[i]++;
  }
  if (rank > 0)
    gpumc_processes_send(all, next, token, sizeof token);
}

static void try_all(void)
{
  for (int round = 0; round < ROUNDS; round++) {
    try_reductions();
    try_broadcast();
    try_gather();
    try_trade();
    try_ring();
    gpumc_processes_barrier(all);
  }
  require(all->module.local_size == size, "processes of this host");
  require(all->module.local_rank >= 0 && all->module.local_rank < size, "rank on this host");
}

/* argument[2 i], argument[2 i + 1]: a process and its status. */
static enum gpumc_status fail(char **argument, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (; argument[0] != NULL && argument[1] != NULL; argument += 2)
    if (atoi(argument[0]) == rank)
      status = gpumc_error_set(error, (enum gpumc_status)atoi(argument[1]), "it was told to");
  return gpumc_processes_agree(all, status, error);
}

static enum gpumc_status do_command(const char *command, char **argument, struct gpumc_error *error)
{
  const bool chosen = atoi(argument[0]) == rank;
  if (strcmp(command, "operations") == 0)
    try_all();
  else if (strcmp(command, "agree") == 0)
    return fail(argument, error);
  else if (strcmp(command, "same") == 0)
    return gpumc_processes_same(all, "the text",
                                chosen ? "the same beginning of a text, and here: B"
                                       : "the same beginning of a text, and here: A",
                                error);
  else if (strcmp(command, "abandon") == 0 && chosen) {
    (void)gpumc_error_set(error, GPUMC_DEVICE, "the device is gone");
    gpumc_processes_abandon(all, error);
  } else if (strcmp(command, "step") == 0 && chosen)
    gpumc_processes_barrier(all);
  else
    gpumc_processes_sum(all, &(uint64_t){0}, 1);
  return GPUMC_OK;
}

int main(int argc, char **argv)
{
  struct gpumc_launcher launcher;
  struct gpumc_module_file file[GPUMC_MODULES];
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  if (argc < 3)
    return 2;
  gpumc_launcher_find(&launcher);
  gpumc_modules_find(file);
  const bool operations = strcmp(argv[1], "operations") == 0;
  enum gpumc_status status = GPUMC_OK;
  if (operations && launcher.size > 1)
    status = gpumc_processes_open(file[strcmp(launcher.name, "MPICH") == 0].path,
                                  (size_t)atol(argv[2]), &processes, &error);
  else
    status = gpumc_launcher_join(&launcher, &processes, &error);
  all = processes != NULL ? processes : gpumc_processes_alone();
  rank = all->module.rank;
  size = all->module.size;
  if (status == GPUMC_OK)
    status = do_command(argv[1], argv + 2, &error);
  if (launcher.rank == 0 && status != GPUMC_OK)
    printf("error: %s\n", gpumc_error_text(&error));
  for (int i = 0; i < SECONDS_TO_SPEAK && launcher.rank > 0 && status != GPUMC_OK; i++)
    gpumc_processes_give_way(); /* a launcher that sees an end with an error ends the first, too */
  if (rank == 0 && status == GPUMC_OK)
    printf("%d processes, %s: good\n", size, all->module.name);
  gpumc_processes_close(processes);
  gpumc_error_free(&error);
  return (int)status;
}
