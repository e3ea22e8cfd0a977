#include "support/kernel_side.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"

struct gpumc_device side_reference_device(void)
{
  struct gpumc_error error = {0};
  struct gpumc_device device;
  assert_ok(gpumc_device_open("cpu", 1, &device, &error), &error);
  return device;
}

static const struct gpumc_kernel_ops *
kernel_of(const struct gpumc_model_ops *model, const char *device, const char *variant)
{
  for (size_t k = 0; model->kernels[k] != NULL; k++)
    if (strcmp(model->kernels[k]->device, device) == 0 &&
        strcmp(model->kernels[k]->variant, variant) == 0)
      return model->kernels[k];
  fail_msg("%s has no kernel %s for %s", model->name, variant, device);
  return NULL;
}

/* Returns the numbers per replica of a channel, or of a part of it. */
static size_t width_of(const struct gpumc_model *model, size_t channel)
{
  return gpumc_channel_is_profile(&model->ops->channels[channel]) ? model->profile[channel].width
                                                                  : 1;
}

/* Returns whether other moves than those of the plan are needed for a channel. */
static bool is_of_others(const struct kernel_side *side, size_t channel)
{
  const struct gpumc_kernel_ops *kernel = side->ensemble.ops;
  bool of_moves = false, measured = false;
  for (uint32_t move = 0; move < kernel->n_moves; move++)
    if ((kernel->moves[move].measures >> channel & 1) != 0) {
      of_moves = true;
      measured = measured || gpumc_plan_makes(&side->ensemble.plan, move);
    }
  return of_moves && !measured;
}

static void allocate(struct kernel_side *side)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = &side->device;
  const struct gpumc_model_ops *ops = side->model.ops;
  const size_t replicas = side->runs * side->room;
  for (size_t c = 0; c < ops->n_channels; c++)
    if (!is_of_others(side, c))
      assert_ok(gpumc_device_array(device, &side->channel[c], replicas * width_of(&side->model, c),
                                   "channel", &error),
                &error);
  for (size_t k = 0; k < ops->n_pairs; k++)
    assert_ok(gpumc_device_array(device, &side->pair[k], side->room, "pairs", &error), &error);
  assert_ok(gpumc_device_array(device, &side->parent, replicas, "parents", &error), &error);
  assert_ok(gpumc_device_array(device, &side->swap, side->runs * gpumc_swap_words(side->room),
                               "swaps", &error),
            &error);
}

void side_open(struct kernel_side *side, struct gpumc_device device, const char *variant,
               const struct gpumc_ensemble_plan *plan, uint64_t seed, uint32_t rounds,
               uint32_t first_run, const uint32_t *size)
{
  struct gpumc_error error = {0};
  const struct gpumc_model model = side->model;
  struct gpumc_ensemble_plan measured = *plan;
  measured.channels = model.ops->n_channels;
  *side = (struct kernel_side){
      .device = device, .model = model, .runs = plan->runs, .room = plan->capacity};
  assert_true(plan->runs <= SIDE_RUNS_MAXIMUM);
  memcpy(side->size, size, plan->runs * sizeof *size);
  assert_ok(gpumc_ensemble_create(kernel_of(model.ops, device.ops->name, variant), &side->model,
                                  &side->device, &measured, seed, rounds, &side->ensemble, &error),
            &error);
  allocate(side);
  assert_ok(gpumc_ensemble_start(&side->ensemble, first_run, side->runs, side->room, &error),
            &error);
  assert_ok(gpumc_ensemble_set_sizes(&side->ensemble, size, &error), &error);
}

void side_close(struct kernel_side *side)
{
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    side->device.ops->release(&side->device, side->channel[c]);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    side->device.ops->release(&side->device, side->pair[k]);
  side->device.ops->release(&side->device, side->parent);
  side->device.ops->release(&side->device, side->swap);
  gpumc_ensemble_free(&side->ensemble);
  side->model.ops->destroy(&side->model);
}

static void bring(struct kernel_side *side, uint32_t *to, const uint32_t *from, size_t count)
{
  struct gpumc_error error = {0};
  assert_ok(side->device.ops->copy_to_device(&side->device, to, from, count * sizeof *from, &error),
            &error);
}

void side_gather(struct kernel_side *side, const uint32_t *parent)
{
  struct gpumc_error error = {0};
  bring(side, side->parent, parent, side->runs * side->room);
  assert_ok(side->ensemble.ops->gather(&side->ensemble, side->parent, &error), &error);
}

void side_exchange(struct kernel_side *side, const uint32_t *swap)
{
  struct gpumc_error error = {0};
  bring(side, side->swap, swap, side->runs * gpumc_swap_words(side->room));
  assert_ok(side->ensemble.ops->exchange(&side->ensemble, side->swap, &error), &error);
}

uint8_t *side_replicas(struct kernel_side *side)
{
  struct gpumc_error error = {0};
  const size_t bytes = side->model.portable_bytes;
  uint8_t *portable = calloc(side->runs * side->room, bytes);
  assert_non_null(portable);
  for (size_t m = 0; m < side->runs; m++)
    assert_ok(side->ensemble.ops->get(&side->ensemble, m, 0, side->size[m],
                                      portable + m * side->room * bytes, &error),
              &error);
  return portable;
}

void side_read(struct kernel_side *side, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(side->device.ops->copy_to_host(&side->device, to, from, bytes, &error), &error);
}

void sides_expect_replicas(struct kernel_side *side, struct kernel_side *reference,
                           const char *text)
{
  uint8_t *found = side_replicas(side), *expected = side_replicas(reference);
  const size_t bytes = side->model.portable_bytes;
  for (size_t i = 0; i < side->runs * side->room; i++)
    if (memcmp(found + i * bytes, expected + i * bytes, bytes) != 0)
      fail_msg("%s: replica %zu of run %zu differs", text, i % side->room, i / side->room);
  free(found);
  free(expected);
}

static void
expect_channel(struct kernel_side *side, struct kernel_side *reference, size_t c, const char *text)
{
  const size_t room = side->room * width_of(&side->model, c), numbers = side->runs * room;
  int64_t *found = calloc(numbers, sizeof *found), *expected = calloc(numbers, sizeof *expected);
  assert_non_null(found);
  assert_non_null(expected);
  side_read(side, found, side->channel[c], numbers * sizeof *found);
  side_read(reference, expected, reference->channel[c], numbers * sizeof *expected);
  for (size_t m = 0; m < side->runs; m++)
    for (size_t k = m * room; k < m * room + side->size[m] * (room / side->room); k++)
      if (found[k] != expected[k])
        fail_msg("%s: %s, number %zu of run %zu, is %lld, should be %lld", text,
                 side->model.ops->channels[c].label.name, k - m * room, m, (long long)found[k],
                 (long long)expected[k]);
  free(found);
  free(expected);
}

void sides_expect_channels(struct kernel_side *side, struct kernel_side *reference,
                           const char *text)
{
  for (size_t c = 0; c < side->model.ops->n_channels; c++)
    if (side->channel[c] != NULL)
      expect_channel(side, reference, c, text);
}

void sides_expect_pairs(struct kernel_side *side, struct kernel_side *reference, const char *text)
{
  for (size_t k = 0; k < side->model.ops->n_pairs; k++) {
    int64_t *value[2] = {calloc(side->room, sizeof **value), calloc(side->room, sizeof **value)};
    assert_true(value[0] != NULL && value[1] != NULL);
    side_read(side, value[0], side->pair[k], side->room * sizeof **value);
    side_read(reference, value[1], reference->pair[k], side->room * sizeof **value);
    if (memcmp(value[0], value[1], side->room * sizeof **value) != 0)
      fail_msg("%s: %s differs", text, side->model.ops->pairs[k].label.name);
    free(value[0]);
    free(value[1]);
  }
}

static void expect_counts(struct kernel_side *side, struct kernel_side *reference,
                          const uint64_t *of_side, const uint64_t *of_reference, const char *what,
                          const char *text)
{
  uint64_t count[2][SIDE_RUNS_MAXIMUM];
  if (of_reference == NULL)
    return;
  side_read(side, count[0], of_side, side->runs * sizeof *of_side);
  side_read(reference, count[1], of_reference, side->runs * sizeof *of_side);
  for (size_t m = 0; m < side->runs; m++)
    if (count[0][m] != count[1][m])
      fail_msg("%s: %llu steps of run %zu are %s, should be %llu", text,
               (unsigned long long)count[0][m], m, what, (unsigned long long)count[1][m]);
}

void sides_expect_steps(struct kernel_side *side, struct kernel_side *reference, const char *text)
{
  const struct gpumc_ensemble *one = &side->ensemble, *other = &reference->ensemble;
  if (other->step == NULL)
    return;
  for (size_t m = 0; m < side->runs; m++)
    if (one->step[m] != other->step[m])
      fail_msg("%s: steps of run %zu differ", text, m);
  expect_counts(side, reference, one->accepted, other->accepted, "accepted", text);
  expect_counts(side, reference, one->proposed, other->proposed, "proposed", text);
}
