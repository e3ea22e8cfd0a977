/* Multicanonical sampling: how walkers come into their windows.
 *
 *              <---- window 0 ---->
 *                          <---- window 1 ---->
 *                                      <---- window 2 ---->
 *   levels     ------------+++++++-------------------------- of states drawn at random
 *                copies from 1 <-- | begins | --> copies to 2
 *
 * Windows that contain states drawn at random begin with these; if none does, weights lead the
 * walkers into the nearest one. Every other window waits until the weights of its neighbour on that
 * side have converged, and begins with copies of the neighbour's walkers inside it: these have
 * features that a level does not determine, such as stripes or a single domain, in about the right
 * proportion, while states quenched into a window forget only slowly how they got there (Vogel et
 * al., Phys. Rev. Lett. 110, 210603 (2013), exchange them for that reason). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"

enum {
  ROUNDS_OF_ENTERING = 8, /* slopes are twice as steep in each */
  SWEEPS_OF_ENTERING = 64,
  INSIDE_LEAST = 8, /* one over this share of the walkers must come in; the others become copies */
  STATES_AT_ONCE = 1024 /* copied at once from one window to another */
};

/* Returns the number of walkers of one table that are in the window of another. */
static size_t
count_inside(const struct muca *muca, const struct muca_table *of, const struct muca_table *in)
{
  size_t inside = 0;
  for (size_t r = 0; r < muca->settings.walkers; r++)
    inside += muca_is_inside(muca, of, r, in);
  return inside;
}

/* Returns whether enough walkers are in their window for the others to become copies of them. */
static bool has_enough(const struct muca *muca, const struct muca_table *table)
{
  return count_inside(muca, table, table) * INSIDE_LEAST >= muca->settings.walkers;
}

/* Finds parent[walkers] of a table: those inside are their own, and the others get these in
 * turn. */
static void find_parents(const struct muca *muca, const struct muca_table *table, uint32_t *parent)
{
  const size_t walkers = muca->settings.walkers;
  size_t from = 0;
  for (size_t r = 0; r < walkers; r++) {
    parent[r] = (uint32_t)r;
    if (muca_is_inside(muca, table, r, table))
      continue;
    while (!muca_is_inside(muca, table, from, table))
      from = (from + 1) % walkers;
    parent[r] = (uint32_t)from;
    from = (from + 1) % walkers;
  }
}

/* Makes walkers of a table copies of their parents, on the device, which has all of them. */
static enum gpumc_status copy_in_place(struct muca *muca, const struct muca_table *table,
                                       const uint32_t *parent, struct gpumc_error *error)
{
  const size_t walkers = muca->settings.walkers, count = muca->tables * walkers;
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  struct gpumc_device *device = muca->context.device;
  uint32_t *of_all = NULL, *on_device = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&of_all, count, "parents", error));
  GPUMC_TRY_OUT(status, gpumc_device_array(device, &on_device, count, "parents", error));
  for (size_t i = 0; i < count; i++)
    of_all[i] = i / walkers == table->index ? parent[i % walkers] : (uint32_t)(i % walkers);
  GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, on_device, of_all,
                                                    count * sizeof *of_all, error));
  GPUMC_TRY_OUT(status, ensemble->ops->gather(ensemble, on_device, error));
out:
  device->ops->release(device, on_device);
  free(of_all);
  return status;
}

/* States of successive walkers of a table being passed between processes, which all have them. */
struct states {
  size_t first, count;
  uint8_t *memory; /* [STATES_AT_ONCE][portable bytes] */
};

static enum gpumc_status get_states(const struct muca *muca, const struct muca_table *table,
                                    size_t first, struct states *states, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  const size_t left = muca->settings.walkers - first;
  states->first = first;
  states->count = left < STATES_AT_ONCE ? left : STATES_AT_ONCE;
  return ensemble->ops->get(ensemble, table->index, first, states->count, states->memory, error);
}

/* Copies parents to `children`: parents ascend and begin anew with the first, so that each slice of
 * them is read a few times. */
static enum gpumc_status copy_parents(const struct muca *muca, const struct muca_table *table,
                                      const uint32_t *parent, struct states *children,
                                      struct states *parents, struct gpumc_error *error)
{
  const size_t bytes = muca->context.model->portable_bytes;
  for (size_t i = 0; i < children->count; i++) {
    const size_t from = parent[children->first + i], slice = from - from % STATES_AT_ONCE;
    if (from == children->first + i)
      continue;
    if (parents->count == 0 || parents->first != slice)
      GPUMC_TRY(get_states(muca, table, slice, parents, error));
    memcpy(children->memory + i * bytes, parents->memory + (from - slice) * bytes, bytes);
  }
  return GPUMC_OK;
}

/* The same if walkers are in several processes. */
static enum gpumc_status copy_across(struct muca *muca, const struct muca_table *table,
                                     const uint32_t *parent, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  const size_t walkers = muca->settings.walkers, bytes = muca->context.model->portable_bytes;
  struct states children = {0}, parents = {0};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&children.memory, STATES_AT_ONCE * bytes,
                                             "states of walkers", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&parents.memory, STATES_AT_ONCE * bytes,
                                             "states of walkers", error));
  for (size_t first = 0; first < walkers; first += STATES_AT_ONCE) {
    GPUMC_TRY_OUT(status, get_states(muca, table, first, &children, error));
    GPUMC_TRY_OUT(status, copy_parents(muca, table, parent, &children, &parents, error));
    GPUMC_TRY_OUT(status, ensemble->ops->set(ensemble, table->index, first, children.count,
                                             children.memory, error));
  }
out:
  free(children.memory);
  free(parents.memory);
  return status;
}

/* Makes walkers outside copies of those inside; they lose their correlation while weights
 * converge. */
static enum gpumc_status
copy_inside(struct muca *muca, const struct muca_table *table, struct gpumc_error *error)
{
  uint32_t *parent;
  GPUMC_TRY(gpumc_allocate_array(&parent, muca->settings.walkers, "parents", error));
  find_parents(muca, table, parent);
  const enum gpumc_status status = muca->own < muca->settings.walkers
                                       ? copy_across(muca, table, parent, error)
                                       : copy_in_place(muca, table, parent, error);
  free(parent);
  return status;
}

/* Returns the mean level of states drawn at random, from the measurement of the table's walkers
 * before they walked. */
static double mean_level(const struct muca *muca, const struct muca_table *table)
{
  double sum = 0;
  for (size_t r = 0; r < muca->settings.walkers; r++)
    sum += (double)muca_level_of(muca, table, r);
  return sum / (double)muca->settings.walkers;
}

/* Returns how far a level is from a window. */
static double distance_of(const struct muca_table *table, double level)
{
  const double first = (double)table->first, last = first + (double)table->weights.levels - 1;
  return level < first ? first - level : level > last ? level - last : 0;
}

/* Before any walker has moved: returns whether walkers are to be led into the window of a table,
 * because it contains states drawn at random, or because no window of its sample does and it is the
 * nearest one. */
static bool comes_first(const struct muca *muca, const struct muca_table *table)
{
  const struct muca_table *sample = table - table->index % muca->settings.windows;
  const struct muca_table *nearest = sample;
  if (has_enough(muca, table))
    return true;
  const double level = mean_level(muca, sample);
  for (const struct muca_table *other = sample; other < sample + muca->settings.windows; other++) {
    if (has_enough(muca, other))
      return false;
    if (distance_of(other, level) < distance_of(nearest, level))
      nearest = other;
  }
  return table == nearest;
}

/* ---- windows that are closed ---- */

const char muca_closed_remedy[] =
    "widen algorithm.range towards the values at infinite temperature, use fewer windows or a "
    "larger windows.overlap, or narrow the range if no state has such values";

const char *muca_table_name(const struct muca *muca, const struct muca_table *table,
                            char text[static MUCA_NAME_BYTES])
{
  const struct muca_settings *settings = &muca->settings;
  char window[32] = "", sample[32] = "";
  if (settings->windows > 1)
    snprintf(window, sizeof window, " of window %zu", table->index % settings->windows);
  if (settings->samples > 1)
    snprintf(sample, sizeof sample, " of sample %zu",
             muca->context.model->first_sample + table->sample);
  snprintf(text, MUCA_NAME_BYTES, "%s%s", window, sample);
  return text;
}

/* Returns whether a table has seen a level that is in the window of another. */
static bool has_seen(const struct muca_table *table, const struct muca_table *window)
{
  for (size_t l = 0; l < table->weights.levels; l++) {
    const size_t level = table->first + l;
    if (table->weights.seen[l] && level >= window->first &&
        level < window->first + window->weights.levels)
      return true;
  }
  return false;
}

bool muca_is_missing(const struct muca *muca, const struct muca_table *table)
{
  const struct muca_table *sample = table - table->index % muca->settings.windows;
  const struct muca_table *end = sample + muca->settings.windows;
  if (!muca_is_closed(table))
    return false;
  if (table->progress->left > 0)
    return true;
  for (const struct muca_table *next = table + 1; next < end; next++)
    if (!muca_is_closed(next) || next->progress->left > 0)
      return muca_is_closed(next) || has_seen(next, next - 1);
  for (const struct muca_table *next = table; next-- > sample;)
    if (!muca_is_closed(next) || next->progress->left > 0)
      return muca_is_closed(next) || has_seen(next, next + 1);
  return true;
}

/* Windows that wait wait in vain if their neighbours are all waiting or closed. */
static void close_in_vain(struct muca *muca, size_t sample)
{
  const size_t windows = muca->settings.windows, end = (sample + 1) * windows;
  for (size_t first = sample * windows, last; first < end; first = last) {
    bool open = false;
    last = first;
    for (; last < end && muca->progress[last].phase != MUCA_CLOSED; last++)
      open = open || muca->progress[last].phase != MUCA_WAIT;
    for (size_t i = first; i < last && !open; i++)
      muca->progress[i].phase = MUCA_CLOSED;
    last += last == first;
  }
}

/* Reports what has been found, and what to do about it. The run continues with the windows and
 * samples that are open; if there are none, it ends. */
static enum gpumc_status
close_window(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  const struct muca_settings *settings = &muca->settings;
  const double sites = (double)muca->context.model->sites;
  const size_t first = table->first, last = first + settings->window - 1;
  size_t open = 0;
  char text[512], name[MUCA_NAME_BYTES];
  table->progress->phase = MUCA_CLOSED;
  table->progress->left = count_inside(muca, table, table);
  close_in_vain(muca, table->sample);
  for (size_t i = 0; i < muca->tables; i++)
    open += muca->progress[i].phase != MUCA_CLOSED;
  snprintf(text, sizeof text,
           "%zu of %zu walkers%s reached the range from %g to %g per site within %d sweeps: %s",
           (size_t)table->progress->left, settings->walkers, muca_table_name(muca, table, name),
           muca_level_value(settings, muca->context.model, first) / sites,
           muca_level_value(settings, muca->context.model, last) / sites,
           (ROUNDS_OF_ENTERING - 1) * SWEEPS_OF_ENTERING, muca_closed_remedy);
  if (open == 0) /* all processes have found this */
    return gpumc_processes_agree(gpumc_columns_processes(muca->context.ensemble),
                                 gpumc_error_set(error, GPUMC_FAILURE, "%s", text), error);
  if (muca_is_missing(muca, table))
    gpumc_observer_tell(muca->context.observer, GPUMC_WARNING, text);
  return GPUMC_OK;
}

/* Returns whether the neighbour that walkers come from has converged without a level of the window:
 * there are no states in it, unless a gap lies between them, and then nothing joins it across the
 * gap. */
static bool is_beyond(const struct muca *muca, const struct muca_table *table)
{
  const size_t window = table->index % muca->settings.windows;
  const struct muca_table *below = window > 0 ? table - 1 : table;
  const struct muca_table *above = window + 1 < muca->settings.windows ? table + 1 : table;
  const struct muca_table *from = above->progress->phase == MUCA_READY ? above : below;
  return from->progress->phase == MUCA_READY && from->progress->converged && !has_seen(from, table);
}

enum gpumc_status
muca_end_entering(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  struct muca_progress *progress = table->progress;
  if (progress->rounds == 0 && !comes_first(muca, table)) {
    progress->phase = MUCA_WAIT;
    return GPUMC_OK;
  }
  progress->rounds++;
  if (count_inside(muca, table, table) == muca->settings.walkers)
    return muca_begin(muca, table, error);
  if (progress->rounds < ROUNDS_OF_ENTERING) {
    progress->left = muca_rounded((double)SWEEPS_OF_ENTERING * (double)muca->context.model->sites);
    return GPUMC_OK;
  }
  if (!has_enough(muca, table) || is_beyond(muca, table))
    return close_window(muca, table, error);
  GPUMC_TRY(copy_inside(muca, table, error));
  return muca_begin(muca, table, error);
}

/* ---- from a neighbour ---- */

/* Sets the walkers first, first + apart .. of a table to the states of some walkers. */
static enum gpumc_status put(struct muca *muca, const struct muca_table *table, size_t first,
                             size_t count, size_t apart, const uint8_t *states,
                             struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  const size_t walkers = muca->settings.walkers;
  for (; first < walkers; first += apart) {
    const size_t room = walkers - first;
    GPUMC_TRY(ensemble->ops->set(ensemble, table->index, first, count < room ? count : room, states,
                                 error));
  }
  return GPUMC_OK;
}

/* Makes walkers of `table` copies of those of `from` that are in its window, of which there are
 * `inside`, each as often as needed; if there are none, of all. */
static enum gpumc_status copy_from(struct muca *muca, const struct muca_table *from,
                                   const struct muca_table *table, size_t inside,
                                   struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = muca->context.ensemble;
  const size_t walkers = muca->settings.walkers, bytes = muca->context.model->portable_bytes;
  const size_t apart = inside > 0 ? inside : walkers;
  uint8_t *states;
  size_t done = 0;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&states, STATES_AT_ONCE * bytes, "states of walkers", error));
  for (size_t first = 0; first < walkers && status == GPUMC_OK; first += STATES_AT_ONCE) {
    const size_t left = walkers - first, count = left < STATES_AT_ONCE ? left : STATES_AT_ONCE;
    size_t kept = 0;
    status = ensemble->ops->get(ensemble, from->index, first, count, states, error);
    for (size_t r = 0; r < count; r++)
      if (inside == 0 || muca_is_inside(muca, from, first + r, table))
        memmove(states + kept++ * bytes, states + r * bytes, bytes);
    if (status == GPUMC_OK && kept > 0)
      status = put(muca, table, done, kept, apart, states, error);
    done += kept;
  }
  free(states);
  return status;
}

/* Finds the windows that wait on either side of one; returns how many. */
static size_t waiting_beside(const struct muca *muca, const struct muca_table *table,
                             struct muca_table *beside[2])
{
  const size_t window = table->index % muca->settings.windows;
  size_t n = 0;
  if (window > 0 && muca->progress[table->index - 1].phase == MUCA_WAIT)
    beside[n++] = &muca->table[table->index - 1];
  if (window + 1 < muca->settings.windows && muca->progress[table->index + 1].phase == MUCA_WAIT)
    beside[n++] = &muca->table[table->index + 1];
  return n;
}

/* Starts the window of another table from a measured one; if none of its walkers is there, all are
 * copied as they are, and weights lead them. */
static enum gpumc_status begin_beside(struct muca *muca, const struct muca_table *from,
                                      struct muca_table *table, struct gpumc_error *error)
{
  const size_t inside = count_inside(muca, from, table);
  GPUMC_TRY(copy_from(muca, from, table, inside, error));
  if (inside == 0) {
    table->progress->phase = MUCA_ENTER;
    table->progress->rounds = 1;
    return GPUMC_OK;
  }
  muca_weights_continue(&table->weights, &muca->settings, &from->weights,
                        (int64_t)from->first - (int64_t)table->first);
  return muca_begin(muca, table, error);
}

enum gpumc_status muca_go_on(struct muca *muca, const struct muca_table *from, bool at_last,
                             bool *went, struct gpumc_error *error)
{
  struct muca_table *to[2];
  const size_t n = waiting_beside(muca, from, to);
  *went = true;
  if (n > 0)
    GPUMC_TRY(muca_measure(muca, error));
  for (size_t k = 0; k < n; k++)
    *went = *went && (at_last || !has_seen(from, to[k]) || count_inside(muca, from, to[k]) > 0);
  for (size_t k = 0; k < n && *went; k++)
    GPUMC_TRY(begin_beside(muca, from, to[k], error));
  return GPUMC_OK;
}
