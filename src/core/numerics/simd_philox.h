/* Philox4x32 on vectors of sites: the numbers of gpumc_random_draw, one counter per word.
 *
 * Products of even and odd words are taken in 64-bit lanes. With AVX-512 one masked move puts their
 * high halves in place, and one their low halves. Without masks the high halves are packed by one
 * shuffle, which exchanges words 1 and 2 of each 128 bits. They meet the low halves of the previous
 * round, which therefore come from a 32-bit product that leaves its words in place: one exchange is
 * ahead, a second one undoes it. With an odd number of rounds the sites begin exchanged.
 *
 * Only counter word 0 (the site) varies within a vector, which makes half of the first three rounds
 * constant: round 1: {w, g, t, l} -> {hi(M1 t)^g^k0, lo(M1 t), hi(M0 w)^l^k1, lo(M0 w)}. */
#ifndef GPUMC_CORE_SIMD_PHILOX_H
#define GPUMC_CORE_SIMD_PHILOX_H

#include <stdbool.h>

#include "core/numerics/random.h"
#include "core/numerics/simd.h"

enum { GPUMC_PHILOX_ROUNDS_MAXIMUM = 10 };

/* The part that does not depend on the site or the label. */
struct gpumc_philox_stream {
  uint32_t key0[GPUMC_PHILOX_ROUNDS_MAXIMUM], key1[GPUMC_PHILOX_ROUNDS_MAXIMUM];
  uint32_t word0_round2; /* lo(M1 t) ^ key0[1] */
  uint32_t word2_round2; /* hi(M0 c0) ^ key1[1], c0 = hi(M1 t) ^ g ^ key0[0] */
  uint32_t word2_round3; /* lo(M0 c0) ^ key1[2] */
};

#define GPUMC_PHILOX_M0 0xd2511f53u
#define GPUMC_PHILOX_M1 0xcd9e8d57u

static inline struct gpumc_philox_stream
gpumc_philox_stream_make(struct gpumc_random random, uint32_t group, uint32_t time)
{
  struct gpumc_philox_stream stream;
  for (uint32_t r = 0; r < GPUMC_PHILOX_ROUNDS_MAXIMUM; r++) {
    stream.key0[r] = random.key[0] + r * 0x9e3779b9u;
    stream.key1[r] = random.key[1] + r * 0xbb67ae85u;
  }
  uint64_t product1 = (uint64_t)GPUMC_PHILOX_M1 * time;
  uint64_t product0 =
      (uint64_t)GPUMC_PHILOX_M0 * (uint32_t)(product1 >> 32 ^ group ^ stream.key0[0]);
  stream.word0_round2 = (uint32_t)product1 ^ stream.key0[1];
  stream.word2_round2 = (uint32_t)(product0 >> 32) ^ stream.key1[1];
  stream.word2_round3 = (uint32_t)product0 ^ stream.key1[2];
  return stream;
}

struct gpumc_philox_product {
  gpumc_v32 high, low; /* without masks, high: words 1 and 2 of each 128 bits exchanged; low: too,
                        * if `exchange` */
};

#if defined(__AVX512F__)
enum { GPUMC_PHILOX_EXCHANGES = false };
#else
enum { GPUMC_PHILOX_EXCHANGES = true };
#endif

GPUMC_INLINE struct gpumc_philox_product
gpumc_philox_product(uint32_t factor, gpumc_v32 word, const bool exchange)
{
  const gpumc_v64 wide = factor - (gpumc_v64){0};
  gpumc_v64 even = gpumc_multiply_low(wide, (gpumc_v64)word);
  gpumc_v64 odd = gpumc_multiply_low(wide, (gpumc_v64)word >> 32);
#if defined(__AVX512F__)
  (void)exchange;
  return (struct gpumc_philox_product){
      (gpumc_v32)_mm512_mask_movehdup_ps((__m512)odd, 0x5555, (__m512)even),
      (gpumc_v32)_mm512_mask_moveldup_ps((__m512)even, 0xaaaa, (__m512)odd)};
#else
  return (struct gpumc_philox_product){gpumc_pack_high(even, odd),
                                       exchange ? gpumc_pack_low(even, odd) : word * factor};
#endif
}

/* Rounds 1 and 2; word 3 is constant. */
GPUMC_INLINE void gpumc_philox_begin(const struct gpumc_philox_stream *stream, gpumc_v32 site,
                                     uint32_t label, gpumc_v32 word[4])
{
  struct gpumc_philox_product a = gpumc_philox_product(GPUMC_PHILOX_M0, site, false), b;
  b = gpumc_philox_product(GPUMC_PHILOX_M1, a.high ^ (label ^ stream->key1[0]), false);
  word[0] = b.high ^ stream->word0_round2;
  word[1] = b.low;
  word[2] = a.low ^ stream->word2_round2;
}

/* word[v][i]: output i of the counters of sites site[v] and label[v]. `vectors`, `rounds` (7 or
 * 10): constants. The vectors go through each round together, because one alone would wait for its
 * products. */
GPUMC_INLINE void gpumc_philox_draws(const struct gpumc_philox_stream *stream,
                                     const uint32_t rounds, const size_t vectors,
                                     const gpumc_v32 *site, const uint32_t *label,
                                     gpumc_v32 (*word)[4])
{
#pragma GCC unroll 8
  for (size_t v = 0; v < vectors; v++)
    gpumc_philox_begin(
        stream, rounds % 2 == 0 || !GPUMC_PHILOX_EXCHANGES ? site[v] : gpumc_exchange(site[v]),
        label[v], word[v]);
#pragma GCC unroll 8
  for (uint32_t r = 2; r < rounds; r++) {
    const gpumc_v32 key0 = gpumc_broadcast(stream->key0[r]);
    const gpumc_v32 key1 = gpumc_broadcast(r == 2 ? stream->word2_round3 : stream->key1[r]);
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; v++) {
      gpumc_v32 *w = word[v];
      const struct gpumc_philox_product a =
          gpumc_philox_product(GPUMC_PHILOX_M0, w[0], r + 1 == rounds);
      const struct gpumc_philox_product b =
          gpumc_philox_product(GPUMC_PHILOX_M1, w[2], r + 1 == rounds);
      w[0] = gpumc_xor3(b.high, w[1], key0);
      w[1] = b.low;
      w[2] = r == 2 ? a.high ^ key1 : gpumc_xor3(a.high, w[3], key1);
      w[3] = a.low;
    }
  }
}

GPUMC_INLINE void gpumc_philox_draw(const struct gpumc_philox_stream *stream, const uint32_t rounds,
                                    gpumc_v32 site, uint32_t label, gpumc_v32 word[4])
{
  gpumc_philox_draws(stream, rounds, 1, &site, &label, (gpumc_v32(*)[4])word);
}

#endif
