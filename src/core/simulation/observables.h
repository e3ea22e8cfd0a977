/* Which observables of a model a run measures, and what follows from their averages. */
#ifndef GPUMC_CORE_OBSERVABLES_H
#define GPUMC_CORE_OBSERVABLES_H

#include "core/simulation/model.h"

enum { GPUMC_OBSERVABLES_MAXIMUM = 16 };

/* The key that asks for the channels on request, the same in every algorithm. */
#define GPUMC_STRUCTURE_FACTOR_KEY                                                                 \
  {                                                                                                \
    .name = "structure_factor", .type = GPUMC_KEY_BOOLEAN, .default_text = "false",                \
    .doc = "Whether the structure factor at the smallest wave vectors is measured, and with it "   \
           "the correlation length."                                                               \
  }

/* A derived quantity; `from` counts the selected observables. */
struct gpumc_selected_derived {
  const struct gpumc_derived *what;
  size_t from[2];
};

/* In the model's order. Channels 0 .. n_channels - 1 are measured: those on request come last. */
struct gpumc_observables {
  size_t n_channels;
  size_t count;
  const struct gpumc_observable *item[GPUMC_OBSERVABLES_MAXIMUM];
  size_t n_derived;
  struct gpumc_selected_derived derived[GPUMC_OBSERVABLES_MAXIMUM];
};

/* Of a model all observables, without `on_request` all but those of channels on request; and the
 * quantities that derive from them. */
struct gpumc_observables
gpumc_observables_select(const struct gpumc_model_ops *model, bool on_request);
/* The same for an algorithm that has GPUMC_STRUCTURE_FACTOR_KEY. */
struct gpumc_observables
gpumc_observables_of(const struct gpumc_params *params, const struct gpumc_model_ops *model);
/* A mistake where that key asks for what the model does not have; in an algorithm's table of checks
 * as GPUMC_OBSERVABLES_CHECK. */
void gpumc_observables_check(const struct gpumc_params *params, const struct gpumc_subject *subject,
                             struct gpumc_report *report);
#define GPUMC_OBSERVABLES_CHECK                                                                    \
  {                                                                                                \
    .reads = "structure_factor", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_observables_check        \
  }

/* A derived quantity from its two observables; NaN where they leave it undetermined. */
double gpumc_derive(const struct gpumc_model *model, enum gpumc_derivation derivation,
                    const double from[2]);
/* What the numbers of `value`'s arithmetic are as large as, for its rounding (jackknife.h). */
double
gpumc_derive_scale(const struct gpumc_model *model, enum gpumc_derivation derivation, double value);
void gpumc_derive_all(const struct gpumc_observables *observables, const struct gpumc_model *model,
                      const double *average, double *derived);

#endif
