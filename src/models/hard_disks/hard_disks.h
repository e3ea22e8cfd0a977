/* Hard disks of diameter 1 in a periodic box at constant volume, or constant pressure: the
 * interface of an instance for kernels and tests. */
#ifndef GPUMC_HARD_DISKS_H
#define GPUMC_HARD_DISKS_H

#include <string.h>

#include "core/simulation/model.h"
#include "models/hard_disks/hard_disks_channels.h"
#include "models/hard_disks/hard_disks_volume.h"

/* Maximum numbers of cells along a side, and of disks: cells are numbered with 32 bits in
 * counters. */
#define HARD_DISKS_CELLS_MAXIMUM 32768
#define HARD_DISKS_PARTICLES_MAXIMUM 1000000000
/* The closest packing, pi / 12^(1/2) = 0.9069, less what rounding needs. */
#define HARD_DISKS_PACKING_MAXIMUM 0.9068
/* Wave vectors of an instance, with components in units of 2 pi / L. */
enum { HARD_DISKS_WAVES_MAXIMUM = 512, HARD_DISKS_WAVE_MAXIMUM = 65536 };

/* MIXED: the first half of the replicas compressed, the second half on a lattice. AUTO: MIXED where
 * a run may not leave the side on which it begins, as far as there is a lattice for it, otherwise
 * COMPRESSED; only in settings. */
enum hard_disks_start {
  HARD_DISKS_COMPRESSED,
  HARD_DISKS_LATTICE,
  HARD_DISKS_MIXED,
  HARD_DISKS_FILE,
  HARD_DISKS_AUTO
};

/* The settings that define an instance. */
struct hard_disks_settings {
  size_t particles, lattice[2]; /* disks, or rows and columns of a triangular lattice; else 0 */
  double packing_fraction;      /* otherwise 0 */
  double aspect;                /* Ly / Lx, if the packing fraction is given */
  double length[2];             /* Lx, Ly, otherwise */
  enum hard_disks_start start;
  const char *file;
  size_t n_waves;
  const int32_t
      *wave; /* [n_waves][2], wave vectors in units of 2 pi / L; none: the smallest ones */
};

/* Grids of cells, and the boxes that replicas on them may have: cells are `least` to `most` quanta
 * wide along x, and along y as given by hard_disks_height(). */
struct hard_disks_grid {
  struct hard_disks_box box; /* of the starting states */
  uint32_t least, most;
};

/* gpumc_model.parameters. */
struct hard_disks_parameters {
  struct hard_disks_box box;          /* at constant volume, and its grid */
  struct hard_disks_grid fixed, open; /* the latter for moves of the volume */
  double length[2];                   /* Lx, Ly: exactly those of the cells */
  double density;                     /* N / (Lx Ly) */
  double packing_fraction;
  enum hard_disks_start start;
  size_t lattice[2]; /* columns and rows of the triangular lattice of a start */
  /* Weights of hard_disks_pressure.h, in quanta of the channels. */
  int64_t contact_weight[HARD_DISKS_CONTACT_LEVELS][HARD_DISKS_BINS];
  int64_t scaling_weight[HARD_DISKS_SCALING_LEVELS][HARD_DISKS_BINS];
  double *positions; /* [N][2] from a file; NULL without one */
  size_t n_waves;
  int32_t *wave;  /* [n_waves][2] */
  double *scales; /* gpumc_profile.at and unit of all profiles */
};

static inline const struct hard_disks_parameters *
hard_disks_parameters(const struct gpumc_model *model)
{
  return (const struct hard_disks_parameters *)model->parameters;
}

enum hard_disks_move { HARD_DISKS_DISPLACEMENT, HARD_DISKS_VOLUME_MOVE, HARD_DISKS_MOVES };
/* Returns the grid of an ensemble's replicas. */
static inline const struct hard_disks_grid *
hard_disks_grid_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  return plan->move == HARD_DISKS_VOLUME_MOVE ? &parameters->open : &parameters->fixed;
}

/* Makes an instance. GPUMC_INVALID for a box that has no grid of cells, a start that is not
 * possible there, and a file that cannot be used; GPUMC_FAILURE if memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_instance(const struct hard_disks_settings *settings,
                                                       struct gpumc_model *model,
                                                       struct gpumc_error *error);

/* ---- the box (hard_disks_box.c) ---- */

/* Computes the parameters that follow from particles and sides: the box, its grid at constant
 * volume, and the density. GPUMC_INVALID if there is no such box. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_make_box(const struct hard_disks_settings *settings,
                                                       struct hard_disks_parameters *parameters,
                                                       struct gpumc_error *error);
/* Finds both grids of that box. */
void hard_disks_find_grids(struct hard_disks_parameters *parameters);

/* ---- replicas ---- */

/* Where a kernel has slot s of cell (a, b) in its arrays x[count] and y[count]. Columns of equal
 * parity may be adjacent, so that vectors hold cells of one colour. */
struct hard_disks_layout {
  size_t count, first, slot, row, parity, column;
};

static inline size_t
hard_disks_place(const struct hard_disks_layout *layout, size_t slot, size_t a, size_t b)
{
  return layout->first + slot * layout->slot + b * layout->row + a % 2 * layout->parity +
         a / 2 * layout->column;
}

/* Returns the layout [slots][m_y][m_x]. */
struct hard_disks_layout hard_disks_plain_layout(const struct hard_disks_box *box);

/* Returns the column or row that is `steps` steps from another, in a periodic box. */
static inline size_t hard_disks_around(size_t cell, int steps, uint32_t cells)
{
  const int64_t all = (int64_t)cells, at = ((int64_t)cell + steps) % all;
  return (size_t)(at < 0 ? at + all : at);
}

/* A replica in host memory. It uses `grid` for the numbers of cells and disks; the widths of its
 * cells are those of the head. */
struct hard_disks_replica {
  const struct hard_disks_box *grid;
  const struct hard_disks_layout *layout;
  float *x, *y;
  struct hard_disks_head *head;
};

static inline struct hard_disks_box hard_disks_box_of(const struct hard_disks_replica *replica)
{
  return hard_disks_box_with(replica->grid, replica->head->width);
}

/* The portable form of a replica, in doubles: Lx, Ly, the offsets, and x, y of each disk in the
 * box, 0 <= x < Lx, 0 <= y < Ly; in the order of cells, row by row, and slots, or of the list of a
 * kernel without cells. All of them are whole quanta, so that nothing is rounded, except that the
 * offset along x includes the end of the last volume move in quarters of a quantum
 * (hard_disks_corner). */
enum { HARD_DISKS_PORTABLE_CORNER = 2, HARD_DISKS_PORTABLE_HEAD = 4 };
_Static_assert(HARD_DISKS_BEYOND < 4, "ends of moves are less than a quantum");

/* Returns the offset along x, in quanta, and the last move, an enum hard_disks_end, as one
 * number. */
static inline double hard_disks_corner(int64_t offset, uint32_t last_move)
{
  return (double)(4 * offset + (int64_t)last_move) / (4.0 * (double)HARD_DISKS_UNIT);
}

static inline void hard_disks_put(uint8_t *portable, size_t i, double value)
{
  memcpy(portable + i * sizeof value, &value, sizeof value);
}

void hard_disks_get(const struct hard_disks_replica *replica, uint8_t *portable);
/* Sets a replica from its portable form. GPUMC_FAILURE for a box or positions that such a replica
 * cannot have; does not check for overlaps. The grid's box is that of the replica. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_set(const struct hard_disks_grid *grid, const uint8_t *portable,
               const struct hard_disks_replica *replica, struct gpumc_error *error);

/* Finds how an instance begins: which start is meant by AUTO, and the lattice of `start: lattice`;
 * nothing for a file, which is read later. GPUMC_INVALID if its start is not possible, or the file
 * cannot be used. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_find_start(const struct hard_disks_settings *settings,
                                                         struct hard_disks_parameters *parameters,
                                                         struct gpumc_error *error);
/* gpumc_model_ops.warn: warns of a lattice that does not fit the box, at densities of a solid. */
const char *hard_disks_warn(const struct gpumc_model *model, char text[GPUMC_WARNING_BYTES]);
/* gpumc_move.warn at constant volume: warns of replicas that all begin on one side, where fluid and
 * solid may both outlive a run. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_warn_of_side(const struct gpumc_model *model,
                                                           size_t samples, const char **warning,
                                                           struct gpumc_error *error);
/* Disks of a start are at least this far apart, so that rounding makes none overlap. */
#define HARD_DISKS_SPACING (1.0 + 0x1p-19)
/* Returns the nearest whole number of quanta, as a place in the box: 0 <= place < length. */
double hard_disks_in_box(double x, double length);
/* Finds two disks of parameters->positions that overlap, the second as early as possible, or sets
 * *one = *other. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_find_overlap(const struct hard_disks_parameters *parameters, size_t *one, size_t *other,
                        struct gpumc_error *error);
/* Reads the positions of a text file (docs/file-format.md) into parameters->positions. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_read_file(const char *path,
                                                        struct hard_disks_parameters *parameters,
                                                        struct gpumc_error *error);
/* Writes positions of a random state into its portable form; the same. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_compress(const struct hard_disks_parameters *parameters, struct gpumc_random random,
                    uint32_t r, int threads, uint8_t *portable, struct gpumc_error *error);
/* Makes the starting state, in portable form, of replica r of a run with this generator, in an
 * ensemble with this plan: the same for all kernels and any number of threads. GPUMC_FAILURE if
 * memory ran out, or a compression got stuck. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_start_state(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       struct gpumc_random random, uint32_t r, int threads, uint8_t *portable,
                       struct gpumc_error *error);

/* ---- moves of the volume (hard_disks_moves.c) ---- */

/* Returns whether an ensemble's sweep at `time` ends with one. */
bool hard_disks_moves_volume(const struct gpumc_ensemble_plan *plan, uint32_t time);
/* gpumc_kernel_ops.check_value: GPUMC_INVALID for pressures that are not above 0, and if the
 * smallest possible step of the volume is too large for the pressure, as happens with millions of
 * disks. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_check_pressure(const struct gpumc_model *model,
                          const struct gpumc_kernel_options *options, size_t control, double value,
                          struct gpumc_error *error);
/* Finds rule[runs] under a target. GPUMC_INVALID for steps as above, and for an instance whose
 * volume cannot be moved. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_find_rules(const struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                      struct hard_disks_volume_rule *rule, struct gpumc_error *error);

/* ---- measurements (hard_disks_measured.c, hard_disks_sums.c, hard_disks_profiles.c) ---- */

struct hard_disks_units hard_disks_units_of(const struct gpumc_model *model);
/* Sets the error of a replica with a wrong number of disks. */
enum gpumc_status
hard_disks_lost(const struct gpumc_model *model, uint64_t found, struct gpumc_error *error);
/* Writes channels of a replica to channel[c][at] for those that are not NULL, by plain host
 * arithmetic; the same whatever its layout. GPUMC_FAILURE if it does not have the right number of
 * disks. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure(const struct gpumc_model *model, const struct hard_disks_replica *replica,
                   int64_t *const *channel, size_t at, struct gpumc_error *error);

/* Of these, measures the numbers, or the profiles: channel[c] + at * width are the numbers of a
 * profile. The latter returns GPUMC_FAILURE if memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_numbers(const struct gpumc_model *model,
                           const struct hard_disks_replica *replica, int64_t *const *channel,
                           size_t at, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_profiles(const struct gpumc_model *model,
                            const struct hard_disks_replica *replica, int64_t *const *channel,
                            size_t at, struct gpumc_error *error);
/* Computes psi_6 (hard_disks_order.h) of the disk at a place of cell (a, b). */
void hard_disks_find_order(const struct hard_disks_parameters *parameters,
                           const struct hard_disks_replica *replica, size_t a, size_t b,
                           size_t place, int64_t psi6[2]);

enum {
  HARD_DISKS_MEANS = 11 + HARD_DISKS_CONTACT_LEVELS + HARD_DISKS_SCALING_LEVELS,
  HARD_DISKS_QUANTITIES = 32
};
enum { HARD_DISKS_BETA_PRESSURE, HARD_DISKS_CONTROLS };
extern const struct gpumc_control hard_disks_controls[HARD_DISKS_CONTROLS];
void hard_disks_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient);
extern const struct gpumc_channel hard_disks_channels[HARD_DISKS_CHANNELS];
extern const struct gpumc_mean hard_disks_means[HARD_DISKS_MEANS];
extern const struct gpumc_quantity hard_disks_quantities[HARD_DISKS_QUANTITIES];
/* Sets the word for a site, quanta, bounds, and the weights of histograms
 * (hard_disks_channels.c). */
void hard_disks_describe_channels(struct gpumc_model *model);
/* Sets widths, axes and units of profiles. GPUMC_FAILURE if memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_describe_profiles(const struct hard_disks_settings *settings, struct gpumc_model *model,
                             struct gpumc_error *error);
/* Computes the bins of `contact` at a level, [HARD_DISKS_BINS]: R_i of hard_disks_pressure.h, and
 * the areas of their rings over pi. */
void hard_disks_contact_bins(int level, double *distance, double *ring);

/* Quantities (hard_disks_pressures.c), from the means at all levels: those of `contact`, or of
 * `scaling`, or both in this order for the difference. The pressures; by how much they change if
 * they are extrapolated over a quarter of the range; and known errors of extrapolation and of
 * rounded places. */
double
hard_disks_pressure(const struct gpumc_model *model, const double *control, const double *mean);
double hard_disks_pressure_scaling(const struct gpumc_model *model, const double *control,
                                   const double *mean);
double hard_disks_pressure_difference(const struct gpumc_model *model, const double *control,
                                      const double *mean);
double hard_disks_pressure_range(const struct gpumc_model *model, const double *control,
                                 const double *mean);
double hard_disks_pressure_scaling_range(const struct gpumc_model *model, const double *control,
                                         const double *mean);
double hard_disks_pressure_systematic(const struct gpumc_model *model, const double *control,
                                      const double *mean);
double hard_disks_pressure_scaling_systematic(const struct gpumc_model *model,
                                              const double *control, const double *mean);
double hard_disks_pressure_difference_systematic(const struct gpumc_model *model,
                                                 const double *control, const double *mean);
/* Return the level at which the density at contact of a crystal in the instance's box can be
 * extrapolated: of `contact`, and of `scaling`. */
int hard_disks_contact_level(const struct gpumc_model *model);
int hard_disks_scaling_level(const struct gpumc_model *model);
/* gpumc_quantity.scale of the difference. */
double hard_disks_pressure_difference_scale(const struct gpumc_model *model, const double *control,
                                            const double *mean);

/* ---- kernels ---- */

extern const struct gpumc_kernel_ops hard_disks_serial_cpu, hard_disks_checkerboard_cpu,
    hard_disks_checkerboard_cuda;
extern const struct gpumc_model_ops gpumc_model_hard_disks;

/* Options of `checkerboard`. */
struct hard_disks_options {
  uint32_t moves;               /* trials per sweep of a cell that has disks */
  bool shuffle, shift, confine; /* true; otherwise the sweep is wrong on purpose */
};
/* Options of moves of the volume. */
struct hard_disks_volume_options {
  double step;     /* the largest change, in units of 1 / (beta P) */
  uint32_t sweeps; /* number of sweeps between moves */
};
void hard_disks_pack_options(const struct hard_disks_options *from, double move_size,
                             struct gpumc_kernel_options *options);
struct hard_disks_options hard_disks_options_of(const struct gpumc_kernel_options *options);
void hard_disks_pack_volume(const struct hard_disks_volume_options *from,
                            struct gpumc_kernel_options *options);
/* Returns 2 and 1 if nothing was packed. */
struct hard_disks_volume_options
hard_disks_volume_options_of(const struct gpumc_kernel_options *options);

/* Definitions that kernels share, as designated initialisers. */
extern const struct gpumc_move hard_disks_moves[HARD_DISKS_MOVES];
extern const struct gpumc_key hard_disks_serial_keys[], hard_disks_checkerboard_keys[];
/* The first is for `serial`, too. */
enum { HARD_DISKS_TUNABLES = 2 };
extern const struct gpumc_tunable hard_disks_tunables[HARD_DISKS_TUNABLES];
void hard_disks_read_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);
const char *hard_disks_warning(const struct gpumc_kernel_options *options, const char **name);
double hard_disks_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       size_t replicas);
double hard_disks_trials(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
/* Returns the cost of moves of the volume, if the plan has any: approximate nanoseconds of one core
 * for each sweep and replica, if a move takes `each` per disk. */
double hard_disks_volume_cost(const struct gpumc_model *model,
                              const struct gpumc_ensemble_plan *plan, double each);
#define HARD_DISKS_KERNEL                                                                          \
  .moves = hard_disks_moves, .n_moves = HARD_DISKS_MOVES, .group = 1,                              \
  .read = hard_disks_read_keys, .tunables = hard_disks_tunables,                                   \
  .check_value = hard_disks_check_pressure
#define HARD_DISKS_CHECKERBOARD_NAMES                                                              \
  HARD_DISKS_KERNEL, .n_tunables = HARD_DISKS_TUNABLES, .keys = hard_disks_checkerboard_keys,      \
                     .variant = "checkerboard",                                                    \
                     .summary = "cells of a checkerboard at a time, massively parallel",           \
                     .trajectory = "disks.checkerboard.1", .cost = hard_disks_cost,                \
                     .trials = hard_disks_trials, .warning = hard_disks_warning

#endif
