/* The multispin kernel on a GPU: memory, rules and spreads for the drivers. */
#include "models/ising/ising_multispin_cuda.h"

#include <assert.h>

#include "models/ising/ising_cuda.h"
#include "models/ising/ising_host_cuda.h"
#include "models/ising/ising_multispin.h"
#include "models/ising/ising_storage_cuda.h"

static_assert((int)ISING_MULTISPIN_CLASSES == (int)ISING_CLASSES &&
                  (int)ISING_MULTISPIN_PLANES == (int)GPUMC_BIT_PLANES,
              "the drivers' thresholds are those of the rule");

static size_t tiles_of(const struct gpumc_model *model)
{
  return ising_parts(model->sites, ISING_MULTISPIN_TILE_SITES);
}

static struct ising_layout layout_of(const struct gpumc_model *model)
{
  return (struct ising_layout){.group = ISING_MULTISPIN_LANES,
                               .group_bytes = tiles_of(model) * ISING_MULTISPIN_TILE_BYTES};
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const struct ising_layout layout = layout_of(model);
  return ising_storage_bytes(model, &layout, plan);
}

static struct ising_multispin_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(ensemble->model)->lattice;
  return (struct ising_multispin_replicas){
      .batch = ising_batch_of(ensemble),
      .words = ising_storage_of(ensemble)->replicas,
      .groups = (uint32_t)ising_parts(ensemble->plan.capacity, ISING_MULTISPIN_LANES),
      .tiles = (uint32_t)tiles_of(ensemble->model),
      .length_x = (uint32_t)lattice->length_x,
      .colour = (uint32_t)lattice->colour,
      .row = gpumc_divisor_make((uint32_t)lattice->row),
  };
}

static enum gpumc_status from_portable(const struct gpumc_ensemble *ensemble,
                                       const struct ising_portable *portable,
                                       struct gpumc_error *error)
{
  const struct ising_multispin_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_multispin_from_portable(&arguments, error);
}

static enum gpumc_status to_portable(const struct gpumc_ensemble *ensemble,
                                     const struct ising_portable *portable,
                                     struct gpumc_error *error)
{
  const struct ising_multispin_transfer arguments = {replicas_of(ensemble), *portable};
  return ising_multispin_to_portable(&arguments, error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_layout layout = layout_of(ensemble->model);
  return ising_storage_create(ensemble, &layout, from_portable, to_portable, error);
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising_multispin_replicas replicas = replicas_of(ensemble);
  return ising_multispin_randomize(&replicas, error);
}

/* The plain rule has two classes. */
static bool no_bit(const uint32_t bit[ISING_CLASSES], bool plain)
{
  uint32_t any = 0;
  for (size_t c = 0; c < (plain ? 2 : ISING_CLASSES); c++)
    any |= bit[c];
  return any == 0;
}

/* A class that is always accepted has all ones, and its lanes that equal them are let through. */
static struct ising_multispin_device_rule
rule_of(const struct gpumc_ensemble *ensemble, double beta)
{
  const struct ising_parameters *parameters = ising_parameters(ensemble->model);
  const struct ising_multispin_rule host =
      ising_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, 0), beta,
                           parameters->coupling, parameters->field);
  struct ising_multispin_device_rule rule = {.plain = host.plain,
                                             .stagger = host.plain ? ~host.like : 0};
  for (size_t c = 0; c < ISING_CLASSES; c++) {
    rule.always[c] = ~host.thresholds.need[c];
    rule.spin_up[c] = host.spin_up[c];
    for (size_t p = 0; p < GPUMC_BIT_PLANES; p++)
      rule.bit[p][c] = host.thresholds.bit[p][c] | rule.always[c];
  }
  while (rule.zeros < GPUMC_BIT_PLANES && no_bit(rule.bit[rule.zeros], host.plain))
    rule.zeros++;
  return rule;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, const double *beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  struct ising_multispin_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .rule = rule_of(ensemble, sweeps > 0 ? beta[0] : 0.0),
      .channels = ising_channels_of(ensemble->model, channel),
      .sweeps = sweeps,
  };
  arguments.spread = ising_multispin_spread(ensemble->device, &arguments.replicas);
  return arguments.spread.in_shared ? ising_multispin_sweep_shared(&arguments, error)
                                    : ising_multispin_sweep_global(&arguments, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising_multispin_gather arguments = {replicas_of(ensemble), parent};
  return ising_multispin_copy_parents(&arguments, error);
}

const struct gpumc_kernel_ops ising_multispin_cuda = {
    ISING_MULTISPIN_CUDA_NAMES,
    .bytes = bytes,
    .create = create,
    .destroy = ising_storage_destroy,
    .randomize = randomize,
    .set = ising_storage_set,
    .get = ising_storage_get,
    .sweep = sweep,
    .measure = ising_host_measure,
    .gather = gather,
};
