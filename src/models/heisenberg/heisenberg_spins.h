/* Spins of one replica of O(n) spins, in one precision: include after REAL and VECTOR are
 * defined. */

/* Some of them, component by component; two components: z is not used, and may be NULL. */
struct spins {
  REAL *x, *y, *z;
};

GPUMC_INLINE VECTOR spin_of(const int components, const struct spins *spins, size_t j)
{
  return (VECTOR){spins->x[j], spins->y[j], components == 3 ? spins->z[j] : 0};
}

GPUMC_INLINE void set_spin(const int components, const struct spins *spins, size_t j, VECTOR spin)
{
  spins->x[j] = spin.x;
  spins->y[j] = spin.y;
  if (components == 3)
    spins->z[j] = spin.z;
}
