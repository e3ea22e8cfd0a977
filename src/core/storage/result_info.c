/* Reads results: what kind of file it is, whether it is complete, and what its root says. */
#include "core/storage/result_info.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/text_file.h"
#include "core/base/checksum.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_data.h"
#include "core/storage/result_mark.h"

/* The start of an HDF5 file: signature, version of the superblock (ours is 3: its metadata and all
 * others carry checksums), sizes, and the flags that a writer sets. */
enum { SIGNATURE_BYTES = 8, SUPERBLOCK_VERSION = 3, FLAGS_AT = 11, START_BYTES = 12 };
enum { FLAG_WRITING = 1, FLAG_SINGLE_WRITER = 4 };
static const char signature[SIGNATURE_BYTES] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

static enum gpumc_status
refuse_foreign(const char *path, struct gpumc_result *result, struct gpumc_error *error)
{
  result->foreign = true;
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: is an HDF5 file, but not a result of gpumc",
                         path);
}

/* Looks before HDF5 does: refuses a foreign file; `*mode` is the mode in which to open it. */
static enum gpumc_status look_at_start(const char *path, enum gpumc_hdf5_mode *mode,
                                       struct gpumc_result *result, struct gpumc_error *error)
{
  char start[GPUMC_RESULT_MARK_BYTES] = {0};
  const char *reason;
  int descriptor = gpumc_regular_open(path, O_RDONLY, &reason);
  if (descriptor < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", path, reason);
  ssize_t got = read(descriptor, start, sizeof start);
  close(descriptor);
  if (got < START_BYTES || memcmp(start, signature, SIGNATURE_BYTES) != 0) {
    bool hdf5 = false; /* after a user block, which no result of gpumc has */
    GPUMC_TRY(gpumc_file_is_hdf5(path, &hdf5, error));
    if (hdf5)
      return refuse_foreign(path, result, error);
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is not a result of gpumc (not an HDF5 file)",
                           path);
  }
  if (start[SIGNATURE_BYTES] != SUPERBLOCK_VERSION)
    return refuse_foreign(path, result, error);
  *mode = GPUMC_HDF5_READ;
  if ((start[FLAGS_AT] & FLAG_SINGLE_WRITER) != 0)
    *mode = GPUMC_HDF5_READ_LIVE;
  else if ((start[FLAGS_AT] & FLAG_WRITING) != 0)
    return gpumc_result_mark_recognise(start, (size_t)got)
               ? gpumc_error_set(error, GPUMC_FAILURE,
                                 "%s: is being written right now: try again in a moment; if no run "
                                 "is writing it, run its configuration again",
                                 path)
               : refuse_foreign(path, result, error);
  return GPUMC_OK;
}

static enum gpumc_status refuse_unsealed(const char *path, struct gpumc_error *error)
{
  return gpumc_error_set(
      error, GPUMC_FAILURE,
      "%s: is damaged: its checksum, the last %d bytes, is missing; the file was "
      "cut off, or changed by another program",
      path, GPUMC_SEAL_BYTES);
}

static enum gpumc_status
refuse_damaged(const struct gpumc_hdf5_file *file, const char *how, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: is damaged (%s)%s", file->path, how,
                         gpumc_hdf5_remedy(file));
}

/* Returns whether the file identifies itself as ours. */
static bool has_format(const struct gpumc_hdf5_file *file)
{
  char *format = gpumc_hdf5_attribute_text(file->id, "format");
  const bool ours = format != NULL && strcmp(format, GPUMC_RESULTS_MARK) == 0;
  free(format);
  return ours;
}

static enum gpumc_status read_root(const struct gpumc_hdf5_file *file, bool unsealed_too,
                                   struct gpumc_result *result, struct gpumc_error *error)
{
  int64_t complete = 0;
  char *format = gpumc_hdf5_attribute_text(file->id, "format");
  const H5T_class_t class = gpumc_hdf5_attribute_class(file->id, "format");
  const bool unreadable = format == NULL && H5Aexists(file->id, "format") != 0 &&
                          class != H5T_INTEGER && class != H5T_FLOAT;
  free(format);
  if (unreadable)
    return refuse_damaged(file, "its attributes cannot be read", error);
  if (!has_format(file) ||
      !gpumc_hdf5_attribute_integer(file->id, "format_version", &result->format_version))
    return refuse_foreign(file->path, result, error);
  if (result->format_version < 1 || result->format_version > GPUMC_RESULT_VERSION)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: was written in result format %lld; this program reads 1 to %d",
                           file->path, (long long)result->format_version, GPUMC_RESULT_VERSION);
  if (!gpumc_hdf5_attribute_integer(file->id, "complete", &complete))
    return refuse_damaged(file, "it does not say whether it is complete", error);
  result->complete = complete == 1;
  if (result->complete && !result->sealed && !unsealed_too &&
      result->format_version >= GPUMC_RESULT_SEALED_SINCE) {
    result->damaged = true;
    return refuse_unsealed(file->path, error);
  }
  result->title = gpumc_hdf5_attribute_text(file->id, "title");
  result->program_version = gpumc_hdf5_attribute_text(file->id, "program_version");
  if (result->title == NULL || result->program_version == NULL)
    return refuse_damaged(file, "its title or program version is missing", error);
  return GPUMC_OK;
}

static enum gpumc_status read_all(const struct gpumc_hdf5_file *file, bool unsealed_too,
                                  struct gpumc_result *result, struct gpumc_error *error)
{
  GPUMC_TRY(read_root(file, unsealed_too, result, error));
  GPUMC_TRY(gpumc_hdf5_get_text(file, "config/source", &result->source, error));
  GPUMC_TRY(gpumc_hdf5_get_text(file, "config/resolved", &result->resolved, error));
  return gpumc_result_read_data(file, result, error);
}

/* If a writer begins or ends between the look and the opening, the mark has changed: look again. */
static enum gpumc_status open_as_marked(const char *path, struct gpumc_hdf5_file **file,
                                        struct gpumc_result *result, struct gpumc_error *error)
{
  enum gpumc_hdf5_mode mode;
  GPUMC_TRY(look_at_start(path, &mode, result, error));
  for (;;) {
    const enum gpumc_hdf5_mode tried = mode;
    if (gpumc_hdf5_open(path, tried, file, error) == GPUMC_OK)
      return GPUMC_OK;
    GPUMC_TRY(look_at_start(path, &mode, result, error));
    if (mode == tried)
      return GPUMC_FAILURE;
    gpumc_error_free(error);
  }
}

/* Verifies the file before HDF5 does anything with it. */
static enum gpumc_status
verify(const char *path, struct gpumc_result *result, struct gpumc_error *error)
{
  enum gpumc_seal seal;
  GPUMC_TRY(gpumc_seal_check(path, &seal, error));
  result->sealed = seal == GPUMC_SEAL_WHOLE;
  result->damaged = seal == GPUMC_SEAL_BROKEN;
  if (!result->damaged)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "%s: is damaged: its contents do not match the checksum at its end", path);
}

static enum gpumc_status read_file(const char *path, bool unsealed_too, struct gpumc_result *result,
                                   struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  struct gpumc_hdf5_file *file = NULL;
  memset(result, 0, sizeof *result);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, verify(path, result, error));
  GPUMC_TRY_OUT(status, open_as_marked(path, &file, result, error));
  status = read_all(file, unsealed_too, result, error);
out:
  gpumc_hdf5_discard(file);
  if (status != GPUMC_OK) {
    const bool damaged = result->damaged, foreign = result->foreign;
    gpumc_result_free(result);
    result->damaged = damaged;
    result->foreign = foreign;
  }
  return status;
}

enum gpumc_status
gpumc_result_read(const char *path, struct gpumc_result *result, struct gpumc_error *error)
{
  return read_file(path, false, result, error);
}

enum gpumc_status
gpumc_working_file_read(const char *path, struct gpumc_result *result, struct gpumc_error *error)
{
  return read_file(path, true, result, error);
}

/* For a file without a seal. */
static enum gpumc_status
check_unsealed(const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  int64_t version = 0, complete = 1;
  if (!has_format(file))
    return GPUMC_OK;
  if (gpumc_hdf5_attribute_integer(file->id, "complete", &complete) && complete == 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is an unfinished working file of gpumc",
                           file->path);
  if (gpumc_hdf5_attribute_integer(file->id, "format_version", &version) &&
      version < GPUMC_RESULT_SEALED_SINCE)
    return GPUMC_OK;
  return refuse_unsealed(file->path, error);
}

enum gpumc_status gpumc_result_check_source(const char *path, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  struct gpumc_result result = {0};
  struct gpumc_hdf5_file *file = NULL;
  GPUMC_TRY(verify(path, &result, error));
  if (result.sealed)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_hdf5_open(path, GPUMC_HDF5_READ, &file, error));
  const enum gpumc_status status = check_unsealed(file, error);
  gpumc_hdf5_discard(file);
  return status;
}

void gpumc_result_free(struct gpumc_result *result)
{
  free(result->title);
  free(result->program_version);
  free(result->source);
  free(result->resolved);
  gpumc_result_data_free(result);
  memset(result, 0, sizeof *result);
}

const char *gpumc_result_field(const struct gpumc_result_fields *fields, const char *name)
{
  for (size_t i = 0; i < fields->count; i++)
    if (strcmp(fields->items[i].name, name) == 0)
      return fields->items[i].value;
  return NULL;
}

/* ---- the datasets of a summary, and what belongs together ---- */

const struct gpumc_result_dataset *
gpumc_result_dataset(const struct gpumc_result *result, const char *name)
{
  for (size_t i = 0; i < result->n_datasets; i++)
    if (strcmp(result->datasets[i].name, name) == 0)
      return &result->datasets[i];
  return NULL;
}

static const char error_suffix[] = "_error";

bool gpumc_result_is_error(const char *name)
{
  const size_t length = strlen(name), suffix = strlen(error_suffix);
  return length > suffix && strcmp(name + length - suffix, error_suffix) == 0;
}

size_t gpumc_result_group_length(const char *name)
{
  const char *slash = strrchr(name, '/');
  return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

const struct gpumc_result_dataset *
gpumc_result_errors(const struct gpumc_result *result, const struct gpumc_result_dataset *dataset)
{
  const size_t length = strlen(dataset->name);
  for (size_t i = 0; i < result->n_datasets; i++) {
    const struct gpumc_result_dataset *errors = &result->datasets[i];
    if (strncmp(errors->name, dataset->name, length) == 0 &&
        strcmp(errors->name + length, error_suffix) == 0 && errors->rank == dataset->rank &&
        errors->shape[0] == dataset->shape[0] && errors->shape[1] == dataset->shape[1])
      return errors;
  }
  return NULL;
}
