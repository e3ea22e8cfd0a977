/* What populations on every device have in common: their arrays. */
#include <string.h>

#include "core/device/device.h"

static size_t bins_count(const struct gpumc_population_plan *plan)
{
  return plan->strata * plan->blocks * plan->levels;
}

size_t
gpumc_population_bytes(const struct gpumc_device *device, const struct gpumc_population_plan *plan)
{
  const struct gpumc_population *population = NULL;
  size_t replica = plan->n_channels * sizeof *population->channel[0] + sizeof *population->weight +
                   sizeof *population->parent + sizeof *population->copies +
                   sizeof *population->family;
  return plan->runs * plan->capacity * replica + bins_count(plan) * sizeof *population->bins +
         device->ops->population->own_bytes(plan);
}

static enum gpumc_status
allocate_arrays(struct gpumc_population *population, struct gpumc_error *error)
{
  struct gpumc_device *device = population->device;
  const struct gpumc_population_plan *plan = &population->plan;
  const size_t count = plan->runs * plan->capacity;
  enum gpumc_status status = GPUMC_OK;
  for (size_t c = 0; c < plan->n_channels && status == GPUMC_OK; c++)
    status = gpumc_device_array(device, &population->channel[c], count, "measurements", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &population->weight, count, "weights", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &population->parent, count, "parents", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &population->copies, count, "numbers of copies", error);
  if (status == GPUMC_OK)
    status = gpumc_device_array(device, &population->family, count, "families", error);
  if (status == GPUMC_OK && plan->levels > 0)
    status =
        gpumc_device_array(device, &population->bins, bins_count(plan), "energy histograms", error);
  return status;
}

enum gpumc_status gpumc_population_create(struct gpumc_device *device,
                                          const struct gpumc_population_plan *plan, uint32_t *size,
                                          struct gpumc_population *population,
                                          struct gpumc_error *error)
{
  *population = (struct gpumc_population){.plan = *plan, .device = device, .size = size};
  enum gpumc_status status = allocate_arrays(population, error);
  if (status == GPUMC_OK)
    status = device->ops->population->create(population, error);
  if (status != GPUMC_OK)
    gpumc_population_free(population);
  return status;
}

void gpumc_population_free(struct gpumc_population *population)
{
  struct gpumc_device *device = population->device;
  if (device == NULL)
    return;
  device->ops->population->destroy(population);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    device->ops->release(device, population->channel[c]);
  device->ops->release(device, population->weight);
  device->ops->release(device, population->parent);
  device->ops->release(device, population->copies);
  device->ops->release(device, population->family);
  device->ops->release(device, population->bins);
  memset(population, 0, sizeof *population);
}
