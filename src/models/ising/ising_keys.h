/* Keys that models of Ising spins share, how they are read and checked, and which kernel cannot
 * take what. Initialisers of struct gpumc_key. */
#ifndef GPUMC_ISING_KEYS_H
#define GPUMC_ISING_KEYS_H

#include "models/ising/ising.h"
#include "models/lattice/disorder/disorder_keys.h"

/* `least`, `most`: numbers of dimensions; `small`: an example, in YAML. */
#define ISING_KEY_SHAPE(least, most, small, text)                                                  \
  {                                                                                                \
    .name = "shape", .type = GPUMC_KEY_INTEGER, .doc = (text), .unit = "sites", .minimum = 2,      \
    .maximum = 1048576, .multiple_of = 2, .list_minimum = (least), .list_maximum = (most),         \
    .example = (small), .required = true, .sweepable = true                                        \
  }

#define ISING_KEY_COUPLING                                                                         \
  {                                                                                                \
    .name = "J", .type = GPUMC_KEY_REAL,                                                           \
    .doc = "Coupling of nearest neighbours, positive for a ferromagnet; must not be "              \
           "0.",                                                                                   \
    .default_text = "1.0", .unit = "energy", .minimum = -1e6, .maximum = 1e6, .sweepable = true    \
  }

#define ISING_KEY_FIELD                                                                            \
  {                                                                                                \
    .name = "h", .type = GPUMC_KEY_REAL, .doc = "Magnetic field.", .default_text = "0.0",          \
    .unit = "energy", .minimum = -1e6, .maximum = 1e6, .sweepable = true                           \
  }

extern const struct gpumc_key ising_random_field_keys[];
#define ISING_KEY_RANDOM_FIELD                                                                     \
  {                                                                                                \
    .name = "random_field", .type = GPUMC_KEY_MAPPING, .children = ising_random_field_keys,        \
    .doc = "A quenched random field at every site, on top of h."                                   \
  }

/* Of models that have these keys; in their tables of checks. */
void ising_check_shape(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report);
void ising_check_coupling(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report);
void ising_check_random_field(const struct gpumc_params *params,
                              const struct gpumc_subject *subject, struct gpumc_report *report);
#define ISING_CHECK_SHAPE                                                                          \
  {                                                                                                \
    .reads = "shape", .run = ising_check_shape                                                     \
  }
#define ISING_CHECK_COUPLING                                                                       \
  {                                                                                                \
    .reads = "J", .run = ising_check_coupling                                                      \
  }
#define ISING_CHECK_RANDOM_FIELD                                                                   \
  {                                                                                                \
    .reads = "random_field", .run = ising_check_random_field                                       \
  }
/* Whether random fields are drawn. */
bool ising_has_random_field(const struct gpumc_params *params);

/* Into `settings`: shape and dimension; h, random_field, disorder_seed, sample and
 * write_couplings. */
void ising_read_shape(const struct gpumc_params *params, struct ising_settings *settings);
void ising_read_fields(const struct gpumc_params *params, struct ising_settings *settings);

#endif
