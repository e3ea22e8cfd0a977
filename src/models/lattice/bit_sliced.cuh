/* Bit-sliced arithmetic on GPUs, 32 lanes per word: functions of three words, tiles in two forms,
 * the comparison of bit_sliced.h, counters lane by lane. */
#ifndef GPUMC_LATTICE_BIT_SLICED_CUH
#define GPUMC_LATTICE_BIT_SLICED_CUH

#include <stdint.h>

/* ---- functions of three words ---- */

/* Functions of three words, bit by bit, as the single instruction that the hardware has for them:
 * left to itself the compiler splits long expressions into more of them than necessary. */

/* The function's value for every (a, b, c): the expression of these three is the function's
 * table. */
enum { GPUMC_LOP3_A = 0xf0, GPUMC_LOP3_B = 0xcc, GPUMC_LOP3_C = 0xaa };

template <int TABLE>
__device__ static inline uint32_t gpumc_lop3(uint32_t a, uint32_t b, uint32_t c)
{
  uint32_t value;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(value) : "r"(a), "r"(b), "r"(c), "n"(TABLE & 0xff));
  return value;
}

/* a ? b : c */
__device__ static inline uint32_t gpumc_select(uint32_t a, uint32_t b, uint32_t c)
{
  return gpumc_lop3<(GPUMC_LOP3_A & GPUMC_LOP3_B) | (~GPUMC_LOP3_A & GPUMC_LOP3_C)>(a, b, c);
}

/* ---- tiles ---- */

/* Tiles: 32 replicas x 256 sites of one bit, and the conversion between their two forms.
 *
 * By replica, as replicas are stored: [32 lanes][8 words], bit i of word j of a lane is site 32 j +
 * i, so that a replica's part of a tile is one sector of 32 bytes and copies of replicas move
 * nothing else. By site, as sweeps need them: [256 words], bit = lane.
 *
 * A warp holds a tile as eight words per thread. Thread 4 a + b has the words a of the lanes 8 b ..
 * 8 b + 7, or the sites 32 a + 8 b .. 32 a + 8 b + 7: these are the same places of eight 32 x 32
 * bit matrices, and three of five exchanges stay within the thread. */

enum {
  GPUMC_TILE_LANE_WORDS = 8, /* of a lane, and of a thread */
  GPUMC_TILE_WORDS = 256,
};

/* Exchanges bits i of word j and j of word i, for blocks of `width` bits. */
__device__ static inline void gpumc_tile_exchange_within(uint32_t word[GPUMC_TILE_LANE_WORDS],
                                                         const int width, const uint32_t mask)
{
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
    if ((i & width) != 0)
      continue;
    const uint32_t low = word[i], high = word[i + width];
    word[i] = (low & mask) | ((high << width) & ~mask);
    word[i + width] = ((low >> width) & mask) | (high & ~mask);
  }
}

/* Converts from either form to the other. Called by a whole warp. */
__device__ static inline void gpumc_tile_transpose(uint32_t word[GPUMC_TILE_LANE_WORDS])
{
  const uint32_t thread = threadIdx.x;
  const uint32_t bytes = (thread & 1) != 0 ? 0x3715 : 0x6240;
  const uint32_t halves = (thread & 2) != 0 ? 0x3276 : 0x5410;
  gpumc_tile_exchange_within(word, 1, 0x55555555);
  gpumc_tile_exchange_within(word, 2, 0x33333333);
  gpumc_tile_exchange_within(word, 4, 0x0f0f0f0f);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = __byte_perm(word[i], __shfl_xor_sync(UINT32_MAX, word[i], 1), bytes);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = __byte_perm(word[i], __shfl_xor_sync(UINT32_MAX, word[i], 2), halves);
}

/* Returns where the calling thread's words are in a tile by replica: word i at this place plus i
 * GPUMC_TILE_LANE_WORDS. In a tile by site: 8 words from 8 times the thread's lane on. */
__device__ static inline uint32_t gpumc_tile_place(uint32_t lane)
{
  return (lane & 3) * GPUMC_TILE_LANE_WORDS * 8 + (lane >> 2);
}

/* ---- comparison ---- */

/* The comparison of bit_sliced.h on a GPU: one word of 32 lanes per thread. */

/* Compares one bit, after those of less weight: where u and T differ they decide, otherwise the
 * previous result holds. */
__device__ static inline void
gpumc_compare_bit(uint32_t u, uint32_t threshold, uint32_t *less, uint32_t *equal)
{
  enum { U = GPUMC_LOP3_A, T = GPUMC_LOP3_B, BEFORE = GPUMC_LOP3_C };
  *less = gpumc_lop3<(~U & T) | (BEFORE & (~U | T))>(u, threshold, *less);
  *equal = gpumc_lop3<BEFORE & ~(U ^ T)>(u, threshold, *equal);
}

/* The words of a warp with lanes that are still open: place (24 bits) and draws done, the lanes,
 * and NOTES words of the caller's. They differ from thread to thread; gathered they are finished by
 * full warps. */
enum { GPUMC_OPEN_CAPACITY = 192, GPUMC_OPEN_PLACE_BITS = 24 };

template <int NOTES> struct gpumc_open_words {
  uint2 entry[GPUMC_OPEN_CAPACITY];
  uint32_t note[NOTES][GPUMC_OPEN_CAPACITY];
  uint32_t count, padding[3];
};

template <int NOTES> struct gpumc_open_word {
  uint32_t place, done, open, note[NOTES];
};

/* Pushes those of the WIDTH words place, place + step, ... that have open lanes. Returns how many
 * words wait after that, 0 if it pushed none. */
template <int WIDTH, int NOTES>
__device__ static inline uint32_t
gpumc_open_push(struct gpumc_open_words<NOTES> *queue, uint32_t place, uint32_t step, uint32_t done,
                const uint32_t open[WIDTH], const uint32_t note[WIDTH][NOTES])
{
  uint32_t words = 0;
#pragma unroll
  for (int j = 0; j < WIDTH; j++)
    words += open[j] != 0;
  if (words == 0)
    return 0;
  uint32_t at = atomicAdd(&queue->count, words);
#pragma unroll
  for (int j = 0; j < WIDTH; j++)
    if (open[j] != 0) {
      const uint32_t at_place = place + (uint32_t)j * step;
      queue->entry[at] = make_uint2(at_place | done << GPUMC_OPEN_PLACE_BITS, open[j]);
#pragma unroll
      for (int i = 0; i < NOTES; i++)
        queue->note[i][at] = note[j][i];
      at++;
    }
  return at;
}

/* Returns how many words wait, the same for all threads of the warp: none continues before all have
 * read it. */
template <int NOTES>
__device__ static inline uint32_t gpumc_open_count(const struct gpumc_open_words<NOTES> *queue)
{
  __syncwarp();
  const uint32_t count = *(const volatile uint32_t *)&queue->count;
  __syncwarp();
  return count;
}

/* Takes up to 32 N of the `count` words from the end, N per thread of the calling warp. A thread
 * without one gets no open lanes. */
template <int N, int NOTES>
__device__ static inline void gpumc_open_pop(struct gpumc_open_words<NOTES> *queue, uint32_t count,
                                             struct gpumc_open_word<NOTES> word[N])
{
  const uint32_t lane = threadIdx.x % 32, rest = count > 32 * N ? count - 32 * N : 0;
#pragma unroll
  for (int j = 0; j < N; j++) {
    const uint32_t at = rest + 32 * (uint32_t)j + lane;
    const uint2 entry = at < count ? queue->entry[at] : make_uint2(0, 0);
    word[j].place = entry.x & ((1u << GPUMC_OPEN_PLACE_BITS) - 1);
    word[j].done = entry.x >> GPUMC_OPEN_PLACE_BITS;
    word[j].open = entry.y;
#pragma unroll
    for (int i = 0; i < NOTES; i++)
      word[j].note[i] = at < count ? queue->note[i][at] : 0;
  }
  __syncwarp();
  if (lane == 0)
    queue->count = rest;
  __syncwarp();
}

/* ---- counters ---- */

/* Counting bits lane by lane without unpacking, on a GPU: every thread has a vertical counter,
 * plane p of which holds bit p of the count of each of 32 lanes (carry-save adders, Warren,
 * Hacker's Delight, 5-1); a warp adds its threads' counters. */

/* Counts up to 2^PLANES - 1 in each lane. */
template <int PLANES> struct gpumc_vertical_counter {
  uint32_t plane[PLANES];
};

/* a + b + c = sum + 2 carry. */
__device__ static inline uint32_t gpumc_full_add(uint32_t *sum, uint32_t b, uint32_t c)
{
  const uint32_t carry = (*sum & b) | (*sum & c) | (b & c);
  *sum ^= b ^ c;
  return carry;
}

/* Adds N bits per lane, each worth 2^FIRST: pairs to one plane, their carries to the next. */
template <int FIRST, int N, int PLANES>
__device__ static inline void
gpumc_counter_add(struct gpumc_vertical_counter<PLANES> *counter, const uint32_t bits[N])
{
  static_assert(FIRST < PLANES, "the counter has room");
  constexpr int CARRIES = (N + 1) / 2;
  uint32_t carry[CARRIES];
#pragma unroll
  for (int i = 0; i < CARRIES; i++)
    carry[i] =
        gpumc_full_add(&counter->plane[FIRST], bits[2 * i], 2 * i + 1 < N ? bits[2 * i + 1] : 0);
  if constexpr (N > 1) {
    gpumc_counter_add<FIRST + 1, CARRIES, PLANES>(counter, carry);
  } else {
#pragma unroll
    for (int p = FIRST + 1; p < PLANES; p++) {
      const uint32_t next = counter->plane[p] & carry[0];
      counter->plane[p] ^= carry[0];
      carry[0] = next;
    }
  }
}

/* Adds the counts of threads whose numbers differ in the bit `width`, for both. */
template <int PLANES>
__device__ static inline void
gpumc_counter_share(struct gpumc_vertical_counter<PLANES> *counter, uint32_t width)
{
  uint32_t carry = 0;
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    carry = gpumc_full_add(&counter->plane[p],
                           __shfl_xor_sync(UINT32_MAX, counter->plane[p], width), carry);
}

/* Returns bit `lane` of every thread's word, as one word: the result of a 32 x 32 transposition
 * there. */
__device__ static inline uint32_t gpumc_warp_column(uint32_t word)
{
  uint32_t mask = 0x0000ffff;
#pragma unroll
  for (uint32_t width = 16; width != 0; width >>= 1, mask ^= mask << width) {
    const bool upper = (threadIdx.x & width) != 0;
    const uint32_t other = __shfl_xor_sync(UINT32_MAX, word, width);
    const uint32_t kept = upper ? ~mask : mask;
    word = (word & kept) | (__funnelshift_l(other, other, upper ? 32 - width : width) & ~kept);
  }
  return word;
}

/* Returns the count of lane number `threadIdx.x mod 32`, over all threads of the warp. */
template <int PLANES>
__device__ static inline uint32_t
gpumc_counter_warp_sum(const struct gpumc_vertical_counter<PLANES> *counter)
{
  uint32_t sum = 0;
#pragma unroll
  for (int p = 0; p < PLANES; p++)
    if (__any_sync(UINT32_MAX, counter->plane[p] != 0))
      sum += (uint32_t)__popc(gpumc_warp_column(counter->plane[p])) << p;
  return sum;
}

#endif
