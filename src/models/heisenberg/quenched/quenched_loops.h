/* Sums of neighbours under quenched couplings on the CPU, in one precision: included by
 * heisenberg_loops.h. */

/* Those of the sites of one colour, [2 d][N/2]; NULL without any. */
GPUMC_INLINE const REAL *
couplings_of(const struct gpumc_checkerboard *lattice, const void *couplings, size_t colour)
{
  return couplings != NULL
             ? (const REAL *)couplings + colour * 2 * lattice->dimension * lattice->colour
             : NULL;
}

/* Sites from k on whose neighbours of a kind follow each other from `from` on. */
struct run {
  size_t from, count;
};

/* `step` sites further, modulo `period`. */
GPUMC_INLINE struct run run_of_shift(size_t period, size_t step, size_t k)
{
  const size_t place = k % period;
  return place + step < period ? (struct run){k + step, period - step - place}
                               : (struct run){k + step - period, period - place};
}

GPUMC_INLINE struct run
run_of_sides(const struct gpumc_checkerboard *lattice, size_t colour, size_t k)
{
  const struct gpumc_checkerboard_place place = gpumc_checkerboard_place_at(lattice, colour, k);
  const size_t row = lattice->row, x = k % row;
  if (gpumc_checkerboard_side_is_back(&place))
    return x == 0 ? (struct run){k + row - 1, 1} : (struct run){k - 1, row - x};
  return x + 1 == row ? (struct run){k + 1 - row, 1} : (struct run){k + 1, row - 1 - x};
}

/* The row before is a plane less one row further, and so on. */
static struct run run_of(const struct gpumc_checkerboard *lattice,
                         enum heisenberg_neighbour neighbour, size_t colour, size_t k)
{
  const size_t row = lattice->row, plane = lattice->plane, whole = lattice->colour;
  switch (neighbour) {
  case HEISENBERG_SAME:
    return (struct run){k, whole - k};
  case HEISENBERG_SIDE:
    return run_of_sides(lattice, colour, k);
  case HEISENBERG_ROW_BEFORE:
    return run_of_shift(plane, plane - row, k);
  case HEISENBERG_ROW_AFTER:
    return run_of_shift(plane, row, k);
  case HEISENBERG_PLANE_BEFORE:
    return run_of_shift(whole, whole - plane, k);
  case HEISENBERG_PLANE_AFTER:
    return run_of_shift(whole, plane, k);
  }
  return (struct run){k, 1};
}

/* to[n]: a component of the neighbours of a kind of n sites from k on. */
static void copy_neighbours(const struct gpumc_checkerboard *lattice,
                            enum heisenberg_neighbour neighbour, size_t colour, size_t k, size_t n,
                            const REAL *restrict other, REAL *restrict to)
{
  for (size_t i = 0; i < n;) {
    const struct run run = run_of(lattice, neighbour, colour, k + i);
    const size_t count = run.count < n - i ? run.count : n - i;
    for (size_t l = 0; l < count; l++)
      to[i + l] = other[run.from + l];
    i += count;
  }
}

/* Adds to sum[n] these neighbours times coupling[n]. */
static void add_coupled(const struct gpumc_checkerboard *lattice,
                        enum heisenberg_neighbour neighbour, size_t colour, size_t k, size_t n,
                        const REAL *restrict coupling, const REAL *restrict other,
                        REAL *restrict sum)
{
  for (size_t i = 0; i < n;) {
    const struct run run = run_of(lattice, neighbour, colour, k + i);
    const size_t count = run.count < n - i ? run.count : n - i;
    for (size_t l = 0; l < count; l++)
      sum[i + l] =
          HEISENBERG_NAME(heisenberg_fma)(coupling[i + l], other[run.from + l], sum[i + l]);
    i += count;
  }
}

/* One component; `couplings`: of the sites' colour. */
static void add_quenched(const struct gpumc_checkerboard *lattice, const REAL *couplings,
                         size_t colour, size_t k, size_t n, const REAL *restrict other,
                         struct neighbours *of)
{
  const int kinds = 2 * (int)lattice->dimension;
  const REAL *side = couplings + HEISENBERG_SIDE * lattice->colour + k;
  copy_neighbours(lattice, HEISENBERG_SIDE, colour, k, n, other, of->side);
  for (size_t i = 0; i < n; i++)
    of->sum[i] =
        HEISENBERG_NAME(heisenberg_fma)(side[i], of->side[i], couplings[k + i] * other[k + i]);
  for (int kind = HEISENBERG_ROW_BEFORE; kind < kinds; kind++)
    add_coupled(lattice, (enum heisenberg_neighbour)kind, colour, k, n,
                couplings + (size_t)kind * lattice->colour + k, other, of->sum);
}

static void surround_quenched(const struct gpumc_checkerboard *lattice, const REAL *couplings,
                              size_t colour, size_t k, size_t n, const struct colour *other,
                              struct surroundings *around)
{
  add_quenched(lattice, couplings, colour, k, n, other->x, &around->x);
  add_quenched(lattice, couplings, colour, k, n, other->y, &around->y);
  if (other->z != NULL)
    add_quenched(lattice, couplings, colour, k, n, other->z, &around->z);
}
