/* Pressures of hard disks from the means of their channels at all levels (hard_disks_pressure.h),
 * and the errors of their extrapolation.
 *
 * The density of gaps or scalings, per disk, is n_0 = 4 (Z - 1) at contact, Z = P* / rho. It falls
 * off over 1 / n_0 for scalings, the gap to the nearest disk, and over 6 / n_0 for the gaps to all
 * neighbours, so that x = range times n_0, or a sixth of that, says how much of it a range sees. A
 * polynomial of degree 5 extrapolates densities like exp(-x) and like a Gaussian to better than
 * 5e-5 where x is below 2, or 1. Level 0, the paper's range, counts up to there, and the next level
 * from 1.5 times that on; in between both do, in shares that change with x, so that the pressure is
 * a continuous function of the means, whose error follows from theirs.
 *
 * Since n_0 comes from the same mean, the choice holds in any box and any state, such as a jammed
 * one. Where the range is much too wide, almost all disks are in the first bins, and the mean,
 * though it is too small, is still far above the limit. */
#include <math.h>

#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

/* One of the two estimates. */
struct estimate {
  int levels;
  double density0;   /* n_0 over the mean of a level */
  double limit;      /* x up to which a level counts alone */
  double neighbours; /* n_0 is divided by this in x */
};

static const struct estimate contact = {HARD_DISKS_CONTACT_LEVELS, 4.0 * GPUMC_PI, 1.0, 6.0},
                             scaling = {HARD_DISKS_SCALING_LEVELS, 1.0, 2.0, 1.0};

/* The next level counts alone from so many limits on. */
#define TURN 1.5

static double range_of(int level)
{
  double range = (double)HARD_DISKS_BINS / HARD_DISKS_BINS_IN_UNIT;
  for (int k = 0; k < level; k++)
    range /= HARD_DISKS_NARROWING;
  return range;
}

/* Returns x of a level. */
static double extent_of(const struct estimate *estimate, const double *mean, int level)
{
  return range_of(level) * estimate->density0 * mean[level] / estimate->neighbours;
}

/* Computes the shares of all levels: of one, or of two adjacent ones. */
static void shares_of(const struct estimate *estimate, const double *mean, double *share)
{
  double left = 1.0;
  for (int k = 0; k < estimate->levels; k++) {
    const double beyond = (extent_of(estimate, mean, k) / estimate->limit - 1.0) / (TURN - 1.0);
    const double next = k + 1 == estimate->levels ? 0.0
                        : beyond > 1.0            ? 1.0
                        : beyond > 0.0            ? beyond
                                                  : 0.0;
    share[k] = left * (1.0 - next);
    left *= next;
  }
}

/* Returns the mean at the levels that count. */
static double mean_of(const struct estimate *estimate, const double *mean)
{
  double share[HARD_DISKS_SCALING_LEVELS], sum = 0.0;
  shares_of(estimate, mean, share);
  for (int k = 0; k < estimate->levels; k++)
    if (share[k] > 0.0)
      sum += share[k] * mean[k];
  return sum;
}

/* Returns how much more that is than it would be one level further on; for the last level, than it
 * would be one level before. */
static double change_of(const struct estimate *estimate, const double *mean)
{
  double share[HARD_DISKS_SCALING_LEVELS], sum = 0.0;
  shares_of(estimate, mean, share);
  for (int k = 0; k < estimate->levels; k++)
    if (share[k] > 0.0)
      sum += share[k] * (mean[k] - mean[k + 1 < estimate->levels ? k + 1 : k - 1]);
  return sum;
}

/* ---- levels of a crystal ---- */

/* Z = 2/a + 1.9 for a crystal at any density, a = V/V_0 - 1. */
static int level_of(const struct gpumc_model *model, const struct estimate *estimate)
{
  const double closest = GPUMC_PI / sqrt(12.0);
  const double a = closest / hard_disks_parameters(model)->packing_fraction - 1.0;
  const double density = 4.0 * (2.0 / fmax(a, 1e-6) + 0.9);
  int level = 0;
  while (level + 1 < estimate->levels &&
         range_of(level) * density / estimate->neighbours > TURN * estimate->limit)
    level++;
  return level;
}

int hard_disks_contact_level(const struct gpumc_model *model)
{
  return level_of(model, &contact);
}

int hard_disks_scaling_level(const struct gpumc_model *model)
{
  return level_of(model, &scaling);
}

/* ---- the errors that are known ---- */

/* The largest relative error of an extrapolation with x up to its limit, where it grows like the
 * power DEGREE + 1 of x. */
#define TRUNCATION 5e-5
/* Where gaps are a few hundred quanta, disks that are aligned with an axis are displaced across it
 * by so little that rounding ignores it: they touch at a whole quantum, 0.22 quanta nearer than
 * HARD_DISKS_CONTACT_DISTANCE if that counts as the middle of its bin. */
#define ALIGNED 0.22
#define ALIGNED_SHARE (1.0 / 3.0)
/* The weight of a density's first part in an extrapolation, over the range: (DEGREE + 1)^2. */
#define FIRST_WEIGHT 36.0

/* Returns the relative error of n_0. */
static double relative_error(const struct estimate *estimate, const double *mean)
{
  const double quantum = 1.0 / (double)HARD_DISKS_UNIT;
  const double density = estimate->density0 * mean_of(estimate, mean), z = 1.0 + density / 4.0;
  /* Mean displacements across a bond are 3.2 / n_0; half their square over a quantum. */
  const double across = 5.0 / (density * density * quantum);
  const double aligned =
      ALIGNED * ALIGNED_SHARE * quantum * (across < 0.5 ? 1.0 - 2.0 * across : 0.0);
  double share[HARD_DISKS_SCALING_LEVELS], error = 0.0;
  shares_of(estimate, mean, share);
  for (int k = 0; k < estimate->levels; k++) {
    const double x = fmin(fabs(extent_of(estimate, mean, k)) / estimate->limit, 1.0);
    error += share[k] * (TRUNCATION * x * x * x * x * x * x + FIRST_WEIGHT * aligned / range_of(k));
  }
  /* Disks touch at HARD_DISKS_CONTACT_DISTANCE: the free volume is that of larger ones. */
  return error + (HARD_DISKS_CONTACT_DISTANCE - 1.0) * fabs(z);
}

static double
systematic_of(const struct gpumc_model *model, const struct estimate *estimate, const double *mean)
{
  return hard_disks_parameters(model)->density / 4.0 * estimate->density0 *
         fabs(mean_of(estimate, mean)) * relative_error(estimate, mean);
}

/* ---- quantities ---- */

/* P* = rho (1 + (pi/2) rho g(1+)), a mean <c> / N. */
double
hard_disks_pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + GPUMC_PI * mean_of(&contact, mean));
}

/* P* = rho (1 + s(0+) / 4). */
double hard_disks_pressure_scaling(const struct gpumc_model *model, const double *control,
                                   const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + 0.25 * mean_of(&scaling, mean));
}

double hard_disks_pressure_difference(const struct gpumc_model *model, const double *control,
                                      const double *mean)
{
  return hard_disks_pressure(model, control, mean) -
         hard_disks_pressure_scaling(model, control, mean + HARD_DISKS_CONTACT_LEVELS);
}

double hard_disks_pressure_range(const struct gpumc_model *model, const double *control,
                                 const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * GPUMC_PI * change_of(&contact, mean);
}

double hard_disks_pressure_scaling_range(const struct gpumc_model *model, const double *control,
                                         const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * 0.25 * change_of(&scaling, mean);
}

double hard_disks_pressure_systematic(const struct gpumc_model *model, const double *control,
                                      const double *mean)
{
  (void)control;
  return systematic_of(model, &contact, mean);
}

double hard_disks_pressure_scaling_systematic(const struct gpumc_model *model,
                                              const double *control, const double *mean)
{
  (void)control;
  return systematic_of(model, &scaling, mean);
}

double hard_disks_pressure_difference_systematic(const struct gpumc_model *model,
                                                 const double *control, const double *mean)
{
  (void)control;
  return systematic_of(model, &contact, mean) +
         systematic_of(model, &scaling, mean + HARD_DISKS_CONTACT_LEVELS);
}

double hard_disks_pressure_difference_scale(const struct gpumc_model *model, const double *control,
                                            const double *mean)
{
  return hard_disks_pressure(model, control, mean);
}
