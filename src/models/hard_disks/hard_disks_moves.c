/* What the kernels of hard disks have in common: the move, and their keys. */
#include <math.h>
#include <string.h>

#include "core/simulation/steps.h"
#include "models/hard_disks/hard_disks.h"

/* As in the paper, where the orientational order decays fastest with this size and four trials. */
#define MOVE_SIZE_DEFAULT 0.16
#define MOVE_SIZE_TEXT "0.16"

enum { SHUFFLE = 1, SHIFT = 2, CONFINE = 4 };

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

const struct gpumc_move hard_disks_moves[HARD_DISKS_MOVES] = {
    {.name = "displacement",
     .summary = "a disk is displaced by up to kernel.move_size along each axis, unless it would "
                "overlap another",
     .targets = 1u << GPUMC_ATHERMAL,
     .step = &size},
};

#define KEY_MOVE_SIZE                                                                              \
  {                                                                                                \
    .name = "move_size", .type = GPUMC_KEY_REAL,                                                   \
    .doc = "Largest displacement of a disk along each axis. Kernels of hard disks only.",          \
    .default_text = MOVE_SIZE_TEXT, .unit = "diameters", .minimum = 1e-4, .maximum = 0.49,         \
    .sweepable = true                                                                              \
  }

const struct gpumc_key hard_disks_serial_keys[] = {KEY_MOVE_SIZE, {.name = NULL}};
const struct gpumc_key hard_disks_checkerboard_keys[] = {
    KEY_MOVE_SIZE,
    {.name = "moves_per_cell",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Trials of each cell with disks in a sweep. The kernel `checkerboard` of hard disks "
            "only.",
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
     .doc = "Whether trials stay within their cell. Without it results are wrong, and slow: one "
            "thread, no vectors, no GPU. The kernel `checkerboard` of hard disks only.",
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
  options->own[2] =
      (from->shuffle ? SHUFFLE : 0u) | (from->shift ? SHIFT : 0u) | (from->confine ? CONFINE : 0u);
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
}

struct hard_disks_options hard_disks_options_of(const struct gpumc_kernel_options *options)
{
  return (struct hard_disks_options){
      .moves = (uint32_t)options->own[0],
      .shuffle = (options->own[2] & SHUFFLE) != 0,
      .shift = (options->own[2] & SHIFT) != 0,
      .confine = (options->own[2] & CONFINE) != 0,
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

/* Far enough apart that they differ, about the best ones between a dilute and a dense system. */
static const double sizes[] = {0.06, 0.1, 0.16, 0.24, 0.36}, numbers[] = {2, 4, 8, 16};

const struct gpumc_tunable hard_disks_tunables[HARD_DISKS_TUNABLES] = {
    {"move_size", sizeof sizes / sizeof *sizes, sizes, given_size, set_size},
    {"moves_per_cell", sizeof numbers / sizeof *numbers, numbers, given_moves, set_moves},
};

const char *hard_disks_warning(const struct gpumc_kernel_options *options, const char **name)
{
  const struct hard_disks_options read = hard_disks_options_of(options);
  *name = "checkerboard_warning";
  if (!read.confine)
    return "trials leave their cells (kernel.confine: false), which violates balance: the disks "
           "order too early";
  if (!read.shift)
    return "the grid of cells is not shifted (kernel.shift: false), so that no disk ever leaves "
           "its cell";
  if (!read.shuffle)
    return "the disks of a cell are not shuffled (kernel.shuffle: false), which violates balance: "
           "pressures are wrong near the transition";
  return NULL;
}

/* ---- how much a sweep of `checkerboard` is ---- */

enum { STEPS = 48 }; /* of a sum for an integral, along each axis */

/* g(r) of disks at contact (Henderson, Mol. Phys. 30, 971 (1975)), from where it falls to 1 at a
 * rate with which expected and counted trials agree within 1 % at packing fractions from 0.05 to
 * 0.74. */
#define DECAY 12.0
static double near_correlation(double fraction, double r)
{
  const double free = 1.0 - fraction, contact = (1.0 - 0.4375 * fraction) / (free * free);
  return 1.0 + (contact - 1.0) * exp(-DECAY * (r - 1.0));
}

/* Cells with disks, of all cells: the disks of a cell less the pairs in it, rho^2/2 times the
 * integral of g(r) over both places. */
static double occupied_share(const struct gpumc_model *model)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  const double width[2] = {(double)parameters->box.width_x, (double)parameters->box.width_y};
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

double
hard_disks_trials(const struct gpumc_model *model, const struct gpumc_kernel_options *options)
{
  const struct hard_disks_box *box = &hard_disks_parameters(model)->box;
  const uint32_t given = hard_disks_options_of(options).moves;
  return occupied_share(model) * (double)box->cells_x * (double)box->cells_y *
         (double)(given > 0 ? given : HARD_DISKS_MOVES_DEFAULT);
}

/* Nanoseconds of one core, about, of a trial, and of what a sweep does with a disk beside. */
#define TRIAL_COST 1.8
#define DISK_COST 13.0

double hard_disks_cost(const struct gpumc_model *model, const struct gpumc_kernel_options *options,
                       size_t replicas)
{
  return (TRIAL_COST * hard_disks_trials(model, options) + DISK_COST * (double)model->sites) *
         (double)replicas;
}
