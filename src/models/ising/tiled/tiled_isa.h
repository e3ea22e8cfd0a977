/* The tiled kernel on the CPU below its ops: the parts compiled once for each instruction-set
 * level. */
#ifndef GPUMC_ISING_TILED_ISA_H
#define GPUMC_ISING_TILED_ISA_H

#include "core/numerics/isa.h"
#include "models/ising/tiled/tiled_generator.h"
#include "models/ising/tiled/tiled_lattice.h"

/* A tile on the CPU. A colour is its words in a row, as in the replica, after and before
 * ISING_TILED_ZEROS words that are 0: so the neighbours of whole vectors of words are at fixed
 * distances, whatever the length of a line. Those across a border of the tile are masked out. They
 * do not change during a visit, and beyond[word] has counted them:
 *
 *   neighbours up = beyond + same index + (line before & before) + (line after & after)
 *                   + (previous byte & left) + (next byte & right) (+ plane before + plane after)
 *
 * ISING_TILED_STEP: words drawn at a time, whole vectors. */
enum { ISING_TILED_STEP = 64, ISING_TILED_ZEROS = 32 };

static inline uint32_t ising_tiled_padded(const struct ising_tiled_geometry *geometry)
{
  return (geometry->words + ISING_TILED_STEP - 1) / ISING_TILED_STEP * ISING_TILED_STEP;
}

/* Bytes of 0 or 1, [ising_tiled_padded()] words each: sites, those with a neighbour within the tile
 * in the previous or next byte (by colour), in the line before or after. */
struct ising_tiled_masks {
  uint32_t *sites, *left[2], *right[2], *before, *after;
};
enum { ISING_TILED_MASKS = 7 };

/* Scratch of a thread: the colours of a tile, and their neighbours beyond it; numbers[lane][padded]
 * of the sites of a colour; room for the state of a block. */
struct ising_tiled_scratch {
  uint32_t *spins[2], *beyond[2], *numbers, *state;
};

static inline size_t ising_tiled_scratch_words(const struct ising_tiled_geometry *geometry,
                                               const struct ising_tiled_generator *generator)
{
  return (4 + ISING_TILED_LANES) * (size_t)ising_tiled_padded(geometry) + 3 * ISING_TILED_ZEROS +
         generator->block_words;
}

static inline struct ising_tiled_scratch
ising_tiled_scratch_at(const struct ising_tiled_geometry *geometry, uint32_t *memory)
{
  const size_t padded = ising_tiled_padded(geometry);
  struct ising_tiled_scratch scratch = {.numbers = memory};
  scratch.beyond[0] = memory + ISING_TILED_LANES * padded;
  scratch.beyond[1] = scratch.beyond[0] + padded;
  scratch.spins[0] = scratch.beyond[1] + padded + ISING_TILED_ZEROS;
  scratch.spins[1] = scratch.spins[0] + padded + ISING_TILED_ZEROS;
  scratch.state = scratch.spins[1] + padded + ISING_TILED_ZEROS;
  return scratch;
}

/* One replica in one call; `time`: of its first sweep. `state`: of the replica's generator. */
struct ising_tiled_work {
  const struct ising_tiled_geometry *geometry;
  const struct ising_tiled_generator *generator;
  const struct ising_tiled_masks *masks;
  const struct ising_tiled_rule *rule;
  struct gpumc_random random;
  uint32_t replica, time;
  uint32_t *words, *state;
};

struct ising_tiled_ops {
  /* Performs block b of a visit. Blocks of one visit may be processed in parallel. */
  void (*visit)(const struct ising_tiled_work *work, const struct ising_tiled_visit *visit,
                uint32_t b, struct ising_tiled_scratch scratch);
  /* Adds spins up and bonds between unlike spins of a tile that is loaded in `scratch`. */
  void (*count)(const struct ising_tiled_geometry *geometry, const struct ising_tiled_masks *masks,
                const struct ising_tiled_scratch *scratch, struct ising_tiled_sums *sums);
};

#ifdef GPUMC_ISA_X86_64
extern const struct ising_tiled_ops ising_tiled_v2, ising_tiled_v3, ising_tiled_v4;
#else
extern const struct ising_tiled_ops ising_tiled_portable;
#endif

void ising_tiled_set_masks(const struct ising_tiled_geometry *geometry,
                           const struct ising_tiled_masks *masks);

/* Loads a tile into `scratch`, and counts its neighbours beyond it. `words`: of the replica. */
void ising_tiled_load(const struct ising_tiled_geometry *geometry, const uint32_t *words,
                      struct ising_tiled_tile tile, const struct ising_tiled_scratch *scratch);

#endif
