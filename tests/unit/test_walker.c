/* Walks under a tabulated weight, against a slow reference written from the definition in
 * models/ising/ising_physics.h: the same replicas, visits and passages, bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"
#include "support/walk_cases.h"
#include "support/walk_tables.h"

enum { REPLICAS = 77, STEPS = 37, PARTS = 3, WALKS = 2, SITES_MOST = 64 };

static const struct walk_case cases[] = {
    {"square", 2, {6, 4}, 1.0, 0.0, LATTICE_UNIFORM, 0.0, ISING_ENERGY, 1, 0, 10},
    {"antiferromagnet", 2, {4, 4}, -1.5, 0.0, LATTICE_UNIFORM, 0.0, ISING_ENERGY, 1, 0, 7},
    {"cube", 3, {4, 2, 4}, 1.0, 0.0, LATTICE_UNIFORM, 0.0, ISING_ENERGY, 1, 0, 10},
    {"glass", 2, {4, 6}, 1.0, 0.0, LATTICE_BIMODAL, 0.0, ISING_ENERGY, 1, 0, 10},
    {"glass in three dimensions",
     3,
     {4, 4, 4},
     2.0,
     0.0,
     LATTICE_BIMODAL,
     0.0,
     ISING_ENERGY,
     1,
     0,
     7},
    {"magnetization", 2, {6, 4}, 1.0, 0.0, LATTICE_UNIFORM, 0.0, ISING_MAGNETIZATION, 1, 0.4, 10},
    {"magnetization of a glass",
     3,
     {4, 2, 2},
     1.0,
     0.0,
     LATTICE_BIMODAL,
     0.0,
     ISING_MAGNETIZATION,
     1,
     0.7,
     10},
    {"wide levels", 2, {6, 4}, 1.0, 0.0, LATTICE_UNIFORM, 0.0, ISING_ENERGY, 3, 0, 10},
    {"field", 2, {4, 4}, 1.0, 0.3, LATTICE_UNIFORM, 0.0, ISING_ENERGY, 1 << 30, 0, 10},
    {"random field", 2, {4, 4}, 1.0, 0.0, LATTICE_UNIFORM, 0.5, ISING_ENERGY, 1 << 20, 0, 7},
    {"Gaussian", 3, {4, 2, 4}, 1.0, 0.0, LATTICE_GAUSSIAN, 0.0, ISING_ENERGY, 1 << 30, 0, 10},
    {"magnetization, Gaussian",
     2,
     {4, 4},
     1.0,
     0.0,
     LATTICE_GAUSSIAN,
     0.0,
     ISING_MAGNETIZATION,
     1,
     0.5,
     10},
};

/* ---- the reference ---- */

struct lattice {
  size_t sites, dimension, next[SITES_MOST][3], position[SITES_MOST];
  int32_t coupling[3 * SITES_MOST], field[SITES_MOST];
};

static void make_lattice(const struct gpumc_model *model, struct lattice *lattice)
{
  const struct gpumc_checkerboard *board = &ising_parameters(model)->lattice;
  struct gpumc_error error = {0};
  lattice->sites = model->sites;
  lattice->dimension = board->dimension;
  assert_true(model->sites <= SITES_MOST);
  for (size_t i = 0; i < model->sites; i++) {
    lattice->position[i] = gpumc_checkerboard_position(board, i);
    for (size_t d = 0; d < board->dimension; d++)
      lattice->next[i][d] = gpumc_checkerboard_next(board, i, d);
  }
  if (model->disorder)
    assert_ok(ising_disorder_sample(model, 0, lattice->coupling, lattice->field, &error), &error);
}

static int64_t
energy_of(const struct gpumc_model *model, const struct lattice *lattice, const int8_t *spin)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  int64_t bonds = 0, spins = 0, energy = 0;
  for (size_t i = 0; i < lattice->sites; i++) {
    spins += spin[i];
    energy -= model->disorder ? (int64_t)lattice->field[i] * spin[i] : 0;
    for (size_t d = 0; d < lattice->dimension; d++) {
      const int64_t bond = spin[i] * spin[lattice->next[i][d]];
      bonds += bond;
      energy -= model->disorder ? lattice->coupling[i * lattice->dimension + d] * bond : 0;
    }
  }
  return model->disorder
             ? energy
             : ising_energy(parameters->coupling_quanta, parameters->field_quanta, bonds, spins);
}

static int64_t magnetization_of(const struct lattice *lattice, const int8_t *spin)
{
  int64_t sum = 0;
  for (size_t i = 0; i < lattice->sites; i++)
    sum += spin[i];
  return sum;
}

static void walk_reference(const struct ising_fixture *fixture, const struct lattice *lattice,
                           struct walk_tables *walking, size_t m, size_t r, uint64_t time,
                           int8_t *spin)
{
  const struct gpumc_model *model = &fixture->model;
  const struct gpumc_random random = gpumc_ensemble_random(&fixture->ensemble, m);
  const struct gpumc_weight_table *table = &walking->table;
  const int64_t *weight = walking->log_weight + m * table->levels;
  const double beta = walking->canonical ? walking->control[m * WALK_CONTROLS + ISING_BETA] : 0;
  const double field = walking->canonical ? walking->control[m * WALK_CONTROLS + ISING_FIELD] : 0;
  for (const uint64_t end = time + STEPS; time < end; time++) {
    const uint32_t upper = (uint32_t)(time >> 32), lower = (uint32_t)time;
    uint32_t site[4], number[4];
    size_t level = 0;
    gpumc_random_draw(random, (uint32_t)(r / 32), upper, lower,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, 1), site);
    gpumc_random_draw(random, (uint32_t)r, upper, lower,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, 0), number);
    for (size_t j = 0; j < 4; j++) {
      const size_t position = (size_t)((uint64_t)site[j] * lattice->sites >> 32);
      size_t i = 0;
      while (lattice->position[i] != position)
        i++;
      const int64_t energy = energy_of(model, lattice, spin);
      const int64_t magnetization = magnetization_of(lattice, spin);
      spin[i] = (int8_t)-spin[i];
      const int64_t next = energy_of(model, lattice, spin);
      const int64_t flipped = magnetization_of(lattice, spin);
      const bool by_energy = table->channel == ISING_ENERGY;
      const int64_t from =
          ((by_energy ? energy : magnetization) - table->lowest[m]) / table->spacing;
      const int64_t to = ((by_energy ? next : flipped) - table->lowest[m]) / table->spacing;
      bool accepted = weight[to] != GPUMC_WEIGHT_NONE;
      if (accepted) {
        const double below =
            fma(beta * model->quantum[ISING_ENERGY], (double)(next - energy),
                -beta * (field - model->control[ISING_FIELD]) * (double)(flipped - magnetization));
        const uint64_t threshold = gpumc_threshold_exponential(
            fma((double)(weight[from] - weight[to]), 0x1p-32, walking->canonical ? below : 0));
        accepted = number[j] < (threshold < UINT32_MAX ? threshold : UINT32_MAX);
      }
      if (!accepted)
        spin[i] = (int8_t)-spin[i];
      level = (size_t)(accepted ? to : from);
    }
    walk_tables_arrive(walking, m, r, level);
  }
}

/* ---- the kernel ---- */

static void spins_of(const struct lattice *lattice, const uint8_t *portable, int8_t *spin)
{
  for (size_t i = 0; i < lattice->sites; i++)
    spin[i] = portable[i / 8] >> i % 8 & 1 ? 1 : -1;
}

/* A kernel and the reference alongside each other, with the same case. */
struct comparison {
  const struct walk_case *of;
  struct walk_setting how;
  struct ising_fixture fixture;
  struct lattice lattice;
  struct walk_tables walking;
  int8_t (*spin)[SITES_MOST]; /* [WALK_RUNS * REPLICAS] of the reference */
};

static void open_comparison(struct comparison *both)
{
  const struct walk_case *of = both->of;
  struct ising_fixture *fixture = &both->fixture;
  struct ising_case with = walk_ising_case(of, REPLICAS);
  with.runs = WALK_RUNS;
  with.first_run = 3;
  walk_open(fixture, with, both->how);
  make_lattice(&fixture->model, &both->lattice);
  walk_tables_open(&both->walking, &fixture->ensemble, of->channel,
                   walk_levels(&fixture->model, of), PARTS, STEPS, of->beta,
                   of->channel == ISING_MAGNETIZATION);
  both->spin = calloc(WALK_RUNS * REPLICAS, sizeof *both->spin);
  assert_non_null(both->spin);
  for (size_t m = 0; m < WALK_RUNS; m++) {
    uint8_t *portable = fixture_get(&both->fixture, m);
    for (size_t r = 0; r < REPLICAS; r++)
      spins_of(&both->lattice, portable + r * both->fixture.model.portable_bytes,
               both->spin[m * REPLICAS + r]);
    free(portable);
  }
}

static void close_comparison(struct comparison *both)
{
  free(both->spin);
  walk_tables_close(&both->walking);
  fixture_close(&both->fixture);
}

static void walk_both(struct comparison *both, uint32_t walk)
{
  walk_tables_walk(&both->walking, walk);
  for (size_t i = 0; i < WALK_RUNS * REPLICAS; i++)
    walk_reference(&both->fixture, &both->lattice, &both->walking, i / REPLICAS, i % REPLICAS,
                   walk_tables_time(&both->walking, walk, i / REPLICAS), both->spin[i]);
}

static void compare_spins(struct comparison *both)
{
  const struct lattice *lattice = &both->lattice;
  for (size_t m = 0; m < WALK_RUNS; m++) {
    uint8_t *portable = fixture_get(&both->fixture, m);
    for (size_t r = 0; r < REPLICAS; r++) {
      int8_t found[SITES_MOST];
      spins_of(lattice, portable + r * both->fixture.model.portable_bytes, found);
      if (memcmp(found, both->spin[m * REPLICAS + r], lattice->sites) != 0)
        fail_msg("%s, %s: replica %zu of run %zu", both->of->name,
                 test_setting_text(both->how.setting), r, m);
    }
    free(portable);
  }
}

static void compare_counts(const struct comparison *both)
{
  const struct walk_tables *walking = &both->walking;
  uint64_t sum = 0;
  uint32_t moved = 0;
  assert_int_equal(walk_tables_different(walking), 0);
  for (size_t i = 0; i < walking->counts; i++)
    sum += walking->visits[i];
  for (size_t i = 0; i < WALK_RUNS * REPLICAS; i++)
    moved += walking->passages[i] >> 2;
  assert_int_equal(sum, (uint64_t)WALK_RUNS * REPLICAS * WALKS * STEPS);
  if (both->of->wider == 1)
    assert_true(moved > 0);
}

/* Compares two walks; the second starts where the first ended. */
static void compare_with_reference(const struct walk_case *of, struct walk_setting how)
{
  struct comparison both = {.of = of, .how = how};
  open_comparison(&both);
  for (uint32_t walk = 0; walk < WALKS; walk++)
    walk_both(&both, walk);
  compare_spins(&both);
  compare_counts(&both);
  close_comparison(&both);
}

static void replicas_are_those_of_the_reference(void **state)
{
  (void)state;
  walk_for_every_setting(cases, sizeof cases / sizeof *cases, compare_with_reference);
}

/* ---- refusals ---- */

static void expect_refusal(const struct ising_case *with, size_t channel, const char *part)
{
  struct gpumc_error error = {0};
  struct ising_fixture fixture;
  int64_t weight[2] = {0};
  const int64_t lowest = -1;
  const uint64_t time = 0;
  const uint32_t steps = 1;
  const struct gpumc_weight_table table = {.channel = channel,
                                           .lowest = &lowest,
                                           .spacing = 1,
                                           .levels = 2,
                                           .log_weight = weight,
                                           .time = &time,
                                           .steps = &steps,
                                           .parts = 1};
  const struct gpumc_target target = {.kind = GPUMC_TABULATED, .table = &table};
  fixture_open(&fixture, with);
  fixture_randomize(&fixture, with, with->capacity);
  assert_int_equal(fixture.ensemble.ops->walk(&fixture.ensemble, &target, &error), GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), part));
  gpumc_error_free(&error);
  fixture_close(&fixture);
}

static void what_it_cannot_walk_with_is_refused(void **state)
{
  struct ising_case with = fixture_square(walk_kernel(), 4, 4, 8);
  (void)state;
  with.runs = 1;
  expect_refusal(&with, ISING_WAVE, "not on the wave");
  with.settings.disorder.couplings = LATTICE_BIMODAL;
  with.settings.disorder.positive = 0.5;
  with.sample_each = true;
  expect_refusal(&with, ISING_ENERGY, "one sample");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replicas_are_those_of_the_reference),
      cmocka_unit_test(what_it_cannot_walk_with_is_refused),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
