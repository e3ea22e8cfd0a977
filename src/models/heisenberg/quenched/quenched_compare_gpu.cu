/* Replicas of O(n) spins with quenched couplings compared on a GPU (quenched_pairs.h). */
#include <cuda_runtime.h>

#include "models/heisenberg/heisenberg_sums.cuh"

enum { THREADS = 256 };

/* Two replicas as a thread sees them, and the couplings of their sample. */
template <class RULES> struct two {
  const struct heisenberg_gpu_lattice *lattice;
  const typename RULES::real *one, *other, *couplings;
};

template <class RULES>
static __device__ inline struct two<RULES>
two_of(const struct heisenberg_gpu_comparison *comparison, uint32_t replica) {
  typedef typename RULES::real real;
  const struct heisenberg_replicas *replicas = &comparison->replicas;
  const struct two<RULES> both = {
    &replicas->lattice,
        (const real *)heisenberg_replica(replicas, comparison->first + blockIdx.y, replica),
        (const real *)heisenberg_replica(replicas, comparison->second + blockIdx.y, replica),
        (const real *)replicas->couplings.numbers + replica * replicas->couplings.stride
  };
  return both;
}

/* Whether the thread's block has a part of a replica that is in use: its sites of each colour from
 * *begin to *end. */
static __device__ inline bool
has_part(const struct heisenberg_gpu_comparison *comparison, uint32_t parts, uint32_t part,
         uint32_t *replica, uint32_t *begin, uint32_t *end)
{
  const uint32_t n = comparison->replicas.lattice.colour;
  *replica = blockIdx.x / parts;
  *begin = (blockIdx.x - *replica * parts) * part;
  *end = n - *begin < part ? n : *begin + part;
  return *replica < comparison->replicas.batch.size[comparison->first + blockIdx.y];
}

/* ---- bonds and chirality ---- */

template <class RULES, int N>
static __device__ inline typename RULES::vector
colour_spin(const struct heisenberg_gpu_lattice *lattice, const typename RULES::real *spins,
            uint32_t colour, uint32_t k)
{
  return spin_at<RULES, N>(spins + (size_t)colour * lattice->colour, 2 * (size_t)lattice->colour,
                           k);
}

/* O(3): chirality of a site. */
template <class RULES>
static __device__ inline typename RULES::real
triple_of(const struct heisenberg_gpu_lattice *lattice, const typename RULES::real *spins,
          uint32_t colour, uint32_t k, struct heisenberg_steps steps)
{
  return RULES::triple(colour_spin<RULES, 3>(lattice, spins, 1 - colour, steps.back),
                       colour_spin<RULES, 3>(lattice, spins, colour, k),
                       colour_spin<RULES, 3>(lattice, spins, 1 - colour, steps.forward));
}

/* O(2): corners of a plaquette in one direction around it, and the signs of the couplings from each
 * to the next. Corners 1 and 3 have the other colour. */
template <class REAL> struct plaquette {
  uint32_t corner[4];
  REAL sign[4];
};

template <class REAL> static __device__ inline REAL sign_of(REAL coupling)
{
  return coupling > 0 ? (REAL)1 : coupling < 0 ? (REAL)-1 : (REAL)0;
}

/* From index k of a colour along axis a, then along axis b. */
template <class RULES>
static __device__ inline struct plaquette<typename RULES::real>
plaquette_at(const struct two<RULES> &both, uint32_t colour, uint32_t k, uint32_t a, uint32_t b) {
  typedef typename RULES::real real;
  const struct heisenberg_gpu_lattice *lattice = both.lattice;
  const uint32_t first = heisenberg_steps_at(lattice, colour, k, a).forward;
  const uint32_t second = heisenberg_steps_at(lattice, colour, k, b).forward;
  const uint32_t across = heisenberg_steps_at(lattice, 1 - colour, first, b).forward;
  /* The same one row or one plane further in the other colour. */
  const bool back = heisenberg_is_back(heisenberg_place_at(lattice, k), colour);
  const uint32_t along_x = back ? HEISENBERG_SAME : HEISENBERG_SIDE;
  const uint32_t kind_a = a == 0 ? along_x : (uint32_t)HEISENBERG_ROW_AFTER,
                 kind_b = b == 1 ? HEISENBERG_ROW_AFTER : HEISENBERG_PLANE_AFTER;
  const size_t half = lattice->colour, of_colour = 2 * lattice->dimension * half;
  const real *own = both.couplings + colour * of_colour,
             *other = both.couplings + (1 - colour) * of_colour;
  const struct plaquette<real> of = {
    {k, first, across, second},
    {
      sign_of(own[kind_a * half + k]), sign_of(other[kind_b * half + first]),
          sign_of(other[kind_a * half + second]), sign_of(own[kind_b * half + k])
    }
  };
  return of;
}

template <class RULES>
static __device__ inline typename RULES::real
circulation(const struct heisenberg_gpu_lattice *lattice, const typename RULES::real *spins,
            uint32_t colour, const struct plaquette<typename RULES::real> &of)
{
  typename RULES::vector spin[4];
  for (uint32_t i = 0; i < 4; i++)
    spin[i] = colour_spin<RULES, 2>(lattice, spins, i % 2 == 0 ? colour : 1 - colour, of.corner[i]);
  return RULES::circulation(spin, of.sign);
}

/* What the site at index k of a colour adds: its bonds forward, and its chiralities, or those of
 * the plaquettes of which it is the first corner. */
template <class RULES, int N>
static __device__ inline void add_bonds(const struct two<RULES> &both, uint32_t colour, uint32_t k,
                                        int64_t *link, int64_t *chirality)
{
  typedef typename RULES::real real;
  const struct heisenberg_gpu_lattice *lattice = both.lattice;
  for (uint32_t a = 0; a < lattice->dimension; a++) {
    const struct heisenberg_steps steps = heisenberg_steps_at(lattice, colour, k, a);
    const real here =
        RULES::dot(N, colour_spin<RULES, N>(lattice, both.one, colour, k),
                   colour_spin<RULES, N>(lattice, both.one, 1 - colour, steps.forward));
    const real there =
        RULES::dot(N, colour_spin<RULES, N>(lattice, both.other, colour, k),
                   colour_spin<RULES, N>(lattice, both.other, 1 - colour, steps.forward));
    *link += RULES::quanta(here * there);
    if constexpr (N == 3)
      *chirality += RULES::quanta(triple_of<RULES>(lattice, both.one, colour, k, steps) *
                                  triple_of<RULES>(lattice, both.other, colour, k, steps));
    else
      for (uint32_t b = a + 1; b < lattice->dimension; b++) {
        const struct plaquette<real> of = plaquette_at<RULES>(both, colour, k, a, b);
        *chirality +=
            RULES::quanta(circulation<RULES>(lattice, both.one, colour, of) *
                          circulation<RULES>(lattice, both.other, colour, of) * (real)0.125);
      }
  }
}

template <class RULES, int N>
static __device__ inline void
add_overlap(const struct two<RULES> &both, uint32_t colour, uint32_t k, int64_t overlap[N][N])
{
  const typename RULES::vector a = colour_spin<RULES, N>(both.lattice, both.one, colour, k),
                               b = colour_spin<RULES, N>(both.lattice, both.other, colour, k);
  const typename RULES::real one[3] = {a.x, a.y, a.z}, other[3] = {b.x, b.y, b.z};
  for (int m = 0; m < N; m++)
    for (int n = 0; n < N; n++)
      overlap[m][n] += RULES::quanta(one[m] * other[n]);
}

template <class RULES, int N>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    compare(const __grid_constant__ struct heisenberg_gpu_comparison comparison, uint32_t parts,
            uint32_t part)
{
  uint32_t replica, begin, end;
  if (!has_part(&comparison, parts, part, &replica, &begin, &end))
    return;
  const struct two<RULES> both = two_of<RULES>(&comparison, replica);
  int64_t overlap[N][N] = {}, link = 0, chirality = 0;
  for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
    for (uint32_t colour = 0; colour < 2; colour++) {
      add_overlap<RULES, N>(both, colour, k, overlap);
      add_bonds<RULES, N>(both, colour, k, &link, &chirality);
    }
  struct heisenberg_pair_sums *all =
      comparison.sums + (size_t)blockIdx.y * comparison.replicas.batch.capacity + replica;
  add_of_warp(link, &all->link);
  add_of_warp(chirality, &all->chirality);
  for (int m = 0; m < N; m++)
    for (int n = 0; n < N; n++)
      add_of_warp(overlap[m][n], &all->overlap[m][n]);
}

/* ---- waves ---- */

/* Of the components m and n of both. */
template <class RULES>
static __device__ inline void
add_waves(const struct heisenberg_gpu_comparison *comparison, const struct two<RULES> &both,
          uint32_t m, uint32_t n, uint32_t axis, uint32_t k, struct heisenberg_wave_sum *cosine,
          struct heisenberg_wave_sum *sine)
{
  const size_t half = both.lattice->colour;
  for (uint32_t colour = 0; colour < 2; colour++) {
    const uint32_t layer = layer_of(both.lattice, colour, k, axis);
    const int32_t quanta = RULES::quanta(both.one[(2 * m + colour) * half + k] *
                                         both.other[(2 * n + colour) * half + k]);
    heisenberg_wave_add(cosine, quanta, comparison->cosine[layer]);
    heisenberg_wave_add(sine, quanta, comparison->sine[layer]);
  }
}

template <class RULES, int N>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    compare_waves(const __grid_constant__ struct heisenberg_gpu_comparison comparison,
                  uint32_t parts, uint32_t part)
{
  uint32_t replica, begin, end;
  if (!has_part(&comparison, parts, part, &replica, &begin, &end))
    return;
  const struct two<RULES> both = two_of<RULES>(&comparison, replica);
  struct heisenberg_pair_sums *all =
      comparison.sums + (size_t)blockIdx.y * comparison.replicas.batch.capacity + replica;
  for (uint32_t axis = 0; axis < 3; axis++)
    for (uint32_t i = 0; i < N * N && comparison.wave.along[axis]; i++) {
      const uint32_t m = i / N, n = i % N;
      struct heisenberg_wave_sum cosine = {0, 0}, sine = {0, 0};
      for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
        add_waves<RULES>(&comparison, both, m, n, axis, k, &cosine, &sine);
      add_wave_of_warp(&cosine, &all->wave[m].cosine[n][axis]);
      add_wave_of_warp(&sine, &all->wave[m].sine[n][axis]);
    }
}

/* ---- all together ---- */

static __global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct heisenberg_gpu_comparison comparison)
{
  const struct heisenberg_replicas *replicas = &comparison.replicas;
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x;
  if (replica >= replicas->batch.size[comparison.first + blockIdx.y])
    return;
  const size_t at = (size_t)blockIdx.y * replicas->batch.capacity + replica;
  heisenberg_record_pair(&comparison.wave, replicas->components,
                         2.0 * (double)replicas->lattice.colour, &comparison.sums[at],
                         comparison.pair, at);
}

template <class RULES, int N>
static enum gpumc_status
launch(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &comparison->replicas.batch;
  const uint32_t part = MEASURING_THREADS * MEASURING_STEPS;
  const uint32_t parts = (uint32_t)lattice_parts(comparison->replicas.lattice.colour, part);
  const dim3 grid((uint32_t)batch->capacity * parts, comparison->runs);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  compare<RULES, N><<<grid, MEASURING_THREADS, 0, stream>>>(*comparison, parts, part);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("compare", error));
  if (comparison->pair[HEISENBERG_PAIR_WAVE] == NULL)
    return GPUMC_OK;
  compare_waves<RULES, N><<<grid, MEASURING_THREADS, 0, stream>>>(*comparison, parts, part);
  return GPUMC_CUDA_LAUNCHED("compare_waves", error);
}

template <class RULES>
static enum gpumc_status
launch_components(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  return comparison->replicas.components == 3 ? launch<RULES, 3>(comparison, error)
                                              : launch<RULES, 2>(comparison, error);
}

enum gpumc_status
heisenberg_compare(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &comparison->replicas.batch;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  const size_t bytes = comparison->runs * batch->capacity * sizeof *comparison->sums;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, THREADS), comparison->runs);
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(comparison->sums, 0, bytes, stream), error));
  GPUMC_TRY(comparison->replicas.single
                ? launch_components<struct heisenberg_in_float>(comparison, error)
                : launch_components<struct heisenberg_in_double>(comparison, error));
  record<<<grid, THREADS, 0, stream>>>(*comparison);
  return GPUMC_CUDA_LAUNCHED("record", error);
}
