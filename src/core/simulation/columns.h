/* For algorithms that know of processes (GPUMC_BY_REPLICAS): each has an ensemble of its own, with
 * some of the replicas of every run.
 *
 *   whole   [rows][gpumc_plan_whole(plan)]    rows: runs, or more of an algorithm's own
 *   own     [rows][plan.capacity]             the columns from plan.first_replica on
 *
 * In such an ensemble plan.capacity, plan.samples, sizes, channels and everything that operations
 * work on are the process's own; random numbers and the disorder go by numbers in the whole. Runs,
 * the number given to gpumc_ensemble_start(), transfers (the operations `get` and `set`, which all
 * processes call alike) and checkpoints refer to the whole. Anything that decides must be made
 * whole first, by all processes: integers by sums or maxima over gpumc_columns_processes(), the
 * rest by the functions here, in the order of the replicas. With a single process own and whole are
 * the same, and nothing is done. */
#ifndef GPUMC_CORE_COLUMNS_H
#define GPUMC_CORE_COLUMNS_H

#include "core/simulation/division.h"
#include "core/simulation/ensemble.h"

/* Returns the processes that have a part of each run: a single one, alone, unless the ensemble is
 * divided in this way. */
const struct gpumc_processes *gpumc_columns_processes(const struct gpumc_ensemble *ensemble);

/* Gathers host arrays with `bytes` bytes per row and replica: own[rows][own] of all processes into
 * whole[rows][whole] in every process. Collective. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_columns_gather(const struct gpumc_ensemble *ensemble,
                                                        const void *own, size_t rows, size_t bytes,
                                                        void *whole, struct gpumc_error *error);
/* The same into the root alone; `whole` is NULL in the others. Each message holds some of the
 * rows. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_gather_to_root(const struct gpumc_ensemble *ensemble, const void *own, size_t rows,
                             size_t bytes, void *whole, struct gpumc_error *error);
/* Exchanges columns for rows: from own[planes][rows][own] of all processes each gets, of every
 * plane, the rows of gpumc_columns_rows() whole, some[planes][count][whole]. Collective; each
 * message holds some of the planes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_trade(const struct gpumc_ensemble *ensemble, const void *own, size_t planes,
                    size_t rows, size_t bytes, void *some, struct gpumc_error *error);
/* Returns which of `rows` process `rank` then has. */
struct gpumc_slice gpumc_columns_rows(const struct gpumc_ensemble *ensemble, size_t rows, int rank);
/* Takes the process's own columns out of the whole. */
void gpumc_columns_take(const struct gpumc_ensemble *ensemble, const void *whole, size_t rows,
                        size_t bytes, void *own);

/* The operations `get_list` and `set_list` for the process's own replicas, by their numbers there:
 * not collective. slot[count] and states[count] are device memory; if the kernel has neither
 * operation, `get` and `set` do it, which wait. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_get_list(struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot,
                       size_t count, uint8_t *states, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_set_list(struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot,
                       size_t count, const uint8_t *states, struct gpumc_error *error);

/* Like gpumc_parts_save and gpumc_parts_load, for arrays whose `width` is a multiple of the
 * process's own plan.capacity: files hold the whole arrays. Collective. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_save(const struct gpumc_ensemble *ensemble, const struct gpumc_part *parts,
                   size_t count, struct gpumc_device *device,
                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                   struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_load(const struct gpumc_ensemble *ensemble, const struct gpumc_part *parts,
                   size_t count, struct gpumc_device *device,
                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                   struct gpumc_error *error);

/* The same for an array in which every replica has as many rows: `rows` is a multiple of the
 * process's own plan.capacity. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_save_rows(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                        struct gpumc_device *device, struct gpumc_checkpoint_writer *writer,
                        const char *prefix, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_load_rows(const struct gpumc_ensemble *ensemble, const struct gpumc_part *part,
                        struct gpumc_device *device, struct gpumc_checkpoint_reader *reader,
                        const char *prefix, struct gpumc_error *error);

/* Sums numbers in the device's memory that each process has counted itself: its own.count numbers
 * go to own.first and on in the host's sum[count], zeroed before, of which all get the sums over
 * `processes`. Collective. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_sum_counts(struct gpumc_device *device, const struct gpumc_processes *processes,
                         const uint64_t *counted, struct gpumc_slice own, uint64_t *sum,
                         size_t count, struct gpumc_error *error);
/* Like gpumc_columns_save and gpumc_columns_load, for such numbers, of type GPUMC_UINT64: the
 * checkpoint holds their sums. After loading, the root continues with the sums, the others with
 * 0. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_save_counts(struct gpumc_device *device, const struct gpumc_processes *processes,
                          const struct gpumc_part *part, struct gpumc_checkpoint_writer *writer,
                          const char *prefix, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_columns_load_counts(struct gpumc_device *device, const struct gpumc_processes *processes,
                          const struct gpumc_part *part, struct gpumc_checkpoint_reader *reader,
                          const char *prefix, struct gpumc_error *error);

#endif
