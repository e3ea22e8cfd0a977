/* Members of families, brought together by their owners. */
#include "algorithms/pa/pa_families.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Blocks of families in all runs, about: some for each of many threads, and small ones. */
enum { BLOCKS = 4096, LEAST_SHIFT = 6 };

size_t pa_families_count(const struct pa_kinsman *kinsman, size_t n, uint32_t first,
                         struct pa_kin *scratch, struct pa_kin *item)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    struct pa_kin *kin = &scratch[kinsman[i].family - first];
    if (kin->members == 0)
      item[count++].cell = kinsman[i].family;
    kin->members++;
    kin->lowest += kinsman[i].lowest;
  }
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &scratch[item[i].cell - first];
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

static size_t own_width(const struct pa_owners *owners)
{
  return pa_owners_width(owners, owners->processes->module.rank);
}

static size_t blocks_of_run(const struct pa_owners *owners)
{
  return owners->blocks / owners->runs;
}

static void choose_blocks(struct pa_owners *owners)
{
  const size_t most = BLOCKS > owners->runs ? BLOCKS / owners->runs : 1;
  owners->shift = LEAST_SHIFT;
  while (owners->founders >> owners->shift >= most)
    owners->shift++;
  owners->blocks = owners->runs * ((owners->founders >> owners->shift) + 1);
}

static enum gpumc_status
allocate(struct pa_owners *owners, size_t replicas, struct gpumc_error *error)
{
  const size_t size = size_of(owners), threads = (size_t)owners->threads;
  const size_t cells = owners->runs * own_width(owners);
  GPUMC_TRY(gpumc_allocate_array(&owners->kinsman, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->family, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->next, threads * owners->blocks, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->found, owners->blocks, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->scratch, threads << owners->shift, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->item, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->own, cells + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->told, size * size, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->place, size, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->n_out, size, "families", error));
  return gpumc_allocate_array(&owners->n_in, size, "families", error);
}

enum gpumc_status pa_owners_create(const struct gpumc_processes *processes, const size_t *first,
                                   size_t runs, size_t founders, int threads,
                                   struct pa_owners *owners, struct gpumc_error *error)
{
  const size_t size = (size_t)processes->module.size;
  const int rank = processes->module.rank;
  *owners = (struct pa_owners){
      .processes = processes, .threads = threads, .runs = runs, .founders = founders};
  choose_blocks(owners);
  GPUMC_TRY(gpumc_allocate_array(&owners->first, size + 1, "places", error));
  memcpy(owners->first, first, (size + 1) * sizeof *first);
  return allocate(owners, runs * (first[rank + 1] - first[rank]), error);
}

void pa_owners_free(struct pa_owners *owners)
{
  free(owners->first);
  free(owners->kinsman);
  free(owners->family);
  free(owners->next);
  free(owners->found);
  free(owners->scratch);
  free(owners->item);
  free(owners->own);
  free(owners->received);
  free(owners->told);
  free(owners->place);
  free(owners->n_out);
  free(owners->n_in);
  memset(owners, 0, sizeof *owners);
}

/* Those that are received are about as many as those that are told. */
size_t pa_owners_bytes_of_replica(void)
{
  return sizeof(struct pa_kinsman) + 4 * sizeof(struct pa_kin);
}

/* ---- what this process has ---- */

/* The replicas of run m that thread t looks at. */
static struct gpumc_slice
part_of(const struct pa_owners *owners, const struct pa_family_members *members, size_t m, int t)
{
  return gpumc_slice(members->size[m], 1, (size_t)owners->threads, (size_t)t);
}

/* How many of them belong to each block, in next[t]. */
static void count_blocks(struct pa_owners *owners, const struct pa_family_members *members, int t)
{
  size_t *count = owners->next + (size_t)t * owners->blocks;
  memset(count, 0, owners->blocks * sizeof *count);
  for (size_t m = 0; m < members->runs; m++) {
    const struct gpumc_slice part = part_of(owners, members, m, t);
    const uint32_t *family = members->family + m * members->capacity;
    for (size_t r = part.first; r < part.first + part.count; r++)
      count[m * blocks_of_run(owners) + (family[r] >> owners->shift)]++;
  }
}

/* Of these numbers, where the replicas of each thread begin in each block. */
static void add_blocks(struct pa_owners *owners)
{
  size_t sum = 0;
  for (size_t b = 0; b < owners->blocks; b++)
    for (int t = 0; t < owners->threads; t++) {
      size_t *next = &owners->next[(size_t)t * owners->blocks + b];
      const size_t count = *next;
      *next = sum;
      sum += count;
    }
}

static void sort_by_block(struct pa_owners *owners, const struct pa_family_members *members, int t)
{
  size_t *next = owners->next + (size_t)t * owners->blocks;
  for (size_t m = 0; m < members->runs; m++) {
    const struct gpumc_slice part = part_of(owners, members, m, t);
    const uint32_t *family = members->family + m * members->capacity;
    const int64_t *value = members->value + m * members->capacity;
    for (size_t r = part.first; r < part.first + part.count; r++)
      owners->kinsman[next[m * blocks_of_run(owners) + (family[r] >> owners->shift)]++] =
          (struct pa_kinsman){.family = family[r], .lowest = value[r] == members->lowest[m]};
  }
}

/* Where the replicas of a block begin, once they are sorted: where those of the last thread end in
 * the block before. */
static size_t begin_of(const struct pa_owners *owners, size_t b)
{
  const size_t *end = owners->next + (size_t)(owners->threads - 1) * owners->blocks;
  return b > 0 ? end[b - 1] : 0;
}

static void count_in_block(struct pa_owners *owners, size_t b, struct pa_kin *scratch)
{
  const size_t begin = begin_of(owners, b), n = begin_of(owners, b + 1) - begin;
  const uint32_t first = (uint32_t)(b % blocks_of_run(owners)) << owners->shift;
  owners->found[b] =
      pa_families_count(owners->kinsman + begin, n, first, scratch, owners->family + begin);
}

/* The families that this process has members of, block by block, by all threads. */
static void count_families(struct pa_owners *owners, const struct pa_family_members *members)
{
#pragma omp parallel for num_threads(owners->threads)
  for (int t = 0; t < owners->threads; t++)
    count_blocks(owners, members, t);
  add_blocks(owners);
#pragma omp parallel for num_threads(owners->threads)
  for (int t = 0; t < owners->threads; t++)
    sort_by_block(owners, members, t);
#pragma omp parallel for schedule(dynamic, 16) num_threads(owners->threads)
  for (size_t b = 0; b < owners->blocks; b++)
    count_in_block(owners, b, owners->scratch + ((size_t)omp_get_thread_num() << owners->shift));
}

typedef void taker(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family);

/* Calls `take` for each of them, with its owner. */
static void for_families(struct pa_owners *owners, taker *take)
{
  int owner = 0;
  for (size_t b = 0; b < owners->blocks; b++) {
    const struct pa_kin *family = owners->family + begin_of(owners, b);
    for (size_t i = 0; i < owners->found[b]; i++) {
      owner = pa_owners_find(owners, family[i].cell, owner);
      take(owners, b / blocks_of_run(owners), owner, &family[i]);
    }
  }
}

static uint64_t *told_by_this(const struct pa_owners *owners)
{
  return owners->told + (size_t)owners->processes->module.rank * size_of(owners);
}

static void tell(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family)
{
  (void)m, (void)family;
  told_by_this(owners)[owner]++;
}

static void put(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family)
{
  const size_t cell = m * pa_owners_width(owners, owner) + family->cell - owners->first[owner];
  owners->item[owners->place[owner]++] =
      (struct pa_kin){(uint32_t)cell, family->members, family->lowest};
}

/* Into item[]; told[own rank] says how many for each owner. */
static void sort_by_owner(struct pa_owners *owners)
{
  size_t sum = 0;
  memset(told_by_this(owners), 0, size_of(owners) * sizeof *owners->told);
  for_families(owners, tell);
  for (size_t p = 0; p < size_of(owners); p++) {
    owners->place[p] = sum;
    sum += (size_t)told_by_this(owners)[p];
  }
  for_families(owners, put);
}

/* ---- what the others have ---- */

/* With some more, since the number changes from step to step. */
static enum gpumc_status
reserve_received(struct pa_owners *owners, size_t count, struct gpumc_error *error)
{
  if (owners->received_count >= count && owners->received != NULL)
    return GPUMC_OK;
  free(owners->received);
  owners->received = NULL;
  owners->received_count = count + count / 8 + 1;
  return gpumc_allocate_array(&owners->received, owners->received_count, "families", error);
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
  count_families(owners, members);
  sort_by_owner(owners);
  const size_t count = exchange_counts(owners);
  GPUMC_TRY(reserve_received(owners, count, error));
  gpumc_processes_trade(owners->processes, owners->item, owners->n_out, owners->received,
                        owners->n_in);
  memset(owners->own, 0, owners->runs * own_width(owners) * sizeof *owners->own);
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &owners->own[owners->received[i].cell];
    kin->members += owners->received[i].members;
    kin->lowest += owners->received[i].lowest;
  }
  return GPUMC_OK;
}
