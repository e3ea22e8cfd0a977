/* Explains libyaml's messages about invalid YAML to its author. */
#include <string.h>

#include "core/config/config_internal.h"
#include "core/config/config_syntax.h"

/* The first whose problem and context occur in libyaml's message applies; NULL: matches anything.
 * `line`: the words end with the line at which the context starts. */
struct explanation {
  const char *problem, *context, *words;
  bool line;
};

static const struct explanation explanations[] = {
    {"violates indentation", NULL, "a tab cannot indent; use spaces", false},
    {"did not find expected ',' or '}'", NULL, "a ',' or '}' is missing in the block in braces",
     true},
    {"did not find expected ',' or ']'", NULL, "a ',' or ']' is missing in the list in brackets",
     true},
    {"did not find expected key", "block mapping",
     "this line is indented unlike the others of the block, or the text before it is unfinished",
     false},
    {"did not find expected '-' indicator", NULL,
     "expected a '-' as in the other items of the list", true},
    {"mapping values are not allowed", NULL,
     "no ':' is expected here; check the indentation of the line, and put text that has ': ' in it "
     "in quotes",
     false},
    {"could not find expected ':'", NULL, "a ':' is missing after the key", true},
    {"found unexpected end of stream", "quoted scalar", "the closing quote is missing of the text",
     true},
    {"did not find expected <document start>", NULL,
     "there is text after the end of the value; put text with braces or brackets in quotes", false},
    {"undefined alias", NULL, "nothing has been given this name with '&' before", false},
};

static bool is_in(const char *words, const char *text)
{
  return words == NULL || (text != NULL && strstr(text, words) != NULL);
}

void gpumc_syntax_describe(const struct gpumc_syntax *syntax, struct gpumc_text *text)
{
  if (syntax->found == '\t') {
    gpumc_text_append(text, "a tab cannot indent; use spaces");
    return;
  }
  if (strstr(syntax->problem, "cannot start any token") != NULL) {
    gpumc_text_append(text, "text cannot begin with '%c' unless it is in quotes", syntax->found);
    return;
  }
  for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
    const struct explanation *e = &explanations[i];
    if (!is_in(e->problem, syntax->problem) || !is_in(e->context, syntax->context))
      continue;
    gpumc_text_append(text, "%s", e->words);
    if (e->line && syntax->context != NULL)
      gpumc_text_append(text, " that starts at line %zu", syntax->context_line);
    return;
  }
  gpumc_text_append(text, "%s", syntax->problem);
  if (syntax->context != NULL)
    gpumc_text_append(text, ", %s that starts at line %zu", syntax->context, syntax->context_line);
}
