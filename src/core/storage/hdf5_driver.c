/* The file driver: POSIX calls, and a record of the first that failed. */
#include "core/storage/hdf5_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "core/base/files.h"
#include "core/storage/hdf5_file.h"

/* Checks whether a piece of an HDF5 file can be handed to the library safely.
 *
 * All metadata of the newest file format carry checksums, except the global heap, where texts of
 * variable length are stored. HDF5 1.10 trusts the sizes there, and crashes or hangs if they are
 * damaged; so we check first. */

/* Collection: signature, version, three zeros, total size. Object: index, references, four zeros,
 * size of the data, which are padded to a multiple of eight. Index 0 is free space and comes last;
 * its size includes its header. */
enum { HEADER_BYTES = 16, SIZE_AT = 8, RESERVED_AT = 4, PADDING = 8, MOST_INDICES = 65536 };

static uint64_t number_at(const unsigned char *bytes, size_t size)
{
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return value;
}

/* Returns whether the object at `offset` is sound; *next becomes the offset of the one after it. */
static bool object_is_sound(const unsigned char *bytes, uint64_t offset, uint64_t collection,
                            unsigned char seen[MOST_INDICES / 8], uint64_t *next)
{
  const unsigned char *object = bytes + offset;
  uint64_t index = number_at(object, 2);
  uint64_t size = number_at(object + SIZE_AT, 8);
  *next = collection;
  if (index == 0)
    return size == collection - offset;
  if (number_at(object + RESERVED_AT, 4) != 0 || size > collection - offset - HEADER_BYTES ||
      (seen[index / 8] >> index % 8 & 1) != 0)
    return false;
  seen[index / 8] = (unsigned char)(seen[index / 8] | 1 << index % 8);
  *next = offset + HEADER_BYTES + (size + PADDING - 1) / PADDING * PADDING;
  return *next <= collection;
}

/* Returns false if `bytes`, read from one place of a file, are the beginning of a global heap
 * collection whose objects do not fill it exactly, one after the other; true for everything else.
 * Format: "HDF5 File Format Specification", III.E. */
static bool heap_is_sound(const void *bytes, size_t count)
{
  unsigned char seen[MOST_INDICES / 8] = {0};
  const unsigned char *heap = bytes;
  if (count < HEADER_BYTES || memcmp(heap, "GCOL\1\0\0\0", SIZE_AT) != 0)
    return true;
  uint64_t collection = number_at(heap + SIZE_AT, 8);
  if (collection < HEADER_BYTES || collection > INT64_MAX)
    return false;
  uint64_t offset = HEADER_BYTES;
  while (offset + HEADER_BYTES <= collection && offset + HEADER_BYTES <= count)
    if (!object_is_sound(heap, offset, collection, seen, &offset))
      return false;
  return true;
}

/* ---- the driver ---- */

/* The contents of the access list. */
struct settings {
  struct gpumc_file_fault *fault;
  const char *mark;
};

/* `eoa`, `eof`: ends of the space that HDF5 has allocated and of the file as HDF5 sees it, in
 * bytes. */
struct driver_file {
  H5FD_t base; /* must be first: HDF5 knows only this part */
  int descriptor;
  bool only_read;
  haddr_t eoa, eof;
  struct gpumc_file_fault *fault;
};

static void record(struct gpumc_file_fault *fault, const char *operation)
{
  if (fault->code == 0) {
    fault->code = errno;
    fault->operation = operation;
  }
}

static int posix_flags(unsigned flags)
{
  int posix = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  posix |= (flags & H5F_ACC_TRUNC) != 0 ? O_TRUNC : 0;
  posix |= (flags & H5F_ACC_CREAT) != 0 ? O_CREAT : 0;
  posix |= (flags & H5F_ACC_EXCL) != 0 ? O_EXCL : 0;
  /* A new file is created under exactly this name. */
  posix |= (flags & H5F_ACC_CREAT) != 0 ? O_NOFOLLOW : 0;
  return posix;
}

static int write_mark(int descriptor, unsigned flags, const char *mark)
{
  return mark != NULL && (flags & H5F_ACC_TRUNC) != 0
             ? gpumc_write_all_at(descriptor, mark, strlen(mark), 0)
             : 0;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access_list, haddr_t maximum)
{
  const struct settings *settings = H5Pget_driver_info(access_list);
  struct driver_file *file = calloc(1, sizeof *file);
  struct stat found;
  const char *reason = NULL;
  (void)maximum;
  if (settings == NULL || file == NULL || settings->fault->only_file) {
    if (settings != NULL && file == NULL)
      record(settings->fault, "open");
    free(file);
    return NULL;
  }
  file->fault = settings->fault;
  file->descriptor = gpumc_regular_open(name, posix_flags(flags), &reason);
  if (file->descriptor >= 0 && write_mark(file->descriptor, flags, settings->mark) == 0 &&
      fstat(file->descriptor, &found) == 0) {
    file->only_read = (flags & H5F_ACC_RDWR) == 0;
    /* A newly created file is empty to HDF5, whatever mark it has. */
    file->eof = (flags & H5F_ACC_TRUNC) != 0 ? 0 : (haddr_t)found.st_size;
    /* HDF5 tries several ways to open a file; only the last one counts. */
    file->fault->code = 0;
    file->fault->reason = NULL;
    return &file->base;
  }
  record(file->fault, "open");
  if (file->descriptor < 0 && file->fault->reason == NULL)
    file->fault->reason = reason;
  if (file->descriptor >= 0)
    close(file->descriptor);
  free(file);
  return NULL;
}

static herr_t driver_close(H5FD_t *base)
{
  struct driver_file *file = (struct driver_file *)base;
  if (close(file->descriptor) != 0 && errno != EINTR)
    record(file->fault, "close");
  free(file);
  return 0;
}

static herr_t driver_query(const H5FD_t *base, unsigned long *flags)
{
  (void)base;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
           H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type)
{
  (void)type;
  return ((const struct driver_file *)base)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t address)
{
  (void)type;
  ((struct driver_file *)base)->eoa = address;
  return 0;
}

static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type)
{
  (void)type;
  return ((const struct driver_file *)base)->eof;
}

/* Reads as many of `count` bytes as there are before the end of the file, and zeros beyond it.
 * Returns the number of bytes that there are; negative on failure. */
static ssize_t read_all(struct driver_file *file, haddr_t address, size_t count, char *bytes)
{
  size_t done = 0;
  while (done < count) {
    ssize_t got = pread(file->descriptor, bytes + done, count - done, (off_t)(address + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    done += (size_t)got;
  }
  memset(bytes + done, 0, count - done);
  return (ssize_t)done;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t count, void *buffer)
{
  struct driver_file *file = (struct driver_file *)base;
  (void)transfer;
  if (address > INT64_MAX || count > INT64_MAX - address)
    return -1;
  const ssize_t found = read_all(file, address, count, buffer);
  if (found < 0) {
    record(file->fault, "read");
    return -1;
  }
  /* HDF5 asks for global heaps as if they were raw data. */
  bool may_be_heap = type == H5FD_MEM_DRAW || type == H5FD_MEM_GHEAP;
  if (may_be_heap && !heap_is_sound(buffer, count))
    return -1;
  /* HDF5 asks for more metadata than there are, but numbers that a reader finds described are in
   * the file: without their end it was cut off, and they are not zeros. */
  if (type == H5FD_MEM_DRAW && file->only_read && (size_t)found < count) {
    if (file->fault->code == 0)
      *file->fault =
          (struct gpumc_file_fault){EIO, "read", "its end is missing", file->fault->only_file};
    return -1;
  }
  return 0;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t count, const void *bytes)
{
  struct driver_file *file = (struct driver_file *)base;
  (void)type;
  (void)transfer;
  if (file->fault->code == 0 &&
      gpumc_write_all_at(file->descriptor, bytes, count, (long long)address) != 0)
    record(file->fault, "write");
  if (address + count > file->eof)
    file->eof = address + count;
  return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t transfer, hbool_t closing)
{
  struct driver_file *file = (struct driver_file *)base;
  (void)transfer;
  (void)closing;
  if (file->eoa == file->eof)
    return 0;
  if (file->fault->code == 0 && ftruncate(file->descriptor, (off_t)file->eoa) != 0)
    record(file->fault, "resize");
  file->eof = file->eoa;
  return 0;
}

static herr_t driver_lock(H5FD_t *base, hbool_t exclusive)
{
  (void)base;
  (void)exclusive;
  return 0;
}

static herr_t driver_unlock(H5FD_t *base)
{
  (void)base;
  return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* in the range reserved for private use */
#endif
    .name = "gpumc",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(struct settings),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .lock = driver_lock,
    .unlock = driver_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

herr_t gpumc_hdf5_driver_use(hid_t access_list, struct gpumc_file_fault *fault, const char *mark)
{
  struct settings settings = {fault, mark};
  hid_t driver = H5FDregister(&driver_class);
  if (driver < 0)
    return -1;
  herr_t result = H5Pset_driver(access_list, driver, &settings);
  /* The list, and every file opened with it, holds the driver from here on. */
  H5FDunregister(driver);
  return result;
}
