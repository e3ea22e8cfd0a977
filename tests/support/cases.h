/* The cases of a test: as many as fit into its time, beginning with others at each commit; see
 * cases.py.
 *
 *     FOR_CASES (cases)
 *       for (size_t shape = 0; shape < SHAPES; shape++)
 *         for (size_t b = 0; b < BETAS; b++)
 *           if (cases_take(&cases))
 *             compare(shape, betas[b]);
 *
 * The loops within are gone through once for each pass, so what else is done in them must be cheap,
 * and counters begin there. */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { CASES_SHOWN = 40 };

struct cases {
  const char *loop; /* name of the function */
  size_t number;    /* of the case that is looked at next */
  size_t total;     /* of all */
  size_t taken;
  size_t pass;               /* that is under way: 1 counts the cases, from 2 on they are taken */
  double begin, end;         /* CPU seconds, and the seconds on the clock at the latest */
  double since, most;        /* CPU seconds: when the last one taken began, what the longest took */
  size_t longest;            /* its number */
  size_t shown[CASES_SHOWN]; /* the first ones taken */
};

#define FOR_CASES(variable)                                                                        \
  for (struct cases variable = cases_begin(__func__); cases_more(&(variable));)

/* cmocka_run_group_tests() of a program whose tests are the cases, for one that has long ones: one
 * after the other, beginning with another one at each commit. */
#define CASES_RUN(tests) cases_run((tests), sizeof(tests) / sizeof *(tests))
int cases_run(const struct CMUnitTest *tests, size_t count);

struct cases cases_begin(const char *loop);
/* Begins the next pass; false after the last one, or if the time is up. */
bool cases_more(struct cases *cases);
/* Returns whether the next case is to be run now. */
bool cases_take(struct cases *cases);
/* Returns the number of the case that cases_take() was asked about last. */
size_t cases_number(const struct cases *cases);

#endif
