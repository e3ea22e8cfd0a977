/* The work of a GPU's thread for O(n) spins, run on the CPU thread by thread, gives the bits of the
 * CPU's kernels: for every move and precision, lattices with lines of even and odd halves, with
 * fewer and with more sites than share counters, spins in the order of shared and of device memory,
 * uniform and quenched couplings; and for square lattices in tiles of all kinds: with and without
 * shared counters, tiles that fill a lattice and that do not, and tiles larger than it.
 *
 * This needs no GPU. exact_test_heisenberg_kernels_cuda shows that a GPU computes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "support/heisenberg_emulated.h"
#include "support/cases.h"

enum { SWEEPS = 19, RUN = 3, RUNS = 2, FIRST = 5, REPLICAS = 2, SEED = 91 };

static const double beta = 1.3, width = 0.7;

static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},         {.dimension = 1, .shape = {6}},
    {.dimension = 1, .shape = {68}},        {.dimension = 1, .shape = {256}},
    {.dimension = 2, .shape = {2, 2}},      {.dimension = 2, .shape = {4, 2}},
    {.dimension = 2, .shape = {6, 8}},      {.dimension = 2, .shape = {12, 6}},
    {.dimension = 2, .shape = {16, 16}},    {.dimension = 2, .shape = {64, 4}},
    {.dimension = 2, .shape = {40, 10}},    {.dimension = 2, .shape = {128, 64}},
    {.dimension = 3, .shape = {2, 2, 2}},   {.dimension = 3, .shape = {4, 4, 4}},
    {.dimension = 3, .shape = {6, 4, 2}},   {.dimension = 3, .shape = {8, 2, 6}},
    {.dimension = 3, .shape = {12, 10, 6}}, {.dimension = 3, .shape = {16, 16, 16}},
    {.dimension = 3, .shape = {64, 8, 12}}, {.dimension = 3, .shape = {64, 6, 10}},
};

/* Square lattices and their tiles. */
struct tiled {
  size_t shape[2];
  struct heisenberg_emulated_tiles tiles;
};
static const struct tiled tiled[] = {
    {{128, 64}, {16, 16, 1, 7}}, {{128, 64}, {32, 20, 2, 64}},  {{128, 64}, {32, 64, 3, 96}},
    {{192, 30}, {32, 8, 4, 33}}, {{192, 30}, {48, 11, 5, 512}}, {{192, 30}, {16, 30, 8, 256}},
    {{64, 64}, {16, 13, 2, 32}}, {{64, 64}, {4, 12, 1, 32}},    {{64, 64}, {5, 9, 3, 31}},
    {{100, 34}, {8, 8, 1, 8}},   {{100, 34}, {9, 10, 4, 20}},   {{12, 40}, {2, 7, 6, 3}},
    {{8, 6}, {4, 8, 3, 5}},      {{4, 2}, {3, 5, 8, 2}},        {{4, 2}, {1, 1, 1, 1}},
};

/* The replicas of the first run of an ensemble on the CPU, in portable form before and after the
 * sweeps, and their channels; `other` are those of the second run afterwards, with which they are
 * compared if couplings are quenched. */
struct reference {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  double *before, *after, *other;
  int64_t channel[HEISENBERG_CHANNELS][RUNS * REPLICAS], pair[HEISENBERG_PAIRS][REPLICAS];
};

static void get(struct reference *reference, size_t run, double *portable)
{
  struct gpumc_error error = {0};
  assert_int_equal(reference->ensemble.ops->get(&reference->ensemble, run, 0, REPLICAS,
                                                (uint8_t *)portable, &error),
                   GPUMC_OK);
}

static void open_reference(const struct heisenberg_settings *settings,
                           const struct gpumc_kernel_ops *kernel, uint32_t move, uint32_t rounds,
                           struct reference *reference)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                     .capacity = REPLICAS,
                                     .samples = 1,
                                     .first_replica = FIRST,
                                     .all_replicas = FIRST + REPLICAS,
                                     .move = move,
                                     .options = {.own = {2}}};
  memcpy(&plan.options.own[1], &width, sizeof width);
  memset(reference, 0, sizeof *reference);
  assert_int_equal(gpumc_device_open("cpu", 1, &reference->device, &error), GPUMC_OK);
  assert_int_equal(heisenberg_instance(settings, &reference->model, &error), GPUMC_OK);
  assert_int_equal(gpumc_ensemble_create(kernel, &reference->model, &reference->device, &plan, SEED,
                                         rounds, &reference->ensemble, &error),
                   GPUMC_OK);
  assert_int_equal(gpumc_ensemble_start(&reference->ensemble, RUN, RUNS, REPLICAS, &error),
                   GPUMC_OK);
  reference->before = malloc(REPLICAS * reference->model.portable_bytes);
  reference->after = malloc(REPLICAS * reference->model.portable_bytes);
  reference->other = malloc(REPLICAS * reference->model.portable_bytes);
  int64_t *channel[HEISENBERG_CHANNELS], *pair[HEISENBERG_PAIRS];
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    channel[c] = reference->channel[c];
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    pair[k] = reference->pair[k];
  get(reference, 0, reference->before);
  assert_int_equal(gpumc_ensemble_sweep(&reference->ensemble, SWEEPS, beta, channel, &error),
                   GPUMC_OK);
  get(reference, 0, reference->after);
  get(reference, 1, reference->other);
  if (reference->model.disorder)
    assert_int_equal(kernel->compare(&reference->ensemble, 0, 1, 1, pair, &error), GPUMC_OK);
}

static void close_reference(struct reference *reference)
{
  free(reference->before);
  free(reference->after);
  free(reference->other);
  gpumc_ensemble_free(&reference->ensemble);
  reference->model.ops->destroy(&reference->model);
  gpumc_device_close(&reference->device);
}

/* Converts from portable form to spins[n][2][N/2] in the kernel's precision, or back. */
static void
convert(const struct gpumc_model *model, bool single, double *portable, void *spins, bool back)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const size_t n = (size_t)parameters->components;
  for (size_t site = 0; site < model->sites; site++)
    for (size_t a = 0; a < n; a++) {
      const size_t at = a * model->sites + gpumc_checkerboard_position(&parameters->lattice, site);
      double *number = &portable[site * n + a];
      if (back)
        *number = single ? (double)((float *)spins)[at] : ((double *)spins)[at];
      else if (single)
        ((float *)spins)[at] = (float)*number;
      else
        ((double *)spins)[at] = *number;
    }
}

/* Returns how many channels and pairs differ from the CPU's; waves only for pairs. */
static size_t
measured_differences(const struct reference *reference, const struct heisenberg_emulated *job)
{
  const struct gpumc_model *model = &reference->model;
  const struct heisenberg_units units = heisenberg_units_of(model);
  int64_t channels[HEISENBERG_CHANNELS], pairs[HEISENBERG_PAIRS], *channel[HEISENBERG_CHANNELS],
      *pair[HEISENBERG_PAIRS];
  size_t different = 0;
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    channel[c] = c < HEISENBERG_WAVE ? &channels[c] : NULL;
  heisenberg_record(&units, job->sums, channel, 0);
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    different += channel[c] != NULL && channels[c] != reference->channel[c][job->replica - FIRST];
  if (!model->disorder)
    return different;
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    pair[k] = &pairs[k];
  heisenberg_record_pair(&job->wave, job->components, (double)model->sites, job->pair, pair, 0);
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    different += pairs[k] != reference->pair[k][job->replica - FIRST];
  return different;
}

/* Returns the number of components of spins, channels and pairs that differ from the CPU's, plus
 * one if the number of accepted small steps differs. */
static size_t differences(struct heisenberg_settings settings, bool single, uint32_t move,
                          bool in_shared, struct heisenberg_emulated_tiles tiles, uint32_t time)
{
  struct reference reference;
  const uint32_t rounds = settings.shape[0] % 4 == 0 ? 10 : 7;
  open_reference(&settings, single ? &heisenberg_float_cpu : &heisenberg_double_cpu, move, rounds,
                 &reference);
  const struct gpumc_model *model = &reference.model;
  struct gpumc_error error = {0};
  void *spins = malloc(model->portable_bytes), *other = malloc(model->portable_bytes);
  double *couplings = NULL; /* aligned for both precisions */
  const struct lattice_wave wave = heisenberg_wave_of(model);
  int32_t *table = malloc(2 * wave.length * sizeof *table);
  struct heisenberg_sums sums;
  struct heisenberg_pair_sums pair;
  assert_non_null(table);
  lattice_wave_table(&wave, table, table + wave.length);
  if (model->disorder) {
    couplings = malloc(heisenberg_couplings_count(model) * sizeof *couplings);
    assert_non_null(couplings);
    assert_int_equal(heisenberg_couplings_fill(model, 0, 1, single, couplings, &error), GPUMC_OK);
  }
  uint64_t accepted = 0;
  struct heisenberg_emulated job = {
      .lattice = heisenberg_gpu_lattice_of(&heisenberg_parameters(model)->lattice),
      .components = (uint32_t)settings.components,
      .single = single,
      .in_shared = in_shared,
      .tiles = tiles,
      .move = (enum heisenberg_move)move,
      .over_relaxations = 2,
      .sweeps = SWEEPS,
      .time = time,
      .beta = beta,
      .reach = heisenberg_reach(settings.components, width),
      .coupling = settings.coupling * heisenberg_parameters(model)->weight,
      .field = settings.field,
      .random = gpumc_ensemble_random(&reference.ensemble, 0),
      .couplings = couplings,
      .spins = spins,
      .accepted = &accepted,
      .sums = &sums,
      .other = other,
      .wave = wave,
      .cosine = table,
      .sine = table + wave.length,
      .pair = &pair,
  };
  const size_t numbers = model->portable_bytes / sizeof(double);
  size_t different = 0;
  for (job.replica = FIRST; job.replica < FIRST + REPLICAS; job.replica++) {
    const size_t first = (job.replica - FIRST) * numbers;
    convert(model, single, reference.before + first, spins, false);
    convert(model, single, reference.other + first, other, false);
    assert_int_equal(heisenberg_emulate(&job), 0);
    convert(model, single, reference.before + first, spins, true);
    different += measured_differences(&reference, &job);
  }
  for (size_t i = 0; i < REPLICAS * numbers; i++)
    different += memcmp(&reference.before[i], &reference.after[i], sizeof(double)) != 0;
  if (move == HEISENBERG_METROPOLIS_SMALL)
    different += accepted != reference.ensemble.accepted[0];
  free(spins);
  free(other);
  free(table);
  free(couplings);
  close_reference(&reference);
  return different;
}

static struct heisenberg_settings settings_of(size_t lattice, int components)
{
  struct heisenberg_settings settings = lattices[lattice];
  settings.components = components;
  settings.coupling = lattice % 2 == 0 ? 1.0 : -0.8;
  settings.field = lattice % 3 == 0 ? 0.0 : 0.3;
  return settings;
}

static const struct heisenberg_emulated_tiles none;

static void check_threads(bool quenched)
{
  FOR_CASES (cases)
    for (size_t lattice = 0; lattice < sizeof lattices / sizeof *lattices; lattice++)
      for (int components = 2; components <= 3; components++)
        for (uint32_t move = 0; move < HEISENBERG_LOCAL_MOVES; move++)
          for (int way = 0; way < 4; way++) {
            struct heisenberg_settings settings = settings_of(lattice, components);
            if (!cases_take(&cases))
              continue;
            if (quenched)
              settings.disorder = (struct lattice_disorder_settings){
                  .couplings = way % 2 == 0 ? LATTICE_GAUSSIAN : LATTICE_BIMODAL, .positive = 0.5};
            const size_t different =
                differences(settings, way % 2 == 0, move, way / 2 == 0, none, 0);
            if (different > 0)
              fail_msg("%zux%zux%zu, O(%d), move %u, way %d: %zu numbers differ", settings.shape[0],
                       settings.shape[1], settings.shape[2], components, move, way, different);
          }
}

static void threads_have_the_bits_of_the_cpu(void **state)
{
  (void)state;
  check_threads(false);
}

static void threads_have_them_with_quenched_couplings(void **state)
{
  (void)state;
  check_threads(true);
}

static void tiles_have_the_bits_of_the_cpu(void **state)
{
  (void)state;
  FOR_CASES (cases)
    for (size_t i = 0; i < sizeof tiled / sizeof *tiled; i++)
      for (int components = 2; components <= 3; components++)
        for (uint32_t move = 0; move < HEISENBERG_LOCAL_MOVES; move++)
          for (int single = 0; single < 2; single++) {
            if (!cases_take(&cases))
              continue;
            const struct heisenberg_emulated_tiles *tiles = &tiled[i].tiles;
            const struct heisenberg_settings settings = {
                .dimension = 2,
                .shape = {tiled[i].shape[0], tiled[i].shape[1]},
                .components = components,
                .coupling = i % 2 == 0 ? 1.0 : -0.8,
                .field = i % 3 == 0 ? 0.0 : 0.3};
            const size_t different = differences(settings, single != 0, move, true, *tiles, 0);
            if (different > 0)
              fail_msg("%zux%zu, tiles %ux%u, %u sweeps, O(%d), move %u, single %d: %zu differ",
                       settings.shape[0], settings.shape[1], tiles->wide, tiles->high,
                       tiles->sweeps, components, move, single, different);
          }
}

/* Control: other times have other random numbers, and other sweeps of a mixed move. */
static void another_time_is_noticed(void **state)
{
  (void)state;
  for (uint32_t move = 0; move < HEISENBERG_OVER_RELAXATION; move++)
    for (size_t in_tiles = 0; in_tiles < 2; in_tiles++)
      assert_true(differences(settings_of(8, 3), true, move, true,
                              in_tiles != 0 ? tiled[7].tiles : none, 1) > 256);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_have_the_bits_of_the_cpu),
      cmocka_unit_test(threads_have_them_with_quenched_couplings),
      cmocka_unit_test(tiles_have_the_bits_of_the_cpu),
      cmocka_unit_test(another_time_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
