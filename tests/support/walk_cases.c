/* Cases for tests of walks under a tabulated weight. */
#include "support/walk_cases.h"

const struct gpumc_kernel_ops *walk_kernel(void)
{
  return test_device_is_cpu() ? &ising_walker_cpu : &ising_walker_cuda;
}

struct ising_case walk_ising_case(const struct walk_case *of, size_t replicas)
{
  struct ising_case with = fixture_case(walk_kernel(), of->dimension, of->shape, replicas);
  with.rounds = of->rounds != 0 ? of->rounds : with.rounds;
  with.settings.coupling = of->coupling != 0 ? of->coupling : with.settings.coupling;
  with.settings.field = of->field;
  with.settings.disorder.couplings = of->couplings;
  with.settings.disorder.positive = 0.5;
  if (of->random_field > 0) {
    with.settings.disorder.fields = LATTICE_BIMODAL;
    with.settings.disorder.width = of->random_field;
  }
  return with;
}

struct gpumc_grid walk_levels(const struct gpumc_model *model, const struct walk_case *of)
{
  const int64_t apart = gpumc_model_bins(model, of->channel, 0).spacing;
  return gpumc_model_bins(model, of->channel, apart * of->wider);
}

void walk_open(struct ising_fixture *fixture, struct ising_case with, struct walk_setting how)
{
  with.setting = how.setting;
  fixture_open(fixture, &with);
  fixture_randomize(fixture, &with, with.capacity);
  if (!how.shared)
    fixture->ensemble.device->shared_bytes = 0;
}

/* A CPU has only one memory. */
static void for_memories(const struct walk_case *of, struct test_setting setting, walk_body *body)
{
  for (int shared = test_device_is_cpu(); shared < 2; shared++)
    body(of, (struct walk_setting){setting, shared});
}

void walk_for_every_setting(const struct walk_case *cases, size_t count, walk_body *body)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting);
  for (size_t c = 0; c < count; c++)
    for (size_t s = 0; s < settings; s++)
      for_memories(&cases[c], setting[s], body);
}

void walk_for_both_memories(const struct walk_case *cases, size_t count, walk_body *body)
{
  for (size_t c = 0; c < count; c++)
    for_memories(&cases[c], test_setting(), body);
}
