/* Classical O(n) spins on a periodic chain, square or simple cubic lattice,
 *
 *   E = -sum_<ij> J_ij S_i . S_j - h sum_i S_i^x,   |S_i| = 1, n = 3 (Heisenberg) or 2 (XY):
 *
 * the interface of an instance for kernels and tests. Couplings are J for all bonds, or quenched.
 */
#ifndef GPUMC_HEISENBERG_H
#define GPUMC_HEISENBERG_H

#include "core/simulation/model.h"
#include "models/heisenberg/heisenberg_channels.h"
#include "models/heisenberg/quenched/quenched_pairs.h"
#include "models/heisenberg/heisenberg_physics.h"
#include "models/lattice/checkerboard.h"
#include "models/lattice/disorder/disorder.h"
#include "models/lattice/wave.h"

enum { HEISENBERG_DIMENSIONS_MAXIMUM = 3 };

/* Sites of one colour, and counters, are numbered with 32 bits. */
#define HEISENBERG_SITES_LIMIT ((size_t)1 << 32)

/* Lower limit of couplings that are not 0: squares of fields below 2^-100 count as none in
 * reflections, and are not far from underflow in float. */
#define HEISENBERG_COUPLING_LEAST 1e-12

/* The settings that define an instance. */
struct heisenberg_settings {
  size_t dimension, shape[HEISENBERG_DIMENSIONS_MAXIMUM]; /* sides even, from 2 to 1048576 */
  int components;                                         /* n: 2 or 3 */
  double coupling, field;                    /* J, |J| >= HEISENBERG_COUPLING_LEAST; h */
  struct lattice_disorder_settings disorder; /* zeroed: none; never fields */
  bool write_couplings;                      /* write them to the result */
};

/* gpumc_model.parameters. The portable form of a replica is S[sites][n] in doubles, sites in the
 * order x + Lx (y + Ly z). */
struct heisenberg_parameters {
  struct gpumc_checkerboard lattice;
  int components;
  double coupling, field;
  double weight; /* w of heisenberg_physics.h; 1 without quenched couplings */
  bool write_couplings;
  struct lattice_disorder *disorder; /* NULL: J for all bonds */
  char unwalkable[128];              /* text for gpumc_model.unwalkable if it contains a number */
};

static inline const struct heisenberg_parameters *
heisenberg_parameters(const struct gpumc_model *model)
{
  return (const struct heisenberg_parameters *)model->parameters;
}

/* Makes an instance. GPUMC_FAILURE if memory ran out; GPUMC_INVALID for a file that cannot be read,
 * or whose values are too small, or differ too much in size. */
GPUMC_MUST_CHECK enum gpumc_status heisenberg_instance(const struct heisenberg_settings *settings,
                                                       struct gpumc_model *model,
                                                       struct gpumc_error *error);

/* Returns how many numbers a sample of quenched couplings has in kernels: c[2][2 d][N/2], of
 * heisenberg_physics.h, by colour, neighbour (enum heisenberg_neighbour) and site; 0 without
 * any. */
size_t heisenberg_couplings_count(const struct gpumc_model *model);
/* Converts samples first .. first + count - 1 after the first one to float (`single`) or double
 * c[count][heisenberg_couplings_count()]. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_couplings_fill(const struct gpumc_model *model, size_t first, size_t count, bool single,
                          void *couplings, struct gpumc_error *error);
/* gpumc_model_ops.record and sample_checksum, for J_ij as kernels have them. */
GPUMC_MUST_CHECK enum gpumc_status
heisenberg_record_samples(const struct gpumc_model *model, size_t samples,
                          struct gpumc_recorder *recorder, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status heisenberg_sample_checksum(const struct gpumc_model *model,
                                                              size_t number, uint64_t *checksum,
                                                              struct gpumc_error *error);

/* Returns the number of chiralities of a replica (quenched_pairs.h): of every site along each axis,
 * or of every plaquette. */
double heisenberg_chiralities(const struct gpumc_model *model);
/* Returns the data of the model that heisenberg_record needs. */
struct heisenberg_units heisenberg_units_of(const struct gpumc_model *model);
struct lattice_wave heisenberg_wave_of(const struct gpumc_model *model);
/* Returns the binary exponent of the unit of HEISENBERG_CLUSTER_SQUARE in squares of quanta. */
uint32_t heisenberg_cluster_shift(const struct gpumc_model *model);

/* Responses to the moved control. */
enum { HEISENBERG_IN_BETA = 1 << HEISENBERG_BETA, HEISENBERG_IN_FIELD = 1 << HEISENBERG_FIELD };

/* The means that are measured; quantities use them. */
enum heisenberg_mean {
  HEISENBERG_MEAN_ENERGY,
  HEISENBERG_MEAN_ENERGY2,
  HEISENBERG_MEAN_MAGNETIZATION_X,
  HEISENBERG_MEAN_MAGNETIZATION_X2,
  HEISENBERG_MEAN_ABS_MAGNETIZATION,
  HEISENBERG_MEAN_MAGNETIZATION2,
  HEISENBERG_MEAN_MAGNETIZATION4,
  HEISENBERG_MEAN_ALONG,
  HEISENBERG_MEAN_ACROSS,
  HEISENBERG_MEAN_DRIFT,
  HEISENBERG_MEAN_STRUCTURE_FACTOR,
  HEISENBERG_MEAN_ENERGY_PRODUCT,
  HEISENBERG_MEAN_OVERLAP2,
  HEISENBERG_MEAN_OVERLAP4,
  HEISENBERG_MEAN_LINK_OVERLAP,
  HEISENBERG_MEAN_OVERLAP_WAVE,
  HEISENBERG_MEAN_CHIRALITY_OVERLAP2,
  HEISENBERG_MEAN_CHIRALITY_OVERLAP4,
  HEISENBERG_MEAN_CLUSTER_SQUARE,
  HEISENBERG_MEAN_CLUSTER_WAVE,
  HEISENBERG_MEANS
};

/* The tables of the model (heisenberg_measured.c, heisenberg_quantities.c), of its moves, and its
 * kernels. */
enum { HEISENBERG_QUANTITIES = 29 };
extern const struct gpumc_control heisenberg_controls[HEISENBERG_CONTROLS];
void heisenberg_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient);
extern const struct gpumc_channel heisenberg_channels[HEISENBERG_CHANNELS];
extern const struct gpumc_pair heisenberg_pairs[HEISENBERG_PAIRS];
extern const struct gpumc_mean heisenberg_means[HEISENBERG_MEANS];
extern const struct gpumc_quantity heisenberg_quantities[HEISENBERG_QUANTITIES];
extern const struct gpumc_move heisenberg_moves[HEISENBERG_MOVES];
extern const struct gpumc_kernel_ops heisenberg_double_cpu, heisenberg_float_cpu;
extern const struct gpumc_kernel_ops heisenberg_double_cuda, heisenberg_float_cuda,
    heisenberg_fast_cuda;
extern const struct gpumc_model_ops gpumc_model_heisenberg;

/* Definitions shared by a kernel on a CPU and one on a GPU, as designated initialisers. */
extern const struct gpumc_key heisenberg_keys[];
void heisenberg_read_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);
double heisenberg_cost_double(const struct gpumc_model *model,
                              const struct gpumc_ensemble_plan *plan, size_t replicas);
double heisenberg_cost_float(const struct gpumc_model *model,
                             const struct gpumc_ensemble_plan *plan, size_t replicas);
#define HEISENBERG_KERNEL                                                                          \
  .moves = heisenberg_moves, .n_moves = HEISENBERG_MOVES, .group = 1, .keys = heisenberg_keys,     \
  .read = heisenberg_read_keys
#define HEISENBERG_DOUBLE_NAMES                                                                    \
  HEISENBERG_KERNEL, .variant = "double", .summary = "components of spins in double precision",    \
                     .trajectory = "heisenberg.double.1", .cost = heisenberg_cost_double
#define HEISENBERG_FLOAT_NAMES                                                                     \
  HEISENBERG_KERNEL, .variant = "float",                                                           \
                     .summary = "components of spins in single precision, sums exact",             \
                     .trajectory = "heisenberg.float.1", .cost = heisenberg_cost_float
#define HEISENBERG_FAST_NAMES                                                                      \
  HEISENBERG_KERNEL, .variant = "fast",                                                            \
                     .summary = "as float, with the GPU's fast approximate functions"

#endif
