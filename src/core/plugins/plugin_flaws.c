/* What the tables of plugins must have, as the headers say it. */
#include "core/plugins/plugin_flaws.h"

#include <math.h>
#include <string.h>

#include "core/simulation/curves.h"
#include "core/simulation/observables.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

/* NULL: none. */
static const char *kernel_flaw(const struct gpumc_kernel_ops *kernel)
{
  if (kernel->device == NULL || kernel->variant == NULL || kernel->summary == NULL)
    return "a kernel without device, variant or summary";
  if ((gpumc_kernel_operations(kernel) & GPUMC_OPERATION_SWEEP) != 0 && kernel->n_moves == 0)
    return "a kernel that sweeps but has no moves";
  for (size_t i = 0; i < kernel->n_moves; i++)
    if (kernel->moves[i].name == NULL || kernel->moves[i].summary == NULL)
      return "a move without name or summary";
  if (kernel->absent != 0)
    return NULL;
  if (kernel->bytes == NULL || kernel->create == NULL || kernel->destroy == NULL)
    return "a kernel without bytes, create or destroy";
  if ((kernel->get_state != NULL) != (kernel->state_bytes != NULL) ||
      (kernel->set_state != NULL) != (kernel->state_bytes != NULL))
    return "a kernel with only some of state_bytes, get_state and set_state";
  if ((kernel->set != NULL) != (kernel->get != NULL))
    return "a kernel with only one of set and get";
  return NULL;
}

/* Whether two kernels mean the same by moves of the same name, and where they have one variant,
 * have the same moves. */
static bool moves_agree(const struct gpumc_kernel_ops *one, const struct gpumc_kernel_ops *other)
{
  size_t shared = 0;
  for (size_t i = 0; i < one->n_moves; i++) {
    const struct gpumc_move *move = &one->moves[i];
    const struct gpumc_move *same = gpumc_kernel_move(
        other, move->name,
        gpumc_move_serves(move, GPUMC_BOLTZMANN) ? GPUMC_BOLTZMANN : GPUMC_ATHERMAL);
    if (same == NULL)
      continue;
    shared++;
    if ((move->at_zero != NULL) != (same->at_zero != NULL) || move->warn != same->warn ||
        move->mixes != same->mixes || move->targets != same->targets ||
        strcmp(move->summary, same->summary) != 0)
      return false;
  }
  return strcmp(one->variant, other->variant) != 0 ||
         (shared == one->n_moves && shared == other->n_moves);
}

/* A task pins the variant, which has the same moves and operations on each device; those of
 * kernels that this build lacks are written down. */
static const char *devices_flaw(const struct gpumc_kernel_ops *const *kernels)
{
  for (size_t i = 0; kernels[i] != NULL; i++)
    for (size_t j = 0; j < i; j++) {
      if (!moves_agree(kernels[i], kernels[j]))
        return "kernels whose moves of one name, or of one variant, differ";
      if (strcmp(kernels[i]->variant, kernels[j]->variant) == 0 &&
          gpumc_kernel_operations(kernels[i]) != gpumc_kernel_operations(kernels[j]))
        return "kernels of one variant with different operations";
    }
  return NULL;
}

/* Whether an automatic choice never takes the kernel number i: it has no cost, and one before it
 * can do as much. */
static bool is_taken_by_name_only(const struct gpumc_kernel_ops *const *kernels, size_t i)
{
  const uint32_t able = gpumc_kernel_operations(kernels[i]);
  bool found = false;
  for (size_t j = 0; j < i; j++)
    found = found || (strcmp(kernels[i]->device, kernels[j]->device) == 0 &&
                      kernels[j]->trajectory != NULL &&
                      (gpumc_kernel_operations(kernels[j]) & able) == able);
  return found && kernels[i]->cost == NULL;
}

/* A task pins the variant, and each device has the same replicas of it. */
static const char *trajectories_flaw(const struct gpumc_kernel_ops *const *kernels)
{
  for (size_t i = 0; kernels[i] != NULL; i++) {
    if (kernels[i]->trajectory == NULL && !is_taken_by_name_only(kernels, i))
      return "a kernel without a trajectory that auto may choose";
    for (size_t j = 0; j < i; j++)
      if (kernels[i]->absent == 0 && kernels[j]->absent == 0 &&
          strcmp(kernels[i]->variant, kernels[j]->variant) == 0 &&
          strcmp(gpumc_kernel_trajectory(kernels[i]), gpumc_kernel_trajectory(kernels[j])) != 0)
        return "kernels of one variant with two trajectories";
  }
  return NULL;
}

static bool is_label(const struct gpumc_label *label)
{
  return label->name != NULL && label->symbol != NULL && label->units != NULL &&
         label->long_name != NULL;
}

/* Of others all allowed states have the same weight. */
static bool has_weights(const struct gpumc_model_ops *model)
{
  return gpumc_model_samples(model, GPUMC_BOLTZMANN);
}

static bool has_energy(const struct gpumc_model_ops *model)
{
  return has_weights(model) && gpumc_model_has_temperature(model);
}

/* The inverse temperature is the first one, and its unit stands for that of the instance. */
static const char *controls_flaw(const struct gpumc_model_ops *model)
{
  if (model->n_controls > GPUMC_CONTROLS_MAXIMUM)
    return "too many controls";
  for (size_t k = 0; k < model->n_controls; k++) {
    const struct gpumc_control *control = &model->controls[k];
    const bool in_its_unit =
        control->label.units != NULL && strcmp(control->label.units, GPUMC_UNIT_BETA) == 0;
    if (!is_label(&control->label))
      return "a control without a label";
    if (control->inverse_temperature != in_its_unit || (in_its_unit && k > 0))
      return "an inverse temperature that is marked only by its flag or only by its unit, or is "
             "not the first control";
  }
  return model->n_controls > 0 && model->coefficients == NULL ? "controls without coefficients"
                                                              : NULL;
}

static const char *channels_flaw(const struct gpumc_model_ops *model)
{
  if (model->n_channels < 1 || model->n_channels > GPUMC_CHANNELS_MAXIMUM)
    return "no channel, or too many";
  if (model->channels[0].request_key != NULL)
    return "the energy is only on request";
  if (has_energy(model) && (model->channels[0].label.units == NULL ||
                            strcmp(model->channels[0].label.units, GPUMC_UNIT_ENERGY) != 0))
    return "the energy has another unit";
  for (size_t c = 0; c < model->n_channels; c++)
    if (!is_label(&model->channels[c].label))
      return "a channel without a label";
  for (size_t c = 0; c < model->n_channels; c++)
    if (gpumc_channel_is_profile(&model->channels[c]) &&
        (!is_label(&model->channels[c].axis) || model->channels[c].request_key == NULL))
      return "a profile that is not on request, or whose axis has no label";
  for (size_t c = 1; c < model->n_channels; c++)
    if (model->channels[c - 1].request_key != NULL && model->channels[c].request_key == NULL)
      return "a channel after one on request";
  return NULL;
}

static const char *means_flaw(const struct gpumc_model_ops *model)
{
  bool tracked[3] = {false}, watched = false;
  if (model->n_means > GPUMC_MEANS_MAXIMUM || model->n_quantities > GPUMC_QUANTITIES_MAXIMUM ||
      model->n_pairs > GPUMC_PAIRS_MAXIMUM)
    return "too many means, quantities or pairs";
  for (size_t k = 0; k < model->n_pairs; k++)
    if (!is_label(&model->pairs[k].label))
      return "a pair without a label";
  for (size_t k = 0; k < model->n_means; k++) {
    const struct gpumc_mean *mean = &model->means[k];
    if (mean->index >= (mean->source == GPUMC_MEAN_PAIR ? model->n_pairs : model->n_channels))
      return "a mean of a channel that does not exist";
    if (mean->source != GPUMC_MEAN_PAIR && gpumc_channel_is_profile(&model->channels[mean->index]))
      return "a mean of a profile";
    if ((mean->power != 1 && mean->power != 2 && mean->power != 4) ||
        (mean->power != 1 && (mean->absolute || mean->source == GPUMC_MEAN_PRODUCT)))
      return "a mean with an unsupported power";
    if (!is_label(&mean->label))
      return "a mean without a label";
    if (mean->source == GPUMC_MEAN_CHANNEL && mean->index == model->tracked && mean->power <= 2)
      tracked[mean->power] = true;
    watched = watched || mean->watch != GPUMC_WATCH_NEVER;
  }
  if (has_weights(model) && (!tracked[1] || !tracked[2]))
    return "no mean of the tracked channel or its square";
  if (has_weights(model) && !watched)
    return "no mean that is watched";
  for (size_t q = 0; q < model->n_quantities; q++) {
    const struct gpumc_quantity *quantity = &model->quantities[q];
    if (quantity->n_uses == 0 || quantity->n_uses > GPUMC_USES_MAXIMUM ||
        quantity->n_needed > quantity->n_uses)
      return "a quantity without valid means";
    for (size_t i = 0; i < quantity->n_uses; i++)
      if (quantity->uses[i] >= model->n_means)
        return "a quantity without valid means";
    if (quantity->n_doubts > GPUMC_DOUBTS_MAXIMUM)
      return "a quantity with too many doubts";
    for (size_t i = 0; i < quantity->n_doubts; i++)
      if (quantity->doubts[i] >= model->n_quantities)
        return "a quantity with a doubt that does not exist";
    if (quantity->broken != NULL && quantity->identity == NULL)
      return "a quantity with `broken` but without `identity`";
    if (quantity->value != NULL ? !is_label(&quantity->label) : quantity->label.name != NULL)
      return "a quantity without a label";
    if ((quantity->applies == NULL) != (quantity->applies_where == NULL))
      return "a quantity with only one of applies and applies_where";
  }
  return NULL;
}

/* Whether it has what one of the targets of sweeps needs. */
static bool is_sampled(const struct gpumc_model_ops *model)
{
  return gpumc_model_samples(model, GPUMC_BOLTZMANN) || gpumc_model_samples(model, GPUMC_ATHERMAL);
}

const char *gpumc_model_flaw(const struct gpumc_model_ops *model)
{
  if (model->name == NULL || model->summary == NULL || model->citation == NULL)
    return "no name, summary or citation";
  if (model->keys == NULL || model->kernels == NULL || model->kernels[0] == NULL)
    return "no keys or kernels";
  if (model->create == NULL || model->destroy == NULL)
    return "no create or destroy";
  for (size_t i = 0; model->kernels[i] != NULL; i++)
    if (kernel_flaw(model->kernels[i]) != NULL)
      return kernel_flaw(model->kernels[i]);
  if (!is_sampled(model))
    return "no move samples its weights";
  if (trajectories_flaw(model->kernels) != NULL)
    return trajectories_flaw(model->kernels);
  if (devices_flaw(model->kernels) != NULL)
    return devices_flaw(model->kernels);
  if (controls_flaw(model) != NULL)
    return controls_flaw(model);
  return channels_flaw(model) != NULL ? channels_flaw(model) : means_flaw(model);
}

const char *gpumc_algorithm_flaw(const struct gpumc_algorithm_ops *algorithm)
{
  if (algorithm->name == NULL || algorithm->summary == NULL || algorithm->citation == NULL ||
      algorithm->keys == NULL)
    return "no name, summary, citation or keys";
  if (algorithm->demand == NULL || algorithm->create == NULL || algorithm->advance == NULL ||
      algorithm->position == NULL || algorithm->save == NULL || algorithm->load == NULL ||
      algorithm->summarize == NULL || algorithm->destroy == NULL)
    return "a required operation is missing";
  for (const struct gpumc_key *key = algorithm->keys; key->name != NULL; key++)
    if (strcmp(key->name, "update") == 0 && key->choices != gpumc_update_choices[algorithm->target])
      return "its key update has choices of its own";
  return NULL;
}

/* Where replicas are exchanged, copies are compared, too. */
static bool pairs_are_served(const struct gpumc_model *model)
{
  for (const struct gpumc_kernel_ops *const *kernel = model->ops->kernels; *kernel != NULL;
       kernel++)
    if (model->pair[0].unit > 0 && (*kernel)->exchange != NULL && (*kernel)->compare == NULL)
      return false;
  return true;
}

const char *gpumc_instance_flaw(const struct gpumc_model *model)
{
  if (model->sites == 0 || model->portable_bytes == 0 || model->samples == 0)
    return "no sites, portable_bytes or samples";
  if (has_energy(model->ops) && (model->log_states == 0 || !isfinite(model->log_states)))
    return "log_states";
  if (has_energy(model->ops) && (model->energy_unit[0] == '\0' || model->beta_unit[0] == '\0'))
    return "no units";
  for (size_t c = 0; c < model->ops->n_channels; c++) {
    const struct gpumc_profile *profile = &model->profile[c];
    if (gpumc_channel_is_profile(&model->ops->channels[c])) {
      if (profile->width == 0 || profile->at == NULL || profile->unit == NULL)
        return "a profile without numbers";
    } else if (!(model->quantum[c] > 0) || !(model->bound[c] > 0)) {
      return "a channel without quantum or bound";
    }
  }
  if (model->grid[0].levels > 0 && model->grid[0].spacing <= 0)
    return "levels without spacing";
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    if (model->pair[k].unit < 0 || (model->pair[k].bound > 0 && model->pair[k].spacing <= 0))
      return "a pair without unit or spacing";
  if (!pairs_are_served(model))
    return "it has pairs, but a kernel exchanges replicas without comparing them";
  if (model->disorder && model->ops->sample_checksum == NULL)
    return "disorder without sample_checksum";
  return NULL;
}
