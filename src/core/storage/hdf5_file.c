/* Opens, closes and explains HDF5 files. */
#include "core/storage/hdf5_file.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

void gpumc_hdf5_prepare_program(void)
{
  H5dont_atexit();
  signal(SIGXFSZ, SIG_IGN);
}

struct gpumc_hdf5_quiet gpumc_hdf5_quiet_begin(void)
{
  struct gpumc_hdf5_quiet quiet = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

void gpumc_hdf5_quiet_end(struct gpumc_hdf5_quiet *quiet)
{
  H5Eset_auto2(H5E_DEFAULT, quiet->function, quiet->data);
}

/* Keeps the innermost entry, the first one of an upward walk; `text` gets its description. */
static herr_t keep_innermost(unsigned position, const H5E_error2_t *entry, void *text)
{
  if (position == 0 && entry->desc != NULL)
    snprintf(text, BUFSIZ, "%s", entry->desc);
  return 0;
}

static const char *fault_reason(const struct gpumc_file_fault *fault)
{
  return fault->reason != NULL ? fault->reason : strerror(fault->code);
}

const char *gpumc_hdf5_remedy(const struct gpumc_hdf5_file *file)
{
  return file->working
             ? "\nit is damaged, or a run is writing it: try again in a moment; if no run is "
               "writing it, run its configuration again, which rebuilds the file from the "
               "checkpoint"
             : "";
}

enum gpumc_status gpumc_hdf5_error(const struct gpumc_hdf5_file *file, struct gpumc_error *error,
                                   const char *what, ...)
{
  char action[BUFSIZ];
  char cause[BUFSIZ] = "HDF5 gives no reason";
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(action, sizeof action, what, arguments);
  va_end(arguments);
  if (file->fault.code != 0)
    snprintf(cause, sizeof cause, "%s failed: %s", file->fault.operation,
             fault_reason(&file->fault));
  else
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, cause);
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot %s: %s%s", file->path, action, cause,
                         gpumc_hdf5_remedy(file));
}

enum gpumc_status gpumc_hdf5_check(const struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  if (file->fault.code != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: %s failed: %s", file->path,
                           file->fault.operation, fault_reason(&file->fault));
  return GPUMC_OK;
}

void gpumc_hdf5_release(hid_t id)
{
  if (id < 0)
    return;
  /* Mostly there is nothing to keep. */
  if (H5Eget_num(H5E_DEFAULT) <= 0) {
    H5Idec_ref(id);
    return;
  }
  hid_t stack = H5Eget_current_stack();
  H5Idec_ref(id);
  if (stack >= 0)
    H5Eset_current_stack(stack);
}

/* In the header of an object: as many links, or attributes; fewer than the second number return
 * there from a heap. HDF5 looks through them one by one. */
enum { MOST_LINKS = 64, FEWEST_LINKS = 48, MOST_ATTRIBUTES = 64, FEWEST_ATTRIBUTES = 48 };
/* Room for so many links with names of that length is made at once; a header that grows later keeps
 * its neighbours from growing in place. */
enum { EXPECTED_LINKS = 6, EXPECTED_NAME = 12 };

herr_t gpumc_hdf5_set_group(hid_t list)
{
  /* Nobody reads the times of objects, which take 16 bytes each. */
  if (H5Pset_obj_track_times(list, false) < 0 ||
      H5Pset_attr_phase_change(list, MOST_ATTRIBUTES, FEWEST_ATTRIBUTES) < 0 ||
      H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
      H5Pset_est_link_info(list, EXPECTED_LINKS, EXPECTED_NAME) < 0)
    return -1;
  return H5Pset_link_phase_change(list, MOST_LINKS, FEWEST_LINKS);
}

hid_t gpumc_hdf5_text_type(size_t size)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0)
    return type;
  if (H5Tset_size(type, size) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
    return type;
  gpumc_hdf5_release(type);
  return H5I_INVALID_HID;
}

static hid_t dataset_list(void)
{
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (list < 0)
    return list;
  if (H5Pset_obj_track_times(list, false) >= 0)
    return list;
  gpumc_hdf5_release(list);
  return H5I_INVALID_HID;
}

/* Returns whether the program can compress numbers for HDF5 itself, as they stand in memory. */
static bool can_deflate(void)
{
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && H5Zfilter_avail(H5Z_FILTER_SHUFFLE) > 0 &&
         H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
}

/* Stops at the first that fails, so that HDF5 still knows why. */
static bool make_tools(struct gpumc_hdf5_file *file)
{
  enum { DEFLATE_LEVEL = 6 };
  file->scalar = H5Screate(H5S_SCALAR);
  if (file->scalar < 0)
    return false;
  file->text = gpumc_hdf5_text_type(1);
  if (file->text < 0 || H5Tset_strpad(file->text, H5T_STR_NULLPAD) < 0)
    return false;
  file->plain = dataset_list();
  if (file->plain < 0)
    return false;
  if (!can_deflate())
    return true;
  file->deflated = dataset_list();
  return file->deflated >= 0 && H5Pset_shuffle(file->deflated) >= 0 &&
         H5Pset_deflate(file->deflated, DEFLATE_LEVEL) >= 0;
}

static void free_file(struct gpumc_hdf5_file *file)
{
  gpumc_hdf5_release(file->deflated);
  gpumc_hdf5_release(file->plain);
  gpumc_hdf5_release(file->text);
  gpumc_hdf5_release(file->scalar);
  free(file->path);
  free(file);
}

static enum gpumc_status
make_file(const char *path, struct gpumc_hdf5_file **file, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(file, 1, "an open file", error));
  (*file)->id = (*file)->scalar = (*file)->text = (*file)->plain = (*file)->deflated =
      H5I_INVALID_HID;
  (*file)->path = strdup(path);
  enum gpumc_status status = GPUMC_OK;
  if ((*file)->path == NULL)
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the name %s", path);
  else if (!make_tools(*file))
    status = gpumc_hdf5_error(*file, error, "prepare HDF5");
  if (status != GPUMC_OK) {
    free_file(*file);
    *file = NULL;
  }
  return status;
}

/* A live reader finds metadata whose checksum is wrong while the writer replaces them, and HDF5
 * reads them again after 1 ns, 2 ns, 4 ns and so on: in all 2^READ_ATTEMPTS ns, 17 ms. Its default
 * of 100 attempts would never end. Without a writer there is one attempt, whatever is set. */
enum { READ_ATTEMPTS = 24 };

/* Access list: the driver, newest format, objects closed with the file. */
static hid_t access_list(struct gpumc_hdf5_file *file, const char *mark)
{
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  if (list < 0)
    return list;
  if (gpumc_hdf5_driver_use(list, &file->fault, mark) >= 0 &&
      H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0 &&
      H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) >= 0 &&
      H5Pset_metadata_read_attempts(list, READ_ATTEMPTS) >= 0)
    return list;
  gpumc_hdf5_release(list);
  return H5I_INVALID_HID;
}

static hid_t creation_list(hsize_t user_block)
{
  hid_t list = H5Pcreate(H5P_FILE_CREATE);
  if (list < 0)
    return list;
  if (H5Pset_userblock(list, user_block) >= 0 && gpumc_hdf5_set_group(list) >= 0)
    return list;
  gpumc_hdf5_release(list);
  return H5I_INVALID_HID;
}

static hid_t create_or_open(struct gpumc_hdf5_file *file, const unsigned *open_flags,
                            hsize_t user_block, const char *mark)
{
  hid_t id = H5I_INVALID_HID;
  hid_t access = access_list(file, mark);
  if (access < 0)
    return id;
  if (open_flags != NULL) {
    id = H5Fopen(file->path, *open_flags, access);
  } else {
    hid_t creation = creation_list(user_block);
    if (creation >= 0) {
      id = H5Fcreate(file->path, H5F_ACC_TRUNC, creation, access);
      gpumc_hdf5_release(creation);
    }
  }
  gpumc_hdf5_release(access);
  file->fault.only_file = id >= 0;
  return id;
}

/* Takes over `id`, that of `*file`, which is freed if `id` is invalid. `what`: "create" or
 * "open". */
static enum gpumc_status
adopt(struct gpumc_hdf5_file **file, hid_t id, const char *what, struct gpumc_error *error)
{
  (*file)->id = id;
  if (id >= 0)
    return GPUMC_OK;
  const enum gpumc_status status = gpumc_hdf5_error(*file, error, "%s the file", what);
  free_file(*file);
  *file = NULL;
  return status;
}

enum gpumc_status gpumc_hdf5_create(const char *path, hsize_t user_block, const char *mark,
                                    struct gpumc_hdf5_file **file, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  GPUMC_TRY(make_file(path, file, error));
  return adopt(file, create_or_open(*file, NULL, user_block, mark), "create", error);
}

static unsigned open_flags_of(enum gpumc_hdf5_mode mode)
{
  switch (mode) {
  case GPUMC_HDF5_READ:
    break;
  case GPUMC_HDF5_READ_LIVE:
    return H5F_ACC_RDONLY | H5F_ACC_SWMR_READ;
  case GPUMC_HDF5_WRITE:
    return H5F_ACC_RDWR;
  case GPUMC_HDF5_WRITE_LIVE:
    return H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE;
  }
  return H5F_ACC_RDONLY;
}

/* Returns whether a file that is only read belongs to a run that is not finished. */
static bool is_working_file(const char *path, enum gpumc_hdf5_mode mode)
{
  static const char suffix[] = ".partial";
  const size_t length = strlen(path), end = sizeof suffix - 1;
  return mode == GPUMC_HDF5_READ_LIVE ||
         (mode == GPUMC_HDF5_READ && length > end && strcmp(path + length - end, suffix) == 0);
}

enum gpumc_status gpumc_hdf5_open(const char *path, enum gpumc_hdf5_mode mode,
                                  struct gpumc_hdf5_file **file, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  unsigned flags = open_flags_of(mode);
  GPUMC_TRY(make_file(path, file, error));
  (*file)->working = is_working_file(path, mode);
  return adopt(file, create_or_open(*file, &flags, 0, NULL), "open", error);
}

enum gpumc_status gpumc_hdf5_close(struct gpumc_hdf5_file *file, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  if (H5Fclose(file->id) < 0) {
    enum gpumc_status status = gpumc_hdf5_error(file, error, "close the file");
    /* HDF5 still holds the file and thus the fault: both stay, and nothing more is written. */
    if (file->fault.code == 0) {
      file->fault.code = EIO;
      file->fault.operation = "close";
    }
    return status;
  }
  enum gpumc_status status = gpumc_hdf5_check(file, error);
  free_file(file);
  return status;
}

void gpumc_hdf5_discard(struct gpumc_hdf5_file *file)
{
  struct gpumc_error ignored = {0};
  if (file != NULL && gpumc_hdf5_close(file, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
}
