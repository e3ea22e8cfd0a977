/* Tables of the smallest waves. */
#include "models/ising/ising_wave.h"

#include <math.h>

#include "core/numerics/elementary.h"
#include "models/ising/ising.h"

struct ising_wave ising_wave_of(const struct gpumc_model *model)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  struct ising_wave wave = {.bits = ISING_WAVE_BITS_MAXIMUM};
  while (model->sites > (size_t)1 << (ISING_WAVE_SUM_BITS - wave.bits))
    wave.bits--;
  wave.shift = (uint32_t)(2 * (int)wave.bits + ilogb(model->quantum[ISING_WAVE]));
  for (size_t axis = 0; axis < 3; axis++)
    wave.length = length[axis] > wave.length ? (uint32_t)length[axis] : wave.length;
  for (size_t axis = 0; axis < 3; axis++) {
    wave.along[axis] = length[axis] == wave.length;
    wave.axes += wave.along[axis];
  }
  return wave;
}

void ising_wave_table(const struct ising_wave *wave, int32_t *cosine, int32_t *sine)
{
  for (uint32_t x = 0; x < wave->length; x++) {
    double c, s;
    gpumc_circle(x, wave->length, &c, &s);
    cosine[x] = (int32_t)rint(ldexp(c, (int)wave->bits));
    sine[x] = (int32_t)rint(ldexp(s, (int)wave->bits));
  }
}
