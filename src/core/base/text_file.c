/* Text files that users name, read word by word, and what is wrong with bytes that no text has. */
#include "core/base/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/files.h"

/* ---- HDF5 files ---- */

/* HDF5 File Format Specification, version 3.0, section II.A: the signature is at the beginning of
 * the file, or at 512 bytes times a power of two. */
static const unsigned char hdf5_signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
enum { HDF5_FIRST_BLOCK = 512 };

static bool has_signature(FILE *stream, long place)
{
  unsigned char found[sizeof hdf5_signature];
  return fseek(stream, place, SEEK_SET) == 0 && fread(found, sizeof found, 1, stream) == 1 &&
         memcmp(found, hdf5_signature, sizeof found) == 0;
}

static enum gpumc_status open_stream(const char *path, FILE **stream, struct gpumc_error *error)
{
  const char *reason;
  *stream = gpumc_regular_stream(path, &reason);
  return *stream != NULL
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", path, reason);
}

enum gpumc_status gpumc_file_is_hdf5(const char *path, bool *hdf5, struct gpumc_error *error)
{
  FILE *stream;
  *hdf5 = false;
  GPUMC_TRY(open_stream(path, &stream, error));
  const long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : 0;
  long place = 0;
  do {
    *hdf5 = has_signature(stream, place);
    place = place == 0 ? HDF5_FIRST_BLOCK : place > size / 2 ? size : 2 * place;
  } while (!*hdf5 && place < size);
  fclose(stream);
  return GPUMC_OK;
}

/* ---- bytes that no text has ---- */

enum { BYTE_ORDER_MARK = 0xfeff };

static bool begins_as_utf16(const char *text, size_t length)
{
  return length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
}

void gpumc_text_append_flaw(struct gpumc_text *words, const char *text, size_t length,
                            const struct gpumc_utf8_place *place, enum gpumc_utf8 found)
{
  const bool first = place->line == 1 && place->column == 1;
  if (first && begins_as_utf16(text, length))
    gpumc_text_append(words, "UTF-16, not UTF-8; save the file as UTF-8");
  else if (found == GPUMC_UTF8_BAD_BYTE)
    gpumc_text_append(words,
                      "not UTF-8: byte 0x%02x; save the text as UTF-8 (from Latin-1: iconv -f "
                      "latin1 -t utf-8)",
                      place->code);
  else if (place->code == 0)
    gpumc_text_append(words, "a zero byte: this is not a text file");
  else if (place->code == BYTE_ORDER_MARK)
    gpumc_text_append(words, "a byte-order mark, U+FEFF, is not allowed after the beginning of the "
                             "file; remove it");
  else
    gpumc_text_append(words, "the character U+%04X is not allowed; remove it", place->code);
}

/* ---- words ---- */

enum { END = EOF, FLAW = EOF - 1 };

enum gpumc_status
gpumc_text_file_open(const char *path, struct gpumc_text_file *file, struct gpumc_error *error)
{
  static const char mark[] = "\xef\xbb\xbf";
  char begin[sizeof mark - 1];
  bool hdf5 = false;
  memset(file, 0, sizeof *file);
  file->path = path;
  file->last = '\n';
  GPUMC_TRY(gpumc_file_is_hdf5(path, &hdf5, error));
  if (hdf5)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: an HDF5 file, but a text file is expected",
                           path);
  GPUMC_TRY(open_stream(path, &file->stream, error));
  if (fread(begin, sizeof begin, 1, file->stream) != 1 || memcmp(begin, mark, sizeof begin) != 0)
    rewind(file->stream);
  return GPUMC_OK;
}

void gpumc_text_file_close(struct gpumc_text_file *file)
{
  if (file->stream != NULL)
    fclose(file->stream);
  file->stream = NULL;
}

/* Returns the number of bytes that a character with this first byte has, 1 for a bad one. */
static size_t bytes_of_character(unsigned char first)
{
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 1;
}

/* Reads the bytes that follow the first one of a character, as far as they are such bytes. */
static void complete_character(struct gpumc_text_file *file)
{
  const size_t bytes = bytes_of_character(file->character[0]);
  while (file->length < bytes) {
    const int byte = getc_unlocked(file->stream);
    if (byte == EOF || (byte & 0xc0) != 0x80) {
      if (byte != EOF)
        (void)ungetc(byte, file->stream);
      return;
    }
    file->character[file->length++] = (unsigned char)byte;
  }
}

/* Returns FLAW, with the error set, unless the character is one of a text. */
static int check_character(struct gpumc_text_file *file, struct gpumc_error *error)
{
  struct gpumc_utf8_place place;
  char shown[2 + sizeof file->character] = "";
  complete_character(file);
  /* After another character: only the first one may be a byte-order mark. */
  shown[0] = ' ';
  memcpy(shown + 1, file->character, file->length);
  const enum gpumc_utf8 found = gpumc_utf8_check(shown, 1 + file->length, &place);
  if (found == GPUMC_UTF8_GOOD)
    return file->character[0];
  struct gpumc_text words = {0};
  place.line = file->line;
  place.column = file->column;
  int next = file->length == 1 ? getc_unlocked(file->stream) : EOF;
  shown[2] = (char)(next == EOF ? 0 : next);
  gpumc_text_append_flaw(&words, shown + 1, 2, &place, found);
  (void)gpumc_error_set(error, GPUMC_INVALID, "%s:%zu:%zu: %s", file->path, file->line,
                        file->column, gpumc_text_string(&words));
  gpumc_text_free(&words);
  return FLAW;
}

/* Returns the next byte of the file, END at its end, FLAW with the error set. Counts lines and
 * characters; a line begins with the first character after its end, so that `line` stays that of
 * the word. */
static int next_byte(struct gpumc_text_file *file, struct gpumc_error *error)
{
  if (file->at < file->length)
    return file->character[file->at++];
  const int byte = getc_unlocked(file->stream);
  if (byte == EOF)
    return END;
  const bool begins = file->last == '\n' || (file->last == '\r' && byte != '\n');
  file->line += begins;
  file->column = begins ? 1 : file->column + 1;
  file->last = byte;
  if ((byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t')
    return byte;
  file->character[0] = (unsigned char)byte;
  file->length = file->at = 1;
  return check_character(file, error);
}

static bool is_space(int byte)
{
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Skips white space and comments. Returns the first byte of a word, END or FLAW. */
static int find_word(struct gpumc_text_file *file, struct gpumc_error *error)
{
  int byte;
  while ((byte = next_byte(file, error)) >= 0) {
    file->in_comment = (file->in_comment || byte == '#') && byte != '\n' && byte != '\r';
    if (!file->in_comment && !is_space(byte))
      break;
  }
  return byte;
}

enum gpumc_status gpumc_text_file_word(struct gpumc_text_file *file,
                                       char word[static GPUMC_WORD_BYTES],
                                       struct gpumc_error *error)
{
  size_t length = 0;
  int byte = find_word(file, error);
  for (; byte >= 0 && !is_space(byte) && byte != '#'; byte = next_byte(file, error)) {
    if (length == GPUMC_WORD_BYTES - 1)
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s:%zu: a word of more than %d bytes; numbers are separated by white "
                             "space",
                             file->path, file->line, GPUMC_WORD_BYTES - 1);
    word[length++] = (char)byte;
  }
  word[length] = '\0';
  file->in_comment = byte == '#';
  if (byte == END && ferror(file->stream))
    return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s: %s", file->path, strerror(errno));
  return byte == FLAW ? GPUMC_INVALID : GPUMC_OK;
}

bool gpumc_word_is_number(const char *word, double *number)
{
  char *end;
  *number = strtod(word, &end);
  return end != word && *end == '\0';
}

const char *gpumc_word_quoted(const char *word, char text[static GPUMC_QUOTED_BYTES])
{
  enum { SHOWN = 40 };
  struct gpumc_text escaped = {0};
  char begin[SHOWN + 1];
  size_t length = strnlen(word, SHOWN + 1);
  /* Cut between characters. */
  if (length > SHOWN)
    for (length = SHOWN; length > 0 && ((unsigned char)word[length] & 0xc0) == 0x80;)
      length--;
  memcpy(begin, word, length);
  begin[length] = '\0';
  gpumc_text_append_escaped(&escaped, begin, GPUMC_ESCAPES_TEXT);
  snprintf(text, GPUMC_QUOTED_BYTES, "'%s%s'", gpumc_text_string(&escaped),
           word[length] != '\0' ? "..." : "");
  gpumc_text_free(&escaped);
  return text;
}
