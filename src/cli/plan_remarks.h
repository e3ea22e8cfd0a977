/* What is to be known of the tasks of a campaign together, before they are run. */
#ifndef GPUMC_CLI_PLAN_REMARKS_H
#define GPUMC_CLI_PLAN_REMARKS_H

#include "core/base/text.h"
#include "core/run/prepare.h"

enum { CLI_PLAN_REMARKS_MAXIMUM = 2 };

struct cli_plan_remarks {
  size_t count;
  struct gpumc_text text[CLI_PLAN_REMARKS_MAXIMUM];
};

/* `remarks` is zeroed. Tasks of an algorithm whose results can be merged, which differ in
 * model.sample alone, are meant to be: with samples in common, or keys that are against it, they
 * cannot. False when memory ran out. */
bool cli_plan_remarks_find(const struct gpumc_preparation *const *preparations, size_t count,
                           struct cli_plan_remarks *remarks);
/* Legal on a zeroed object; leaves it zeroed. */
void cli_plan_remarks_free(struct cli_plan_remarks *remarks);

#endif
