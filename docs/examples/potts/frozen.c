/* A kernel that does nothing: all sites stay in one state. It shows what a kernel is at the least,
 * and is what a test of results must reject. */
#include <string.h>

#include "models/lattice/replicas_cpu.h"

extern const struct gpumc_kernel_ops potts_frozen;

static void start(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  memset(place->data, 0, ensemble->model->sites);
}

static void
stay(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  (void)ensemble, (void)place, (void)sweeps;
}

/* Of the ground state: the lowest energy, the largest order. */
static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct gpumc_model *model = ensemble->model;
  for (size_t c = 0; c < model->ops->n_channels; c++)
    if (channel[c] != NULL)
      channel[c][place->run * ensemble->plan.capacity + place->first] =
          c == 0 ? model->grid[0].lowest : (int64_t)model->bound[c];
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1, .buffers = 1, .start = start, .sweep = stay, .measure = measure};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&layout, ensemble, error);
}

/* In the words of the other kernel: moves of one name are one move. */
static const struct gpumc_move moves[] = {{.name = "heat_bath", .summary = "from its weights"}};
const struct gpumc_kernel_ops potts_frozen = {LATTICE_CPU_OPERATIONS,
                                              .variant = "frozen",
                                              .summary = "does nothing, for tests",
                                              .trajectory = "potts-frozen-1",
                                              .moves = moves,
                                              .n_moves = 1,
                                              .bytes = bytes,
                                              .create = create};
