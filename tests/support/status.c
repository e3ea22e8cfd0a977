/* Expected statuses. */
#include "support/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

void assert_ok(enum gpumc_status status, const struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("status %d: %s", (int)status, gpumc_error_text(error));
}

void assert_refused(enum gpumc_status status, struct gpumc_error *error, const char *text,
                    const char *other)
{
  assert_int_equal(status, GPUMC_FAILURE);
  if (strstr(gpumc_error_text(error), text) == NULL ||
      strstr(gpumc_error_text(error), other) == NULL)
    fail_msg("\"%s\" lacks \"%s\" or \"%s\"", gpumc_error_text(error), text, other);
  gpumc_error_free(error);
}
