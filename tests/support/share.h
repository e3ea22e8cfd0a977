/* The share of its cases that a test takes: all of them, or with GPUMC_SHARE=k one in k; see share.py. */
#ifndef TESTS_SUPPORT_SHARE_H
#define TESTS_SUPPORT_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the case of this number, from 0, is one of them. */
bool share_has(size_t number);

#endif
