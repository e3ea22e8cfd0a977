/* Cluster moves of one replica on the CPU: bonds in vectors, clusters by union and find.
 *
 * A label points to a site of the same cluster that is not larger; a site that points to itself is
 * a root, and the root of a cluster is its smallest site, its name. Threads first label the layers
 * of their own, then join them to the next ones: a root is only ever changed by one
 * compare-and-swap, so that any order gives the same names. */
#include "models/ising/cluster/cluster_bonds.h"

enum {
  CHUNK = ISING_BONDS_CHUNK,
  WORDS = 4,
  AXES = LATTICE_DIMENSIONS_MAXIMUM,
  GHOST_BIT = 1 << ISING_CLUSTER_GHOST
};

/* ---- spins by site ---- */

/* Returns the spins by colour of the row with that number: its even sites, or the odd ones. */
static size_t coloured_row(const struct gpumc_checkerboard *lattice, size_t line, size_t odd)
{
  const size_t y = line % lattice->length_y, z = line / lattice->length_y;
  return ((y + z + odd) & 1) * lattice->colour + line * lattice->row;
}

static size_t lines_of(const struct ising_cluster_lattice *lattice, size_t layers)
{
  return layers * lattice->layer / lattice->checkerboard.length_x;
}

static void
load(const struct ising_cluster_work *work, const uint8_t *coloured, size_t first, size_t end)
{
  const struct gpumc_checkerboard *lattice = &work->lattice->checkerboard;
  const size_t last = lines_of(work->lattice, end);
  for (size_t line = lines_of(work->lattice, first); line < last; line++) {
    const uint8_t *restrict even = coloured + coloured_row(lattice, line, 0);
    const uint8_t *restrict odd = coloured + coloured_row(lattice, line, 1);
    uint8_t *restrict spins = work->spins + line * lattice->length_x;
    for (size_t x = 0; x < lattice->row; x++) {
      spins[2 * x] = even[x];
      spins[2 * x + 1] = odd[x];
    }
  }
}

static void
store(const struct ising_cluster_work *work, uint8_t *coloured, size_t first, size_t end)
{
  const struct gpumc_checkerboard *lattice = &work->lattice->checkerboard;
  const size_t last = lines_of(work->lattice, end);
  for (size_t line = lines_of(work->lattice, first); line < last; line++) {
    uint8_t *restrict even = coloured + coloured_row(lattice, line, 0);
    uint8_t *restrict odd = coloured + coloured_row(lattice, line, 1);
    const uint8_t *restrict spins = work->spins + line * lattice->length_x;
    for (size_t x = 0; x < lattice->row; x++) {
      even[x] = spins[2 * x];
      odd[x] = spins[2 * x + 1];
    }
  }
}

/* ---- bonds ---- */

/* A part of a row, as neighbours need it: where the rows after it begin. */
struct piece {
  size_t at, n;      /* sites at .. at + n - 1 */
  bool ends;         /* with the last one of the row, */
  size_t begin;      /* whose next one along x is this */
  size_t next[AXES]; /* the site after `at` along y and z; along x it is at + 1 */
};

static struct piece piece_of(const struct ising_cluster_lattice *lattice, size_t at, size_t end)
{
  const struct gpumc_checkerboard *shape = &lattice->checkerboard;
  const size_t length = shape->length_x, plane = length * shape->length_y;
  const size_t line = at / length, y = line % shape->length_y, z = line / shape->length_y;
  struct piece piece = {.at = at, .begin = line * length};
  piece.n = (piece.begin + length < end ? piece.begin + length : end) - at;
  piece.ends = at + piece.n == piece.begin + length;
  piece.next[0] = at + 1;
  piece.next[1] = y + 1 < shape->length_y ? at + length : at + length - plane;
  piece.next[2] = z + 1 < shape->length_z ? at + plane : at + plane - lattice->sites;
  return piece;
}

/* Makes bonds of those that the spins satisfy. `cubic`: a constant. */
GPUMC_INLINE void bind_piece(const struct ising_cluster_work *work, const bool cubic,
                             const struct piece *piece, const uint8_t *restrict bits)
{
  const uint8_t *restrict spins = work->spins;
  const uint8_t *here = spins + piece->at, *y = spins + piece->next[1], *z = spins + piece->next[2];
  uint8_t *restrict bonds = work->bonds + piece->at;
  for (size_t i = 0; i < piece->n; i++) {
    const uint8_t spin = here[i], sign = bits[i] >> ISING_BONDS_SIGNS;
    uint8_t unlike =
        (uint8_t)((spin ^ here[i + 1]) | (spin ^ y[i]) << 1 | spin << ISING_CLUSTER_GHOST);
    if (cubic)
      unlike = (uint8_t)(unlike | (spin ^ z[i]) << 2);
    bonds[i] = bits[i] & (unlike ^ sign);
  }
  if (piece->ends) {
    const size_t i = piece->n - 1;
    const uint32_t unlike = here[i] ^ spins[piece->begin];
    const uint32_t satisfied = bits[i] & (unlike ^ bits[i] >> ISING_BONDS_SIGNS) & 1;
    bonds[i] = (uint8_t)((bonds[i] & ~1u) | satisfied);
  }
}

/* Draws the bonds of the sites from `at` on. */
static void bind_chunk(const struct ising_cluster_work *work, const struct ising_bonds *drawn,
                       size_t first, size_t n)
{
  uint8_t bits[ISING_BONDS_CHUNK + ISING_BONDS_BEYOND] __attribute__((aligned(64)));
  ising_bonds_draw(work, drawn, first, n, bits);
  for (size_t at = first; at < first + n;) {
    const struct piece piece = piece_of(work->lattice, at, first + n);
    if (work->lattice->checkerboard.dimension == 3)
      bind_piece(work, true, &piece, bits + (at - first));
    else
      bind_piece(work, false, &piece, bits + (at - first));
    at += piece.n;
  }
}

/* ---- labels ---- */

/* Within the layers of one thread. */
static inline uint32_t root_of(uint32_t *label, uint32_t site)
{
  while (label[site] != site) {
    label[site] = label[label[site]];
    site = label[site];
  }
  return site;
}

static inline uint32_t unite(uint32_t *label, uint32_t one, uint32_t other)
{
  one = root_of(label, one);
  other = root_of(label, other);
  const uint32_t least = one < other ? one : other;
  label[one < other ? other : one] = least;
  return least;
}

/* Returns `one` if `first` is 1, `other` if it is 0, without a branch. */
GPUMC_INLINE uint32_t choose(uint32_t first, uint32_t one, uint32_t other)
{
  return other ^ ((one ^ other) & (0 - first));
}

/* Labels a row by its bonds, and by those of the rows before it along y and z, if these are the
 * thread's own; constants. Bonds are as good as random: only a union is worth a branch. */
GPUMC_INLINE void
label_row(const struct ising_cluster_work *work, size_t at, const bool after_y, const bool after_z)
{
  const size_t length = work->lattice->checkerboard.length_x, plane = work->lattice->layer;
  const uint8_t *bonds = work->bonds + at;
  uint32_t *labels = work->label, *label = labels + at;
  uint32_t run = 0, joined = 0;
  for (size_t x = 0; x < length; x++) {
    const uint32_t site = (uint32_t)(at + x);
    uint32_t above =
        after_y ? choose(bonds[x - length] >> 1 & 1, labels[label[x - length]], site) : site;
    if (after_z) {
      const uint32_t z = bonds[x - plane] >> 2 & 1, below = labels[label[x - plane]];
      if (z & (above != site) & (above != below))
        above = unite(labels, above, below);
      else
        above = choose(z, below, above);
    }
    if (joined & (above != site) & (above != run))
      run = unite(labels, above, run);
    else
      run = choose(joined, run, above);
    label[x] = run;
    joined = bonds[x] & 1;
  }
  if (joined)
    unite(labels, (uint32_t)at, (uint32_t)(at + length - 1));
}

/* Joins the clusters of the rows `at` and `next` by the bonds of the first. */
static void join_rows(const struct ising_cluster_work *work, size_t at, size_t next, uint32_t bit)
{
  for (size_t x = 0; x < work->lattice->checkerboard.length_x; x++)
    if ((work->bonds[at + x] & bit) != 0)
      unite(work->label, (uint32_t)(at + x), (uint32_t)(next + x));
}

/* The row with number `line`, in layers from `first` on. */
static void label_line(const struct ising_cluster_work *work, size_t first, size_t line)
{
  const struct gpumc_checkerboard *lattice = &work->lattice->checkerboard;
  const size_t length = lattice->length_x, at = line * length;
  if (lattice->dimension == 2) {
    if (line > first)
      label_row(work, at, true, false);
    else
      label_row(work, at, false, false);
    return;
  }
  const size_t y = line % lattice->length_y, z = line / lattice->length_y;
  if (z > first && y > 0)
    label_row(work, at, true, true);
  else if (z > first)
    label_row(work, at, false, true);
  else if (y > 0)
    label_row(work, at, true, false);
  else
    label_row(work, at, false, false);
  if (y + 1 == lattice->length_y)
    join_rows(work, at, at + length - work->lattice->layer, 2);
}

/* ---- flips ---- */

/* Draws those of the names in layers first .. end - 1. */
static void draw_flips(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->lattice->layer;
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(work->random, work->replica, work->time);
  const uint32_t label = ising_cluster_label(ISING_CLUSTER_FLIPS);
  const size_t names = ISING_CLUSTER_NAMES;
  const size_t from = (first * layer + names - 1) / names, to = (end * layer + names - 1) / names;
  for (size_t c = from; c < to; c += GPUMC_VECTOR_WORDS) {
    gpumc_v32 word[WORDS];
    const gpumc_v32 site = gpumc_lane_numbers() + (uint32_t)c;
    if (work->random.rounds == 7)
      gpumc_philox_draw(&stream, 7, site, label, word);
    else
      gpumc_philox_draw(&stream, 10, site, label, word);
    for (size_t v = 0; v < GPUMC_VECTOR_WORDS && c + v < to; v++)
      for (size_t w = 0; w < WORDS; w++)
        work->flips[WORDS * (c + v) + w] = word[w][v];
  }
}

static void bind(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t length = work->lattice->checkerboard.length_x, layer = work->lattice->layer;
  const struct ising_bonds drawn = ising_bonds_of(work, ising_cluster_label(ISING_CLUSTER_BONDS));
  size_t line = first * layer / length;
  draw_flips(work, first, end);
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    bind_chunk(work, &drawn, at, n);
    for (; (line + 1) * length <= at + n; line++)
      label_line(work, first, line);
  }
}

/* ---- names ---- */

/* While other threads change labels. */
static inline uint32_t label_now(const uint32_t *label, uint32_t site)
{
  return __atomic_load_n(&label[site], __ATOMIC_RELAXED);
}

static inline uint32_t root_now(const uint32_t *label, uint32_t site)
{
  for (uint32_t next; (next = label_now(label, site)) != site;)
    site = next;
  return site;
}

/* The larger root is made to point to the smaller one, if it still is a root. */
static void unite_now(uint32_t *label, uint32_t one, uint32_t other)
{
  while ((one = root_now(label, one)) != (other = root_now(label, other))) {
    uint32_t larger = one > other ? one : other;
    const uint32_t least = one > other ? other : one;
    if (__atomic_compare_exchange_n(&label[larger], &(uint32_t){larger}, least, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

static void join(const struct ising_cluster_work *work, size_t end)
{
  const struct ising_cluster_lattice *lattice = work->lattice;
  const size_t layer = lattice->layer, at = (end - 1) * layer;
  const size_t next = end < lattice->layers ? at + layer : 0;
  const uint32_t bit = lattice->checkerboard.dimension == 3 ? 4 : 2;
  for (size_t i = 0; i < layer; i++)
    if ((work->bonds[at + i] & bit) != 0)
      unite_now(work->label, (uint32_t)(at + i), (uint32_t)(next + i));
}

/* Sites that point to one before them in the thread's own layers find a name there. */
static void find_names(uint32_t *label, size_t first, size_t at, size_t n)
{
  for (size_t i = at; i < at + n; i++) {
    const uint32_t to = label[i];
    const uint32_t name = to >= first ? label[to] : root_now(label, to);
    __atomic_store_n(&label[i], name, __ATOMIC_RELAXED);
  }
}

static void flip_sites(const struct ising_cluster_work *work, size_t at, size_t n)
{
  const uint32_t *restrict label = work->label + at, *restrict flips = work->flips;
  uint8_t *restrict spins = work->spins + at;
  for (size_t i = 0; i < n; i++)
    spins[i] = (uint8_t)(spins[i] ^ (flips[label[i] >> 5] >> (label[i] & 31) & 1));
}

/* Takes the flips of clusters that are joined to the ghost back. */
static void hold(const struct ising_cluster_work *work, size_t at, size_t n)
{
  for (size_t i = at; i < at + n; i++)
    if ((work->bonds[i] & GHOST_BIT) != 0)
      __atomic_fetch_and(&work->flips[work->label[i] >> 5], ~(1u << (work->label[i] & 31)),
                         __ATOMIC_RELAXED);
}

static void name(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->lattice->layer;
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    find_names(work->label, first * layer, at, n);
    if (work->rule.has_field)
      hold(work, at, n);
    else
      flip_sites(work, at, n);
  }
}

static void flip(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->lattice->layer;
  if (work->rule.has_field)
    flip_sites(work, first * layer, (end - first) * layer);
}

/* In cluster_wolff_isa.c. */
uint64_t
    GPUMC_ISA_NAME(ising_cluster_wolff)(const struct ising_cluster_work *work, uint32_t clusters);

extern const struct ising_cluster_ops GPUMC_ISA_NAME(ising_cluster);
const struct ising_cluster_ops GPUMC_ISA_NAME(ising_cluster) = {
    .load = load,
    .store = store,
    .bind = bind,
    .join = join,
    .name = name,
    .flip = flip,
    .wolff = GPUMC_ISA_NAME(ising_cluster_wolff),
};
