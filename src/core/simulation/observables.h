/* Which means of a model a run sums up, and which quantities follow from them. */
#ifndef GPUMC_CORE_OBSERVABLES_H
#define GPUMC_CORE_OBSERVABLES_H

#include "core/device/tally.h"
#include "core/simulation/model.h"

/* Where the keys stand in an algorithm's table that ask for channels on request
 * (gpumc_channel.request_key): those of all models that have what the algorithm's target is, which
 * the language puts into its copy of the table in place of this one. */
extern const char *const gpumc_request_choices[GPUMC_SWEPT_TARGETS][1];
#define GPUMC_REQUESTS_KEY_FOR(target)                                                             \
  {                                                                                                \
    .name = "requests", .type = GPUMC_KEY_CHOICE, .choices = gpumc_request_choices[target]         \
  }
#define GPUMC_REQUESTS_KEY GPUMC_REQUESTS_KEY_FOR(GPUMC_BOLTZMANN)

enum { GPUMC_NOT_MEASURED = UINT8_MAX };

/* A quantity; `uses` counts the selected means, GPUMC_NOT_MEASURED: it is not among them. */
struct gpumc_selected_quantity {
  const struct gpumc_quantity *what;
  uint8_t uses[GPUMC_USES_MAXIMUM];
};

/* In the model's order. Channels 0 .. n_channels - 1 are measured: those on request come last. */
struct gpumc_observables {
  size_t n_channels, n_means, n_quantities, n_profiles;
  bool pairs; /* any of them is measured */
  const struct gpumc_mean *mean[GPUMC_MEANS_MAXIMUM];
  struct gpumc_selected_quantity quantity[GPUMC_QUANTITIES_MAXIMUM];
  uint8_t profile[GPUMC_CHANNELS_MAXIMUM]; /* [n_profiles] channels, all of them on request */
};

/* All means of channels that are measured without request or are among `requested`, a bit each.
 * `paired`: an instance of which replicas are compared in pairs; NULL: no means of pairs. Products
 * are measured of instances with disorder, where they differ from products of means. Quantities as
 * far as their means are there, and as far as `paired` has them. */
struct gpumc_observables gpumc_observables_select(const struct gpumc_model_ops *model,
                                                  uint32_t requested,
                                                  const struct gpumc_model *paired);
/* What the keys request of an algorithm's block that moves control number `moved`, or none; it is 0
 * in the function above. */
struct gpumc_observables gpumc_observables_of(const struct gpumc_params *params,
                                              const struct gpumc_model_ops *model,
                                              const struct gpumc_model *paired, size_t moved);
/* Without the quantities that an instance does not have. */
struct gpumc_observables gpumc_observables_that_apply(const struct gpumc_observables *selected,
                                                      const struct gpumc_model *instance);
/* A mistake where the key, one of those in the block of an algorithm with this target, asks for
 * what the model does not have, or not under such a target, or for quantities of which the instance
 * has none. */
void gpumc_observables_check(const struct gpumc_params *params, const char *key,
                             const struct gpumc_model_ops *model, enum gpumc_target_kind target,
                             struct gpumc_report *report);
/* Whether the key asks for a profile. */
bool gpumc_observables_is_profile(const struct gpumc_model_ops *model, const char *key);
void gpumc_observables_check_instance(const struct gpumc_params *params, const char *key,
                                      const struct gpumc_model *instance,
                                      struct gpumc_report *report);

/* The place of x^power of a channel among the selected means, n_means where it is not measured. */
size_t gpumc_observables_power(const struct gpumc_observables *observables, size_t channel,
                               unsigned power);
/* The place of the quantity that is a mean itself, n_quantities where none is. */
size_t gpumc_observables_reported(const struct gpumc_observables *observables, size_t mean);
/* The value of one quantum of what a mean is made of: per site of channels. */
double gpumc_mean_unit(const struct gpumc_mean *mean, const struct gpumc_model *model);
/* The sum of that power, as devices form it. */
enum gpumc_moment_choice gpumc_mean_sum(const struct gpumc_mean *mean);

struct gpumc_label gpumc_quantity_label(const struct gpumc_observables *observables, size_t q);
/* Whether the quantity is a mean; whether it is one, or is formed of each run or sample by itself:
 * such values are averaged over them. */
static inline bool gpumc_quantity_is_mean(const struct gpumc_observables *observables, size_t q)
{
  return observables->quantity[q].what->value == NULL;
}
static inline bool gpumc_quantity_is_of_each(const struct gpumc_observables *observables, size_t q)
{
  return gpumc_quantity_is_mean(observables, q) || observables->quantity[q].what->of_each;
}

/* Of quantity q as a model declares it: the label, the key that asks for it (NULL: none), and
 * whether it is one of pairs of replicas. */
struct gpumc_label gpumc_declared_label(const struct gpumc_model_ops *model, size_t q);
const char *gpumc_declared_request(const struct gpumc_model_ops *model, size_t q);
bool gpumc_declared_paired(const struct gpumc_model_ops *model, size_t q);
/* Which instances have it (gpumc_quantity.applies_where); NULL: all. */
const char *gpumc_declared_where(const struct gpumc_model_ops *model, size_t q);
/* The control, other than the inverse temperature, without the move of which it is not reported, or
 * gpumc_no_control: it is reported only where none is moved; NULL: neither. */
extern const char gpumc_no_control[];
const char *gpumc_declared_moved(const struct gpumc_model_ops *model, size_t q);

/* Where a quantity is evaluated: control[n_controls]. */
struct gpumc_controls {
  double value[GPUMC_CONTROLS_MAXIMUM];
};
/* fixed[GPUMC_CONTROLS_MAXIMUM], the instance's own (gpumc_model.control) or those of a plan, but
 * for the one that is moved, unless none is. */
struct gpumc_controls gpumc_controls_at(const double *fixed, size_t moved, double value);

/* Quantity q from the selected means, mean[n_means]. */
double gpumc_quantity_value(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean);
/* How large the numbers are that it is formed of, for its rounding (estimate.h). */
double gpumc_quantity_scale(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean);
/* At how many of value[count] quantity q is larger than it may be (gpumc_quantity.most), and
 * a warning of that; `beta`: they stand over inverse temperatures. */
enum { GPUMC_EXCESS_BYTES = 512 };
size_t gpumc_quantity_excess(const struct gpumc_observables *observables, size_t q,
                             const double *value, size_t count, bool beta,
                             char text[static GPUMC_EXCESS_BYTES]);
/* Whether its value is known without any measurement. */
bool gpumc_quantity_is_known(const struct gpumc_observables *observables, size_t q,
                             const struct gpumc_model *model,
                             const struct gpumc_controls *controls);

/* Averages over runs or samples: the selected means, then the quantities, which are 0 unless they
 * are formed of each by itself. */
static inline size_t gpumc_averages(const struct gpumc_observables *observables)
{
  return observables->n_means + observables->n_quantities;
}
/* Of one run or sample: average[averages] from mean[n_means]. */
void gpumc_averages_of_each(const struct gpumc_observables *observables,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean, double *average);
/* quantity[n_quantities] from averages over all of them. */
void gpumc_averages_evaluate(const struct gpumc_observables *observables,
                             const struct gpumc_model *model, const struct gpumc_controls *controls,
                             const double *average, double *quantity);

#endif
