/* gpumc plan: what keeps the results of a campaign from being merged. */
#include "cli/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* A task with samples of the disorder. */
struct batch {
  const struct gpumc_task *task;
  char *family; /* identity of the task but for model.sample; owned */
  size_t first, end;
};

/* What was found, for one remark of each kind. */
struct findings {
  struct batch overlapping[2]; /* the first pair */
  size_t overlaps;
  const char *unmergeable; /* whatever the samples */
};

/* NULL when memory ran out. */
static char *family_of(const struct gpumc_task *task)
{
  struct gpumc_task copy = *task;
  char *family = NULL;
  copy.resolved = cJSON_Duplicate(task->resolved, true);
  if (copy.resolved != NULL) {
    cJSON *model = cJSON_GetObjectItemCaseSensitive(copy.resolved, "model");
    cJSON_DeleteItemFromObjectCaseSensitive(model, "sample");
    family = gpumc_task_identity(&copy);
  }
  cJSON_Delete(copy.resolved);
  return family;
}

static int compare(const void *a, const void *b)
{
  const struct batch *one = a, *other = b;
  const int families = strcmp(one->family, other->family);
  return families != 0 ? families : (one->first > other->first) - (one->first < other->first);
}

static const char *unmergeable(const struct gpumc_task *task)
{
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const struct gpumc_merger *merger = task->algorithm->merger;
  return merger->refuses != NULL ? merger->refuses(&params) : NULL;
}

/* `batches[count]` of families one after the other, each in the order of the samples. */
static struct findings look(const struct batch *batches, size_t count)
{
  struct findings findings = {0};
  const struct batch *farthest = batches; /* whose samples end last, of this family so far */
  for (size_t i = 1; i < count; i++) {
    if (strcmp(batches[i].family, batches[i - 1].family) != 0) {
      farthest = &batches[i];
      continue;
    }
    if (findings.unmergeable == NULL)
      findings.unmergeable = unmergeable(batches[i].task);
    if (batches[i].first < farthest->end && findings.overlaps++ == 0) {
      findings.overlapping[0] = *farthest;
      findings.overlapping[1] = batches[i];
    }
    if (batches[i].end > farthest->end)
      farthest = &batches[i];
  }
  return findings;
}

static void tell_overlaps(const struct findings *findings, struct gpumc_text *text)
{
  const struct batch *one = &findings->overlapping[0], *other = &findings->overlapping[1];
  const size_t end = one->end < other->end ? one->end : other->end;
  gpumc_text_append(text, "tasks %zu and %zu have", one->task->index, other->task->index);
  if (end - other->first > 1)
    gpumc_text_append(text, " samples %zu to %zu", other->first, end - 1);
  else
    gpumc_text_append(text, " sample %zu", other->first);
  gpumc_text_append(text, " of the disorder in common");
  if (findings->overlaps > 1)
    gpumc_text_append(text, " (and %zu more with another task)", findings->overlaps - 1);
  gpumc_text_append(text, ": their results cannot be merged; increase model.sample in steps of %zu",
                    one->end - one->first);
}

/* False when memory ran out; frees the text. */
static bool add_remark(cJSON *remarks, struct gpumc_text *text)
{
  const bool good =
      !text->failed && cJSON_AddItemToArray(remarks, cJSON_CreateString(gpumc_text_string(text)));
  gpumc_text_free(text);
  return good;
}

static bool tell(const struct findings *findings, cJSON *remarks)
{
  struct gpumc_text overlaps = {0}, others = {0};
  bool good = true;
  if (findings->overlaps > 0) {
    tell_overlaps(findings, &overlaps);
    good = add_remark(remarks, &overlaps);
  }
  if (good && findings->unmergeable != NULL) {
    gpumc_text_append(&others, "results of other samples cannot be merged: %s",
                      findings->unmergeable);
    good = add_remark(remarks, &others);
  }
  return good;
}

struct cli_plan_samples cli_plan_samples_of(const struct gpumc_preparation *preparation)
{
  const struct gpumc_merger *merger = preparation->task->algorithm->merger;
  struct cli_plan_samples samples = {.task = preparation->task};
  if (!preparation->model.disorder || merger == NULL || !merger->samples)
    return samples;
  samples.first = preparation->model.first_sample;
  samples.count = preparation->demand.plan.samples;
  return samples;
}

cJSON *cli_plan_remarks(const struct cli_plan_samples *samples, size_t count)
{
  struct batch *batches = calloc(count, sizeof *batches);
  cJSON *remarks = cJSON_CreateArray();
  bool good = batches != NULL && remarks != NULL;
  size_t n = 0;
  for (size_t i = 0; i < count && good; i++) {
    if (samples[i].count == 0)
      continue;
    batches[n] = (struct batch){.task = samples[i].task,
                                .family = family_of(samples[i].task),
                                .first = samples[i].first,
                                .end = samples[i].first + samples[i].count};
    good = batches[n++].family != NULL;
  }
  if (good && n > 1) {
    qsort(batches, n, sizeof *batches, compare);
    const struct findings findings = look(batches, n);
    good = tell(&findings, remarks);
  }
  for (size_t i = 0; i < n; i++)
    free(batches[i].family);
  free(batches);
  if (!good) {
    cJSON_Delete(remarks);
    remarks = NULL;
  }
  return remarks;
}
