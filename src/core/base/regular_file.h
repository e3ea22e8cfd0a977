/* Opens the files that users name: configurations, couplings, results and the files beside them.
 *
 * A path may lead to a FIFO, where opening waits for a process at the other end, to a device that
 * can be read without end, to a socket or a directory. Every path that comes from a user, or is
 * derived from one, is opened here and nowhere else, so every open file is a regular file. */
#ifndef GPUMC_CORE_REGULAR_FILE_H
#define GPUMC_CORE_REGULAR_FILE_H

#include <stdio.h>

/* A descriptor, closed on exec, of the regular file at `path`; `flags` are those of open(2). -1
 * when there is none: errno says why (EINVAL: not a regular file), and `*reason`, which needs no
 * freeing, says it in words for a message: "Permission denied", "not a regular file but a FIFO".
 * Never waits. A file is emptied (O_TRUNC) only once it is known to be regular. */
int gpumc_regular_open(const char *path, int flags, const char **reason);

/* The same as a stream for reading; NULL when there is none. */
FILE *gpumc_regular_stream(const char *path, const char **reason);

#endif
