#include "support/disks_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"

static const struct gpumc_kernel_ops *
kernel_named(const struct gpumc_model *model, const char *device, const char *variant)
{
  for (size_t k = 0; model->ops->kernels[k] != NULL; k++)
    if (strcmp(model->ops->kernels[k]->device, device) == 0 &&
        strcmp(model->ops->kernels[k]->variant, variant) == 0)
      return model->ops->kernels[k];
  fail_msg("no kernel %s for %s", variant, device);
  return NULL;
}

static size_t one_at_least(size_t n)
{
  return n > 0 ? n : 1;
}

/* Returns the device under test, or the CPU for comparisons with features that only it has. */
static struct gpumc_device
device_for(const struct disks_job *job, bool confine, struct test_setting setting)
{
  struct gpumc_device device;
  struct gpumc_error error = {0};
  if (test_device_is_cpu() || (strcmp(job->variant, "serial") != 0 && confine))
    return test_device(setting);
  assert_ok(gpumc_device_open("cpu", setting.threads, &device, &error), &error);
  return device;
}

void disks_open(const struct disks_job *job, struct test_setting setting, struct disks *disks)
{
  struct gpumc_error error = {0};
  struct hard_disks_options options = job->options;
  struct gpumc_ensemble_plan plan = {
      .runs = one_at_least(job->runs), .capacity = one_at_least(job->replicas), .samples = 1};
  if (options.moves == 0)
    options = (struct hard_disks_options){HARD_DISKS_MOVES_DEFAULT, true, true, true};
  hard_disks_pack_options(&options, job->move_size > 0.0 ? job->move_size : 0.16, &plan.options);
  hard_disks_pack_volume(&job->volume, &plan.options);
  memset(disks, 0, sizeof *disks);
  plan.moved = GPUMC_CONTROL_NONE;
  if (job->beta_pressure > 0.0) {
    plan.move = HARD_DISKS_VOLUME_MOVE;
    plan.moved = 0;
    disks->beta_pressure = calloc(plan.runs, sizeof *disks->beta_pressure);
    assert_non_null(disks->beta_pressure);
    for (size_t m = 0; m < plan.runs; m++)
      disks->beta_pressure[m] = job->beta_pressure;
  }
  disks->device = device_for(job, options.confine, setting);
  disks->count = plan.runs * plan.capacity;
  assert_ok(hard_disks_instance(&job->settings, &disks->model, &error), &error);
  assert_ok(gpumc_ensemble_create(
                kernel_named(&disks->model, disks->device.ops->name, job->variant), &disks->model,
                &disks->device, &plan, job->seed, 10, &disks->ensemble, &error),
            &error);
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++) {
    assert_ok(
        gpumc_device_array(&disks->device, &disks->channel[c], disks->count, "channel", &error),
        &error);
    disks->measured[c] = calloc(disks->count, sizeof(int64_t));
    assert_non_null(disks->measured[c]);
  }
  assert_ok(gpumc_ensemble_start(&disks->ensemble, 0, plan.runs, plan.capacity, &error), &error);
}

void disks_close(struct disks *disks)
{
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++) {
    disks->device.ops->release(&disks->device, disks->channel[c]);
    free(disks->measured[c]);
  }
  free(disks->beta_pressure);
  gpumc_ensemble_free(&disks->ensemble);
  disks->model.ops->destroy(&disks->model);
  if (strcmp(disks->device.ops->name, test_device_name()) != 0)
    gpumc_device_close(&disks->device);
}

void disks_sweep(struct disks *disks, uint32_t sweeps)
{
  struct gpumc_error error = {0};
  const struct gpumc_target target = {.kind = disks->beta_pressure != NULL ? GPUMC_BOLTZMANN
                                                                           : GPUMC_ATHERMAL,
                                      .control = disks->beta_pressure};
  assert_ok(gpumc_ensemble_sweep_target(&disks->ensemble, &target, sweeps, NULL, &error), &error);
}

static void measure(struct disks *disks, size_t channels)
{
  struct gpumc_error error = {0};
  int64_t *channel[HARD_DISKS_CHANNELS] = {NULL};
  memcpy(channel, disks->channel, channels * sizeof *channel);
  assert_ok(disks->ensemble.ops->measure(&disks->ensemble, channel, &error), &error);
  for (size_t c = 0; c < channels; c++)
    assert_ok(disks->device.ops->copy_to_host(&disks->device, disks->measured[c], channel[c],
                                              disks->count * sizeof(int64_t), &error),
              &error);
}

void disks_measure(struct disks *disks)
{
  measure(disks, HARD_DISKS_NUMBERS);
}

void disks_measure_pressure(struct disks *disks)
{
  measure(disks, HARD_DISKS_PSI6_REAL);
}

double disks_value(const struct disks *disks, size_t channel, size_t replica)
{
  return (double)disks->measured[channel][replica] * disks->model.quantum[channel] /
         (double)disks->model.sites;
}

uint8_t *disks_replicas(struct disks *disks)
{
  struct gpumc_error error = {0};
  const size_t bytes = disks->model.portable_bytes, capacity = disks->ensemble.plan.capacity;
  uint8_t *replicas = calloc(disks->count, bytes);
  assert_non_null(replicas);
  for (size_t m = 0; m < disks->ensemble.runs; m++)
    assert_ok(disks->ensemble.ops->get(&disks->ensemble, m, 0, capacity,
                                       replicas + m * capacity * bytes, &error),
              &error);
  return replicas;
}

void disks_set(struct disks *disks, const uint8_t *replicas)
{
  struct gpumc_error error = {0};
  const size_t bytes = disks->model.portable_bytes, capacity = disks->ensemble.plan.capacity;
  for (size_t m = 0; m < disks->ensemble.runs; m++)
    assert_ok(disks->ensemble.ops->set(&disks->ensemble, m, 0, capacity,
                                       replicas + m * capacity * bytes, &error),
              &error);
}

static uint64_t number_at(struct disks *disks, const uint64_t *at)
{
  struct gpumc_error error = {0};
  uint64_t number = 0;
  assert_ok(disks->device.ops->copy_to_host(&disks->device, &number, at, sizeof number, &error),
            &error);
  return number;
}

struct checkerboard_counts disks_counts(struct disks *disks, size_t m)
{
  return (struct checkerboard_counts){number_at(disks, disks->ensemble.accepted + m),
                                      number_at(disks, disks->ensemble.proposed + m)};
}

/* ---- the checker ---- */

const double *disks_places(const uint8_t *portable)
{
  return (const double *)(const void *)portable + HARD_DISKS_PORTABLE_HEAD;
}

/* Bins at least 1 wide along each side. */
struct bins {
  size_t n[2], *first, *next;
  const double *length, *place;
};

static size_t bin_along(const struct bins *bins, size_t d, double x)
{
  const size_t bin = (size_t)(x / bins->length[d] * (double)bins->n[d]);
  return bin < bins->n[d] ? bin : bins->n[d] - 1;
}

static double apart(double a, double b, double length)
{
  return remainder(a - b, length);
}

static bool is_alone(const struct bins *bins, size_t i)
{
  const double *p = bins->place + 2 * i;
  const size_t a = bin_along(bins, 0, p[0]), b = bin_along(bins, 1, p[1]);
  for (size_t v = 0; v < 3; v++)
    for (size_t u = 0; u < 3; u++) {
      const size_t column = (a + u + bins->n[0] - 1) % bins->n[0],
                   row = (b + v + bins->n[1] - 1) % bins->n[1];
      for (size_t j = bins->first[row * bins->n[0] + column]; j != SIZE_MAX; j = bins->next[j])
        if (j != i && hypot(apart(p[0], bins->place[2 * j], bins->length[0]),
                            apart(p[1], bins->place[2 * j + 1], bins->length[1])) < 1.0)
          return false;
    }
  return true;
}

const char *disks_flaw(const struct gpumc_model *model, const uint8_t *portable)
{
  const double *place = disks_places(portable);
  const double *length = place - HARD_DISKS_PORTABLE_HEAD;
  struct bins bins = {
      .n = {(size_t)length[0], (size_t)length[1]}, .length = length, .place = place};
  const char *flaw = NULL;
  bins.first = malloc(bins.n[0] * bins.n[1] * sizeof *bins.first);
  bins.next = malloc(model->sites * sizeof *bins.next);
  assert_non_null(bins.first);
  assert_non_null(bins.next);
  for (size_t c = 0; c < bins.n[0] * bins.n[1]; c++)
    bins.first[c] = SIZE_MAX;
  for (size_t i = 0; i < model->sites && flaw == NULL; i++) {
    const double x = place[2 * i], y = place[2 * i + 1];
    if (!(x >= 0.0 && x < bins.length[0] && y >= 0.0 && y < bins.length[1])) {
      flaw = "a disk outside of the box";
      break;
    }
    const size_t bin = bin_along(&bins, 1, y) * bins.n[0] + bin_along(&bins, 0, x);
    bins.next[i] = bins.first[bin];
    bins.first[bin] = i;
  }
  for (size_t i = 0; i < model->sites && flaw == NULL; i++)
    if (!is_alone(&bins, i))
      flaw = "two disks that overlap";
  free(bins.first);
  free(bins.next);
  return flaw;
}

void disks_expect_sound(struct disks *disks, const char *name)
{
  uint8_t *replicas = disks_replicas(disks);
  for (size_t r = 0; r < disks->count; r++) {
    const char *flaw = disks_flaw(&disks->model, replicas + r * disks->model.portable_bytes);
    if (flaw != NULL)
      fail_msg("%s, replica %zu: %s", name, r, flaw);
  }
  free(replicas);
}

void disks_expect_same(size_t i, const struct disks *disks, const uint8_t *one,
                       const uint8_t *other, const char *when, struct test_setting setting)
{
  for (size_t r = 0; r < disks->count; r++)
    if (memcmp(one + r * disks->model.portable_bytes, other + r * disks->model.portable_bytes,
               disks->model.portable_bytes) != 0)
      fail_msg("case %zu, %s, %s: replica %zu differs", i, when, test_setting_text(setting), r);
}

int disks_ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
