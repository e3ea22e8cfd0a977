/* The kernels of O(n) spins on the device under test have the bits of the CPU's with one thread:
 * replicas and channels after sweeps of every move, copies, exchanges, and a way through the
 * portable form; small steps that are tuned meanwhile, and what is accepted of them; in a moved
 * temperature and in a moved field; on lattices of one to three dimensions that fit into a GPU's
 * shared memory and that do not; and with quenched couplings, where replicas are compared, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "support/share.h"
#include "support/test_device.h"

enum { RUNS = 3, ROOM = 5, FIRST_RUN = 7, SEED = 20120603 };

static const uint32_t sizes[RUNS] = {5, 4, 5};
static const double beta[RUNS] = {0.4, 0.9, 2.5}, field[RUNS] = {0.0, 0.3, -1.2};

static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},          {.dimension = 1, .shape = {6}},
    {.dimension = 1, .shape = {100}},        {.dimension = 1, .shape = {10000}},
    {.dimension = 2, .shape = {2, 2}},       {.dimension = 2, .shape = {6, 4}},
    {.dimension = 2, .shape = {8, 8}},       {.dimension = 2, .shape = {16, 16}},
    {.dimension = 2, .shape = {34, 2}},      {.dimension = 2, .shape = {64, 64}},
    {.dimension = 2, .shape = {64, 80}},     {.dimension = 2, .shape = {98, 96}},
    {.dimension = 2, .shape = {128, 96}},    {.dimension = 3, .shape = {2, 2, 2}},
    {.dimension = 3, .shape = {4, 6, 2}},    {.dimension = 3, .shape = {8, 8, 8}},
    {.dimension = 3, .shape = {6, 10, 4}},   {.dimension = 3, .shape = {16, 16, 16}},
    {.dimension = 3, .shape = {22, 20, 22}}, {.dimension = 3, .shape = {64, 16, 12}},
};

static void assert_ok(enum gpumc_status status, struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(error));
}

/* An ensemble on a device. */
struct side {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[HEISENBERG_CHANNELS], *pair[HEISENBERG_PAIRS];
  uint32_t *parent, *swap;
};

struct job {
  struct heisenberg_settings settings;
  const char *variant;
  uint32_t move, rounds;
  bool in_field; /* the field is moved */
  size_t samples;
};

static void open_side(const struct job *job, struct gpumc_device device, struct side *side)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble_plan plan = {
      .runs = RUNS,
      .capacity = ROOM,
      .samples = job->samples,
      .move = job->move,
      .warm_up = 16,
      .options = {.own = {2}},
  };
  if (job->in_field) {
    plan.moved = HEISENBERG_FIELD;
    plan.fixes = true;
    plan.fixed[HEISENBERG_BETA] = 0.7;
  }
  memset(side, 0, sizeof *side);
  side->device = device;
  assert_ok(heisenberg_instance(&job->settings, &side->model, &error), &error);
  const struct gpumc_kernel_ops *kernel = NULL;
  for (size_t k = 0; side->model.ops->kernels[k] != NULL; k++)
    if (strcmp(side->model.ops->kernels[k]->device, device.ops->name) == 0 &&
        strcmp(side->model.ops->kernels[k]->variant, job->variant) == 0)
      kernel = side->model.ops->kernels[k];
  assert_non_null(kernel);
  assert_ok(gpumc_ensemble_create(kernel, &side->model, &side->device, &plan, SEED, job->rounds,
                                  &side->ensemble, &error),
            &error);
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    assert_ok(gpumc_device_array(&side->device, &side->channel[c], RUNS * ROOM, "channel", &error),
              &error);
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    assert_ok(gpumc_device_array(&side->device, &side->pair[k], ROOM, "pairs", &error), &error);
  assert_ok(gpumc_device_array(&side->device, &side->parent, RUNS * ROOM, "parents", &error),
            &error);
  assert_ok(gpumc_device_array(&side->device, &side->swap, RUNS * gpumc_swap_words(ROOM), "swaps",
                               &error),
            &error);
  assert_ok(gpumc_ensemble_start(&side->ensemble, FIRST_RUN, RUNS, ROOM, &error), &error);
  assert_ok(gpumc_ensemble_set_sizes(&side->ensemble, sizes, &error), &error);
}

static void close_side(struct side *side)
{
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    side->device.ops->release(&side->device, side->channel[c]);
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    side->device.ops->release(&side->device, side->pair[k]);
  side->device.ops->release(&side->device, side->parent);
  side->device.ops->release(&side->device, side->swap);
  gpumc_ensemble_free(&side->ensemble);
  side->model.ops->destroy(&side->model);
}

/* The replicas of all runs, [RUNS][ROOM][portable_bytes], those that are not in use zero. */
static uint8_t *replicas_of(struct side *side)
{
  struct gpumc_error error = {0};
  const size_t bytes = side->model.portable_bytes;
  uint8_t *portable = calloc(RUNS * ROOM, bytes);
  assert_non_null(portable);
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(side->ensemble.ops->get(&side->ensemble, m, 0, sizes[m], portable + m * ROOM * bytes,
                                      &error),
              &error);
  return portable;
}

static void bring(struct side *side, uint32_t *to, const uint32_t *from, size_t count)
{
  struct gpumc_error error = {0};
  assert_ok(side->device.ops->copy_to_device(&side->device, to, from, count * sizeof *from, &error),
            &error);
}

static void sweep(struct side *side, const struct job *job, uint32_t sweeps, bool measured)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_sweep_each(&side->ensemble, sweeps, job->in_field ? field : beta,
                                      measured ? side->channel : NULL, &error),
            &error);
}

/* Sweeps, copies, sweeps, exchanges, a way through portable form, sweeps that are measured. */
static void work(struct side *side, const struct job *job)
{
  static const uint32_t parent[RUNS][ROOM] = {{0, 0, 2, 2, 0}, {0, 1, 2, 3, 0}, {4, 1, 1, 4, 4}};
  static const uint32_t swap[RUNS] = {1 << 1 | 1 << 3, 1 << 0 | 1 << 2, 0};
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &side->ensemble;
  sweep(side, job, 2, false);
  bring(side, side->parent, parent[0], RUNS * ROOM);
  assert_ok(ensemble->ops->gather(ensemble, side->parent, &error), &error);
  sweep(side, job, 1, true);
  bring(side, side->swap, swap, RUNS);
  assert_ok(ensemble->ops->exchange(ensemble, side->swap, &error), &error);
  uint8_t *portable = replicas_of(side);
  const size_t bytes = side->model.portable_bytes;
  assert_ok(ensemble->ops->set(ensemble, 2, 1, 2, portable + (size_t)ROOM * bytes, &error), &error);
  free(portable);
  sweep(side, job, 17, true);
  if (side->model.disorder)
    assert_ok(ensemble->ops->compare(ensemble, 0, 2, 1, side->pair, &error), &error);
}

static void expect_same_channels(struct side *a, struct side *b, const char *text)
{
  struct gpumc_error error = {0};
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++) {
    int64_t value[2][RUNS * ROOM];
    struct side *const sides[2] = {a, b};
    for (size_t i = 0; i < 2; i++)
      assert_ok(sides[i]->device.ops->copy_to_host(&sides[i]->device, value[i],
                                                   sides[i]->channel[c], sizeof value[i], &error),
                &error);
    for (size_t m = 0; m < RUNS; m++)
      if (memcmp(value[0] + m * ROOM, value[1] + m * ROOM, sizes[m] * sizeof(int64_t)) != 0)
        fail_msg("%s: channel %zu of run %zu differs", text, c, m);
  }
}

static size_t tuned; /* jobs with steps that are no longer what they were */

static void expect_same_steps(struct side *a, struct side *b, const char *text)
{
  struct gpumc_error error = {0};
  uint64_t accepted[2][RUNS];
  struct side *const sides[2] = {a, b};
  if (a->ensemble.step == NULL)
    return;
  for (size_t i = 0; i < 2; i++)
    assert_ok(sides[i]->device.ops->copy_to_host(&sides[i]->device, accepted[i],
                                                 sides[i]->ensemble.accepted, sizeof accepted[i],
                                                 &error),
              &error);
  for (size_t m = 0; m < RUNS; m++)
    if (accepted[0][m] != accepted[1][m] || a->ensemble.step[m] != b->ensemble.step[m])
      fail_msg("%s: steps of run %zu differ", text, m);
  tuned += a->ensemble.step[RUNS - 1] < GPUMC_PI;
}

static void expect_same_pairs(struct side *a, struct side *b, const char *text)
{
  struct gpumc_error error = {0};
  for (size_t k = 0; k < HEISENBERG_PAIRS && a->model.disorder; k++) {
    int64_t value[2][ROOM];
    struct side *const sides[2] = {a, b};
    for (size_t i = 0; i < 2; i++)
      assert_ok(sides[i]->device.ops->copy_to_host(&sides[i]->device, value[i], sides[i]->pair[k],
                                                   sizeof value[i], &error),
                &error);
    if (memcmp(value[0], value[1], sizeof value[0]) != 0)
      fail_msg("%s: %s differs", text, heisenberg_pairs[k].label.name);
  }
}

static void expect_same_replicas(struct side *a, struct side *b, const char *text)
{
  uint8_t *one = replicas_of(a), *other = replicas_of(b);
  const size_t bytes = a->model.portable_bytes;
  for (size_t i = 0; i < RUNS * ROOM; i++)
    if (memcmp(one + i * bytes, other + i * bytes, bytes) != 0)
      fail_msg("%s: replica %zu of run %zu differs", text, i % ROOM, i / ROOM);
  free(one);
  free(other);
}

static struct gpumc_device reference_device(void)
{
  struct gpumc_error error = {0};
  struct gpumc_device device;
  assert_ok(gpumc_device_open("cpu", 1, &device, &error), &error);
  return device;
}

static void compare(const struct job *job)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  const size_t *shape = job->settings.shape;
  struct gpumc_device cpu = reference_device();
  struct side reference;
  open_side(job, cpu, &reference);
  work(&reference, job);
  for (size_t i = 0; i < settings; i++) {
    struct side side;
    char text[256];
    snprintf(text, sizeof text, "%s, %zu x %zu x %zu, O(%d), %s, %s%s", job->variant, shape[0],
             shape[1], shape[2], job->settings.components, heisenberg_moves[job->move].name,
             reference.model.disorder ? "quenched, " : "", test_setting_text(setting[i]));
    open_side(job, test_device(setting[i]), &side);
    work(&side, job);
    expect_same_channels(&reference, &side, text);
    expect_same_pairs(&reference, &side, text);
    expect_same_replicas(&reference, &side, text);
    expect_same_steps(&reference, &side, text);
    close_side(&side);
  }
  close_side(&reference);
  gpumc_device_close(&cpu);
}

static struct job job_of(size_t lattice, int components, const char *variant, uint32_t move)
{
  struct job job = {.settings = lattices[lattice],
                    .variant = variant,
                    .move = move,
                    .rounds = (lattice + move) % 2 == 0 ? 10 : 7,
                    .in_field = (lattice + move) % 3 == 1,
                    .samples = 1};
  job.settings.components = components;
  job.settings.coupling = lattice % 4 == 1 ? -0.7 : 1.0;
  job.settings.field = job.in_field || lattice % 3 == 0 ? 0.0 : 0.25;
  return job;
}

static void compare_variant(const char *variant)
{
  size_t number = 0;
  for (size_t lattice = 0; lattice < sizeof lattices / sizeof *lattices; lattice++)
    for (int components = 2; components <= 3; components++)
      for (uint32_t move = 0; move < HEISENBERG_MOVES; move++)
        if (share_has(number++)) {
          const struct job job = job_of(lattice, components, variant, move);
          compare(&job);
        }
}

static void in_double(void **state)
{
  (void)state;
  compare_variant("double");
}

static void in_float(void **state)
{
  (void)state;
  compare_variant("float");
  assert_true(tuned > 0);
}

/* +-J and Gaussian couplings in turns, of one sample or of one for each replica. */
static struct job
quenched_job_of(size_t lattice, int components, const char *variant, uint32_t move)
{
  struct job job = job_of(lattice, components, variant, move);
  job.settings.coupling = 1.0;
  job.settings.disorder = (struct lattice_disorder_settings){
      .couplings = (lattice + move) % 2 == 0 ? LATTICE_BIMODAL : LATTICE_GAUSSIAN,
      .positive = 0.5,
      .seed = 11,
      .first_sample = lattice};
  job.samples = lattice % 4 < 2 ? ROOM : 1;
  return job;
}

static void quenched(void **state)
{
  /* Of each kind; the large ones take long. */
  static const size_t chosen[] = {0, 1, 2, 4, 5, 6, 8, 11, 13, 14, 15, 16};
  static const char *const variants[] = {"double", "float"};
  size_t number = 0;
  (void)state;
  for (size_t v = 0; v < 2; v++)
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
      for (int components = 2; components <= 3; components++)
        for (uint32_t move = 0; move < HEISENBERG_MOVES; move++)
          if (share_has(number++)) {
            const struct job job = quenched_job_of(chosen[i], components, variants[v], move);
            compare(&job);
          }
}

/* Control: another precision has other bits. */
static void another_precision_is_noticed(void **state)
{
  (void)state;
  const struct job one = job_of(7, 3, "double", HEISENBERG_METROPOLIS),
                   other = job_of(7, 3, "float", HEISENBERG_METROPOLIS);
  struct side side[2];
  open_side(&one, test_device(test_setting()), &side[0]);
  open_side(&other, test_device(test_setting()), &side[1]);
  work(&side[0], &one);
  work(&side[1], &other);
  uint8_t *replicas[2] = {replicas_of(&side[0]), replicas_of(&side[1])};
  assert_int_not_equal(memcmp(replicas[0], replicas[1], side[0].model.portable_bytes), 0);
  for (size_t i = 0; i < 2; i++) {
    free(replicas[i]);
    close_side(&side[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_double),
      cmocka_unit_test(in_float),
      cmocka_unit_test(quenched),
      cmocka_unit_test(another_precision_is_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
