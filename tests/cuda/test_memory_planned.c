/* The memory that kernels on a GPU allocate is what their plan says, to the byte: for Heisenberg
 * spins that walk, whose structure factor is measured, whose copies are compared, or that are swept
 * by tiles, and for walkers of the Ising model. Control: with more levels, or without something
 * that is requested, the plan falls short.
 *
 * This needs no GPU, and uses none: memory is the host's, counted, and no driver is launched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/model.h"
#include "models/heisenberg/heisenberg.h"
#include "models/ising/ising.h"
#include "models/ising2d/ising2d.h"
#include "support/status.h"

enum { RUNS = 4, REPLICAS = 40, LEVELS = 77 };

/* ---- memory ---- */

/* Bytes of the current allocations, and the most that there have been at once. */
static size_t held, most;

/* Precedes an allocation: its bytes. */
union header {
  size_t bytes;
  max_align_t align;
};

static enum gpumc_status allocate(struct gpumc_device *device, size_t count, size_t size,
                                  const char *what, void **memory, struct gpumc_error *error)
{
  (void)device, (void)what, (void)error;
  union header *header = calloc(1, sizeof *header + count * size);
  assert_non_null(header);
  header->bytes = count * size;
  held += header->bytes;
  most = held > most ? held : most;
  *memory = header + 1;
  return GPUMC_OK;
}

static void release(struct gpumc_device *device, void *memory)
{
  (void)device;
  if (memory == NULL)
    return;
  union header *header = (union header *)memory - 1;
  held -= header->bytes;
  free(header);
}

static enum gpumc_status copy(struct gpumc_device *device, void *to, const void *from, size_t bytes,
                              struct gpumc_error *error)
{
  (void)device, (void)error;
  memcpy(to, from, bytes);
  return GPUMC_OK;
}

static const struct gpumc_device_ops counting = {.name = "cuda",
                                                 .kind = GPUMC_KIND_CUDA,
                                                 .allocate = allocate,
                                                 .release = release,
                                                 .copy_to_device = copy,
                                                 .copy_to_host = copy};

/* ---- ensembles ---- */

/* Asks an ensemble for something; it does not matter here that no GPU does it. */
typedef enum gpumc_status ask(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

static enum gpumc_status walk(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  static const int64_t lowest[RUNS], log_weight[RUNS * LEVELS];
  static const uint64_t time[RUNS];
  static const uint32_t steps[RUNS] = {1, 1, 1, 1};
  const bool field = ensemble->plan.moved != 0;
  const struct gpumc_weight_table table = {.channel = field ? 1 : 0,
                                           .lowest = lowest,
                                           .spacing = field ? 2 : 4,
                                           .levels = LEVELS,
                                           .log_weight = log_weight,
                                           .time = time,
                                           .steps = steps,
                                           .parts = 1};
  const struct gpumc_target target = {
      .kind = GPUMC_TABULATED, .control = field ? ensemble->control : NULL, .table = &table};
  return ensemble->ops->walk(ensemble, &target, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_target target = {.control = ensemble->control};
  return ensemble->ops->sweep(ensemble, &target, 2, NULL, error);
}

static enum gpumc_status measure(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  static int64_t value[RUNS * REPLICAS];
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  for (size_t c = 0; c < ensemble->plan.channels; c++)
    channel[c] = value;
  return ensemble->ops->measure(ensemble, channel, error);
}

static enum gpumc_status compare(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  static int64_t value[RUNS * REPLICAS];
  int64_t *const pair[GPUMC_PAIRS_MAXIMUM] = {value, value, value, value};
  return ensemble->ops->compare(ensemble, 0, RUNS / 2, RUNS / 2, pair, error);
}

/* Returns the most memory that an ensemble with such a plan holds when all of that is requested. */
static size_t taken(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                    const struct gpumc_ensemble_plan *plan, ask *const *asked)
{
  double control[RUNS * GPUMC_CONTROLS_MAXIMUM] = {0};
  uint32_t size[RUNS] = {REPLICAS, REPLICAS, REPLICAS, REPLICAS};
  struct gpumc_device device = {.ops = &counting, .threads = 1};
  struct gpumc_ensemble ensemble = {.ops = kernel,
                                    .model = model,
                                    .device = &device,
                                    .rounds = 10,
                                    .runs = RUNS,
                                    .plan = *plan,
                                    .control = control,
                                    .size = size,
                                    .expected = REPLICAS};
  struct gpumc_error error = {0};
  held = most = 0;
  assert_ok(kernel->create(&ensemble, &error), &error);
  for (; *asked != NULL; asked++) {
    assert_int_not_equal((*asked)(&ensemble, &error), GPUMC_INVALID);
    gpumc_error_free(&error);
  }
  kernel->destroy(&ensemble);
  assert_int_equal(held, 0);
  return most;
}

static size_t planned(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                      const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_device device = {.ops = &counting, .threads = 1};
  return kernel->bytes(model, &device, plan);
}

static const struct gpumc_kernel_ops *const kernels[] = {&heisenberg_double_cuda,
                                                         &heisenberg_float_cuda};

static void open_heisenberg_of(size_t side, struct gpumc_model *model, bool disorder)
{
  struct heisenberg_settings settings = {
      .dimension = 2, .shape = {4, side}, .components = 3, .coupling = 1};
  struct gpumc_error error = {0};
  if (disorder)
    settings.disorder = (struct lattice_disorder_settings){
        .couplings = LATTICE_GAUSSIAN, .seed = 4, .first_sample = 7};
  memset(model, 0, sizeof *model);
  assert_ok(heisenberg_instance(&settings, model, &error), &error);
}

static void open_heisenberg(struct gpumc_model *model, bool disorder)
{
  open_heisenberg_of(6, model, disorder);
}

/* ---- tests ---- */

static void heisenberg_spins_that_walk(void **state)
{
  ask *const asked[] = {walk, measure, walk, NULL};
  struct gpumc_model model;
  (void)state;
  open_heisenberg(&model, false);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (size_t channels = 1; channels <= HEISENBERG_CHANNELS; channels += HEISENBERG_WAVE) {
      struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                         .capacity = REPLICAS,
                                         .samples = 1,
                                         .walks = true,
                                         .levels = LEVELS,
                                         .channels = channels};
      const size_t bytes = taken(kernels[k], &model, &plan, asked);
      assert_int_equal(planned(kernels[k], &model, &plan), bytes);
      plan.levels = LEVELS / 2;
      assert_true(planned(kernels[k], &model, &plan) < bytes || channels > HEISENBERG_WAVE);
    }
  model.ops->destroy(&model);
}

static void heisenberg_spins_that_are_measured_and_compared(void **state)
{
  ask *const measured[] = {measure, NULL}, *const compared[] = {measure, compare, NULL};
  struct gpumc_model model;
  (void)state;
  open_heisenberg(&model, true);
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    struct gpumc_ensemble_plan plan = {
        .runs = RUNS, .capacity = REPLICAS, .samples = REPLICAS, .channels = HEISENBERG_CHANNELS};
    const size_t without = taken(kernels[k], &model, &plan, measured);
    assert_int_equal(planned(kernels[k], &model, &plan), without);
    const size_t with = taken(kernels[k], &model, &plan, compared);
    assert_true(planned(kernels[k], &model, &plan) < with);
    plan.compared = RUNS / 2;
    assert_int_equal(planned(kernels[k], &model, &plan), with);
    plan.compared = 0;
    plan.channels = 1;
    assert_true(planned(kernels[k], &model, &plan) < without);
  }
  model.ops->destroy(&model);
}

/* All replicas at once, then a part of them. Control: lattices that are just too small for tiles
 * have no second buffer, and neither do those with quenched couplings. */
static void heisenberg_spins_that_are_swept_by_tiles(void **state)
{
  static const size_t least[] = {1026, 2050}; /* of kernels[] */
  ask *const asked[] = {sweep, measure, sweep, NULL}, *const unswept[] = {measure, NULL};
  (void)state;
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (size_t side = least[k] - 2; side <= 4 * least[k] - 2; side += 3 * least[k])
      for (size_t more = 0; more <= 2; more += 2)
        for (int disorder = 0; disorder < 2; disorder++) {
          const bool tiles = side + more >= least[k] && disorder == 0;
          const struct gpumc_ensemble_plan plan = {
              .runs = RUNS, .capacity = REPLICAS, .samples = 1, .channels = 1};
          struct gpumc_model model;
          open_heisenberg_of(side + more, &model, disorder != 0);
          const size_t bytes = taken(kernels[k], &model, &plan, asked);
          assert_int_equal(planned(kernels[k], &model, &plan), bytes);
          assert_int_equal(taken(kernels[k], &model, &plan, unswept) < bytes, tiles);
          model.ops->destroy(&model);
        }
}

/* By the energy and by the magnetization. */
static void walkers_of_the_ising_model(void **state)
{
  ask *const asked[] = {walk, NULL};
  struct gpumc_model model = {0};
  struct gpumc_error error = {0};
  const struct ising_settings settings = {
      .ops = &gpumc_model_ising2d, .dimension = 2, .shape = {4, 6}, .coupling = 1};
  (void)state;
  assert_ok(ising_instance(&settings, &model, &error), &error);
  for (size_t moved = 0; moved < 2; moved++) {
    struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                       .capacity = REPLICAS,
                                       .samples = 1,
                                       .walks = true,
                                       .levels = LEVELS,
                                       .moved = moved};
    const size_t bytes = taken(&ising_walker_cuda, &model, &plan, asked);
    assert_int_equal(planned(&ising_walker_cuda, &model, &plan), bytes);
    plan.levels = LEVELS / 2;
    assert_true(planned(&ising_walker_cuda, &model, &plan) < bytes);
  }
  model.ops->destroy(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heisenberg_spins_that_walk),
      cmocka_unit_test(heisenberg_spins_that_are_measured_and_compared),
      cmocka_unit_test(heisenberg_spins_that_are_swept_by_tiles),
      cmocka_unit_test(walkers_of_the_ising_model),
  };
  /* Drivers are given host memory: they must not find a GPU. */
  if (setenv("CUDA_VISIBLE_DEVICES", "", 1) != 0)
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
