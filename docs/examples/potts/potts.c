/* The q-state Potts model on the periodic square lattice, E = -J sum of delta(s_i, s_j) over bonds:
 * a complete model with one plain kernel for the CPU, to begin another one with.
 * docs/adding-a-model.md says how it is built, as a plugin or into a program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/simulation/curves.h"
#include "models/lattice/replicas_cpu.h"

/* ---- what it is ---- */

enum { Q_MAXIMUM = 256, NEIGHBOURS = 4 };
enum channel { ENERGY, ORDER, AGREEMENT, CHANNELS };
enum mean { MEAN_ENERGY, MEAN_ENERGY2, MEAN_ORDER, MEANS };

struct potts {
  size_t width, height;
  uint32_t q;
  double *at, *unit; /* [width] of the profile */
};

static const struct gpumc_key keys[] = {
    {.name = "shape",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 2,
     .maximum = 65536,
     .list_minimum = 2,
     .list_maximum = 2,
     .example = "[12, 12]",
     .required = true,
     .doc = "Sides [Lx, Ly] of the periodic lattice."},
    {.name = "q",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 2,
     .maximum = Q_MAXIMUM,
     .example = "3",
     .required = true,
     .doc = "Number of states of a site."},
    {.name = NULL},
};

static const struct gpumc_channel channels[CHANNELS] = {
    [ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
    [ORDER] = {.label = {"order", "order parameter, (q rho_max - 1)/(q - 1)", "1", "M"}},
    [AGREEMENT] = {.label = {"agreement", "probability of equal states along x", "1", "G"},
                   .request_key = "agreement",
                   .request = "Whether the agreement of sites along x is measured.",
                   .axis = {"distance", "distance along x", "1", "r"}}};

static const struct gpumc_control controls[] = {
    {{"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"}, .inverse_temperature = true}};

static void
coefficients(const struct gpumc_model *model, const double *control, double *coefficient)
{
  (void)model;
  coefficient[ENERGY] = control[0];
  coefficient[ORDER] = coefficient[AGREEMENT] = 0;
}

static const struct gpumc_mean means[MEANS] = {
    {{"energy", "energy per site", GPUMC_UNIT_ENERGY, "e"}, .index = ENERGY, .power = 1},
    {{"energy2", "its square", GPUMC_UNIT_ENERGY2, "<e^2>"}, .index = ENERGY, .power = 2},
    {{"order", "order parameter", "1", "m"},
     .index = ORDER,
     .power = 1,
     .watch = GPUMC_WATCH_ALWAYS}};

/* C = beta^2 N (<e^2> - <e>^2). */
static double
specific_heat(const struct gpumc_model *model, const double *control, const double *mean)
{
  return control[0] * control[0] * (double)model->sites * (mean[1] - mean[0] * mean[0]);
}

static const struct gpumc_quantity quantities[] = {
    {.n_uses = 1, .uses = {MEAN_ENERGY}},
    {.label = {"specific_heat", "specific heat per site", "k_B", "C"},
     .n_uses = 2,
     .uses = {MEAN_ENERGY, MEAN_ENERGY2},
     .value = specific_heat,
     .of_each = true},
    {.n_uses = 1, .uses = {MEAN_ORDER}},
};

/* ---- the kernel: a byte a site; heat-bath updates, site after site ---- */

/* A number below 1 for a site. */
static double draw(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                   size_t site, uint32_t time, uint32_t purpose)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_ensemble_random(ensemble, place->run), (uint32_t)site, place->number,
                    time, gpumc_random_label(purpose, 0), word);
  return word[0] * 0x1p-32;
}

static void start(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place)
{
  const struct potts *potts = ensemble->model->parameters;
  uint8_t *state = place->data;
  for (size_t i = 0; i < ensemble->model->sites; i++)
    state[i] = (uint8_t)(draw(ensemble, place, i, 0, GPUMC_RANDOM_LATTICE_INITIAL) * potts->q);
}

/* Sites to the right, below, to the left and above. */
static void neighbours_of(const struct potts *potts, size_t i, size_t neighbour[NEIGHBOURS])
{
  const size_t w = potts->width, x = i % w, row = i - x, sites = w * potts->height;
  neighbour[0] = row + (x + 1) % w;
  neighbour[1] = (i + w) % sites;
  neighbour[2] = row + (x + w - 1) % w;
  neighbour[3] = (i + sites - w) % sites;
}

/* A state by its share of the weights exp(beta J n), n the number of neighbours in that state. */
static uint8_t heat_bath(const struct potts *potts, const double boltzmann[NEIGHBOURS + 1],
                         const uint8_t *state, size_t i, double uniform)
{
  size_t neighbour[NEIGHBOURS];
  uint8_t equal[Q_MAXIMUM] = {0};
  double total = 0;
  neighbours_of(potts, i, neighbour);
  for (size_t k = 0; k < NEIGHBOURS; k++)
    equal[state[neighbour[k]]]++;
  for (uint32_t s = 0; s < potts->q; s++)
    total += boltzmann[equal[s]];
  double left = uniform * total;
  uint32_t s = 0;
  while (s + 1 < potts->q && left >= boltzmann[equal[s]])
    left -= boltzmann[equal[s++]];
  return (uint8_t)s;
}

static void
sweep(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const struct gpumc_model *model = ensemble->model;
  const double beta = ensemble->control[place->run]; /* there is but one control */
  const uint32_t end = ensemble->time + sweeps;
  double boltzmann[NEIGHBOURS + 1];
  uint8_t *state = place->data;
  for (int n = 0; n <= NEIGHBOURS; n++)
    boltzmann[n] = gpumc_exp(beta * model->quantum[ENERGY] * (n - NEIGHBOURS));
  for (uint32_t time = ensemble->time; time != end; time++)
    for (size_t i = 0; i < model->sites; i++) {
      const double uniform = draw(ensemble, place, i, time, GPUMC_RANDOM_LATTICE_SWEEP);
      state[i] = heat_bath(model->parameters, boltzmann, state, i, uniform);
    }
}

/* The sites whose state is that of the site `distance` further along x. */
static void count_equal(const struct potts *potts, const uint8_t *state, int64_t *count)
{
  for (size_t distance = 0; distance < potts->width; distance++) {
    count[distance] = 0;
    for (size_t i = 0; i < potts->width * potts->height; i++) {
      const size_t x = i % potts->width;
      count[distance] += state[i] == state[i - x + (x + distance) % potts->width];
    }
  }
}

static void measure(const struct gpumc_ensemble *ensemble, const struct lattice_cpu_place *place,
                    int64_t *const *channel)
{
  const struct potts *potts = ensemble->model->parameters;
  const size_t sites = ensemble->model->sites;
  const size_t at = place->run * ensemble->plan.capacity + place->first;
  const uint8_t *state = place->data;
  int64_t members[Q_MAXIMUM] = {0}, equal = 0, largest = 0;
  size_t neighbour[NEIGHBOURS];
  for (size_t i = 0; i < sites; i++) {
    neighbours_of(potts, i, neighbour);
    equal += (state[i] == state[neighbour[0]]) + (state[i] == state[neighbour[1]]);
    members[state[i]]++;
  }
  for (uint32_t s = 0; s < potts->q; s++)
    largest = members[s] > largest ? members[s] : largest;
  if (channel[ENERGY] != NULL)
    channel[ENERGY][at] = -equal;
  if (channel[ORDER] != NULL)
    channel[ORDER][at] = potts->q * largest - (int64_t)sites;
  if (channel[AGREEMENT] != NULL)
    count_equal(potts, state, channel[AGREEMENT] + at * potts->width);
}

static const struct lattice_cpu_layout layout = {
    .replicas = 1, .buffers = 1, .start = start, .sweep = sweep, .measure = measure};

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  return lattice_cpu_bytes(&layout, model, device, plan);
}

static enum gpumc_status create_replicas(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return lattice_cpu_create(&layout, ensemble, error);
}

static const struct gpumc_move moves[] = {{.name = "heat_bath", .summary = "from its weights"}};
static const struct gpumc_kernel_ops kernel = {LATTICE_CPU_OPERATIONS,
                                               .variant = "plain",
                                               .summary = "one byte a site, site after site",
                                               .trajectory = "potts-plain-1",
                                               .moves = moves,
                                               .n_moves = 1,
                                               .group = 1,
                                               .bytes = bytes,
                                               .create = create_replicas};

/* ---- an instance ---- */

static enum gpumc_status
create(const struct gpumc_params *params, struct gpumc_model *model, struct gpumc_error *error)
{
  struct potts *potts;
  struct gpumc_list shape = gpumc_params_list(params, "shape");
  GPUMC_TRY(gpumc_allocate_array(&potts, 1, "a Potts model", error));
  model->parameters = potts;
  potts->width = (size_t)gpumc_list_integer(&shape);
  potts->height = (size_t)gpumc_list_integer(&shape);
  potts->q = (uint32_t)gpumc_params_integer(params, "q");
  model->sites = model->portable_bytes = potts->width * potts->height;
  const double sites = (double)model->sites, bonds = NEIGHBOURS / 2 * sites, q = potts->q;
  model->quantum[ENERGY] = 1; /* J */
  model->bound[ENERGY] = bonds;
  model->quantum[ORDER] = 1 / (q - 1);
  model->bound[ORDER] = (q - 1) * sites;
  model->grid[0].lowest = -(int64_t)bonds;
  model->grid[0].spacing = 1;
  model->grid[0].levels = (size_t)bonds + 1;
  GPUMC_TRY(gpumc_allocate_array(&potts->at, potts->width, "distances", error));
  GPUMC_TRY(gpumc_allocate_array(&potts->unit, potts->width, "distances", error));
  for (size_t i = 0; i < potts->width; i++) {
    potts->at[i] = (double)i;
    potts->unit[i] = 1 / sites;
  }
  model->profile[AGREEMENT] = (struct gpumc_profile){potts->width, potts->at, potts->unit};
  model->samples = 1;
  model->log_states = sites * log(q);
  model->control[0] = NAN; /* every algorithm moves beta */
  strcpy(model->energy_unit, "J");
  strcpy(model->beta_unit, "1/J");
  return GPUMC_OK;
}

static void destroy(struct gpumc_model *model)
{
  struct potts *potts = model->parameters;
  if (potts == NULL)
    return;
  free(potts->at);
  free(potts->unit);
  free(potts);
}

extern const struct gpumc_kernel_ops potts_frozen;
extern const struct gpumc_model_ops gpumc_model_potts;
const struct gpumc_model_ops gpumc_model_potts = {
    .name = "potts",
    .summary = "q-state Potts model on the periodic square lattice",
    .citation = "@article{potts1952some, author = {Potts, R. B.}, year = {1952}, pages = {106},\n"
                "  title = {Some generalized order-disorder transformations}, volume = {48},\n"
                "  journal = {Mathematical Proceedings of the Cambridge Philosophical Society}}\n",
    .keys = keys,
    .channels = channels,
    .n_channels = CHANNELS,
    .means = means,
    .n_means = MEANS,
    .quantities = quantities,
    .n_quantities = sizeof quantities / sizeof *quantities,
    .controls = controls,
    .n_controls = 1,
    .coefficients = coefficients,
    .kernels = (const struct gpumc_kernel_ops *const[]){&kernel, &potts_frozen, NULL},
    .create = create,
    .destroy = destroy,
};
