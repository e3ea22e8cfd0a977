/* Runs of several processes: exchanging and comparing replicas. */
#ifndef GPUMC_CORE_SHARE_BETWEEN_H
#define GPUMC_CORE_SHARE_BETWEEN_H

#include "core/simulation/kernel.h"

/* gpumc_kernel_ops.exchange and .compare for an ensemble that is divided by runs (share_view.h).
 * Collective. Comparisons need room for one more run than the share has, gpumc_share_plan. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_share_exchange(struct gpumc_ensemble *ensemble,
                                                        const uint32_t *swap,
                                                        struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_share_compare(struct gpumc_ensemble *ensemble, size_t first, size_t second, size_t runs,
                    int64_t *const pair[GPUMC_PAIRS_MAXIMUM], struct gpumc_error *error);

#endif
