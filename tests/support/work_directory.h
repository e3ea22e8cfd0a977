/* A separate directory for each test, removed with everything in it. */
#ifndef GPUMC_TESTS_WORK_DIRECTORY_H
#define GPUMC_TESTS_WORK_DIRECTORY_H

#include <stddef.h>

/* cmocka setup and teardown: create, enter and later remove a new directory; *state is its path. */
int work_directory_enter(void **state);
int work_directory_leave(void **state);

/* Returns the bytes of a file, *size of them; the caller frees them; fails the test if the file
 * cannot be read. */
unsigned char *file_bytes(const char *path, size_t *size);
void write_file(const char *path, const void *bytes, size_t size);

#endif
