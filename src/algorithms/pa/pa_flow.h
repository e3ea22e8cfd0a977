/* Which children change process after resampling: rules on whole numbers alone, the same in every
 * process and for every device.
 *
 * Process p has children without a place of their own, and free places. Both are numbered through
 * all processes, one after the other, and child k takes free place k:
 *
 *   children of   | 0 0 0 0 0 | 1 1 | 2 2 2 |      number of the first one: 0, 5, 7; in all 10
 *   places of     | 0 0 0 | 1 1 1 1 | 2 2 2 |                               0, 3, 7
 *   moves               0 to 1: 2                  all others stay
 */
#ifndef GPUMC_ALGORITHMS_PA_FLOW_H
#define GPUMC_ALGORITHMS_PA_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process's children without a place, and its free places, in a run. */
struct pa_need {
  uint64_t children, places;
};

/* Known to all processes about one process's replicas of a run: */
struct pa_kept {
  uint64_t own, places;    /* before resampling, after */
  uint64_t copies, living; /* of these replicas; those that have any */
  bool last;               /* no later process had replicas before */
};

/* Derives `need` from that, since a replica with copies keeps its place if that is below the new
 * size. If only some places are below it, it cannot be derived: for the last process both numbers
 * are too large by the same amount, which changes nothing for others; for another one false is
 * returned. */
bool pa_flow_need(const struct pa_kept *kept, struct pa_need *need);

struct pa_flow {
  int size, rank; /* of the processes */
  size_t runs;
  const struct pa_need *need; /* [size][runs], borrowed */
  uint64_t *child, *place;    /* [runs][size + 1], borrowed: numbers of the first of each process */
};

/* Fill in `child` and `place`. */
void pa_flow_number(struct pa_flow *flow);
/* Children of run m that go from one process to another: the number of the first of them among
 * those of `from`, the first place among those of `to`, and how many there are. */
struct pa_stream {
  uint64_t child, place;
  size_t count;
};
struct pa_stream pa_flow_stream(const struct pa_flow *flow, size_t m, int from, int to);
/* Returns an upper bound on what any process has for another, summed over the runs; in a single run
 * it is exact. */
size_t pa_flow_most(const struct pa_flow *flow);
/* Cuts a stream whose children are number `before` and following ones: returns those among number
 * first .. first + count - 1. */
struct pa_stream pa_stream_cut(struct pa_stream stream, size_t before, size_t first, size_t count);

#endif
