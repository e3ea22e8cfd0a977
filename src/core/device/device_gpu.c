/* A GPU as a device: memory, copies and one stream. */
#include "core/device/device_gpu.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/device/beside_gpu.h"
#include "core/device/cuda_error.h"
#include "core/device/sums_gpu.h"
#include "core/processes/processes.h"

/* ---- stages: an event where each begins, read when its successor has passed ---- */

enum { EVENTS = 256 };
/* Marks take time, and no launch begins early after one. So only one in several of the transfers
 * and short stages is timed, at irregular intervals so that it cannot lock to the pattern of a
 * step. What passes meanwhile is divided among the stages that were not timed, in proportion to
 * their average times. Among processes, where transfers divide stages, every stage is timed. */
enum { ONE_IN = 7, KNOWN_AFTER = 32 };
static const double short_seconds = 1e-4;

static bool is_timed(size_t number)
{
  return ((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ONE_IN == 0;
}

/* What a mark begins. */
enum timing { UNTIMED, TIMED, SAMPLED, IN_TRANSFER, TIMINGS };

/* A stage's work so far. */
struct stage_work {
  double seconds[TIMINGS];
  size_t known;            /* timed intervals that have been read */
  size_t entered, sampled; /* while it was short; how many of these were timed */
};

/* A ring of the marks oldest .. oldest+count-1. A failed mark loses times, never a result, so it is
 * no error; `worked` keeps what CUDA remembers of it away from the next call that asks. */
struct events {
  cudaEvent_t event[EVENTS];
  size_t stage[EVENTS];
  enum timing timing[EVENTS];
  size_t oldest, count;
  size_t present;      /* stage */
  enum timing running; /* its timing */
  double untimed;      /* seconds in stages that were not timed */
  size_t transfers;    /* that have begun */
  struct stage_work work[GPUMC_STAGES_MAXIMUM];
};

static void stages_free(struct gpumc_device *device)
{
  struct events *events = device->events;
  for (size_t i = 0; events != NULL && i < EVENTS; i++)
    if (events->event[i] != NULL)
      cudaEventDestroy(events->event[i]);
  free(events);
  device->events = NULL;
}

static bool worked(cudaError_t code)
{
  if (code != cudaSuccess)
    (void)cudaGetLastError();
  return code == cudaSuccess;
}

static struct events *events_of(struct gpumc_device *device)
{
  if (device->events == NULL)
    device->events = calloc(1, sizeof(struct events));
  return device->events;
}

/* Accounts for the oldest mark, whose successor has passed. */
static void read_oldest(struct events *events)
{
  float milliseconds = 0;
  const size_t next = (events->oldest + 1) % EVENTS;
  struct stage_work *work = &events->work[events->stage[events->oldest]];
  const enum timing timing = events->timing[events->oldest];
  if (worked(cudaEventElapsedTime(&milliseconds, events->event[events->oldest],
                                  events->event[next]))) {
    *(timing != UNTIMED ? &work->seconds[timing] : &events->untimed) += 1e-3 * (double)milliseconds;
    work->known += timing != UNTIMED;
  }
  events->oldest = next;
  events->count--;
}

/* Makes room: reads what has passed without waiting, or waits if the ring is full. */
static void read_passed(struct events *events)
{
  while (events->count > 1) {
    cudaEvent_t next = events->event[(events->oldest + 1) % EVENTS];
    if (events->count < EVENTS && !worked(cudaEventQuery(next)))
      return;
    if (!worked(cudaEventSynchronize(next)))
      return;
    read_oldest(events);
  }
}

static void mark(struct gpumc_device *device, struct events *events, enum timing timing)
{
  if (events->count >= EVENTS / 2)
    read_passed(events);
  const size_t at = (events->oldest + events->count) % EVENTS;
  if (events->count == EVENTS)
    return;
  if (events->event[at] == NULL && !worked(cudaEventCreate(&events->event[at])))
    return;
  if (!worked(cudaEventRecord(events->event[at], device->stream)))
    return;
  events->stage[at] = events->present;
  events->timing[at] = timing;
  events->count++;
}

/* Decides how the stage that begins is timed. */
static enum timing
next_timing(const struct gpumc_device *device, struct events *events, size_t stage)
{
  struct stage_work *work = &events->work[stage];
  const double seconds = work->seconds[TIMED] + work->seconds[SAMPLED];
  if (device->processes != NULL || stage == GPUMC_STAGE_OTHER || work->known < KNOWN_AFTER ||
      seconds > short_seconds * (double)work->known)
    return TIMED;
  const bool timed = work->sampled == 0 || is_timed(work->entered);
  work->entered++;
  work->sampled += timed;
  return timed ? SAMPLED : UNTIMED;
}

static void enter(struct gpumc_device *device, size_t stage)
{
  struct events *events = events_of(device);
  gpumc_processes_enter(device->processes, stage);
  if (events == NULL)
    return;
  const enum timing timing = next_timing(device, events, stage);
  events->present = stage;
  if (timing != UNTIMED || events->running != UNTIMED)
    mark(device, events, timing);
  events->running = timing;
}

static void mark_transfer(struct gpumc_device *device, bool begins)
{
  struct events *events = events_of(device);
  if (events == NULL)
    return;
  events->transfers += begins;
  if (is_timed(events->transfers))
    mark(device, events, begins ? IN_TRANSFER : events->running);
}

/* Returns how long a stage was not timed, if that took as long as when it was. */
static double untimed_of(const struct stage_work *work)
{
  return work->sampled > 0 ? work->seconds[SAMPLED] / (double)work->sampled *
                                 (double)(work->entered - work->sampled)
                           : 0.0;
}

static enum gpumc_status
stage_seconds(struct gpumc_device *device, double seconds[GPUMC_STAGES_MAXIMUM],
              double transfers[GPUMC_STAGES_MAXIMUM], struct gpumc_error *error)
{
  struct events *events = events_of(device);
  if (events == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: stages of the device");
  events->running = TIMED;
  mark(device, events, TIMED);
  GPUMC_TRY(GPUMC_CUDA(cudaStreamSynchronize(device->stream), error));
  read_passed(events);
  double untimed = 0;
  for (size_t i = 0; i < GPUMC_STAGES_MAXIMUM; i++)
    untimed += untimed_of(&events->work[i]);
  for (size_t i = 0; i < GPUMC_STAGES_MAXIMUM; i++) {
    const struct stage_work *work = &events->work[i];
    seconds[i] = work->seconds[TIMED] + work->seconds[SAMPLED] + work->seconds[IN_TRANSFER];
    if (untimed > 0)
      seconds[i] += events->untimed * untimed_of(work) / untimed;
    if (transfers != NULL)
      transfers[i] = ONE_IN * work->seconds[IN_TRANSFER];
  }
  return GPUMC_OK;
}

/* ---- memory, copies, slots ---- */

/* Left to the driver: kernel code when it first runs, and allocations rounded up. */
static const double reserve_bytes = 64.0 * 1024 * 1024;

static double available(const struct gpumc_device *device)
{
  double bytes = gpumc_gpu_available(device->index) - reserve_bytes;
  return bytes > 0 ? bytes : 0;
}

static void release(struct gpumc_device *device, void *memory)
{
  (void)device;
  (void)cudaFree(memory);
}

static enum gpumc_status refuse_memory(const struct gpumc_device *device, const char *what,
                                       double bytes, struct gpumc_error *error)
{
  char needed[32], left[32];
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "out of memory on cuda:%d: %s needs %s, and %s is available",
                         device->index, what, gpumc_size_text(bytes, needed),
                         gpumc_size_text(available(device), left));
}

static enum gpumc_status allocate(struct gpumc_device *device, size_t count, size_t size,
                                  const char *what, void **memory, struct gpumc_error *error)
{
  size_t bytes;
  *memory = NULL;
  if (__builtin_mul_overflow(count, size, &bytes))
    return refuse_memory(device, what, (double)count * (double)size, error);
  /* As on the host, where zero bytes are still an allocation. */
  if (bytes == 0)
    bytes = 1;
  enum gpumc_status status = GPUMC_CUDA(cudaMalloc(memory, bytes), error);
  if (status == GPUMC_OK)
    status = GPUMC_CUDA(cudaMemsetAsync(*memory, 0, bytes, device->stream), error);
  else if (status == GPUMC_FAILURE)
    status = refuse_memory(device, what, (double)bytes, error);
  if (status != GPUMC_OK) {
    release(device, *memory);
    *memory = NULL;
  }
  return status;
}

static enum gpumc_status synchronize(struct gpumc_device *device, struct gpumc_error *error)
{
  return GPUMC_CUDA(cudaStreamSynchronize(device->stream), error);
}

static enum gpumc_status copy(struct gpumc_device *device, void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind, struct gpumc_error *error)
{
  GPUMC_TRY(GPUMC_CUDA(cudaMemcpyAsync(to, from, bytes, kind, device->stream), error));
  return synchronize(device, error);
}

static enum gpumc_status copy_to_device(struct gpumc_device *device, void *to, const void *from,
                                        size_t bytes, struct gpumc_error *error)
{
  return copy(device, to, from, bytes, cudaMemcpyHostToDevice, error);
}

static enum gpumc_status copy_to_host(struct gpumc_device *device, void *to, const void *from,
                                      size_t bytes, struct gpumc_error *error)
{
  return copy(device, to, from, bytes, cudaMemcpyDeviceToHost, error);
}

static enum gpumc_status
fill(struct gpumc_device *device, void *memory, int byte, size_t bytes, struct gpumc_error *error)
{
  return GPUMC_CUDA(cudaMemsetAsync(memory, byte, bytes, device->stream), error);
}

/* Uses host memory that the GPU can write to directly. */
static enum gpumc_status slot_create(struct gpumc_device *device, size_t bytes, const char *what,
                                     struct gpumc_slot *slot, struct gpumc_error *error)
{
  char size[32];
  cudaEvent_t arrived = NULL;
  (void)device;
  enum gpumc_status status =
      GPUMC_CUDA(cudaHostAlloc(&slot->memory, bytes, cudaHostAllocDefault), error);
  if (status != GPUMC_OK) {
    slot->memory = NULL;
    gpumc_size_text((double)bytes, size);
    gpumc_error_prefix(error, "pinned host memory for %s needs %s", what, size);
    return status;
  }
  status = GPUMC_CUDA(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming), error);
  slot->arrived = arrived;
  return status;
}

/* Waits for transfers in progress; their failure has been or will be reported elsewhere. */
static void slot_free(struct gpumc_device *device, struct gpumc_slot *slot)
{
  if (slot->memory != NULL) {
    (void)cudaStreamSynchronize(device->stream);
    (void)cudaFreeHost(slot->memory);
  }
  if (slot->arrived != NULL)
    (void)cudaEventDestroy(slot->arrived);
  memset(slot, 0, sizeof *slot);
}

static enum gpumc_status deliver(struct gpumc_device *device, struct gpumc_slot *slot, void *to,
                                 size_t bytes, struct gpumc_error *error)
{
  GPUMC_TRY(GPUMC_CUDA(
      cudaMemcpyAsync(to, slot->memory, bytes, cudaMemcpyHostToDevice, device->stream), error));
  return GPUMC_CUDA(cudaEventRecord(slot->arrived, device->stream), error);
}

static enum gpumc_status
collect(struct gpumc_device *device, const struct gpumc_slot *slot, struct gpumc_error *error)
{
  (void)device;
  return GPUMC_CUDA(cudaEventSynchronize(slot->arrived), error);
}

static void close_cuda(struct gpumc_device *device)
{
  gpumc_gpu_beside_end(device);
  stages_free(device);
  (void)cudaStreamDestroy(device->stream);
}

static const struct gpumc_device_ops cuda = {
    .name = "cuda",
    .kind = GPUMC_KIND_CUDA,
    .allocate = allocate,
    .release = release,
    .copy_to_device = copy_to_device,
    .copy_to_host = copy_to_host,
    .synchronize = synchronize,
    .fill = fill,
    .slot_create = slot_create,
    .slot_free = slot_free,
    .publish = gpumc_publish_gpu,
    .collect = collect,
    .deliver = deliver,
    .tally = gpumc_tally_gpu,
    .scan_bytes = gpumc_scan_gpu_bytes,
    .scan = gpumc_scan_gpu,
    .available = available,
    .enter = enter,
    .mark_transfer = mark_transfer,
    .stage_seconds = stage_seconds,
    .close = close_cuda,
};

const struct gpumc_device_ops *gpumc_device_cuda_absent(void)
{
  static const struct gpumc_device_ops absent = {.name = "cuda",
                                                 .kind = GPUMC_KIND_CUDA,
                                                 .scan_bytes = gpumc_scan_gpu_bytes,
                                                 .available = gpumc_absent_available,
                                                 .close = gpumc_absent_close};
  return &absent;
}

static cudaError_t describe(int index, struct gpumc_gpu *gpu)
{
  struct cudaDeviceProp properties;
  cudaError_t code = cudaGetDeviceProperties(&properties, index);
  if (code != cudaSuccess)
    return code;
  snprintf(gpu->name, sizeof gpu->name, "%.*s", (int)sizeof gpu->name - 1, properties.name);
  for (size_t i = 0; i < sizeof properties.uuid.bytes; i++)
    snprintf(gpu->identity + 2 * i, 3, "%02x", (unsigned char)properties.uuid.bytes[i]);
  gpu->major = properties.major;
  gpu->minor = properties.minor;
  gpu->multiprocessors = properties.multiProcessorCount;
  gpu->shared_bytes = properties.sharedMemPerBlockOptin;
  gpu->bytes = (double)properties.totalGlobalMem;
  return cudaSuccess;
}

void gpumc_gpus_find(struct gpumc_gpu_list *gpus)
{
  int count = 0;
  memset(gpus, 0, sizeof *gpus);
  gpus->built = true;
  (void)cudaDriverGetVersion(&gpus->driver);
  (void)cudaRuntimeGetVersion(&gpus->runtime);
  cudaError_t code = cudaGetDeviceCount(&count);
  while (code == cudaSuccess && gpus->count < count && gpus->count < GPUMC_GPUS_MAXIMUM) {
    code = describe(gpus->count, &gpus->gpu[gpus->count]);
    gpus->count += code == cudaSuccess;
  }
  if (code != cudaSuccess) {
    snprintf(gpus->failure, sizeof gpus->failure, "%s", cudaGetErrorString(code));
    (void)cudaGetLastError();
  }
}

double gpumc_gpu_available(int index)
{
  size_t left = 0, total = 0;
  if (cudaSetDevice(index) == cudaSuccess && cudaMemGetInfo(&left, &total) == cudaSuccess)
    return (double)left;
  (void)cudaGetLastError();
  return -1;
}

enum gpumc_status gpumc_device_cuda_open(const struct gpumc_gpu_list *gpus, int index,
                                         struct gpumc_device *device, struct gpumc_error *error)
{
  const struct gpumc_gpu *gpu = &gpus->gpu[index];
  cudaStream_t stream = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, GPUMC_CUDA(cudaSetDevice(index), error));
  GPUMC_TRY_OUT(status,
                GPUMC_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), error));
  device->ops = &cuda;
  device->index = index;
  device->stream = stream;
  device->multiprocessors = gpu->multiprocessors;
  device->shared_bytes = gpu->shared_bytes;
  snprintf(device->description, sizeof device->description,
           "%.60s, %d multiprocessors, compute capability %d.%d", gpu->name, gpu->multiprocessors,
           gpu->major, gpu->minor);
  return GPUMC_OK;
out:
  gpumc_error_prefix(error, "device cuda:%d (%s)", index, gpu->name);
  return status;
}
