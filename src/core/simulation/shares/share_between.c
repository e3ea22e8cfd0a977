/* If both runs are in one process the kernel exchanges and compares them; between processes
 * replicas travel in portable form. */
#include "core/simulation/shares/share_between.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/shares/share_view.h"

static bool is_in(const struct gpumc_share *share, size_t run)
{
  return run >= share->first_run && run < share->first_run + share->runs;
}

/* Returns the process that has a run: shares are even, so it is near the proportional position. */
static int process_of(const struct gpumc_ensemble *ensemble, size_t run)
{
  int p = (int)(run * (size_t)ensemble->plan.processes->module.size / ensemble->runs);
  for (;;) {
    const struct gpumc_share share = gpumc_share_at(ensemble, p);
    if (is_in(&share, run))
      return p;
    p += run < share.first_run ? -1 : 1;
  }
}

/* Makes room for the given numbers of replicas each way. */
static enum gpumc_status make_trade(const struct gpumc_ensemble *ensemble, size_t out, size_t in,
                                    struct gpumc_trade *trade, struct gpumc_error *error)
{
  const size_t bytes = ensemble->model->portable_bytes;
  return gpumc_trade_make(ensemble->plan.processes, out * bytes, in * bytes, trade, error);
}

static void go(const struct gpumc_ensemble *ensemble, const struct gpumc_trade *trade)
{
  gpumc_processes_trade(ensemble->plan.processes, trade->out, trade->n_out, trade->in, trade->n_in);
}

/* ---- exchange ---- */

/* A run of this process and its neighbour in another one. */
struct border {
  size_t run;           /* the own one, as numbered in the view */
  int process;          /* the one that has the neighbour */
  const uint32_t *swap; /* [gpumc_swap_words] */
  size_t count;         /* replicas that are exchanged */
};

/* Returns the next contiguous replicas, from `first` on, that are all exchanged; none if count =
 * 0. */
static struct gpumc_slice next_stretch(const uint32_t *swap, size_t capacity, size_t first)
{
  size_t end;
  while (first < capacity && (swap[first / 32] >> first % 32 & 1) == 0)
    first++;
  for (end = first; end < capacity && (swap[end / 32] >> end % 32 & 1) != 0;)
    end++;
  return (struct gpumc_slice){first, end - first};
}

static struct border
border_of(const struct gpumc_ensemble *ensemble, const uint32_t *swap, size_t run, size_t neighbour)
{
  const size_t hotter = run < neighbour ? run : neighbour, capacity = ensemble->plan.capacity;
  struct border border = {.run = run - gpumc_share_own(ensemble).first_run,
                          .process = process_of(ensemble, neighbour),
                          .swap = swap + hotter * gpumc_swap_words(capacity)};
  for (size_t r = 0; r < capacity; r++)
    border.count += border.swap[r / 32] >> r % 32 & 1;
  return border;
}

/* Lists them in the order of the processes; returns their number. */
static size_t
list_borders(const struct gpumc_ensemble *ensemble, const uint32_t *swap, struct border border[2])
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const size_t end = own.first_run + own.runs;
  size_t count = 0;
  if (own.runs > 0 && own.first_run > 0)
    border[count++] = border_of(ensemble, swap, own.first_run, own.first_run - 1);
  if (own.runs > 0 && end < ensemble->runs)
    border[count++] = border_of(ensemble, swap, end - 1, end);
  return count;
}

/* Copies the replicas of a border out of the view, or into it. */
static enum gpumc_status carry(struct gpumc_ensemble *view, const struct border *border, bool out,
                               uint8_t *portable, struct gpumc_error *error)
{
  const size_t capacity = view->plan.capacity, bytes = view->model->portable_bytes;
  for (struct gpumc_slice next = next_stretch(border->swap, capacity, 0); next.count > 0;
       next = next_stretch(border->swap, capacity, next.first + next.count)) {
    GPUMC_TRY(out ? view->ops->get(view, border->run, next.first, next.count, portable, error)
                  : view->ops->set(view, border->run, next.first, next.count, portable, error));
    portable += next.count * bytes;
  }
  return GPUMC_OK;
}

/* As many replicas leave as arrive. */
static enum gpumc_status cross(const struct gpumc_ensemble *ensemble, struct gpumc_ensemble *view,
                               const uint32_t *swap, struct gpumc_error *error)
{
  const size_t bytes = ensemble->model->portable_bytes;
  struct border border[2] = {{0}};
  struct gpumc_trade trade;
  const size_t borders = list_borders(ensemble, swap, border);
  const size_t count = border[0].count + border[1].count;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, make_trade(ensemble, count, count, &trade, error));
  for (size_t i = 0; i < borders; i++) {
    uint8_t *out = (uint8_t *)trade.out + (i > 0 ? border[0].count : 0) * bytes;
    GPUMC_TRY_OUT(status, carry(view, &border[i], true, out, error));
    trade.n_out[border[i].process] = trade.n_in[border[i].process] = border[i].count * bytes;
  }
  go(ensemble, &trade);
  for (size_t i = 0; i < borders; i++) {
    uint8_t *in = (uint8_t *)trade.in + (i > 0 ? border[0].count : 0) * bytes;
    GPUMC_TRY_OUT(status, carry(view, &border[i], false, in, error));
  }
out:
  gpumc_trade_free(&trade);
  return status;
}

/* Between the own runs. No replica moves on from the last of them. */
static enum gpumc_status exchange_own(const struct gpumc_ensemble *ensemble,
                                      struct gpumc_ensemble *view, uint32_t *swap,
                                      struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const size_t words = gpumc_swap_words(ensemble->plan.capacity);
  uint32_t *of_own = swap + own.first_run * words;
  if (own.runs < 2)
    return GPUMC_OK;
  for (size_t w = 0; w < words; w++)
    of_own[(own.runs - 1) * words + w] = 0;
  GPUMC_TRY(device->ops->copy_to_device(device, ensemble->share->swap, of_own,
                                        own.runs * words * sizeof *of_own, error));
  return view->ops->exchange(view, ensemble->share->swap, error);
}

enum gpumc_status gpumc_share_exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap,
                                       struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const size_t words = ensemble->runs * gpumc_swap_words(ensemble->plan.capacity);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  uint32_t *of_all = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&of_all, words, "exchanges", error));
  GPUMC_TRY_OUT(status, ensemble->device->ops->copy_to_host(ensemble->device, of_all, swap,
                                                            words * sizeof *of_all, error));
  GPUMC_TRY_OUT(status, cross(ensemble, &view, of_all, error));
  status = exchange_own(ensemble, &view, of_all, error);
out:
  free(of_all);
  return status;
}

/* ---- compare ---- */

/* What one call compares, and the place of the results. */
struct comparison {
  size_t first, second, runs;
  int64_t *const *pair;
};

/* Finds the results of the pair of runs number i. */
static void find_results(const struct gpumc_ensemble *ensemble, const struct comparison *comparison,
                         size_t i, int64_t *result[GPUMC_PAIRS_MAXIMUM])
{
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    result[k] =
        comparison->pair[k] != NULL ? comparison->pair[k] + i * ensemble->plan.capacity : NULL;
}

/* Returns a view of the own runs, and of one more for visitors. */
static struct gpumc_ensemble view_with_visitors(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  view.runs++;
  view.size = ensemble->share->size;
  return view;
}

/* Pairs whose two runs are both here; they are contiguous. */
static enum gpumc_status compare_own(const struct gpumc_ensemble *ensemble,
                                     const struct comparison *comparison, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = view_with_visitors(ensemble);
  int64_t *result[GPUMC_PAIRS_MAXIMUM];
  size_t first = 0, count = 0;
  for (size_t i = 0; i < comparison->runs; i++)
    if (is_in(&own, comparison->first + i) && is_in(&own, comparison->second + i)) {
      first = count == 0 ? i : first;
      count++;
    }
  if (count == 0)
    return GPUMC_OK;
  find_results(ensemble, comparison, first, result);
  return view.ops->compare(&view, comparison->first + first - own.first_run,
                           comparison->second + first - own.first_run, count, result, error);
}

/* For a pair with runs in two processes: replicas of the second go to the first. */
static bool
goes(const struct gpumc_ensemble *ensemble, const struct comparison *comparison, size_t i, int *to)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  *to = process_of(ensemble, comparison->first + i);
  return is_in(&own, comparison->second + i) && !is_in(&own, comparison->first + i);
}

static bool comes(const struct gpumc_ensemble *ensemble, const struct comparison *comparison,
                  size_t i, int *from)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  *from = process_of(ensemble, comparison->second + i);
  return is_in(&own, comparison->first + i) && !is_in(&own, comparison->second + i);
}

/* For the pairs first .. end - 1. Pairs ascend, and so do their processes. */
static enum gpumc_status
send_visitors(const struct gpumc_ensemble *ensemble, const struct comparison *comparison,
              size_t first, size_t end, struct gpumc_trade *trade, struct gpumc_error *error)
{
  const size_t bytes = ensemble->expected * ensemble->model->portable_bytes;
  struct gpumc_ensemble view = view_with_visitors(ensemble);
  const size_t first_run = gpumc_share_own(ensemble).first_run;
  uint8_t *out = trade->out;
  int process;
  for (size_t i = first; i < end; i++) {
    if (goes(ensemble, comparison, i, &process)) {
      GPUMC_TRY(view.ops->get(&view, comparison->second + i - first_run, 0, ensemble->expected, out,
                              error));
      trade->n_out[process] += bytes;
      out += bytes;
    }
    if (comes(ensemble, comparison, i, &process))
      trade->n_in[process] += bytes;
  }
  go(ensemble, trade);
  return GPUMC_OK;
}

static enum gpumc_status compare_visitors(const struct gpumc_ensemble *ensemble,
                                          const struct comparison *comparison, size_t first,
                                          size_t end, const struct gpumc_trade *trade,
                                          struct gpumc_error *error)
{
  const size_t bytes = ensemble->expected * ensemble->model->portable_bytes;
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = view_with_visitors(ensemble);
  const uint8_t *in = trade->in;
  int process;
  for (size_t i = first; i < end; i++) {
    int64_t *result[GPUMC_PAIRS_MAXIMUM];
    if (!comes(ensemble, comparison, i, &process))
      continue;
    find_results(ensemble, comparison, i, result);
    GPUMC_TRY(view.ops->set(&view, own.runs, 0, ensemble->expected, in, error));
    GPUMC_TRY(view.ops->compare(&view, comparison->first + i - own.first_run, own.runs, 1, result,
                                error));
    in += bytes;
  }
  return GPUMC_OK;
}

/* Approximate number of bytes that a process sends, or receives, at a time. */
enum { AT_ONCE_BYTES = 1 << 24 };

/* For the pairs first .. end - 1 between two processes. */
static enum gpumc_status compare_some(const struct gpumc_ensemble *ensemble,
                                      const struct comparison *comparison, size_t first, size_t end,
                                      struct gpumc_error *error)
{
  struct gpumc_trade trade;
  size_t going = 0, coming = 0;
  int process;
  enum gpumc_status status;
  for (size_t i = first; i < end; i++) {
    going += goes(ensemble, comparison, i, &process) ? ensemble->expected : 0;
    coming += comes(ensemble, comparison, i, &process) ? ensemble->expected : 0;
  }
  GPUMC_TRY_OUT(status, make_trade(ensemble, going, coming, &trade, error));
  GPUMC_TRY_OUT(status, send_visitors(ensemble, comparison, first, end, &trade, error));
  status = compare_visitors(ensemble, comparison, first, end, &trade, error);
out:
  gpumc_trade_free(&trade);
  return status;
}

static enum gpumc_status compare_others(const struct gpumc_ensemble *ensemble,
                                        const struct comparison *comparison,
                                        struct gpumc_error *error)
{
  const size_t bytes = ensemble->expected * ensemble->model->portable_bytes;
  const size_t most = bytes > 0 && bytes < AT_ONCE_BYTES ? AT_ONCE_BYTES / bytes : 1;
  for (size_t first = 0; first < comparison->runs; first += most) {
    const size_t left = comparison->runs - first;
    GPUMC_TRY(
        compare_some(ensemble, comparison, first, first + (left < most ? left : most), error));
  }
  return GPUMC_OK;
}

/* The process that has the first run of a pair has its results. */
static enum gpumc_status make_whole(const struct gpumc_ensemble *ensemble,
                                    const struct comparison *comparison, struct gpumc_error *error)
{
  const size_t bytes = ensemble->plan.capacity * sizeof(int64_t);
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++) {
    if (comparison->pair[k] == NULL)
      continue;
    for (int p = 0; p < ensemble->plan.processes->module.size; p++)
      ensemble->share->counts[p] = 0;
    for (size_t i = 0; i < comparison->runs; i++)
      ensemble->share->counts[process_of(ensemble, comparison->first + i)] += bytes;
    GPUMC_TRY(gpumc_share_join(ensemble, comparison->pair[k], error));
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_share_compare(struct gpumc_ensemble *ensemble, size_t first, size_t second,
                                      size_t runs, int64_t *const pair[GPUMC_PAIRS_MAXIMUM],
                                      struct gpumc_error *error)
{
  const struct comparison comparison = {first, second, runs, pair};
  GPUMC_TRY(compare_own(ensemble, &comparison, error));
  GPUMC_TRY(compare_others(ensemble, &comparison, error));
  return make_whole(ensemble, &comparison, error);
}
