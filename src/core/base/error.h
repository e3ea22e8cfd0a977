/* Status codes and the error object that every function that can fail returns and fills. */
#ifndef GPUMC_CORE_ERROR_H
#define GPUMC_CORE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All values except GPUMC_BUSY are the program's exit codes (docs/cli.md). */
enum gpumc_status {
  GPUMC_OK = 0,       /* done */
  GPUMC_FAILURE = 1,  /* run-time failure: I/O, memory */
  GPUMC_INVALID = 2,  /* usage or configuration */
  GPUMC_DEVICE = 3,   /* the requested device is not available, or failed */
  GPUMC_STOPPED = 75, /* stopped by a signal or the time limit; resumable */
  GPUMC_BUSY = 76,    /* another process is working on it */
};

/* `message` is owned by the object, one or more lines without a final newline; NULL when no error.
 */
struct gpumc_error {
  enum gpumc_status status;
  bool everywhere; /* all processes of a run have it (core/processes/processes.h) */
  char *message;
};

#define GPUMC_MUST_CHECK __attribute__((warn_unused_result))
#define GPUMC_PRINTF(format_index, first_argument)                                                 \
  __attribute__((format(printf, format_index, first_argument)))

/* Pass a failure up. GPUMC_TRY leaves the calling function with the status of `call` unless that is
 * GPUMC_OK. Where there is something to release, GPUMC_TRY_OUT stores it in `status`, a variable of
 * the caller's, and goes to the label `out` instead:
 *
 *   enum gpumc_status status = GPUMC_OK;
 *   GPUMC_TRY_OUT(status, gpumc_thing_init(&thing, error));
 *   GPUMC_TRY_OUT(status, gpumc_thing_use(&thing, error));
 * out:
 *   gpumc_thing_free(&thing);
 *   return status;
 */
#define GPUMC_TRY(call)                                                                            \
  do {                                                                                             \
    const enum gpumc_status gpumc_try_status = (call);                                             \
    if (gpumc_try_status != GPUMC_OK) {                                                            \
      return gpumc_try_status;                                                                     \
    }                                                                                              \
  } while (0)
#define GPUMC_TRY_OUT(status, call)                                                                \
  do {                                                                                             \
    (status) = (call);                                                                             \
    if ((status) != GPUMC_OK) {                                                                    \
      goto out;                                                                                    \
    }                                                                                              \
  } while (0)

/* Records a failure where it happened; returns `status` so that callers can `return` it. Replaces a
 * message that is already there. Never fails: if memory runs out, a fixed text is used. */
enum gpumc_status gpumc_error_set(struct gpumc_error *error, enum gpumc_status status,
                                  const char *format, ...) GPUMC_PRINTF(3, 4);

/* Puts "context: " in front of the message on its way up. */
void gpumc_error_prefix(struct gpumc_error *error, const char *format, ...) GPUMC_PRINTF(2, 3);

/* Returns the message, or "no error"; never NULL. */
const char *gpumc_error_text(const struct gpumc_error *error);

/* Legal on a zeroed or an already freed object; leaves it zeroed. */
void gpumc_error_free(struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
