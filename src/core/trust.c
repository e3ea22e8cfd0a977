/* Whether a result can be trusted. */
#include "core/trust.h"

enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error)
{
  const char *warning = context->generator_warning;
  enum gpumc_status status = gpumc_recorder_integer(context->recorder, "summary", "trusted",
                                                    trusted && warning == NULL, error);
  return status == GPUMC_OK && warning != NULL
             ? gpumc_recorder_text(context->recorder, "summary", "generator_warning", warning,
                                   error)
             : status;
}
