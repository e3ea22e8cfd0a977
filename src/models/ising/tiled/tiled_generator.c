/* The generators of the tiled kernel that are not Philox. */
#include "models/ising/tiled/tiled_generator.h"

#include "models/ising/tiled/tiled_lattice.h"

static const struct ising_tiled_step lcg32 = {1664525, 1013904223};
static const struct ising_tiled_step lcg64 = {2862933555777941757, 1442695040888963407};

static void set_fibonacci(struct ising_tiled_generator *made, uint32_t r, uint32_t s)
{
  made->kind = ISING_TILED_FIBONACCI;
  made->lag_r = made->block_words = r;
  made->lag_s = s;
}

static void set_congruential(struct ising_tiled_generator *made, enum ising_tiled_kind kind,
                             uint32_t places, bool skipping)
{
  made->kind = kind;
  made->skipping = skipping;
  made->block_words = kind == ISING_TILED_LCG64 ? 2 * places : places;
  made->one = kind == ISING_TILED_LCG64 ? lcg64 : lcg32;
  made->thread = ising_tiled_power(made->one, skipping ? (uint64_t)made->blocks * places : 1);
}

struct ising_tiled_generator
ising_tiled_generator(const struct ising_tiled_geometry *geometry, enum ising_generator generator)
{
  struct ising_tiled_generator made = {.kind = ISING_TILED_PHILOX, .blocks = geometry->n_tiles / 2};
  const uint32_t places = geometry->places;
  switch (generator) {
  case ISING_GENERATOR_LCG32:
  case ISING_GENERATOR_LCG32_RANDOM:
    set_congruential(&made, ISING_TILED_LCG32, places, generator == ISING_GENERATOR_LCG32);
    break;
  case ISING_GENERATOR_LCG64:
  case ISING_GENERATOR_LCG64_RANDOM:
    set_congruential(&made, ISING_TILED_LCG64, places, generator == ISING_GENERATOR_LCG64);
    break;
  case ISING_GENERATOR_FIBONACCI_521:
    set_fibonacci(&made, 521, 353);
    break;
  case ISING_GENERATOR_FIBONACCI_1279:
    set_fibonacci(&made, 1279, 861);
    break;
  case ISING_GENERATOR_PHILOX:
  case ISING_GENERATORS:
    break;
  }
  return made;
}
