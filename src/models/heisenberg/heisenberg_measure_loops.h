/* Measurements of a replica on the CPU: included by heisenberg_double_isa.c after
 * heisenberg_loops.h, for both kernels. Sums are of integers, so they do not depend on the
 * order. */

/* Sets forward[n] of n sites from k on, a multiple of CHUNK: 1 if the neighbour with the same index
 * is one step forward in x and the side one step back, -1 if it is the other way round. */
GPUMC_INLINE void
copy_directions(const struct gpumc_checkerboard_edges *edges, size_t k, size_t n, REAL *forward)
{
  for (size_t i = 0; i < n; i++)
    forward[i] = (edges[(k + i) / GPUMC_EDGE_SITES].back >> i % GPUMC_EDGE_SITES & 1) != 0 ? 1 : -1;
}

GPUMC_INLINE VECTOR scaled(VECTOR v, REAL factor)
{
  return (VECTOR){factor * v.x, factor * v.y, factor * v.z};
}

/* Sums over both colours: each bond is counted from its end of colour 0. `couplings`: those of
 * colour 0 if `quenched`. */
GPUMC_INLINE void
measure_bonds(const int components, const bool quenched, const struct gpumc_checkerboard *lattice,
              const struct gpumc_checkerboard_edges *edges, const REAL *couplings,
              const struct spins *own, const struct spins *other, struct heisenberg_sums *sums)
{
  struct surroundings around;
  REAL forward[CHUNK];
  for (size_t k = 0, n; k < lattice->colour; k += n) {
    const size_t left = lattice->colour - k;
    n = left < CHUNK ? left : CHUNK;
    copy_directions(edges, k, n, forward);
    if (quenched)
      surround_quenched(lattice, edges, couplings, k, n, other, &around);
    else
      surround(lattice, edges, NULL, components, true, k, n, other, &around);
    int64_t bonds = 0, along = 0, across_x = 0, across_y = 0, across_z = 0;
    for (size_t i = 0; i < n; i++) {
      const VECTOR spin = spin_of(components, own, k + i);
      VECTOR same = spin_of(components, other, k + i);
      VECTOR side = {around.x.side[i], around.y.side[i], components == 3 ? around.z.side[i] : 0};
      if (quenched) {
        same = scaled(same, couplings[k + i]);
        side = scaled(side, couplings[HEISENBERG_SIDE * lattice->colour + k + i]);
      }
      const VECTOR both = {same.x + side.x, same.y + side.y, same.z + side.z};
      const VECTOR step = {forward[i] * (same.x - side.x), forward[i] * (same.y - side.y),
                           forward[i] * (same.z - side.z)};
      bonds += HEISENBERG_NAME(heisenberg_quanta)(
          HEISENBERG_NAME(heisenberg_dot)(components, spin, sum_of(components, &around, i)));
      along += HEISENBERG_NAME(heisenberg_quanta)(
          HEISENBERG_NAME(heisenberg_dot)(components, spin, both));
      across_z += HEISENBERG_NAME(heisenberg_quanta)(spin.x * step.y - spin.y * step.x);
      if (components == 3) {
        across_x += HEISENBERG_NAME(heisenberg_quanta)(spin.y * step.z - spin.z * step.y);
        across_y += HEISENBERG_NAME(heisenberg_quanta)(spin.z * step.x - spin.x * step.z);
      }
    }
    sums->bonds += bonds;
    sums->along += along;
    sums->across[0] += across_x;
    sums->across[1] += across_y;
    sums->across[2] += across_z;
  }
}

static int64_t sum_component(const REAL *component, size_t sites)
{
  int64_t sum = 0;
  for (size_t i = 0; i < sites; i++)
    sum += HEISENBERG_NAME(heisenberg_quanta)(component[i]);
  return sum;
}

static void measure_replica(const struct gpumc_checkerboard *lattice,
                            const struct gpumc_checkerboard_edges *edges, int components,
                            const void *couplings, const void *spins, struct heisenberg_sums *sums)
{
  const REAL *of_colour = couplings_of(lattice, couplings, 0);
  /* Nothing is written through these. */
  const struct spins own = colour_of(lattice, components, (void *)(uintptr_t)spins, 0);
  const struct spins other = colour_of(lattice, components, (void *)(uintptr_t)spins, 1);
  const size_t sites = 2 * lattice->colour;
  *sums = (struct heisenberg_sums){0};
  for (int a = 0; a < components; a++)
    sums->magnetization[a] = sum_component((const REAL *)spins + (size_t)a * sites, sites);
  if (couplings != NULL && components == 3)
    measure_bonds(3, true, lattice, edges, of_colour, &own, &other, sums);
  else if (couplings != NULL)
    measure_bonds(2, true, lattice, edges, of_colour, &own, &other, sums);
  else if (components == 3)
    measure_bonds(3, false, lattice, edges, NULL, &own, &other, sums);
  else
    measure_bonds(2, false, lattice, edges, NULL, &own, &other, sums);
}

GPUMC_INLINE int64_t largest_drift(const int components, size_t sites, const REAL *spins)
{
  int64_t largest = 0;
  for (size_t i = 0; i < sites; i++) {
    const int64_t drift = heisenberg_drift((double)spins[i], (double)spins[sites + i],
                                           components == 3 ? (double)spins[2 * sites + i] : 0.0);
    largest = drift > largest ? drift : largest;
  }
  return largest;
}

static int64_t
drift_of_replica(const struct gpumc_checkerboard *lattice, int components, const void *spins)
{
  const size_t sites = 2 * lattice->colour;
  return components == 3 ? largest_drift(3, sites, spins) : largest_drift(2, sites, spins);
}

/* Adds a component of the sites of one colour, or its product with another one unless that is NULL,
 * to layers[Lx + Ly + Lz]. */
static void add_layers(const struct gpumc_checkerboard *lattice, size_t colour,
                       const REAL *component, const REAL *factor, int64_t *layers)
{
  const size_t row = lattice->row;
  int64_t *of_y = layers + lattice->length_x, *of_z = of_y + lattice->length_y;
  for (size_t k = 0; k < lattice->colour; k += row) {
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place_at(lattice, colour, k);
    int64_t *of_x = layers + (gpumc_checkerboard_side_is_back(&place) ? 0 : row);
    int64_t sum = 0;
    for (size_t j = 0; j < row; j++) {
      const REAL value = factor != NULL ? component[k + j] * factor[k + j] : component[k + j];
      const int64_t quanta = HEISENBERG_NAME(heisenberg_quanta)(value);
      of_x[j] += quanta;
      sum += quanta;
    }
    of_y[place.y] += sum;
    of_z[place.z] += sum;
  }
}

static void layers_of_replica(const struct gpumc_checkerboard *lattice, int components,
                              const void *spins, int64_t *layers)
{
  const size_t count = heisenberg_layers(lattice);
  memset(layers, 0, (size_t)components * count * sizeof *layers);
  for (size_t a = 0; a < (size_t)components; a++)
    for (size_t colour = 0; colour < 2; colour++)
      add_layers(lattice, colour, (const REAL *)spins + (2 * a + colour) * lattice->colour, NULL,
                 layers + a * count);
}
