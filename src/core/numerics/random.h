/* Random numbers: counter-based Philox4x32 (Salmon et al., SC11), no state anywhere.
 *
 * key     = { seed bits 0..31, seed bits 32..47 | run << 16 }
 * counter = { site or word, replica or group, time, purpose << 24 | draw }
 *
 * Every use of random numbers names its purpose here, so no two uses can collide. */
#ifndef GPUMC_CORE_RANDOM_H
#define GPUMC_CORE_RANDOM_H

/* Philox needs none of the intrinsics that Random123 includes for AES: all of them, three quarters of
 * the time of compiling a file. What vectors need comes with core/numerics/simd.h. */
#define R123_USE_X86INTRIN_H 0
#define R123_USE_SSE 0
#include <Random123/philox.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

/* Limits of the key's fields. */
#define GPUMC_SEED_MAXIMUM 281474976710655 /* 2^48 - 1 */
#define GPUMC_RUN_MAXIMUM 65535

enum gpumc_random_purpose {
  GPUMC_RANDOM_RESAMPLE = 1, /* site = replica, group = 0, time = number of the step */
  GPUMC_RANDOM_EXCHANGE = 2, /* site = replica, group = run, time = round of exchanges */
  GPUMC_RANDOM_SAMPLES = 3,  /* site and group = first sample, time = 0: another seed */
  GPUMC_RANDOM_PLUGIN = 64,  /* first of the models' own purposes: */
  GPUMC_RANDOM_LATTICE_INITIAL = GPUMC_RANDOM_PLUGIN,
  GPUMC_RANDOM_LATTICE_SWEEP,
  GPUMC_RANDOM_LATTICE_COUPLINGS, /* site = site, group = sample, time = direction */
  GPUMC_RANDOM_LATTICE_FIELDS,    /* site = site, group = sample, time = 0 */
  GPUMC_RANDOM_LATTICE_GENERATOR, /* site = block, group = replica, time = 0, draw = thread */
  GPUMC_RANDOM_LATTICE_WALK, /* site = group of replicas (draw 1) or replica (others), group and
                                time = the upper and the lower half of the clock */
  GPUMC_RANDOM_PARTICLES_INITIAL, /* site = particle, group = replica, time = pass */
  GPUMC_RANDOM_PARTICLES_SWEEP,   /* site = 0xffffffff, group = replica: once per sweep */
  GPUMC_RANDOM_PARTICLES_MOVE,    /* site = cell or number of the attempt, group = replica */
  GPUMC_RANDOM_PARTICLES_VOLUME,  /* site = cell, particle, or 0xffffffff once, group = replica */
  GPUMC_RANDOM_LATTICE_CLUSTER,   /* site = site, two of them, or 128 clusters (draw 1) */
  GPUMC_RANDOM_LATTICE_WOLFF,     /* site = number of the cluster (draw 0), site or two of them */
  GPUMC_RANDOM_LATTICE_PAIRS,     /* site = site, group = replica or group, time = number of the
                                     exchange between two runs */
};

/* A generator: the key and the number of rounds (10, or 7). Plain data, passed by value. */
struct gpumc_random {
  uint32_t key[2];
  uint32_t rounds;
};

GPUMC_HOST_DEVICE static inline struct gpumc_random
gpumc_random_make(uint64_t seed, uint32_t run, uint32_t rounds)
{
  struct gpumc_random random;
  random.key[0] = (uint32_t)seed;
  random.key[1] = (uint32_t)(seed >> 32) | run << 16;
  random.rounds = rounds;
  return random;
}

GPUMC_HOST_DEVICE static inline uint32_t gpumc_random_label(uint32_t purpose, uint32_t draw)
{
  return purpose << 24 | draw;
}

/* Draws four independent uniform 32-bit words. */
GPUMC_HOST_DEVICE static inline void gpumc_random_draw(struct gpumc_random random, uint32_t site,
                                                       uint32_t group, uint32_t time,
                                                       uint32_t label, uint32_t word[4])
{
  philox4x32_ctr_t counter = {{site, group, time, label}};
  philox4x32_key_t key = {{random.key[0], random.key[1]}};
  philox4x32_ctr_t drawn =
      random.rounds == 7 ? philox4x32_R(7, counter, key) : philox4x32_R(10, counter, key);
  for (int i = 0; i < 4; i++)
    word[i] = drawn.v[i];
}

#endif
