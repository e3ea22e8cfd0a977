/* Clusters of one replica on the CPU by union and find: for sources that are compiled once for each
 * instruction-set level.
 *
 * A label points to a site of the same cluster that is not larger; a site that points to itself is
 * a root, and the root of a cluster is its smallest site, its name. Threads first label the layers
 * of their own, then join them to the next ones: a root is only ever changed by one
 * compare-and-swap, so that any order gives the same names. */
#ifndef GPUMC_LATTICE_CLUSTERS_LABELS_H
#define GPUMC_LATTICE_CLUSTERS_LABELS_H

#include <string.h>

#include "core/numerics/simd_philox.h"
#include "models/lattice/clusters/clusters_graph.h"

/* Words of a counter, and sites at most whose numbers are drawn together, an even number. */
enum { LATTICE_CLUSTER_WORDS = 4, LATTICE_CLUSTER_CHUNK = 2048 };

/* ---- rows ---- */

/* A part of a row, as neighbours need it: where the rows after it begin. */
struct lattice_cluster_piece {
  size_t at, n;                            /* sites at .. at + n - 1 */
  bool ends;                               /* with the last one of the row, */
  size_t begin;                            /* whose next one along x is this */
  size_t next[LATTICE_DIMENSIONS_MAXIMUM]; /* the site after `at` along y and z; along x it is at +
                                              1 */
};

static inline struct lattice_cluster_piece
lattice_cluster_piece_of(const struct lattice_cluster_shape *shape, size_t at, size_t end)
{
  const struct gpumc_checkerboard *lattice = &shape->checkerboard;
  const size_t length = lattice->length_x, plane = length * lattice->length_y;
  const size_t line = at / length, y = line % lattice->length_y, z = line / lattice->length_y;
  struct lattice_cluster_piece piece = {.at = at, .begin = line * length};
  piece.n = (piece.begin + length < end ? piece.begin + length : end) - at;
  piece.ends = at + piece.n == piece.begin + length;
  piece.next[0] = at + 1;
  piece.next[1] = y + 1 < lattice->length_y ? at + length : at + length - plane;
  piece.next[2] = z + 1 < lattice->length_z ? at + plane : at + plane - shape->sites;
  return piece;
}

/* ---- numbers of bonds ---- */

/* Writes the numbers of even and of odd sites. */
GPUMC_INLINE void lattice_cluster_put_pairs(gpumc_v32 even, gpumc_v32 odd, uint32_t *number)
{
  uint32_t part[2][GPUMC_VECTOR_WORDS];
  gpumc_store(part[0], even);
  gpumc_store(part[1], odd);
  for (size_t v = 0; v < GPUMC_VECTOR_WORDS; v++) {
    number[2 * v] = part[0][v];
    number[2 * v + 1] = part[1][v];
  }
}

/* number[w][i]: word w of site first + i; of a pair's counter, words 2 and 3 are those of the odd
 * site. first and n, at most LATTICE_CLUSTER_CHUNK, are even; whole vectors are written. */
static inline void
lattice_cluster_numbers(const struct lattice_cluster_graph *graph,
                        const struct gpumc_philox_stream *stream, uint32_t label, bool paired,
                        size_t first, size_t n,
                        uint32_t number[LATTICE_CLUSTER_WORDS][LATTICE_CLUSTER_CHUNK])
{
  const size_t counters = paired ? n / 2 : n;
  for (size_t c = 0; c < counters; c += GPUMC_VECTOR_WORDS) {
    const gpumc_v32 site =
        gpumc_lane_numbers() + (lattice_cluster_counter(paired, (uint32_t)first) + (uint32_t)c);
    gpumc_v32 word[LATTICE_CLUSTER_WORDS];
    if (graph->random.rounds == 7)
      gpumc_philox_draw(stream, 7, site, label, word);
    else
      gpumc_philox_draw(stream, 10, site, label, word);
    if (paired) {
      lattice_cluster_put_pairs(word[0], word[2], number[0] + 2 * c);
      lattice_cluster_put_pairs(word[1], word[3], number[1] + 2 * c);
    } else {
      for (size_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
        gpumc_store(number[w] + c, word[w]);
    }
  }
}

/* ---- labels ---- */

/* Within the layers of one thread. Takes two steps without a test, which nearly always reach the
 * root: a fixed number can be predicted, the real one cannot. */
static inline uint32_t lattice_cluster_root(const uint32_t *label, uint32_t site)
{
  uint32_t root = label[label[site]];
  while (label[root] != root)
    root = label[root];
  return root;
}

/* Unites two clusters without a branch on which root is smaller, or whether they differ; returns
 * the smaller root. */
static inline uint32_t lattice_cluster_unite(uint32_t *label, uint32_t one, uint32_t other)
{
  const uint32_t of_one = lattice_cluster_root(label, one),
                 of_other = lattice_cluster_root(label, other);
  const uint32_t least = of_one < of_other ? of_one : of_other;
  label[one] = label[other] = label[of_one ^ of_other ^ least] = least;
  return least;
}

/* Returns `one` if `first` is 1, `other` if it is 0, without a branch. */
GPUMC_INLINE uint32_t lattice_cluster_choose(uint32_t first, uint32_t one, uint32_t other)
{
  return other ^ ((one ^ other) & (0 - first));
}

/* Labels a row by its bonds, and by those of the rows before it along y and z, if these are the
 * thread's own; constants. Bonds are as good as random: only a union is worth a branch. */
GPUMC_INLINE void lattice_cluster_label_row(const struct lattice_cluster_graph *graph, size_t at,
                                            const bool after_y, const bool after_z)
{
  const size_t length = graph->shape->checkerboard.length_x, plane = graph->shape->layer;
  const uint8_t *bonds = graph->bonds + at;
  uint32_t *labels = graph->label, *label = labels + at;
  uint32_t run = 0, joined = 0;
  for (size_t x = 0; x < length; x++) {
    const uint32_t site = (uint32_t)(at + x);
    uint32_t above = after_y ? lattice_cluster_choose(bonds[x - length] >> 1 & 1,
                                                      labels[label[x - length]], site)
                             : site;
    if (after_z) {
      const uint32_t z = bonds[x - plane] >> 2 & 1, below = labels[label[x - plane]];
      if (z & (above != site) & (above != below))
        above = lattice_cluster_unite(labels, above, below);
      else
        above = lattice_cluster_choose(z, below, above);
    }
    if (joined & (above != site) & (above != run))
      run = lattice_cluster_unite(labels, above, run);
    else
      run = lattice_cluster_choose(joined, run, above);
    label[x] = run;
    joined = bonds[x] & 1;
  }
  if (joined)
    lattice_cluster_unite(labels, (uint32_t)at, (uint32_t)(at + length - 1));
}

/* Joins the clusters of the rows `at` and `next` by the bonds of the first. */
static inline void lattice_cluster_join_rows(const struct lattice_cluster_graph *graph, size_t at,
                                             size_t next, uint32_t bit)
{
  for (size_t x = 0; x < graph->shape->checkerboard.length_x; x++)
    if ((graph->bonds[at + x] & bit) != 0)
      lattice_cluster_unite(graph->label, (uint32_t)(at + x), (uint32_t)(next + x));
}

/* Labels the row with number `line`, in layers from `first` on, after those before it. */
static inline void
lattice_cluster_label_line(const struct lattice_cluster_graph *graph, size_t first, size_t line)
{
  const struct gpumc_checkerboard *lattice = &graph->shape->checkerboard;
  const size_t length = lattice->length_x, at = line * length;
  if (lattice->dimension <= 2) {
    if (line > first)
      lattice_cluster_label_row(graph, at, true, false);
    else
      lattice_cluster_label_row(graph, at, false, false);
    return;
  }
  const size_t y = line % lattice->length_y, z = line / lattice->length_y;
  if (z > first && y > 0)
    lattice_cluster_label_row(graph, at, true, true);
  else if (z > first)
    lattice_cluster_label_row(graph, at, false, true);
  else if (y > 0)
    lattice_cluster_label_row(graph, at, true, false);
  else
    lattice_cluster_label_row(graph, at, false, false);
  if (y + 1 == lattice->length_y)
    lattice_cluster_join_rows(graph, at, at + length - graph->shape->layer, 2);
}

/* ---- names ---- */

/* While other threads change labels. */
static inline uint32_t lattice_cluster_label_now(const uint32_t *label, uint32_t site)
{
  return __atomic_load_n(&label[site], __ATOMIC_RELAXED);
}

static inline uint32_t lattice_cluster_root_now(const uint32_t *label, uint32_t site)
{
  for (uint32_t next; (next = lattice_cluster_label_now(label, site)) != site;)
    site = next;
  return site;
}

/* The larger root is made to point to the smaller one, if it still is a root. */
static inline void lattice_cluster_unite_now(uint32_t *label, uint32_t one, uint32_t other)
{
  while ((one = lattice_cluster_root_now(label, one)) !=
         (other = lattice_cluster_root_now(label, other))) {
    uint32_t larger = one > other ? one : other;
    const uint32_t least = one > other ? other : one;
    if (__atomic_compare_exchange_n(&label[larger], &(uint32_t){larger}, least, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return;
  }
}

/* After all threads have labelled their layers: joins clusters by the bonds from layer end - 1 to
 * the next one. */
static inline void lattice_cluster_join(const struct lattice_cluster_graph *graph, size_t end)
{
  const struct lattice_cluster_shape *shape = graph->shape;
  const size_t layer = shape->layer, at = (end - 1) * layer;
  const size_t next = end < shape->layers ? at + layer : 0;
  const uint32_t bit = shape->checkerboard.dimension == 3 ? 4 : 2;
  for (size_t i = 0; i < layer; i++)
    if ((graph->bonds[at + i] & bit) != 0)
      lattice_cluster_unite_now(graph->label, (uint32_t)(at + i), (uint32_t)(next + i));
}

/* Finds the names of sites at .. at + n - 1, in layers whose first site is `first`: those that
 * point to one before them in the thread's own layers find a name there. */
static inline void lattice_cluster_find_names(uint32_t *label, size_t first, size_t at, size_t n)
{
  for (size_t i = at; i < at + n; i++) {
    const uint32_t to = label[i];
    const uint32_t name = to >= first ? label[to] : lattice_cluster_root_now(label, to);
    __atomic_store_n(&label[i], name, __ATOMIC_RELAXED);
  }
}

/* ---- flips ---- */

/* Returns the first counter of those of the names in layers from `layers` on. */
static inline size_t
lattice_cluster_flips_from(const struct lattice_cluster_graph *graph, size_t layers)
{
  return (layers * graph->shape->layer + LATTICE_CLUSTER_NAMES - 1) / LATTICE_CLUSTER_NAMES;
}

/* Draws those of the names in layers first .. end - 1. */
static inline void
lattice_cluster_draw_flips(const struct lattice_cluster_graph *graph, size_t first, size_t end)
{
  const struct gpumc_philox_stream stream =
      gpumc_philox_stream_make(graph->random, graph->replica, graph->time);
  const uint32_t label = lattice_cluster_label(LATTICE_CLUSTER_FLIPS);
  const size_t from = lattice_cluster_flips_from(graph, first),
               to = lattice_cluster_flips_from(graph, end);
  for (size_t c = from; c < to; c += GPUMC_VECTOR_WORDS) {
    gpumc_v32 word[LATTICE_CLUSTER_WORDS];
    const gpumc_v32 site = gpumc_lane_numbers() + (uint32_t)c;
    if (graph->random.rounds == 7)
      gpumc_philox_draw(&stream, 7, site, label, word);
    else
      gpumc_philox_draw(&stream, 10, site, label, word);
    for (size_t v = 0; v < GPUMC_VECTOR_WORDS && c + v < to; v++)
      for (size_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
        graph->flips[LATTICE_CLUSTER_WORDS * (c + v) + w] = word[w][v];
  }
}

/* Sets them instead, so that those of clusters that are not held are left. */
static inline void
lattice_cluster_free_names(const struct lattice_cluster_graph *graph, size_t first, size_t end)
{
  const size_t from = lattice_cluster_flips_from(graph, first),
               to = lattice_cluster_flips_from(graph, end);
  memset(graph->flips + LATTICE_CLUSTER_WORDS * from, UINT8_MAX,
         (to - from) * (LATTICE_CLUSTER_NAMES / 8));
}

/* Takes the flips of clusters that are joined to the ghost back. */
static inline void
lattice_cluster_hold(const struct lattice_cluster_graph *graph, size_t at, size_t n)
{
  for (size_t i = at; i < at + n; i++)
    if ((graph->bonds[i] & 1 << LATTICE_CLUSTER_GHOST) != 0)
      __atomic_fetch_and(&graph->flips[graph->label[i] >> 5], ~(1u << (graph->label[i] & 31)),
                         __ATOMIC_RELAXED);
}

#endif
