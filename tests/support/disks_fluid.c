#include "support/disks_fluid.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/statistics/significance.h"

enum { BINS = 8 };

static void evaluate(const double *value, size_t replicas, double *mean, double *error2)
{
  double sum = 0.0, square = 0.0;
  for (size_t r = 0; r < replicas; r++)
    sum += value[r];
  *mean = sum / (double)replicas;
  for (size_t r = 0; r < replicas; r++)
    square += (value[r] - *mean) * (value[r] - *mean);
  *error2 = square / (double)replicas / (double)(replicas - 1);
}

void disks_fluid_sample(const struct disks_fluid_job *job, struct test_setting setting,
                        struct disks_fluid *fluid)
{
  struct disks disks;
  double *mean[HARD_DISKS_NUMBERS];
  *fluid = (struct disks_fluid){.job = *job};
  fluid->order = calloc(job->replicas * job->samples, sizeof *fluid->order);
  assert_non_null(fluid->order);
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++) {
    mean[c] = calloc(job->replicas, sizeof *mean[c]);
    assert_non_null(mean[c]);
  }
  disks_open(&(struct disks_job){.settings = {.particles = job->particles,
                                              .packing_fraction = job->packing_fraction,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_LATTICE},
                                 .variant = job->variant,
                                 .move_size = job->move_size,
                                 .replicas = job->replicas,
                                 .seed = job->seed},
             setting, &disks);
  disks_sweep(&disks, job->warm_up);
  for (size_t s = 0; s < job->samples; s++) {
    disks_sweep(&disks, job->interval);
    disks_measure(&disks);
    for (size_t r = 0; r < job->replicas; r++) {
      for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++)
        mean[c][r] += disks_value(&disks, c, r) / (double)job->samples;
      fluid->order[s * job->replicas + r] = disks_value(&disks, HARD_DISKS_PSI6, r);
    }
  }
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++) {
    evaluate(mean[c], job->replicas, &fluid->mean[c], &fluid->error2[c]);
    free(mean[c]);
  }
  disks_expect_sound(&disks, job->variant);
  disks_close(&disks);
}

static double same_distribution(const struct disks_fluid *one, const struct disks_fluid *other)
{
  const size_t n = one->job.replicas * one->job.samples, share = n / BINS;
  double chi_square = 0.0;
  size_t j = 0;
  qsort(one->order, n, sizeof *one->order, disks_ascending);
  qsort(other->order, n, sizeof *other->order, disks_ascending);
  for (size_t bin = 1; bin <= BINS; bin++) {
    const size_t begin = j;
    while (j < n && (bin == BINS || other->order[j] < one->order[bin * share]))
      j++;
    const double difference = (double)share - (double)(j - begin);
    chi_square += difference * difference / ((double)share + (double)(j - begin));
  }
  return gpumc_fisher_tail(chi_square / (BINS - 1), BINS - 1, 1e9);
}

double disks_fluid_probability(const struct disks_fluid *one, const struct disks_fluid *other,
                               const char **what)
{
  double least = same_distribution(one, other);
  *what = "the distribution of |Psi_6|";
  for (size_t c = HARD_DISKS_VOLUME_MOVED + 1; c < HARD_DISKS_NUMBERS; c++) {
    const double off = (other->mean[c] - one->mean[c]) / sqrt(other->error2[c] + one->error2[c]);
    const double probability = 2.0 * gpumc_student_tail(fabs(off), (double)one->job.replicas - 1);
    if (probability < least) {
      least = probability;
      *what = hard_disks_channels[c].label.name;
    }
  }
  return least;
}

void disks_fluid_expect_same(const struct disks_fluid *one, const struct disks_fluid *other,
                             double gate)
{
  const char *what;
  const double probability = disks_fluid_probability(one, other, &what);
  if (!(probability > gate))
    fail_msg("%zu disks at %g, %s: %s and %s agree with a probability of %.2g only",
             one->job.particles, one->job.packing_fraction, what, one->job.variant,
             other->job.variant, probability);
}
