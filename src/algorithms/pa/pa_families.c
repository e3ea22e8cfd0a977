/* Members of families, added up by their owners. */
#include "algorithms/pa/pa_families.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_device.h"
#include "core/base/memory.h"
#include "core/processes/processes.h"

/* Approximate number of blocks in all runs: several for each of many threads, and small. */
enum { BLOCKS = 4096, LEAST_SHIFT = 6 };

/* Number of strangers that justifies another thread. */
enum { OF_A_THREAD = 4096 };

size_t pa_families_count(const struct pa_stranger *stranger, size_t n, uint32_t first,
                         struct pa_kin *scratch, struct pa_kin *item)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    struct pa_kin *kin = &scratch[stranger[i].family - first];
    if (kin->members == 0)
      item[count++].cell = stranger[i].family;
    kin->members++;
    kin->lowest += stranger[i].run_and_lowest & 1;
  }
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &scratch[item[i].cell - first];
    item[i].members = kin->members;
    item[i].lowest = kin->lowest;
    *kin = (struct pa_kin){0};
  }
  return count;
}

void pa_add_kin(uint32_t *word, const struct pa_kin *kin, uint64_t size, struct pa_tallied *tallied)
{
  const uint32_t mark = (uint32_t)1 << PA_MEMBERS_MARK;
  const uint64_t before = *word & (mark - 1);
  struct pa_tallied less = {0};
  pa_add_family(&less, before, size);
  pa_add_family(tallied, before + kin->members, size);
  tallied->families -= less.families;
  tallied->square_sum -= less.square_sum;
  tallied->entropy -= less.entropy;
  tallied->lowest_families += kin->lowest > 0 && (*word & mark) == 0;
  *word += kin->members;
  if (kin->lowest > 0)
    *word |= mark;
}

static size_t size_of(const struct pa_owners *owners)
{
  return (size_t)owners->processes->module.size;
}

static size_t blocks_of_run(const struct pa_owners *owners)
{
  return owners->blocks / owners->runs;
}

/* A block has 2 to this power families. */
static uint32_t shift_of(size_t runs, size_t founders)
{
  const size_t most = BLOCKS > runs ? BLOCKS / runs : 1;
  uint32_t shift = LEAST_SHIFT;
  while (founders >> shift >= most)
    shift++;
  return shift;
}

size_t pa_owners_scratch_bytes(size_t runs, size_t founders, int threads)
{
  return ((size_t)threads << shift_of(runs, founders)) * sizeof(struct pa_kin);
}

static void choose_blocks(struct pa_owners *owners)
{
  owners->shift = shift_of(owners->runs, owners->founders);
  owners->blocks = owners->runs * ((owners->founders >> owners->shift) + 1);
}

static enum gpumc_status
allocate(struct pa_owners *owners, size_t replicas, struct gpumc_error *error)
{
  const size_t size = size_of(owners), threads = (size_t)owners->threads;
  GPUMC_TRY(gpumc_allocate_array(&owners->stranger, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->family, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->next, threads * owners->blocks, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->found, owners->blocks, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->scratch, threads << owners->shift, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->item, replicas + 1, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->told, size, "families", error));
  GPUMC_TRY(gpumc_allocate_array(&owners->heard, size, "families", error));
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
  free(owners->stranger);
  free(owners->family);
  free(owners->next);
  free(owners->found);
  free(owners->scratch);
  free(owners->item);
  free(owners->received);
  free(owners->told);
  free(owners->heard);
  free(owners->place);
  free(owners->n_out);
  free(owners->n_in);
  memset(owners, 0, sizeof *owners);
}

/* About as many are received as sent. */
size_t pa_owners_bytes_of_replica(void)
{
  return sizeof(struct pa_stranger) + 3 * sizeof(struct pa_kin);
}

/* ---- this process's strangers ---- */

static size_t block_of(const struct pa_owners *owners, const struct pa_stranger *stranger)
{
  const size_t m = stranger->run_and_lowest >> 1;
  return m * blocks_of_run(owners) + (stranger->family >> owners->shift);
}

/* Strangers to sort by block, by `threads` threads. */
struct strangers {
  const struct pa_stranger *stranger;
  size_t n;
  int threads;
};

static struct gpumc_slice part_of(const struct strangers *all, int t)
{
  return gpumc_slice(all->n, 1, (size_t)all->threads, (size_t)t);
}

/* Counts the strangers of each block in next[t]. */
static void count_blocks(struct pa_owners *owners, const struct strangers *all, int t)
{
  size_t *count = owners->next + (size_t)t * owners->blocks;
  const struct gpumc_slice part = part_of(all, t);
  memset(count, 0, owners->blocks * sizeof *count);
  for (size_t i = part.first; i < part.first + part.count; i++)
    count[block_of(owners, &all->stranger[i])]++;
}

/* Turns these numbers into where the strangers of each thread begin in each block. */
static void add_blocks(struct pa_owners *owners, int threads)
{
  size_t sum = 0;
  for (size_t b = 0; b < owners->blocks; b++)
    for (int t = 0; t < threads; t++) {
      size_t *next = &owners->next[(size_t)t * owners->blocks + b];
      const size_t count = *next;
      *next = sum;
      sum += count;
    }
}

static void sort_by_block(struct pa_owners *owners, const struct strangers *all, int t)
{
  size_t *next = owners->next + (size_t)t * owners->blocks;
  const struct gpumc_slice part = part_of(all, t);
  for (size_t i = part.first; i < part.first + part.count; i++)
    owners->stranger[next[block_of(owners, &all->stranger[i])]++] = all->stranger[i];
}

/* Returns where the strangers of a block begin once they are sorted: where those of the last thread
 * end in the previous block. */
static size_t begin_of(const struct pa_owners *owners, int threads, size_t b)
{
  const size_t *end = owners->next + (size_t)(threads - 1) * owners->blocks;
  return b > 0 ? end[b - 1] : 0;
}

static void count_in_block(struct pa_owners *owners, int threads, size_t b, struct pa_kin *scratch)
{
  const size_t begin = begin_of(owners, threads, b);
  const size_t n = begin_of(owners, threads, b + 1) - begin;
  const uint32_t first = (uint32_t)(b % blocks_of_run(owners)) << owners->shift;
  owners->found[b] =
      pa_families_count(owners->stranger + begin, n, first, scratch, owners->family + begin);
}

/* Counts this process's strangers by family, block by block. */
static void count_families(struct pa_owners *owners, const struct strangers *all)
{
#pragma omp parallel for num_threads(all->threads)
  for (int t = 0; t < all->threads; t++)
    count_blocks(owners, all, t);
  add_blocks(owners, all->threads);
#pragma omp parallel for num_threads(all->threads)
  for (int t = 0; t < all->threads; t++)
    sort_by_block(owners, all, t);
#pragma omp parallel for schedule(dynamic, 16) num_threads(all->threads)
  for (size_t b = 0; b < owners->blocks; b++)
    count_in_block(owners, all->threads, b,
                   owners->scratch + ((size_t)omp_get_thread_num() << owners->shift));
}

typedef void taker(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family);

/* Calls `take` for each of them, with its owner. */
static void for_families(struct pa_owners *owners, int threads, taker *take)
{
  int owner = 0;
  for (size_t b = 0; b < owners->blocks; b++) {
    const struct pa_kin *family = owners->family + begin_of(owners, threads, b);
    for (size_t i = 0; i < owners->found[b]; i++) {
      owner = pa_owners_find(owners, family[i].cell, owner);
      take(owners, b / blocks_of_run(owners), owner, &family[i]);
    }
  }
}

static void tell(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family)
{
  (void)m, (void)family;
  owners->told[owner]++;
}

static void put(struct pa_owners *owners, size_t m, int owner, const struct pa_kin *family)
{
  const size_t cell = m * pa_owners_width(owners, owner) + family->cell - owners->first[owner];
  owners->item[owners->place[owner]++] =
      (struct pa_kin){(uint32_t)cell, family->members, family->lowest};
}

/* Fills item[], with told[p] items for each owner. */
static void sort_by_owner(struct pa_owners *owners, int threads)
{
  size_t sum = 0;
  memset(owners->told, 0, size_of(owners) * sizeof *owners->told);
  for_families(owners, threads, tell);
  for (size_t p = 0; p < size_of(owners); p++) {
    owners->place[p] = sum;
    sum += (size_t)owners->told[p];
  }
  for_families(owners, threads, put);
}

/* ---- the others' strangers ---- */

/* Allocates some more, since the number changes from step to step. */
static enum gpumc_status
reserve_received(struct pa_owners *owners, size_t count, struct gpumc_error *error)
{
  if (owners->received_room >= count && owners->received != NULL)
    return GPUMC_OK;
  free(owners->received);
  owners->received = NULL;
  owners->received_room = count + count / 8 + 1;
  return gpumc_allocate_array(&owners->received, owners->received_room, "families", error);
}

/* Returns how many items all processes together send to this one. */
static size_t exchange_counts(struct pa_owners *owners)
{
  size_t count = 0;
  for (size_t p = 0; p < size_of(owners); p++)
    owners->n_out[p] = owners->n_in[p] = sizeof *owners->told;
  gpumc_processes_trade(owners->processes, owners->told, owners->n_out, owners->heard,
                        owners->n_in);
  for (size_t p = 0; p < size_of(owners); p++) {
    owners->n_out[p] = (size_t)owners->told[p] * sizeof *owners->item;
    owners->n_in[p] = (size_t)owners->heard[p] * sizeof *owners->item;
    count += (size_t)owners->heard[p];
  }
  return count;
}

enum gpumc_status pa_owners_count(struct pa_owners *owners, const struct pa_stranger *stranger,
                                  size_t n, size_t *count, struct gpumc_error *error)
{
  const size_t worth = n / OF_A_THREAD + 1, threads = (size_t)owners->threads;
  const struct strangers all = {stranger, n, (int)(worth < threads ? worth : threads)};
  count_families(owners, &all);
  sort_by_owner(owners, all.threads);
  *count = exchange_counts(owners);
  GPUMC_TRY(reserve_received(owners, *count, error));
  gpumc_processes_trade(owners->processes, owners->item, owners->n_out, owners->received,
                        owners->n_in);
  return GPUMC_OK;
}
