/* Code shared by the lattice models, against the slow, simple way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "core/numerics/simd_philox.h"
#include "models/lattice/bit_sliced.h"
#include "models/lattice/checkerboard_simd.h"
#include "models/lattice/vertical_counter.h"

static uint32_t noise(uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(9, 0, 10), i, 0, 0, 0, word);
  return word[0];
}

static void transpose_exchanges_rows_and_columns(void **state)
{
  (void)state;
  uint32_t before[32], after[32];
  for (uint32_t i = 0; i < 32; i++)
    before[i] = after[i] = noise(i);
  gpumc_bit_transpose(after);
  for (uint32_t i = 0; i < 32; i++)
    for (uint32_t j = 0; j < 32; j++)
      assert_int_equal(before[i] >> j & 1, after[j] >> i & 1);
  gpumc_bit_transpose(after);
  assert_memory_equal(before, after, sizeof before);
}

static void philox_vectors_equal_single_draws(void **state)
{
  (void)state;
  for (uint32_t rounds = 7; rounds <= 10; rounds += 3) {
    struct gpumc_random random = gpumc_random_make(0x123456789abc, 77, rounds);
    struct gpumc_philox_stream stream = gpumc_philox_stream_make(random, 0xfffffff1u, 12345);
    gpumc_v32 site = gpumc_lane_numbers() * 0x10003u + 0xfffffffeu, word[4];
    if (rounds == 7)
      gpumc_philox_draw(&stream, 7, site, 0x41000003u, word);
    else
      gpumc_philox_draw(&stream, 10, site, 0x41000003u, word);
    for (size_t lane = 0; lane < GPUMC_VECTOR_WORDS; lane++) {
      uint32_t expected[4];
      gpumc_random_draw(random, site[lane], 0xfffffff1u, 12345, 0x41000003u, expected);
      for (size_t i = 0; i < 4; i++)
        assert_int_equal(word[i][lane], expected[i]);
    }
  }
}

static void vertical_counters_count_every_lane(void **state)
{
  (void)state;
  enum { VECTORS = 201 };
  const size_t planes = gpumc_counter_planes(VECTORS + 4);
  struct gpumc_vertical_counter counter = {0};
  int64_t expected[32] = {0}, count[32] = {0};
  for (uint32_t v = 0; v < VECTORS; v++) {
    gpumc_v32 bits;
    for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++) {
      /* Sometimes all ones: the largest counts and the longest carries. */
      uint32_t word = v % 3 == 0 ? UINT32_MAX : noise(v * GPUMC_VECTOR_WORDS + i);
      bits[i] = word;
      for (uint32_t lane = 0; lane < 32; lane++)
        expected[lane] += word >> lane & 1;
    }
    gpumc_counter_add(&counter, 0, planes, bits);
  }
  gpumc_counter_flush(&counter, planes, count);
  for (uint32_t lane = 0; lane < 32; lane++)
    assert_int_equal(count[lane], expected[lane]);
}

static void compression_keeps_order(void **state)
{
  (void)state;
  for (uint32_t keep = 0; keep < 1u << GPUMC_VECTOR_WORDS; keep++) {
    uint32_t words[2 * GPUMC_VECTOR_WORDS] = {0};
    uint32_t n = 0;
    gpumc_compress(words, gpumc_compression_of(keep), gpumc_lane_numbers() + 100);
    for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
      if (keep >> i & 1)
        assert_int_equal(words[n++], 100 + i);
  }
}

static void thresholds_are_rounded_and_bounded(void **state)
{
  (void)state;
  assert_true(gpumc_threshold_exponential(0.0) == GPUMC_THRESHOLD_ALWAYS);
  assert_true(gpumc_threshold_exponential(-3.0) == GPUMC_THRESHOLD_ALWAYS);
  assert_true(gpumc_threshold_exponential(1e-11) == GPUMC_THRESHOLD_ALWAYS);
  assert_true(gpumc_threshold_exponential(23.0) == 0);
  assert_true(gpumc_threshold_exponential(1e300) == 0);
  for (double x = 0.01; x < 22; x += 0.37)
    assert_true(fabs((double)gpumc_threshold_exponential(x) - ldexp(exp(-x), 32)) <= 0.500001);
}

static void threshold_bits_spell_the_threshold(void **state)
{
  (void)state;
  struct gpumc_bit_thresholds table;
  gpumc_bit_thresholds_set(&table, 2, 0x80000001u);
  gpumc_bit_thresholds_set(&table, 3, GPUMC_THRESHOLD_ALWAYS);
  assert_int_equal(table.need[2], UINT32_MAX);
  assert_int_equal(table.need[3], 0);
  for (uint32_t p = 0; p < GPUMC_BIT_PLANES; p++) {
    assert_int_equal(table.bit[p][2], p == 0 || p == 31 ? UINT32_MAX : 0);
    assert_int_equal(table.bit[p][3], 0);
  }
}

/* The neighbours that checkerboard.h promises match the coordinates. */
static void checkerboard_neighbours(void **state)
{
  (void)state;
  static const size_t shapes[][2] = {{2, 2}, {2, 6}, {6, 2}, {6, 4}, {34, 18}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const size_t lx = shapes[i][0], ly = shapes[i][1];
    struct gpumc_checkerboard lattice = gpumc_checkerboard_make(2, (const size_t[]){lx, ly});
    for (size_t y = 0; y < ly; y++)
      for (size_t x = 0; x < lx; x++) {
        const size_t colour = (x + y) & 1,
                     position = gpumc_checkerboard_position(&lattice, x + lx * y);
        const size_t k = position - colour * lattice.colour, j = k % lattice.row;
        const size_t other = (1 - colour) * lattice.colour;
        const size_t aside =
            ((y + colour) & 1) == 0 ? (j + lattice.row - 1) % lattice.row : (j + 1) % lattice.row;
        size_t near = gpumc_checkerboard_position(&lattice, (x + 1) % lx + lx * y);
        size_t far = gpumc_checkerboard_position(&lattice, (x + lx - 1) % lx + lx * y);
        if (near != other + k) {
          size_t swap = near;
          near = far;
          far = swap;
        }
        assert_int_equal(near, other + k);
        assert_int_equal(far, other + k - j + aside);
        assert_int_equal(gpumc_checkerboard_position(&lattice, x + lx * ((y + 1) % ly)),
                         other + (k + lattice.row) % lattice.colour);
        assert_int_equal(gpumc_checkerboard_position(&lattice, x + lx * ((y + ly - 1) % ly)),
                         other + (k + lattice.colour - lattice.row) % lattice.colour);
      }
  }
}

/* Returns the site `steps` along the axis from (x, y, z) as an index in its colour. */
static size_t index_beside(const struct gpumc_checkerboard *lattice, const size_t at[3],
                           size_t axis, size_t steps)
{
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  size_t to[3] = {at[0], at[1], at[2]};
  to[axis] = (to[axis] + steps) % length[axis];
  return gpumc_checkerboard_position(lattice, to[0] + length[0] * (to[1] + length[1] * to[2])) %
         lattice->colour;
}

static void expect_neighbours(const struct gpumc_checkerboard *lattice, const size_t at[3],
                              const gpumc_v32 *neighbour, size_t word, bool side_is_back)
{
  static const enum gpumc_neighbour before[3] = {GPUMC_SIDE, GPUMC_ROW_BEFORE, GPUMC_PLANE_BEFORE};
  static const enum gpumc_neighbour after[3] = {GPUMC_SAME_INDEX, GPUMC_ROW_AFTER,
                                                GPUMC_PLANE_AFTER};
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  for (size_t axis = 0; axis < lattice->dimension; axis++) {
    const bool swapped = axis == 0 && !side_is_back;
    const size_t back = swapped ? after[axis] : before[axis];
    const size_t forward = swapped ? before[axis] : after[axis];
    assert_int_equal(neighbour[forward][word], index_beside(lattice, at, axis, 1));
    assert_int_equal(neighbour[back][word], index_beside(lattice, at, axis, length[axis] - 1));
  }
}

/* Compares vectors of neighbours, from a working copy where every word is its own index. */
static void vectors_of_neighbours(void **state)
{
  (void)state;
  static const size_t shapes[][3] = {{2, 2, 2}, {2, 4, 6}, {6, 4, 2}, {8, 8, 8}, {34, 4, 6}};
  for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
    const size_t dimension = 2 + i % 2;
    const struct gpumc_checkerboard lattice = gpumc_checkerboard_make(dimension, shapes[i / 2]);
    const size_t blocks = gpumc_checkerboard_edge_blocks(&lattice);
    struct gpumc_checkerboard_edges *edges = calloc(blocks, sizeof *edges);
    uint32_t *copy = calloc(gpumc_checkerboard_extent(&lattice), sizeof *copy);
    uint32_t *sites = copy + gpumc_checkerboard_lead(&lattice);
    assert_non_null(edges);
    assert_non_null(copy);
    for (size_t k = 0; k < lattice.colour; k++)
      sites[k] = (uint32_t)k;
    gpumc_checkerboard_wrap(&lattice, sites, sizeof *sites);
    for (size_t colour = 0; colour < 2; colour++) {
      gpumc_checkerboard_edges_fill(&lattice, colour, edges);
      for (size_t k = 0; k < lattice.colour; k++) {
        gpumc_v32 neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
        const struct gpumc_checkerboard_place place =
            gpumc_checkerboard_place_at(&lattice, colour, k);
        const bool back = gpumc_checkerboard_side_is_back(&place);
        const size_t word = k % GPUMC_VECTOR_WORDS;
        const size_t at[3] = {2 * (k % lattice.row) + (back ? 0 : 1), place.y, place.z};
        if (dimension == 2)
          gpumc_checkerboard_neighbours(&lattice, 2, edges, sites, k - word, neighbour);
        else
          gpumc_checkerboard_neighbours(&lattice, 3, edges, sites, k - word, neighbour);
        expect_neighbours(&lattice, at, neighbour, word, back);
      }
    }
    free(edges);
    free(copy);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transpose_exchanges_rows_and_columns),
      cmocka_unit_test(philox_vectors_equal_single_draws),
      cmocka_unit_test(vertical_counters_count_every_lane),
      cmocka_unit_test(compression_keeps_order),
      cmocka_unit_test(thresholds_are_rounded_and_bounded),
      cmocka_unit_test(threshold_bits_spell_the_threshold),
      cmocka_unit_test(checkerboard_neighbours),
      cmocka_unit_test(vectors_of_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
