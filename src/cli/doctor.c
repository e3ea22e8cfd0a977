/* gpumc doctor: what this program was built with, what this machine has, and what is missing. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "build_info.h"
#include "cli/cli.h"
#include "core/base/memory.h"
#include "core/base/system_memory.h"
#include "core/base/threads.h"
#include "core/device/device_cpu.h"
#include "core/device/device_cuda.h"

static const char help[] =
    "Say what this program was built with and what it finds on this machine: processor, memory, "
    "libraries, GPUs, or why there is none, and what `device: auto` takes.\v"
    "Examples:\n"
    "  gpumc doctor\n"
    "  gpumc doctor --json";

/* What is found out once, for either form of the report. */
struct findings {
  char processor[64];
  long processors, cores;        /* logical and physical; cores 0: unknown */
  int threads;                   /* that a run takes by default; 0: the environment is wrong */
  struct gpumc_error no_threads; /* how */
  double memory, memory_available;
  char hdf5[48];
  struct gpumc_gpu_list gpus;
  double gpu_available[GPUMC_GPUS_MAXIMUM]; /* negative: unknown */
  char taken[8];                            /* "cpu", "cuda:0" */
  struct gpumc_error no_gpu;                /* why `device: cuda` is refused */
};

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

static void find_gpus(struct findings *findings)
{
  int index = -1;
  gpumc_gpus_find(&findings->gpus);
  for (int i = 0; i < findings->gpus.count; i++)
    findings->gpu_available[i] = gpumc_gpu_available(i);
  if (gpumc_gpus_choose(&findings->gpus, "cuda", &index, &findings->no_gpu) == GPUMC_OK)
    snprintf(findings->taken, sizeof findings->taken, "cuda:%d", index);
  else
    snprintf(findings->taken, sizeof findings->taken, "cpu");
}

static void find_out(struct findings *findings)
{
  unsigned major = 0, minor = 0, release = 0;
  gpumc_processor_name(findings->processor, sizeof findings->processor);
  findings->processors = sysconf(_SC_NPROCESSORS_ONLN);
  findings->cores = count_cores(findings->processors);
  if (gpumc_threads_choose(0, &findings->threads, &findings->no_threads) != GPUMC_OK)
    findings->threads = 0;
  findings->memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  findings->memory_available = gpumc_available_memory();
  H5get_libversion(&major, &minor, &release);
  snprintf(findings->hdf5, sizeof findings->hdf5, "%u.%u.%u", major, minor, release);
  find_gpus(findings);
}

static void print_machine(const struct findings *findings)
{
  char total[32], available[32];
  printf("program     gpumc %s, commit %s\n", GPUMC_PROGRAM_VERSION, GPUMC_COMMIT);
  printf("build       %s, %s, %s%s\n", GPUMC_COMPILER, GPUMC_BUILD_TYPE,
         findings->gpus.built ? "CUDA toolkit " : "without CUDA", GPUMC_CUDA_TOOLKIT);
  printf("processor   %s: ", findings->processor);
  if (findings->cores > 0)
    printf("%ld cores, ", findings->cores);
  printf("%ld logical processors", findings->processors);
  if (findings->threads > 0)
    printf(", %d threads by default\n", findings->threads);
  else
    printf("\nthreads     %s\n", gpumc_error_text(&findings->no_threads));
  printf("kernels     %s; this machine takes %s\n", gpumc_isa_compiled(),
         gpumc_isa_name(gpumc_isa_detect()));
  printf("memory      %s, %s available\n", gpumc_size_text(findings->memory, total),
         gpumc_size_text(findings->memory_available, available));
  printf("libraries   HDF5 %s, libyaml %s, cJSON %s, OpenMP %d\n", findings->hdf5,
         yaml_get_version_string(), cJSON_Version(), _OPENMP);
}

static void print_gpus(const struct findings *findings)
{
  const struct gpumc_gpu_list *gpus = &findings->gpus;
  char driver[16], runtime[16], total[32], available[32];
  if (gpus->built)
    printf("CUDA        driver %s, runtime %s\n", gpumc_cuda_version_text(gpus->driver, driver),
           gpumc_cuda_version_text(gpus->runtime, runtime));
  for (int i = 0; i < gpus->count; i++) {
    const struct gpumc_gpu *gpu = &gpus->gpu[i];
    double left = findings->gpu_available[i];
    printf("cuda:%-3d    %s, compute capability %d.%d, %d multiprocessors, %s, %s available\n", i,
           gpu->name, gpu->major, gpu->minor, gpu->multiprocessors,
           gpumc_size_text(gpu->bytes, total),
           left < 0 ? "unknown" : gpumc_size_text(left, available));
  }
  if (findings->no_gpu.message != NULL)
    printf("no GPU      %s\n", gpumc_error_text(&findings->no_gpu));
  printf("\n`device: auto` takes %s\n", findings->taken);
}

static cJSON *gpus_json(const struct findings *findings)
{
  const struct gpumc_gpu_list *gpus = &findings->gpus;
  char text[16];
  cJSON *json = cJSON_CreateObject();
  cJSON_AddBoolToObject(json, "built", gpus->built);
  cJSON_AddStringToObject(json, "toolkit", GPUMC_CUDA_TOOLKIT);
  cJSON_AddStringToObject(json, "driver", gpumc_cuda_version_text(gpus->driver, text));
  cJSON_AddStringToObject(json, "runtime", gpumc_cuda_version_text(gpus->runtime, text));
  cJSON *devices = cJSON_AddArrayToObject(json, "devices");
  for (int i = 0; i < gpus->count; i++) {
    const struct gpumc_gpu *gpu = &gpus->gpu[i];
    cJSON *device = cJSON_CreateObject();
    snprintf(text, sizeof text, "%d.%d", gpu->major, gpu->minor);
    cJSON_AddStringToObject(device, "name", gpu->name);
    cJSON_AddStringToObject(device, "compute_capability", text);
    cJSON_AddNumberToObject(device, "multiprocessors", gpu->multiprocessors);
    cJSON_AddNumberToObject(device, "bytes", gpu->bytes);
    if (findings->gpu_available[i] >= 0)
      cJSON_AddNumberToObject(device, "available_bytes", findings->gpu_available[i]);
    cJSON_AddItemToArray(devices, device);
  }
  if (findings->no_gpu.message != NULL)
    cJSON_AddStringToObject(json, "refusal", findings->no_gpu.message);
  return json;
}

static cJSON *findings_json(const struct findings *findings)
{
  cJSON *json = cJSON_CreateObject();
  cJSON *program = cJSON_AddObjectToObject(json, "program");
  cJSON_AddStringToObject(program, "version", GPUMC_PROGRAM_VERSION);
  cJSON_AddStringToObject(program, "commit", GPUMC_COMMIT);
  cJSON_AddStringToObject(program, "compiler", GPUMC_COMPILER);
  cJSON_AddStringToObject(program, "build_type", GPUMC_BUILD_TYPE);
  cJSON *processor = cJSON_AddObjectToObject(json, "processor");
  cJSON_AddStringToObject(processor, "name", findings->processor);
  if (findings->cores > 0)
    cJSON_AddNumberToObject(processor, "cores", (double)findings->cores);
  cJSON_AddNumberToObject(processor, "logical_processors", (double)findings->processors);
  cJSON_AddNumberToObject(processor, "threads", findings->threads);
  cJSON_AddStringToObject(processor, "isa_compiled", gpumc_isa_compiled());
  cJSON_AddStringToObject(processor, "isa", gpumc_isa_name(gpumc_isa_detect()));
  cJSON *memory = cJSON_AddObjectToObject(json, "memory");
  cJSON_AddNumberToObject(memory, "bytes", findings->memory);
  cJSON_AddNumberToObject(memory, "available_bytes", findings->memory_available);
  cJSON *libraries = cJSON_AddObjectToObject(json, "libraries");
  cJSON_AddStringToObject(libraries, "hdf5", findings->hdf5);
  cJSON_AddStringToObject(libraries, "libyaml", yaml_get_version_string());
  cJSON_AddStringToObject(libraries, "cjson", cJSON_Version());
  cJSON_AddNumberToObject(libraries, "openmp", _OPENMP);
  cJSON_AddItemToObject(json, "cuda", gpus_json(findings));
  cJSON_AddStringToObject(json, "auto", findings->taken);
  return json;
}

int cli_doctor(int argc, char **argv)
{
  struct findings findings = {0};
  int code = GPUMC_OK;
  const bool json = cli_parse_json(help, argc, argv);
  find_out(&findings);
  if (json) {
    code = cli_print_json(findings_json(&findings));
  } else {
    print_machine(&findings);
    print_gpus(&findings);
  }
  gpumc_error_free(&findings.no_gpu);
  gpumc_error_free(&findings.no_threads);
  return code;
}
