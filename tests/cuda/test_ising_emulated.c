/* The work of a GPU's threads on Ising spins, run on the CPU. Replicas whose couplings or fields
 * have any size, a lane for each, follow the slow reference bit by bit, at temperatures where
 * single precision decides all, some and none of the spins; pairs of words of odd rows have the
 * neighbours and bonds of the lattice. Controls: a reference with wrong thresholds, a wrong
 * estimate, a pair in the place of another.
 *
 * This needs no GPU. exact_test_ising_spin_bits_cuda and exact_test_pt_devices_agree_cuda show that
 * a GPU computes the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/ising/spin/spin_rule.h"
#include "support/ising_cases.h"
#include "support/ising_emulated.h"
#include "support/ising_reference.h"
#include "support/status.h"

enum { REPLICAS = 3, SWEEPS = 3, LANES = 32 };

static const struct ising_shape shapes[] = {
    {2, {2, 2, 1}}, {2, {6, 4, 1}}, {2, {2, 50, 1}}, {2, {130, 6, 1}}, {3, {2, 2, 2}},
    {3, {2, 4, 6}}, {3, {4, 4, 4}}, {3, {8, 8, 8}},  {3, {10, 6, 10}}, {3, {16, 4, 10}},
};
static const struct ising_feeling feelings[] = {
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN},
    {.coupling = 1.0, .field = -0.7, .couplings = LATTICE_GAUSSIAN},
    {.coupling = -1.2, .fields = LATTICE_GAUSSIAN, .width = 0.8},
};
static const double betas[] = {0.0, 0.1, 0.9, 3.0, 40.0, 1000.0, 1e6, -0.7};

enum {
  SHAPES = sizeof shapes / sizeof *shapes,
  FEELINGS = sizeof feelings / sizeof *feelings,
  BETAS = sizeof betas / sizeof *betas
};

/* An instance in the reference and as lanes have it. */
struct lanes {
  struct gpumc_model model;
  struct reference reference;
  struct ising_lane_emulated job;
  struct ising_spin_row_masks *rows;
  struct ising_spin_plane_masks *planes;
  uint8_t *sample;
};

static void *zeroed(size_t count, size_t size)
{
  void *memory = calloc(count, size);
  assert_non_null(memory);
  return memory;
}

static void mask_rows(const struct lanes *lanes)
{
  const struct ising_spin_gpu_lattice *lattice = &lanes->job.lattice;
  for (uint32_t k = 0; k < lattice->colour; k++) {
    const uint32_t line = k / lattice->row, x = k % lattice->row, bit = 1u << k % LANES;
    const uint32_t y = line % lattice->height, z = line / lattice->height;
    struct ising_spin_row_masks *rows = &lanes->rows[k / LANES];
    struct ising_spin_plane_masks *planes = &lanes->planes[k / LANES];
    rows->first |= x == 0 ? bit : 0;
    rows->last |= x == lattice->row - 1 ? bit : 0;
    rows->odd |= (y + z) % 2 != 0 ? bit : 0;
    planes->first |= y == 0 ? bit : 0;
    planes->last |= y == lattice->height - 1 ? bit : 0;
  }
}

static void pack_sample(struct lanes *lanes)
{
  const struct gpumc_ensemble_plan plan = {.samples = 1};
  struct ising_spin_samples samples = ising_spin_samples_of(&lanes->model, &plan);
  struct gpumc_error error = {0};
  assert_int_equal(samples.kind, ISING_SPIN_TERMS);
  samples.data = zeroed(1, samples.bytes);
  assert_ok(ising_spin_samples_fill(&lanes->model, &samples, 0, 1, samples.data, &error), &error);
  lanes->sample = zeroed(1, ising_spin_packed_bytes(&lanes->job.lattice));
  ising_spin_pack_terms(&lanes->job.lattice, samples.data, samples.stride, lanes->sample);
  lanes->job.sample = lanes->sample;
  free(samples.data);
}

static void open_lanes(const struct ising_shape *shape, const struct ising_feeling *feeling,
                       uint32_t rounds, enum ising_move update, struct lanes *lanes)
{
  const struct ising_case with = case_of(NULL, shape, feeling, REPLICAS);
  struct gpumc_error error = {0};
  memset(lanes, 0, sizeof *lanes);
  assert_ok(ising_instance(&with.settings, &lanes->model, &error), &error);
  const struct gpumc_checkerboard *lattice = &ising_parameters(&lanes->model)->lattice;
  const uint32_t blocks = (uint32_t)((lattice->colour + ISING_SPIN_BLOCK - 1) / ISING_SPIN_BLOCK);
  const size_t words = (size_t)ISING_SPIN_WORDS * blocks;
  reference_init_model(&lanes->reference, REFERENCE_SPIN, &lanes->model, 1, REPLICAS);
  lanes->reference.random = gpumc_random_make(31, 4, rounds);
  lanes->reference.update = update;
  reference_randomize(&lanes->reference);
  lanes->rows = zeroed(words, sizeof *lanes->rows);
  lanes->planes = zeroed(words, sizeof *lanes->planes);
  lanes->job = (struct ising_lane_emulated){
      .lattice = {.dimension = (uint32_t)lattice->dimension,
                  .row = (uint32_t)lattice->row,
                  .height = (uint32_t)lattice->length_y,
                  .plane = (uint32_t)lattice->plane,
                  .colour = (uint32_t)lattice->colour,
                  .blocks = blocks,
                  .masks = lanes->rows,
                  .plane_masks = lanes->planes},
      .random = lanes->reference.random,
      .fields = feeling->field != 0.0 || feeling->width != 0.0,
      .columns = zeroed(2 * words * LANES, sizeof(uint32_t)),
  };
  mask_rows(lanes);
  pack_sample(lanes);
}

static void close_lanes(struct lanes *lanes)
{
  free(lanes->job.columns);
  free(lanes->rows);
  free(lanes->planes);
  free(lanes->sample);
  reference_free(&lanes->reference);
  lanes->model.ops->destroy(&lanes->model);
}

static void set_rule(struct lanes *lanes, double beta)
{
  const double control[ISING_CONTROLS] = {beta, ising_parameters(&lanes->model)->field};
  const struct ising_spin_rule rule =
      ising_spin_rule(&lanes->model, lanes->reference.update, control);
  lanes->job.rule.start = rule.start != 0 ? UINT32_MAX : 0;
  lanes->job.rule.estimate = rule.estimate;
  lanes->job.rule.exact = rule.exact;
}

/* Returns the word of lane `lane` in which a site is. */
static uint32_t *word_of(const struct lanes *lanes, size_t site, size_t lane, uint32_t *bit)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(&lanes->model)->lattice;
  const size_t position = gpumc_checkerboard_position(lattice, site);
  const size_t colour = position / lattice->colour, k = position % lattice->colour;
  const size_t words = (size_t)ISING_SPIN_WORDS * lanes->job.lattice.blocks;
  *bit = (uint32_t)(k % LANES);
  return &lanes->job.columns[(colour * words + k / LANES) * LANES + lane];
}

static size_t lane_of(size_t replica)
{
  return 5 + 11 * replica;
}

/* Sets the lanes as the replicas of the reference are. */
static void load(const struct lanes *lanes)
{
  const size_t words = (size_t)2 * ISING_SPIN_WORDS * lanes->job.lattice.blocks;
  uint32_t bit;
  memset(lanes->job.columns, 0, words * LANES * sizeof(uint32_t));
  for (size_t r = 0; r < REPLICAS; r++)
    for (size_t i = 0; i < lanes->reference.sites; i++)
      if (lanes->reference.spin[r * lanes->reference.sites + i] > 0) {
        uint32_t *word = word_of(lanes, i, lane_of(r), &bit);
        *word |= 1u << bit;
      }
}

/* Returns how many spins differ; bits beyond the lattice count. */
static size_t differences(const struct lanes *lanes)
{
  const size_t words = (size_t)2 * ISING_SPIN_WORDS * lanes->job.lattice.blocks;
  size_t count = 0, up[2] = {0, 0};
  uint32_t bit;
  for (size_t r = 0; r < REPLICAS; r++)
    for (size_t i = 0; i < lanes->reference.sites; i++) {
      const bool is_up = lanes->reference.spin[r * lanes->reference.sites + i] > 0;
      const uint32_t word = *word_of(lanes, i, lane_of(r), &bit);
      count += (word >> bit & 1) != is_up;
      up[0] += word >> bit & 1;
    }
  for (size_t w = 0; w < words * LANES; w++)
    up[1] += (size_t)__builtin_popcount(lanes->job.columns[w]);
  return count + (up[1] - up[0]);
}

/* Sweeps both; returns the differences of all sweeps. */
static size_t follow(struct lanes *lanes, double beta, uint32_t time)
{
  size_t count = 0;
  for (uint32_t s = 0; s < SWEEPS; s++) {
    load(lanes);
    reference_sweep(&lanes->reference, beta, time + s);
    for (uint32_t r = 0; r < REPLICAS; r++) {
      lanes->job.replica = r;
      lanes->job.time = time + s;
      lanes->job.lane = (uint32_t)lane_of(r);
      ising_lane_emulate(&lanes->job);
    }
    count += differences(lanes);
  }
  return count;
}

static void compare_lanes(enum ising_move update)
{
  struct lanes lanes;
  for (size_t shape = 0; shape < SHAPES; shape++)
    for (size_t feeling = 0; feeling < FEELINGS; feeling++) {
      open_lanes(&shapes[shape], &feelings[feeling], (shape + feeling) % 2 == 0 ? 10 : 7, update,
                 &lanes);
      for (size_t b = 0; b < BETAS; b++) {
        set_rule(&lanes, betas[b]);
        const size_t count = follow(&lanes, betas[b], UINT32_C(100) * (uint32_t)b);
        if (count != 0)
          fail_msg("shape %zu, feeling %zu, beta %g: %zu spins differ", shape, feeling, betas[b],
                   count);
      }
      close_lanes(&lanes);
    }
}

static void lanes_by_metropolis(void **state)
{
  (void)state;
  compare_lanes(ISING_MOVE_METROPOLIS);
}

static void lanes_by_heat_bath(void **state)
{
  (void)state;
  compare_lanes(ISING_MOVE_HEAT_BATH);
}

/* With thresholds that are 1 % too low in the reference, lanes differ from it. */
static void a_wrong_rule_is_noticed(void **state)
{
  struct lanes lanes;
  (void)state;
  open_lanes(&shapes[7], &feelings[0], 10, ISING_MOVE_METROPOLIS, &lanes);
  set_rule(&lanes, 0.9);
  lanes.reference.fault = REFERENCE_ACCEPTANCE;
  assert_true(follow(&lanes, 0.9, 0) > 0);
  close_lanes(&lanes);
}

/* Spins that the estimate leaves open are decided without it: a wrong one does no harm that leaves
 * all of them open, and does if it claims to be exact. */
static void open_spins_are_decided_exactly(void **state)
{
  struct lanes lanes;
  (void)state;
  open_lanes(&shapes[7], &feelings[1], 10, ISING_MOVE_METROPOLIS, &lanes);
  set_rule(&lanes, 0.9);
  lanes.job.rule.estimate.slope *= 1.25f;
  lanes.job.rule.estimate.wide = INFINITY;
  assert_int_equal(follow(&lanes, 0.9, 0), 0);
  lanes.job.rule.estimate.wide = 1.0f;
  assert_true(follow(&lanes, 0.9, 0) > 0);
  close_lanes(&lanes);
}

static const struct ising_shape odd_rows[] = {
    {3, {10, 10, 10}}, {3, {6, 6, 6}}, {3, {14, 4, 6}}, {3, {2, 4, 32}},
    {3, {6, 8, 10}},   {3, {2, 2, 2}}, {3, {26, 2, 2}},
};

/* Returns the sign of the bond of the site at `position` with its neighbour in direction d. */
static uint32_t sign_of(const struct gpumc_checkerboard *lattice, const uint32_t *signs,
                        size_t position, uint32_t d, size_t neighbour)
{
  const size_t n = lattice->colour;
  if (position < n)
    return signs[d * n + position];
  if (d == GPUMC_SIDE)
    return signs[2 * lattice->dimension * n + position - n];
  return signs[(d == GPUMC_SAME_INDEX ? d : d ^ 1) * n + neighbour];
}

/* Returns how many neighbours, or the bonds with them, are not those of the lattice. */
static size_t wrong_pairs(const struct gpumc_checkerboard *lattice,
                          const struct ising_multispin_pair_sites *pairs)
{
  const size_t n = lattice->colour;
  struct ising_multispin_replicas replicas = {
      .colour = (uint32_t)n,
      .plane = (uint32_t)lattice->plane,
      .row = gpumc_divisor_make((uint32_t)lattice->row),
      .height = gpumc_divisor_make((uint32_t)lattice->length_y),
      .pairs = pairs,
  };
  uint32_t *sites = zeroed(2 * n, sizeof *sites), *signs = zeroed(7 * n, sizeof *signs);
  uint32_t near[GPUMC_NEIGHBOURS_MAXIMUM][2], sign[GPUMC_NEIGHBOURS_MAXIMUM][2];
  uint32_t around[GPUMC_NEIGHBOURS_MAXIMUM] = {0};
  size_t count = 0;
  for (size_t i = 0; i < 7 * n; i++)
    signs[i] = UINT32_C(0x9e3779b9) * (uint32_t)(i + 1);
  for (size_t i = 0; i < 2 * n; i++)
    sites[i] = ~(UINT32_C(0x85ebca6b) * (uint32_t)(i + 1));
  for (size_t position = 0; position < 2 * n; position++) {
    const size_t colour = position / n, k = position % n;
    ising_pair_emulate(&replicas, sites, signs, (uint32_t)colour, (uint32_t)(k - k % 2), near,
                       sign);
    gpumc_checkerboard_positions_around(lattice, position, around);
    for (uint32_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
      count += near[d][k % 2] != sites[around[d]] ||
               sign[d][k % 2] != sign_of(lattice, signs, position, d, around[d]);
  }
  free(sites);
  free(signs);
  return count;
}

static void pairs_have_the_neighbours_of_the_lattice(void **state)
{
  (void)state;
  for (size_t shape = 0; shape < sizeof odd_rows / sizeof *odd_rows; shape++) {
    const struct gpumc_checkerboard lattice = gpumc_checkerboard_make(3, odd_rows[shape].shape);
    const size_t count = lattice.colour / 2;
    struct ising_multispin_pair_sites *pairs = zeroed(count, sizeof *pairs);
    for (size_t i = 0; i < count; i++)
      pairs[i] = ising_multispin_pair_of(&lattice, i);
    const size_t wrong = wrong_pairs(&lattice, pairs);
    if (wrong != 0)
      fail_msg("shape %zu: %zu words are wrong", shape, wrong);
    if (count > 2) {
      pairs[0] = pairs[1];
      assert_true(wrong_pairs(&lattice, pairs) > 0);
    }
    free(pairs);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lanes_by_metropolis),
      cmocka_unit_test(lanes_by_heat_bath),
      cmocka_unit_test(a_wrong_rule_is_noticed),
      cmocka_unit_test(open_spins_are_decided_exactly),
      cmocka_unit_test(pairs_have_the_neighbours_of_the_lattice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
