/* Finds out what started the process, and how to reach the others. */
#include "core/processes/launcher.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/module_note.h"
#include "core/base/shared_object.h"
#include "core/base/text.h"
#include "core/processes/host.h"

/* ---- the launcher ---- */

enum { OPENMPI, MPICH };
static const char *const mpi_names[GPUMC_MODULES] = {"Open MPI", "MPICH"};
static const char *const module_files[GPUMC_MODULES] = {"gpumc_openmpi.so", "gpumc_mpich.so"};

/* Variables that a launcher sets, and the MPIs that it may belong to, the most likely one first. */
static const struct kind {
  const char *name, *size, *rank;
  int mpi[GPUMC_MODULES], n_mpi;
} kinds[] = {
    {"Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", {OPENMPI}, 1},
    /* MPICH, its relatives, and srun --mpi=pmi2 */
    {"MPICH", "PMI_SIZE", "PMI_RANK", {MPICH, OPENMPI}, 2},
    /* srun --mpi=pmix */
    {"Slurm", "SLURM_STEP_NUM_TASKS", "PMIX_RANK", {OPENMPI, MPICH}, 2},
    /* srun without any of these: no MPI can connect the processes */
    {"Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", {0}, 0},
};
static const char *const local_ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "SLURM_LOCALID"};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static bool read_number(const char *variable, int *number)
{
  const char *text = getenv(variable);
  char *end = NULL;
  const long value = text != NULL ? strtol(text, &end, 10) : -1;
  if (text == NULL || end == text || *end != '\0' || value < 0 || value > INT_MAX)
    return false;
  *number = (int)value;
  return true;
}

/* NULL: none. */
static const struct kind *find_kind(int *rank, int *size)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (read_number(kinds[i].size, size) && read_number(kinds[i].rank, rank) && *size > 0 &&
        *rank < *size)
      return &kinds[i];
  return NULL;
}

void gpumc_launcher_find(struct gpumc_launcher *launcher)
{
  const struct kind *kind = find_kind(&launcher->rank, &launcher->size);
  launcher->name = kind != NULL ? kind->name : NULL;
  launcher->reaches = kind != NULL && kind->n_mpi > 0;
  if (kind == NULL)
    launcher->rank = 0, launcher->size = 1;
  launcher->local_rank = launcher->rank;
  for (size_t i = 0; kind != NULL && i < sizeof local_ranks / sizeof *local_ranks; i++)
    if (read_number(local_ranks[i], &launcher->local_rank))
      break;
}

/* ---- modules ---- */

/* Writes the path of the file in that folder to `path`, if it can be read. */
static bool
find_file(const char *folder, const char *below, const char *name, char *path, size_t bytes)
{
  const int length = snprintf(path, bytes, "%s/%s%s", folder, below, name);
  if (length > 0 && (size_t)length < bytes && access(path, R_OK) == 0)
    return true;
  path[0] = '\0';
  return false;
}

/* Finds the folder of the running program, without a slash at the end; "" if it is unknown. */
static void find_own_folder(char folder[static PATH_MAX])
{
  const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  folder[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash != NULL)
    *slash = '\0';
}

bool gpumc_module_path(const char *name, const char *variable, char *path, size_t bytes)
{
  /* The program's folder is that of a build, or bin of an installation; test programs are one
   * folder below. */
  static const char *const below[] = {"", GPUMC_MODULE_FOLDER "/", "../"};
  const char *chosen = variable != NULL ? getenv(variable) : NULL;
  char own[PATH_MAX];
  if (chosen != NULL)
    return find_file(chosen, "", name, path, bytes);
  find_own_folder(own);
  bool found = false;
  for (size_t k = 0; k < sizeof below / sizeof *below && !found; k++)
    found = find_file(own, below[k], name, path, bytes);
  return found;
}

bool gpumc_module_folder(char *path, size_t bytes)
{
  char own[PATH_MAX];
  find_own_folder(own);
  const int length = snprintf(path, bytes, "%s/" GPUMC_MODULE_FOLDER, own);
  return own[0] != '\0' && length > 0 && (size_t)length < bytes;
}

void gpumc_modules_find(struct gpumc_module_file file[static GPUMC_MODULES])
{
  for (size_t i = 0; i < GPUMC_MODULES; i++) {
    file[i] = (struct gpumc_module_file){.name = mpi_names[i]};
    (void)gpumc_module_path(module_files[i], "GPUMC_MPI_MODULES", file[i].path,
                            sizeof file[i].path);
  }
}

/* Exit code of the child if the module can be loaded, plus its gpumc_module_cuda. */
enum { LOADED = 16 };

/* Done in a child, because an MPI library leaves traces in its process, and two of them even
 * more. */
static void try_in_child(const char *path, int out)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  void *symbol = library != NULL ? dlsym(library, GPUMC_MODULE_CUDA) : NULL;
  gpumc_module_cuda_support *support;
  memcpy(&support, &symbol, sizeof support);
  if (library != NULL)
    _exit(LOADED + (int)(support != NULL ? support() : GPUMC_MODULE_CUDA_UNKNOWN));
  const char *text = dlerror();
  const ssize_t written = write(out, text, strlen(text));
  _exit(written >= 0 ? 1 : 2);
}

bool gpumc_module_try(const struct gpumc_module_file *file, enum gpumc_module_cuda *cuda,
                      char *message, size_t bytes)
{
  int ends[2], state = 0;
  size_t length = 0;
  struct gpumc_error error = {0};
  const bool usable =
      gpumc_module_check(file->path, GPUMC_NOTE_MPI, GPUMC_MODULE_INTERFACE, &error) == GPUMC_OK;
  *cuda = GPUMC_MODULE_CUDA_UNKNOWN;
  if (!usable)
    snprintf(message, bytes, "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  if (!usable)
    return false;
  snprintf(message, bytes, "cannot start a process to try it");
  if (pipe(ends) != 0)
    return false;
  const pid_t child = fork();
  if (child == 0)
    try_in_child(file->path, ends[1]);
  close(ends[1]);
  for (ssize_t got = 1; child > 0 && got > 0 && length < bytes - 1; length += (size_t)got)
    if ((got = read(ends[0], message + length, bytes - 1 - length)) < 0)
      got = 0;
  if (child > 0)
    message[length] = '\0';
  close(ends[0]);
  const bool loaded = child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
                      WEXITSTATUS(state) >= LOADED;
  *cuda =
      loaded ? (enum gpumc_module_cuda)(WEXITSTATUS(state) - LOADED) : GPUMC_MODULE_CUDA_UNKNOWN;
  return loaded;
}

/* ---- joining ---- */

/* Returns "Open MPI only" or "neither Open MPI nor MPICH": the MPIs that there are modules for. */
static const char *what_there_is(const struct gpumc_module_file file[static GPUMC_MODULES])
{
  const bool openmpi = file[OPENMPI].path[0] != '\0', mpich = file[MPICH].path[0] != '\0';
  return openmpi && mpich ? "both Open MPI and MPICH"
         : openmpi        ? "Open MPI only"
         : mpich          ? "MPICH only"
                          : "neither Open MPI nor MPICH";
}

static enum gpumc_status refuse(const struct gpumc_launcher *launcher,
                                const struct gpumc_module_file file[static GPUMC_MODULES],
                                struct gpumc_error *error)
{
  const struct kind *kind;
  int rank, size;
  kind = find_kind(&rank, &size);
  if (kind != NULL && kind->n_mpi == 0)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "srun started %d processes that no MPI can connect: use srun --mpi=pmix or --mpi=pmi2, "
        "start one process, or use --alone, so that each works on tasks of a campaign by itself",
        launcher->size);
  return gpumc_error_set(error, GPUMC_INVALID,
                         "started as %d processes by %s, but this gpumc has modules for %s: "
                         "gpumc doctor says how to make one, or start one process",
                         launcher->size, launcher->name, what_there_is(file));
}

enum gpumc_status gpumc_launcher_join(const struct gpumc_launcher *launcher,
                                      struct gpumc_processes **processes, struct gpumc_error *error)
{
  struct gpumc_module_file file[GPUMC_MODULES];
  const struct gpumc_module_file *taken = NULL;
  int rank, size;
  *processes = NULL;
  if (launcher->size == 1)
    return GPUMC_OK;
  const struct kind *kind = find_kind(&rank, &size);
  gpumc_modules_find(file);
  for (int i = 0; kind != NULL && i < kind->n_mpi && taken == NULL; i++)
    if (file[kind->mpi[i]].path[0] != '\0')
      taken = &file[kind->mpi[i]];
  if (taken == NULL)
    return refuse(launcher, file, error);
  GPUMC_TRY(gpumc_processes_open(taken->path, 0, processes, error));
  const struct gpumc_module *module = &(*processes)->module;
  if (module->size == launcher->size) {
    (*processes)->processors = gpumc_processes_find_processors(*processes);
    return GPUMC_OK;
  }
  const enum gpumc_status status =
      gpumc_error_set(error, GPUMC_INVALID,
                      "started as %d processes by %s, but %s finds %d: the launcher belongs to a "
                      "different MPI from the one that this gpumc was built with",
                      launcher->size, launcher->name, module->name, module->size);
  gpumc_processes_close(*processes);
  *processes = NULL;
  return status;
}

void gpumc_launcher_abandon(int code)
{
  static const struct timespec forwarding = {.tv_nsec = 300000000};
  char request[48];
  int connection, size;
  /* srun --mpi=pmi2 has such a connection, too, but it uses another protocol. */
  if (!read_number("PMI_FD", &connection) || !read_number("PMI_SIZE", &size) ||
      getenv("SLURM_STEP_NUM_TASKS") != NULL)
    return;
  const int length = snprintf(request, sizeof request, "cmd=abort exitcode=%d\n", code);
  nanosleep(&forwarding, NULL);
  if (write(connection, request, (size_t)length) != length)
    return; /* the launcher is gone, and ends the others itself */
}
