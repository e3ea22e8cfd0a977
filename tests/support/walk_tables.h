/* A kernel that walks under a tabulated weight with a reference alongside: the weights and ends
 * given to both, for two runs, and what each counts. */
#ifndef TESTS_SUPPORT_WALK_TABLES_H
#define TESTS_SUPPORT_WALK_TABLES_H

#include "core/simulation/ensemble.h"

enum { WALK_RUNS = 2, WALK_CONTROLS = 2 };

struct walk_tables {
  struct gpumc_ensemble *ensemble; /* all its runs are full */
  uint32_t steps;                  /* per walk */
  /* The kernel's table, with counts in device memory; points into this object. */
  struct gpumc_weight_table table;
  int64_t lowest[WALK_RUNS]; /* one level apart */
  int64_t *log_weight;       /* [WALK_RUNS][levels] */
  size_t end[2 * WALK_RUNS];
  bool canonical;                            /* there is a weight below the table */
  double control[WALK_RUNS * WALK_CONTROLS]; /* inverse temperature and field of that weight */
  /* For the reference. */
  size_t counts;    /* WALK_RUNS * parts * levels */
  uint64_t *visits; /* [counts] */
  uint32_t *passages;
};

/* The table has these bins and one more. `beta`: for the weight below it, times the run number + 1;
 * 0: none. `closed`: no replica may go to the last level. */
void walk_tables_open(struct walk_tables *tables, struct gpumc_ensemble *ensemble, size_t channel,
                      struct gpumc_grid bins, size_t parts, uint32_t steps, double beta,
                      bool closed);
void walk_tables_close(struct walk_tables *tables);

/* Returns the clock of run m before walk number `walk`; that of the second run passes 2^32 in walk
 * 1. */
uint64_t walk_tables_time(const struct walk_tables *tables, uint32_t walk, size_t m);
/* Makes the kernel do walk number `walk`. */
void walk_tables_walk(const struct walk_tables *tables, uint32_t walk);
/* Records that replica r of run m is on a level after a step of the reference. */
void walk_tables_arrive(struct walk_tables *tables, size_t m, size_t r, size_t level);
/* Returns how many visits and passages of the kernel differ from the reference. */
size_t walk_tables_different(const struct walk_tables *tables);

#endif
