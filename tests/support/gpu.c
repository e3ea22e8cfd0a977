/* Tests that need a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/gpu.h"

void open_gpu(struct gpumc_device *device)
{
  struct gpumc_error error = {0};
  const char *required = getenv("GPUMC_REQUIRE_CUDA");
  if (gpumc_device_open("cuda", 0, device, &error) == GPUMC_OK)
    return;
  if (required != NULL && strcmp(required, "1") == 0)
    fail_msg("%s", gpumc_error_text(&error));
  print_message("%s\n", gpumc_error_text(&error));
  gpumc_error_free(&error);
  skip();
}
