/* Wolff's clusters on the CPU. Tiles (cluster_wolff_tiles.h) wait in a queue with the sites at
 * which the cluster has come to them. Several are taken from it at once: each adds all sites that
 * its own bonds join to these, in vectors of tiles, and passes the bonds across its faces on to its
 * neighbours. Bonds of a tile are drawn when it is taken for the first time. Until then nothing is
 * known of those by which it is entered across its last faces, which are its own: such sites are
 * requests, dropped if the bonds, once drawn, are not active.
 *
 * No branch could be predicted. There is none for a tile, except where it is drawn; a batch has the
 * one at the end of its shifts. */
#include "models/ising/cluster/cluster_wolff_tiles.h"

enum {
  /* Bits of ising_cluster_word.state: its bonds are drawn; it is in the queue. */
  DRAWN = 0,
  QUEUED = 1,
  BATCH = 16, /* tiles that are taken together */
  VECTORS = BATCH * 8 / GPUMC_VECTOR_BYTES
};

/* A ring with the tiles from number `next` to before number `end`, each once: number i is
 * tile[i & mask], with room for one more than there are. */
struct queue {
  uint32_t *tile, mask, next, end;
};

/* drawn[drawn_tiles]: the tiles that have bonds; those of others are the sites that are asked for,
 * none before the cluster. counter[i]: of the sites of a tile, or pairs of them, after the first
 * one. sign[d]: all ones if equal spins satisfy bonds of a kind; any: all ones if that depends on
 * the bond. */
struct growth {
  const struct ising_cluster_work *work;
  struct tiling tiling;
  struct ising_bonds bonds;
  struct ising_cluster_word *tile;
  struct queue queue;
  uint32_t *drawn;
  size_t drawn_tiles;
  uint32_t counter[ISING_ROW_WORD];
  uint64_t sign[ISING_ROW_KINDS], any;
  bool is_joined; /* to the ghost */
};

/* Tiles that are taken together. bond[d], sites: those within a tile, and of the cluster. */
struct batch {
  uint32_t n;
  struct place place[BATCH];
  uint64_t bond[AXES][BATCH], sites[BATCH];
};

/* Numbers of two tiles, as ising_row_bonds has them. */
struct numbers {
  uint64_t active[2][ISING_ROW_KINDS], sign[2][ISING_ROW_KINDS];
};

/* ---- bonds ---- */

/* `rounds`, `paired`: constants. */
GPUMC_INLINE void draw_with(const struct growth *growth, const uint32_t rounds, const bool paired,
                            const uint32_t first[2], struct numbers *numbers)
{
  const uint32_t *counter = growth->counter, *const pairs[] = {counter, counter},
                 *const sites[] = {counter, counter + ISING_DRAW_COUNTERS};
  uint32_t below[ISING_DRAW_HALVES][WORDS];
  if (paired) {
    ising_row_draw_counters(&growth->bonds, rounds, pairs, first, below);
    for (size_t t = 0; t < 2; t++)
      for (size_t d = 0; d < 2; d++)
        numbers->active[t][d] = ising_row_of_pairs(below[t], d);
    return;
  }
  for (size_t t = 0; t < 2; t++) {
    const uint32_t same[] = {first[t], first[t]};
    ising_row_draw_counters(&growth->bonds, rounds, sites, same, below);
    for (size_t d = 0; d < ISING_ROW_KINDS; d++)
      numbers->active[t][d] = below[0][d] | (uint64_t)below[1][d] << ISING_DRAW_COUNTERS;
  }
}

/* Those of samples, by rows of the tile. */
static void draw_terms(const struct growth *growth, const struct place *place,
                       uint64_t active[ISING_ROW_KINDS], uint64_t sign[ISING_ROW_KINDS])
{
  const struct tiling *tiling = &growth->tiling;
  const uint32_t dimension = tiling->dimension;
  const size_t first = first_site(tiling, place), length = tiling->length[0];
  uint32_t size[AXES] = {1, 1, 1};
  uint8_t bits[ISING_ROW_WORD];
  for (uint32_t d = 0; d < dimension; d++)
    size[d] = size_of(tiling, place->at[d], dimension, d, false);
  for (uint32_t z = 0; z < size[2]; z++)
    for (uint32_t y = 0; y < size[1]; y++) {
      const uint32_t at = y * tiling->apart[1] + z * tiling->apart[2];
      ising_bonds_draw_terms(growth->work, &growth->bonds,
                             first + length * (y + (size_t)tiling->length[1] * z), size[0], bits);
      for (uint32_t d = 0; d < ISING_ROW_KINDS; d++) {
        active[d] |= ising_row_of_bytes(bits, size[0], d) << at;
        sign[d] |= ising_row_of_bytes(bits, size[0], d + ISING_BONDS_SIGNS) << at;
      }
    }
}

/* Draws the numbers of one tile or two. */
static __attribute__((noinline)) void draw_numbers(const struct growth *growth,
                                                   const struct place *const place[2], size_t n,
                                                   struct numbers *numbers)
{
  const struct ising_cluster_work *work = growth->work;
  const bool paired = work->rule.paired;
  uint32_t first[2];
  memset(numbers, 0, sizeof *numbers);
  for (size_t t = 0; t < 2; t++) {
    first[t] = lattice_cluster_counter(paired, (uint32_t)first_site(&growth->tiling, place[t]));
    if (work->terms == NULL)
      memcpy(numbers->sign[t], growth->sign, sizeof growth->sign);
    else if (t < n)
      draw_terms(growth, place[t], numbers->active[t], numbers->sign[t]);
  }
  if (work->terms != NULL)
    return;
  if (work->graph.random.rounds == 7 && paired)
    draw_with(growth, 7, true, first, numbers);
  else if (work->graph.random.rounds == 7)
    draw_with(growth, 7, false, first, numbers);
  else if (paired)
    draw_with(growth, 10, true, first, numbers);
  else
    draw_with(growth, 10, false, first, numbers);
}

/* Finds the active bonds of a tile, and which of the sites asked for they lead to. */
GPUMC_INLINE void bind(struct growth *growth, const struct place *place,
                       const uint64_t active[ISING_ROW_KINDS], const uint64_t sign[ISING_ROW_KINDS],
                       const uint32_t dimension, const bool whole, const bool has_field)
{
  const struct tiling *tiling = &growth->tiling;
  struct ising_cluster_word *tile = growth->tile + place->number;
  const uint64_t here = tile->spins, sites = sites_of(tiling, place, dimension, whole);
#pragma GCC unroll 3
  for (uint32_t d = 0; d < dimension; d++) {
    const uint32_t across = across_of(tiling, place->at[d], dimension, d, whole);
    const uint64_t first = first_of(dimension, d), last = first << across;
    const uint64_t beyond = growth->tile[place->after[d]].spins & first;
    const uint64_t next = (here >> apart_of(dimension, d) & ~last) | beyond << across;
    const uint64_t bond = active[d] & (here ^ next ^ sign[d]) & sites;
    tile->pending |= tile->bond[d] & bond;
    tile->bond[d] = bond;
  }
  if (has_field)
    tile->ghost = active[LATTICE_CLUSTER_GHOST] & (here ^ sign[LATTICE_CLUSTER_GHOST]) & sites;
  tile->state |= 1u << DRAWN;
  growth->drawn[growth->drawn_tiles++] = place->number;
}

/* Draws the bonds of the tiles of a batch that have none, two at a time. */
GPUMC_INLINE void draw(struct growth *growth, const struct batch *batch, const uint32_t dimension,
                       const bool whole, const bool has_field)
{
  const struct place *fresh[BATCH + 1];
  size_t n = 0;
  for (uint32_t i = 0; i < batch->n; i++) {
    fresh[n] = &batch->place[i];
    n += ~growth->tile[batch->place[i].number].state >> DRAWN & 1;
  }
  fresh[n] = fresh[0];
  for (size_t i = 0; i < n; i += 2) {
    struct numbers numbers;
    draw_numbers(growth, fresh + i, n - i, &numbers);
    bind(growth, fresh[i], numbers.active[0], numbers.sign[0], dimension, whole, has_field);
    if (i + 1 < n)
      bind(growth, fresh[i + 1], numbers.active[1], numbers.sign[1], dimension, whole, has_field);
  }
}

/* ---- the queue ---- */

GPUMC_INLINE uint32_t take(struct queue *queue)
{
  return queue->tile[queue->next++ & queue->mask];
}

/* Puts a tile into the queue if the cluster comes to sites of it and it is not there yet: what is
 * written at the end counts only then. */
GPUMC_INLINE void
put(struct queue *queue, struct ising_cluster_word *tile, uint32_t number, uint64_t sites)
{
  const uint32_t state = tile->state, comes = sites != 0;
  queue->tile[queue->end & queue->mask] = number;
  queue->end += comes & ~(state >> QUEUED);
  tile->state = state | comes << QUEUED;
}

/* Comes to sites of a tile. */
GPUMC_INLINE void
come(const struct growth *growth, struct queue *queue, uint32_t number, uint64_t sites)
{
  struct ising_cluster_word *tile = growth->tile + number;
  sites &= ~tile->cluster;
  tile->pending |= sites;
  put(queue, tile, number, sites);
}

/* The same by the bonds of the tile itself, which is the one before along axis d; `here`: spins of
 * the sites from which the cluster comes. */
GPUMC_INLINE void come_back(const struct growth *growth, struct queue *queue, uint32_t number,
                            uint64_t here, uint64_t sites, uint32_t d)
{
  struct ising_cluster_word *tile = growth->tile + number;
  const uint64_t satisfied = tile->spins ^ here ^ growth->sign[d], bond = tile->bond[d],
                 drawn = 0 - (uint64_t)(tile->state >> DRAWN & 1);
  sites &= ~tile->cluster & (satisfied | growth->any) & (bond | ~drawn);
  tile->pending |= sites & drawn;
  tile->bond[d] = bond | (sites & ~drawn);
  put(queue, tile, number, sites);
}

/* ---- growth ---- */

/* Takes tiles from the queue. */
GPUMC_INLINE void take_batch(const struct growth *growth, struct queue *queue, struct batch *batch,
                             const uint32_t dimension)
{
  const uint32_t waiting = queue->end - queue->next;
  batch->n = waiting < BATCH ? waiting : BATCH;
  for (uint32_t i = 0; i < batch->n; i++) {
    batch->place[i] = place_of(&growth->tiling, take(queue), dimension);
    growth->tile[batch->place[i].number].state &= ~(1u << QUEUED);
  }
}

/* Adds to the sites of all tiles those that their bonds join to these. Vectors go together, since
 * one alone would wait for its own steps. */
GPUMC_INLINE void
flood(gpumc_v64 bond[][VECTORS], const uint32_t dimension, gpumc_v64 sites[VECTORS])
{
  gpumc_v64 more;
  do {
    more = (gpumc_v64){0};
#pragma GCC unroll 4
    for (uint32_t v = 0; v < VECTORS; v++) {
      const gpumc_v64 before = sites[v];
#pragma GCC unroll 3
      for (uint32_t d = 0; d < dimension; d++) {
        const uint32_t apart = apart_of(dimension, d);
        sites[v] |= (sites[v] & bond[d][v]) << apart | (sites[v] >> apart & bond[d][v]);
      }
      more |= sites[v] ^ before;
    }
  } while (gpumc_nonzero_words((gpumc_v32)more) != 0);
}

/* Lets the cluster grow within the tiles of a batch. */
GPUMC_INLINE void
fill(const struct growth *growth, struct batch *batch, const uint32_t dimension, const bool whole)
{
  memset(batch->sites, 0, sizeof batch->sites);
  for (uint32_t i = 0; i < batch->n; i++) {
    const struct place *place = &batch->place[i];
    const struct ising_cluster_word *tile = growth->tile + place->number;
#pragma GCC unroll 3
    for (uint32_t d = 0; d < dimension; d++) {
      const uint32_t across = across_of(&growth->tiling, place->at[d], dimension, d, whole);
      batch->bond[d][i] = tile->bond[d] & ~(first_of(dimension, d) << across);
    }
    batch->sites[i] = tile->pending;
  }
  gpumc_v64 bond[AXES][VECTORS], sites[VECTORS];
  memcpy(bond, batch->bond, dimension * sizeof *bond);
  memcpy(sites, batch->sites, sizeof sites);
  flood(bond, dimension, sites);
  memcpy(batch->sites, sites, sizeof sites);
}

/* Adds its sites to the cluster. Returns whether one of them is joined to the ghost. */
GPUMC_INLINE bool add(const struct growth *growth, const struct batch *batch)
{
  uint64_t ghost = 0;
  for (uint32_t i = 0; i < batch->n; i++) {
    struct ising_cluster_word *tile = growth->tile + batch->place[i].number;
    tile->cluster |= batch->sites[i];
    tile->pending = 0;
    ghost |= batch->sites[i] & tile->ghost;
  }
  return ghost != 0;
}

/* Passes the bonds across the faces of a tile on. */
GPUMC_INLINE void pass_on(const struct growth *growth, struct queue *queue,
                          const struct place *place, uint64_t sites, const uint32_t dimension,
                          const bool whole)
{
  const struct tiling *tiling = &growth->tiling;
  const struct ising_cluster_word *tile = growth->tile + place->number;
#pragma GCC unroll 3
  for (uint32_t d = 0; d < dimension; d++) {
    const uint64_t first = first_of(dimension, d);
    const uint32_t across = across_of(tiling, place->at[d], dimension, d, whole);
    const uint32_t at = place->at[d] > 0 ? place->at[d] - 1 : tiling->tiles[d] - 1;
    const uint32_t back = across_of(tiling, at, dimension, d, whole);
    come(growth, queue, place->after[d], (sites & tile->bond[d]) >> across & first);
    come_back(growth, queue, place->before[d], (tile->spins & first) << back,
              (sites & first) << back, d);
  }
}

/* Lets the cluster of a site grow until it is complete, or joined to the ghost. `dimension`,
 * `has_field`, `whole`: constants. */
GPUMC_INLINE void
grow(struct growth *growth, const uint32_t dimension, const bool has_field, const bool whole)
{
  struct queue queue = growth->queue;
  while (queue.next != queue.end) {
    struct batch batch;
    take_batch(growth, &queue, &batch, dimension);
    draw(growth, &batch, dimension, whole, has_field);
    fill(growth, &batch, dimension, whole);
    if (add(growth, &batch) && has_field) {
      growth->is_joined = true;
      break;
    }
    for (uint32_t i = 0; i < batch.n; i++)
      pass_on(growth, &queue, &batch.place[i], batch.sites[i], dimension, whole);
  }
  growth->queue = queue;
}

static void begin_cluster(struct growth *growth, size_t seed)
{
  const struct tiling *tiling = &growth->tiling;
  uint32_t at[AXES], number = 0, bit = 0;
  for (uint32_t d = 0; d < AXES; d++) {
    at[d] = (uint32_t)(seed % tiling->length[d]);
    seed /= tiling->length[d];
  }
  for (uint32_t d = AXES; d-- > 0;) {
    number = number * tiling->tiles[d] + at[d] / tiling->extent[d];
    bit += at[d] % tiling->extent[d] * tiling->apart[d];
  }
  growth->queue.next = growth->queue.end = 0;
  growth->is_joined = false;
  come(growth, &growth->queue, number, (uint64_t)1 << bit);
}

static inline void forget(struct ising_cluster_word *tile)
{
  memset(tile->bond, 0, sizeof tile->bond);
  tile->cluster = tile->pending = 0;
  tile->state = 0;
}

/* Flips the cluster unless it is joined to the ghost, and forgets its bonds. Returns the sites that
 * were flipped. */
static uint64_t finish(struct growth *growth)
{
  const uint64_t turned = growth->is_joined ? 0 : UINT64_MAX;
  uint64_t flipped = 0;
  while (growth->queue.next != growth->queue.end)
    forget(growth->tile + take(&growth->queue));
  for (size_t i = 0; i < growth->drawn_tiles; i++) {
    struct ising_cluster_word *tile = growth->tile + growth->drawn[i];
    tile->spins ^= tile->cluster & turned;
    flipped += ising_row_count(tile->cluster & turned);
    forget(tile);
  }
  growth->drawn_tiles = 0;
  return flipped;
}

static struct growth begin(const struct ising_cluster_work *work)
{
  struct growth growth = {.work = work, .tile = work->words};
  struct tiling *tiling = &growth.tiling;
  *tiling = tiling_of(&work->graph.shape->checkerboard);
  growth.bonds = ising_bonds_of(work, 0);
  growth.queue.tile = work->graph.label;
  while (growth.queue.mask < tiles_of(tiling))
    growth.queue.mask = 2 * growth.queue.mask + 1;
  growth.drawn = growth.queue.tile + growth.queue.mask + 1;
  growth.any = work->terms != NULL ? UINT64_MAX : 0;
  for (size_t d = 0; d < ISING_ROW_KINDS; d++)
    growth.sign[d] = ising_row_sign(&growth.bonds, d);
  const uint32_t shared = work->rule.paired ? 2 : 1; /* sites of a counter */
  for (uint32_t i = 0; i * shared < ISING_ROW_WORD; i++) {
    const uint32_t bit = i * shared, x = bit % tiling->extent[0],
                   y = bit / tiling->apart[1] % tiling->extent[1], z = bit / tiling->apart[2];
    growth.counter[i] = (x + tiling->length[0] * (y + tiling->length[1] * z)) / shared;
  }
  return growth;
}

/* Calls grow() with the properties of the lattice as constants. */
static void grow_on(struct growth *growth)
{
  const bool cubic = growth->tiling.dimension == 3, has_field = growth->work->rule.has_field;
  const bool whole = growth->tiling.whole;
  if (cubic && has_field)
    grow(growth, 3, true, false);
  else if (cubic && whole)
    grow(growth, 3, false, true);
  else if (cubic)
    grow(growth, 3, false, false);
  else if (has_field)
    grow(growth, 2, true, false);
  else if (whole)
    grow(growth, 2, false, true);
  else
    grow(growth, 2, false, false);
}

static uint64_t sweep(const struct ising_cluster_work *work, uint32_t clusters, uint64_t limit)
{
  struct growth growth = begin(work);
  uint64_t flipped = 0;
  for (uint32_t c = 0; c < clusters && flipped < limit; c++) {
    growth.bonds.label = lattice_wolff_label(LATTICE_WOLFF_BONDS + c);
    begin_cluster(&growth, lattice_wolff_seed(work->graph.random, work->graph.replica,
                                              work->graph.time, c, work->graph.shape->sites));
    grow_on(&growth);
    flipped += finish(&growth);
  }
  return flipped;
}

extern const struct ising_wolff_ops GPUMC_ISA_NAME(ising_wolff);
const struct ising_wolff_ops GPUMC_ISA_NAME(ising_wolff) = {
    .load = load_spins,
    .store = store_spins,
    .sweep = sweep,
};
