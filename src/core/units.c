/* Durations and sizes: a decimal number and a unit. */
#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAXIMUM = 15 };
enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

struct unit {
  const char *name;
  double value;
};

static const struct unit durations[] = {{"ms", 1e-3}, {"s", 1},   {"min", MINUTE},
                                        {"h", HOUR},  {"d", DAY}, {NULL, 0}};
static const struct unit sizes[] = {
    {"B", 1},           {"kB", 1e3},           {"MB", 1e6},
    {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
    {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {NULL, 0}};

/* Both say what the readers below accept, digit for digit. */
const char *const gpumc_duration_pattern =
    "^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,15})? *(ms|s|min|h|d)$";
const char *const gpumc_size_pattern =
    "^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,15})? *(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$";

static size_t count_digits(const char *text)
{
  return strspn(text, "0123456789");
}

/* Summed by hand: strtod would follow the locale's decimal point. */
static bool read_quantity(const char *text, const struct unit *units, double *value)
{
  size_t whole = count_digits(text);
  size_t fraction = text[whole] == '.' ? count_digits(text + whole + 1) : 0;
  const char *rest = text + whole + (text[whole] == '.' ? fraction + 1 : 0);
  if (whole == 0 || whole > DIGITS_MAXIMUM || fraction > DIGITS_MAXIMUM ||
      (text[whole] == '.' && fraction == 0))
    return false;
  rest += strspn(rest, " ");
  double number = 0, scale = 1;
  for (size_t i = 0; i < whole; i++)
    number = 10 * number + (text[i] - '0');
  double part = 0;
  for (size_t i = 0; i < fraction; i++) {
    part = 10 * part + (text[whole + 1 + i] - '0');
    scale *= 10;
  }
  for (; units->name != NULL; units++)
    if (strcmp(rest, units->name) == 0) {
      *value = (number + part / scale) * units->value;
      return *value > 0;
    }
  return false;
}

bool gpumc_duration_read(const char *text, double *seconds)
{
  return read_quantity(text, durations, seconds);
}

bool gpumc_size_read(const char *text, double *bytes)
{
  if (!read_quantity(text, sizes, bytes))
    return false;
  *bytes = fmax(1, round(*bytes));
  return true;
}

const char *gpumc_duration_text(double seconds, char text[static 32])
{
  long long whole = isfinite(seconds) && seconds < 1e15 ? llround(seconds) : 0;
  if (!(seconds >= 0 && seconds < 1e15))
    snprintf(text, 32, "unknown");
  else if (seconds < 59.95)
    snprintf(text, 32, "%.1f s", seconds);
  else if (whole < HOUR)
    snprintf(text, 32, "%lld min %02lld s", whole / MINUTE, whole % MINUTE);
  else if (whole < DAY)
    snprintf(text, 32, "%lld h %02lld min", whole / HOUR, whole % HOUR / MINUTE);
  else
    snprintf(text, 32, "%lld d %02lld h", whole / DAY, whole % DAY / HOUR);
  return text;
}
