/* The two-dimensional Ising model: what its kernels and tests know of an instance. */
#ifndef GPUMC_ISING2D_H
#define GPUMC_ISING2D_H

#include "core/model.h"
#include "models/lattice/checkerboard.h"

enum ising2d_channel { ISING2D_ENERGY, ISING2D_MAGNETIZATION, ISING2D_CHANNELS };

/* gpumc_model.parameters. `coupling_quanta`, `field_quanta`: J and h in quanta of the energy. */
struct ising2d_parameters {
  struct gpumc_checkerboard lattice;
  double coupling, field;
  double coupling_quanta, field_quanta;
};

static inline const struct ising2d_parameters *ising2d_parameters(const struct gpumc_model *model)
{
  return model->parameters;
}

/* An instance without a configuration: sides even, from 2 to 65536, J not 0. */
GPUMC_MUST_CHECK enum gpumc_status ising2d_instance(const size_t shape[2], double coupling,
                                                    double field, struct gpumc_model *model,
                                                    struct gpumc_error *error);

extern const struct gpumc_model_ops gpumc_model_ising2d;
extern const struct gpumc_kernel_ops ising2d_multispin_cpu, ising2d_spin_cpu;
/* In a build without CUDA they are absent. */
extern const struct gpumc_kernel_ops ising2d_multispin_cuda, ising2d_spin_cuda,
    ising2d_replica_cuda;

#endif
