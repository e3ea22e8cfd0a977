/* Models of Ising spins s = +-1 on a periodic square or simple cubic lattice,
 *
 *   E = -sum_<ij> J_ij s_i s_j - sum_i h_i s_i,
 *
 * which differ only in dimension and disorder and share all kernels: ising2d, ising3d, ea. This is
 * the interface of an instance for kernels and tests. */
#ifndef GPUMC_ISING_H
#define GPUMC_ISING_H

#include "core/simulation/model.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/checkerboard.h"
#include "models/lattice/disorder/disorder.h"

enum { ISING_DIMENSIONS_MAXIMUM = LATTICE_DIMENSIONS_MAXIMUM };

/* Limit on the sites of a lattice: the words of 32 sites are numbered by a word of the counter, and
 * the packed kernel numbers those of one colour with 31 bits. Kernels with a word for each site
 * number sites with 32 bits. */
#define ISING_SITES_LIMIT ((size_t)1 << 37)
#define ISING_WORD_SITES_MAXIMUM ((size_t)1 << 32)

/* The wave channel is |sum_i s_i exp(i k r_i)|^2, averaged over the smallest wave vectors. Those of
 * clusters are sums over clusters of M_c^2 and of their waves (cluster/cluster_rules.h), measured
 * where the plan makes a move of clusters. */
enum ising_channel {
  ISING_ENERGY,
  ISING_MAGNETIZATION,
  ISING_WAVE,
  ISING_STATE_CHANNELS, /* those of spins alone, whatever the moves */
  ISING_CLUSTER_SQUARE = ISING_STATE_CHANNELS,
  ISING_CLUSTER_WAVE,
  ISING_CHANNELS
};

/* With disorder every energy is an integer number of quanta and thus exact; a Gaussian number is
 * rounded to the nearest one. */

/* All false for a model without disorder; field_width is in quanta. */
struct lattice_disorder_traits ising_disorder_traits(const struct gpumc_model *model);
/* Returns why couplings and fields cannot be stored as one bit each, NULL if they can. */
const char *ising_disorder_no_bits(const struct gpumc_model *model);

/* Computes sample `number` after the first: coupling[sites][dimension] = J(i, i + e_d) and
 * field[sites] = h_i, the uniform field included, in quanta; sites in the order x + Lx (y + Ly z).
 * NULL: not wanted. For any instance, with disorder or without. Samples of a file are read into
 * memory when one of them is first needed, so calls for one instance must be made one after the
 * other. */
GPUMC_MUST_CHECK enum gpumc_status ising_disorder_sample(const struct gpumc_model *model,
                                                         size_t number, int32_t *coupling,
                                                         int32_t *field, struct gpumc_error *error);

/* The settings that define an instance. */
struct ising_settings {
  const struct gpumc_model_ops *ops;
  size_t dimension, shape[ISING_DIMENSIONS_MAXIMUM]; /* sides even, from 2 to 1048576 */
  double coupling; /* J if couplings are uniform, not 0; otherwise J_ij are as drawn and this is
                    * 1 */
  double field;    /* h, the same for all sites; random fields come on top */
  struct lattice_disorder_settings disorder; /* zeroed: none */
  bool write_disorder;                       /* write it to the result */
};

/* gpumc_model.parameters. Quanta are those of the energy, gpumc_model.quantum[ISING_ENERGY].
 * `plain`: no field of any kind and |J_ij| the same for all bonds, so that a change of energy is a
 * multiple of 4 |J|. */
struct ising_parameters {
  struct gpumc_checkerboard lattice;
  double coupling, field;
  double coupling_quanta, field_quanta;
  bool plain, write_disorder;
  double wave_number; /* the smallest, 2 pi / L */
  /* Gaussian couplings and no field: sum of the couplings' variances, per site; otherwise 0. */
  double bond_variance;
  struct lattice_disorder *disorder; /* NULL: uniform J and h, nothing else */
};

static inline const struct ising_parameters *ising_parameters(const struct gpumc_model *model)
{
  return (const struct ising_parameters *)model->parameters;
}

/* Returns `plain`, for a field that stays 0. */
static inline bool
ising_is_plain(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  return ising_parameters(model)->plain && plan->moved != ISING_FIELD;
}
/* Returns GPUMC_INVALID or GPUMC_FAILURE for problems of the disorder (a file that cannot be read,
 * say). */
GPUMC_MUST_CHECK enum gpumc_status ising_instance(const struct ising_settings *settings,
                                                  struct gpumc_model *model,
                                                  struct gpumc_error *error);
/* Return bounds on the size of one bond, and of the field of one site. */
double ising_largest_coupling(const struct ising_parameters *parameters);
double ising_largest_field(const struct ising_parameters *parameters);
/* ising_spectrum.c: describes the levels of the energy, gpumc_model.grid, if couplings and fields
 * have a common unit and levels are not too many. For an instance that is not plain. */
void ising_describe_spectrum(struct gpumc_model *model);
/* gpumc_model_ops.record */
GPUMC_MUST_CHECK enum gpumc_status ising_record(const struct gpumc_model *model, size_t samples,
                                                struct gpumc_recorder *recorder,
                                                struct gpumc_error *error);
/* gpumc_model_ops.sample_checksum: of couplings and fields, the uniform one included, as energies,
 * so that it does not depend on quanta. */
GPUMC_MUST_CHECK enum gpumc_status ising_sample_checksum(const struct gpumc_model *model,
                                                         size_t number, uint64_t *checksum,
                                                         struct gpumc_error *error);
/* gpumc_model_ops.destroy */
void ising_destroy(struct gpumc_model *model);

/* The quantities that compare two replicas, s and t their spins, q_i = s_i t_i. */
enum ising_pair_kind {
  ISING_PAIR_SPIN, /* sum of q_i */
  ISING_PAIR_LINK, /* sum of s_i s_j t_i t_j over the bonds */
  /* |sum of q_i exp(i k r_i)|^2, averaged over the smallest wave vectors k of the lattice, in
   * quanta of its own (gpumc_model.pair). */
  ISING_PAIR_WAVE,
  ISING_PAIRS
};

/* The controls, channels, pairs, means and quantities of all these models. */
extern const struct gpumc_control ising_controls[ISING_CONTROLS];
void ising_coefficients(const struct gpumc_model *model, const double *control,
                        double *coefficient);
extern const struct gpumc_channel ising_channels[ISING_CHANNELS];
extern const struct gpumc_pair ising_pairs[ISING_PAIRS];
enum ising_mean {
  ISING_MEAN_ENERGY,
  ISING_MEAN_ENERGY2,
  ISING_MEAN_ABS_MAGNETIZATION,
  ISING_MEAN_MAGNETIZATION2,
  ISING_MEAN_MAGNETIZATION4,
  ISING_MEAN_STRUCTURE_FACTOR,
  ISING_MEAN_ENERGY_PRODUCT,
  ISING_MEAN_ABS_OVERLAP,
  ISING_MEAN_OVERLAP2,
  ISING_MEAN_OVERLAP4,
  ISING_MEAN_LINK_OVERLAP,
  ISING_MEAN_OVERLAP_WAVE,
  ISING_MEAN_CLUSTER_SQUARE,
  ISING_MEAN_CLUSTER_WAVE,
  ISING_MEAN_MAGNETIZATION,
  ISING_MEAN_MAGNETIZATION_PRODUCT,
  ISING_MEANS
};
enum { ISING_QUANTITIES = 24 };
extern const struct gpumc_mean ising_means[ISING_MEANS];
extern const struct gpumc_quantity ising_quantities[ISING_QUANTITIES];
/* The shared part of their gpumc_model_ops, as initialisers. */
#define ISING_MODEL                                                                                \
  .controls = ising_controls, .n_controls = ISING_CONTROLS, .coefficients = ising_coefficients,    \
  .channels = ising_channels, .n_channels = ISING_CHANNELS, .tracked = ISING_ENERGY,               \
  .pairs = ising_pairs, .n_pairs = ISING_PAIRS, .means = ising_means, .n_means = ISING_MEANS,      \
  .quantities = ising_quantities, .n_quantities = ISING_QUANTITIES, .destroy = ising_destroy

/* The moves of all these kernels, enum ising_move; most have the first ISING_LOCAL_MOVES of them.
 * Then gpumc_kernel_ops.keys and read of a kernel that has them all. */
extern const struct gpumc_move ising_moves[ISING_MOVES];
extern const struct gpumc_key ising_move_keys[];
void ising_read_move_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);

/* gpumc_kernel_ops.refuses for kernels that number sites with 32 bits and refuse nothing else. */
const char *ising_cpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key);
const char *ising_gpu_refuses(const struct gpumc_model *model,
                              const struct gpumc_kernel_options *options, const char **key);

/* A run's row of gpumc_target.control, and whether two are equal. */
static inline const double *ising_controls_of(const double *control, size_t m)
{
  return control + m * ISING_CONTROLS;
}
static inline bool ising_same_controls(const double *control, size_t m, size_t n)
{
  const double *one = ising_controls_of(control, m), *other = ising_controls_of(control, n);
  return one[ISING_BETA] == other[ISING_BETA] && one[ISING_FIELD] == other[ISING_FIELD];
}

/* For any model, and for one that always has disorder. NULL-terminated; those on GPUs are absent in
 * a build without CUDA. */
extern const struct gpumc_kernel_ops *const ising_kernels[], *const ising_disorder_kernels[];
extern const struct gpumc_kernel_ops ising_multispin_cpu, ising_spin_cpu, ising_packed_cpu,
    ising_tiled_cpu, ising_walker_cpu;
extern const struct gpumc_kernel_ops ising_multispin_cuda, ising_spin_cuda, ising_walker_cuda,
    ising_packed_cuda, ising_tiled_cuda;

#endif
