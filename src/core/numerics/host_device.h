/* Marks functions that both the C compiler and nvcc compile. */
#ifndef GPUMC_CORE_HOST_DEVICE_H
#define GPUMC_CORE_HOST_DEVICE_H

#ifdef __CUDACC__
#define GPUMC_HOST_DEVICE __host__ __device__
#else
#define GPUMC_HOST_DEVICE
#endif

/* Unrolls the loop that follows, or keeps it a loop, on a GPU. */
#ifdef __CUDA_ARCH__
#define GPUMC_UNROLL _Pragma("unroll")
#define GPUMC_LOOP _Pragma("unroll 1")
#else
#define GPUMC_UNROLL
#define GPUMC_LOOP
#endif

#endif
