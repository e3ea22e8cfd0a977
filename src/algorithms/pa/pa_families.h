/* Families of a population that is divided among processes. Each family is counted by its owner,
 * the process that has the founder's place: its own replicas on the device, and strangers, members
 * of the family in other processes, from what these send.
 *
 *   families, by owner    | 0 1 2 | 3 4 5 | 6 7 |        process 1 sends
 *   in process 1            1       3 3 4   6            to 0: (1: 1)    to 2: (6: 1) */
#ifndef GPUMC_ALGORITHMS_PA_FAMILIES_H
#define GPUMC_ALGORITHMS_PA_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct gpumc_processes;

/* Members of a family, and how many of them have the lowest value of the whole run. The cell of a
 * family of run m is m * width + family - first, where width and first are those of its owner's
 * families. */
struct pa_kin {
  uint32_t cell, members, lowest;
};

/* A replica whose family's founder has its place in another process. run_and_lowest is 2 m + 1 if
 * the replica has the lowest value of run m, otherwise 2 m. */
struct pa_stranger {
  uint32_t family, run_and_lowest;
};

struct pa_owners {
  const struct gpumc_processes *processes;
  int threads; /* that count */
  size_t runs, founders;
  size_t *first; /* [processes + 1] the first place of each, and the end */
  /* Families are counted in blocks of 2^shift. The arrays hold: the strangers, sorted by block;
   * where those of each thread begin in each block; and the families of a block, as many as were
   * found, starting where its strangers start. */
  uint32_t shift;
  size_t blocks;                /* of all runs */
  struct pa_stranger *stranger; /* [own replicas of all runs] */
  struct pa_kin *family;        /* [own replicas], cells being families */
  size_t *next, *found;         /* [threads][blocks], [blocks] */
  struct pa_kin *scratch;       /* [threads][2^shift], cleared */
  struct pa_kin *item;          /* [own replicas] for their owners, one after the other */
  struct pa_kin *received;      /* grows */
  size_t received_room;
  uint64_t *told, *heard;       /* [processes] items for each, and from each */
  size_t *place, *n_out, *n_in; /* [processes] items, bytes */
};

/* Returns how many families a process owns: the founders among its places. */
static inline size_t pa_owners_width(const struct pa_owners *owners, int rank)
{
  const size_t first = owners->first[rank], end = owners->first[rank + 1];
  const size_t last = end < owners->founders ? end : owners->founders;
  return last > first ? last - first : 0;
}

/* Returns the process that has a place. `guess`: where to start looking. */
static inline int pa_owners_find(const struct pa_owners *owners, size_t place, int guess)
{
  while (place < owners->first[guess])
    guess--;
  while (place >= owners->first[guess + 1])
    guess++;
  return guess;
}

/* Counts n strangers of one run by family. Returns the number of families, which fill item[] with
 * families as cells. scratch[], for the families from `first` on, must be cleared and is cleared
 * again on return. */
size_t pa_families_count(const struct pa_stranger *stranger, size_t n, uint32_t first,
                         struct pa_kin *scratch, struct pa_kin *item);

/* Adds further members of a family to its word of `members` (pa_device.h), which has those counted
 * so far, and to the results of its run of `size` replicas. */
struct pa_tallied;
void pa_add_kin(uint32_t *word, const struct pa_kin *kin, uint64_t size,
                struct pa_tallied *tallied);

/* `first`: [processes + 1], copied. */
GPUMC_MUST_CHECK enum gpumc_status
pa_owners_create(const struct gpumc_processes *processes, const size_t *first, size_t runs,
                 size_t founders, int threads, struct pa_owners *owners, struct gpumc_error *error);
void pa_owners_free(struct pa_owners *owners);
size_t pa_owners_bytes_of_replica(void);
/* The memory of `threads` threads, in addition. */
size_t pa_owners_scratch_bytes(size_t runs, size_t founders, int threads);

/* Sends the counts of n strangers to their owners. received[0 .. *count - 1] is what the others
 * send of families that this process owns; several may send the same family. Collective. */
GPUMC_MUST_CHECK enum gpumc_status pa_owners_count(struct pa_owners *owners,
                                                   const struct pa_stranger *stranger, size_t n,
                                                   size_t *count, struct gpumc_error *error);

#endif
