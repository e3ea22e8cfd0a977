/* Cluster moves of one replica of O(n) spins on the CPU, in one precision: included by
 * cluster_double_isa.c and cluster_float_isa.c, which set HEISENBERG_PRECISION.
 *
 * Spins stay in the order of colours; their components along r are in the order of sites, where
 * bonds become bits (clusters_labels.h) in loops over parts of rows, without branches, which the
 * compiler vectorises. */
#include "models/heisenberg/cluster/cluster.h"
#include "models/lattice/clusters/clusters_labels.h"
#include "models/lattice/clusters/clusters_sides.h"

#define REAL HEISENBERG_PRECISION
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define PLANE struct HEISENBERG_NAME(heisenberg_plane)
#define OPS HEISENBERG_NAME(heisenberg_cluster)

enum {
  CHUNK = LATTICE_CLUSTER_CHUNK,
  BLOCK = HEISENBERG_CLUSTER_BLOCK,
  AXES = LATTICE_DIMENSIONS_MAXIMUM,
  ODD = 1, /* a mark: the site's colour; */
  IN_CLUSTER = 2
};

/* The plane of cluster c, 0 for all of a sweep. */
static PLANE plane_of(const struct heisenberg_cluster_work *work, uint32_t c)
{
  const struct lattice_cluster_graph *graph = &work->graph;
  const double coupling = work->beta * work->coupling, field = work->beta * work->field;
  return work->components == 3
             ? HEISENBERG_NAME(heisenberg_plane_of)(3, graph->random, graph->replica, graph->time,
                                                    c, coupling, field)
             : HEISENBERG_NAME(heisenberg_plane_of)(2, graph->random, graph->replica, graph->time,
                                                    c, coupling, field);
}

static struct lattice_cluster_piece
piece_from(const struct heisenberg_cluster_work *work, size_t at, size_t end)
{
  return lattice_cluster_piece_of(work->graph.shape, at, end);
}

/* ---- spins ---- */

#include "models/heisenberg/heisenberg_spins.h"

/* Returns every other site of a part of a row, the even ones or the odd ones. */
static struct spins half_of(const struct heisenberg_cluster_work *work,
                            const struct lattice_cluster_piece *piece, size_t odd)
{
  const struct lattice_cluster_shape *shape = work->graph.shape;
  const size_t line = piece->begin / shape->checkerboard.length_x;
  REAL *x = (REAL *)work->spins + lattice_cluster_row(&shape->checkerboard, line, odd) +
            (piece->at - piece->begin) / 2;
  return (struct spins){x, x + shape->sites, x + 2 * shape->sites};
}

GPUMC_INLINE void project_half(const int components, VECTOR axis, const struct spins *half,
                               size_t n, REAL *restrict along)
{
  for (size_t j = 0; j < n; j++)
    along[2 * j] = HEISENBERG_NAME(heisenberg_dot)(components, spin_of(components, half, j), axis);
}

/* Computes the components along the axis of the sites from `at` on. */
static void
project_sites(const struct heisenberg_cluster_work *work, VECTOR axis, size_t at, size_t end)
{
  while (at < end) {
    const struct lattice_cluster_piece piece = piece_from(work, at, end);
    for (size_t odd = 0; odd < 2; odd++) {
      const struct spins half = half_of(work, &piece, odd);
      REAL *along = (REAL *)work->along + at + odd;
      if (work->components == 3)
        project_half(3, axis, &half, piece.n / 2, along);
      else
        project_half(2, axis, &half, piece.n / 2, along);
    }
    at += piece.n;
  }
}

/* Reflects those whose names, label[0], label[2] and so on, are flipped. */
GPUMC_INLINE void mirror_half(const int components, VECTOR axis, const struct spins *half, size_t n,
                              const REAL *restrict along, const uint32_t *restrict label,
                              const uint32_t *restrict flips)
{
#pragma GCC ivdep
  for (size_t j = 0; j < n; j++) {
    const uint32_t name = label[2 * j];
    const bool flipped = (flips[name >> 5] >> (name & 31) & 1) != 0;
    const VECTOR spin = spin_of(components, half, j);
    const VECTOR mirrored =
        HEISENBERG_NAME(heisenberg_mirrored)(components, spin, axis, along[2 * j]);
    const VECTOR next = {flipped ? mirrored.x : spin.x, flipped ? mirrored.y : spin.y,
                         flipped ? mirrored.z : spin.z};
    set_spin(components, half, j, next);
  }
}

static void
mirror_sites(const struct heisenberg_cluster_work *work, VECTOR axis, size_t at, size_t end)
{
  while (at < end) {
    const struct lattice_cluster_piece piece = piece_from(work, at, end);
    for (size_t odd = 0; odd < 2; odd++) {
      const struct spins half = half_of(work, &piece, odd);
      const REAL *along = (const REAL *)work->along + at + odd;
      const uint32_t *label = work->graph.label + at + odd;
      if (work->components == 3)
        mirror_half(3, axis, &half, piece.n / 2, along, label, work->graph.flips);
      else
        mirror_half(2, axis, &half, piece.n / 2, along, label, work->graph.flips);
    }
    at += piece.n;
  }
}

/* ---- bonds ---- */

/* What the bonds of a sweep, or of one of Wolff's clusters, are drawn with. */
struct drawing {
  PLANE plane;
  struct gpumc_philox_stream stream;
  uint32_t label;
  bool paired;
};

static struct drawing
drawing_of(const struct heisenberg_cluster_work *work, uint32_t c, uint32_t label)
{
  const struct lattice_cluster_graph *graph = &work->graph;
  return (struct drawing){
      .plane = plane_of(work, c),
      .stream = gpumc_philox_stream_make(graph->random, graph->replica, graph->time),
      .label = label,
      .paired = heisenberg_cluster_paired(graph->shape->checkerboard.dimension, work->field),
  };
}

/* Copies the components of the sites after those of a part of a row along an axis; along x the one
 * after the row's last site is its first one. */
static void copy_next(const struct heisenberg_cluster_work *work,
                      const struct lattice_cluster_piece *piece, uint32_t axis, REAL *next)
{
  const REAL *along = work->along;
  const size_t n = axis == 0 ? piece->n - piece->ends : piece->n;
  memcpy(next, along + piece->next[axis], n * sizeof *next);
  if (n < piece->n)
    next[n] = along[piece->begin];
}

/* Computes 2 beta J_ij of the bonds of a part of a row along an axis. */
static void copy_strengths(const struct heisenberg_cluster_work *work,
                           const struct lattice_cluster_piece *piece, uint32_t axis, REAL bond,
                           REAL *restrict strength)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const size_t line = piece->begin / lattice->length_x, x = (piece->at - piece->begin) / 2;
  for (size_t odd = 0; odd < 2; odd++) {
    const size_t row = lattice_cluster_row(lattice, line, odd);
    const size_t colour = row >= lattice->colour, k = row - colour * lattice->colour + x;
    const enum heisenberg_neighbour neighbour = heisenberg_towards(odd == 0, axis, true);
    const REAL *coupling = (const REAL *)work->couplings +
                           (colour * 2 * lattice->dimension + neighbour) * lattice->colour + k;
    for (size_t j = 0; j < piece->n / 2; j++)
      strength[2 * j + odd] = bond * coupling[j];
  }
}

/* Sets `bit` of the bonds that are active, with exponents (2 beta J a) b. `each`, a constant: each
 * bond has a strength of its own. */
GPUMC_INLINE void bind_axis(const bool each, REAL bond, const REAL *restrict strength, size_t n,
                            const REAL *restrict a, const REAL *restrict b,
                            const uint32_t *restrict number, uint32_t bit, uint8_t *restrict bonds)
{
  for (size_t i = 0; i < n; i++) {
    const REAL x = (each ? strength[i] : bond) * a[i] * b[i];
    const bool active = HEISENBERG_NAME(heisenberg_is_active)(x, number[i]);
    bonds[i] = (uint8_t)(bonds[i] | (active ? bit : 0));
  }
}

GPUMC_INLINE void bind_ghost(size_t n, REAL ghost, const REAL *restrict a,
                             const uint32_t *restrict number, uint8_t *restrict bonds)
{
  for (size_t i = 0; i < n; i++) {
    const bool active = HEISENBERG_NAME(heisenberg_is_active)(ghost * a[i], number[i]);
    bonds[i] = (uint8_t)(bonds[i] | (active ? 1u << LATTICE_CLUSTER_GHOST : 0));
  }
}

/* Draws the bonds of n sites, at most CHUNK and even, from `first` on, which is even. */
static void bind_sites(const struct heisenberg_cluster_work *work, const struct drawing *drawing,
                       size_t first, size_t n)
{
  uint32_t number[LATTICE_CLUSTER_WORDS][LATTICE_CLUSTER_CHUNK] __attribute__((aligned(64)));
  REAL next[CHUNK] __attribute__((aligned(64))), strength[CHUNK] __attribute__((aligned(64)));
  const REAL *a = (const REAL *)work->along + first, bond = drawing->plane.bond;
  uint8_t *bonds = work->graph.bonds + first;
  lattice_cluster_numbers(&work->graph, &drawing->stream, drawing->label, drawing->paired, first, n,
                          number);
  memset(bonds, 0, n);
  for (uint32_t d = 0; d < work->graph.shape->checkerboard.dimension; d++) {
    for (size_t at = first; at < first + n;) {
      const struct lattice_cluster_piece piece = piece_from(work, at, first + n);
      copy_next(work, &piece, d, next + (at - first));
      if (work->couplings != NULL)
        copy_strengths(work, &piece, d, bond, strength + (at - first));
      at += piece.n;
    }
    if (work->couplings != NULL)
      bind_axis(true, bond, strength, n, a, next, number[d], 1u << d, bonds);
    else
      bind_axis(false, bond, NULL, n, a, next, number[d], 1u << d, bonds);
  }
  if (work->field != 0.0)
    bind_ghost(n, drawing->plane.ghost, a, number[LATTICE_CLUSTER_GHOST], bonds);
}

/* ---- Swendsen-Wang ---- */

static void project(const struct heisenberg_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->graph.shape->layer;
  project_sites(work, plane_of(work, 0).axis, first * layer, end * layer);
}

static void bind(const struct heisenberg_cluster_work *work, size_t first, size_t end)
{
  const struct lattice_cluster_graph *graph = &work->graph;
  const size_t length = graph->shape->checkerboard.length_x, layer = graph->shape->layer;
  const struct drawing drawing = drawing_of(work, 0, lattice_cluster_label(LATTICE_CLUSTER_BONDS));
  size_t line = first * layer / length;
  if (work->measures)
    lattice_cluster_free_names(graph, first, end);
  else
    lattice_cluster_draw_flips(graph, first, end);
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    bind_sites(work, &drawing, at, n);
    for (; (line + 1) * length <= at + n; line++)
      lattice_cluster_label_line(graph, first, line);
  }
}

static void join(const struct heisenberg_cluster_work *work, size_t end)
{
  lattice_cluster_join(&work->graph, end);
}

static void name(const struct heisenberg_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->graph.shape->layer;
  const VECTOR axis = plane_of(work, 0).axis;
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    lattice_cluster_find_names(work->graph.label, first * layer, at, n);
    if (work->field != 0.0)
      lattice_cluster_hold(&work->graph, at, n);
    else if (!work->measures)
      mirror_sites(work, axis, at, at + n);
  }
}

static void flip(const struct heisenberg_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->graph.shape->layer;
  if (work->field != 0.0)
    mirror_sites(work, plane_of(work, 0).axis, first * layer, end * layer);
}

/* ---- measurements ---- */

/* Returns what a site of a row adds to sum number w. */
static int64_t value_of(const struct lattice_cluster_squares *squares, size_t w, int32_t quanta,
                        size_t x, int32_t factor)
{
  const uint32_t k = squares->kind[w];
  if (k == LATTICE_CLUSTER_SPINS)
    return quanta;
  const bool along_x = lattice_cluster_axis_of(k) == 0;
  return heisenberg_cluster_term(quanta,
                                 along_x ? lattice_cluster_table_of(squares->scale, k)[x] : factor);
}

static void
sum(const void *of, const struct lattice_cluster_squares *squares, size_t first, size_t end)
{
  const struct heisenberg_cluster_work *work = of;
  const size_t length = work->graph.shape->checkerboard.length_x, layer = work->graph.shape->layer;
  int32_t factor[LATTICE_CLUSTER_SUMS];
  for (size_t at = first * layer; at < end * layer; at += length) {
    const REAL *along = (const REAL *)work->along + at;
    const uint32_t *label = work->graph.label + at;
    lattice_cluster_squares_factors(squares, at / length, factor);
    for (size_t x = 0; x < length;) {
      const uint32_t name = label[x];
      int64_t value[LATTICE_CLUSTER_SUMS] = {0};
      for (; x < length && label[x] == name; x++) {
        const int32_t quanta = HEISENBERG_NAME(heisenberg_quanta)(along[x]);
        for (size_t w = 0; w < squares->width; w++)
          value[w] += value_of(squares, w, quanta, x, factor[w]);
      }
      lattice_cluster_squares_count(squares, name, value);
    }
  }
}

#include "models/heisenberg/cluster/cluster_wolff_loops.h"

extern const struct heisenberg_cluster_ops GPUMC_ISA_NAME(OPS);
const struct heisenberg_cluster_ops GPUMC_ISA_NAME(OPS) = {
    .project = project,
    .bind = bind,
    .join = join,
    .name = name,
    .flip = flip,
    .sum = sum,
    .wolff = wolff,
};
