/* The sweep of `checkerboard` in plain loops over cells, for any layout: what vectors are held to,
 * and what trials that leave their cells need. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_PLAIN_H
#define GPUMC_HARD_DISKS_CHECKERBOARD_PLAIN_H

#include "models/hard_disks/hard_disks.h"

/* Sweeps of one replica, in turn. */
struct checkerboard_sweeps {
  const struct hard_disks_box *box;
  struct hard_disks_options options;
  float scale; /* hard_disks_scale() */
  struct gpumc_random random;
  uint32_t replica, time, sweeps;
};

/* Trials, and those of them that were accepted. */
struct checkerboard_counts {
  uint64_t accepted, proposed;
};

/* scratch[2][layout.count]. Adds to *counts. Returns false where a cell has more disks than it
 * has slots. */
bool checkerboard_plain(const struct checkerboard_sweeps *sweeps,
                        const struct hard_disks_replica *replica, float *scratch,
                        struct checkerboard_counts *counts);

/* The volume move of one replica at the end of the sweep at `time`; scratch as above. */
void checkerboard_plain_volume(const struct hard_disks_volume_rule *rule,
                               struct gpumc_random random, uint32_t number, uint32_t time,
                               const struct hard_disks_replica *replica, float *scratch);

#endif
