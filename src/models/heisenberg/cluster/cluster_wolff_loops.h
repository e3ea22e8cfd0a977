/* Wolff's clusters on the CPU, in one precision: the end of cluster_loops.h. Components along r and
 * bonds are computed for blocks of sites, when a cluster first comes to one. */

/* The cluster is graph.label[0 .. size - 1]. work->state[block]: what the block has;
 * work->used[n_used]: blocks that have anything. */
struct growth {
  const struct heisenberg_cluster_work *work;
  struct drawing drawing;
  struct lattice_cluster_side side[AXES];
  size_t n_used, size;
  bool is_joined; /* to the ghost */
};

enum { HAS_MARKS = 1, HAS_BONDS = 2 };

static struct growth begin(const struct heisenberg_cluster_work *work)
{
  const size_t sites = work->graph.shape->sites;
  struct growth growth = {.work = work};
  lattice_cluster_sides(&work->graph.shape->checkerboard, growth.side);
  memset(work->state, 0, (sites + BLOCK - 1) / BLOCK);
  return growth;
}

/* Computes components along the axis in a block, and marks of sites that are in no cluster. */
static void mark_block(struct growth *growth, size_t block)
{
  const struct heisenberg_cluster_work *work = growth->work;
  const size_t first = block * BLOCK, left = work->graph.shape->sites - first;
  const size_t end = first + (left < BLOCK ? left : BLOCK);
  const struct gpumc_checkerboard *lattice = &work->graph.shape->checkerboard;
  work->used[growth->n_used++] = (uint32_t)block;
  work->state[block] = HAS_MARKS;
  project_sites(work, growth->drawing.plane.axis, first, end);
  for (size_t at = first; at < end;) {
    const struct lattice_cluster_piece piece = piece_from(work, at, end);
    const size_t line = piece.begin / lattice->length_x;
    const uint8_t even = lattice_cluster_row(lattice, line, 0) >= lattice->colour ? ODD : 0;
    for (size_t i = 0; i < piece.n; i++)
      work->marks[at + i] = (uint8_t)(even ^ (i & 1));
    at += piece.n;
  }
}

static void mark_sites(struct growth *growth, size_t at, size_t n)
{
  for (size_t block = at / BLOCK; block <= (at + n - 1) / BLOCK; block++)
    if (growth->work->state[block] == 0)
      mark_block(growth, block);
}

/* Draws the bonds of a block. */
static __attribute__((noinline)) void draw(struct growth *growth, size_t block)
{
  const struct heisenberg_cluster_work *work = growth->work;
  const size_t first = block * BLOCK, left = work->graph.shape->sites - first;
  const size_t n = left < BLOCK ? left : BLOCK;
  mark_sites(growth, first, n);
  for (size_t at = first; at < first + n;) {
    const struct lattice_cluster_piece piece = piece_from(work, at, first + n);
    mark_sites(growth, piece.begin, 1);
    for (size_t d = 0; d < work->graph.shape->checkerboard.dimension; d++)
      mark_sites(growth, piece.next[d], d == 0 ? piece.n - piece.ends : piece.n);
    at += piece.n;
  }
  bind_sites(work, &growth->drawing, first, n);
  work->state[block] = HAS_MARKS | HAS_BONDS;
}

/* Returns the bits of a site's own bonds. */
GPUMC_INLINE uint32_t bonds_of(struct growth *growth, uint32_t site)
{
  if ((growth->work->state[site / BLOCK] & HAS_BONDS) == 0)
    draw(growth, site / BLOCK);
  return growth->work->graph.bonds[site];
}

/* Adds site j at the end of a cluster of that size if the bond to it is active and it is no part of
 * it; returns the size then. No branch: what does not stay is overwritten by the next one. */
GPUMC_INLINE size_t take(uint8_t *restrict marks, uint32_t *restrict cluster, size_t size,
                         uint32_t active, uint32_t j)
{
  const uint32_t mark = marks[j], joins = active & ~(mark / IN_CLUSTER) & 1;
  cluster[size] = j;
  marks[j] = (uint8_t)(mark | joins * IN_CLUSTER);
  return size + joins;
}

/* Lets the cluster of a site grow until it is complete, or joined to the ghost. */
static void grow(struct growth *growth, uint32_t seed)
{
  const struct heisenberg_cluster_work *work = growth->work;
  const size_t dimension = work->graph.shape->checkerboard.dimension;
  uint8_t *marks = work->marks;
  uint32_t *cluster = work->graph.label;
  size_t size = 1;
  (void)bonds_of(growth, seed);
  cluster[0] = seed;
  marks[seed] |= IN_CLUSTER;
  growth->is_joined = false;
  for (size_t done = 0; done < size && !growth->is_joined; done++) {
    const uint32_t i = cluster[done], bonds = bonds_of(growth, i);
    uint32_t left = i;
    for (uint32_t d = 0; d < dimension; d++) {
      uint32_t before, after;
      lattice_cluster_around(&growth->side[d], i, &left, &before, &after);
      size = take(marks, cluster, size, bonds >> d, after);
      size = take(marks, cluster, size, bonds_of(growth, before) >> d, before);
    }
    growth->is_joined = (bonds >> LATTICE_CLUSTER_GHOST & 1) != 0;
  }
  growth->size = size;
}

/* Sides are even, so that a site is number site / 2 of its colour. */
GPUMC_INLINE void mirror_cluster(const int components, const struct growth *growth)
{
  const struct heisenberg_cluster_work *work = growth->work;
  const size_t sites = work->graph.shape->sites, colour = sites / 2;
  const REAL *along = work->along;
  for (size_t i = 0; i < growth->size; i++) {
    const uint32_t site = work->graph.label[i];
    REAL *x = (REAL *)work->spins + (work->marks[site] & ODD) * colour + site / 2;
    const struct spins half = {x, x + sites, x + 2 * sites};
    set_spin(components, &half, 0,
             HEISENBERG_NAME(heisenberg_mirrored)(components, spin_of(components, &half, 0),
                                                  growth->drawing.plane.axis, along[site]));
  }
}

/* Reflects the cluster unless it is joined to the ghost, and forgets all blocks. */
static void finish(struct growth *growth)
{
  if (!growth->is_joined && growth->work->components == 3)
    mirror_cluster(3, growth);
  else if (!growth->is_joined)
    mirror_cluster(2, growth);
  for (size_t i = 0; i < growth->n_used; i++)
    growth->work->state[growth->work->used[i]] = 0;
  growth->n_used = 0;
}

static uint64_t wolff(const struct heisenberg_cluster_work *work, uint32_t clusters, uint64_t limit)
{
  const struct lattice_cluster_graph *graph = &work->graph;
  struct growth growth = begin(work);
  uint64_t flipped = 0;
  for (uint32_t c = 0; c < clusters && flipped < limit; c++) {
    growth.drawing = drawing_of(work, c, lattice_wolff_label(LATTICE_WOLFF_BONDS + c));
    grow(&growth,
         lattice_wolff_seed(graph->random, graph->replica, graph->time, c, graph->shape->sites));
    flipped += growth.is_joined ? 0 : growth.size;
    finish(&growth);
  }
  return flipped;
}
