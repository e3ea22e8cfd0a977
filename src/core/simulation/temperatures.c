/* Lists of inverse temperatures: values, equal steps, or so many in a constant ratio. */
#include "core/simulation/temperatures.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/numerics/elementary.h"

enum { LONGEST_KEY = 64 };

/* The first one is the default. */
const char *const gpumc_spacing_choices[] = {"geometric", "linear", NULL};

static const char *key_of(const char *block, const char *member, char text[static LONGEST_KEY])
{
  snprintf(text, LONGEST_KEY, "%s.%s", block, member);
  return text;
}

struct gpumc_range gpumc_range_read(const struct gpumc_params *params, const char *block)
{
  char key[LONGEST_KEY];
  struct gpumc_range range;
  range.from = gpumc_params_real(params, key_of(block, "from", key));
  range.to = gpumc_params_real(params, key_of(block, "to", key));
  range.step = gpumc_params_real(params, key_of(block, "step", key));
  return range;
}

double gpumc_range_count(const struct gpumc_range *range)
{
  return floor((range->to - range->from) / range->step + 1e-6) + 1;
}

double gpumc_range_point(const struct gpumc_range *range, size_t i)
{
  return fma((double)i, range->step, range->from);
}

void gpumc_range_check(const struct gpumc_params *params, const char *block, size_t most,
                       struct gpumc_report *report)
{
  const struct gpumc_range range = gpumc_range_read(params, block);
  char key[LONGEST_KEY];
  if (range.from > range.to)
    gpumc_params_mistake(params, report, key_of(block, "from", key),
                         "%s.from = %g must not exceed %s.to = %g", block, range.from, block,
                         range.to);
  else if (gpumc_range_count(&range) > (double)most)
    gpumc_params_mistake(params, report, key_of(block, "step", key),
                         "more than %zu inverse temperatures", most);
}

/* What the block `beta` says. */
enum kind { VALUES, STEPS, GEOMETRIC, LINEAR };
struct ladder {
  enum kind kind;
  struct gpumc_range range; /* unless VALUES; of GEOMETRIC and LINEAR ones without a step */
  size_t count;
};

static bool is_linear(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "beta.spacing") &&
         strcmp(gpumc_params_string(params, "beta.spacing"), "linear") == 0;
}

static struct ladder ladder_of(const struct gpumc_params *params)
{
  struct ladder ladder = {.kind = VALUES};
  if (gpumc_params_has(params, "beta.values")) {
    ladder.count = gpumc_params_list(params, "beta.values").left;
  } else if (gpumc_params_has(params, "beta.step")) {
    ladder.kind = STEPS;
    ladder.range = gpumc_range_read(params, "beta");
    ladder.count = (size_t)gpumc_range_count(&ladder.range);
  } else {
    ladder.kind = is_linear(params) ? LINEAR : GEOMETRIC;
    ladder.range.from = gpumc_params_real(params, "beta.from");
    ladder.range.to = gpumc_params_real(params, "beta.to");
    ladder.count = (size_t)gpumc_params_integer(params, "beta.count");
  }
  return ladder;
}

static double counted(const struct ladder *ladder, size_t i)
{
  const double from = ladder->range.from, to = ladder->range.to;
  const double share = (double)i / (double)(ladder->count - 1);
  if (i == 0 || i + 1 == ladder->count)
    return i == 0 ? from : to;
  return ladder->kind == LINEAR ? fma(share, to - from, from)
                                : from * gpumc_exp(share * gpumc_log(to / from));
}

/* Of a ladder that is not VALUES. */
static double spaced(const struct ladder *ladder, size_t i)
{
  return ladder->kind == STEPS ? gpumc_range_point(&ladder->range, i) : counted(ladder, i);
}

size_t gpumc_temperatures_count(const struct gpumc_params *params)
{
  return ladder_of(params).count;
}

void gpumc_temperatures_read(const struct gpumc_params *params, double *beta)
{
  const struct ladder ladder = ladder_of(params);
  struct gpumc_list values = {0};
  if (ladder.kind == VALUES)
    values = gpumc_params_list(params, "beta.values");
  for (size_t i = 0; i < ladder.count; i++)
    beta[i] = ladder.kind == VALUES ? gpumc_list_real(&values) : spaced(&ladder, i);
}

bool gpumc_temperatures_default(const struct gpumc_params *params, cJSON *defaults)
{
  if (!gpumc_params_has(params, "beta.count"))
    return true;
  cJSON *beta = cJSON_AddObjectToObject(defaults, "beta");
  return cJSON_AddStringToObject(beta, "spacing", gpumc_spacing_choices[0]) != NULL;
}

/* Neighbours may be closer than numbers are, or their ratio beyond them. */
static void
check_ascent(const struct gpumc_params *params, const char *key, struct gpumc_report *report)
{
  const struct ladder ladder = ladder_of(params);
  bool ascends = true;
  for (size_t i = 0; i + 1 < ladder.count && ascends; i++) {
    const double next = spaced(&ladder, i + 1);
    ascends = spaced(&ladder, i) < next && isfinite(next);
  }
  if (!ascends)
    gpumc_params_mistake(params, report, key,
                         "%zu inverse temperatures from %.17g to %.17g are not all different, "
                         "finite numbers: use fewer of them, or another range",
                         ladder.count, ladder.range.from, ladder.range.to);
}

static void check_values(const struct gpumc_params *params, struct gpumc_report *report)
{
  const bool from = gpumc_params_has(params, "beta.from"), to = gpumc_params_has(params, "beta.to");
  if (from || to)
    gpumc_params_mistake(params, report, from ? "beta.from" : "beta.to",
                         "beta.values holds all temperatures; leave out beta.from and beta.to");
  if (gpumc_params_has(params, "beta.spacing"))
    gpumc_params_mistake(params, report, "beta.spacing",
                         "beta.values holds all temperatures; leave out beta.spacing");
}

static void check_steps(const struct gpumc_params *params, size_t least, size_t most,
                        struct gpumc_report *report)
{
  const size_t before = report->calls;
  if (gpumc_params_has(params, "beta.spacing"))
    gpumc_params_mistake(params, report, "beta.spacing",
                         "beta.step makes equal steps; leave out beta.spacing, or use beta.count");
  gpumc_range_check(params, "beta", most, report);
  if (report->calls > before)
    return;
  const size_t count = gpumc_temperatures_count(params);
  if (count < least)
    gpumc_params_mistake(
        params, report, "beta.step",
        "beta.step gives %zu inverse temperature%s, and at least %zu are needed: use "
        "a smaller step",
        count, count == 1 ? "" : "s", least);
  else
    check_ascent(params, "beta.step", report);
}

static void check_count(const struct gpumc_params *params, struct gpumc_report *report)
{
  const double first = gpumc_params_real(params, "beta.from");
  const double last = gpumc_params_real(params, "beta.to");
  if (first >= last)
    gpumc_params_mistake(params, report, "beta.from", "beta.from = %g must be below beta.to = %g",
                         first, last);
  else if (first < DBL_MIN && !is_linear(params))
    gpumc_params_mistake(params, report, "beta.from",
                         "temperatures in a constant ratio cannot begin at beta.from = %g: use a "
                         "larger one, or beta.spacing: linear",
                         first);
  else
    check_ascent(params, "beta.count", report);
}

void gpumc_temperatures_check(const struct gpumc_params *params, size_t least, size_t most,
                              struct gpumc_report *report)
{
  const bool steps = gpumc_params_has(params, "beta.step");
  if (gpumc_params_has(params, "beta.values"))
    check_values(params, report);
  else if (!gpumc_params_has(params, "beta.from") || !gpumc_params_has(params, "beta.to"))
    gpumc_params_mistake(params, report, "beta", "beta.%s needs both beta.from and beta.to",
                         steps ? "step" : "count");
  else if (steps)
    check_steps(params, least, most, report);
  else
    check_count(params, report);
}
