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

const struct gpumc_channel hard_disks_channels[HARD_DISKS_CHANNELS] = {
    [HARD_DISKS_SCALING] = {.label = {"scaling",
                                      "probability density per disk of the scaling of the box at "
                                      "which it overlaps, extrapolated to zero",
                                      "1", "s"}},
    [HARD_DISKS_VOLUME] = {.label = {"volume", "area of the box per disk", "diameters2", "V"}},
    [HARD_DISKS_VOLUME_MOVED] =
        {.label = {"volume_moved",
                   "1 where the last volume move, however long ago, was accepted, -1 where it was "
                   "rejected because the grid does not allow such a box",
                   "1", "m_V"}},
    [HARD_DISKS_CONTACT] = {.label = {"contact",
                                      "density of pairs in contact with a disk, rho g(1+) / 2",
                                      "1/diameters2", "c"}},
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
  MEAN_CONTACT,
  MEAN_PSI6,
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
    [MEAN_SCALING] = {.label = {"scaling",
                                "probability density per disk of the scaling of the box at which "
                                "it overlaps, extrapolated to zero",
                                "1", "<s>"},
                      .index = HARD_DISKS_SCALING,
                      .power = 1,
                      .watch = GPUMC_WATCH_ALWAYS,
                      .controls = AT_VOLUME},
    [MEAN_CONTACT] = {.label = {"contact", "density of pairs in contact with a disk, rho g(1+) / 2",
                                "1/diameters2", "<c>"},
                      .index = HARD_DISKS_CONTACT,
                      .power = 1,
                      .controls = AT_VOLUME},
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

/* P* = rho (1 + (pi/2) rho g(1+)) of hard_disks_pressure.h, mean[0] = <c> / N. */
static double pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + GPUMC_PI * mean[0]);
}

/* P* = rho (1 + s(0+) / 4). */
static double
pressure_scaling(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + 0.25 * mean[0]);
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
     .n_uses = 1,
     .uses = {MEAN_CONTACT},
     .value = pressure},
    {.label = {"pressure_scaling", "pressure, from disks that overlap when the box shrinks",
               "kT/diameters2", "P*"},
     .n_uses = 1,
     .uses = {MEAN_SCALING},
     .value = pressure_scaling},
    {.n_uses = 1, .uses = {MEAN_CONTACT}},
    {.n_uses = 1, .uses = {MEAN_SCALING}},
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
     .scale = lattice_binder_parameter_scale},
    {.label = {"psi6_correlation_length",
               "second-moment correlation length of psi_6, from the smallest wave vectors",
               "diameters", "ξ_6"},
     .n_uses = 4,
     .n_needed = 3,
     .uses = {MEAN_PSI6_2, MEAN_PSI6_WAVE_X, MEAN_PSI6_WAVE_Y, MEAN_VOLUME},
     .value = correlation_length,
     .scale = correlation_length_scale},
};
