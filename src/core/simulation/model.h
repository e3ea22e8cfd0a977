/* Models: what a model tells the rest of the program about itself. */
#ifndef GPUMC_CORE_MODEL_H
#define GPUMC_CORE_MODEL_H

#include <math.h>

#include "core/config/params.h"
#include "core/simulation/kernel.h"
#include "core/storage/recorder.h"

enum {
  GPUMC_MEANS_MAXIMUM = 32,
  GPUMC_QUANTITIES_MAXIMUM = 32,
  GPUMC_USES_MAXIMUM = 12,
  GPUMC_DOUBTS_MAXIMUM = 2
};

/* A per-replica integer that kernels measure, the energy of models that have one. Its unit, the
 * quantum, depends on the instance: value = integer times gpumc_model.quantum[channel]. The label's
 * unit is that of reports, GPUMC_UNIT_ENERGY (core/simulation/curves.h) or "1"; its long_name
 * states the normalisation: "magnetization per site". */
struct gpumc_channel {
  struct gpumc_label label;
  /* Costs more than the others: measured only if this key, which the model adds to the block
   * `algorithm`, is true; `request` is its line of help. NULL: always measured. Such channels come
   * after all others. */
  const char *request_key, *request;
  /* Approximate nanoseconds of one core for a measurement with the channels of that key, per site;
   * 0: unknown. */
  double cost;
  /* A profile: many numbers along this axis instead of one, such as a histogram of distances
   * (gpumc_model.profile). It is measured only on request, and no mean uses it; channels with axes
   * of the same name share one axis. name NULL: one number. */
  struct gpumc_label axis;
  /* For a profile: only if one of these controls is moved, as in gpumc_mean.controls. */
  uint32_t controls;
};
static inline bool gpumc_channel_is_profile(const struct gpumc_channel *channel)
{
  return channel->axis.name != NULL;
}

/* An integer that kernels measure from two replicas with the same disorder. Its scale depends on
 * the instance (gpumc_model.pair). */
struct gpumc_pair {
  struct gpumc_label label;        /* of its value */
  struct gpumc_label distribution; /* of its probability density; zeroed: none is reported */
};

/* Slow means, by which an algorithm judges equilibrium; some of them only if there are no pairs.
 * Chains measure those that are always watched now and then if they are not requested. */
enum gpumc_watch { GPUMC_WATCH_NEVER, GPUMC_WATCH_WITHOUT_PAIRS, GPUMC_WATCH_ALWAYS };

/* The quantity summed up: x^power or |x|^power of a channel per site, or of a pair; or the product
 * of a channel per site in two replicas, power 1. */
struct gpumc_mean {
  struct gpumc_label label;
  enum gpumc_mean_source source;
  uint8_t index; /* of the channel or the pair */
  uint8_t power; /* 1, 2 or 4 */
  bool absolute; /* power 1 only */
  enum gpumc_watch watch;
  /* Bits: only if one of these controls is moved, or none (GPUMC_CONTROLS_NONE); 0: in any case. */
  uint32_t controls;
};

struct gpumc_model;

/* A reported quantity: a mean, or a function of means and controls (gpumc_control). All functions
 * get mean[i] of uses[i]. */
struct gpumc_quantity {
  struct gpumc_label label; /* name NULL: that of the mean */
  uint8_t n_uses, uses[GPUMC_USES_MAXIMUM];
  /* The first so many of `uses` must be measured; the others are NaN if they are not, and improve
   * the value if they are. 0: all must. */
  uint8_t n_needed;
  /* Returns NaN if means leave it undetermined; NULL: it is the mean. */
  double (*value)(const struct gpumc_model *model, const double *control, const double *mean);
  /* Noise or rounding may leave it undetermined in a good run, as the root of a difference. NaN
   * as a value or an error of any other quantity speaks against a result. */
  bool partial;
  /* Returns the size of the numbers that `value` is computed from, for its rounding; NULL: that of
   * the value. */
  double (*scale)(const struct gpumc_model *model, const double *control, const double *mean);
  /* Returns whether its value is known without any measurement; NULL: never. */
  bool (*is_known)(const struct gpumc_model *model, const double *control);
  /* Returns whether an instance has it, and in words for readers when that is: "model.h is 0";
   * NULL: all have it. */
  bool (*applies)(const struct gpumc_model *model);
  const char *applies_where;
  uint32_t controls; /* as gpumc_mean.controls: for a response to the moved control, say */
  /* Computed for each run or sample of the disorder by itself and then averaged, like fluctuations
   * of the energy; otherwise from averages over all of them. */
  bool of_each;
  /* A property of the moves that a kernel makes under its control, such as an acceptance: not an
   * average over states, and so left out if measurements are reweighted to other values of a
   * control. */
  bool of_moves;
  /* In equilibrium its average, over the disorder if there is any, is 0: a nonzero value means that
   * equilibrium has not been reached, or that the quantities compared are wrong. The name is for a
   * warning: "the Gaussian identity". NULL: no such identity. */
  const char *identity;
  /* What to do if an identity of chains does not hold, a clause for the warning; NULL: it is one of
   * the disorder, which chains do not test. This, `doubts` and `systematic` work where chains make
   * the averages, with or without a temperature, and nowhere else. */
  const char *broken;
  /* Positions, in the model's table, of quantities that say by how much the value changes if the
   * same data are evaluated in another way, such as an extrapolation from a shorter range; what of
   * such a change its own error does not explain is added to the error (gpumc_errors_widen). */
  uint8_t n_doubts, doubts[GPUMC_DOUBTS_MAXIMUM];
  /* Returns the size of a systematic error that is known in advance, such as that of an
   * extrapolation or of the arithmetic of the moves; it is added to the error, too. NULL: none. */
  double (*systematic)(const struct gpumc_model *model, const double *control, const double *mean);
  /* If it is larger than `most`, results are not trusted, and a warning says why, with the remedy:
   * `excess`. NULL: it may be anything. */
  double most;
  const char *excess;
};

/* A number in the weight of a state that an algorithm may move: an inverse temperature, a field, a
 * pressure over the temperature. */
struct gpumc_control {
  struct gpumc_label label; /* of its axis in results; units like those of a channel's label */
  /* Only the first one may be the inverse temperature: algorithms move it by their block `beta`,
   * and it keeps a value of its own if they move another. */
  bool inverse_temperature;
};

/* In the members `controls` of means and quantities: only if no control is moved. */
enum { GPUMC_CONTROLS_NONE = 1 << GPUMC_CONTROL_NONE };

struct gpumc_model_ops;

/* The values of a pair: integer times unit. The integers lie between -bound and bound, `spacing`
 * apart; spacing = 0: they have no histogram. If there are any, every kernel that can exchange
 * replicas can also compare them. */
struct gpumc_pair_scale {
  double unit;
  int64_t bound, spacing;
};

/* A discrete spectrum: every value is lowest + k spacing, 0 <= k < levels, in quanta; any other
 * value would be counted outside of a histogram. Not every level need exist. */
struct gpumc_grid {
  int64_t lowest, spacing;
  size_t levels;
};

/* The values of the levels of a grid that are not whole numbers of quanta: level k is at (first +
 * k) step / parts, in the channel's unit, and kernels measure any of the numbers of quanta from
 * lowest + k spacing on that are below those of the next level. step = 0: the grid says all. */
struct gpumc_levels {
  double first, step, parts;
  size_t gap; /* levels in a row that may have no states between others that have */
};

/* The numbers of a profile. Both arrays belong to the model. */
struct gpumc_profile {
  size_t width;
  const double *at;   /* [width] along the axis */
  const double *unit; /* [width] the value of each is its integer times this */
};

/* One instance of a model, made from a configuration. Fields that may be left 0 say so. */
struct gpumc_model {
  const struct gpumc_model_ops *ops;
  size_t sites;
  const char *site_word;                  /* word for a site in messages, "particle"; NULL:
                                           * "site" */
  double quantum[GPUMC_CHANNELS_MAXIMUM]; /* unit of each channel except profiles, > 0 */
  struct gpumc_profile profile[GPUMC_CHANNELS_MAXIMUM]; /* for channels that are profiles */
  /* Largest absolute value of each channel, in quanta, > 0: determines the size of sums of
   * powers. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
  /* For each channel; levels = 0: its values are not on a grid. */
  struct gpumc_grid grid[GPUMC_CHANNELS_MAXIMUM];
  /* Channels without a grid have values up to their bounds: bins are laid symmetrically about 0, so
   * that none at an end has next to no values. Otherwise they begin at the lower bound. */
  bool reaches_bounds;
  bool disorder;       /* quenched, so averages over samples are those of different instances */
  size_t samples;      /* of the disorder, from the first on; 1 without disorder */
  size_t first_sample; /* its number */
  bool reads_file;     /* samples are in a file beside the configuration, which may change */
  /* ln Z at beta = 0, where kernels draw their first states; NaN: there is no such equilibrium, and
   * algorithms that need one refuse the block `beta`. `free_site`: what a free site counts in it
   * if that is no number of states, "ln(4 pi)"; NULL: it is one. */
  double log_states;
  const char *free_site;
  /* The value of each control unless an algorithm moves it; NaN: it has no value of its own. */
  double control[GPUMC_CONTROLS_MAXIMUM];
  const char *immovable[GPUMC_CONTROLS_MAXIMUM]; /* why no algorithm can move it; NULL: it can */
  /* Why replicas do not walk under a tabulated weight, with the remedy; NULL: they do, by kernels
   * that have `walk`. */
  const char *unwalkable;
  struct gpumc_pair_scale pair[GPUMC_PAIRS_MAXIMUM]; /* zeroed: not measured */
  /* The variance of each channel in states of equal weight, in its unit squared; 0: unknown. */
  double variance[GPUMC_CHANNELS_MAXIMUM];
  /* The units in which energies and inverse temperatures are given and reported: "J" and "1/J", or
   * with a coupling of 2.5 "J/2.5" and "2.5/J". */
  char energy_unit[32], beta_unit[32];
  size_t portable_bytes; /* of one replica in portable form */
  size_t recorded_bytes; /* of each sample in the result, written by `record`; 0: none */
  void *parameters;      /* the model's own */
  struct gpumc_levels level[GPUMC_CHANNELS_MAXIMUM]; /* for channels with a grid */
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
   * judge errors: the energy if there is one. Its powers 1 and 2 are among the means. */
  size_t tracked;
  const struct gpumc_pair *pairs;
  size_t n_pairs;
  const struct gpumc_mean *means;
  size_t n_means;
  const struct gpumc_quantity *quantities; /* in the order in which they are reported */
  size_t n_quantities;
  /* NULL or none: all allowed states have the same weight, and neither `coefficients` nor `tracked`
   * is used. Athermal moves serve models with controls, too: no control is moved then. */
  const struct gpumc_control *controls;
  size_t n_controls;
  /* Fills coefficient[n_channels]: ln of the weight of a state is - sum of coefficient[c] times the
   * value of channel c, under control[n_controls]. */
  void (*coefficients)(const struct gpumc_model *model, const double *control, double *coefficient);
  const struct gpumc_kernel_ops *const *kernels; /* NULL-terminated, in order of preference */
  const struct gpumc_check *checks;              /* for its block, without an instance; NULL:
                                                  * none */
  /* Makes an instance from keys without mistakes; see gpumc_model_create. GPUMC_INVALID is reported
   * as a mistake of the configuration. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(const struct gpumc_params *params,
                                               struct gpumc_model *model,
                                               struct gpumc_error *error);
  /* Writes to `text` why no result of the instance is to be trusted, whatever samples it, with the
   * remedy, and returns the name of the result's attribute; NULL: there is no reason. May be
   * NULL. */
  const char *(*warn)(const struct gpumc_model *model, char text[GPUMC_WARNING_BYTES]);
  /* Writes the parts of the instance that belong in the result, for the samples 0 .. samples - 1 of
   * an ensemble (gpumc_ensemble_plan); called when the recorder's tables are closed; may be
   * NULL. */
  GPUMC_MUST_CHECK enum gpumc_status (*record)(const struct gpumc_model *model, size_t samples,
                                               struct gpumc_recorder *recorder,
                                               struct gpumc_error *error);
  /* Computes the identity of the sample `number` places after the first, wherever it came from: a
   * checksum of the disorder as kernels have it; NULL: no disorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*sample_checksum)(const struct gpumc_model *model,
                                                        size_t number, uint64_t *checksum,
                                                        struct gpumc_error *error);
  /* Legal after a failed create, and on a zeroed model. */
  void (*destroy)(struct gpumc_model *model);
};

/* Returns the name of a kernel's updates, or of its proposals if it counts those. */
static inline const char *gpumc_trials_unit(const struct gpumc_kernel_ops *kernel)
{
  return kernel->trials != NULL ? "trials" : "flips";
}

/* Returns the word for a site; an s makes the plural. */
static inline const char *gpumc_site_word(const struct gpumc_model *model)
{
  return model->site_word != NULL ? model->site_word : "site";
}

/* Returns whether its first control is an inverse temperature. */
static inline bool gpumc_model_has_temperature(const struct gpumc_model_ops *model)
{
  return model->n_controls > 0 && model->controls[0].inverse_temperature;
}

/* Makes `model` an instance, which is first zeroed except for `ops`; the caller destroys it, even
 * after a failure. */
GPUMC_MUST_CHECK static inline enum gpumc_status
gpumc_model_create(const struct gpumc_model_ops *ops, const struct gpumc_params *params,
                   struct gpumc_model *model, struct gpumc_error *error)
{
  *model = (struct gpumc_model){.ops = ops};
  return ops->create(params, model, error);
}

/* Returns the value of a level of a channel that has a grid, or the middle between two of them. */
static inline double
gpumc_level_value(const struct gpumc_model *model, size_t channel, double level)
{
  const struct gpumc_grid *grid = &model->grid[channel];
  const struct gpumc_levels *known = &model->level[channel];
  if (known->step > 0.0)
    return (known->first + level) * known->step / known->parts;
  return ((double)grid->lowest + level * (double)grid->spacing) * model->quantum[channel];
}

/* Returns the distance of two levels of a channel that has a grid. */
static inline double gpumc_level_distance(const struct gpumc_model *model, size_t channel)
{
  const struct gpumc_levels *known = &model->level[channel];
  return known->step > 0.0 ? known->step / known->parts
                           : (double)model->grid[channel].spacing * model->quantum[channel];
}

/* Returns bins of `width` quanta for all values of a channel, a multiple of the spacing of its
 * grid; 0: the levels of the grid, of which there are none if the channel has no grid. */
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
