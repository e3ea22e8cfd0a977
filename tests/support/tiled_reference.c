/* The slow, simple tiled kernel. */
#include "support/tiled_reference.h"

#include <stdlib.h>
#include <string.h>

static bool is_fibonacci(const struct tiled_reference *tiled)
{
  return tiled->tiling.generator == ISING_GENERATOR_FIBONACCI_521 ||
         tiled->tiling.generator == ISING_GENERATOR_FIBONACCI_1279;
}

static size_t lag(const struct tiled_reference *tiled)
{
  return tiled->tiling.generator == ISING_GENERATOR_FIBONACCI_521 ? 521 : 1279;
}

static bool is_skipping(const struct tiled_reference *tiled)
{
  return tiled->tiling.generator == ISING_GENERATOR_LCG32 ||
         tiled->tiling.generator == ISING_GENERATOR_LCG64;
}

static bool is_wide(const struct tiled_reference *tiled)
{
  return tiled->tiling.generator == ISING_GENERATOR_LCG64 ||
         tiled->tiling.generator == ISING_GENERATOR_LCG64_RANDOM;
}

static uint64_t congruential(const struct tiled_reference *tiled, uint64_t x)
{
  if (is_wide(tiled))
    return 2862933555777941757u * x + 1442695040888963407u;
  return (1664525u * x + 1013904223u) & 0xffffffffu;
}

static uint64_t random_state(const struct tiled_reference *tiled, size_t b, size_t i)
{
  uint32_t word[4];
  gpumc_random_draw(tiled->spins->random, (uint32_t)b, (uint32_t)tiled->replica, 0,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_GENERATOR, (uint32_t)i), word);
  return is_wide(tiled) ? (uint64_t)word[1] << 32 | word[0] : word[0];
}

static void seed(struct tiled_reference *tiled)
{
  const size_t threads = tiled->blocks * tiled->places, r = lag(tiled);
  uint64_t x = random_state(tiled, 0, 0);
  for (size_t j = 0; j < threads; j++, x = congruential(tiled, x))
    tiled->thread[j] =
        is_skipping(tiled) ? x : random_state(tiled, j / tiled->places, j % tiled->places);
  for (size_t b = 0; b < tiled->blocks; b++)
    for (size_t i = 0; i < r; i++)
      tiled->last[b * r + i] = (uint32_t)random_state(tiled, b, i);
}

void tiled_reference_init(struct tiled_reference *tiled, struct reference *spins, size_t replica,
                          struct ising_tiling tiling)
{
  *tiled = (struct tiled_reference){.spins = spins, .replica = replica, .tiling = tiling};
  size_t tiles = 1;
  for (size_t d = 0; d < 3; d++) {
    tiled->tiles[d] = d < spins->dimension ? spins->length[d] / tiling.tile : 1;
    tiles *= tiled->tiles[d];
  }
  tiled->blocks = tiles / 2;
  tiled->places = spins->sites / tiles / 2;
  tiled->thread = calloc(tiled->blocks * tiled->places, sizeof *tiled->thread);
  tiled->last = calloc(tiled->blocks * TILED_FIBONACCI_MAXIMUM, sizeof *tiled->last);
  if (tiled->thread == NULL || tiled->last == NULL)
    abort();
  seed(tiled);
}

void tiled_reference_free(struct tiled_reference *tiled)
{
  free(tiled->thread);
  free(tiled->last);
  memset(tiled, 0, sizeof *tiled);
}

/* Where a spin is: the tile's number, and x, y, z within it. */
struct where {
  size_t tile, half, x, y, z;
};

static struct where where(const struct tiled_reference *tiled, size_t site)
{
  const size_t *length = tiled->spins->length, t = tiled->tiling.tile;
  const size_t x = site % length[0], y = site / length[0] % length[1];
  const size_t z = site / length[0] / length[1];
  return (struct where){.tile = (z / t * tiled->tiles[1] + y / t) * tiled->tiles[0] + x / t,
                        .half = (x / t + y / t + z / t) % 2,
                        .x = x % t,
                        .y = y % t,
                        .z = z % t};
}

/* Returns the number of a tile within its half. */
static size_t block_of(const struct tiled_reference *tiled, size_t tile, size_t half)
{
  size_t block = 0;
  for (size_t other = 0; other < tile; other++) {
    const size_t x = other % tiled->tiles[0], line = other / tiled->tiles[0];
    block += (x + line % tiled->tiles[1] + line / tiled->tiles[1]) % 2 == half;
  }
  return block;
}

static uint32_t philox(const struct tiled_reference *tiled, const struct where *at, uint32_t time)
{
  const size_t t = tiled->tiling.tile, words = (t + 7) / 8;
  const size_t lines = tiled->spins->dimension == 3 ? t * t : t;
  const size_t word = (at->z * t + at->y) * words + at->x / 8;
  uint32_t drawn[4];
  gpumc_random_draw(
      tiled->spins->random, (uint32_t)(at->tile * lines * words + word), (uint32_t)tiled->replica,
      time, gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, (uint32_t)((at->x + at->y + at->z) % 2)),
      drawn);
  return drawn[at->x / 2 % 4];
}

static uint32_t next_congruential(struct tiled_reference *tiled, uint64_t *x)
{
  const size_t steps = is_skipping(tiled) ? tiled->blocks * tiled->places : 1;
  for (size_t i = 0; i < steps; i++)
    *x = congruential(tiled, *x);
  return (uint32_t)(is_wide(tiled) ? *x >> 32 : *x);
}

static uint32_t next_fibonacci(const struct tiled_reference *tiled, uint32_t *last)
{
  const size_t r = lag(tiled), s = r == 521 ? 353 : 861;
  const uint32_t next = last[0] + last[r - s];
  memmove(last, last + 1, (r - 1) * sizeof *last);
  last[r - 1] = next;
  return next;
}

/* Returns a random number; called for the sites of a block in the order of their places. */
static uint32_t number(struct tiled_reference *tiled, const struct where *at, uint32_t time)
{
  const size_t t = tiled->tiling.tile, place = (at->z * t + at->y) * (t / 2) + at->x / 2;
  const size_t block = block_of(tiled, at->tile, at->half);
  if (tiled->tiling.generator == ISING_GENERATOR_PHILOX)
    return philox(tiled, at, time);
  if (is_fibonacci(tiled))
    return next_fibonacci(tiled, tiled->last + block * lag(tiled));
  return next_congruential(tiled, &tiled->thread[block * tiled->places + place]);
}

/* Updates the sites of a tile in the order of their places, which grow with the site number. */
static void
update(struct tiled_reference *tiled, double beta, size_t half, uint32_t time, bool reversed)
{
  for (size_t i = 0; i < 2; i++)
    for (size_t site = 0; site < tiled->spins->sites; site++) {
      const struct where at = where(tiled, site);
      if (at.half == half && (at.x + at.y + at.z) % 2 == (reversed ? 1 - i : i))
        reference_update(tiled->spins, beta, tiled->replica, site, number(tiled, &at, time));
    }
}

void tiled_reference_sweep(struct tiled_reference *tiled, double beta, uint32_t time,
                           uint32_t sweeps)
{
  const bool symmetrised = tiled->tiling.order == ISING_ORDER_SYMMETRISED;
  while (sweeps > 0) {
    uint32_t group = sweeps < tiled->tiling.hits ? sweeps : tiled->tiling.hits;
    if (symmetrised && group > 1)
      group -= group % 2;
    const uint32_t turn = symmetrised && group > 1 ? group / 2 : group;
    for (uint32_t h = 0; h < turn; h++)
      update(tiled, beta, 0, time + h, false);
    for (uint32_t h = 0; h < group; h++)
      update(tiled, beta, 1, time + h, h >= turn);
    for (uint32_t h = turn; h < group; h++)
      update(tiled, beta, 0, time + h, true);
    time += group;
    sweeps -= group;
  }
}
