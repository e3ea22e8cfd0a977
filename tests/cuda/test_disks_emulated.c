/* The work of a GPU's threads for hard disks, run on the CPU one after the other, gives the bits of
 * the CPU's kernel: for whole replicas and tiles of several sizes, also for boxes that are smaller
 * than a tile with its border, for small and large cells, and any number of trials.
 *
 * This needs no GPU. exact_test_disks_kernels_cuda shows that a GPU computes the same.
 *
 * CTest: long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/registry.h"
#include "support/disks_emulated.h"
#include "support/disks_fixture.h"
#include "support/cases.h"

enum { FIRST = 5, REPLICAS = 2, SEED = 17, THREADS = 37 };

/* Boxes by their cells. */
struct box {
  uint32_t cells[2];
  double width[2], packing_fraction;
  uint32_t sweeps;
};
static const struct box boxes[] = {
    {{2, 2}, {1.3, 1.2}, 0.5, 30},
    {{4, 4}, {1.01, 1.01}, 0.6, 20},
    {{6, 6}, {1.12, 1.08}, 0.7, 12},
    {{16, 16}, {1.002, 1.01}, 0.7, 4},
    {{2, 14}, {1.4, 1.02}, 0.6, 12},
    {{22, 6}, {1.01, 1.1}, 0.65, 6},
    {{40, 40}, {1.001, 1.01}, 0.7, 2},
    {{2, 4}, {1.9, 1.45}, 0.14, 30},
    /* Long enough for rare events: a third disk in a cell, four neighbours in slots 1. */
    {{40, 40}, {1.006, 1.006}, 0.698, 30},
};
/* Sides of tiles, 0: whole replicas; and whether to behave as if there were few of them. */
static const struct {
  uint32_t side[2];
  bool few;
} tiles[] = {{{0, 0}, false},  {{8, 8}, false}, {{16, 11}, true}, {{5, 24}, false},
             {{40, 40}, true}, {{8, 8}, true},  {{5, 24}, true},  {{40, 40}, false}};
static const uint32_t moves[] = {1, 4, 7, 64};

/* A replica as it is in device memory. */
struct cells {
  const struct hard_disks_grid *grid;
  const struct hard_disks_box *box;
  struct hard_disks_layout layout;
  struct hard_disks_stored stored;
  struct hard_disks_replica replica;
  struct hard_disks_head head;
  size_t count;
};

static void open_cells(const struct gpumc_ensemble *ensemble, struct cells *cells)
{
  cells->grid = hard_disks_grid_of(ensemble->model, &ensemble->plan);
  cells->box = &cells->grid->box;
  cells->layout = hard_disks_plain_layout(cells->box);
  cells->stored = hard_disks_stored_of(cells->box);
  cells->count = (size_t)cells->box->cells_x * cells->box->cells_y;
  cells->replica.layout = &cells->layout;
  cells->replica.x = calloc(cells->layout.count, sizeof(float));
  cells->replica.y = calloc(cells->layout.count, sizeof(float));
  cells->replica.grid = cells->box;
  cells->replica.head = &cells->head;
  assert_non_null(cells->replica.x);
  assert_non_null(cells->replica.y);
}

static void close_cells(struct cells *cells)
{
  free(cells->replica.x);
  free(cells->replica.y);
}

/* Stores all replicas; the caller frees them. */
static unsigned char *store_all(struct cells *cells, const uint8_t *portable, size_t bytes)
{
  struct gpumc_error error = {0};
  unsigned char *stored = aligned_alloc(64, (REPLICAS * cells->stored.bytes + 63) / 64 * 64);
  assert_non_null(stored);
  for (size_t r = 0; r < REPLICAS; r++) {
    assert_int_equal(hard_disks_set(cells->grid, portable + r * bytes, &cells->replica, &error),
                     GPUMC_OK);
    hard_disks_store(&cells->stored, &cells->replica, cells->count,
                     stored + r * cells->stored.bytes);
  }
  return stored;
}

static size_t
differences_of(struct cells *cells, unsigned char *stored, const uint8_t *portable, size_t bytes)
{
  size_t different = 0;
  uint8_t *found = calloc(1, bytes);
  assert_non_null(found);
  for (size_t r = 0; r < REPLICAS; r++) {
    if (hard_disks_restore(&cells->stored, stored + r * cells->stored.bytes, cells->count,
                           &cells->replica) != cells->box->particles)
      return bytes;
    hard_disks_get(&cells->replica, found);
    for (size_t i = 0; i < bytes; i += sizeof(double))
      different += memcmp(found + i, portable + r * bytes + i, sizeof(double)) != 0;
  }
  free(found);
  return different;
}

static void open_box(const struct box *box, uint32_t trials, const struct hard_disks_options *wrong,
                     double beta_pressure, struct disks *disks)
{
  const double area = box->cells[0] * box->width[0] * box->cells[1] * box->width[1];
  struct disks_job job = {
      .settings = {.particles = (size_t)(box->packing_fraction * area / 0.785398),
                   .length = {box->cells[0] * box->width[0], box->cells[1] * box->width[1]}},
      .variant = "checkerboard",
      .options = {trials, true, true, true},
      .beta_pressure = beta_pressure,
      .volume = {beta_pressure > 5.0 ? 1.0 : 2.0, beta_pressure > 5.0 ? 2 : 1},
      .replicas = REPLICAS,
      .seed = SEED,
  };
  if (wrong != NULL)
    job.options = *wrong;
  disks_open(&job, test_setting(), disks);
  disks->ensemble.plan.first_replica = FIRST;
  disks->ensemble.plan.all_replicas = FIRST + REPLICAS;
}

/* Returns the number of coordinates, and of counts of trials, that differ from the CPU's; `late`:
 * with the random numbers of another time. */
static size_t differences(struct disks *disks, const struct hard_disks_options *options,
                          uint32_t sweeps, size_t k, uint32_t late)
{
  struct cells cells;
  const size_t bytes = disks->model.portable_bytes;
  open_cells(&disks->ensemble, &cells);
  uint8_t *before = disks_replicas(disks);
  unsigned char *stored = store_all(&cells, before, bytes);
  const struct checkerboard_counts counts_before = disks_counts(disks, 0);
  struct checkerboard_counts counts = {0};
  struct hard_disks_volume_rule rule;
  if (disks->beta_pressure != NULL) {
    struct gpumc_error error = {0};
    const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN, .control = disks->beta_pressure};
    assert_int_equal(hard_disks_find_rules(&disks->ensemble, &target, &rule, &error), GPUMC_OK);
  }
  const struct disks_emulated job = {
      .rule = disks->beta_pressure != NULL ? &rule : NULL,
      .volume_sweeps = hard_disks_volume_options_of(&disks->ensemble.plan.options).sweeps,
      .box = *cells.box,
      .random = gpumc_ensemble_random(&disks->ensemble, 0),
      .first = FIRST,
      .count = REPLICAS,
      .time = disks->ensemble.time + late,
      .sweeps = sweeps,
      .moves = options->moves,
      .shuffle = options->shuffle,
      .shift = options->shift,
      .scale = hard_disks_scale(disks->ensemble.step[0]),
      .side = {tiles[k].side[0], tiles[k].side[1]},
      .few = tiles[k].few,
      .threads = THREADS,
      .replicas = stored,
      .accepted = &counts.accepted,
      .proposed = &counts.proposed,
  };
  disks_emulate(&job);
  disks_sweep(disks, sweeps);
  uint8_t *after = disks_replicas(disks);
  size_t different = differences_of(&cells, stored, after, bytes);
  const struct checkerboard_counts counts_after = disks_counts(disks, 0);
  different += counts.accepted != counts_after.accepted - counts_before.accepted;
  different += counts.proposed != counts_after.proposed - counts_before.proposed;
  free(before);
  free(stored);
  free(after);
  close_cells(&cells);
  return different;
}

static void threads_have_the_bits_of_the_cpu(void **state)
{
  (void)state;
  FOR_CASES (cases)
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
      for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
        for (size_t side = 0; side < sizeof tiles / sizeof *tiles; side++) {
          struct disks disks;
          const struct hard_disks_options options = {moves[k], true, true, true};
          if (!cases_take(&cases))
            continue;
          open_box(&boxes[b], moves[k], NULL, 0.0, &disks);
          disks_sweep(&disks,
                      (uint32_t)side * boxes[b].sweeps); /* from other states, at other times */
          const size_t different = differences(&disks, &options, boxes[b].sweeps, side, 0);
          if (different > 0)
            fail_msg("%ux%u cells, tiles of %ux%u, %u trials: %zu numbers differ",
                     boxes[b].cells[0], boxes[b].cells[1], tiles[side].side[0], tiles[side].side[1],
                     moves[k], different);
          disks_close(&disks);
        }
}

/* Wider cells are for boxes at constant volume. */
static bool volume_moves(const struct box *box)
{
  return box->width[0] < 1.414 && box->width[1] < 1.414;
}

static void compare_volumes(const struct box *box, double pressure, size_t side)
{
  const struct hard_disks_options options = {4, true, true, true};
  struct disks disks;
  double before[2], after[2];
  open_box(box, 4, NULL, pressure, &disks);
  uint8_t *replicas = disks_replicas(&disks);
  memcpy(before, replicas, sizeof before);
  free(replicas);
  disks_sweep(&disks, 13 * (uint32_t)side); /* from other states, at other times */
  const size_t different = differences(&disks, &options, 13, side, 0);
  if (different > 0)
    fail_msg("%ux%u cells, tiles of %ux%u, beta P = %g: %zu numbers differ", box->cells[0],
             box->cells[1], tiles[side].side[0], tiles[side].side[1], pressure, different);
  replicas = disks_replicas(&disks);
  memcpy(after, replicas, sizeof after);
  free(replicas);
  assert_memory_not_equal(before, after, sizeof before);
  disks_close(&disks);
}

/* The volume moves as well: boxes change, and some of the moves are refused. */
static void volumes_have_the_bits_of_the_cpu(void **state)
{
  (void)state;
  static const double pressures[] = {3.0, 9.0};
  FOR_CASES (cases)
    for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
      for (size_t p = 0; p < sizeof pressures / sizeof *pressures && volume_moves(&boxes[b]); p++)
        for (size_t side = 0; side < sizeof tiles / sizeof *tiles; side++)
          if (cases_take(&cases))
            compare_volumes(&boxes[b], pressures[p], side);
}

static void sweeps_that_are_wrong_are_wrong_alike(void **state)
{
  (void)state;
  static const struct hard_disks_options wrong[] = {{4, false, true, true}, {4, true, false, true}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct disks disks;
    open_box(&boxes[3], 0, &wrong[i], 0.0, &disks);
    for (size_t side = 0; side < 3; side++)
      assert_int_equal(differences(&disks, &wrong[i], 20, side, 0), 0);
    disks_close(&disks);
  }
}

/* Control: other times have other random numbers. */
static void another_time_is_noticed(void **state)
{
  (void)state;
  for (size_t side = 0; side < 2; side++) {
    struct disks disks;
    const struct hard_disks_options options = {4, true, true, true};
    open_box(&boxes[3], 4, NULL, 0.0, &disks);
    assert_true(differences(&disks, &options, 1, side, 1) > 256);
    disks_close(&disks);
  }
}

/* `gpumc bench` asks without any of the kernel's keys. */
static void only_trials_that_leave_their_cells_are_refused(void **state)
{
  (void)state;
  struct disks disks;
  struct gpumc_kernel_options options = {0};
  const struct gpumc_kernel_ops *kernel = &hard_disks_checkerboard_cuda;
  const char *key;
  open_box(&boxes[0], 4, NULL, 0.0, &disks);
  assert_null(gpumc_kernel_refusal(kernel, &disks.model));
  hard_disks_pack_options(&(struct hard_disks_options){4, false, false, true}, 0.2, &options);
  assert_null(kernel->refuses(&disks.model, &options, &key));
  hard_disks_pack_options(&(struct hard_disks_options){4, true, true, false}, 0.2, &options);
  assert_non_null(kernel->refuses(&disks.model, &options, &key));
  assert_string_equal(key, "confine");
  disks_close(&disks);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_have_the_bits_of_the_cpu),
      cmocka_unit_test(volumes_have_the_bits_of_the_cpu),
      cmocka_unit_test(sweeps_that_are_wrong_are_wrong_alike),
      cmocka_unit_test(another_time_is_noticed),
      cmocka_unit_test(only_trials_that_leave_their_cells_are_refused),
  };
  /* The reference, even if CTest names the device of its folder. */
  if (setenv("GPUMC_TEST_DEVICE", "cpu", 1) != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
