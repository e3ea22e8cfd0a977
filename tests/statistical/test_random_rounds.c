/* Are Philox's numbers uniform and independent at the counters that sweeps use, with ten rounds and
 * with the seven of `rng: philox4x32-7`? Counters of neighbouring words, groups, times and draws
 * differ in few bits, so this is what a generator with too few rounds fails first.
 *
 * Every statistic is a count of n fair coins, as z = (2 count - n) / sqrt(n). The largest |z| of a
 * test must stay below 6, which 10000 of them exceed with probability 2e-5. Control: three rounds,
 * with which no output depends on all bits of the counter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/random.h"

enum { BITS = 128, WORDS = 4096, GROUPS = 8, DIRECTIONS = 4, CONTROL_ROUNDS = 3 };

static const double largest = 6;

struct number {
  uint32_t word[4];
};

static const uint32_t key[2] = {0x9e3779b9, 5u << 16 | 0x1234};

/* Philox with any number of rounds, as gpumc_random_draw has it for two of them. */
static struct number number_at(unsigned rounds, const uint32_t counter[4])
{
  const philox4x32_ctr_t at = {{counter[0], counter[1], counter[2], counter[3]}};
  const philox4x32_key_t with = {{key[0], key[1]}};
  const philox4x32_ctr_t drawn = philox4x32_R(rounds, at, with);
  return (struct number){{drawn.v[0], drawn.v[1], drawn.v[2], drawn.v[3]}};
}

/* The i-th counter of a run: words of a lattice, then groups, then times; its first draw. */
static void counter_of(size_t i, uint32_t counter[4])
{
  counter[0] = (uint32_t)(i % WORDS);
  counter[1] = (uint32_t)(i / WORDS % GROUPS);
  counter[2] = (uint32_t)(i / WORDS / GROUPS);
  counter[3] = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, 0);
}

static unsigned bit_of(const struct number *number, size_t b)
{
  return number->word[b / 32] >> b % 32 & 1;
}

static void count_ones(const struct number *number, uint32_t ones[BITS])
{
  for (size_t b = 0; b < BITS; b++)
    ones[b] += bit_of(number, b);
}

static struct number difference(const struct number *a, const struct number *b)
{
  struct number both;
  for (size_t i = 0; i < 4; i++)
    both.word[i] = a->word[i] ^ b->word[i];
  return both;
}

/* Returns the largest |z| of these counts among n, and at least `so_far`. */
static double largest_of(const uint32_t *count, size_t counts, size_t n, double so_far)
{
  for (size_t i = 0; i < counts; i++)
    so_far = fmax(so_far, fabs(2.0 * count[i] - (double)n) / sqrt((double)n));
  return so_far;
}

/* Is each bit one half of the time? */
static double frequencies(unsigned rounds)
{
  enum { N = 1 << 20 };
  uint32_t ones[BITS] = {0}, counter[4];
  for (size_t i = 0; i < N; i++) {
    counter_of(i, counter);
    const struct number number = number_at(rounds, counter);
    count_ones(&number, ones);
  }
  return largest_of(ones, BITS, N, 0);
}

/* Does each bit change half of the time from a counter to the next one in each direction? */
static double neighbours(unsigned rounds)
{
  enum { N = 1 << 18 };
  double found = 0;
  for (size_t direction = 0; direction < DIRECTIONS; direction++) {
    uint32_t changes[BITS] = {0}, counter[4];
    for (size_t i = 0; i < N; i++) {
      counter_of(i, counter);
      const struct number here = number_at(rounds, counter);
      counter[direction]++;
      const struct number there = number_at(rounds, counter);
      const struct number changed = difference(&here, &there);
      count_ones(&changed, changes);
    }
    found = largest_of(changes, BITS, N, found);
  }
  return found;
}

/* Does each bit change half of the time if any one bit of the counter does? */
static double avalanche(unsigned rounds)
{
  enum { N = 1 << 14 };
  double found = 0;
  for (size_t bit = 0; bit < BITS; bit++) {
    uint32_t changes[BITS] = {0}, counter[4];
    for (size_t i = 0; i < N; i++) {
      counter_of(i * 257, counter);
      const struct number here = number_at(rounds, counter);
      counter[bit / 32] ^= 1u << bit % 32;
      const struct number there = number_at(rounds, counter);
      const struct number changed = difference(&here, &there);
      count_ones(&changed, changes);
    }
    found = largest_of(changes, BITS, N, found);
  }
  return found;
}

/* Do any two bits of a number agree half of the time? */
static double pairs(unsigned rounds)
{
  enum { N = 1 << 18 };
  static uint32_t differ[BITS * BITS];
  memset(differ, 0, sizeof differ);
  for (size_t first = 0; first < N; first += 64) {
    uint64_t column[BITS] = {0};
    for (size_t i = 0; i < 64; i++) {
      uint32_t counter[4];
      counter_of(first + i, counter);
      const struct number number = number_at(rounds, counter);
      for (size_t b = 0; b < BITS; b++)
        column[b] |= (uint64_t)bit_of(&number, b) << i;
    }
    for (size_t a = 0; a < BITS; a++)
      for (size_t b = 0; b < a; b++)
        differ[a * BITS + b] += (uint32_t)__builtin_popcountll(column[a] ^ column[b]);
  }
  double found = 0;
  for (size_t a = 1; a < BITS; a++)
    found = largest_of(differ + a * BITS, a, N, found);
  return found;
}

struct found {
  double frequencies, neighbours, avalanche, pairs;
};

static struct found look(unsigned rounds)
{
  const struct found found = {frequencies(rounds), neighbours(rounds), avalanche(rounds),
                              pairs(rounds)};
  print_message("%2u rounds, largest |z|: frequencies %.2f, neighbours %.2f, avalanche %.2f, "
                "pairs %.2f\n",
                rounds, found.frequencies, found.neighbours, found.avalanche, found.pairs);
  return found;
}

static void expect_uniform(unsigned rounds)
{
  const struct found found = look(rounds);
  assert_true(found.frequencies < largest && found.neighbours < largest);
  assert_true(found.avalanche < largest && found.pairs < largest);
}

static void ten_rounds(void **state)
{
  (void)state;
  expect_uniform(10);
}

static void seven_rounds(void **state)
{
  (void)state;
  expect_uniform(7);
}

static void too_few_rounds(void **state)
{
  (void)state;
  const struct found found = look(CONTROL_ROUNDS);
  assert_true(found.frequencies > largest && found.neighbours > largest);
  assert_true(found.avalanche > largest && found.pairs > largest);
}

/* The numbers above are those that sweeps draw. */
static void drawn_by_sweeps(void **state)
{
  (void)state;
  for (uint32_t rounds = 7; rounds <= 10; rounds += 3) {
    const struct gpumc_random random = {{key[0], key[1]}, rounds};
    uint32_t counter[4], drawn[4];
    counter_of(98765, counter);
    gpumc_random_draw(random, counter[0], counter[1], counter[2], counter[3], drawn);
    assert_memory_equal(number_at(rounds, counter).word, drawn, sizeof drawn);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_rounds),
      cmocka_unit_test(seven_rounds),
      cmocka_unit_test(too_few_rounds),
      cmocka_unit_test(drawn_by_sweeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
