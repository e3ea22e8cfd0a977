/* Finds the attribute `format` in the first bytes of an HDF5 file. Names and numbers of the parts
 * are those of HDF5's file format specification, version 3. */
#include "core/storage/result_mark.h"

#include <stdint.h>
#include <string.h>

/* The superblock as the recorder writes it: signature and version 3; its size and layout. */
static const char superblock[] = "\x89HDF\r\n\x1a\n\x03";
enum { ADDRESS_BYTES_AT = 9, FLAGS_AT = 11, ROOT_AT = 36, SUPERBLOCK_BYTES = 48 };
enum { FLAG_WRITING = 1, ADDRESS_BYTES = 8 };
/* Largest distance of the text from the beginning of our files. */
enum { MARK_WITHIN = 8192 };

/* Object headers. */
enum { HEADER_FLAGS_AT = 5, HEADER_PREFIX = 6, HAS_ORDER = 4, HAS_LIMITS = 16, HAS_TIMES = 32 };
enum { LIMITS_BYTES = 4, TIMES_BYTES = 16, CHECKSUM_BYTES = 4, CHUNKS_MAXIMUM = 64 };
enum { MESSAGE_ATTRIBUTE = 0x0c, MESSAGE_CONTINUATION = 0x10 };
/* Attribute messages: where the name begins; classes of texts. */
enum { ATTRIBUTE_VERSION = 3, NAME_AT = 9, CLASS_FIXED = 3, CLASS_VARIABLE = 9 };
/* Global heaps: header size, and the layout of an object. */
enum { HEAP_HEADER = 16, HEAP_OBJECT_HEADER = 16 };

/* INCOMPLETE: a part is missing, or lies beyond the bytes. */
enum verdict { ABSENT, FOUND, INCOMPLETE };

struct bytes {
  const unsigned char *begin;
  uint64_t length;
};

static bool has(const struct bytes *bytes, uint64_t at, uint64_t count)
{
  return at <= bytes->length && count <= bytes->length - at;
}

/* Loads a little-endian number that is known to be there. */
static uint64_t load(const struct bytes *bytes, uint64_t at, size_t size)
{
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value |= (uint64_t)bytes->begin[at + i] << 8 * i;
  return value;
}

static bool has_text(const struct bytes *bytes, uint64_t at, const char *text, size_t length)
{
  return has(bytes, at, length) && memcmp(bytes->begin + at, text, length) == 0;
}

/* Compares `size` bytes of a text, which may end in a zero. */
static enum verdict compare_text(const struct bytes *bytes, uint64_t at, uint64_t size)
{
  const size_t length = strlen(GPUMC_RESULTS_MARK);
  const bool fits = size == length || (size > length && has(bytes, at, length + 1) &&
                                       bytes->begin[at + length] == '\0');
  return fits && has_text(bytes, at, GPUMC_RESULTS_MARK, length) ? FOUND : ABSENT;
}

/* Compares object `index` of the global heap at `heap`. */
static enum verdict
compare_heap(const struct bytes *bytes, uint64_t heap, uint64_t index, uint64_t length)
{
  if (!has(bytes, heap, HEAP_HEADER) || !has_text(bytes, heap, "GCOL", 4))
    return INCOMPLETE;
  for (uint64_t at = heap + HEAP_HEADER; has(bytes, at, HEAP_OBJECT_HEADER);) {
    const uint64_t found = load(bytes, at, 2), size = load(bytes, at + 8, 8);
    if (found == 0 || !has(bytes, at + HEAP_OBJECT_HEADER, size))
      return INCOMPLETE;
    if (found == index)
      return length <= size ? compare_text(bytes, at + HEAP_OBJECT_HEADER, length) : ABSENT;
    at += HEAP_OBJECT_HEADER + (size + 7) / 8 * 8;
  }
  return INCOMPLETE;
}

/* Examines an attribute message of `size` bytes that are there; false: another attribute. */
static bool is_format(const struct bytes *bytes, uint64_t at, uint64_t size, enum verdict *verdict)
{
  static const char name[] = "format";
  if (size <= NAME_AT + sizeof name || bytes->begin[at] != ATTRIBUTE_VERSION ||
      load(bytes, at + 2, 2) != sizeof name || !has_text(bytes, at + NAME_AT, name, sizeof name))
    return false;
  const uint64_t type = at + NAME_AT + sizeof name;
  const uint64_t value = type + load(bytes, at + 4, 2) + load(bytes, at + 6, 2), end = at + size;
  const unsigned class = bytes->begin[type] & 0xf;
  *verdict = ABSENT;
  if (class == CLASS_FIXED && value < end)
    *verdict = compare_text(bytes, value, end - value);
  else if (class == CLASS_VARIABLE && value < end && end - value >= 4 + ADDRESS_BYTES + 4)
    *verdict = compare_heap(bytes, load(bytes, value + 4, ADDRESS_BYTES),
                            load(bytes, value + 4 + ADDRESS_BYTES, 4), load(bytes, value, 4));
  return true;
}

/* A piece of an object header: its messages are at..end. */
struct chunk {
  uint64_t at, end;
};

/* Returns true once the format has been seen; `*next`: where the header continues, if it does. */
static bool search_chunk(const struct bytes *bytes, const struct chunk *chunk, uint64_t header,
                         struct chunk *next, enum verdict *verdict)
{
  for (uint64_t at = chunk->at; at + header <= chunk->end;) {
    const unsigned type = bytes->begin[at];
    const uint64_t size = load(bytes, at + 1, 2), message = at + header;
    if (size > chunk->end - message)
      return false;
    if (type == MESSAGE_ATTRIBUTE && is_format(bytes, message, size, verdict))
      return true;
    if (type == MESSAGE_CONTINUATION && size >= 2 * (uint64_t)ADDRESS_BYTES) {
      next->at = load(bytes, message, ADDRESS_BYTES);
      next->end = load(bytes, message + ADDRESS_BYTES, ADDRESS_BYTES);
    }
    at = message + size;
  }
  return false;
}

/* Enters the continuation at `next->at`, `next->end` bytes long: its messages are between a
 * signature and a checksum. */
static bool enter_continuation(const struct bytes *bytes, struct chunk *next)
{
  const uint64_t begin = next->at, length = next->end;
  if (!has(bytes, begin, length) || length < 4 + CHECKSUM_BYTES ||
      !has_text(bytes, begin, "OCHK", 4))
    return false;
  *next = (struct chunk){begin + 4, begin + length - CHECKSUM_BYTES};
  return true;
}

static enum verdict find_format(const struct bytes *bytes)
{
  const uint64_t root = load(bytes, ROOT_AT, ADDRESS_BYTES);
  if (bytes->begin[ADDRESS_BYTES_AT] != ADDRESS_BYTES)
    return ABSENT;
  if (!has(bytes, root, HEADER_PREFIX) || !has_text(bytes, root, "OHDR\2", 5))
    return INCOMPLETE;
  const unsigned flags = bytes->begin[root + HEADER_FLAGS_AT];
  const size_t size_bytes = (size_t)1 << (flags & 3);
  const uint64_t header = (flags & HAS_ORDER) != 0 ? 6 : 4;
  uint64_t at = root + HEADER_PREFIX + ((flags & HAS_TIMES) != 0 ? TIMES_BYTES : 0) +
                ((flags & HAS_LIMITS) != 0 ? LIMITS_BYTES : 0);
  if (!has(bytes, at, size_bytes))
    return INCOMPLETE;
  const uint64_t size = load(bytes, at, size_bytes);
  at += size_bytes;
  if (!has(bytes, at, size))
    return INCOMPLETE;
  struct chunk chunk = {at, at + size};
  for (int count = 0; count < CHUNKS_MAXIMUM; count++) {
    struct chunk next = {0, 0};
    enum verdict verdict;
    if (search_chunk(bytes, &chunk, header, &next, &verdict))
      return verdict;
    if (next.end == 0)
      return ABSENT;
    if (!enter_continuation(bytes, &next))
      return INCOMPLETE;
    chunk = next;
  }
  return ABSENT;
}

static bool is_zero(const struct bytes *bytes, uint64_t at)
{
  for (uint64_t i = at; i < bytes->length; i++)
    if (bytes->begin[i] != 0)
      return false;
  return true;
}

static bool has_superblock(const struct bytes *bytes)
{
  return has_text(bytes, 0, superblock, strlen(superblock));
}

/* Before the format is on the disk there is nothing after the superblock. */
static bool has_superblock_only(const struct bytes *bytes)
{
  return bytes->length <= SUPERBLOCK_BYTES || is_zero(bytes, SUPERBLOCK_BYTES);
}

static bool is_left_open(const struct bytes *bytes)
{
  return (bytes->begin[FLAGS_AT] & FLAG_WRITING) != 0;
}

bool gpumc_result_mark_recognise(const char *begin, size_t length)
{
  const struct bytes bytes = {(const unsigned char *)begin, length};
  if (!has_superblock(&bytes) || has_superblock_only(&bytes))
    return has_superblock(&bytes);
  const enum verdict verdict = find_format(&bytes);
  const size_t searched = length < MARK_WITHIN ? length : MARK_WITHIN;
  return verdict == FOUND ||
         (verdict == INCOMPLETE && is_left_open(&bytes) &&
          memmem(begin, searched, GPUMC_RESULTS_MARK, strlen(GPUMC_RESULTS_MARK)) != NULL);
}

bool gpumc_result_mark_is_closed(const char *begin, size_t length)
{
  const struct bytes bytes = {(const unsigned char *)begin, length};
  return has_superblock(&bytes) && !has_superblock_only(&bytes) && !is_left_open(&bytes) &&
         find_format(&bytes) == FOUND;
}
