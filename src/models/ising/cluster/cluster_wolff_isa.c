/* Wolff's clusters on the CPU. The random numbers of bonds are drawn for blocks of sites, when a
 * cluster first comes to one. */
#include "models/ising/cluster/cluster_bonds.h"
#include "models/lattice/clusters/clusters_sides.h"

enum {
  /* Sites: whole drawings of the widest vectors. What is kept of a block, five bytes, fits in place
   * of its flips. */
  BLOCK = LATTICE_CLUSTER_NAMES,
  AXES = LATTICE_DIMENSIONS_MAXIMUM,
  IN_CLUSTER = 2 /* a bit of a spin while its cluster grows */
};

_Static_assert(BLOCK % ISING_BONDS_BEYOND == 0, "nothing is written beyond a block");

/* The cluster is work->graph.label[0 .. size - 1]. Blocks that have their bits in
 * work->graph.bonds: is_drawn[block], and drawn[drawn_blocks]; both in the memory of flips. */
struct growth {
  const struct ising_cluster_work *work;
  struct ising_bonds bonds;
  struct lattice_cluster_side side[AXES];
  uint8_t *is_drawn;
  uint32_t *drawn;
  size_t size, drawn_blocks;
  bool is_joined; /* to the ghost */
};

static struct growth begin(const struct ising_cluster_work *work)
{
  const size_t blocks = (work->graph.shape->sites + BLOCK - 1) / BLOCK;
  struct growth growth = {.work = work, .bonds = ising_bonds_of(work, 0)};
  lattice_cluster_sides(&work->graph.shape->checkerboard, growth.side);
  growth.drawn = work->graph.flips;
  growth.is_drawn = (uint8_t *)(work->graph.flips + blocks);
  memset(growth.is_drawn, 0, blocks);
  return growth;
}

/* Draws the bits of a block. */
static __attribute__((noinline)) void draw(struct growth *growth, uint32_t block)
{
  const struct ising_cluster_work *work = growth->work;
  const size_t first = (size_t)block * BLOCK, left = work->graph.shape->sites - first;
  ising_bonds_draw(work, &growth->bonds, first, left < BLOCK ? left : BLOCK,
                   work->graph.bonds + first);
  growth->is_drawn[block] = 1;
  growth->drawn[growth->drawn_blocks++] = block;
}

/* Returns the bits of a site's own bonds. */
GPUMC_INLINE uint32_t bits_of(struct growth *growth, const uint8_t *is_drawn, const uint8_t *bonds,
                              uint32_t site)
{
  if (!is_drawn[site / BLOCK])
    draw(growth, site / BLOCK);
  return bonds[site];
}

/* Adds site j behind a cluster of that size if the bond along axis d, whose bits these are, is
 * active between it and spin i; returns the size then. No branch: what does not stay is overwritten
 * by the next one. */
GPUMC_INLINE size_t take(uint8_t *restrict spins, uint32_t *restrict cluster, size_t size,
                         uint32_t bits, uint32_t d, uint32_t spin, uint32_t j)
{
  const uint32_t other = spins[j], satisfied = spin ^ other ^ bits >> (d + ISING_BONDS_SIGNS);
  const uint32_t joins = bits >> d & satisfied & ~(other >> 1) & 1;
  cluster[size] = j;
  spins[j] = (uint8_t)(other | joins * IN_CLUSTER);
  return size + joins;
}

/* Lets the cluster of a site grow until it is complete, or joined to the ghost. Constants: all but
 * the first and the last. */
GPUMC_INLINE void
grow(struct growth *growth, const uint32_t dimension, const bool has_field, uint32_t seed)
{
  uint8_t *restrict spins = growth->work->spins;
  uint32_t *restrict cluster = growth->work->graph.label;
  const uint8_t *is_drawn = growth->is_drawn, *bonds = growth->work->graph.bonds;
  const struct lattice_cluster_side side[AXES] = {growth->side[0], growth->side[1],
                                                  growth->side[2]};
  size_t size = 1;
  cluster[0] = seed;
  spins[seed] |= IN_CLUSTER;
  growth->is_joined = false;
  for (size_t done = 0; done < size && !growth->is_joined; done++) {
    const uint32_t i = cluster[done], bits = bits_of(growth, is_drawn, bonds, i), spin = spins[i];
    uint32_t left = i;
#pragma GCC unroll 3
    for (uint32_t d = 0; d < dimension; d++) {
      uint32_t before, after;
      lattice_cluster_around(&side[d], i, &left, &before, &after);
      size = take(spins, cluster, size, bits, d, spin, after);
      size = take(spins, cluster, size, bits_of(growth, is_drawn, bonds, before), d, spin, before);
    }
    if (has_field) {
      const uint32_t held = spin ^ bits >> (LATTICE_CLUSTER_GHOST + ISING_BONDS_SIGNS);
      growth->is_joined = (bits >> LATTICE_CLUSTER_GHOST & held & 1) != 0;
    }
  }
  growth->size = size;
}

/* Flips the cluster unless it is joined to the ghost, and forgets its bonds. */
static void finish(struct growth *growth)
{
  const struct ising_cluster_work *work = growth->work;
  const uint8_t turned = growth->is_joined ? IN_CLUSTER : IN_CLUSTER | 1;
  for (size_t i = 0; i < growth->size; i++)
    work->spins[work->graph.label[i]] ^= turned;
  for (size_t i = 0; i < growth->drawn_blocks; i++)
    growth->is_drawn[growth->drawn[i]] = 0;
  growth->drawn_blocks = 0;
}

uint64_t
    GPUMC_ISA_NAME(ising_cluster_wolff)(const struct ising_cluster_work *work, uint32_t clusters);
uint64_t
GPUMC_ISA_NAME(ising_cluster_wolff)(const struct ising_cluster_work *work, uint32_t clusters)
{
  const bool cubic = work->graph.shape->checkerboard.dimension == 3,
             has_field = work->rule.has_field;
  struct growth growth = begin(work);
  uint64_t flipped = 0;
  for (uint32_t c = 0; c < clusters; c++) {
    growth.bonds.label = lattice_wolff_label(LATTICE_WOLFF_BONDS + c);
    const uint32_t seed = lattice_wolff_seed(work->graph.random, work->graph.replica,
                                             work->graph.time, c, work->graph.shape->sites);
    if (cubic && has_field)
      grow(&growth, 3, true, seed);
    else if (cubic)
      grow(&growth, 3, false, seed);
    else if (has_field)
      grow(&growth, 2, true, seed);
    else
      grow(&growth, 2, false, seed);
    flipped += growth.is_joined ? 0 : growth.size;
    finish(&growth);
  }
  return flipped;
}
