/* What a call that can fail should return. */
#ifndef TESTS_SUPPORT_STATUS_H
#define TESTS_SUPPORT_STATUS_H

#include "core/base/error.h"

/* Fails the running test with the error's message. */
void assert_ok(enum gpumc_status status, const struct gpumc_error *error);
/* Expects GPUMC_FAILURE with a message that contains both texts; frees the message. */
void assert_refused(enum gpumc_status status, struct gpumc_error *error, const char *text,
                    const char *other);

#endif
