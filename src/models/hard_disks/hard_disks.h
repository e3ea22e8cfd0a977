/* Hard disks of diameter 1 in a periodic box at constant volume, or constant pressure: what kernels
 * and tests know of an instance. */
#ifndef GPUMC_HARD_DISKS_H
#define GPUMC_HARD_DISKS_H

#include <string.h>

#include "core/simulation/model.h"
#include "models/hard_disks/hard_disks_channels.h"
#include "models/hard_disks/hard_disks_volume.h"

/* Cells along a side, at most, and disks: cells are numbered with 32 bits in counters. */
#define HARD_DISKS_CELLS_MAXIMUM 32768
#define HARD_DISKS_PARTICLES_MAXIMUM 1000000000
/* Of the closest packing, pi / 12^(1/2) = 0.9069, what rounding leaves. */
#define HARD_DISKS_PACKING_MAXIMUM 0.9068
/* Wave vectors of an instance, and their components in units of 2 pi / L. */
enum { HARD_DISKS_WAVES_MAXIMUM = 512, HARD_DISKS_WAVE_MAXIMUM = 65536 };

/* MIXED: the first half of the replicas compressed, the second one on a lattice. */
enum hard_disks_start {
  HARD_DISKS_COMPRESSED,
  HARD_DISKS_LATTICE,
  HARD_DISKS_MIXED,
  HARD_DISKS_FILE
};

/* What makes an instance. */
struct hard_disks_settings {
  size_t particles, lattice[2]; /* disks, or rows and columns of a triangular lattice; else 0 */
  double packing_fraction;      /* else 0 */
  double aspect;                /* Ly / Lx, with the packing fraction */
  double length[2];             /* Lx, Ly, without */
  enum hard_disks_start start;
  const char *file;
  size_t n_waves;
  const int32_t
      *wave; /* [n_waves][2], wave vectors in units of 2 pi / L; none: the smallest ones */
};

/* Grids of cells, and the boxes that replicas on them may have: cells are `least` to `most` quanta
 * wide along x, and along y as hard_disks_height() says. */
struct hard_disks_grid {
  struct hard_disks_box box; /* in which replicas begin */
  uint32_t least, most;
};

/* gpumc_model.parameters. */
struct hard_disks_parameters {
  struct hard_disks_box box;          /* at constant volume, and its grid */
  struct hard_disks_grid fixed, open; /* the latter is for moves of the volume */
  double length[2];                   /* Lx, Ly: exactly those of the cells */
  double density;                     /* N / (Lx Ly) */
  double packing_fraction;
  enum hard_disks_start start;
  size_t lattice[2]; /* columns and rows of the triangular lattice that a start has */
  /* Of hard_disks_pressure.h, in quanta of the channels. */
  int64_t contact_weight[HARD_DISKS_BINS], scaling_weight[HARD_DISKS_BINS];
  double *positions; /* [N][2] of a file; NULL without one */
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
/* The grid of an ensemble's replicas. */
static inline const struct hard_disks_grid *
hard_disks_grid_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  return plan->move == HARD_DISKS_VOLUME_MOVE ? &parameters->open : &parameters->fixed;
}

/* GPUMC_INVALID of a box that has no grid of cells, of a start that is not possible there, and of a
 * file that cannot be used; GPUMC_FAILURE when memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_instance(const struct hard_disks_settings *settings,
                                                       struct gpumc_model *model,
                                                       struct gpumc_error *error);

/* ---- the box (hard_disks_box.c) ---- */

/* Of the parameters what follows from particles and sides: the box, its grid at constant volume,
 * and the density. GPUMC_INVALID where there is no such box. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_make_box(const struct hard_disks_settings *settings,
                                                       struct hard_disks_parameters *parameters,
                                                       struct gpumc_error *error);
/* Both grids of that box. */
void hard_disks_find_grids(struct hard_disks_parameters *parameters);

/* ---- replicas ---- */

/* Where a kernel has slot s of cell (a, b) in its arrays x[count] and y[count]. Columns of equal
 * parity may stand together, so that vectors hold cells of one colour. */
struct hard_disks_layout {
  size_t count, first, slot, row, parity, column;
};

static inline size_t
hard_disks_place(const struct hard_disks_layout *layout, size_t slot, size_t a, size_t b)
{
  return layout->first + slot * layout->slot + b * layout->row + a % 2 * layout->parity +
         a / 2 * layout->column;
}

/* [slots][m_y][m_x] */
struct hard_disks_layout hard_disks_plain_layout(const struct hard_disks_box *box);

/* A column or row that is so many steps from another, in a periodic box. */
static inline size_t hard_disks_around(size_t cell, int steps, uint32_t cells)
{
  const int64_t all = (int64_t)cells, at = ((int64_t)cell + steps) % all;
  return (size_t)(at < 0 ? at + all : at);
}

/* A replica in host memory. Of `grid` the cells and disks are its own; the widths of its cells are
 * those of the head. */
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

/* The portable form of a replica, doubles: Lx, Ly, the offsets, and x, y of each disk in the box, 0
 * <= x < Lx, 0 <= y < Ly; in the order of cells, row by row, and slots, or of the list of a kernel
 * without cells. All of them are whole quanta, so that nothing is rounded, but for the offset along
 * x: it has the end of the last volume move in quarters of a quantum (hard_disks_corner). */
enum { HARD_DISKS_PORTABLE_CORNER = 2, HARD_DISKS_PORTABLE_HEAD = 4 };
_Static_assert(HARD_DISKS_BEYOND < 4, "ends of moves are less than a quantum");

/* The offset along x, in quanta, and the last move, an enum hard_disks_end, as one number. */
static inline double hard_disks_corner(int64_t offset, uint32_t last_move)
{
  return (double)(4 * offset + (int64_t)last_move) / (4.0 * (double)HARD_DISKS_UNIT);
}

static inline void hard_disks_put(uint8_t *portable, size_t i, double value)
{
  memcpy(portable + i * sizeof value, &value, sizeof value);
}

void hard_disks_get(const struct hard_disks_replica *replica, uint8_t *portable);
/* GPUMC_FAILURE of a box or of positions that cannot be those of such a replica; overlaps are not
 * looked for. The grid's box is that of the replica. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_set(const struct hard_disks_grid *grid, const uint8_t *portable,
               const struct hard_disks_replica *replica, struct gpumc_error *error);

/* How an instance begins: the lattice of `start: lattice`; nothing for a file, which is read later.
 * GPUMC_INVALID where its start is not possible, or the file cannot be used. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_find_start(const struct hard_disks_settings *settings,
                                                         struct hard_disks_parameters *parameters,
                                                         struct gpumc_error *error);
/* gpumc_model_ops.warn: of a lattice that does not fit the box, at densities of a solid. */
const char *hard_disks_warn(const struct gpumc_model *model, char text[GPUMC_WARNING_BYTES]);
/* Disks of a start are so far apart at least, so that rounding makes none overlap. */
#define HARD_DISKS_SPACING (1.0 + 0x1p-19)
/* The nearest whole number of quanta, as a place in the box: 0 <= place < length. */
double hard_disks_in_box(double x, double length);
/* Two disks of parameters->positions that overlap, the second as early as possible, or *one =
 * *other. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_find_overlap(const struct hard_disks_parameters *parameters, size_t *one, size_t *other,
                        struct gpumc_error *error);
/* The positions of a text file (docs/file-format.md) into parameters->positions. */
GPUMC_MUST_CHECK enum gpumc_status hard_disks_read_file(const char *path,
                                                        struct hard_disks_parameters *parameters,
                                                        struct gpumc_error *error);
/* Positions of a random state into its portable form; the same. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_compress(const struct hard_disks_parameters *parameters, struct gpumc_random random,
                    uint32_t r, int threads, uint8_t *portable, struct gpumc_error *error);
/* The state in portable form in which replica r of a run with this generator begins, in an ensemble
 * with this plan: the same for all kernels and any number of threads. GPUMC_FAILURE when memory ran
 * out, or a compression got stuck. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_start_state(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       struct gpumc_random random, uint32_t r, int threads, uint8_t *portable,
                       struct gpumc_error *error);

/* ---- moves of the volume (hard_disks_moves.c) ---- */

/* Whether an ensemble's sweep at `time` ends with one. */
bool hard_disks_moves_volume(const struct gpumc_ensemble_plan *plan, uint32_t time);
/* gpumc_kernel_ops.check_value: GPUMC_INVALID of pressures that are not above 0, and where the
 * smallest possible step of the volume is too large for the pressure, as it is for millions of
 * disks. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_check_pressure(const struct gpumc_model *model,
                          const struct gpumc_kernel_options *options, size_t control, double value,
                          struct gpumc_error *error);
/* rule[runs] under a target. GPUMC_INVALID of steps as above, and of an instance whose volume
 * cannot be moved. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_find_rules(const struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                      struct hard_disks_volume_rule *rule, struct gpumc_error *error);

/* ---- what is measured (hard_disks_measured.c, hard_disks_sums.c, hard_disks_profiles.c) ---- */

struct hard_disks_units hard_disks_units_of(const struct gpumc_model *model);
/* The error of a replica that has another number of disks than it must have. */
enum gpumc_status
hard_disks_lost(const struct gpumc_model *model, uint64_t found, struct gpumc_error *error);
/* Channels of a replica to channel[c][at] of those that are not NULL, by plain host arithmetic; the
 * same whatever its layout. GPUMC_FAILURE if it does not have the number of disks that it must
 * have. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure(const struct gpumc_model *model, const struct hard_disks_replica *replica,
                   int64_t *const *channel, size_t at, struct gpumc_error *error);

/* Of these the numbers, and the profiles: channel[c] + at * width are the numbers of a profile.
 * GPUMC_FAILURE of the latter when memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_numbers(const struct gpumc_model *model,
                           const struct hard_disks_replica *replica, int64_t *const *channel,
                           size_t at, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_measure_profiles(const struct gpumc_model *model,
                            const struct hard_disks_replica *replica, int64_t *const *channel,
                            size_t at, struct gpumc_error *error);
/* psi_6 (hard_disks_order.h) of the disk at a place of cell (a, b). */
void hard_disks_find_order(const struct hard_disks_parameters *parameters,
                           const struct hard_disks_replica *replica, size_t a, size_t b,
                           size_t place, int64_t psi6[2]);

enum { HARD_DISKS_MEANS = 13, HARD_DISKS_QUANTITIES = 20 };
enum { HARD_DISKS_BETA_PRESSURE, HARD_DISKS_CONTROLS };
extern const struct gpumc_control hard_disks_controls[HARD_DISKS_CONTROLS];
void hard_disks_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient);
extern const struct gpumc_channel hard_disks_channels[HARD_DISKS_CHANNELS];
extern const struct gpumc_mean hard_disks_means[HARD_DISKS_MEANS];
extern const struct gpumc_quantity hard_disks_quantities[HARD_DISKS_QUANTITIES];
/* What a site is called, quanta, bounds, and the weights of histograms (hard_disks_channels.c). */
void hard_disks_describe_channels(struct gpumc_model *model);
/* Widths, axes and units of profiles. GPUMC_FAILURE when memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
hard_disks_describe_profiles(const struct hard_disks_settings *settings, struct gpumc_model *model,
                             struct gpumc_error *error);
/* The bins of `contact`, [HARD_DISKS_BINS]: R_i of hard_disks_pressure.h, and the areas of their
 * rings over pi. */
void hard_disks_contact_bins(double *distance, double *ring);

/* ---- kernels ---- */

extern const struct gpumc_kernel_ops hard_disks_serial_cpu, hard_disks_checkerboard_cpu,
    hard_disks_checkerboard_cuda;
extern const struct gpumc_model_ops gpumc_model_hard_disks;

/* Options of `checkerboard`. */
struct hard_disks_options {
  uint32_t moves;               /* trials of a cell that has disks, in a sweep */
  bool shuffle, shift, confine; /* true, or the sweep is wrong on purpose */
};
/* Options of moves of the volume. */
struct hard_disks_volume_options {
  double step;     /* the largest change, in units of 1 / (beta P) */
  uint32_t sweeps; /* after which there is one */
};
void hard_disks_pack_options(const struct hard_disks_options *from, double move_size,
                             struct gpumc_kernel_options *options);
struct hard_disks_options hard_disks_options_of(const struct gpumc_kernel_options *options);
void hard_disks_pack_volume(const struct hard_disks_volume_options *from,
                            struct gpumc_kernel_options *options);
/* 2 and 1 where nothing was packed. */
struct hard_disks_volume_options
hard_disks_volume_options_of(const struct gpumc_kernel_options *options);

/* What kernels have in common, as designated initialisers. */
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
/* Of a move of the volume, where the plan has any: nanoseconds of one core, about, for each sweep
 * and replica, where it takes `each` for a disk. */
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
