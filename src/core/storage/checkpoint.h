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
 * numbers than the one that wrote it, which neither configuration nor trajectory shows. */
enum { GPUMC_CHECKPOINT_VERSION = 5 };

/* What a checkpoint begins with, one that is just being written too. */
#define GPUMC_CHECKPOINT_MARK "gpumc-checkpoint"

enum gpumc_element { GPUMC_UINT8, GPUMC_UINT32, GPUMC_INT64, GPUMC_UINT64, GPUMC_FLOAT64 };

struct gpumc_checkpoint_writer;
struct gpumc_checkpoint_reader;

/* Start PATH.new. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_begin(const char *path,
                                                          struct gpumc_checkpoint_writer **writer,
                                                          struct gpumc_error *error);
/* Of a process that takes part in a checkpoint that another one writes: nothing is written. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_begin_silent(struct gpumc_checkpoint_writer **writer, struct gpumc_error *error);
/* Of one that others take part in: what fails is reported by the commit, so that until then all do
 * the same. */
void gpumc_checkpoint_defer(struct gpumc_checkpoint_writer *writer);
/* A whole array [rows, width]. `name` may hold '/'. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_put(struct gpumc_checkpoint_writer *writer, const char *name,
                     enum gpumc_element element, size_t rows, size_t width, const void *values,
                     struct gpumc_error *error);
/* The same in slices: declare [rows, width], then fill rows first .. first+count-1. */
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
/* Close, checksum, fsync, rename, fsync the directory; frees the writer, also on failure (the
 * checkpoint before then stays). */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_commit(struct gpumc_checkpoint_writer *writer, struct gpumc_error *error);
/* Fill in the user block of a closed file and bring it all to the disk: what a commit does, for
 * tests that change checkpoints on purpose. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_seal(const char *path, struct gpumc_error *error);
/* Give up: removes PATH.new, frees. Legal on NULL. */
void gpumc_checkpoint_abandon(struct gpumc_checkpoint_writer *writer);

/* Verify and open. GPUMC_FAILURE: not there, not one of ours, another version, damaged (says
 * which). */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_open(const char *path,
                                                         struct gpumc_checkpoint_reader **reader,
                                                         struct gpumc_error *error);
/* The same, but of the contents only what is read later, unverified: a large checkpoint costs
 * next to nothing, and damage inside may pass. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_peek(const char *path,
                                                         struct gpumc_checkpoint_reader **reader,
                                                         struct gpumc_error *error);
/* From here on all processes read together, in the same order, what the root has open; the others
 * come with NULL and get a reader of theirs. A failure is that of all. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_share(struct gpumc_checkpoint_reader **reader,
                                                          const struct gpumc_processes *processes,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_shape(struct gpumc_checkpoint_reader *reader,
                                                          const char *name, size_t *rows,
                                                          size_t *width, struct gpumc_error *error);
/* Rows first .. first+count-1 of an array that must have this element type and width. */
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

/* ---- the arrays that a state consists of, listed once, to and from a checkpoint ---- */

struct gpumc_device;

/* values[rows][width]. */
struct gpumc_part {
  const char *name;
  enum gpumc_element element;
  size_t rows, width;
  void *values;
};

size_t gpumc_element_bytes(enum gpumc_element element);

/* Each as the array PREFIX/name. `device`: whose memory the values are; NULL: the host's. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    const char *prefix, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    const char *prefix, struct gpumc_error *error);

#endif
