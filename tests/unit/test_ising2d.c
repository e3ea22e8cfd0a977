/* The two-dimensional Ising model and the operations of its kernels other than sweeps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising2d_fixture.h"
#include "support/ising2d_reference.h"

static const struct gpumc_kernel_ops *const kernels[] = {&ising2d_multispin_cpu, &ising2d_spin_cpu};
static const size_t shapes[][2] = {{2, 2}, {2, 6}, {6, 2}, {10, 6}, {16, 16}, {34, 18}, {130, 66}};

enum { KERNELS = 2, SHAPES = sizeof shapes / sizeof *shapes, SIZE = 75, CAPACITY = 90 };

/* Every kernel, shape and level; two threads. */
static void for_every_case(void (*body)(struct ising2d_case with))
{
  const int highest = (int)gpumc_isa_detect();
  const int lowest = highest == GPUMC_ISA_LEVEL_PORTABLE ? highest : GPUMC_ISA_LEVEL_V2;
  for (size_t k = 0; k < KERNELS; k++)
    for (size_t s = 0; s < SHAPES; s++)
      for (int level = lowest; level <= highest; level++) {
        struct ising2d_case with = ising2d_case(kernels[k], shapes[s][0], shapes[s][1], CAPACITY);
        with.isa = (enum gpumc_isa)level;
        with.threads = 2;
        body(with);
      }
}

static void instance_describes_its_spectrum(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_model model;
  const size_t shape[2] = {6, 4};
  assert_int_equal(ising2d_instance(shape, -2.5, 0.0, &model, &error), GPUMC_OK);
  assert_int_equal(model.sites, 24);
  assert_int_equal(model.lowest, -48);
  assert_int_equal(model.spacing, 4);
  assert_int_equal(model.levels, 25);
  assert_int_equal(model.portable_bytes, 3);
  assert_true(model.quantum[ISING2D_ENERGY] == 2.5);
  assert_true(model.quantum[ISING2D_MAGNETIZATION] == 1.0);
  assert_true(fabs(model.log_states - 24 * log(2.0)) < 1e-12);
  model.ops->destroy(&model);
  assert_int_equal(ising2d_instance(shape, 1.0, 0.3, &model, &error), GPUMC_OK);
  assert_int_equal(model.levels, 0);
  const double largest = 24 * 2.3 / model.quantum[ISING2D_ENERGY];
  assert_true(largest >= ldexp(1.0, 39) && largest < ldexp(1.0, 40));
  model.ops->destroy(&model);
}

static struct reference started_like(const struct ising2d_case *with)
{
  struct reference reference;
  reference_init(&reference,
                 with->kernel == &ising2d_spin_cpu ? REFERENCE_SPIN : REFERENCE_MULTISPIN,
                 with->length_x, with->length_y, SIZE);
  reference.random = gpumc_random_make(with->seed, 0, with->rounds);
  reference_randomize(&reference);
  return reference;
}

static void expect_measured(struct ising2d_case with, double coupling, double field)
{
  struct reference reference = started_like(&with);
  struct ising2d_fixture fixture;
  int64_t energy[CAPACITY], magnetization[CAPACITY];
  with.coupling = coupling;
  with.field = field;
  ising2d_open(&fixture, &with);
  ising2d_randomize(&fixture, SIZE);
  ising2d_measure(&fixture, energy, magnetization);
  ising2d_measure(&fixture, energy, NULL);
  ising2d_measure(&fixture, NULL, magnetization);
  const double quantum = fixture.model.quantum[ISING2D_ENERGY];
  for (size_t r = 0; r < SIZE; r++) {
    const double bonds = (double)reference_bonds(&reference, r);
    const int64_t spins = reference_magnetization(&reference, r);
    assert_int_equal(magnetization[r], spins);
    assert_true(fabs((double)energy[r] * quantum + coupling * bonds + field * (double)spins) <=
                0.51 * quantum * (field == 0.0 ? 0.0 : 1.0));
  }
  ising2d_close(&fixture);
  reference_free(&reference);
}

static void measure_case(struct ising2d_case with)
{
  expect_measured(with, 1.0, 0.0);
  expect_measured(with, -2.0, 0.0);
  expect_measured(with, 0.7, -0.4);
}

static void measures_like_the_reference(void **state)
{
  (void)state;
  for_every_case(measure_case);
}

/* Parents as `resample` gives them: survivors keep their places; a hash decides who dies. */
static void draw_parents(uint32_t *parent, size_t old_size, size_t new_size, uint32_t salt)
{
  for (uint32_t r = 0; r < new_size; r++) {
    const uint32_t hash = (r + salt) * 2654435761u >> 16;
    parent[r] = r < old_size && hash % 4 != 0 ? r : UINT32_MAX;
  }
  for (uint32_t r = 0, source = salt; r < new_size; r++) {
    /* A free place is filled from a survivor, or from a replica beyond the new size. */
    while (parent[r] == UINT32_MAX) {
      const uint32_t from = source++ * 7 % (uint32_t)old_size;
      if (from >= new_size || parent[from] == from)
        parent[r] = from;
    }
  }
}

static void expect_gathered(struct ising2d_fixture *fixture, size_t new_size, uint32_t salt)
{
  const size_t old_size = fixture->ensemble.size, bytes = fixture->model.portable_bytes;
  uint32_t parent[CAPACITY];
  draw_parents(parent, old_size, new_size, salt);
  uint8_t *before = ising2d_get(fixture);
  ising2d_gather(fixture, parent, new_size);
  assert_int_equal(fixture->ensemble.size, new_size);
  uint8_t *after = ising2d_get(fixture);
  for (size_t r = 0; r < new_size; r++)
    assert_memory_equal(after + r * bytes, before + parent[r] * bytes, bytes);
  free(before);
  free(after);
}

static void gather_case(struct ising2d_case with)
{
  struct ising2d_fixture fixture;
  ising2d_open(&fixture, &with);
  ising2d_randomize(&fixture, SIZE);
  expect_gathered(&fixture, SIZE, 1);
  expect_gathered(&fixture, CAPACITY, 2);
  expect_gathered(&fixture, 40, 3);
  expect_gathered(&fixture, 70, 4);
  ising2d_sweep(&fixture, 1, 0.4);
  expect_gathered(&fixture, 1, 5);
  ising2d_close(&fixture);
}

static void gather_copies_parents(void **state)
{
  (void)state;
  for_every_case(gather_case);
}

static void transfer_case(struct ising2d_case with)
{
  struct gpumc_error error = {0};
  struct ising2d_fixture fixture, other;
  ising2d_open(&fixture, &with);
  ising2d_open(&other, &with);
  ising2d_randomize(&fixture, SIZE);
  other.ensemble.size = SIZE;
  const size_t bytes = fixture.model.portable_bytes;
  uint8_t *portable = ising2d_get(&fixture);
  /* In two pieces that meet within a group. */
  assert_int_equal(
      other.ensemble.ops->set(&other.ensemble, 40, SIZE - 40, portable + 40 * bytes, &error),
      GPUMC_OK);
  assert_int_equal(other.ensemble.ops->set(&other.ensemble, 0, 40, portable, &error), GPUMC_OK);
  uint8_t *again = ising2d_get(&other);
  assert_memory_equal(portable, again, SIZE * bytes);
  memset(again, 0xaa, SIZE * bytes);
  assert_int_equal(other.ensemble.ops->get(&other.ensemble, 33, 5, again, &error), GPUMC_OK);
  assert_memory_equal(portable + 33 * bytes, again, 5 * bytes);
  assert_int_equal(again[5 * bytes], 0xaa);
  free(portable);
  free(again);
  ising2d_close(&fixture);
  ising2d_close(&other);
}

static void set_and_get_are_inverse(void **state)
{
  (void)state;
  for_every_case(transfer_case);
}

static void memory_is_within_its_limit(void **state)
{
  (void)state;
  static const double limit[KERNELS] = {0.35, 1.3};
  struct gpumc_error error = {0};
  struct gpumc_model model;
  for (size_t s = 0; s < SHAPES; s++) {
    assert_int_equal(ising2d_instance(shapes[s], 1.0, 0.0, &model, &error), GPUMC_OK);
    for (size_t k = 0; k < KERNELS; k++) {
      const double bytes =
          (double)(kernels[k]->bytes(&model, 320000, 1) - kernels[k]->bytes(&model, 0, 1));
      assert_true(bytes <= limit[k] * 320000 * (double)model.sites);
    }
    model.ops->destroy(&model);
  }
}

static void refuses_what_cannot_be(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_device device = {.threads = 1, .isa = gpumc_isa_detect()};
  struct gpumc_model model;
  const size_t shape[2] = {65536, 65536};
  assert_int_equal(ising2d_instance(shape, 1.0, 0.0, &model, &error), GPUMC_OK);
  for (size_t k = 0; k < KERNELS; k++) {
    struct gpumc_ensemble ensemble;
    assert_int_equal(gpumc_ensemble_create(kernels[k], &model, &device, (size_t)1 << 40, 1, 10,
                                           &ensemble, &error),
                     GPUMC_FAILURE);
    assert_non_null(strstr(gpumc_error_text(&error), "out of memory: replicas"));
    assert_null(ensemble.storage);
    gpumc_ensemble_free(&ensemble);
  }
  model.ops->destroy(&model);
  gpumc_error_free(&error);
}

static void time_does_not_run_over(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct ising2d_fixture fixture;
  struct ising2d_case with = ising2d_case(kernels[0], 4, 4, 32);
  ising2d_open(&fixture, &with);
  ising2d_randomize(&fixture, 32);
  fixture.ensemble.time = UINT32_MAX - 1;
  ising2d_sweep(&fixture, 1, 0.4);
  assert_int_equal(fixture.ensemble.time, UINT32_MAX);
  assert_int_equal(gpumc_ensemble_sweep(&fixture.ensemble, 1, 0.4, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "1 sweeps after 4294967295 exceed the 4294967295 that a run may have");
  gpumc_error_free(&error);
  ising2d_close(&fixture);
}

static void levels_have_names(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  enum gpumc_isa isa;
  assert_int_equal(gpumc_isa_parse("auto", &isa, &error), GPUMC_OK);
  assert_int_equal(isa, gpumc_isa_detect());
  assert_int_equal(gpumc_isa_parse(gpumc_isa_name(gpumc_isa_detect()), &isa, &error), GPUMC_OK);
  assert_int_equal(isa, gpumc_isa_detect());
  assert_int_equal(gpumc_isa_parse("x86-64-v9", &isa, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "no instruction-set level \"x86-64-v9\" (auto, x86-64-v2, x86-64-v3, "
                      "x86-64-v4, portable)");
  const bool portable = gpumc_isa_detect() == GPUMC_ISA_LEVEL_PORTABLE;
  assert_int_equal(gpumc_isa_parse(portable ? "x86-64-v2" : "portable", &isa, &error),
                   GPUMC_DEVICE);
  gpumc_error_free(&error);
  assert_string_equal(gpumc_capability_name(GPUMC_CAN_SWEEP_EACH), "sweep_each");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instance_describes_its_spectrum),
      cmocka_unit_test(measures_like_the_reference),
      cmocka_unit_test(gather_copies_parents),
      cmocka_unit_test(set_and_get_are_inverse),
      cmocka_unit_test(memory_is_within_its_limit),
      cmocka_unit_test(refuses_what_cannot_be),
      cmocka_unit_test(time_does_not_run_over),
      cmocka_unit_test(levels_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
