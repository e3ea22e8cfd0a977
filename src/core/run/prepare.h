/* What a task will work with, determined before anything large is allocated: device, kernel, model,
 * memory. The run and `gpumc plan` use it. */
#ifndef GPUMC_CORE_PREPARE_H
#define GPUMC_CORE_PREPARE_H

#include "core/base/text.h"
#include "core/processes/processes.h"
#include "core/run/language.h"
#include "core/simulation/registry.h"

struct gpumc_preparation {
  const struct gpumc_task *task; /* borrowed */
  struct gpumc_device device;
  bool device_open;
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_model model;
  struct gpumc_spread spread; /* for which the demand was computed */
  bool narrowed;              /* by gpumc_preparation_narrow */
  struct gpumc_demand demand;
  uint64_t seed;          /* of the simulation */
  uint32_t rounds;        /* of Philox */
  double per_site;        /* proposals per site that the kernel makes in a sweep */
  double ensemble_bytes;  /* the kernel's, for demand.plan.runs x demand.plan.capacity replicas */
  double host_bytes;      /* total of the host, including a checkpoint's; on a CPU the ensemble's
                           * too */
  double available_bytes; /* of host memory */
  double device_bytes;    /* of a GPU's memory, by all device.sharers together; 0 on a CPU */
  double device_available_bytes; /* of a GPU's memory */
};

/* `threads`: 0 for all. `processes`: those that this one belongs to, if they may divide the work,
 * NULL: alone; they share out the GPUs and the processors of a host (gpumc_device_open_among). If
 * the work cannot be divided, the root does all of it, with all processors that it may run on.
 * `begun`: the runs in the checkpoint that the run continues from, NULL: none (gpumc_spread).
 * GPUMC_DEVICE if the device is not available, GPUMC_INVALID if no kernel is suitable. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_prepare(const struct gpumc_task *task, int threads, const struct gpumc_processes *processes,
              const struct gpumc_slice *begun, struct gpumc_preparation *preparation,
              struct gpumc_error *error);

/* The same for a GPU that is not here, whatever device the task names: only for plans. Memory is
 * the kernel's own plan or, if this build lacks the kernel, that of replicas in portable form and
 * of the disorder of the CPU's kernel with the same trajectory. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_prepare_absent(const struct gpumc_task *task, int threads,
                                                        const struct gpumc_processes *processes,
                                                        struct gpumc_preparation *preparation,
                                                        struct gpumc_error *error);

/* Returns whether host and GPU have enough memory. */
bool gpumc_preparation_has_room(const struct gpumc_preparation *preparation);
/* Returns GPUMC_FAILURE if not, naming the largest value of a key that would fit or, for a resumed
 * run, how many processes would be enough. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_preparation_fits(const struct gpumc_preparation *preparation, struct gpumc_error *error);

/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_preparation_free(struct gpumc_preparation *preparation);

/* Plans memory for one of several processes that divide the ensemble, the one that has the most, if
 * algorithm and kernel permit: demand.plan.division says so. GPUMC_INVALID: there are too many of
 * them. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_preparation_divide(struct gpumc_preparation *preparation,
                                                            const struct gpumc_processes *processes,
                                                            struct gpumc_error *error);
/* Plans memory for `processes` processes on one GPU, once all have a device. */
void gpumc_preparation_share_gpu(struct gpumc_preparation *preparation, int processes);
/* If memory is short after gpumc_preparation_divide: plans a batch of only as many runs as a single
 * process would take side by side, and all processes have a part of each. Does nothing if the runs
 * cannot be divided in this way. The model and the device do not change. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_preparation_narrow(struct gpumc_preparation *preparation, struct gpumc_error *error);
/* Writes the message for several processes that do not divide the work; false if they do. */
bool gpumc_preparation_undivided(const struct gpumc_preparation *preparation,
                                 const struct gpumc_processes *processes, struct gpumc_text *text);

/* Makes the recorder of a task's result, or one that is `silent` (recorder.h), from a configuration
 * with this text. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_prepare_recorder(const struct gpumc_task *task, const char *source, bool silent,
                       struct gpumc_recorder **recorder, struct gpumc_error *error);

/* Space of a task's files on the disk, in bytes: estimates, since HDF5 adds its own overhead. */
struct gpumc_disk_plan {
  double result;     /* the finished one, and the working file */
  double recorded;   /* share of the result: the samples of the disorder, on request */
  double log;        /* of series and configurations */
  double checkpoint; /* one; there are two while it is being replaced */
  double running;    /* largest total at any one time */
  double resuming;   /* the same at a resume, when the working file is rewritten */
};

void gpumc_disk_plan_make(const struct gpumc_preparation *preparation,
                          struct gpumc_disk_plan *plan);

#endif
