/* Curves of a result: labels that algorithms share, and datasets beside their errors in the units
 * of the model. */
#ifndef GPUMC_CORE_CURVES_H
#define GPUMC_CORE_CURVES_H

#include "core/simulation/model.h"
#include "core/storage/recorder.h"

/* Units of labels that are declared before the model is known: placeholders for the model's
 * units. */
#define GPUMC_UNIT_ENERGY "energy"
#define GPUMC_UNIT_ENERGY2 "energy^2"
#define GPUMC_UNIT_BETA "1/energy"

/* At the end of the long name of what counts states, such as an entropy: a placeholder for what a
 * free site counts, unless that is a whole number of states. */
#define GPUMC_COUNTED "{counted}"

extern const struct gpumc_label gpumc_label_beta;

enum { GPUMC_UNIT_BYTES = 48 };
/* Returns the unit to be written for a declared one; `text` is used for some. */
const char *gpumc_unit_of(const struct gpumc_model *model, const char *declared,
                          char text[static GPUMC_UNIT_BYTES]);

/* The label of the standard error, which borrows `texts`. */
struct gpumc_error_texts {
  char name[128], long_name[256], symbol[64];
};
struct gpumc_label
gpumc_error_label(const struct gpumc_label *label, struct gpumc_error_texts *texts);

/* Declares a table, or one of series, before the start (recorder.h). `columns` have declared units
 * and long names, and are scratch afterwards. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_curve_add_table(struct gpumc_recorder *recorder, const struct gpumc_model *model,
                      const char *group, struct gpumc_column *columns, size_t n_columns,
                      size_t *table, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_curve_add_series(struct gpumc_recorder *recorder, const struct gpumc_model *model,
                       const char *group, struct gpumc_column *columns, size_t n_columns,
                       size_t *table, struct gpumc_error *error);

/* The place for curves over the same axes: `axis` has the paths of these, count their lengths;
 * count[1] = 0: there is only one. axis[0] NULL, count[0] = 1: there is none, and a curve is a
 * number. */
struct gpumc_curve_place {
  struct gpumc_recorder *recorder;
  const struct gpumc_model *model;
  const char *group;
  const char *axis[2];
  size_t count[2];
};

/* Writes axis d itself: values[count[d]]. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_curve_write_axis(const struct gpumc_curve_place *place,
                                                          size_t d, const struct gpumc_label *label,
                                                          bool integer, const double *values,
                                                          struct gpumc_error *error);
/* Writes a curve over the axes: values[count[0]], or values[count[0]][count[1]]. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_curve_write(const struct gpumc_curve_place *place, const struct gpumc_label *label,
                  bool integer, const double *values, struct gpumc_error *error);
/* Writes samples/sample, the numbers of the first `count` samples of the disorder, or of
 * independent simulations, and samples/checksum, by which each is identified, if available; those
 * of `merged` in a merged result (NULL: it is none), with samples/seed, the thermal seed of the run
 * that simulated each. */
struct gpumc_sample_list;
GPUMC_MUST_CHECK enum gpumc_status
gpumc_curve_write_samples(struct gpumc_recorder *recorder, const struct gpumc_model *model,
                          size_t count, const struct gpumc_sample_list *merged,
                          struct gpumc_error *error);
/* Writes NAME and NAME_error. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_curve_write_with_error(const struct gpumc_curve_place *place, const struct gpumc_label *label,
                             const double *values, const double *errors, struct gpumc_error *error);

#endif
