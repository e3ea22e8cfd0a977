/* How spins are drawn, accepted and reflected, in one precision: included by heisenberg_physics.h
 * and heisenberg_precision.cuh once for each. HEISENBERG_PRECISION is the end of its names, and the
 * type itself unless HEISENBERG_REAL is. No include guard; not for other files.
 *
 * All functions are free of branches, so that loops over sites become vectors. `components`, 2 or
 * 3, is a constant at each call; z is 0 and unused with 2. */
#ifdef HEISENBERG_REAL
#define REAL HEISENBERG_REAL
#else
#define REAL HEISENBERG_PRECISION
#endif
#define QUOTIENT HEISENBERG_NAME(heisenberg_quotient)
#define RECIPROCAL HEISENBERG_NAME(heisenberg_reciprocal)
#define FMA HEISENBERG_NAME(heisenberg_fma)
#define ROOT HEISENBERG_NAME(heisenberg_root)
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define UNIFORM struct HEISENBERG_NAME(heisenberg_uniform)

VECTOR
{
  REAL x, y, z;
};

GPUMC_HOST_DEVICE static inline REAL
HEISENBERG_NAME(heisenberg_dot)(const int components, VECTOR a, VECTOR b)
{
  const REAL plane = FMA(a.x, b.x, a.y * b.y);
  return components == 3 ? FMA(a.z, b.z, plane) : plane;
}

/* Returns coupling * sum + field e_x: f or, with beta in both factors, g. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_field)(VECTOR sum, REAL coupling, REAL field)
{
  VECTOR f;
  f.x = FMA(coupling, sum.x, field);
  f.y = coupling * sum.y;
  f.z = coupling * sum.z;
  return f;
}

/* ---- uniform spins, Metropolis ---- */

/* Returns a spin uniform on the sphere (cos of the polar angle 2 u - 1, its sine 2 (u (1 -
 * u))^(1/2)) or on the circle. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_anywhere)(const int components, UNIFORM uniform)
{
  VECTOR spin = {0, 0, 0};
  HEISENBERG_NAME(gpumc_turn)(uniform.azimuth, &spin.x, &spin.y);
  if (components == 3) {
    const REAL sine = (REAL)2 * ROOT(uniform.u * ((REAL)1 - uniform.u));
    spin.x *= sine;
    spin.y *= sine;
    spin.z = FMA((REAL)2, uniform.u, (REAL)-1);
  }
  return spin;
}

/* Returns a spin whose length is near 1, renormalised by one step of Newton's method. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_renormalised)(const int components, VECTOR spin)
{
  const REAL norm = HEISENBERG_NAME(heisenberg_dot)(components, spin, spin);
  const REAL scale = FMA((REAL)-0.5, norm, (REAL)1.5);
  spin.x *= scale;
  spin.y *= scale;
  spin.z *= scale;
  return spin;
}

/* Turns the z axis of a spin into the direction e: (v_x, v_y, s v_z) reflected at the axis e + s
 * e_z, where s is the sign of e_z, so that the two never cancel. The azimuth of v is uniform, so
 * any rotation or reflection that takes e_z to e will do. */
GPUMC_HOST_DEVICE static inline VECTOR HEISENBERG_NAME(heisenberg_turned)(VECTOR v, VECTOR e)
{
  VECTOR spin;
  const REAL sign = HEISENBERG_NAME(heisenberg_sign)(e.z), axis = e.z + sign;
  const REAL half = HEISENBERG_NAME(heisenberg_size)(axis); /* of the square of e + s e_z */
  const REAL factor = QUOTIENT(FMA(v.z, half, FMA(v.x, e.x, v.y * e.y)), half);
  spin.x = FMA(factor, e.x, -v.x);
  spin.y = FMA(factor, e.y, -v.y);
  spin.z = FMA(factor, axis, -(sign * v.z));
  return spin;
}

/* Returns the spin at 1 - cos = `versine` from the z axis. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_inclined)(REAL versine, uint32_t azimuth)
{
  VECTOR v;
  const REAL sine = ROOT(versine * ((REAL)2 - versine));
  HEISENBERG_NAME(gpumc_turn)(azimuth, &v.x, &v.y);
  v.x *= sine;
  v.y *= sine;
  v.z = (REAL)1 - versine;
  return v;
}

/* Returns a symmetric proposal near a spin: uniform in the cap of all directions with 1 - cos up to
 * `reach` (n = 3), or turned by an angle uniform within `reach` < 1 half turns to both sides (n =
 * 2). */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_near)(const int components, VECTOR spin, UNIFORM uniform, REAL reach)
{
  VECTOR near = {0, 0, 0};
  if (components == 3) {
    near = HEISENBERG_NAME(heisenberg_turned)(
        HEISENBERG_NAME(heisenberg_inclined)(reach * uniform.u, uniform.azimuth), spin);
  } else {
    REAL cosine, sine;
    const REAL angle = ((REAL)(int32_t)uniform.azimuth + (REAL)0.5) * reach;
    HEISENBERG_NAME(gpumc_turn)
    ((uint32_t)HEISENBERG_NAME(heisenberg_whole)(angle), &cosine, &sine);
    near.x = FMA(cosine, spin.x, -(sine * spin.y));
    near.y = FMA(cosine, spin.y, sine * spin.x);
  }
  return HEISENBERG_NAME(heisenberg_renormalised)(components, near);
}

/* Returns whether Metropolis accepts `proposal` in place of `spin`. */
GPUMC_HOST_DEVICE static inline bool
HEISENBERG_NAME(heisenberg_accepts)(const int components, VECTOR spin, VECTOR proposal, VECTOR g,
                                    REAL u)
{
  VECTOR change;
  REAL weight, less_one;
  change.x = proposal.x - spin.x;
  change.y = proposal.y - spin.y;
  change.z = proposal.z - spin.z;
  const REAL gain = HEISENBERG_NAME(heisenberg_dot)(components, change, g);
  HEISENBERG_NAME(gpumc_decay)(gain < 0 ? gain : 0, &weight, &less_one);
  return u < weight;
}

/* ---- heat bath ---- */

/* Returns h, times beta, as a move uses it. For the heat bath it is larger by HEISENBERG_BIAS and
 * by two units of its rounding, so that g is not 0 if spins cancel each other or the field, as at
 * beta = 0. */
GPUMC_HOST_DEVICE static inline REAL
HEISENBERG_NAME(heisenberg_bias)(enum heisenberg_move move, REAL field)
{
  const REAL two_units = (REAL)(sizeof(REAL) == sizeof(float) ? 2 * FLT_EPSILON : 2 * DBL_EPSILON);
  return move == HEISENBERG_HEAT_BATH ? FMA(field, two_units, field + (REAL)HEISENBERG_BIAS)
                                      : field;
}

/* Returns |g|, its inverse, and the direction of g. If spins along x cancel the bias, g^2 may be
 * HEISENBERG_LEAST_SQUARE or less, and division would not give length 1: x is then replaced by
 * HEISENBERG_WEAK, beside which y and z vanish. This changes the distribution by 3e-8. */
GPUMC_HOST_DEVICE static inline REAL HEISENBERG_NAME(heisenberg_direction)(const int components,
                                                                           VECTOR g, REAL *length,
                                                                           VECTOR *direction)
{
  const REAL square = HEISENBERG_NAME(heisenberg_dot)(components, g, g);
  const bool strong = square > (REAL)HEISENBERG_LEAST_SQUARE;
  *length = HEISENBERG_NAME(heisenberg_positive_root)(
      strong ? square : (REAL)(HEISENBERG_WEAK * HEISENBERG_WEAK));
  const REAL inverse = RECIPROCAL(*length);
  direction->x = (strong ? g.x : (REAL)HEISENBERG_WEAK) * inverse;
  direction->y = g.y * inverse;
  direction->z = g.z * inverse;
  return inverse;
}

/* Returns 1 - cos(S', g) at u of its distribution, 0 to 2. With y = 1 - e^(-2 |g|) the argument of
 * the logarithm is a = e^(-2 |g|) + u y, and a - 1 = -(1 - u) y: neither cancels, so that the tail
 * of strong fields and the limit of weak ones, twice 1 - u, are as exact as u is. */
GPUMC_HOST_DEVICE static inline REAL
HEISENBERG_NAME(heisenberg_versine)(REAL length, REAL inverse, REAL u)
{
  REAL exponential, less_one;
  HEISENBERG_NAME(gpumc_decay)((REAL)-2 * length, &exponential, &less_one);
  const REAL a = FMA(-u, less_one, exponential), a_less_one = ((REAL)1 - u) * less_one;
  const REAL versine = -HEISENBERG_NAME(gpumc_log_of)(a, a_less_one) * inverse;
  return versine < 2 ? versine : 2;
}

/* O(3): draws from the density exp(S . g). */
GPUMC_HOST_DEVICE static inline VECTOR HEISENBERG_NAME(heisenberg_sphere)(VECTOR g, UNIFORM uniform)
{
  VECTOR direction;
  REAL length;
  const REAL inverse = HEISENBERG_NAME(heisenberg_direction)(3, g, &length, &direction);
  const REAL versine = HEISENBERG_NAME(heisenberg_versine)(length, inverse, uniform.u);
  return HEISENBERG_NAME(heisenberg_turned)(
      HEISENBERG_NAME(heisenberg_inclined)(versine, uniform.azimuth), direction);
}

/* O(2): one trial of rejection for the density exp(S . g), the von Mises distribution (Best and
 * Fisher, Applied Statistics 28, 152 (1979)). With K = |g| and T = 1 + (1 + 4 K^2)^(1/2), an angle
 * psi drawn uniformly becomes theta, tan(theta/2) = ((T - 2K)/(T + 2K))^(1/2) tan(psi/2), which has
 * the density of a wrapped Cauchy distribution; it is accepted with probability c exp(1 - c), c = T
 * / (T + 2 K cos psi), which makes it exact for every T. Half of psi is the azimuth; (T - 2K)(T +
 * 2K) = 2 T. No difference cancels. */
GPUMC_HOST_DEVICE static inline bool
HEISENBERG_NAME(heisenberg_circle_trial)(VECTOR g, UNIFORM uniform, VECTOR *spin)
{
  VECTOR direction;
  REAL cosine, sine, weight, less_one, length;
  (void)HEISENBERG_NAME(heisenberg_direction)(2, g, &length, &direction);
  const REAL twice = (REAL)2 * length, t = (REAL)1 + ROOT(FMA(twice, twice, (REAL)1));
  const REAL sum = t + twice, difference = QUOTIENT((REAL)2 * t, sum);
  HEISENBERG_NAME(gpumc_turn)(uniform.azimuth, &cosine, &sine);
  const REAL forward = sum * cosine * cosine, backward = difference * sine * sine;
  const REAL inverse = RECIPROCAL(forward + backward), c = t * inverse;
  const REAL along = (forward - backward) * inverse;
  const REAL across = (REAL)2 * ROOT((REAL)2 * t) * cosine * sine * inverse;
  spin->x = FMA(along, direction.x, -(across * direction.y));
  spin->y = FMA(along, direction.y, across * direction.x);
  spin->z = 0;
  HEISENBERG_NAME(gpumc_decay)((REAL)1 - c, &weight, &less_one);
  return uniform.other < c * weight;
}

/* ---- over-relaxation ---- */

/* Returns the spin reflected at the field f, or reversed if the field is 0. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_reflected)(const int components, VECTOR spin, VECTOR f, bool renormalise)
{
  VECTOR reflected;
  const REAL square = HEISENBERG_NAME(heisenberg_dot)(components, f, f),
             least = (REAL)HEISENBERG_LEAST_SQUARE;
  const REAL along = HEISENBERG_NAME(heisenberg_dot)(components, spin, f);
  const REAL quotient = QUOTIENT((REAL)2 * along, square > least ? square : least);
  const REAL factor = square > least ? quotient : 0;
  reflected.x = FMA(factor, f.x, -spin.x);
  reflected.y = FMA(factor, f.y, -spin.y);
  reflected.z = components == 3 ? FMA(factor, f.z, -spin.z) : 0;
  return renormalise ? HEISENBERG_NAME(heisenberg_renormalised)(components, reflected) : reflected;
}

/* Returns x in quanta of 2^-HEISENBERG_QUANTUM_BITS. */
GPUMC_HOST_DEVICE static inline int32_t HEISENBERG_NAME(heisenberg_quanta)(REAL x)
{
  return HEISENBERG_NAME(heisenberg_whole)(x * (REAL)(1 << HEISENBERG_QUANTUM_BITS));
}

/* ---- chirality ---- */

/* Returns a x b along the axis z: the sine of the angle from a to b if z = 0. */
GPUMC_HOST_DEVICE static inline REAL HEISENBERG_NAME(heisenberg_turn_from)(VECTOR a, VECTOR b)
{
  return FMA(a.x, b.y, -(a.y * b.x));
}

/* Returns forward . (spin x back). */
GPUMC_HOST_DEVICE static inline REAL
HEISENBERG_NAME(heisenberg_triple)(VECTOR back, VECTOR spin, VECTOR forward)
{
  VECTOR cross;
  cross.x = FMA(spin.y, back.z, -(spin.z * back.y));
  cross.y = FMA(spin.z, back.x, -(spin.x * back.z));
  cross.z = HEISENBERG_NAME(heisenberg_turn_from)(spin, back);
  return HEISENBERG_NAME(heisenberg_dot)(3, forward, cross);
}

/* Returns the sum of sign times sine over the bonds from each corner of a plaquette to the next:
 * 2^(3/2) times its chirality, or minus that. */
GPUMC_HOST_DEVICE static inline REAL
HEISENBERG_NAME(heisenberg_circulation)(const VECTOR spin[4], const REAL sign[4])
{
  REAL sum = 0;
  for (int i = 0; i < 4; i++) {
    const REAL sine = HEISENBERG_NAME(heisenberg_turn_from)(spin[i], spin[(i + 1) % 4]);
    sum = FMA(sign[i], sine, sum);
  }
  return sum;
}

#undef REAL
#undef QUOTIENT
#undef RECIPROCAL
#undef FMA
#undef ROOT
#undef VECTOR
#undef UNIFORM
