/* A build without CUDA: no GPU. */
#include <string.h>

#include "core/device/device_gpu.h"

void gpumc_gpus_find(struct gpumc_gpu_list *gpus)
{
  memset(gpus, 0, sizeof *gpus);
}

/* Unknown here. */
static size_t scan_bytes(size_t count)
{
  (void)count;
  return 0;
}

const struct gpumc_device_ops *gpumc_device_cuda_absent(void)
{
  static const struct gpumc_device_ops absent = {.name = "cuda",
                                                 .kind = GPUMC_KIND_CUDA,
                                                 .scan_bytes = scan_bytes,
                                                 .available = gpumc_absent_available,
                                                 .close = gpumc_absent_close};
  return &absent;
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
