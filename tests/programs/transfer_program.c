/* What processes tell each other of device memory, for tests/cli/test_processes.py:
 *
 *   transfer_program DEVICE      every operation, compared with what it must give; says how it goes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/devices.h"
#include "core/device/transfer.h"
#include "core/processes/launcher.h"

enum { COUNT = 1000, ROUNDS = 3 };

static struct gpumc_device device;
static struct gpumc_transfer *transfer;
static size_t rank, size;

static void require(bool good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "process %zu of %zu: wrong: %s\n", rank, size, what);
  exit(1);
}

static void succeed(enum gpumc_status status, const struct gpumc_error *error)
{
  require(status == GPUMC_OK, status == GPUMC_OK ? "" : gpumc_error_text(error));
}

static uint64_t value(size_t of, size_t i)
{
  return (of + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static uint64_t *on_device(const uint64_t *values, size_t count)
{
  struct gpumc_error error = {0};
  uint64_t *memory = NULL;
  succeed(gpumc_device_array(&device, &memory, count, "test", &error), &error);
  succeed(device.ops->copy_to_device(&device, memory, values, count * sizeof *values, &error),
          &error);
  return memory;
}

/* Frees the memory. */
static void fetch(uint64_t *values, uint64_t *memory, size_t count)
{
  struct gpumc_error error = {0};
  succeed(device.ops->copy_to_host(&device, values, memory, count * sizeof *values, &error),
          &error);
  device.ops->release(&device, memory);
}

static void try_largest(void)
{
  struct gpumc_error error = {0};
  uint64_t values[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    values[i] = value((rank + i) % size, i);
  uint64_t *memory = on_device(values, COUNT);
  succeed(gpumc_transfer_largest(transfer, memory, COUNT, &error), &error);
  fetch(values, memory, COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    uint64_t largest = 0;
    for (size_t p = 0; p < size; p++)
      largest = value(p, i) > largest ? value(p, i) : largest;
    require(values[i] == largest, "largest");
  }
}

static void try_gather(void)
{
  struct gpumc_error error = {0};
  uint64_t *values = calloc(size * COUNT, sizeof *values);
  require(values != NULL, "memory");
  for (size_t i = 0; i < COUNT; i++)
    values[rank * COUNT + i] = value(rank, i);
  uint64_t *memory = on_device(values, size * COUNT);
  succeed(gpumc_transfer_gather(transfer, memory, COUNT * sizeof *values, &error), &error);
  fetch(values, memory, size * COUNT);
  for (size_t i = 0; i < size * COUNT; i++)
    require(values[i] == value(i / COUNT, i % COUNT), "gather");
  free(values);
}

/* From p to q: none at all between some. */
static size_t traded(size_t from, size_t to)
{
  return from != to ? (from + 2 * to) % 4 * 9 : 0;
}

static void try_trade(void)
{
  struct gpumc_error error = {0};
  const size_t most = size * 4 * 9;
  uint64_t *values = calloc(most, sizeof *values);
  size_t *n_out = calloc(size, sizeof *n_out), *n_in = calloc(size, sizeof *n_in), place = 0;
  require(values != NULL && n_out != NULL && n_in != NULL, "memory");
  uint64_t *in = on_device(values, most);
  for (size_t p = 0; p < size; p++) {
    for (size_t i = 0; i < traded(rank, p); i++)
      values[place++] = value(rank * size + p, i);
    n_out[p] = traded(rank, p) * sizeof *values;
    n_in[p] = traded(p, rank) * sizeof *values;
  }
  uint64_t *out = on_device(values, most);
  succeed(gpumc_transfer_trade(transfer, out, n_out, in, n_in, &error), &error);
  fetch(values, in, most);
  place = 0;
  for (size_t p = 0; p < size; p++)
    for (size_t i = 0; i < traded(p, rank); i++)
      require(values[place++] == value(p * size + rank, i), "trade");
  device.ops->release(&device, out);
  free(values);
  free(n_out);
  free(n_in);
}

static void find_sharers(const struct gpumc_processes *processes)
{
  struct gpumc_devices devices = {0};
  struct gpumc_error error = {0};
  succeed(gpumc_devices_gather(processes, &device, &devices, &error), &error);
  device.sharers = (int)gpumc_devices_sharers(&devices, rank);
  gpumc_devices_free(&devices);
}

int main(int argc, char **argv)
{
  struct gpumc_launcher launcher;
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  if (argc != 2)
    return 2;
  gpumc_launcher_find(&launcher);
  succeed(gpumc_launcher_join(&launcher, &processes, &error), &error);
  const struct gpumc_processes *all = processes != NULL ? processes : gpumc_processes_alone();
  rank = (size_t)all->module.rank;
  size = (size_t)all->module.size;
  succeed(gpumc_device_open_among(argv[1], 1, all, &device, &error), &error);
  find_sharers(all);
  succeed(gpumc_transfer_of(&device, all, &transfer, &error), &error);
  for (int round = 0; round < ROUNDS; round++) {
    try_largest();
    try_gather();
    try_trade();
  }
  if (rank == 0)
    printf("%zu processes, %s\n", size, transfer->name);
  gpumc_device_close(&device);
  gpumc_processes_close(processes);
  return 0;
}
