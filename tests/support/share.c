/* The share of its cases that a test runs. */
#include "support/share.h"

#include <stdlib.h>

bool share_has(size_t number)
{
  const char *one_in = getenv("GPUMC_SHARE");
  return one_in == NULL || *one_in == 0 || number % strtoul(one_in, NULL, 10) == 0;
}
