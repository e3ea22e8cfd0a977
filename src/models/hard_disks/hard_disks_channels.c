/* The units of the channels of an instance of hard disks, and the weights of bins that turn
 * histograms of distances into pressures (hard_disks_pressure.h). */
#include <math.h>

#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

/* ---- weights of histograms ---- */

enum { DEGREE = 5, ROOTS = 2, POWERS = 2, FUNCTIONS = DEGREE + 1 + ROOTS * POWERS };

/* Functions of the bins, orthogonal to each other, and their values at 0. */
struct basis {
  size_t count;
  double at[FUNCTIONS][HARD_DISKS_BINS], at0[FUNCTIONS], norm[FUNCTIONS];
};

/* Places beyond which a density falls off like a root. Where a side L of the box is hardly longer
 * than 2, a pair that is aligned with it touches from both sides: directions within about
 * (r - r_0)^(1/2) of the side are then missing at distance r, r_0 = L - 1 for pairs and L / 2 for
 * the nearest disk, which no polynomial can follow. */
struct roots {
  size_t count;
  double at[ROOTS];
};

/* Polynomials, which are made orthogonal by recursion (Forsythe, J. SIAM 5, 74 (1957)). */
static void add_polynomials(struct basis *basis, const double *x)
{
  double before[HARD_DISKS_BINS] = {0}, now[HARD_DISKS_BINS], before0 = 0.0, now0 = 1.0,
         norm_before = 1.0;
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    now[i] = 1.0;
  for (int k = 0; k <= DEGREE; k++) {
    double norm = 0.0, centre = 0.0;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      norm += now[i] * now[i];
      centre += x[i] * now[i] * now[i];
    }
    centre /= norm;
    const double backward = k == 0 ? 0.0 : norm / norm_before;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      basis->at[basis->count][i] = now[i];
      const double next = (x[i] - centre) * now[i] - backward * before[i];
      before[i] = now[i];
      now[i] = next;
    }
    basis->norm[basis->count] = norm;
    basis->at0[basis->count++] = now0;
    const double next0 = -centre * now0 - backward * before0;
    before0 = now0;
    now0 = next0;
    norm_before = norm;
  }
}

/* Returns x^(n + 1/2); 0 for x < 0. */
static double half_power(double x, int n)
{
  const double root = sqrt(fmax(x, 0.0));
  return n == 1 ? x * root : n == 2 ? x * x * root : x * x * x * root;
}

/* Subtracts what the basis has of a function, and returns the square of what is left; *at0: its
 * value at 0. */
static double remainder_of(const struct basis *basis, double *function, double *at0)
{
  double norm = 0.0;
  for (size_t k = 0; k < basis->count; k++) {
    double product = 0.0;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++)
      product += basis->at[k][i] * function[i];
    product /= basis->norm[k];
    for (size_t i = 0; i < HARD_DISKS_BINS; i++)
      function[i] -= product * basis->at[k][i];
    *at0 -= product * basis->at0[k];
  }
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    norm += function[i] * function[i];
  return norm;
}

/* Adds the means over bins of (x - root)^(1/2) and (x - root)^(3/2), 0 below the root. */
static void add_root(struct basis *basis, double root, double width)
{
  for (int n = 1; n <= POWERS; n++) {
    double *function = basis->at[basis->count], at0 = 0.0, before = 0.0;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      const double from = width * (double)i - root, to = width * (double)(i + 1) - root;
      function[i] =
          to > 0.0 ? (half_power(to, n) - half_power(from, n)) / ((n + 0.5) * width) : 0.0;
      before += function[i] * function[i];
    }
    remainder_of(basis, function, &at0);
    const double norm = remainder_of(basis, function, &at0); /* once more, for rounding */
    if (norm < 1e-20 * before)
      return;
    basis->norm[basis->count] = norm;
    basis->at0[basis->count++] = at0;
  }
}

/* weight[i]: the contribution of a unit in bin i, at abscissa x[i], to the value at 0 of the
 * least-squares fit: the sum over the basis of f(0) f(x_i) / |f|^2. */
static void extrapolate(const double *x, double width, const struct roots *roots, double *weight)
{
  struct basis basis = {0};
  add_polynomials(&basis, x);
  for (size_t r = 0; r < roots->count; r++)
    if (roots->at[r] < width * HARD_DISKS_BINS)
      add_root(&basis, roots->at[r], width);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    weight[i] = 0.0;
    for (size_t k = 0; k < basis.count; k++)
      weight[i] += basis.at0[k] * basis.at[k][i] / basis.norm[k];
  }
}

static double cube(double x)
{
  return x * x * x;
}

/* Returns the bins of a level per diameter. */
static double bins_in_unit(int level)
{
  double bins = HARD_DISKS_BINS_IN_UNIT;
  for (int k = 0; k < level; k++)
    bins *= HARD_DISKS_NARROWING;
  return bins;
}

void hard_disks_contact_bins(int level, double *distance, double *ring)
{
  const double width = 1.0 / bins_in_unit(level), contact = HARD_DISKS_CONTACT_DISTANCE;
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    const double r = contact + width * (double)i, next = contact + width * (double)(i + 1);
    ring[i] = next * next - r * r;
    distance[i] = 2.0 * (cube(next) - cube(r)) / (3.0 * ring[i]);
  }
}

/* Returns the roots of the densities of pairs, or of scalings, due to the two sides of the box. */
static struct roots roots_of(const double length[2], bool scaling)
{
  struct roots roots = {0};
  for (size_t d = 0; d < (length[0] == length[1] ? 1 : 2); d++) {
    const double least = 2.0 * HARD_DISKS_CONTACT_DISTANCE;
    const double at = scaling ? 1.0 - least / length[d] : length[d] - least;
    roots.at[roots.count++] = fmax(at, 0.0);
  }
  return roots;
}

static void contact_weights(const double length[2], int level, double *weight)
{
  const struct roots roots = roots_of(length, false);
  double x[HARD_DISKS_BINS], ring[HARD_DISKS_BINS];
  hard_disks_contact_bins(level, x, ring);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    x[i] -= HARD_DISKS_CONTACT_DISTANCE;
  extrapolate(x, 1.0 / bins_in_unit(level), &roots, weight);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    weight[i] /= GPUMC_PI * ring[i];
}

static void scaling_weights(const double length[2], int level, double *weight)
{
  const struct roots roots = roots_of(length, true);
  const double bins = bins_in_unit(level);
  double x[HARD_DISKS_BINS];
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    x[i] = ((double)i + 0.5) / bins;
  extrapolate(x, 1.0 / bins, &roots, weight);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    weight[i] *= bins;
}

/* ---- quanta ---- */

enum {
  /* Channels are below 2^CHANNEL_BITS quanta, so that a tally has room for the squares of all
     replicas; */
  CHANNEL_BITS = 40,
  SUM_BITS = 52,  /* those that are not squared in sums */
  NEAR_PAIRS = 3, /* per disk: six disks touch it */
};

static void describe_channel(struct gpumc_model *model, size_t channel, double largest, int bits)
{
  int exponent;
  frexp(largest, &exponent);
  model->quantum[channel] = ldexp(1.0, exponent - bits);
  model->bound[channel] = largest / model->quantum[channel];
}

static double largest_of(const double *weight)
{
  double largest = 0.0;
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    largest = fmax(largest, fabs(weight[i]));
  return largest;
}

static void in_quanta(const double *weight, double quantum, int64_t *quanta)
{
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    quanta[i] = (int64_t)rint(weight[i] / quantum);
}

static void describe_scalings(struct gpumc_model *model, int level)
{
  struct hard_disks_parameters *parameters = model->parameters;
  const size_t channel = HARD_DISKS_SCALING + (size_t)level;
  double weight[HARD_DISKS_BINS];
  scaling_weights(parameters->length, level, weight);
  describe_channel(model, channel, (double)model->sites * largest_of(weight), SUM_BITS);
  in_quanta(weight, model->quantum[channel], parameters->scaling_weight[level]);
}

static void describe_contacts(struct gpumc_model *model, int level)
{
  struct hard_disks_parameters *parameters = model->parameters;
  const size_t channel = HARD_DISKS_CONTACT + (size_t)level;
  double weight[HARD_DISKS_BINS];
  contact_weights(parameters->length, level, weight);
  describe_channel(model, channel, NEAR_PAIRS * (double)model->sites * largest_of(weight),
                   SUM_BITS);
  in_quanta(weight, model->quantum[channel], parameters->contact_weight[level]);
}

void hard_disks_describe_channels(struct gpumc_model *model)
{
  struct hard_disks_parameters *parameters = model->parameters;
  const double sites = (double)model->sites;
  model->site_word = "disk";
  describe_channel(model, HARD_DISKS_VOLUME, parameters->length[0] * parameters->length[1],
                   CHANNEL_BITS);
  const struct hard_disks_grid *open = &parameters->open;
  const uint32_t most = open->most;
  if (open->least <= most)
    model->bound[HARD_DISKS_VOLUME] =
        hard_disks_volume_with(
            &open->box, (const float[2]){hard_disks_width(most),
                                         hard_disks_width(hard_disks_height(&open->box, most))}) /
        model->quantum[HARD_DISKS_VOLUME];
  model->quantum[HARD_DISKS_VOLUME_MOVED] = sites;
  model->bound[HARD_DISKS_VOLUME_MOVED] = 1.0;
  for (int k = 0; k < HARD_DISKS_SCALING_LEVELS; k++)
    describe_scalings(model, k);
  for (int k = 0; k < HARD_DISKS_CONTACT_LEVELS; k++)
    describe_contacts(model, k);
  for (size_t c = HARD_DISKS_PSI6_REAL; c < HARD_DISKS_NUMBERS; c++)
    describe_channel(model, c, sites, CHANNEL_BITS);
}
