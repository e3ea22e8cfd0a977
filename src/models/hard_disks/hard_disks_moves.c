/* Definitions that the kernels of hard disks share: the move, and their keys. */
#include <math.h>
#include <string.h>

#include "core/simulation/steps.h"
#include "models/hard_disks/hard_disks.h"

/* As in the paper, where the orientational order decays fastest with this size and four trials. */
#define MOVE_SIZE_DEFAULT 0.16
#define MOVE_SIZE_TEXT "0.16"
/* The probability that disks do not overlap after a compression by dV is exp(-(1 - 1/Z) beta P dV),
 * and that of an expansion to be accepted is about the same: with steps up to 2 / (beta P) half of
 * the moves are accepted in dense systems of any size. Steps of a fraction of a quantum are not
 * possible. */
#define VOLUME_STEP_DEFAULT 2.0
#define LEAST_REACH 0.5

/* Features that are switched off; options not given by any key leave all on. */
enum { UNSHUFFLED = 1, UNSHIFTED = 2, UNCONFINED = 4 };

static double given_size(const struct gpumc_kernel_options *options)
{
  double size;
  memcpy(&size, &options->own[1], sizeof size);
  return size;
}

static const struct gpumc_step size = {
    .label = {"move_size", "largest displacement of a disk along each axis", "diameters", "d"},
    .key = "move_size",
    .least = 1e-4,
    .largest = 0.49,
    .counts = true,
    .given = given_size,
};

/* gpumc_move.mixes at constant pressure. Fluid and hexatic phase coexist at 9.18 (Engel et al.,
 * Phys. Rev. E 87, 042134 (2013)), and a lattice melts above 8 or so. Below 7, at packing fractions
 * up to 0.65, no other phase than the fluid lasts: not proven, but never seen. */
static bool is_fluid(const struct gpumc_model *model, const double *control)
{
  (void)model;
  return control[HARD_DISKS_BETA_PRESSURE] < 7;
}

static const char *const volume_keys[] = {"volume_step", "sweeps_per_volume_move", NULL};

const struct gpumc_move hard_disks_moves[HARD_DISKS_MOVES] = {
    [HARD_DISKS_DISPLACEMENT] =
        {.name = "displacement",
         .summary =
             "a disk is displaced by up to kernel.move_size along each axis, unless it would "
             "overlap another",
         .targets = 1u << GPUMC_ATHERMAL,
         .warn = hard_disks_warn_of_side,
         .step = &size},
    [HARD_DISKS_VOLUME_MOVE] = {.name = "volume",
                                .summary =
                                    "the same, and after every kernel.sweeps_per_volume_move "
                                    "sweeps the box is rescaled together with all disks",
                                .targets = 1u << GPUMC_BOLTZMANN,
                                .mixes = is_fluid,
                                .step = &size,
                                .keys = volume_keys},
};

#define KEY_MOVE_SIZE                                                                              \
  {                                                                                                \
    .name = "move_size", .type = GPUMC_KEY_REAL,                                                   \
    .doc = "Largest displacement of a disk along each axis; algorithm.tune can choose it. "        \
           "Kernels of hard disks only.",                                                          \
    .default_text = MOVE_SIZE_TEXT, .unit = "diameters", .minimum = 1e-4, .maximum = 0.49,         \
    .sweepable = true                                                                              \
  }

#define KEYS_OF_VOLUME                                                                             \
  {.name = "volume_step",                                                                          \
   .type = GPUMC_KEY_REAL,                                                                         \
   .doc = "Largest change of the volume in a move, in units of 1 / (beta P); with 2, half of the " \
          "moves are accepted. Kernels of hard disks only, at constant pressure.",                 \
   .default_text = "2",                                                                            \
   .of_move = true,                                                                                \
   .minimum = 1e-3,                                                                                \
   .maximum = 1e6,                                                                                 \
   .sweepable = true},                                                                             \
  {                                                                                                \
    .name = "sweeps_per_volume_move", .type = GPUMC_KEY_INTEGER,                                   \
    .doc = "Sweeps per volume move. Kernels of hard disks only, at constant pressure.",            \
    .default_text = "1", .of_move = true, .unit = "sweeps", .minimum = 1, .maximum = 1000000,      \
    .sweepable = true                                                                              \
  }

const struct gpumc_key hard_disks_serial_keys[] = {KEY_MOVE_SIZE, KEYS_OF_VOLUME, {.name = NULL}};
const struct gpumc_key hard_disks_checkerboard_keys[] = {
    KEY_MOVE_SIZE,
    KEYS_OF_VOLUME,
    {.name = "moves_per_cell",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Trial moves per sweep in each cell that has disks; algorithm.tune can choose it. The "
            "kernel `checkerboard` of hard disks only.",
     .default_text = "4",
     .unit = "trials",
     .minimum = 1,
     .maximum = HARD_DISKS_MOVES_MAXIMUM,
     .sweepable = true},
    {.name = "shuffle",
     .type = GPUMC_KEY_BOOLEAN,
     .doc = "Whether the disks of a cell are shuffled before its trials. Without it results are "
            "wrong. The kernel `checkerboard` of hard disks only.",
     .default_text = "true",
     .sweepable = true},
    {.name = "shift",
     .type = GPUMC_KEY_BOOLEAN,
     .doc = "Whether the grid of cells is shifted after each sweep. Without it no disk leaves its "
            "cell, and results are wrong. The kernel `checkerboard` of hard disks only.",
     .default_text = "true",
     .sweepable = true},
    {.name = "confine",
     .type = GPUMC_KEY_BOOLEAN,
     .doc = "Whether trials stay within their cell. Without it results are wrong and the kernel is "
            "slow: one thread, no vectors, no GPU. The kernel `checkerboard` of hard disks only.",
     .default_text = "true",
     .sweepable = true},
    {.name = NULL},
};

static bool is_left_on(const struct gpumc_params *kernel, const char *key)
{
  return !gpumc_params_has(kernel, key) || gpumc_params_boolean(kernel, key);
}

void hard_disks_pack_options(const struct hard_disks_options *from, double move_size,
                             struct gpumc_kernel_options *options)
{
  options->own[0] = from->moves;
  memcpy(&options->own[1], &move_size, sizeof move_size);
  options->own[2] = (from->shuffle ? 0u : UNSHUFFLED) | (from->shift ? 0u : UNSHIFTED) |
                    (from->confine ? 0u : UNCONFINED);
}

void hard_disks_pack_volume(const struct hard_disks_volume_options *from,
                            struct gpumc_kernel_options *options)
{
  memcpy(&options->own[3], &from->step, sizeof from->step);
  options->own[4] = from->sweeps;
}

void hard_disks_read_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  const struct hard_disks_options read = {
      .moves = gpumc_params_has(kernel, "moves_per_cell")
                   ? (uint32_t)gpumc_params_integer(kernel, "moves_per_cell")
                   : HARD_DISKS_MOVES_DEFAULT,
      .shuffle = is_left_on(kernel, "shuffle"),
      .shift = is_left_on(kernel, "shift"),
      .confine = is_left_on(kernel, "confine"),
  };
  hard_disks_pack_options(&read,
                          gpumc_params_has(kernel, "move_size")
                              ? gpumc_params_real(kernel, "move_size")
                              : MOVE_SIZE_DEFAULT,
                          options);
  const struct hard_disks_volume_options volume = {
      .step = gpumc_params_has(kernel, "volume_step") ? gpumc_params_real(kernel, "volume_step")
                                                      : VOLUME_STEP_DEFAULT,
      .sweeps = gpumc_params_has(kernel, "sweeps_per_volume_move")
                    ? (uint32_t)gpumc_params_integer(kernel, "sweeps_per_volume_move")
                    : 1,
  };
  hard_disks_pack_volume(&volume, options);
}

struct hard_disks_options hard_disks_options_of(const struct gpumc_kernel_options *options)
{
  return (struct hard_disks_options){
      .moves = (uint32_t)options->own[0],
      .shuffle = (options->own[2] & UNSHUFFLED) == 0,
      .shift = (options->own[2] & UNSHIFTED) == 0,
      .confine = (options->own[2] & UNCONFINED) == 0,
  };
}

/* ---- what a run may tune ---- */

static void set_size(struct gpumc_kernel_options *options, double value)
{
  memcpy(&options->own[1], &value, sizeof value);
}

static double given_moves(const struct gpumc_kernel_options *options)
{
  return (double)hard_disks_options_of(options).moves;
}

static void set_moves(struct gpumc_kernel_options *options, double value)
{
  options->own[0] = (uint64_t)value;
}

/* Far enough apart to differ, near the best ones between a dilute and a dense system. */
static const double sizes[] = {0.06, 0.1, 0.16, 0.24, 0.36}, numbers[] = {2, 4, 8, 16};

const struct gpumc_tunable hard_disks_tunables[HARD_DISKS_TUNABLES] = {
    {"move_size", sizeof sizes / sizeof *sizes, sizes, given_size, set_size},
    {"moves_per_cell", sizeof numbers / sizeof *numbers, numbers, given_moves, set_moves},
};

/* ---- moves of the volume ---- */

struct hard_disks_volume_options
hard_disks_volume_options_of(const struct gpumc_kernel_options *options)
{
  struct hard_disks_volume_options volume;
  memcpy(&volume.step, &options->own[3], sizeof volume.step);
  volume.step = volume.step > 0.0 ? volume.step : VOLUME_STEP_DEFAULT;
  volume.sweeps = options->own[4] > 0 ? (uint32_t)options->own[4] : 1;
  return volume;
}

bool hard_disks_moves_volume(const struct gpumc_ensemble_plan *plan, uint32_t time)
{
  return plan->move == HARD_DISKS_VOLUME_MOVE &&
         (time + 1) % hard_disks_volume_options_of(&plan->options).sweeps == 0;
}

/* Returns the largest change of W in quanta; it may be a fraction of one. */
static double reach_of(const struct hard_disks_grid *grid,
                       const struct gpumc_kernel_options *options, double pressure)
{
  const float width[2] = {grid->box.width_x, grid->box.width_y};
  const double volume = hard_disks_volume_with(&grid->box, width);
  /* dV = 2 V dW / W. */
  return 0.5 * hard_disks_volume_options_of(options).step * (double)hard_disks_quanta(width[0]) /
         (volume * fabs(pressure));
}

static enum gpumc_status check_reach(const struct hard_disks_grid *grid,
                                     const struct gpumc_kernel_options *options, double pressure,
                                     struct gpumc_error *error)
{
  /* Rounded as it will be read with three digits. */
  const double highest = 0.995 * reach_of(grid, options, 1.0) / LEAST_REACH;
  const double step = hard_disks_volume_options_of(options).step;
  if (reach_of(grid, options, pressure) >= LEAST_REACH)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "at beta_pressure = %g the volume of %u disks cannot be moved: the "
                         "smallest change, %.2g, is larger than 2 volume_step / beta_pressure; use "
                         "pressures up to %.3g%s",
                         pressure, grid->box.particles, step / reach_of(grid, options, 1.0),
                         highest, step < VOLUME_STEP_DEFAULT ? ", or a larger volume_step" : "");
}

enum gpumc_status hard_disks_check_pressure(const struct gpumc_model *model,
                                            const struct gpumc_kernel_options *options,
                                            size_t control, double value, struct gpumc_error *error)
{
  (void)control;
  if (!(value > 0.0))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "at beta_pressure = %g nothing keeps the box from expanding: use "
                           "pressures above 0",
                           value);
  return check_reach(&hard_disks_parameters(model)->open, options, value, error);
}

enum gpumc_status
hard_disks_find_rules(const struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                      struct hard_disks_volume_rule *rule, struct gpumc_error *error)
{
  const struct hard_disks_grid *grid = hard_disks_grid_of(ensemble->model, &ensemble->plan);
  const struct gpumc_kernel_options *options = &ensemble->plan.options;
  if (grid->least > grid->most)
    return gpumc_error_set(error, GPUMC_INVALID, "the volume cannot be moved: %s",
                           ensemble->model->immovable[HARD_DISKS_BETA_PRESSURE]);
  for (size_t m = 0; m < ensemble->runs; m++) {
    const double pressure = target->control[m];
    GPUMC_TRY(check_reach(grid, options, pressure, error));
    const double reach = reach_of(grid, options, pressure);
    const double most = (double)(grid->most - grid->least);
    rule[m] = (struct hard_disks_volume_rule){
        .least = grid->least,
        .most = grid->most,
        .reach = (uint32_t)fmax(1.0, rint(fmin(reach, most))),
        .pressure = pressure,
    };
  }
  return GPUMC_OK;
}

#define LOOSE                                                                                      \
  "trials leave their cells (kernel.confine: false), which violates balance: the disks order too " \
  "early"
#define STILL                                                                                      \
  "the grid of cells is not shifted (kernel.shift: false), so that no disk ever leaves its cell"
#define IN_ORDER                                                                                   \
  "the disks of a cell are not shuffled (kernel.shuffle: false), which violates balance: "         \
  "pressures are wrong near the transition"

const char *hard_disks_warning(const struct gpumc_kernel_options *options, const char **name)
{
  static const char *const warnings[] = {
      [UNSHUFFLED] = IN_ORDER,
      [UNSHIFTED] = STILL,
      [UNSHIFTED | UNSHUFFLED] = STILL "; " IN_ORDER,
      [UNCONFINED] = LOOSE,
      [UNCONFINED | UNSHUFFLED] = LOOSE "; " IN_ORDER,
      [UNCONFINED | UNSHIFTED] = LOOSE "; " STILL,
      [UNCONFINED | UNSHIFTED | UNSHUFFLED] = LOOSE "; " STILL "; " IN_ORDER,
  };
  *name = "checkerboard_warning";
  return warnings[options->own[2]];
}

/* ---- the amount of work in a sweep of `checkerboard` ---- */

enum { STEPS = 48 }; /* points along each axis of a sum that approximates an integral */

/* g(r) of disks at contact (Henderson, Mol. Phys. 30, 971 (1975)), from where it falls to 1 at a
 * rate with which expected and counted trials agree within 1 % at packing fractions from 0.05 to
 * 0.74, in cells that are hardly wider than a disk; within 4 % up to 0.7 in those of 1.19^2 at
 * constant pressure, where it falls below 1 and three disks may be in a cell. */
#define DECAY 12.0
static double near_correlation(double fraction, double r)
{
  const double free = 1.0 - fraction, contact = (1.0 - 0.4375 * fraction) / (free * free);
  return 1.0 + (contact - 1.0) * exp(-DECAY * (r - 1.0));
}

/* Returns the share of cells with disks: the disks of a cell less the pairs in it, rho^2/2 times
 * the integral of g(r) over both places. */
static double occupied_share(const struct gpumc_model *model, const struct hard_disks_box *box)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  const double width[2] = {(double)box->width_x, (double)box->width_y};
  const double density = parameters->density, disks = density * width[0] * width[1];
  double pairs = 0.0;
  for (int i = 0; i < STEPS * STEPS; i++) {
    const double x = width[0] * (i % STEPS + 0.5) / STEPS, y = width[1] * (i / STEPS + 0.5) / STEPS;
    const double r = sqrt(x * x + y * y);
    if (r > 1.0)
      pairs += (width[0] - x) * (width[1] - y) * near_correlation(parameters->packing_fraction, r);
  }
  pairs *= 2.0 * density * density * width[0] * width[1] / (STEPS * STEPS);
  return fmin(fmax(disks - pairs, disks / HARD_DISKS_SLOTS), 1.0);
}

double hard_disks_trials(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_box *box = &hard_disks_grid_of(model, plan)->box;
  const uint32_t given = hard_disks_options_of(&plan->options).moves;
  return occupied_share(model, box) * (double)box->cells_x * (double)box->cells_y *
         (double)(given > 0 ? given : HARD_DISKS_MOVES_DEFAULT);
}

double hard_disks_volume_cost(const struct gpumc_model *model,
                              const struct gpumc_ensemble_plan *plan, double each)
{
  return plan->move == HARD_DISKS_VOLUME_MOVE
             ? each * (double)model->sites / hard_disks_volume_options_of(&plan->options).sweeps
             : 0.0;
}

/* Approximate nanoseconds of one core for a trial, for the rest of a sweep per disk, and for a
 * volume move per disk. */
#define TRIAL_COST 1.8
#define DISK_COST 13.0
#define VOLUME_COST 3.0

double hard_disks_cost(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                       size_t replicas)
{
  return (TRIAL_COST * hard_disks_trials(model, plan) + DISK_COST * (double)model->sites +
          hard_disks_volume_cost(model, plan, VOLUME_COST)) *
         (double)replicas;
}
