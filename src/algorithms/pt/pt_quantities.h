/* Parallel tempering: what is summed up for every sample, and what is reported of it. */
#ifndef GPUMC_ALGORITHMS_PT_QUANTITIES_H
#define GPUMC_ALGORITHMS_PT_QUANTITIES_H

#include "algorithms/pt/pt_tempering.h"
#include "core/simulation/curves.h"
#include "core/simulation/observables.h"

enum { PT_COMPARED_MAXIMUM = 3, PT_QUANTITIES_MAXIMUM = 48 };

/* The first terms; the model's observables follow, then the overlaps. */
enum { PT_TERM_ENERGY, PT_TERM_ENERGY2, PT_TERM_OBSERVABLES };

/* Averages that are formed of each sample by itself. Behind them stands one more, number `count`:
 * the variance of the energy of the sample, <e^2> - <e_1 e_2> of two copies or, where there is but
 * one, <e^2> - <e>^2, which is low by 2 tau/n of n measurements. */
struct pt_terms {
  size_t count;
  struct pt_term term[PT_TERMS_MAXIMUM];
  struct gpumc_label label[PT_TERMS_MAXIMUM];
  bool overlaps; /* there are pairs of copies to compare: */
  size_t overlap, overlap2, overlap4;
  bool links, waves; /* and these overlaps of them: */
  size_t link, wave;
  bool products; /* of the energies of two copies: */
  size_t product;
  size_t n_compared, compared[PT_COMPARED_MAXIMUM]; /* between bins of time */
};

/* How a quantity follows from averages over the samples. */
enum pt_rule {
  PT_MEAN,            /* factor x */
  PT_VARIANCE,        /* factor beta^2 x, the variance being one of each sample */
  PT_VARIANCE_OF_ALL, /* factor beta^2 (y - x^2) */
  PT_DERIVED,         /* gpumc_derive */
  PT_BINDER,          /* (3 - y/x^2)/2 */
  PT_IDENTITY         /* x + factor beta (1 - y) */
};

struct pt_quantity {
  struct gpumc_label label;
  enum pt_rule rule;
  size_t x, y; /* averages, by number */
  double factor;
  enum gpumc_derivation derivation; /* of PT_DERIVED */
};

struct pt_quantities {
  size_t count;
  struct pt_quantity quantity[PT_QUANTITIES_MAXIMUM];
  size_t identity; /* the one of rule PT_IDENTITY; PT_QUANTITIES_MAXIMUM: none */
};

/* `copies` >= 2: with overlaps, as far as the model has them. */
void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   size_t copies, struct pt_terms *terms);
/* Of one sample from its averages, average[terms->count]. */
double pt_variance_of_energy(const struct pt_terms *terms, const double *average);
/* What stands in the labels is borrowed from the model; their units are declared ones (curves.h).
 */
void pt_quantities_make(const struct gpumc_model *model,
                        const struct gpumc_observables *observables, const struct pt_terms *terms,
                        struct pt_quantities *quantities);
/* average[terms->count + 1] at `beta`. */
double pt_quantity_value(const struct pt_quantity *quantity, const struct gpumc_model *model,
                         double beta, const double *average);
/* Of the value of a quantity, how large the numbers are that it is formed of, for its rounding. */
double pt_quantity_scale(const struct pt_quantity *quantity, const struct gpumc_model *model,
                         double beta, const double *average);
/* Whether the value is known without any measurement: the specific heat at beta = 0. */
bool pt_quantity_is_exact(const struct pt_quantity *quantity, double beta);

#endif
