/* Children whose place is in another process: their families, and their states in portable form, in
 * messages from each process to each other one, run by run. */
#include <string.h>

#include "algorithms/pa/pa_parts.h"

/* Replicas are read and written in ranges of about so many bytes at the most, unless one has more;
 * places between them that are left as they are cost less than another call up to so many, of the
 * host and of a GPU, where a call takes some 15 us. */
enum { RANGE_BYTES = 1 << 22, GAP_BYTES = 1 << 14, GAP_BYTES_OF_GPU = 1 << 18 };
/* A process sends and receives about so many bytes at once, unless one replica for each other one
 * has more. */
enum { ROUND_BYTES = 1 << 26 };

size_t pa_messages_bytes(size_t replicas, size_t portable)
{
  const double all = (double)replicas * (double)portable;
  return 3 * (all < ROUND_BYTES ? (size_t)all : ROUND_BYTES); /* buffers have half as much again */
}

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
  const bool on_cpu = parts->ensemble->device->ops->kind == GPUMC_KIND_CPU;
  const size_t gap = (on_cpu ? GAP_BYTES : GAP_BYTES_OF_GPU) / bytes;
  size_t i = 1;
  while (i < count && slot[i] - slot[i - 1] <= 1 + gap && slot[i] - slot[0] < RANGE_BYTES / bytes)
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

/* Of what goes from one process to another, number first .. first + count - 1. */
struct round {
  size_t first, count;
};

static size_t
bytes_between(const struct pa_parts *parts, const struct round *round, int from, int to)
{
  const size_t count = from != to ? pa_flow_count(&parts->flow, from, to) : 0;
  const size_t left = count > round->first ? count - round->first : 0;
  return (left < round->count ? left : round->count) * mover_bytes(parts);
}

/* Room for all messages of a round, to each process and from it. */
static enum gpumc_status
reserve(struct pa_parts *parts, const struct round *round, struct gpumc_error *error)
{
  const int rank = parts->flow.rank;
  size_t out = 0, in = 0;
  for (int p = 0; p < parts->flow.size; p++) {
    out += parts->n_out[p] = bytes_between(parts, round, rank, p);
    in += parts->n_in[p] = bytes_between(parts, round, p, rank);
  }
  GPUMC_TRY(pa_buffer_reserve(&parts->out, out + 1, error));
  return pa_buffer_reserve(&parts->in, in + 1, error);
}

static enum gpumc_status pack_round(struct pa_population *population, const struct pa_work *work,
                                    const struct round *round, struct gpumc_error *error)
{
  const struct pa_flow *flow = &population->parts->flow;
  uint8_t *message = population->parts->out.memory;
  for (int p = 0; p < flow->size; p++) {
    size_t before = 0;
    for (size_t m = 0; m < flow->runs && p != flow->rank; m++) {
      const struct pa_stream all = pa_flow_stream(flow, m, flow->rank, p);
      const struct pa_stream part = pa_stream_cut(all, before, round->first, round->count);
      GPUMC_TRY(pack(population, work, m, &part, &message, error));
      before += all.count;
    }
  }
  return GPUMC_OK;
}

static enum gpumc_status unpack_round(struct pa_population *population, const struct pa_work *work,
                                      const struct round *round, struct gpumc_error *error)
{
  const struct pa_flow *flow = &population->parts->flow;
  const uint8_t *message = population->parts->in.memory;
  for (int p = 0; p < flow->size; p++) {
    size_t before = 0;
    for (size_t m = 0; m < flow->runs && p != flow->rank; m++) {
      const struct pa_stream all = pa_flow_stream(flow, m, p, flow->rank);
      const struct pa_stream part = pa_stream_cut(all, before, round->first, round->count);
      GPUMC_TRY(unpack(population, work, m, &part, &message, error));
      before += all.count;
    }
  }
  return GPUMC_OK;
}

/* A free place is nobody's parent, so that what arrives destroys nothing that is still to leave, or
 * to be copied in place. */
enum gpumc_status pa_parts_migrate(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return GPUMC_OK;
  GPUMC_TRY(pa_parts_find_flow(population, error));
  const struct pa_work work = pa_population_work(population, population->runs);
  const size_t most = pa_flow_most(&parts->flow), others = (size_t)parts->flow.size - 1;
  const size_t fitting = ROUND_BYTES / (mover_bytes(parts) * others);
  struct round round = {.count = fitting > 0 ? fitting : 1};
  for (; round.first < most; round.first += round.count) {
    GPUMC_TRY(reserve(parts, &round, error));
    GPUMC_TRY(pack_round(population, &work, &round, error));
    gpumc_processes_trade(parts->processes, parts->out.memory, parts->n_out, parts->in.memory,
                          parts->n_in);
    GPUMC_TRY(unpack_round(population, &work, &round, error));
  }
  return GPUMC_OK;
}
