/* The contribution of a thread to the sums over two replicas with quenched couplings
 * (quenched_pairs.h), in double precision and of spins of length 1: for both compilers, so that
 * tests can run it site by site. */
#ifndef GPUMC_HEISENBERG_QUENCHED_COMPARE_CUH
#define GPUMC_HEISENBERG_QUENCHED_COMPARE_CUH

#include "models/heisenberg/heisenberg_sums.cuh"

/* Two replicas as a thread sees them, and the couplings of their sample. */
template <class REAL> struct two {
  const struct heisenberg_gpu_lattice *lattice;
  const REAL *one, *other, *couplings;
};

/* ---- bonds and chirality ---- */

template <class REAL, int N>
GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
colour_spin(const struct heisenberg_gpu_lattice *lattice, const REAL *spins, uint32_t colour,
            uint32_t k)
{
  return spin_at<REAL, N>(spins + (size_t)colour * lattice->colour, 2 * (size_t)lattice->colour, k,
                          true);
}

/* O(3): chirality of a site. */
template <class REAL>
GPUMC_HOST_DEVICE static inline double
triple_of(const struct heisenberg_gpu_lattice *lattice, const REAL *spins, uint32_t colour,
          uint32_t k, struct heisenberg_steps steps)
{
  return heisenberg_triple_double(colour_spin<REAL, 3>(lattice, spins, 1 - colour, steps.back),
                                  colour_spin<REAL, 3>(lattice, spins, colour, k),
                                  colour_spin<REAL, 3>(lattice, spins, 1 - colour, steps.forward));
}

/* O(2): corners of a plaquette in one direction around it, and the signs of the couplings from each
 * to the next. Corners 1 and 3 have the other colour. */
struct plaquette {
  uint32_t corner[4];
  double sign[4];
};

template <class REAL> GPUMC_HOST_DEVICE static inline double sign_of(REAL coupling)
{
  return coupling > 0 ? 1.0 : coupling < 0 ? -1.0 : 0.0;
}

/* Starts at index k of a colour and goes along axis a, then along axis b. */
template <class REAL>
GPUMC_HOST_DEVICE static inline struct plaquette
plaquette_at(const struct two<REAL> &both, uint32_t colour, uint32_t k, uint32_t a, uint32_t b)
{
  const struct heisenberg_gpu_lattice *lattice = both.lattice;
  const uint32_t first = heisenberg_steps_at(lattice, colour, k, a).forward;
  const uint32_t second = heisenberg_steps_at(lattice, colour, k, b).forward;
  const uint32_t across = heisenberg_steps_at(lattice, 1 - colour, first, b).forward;
  /* Likewise one row or one plane further in the other colour. */
  const bool back = heisenberg_is_back(heisenberg_place_at(lattice, k), colour);
  const uint32_t kind_a = heisenberg_towards(back, a, true),
                 kind_b = heisenberg_towards(back, b, true);
  const size_t half = lattice->colour, of_colour = 2 * lattice->dimension * half;
  const REAL *own = both.couplings + colour * of_colour,
             *other = both.couplings + (1 - colour) * of_colour;
  const struct plaquette of = {
      {k, first, across, second},
      {sign_of(own[kind_a * half + k]), sign_of(other[kind_b * half + first]),
       sign_of(other[kind_a * half + second]), sign_of(own[kind_b * half + k])}};
  return of;
}

template <class REAL>
GPUMC_HOST_DEVICE static inline double
circulation(const struct heisenberg_gpu_lattice *lattice, const REAL *spins, uint32_t colour,
            const struct plaquette &of)
{
  struct heisenberg_vector_double spin[4];
  for (uint32_t i = 0; i < 4; i++)
    spin[i] = colour_spin<REAL, 2>(lattice, spins, i % 2 == 0 ? colour : 1 - colour, of.corner[i]);
  return heisenberg_circulation_double(spin, of.sign);
}

/* Adds the contribution of the site at index k of a colour: its bonds forward, and its chiralities,
 * or those of the plaquettes of which it is the first corner. */
template <class REAL, int N>
GPUMC_HOST_DEVICE static inline void add_bonds(const struct two<REAL> &both, uint32_t colour,
                                               uint32_t k, int64_t *link, int64_t *chirality)
{
  const struct heisenberg_gpu_lattice *lattice = both.lattice;
  for (uint32_t a = 0; a < lattice->dimension; a++) {
    const struct heisenberg_steps steps = heisenberg_steps_at(lattice, colour, k, a);
    const double here =
        heisenberg_dot_double(N, colour_spin<REAL, N>(lattice, both.one, colour, k),
                              colour_spin<REAL, N>(lattice, both.one, 1 - colour, steps.forward));
    const double there =
        heisenberg_dot_double(N, colour_spin<REAL, N>(lattice, both.other, colour, k),
                              colour_spin<REAL, N>(lattice, both.other, 1 - colour, steps.forward));
    *link += heisenberg_quanta_double(here * there);
    if constexpr (N == 3)
      *chirality +=
          heisenberg_quanta_double(triple_of<REAL>(lattice, both.one, colour, k, steps) *
                                   triple_of<REAL>(lattice, both.other, colour, k, steps));
    else
      for (uint32_t b = a + 1; b < lattice->dimension; b++) {
        const struct plaquette of = plaquette_at<REAL>(both, colour, k, a, b);
        *chirality +=
            heisenberg_quanta_double(circulation<REAL>(lattice, both.one, colour, of) *
                                     circulation<REAL>(lattice, both.other, colour, of) * 0.125);
      }
  }
}

template <class REAL, int N>
GPUMC_HOST_DEVICE static inline void
add_overlap(const struct two<REAL> &both, uint32_t colour, uint32_t k, int64_t overlap[N][N])
{
  const struct heisenberg_vector_double a = colour_spin<REAL, N>(both.lattice, both.one, colour, k),
                                        b = colour_spin<REAL, N>(both.lattice, both.other, colour,
                                                                 k);
  for (int m = 0; m < N; m++)
    for (int n = 0; n < N; n++)
      overlap[m][n] += heisenberg_quanta_double(component_of(a, m) * component_of(b, n));
}

/* ---- waves ---- */

/* For the components m and n of both; `cosines` and `sines` are those of the table. */
template <class REAL, int N>
GPUMC_HOST_DEVICE static inline void
add_waves(const struct two<REAL> &both, const int32_t *cosines, const int32_t *sines, uint32_t m,
          uint32_t n, uint32_t axis, uint32_t k, struct heisenberg_wave_sum *cosine,
          struct heisenberg_wave_sum *sine)
{
  for (uint32_t colour = 0; colour < 2; colour++) {
    const uint32_t layer = layer_of(both.lattice, colour, k, axis);
    const double one = component_of(colour_spin<REAL, N>(both.lattice, both.one, colour, k), m),
                 other = component_of(colour_spin<REAL, N>(both.lattice, both.other, colour, k), n);
    const int32_t quanta = heisenberg_quanta_double(one * other);
    heisenberg_wave_add(cosine, quanta, cosines[layer]);
    heisenberg_wave_add(sine, quanta, sines[layer]);
  }
}

#endif
