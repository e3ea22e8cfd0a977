/* Checkpoints: one self-describing file, replaced atomically.
 *
 * An HDF5 file whose user block of 512 bytes holds magic, format version, length and a checksum of
 * everything after it; verified before HDF5 sees a byte. Named arrays of a few types. Written as
 * PATH.new, fsynced, renamed to PATH, the directory fsynced.
 *
 * A program that uses it calls gpumc_hdf5_prepare_program() (hdf5_file.h) first thing in main(). */
#ifndef GPUMC_CORE_CHECKPOINT_H
#define GPUMC_CORE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/processes/processes.h"

/* Raised when the layout changes, and when a program would continue the same state with other
 * numbers than the one that wrote it although neither configuration nor trajectory id shows
 * this. */
enum { GPUMC_CHECKPOINT_VERSION = 5 };

/* The first bytes of a checkpoint, even while it is being written. */
#define GPUMC_CHECKPOINT_MARK "gpumc-checkpoint"

enum gpumc_element { GPUMC_UINT8, GPUMC_UINT32, GPUMC_INT64, GPUMC_UINT64, GPUMC_FLOAT64 };

struct gpumc_checkpoint_writer;
struct gpumc_checkpoint_reader;

/* Starts PATH.new. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_begin(const char *path,
                                                          struct gpumc_checkpoint_writer **writer,
                                                          struct gpumc_error *error);
/* For a process that takes part in a checkpoint that another one writes: writes nothing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_begin_silent(struct gpumc_checkpoint_writer **writer, struct gpumc_error *error);
/* For the process that writes while others take part: failures are reported by the commit, so that
 * all processes do the same until then. */
void gpumc_checkpoint_defer(struct gpumc_checkpoint_writer *writer);
/* Writes a whole array [rows, width]. `name` may contain '/'. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_put(struct gpumc_checkpoint_writer *writer, const char *name,
                     enum gpumc_element element, size_t rows, size_t width, const void *values,
                     struct gpumc_error *error);
/* The same in slices: declare [rows, width], then write rows first .. first+count-1. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_declare(struct gpumc_checkpoint_writer *writer, const char *name,
                         enum gpumc_element element, size_t rows, size_t width,
                         struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_put_rows(struct gpumc_checkpoint_writer *writer, const char *name, size_t first,
                          size_t count, const void *values, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_put_text(struct gpumc_checkpoint_writer *writer,
                                                             const char *name, const char *text,
                                                             struct gpumc_error *error);
/* Closes, adds the checksum, fsyncs, renames and fsyncs the directory; frees the writer, also on
 * failure (the previous checkpoint is then kept). */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_commit(struct gpumc_checkpoint_writer *writer, struct gpumc_error *error);
/* Fills in the user block of a closed file and forces it to the disk, as a commit does; for tests
 * that change checkpoints on purpose. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_seal(const char *path, struct gpumc_error *error);
/* Gives up: removes PATH.new and frees. Legal on NULL. */
void gpumc_checkpoint_abandon(struct gpumc_checkpoint_writer *writer);

/* Verifies and opens. GPUMC_FAILURE: missing, not one of ours, another version, or damaged (the
 * message says which). */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_open(const char *path,
                                                         struct gpumc_checkpoint_reader **reader,
                                                         struct gpumc_error *error);
/* The same, but reads only the contents that are requested later, unverified: fast even for a large
 * checkpoint, but damage inside may go unnoticed. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_peek(const char *path,
                                                         struct gpumc_checkpoint_reader **reader,
                                                         struct gpumc_error *error);
/* From here on all processes read together, in the same order, from the file that the root has
 * open; the others pass NULL and receive a reader of their own. A failure in one is a failure in
 * all. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_share(struct gpumc_checkpoint_reader **reader,
                                                          const struct gpumc_processes *processes,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_shape(struct gpumc_checkpoint_reader *reader,
                                                          const char *name, size_t *rows,
                                                          size_t *width, struct gpumc_error *error);
/* Reads rows first .. first+count-1 of an array that must have this element type and width. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_get_rows(struct gpumc_checkpoint_reader *reader, const char *name,
                          enum gpumc_element element, size_t first, size_t count, size_t width,
                          void *values, struct gpumc_error *error);
/* Caller frees *text. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_get_text(struct gpumc_checkpoint_reader *reader,
                                                             const char *name, char **text,
                                                             struct gpumc_error *error);
/* Legal on NULL. */
void gpumc_checkpoint_close(struct gpumc_checkpoint_reader *reader);

/* ---- the arrays that make up a state, listed once, to and from a checkpoint ---- */

struct gpumc_device;

/* values[rows][width]. */
struct gpumc_part {
  const char *name;
  enum gpumc_element element;
  size_t rows, width;
  void *values;
};

size_t gpumc_element_bytes(enum gpumc_element element);

/* Saves each as the array PREFIX/name. `device`: the one whose memory holds the values; NULL: the
 * host. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    const char *prefix, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    const char *prefix, struct gpumc_error *error);

#endif
