/* The means of a model that a run sums up, and the quantities that follow from them. */
#ifndef GPUMC_CORE_OBSERVABLES_H
#define GPUMC_CORE_OBSERVABLES_H

#include "core/device/tally.h"
#include "core/simulation/model.h"

/* Placeholder in an algorithm's table for the keys that request channels
 * (gpumc_channel.request_key): the language replaces it, in its copy of the table, by those of all
 * models that support the algorithm's target. */
extern const char *const gpumc_request_choices[GPUMC_SWEPT_TARGETS][1];
#define GPUMC_REQUESTS_KEY_FOR(target)                                                             \
  {                                                                                                \
    .name = "requests", .type = GPUMC_KEY_CHOICE, .choices = gpumc_request_choices[target]         \
  }
#define GPUMC_REQUESTS_KEY GPUMC_REQUESTS_KEY_FOR(GPUMC_BOLTZMANN)

enum { GPUMC_NOT_MEASURED = UINT8_MAX };

/* A quantity; `uses` refers to the selected means, GPUMC_NOT_MEASURED: not among them. */
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

/* Selects all means of channels that are measured without request or are among `requested`, a bit
 * each. `paired`: an instance whose replicas are compared in pairs; NULL: no means of pairs.
 * Products are measured for instances with disorder, where they differ from products of means.
 * Quantities are selected if their means are available, and if `paired` has them. */
struct gpumc_observables gpumc_observables_select(const struct gpumc_model_ops *model,
                                                  uint32_t requested,
                                                  const struct gpumc_model *paired);
/* Selects what the keys of an algorithm's block request, if it moves control number `moved`, or
 * none; `moved` is 0 in the function above. */
struct gpumc_observables gpumc_observables_of(const struct gpumc_params *params,
                                              const struct gpumc_model_ops *model,
                                              const struct gpumc_model *paired, size_t moved);
/* Removes the quantities that an instance does not have. */
struct gpumc_observables gpumc_observables_that_apply(const struct gpumc_observables *selected,
                                                      const struct gpumc_model *instance);
/* Reports a mistake if the key, one in the block of an algorithm with this target, requests
 * something that the model does not have, or not under such a target, or quantities of which the
 * instance has none. */
void gpumc_observables_check(const struct gpumc_params *params, const char *key,
                             const struct gpumc_model_ops *model, enum gpumc_target_kind target,
                             struct gpumc_report *report);
/* Returns whether the key requests a profile. */
bool gpumc_observables_is_profile(const struct gpumc_model_ops *model, const char *key);
void gpumc_observables_check_instance(const struct gpumc_params *params, const char *key,
                                      const struct gpumc_model *instance,
                                      struct gpumc_report *report);

/* Returns the position of x^power of a channel among the selected means, n_means if it is not
 * measured. */
size_t gpumc_observables_power(const struct gpumc_observables *observables, size_t channel,
                               unsigned power);
/* Returns the position of the quantity that is a mean itself, n_quantities if none is. */
size_t gpumc_observables_reported(const struct gpumc_observables *observables, size_t mean);
/* Returns the value of one quantum of a mean's source: per site for channels. */
double gpumc_mean_unit(const struct gpumc_mean *mean, const struct gpumc_model *model);
/* Returns the sum of that power, as devices form it. */
enum gpumc_moment_choice gpumc_mean_sum(const struct gpumc_mean *mean);

struct gpumc_label gpumc_quantity_label(const struct gpumc_observables *observables, size_t q);
/* Returns whether the quantity is a mean; or whether it is one, or is computed for each run or
 * sample by itself: such values are averaged over them. */
static inline bool gpumc_quantity_is_mean(const struct gpumc_observables *observables, size_t q)
{
  return observables->quantity[q].what->value == NULL;
}
static inline bool gpumc_quantity_is_of_each(const struct gpumc_observables *observables, size_t q)
{
  return gpumc_quantity_is_mean(observables, q) || observables->quantity[q].what->of_each;
}

/* Return, for quantity q as a model declares it: the label, the key that requests it (NULL: none),
 * and whether it is one of pairs of replicas. */
struct gpumc_label gpumc_declared_label(const struct gpumc_model_ops *model, size_t q);
const char *gpumc_declared_request(const struct gpumc_model_ops *model, size_t q);
bool gpumc_declared_paired(const struct gpumc_model_ops *model, size_t q);
/* Returns which instances have it (gpumc_quantity.applies_where); NULL: all. */
const char *gpumc_declared_where(const struct gpumc_model_ops *model, size_t q);
/* Returns the control, other than the inverse temperature, that must be moved for it to be
 * reported, or gpumc_no_control: it is reported only if none is moved; NULL: neither. */
extern const char gpumc_no_control[];
const char *gpumc_declared_moved(const struct gpumc_model_ops *model, size_t q);

/* The controls at which a quantity is evaluated: control[n_controls]. */
struct gpumc_controls {
  double value[GPUMC_CONTROLS_MAXIMUM];
};
/* Returns fixed[GPUMC_CONTROLS_MAXIMUM], the instance's own (gpumc_model.control) or those of a
 * plan, with the moved one, if any, replaced by `value`. */
struct gpumc_controls gpumc_controls_at(const double *fixed, size_t moved, double value);

/* Returns quantity q from the selected means, mean[n_means]. */
double gpumc_quantity_value(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean);
/* Returns the size of the numbers that it is computed from, for its rounding (estimate.h). */
double gpumc_quantity_scale(const struct gpumc_observables *observables, size_t q,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean);
/* Adds to error[n_quantities] of value[n_quantities], squared, what the errors of chains, samples
 * or bins do not show: the systematic errors of quantities, and those of its doubts that are larger
 * than twice their own errors, less the square of that. If nothing is wrong, that adds 8 % of the
 * variance of a doubt on average. `average`: the selected means. */
void gpumc_errors_widen(const struct gpumc_observables *observables,
                        const struct gpumc_model *model, const struct gpumc_controls *controls,
                        const double *average, const double *value, double *error);
/* Counts at how many of value[count] quantity q exceeds its limit (gpumc_quantity.most), and writes
 * a warning; `beta`: the values are over inverse temperatures. */
enum { GPUMC_EXCESS_BYTES = 512 };
size_t gpumc_quantity_excess(const struct gpumc_observables *observables, size_t q,
                             const double *value, size_t count, bool beta,
                             char text[static GPUMC_EXCESS_BYTES]);
/* Counts at how many of value[count] an identity of chains (gpumc_quantity.broken) is more than
 * GPUMC_IDENTITY_ERRORS errors away from 0, and writes a warning likewise. Such results are not
 * trusted. */
#define GPUMC_IDENTITY_ERRORS 3.0
size_t gpumc_identity_broken(const struct gpumc_observables *observables, size_t q,
                             const double *value, const double *error, size_t count, bool beta,
                             char text[static GPUMC_EXCESS_BYTES]);
/* Returns whether its value is known without any measurement. */
bool gpumc_quantity_is_known(const struct gpumc_observables *observables, size_t q,
                             const struct gpumc_model *model,
                             const struct gpumc_controls *controls);

/* Averages over runs or samples: the selected means, then the quantities, which are 0 unless they
 * are computed for each by itself. */
static inline size_t gpumc_averages(const struct gpumc_observables *observables)
{
  return observables->n_means + observables->n_quantities;
}
/* Computes average[averages] from mean[n_means], for one run or sample. */
void gpumc_averages_of_each(const struct gpumc_observables *observables,
                            const struct gpumc_model *model, const struct gpumc_controls *controls,
                            const double *mean, double *average);
/* Computes quantity[n_quantities] from averages over all of them. */
void gpumc_averages_evaluate(const struct gpumc_observables *observables,
                             const struct gpumc_model *model, const struct gpumc_controls *controls,
                             const double *average, double *quantity);

#endif
