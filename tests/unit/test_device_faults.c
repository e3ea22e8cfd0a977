/* Every device call fails once: the failure is reported unchanged, resources are released, and
 * nothing crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pa/pa_population.h"
#include "algorithms/pt/pt_tempering.h"
#include "models/ising2d/ising2d.h"
#include "support/ising_fixture.h"

enum { RUNS = 2, REPLICAS = 40, CAPACITY = 60, BLOCKS = 4, CALLS_MAXIMUM = 1000 };

static const double beta_step = 0.1;

/* What the wrapped operations know, which has no place in struct gpumc_device. */
static struct {
  const struct gpumc_device_ops *real;
  size_t calls, failing; /* the call with this number fails */
  size_t pieces;         /* pieces of device memory not yet returned */
} faults;

static bool fails(const char *what, struct gpumc_error *error)
{
  const size_t call = faults.calls++;
  if (call == faults.failing)
    (void)gpumc_error_set(error, GPUMC_FAILURE, "call %zu failed: %s", call, what);
  return call == faults.failing;
}

static enum gpumc_status allocate(struct gpumc_device *device, size_t count, size_t size,
                                  const char *what, void **memory, struct gpumc_error *error)
{
  *memory = NULL;
  if (fails("allocate", error))
    return GPUMC_FAILURE;
  enum gpumc_status status = faults.real->allocate(device, count, size, what, memory, error);
  faults.pieces += status == GPUMC_OK;
  return status;
}

static void release(struct gpumc_device *device, void *memory)
{
  faults.pieces -= memory != NULL;
  faults.real->release(device, memory);
}

static enum gpumc_status copy_to_device(struct gpumc_device *device, void *to, const void *from,
                                        size_t bytes, struct gpumc_error *error)
{
  return fails("copy_to_device", error)
             ? GPUMC_FAILURE
             : faults.real->copy_to_device(device, to, from, bytes, error);
}

static enum gpumc_status copy_to_host(struct gpumc_device *device, void *to, const void *from,
                                      size_t bytes, struct gpumc_error *error)
{
  return fails("copy_to_host", error) ? GPUMC_FAILURE
                                      : faults.real->copy_to_host(device, to, from, bytes, error);
}

static enum gpumc_status synchronize(struct gpumc_device *device, struct gpumc_error *error)
{
  return fails("synchronize", error) ? GPUMC_FAILURE : faults.real->synchronize(device, error);
}

/* What the steps below work on. */
struct work {
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  struct pa_population population;
  struct pa_outcome outcome[RUNS];
  struct pt_tempering tempering;
  uint8_t *portable; /* [CAPACITY] replicas on the host */
};

static enum gpumc_status create_ensemble(struct work *work, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan plan = {.runs = RUNS, .capacity = CAPACITY, .samples = 1};
  return gpumc_ensemble_create(work->kernel, &work->model, &work->device, &plan, 7, 10,
                               &work->ensemble, error);
}

static enum gpumc_status create_population(struct work *work, struct gpumc_error *error)
{
  struct pa_population_plan plan = {
      .runs = RUNS,
      .capacity = CAPACITY,
      .founders = REPLICAS,
      .blocks = BLOCKS,
      .n_channels = ISING_STATE_CHANNELS,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND, GPUMC_SUM_ABSOLUTE | GPUMC_SUM_FOURTH},
      .strata = 1,
      .levels = work->model.grid[0].levels,
      .lowest = work->model.grid[0].lowest,
      .spacing = work->model.grid[0].spacing,
  };
  memcpy(plan.bound, work->model.bound, sizeof plan.bound);
  enum gpumc_status status =
      pa_population_create(&work->device, &plan, work->ensemble.size, &work->population, error);
  work->population.runs = RUNS;
  return status;
}

/* Creates tempering with the runs as two temperatures. */
static enum gpumc_status create_tempering(struct work *work, struct gpumc_error *error)
{
  static const double beta[RUNS] = {0.3, 0.4};
  const struct pt_tempering_plan plan = {
      .temperatures = RUNS,
      .copies = 1,
      .samples = CAPACITY,
      .n_channels = ISING_STATE_CHANNELS,
      .n_terms = 1,
      .term = {{GPUMC_MEAN_CHANNEL, ISING_ENERGY, GPUMC_SUM_SECOND, 1.0}},
      .histogram = {[ISING_PAIR_SPIN] = {0, 1, 2}},
      .strata = 1,
  };
  enum gpumc_status status = pt_tempering_create(&work->device, &plan, &work->tempering, error);
  return status == GPUMC_OK ? pt_tempering_set_temperatures(&work->tempering, beta, 1.0, error)
                            : status;
}

static enum gpumc_status temper(struct work *work, struct gpumc_error *error)
{
  struct pt_outcome outcome;
  enum gpumc_status status = pt_tempering_accumulate(&work->tempering, false, error);
  if (status == GPUMC_OK)
    status = pt_tempering_exchange(&work->tempering, gpumc_ensemble_random(&work->ensemble, 0), 0,
                                   error);
  if (status == GPUMC_OK)
    status = pt_tempering_publish(&work->tempering, 0, error);
  return status == GPUMC_OK ? pt_tempering_collect(&work->tempering, 0, &outcome, error) : status;
}

static enum gpumc_status begin(struct work *work, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_ensemble_start(&work->ensemble, 0, RUNS, REPLICAS, error);
  return status == GPUMC_OK ? pa_population_found(&work->population, error) : status;
}

static enum gpumc_status measure(struct work *work, struct gpumc_error *error)
{
  return work->kernel->measure(&work->ensemble, work->population.channel, error);
}

static enum gpumc_status tally(struct work *work, struct gpumc_error *error)
{
  return pa_population_tally(&work->population, 0, true, error);
}

static enum gpumc_status trial(struct work *work, struct gpumc_error *error)
{
  double overlap;
  return pa_population_trial(&work->population, beta_step * work->model.quantum[ISING_ENERGY],
                             &overlap, error);
}

static enum gpumc_status resample(struct work *work, struct gpumc_error *error)
{
  const struct pa_resampling_request request = {
      .method = PA_RESAMPLING_NEAREST_INTEGER,
      .seed = 7,
      .rounds = 10,
      .time = 1,
      .step = beta_step * work->model.quantum[ISING_ENERGY],
      .target = REPLICAS,
  };
  return pa_population_resample(&work->population, &request, error);
}

static enum gpumc_status gather(struct work *work, struct gpumc_error *error)
{
  return work->kernel->gather(&work->ensemble, work->population.parent, error);
}

static enum gpumc_status sweep(struct work *work, struct gpumc_error *error)
{
  return gpumc_ensemble_sweep(&work->ensemble, 3, beta_step, work->population.channel, error);
}

static enum gpumc_status outcomes(struct work *work, struct gpumc_error *error)
{
  enum gpumc_status status = pa_population_publish(&work->population, 0, error);
  return status == GPUMC_OK ? pa_population_collect(&work->population, 0, work->outcome, error)
                            : status;
}

/* Copies every replica to the host and back, as checkpoints do. */
static enum gpumc_status transfer(struct work *work, struct gpumc_error *error)
{
  uint32_t size[RUNS];
  struct gpumc_ensemble *ensemble = &work->ensemble;
  enum gpumc_status status = gpumc_ensemble_get_sizes(ensemble, size, error);
  for (size_t m = 0; status == GPUMC_OK && m < RUNS; m++) {
    assert_in_range(size[m], 1, CAPACITY);
    status = work->kernel->get(ensemble, m, 0, size[m], work->portable, error);
    if (status == GPUMC_OK)
      status = work->kernel->set(ensemble, m, 0, size[m], work->portable, error);
  }
  return status == GPUMC_OK ? gpumc_ensemble_set_sizes(ensemble, size, error) : status;
}

static enum gpumc_status finish(struct work *work, struct gpumc_error *error)
{
  return work->device.ops->synchronize(&work->device, error);
}

static enum gpumc_status every_step(struct work *work, struct gpumc_error *error)
{
  static enum gpumc_status (*const steps[])(struct work *, struct gpumc_error *) = {
      create_ensemble, create_population, create_tempering, begin, measure, tally,
      trial,           resample,          gather,           sweep, temper,  tally,
      outcomes,        transfer,          finish,
  };
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; status == GPUMC_OK && i < sizeof steps / sizeof *steps; i++)
    status = steps[i](work, error);
  return status;
}

static enum gpumc_status work_once(const struct gpumc_kernel_ops *kernel,
                                   const struct gpumc_device_ops *ops, struct gpumc_error *error)
{
  static const size_t shape[2] = {64, 16};
  struct work work = {.kernel = kernel, .device = test_device(test_setting())};
  work.device.ops = ops;
  if (ising2d_instance(shape, 1.0, 0.0, &work.model, error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(error));
  work.portable = calloc(CAPACITY, work.model.portable_bytes);
  assert_non_null(work.portable);
  enum gpumc_status status = every_step(&work, error);
  pt_tempering_free(&work.tempering);
  pa_population_free(&work.population);
  gpumc_ensemble_free(&work.ensemble);
  work.model.ops->destroy(&work.model);
  free(work.portable);
  return status;
}

/* Returns whether the call with this number was made and failed. */
static bool
fails_at(const struct gpumc_kernel_ops *kernel, const struct gpumc_device_ops *ops, size_t failing)
{
  char expected[64];
  struct gpumc_error error = {0};
  faults.calls = 0;
  faults.failing = failing;
  const enum gpumc_status status = work_once(kernel, ops, &error);
  const bool failed = faults.calls > failing;
  snprintf(expected, sizeof expected, "call %zu failed: ", failing);
  if (failed != (status == GPUMC_FAILURE) || (!failed && status != GPUMC_OK))
    fail_msg("%s, call %zu of %zu: status %d, %s", kernel->variant, failing, faults.calls,
             (int)status, gpumc_error_text(&error));
  if (failed && strstr(gpumc_error_text(&error), expected) == NULL)
    fail_msg("%s, call %zu: \"%s\"", kernel->variant, failing, gpumc_error_text(&error));
  if (faults.pieces != 0)
    fail_msg("%s, call %zu: %zu pieces of device memory are left", kernel->variant, failing,
             faults.pieces);
  gpumc_error_free(&error);
  return failed;
}

static void test_every_call_fails_once(void **state)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t count = fixture_kernels(kernel);
  (void)state;
  faults.real = test_device(test_setting()).ops;
  struct gpumc_device_ops ops = *faults.real;
  ops.allocate = allocate;
  ops.release = release;
  ops.copy_to_device = copy_to_device;
  ops.copy_to_host = copy_to_host;
  ops.synchronize = synchronize;
  for (size_t k = 0; k < count; k++) {
    size_t failures = 0;
    while (failures < CALLS_MAXIMUM && fails_at(kernel[k], &ops, failures))
      failures++;
    print_message("%s: %zu calls failed, one at a time\n", kernel[k]->variant, failures);
    /* There are at least the sizes and eight arrays of the population, eight of the tempering, and
     * the sizes both ways. */
    assert_in_range(failures, 20, CALLS_MAXIMUM - 1);
    assert_int_equal(faults.calls, failures);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call_fails_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
