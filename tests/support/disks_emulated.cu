#include "support/disks_emulated.h"

#include <string.h>

#include <vector>

#include "models/hard_disks/checkerboard/checkerboard_whole.cuh"
#include "models/hard_disks/checkerboard/checkerboard_volume.cuh"

enum { PHILOX_SHORT = 7, PHILOX_LONG = 10, POISON = 0x5a };

static void add_counts(const struct disks_emulated *job, const struct disks_counts *counts)
{
  *job->accepted += counts->accepted;
  *job->proposed += (uint64_t)counts->cells * job->moves;
}

static struct disks_rule rule_of(const struct disks_emulated *job)
{
  struct disks_rule rule = {};
  rule.width_x = job->box.width_x;
  rule.width_y = job->box.width_y;
  rule.scale = job->scale;
  rule.moves = job->moves;
  rule.shuffle = job->shuffle;
  return rule;
}

/* Returns shared memory without useful content. */
static std::vector<float4> memory_of(size_t bytes)
{
  std::vector<float4> memory(bytes / sizeof(float4) + 1);
  memset(memory.data(), POISON, memory.size() * sizeof(float4));
  return memory;
}

template <uint32_t ROUNDS, bool OPEN, bool FEW>
static void sweep_tile(const struct disks_emulated *job, struct disks_task *task,
                       const struct disks_block *block)
{
  const uint32_t threads = job->threads;
  struct disks_counts counts = {0, 0};
  for (uint32_t thread = 0; thread < threads; thread++)
    disks_prepare(task, block, thread, threads);
  for (uint32_t thread = 0; thread < threads; thread++)
    disks_read<FEW ? DISKS_READS_OF_FEW : DISKS_READS>(task, block, thread, threads);
  for (uint32_t thread = 0; thread < threads && disks_has_more_than_two(block); thread++)
    disks_read_rest(task, block, thread, threads);
  for (uint32_t turn = 0; turn < HARD_DISKS_COLOURS; turn++)
    for (uint32_t thread = 0; thread < threads; thread++)
      disks_move_turn<ROUNDS, OPEN, FEW>(task, block, turn, thread, threads, &counts);
  for (uint32_t thread = 0; thread < threads; thread++)
    disks_write(task, block, thread, threads);
  add_counts(job, &counts);
}

template <uint32_t ROUNDS, bool OPEN, bool FEW>
static void emulate_tiles(const struct disks_emulated *job)
{
  const struct hard_disks_stored stored = hard_disks_stored_of(&job->box);
  const struct disks_tiling tiling = disks_tiling_of(&job->box, job->side[0], job->side[1]);
  std::vector<float4> memory = memory_of(disks_block_bytes(&tiling));
  const struct disks_block block = disks_block_at(memory.data(), &tiling);
  std::vector<float4> after((stored.bytes) / sizeof(float4));
  unsigned char *to = (unsigned char *)after.data();
  for (uint32_t r = 0; r < job->count; r++)
    for (uint32_t s = 0; s < job->sweeps; s++) {
      const uint32_t replica = job->first + r, time = job->time + s;
      unsigned char *from = job->replicas + r * stored.bytes;
      const struct hard_disks_box own =
          hard_disks_box_with(&job->box, ((const struct hard_disks_head *)from)->width);
      struct disks_task task;
      task.box = OPEN ? &own : &job->box;
      task.stored = &stored;
      task.tiling = &tiling;
      task.from = from;
      task.to = to;
      task.sweep = hard_disks_sweep_of(job->random, task.box, replica, time);
      if (!job->shift)
        task.sweep.distance = 0.0f;
      task.rule = rule_of(job);
      task.rule.width_x = task.box->width_x;
      task.rule.width_y = task.box->width_y;
      task.rule.group = gpumc_philox_group(job->random, replica, time);
      for (uint32_t j = 0; j < tiling.y.tiles; j++)
        for (uint32_t i = 0; i < tiling.x.tiles; i++) {
          task.tile = disks_tile_of(&tiling, task.sweep.direction, i, j);
          sweep_tile<ROUNDS, OPEN, FEW>(job, &task, &block);
        }
      for (uint32_t thread = 0; thread < job->threads; thread++)
        disks_write_head(&task, thread);
      memcpy(from, to, stored.bytes);
    }
}

template <uint32_t ROUNDS, bool OPEN> static void emulate_whole(const struct disks_emulated *job)
{
  const struct hard_disks_stored stored = hard_disks_stored_of(&job->box);
  const uint32_t threads = job->threads;
  struct disks_counts counts = {0, 0};
  struct disks_whole_task task;
  task.box = &job->box;
  task.stored = &stored;
  task.whole = disks_whole_of(&job->box, job->count + 1);
  task.present = job->count;
  task.first = job->first;
  task.from = job->replicas;
  task.random = job->random;
  task.rule = rule_of(job);
  task.shift = job->shift;
  std::vector<float4> shared = memory_of(disks_whole_memory_bytes(&task.whole));
  const struct disks_whole_memory memory = disks_whole_memory_at(shared.data(), &task.whole);
  for (uint32_t thread = 0; thread < threads; thread++)
    disks_carry<false>(&task, &memory, &memory.cells[0], thread, threads);
  for (uint32_t s = 0; s < job->sweeps; s++) {
    const struct disks_cells *cells = &memory.cells[s % 2], *next = &memory.cells[(s + 1) % 2];
    for (uint32_t thread = 0; thread < threads; thread++)
      disks_begin_sweep<OPEN>(&task, &memory, job->time + s, thread, threads);
    for (uint32_t thread = 0; thread < threads; thread++)
      disks_list_cells(&task, &memory, cells, thread, threads);
    for (uint32_t turn = 0; turn < HARD_DISKS_COLOURS; turn++)
      for (uint32_t thread = 0; thread < threads; thread++)
        disks_move_listed<ROUNDS, OPEN>(&task, &memory, cells, turn, thread, threads, &counts);
    for (uint32_t thread = 0; thread < threads; thread++)
      disks_shift_all<OPEN>(&task, &memory, cells, next, thread, threads);
  }
  for (uint32_t thread = 0; thread < threads; thread++)
    disks_carry<true>(&task, &memory, &memory.cells[job->sweeps % 2], thread, threads);
  add_counts(job, &counts);
}

template <uint32_t ROUNDS, bool OPEN> static void emulate_blocks(const struct disks_emulated *job)
{
  if (job->side[0] == 0)
    emulate_whole<ROUNDS, OPEN>(job);
  else if (job->few)
    emulate_tiles<ROUNDS, OPEN, true>(job);
  else
    emulate_tiles<ROUNDS, OPEN, false>(job);
}

template <bool OPEN> static void emulate_sweeps(const struct disks_emulated *job)
{
  if (job->random.rounds == PHILOX_SHORT)
    emulate_blocks<PHILOX_SHORT, OPEN>(job);
  else
    emulate_blocks<PHILOX_LONG, OPEN>(job);
}

/* Performs the second pass, patch by patch. */
static void emulate_patches(const struct disks_emulated *job, const struct disks_volume *volume)
{
  std::vector<float4> memory = memory_of(3 * DISKS_PATCH_PLACES * sizeof(float4));
  struct disks_patch patch;
  patch.cells.first = memory.data();
  patch.cells.second = patch.cells.first + DISKS_PATCH_PLACES;
  patch.cells.count = (uint8_t *)(patch.cells.second + DISKS_PATCH_PLACES);
  for (patch.b = 0; patch.b < job->box.cells_y; patch.b += DISKS_PATCH)
    for (patch.a = 0; patch.a < job->box.cells_x; patch.a += DISKS_PATCH) {
      for (uint32_t thread = 0; thread < job->threads; thread++)
        disks_scale_patch(volume, &patch, thread, job->threads);
      for (uint32_t thread = 0; thread < job->threads; thread++)
        disks_look_at_patch(volume, &patch, thread, job->threads);
    }
}

static void emulate_volumes(const struct disks_emulated *job, uint32_t time)
{
  const struct hard_disks_stored stored = hard_disks_stored_of(&job->box);
  const uint32_t cells = job->box.cells_x * job->box.cells_y;
  for (uint32_t r = 0; r < job->count; r++) {
    struct disks_trial trial;
    const struct disks_volume volume = {&job->box,      &stored, job->random,
                                        job->first + r, time,    job->replicas + r * stored.bytes,
                                        &trial};
    disks_try_volume(&volume, job->rule);
    if (disks_may_overlap(&trial))
      emulate_patches(job, &volume);
    for (uint32_t cell = 0; cell < cells && disks_is_taken(&trial); cell++)
      disks_scale_cell(&volume, cell);
    disks_end_volume(&volume);
  }
}

void disks_emulate(const struct disks_emulated *job)
{
  struct disks_emulated one = *job;
  if (job->rule == NULL) {
    emulate_sweeps<false>(job);
    return;
  }
  one.sweeps = 1;
  for (uint32_t s = 0; s < job->sweeps; s++) {
    one.time = job->time + s;
    emulate_sweeps<true>(&one);
    if ((one.time + 1) % job->volume_sweeps == 0)
      emulate_volumes(job, one.time);
  }
}
