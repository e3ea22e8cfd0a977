/* The processes that work on one run, and the messages between them.
 *
 * All of them run the same program on the same configuration; process 0, the root, decides about
 * files and reports. A single process has operations that return at once, so callers need not ask
 * how many processes there are. Several processes get theirs from a module, which is opened if a
 * launcher has started more than one (launcher.h): one program serves with MPI and without.
 *
 * Operations are collective: all processes call them in the same order, from the main thread, with
 * the same counts. With GPUMC_PROCESSES_CHECK in the environment each operation checks this first,
 * so that a mistake ends with a message and does not hang. Operations do not fail
 * (processes_module.h). */
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
  int processors;                      /* of the host that this process uses; 0: all (host.h) */
  struct gpumc_processes_times *times; /* NULL for a single process */
};

/* Returns the processes of a run that has only one: never NULL, and nothing to close. */
const struct gpumc_processes *gpumc_processes_alone(void);
/* Opens the module at `path` and waits for all processes. `message_bytes`: the longest message, 0
 * for a good default. GPUMC_FAILURE if it cannot be opened or belongs to another version of gpumc.
 */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_open(const char *path, size_t message_bytes,
                                                        struct gpumc_processes **processes,
                                                        struct gpumc_error *error);
/* Waits for all processes, closes the module and frees; legal on NULL. Nothing can be opened
 * afterwards. */
void gpumc_processes_close(struct gpumc_processes *processes);

static inline bool gpumc_is_root(const struct gpumc_processes *processes)
{
  return processes->module.rank == 0;
}

/* Receivers of a gather other than a given rank. */
enum { GPUMC_TO_ALL = -1, GPUMC_TO_ROOT };

/* The operations of gpumc_processes_ops. */
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
/* Allocates room for `out` and `in` bytes; legal to free after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trade_make(const struct gpumc_processes *processes, size_t out, size_t in,
                 struct gpumc_trade *trade, struct gpumc_error *error);
void gpumc_trade_free(struct gpumc_trade *trade);
/* With GPUMC_PROCESSES_CHECK, checks that all processes are at this operation with the same counts.
 * For operations that do not go through the module; those above check themselves. */
void gpumc_processes_check(const struct gpumc_processes *processes, const char *operation,
                           const void *counts, size_t bytes);
/* Waits for a second, for errors that several processes may have when they cannot ask each other:
 * callers give way to the process that reports it, the root or the first one of a host. Their own
 * messages are lost, since a launcher that sees one process end with an error ends all of them, and
 * in less time than that. */
void gpumc_processes_give_way(void);
/* Writes "process 3 of 8 on HOST", for messages. */
enum { GPUMC_PROCESS_NAME = 128 };
void gpumc_process_name(int rank, int size, char text[GPUMC_PROCESS_NAME]);
/* For an error that occurs in one process and that the others cannot learn of in time. With several
 * processes it does not return. */
void gpumc_processes_abandon(const struct gpumc_processes *processes,
                             const struct gpumc_error *error);

/* Follows a call that can fail in one process and not in another: all get the status and the
 * message of the lowest rank with an error or, if there is none, of one that was stopped. Messages
 * of processes other than the root begin with "process 3 of 8 on HOST". The error is then
 * everywhere; one that is already everywhere is returned as it is. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_agree(const struct gpumc_processes *processes,
                                                         enum gpumc_status status,
                                                         struct gpumc_error *error);
/* Returns GPUMC_INVALID in all processes if the text of one differs from the root's, with the place
 * where they begin to differ. `what`: "the configuration". */
GPUMC_MUST_CHECK enum gpumc_status gpumc_processes_same(const struct gpumc_processes *processes,
                                                        const char *what, const char *text,
                                                        struct gpumc_error *error);

/* Returns the root's gpumc_clock(), for decisions that all must make alike. NULL: this process
 * alone. */
double gpumc_processes_clock(const struct gpumc_processes *processes);

/* From here on the time of operations counts for that stage (core/base/machine.h). A device that
 * was opened among these processes calls it. Legal on NULL. */
void gpumc_processes_enter(const struct gpumc_processes *processes, size_t stage);
/* Starts the times of a new task: all are 0, and the stage is GPUMC_STAGE_OTHER. */
void gpumc_processes_restart(const struct gpumc_processes *processes);
/* Returns the seconds that this process has spent since then in operations, waits for the others
 * included, and fills in those of each stage. All are 0 for a single process. */
double gpumc_processes_seconds(const struct gpumc_processes *processes,
                               double seconds[GPUMC_STAGES_MAXIMUM]);

/* Part number `i` of `parts` of the numbers 0 .. n - 1: [first, first + count). Parts are equal to
 * within one granule, begin at multiples of a granule, and may be empty. */
struct gpumc_slice {
  size_t first, count;
};
struct gpumc_slice gpumc_slice(size_t n, size_t granule, size_t parts, size_t i);

#endif
