/* The toy model and its layouts in CPU memory: one byte per site, and one byte per site for every
 * lane of a block. A sweep adds 1 to every site; the channel is the sum of the sites. */
#include "support/toy_replicas.h"

#include <string.h>

#include "models/lattice/replicas_cpu.h"

enum { LANES = 4 };

static const struct gpumc_channel channels[] = {{.label = {.name = "sum"}}};

static const struct gpumc_model_ops model_ops = {
    .name = "toy", .channels = channels, .n_channels = 1};

const struct gpumc_model toy_model = {
    .ops = &model_ops, .sites = TOY_SITES, .portable_bytes = TOY_PORTABLE_BYTES};

static size_t lanes_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->layout->replicas;
}

static size_t one_replica(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return model->sites;
}

static size_t all_lanes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return LANES * model->sites;
}

static void set_lanes(const struct gpumc_model *model, uint8_t *block,
                      const uint8_t *const *portable, size_t lanes)
{
  for (size_t lane = 0; lane < lanes; lane++)
    for (size_t i = 0; portable[lane] != NULL && i < model->sites; i++)
      block[i * lanes + lane] = toy_portable_state(portable[lane], i);
}

static void get_lanes(const struct gpumc_model *model, const uint8_t *block,
                      uint8_t *const *portable, size_t lanes)
{
  for (size_t lane = 0; lane < lanes; lane++)
    for (size_t i = 0; portable[lane] != NULL && i < model->sites; i++)
      toy_set_portable_state(portable[lane], i, block[i * lanes + lane]);
}

static void set_one(const struct gpumc_model *model, void *block,
                    const uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  set_lanes(model, block, portable, 1);
}

static void get_one(const struct gpumc_model *model, const void *block,
                    uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  get_lanes(model, block, portable, 1);
}

static void set_block(const struct gpumc_model *model, void *block,
                      const uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  set_lanes(model, block, portable, LANES);
}

static void get_block(const struct gpumc_model *model, const void *block,
                      uint8_t *const portable[LATTICE_CPU_BLOCK])
{
  get_lanes(model, block, portable, LANES);
}

static void gather_block(const struct gpumc_ensemble *ensemble,
                         const struct lattice_cpu_place *place, const uint32_t *parent, void *to)
{
  uint8_t *child = to;
  for (size_t lane = 0; lane < place->count; lane++) {
    const size_t from = parent[place->first + lane];
    const uint8_t *source = lattice_cpu_block(ensemble->storage, place->run, from / LANES);
    for (size_t i = 0; i < ensemble->model->sites; i++)
      child[i * LANES + lane] = source[i * LANES + from % LANES];
  }
}

static void
exchange_lanes(const struct gpumc_ensemble *ensemble, void *one, void *other, uint32_t lanes)
{
  uint8_t *a = one, *b = other;
  for (size_t i = 0; i < LANES * ensemble->model->sites; i++) {
    const uint8_t of_a = a[i];
    if ((lanes >> i % LANES & 1) != 0) {
      a[i] = b[i];
      b[i] = of_a;
    }
  }
}

static void set_rules(const struct gpumc_ensemble *ensemble, const double *control)
{
  (void)ensemble;
  (void)control;
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const size_t lanes = lanes_of(ensemble);
  uint8_t *sites = place->data;
  for (size_t i = 0; i < lanes * ensemble->model->sites; i++)
    if (i % lanes < place->count)
      sites[i] = (uint8_t)((sites[i] + sweeps) % TOY_STATES);
}

static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const size_t lanes = lanes_of(ensemble), at = place->run * ensemble->plan.capacity + place->first;
  const uint8_t *sites = place->data;
  for (size_t lane = 0; lane < place->count; lane++) {
    channel[0][at + lane] = 0;
    for (size_t i = 0; i < ensemble->model->sites; i++)
      channel[0][at + lane] += sites[i * lanes + lane];
  }
}

static void sweep_and_measure(const struct gpumc_ensemble *ensemble,
                              const struct lattice_cpu_place *place, uint32_t sweeps,
                              int64_t *const *channel)
{
  sweep(ensemble, place, sweeps);
  measure(ensemble, place, channel);
}

static const struct lattice_cpu_layout by_replica = {
    .replicas = 1,
    .buffers = 1,
    .block_bytes = one_replica,
    .set = set_one,
    .get = get_one,
    .set_rules = set_rules,
    .sweep = sweep,
    .measure = measure,
    .sweep_and_measure = sweep_and_measure,
};

static const struct lattice_cpu_layout by_lanes = {
    .replicas = LANES,
    .buffers = 2,
    .block_bytes = all_lanes,
    .set = set_block,
    .get = get_block,
    .gather = gather_block,
    .exchange = exchange_lanes,
    .set_rules = set_rules,
    .sweep = sweep,
    .measure = measure,
    .sweep_and_measure = sweep_and_measure,
};

static size_t replica_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                            const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&by_replica, model, device, plan);
}

static size_t lanes_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                          const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&by_lanes, model, device, plan);
}

static enum gpumc_status
create_by_replica(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&by_replica, ensemble, error);
}

static enum gpumc_status create_by_lanes(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&by_lanes, ensemble, error);
}

#define TOY_OPERATIONS                                                                             \
  LATTICE_CPU_COMMON, .sweep = lattice_cpu_sweep, .measure = lattice_cpu_measure,                  \
                      .gather = lattice_cpu_gather, .exchange = lattice_cpu_exchange

static const struct gpumc_kernel_ops replica_kernel = {
    TOY_OPERATIONS, .variant = "by replica", .bytes = replica_bytes, .create = create_by_replica};
static const struct gpumc_kernel_ops lanes_kernel = {
    TOY_OPERATIONS, .variant = "by lanes", .bytes = lanes_bytes, .create = create_by_lanes};

const struct gpumc_kernel_ops *const toy_cpu_kernels[] = {&replica_kernel, &lanes_kernel, NULL};
