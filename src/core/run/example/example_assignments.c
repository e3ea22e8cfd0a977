/* What the assignments of an example give, and their mistakes. */
#include <string.h>

#include "core/run/example/example_internal.h"

/* ---- what is given by assignments ---- */

/* Whether an assignment is of that key, or of a block that the key is in. */
static bool is_of_key_or_block(const char *assignment, const char *key, size_t length)
{
  const size_t own = strcspn(assignment, "=");
  return own <= length && strncmp(assignment, key, own) == 0 && (own == length || key[own] == '.');
}

/* Whether an assignment of null from this one on takes its key away, or a block that it is in. */
static bool is_cancelled(const struct gpumc_example *example, size_t place)
{
  const char *key = example->assignments[place];
  bool cancelled = false;
  for (size_t i = place; i < example->n_assignments; i++)
    cancelled = cancelled || (gpumc_assignment_removes(example->assignments[i]) &&
                              is_of_key_or_block(example->assignments[i], key, strcspn(key, "=")));
  return cancelled;
}

const char *gpumc_example_assigned(const struct gpumc_example *example, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  const char *value = NULL;
  for (size_t i = 0; i < example->n_assignments; i++)
    if (strncmp(example->assignments[i], dotted_key, length) == 0 &&
        example->assignments[i][length] == '=' && !is_cancelled(example, i))
      value = example->assignments[i] + length + 1;
  if (value != NULL && value[0] == '\0')
    return "\"\""; /* nothing is null in a file, and an empty text after --set */
  return value;
}

bool gpumc_example_gives(const struct gpumc_example *example, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  bool given = false;
  for (size_t i = 0; i < example->n_assignments; i++)
    given = given ||
            (strncmp(example->assignments[i], dotted_key, length) == 0 &&
             strchr("=.", example->assignments[i][length]) != NULL && !is_cancelled(example, i));
  return given;
}

bool gpumc_example_removes(const struct gpumc_example *example, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  bool removed = false;
  for (size_t i = 0; i < example->n_assignments; i++)
    removed = removed || (strncmp(example->assignments[i], dotted_key, length) == 0 &&
                          example->assignments[i][length] == '=' &&
                          gpumc_assignment_removes(example->assignments[i]));
  return removed && !gpumc_example_gives(example, dotted_key);
}

bool gpumc_example_gives_in(const struct gpumc_example *example, const char *block,
                            const char *name)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  return name != NULL && gpumc_example_gives(example, gpumc_key_join(block, name, dotted));
}

bool gpumc_example_lists(const struct gpumc_example *example, const struct gpumc_key *keys,
                         const char *block)
{
  for (const struct gpumc_key *key = keys; key->name != NULL; key++)
    if (key->exactly_one_of != NULL && key->list_maximum > 0 &&
        gpumc_example_gives_in(example, block, key->name))
      return true;
  return false;
}

/* ---- the keys of the pair ---- */

const struct gpumc_key *gpumc_example_key(const struct gpumc_example *example, const char *dotted)
{
  if (strncmp(dotted, "model.", strlen("model.")) == 0)
    return gpumc_key_find(example->model_keys, dotted + strlen("model."));
  if (strncmp(dotted, "algorithm.", strlen("algorithm.")) == 0)
    return gpumc_key_find(example->algorithm_keys, dotted + strlen("algorithm."));
  return gpumc_key_find(example->tables->root, dotted);
}

bool gpumc_example_declares(const struct gpumc_example *example, const char *assignment)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  const size_t length = strcspn(assignment, "=");
  if (length >= sizeof dotted)
    return false;
  memcpy(dotted, assignment, length);
  dotted[length] = '\0';
  return gpumc_example_key(example, dotted) != NULL;
}

/* ---- mistakes of assignments ---- */

/* Whether a text is the YAML of a mapping, into which `assignment`, if any, can be set. Sets the
 * error, with the mistakes, where `error` is not NULL. */
static bool is_yaml(const char *text, const char *assignment, struct gpumc_error *error)
{
  struct gpumc_document document = {0};
  struct gpumc_report report = {0};
  struct gpumc_error failure = {0};
  bool good = gpumc_document_parse("example", text, strlen(text), &document, &report, &failure) ==
                  GPUMC_OK &&
              document.root != NULL;
  if (good && assignment != NULL)
    good = gpumc_document_set(&document, assignment, &report, &failure) == GPUMC_OK;
  good = good && report.calls == 0;
  if (!good && error != NULL && report.lines.length > 0) /* without the last line's end */
    (void)gpumc_error_set(error, GPUMC_INVALID, "%.*s", (int)report.lines.length - 1,
                          gpumc_text_string(&report.lines));
  else if (!good && error != NULL)
    (void)gpumc_error_set(error, GPUMC_FAILURE, "%s", gpumc_error_text(&failure));
  gpumc_error_free(&failure);
  gpumc_report_free(&report);
  gpumc_document_free(&document);
  return good;
}

/* Whether a value can stand in the line of its key. */
static bool fits_a_line(const char *value)
{
  struct gpumc_text line = {0};
  gpumc_text_append(&line, "key: %s\n", value);
  const bool fits = strchr(value, '\n') == NULL && is_yaml(gpumc_text_string(&line), NULL, NULL);
  gpumc_text_free(&line);
  return fits;
}

/* An assignment by itself: its key is one of the pair's, and may be missing where it is null; its
 * value is YAML, and can be written. */
static enum gpumc_status
check_assignment(const struct gpumc_example *example, const char *assignment)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  const size_t length = strcspn(assignment, "=");
  if (!gpumc_example_declares(example, assignment))
    return gpumc_error_set(example->error, GPUMC_INVALID,
                           "--set %s: unknown key '%.*s' of model %s and algorithm %s", assignment,
                           (int)length, assignment, example->model->name, example->algorithm->name);
  memcpy(dotted, assignment, length); /* which gpumc_example_declares has found to fit */
  dotted[length] = '\0';
  if (gpumc_example_removes(example, dotted) && gpumc_example_key(example, dotted)->required)
    return gpumc_error_set(example->error, GPUMC_INVALID,
                           "--set %s: the key is required, and cannot be left out", assignment);
  if (gpumc_assignment_removes(assignment))
    return GPUMC_OK;
  if (!is_yaml("{}", assignment, example->error))
    return example->error->status;
  if (!fits_a_line(assignment + length + 1))
    return gpumc_error_set(example->error, GPUMC_INVALID,
                           "--set %s: init writes each value into the line of its key, where this "
                           "one is not valid: put it in quotes or braces",
                           assignment);
  return GPUMC_OK;
}

/* A value of a block as a whole, and one in the block after it, of which the file has one. */
static enum gpumc_status check_parts(const struct gpumc_example *example)
{
  for (size_t i = 0; i < example->n_assignments; i++)
    for (size_t k = 0; k < i; k++) {
      const char *part = example->assignments[i], *whole = example->assignments[k];
      const size_t length = strcspn(whole, "=");
      if (length < strcspn(part, "=") && is_of_key_or_block(whole, part, strcspn(part, "=")) &&
          !is_cancelled(example, i) && !is_cancelled(example, k))
        return gpumc_error_set(
            example->error, GPUMC_INVALID,
            "--set %s: '%.*s' is set as a whole as well: put both into one value", part,
            (int)length, whole);
    }
  return GPUMC_OK;
}

enum gpumc_status gpumc_example_check_assignments(const struct gpumc_example *example)
{
  for (size_t i = 0; i < example->n_assignments; i++)
    GPUMC_TRY(check_assignment(example, example->assignments[i]));
  return check_parts(example);
}
