/* Sites of the cluster are found one after the other, by a breadth-first search. */
#include "models/ising/spin/spin_exchange.h"

/* Bits of a spin's byte: the spin, and that it is in the queue. */
enum { SPIN = 1, QUEUED = 2 };

static bool differs(const struct ising_spin_pair *pair, size_t position)
{
  return ((pair->spins[position] ^ pair->other[position]) & SPIN) != 0;
}

static size_t count_differing(const struct ising_spin_pair *pair)
{
  const size_t sites = 2 * pair->lattice->colour;
  size_t differing = 0;
  for (size_t i = 0; i < sites; i++)
    differing += (size_t)(pair->spins[i] ^ pair->other[i]);
  return differing;
}

/* Returns the position of the seed among `differing` sites. */
static size_t find_seed(const struct ising_spin_pair *pair, size_t differing)
{
  uint32_t word[4];
  gpumc_random_draw(pair->random, 0, pair->replica, pair->time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 0), word);
  size_t position = 0;
  for (uint64_t before = ising_exchange_seed(word[0], differing);; position++)
    if (differs(pair, position) && before-- == 0)
      return position;
}

/* The bond from a position in one direction. */
struct bond {
  size_t from, to;
  uint32_t direction;
};

/* Returns J_ij in units of pair->coupling. */
static int32_t coupling_of(const struct ising_spin_pair *pair, const struct bond *bond)
{
  const struct gpumc_checkerboard *lattice = pair->lattice;
  const size_t colour = bond->from >= lattice->colour, k = bond->from - colour * lattice->colour;
  const struct ising_spin_sample *sample = &pair->sample;
  if (sample->terms != NULL)
    return sample
        ->terms[(colour * (2 * lattice->dimension + 1) + bond->direction) * sample->stride + k];
  if (sample->signs != NULL)
    return (sample->signs[colour * sample->stride + k] >> bond->direction & 1) != 0 ? -1 : 1;
  return 1;
}

/* Returns the random number of the bond. */
static uint32_t draw(const struct ising_spin_pair *pair, const struct bond *bond)
{
  const bool first = bond->from < pair->lattice->colour;
  const uint32_t direction = first ? bond->direction : ising_exchange_reverse(bond->direction);
  uint32_t word[4];
  gpumc_random_draw(pair->random, (uint32_t)(first ? bond->from : bond->to), pair->replica,
                    pair->time, ising_exchange_draw(direction), word);
  return word[direction & 3];
}

/* Returns whether the bond joins its ends, at both of which the replicas differ. */
static bool joins(const struct ising_spin_pair *pair, const struct bond *bond)
{
  const int32_t coupling = coupling_of(pair, bond);
  if (pair->rule == GPUMC_CLUSTER_CONNECTED)
    return coupling != 0;
  const bool alike = ((pair->spins[bond->from] ^ pair->spins[bond->to]) & SPIN) == 0;
  const double gain = pair->beta * pair->coupling * (double)coupling;
  if (alike ? !(gain > 0.0) : !(gain < 0.0))
    return false;
  const uint64_t threshold =
      pair->sample.terms == NULL
          ? pair->threshold
          : ising_exchange_threshold(pair->beta, (double)coupling * pair->coupling);
  return draw(pair, bond) >= threshold;
}

/* Adds the neighbours of a position that belong to the cluster; returns its size. */
static size_t add_neighbours(const struct ising_spin_pair *pair, uint32_t position, size_t size)
{
  uint32_t around[GPUMC_NEIGHBOURS_MAXIMUM];
  gpumc_checkerboard_positions_around(pair->lattice, position, around);
  for (uint32_t d = 0; d < 2 * pair->lattice->dimension; d++) {
    const struct bond bond = {position, around[d], d};
    if ((pair->spins[bond.to] & QUEUED) != 0 || !differs(pair, bond.to) || !joins(pair, &bond))
      continue;
    pair->spins[bond.to] |= QUEUED;
    pair->queue[size++] = around[d];
  }
  return size;
}

void ising_spin_exchange(const struct ising_spin_pair *pair, struct gpumc_cluster_counts *counts)
{
  const size_t differing = count_differing(pair);
  size_t size = 0;
  if (differing == 0)
    return;
  const size_t seed = find_seed(pair, differing);
  pair->spins[seed] |= QUEUED;
  pair->queue[size++] = (uint32_t)seed;
  for (size_t done = 0; done < size; done++)
    size = add_neighbours(pair, pair->queue[done], size);
  for (size_t i = 0; i < size; i++) {
    const size_t position = pair->queue[i];
    const uint8_t spin = pair->spins[position] & SPIN;
    pair->spins[position] = pair->other[position];
    pair->other[position] = spin;
  }
  ising_exchange_count(size, differing, counts);
}
