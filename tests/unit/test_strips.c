/* Strips of lattices (models/lattice/strips.h): their shares, their places in the mail, and the
 * order of messages, by strips that run in any order, each as far as its mail allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "models/lattice/strips.h"

static uint32_t noise(uint32_t i, uint32_t time)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(11, 0, 10), i, 0, time, 0, word);
  return word[0];
}

static void strips_share_out_all_units(void **state)
{
  (void)state;
  static const uint32_t units[] = {2, 7, 64, 132, 1025};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    for (uint32_t count = 1; count <= units[u] && count <= LATTICE_STRIPS_MAXIMUM; count++) {
      assert_int_equal(lattice_strip_begin(units[u], count, 0), 0);
      assert_int_equal(lattice_strip_begin(units[u], count, count), units[u]);
      for (uint32_t i = 0; i < count; i++) {
        const uint32_t own =
            lattice_strip_begin(units[u], count, i + 1) - lattice_strip_begin(units[u], count, i);
        assert_in_range(own, units[u] / count, lattice_strip_most(units[u], count));
      }
    }
}

static void all_strips_run_at_the_same_time(void **state)
{
  (void)state;
  static const size_t processors[] = {1, 20, 108, 132, 1000};
  for (size_t p = 0; p < sizeof processors / sizeof *processors; p++)
    for (size_t replicas = 1; replicas < 300; replicas++) {
      const uint32_t count = lattice_strips_count(processors[p], replicas, 40);
      assert_in_range(count, 1, 40);
      if (count > 1) {
        assert_true(count * replicas <= processors[p]);
        assert_true(lattice_strips_mail_bytes(replicas, 40, 3) >=
                    LATTICE_STRIP_SLOTS * count * replicas * LATTICE_STRIP_ENDS * 3 *
                        sizeof(uint64_t));
      }
    }
}

static void strips_have_their_neighbours_of_the_same_replica(void **state)
{
  (void)state;
  enum { REPLICAS = 5 };
  for (uint32_t count = 2; count < 9; count++) {
    const struct lattice_strips strips = {.count = count};
    for (uint32_t strip = 0; strip < REPLICAS * count; strip++) {
      const uint32_t replica = strip / count, number = strip % count;
      assert_int_equal(lattice_strip_beside(&strips, strip, 1),
                       replica * count + (number + 1) % count);
      assert_int_equal(lattice_strip_beside(&strips, strip, 0),
                       replica * count + (number + count - 1) % count);
    }
  }
}

static void messages_have_places_of_their_own(void **state)
{
  (void)state;
  enum { ALL = 6, EDGE = 5, PLACES = LATTICE_STRIP_SLOTS * ALL * LATTICE_STRIP_ENDS * EDGE };
  const struct lattice_strips strips = {.count = 3, .edge = EDGE};
  bool taken[PLACES] = {false};
  assert_int_equal(lattice_strips_mail_bytes(2, 3, EDGE), PLACES * sizeof(uint64_t));
  for (uint32_t tag = 1000; tag < 1000 + LATTICE_STRIP_SLOTS; tag++)
    for (uint32_t strip = 0; strip < ALL; strip++)
      for (uint32_t end = 0; end < LATTICE_STRIP_ENDS; end++)
        for (uint32_t i = 0; i < EDGE; i++) {
          const size_t place = lattice_strip_slot(&strips, ALL, tag, strip, end, i);
          assert_in_range(place, 0, PLACES - 1);
          assert_false(taken[place]);
          taken[place] = true;
        }
}

/* A ring of words of two colours: a word becomes a mixture of itself and the words of the other
 * colour EDGE before and after it. Each strip has a ring of its own, of which it keeps its words
 * and EDGE beside them. */
enum { WORDS = 53, EDGE = 3, STRIPS = 7, SWEEPS = 40, TURNS = 2 * SWEEPS, FIRST_TAG = 17 };

struct ring {
  uint32_t word[2][WORDS];
};

struct post {
  struct lattice_strips strips;
  uint32_t slots; /* in use */
  uint64_t mail[LATTICE_STRIP_SLOTS * STRIPS * LATTICE_STRIP_ENDS * EDGE];
};

struct worker {
  struct ring ring;
  uint32_t turn;
  bool sent;
};

static void update(struct ring *ring, uint32_t turn, uint32_t begin, uint32_t end)
{
  const uint32_t *other = ring->word[1 - turn % 2];
  for (uint32_t w = begin; w < end; w++)
    ring->word[turn % 2][w] = ring->word[turn % 2][w] * 2654435761u ^
                              other[(w + WORDS - EDGE) % WORDS] >> 1 ^
                              other[(w + EDGE) % WORDS] << 1 ^ noise(w, turn);
}

static uint64_t *slot(struct post *post, uint32_t turn, uint32_t strip, uint32_t end, uint32_t i)
{
  const uint32_t tag = post->slots == 1 ? 0 : post->strips.tag + 1 + turn;
  return post->mail + lattice_strip_slot(&post->strips, STRIPS, tag, strip, end, i);
}

/* Takes the next step of a strip: an update, with its messages, or the receipt of all messages.
 * Returns whether there was one. */
static bool step(struct post *post, struct worker *worker, uint32_t strip)
{
  const uint32_t begin = lattice_strip_begin(WORDS, STRIPS, strip),
                 end = lattice_strip_begin(WORDS, STRIPS, strip + 1);
  const uint32_t turn = worker->turn, tag = post->strips.tag + 1 + turn;
  uint32_t *word = worker->ring.word[turn % 2];
  if (turn == TURNS)
    return false;
  if (!worker->sent) {
    update(&worker->ring, turn, begin, end);
    for (uint32_t i = 0; i < EDGE && turn < lattice_strips_turns(SWEEPS); i++) {
      *slot(post, turn, strip, 0, i) = (uint64_t)tag << 32 | word[begin + i];
      *slot(post, turn, strip, 1, i) = (uint64_t)tag << 32 | word[end - EDGE + i];
    }
    worker->sent = true;
    return true;
  }
  const uint32_t before = lattice_strip_beside(&post->strips, strip, 0),
                 after = lattice_strip_beside(&post->strips, strip, 1);
  for (uint32_t i = 0; i < EDGE && turn < lattice_strips_turns(SWEEPS); i++) {
    const uint64_t message[] = {*slot(post, turn, before, 1, i), *slot(post, turn, after, 0, i)};
    if (message[0] >> 32 != tag || message[1] >> 32 != tag)
      return false;
    word[(begin + WORDS - EDGE + i) % WORDS] = (uint32_t)message[0];
    word[(end + i) % WORDS] = (uint32_t)message[1];
  }
  worker->sent = false;
  worker->turn++;
  return true;
}

/* Lets strips take steps, in an order of chance in which some are slow, and returns how many turns
 * of all strips are done when none can go on. */
static uint32_t run(uint32_t slots, uint32_t seed, const struct ring *start, struct ring *end)
{
  struct post post = {.strips = {.count = STRIPS, .edge = EDGE, .tag = FIRST_TAG}, .slots = slots};
  static struct worker worker[STRIPS];
  uint32_t turns = 0;
  for (uint32_t i = 0; i < STRIPS; i++)
    worker[i] = (struct worker){.ring = *start};
  for (uint32_t idle = 0, n = 0; idle < 1000; n++) {
    const uint32_t chance = noise(n, 1000 + seed), strip = chance % STRIPS;
    const uint32_t steps = chance >> 16 & 3;
    for (uint32_t i = 0; i < steps; i++)
      idle = step(&post, &worker[strip], strip) ? 0 : idle + 1;
  }
  for (uint32_t i = 0; i < STRIPS; i++) {
    const uint32_t first = lattice_strip_begin(WORDS, STRIPS, i),
                   own = lattice_strip_begin(WORDS, STRIPS, i + 1) - first;
    for (uint32_t c = 0; c < 2; c++)
      memcpy(end->word[c] + first, worker[i].ring.word[c] + first, own * sizeof(uint32_t));
    turns += worker[i].turn;
  }
  return turns;
}

static struct ring start_of(void)
{
  struct ring ring;
  for (uint32_t w = 0; w < 2 * WORDS; w++)
    ring.word[w / WORDS][w % WORDS] = noise(w, 999);
  return ring;
}

static void strips_in_any_order_give_the_whole_lattice(void **state)
{
  (void)state;
  const struct ring start = start_of();
  struct ring whole = start, cut;
  for (uint32_t turn = 0; turn < TURNS; turn++)
    update(&whole, turn, 0, WORDS);
  for (uint32_t seed = 0; seed < 50; seed++) {
    assert_int_equal(run(LATTICE_STRIP_SLOTS, seed, &start, &cut), TURNS * STRIPS);
    assert_memory_equal(&whole, &cut, sizeof whole);
  }
}

/* With one slot a message may be replaced by the next one before it is read. */
static void one_slot_is_not_enough(void **state)
{
  (void)state;
  const struct ring start = start_of();
  struct ring cut;
  uint32_t stuck = 0;
  for (uint32_t seed = 0; seed < 50; seed++)
    stuck += run(1, seed, &start, &cut) < TURNS * STRIPS;
  assert_int_equal(stuck, 50);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_share_out_all_units),
      cmocka_unit_test(all_strips_run_at_the_same_time),
      cmocka_unit_test(strips_have_their_neighbours_of_the_same_replica),
      cmocka_unit_test(messages_have_places_of_their_own),
      cmocka_unit_test(strips_in_any_order_give_the_whole_lattice),
      cmocka_unit_test(one_slot_is_not_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
