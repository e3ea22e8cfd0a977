/* Channels of hard disks on a GPU: one thread per cell goes through its disks in turn, in the order
 * of hard_disks_sums.c. Pressures and psi_6, which most measurements
 * leave out, have kernels of their own: what both need would not fit in the registers.
 *
 * nvcc: --compress-mode=size */
#include <cuda_runtime.h>

#include "models/hard_disks/checkerboard/checkerboard_gpu.h"

enum {
  WARP = 32,
  THREADS = 128,
  WARPS = THREADS / WARP,
  /* Blocks that a multiprocessor has room for: from 4 to 8 make no difference. */
  PRESSURES_AT_ONCE = 6,
  ORDERS_AT_ONCE = 5
};

/* A replica, and the current disk: its place, in `slot` of cell (a, b). */
struct view {
  const struct hard_disks_box *box;
  const float4 *first, *second;
  const uint8_t *count;
  int32_t a, b;
  uint32_t slot;
  double x, y;
};

static __device__ inline double2 disk_in(const struct view *view, uint32_t cell, uint32_t slot)
{
  const float2 *pair = (const float2 *)(slot < 2 ? view->first : view->second) + 2 * (size_t)cell;
  const float2 disk = pair[slot & 1];
  return make_double2((double)disk.x, (double)disk.y);
}

static __device__ inline uint32_t around(int32_t cell, int32_t step, uint32_t cells)
{
  return (uint32_t)(cell + step + HARD_DISKS_RINGS * (int32_t)cells) % cells;
}

/* Calls SEE with the difference to each disk of the cell that is (u, v) away from the disk's
 * own. */
template <class SEE>
static __device__ inline void see_cell(const struct view *view, int32_t u, int32_t v, SEE *with)
{
  const uint32_t cell = around(view->b, v, view->box->cells_y) * view->box->cells_x +
                        around(view->a, u, view->box->cells_x);
  const uint32_t count = view->count[cell];
  for (uint32_t s = 0; s < count; s++) {
    if (s == view->slot && u == 0 && v == 0)
      continue;
    const double2 other = disk_in(view, cell, s);
    with->see(other.x - view->x + u * (double)view->box->width_x,
              other.y - view->y + v * (double)view->box->width_y);
  }
}

/* Visits the cells of a ring: max(|u|, |v|) = ring, row by row. */
template <class SEE>
static __device__ inline void see_ring(const struct view *view, int32_t ring, SEE *with)
{
#pragma unroll 1
  for (int32_t v = -ring; v <= ring; v++)
#pragma unroll 1
    for (int32_t u = -ring; u <= ring; u += abs(v) == ring ? 1 : 2 * ring)
      see_cell(view, u, v, with);
}

/* contact: sums of this thread, THREADS apart. */
struct near {
  const int64_t *weight;
  int64_t *contact;
  double least;
  __device__ inline void see(double dx, double dy)
  {
    const double square = dx * dx + dy * dy;
    if (square >= HARD_DISKS_NEAR)
      return;
    hard_disks_add_levels(hard_disks_gap(square), weight, HARD_DISKS_CONTACT_LEVELS, contact,
                          THREADS);
    least = square < least ? square : least;
  }
};

struct order {
  struct hard_disks_polygon polygon;
  __device__ inline void see(double dx, double dy)
  {
    hard_disks_polygon_cut(&polygon, dx, dy);
  }
};

/* ---- bond order: hard_disks_order.h, as in hard_disks_sums.c ---- */

static __device__ inline uint32_t within_a_box(int32_t cell, int32_t steps, uint32_t cells)
{
  const int32_t at = cell + steps, all = (int32_t)cells;
  return (uint32_t)(at < 0 ? at + all : at >= all ? at - all : at);
}

/* As see_cell, in the periodic plane, up to a box away, without images of the disk itself. */
template <class SEE>
static __device__ inline void see_image(const struct view *view, int32_t u, int32_t v, SEE *with)
{
  const uint32_t a = within_a_box(view->a, u, view->box->cells_x),
                 b = within_a_box(view->b, v, view->box->cells_y);
  const uint32_t cell = b * view->box->cells_x + a;
  const uint32_t count = view->count[cell];
  const bool own = (int32_t)a == view->a && (int32_t)b == view->b;
  for (uint32_t s = 0; s < count; s++) {
    if (s == view->slot && own)
      continue;
    const double2 other = disk_in(view, cell, s);
    with->see(other.x - view->x + u * (double)view->box->width_x,
              other.y - view->y + v * (double)view->box->width_y);
  }
}

/* Visits the disks of the periodic plane, ring by ring, as far as a box away, or the squared
 * distance `*reach2`, which may fall meanwhile. */
template <class SEE>
static __device__ inline void see_plane(const struct view *view, const double *reach2, SEE *with)
{
  const double x = (double)view->box->width_x, y = (double)view->box->width_y, least = fmin(x, y);
  const int32_t columns = (int32_t)view->box->cells_x, rows = (int32_t)view->box->cells_y;
#pragma unroll 1
  for (int32_t ring = 0; ring <= (columns > rows ? columns : rows); ring++) {
    const int32_t top = ring < rows ? ring : rows, right = ring < columns ? ring : columns;
    if (!(hard_disks_gap2(ring, 0, least, least) < *reach2))
      return;
#pragma unroll 1
    for (int32_t v = -top; v <= top; v += ring > columns ? 2 * ring : 1) {
      const bool whole = abs(v) == ring;
#pragma unroll 1
      for (int32_t u = -right; u <= right; u += whole ? 1 : 2 * ring)
        if (hard_disks_gap2(u, v, x, y) < *reach2)
          see_image(view, u, v, with);
    }
  }
}

struct side {
  struct hard_disks_side of;
  __device__ inline void see(double dx, double dy)
  {
    hard_disks_side_cut(&of, dx, dy);
  }
};

struct sides {
  const struct view *view;
  const double *length;
  double reach2;
  struct hard_disks_directions directions;
  __device__ inline void see(double dx, double dy)
  {
    struct side side = {hard_disks_side_to(dx, dy)};
    for (int32_t k = 0; k < 4; k++) {
      double x, y;
      hard_disks_own_image(length, k, &x, &y);
      side.see(x, y);
    }
    see_plane(view, &reach2, &side);
    hard_disks_directions_add_side(&directions, &side.of);
  }
};

static __device__ __noinline__ void find_by_sides(const struct view *view, const double length[2],
                                                  double reach2,
                                                  struct hard_disks_directions *directions)
{
  struct sides sides = {view, length, reach2, {}};
  for (int32_t k = 0; k < 4; k++) {
    double dx, dy;
    hard_disks_own_image(length, k, &dx, &dy);
    sides.see(dx, dy);
  }
  see_plane(view, &reach2, &sides);
  *directions = sides.directions;
}

static __device__ __noinline__ void find_in_plane(const struct view *view, struct order *order,
                                                  struct hard_disks_directions *directions)
{
  const double length[2] = {(double)view->box->width_x * view->box->cells_x,
                            (double)view->box->width_y * view->box->cells_y};
  hard_disks_polygon_begin_box(&order->polygon, length);
  see_plane(view, &order->polygon.reach2, order);
  if (order->polygon.full)
    find_by_sides(view, length, order->polygon.reach2, directions);
}

static __device__ inline void add_pressure(const struct hard_disks_gpu_measurement *measurement,
                                           const struct view *view, int64_t *contact,
                                           int64_t *scaling)
{
  struct near near = {measurement->contact_weight, contact, HARD_DISKS_NEAR};
  const int u = hard_disks_beyond(view->x, (double)view->box->width_x);
  const int v = hard_disks_beyond(view->y, (double)view->box->width_y);
  see_cell(view, 0, 0, &near);
  see_ring(view, 1, &near);
#pragma unroll 1
  for (int step = -1; step <= 1; step++) {
    if (u != 0)
      see_cell(view, u, step, &near);
    if (v != 0)
      see_cell(view, step, v, &near);
  }
  hard_disks_add_levels(hard_disks_scaling(near.least), measurement->scaling_weight,
                        HARD_DISKS_SCALING_LEVELS, scaling, THREADS);
}

static __device__ inline void
add_order(const struct view *view, const int64_t *offset, struct hard_disks_sums *sums)
{
  const struct hard_disks_box *box = view->box;
  const int64_t side[2] = {hard_disks_side(box->cells_x, box->width_x),
                           hard_disks_side(box->cells_y, box->width_y)};
  struct order order;
  struct hard_disks_directions directions = {};
  int64_t psi6[2], length;
  hard_disks_polygon_begin(&order.polygon);
  see_cell(view, 0, 0, &order);
  for (int32_t ring = 1; ring <= HARD_DISKS_RINGS; ring++)
    see_ring(view, ring, &order);
  if (!hard_disks_polygon_is_whole(&order.polygon))
    find_in_plane(view, &order, &directions);
  if (!order.polygon.full)
    hard_disks_directions_add_edges(&directions, &order.polygon);
  hard_disks_directions_psi6(&directions, psi6, &length);
  sums->psi6[0] += psi6[0];
  sums->psi6[1] += psi6[1];
  sums->local += length;
  hard_disks_add_wave(
      psi6, hard_disks_at((uint32_t)view->a, (float)view->x, box->width_x, offset[0], side[0]),
      side[0], sums->wave[0]);
  hard_disks_add_wave(
      psi6, hard_disks_at((uint32_t)view->b, (float)view->y, box->width_y, offset[1], side[1]),
      side[1], sums->wave[1]);
}

/* Adds of_thread[n], which the threads of a block have written, to *sum[n]. */
template <int N>
static __device__ inline void
add_of_block(const int64_t (*of_thread)[THREADS], int64_t *const (&sum)[N])
{
  const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  __syncthreads();
#pragma unroll
  for (uint32_t i = 0; i < N; i++) {
    if (i % WARPS != warp)
      continue;
    int64_t part = 0;
#pragma unroll
    for (uint32_t thread = lane; thread < THREADS; thread += WARP)
      part += of_thread[i][thread];
    if (!__any_sync(UINT32_MAX, part != 0))
      continue;
#pragma unroll
    for (uint32_t width = WARP / 2; width != 0; width /= 2)
      part += __shfl_xor_sync(UINT32_MAX, part, width);
    if (lane == 0 && part != 0)
      atomicAdd((unsigned long long *)sum[i], (unsigned long long)part);
  }
}

/* Makes a view of the thread's cell; returns the number of disks in it. own: room for the replica's
 * own box; NULL: all share one. */
static __device__ inline uint32_t view_of(const struct hard_disks_replicas *replicas, size_t at,
                                          uint32_t part, struct hard_disks_box *own,
                                          struct view *view)
{
  const unsigned char *stored = replicas->replicas + at * replicas->stored.bytes;
  const uint32_t cells = replicas->box.cells_x * replicas->box.cells_y,
                 cell = part * THREADS + threadIdx.x;
  view->box = &replicas->box;
  if (own != NULL) {
    *own = hard_disks_box_with(&replicas->box, ((const struct hard_disks_head *)stored)->width);
    view->box = own;
  }
  view->first = (const float4 *)(stored + replicas->stored.first);
  view->second = (const float4 *)(stored + replicas->stored.second);
  view->count = stored + replicas->stored.count;
  view->b = (int32_t)(cell / replicas->box.cells_x);
  view->a = (int32_t)(cell - (uint32_t)view->b * replicas->box.cells_x);
  return cell < cells ? view->count[cell] : 0;
}

static __device__ inline void go_to_disk(struct view *view, uint32_t slot)
{
  const uint32_t cell = (uint32_t)view->b * view->box->cells_x + (uint32_t)view->a;
  const double2 disk = disk_in(view, cell, slot);
  view->slot = slot;
  view->x = disk.x;
  view->y = disk.y;
}

/* Also counts the disks. OPEN: replicas have boxes of their own. */
template <bool OPEN>
static __global__ void __launch_bounds__(THREADS, PRESSURES_AT_ONCE)
    pressures(const __grid_constant__ struct hard_disks_gpu_measurement measurement, uint32_t parts,
              bool pressed)
{
  const struct hard_disks_replicas *replicas = &measurement.replicas;
  const uint32_t replica = blockIdx.x / parts;
  if (replica >= replicas->batch.size[blockIdx.y])
    return;
  const size_t at = blockIdx.y * replicas->batch.capacity + replica;
  /* The sums of each thread: registers are few. */
  enum {
    DISKS,
    CONTACT,
    SCALING = CONTACT + HARD_DISKS_CONTACT_LEVELS,
    N = SCALING + HARD_DISKS_SCALING_LEVELS
  };
  __shared__ int64_t of_thread[N][THREADS];
  struct hard_disks_box own;
  struct view view;
  const uint32_t count =
      view_of(replicas, at, blockIdx.x - replica * parts, OPEN ? &own : NULL, &view);
#pragma unroll
  for (int i = 0; i < N; i++)
    of_thread[i][threadIdx.x] = i == DISKS ? count : 0;
  for (uint32_t slot = 0; pressed && slot < count; slot++) {
    go_to_disk(&view, slot);
    add_pressure(&measurement, &view, &of_thread[CONTACT][threadIdx.x],
                 &of_thread[SCALING][threadIdx.x]);
  }
  struct hard_disks_sums *all = &measurement.sums[at];
  int64_t *sum[N] = {(int64_t *)&all->disks};
#pragma unroll
  for (int k = 0; k < HARD_DISKS_CONTACT_LEVELS; k++)
    sum[CONTACT + k] = &all->contact2[k];
#pragma unroll
  for (int k = 0; k < HARD_DISKS_SCALING_LEVELS; k++)
    sum[SCALING + k] = &all->scaling[k];
  add_of_block(of_thread, sum);
}

template <bool OPEN>
static __global__ void __launch_bounds__(THREADS, ORDERS_AT_ONCE)
    orders(const __grid_constant__ struct hard_disks_gpu_measurement measurement, uint32_t parts)
{
  const struct hard_disks_replicas *replicas = &measurement.replicas;
  const uint32_t replica = blockIdx.x / parts;
  if (replica >= replicas->batch.size[blockIdx.y])
    return;
  const size_t at = blockIdx.y * replicas->batch.capacity + replica;
  const struct hard_disks_head *head =
      (const struct hard_disks_head *)(replicas->replicas + at * replicas->stored.bytes);
  struct hard_disks_sums sums = {};
  struct hard_disks_box own;
  struct view view;
  const uint32_t count =
      view_of(replicas, at, blockIdx.x - replica * parts, OPEN ? &own : NULL, &view);
  for (uint32_t slot = 0; slot < count; slot++) {
    go_to_disk(&view, slot);
    add_order(&view, head->offset, &sums);
  }
  struct hard_disks_sums *all = &measurement.sums[at];
  const int64_t value[] = {sums.psi6[0],    sums.psi6[1],    sums.local,     sums.wave[0][0],
                           sums.wave[0][1], sums.wave[1][0], sums.wave[1][1]};
  enum { N = sizeof value / sizeof *value };
  __shared__ int64_t of_thread[N][THREADS];
#pragma unroll
  for (int i = 0; i < N; i++)
    of_thread[i][threadIdx.x] = value[i];
  int64_t *const sum[] = {&all->psi6[0],    &all->psi6[1],    &all->local,     &all->wave[0][0],
                          &all->wave[0][1], &all->wave[1][0], &all->wave[1][1]};
  add_of_block(of_thread, sum);
}

static __global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct hard_disks_gpu_measurement measurement)
{
  const struct hard_disks_replicas *replicas = &measurement.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const size_t at = blockIdx.y * batch->capacity + replica;
  const struct hard_disks_head *head =
      (const struct hard_disks_head *)(replicas->replicas + at * replicas->stored.bytes);
  if (measurement.sums[at].disks != replicas->box.particles)
    atomicAdd((unsigned long long *)measurement.lost, 1ull);
  hard_disks_record(&measurement.units, &replicas->box, head, &measurement.sums[at],
                    measurement.channel, at);
}

enum gpumc_status hard_disks_measure_on_gpu(const struct hard_disks_gpu_measurement *measurement,
                                            struct gpumc_error *error)
{
  const struct hard_disks_replicas *replicas = &measurement->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const cudaStream_t stream = (cudaStream_t)batch->stream;
  const size_t bytes = batch->runs * batch->capacity * sizeof *measurement->sums;
  const uint32_t parts = (uint32_t)lattice_parts(
      (size_t)replicas->box.cells_x * replicas->box.cells_y, (size_t)THREADS);
  const dim3 grid((uint32_t)batch->capacity * parts, batch->runs);
  bool pressed = false, ordered = false;
  for (int c = 0; c < HARD_DISKS_NUMBERS; c++) {
    const bool asked = measurement->channel[c] != NULL;
    pressed = pressed || (asked && hard_disks_is_of_pressure(c));
    ordered = ordered || (asked && c >= HARD_DISKS_PSI6_REAL);
  }
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(measurement->sums, 0, bytes, stream), error));
  (measurement->open ? pressures<true> : pressures<false>)<<<grid, THREADS, 0, stream>>>(
      *measurement, parts, pressed);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("pressures", error));
  if (ordered) {
    (measurement->open ? orders<true> : orders<false>)<<<grid, THREADS, 0, stream>>>(*measurement,
                                                                                     parts);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("orders", error));
  }
  const dim3 few((uint32_t)lattice_parts(batch->capacity, (size_t)THREADS), batch->runs);
  record<<<few, THREADS, 0, stream>>>(*measurement);
  return GPUMC_CUDA_LAUNCHED("record", error);
}
