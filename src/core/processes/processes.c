/* Messages between processes: the module's operations with a clock around them, and what is built
 * from them. */
#include "core/processes/processes.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/module_note.h"
#include "core/base/shared_object.h"
#include "core/base/checksum.h"
#include "core/base/machine.h"
#include "core/base/memory.h"

struct gpumc_processes_times {
  size_t stage;
  double seconds[GPUMC_STAGES_MAXIMUM];
};

/* ---- a single process ---- */

static void keep(void *own, uint64_t *values, size_t count)
{
  (void)own, (void)values, (void)count;
}

static void keep_bytes(void *own, void *bytes, size_t count, int from)
{
  (void)own, (void)bytes, (void)count, (void)from;
}

static void copy(void *to, const void *from, size_t count)
{
  if (count > 0 && to != from)
    memcpy(to, from, count);
}

static void gather_own(void *own, const void *bytes, void *all, const size_t *counts, int to)
{
  (void)own, (void)to;
  copy(all, bytes, counts[0]);
}

static void trade_own(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in)
{
  (void)own, (void)n_in;
  copy(in, out, n_out[0]);
}

static void do_nothing(void *own)
{
  (void)own;
}

/* The caller has the error and handles it. */
static void abandon_nobody(void *own, int code, const char *message)
{
  (void)own, (void)code, (void)message;
}

static const struct gpumc_processes_ops alone_ops = {.sum = keep,
                                                     .largest = keep,
                                                     .broadcast = keep_bytes,
                                                     .gather = gather_own,
                                                     .trade = trade_own,
                                                     .barrier = do_nothing,
                                                     .abandon = abandon_nobody,
                                                     .close = do_nothing};

const struct gpumc_processes *gpumc_processes_alone(void)
{
  static const struct gpumc_processes alone = {
      .module = {.ops = &alone_ops, .size = 1, .local_size = 1}};
  return &alone;
}

/* ---- life ---- */

/* MPI's counts have 31 bits; longer messages are cut. */
static const size_t longest_message = (size_t)1 << 30;

/* The MPI library loads parts of its own, which expect its symbols in the program (RTLD_GLOBAL); it
 * stays loaded. */
static enum gpumc_status
load(const char *path, size_t message_bytes, struct gpumc_module *module, struct gpumc_error *error)
{
  gpumc_module_open *open = NULL;
  if (gpumc_module_check(path, GPUMC_NOTE_MPI, GPUMC_MODULE_INTERFACE, error) != GPUMC_OK) {
    gpumc_error_prefix(error, "cannot load MPI");
    return GPUMC_FAILURE;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "cannot load MPI: %s", dlerror());
  void *symbol = dlsym(library, GPUMC_MODULE_OPEN);
  memcpy(&open, &symbol, sizeof open);
  module->interface = GPUMC_MODULE_INTERFACE;
  if (open == NULL || open(module, message_bytes > 0 ? message_bytes : longest_message) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s belongs to another version of gpumc", path);
  return GPUMC_OK;
}

enum gpumc_status gpumc_processes_open(const char *path, size_t message_bytes,
                                       struct gpumc_processes **processes,
                                       struct gpumc_error *error)
{
  struct gpumc_processes *opened = NULL;
  enum gpumc_status status;
  *processes = NULL;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&opened, 1, "processes", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&opened->times, 1, "processes", error));
  GPUMC_TRY_OUT(status, load(path, message_bytes, &opened->module, error));
  opened->checks = getenv("GPUMC_PROCESSES_CHECK") != NULL;
  *processes = opened;
  return GPUMC_OK;
out:
  if (opened != NULL)
    free(opened->times);
  free(opened);
  return status;
}

void gpumc_processes_close(struct gpumc_processes *processes)
{
  if (processes == NULL)
    return;
  gpumc_processes_barrier(processes);
  processes->module.ops->close(processes->module.own);
  free(processes->times);
  free(processes);
}

/* ---- operations ---- */

enum operation { SUM, LARGEST, BROADCAST, GATHER, TRADE, BARRIER };
static const char *const operation_names[] = {"sum",    "largest", "broadcast",
                                              "gather", "trade",   "barrier"};

static uint64_t hash(const char *operation, const void *bytes, size_t count)
{
  struct gpumc_checksum checksum;
  gpumc_checksum_begin(&checksum);
  gpumc_checksum_add(&checksum, operation, strlen(operation));
  gpumc_checksum_add(&checksum, bytes, count);
  return gpumc_checksum_value(&checksum);
}

/* All hashes agree if the largest equals the smallest, which is found as the largest complement. */
void gpumc_processes_check(const struct gpumc_processes *processes, const char *operation,
                           const void *counts, size_t bytes)
{
  char text[96];
  if (!processes->checks)
    return;
  const uint64_t mine = hash(operation, counts, bytes);
  uint64_t words[] = {mine, ~mine};
  processes->module.ops->largest(processes->module.own, words, 2);
  if (words[0] == ~words[1])
    return;
  snprintf(text, sizeof text, "processes are out of step, this one at '%s'", operation);
  processes->module.ops->abandon(processes->module.own, GPUMC_FAILURE, text);
}

static void check(const struct gpumc_processes *processes, enum operation operation,
                  const void *counts, size_t bytes)
{
  gpumc_processes_check(processes, operation_names[operation], counts, bytes);
}

static double begin(const struct gpumc_processes *processes)
{
  return processes->times != NULL ? gpumc_clock() : 0;
}

static void end(const struct gpumc_processes *processes, double begun)
{
  if (processes->times != NULL)
    processes->times->seconds[processes->times->stage] += gpumc_clock() - begun;
}

void gpumc_processes_sum(const struct gpumc_processes *processes, uint64_t *values, size_t count)
{
  const double begun = begin(processes);
  check(processes, SUM, &count, sizeof count);
  processes->module.ops->sum(processes->module.own, values, count);
  end(processes, begun);
}

void gpumc_processes_largest(const struct gpumc_processes *processes, uint64_t *values,
                             size_t count)
{
  const double begun = begin(processes);
  check(processes, LARGEST, &count, sizeof count);
  processes->module.ops->largest(processes->module.own, values, count);
  end(processes, begun);
}

void gpumc_processes_broadcast(const struct gpumc_processes *processes, void *bytes, size_t count,
                               int from)
{
  const double begun = begin(processes);
  const size_t counts[] = {count, (size_t)from};
  check(processes, BROADCAST, counts, sizeof counts);
  processes->module.ops->broadcast(processes->module.own, bytes, count, from);
  end(processes, begun);
}

void gpumc_processes_gather(const struct gpumc_processes *processes, const void *bytes, void *all,
                            const size_t *counts, int to)
{
  const double begun = begin(processes);
  check(processes, GATHER, counts, (size_t)processes->module.size * sizeof *counts);
  processes->module.ops->gather(processes->module.own, bytes, all, counts, to);
  end(processes, begun);
}

void gpumc_processes_trade(const struct gpumc_processes *processes, const void *out,
                           const size_t *n_out, void *in, const size_t *n_in)
{
  const double begun = begin(processes);
  check(processes, TRADE, NULL, 0);
  processes->module.ops->trade(processes->module.own, out, n_out, in, n_in);
  end(processes, begun);
}

void gpumc_processes_send(const struct gpumc_processes *processes, int to, const void *bytes,
                          size_t count)
{
  const double begun = begin(processes);
  assert(to != processes->module.rank);
  processes->module.ops->send(processes->module.own, to, bytes, count);
  end(processes, begun);
}

void gpumc_processes_receive(const struct gpumc_processes *processes, int from, void *bytes,
                             size_t count)
{
  const double begun = begin(processes);
  assert(from != processes->module.rank);
  processes->module.ops->receive(processes->module.own, from, bytes, count);
  end(processes, begun);
}

void gpumc_processes_barrier(const struct gpumc_processes *processes)
{
  const double begun = begin(processes);
  check(processes, BARRIER, NULL, 0);
  processes->module.ops->barrier(processes->module.own);
  end(processes, begun);
}

static enum gpumc_status allocate_messages(size_t bytes, void **messages, struct gpumc_error *error)
{
  return gpumc_allocate(bytes > 0 ? bytes : 1, 1, "messages", messages, error);
}

enum gpumc_status gpumc_trade_make(const struct gpumc_processes *processes, size_t out, size_t in,
                                   struct gpumc_trade *trade, struct gpumc_error *error)
{
  const size_t size = (size_t)processes->module.size;
  *trade = (struct gpumc_trade){NULL};
  GPUMC_TRY(gpumc_allocate_array(&trade->n_out, size, "counts of bytes", error));
  GPUMC_TRY(gpumc_allocate_array(&trade->n_in, size, "counts of bytes", error));
  GPUMC_TRY(allocate_messages(out, &trade->out, error));
  return allocate_messages(in, &trade->in, error);
}

void gpumc_trade_free(struct gpumc_trade *trade)
{
  free(trade->out);
  free(trade->in);
  free(trade->n_out);
  free(trade->n_in);
}

void gpumc_processes_give_way(void)
{
  static const struct timespec second = {.tv_sec = 1};
  nanosleep(&second, NULL);
}

void gpumc_processes_abandon(const struct gpumc_processes *processes,
                             const struct gpumc_error *error)
{
  processes->module.ops->abandon(processes->module.own, (int)error->status,
                                 gpumc_error_text(error));
}

double gpumc_processes_clock(const struct gpumc_processes *processes)
{
  double now = gpumc_clock();
  if (processes != NULL && processes->module.size > 1)
    gpumc_processes_broadcast(processes, &now, sizeof now, 0);
  return now;
}

void gpumc_processes_enter(const struct gpumc_processes *processes, size_t stage)
{
  assert(stage < GPUMC_STAGES_MAXIMUM);
  if (processes != NULL && processes->times != NULL)
    processes->times->stage = stage;
}

void gpumc_processes_restart(const struct gpumc_processes *processes)
{
  if (processes->times != NULL)
    *processes->times = (struct gpumc_processes_times){0};
}

double gpumc_processes_seconds(const struct gpumc_processes *processes,
                               double seconds[GPUMC_STAGES_MAXIMUM])
{
  double sum = 0;
  for (size_t stage = 0; stage < GPUMC_STAGES_MAXIMUM; stage++) {
    seconds[stage] = processes->times != NULL ? processes->times->seconds[stage] : 0;
    sum += seconds[stage];
  }
  return sum;
}

/* ---- agreement ---- */

/* Messages of processes other than the root are cut at this length. */
enum { MESSAGE_BYTES = 4096 };

void gpumc_process_name(int rank, int size, char text[GPUMC_PROCESS_NAME])
{
  char host[65] = "";
  if (gethostname(host, sizeof host - 1) != 0)
    snprintf(host, sizeof host, "an unknown host");
  snprintf(text, GPUMC_PROCESS_NAME, "process %d of %d on %s", rank, size, host);
}

/* Errors come before stops, and the lowest rank first; 0 if all is well. */
static uint64_t urgency(const struct gpumc_processes *processes, enum gpumc_status status)
{
  if (status == GPUMC_OK)
    return 0;
  return ((status == GPUMC_STOPPED ? UINT64_C(1) : UINT64_C(2)) << 32) +
         (uint64_t)(processes->module.size - processes->module.rank);
}

struct notice {
  int32_t status;
  char message[MESSAGE_BYTES];
};

enum gpumc_status gpumc_processes_agree(const struct gpumc_processes *processes,
                                        enum gpumc_status status, struct gpumc_error *error)
{
  if (processes->module.size == 1 || (status != GPUMC_OK && error->everywhere))
    return status;
  uint64_t most = urgency(processes, status);
  gpumc_processes_largest(processes, &most, 1);
  if (most == 0)
    return GPUMC_OK;
  const int rank = processes->module.size - (int)(most & UINT32_MAX);
  const bool mine = rank == processes->module.rank;
  struct notice notice = {0};
  if (mine && rank != 0) {
    char self[GPUMC_PROCESS_NAME];
    gpumc_process_name(rank, processes->module.size, self);
    gpumc_error_prefix(error, "%s", self);
  }
  if (mine) {
    notice.status = (int32_t)status;
    snprintf(notice.message, sizeof notice.message, "%s", gpumc_error_text(error));
  }
  gpumc_processes_broadcast(processes, &notice, sizeof notice, rank);
  if (!mine)
    status = gpumc_error_set(error, (enum gpumc_status)notice.status, "%s", notice.message);
  error->everywhere = true;
  return status;
}

/* Characters shown of two texts, and how many of them agree before the first difference. */
enum { SHOWN = 48, BEFORE = 16 };

static enum gpumc_status
differ(const char *what, const char *mine, const char *roots, struct gpumc_error *error)
{
  size_t place = 0;
  while (mine[place] == roots[place])
    place++;
  const size_t from = place > BEFORE ? place - BEFORE : 0;
  const char *dots = from > 0 ? "..." : "";
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s differs: '%s%.*s', but process 0 has '%s%.*s'; start all processes "
                         "with the same program and the same configuration",
                         what, dots, SHOWN, mine + from, dots, SHOWN, roots + from);
}

enum gpumc_status gpumc_processes_same(const struct gpumc_processes *processes, const char *what,
                                       const char *text, struct gpumc_error *error)
{
  if (processes->module.size == 1)
    return GPUMC_OK;
  uint64_t length = strlen(text);
  gpumc_processes_broadcast(processes, &length, sizeof length, 0);
  char *roots = NULL;
  GPUMC_TRY(gpumc_processes_agree(
      processes, gpumc_allocate_array(&roots, (size_t)length + 1, what, error), error));
  if (gpumc_is_root(processes))
    memcpy(roots, text, (size_t)length);
  gpumc_processes_broadcast(processes, roots, (size_t)length, 0);
  const enum gpumc_status status =
      strcmp(text, roots) == 0 ? GPUMC_OK : differ(what, text, roots, error);
  free(roots);
  return gpumc_processes_agree(processes, status, error);
}

struct gpumc_slice gpumc_slice(size_t n, size_t granule, size_t parts, size_t i)
{
  assert(granule > 0 && i < parts);
  const size_t units = n / granule + (n % granule > 0);
  /* Boundaries at floor(units i / parts), without the product. */
  const size_t whole = units / parts, rest = units % parts;
  const size_t begin_unit = whole * i + rest * i / parts;
  const size_t end_unit = whole * (i + 1) + rest * (i + 1) / parts;
  const size_t first = begin_unit * granule, past = end_unit * granule;
  return (struct gpumc_slice){.first = first < n ? first : n,
                              .count = (past < n ? past : n) - (first < n ? first : n)};
}
