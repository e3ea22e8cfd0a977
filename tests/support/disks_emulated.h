/* Sweeps of the `checkerboard` kernel for hard disks as on a GPU, thread by thread on the CPU: the
 * code of checkerboard_tile.cuh and checkerboard_whole.cuh, which both compilers read. */
#ifndef TESTS_SUPPORT_DISKS_EMULATED_H
#define TESTS_SUPPORT_DISKS_EMULATED_H

#include "models/hard_disks/checkerboard/checkerboard_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sweeps time .. time + sweeps - 1 of replicas first .. first + count - 1 of a run, each `stored`
 * as in device memory, one after another in `replicas`. */
struct disks_emulated {
  struct hard_disks_box box;
  struct gpumc_random random;
  uint32_t first, count, time, sweeps, moves;
  uint32_t shuffle, shift;
  float scale;
  uint32_t side[2]; /* side lengths of the tiles; 0: whole replicas in one block */
  bool few;         /* tiles as if there were few of them */
  uint32_t threads; /* threads per block */
  /* The volume moves after sweeps whose end is a multiple of volume_sweeps; NULL: it stays. */
  const struct hard_disks_volume_rule *rule;
  uint32_t volume_sweeps;
  unsigned char *replicas;
  uint64_t *accepted, *proposed; /* counts of trials, added to */
};

void disks_emulate(const struct disks_emulated *job);

#ifdef __cplusplus
}
#endif

#endif
