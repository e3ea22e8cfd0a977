/* Is a text UTF-8 that YAML allows? Told with the place, which libyaml does not give for bad bytes.
 */
#include "core/base/utf8.h"

enum { BYTE_ORDER_MARK = 0xfeff };

uint32_t gpumc_utf8_decode(const unsigned char *bytes, size_t left, size_t *length)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t code = bytes[0];
  size_t n = code < 0x80 ? 1 : (code & 0xe0) == 0xc0 ? 2 : (code & 0xf0) == 0xe0 ? 3 : 4;
  *length = 0;
  if (n > left || (n == 4 && (code & 0xf8) != 0xf0))
    return 0;
  if (n > 1)
    code &= 0x7fu >> n;
  for (size_t i = 1; i < n; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (bytes[i] & 0x3f);
  }
  if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return 0;
  *length = n;
  return code;
}

/* The characters of YAML 1.1, section 4.1. */
static bool is_allowed(uint32_t code)
{
  return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0x7f) ||
         code == 0x85 || (code >= 0xa0 && code < 0xfffe && code != BYTE_ORDER_MARK) ||
         code >= 0x10000;
}

enum gpumc_utf8 gpumc_utf8_check(const char *text, size_t length, struct gpumc_utf8_place *place)
{
  const unsigned char *bytes = (const unsigned char *)text;
  *place = (struct gpumc_utf8_place){.line = 1, .column = 1};
  for (size_t at = 0, n; at < length; at += n) {
    place->code = gpumc_utf8_decode(bytes + at, length - at, &n);
    if (n == 0) {
      place->code = bytes[at];
      return GPUMC_UTF8_BAD_BYTE;
    }
    if (place->code == BYTE_ORDER_MARK && at == 0)
      continue;
    if (!is_allowed(place->code))
      return GPUMC_UTF8_BAD_CHARACTER;
    bool line_end =
        place->code == '\n' || (place->code == '\r' && !(at + 1 < length && bytes[at + 1] == '\n'));
    place->line += line_end;
    place->column = line_end ? 1 : place->column + 1;
  }
  return GPUMC_UTF8_GOOD;
}
