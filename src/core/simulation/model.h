/* Models: what a model tells the rest of the program about itself. */
#ifndef GPUMC_CORE_MODEL_H
#define GPUMC_CORE_MODEL_H

#include "core/config/params.h"
#include "core/simulation/kernel.h"

/* A per-replica integer quantity that kernels measure. Channel 0 is always the energy. Its unit,
 * the quantum, depends on the instance: value = integer times gpumc_model.quantum[channel]. */
struct gpumc_channel {
  const char *name;   /* "magnetization" */
  const char *symbol; /* "M" */
  const char *units;  /* as it is reported, GPUMC_UNIT_ENERGY (core/simulation/curves.h) or "1" */
  const char *long_name; /* says the normalisation: "magnetization per site" */
  /* Costs more than the others: measured only where it is asked for. Behind all that do not. */
  bool on_request;
};

/* How an observable follows from a channel x, per site: <x>/N, <|x|>/N, <x^2>/N^2, <x^4>/N^4. */
enum gpumc_moment {
  GPUMC_MOMENT_MEAN,
  GPUMC_MOMENT_ABSOLUTE,
  GPUMC_MOMENT_SECOND,
  GPUMC_MOMENT_FOURTH
};

/* A declared observable beyond the energy and what follows from it (specific heat, free energy,
 * entropy), which every model has. */
struct gpumc_observable {
  const char *name;      /* dataset name: "abs_magnetization" */
  const char *symbol;    /* "<|m|>" */
  const char *units;     /* "1" */
  const char *long_name; /* says the normalisation: "absolute magnetization per site" */
  size_t channel;
  enum gpumc_moment moment;
};

/* Quantities that follow from averages of observables and are no averages themselves. */
enum gpumc_derivation {
  GPUMC_BINDER_PARAMETER,  /* 1 - m4 / (3 m2^2), from = {m2, m4} */
  GPUMC_CORRELATION_LENGTH /* (N m2 / S - 1)^(1/2) / (2 sin(k/2)), from = {m2, S}, k the smallest */
};
struct gpumc_derived {
  const char *name;
  const char *symbol;
  const char *units;
  const char *long_name;
  enum gpumc_derivation derivation;
  size_t from[2]; /* observables, by index */
};

/* A number in the weight of a state that an algorithm may move: an inverse temperature, a field. */
struct gpumc_control {
  const char *name;      /* "beta"; of its axis in results, too */
  const char *symbol;    /* "beta" */
  const char *units;     /* as it is reported, GPUMC_UNIT_BETA, GPUMC_UNIT_ENERGY */
  const char *long_name; /* "inverse temperature" */
};

enum gpumc_trait {
  GPUMC_TRAIT_LATTICE = 1 << 0,
  GPUMC_TRAIT_PARTICLES = 1 << 1,
  /* A site has one other state to go to, so that Metropolis sweeps at beta = 0 never change the
   * energy: they are refused (core/simulation/sweeps.h). */
  GPUMC_TRAIT_TWO_STATES = 1 << 2,
};

struct gpumc_model_ops;
struct gpumc_recorder;

/* One instance of a model, made from a configuration. What may be left 0 says so. */
struct gpumc_model {
  const struct gpumc_model_ops *ops;
  size_t sites;
  double quantum[GPUMC_CHANNELS_MAXIMUM]; /* unit of each channel, > 0 */
  /* Largest size of each channel, in quanta, > 0: sums of powers are laid out for it. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
  /* Discrete spectrum: every energy is lowest + k spacing, 0 <= k < levels, in quanta: one that is
   * not would be counted outside of a histogram; not every level need exist. levels = 0: none. */
  int64_t lowest, spacing;
  size_t levels;
  bool disorder;  /* quenched, so that averages over samples are those of different instances */
  size_t samples; /* of the disorder that there are, from the first on; 1 without disorder */
  size_t first_sample; /* its number */
  bool reads_file;     /* samples stand in a file beside the configuration, which may change */
  double log_states;   /* ln Z at beta = 0 */
  /* Where each control stays unless an algorithm moves it; NaN: it has no value of its own. */
  double control[GPUMC_CONTROLS_MAXIMUM];
  const char *immovable[GPUMC_CONTROLS_MAXIMUM]; /* why no algorithm can move it; NULL: it can */
  /* Lattices: the smallest wave number 2 pi / L, and the unit of squared wave amplitudes, both of
   * spins and of overlaps; wave_quantum = 0: waves are not measured. */
  double wave_number, wave_quantum;
  /* Overlaps of spins and of links lie between -bound and bound, spacing > 0 apart; bound = 0: not
   * measured. Links and waves are measured only beside spins. Where spins are, every kernel that
   * can exchange can overlap. */
  int64_t overlap_bound[GPUMC_OVERLAPS], overlap_spacing[GPUMC_OVERLAPS];
  /* Gaussian couplings and no field: sum of the couplings' variances, per site; else 0. */
  double bond_variance;
  double energy_variance; /* at beta = 0, in the unit of the energy squared; 0: unknown */
  /* The units in which energies and inverse temperatures are given and reported: "J" and "1/J", or
   * with a coupling of 2.5 "J/2.5" and "2.5/J". */
  char energy_unit[32], beta_unit[32];
  size_t portable_bytes; /* of one replica in portable form */
  size_t recorded_bytes; /* of each sample in the result, by `record`; 0: none */
  void *parameters;      /* the model's own */
};

struct gpumc_model_ops {
  const char *name;
  const char *summary;          /* one line */
  const char *citation;         /* BibTeX */
  uint32_t traits;              /* of enum gpumc_trait */
  const struct gpumc_key *keys; /* without `name` */
  /* Of the path of a file that `create` reads where the key is set; NULL: there is none. */
  const char *file_key;
  const struct gpumc_channel *channels;
  size_t n_channels;
  const struct gpumc_observable *observables;
  size_t n_observables;
  const struct gpumc_derived *derived;
  size_t n_derived;
  const struct gpumc_control *controls; /* the first is moved by default */
  size_t n_controls;
  /* ln of the weight of a state is - sum of coefficient[c] times the value of channel c, under
   * control[n_controls]. Fills coefficient[n_channels]. */
  void (*coefficients)(const struct gpumc_model *model, const double *control, double *coefficient);
  const struct gpumc_kernel_ops *const *kernels; /* NULL-terminated, in order of preference */
  const struct gpumc_check *checks;              /* of its block, without an instance; NULL: none */
  /* From keys without mistakes. `model` is zeroed; its `ops` is set by the caller. GPUMC_INVALID is
   * told as a mistake of the configuration. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(const struct gpumc_params *params,
                                               struct gpumc_model *model,
                                               struct gpumc_error *error);
  /* What of the instance belongs in the result, of the samples 0 .. samples - 1 of an ensemble
   * (gpumc_ensemble_plan); asked for when the recorder's tables are closed; may be NULL. */
  GPUMC_MUST_CHECK enum gpumc_status (*record)(const struct gpumc_model *model, size_t samples,
                                               struct gpumc_recorder *recorder,
                                               struct gpumc_error *error);
  /* What sample `number` behind the first is known by, wherever it came from: a checksum of the
   * disorder as kernels have it; NULL: no disorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*sample_checksum)(const struct gpumc_model *model,
                                                        size_t number, uint64_t *checksum,
                                                        struct gpumc_error *error);
  /* Why sweeps with `update: metropolis` alone do not reach every state of one of the samples
   * 0 .. samples - 1 behind the first, with the remedy; `*warning` is NULL where they do. May be
   * NULL: they always do. GPUMC_FAILURE when memory ran out. */
  GPUMC_MUST_CHECK enum gpumc_status (*ergodicity)(const struct gpumc_model *model, size_t samples,
                                                   const char **warning, struct gpumc_error *error);
  /* Legal after a failed create, and on a zeroed model. */
  void (*destroy)(struct gpumc_model *model);
};

#endif
