/* What a task will work with, found out before anything large is allocated: device, kernel, model,
 * memory. The run and `gpumc plan` stand on it. */
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
  struct gpumc_spread spread; /* of which the demand is */
  bool narrowed;              /* by gpumc_preparation_narrow */
  struct gpumc_demand demand;
  uint64_t seed;          /* of the simulation */
  uint32_t rounds;        /* of Philox */
  double per_site;        /* proposals that the kernel makes for each site in a sweep */
  double ensemble_bytes;  /* the kernel's, for demand.plan.runs x demand.plan.capacity replicas */
  double host_bytes;      /* of the host in all, with a checkpoint's; on a CPU the ensemble's too */
  double available_bytes; /* of host memory */
  double device_bytes;    /* of a GPU's memory, by all device.sharers together; 0 on a CPU */
  double device_available_bytes; /* of a GPU's memory */
};

/* `threads`: 0 for all. `processes`: of which this one is, should they divide the work, NULL:
 * alone; they share out the GPUs and the processors of a host (gpumc_device_open_among). Of work
 * that cannot be divided the root has the whole, and takes all processors that it may run on.
 * `begun`: the runs in the checkpoint that is continued, NULL: none (gpumc_spread).
 * GPUMC_DEVICE when the device is not available, GPUMC_INVALID when no kernel serves. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_prepare(const struct gpumc_task *task, int threads, const struct gpumc_processes *processes,
              const struct gpumc_slice *begun, struct gpumc_preparation *preparation,
              struct gpumc_error *error);

/* The same for a GPU that is not here, whatever device the task names: for plans only. Memory is
 * the kernel's own plan or, where this build lacks the kernel, that of replicas in portable form
 * and of the disorder of the CPU's kernel with the same trajectory. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_prepare_absent(const struct gpumc_task *task, int threads,
                                                        const struct gpumc_processes *processes,
                                                        struct gpumc_preparation *preparation,
                                                        struct gpumc_error *error);

/* Whether there is memory enough of the host and the GPU. */
bool gpumc_preparation_has_room(const struct gpumc_preparation *preparation);
/* GPUMC_FAILURE when there is not, naming the largest value of a key that would fit or, of a run
 * that is continued, how many processes would do. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_preparation_fits(const struct gpumc_preparation *preparation, struct gpumc_error *error);

/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_preparation_free(struct gpumc_preparation *preparation);

/* Plans memory for one of several processes that divide the ensemble, the one that has the most, if
 * algorithm and kernel let it be divided: demand.plan.division tells. GPUMC_INVALID: there are too
 * many of them. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_preparation_divide(struct gpumc_preparation *preparation,
                                                            const struct gpumc_processes *processes,
                                                            struct gpumc_error *error);
/* Plans memory for so many of them on one GPU, as it is known once all have a device. */
void gpumc_preparation_share_gpu(struct gpumc_preparation *preparation, int processes);
/* If memory is short after gpumc_preparation_divide: plans a batch of only as many runs as a single
 * process would take side by side, of each of which all processes have a part. Does nothing if the
 * runs cannot be divided so. The model and the device stay as they are. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_preparation_narrow(struct gpumc_preparation *preparation, struct gpumc_error *error);
/* What is to be said of several processes that do not divide the work; false where they do. */
bool gpumc_preparation_undivided(const struct gpumc_preparation *preparation,
                                 const struct gpumc_processes *processes, struct gpumc_text *text);

/* The recorder of a task's result, or one that is `silent` (recorder.h), made of a configuration
 * with this text. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_prepare_recorder(const struct gpumc_task *task, const char *source, bool silent,
                       struct gpumc_recorder **recorder, struct gpumc_error *error);

/* What the files of a task take of the disk, in bytes: estimates, since HDF5 adds to the numbers
 * what it needs for itself. */
struct gpumc_disk_plan {
  double result;     /* the finished one, and the working file */
  double recorded;   /* of the result: the samples of the disorder, on request */
  double log;        /* of series and configurations */
  double checkpoint; /* one; there are two while it is replaced */
  double running;    /* all that is there at once, at most */
  double resuming;   /* the same at a resume, when the working file is written anew */
};

void gpumc_disk_plan_make(const struct gpumc_preparation *preparation,
                          struct gpumc_disk_plan *plan);

#endif
