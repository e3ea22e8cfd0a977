/* Opening the files that users name: configurations, couplings, results and what stands beside
 * them.
 *
 * A path may lead to a FIFO, whose opening waits for somebody at the other end, to a device, whose
 * reading may have no end, to a socket or a directory. Every path that comes from a user, or is
 * made of one, is opened here and nowhere else, so that what is open is known to be a regular file.
 */
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
