/* How HDF5 reaches our files: a file driver under which no write can fail for HDF5.
 *
 * HDF5 does not survive a failed write: the library cannot flush what it still holds, cannot close
 * the file, and complains or spins at exit. This driver keeps the failure for itself: the first one
 * (operation and errno) is recorded in a fault that the opener owns, everything written after it is
 * dropped, and HDF5 is told that all went well, so it closes in good order. Whoever opens a file
 * this way must ask the fault after every step that matters, and treat the file as cut off at the
 * instant of the fault, as by a power failure.
 *
 * The driver takes no file locks: a reader with the file open can never make the writer fail, and
 * file systems without locks do. Who may write is decided by the task's own lock (side_files.h). */
#ifndef GPUMC_CORE_HDF5_DRIVER_H
#define GPUMC_CORE_HDF5_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

/* `code`: errno of the first failure, 0 for none; `operation`: the word for it, "write"; `reason`:
 * what went wrong, in words, where errno does not say it; else NULL. `only_file`: the opener has
 * its file, and the driver refuses to open a second one for it: HDF5 opens what links and virtual
 * datasets name with the access list of the file that they are in. */
struct gpumc_file_fault {
  int code;
  const char *operation;
  const char *reason;
  bool only_file;
};

/* Let files that are opened with this access list go through the driver; `fault` must outlive them.
 * `mark`: text that a new file begins with, in its user block, before HDF5 writes anything, so that
 * it is recognised as ours from its first byte on; NULL: none. Negative, with the
 * HDF5 error stack set, on failure. */
herr_t gpumc_hdf5_driver_use(hid_t access_list, struct gpumc_file_fault *fault, const char *mark);

#endif
