/* psi_6 at every density and number of disks, by Voronoi neighbours in the periodic plane.
 *
 * The neighbours are found a second time without cells, frames or cuts: the points p / |p|^2 of all
 * other disks p and of images up to two boxes away are formed, and the neighbours are the corners
 * of their convex hull, since a bisector bounds the cell of a disk just where its inverse is a
 * corner of the hull. Sums over the disks of psi_6 and of |psi_6| agree to the rounding of the
 * channels, on the device under test, in states of 1 to 150 disks at packing fractions from 1e-4 to
 * 0.7 in boxes of many shapes, and with more neighbours than hard disks ever have.
 *
 * Control: without the disks from three diameters on, the dilute states have other sums.
 *
 * CTest: cases 3 s */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/cases.h"
#include "support/disks_fixture.h"
#include "support/status.h"

enum { MOST = 150, IMAGES = 2, POINTS = MOST * (2 * IMAGES + 1) * (2 * IMAGES + 1) };

struct point {
  double x, y, dx, dy; /* the inverse of the vector to a disk, and the vector */
};

/* The sums over the disks of a state. */
struct sums {
  double real, imaginary, local;
};

static int from_left(const void *a, const void *b)
{
  const struct point *one = a, *other = b;
  if (one->x != other->x)
    return one->x < other->x ? -1 : 1;
  return (one->y > other->y) - (one->y < other->y);
}

/* Returns whether the way from a by b to c turns left, more than rounding can feign. */
static bool turns_left(const struct point *a, const struct point *b, const struct point *c)
{
  const double x = b->x - a->x, y = b->y - a->y, u = c->x - b->x, v = c->y - b->y;
  return x * v - y * u > 1e-12 * sqrt((x * x + y * y) * (u * u + v * v));
}

/* Keeps the corners of the convex hull (Andrew, Inf. Process. Lett. 9, 216 (1979)). */
static size_t hull_of(struct point *point, size_t points, struct point *hull)
{
  size_t corners = 0;
  qsort(point, points, sizeof *point, from_left);
  for (int half = 0; half < 2; half++) {
    const size_t first = corners;
    for (size_t i = 0; i < points; i++) {
      const struct point *next = &point[half == 0 ? i : points - 1 - i];
      while (corners >= first + 2 && !turns_left(&hull[corners - 2], &hull[corners - 1], next))
        corners--;
      hull[corners++] = *next;
    }
    corners--; /* it begins the other half */
  }
  return corners;
}

/* Adds psi_6 of disk i; disks from `far` on do not count. */
static void add_disk(const struct hard_disks_parameters *parameters, const double *place, size_t i,
                     double far, struct sums *sums)
{
  static struct point point[POINTS], hull[POINTS + 2];
  const double *length = parameters->length;
  size_t points = 0;
  for (size_t j = 0; j < parameters->box.particles; j++)
    for (int u = -IMAGES; u <= IMAGES; u++)
      for (int v = -IMAGES; v <= IMAGES; v++) {
        const double dx = place[2 * j] - place[2 * i] + u * length[0],
                     dy = place[2 * j + 1] - place[2 * i + 1] + v * length[1],
                     square = dx * dx + dy * dy;
        if (square > 0.0 && square < far * far)
          point[points++] = (struct point){dx / square, dy / square, dx, dy};
      }
  const size_t corners = points < 2 ? points : hull_of(point, points, hull);
  double real = 0.0, imaginary = 0.0;
  for (size_t k = 0; k < corners; k++) {
    const double angle =
        6.0 * atan2((points < 2 ? point : hull)[k].dy, (points < 2 ? point : hull)[k].dx);
    real += cos(angle) / (double)corners;
    imaginary += sin(angle) / (double)corners;
  }
  sums->real += real;
  sums->imaginary += imaginary;
  sums->local += hypot(real, imaginary);
}

static struct sums sums_of(const struct gpumc_model *model, const double *portable, double far)
{
  struct sums sums = {0.0, 0.0, 0.0};
  for (size_t i = 0; i < model->sites; i++)
    add_disk(hard_disks_parameters(model), portable + HARD_DISKS_PORTABLE_HEAD, i, far, &sums);
  return sums;
}

static bool alike(const struct sums *one, const struct sums *other, double sites)
{
  const double most = 1e-8 * sites;
  return fabs(one->real - other->real) < most && fabs(one->imaginary - other->imaginary) < most &&
         fabs(one->local - other->local) < most;
}

/* Measures the state of replica r. */
static struct sums measured(const struct disks *disks, size_t r)
{
  const double sites = (double)disks->model.sites;
  return (struct sums){sites * disks_value(disks, HARD_DISKS_PSI6_REAL, r),
                       sites * disks_value(disks, HARD_DISKS_PSI6_IMAG, r),
                       sites * disks_value(disks, HARD_DISKS_PSI6_LOCAL, r)};
}

static void
expect_sums(const char *name, const struct sums *found, const struct sums *expected, double sites)
{
  if (!alike(found, expected, sites))
    fail_msg("%s: sums of psi_6 %.10g, %.10g, of |psi_6| %.10g; should be %.10g, %.10g, %.10g",
             name, found->real, found->imaginary, found->local, expected->real, expected->imaginary,
             expected->local);
}

static const struct {
  const char *name;
  struct hard_disks_settings settings;
  bool dilute; /* the control must differ */
} cases[] = {
    {"one disk", {.particles = 1, .packing_fraction = 0.1, .aspect = 1.0}, false},
    {"one disk in a long box", {.particles = 1, .packing_fraction = 1e-3, .aspect = 7.0}, false},
    {"two disks", {.particles = 2, .packing_fraction = 0.02, .aspect = 1.0}, true},
    {"two disks in a small box", {.particles = 2, .length = {2.0, 2.5}}, false},
    {"three disks in a small box", {.particles = 3, .length = {3.5, 2.1}}, false},
    {"five disks in a narrow box", {.particles = 5, .length = {2.1, 60.0}}, true},
    {"five disks in a flat box", {.particles = 5, .length = {75.0, 2.2}}, true},
    {"four disks far apart", {.particles = 4, .packing_fraction = 1e-4, .aspect = 1.3}, true},
    {"a gas of 0.001", {.particles = 30, .packing_fraction = 0.001, .aspect = 0.6}, true},
    {"a gas of 0.02", {.particles = MOST, .packing_fraction = 0.02, .aspect = 1.0}, true},
    {"a gas of 0.05", {.particles = MOST, .packing_fraction = 0.05, .aspect = 2.0}, true},
    {"a gas of 0.1", {.particles = MOST, .packing_fraction = 0.1, .aspect = 1.0}, true},
    {"a fluid of 0.2", {.particles = MOST, .packing_fraction = 0.2, .aspect = 0.3}, true},
    {"a fluid of 0.3", {.particles = MOST, .packing_fraction = 0.3, .aspect = 1.0}, true},
    {"a fluid of 0.5", {.particles = MOST, .packing_fraction = 0.5, .aspect = 1.2}, false},
    {"a fluid of 0.7", {.particles = MOST, .packing_fraction = 0.7, .aspect = 1.2}, false},
};

static void order_is_by_voronoi_neighbours(void **state)
{
  enum { REPLICAS = 2 };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct disks disks;
    bool differs = false;
    disks_open(&(struct disks_job){.settings = cases[i].settings,
                                   .variant = "checkerboard",
                                   .move_size = 0.3,
                                   .replicas = REPLICAS,
                                   .seed = 20131401 + i},
               test_setting(), &disks);
    const double sites = (double)disks.model.sites;
    disks_sweep(&disks, 7);
    disks_measure(&disks);
    uint8_t *replicas = disks_replicas(&disks);
    for (size_t r = 0; r < REPLICAS; r++) {
      const double *portable = (const double *)(replicas + r * disks.model.portable_bytes);
      const struct sums found = measured(&disks, r),
                        expected = sums_of(&disks.model, portable, INFINITY),
                        cut = sums_of(&disks.model, portable, 3.0);
      expect_sums(cases[i].name, &found, &expected, sites);
      differs = differs || !alike(&cut, &expected, sites);
    }
    if (differs != cases[i].dilute)
      fail_msg("%s: disks from three diameters on should %scount", cases[i].name,
               cases[i].dilute ? "" : "not ");
    free(replicas);
    disks_close(&disks);
  }
}

/* Most disks on a circle around one, which then has about as many neighbours as a polygon has
 * edges, or more. The circle begins at `turn` of its disks' distance. */
static void measure_a_circle(size_t circle, double wide, double turn)
{
  const size_t all = circle + 3;
  struct disks disks;
  disks_open(&(struct disks_job){.settings = {.particles = all, .length = {31.0, 25.0}},
                                 .variant = "checkerboard",
                                 .replicas = 1,
                                 .seed = 20131402},
             test_setting(), &disks);
  double *portable = (double *)disks_replicas(&disks), *place = portable + HARD_DISKS_PORTABLE_HEAD;
  const double *length = hard_disks_parameters(&disks.model)->length;
  const double others[] = {15.0, 12.0, 1.5, 1.25, 29.0, 23.5};
  portable[2] = portable[3] = 0.0;
  for (size_t i = 0; i < circle; i++) {
    const double angle = 2.0 * M_PI * ((double)i + turn) / (double)circle,
                 radius = wide + 1e-3 * sin(9.0 * angle);
    place[2 * i] = hard_disks_in_box(15.0 + radius * cos(angle), length[0]);
    place[2 * i + 1] = hard_disks_in_box(12.0 + radius * sin(angle), length[1]);
  }
  for (size_t i = 0; i < 6; i++)
    place[2 * circle + i] = others[i];
  disks_set(&disks, (const uint8_t *)portable);
  disks_measure(&disks);
  const struct sums found = measured(&disks, 0),
                    expected = sums_of(&disks.model, portable, INFINITY);
  expect_sums("a circle", &found, &expected, (double)all);
  free(portable);
  disks_close(&disks);
}

static void a_circle_of_disks_is_around_one(void **state)
{
  enum { FEWEST = HARD_DISKS_EDGES - 6, MOST_ON_CIRCLE = 60, WIDTHS = 10, TURNS = 3 };
  (void)state;
  for (size_t circle = FEWEST; circle <= MOST_ON_CIRCLE; circle++)
    for (int i = 0; i < WIDTHS * TURNS; i++) {
      const double wide = 5.5 + 0.6 * (i / TURNS);
      if ((double)circle < 2.0 * M_PI * wide) /* they do not overlap */
        measure_a_circle(circle, wide, 0.2 + (double)(i % TURNS) / TURNS);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_by_voronoi_neighbours),
      cmocka_unit_test(a_circle_of_disks_is_around_one),
  };
  return CASES_RUN(tests);
}
