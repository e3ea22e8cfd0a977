/* The clusters of one replica on the CPU for measurements, where each site needs its name: bonds in
 * vectors, clusters by union and find (clusters_labels.h). Sweeps need them by runs only
 * (cluster_runs_isa.c). */
#include "models/ising/cluster/cluster_bonds.h"

enum { CHUNK = LATTICE_CLUSTER_CHUNK };

/* ---- spins by site ---- */

static void
load(const struct ising_cluster_work *work, const uint8_t *coloured, size_t first, size_t end)
{
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  const size_t last = lattice_cluster_lines(work->graph.shape, end);
  for (size_t line = lattice_cluster_lines(work->graph.shape, first); line < last; line++) {
    const uint8_t *restrict even = coloured + lattice_cluster_row(lattice, line, 0);
    const uint8_t *restrict odd = coloured + lattice_cluster_row(lattice, line, 1);
    uint8_t *restrict spins = work->spins + line * lattice->length_x;
    for (size_t x = 0; x < lattice->row; x++) {
      spins[2 * x] = even[x];
      spins[2 * x + 1] = odd[x];
    }
  }
}

/* ---- bonds ---- */

/* Makes bonds of those that the spins satisfy. `cubic`: a constant. */
GPUMC_INLINE void bind_piece(const struct ising_cluster_work *work, const bool cubic,
                             const struct lattice_cluster_piece *piece,
                             const uint8_t *restrict bits)
{
  const uint8_t *restrict spins = work->spins;
  const uint8_t *here = spins + piece->at, *y = spins + piece->next[1], *z = spins + piece->next[2];
  uint8_t *restrict bonds = work->graph.bonds + piece->at;
  for (size_t i = 0; i < piece->n; i++) {
    const uint8_t spin = here[i], sign = bits[i] >> ISING_BONDS_SIGNS;
    /* Behind the last site is anything. */
    uint8_t unlike =
        (uint8_t)(((spin ^ here[i + 1]) & 1) | (spin ^ y[i]) << 1 | spin << LATTICE_CLUSTER_GHOST);
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
  uint8_t bits[LATTICE_CLUSTER_CHUNK + ISING_BONDS_BEYOND] __attribute__((aligned(64)));
  ising_bonds_draw(work, drawn, first, n, bits);
  for (size_t at = first; at < first + n;) {
    const struct lattice_cluster_piece piece =
        lattice_cluster_piece_of(work->graph.shape, at, first + n);
    if (work->graph.shape->checkerboard.dimension == 3)
      bind_piece(work, true, &piece, bits + (at - first));
    else
      bind_piece(work, false, &piece, bits + (at - first));
    at += piece.n;
  }
}

static void bind(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t length = work->graph.shape->checkerboard.length_x, layer = work->graph.shape->layer;
  const struct ising_bonds drawn =
      ising_bonds_of(work, lattice_cluster_label(LATTICE_CLUSTER_BONDS));
  size_t line = first * layer / length;
  lattice_cluster_free_names(&work->graph, first, end);
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    bind_chunk(work, &drawn, at, n);
    for (; (line + 1) * length <= at + n; line++)
      lattice_cluster_label_line(&work->graph, first, line);
  }
}

/* ---- names ---- */

static void join(const struct ising_cluster_work *work, size_t end)
{
  lattice_cluster_join(&work->graph, end);
}

static void name(const struct ising_cluster_work *work, size_t first, size_t end)
{
  const size_t layer = work->graph.shape->layer;
  for (size_t at = first * layer; at < end * layer; at += CHUNK) {
    const size_t n = end * layer - at < CHUNK ? end * layer - at : CHUNK;
    lattice_cluster_find_names(work->graph.label, first * layer, at, n);
    if (work->rule.has_field)
      lattice_cluster_hold(&work->graph, at, n);
  }
}

extern const struct ising_cluster_ops GPUMC_ISA_NAME(ising_cluster);
const struct ising_cluster_ops GPUMC_ISA_NAME(ising_cluster) = {
    .load = load,
    .bind = bind,
    .join = join,
    .name = name,
};
