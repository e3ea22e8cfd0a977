#include "algorithms/pa/pa_flow.h"

static const uint64_t *row_of(const struct pa_flow *flow, const uint64_t *number, size_t m)
{
  return number + m * ((size_t)flow->size + 1);
}

/* The streams of the last process end where its children, or its places, end: with those of all. */
bool pa_flow_need(const struct pa_kept *kept, struct pa_need *need)
{
  const bool all = kept->places >= kept->own, none = kept->places == 0;
  const uint64_t survivors = all ? kept->living : 0;
  *need = (struct pa_need){kept->copies - survivors, kept->places - survivors};
  return all || none || kept->last;
}

void pa_flow_number(struct pa_flow *flow)
{
  const size_t size = (size_t)flow->size, width = size + 1;
  for (size_t m = 0; m < flow->runs; m++) {
    flow->child[m * width] = flow->place[m * width] = 0;
    for (size_t p = 0; p < size; p++) {
      const struct pa_need *need = &flow->need[p * flow->runs + m];
      flow->child[m * width + p + 1] = flow->child[m * width + p] + need->children;
      flow->place[m * width + p + 1] = flow->place[m * width + p] + need->places;
    }
  }
}

struct pa_stream pa_flow_stream(const struct pa_flow *flow, size_t m, int from, int to)
{
  const uint64_t *child = row_of(flow, flow->child, m) + from;
  const uint64_t *place = row_of(flow, flow->place, m) + to;
  const uint64_t first = child[0] > place[0] ? child[0] : place[0];
  const uint64_t end = child[1] < place[1] ? child[1] : place[1];
  if (first >= end)
    return (struct pa_stream){0, 0, 0};
  return (struct pa_stream){first - child[0], first - place[0], (size_t)(end - first)};
}

/* Children and places ascend by process, so that one pass visits all streams of a run. */
static size_t most_of_run(const struct pa_flow *flow, size_t m)
{
  const uint64_t *child = row_of(flow, flow->child, m), *place = row_of(flow, flow->place, m);
  size_t most = 0;
  for (int from = 0, to = 0; from < flow->size && to < flow->size;) {
    const size_t count = from != to ? pa_flow_stream(flow, m, from, to).count : 0;
    most = count > most ? count : most;
    if (child[from + 1] < place[to + 1])
      from++;
    else
      to++;
  }
  return most;
}

size_t pa_flow_most(const struct pa_flow *flow)
{
  size_t sum = 0;
  for (size_t m = 0; m < flow->runs; m++)
    sum += most_of_run(flow, m);
  return sum;
}

struct pa_stream pa_stream_cut(struct pa_stream stream, size_t before, size_t first, size_t count)
{
  const size_t begin = first > before ? first : before;
  const size_t past = before + stream.count;
  const size_t end = first + count < past ? first + count : past;
  if (begin >= end)
    return (struct pa_stream){0, 0, 0};
  return (struct pa_stream){stream.child + (begin - before), stream.place + (begin - before),
                            end - begin};
}
