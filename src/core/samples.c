#include "core/samples.h"

void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report)
{
  if (model->disorder && samples > model->samples)
    gpumc_params_mistake(params, report, "samples",
                         "%zu samples, but there are only %zu from the model's `sample` on",
                         samples, model->samples);
}
