/* Measuring multispin replicas. */
#include "models/ising/multispin/multispin_isa.h"
#include "models/lattice/checkerboard_simd.h"

/* The data to be measured, as working copies. */
struct subject {
  const struct ising_multispin_instance *instance;
  const uint32_t *signs; /* of colour 0, or NULL */
  uint32_t *sites[2], *scratch;
};

/* Finds which bonds of a vector of sites of colour 0 are unsatisfied. */
GPUMC_INLINE void bonds_of(const struct subject *subject, const size_t dimension,
                           const bool has_signs, size_t slots, size_t k, gpumc_v32 inside,
                           gpumc_v32 bond[GPUMC_NEIGHBOURS_MAXIMUM])
{
  const gpumc_v32 spin = gpumc_load(subject->sites[0] + k);
  gpumc_checkerboard_neighbours(&subject->instance->lattice, dimension, subject->instance->edges[0],
                                subject->sites[1], k, bond);
#pragma GCC unroll 6
  for (size_t i = 0; i < 2 * dimension; i++) {
    gpumc_v32 sign = gpumc_broadcast(0);
    if (has_signs)
      sign = gpumc_load(subject->signs + ising_sign_word(k, slots) + i * GPUMC_EDGE_SITES);
    bond[i] = inside & gpumc_xor3(spin, bond[i], sign);
  }
}

/* Counts unsatisfied bonds of the sites k0 <= k < end of colour 0: each bond has one end there.
 * Takes four vectors at a time. */
GPUMC_INLINE void count_bonds(const struct subject *subject, const size_t dimension,
                              const bool has_signs, size_t k0, size_t end,
                              int64_t count[ISING_LANES])
{
  const size_t slots = ising_multispin_slots(dimension, subject->instance->signs);
  const size_t most = 2 * dimension * ((end - k0) / GPUMC_VECTOR_WORDS + ISING_COUNT_VECTORS);
  const size_t planes = gpumc_counter_planes(most < 16 ? 16 : most);
  const gpumc_v32 zero = gpumc_broadcast(0);
  struct gpumc_vertical_counter counter;
  gpumc_v32 ones = zero, twos = zero, fours = zero, eights = zero;
  gpumc_counter_clear(&counter, planes);
  for (size_t k = k0; k < end; k += ISING_COUNT_BLOCK) {
    gpumc_v32 two[4 * ISING_AXES] = {0}, four[2 * ISING_AXES], eight[ISING_AXES];
#pragma GCC unroll 4
    for (size_t v = 0; v < ISING_COUNT_VECTORS; v++) {
      const size_t at = k + v * GPUMC_VECTOR_WORDS;
      gpumc_v32 bond[GPUMC_NEIGHBOURS_MAXIMUM];
      if (at >= end)
        break;
      bonds_of(subject, dimension, has_signs, slots, at, ising_within(end - at), bond);
#pragma GCC unroll 3
      for (size_t d = 0; d < dimension; d++)
        two[v * dimension + d] = gpumc_full_add(&ones, bond[2 * d], bond[2 * d + 1]);
    }
#pragma GCC unroll 6
    for (size_t d = 0; d < 2 * dimension; d++)
      four[d] = gpumc_full_add(&twos, two[2 * d], two[2 * d + 1]);
#pragma GCC unroll 3
    for (size_t d = 0; d < dimension; d++)
      eight[d] = gpumc_full_add(&fours, four[2 * d], four[2 * d + 1]);
    gpumc_counter_add(&counter, 4, planes, gpumc_full_add(&eights, eight[0], eight[1]));
    if (dimension == 3)
      gpumc_counter_add(&counter, 4, planes, gpumc_full_add(&eights, eight[2], zero));
  }
  counter.plane[0] = ones;
  counter.plane[1] = twos;
  counter.plane[2] = fours;
  counter.plane[3] = eights;
  gpumc_counter_flush(&counter, planes, count);
}

static void count_bonds_of_part(const struct subject *subject, size_t k0, size_t end,
                                int64_t count[ISING_LANES])
{
  const bool cubic = subject->instance->lattice.dimension == 3;
  if (subject->signs != NULL && cubic)
    count_bonds(subject, 3, true, k0, end, count);
  else if (subject->signs != NULL)
    count_bonds(subject, 2, true, k0, end, count);
  else if (cubic)
    count_bonds(subject, 3, false, k0, end, count);
  else
    count_bonds(subject, 2, false, k0, end, count);
}

/* Counts spins in the direction of their random field. */
static void
count_along(const struct subject *subject, size_t k0, size_t end, int64_t count[ISING_LANES])
{
  const struct gpumc_checkerboard *lattice = &subject->instance->lattice;
  const size_t bonds = 2 * lattice->dimension, slots = bonds + 1;
  const size_t words = ising_multispin_sign_words(lattice, ISING_FIELD_SIGNS);
  uint32_t *along[2];
  for (size_t colour = 0; colour < 2; colour++) {
    const uint32_t *signs = subject->signs + colour * words;
    along[colour] = ising_multispin_part(lattice, subject->scratch, colour);
    for (size_t k = k0; k < end; k++)
      along[colour][k - k0] =
          subject->sites[colour][k] ^
          signs[(k / GPUMC_EDGE_SITES * slots + bonds) * GPUMC_EDGE_SITES + k % GPUMC_EDGE_SITES];
  }
  ising_count_up((const uint32_t *const[2]){along[0], along[1]}, 2, end - k0, count);
}

static struct subject subject_of(const struct ising_multispin_group *group, const uint32_t *other)
{
  const struct gpumc_checkerboard *lattice = &group->instance->lattice;
  struct subject subject = {.instance = group->instance,
                            .signs = other == NULL ? group->signs : NULL,
                            .scratch = group->scratch};
  for (size_t colour = 0; colour < 2; colour++) {
    uint32_t *sites = ising_multispin_copy_of(lattice, group->scratch, colour);
    const uint32_t *words = group->words + colour * lattice->colour;
    subject.sites[colour] = sites;
    if (group->copied)
      continue;
    if (other == NULL)
      memcpy(sites, words, lattice->colour * sizeof *sites);
    for (size_t k = 0; other != NULL && k < lattice->colour; k++)
      sites[k] = words[k] ^ other[colour * lattice->colour + k];
  }
  if (!group->copied)
    gpumc_checkerboard_wrap(lattice, subject.sites[1], sizeof(uint32_t));
  return subject;
}

void GPUMC_ISA_NAME(ising_multispin_measure)(const struct ising_multispin_group *group,
                                             const uint32_t *other,
                                             const struct ising_multispin_waves *waves,
                                             struct ising_multispin_sums *sums)
{
  const struct gpumc_checkerboard *lattice = &group->instance->lattice;
  const struct subject subject = subject_of(group, other);
  const bool random_fields = subject.signs != NULL && group->instance->signs == ISING_FIELD_SIGNS;
  const bool cube = waves != NULL && GPUMC_ISA_NAME(ising_multispin_is_cube)(lattice);
  const uint32_t *const sites[2] = {subject.sites[0], subject.sites[1]};
  const bool counted = other == NULL && group->unsatisfied != NULL;
  if (counted)
    memcpy(sums->unsatisfied, group->unsatisfied, sizeof sums->unsatisfied);
  else
    memset(sums->unsatisfied, 0, sizeof sums->unsatisfied);
  memset(sums->up, 0, sizeof sums->up);
  memset(sums->along, 0, sizeof sums->along);
  for (size_t k0 = 0; k0 < lattice->colour; k0 += ISING_PART) {
    const size_t end = k0 + ISING_PART < lattice->colour ? k0 + ISING_PART : lattice->colour;
    const uint32_t *const colour[2] = {subject.sites[0] + k0, subject.sites[1] + k0};
    if (!counted)
      count_bonds_of_part(&subject, k0, end, sums->unsatisfied);
    if (!cube)
      ising_count_up(colour, 2, end - k0, sums->up);
    if (random_fields)
      count_along(&subject, k0, end, sums->along);
  }
  if (cube)
    GPUMC_ISA_NAME(ising_multispin_cube)(lattice, sites, waves, sums);
  else if (waves != NULL)
    GPUMC_ISA_NAME(ising_multispin_wave)(lattice, sites, waves, sums);
  if (!random_fields)
    memcpy(sums->along, sums->up, sizeof sums->along);
}
