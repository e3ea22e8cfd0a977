/* Resampling on the CPU: how many copies of each replica, and where they go. */
#include <stdlib.h>

#include "core/device.h"
#include "core/memory.h"
#include "core/population_cpu.h"

static uint64_t
uniform_below(struct gpumc_random random, uint32_t site, uint32_t time, uint64_t limit)
{
  uint32_t word[4];
  gpumc_random_draw(random, site, 0, time, gpumc_random_label(GPUMC_RANDOM_RESAMPLE, 0), word);
  uint64_t uniform = (uint64_t)word[0] << 32 | word[1];
  return (uint64_t)((unsigned __int128)uniform * limit >> 64);
}

/* Eq. 2 of Barash et al. (2017) in integers: tau = target w / total, its floor and one more with
 * the probability of its fraction. target w stays below 2^62 (see gpumc_weighing). */
static void nearest_integer(struct gpumc_device *device, const uint64_t *weight, size_t n,
                            const struct gpumc_resampling_request *request, uint32_t *copies)
{
#pragma omp parallel for num_threads(device->threads)
  for (size_t r = 0; r < n; r++) {
    uint64_t scaled = request->target * weight[r];
    uint64_t whole = scaled / request->total;
    uint64_t fraction = scaled % request->total;
    uint64_t uniform = uniform_below(request->random, (uint32_t)r, request->time, request->total);
    copies[r] = (uint32_t)(whole + (uniform < fraction));
  }
}

/* One uniform number for all: replica j gets the points (i + u) total/target that fall into its
 * stretch of the cumulated weights; the population stays exactly at the target. */
static void systematic(const uint64_t *weight, size_t n,
                       const struct gpumc_resampling_request *request, uint32_t *copies)
{
  uint64_t offset = uniform_below(request->random, 0, request->time, request->total);
  unsigned __int128 sum = offset;
  uint64_t before = 0;
  for (size_t r = 0; r < n; r++) {
    sum += (unsigned __int128)request->target * weight[r];
    uint64_t after = (uint64_t)(sum / request->total);
    copies[r] = (uint32_t)(after - before);
    before = after;
  }
}

static void assign_places(const uint32_t *copies, size_t n, size_t size, uint32_t *parent)
{
  const uint32_t free_place = UINT32_MAX;
  for (size_t r = 0; r < size; r++)
    parent[r] = r < n && copies[r] > 0 ? (uint32_t)r : free_place;
  size_t place = 0;
  for (size_t r = 0; r < n; r++) {
    uint32_t children = copies[r] - (r < size && copies[r] > 0);
    for (; children > 0; children--) {
      while (parent[place] != free_place)
        place++;
      parent[place] = (uint32_t)r;
    }
  }
}

enum gpumc_status
gpumc_population_cpu_resample(struct gpumc_device *device, const uint64_t *weight, size_t n,
                              const struct gpumc_resampling_request *request, uint32_t *parent,
                              uint32_t *scratch, size_t *size, struct gpumc_error *error)
{
  if (request->method == GPUMC_RESAMPLING_SYSTEMATIC)
    systematic(weight, n, request, scratch);
  else
    nearest_integer(device, weight, n, request, scratch);
  *size = 0;
  for (size_t r = 0; r < n; r++)
    *size += scratch[r];
  if (*size == 0 || *size > request->capacity)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "resampling step %u gave %zu replicas, where 1 to %zu have room: the "
                           "step in beta is too large for this population",
                           request->time, *size, request->capacity);
  assign_places(scratch, n, *size, parent);
  return GPUMC_OK;
}
