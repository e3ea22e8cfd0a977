/* Parallel tempering: averages of each sample in the last bin of time, from which those of several
 * files can be formed together. */
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pt/pt_average.h"
#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"

/* Curves over the samples, and those over samples and temperatures. */
static struct gpumc_curve_place place_of(const struct pt *pt, size_t temperatures)
{
  return (struct gpumc_curve_place){.recorder = pt->context.recorder,
                                    .model = pt->context.model,
                                    .group = "samples",
                                    .axis = {"samples/sample", "samples/beta"},
                                    .count = {pt->settings.samples, temperatures}};
}

static enum gpumc_status write_axes(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label label = {"sample", "number of the sample of the disorder", "1", "s"};
  const struct gpumc_curve_place place = place_of(pt, pt->settings.temperatures);
  enum gpumc_status status =
      gpumc_curve_write_axis(&place, 1, &gpumc_label_beta, false, pt->beta, error);
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)(pt->context.model->first_sample + s);
  return status == GPUMC_OK ? gpumc_curve_write_axis(&place, 0, &label, true, values, error)
                            : status;
}

/* By which merge-pt knows a sample; as many bits as integers of a result have. */
static enum gpumc_status write_checksums(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  const struct gpumc_label label = {"checksum",
                                    "checksum of the couplings and fields of the sample", "1", ""};
  const struct gpumc_curve_place place = place_of(pt, 0);
  enum gpumc_status status = GPUMC_OK;
  if (!model->disorder || model->ops->sample_checksum == NULL)
    return GPUMC_OK;
  for (size_t s = 0; s < pt->settings.samples && status == GPUMC_OK; s++) {
    uint64_t checksum = 0;
    status = model->ops->sample_checksum(model, s, &checksum, error);
    values[s] = (double)(checksum >> 11);
  }
  return status == GPUMC_OK ? gpumc_curve_write(&place, &label, true, values, error) : status;
}

static enum gpumc_status
write_term(struct pt *pt, size_t term, double *values, struct gpumc_error *error)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  const struct gpumc_curve_place place = place_of(pt, temperatures);
  for (size_t s = 0; s < samples; s++)
    for (size_t t = 0; t < temperatures; t++)
      values[s * temperatures + t] = pt_term_mean_of_all(pt, term, t, s);
  return gpumc_curve_write(&place, &pt->settings.observables.mean[term]->label, false, values,
                           error);
}

static enum gpumc_status write_lowest(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  const struct gpumc_label label = {"lowest_energy", "lowest energy per site that was measured",
                                    GPUMC_UNIT_ENERGY, "e_min"};
  const struct gpumc_curve_place place = place_of(pt, 0);
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)pt->lowest[s] * model->quantum[0] / (double)model->sites;
  return gpumc_curve_write(&place, &label, false, values, error);
}

static enum gpumc_status write_round_trips(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label label = {
      "round_trips", "round trips between the hottest and the coldest temperature, all copies", "1",
      "n_rt"};
  const struct gpumc_curve_place place = place_of(pt, 0);
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)pt->counts.round_trips[s];
  return gpumc_curve_write(&place, &label, true, values, error);
}

/* What is compared, in the two bins before the last: earlier_bins/1 is the one before it. */
static enum gpumc_status
write_earlier_bins(struct pt *pt, double *values, struct gpumc_error *error)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  enum gpumc_status status = GPUMC_OK;
  for (size_t back = 1; back < PT_BINS_COMPARED && back < pt->timeline.bins; back++)
    for (size_t i = 0; i < pt->terms.n_compared && status == GPUMC_OK; i++) {
      char group[32];
      struct gpumc_curve_place place = place_of(pt, temperatures);
      snprintf(group, sizeof group, "earlier_bins/%zu", back);
      place.group = group;
      for (size_t t = 0; t < temperatures; t++) {
        const double *of_samples = pt_remembered(pt, pt->timeline.bins - 1 - back, i, t);
        for (size_t s = 0; s < samples; s++)
          values[s * temperatures + t] = of_samples[s];
      }
      const struct gpumc_mean *mean = pt->settings.observables.mean[pt->terms.compared[i]];
      status = gpumc_curve_write(&place, &mean->label, false, values, error);
    }
  return status;
}

enum gpumc_status pt_write_samples(struct pt *pt, struct gpumc_error *error)
{
  double *values = NULL;
  enum gpumc_status status = gpumc_allocate_array(
      &values, pt->settings.samples * pt->settings.temperatures, "averages of samples", error);
  if (status == GPUMC_OK)
    status = write_axes(pt, values, error);
  if (status == GPUMC_OK)
    status = write_checksums(pt, values, error);
  for (size_t k = 0; k < pt->terms.count && status == GPUMC_OK; k++)
    status = write_term(pt, k, values, error);
  if (status == GPUMC_OK)
    status = write_lowest(pt, values, error);
  if (status == GPUMC_OK)
    status = write_round_trips(pt, values, error);
  if (status == GPUMC_OK)
    status = write_earlier_bins(pt, values, error);
  free(values);
  return status;
}
