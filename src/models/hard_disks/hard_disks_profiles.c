/* Profiles of hard disks: histograms of distances and the structure factor of a replica in host
 * memory, by plain loops.
 *
 * Each pair is visited from one of its disks, in the cells of a half plane around it, up to the
 * largest distance: O(N r^2). All sums are of integers, so they do not depend on the order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "models/hard_disks/hard_disks.h"

enum {
  BINS_IN_UNIT = 100,    /* of distances from 1 on */
  REACH = 10,            /* in distance, or half a box */
  WAVES_OF_AN_AXIS = 64, /* without a list of wave vectors: multiples of 2 pi / L along x and y */
  STRUCTURE_BITS = 52,
};

/* ---- the profiles of an instance ---- */

static size_t distances_of(const struct hard_disks_parameters *parameters)
{
  const double reach = fmin(REACH, 0.5 * fmin(parameters->length[0], parameters->length[1]));
  const double bins = floor((reach - 1.0) * BINS_IN_UNIT);
  return bins > 1.0 ? (size_t)bins : 1;
}

static enum gpumc_status list_waves(const struct hard_disks_settings *settings,
                                    struct hard_disks_parameters *parameters,
                                    struct gpumc_error *error)
{
  const bool given = settings->n_waves > 0;
  parameters->n_waves = given ? settings->n_waves : 2 * (size_t)WAVES_OF_AN_AXIS;
  GPUMC_TRY(
      gpumc_allocate_array(&parameters->wave, 2 * parameters->n_waves, "wave vectors", error));
  for (size_t i = 0; i < 2 * parameters->n_waves; i++) {
    const bool along = i % 2 == i / 2 % 2; /* (n, 0), (0, n), n = 1, 2, ... */
    parameters->wave[i] = given ? settings->wave[i] : along ? (int32_t)(i / 4) + 1 : 0;
  }
  return GPUMC_OK;
}

/* Returns `unit` of numbers of pairs, counted once, in a ring of area pi `ring`: the density around
 * a disk over the mean density. */
static double unit_of(const struct gpumc_model *model, double ring)
{
  return 2.0 / ((double)model->sites * hard_disks_parameters(model)->density * GPUMC_PI * ring);
}

static void describe_distances(const struct gpumc_model *model, size_t bins, double *at,
                               double *pairs, double *bonds)
{
  for (size_t i = 0; i < bins; i++) {
    const double r = 1.0 + (double)i / BINS_IN_UNIT, next = 1.0 + (double)(i + 1) / BINS_IN_UNIT;
    at[i] = 0.5 * (r + next);
    pairs[i] = unit_of(model, next * next - r * r);
    bonds[i] = ldexp(pairs[i], -HARD_DISKS_ORDER_BITS);
  }
}

static double structure_quantum(const struct gpumc_model *model)
{
  int exponent;
  frexp((double)model->sites, &exponent);
  return ldexp(1.0, exponent - STRUCTURE_BITS);
}

static void describe_waves(const struct gpumc_model *model, double *at, double *unit)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  for (size_t i = 0; i < parameters->n_waves; i++) {
    const double x = parameters->wave[2 * i] / parameters->length[0],
                 y = parameters->wave[2 * i + 1] / parameters->length[1];
    at[i] = 2.0 * GPUMC_PI * sqrt(x * x + y * y);
    unit[i] = structure_quantum(model);
  }
}

enum gpumc_status hard_disks_describe_profiles(const struct hard_disks_settings *settings,
                                               struct gpumc_model *model, struct gpumc_error *error)
{
  struct hard_disks_parameters *parameters = model->parameters;
  const size_t bins = distances_of(parameters);
  GPUMC_TRY(list_waves(settings, parameters, error));
  const size_t waves = parameters->n_waves;
  GPUMC_TRY(gpumc_allocate_array(&parameters->scales, 2 * HARD_DISKS_BINS + 3 * bins + 2 * waves,
                                 "scales of profiles", error));
  double *contact = parameters->scales, *of_contact = contact + HARD_DISKS_BINS,
         *distance = of_contact + HARD_DISKS_BINS, *pairs = distance + bins, *bonds = pairs + bins,
         *number = bonds + bins, *of_number = number + waves;
  double ring[HARD_DISKS_BINS];
  hard_disks_contact_bins(0, contact, ring);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    of_contact[i] = unit_of(model, ring[i]);
  describe_distances(model, bins, distance, pairs, bonds);
  describe_waves(model, number, of_number);
  model->profile[HARD_DISKS_CONTACT_HISTOGRAM] =
      (struct gpumc_profile){HARD_DISKS_BINS, contact, of_contact};
  model->profile[HARD_DISKS_PAIR_CORRELATION] = (struct gpumc_profile){bins, distance, pairs};
  model->profile[HARD_DISKS_BOND_CORRELATION] = (struct gpumc_profile){bins, distance, bonds};
  model->profile[HARD_DISKS_STRUCTURE_FACTOR] = (struct gpumc_profile){waves, number, of_number};
  return GPUMC_OK;
}

/* ---- pairs ---- */

/* The sums over a replica; NULL: not wanted. */
struct pairs {
  const struct hard_disks_parameters *parameters;
  const struct hard_disks_replica *replica;
  struct hard_disks_box box;
  int64_t *contact, *distance, *bond; /* [bins] */
  int32_t *psi6;                      /* [count][2], by places of the layout */
  size_t bins;
  double reach2; /* squared distances from here on are ignored */
};

static double bond_of(const int32_t *one, const int32_t *other)
{
  return (double)one[0] * (double)other[0] + (double)one[1] * (double)other[1];
}

static void see_pair(const struct pairs *pairs, size_t one, size_t other, double dx, double dy)
{
  const double unit = 1.0 / (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const double square = dx * dx + dy * dy;
  if (square >= pairs->reach2)
    return;
  if (pairs->contact != NULL && square < HARD_DISKS_NEAR) {
    const uint32_t bin = hard_disks_bin(hard_disks_gap(square));
    if (bin < HARD_DISKS_BINS)
      pairs->contact[bin]++;
  }
  const size_t bin = (size_t)((sqrt(square) - 1.0) * BINS_IN_UNIT);
  if (bin >= pairs->bins)
    return;
  if (pairs->distance != NULL)
    pairs->distance[bin]++;
  if (pairs->bond != NULL)
    pairs->bond[bin] +=
        (int64_t)rint(unit * bond_of(pairs->psi6 + 2 * one, pairs->psi6 + 2 * other));
}

/* Visits the pairs of a disk at `place` of cell (a, b) and those of the cell that is (u, v) away;
 * in its own cell, those in later slots, from `first` on. */
static void
see_cell(const struct pairs *pairs, size_t place, size_t a, size_t b, int u, int v, size_t first)
{
  const struct hard_disks_box *box = &pairs->box;
  const struct hard_disks_replica *replica = pairs->replica;
  const size_t column = hard_disks_around(a, u, box->cells_x),
               row = hard_disks_around(b, v, box->cells_y);
  for (size_t s = first; s < HARD_DISKS_SLOTS; s++) {
    const size_t other = hard_disks_place(replica->layout, s, column, row);
    if (replica->x[other] < 0.0f)
      break;
    see_pair(pairs, place, other,
             (double)replica->x[other] - (double)replica->x[place] + u * (double)box->width_x,
             (double)replica->y[other] - (double)replica->y[place] + v * (double)box->width_y);
  }
}

/* Returns the minimum distance of a cell that is `steps` away along an axis. */
static double gap(int steps, double width)
{
  return steps == 0 ? 0.0 : (abs(steps) - 1) * width;
}

/* Visits the pairs of one disk, in slot s of its cell. */
static void see_pairs_of(const struct pairs *pairs, size_t place, size_t a, size_t b, size_t s)
{
  const struct hard_disks_box *box = &pairs->box;
  const double x = (double)box->width_x, y = (double)box->width_y, reach = sqrt(pairs->reach2);
  const int columns = (int)(reach / x) + 1, rows = (int)(reach / y) + 1;
  see_cell(pairs, place, a, b, 0, 0, s + 1);
  for (int v = 0; v <= rows; v++)
    for (int u = v == 0 ? 1 : -columns; u <= columns; u++)
      if (gap(u, x) * gap(u, x) + gap(v, y) * gap(v, y) < pairs->reach2)
        see_cell(pairs, place, a, b, u, v, 0);
}

/* ---- waves ---- */

/* The structure factor: sums[n_waves][2] in units of 2^-HARD_DISKS_ORDER_BITS, and, for the current
 * disk, exp(i n phi), n = 0 .. most, along x and y. */
struct waves {
  const struct hard_disks_parameters *parameters;
  int64_t *sums;
  double *powers[2]; /* [most + 1][2] */
  size_t most[2];
};

static void waves_free(struct waves *waves)
{
  free(waves->sums);
  free(waves->powers[0]);
  free(waves->powers[1]);
}

static enum gpumc_status waves_make(const struct hard_disks_parameters *parameters,
                                    struct waves *waves, struct gpumc_error *error)
{
  waves->parameters = parameters;
  for (size_t i = 0; i < 2 * parameters->n_waves; i++) {
    const size_t n = (size_t)abs(parameters->wave[i]);
    waves->most[i % 2] = n > waves->most[i % 2] ? n : waves->most[i % 2];
  }
  for (size_t d = 0; d < 2; d++)
    GPUMC_TRY(gpumc_allocate_array(&waves->powers[d], 2 * (waves->most[d] + 1), "powers of waves",
                                   error));
  return gpumc_allocate_array(&waves->sums, 2 * parameters->n_waves, "sums of waves", error);
}

static void find_powers(const struct waves *waves, size_t d, int64_t at, int64_t side)
{
  double *power = waves->powers[d], cosine, sine;
  gpumc_fine_circle(at, side, &cosine, &sine);
  power[0] = 1.0;
  power[1] = 0.0;
  for (size_t n = 0; n < waves->most[d]; n++) {
    power[2 * n + 2] = power[2 * n] * cosine - power[2 * n + 1] * sine;
    power[2 * n + 3] = power[2 * n] * sine + power[2 * n + 1] * cosine;
  }
}

static void add_waves(const struct waves *waves, const struct hard_disks_replica *replica,
                      size_t place, size_t a, size_t b)
{
  const struct hard_disks_parameters *parameters = waves->parameters;
  const struct hard_disks_box box = hard_disks_box_of(replica);
  const double unit = (double)((int64_t)1 << HARD_DISKS_ORDER_BITS);
  const int64_t side[2] = {hard_disks_side(box.cells_x, box.width_x),
                           hard_disks_side(box.cells_y, box.width_y)};
  find_powers(
      waves, 0,
      hard_disks_at((uint32_t)a, replica->x[place], box.width_x, replica->head->offset[0], side[0]),
      side[0]);
  find_powers(
      waves, 1,
      hard_disks_at((uint32_t)b, replica->y[place], box.width_y, replica->head->offset[1], side[1]),
      side[1]);
  for (size_t i = 0; i < parameters->n_waves; i++) {
    const int32_t n = parameters->wave[2 * i], k = parameters->wave[2 * i + 1];
    const double *x = waves->powers[0] + 2 * (size_t)abs(n),
                 *y = waves->powers[1] + 2 * (size_t)abs(k);
    const double x1 = n < 0 ? -x[1] : x[1], y1 = k < 0 ? -y[1] : y[1];
    waves->sums[2 * i] += (int64_t)rint(unit * (x[0] * y[0] - x1 * y1));
    waves->sums[2 * i + 1] += (int64_t)rint(unit * (x[0] * y1 + x1 * y[0]));
  }
}

static void
record_waves(const struct gpumc_model *model, const struct waves *waves, int64_t *structure)
{
  const double unit = 1.0 / ((double)model->sites * structure_quantum(model));
  for (size_t i = 0; i < waves->parameters->n_waves; i++)
    structure[i] = (int64_t)rint(hard_disks_square_of(waves->sums + 2 * i) * unit);
}

/* ---- a replica ---- */

typedef void (*look)(void *with, size_t place, size_t a, size_t b, size_t s);

static void for_each_disk(const struct hard_disks_replica *replica, look look_at, void *with)
{
  const struct hard_disks_box *box = replica->grid;
  for (size_t b = 0; b < box->cells_y; b++)
    for (size_t a = 0; a < box->cells_x; a++)
      for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
        const size_t place = hard_disks_place(replica->layout, s, a, b);
        if (replica->x[place] < 0.0f)
          break;
        look_at(with, place, a, b, s);
      }
}

static void look_for_order(void *with, size_t place, size_t a, size_t b, size_t s)
{
  const struct pairs *pairs = with;
  int64_t psi6[2];
  (void)s;
  hard_disks_find_order(pairs->parameters, pairs->replica, a, b, place, psi6);
  pairs->psi6[2 * place] = (int32_t)psi6[0];
  pairs->psi6[2 * place + 1] = (int32_t)psi6[1];
}

static void look_for_pairs(void *with, size_t place, size_t a, size_t b, size_t s)
{
  see_pairs_of(with, place, a, b, s);
}

struct waves_of {
  const struct waves *waves;
  const struct hard_disks_replica *replica;
};

static void look_for_waves(void *with, size_t place, size_t a, size_t b, size_t s)
{
  const struct waves_of *of = with;
  (void)s;
  add_waves(of->waves, of->replica, place, a, b);
}

/* Returns the zeroed numbers of a profile; NULL if it is not wanted. */
static int64_t *
numbers_of(const struct gpumc_model *model, size_t c, int64_t *const *channel, size_t at)
{
  const size_t width = model->profile[c].width;
  if (channel[c] == NULL)
    return NULL;
  memset(channel[c] + at * width, 0, width * sizeof **channel);
  return channel[c] + at * width;
}

static enum gpumc_status
measure_pairs(const struct gpumc_model *model, const struct hard_disks_replica *replica,
              int64_t *const *channel, size_t at, struct gpumc_error *error)
{
  struct pairs pairs = {
      .parameters = hard_disks_parameters(model),
      .replica = replica,
      .box = hard_disks_box_of(replica),
      .contact = numbers_of(model, HARD_DISKS_CONTACT_HISTOGRAM, channel, at),
      .distance = numbers_of(model, HARD_DISKS_PAIR_CORRELATION, channel, at),
      .bond = numbers_of(model, HARD_DISKS_BOND_CORRELATION, channel, at),
      .bins = model->profile[HARD_DISKS_PAIR_CORRELATION].width,
      .reach2 = HARD_DISKS_NEAR,
  };
  if (pairs.contact == NULL && pairs.distance == NULL && pairs.bond == NULL)
    return GPUMC_OK;
  if (pairs.distance != NULL || pairs.bond != NULL) {
    const double reach = 1.0 + (double)pairs.bins / BINS_IN_UNIT;
    pairs.reach2 = fmax(pairs.reach2, reach * reach);
  }
  if (pairs.bond != NULL) {
    GPUMC_TRY(gpumc_allocate_array(&pairs.psi6, 2 * replica->layout->count,
                                   "bond order of the disks", error));
    for_each_disk(replica, look_for_order, &pairs);
  }
  for_each_disk(replica, look_for_pairs, &pairs);
  free(pairs.psi6);
  return GPUMC_OK;
}

static enum gpumc_status measure_waves(const struct gpumc_model *model,
                                       const struct hard_disks_replica *replica, int64_t *structure,
                                       struct gpumc_error *error)
{
  struct waves waves = {0};
  struct waves_of of = {&waves, replica};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, waves_make(hard_disks_parameters(model), &waves, error));
  for_each_disk(replica, look_for_waves, &of);
  record_waves(model, &waves, structure);
out:
  waves_free(&waves);
  return status;
}

enum gpumc_status hard_disks_measure_profiles(const struct gpumc_model *model,
                                              const struct hard_disks_replica *replica,
                                              int64_t *const *channel, size_t at,
                                              struct gpumc_error *error)
{
  int64_t *structure = numbers_of(model, HARD_DISKS_STRUCTURE_FACTOR, channel, at);
  GPUMC_TRY(measure_pairs(model, replica, channel, at, error));
  return structure != NULL ? measure_waves(model, replica, structure, error) : GPUMC_OK;
}

enum gpumc_status hard_disks_measure(const struct gpumc_model *model,
                                     const struct hard_disks_replica *replica,
                                     int64_t *const *channel, size_t at, struct gpumc_error *error)
{
  GPUMC_TRY(hard_disks_measure_numbers(model, replica, channel, at, error));
  return hard_disks_measure_profiles(model, replica, channel, at, error);
}
