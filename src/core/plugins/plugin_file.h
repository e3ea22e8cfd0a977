/* Plugins as files: what one says of itself, read without running any of it; and the folders where
 * they are found by name. */
#ifndef GPUMC_CORE_PLUGIN_FILE_H
#define GPUMC_CORE_PLUGIN_FILE_H

#include <stdbool.h>

#include "core/base/error.h"
#include "core/plugins/plugin.h"

/* The reason and the remedy may each name a path of 4096 bytes. */
enum { GPUMC_PLUGIN_ABI_BYTES = 32, GPUMC_WHY_NOT_BYTES = 2 * 4096 + 128 };

/* `why_not`: "" if this program can use it, else why it cannot, with the remedy. */
struct gpumc_plugin_file {
  char *path;
  struct gpumc_plugin_note note;
  uint64_t checksum; /* of the whole file */
  char why_not[GPUMC_WHY_NOT_BYTES];
};

/* Reads the note of a file and compares its ABI with this program's. GPUMC_INVALID: there is no
 * file, it was cut off, or it is no plugin. Legal to free after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_plugin_file_read(const char *path, struct gpumc_plugin_file *file, struct gpumc_error *error);
void gpumc_plugin_file_free(struct gpumc_plugin_file *file);

/* Whether a list of a note has the name. */
bool gpumc_plugin_lists(const char *list, const char *name);

/* The ABI of this program, "1-0123456789abcdef": its number, and a checksum of the sizes and
 * offsets in the headers. Returns `text`. */
const char *gpumc_plugin_abi(char text[static GPUMC_PLUGIN_ABI_BYTES]);

/* The plugins in the folders of the search path, in their order, by name within a folder: those of
 * the variable GPUMC_PLUGIN_PATH, separated by colons; gpumc/plugins in XDG_DATA_HOME, or in
 * ~/.local/share; gpumc/plugins in the program's folder of libraries. Other files, and folders that
 * do not exist, are passed over. */
struct gpumc_plugin_list {
  struct gpumc_plugin_file *files;
  size_t count;
};
GPUMC_MUST_CHECK enum gpumc_status
gpumc_plugin_search(struct gpumc_plugin_list *list, struct gpumc_error *error);
void gpumc_plugin_list_free(struct gpumc_plugin_list *list);
/* The folders, for messages: "/a, /b". */
struct gpumc_text;
void gpumc_plugin_folders(struct gpumc_text *text);

#endif
