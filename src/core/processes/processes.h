/* The processes that work on one run, and what they tell each other.
 *
 * All of them run the same program on the same configuration; process 0, the root, decides about
 * files and speaks. A single process has operations that return at once, so that callers need not
 * ask how many there are. Several get theirs from a module, which is opened where a launcher has
 * started more than one (launcher.h): one program serves with MPI and without.
 *
 * Operations are collective: all processes call them in the same order, from the main thread, with
 * the same counts. With GPUMC_PROCESSES_CHECK in the environment each one makes sure of that first,
 * so that a mistake is a message and not a wait without end. They do not fail (processes_module.h).
 */
#ifndef GPUMC_CORE_PROCESSES_H
#define GPUMC_CORE_PROCESSES_H

#include <stdbool.h>

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/processes/processes_module.h"

struct gpumc_processes_times;

struct gpumc_processes {
  struct gpumc_module module;
  bool checks;                         /* GPUMC_PROCESSES_CHECK */
  int processors;                      /* of the host, that this process takes; 0: all (host.h) */
  struct gpumc_processes_times *times; /* NULL: of a single process */
};

/* Never NULL; nothing to close. */
const struct gpumc_processes *gpumc_processes_alone(void);
/* Opens the module at `path` and waits for all processes. `message_bytes`: the longest message, 0
 * for a good one. GPUMC_FAILURE where it cannot be opened or is one of another gpumc. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_open(const char *path, size_t message_bytes,
                                                        struct gpumc_processes **processes,
                                                        struct gpumc_error *error);
/* Waits for all, ends the module and frees; legal on NULL. Nothing can be opened afterwards. */
void gpumc_processes_close(struct gpumc_processes *processes);

static inline bool gpumc_is_root(const struct gpumc_processes *processes)
{
  return processes->module.rank == 0;
}

/* Who gets what is gathered, besides a rank. */
enum { GPUMC_TO_ALL = -1, GPUMC_TO_ROOT };

/* As gpumc_processes_ops has them. */
void gpumc_processes_sum(const struct gpumc_processes *processes, uint64_t *values, size_t count);
void gpumc_processes_largest(const struct gpumc_processes *processes, uint64_t *values,
                             size_t count);
void gpumc_processes_broadcast(const struct gpumc_processes *processes, void *bytes, size_t count,
                               int from);
void gpumc_processes_gather(const struct gpumc_processes *processes, const void *bytes, void *all,
                            const size_t *counts, int to);
void gpumc_processes_trade(const struct gpumc_processes *processes, const void *out,
                           const size_t *n_out, void *in, const size_t *n_in);
void gpumc_processes_send(const struct gpumc_processes *processes, int to, const void *bytes,
                          size_t count);
void gpumc_processes_receive(const struct gpumc_processes *processes, int from, void *bytes,
                             size_t count);
void gpumc_processes_barrier(const struct gpumc_processes *processes);
/* The messages of a trade, one process after the other. */
struct gpumc_trade {
  void *out, *in;
  size_t *n_out, *n_in; /* [processes] bytes; 0 at first */
};
/* Room for so many bytes each way; legal to free when it failed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trade_make(const struct gpumc_processes *processes, size_t out, size_t in,
                 struct gpumc_trade *trade, struct gpumc_error *error);
void gpumc_trade_free(struct gpumc_trade *trade);
/* With GPUMC_PROCESSES_CHECK: makes sure that all processes are at this operation, with the same
 * counts. Of operations that others carry than the module; those above do so themselves. */
void gpumc_processes_check(const struct gpumc_processes *processes, const char *operation,
                           const void *counts, size_t bytes);
/* Waits for a second, where processes may have the same error and cannot ask each other: whoever
 * calls it gives way to the one that says so, the root or the first process of a host. What others
 * would say is lost with them, since a launcher that sees one process end with an error ends all,
 * and takes less than that for it. */
void gpumc_processes_give_way(void);
/* For an error that only one process has, where the others cannot learn of it in time. Of several
 * processes: does not return. */
void gpumc_processes_abandon(const struct gpumc_processes *processes,
                             const struct gpumc_error *error);

/* After something that can fail in one process and not in another: all get the status and the
 * message of the lowest process with an error or, where there is none, of one that was stopped.
 * Messages of processes but the root begin with "process 3 of 8 on HOST". The error is then
 * everywhere, and one that is already is returned as it is. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_agree(const struct gpumc_processes *processes,
                                                         enum gpumc_status status,
                                                         struct gpumc_error *error);
/* GPUMC_INVALID in all where one has another text than the root, with the place where they begin to
 * differ. `what`: "the configuration". */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_same(const struct gpumc_processes *processes,
                                                        const char *what, const char *text,
                                                        struct gpumc_error *error);

/* The root's gpumc_clock(): for what all are to decide alike. NULL: this process alone. */
double gpumc_processes_clock(const struct gpumc_processes *processes);

/* From here on operations count for that stage (core/base/machine.h); a device that was opened
 * among these processes tells them. Legal on NULL. */
void gpumc_processes_enter(const struct gpumc_processes *processes, size_t stage);
/* Of a task that begins: no time has been spent, and the stage is GPUMC_STAGE_OTHER. */
void gpumc_processes_restart(const struct gpumc_processes *processes);
/* Seconds that this process has spent since then in operations of each stage, waits for the others
 * included. Returns their sum; all are 0 of a single process. */
double gpumc_processes_seconds(const struct gpumc_processes *processes,
                               double seconds[GPUMC_STAGES_MAXIMUM]);

/* Part number `i` of `parts` of the numbers 0 .. n - 1: [first, first + count). Parts are equal but
 * for one granule, begin at multiples of a granule, and may be empty. */
struct gpumc_slice {
  size_t first, count;
};
struct gpumc_slice gpumc_slice(size_t n, size_t granule, size_t parts, size_t i);

#endif
