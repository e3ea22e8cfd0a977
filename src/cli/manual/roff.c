/* Pieces of roff, with the macros of man(7). */
#include <stdlib.h>
#include <string.h>

#include "build_info.h"
#include "cli/manual/man.h"

enum { LINE_WIDTH = 76 };

/* Of the last change to what the pages say: pages are the same whenever they are made. */
static const char date[] = "2026-11-26";

/* The code of the character that begins at `*text`, which is moved past it. */
static unsigned next_character(const char **text)
{
  const unsigned char *byte = (const unsigned char *)*text;
  const int more = byte[0] >= 0xf0 ? 3 : byte[0] >= 0xe0 ? 2 : byte[0] >= 0xc0 ? 1 : 0;
  unsigned code = more == 0 ? byte[0] : byte[0] & (0x3fu >> more);
  for (int i = 1; i <= more; i++)
    code = code << 6 | (byte[i] & 0x3f);
  *text += more + 1;
  return code;
}

void man_words(struct gpumc_text *text, const char *words)
{
  static const struct {
    char character;
    const char *escape;
  } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                 {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  while (*words != '\0') {
    const unsigned code = next_character(&words);
    const char *escape = NULL;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
      if (code == (unsigned char)escapes[i].character)
        escape = escapes[i].escape;
    const bool begins = text->length == 0 || text->characters[text->length - 1] == '\n';
    if (escape != NULL)
      gpumc_text_append(text, "%s", escape);
    else if (code >= 0x80)
      gpumc_text_append(text, "\\[u%04X]", code);
    else
      gpumc_text_append(text, code == '.' && begins ? "\\&%c" : "%c", (int)code);
  }
}

void man_line(struct gpumc_text *text, const char *words)
{
  while (*words != '\0') {
    size_t length = strlen(words);
    if (length > LINE_WIDTH) {
      length = LINE_WIDTH;
      while (length > 0 && words[length] != ' ')
        length--;
      if (length == 0)
        length = strcspn(words, " ");
    }
    char *line = strndup(words, length);
    man_words(text, line != NULL ? line : "");
    text->failed = text->failed || line == NULL;
    free(line);
    gpumc_text_append(text, "\n");
    words += length;
    words += strspn(words, " ");
  }
}

void man_paragraph(struct gpumc_text *text)
{
  const char *last = text->characters + (text->length > 0 ? text->length - 1 : 0);
  while (last > text->characters && last[-1] != '\n')
    last--;
  if (strncmp(last, ".SH", 3) != 0)
    gpumc_text_append(text, ".PP\n");
}

void man_head(struct gpumc_text *text, const char *title, int section, const char *name,
              const char *summary)
{
  gpumc_text_append(text, ".TH %s %d %s \"gpumc %s\" \"gpumc manual\"\n.SH NAME\n", title, section,
                    date, GPUMC_PROGRAM_VERSION);
  man_words(text, name);
  gpumc_text_append(text, " \\- ");
  man_line(text, summary);
}

void man_example(struct gpumc_text *text, const char *lines, size_t length)
{
  man_paragraph(text);
  gpumc_text_append(text, ".RS 4\n.EX\n");
  while (length > 0) {
    const size_t line = strcspn(lines, "\n") < length ? strcspn(lines, "\n") : length;
    char *words = strndup(lines, line);
    man_words(text, words != NULL ? words : "");
    gpumc_text_append(text, "\n");
    text->failed = text->failed || words == NULL;
    free(words);
    lines += line + (lines[line] == '\n');
    length -= line < length ? line + 1 : line;
  }
  gpumc_text_append(text, ".EE\n.RE\n");
}
