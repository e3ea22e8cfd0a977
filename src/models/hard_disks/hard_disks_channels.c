/* The units of the channels of an instance of hard disks, and the weights of bins that turn
 * histograms of distances into pressures (hard_disks_pressure.h). */
#include <math.h>

#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

/* ---- weights of histograms ---- */

enum { DEGREE = 5 };

/* weight[i]: the contribution of a unit in bin i, at abscissa x[i], to the value at 0 of the
 * least-squares polynomial: by orthogonal polynomials (Forsythe, J. SIAM 5, 74 (1957)), sum over k
 * of p_k(0) p_k(x_i) / |p_k|^2. */
static void extrapolate(const double *x, double *weight)
{
  double before[HARD_DISKS_BINS] = {0}, now[HARD_DISKS_BINS], before0 = 0.0, now0 = 1.0,
         norm_before = 1.0;
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    weight[i] = 0.0;
    now[i] = 1.0;
  }
  for (int k = 0; k <= DEGREE; k++) {
    double norm = 0.0, centre = 0.0;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      norm += now[i] * now[i];
      centre += x[i] * now[i] * now[i];
    }
    centre /= norm;
    const double backward = k == 0 ? 0.0 : norm / norm_before;
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      weight[i] += now0 * now[i] / norm;
      const double next = (x[i] - centre) * now[i] - backward * before[i];
      before[i] = now[i];
      now[i] = next;
    }
    const double next0 = -centre * now0 - backward * before0;
    before0 = now0;
    now0 = next0;
    norm_before = norm;
  }
}

static double cube(double x)
{
  return x * x * x;
}

void hard_disks_contact_bins(double *distance, double *ring)
{
  const double width = 1.0 / HARD_DISKS_BINS_IN_UNIT, contact = HARD_DISKS_CONTACT_DISTANCE;
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    const double r = contact + width * (double)i, next = contact + width * (double)(i + 1);
    ring[i] = next * next - r * r;
    distance[i] = 2.0 * (cube(next) - cube(r)) / (3.0 * ring[i]);
  }
}

static void contact_weights(double *weight)
{
  double x[HARD_DISKS_BINS], ring[HARD_DISKS_BINS];
  hard_disks_contact_bins(x, ring);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    x[i] -= HARD_DISKS_CONTACT_DISTANCE;
  extrapolate(x, weight);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    weight[i] /= GPUMC_PI * ring[i];
}

static void scaling_weights(double *weight)
{
  double x[HARD_DISKS_BINS];
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    x[i] = ((double)i + 0.5) / HARD_DISKS_BINS_IN_UNIT;
  extrapolate(x, weight);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    weight[i] *= HARD_DISKS_BINS_IN_UNIT;
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

void hard_disks_describe_channels(struct gpumc_model *model)
{
  struct hard_disks_parameters *parameters = model->parameters;
  const double sites = (double)model->sites;
  double contact[HARD_DISKS_BINS], scaling[HARD_DISKS_BINS];
  model->site_word = "disk";
  contact_weights(contact);
  scaling_weights(scaling);
  describe_channel(model, HARD_DISKS_SCALING, sites * largest_of(scaling), SUM_BITS);
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
  describe_channel(model, HARD_DISKS_CONTACT, NEAR_PAIRS * sites * largest_of(contact), SUM_BITS);
  for (size_t c = HARD_DISKS_PSI6_REAL; c < HARD_DISKS_NUMBERS; c++)
    describe_channel(model, c, sites, CHANNEL_BITS);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    parameters->contact_weight[i] = (int64_t)rint(contact[i] / model->quantum[HARD_DISKS_CONTACT]);
    parameters->scaling_weight[i] = (int64_t)rint(scaling[i] / model->quantum[HARD_DISKS_SCALING]);
  }
}
