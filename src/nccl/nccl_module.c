/* Transfers numbers from GPU to GPU by NCCL: a module that core/device/transfer.c opens. It needs
 * nothing of the program. */
#include <nccl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/module_note.h"
#include "core/device/transfer_module.h"

GPUMC_MODULE_NOTE(GPUMC_NOTE_NCCL, GPUMC_TRANSFER_INTERFACE);

struct own {
  ncclComm_t communicator;
  int size;
  ncclResult_t result; /* of the last operation */
};

static int keep(struct own *own, ncclResult_t result)
{
  own->result = result;
  return result == ncclSuccess ? 0 : 1;
}

static int gather(void *self, void *all, size_t bytes, void *stream)
{
  struct own *own = self;
  int rank = 0;
  if (keep(own, ncclCommUserRank(own->communicator, &rank)) != 0)
    return 1;
  const uint8_t *mine = (const uint8_t *)all + bytes * (size_t)rank;
  return keep(own, ncclAllGather(mine, all, bytes, ncclUint8, own->communicator, stream));
}

static int largest(void *self, uint64_t *values, size_t count, void *stream)
{
  struct own *own = self;
  return keep(own,
              ncclAllReduce(values, values, count, ncclUint64, ncclMax, own->communicator, stream));
}

static ncclResult_t trade_within_group(const struct own *own, const uint8_t *out,
                                       const size_t *n_out, uint8_t *in, const size_t *n_in,
                                       void *stream)
{
  ncclResult_t result = ncclSuccess;
  for (int p = 0; p < own->size && result == ncclSuccess; p++) {
    if (n_out[p] > 0)
      result = ncclSend(out, n_out[p], ncclUint8, p, own->communicator, stream);
    if (n_in[p] > 0 && result == ncclSuccess)
      result = ncclRecv(in, n_in[p], ncclUint8, p, own->communicator, stream);
    out += n_out[p];
    in += n_in[p];
  }
  return result;
}

static int
trade(void *self, const void *out, const size_t *n_out, void *in, const size_t *n_in, void *stream)
{
  struct own *own = self;
  if (keep(own, ncclGroupStart()) != 0)
    return 1;
  const ncclResult_t within = trade_within_group(own, out, n_out, in, n_in, stream);
  const ncclResult_t ended = ncclGroupEnd();
  return keep(own, within != ncclSuccess ? within : ended);
}

/* Few channels are enough for the messages of population annealing: with its own choice of 24, NCCL
 * opens 0.3 s later on two H200, takes 750 MiB more, and a run is no faster. NCCL_MAX_CTAS in the
 * environment takes precedence. */
static ncclResult_t connect(struct own *own, int size, ncclUniqueId id, int rank)
{
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.maxCTAs = 4;
  return ncclCommInitRankConfig(&own->communicator, size, id, rank, &config);
}

static const char *message(void *self)
{
  const struct own *own = self;
  return ncclGetErrorString(own->result);
}

static void close_module(void *self)
{
  struct own *own = self;
  (void)ncclCommDestroy(own->communicator);
  free(own);
}

static void give_up(void *self)
{
  struct own *own = self;
  (void)ncclCommAbort(own->communicator);
  free(own);
}

static const struct gpumc_transfer_ops ops = {.gather = gather,
                                              .largest = largest,
                                              .trade = trade,
                                              .message = message,
                                              .close = close_module,
                                              .give_up = give_up};

_Static_assert(sizeof(ncclUniqueId) == sizeof(struct gpumc_transfer_meeting),
               "what NCCL needs to meet fits");

__attribute__((visibility("default"))) gpumc_transfer_meet gpumc_nccl_meet;
__attribute__((visibility("default"))) gpumc_transfer_connect gpumc_nccl_open;

int gpumc_nccl_meet(struct gpumc_transfer_meeting *meeting)
{
  ncclUniqueId id;
  if (ncclGetUniqueId(&id) != ncclSuccess)
    return 1;
  memcpy(meeting->bytes, &id, sizeof id);
  return 0;
}

int gpumc_nccl_open(struct gpumc_transfer_module *module,
                    const struct gpumc_transfer_meeting *meeting, int rank, int size)
{
  int version = 0;
  ncclUniqueId id;
  const bool same = module->interface == GPUMC_TRANSFER_INTERFACE;
  struct own *own = same ? calloc(1, sizeof *own) : NULL;
  if (own == NULL) {
    snprintf(module->failure, sizeof module->failure, "%s",
             same ? "out of memory" : "the module for NCCL is of another gpumc");
    return 1;
  }
  memcpy(&id, meeting->bytes, sizeof id);
  const ncclResult_t result = connect(own, size, id, rank);
  if (result != ncclSuccess) {
    snprintf(module->failure, sizeof module->failure, "NCCL: %s", ncclGetErrorString(result));
    free(own);
    return 1;
  }
  own->size = size;
  (void)ncclGetVersion(&version);
  snprintf(module->name, sizeof module->name, "NCCL %d.%d.%d", version / 10000,
           version % 10000 / 100, version % 100);
  module->ops = &ops;
  module->own = own;
  return 0;
}
