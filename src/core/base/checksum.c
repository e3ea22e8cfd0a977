/* The checksum: four independent lanes of multiply, xor and rotate, a word of eight bytes each.
 *
 * Every step is a bijection of the lane for a given word and of the word for a given lane (odd
 * multipliers), and so is every step of the final mixing, so a change in a single word is always
 * noticed. Four lanes keep the multiplier of the processor busy. */
#include "core/base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/files.h"
#include "core/base/memory.h"

/* Odd, with about as many ones as zeros: the fractional parts of the golden ratio and of roots. */
static const uint64_t word_factor = 0x9E3779B97F4A7C15;
static const uint64_t lane_factor = 0xBF58476D1CE4E5B9;
static const uint64_t last_factor = 0x94D049BB133111EB;
enum { WORD_ROTATION = 31, LANE_ROTATION = 27 };

static uint64_t rotate(uint64_t value, int bits)
{
  return value << bits | value >> (64 - bits);
}

static uint64_t little_endian_word(const unsigned char *bytes)
{
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static uint64_t absorb(uint64_t lane, uint64_t word)
{
  return rotate(lane ^ rotate(word * word_factor, WORD_ROTATION), LANE_ROTATION) * lane_factor;
}

static void
absorb_blocks(uint64_t lanes[GPUMC_CHECKSUM_LANES], const unsigned char *bytes, size_t n_blocks)
{
  for (size_t block = 0; block < n_blocks; block++, bytes += GPUMC_CHECKSUM_BLOCK)
    for (size_t lane = 0; lane < GPUMC_CHECKSUM_LANES; lane++)
      lanes[lane] = absorb(lanes[lane], little_endian_word(bytes + 8 * lane));
}

void gpumc_checksum_begin(struct gpumc_checksum *checksum)
{
  memset(checksum, 0, sizeof *checksum);
  for (size_t lane = 0; lane < GPUMC_CHECKSUM_LANES; lane++)
    checksum->lanes[lane] = (lane + 1) * last_factor;
}

void gpumc_checksum_add(struct gpumc_checksum *checksum, const void *bytes, size_t count)
{
  const unsigned char *next = bytes;
  size_t n_pending = checksum->length % GPUMC_CHECKSUM_BLOCK;
  if (count == 0)
    return;
  checksum->length += count;
  if (n_pending > 0) {
    size_t missing = GPUMC_CHECKSUM_BLOCK - n_pending;
    size_t taken = count < missing ? count : missing;
    memcpy(checksum->pending + n_pending, next, taken);
    next += taken;
    count -= taken;
    if (taken < missing)
      return;
    absorb_blocks(checksum->lanes, checksum->pending, 1);
  }
  absorb_blocks(checksum->lanes, next, count / GPUMC_CHECKSUM_BLOCK);
  next += count / GPUMC_CHECKSUM_BLOCK * GPUMC_CHECKSUM_BLOCK;
  memcpy(checksum->pending, next, count % GPUMC_CHECKSUM_BLOCK);
}

uint64_t gpumc_checksum_value(const struct gpumc_checksum *checksum)
{
  uint64_t lanes[GPUMC_CHECKSUM_LANES];
  unsigned char last[GPUMC_CHECKSUM_BLOCK] = {0};
  size_t n_pending = checksum->length % GPUMC_CHECKSUM_BLOCK;
  memcpy(lanes, checksum->lanes, sizeof lanes);
  if (n_pending > 0) {
    memcpy(last, checksum->pending, n_pending);
    absorb_blocks(lanes, last, 1);
  }
  uint64_t value = checksum->length * last_factor;
  for (size_t lane = 0; lane < GPUMC_CHECKSUM_LANES; lane++) {
    value = (value ^ lanes[lane]) * last_factor;
    value ^= value >> 32;
  }
  return value;
}

uint64_t gpumc_checksum_of(const void *bytes, size_t count)
{
  struct gpumc_checksum checksum;
  gpumc_checksum_begin(&checksum);
  gpumc_checksum_add(&checksum, bytes, count);
  return gpumc_checksum_value(&checksum);
}

/* ---- sealing files, and verifying seals ---- */

enum { SIZE_AT = 16, SUM_AT = 24, SEAL_SUM_AT = 28, READ_BYTES = 1 << 20 };

static const unsigned char magic[SIZE_AT] = "gpumc-sealed-1";

static void store(unsigned char *bytes, uint64_t value, size_t size)
{
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(value >> 8 * i);
}

static void make_seal(unsigned char seal[GPUMC_SEAL_BYTES], uint64_t size, uint32_t sum)
{
  memcpy(seal, magic, sizeof magic);
  store(seal + SIZE_AT, size, 8);
  store(seal + SUM_AT, sum, 4);
  store(seal + SEAL_SUM_AT, crc32(0, seal, SEAL_SUM_AT), 4);
}

static enum gpumc_status cannot(const char *action, const char *path, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot %s: %s", path, action, strerror(errno));
}

/* Reads bytes at `offset`; false, with errno, if there are fewer. */
static bool read_at(int descriptor, unsigned char *bytes, size_t count, uint64_t offset)
{
  while (count > 0) {
    ssize_t got = pread(descriptor, bytes, count, (off_t)offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got == 0)
      errno = EIO; /* the file has become shorter */
    if (got <= 0)
      return false;
    bytes += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return true;
}

/* Computes the CRC-32 of the first `size` bytes. */
static enum gpumc_status
sum_of(int descriptor, const char *path, uint64_t size, uint32_t *sum, struct gpumc_error *error)
{
  unsigned char *buffer;
  uLong value = crc32(0, NULL, 0);
  enum gpumc_status status = GPUMC_OK;
  const size_t room = size < READ_BYTES ? (size_t)size : READ_BYTES;
  GPUMC_TRY(gpumc_allocate_array(&buffer, room, "a file buffer", error));
  for (uint64_t done = 0; done < size;) {
    const size_t count = size - done < room ? (size_t)(size - done) : room;
    if (!read_at(descriptor, buffer, count, done))
      GPUMC_TRY_OUT(status, cannot("read", path, error));
    value = crc32(value, buffer, (uInt)count);
    done += count;
  }
  *sum = (uint32_t)value;
out:
  free(buffer);
  return status;
}

static enum gpumc_status open_regular(const char *path, int flags, int *descriptor, uint64_t *size,
                                      struct gpumc_error *error)
{
  struct stat found;
  const char *reason;
  *descriptor = gpumc_regular_open(path, flags, &reason);
  if (*descriptor < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", path, reason);
  if (fstat(*descriptor, &found) != 0)
    return cannot("open", path, error);
  *size = (uint64_t)found.st_size;
  return GPUMC_OK;
}

enum gpumc_status gpumc_seal_file(const char *path, struct gpumc_error *error)
{
  unsigned char seal[GPUMC_SEAL_BYTES];
  uint64_t size = 0;
  uint32_t sum = 0;
  int descriptor;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_regular(path, O_RDWR, &descriptor, &size, error));
  GPUMC_TRY_OUT(status, sum_of(descriptor, path, size, &sum, error));
  make_seal(seal, size, sum);
  if (gpumc_write_all_at(descriptor, seal, sizeof seal, (long long)size) != 0)
    status = cannot("write", path, error);
out:
  if (descriptor >= 0 && close(descriptor) != 0 && status == GPUMC_OK)
    status = cannot("write", path, error);
  return status;
}

enum gpumc_status
gpumc_seal_check(const char *path, enum gpumc_seal *seal, struct gpumc_error *error)
{
  unsigned char found[GPUMC_SEAL_BYTES], right[GPUMC_SEAL_BYTES];
  uint64_t size = 0;
  uint32_t sum = 0;
  int descriptor;
  *seal = GPUMC_SEAL_NONE;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_regular(path, O_RDONLY, &descriptor, &size, error));
  if (size < sizeof found)
    goto out;
  size -= sizeof found;
  if (!read_at(descriptor, found, sizeof found, size))
    GPUMC_TRY_OUT(status, cannot("read", path, error));
  if (memcmp(found, magic, sizeof magic) != 0)
    goto out;
  *seal = GPUMC_SEAL_BROKEN;
  GPUMC_TRY_OUT(status, sum_of(descriptor, path, size, &sum, error));
  make_seal(right, size, sum);
  if (memcmp(found, right, sizeof right) == 0)
    *seal = GPUMC_SEAL_WHOLE;
out:
  if (descriptor >= 0)
    close(descriptor);
  return status;
}
