/* Multicanonical sampling: weights that begin with a density of states known from elsewhere, a
 * finished result of muca or a text file:
 *
 *     # value of the level for the whole system, ln Omega up to a constant; in any order
 *     -32  0.693147
 *     -24  3.465736
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/checksum.h"
#include "core/base/memory.h"
#include "core/base/text_file.h"
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

/* Appends a word to those of its line that a message shows. */
static void show_word(struct gpumc_text *shown, const char *word)
{
  if (shown->length < LINE_SHOWN)
    gpumc_text_append(shown, "%s%s", shown->length > 0 ? " " : "", word);
}

/* Reads the line that begins with `word`, and then the first word of the next line. */
static enum gpumc_status read_line(struct table *table, struct gpumc_text_file *file,
                                   char word[static GPUMC_WORD_BYTES], struct gpumc_error *error)
{
  const size_t line = file->line;
  double number[2] = {0.0, 0.0};
  struct gpumc_text shown = {0};
  char found[GPUMC_QUOTED_BYTES];
  size_t words = 0;
  bool good = true;
  enum gpumc_status status = GPUMC_OK;
  while (status == GPUMC_OK && word[0] != '\0' && file->line == line) {
    good =
        good && words < 2 && gpumc_word_is_number(word, &number[words]) && isfinite(number[words]);
    words++;
    show_word(&shown, word);
    status = gpumc_text_file_word(file, word, error);
  }
  if (status == GPUMC_OK && !(good && words == 2))
    status =
        gpumc_error_set(error, GPUMC_INVALID,
                        "%s:%zu: expected two numbers, the value of a level and ln Omega, "
                        "found %s",
                        table->path, line, gpumc_word_quoted(gpumc_text_string(&shown), found));
  else if (status == GPUMC_OK && table->count == LINES_MOST)
    status =
        gpumc_error_set(error, GPUMC_INVALID, "%s: more than %d levels", table->path, LINES_MOST);
  else if (status == GPUMC_OK)
    status = add(table, number[0], number[1], error);
  gpumc_text_free(&shown);
  return status;
}

static enum gpumc_status read_text(struct table *table, struct gpumc_error *error)
{
  struct gpumc_text_file file = {0};
  char word[GPUMC_WORD_BYTES] = "";
  enum gpumc_status status = gpumc_text_file_open(table->path, &file, error);
  if (status == GPUMC_OK)
    status = gpumc_text_file_word(&file, word, error);
  while (status == GPUMC_OK && word[0] != '\0')
    status = read_line(table, &file, word, error);
  gpumc_text_file_close(&file);
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

/* Levels of a channel are over its values, bins over their middles. */
static const char level_prefix[] = "level_", bin_suffix[] = "_bin";
enum { CHANNEL_BYTES = 64 };

/* Writes the name of the channel whose levels or bins the result has; returns false if there are
 * none. */
static bool find_channel(const struct gpumc_result *result, char channel[static CHANNEL_BYTES])
{
  for (size_t i = 0; i < result->n_datasets; i++) {
    const char *name = result->datasets[i].name;
    const size_t length = strlen(name), suffix = sizeof bin_suffix - 1;
    const bool levels = strncmp(name, level_prefix, sizeof level_prefix - 1) == 0;
    if (levels)
      snprintf(channel, CHANNEL_BYTES, "%s", name + sizeof level_prefix - 1);
    else if (length > suffix && strcmp(name + length - suffix, bin_suffix) == 0)
      snprintf(channel, CHANNEL_BYTES, "%.*s", (int)(length - suffix), name);
    else
      continue;
    return true;
  }
  return false;
}

/* Returns the value at which bin v has its ln Omega: the mean of its values, or its middle if none
 * was measured. */
static double value_of_bin(const struct gpumc_result_dataset *middle,
                           const struct gpumc_result_dataset *mean, size_t v)
{
  const bool known = mean != NULL && v < mean->shape[0] && isfinite(mean->values[v]);
  return known ? mean->values[v] : middle->values[v];
}

static enum gpumc_status take_result(struct table *table, const struct gpumc_result *result,
                                     const char *channel, struct gpumc_error *error)
{
  char name[96], other[CHANNEL_BYTES];
  snprintf(name, sizeof name, "%s%s", level_prefix, channel);
  const struct gpumc_result_dataset *level = find(result, name), *log_dos = find(result, "log_dos");
  snprintf(name, sizeof name, "%s%s", channel, bin_suffix);
  level = level != NULL ? level : find(result, name);
  snprintf(name, sizeof name, "%s%s_mean", channel, bin_suffix);
  const struct gpumc_result_dataset *mean = find(result, name);
  if (!result->complete)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s is the working file of a run that has not finished: finish that run "
                           "and give its result",
                           table->path);
  if (log_dos == NULL || !find_channel(result, other))
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
      GPUMC_TRY(add(table, value_of_bin(level, mean, v), log_dos->values[v], error));
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
  struct gpumc_error reason = {0};
  bool is_hdf5 = false;
  enum gpumc_status status = gpumc_file_is_hdf5(table->path, &is_hdf5, &reason);
  if (status != GPUMC_OK)
    status = gpumc_error_set(error, GPUMC_INVALID, "%s; %s", gpumc_error_text(&reason), remedy);
  else
    status = is_hdf5 ? read_result(table, channel, error) : read_text(table, error);
  gpumc_error_free(&reason);
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
  const double tolerance = same_level * muca_level_width(settings, model);
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
