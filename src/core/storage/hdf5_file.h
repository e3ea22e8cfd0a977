/* Opens HDF5 files through our driver, silently, with errors as messages of gpumc.
 *
 * A program that uses checkpoints, the recorder or result_info must call
 * gpumc_hdf5_prepare_program() first thing in main(), before any other call of HDF5. */
#ifndef GPUMC_CORE_HDF5_FILE_H
#define GPUMC_CORE_HDF5_FILE_H

#include <hdf5.h>

#include "core/base/error.h"
#include "core/storage/hdf5_driver.h"

/* Keeps HDF5 from cleaning up at exit (after a failed close it can hang or crash there; a file that
 * was not closed is unfinished and treated as such), and makes a write beyond the file size limit
 * an ordinary error instead of SIGXFSZ. These are states of the process: only a program may set
 * them, not a library. */
void gpumc_hdf5_prepare_program(void);

/* By default HDF5 prints its errors itself, which is a state of the whole process.
 * GPUMC_HDF5_QUIET(); at the top of a function silences it until the function returns and restores
 * the previous state. */
struct gpumc_hdf5_quiet {
  H5E_auto2_t function;
  void *data;
};
struct gpumc_hdf5_quiet gpumc_hdf5_quiet_begin(void);
void gpumc_hdf5_quiet_end(struct gpumc_hdf5_quiet *quiet);
#define GPUMC_HDF5_QUIET()                                                                         \
  __attribute__((cleanup(gpumc_hdf5_quiet_end))) struct gpumc_hdf5_quiet hdf5_quiet_scope =        \
      gpumc_hdf5_quiet_begin()

enum gpumc_hdf5_mode {
  GPUMC_HDF5_READ,
  /* While a single writer appends, or after it has died. What is damaged is known as such after
   * some hundredths of a second. */
  GPUMC_HDF5_READ_LIVE,
  GPUMC_HDF5_WRITE,
  GPUMC_HDF5_WRITE_LIVE, /* as the single writer */
};

/* An open file; objects in it may be left open: closing the file closes them. What all attributes
 * and datasets need is made once: a scalar space, a type of texts in UTF-8 without a final NUL,
 * whose size is set before each use, and creation lists of datasets without filters and of those
 * that are shuffled and deflated, whose layout is set before each use. `deflated` is invalid if
 * this HDF5 lacks the filters. `working`: a working file that is only read, of which messages say
 * how to get a good one. */
struct gpumc_hdf5_file {
  hid_t id;
  char *path;
  struct gpumc_file_fault fault;
  hid_t scalar, text, plain, deflated;
  bool working;
};

/* Creates a file, or empties it and starts anew, with a user block of `user_block` bytes (0, or 512
 * and up) that begins with the text `mark` from the first instant (NULL: with none). Uses the
 * newest file format: its metadata carry checksums, and single-writer mode needs it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_create(const char *path, hsize_t user_block, const char *mark,
                  struct gpumc_hdf5_file **file, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_open(const char *path, enum gpumc_hdf5_mode mode,
                                                   struct gpumc_hdf5_file **file,
                                                   struct gpumc_error *error);
/* Closes and frees. GPUMC_FAILURE also if something written earlier is not in the file. If HDF5
 * cannot close it, its ids are left behind. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_close(struct gpumc_hdf5_file *file, struct gpumc_error *error);
/* Closes and ignores the outcome; legal on NULL. */
void gpumc_hdf5_discard(struct gpumc_hdf5_file *file);

/* Makes a text type of `size` bytes including the final NUL, or H5T_VARIABLE. */
hid_t gpumc_hdf5_text_type(size_t size);

/* Sets how groups are created: members are listed in the order of their creation, and the header
 * holds what most groups have of members and attributes, instead of heaps and trees beside it. */
herr_t gpumc_hdf5_set_group(hid_t list);

/* Closes an open object, type, space or property list, on success and failure alike: the error
 * stack is not changed. Legal on an invalid id. */
void gpumc_hdf5_release(hid_t id);

/* Returns GPUMC_FAILURE if the file has a fault, that is, if anything written so far may be
 * missing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_check(const struct gpumc_hdf5_file *file, struct gpumc_error *error);

/* Sets "PATH: cannot WHAT: CAUSE" and returns GPUMC_FAILURE: the cause is the fault of the file if
 * it has one ("No space left on device"), else the innermost entry of the HDF5 error stack. Call it
 * before any other HDF5 function except gpumc_hdf5_release(), since others would clear the
 * stack. */
enum gpumc_status gpumc_hdf5_error(const struct gpumc_hdf5_file *file, struct gpumc_error *error,
                                   const char *what, ...) GPUMC_PRINTF(3, 4);

/* Returns what to do about a file that cannot be read, as a line to append to a message: for a
 * working file; "" for any other. */
const char *gpumc_hdf5_remedy(const struct gpumc_hdf5_file *file);

#endif
