/* The kernels of O(n) spins: which there are, their key, what they cost. */
#include "models/heisenberg/heisenberg.h"

/* Nanoseconds of a spin in a sweep, about (docs/kernels/heisenberg.md). */
#define SPIN_COST_DOUBLE 6.0
#define SPIN_COST_FLOAT 4.5

enum { OVER_RELAXATION_DEFAULT = 4 };

const struct gpumc_kernel_ops *const heisenberg_kernels[] = {
    &heisenberg_double_cpu, &heisenberg_float_cpu, &heisenberg_double_cuda,
    &heisenberg_float_cuda, &heisenberg_fast_cuda, NULL};

const struct gpumc_key heisenberg_keys[] = {
    {.name = "over_relaxation",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Sweeps of over-relaxation after each one of heat bath, where `update` is `mixed`. "
            "Kernels of O(n) spins only.",
     .default_text = "4",
     .unit = "sweeps",
     .minimum = 0,
     .maximum = 1000,
     .sweepable = true},
    {.name = NULL},
};

void heisenberg_read_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  options->own[0] = gpumc_params_has(kernel, "over_relaxation")
                        ? (uint64_t)gpumc_params_integer(kernel, "over_relaxation")
                        : OVER_RELAXATION_DEFAULT;
  options->together = 0;
}

double heisenberg_cost_double(const struct gpumc_model *model, size_t replicas)
{
  return SPIN_COST_DOUBLE * (double)model->sites * (double)replicas;
}

double heisenberg_cost_float(const struct gpumc_model *model, size_t replicas)
{
  return SPIN_COST_FLOAT * (double)model->sites * (double)replicas;
}
