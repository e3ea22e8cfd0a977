/* A build without CUDA: no GPU. */
#include <string.h>

#include "core/device_cuda.h"

void gpumc_gpus_find(struct gpumc_gpu_list *gpus)
{
  memset(gpus, 0, sizeof *gpus);
}

double gpumc_gpu_available(int index)
{
  (void)index;
  return -1;
}

enum gpumc_status gpumc_device_cuda_open(const struct gpumc_gpu_list *gpus, int index,
                                         struct gpumc_device *device, struct gpumc_error *error)
{
  (void)gpus;
  (void)device;
  return gpumc_error_set(error, GPUMC_DEVICE, "device cuda:%d: this gpumc was built without CUDA",
                         index);
}
