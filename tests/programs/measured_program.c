/* Prints values beside their errors as the program does: for each "VALUE ERROR" on standard input,
 * as strtod reads them, a line "TEXT". */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"

int main(void)
{
  char value[64], error[64], text[64];
  while (scanf("%63s %63s", value, error) == 2)
    puts(gpumc_measured_text(strtod(value, NULL), strtod(error, NULL), text));
  return 0;
}
