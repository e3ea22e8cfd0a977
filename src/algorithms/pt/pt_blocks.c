/* Parallel tempering of few samples: whether blocks of time are long enough for errors. */
#include "algorithms/pt/pt_average.h"
#include "core/statistics/series.h"

/* Mean of a term in one block. */
static double block_mean(const struct pt *pt, size_t term, size_t t, size_t s, size_t b)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  const size_t place = ((b * pt->terms.count + term) * temperatures + t) * samples + s;
  const double values = (double)pt_tempering_values(&pt->tempering.plan, term);
  return pt->bin.sums[place] / ((double)pt->bin.measurements[b] * values);
}

/* Samples of one model are so many series of the same observable; those of disorder have means of
 * their own, and only their average is one. */
static void series_of(const struct pt *pt, size_t term, size_t t, struct gpumc_series *series)
{
  const size_t samples = pt->settings.samples;
  const bool disorder = pt->context.model->disorder;
  *series = (struct gpumc_series){.merged = 0};
  for (size_t b = 0; b < pt->bin.blocks && disorder; b++) {
    double mean = 0;
    for (size_t s = 0; s < samples; s++)
      mean += block_mean(pt, term, t, s, b) / (double)samples;
    gpumc_series_add(series, mean);
  }
  for (size_t s = 0; s < samples && !disorder; s++) {
    struct gpumc_series of_sample = {.merged = 0};
    for (size_t b = 0; b < pt->bin.blocks; b++)
      gpumc_series_add(&of_sample, block_mean(pt, term, t, s, b));
    gpumc_series_merge(series, &of_sample);
  }
}

size_t pt_block_groups(const struct pt *pt, size_t t, bool *known)
{
  size_t joined = 1;
  *known = true;
  for (size_t i = 0; i < pt->terms.n_compared; i++) {
    struct gpumc_series series;
    struct gpumc_series_estimate estimate;
    series_of(pt, pt->terms.compared[i], t, &series);
    gpumc_series_estimate(&series, &estimate);
    *known = *known && estimate.bins >= PT_FEWEST_GROUPS;
    if (estimate.bin_length > joined)
      joined = (size_t)estimate.bin_length;
  }
  return pt->bin.blocks / joined;
}
