/* Multicanonical sampling: weights that begin with a density of states known from elsewhere, a
 * finished result of muca or a text file:
 *
 *     # value of the level for the whole system, ln Omega up to a constant; in any order
 *     -32  0.693147
 *     -24  3.465736
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/checksum.h"
#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/result_info.h"

enum { LINES_MOST = 1 << 22, LINE_SHOWN = 40 };
static const double spread_most = 0x1p28; /* of ln Omega: weights are in fixed point */
static const char remedy[] =
    "give a finished result of muca, or a text file of values and ln Omega";
/* Values closer than this share of the distance of two levels are equal. */
static const double same_level = 1e-6;

struct entry {
  double value, log_dos;
};

struct table {
  const char *path; /* borrowed */
  size_t count, capacity;
  struct entry *entry;
};

static enum gpumc_status
add(struct table *table, double value, double log_dos, struct gpumc_error *error)
{
  if (table->count == table->capacity) {
    const size_t capacity = table->capacity == 0 ? 256 : 2 * table->capacity;
    struct entry *grown = realloc(table->entry, capacity * sizeof *grown);
    if (grown == NULL)
      return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading %s", table->path);
    table->entry = grown;
    table->capacity = capacity;
  }
  table->entry[table->count++] = (struct entry){value, log_dos};
  return GPUMC_OK;
}

/* ---- text ---- */

/* Replaces anything but printable ASCII by '?'. */
static const char *shown(const char *line, char text[static LINE_SHOWN + 1])
{
  size_t n = 0;
  for (; n < LINE_SHOWN && line[n] != '\0' && line[n] != '\n' && line[n] != '\r'; n++)
    text[n] = line[n] >= ' ' && line[n] < 0x7f ? line[n] : '?';
  text[n] = '\0';
  return text;
}

static enum gpumc_status
read_line(struct table *table, char *line, size_t number, struct gpumc_error *error)
{
  char text[LINE_SHOWN + 1], *end, *rest;
  line[strcspn(line, "#")] = '\0';
  if (line[strspn(line, " \t\r\n")] == '\0')
    return GPUMC_OK;
  const double value = strtod(line, &end), log_dos = strtod(end, &rest);
  const bool two = end != line && rest != end && rest[strspn(rest, " \t\r\n")] == '\0';
  if (!two || !isfinite(value) || !isfinite(log_dos))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s:%zu: expected two numbers, the value of a level and ln Omega, found "
                           "'%s'",
                           table->path, number, shown(line, text));
  if (table->count == LINES_MOST)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: more than %d levels", table->path,
                           LINES_MOST);
  return add(table, value, log_dos, error);
}

static enum gpumc_status read_text(struct table *table, FILE *stream, struct gpumc_error *error)
{
  char *line = NULL;
  size_t capacity = 0, number = 0;
  ssize_t length;
  enum gpumc_status status = GPUMC_OK;
  while (status == GPUMC_OK && (length = getline(&line, &capacity, stream)) >= 0) {
    number++;
    if (strlen(line) != (size_t)length)
      status = gpumc_error_set(error, GPUMC_INVALID, "%s:%zu: a zero byte: this is not a text file",
                               table->path, number);
    else
      status = read_line(table, line, number, error);
  }
  if (status == GPUMC_OK && !feof(stream))
    status = gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s; %s", table->path,
                             strerror(errno), remedy);
  free(line);
  return status;
}

/* ---- results ---- */

static const struct gpumc_result_dataset *find(const struct gpumc_result *result, const char *name)
{
  for (size_t i = 0; i < result->n_datasets; i++)
    if (strcmp(result->datasets[i].name, name) == 0 && result->datasets[i].rank == 1)
      return &result->datasets[i];
  return NULL;
}

/* Returns the name of the channel whose levels the result has, or NULL. */
static const char *channel_of(const struct gpumc_result *result)
{
  static const char prefix[] = "level_";
  for (size_t i = 0; i < result->n_datasets; i++)
    if (strncmp(result->datasets[i].name, prefix, sizeof prefix - 1) == 0)
      return result->datasets[i].name + sizeof prefix - 1;
  return NULL;
}

static enum gpumc_status take_result(struct table *table, const struct gpumc_result *result,
                                     const char *channel, struct gpumc_error *error)
{
  char name[64];
  snprintf(name, sizeof name, "level_%s", channel);
  const struct gpumc_result_dataset *level = find(result, name), *log_dos = find(result, "log_dos");
  const char *other = channel_of(result);
  if (!result->complete)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s is the working file of a run that has not finished: finish that run "
                           "and give its result",
                           table->path);
  if (log_dos == NULL || other == NULL)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s has no density of states, so it is not a result of muca for one sample; %s",
        table->path, remedy);
  if (level == NULL || level->shape[0] != log_dos->shape[0])
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s has the density of states of the %s, but the weights of this run "
                           "depend on the %s: give a result for the same coordinate",
                           table->path, other, channel);
  for (size_t v = 0; v < level->shape[0]; v++)
    if (isfinite(level->values[v]) && isfinite(log_dos->values[v]))
      GPUMC_TRY(add(table, level->values[v], log_dos->values[v], error));
  return GPUMC_OK;
}

static enum gpumc_status
read_result(struct table *table, const char *channel, struct gpumc_error *error)
{
  struct gpumc_result result = {0};
  struct gpumc_error reason = {0};
  enum gpumc_status status = gpumc_result_read(table->path, &result, &reason);
  if (status == GPUMC_OK)
    status = take_result(table, &result, channel, error);
  else
    status = gpumc_error_set(error, GPUMC_INVALID, "%s; %s", gpumc_error_text(&reason), remedy);
  gpumc_error_free(&reason);
  gpumc_result_free(&result);
  return status;
}

/* ---- both ---- */

static int compare_entries(const void *left, const void *right)
{
  const struct entry *a = left, *b = right;
  return (a->value > b->value) - (a->value < b->value);
}

/* Sorts in ascending order, each value once, and checks that ln Omega fits into fixed point. */
static enum gpumc_status put_in_order(struct table *table, struct gpumc_error *error)
{
  double least = INFINITY, most = -INFINITY;
  if (table->count == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s has no levels; %s", table->path, remedy);
  qsort(table->entry, table->count, sizeof *table->entry, compare_entries);
  for (size_t i = 0; i < table->count; i++) {
    if (i > 0 && table->entry[i].value <= table->entry[i - 1].value)
      return gpumc_error_set(error, GPUMC_INVALID, "%s has two lines for the level %g", table->path,
                             table->entry[i].value);
    least = fmin(least, table->entry[i].log_dos);
    most = fmax(most, table->entry[i].log_dos);
  }
  if (!(most - least <= spread_most))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: ln Omega differs by %g between levels, but the limit is %g",
                           table->path, most - least, spread_most);
  for (size_t i = 0; i < table->count; i++)
    table->entry[i].log_dos -= most;
  return GPUMC_OK;
}

static enum gpumc_status
read_table(struct table *table, const char *channel, struct gpumc_error *error)
{
  static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  char begin[sizeof signature] = "";
  const char *reason;
  FILE *stream = gpumc_regular_stream(table->path, &reason);
  if (stream == NULL)
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s; %s", table->path, reason,
                           remedy);
  const bool is_hdf5 =
      fread(begin, sizeof begin, 1, stream) == 1 && memcmp(begin, signature, sizeof begin) == 0;
  enum gpumc_status status = GPUMC_OK;
  rewind(stream);
  if (!is_hdf5)
    status = read_text(table, stream, error);
  fclose(stream);
  if (status == GPUMC_OK && is_hdf5)
    status = read_result(table, channel, error);
  return status == GPUMC_OK ? put_in_order(table, error) : status;
}

/* Returns ln Omega at a value between the first and the last, on a straight line between
 * neighbours. */
static double interpolate(const struct table *table, size_t *at, double value, double tolerance)
{
  const struct entry *entry = table->entry;
  while (*at + 1 < table->count && entry[*at + 1].value <= value + tolerance)
    ++*at;
  if (*at + 1 == table->count || fabs(entry[*at].value - value) <= tolerance ||
      value < entry[*at].value)
    return entry[*at].log_dos;
  const double share = (value - entry[*at].value) / (entry[*at + 1].value - entry[*at].value);
  return fma(share, entry[*at + 1].log_dos - entry[*at].log_dos, entry[*at].log_dos);
}

/* Computes -ln Omega of the levels of the run that lie between those of the table; `log_weight` of
 * the others is GPUMC_WEIGHT_NONE. NULL: only checks whether there are any. */
static enum gpumc_status place(const struct table *table, const struct muca_settings *settings,
                               const struct gpumc_model *model, int64_t *log_weight,
                               struct gpumc_error *error)
{
  const double tolerance =
      same_level * (double)settings->spacing * model->quantum[settings->channel];
  const double from = table->entry[0].value, to = table->entry[table->count - 1].value;
  size_t at = 0, common = 0;
  for (size_t l = settings->first; l <= settings->last; l++) {
    const double value = muca_level_value(settings, model, l);
    const bool known = value >= from - tolerance && value <= to + tolerance;
    common += known;
    if (log_weight != NULL)
      log_weight[l] =
          known ? (int64_t)rint(-interpolate(table, &at, value, tolerance) * MUCA_WEIGHT_UNIT)
                : GPUMC_WEIGHT_NONE;
  }
  if (common > 0)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s has levels from %g to %g, none of which belongs to this run, from %g "
                         "to %g: give values of the whole system, in the same range",
                         table->path, from, to, muca_level_value(settings, model, settings->first),
                         muca_level_value(settings, model, settings->last));
}

enum gpumc_status muca_start_read(const struct gpumc_params *params,
                                  const struct gpumc_model *model,
                                  const struct muca_settings *settings, int64_t *log_weight,
                                  uint64_t *checksum, struct gpumc_error *error)
{
  struct table table = {.path = gpumc_params_string(params, "iteration.file")};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status,
                read_table(&table, model->ops->channels[settings->channel].label.name, error));
  GPUMC_TRY_OUT(status, place(&table, settings, model, log_weight, error));
  *checksum = gpumc_checksum_of(table.entry, table.count * sizeof *table.entry);
out:
  free(table.entry);
  return status;
}

enum gpumc_status muca_read_file(const struct gpumc_params *params, const struct gpumc_model *model,
                                 uint64_t *checksum, struct gpumc_error *error)
{
  struct muca_settings settings;
  muca_settings_read(params, model, &settings);
  return muca_start_read(params, model, &settings, NULL, checksum, error);
}
