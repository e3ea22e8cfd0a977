/* Compares two replicas on the CPU: included by heisenberg_double_isa.c after
 * heisenberg_measure_loops.h. Sums are of integers, so they do not depend on the order. */

/* Returns the spin at a position: colour 0, then colour 1. */
GPUMC_INLINE VECTOR spin_at(const int components, size_t sites, const REAL *spins, size_t position)
{
  return (VECTOR){spins[position], spins[sites + position],
                  components == 3 ? spins[2 * sites + position] : 0};
}

/* Sums over the bonds forward from all sites. */
GPUMC_INLINE int64_t links_of(const int components, const struct heisenberg_comparison *with)
{
  const size_t sites = 2 * with->lattice->colour;
  const REAL *one = with->one, *other = with->other;
  int64_t sum = 0;
  for (size_t axis = 0; axis < with->lattice->dimension; axis++)
    for (size_t p = 0; p < sites; p++) {
      const size_t next = with->forward[axis * sites + p];
      const REAL here = HEISENBERG_NAME(heisenberg_dot)(
          components, spin_at(components, sites, one, p), spin_at(components, sites, one, next));
      const REAL there =
          HEISENBERG_NAME(heisenberg_dot)(components, spin_at(components, sites, other, p),
                                          spin_at(components, sites, other, next));
      sum += HEISENBERG_NAME(heisenberg_quanta)(here * there);
    }
  return sum;
}

/* O(3): for the site at position p, whose neighbours along an axis are `back` and `forward`. */
GPUMC_INLINE REAL triple_of(size_t sites, const REAL *spins, size_t back, size_t p, size_t forward)
{
  return HEISENBERG_NAME(heisenberg_triple)(spin_at(3, sites, spins, back),
                                            spin_at(3, sites, spins, p),
                                            spin_at(3, sites, spins, forward));
}

static int64_t triples_of(const struct heisenberg_comparison *with)
{
  const size_t sites = 2 * with->lattice->colour;
  int64_t sum = 0;
  for (size_t axis = 0; axis < with->lattice->dimension; axis++)
    for (size_t p = 0; p < sites; p++) {
      const size_t back = with->back[axis * sites + p], forward = with->forward[axis * sites + p];
      sum += HEISENBERG_NAME(heisenberg_quanta)(triple_of(sites, with->one, back, p, forward) *
                                                triple_of(sites, with->other, back, p, forward));
    }
  return sum;
}

/* O(2): the corners of a plaquette in one direction around it, and the signs of the couplings from
 * each to the next. */
struct plaquette {
  size_t corner[4];
  REAL sign[4];
};

GPUMC_INLINE REAL circulation(size_t sites, const REAL *spins, const struct plaquette *of)
{
  VECTOR spin[4];
  for (size_t i = 0; i < 4; i++)
    spin[i] = spin_at(2, sites, spins, of->corner[i]);
  return HEISENBERG_NAME(heisenberg_circulation)(spin, of->sign);
}

GPUMC_INLINE REAL sign_of(REAL coupling)
{
  return coupling > 0 ? (REAL)1 : coupling < 0 ? (REAL)-1 : (REAL)0;
}

/* Starts at the site at index k of a colour and goes along axes[0], then along axes[1]; kind[2]:
 * which neighbour of a site in this plane and colour is one step forward along each. */
static struct plaquette plaquette_at(const struct heisenberg_comparison *with, size_t colour,
                                     size_t k, const size_t axes[2], const size_t kind[2])
{
  const size_t half = with->lattice->colour, sites = 2 * half, p = colour * half + k;
  const REAL *own = couplings_of(with->lattice, with->couplings, colour),
             *other = couplings_of(with->lattice, with->couplings, 1 - colour);
  const size_t first = with->forward[axes[0] * sites + p],
               second = with->forward[axes[1] * sites + p],
               across = with->forward[axes[1] * sites + first], base = (1 - colour) * half;
  return (struct plaquette){
      {p, first, across, second},
      {sign_of(own[kind[0] * half + k]), sign_of(other[kind[1] * half + first - base]),
       sign_of(other[kind[0] * half + second - base]), sign_of(own[kind[1] * half + k])}};
}

static int64_t circulations_of(const struct heisenberg_comparison *with)
{
  const struct gpumc_checkerboard *lattice = with->lattice;
  const size_t sites = 2 * lattice->colour;
  int64_t sum = 0;
  for (size_t i = 0; i < sites; i++) {
    const size_t colour = i / lattice->colour, k = i % lattice->colour;
    const struct gpumc_checkerboard_place place = gpumc_checkerboard_place_at(lattice, colour, k);
    /* Likewise one row or one plane further in the other colour. */
    const bool back = gpumc_checkerboard_side_is_back(&place);
    const size_t kinds[3] = {heisenberg_towards(back, 0, true), heisenberg_towards(back, 1, true),
                             heisenberg_towards(back, 2, true)};
    for (size_t a = 0; a < lattice->dimension; a++)
      for (size_t b = a + 1; b < lattice->dimension; b++) {
        const size_t axes[2] = {a, b}, kind[2] = {kinds[a], kinds[b]};
        const struct plaquette of = plaquette_at(with, colour, k, axes, kind);
        sum +=
            HEISENBERG_NAME(heisenberg_quanta)(circulation(sites, with->one, &of) *
                                               circulation(sites, with->other, &of) * (REAL)0.125);
      }
  }
  return sum;
}

static void
compare_replicas(const struct heisenberg_comparison *with, struct heisenberg_pair_sums *sums)
{
  const struct gpumc_checkerboard *lattice = with->lattice;
  const size_t n = (size_t)with->components, count = heisenberg_layers(lattice);
  const REAL *one = with->one, *other = with->other;
  sums->link = n == 3 ? links_of(3, with) : links_of(2, with);
  sums->chirality = n == 3 ? triples_of(with) : circulations_of(with);
  memset(with->layers, 0, n * n * count * sizeof *with->layers);
  for (size_t a = 0; a < n; a++)
    for (size_t b = 0; b < n; b++) {
      int64_t *layers = with->layers + (a * n + b) * count;
      for (size_t colour = 0; colour < 2; colour++)
        add_layers(lattice, colour, one + (2 * a + colour) * lattice->colour,
                   other + (2 * b + colour) * lattice->colour, layers);
      sums->overlap[a][b] = 0;
      for (size_t y = 0; y < lattice->length_y; y++)
        sums->overlap[a][b] += layers[lattice->length_x + y];
    }
}

extern const struct heisenberg_measuring GPUMC_ISA_NAME(heisenberg_measuring);
const struct heisenberg_measuring
    GPUMC_ISA_NAME(heisenberg_measuring) = {.measure = measure_replica,
                                            .drift = drift_of_replica,
                                            .layers = layers_of_replica,
                                            .compare = compare_replicas};
