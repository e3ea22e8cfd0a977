/* The measured quantities of hard disks, and those derived from them. Diameters are 1. */
#include <math.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "models/hard_disks/hard_disks.h"
#include "models/lattice/quantities.h"

static const char order_key[] = "bond_order";
static const char order_request[] =
    "Whether the bond-orientational order psi_6 is measured, which takes longer than a sweep.";
#define ON_REQUEST .request_key = order_key, .request = order_request, .cost = 700.0
#define DISTANCE                                                                                   \
  {                                                                                                \
    "distance", "distance between two disks, middle of the bin", "diameters", "r"                  \
  }

#define SCALING_LABEL(name, range, symbol)                                                         \
  {                                                                                                \
    name,                                                                                          \
        "probability density per disk of the scaling of the box at which it overlaps, "            \
        "extrapolated to zero from a range of " range,                                             \
        "1", symbol                                                                                \
  }
#define CONTACT_LABEL(name, range, symbol)                                                         \
  {                                                                                                \
    name,                                                                                          \
        "density of pairs in contact with a disk, rho g(1+) / 2, extrapolated from gaps up "       \
        "to " range,                                                                               \
        "1/diameters2", symbol                                                                     \
  }
#define SCALING_CHANNEL(level, name, range, symbol)                                                \
  [HARD_DISKS_SCALING + (level)] = {.label = SCALING_LABEL(name, range, symbol)}
#define CONTACT_CHANNEL(level, name, range, symbol)                                                \
  [HARD_DISKS_CONTACT + (level)] = {.label = CONTACT_LABEL(name, range, symbol)}

const struct gpumc_channel hard_disks_channels[HARD_DISKS_CHANNELS] = {
    SCALING_CHANNEL(0, "scaling", "0.02", "s"),
    SCALING_CHANNEL(1, "scaling_1", "0.005", "s_1"),
    SCALING_CHANNEL(2, "scaling_2", "0.00125", "s_2"),
    SCALING_CHANNEL(3, "scaling_3", "3.1e-4", "s_3"),
    SCALING_CHANNEL(4, "scaling_4", "7.8e-5", "s_4"),
    SCALING_CHANNEL(5, "scaling_5", "2.0e-5", "s_5"),
    [HARD_DISKS_VOLUME] = {.label = {"volume", "area of the box per disk", "diameters2", "V"}},
    [HARD_DISKS_VOLUME_MOVED] =
        {.label = {"volume_moved",
                   "1 where the last volume move, however long ago, was accepted, -1 where it was "
                   "rejected because the grid does not allow such a box",
                   "1", "m_V"}},
    CONTACT_CHANNEL(0, "contact", "0.02", "c"),
    CONTACT_CHANNEL(1, "contact_1", "0.005", "c_1"),
    CONTACT_CHANNEL(2, "contact_2", "0.00125", "c_2"),
    CONTACT_CHANNEL(3, "contact_3", "3.1e-4", "c_3"),
    CONTACT_CHANNEL(4, "contact_4", "7.8e-5", "c_4"),
    [HARD_DISKS_PSI6_REAL] = {.label = {"psi6_real", "real part of psi_6 per disk", "1", "Re Ψ_6"},
                              ON_REQUEST},
    [HARD_DISKS_PSI6_IMAG] = {.label = {"psi6_imag", "imaginary part of psi_6 per disk", "1",
                                        "Im Ψ_6"},
                              ON_REQUEST},
    [HARD_DISKS_PSI6] = {.label = {"psi6", "|psi_6| of all disks together, per disk", "1", "|Ψ_6|"},
                         ON_REQUEST},
    [HARD_DISKS_PSI6_2] = {.label = {"psi6_2", "square of psi_6 of all disks, per disk", "1",
                                     "|Ψ_6|^2/N"},
                           ON_REQUEST},
    [HARD_DISKS_PSI6_LOCAL] = {.label = {"psi6_local", "|psi_6| of each disk, per disk", "1",
                                         "|ψ_6|"},
                               ON_REQUEST},
    [HARD_DISKS_PSI6_WAVE_X] = {.label = {"psi6_wave_x",
                                          "square of psi_6 exp(i k r) of all disks, k = 2 pi / Lx "
                                          "along x, per disk",
                                          "1", "|Ψ_6(k_x)|^2/N"},
                                ON_REQUEST},
    [HARD_DISKS_PSI6_WAVE_Y] = {.label = {"psi6_wave_y",
                                          "square of psi_6 exp(i k r) of all disks, k = 2 pi / Ly "
                                          "along y, per disk",
                                          "1", "|Ψ_6(k_y)|^2/N"},
                                ON_REQUEST},
    [HARD_DISKS_CONTACT_HISTOGRAM] =
        {.label = {"contact_histogram",
                   "density of disks near contact with a disk, relative to the mean density", "1",
                   "g(r)"},
         .request_key = "contact_histogram",
         .request = "Whether the histogram of distances near contact is recorded, from which the "
                    "pressure follows.",
         .axis = {"contact_distance", "mean distance in a bin with weight 2 pi r", "diameters",
                  "R"},
         .controls = GPUMC_CONTROLS_NONE},
    [HARD_DISKS_PAIR_CORRELATION] =
        {.label = {"pair_correlation",
                   "density of disks at a distance from a disk, relative to the mean density", "1",
                   "g(r)"},
         .request_key = "pair_correlation",
         .request = "Whether the pair correlation function is measured, up to 10 diameters or half "
                    "a box.",
         .axis = DISTANCE,
         .controls = GPUMC_CONTROLS_NONE},
    [HARD_DISKS_BOND_CORRELATION] =
        {.label = {"bond_order_correlation",
                   "correlation of psi_6 of two disks times the pair correlation function", "1",
                   "g(r) g_6(r)"},
         .request_key = "bond_order_correlation",
         .request = "Whether the correlation of psi_6 at a distance is measured.",
         .axis = DISTANCE,
         .controls = GPUMC_CONTROLS_NONE},
    [HARD_DISKS_STRUCTURE_FACTOR] =
        {.label = {"structure_factor", "square of the sum over disks of exp(i k r), per disk", "1",
                   "S(k)"},
         .request_key = "structure_factor",
         .request = "Whether the structure factor is measured, at model.wave_vectors.",
         .axis = {"wave_number", "length of a wave vector", "1/diameters", "k"},
         .controls = GPUMC_CONTROLS_NONE},
};

enum {
  MEAN_VOLUME,
  MEAN_VOLUME_2,
  MEAN_VOLUME_MOVED,
  MEAN_VOLUME_MOVED_2,
  MEAN_SCALING,
  MEAN_CONTACT = MEAN_SCALING + HARD_DISKS_SCALING_LEVELS,
  MEAN_PSI6 = MEAN_CONTACT + HARD_DISKS_CONTACT_LEVELS,
  MEAN_PSI6_2,
  MEAN_PSI6_4,
  MEAN_PSI6_LOCAL,
  MEAN_PSI6_REAL,
  MEAN_PSI6_WAVE_X,
  MEAN_PSI6_WAVE_Y,
};
_Static_assert(MEAN_PSI6_WAVE_Y + 1 == HARD_DISKS_MEANS, "as many as the header says");

const struct gpumc_control hard_disks_controls[HARD_DISKS_CONTROLS] = {
    [HARD_DISKS_BETA_PRESSURE] = {
        .label = {"beta_pressure", "pressure over kT", "1/diameters2", "βP"}}};

/* ln of the weight is - beta P V, plus the contribution of the disks' places. */
void hard_disks_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient)
{
  (void)model;
  memset(coefficient, 0, HARD_DISKS_CHANNELS * sizeof *coefficient);
  coefficient[HARD_DISKS_VOLUME] = control[HARD_DISKS_BETA_PRESSURE];
}

/* Bits of controls: if the pressure is moved; or if nothing is, and the volume is fixed. */
enum { AT_PRESSURE = 1 << HARD_DISKS_BETA_PRESSURE, AT_VOLUME = GPUMC_CONTROLS_NONE };

#define SCALING_MEAN(level, name, range, symbol)                                                   \
  [MEAN_SCALING + (level)] = {.label = SCALING_LABEL(name, range, symbol),                         \
                              .index = HARD_DISKS_SCALING + (level),                               \
                              .power = 1,                                                          \
                              .watch = GPUMC_WATCH_ALWAYS,                                         \
                              .controls = AT_VOLUME}
#define CONTACT_MEAN(level, name, range, symbol)                                                   \
  [MEAN_CONTACT + (level)] = {.label = CONTACT_LABEL(name, range, symbol),                         \
                              .index = HARD_DISKS_CONTACT + (level),                               \
                              .power = 1,                                                          \
                              .controls = AT_VOLUME}

const struct gpumc_mean hard_disks_means[HARD_DISKS_MEANS] = {
    [MEAN_VOLUME] = {.label = {"volume", "area of the box per disk", "diameters2", "<v>"},
                     .index = HARD_DISKS_VOLUME,
                     .power = 1,
                     .watch = GPUMC_WATCH_ALWAYS,
                     .controls = AT_PRESSURE},
    [MEAN_VOLUME_2] = {.label = {"volume2", "square of the area of the box per disk", "diameters4",
                                 "<v^2>"},
                       .index = HARD_DISKS_VOLUME,
                       .power = 2,
                       .controls = AT_PRESSURE},
    [MEAN_VOLUME_MOVED] =
        {.label = {"volume_moved",
                   "share of the last volume moves before measurements that were accepted, minus "
                   "that of moves to boxes that the grid does not allow",
                   "1", "<m_V>"},
         .index = HARD_DISKS_VOLUME_MOVED,
         .power = 1,
         .controls = AT_PRESSURE},
    [MEAN_VOLUME_MOVED_2] =
        {.label = {"volume_moved2",
                   "share of the last volume moves before measurements that were accepted, plus "
                   "that of moves to boxes that the grid does not allow",
                   "1", "<m_V^2>"},
         .index = HARD_DISKS_VOLUME_MOVED,
         .power = 2,
         .controls = AT_PRESSURE},
    SCALING_MEAN(0, "scaling", "0.02", "<s>"),
    SCALING_MEAN(1, "scaling_1", "0.005", "<s_1>"),
    SCALING_MEAN(2, "scaling_2", "0.00125", "<s_2>"),
    SCALING_MEAN(3, "scaling_3", "3.1e-4", "<s_3>"),
    SCALING_MEAN(4, "scaling_4", "7.8e-5", "<s_4>"),
    SCALING_MEAN(5, "scaling_5", "2.0e-5", "<s_5>"),
    CONTACT_MEAN(0, "contact", "0.02", "<c>"),
    CONTACT_MEAN(1, "contact_1", "0.005", "<c_1>"),
    CONTACT_MEAN(2, "contact_2", "0.00125", "<c_2>"),
    CONTACT_MEAN(3, "contact_3", "3.1e-4", "<c_3>"),
    CONTACT_MEAN(4, "contact_4", "7.8e-5", "<c_4>"),
    [MEAN_PSI6] = {.label = {"psi6", "|psi_6| of all disks together", "1", "<|Ψ_6|>"},
                   .index = HARD_DISKS_PSI6,
                   .power = 1,
                   .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_PSI6_2] = {.label = {"psi6_2", "second moment of psi_6 of all disks together", "1",
                               "<|Ψ_6|^2>"},
                     .index = HARD_DISKS_PSI6_2,
                     .power = 1},
    [MEAN_PSI6_4] = {.label = {"psi6_4", "fourth moment of psi_6 of all disks together", "1",
                               "<|Ψ_6|^4>"},
                     .index = HARD_DISKS_PSI6_2,
                     .power = 2},
    [MEAN_PSI6_LOCAL] = {.label = {"psi6_local", "|psi_6| of each disk", "1", "<|ψ_6|>"},
                         .index = HARD_DISKS_PSI6_LOCAL,
                         .power = 1},
    [MEAN_PSI6_REAL] = {.label = {"psi6_real", "real part of psi_6 of all disks together", "1",
                                  "<Re Ψ_6>"},
                        .index = HARD_DISKS_PSI6_REAL,
                        .power = 1},
    [MEAN_PSI6_WAVE_X] = {.label = {"psi6_wave_x",
                                    "second moment of psi_6 exp(i k r), k = 2 pi / Lx along x", "1",
                                    "<|Ψ_6(k_x)|^2>"},
                          .index = HARD_DISKS_PSI6_WAVE_X,
                          .power = 1},
    [MEAN_PSI6_WAVE_Y] = {.label = {"psi6_wave_y",
                                    "second moment of psi_6 exp(i k r), k = 2 pi / Ly along y", "1",
                                    "<|Ψ_6(k_y)|^2>"},
                          .index = HARD_DISKS_PSI6_WAVE_Y,
                          .power = 1},
};

/* 1 / <v>, and pi / 4 of it. */
static double density(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 1.0 / mean[0];
}

static double
packing_fraction(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 0.25 * GPUMC_PI / mean[0];
}

/* rho kT kappa_T = N (<v^2> - <v>^2) / <v>^2; mean: <v>, <v^2>. */
static double
compressibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * (mean[1] - mean[0] * mean[0]) / (mean[0] * mean[0]);
}

static double
compressibility_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * mean[1] / (mean[0] * mean[0]);
}

/* Computed from 1 and -1, by their difference and their sum: one series, which fluctuates even if
 * all moves stay on the grid. */
static double
volume_acceptance(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 0.5 * (mean[1] + mean[0]);
}

static double
volume_beyond(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 0.5 * (mean[1] - mean[0]);
}

static double
share_of_moves(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return mean[1];
}

/* N (<|Psi_6|^2> - <|Psi_6|>^2); mean: <|Psi_6|>, <|Psi_6|^2>. */
static double
susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * (mean[1] - mean[0] * mean[0]);
}

static double
susceptibility_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * mean[1];
}

/* (2 pi)^2 (1 / Lx^2 + 1 / Ly^2); `volume`: the mean area per disk, NaN at constant volume. */
static double wave_number2(const struct gpumc_model *model, double volume)
{
  const double *length = hard_disks_parameters(model)->length;
  const double x = 2.0 * GPUMC_PI / length[0], y = 2.0 * GPUMC_PI / length[1];
  const double square = x * x + y * y;
  return isnan(volume) ? square : square * length[0] * length[1] / (volume * (double)model->sites);
}

/* From the second moment: chi(0) / chi(k) = 1 + xi^2 k^2 at the smallest k along x and y, which are
 * added. mean: <|Psi_6|^2>, the same at k along x, along y, <v>. NaN if chi(k) is not below
 * chi(0). */
static double
correlation_length(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  const double excess = mean[0] / mean[1] + mean[0] / mean[2] - 2.0;
  return mean[1] > 0.0 && mean[2] > 0.0 && excess >= 0.0
             ? sqrt(excess / wave_number2(model, mean[3]))
             : (double)NAN;
}

/* Its square is a difference from 2; if that is 0, the root has no derivative, and its rounding no
 * bound. */
static double
correlation_length_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  const double value = correlation_length(model, control, mean);
  const double square = value * value * wave_number2(model, mean[3]);
  return value == 0.0 ? (double)INFINITY : value * (2.0 + square) / (2.0 * square);
}

#define CONTACT_MEANS                                                                              \
  MEAN_CONTACT, MEAN_CONTACT + 1, MEAN_CONTACT + 2, MEAN_CONTACT + 3, MEAN_CONTACT + 4
#define SCALING_MEANS                                                                              \
  MEAN_SCALING, MEAN_SCALING + 1, MEAN_SCALING + 2, MEAN_SCALING + 3, MEAN_SCALING + 4,            \
      MEAN_SCALING + 5
_Static_assert(HARD_DISKS_CONTACT_LEVELS == 5 && HARD_DISKS_SCALING_LEVELS == 6,
               "the lists of channels and means have all levels");

/* The densities at contact themselves are reported as a crystal of this density needs them. */
#define OF_LEVEL(level)                                                                            \
  static bool is_contact_##level(const struct gpumc_model *model)                                  \
  {                                                                                                \
    return hard_disks_contact_level(model) == (level);                                             \
  }                                                                                                \
  static bool is_scaling_##level(const struct gpumc_model *model)                                  \
  {                                                                                                \
    return hard_disks_scaling_level(model) == (level);                                             \
  }
OF_LEVEL(0)
OF_LEVEL(1)
OF_LEVEL(2)
OF_LEVEL(3)
OF_LEVEL(4)
static bool is_scaling_5(const struct gpumc_model *model)
{
  return hard_disks_scaling_level(model) == 5;
}
#define REPORTED_WHERE "a crystal of this density needs this range"
#define CONTACT_REPORTED(level)                                                                    \
  {                                                                                                \
    .n_uses = 1, .uses = {MEAN_CONTACT + (level)}, .applies = is_contact_##level,                  \
    .applies_where = REPORTED_WHERE                                                                \
  }
#define SCALING_REPORTED(level)                                                                    \
  {                                                                                                \
    .n_uses = 1, .uses = {MEAN_SCALING + (level)}, .applies = is_scaling_##level,                  \
    .applies_where = REPORTED_WHERE                                                                \
  }

/* Positions among the quantities. */
enum { PRESSURE_RANGE = 9, PRESSURE_SCALING_RANGE };

const struct gpumc_quantity hard_disks_quantities[HARD_DISKS_QUANTITIES] = {
    {.n_uses = 1, .uses = {MEAN_VOLUME}, .controls = AT_PRESSURE},
    {.label = {"density", "disks per area, at the mean volume", "1/diameters2", "ρ"},
     .n_uses = 1,
     .uses = {MEAN_VOLUME},
     .value = density,
     .controls = AT_PRESSURE},
    {.label = {"packing_fraction", "share of the box that the disks cover, at the mean volume", "1",
               "φ"},
     .n_uses = 1,
     .uses = {MEAN_VOLUME},
     .value = packing_fraction,
     .controls = AT_PRESSURE},
    {.label = {"compressibility", "isothermal compressibility ρ kT κ_T, N (<v^2> - <v>^2) / <v>^2",
               "1", "ρ kT κ_T"},
     .n_uses = 2,
     .uses = {MEAN_VOLUME, MEAN_VOLUME_2},
     .value = compressibility,
     .scale = compressibility_scale,
     .controls = AT_PRESSURE,
     .of_each = true},
    {.label = {"volume_acceptance",
               "share of the last volume moves before measurements that were accepted", "1", "A_V"},
     .n_uses = 2,
     .uses = {MEAN_VOLUME_MOVED, MEAN_VOLUME_MOVED_2},
     .value = volume_acceptance,
     .scale = share_of_moves,
     .controls = AT_PRESSURE,
     .of_moves = true},
    {.label = {"volume_beyond",
               "share of the last volume moves before measurements that led to boxes that the grid "
               "does not allow",
               "1", "B_V"},
     .n_uses = 2,
     .uses = {MEAN_VOLUME_MOVED, MEAN_VOLUME_MOVED_2},
     .value = volume_beyond,
     .scale = share_of_moves,
     .controls = AT_PRESSURE,
     .of_moves = true,
     .most = 1e-3,
     .excess = "volumes beyond the range of the grid are not sampled; start closer to equilibrium "
               "by changing model.packing_fraction"},
    {.label = {"pressure", "pressure, from pairs in contact", "kT/diameters2", "P*"},
     .n_uses = HARD_DISKS_CONTACT_LEVELS,
     .uses = {CONTACT_MEANS},
     .value = hard_disks_pressure,
     .n_doubts = 1,
     .doubts = {PRESSURE_RANGE},
     .systematic = hard_disks_pressure_systematic},
    {.label = {"pressure_scaling", "pressure, from disks that overlap when the box shrinks",
               "kT/diameters2", "P*"},
     .n_uses = HARD_DISKS_SCALING_LEVELS,
     .uses = {SCALING_MEANS},
     .value = hard_disks_pressure_scaling,
     .n_doubts = 1,
     .doubts = {PRESSURE_SCALING_RANGE},
     .systematic = hard_disks_pressure_scaling_systematic},
    {.label = {"pressure_difference", "`pressure` minus `pressure_scaling`, 0 if both are right",
               "kT/diameters2", "ΔP*"},
     .n_uses = HARD_DISKS_CONTACT_LEVELS + HARD_DISKS_SCALING_LEVELS,
     .uses = {CONTACT_MEANS, SCALING_MEANS},
     .value = hard_disks_pressure_difference,
     .scale = hard_disks_pressure_difference_scale,
     .n_doubts = 2,
     .doubts = {PRESSURE_RANGE, PRESSURE_SCALING_RANGE},
     .systematic = hard_disks_pressure_difference_systematic,
     .identity = "the equality of both pressures",
     .broken = "the densities near contact cannot be extrapolated, or the disks are not in "
               "equilibrium: use more sweeps, a longer thermalization, or constant pressure"},
    [PRESSURE_RANGE] = {.label = {"pressure_range",
                                  "change of `pressure` from a quarter of the range to the whole "
                                  "range of the extrapolation",
                                  "kT/diameters2", "δP*"},
                        .n_uses = HARD_DISKS_CONTACT_LEVELS,
                        .uses = {CONTACT_MEANS},
                        .value = hard_disks_pressure_range,
                        .scale = hard_disks_pressure},
    [PRESSURE_SCALING_RANGE] = {.label = {"pressure_scaling_range",
                                          "change of `pressure_scaling` from a quarter of the "
                                          "range to the whole range of the extrapolation",
                                          "kT/diameters2", "δP*"},
                                .n_uses = HARD_DISKS_SCALING_LEVELS,
                                .uses = {SCALING_MEANS},
                                .value = hard_disks_pressure_scaling_range,
                                .scale = hard_disks_pressure_scaling},
    CONTACT_REPORTED(0),
    CONTACT_REPORTED(1),
    CONTACT_REPORTED(2),
    CONTACT_REPORTED(3),
    CONTACT_REPORTED(4),
    SCALING_REPORTED(0),
    SCALING_REPORTED(1),
    SCALING_REPORTED(2),
    SCALING_REPORTED(3),
    SCALING_REPORTED(4),
    SCALING_REPORTED(5),
    {.n_uses = 1, .uses = {MEAN_PSI6}},
    {.n_uses = 1, .uses = {MEAN_PSI6_2}},
    {.n_uses = 1, .uses = {MEAN_PSI6_4}},
    {.n_uses = 1, .uses = {MEAN_PSI6_LOCAL}},
    {.n_uses = 1, .uses = {MEAN_PSI6_REAL}},
    {.n_uses = 1, .uses = {MEAN_PSI6_WAVE_X}},
    {.n_uses = 1, .uses = {MEAN_PSI6_WAVE_Y}},
    {.label = {"psi6_susceptibility", "N (<|Ψ_6|^2> - <|Ψ_6|>^2)", "1", "χ_6"},
     .n_uses = 2,
     .uses = {MEAN_PSI6, MEAN_PSI6_2},
     .value = susceptibility,
     .scale = susceptibility_scale,
     .of_each = true},
    {.label = {"psi6_binder", "Binder parameter 1 - <|Ψ_6|^4> / (3 <|Ψ_6|^2>^2)", "1", "U_4"},
     .n_uses = 2,
     .uses = {MEAN_PSI6_2, MEAN_PSI6_4},
     .value = lattice_binder_parameter,
     .partial = true,
     .scale = lattice_binder_parameter_scale},
    {.label = {"psi6_correlation_length",
               "second-moment correlation length of psi_6, from the smallest wave vectors",
               "diameters", "ξ_6"},
     .n_uses = 4,
     .n_needed = 3,
     .uses = {MEAN_PSI6_2, MEAN_PSI6_WAVE_X, MEAN_PSI6_WAVE_Y, MEAN_VOLUME},
     .value = correlation_length,
     .partial = true,
     .scale = correlation_length_scale},
};
