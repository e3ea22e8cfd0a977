/* What has started this process, as its environment says, and the module for the MPI that did. */
#ifndef GPUMC_CORE_LAUNCHER_H
#define GPUMC_CORE_LAUNCHER_H

#include "core/processes/processes.h"

struct gpumc_launcher {
  const char *name; /* "Open MPI", "MPICH", "Slurm"; NULL: none */
  int rank, size;   /* 0 of 1 where there is none */
  int local_rank;   /* on this host; `rank` where the launcher does not say */
  bool reaches;     /* some MPI could connect them */
};

void gpumc_launcher_find(struct gpumc_launcher *launcher);

/* The kinds of MPI that there can be a module for. */
enum { GPUMC_MODULES = 2 };
struct gpumc_module_file {
  const char *name; /* "Open MPI" */
  char path[4096];  /* "" where there is none */
};
/* The path of a module's file, "" and false where there is none. Looks in the folder that an
 * environment variable names or, where that is unset or NULL, in that of the program and in
 * lib/gpumc of where it is installed. */
bool gpumc_module_path(const char *name, const char *variable, char *path, size_t bytes);
/* Their variable is GPUMC_MPI_MODULES. */
void gpumc_modules_find(struct gpumc_module_file file[static GPUMC_MODULES]);
/* Whether a module and its MPI can be loaded, found out by a process of its own, in which MPI is
 * not started. `message`: why not. */
bool gpumc_module_try(const struct gpumc_module_file *file, enum gpumc_module_cuda *cuda,
                      char *message, size_t bytes);

/* Opens the module of the launcher's MPI: `*processes` is to be closed, NULL of a single process,
 * for which nothing is opened. GPUMC_INVALID where there is no such module, or where the MPI that
 * it opens has not been started by this launcher: every process gets that error. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_launcher_join(const struct gpumc_launcher *launcher,
                                                       struct gpumc_processes **processes,
                                                       struct gpumc_error *error);
/* Of a process that cannot join the others and ends with an error: has the launcher end them with
 * that exit code. Most do so when they see the end; MPICH's would wait without end for a process
 * that has not begun with MPI, and is asked to. What has been said is forwarded before. */
void gpumc_launcher_abandon(int code);

#endif
