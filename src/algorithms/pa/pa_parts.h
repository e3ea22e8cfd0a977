/* Populations that processes divide (GPUMC_BY_REPLICAS): each has some of the places of every run,
 * and does with them what one process does with all. The findings of a step in each process's
 * replicas are passed to all before the next step uses them (core/device/transfer.h), in integers;
 * children whose place is elsewhere travel in portable form (pa_flow.h); families are counted by
 * the process that has the founder's place (pa_families.h). So every process has the outcomes of
 * the whole runs, and they are those of one process, bit for bit.
 *
 * All functions are collective. For an undivided population they do nothing. */
#ifndef GPUMC_ALGORITHMS_PA_PARTS_H
#define GPUMC_ALGORITHMS_PA_PARTS_H

#include "algorithms/pa/pa_device.h"
#include "core/device/transfer.h"
#include "core/simulation/columns.h"

/* Device memory that grows as it is needed. */
struct pa_buffer {
  struct gpumc_device *device;
  uint8_t *memory;
  size_t bytes;
};

struct pa_parts {
  const struct gpumc_processes *processes;
  struct gpumc_ensemble *ensemble; /* borrowed: the replicas */
  struct gpumc_transfer *transfer; /* the device's */
  uint32_t *list;                  /* device memory, [capacity] slots of replicas that move */
  struct pa_stranger *stranger;    /* device memory, [runs][capacity] for the last tally */
  uint64_t *words;                 /* of sums in transit */
  /* For the last resampling: replicas and copies of each process, being copied to the host, and the
   * numbers derived from them. */
  struct gpumc_slot copies;
  struct pa_need *need;    /* [processes][runs] */
  uint64_t *child, *place; /* [runs][processes + 1] */
  struct pa_flow flow;
  /* Members of the own families and strangers of a tally, published beside the record: the latter
   * once their number is here. */
  struct gpumc_slot members[GPUMC_SLOTS], strangers[GPUMC_SLOTS];
  bool fetched[GPUMC_SLOTS];
  size_t latest; /* slot; GPUMC_SLOTS: the last tally was not published */
  struct pa_owners owners;
  /* Children in transit: messages to all processes, one after the other, and from them. */
  struct pa_buffer out, in;
  size_t *n_out, *n_in; /* [processes] bytes */
};

GPUMC_MUST_CHECK enum gpumc_status pa_parts_create(struct pa_population *population,
                                                   struct gpumc_ensemble *ensemble,
                                                   struct gpumc_error *error);
void pa_parts_free(struct pa_population *population);
/* Memory for that, on the device and the host: per replica of a plan, and fixed per process.
 * `portable`: bytes of a replica. */
struct pa_parts_bytes {
  size_t device, host, each_device, each_host;
};
struct pa_parts_bytes pa_parts_bytes(const struct gpumc_device *device,
                                     const struct pa_population_plan *plan, size_t portable);

/* Share the findings of the steps of a device (pa_device.h) for the next one: after `survey`,
 * `weigh` and `copies`. */
GPUMC_MUST_CHECK enum gpumc_status pa_parts_share_reaches(struct pa_population *population,
                                                          const struct pa_work *work,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_parts_share_weights(struct pa_population *population,
                                                          const struct pa_work *work,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_parts_share_copies(struct pa_population *population,
                                                         const struct pa_work *work,
                                                         struct gpumc_error *error);

/* Returns the bytes of a record that are copied to the host with the copies. */
size_t pa_copies_bytes(const struct pa_layout *layout);
/* Starts bringing the copies, known to all processes, to the host; and, once they are there, finds
 * which children go where. */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_publish_copies(struct pa_population *population, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_find_flow(struct pa_population *population, struct gpumc_error *error);

/* Returns the bytes of messages to all processes at once, or from them, of at most `replicas`
 * replicas. */
size_t pa_messages_bytes(size_t replicas, size_t portable);
/* Moves children whose place is elsewhere, before the ensemble's replicas are copied in place,
 * which may destroy parents beyond the new size. Waits for the copies of all processes, and usually
 * for nothing later. */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_migrate(struct pa_population *population, struct gpumc_error *error);

/* Publishes data beside the record; strangers follow before the next tally, or when the slot is
 * collected. The other function turns the record in a slot, whose arrays `found` has, into that of
 * the whole. */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_publish(struct pa_population *population, size_t slot, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_fetch_strangers(struct pa_population *population, size_t slot, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_parts_collect(struct pa_population *population, size_t slot,
                                                    const struct pa_work *found,
                                                    struct gpumc_error *error);

/* Returns how many 64-bit numbers are added up for a run when it is collected. */
size_t pa_parts_words(const struct pa_layout *layout);

/* Makes room for at least `bytes` bytes; the contents are lost if there were fewer. Freeing one
 * that has none is legal, and keeps its device. */
GPUMC_MUST_CHECK enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error);
void pa_buffer_free(struct pa_buffer *buffer);
/* Returns the memory it may take for that many bytes. */
size_t pa_buffer_bytes(size_t bytes);

/* Computes the offsets of the resampling's arrays for `runs` runs in memory from `first` on, in
 * `layout`; returns where they end. */
size_t pa_layout_resampled(const struct pa_population_plan *plan, size_t runs, size_t first,
                           struct pa_resampled_layout *layout);
void pa_work_find_resampled(struct pa_work *work, uint8_t *record,
                            const struct pa_resampled_layout *layout);
/* Returns the arguments of the steps of a device; with a record elsewhere, on the host. */
struct pa_work pa_population_work(const struct pa_population *population, size_t runs);
struct pa_work
pa_population_work_in(const struct pa_population *population, uint8_t *record, size_t runs);

#endif
