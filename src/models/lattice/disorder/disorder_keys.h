/* Keys that models with quenched couplings share, and how they are checked and read. Initialisers
 * of struct gpumc_key. */
#ifndef GPUMC_LATTICE_DISORDER_KEYS_H
#define GPUMC_LATTICE_DISORDER_KEYS_H

#include "models/lattice/disorder/disorder.h"

/* `distributions`: names among those of lattice_read_disorder; the first is the default. */
#define LATTICE_KEY_COUPLINGS(distributions, text)                                                 \
  {                                                                                                \
    .name = "couplings", .type = GPUMC_KEY_CHOICE, .doc = (text),                                  \
    .default_text = (distributions)[0], .choices = (distributions), .sweepable = true              \
  }

#define LATTICE_KEY_POSITIVE                                                                       \
  {                                                                                                \
    .name = "p", .type = GPUMC_KEY_REAL,                                                           \
    .doc = "Probability of the coupling +1; bimodal couplings only.", .default_text = "0.5",       \
    .minimum = 0, .maximum = 1, .sweepable = true                                                  \
  }

#define LATTICE_KEY_FILE                                                                           \
  {                                                                                                \
    .name = "file", .type = GPUMC_KEY_STRING,                                                      \
    .doc = "Path of the file with the couplings, text or HDF5; docs/file-format.md "               \
           "describes its form.",                                                                  \
    .sweepable = true, .of_samples = true                                                          \
  }

#define LATTICE_KEY_DISORDER_SEED                                                                  \
  {                                                                                                \
    .name = "disorder_seed", .type = GPUMC_KEY_INTEGER,                                            \
    .doc = "Seed of the quenched disorder, separate from that of the simulation.",                 \
    .default_text = "0", .minimum = 0, .maximum = (double)GPUMC_SEED_MAXIMUM, .sweepable = true,   \
    .of_samples = true                                                                             \
  }

#define LATTICE_KEY_SAMPLE                                                                         \
  {                                                                                                \
    .name = "sample", .type = GPUMC_KEY_INTEGER,                                                   \
    .doc =                                                                                         \
        "Number of the disorder sample, or of the first one if an algorithm simulates several.",   \
    .default_text = "0", .minimum = 0, .maximum = (double)LATTICE_SAMPLES_MAXIMUM,                 \
    .sweepable = true, .of_samples = true                                                          \
  }

/* `what` of a sample the model has. */
#define LATTICE_KEY_WRITE_COUPLINGS(what)                                                          \
  {                                                                                                \
    .name = "write_couplings", .type = GPUMC_KEY_BOOLEAN,                                          \
    .doc = "Whether " what " are written into the result, in a "                                   \
           "form that can be read back.",                                                          \
    .default_text = "false", .of_samples = true                                                    \
  }

/* Whether `couplings` is this. */
bool lattice_couplings_are(const struct gpumc_params *params, const char *distribution);
/* disorder_seed or sample, not 0 where nothing depends on it: `why`. */
void lattice_check_unused(const struct gpumc_params *params, struct gpumc_report *report,
                          const char *key, const char *why);
/* Of models that have these keys; in their tables of checks. */
void lattice_check_file(const struct gpumc_params *params, const struct gpumc_subject *subject,
                        struct gpumc_report *report);
void lattice_check_positive(const struct gpumc_params *params, const struct gpumc_subject *subject,
                            struct gpumc_report *report);
#define LATTICE_CHECK_FILE                                                                         \
  {                                                                                                \
    .reads = "couplings file", .run = lattice_check_file                                           \
  }
#define LATTICE_CHECK_POSITIVE                                                                     \
  {                                                                                                \
    .reads = "couplings p", .run = lattice_check_positive                                          \
  }

/* Into `settings`: couplings (uniform, bimodal, gaussian or file), p and file; disorder_seed and
 * sample. */
void lattice_read_couplings(const struct gpumc_params *params,
                            struct lattice_disorder_settings *settings);
void lattice_read_sample(const struct gpumc_params *params,
                         struct lattice_disorder_settings *settings);

#endif
