/* Marks functions that both the C compiler and nvcc compile. */
#ifndef GPUMC_CORE_HOST_DEVICE_H
#define GPUMC_CORE_HOST_DEVICE_H

#ifdef __CUDACC__
#define GPUMC_HOST_DEVICE __host__ __device__
#else
#define GPUMC_HOST_DEVICE
#endif

#endif
