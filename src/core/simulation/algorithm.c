#include "core/simulation/algorithm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/curves.h"

void gpumc_observer_note(const struct gpumc_observer *observer, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (text == NULL)
    return;
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  gpumc_observer_tell(observer, GPUMC_NOTE, text);
  free(text);
}

static const double freedom_needed = 15;

bool gpumc_trust_freedom(double freedom)
{
  return freedom >= freedom_needed;
}

bool gpumc_trust_samples(double freedom, size_t n)
{
  return freedom >= fmin(freedom_needed, (double)n / 2);
}

size_t gpumc_trust_failing(const double *passed, const char *control, const double *value,
                           size_t count, bool hottest, char text[static GPUMC_FAILING_BYTES])
{
  const bool is_beta = strcmp(control, gpumc_label_beta.name) == 0;
  const char *first = is_beta ? "hottest" : "first", *last = is_beta ? "coldest" : "last";
  size_t failing = 0, named = 0;
  for (size_t t = 0; t < count; t++) {
    if (passed[t] != 0)
      continue;
    if (failing == 0 || !hottest)
      named = t;
    failing++;
  }
  text[0] = '\0';
  if (failing > 0)
    snprintf(text, GPUMC_FAILING_BYTES, "%zu of %zu %s, the %s %s = %g", failing, count,
             is_beta ? "temperatures" : "values", hottest ? first : last, control, value[named]);
  return failing;
}

enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                              const char *group, struct gpumc_error *error)
{
  const cJSON *warning;
  cJSON_ArrayForEach(warning, context->warnings)
  {
    GPUMC_TRY(gpumc_recorder_text(context->recorder, group, warning->string, warning->valuestring,
                                  error));
  }
  return GPUMC_OK;
}

enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error)
{
  const bool warned = cJSON_GetArraySize(context->warnings) > 0;
  GPUMC_TRY(
      gpumc_recorder_integer(context->recorder, "summary", "trusted", trusted && !warned, error));
  return gpumc_trust_record_warnings(context, "summary", error);
}
