#include "core/simulation/shared_keys.h"

#include <string.h>

#include "core/base/checksum.h"
#include "core/numerics/random.h"

const char *const gpumc_update_choices[GPUMC_SWEPT_TARGETS][1] = {{NULL}};

const char *gpumc_update_name(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "update") ? gpumc_params_string(params, "update") : NULL;
}

const struct gpumc_move *gpumc_kernel_move(const struct gpumc_kernel_ops *kernel, const char *name,
                                           enum gpumc_target_kind target)
{
  for (size_t i = 0; i < kernel->n_moves; i++)
    if (gpumc_move_serves(&kernel->moves[i], target) &&
        (name == NULL || strcmp(kernel->moves[i].name, name) == 0))
      return &kernel->moves[i];
  return NULL;
}

bool gpumc_kernel_samples(const struct gpumc_kernel_ops *kernel, enum gpumc_target_kind target)
{
  return kernel->n_moves == 0 ? target == GPUMC_BOLTZMANN
                              : gpumc_kernel_move(kernel, NULL, target) != NULL;
}

bool gpumc_model_samples(const struct gpumc_model_ops *model, enum gpumc_target_kind target)
{
  bool any = false;
  for (size_t k = 0; model->kernels[k] != NULL; k++)
    any = any || gpumc_kernel_samples(model->kernels[k], target);
  return any && (target != GPUMC_BOLTZMANN || model->n_controls > 0);
}

/* Searches all kernels: those of one model mean the same by a name. For Boltzmann weights that have
 * a temperature. */
static const struct gpumc_move *find_move(const struct gpumc_model_ops *model, const char *name)
{
  const struct gpumc_move *move = NULL;
  for (size_t k = 0; model->kernels[k] != NULL && move == NULL; k++)
    move = gpumc_kernel_move(model->kernels[k], name, GPUMC_BOLTZMANN);
  return move;
}

void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report)
{
  if (!gpumc_params_has(params, "beta"))
    return;
  const bool values = gpumc_params_has(params, "beta.values");
  const struct gpumc_move *move = find_move(subject->model, gpumc_update_name(params));
  struct gpumc_list list = {0};
  if (values)
    list = gpumc_params_list(params, "beta.values");
  const double hottest = values ? gpumc_list_real(&list) : gpumc_params_real(params, "beta.from");
  if (move != NULL && move->at_zero != NULL && !(hottest > 0))
    gpumc_params_mistake(params, report, values ? "beta.values" : "beta.from", "%s", move->at_zero);
}

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
