/* What the code of a sweep is specialised for. */
#ifndef GPUMC_ISING_MULTISPIN_KIND_CUH
#define GPUMC_ISING_MULTISPIN_KIND_CUH

/* WIDTH: words that a thread takes at once. SIGNS: couplings differ, and have words of their own.
 * PLAIN: Metropolis without a field. EACH: every run has its own temperature. ROUNDS: of Philox.
 * ZEROS: planes (0, 2 or 4), from the first, in which all thresholds are 0. PACKED: the lanes of a
 * word are sites of a row of one replica (packed_cuda.h), not replicas. */
template <int WIDTH_, int DIMENSION_, bool SIGNS_, bool PLAIN_, bool EACH_, int ROUNDS_, int ZEROS_,
          bool PACKED_ = false>
struct ising_multispin_kind {
  static constexpr int WIDTH = WIDTH_, DIMENSION = DIMENSION_, ROUNDS = ROUNDS_, ZEROS = ZEROS_;
  static constexpr bool SIGNS = SIGNS_, PLAIN = PLAIN_, EACH = EACH_, PACKED = PACKED_;
  static constexpr int NEIGHBOURS = 2 * DIMENSION;
  /* Plain: of spins that need a comparison. */
  static constexpr int CLASSES = PLAIN ? DIMENSION : NEIGHBOURS + 1;
  static constexpr int CLASS_BITS = PLAIN ? DIMENSION - 1 : 3;
};

#endif
