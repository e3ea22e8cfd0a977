/* Two ensembles with the same kernel on two devices, or in two settings of one device: what tests
 * of bitwise equality do to each, and what they compare. */
#ifndef TESTS_SUPPORT_KERNEL_SIDE_H
#define TESTS_SUPPORT_KERNEL_SIDE_H

#include "core/simulation/ensemble.h"

enum { SIDE_RUNS_MAXIMUM = 8 };

/* An ensemble on a device, with room for all pairs of its model, and for all channels but those
 * that only other moves measure, NULL. Run m has size[m] replicas, out of plan.capacity. */
struct kernel_side {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  size_t runs, room;
  uint32_t size[SIDE_RUNS_MAXIMUM];
  /* Device memory: [runs][room][width] and [room]. */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM], *pair[GPUMC_PAIRS_MAXIMUM];
  uint32_t *parent, *swap;
};

/* Returns the CPU with one thread, which is the reference; the caller closes it. */
struct gpumc_device side_reference_device(void);

/* Creates and starts the ensemble with `side->model` and the named kernel for the device, with runs
 * first_run .. first_run + plan->runs - 1. */
void side_open(struct kernel_side *side, struct gpumc_device device, const char *variant,
               const struct gpumc_ensemble_plan *plan, uint64_t seed, uint32_t rounds,
               uint32_t first_run, const uint32_t *size);
void side_close(struct kernel_side *side);

/* Takes parent[runs][room] as in gpumc_kernel_ops.gather, and swap[runs][words] as in exchange. */
void side_gather(struct kernel_side *side, const uint32_t *parent);
void side_exchange(struct kernel_side *side, const uint32_t *swap);
/* Returns the replicas in portable form, [runs][room][portable_bytes], with zeros for unused ones;
 * the caller frees them. */
uint8_t *side_replicas(struct kernel_side *side);
void side_read(struct kernel_side *side, void *to, const void *from, size_t bytes);

/* Fail with `text` if the two sides differ; channels are compared for replicas in use. */
void sides_expect_replicas(struct kernel_side *side, struct kernel_side *reference,
                           const char *text);
void sides_expect_channels(struct kernel_side *side, struct kernel_side *reference,
                           const char *text);
void sides_expect_pairs(struct kernel_side *side, struct kernel_side *reference, const char *text);
/* Compares the step sizes, the numbers accepted and, if the move counts them, proposed; compares
 * nothing for a move without steps. */
void sides_expect_steps(struct kernel_side *side, struct kernel_side *reference, const char *text);

#endif
