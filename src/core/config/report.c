/* The mistakes of a configuration: one line each, every line once, in the order of the file. */
#include "core/config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_listed(const struct gpumc_text *lines, const char *line)
{
  size_t length = strlen(line);
  const char *found = gpumc_text_string(lines);
  while ((found = strstr(found, line)) != NULL) {
    bool starts = found == lines->characters || found[-1] == '\n';
    if (starts && found[length] == '\n')
      return true;
    found++;
  }
  return false;
}

void gpumc_report_mistake(struct gpumc_report *report, struct gpumc_mark mark, const char *format,
                          ...)
{
  report->calls++;
  if (report->mistakes > GPUMC_MISTAKES_LISTED)
    return;
  char *message = NULL;
  struct gpumc_text line = {0};
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&message, format, arguments);
  va_end(arguments);
  gpumc_text_append_escaped(&line, mark.source, GPUMC_ESCAPES_TEXT);
  gpumc_text_append(&line, ":%zu:%zu: ", mark.line, mark.column);
  if (report->mistakes == GPUMC_MISTAKES_LISTED)
    gpumc_text_append(&line, "more than %d mistakes; the rest is not listed",
                      GPUMC_MISTAKES_LISTED);
  else
    gpumc_text_append_escaped(
        &line, length < 0 ? "a mistake (out of memory while describing it)" : message,
        GPUMC_ESCAPES_TEXT);
  if (length >= 0)
    free(message);
  if (!is_listed(&report->lines, gpumc_text_string(&line))) {
    gpumc_text_append(&report->lines, "%s\n", gpumc_text_string(&line));
    report->mistakes++;
  }
  gpumc_text_free(&line);
}

void gpumc_report_fault(struct gpumc_report *report, const char *block, const char *key)
{
  report->calls++;
  if (report->fault.length == 0)
    gpumc_text_append(&report->fault,
                      "internal error: a check of '%s' reads key '%s', which it does not declare; "
                      "please report it",
                      block, key);
}

/* A line of the report taken apart; `order`: its number among the lines. */
struct place {
  const char *text;
  size_t source_length, line, column, order;
};

/* The first ":NUMBER:NUMBER: " ends the source. */
static void find_place(struct place *place)
{
  const char *colon = place->text;
  while ((colon = strchr(colon, ':')) != NULL) {
    int end = 0;
    if (sscanf(colon, ":%zu:%zu: %n", &place->line, &place->column, &end) == 2 && end > 0)
      break;
    colon++;
  }
  place->source_length = colon == NULL ? 0 : (size_t)(colon - place->text);
}

static int compare_places(const void *left, const void *right)
{
  const struct place *a = left, *b = right;
  size_t shorter = a->source_length < b->source_length ? a->source_length : b->source_length;
  int order = strncmp(a->text, b->text, shorter);
  if (order == 0)
    order = (a->source_length > b->source_length) - (a->source_length < b->source_length);
  if (order == 0)
    order = (a->line > b->line) - (a->line < b->line);
  if (order == 0)
    order = (a->column > b->column) - (a->column < b->column);
  return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

void gpumc_report_sort(struct gpumc_report *report)
{
  struct gpumc_text sorted = {0};
  struct place *places = calloc(report->mistakes + 1, sizeof *places);
  size_t count = 0;
  if (places == NULL || report->lines.failed)
    goto out;
  for (char *line = report->lines.characters; line != NULL && *line != '\0'; count++) {
    char *end = strchr(line, '\n');
    *end = '\0';
    places[count] = (struct place){.text = line, .order = count};
    find_place(&places[count]);
    line = end + 1;
  }
  qsort(places, count, sizeof *places, compare_places);
  for (size_t i = 0; i < count; i++)
    gpumc_text_append(&sorted, "%s\n", places[i].text);
  gpumc_text_free(&report->lines);
  report->lines = sorted;
out:
  free(places);
}

void gpumc_report_free(struct gpumc_report *report)
{
  gpumc_text_free(&report->lines);
  gpumc_text_free(&report->wrong);
  gpumc_text_free(&report->fault);
  report->mistakes = 0;
  report->calls = 0;
}
