/* Whether a result can be trusted. */
#include "core/trust.h"

#include <math.h>

static const double freedom_needed = 15;
static const double deviations_needed = 45;

bool gpumc_trust_freedom(double freedom, size_t n)
{
  return freedom >= freedom_needed * fmin(1, (double)n / deviations_needed);
}

enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                              const char *group, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  const cJSON *warning;
  cJSON_ArrayForEach(warning, context->warnings)
  {
    if (status == GPUMC_OK)
      status = gpumc_recorder_text(context->recorder, group, warning->string, warning->valuestring,
                                   error);
  }
  return status;
}

enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error)
{
  const bool warned = cJSON_GetArraySize(context->warnings) > 0;
  enum gpumc_status status =
      gpumc_recorder_integer(context->recorder, "summary", "trusted", trusted && !warned, error);
  return status == GPUMC_OK ? gpumc_trust_record_warnings(context, "summary", error) : status;
}
