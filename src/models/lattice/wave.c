#include "models/lattice/wave.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "models/lattice/checkerboard.h"

enum {
  SQUARE_BITS = 60,
  FINEST = -20, /* exponent of the finest quantum */
};

double lattice_wave_quantum(double sites)
{
  int exponent;
  frexp(sites * sites, &exponent);
  return ldexp(1.0, exponent > SQUARE_BITS + FINEST ? exponent - SQUARE_BITS : FINEST);
}

static size_t longest(const struct gpumc_checkerboard *lattice)
{
  const size_t of_plane =
      lattice->length_x > lattice->length_y ? lattice->length_x : lattice->length_y;
  return of_plane > lattice->length_z ? of_plane : lattice->length_z;
}

double lattice_wave_number(const struct gpumc_checkerboard *lattice)
{
  return 2.0 * GPUMC_PI / (double)longest(lattice);
}

struct lattice_wave lattice_wave_of(const struct gpumc_checkerboard *lattice, double quantum)
{
  const size_t length[3] = {lattice->length_x, lattice->length_y, lattice->length_z};
  struct lattice_wave wave = {.bits = LATTICE_WAVE_BITS_MAXIMUM,
                              .length = (uint32_t)longest(lattice)};
  while (2 * lattice->colour > (size_t)1 << (LATTICE_WAVE_SUM_BITS - wave.bits))
    wave.bits--;
  wave.shift = (uint32_t)(2 * (int)wave.bits + ilogb(quantum));
  for (size_t axis = 0; axis < 3; axis++) {
    wave.along[axis] = length[axis] == wave.length;
    wave.axes += wave.along[axis];
  }
  return wave;
}

void lattice_wave_table(const struct lattice_wave *wave, int32_t *cosine, int32_t *sine)
{
  for (uint32_t x = 0; x < wave->length; x++) {
    double c, s;
    gpumc_circle(x, wave->length, &c, &s);
    cosine[x] = (int32_t)rint(ldexp(c, (int)wave->bits));
    sine[x] = (int32_t)rint(ldexp(s, (int)wave->bits));
  }
}

enum gpumc_status lattice_wave_bring(const struct lattice_wave *wave, struct gpumc_device *device,
                                     int32_t *cosine, int32_t *sine, int64_t *sum,
                                     struct gpumc_error *error)
{
  const size_t length = wave->length, bytes = length * sizeof(int32_t);
  int32_t *table;
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&table, 2 * length, "a table of waves", error));
  lattice_wave_table(wave, table, table + length);
  for (size_t i = 0; sum != NULL && i < 2; i++) {
    sum[i] = 0;
    for (size_t x = 0; x < length; x++)
      sum[i] += table[i * length + x];
  }
  GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, cosine, table, bytes, error));
  GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, sine, table + length, bytes, error));
out:
  free(table);
  return status;
}
