/* The reflections of clusters in one precision: included by cluster_physics.h once for each.
 * HEISENBERG_PRECISION is the end of its names and the type itself. No include guard; not for other
 * files. `components`, 2 or 3, is a constant at each call. */
#define REAL HEISENBERG_PRECISION
#define FMA HEISENBERG_NAME(heisenberg_fma)
#define VECTOR struct HEISENBERG_NAME(heisenberg_vector)
#define PLANE struct HEISENBERG_NAME(heisenberg_plane)

/* r, and the factors of the exponents: 2 beta J (J w with quenched couplings) and 2 beta h r_x. */
PLANE
{
  VECTOR axis;
  REAL bond, ghost;
};

/* For cluster c; coupling, field: beta J and beta h. */
GPUMC_HOST_DEVICE static inline PLANE
HEISENBERG_NAME(heisenberg_plane_of)(const int components, struct gpumc_random random,
                                     uint32_t replica, uint32_t time, uint32_t c, double coupling,
                                     double field)
{
  PLANE plane;
  uint32_t word[4];
  gpumc_random_draw(random, c, replica, time, lattice_cluster_label(HEISENBERG_CLUSTER_AXIS), word);
  const struct heisenberg_words words = {word[0], word[1], word[2], word[3]};
  plane.axis = HEISENBERG_NAME(heisenberg_anywhere)(components,
                                                    HEISENBERG_NAME(heisenberg_of_sphere)(words));
  plane.bond = (REAL)(2.0 * coupling);
  plane.ghost = (REAL)(2.0 * field) * plane.axis.x;
  return plane;
}

/* Returns whether a bond with exponent x is active, for its random number. */
GPUMC_HOST_DEVICE static inline bool HEISENBERG_NAME(heisenberg_is_active)(REAL x, uint32_t number)
{
  REAL weight, less_one;
  HEISENBERG_NAME(gpumc_decay)(x > 0 ? -x : 0, &weight, &less_one);
  return HEISENBERG_NAME(heisenberg_fraction)(number, 31) < -less_one;
}

/* Returns a spin whose component along r is a, reflected. */
GPUMC_HOST_DEVICE static inline VECTOR
HEISENBERG_NAME(heisenberg_mirrored)(const int components, VECTOR spin, VECTOR axis, REAL a)
{
  VECTOR mirrored;
  const REAL factor = (REAL)-2 * a;
  mirrored.x = FMA(factor, axis.x, spin.x);
  mirrored.y = FMA(factor, axis.y, spin.y);
  mirrored.z = components == 3 ? FMA(factor, axis.z, spin.z) : 0;
  return HEISENBERG_NAME(heisenberg_renormalised)(components, mirrored);
}

#undef REAL
#undef FMA
#undef VECTOR
#undef PLANE
