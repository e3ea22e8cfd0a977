/* Which keys have a mistake, and checks that run only where those they read have none. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/params_internal.h"

void gpumc_wrong_note(struct gpumc_report *report, const char *block, const char *name)
{
  const char *dot = block[0] != '\0' && name[0] != '\0' ? "." : "";
  gpumc_text_append(&report->wrong, "%s%s%s\n", block, dot, name);
}

void gpumc_wrong_forget(struct gpumc_report *report)
{
  gpumc_text_free(&report->wrong);
}

/* Whether one of two dotted names is the other or a block round it. The root, "", is round all. */
static bool is_related(const char *name, size_t name_length, const char *other, size_t other_length)
{
  const size_t shorter = name_length < other_length ? name_length : other_length;
  const char *longer = name_length < other_length ? other : name;
  return strncmp(name, other, shorter) == 0 &&
         (shorter == 0 || name_length == other_length || longer[shorter] == '.');
}

static bool has_wrong(const struct gpumc_report *report, const char *block, const char *name,
                      size_t name_length)
{
  struct gpumc_text dotted = {0};
  const char *dot = block[0] != '\0' && name_length > 0 ? "." : "";
  if (report->wrong.length == 0 && !report->wrong.failed)
    return false;
  gpumc_text_append(&dotted, "%s%s%.*s", block, dot, (int)name_length, name);
  bool found = dotted.failed || report->wrong.failed;
  for (const char *line = gpumc_text_string(&report->wrong); *line != '\0' && !found;) {
    const size_t length = strcspn(line, "\n");
    found = is_related(line, length, gpumc_text_string(&dotted), dotted.length);
    line += length + 1;
  }
  gpumc_text_free(&dotted);
  return found;
}

bool gpumc_wrong_has(const struct gpumc_report *report, const char *block, const char *name)
{
  return has_wrong(report, block, name, strlen(name));
}

/* The next of names separated by blanks; its length is 0 after the last. */
static size_t next_name(const char **names)
{
  *names += strspn(*names, " ");
  return strcspn(*names, " ");
}

bool gpumc_params_narrow(const struct gpumc_params *params, struct gpumc_report *report,
                         const char *reads, struct gpumc_params *view)
{
  const char *block = params->block != NULL ? params->block : "";
  bool clean = reads != NULL || !gpumc_wrong_has(report, block, "");
  const char *name = reads != NULL ? reads : "";
  for (size_t length; (length = next_name(&name)) > 0 && clean; name += length)
    clean = !has_wrong(report, block, name, length);
  *view = *params;
  view->reads = clean ? reads : "";
  view->report = report;
  return clean;
}

bool gpumc_params_may_read(const struct gpumc_params *params, const char *dotted_key)
{
  const char *name = params->reads;
  bool declared = name == NULL;
  const size_t key_length = strlen(dotted_key);
  for (size_t length; !declared && (length = next_name(&name)) > 0; name += length)
    declared = key_length >= length && is_related(name, length, dotted_key, key_length);
  assert(declared && "a check reads the keys that it declares");
  if (!declared)
    gpumc_report_fault(params->report, params->block, dotted_key);
  return declared;
}

void gpumc_checks_run(const struct gpumc_check *checks, enum gpumc_check_needs needs,
                      const struct gpumc_params *params, const struct gpumc_subject *subject,
                      struct gpumc_report *report)
{
  for (; checks != NULL && checks->run != NULL; checks++) {
    struct gpumc_params view;
    assert(checks->reads != NULL && "a check declares the keys that it reads");
    if (checks->needs == needs && gpumc_params_narrow(params, report, checks->reads, &view))
      checks->run(&view, subject, report);
  }
}
