/* Lattices cut into strips of whole layers or words, a block of threads for each, which sweeps its
 * strip in shared memory for many sweeps of one launch. After every colour it sends the words at
 * both ends to the blocks beside it, through device memory, and waits for theirs: for nothing else,
 * so that no barrier holds up the whole grid.
 *
 * A message is one word with a tag, stored at once as 64 bits: who reads the tag has the word. Tags
 * count the messages of an ensemble, and slots are used in turn: a block sends into a slot for the
 * second time only after its neighbours have answered, that is, have read the first message.
 *
 * All blocks of a launch have to run at the same time (strips.cuh). */
#ifndef GPUMC_LATTICE_STRIPS_H
#define GPUMC_LATTICE_STRIPS_H

#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

enum {
  LATTICE_STRIPS_MAXIMUM = 256, /* of all replicas together, where these are cut */
  LATTICE_STRIP_ENDS = 2,       /* the first words, and the last ones */
  LATTICE_STRIP_SLOTS = 2,
  LATTICE_STRIPS_SWEEPS = 1 << 16, /* of one launch, at most */
};

/* mail[slots][strips of all replicas][ends][edge], device memory; edge: words that an end sends,
 * which a neighbour needs. */
struct lattice_strips {
  uint32_t count; /* of a replica; 1: it is whole, and there is no mail */
  uint32_t edge;
  uint32_t tag; /* that of the last message before this launch */
  uint64_t *mail;
};

/* Returns how many strips a replica may be cut into for all of `replicas` to run at the same time,
 * one on a multiprocessor; at most `most`. */
static inline uint32_t lattice_strips_count(size_t multiprocessors, size_t replicas, size_t most)
{
  const size_t all =
      multiprocessors < LATTICE_STRIPS_MAXIMUM ? multiprocessors : LATTICE_STRIPS_MAXIMUM;
  const size_t room = replicas > 0 ? all / replicas : 1, count = room < most ? room : most;
  return count < 1 ? 1 : (uint32_t)count;
}

/* Returns the bytes of mail for replicas that are cut into `most` strips at most. */
static inline size_t lattice_strips_mail_bytes(size_t replicas, size_t most, size_t edge)
{
  if (2 * replicas > LATTICE_STRIPS_MAXIMUM || most < 2)
    return 0;
  const size_t all =
      replicas * most < LATTICE_STRIPS_MAXIMUM ? replicas * most : LATTICE_STRIPS_MAXIMUM;
  return LATTICE_STRIP_SLOTS * all * LATTICE_STRIP_ENDS * edge * sizeof(uint64_t);
}

/* Returns the messages that a word of an end is sent in by `sweeps` sweeps of two colours each; the
 * last colour has nobody waiting for it. */
GPUMC_HOST_DEVICE static inline uint32_t lattice_strips_turns(uint32_t sweeps)
{
  return 2 * sweeps - 1;
}

/* Returns the first of the `units` of a lattice that belong to strip i, or their end. */
GPUMC_HOST_DEVICE static inline uint32_t
lattice_strip_begin(uint32_t units, uint32_t count, uint32_t i)
{
  return (uint32_t)((uint64_t)units * i / count);
}

/* Returns the most units of a strip. */
static inline uint32_t lattice_strip_most(uint32_t units, uint32_t count)
{
  return (units + count - 1) / count;
}

/* Returns where word i of an end of a strip of all replicas, numbered one after the other, is in
 * the mail. */
GPUMC_HOST_DEVICE static inline size_t lattice_strip_slot(const struct lattice_strips *strips,
                                                          uint32_t all, uint32_t tag,
                                                          uint32_t strip, uint32_t end, uint32_t i)
{
  const size_t of_slots = ((size_t)(tag % LATTICE_STRIP_SLOTS) * all + strip);
  return (of_slots * LATTICE_STRIP_ENDS + end) * strips->edge + i;
}

/* Returns the strip before or after one, of the same replica, periodic. */
GPUMC_HOST_DEVICE static inline uint32_t
lattice_strip_beside(const struct lattice_strips *strips, uint32_t strip, uint32_t end)
{
  const uint32_t number = strip % strips->count;
  if (end == 0)
    return number == 0 ? strip + strips->count - 1 : strip - 1;
  return number == strips->count - 1 ? strip - number : strip + 1;
}

#endif
