/* Preloaded into gpumc: counts the objects open in HDF5 when the program ends.
 *
 *   GPUMC_HANDLES=FILE        where the counts go, "KIND NUMBER" a line
 *   GPUMC_HANDLES_KEPT=1      handles are not let go of: what a program that forgets them looks
 * like
 */
#include <dlfcn.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

int H5Idec_ref(hid_t id)
{
  static int (*decrease)(hid_t id);
  if (getenv("GPUMC_HANDLES_KEPT") != NULL)
    return 1;
  if (decrease == NULL)
    *(void **)&decrease = dlsym(RTLD_NEXT, "H5Idec_ref");
  return decrease(id);
}

/* Returns how many older handles of the same type as `newest` are open. Handles are numbers that
 * count up, with the type above bit 56; HDF5 has no call for this except for objects in a file. */
static unsigned long long count_older(hid_t newest)
{
  const hid_t type = newest >> 56 << 56;
  unsigned long long count = 0;
  for (hid_t id = type; id < newest; id++)
    count += H5Iis_valid(id) > 0;
  return count;
}

__attribute__((destructor)) static void count(void)
{
  const char *path = getenv("GPUMC_HANDLES");
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL)
    return;
  H5open();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  fprintf(file, "dataspaces %llu\n", count_older(H5Screate(H5S_SCALAR)));
  fprintf(file, "datatypes %llu\n", count_older(H5Tcopy(H5T_NATIVE_INT)));
  fprintf(file, "lists %llu\n", count_older(H5Pcreate(H5P_FILE_ACCESS)));
  fprintf(file, "stacks %llu\n", count_older(H5Ecreate_stack()));
  fprintf(file, "in_files %lld\n", (long long)H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL));
  fclose(file);
}
