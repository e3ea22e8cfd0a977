/* Jackknife errors, and values and standard errors of functions of means. */
#include "core/statistics/estimate.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Operations on a sum: a difference, a quotient, powers, the elementary functions. */
static const double further_operations = 16;

double gpumc_rounding(double terms, double scale)
{
  return DBL_EPSILON * (terms + further_operations) * fabs(scale);
}

static double largest_of(const double *values, size_t n)
{
  double largest = 0;
  for (size_t i = 0; i < n; i++)
    largest = fmax(largest, fabs(values[i]));
  return largest;
}

struct gpumc_variance gpumc_jackknife(const double *leave_one_out, size_t strata, size_t n)
{
  const size_t count = strata * n;
  return gpumc_jackknife_of(leave_one_out, strata, n,
                            gpumc_rounding((double)count, largest_of(leave_one_out, count)));
}

struct gpumc_variance
gpumc_jackknife_of(const double *leave_one_out, size_t strata, size_t n, double rounding)
{
  struct gpumc_variance variance = {0, 0};
  double squares = 0;
  double fourths = 0;
  if (n < 2)
    return variance;
  for (size_t s = 0; s < strata; s++) {
    const double *theta = leave_one_out + s * n;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
      mean += theta[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
      double square = (theta[i] - mean) * (theta[i] - mean);
      squares += square;
      fourths += square * square;
    }
  }
  if (squares <= (double)(strata * n) * rounding * rounding)
    return variance;
  variance.value = squares * ((double)n - 1) / (double)n;
  variance.freedom = (double)strata * ((double)n - 1);
  if (fourths > 0)
    variance.freedom = fmin(variance.freedom, 3 * squares * squares / fourths);
  return variance;
}

double gpumc_pooled_error(struct gpumc_variance a, struct gpumc_variance b)
{
  double freedom = a.freedom + b.freedom;
  if (!(freedom > 2))
    return NAN;
  return sqrt((a.freedom * a.value + b.freedom * b.value) / (freedom - 2));
}

double gpumc_effective_blocks(const double *sizes, size_t n)
{
  double sum = 0;
  double squares = 0;
  for (size_t i = 0; i < n; i++) {
    sum += sizes[i];
    squares += sizes[i] * sizes[i];
  }
  return squares > 0 ? sum * sum / squares : 0;
}

/* The results without each block in turn, and what the variances need. */
struct work {
  double *rounding; /* [n_results] */
  double *whole;    /* [n_results] from all blocks */
  double *without;  /* [strata][blocks][n_results] */
  double *column;   /* [strata][blocks] for one result */
};

static size_t most_blocks(const struct gpumc_replicates *of, size_t n_of)
{
  size_t most = 0;
  for (size_t i = 0; i < n_of; i++)
    if (of[i].strata * of[i].blocks > most)
      most = of[i].strata * of[i].blocks;
  return most;
}

static void evaluate(const struct gpumc_estimator *estimator, const double *mean, double *result)
{
  if (estimator->results != NULL)
    estimator->results(estimator->state, mean, result);
  else
    memcpy(result, mean, estimator->n_results * sizeof *result);
}

static void leave_out_each(const struct gpumc_estimator *estimator,
                           const struct gpumc_replicates *of, struct work *work)
{
  const size_t n_results = estimator->n_results;
  if (of->stretch != NULL)
    evaluate(estimator, of->mean, work->whole);
  for (size_t b = 0; b < of->strata * of->blocks; b++) {
    double *result = work->without + b * n_results;
    evaluate(estimator, of->without + b * estimator->width, result);
    for (size_t r = 0; r < n_results && of->stretch != NULL; r++)
      result[r] = work->whole[r] + of->stretch[b] * (result[r] - work->whole[r]);
  }
}

static struct gpumc_variance variance_of(const struct gpumc_estimator *estimator,
                                         const struct gpumc_replicates *of, size_t result,
                                         struct work *work)
{
  const size_t count = of->strata * of->blocks;
  for (size_t b = 0; b < count; b++)
    work->column[b] = work->without[b * estimator->n_results + result];
  struct gpumc_variance variance =
      estimator->roundings == NULL
          ? gpumc_jackknife(work->column, of->strata, of->blocks)
          : gpumc_jackknife_of(work->column, of->strata, of->blocks, work->rounding[result]);
  variance.freedom = fmin(variance.freedom, of->freedom);
  return variance;
}

/* variance[n_of][n_results] */
static void find_variances(const struct gpumc_estimator *estimator,
                           const struct gpumc_replicates *of, size_t n_of, struct work *work,
                           struct gpumc_variance *variance)
{
  memset(variance, 0, n_of * estimator->n_results * sizeof *variance);
  for (size_t i = 0; i < n_of; i++) {
    if (of[i].blocks < 2)
      continue;
    leave_out_each(estimator, &of[i], work);
    for (size_t r = 0; r < estimator->n_results; r++)
      variance[i * estimator->n_results + r] = variance_of(estimator, &of[i], r, work);
  }
}

static double error_from(const struct gpumc_estimator *estimator, size_t n_of,
                         const struct gpumc_variance *variance, size_t result)
{
  const struct gpumc_variance none = {0, 0};
  if (estimator->is_known != NULL && estimator->is_known(estimator->state, result))
    return 0;
  return gpumc_pooled_error(n_of > 0 ? variance[result] : none,
                            n_of > 1 ? variance[estimator->n_results + result] : none);
}

enum gpumc_status gpumc_estimate(const struct gpumc_estimator *estimator, const double *mean,
                                 const struct gpumc_replicates *of, size_t n_of, double *value,
                                 double *error_of, struct gpumc_variance *variance,
                                 struct gpumc_error *error)
{
  const size_t n_results = estimator->n_results, blocks = most_blocks(of, n_of);
  struct gpumc_variance *found = NULL;
  struct work work = {.rounding = NULL};
  enum gpumc_status status = GPUMC_OK;
  assert(n_of <= GPUMC_REPLICATES_MAXIMUM);
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.rounding, n_results + 1, "a jackknife", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.whole, n_results + 1, "a jackknife", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&work.without, blocks * n_results + 1, "a jackknife", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&work.column, blocks + 1, "a jackknife", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&found, n_of * n_results + 1, "a jackknife", error));
  evaluate(estimator, mean, value);
  if (estimator->roundings != NULL)
    estimator->roundings(estimator->state, mean, work.rounding);
  find_variances(estimator, of, n_of, &work, found);
  for (size_t r = 0; r < n_results; r++)
    error_of[r] = error_from(estimator, n_of, found, r);
  if (variance != NULL)
    memcpy(variance, found, n_of * n_results * sizeof *variance);
out:
  free(work.rounding);
  free(work.whole);
  free(work.without);
  free(work.column);
  free(found);
  return status;
}

static double weight_of(const double *weight, size_t b)
{
  return weight != NULL ? weight[b] : 1;
}

void gpumc_leave_one_out(const double *sums, const double *weight, size_t blocks, size_t width,
                         double *mean, double *without)
{
  double all = 0;
  memset(mean, 0, width * sizeof *mean);
  for (size_t b = 0; b < blocks; b++) {
    all += weight_of(weight, b);
    for (size_t i = 0; i < width; i++)
      mean[i] += sums[b * width + i];
  }
  for (size_t b = 0; b < blocks; b++)
    for (size_t i = 0; i < width; i++)
      without[b * width + i] = (mean[i] - sums[b * width + i]) / (all - weight_of(weight, b));
  for (size_t i = 0; i < width; i++)
    mean[i] /= all;
}

void gpumc_stretch(const double *weight, size_t blocks, double *stretch)
{
  double all = 0;
  for (size_t b = 0; b < blocks; b++)
    all += weight[b];
  for (size_t b = 0; b < blocks; b++)
    stretch[b] = sqrt((all / weight[b] - 1) / (double)(blocks - 1));
}
