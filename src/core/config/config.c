/* A configuration document: read from a file, parsed from a text, overridden key by key. */
#include "core/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/files.h"
#include "core/base/text_file.h"
#include "core/config/params.h"

static enum gpumc_status out_of_memory(const char *path, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading %s", path);
}

/* At most one byte more than is allowed, so that a huge file does no harm. */
static enum gpumc_status
read_file(const char *path, char **text, size_t *length, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  size_t limit = GPUMC_CONFIG_BYTES_MAXIMUM + 1;
  const char *reason;
  FILE *file = gpumc_regular_stream(path, &reason);
  *text = NULL;
  if (file == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "cannot read %s: %s", path, reason);
  *text = malloc(limit);
  if (*text == NULL) {
    status = out_of_memory(path, error);
    goto out;
  }
  errno = 0;
  *length = fread(*text, 1, limit, file);
  if (ferror(file)) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "cannot read %s: %s", path, strerror(errno));
    free(*text);
    *text = NULL;
  }
out:
  fclose(file);
  return status;
}

enum gpumc_status gpumc_document_read(const char *path, struct gpumc_document *document,
                                      struct gpumc_report *report, struct gpumc_error *error)
{
  char *text;
  size_t length = 0;
  bool hdf5 = false;
  memset(document, 0, sizeof *document);
  GPUMC_TRY(read_file(path, &text, &length, error));
  enum gpumc_status status = gpumc_file_is_hdf5(path, &hdf5, error);
  if (status == GPUMC_OK && hdf5)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s: an HDF5 file, such as a result, not a configuration", path);
  if (status == GPUMC_OK)
    status = gpumc_document_parse(path, text, length, document, report, error);
  free(text);
  return status;
}

static void check_root(struct gpumc_document *document, struct gpumc_report *report)
{
  const struct gpumc_node *root = document->root;
  if (root == NULL || root->kind == GPUMC_NODE_MAPPING)
    return;
  if (gpumc_scalar_is_null(root)) {
    gpumc_report_mistake(report, root->mark, "the configuration is empty");
  } else {
    char found[GPUMC_DESCRIPTION_BYTES];
    gpumc_report_mistake(report, root->mark, "expected keys with values, found %s",
                         gpumc_node_describe(root, found));
  }
  gpumc_node_free(document->root);
  document->root = NULL;
}

enum gpumc_status gpumc_document_parse(const char *name, const char *text, size_t length,
                                       struct gpumc_document *document, struct gpumc_report *report,
                                       struct gpumc_error *error)
{
  memset(document, 0, sizeof *document);
  document->path = strdup(name);
  document->source = malloc(length + 1);
  if (document->path == NULL || document->source == NULL) {
    gpumc_document_free(document);
    return out_of_memory(name, error);
  }
  memcpy(document->source, text, length);
  document->source[length] = '\0';
  enum gpumc_status status =
      gpumc_node_parse(document->path, 0, text, length, &document->root, report, error);
  if (status != GPUMC_OK) {
    gpumc_document_free(document);
    return status;
  }
  check_root(document, report);
  return GPUMC_OK;
}

/* "--set KEY=VALUE", kept by the document for marks; NULL when memory ran out. */
static const char *add_source(struct gpumc_document *document, const char *assignment)
{
  char **sources =
      realloc(document->sources, (document->n_sources + 1) * sizeof *document->sources);
  if (sources == NULL)
    return NULL;
  document->sources = sources;
  char *source;
  if (asprintf(&source, "--set %s", assignment) < 0)
    return NULL;
  sources[document->n_sources++] = source;
  return source;
}

static bool is_dotted_key(const char *key, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (key[i] == '.' && (i == 0 || i + 1 == length || key[i - 1] == '.'))
      return false;
  return length > 0;
}

static enum gpumc_status replace(struct gpumc_document *document, const char *key,
                                 struct gpumc_mark mark, struct gpumc_node *value,
                                 struct gpumc_report *report, struct gpumc_error *error)
{
  bool memory;
  struct gpumc_entry *entry = gpumc_node_slot(document->root, key, mark, &memory);
  if (entry == NULL) {
    gpumc_node_free(value);
    if (!memory)
      return out_of_memory(mark.source, error);
    gpumc_report_mistake(report, mark, "'%s' cannot be set: a key in its path is not a block", key);
    return GPUMC_OK;
  }
  gpumc_node_free(entry->value);
  entry->value = value;
  entry->key_mark = mark;
  return GPUMC_OK;
}

bool gpumc_assignment_removes(const char *assignment)
{
  size_t length = strcspn(assignment, "=");
  char word[8];
  int end = 0;
  if (assignment[length] == '\0' || !is_dotted_key(assignment, length))
    return false;
  const char *value = assignment + length + 1;
  if (sscanf(value, "%7s %n", word, &end) != 1 || value[end] != '\0')
    return false;
  const struct gpumc_node node = {.kind = GPUMC_NODE_SCALAR, .text = word, .plain = true};
  return gpumc_scalar_is_null(&node);
}

/* The value after the =; NULL with mistakes in the report, or, with the error set, when memory ran
 * out. */
static enum gpumc_status parse_value(const char *source, size_t column, const char *text,
                                     struct gpumc_node **value, struct gpumc_report *report,
                                     struct gpumc_error *error)
{
  struct gpumc_mark mark = {.source = source, .line = 1, .column = column + 1};
  if (text[0] != '\0')
    return gpumc_node_parse(source, column, text, strlen(text), value, report, error);
  *value = gpumc_node_create(GPUMC_NODE_SCALAR, mark, "", false);
  return *value != NULL ? GPUMC_OK : out_of_memory(source, error);
}

enum gpumc_status gpumc_document_set(struct gpumc_document *document, const char *assignment,
                                     struct gpumc_report *report, struct gpumc_error *error)
{
  const char *source = add_source(document, assignment);
  if (source == NULL)
    return out_of_memory(assignment, error);
  struct gpumc_mark mark = {.source = source, .line = 1, .column = 1};
  size_t length = strcspn(assignment, "=");
  if (assignment[length] == '\0' || !is_dotted_key(assignment, length)) {
    gpumc_report_mistake(report, mark, "expected KEY=VALUE, such as seed=7");
    return GPUMC_OK;
  }
  if (document->root == NULL)
    return GPUMC_OK;
  char *key = strndup(assignment, length);
  if (key == NULL)
    return out_of_memory(assignment, error);
  struct gpumc_node *value = NULL;
  enum gpumc_status status = GPUMC_OK;
  if (gpumc_assignment_removes(assignment))
    gpumc_node_remove(document->root, key);
  else
    status = parse_value(source, length + 1, assignment + length + 1, &value, report, error);
  if (value != NULL)
    status = replace(document, key, mark, value, report, error);
  free(key);
  return status;
}

void gpumc_document_free(struct gpumc_document *document)
{
  gpumc_node_free(document->root);
  for (size_t i = 0; i < document->n_sources; i++)
    free(document->sources[i]);
  free(document->sources);
  free(document->source);
  free(document->path);
  memset(document, 0, sizeof *document);
}
