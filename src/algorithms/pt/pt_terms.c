/* Parallel tempering: the averages that are formed of each sample. */
#include "algorithms/pt/pt_terms.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static struct pt_term term_of(const struct gpumc_mean *mean, const struct gpumc_model *model)
{
  static const enum pt_source sources[] = {
      [GPUMC_MEAN_CHANNEL] = PT_SOURCE_CHANNEL,
      [GPUMC_MEAN_PAIR] = PT_SOURCE_OVERLAP,
      [GPUMC_MEAN_PRODUCT] = PT_SOURCE_PRODUCT,
  };
  return (struct pt_term){.source = sources[mean->source],
                          .index = mean->index,
                          .moment = gpumc_mean_sum(mean),
                          .scale = gpumc_mean_unit(mean, model)};
}

static bool is_compared(const struct gpumc_observables *observables, const struct gpumc_mean *mean)
{
  return mean->watch == GPUMC_WATCH_ALWAYS ||
         (mean->watch == GPUMC_WATCH_WITHOUT_PAIRS && !observables->pairs);
}

void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   struct pt_terms *terms)
{
  memset(terms, 0, sizeof *terms);
  terms->count = observables->n_means;
  terms->energy = gpumc_observables_power(observables, 0, 1);
  terms->energy2 = gpumc_observables_power(observables, 0, 2);
  for (size_t k = 0; k < terms->count; k++) {
    terms->term[k] = term_of(observables->mean[k], model);
    if (is_compared(observables, observables->mean[k])) {
      assert(terms->n_compared < PT_COMPARED_MAXIMUM);
      terms->compared[terms->n_compared++] = k;
    }
  }
  while (terms->identity < observables->n_quantities &&
         observables->quantity[terms->identity].what->identity == NULL)
    terms->identity++;
}

/* Whether what would improve the value is not measured. */
static bool is_incomplete(const struct gpumc_selected_quantity *quantity)
{
  bool incomplete = false;
  for (size_t i = 0; i < quantity->what->n_uses; i++)
    incomplete = incomplete || quantity->uses[i] == GPUMC_NOT_MEASURED;
  return incomplete;
}

/* Fluctuations of a sample about an average of n measurements are low by 2 tau/n. */
void pt_labels_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                    struct pt_labels *labels)
{
  memset(labels, 0, sizeof *labels);
  for (size_t q = 0; q < observables->n_quantities; q++) {
    const struct gpumc_selected_quantity *quantity = &observables->quantity[q];
    struct gpumc_label *label = &labels->of[q];
    *label = gpumc_quantity_label(observables, q);
    if (!model->disorder || !quantity->what->of_each || !is_incomplete(quantity))
      continue;
    snprintf(labels->biased[q], sizeof labels->biased[q], "%s, low by 2 tau/n of n measurements",
             label->long_name);
    label->long_name = labels->biased[q];
  }
}
