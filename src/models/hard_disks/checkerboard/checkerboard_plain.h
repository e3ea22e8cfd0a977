/* The sweep of `checkerboard` in plain loops over cells, for any layout: the reference for the
 * vectorised sweep, also used for trials that leave their cells. */
#ifndef GPUMC_HARD_DISKS_CHECKERBOARD_PLAIN_H
#define GPUMC_HARD_DISKS_CHECKERBOARD_PLAIN_H

#include "models/hard_disks/hard_disks.h"

/* Successive sweeps of one replica. */
struct checkerboard_sweeps {
  const struct hard_disks_box *box;
  struct hard_disks_options options;
  float scale; /* hard_disks_scale() */
  struct gpumc_random random;
  uint32_t replica, time, sweeps;
};

/* Numbers of trials and of accepted trials. */
struct checkerboard_counts {
  uint64_t accepted, proposed;
};

/* scratch[2][layout.count]. Adds to *counts. Returns false if a cell has more disks than slots. */
bool checkerboard_plain(const struct checkerboard_sweeps *sweeps,
                        const struct hard_disks_replica *replica, float *scratch,
                        struct checkerboard_counts *counts);

/* Performs the volume move of one replica at the end of the sweep at `time`; scratch as above. */
void checkerboard_plain_volume(const struct hard_disks_volume_rule *rule,
                               struct gpumc_random random, uint32_t number, uint32_t time,
                               const struct hard_disks_replica *replica, float *scratch);

#endif
