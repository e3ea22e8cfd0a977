/* Sweeps of packed replicas in shared memory, many in one launch: a block of threads has a strip of
 * a replica (lattice/strips.h), whole rows of a square lattice or whole planes of a cubic one, or
 * all of it.
 *
 * nvcc: --compress-mode=size */
#include "models/ising/packed/packed_kind.cuh"
#include "models/lattice/strips.cuh"

enum { STATIC_BYTES = ISING_MULTISPIN_ROWS * ISING_MULTISPIN_COLUMNS * sizeof(uint32_t) };

/* A strip in shared memory: words[2 colours][colour], with a layer of each neighbour before and
 * after its own unless the replica is whole. */
struct strip {
  uint32_t layer;          /* words of a layer */
  uint32_t first, own;     /* in the replica: the first of its words; how many there are */
  uint32_t margin, colour; /* words of a neighbour's layer, and all, of one colour */
  uint32_t odd;            /* whether the first layer in shared memory is an odd one */
};

__device__ static inline struct strip strip_of(const struct ising_multispin_replicas *replicas,
                                               const struct lattice_strips *strips, uint32_t number)
{
  struct strip strip;
  strip.layer = ising_packed_layer(replicas);
  const uint32_t layers = replicas->colour / strip.layer;
  const uint32_t begin = lattice_strip_begin(layers, strips->count, number);
  strip.first = begin * strip.layer;
  strip.own = (lattice_strip_begin(layers, strips->count, number + 1) - begin) * strip.layer;
  strip.margin = strips->count > 1 ? strip.layer : 0;
  strip.colour = strip.own + 2 * strip.margin;
  strip.odd = (begin ^ (strips->count > 1)) & 1;
  return strip;
}

/* Copies the strip's own words from the replica, or back. */
__device__ static inline void copy(const struct ising_multispin_replicas *replicas,
                                   const struct strip *strip, uint32_t *replica, uint32_t *words,
                                   bool back)
{
  for (uint32_t i = threadIdx.x; i < 2 * strip->own; i += blockDim.x) {
    const uint32_t colour = i >= strip->own, k = i - colour * strip->own;
    uint32_t *here = words + colour * strip->colour + strip->margin + k,
             *there = replica + (size_t)colour * replicas->colour + strip->first + k;
    *(back ? there : here) = *(back ? here : there);
  }
}

/* Copies the neighbours' layers of colour 1 from the replica. */
__device__ static inline void copy_margins(const struct ising_multispin_replicas *replicas,
                                           const struct strip *strip, const uint32_t *replica,
                                           uint32_t *words)
{
  const uint32_t n = replicas->colour, after = strip->first + strip->own;
  for (uint32_t i = threadIdx.x; i < strip->margin; i += blockDim.x) {
    words[strip->colour + i] =
        replica[n + (strip->first == 0 ? n : strip->first) - strip->margin + i];
    words[strip->colour + strip->margin + strip->own + i] =
        replica[n + (after == n ? 0 : after) + i];
  }
}

/* Sends what the calling thread has updated: the words k, k + step, .. of `width` each. */
__device__ static inline void send(const struct lattice_turn *turn,
                                   const struct lattice_strips *strips, const struct strip *strip,
                                   const uint32_t *sites, uint32_t width)
{
  const uint32_t last = strip->own - strip->layer;
  for (uint32_t k = threadIdx.x * width; k < strip->own; k += blockDim.x * width)
    for (uint32_t j = k; j < k + width; j++) {
      if (j < strip->layer)
        lattice_send(turn, strips, 0, j, sites[strip->margin + j]);
      if (j >= last)
        lattice_send(turn, strips, 1, j - last, sites[strip->margin + j]);
    }
}

__device__ static inline void
receive(const struct lattice_turn *turn, const struct strip *strip, uint32_t *sites)
{
  for (uint32_t i = threadIdx.x; i < 2 * strip->layer; i += blockDim.x) {
    const bool after = i >= strip->layer;
    const uint32_t j = after ? i - strip->layer : i;
    sites[after ? strip->margin + strip->own + j : j] =
        lattice_receive(turn, (after ? turn->after : turn->before) + j);
  }
}

template <class KIND>
__global__ void __launch_bounds__(ISING_MULTISPIN_THREADS, 1)
    sweep_strips(const __grid_constant__ struct ising_multispin_sweep sweep)
{
  extern __shared__ uint4 shared[];
  const struct ising_multispin_replicas *replicas = &sweep.replicas;
  const struct lattice_strips *strips = &sweep.strips;
  ising_multispin_queue<KIND> *queues = (ising_multispin_queue<KIND> *)shared,
                              *queue = queues + threadIdx.x / 32;
  const uint32_t m = blockIdx.y, replica = blockIdx.x / strips->count;
  if (replica >= replicas->batch.size[m])
    return;
  const struct strip strip = strip_of(replicas, strips, blockIdx.x - replica * strips->count);
  uint32_t *words = (uint32_t *)(queues + blockDim.x / 32),
           *stored = ising_packed_replica(replicas, m, replica);
  struct ising_multispin_replicas local = *replicas;
  local.colour = strip.colour;
  if (threadIdx.x % 32 == 0)
    queue->count = 0;
  const uint32_t(*rows)[ISING_MULTISPIN_COLUMNS] = ising_multispin_rows<KIND>(&sweep.rule, m);
  copy(replicas, &strip, stored, words, false);
  copy_margins(replicas, &strip, stored, words);
  __syncthreads();
  const struct gpumc_random generator = lattice_batch_random(&replicas->batch, m);
  const uint32_t in_batch = lattice_batch_replica(&replicas->batch, replica);
  const struct lattice_post post =
      lattice_post_of(strips, gridDim.x * gridDim.y, m * gridDim.x + blockIdx.x);
#pragma unroll 1
  for (uint32_t turn = 0; turn < 2 * sweep.sweeps; turn++) {
    const uint32_t number = turn & 1;
    const struct gpumc_philox_group random =
        gpumc_philox_group(generator, in_batch, replicas->batch.time + turn / 2);
    uint32_t *sites = words + number * strip.colour;
    const struct ising_multispin_colour colour = {sites,
                                                  words + (1 - number) * strip.colour,
                                                  NULL,
                                                  rows,
                                                  sweep.rule.physics.heat_bath ? 0 : UINT32_MAX,
                                                  number ^ strip.odd,
                                                  number * replicas->colour + strip.first -
                                                      strip.margin,
                                                  strip.margin,
                                                  strip.margin + strip.own};
    ising_multispin_update_colour<KIND>(&local, &random, &colour, threadIdx.x, blockDim.x, false,
                                        queue);
    if (strips->count > 1 && turn < lattice_strips_turns(sweep.sweeps)) {
      const struct lattice_turn mail = lattice_turn_of(&post, strips, turn);
      __syncwarp();
      send(&mail, strips, &strip, sites, KIND::WIDTH);
      receive(&mail, &strip, sites);
    }
    __syncthreads();
  }
  copy(replicas, &strip, stored, words, true);
}

/* Returns the shared memory of the largest strip. */
static size_t
strip_bytes(const struct ising_multispin_replicas *replicas, uint32_t count, uint32_t threads)
{
  const uint32_t layer = ising_packed_layer(replicas);
  const size_t layers = lattice_strip_most(replicas->colour / layer, count) + (count > 1 ? 2 : 0);
  return ising_multispin_queue_bytes(replicas, threads) + 2 * layers * layer * sizeof(uint32_t);
}

int ising_packed_strips_fit(const struct ising_multispin_sweep *sweep, size_t shared_bytes)
{
  return strip_bytes(&sweep->replicas, sweep->strips.count, sweep->spread.threads) + STATIC_BYTES <=
         shared_bytes;
}

struct strips_launch {
  static constexpr bool EITHER = true;
  template <class KIND>
  static enum gpumc_status
  launch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
  {
    typedef ising_packed_kind<KIND> packed;
    const struct ising_multispin_replicas *replicas = &sweep->replicas;
    const uint32_t count = sweep->strips.count, threads = sweep->spread.threads;
    return lattice_launch_strips(
        sweep_strips<packed>, &sweep->strips, dim3(replicas->groups * count, replicas->batch.runs),
        threads, strip_bytes(replicas, count, threads), replicas->batch.stream, error, *sweep);
  }
};

enum gpumc_status
ising_packed_sweep_strips(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return ising_packed_dispatch<strips_launch>(sweep, error);
}
