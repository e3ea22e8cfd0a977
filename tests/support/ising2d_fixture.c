/* An ensemble of the two-dimensional Ising model without a configuration, on the device under test.
 */
#include "support/ising2d_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_ok(enum gpumc_status status, struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("status %d: %s", (int)status, gpumc_error_text(error));
}

size_t ising2d_kernels(const struct gpumc_kernel_ops *kernel[ISING2D_KERNELS_MAXIMUM])
{
  const struct gpumc_device device = test_device(test_setting());
  size_t count = 0;
  for (size_t k = 0; gpumc_model_ising2d.kernels[k] != NULL; k++)
    if (strcmp(gpumc_model_ising2d.kernels[k]->device, device.ops->name) == 0) {
      assert_true(count < ISING2D_KERNELS_MAXIMUM);
      kernel[count++] = gpumc_model_ising2d.kernels[k];
    }
  assert_true(count >= 2);
  return count;
}

enum reference_trajectory ising2d_trajectory(const struct gpumc_kernel_ops *kernel)
{
  if (strcmp(kernel->trajectory, ising_multispin_cpu.trajectory) == 0)
    return REFERENCE_MULTISPIN;
  assert_string_equal(kernel->trajectory, ising_spin_cpu.trajectory);
  return REFERENCE_SPIN;
}

struct ising2d_case ising2d_case(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity)
{
  return (struct ising2d_case){
      .kernel = kernel,
      .length_x = length_x,
      .length_y = length_y,
      .coupling = 1.0,
      .runs = 1,
      .capacity = capacity,
      .seed = 1,
      .rounds = 10,
      .setting = test_setting(),
  };
}

const char *ising2d_case_text(const struct ising2d_case *with)
{
  static char text[320];
  snprintf(text, sizeof text, "%s on %s, %zu x %zu, J = %g, h = %g, %u rounds",
           with->kernel->variant, test_setting_text(with->setting), with->length_x, with->length_y,
           with->coupling, with->field, with->rounds);
  return text;
}

static enum gpumc_status
create(struct ising2d_fixture *fixture, const struct ising2d_case *with, struct gpumc_error *error)
{
  const size_t shape[2] = {with->length_x, with->length_y};
  const struct gpumc_ensemble_plan plan = {
      .runs = with->runs, .capacity = with->capacity, .samples = 1};
  memset(fixture, 0, sizeof *fixture);
  fixture->device = test_device(with->setting);
  expect_ok(ising2d_instance(shape, with->coupling, with->field, &fixture->model, error), error);
  return gpumc_ensemble_create(with->kernel, &fixture->model, &fixture->device, &plan, with->seed,
                               with->rounds, &fixture->ensemble, error);
}

bool ising2d_serves(const struct ising2d_case *with)
{
  struct gpumc_error error = {0};
  struct ising2d_fixture fixture;
  const enum gpumc_status status = create(&fixture, with, &error);
  if (status != GPUMC_INVALID || test_device_is_cpu())
    expect_ok(status, &error);
  else
    print_message("%s: %s\n", ising2d_case_text(with), gpumc_error_text(&error));
  gpumc_error_free(&error);
  ising2d_close(&fixture);
  return status == GPUMC_OK;
}

void ising2d_open(struct ising2d_fixture *fixture, const struct ising2d_case *with)
{
  struct gpumc_error error = {0};
  const size_t count = with->runs * with->capacity;
  expect_ok(create(fixture, with, &error), &error);
  for (size_t c = 0; c < ISING_CHANNELS; c++)
    expect_ok(gpumc_device_array(&fixture->device, &fixture->channel[c], count, "channel", &error),
              &error);
  expect_ok(gpumc_device_array(&fixture->device, &fixture->parent, count, "parents", &error),
            &error);
}

void ising2d_close(struct ising2d_fixture *fixture)
{
  const struct gpumc_device_ops *ops = fixture->device.ops;
  for (size_t c = 0; c < ISING_CHANNELS; c++)
    ops->release(&fixture->device, fixture->channel[c]);
  ops->release(&fixture->device, fixture->parent);
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
}

void ising2d_randomize(struct ising2d_fixture *fixture, const struct ising2d_case *with,
                       size_t size)
{
  struct gpumc_error error = {0};
  expect_ok(gpumc_ensemble_randomize(&fixture->ensemble, with->first_run, with->runs, size, &error),
            &error);
}

void ising2d_set_sizes(struct ising2d_fixture *fixture, const uint32_t *size)
{
  struct gpumc_error error = {0};
  expect_ok(gpumc_ensemble_set_sizes(&fixture->ensemble, size, &error), &error);
}

size_t ising2d_size(const struct ising2d_fixture *fixture, size_t m)
{
  struct gpumc_error error = {0};
  uint32_t *size = calloc(fixture->ensemble.runs + 1, sizeof *size);
  assert_non_null(size);
  expect_ok(gpumc_ensemble_get_sizes(&fixture->ensemble, size, &error), &error);
  const size_t found = size[m];
  free(size);
  return found;
}

void ising2d_sweep(struct ising2d_fixture *fixture, uint32_t sweeps, double beta)
{
  struct gpumc_error error = {0};
  expect_ok(gpumc_ensemble_sweep(&fixture->ensemble, sweeps, beta, NULL, &error), &error);
}

void ising2d_gather(struct ising2d_fixture *fixture, const uint32_t *parent, const uint32_t *size)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &fixture->ensemble;
  const size_t bytes = ensemble->runs * ensemble->plan.capacity * sizeof *parent;
  expect_ok(
      fixture->device.ops->copy_to_device(&fixture->device, fixture->parent, parent, bytes, &error),
      &error);
  ising2d_set_sizes(fixture, size);
  expect_ok(ensemble->ops->gather(ensemble, fixture->parent, &error), &error);
}

static void fetch(struct ising2d_fixture *fixture, enum ising_channel channel, int64_t *values)
{
  struct gpumc_error error = {0};
  const size_t count = fixture->ensemble.runs * fixture->ensemble.plan.capacity;
  if (values != NULL)
    expect_ok(fixture->device.ops->copy_to_host(&fixture->device, values, fixture->channel[channel],
                                                count * sizeof *values, &error),
              &error);
}

void ising2d_measure(struct ising2d_fixture *fixture, int64_t *energy, int64_t *magnetization)
{
  struct gpumc_error error = {0};
  int64_t *const channel[ISING_CHANNELS] = {
      energy != NULL ? fixture->channel[ISING_ENERGY] : NULL,
      magnetization != NULL ? fixture->channel[ISING_MAGNETIZATION] : NULL};
  expect_ok(fixture->ensemble.ops->measure(&fixture->ensemble, channel, &error), &error);
  fetch(fixture, ISING_ENERGY, energy);
  fetch(fixture, ISING_MAGNETIZATION, magnetization);
}

void ising2d_sweep_and_measure(struct ising2d_fixture *fixture, uint32_t sweeps, double beta,
                               int64_t *energy, int64_t *magnetization)
{
  struct gpumc_error error = {0};
  int64_t *const channel[ISING_CHANNELS] = {
      energy != NULL ? fixture->channel[ISING_ENERGY] : NULL,
      magnetization != NULL ? fixture->channel[ISING_MAGNETIZATION] : NULL};
  expect_ok(gpumc_ensemble_sweep(&fixture->ensemble, sweeps, beta, channel, &error), &error);
  fetch(fixture, ISING_ENERGY, energy);
  fetch(fixture, ISING_MAGNETIZATION, magnetization);
}

uint8_t *ising2d_get(struct ising2d_fixture *fixture, size_t m)
{
  struct gpumc_error error = {0};
  const size_t size = ising2d_size(fixture, m);
  uint8_t *portable = malloc(size * fixture->model.portable_bytes + 1);
  assert_non_null(portable);
  expect_ok(fixture->ensemble.ops->get(&fixture->ensemble, m, 0, size, portable, &error), &error);
  return portable;
}
