/* Forgets memory that HDF5 has allocated for us, or that we have where HDF5 calls us: whether the
 * sanitizers see it. What HDF5 itself forgets is another matter (support/leaks_of_libraries.txt).
 *
 *   gpumc_leaking_program FILE text|callback|nothing      FILE is written
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where nothing can be left in a register or on the stack. */
static volatile size_t bytes = 12345;

static herr_t forget(hid_t group, const char *name, const H5A_info_t *info, void *state)
{
  (void)group;
  (void)name;
  (void)info;
  (void)state;
  void *volatile forgotten = malloc(bytes);
  forgotten = NULL;
  return forgotten != NULL;
}

static int read_text(hid_t attribute, hid_t type, int keeps)
{
  char *text = NULL;
  int failed = H5Aread(attribute, type, &text) < 0;
  if (!keeps)
    H5free_memory(text);
  text = NULL;
  return failed;
}

static int use(const char *path, const char *what)
{
  char long_text[200];
  const char *text = long_text;
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(file, "text", type, space, H5P_DEFAULT, H5P_DEFAULT);
  int failed = H5Awrite(attribute, type, &text) < 0;
  failed |= read_text(attribute, type, strcmp(what, "text") == 0);
  if (strcmp(what, "callback") == 0)
    failed |= H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, forget, NULL) < 0;
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  return failed | (H5Fclose(file) < 0);
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: gpumc_leaking_program FILE text|callback|nothing\n");
    return 2;
  }
  return use(argv[1], argv[2]);
}
