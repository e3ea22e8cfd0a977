/* Between gpumc and a module that carries numbers from GPU to GPU: plain C, as of
 * core/processes/processes_module.h, so that a module needs no symbol of the program and the
 * program none of the module's library. */
#ifndef GPUMC_CORE_TRANSFER_MODULE_H
#define GPUMC_CORE_TRANSFER_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Raised when what follows changes: a module of another number is refused. */
enum { GPUMC_TRANSFER_INTERFACE = 1 };

/* All pointers are to memory of the GPU, and all operations are enqueued on a stream
 * (cudaStream_t), by all processes in the same order. Not 0: it failed, and `message` says why. */
struct gpumc_transfer_ops {
  /* bytes of each process, one process after the other in all[]; its own are there already. */
  int (*gather)(void *own, void *all, size_t bytes, void *stream);
  /* In place, the largest of each over all processes. */
  int (*largest)(void *own, uint64_t *values, size_t count, void *stream);
  /* n_out[p] bytes to each process p, in the order of processes, and n_in[p] from it. */
  int (*trade)(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in,
               void *stream);
  const char *(*message)(void *own);
  void (*close)(void *own);
  /* In the place of `close`, where others have not opened. */
  void (*give_up)(void *own);
};

/* What all processes need to find each other: made by one of them. */
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

/* Of the function GPUMC_TRANSFER_MEET: by one process, before all open. */
typedef int gpumc_transfer_meet(struct gpumc_transfer_meeting *meeting);
/* Of the function GPUMC_TRANSFER_OPEN: by all, each with the GPU of the calling thread, which no
 * other process has. Not 0: nothing is open. */
typedef int gpumc_transfer_connect(struct gpumc_transfer_module *module,
                                   const struct gpumc_transfer_meeting *meeting, int rank,
                                   int size);
#define GPUMC_TRANSFER_MEET "gpumc_nccl_meet"
#define GPUMC_TRANSFER_OPEN "gpumc_nccl_open"

#endif
