#include "cli/plan_remarks.h"

#include <stdlib.h>
#include <string.h>

/* A task with samples of the disorder. */
struct batch {
  const struct gpumc_preparation *preparation;
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
  return task->algorithm->unmergeable(&params);
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
      findings.unmergeable = unmergeable(batches[i].preparation->task);
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
  gpumc_text_append(text, "tasks %zu and %zu have", one->preparation->task->index,
                    other->preparation->task->index);
  if (end - other->first > 1)
    gpumc_text_append(text, " samples %zu to %zu", other->first, end - 1);
  else
    gpumc_text_append(text, " sample %zu", other->first);
  gpumc_text_append(text, " of the disorder in common");
  if (findings->overlaps > 1)
    gpumc_text_append(text, " (and %zu more with another task)", findings->overlaps - 1);
  gpumc_text_append(text, ": their results cannot be merged; let model.sample go in steps of %zu",
                    one->end - one->first);
}

static void tell(const struct findings *findings, struct cli_plan_remarks *remarks)
{
  if (findings->overlaps > 0)
    tell_overlaps(findings, &remarks->text[remarks->count++]);
  if (findings->unmergeable != NULL)
    gpumc_text_append(&remarks->text[remarks->count++],
                      "results of other samples cannot be merged: %s", findings->unmergeable);
}

bool cli_plan_remarks_find(const struct gpumc_preparation *const *preparations, size_t count,
                           struct cli_plan_remarks *remarks)
{
  struct batch *batches = calloc(count, sizeof *batches);
  bool good = batches != NULL;
  size_t n = 0;
  for (size_t i = 0; i < count && good; i++) {
    const struct gpumc_model *model = &preparations[i]->model;
    if (!model->disorder || preparations[i]->task->algorithm->unmergeable == NULL)
      continue;
    batches[n] = (struct batch){.preparation = preparations[i],
                                .family = family_of(preparations[i]->task),
                                .first = model->first_sample,
                                .end = model->first_sample + preparations[i]->demand.plan.samples};
    good = batches[n++].family != NULL;
  }
  if (good && n > 1) {
    qsort(batches, n, sizeof *batches, compare);
    const struct findings findings = look(batches, n);
    tell(&findings, remarks);
  }
  for (size_t i = 0; i < n; i++)
    free(batches[i].family);
  free(batches);
  for (size_t i = 0; i < remarks->count; i++)
    good = good && !remarks->text[i].failed;
  return good;
}

void cli_plan_remarks_free(struct cli_plan_remarks *remarks)
{
  for (size_t i = 0; i < remarks->count; i++)
    gpumc_text_free(&remarks->text[i]);
  remarks->count = 0;
}
