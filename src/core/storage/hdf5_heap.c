/* Walking the objects of a global heap collection. */
#include "core/storage/hdf5_heap.h"

#include <stdint.h>
#include <string.h>

/* Collection: signature, version, three zeros, size of it all. Object: index, references, four
 * zeros, size of the data, which are padded to a multiple of eight. Index 0 is free space and comes
 * last; its size includes its header. */
enum { HEADER_BYTES = 16, SIZE_AT = 8, RESERVED_AT = 4, PADDING = 8, MOST_INDICES = 65536 };

static uint64_t number_at(const unsigned char *bytes, size_t size)
{
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

/* Whether the object at `offset` is sound; *next becomes the offset of the one behind it. */
static bool object_is_sound(const unsigned char *bytes, uint64_t offset, uint64_t collection,
                            unsigned char seen[MOST_INDICES / 8], uint64_t *next)
{
  const unsigned char *object = bytes + offset;
  uint64_t index = number_at(object, 2);
  uint64_t size = number_at(object + SIZE_AT, 8);
  *next = collection;
  if (index == 0)
    return size == collection - offset;
  if (number_at(object + RESERVED_AT, 4) != 0 || size > collection - offset - HEADER_BYTES ||
      (seen[index / 8] >> index % 8 & 1) != 0)
    return false;
  seen[index / 8] = (unsigned char)(seen[index / 8] | 1 << index % 8);
  *next = offset + HEADER_BYTES + (size + PADDING - 1) / PADDING * PADDING;
  return *next <= collection;
}

bool gpumc_hdf5_heap_is_sound(const void *bytes, size_t count)
{
  unsigned char seen[MOST_INDICES / 8] = {0};
  const unsigned char *heap = bytes;
  if (count < HEADER_BYTES || memcmp(heap, "GCOL\1\0\0\0", SIZE_AT) != 0)
    return true;
  uint64_t collection = number_at(heap + SIZE_AT, 8);
  if (collection < HEADER_BYTES || collection > INT64_MAX)
    return false;
  uint64_t offset = HEADER_BYTES;
  while (offset + HEADER_BYTES <= collection && offset + HEADER_BYTES <= count)
    if (!object_is_sound(heap, offset, collection, seen, &offset))
      return false;
  return true;
}
