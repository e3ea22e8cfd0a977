/* Wolff's clusters on the CPU: the lattice is cut into tiles of 64 sites, 8 x 8 or 4 x 4 x 4, which
 * wait in a queue with the sites at which the cluster has come to them. A tile that is taken from
 * it adds all sites that its own bonds join to these, and passes the bonds across its faces on to
 * its neighbours. Bonds of a tile are drawn when the cluster first comes to one of them.
 *
 * Bit x + ex (y + ey z) of a tile is its site (x, y, z); the last tiles along an axis may have
 * fewer. */
#include "models/ising/cluster/cluster_rows.h"
#include "models/lattice/divisor.h"

enum { AXES = ISING_ROW_AXES, WORDS = LATTICE_CLUSTER_WORDS };

/* ising_cluster_word.state: its bonds are drawn; it is in the queue. */
enum { DRAWN = 1, QUEUED = 2 };

/* By axis: sites, tiles, and of a tile its sites and the distance of two neighbours as bits. */
struct tiling {
  uint32_t dimension, length[AXES], tiles[AXES], extent[AXES], apart[AXES];
  struct gpumc_divisor row, plane; /* tiles of a row, rows of tiles in a plane */
};

/* queue[room]: a ring with the tiles from number `next` to before number `end`, each once, and room
 * for one more than there are; drawn[drawn_tiles]: those that have bonds. counter[i]: of the sites
 * of a tile, or pairs of them, after the first one. sign[d]: all ones if equal spins satisfy bonds
 * of a kind; any: all ones if that depends on the bond. */
struct growth {
  const struct ising_cluster_work *work;
  struct tiling tiling;
  struct ising_bonds bonds;
  struct ising_cluster_word *tile;
  uint32_t *queue, *drawn;
  size_t room, next, end, drawn_tiles;
  uint32_t counter[ISING_ROW_WORD];
  uint64_t sign[ISING_ROW_KINDS], any;
  bool is_joined; /* to the ghost */
};

/* A tile: its number, and by axis its place, its sites, the tiles beside it, and its last face. */
struct place {
  uint32_t number, at[AXES], size[AXES], before[AXES], after[AXES];
  uint64_t last[AXES];
};

/* ---- tiles ---- */

/* By dimension: the distance of two sites of a tile along an axis, and those on its first face. */
GPUMC_INLINE uint32_t apart_of(const uint32_t dimension, const uint32_t d)
{
  return d == 0   ? 1
         : d == 1 ? ising_wolff_extent(dimension)
                  : ising_wolff_extent(dimension) * ising_wolff_extent(dimension);
}

GPUMC_INLINE uint64_t first_of(const uint32_t dimension, const uint32_t d)
{
  static const uint64_t first[AXES + 1][AXES] = {
      [1] = {1},
      [2] = {0x0101010101010101u, 0xff},
      [3] = {0x1111111111111111u, 0x000f000f000f000fu, 0xffff}};
  return first[dimension][d];
}

static struct tiling tiling_of(const struct gpumc_checkerboard *lattice)
{
  const size_t length[AXES] = {lattice->length_x, lattice->length_y, lattice->length_z};
  struct tiling tiling = {.dimension = (uint32_t)lattice->dimension};
  for (uint32_t d = 0; d < AXES; d++) {
    tiling.length[d] = (uint32_t)length[d];
    tiling.extent[d] = d < tiling.dimension ? ising_wolff_extent(tiling.dimension) : 1;
    tiling.tiles[d] = (tiling.length[d] + tiling.extent[d] - 1) / tiling.extent[d];
    tiling.apart[d] = d < tiling.dimension ? apart_of(tiling.dimension, d) : ISING_ROW_WORD;
  }
  tiling.row = gpumc_divisor_make(tiling.tiles[0]);
  tiling.plane = gpumc_divisor_make(tiling.tiles[1]);
  return tiling;
}

static size_t tiles_of(const struct tiling *tiling)
{
  return (size_t)tiling->tiles[0] * tiling->tiles[1] * tiling->tiles[2];
}

GPUMC_INLINE struct place
place_of(const struct tiling *tiling, uint32_t number, const uint32_t dimension)
{
  struct place place = {.number = number};
  const uint32_t row = gpumc_divide(number, tiling->row);
  const uint32_t z = dimension == 3 ? gpumc_divide(row, tiling->plane) : 0;
  uint32_t step = 1;
  place.at[0] = number - row * tiling->row.value;
  place.at[1] = row - z * tiling->tiles[1];
  place.at[2] = z;
#pragma GCC unroll 3
  for (uint32_t d = 0; d < dimension; d++) {
    const uint32_t tiles = tiling->tiles[d], around = step * (tiles - 1), at = place.at[d];
    const uint32_t extent = ising_wolff_extent(dimension), left = tiling->length[d] - at * extent;
    place.after[d] = at + 1 < tiles ? number + step : number - around;
    place.before[d] = at > 0 ? number - step : number + around;
    place.size[d] = left < extent ? left : extent;
    place.last[d] = first_of(dimension, d) << (place.size[d] - 1) * apart_of(dimension, d);
    step *= tiles;
  }
  return place;
}

/* Returns the sites of a tile, as bits. */
static uint64_t sites_of(const struct tiling *tiling, const struct place *place)
{
  uint64_t sites = 1;
  for (uint32_t d = 0; d < tiling->dimension; d++) {
    uint64_t wider = 0;
    for (uint32_t i = 0; i < place->size[d]; i++)
      wider |= sites << i * tiling->apart[d];
    sites = wider;
  }
  return sites;
}

/* Returns the first site of a tile. */
static size_t first_site(const struct tiling *tiling, const struct place *place)
{
  const size_t x = (size_t)place->at[0] * tiling->extent[0],
               y = (size_t)place->at[1] * tiling->extent[1],
               z = (size_t)place->at[2] * tiling->extent[2];
  return x + tiling->length[0] * (y + tiling->length[1] * z);
}

/* ---- bonds ---- */

/* `rounds`, `paired`: constants. */
GPUMC_INLINE void draw_with(const struct growth *growth, const uint32_t rounds, const bool paired,
                            uint32_t first, uint64_t active[ISING_ROW_KINDS])
{
  uint32_t below[2][WORDS];
  ising_row_draw_counters(&growth->bonds, rounds, growth->counter, first, below[0]);
  if (paired) {
    for (size_t d = 0; d < 2; d++)
      active[d] = ising_row_spread(below[0][d]) | ising_row_spread(below[0][d + 2]) << 1;
    return;
  }
  ising_row_draw_counters(&growth->bonds, rounds, growth->counter + ISING_DRAW_COUNTERS, first,
                          below[1]);
  for (size_t d = 0; d < ISING_ROW_KINDS; d++)
    active[d] = below[0][d] | (uint64_t)below[1][d] << ISING_DRAW_COUNTERS;
}

/* Those of samples, by rows of the tile. */
static void draw_terms(const struct growth *growth, const struct place *place,
                       uint64_t active[ISING_ROW_KINDS], uint64_t sign[ISING_ROW_KINDS])
{
  const struct tiling *tiling = &growth->tiling;
  const size_t first = first_site(tiling, place), length = tiling->length[0];
  uint8_t bits[ISING_ROW_WORD];
  for (uint32_t z = 0; z < (tiling->dimension == 3 ? place->size[2] : 1); z++)
    for (uint32_t y = 0; y < (tiling->dimension >= 2 ? place->size[1] : 1); y++) {
      const uint32_t at = y * tiling->apart[1] + z * tiling->apart[2];
      ising_bonds_draw_terms(growth->work, &growth->bonds,
                             first + length * (y + (size_t)tiling->length[1] * z), place->size[0],
                             bits);
      for (uint32_t d = 0; d < ISING_ROW_KINDS; d++) {
        active[d] |= ising_row_of_bytes(bits, place->size[0], d) << at;
        sign[d] |= ising_row_of_bytes(bits, place->size[0], d + ISING_BONDS_SIGNS) << at;
      }
    }
}

static void draw_numbers(const struct growth *growth, const struct place *place,
                         uint64_t active[ISING_ROW_KINDS], uint64_t sign[ISING_ROW_KINDS])
{
  const struct ising_cluster_work *work = growth->work;
  const bool paired = work->rule.paired;
  if (work->terms != NULL) {
    draw_terms(growth, place, active, sign);
    return;
  }
  const uint32_t first =
      lattice_cluster_counter(paired, (uint32_t)first_site(&growth->tiling, place));
  if (work->graph.random.rounds == 7 && paired)
    draw_with(growth, 7, true, first, active);
  else if (work->graph.random.rounds == 7)
    draw_with(growth, 7, false, first, active);
  else if (paired)
    draw_with(growth, 10, true, first, active);
  else
    draw_with(growth, 10, false, first, active);
  memcpy(sign, growth->sign, sizeof growth->sign);
}

/* Draws the bonds of a tile. */
static __attribute__((noinline)) void draw(struct growth *growth, uint32_t number)
{
  const struct tiling *tiling = &growth->tiling;
  const struct place place = place_of(tiling, number, tiling->dimension);
  struct ising_cluster_word *tile = growth->tile + number;
  const uint64_t here = tile->spins, sites = sites_of(tiling, &place);
  uint64_t active[ISING_ROW_KINDS] = {0}, sign[ISING_ROW_KINDS] = {0};
  draw_numbers(growth, &place, active, sign);
  for (uint32_t d = 0; d < tiling->dimension; d++) {
    const uint64_t beyond = growth->tile[place.after[d]].spins & first_of(tiling->dimension, d);
    const uint64_t next = (here >> tiling->apart[d] & ~place.last[d]) |
                          beyond << (place.size[d] - 1) * tiling->apart[d];
    tile->bond[d] = active[d] & (here ^ next ^ sign[d]) & sites;
  }
  tile->ghost = active[LATTICE_CLUSTER_GHOST] & (here ^ sign[LATTICE_CLUSTER_GHOST]) & sites;
  tile->state |= DRAWN;
  growth->drawn[growth->drawn_tiles++] = number;
}

/* ---- growth ---- */

/* Puts sites of a tile that the cluster comes to into the queue. Without a branch, which would be
 * as good as random: what is written at the end counts only if the tile is not there yet. */
GPUMC_INLINE void come(struct growth *growth, uint32_t number, uint64_t sites)
{
  struct ising_cluster_word *tile = growth->tile + number;
  sites &= ~tile->cluster;
  if (sites == 0)
    return;
  tile->pending |= sites;
  growth->queue[growth->end] = number;
  const size_t after = growth->end + 1 < growth->room ? growth->end + 1 : 0;
  growth->end = (tile->state & QUEUED) == 0 ? after : growth->end;
  tile->state |= QUEUED;
}

/* The same by the bonds of the tile itself, which is the one before along axis d; `here`: spins of
 * the sites from which the cluster comes. */
GPUMC_INLINE void
come_back(struct growth *growth, uint32_t number, uint64_t here, uint64_t sites, uint32_t d)
{
  const struct ising_cluster_word *tile = growth->tile + number;
  const uint64_t satisfied = tile->spins ^ here ^ growth->sign[d];
  sites &= ~tile->cluster & (satisfied | growth->any);
  if (sites == 0)
    return;
  if ((tile->state & DRAWN) == 0)
    draw(growth, number);
  come(growth, number, sites & tile->bond[d]);
}

static uint32_t take(struct growth *growth)
{
  const uint32_t number = growth->queue[growth->next];
  growth->next = growth->next + 1 < growth->room ? growth->next + 1 : 0;
  growth->tile[number].state &= ~(uint32_t)QUEUED;
  return number;
}

/* Returns all sites of a tile that its bonds join to these. */
GPUMC_INLINE uint64_t flood(const struct ising_cluster_word *tile, const struct place *place,
                            const uint32_t dimension, uint64_t sites)
{
  uint64_t bond[AXES], before;
#pragma GCC unroll 3
  for (uint32_t d = 0; d < dimension; d++)
    bond[d] = tile->bond[d] & ~place->last[d];
  do {
    before = sites;
#pragma GCC unroll 3
    for (uint32_t d = 0; d < dimension; d++) {
      const uint32_t apart = apart_of(dimension, d);
      sites |= (sites & bond[d]) << apart | (sites >> apart & bond[d]);
    }
  } while (sites != before);
  return sites;
}

/* Lets the cluster of a site grow until it is complete, or joined to the ghost. `dimension`,
 * `has_field`: constants. */
GPUMC_INLINE void grow(struct growth *growth, const uint32_t dimension, const bool has_field)
{
  const struct tiling *tiling = &growth->tiling;
  while (growth->next != growth->end) {
    const struct place place = place_of(tiling, take(growth), dimension);
    struct ising_cluster_word *tile = growth->tile + place.number;
    if ((tile->state & DRAWN) == 0)
      draw(growth, place.number);
    const uint64_t sites = flood(tile, &place, dimension, tile->pending);
    tile->pending = 0;
    tile->cluster |= sites;
    if (has_field && (sites & tile->ghost) != 0) {
      growth->is_joined = true;
      return;
    }
#pragma GCC unroll 3
    for (uint32_t d = 0; d < dimension; d++) {
      const uint32_t extent = ising_wolff_extent(dimension), apart = apart_of(dimension, d);
      const uint32_t across = (place.size[d] - 1) * apart;
      const uint32_t of_last = tiling->length[d] - (tiling->tiles[d] - 1) * extent;
      const uint32_t back = ((place.at[d] > 0 ? extent : of_last) - 1) * apart;
      come(growth, place.after[d], (sites & tile->bond[d] & place.last[d]) >> across);
      come_back(growth, place.before[d], (tile->spins & first_of(dimension, d)) << back,
                (sites & first_of(dimension, d)) << back, d);
    }
  }
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
  growth->next = growth->end = 0;
  growth->is_joined = false;
  come(growth, number, (uint64_t)1 << bit);
}

/* Flips the cluster unless it is joined to the ghost, and forgets its bonds. Returns the sites that
 * were flipped. */
static uint64_t finish(struct growth *growth)
{
  const uint64_t turned = growth->is_joined ? 0 : UINT64_MAX;
  uint64_t flipped = 0;
  while (growth->next != growth->end)
    growth->tile[take(growth)].pending = 0;
  for (size_t i = 0; i < growth->drawn_tiles; i++) {
    struct ising_cluster_word *tile = growth->tile + growth->drawn[i];
    tile->spins ^= tile->cluster & turned;
    flipped += ising_row_count(tile->cluster & turned);
    tile->cluster = 0;
    tile->state = 0;
  }
  growth->drawn_tiles = 0;
  return flipped;
}

static struct growth begin(const struct ising_cluster_work *work)
{
  struct growth growth = {.work = work, .tile = work->words, .queue = work->graph.label};
  struct tiling *tiling = &growth.tiling;
  *tiling = tiling_of(&work->graph.shape->checkerboard);
  growth.bonds = ising_bonds_of(work, 0);
  growth.room = tiles_of(tiling) + 1;
  growth.drawn = growth.queue + growth.room;
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

static uint64_t sweep(const struct ising_cluster_work *work, uint32_t clusters, uint64_t limit)
{
  const size_t dimension = work->graph.shape->checkerboard.dimension;
  const bool cubic = dimension == 3, has_field = work->rule.has_field;
  struct growth growth = begin(work);
  uint64_t flipped = 0;
  for (uint32_t c = 0; c < clusters && flipped < limit; c++) {
    growth.bonds.label = lattice_wolff_label(LATTICE_WOLFF_BONDS + c);
    begin_cluster(&growth, lattice_wolff_seed(work->graph.random, work->graph.replica,
                                              work->graph.time, c, work->graph.shape->sites));
    if (cubic && has_field)
      grow(&growth, 3, true);
    else if (cubic)
      grow(&growth, 3, false);
    else if (has_field)
      grow(&growth, 2, true);
    else
      grow(&growth, 2, false);
    flipped += finish(&growth);
  }
  return flipped;
}

/* ---- spins ---- */

/* Where the sites of row (y, z) are from number 64 X on: the tile of the first ones, and the bit
 * with which they begin there. `dimension`: a constant, so that nothing is divided. */
struct row {
  struct ising_cluster_word *tile;
  uint32_t bit;
};

GPUMC_INLINE struct row row_of(const struct ising_cluster_work *work, const struct tiling *tiling,
                               const uint32_t dimension, uint32_t y, uint32_t z, size_t x)
{
  const uint32_t extent = ising_wolff_extent(dimension), of_z = dimension == 3 ? extent : 1;
  const size_t row_of_tiles = y / extent + (size_t)tiling->tiles[1] * (z / of_z);
  return (struct row){
      .tile = work->words + row_of_tiles * tiling->tiles[0] + x * ISING_ROW_WORD / extent,
      .bit = y % extent * apart_of(dimension, 1) + z % of_z * apart_of(dimension, 2)};
}

GPUMC_INLINE void load_tiles(const struct ising_cluster_work *work, const struct tiling *tiling,
                             const uint32_t dimension, const uint8_t *coloured)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const uint32_t extent = ising_wolff_extent(dimension);
  for (uint32_t z = 0; z < tiling->length[2]; z++)
    for (uint32_t y = 0; y < tiling->length[1]; y++) {
      const size_t line = y + (size_t)tiling->length[1] * z;
      for (size_t x = 0; x * ISING_ROW_WORD < tiling->length[0]; x++) {
        struct row to = row_of(work, tiling, dimension, y, z, x);
        for (uint64_t spins = ising_row_load(lattice, coloured, line, (y + z) & 1, x); spins != 0;
             spins = spins >> (extent - 1) >> 1, to.tile++)
          to.tile->spins |= (spins & ising_row_below(extent)) << to.bit;
      }
    }
}

GPUMC_INLINE void store_tiles(const struct ising_cluster_work *work, const struct tiling *tiling,
                              const uint32_t dimension, uint8_t *coloured)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const uint32_t extent = ising_wolff_extent(dimension);
  for (uint32_t z = 0; z < tiling->length[2]; z++)
    for (uint32_t y = 0; y < tiling->length[1]; y++) {
      const size_t line = y + (size_t)tiling->length[1] * z;
      for (size_t x = 0; x * ISING_ROW_WORD < tiling->length[0]; x++) {
        const struct row from = row_of(work, tiling, dimension, y, z, x);
        const size_t left = tiling->length[0] - x * ISING_ROW_WORD;
        uint64_t spins = 0;
        for (uint32_t i = 0; i < ISING_ROW_WORD && i < left; i += extent)
          spins |= (from.tile[i / extent].spins >> from.bit & ising_row_below(extent)) << i;
        ising_row_store(lattice, coloured, line, (y + z) & 1, x, spins);
      }
    }
}

static void load(const struct ising_cluster_work *work, const uint8_t *coloured)
{
  const struct tiling tiling = tiling_of(&work->graph.shape->checkerboard);
  memset(work->words, 0, tiles_of(&tiling) * sizeof *work->words);
  if (tiling.dimension == 3)
    load_tiles(work, &tiling, 3, coloured);
  else
    load_tiles(work, &tiling, 2, coloured);
}

static void store(const struct ising_cluster_work *work, uint8_t *coloured)
{
  const struct tiling tiling = tiling_of(&work->graph.shape->checkerboard);
  if (tiling.dimension == 3)
    store_tiles(work, &tiling, 3, coloured);
  else
    store_tiles(work, &tiling, 2, coloured);
}

extern const struct ising_wolff_ops GPUMC_ISA_NAME(ising_wolff);
const struct ising_wolff_ops GPUMC_ISA_NAME(ising_wolff) = {
    .load = load,
    .store = store,
    .sweep = sweep,
};
