/* Children whose place is in another process: their families, and their states in portable form, in
 * messages from each process to each other one, run by run. */
#include <string.h>

#include "algorithms/pa/pa_parts.h"

/* Replicas are read and written in ranges of about so many bytes at the most, unless one has more;
 * places between them that are left as they are cost less than another call up to so many. */
enum { RANGE_BYTES = 1 << 22, GAP_BYTES = 1 << 14 };

static size_t portable_of(const struct pa_parts *parts)
{
  return parts->ensemble->model->portable_bytes;
}

static size_t mover_bytes(const struct pa_parts *parts)
{
  return portable_of(parts) + sizeof(uint32_t);
}

/* A range of replicas in which those at slot[0], slot[1], ... stand: how many of these. Slots
 * ascend, and may repeat. */
static size_t range_of(const struct pa_parts *parts, const uint32_t *slot, size_t count)
{
  const size_t bytes = portable_of(parts);
  size_t i = 1;
  while (i < count && slot[i] - slot[i - 1] <= 1 + GAP_BYTES / bytes &&
         slot[i] - slot[0] < RANGE_BYTES / bytes)
    i++;
  return i;
}

/* The states at slot[count] into portable[count]. */
static enum gpumc_status read_states(struct pa_parts *parts, size_t m, const uint32_t *slot,
                                     size_t count, uint8_t *portable, struct gpumc_error *error)
{
  const size_t bytes = portable_of(parts);
  for (size_t i = 0, n; i < count; i += n) {
    n = range_of(parts, slot + i, count - i);
    const size_t first = slot[i], span = slot[i + n - 1] - first + 1;
    GPUMC_TRY(pa_buffer_reserve(&parts->range, span * bytes, error));
    GPUMC_TRY(gpumc_columns_get_own(parts->ensemble, m, first, span, parts->range.memory, error));
    for (size_t k = i; k < i + n; k++)
      memcpy(portable + k * bytes, parts->range.memory + (slot[k] - first) * bytes, bytes);
  }
  return GPUMC_OK;
}

/* Replicas between those that are written are read before, and get what they had. */
static enum gpumc_status write_states(struct pa_parts *parts, size_t m, const uint32_t *slot,
                                      size_t count, const uint8_t *portable,
                                      struct gpumc_error *error)
{
  const size_t bytes = portable_of(parts);
  for (size_t i = 0, n; i < count; i += n) {
    n = range_of(parts, slot + i, count - i);
    const size_t first = slot[i], span = slot[i + n - 1] - first + 1;
    GPUMC_TRY(pa_buffer_reserve(&parts->range, span * bytes, error));
    uint8_t *range = parts->range.memory;
    if (span > n)
      GPUMC_TRY(gpumc_columns_get_own(parts->ensemble, m, first, span, range, error));
    for (size_t k = i; k < i + n; k++)
      memcpy(range + (slot[k] - first) * bytes, portable + k * bytes, bytes);
    GPUMC_TRY(gpumc_columns_set_own(parts->ensemble, m, first, span, range, error));
  }
  return GPUMC_OK;
}

/* With memory for `count` slots and families. */
static enum gpumc_status movers_make(struct pa_parts *parts, enum pa_movement movement, size_t m,
                                     uint64_t first, size_t count, struct pa_movers *movers,
                                     struct gpumc_error *error)
{
  GPUMC_TRY(pa_buffer_reserve(&parts->movers, 2 * count * sizeof(uint32_t), error));
  uint32_t *memory = (uint32_t *)(void *)parts->movers.memory;
  *movers = (struct pa_movers){movement, m, first, count, memory, memory + count};
  return GPUMC_OK;
}

/* The children of one stream: their states, then their families. `message` moves on. */
static enum gpumc_status pack(struct pa_population *population, const struct pa_work *work,
                              size_t m, const struct pa_stream *stream, uint8_t **message,
                              struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t count = stream->count;
  struct pa_movers movers;
  if (count == 0)
    return GPUMC_OK;
  GPUMC_TRY(movers_make(parts, PA_LEAVING, m, stream->child, count, &movers, error));
  GPUMC_TRY(population->steps->find_movers(population->device, work, &movers, error));
  GPUMC_TRY(read_states(parts, m, movers.slot, count, *message, error));
  *message += count * portable_of(parts);
  memcpy(*message, movers.family, count * sizeof *movers.family);
  *message += count * sizeof *movers.family;
  return GPUMC_OK;
}

static enum gpumc_status unpack(struct pa_population *population, const struct pa_work *work,
                                size_t m, const struct pa_stream *stream, const uint8_t **message,
                                struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const size_t count = stream->count;
  struct pa_movers movers;
  if (count == 0)
    return GPUMC_OK;
  GPUMC_TRY(movers_make(parts, PA_ARRIVING, m, stream->place, count, &movers, error));
  GPUMC_TRY(population->steps->find_movers(population->device, work, &movers, error));
  GPUMC_TRY(write_states(parts, m, movers.slot, count, *message, error));
  *message += count * portable_of(parts);
  memcpy(movers.family, *message, count * sizeof *movers.family);
  *message += count * sizeof *movers.family;
  return population->steps->adopt(population->device, work, &movers, error);
}

/* How many bytes there are for each process, and from it; whether any process has one to send. */
static bool count_bytes(struct pa_parts *parts, size_t *out, size_t *in)
{
  const struct pa_flow *flow = &parts->flow;
  bool any = false;
  *out = *in = 0;
  for (int p = 0; p < flow->size; p++) {
    const bool other = p != flow->rank;
    parts->n_out[p] = other ? pa_flow_count(flow, flow->rank, p) * mover_bytes(parts) : 0;
    parts->n_in[p] = other ? pa_flow_count(flow, p, flow->rank) * mover_bytes(parts) : 0;
    *out += parts->n_out[p];
    *in += parts->n_in[p];
    for (int q = 0; q < flow->size && !any; q++)
      any = p != q && pa_flow_count(flow, p, q) > 0;
  }
  return any;
}

enum gpumc_status pa_parts_send(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  size_t out, in;
  if (parts == NULL || !count_bytes(parts, &out, &in))
    return GPUMC_OK;
  const struct pa_flow *flow = &parts->flow;
  const struct pa_work work = pa_population_work(population, population->runs);
  GPUMC_TRY(pa_buffer_reserve(&parts->out, out + 1, error));
  GPUMC_TRY(pa_buffer_reserve(&parts->in, in + 1, error));
  uint8_t *message = parts->out.memory;
  for (int p = 0; p < flow->size; p++)
    for (size_t m = 0; m < flow->runs && p != flow->rank; m++) {
      const struct pa_stream stream = pa_flow_stream(flow, m, flow->rank, p);
      GPUMC_TRY(pack(population, &work, m, &stream, &message, error));
    }
  gpumc_processes_trade(parts->processes, parts->out.memory, parts->n_out, parts->in.memory,
                        parts->n_in);
  return GPUMC_OK;
}

enum gpumc_status pa_parts_receive(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return GPUMC_OK;
  const struct pa_flow *flow = &parts->flow;
  const struct pa_work work = pa_population_work(population, population->runs);
  const uint8_t *message = parts->in.memory;
  for (int p = 0; p < flow->size; p++)
    for (size_t m = 0; m < flow->runs && p != flow->rank; m++) {
      const struct pa_stream stream = pa_flow_stream(flow, m, p, flow->rank);
      GPUMC_TRY(unpack(population, &work, m, &stream, &message, error));
    }
  return GPUMC_OK;
}
