/* A full disk, simulated by a limit on file sizes. */
#include "support/full_disk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINISHED, TOLD, ELSE, OUTCOMES };

int full_disk_outcome(struct gpumc_recorder *recorder, enum gpumc_status status,
                      struct gpumc_error *error, const char *file)
{
  if (status == GPUMC_OK)
    status = gpumc_recorder_close_tables(recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_finish(recorder, error);
  gpumc_recorder_free(recorder);
  if (status == GPUMC_OK)
    return FINISHED;
  bool explained = strstr(gpumc_error_text(error), file) != NULL &&
                   strstr(gpumc_error_text(error), "File too large") != NULL;
  gpumc_error_free(error);
  return explained ? TOLD : ELSE;
}

void expect_full_disk_is_told(int (*live)(void), size_t end, size_t step)
{
  int outcomes[OUTCOMES] = {0};
  for (size_t limit = 0; limit < end; limit += step) {
    pid_t child = fork();
    if (child == 0) {
      const struct rlimit sizes = {limit, limit};
      _exit(setrlimit(RLIMIT_FSIZE, &sizes) == 0 ? live() : ELSE);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < ELSE);
    outcomes[WEXITSTATUS(status)]++;
    assert_int_equal(access("out/x.h5", F_OK), WEXITSTATUS(status) == FINISHED ? 0 : -1);
    unlink("out/x.h5");
  }
  assert_true(outcomes[FINISHED] > 0 && outcomes[TOLD] > 0);
}
