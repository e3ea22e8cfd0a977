/* gpumc doctor: what this program was built with, what this machine has, and what is missing. */
#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yaml.h>

#include "build_info.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/base/memory.h"
#include "core/base/machine.h"
#include "core/device/device_cpu.h"
#include "core/device/device_gpu.h"
#include "core/device/transfer.h"
#include "core/processes/launcher.h"
#include "core/plugins/plugin_file.h"

const struct argp cli_doctor_argp = {
    cli_json_options,
    cli_parse_json_option,
    "",
    "Report what this program was built with and what it finds on this machine: processor, memory, "
    "libraries, MPI, GPUs or why there are none, and what `device: auto` selects.\v"
    "Examples:\n"
    "  gpumc doctor\n"
    "  gpumc doctor --json",
    NULL,
    NULL,
    NULL};

/* A core is counted at the first of its logical processors. */
static long count_cores(long processors)
{
  long cores = 0;
  for (long i = 0; i < processors; i++) {
    char path[96];
    long first = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/topology/thread_siblings_list", i);
    FILE *file = fopen(path, "r");
    if (file == NULL)
      continue;
    cores += fscanf(file, "%ld", &first) == 1 && first == i;
    fclose(file);
  }
  return cores;
}

static cJSON *program_json(void)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "version", GPUMC_PROGRAM_VERSION);
  cJSON_AddStringToObject(json, "commit", GPUMC_COMMIT);
  cJSON_AddStringToObject(json, "compiler", GPUMC_COMPILER);
  cJSON_AddStringToObject(json, "build_type", GPUMC_BUILD_TYPE);
  return json;
}

/* `threads` are those that a run takes by default; 0, with the reason, where the environment is
 * wrong. */
static cJSON *processor_json(void)
{
  cJSON *json = cJSON_CreateObject();
  struct gpumc_error refusal = {0};
  char name[64];
  int threads = 0;
  gpumc_processor_name(name, sizeof name);
  const long processors = sysconf(_SC_NPROCESSORS_ONLN), cores = count_cores(processors);
  if (gpumc_threads_choose(0, 0, &threads, &refusal) != GPUMC_OK)
    threads = 0;
  cJSON_AddStringToObject(json, "name", name);
  if (cores > 0)
    cJSON_AddNumberToObject(json, "cores", (double)cores);
  cJSON_AddNumberToObject(json, "logical_processors", (double)processors);
  cJSON_AddNumberToObject(json, "threads", threads);
  if (refusal.message != NULL)
    cJSON_AddStringToObject(json, "refusal", refusal.message);
  cJSON_AddStringToObject(json, "isa_compiled", gpumc_isa_compiled());
  cJSON_AddStringToObject(json, "isa", gpumc_isa_name(gpumc_isa_detect()));
  gpumc_error_free(&refusal);
  return json;
}

static cJSON *memory_json(void)
{
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "bytes",
                          (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
  cJSON_AddNumberToObject(json, "available_bytes", gpumc_available_memory());
  return json;
}

static cJSON *libraries_json(void)
{
  cJSON *json = cJSON_CreateObject();
  unsigned major = 0, minor = 0, release = 0;
  char hdf5[48];
  H5get_libversion(&major, &minor, &release);
  snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
  cJSON_AddStringToObject(json, "hdf5", hdf5);
  cJSON_AddStringToObject(json, "libyaml", yaml_get_version_string());
  cJSON_AddStringToObject(json, "cjson", cJSON_Version());
  cJSON_AddNumberToObject(json, "openmp", _OPENMP);
  return json;
}

/* Adds the command that compiles a module `of` an MPI or NCCL that is not there, if its source is
 * installed. `needs`: what else the compiler takes. */
static void add_missing(cJSON *missing, const char *of, const char *name, const char *compiler,
                        const char *source, const char *needs)
{
  char path[PATH_MAX], folder[PATH_MAX], includes[PATH_MAX], sources[PATH_MAX];
  struct gpumc_text text = {0};
  if (gpumc_module_path(name, NULL, path, sizeof path) || !gpumc_module_folder(path, sizeof path) ||
      realpath(path, folder) == NULL)
    return;
  gpumc_text_append(&text, "%s/" GPUMC_TO_INCLUDES, folder);
  const bool have_includes = realpath(gpumc_text_string(&text), includes) != NULL;
  gpumc_text_free(&text);
  gpumc_text_append(&text, "%s/" GPUMC_TO_MODULE_SOURCES "/%s", folder, source);
  const bool have_source = realpath(gpumc_text_string(&text), sources) != NULL;
  gpumc_text_free(&text);
  if (!have_includes || !have_source)
    return;
  gpumc_text_append(&text, "%s -shared -fPIC -O2 -I%s %s%s -o %s/%s", compiler, includes, sources,
                    needs, folder, name);
  cJSON *module = cJSON_CreateObject();
  cJSON_AddStringToObject(module, "of", of);
  cJSON_AddStringToObject(module, "module", name);
  cJSON_AddStringToObject(module, "command", gpumc_text_string(&text));
  cJSON_AddItemToArray(missing, module);
  gpumc_text_free(&text);
}

/* What has started this process, and the modules by which it could reach others. MPI itself stays
 * unopened. */
static cJSON *processes_json(void)
{
  struct gpumc_launcher launcher;
  struct gpumc_module_file file[GPUMC_MODULES];
  char refusal[256];
  enum gpumc_module_cuda cuda;
  cJSON *json = cJSON_CreateObject();
  gpumc_launcher_find(&launcher);
  gpumc_modules_find(file);
  if (launcher.name != NULL)
    cJSON_AddStringToObject(json, "launcher", launcher.name);
  cJSON_AddNumberToObject(json, "rank", launcher.rank);
  cJSON_AddNumberToObject(json, "size", launcher.size);
  cJSON_AddStringToObject(json, "transfers", gpumc_transfer_expected(0));
  cJSON *modules = cJSON_AddArrayToObject(json, "modules");
  for (size_t i = 0; i < GPUMC_MODULES; i++) {
    if (file[i].path[0] == '\0')
      continue;
    cJSON *module = cJSON_CreateObject();
    cJSON_AddStringToObject(module, "mpi", file[i].name);
    cJSON_AddStringToObject(module, "path", file[i].path);
    if (!gpumc_module_try(&file[i], &cuda, refusal, sizeof refusal))
      cJSON_AddStringToObject(module, "refusal", refusal);
    if (cuda != GPUMC_MODULE_CUDA_UNKNOWN)
      cJSON_AddBoolToObject(module, "cuda", cuda == GPUMC_MODULE_CUDA_YES);
    cJSON_AddItemToArray(modules, module);
  }
  cJSON *missing = cJSON_AddArrayToObject(json, "missing");
  add_missing(missing, "Open MPI", "gpumc_openmpi.so", "mpicc", "mpi_module.c", "");
  add_missing(missing, "MPICH", "gpumc_mpich.so", "mpicc", "mpi_module.c", "");
  if (GPUMC_CUDA_TOOLKIT[0] != '\0')
    add_missing(missing, "NCCL", "gpumc_nccl.so", "cc -I/usr/local/cuda/include", "nccl_module.c",
                " -lnccl");
  return json;
}

/* Memory that is available is left out where it is unknown. */
static cJSON *gpu_json(const struct gpumc_gpu *gpu, double available)
{
  char capability[16];
  cJSON *json = cJSON_CreateObject();
  snprintf(capability, sizeof capability, "%d.%d", gpu->major, gpu->minor);
  cJSON_AddStringToObject(json, "name", gpu->name);
  cJSON_AddStringToObject(json, "compute_capability", capability);
  cJSON_AddNumberToObject(json, "multiprocessors", gpu->multiprocessors);
  cJSON_AddNumberToObject(json, "bytes", gpu->bytes);
  if (available >= 0)
    cJSON_AddNumberToObject(json, "available_bytes", available);
  return json;
}

/* The GPUs, and into `taken` what `device: auto` takes: "cpu", "cuda:0". */
static cJSON *cuda_json(char taken[static 8])
{
  struct gpumc_gpu_list gpus;
  struct gpumc_error refusal = {0};
  char text[16];
  int index = -1;
  gpumc_gpus_find(&gpus);
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "built", gpus.built);
  cJSON_AddStringToObject(json, "toolkit", GPUMC_CUDA_TOOLKIT);
  cJSON_AddStringToObject(json, "driver", gpumc_cuda_version_text(gpus.driver, text));
  cJSON_AddStringToObject(json, "runtime", gpumc_cuda_version_text(gpus.runtime, text));
  cJSON *devices = cJSON_AddArrayToObject(json, "devices");
  for (int i = 0; i < gpus.count; i++)
    cJSON_AddItemToArray(devices, gpu_json(&gpus.gpu[i], gpumc_gpu_available(i)));
  if (gpumc_gpus_choose(&gpus, "cuda", 0, &index, &refusal) == GPUMC_OK)
    snprintf(taken, 8, "cuda:%d", index);
  else
    snprintf(taken, 8, "cpu");
  if (refusal.message != NULL)
    cJSON_AddStringToObject(json, "refusal", refusal.message);
  gpumc_error_free(&refusal);
  return json;
}

/* What plugins must be built for, and where they are looked for by name. */
static cJSON *plugins_json(void)
{
  char abi[GPUMC_PLUGIN_ABI_BYTES];
  struct gpumc_text folders = {0};
  cJSON *json = cJSON_CreateObject();
  gpumc_plugin_folders(&folders);
  cJSON_AddStringToObject(json, "abi", gpumc_plugin_abi(abi));
  cJSON_AddStringToObject(json, "folders", gpumc_text_string(&folders));
  gpumc_text_free(&folders);
  return json;
}

static cJSON *findings_json(void)
{
  char taken[8];
  cJSON *json = cJSON_CreateObject();
  cJSON_AddItemToObject(json, "program", program_json());
  cJSON_AddItemToObject(json, "processor", processor_json());
  cJSON_AddItemToObject(json, "memory", memory_json());
  cJSON_AddItemToObject(json, "libraries", libraries_json());
  cJSON_AddItemToObject(json, "plugins", plugins_json());
  cJSON_AddItemToObject(json, "processes", processes_json());
  cJSON_AddItemToObject(json, "cuda", cuda_json(taken));
  cJSON_AddStringToObject(json, "auto", taken);
  return json;
}

static void print_program(const cJSON *program, const cJSON *cuda)
{
  printf("program     gpumc %s, commit %s\n", cli_text(program, "version"),
         cli_text(program, "commit"));
  printf("build       %s, %s, %s%s\n", cli_text(program, "compiler"),
         cli_text(program, "build_type"),
         cli_true(cuda, "built") ? "CUDA toolkit " : "without CUDA", cli_text(cuda, "toolkit"));
}

static void print_processor(const cJSON *processor)
{
  printf("processor   %s: ", cli_text(processor, "name"));
  if (cli_has(processor, "cores"))
    printf("%.0f cores, ", cli_number(processor, "cores"));
  printf("%.0f logical processors", cli_number(processor, "logical_processors"));
  if (cli_number(processor, "threads") > 0)
    printf(", %.0f threads by default\n", cli_number(processor, "threads"));
  else
    printf("\nthreads     %s\n", cli_text(processor, "refusal"));
  printf("kernels     %s; this machine uses %s\n", cli_text(processor, "isa_compiled"),
         cli_text(processor, "isa"));
}

static void print_processes(const cJSON *processes)
{
  const cJSON *module, *modules = cli_member(processes, "modules");
  const char *between = "; mpirun of ";
  if (cli_number(processes, "size") > 1)
    printf("processes   %.0f of %.0f, started by %s", cli_number(processes, "rank"),
           cli_number(processes, "size"), cli_text(processes, "launcher"));
  else
    printf("processes   started alone");
  if (cli_first(modules) == NULL)
    printf("; no module for MPI%s",
           cli_first(cli_member(processes, "missing")) ? "" : ": build with -DGPUMC_MPI=ON");
  cJSON_ArrayForEach(module, modules)
  {
    printf("%s%s", between, cli_text(module, "mpi"));
    if (cli_has(module, "refusal"))
      printf(" would fail: %s", cli_text(module, "refusal"));
    between = ", ";
  }
  printf("\n");
}

/* How data moves between the GPUs of processes, where there is an MPI. */
static void print_transfers(const cJSON *processes)
{
  const cJSON *module, *modules = cli_member(processes, "modules");
  const char *between = "; ";
  if (cli_first(modules) == NULL)
    return;
  printf("transfers   between processes by %s", cli_text(processes, "transfers"));
  cJSON_ArrayForEach(module, modules)
  {
    printf("%s%s %s", between, cli_text(module, "mpi"),
           !cli_has(module, "cuda")   ? "reports CUDA support only once it is started"
           : cli_true(module, "cuda") ? "supports CUDA"
                                      : "does not support CUDA");
    between = ", ";
  }
  printf("\n");
}

/* How to get the modules that are not there. */
static void print_missing(const cJSON *processes)
{
  const cJSON *module;
  cJSON_ArrayForEach(module, cli_member(processes, "missing")) printf(
      "no module   for %s; to make it: %s\n", cli_text(module, "of"), cli_text(module, "command"));
}

static void print_gpus(const cJSON *cuda)
{
  char total[32], available[32];
  int i = 0;
  const cJSON *gpu;
  if (cli_true(cuda, "built"))
    printf("CUDA        driver %s, runtime %s\n", cli_text(cuda, "driver"),
           cli_text(cuda, "runtime"));
  cJSON_ArrayForEach(gpu, cli_member(cuda, "devices"))
  {
    const char *left = cli_has(gpu, "available_bytes")
                           ? gpumc_size_text(cli_number(gpu, "available_bytes"), available)
                           : "unknown";
    printf("cuda:%-3d    %s, compute capability %s, %.0f multiprocessors, %s, %s available\n", i++,
           cli_text(gpu, "name"), cli_text(gpu, "compute_capability"),
           cli_number(gpu, "multiprocessors"), gpumc_size_text(cli_number(gpu, "bytes"), total),
           left);
  }
  if (cli_has(cuda, "refusal"))
    printf("no GPU      %s\n", cli_text(cuda, "refusal"));
}

static void print_findings(const cJSON *json)
{
  const cJSON *memory = cli_member(json, "memory"), *libraries = cli_member(json, "libraries");
  char total[32], available[32];
  print_program(cli_member(json, "program"), cli_member(json, "cuda"));
  print_processor(cli_member(json, "processor"));
  printf("memory      %s, %s available\n", gpumc_size_text(cli_number(memory, "bytes"), total),
         gpumc_size_text(cli_number(memory, "available_bytes"), available));
  printf("libraries   HDF5 %s, libyaml %s, cJSON %s, OpenMP %.0f\n", cli_text(libraries, "hdf5"),
         cli_text(libraries, "libyaml"), cli_text(libraries, "cjson"),
         cli_number(libraries, "openmp"));
  const cJSON *plugins = cli_member(json, "plugins");
  printf("plugins     ABI %s, searched for in %s\n", cli_text(plugins, "abi"),
         cli_text(plugins, "folders"));
  print_processes(cli_member(json, "processes"));
  print_transfers(cli_member(json, "processes"));
  print_missing(cli_member(json, "processes"));
  print_gpus(cli_member(json, "cuda"));
  printf("\n`device: auto` selects %s\n", cli_text(json, "auto"));
}

int cli_doctor(int argc, char **argv)
{
  const bool json = cli_parse_json(&cli_doctor_argp, argc, argv);
  return cli_report(findings_json(), json, print_findings);
}
