/* A thin layer over vector registers: 16, 8 or 4 unsigned 32-bit words, and 64-bit lanes for
 * products.
 *
 * Only for sources that are compiled once for each instruction-set level (*_isa.c). The operators
 * of C (& | ^ ~ + << >>) work on these types; a scalar operand is broadcast. This header adds what
 * operators cannot express: three-operand logic, widening products, packing of 64-bit lanes,
 * compression. */
#ifndef GPUMC_CORE_SIMD_H
#define GPUMC_CORE_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__)
enum { GPUMC_VECTOR_BYTES = 64 };
#elif defined(__AVX2__)
enum { GPUMC_VECTOR_BYTES = 32 };
#else
enum { GPUMC_VECTOR_BYTES = 16 };
#endif
enum { GPUMC_VECTOR_WORDS = GPUMC_VECTOR_BYTES / 4 };

typedef uint32_t gpumc_v32 __attribute__((vector_size(GPUMC_VECTOR_BYTES)));
typedef uint64_t gpumc_v64 __attribute__((vector_size(GPUMC_VECTOR_BYTES)));
typedef uint8_t gpumc_v8 __attribute__((vector_size(GPUMC_VECTOR_BYTES)));

/* The external name of a function at this level: gpumc_sweep -> gpumc_sweep_v3. */
#define GPUMC_ISA_PASTE(name, level) name##_##level
#define GPUMC_ISA_EXPAND(name, level) GPUMC_ISA_PASTE(name, level)
#define GPUMC_ISA_NAME(name) GPUMC_ISA_EXPAND(name, GPUMC_ISA)

#define GPUMC_INLINE static inline __attribute__((always_inline))

GPUMC_INLINE gpumc_v32 gpumc_load(const uint32_t *words)
{
  gpumc_v32 v;
  memcpy(&v, words, sizeof v);
  return v;
}

GPUMC_INLINE void gpumc_store(uint32_t *words, gpumc_v32 v)
{
  memcpy(words, &v, sizeof v);
}

GPUMC_INLINE gpumc_v32 gpumc_broadcast(uint32_t word)
{
  return word - (gpumc_v32){0};
}

/* 0, 1, 2, ... */
GPUMC_INLINE gpumc_v32 gpumc_lane_numbers(void)
{
  gpumc_v32 v;
  for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    v[i] = i;
  return v;
}

/* mask ? a : b, bit by bit. */
GPUMC_INLINE gpumc_v32 gpumc_select(gpumc_v32 mask, gpumc_v32 a, gpumc_v32 b)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
#else
  return b ^ (mask & (a ^ b));
#endif
}

GPUMC_INLINE gpumc_v32 gpumc_xor3(gpumc_v32 a, gpumc_v32 b, gpumc_v32 c)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)c, 0x96);
#else
  return a ^ b ^ c;
#endif
}

GPUMC_INLINE gpumc_v32 gpumc_majority(gpumc_v32 a, gpumc_v32 b, gpumc_v32 c)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_ternarylogic_epi32((__m512i)a, (__m512i)b, (__m512i)c, 0xe8);
#else
  return a ^ ((a ^ b) & (a ^ c));
#endif
}

/* Compares one more significant bit in u < t. */
GPUMC_INLINE void gpumc_compare_bit(gpumc_v32 u, gpumc_v32 t, gpumc_v32 *less, gpumc_v32 *equal)
{
#if defined(__AVX512F__)
  *less = (gpumc_v32)_mm512_ternarylogic_epi32((__m512i)*less, (__m512i)u, (__m512i)t, 0xb2);
  *equal = (gpumc_v32)_mm512_ternarylogic_epi32((__m512i)*equal, (__m512i)u, (__m512i)t, 0x90);
#else
  gpumc_v32 differ = u ^ t;
  *less ^= differ & (*less ^ t);
  *equal &= ~differ;
#endif
}

/* Returns v plus `value` in each word i whose bit of `where` is set. */
GPUMC_INLINE gpumc_v32 gpumc_add_where(uint32_t where, gpumc_v32 v, uint32_t value)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_mask_add_epi32((__m512i)v, (__mmask16)where, (__m512i)v,
                                          _mm512_set1_epi32((int)value));
#else
  const gpumc_v32 bit = gpumc_broadcast(1) << gpumc_lane_numbers();
  return v + ((gpumc_v32)((gpumc_broadcast(where) & bit) != 0) & value);
#endif
}

/* Products of the low halves of the 64-bit lanes; the high halves of a and b are ignored. */
GPUMC_INLINE gpumc_v64 gpumc_multiply_low(gpumc_v64 a, gpumc_v64 b)
{
#if defined(__AVX512F__)
  return (gpumc_v64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (gpumc_v64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (gpumc_v64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/* Words 1 and 2 of each 128 bits exchanged. */
GPUMC_INLINE gpumc_v32 gpumc_exchange(gpumc_v32 v)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_shuffle_epi32((__m512i)v, 0xd8);
#elif defined(__AVX2__)
  return (gpumc_v32)_mm256_shuffle_epi32((__m256i)v, 0xd8);
#else
  return (gpumc_v32){v[0], v[2], v[1], v[3]};
#endif
}

/* The low (high) halves of the 64-bit lanes, within each 128 bits those of `first` before those of
 * `second`. */
GPUMC_INLINE gpumc_v32 gpumc_pack_low(gpumc_v64 first, gpumc_v64 second)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_shuffle_ps((__m512)first, (__m512)second, 0x88);
#elif defined(__AVX2__)
  return (gpumc_v32)_mm256_shuffle_ps((__m256)first, (__m256)second, 0x88);
#elif defined(__SSE2__)
  return (gpumc_v32)_mm_shuffle_ps((__m128)first, (__m128)second, 0x88);
#else
  return (gpumc_v32){(uint32_t)first[0], (uint32_t)first[1], (uint32_t)second[0],
                     (uint32_t)second[1]};
#endif
}

GPUMC_INLINE gpumc_v32 gpumc_pack_high(gpumc_v64 first, gpumc_v64 second)
{
#if defined(__AVX512F__)
  return (gpumc_v32)_mm512_shuffle_ps((__m512)first, (__m512)second, 0xdd);
#elif defined(__AVX2__)
  return (gpumc_v32)_mm256_shuffle_ps((__m256)first, (__m256)second, 0xdd);
#elif defined(__SSE2__)
  return (gpumc_v32)_mm_shuffle_ps((__m128)first, (__m128)second, 0xdd);
#else
  return gpumc_pack_low(first >> 32, second >> 32);
#endif
}

/* Bit i: word i of v is not 0. */
GPUMC_INLINE uint32_t gpumc_nonzero_words(gpumc_v32 v)
{
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)v, (__m512i)v);
#elif defined(__AVX2__)
  return 0xffu & ~(uint32_t)_mm256_movemask_ps((__m256)(v == 0));
#elif defined(__SSE2__)
  return 0xfu & ~(uint32_t)_mm_movemask_ps((__m128)(v == 0));
#else
  uint32_t bits = 0;
  for (uint32_t i = 0; i < GPUMC_VECTOR_WORDS; i++)
    bits |= (uint32_t)(v[i] != 0) << i;
  return bits;
#endif
}

/* Says where each word named by `keep` goes, for gpumc_compress. */
#if defined(__AVX2__) && !defined(__AVX512F__)
typedef __m256i gpumc_compression;
#else
typedef uint32_t gpumc_compression;
#endif

GPUMC_INLINE gpumc_compression gpumc_compression_of(uint32_t keep)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
  uint64_t bytes = _pdep_u64(keep, 0x0101010101010101u) * 0xff;
  uint64_t order = _pext_u64(0x0706050403020100u, bytes);
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order));
#else
  return keep;
#endif
}

/* Writes the kept words contiguously to `words`; may write a whole vector. */
GPUMC_INLINE void gpumc_compress(uint32_t *words, gpumc_compression keep, gpumc_v32 v)
{
#if defined(__AVX512F__)
  gpumc_store(words, (gpumc_v32)_mm512_maskz_compress_epi32((__mmask16)keep, (__m512i)v));
#elif defined(__AVX2__)
  gpumc_store(words, (gpumc_v32)_mm256_permutevar8x32_epi32((__m256i)v, keep));
#else
  for (size_t i = 0; i < GPUMC_VECTOR_WORDS; i++) {
    *words = v[i];
    words += keep >> i & 1;
  }
#endif
}

#endif
