#include "core/simulation/shared_keys.h"

#include <string.h>

#include "core/base/checksum.h"
#include "core/numerics/random.h"

const char *const gpumc_update_choices[GPUMC_SWEPT_TARGETS][1] = {{NULL}};

struct gpumc_update gpumc_update_of(const struct gpumc_params *params)
{
  struct gpumc_update update = {.count = 1, .turn[0].sweeps = 1};
  if (!gpumc_params_has(params, "update"))
    return update;
  struct gpumc_list list = gpumc_params_turns(params, "update");
  update.count = 0;
  while (list.left > 0 && update.count < GPUMC_TURNS_MAXIMUM) {
    update.turn[update.count].move = gpumc_list_turn(&list, &update.turn[update.count].sweeps);
    update.count++;
  }
  return update;
}

void gpumc_update_append(const struct gpumc_update *update, struct gpumc_text *text)
{
  if (update->count == 1)
    gpumc_text_append(text, "%s", update->turn[0].move);
  for (size_t t = 0; t < update->count && update->count > 1; t++)
    gpumc_text_append(text, "%s{%s: %u}%s", t == 0 ? "[" : ", ", update->turn[t].move,
                      update->turn[t].sweeps, t + 1 == update->count ? "]" : "");
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

void gpumc_update_plan(const struct gpumc_update *update, const struct gpumc_kernel_ops *kernel,
                       enum gpumc_target_kind target, struct gpumc_ensemble_plan *plan)
{
  plan->n_turns = update->count > 1 ? update->count : 0;
  for (size_t t = update->count; t-- > 0;) {
    const struct gpumc_move *move = gpumc_kernel_move(kernel, update->turn[t].move, target);
    plan->move = move != NULL ? (uint32_t)(move - kernel->moves) : 0;
    if (update->count > 1)
      plan->turn[t] = (struct gpumc_turn){plan->move, update->turn[t].sweeps};
  }
}

bool gpumc_update_mixes(const struct gpumc_update *update, const struct gpumc_kernel_ops *kernel,
                        const struct gpumc_model *model, const double *control)
{
  const enum gpumc_target_kind target = control == NULL ? GPUMC_ATHERMAL : GPUMC_BOLTZMANN;
  bool any = false;
  for (size_t t = 0; t < update->count && !any; t++) {
    const struct gpumc_move *move = gpumc_kernel_move(kernel, update->turn[t].move, target);
    any = move != NULL && move->mixes != NULL && move->mixes(model, control);
  }
  return any;
}

uint32_t gpumc_plan_cycle(const struct gpumc_ensemble_plan *plan)
{
  uint32_t sweeps = plan->n_turns == 0 ? 1 : 0;
  for (size_t t = 0; t < plan->n_turns; t++)
    sweeps += plan->turn[t].sweeps;
  return sweeps;
}

double gpumc_kernel_cost(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                         const struct gpumc_ensemble_plan *plan, size_t replicas)
{
  struct gpumc_ensemble_plan of_move = *plan;
  double sum = 0;
  if (plan->n_turns == 0)
    return kernel->cost(model, plan, replicas);
  for (size_t t = 0; t < plan->n_turns; t++) {
    of_move.move = plan->turn[t].move;
    sum += plan->turn[t].sweeps * kernel->cost(model, &of_move, replicas);
  }
  return sum / gpumc_plan_cycle(plan);
}

double gpumc_kernel_trials(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                           const struct gpumc_ensemble_plan *plan)
{
  double sum = 0;
  if (kernel->trials == NULL)
    return (double)model->sites;
  if (plan->n_turns == 0)
    return kernel->trials(model, plan);
  struct gpumc_ensemble_plan of_move = *plan;
  for (size_t t = 0; t < plan->n_turns; t++) {
    of_move.move = plan->turn[t].move;
    sum += plan->turn[t].sweeps * kernel->trials(model, &of_move);
  }
  return sum / gpumc_plan_cycle(plan);
}

uint32_t gpumc_plan_take_turn(struct gpumc_ensemble_plan *plan, uint32_t time)
{
  if (plan->n_turns == 0)
    return UINT32_MAX;
  uint32_t since = time % gpumc_plan_cycle(plan);
  size_t t = 0;
  while (since >= plan->turn[t].sweeps)
    since -= plan->turn[t++].sweeps;
  plan->move = plan->turn[t].move;
  return plan->turn[t].sweeps - since;
}

uint32_t gpumc_plan_sweeps(const struct gpumc_ensemble_plan *plan, uint32_t move, uint32_t time)
{
  if (plan->n_turns == 0)
    return plan->move == move ? time : 0;
  const uint32_t all = gpumc_plan_cycle(plan), whole = time / all;
  uint32_t rest = time % all, sweeps = 0;
  for (size_t t = 0; t < plan->n_turns; t++) {
    const uint32_t last = rest < plan->turn[t].sweeps ? rest : plan->turn[t].sweeps;
    if (plan->turn[t].move == move)
      sweeps += whole * plan->turn[t].sweeps + last;
    rest -= last;
  }
  return sweeps;
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

/* Returns that of the first move; NULL if one of those that take turns has none. */
static const char *
weakness_at_zero(const struct gpumc_model_ops *model, const struct gpumc_params *params)
{
  const struct gpumc_update update = gpumc_update_of(params);
  const char *weakness = NULL;
  for (size_t t = update.count; t-- > 0;) {
    const struct gpumc_move *move = find_move(model, update.turn[t].move);
    weakness = move != NULL ? move->at_zero : NULL;
    if (weakness == NULL)
      return NULL;
  }
  return weakness;
}

void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report)
{
  if (!gpumc_params_has(params, "beta"))
    return;
  const bool values = gpumc_params_has(params, "beta.values");
  const char *weakness = weakness_at_zero(subject->model, params);
  struct gpumc_list list = {0};
  if (values)
    list = gpumc_params_list(params, "beta.values");
  const double hottest = values ? gpumc_list_real(&list) : gpumc_params_real(params, "beta.from");
  if (weakness != NULL && !(hottest > 0))
    gpumc_params_mistake(params, report, values ? "beta.values" : "beta.from", "%s", weakness);
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
