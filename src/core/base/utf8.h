/* Checking that a text is UTF-8 of the characters that YAML allows. */
#ifndef GPUMC_CORE_UTF8_H
#define GPUMC_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpumc_utf8 { GPUMC_UTF8_GOOD, GPUMC_UTF8_BAD_BYTE, GPUMC_UTF8_BAD_CHARACTER };

/* Line and column from 1, counted in characters; `code`: the byte or character at fault. */
struct gpumc_utf8_place {
  size_t line, column;
  uint32_t code;
};

enum gpumc_utf8 gpumc_utf8_check(const char *text, size_t length, struct gpumc_utf8_place *place);

/* The code point at `bytes` (`left` bytes remain) and its length; length 0: no valid UTF-8. */
uint32_t gpumc_utf8_decode(const unsigned char *bytes, size_t left, size_t *length);

#endif
