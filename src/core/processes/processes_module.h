/* The interface between gpumc and a module that carries its messages: plain C, so that a module
 * needs no symbol of the program, and the program needs no MPI to be built or started. */
#ifndef GPUMC_CORE_PROCESSES_MODULE_H
#define GPUMC_CORE_PROCESSES_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* Raised when the structs below change: a module with another number is refused. */
enum { GPUMC_MODULE_INTERFACE = 2 };

/* Collective operations are called by all processes in the same order, from the main thread. None
 * of them fails: without the others there is nothing left to do, so a module that cannot deliver
 * reports that in one line and ends all processes. `own` is the module's. */
struct gpumc_processes_ops {
  /* In place, over all processes: sums modulo 2^64, so that the order makes no difference, and the
   * largest of each. */
  void (*sum)(void *own, uint64_t *values, size_t count);
  void (*largest)(void *own, uint64_t *values, size_t count);
  /* Sends the bytes of process `from` to all. */
  void (*broadcast)(void *own, void *bytes, size_t count, int from);
  /* Gathers counts[p] bytes of each process p, known to all, one process after the other in `all`
   * of process `to`, or of all processes if `to` is negative. `bytes` may already be in place
   * there. */
  void (*gather)(void *own, const void *bytes, void *all, const size_t *counts, int to);
  /* Sends n_out[p] bytes to each process p and receives n_in[p] from it, in the order of the
   * processes. */
  void (*trade)(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in);
  /* Between two processes: return once the bytes may be reused or have arrived. */
  void (*send)(void *own, int to, const void *bytes, size_t count);
  void (*receive)(void *own, int from, void *bytes, size_t count);
  void (*barrier)(void *own);
  /* Reports the message in one line and ends all processes with that exit code. Does not return. */
  void (*abandon)(void *own, int code, const char *message);
  /* Called by all processes after the last operation. */
  void (*close)(void *own);
};

/* Whether an MPI accepts GPU memory of CUDA. It never gets any so far: GPU data goes through the
 * host. Some know only once they are started. */
enum gpumc_module_cuda { GPUMC_MODULE_CUDA_UNKNOWN, GPUMC_MODULE_CUDA_NO, GPUMC_MODULE_CUDA_YES };

/* Filled in by a module. */
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

/* Type of the function GPUMC_MODULE_OPEN that a module exports. Messages are cut into pieces of at
 * most `message_bytes`. Nonzero: the module has another interface, and nothing has been done. */
typedef int gpumc_module_open(struct gpumc_module *module, size_t message_bytes);
#define GPUMC_MODULE_OPEN "gpumc_mpi_open"

/* Type of the function GPUMC_MODULE_CUDA that a module exports, which may be called before MPI is
 * started. */
typedef enum gpumc_module_cuda gpumc_module_cuda_support(void);
#define GPUMC_MODULE_CUDA "gpumc_mpi_cuda"

#endif
