/* Copying multispin replicas, and exchanging them. */
#include "models/ising/multispin/multispin_isa.h"

enum { BLOCK = 4 }; /* vectors that are copied together */

GPUMC_INLINE gpumc_v32 with_copy(gpumc_v32 words, const struct ising_multispin_copy *copy,
                                 size_t at)
{
  const uint32_t left = copy->rotation & 31, right = (32 - copy->rotation) & 31;
  gpumc_v32 source = gpumc_load(copy->source + at);
  return gpumc_select(gpumc_broadcast((uint32_t)1 << copy->lane),
                      (source << left) | (source >> right), words);
}

void GPUMC_ISA_NAME(ising_multispin_gather)(uint32_t *words, const uint32_t *old, size_t n,
                                            const struct ising_multispin_copy *copies,
                                            size_t n_copies)
{
  size_t i = 0;
  for (; i + BLOCK * GPUMC_VECTOR_WORDS <= n; i += BLOCK * GPUMC_VECTOR_WORDS) {
    gpumc_v32 block[BLOCK];
    for (size_t v = 0; v < BLOCK; v++)
      block[v] = gpumc_load(old + i + v * GPUMC_VECTOR_WORDS);
    for (size_t c = 0; c < n_copies; c++)
      for (size_t v = 0; v < BLOCK; v++)
        block[v] = with_copy(block[v], &copies[c], i + v * GPUMC_VECTOR_WORDS);
    for (size_t v = 0; v < BLOCK; v++)
      gpumc_store(words + i + v * GPUMC_VECTOR_WORDS, block[v]);
  }
  for (; i < n; i++) {
    uint32_t word = old[i];
    for (size_t c = 0; c < n_copies; c++) {
      const uint32_t bit = (uint32_t)1 << copies[c].lane;
      const uint32_t left = copies[c].rotation & 31, right = (32 - copies[c].rotation) & 31;
      const uint32_t source = copies[c].source[i];
      word = (word & ~bit) | (((source << left) | (source >> right)) & bit);
    }
    words[i] = word;
  }
}

void GPUMC_ISA_NAME(ising_multispin_exchange)(uint32_t *a, uint32_t *b, size_t n, uint32_t swap)
{
  for (size_t i = 0; i < n; i++) {
    const uint32_t exchanged = (a[i] ^ b[i]) & swap;
    a[i] ^= exchanged;
    b[i] ^= exchanged;
  }
}
