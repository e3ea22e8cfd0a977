/* Populations on the device under test, filled from samples on the host. */
#ifndef TESTS_SUPPORT_POPULATION_FIXTURE_H
#define TESTS_SUPPORT_POPULATION_FIXTURE_H

#include "support/population_reference.h"
#include "support/test_device.h"

struct population_fixture {
  struct gpumc_device device;
  struct pa_population population;
  uint32_t *size; /* device memory */
  struct pa_outcome *outcome;
};

/* These fail the running test on any error. */
void population_open(struct population_fixture *fixture, const struct pa_population_plan *plan,
                     size_t runs, struct test_setting setting);
void population_close(struct population_fixture *fixture);
/* Copy the size and families, or the channels, of run m to the device. */
void population_bring(struct population_fixture *fixture, size_t m,
                      const struct population_sample *sample);
void population_bring_channels(struct population_fixture *fixture, size_t m,
                               const struct population_sample *sample);
size_t population_size(struct population_fixture *fixture, size_t m);
/* Copies the size, families and parents of run m from the device. */
void population_fetch(struct population_fixture *fixture, size_t m,
                      struct population_sample *sample);
void population_found(struct population_fixture *fixture);
void population_tally(struct population_fixture *fixture, uint32_t first_run, bool histogram);
void population_resample(struct population_fixture *fixture,
                         const struct pa_resampling_request *request);
double population_trial(struct population_fixture *fixture, double step);
void population_publish(struct population_fixture *fixture, size_t slot);
/* Collects outcomes into fixture->outcome. */
void population_collect(struct population_fixture *fixture, size_t slot);

/* Checks that every number of both is the same; the tally only if there are replicas. */
void population_expect_same(const struct pa_population_plan *plan, const struct pa_outcome *found,
                            const struct pa_outcome *expected, const char *where);

#endif
