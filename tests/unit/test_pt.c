/* Parallel tempering: the order of events, the temperatures and their tuning, the bins of overlaps,
 * and what follows from averages. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "algorithms/pt/pt_state.h"
#include "core/simulation/registry.h"
#include "models/ising2d/ising2d.h"

static void assert_near(double value, double expected, double tolerance)
{
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%.17g, expected %.17g +- %g", value, expected, tolerance);
}

static const struct pt_settings plain = {.samples = 8,
                                         .copies = 2,
                                         .temperatures = 3,
                                         .exchange = true,
                                         .round_sweeps = 10,
                                         .measure_rounds = 1,
                                         .measurements = 100,
                                         .blocks = 1};

static struct pt_timeline timeline_of(const struct pt_settings *settings)
{
  struct pt_timeline timeline;
  struct gpumc_error error = {0};
  if (pt_timeline_make(settings, &timeline, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return timeline;
}

/* Returns the rounds of the stretches of a bin of time. */
static uint64_t rounds_of_bin(const struct pt_timeline *timeline, size_t bin)
{
  uint64_t rounds = 0;
  for (size_t i = 0; i < timeline->count; i++)
    if (timeline->stretch[i].phase == PT_MEASUREMENT && timeline->stretch[i].index == bin)
      rounds += timeline->stretch[i].rounds;
  return rounds;
}

static void test_last_bin_is_the_last_half(void **state)
{
  (void)state;
  static const uint64_t measurements[] = {1, 2, 3, 7, 8, 100, 1000, 4194303, 4294967295u};
  for (size_t i = 0; i < sizeof measurements / sizeof *measurements; i++)
    for (size_t blocks = 1; blocks <= 32; blocks += 31) {
      struct pt_settings settings = plain;
      settings.measurements = measurements[i];
      settings.blocks = blocks;
      settings.measure_rounds = 3;
      struct pt_timeline timeline = timeline_of(&settings);
      uint64_t left = measurements[i];
      assert_int_equal(timeline.rounds, 3 * measurements[i]);
      for (size_t bin = timeline.bins; bin-- > 0;) {
        const uint64_t length = bin > 0 ? left - left / 2 : left;
        assert_int_equal(rounds_of_bin(&timeline, bin), 3 * length);
        left -= length;
      }
      assert_int_equal(left, 0);
      pt_timeline_free(&timeline);
    }
}

static void test_blocks_of_a_bin_are_equal(void **state)
{
  (void)state;
  struct pt_settings settings = plain;
  settings.measurements = 1001;
  settings.blocks = 32;
  struct pt_timeline timeline = timeline_of(&settings);
  size_t blocks = 0;
  for (size_t i = 0; i < timeline.count; i++)
    if (timeline.stretch[i].index + 1 == timeline.bins) {
      blocks++;
      assert_in_range(timeline.stretch[i].rounds, 501 / 32, 501 / 32 + 1);
    }
  assert_int_equal(blocks, 32);
  pt_timeline_free(&timeline);
}

static void test_tuning_comes_first_and_doubles(void **state)
{
  (void)state;
  struct pt_settings settings = plain;
  settings.tuning_rounds = 100;
  settings.tuning_iterations = 4;
  settings.thermalization_rounds = 17;
  struct pt_timeline timeline = timeline_of(&settings);
  static const uint64_t rounds[] = {7, 14, 27, 54};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(timeline.stretch[i].phase, PT_TUNING);
    assert_int_equal(timeline.stretch[i].index, i);
    assert_int_equal(timeline.stretch[i].rounds, rounds[i]);
  }
  assert_int_equal(timeline.stretch[4].phase, PT_THERMALIZATION);
  assert_int_equal(timeline.stretch[4].rounds, 17);
  assert_int_equal(timeline.stretch[5].phase, PT_MEASUREMENT);
  pt_timeline_free(&timeline);
}

/* Even and odd pairs exchange in turn. */
static void test_every_iteration_has_two_rounds(void **state)
{
  (void)state;
  struct pt_settings settings = plain;
  settings.tuning_rounds = 12;
  settings.tuning_iterations = 6;
  struct pt_timeline timeline = timeline_of(&settings);
  static const uint64_t rounds[] = {2, 2, 2, 2, 4, 7};
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(timeline.stretch[i].phase, PT_TUNING);
    assert_int_equal(timeline.stretch[i].rounds, rounds[i]);
  }
  pt_timeline_free(&timeline);
}

/* Pairs of one exchange are disjoint, and any two copies meet once before the first pair comes
 * back. */
static void test_all_copies_exchange_clusters(void **state)
{
  (void)state;
  for (size_t copies = 2; copies <= PT_COPIES_MAXIMUM; copies++) {
    const size_t period = copies % 2 == 0 ? copies - 1 : copies;
    bool met[PT_COPIES_MAXIMUM][PT_COPIES_MAXIMUM] = {{false}};
    for (uint64_t n = 7 * period; n < 8 * period; n++) {
      bool taken[PT_COPIES_MAXIMUM] = {false};
      for (size_t p = 0; p < pt_cluster_pairs(copies); p++) {
        const struct pt_pair pair = pt_cluster_pair(copies, n, p);
        assert_true(pair.first < pair.second && pair.second < copies);
        assert_false(taken[pair.first] || taken[pair.second] || met[pair.first][pair.second]);
        taken[pair.first] = taken[pair.second] = met[pair.first][pair.second] = true;
      }
    }
    for (size_t c = 0; c < copies; c++)
      for (size_t d = c + 1; d < copies; d++)
        assert_true(met[c][d]);
  }
}

static void test_units_are_bounded_by_updates(void **state)
{
  (void)state;
  struct gpumc_model model = {.sites = 512};
  struct pt_settings settings = plain;
  const uint64_t unit = pt_unit_sweeps(&settings, &model, 1);
  assert_true((double)unit * pt_sweep_updates(&settings, &model) <= 0x1p31);
  assert_int_equal(unit % settings.round_sweeps, 0);
  settings.round_sweeps = 1000000;
  assert_in_range(pt_unit_sweeps(&settings, &model, 1), unit, unit + 9);
  settings.samples = 1000000;
  settings.temperatures = 100;
  assert_int_equal(pt_unit_sweeps(&settings, &model, 1), 1);
}

/* A process has fewer updates to do in a sweep. */
static void test_units_are_those_of_a_process(void **state)
{
  (void)state;
  const struct gpumc_model model = {.sites = 512};
  struct pt_settings half = plain;
  half.samples = plain.samples / 2;
  assert_int_equal(pt_unit_sweeps(&plain, &model, 2), pt_unit_sweeps(&half, &model, 1));
  assert_true(pt_unit_sweeps(&plain, &model, 2) > pt_unit_sweeps(&plain, &model, 1));
}

/* Averages take time in proportion to samples and temperatures, as sweeps do. */
static void test_sweeps_ahead_are_as_many_for_any_number_of_samples(void **state)
{
  (void)state;
  const struct gpumc_model model = {.sites = 1000};
  struct pt_settings settings = plain;
  const uint64_t ahead = pt_sweeps_ahead(&settings, &model);
  assert_int_equal(ahead, 263); /* 2^19 updates of 1000 sites in two copies */
  settings.samples = 100000;
  settings.temperatures = 30;
  assert_int_equal(pt_sweeps_ahead(&settings, &model), ahead);
  settings.blocks = 256;
  assert_int_equal(pt_sweeps_ahead(&settings, &model), 67109); /* 2^27 updates */
}

enum { STEPS = 7 };

/* Counts the exchanges expected in this many trials if steps of the ladder have the length given by
 * a density of 3 + 40 beta per unit of beta. */
static void count_exchanges(const double *beta, uint64_t tried, uint64_t *accepted)
{
  for (size_t t = 0; t < STEPS; t++) {
    const double low = beta[t], high = beta[t + 1];
    const double length = 3.0 * (high - low) + 20.0 * (high * high - low * low);
    accepted[t] = (uint64_t)((double)tried * erfc(0.5 * length));
  }
}

static void test_tuning_equalizes_acceptance(void **state)
{
  (void)state;
  double beta[STEPS + 1], before[STEPS + 1];
  uint64_t accepted[STEPS];
  const uint64_t tried = 100000000;
  for (size_t t = 0; t <= STEPS; t++)
    beta[t] = fma((double)t, 0.5 / STEPS, 0.1);
  struct pt_counts counts = {.rounds = {tried, tried}, .accepted = accepted};
  for (int i = 0; i < 12; i++) {
    for (size_t t = 0; t <= STEPS; t++)
      before[t] = beta[t];
    count_exchanges(beta, tried, accepted);
    pt_ladder_adjust(&counts, 1.0, STEPS + 1, before, beta);
  }
  count_exchanges(beta, tried, accepted);
  const double mean = pt_acceptance(counts.rounds, accepted, 1.0, STEPS + 1, 0);
  for (size_t t = 0; t < STEPS; t++)
    assert_near(pt_acceptance(counts.rounds, accepted, 1.0, STEPS + 1, t), mean, 0.01 * mean);
  assert_true(isnan(pt_acceptance(counts.rounds, accepted, 1.0, STEPS + 1, STEPS)));
  assert_true(beta[0] == before[0] && beta[STEPS] == before[STEPS]);
}

/* Steps that never or always exchange: the temperatures stay in order. */
static void test_tuning_survives_extreme_acceptance(void **state)
{
  (void)state;
  const double before[STEPS + 1] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
  double beta[STEPS + 1];
  uint64_t accepted[STEPS] = {0, 1000000, 1000000, 0, 0, 1000000, 3};
  struct pt_counts counts = {.rounds = {1000000, 1000000}, .accepted = accepted};
  pt_ladder_adjust(&counts, 1.0, STEPS + 1, before, beta);
  for (size_t t = 0; t < STEPS; t++)
    assert_true(beta[t] < beta[t + 1]);
  counts.rounds[0] = counts.rounds[1] = 1000000000000;
  for (size_t t = 0; t < STEPS; t++)
    accepted[t] = 1000000000000;
  pt_ladder_adjust(&counts, 1.0, STEPS + 1, before, beta);
  for (size_t t = 0; t <= STEPS; t++)
    assert_near(beta[t], before[t], 1e-12);
  counts.rounds[0] = counts.rounds[1] = 0;
  for (size_t t = 0; t < STEPS; t++)
    accepted[t] = 0;
  pt_ladder_adjust(&counts, 1.0, STEPS + 1, before, beta);
  for (size_t t = 0; t <= STEPS; t++)
    assert_near(beta[t], before[t], 1e-12);
}

/* Temperatures that are adjacent floating-point numbers are left alone and not made equal. */
static void test_tuning_keeps_temperatures_apart(void **state)
{
  (void)state;
  double before[STEPS + 1] = {0.5}, beta[STEPS + 1];
  uint64_t accepted[STEPS] = {0, 9, 9, 9, 9, 9, 9};
  for (size_t t = 0; t < STEPS; t++)
    before[t + 1] = nextafter(before[t], 1.0);
  struct pt_counts counts = {.rounds = {10, 10}, .accepted = accepted};
  pt_ladder_adjust(&counts, 1.0, STEPS + 1, before, beta);
  for (size_t t = 0; t <= STEPS; t++)
    assert_true(beta[t] == before[t]);
}

static void test_ladder_ascends_or_is_refused(void **state)
{
  (void)state;
  const double good[] = {0.0, 0x1p-1074, 0.5}, equal[] = {0.1, 0.1, 0.2};
  const double no_number[] = {0.1, NAN, 0.2}, infinite[] = {0.1, INFINITY, INFINITY};
  assert_true(pt_ladder_ascends(good, 3));
  assert_false(pt_ladder_ascends(equal, 3));
  assert_false(pt_ladder_ascends(no_number, 3));
  assert_false(pt_ladder_ascends(infinite, 2));
  assert_false(pt_ladder_ascends(infinite, 3));
}

static struct pt_histogram histogram_of(int64_t bound, int64_t spacing)
{
  struct gpumc_model_ops ops = {.n_channels = 1};
  struct gpumc_model model = {.ops = &ops, .sites = 1};
  struct pt_terms terms = {.count = 0};
  struct pt_settings settings = plain;
  struct pt_tempering_plan plan;
  settings.observables.pairs = true;
  model.pair[ISING_PAIR_SPIN] = model.pair[ISING_PAIR_LINK] =
      (struct gpumc_pair_scale){1.0 / (double)bound, bound, spacing};
  pt_tempering_plan(&settings, &model, &terms, &plan);
  return plan.histogram[ISING_PAIR_LINK];
}

static void test_bins_of_overlaps_are_symmetric(void **state)
{
  (void)state;
  static const int64_t spacings[] = {2, 4};
  for (int64_t bound = 4; bound < 6000; bound += 4)
    for (size_t i = 0; i < 2; i++) {
      const int64_t spacing = spacings[i];
      const struct pt_histogram bins = histogram_of(bound, spacing);
      const int64_t last = (bound - bins.lowest) / bins.spacing;
      const int64_t first = (-bound - bins.lowest) / bins.spacing;
      assert_true(bins.lowest <= -bound && bins.bins <= 1025);
      assert_true(bins.spacing % spacing == 0);
      assert_true(first + last == (int64_t)bins.bins - 1 && first == 0);
      for (int64_t value = -bound; value <= bound; value += spacing)
        assert_int_equal((value - bins.lowest) / bins.spacing +
                             (-value - bins.lowest) / bins.spacing,
                         (int64_t)bins.bins - 1);
    }
  assert_int_equal(histogram_of(512, 2).bins, 513);
}

struct quantities_job {
  struct gpumc_model model;
  struct gpumc_observables observables;
  struct pt_terms terms;
};

static double
value_of(const struct quantities_job *job, const char *name, double beta, const double *mean)
{
  const struct gpumc_controls controls = gpumc_controls_at(job->model.control, 0, beta);
  for (size_t q = 0; q < job->observables.n_quantities; q++)
    if (strcmp(gpumc_quantity_label(&job->observables, q).name, name) == 0)
      return gpumc_quantity_value(&job->observables, q, &job->model, &controls, mean);
  fail_msg("no quantity %s", name);
  return NAN;
}

static bool has_quantity(const struct gpumc_observables *observables, const char *name)
{
  bool found = false;
  for (size_t q = 0; q < observables->n_quantities; q++)
    found = found || strcmp(gpumc_quantity_label(observables, q).name, name) == 0;
  return found;
}

/* The places of the terms are those of the model's means. All means are selected except products of
 * energies, because there is no disorder, and those of clusters, which are not requested. */
static void test_quantities_follow_from_averages(void **state)
{
  (void)state;
  struct quantities_job job;
  struct gpumc_error error = {0};
  const size_t shape[2] = {4, 4};
  double mean[GPUMC_MEANS_MAXIMUM] = {0};
  if (ising2d_instance(shape, 1.0, 0.0, &job.model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  job.observables = gpumc_observables_select(job.model.ops, 0, &job.model);
  assert_false(has_quantity(&job.observables, "gaussian_identity"));
  ((struct ising_parameters *)job.model.parameters)->bond_variance = 2.0;
  job.observables = gpumc_observables_select(job.model.ops, 1u << ISING_WAVE, &job.model);
  pt_terms_make(&job.model, &job.observables, &job.terms);
  assert_int_equal(job.terms.count, ISING_MEANS - 5);
  for (size_t k = 0; k < job.terms.count; k++) {
    const size_t place = (size_t)(job.observables.mean[k] - ising_means);
    static const double means[ISING_MEANS] = {
        [ISING_MEAN_ENERGY] = -1.0,      [ISING_MEAN_ENERGY2] = 1.25,
        [ISING_MEAN_OVERLAP2] = 0.5,     [ISING_MEAN_OVERLAP4] = 0.375,
        [ISING_MEAN_OVERLAP_WAVE] = 1.6, [ISING_MEAN_LINK_OVERLAP] = 0.75};
    mean[k] = means[place];
  }
  assert_near(value_of(&job, "energy", 2.0, mean), -1.0, 0.0);
  assert_near(value_of(&job, "specific_heat", 2.0, mean), 16.0, 1e-12);
  assert_near(value_of(&job, "binder_overlap", 2.0, mean), 0.75, 1e-12);
  assert_near(value_of(&job, "chi_overlap", 2.0, mean), 8.0, 1e-12);
  assert_near(value_of(&job, "correlation_length_overlap", 2.0, mean),
              2.0 / (2.0 * sin(0.25 * acos(-1.0))), 1e-12);
  assert_near(value_of(&job, "gaussian_identity", 2.0, mean), 0.0, 1e-12);
  job.model.ops->destroy(&job.model);
}

/* What is compared between time bins: with pairs their slow means, without them the
 * magnetization. */
static void test_slow_means_are_compared(void **state)
{
  (void)state;
  struct quantities_job job;
  struct gpumc_error error = {0};
  static const char *const names[2][PT_COMPARED_MAXIMUM] = {{"energy", "abs_magnetization", NULL},
                                                            {"energy", "overlap2", "link_overlap"}};
  if (ising2d_instance((size_t[2]){4, 4}, 1.0, 0.0, &job.model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  for (size_t paired = 0; paired < 2; paired++) {
    job.observables = gpumc_observables_select(job.model.ops, 0, paired ? &job.model : NULL);
    pt_terms_make(&job.model, &job.observables, &job.terms);
    assert_int_equal(job.terms.n_compared, 2 + paired);
    for (size_t i = 0; i < job.terms.n_compared; i++)
      assert_string_equal(job.observables.mean[job.terms.compared[i]]->label.name,
                          names[paired][i]);
    assert_int_equal(job.terms.identity, job.observables.n_quantities);
  }
  job.model.ops->destroy(&job.model);
}

/* Fluctuations of samples are too low without products of two copies, and their labels say so. */
static void test_labels_of_what_is_low(void **state)
{
  (void)state;
  struct quantities_job job;
  struct gpumc_error error = {0};
  struct pt_labels labels;
  if (ising2d_instance((size_t[2]){4, 4}, 1.0, 0.0, &job.model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  for (unsigned i = 0; i < 4; i++) {
    const bool paired = i % 2 == 1;
    job.model.disorder = i / 2 == 1;
    job.observables = gpumc_observables_select(job.model.ops, 0, paired ? &job.model : NULL);
    pt_labels_make(&job.model, &job.observables, &labels);
    assert_string_equal(labels.of[1].name, "specific_heat");
    assert_string_equal(labels.of[1].long_name,
                        job.model.disorder && !paired
                            ? "specific heat per site, too low by 2 tau/n for n measurements"
                            : "specific heat per site");
  }
  job.model.ops->destroy(&job.model);
}

/* A model with overlaps of sites but no bonds or waves. */
static void test_overlaps_of_sites_alone(void **state)
{
  (void)state;
  struct quantities_job job = {.model = {.ops = &gpumc_model_ising2d, .sites = 9}};
  struct pt_settings settings = plain;
  struct pt_tempering_plan plan;
  struct ising_parameters parameters = {.bond_variance = 2.0};
  job.model.parameters = &parameters;
  job.model.quantum[0] = 1.0;
  job.model.pair[ISING_PAIR_SPIN] = (struct gpumc_pair_scale){1.0 / 9, 9, 1};
  settings.observables = job.observables = gpumc_observables_select(job.model.ops, 0, &job.model);
  pt_terms_make(&job.model, &job.observables, &job.terms);
  pt_tempering_plan(&settings, &job.model, &job.terms, &plan);
  assert_true(has_quantity(&job.observables, "overlap2"));
  assert_false(has_quantity(&job.observables, "link_overlap"));
  assert_false(has_quantity(&job.observables, "overlap_structure_factor"));
  assert_false(has_quantity(&job.observables, "correlation_length_overlap"));
  assert_false(has_quantity(&job.observables, "gaussian_identity"));
  assert_int_equal(plan.histogram[ISING_PAIR_SPIN].bins, 19);
  assert_int_equal(plan.histogram[ISING_PAIR_LINK].bins, 0);
  for (size_t k = 0; k < plan.n_terms; k++)
    if (plan.term[k].source == GPUMC_MEAN_PAIR)
      assert_int_equal(plan.term[k].index, ISING_PAIR_SPIN);
}

/* Returns the number of mistakes in a block with this many copies. */
static size_t mistakes_with_copies(const struct gpumc_model *model, const char *copies)
{
  struct gpumc_report report = {0};
  char block[256];
  snprintf(block, sizeof block,
           "{\"update\":\"metropolis\",\"beta\":{\"values\":[0.1,0.2]},\"sweeps\":100,"
           "\"thermalization\":0,\"exchange_every\":1,\"samples\":4,\"structure_factor\":false,"
           "\"replicas\":%s}",
           copies);
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  assert_non_null(params.values);
  const struct gpumc_subject subject = {.model = model->ops, .instance = model};
  gpumc_checks_run(pt_checks, GPUMC_NEEDS_INSTANCE, &params, &subject, &report);
  const size_t count = report.calls;
  gpumc_report_free(&report);
  cJSON_Delete((cJSON *)params.values);
  return count;
}

/* A kernel without overlaps can be used; if copies are requested, a message says that there are
 * none. */
static void test_models_without_overlaps(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops kernel = {
      .absent = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_EXCHANGE};
  const struct gpumc_model_ops ops = {.name = "plain", .n_channels = 1};
  struct gpumc_model model = {.ops = &ops, .sites = 16, .quantum = {1.0}, .samples = 1};
  struct gpumc_text missing = {0};
  assert_true(gpumc_kernel_serves(&kernel, gpumc_algorithm_find("pt"), &missing));
  gpumc_text_free(&missing);
  assert_int_equal(mistakes_with_copies(&model, "1"), 0);
  assert_int_equal(mistakes_with_copies(&model, "2"), 1);
  model.pair[ISING_PAIR_SPIN] = (struct gpumc_pair_scale){1.0 / 16, 16, 2};
  assert_int_equal(mistakes_with_copies(&model, "2"), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_last_bin_is_the_last_half),
      cmocka_unit_test(test_blocks_of_a_bin_are_equal),
      cmocka_unit_test(test_tuning_comes_first_and_doubles),
      cmocka_unit_test(test_every_iteration_has_two_rounds),
      cmocka_unit_test(test_all_copies_exchange_clusters),
      cmocka_unit_test(test_units_are_bounded_by_updates),
      cmocka_unit_test(test_units_are_those_of_a_process),
      cmocka_unit_test(test_sweeps_ahead_are_as_many_for_any_number_of_samples),
      cmocka_unit_test(test_tuning_equalizes_acceptance),
      cmocka_unit_test(test_tuning_survives_extreme_acceptance),
      cmocka_unit_test(test_tuning_keeps_temperatures_apart),
      cmocka_unit_test(test_ladder_ascends_or_is_refused),
      cmocka_unit_test(test_bins_of_overlaps_are_symmetric),
      cmocka_unit_test(test_quantities_follow_from_averages),
      cmocka_unit_test(test_slow_means_are_compared),
      cmocka_unit_test(test_labels_of_what_is_low),
      cmocka_unit_test(test_overlaps_of_sites_alone),
      cmocka_unit_test(test_models_without_overlaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
