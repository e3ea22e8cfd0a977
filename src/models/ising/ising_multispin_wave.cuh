/* Cosine and sine sums of a group along the axes of a wave, by the sums over its planes. */
#ifndef GPUMC_ISING_MULTISPIN_WAVE_CUH
#define GPUMC_ISING_MULTISPIN_WAVE_CUH

#include "models/ising/ising_multispin_group.cuh"

/* Of a thread's counter of one plane of the lattice, and words that it takes at once. */
enum { ISING_MULTISPIN_WAVE_PLANES = 8, ISING_MULTISPIN_WAVE_WORDS = 8 };

/* By axis and lane, of the bits that are set; sums of signed numbers as unsigned ones. */
struct ising_multispin_wave_sums {
  unsigned long long cosine[3][ISING_MULTISPIN_LANES], sine[3][ISING_MULTISPIN_LANES];
};

/* Word number i of the `colour` ones where coordinate `axis` is c (lattice/checkerboard.h). */
__device__ static inline uint32_t
ising_multispin_plane_word(const struct ising_multispin_replicas *lattice, uint32_t axis,
                           uint32_t c, uint32_t colour, uint32_t i)
{
  const uint32_t row = lattice->row.value, height = lattice->height.value;
  if (axis == 0) { /* of rows 2 i and 2 i + 1 the one that has x = c in this colour */
    const uint32_t z = gpumc_divide(2 * i, lattice->height);
    return (2 * i + ((c + z + colour) & 1)) * row + c / 2;
  }
  if (axis == 1) {
    const uint32_t z = gpumc_divide(i, lattice->row);
    return (z * height + c) * row + (i - z * row);
  }
  return c * lattice->plane + i;
}

/* Planes of the lattice that a warp counts together, a thread each or several: c = first + lane mod
 * `together`, which is a power of two. */
struct ising_multispin_planes {
  uint32_t axis, first, together;
  uint32_t words;       /* of a plane, both colours */
  uint32_t part, begin; /* words of a thread, and the calling one's first */
  uint32_t c;
};

__device__ static inline struct ising_multispin_planes
ising_multispin_planes_of(const struct ising_multispin_replicas *lattice, uint32_t length,
                          uint32_t axis, uint32_t first)
{
  const uint32_t lane = threadIdx.x % 32;
  struct ising_multispin_planes planes = {.axis = axis, .first = first, .together = 2};
  while (planes.together < length && planes.together < 32)
    planes.together *= 2;
  planes.words = 2 * (lattice->colour / length);
  planes.part = (uint32_t)ising_parts(planes.words, 32 / planes.together);
  planes.begin = lane / planes.together * planes.part;
  planes.c = first + lane % planes.together;
  return planes;
}

/* Count the words begin .. end - 1 of the calling thread's part, from another one on in every
 * thread, so that they are in different banks; then those of all threads with the same plane. */
__device__ static inline void
ising_multispin_planes_count(const struct ising_multispin_replicas *lattice, uint32_t length,
                             const struct ising_multispin_planes *planes, const uint32_t *sites,
                             uint32_t begin, uint32_t end,
                             struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> *counter)
{
  const uint32_t rest = planes->words - min(planes->begin, planes->words);
  const uint32_t mine = planes->c < length ? min(planes->part, rest) : 0;
  const uint32_t of_colour = planes->words / 2, turn = mine > 0 ? planes->c % mine : 0;
  for (uint32_t i = begin; i < end; i += ISING_MULTISPIN_WAVE_WORDS) {
    uint32_t word[ISING_MULTISPIN_WAVE_WORDS];
#pragma unroll
    for (uint32_t j = 0; j < ISING_MULTISPIN_WAVE_WORDS; j++) {
      const uint32_t turned = i + j + turn,
                     at = planes->begin + turned - (turned >= mine ? mine : 0);
      const uint32_t colour = at >= of_colour;
      const uint32_t k = ising_multispin_plane_word(lattice, planes->axis, planes->c, colour,
                                                    at - colour * of_colour);
      word[j] = i + j < min(end, mine) ? sites[colour * (size_t)lattice->colour + k] : 0;
    }
    gpumc_counter_add<0, ISING_MULTISPIN_WAVE_WORDS, ISING_MULTISPIN_WAVE_PLANES>(counter, word);
  }
  for (uint32_t width = planes->together; width < 32; width *= 2)
    gpumc_counter_share<ISING_MULTISPIN_WAVE_PLANES>(counter, width);
}

/* Add the counts of all planes, times cosine and sine, to the sums of the thread's lane. */
__device__ static inline void ising_multispin_planes_add(
    const struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> *counter,
    const int32_t *cosine, const int32_t *sine, uint32_t planes, int64_t *cosine_sum,
    int64_t *sine_sum)
{
  uint32_t column[ISING_MULTISPIN_WAVE_PLANES];
#pragma unroll
  for (int p = 0; p < ISING_MULTISPIN_WAVE_PLANES; p++)
    column[p] = gpumc_warp_column(counter->plane[p]);
#pragma unroll 2
  for (uint32_t c = 0; c < planes; c++) {
    int32_t count = 0;
#pragma unroll
    for (int p = 0; p < ISING_MULTISPIN_WAVE_PLANES; p++)
      count += (int32_t)((column[p] >> c & 1) << p);
    *cosine_sum += (int64_t)count * cosine[c];
    *sine_sum += (int64_t)count * sine[c];
  }
}

/* A warp has up to 32 planes of one axis at a time. */
__device__ static inline void
ising_multispin_wave_add(const struct ising_multispin_replicas *lattice,
                         const struct ising_wave *wave, const int32_t *cosine, const int32_t *sine,
                         const uint32_t *sites, struct ising_multispin_wave_sums *sums)
{
  const uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const uint32_t pieces = (wave->length + 31) / 32;
  for (uint32_t task = threadIdx.x / 32; task < 3 * pieces; task += warps) {
    const uint32_t axis = task / pieces, first = task % pieces * 32;
    if (!wave->along[axis])
      continue;
    const struct ising_multispin_planes planes =
        ising_multispin_planes_of(lattice, wave->length, axis, first);
    const uint32_t most = ((1u << ISING_MULTISPIN_WAVE_PLANES) - 1) / (32 / planes.together) /
                          ISING_MULTISPIN_WAVE_WORDS * ISING_MULTISPIN_WAVE_WORDS;
    int64_t cosine_sum = 0, sine_sum = 0;
    for (uint32_t begin = 0; begin < planes.part; begin += most) {
      struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> counter = {
        {
          0
        }
      };
      ising_multispin_planes_count(lattice, wave->length, &planes, sites, begin,
                                   min(begin + most, planes.part), &counter);
      ising_multispin_planes_add(&counter, cosine + first, sine + first,
                                 min(planes.together, wave->length - first), &cosine_sum,
                                 &sine_sum);
    }
    atomicAdd(&sums->cosine[axis][lane], (unsigned long long)cosine_sum);
    atomicAdd(&sums->sine[axis][lane], (unsigned long long)sine_sum);
  }
}

#endif
