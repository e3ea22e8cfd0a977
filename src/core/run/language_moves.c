/* The moves of a task, beside its kernel's keys, times and requests: what is for other moves, steps
 * that take a time to be tuned, channels that need certain moves. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

/* ---- keys that are for some moves ---- */

bool gpumc_key_has_default(const struct gpumc_key *key, const cJSON *value)
{
  if (key->default_text == NULL)
    return false;
  if (cJSON_IsNumber(value))
    return value->valuedouble == strtod(key->default_text, NULL);
  if (cJSON_IsBool(value))
    return cJSON_IsTrue(value) == (strcmp(key->default_text, "true") == 0);
  return strcmp(cJSON_GetStringValue(value), key->default_text) == 0;
}

/* Whether the key is for this move, among others perhaps. */
static bool is_for(const struct gpumc_move *move, const char *key)
{
  bool named = move->step != NULL && strcmp(move->step->key, key) == 0;
  for (size_t i = 0; move->keys != NULL && move->keys[i] != NULL; i++)
    named = named || strcmp(move->keys[i], key) == 0;
  return named;
}

/* "this, that": the kernel's moves that the key is for; "" where it is for all. */
static void
list_moves(const struct gpumc_kernel_ops *kernel, const char *key, struct gpumc_text *names)
{
  for (size_t i = 0; i < kernel->n_moves; i++)
    if (is_for(&kernel->moves[i], key))
      gpumc_text_append(names, "%s%s", names->length == 0 ? "" : ", ", kernel->moves[i].name);
}

/* The moves of a task: those that it requests, or the kernel's first; `sweeps`: whether it makes
 * any. */
struct moves {
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_update update;
  enum gpumc_target_kind target;
  bool sweeps;
};

static struct moves moves_of(const struct gpumc_language *language,
                             const struct gpumc_params *algorithm,
                             const struct gpumc_kernel_ops *kernel)
{
  return (struct moves){.kernel = kernel,
                        .update = gpumc_update_of(algorithm),
                        .target = language->algorithm->target,
                        .sweeps = (language->algorithm->required & GPUMC_OPERATION_SWEEP) != 0};
}

/* That of a turn, or NULL. */
static const struct gpumc_move *move_of(const struct moves *moves, size_t turn)
{
  return gpumc_kernel_move(moves->kernel, moves->update.turn[turn].move, moves->target);
}

/* Whether the key is for one of them. */
static bool is_for_any(const struct moves *moves, const char *key)
{
  bool any = false;
  for (size_t t = 0; t < moves->update.count && moves->sweeps; t++) {
    const struct gpumc_move *move = move_of(moves, t);
    any = any || (move != NULL && is_for(move, key));
  }
  return any;
}

/* Reports a key that is for `names` only, of which the task makes none. */
static void refuse_for_moves(struct gpumc_language *language, const struct gpumc_params *params,
                             const char *key, const char *names, const struct moves *moves)
{
  struct gpumc_report *report = &language->report;
  struct gpumc_text update = {0};
  const struct gpumc_move *first = moves->sweeps ? move_of(moves, 0) : NULL;
  if (moves->update.turn[0].move != NULL && first != NULL) {
    gpumc_update_append(&moves->update, &update);
    gpumc_params_mistake(params, report, key,
                         "kernel.%s has no effect with update: %s, only with %s: set "
                         "algorithm.update to that, or leave kernel.%s out",
                         key, gpumc_text_string(&update), names, key);
    gpumc_text_free(&update);
  } else
    gpumc_params_mistake(params, report, key,
                         "kernel.%s has no effect with algorithm %s, which %s%s, only with "
                         "update: %s: leave kernel.%s out",
                         key, language->algorithm->name,
                         first != NULL ? "sweeps by " : "does not sweep",
                         first != NULL ? first->name : "", names, key);
}

/* Keys for moves that the task does not make have no value but their default, and if they are made
 * so (gpumc_key.of_move) stay out of the task then unless they were written down; `params`, of
 * `block`, and `algorithm` view the resolved blocks. False when memory ran out. */
static bool check_keys_of_moves(struct gpumc_language *language, const struct gpumc_params *params,
                                cJSON *block, const struct gpumc_params *algorithm,
                                const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_params chosen;
  bool good = true;
  if (kernel->keys == NULL || !gpumc_params_narrow(algorithm, &language->report, "update", &chosen))
    return true;
  const struct moves moves = moves_of(language, &chosen, kernel);
  for (const struct gpumc_key *key = kernel->keys; key->name != NULL; key++) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(block, key->name);
    struct gpumc_text names = {0};
    if (value == NULL || gpumc_wrong_has(&language->report, params->block, key->name) ||
        is_for_any(&moves, key->name))
      continue;
    list_moves(kernel, key->name, &names);
    if (names.length > 0 && key->of_move && gpumc_key_has_default(key, value) &&
        !gpumc_params_given(params, key->name))
      cJSON_DeleteItemFromObjectCaseSensitive(block, key->name);
    else if (names.length > 0 && !gpumc_key_has_default(key, value))
      refuse_for_moves(language, params, key->name, gpumc_text_string(&names), &moves);
    good = good && !names.failed;
    gpumc_text_free(&names);
  }
  return good;
}

/* ---- steps ---- */

/* The one of the moves that has a step, NULL: none has; a mistake where several have. */
static const struct gpumc_move *find_stepping(struct gpumc_language *language,
                                              const struct gpumc_params *params,
                                              const struct moves *moves)
{
  const struct gpumc_move *stepping = NULL;
  for (size_t t = 0; t < moves->update.count; t++) {
    const struct gpumc_move *move = move_of(moves, t);
    if (move == NULL || move->step == NULL || move == stepping)
      continue;
    if (stepping != NULL) {
      gpumc_params_mistake(params, &language->report, "update",
                           "%s and %s both have a step of their own, %s and %s: of moves that take "
                           "turns only one may have any",
                           stepping->name, move->name, stepping->step->key, move->step->key);
      return NULL;
    }
    stepping = move;
  }
  return stepping;
}

/* Sweeps of the first `time` ones that are by this move. */
static uint32_t sweeps_by(const struct moves *moves, const struct gpumc_move *move, uint32_t time)
{
  struct gpumc_ensemble_plan plan = {0};
  gpumc_update_plan(&moves->update, moves->kernel, moves->target, &plan);
  return gpumc_plan_sweeps(&plan, (uint32_t)(move - moves->kernel->moves), time);
}

void gpumc_language_check_step(struct gpumc_language *language, const struct gpumc_node *root,
                               const cJSON *resolved, const struct gpumc_kernel_ops *kernel)
{
  const struct gpumc_params algorithm = gpumc_language_view(language, resolved, root, "algorithm");
  const struct gpumc_params own = gpumc_language_view(language, resolved, root, "kernel");
  struct gpumc_params times, key;
  if (!gpumc_params_narrow(&algorithm, &language->report, "update thermalization", &times))
    return;
  const struct moves moves = moves_of(language, &times, kernel);
  const struct gpumc_move *move = find_stepping(language, &times, &moves);
  if (move == NULL || !gpumc_params_has(&times, "thermalization") ||
      !gpumc_params_narrow(&own, &language->report, move->step->key, &key) ||
      gpumc_params_has(&key, move->step->key))
    return;
  const uint32_t time = (uint32_t)gpumc_params_integer(&times, "thermalization");
  if (sweeps_by(&moves, move, time) < gpumc_steps_enough(move->step))
    gpumc_params_mistake(
        &times, &language->report,
        gpumc_node_find(root, "algorithm.thermalization") != NULL ? "thermalization" : "update",
        "%s tunes its %s during at least the first %u sweeps %s the thermalization: set a longer "
        "algorithm.thermalization, or kernel.%s",
        move->name, move->step->label.name, gpumc_steps_enough(move->step),
        moves.update.count > 1 ? "that it makes in" : "of", move->step->key);
}

/* ---- channels that only some moves can measure ---- */

/* "a or b": the moves that measure the channel, of the first kernel that has any; "" if each
 * does. */
static void list_measuring(const struct gpumc_model_ops *model, size_t channel,
                           enum gpumc_target_kind target, struct gpumc_text *names)
{
  for (size_t k = 0; model->kernels[k] != NULL && names->length == 0; k++)
    for (size_t i = 0; i < model->kernels[k]->n_moves; i++) {
      const struct gpumc_move *move = &model->kernels[k]->moves[i];
      if (gpumc_move_serves(move, target) && (move->measures >> channel & 1) != 0)
        gpumc_text_append(names, "%s%s", names->length == 0 ? "" : " or ", move->name);
    }
}

static bool measures(const struct moves *moves, size_t channel)
{
  bool any = false;
  for (size_t t = 0; t < moves->update.count; t++) {
    const struct gpumc_move *move = move_of(moves, t);
    any = any || (move != NULL && (move->measures >> channel & 1) != 0);
  }
  return any;
}

/* Whether the channel is requested, by a key that no earlier one has. */
static bool is_requested(struct gpumc_language *language, const struct gpumc_params *algorithm,
                         size_t channel, struct gpumc_params *view)
{
  const struct gpumc_channel *channels = language->model->channels;
  const char *key = channels[channel].request_key;
  bool named = false;
  for (size_t c = 0; c < channel && key != NULL; c++)
    named = named || (channels[c].request_key != NULL && strcmp(channels[c].request_key, key) == 0);
  return key != NULL && !named && gpumc_params_narrow(algorithm, &language->report, key, view) &&
         gpumc_params_has(view, key) && gpumc_params_boolean(view, key);
}

/* A mistake where a channel is requested that none of the task's moves can measure; `algorithm`
 * views the resolved block. */
static void check_measured(struct gpumc_language *language, const struct gpumc_params *algorithm,
                           const struct gpumc_kernel_ops *kernel)
{
  const struct gpumc_model_ops *model = language->model;
  struct gpumc_params view, chosen;
  if (!gpumc_params_narrow(algorithm, &language->report, "update", &chosen))
    return;
  const struct moves moves = moves_of(language, &chosen, kernel);
  for (size_t c = 0; c < model->n_channels; c++) {
    const char *key = model->channels[c].request_key;
    struct gpumc_text names = {0};
    if (!is_requested(language, algorithm, c, &view) || measures(&moves, c))
      continue;
    list_measuring(model, c, moves.target, &names);
    if (names.length > 0 && gpumc_params_has(&chosen, "update"))
      gpumc_params_mistake(&view, &language->report, key,
                           "%s is measured with the help of the move %s: set algorithm.update to "
                           "that, alone or in turn with others, or leave %s out",
                           key, gpumc_text_string(&names), key);
    else if (names.length > 0)
      gpumc_params_mistake(&view, &language->report, key,
                           "%s is measured with the help of the move %s, which algorithm %s does "
                           "not make: leave %s out",
                           key, gpumc_text_string(&names), language->algorithm->name, key);
    gpumc_text_free(&names);
  }
}

bool gpumc_language_check_moves(struct gpumc_language *language, const struct gpumc_node *root,
                                cJSON *resolved, const struct gpumc_kernel_ops *kernel)
{
  const struct gpumc_params algorithm = gpumc_language_view(language, resolved, root, "algorithm");
  const struct gpumc_params own = gpumc_language_view(language, resolved, root, "kernel");
  cJSON *block = cJSON_GetObjectItemCaseSensitive(resolved, "kernel");
  if (!check_keys_of_moves(language, &own, block, &algorithm, kernel))
    return false;
  gpumc_language_check_step(language, root, resolved, kernel);
  check_measured(language, &algorithm, kernel);
  return true;
}
