/* Parallel tempering: the demands of a run, known before anything is allocated. */
#include <string.h>

#include "algorithms/pt/pt_state.h"

enum {
  STRATA_MAXIMUM = 32, /* of samples, for the errors of histograms */
  HISTOGRAM_BINS_MAXIMUM = 1025
};

static size_t strata(const struct pt_settings *settings)
{
  if (settings->by_time)
    return 1;
  return settings->samples < STRATA_MAXIMUM ? settings->samples : STRATA_MAXIMUM;
}

size_t pt_histogram_rows(const struct pt_settings *settings)
{
  return settings->by_time ? settings->blocks : strata(settings);
}

/* Returns bins of equally many possible values, symmetric about 0: the outermost ones reach beyond
 * the possible values if the number of values is not a multiple of that of the bins. */
static struct pt_histogram histogram_of(int64_t bound, int64_t spacing)
{
  const int64_t values = 2 * bound / spacing + 1;
  int64_t width = (values + HISTOGRAM_BINS_MAXIMUM - 1) / HISTOGRAM_BINS_MAXIMUM;
  width += (width + 1) % 2; /* odd, so that 0 can be in the middle of a bin */
  int64_t bins = (values + width - 1) / width;
  bins += (bins + values) % 2; /* equally many unused values on both sides */
  return (struct pt_histogram){.lowest = -bound - (bins * width - values) / 2 * spacing,
                               .spacing = width * spacing,
                               .bins = (size_t)bins};
}

void pt_tempering_plan(const struct pt_settings *settings, const struct gpumc_model *model,
                       const struct pt_terms *terms, struct pt_tempering_plan *plan)
{
  *plan = (struct pt_tempering_plan){.temperatures = settings->temperatures,
                                     .copies = settings->copies,
                                     .samples = settings->samples,
                                     .n_channels = settings->observables.n_channels,
                                     .tracked = model->ops->tracked,
                                     .conjugate = settings->moved.conjugate,
                                     .n_terms = terms->count,
                                     .clusters = pt_has_clusters(settings),
                                     .strata = strata(settings)};
  memcpy(plan->term, terms->term, terms->count * sizeof *plan->term);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM && settings->observables.pairs; k++)
    if (model->pair[k].spacing > 0)
      plan->histogram[k] = histogram_of(model->pair[k].bound, model->pair[k].spacing);
}

/* Steps are tuned before the first measurement, for the copies at a temperature together. */
static struct gpumc_ensemble_plan ensemble_plan(const struct pt_settings *settings,
                                                const struct pt_timeline *timeline,
                                                const struct gpumc_model *model)
{
  const uint64_t lead = timeline->lead * settings->round_sweeps;
  struct gpumc_ensemble_plan plan = {.runs = settings->copies * settings->temperatures,
                                     .capacity = settings->samples,
                                     .samples = model->disorder ? settings->samples : 1,
                                     .compared =
                                         settings->observables.pairs ? settings->temperatures : 0,
                                     .clusters = pt_has_clusters(settings),
                                     .exchanges = settings->exchange,
                                     .moved = settings->moved.control,
                                     .warm_up = lead < UINT32_MAX ? (uint32_t)lead : UINT32_MAX,
                                     .alike = settings->temperatures,
                                     .fixes = true};
  memcpy(plan.fixed, settings->moved.fixed, sizeof plan.fixed);
  return plan;
}

/* Returns sums of a bin and the compared terms of the last ones. */
static double numbers_by_sample(const struct pt_settings *settings, const struct pt_terms *terms)
{
  return (double)settings->samples * (double)settings->temperatures *
         (double)(terms->count * settings->blocks + terms->n_compared * PT_BINS_COMPARED);
}

/* Returns those, and histograms; averages by sample at one temperature, and those without each
 * sample; and what the summary writes at once. */
static double host_bytes(const struct pt_settings *settings, const struct pt_tempering_plan *plan,
                         const struct pt_terms *terms)
{
  const double samples = (double)settings->samples;
  double numbers = numbers_by_sample(settings, terms);
  numbers += samples * (double)settings->temperatures;
  numbers += samples * (double)(terms->count + 4 + settings->observables.n_quantities);
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++)
    numbers += (double)(pt_histogram_rows(settings) * settings->temperatures) *
               (double)plan->histogram[kind].bins;
  return numbers * sizeof(double);
}

/* Demands space for the bins of time, the summary with its distributions, averages of the samples;
 * a checkpoint has the sums of a bin, what is compared between bins, and the histograms. */
static void demand_disk(const struct pt_settings *settings, const struct pt_tempering_plan *plan,
                        const struct pt_terms *terms, double bins, struct gpumc_demand *demanded)
{
  const double temperatures = (double)settings->temperatures;
  const double places = (double)settings->samples * temperatures;
  const double of_clusters = pt_has_clusters(settings) ? PT_CLUSTER_COUNTS : 0;
  const double curves =
      (2 * (double)settings->observables.n_quantities + 3 + of_clusters) * temperatures;
  double overlaps = 0;
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++)
    overlaps += temperatures * (double)plan->histogram[kind].bins;
  demanded->result_bytes =
      ((bins + 1) * curves + 2 * overlaps + places * (double)terms->count) * sizeof(double);
  const double sums =
      (double)(terms->count * (settings->blocks + 1) + terms->n_compared * PT_BINS_COMPARED);
  const double histograms = (double)(pt_histogram_rows(settings) + plan->strata) * overlaps;
  demanded->state_bytes = (places * sums + bins * curves + histograms) * sizeof(double) +
                          places * (double)settings->copies * sizeof(uint32_t);
}

/* An exchange of clusters takes about as long as this many comparisons of the two replicas. */
static const double comparisons_of_exchange = 40;

/* Returns the comparisons that exchanges of clusters amount to, for each pair of copies. */
static double exchanged_clusters(const struct pt_settings *settings, double rounds)
{
  return pt_has_clusters(settings)
             ? comparisons_of_exchange * rounds / (double)settings->clusters.every
             : 0;
}

/* Energies are counted before every exchange; rounds that measure are among those that exchange.
 * Deciding exchanges takes a tenth of the time of sums. */
static void count_rounds(const struct pt_settings *settings, const struct gpumc_model *model,
                         double rounds, struct gpumc_demand *demanded)
{
  const double sites = (double)model->sites, copies = (double)settings->copies;
  const double places = copies * (double)settings->temperatures * (double)settings->samples;
  const double measurements = (double)settings->measurements;
  const double exchanges = settings->exchange ? rounds : 0;
  demanded->work = (struct gpumc_work){
      .measured = places * sites * (settings->exchange ? rounds : measurements),
      .sweeps = settings->round_sweeps,
      .moved = places * sites * exchanges,
      .compared = places * sites / 2 *
                  ((settings->observables.pairs ? measurements * (copies - 1) : 0) +
                   exchanged_clusters(settings, rounds)),
      .values = places * measurements,
      .n_channels = settings->observables.n_channels};
}

/* Without samples, only what every process has in full remains. */
static void demand_tempering(const struct pt_tempering_plan *plan,
                             const struct gpumc_device *device, struct gpumc_demand *demanded)
{
  struct pt_tempering_plan alike = *plan;
  alike.samples = 0;
  const size_t host = pt_tempering_host_bytes(device, plan);
  demanded->host_bytes += host;
  demanded->host_bytes_by_replicas = host - pt_tempering_host_bytes(device, &alike);
  demanded->device_bytes = pt_tempering_bytes(device, plan);
  demanded->device_bytes_by_replicas = demanded->device_bytes - pt_tempering_bytes(device, &alike);
}

enum gpumc_status pt_demand(const struct gpumc_params *params, const struct gpumc_model *model,
                            const struct gpumc_device *device, const struct gpumc_spread *spread,
                            struct gpumc_demand *demanded, struct gpumc_error *error)
{
  struct pt_settings settings;
  struct pt_timeline timeline;
  struct pt_terms terms;
  struct pt_tempering_plan plan;
  (void)spread;
  pt_settings_read(params, model, &settings);
  pt_terms_make(model, &settings.observables, &terms);
  pt_tempering_plan(&settings, model, &terms, &plan);
  GPUMC_TRY(pt_timeline_make(&settings, &timeline, error));
  memset(demanded, 0, sizeof *demanded);
  demanded->plan = ensemble_plan(&settings, &timeline, model);
  demanded->replicas = settings.samples;
  /* The root, which gathers everything for the summary, also has its own share. */
  demanded->host_bytes = gpumc_demand_bytes(host_bytes(&settings, &plan, &terms));
  demanded->divided_host_bytes =
      gpumc_demand_bytes(numbers_by_sample(&settings, &terms) * sizeof(double));
  demand_tempering(&plan, device, demanded);
  demanded->updates =
      (double)timeline.rounds * (double)settings.round_sweeps * pt_sweep_updates(&settings, model);
  demand_disk(&settings, &plan, &terms, (double)timeline.bins, demanded);
  count_rounds(&settings, model, (double)timeline.rounds, demanded);
  pt_timeline_free(&timeline);
  return pt_configurations_demand(params, model, &settings, demanded, error);
}
