/* Durations and sizes: a decimal number and a unit. */
#include "core/base/units.h"

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

/* The power of ten of the first digit of `size` > 0, once it is rounded to `decimals` decimals in
 * scientific notation. */
static int exponent_of(double size, int decimals)
{
  char digits[40];
  snprintf(digits, sizeof digits, "%.*e", decimals, size);
  return atoi(strchr(digits, 'e') + 1);
}

/* Both numbers in units of 10^`exponent`, whose last digit is 10^`last`, last <= exponent + 1. */
static void append_measured(double value, double error, int exponent, int last, char text[64])
{
  const int decimals = last < exponent ? exponent - last : 0;
  const double unit = pow(10, exponent), grain = pow(10, last);
  const double rounded = round(value / grain) * grain / unit;
  const double digits = round(error / grain);
  const char *sign = value < 0 && rounded != 0 ? "-" : "";
  if (decimals > 0 && error < unit)
    snprintf(text, 64, "%s%.*f(%.0f)", sign, decimals, fabs(rounded), digits);
  else
    snprintf(text, 64, "%s%.*f(%.*f)", sign, decimals, fabs(rounded), decimals,
             digits * grain / unit);
}

/* Smaller errors, and numbers beyond its reciprocal, are not scaled by powers of ten. */
#define SCALED_LEAST 1e-290

const char *gpumc_measured_text(double value, double error, char text[static 64])
{
  enum { DIGITS_MOST = 15, PLAIN_LEAST = -5, PLAIN_MOST = 7 };
  if (!isfinite(value)) {
    snprintf(text, 64, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return text;
  }
  if (!isfinite(error) || error <= 0) {
    snprintf(text, 64, "%.7g(%s)", value + 0.0,
             error == 0                  ? "0"
             : isinf(error) && error > 0 ? "inf"
                                         : "nan");
    return text;
  }
  const double larger = fmax(fabs(value), error);
  if (error < SCALED_LEAST || larger > 1 / SCALED_LEAST) {
    snprintf(text, 64, "%.7g(%.2g)", value, error);
    return text;
  }
  int last = exponent_of(error, 1) - 1;
  int first = exponent_of(larger, DIGITS_MOST);
  if (first - last > DIGITS_MOST) { /* no digit of a double would be left for the error */
    snprintf(text, 64, "%.*g(%.2g)", DIGITS_MOST + 1, value, error);
    return text;
  }
  if (exponent_of(larger, first > last ? first - last : 0) > first)
    first++;
  const bool plain = first >= PLAIN_LEAST && first < PLAIN_MOST;
  append_measured(value, error, plain ? 0 : first, last, text);
  if (!plain) {
    const size_t length = strlen(text);
    snprintf(text + length, 64 - length, "e%+03d", first);
  }
  return text;
}
