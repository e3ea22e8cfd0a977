/* Replicas of a launch by tiles (cluster_tiles.h) on a GPU, whose clusters are labelled in scratch;
 * a block of threads has a tile, a thread a word. For the launches that label clusters, and for
 * those that do something with them. */
#ifndef GPUMC_ISING_CLUSTER_TILES_CUH
#define GPUMC_ISING_CLUSTER_TILES_CUH

#include "models/ising/cluster/cluster_list.cuh"
#include "models/ising/cluster/cluster_word.cuh"

enum { ISING_TILE_BORDER = 2 * ISING_TILE_WORDS }; /* runs at the border of a tile, on a list */

/* ---- scratch ---- */

/* Of one replica, in bytes, and the whole. */
struct ising_tile_places {
  size_t parent, bond[ISING_CLUSTER_AXES], held, label, end;
};

__host__ __device__ static inline struct ising_tile_places
ising_tile_places_of(const struct ising_cluster_tiling *tiling)
{
  const size_t words = sizeof(uint32_t) * ising_tiling_words(tiling);
  struct ising_tile_places places;
  size_t place = 0;
  places.label = place;
  place += sizeof(uint16_t) * ISING_TILE_LABELS * ising_tiling_tiles(tiling);
  places.parent = place;
  place += sizeof(uint32_t) * tiling->length[0] * tiling->length[1] * tiling->length[2];
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++, place += words)
    places.bond[d] = place;
  places.held = place;
  place += words;
  places.end = lattice_parts(place, sizeof(uint4)) * sizeof(uint4);
  return places;
}

/* ---- one replica of a launch ---- */

/* Its number in its run; exists: there is such a replica. */
struct ising_tile_element {
  uint32_t run, replica;
  bool exists;
  uint32_t *words;
  struct ising_cluster_tiles tiles;
};

__device__ static inline struct ising_tile_element
ising_tile_element_of(const struct ising_cluster_gpu *arguments, size_t first)
{
  const struct ising_spin_replicas *replicas = &arguments->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const struct ising_tile_places places = ising_tile_places_of(&arguments->tiling);
  const size_t number = first + blockIdx.y;
  uint8_t *scratch = (uint8_t *)arguments->scratch + blockIdx.y * places.end;
  struct ising_tile_element element;
  element.run = (uint32_t)(number / batch->capacity);
  element.replica = (uint32_t)(number - element.run * batch->capacity);
  element.exists = element.replica < batch->size[element.run];
  element.words = replicas->words + number * 2 * ISING_SPIN_WORDS * replicas->lattice.blocks;
  element.tiles.label = (uint16_t *)(scratch + places.label);
  element.tiles.parent = (uint32_t *)(scratch + places.parent);
  element.tiles.held = (uint32_t *)(scratch + places.held);
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    element.tiles.bond[d] = (uint32_t *)(scratch + places.bond[d]);
  return element;
}

/* The tile of a block of threads, and the word of a thread; exists: the tile has such a word. */
struct ising_tile_mine {
  struct ising_cluster_box box;
  struct ising_cluster_place place;
  struct ising_cluster_spot spot;
  size_t word; /* number in the lattice */
  bool exists;
};

__device__ static inline struct ising_tile_mine
ising_tile_mine_of(const struct ising_cluster_tiling *tiling)
{
  struct ising_tile_mine mine;
  mine.box = ising_tiling_box(tiling, blockIdx.x);
  mine.place = ising_box_place(&mine.box, threadIdx.x, 0);
  mine.exists = ising_box_has(&mine.box, &mine.place);
  mine.spot = ising_cluster_spot_of(tiling, mine.box.first[0] + mine.place.at[0],
                                    mine.box.first[1] + mine.place.at[1],
                                    mine.box.first[2] + mine.place.at[2]);
  mine.word = ising_tiling_word(tiling, mine.spot.at);
  return mine;
}

/* ---- clusters ---- */

/* Returns the root, as a site, of a number of the tile. */
__device__ static inline uint32_t
ising_tile_root(const struct ising_cluster_gpu *arguments, const struct ising_tile_element *element,
                const struct ising_tile_mine *mine, uint32_t number, bool *own)
{
  const uint32_t site = ising_tiling_site(&arguments->tiling, &mine->box, number);
  const uint32_t root = ising_label_root(element->tiles.parent, 0, site);
  *own = root == site;
  return root;
}

/* Returns the word and the bit of a site in `held`. */
__device__ static inline uint32_t *ising_tile_held(const struct ising_cluster_gpu *arguments,
                                                   const struct ising_tile_element *element,
                                                   uint32_t site, uint32_t *bit)
{
  const struct ising_cluster_tiling *tiling = &arguments->tiling;
  const uint32_t line = site / tiling->length[0], x = site - line * tiling->length[0];
  *bit = x % ISING_CLUSTER_WORD;
  return element->tiles.held + (size_t)line * tiling->size[0] + x / ISING_CLUSTER_WORD;
}

__device__ static inline uint32_t
ising_tile_joined(const struct ising_tile_element *element, const struct ising_tile_mine *mine)
{
  return element->tiles.bond[0][mine->word] << 1 & mine->place.sites;
}

/* Calls step(number) for the labels of the runs at the border of a tile, not in the order of
 * threads; called by all threads. */
template <typename STEP>
__device__ static inline void
ising_tile_for_border(const struct ising_tile_mine *mine, uint32_t joined, const uint16_t *label,
                      STEP step)
{
  __shared__ uint32_t item[ISING_TILE_BORDER], listed;
  const struct ising_cluster_list list = {&listed, item, ISING_TILE_BORDER};
  struct ising_cluster_left border = {{0, 0, 0}};
  if (threadIdx.x == 0)
    listed = 0;
  __syncthreads();
  if (mine->exists) {
    border.axis[0] = ising_tiling_border(&mine->box, &mine->place, joined);
    ising_list_put(&list, threadIdx.x, &border);
  }
  __syncthreads();
  if (ising_list_holds_all(&list))
    ising_list_take(&list, [&](uint32_t, uint32_t word, uint32_t bit) {
      step((uint32_t)label[bit * ISING_TILE_WORDS + word]);
    });
  else
    for (uint32_t left = border.axis[0]; left != 0; left &= left - 1)
      step((uint32_t)label[ising_bit_lowest(left) * ISING_TILE_WORDS + threadIdx.x]);
}

#endif
