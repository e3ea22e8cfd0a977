/* Runs an ensemble of Ising spins alongside the slow reference: does the same to both and compares
 * them. Every function fails the running test at the first number that differs. */
#ifndef TESTS_SUPPORT_ISING_COMPARE_H
#define TESTS_SUPPORT_ISING_COMPARE_H

#include "support/ising_cases.h"

enum { COMPARE_RUNS_MAXIMUM = 4 };

/* The case's ensemble and its runs, with `replicas` replicas each. Waves are slow in the reference:
 * they are compared only for replicas with r % wave_step < 2; 1, the initial value, means all. */
struct ising_pair {
  struct ising_case with;
  struct ising_fixture fixture;
  struct reference reference[COMPARE_RUNS_MAXIMUM];
  size_t replicas, wave_step;
};

/* Opens both at beta = 0. */
void pair_open(struct ising_pair *pair, const struct ising_case *with, size_t replicas);
void pair_close(struct ising_pair *pair);

/* Sweeps the reference alone; beta[runs]. */
void pair_sweep_reference(struct ising_pair *pair, uint32_t sweeps, const double *beta);
/* swap[runs][gpumc_swap_words(capacity)] */
void pair_exchange(struct ising_pair *pair, const uint32_t *swap);

void pair_expect_replicas(struct ising_pair *pair);
/* Compares value[channel][runs][capacity] of the kernel; NULL: not compared. */
void pair_expect_channels(const struct ising_pair *pair, int64_t *const value[ISING_CHANNELS]);
/* Compares runs first .. first + runs - 1 with those from `second` on, for the wanted kinds. */
void pair_expect_overlaps(struct ising_pair *pair, size_t first, size_t second, size_t runs,
                          const bool wanted[ISING_PAIRS]);

/* Calls `follow` for the case in every setting of the kernel, with up to that many threads, unless
 * the kernel refuses it. */
void compare_settings(struct ising_case with, int threads, size_t replicas,
                      void (*follow)(const struct ising_case *with, size_t replicas));

/* Compares the last run of the batch at one temperature in every setting of the kernel: at beta =
 * 0, and after `sweeps` sweeps in two calls. */
void compare_last_run(struct ising_case with, size_t replicas, uint32_t sweeps, double beta);

#endif
