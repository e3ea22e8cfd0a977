/* The walker kernel on a GPU: positions of the spins of a thread's replica in device memory, and
 * the surroundings of one of them. */
#ifndef GPUMC_ISING_WALKER_LANE_CUH
#define GPUMC_ISING_WALKER_LANE_CUH

#include "models/ising/walker/walker_gpu.h"
#include "models/lattice/checkerboard.h"

/* One replica: its spins are GPUMC_WALK_GROUP bytes apart. */
struct lane {
  uint8_t *spins;
  uint32_t row, height, plane, colour;
};

static __device__ inline struct lane
lane_of(const struct ising_walker_replicas *replicas, size_t run, size_t replica)
{
  const size_t group = run * replicas->groups + replica / GPUMC_WALK_GROUP;
  const size_t sites = 2 * (size_t)replicas->colour;
  return {replicas->spins + group * sites * GPUMC_WALK_GROUP + replica % GPUMC_WALK_GROUP,
          replicas->row, replicas->height, replicas->plane, replicas->colour};
}

static __device__ inline uint8_t *spin_at(struct lane lane, uint32_t colour, uint32_t k)
{
  return lane.spins + ((size_t)colour * lane.colour + k) * GPUMC_WALK_GROUP;
}

/* The sample of one replica: its numbers are `step` places apart, those of a kind `stride` more. */
struct sample {
  const uint8_t *signs;
  const int32_t *terms;
  size_t step, stride;
};

static __device__ inline struct sample sample_numbered(const struct ising_walker_replicas *replicas,
                                                       const struct ising_tables *tables,
                                                       size_t number)
{
  const uint32_t lanes = tables->lanes == 0 ? 1 : tables->lanes;
  const size_t group = tables->lanes == 0 ? 0 : number / lanes;
  const size_t lane = tables->lanes == 0 ? 0 : number % lanes;
  const uint8_t *data = tables->samples + group * tables->group_bytes;
  return {data + lane, (const int32_t *)data + lane, lanes, 2 * (size_t)replicas->colour * lanes};
}

/* Returns that of a run, if samples go by runs; otherwise 0. */
static __device__ inline size_t sample_of_run(const struct ising_tables *tables, uint32_t run)
{
  return tables->by_run == 0 ? 0 : gpumc_sample_of_run(tables->by_run, tables->plan_runs, run);
}

static __device__ inline struct sample sample_of(const struct ising_walker_replicas *replicas,
                                                 const struct ising_tables *tables, uint32_t run,
                                                 size_t replica)
{
  return sample_numbered(replicas, tables,
                         tables->by_run == 0 ? replica : sample_of_run(tables, run));
}

/* A run's part of a launch. */
struct stretch {
  uint64_t time;
  uint32_t steps;
};

static __device__ inline struct stretch
stretch_of(const struct ising_walker_walk *walk, const struct lattice_walk_run *run)
{
  const uint32_t left = run->steps > walk->done ? run->steps - walk->done : 0;
  return {run->time + walk->done, left < walk->steps ? left : walk->steps};
}

/* The position of spin k of a colour: x within its row, of half the length of the lattice. */
struct coordinates {
  uint32_t k, x, y, z;
};

template <int DIMENSION>
static __device__ inline struct coordinates coordinates_of(struct lane lane, uint32_t k)
{
  const uint32_t line = k / lane.row, z = DIMENSION == 3 ? line / lane.height : 0;
  return {k, k - line * lane.row, line - z * lane.height, z};
}

/* Advances to the next one, without divisions. */
static __device__ inline void advance(struct lane lane, struct coordinates *at)
{
  const bool row_ends = ++at->x == lane.row;
  at->k++;
  at->x = row_ends ? 0 : at->x;
  at->y += row_ends;
  const bool plane_ends = at->y == lane.height;
  at->y = plane_ends ? 0 : at->y;
  at->z += plane_ends;
}

/* Finds the neighbours of a spin of `colour` in the order of enum gpumc_neighbour, as indices of
 * the other colour. In two dimensions the plane is the colour. */
template <int DIMENSION>
static __device__ inline void
find_neighbours_at(struct lane lane, uint32_t colour, struct coordinates at,
                   uint32_t neighbour[2 * DIMENSION])
{
  const uint32_t row = lane.row, plane = lane.plane;
  const uint32_t k = at.k, x = at.x, y = at.y, z = at.z;
  neighbour[GPUMC_ROW_BEFORE] = y == 0 ? k + plane - row : k - row;
  neighbour[GPUMC_ROW_AFTER] = y == lane.height - 1 ? k + row - plane : k + row;
  neighbour[GPUMC_SAME_INDEX] = k;
  if (((y ^ z ^ colour) & 1) != 0)
    neighbour[GPUMC_SIDE] = x == row - 1 ? k + 1 - row : k + 1;
  else
    neighbour[GPUMC_SIDE] = x == 0 ? k + row - 1 : k - 1;
  if (DIMENSION == 3) {
    neighbour[DIMENSION + 1] = k < plane ? k + lane.colour - plane : k - plane;
    neighbour[DIMENSION + 2] = k >= lane.colour - plane ? k + plane - lane.colour : k + plane;
  }
}

template <int DIMENSION>
static __device__ inline void
find_neighbours(struct lane lane, uint32_t colour, uint32_t k, uint32_t neighbour[2 * DIMENSION])
{
  find_neighbours_at<DIMENSION>(lane, colour, coordinates_of<DIMENSION>(lane, k), neighbour);
}

/* near[n]: whether neighbour n is up. */
template <int DIMENSION, int KIND>
static __device__ inline uint32_t
class_of(struct sample sample, size_t position, const uint32_t near[2 * DIMENSION])
{
  const uint32_t signs = KIND == ISING_SPIN_SIGNS ? sample.signs[position * sample.step] : 0;
  uint32_t of_spin = (signs >> ISING_FIELD_SIGN & 1) * ISING_TABLE_FIELD;
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++)
    of_spin += near[n] ^ (signs >> n & 1);
  return of_spin;
}

/* Returns the local field in quanta. NUMBER: float or int64_t. */
template <int DIMENSION, typename NUMBER>
static __device__ inline NUMBER
field_of(struct sample sample, size_t position, const uint32_t near[2 * DIMENSION])
{
  const int32_t *terms = sample.terms + position * sample.step;
  NUMBER field = (NUMBER)terms[2 * DIMENSION * sample.stride];
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++) {
    const NUMBER coupling = (NUMBER)terms[n * sample.stride];
    field += near[n] != 0 ? coupling : -coupling;
  }
  return field;
}

#endif
