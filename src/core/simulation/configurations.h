/* Configurations: replicas in portable form that are written into the result at chosen times, the
 * same in every algorithm that has the block `configurations`. They go to one long table,
 * /configurations: the number of the row, labels of the algorithm's own, and the replica's bytes.
 */
#ifndef GPUMC_CORE_CONFIGURATIONS_H
#define GPUMC_CORE_CONFIGURATIONS_H

#include "core/simulation/algorithm.h"

/* Keys of the block where time is counted in sweeps and temperatures stand side by side. */
extern const struct gpumc_key gpumc_configurations_keys[];

/* What such a block asks for; zeroed without one. */
struct gpumc_configurations_request {
  uint32_t every;  /* sweeps; 0: at `times` */
  uint32_t *times; /* [n_times], ascending */
  size_t n_times;
  size_t *temperature; /* [n_temperatures], ascending */
  size_t n_temperatures;
};

/* Reports times that are not multiples of `unit` sweeps (the key `unit_key`) or lie beyond the key
 * `sweeps`, and temperatures that do not exist. Its check must follow that of the temperatures in
 * an algorithm's table. */
void gpumc_configurations_check_times(const struct gpumc_params *params, const char *unit_key,
                                      int64_t unit, struct gpumc_report *report);
void gpumc_configurations_check_temperatures(const struct gpumc_params *params,
                                             const struct gpumc_subject *subject,
                                             struct gpumc_report *report);
#define GPUMC_CONFIGURATIONS_CHECK                                                                 \
  {                                                                                                \
    .reads = "beta configurations", .run = gpumc_configurations_check_temperatures                 \
  }

/* Of an algorithm with so many temperatures. Legal to free when zeroed or when reading failed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_request_read(const struct gpumc_params *params, size_t temperatures,
                                  struct gpumc_configurations_request *request,
                                  struct gpumc_error *error);
void gpumc_configurations_request_free(struct gpumc_configurations_request *request);
bool gpumc_configurations_request_any(const struct gpumc_configurations_request *request);
/* How many of the times have passed at `sweep`. */
size_t gpumc_configurations_request_until(const struct gpumc_configurations_request *request,
                                          uint32_t sweep);

/* Whether one of the times is behind `before`, and `sweep` is at it or beyond. */
static inline bool
gpumc_configurations_request_due(const struct gpumc_configurations_request *request,
                                 uint32_t before, uint32_t sweep)
{
  return gpumc_configurations_request_until(request, sweep) >
         gpumc_configurations_request_until(request, before);
}

/* Replicas on their way from the ensemble to the table. */
struct gpumc_configurations {
  struct gpumc_ensemble *ensemble;
  struct gpumc_recorder *recorder;
  size_t table;
  size_t n_labels;
  double *row;    /* of the table; NULL: none is declared */
  size_t at_once; /* replicas that come from the ensemble together */
  uint8_t *block; /* room for them; NULL: for one, which is that of the row */
};

/* Initialiser of struct gpumc_column: the time of such a request. */
#define GPUMC_CONFIGURATIONS_SWEEP                                                                 \
  {                                                                                                \
    .label = {"sweep", "sweeps since the end of the thermalization", "sweeps", "t"}, .width = 1,   \
    .integer = true                                                                                \
  }
/* Declare the table, with so many columns between the number of the row and the bytes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_declare(const struct gpumc_context *context, const struct gpumc_column *labels,
                             size_t n_labels, struct gpumc_configurations *configurations,
                             struct gpumc_error *error);
/* Legal on a zeroed object. */
void gpumc_configurations_free(struct gpumc_configurations *configurations);
/* Rows so far; 0 where no table is declared. */
uint64_t gpumc_configurations_count(const struct gpumc_configurations *configurations);

/* The labels of replica r; `of` says of which run and time. */
typedef void gpumc_configurations_label(const void *of, size_t r, double *label);
/* A row for each of the replicas 0 .. count - 1 of run m of the ensemble. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_configurations_write(struct gpumc_configurations *configurations, size_t m, size_t count,
                           gpumc_configurations_label *label, const void *of,
                           struct gpumc_error *error);

/* What so many rows come to in the result, and the host memory that writing them takes, of runs of
 * so many replicas, which is added to what is demanded already. */
void gpumc_configurations_demand(const struct gpumc_model *model, size_t n_labels, double rows,
                                 double replicas, struct gpumc_demand *demanded);

#endif
