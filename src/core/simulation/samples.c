/* Samples of quenched disorder, counted and compared. */
#include "core/simulation/samples.h"

#include "core/base/checksum.h"
#include "core/numerics/random.h"

void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report)
{
  if (model->disorder && samples > model->samples)
    gpumc_params_mistake(params, report, "samples",
                         "%zu samples requested, but only %zu exist from the model's `sample` on",
                         samples, model->samples);
}

enum gpumc_status gpumc_samples_checksum(const struct gpumc_model *model, size_t samples,
                                         uint64_t *checksum, struct gpumc_error *error)
{
  struct gpumc_checksum all;
  *checksum = 0;
  if (!model->reads_file)
    return GPUMC_OK;
  gpumc_checksum_begin(&all);
  for (size_t number = 0; number < samples; number++) {
    uint64_t of_sample = 0;
    GPUMC_TRY(model->ops->sample_checksum(model, number, &of_sample, error));
    gpumc_checksum_add(&all, &of_sample, sizeof of_sample);
  }
  *checksum = gpumc_checksum_value(&all);
  return GPUMC_OK;
}

uint64_t gpumc_samples_seed(uint64_t seed, size_t first)
{
  enum { ROUNDS = 10 }; /* whatever `rng` says */
  uint32_t word[4];
  if (first == 0)
    return seed;
  gpumc_random_draw(gpumc_random_make(seed, 0, ROUNDS), (uint32_t)first,
                    (uint32_t)((uint64_t)first >> 32), 0,
                    gpumc_random_label(GPUMC_RANDOM_SAMPLES, 0), word);
  return ((uint64_t)word[1] << 32 | word[0]) & GPUMC_SEED_MAXIMUM;
}
