/* Hard rods of length 1 on a ring (Tonks, Phys. Rev. 50, 955 (1936)): a complete model without an
 * energy, to begin another one with. All allowed states of a ring have the same weight (mpmc); with
 * the pressure as its control, the length varies, with the weight exp(-beta P L) (canonical, pt,
 * pa). docs/adding-a-model.md says how it is built.
 *
 * Everything is known. The gaps of N rods on a ring of length L are uniform on the simplex of those
 * that add up to G = L - N, so that one of them is smaller than w with the probability
 * 1 - (1 - w/G)^(N-1), their mean square is 2 G^2/(N (N+1)), and k of them in a row are G times a
 * number of the beta distribution with k and N - k. The pressure is P/kT = (N-1)/G + 1/L, in an
 * infinite system rho/(1 - rho).
 *
 * N positions on a ring have the volume Z = L G^(N-1), the first anywhere and N - 1 gaps behind it.
 * At constant pressure, p = P/kT, the distribution of G is (G + N) G^(N-1) exp(-p G), two gamma
 * distributions: the integral over L is N! exp(-p N) (1 + p)/p^(N+1), so that the mean length is
 * N + (N + 1)/p - 1/(1 + p), and its variance (N + 1)/p^2 - 1/(1 + p)^2. Beside a fixed rod, Z
 * would be G^(N-1), and N/p the mean of G. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "models/lattice/replicas_cpu.h"

/* ---- what it is ---- */

/* Positions are whole numbers of 2^-20, so that nothing is ever rounded. */
#define QUANTUM 0x1p-20
enum { ROD = 1 << 20, CONTACT = ROD / 8, PURPOSE_MOVE = 201 }; /* of random.h: site = trial */
enum channel { GAP2, CONTACTS, LENGTH, NUMBERS, DISTANCES = NUMBERS, CHANNELS };
enum mean { MEAN_GAP2, MEAN_CONTACTS, MEAN_LENGTH, MEAN_LENGTH2, MEANS };
enum { BETA_PRESSURE, CONTROLS, PRESSURE_MOVED = 1 << BETA_PRESSURE };
enum { DISPLACE, STRETCH }; /* moves */
#define LONGEST 1024.0
enum { BINS = 32, BIN = ROD / 8 }; /* of distances, from 1 on */

/* A replica has the positions of its rods and, behind them, its length: in quanta. */
struct rods {
  size_t particles;
  int64_t length, step;        /* in quanta; of the start */
  double at[BINS], unit[BINS]; /* of distances */
};

static const struct gpumc_key keys[] = {
    {.name = "particles",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 2,
     .maximum = 1000,
     .example = "16",
     .required = true,
     .sweepable = true,
     .doc = "Number of rods."},
    {.name = "length",
     .type = GPUMC_KEY_REAL,
     .minimum = 2,
     .maximum = LONGEST,
     .example = "32",
     .required = true,
     .sweepable = true,
     .doc = "Length of the ring, in rods; where the pressure is given, at the start."},
    {.name = "step",
     .type = GPUMC_KEY_REAL,
     .minimum = 0.001,
     .maximum = LONGEST,
     .default_text = "1",
     .doc = "Largest displacement of a trial move, or change of the length, in rods."},
    {.name = NULL},
};

static const struct gpumc_channel channels[CHANNELS] = {
    [GAP2] = {.label = {"gap2", "squared gap, a mean over the rods", "1", "s^2"}},
    [CONTACTS] = {.label = {"contact", "share of gaps below 1/8", "1", "c"}},
    [LENGTH] = {.label = {"length", "length of the ring per rod", "1", "L/N"}},
    [DISTANCES] = {.label = {"pair_correlation",
                             "density of rods at a distance, relative to the mean density", "1",
                             "g(r)"},
                   .request_key = "pair_correlation",
                   .request = "Whether the pair correlation function is measured.",
                   .axis = {"distance", "distance to another rod, in rods", "1", "r"}}};

/* There is no temperature: algorithms move the pressure by their block `control`. */
static const struct gpumc_control controls[CONTROLS] = {
    [BETA_PRESSURE] = {
        .label = {"beta_pressure", "pressure over the temperature, P/kT", "1", "βP"}}};

/* ln of the weight is - sum of coefficients times channels, of the whole system. */
static void
coefficients(const struct gpumc_model *model, const double *control, double *coefficient)
{
  (void)model;
  memset(coefficient, 0, CHANNELS * sizeof *coefficient);
  coefficient[LENGTH] = control[BETA_PRESSURE];
}

/* The length is constant in athermal runs, whose series would be taken for stuck. */
static const struct gpumc_mean means[MEANS] = {
    [MEAN_GAP2] = {{"gap2", "mean squared gap", "1", "<s^2>"}, .index = GAP2, .power = 1},
    [MEAN_CONTACTS] = {{"contact", "probability of a gap below 1/8", "1", "p"},
                       .index = CONTACTS,
                       .power = 1},
    [MEAN_LENGTH] = {{"length", "length of the ring per rod", "1", "L/N"},
                     .index = LENGTH,
                     .power = 1,
                     .watch = GPUMC_WATCH_ALWAYS,
                     .controls = PRESSURE_MOVED},
    [MEAN_LENGTH2] = {{"length2", "its square", "1", "<(L/N)^2>"},
                      .index = LENGTH,
                      .power = 2,
                      .controls = PRESSURE_MOVED}};

/* Gaps of an infinite system are exponential: p = 1 - exp(-P w/kT). */
static double pressure(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return -log1p(-mean[0]) / (CONTACT * QUANTUM);
}

static double
compressibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * (mean[1] - mean[0] * mean[0]) / (mean[0] * mean[0]);
}

static const struct gpumc_quantity quantities[] = {
    {.n_uses = 1, .uses = {MEAN_GAP2}},
    {.n_uses = 1, .uses = {MEAN_CONTACTS}},
    {.n_uses = 1, .uses = {MEAN_LENGTH}},
    {.label = {"compressibility", "isothermal compressibility, N (<L^2> - <L>^2)/<L>^2", "1", "χ"},
     .n_uses = 2,
     .uses = {MEAN_LENGTH, MEAN_LENGTH2},
     .value = compressibility,
     .of_each = true},
    {.label = {"pressure", "pressure P/kT by the gaps below 1/8", "1", "P"},
     .n_uses = 1,
     .uses = {MEAN_CONTACTS},
     .value = pressure,
     .controls = GPUMC_CONTROLS_NONE},
};

/* ---- the kernel: a position of 8 bytes a rod; random rods, one after the other ---- */

/* From rod i to the next. */
static int64_t gap_after(const struct rods *rods, const int64_t *x, size_t i)
{
  const int64_t distance = x[i + 1 < rods->particles ? i + 1 : 0] - x[i];
  return (distance < 0 ? distance + x[rods->particles] : distance) - ROD;
}

/* Equally spaced. */
static void start(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct rods *rods = ensemble->model->parameters;
  int64_t *x = place->data;
  for (size_t i = 0; i < rods->particles; i++)
    x[i] = (int64_t)i * rods->length / (int64_t)rods->particles;
  x[rods->particles] = rods->length;
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
  const int64_t to = x[i] + move, length = x[rods->particles];
  x[i] = to < 0 ? to + length : to >= length ? to - length : to;
}

/* Changes the gap behind a random rod, and with it the length; all rods farther on are shifted, so
 * that a change is as likely as its reverse, and the weights alone decide. */
static void
stretch(const struct rods *rods, int64_t *x, double beta_pressure, const uint32_t word[4])
{
  const size_t i = (size_t)((uint64_t)word[0] * rods->particles >> 32);
  const int64_t by = (int64_t)((word[1] * 0x1p-31 - 1) * (double)rods->step);
  const int64_t length = x[rods->particles] + by, at = x[i];
  if (gap_after(rods, x, i) + by < 0 || at >= length || length > (int64_t)(LONGEST / QUANTUM) ||
      word[2] * 0x1p-32 >= gpumc_exp(-beta_pressure * QUANTUM * (double)by))
    return;
  for (size_t k = 0; k < rods->particles; k++)
    x[k] += x[k] > at ? by : 0;
  x[rods->particles] = length;
}

static void sweep_so(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                     uint32_t sweeps, bool scaled)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, place->run);
  const uint32_t end = ensemble->time + sweeps;
  const size_t trials = ensemble->model->sites * (ensemble->plan.move == STRETCH ? 2 : 1);
  for (uint32_t time = ensemble->time; time != end; time++)
    for (size_t i = 0; i < trials; i++) {
      uint32_t word[4];
      gpumc_random_draw(random, (uint32_t)i, place->number, time,
                        gpumc_random_label(PURPOSE_MOVE, 0), word);
      if (i >= ensemble->model->sites)
        stretch(ensemble->model->parameters, place->data, ensemble->control[place->run], word);
      else
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
  value[LENGTH] = ((const int64_t *)place->data)[rods->particles];
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

/* Rods on a line have one phase at every pressure. */
static bool always(const struct gpumc_model *model, const double *control)
{
  (void)model, (void)control;
  return true;
}

static const struct gpumc_move moves[] = {
    [DISPLACE] = {.name = "displace",
                  .summary = "random rods, by random displacements",
                  .targets = 1u << GPUMC_ATHERMAL},
    [STRETCH] = {.name = "stretch",
                 .summary = "the same, then as many random changes of the length",
                 .targets = 1u << GPUMC_BOLTZMANN,
                 .mixes = always}};
#define KERNEL LATTICE_CPU_OPERATIONS, .moves = moves, .n_moves = 2, .group = 1, .bytes = bytes
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
  model->portable_bytes = (rods->particles + 1) * sizeof(int64_t);
  model->control[BETA_PRESSURE] = NAN; /* no value of its own */
  model->quantum[GAP2] = QUANTUM * QUANTUM;
  model->bound[GAP2] = LONGEST * LONGEST / (QUANTUM * QUANTUM);
  model->quantum[CONTACTS] = 1;
  model->bound[CONTACTS] = (double)rods->particles;
  model->quantum[LENGTH] = QUANTUM;
  model->bound[LENGTH] = LONGEST / QUANTUM;
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
    .tracked = LENGTH,
    .controls = controls,
    .n_controls = CONTROLS,
    .coefficients = coefficients,
    .means = means,
    .n_means = MEANS,
    .quantities = quantities,
    .n_quantities = sizeof quantities / sizeof *quantities,
    .kernels = (const struct gpumc_kernel_ops *const[]){&serial, &wrong, NULL},
    .create = create,
    .destroy = destroy,
};
