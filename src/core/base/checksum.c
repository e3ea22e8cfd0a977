/* The checksum: four independent lanes of multiply, xor and rotate, a word of eight bytes each.
 *
 * Every step is a bijection of the lane for a given word and of the word for a given lane (odd
 * multipliers), and so is every step of the final mixing: that is why a change in a single word
 * cannot go unnoticed. Four lanes keep the multiplier of the processor busy. */
#include "core/base/checksum.h"

#include <string.h>

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
