/* How each shell writes a kind of values. */
#include "cli/manual/completion.h"

const struct completion_kind *completion_kind(enum manual_kind kind)
{
  static const struct completion_kind kinds[] = {
      [MANUAL_ANYTHING] = {"", " ", "", " -x", "", ""},
      [MANUAL_FILES] = {"files", "_files", "", " -r", " -F", ""},
      [MANUAL_CONFIGURATIONS] = {"yaml", "_files -g \"*.(yaml|yml)\"", "", "",
                                 " -k -a '(__fish_complete_suffix .yaml)'", ""},
      [MANUAL_RESULTS] = {"h5", "_files -g \"*.h5*\"", "", "",
                          " -k -a '(__fish_complete_suffix .h5)'", ""},
      [MANUAL_KEYS] = {"keys", "_gpumc_keys", "", "", " -x -a '(__gpumc_keys)'", ""},
      [MANUAL_WORDS] = {"words ", "(", ")", " -x", " -a '", "'"},
  };
  return &kinds[kind];
}
