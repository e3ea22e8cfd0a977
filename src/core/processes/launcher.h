/* Finds out from the environment what started this process, and the module for that MPI. */
#ifndef GPUMC_CORE_LAUNCHER_H
#define GPUMC_CORE_LAUNCHER_H

#include "core/processes/processes.h"

struct gpumc_launcher {
  const char *name; /* "Open MPI", "MPICH", "Slurm"; NULL: none */
  int rank, size;   /* 0 of 1 if there is none */
  int local_rank;   /* on this host; `rank` if the launcher does not say */
  bool reaches;     /* some MPI could connect them */
};

void gpumc_launcher_find(struct gpumc_launcher *launcher);

/* The kinds of MPI that can have a module. */
enum { GPUMC_MODULES = 2 };
struct gpumc_module_file {
  const char *name; /* "Open MPI" */
  char path[4096];  /* Finds the path of a module's file; "" and false if there is none. */
};
/* Finds the path of a module's file; "" and false if there is none. Looks in the folder named by an
 * environment variable or, if that is unset or NULL, in the program's own folder and in lib/gpumc
 * of the prefix where it is installed. */
bool gpumc_module_path(const char *name, const char *variable, char *path, size_t bytes);
/* Returns the folder lib/gpumc of the prefix where the program is installed, whether or not it
 * exists; false if the program's own folder is unknown. */
bool gpumc_module_folder(char *path, size_t bytes);
/* Finds the modules for MPI; their variable is GPUMC_MPI_MODULES. */
void gpumc_modules_find(struct gpumc_module_file file[static GPUMC_MODULES]);
/* Returns whether a module and its MPI can be loaded. A child process tries it, without starting
 * MPI. `message`: why not. */
bool gpumc_module_try(const struct gpumc_module_file *file, enum gpumc_module_cuda *cuda,
                      char *message, size_t bytes);

/* Opens the module of the launcher's MPI. `*processes` is to be closed; it is NULL for a single
 * process, for which nothing is opened. GPUMC_INVALID, in every process, if there is no such module
 * or if its MPI has not been started by this launcher. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_launcher_join(const struct gpumc_launcher *launcher,
                                                       struct gpumc_processes **processes,
                                                       struct gpumc_error *error);
/* For a process that cannot join the others and ends with an error: has the launcher end them with
 * that exit code. Most launchers do so when they see it end; MPICH's would wait forever for a
 * process that has not started MPI, and is asked to. What has been printed is forwarded first. */
void gpumc_launcher_abandon(int code);

#endif
