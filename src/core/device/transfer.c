/* Transfers between processes, by messages of the host or by a module. */
#include "core/device/transfer.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/module_note.h"
#include "core/base/shared_object.h"
#include "core/base/memory.h"
#include "core/processes/launcher.h"

/* ---- the module ---- */

static const char module_file[] = "gpumc_nccl.so";

static bool find_module(char *path, size_t bytes)
{
  return gpumc_module_path(module_file, NULL, path, bytes);
}

/* What the environment requests. */
enum wish { ANY_WAY, BY_HOST, BY_NCCL, SOMETHING_ELSE };
static const char variable[] = "GPUMC_TRANSFERS";

static enum wish find_wish(void)
{
  const char *text = getenv(variable);
  if (text == NULL)
    return ANY_WAY;
  return strcmp(text, "host") == 0 ? BY_HOST : strcmp(text, "nccl") == 0 ? BY_NCCL : SOMETHING_ELSE;
}

static enum gpumc_status read_wish(enum wish *wish, struct gpumc_error *error)
{
  *wish = find_wish();
  return *wish != SOMETHING_ELSE
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID,
                               "GPUMC_TRANSFERS is '%s' in the environment: use host or nccl, or "
                               "leave it unset",
                               getenv(variable));
}

/* Whether `sharers` processes of a GPU may use NCCL; 0: their number is not known yet. */
static bool may_use_nccl(int sharers)
{
  char path[4096];
  return sharers <= 1 && find_wish() != BY_HOST && find_module(path, sizeof path);
}

const char *gpumc_transfer_expected(int on_a_gpu)
{
  if (!may_use_nccl(on_a_gpu))
    return "host copies";
  return on_a_gpu == 1 ? "NCCL" : "NCCL, or host copies where processes share a GPU";
}

size_t gpumc_transfer_device_bytes(const struct gpumc_device *device)
{
  /* NCCL 2.28.3 takes 558 MiB of each of two H200, most of it for its kernels. */
  static const size_t allowance = (size_t)640 << 20;
  return device->ops->kind == GPUMC_KIND_CUDA && may_use_nccl(device->sharers) ? allowance : 0;
}

struct functions {
  gpumc_transfer_meet *meet;
  gpumc_transfer_connect *connect;
};

/* Loads the module. `why`: what prevents it. `failed`: the module exists, so it should open. */
static void load(struct functions *functions, enum wish wish, bool *failed, char *why, size_t bytes)
{
  char path[4096];
  if (wish == BY_HOST || !find_module(path, sizeof path)) {
    snprintf(why, bytes, "%s",
             wish == BY_HOST ? "requested by GPUMC_TRANSFERS"
                             : "this gpumc has no module for NCCL");
    return;
  }
  *failed = true;
  struct gpumc_error error = {0};
  const bool usable =
      gpumc_module_check(path, GPUMC_NOTE_NCCL, GPUMC_TRANSFER_INTERFACE, &error) == GPUMC_OK;
  if (!usable)
    snprintf(why, bytes, "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  if (!usable)
    return;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *meet = library != NULL ? dlsym(library, GPUMC_TRANSFER_MEET) : NULL;
  void *connect = library != NULL ? dlsym(library, GPUMC_TRANSFER_OPEN) : NULL;
  if (meet == NULL || connect == NULL) {
    snprintf(why, bytes, "%s", library == NULL ? dlerror() : "the module belongs to another gpumc");
    return;
  }
  memcpy(&functions->meet, &meet, sizeof meet);
  memcpy(&functions->connect, &connect, sizeof connect);
}

/* Returns whether `why` is empty in all processes. If it is not, it becomes that of the lowest rank
 * with a reason. */
static bool all_can(const struct gpumc_processes *processes, char *why, size_t bytes)
{
  const int size = processes->module.size, rank = processes->module.rank;
  uint64_t refusing = why[0] == '\0' ? 0 : (uint64_t)(size - rank);
  gpumc_processes_largest(processes, &refusing, 1);
  if (refusing > 0)
    gpumc_processes_broadcast(processes, why, bytes, size - (int)refusing);
  return refusing == 0;
}

/* Sends one message of each kind, in the trade to both neighbours. */
static enum gpumc_status
send_something(struct gpumc_transfer *transfer, uint64_t *words, struct gpumc_error *error)
{
  const struct gpumc_module *processes = &transfer->processes->module;
  const size_t size = (size_t)processes->size, rank = (size_t)processes->rank;
  size_t *counts = transfer->counts;
  for (size_t p = 0; p < size; p++)
    counts[p] = p + 1 == rank || p == rank + 1 ? sizeof *words : 0;
  GPUMC_TRY(gpumc_transfer_largest(transfer, words, 2, error));
  GPUMC_TRY(gpumc_transfer_gather(transfer, words, sizeof *words, error));
  GPUMC_TRY(gpumc_transfer_trade(transfer, words, counts, words + size, counts, error));
  return transfer->device->ops->synchronize(transfer->device, error);
}

/* Connections are made on first use, which takes a tenth of a second: better here than in the
 * middle of the work. A process that fails ends the others, which would wait for it forever. */
static enum gpumc_status warm_up(struct gpumc_transfer *transfer, struct gpumc_error *error)
{
  struct gpumc_device *device = transfer->device;
  const size_t count = 2 * (size_t)transfer->processes->module.size;
  uint64_t *words = NULL;
  enum gpumc_status status = gpumc_device_array(device, &words, count, "messages", error);
  status = gpumc_processes_agree(transfer->processes, status, error);
  if (status == GPUMC_OK) {
    status = send_something(transfer, words, error);
    if (status != GPUMC_OK)
      gpumc_processes_abandon(transfer->processes, error);
  }
  device->ops->release(device, words);
  return status;
}

/* Opens the module if all processes can; otherwise `why` says why not. */
static enum gpumc_status connect_gpus(struct gpumc_transfer *transfer, enum wish wish, char *why,
                                      size_t bytes, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = transfer->processes;
  struct gpumc_transfer_module *module = &transfer->module;
  struct gpumc_transfer_meeting meeting = {{0}};
  struct functions functions = {NULL, NULL};
  if (transfer->device->sharers > 1)
    snprintf(why, bytes, "processes share a GPU");
  if (!all_can(processes, why, bytes))
    return GPUMC_OK;
  load(&functions, wish, &transfer->failed, why, bytes);
  if (!all_can(processes, why, bytes))
    return GPUMC_OK;
  if (gpumc_is_root(processes) && functions.meet(&meeting) != 0)
    snprintf(why, bytes, "NCCL does not start");
  if (!all_can(processes, why, bytes))
    return GPUMC_OK;
  gpumc_processes_broadcast(processes, &meeting, sizeof meeting, 0);
  module->interface = GPUMC_TRANSFER_INTERFACE;
  const bool open =
      functions.connect(module, &meeting, processes->module.rank, processes->module.size) == 0;
  if (!open)
    snprintf(why, bytes, "%s", module->failure[0] != '\0' ? module->failure : "NCCL does not open");
  if (all_can(processes, why, bytes)) {
    transfer->failed = false;
    return warm_up(transfer, error);
  }
  if (open) {
    module->ops->give_up(module->own);
    module->ops = NULL;
  }
  return GPUMC_OK;
}

/* ---- life ---- */

static bool on_gpu(const struct gpumc_transfer *transfer)
{
  return transfer->device->ops->kind != GPUMC_KIND_CPU;
}

static enum gpumc_status open_transfer(struct gpumc_transfer *transfer, struct gpumc_error *error)
{
  char why[96] = "";
  const size_t size = (size_t)transfer->processes->module.size;
  enum wish wish;
  enum gpumc_status status = read_wish(&wish, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&transfer->counts, size, "messages between processes", error);
  GPUMC_TRY(gpumc_processes_agree(transfer->processes, status, error));
  if (on_gpu(transfer))
    GPUMC_TRY(connect_gpus(transfer, wish, why, sizeof why, error));
  if (on_gpu(transfer) && wish == BY_NCCL && transfer->module.ops == NULL)
    status = gpumc_error_set(error, GPUMC_DEVICE,
                             "GPUMC_TRANSFERS requests NCCL between GPUs, which is unavailable: %s",
                             why);
  GPUMC_TRY(gpumc_processes_agree(transfer->processes, status, error));
  if (transfer->module.ops != NULL)
    snprintf(transfer->name, sizeof transfer->name, "%s", transfer->module.name);
  else
    snprintf(transfer->name, sizeof transfer->name, "host copies%s%s", why[0] != '\0' ? ": " : "",
             why);
  return GPUMC_OK;
}

enum gpumc_status gpumc_transfer_of(struct gpumc_device *device,
                                    const struct gpumc_processes *processes,
                                    struct gpumc_transfer **transfer, struct gpumc_error *error)
{
  *transfer = device->transfer;
  assert(device->transfer == NULL || device->transfer->processes == processes);
  if (device->transfer != NULL)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_allocate_array(transfer, 1, "messages between processes", error);
  status = gpumc_processes_agree(processes, status, error);
  if (status != GPUMC_OK) {
    free(*transfer);
    return status;
  }
  **transfer = (struct gpumc_transfer){.processes = processes, .device = device};
  status = open_transfer(*transfer, error);
  if (status == GPUMC_OK)
    device->transfer = *transfer;
  else
    gpumc_transfer_close(*transfer);
  return status;
}

void gpumc_transfer_close(struct gpumc_transfer *transfer)
{
  if (transfer == NULL)
    return;
  struct gpumc_device *device = transfer->device;
  if (transfer->module.ops != NULL)
    transfer->module.ops->close(transfer->module.own);
  device->ops->slot_free(device, &transfer->out);
  device->ops->slot_free(device, &transfer->in);
  free(transfer->counts);
  free(transfer);
}

/* ---- through the host ---- */

/* Messages may grow by half before they need new memory. */
static size_t with_room(size_t bytes)
{
  return bytes + bytes / 2;
}

size_t gpumc_transfer_host_bytes(const struct gpumc_device *device, size_t out, size_t in)
{
  return device->ops->kind == GPUMC_KIND_CPU ? 0 : with_room(out) + with_room(in);
}

static enum gpumc_status reserve(struct gpumc_transfer *transfer, struct gpumc_slot *slot,
                                 size_t *present, size_t bytes, struct gpumc_error *error)
{
  struct gpumc_device *device = transfer->device;
  if (bytes <= *present)
    return GPUMC_OK;
  device->ops->slot_free(device, slot);
  *present = 0;
  GPUMC_TRY(device->ops->slot_create(device, with_room(bytes), "messages between processes", slot,
                                     error));
  *present = with_room(bytes);
  return GPUMC_OK;
}

static enum gpumc_status
reserve_both(struct gpumc_transfer *transfer, size_t out, size_t in, struct gpumc_error *error)
{
  GPUMC_TRY(reserve(transfer, &transfer->out, &transfer->out_bytes, out, error));
  return reserve(transfer, &transfer->in, &transfer->in_bytes, in, error);
}

/* Copies device memory into transfer->out and waits for it. */
static enum gpumc_status bring_out(struct gpumc_transfer *transfer, const void *from, size_t bytes,
                                   struct gpumc_error *error)
{
  const struct gpumc_device_ops *ops = transfer->device->ops;
  GPUMC_TRY(ops->publish(transfer->device, &transfer->out, from, bytes, error));
  return ops->collect(transfer->device, &transfer->out, error);
}

/* ---- by the module ---- */

static void begin(const struct gpumc_transfer *transfer, const char *operation, size_t count)
{
  gpumc_processes_check(transfer->processes, operation, &count, sizeof count);
  transfer->device->ops->mark_transfer(transfer->device, true);
}

static enum gpumc_status
end(struct gpumc_transfer *transfer, int failure, struct gpumc_error *error)
{
  transfer->device->ops->mark_transfer(transfer->device, false);
  return failure == 0 ? GPUMC_OK
                      : gpumc_error_set(error, GPUMC_FAILURE, "%s: %s", transfer->name,
                                        transfer->module.ops->message(transfer->module.own));
}

/* ---- operations ---- */

static void
gather_on_host(struct gpumc_transfer *transfer, const void *own, void *all, size_t bytes)
{
  for (int p = 0; p < transfer->processes->module.size; p++)
    transfer->counts[p] = bytes;
  gpumc_processes_gather(transfer->processes, own, all, transfer->counts, GPUMC_TO_ALL);
}

enum gpumc_status gpumc_transfer_gather(struct gpumc_transfer *transfer, void *all, size_t bytes,
                                        struct gpumc_error *error)
{
  const struct gpumc_module *processes = &transfer->processes->module;
  const size_t whole = bytes * (size_t)processes->size;
  uint8_t *own = (uint8_t *)all + bytes * (size_t)processes->rank;
  struct gpumc_device *device = transfer->device;
  const struct gpumc_transfer_module *module = &transfer->module;
  if (module->ops != NULL) {
    begin(transfer, "gather between devices", bytes);
    return end(transfer, module->ops->gather(module->own, all, bytes, device->stream), error);
  }
  if (!on_gpu(transfer)) {
    gather_on_host(transfer, own, all, bytes);
    return GPUMC_OK;
  }
  GPUMC_TRY(reserve_both(transfer, bytes, whole, error));
  GPUMC_TRY(bring_out(transfer, own, bytes, error));
  gather_on_host(transfer, transfer->out.memory, transfer->in.memory, bytes);
  return device->ops->deliver(device, &transfer->in, all, whole, error);
}

enum gpumc_status gpumc_transfer_largest(struct gpumc_transfer *transfer, uint64_t *values,
                                         size_t count, struct gpumc_error *error)
{
  struct gpumc_device *device = transfer->device;
  const struct gpumc_transfer_module *module = &transfer->module;
  const size_t bytes = count * sizeof *values;
  if (module->ops != NULL) {
    begin(transfer, "largest between devices", count);
    return end(transfer, module->ops->largest(module->own, values, count, device->stream), error);
  }
  if (!on_gpu(transfer)) {
    gpumc_processes_largest(transfer->processes, values, count);
    return GPUMC_OK;
  }
  GPUMC_TRY(reserve_both(transfer, bytes, 0, error));
  GPUMC_TRY(bring_out(transfer, values, bytes, error));
  gpumc_processes_largest(transfer->processes, transfer->out.memory, count);
  return device->ops->deliver(device, &transfer->out, values, bytes, error);
}

static size_t sum_of(const size_t *counts, int size)
{
  size_t sum = 0;
  for (int p = 0; p < size; p++)
    sum += counts[p];
  return sum;
}

enum gpumc_status gpumc_transfer_trade(struct gpumc_transfer *transfer, const void *out,
                                       const size_t *n_out, void *in, const size_t *n_in,
                                       struct gpumc_error *error)
{
  struct gpumc_device *device = transfer->device;
  const struct gpumc_transfer_module *module = &transfer->module;
  const int size = transfer->processes->module.size;
  const size_t bytes_out = sum_of(n_out, size), bytes_in = sum_of(n_in, size);
  if (module->ops != NULL) {
    begin(transfer, "trade between devices", 0);
    return end(transfer, module->ops->trade(module->own, out, n_out, in, n_in, device->stream),
               error);
  }
  if (!on_gpu(transfer)) {
    gpumc_processes_trade(transfer->processes, out, n_out, in, n_in);
    return GPUMC_OK;
  }
  GPUMC_TRY(reserve_both(transfer, bytes_out, bytes_in, error));
  if (bytes_out > 0)
    GPUMC_TRY(bring_out(transfer, out, bytes_out, error));
  gpumc_processes_trade(transfer->processes, transfer->out.memory, n_out, transfer->in.memory,
                        n_in);
  return bytes_in > 0 ? device->ops->deliver(device, &transfer->in, in, bytes_in, error) : GPUMC_OK;
}
