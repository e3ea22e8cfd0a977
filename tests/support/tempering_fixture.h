/* Parallel tempering on the device under test, alongside the slow, simple version. */
#ifndef TESTS_SUPPORT_TEMPERING_FIXTURE_H
#define TESTS_SUPPORT_TEMPERING_FIXTURE_H

#include "support/tempering_reference.h"
#include "support/test_device.h"

struct tempering_fixture {
  struct gpumc_device device;
  struct pt_tempering tempering;
  struct tempering_reference reference;
  const int64_t *bound; /* [n_channels] bounds of the measured numbers */
  struct gpumc_random random;
};

/* These fail the running test on any error. beta[temperatures], in units of a quantum of 1/4. */
void tempering_open(struct tempering_fixture *fixture, const struct pt_tempering_plan *plan,
                    const double *beta, const int64_t *bound, struct test_setting setting);
void tempering_close(struct tempering_fixture *fixture);
/* Replaces the object on the device by a new one with the same temperatures; the reference
 * stays. */
void tempering_reopen(struct tempering_fixture *fixture, const double *beta,
                      struct test_setting setting);
/* Both sides do the same. */
void tempering_measure(struct tempering_fixture *fixture, uint32_t time);
void tempering_accumulate(struct tempering_fixture *fixture, bool histogram);
void tempering_exchange(struct tempering_fixture *fixture, uint32_t round);
/* Only the device does this. */
void tempering_publish(struct tempering_fixture *fixture, size_t slot);
void tempering_collect(struct tempering_fixture *fixture, size_t slot, struct pt_outcome *outcome);
/* Returns `bytes` bytes from the device; free() them. */
void *tempering_fetch(struct tempering_fixture *fixture, const void *memory, size_t bytes);
/* Copies the channels from the reference to the device. */
void tempering_bring_channels(struct tempering_fixture *fixture);
void tempering_bring_overlaps(struct tempering_fixture *fixture);

/* Checks that channels, walkers, swap words and histograms equal the reference's. */
void tempering_expect_same_places(struct tempering_fixture *fixture, const char *where);
/* Checks that the outcome is what the reference has found since it was cleared. */
void tempering_expect_same_outcome(const struct pt_outcome *outcome,
                                   const struct tempering_reference *reference, const char *where);

#endif
