/* Measures packed replicas, or the differences between two of them: bonds and spins are counted
 * word by word; for waves along x rows are counted bit by bit, along y and z each as a whole. */
#include "models/ising/ising_channels.h"
#include "models/ising/multispin/multispin_situation.cuh"
#include "models/ising/multispin/multispin_update.cuh"
#include "models/ising/packed/packed_gpu.h"
#include "models/lattice/bit_sliced.cuh"

enum {
  THREADS = 256,
  STEPS = 16,       /* loads of a thread */
  ROWS = 256,       /* that a thread counts bit by bit, */
  ROWS_AT_ONCE = 4, /* this many together; */
  COUNT_BITS = 9,   /* of such a count */
  WARP_ROWS = 16,   /* that a warp counts as a whole */
};

/* A replica of the run first + blockIdx.y, and the one that it is compared with. */
struct subject {
  const uint32_t *words, *other;
  struct ising_packed_sums *sums;
};

/* Returns false if the run has no such replica. */
__device__ static inline bool find_subject(const struct ising_packed_measurement *measurement,
                                           uint32_t replica, struct subject *subject)
{
  const struct ising_multispin_replicas *replicas = &measurement->replicas;
  const uint32_t i = blockIdx.y, m = measurement->first + i;
  if (replica >= replicas->batch.size[m])
    return false;
  subject->words = ising_packed_replica(replicas, m, replica);
  subject->other =
      measurement->pairs ? ising_packed_replica(replicas, measurement->second + i, replica) : NULL;
  subject->sums = measurement->sums + (size_t)i * replicas->batch.capacity + replica;
  return true;
}

/* Loads words k .. k + WIDTH - 1 of colour 0 and their neighbours, or the differences in them. */
template <class KIND>
__device__ static inline void
load(const struct ising_multispin_replicas *replicas, const struct subject *subject, uint32_t k,
     uint32_t spin[KIND::WIDTH], struct ising_multispin_neighbours<KIND> *near)
{
  const struct ising_multispin_place place = ising_multispin_place<KIND>(replicas, 0, k);
  ising_multispin_load<KIND::WIDTH>(subject->words + k, spin);
  ising_multispin_load_neighbours<KIND>(replicas, subject->words + replicas->colour, NULL, 0, k,
                                        place, near);
  if (subject->other == NULL)
    return;
  struct ising_multispin_neighbours<KIND> other_near;
  uint32_t other[KIND::WIDTH];
  ising_multispin_load<KIND::WIDTH>(subject->other + k, other);
  ising_multispin_load_neighbours<KIND>(replicas, subject->other + replicas->colour, NULL, 0, k,
                                        place, &other_near);
#pragma unroll
  for (int j = 0; j < KIND::WIDTH; j++) {
    spin[j] ^= other[j];
#pragma unroll
    for (int d = 0; d < KIND::NEIGHBOURS; d++)
      near->near[d][j] ^= other_near.near[d][j];
  }
}

template <class KIND>
__global__ void __launch_bounds__(THREADS)
    count(const __grid_constant__ struct ising_packed_measurement measurement, uint32_t parts)
{
  const struct ising_multispin_replicas *replicas = &measurement.replicas;
  constexpr uint32_t PART = THREADS * KIND::WIDTH * STEPS;
  const uint32_t replica = blockIdx.x / parts, n = replicas->colour;
  const uint32_t begin = (blockIdx.x - replica * parts) * PART;
  const uint32_t end = n - begin < PART ? n : begin + PART;
  const uint32_t turned = measurement.pairs ? 0 : measurement.stagger;
  struct subject subject;
  uint32_t unlike = 0, up = 0;
  if (!find_subject(&measurement, replica, &subject))
    return;
  for (uint32_t k = begin + threadIdx.x * KIND::WIDTH; k < end; k += THREADS * KIND::WIDTH) {
    struct ising_multispin_neighbours<KIND> near;
    uint32_t spin[KIND::WIDTH];
    load<KIND>(replicas, &subject, k, spin, &near);
#pragma unroll
    for (int j = 0; j < KIND::WIDTH; j++) {
      up += (uint32_t)(__popc(spin[j]) + __popc(near.near[ISING_MULTISPIN_SAME][j] ^ turned));
#pragma unroll
      for (int d = 0; d < KIND::NEIGHBOURS; d++)
        unlike += (uint32_t)__popc(spin[j] ^ near.near[d][j] ^ turned);
    }
  }
  unlike = __reduce_add_sync(UINT32_MAX, unlike);
  up = __reduce_add_sync(UINT32_MAX, up);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&subject.sums->unlike, (unsigned long long)unlike);
    atomicAdd(&subject.sums->up, (unsigned long long)up);
  }
}

__device__ static inline uint32_t word_of(const struct ising_packed_measurement *measurement,
                                          const struct subject *subject, uint32_t colour,
                                          uint32_t k)
{
  const size_t at = (size_t)colour * measurement->replicas.colour + k;
  if (subject->other != NULL)
    return subject->words[at] ^ subject->other[at];
  return subject->words[at] ^ (colour != 0 ? measurement->stagger : 0);
}

__device__ static inline uint32_t lines_of(const struct ising_multispin_replicas *replicas)
{
  return gpumc_divide(replicas->colour, replicas->row);
}

__device__ static inline void add_sum(int64_t value, unsigned long long *sum)
{
#pragma unroll
  for (uint32_t width = 16; width != 0; width /= 2)
    value += __shfl_xor_sync(UINT32_MAX, value, width);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, (unsigned long long)value);
}

/* A thread has the sites 64 i + parity + 2 b, b < 32, of ROWS rows: in each row the word i of the
 * colour at that parity. */
__global__ void __launch_bounds__(THREADS)
    add_columns(const __grid_constant__ struct ising_packed_measurement measurement,
                uint32_t blocks)
{
  const struct ising_multispin_replicas *replicas = &measurement.replicas;
  const uint32_t replica = blockIdx.x / blocks, row = replicas->row.value;
  const uint32_t index = (blockIdx.x - replica * blocks) * THREADS + threadIdx.x;
  const uint32_t pair = gpumc_divide(index, replicas->row), column = index - pair * row;
  const uint32_t parity = pair & 1, first = pair / 2 * ROWS, lines = lines_of(replicas);
  const uint32_t end = first >= lines ? first : lines - first < ROWS ? lines : first + ROWS;
  struct subject subject;
  struct gpumc_vertical_counter<COUNT_BITS> counter = {
    {
      0
    }
  };
  int64_t cosine = 0, sine = 0;
  if (!find_subject(&measurement, replica, &subject))
    return;
  for (uint32_t line = first; line < end; line += ROWS_AT_ONCE) {
    uint32_t word[ROWS_AT_ONCE];
#pragma unroll
    for (uint32_t j = 0; j < ROWS_AT_ONCE; j++) {
      const uint32_t z = gpumc_divide(line + j, replicas->height);
      const uint32_t y = line + j - z * replicas->height.value;
      word[j] = line + j < end ? word_of(&measurement, &subject, (parity + y + z) & 1,
                                         (line + j) * row + column)
                               : 0;
    }
    gpumc_counter_add<0, ROWS_AT_ONCE>(&counter, word);
  }
  for (uint32_t b = 0; b < 32 && first < end; b++) {
    const uint32_t x = ISING_PACKED_WORD_SITES * column + 2 * b + parity;
    uint32_t up = 0;
#pragma unroll
    for (uint32_t p = 0; p < COUNT_BITS; p++)
      up += (counter.plane[p] >> b & 1) << p;
    const int64_t spins = 2 * (int64_t)up - (int64_t)(end - first);
    cosine += spins * measurement.cosine[x];
    sine += spins * measurement.sine[x];
  }
  add_sum(cosine, &subject.sums->cosine[0]);
  add_sum(sine, &subject.sums->sine[0]);
}

/* A warp has WARP_ROWS rows. */
__global__ void __launch_bounds__(THREADS)
    add_rows(const __grid_constant__ struct ising_packed_measurement measurement, uint32_t blocks)
{
  const struct ising_multispin_replicas *replicas = &measurement.replicas;
  const uint32_t replica = blockIdx.x / blocks, row = replicas->row.value;
  const uint32_t warp = ((blockIdx.x - replica * blocks) * THREADS + threadIdx.x) / 32;
  const uint32_t lines = lines_of(replicas), first = warp * WARP_ROWS;
  const struct lattice_wave *wave = &measurement.wave;
  struct subject subject;
  int64_t cosine[3] = {0}, sine[3] = {0};
  if (!find_subject(&measurement, replica, &subject))
    return;
  for (uint32_t line = first; line < first + WARP_ROWS && line < lines; line++) {
    const uint32_t z = gpumc_divide(line, replicas->height);
    const uint32_t coordinate[3] = {0, line - z * replicas->height.value, z};
    int64_t spins = threadIdx.x % 32 == 0 ? -(int64_t)replicas->length_x : 0;
    for (uint32_t i = threadIdx.x % 32; i < row; i += 32)
      for (uint32_t colour = 0; colour < 2; colour++)
        spins += 2 * __popc(word_of(&measurement, &subject, colour, line * row + i));
#pragma unroll
    for (uint32_t axis = 1; axis < 3; axis++)
      if (wave->along[axis]) {
        cosine[axis] += spins * measurement.cosine[coordinate[axis]];
        sine[axis] += spins * measurement.sine[coordinate[axis]];
      }
  }
#pragma unroll
  for (uint32_t axis = 1; axis < 3; axis++) {
    add_sum(cosine[axis], &subject.sums->cosine[axis]);
    add_sum(sine[axis], &subject.sums->sine[axis]);
  }
}

__global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct ising_packed_measurement measurement)
{
  const struct ising_multispin_replicas *replicas = &measurement.replicas;
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x, i = blockIdx.y;
  if (replica >= replicas->batch.capacity || replica >= replicas->batch.size[measurement.first + i])
    return;
  const size_t element = (size_t)i * replicas->batch.capacity + replica;
  const struct ising_packed_sums *sums = &measurement.sums[element];
  const int64_t sites = (int64_t)ISING_PACKED_WORD_SITES * replicas->colour;
  const int64_t bonds = replicas->dimension * sites - 2 * (int64_t)sums->unlike;
  const int64_t spins = 2 * (int64_t)sums->up - sites;
  int64_t cosine[3], sine[3];
  for (uint32_t axis = 0; axis < 3; axis++) {
    cosine[axis] = (int64_t)sums->cosine[axis];
    sine[axis] = (int64_t)sums->sine[axis];
  }
  ising_record_sums(&measurement.channels, element, bonds, spins, spins);
  if (measurement.spin != NULL)
    measurement.spin[element] = -spins;
  if (measurement.link != NULL)
    measurement.link[element] = bonds;
  if (measurement.square != NULL)
    measurement.square[element] = lattice_wave_square(&measurement.wave, cosine, sine);
}

template <class KIND>
static enum gpumc_status
launch_count(const struct ising_packed_measurement *measurement, struct gpumc_error *error)
{
  const struct ising_multispin_replicas *replicas = &measurement->replicas;
  const uint32_t parts =
      (uint32_t)lattice_parts(replicas->colour, (size_t)THREADS * KIND::WIDTH * STEPS);
  count<KIND><<<dim3(replicas->groups * parts, measurement->runs), THREADS, 0,
                (cudaStream_t)replicas->batch.stream>>>(*measurement, parts);
  return GPUMC_CUDA_LAUNCHED("count", error);
}

template <int WIDTH>
static enum gpumc_status
launch_lattice(const struct ising_packed_measurement *measurement, struct gpumc_error *error)
{
  typedef struct ising_multispin_kind<WIDTH, 2, false, true, true, 10, 0, true> square;
  typedef struct ising_multispin_kind<WIDTH, 3, false, true, true, 10, 0, true> cubic;
  return measurement->replicas.dimension == 2 ? launch_count<square>(measurement, error)
                                              : launch_count<cubic>(measurement, error);
}

static enum gpumc_status
launch_waves(const struct ising_packed_measurement *measurement, struct gpumc_error *error)
{
  const struct ising_multispin_replicas *replicas = &measurement->replicas;
  cudaStream_t stream = (cudaStream_t)replicas->batch.stream;
  const struct lattice_wave *wave = &measurement->wave;
  const size_t row = replicas->row.value, lines = replicas->colour / row;
  const uint32_t of_columns =
      (uint32_t)lattice_parts(lattice_parts(lines, ROWS) * 2 * row, THREADS);
  const uint32_t of_rows = (uint32_t)lattice_parts(lines, WARP_ROWS * (THREADS / 32));
  if (wave->along[0]) {
    add_columns<<<dim3(replicas->groups * of_columns, measurement->runs), THREADS, 0, stream>>>(
        *measurement, of_columns);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("add_columns", error));
  }
  if (wave->along[1] || wave->along[2]) {
    add_rows<<<dim3(replicas->groups * of_rows, measurement->runs), THREADS, 0, stream>>>(
        *measurement, of_rows);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("add_rows", error));
  }
  return GPUMC_OK;
}

enum gpumc_status
ising_packed_measure(const struct ising_packed_measurement *measurement, struct gpumc_error *error)
{
  const struct ising_multispin_replicas *replicas = &measurement->replicas;
  cudaStream_t stream = (cudaStream_t)replicas->batch.stream;
  const size_t elements = measurement->runs * replicas->batch.capacity;
  const dim3 grid((uint32_t)lattice_parts(replicas->batch.capacity, THREADS), measurement->runs);
  GPUMC_TRY(GPUMC_CUDA(
      cudaMemsetAsync(measurement->sums, 0, elements * sizeof *measurement->sums, stream), error));
  GPUMC_TRY(measurement->by_fours ? launch_lattice<ISING_MULTISPIN_VECTOR>(measurement, error)
                                  : launch_lattice<1>(measurement, error));
  if (measurement->square != NULL)
    GPUMC_TRY(launch_waves(measurement, error));
  record<<<grid, THREADS, 0, stream>>>(*measurement);
  return GPUMC_CUDA_LAUNCHED("record", error);
}
