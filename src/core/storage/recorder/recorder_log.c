/* The log of long tables: an append-only file of records with checksums. */
#include "core/storage/recorder/recorder_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/side_files.h"

enum { LOG_VERSION = 1, RECORD_BYTES = 1 << 20 };

/* Sizes in words of eight bytes: the file's header, a record's, and the checksum after either. */
enum { FILE_WORDS = 3, RECORD_WORDS = 3, WORD = 8 };
enum {
  FILE_BYTES = (FILE_WORDS + 1) * WORD,
  RECORD_HEAD = RECORD_WORDS * WORD,
};
static const char magic[2 * WORD] __attribute__((nonstring)) = GPUMC_LOG_MARK;

/* Converts between the machine's byte order and the file's, which is little-endian. */
static void turn_words(void *bytes, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  for (size_t i = 0; i < count; i++) {
    uint64_t word;
    memcpy(&word, (char *)bytes + i * WORD, WORD);
    word = __builtin_bswap64(word);
    memcpy((char *)bytes + i * WORD, &word, WORD);
  }
#else
  (void)bytes;
  (void)count;
#endif
}

static enum gpumc_status
cannot_open(const struct gpumc_log *log, const char *reason, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open it: %s", log->path, reason);
}

static enum gpumc_status
fail(const struct gpumc_log *log, const char *what, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot %s: %s", log->path, what,
                         strerror(errno));
}

enum gpumc_status
gpumc_log_damaged(const struct gpumc_log *log, const char *what, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: damaged at byte %" PRIu64 ": %s", log->path,
                         log->position, what);
}

static enum gpumc_status
log_make(const char *path, struct gpumc_log **log, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(log, 1, "the log of long tables", error));
  (*log)->descriptor = -1;
  (*log)->path = gpumc_path_with_suffix(path, "", error);
  gpumc_checksum_begin(&(*log)->checksum);
  if ((*log)->path != NULL)
    return GPUMC_OK;
  gpumc_log_close(*log);
  *log = NULL;
  return GPUMC_FAILURE;
}

void gpumc_log_close(struct gpumc_log *log)
{
  if (log == NULL)
    return;
  if (log->descriptor >= 0)
    close(log->descriptor);
  free(log->path);
  free(log->buffer);
  free(log);
}

static enum gpumc_status reserve(struct gpumc_log *log, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= log->capacity)
    return GPUMC_OK;
  unsigned char *buffer = realloc(log->buffer, bytes);
  if (buffer == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: a record of %s", log->path);
  log->buffer = buffer;
  log->capacity = bytes;
  return GPUMC_OK;
}

static void form_header(unsigned char header[static FILE_BYTES])
{
  uint64_t words[2] = {LOG_VERSION, 0};
  memcpy(header, magic, sizeof magic);
  turn_words(words, 1);
  memcpy(header + sizeof magic, words, WORD);
  words[1] = gpumc_checksum_of(header, (size_t)FILE_WORDS * WORD);
  turn_words(words + 1, 1);
  memcpy(header + (size_t)FILE_WORDS * WORD, words + 1, WORD);
}

static enum gpumc_status
write_bytes(struct gpumc_log *log, const void *bytes, size_t count, struct gpumc_error *error)
{
  if (gpumc_write_all_at(log->descriptor, bytes, count, (long long)log->length) != 0)
    return fail(log, "write", error);
  gpumc_checksum_add(&log->checksum, bytes, count);
  log->length += count;
  return GPUMC_OK;
}

enum gpumc_status gpumc_log_sync(const struct gpumc_log *log, struct gpumc_error *error)
{
  return fsync(log->descriptor) == 0 ? GPUMC_OK : fail(log, "sync it to the disk", error);
}

/* Writes it under a preliminary name, then renames it to its own. */
static enum gpumc_status
write_empty(struct gpumc_log *log, const char *begun, struct gpumc_error *error)
{
  unsigned char header[FILE_BYTES];
  const char *reason;
  form_header(header);
  log->descriptor = gpumc_regular_open(begun, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, &reason);
  if (log->descriptor < 0)
    return cannot_open(log, reason, error);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, write_bytes(log, header, sizeof header, error));
  log->position = log->length;
  GPUMC_TRY_OUT(status, gpumc_log_sync(log, error));
  GPUMC_TRY_OUT(status, gpumc_file_publish(begun, log->path, error));
  return GPUMC_OK;
out:
  unlink(begun);
  return status;
}

enum gpumc_status
gpumc_log_create(const char *path, struct gpumc_log **log, struct gpumc_error *error)
{
  *log = NULL;
  char *begun = gpumc_path_with_suffix(path, ".new", error);
  if (begun == NULL)
    return GPUMC_FAILURE;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_side_file_check(path, GPUMC_SIDE_LOG, error));
  GPUMC_TRY_OUT(status, gpumc_side_file_check(begun, GPUMC_SIDE_LOG, error));
  GPUMC_TRY_OUT(status, log_make(path, log, error));
  status = write_empty(*log, begun, error);
out:
  free(begun);
  if (status != GPUMC_OK) {
    gpumc_log_close(*log);
    *log = NULL;
  }
  return status;
}

/* Reads exactly `count` bytes at the position into `bytes` and advances it. */
static enum gpumc_status
read_bytes(struct gpumc_log *log, void *bytes, size_t count, struct gpumc_error *error)
{
  char *next = bytes;
  size_t left = count;
  if (log->length - log->position < count)
    return gpumc_log_damaged(log, "a record extends beyond the end", error);
  while (left > 0) {
    ssize_t got = pread(log->descriptor, next, left, (off_t)(log->position + (count - left)));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail(log, "read", error);
    if (got == 0)
      return gpumc_log_damaged(log, "the file ends here", error);
    next += got;
    left -= (size_t)got;
  }
  log->position += count;
  return GPUMC_OK;
}

static enum gpumc_status check_header(struct gpumc_log *log, struct gpumc_error *error)
{
  unsigned char expected[FILE_BYTES];
  unsigned char found[FILE_BYTES];
  form_header(expected);
  GPUMC_TRY(read_bytes(log, found, sizeof found, error));
  if (memcmp(found, magic, sizeof magic) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is not a log of gpumc", log->path);
  if (memcmp(found, expected, sizeof found) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: its header is damaged or its format version is not %d", log->path,
                           LOG_VERSION);
  gpumc_checksum_add(&log->checksum, found, sizeof found);
  return GPUMC_OK;
}

static enum gpumc_status
open_and_check(struct gpumc_log *log, uint64_t length, struct gpumc_error *error)
{
  struct stat found;
  const char *reason;
  log->descriptor = gpumc_regular_open(log->path, O_RDWR, &reason);
  if (log->descriptor < 0)
    return cannot_open(log, reason, error);
  if (fstat(log->descriptor, &found) != 0)
    return fail(log, "read", error);
  if ((uint64_t)found.st_size < length)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: has %lld bytes, fewer than the %" PRIu64 " that it had when the "
                           "checkpoint was written",
                           log->path, (long long)found.st_size, length);
  log->length = length;
  return check_header(log, error);
}

enum gpumc_status
gpumc_log_open(const char *path, uint64_t length, struct gpumc_log **log, struct gpumc_error *error)
{
  GPUMC_TRY(log_make(path, log, error));
  const enum gpumc_status status = open_and_check(*log, length, error);
  if (status != GPUMC_OK) {
    gpumc_log_close(*log);
    *log = NULL;
  }
  return status;
}

/* Returns the rows of `row_bytes` that fit into a record. */
static uint64_t rows_a_record(size_t row_bytes)
{
  return row_bytes < RECORD_BYTES ? RECORD_BYTES / row_bytes : 1;
}

static enum gpumc_status append_record(struct gpumc_log *log, const struct gpumc_log_record *record,
                                       size_t width, const double *values,
                                       struct gpumc_error *error)
{
  uint64_t words[RECORD_WORDS] = {record->table, record->first_row, record->n_rows};
  size_t n_values = (size_t)record->n_rows * width;
  size_t end = RECORD_HEAD + n_values * WORD;
  GPUMC_TRY(reserve(log, end + WORD, error));
  memcpy(log->buffer, words, sizeof words);
  memcpy(log->buffer + RECORD_HEAD, values, n_values * WORD);
  turn_words(log->buffer, RECORD_WORDS + n_values);
  uint64_t checksum = gpumc_checksum_of(log->buffer, end);
  turn_words(&checksum, 1);
  memcpy(log->buffer + end, &checksum, WORD);
  return write_bytes(log, log->buffer, end + WORD, error);
}

enum gpumc_status gpumc_log_append(struct gpumc_log *log, const struct gpumc_log_record *rows,
                                   size_t width, const double *values, struct gpumc_error *error)
{
  uint64_t most = rows_a_record(width * WORD);
  for (uint64_t done = 0; done < rows->n_rows; done += most) {
    uint64_t left = rows->n_rows - done;
    struct gpumc_log_record record = {rows->table, rows->first_row + done,
                                      left < most ? left : most};
    GPUMC_TRY(append_record(log, &record, width, values + (size_t)done * width, error));
  }
  return GPUMC_OK;
}

enum gpumc_status
gpumc_log_next(struct gpumc_log *log, struct gpumc_log_record *record, struct gpumc_error *error)
{
  uint64_t words[RECORD_WORDS];
  *record = (struct gpumc_log_record){0};
  if (log->position == log->length)
    return GPUMC_OK;
  uint64_t begin = log->position;
  const enum gpumc_status status = read_bytes(log, words, sizeof words, error);
  log->position = begin;
  GPUMC_TRY(status);
  turn_words(words, RECORD_WORDS);
  *record = (struct gpumc_log_record){words[0], words[1], words[2]};
  if (record->n_rows == 0)
    return gpumc_log_damaged(log, "a record without rows", error);
  return GPUMC_OK;
}

enum gpumc_status gpumc_log_check_size(const struct gpumc_log *log,
                                       const struct gpumc_log_record *record, size_t width,
                                       struct gpumc_error *error)
{
  if (record->n_rows <= rows_a_record(width * WORD))
    return GPUMC_OK;
  return gpumc_log_damaged(log, "a record with an impossible number of rows", error);
}

enum gpumc_status gpumc_log_values(struct gpumc_log *log, const struct gpumc_log_record *record,
                                   size_t width, double *values, struct gpumc_error *error)
{
  uint64_t checksum;
  uint64_t begin = log->position;
  size_t n_values = (size_t)record->n_rows * width;
  size_t end = RECORD_HEAD + n_values * WORD;
  GPUMC_TRY(reserve(log, end + WORD, error));
  GPUMC_TRY(read_bytes(log, log->buffer, end + WORD, error));
  memcpy(&checksum, log->buffer + end, WORD);
  turn_words(&checksum, 1);
  if (checksum != gpumc_checksum_of(log->buffer, end)) {
    log->position = begin;
    return gpumc_log_damaged(log, "a record does not match its checksum", error);
  }
  gpumc_checksum_add(&log->checksum, log->buffer, end + WORD);
  turn_words(log->buffer + RECORD_HEAD, n_values);
  memcpy(values, log->buffer + RECORD_HEAD, n_values * WORD);
  return GPUMC_OK;
}

enum gpumc_status gpumc_log_cut(struct gpumc_log *log, struct gpumc_error *error)
{
  if (ftruncate(log->descriptor, (off_t)log->length) != 0)
    return fail(log, "truncate it", error);
  log->position = 0;
  gpumc_checksum_begin(&log->checksum);
  return check_header(log, error);
}
