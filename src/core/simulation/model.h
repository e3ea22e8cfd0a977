/* Models: what a model tells the rest of the program about itself. */
#ifndef GPUMC_CORE_MODEL_H
#define GPUMC_CORE_MODEL_H

#include <math.h>

#include "core/config/params.h"
#include "core/simulation/kernel.h"
#include "core/storage/recorder.h"

enum { GPUMC_MEANS_MAXIMUM = 24, GPUMC_QUANTITIES_MAXIMUM = 32, GPUMC_USES_MAXIMUM = 4 };

/* A per-replica integer that kernels measure, the energy of models that have one. Its unit, the
 * quantum, depends on the instance: value = integer times gpumc_model.quantum[channel]. The label's
 * unit is as it is reported, GPUMC_UNIT_ENERGY (core/simulation/curves.h) or "1"; its long_name
 * says the normalisation: "magnetization per site". */
struct gpumc_channel {
  struct gpumc_label label;
  /* Costs more than the others: measured only where this key, which the model adds to the block
   * `algorithm`, is true; `request` is its line of help. NULL: always measured. Such channels come
   * after all others. */
  const char *request_key, *request;
  /* Nanoseconds of one core, about, of a measurement with the channels of that key, for each site;
   * 0: not known. */
  double cost;
  /* A profile: not one number but many along this axis, as a histogram of distances is
   * (gpumc_model.profile). It is measured on request only, and no mean is of it; channels with axes
   * of one name have the same one. name NULL: one number. */
  struct gpumc_label axis;
  /* Of a profile: only where one of these controls is moved, as gpumc_mean.controls. */
  uint32_t controls;
};
static inline bool gpumc_channel_is_profile(const struct gpumc_channel *channel)
{
  return channel->axis.name != NULL;
}

/* An integer that kernels measure of two replicas with the same disorder. Its scale depends on the
 * instance (gpumc_model.pair). */
struct gpumc_pair {
  struct gpumc_label label;        /* of its value */
  struct gpumc_label distribution; /* of its probability density; zeroed: none is reported */
};

/* Slow means, by which an algorithm judges equilibrium; some of them only where no pairs are.
 * Chains look at those that are always watched now and then where they are not requested. */
enum gpumc_watch { GPUMC_WATCH_NEVER, GPUMC_WATCH_WITHOUT_PAIRS, GPUMC_WATCH_ALWAYS };

/* What is summed up: x^power or |x|^power of a channel per site, or of a pair; or the product of a
 * channel per site in two replicas, power 1. */
struct gpumc_mean {
  struct gpumc_label label;
  enum gpumc_mean_source source;
  uint8_t index; /* of the channel or the pair */
  uint8_t power; /* 1, 2 or 4 */
  bool absolute; /* power 1 only */
  enum gpumc_watch watch;
  /* Bits: only where one of these is moved, or none (GPUMC_CONTROLS_NONE); 0: whichever is. */
  uint32_t controls;
};

struct gpumc_model;

/* What is reported: a mean, or what follows from means under the controls (gpumc_control). All
 * functions get mean[i] of uses[i]. */
struct gpumc_quantity {
  struct gpumc_label label; /* name NULL: that of the mean */
  uint8_t n_uses, uses[GPUMC_USES_MAXIMUM];
  /* Of `uses`, so many from the first on must be measured; the others are NaN where they are not,
   * and improve the value where they are. 0: all must. */
  uint8_t n_needed;
  /* NaN where means leave it undetermined; NULL: it is the mean. */
  double (*value)(const struct gpumc_model *model, const double *control, const double *mean);
  /* How large the numbers are that `value` is formed of, for its rounding; NULL: as the value. */
  double (*scale)(const struct gpumc_model *model, const double *control, const double *mean);
  /* Whether its value is known without any measurement; NULL: never. */
  bool (*is_known)(const struct gpumc_model *model, const double *control);
  /* Whether an instance has it, and when that is, for readers: "model.h is 0"; NULL: all have. */
  bool (*applies)(const struct gpumc_model *model);
  const char *applies_where;
  uint32_t controls; /* as gpumc_mean.controls: a response to the control that is moved, say */
  /* Formed of each run or sample of the disorder by itself and then averaged, as fluctuations of
   * the energy are; otherwise of averages over all of them. */
  bool of_each;
  /* Of the moves that a kernel makes under its control, as an acceptance is: no average over
   * states, and so left out where measurements are reweighted to other values of a control. */
  bool of_moves;
  /* In equilibrium it is 0 on average over the disorder: what is not 0 has not got there. The name
   * is for a warning: "the Gaussian identity". NULL: no such thing. */
  const char *identity;
  /* Where it is larger than `most`, results are not trusted, and a warning says why, with the
   * remedy: `excess`. NULL: it may be anything. */
  double most;
  const char *excess;
};

/* A number in the weight of a state that an algorithm may move: an inverse temperature, a field, a
 * pressure over the temperature. */
struct gpumc_control {
  struct gpumc_label label; /* of its axis in results; units as those of a channel's label */
  /* The first one may be the inverse temperature: algorithms move it by their block `beta`, and it
   * stays at a value of its own where they move another. */
  bool inverse_temperature;
};

/* In the members `controls` of means and quantities: only where no control is moved. */
enum { GPUMC_CONTROLS_NONE = 1 << GPUMC_CONTROL_NONE };

struct gpumc_model_ops;

/* The values of a pair: integer times unit. The integers lie between -bound and bound, `spacing`
 * apart; spacing = 0: they have no histogram. Where there are any, every kernel that can exchange
 * replicas can compare them, too. */
struct gpumc_pair_scale {
  double unit;
  int64_t bound, spacing;
};

/* A discrete spectrum: every value is lowest + k spacing, 0 <= k < levels, in quanta: one that is
 * not would be counted outside of a histogram; not every level need exist. */
struct gpumc_grid {
  int64_t lowest, spacing;
  size_t levels;
};

/* The numbers of a profile. Both arrays are the model's own. */
struct gpumc_profile {
  size_t width;
  const double *at;   /* [width] along the axis */
  const double *unit; /* [width] the value of each is its integer times that */
};

/* One instance of a model, made from a configuration. What may be left 0 says so. */
struct gpumc_model {
  const struct gpumc_model_ops *ops;
  size_t sites;
  const char *site_word;                  /* what one is for readers, "particle"; NULL: "site" */
  double quantum[GPUMC_CHANNELS_MAXIMUM]; /* unit of each channel but profiles, > 0 */
  struct gpumc_profile profile[GPUMC_CHANNELS_MAXIMUM]; /* of channels that are profiles */
  /* Largest size of each channel, in quanta, > 0: sums of powers are laid out for it. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
  /* Of each channel; levels = 0: its values stand on no grid. */
  struct gpumc_grid grid[GPUMC_CHANNELS_MAXIMUM];
  /* Channels without a grid have values up to their bounds: bins are laid symmetrically about 0,
   * so that none at an end has next to no values. Else they begin at the lower bound. */
  bool reaches_bounds;
  bool disorder;  /* quenched, so that averages over samples are those of different instances */
  size_t samples; /* of the disorder, from the first on; 1 without disorder */
  size_t first_sample; /* its number */
  bool reads_file;     /* samples stand in a file beside the configuration, which may change */
  /* ln Z at beta = 0, from where kernels draw their first states; NaN: there is no such
   * equilibrium, and algorithms that need one refuse the block `beta`. */
  double log_states;
  /* Where each control stays unless an algorithm moves it; NaN: it has no value of its own. */
  double control[GPUMC_CONTROLS_MAXIMUM];
  const char *immovable[GPUMC_CONTROLS_MAXIMUM]; /* why no algorithm can move it; NULL: it can */
  /* Why replicas do not walk under a tabulated weight, with the remedy; NULL: they do, by kernels
   * that have `walk`. */
  const char *unwalkable;
  struct gpumc_pair_scale pair[GPUMC_PAIRS_MAXIMUM]; /* zeroed: not measured */
  /* Of each channel in states of equal weight, in its unit squared; 0: unknown. */
  double variance[GPUMC_CHANNELS_MAXIMUM];
  /* The units in which energies and inverse temperatures are given and reported: "J" and "1/J", or
   * with a coupling of 2.5 "J/2.5" and "2.5/J". */
  char energy_unit[32], beta_unit[32];
  size_t portable_bytes; /* of one replica in portable form */
  size_t recorded_bytes; /* of each sample in the result, by `record`; 0: none */
  void *parameters;      /* the model's own */
};

enum { GPUMC_WARNING_BYTES = 512 };

struct gpumc_model_ops {
  const char *name;
  const char *summary;          /* one line */
  const char *citation;         /* BibTeX */
  const struct gpumc_key *keys; /* without `name` */
  /* "KEY=VALUE", NULL-terminated, dotted keys of a configuration with values in YAML: what a small
   * example has where the algorithm declares the key (gpumc_language_example), in place of
   * gpumc_key.example, such as a range of temperatures in which the model shows what it is for.
   * NULL: nothing. */
  const char *const *examples;
  /* Of the path of a file that `create` reads where the key is set; NULL: there is none. */
  const char *file_key;
  const struct gpumc_channel *channels;
  size_t n_channels;
  /* The channel whose lowest value algorithms keep, as lowest_NAME, and by whose fluctuations they
   * judge errors: the energy where there is one. Its powers 1 and 2 are among the means. */
  size_t tracked;
  const struct gpumc_pair *pairs;
  size_t n_pairs;
  const struct gpumc_mean *means;
  size_t n_means;
  const struct gpumc_quantity *quantities; /* in the order in which they are reported */
  size_t n_quantities;
  /* None: all allowed states have the same weight, and neither `coefficients` nor `tracked` is
   * looked at. Athermal moves serve models with controls, too: no control is moved then. */
  const struct gpumc_control *controls;
  size_t n_controls;
  /* ln of the weight of a state is - sum of coefficient[c] times the value of channel c, under
   * control[n_controls]. Fills coefficient[n_channels]. */
  void (*coefficients)(const struct gpumc_model *model, const double *control, double *coefficient);
  const struct gpumc_kernel_ops *const *kernels; /* NULL-terminated, in order of preference */
  const struct gpumc_check *checks;              /* of its block, without an instance; NULL: none */
  /* From keys without mistakes; see gpumc_model_create. GPUMC_INVALID is reported as a mistake of
   * the configuration. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(const struct gpumc_params *params,
                                               struct gpumc_model *model,
                                               struct gpumc_error *error);
  /* Why no result of the instance is to be trusted, whatever samples it, with the remedy: writes it
   * to `text` and returns the name of the result's attribute; NULL: there is no reason. May be
   * NULL. */
  const char *(*warn)(const struct gpumc_model *model, char text[GPUMC_WARNING_BYTES]);
  /* What of the instance belongs in the result, of the samples 0 .. samples - 1 of an ensemble
   * (gpumc_ensemble_plan); called when the recorder's tables are closed; may be NULL. */
  GPUMC_MUST_CHECK enum gpumc_status (*record)(const struct gpumc_model *model, size_t samples,
                                               struct gpumc_recorder *recorder,
                                               struct gpumc_error *error);
  /* What the sample `number` places after the first is known by, wherever it came from: a checksum
   * of the disorder as kernels have it; NULL: no disorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*sample_checksum)(const struct gpumc_model *model,
                                                        size_t number, uint64_t *checksum,
                                                        struct gpumc_error *error);
  /* Legal after a failed create, and on a zeroed model. */
  void (*destroy)(struct gpumc_model *model);
};

/* Updates, or proposals where the kernel counts those, of a replica in a sweep. */
static inline double gpumc_kernel_trials(const struct gpumc_kernel_ops *kernel,
                                         const struct gpumc_model *model,
                                         const struct gpumc_ensemble_plan *plan)
{
  return kernel->trials != NULL ? kernel->trials(model, plan) : (double)model->sites;
}

/* What they are called. */
static inline const char *gpumc_trials_unit(const struct gpumc_kernel_ops *kernel)
{
  return kernel->trials != NULL ? "trials" : "flips";
}

/* What a site is called; an s makes the plural. */
static inline const char *gpumc_site_word(const struct gpumc_model *model)
{
  return model->site_word != NULL ? model->site_word : "site";
}

/* Whether its first control is an inverse temperature. */
static inline bool gpumc_model_has_temperature(const struct gpumc_model_ops *model)
{
  return model->n_controls > 0 && model->controls[0].inverse_temperature;
}

/* `model` becomes an instance, zeroed before that but for `ops`; after a failure, too, the caller
 * has it destroyed. */
GPUMC_MUST_CHECK static inline enum gpumc_status
gpumc_model_create(const struct gpumc_model_ops *ops, const struct gpumc_params *params,
                   struct gpumc_model *model, struct gpumc_error *error)
{
  *model = (struct gpumc_model){.ops = ops};
  return ops->create(params, model, error);
}

/* All values of a channel in bins of `width` quanta, which is a multiple of the spacing of its
 * grid; 0: in the levels of the grid, of which there are none where the channel has no grid. */
static inline struct gpumc_grid
gpumc_model_bins(const struct gpumc_model *model, size_t channel, int64_t width)
{
  struct gpumc_grid bins = model->grid[channel];
  const bool spectrum = bins.levels > 0;
  const int64_t bound = (int64_t)ceil(model->bound[channel]);
  const int64_t lowest = spectrum ? bins.lowest : -bound;
  const int64_t highest = spectrum ? lowest + bins.spacing * (int64_t)(bins.levels - 1) : bound;
  bins.lowest = lowest;
  if (width == 0) {
    bins.spacing = spectrum ? bins.spacing : 1;
    return bins;
  }
  bins.spacing = width;
  bins.levels = (size_t)((highest - lowest) / width) + 1;
  if (!spectrum && model->reaches_bounds)
    bins.lowest = -((int64_t)bins.levels * width / 2);
  return bins;
}

#endif
