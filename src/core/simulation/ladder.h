/* Ladders of a control, such as lists of inverse temperatures, from keys: declared, checked and
 * read; and how the weight follows the control that an algorithm moves. */
#ifndef GPUMC_CORE_LADDER_H
#define GPUMC_CORE_LADDER_H

#include "core/config/params.h"
#include "core/simulation/curves.h"

#define GPUMC_BETA_MAXIMUM 1e6

/* Initialisers of struct gpumc_key, the further members after it: an inverse temperature, or the
 * spacing of some. Files may give temperatures in their place (core/config/temperatures.h), of
 * which `temperature_doc` speaks. */
#define GPUMC_BETA_KEY(key, ...)                                                                   \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_REAL, .minimum = 0, .maximum = GPUMC_BETA_MAXIMUM,            \
    .unit = GPUMC_UNIT_BETA, __VA_ARGS__                                                           \
  }
#define GPUMC_BETA_STEP_KEY(...) GPUMC_BETA_KEY("step", .minimum_exclusive = true, __VA_ARGS__)

/* How many values there are, one of the keys of `group` that say so. */
#define GPUMC_COUNT_KEY(most, group, shown, meaning)                                               \
  {                                                                                                \
    .name = "count", .type = GPUMC_KEY_INTEGER, .minimum = 2, .maximum = (most),                   \
    .sweepable = true, .exactly_one_of = (group), .example = (shown), .doc = (meaning)             \
  }

/* The block `beta` of an algorithm that simulates from `least` to `most` temperatures side by side:
 * both ends with the spacing or the number, or the values themselves. */
extern const char *const gpumc_spacing_choices[];
#define GPUMC_TEMPERATURES_KEYS(least, most)                                                       \
  GPUMC_BETA_KEY("from", .sweepable = true, .example = "0.1",                                      \
                 .doc = "First inverse temperature, with `step` or `count`.",                      \
                 .temperature_doc = "First temperature, with `step` or `count`; the hottest or "   \
                                    "the coldest."),                                               \
      GPUMC_BETA_KEY("to", .sweepable = true, .example = "1.0",                                    \
                     .doc = "Last inverse temperature, with `step` or `count`.",                   \
                     .temperature_doc = "Last temperature, with `step` or `count`."),              \
      GPUMC_BETA_STEP_KEY(.sweepable = true, .exactly_one_of = "temperatures",                     \
                          .doc = "Spacing from `from` to `to`.",                                   \
                          .temperature_doc = "Spacing of temperatures from `from` to `to`."),      \
      GPUMC_COUNT_KEY(most, "temperatures", "12", "Number of temperatures, both ends included."),  \
      GPUMC_BETA_KEY("values", .list_minimum = (least), .list_maximum = (most), .ascending = true, \
                     .sweepable = true, .exactly_one_of = "temperatures",                          \
                     .doc = "The inverse temperatures themselves.",                                \
                     .temperature_doc = "The temperatures themselves, ascending or descending."),  \
  {                                                                                                \
    .name = "spacing", .type = GPUMC_KEY_CHOICE, .choices = gpumc_spacing_choices,                 \
    .doc = "How `count` temperatures are spaced: with a constant ratio of "                        \
           "neighbours (geometric, the default) or in equal steps of beta (linear).",              \
    .temperature_doc = "How `count` temperatures are spaced: with a constant ratio of neighbours " \
                       "(geometric, the default) or in equal steps of T (linear)."                 \
  }

/* A block of grid points in beta, onto which results are reweighted: equal steps, or the values
 * themselves, so few that the longest lists of a configuration together have room in its file; the
 * arguments are further members of each key. */
enum { GPUMC_GRID_LIST_MAXIMUM = 20000 };
#define GPUMC_BETA_GRID_KEYS(...)                                                                  \
  GPUMC_BETA_KEY("from", .required_unless = "values", .example = "0.2",                            \
                 .doc = "First inverse temperature of the grid.",                                  \
                 .temperature_doc = "First temperature of the grid.", __VA_ARGS__),                \
      GPUMC_BETA_KEY("to", .required_unless = "values", .example = "0.6",                          \
                     .doc = "Last inverse temperature of the grid.",                               \
                     .temperature_doc = "Last temperature of the grid.", __VA_ARGS__),             \
      GPUMC_BETA_STEP_KEY(.exactly_one_of = "points", .example = "0.01",                           \
                          .doc = "Spacing from `from` to `to`.",                                   \
                          .temperature_doc = "Spacing of temperatures from `from` to `to`.",       \
                          __VA_ARGS__),                                                            \
      GPUMC_BETA_KEY(                                                                              \
          "values", .list_minimum = 1, .list_maximum = GPUMC_GRID_LIST_MAXIMUM, .ascending = true, \
          .exactly_one_of = "points", .doc = "The inverse temperatures of the grid themselves.",   \
          .temperature_doc = "The temperatures of the grid themselves, ascending or descending.",  \
          __VA_ARGS__)

/* The block `control` of an algorithm that moves another control than the inverse temperature, in
 * place of `beta`: which one, and where the inverse temperature stays. Ladders of it have these
 * values. Of a model without a temperature it is the only block
 * (gpumc_keys_without_temperature). */
#define GPUMC_CONTROL_MAXIMUM 1e6
#define GPUMC_CONTROL_KEYS                                                                         \
  {.name = "name",                                                                                 \
   .type = GPUMC_KEY_STRING,                                                                       \
   .required = true,                                                                               \
   .doc = "Which control of the model is moved, such as h, a magnetic field."},                    \
      GPUMC_BETA_KEY("beta", .minimum_exclusive = true, .required = true, .sweepable = true,       \
                     .example = "0.4",                                                             \
                     .doc = "The inverse temperature, which stays fixed; absent if the model has " \
                            "no temperature.",                                                     \
                     .temperature = "temperature",                                                 \
                     .temperature_doc = "The temperature, which stays fixed, instead of `beta`.")
#define GPUMC_CONTROL_VALUE_KEY(key, ...)                                                          \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_REAL, .minimum = -GPUMC_CONTROL_MAXIMUM,                      \
    .maximum = GPUMC_CONTROL_MAXIMUM, __VA_ARGS__                                                  \
  }
#define GPUMC_CONTROL_STEP_KEY(...)                                                                \
  {                                                                                                \
    .name = "step", .type = GPUMC_KEY_REAL, .minimum = 0, .maximum = GPUMC_CONTROL_MAXIMUM,        \
    .minimum_exclusive = true, __VA_ARGS__                                                         \
  }
#define GPUMC_CONTROL_LADDER_KEYS(least, most)                                                     \
  GPUMC_CONTROL_KEYS,                                                                              \
      GPUMC_CONTROL_VALUE_KEY("from", .sweepable = true, .example = "1.0",                         \
                              .doc = "First value, with `step` or `count`."),                      \
      GPUMC_CONTROL_VALUE_KEY("to", .sweepable = true, .example = "3.0",                           \
                              .doc = "Last value, with `step` or `count`."),                       \
      GPUMC_CONTROL_STEP_KEY(.sweepable = true, .exactly_one_of = "values",                        \
                             .doc = "Spacing from `from` to `to`."),                               \
      GPUMC_COUNT_KEY(most, "values", "5", "Number of values, both ends included."),               \
      GPUMC_CONTROL_VALUE_KEY("values", .list_minimum = (least), .list_maximum = (most),           \
                              .ascending = true, .sweepable = true, .exactly_one_of = "values",    \
                              .doc = "The values themselves."),                                    \
  {                                                                                                \
    .name = "spacing", .type = GPUMC_KEY_CHOICE, .choices = gpumc_spacing_choices,                 \
    .doc = "How `count` values are spaced: in equal steps (linear, the default) or with a "        \
           "constant ratio of neighbours (geometric)."                                             \
  }

/* Which of the two blocks an algorithm has been given: "beta" or "control". */
const char *gpumc_ladder_block(const struct gpumc_params *params);
/* Mistakes of these blocks, for tables of checks before all others that read them: `control` given
 * beside `beta`; either given, or control.beta, where the model has no such control, or another
 * block for it; a control that an instance cannot move, or beside others that have no value. */
void gpumc_control_check(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report);
void gpumc_control_check_model(const struct gpumc_params *params,
                               const struct gpumc_subject *subject, struct gpumc_report *report);
void gpumc_beta_check_model(const struct gpumc_params *params, const struct gpumc_subject *subject,
                            struct gpumc_report *report);
void gpumc_control_check_instance(const struct gpumc_params *params,
                                  const struct gpumc_subject *subject, struct gpumc_report *report);
#define GPUMC_CONTROL_CHECKS                                                                       \
  {.reads = "beta control", .run = gpumc_control_check},                                           \
      {.reads = "beta", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_beta_check_model},                \
      {.reads = "control", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_control_check_model},          \
  {                                                                                                \
    .reads = "control", .needs = GPUMC_NEEDS_INSTANCE, .run = gpumc_control_check_instance         \
  }

/* Mistakes at values of `control`, given without other ones, that the kernel cannot take with such
 * options (gpumc_kernel_ops.check_value, which it has). */
void gpumc_control_check_values(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_kernel_ops *kernel,
                                const struct gpumc_kernel_options *options,
                                struct gpumc_report *report);

/* Mistakes in the block that the table cannot tell: what does not go together,
 * fewer than `least` values or more than `most`, or such that are not all different. */
void gpumc_ladder_check(const struct gpumc_params *params, const char *block, size_t least,
                        size_t most, struct gpumc_report *report);
/* Of a block without mistakes: how many there are, and value[count], ascending. */
size_t gpumc_ladder_count(const struct gpumc_params *params, const char *block);
void gpumc_ladder_read(const struct gpumc_params *params, const char *block, double *value);
/* Into `defaults`, of an algorithm (gpumc_algorithm_ops.defaults): that of `spacing`, where there
 * is one. False when memory ran out. */
bool gpumc_ladder_default(const struct gpumc_params *params, const char *block, cJSON *defaults);

/* Algorithms by which weights follow controls suit a model without a temperature if they have the
 * block `control`. */
bool gpumc_keys_move_controls(const struct gpumc_key *keys);
/* Makes of keys of such an algorithm those for a model without a temperature: `control` is
 * required, unless there is the mistake `beta`, and neither `beta` is nor control.beta, in the copy
 * children[] of the block's keys, which has room for GPUMC_CONTROL_KEYS_MAXIMUM. */
enum { GPUMC_CONTROL_KEYS_MAXIMUM = 16 };
void gpumc_keys_without_temperature(struct gpumc_key *keys, struct gpumc_key *children);

/* The control that an algorithm moves, where the others stay, and the channel by which the weight
 * follows it: ln of the weight is - coefficient times the channel's value, and what does not
 * change. */
struct gpumc_moved {
  size_t control, conjugate;
  bool beta; /* it is the inverse temperature: what its values are called in words */
  double fixed[GPUMC_CONTROLS_MAXIMUM];
};
/* As the blocks `beta` and `control` say. */
void gpumc_moved_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct gpumc_moved *moved);
/* Of its axis. */
struct gpumc_label
gpumc_moved_label(const struct gpumc_model *model, const struct gpumc_moved *moved);
/* That coefficient where the moved control has this value: beta itself for beta. */
double gpumc_moved_coefficient(const struct gpumc_model *model, const struct gpumc_moved *moved,
                               double value);

/* Of a block without mistakes: `from` and `to`, or the first and the last of its values. */
void gpumc_ladder_ends(const struct gpumc_params *params, const char *block, double *first,
                       double *last);

/* The keys `from`, `to` and `step` of a block: from + i step as far as `to`; a rest below a
 * millionth of a step is rounding. */
struct gpumc_range {
  double from, to, step;
};
struct gpumc_range gpumc_range_read(const struct gpumc_params *params, const char *block);
/* The number of points: a double, since the keys allow for any. */
double gpumc_range_count(const struct gpumc_range *range);
double gpumc_range_point(const struct gpumc_range *range, size_t i);
/* Mistakes of a block that has either these three keys, for at most so many points, or `values`. It
 * is read as a ladder. */
void gpumc_grid_check(const struct gpumc_params *params, const char *block, size_t most,
                      struct gpumc_report *report);

#endif
