/* The life of an ensemble or a share of it: started, swept or walked, measured, compared, and
 * recorded replica by replica in rows, which hold all that is known of each. For cmocka tests. */
#ifndef TESTS_SUPPORT_LIVES_H
#define TESTS_SUPPORT_LIVES_H

#include "core/simulation/ensemble.h"
#include "support/walk_tables.h"

enum { LIFE_RUNS = WALK_RUNS };

/* `plan`: of the whole. */
struct life_work {
  const struct gpumc_kernel_ops *kernel;
  const struct gpumc_model *model;
  struct gpumc_ensemble_plan plan;
  enum gpumc_target_kind target; /* tabulated: it walks, along channel plan.moved */
  double value;                  /* value of the moved control */
  char name[256];
};

/* Replicas first .. first + count - 1 of the whole, which act as those from `number` on of `all`,
 * with samples from number `sample` on; for the runs from first_run on. */
struct life_share {
  size_t first, count, number, sample, all, first_run;
};

struct life_rows {
  size_t runs, replicas, bytes, used; /* per run; per row */
  uint8_t *row;                       /* [runs][replicas][bytes] */
  size_t counts;
  uint64_t *visits; /* [counts]; NULL: no walk */
};

/* Records a life on the device under test. `share`:  NULL for the whole. The caller frees the
 * rows. */
void life_record(const struct life_work *work, const struct life_share *share,
                 struct life_rows *rows);
void life_free(struct life_rows *rows);

/* Returns the levels of a walk along a channel. */
struct gpumc_grid life_bins(const struct gpumc_model *model, size_t channel);

#endif
