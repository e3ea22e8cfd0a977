/* The kernel `checkerboard` of hard disks on the CPU: threads over replicas, or over the rows of a
 * few large ones. */
#include <string.h>

#include "core/simulation/steps.h"
#include "models/hard_disks/checkerboard/checkerboard_isa.h"
#include "models/hard_disks/hard_disks_cpu.h"

/* A block is a replica: its head, from HEAD_BYTES on x[count] and y[count], and used[m_y][2]
 * (checkerboard_isa.h). */
enum { HEAD_BYTES = 64, LANES = CHECKERBOARD_LANES };
/* With at least this many cells, a replica keeps several threads busy. */
enum { CELLS_OF_A_TEAM = 4096 };
_Static_assert(sizeof(struct hard_disks_head) <= HEAD_BYTES, "there is room for the head");

/* Rows of cells one after the other; in a row the even columns, then the odd ones; for each the
 * slots, whose columns are consecutive, so that vectors hold cells of one colour. After the columns
 * there is room for whole vectors, for a copy of the first one, and for that of the last one, which
 * precedes the columns of the next slot. */
static struct hard_disks_layout layout_of(const struct hard_disks_box *box)
{
  const size_t columns = (box->cells_x / 2 + LANES - 1) / LANES * LANES + 2;
  return (struct hard_disks_layout){.count =
                                        2 * LANES + 2 * HARD_DISKS_SLOTS * columns * box->cells_y,
                                    .first = LANES,
                                    .slot = columns,
                                    .row = 2 * HARD_DISKS_SLOTS * columns,
                                    .parity = HARD_DISKS_SLOTS * columns,
                                    .column = 1};
}

static size_t block_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_grid *grid = hard_disks_grid_of(model, plan);
  const size_t bytes =
      HEAD_BYTES + 2 * layout_of(&grid->box).count * sizeof(float) + 2 * (size_t)grid->box.cells_y;
  return (bytes + HEAD_BYTES - 1) / HEAD_BYTES * HEAD_BYTES;
}

/* Scratch of a thread: a row, or a replica if trials leave their cells or volumes are moved. */
static size_t scratch_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct hard_disks_layout layout = layout_of(&hard_disks_grid_of(model, plan)->box);
  const bool whole =
      !hard_disks_options_of(&plan->options).confine || plan->move == HARD_DISKS_VOLUME_MOVE;
  return 2 * (whole ? layout.count : layout.row) * sizeof(float);
}

static const struct hard_disks_grid *grid_of(const struct gpumc_ensemble *ensemble)
{
  return hard_disks_grid_of(ensemble->model, &ensemble->plan);
}

static struct hard_disks_replica
replica_in(const struct hard_disks_grid *grid, const struct hard_disks_layout *layout, void *block)
{
  float *x = (float *)(void *)((unsigned char *)block + HEAD_BYTES);
  return (struct hard_disks_replica){&grid->box, layout, x, x + layout->count, block};
}

static struct checkerboard_rows rows_of(const struct hard_disks_replica *replica)
{
  const struct hard_disks_layout *layout = replica->layout;
  return (struct checkerboard_rows){.box = hard_disks_box_of(replica),
                                    .row = layout->row,
                                    .parity = layout->parity,
                                    .slot = layout->slot,
                                    .columns = replica->grid->cells_x / 2,
                                    .x = replica->x + layout->first,
                                    .y = replica->y + layout->first,
                                    .used = (uint8_t *)(void *)(replica->y + layout->count)};
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  const struct hard_disks_grid *grid = grid_of(ensemble);
  const struct hard_disks_layout layout = layout_of(&grid->box);
  const struct lattice_cpu_storage *storage = ensemble->storage;
  (void)error;
#pragma omp parallel for schedule(static) num_threads(storage->threads)
  for (size_t r = 0; r < count; r++) {
    const struct hard_disks_replica replica =
        replica_in(grid, &layout, lattice_cpu_block(storage, m, first + r));
    hard_disks_get(&replica, portable + r * ensemble->model->portable_bytes);
  }
  return GPUMC_OK;
}

/* Fills in the copies of columns, and the slots in use, of a replica that was set. */
static void complete(const struct checkerboard_rows *rows)
{
  for (size_t i = 0; i < 2 * (size_t)rows->box.cells_y; i++) {
    rows->used[i] = 0;
    for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
      const size_t start = i / 2 * rows->row + i % 2 * rows->parity + s * rows->slot;
      float *const of[2] = {rows->x + start, rows->y + start};
      for (size_t d = 0; d < 2; d++) {
        of[d][-1] = of[d][rows->columns - 1];
        of[d][rows->columns] = of[d][0];
      }
      for (size_t column = 0; column < rows->columns; column++)
        if (of[0][column] >= 0.0f)
          rows->used[i] = (uint8_t)(s + 1);
    }
  }
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  const struct hard_disks_grid *grid = grid_of(ensemble);
  const struct hard_disks_layout layout = layout_of(&grid->box);
  for (size_t r = 0; r < count; r++) {
    const struct hard_disks_replica replica =
        replica_in(grid, &layout, lattice_cpu_block(ensemble->storage, m, first + r));
    GPUMC_TRY(
        hard_disks_set(grid, portable + r * ensemble->model->portable_bytes, &replica, error));
    const struct checkerboard_rows rows = rows_of(&replica);
    complete(&rows);
  }
  return GPUMC_OK;
}

/* ---- sweeps ---- */

static void note_full(const struct gpumc_ensemble *ensemble)
{
  struct hard_disks_own *own = hard_disks_own_of(ensemble);
#pragma omp atomic write
  own->full = true;
}

static void add_counts(const struct gpumc_ensemble *ensemble, size_t m,
                       const struct checkerboard_counts *counts)
{
  gpumc_steps_count(ensemble, m, counts->accepted);
  gpumc_steps_propose(ensemble, m, counts->proposed);
}

static void sweep_plain(const struct gpumc_ensemble *ensemble,
                        const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct hard_disks_grid *grid = grid_of(ensemble);
  const struct hard_disks_layout layout = layout_of(&grid->box);
  const struct hard_disks_replica replica = replica_in(grid, &layout, place->data);
  float *scratch = lattice_cpu_scratch(ensemble->storage);
  struct hard_disks_box box;
  struct checkerboard_sweeps job = {
      .box = &box,
      .options = hard_disks_options_of(&ensemble->plan.options),
      .scale = hard_disks_scale(ensemble->step[place->run]),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
      .sweeps = 1,
  };
  struct checkerboard_counts counts = {0};
  for (uint32_t t = 0; t < sweeps; t++) {
    box = hard_disks_box_of(&replica);
    job.time = ensemble->time + t;
    if (!checkerboard_plain(&job, &replica, scratch, &counts))
      note_full(ensemble);
    if (hard_disks_moves_volume(&ensemble->plan, job.time))
      checkerboard_plain_volume(&hard_disks_own_of(ensemble)->rule[place->run], job.random,
                                job.replica, job.time, &replica, scratch);
  }
  const struct checkerboard_rows rows = rows_of(&replica);
  complete(&rows);
  add_counts(ensemble, place->run, &counts);
}

/* Threads that sweep one replica, each with an even number of rows of its own. */
struct team {
  const struct lattice_cpu_storage *storage;
  const struct checkerboard_ops *ops;
  const struct checkerboard_volume_ops *volume_ops;
  size_t threads, thread, begin, end;
};

static struct team team_of(const struct gpumc_ensemble *ensemble, size_t threads, size_t thread)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t pairs = grid_of(ensemble)->box.cells_y / 2;
  return (struct team){.storage = storage,
                       .ops = GPUMC_ISA_OBJECT(checkerboard_ops, storage->isa),
                       .volume_ops = GPUMC_ISA_OBJECT(checkerboard_volume_ops, storage->isa),
                       .threads = threads,
                       .thread = thread,
                       .begin = 2 * (pairs * thread / threads),
                       .end = 2 * (pairs * (thread + 1) / threads)};
}

/* Returns the row that thread `thread` of the team keeps for its neighbour: x[row], y[row]. A team
 * of one may be any thread of another team. */
static float *kept_row(const struct team *team, size_t thread)
{
  if (team->threads == 1)
    return lattice_cpu_scratch(team->storage);
  return (float *)(void *)((unsigned char *)team->storage->scratch +
                           thread * team->storage->scratch_bytes);
}

/* Waits for all threads of the team. */
static void meet(const struct team *team)
{
  if (team->threads > 1) {
#pragma omp barrier
  }
}

/* All threads of a team call this. */
static bool shift(const struct team *team, const struct checkerboard_job *job)
{
  const struct checkerboard_rows *rows = &job->rows;
  const bool up = job->sweep.direction == HARD_DISKS_UP;
  const size_t threads = team->threads, kept = up ? team->begin : team->end - 1;
  float *const row = kept_row(team, team->thread);
  memcpy(row, rows->x + kept * rows->row, rows->row * sizeof *row);
  memcpy(row + rows->row, rows->y + kept * rows->row, rows->row * sizeof *row);
  meet(team);
  const bool fits =
      team->ops->shift(job, team->begin, team->end,
                       kept_row(team, (team->thread + (up ? 1 : threads - 1)) % threads));
  meet(team);
  return fits;
}

/* ---- volume ---- */

/* Takes over the slots in use in the rows of a thread from the scaled copy. */
static void take_rows(const struct team *team, const struct checkerboard_volume *volume)
{
  const struct checkerboard_rows *from = &volume->to, *to = &volume->from;
  const size_t bytes = (from->columns + 2) * sizeof(float);
  for (size_t i = 2 * team->begin; i < 2 * team->end; i++)
    for (size_t s = 0; s < from->used[i]; s++) {
      const size_t place = i / 2 * from->row + i % 2 * from->parity + s * from->slot;
      memcpy(to->x + place - 1, from->x + place - 1, bytes);
      memcpy(to->y + place - 1, from->y + place - 1, bytes);
    }
}

static bool is_noted(const struct hard_disks_head *head)
{
  uint32_t overlap;
#pragma omp atomic read
  overlap = head->overlap;
  return overlap != 0;
}

/* Scales the rows of a thread one after the other, until any thread finds an overlap. */
static void scale_rows(const struct team *team, const struct checkerboard_volume *volume,
                       struct hard_disks_head *head)
{
  const struct checkerboard_volume_ops *ops = team->volume_ops;
  bool found = false;
  for (size_t b = team->begin; b < team->end && !found && !is_noted(head); b++) {
    ops->scale(volume, b);
    found = volume->move.overlaps && b > team->begin && ops->overlaps(volume, b);
  }
  if (found) {
#pragma omp atomic write
    head->overlap = 1;
  }
  meet(team);
  if (volume->move.overlaps && !is_noted(head) && ops->overlaps(volume, team->begin)) {
#pragma omp atomic write
    head->overlap = 1;
  }
  meet(team);
}

/* All threads of a team call this. */
static void move_volume(const struct gpumc_ensemble *ensemble,
                        const struct lattice_cpu_place *place, const struct team *team,
                        const struct hard_disks_replica *replica, struct checkerboard_job *job)
{
  const struct hard_disks_layout *layout = replica->layout;
  struct hard_disks_head *head = replica->head;
  struct checkerboard_volume volume = {.from = job->rows,
                                       .to = job->rows,
                                       .random = job->random,
                                       .replica = job->replica,
                                       .time = job->time};
  volume.move = hard_disks_volume_draw(job->random, &hard_disks_own_of(ensemble)->rule[place->run],
                                       replica->grid, head->width, job->replica, job->time);
  volume.to.box = hard_disks_box_with(replica->grid, volume.move.width);
  volume.to.x = kept_row(team, 0) + layout->first;
  volume.to.y = volume.to.x + layout->count;
  enum hard_disks_end end = volume.move.end;
  if (end == HARD_DISKS_ACCEPTED) {
    scale_rows(team, &volume, head);
    end = is_noted(head) ? HARD_DISKS_REFUSED : HARD_DISKS_ACCEPTED;
    if (end == HARD_DISKS_ACCEPTED) {
      take_rows(team, &volume);
      job->rows.box = volume.to.box;
    }
  }
  meet(team);
  if (team->thread > 0)
    return;
  head->overlap = 0;
  head->last_move = end;
  if (end == HARD_DISKS_ACCEPTED)
    hard_disks_scale_head(replica->grid, &volume.move, head);
}

/* Performs the part of one thread of the team. */
static void sweep_rows(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                       uint32_t sweeps, const struct team *team)
{
  const struct hard_disks_grid *grid = grid_of(ensemble);
  const struct hard_disks_layout layout = layout_of(&grid->box);
  const struct hard_disks_replica replica = replica_in(grid, &layout, place->data);
  struct checkerboard_job job = {
      .rows = rows_of(&replica),
      .options = hard_disks_options_of(&ensemble->plan.options),
      .scale = hard_disks_scale(ensemble->step[place->run]),
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
  };
  struct checkerboard_counts counts = {0};
  for (uint32_t t = 0; t < sweeps; t++) {
    job.time = ensemble->time + t;
    job.sweep = hard_disks_sweep_of(job.random, &job.rows.box, job.replica, job.time);
    for (uint32_t c = 0; c < HARD_DISKS_COLOURS; c++) {
      const uint32_t colour = hard_disks_number(job.sweep.colours, c);
      const struct checkerboard_counts of_colour =
          team->ops->move(&job, colour, team->begin + colour / 2, team->end);
      counts.accepted += of_colour.accepted;
      counts.proposed += of_colour.proposed;
      meet(team);
    }
    if (job.options.shift && !shift(team, &job))
      note_full(ensemble);
    if (job.options.shift && team->thread == 0)
      hard_disks_shift_offsets(&job.rows.box, &job.sweep, replica.head->offset);
    if (hard_disks_moves_volume(&ensemble->plan, job.time))
      move_volume(ensemble, place, team, &replica, &job);
  }
  add_counts(ensemble, place->run, &counts);
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  if (!hard_disks_options_of(&ensemble->plan.options).confine) {
    sweep_plain(ensemble, place, sweeps);
    return;
  }
  const struct team team = team_of(ensemble, 1, 0);
  sweep_rows(ensemble, place, sweeps, &team);
}

/* Sweeps replicas one after the other, each with all threads. */
static void sweep_by_team(const struct gpumc_ensemble *ensemble, uint32_t sweeps, size_t threads)
{
  const size_t places = lattice_cpu_places(ensemble);
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count == 0)
      continue;
#pragma omp parallel num_threads((int)threads)
    {
      const struct team team =
          team_of(ensemble, (size_t)omp_get_num_threads(), (size_t)omp_get_thread_num());
      sweep_rows(ensemble, &place, sweeps, &team);
    }
  }
}

/* Returns the threads of a team for each replica; 1: each thread has replicas of its own. */
static size_t team_threads(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const struct hard_disks_box *box = &grid_of(ensemble)->box;
  const size_t threads = (size_t)storage->threads, pairs = box->cells_y / 2;
  const bool large = (size_t)box->cells_x * box->cells_y >= CELLS_OF_A_TEAM;
  const bool few = lattice_cpu_places(ensemble) < 2 * threads;
  if (!few || !large || !hard_disks_options_of(&ensemble->plan.options).confine)
    return 1;
  return threads < pairs ? threads : pairs;
}

static enum gpumc_status measure_place(const struct gpumc_ensemble *ensemble,
                                       const struct lattice_cpu_place *place,
                                       int64_t *const *channel, struct gpumc_error *error)
{
  const struct hard_disks_grid *grid = grid_of(ensemble);
  const struct hard_disks_layout layout = layout_of(&grid->box);
  const struct hard_disks_replica replica = replica_in(grid, &layout, place->data);
  return hard_disks_measure(ensemble->model, &replica, channel,
                            place->run * ensemble->plan.capacity + place->first, error);
}

static const struct lattice_cpu_layout layout = {.replicas = 1,
                                                 .buffers = 1,
                                                 .block_bytes = block_bytes,
                                                 .scratch_bytes = scratch_bytes,
                                                 HARD_DISKS_OWN,
                                                 .sweep = sweep};
LATTICE_CPU_BYTES_AND_CREATE(layout)

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return hard_disks_measure_places(ensemble, measure_place, channel, error);
}

static enum gpumc_status inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return hard_disks_inspect_places(ensemble, measure_place, error);
}

static enum gpumc_status sweep_all(struct gpumc_ensemble *ensemble,
                                   const struct gpumc_target *target, uint32_t sweeps,
                                   int64_t *const *channel, struct gpumc_error *error)
{
  const size_t threads = team_threads(ensemble);
  GPUMC_TRY(hard_disks_set_rules(ensemble, target, sweeps, error));
  if (threads > 1)
    sweep_by_team(ensemble, sweeps, threads);
  else
    GPUMC_TRY(lattice_cpu_sweep(ensemble, target, sweeps, NULL, error));
  if (hard_disks_own_of(ensemble)->full)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "a cell has more than %d disks, so disks overlap: this is a mistake in "
                           "gpumc or damage to its memory, not in the configuration: please report "
                           "it",
                           HARD_DISKS_SLOTS);
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

const struct gpumc_kernel_ops hard_disks_checkerboard_cpu = {
    HARD_DISKS_CHECKERBOARD_NAMES,
    .device = "cpu",
    .bytes = bytes,
    .create = create,
    .destroy = lattice_cpu_destroy,
    .start = hard_disks_start,
    .set = set,
    .get = get,
    .sweep = sweep_all,
    .measure = measure,
    .inspect = inspect,
    .gather = lattice_cpu_gather,
    .exchange = lattice_cpu_exchange,
};
