/* The share of its cases that a test runs: all, or one in k with GPUMC_SHARE=k; see share.py. */
#ifndef TESTS_SUPPORT_SHARE_H
#define TESTS_SUPPORT_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the case with this number, counted from 0, is in the share. */
bool share_has(size_t number);

#endif
