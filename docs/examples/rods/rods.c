/* Hard rods of length 1 on a ring (Tonks, Phys. Rev. 50, 955 (1936)): a complete model without an
 * energy, all of whose allowed states have the same weight, to begin another one with.
 *   cmake -B build -DGPUMC_PLUGINS=docs/examples/rods && cmake --build build
 *   build/gpumc run docs/examples/rods/rods.yaml
 *
 * Everything is known. The gaps of N rods on a ring of length L are uniform on the simplex of those
 * that add up to G = L - N, so that one of them is smaller than w with the probability
 * 1 - (1 - w/G)^(N-1), their mean square is 2 G^2/(N (N+1)), and k of them in a row are G times a
 * number of the beta distribution with k and N - k. The pressure is P/kT = (N-1)/G + 1/L, in an
 * infinite system rho/(1 - rho). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "models/lattice/replicas_cpu.h"

/* ---- what it is ---- */

/* Positions are whole numbers of 2^-20, so that nothing is ever rounded. */
#define QUANTUM 0x1p-20
enum { ROD = 1 << 20, CONTACT = ROD / 8, PURPOSE_MOVE = 201 }; /* of random.h: site = trial */
enum channel { GAP2, CONTACTS, NUMBERS, DISTANCES = NUMBERS, CHANNELS };
enum { BINS = 32, BIN = ROD / 8 }; /* of distances, from 1 on */

struct rods {
  size_t particles;
  int64_t length, step;        /* in quanta */
  double at[BINS], unit[BINS]; /* of distances */
};

static const struct gpumc_key keys[] = {
    {.name = "particles",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 2,
     .maximum = 1000,
     .required = true,
     .sweepable = true,
     .doc = "Number of rods."},
    {.name = "length",
     .type = GPUMC_KEY_REAL,
     .minimum = 2,
     .maximum = 1024,
     .required = true,
     .sweepable = true,
     .doc = "Length of the ring, in rods."},
    {.name = "step",
     .type = GPUMC_KEY_REAL,
     .minimum = 0.001,
     .maximum = 1024,
     .default_text = "1",
     .doc = "Largest displacement of a trial move, in rods."},
    {.name = NULL},
};

static const struct gpumc_channel channels[CHANNELS] = {
    [GAP2] = {.label = {"gap2", "squared gap, a mean over the rods", "1", "s^2"}},
    [CONTACTS] = {.label = {"contact", "share of gaps below 1/8", "1", "c"}},
    [DISTANCES] = {.label = {"pair_correlation",
                             "density of rods at a distance over the mean density", "1", "g(r)"},
                   .request_key = "pair_correlation",
                   .request = "Whether the pair correlation function is measured.",
                   .axis = {"distance", "distance to another rod, in rods", "1", "r"}}};

static const struct gpumc_mean means[NUMBERS] = {
    [GAP2] = {{"gap2", "mean squared gap", "1", "<s^2>"}, .index = GAP2, .power = 1},
    [CONTACTS] = {
        {"contact", "probability of a gap below 1/8", "1", "p"}, .index = CONTACTS, .power = 1}};

/* Gaps of an infinite system are exponential: p = 1 - exp(-P w/kT). */
static double pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return -log1p(-mean[0]) / (CONTACT * QUANTUM);
}

static const struct gpumc_quantity quantities[] = {
    {.n_uses = 1, .uses = {GAP2}},
    {.n_uses = 1, .uses = {CONTACTS}},
    {.label = {"pressure", "pressure P/kT by the gaps below 1/8", "1", "P"},
     .n_uses = 1,
     .uses = {CONTACTS},
     .value = pressure},
};

/* ---- the kernel: a position of 8 bytes a rod; random rods, one after the other ---- */

/* From rod i to the next. */
static int64_t gap_after(const struct rods *rods, const int64_t *x, size_t i)
{
  const int64_t distance = x[i + 1 < rods->particles ? i + 1 : 0] - x[i];
  return (distance < 0 ? distance + rods->length : distance) - ROD;
}

/* Equally spaced. */
static void start(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct rods *rods = ensemble->model->parameters;
  int64_t *x = place->data;
  for (size_t i = 0; i < rods->particles; i++)
    x[i] = (int64_t)i * rods->length / (int64_t)rods->particles;
}

/* `scaled`: displacements in units of the gap ahead, by which small gaps are entered more easily
 * than left: wrong, for tests. */
static void trial(const struct rods *rods, int64_t *x, const uint32_t word[4], bool scaled)
{
  const size_t i = (size_t)((uint64_t)word[0] * rods->particles >> 32);
  const int64_t before = gap_after(rods, x, i > 0 ? i - 1 : rods->particles - 1);
  const int64_t after = gap_after(rods, x, i);
  const double by = word[1] * 0x1p-31 - 1;
  const int64_t move = (int64_t)(by * (scaled ? (double)after : (double)rods->step));
  if (move > after || -move > before)
    return;
  const int64_t to = x[i] + move;
  x[i] = to < 0 ? to + rods->length : to >= rods->length ? to - rods->length : to;
}

static void sweep_so(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                     uint32_t sweeps, bool scaled)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const uint32_t end = ensemble->time + sweeps;
  for (uint32_t time = ensemble->time; time != end; time++)
    for (size_t i = 0; i < ensemble->model->sites; i++) {
      uint32_t word[4];
      gpumc_random_draw(random, (uint32_t)i, (uint32_t)place->first, time,
                        gpumc_random_label(PURPOSE_MOVE, 0), word);
      trial(ensemble->model->parameters, place->data, word, scaled);
    }
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  sweep_so(ensemble, place, sweeps, false);
}

static void sweep_scaled(const struct gpumc_ensemble *ensemble,
                         const struct lattice_cpu_place *place, uint32_t sweeps)
{
  sweep_so(ensemble, place, sweeps, true);
}

/* Of each rod to those after it, all the way round. */
static void count_distances(const struct rods *rods, const int64_t *x, int64_t *count)
{
  memset(count, 0, BINS * sizeof *count);
  for (size_t i = 0; i < rods->particles; i++) {
    int64_t distance = 0;
    for (size_t k = 0; k + 1 < rods->particles; k++) {
      distance += ROD + gap_after(rods, x, (i + k) % rods->particles);
      if (distance - ROD >= (int64_t)BINS * BIN)
        break;
      count[(distance - ROD) / BIN]++;
    }
  }
}

static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct rods *rods = ensemble->model->parameters;
  const size_t at = place->run * ensemble->plan.capacity + place->first;
  int64_t value[NUMBERS] = {0};
  for (size_t i = 0; i < rods->particles; i++) {
    const int64_t gap = gap_after(rods, place->data, i);
    value[GAP2] += gap * gap;
    value[CONTACTS] += gap < CONTACT;
  }
  for (size_t c = 0; c < NUMBERS; c++)
    if (channel[c] != NULL)
      channel[c][at] = value[c];
  if (channel[DISTANCES] != NULL)
    count_distances(rods, place->data, channel[DISTANCES] + at * BINS);
}

static const struct lattice_cpu_layout
    layout = {.replicas = 1, .buffers = 1, .start = start, .sweep = sweep, .measure = measure},
    scaled = {
        .replicas = 1, .buffers = 1, .start = start, .sweep = sweep_scaled, .measure = measure};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create_serial(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&layout, ensemble, error);
}

static enum gpumc_status create_scaled(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&scaled, ensemble, error);
}

static const struct gpumc_move moves[] = {{.name = "displace",
                                           .summary = "a random rod, by a random displacement",
                                           .targets = 1u << GPUMC_ATHERMAL}};
#define KERNEL LATTICE_CPU_OPERATIONS, .moves = moves, .n_moves = 1, .bytes = bytes
static const struct gpumc_kernel_ops serial = {KERNEL, .variant = "serial",
                                               .summary = "one rod after the other",
                                               .trajectory = "rods-serial-1",
                                               .create = create_serial},
                                     wrong = {KERNEL, .variant = "scaled",
                                              .summary = "not balanced, for tests",
                                              .trajectory = "rods-scaled-1",
                                              .create = create_scaled};

/* ---- an instance ---- */

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct rods *rods;
  GPUMC_TRY(gpumc_allocate_array(&rods, 1, "hard rods", error));
  model->parameters = rods;
  rods->particles = (size_t)gpumc_params_integer(params, "particles");
  rods->length = (int64_t)(gpumc_params_real(params, "length") / QUANTUM);
  rods->step = (int64_t)(gpumc_params_real(params, "step") / QUANTUM);
  const int64_t gaps = rods->length - (int64_t)rods->particles * ROD;
  if (gaps <= 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%zu rods need a ring longer than %zu",
                           rods->particles, rods->particles);
  model->sites = rods->particles;
  model->portable_bytes = rods->particles * sizeof(int64_t);
  model->quantum[GAP2] = QUANTUM * QUANTUM;
  model->bound[GAP2] = (double)gaps * (double)gaps;
  model->quantum[CONTACTS] = 1;
  model->bound[CONTACTS] = (double)rods->particles;
  for (size_t i = 0; i < BINS; i++) {
    rods->at[i] = 1 + ((double)i + 0.5) * BIN * QUANTUM;
    rods->unit[i] =
        (double)rods->length / ((double)BIN * (double)model->sites * (double)model->sites);
  }
  model->profile[DISTANCES] = (struct gpumc_profile){BINS, rods->at, rods->unit};
  model->samples = 1;
  model->log_states = NAN; /* nothing is drawn at an infinite temperature */
  return GPUMC_OK;
}

static void destroy(struct gpumc_model *model)
{
  free(model->parameters);
}

extern const struct gpumc_model_ops gpumc_model_rods;
const struct gpumc_model_ops gpumc_model_rods = {
    .name = "rods",
    .summary = "hard rods on a ring, the Tonks gas",
    .citation =
        "@article{tonks1936complete, author = {Tonks, Lewi}, year = {1936}, volume = {50},\n"
        "  title = {The Complete Equation of State of One, Two and Three-Dimensional Gases "
        "of Hard Elastic Spheres},\n"
        "  journal = {Physical Review}, pages = {955--963}}\n",
    .keys = keys,
    .channels = channels,
    .n_channels = CHANNELS,
    .means = means,
    .n_means = NUMBERS,
    .quantities = quantities,
    .n_quantities = sizeof quantities / sizeof *quantities,
    .kernels = (const struct gpumc_kernel_ops *const[]){&serial, &wrong, NULL},
    .create = create,
    .destroy = destroy,
};
