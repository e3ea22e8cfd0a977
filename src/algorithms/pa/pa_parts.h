/* Populations that processes divide (GPUMC_BY_REPLICAS): each has some of the places of every run,
 * and does with them what one process does with all. Sums over replicas are integers, which are
 * added over processes before anything is decided by them; children whose place is elsewhere travel
 * in portable form (pa_flow.h); members of families are counted by the process that has the
 * founder's place. So every process has the outcomes of the whole runs, and they are those of one
 * process, bit for bit.
 *
 * All functions are collective. Of a population that is not divided they do nothing. */
#ifndef GPUMC_ALGORITHMS_PA_PARTS_H
#define GPUMC_ALGORITHMS_PA_PARTS_H

#include "algorithms/pa/pa_device.h"
#include "algorithms/pa/pa_families.h"
#include "algorithms/pa/pa_flow.h"
#include "core/simulation/columns.h"

/* Host memory that grows as it is needed; with a device, such as this copies to and from fast. */
struct pa_buffer {
  struct gpumc_device *device; /* NULL: any memory */
  struct gpumc_slot slot;      /* its memory */
  uint8_t *memory;
  size_t bytes;
};

struct pa_parts {
  const struct gpumc_processes *processes;
  struct gpumc_ensemble *ensemble; /* borrowed: the replicas */
  /* Since the last tally: whether the references of the weights are those of the whole; and the
   * slot in which it was published, or NULL. */
  bool reached;
  const struct gpumc_slot *published;
  uint32_t *list; /* device memory, [2][capacity] */
  /* Of the runs of a batch. */
  struct pa_tallied *tallied;
  struct pa_resampled *resampled;
  uint64_t *words; /* of sums, or of all processes, on their way */
  uint64_t *own;   /* [processes][runs] replicas that were weighed */
  /* Of the last resampling: [processes][runs] and whether they follow from numbers alone. */
  struct pa_need *need;
  bool follows;
  uint64_t *child, *place;
  struct pa_flow flow;
  /* Families and tracked channel of all own replicas, published beside the record. */
  struct gpumc_slot family[GPUMC_SLOTS], tracked[GPUMC_SLOTS];
  struct pa_owners owners;
  /* Children on their way: messages of bytes, places and families of one stream, a range of
   * replicas. */
  struct pa_buffer out, in, movers, range;
  size_t *n_out, *n_in; /* [processes] bytes */
};

GPUMC_MUST_CHECK enum gpumc_status pa_parts_create(struct pa_population *population,
                                                   struct gpumc_ensemble *ensemble,
                                                   struct gpumc_error *error);
void pa_parts_free(struct pa_population *population);
/* Memory for that, of a plan: device and host. `portable`: bytes of a replica. */
size_t
pa_parts_device_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan);
size_t pa_parts_host_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan,
                           size_t portable);

/* Before a tally. */
void pa_parts_forget(struct pa_population *population);
/* Between the steps of a device (pa_device.h), for the next one. After a tally: */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_find_references(struct pa_population *population, struct gpumc_error *error);
/* After `weigh`, `copies` and `needs`: */
GPUMC_MUST_CHECK enum gpumc_status pa_parts_add_weights(struct pa_population *population,
                                                        const struct pa_work *work,
                                                        struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_parts_add_copies(struct pa_population *population,
                                                       const struct pa_work *work,
                                                       struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_parts_add_needs(struct pa_population *population,
                                                      const struct pa_work *work,
                                                      struct gpumc_error *error);

/* Of messages both ways, of so many replicas at the most. */
size_t pa_messages_bytes(size_t replicas, size_t portable);
/* Children whose place is elsewhere go there, before the ensemble's replicas are copied in place.
 */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_migrate(struct pa_population *population, struct gpumc_error *error);

/* What is published beside the record; and the record in a slot becomes that of the whole. */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_publish(struct pa_population *population, size_t slot, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_collect(struct pa_population *population, size_t slot, struct gpumc_error *error);

/* Numbers of 64 bits that are added up for a run when it is collected. */
size_t pa_parts_words(const struct pa_layout *layout);
/* Of each of `runs` tallied runs `depth` and `extent` become those of all processes. */
void pa_parts_find_reaches(struct pa_parts *parts, struct pa_tallied *tallied, size_t runs);

/* The histograms of all processes become the root's, and empty in all others. */
GPUMC_MUST_CHECK enum gpumc_status
pa_parts_gather_bins(struct pa_population *population, struct gpumc_error *error);

/* At least so many bytes; what was in them is lost if there were fewer. To free one is legal when
 * it is zeroed, and leaves its device. */
GPUMC_MUST_CHECK enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error);
void pa_buffer_free(struct pa_buffer *buffer);

/* What the steps of a device get. */
struct pa_work pa_population_work(const struct pa_population *population, size_t runs);

#endif
