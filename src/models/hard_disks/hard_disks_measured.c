/* What is measured of hard disks, and what follows from it. Diameters are 1. */
#include <math.h>
#include <stdlib.h>

#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "models/hard_disks/hard_disks.h"

static const char order_key[] = "bond_order";
static const char order_request[] =
    "Whether the bond-orientational order psi_6 is measured, which takes longer than a sweep.";
#define ON_REQUEST .request_key = order_key, .request = order_request

const struct gpumc_channel hard_disks_channels[HARD_DISKS_CHANNELS] = {
    [HARD_DISKS_SCALING] = {.label = {"scaling",
                                      "density of disks that overlap when the box shrinks, "
                                      "extrapolated to no shrinking",
                                      "1", "s"}},
    [HARD_DISKS_VOLUME] = {.label = {"volume", "area of the box per disk", "diameters2", "V"}},
    [HARD_DISKS_CONTACT] = {.label = {"contact",
                                      "rho g(1+) / 2, pairs in contact per disk and area",
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
};

enum {
  MEAN_SCALING,
  MEAN_CONTACT,
  MEAN_PSI6,
  MEAN_PSI6_2,
  MEAN_PSI6_4,
  MEAN_PSI6_LOCAL,
};
_Static_assert(MEAN_PSI6_LOCAL + 1 == HARD_DISKS_MEANS, "as many as the header says");

const struct gpumc_mean hard_disks_means[HARD_DISKS_MEANS] = {
    [MEAN_SCALING] = {.label = {"scaling",
                                "density of disks that overlap when the box shrinks, extrapolated "
                                "to no shrinking",
                                "1", "<s>"},
                      .index = HARD_DISKS_SCALING,
                      .power = 1,
                      .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_CONTACT] = {.label = {"contact", "rho g(1+) / 2", "1/diameters2", "<c>"},
                      .index = HARD_DISKS_CONTACT,
                      .power = 1},
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
};

/* P* = rho (1 + (pi/2) rho g(1+)) of hard_disks_pressure.h, mean[0] = <c> / N. */
static double pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + GPUMC_PI * mean[0]);
}

/* P* = rho (1 + s(0+) / 4). */
static double
scaling_pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return hard_disks_parameters(model)->density * (1.0 + 0.25 * mean[0]);
}

const struct gpumc_quantity hard_disks_quantities[HARD_DISKS_QUANTITIES] = {
    {.label = {"pressure", "pressure, from pairs in contact", "kT/diameters2", "P*"},
     .n_uses = 1,
     .uses = {MEAN_CONTACT},
     .value = pressure},
    {.label = {"scaling_pressure", "pressure, from disks that overlap when the box shrinks",
               "kT/diameters2", "P*"},
     .n_uses = 1,
     .uses = {MEAN_SCALING},
     .value = scaling_pressure},
    {.n_uses = 1, .uses = {MEAN_CONTACT}},
    {.n_uses = 1, .uses = {MEAN_SCALING}},
    {.n_uses = 1, .uses = {MEAN_PSI6}},
    {.n_uses = 1, .uses = {MEAN_PSI6_2}},
    {.n_uses = 1, .uses = {MEAN_PSI6_4}},
    {.n_uses = 1, .uses = {MEAN_PSI6_LOCAL}},
};

/* ---- weights of histograms ---- */

enum { DEGREE = 5 };

/* weight[i]: what a unit in bin i, at abscissa x[i], adds to the value at 0 of the polynomial of
 * least squares: by orthogonal polynomials (Forsythe, J. SIAM 5, 74 (1957)), sum over k of p_k(0)
 * p_k(x_i) / |p_k|^2. */
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

static void contact_weights(double *weight)
{
  const double width = 1.0 / HARD_DISKS_BINS_IN_UNIT, contact = HARD_DISKS_CONTACT_DISTANCE;
  double x[HARD_DISKS_BINS], ring[HARD_DISKS_BINS];
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    const double r = contact + width * (double)i, next = contact + width * (double)(i + 1);
    ring[i] = next * next - r * r;
    x[i] = 2.0 * (cube(next) - cube(r)) / (3.0 * ring[i]) - contact;
  }
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
  SUM_BITS = 52,  /* those whose square is not summed */
  NEAR_PAIRS = 3, /* of a disk: six disks touch it */
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
  contact_weights(contact);
  scaling_weights(scaling);
  describe_channel(model, HARD_DISKS_SCALING, sites * largest_of(scaling), SUM_BITS);
  describe_channel(model, HARD_DISKS_VOLUME, parameters->length[0] * parameters->length[1],
                   CHANNEL_BITS);
  describe_channel(model, HARD_DISKS_CONTACT, NEAR_PAIRS * sites * largest_of(contact), SUM_BITS);
  for (size_t c = HARD_DISKS_PSI6_REAL; c <= HARD_DISKS_PSI6_LOCAL; c++)
    describe_channel(model, c, sites, CHANNEL_BITS);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
    parameters->contact_weight[i] = (int64_t)rint(contact[i] / model->quantum[HARD_DISKS_CONTACT]);
    parameters->scaling_weight[i] = (int64_t)rint(scaling[i] / model->quantum[HARD_DISKS_SCALING]);
  }
}

/* ---- sums over a replica ---- */

/* A replica, and the disk that is looked at, in cell (a, b). */
struct view {
  const struct hard_disks_parameters *parameters;
  const struct hard_disks_replica *replica;
  size_t a, b, place;
};

/* Calls `see_disk` with the difference to each disk of the cell that is (u, v) from the disk's own.
 */
typedef void (*see)(void *with, double dx, double dy);

static size_t around(size_t cell, int step, uint32_t cells)
{
  const int64_t all = (int64_t)cells;
  return (size_t)(((int64_t)cell + step + HARD_DISKS_RINGS * all) % all);
}

static void visit_cell(const struct view *view, int u, int v, see see_disk, void *with)
{
  const struct hard_disks_box *box = &view->parameters->box;
  const struct hard_disks_replica *replica = view->replica;
  const size_t a = around(view->a, u, box->cells_x), b = around(view->b, v, box->cells_y);
  for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
    const size_t place = hard_disks_place(replica->layout, s, a, b);
    if (replica->x[place] < 0.0f)
      break;
    if (place == view->place && u == 0 && v == 0)
      continue;
    see_disk(with,
             (double)replica->x[place] - (double)replica->x[view->place] + u * (double)box->width_x,
             (double)replica->y[place] - (double)replica->y[view->place] +
                 v * (double)box->width_y);
  }
}

/* The cells of a ring: max(|u|, |v|) = ring, row by row. */
static void visit_ring(const struct view *view, int ring, see see_disk, void *with)
{
  for (int v = -ring; v <= ring; v++)
    for (int u = -ring; u <= ring; u += abs(v) == ring ? 1 : 2 * ring)
      visit_cell(view, u, v, see_disk, with);
}

struct near {
  const struct hard_disks_parameters *parameters;
  int64_t contact;
  double least;
};

static void see_near(void *with, double dx, double dy)
{
  struct near *near = with;
  const double square = dx * dx + dy * dy;
  if (square >= HARD_DISKS_NEAR)
    return;
  const uint32_t bin = hard_disks_contact_bin(square);
  near->contact += bin < HARD_DISKS_BINS ? near->parameters->contact_weight[bin] : 0;
  near->least = square < near->least ? square : near->least;
}

static void add_pressure(const struct view *view, struct hard_disks_sums *sums)
{
  struct near near = {.parameters = view->parameters, .least = HARD_DISKS_NEAR};
  visit_cell(view, 0, 0, see_near, &near);
  visit_ring(view, 1, see_near, &near);
  const uint32_t bin = hard_disks_scaling_bin(near.least);
  sums->contact2 += near.contact;
  sums->scaling += bin < HARD_DISKS_BINS ? view->parameters->scaling_weight[bin] : 0;
}

static void see_neighbour(void *with, double dx, double dy)
{
  hard_disks_polygon_cut(with, dx, dy);
}

static void add_order(const struct view *view, struct hard_disks_sums *sums)
{
  struct hard_disks_polygon polygon;
  int64_t psi6[2], length;
  hard_disks_polygon_begin(&polygon);
  visit_cell(view, 0, 0, see_neighbour, &polygon);
  for (int ring = 1; ring <= HARD_DISKS_RINGS; ring++)
    visit_ring(view, ring, see_neighbour, &polygon);
  hard_disks_polygon_psi6(&polygon, psi6, &length);
  sums->psi6[0] += psi6[0];
  sums->psi6[1] += psi6[1];
  sums->local += length;
}

struct hard_disks_units hard_disks_units_of(const struct gpumc_model *model)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(model);
  struct hard_disks_units units = {.sites = (double)model->sites,
                                   .volume = parameters->length[0] * parameters->length[1]};
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    units.quantum[c] = model->quantum[c];
  return units;
}

enum gpumc_status hard_disks_measure(const struct gpumc_model *model,
                                     const struct hard_disks_replica *replica,
                                     int64_t *const *channel, size_t at, struct gpumc_error *error)
{
  const struct hard_disks_units units = hard_disks_units_of(model);
  struct view view = {.parameters = hard_disks_parameters(model), .replica = replica};
  struct hard_disks_sums sums = {0};
  bool ordered = false;
  for (size_t c = HARD_DISKS_PSI6_REAL; c <= HARD_DISKS_PSI6_LOCAL; c++)
    ordered = ordered || channel[c] != NULL;
  for (view.b = 0; view.b < view.parameters->box.cells_y; view.b++)
    for (view.a = 0; view.a < view.parameters->box.cells_x; view.a++)
      for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
        view.place = hard_disks_place(replica->layout, s, view.a, view.b);
        if (replica->x[view.place] < 0.0f)
          break;
        sums.disks++;
        add_pressure(&view, &sums);
        if (ordered)
          add_order(&view, &sums);
      }
  if (sums.disks != model->sites)
    return hard_disks_lost(model, sums.disks, error);
  hard_disks_record(&units, &sums, channel, at);
  return GPUMC_OK;
}

enum gpumc_status
hard_disks_lost(const struct gpumc_model *model, uint64_t found, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "a replica has %llu disks, but should have %zu: this is an error of "
                         "gpumc, and the run cannot go on",
                         (unsigned long long)found, model->sites);
}
