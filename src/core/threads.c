/* How many host threads a run takes. */
#include "core/threads.h"

#include <ctype.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "OMP_NUM_THREADS";

static const char *skip_blanks(const char *text)
{
  while (isspace((unsigned char)*text))
    text++;
  return text;
}

/* Skips a number and the blanks around it; NULL where the number cannot be used. */
static const char *skip_number(const char *text)
{
  long number = 0;
  text = skip_blanks(text);
  for (; isdigit((unsigned char)*text) && number <= GPUMC_THREADS_MAXIMUM; text++)
    number = 10 * number + (*text - '0');
  return number >= 1 && number <= GPUMC_THREADS_MAXIMUM ? skip_blanks(text) : NULL;
}

bool gpumc_threads_environment_is_good(void)
{
  const char *text = getenv(variable);
  if (text == NULL || *skip_blanks(text) == '\0')
    return true;
  while ((text = skip_number(text)) != NULL && *text == ',')
    text++;
  return text != NULL && *text == '\0';
}

enum gpumc_status gpumc_threads_choose(int asked, int *threads, struct gpumc_error *error)
{
  *threads = asked;
  if (asked > GPUMC_THREADS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID, "%d threads requested; gpumc takes up to %d",
                           asked, GPUMC_THREADS_MAXIMUM);
  if (asked > 0)
    return GPUMC_OK;
  if (!gpumc_threads_environment_is_good())
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s is '%.40s', which is not a number of threads from 1 to %d, or a "
                           "list of such numbers: correct it, unset it, or use --threads",
                           variable, getenv(variable), GPUMC_THREADS_MAXIMUM);
  *threads = omp_get_max_threads();
  if (*threads > GPUMC_THREADS_MAXIMUM)
    *threads = GPUMC_THREADS_MAXIMUM;
  return GPUMC_OK;
}
