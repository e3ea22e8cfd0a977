/* Population annealing: sizes and families between the device and the host. */
#include "algorithms/pa/pa_families.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum gpumc_status
pa_families_make(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  memset(families, 0, sizeof *families);
  enum gpumc_status status =
      gpumc_allocate_array(&families->size, ensemble->runs + 1, "sizes of the populations", error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_get_sizes(ensemble, families->size, error);
  for (size_t m = 0; m < ensemble->runs && status == GPUMC_OK; m++)
    families->replicas += families->size[m];
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&families->family, families->replicas + 1, "families", error);
  return status;
}

void pa_families_free(struct pa_families *families)
{
  free(families->size);
  free(families->family);
}

typedef enum gpumc_status copy_labels(struct gpumc_device *device, uint32_t *on_device,
                                      uint32_t *on_host, size_t count, struct gpumc_error *error);

static enum gpumc_status fetch(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_host(device, on_host, on_device, count * sizeof *on_host, error);
}

static enum gpumc_status bring(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_device(device, on_device, on_host, count * sizeof *on_host, error);
}

/* On the device every run has room for `capacity`. */
static enum gpumc_status copy_families(const struct pa *pa, copy_labels *copy,
                                       const struct pa_families *families,
                                       struct gpumc_error *error)
{
  uint32_t *on_host = families->family;
  enum gpumc_status status = GPUMC_OK;
  for (size_t m = 0; m < pa->context.ensemble->runs && status == GPUMC_OK; m++) {
    status = copy(pa->context.device, pa->population.family + m * pa->population.plan.capacity,
                  on_host, families->size[m], error);
    on_host += families->size[m];
  }
  return status;
}

enum gpumc_status
pa_families_fetch(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, fetch, families, error);
}

enum gpumc_status
pa_families_bring(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, bring, families, error);
}
