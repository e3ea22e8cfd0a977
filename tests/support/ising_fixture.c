/* An ensemble of an Ising spin model without a configuration, on the device under test. */
#include "support/ising_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"

/* Takes any instance, whichever model it belongs to. */
static const struct gpumc_model_ops any_model = {
    .name = "ising",
    .summary = "Ising spins",
    .controls = ising_controls,
    .n_controls = ISING_CONTROLS,
    .coefficients = ising_coefficients,
    .channels = ising_channels,
    .n_channels = ISING_CHANNELS,
    .means = ising_means,
    .n_means = ISING_MEANS,
    .kernels = ising_kernels,
    .destroy = ising_destroy,
};

static bool has_tiles(const struct gpumc_kernel_ops *kernel)
{
  return strcmp(kernel->variant, ising_tiled_cpu.variant) == 0;
}

size_t fixture_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM])
{
  const struct gpumc_device device = test_device(test_setting());
  size_t count = 0;
  for (size_t k = 0; ising_kernels[k] != NULL; k++)
    if (strcmp(ising_kernels[k]->device, device.ops->name) == 0 && !has_tiles(ising_kernels[k])) {
      assert_true(count < FIXTURE_KERNELS_MAXIMUM);
      kernel[count++] = ising_kernels[k];
    }
  assert_true(count >= 2);
  return count;
}

const struct gpumc_kernel_ops *fixture_tiled_kernel(void)
{
  return test_device_is_cpu() ? &ising_tiled_cpu : &ising_tiled_cuda;
}

enum reference_trajectory fixture_trajectory(const struct gpumc_kernel_ops *kernel)
{
  if (strcmp(kernel->trajectory, ising_multispin_cpu.trajectory) == 0)
    return REFERENCE_MULTISPIN;
  if (strcmp(kernel->trajectory, ising_packed_cpu.trajectory) == 0)
    return REFERENCE_PACKED;
  if (!has_tiles(kernel))
    assert_string_equal(kernel->trajectory, ising_spin_cpu.trajectory);
  return REFERENCE_SPIN;
}

struct ising_case fixture_case(const struct gpumc_kernel_ops *kernel, size_t dimension,
                               const size_t *shape, size_t capacity)
{
  return (struct ising_case){
      .kernel = kernel,
      .settings = {.ops = &any_model,
                   .dimension = dimension,
                   .shape = {shape[0], shape[1], dimension == 3 ? shape[2] : 1},
                   .coupling = 1.0},
      .runs = 1,
      .capacity = capacity,
      .seed = 1,
      .rounds = 10,
      .setting = test_setting(),
  };
}

struct ising_case fixture_square(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity)
{
  const size_t shape[2] = {length_x, length_y};
  return fixture_case(kernel, 2, shape, capacity);
}

const char *fixture_text(const struct ising_case *with)
{
  static const char *const distribution[] = {"uniform", "bimodal", "Gaussian", "read"};
  static char text[400];
  const struct ising_settings *settings = &with->settings;
  const struct lattice_disorder_settings *disorder = &settings->disorder;
  snprintf(text, sizeof text,
           "%s on %s, %zu x %zu x %zu, J = %g %s, h = %g and %s of width %g, %s, %u rounds",
           with->kernel->variant, test_setting_text(with->setting), settings->shape[0],
           settings->shape[1], settings->dimension == 3 ? settings->shape[2] : 1,
           settings->coupling, distribution[disorder->couplings], settings->field,
           distribution[disorder->fields], disorder->width, ising_moves[with->update].name,
           with->rounds);
  return text;
}

static enum gpumc_status
create(struct ising_fixture *fixture, const struct ising_case *with, struct gpumc_error *error)
{
  struct gpumc_ensemble_plan plan = {
      .runs = with->runs,
      .capacity = with->capacity,
      .samples = with->samples > 0   ? with->samples
                 : with->sample_each ? with->capacity
                                     : 1,
      .sample_by_run = with->samples > 0,
      .moved = with->moved,
      .clusters = with->exchanges_clusters,
      .copies = with->runs % 2 == 1, /* both ways of `gather` */
      .exchanges = with->exchanges,
      .channels = with->measures_clusters ? ISING_CHANNELS : ISING_STATE_CHANNELS,
      .fixes = with->fixes,
      .fixed = {with->fixed[ISING_BETA], with->fixed[ISING_FIELD]},
      .move = with->update,
      .options = ising_tiling_options(&with->tiling),
  };
  if (with->tunes)
    plan.warm_up = UINT32_MAX;
  else if (with->clusters > 0)
    plan.options.own[0] = with->clusters;
  memset(fixture, 0, sizeof *fixture);
  fixture->device = test_device(with->setting);
  assert_ok(ising_instance(&with->settings, &fixture->model, error), error);
  return gpumc_ensemble_create(with->kernel, &fixture->model, &fixture->device, &plan, with->seed,
                               with->rounds, &fixture->ensemble, error);
}

bool fixture_serves(const struct ising_case *with)
{
  struct gpumc_error error = {0};
  struct ising_fixture fixture;
  const enum gpumc_status status = create(&fixture, with, &error);
  const bool picky = fixture_trajectory(with->kernel) == REFERENCE_PACKED;
  if (status != GPUMC_INVALID || (test_device_is_cpu() && !picky))
    assert_ok(status, &error);
  else if (!picky)
    print_message("%s: %s\n", fixture_text(with), gpumc_error_text(&error));
  gpumc_error_free(&error);
  fixture_close(&fixture);
  return status == GPUMC_OK;
}

void fixture_open(struct ising_fixture *fixture, const struct ising_case *with)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = &fixture->device;
  const size_t count = with->runs * with->capacity;
  const size_t words = with->runs * gpumc_swap_words(with->capacity);
  assert_ok(create(fixture, with, &error), &error);
  for (size_t c = 0; c < ISING_CHANNELS; c++)
    assert_ok(gpumc_device_array(device, &fixture->channel[c], count, "channel", &error), &error);
  for (size_t c = 0; c < ISING_PAIRS; c++)
    assert_ok(gpumc_device_array(device, &fixture->overlap[c], count, "overlap", &error), &error);
  assert_ok(gpumc_device_array(device, &fixture->parent, count, "parents", &error), &error);
  for (size_t i = 0; i < 2; i++)
    assert_ok(gpumc_device_array(device, &fixture->swap[i], words, "exchanges", &error), &error);
}

void fixture_close(struct ising_fixture *fixture)
{
  struct gpumc_device *device = &fixture->device;
  for (size_t c = 0; c < ISING_CHANNELS; c++)
    device->ops->release(device, fixture->channel[c]);
  for (size_t c = 0; c < ISING_PAIRS; c++)
    device->ops->release(device, fixture->overlap[c]);
  device->ops->release(device, fixture->parent);
  for (size_t i = 0; i < 2; i++)
    device->ops->release(device, fixture->swap[i]);
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
}

void fixture_reference(const struct ising_fixture *fixture, const struct ising_case *with, size_t m,
                       size_t replicas, struct reference *reference)
{
  reference_init_model(reference, fixture_trajectory(with->kernel), &fixture->model,
                       with->sample_each ? replicas : 1, replicas);
  reference->random = gpumc_random_make(with->seed, with->first_run + (uint32_t)m, with->rounds);
  reference->update = with->update;
  reference->clusters = with->clusters;
  reference_randomize(reference);
}

void fixture_randomize(struct ising_fixture *fixture, const struct ising_case *with, size_t size)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_start(&fixture->ensemble, with->first_run, with->runs, size, &error),
            &error);
  for (size_t m = 0; m < with->runs && with->tunes; m++)
    fixture->ensemble.step[m] = with->clusters;
}

void fixture_set_sizes(struct ising_fixture *fixture, const uint32_t *size)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_set_sizes(&fixture->ensemble, size, &error), &error);
}

size_t fixture_size(const struct ising_fixture *fixture, size_t m)
{
  struct gpumc_error error = {0};
  uint32_t *size = calloc(fixture->ensemble.runs + 1, sizeof *size);
  assert_non_null(size);
  assert_ok(gpumc_ensemble_get_sizes(&fixture->ensemble, size, &error), &error);
  const size_t found = size[m];
  free(size);
  return found;
}

void fixture_sweep(struct ising_fixture *fixture, uint32_t sweeps, double beta)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_sweep(&fixture->ensemble, sweeps, beta, NULL, &error), &error);
}

void fixture_sweep_each(struct ising_fixture *fixture, uint32_t sweeps, const double *beta)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_sweep_each(&fixture->ensemble, sweeps, beta, NULL, &error), &error);
}

static void bring(struct ising_fixture *fixture, uint32_t *to, const uint32_t *from, size_t count)
{
  struct gpumc_error error = {0};
  assert_ok(
      fixture->device.ops->copy_to_device(&fixture->device, to, from, count * sizeof *from, &error),
      &error);
}

void fixture_gather(struct ising_fixture *fixture, const uint32_t *parent, const uint32_t *size)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &fixture->ensemble;
  bring(fixture, fixture->parent, parent, ensemble->runs * ensemble->plan.capacity);
  fixture_set_sizes(fixture, size);
  assert_ok(ensemble->ops->gather(ensemble, fixture->parent, &error), &error);
}

void fixture_exchange(struct ising_fixture *fixture, const uint32_t *swap)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &fixture->ensemble;
  uint32_t *bits = fixture->swap[fixture->exchanges++ % 2];
  bring(fixture, bits, swap, ensemble->runs * gpumc_swap_words(ensemble->plan.capacity));
  assert_ok(ensemble->ops->exchange(ensemble, bits, &error), &error);
}

/* Copies arrays [rows][capacity] to host memory. */
static void fetch(struct ising_fixture *fixture, size_t arrays, size_t rows, int64_t *const *from,
                  int64_t *const *value)
{
  struct gpumc_error error = {0};
  const size_t count = rows * fixture->ensemble.plan.capacity;
  for (size_t i = 0; i < arrays; i++)
    if (value[i] != NULL)
      assert_ok(fixture->device.ops->copy_to_host(&fixture->device, value[i], from[i],
                                                  count * sizeof *value[i], &error),
                &error);
}

void fixture_overlap(struct ising_fixture *fixture, size_t first, size_t second, size_t runs,
                     int64_t *const value[ISING_PAIRS])
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &fixture->ensemble;
  int64_t *wanted[ISING_PAIRS];
  for (size_t i = 0; i < ISING_PAIRS; i++)
    wanted[i] = value[i] != NULL ? fixture->overlap[i] : NULL;
  assert_ok(ensemble->ops->compare(ensemble, first, second, runs, wanted, &error), &error);
  fetch(fixture, ISING_PAIRS, runs, fixture->overlap, value);
}

static void wanted_channels(struct ising_fixture *fixture, int64_t *const value[ISING_CHANNELS],
                            int64_t *wanted[GPUMC_CHANNELS_MAXIMUM])
{
  memset(wanted, 0, GPUMC_CHANNELS_MAXIMUM * sizeof *wanted);
  for (size_t c = 0; c < ISING_CHANNELS; c++)
    wanted[c] = value[c] != NULL ? fixture->channel[c] : NULL;
}

void fixture_measure_channels(struct ising_fixture *fixture, int64_t *const value[ISING_CHANNELS])
{
  struct gpumc_error error = {0};
  int64_t *wanted[GPUMC_CHANNELS_MAXIMUM];
  wanted_channels(fixture, value, wanted);
  assert_ok(fixture->ensemble.ops->measure(&fixture->ensemble, wanted, &error), &error);
  fetch(fixture, ISING_CHANNELS, fixture->ensemble.runs, fixture->channel, value);
}

void fixture_sweep_and_measure_channels(struct ising_fixture *fixture, uint32_t sweeps,
                                        const double *beta, int64_t *const value[ISING_CHANNELS])
{
  struct gpumc_error error = {0};
  int64_t *wanted[GPUMC_CHANNELS_MAXIMUM];
  wanted_channels(fixture, value, wanted);
  assert_ok(gpumc_ensemble_sweep_each(&fixture->ensemble, sweeps, beta, wanted, &error), &error);
  fetch(fixture, ISING_CHANNELS, fixture->ensemble.runs, fixture->channel, value);
}

void fixture_measure(struct ising_fixture *fixture, int64_t *energy, int64_t *magnetization)
{
  fixture_measure_channels(fixture, (int64_t *const[ISING_CHANNELS]){energy, magnetization});
}

void fixture_sweep_and_measure(struct ising_fixture *fixture, uint32_t sweeps, double beta,
                               int64_t *energy, int64_t *magnetization)
{
  struct gpumc_error error = {0};
  int64_t *const value[ISING_CHANNELS] = {energy, magnetization};
  int64_t *wanted[GPUMC_CHANNELS_MAXIMUM];
  wanted_channels(fixture, value, wanted);
  assert_ok(gpumc_ensemble_sweep(&fixture->ensemble, sweeps, beta, wanted, &error), &error);
  fetch(fixture, ISING_CHANNELS, fixture->ensemble.runs, fixture->channel, value);
}

uint8_t *fixture_get(struct ising_fixture *fixture, size_t m)
{
  struct gpumc_error error = {0};
  const size_t size = fixture_size(fixture, m);
  uint8_t *portable = malloc(size * fixture->model.portable_bytes + 1);
  assert_non_null(portable);
  assert_ok(fixture->ensemble.ops->get(&fixture->ensemble, m, 0, size, portable, &error), &error);
  return portable;
}

size_t fixture_alike(struct ising_fixture *fixture, size_t m, const struct reference *reference)
{
  const size_t bytes = fixture->model.portable_bytes;
  uint8_t *portable = fixture_get(fixture, m), *expected = malloc(bytes);
  bool same = true;
  size_t r = 0;
  assert_non_null(expected);
  for (; r < reference->replicas && same; r += same) {
    reference_portable(reference, r, expected);
    same = memcmp(expected, portable + r * bytes, bytes) == 0;
  }
  free(portable);
  free(expected);
  return r;
}

void fixture_expect_same(struct ising_fixture *fixture, const struct ising_case *with, size_t m,
                         const struct reference *reference)
{
  const size_t r = fixture_alike(fixture, m, reference);
  if (r < reference->replicas)
    fail_msg("%s: replica %zu of run %zu differs after %u sweeps", fixture_text(with), r, m,
             fixture->ensemble.time);
}
