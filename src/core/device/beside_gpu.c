/* Background threads of a GPU. */
#include "core/device/beside_gpu.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A list that begins at gpumc_device.beside. */
struct beside {
  struct beside *next;
  pthread_t thread;
  int index; /* of the GPU */
  void (*work)(const void *argument);
  unsigned char argument[];
};

static void *run(void *memory)
{
  const struct beside *beside = memory;
  if (cudaSetDevice(beside->index) == cudaSuccess)
    beside->work(beside->argument);
  (void)cudaGetLastError();
  return NULL;
}

void gpumc_gpu_beside(struct gpumc_device *device, void (*work)(const void *argument),
                      const void *argument, size_t bytes)
{
  struct beside *beside = malloc(sizeof *beside + bytes);
  if (beside == NULL)
    return;
  beside->next = device->beside;
  beside->index = device->index;
  beside->work = work;
  if (bytes > 0)
    memcpy(beside->argument, argument, bytes);
  /* Signals are for the threads that wait for them. */
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&beside->thread, NULL, run, beside) == 0)
    device->beside = beside;
  else
    free(beside);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gpumc_gpu_beside_end(struct gpumc_device *device)
{
  while (device->beside != NULL) {
    struct beside *beside = device->beside;
    device->beside = beside->next;
    (void)pthread_join(beside->thread, NULL);
    free(beside);
  }
}
