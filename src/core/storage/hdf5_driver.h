/* How HDF5 accesses our files: a file driver under which no write can fail for HDF5.
 *
 * HDF5 does not survive a failed write: it cannot flush what it still holds, cannot close the file,
 * and complains or hangs at exit. This driver hides the failure: the first one (operation and
 * errno) is recorded in a fault that the opener owns, everything written after it is dropped, and
 * HDF5 is told that all went well, so it closes in good order. Whoever opens a file this way must
 * check the fault after every step that matters, and treat the file as cut off at the instant of
 * the fault, as by a power failure.
 *
 * The driver takes no file locks: a reader that has the file open can never make the writer fail,
 * and file systems without locks work. The task's own lock (side_files.h) decides who may write. */
#ifndef GPUMC_CORE_HDF5_DRIVER_H
#define GPUMC_CORE_HDF5_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

/* `code`: errno of the first failure, 0 for none; `operation`: the word for it, "write"; `reason`:
 * what went wrong, in words, if errno does not say it; else NULL. `only_file`: the opener has its
 * file, and the driver refuses to open a second one for it: HDF5 opens the targets of links and
 * virtual datasets with the access list of the file that contains them. */
struct gpumc_file_fault {
  int code;
  const char *operation;
  const char *reason;
  bool only_file;
};

/* Routes files opened with this access list through the driver; `fault` must outlive them. `mark`:
 * text at the beginning of a new file, in its user block, written before anything from HDF5, so
 * that the file is recognised as ours from its first byte on; NULL: none. Returns a negative value,
 * with the HDF5 error stack set, on failure. */
herr_t gpumc_hdf5_driver_use(hid_t access_list, struct gpumc_file_fault *fault, const char *mark);

#endif
