/* Walks of O(n) spins under a tabulated weight, against a slow reference written from the
 * definition in models/heisenberg/walk/heisenberg_walk.h, which recomputes the sums of all bonds
 * for every update: the same replicas, visits and passages, bit for bit, and channels that are
 * those of the walk; on chains, squares and cubes, by the energy and by the magnetization. Control:
 * a reference one step ahead. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "support/cases.h"
#include "support/status.h"
#include "support/test_device.h"
#include "support/walk_tables.h"

enum { REPLICAS = 45, STEPS = 25, PARTS = 2, WALKS = 2, SITES_MOST = 72, FIRST_RUN = 3 };

struct walk_case {
  const char *name, *variant;
  struct heisenberg_settings settings;
  size_t channel, levels; /* approximate number of bins */
  double beta;            /* of the weight below the table; 0: none */
  uint32_t rounds;
};

static const struct walk_case cases[] = {
    {"pair",
     "float",
     {.dimension = 1, .shape = {2}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     12,
     0,
     10},
    {"pair of rotors",
     "double",
     {.dimension = 1, .shape = {2}, .components = 2, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     12,
     0,
     7},
    {"ring",
     "double",
     {.dimension = 1, .shape = {6}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     100,
     0,
     7},
    {"ring of rotors",
     "float",
     {.dimension = 1, .shape = {10}, .components = 2, .coupling = -0.8, .field = 0.0},
     HEISENBERG_ENERGY,
     37,
     0,
     10},
    {"smallest square",
     "float",
     {.dimension = 2, .shape = {2, 2}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     50,
     0,
     7},
    {"square",
     "float",
     {.dimension = 2, .shape = {6, 4}, .components = 3, .coupling = -1.7, .field = 0.0},
     HEISENBERG_ENERGY,
     1000,
     0,
     10},
    {"square in double",
     "double",
     {.dimension = 2, .shape = {6, 4}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     1000,
     0,
     10},
    {"long square",
     "double",
     {.dimension = 2, .shape = {34, 2}, .components = 2, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     64,
     0,
     10},
    {"square in a field",
     "float",
     {.dimension = 2, .shape = {4, 6}, .components = 3, .coupling = 1.0, .field = 0.3},
     HEISENBERG_ENERGY,
     200,
     0,
     10},
    {"cube",
     "float",
     {.dimension = 3, .shape = {4, 2, 6}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     300,
     0,
     10},
    {"cube in a field",
     "double",
     {.dimension = 3, .shape = {2, 4, 4}, .components = 3, .coupling = -1.0, .field = 2.0},
     HEISENBERG_ENERGY,
     300,
     0,
     7},
    {"cube of rotors",
     "float",
     {.dimension = 3, .shape = {4, 4, 4}, .components = 2, .coupling = 1.0, .field = 0.0},
     HEISENBERG_ENERGY,
     300,
     0,
     7},
    {"magnetization",
     "float",
     {.dimension = 2, .shape = {6, 4}, .components = 3, .coupling = 1.0, .field = 0.0},
     HEISENBERG_MAGNETIZATION_X,
     48,
     0.6,
     10},
    {"magnetization in double",
     "double",
     {.dimension = 3, .shape = {4, 2, 2}, .components = 2, .coupling = 0.9, .field = 0.0},
     HEISENBERG_MAGNETIZATION_X,
     33,
     0.4,
     10},
};

/* ---- the reference ---- */

/* The lattice of one case: site i is at position[i], and next[i] is one step forward. */
struct lattice {
  size_t sites, dimension, next[SITES_MOST][3], position[SITES_MOST];
};

/* The sums that a replica's coordinate and weight follow from, in quanta of the channels. */
struct state {
  int64_t energy, magnetization;
};

static void make_lattice(const struct gpumc_model *model, struct lattice *lattice)
{
  const struct gpumc_checkerboard *board = &heisenberg_parameters(model)->lattice;
  lattice->sites = model->sites;
  lattice->dimension = board->dimension;
  assert_true(model->sites <= SITES_MOST);
  for (size_t i = 0; i < model->sites; i++) {
    lattice->position[i] = gpumc_checkerboard_position(board, i);
    for (size_t d = 0; d < board->dimension; d++)
      lattice->next[i][d] = gpumc_checkerboard_next(board, i, d);
  }
}

static void
draw(struct gpumc_random random, size_t replica, uint64_t time, uint32_t number, uint32_t word[4])
{
  gpumc_random_draw(random, (uint32_t)replica, (uint32_t)(time >> 32), (uint32_t)time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, number), word);
}

/* The energy and other sums of spins[sites][3], and what update j of a step proposes and decides
 * with. */
#define REFERENCE(precision, words_of_sphere)                                                      \
  static struct state state_##precision(const struct gpumc_model *model,                           \
                                        const struct lattice *lattice, double(*spin)[3])           \
  {                                                                                                \
    const struct heisenberg_units units = heisenberg_units_of(model);                              \
    struct heisenberg_sums sums = {0};                                                             \
    struct state state;                                                                            \
    int64_t *channel[HEISENBERG_CHANNELS] = {NULL};                                                \
    channel[HEISENBERG_ENERGY] = &state.energy;                                                    \
    channel[HEISENBERG_MAGNETIZATION_X] = &state.magnetization;                                    \
    for (size_t i = 0; i < lattice->sites; i++) {                                                  \
      const struct heisenberg_vector_##precision one = {                                           \
          (precision)spin[i][0], (precision)spin[i][1], (precision)spin[i][2]};                    \
      sums.magnetization[0] += heisenberg_quanta_##precision(one.x);                               \
      for (size_t d = 0; d < lattice->dimension; d++) {                                            \
        const double *next = spin[lattice->next[i][d]];                                            \
        const struct heisenberg_vector_##precision two = {(precision)next[0], (precision)next[1],  \
                                                          (precision)next[2]};                     \
        sums.bonds += heisenberg_quanta_##precision(                                               \
            heisenberg_dot_##precision(heisenberg_parameters(model)->components, one, two));       \
      }                                                                                            \
    }                                                                                              \
    heisenberg_record(&units, &sums, channel, 0);                                                  \
    return state;                                                                                  \
  }                                                                                                \
  static uint32_t propose_##precision(int components, struct gpumc_random random, size_t replica,  \
                                      uint64_t time, uint32_t j, double proposal[3])               \
  {                                                                                                \
    struct heisenberg_uniform_##precision uniform = {0};                                           \
    uint32_t word[4], decides;                                                                     \
    if (components == 2) {                                                                         \
      draw(random, replica, time, 2 + j / 2, word);                                                \
      uniform.azimuth = word[2 * (j % 2)];                                                         \
      decides = word[2 * (j % 2) + 1];                                                             \
    } else {                                                                                       \
      words_of_sphere;                                                                             \
    }                                                                                              \
    const struct heisenberg_vector_##precision spin =                                              \
        heisenberg_anywhere_##precision(components, uniform);                                      \
    proposal[0] = (double)spin.x;                                                                  \
    proposal[1] = (double)spin.y;                                                                  \
    proposal[2] = (double)spin.z;                                                                  \
    return decides;                                                                                \
  }
REFERENCE(double, draw(random, replica, time, 2 + j, word);
          uniform = heisenberg_of_sphere_double((struct heisenberg_words){word[0], word[1], word[2],
                                                                          0});
          decides = word[3])
REFERENCE(float, draw(random, replica, time, 2 + j / 2, word);
          uniform = heisenberg_of_sphere_float((struct heisenberg_words){
              word[2 * (j % 2)], word[2 * (j % 2) + 1], 0, 0});
          draw(random, replica, time, 0, word); decides = word[j])

/* A kernel and the reference side by side, with the same case. */
struct comparison {
  const struct walk_case *of;
  bool single;
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  struct lattice lattice;
  struct walk_tables walking;
  double (*spin)[SITES_MOST][3]; /* [WALK_RUNS * REPLICAS] of the reference */
  int64_t *channel[HEISENBERG_CHANNELS];
};

static struct state state_of(const struct comparison *both, double (*spin)[3])
{
  return both->single ? state_float(&both->model, &both->lattice, spin)
                      : state_double(&both->model, &both->lattice, spin);
}

/* Returns the level, or -1 for a value outside of all levels with a weight. */
static int64_t level_of(const struct comparison *both, size_t m, struct state state)
{
  const struct gpumc_weight_table *table = &both->walking.table;
  const int64_t value = table->channel == HEISENBERG_ENERGY ? state.energy : state.magnetization;
  const int64_t above = value - table->lowest[m], level = above / table->spacing;
  if (above < 0 || level >= (int64_t)table->levels)
    return -1;
  return both->walking.log_weight[m * table->levels + (size_t)level] != GPUMC_WEIGHT_NONE ? level
                                                                                          : -1;
}

/* Returns ln of the ratio of weights. */
static double ratio_of(const struct comparison *both, size_t m, struct state from, struct state to)
{
  const struct gpumc_model *model = &both->model;
  const int64_t *weight = both->walking.log_weight + m * both->walking.table.levels;
  const double *control = both->walking.control + m * WALK_CONTROLS;
  const double beta = both->of->beta > 0 ? control[HEISENBERG_BETA] : 0;
  const double energy = beta * model->quantum[HEISENBERG_ENERGY];
  const double magnetization = -beta *
                               (control[HEISENBERG_FIELD] - model->control[HEISENBERG_FIELD]) *
                               model->quantum[HEISENBERG_MAGNETIZATION_X];
  return (double)weight[level_of(both, m, to)] * 0x1p-32 -
         (double)weight[level_of(both, m, from)] * 0x1p-32 -
         fma(energy, (double)(to.energy - from.energy),
             magnetization * (double)(to.magnetization - from.magnetization));
}

static void update(const struct comparison *both, size_t m, size_t r, uint64_t time, uint32_t j,
                   size_t position, double (*spin)[3])
{
  const struct gpumc_random random = gpumc_ensemble_random(&both->ensemble, m);
  const int components = both->of->settings.components;
  double proposal[3], before[3];
  const uint32_t number = both->single ? propose_float(components, random, r, time, j, proposal)
                                       : propose_double(components, random, r, time, j, proposal);
  size_t i = 0;
  while (both->lattice.position[i] != position)
    i++;
  const struct state from = state_of(both, spin);
  memcpy(before, spin[i], sizeof before);
  memcpy(spin[i], proposal, sizeof before);
  const struct state to = state_of(both, spin);
  bool accepted = level_of(both, m, to) >= 0;
  if (accepted) {
    const double x = ratio_of(both, m, from, to);
    double weight, less_one;
    gpumc_decay_double(x < 0 ? x : 0, &weight, &less_one);
    accepted = ((double)number + 0.5) / 0x1p32 < weight;
  }
  if (!accepted)
    memcpy(spin[i], before, sizeof before);
}

static void
walk_reference(struct comparison *both, size_t m, size_t r, uint64_t time, double (*spin)[3])
{
  for (const uint64_t end = time + STEPS; time < end; time++) {
    uint32_t site[4];
    draw(gpumc_ensemble_random(&both->ensemble, m), r / 32, time, 1, site);
    for (uint32_t j = 0; j < 4; j++)
      update(both, m, r, time, j, (size_t)((uint64_t)site[j] * both->lattice.sites >> 32), spin);
    walk_tables_arrive(&both->walking, m, r, (size_t)level_of(both, m, state_of(both, spin)));
  }
}

/* ---- the kernel ---- */

/* Gets the replicas of a run in portable form, padded to three components. */
static void get_spins(struct comparison *both, size_t m, double (*spin)[SITES_MOST][3])
{
  struct gpumc_error error = {0};
  const size_t n = (size_t)both->of->settings.components, sites = both->model.sites;
  double *portable = malloc(REPLICAS * both->model.portable_bytes);
  assert_non_null(portable);
  assert_ok(both->ensemble.ops->get(&both->ensemble, m, 0, REPLICAS, (uint8_t *)portable, &error),
            &error);
  memset(spin, 0, REPLICAS * sizeof *spin);
  for (size_t r = 0; r < REPLICAS; r++)
    for (size_t i = 0; i < sites * n; i++)
      spin[r][i / n][i % n] = portable[r * sites * n + i];
  free(portable);
}

static const struct gpumc_kernel_ops *kernel_of(const struct comparison *both)
{
  const struct gpumc_kernel_ops *const *kernel = both->model.ops->kernels;
  while (strcmp((*kernel)->device, both->device.ops->name) != 0 ||
         strcmp((*kernel)->variant, both->of->variant) != 0)
    kernel++;
  return *kernel;
}

static void
open_comparison(const struct walk_case *of, struct test_setting setting, struct comparison *both)
{
  struct gpumc_error error = {0};
  const struct gpumc_ensemble_plan plan = {
      .runs = WALK_RUNS, .capacity = REPLICAS, .samples = 1, .walks = true};
  *both = (struct comparison){.of = of, .device = test_device(setting)};
  both->single = strcmp(of->variant, "float") == 0;
  assert_ok(heisenberg_instance(&of->settings, &both->model, &error), &error);
  assert_ok(gpumc_ensemble_create(kernel_of(both), &both->model, &both->device, &plan, 20180501,
                                  of->rounds, &both->ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&both->ensemble, FIRST_RUN, WALK_RUNS, REPLICAS, &error), &error);
  make_lattice(&both->model, &both->lattice);
  const double width = 2 * both->model.bound[of->channel] / (double)of->levels;
  const struct gpumc_grid bins = gpumc_model_bins(&both->model, of->channel, (int64_t)width);
  walk_tables_open(&both->walking, &both->ensemble, of->channel, bins, PARTS, STEPS, of->beta,
                   bins.levels > 29);
  for (size_t c = 0; c <= HEISENBERG_MAGNETIZATION_X; c++)
    assert_ok(gpumc_device_array(&both->device, &both->channel[c], WALK_RUNS * REPLICAS, "channel",
                                 &error),
              &error);
  both->spin = calloc(WALK_RUNS * REPLICAS, sizeof *both->spin);
  assert_non_null(both->spin);
  for (size_t m = 0; m < WALK_RUNS; m++)
    get_spins(both, m, both->spin + m * REPLICAS);
}

static void close_comparison(struct comparison *both)
{
  free(both->spin);
  walk_tables_close(&both->walking);
  for (size_t c = 0; c <= HEISENBERG_MAGNETIZATION_X; c++)
    both->device.ops->release(&both->device, both->channel[c]);
  gpumc_ensemble_free(&both->ensemble);
  both->model.ops->destroy(&both->model);
}

/* The reference is `ahead` steps further. */
static void walk_both(struct comparison *both, uint32_t walk, uint64_t ahead)
{
  walk_tables_walk(&both->walking, walk);
  for (size_t i = 0; i < WALK_RUNS * REPLICAS; i++)
    walk_reference(both, i / REPLICAS, i % REPLICAS,
                   walk_tables_time(&both->walking, walk, i / REPLICAS) + ahead, both->spin[i]);
}

/* Returns the number of replicas whose spins differ from the reference. */
static size_t different_replicas(struct comparison *both)
{
  double(*found)[SITES_MOST][3] = calloc(REPLICAS, sizeof *found);
  size_t different = 0;
  assert_non_null(found);
  for (size_t m = 0; m < WALK_RUNS; m++) {
    get_spins(both, m, found);
    for (size_t r = 0; r < REPLICAS; r++)
      different += memcmp(found[r], both->spin[m * REPLICAS + r], sizeof *found) != 0;
  }
  free(found);
  return different;
}

/* Returns the number of replicas whose measured channels differ from those that the walk uses. */
static size_t different_channels(struct comparison *both)
{
  struct gpumc_error error = {0};
  int64_t energy[WALK_RUNS * REPLICAS], magnetization[WALK_RUNS * REPLICAS];
  size_t different = 0;
  assert_ok(both->ensemble.ops->measure(&both->ensemble, both->channel, &error), &error);
  assert_ok(both->device.ops->copy_to_host(&both->device, energy, both->channel[HEISENBERG_ENERGY],
                                           sizeof energy, &error),
            &error);
  assert_ok(both->device.ops->copy_to_host(&both->device, magnetization,
                                           both->channel[HEISENBERG_MAGNETIZATION_X],
                                           sizeof magnetization, &error),
            &error);
  for (size_t i = 0; i < WALK_RUNS * REPLICAS; i++) {
    const struct state state = state_of(both, both->spin[i]);
    different += energy[i] != state.energy || magnetization[i] != state.magnetization;
  }
  return different;
}

static void compare(const struct walk_case *of, struct test_setting setting)
{
  struct comparison both;
  open_comparison(of, setting, &both);
  for (uint32_t walk = 0; walk < WALKS; walk++) {
    walk_both(&both, walk, 0);
    const size_t replicas = different_replicas(&both);
    const size_t counts = walk_tables_different(&both.walking);
    const size_t channels = different_channels(&both);
    if (replicas + counts + channels > 0)
      fail_msg("%s, %s, walk %u: %zu replicas, %zu counts and channels of %zu replicas differ",
               of->name, test_setting_text(setting), walk, replicas, counts, channels);
  }
  close_comparison(&both);
}

static void walks_are_those_of_the_reference(void **state)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  (void)state;
  FOR_CASES (chosen)
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
      for (size_t s = 0; s < settings; s++)
        if (cases_take(&chosen))
          compare(&cases[c], setting[s]);
}

static void another_time_is_noticed(void **state)
{
  struct comparison both;
  (void)state;
  open_comparison(&cases[9], test_setting(), &both);
  walk_both(&both, 0, 1);
  assert_true(different_replicas(&both) > WALK_RUNS * REPLICAS * 9 / 10);
  close_comparison(&both);
}

/* Runs that make no steps do not change, and do not influence the others. */
static void a_run_without_steps_stands_still(void **state)
{
  struct gpumc_error error = {0};
  struct comparison both;
  (void)state;
  open_comparison(&cases[5], test_setting(), &both);
  struct gpumc_weight_table table = both.walking.table;
  const uint64_t time[WALK_RUNS] = {walk_tables_time(&both.walking, 0, 0),
                                    walk_tables_time(&both.walking, 0, 1)};
  const uint32_t steps[WALK_RUNS] = {0, STEPS};
  table.time = time;
  table.steps = steps;
  table.visits = NULL;
  table.passages = NULL;
  const struct gpumc_target target = {.kind = GPUMC_TABULATED, .table = &table};
  assert_ok(both.ensemble.ops->walk(&both.ensemble, &target, &error), &error);
  for (size_t r = 0; r < REPLICAS; r++)
    walk_reference(&both, 1, r, time[1], both.spin[REPLICAS + r]);
  assert_int_equal(different_replicas(&both), 0);
  close_comparison(&both);
}

static void other_channels_are_refused(void **state)
{
  struct gpumc_error error = {0};
  struct comparison both;
  (void)state;
  open_comparison(&cases[0], test_setting(), &both);
  struct gpumc_weight_table table = both.walking.table;
  table.channel = HEISENBERG_MAGNETIZATION;
  const struct gpumc_target target = {.kind = GPUMC_TABULATED, .table = &table};
  assert_int_equal(both.ensemble.ops->walk(&both.ensemble, &target, &error), GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "not on the magnetization"));
  gpumc_error_free(&error);
  close_comparison(&both);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(walks_are_those_of_the_reference),
      cmocka_unit_test(another_time_is_noticed),
      cmocka_unit_test(a_run_without_steps_stands_still),
      cmocka_unit_test(other_channels_are_refused),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
