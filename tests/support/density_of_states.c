/* Densities of states of small 2D Ising lattices as constants, and canonical averages over them. */
#include "support/density_of_states.h"

#include <math.h>

static const uint64_t states_4[] = {
    2u,     0u,    32u,   64u,  424u, 1728u, 6688u, 13568u, 20524u,
    13568u, 6688u, 1728u, 424u, 64u,  32u,   0u,    2u,
};

static const uint64_t states_8[] = {
    2u,
    0u,
    128u,
    256u,
    4672u,
    17920u,
    145408u,
    712960u,
    4274576u,
    22128384u,
    118551552u,
    610683392u,
    3150447680u,
    16043381504u,
    80748258688u,
    396915938304u,
    1887270677624u,
    8582140066816u,
    36967268348032u,
    149536933509376u,
    564033837424064u,
    1971511029384704u,
    6350698012553216u,
    18752030727310592u,
    50483110303426544u,
    123229776338119424u,
    271209458049836032u,
    535138987032308224u,
    941564975390477248u,
    1469940812209435392u,
    2027486077172296064u,
    2462494093546483712u,
    2627978003957146636u,
    2462494093546483712u,
    2027486077172296064u,
    1469940812209435392u,
    941564975390477248u,
    535138987032308224u,
    271209458049836032u,
    123229776338119424u,
    50483110303426544u,
    18752030727310592u,
    6350698012553216u,
    1971511029384704u,
    564033837424064u,
    149536933509376u,
    36967268348032u,
    8582140066816u,
    1887270677624u,
    396915938304u,
    80748258688u,
    16043381504u,
    3150447680u,
    610683392u,
    118551552u,
    22128384u,
    4274576u,
    712960u,
    145408u,
    17920u,
    4672u,
    256u,
    128u,
    0u,
    2u,
};

const struct density_of_states ising2d_states_4 = {4, 16, 17, states_4};
const struct density_of_states ising2d_states_8 = {8, 64, 65, states_8};

static long double energy_of(const struct density_of_states *states, size_t level)
{
  return 4.0L * (long double)level - 2.0L * (long double)states->sites;
}

/* Returns the weight relative to the ground level's, which neither overflows nor vanishes for beta
 * >= 0. */
static long double weight_of(const struct density_of_states *states, double beta, size_t level)
{
  return (long double)states->count[level] * expl(-4.0L * (long double)beta * (long double)level);
}

void density_of_states_distribution(const struct density_of_states *states, double beta,
                                    long double *probability)
{
  long double total = 0.0L;
  for (size_t k = 0; k < states->levels; k++)
    total += probability[k] = weight_of(states, beta, k);
  for (size_t k = 0; k < states->levels; k++)
    probability[k] /= total;
}

struct exact_thermodynamics
density_of_states_thermodynamics(const struct density_of_states *states, double beta)
{
  const long double sites = (long double)states->sites, b = (long double)beta;
  long double total = 0.0L, mean = 0.0L, variance = 0.0L;
  for (size_t k = 0; k < states->levels; k++) {
    total += weight_of(states, beta, k);
    mean += weight_of(states, beta, k) * energy_of(states, k);
  }
  mean /= total;
  for (size_t k = 0; k < states->levels; k++) {
    long double deviation = energy_of(states, k) - mean;
    variance += weight_of(states, beta, k) * deviation * deviation;
  }
  variance /= total;
  return (struct exact_thermodynamics){logl(total) / sites - b * energy_of(states, 0) / sites,
                                       mean / sites, b * b * variance / sites};
}
