/* An ensemble of the two-dimensional Ising model without a configuration. */
#include "support/ising2d_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_ok(enum gpumc_status status, struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("status %d: %s", (int)status, gpumc_error_text(error));
}

struct ising2d_case ising2d_case(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity)
{
  return (struct ising2d_case){
      .kernel = kernel,
      .length_x = length_x,
      .length_y = length_y,
      .coupling = 1.0,
      .capacity = capacity,
      .seed = 1,
      .rounds = 10,
      .threads = 1,
      .isa = gpumc_isa_detect(),
  };
}

void ising2d_open(struct ising2d_fixture *fixture, const struct ising2d_case *with)
{
  struct gpumc_error error = {0};
  const size_t shape[2] = {with->length_x, with->length_y};
  memset(fixture, 0, sizeof *fixture);
  fixture->device.threads = with->threads;
  fixture->device.isa = with->isa;
  expect_ok(ising2d_instance(shape, with->coupling, with->field, &fixture->model, &error), &error);
  expect_ok(gpumc_ensemble_create(with->kernel, &fixture->model, &fixture->device, with->capacity,
                                  with->seed, with->rounds, &fixture->ensemble, &error),
            &error);
}

void ising2d_close(struct ising2d_fixture *fixture)
{
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
}

void ising2d_randomize(struct ising2d_fixture *fixture, size_t size)
{
  struct gpumc_error error = {0};
  expect_ok(gpumc_ensemble_randomize(&fixture->ensemble, 0, size, &error), &error);
}

void ising2d_sweep(struct ising2d_fixture *fixture, uint32_t sweeps, double beta)
{
  struct gpumc_error error = {0};
  expect_ok(gpumc_ensemble_sweep(&fixture->ensemble, sweeps, beta, &error), &error);
}

void ising2d_gather(struct ising2d_fixture *fixture, const uint32_t *parent, size_t size)
{
  struct gpumc_error error = {0};
  expect_ok(fixture->ensemble.ops->gather(&fixture->ensemble, parent, size, &error), &error);
}

void ising2d_measure(struct ising2d_fixture *fixture, int64_t *energy, int64_t *magnetization)
{
  struct gpumc_error error = {0};
  int64_t *const channel[ISING2D_CHANNELS] = {energy, magnetization};
  expect_ok(fixture->ensemble.ops->measure(&fixture->ensemble, channel, &error), &error);
}

uint8_t *ising2d_get(struct ising2d_fixture *fixture)
{
  struct gpumc_error error = {0};
  uint8_t *portable = malloc(fixture->ensemble.size * fixture->model.portable_bytes + 1);
  assert_non_null(portable);
  expect_ok(
      fixture->ensemble.ops->get(&fixture->ensemble, 0, fixture->ensemble.size, portable, &error),
      &error);
  return portable;
}
