/* Philox4x32 on vectors of sites: the numbers of gpumc_random_draw, one counter a word.
 *
 * Products are taken in 64-bit lanes: the high half is shifted down, the low half stays where it
 * is, since the next product ignores what is above it. Only counter word 0 (the site) varies within
 * a vector, which makes half of the first three rounds constant: round 1: {w, g, t, l} -> {hi(M1
 * t)^g^k0, lo(M1 t), hi(M0 w)^l^k1, lo(M0 w)} and the label enters only where the second product of
 * round 2 begins, so that draws of the same words share the rest (the compiler sees it once this is
 * inlined). */
#ifndef GPUMC_CORE_SIMD_PHILOX_H
#define GPUMC_CORE_SIMD_PHILOX_H

#include "core/random.h"
#include "core/simd.h"

enum { GPUMC_PHILOX_ROUNDS_MAXIMUM = 10 };

/* What does not depend on the site or the label; each value broadcast from one 64-bit lane. */
struct gpumc_philox_stream {
  uint64_t key0[GPUMC_PHILOX_ROUNDS_MAXIMUM], key1[GPUMC_PHILOX_ROUNDS_MAXIMUM];
  uint64_t word0_round2; /* lo(M1 t) ^ key0[1] */
  uint64_t word2_round2; /* hi(M0 c0) ^ key1[1], c0 = hi(M1 t) ^ g ^ key0[0] */
  uint64_t word2_round3; /* lo(M0 c0) ^ key1[2] */
};

#define GPUMC_PHILOX_M0 0xd2511f53u
#define GPUMC_PHILOX_M1 0xcd9e8d57u

static inline struct gpumc_philox_stream
gpumc_philox_stream_make(struct gpumc_random random, uint32_t group, uint32_t time)
{
  struct gpumc_philox_stream stream;
  for (uint32_t r = 0; r < GPUMC_PHILOX_ROUNDS_MAXIMUM; r++) {
    stream.key0[r] = (uint32_t)(random.key[0] + r * 0x9e3779b9u);
    stream.key1[r] = (uint32_t)(random.key[1] + r * 0xbb67ae85u);
  }
  uint64_t product1 = (uint64_t)GPUMC_PHILOX_M1 * time;
  uint64_t product0 = GPUMC_PHILOX_M0 * (product1 >> 32 ^ group ^ stream.key0[0]);
  stream.word0_round2 = (uint32_t)product1 ^ stream.key0[1];
  stream.word2_round2 = product0 >> 32 ^ stream.key1[1];
  stream.word2_round3 = (uint32_t)product0 ^ stream.key1[2];
  return stream;
}

/* The last round's products and the words they meet, of the sites in the low halves of `site`. */
struct gpumc_philox_lanes {
  gpumc_v64 product0, product1, word1, word3;
};

GPUMC_INLINE struct gpumc_philox_lanes gpumc_philox_lanes(const struct gpumc_philox_stream *stream,
                                                          const uint32_t rounds, gpumc_v64 site,
                                                          uint32_t label)
{
  const gpumc_v64 m0 = GPUMC_PHILOX_M0 - (gpumc_v64){0};
  const gpumc_v64 m1 = GPUMC_PHILOX_M1 - (gpumc_v64){0};
  gpumc_v64 product0 = gpumc_multiply_low(m0, site);
  gpumc_v64 product1 = gpumc_multiply_low(m1, (product0 >> 32) ^ (label ^ stream->key1[0]));
  gpumc_v64 word0 = (product1 >> 32) ^ stream->word0_round2;
  gpumc_v64 word1 = product1;
  gpumc_v64 word2 = product0 ^ stream->word2_round2;
  product0 = gpumc_multiply_low(m0, word0);
  product1 = gpumc_multiply_low(m1, word2);
  word0 = gpumc_xor3_wide(product1 >> 32, word1, stream->key0[2] - (gpumc_v64){0});
  word1 = product1;
  word2 = (product0 >> 32) ^ stream->word2_round3;
  gpumc_v64 word3 = product0;
#pragma GCC unroll 8
  for (uint32_t r = 3; r + 1 < rounds; r++) {
    product0 = gpumc_multiply_low(m0, word0);
    product1 = gpumc_multiply_low(m1, word2);
    word0 = gpumc_xor3_wide(product1 >> 32, word1, stream->key0[r] - (gpumc_v64){0});
    word2 = gpumc_xor3_wide(product0 >> 32, word3, stream->key1[r] - (gpumc_v64){0});
    word1 = product1;
    word3 = product0;
  }
  return (struct gpumc_philox_lanes){gpumc_multiply_low(m0, word0), gpumc_multiply_low(m1, word2),
                                     word1, word3};
}

/* word[i]: output i of each site's counter. `rounds`: a constant, 7 or 10. */
GPUMC_INLINE void gpumc_philox_draw(const struct gpumc_philox_stream *stream, const uint32_t rounds,
                                    gpumc_v32 site, uint32_t label, gpumc_v32 word[4])
{
  gpumc_v64 first, second;
  gpumc_unpack(site, &first, &second);
  struct gpumc_philox_lanes a = gpumc_philox_lanes(stream, rounds, first, label);
  struct gpumc_philox_lanes b = gpumc_philox_lanes(stream, rounds, second, label);
  gpumc_v32 key0 = gpumc_broadcast((uint32_t)stream->key0[rounds - 1]);
  gpumc_v32 key1 = gpumc_broadcast((uint32_t)stream->key1[rounds - 1]);
  word[0] =
      gpumc_xor3(gpumc_pack_high(a.product1, b.product1), gpumc_pack_low(a.word1, b.word1), key0);
  word[1] = gpumc_pack_low(a.product1, b.product1);
  word[2] =
      gpumc_xor3(gpumc_pack_high(a.product0, b.product0), gpumc_pack_low(a.word3, b.word3), key1);
  word[3] = gpumc_pack_low(a.product0, b.product0);
}

#endif
