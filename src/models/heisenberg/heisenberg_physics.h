/* Classical O(n) spins, n = 3 (Heisenberg) or 2 (XY): E = -J sum_<ij> S_i . S_j - h sum_i S_i^x,
 * |S| = 1, on a periodic hypercubic lattice, single-spin updates on a checkerboard. This header and
 * heisenberg_rules.h define what every kernel of a trajectory must reproduce bit for bit.
 *
 * A sweep updates all sites of colour 0, then all of colour 1 (lattice/checkerboard.h: colour,
 * index k within the colour). Spin S sees the local field f = J (sum of its neighbours) + h e_x; g
 * = beta f. Neighbours are added in the order of enum heisenberg_neighbour.
 *
 * Quenched couplings: f = J w (sum of c_ij S_j) + h e_x, where J_ij = J w c_ij. w is a power of two
 * such that all |c_ij| <= 1, 1 if the couplings are +-J, and c_ij is a whole number of
 * 2^-HEISENBERG_COUPLING_BITS, which both precisions hold exactly. The sum begins with the product
 * for the same index and continues with an fma for each further neighbour; if all c_ij are 1, it
 * has the bits of the sum without them. Bonds along x: each S_j is multiplied by its c_ij first.
 *
 * Metropolis: a spin S' drawn uniformly is taken iff u < exp(min(0, (S' - S) . g)).
 *
 * Small steps of Metropolis: the same with a symmetric proposal near S: n = 3 uniform in the cap of
 * directions within an angle w, 1 - cos = u (1 - cos w) from S, at an azimuth drawn uniformly; n =
 * 2 turned by an angle uniform in -w .. w. It is renormalised as below. Words have the same meaning
 * as for other proposals.
 *
 * Heat bath: S' has the density exp(S' . g), whatever S is. O(3): w = 1 - cos(S', g) from the
 * inverse of its distribution function, w = -ln(u + (1 - u) e^(-2|g|)) / |g|, and an azimuth drawn
 * uniformly; g has a tiny bias (heisenberg_bias). O(2): by rejection, exact for every |g|: see
 * heisenberg_circle_trial.
 *
 * Over-relaxation: S' = 2 (S . f) f / f^2 - S, which keeps the energy. In sweeps at times that are
 * multiples of HEISENBERG_RENORMALISATION S' is renormalised by one step of Newton's method for its
 * length.
 *
 * Mixed: heat bath at times that are multiples of 1 + k, k sweeps of over-relaxation between them.
 *
 * Walks under a tabulated weight: walk/heisenberg_walk.h.
 *
 * Trajectories "heisenberg.double.1" and "heisenberg.float.1": all arithmetic in that precision, in
 * the order in which it is written, with explicit fma; beta J and beta h are rounded to it from
 * double. Random numbers of site k of a colour, replica r:
 *
 * In double, the words a, b, c, d are the output of the counter {k, r, time, (LATTICE_SWEEP,
 * draw)}. u = floor(2^-53 of a, b) + 2^-53, the azimuth is c / 2^32 of a turn, and the second u of
 * Metropolis and of a rejection is (floor(d / 2) + 1/2) / 2^31.
 *
 * In float, two sites share a counter: the words a, b are outputs 2p and 2p + 1, p = (k >> 4) & 1,
 * of the counter {(k >> 5) << 4 | (k & 15), r, time, (LATTICE_SWEEP, draw)}. Heat bath and start: u
 * = (floor(a / 2) + 1/2) / 2^31, the azimuth is b / 2^32 of a turn. Metropolis: u has the upper 22
 * bits of a, the azimuth the upper 21 bits of b, and the second u the lower bits of both. O(2):
 * azimuth b, the second u the upper 23 bits of a.
 *
 * draw = 2 attempt + colour; attempt is 0 except for rejections. Starting states are spins drawn
 * uniformly, with purpose LATTICE_INITIAL and time 0. These numbers are in the middle of their
 * intervals, so 0 never occurs and means are not off by half an interval; u of 31 bits is rounded
 * to 24 in float, and may become 1. time is the number of sweeps done in the run. */
#ifndef GPUMC_HEISENBERG_PHYSICS_H
#define GPUMC_HEISENBERG_PHYSICS_H

#include <float.h>
#include <stdbool.h>

#include "core/numerics/elementary_loops.h"
#include "core/numerics/random.h"

/* Controls. The energy channel has the instance's own field, even if an algorithm moves h. */
enum heisenberg_control { HEISENBERG_BETA, HEISENBERG_FIELD, HEISENBERG_CONTROLS };

/* Neighbours of a site in the order in which they are added: in the other colour that of the same
 * index, the side, and those in the rows and planes before and after. */
enum heisenberg_neighbour {
  HEISENBERG_SAME,
  HEISENBERG_SIDE,
  HEISENBERG_ROW_BEFORE,
  HEISENBERG_ROW_AFTER,
  HEISENBERG_PLANE_BEFORE,
  HEISENBERG_PLANE_AFTER
};

/* Returns the neighbour one step forward or back along an axis. `back`: the side of the site is
 * before it (gpumc_checkerboard_side_is_back). */
GPUMC_HOST_DEVICE static inline enum heisenberg_neighbour
heisenberg_towards(bool back, uint32_t axis, bool forward)
{
  if (axis == 0)
    return forward == back ? HEISENBERG_SAME : HEISENBERG_SIDE;
  if (axis == 1)
    return forward ? HEISENBERG_ROW_AFTER : HEISENBERG_ROW_BEFORE;
  return forward ? HEISENBERG_PLANE_AFTER : HEISENBERG_PLANE_BEFORE;
}

/* Numbers of heisenberg_moves (heisenberg.h), local ones first. */
enum heisenberg_move {
  HEISENBERG_MIXED,
  HEISENBERG_HEAT_BATH,
  HEISENBERG_METROPOLIS,
  HEISENBERG_OVER_RELAXATION,
  HEISENBERG_METROPOLIS_SMALL,
  HEISENBERG_LOCAL_MOVES,
  HEISENBERG_SWENDSEN_WANG = HEISENBERG_LOCAL_MOVES, /* cluster/cluster_physics.h */
  HEISENBERG_WOLFF,
  HEISENBERG_MOVES
};

enum {
  HEISENBERG_RENORMALISATION = 16, /* sweeps */
  /* Maximum number of proposals of a rejection, of which 2 in 3 or more are accepted: one spin in
   * 10^30 gets the last of them, accepted or not. */
  HEISENBERG_ATTEMPTS = 64,
  /* Components and products of spins are counted in units of 2^-HEISENBERG_QUANTUM_BITS, in which
   * the products of a spin with its six neighbours fit into 32 bits. */
  HEISENBERG_QUANTUM_BITS = 28,
  HEISENBERG_DRIFT_BITS = 52,
  HEISENBERG_COUPLING_BITS = 24,
};

/* Added to beta times the field of the heat bath (heisenberg_bias). */
#define HEISENBERG_BIAS (GPUMC_PI * 0x1p-42)
/* Squares of fields, times beta or not, that are too small to divide by, and the size of the field
 * that the heat bath then uses (heisenberg_direction). */
#define HEISENBERG_LEAST_SQUARE 0x1p-100
#define HEISENBERG_WEAK 0x1p-25

/* Returns what the sweep at `time` does under a move. */
GPUMC_HOST_DEVICE static inline enum heisenberg_move
heisenberg_move_at(enum heisenberg_move move, uint32_t over_relaxations, uint32_t time)
{
  if (move != HEISENBERG_MIXED)
    return move;
  return time % (1 + over_relaxations) == 0 ? HEISENBERG_HEAT_BATH : HEISENBERG_OVER_RELAXATION;
}

/* Returns `reach` of heisenberg_near() for proposals within an angle, 0 < width <= pi: 1 - cos with
 * three components, with two the share of half a turn, below 1 by what rounding needs. */
static inline double heisenberg_reach(int components, double width)
{
  double cosine, sine;
  if (components == 2)
    return fmin(width / GPUMC_PI, 1.0 - 2 * FLT_EPSILON);
  gpumc_turn_double((uint32_t)rint(width * (0x1p30 / GPUMC_PI)), &cosine, &sine);
  return 2.0 * sine * sine;
}

/* Returns ||S| - 1| in units of 2^-HEISENBERG_DRIFT_BITS, at most 1. */
GPUMC_HOST_DEVICE static inline int64_t heisenberg_drift(double x, double y, double z)
{
  const double off = fabs(sqrt(fma(z, z, fma(x, x, y * y))) - 1.0);
  return (int64_t)rint((off < 1.0 ? off : 1.0) * (double)((int64_t)1 << HEISENBERG_DRIFT_BITS));
}

/* Returns the number of the draw in the counter. */
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_draw(uint32_t colour, uint32_t attempt)
{
  return 2 * attempt + colour;
}

/* Returns the counter that site k shares in float, and which half of its outputs it uses. */
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_shared_counter(uint32_t k)
{
  return (k >> 5) << 4 | (k & 15);
}
GPUMC_HOST_DEVICE static inline uint32_t heisenberg_shared_half(uint32_t k)
{
  return k >> 4 & 1;
}

/* ---- the meaning of a site's words, in each precision ---- */

/* Returns (n + 1/2) / 2^bits for the upper bits of a word, bits <= 31. */
struct heisenberg_words {
  uint32_t a, b, c, d;
};

/* (n + 1/2) / 2^bits of the upper bits of a word, bits <= 31. */
GPUMC_HOST_DEVICE static inline double heisenberg_fraction_double(uint32_t word, int bits)
{
  return ((double)(int32_t)(word >> (32 - bits)) + 0.5) * (1.0 / (double)((int64_t)1 << bits));
}
GPUMC_HOST_DEVICE static inline float heisenberg_fraction_float(uint32_t word, int bits)
{
  const float unit = 1.0f / (float)((int64_t)1 << bits);
  return fmaf((float)(int32_t)(word >> (32 - bits)), unit, 0.5f * unit);
}

/* The uniform numbers that a spin is drawn from: u, the azimuth in units of 2 pi / 2^32, and a
 * second u. */
struct heisenberg_uniform_double {
  double u, other;
  uint32_t azimuth;
};
struct heisenberg_uniform_float {
  float u, other;
  uint32_t azimuth;
};

GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_double
heisenberg_of_sphere_double(struct heisenberg_words words)
{
  struct heisenberg_uniform_double uniform;
  const double upper = (double)(int32_t)(words.a >> 1), lower = (double)(int32_t)(words.b >> 11);
  uniform.u = fma(upper, 0x1p-31, (lower + 0.5) * 0x1p-52);
  uniform.azimuth = words.c;
  uniform.other = heisenberg_fraction_double(words.d, 31);
  return uniform;
}

/* One spin uses up two words: there is no second u. */
GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_float
heisenberg_of_sphere_float(struct heisenberg_words words)
{
  struct heisenberg_uniform_float uniform;
  uniform.u = heisenberg_fraction_float(words.a, 31);
  uniform.azimuth = words.b;
  uniform.other = 0.0f;
  return uniform;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_double
heisenberg_of_proposal_double(struct heisenberg_words words)
{
  return heisenberg_of_sphere_double(words);
}

GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_float
heisenberg_of_proposal_float(struct heisenberg_words words)
{
  struct heisenberg_uniform_float uniform;
  uniform.u = heisenberg_fraction_float(words.a, 22);
  uniform.azimuth = words.b & ~UINT32_C(0x7ff);
  uniform.other = heisenberg_fraction_float(words.a << 22 | (words.b & 0x7ff) << 11, 21);
  return uniform;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_double
heisenberg_of_circle_double(struct heisenberg_words words)
{
  return heisenberg_of_sphere_double(words);
}

GPUMC_HOST_DEVICE static inline struct heisenberg_uniform_float
heisenberg_of_circle_float(struct heisenberg_words words)
{
  struct heisenberg_uniform_float uniform;
  uniform.u = uniform.other = heisenberg_fraction_float(words.a, 23);
  uniform.azimuth = words.b;
  return uniform;
}

/* Returns the words of site k in one draw. `label`: purpose and draw. */
GPUMC_HOST_DEVICE static inline struct heisenberg_words
heisenberg_words_double(struct gpumc_random random, uint32_t k, uint32_t replica, uint32_t time,
                        uint32_t label)
{
  uint32_t word[4];
  gpumc_random_draw(random, k, replica, time, label, word);
  const struct heisenberg_words words = {word[0], word[1], word[2], word[3]};
  return words;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_words
heisenberg_words_float(struct gpumc_random random, uint32_t k, uint32_t replica, uint32_t time,
                       uint32_t label)
{
  uint32_t word[4];
  gpumc_random_draw(random, heisenberg_shared_counter(k), replica, time, label, word);
  const bool upper = heisenberg_shared_half(k) != 0;
  const struct heisenberg_words words = {upper ? word[2] : word[0], upper ? word[3] : word[1], 0,
                                         0};
  return words;
}

/* ---- the rules, once for each precision ---- */

GPUMC_HOST_DEVICE static inline double heisenberg_root_double(double x)
{
  return sqrt(x);
}
GPUMC_HOST_DEVICE static inline float heisenberg_root_float(float x)
{
  return gpumc_root_float(x);
}
GPUMC_HOST_DEVICE static inline double heisenberg_positive_root_double(double x)
{
  return sqrt(x);
}
GPUMC_HOST_DEVICE static inline float heisenberg_positive_root_float(float x)
{
  return gpumc_positive_root_float(x);
}
GPUMC_HOST_DEVICE static inline double heisenberg_sign_double(double x)
{
  return copysign(1.0, x);
}
GPUMC_HOST_DEVICE static inline float heisenberg_sign_float(float x)
{
  return copysignf(1.0f, x);
}
GPUMC_HOST_DEVICE static inline double heisenberg_size_double(double x)
{
  return fabs(x);
}
GPUMC_HOST_DEVICE static inline float heisenberg_size_float(float x)
{
  return fabsf(x);
}
GPUMC_HOST_DEVICE static inline double heisenberg_fma_double(double x, double y, double z)
{
  return fma(x, y, z);
}
GPUMC_HOST_DEVICE static inline float heisenberg_fma_float(float x, float y, float z)
{
  return fmaf(x, y, z);
}
GPUMC_HOST_DEVICE static inline double heisenberg_quotient_double(double x, double y)
{
  return x / y;
}
GPUMC_HOST_DEVICE static inline float heisenberg_quotient_float(float x, float y)
{
  return gpumc_quotient_float(x, y);
}
GPUMC_HOST_DEVICE static inline double heisenberg_reciprocal_double(double x)
{
  return 1.0 / x;
}
GPUMC_HOST_DEVICE static inline float heisenberg_reciprocal_float(float x)
{
  return gpumc_reciprocal_float(x);
}
GPUMC_HOST_DEVICE static inline int32_t heisenberg_whole_double(double x)
{
  return (int32_t)rint(x);
}
GPUMC_HOST_DEVICE static inline int32_t heisenberg_whole_float(float x)
{
  return (int32_t)rintf(x);
}

/* name_double or name_float, by HEISENBERG_PRECISION, which is the type itself. */
#define HEISENBERG_PASTE(name, precision) name##_##precision
#define HEISENBERG_EXPAND(name, precision) HEISENBERG_PASTE(name, precision)
#define HEISENBERG_NAME(name) HEISENBERG_EXPAND(name, HEISENBERG_PRECISION)

#define HEISENBERG_PRECISION double
#include "models/heisenberg/heisenberg_rules.h"
#undef HEISENBERG_PRECISION
#define HEISENBERG_PRECISION float
#include "models/heisenberg/heisenberg_rules.h"
#undef HEISENBERG_PRECISION

#endif
