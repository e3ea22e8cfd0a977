/* Parallel tempering: the averages that are formed of each sample. */
#include <string.h>

#include "algorithms/pt/pt_quantities.h"

static enum gpumc_moment_choice sum_of(enum gpumc_moment moment)
{
  static const enum gpumc_moment_choice sums[] = {
      [GPUMC_MOMENT_MEAN] = GPUMC_SUM_FIRST,
      [GPUMC_MOMENT_ABSOLUTE] = GPUMC_SUM_ABSOLUTE,
      [GPUMC_MOMENT_SECOND] = GPUMC_SUM_SECOND,
      [GPUMC_MOMENT_FOURTH] = GPUMC_SUM_FOURTH,
  };
  return sums[moment];
}

static size_t add(struct pt_terms *terms, struct pt_term term, struct gpumc_label label)
{
  terms->term[terms->count] = term;
  terms->label[terms->count] = label;
  return terms->count++;
}

static size_t add_channel(struct pt_terms *terms, const struct gpumc_model *model, size_t channel,
                          enum gpumc_moment_choice moment, struct gpumc_label label)
{
  return add(terms,
             (struct pt_term){.source = PT_SOURCE_CHANNEL,
                              .index = (uint32_t)channel,
                              .moment = moment,
                              .scale = model->quantum[channel] / (double)model->sites},
             label);
}

static size_t add_overlap(struct pt_terms *terms, enum gpumc_overlap kind,
                          enum gpumc_moment_choice moment, double scale, struct gpumc_label label)
{
  return add(
      terms,
      (struct pt_term){
          .source = PT_SOURCE_OVERLAP, .index = (uint32_t)kind, .moment = moment, .scale = scale},
      label);
}

static void add_overlaps(struct pt_terms *terms, const struct gpumc_model *model)
{
  const double of_site = 1.0 / (double)model->overlap_bound[GPUMC_OVERLAP_SPIN];
  const struct gpumc_label overlap = {"abs_overlap", "absolute overlap of two copies", "1",
                                      "<|q|>"};
  const struct gpumc_label overlap2 = {"overlap2", "second moment of the overlap", "1", "<q^2>"};
  const struct gpumc_label overlap4 = {"overlap4", "fourth moment of the overlap", "1", "<q^4>"};
  const struct gpumc_label link = {"link_overlap", "link overlap of two copies", "1", "<q_l>"};
  const struct gpumc_label wave = {
      "overlap_structure_factor",
      "|sum of q_i exp(i k r_i)|^2 / N at the smallest wave vectors, their mean", "1", "χ(k_min)"};
  terms->overlaps = true;
  terms->overlap = add_overlap(terms, GPUMC_OVERLAP_SPIN, GPUMC_SUM_ABSOLUTE, of_site, overlap);
  terms->overlap2 = add_overlap(terms, GPUMC_OVERLAP_SPIN, GPUMC_SUM_SECOND, of_site, overlap2);
  terms->overlap4 = add_overlap(terms, GPUMC_OVERLAP_SPIN, GPUMC_SUM_FOURTH, of_site, overlap4);
  terms->links = model->overlap_bound[GPUMC_OVERLAP_LINK] > 0;
  if (terms->links)
    terms->link = add_overlap(terms, GPUMC_OVERLAP_LINK, GPUMC_SUM_FIRST,
                              1.0 / (double)model->overlap_bound[GPUMC_OVERLAP_LINK], link);
  terms->waves = model->wave_quantum > 0;
  if (terms->waves)
    terms->wave = add_overlap(terms, GPUMC_OVERLAP_WAVE, GPUMC_SUM_FIRST,
                              model->wave_quantum / (double)model->sites, wave);
}

/* Copies are independent, so that <e_1 e_2> has the mean <e>^2, which the square of an average of n
 * measurements exceeds by its variance. */
static void add_product(struct pt_terms *terms, const struct gpumc_model *model)
{
  const struct pt_term term = {.source = PT_SOURCE_PRODUCT,
                               .index = 0,
                               .moment = GPUMC_SUM_FIRST,
                               .scale = model->quantum[0] / (double)model->sites};
  const struct gpumc_label label = {"energy_product", "product of the energies of two copies",
                                    GPUMC_UNIT_ENERGY2, "<e_1 e_2>"};
  terms->products = true;
  terms->product = add(terms, term, label);
}

double pt_variance_of_energy(const struct pt_terms *terms, const double *average)
{
  const double energy = average[PT_TERM_ENERGY];
  return average[PT_TERM_ENERGY2] - (terms->products ? average[terms->product] : energy * energy);
}

void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   size_t copies, struct pt_terms *terms)
{
  memset(terms, 0, sizeof *terms);
  struct gpumc_label energy2 = gpumc_label_energy2; /* written as the other moments are */
  energy2.symbol = "<e^2>";
  add_channel(terms, model, 0, GPUMC_SUM_FIRST, gpumc_label_energy);
  add_channel(terms, model, 0, GPUMC_SUM_SECOND, energy2);
  for (size_t k = 0; k < observables->count; k++) {
    const struct gpumc_observable *observable = observables->item[k];
    add_channel(terms, model, observable->channel, sum_of(observable->moment),
                gpumc_observable_label(observable));
  }
  if (copies >= 2 && model->disorder)
    add_product(terms, model);
  terms->compared[terms->n_compared++] = PT_TERM_ENERGY;
  if (copies >= 2 && model->overlap_bound[GPUMC_OVERLAP_SPIN] > 0) {
    add_overlaps(terms, model);
    terms->compared[terms->n_compared++] = terms->overlap2;
    if (terms->links)
      terms->compared[terms->n_compared++] = terms->link;
  } else if (observables->count > 0) {
    terms->compared[terms->n_compared++] = PT_TERM_OBSERVABLES;
  }
}
