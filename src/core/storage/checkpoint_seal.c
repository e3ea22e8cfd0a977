/* The shell of a checkpoint: sealing the file, and verifying the seal, without HDF5.
 *
 * The first 512 bytes are an HDF5 user block; numbers little-endian:
 *   0   16  "gpumc-checkpoint", without a final NUL
 *   16   4  format version
 *   20   4  size of this block, 512
 *   24   8  size of the whole file in bytes
 *   32   8  checksum of the bytes 512 .. size - 1
 *   40 464  zero
 *   504  8  checksum of the bytes 0 .. 503 */
#include "core/storage/checkpoint_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/base/files.h"
#include "core/base/memory.h"

/* Sizes and offsets in the user block. */
enum {
  VERSION_AT = 16,
  BLOCK_SIZE_AT = 20,
  FILE_SIZE_AT = 24,
  CHECKSUM_AT = 32,
  BLOCK_CHECKSUM_AT = 504,
};
static const char magic[VERSION_AT] __attribute__((nonstring)) = GPUMC_CHECKPOINT_MARK;

enum { READ_BYTES = 1 << 20 };

static void store(unsigned char *bytes, uint64_t value, size_t size)
{
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t load(const unsigned char *bytes, size_t size)
{
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

/* Reads until the buffer is full or the file ends; returns the count, or -1 with errno. */
static ssize_t read_full(int descriptor, unsigned char *buffer, size_t count)
{
  size_t filled = 0;
  while (filled < count) {
    ssize_t got = read(descriptor, buffer + filled, count - filled);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    filled += (size_t)got;
  }
  return (ssize_t)filled;
}

/* Computes the checksum of everything after the user block, and the size of the whole file. */
static enum gpumc_status sum_contents(int descriptor, const char *path, uint64_t *size,
                                      uint64_t *value, struct gpumc_error *error)
{
  struct gpumc_checksum checksum;
  unsigned char *buffer;
  ssize_t got = -1;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&buffer, READ_BYTES, "a file buffer", error));
  gpumc_checksum_begin(&checksum);
  if (lseek(descriptor, GPUMC_CHECKPOINT_BLOCK_BYTES, SEEK_SET) >= 0)
    while ((got = read_full(descriptor, buffer, READ_BYTES)) > 0)
      gpumc_checksum_add(&checksum, buffer, (size_t)got);
  if (got < 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot read: %s", path, strerror(errno));
  *value = gpumc_checksum_value(&checksum);
  *size = checksum.length + GPUMC_CHECKPOINT_BLOCK_BYTES;
  free(buffer);
  return status;
}

enum gpumc_status gpumc_checkpoint_seal(const char *path, struct gpumc_error *error)
{
  unsigned char block[GPUMC_CHECKPOINT_BLOCK_BYTES] = {0};
  uint64_t size = 0;
  uint64_t checksum = 0;
  const char *reason;
  int descriptor = gpumc_regular_open(path, O_RDWR, &reason);
  if (descriptor < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", path, reason);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, sum_contents(descriptor, path, &size, &checksum, error));
  memcpy(block, magic, sizeof magic);
  store(block + VERSION_AT, GPUMC_CHECKPOINT_VERSION, 4);
  store(block + BLOCK_SIZE_AT, GPUMC_CHECKPOINT_BLOCK_BYTES, 4);
  store(block + FILE_SIZE_AT, size, 8);
  store(block + CHECKSUM_AT, checksum, 8);
  store(block + BLOCK_CHECKSUM_AT, gpumc_checksum_of(block, BLOCK_CHECKSUM_AT), 8);
  if (gpumc_write_all_at(descriptor, block, sizeof block, 0) != 0 || fsync(descriptor) != 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot write: %s", path, strerror(errno));
out:
  if (close(descriptor) != 0 && status == GPUMC_OK)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot write: %s", path, strerror(errno));
  return status;
}

static enum gpumc_status check_block(const unsigned char block[GPUMC_CHECKPOINT_BLOCK_BYTES],
                                     const char *path, struct gpumc_error *error)
{
  if (memcmp(block, magic, sizeof magic) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is not a checkpoint of gpumc", path);
  uint64_t version = load(block + VERSION_AT, 4);
  if (version != GPUMC_CHECKPOINT_VERSION)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: was written in checkpoint format %llu; this program reads %d: "
                           "finish the run with the program that began it",
                           path, (unsigned long long)version, GPUMC_CHECKPOINT_VERSION);
  if (load(block + BLOCK_CHECKSUM_AT, 8) != gpumc_checksum_of(block, BLOCK_CHECKSUM_AT) ||
      load(block + BLOCK_SIZE_AT, 4) != GPUMC_CHECKPOINT_BLOCK_BYTES)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: is damaged (the checksum of its header is wrong)", path);
  return GPUMC_OK;
}

static enum gpumc_status verify_open(int descriptor, const char *path,
                                     enum gpumc_checkpoint_extent extent, struct gpumc_error *error)
{
  unsigned char block[GPUMC_CHECKPOINT_BLOCK_BYTES] = {0};
  struct stat found;
  uint64_t size = 0;
  uint64_t checksum = 0;
  ssize_t got = read_full(descriptor, block, sizeof block);
  if (got < 0 || fstat(descriptor, &found) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot read: %s", path, strerror(errno));
  if (got >= VERSION_AT && got < GPUMC_CHECKPOINT_BLOCK_BYTES &&
      memcmp(block, magic, sizeof magic) == 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is damaged (cut off after %zd bytes)", path,
                           got);
  GPUMC_TRY(check_block(block, path, error));
  uint64_t expected = load(block + FILE_SIZE_AT, 8);
  if ((uint64_t)found.st_size != expected)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is damaged (%lld bytes long instead of %llu)",
                           path, (long long)found.st_size, (unsigned long long)expected);
  if (extent == GPUMC_CHECKPOINT_HEAD)
    return GPUMC_OK;
  GPUMC_TRY(sum_contents(descriptor, path, &size, &checksum, error));
  if (checksum != load(block + CHECKSUM_AT, 8))
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is damaged (its checksum is wrong)", path);
  return GPUMC_OK;
}

enum gpumc_status gpumc_checkpoint_verify(const char *path, enum gpumc_checkpoint_extent extent,
                                          struct gpumc_error *error)
{
  const char *reason;
  int descriptor = gpumc_regular_open(path, O_RDONLY, &reason);
  if (descriptor < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", path, reason);
  enum gpumc_status status = verify_open(descriptor, path, extent, error);
  close(descriptor);
  return status;
}
