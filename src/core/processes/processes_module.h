/* Between gpumc and a module that carries its messages: plain C, so that a module needs no symbol
 * of the program, and none of MPI is needed to build or to start the program. */
#ifndef GPUMC_CORE_PROCESSES_MODULE_H
#define GPUMC_CORE_PROCESSES_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Raised when the structs below change: a module of another number is refused. */
enum { GPUMC_MODULE_INTERFACE = 2 };

/* Collective operations are called by all processes in the same order, from the main thread. None
 * of them fails: without the others there is nothing left to do, so a module that cannot deliver
 * says so in one line and ends all processes. `own` is the module's. */
struct gpumc_processes_ops {
  /* In place, over all processes: sums modulo 2^64, in which the order makes no difference, and the
   * largest of each. */
  void (*sum)(void *own, uint64_t *values, size_t count);
  void (*largest)(void *own, uint64_t *values, size_t count);
  /* The bytes of process `from` to all. */
  void (*broadcast)(void *own, void *bytes, size_t count, int from);
  /* counts[p] bytes of each process p, known to all, one after the other to process `to`; to all
   * where that is negative. `bytes` may be where they are to be in `all`. */
  void (*gather)(void *own, const void *bytes, void *all, const size_t *counts, int to);
  /* n_out[p] bytes to each process p, in the order of processes, and n_in[p] from it. */
  void (*trade)(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in);
  /* Between two processes: return when the bytes may be reused, or are there. */
  void (*send)(void *own, int to, const void *bytes, size_t count);
  void (*receive)(void *own, int from, void *bytes, size_t count);
  void (*barrier)(void *own);
  /* Says it in one line and ends all processes with that exit code. Does not return. */
  void (*abandon)(void *own, int code, const char *message);
  /* After the last operation, by all processes. */
  void (*close)(void *own);
};

/* Whether an MPI could be handed memory of GPUs by CUDA. Nothing is so far: numbers of GPUs go by
 * way of the host. Some know it only once they are started. */
enum gpumc_module_cuda { GPUMC_MODULE_CUDA_UNKNOWN, GPUMC_MODULE_CUDA_NO, GPUMC_MODULE_CUDA_YES };

/* What a module fills in. */
struct gpumc_module {
  int interface; /* GPUMC_MODULE_INTERFACE, set by the program */
  const struct gpumc_processes_ops *ops;
  void *own;
  int rank, size;             /* of all processes */
  int local_rank, local_size; /* of those on this host */
  int host;                   /* rank of the first of these */
  char name[64];              /* "Open MPI 4.1.4" */
  enum gpumc_module_cuda cuda;
};

/* Of the function GPUMC_MODULE_OPEN that a module exports. Messages are cut into pieces of at most
 * `message_bytes`. Nonzero: the module has another interface; nothing has been done then. */
typedef int gpumc_module_open(struct gpumc_module *module, size_t message_bytes);
#define GPUMC_MODULE_OPEN "gpumc_mpi_open"

/* Of the function GPUMC_MODULE_CUDA that a module exports, which may be called without MPI being
 * started. */
typedef enum gpumc_module_cuda gpumc_module_cuda_support(void);
#define GPUMC_MODULE_CUDA "gpumc_mpi_cuda"

#endif
