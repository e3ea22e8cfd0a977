/* Functions of three words, bit by bit, as the one instruction that the hardware has for them: left
 * to itself the compiler merges long expressions into more of them than they need. */
#ifndef GPUMC_LATTICE_LOP3_CUH
#define GPUMC_LATTICE_LOP3_CUH

#include <stdint.h>

/* The function's value for every (a, b, c): the expression of these three is the function's table.
 */
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

#endif
