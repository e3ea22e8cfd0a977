/* Configurations: replicas in portable form that are written into the result at chosen times, the
 * same in every algorithm that has the block `configurations`. They go to one long table,
 * /configurations: the row number, labels of the algorithm, and the replica's bytes. */
#ifndef GPUMC_CORE_CONFIGURATIONS_H
#define GPUMC_CORE_CONFIGURATIONS_H

#include "core/simulation/algorithm.h"

/* Keys of the block for algorithms that count time in sweeps, and for those with temperatures side
 * by side. */
extern const struct gpumc_key gpumc_configurations_times_keys[];
extern const struct gpumc_key gpumc_configurations_keys[];

/* What the key beside `every` lists, at which configurations are written: `times`, in sweeps, or
 * `betas`, if these ascend. */
enum gpumc_configurations_list { GPUMC_CONFIGURATIONS_TIMES, GPUMC_CONFIGURATIONS_BETAS };
/* Inverse temperatures that differ by this share are equal: sums of equal steps, and values given
 * with twelve digits. */
#define GPUMC_CONFIGURATIONS_ROUNDING 1e-9

/* The requests of such a block; zeroed without one. */
struct gpumc_configurations_request {
  uint32_t every; /* sweeps or steps; 0: at `value` */
  double *value;  /* [n_values], ascending */
  size_t n_values;
  double rounding;     /* values that differ by this share are equal */
  size_t *temperature; /* [n_temperatures], ascending; none if they are not side by side */
  size_t n_temperatures;
};

/* Reports times that are not multiples of `unit` sweeps (the key `unit_key`) or lie beyond the key
 * `sweeps`, and temperatures (values of the ladder in `block`) that do not exist.
 * Its check must follow that of the ladder in an algorithm's table. */
void gpumc_configurations_check_times(const struct gpumc_params *params, const char *unit_key,
                                      int64_t unit, struct gpumc_report *report);
void gpumc_configurations_check_temperatures(const struct gpumc_params *params, const char *block,
                                             struct gpumc_report *report);

/* Reads the request of an algorithm with `temperatures` temperatures side by side, or 0. Legal to
 * free when zeroed or when reading failed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_request_read(const struct gpumc_params *params,
                                  enum gpumc_configurations_list list, size_t temperatures,
                                  struct gpumc_configurations_request *request,
                                  struct gpumc_error *error);
void gpumc_configurations_request_free(struct gpumc_configurations_request *request);
bool gpumc_configurations_request_any(const struct gpumc_configurations_request *request);
/* Returns how many of the moments have passed after `count` sweeps or steps, when the listed
 * quantity has reached `value`. */
size_t gpumc_configurations_request_passed(const struct gpumc_configurations_request *request,
                                           uint32_t count, double value);

/* The same if the list is of sweeps as well. */
static inline size_t
gpumc_configurations_request_until(const struct gpumc_configurations_request *request,
                                   uint32_t sweep)
{
  return gpumc_configurations_request_passed(request, sweep, (double)sweep);
}

/* Returns whether one of the times is after `before`, and `sweep` is at it or beyond. */
static inline bool
gpumc_configurations_request_due(const struct gpumc_configurations_request *request,
                                 uint32_t before, uint32_t sweep)
{
  return gpumc_configurations_request_until(request, sweep) >
         gpumc_configurations_request_until(request, before);
}

/* Replicas in transit from the ensemble to the table. */
struct gpumc_configurations {
  struct gpumc_ensemble *ensemble;
  struct gpumc_recorder *recorder;
  size_t table;
  size_t n_labels;
  double *row;    /* of the table; NULL: none is declared */
  size_t at_once; /* replicas fetched from the ensemble together */
  uint8_t *block; /* room for them; NULL: for one, in the row */
};

/* Initialiser of struct gpumc_column: the time of such a request. */
#define GPUMC_CONFIGURATIONS_SWEEP                                                                 \
  {                                                                                                \
    .label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"}, .width = 1,   \
    .integer = true                                                                                \
  }
/* Declares the table, with the given columns between the row number and the bytes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_declare(const struct gpumc_context *context, const struct gpumc_column *labels,
                             size_t n_labels, struct gpumc_configurations *configurations,
                             struct gpumc_error *error);
/* Legal on a zeroed object. */
void gpumc_configurations_free(struct gpumc_configurations *configurations);
/* Returns the number of rows so far; 0 if no table is declared. */
uint64_t gpumc_configurations_count(const struct gpumc_configurations *configurations);

/* Replicas of one run of the ensemble. The labels of their rows are, in the order of the columns,
 * some shared labels, a number that counts the replicas, and perhaps a mark of each. */
struct gpumc_configurations_rows {
  size_t run, count;    /* replicas 0 .. count - 1 */
  const double *label;  /* the shared ones */
  size_t first;         /* number of replica 0 */
  const uint32_t *mark; /* [count]; NULL: the number is the last label */
};
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_write(struct gpumc_configurations *configurations,
                           const struct gpumc_configurations_rows *rows, struct gpumc_error *error);

/* Temperatures side by side, in copies: run c * temperatures + t of the ensemble is copy c at
 * temperature t. */
struct gpumc_configurations_chains {
  size_t temperatures, copies, replicas; /* of each */
  size_t first;                          /* number of replica 0 */
};
/* Writes the rows of the requested temperatures, copy after copy, labelled with sweep, temperature,
 * the copy if the table has four labels, and the number. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_write_chains(struct gpumc_configurations *configurations,
                                  const struct gpumc_configurations_request *request,
                                  const struct gpumc_configurations_chains *chains, uint32_t sweep,
                                  struct gpumc_error *error);
/* Returns how many rows that makes until `sweep`; for a plan they may exceed any file. */
double gpumc_configurations_chain_rows(const struct gpumc_configurations_request *request,
                                       const struct gpumc_configurations_chains *chains,
                                       uint32_t sweep);

/* Adds to the demand the size of `rows` rows in the result, and the host memory for writing them,
 * for runs of this many replicas. */
void gpumc_configurations_demand(const struct gpumc_model *model, size_t n_labels, double rows,
                                 double replicas, struct gpumc_demand *demanded);

#endif
