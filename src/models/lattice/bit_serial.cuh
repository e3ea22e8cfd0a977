/* The comparison of bit_serial.h on a GPU: a word of 32 lanes a thread. */
#ifndef GPUMC_LATTICE_BIT_SERIAL_CUH
#define GPUMC_LATTICE_BIT_SERIAL_CUH

#include "models/lattice/lop3.cuh"

/* One bit, those of less weight being done: where u and T differ they decide, else what was. */
__device__ static inline void
gpumc_compare_bit(uint32_t u, uint32_t threshold, uint32_t *less, uint32_t *equal)
{
  enum { U = GPUMC_LOP3_A, T = GPUMC_LOP3_B, BEFORE = GPUMC_LOP3_C };
  *less = gpumc_lop3<(~U & T) | (BEFORE & (~U | T))>(u, threshold, *less);
  *equal = gpumc_lop3<BEFORE & ~(U ^ T)>(u, threshold, *equal);
}

/* The words of a warp with lanes that are still open: place (24 bits) and draws done, the lanes,
 * and NOTES words of the caller's. Which words these are differs from thread to thread; gathered
 * they are finished by full warps. */
enum { GPUMC_OPEN_CAPACITY = 192, GPUMC_OPEN_PLACE_BITS = 24 };

template <int NOTES> struct gpumc_open_words {
  uint2 entry[GPUMC_OPEN_CAPACITY];
  uint32_t note[NOTES][GPUMC_OPEN_CAPACITY];
  uint32_t count, padding[3];
};

template <int NOTES> struct gpumc_open_word {
  uint32_t place, done, open, note[NOTES];
};

/* Those of the words place .. place + WIDTH - 1 that have open lanes. */
template <int WIDTH, int NOTES>
__device__ static inline void
gpumc_open_push(struct gpumc_open_words<NOTES> *queue, uint32_t place, uint32_t done,
                const uint32_t open[WIDTH], const uint32_t note[WIDTH][NOTES])
{
  uint32_t words = 0;
#pragma unroll
  for (int j = 0; j < WIDTH; j++)
    words += open[j] != 0;
  if (words == 0)
    return;
  uint32_t at = atomicAdd(&queue->count, words);
#pragma unroll
  for (int j = 0; j < WIDTH; j++)
    if (open[j] != 0) {
      queue->entry[at] = make_uint2((place + (uint32_t)j) | done << GPUMC_OPEN_PLACE_BITS, open[j]);
#pragma unroll
      for (int i = 0; i < NOTES; i++)
        queue->note[i][at] = note[j][i];
      at++;
    }
}

/* How many words wait, the same for all threads of the warp: none goes on before all have looked.
 */
template <int NOTES>
__device__ static inline uint32_t gpumc_open_count(const struct gpumc_open_words<NOTES> *queue)
{
  __syncwarp();
  const uint32_t count = *(const volatile uint32_t *)&queue->count;
  __syncwarp();
  return count;
}

/* Take up to 32 words from the end, one a thread of the calling warp; false when there are none. A
 * thread without one gets no open lanes. */
template <int NOTES>
__device__ static inline bool
gpumc_open_pop(struct gpumc_open_words<NOTES> *queue, struct gpumc_open_word<NOTES> *word)
{
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t count = gpumc_open_count<NOTES>(queue);
  if (count == 0)
    return false;
  const uint32_t rest = count > 32 ? count - 32 : 0, at = rest + lane;
  const uint2 entry = at < count ? queue->entry[at] : make_uint2(0, 0);
  word->place = entry.x & ((1u << GPUMC_OPEN_PLACE_BITS) - 1);
  word->done = entry.x >> GPUMC_OPEN_PLACE_BITS;
  word->open = entry.y;
#pragma unroll
  for (int i = 0; i < NOTES; i++)
    word->note[i] = at < count ? queue->note[i][at] : 0;
  __syncwarp();
  if (lane == 0)
    queue->count = rest;
  __syncwarp();
  return true;
}

#endif
