/* Amplitudes of the smallest waves, and spins up, of cubes whose rows are powers of two that a
 * vector holds once or several times: 8^3 and 16^3 among them.
 *
 * All is counted in one pass. Eight vectors go together: of both colours, from plane z and plane
 * z + L/2, from the rows of vector j of a plane and those L/2 further. Across z a pair of planes
 * has a counter, across y a vector of rows; across x the words of even x and those of odd x are
 * brought together, so that each word of two counters stands for one x. In each of them plane x and
 * plane x + L/2 are counted with opposite signs, as in multispin_wave_isa.c. Words are added last,
 * when there are few planes of bits. */
#include "models/ising/multispin/multispin_planes.h"

enum { SIDE_MAXIMUM = 2 * GPUMC_VECTOR_WORDS };

struct cube {
  const uint32_t *sites[2];
  size_t half, row, plane;             /* half of a side; words of one colour */
  size_t vectors;                      /* of half a plane */
  size_t planes_x, planes_y, planes_z; /* bits of the counters */
};

/* Across x two counters, of even and of odd x. */
struct counters {
  struct gpumc_vertical_counter x[2], y[SIDE_MAXIMUM / 2], z[SIDE_MAXIMUM / 2];
};

bool GPUMC_ISA_NAME(ising_multispin_is_cube)(const struct gpumc_checkerboard *lattice)
{
  return lattice->dimension == 3 && lattice->length_x == lattice->length_y &&
         lattice->length_x == lattice->length_z && lattice->row % 2 == 0 &&
         GPUMC_VECTOR_WORDS % lattice->row == 0 && lattice->plane % (2 * GPUMC_VECTOR_WORDS) == 0;
}

static struct cube cube_of(const struct gpumc_checkerboard *lattice, const uint32_t *const sites[2])
{
  const size_t vectors = lattice->plane / (2 * GPUMC_VECTOR_WORDS);
  const size_t half = lattice->row; /* Lx / 2 */
  return (struct cube){.sites = {sites[0], sites[1]},
                       .half = half,
                       .row = lattice->row,
                       .plane = lattice->plane,
                       .vectors = vectors,
                       .planes_x = gpumc_counter_planes(4 * half * vectors),
                       .planes_y = gpumc_counter_planes(8 * half),
                       .planes_z = gpumc_counter_planes(8 * vectors)};
}

/* [half of the planes][half of the rows][colour], from plane z and vector j of half a plane on. */
GPUMC_INLINE void load_eight(const struct cube *cube, size_t z, size_t j, gpumc_v32 at[2][2][2])
{
  for (size_t i = 0; i < TAKEN; i++) {
    const size_t far = i >> 2, low = i >> 1 & 1, colour = i & 1;
    at[far][low][colour] = gpumc_load(cube->sites[colour] + (z + far * cube->half) * cube->plane +
                                      (j + low * cube->vectors) * GPUMC_VECTOR_WORDS);
  }
}

/* All ones where x is odd in colour 0. */
GPUMC_INLINE gpumc_v32 odd_words(const struct cube *cube, size_t z, size_t j)
{
  const size_t first_row = j * (GPUMC_VECTOR_WORDS / cube->row);
  const gpumc_v32 row =
      (gpumc_lane_numbers() >> __builtin_ctzll(cube->row)) + (uint32_t)(first_row + z);
  return (gpumc_v32)((row & 1) != 0);
}

GPUMC_INLINE void
add_to(struct gpumc_vertical_counter *counter, size_t planes, const gpumc_v32 bits[TAKEN])
{
  struct low_planes low = {counter->plane[0], counter->plane[1], counter->plane[2]};
  gpumc_counter_add(counter, 3, planes, add_eight(&low, bits));
  set_low_planes(counter, &low);
}

GPUMC_INLINE void add_columns(struct gpumc_vertical_counter *counter, size_t planes, gpumc_v32 a,
                              gpumc_v32 b, gpumc_v32 c, gpumc_v32 d)
{
  const gpumc_v32 carry = gpumc_counter_add4(&counter->plane[0], &counter->plane[1], a, b, c, d);
  gpumc_counter_add(counter, 2, planes, carry);
}

static void count(const struct cube *cube, struct counters *counters)
{
  for (size_t z = 0; z < cube->half; z++)
    for (size_t j = 0; j < cube->vectors; j++) {
      gpumc_v32 at[2][2][2], even[4], odd[4];
      load_eight(cube, z, j, at);
      add_to(&counters->z[z], cube->planes_z,
             (const gpumc_v32[TAKEN]){at[0][0][0], at[0][0][1], at[0][1][0], at[0][1][1],
                                      ~at[1][0][0], ~at[1][0][1], ~at[1][1][0], ~at[1][1][1]});
      add_to(&counters->y[j], cube->planes_y,
             (const gpumc_v32[TAKEN]){at[0][0][0], at[0][0][1], at[1][0][0], at[1][0][1],
                                      ~at[0][1][0], ~at[0][1][1], ~at[1][1][0], ~at[1][1][1]});
      const gpumc_v32 is_odd = odd_words(cube, z, j);
      for (size_t i = 0; i < 4; i++) {
        even[i] = gpumc_select(is_odd, at[i >> 1][i & 1][1], at[i >> 1][i & 1][0]);
        odd[i] = gpumc_select(is_odd, at[i >> 1][i & 1][0], at[i >> 1][i & 1][1]);
      }
      add_columns(&counters->x[0], cube->planes_x, even[0], even[1], even[2], even[3]);
      add_columns(&counters->x[1], cube->planes_x, odd[0], odd[1], odd[2], odd[3]);
    }
}

/* All spins up, from the counters across x. */
static void
set_up(const struct cube *cube, const struct gpumc_vertical_counter x[2], int64_t up[ISING_LANES])
{
  struct gpumc_vertical_counter both;
  gpumc_v32 carry = gpumc_broadcast(0);
  for (size_t p = 0; p < cube->planes_x; p++) {
    both.plane[p] = gpumc_xor3(x[0].plane[p], x[1].plane[p], carry);
    carry = gpumc_majority(x[0].plane[p], x[1].plane[p], carry);
  }
  both.plane[cube->planes_x] = carry;
  memset(up, 0, ISING_LANES * sizeof *up);
  gpumc_counter_flush(&both, cube->planes_x + 1, up);
}

/* The waves along x: words of x + L/2 are turned over, into the most a counter holds less their
 * counts, before they are added to those of x. */
static void
add_waves_x(const struct cube *cube, struct gpumc_vertical_counter x[2], struct axis_sums *sums)
{
  const uint32_t vector = GPUMC_VECTOR_WORDS, half_row = (uint32_t)cube->row / 2;
  const gpumc_v32 far = (gpumc_v32)((gpumc_lane_numbers() & half_row) != 0);
  for (size_t e = 0; e < 2; e++)
    for (size_t p = 0; p < cube->planes_x; p++)
      x[e].plane[p] ^= far;
  const size_t planes = fold(x, 2, cube->planes_x, vector / 2, half_row);
  const size_t most = ((size_t)1 << cube->planes_x) - 1, rows = vector / cube->row;
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 2 * rows * most, x[0].plane, planes, i % 2 * (vector / 2) + i / 2);
}

static void
add_waves_y(const struct cube *cube, struct gpumc_vertical_counter *y, struct axis_sums *sums)
{
  const size_t rows = GPUMC_VECTOR_WORDS / cube->row; /* of a vector */
  const size_t planes = fold(y, cube->vectors, cube->planes_y, (uint32_t)cube->row / 2, 1);
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 4 * cube->plane, y[0].plane, planes, i % rows * cube->row + i / rows * rows);
}

static void
add_waves_z(const struct cube *cube, struct gpumc_vertical_counter *z, struct axis_sums *sums)
{
  const size_t apart = GPUMC_VECTOR_WORDS / cube->half;
  const size_t planes = fold(z, cube->half, cube->planes_z, GPUMC_VECTOR_WORDS / 2, 1);
  for (size_t i = 0; i < cube->half; i++)
    add_plane(sums, i, 4 * cube->plane, z[0].plane, planes, i * apart);
}

void GPUMC_ISA_NAME(ising_multispin_cube)(const struct gpumc_checkerboard *lattice,
                                          const uint32_t *const sites[2],
                                          const struct ising_multispin_waves *waves,
                                          struct ising_multispin_sums *sums)
{
  const struct cube cube = cube_of(lattice, sites);
  struct counters counters;
  struct axis_sums of[ISING_AXES];
  for (size_t i = 0; i < 2; i++)
    gpumc_counter_clear(&counters.x[i], cube.planes_x);
  for (size_t i = 0; i < cube.vectors; i++)
    gpumc_counter_clear(&counters.y[i], cube.planes_y);
  for (size_t i = 0; i < cube.half; i++)
    gpumc_counter_clear(&counters.z[i], cube.planes_z);
  count(&cube, &counters);
  set_up(&cube, counters.x, sums->up);
  for (size_t axis = 0; axis < ISING_AXES; axis++)
    clear_sums(&of[axis], waves);
  add_waves_x(&cube, counters.x, &of[0]);
  add_waves_y(&cube, counters.y, &of[1]);
  add_waves_z(&cube, counters.z, &of[2]);
  set_sums(of, sums);
}
