/* The tiled kernel on the CPU below its ops: the parts compiled once for each instruction-set
 * level. */
#ifndef GPUMC_ISING_TILED_ISA_H
#define GPUMC_ISING_TILED_ISA_H

#include "core/numerics/isa.h"
#include "models/ising/tiled/tiled_generator.h"
#include "models/ising/tiled/tiled_lattice.h"

/* Words of numbers[lane][ising_tiled_numbers()], whole vectors. */
enum { ISING_TILED_NUMBERS_STEP = 64 };

static inline uint32_t ising_tiled_numbers(const struct ising_tiled_geometry *geometry)
{
  return (geometry->words + ISING_TILED_NUMBERS_STEP - 1) / ISING_TILED_NUMBERS_STEP *
         ISING_TILED_NUMBERS_STEP;
}

/* Scratch of a thread: copy[2][copy_words] of a tile, numbers of the sites of a colour, room for
 * the state of a block. */
struct ising_tiled_scratch {
  uint32_t *copy[2], *numbers, *state;
};

static inline size_t ising_tiled_scratch_words(const struct ising_tiled_geometry *geometry,
                                               const struct ising_tiled_generator *generator)
{
  return 2 * (size_t)geometry->copy_words +
         (size_t)ISING_TILED_LANES * ising_tiled_numbers(geometry) + generator->block_words;
}

static inline struct ising_tiled_scratch
ising_tiled_scratch_at(const struct ising_tiled_geometry *geometry, uint32_t *memory)
{
  struct ising_tiled_scratch scratch = {.numbers = memory};
  scratch.copy[0] = memory + (size_t)ISING_TILED_LANES * ising_tiled_numbers(geometry);
  scratch.copy[1] = scratch.copy[0] + geometry->copy_words;
  scratch.state = scratch.copy[1] + geometry->copy_words;
  return scratch;
}

/* One replica in one call; `time`: of its first sweep. `state`: of the replica's generator. */
struct ising_tiled_work {
  const struct ising_tiled_geometry *geometry;
  const struct ising_tiled_generator *generator;
  const struct ising_tiled_rule *rule;
  struct gpumc_random random;
  uint32_t replica, time;
  uint32_t *words, *state;
};

struct ising_tiled_ops {
  /* Performs block b of a visit. Blocks of one visit may be processed in parallel. */
  void (*visit)(const struct ising_tiled_work *work, const struct ising_tiled_visit *visit,
                uint32_t b, struct ising_tiled_scratch scratch);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_tiled_ops ising_tiled_v2, ising_tiled_v3, ising_tiled_v4;
#else
extern const struct ising_tiled_ops ising_tiled_portable;
#endif

/* Copies the tile and its boundary into the working copy. */
void ising_tiled_load(const struct ising_tiled_geometry *geometry, const uint32_t *words,
                      struct ising_tiled_tile tile, uint32_t *const copy[2]);

#endif
