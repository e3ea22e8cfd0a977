/* What the CUDA kernels of one number a spin measure, and where it goes. */
#include "models/ising/spin/spin_measured_cuda.h"

#include "models/ising/ising.h"

struct ising_measured ising_measured_channels(size_t runs, int64_t *const *channel)
{
  return (struct ising_measured){
      .runs = (uint32_t)runs,
      .energy = channel[ISING_ENERGY],
      .spins = channel[ISING_MAGNETIZATION],
      .wave = channel[ISING_WAVE],
  };
}

struct ising_measured ising_measured_overlaps(size_t first, size_t second, size_t runs,
                                              int64_t *const overlap[GPUMC_OVERLAPS])
{
  return (struct ising_measured){
      .first = (uint32_t)first,
      .second = (uint32_t)second,
      .runs = (uint32_t)runs,
      .product = 1,
      .spins = overlap[GPUMC_OVERLAP_SPIN],
      .links = overlap[GPUMC_OVERLAP_LINK],
      .wave = overlap[GPUMC_OVERLAP_WAVE],
  };
}
