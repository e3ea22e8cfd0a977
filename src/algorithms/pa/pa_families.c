/* Members of families, brought together by their owners. */
#include "algorithms/pa/pa_families.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

size_t pa_families_count(const struct pa_kinsman *kinsman, size_t n, struct pa_kin *scratch,
                         struct pa_kin *item)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    struct pa_kin *kin = &scratch[kinsman[i].cell];
    if (kin->members == 0)
      item[count++].cell = kinsman[i].cell;
    kin->members++;
    kin->lowest += kinsman[i].lowest;
  }
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &scratch[item[i].cell];
    item[i].members = kin->members;
    item[i].lowest = kin->lowest;
    *kin = (struct pa_kin){0};
  }
  return count;
}

static size_t size_of(const struct pa_owners *owners)
{
  return (size_t)owners->processes->module.size;
}

/* Of all runs, of the process that has the most. */
static size_t most_cells(const struct pa_owners *owners)
{
  size_t most = 1;
  for (int p = 0; p < owners->processes->module.size; p++)
    most = pa_owners_width(owners, p) > most ? pa_owners_width(owners, p) : most;
  return owners->runs * most;
}

static size_t own_cells(const struct pa_owners *owners)
{
  return owners->runs * pa_owners_width(owners, owners->processes->module.rank);
}

enum gpumc_status pa_owners_create(const struct gpumc_processes *processes, const size_t *first,
                                   size_t runs, size_t founders, struct pa_owners *owners,
                                   struct gpumc_error *error)
{
  const size_t size = (size_t)processes->module.size;
  const int rank = processes->module.rank;
  const size_t replicas = runs * (first[rank + 1] - first[rank]);
  *owners = (struct pa_owners){.processes = processes, .runs = runs, .founders = founders};
  GPUMC_TRY(gpumc_allocate_array(&owners->first, size + 1, "places", error));
  memcpy(owners->first, first, (size + 1) * sizeof *first);
  GPUMC_TRY(gpumc_allocate_array(&owners->kinsman, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->item, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->scratch, most_cells(owners), "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->own, own_cells(owners) + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->begin, size + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->place, size + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->told, size * size, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->n_out, size, "families", error));
  return gpumc_allocate_array(&owners->n_in, size, "families", error);
}

void pa_owners_free(struct pa_owners *owners)
{
  free(owners->first);
  free(owners->kinsman);
  free(owners->begin);
  free(owners->place);
  free(owners->item);
  free(owners->scratch);
  free(owners->own);
  free(owners->received);
  free(owners->told);
  free(owners->n_out);
  free(owners->n_in);
  memset(owners, 0, sizeof *owners);
}

/* Those that are received are about as many as those that are told. */
size_t pa_owners_bytes_of_replica(void)
{
  return sizeof(struct pa_kinsman) + 4 * sizeof(struct pa_kin);
}

/* How many replicas have a family of each process. */
static void find_owners(struct pa_owners *owners, const struct pa_family_members *members)
{
  const size_t size = size_of(owners);
  int owner = 0;
  memset(owners->begin, 0, (size + 1) * sizeof *owners->begin);
  for (size_t m = 0; m < members->runs; m++)
    for (size_t r = 0; r < members->size[m]; r++) {
      owner = pa_owners_find(owners, members->family[m * members->capacity + r], owner);
      owners->begin[owner + 1]++;
    }
  for (size_t p = 0; p < size; p++)
    owners->begin[p + 1] += owners->begin[p];
  memcpy(owners->place, owners->begin, (size + 1) * sizeof *owners->place);
}

static void sort_by_owner(struct pa_owners *owners, const struct pa_family_members *members)
{
  int owner = 0;
  find_owners(owners, members);
  for (size_t m = 0; m < members->runs; m++)
    for (size_t r = m * members->capacity; r < m * members->capacity + members->size[m]; r++) {
      const size_t family = members->family[r];
      owner = pa_owners_find(owners, family, owner);
      owners->kinsman[owners->place[owner]++] = (struct pa_kinsman){
          .cell = (uint32_t)(m * pa_owners_width(owners, owner) + family - owners->first[owner]),
          .lowest = members->value[r] == members->lowest[m]};
    }
}

/* Into item[], owner by owner; told[own rank] says how many. */
static size_t count_by_owner(struct pa_owners *owners)
{
  const size_t size = size_of(owners);
  uint64_t *told = owners->told + (size_t)owners->processes->module.rank * size;
  size_t count = 0;
  for (size_t p = 0; p < size; p++) {
    const size_t begin = owners->begin[p], n = owners->begin[p + 1] - begin;
    told[p] = pa_families_count(owners->kinsman + begin, n, owners->scratch, owners->item + count);
    count += (size_t)told[p];
  }
  return count;
}

static enum gpumc_status
reserve_received(struct pa_owners *owners, size_t count, struct gpumc_error *error)
{
  if (owners->received_count >= count && owners->received != NULL)
    return GPUMC_OK;
  free(owners->received);
  owners->received = NULL;
  owners->received_count = count;
  return gpumc_allocate_array(&owners->received, count + 1, "families", error);
}

/* What each process tells each other one. */
static size_t exchange_counts(struct pa_owners *owners)
{
  const size_t size = size_of(owners), rank = (size_t)owners->processes->module.rank;
  size_t count = 0;
  for (size_t p = 0; p < size; p++)
    owners->n_in[p] = size * sizeof *owners->told;
  gpumc_processes_gather(owners->processes, owners->told + rank * size, owners->told, owners->n_in,
                         -1);
  for (size_t p = 0; p < size; p++) {
    owners->n_out[p] = (size_t)owners->told[rank * size + p] * sizeof *owners->item;
    owners->n_in[p] = (size_t)owners->told[p * size + rank] * sizeof *owners->item;
    count += (size_t)owners->told[p * size + rank];
  }
  return count;
}

enum gpumc_status pa_owners_count(struct pa_owners *owners, const struct pa_family_members *members,
                                  struct gpumc_error *error)
{
  sort_by_owner(owners, members);
  count_by_owner(owners);
  const size_t count = exchange_counts(owners);
  GPUMC_TRY(reserve_received(owners, count, error));
  gpumc_processes_trade(owners->processes, owners->item, owners->n_out, owners->received,
                        owners->n_in);
  memset(owners->own, 0, own_cells(owners) * sizeof *owners->own);
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &owners->own[owners->received[i].cell];
    kin->members += owners->received[i].members;
    kin->lowest += owners->received[i].lowest;
  }
  return GPUMC_OK;
}
