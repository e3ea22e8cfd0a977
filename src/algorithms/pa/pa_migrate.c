/* Moves children whose place is in another process: their families, and their states in portable
 * form. Each process fills messages to all others in the memory of its device, they are exchanged,
 * and it empties those that it received. A message has a part for each run:
 *
 *   states [count][portable_bytes] | families [count]       each starts at a multiple of 16 bytes
 *
 * Messages follow each other in the order of the processes. */
#include "algorithms/pa/pa_parts.h"

/* ---- memory for messages ---- */

/* Leaves room for the next messages to be larger. */
size_t pa_buffer_bytes(size_t bytes)
{
  return bytes + bytes / 2;
}

enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= buffer->bytes)
    return GPUMC_OK;
  pa_buffer_free(buffer);
  GPUMC_TRY(gpumc_device_array(buffer->device, &buffer->memory, pa_buffer_bytes(bytes),
                               "messages between processes", error));
  buffer->bytes = pa_buffer_bytes(bytes);
  return GPUMC_OK;
}

void pa_buffer_free(struct pa_buffer *buffer)
{
  if (buffer->memory != NULL)
    buffer->device->ops->release(buffer->device, buffer->memory);
  *buffer = (struct pa_buffer){.device = buffer->device};
}

/* ---- messages ---- */

/* Bytes that a process sends and receives at once, about; more if a single replica for each other
 * process takes more. */
enum { ROUND_BYTES = 1 << 26 };

static size_t mover_bytes(size_t portable)
{
  return portable + sizeof(uint32_t);
}

size_t pa_messages_bytes(size_t replicas, size_t portable)
{
  const double all = (double)replicas * (double)mover_bytes(portable);
  return all < ROUND_BYTES ? (size_t)all : ROUND_BYTES;
}

static size_t aligned(size_t bytes)
{
  return (bytes + GPUMC_STATES_ALIGNMENT - 1) / GPUMC_STATES_ALIGNMENT * GPUMC_STATES_ALIGNMENT;
}

static size_t states_bytes(const struct pa_parts *parts, size_t count)
{
  return aligned(count * parts->ensemble->model->portable_bytes);
}

/* Returns the bytes of a run's part of a message. */
static size_t part_bytes(const struct pa_parts *parts, size_t count)
{
  return states_bytes(parts, count) + aligned(count * sizeof(uint32_t));
}

/* The replicas with numbers first .. first + count - 1 that go from one process to another. */
struct round {
  size_t first, count;
};

/* Returns what goes from one process to another in run m in this round. `before` counts all that
 * goes in the runs before it, and advances. */
static struct pa_stream stream_of(const struct pa_flow *flow, const struct round *round, size_t m,
                                  int from, int to, size_t *before)
{
  const struct pa_stream all = pa_flow_stream(flow, m, from, to);
  const struct pa_stream part = pa_stream_cut(all, *before, round->first, round->count);
  *before += all.count;
  return part;
}

static size_t
message_bytes(const struct pa_parts *parts, const struct round *round, int from, int to)
{
  size_t bytes = 0, before = 0;
  for (size_t m = 0; m < parts->flow.runs && from != to; m++)
    bytes += part_bytes(parts, stream_of(&parts->flow, round, m, from, to, &before).count);
  return bytes;
}

/* Makes room for all messages of a round, to and from each process. */
static enum gpumc_status
reserve(struct pa_parts *parts, const struct round *round, struct gpumc_error *error)
{
  const int rank = parts->flow.rank;
  size_t out = 0, in = 0;
  for (int p = 0; p < parts->flow.size; p++) {
    out += parts->n_out[p] = message_bytes(parts, round, rank, p);
    in += parts->n_in[p] = message_bytes(parts, round, p, rank);
  }
  GPUMC_TRY(pa_buffer_reserve(&parts->out, out + 1, error));
  return pa_buffer_reserve(&parts->in, in + 1, error);
}

/* Copies the children of one stream into a part of a message, or out of it, as many at a time as
 * the list has room for: children may outnumber places. */
static enum gpumc_status
pass_stream(struct pa_population *population, const struct pa_work *work, enum pa_movement movement,
            size_t m, const struct pa_stream *stream, uint8_t *part, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  const struct pa_steps *steps = population->steps;
  const uint64_t first = movement == PA_LEAVING ? stream->child : stream->place;
  uint32_t *family = (uint32_t *)(void *)(part + states_bytes(parts, stream->count));
  for (size_t done = 0, count; done < stream->count; done += count) {
    const size_t left = stream->count - done;
    count = left < work->capacity ? left : work->capacity;
    const struct pa_movers movers = {movement, m, first + done, count, parts->list, family + done};
    uint8_t *states = part + done * parts->ensemble->model->portable_bytes;
    GPUMC_TRY(steps->find_movers(population->device, work, &movers, error));
    if (movement == PA_LEAVING) {
      GPUMC_TRY(
          gpumc_columns_get_list(parts->ensemble, m, movers.slot, movers.count, states, error));
      continue;
    }
    GPUMC_TRY(gpumc_columns_set_list(parts->ensemble, m, movers.slot, movers.count, states, error));
    GPUMC_TRY(steps->adopt(population->device, work, &movers, error));
  }
  return GPUMC_OK;
}

/* Handles all messages of a round, of children that leave or that arrive. */
static enum gpumc_status pass_round(struct pa_population *population, const struct round *round,
                                    enum pa_movement movement, uint8_t *message,
                                    struct gpumc_error *error)
{
  const struct pa_work work = pa_population_work(population, population->runs);
  const struct pa_flow *flow = &population->parts->flow;
  for (int p = 0; p < flow->size; p++) {
    const int from = movement == PA_LEAVING ? flow->rank : p;
    const int to = movement == PA_LEAVING ? p : flow->rank;
    size_t before = 0;
    for (size_t m = 0; m < flow->runs && from != to; m++) {
      const struct pa_stream stream = stream_of(flow, round, m, from, to, &before);
      GPUMC_TRY(pass_stream(population, &work, movement, m, &stream, message, error));
      message += part_bytes(population->parts, stream.count);
    }
  }
  return GPUMC_OK;
}

static enum gpumc_status fill_messages(struct pa_population *population, const struct round *round,
                                       struct gpumc_error *error)
{
  return pass_round(population, round, PA_LEAVING, population->parts->out.memory, error);
}

static enum gpumc_status empty_messages(struct pa_population *population, const struct round *round,
                                        struct gpumc_error *error)
{
  return pass_round(population, round, PA_ARRIVING, population->parts->in.memory, error);
}

static enum gpumc_status exchange_messages(struct pa_parts *parts, struct gpumc_error *error)
{
  return gpumc_transfer_trade(parts->transfer, parts->out.memory, parts->n_out, parts->in.memory,
                              parts->n_in, error);
}

/* A free place is nobody's parent, so arrivals overwrite nothing that is still to leave or to be
 * copied in place. */
enum gpumc_status pa_parts_migrate(struct pa_population *population, struct gpumc_error *error)
{
  struct pa_parts *parts = population->parts;
  if (parts == NULL)
    return GPUMC_OK;
  GPUMC_TRY(pa_parts_find_flow(population, error));
  const size_t most = pa_flow_most(&parts->flow), others = (size_t)parts->flow.size - 1;
  const size_t bytes = mover_bytes(parts->ensemble->model->portable_bytes);
  const size_t fitting = ROUND_BYTES / (bytes * others);
  struct round round = {.count = fitting > 0 ? fitting : 1};
  for (; round.first < most; round.first += round.count) {
    GPUMC_TRY(reserve(parts, &round, error));
    GPUMC_TRY(fill_messages(population, &round, error));
    GPUMC_TRY(exchange_messages(parts, error));
    GPUMC_TRY(empty_messages(population, &round, error));
  }
  return GPUMC_OK;
}
