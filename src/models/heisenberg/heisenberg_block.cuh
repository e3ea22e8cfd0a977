/* The work of one thread for one colour of a replica, in shared or in device memory: for both
 * compilers, so that tests can run it thread by thread.
 *
 * A thread updates its four sites. Over-relaxation needs no random numbers: if possible, a thread
 * then has a pair and that in the next row instead, each of which has the other's neighbour among
 * its own. */
#ifndef GPUMC_HEISENBERG_BLOCK_CUH
#define GPUMC_HEISENBERG_BLOCK_CUH

#include "core/numerics/philox.cuh"
#include "models/heisenberg/heisenberg_places.cuh"

/* ---- random words ---- */

/* A replica's generator in one sweep. */
struct heisenberg_stream {
  struct gpumc_random random;
  uint32_t replica, time;
  struct gpumc_philox_group group;
};

GPUMC_HOST_DEVICE static inline struct heisenberg_stream
heisenberg_stream_make(struct gpumc_random random, uint32_t replica, uint32_t time)
{
  const struct heisenberg_stream stream = {random, replica, time,
                                           gpumc_philox_group(random, replica, time)};
  return stream;
}

/* Draws the words of counters `number` and number + 1. */
GPUMC_HOST_DEVICE static inline void heisenberg_draw_two(const struct heisenberg_stream &stream,
                                                         uint32_t number, uint32_t label,
                                                         uint32_t drawn[2][4])
{
  const uint32_t *key = stream.group.key;
  for (uint32_t i = 0; i < 2; i++) {
    const struct gpumc_philox_word word = gpumc_philox_word(&stream.group, number + i);
    gpumc_philox_begin(&stream.group, &word, gpumc_philox_label(key, word.first, label), drawn[i]);
    gpumc_philox_rounds<3, 7>(key, drawn[i]);
  }
  if (stream.random.rounds != 7)
    for (uint32_t i = 0; i < 2; i++)
      gpumc_philox_rounds<7, 10>(key, drawn[i]);
}

/* The words of the four sites from k on, by pairs. */
template <class RULES>
GPUMC_HOST_DEVICE static inline void
heisenberg_draw_four(const struct heisenberg_stream &stream, uint32_t colour, uint32_t k,
                     struct heisenberg_words words[2][2])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, heisenberg_draw(colour, 0));
  uint32_t drawn[2][4];
  if (RULES::SHARED)
    heisenberg_draw_two(stream, heisenberg_shared_counter(k), label, drawn);
  for (uint32_t p = 0; p < 2; p++) {
    if (!RULES::SHARED)
      heisenberg_draw_two(stream, k + p * HEISENBERG_SECOND, label, drawn);
    for (uint32_t i = 0; i < HEISENBERG_PAIR; i++)
      words[p][i] = RULES::SHARED
                        ? heisenberg_words{drawn[i][2 * p], drawn[i][2 * p + 1], 0, 0}
                        : heisenberg_words{drawn[i][0], drawn[i][1], drawn[i][2], drawn[i][3]};
  }
}

/* ---- moves ---- */

/* J and h of a sweep, times beta unless it is over-relaxation, and the reach of small steps. */
template <class KIND> struct heisenberg_strength {
  typename KIND::real coupling, field, reach;
};

/* O(2) heat bath: further trials, from the second one on. */
template <class KIND>
GPUMC_HOST_DEVICE static inline typename KIND::vector
heisenberg_try_again(const struct heisenberg_stream &stream, uint32_t colour, uint32_t k,
                     typename KIND::vector g)
{
  typename KIND::vector spin = {0, 0, 0};
  bool accepted = false;
  for (uint32_t attempt = 1; attempt < HEISENBERG_ATTEMPTS && !accepted; attempt++) {
    const struct heisenberg_words words = KIND::rules::words(
        stream.random, k, stream.replica, stream.time,
        gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, heisenberg_draw(colour, attempt)));
    accepted = KIND::rules::circle_trial(g, KIND::rules::of_circle(words), &spin);
  }
  return spin;
}

/* Returns whether the proposal is accepted. SMALL: near the spin, or anywhere. */
template <class KIND, bool SMALL>
GPUMC_HOST_DEVICE static inline bool
heisenberg_metropolis(typename KIND::vector &spin, typename KIND::vector g,
                      typename KIND::real reach, struct heisenberg_words words)
{
  typedef typename KIND::rules rules;
  const typename rules::uniform uniform =
      KIND::COMPONENTS == 3 ? rules::of_proposal(words) : rules::of_circle(words);
  const typename KIND::vector proposal = SMALL ? rules::near(KIND::COMPONENTS, spin, uniform, reach)
                                               : rules::anywhere(KIND::COMPONENTS, uniform);
  const bool accepted = rules::accepts(KIND::COMPONENTS, spin, proposal, g, uniform.other);
  spin.x = accepted ? proposal.x : spin.x;
  spin.y = accepted ? proposal.y : spin.y;
  spin.z = accepted ? proposal.z : spin.z;
  return accepted;
}

template <class KIND>
GPUMC_HOST_DEVICE static inline typename KIND::vector
heisenberg_heat_bath(const struct heisenberg_stream &stream, uint32_t colour, uint32_t k,
                     bool present, typename KIND::vector g, struct heisenberg_words words)
{
  typedef typename KIND::rules rules;
  if (KIND::COMPONENTS == 3)
    return rules::sphere(g, rules::of_sphere(words));
  typename KIND::vector spin;
  if (!rules::circle_trial(g, rules::of_circle(words), &spin) && present)
    spin = heisenberg_try_again<KIND>(stream, colour, k, g);
  return spin;
}

/* Data shared by all threads while a colour is updated. */
template <class KIND> struct heisenberg_turn {
  const struct heisenberg_gpu_lattice *lattice;
  struct heisenberg_colours<KIND> colours;
  struct heisenberg_stream stream;
  uint32_t colour;
  struct heisenberg_strength<KIND> strength;
};

/* Updates the sites k and k + 1 of a colour; bit i of `present` says whether that one exists, and
 * bit i of `back` whether its side is back. `coupled`: those whose couplings are loaded. Returns
 * how many proposals of Metropolis were accepted. */
template <class KIND, enum heisenberg_move MOVE>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_update_pair(const struct heisenberg_turn<KIND> &turn, const struct heisenberg_pair &pair,
                       uint32_t k, const uint32_t coupled[2], uint32_t present, uint32_t back,
                       const struct heisenberg_words words[2])
{
  typename KIND::vector sum[2], spin[2];
  uint32_t taken = 0;
  if (MOVE != HEISENBERG_HEAT_BATH)
    heisenberg_load_spins<KIND>(turn.colours, pair.same, spin);
  if constexpr (KIND::QUENCHED)
    heisenberg_surround_quenched<KIND>(turn.lattice, turn.colours, pair, back, coupled, sum);
  else
    heisenberg_surround<KIND>(turn.lattice, turn.colours, pair, back, sum);
  HEISENBERG_UNROLL
  for (uint32_t i = 0; i < HEISENBERG_PAIR; i++) {
    const typename KIND::vector g =
        KIND::rules::field(sum[i], turn.strength.coupling, turn.strength.field);
    if (MOVE == HEISENBERG_METROPOLIS || MOVE == HEISENBERG_METROPOLIS_SMALL)
      taken += heisenberg_metropolis<KIND, MOVE == HEISENBERG_METROPOLIS_SMALL>(
                   spin[i], g, turn.strength.reach, words[i]) &
               (present >> i & 1);
    else if (MOVE == HEISENBERG_HEAT_BATH)
      spin[i] = heisenberg_heat_bath<KIND>(turn.stream, turn.colour, k + i, (present >> i & 1) != 0,
                                           g, words[i]);
    else
      spin[i] = KIND::rules::reflected(KIND::COMPONENTS, spin[i], g,
                                       turn.stream.time % HEISENBERG_RENORMALISATION == 0);
  }
  heisenberg_store_spins<KIND>(turn.colours, pair.same, present, spin);
  return taken;
}

/* Updates a thread's four sites, with the words of heisenberg_draw_four() unless it is
 * over-relaxation. Returns how many proposals of Metropolis it accepted. */
template <class KIND, enum heisenberg_move MOVE>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_update_drawn(const struct heisenberg_turn<KIND> &turn,
                        const struct heisenberg_four &four,
                        const struct heisenberg_words words[2][2])
{
  const uint32_t turned =
      four.bits ^ (turn.colour == 0 ? 0 : HEISENBERG_PRESENT << HEISENBERG_BACK);
  uint32_t taken = 0;
  HEISENBERG_UNROLL
  for (uint32_t p = 0; p < 2; p++) {
    const uint32_t present = turned >> 2 * p & 3, first = four.k + HEISENBERG_SECOND * p;
    /* Sites beyond the end are replaced as in heisenberg_four_of(). */
    const uint32_t coupled[2] = {(present & 1) != 0 ? first : four.k,
                                 (present >> 1 & 1) != 0 ? first + 1 : four.k};
    taken += heisenberg_update_pair<KIND, MOVE>(turn, four.pair[p], first, coupled, present,
                                                turned >> (HEISENBERG_BACK + 2 * p), words[p]);
  }
  return taken;
}

template <class KIND, enum heisenberg_move MOVE>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_update_four(const struct heisenberg_turn<KIND> &turn, const struct heisenberg_four &four)
{
  struct heisenberg_words words[2][2];
  if (MOVE != HEISENBERG_OVER_RELAXATION)
    heisenberg_draw_four<typename KIND::rules>(turn.stream, turn.colour, four.k, words);
  return heisenberg_update_drawn<KIND, MOVE>(turn, four, words);
}

/* ---- over-relaxation of two rows ---- */

/* A pair in row a, the pair in the row after it, b, and their neighbours: those of the same index,
 * the pairs in the rows before a and after b, the sites before and after each pair in its row, and
 * the pairs in the planes before and after. Row a has sides back in colour 0, row b in colour 1. */
struct heisenberg_rows {
  uint32_t a, b, before, after, back[2], forth[2], plane_before[2], plane_after[2];
  bool present;
};

/* Returns those of thread q, in a paired lattice. */
template <class KIND>
GPUMC_HOST_DEVICE static inline struct heisenberg_rows
heisenberg_rows_of(const struct heisenberg_gpu_lattice *lattice, uint32_t q, uint32_t from)
{
  const uint32_t pairs = lattice->row.value / 2, doubles = lattice->height.value / 2;
  const uint32_t line = q / pairs, z = line / doubles;
  struct heisenberg_rows rows;
  rows.present = q < lattice->colour / 4;
  const struct heisenberg_place a = {2 * (q - line * pairs), 2 * (line - z * doubles) + (z & 1),
                                     rows.present ? z : 0};
  const struct heisenberg_place b = {a.x, a.y + 1 < lattice->height.value ? a.y + 1 : 0, a.z};
  const struct heisenberg_place place[2] = {a, b};
  uint32_t k[2];
  for (int i = 0; i < 2; i++) {
    k[i] = place[i].z * lattice->plane + place[i].y * lattice->row.value + place[i].x;
    rows.back[i] = KIND::place(heisenberg_before_in_row(lattice, k[i], place[i].x)) + from;
    rows.forth[i] = KIND::place(heisenberg_after_in_row(lattice, k[i] + 1, place[i].x + 1)) + from;
    rows.plane_before[i] = KIND::place(heisenberg_plane_before(lattice, k[i])) + from;
    rows.plane_after[i] = KIND::place(heisenberg_plane_after(lattice, k[i])) + from;
  }
  rows.a = KIND::place(k[0]) + from;
  rows.b = KIND::place(k[1]) + from;
  rows.before = KIND::place(heisenberg_row_before(lattice, k[0], a.y)) + from;
  rows.after = KIND::place(heisenberg_row_after(lattice, k[1], b.y)) + from;
  return rows;
}

template <class KIND>
GPUMC_HOST_DEVICE static inline void heisenberg_keep_rows(struct heisenberg_rows &rows)
{
  heisenberg_keep(rows.a);
  heisenberg_keep(rows.b);
  heisenberg_keep(rows.before);
  heisenberg_keep(rows.after);
  for (int i = 0; i < 2; i++) {
    heisenberg_keep(rows.back[i]);
    heisenberg_keep(rows.forth[i]);
    if (KIND::DIMENSION == 3) {
      heisenberg_keep(rows.plane_before[i]);
      heisenberg_keep(rows.plane_after[i]);
    }
  }
}

/* Returns whether over-relaxation goes by rows in shared memory: if it does, lanes access different
 * banks. Not with quenched couplings. */
template <class KIND>
GPUMC_HOST_DEVICE static inline bool
heisenberg_goes_by_rows(const struct heisenberg_gpu_lattice *lattice)
{
  return KIND::PAIRED && !KIND::QUENCHED &&
         (lattice->row.value % HEISENBERG_SECOND == 0 ||
          (KIND::DIMENSION == 3 && lattice->plane == HEISENBERG_SHARING));
}

/* Computes the sums of the neighbours, [row][site]. */
template <class KIND, int COLOUR>
GPUMC_HOST_DEVICE static inline void
heisenberg_surround_rows(const struct heisenberg_colours<KIND> &colours,
                         const struct heisenberg_rows &rows, typename KIND::vector sum[2][2])
{
  typedef typename KIND::real real;
  real component[2][2][KIND::COMPONENTS];
  for (int c = 0; c < KIND::COMPONENTS; c++) {
    const real *other = colours.other + c * colours.stride;
    real a[2], b[2], before[2], after[2];
    heisenberg_load<KIND>(other, &rows.a, a);
    heisenberg_load<KIND>(other, &rows.b, b);
    heisenberg_load<KIND>(other, &rows.before, before);
    heisenberg_load<KIND>(other, &rows.after, after);
    /* From the row whose sides are back and from the one whose sides are forward. */
    const real back = *KIND::at(other, rows.back[COLOUR]),
               forth = *KIND::at(other, rows.forth[1 - COLOUR]);
    const real side_a[2] = {COLOUR == 0 ? back : a[1], COLOUR == 0 ? a[0] : forth};
    const real side_b[2] = {COLOUR == 0 ? b[1] : back, COLOUR == 0 ? forth : b[0]};
    for (int i = 0; i < HEISENBERG_PAIR; i++) {
      component[0][i][c] = a[i] + side_a[i] + before[i] + b[i];
      component[1][i][c] = b[i] + side_b[i] + a[i] + after[i];
    }
    for (int r = 0; r < 2 && KIND::DIMENSION == 3; r++) {
      heisenberg_load<KIND>(other, &rows.plane_before[r], before);
      heisenberg_load<KIND>(other, &rows.plane_after[r], after);
      for (int i = 0; i < HEISENBERG_PAIR; i++)
        component[r][i][c] = component[r][i][c] + before[i] + after[i];
    }
  }
  for (int r = 0; r < 2; r++)
    for (int i = 0; i < HEISENBERG_PAIR; i++)
      sum[r][i] = heisenberg_vector<KIND>(component[r][i]);
}

template <class KIND, int COLOUR>
GPUMC_HOST_DEVICE static inline void
heisenberg_reflect_rows(const struct heisenberg_colours<KIND> &colours,
                        const struct heisenberg_rows &rows,
                        struct heisenberg_strength<KIND> strength, bool renormalise)
{
  typename KIND::vector sum[2][2];
  heisenberg_surround_rows<KIND, COLOUR>(colours, rows, sum);
  for (int r = 0; r < 2; r++) {
    const uint32_t *at = r == 0 ? &rows.a : &rows.b;
    typename KIND::vector spin[2];
    heisenberg_load_spins<KIND>(colours, at, spin);
    for (int i = 0; i < HEISENBERG_PAIR; i++)
      spin[i] = KIND::rules::reflected(
          KIND::COMPONENTS, spin[i],
          KIND::rules::field(sum[r][i], strength.coupling, strength.field), renormalise);
    heisenberg_store_spins<KIND>(colours, at, rows.present ? 3 : 0, spin);
  }
}

#endif
