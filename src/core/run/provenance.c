/* The origin of a result: the attributes of /provenance. */
#include "core/run/provenance.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <yaml.h>

#include "build_info.h"
#include "core/device/device_gpu.h"
#include "core/device/transfer.h"
#include "core/numerics/isa.h"
#include "core/run/compare.h"
#include "core/simulation/algorithm.h"

struct text_attribute {
  const char *name, *value;
};

void gpumc_timestamp(char text[static 32])
{
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static enum gpumc_status record_texts(struct gpumc_recorder *recorder,
                                      const struct text_attribute *attributes, size_t count,
                                      struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(gpumc_recorder_text(recorder, "provenance", attributes[i].name,
                                  attributes[i].value != NULL ? attributes[i].value : "", error));
  return GPUMC_OK;
}

static enum gpumc_status record_program(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  unsigned major = 0, minor = 0, release = 0;
  char hdf5[48];
  struct utsname host = {0};
  H5get_libversion(&major, &minor, &release);
  snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
  char system[2 * sizeof host.sysname + 2 + sizeof host.machine];
  uname(&host);
  snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);
  const struct text_attribute attributes[] = {
      {"git_commit", GPUMC_COMMIT},
      {"program_version", GPUMC_PROGRAM_VERSION},
      {"compiler", GPUMC_COMPILER},
      {"build_type", GPUMC_BUILD_TYPE},
      {"hdf5_version", hdf5},
      {"libyaml_version", yaml_get_version_string()},
      {"cjson_version", cJSON_Version()},
      {"host", host.nodename},
      {"operating_system", system},
  };
  return record_texts(recorder, attributes, sizeof attributes / sizeof *attributes, error);
}

static enum gpumc_status
record_work(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  const struct gpumc_preparation *preparation = provenance->preparation;
  const struct text_attribute attributes[] = {
      {"device", preparation->device.description},
      {"kernel", preparation->kernel->variant},
      {"kernel_device", preparation->kernel->device},
      {"trajectory", gpumc_kernel_trajectory(preparation->kernel)},
      {"instruction_set", gpumc_isa_name(preparation->device.isa)},
      {"command_line", provenance->command_line},
      {"start", provenance->started},
  };
  return record_texts(provenance->context->recorder, attributes,
                      sizeof attributes / sizeof *attributes, error);
}

/* For kernels with a key of their own that is recorded here. */
static enum gpumc_status
record_key(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  const char *name = provenance->preparation->kernel->recorded_key;
  const struct gpumc_params kernel = gpumc_task_params(provenance->preparation->task, "kernel");
  if (name == NULL)
    return GPUMC_OK;
  const struct text_attribute attribute = {name, gpumc_params_string(&kernel, name)};
  return record_texts(provenance->context->recorder, &attribute, 1, error);
}

/* For tasks that read files. */
static enum gpumc_status
record_what_was_read(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = provenance->context->recorder;
  const size_t samples = provenance->preparation->demand.plan.samples;
  char text[GPUMC_READ_CHECKSUM_BYTES];
  if (!provenance->preparation->model.reads_file &&
      gpumc_task_file(provenance->preparation->task, "algorithm") == NULL)
    return GPUMC_OK;
  GPUMC_TRY(
      gpumc_recorder_integer(recorder, "provenance", GPUMC_READ_SAMPLES, (int64_t)samples, error));
  return gpumc_recorder_text(recorder, "provenance", GPUMC_READ_CHECKSUM,
                             gpumc_read_checksum_text(provenance->read_checksum, text), error);
}

static enum gpumc_status
record_plugins(struct gpumc_recorder *recorder, const char *plugins, struct gpumc_error *error)
{
  const struct text_attribute attribute = {GPUMC_RECORDED_PLUGINS, plugins};
  return plugins != NULL ? record_texts(recorder, &attribute, 1, error) : GPUMC_OK;
}

/* For several processes, also what connects them, and how they share the work. */
static enum gpumc_status
record_processes(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = provenance->context->recorder;
  const struct gpumc_module *module = &provenance->processes->module;
  const struct gpumc_transfer *transfer = provenance->preparation->device.transfer;
  GPUMC_TRY(gpumc_recorder_integer(recorder, "provenance", "processes", module->size, error));
  static const char *const cuda[] = {[GPUMC_MODULE_CUDA_UNKNOWN] = "unknown",
                                     [GPUMC_MODULE_CUDA_NO] = "no",
                                     [GPUMC_MODULE_CUDA_YES] = "yes"};
  static const char *const division[] = {
      [GPUMC_UNDIVIDED] = "process 0 does all of the work",
      [GPUMC_BY_RUNS] = "each process has some of the runs or values",
      [GPUMC_BY_PARTS] = "each process has some of the runs or values, or of the replicas of one",
      [GPUMC_BY_REPLICAS] = "each process has some of the replicas or samples of every run"};
  const struct text_attribute attributes[] = {
      {"mpi", module->name},
      {"mpi_supports_cuda", cuda[module->cuda]},
      {"transfers", transfer != NULL ? transfer->name : "host copies"},
      {"division", division[provenance->preparation->demand.plan.division]}};
  return module->size > 1
             ? record_texts(recorder, attributes, sizeof attributes / sizeof *attributes, error)
             : GPUMC_OK;
}

/* For processes that divide the work: what each of them works on. */
static enum gpumc_status
record_devices(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  struct gpumc_text list = {0};
  if (provenance->devices->count == 0)
    return GPUMC_OK;
  gpumc_devices_list(provenance->devices, &list);
  const enum gpumc_status status =
      list.failed ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: devices of processes")
                  : gpumc_recorder_text(provenance->context->recorder, "provenance", "devices",
                                        gpumc_text_string(&list), error);
  gpumc_text_free(&list);
  return status;
}

static enum gpumc_status record_cuda(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  char driver[16], runtime[16];
  struct gpumc_gpu_list gpus;
  gpumc_gpus_find(&gpus);
  const struct text_attribute attributes[] = {
      {"cuda_driver_version", gpumc_cuda_version_text(gpus.driver, driver)},
      {"cuda_runtime_version", gpumc_cuda_version_text(gpus.runtime, runtime)},
  };
  return record_texts(recorder, attributes, sizeof attributes / sizeof *attributes, error);
}

enum gpumc_status
gpumc_provenance_start(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  const struct gpumc_preparation *preparation = provenance->preparation;
  struct gpumc_recorder *recorder = provenance->context->recorder;
  GPUMC_TRY(record_program(recorder, error));
  GPUMC_TRY(record_work(provenance, error));
  GPUMC_TRY(record_key(provenance, error));
  GPUMC_TRY(record_plugins(recorder, preparation->task->plugins, error));
  GPUMC_TRY(gpumc_trust_record_warnings(provenance->context, "provenance", error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "provenance", "thermal_seed",
                                   (int64_t)preparation->seed, error));
  GPUMC_TRY(record_what_was_read(provenance, error));
  GPUMC_TRY(record_processes(provenance, error));
  GPUMC_TRY(record_devices(provenance, error));
  if (strcmp(preparation->device.ops->name, "cuda") == 0)
    GPUMC_TRY(record_cuda(recorder, error));
  return gpumc_recorder_integer(recorder, "provenance", "threads", preparation->device.threads,
                                error);
}

/* Records them as PREFIX_STAGE. */
static enum gpumc_status
record_stages(const struct gpumc_provenance *provenance, const char *prefix,
              const double seconds[static GPUMC_STAGES_MAXIMUM], struct gpumc_error *error)
{
  const char *const *stages = provenance->preparation->task->algorithm->stages;
  for (size_t i = 0; stages != NULL && stages[i] != NULL; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%s", prefix, stages[i]);
    GPUMC_TRY(gpumc_recorder_number(provenance->context->recorder, "provenance", name,
                                    seconds[i + 1], error));
  }
  return GPUMC_OK;
}

/* For several processes: messages of the host, and `transfers` of the device. Stages and the time
 * outside of them add up to the total. */
static enum gpumc_status record_communication(const struct gpumc_provenance *provenance,
                                              const double transfers[static GPUMC_STAGES_MAXIMUM],
                                              struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = provenance->context->recorder;
  double seconds[GPUMC_STAGES_MAXIMUM];
  double sum = gpumc_processes_seconds(provenance->processes, seconds);
  if (provenance->processes->module.size == 1)
    return GPUMC_OK;
  for (size_t stage = 0; stage < GPUMC_STAGES_MAXIMUM; stage++) {
    seconds[stage] += transfers[stage];
    sum += transfers[stage];
  }
  GPUMC_TRY(gpumc_recorder_number(recorder, "provenance", "seconds_communication", sum, error));
  GPUMC_TRY(record_stages(provenance, "seconds_communication", seconds, error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "provenance", "seconds_communication_other",
                                  seconds[GPUMC_STAGE_OTHER], error));
  return gpumc_recorder_number(recorder, "provenance", "communication_share",
                               sum / provenance->invocation_seconds, error);
}

/* For this invocation: a resumed run has spent more before. */
static enum gpumc_status
record_times(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  struct gpumc_device *device = &provenance->preparation->device;
  double seconds[GPUMC_STAGES_MAXIMUM], transfers[GPUMC_STAGES_MAXIMUM];
  GPUMC_TRY(device->ops->stage_seconds(device, seconds, transfers, error));
  GPUMC_TRY(gpumc_recorder_number(provenance->context->recorder, "provenance", "seconds_units",
                                  provenance->unit_seconds, error));
  GPUMC_TRY(record_communication(provenance, transfers, error));
  return record_stages(provenance, "seconds", seconds, error);
}

enum gpumc_status
gpumc_provenance_end(const struct gpumc_provenance *provenance, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = provenance->context->recorder;
  const double updates = provenance->updates, seconds = provenance->seconds;
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"updates", updates},
                 {"seconds", seconds},
                 {"update_rate", seconds > 0 ? updates / seconds : 0}};
  char end[32];
  gpumc_timestamp(end);
  if (provenance->preparation->kernel->trials != NULL)
    GPUMC_TRY(gpumc_recorder_text(recorder, "provenance", "update_unit",
                                  gpumc_trials_unit(provenance->preparation->kernel), error));
  GPUMC_TRY(gpumc_recorder_text(recorder, "provenance", "end", end, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "provenance", "resumes", (int64_t)provenance->resumes,
                                   error));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    GPUMC_TRY(
        gpumc_recorder_number(recorder, "provenance", numbers[i].name, numbers[i].value, error));
  return record_times(provenance, error);
}

/* ---- merged results ---- */

enum gpumc_status
gpumc_provenance_of_merge(const struct gpumc_merge_work *work, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = work->context->recorder;
  char now[32];
  gpumc_timestamp(now);
  const struct text_attribute texts[] = {
      {"command_line", work->command_line}, {"start", work->started}, {"end", now}};
  GPUMC_TRY(record_program(recorder, error));
  GPUMC_TRY(record_texts(recorder, texts, sizeof texts / sizeof *texts, error));
  GPUMC_TRY(record_plugins(recorder, work->plugins, error));
  GPUMC_TRY(gpumc_trust_record_warnings(work->context, "provenance", error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "provenance", "updates", work->updates, error));
  return gpumc_recorder_number(recorder, "provenance", "seconds", work->seconds, error);
}
