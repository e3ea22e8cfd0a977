/* Sweeps of the spin kernel in shared memory where replicas are few: each is cut into strips
 * (lattice/strips.h), one for each block of threads, or stays whole, and several lanes of a warp
 * share a block of spins. A block of threads has room for the whole replica, of which it keeps its
 * strip and the words beside it up to date. */
#include "models/ising/spin/spin_general.cuh"
#include "models/lattice/strips.cuh"

enum {
  WARP = 32,
  THREADS_MAXIMUM = 1024,
  WIDEST = 512,     /* of a block of threads, unless more are asked for */
  BLOCKS_LEAST = 8, /* blocks of spins of a strip */
  STATIC_BYTES = 2 * sizeof(unsigned long long) + sizeof(struct ising_run_rule),
};

/* A strip of one replica: its blocks of spins, its words, and those of the lattice that are spins.
 */
struct strip {
  uint32_t begin, end, first_word, end_word, all_words;
};

__host__ __device__ static inline struct strip
strip_of(const struct ising_spin_gpu_lattice *lattice, const struct lattice_strips *strips,
         uint32_t number)
{
  struct strip strip;
  strip.all_words = (lattice->colour + ISING_SPIN_WORD_BITS - 1) / ISING_SPIN_WORD_BITS;
  strip.begin = lattice_strip_begin(lattice->blocks, strips->count, number);
  strip.end = lattice_strip_begin(lattice->blocks, strips->count, number + 1);
  strip.first_word = strip.begin * ISING_SPIN_WORDS;
  strip.end_word = strip.end * ISING_SPIN_WORDS;
  if (strip.end_word > strip.all_words)
    strip.end_word = strip.all_words;
  return strip;
}

/* What the threads of a strip share. The rule of PLAIN and FIELD is `rule`, of the other modes
 * `run_rule`, in shared memory. */
struct common {
  struct strip strip;
  struct gpumc_random random;
  uint32_t replica;
  const struct ising_rule *rule;
  const struct ising_run_rule *run_rule;
  const uint8_t *sample;
  struct ising_spin_lane lane;
  /* Blocks of the calling thread: first, first + step, .., of which there are `rounds`. */
  uint32_t first, step, rounds;
};

/* Sets what is the calling thread's. */
__device__ static inline void share_out(struct common *common, uint32_t lanes)
{
  const uint32_t number = threadIdx.x % lanes, own = common->strip.end - common->strip.begin;
  common->lane = ising_spin_lane_of(number, lanes);
  common->first = threadIdx.x / lanes;
  common->step = blockDim.x / lanes;
  common->rounds = (own + common->step - 1) / common->step;
}

/* Returns block j of the strip: those at the ends come first, for their words are waited for. */
__device__ static inline uint32_t
block_at(const struct strip *strip, const struct lattice_strips *strips, uint32_t j)
{
  const uint32_t own = strip->end - strip->begin;
  const uint32_t ends = (strips->edge + ISING_SPIN_WORDS) / ISING_SPIN_WORDS;
  if (strips->count == 1 || j < ends || own < 2 * ends)
    return strip->begin + j;
  return j < 2 * ends ? strip->end - 1 - (j - ends) : strip->begin + j - ends;
}

__device__ static inline void send(const struct lattice_turn *turn,
                                   const struct lattice_strips *strips, const struct strip *strip,
                                   uint32_t w, uint32_t word)
{
  if (w >= strip->end_word)
    return;
  const uint32_t from_first = w - strip->first_word, to_last = strip->end_word - 1 - w;
  if (from_first < strips->edge)
    lattice_send(turn, strips, 0, from_first, word);
  if (to_last < strips->edge)
    lattice_send(turn, strips, 1, strips->edge - 1 - to_last, word);
}

__device__ static inline void receive(const struct lattice_turn *turn,
                                      const struct lattice_strips *strips,
                                      const struct strip *strip, uint32_t *words)
{
  const uint32_t edge = strips->edge;
  const uint32_t before = (strip->first_word > 0 ? strip->first_word : strip->all_words) - edge;
  const uint32_t after = strip->end_word < strip->all_words ? strip->end_word : 0;
  for (uint32_t i = threadIdx.x; i < 2 * edge; i += blockDim.x) {
    const uint32_t j = i < edge ? i : i - edge;
    words[(i < edge ? before : after) + j] =
        lattice_receive(turn, (i < edge ? turn->before : turn->after) + j);
  }
}

/* Copies the strip and, if `margins`, what is beside it, word by word. */
__device__ static inline void copy(const struct lattice_strips *strips, const struct strip *strip,
                                   uint32_t n_words, uint32_t *to, const uint32_t *from,
                                   bool margins)
{
  const uint32_t beside = margins && strips->count > 1 ? strips->edge : 0;
  const uint32_t own = strip->end_word - strip->first_word, all = own + 2 * beside;
  for (uint32_t i = threadIdx.x; i < 2 * all; i += blockDim.x) {
    const uint32_t colour = i >= all, j = i - colour * all;
    const uint32_t w = (strip->first_word + strip->all_words - beside + j) % strip->all_words;
    to[colour * n_words + w] = from[colour * n_words + w];
  }
}

template <uint32_t ROUNDS, int MODE>
__device__ static inline void
flips_of(const struct ising_spin_gpu_sweep *arguments, const struct common *common,
         const struct gpumc_philox_group *random, uint32_t colour, uint32_t block,
         struct ising_spin_lane lane, const uint32_t *words, const uint32_t *other,
         uint32_t spins[ISING_SPIN_WORDS], uint32_t flips[ISING_SPIN_WORDS])
{
  const struct ising_spin_gpu_lattice *lattice = &arguments->replicas.lattice;
  if constexpr (MODE <= ISING_SPIN_FIELD)
    ising_spin_block_flips<ROUNDS, MODE, false, true>(lattice, common->rule, random, colour, block,
                                                      lane, NULL, words, other, spins, flips);
  else
    ising_spin_block_flips_general<ROUNDS, MODE == ISING_SPIN_BY_TERMS>(
        lattice, &arguments->tables, common->run_rule, common->sample, random, colour, block, lane,
        words, other, spins, flips);
}

/* Updates one colour of the strip; all lanes of a warp take part to the end. */
template <uint32_t ROUNDS, int MODE>
__device__ static inline void
update_colour(const struct ising_spin_gpu_sweep *arguments, const struct common *common,
              const struct gpumc_philox_group *random, uint32_t colour, uint32_t *words,
              const uint32_t *other, const struct lattice_turn *turn, bool sends)
{
  const struct strip *strip = &common->strip;
  const struct lattice_strips *strips = &arguments->replicas.strips;
  const struct ising_spin_lane lane = common->lane;
  const uint32_t own = strip->end - strip->begin;
  uint32_t j = common->first;
#pragma unroll 1
  for (uint32_t i = 0; i < common->rounds; i++, j += common->step) {
    const uint32_t block = block_at(strip, strips, j < own ? j : own - 1);
    /* Lanes without a block look at words that nobody writes now; nothing is made of them. */
    const uint32_t *looked_at = j < own ? words : other;
    uint32_t spins[ISING_SPIN_WORDS], flips[ISING_SPIN_WORDS];
    flips_of<ROUNDS, MODE>(arguments, common, random, colour, block, lane, looked_at, other, spins,
                           flips);
    for (uint32_t distance = 1; distance < lane.of; distance *= 2) {
#pragma unroll
      for (int k = 0; k < ISING_SPIN_WORDS; k++)
        flips[k] |= __shfl_xor_sync(UINT32_MAX, flips[k], (int)distance);
    }
    __syncwarp(); /* all lanes of a block have read its words */
    if (j < own && lane.number == 0) {
#pragma unroll
      for (uint32_t k = 0; k < ISING_SPIN_WORDS; k++) {
        const uint32_t w = block * ISING_SPIN_WORDS + k, word = spins[k] ^ flips[k];
        words[w] = word;
        if (sends)
          send(turn, strips, strip, w, word);
      }
    }
  }
}

template <uint32_t ROUNDS, int MODE>
__device__ static inline void
sweep(const struct ising_spin_gpu_sweep *arguments, const struct common *common, uint32_t *words)
{
  const struct lattice_strips *strips = &arguments->replicas.strips;
  const uint32_t n_words = ising_spin_words(&arguments->replicas.lattice);
  const struct lattice_post post =
      lattice_post_of(strips, gridDim.x * gridDim.y, blockIdx.y * gridDim.x + blockIdx.x);
#pragma unroll 1
  for (uint32_t turn = 0; turn < 2 * arguments->sweeps; turn++) {
    const uint32_t colour = turn & 1;
    const struct gpumc_philox_group random = gpumc_philox_group(
        common->random, common->replica, arguments->replicas.batch.time + turn / 2);
    uint32_t *own = words + colour * n_words;
    const uint32_t *other = words + (1 - colour) * n_words;
    const struct lattice_turn mail = lattice_turn_of(&post, strips, turn);
    const bool sends = strips->count > 1 && turn < lattice_strips_turns(arguments->sweeps);
    update_colour<ROUNDS, MODE>(arguments, common, &random, colour, own, other, &mail, sends);
    if (sends)
      receive(&mail, strips, &common->strip, own);
    __syncthreads();
  }
}

/* EACH: every run has a rule of its own. */
template <uint32_t ROUNDS, int MODE, bool EACH>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_strips(const __grid_constant__ struct ising_spin_gpu_sweep arguments)
{
  extern __shared__ uint4 shared[];
  __shared__ struct ising_run_rule run_rule;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct lattice_strips *strips = &arguments.replicas.strips;
  const struct ising_spin_gpu_lattice *lattice = &arguments.replicas.lattice;
  const uint32_t replica = blockIdx.x / strips->count, n_words = ising_spin_words(lattice);
  if (replica >= batch->size[blockIdx.y])
    return;
  struct common common = {.strip = strip_of(lattice, strips, blockIdx.x - replica * strips->count),
                          .random = lattice_batch_random(batch, blockIdx.y),
                          .replica = lattice_batch_replica(batch, replica),
                          .rule = &arguments.rule,
                          .run_rule = &run_rule,
                          .sample = ising_spin_sample_of(&arguments.tables, replica)};
  share_out(&common, arguments.replicas.lanes);
  struct ising_rule rule;
  if constexpr (MODE > ISING_SPIN_FIELD) {
    if (threadIdx.x == 0)
      run_rule = arguments.tables.rules[blockIdx.y];
  } else if constexpr (EACH) {
    rule = ising_rule_of_words(&arguments.tables.rules[blockIdx.y]);
    common.rule = &rule;
  }
  const size_t element = blockIdx.y * batch->capacity + replica;
  uint32_t *words = (uint32_t *)shared, *stored = arguments.replicas.words + element * 2 * n_words;
  for (uint32_t w = threadIdx.x + common.strip.all_words; w < n_words; w += blockDim.x)
    words[w] = words[n_words + w] = 0;
  copy(strips, &common.strip, n_words, words, stored, true);
  __syncthreads();
  sweep<ROUNDS, MODE>(&arguments, &common, words);
  if (MODE <= ISING_SPIN_FIELD && ising_wanted(&arguments.channels))
    ising_spin_measure(lattice, &arguments.channels, {threadIdx.x, blockDim.x, UINT32_MAX, 1},
                       words, element);
  if (arguments.sweeps > 0)
    copy(strips, &common.strip, n_words, stored, words, false);
}

struct strips_kernels {
  template <uint32_t ROUNDS, int MODE, bool EACH> auto choose() const
  {
    return sweep_strips<ROUNDS, MODE, EACH>;
  }
};

static size_t replica_bytes(const struct ising_spin_gpu_lattice *lattice)
{
  return sizeof(uint32_t) * 2 * ISING_SPIN_WORDS * lattice->blocks;
}

/* The time of an update of one colour, in cycles of an H200: what a warp issues for each counter of
 * a lane and for everything else; the time that it takes if it is alone, waiting for its own
 * results; the same for blocks of spins that are not shared, where all counters go side by side; an
 * exchange of messages. The modes with tables take as many times as long. */
enum {
  ISSUE_OF_COUNTER = 64,
  ISSUE_OF_REST = 250,
  WAIT_OF_COUNTER = 90,
  WAIT_OF_REST = 750,
  WAIT_UNSHARED = 1800,
  EXCHANGE = 1700,
  TIMES_OF_TABLES = 3,
  SCHEDULERS = 4, /* of a multiprocessor */
};

/* Returns the time for a multiprocessor that has so many replicas, or strips, of `blocks` each. */
static size_t time_of(size_t replicas, size_t blocks, uint32_t lanes)
{
  const size_t counters = ISING_SPIN_COUNTERS / lanes;
  const size_t warps = replicas * lattice_parts(blocks * lanes, WARP);
  const size_t issue = counters * ISSUE_OF_COUNTER + ISSUE_OF_REST;
  const size_t time = lattice_parts(warps, SCHEDULERS) * issue;
  const size_t alone = counters * WAIT_OF_COUNTER + WAIT_OF_REST;
  return time > alone ? time : alone;
}

static size_t time_unshared(size_t replicas, size_t blocks)
{
  const size_t warps = lattice_parts(replicas * blocks, WARP);
  const size_t issue = ISING_SPIN_COUNTERS * ISSUE_OF_COUNTER + ISSUE_OF_REST;
  const size_t time = lattice_parts(warps, SCHEDULERS) * issue;
  return time > WAIT_UNSHARED ? time : WAIT_UNSHARED;
}

static uint32_t lanes_for(size_t replicas, size_t blocks)
{
  uint32_t best = 1;
  for (uint32_t lanes = 2; lanes <= ISING_SPIN_COUNTERS; lanes *= 2)
    if (time_of(replicas, blocks, lanes) < time_of(replicas, blocks, best))
      best = lanes;
  return best;
}

/* Returns how many strips a replica may be cut into, so that each has enough for its neighbours. */
static uint32_t strips_for(const struct ising_spin_replicas *replicas, size_t population)
{
  const uint32_t least = replicas->strips.edge / ISING_SPIN_WORDS + 1;
  const uint32_t part = least > BLOCKS_LEAST ? least : (uint32_t)BLOCKS_LEAST;
  return lattice_strips_count(replicas->multiprocessors, population,
                              replicas->lattice.blocks / part);
}

extern "C" int ising_spin_spread(struct ising_spin_gpu_sweep *sweep, size_t population)
{
  struct ising_spin_replicas *replicas = &sweep->replicas;
  struct lattice_strips *strips = &replicas->strips;
  const size_t blocks = replicas->lattice.blocks;
  const size_t share = lattice_parts(population, replicas->multiprocessors);
  const size_t times = sweep->mode <= ISING_SPIN_FIELD ? 1 : TIMES_OF_TABLES;
  const size_t unshared = time_unshared(share, blocks);
  strips->edge = ising_spin_edge(&replicas->lattice);
  strips->count = strips_for(replicas, population);
  const size_t part = lattice_strip_most((uint32_t)blocks, strips->count);
  replicas->lanes = lanes_for(1, part);
  size_t time = time_of(1, part, replicas->lanes) + EXCHANGE / times;
  const uint32_t lanes = lanes_for(share, blocks);
  const size_t whole = time_of(share, blocks, lanes);
  if (strips->count == 1 || whole <= time) {
    strips->count = 1;
    replicas->lanes = lanes;
    time = whole + whole / 4; /* only for a clear gain */
  }
  return time < unshared &&
         replica_bytes(&replicas->lattice) + STATIC_BYTES <= replicas->shared_bytes;
}

/* Returns the threads of a block: whole warps. */
static uint32_t threads_for(const struct ising_spin_replicas *replicas)
{
  const uint32_t blocks = lattice_strip_most(replicas->lattice.blocks, replicas->strips.count);
  const uint32_t asked = replicas->block_threads;
  const size_t wanted = asked > 0 ? asked : (size_t)blocks * replicas->lanes;
  const size_t most = asked > 0 ? THREADS_MAXIMUM : WIDEST;
  const size_t threads = lattice_parts(wanted, WARP) * WARP;
  return (uint32_t)(threads < most ? threads : most);
}

extern "C" enum gpumc_status
ising_spin_sweep_strips(const struct ising_spin_gpu_sweep *arguments, struct gpumc_error *error)
{
  const struct ising_spin_replicas *replicas = &arguments->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  auto *kernel = ising_spin_choose_kernel(arguments, strips_kernels());
  const dim3 grid((uint32_t)batch->capacity * replicas->strips.count, batch->runs);
  return lattice_launch_strips(kernel, &replicas->strips, grid, threads_for(replicas),
                               replica_bytes(&replicas->lattice), batch->stream, error, *arguments);
}
