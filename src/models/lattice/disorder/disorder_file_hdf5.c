/* Samples of quenched disorder in an HDF5 file: datasets couplings[samples][sites][dimension],
 * shape[dimension] and, if there are random fields, fields[samples][sites], in the root or in the
 * group /disorder, where a result has them. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/result_info.h"
#include "models/lattice/disorder/disorder.h"

/* ROOM: numbers that are read at a time. */
enum { RANK_MAXIMUM = 3, ROOM = 1 << 19 };

static hid_t open_dataset(const struct gpumc_hdf5_file *file, hid_t group, const char *name,
                          struct gpumc_error *error)
{
  bool found;
  if (gpumc_hdf5_find(file, group, name, &found, error) != GPUMC_OK)
    return H5I_INVALID_HID;
  if (!found) {
    (void)gpumc_error_set(error, GPUMC_INVALID, "%s: holds no dataset %s", file->path, name);
    return H5I_INVALID_HID;
  }
  return gpumc_hdf5_open_dataset(file, group, name, error);
}

/* Returns whether floating-point numbers are those of IEEE 754 with 16, 32 or 64 bits, or the
 * machine's own long ones. HDF5 would convert anything that a damaged type may declare, to other
 * numbers. */
static bool is_usual_real(hid_t type)
{
  static const struct {
    size_t bytes, exponent, mantissa, bias;
  } usual[] = {{2, 5, 10, 15}, {4, 8, 23, 127}, {8, 11, 52, 1023}};
  size_t sign, exponent_at, exponent, mantissa_at, mantissa;
  if (H5Tequal(type, H5T_NATIVE_LDOUBLE) > 0)
    return true;
  if (H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa) < 0 ||
      H5Tget_norm(type) != H5T_NORM_IMPLIED || mantissa_at != 0)
    return false;
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
    if (H5Tget_size(type) == usual[i].bytes)
      return sign == 8 * usual[i].bytes - 1 && exponent_at == usual[i].mantissa &&
             exponent == usual[i].exponent && mantissa == usual[i].mantissa &&
             H5Tget_ebias(type) == usual[i].bias;
  return false;
}

static bool holds_numbers(hid_t data)
{
  hid_t type = H5Dget_type(data);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  const bool whole = class != H5T_NO_CLASS && H5Tget_offset(type) == 0 &&
                     H5Tget_precision(type) == 8 * H5Tget_size(type);
  const bool numbers = class == H5T_INTEGER ? whole : class == H5T_FLOAT && is_usual_real(type);
  gpumc_hdf5_release(type);
  return numbers;
}

/* Returns whether a dataset holds numbers in an array of this rank, and its extent. */
static bool has_rank(hid_t data, int rank, hsize_t extent[RANK_MAXIMUM])
{
  hid_t space = H5Dget_space(data);
  const bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                    H5Sget_simple_extent_dims(space, extent, NULL) == rank;
  gpumc_hdf5_release(space);
  return fits && holds_numbers(data);
}

/* The requirements on a dataset. */
struct wanted {
  const char *name, *layout; /* "couplings", "[samples][sites][dimension]" */
  int rank;
  size_t extent[RANK_MAXIMUM]; /* 0: any but 0 */
};

static bool has_extent(hid_t data, const struct wanted *wanted, hsize_t extent[RANK_MAXIMUM])
{
  if (!has_rank(data, wanted->rank, extent))
    return false;
  for (int d = 0; d < wanted->rank; d++)
    if (wanted->extent[d] == 0 ? extent[d] == 0 : extent[d] != wanted->extent[d])
      return false;
  return true;
}

/* Appends "numbers [1][24][2]", "a single number", "other values [4]". */
static void append_found(struct gpumc_text *text, hid_t data)
{
  hsize_t extent[H5S_MAX_RANK];
  hid_t space = H5Dget_space(data);
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, extent, NULL);
  const bool single = rank == 0 && H5Sget_simple_extent_type(space) == H5S_SCALAR;
  gpumc_hdf5_release(space);
  if (!holds_numbers(data))
    gpumc_text_append(text, rank > 0 ? "other values " : "other values");
  else
    gpumc_text_append(text, single ? "a single number" : rank > 0 ? "numbers " : "nothing");
  for (int d = 0; d < rank; d++)
    gpumc_text_append(text, "[%llu]", (unsigned long long)extent[d]);
}

static enum gpumc_status refuse_extent(const struct gpumc_hdf5_file *file, hid_t data,
                                       const struct wanted *wanted, struct gpumc_error *error)
{
  struct gpumc_text sizes = {0}, found = {0};
  for (int d = 0; d < wanted->rank; d++)
    if (wanted->extent[d] == 0)
      gpumc_text_append(&sizes, "[any]");
    else
      gpumc_text_append(&sizes, "[%zu]", wanted->extent[d]);
  append_found(&found, data);
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID, "%s: the dataset %s must hold numbers %s, here %s, but holds %s",
      file->path, wanted->name, wanted->layout, gpumc_text_string(&sizes),
      gpumc_text_string(&found));
  gpumc_text_free(&sizes);
  gpumc_text_free(&found);
  return status;
}

static enum gpumc_status check_values(const struct gpumc_hdf5_file *file, const char *name,
                                      size_t at, const double *values, size_t count,
                                      struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    if (!(fabs(values[i]) <= LATTICE_FILE_LARGEST))
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: element %zu of the dataset %s is %g, beyond +-%g", file->path,
                             at + i, name, values[i], LATTICE_FILE_LARGEST);
  return GPUMC_OK;
}

/* Opens a dataset that meets the requirements, or refuses it: GPUMC_INVALID. */
static enum gpumc_status open_wanted(const struct gpumc_hdf5_file *file, hid_t group,
                                     const struct wanted *wanted, hid_t *data,
                                     hsize_t extent[RANK_MAXIMUM], struct gpumc_error *error)
{
  size_t count = 1;
  *data = open_dataset(file, group, wanted->name, error);
  if (*data < 0)
    return GPUMC_INVALID;
  if (!has_extent(*data, wanted, extent))
    return refuse_extent(file, *data, wanted, error);
  for (int d = 0; d < wanted->rank; d++)
    if (__builtin_mul_overflow(count, (size_t)extent[d], &count))
      return refuse_extent(file, *data, wanted, error);
  return gpumc_hdf5_check_written(file, *data, wanted->name, error) == GPUMC_OK ? GPUMC_OK
                                                                                : GPUMC_INVALID;
}

/* A part of a dataset, in the order of its elements. */
struct slab {
  hsize_t start[RANK_MAXIMUM], count[RANK_MAXIMUM];
};

static enum gpumc_status read_slab(const struct gpumc_hdf5_file *file, hid_t data, const char *name,
                                   int rank, const struct slab *slab, double *values,
                                   struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hid_t there = H5Dget_space(data), here = H5Screate_simple(rank, slab->count, NULL);
  if (there < 0 || here < 0 ||
      H5Sselect_hyperslab(there, H5S_SELECT_SET, slab->start, NULL, slab->count, NULL) < 0 ||
      H5Dread(data, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values) < 0) {
    (void)gpumc_hdf5_error(file, error, "read %s", name);
    status = GPUMC_INVALID;
  }
  gpumc_hdf5_release(there);
  gpumc_hdf5_release(here);
  return status;
}

/* Where values go. */
struct target {
  struct lattice_samples_pass *pass;
  enum lattice_file_kind kind;
  double *room; /* [ROOM] */
};

static hsize_t fewer(hsize_t a, hsize_t b)
{
  return a < b ? a : b;
}

/* Reads numbers by whole rows, as many as there is room for, or by parts of one: by sites, with all
 * directions of each. */
static enum gpumc_status read_rows(const struct gpumc_hdf5_file *file, hid_t data,
                                   const struct wanted *wanted, const hsize_t *extent,
                                   const struct target *target, struct gpumc_error *error)
{
  const hsize_t of_site = wanted->rank == 3 ? extent[2] : 1, of_row = extent[1] * of_site;
  const hsize_t rows = of_row < ROOM ? ROOM / of_row : 1;
  const hsize_t sites = fewer(extent[1], ROOM / of_site);
  const struct lattice_samples_pass *pass = target->pass;
  const hsize_t end = pass->all ? extent[0] : fewer(extent[0], pass->end);
  struct slab slab = {.count = {0, 0, of_site}};
  for (hsize_t row = pass->all ? 0 : pass->begin; row < end; row += slab.count[0]) {
    slab.start[0] = row;
    slab.count[0] = fewer(rows, end - row);
    for (hsize_t site = 0; site < extent[1]; site += slab.count[1]) {
      slab.start[1] = site;
      slab.count[1] = fewer(sites, extent[1] - site);
      const size_t at = (size_t)(row * of_row + site * of_site);
      const size_t count = (size_t)(slab.count[0] * slab.count[1] * of_site);
      GPUMC_TRY(read_slab(file, data, wanted->name, wanted->rank, &slab, target->room, error));
      GPUMC_TRY(check_values(file, wanted->name, at, target->room, count, error));
      GPUMC_TRY(target->pass->take(target->pass, target->kind, at, target->room, count, error));
    }
  }
  return GPUMC_OK;
}

/* `first`: the extent of the first dimension. */
static enum gpumc_status read_dataset(const struct gpumc_hdf5_file *file, hid_t group,
                                      const struct wanted *wanted, const struct target *target,
                                      size_t *first, struct gpumc_error *error)
{
  hsize_t extent[RANK_MAXIMUM];
  hid_t data;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_wanted(file, group, wanted, &data, extent, error));
  GPUMC_TRY_OUT(status, read_rows(file, data, wanted, extent, target, error));
  *first = (size_t)extent[0];
out:
  gpumc_hdf5_release(data);
  return status;
}

static enum gpumc_status check_shape(const struct gpumc_hdf5_file *file, hid_t group,
                                     const size_t *shape, size_t dimension,
                                     struct gpumc_error *error)
{
  const struct wanted wanted = {"shape", "[dimension]", 1, {dimension}};
  const struct slab all = {.count = {dimension}};
  double sides[LATTICE_DIMENSIONS_MAXIMUM];
  hsize_t extent[RANK_MAXIMUM];
  char text[LATTICE_SHAPE_BYTES];
  bool same = true;
  hid_t data;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_wanted(file, group, &wanted, &data, extent, error));
  GPUMC_TRY_OUT(status, read_slab(file, data, wanted.name, wanted.rank, &all, sides, error));
  GPUMC_TRY_OUT(status, check_values(file, wanted.name, 0, sides, dimension, error));
  for (size_t d = 0; d < dimension; d++)
    same = same && sides[d] >= (double)shape[d] && sides[d] <= (double)shape[d];
  if (!same)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the dataset shape does not match the lattice of the model, %s",
                             file->path, lattice_shape_text(dimension, shape, text));
out:
  gpumc_hdf5_release(data);
  return status;
}

static enum gpumc_status read_values(const struct gpumc_hdf5_file *file, hid_t group,
                                     struct lattice_samples_pass *pass, double *room,
                                     struct gpumc_error *error)
{
  const struct lattice_samples_file *samples = pass->file;
  const struct wanted couplings = {
      "couplings", "[samples][sites][dimension]", 3, {0, samples->sites, samples->dimension}};
  struct target target = {pass, LATTICE_FILE_COUPLINGS, room};
  size_t same;
  bool has_fields = false;
  GPUMC_TRY(read_dataset(file, group, &couplings, &target, &pass->samples, error));
  if (gpumc_hdf5_find(file, group, "fields", &has_fields, error) != GPUMC_OK)
    return GPUMC_INVALID;
  if (!has_fields)
    return GPUMC_OK;
  const struct wanted fields = {"fields", "[samples][sites]", 2, {pass->samples, samples->sites}};
  target.kind = LATTICE_FILE_FIELDS;
  return read_dataset(file, group, &fields, &target, &same, error);
}

static enum gpumc_status read_group(const struct gpumc_hdf5_file *file, hid_t group,
                                    struct lattice_samples_pass *pass, struct gpumc_error *error)
{
  double *room = NULL;
  GPUMC_TRY(check_shape(file, group, pass->file->shape, pass->file->dimension, error));
  GPUMC_TRY(gpumc_allocate_array(&room, ROOM, "a block of couplings", error));
  const enum gpumc_status status = read_values(file, group, pass, room, error);
  free(room);
  return status;
}

enum gpumc_status
lattice_samples_read_hdf5(struct lattice_samples_pass *pass, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  struct gpumc_hdf5_file *file = NULL;
  if (!pass->file->verified && gpumc_result_check_source(pass->file->path, error) != GPUMC_OK)
    return GPUMC_INVALID;
  pass->file->verified = true;
  if (gpumc_hdf5_open(pass->file->path, GPUMC_HDF5_READ, &file, error) != GPUMC_OK)
    return GPUMC_INVALID;
  bool in_group = false;
  hid_t group = H5I_INVALID_HID;
  enum gpumc_status status = GPUMC_INVALID;
  if (gpumc_hdf5_find(file, file->id, "disorder", &in_group, error) == GPUMC_OK)
    group = gpumc_hdf5_open_group(file, file->id, in_group ? "disorder" : "/", error);
  if (group >= 0)
    status = read_group(file, group, pass, error);
  gpumc_hdf5_release(group);
  gpumc_hdf5_discard(file);
  return status;
}
