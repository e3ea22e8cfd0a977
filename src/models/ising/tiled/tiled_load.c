/* A tile and its boundary into its working copy, on the CPU. */
#include <string.h>

#include "models/ising/tiled/tiled_isa.h"

/* `tile`: the words of one colour of the tile and, by axis and side, of its neighbours. */
struct surroundings {
  const uint32_t *tile, *next[ISING_TILED_AXES][2];
};

static void
copy_line(const struct ising_tiled_geometry *geometry, uint32_t *to, const uint32_t *from)
{
  memcpy(to, from, geometry->row_words * sizeof *to);
}

static void load_inside(const struct ising_tiled_geometry *geometry,
                        const struct surroundings *from, uint32_t *copy)
{
  for (uint32_t l = 0; l < geometry->lines; l++) {
    const uint32_t at = ising_tiled_line(geometry, l), line = l * geometry->row_words;
    const uint8_t *before = (const uint8_t *)(from->next[0][0] + line);
    const uint8_t *behind = (const uint8_t *)(from->next[0][1] + line);
    copy_line(geometry, copy + at, from->tile + line);
    uint8_t *bytes = (uint8_t *)(copy + at);
    bytes[-1] = before[geometry->row - 1];
    bytes[geometry->row] = behind[0];
  }
}

static void load_boundary(const struct ising_tiled_geometry *geometry,
                          const struct surroundings *from, uint32_t *copy)
{
  const uint32_t t = geometry->tile, row = geometry->row_words;
  const uint32_t planes = geometry->lines / t;
  for (uint32_t z = 0; z < planes; z++) {
    copy_line(geometry, copy + ising_tiled_copy_line(geometry, -1, (int)z),
              from->next[1][0] + (z * t + t - 1) * row);
    copy_line(geometry, copy + ising_tiled_copy_line(geometry, (int)t, (int)z),
              from->next[1][1] + z * t * row);
  }
  for (uint32_t y = 0; y < t && geometry->dimension == 3; y++) {
    copy_line(geometry, copy + ising_tiled_copy_line(geometry, (int)y, -1),
              from->next[2][0] + ((t - 1) * t + y) * row);
    copy_line(geometry, copy + ising_tiled_copy_line(geometry, (int)y, (int)t),
              from->next[2][1] + y * row);
  }
}

void ising_tiled_load(const struct ising_tiled_geometry *geometry, const uint32_t *words,
                      struct ising_tiled_tile tile, uint32_t *const copy[2])
{
  for (uint32_t colour = 0; colour < 2; colour++) {
    const uint32_t *of_colour = words + colour * geometry->words;
    struct surroundings from = {.tile = of_colour + ising_tiled_words(geometry, tile)};
    for (uint32_t axis = 0; axis < geometry->dimension; axis++)
      for (int side = 0; side < 2; side++)
        from.next[axis][side] =
            of_colour +
            ising_tiled_words(geometry, ising_tiled_next(geometry, tile, axis, 2 * side - 1));
    load_boundary(geometry, &from, copy[colour]);
    load_inside(geometry, &from, copy[colour]);
  }
}
