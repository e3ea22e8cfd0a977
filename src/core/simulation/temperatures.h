/* Lists of inverse temperatures from keys: declared, checked and read. */
#ifndef GPUMC_CORE_TEMPERATURES_H
#define GPUMC_CORE_TEMPERATURES_H

#include "core/config/params.h"
#include "core/simulation/curves.h"

#define GPUMC_BETA_MAXIMUM 1e6

/* Initialisers of struct gpumc_key, the further members behind: an inverse temperature, or the
 * spacing of some. */
#define GPUMC_BETA_KEY(key, ...)                                                                   \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_REAL, .minimum = 0, .maximum = GPUMC_BETA_MAXIMUM,            \
    .unit = GPUMC_UNIT_BETA, __VA_ARGS__                                                           \
  }
#define GPUMC_BETA_STEP_KEY(...) GPUMC_BETA_KEY("step", .minimum_exclusive = true, __VA_ARGS__)

/* The block `beta` of an algorithm that simulates from `least` to `most` temperatures side by side:
 * both ends with the spacing or the number, or the values themselves. */
extern const char *const gpumc_spacing_choices[];
#define GPUMC_TEMPERATURES_KEYS(least, most)                                                       \
  GPUMC_BETA_KEY("from", .sweepable = true,                                                        \
                 .doc = "First inverse temperature, with `step` or `count`."),                     \
      GPUMC_BETA_KEY("to", .sweepable = true,                                                      \
                     .doc = "Last inverse temperature, with `step` or `count`."),                  \
      GPUMC_BETA_STEP_KEY(.sweepable = true, .exactly_one_of = "temperatures",                     \
                          .doc = "Spacing from `from` to `to`."),                                  \
      {.name = "count",                                                                            \
       .type = GPUMC_KEY_INTEGER,                                                                  \
       .minimum = 2,                                                                               \
       .maximum = (most),                                                                          \
       .sweepable = true,                                                                          \
       .exactly_one_of = "temperatures",                                                           \
       .doc = "Number of temperatures, both ends included."},                                      \
      GPUMC_BETA_KEY("values", .list_minimum = (least), .list_maximum = (most), .ascending = true, \
                     .sweepable = true, .exactly_one_of = "temperatures",                          \
                     .doc = "The inverse temperatures themselves."),                               \
  {                                                                                                \
    .name = "spacing", .type = GPUMC_KEY_CHOICE, .choices = gpumc_spacing_choices,                 \
    .doc = "How `count` temperatures are spaced: with a constant ratio of "                        \
           "neighbours (geometric, the default) or in equal steps of beta (linear)."               \
  }

/* Mistakes in the block that the table cannot tell: what does not go together, fewer than `least`
 * temperatures or more than `most`, or such that are not all different. */
void gpumc_temperatures_check(const struct gpumc_params *params, size_t least, size_t most,
                              struct gpumc_report *report);
/* Of a block without mistakes: how many there are, and beta[count], ascending. */
size_t gpumc_temperatures_count(const struct gpumc_params *params);
void gpumc_temperatures_read(const struct gpumc_params *params, double *beta);

/* Into `defaults`, of an algorithm (gpumc_algorithm_ops.defaults): that of `spacing`, where there
 * is one. False when memory ran out. */
bool gpumc_temperatures_default(const struct gpumc_params *params, cJSON *defaults);

/* A block with the keys `from`, `to` and `step`, that of reweighting for one: from + i step as far
 * as `to`; a rest below a millionth of a step is rounding. */
struct gpumc_range {
  double from, to, step;
};
struct gpumc_range gpumc_range_read(const struct gpumc_params *params, const char *block);
/* The number of points: a double, since the keys allow for any. */
double gpumc_range_count(const struct gpumc_range *range);
double gpumc_range_point(const struct gpumc_range *range, size_t i);
/* Mistakes of one that needs all three keys and has at most so many points. */
void gpumc_range_check(const struct gpumc_params *params, const char *block, size_t most,
                       struct gpumc_report *report);

#endif
