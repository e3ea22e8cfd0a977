/* Parallel tempering: whether the last bins of time differ by more than chance explains, over all
 * samples.
 *
 * Few samples know their own scatter badly: a bound for each comparison by itself that holds the
 * rate of false alarms of a run is so wide that it hides any drift. A drift is in many quantities,
 * bins and temperatures at once, the coldest above all. So they are judged together first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_average.h"
#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/statistics/significance.h"
#include "core/simulation/algorithm.h"

/* Differences below this share of the averages are rounding. */
static const double rounding = 1e-12;

/* Numbers of the samples that are 0 on average in equilibrium, and how large their terms are. */
struct differences {
  double *of_sample; /* [samples] */
  double scale;
};

static void change_of(const struct pt *pt, size_t back, size_t compared, size_t t,
                      struct differences *differences)
{
  const size_t last = pt->timeline.bins - 1;
  const double *after = pt_remembered(pt, last, compared, t);
  const double *before = pt_remembered(pt, last - back, compared, t);
  double squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++) {
    differences->of_sample[s] = after[s] - before[s];
    squares += after[s] * after[s];
  }
  differences->scale = sqrt(squares);
}

/* The violation of the identity, as large as its first mean. */
static void identity_of(const struct pt *pt, size_t t, struct differences *differences)
{
  const struct gpumc_observables *observables = &pt->settings.observables;
  const struct gpumc_selected_quantity *quantity = &observables->quantity[pt->terms.identity];
  const struct gpumc_controls controls = pt_controls(pt, t);
  double mean[GPUMC_MEANS_MAXIMUM] = {0}, squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++) {
    for (size_t i = 0; i < quantity->what->n_uses; i++)
      mean[quantity->uses[i]] = pt_term_mean_of_all(pt, quantity->uses[i], t, s);
    differences->of_sample[s] =
        gpumc_quantity_value(observables, pt->terms.identity, pt->context.model, &controls, mean);
    squares += mean[quantity->uses[0]] * mean[quantity->uses[0]];
  }
  differences->scale = sqrt(squares);
}

static size_t comparisons(const struct pt *pt)
{
  return pt->terms.n_compared * (PT_BINS_COMPARED - 1) +
         (pt->terms.identity < pt->settings.observables.n_quantities);
}

static void compare(const struct pt *pt, size_t which, size_t t, struct differences *differences)
{
  const size_t compared = pt->terms.n_compared;
  if (which < compared * (PT_BINS_COMPARED - 1))
    change_of(pt, 1 + which / compared, which % compared, t, differences);
  else
    identity_of(pt, t, differences);
}

/* Their root sum of squares, or 0 where they are rounding. */
static double size_of(const struct pt *pt, const struct differences *differences)
{
  double squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++)
    squares += differences->of_sample[s] * differences->of_sample[s];
  const double size = sqrt(squares);
  return size > rounding * differences->scale ? size : 0;
}

/* In units of their size, which no sign changes. */
static void add_products(const struct pt *pt, const struct differences *differences, size_t groups,
                         double product[GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS])
{
  const double size = size_of(pt, differences);
  double sum[GPUMC_FLIPS_GROUPS] = {0};
  if (size == 0)
    return;
  for (size_t s = 0; s < pt->settings.samples; s++)
    sum[s % groups] += differences->of_sample[s] / size;
  for (size_t a = 0; a < groups; a++)
    for (size_t b = 0; b < groups; b++)
      product[a][b] += sum[a] * sum[b];
}

/* Pools of the coldest 1, 2, 4 ... temperatures and of all. */
static void
form_pools(const struct pt *pt, struct differences *differences, struct gpumc_flips *flips)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  double product[GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS] = {{0}};
  flips->groups = samples < GPUMC_FLIPS_GROUPS ? samples : GPUMC_FLIPS_GROUPS;
  flips->pools = 0;
  for (size_t coldest = 1; coldest <= temperatures; coldest++) {
    for (size_t which = 0; which < comparisons(pt); which++) {
      compare(pt, which, temperatures - coldest, differences);
      add_products(pt, differences, flips->groups, product);
    }
    if ((coldest & (coldest - 1)) == 0 || coldest == temperatures)
      memcpy(flips->pool[flips->pools++], product, sizeof product);
  }
}

/* Student's t of the differences, one alone being beyond what chance explains in one of so many. */
static bool is_off(const struct pt *pt, const struct differences *differences)
{
  const double samples = (double)pt->settings.samples, size = size_of(pt, differences);
  double mean = 0, squares = 0;
  if (size == 0)
    return false;
  for (size_t s = 0; s < pt->settings.samples; s++)
    mean += differences->of_sample[s] / samples;
  for (size_t s = 0; s < pt->settings.samples; s++)
    squares += pow(differences->of_sample[s] - mean, 2);
  const double t = fabs(mean) / sqrt(squares / (samples * (samples - 1)));
  return gpumc_student_tail(t, samples - 1) < GPUMC_FALSE_ALARMS;
}

/* Once a run drifts, every temperature stands by itself; where none does, those of the pool that
 * drifts. */
static void
mark(const struct pt *pt, size_t strongest, struct differences *differences, double *steady)
{
  const size_t temperatures = pt->settings.temperatures;
  bool any = false;
  for (size_t t = 0; t < temperatures; t++)
    for (size_t which = 0; which < comparisons(pt) && steady[t] != 0; which++) {
      compare(pt, which, t, differences);
      if (is_off(pt, differences)) {
        steady[t] = 0;
        any = true;
      }
    }
  for (size_t coldest = 1; coldest <= temperatures && coldest <= (size_t)1 << strongest; coldest++)
    if (!any)
      steady[temperatures - coldest] = 0;
}

enum gpumc_status pt_find_drift(const struct pt *pt, double *steady, struct gpumc_error *error)
{
  struct differences differences = {0};
  struct gpumc_flips flips;
  size_t strongest;
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    steady[t] = 1;
  if (pt->settings.by_time || pt->timeline.bins < PT_BINS_COMPARED)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_allocate_array(&differences.of_sample, pt->settings.samples,
                                                  "differences between bins", error);
  if (status != GPUMC_OK)
    return status;
  form_pools(pt, &differences, &flips);
  if (gpumc_flips_chance(&flips, &strongest) <= PT_ALARMS_OF_DRIFT)
    mark(pt, strongest, &differences, steady);
  free(differences.of_sample);
  return GPUMC_OK;
}
