/* The interface between gpumc and a module that carries data from GPU to GPU: plain C, like
 * core/processes/processes_module.h, so that the module needs no symbol of the program, nor the
 * program any of the module's library. */
#ifndef GPUMC_CORE_TRANSFER_MODULE_H
#define GPUMC_CORE_TRANSFER_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Raised when anything below changes: a module with another number is refused. */
enum { GPUMC_TRANSFER_INTERFACE = 1 };

/* All pointers are to GPU memory, and all operations are enqueued on a stream (cudaStream_t), by
 * all processes in the same order. A nonzero return means failure; `message` says why. */
struct gpumc_transfer_ops {
  /* Gathers `bytes` bytes of each process into all[], one process after the other; a process's own
   * are already in place. */
  int (*gather)(void *own, void *all, size_t bytes, void *stream);
  /* Replaces each value by the largest over all processes. */
  int (*largest)(void *own, uint64_t *values, size_t count, void *stream);
  /* Sends n_out[p] bytes to each process p and receives n_in[p] from it, in the order of the
   * processes. */
  int (*trade)(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in,
               void *stream);
  const char *(*message)(void *own);
  void (*close)(void *own);
  /* Instead of `close`, if others failed to open. */
  void (*give_up)(void *own);
};

/* What all processes need to find each other; one of them makes it. */
struct gpumc_transfer_meeting {
  uint8_t bytes[128];
};

struct gpumc_transfer_module {
  int interface; /* GPUMC_TRANSFER_INTERFACE, set by the program */
  const struct gpumc_transfer_ops *ops;
  void *own;
  char name[64];    /* "NCCL 2.28.3" */
  char failure[96]; /* why it could not be opened */
};

/* Type of the function GPUMC_TRANSFER_MEET, called by one process before all open. */
typedef int gpumc_transfer_meet(struct gpumc_transfer_meeting *meeting);
/* Type of the function GPUMC_TRANSFER_OPEN, called by all, each with the GPU of the calling thread,
 * which no other process may have. Nonzero: nothing is open. */
typedef int gpumc_transfer_connect(struct gpumc_transfer_module *module,
                                   const struct gpumc_transfer_meeting *meeting, int rank,
                                   int size);
#define GPUMC_TRANSFER_MEET "gpumc_nccl_meet"
#define GPUMC_TRANSFER_OPEN "gpumc_nccl_open"

#endif
