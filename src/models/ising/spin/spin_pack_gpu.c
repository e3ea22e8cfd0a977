/* Samples of disorder in the layouts of the spin kernel on a GPU (spin_gpu.h). */
#include "models/ising/spin/spin_gpu.h"

void ising_spin_pack_signs(const struct ising_spin_gpu_lattice *lattice, const uint8_t *from,
                           size_t stride, uint32_t *to)
{
  const size_t slots = 2 * lattice->dimension + 1, words = ising_spin_words(lattice);
  for (size_t colour = 0; colour < 2; colour++)
    for (size_t k = 0; k < lattice->colour; k++) {
      const uint32_t signs = from[colour * stride + k];
      for (size_t slot = 0; slot < slots; slot++) {
        const size_t bit = slot + 1 < slots ? slot : ISING_FIELD_SIGN;
        to[(colour * slots + slot) * words + k / ISING_SPIN_WORD_BITS] |=
            (signs >> bit & 1) << k % ISING_SPIN_WORD_BITS;
      }
    }
}

/* Threads have consecutive blocks, and so their terms are consecutive. */
static void pack_terms(const struct ising_spin_gpu_lattice *lattice, const int32_t *from,
                       size_t stride, int32_t *to)
{
  const size_t slots = 2 * (2 * lattice->dimension + 1), blocks = lattice->blocks;
  for (size_t slot = 0; slot < slots; slot++)
    for (size_t k = 0; k < lattice->colour; k++)
      to[slot * ISING_SPIN_BLOCK * blocks + k % ISING_SPIN_BLOCK * blocks + k / ISING_SPIN_BLOCK] =
          from[slot * stride + k];
}

static void pack_lane_terms(const struct ising_spin_gpu_lattice *lattice, const int32_t *from,
                            size_t stride, struct ising_lane_terms *to)
{
  const size_t neighbours = 2 * lattice->dimension;
  for (size_t colour = 0; colour < 2; colour++)
    for (size_t k = 0; k < lattice->colour; k++) {
      const int32_t *terms = from + colour * (neighbours + 1) * stride + k;
      struct ising_lane_terms *site = &to[colour * ISING_SPIN_BLOCK * lattice->blocks + k];
      int64_t sum = terms[neighbours * stride];
      site->twice_field = 2.0f * (float)terms[neighbours * stride];
      for (size_t n = 0; n < neighbours; n++) {
        site->twice[n] = 2.0f * (float)terms[n * stride];
        sum += terms[n * stride];
      }
      site->all_apart = -(float)sum;
    }
}

void ising_spin_pack_terms(const struct ising_spin_gpu_lattice *lattice, const int32_t *from,
                           size_t stride, uint8_t *to)
{
  pack_terms(lattice, from, stride, (int32_t *)to);
  if (ising_spin_has_lanes(lattice))
    pack_lane_terms(lattice, from, stride,
                    (struct ising_lane_terms *)(to + ising_spin_terms_bytes(lattice)));
}
