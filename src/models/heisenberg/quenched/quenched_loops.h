/* Sums of neighbours under quenched couplings in vectors, in one precision: included by
 * heisenberg_loops.h after heisenberg_neighbours.h. */

/* Returns those of the sites of one colour, [2 d][N/2]; NULL without any. */
GPUMC_INLINE const REAL *
couplings_of(const struct gpumc_checkerboard *lattice, const void *couplings, size_t colour)
{
  return couplings != NULL
             ? (const REAL *)couplings + colour * 2 * lattice->dimension * lattice->colour
             : NULL;
}

/* Returns x y + z, rounded once. */
GPUMC_INLINE reals fused(reals x, reals y, reals z)
{
#if defined(__AVX512F__)
  return sizeof(REAL) == sizeof(float) ? (reals)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z)
                                       : (reals)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(__AVX2__) && defined(__FMA__)
  return sizeof(REAL) == sizeof(float) ? (reals)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z)
                                       : (reals)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
  reals sum = {0};
  for (size_t i = 0; i < WIDTH; i++)
    sum[i] = HEISENBERG_NAME(heisenberg_fma)(x[i], y[i], z[i]);
  return sum;
#endif
}

/* Loads the couplings of a block with one kind of its neighbours. */
GPUMC_INLINE void load_couplings(const struct gpumc_checkerboard *lattice,
                                 const struct block *block, const REAL *couplings,
                                 enum heisenberg_neighbour neighbour, reals coupling[PARTS])
{
  const REAL *at = couplings + (size_t)neighbour * lattice->colour + block->k;
  load_shifted(block->all, at, 0, at, coupling);
}

/* Adds to sum[PARTS] the products of near[PARTS], neighbours of one kind, with their couplings. */
GPUMC_INLINE void add_coupled(const struct gpumc_checkerboard *lattice, const struct block *block,
                              const REAL *couplings, enum heisenberg_neighbour neighbour,
                              const reals near[PARTS], reals sum[PARTS])
{
  reals coupling[PARTS];
  load_couplings(lattice, block, couplings, neighbour, coupling);
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++)
    sum[p] = fused(coupling[p], near[p], sum[p]);
}

/* Like add_neighbours, with the couplings of the sites' colour. */
GPUMC_INLINE void add_quenched(const struct gpumc_checkerboard *lattice, const struct block *block,
                               const REAL *couplings, const REAL *other, struct neighbours *of,
                               size_t i)
{
  const size_t row = lattice->row, plane = lattice->plane, whole = lattice->colour;
  const uint32_t all = block->all;
  const REAL *at = other + block->k;
  reals near[PARTS], side[PARTS], sum[PARTS];
  load_shifted(all, at, 0, at, near);
  load_sides(block, at, row, near, side);
  load_couplings(lattice, block, couplings, HEISENBERG_SAME, sum);
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++) {
    store_reals(of->side + i + p * WIDTH, side[p]);
    sum[p] *= near[p];
  }
  add_coupled(lattice, block, couplings, HEISENBERG_SIDE, side, sum);
  if (lattice->dimension >= 2) {
    load_shifted(all, at - row, block->first_row, at + plane - row, near);
    add_coupled(lattice, block, couplings, HEISENBERG_ROW_BEFORE, near, sum);
    load_shifted(all, at + row, block->last_row, at + row - plane, near);
    add_coupled(lattice, block, couplings, HEISENBERG_ROW_AFTER, near, sum);
  }
  if (lattice->dimension == 3) {
    load_shifted(all, at - plane, block->first_plane, at + whole - plane, near);
    add_coupled(lattice, block, couplings, HEISENBERG_PLANE_BEFORE, near, sum);
    load_shifted(all, at + plane, block->last_plane, at + plane - whole, near);
    add_coupled(lattice, block, couplings, HEISENBERG_PLANE_AFTER, near, sum);
  }
#pragma GCC unroll 8
  for (size_t p = 0; p < PARTS; p++)
    store_reals(of->sum + i + p * WIDTH, sum[p]);
}
