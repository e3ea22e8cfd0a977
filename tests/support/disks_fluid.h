/* Tests whether two kernels sample the same fluid of hard disks: means of measured values over
 * independent replicas, and the distribution of |Psi_6|.
 *
 *   disks_fluid_sample(&job, setting, &serial);   job.variant = "serial"
 *   disks_fluid_sample(&job, setting, &other);    "checkerboard"
 *   disks_fluid_expect_same(&serial, &other, gate);
 */
#ifndef TESTS_SUPPORT_DISKS_FLUID_H
#define TESTS_SUPPORT_DISKS_FLUID_H

#include "support/disks_fixture.h"

/* Square boxes, all started on the same lattice. */
struct disks_fluid_job {
  size_t particles;
  double packing_fraction, move_size;
  const char *variant;
  size_t replicas, samples;   /* samples: per replica */
  uint32_t warm_up, interval; /* sweeps before the first sample, and between samples */
  uint64_t seed;
};

struct disks_fluid {
  struct disks_fluid_job job;
  double mean[HARD_DISKS_NUMBERS], error2[HARD_DISKS_NUMBERS]; /* per disk, for each channel */
  double *order;                                               /* |Psi_6| of every sample */
};

/* Samples the fluid; a sweep of `serial` has about a quarter of the trials. The caller frees
 * fluid->order. */
void disks_fluid_sample(const struct disks_fluid_job *job, struct test_setting setting,
                        struct disks_fluid *fluid);
/* Returns the smallest probability that two samples of one fluid differ by at least this much: in
 * the mean of each channel, by t over the replicas, and in the distribution of |Psi_6|, by
 * chi-square in eight bins with equal shares of the first sample, where all samples count as
 * independent. *what names the quantity with the smallest probability. */
double disks_fluid_probability(const struct disks_fluid *one, const struct disks_fluid *other,
                               const char **what);
/* Fails if it is below `gate`. */
void disks_fluid_expect_same(const struct disks_fluid *one, const struct disks_fluid *other,
                             double gate);

#endif
