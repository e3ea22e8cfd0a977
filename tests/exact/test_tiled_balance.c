/* The balance of the tiled kernel's orders, exactly: the transition operator of 4 x 4 spins in
 * tiles of 2 x 2, all 2^16 states, from the kernel's own sequence of visits and its own map of
 * sites. Both orders preserve the Boltzmann distribution; only the symmetrised one has detailed
 * balance, <f, P g> = <P f, g> for any f and g, if the sweeps of a call are a multiple of the
 * hits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "models/ising/ising.h"
#include "models/ising/tiled/tiled.h"
#include "support/test_device.h"

enum { SIDE = 4, SITES = SIDE * SIDE, STATES = 1 << SITES, VISITS_MAXIMUM = 64 };

static const double beta = 0.3;
static const double tolerance = 1e-12; /* rounding of 2^16 terms, some hundred updates */

struct system {
  struct gpumc_model model;
  struct ising_tiled_geometry geometry;
  enum ising_move update;
  double *weight; /* [STATES] Boltzmann, sum 1 */
};

static int spin(uint32_t state, uint32_t x, uint32_t y)
{
  return state >> ((y % SIDE) * SIDE + x % SIDE) & 1 ? 1 : -1;
}

static int neighbours(uint32_t state, uint32_t site)
{
  const uint32_t x = site % SIDE, y = site / SIDE;
  return spin(state, x + 1, y) + spin(state, x + SIDE - 1, y) + spin(state, x, y + 1) +
         spin(state, x, y + SIDE - 1);
}

static double *new_vector(void)
{
  double *vector = calloc(STATES, sizeof *vector);
  assert_non_null(vector);
  return vector;
}

static void system_init(struct system *system, enum ising_move update)
{
  struct gpumc_error error = {0};
  static const struct gpumc_model_ops any_model = {.name = "ising", .destroy = ising_destroy};
  const struct ising_settings settings = {
      .ops = &any_model, .dimension = 2, .shape = {SIDE, SIDE}, .coupling = 1.0};
  const struct ising_tiling tiling = {.tile = 2};
  double total = 0;
  assert_int_equal(ising_instance(&settings, &system->model, &error), GPUMC_OK);
  system->geometry = ising_tiled_geometry(&system->model, &tiling);
  system->update = update;
  system->weight = new_vector();
  for (uint32_t state = 0; state < STATES; state++) {
    int bonds = 0;
    for (uint32_t site = 0; site < SITES; site++)
      bonds += (spin(state, site % SIDE, site / SIDE) * neighbours(state, site)) / 2;
    system->weight[state] = exp(beta * bonds);
    total += system->weight[state];
  }
  for (uint32_t state = 0; state < STATES; state++)
    system->weight[state] /= total;
}

static void system_free(struct system *system)
{
  ising_destroy(&system->model);
  free(system->weight);
}

/* Replaces g by U g, U the update of one spin: (U g)(s) is the mean of g after it. */
static void update_site(const struct system *system, uint32_t site, double *g)
{
  const uint32_t bit = 1u << site;
  for (uint32_t down = 0; down < STATES; down++) {
    if (down & bit)
      continue;
    const double x = 2.0 * beta * neighbours(down, site), before = g[down], flipped = g[down | bit];
    const double up =
        system->update == ISING_MOVE_METROPOLIS ? fmin(1.0, exp(x)) : 1 / (1 + exp(-x));
    const double back = system->update == ISING_MOVE_METROPOLIS ? fmin(1.0, exp(-x)) : 1 - up;
    g[down] = before + up * (flipped - before);
    g[down | bit] = flipped + back * (before - flipped);
  }
}

/* One colour in one half of the tiles: these spins do not see each other. */
static void update_colour(const struct system *system, uint32_t half, uint32_t colour, double *g)
{
  for (uint32_t site = 0; site < SITES; site++) {
    const struct ising_tiled_site found = ising_tiled_site(&system->geometry, site);
    if (found.colour == colour && (found.tile.at[0] + found.tile.at[1]) % 2 == half)
      update_site(system, site, g);
  }
}

/* Replaces g by P g of a call: the last update of the call comes first. */
static void
call(const struct system *system, const struct ising_tiling *tiling, uint32_t sweeps, double *g)
{
  struct ising_tiled_visit visit[VISITS_MAXIMUM];
  uint32_t visits = 0;
  while (ising_tiled_visit(tiling, sweeps, visits, &visit[visits]))
    assert_true(++visits < VISITS_MAXIMUM);
  while (visits-- > 0)
    for (uint32_t hit = visit[visits].hits; hit-- > 0;) {
      const uint32_t reversed = (hit < visit[visits].turn) == (visit[visits].reversed != 0);
      update_colour(system, visit[visits].half, 1 ^ reversed, g);
      update_colour(system, visit[visits].half, 0 ^ reversed, g);
    }
}

static void draw(uint32_t which, double *vector)
{
  for (uint32_t state = 0; state < STATES; state++) {
    uint32_t word[4];
    gpumc_random_draw(gpumc_random_make(1, 0, 10), state, which, 0, 0, word);
    vector[state] = word[0] / 4294967296.0 - 0.5;
  }
}

static double product(const struct system *system, const double *f, const double *g)
{
  double sum = 0;
  for (uint32_t state = 0; state < STATES; state++)
    sum += system->weight[state] * f[state] * g[state];
  return sum;
}

/* Measures how far a call is from preserving the distribution, and from detailed balance, relative
 * to the size of <f, f>; f: the number of spins up in one tile, g: random. */
static void judge(enum ising_move update, enum ising_tiling_order order, uint32_t hits,
                  uint32_t sweeps, double *change, double *asymmetry)
{
  struct system system;
  const struct ising_tiling tiling = {.hits = hits, .tile = 2, .order = order};
  double *one = new_vector(), *f = new_vector(), *g = new_vector();
  double *after_f = new_vector(), *after_g = new_vector();
  system_init(&system, update);
  draw(1, f);
  draw(2, g);
  for (uint32_t state = 0; state < STATES; state++) {
    one[state] = 1.0;
    f[state] += (double)(state & 1) + (double)(state >> 1 & 1);
    g[state] += (double)(state >> 2 & 1);
    after_f[state] = f[state];
    after_g[state] = g[state];
  }
  call(&system, &tiling, sweeps, after_f);
  call(&system, &tiling, sweeps, after_g);
  const double scale = product(&system, f, f);
  *change = fabs(product(&system, one, after_f) - product(&system, one, f)) / scale;
  *asymmetry = fabs(product(&system, f, after_g) - product(&system, after_f, g)) / scale;
  system_free(&system);
  free(one);
  free(f);
  free(g);
  free(after_f);
  free(after_g);
}

static void expect(enum ising_tiling_order order, uint32_t hits, uint32_t sweeps, bool detailed)
{
  for (int update = ISING_MOVE_METROPOLIS; update <= ISING_MOVE_HEAT_BATH; update++) {
    double change, asymmetry;
    judge((enum ising_move)update, order, hits, sweeps, &change, &asymmetry);
    if (change > tolerance)
      fail_msg("order %d, %u hits, %u sweeps: the distribution changes by %.2g", (int)order, hits,
               sweeps, change);
    if (detailed ? asymmetry > tolerance : asymmetry < 1e6 * tolerance)
      fail_msg("order %d, %u hits, %u sweeps, update %d: asymmetry %.2g, %s", (int)order, hits,
               sweeps, update, asymmetry, detailed ? "wanted none" : "too little to be seen");
  }
}

static void symmetrised_has_detailed_balance(void **state)
{
  (void)state;
  expect(ISING_ORDER_SYMMETRISED, 2, 2, true);
  expect(ISING_ORDER_SYMMETRISED, 2, 6, true);
  expect(ISING_ORDER_SYMMETRISED, 4, 4, true);
  expect(ISING_ORDER_SYMMETRISED, 4, 2, true); /* fewer than the hits, all in one group */
}

static void forward_has_global_balance(void **state)
{
  (void)state;
  expect(ISING_ORDER_FORWARD, 1, 1, false);
  expect(ISING_ORDER_FORWARD, 2, 2, false);
  expect(ISING_ORDER_FORWARD, 4, 4, false);
}

static void rests_have_global_balance(void **state)
{
  (void)state;
  expect(ISING_ORDER_SYMMETRISED, 2, 3, false);
  expect(ISING_ORDER_SYMMETRISED, 4, 6, false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symmetrised_has_detailed_balance),
      cmocka_unit_test(forward_has_global_balance),
      cmocka_unit_test(rests_have_global_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
