/* Parallel tempering: what is reported, and how it follows from averages over the samples. */
#include "algorithms/pt/pt_quantities.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void add(struct pt_quantities *quantities, struct pt_quantity quantity)
{
  assert(quantities->count < PT_QUANTITIES_MAXIMUM);
  quantities->quantity[quantities->count++] = quantity;
}

static void add_mean(struct pt_quantities *quantities, const struct pt_terms *terms, size_t term)
{
  add(quantities,
      (struct pt_quantity){.label = terms->label[term], .rule = PT_MEAN, .x = term, .factor = 1.0});
}

static void add_energies(struct pt_quantities *quantities, const struct gpumc_model *model,
                         const struct pt_terms *terms)
{
  const bool disorder = model->disorder;
  add_mean(quantities, terms, PT_TERM_ENERGY);
  struct gpumc_label label = gpumc_label_specific_heat;
  if (disorder && !terms->products)
    label.long_name = "specific heat per site, low by 2 tau/n of n measurements";
  struct pt_quantity heat = {.label = label,
                             .rule = disorder ? PT_VARIANCE : PT_VARIANCE_OF_ALL,
                             .x = disorder ? terms->count : PT_TERM_ENERGY,
                             .y = PT_TERM_ENERGY2,
                             .factor = (double)model->sites};
  add(quantities, heat);
}

static void
add_derived(struct pt_quantities *quantities, const struct gpumc_observables *observables)
{
  for (size_t k = 0; k < observables->n_derived; k++) {
    const struct gpumc_selected_derived *derived = &observables->derived[k];
    add(quantities, (struct pt_quantity){.label = gpumc_derived_label(derived->what),
                                         .rule = PT_DERIVED,
                                         .x = PT_TERM_OBSERVABLES + derived->from[0],
                                         .y = PT_TERM_OBSERVABLES + derived->from[1],
                                         .derivation = derived->what->derivation});
  }
}

static void add_waves(struct pt_quantities *quantities, const struct pt_terms *terms)
{
  add_mean(quantities, terms, terms->wave);
  add(quantities, (struct pt_quantity){.label = {"correlation_length_overlap",
                                                 "second-moment correlation length of the overlap",
                                                 "sites", "ξ_SG"},
                                       .rule = PT_DERIVED,
                                       .derivation = GPUMC_CORRELATION_LENGTH,
                                       .x = terms->overlap2,
                                       .y = terms->wave});
}

static void add_overlaps(struct pt_quantities *quantities, const struct gpumc_model *model,
                         const struct pt_terms *terms)
{
  add_mean(quantities, terms, terms->overlap);
  add_mean(quantities, terms, terms->overlap2);
  add_mean(quantities, terms, terms->overlap4);
  add(quantities, (struct pt_quantity){
                      .label = {"binder_overlap",
                                "Binder parameter of the overlap, (3 - [q^4]/[q^2]^2)/2", "1", "g"},
                      .rule = PT_BINDER,
                      .x = terms->overlap2,
                      .y = terms->overlap4});
  add(quantities, (struct pt_quantity){
                      .label = {"chi_overlap", "spin-glass susceptibility N [q^2]", "1", "χ_SG"},
                      .rule = PT_MEAN,
                      .x = terms->overlap2,
                      .factor = (double)model->sites});
  if (terms->waves)
    add_waves(quantities, terms);
  if (terms->links)
    add_mean(quantities, terms, terms->link);
}

void pt_quantities_make(const struct gpumc_model *model,
                        const struct gpumc_observables *observables, const struct pt_terms *terms,
                        struct pt_quantities *quantities)
{
  memset(quantities, 0, sizeof *quantities);
  add_energies(quantities, model, terms);
  for (size_t k = 0; k < observables->count; k++)
    add_mean(quantities, terms, PT_TERM_OBSERVABLES + k);
  add_derived(quantities, observables);
  if (terms->overlaps)
    add_overlaps(quantities, model, terms);
  quantities->identity = PT_QUANTITIES_MAXIMUM;
  if (terms->links && model->bond_variance > 0) {
    quantities->identity = quantities->count;
    add(quantities,
        (struct pt_quantity){.label = {"gaussian_identity",
                                       "[e] + beta sigma^2 (1 - [q_l]) N_b/N, 0 in equilibrium",
                                       GPUMC_UNIT_ENERGY, "Δ"},
                             .rule = PT_IDENTITY,
                             .x = PT_TERM_ENERGY,
                             .y = terms->link,
                             .factor = model->bond_variance});
  }
}

double pt_quantity_value(const struct pt_quantity *quantity, const struct gpumc_model *model,
                         double beta, const double *average)
{
  const double x = average[quantity->x], y = average[quantity->y], factor = quantity->factor;
  const double from[2] = {x, y};
  switch (quantity->rule) {
  case PT_MEAN:
    return factor * x;
  case PT_VARIANCE:
    return factor * beta * beta * x;
  case PT_VARIANCE_OF_ALL:
    return factor * beta * beta * (y - x * x);
  case PT_DERIVED:
    return gpumc_derive(model, quantity->derivation, from);
  case PT_BINDER:
    return 0.5 * (3.0 - y / (x * x));
  case PT_IDENTITY:
    return x + factor * beta * (1.0 - y);
  }
  return NAN;
}

double pt_quantity_scale(const struct pt_quantity *quantity, const struct gpumc_model *model,
                         double beta, const double *average)
{
  const double factor = fabs(quantity->factor);
  const double value = pt_quantity_value(quantity, model, beta, average);
  switch (quantity->rule) {
  case PT_MEAN:
    return fabs(value);
  case PT_VARIANCE:
  case PT_VARIANCE_OF_ALL:
    return factor * beta * beta * average[PT_TERM_ENERGY2];
  case PT_DERIVED:
    return gpumc_derive_scale(model, quantity->derivation, value);
  case PT_BINDER:
    return 1.5 + fabs(value);
  case PT_IDENTITY:
    return fabs(average[quantity->x]) + factor * beta;
  }
  return NAN;
}

bool pt_quantity_is_exact(const struct pt_quantity *quantity, double beta)
{
  return beta == 0 && (quantity->rule == PT_VARIANCE || quantity->rule == PT_VARIANCE_OF_ALL);
}
