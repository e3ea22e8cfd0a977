/* The replicas of an ensemble and its generators to and from a checkpoint. */
#include "core/simulation/ensemble_checkpoint.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/model.h"

/* Replicas that are copied at once, and about how many bytes, unless one has more. */
enum { SLICE = 1024, SLICE_BYTES = 1 << 28 };

/* The replicas of all runs of the batch, run after run, on their way between ensemble and file. */
struct transfer {
  struct gpumc_ensemble *ensemble;
  uint32_t *size; /* [runs] */
  size_t most;    /* replicas of a slice */
  uint8_t *slice;
};

/* Copies the sizes of the populations, which the replicas follow. */
typedef enum gpumc_status
copy_sizes(struct transfer *transfer, void *file, struct gpumc_error *error);

/* Copies replicas `first` to `first + count` of run m, which stand at `row` in the file. */
typedef enum gpumc_status copy_slice(struct transfer *transfer, void *file, size_t m, size_t first,
                                     size_t count, size_t row, struct gpumc_error *error);

/* Replicas of a slice, at least one. */
static size_t slice_replicas(const struct gpumc_model *model, size_t capacity)
{
  const size_t fitting = SLICE_BYTES / model->portable_bytes;
  const size_t most = capacity < SLICE ? capacity : SLICE;
  return fitting == 0 ? 1 : fitting < most ? fitting : most;
}

double gpumc_ensemble_checkpoint_bytes(const struct gpumc_model *model, size_t capacity)
{
  return (double)slice_replicas(model, capacity) * (double)model->portable_bytes;
}

static enum gpumc_status transfer_begin(struct transfer *transfer, struct gpumc_ensemble *ensemble,
                                        struct gpumc_error *error)
{
  const size_t bytes = ensemble->model->portable_bytes;
  const size_t most = slice_replicas(ensemble->model, ensemble->plan.capacity);
  *transfer = (struct transfer){.ensemble = ensemble, .most = most};
  GPUMC_TRY(
      gpumc_allocate_array(&transfer->size, ensemble->runs + 1, "sizes of the populations", error));
  return gpumc_allocate_array(&transfer->slice, transfer->most * bytes, "replicas of a checkpoint",
                              error);
}

static void transfer_end(struct transfer *transfer)
{
  free(transfer->size);
  free(transfer->slice);
}

static size_t count_replicas(const struct transfer *transfer)
{
  size_t replicas = 0;
  for (size_t m = 0; m < transfer->ensemble->runs; m++)
    replicas += transfer->size[m];
  return replicas;
}

static enum gpumc_status
copy_replicas(struct transfer *transfer, copy_slice *copy, void *file, struct gpumc_error *error)
{
  size_t row = 0;
  for (size_t m = 0; m < transfer->ensemble->runs; m++)
    for (size_t first = 0; first < transfer->size[m]; first += transfer->most) {
      size_t left = transfer->size[m] - first;
      size_t count = left < transfer->most ? left : transfer->most;
      GPUMC_TRY(copy(transfer, file, m, first, count, row, error));
      row += count;
    }
  return GPUMC_OK;
}

static enum gpumc_status save_slice(struct transfer *transfer, void *writer, size_t m, size_t first,
                                    size_t count, size_t row, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  GPUMC_TRY(ensemble->ops->get(ensemble, m, first, count, transfer->slice, error));
  return gpumc_checkpoint_put_rows(writer, "ensemble/replicas", row, count, transfer->slice, error);
}

static enum gpumc_status load_slice(struct transfer *transfer, void *reader, size_t m, size_t first,
                                    size_t count, size_t row, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "ensemble/replicas", GPUMC_UINT8, row, count,
                                      ensemble->model->portable_bytes, transfer->slice, error));
  return ensemble->ops->set(ensemble, m, first, count, transfer->slice, error);
}

static enum gpumc_status
save_sizes(struct transfer *transfer, void *writer, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  GPUMC_TRY(gpumc_ensemble_get_sizes(ensemble, transfer->size, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "ensemble/sizes", GPUMC_UINT32, ensemble->runs, 1,
                                 transfer->size, error));
  return gpumc_checkpoint_declare(writer, "ensemble/replicas", GPUMC_UINT8,
                                  count_replicas(transfer), ensemble->model->portable_bytes, error);
}

static enum gpumc_status check_sizes(const struct transfer *transfer, struct gpumc_error *error)
{
  for (size_t m = 0; m < transfer->ensemble->runs; m++)
    if (transfer->size[m] > transfer->ensemble->plan.capacity)
      return gpumc_error_set(error, GPUMC_FAILURE, "%u replicas, more than there is room for",
                             transfer->size[m]);
  return GPUMC_OK;
}

static enum gpumc_status
load_sizes(struct transfer *transfer, void *reader, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "ensemble/sizes", GPUMC_UINT32, 0, ensemble->runs, 1,
                                      transfer->size, error));
  GPUMC_TRY(check_sizes(transfer, error));
  return gpumc_ensemble_set_sizes(ensemble, transfer->size, error);
}

/* All replicas into the file or out of it. */
static enum gpumc_status transfer_replicas(struct gpumc_ensemble *ensemble, copy_sizes *sizes,
                                           copy_slice *slice, void *file, struct gpumc_error *error)
{
  struct transfer transfer;
  if (ensemble->runs == 0)
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, transfer_begin(&transfer, ensemble, error));
  GPUMC_TRY_OUT(status, sizes(&transfer, file, error));
  status = copy_replicas(&transfer, slice, file, error);
out:
  transfer_end(&transfer);
  return status;
}

/* Bytes of a run's state of generators, 0 where there is none to save. */
static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_kernel_ops *ops = ensemble->ops;
  return ensemble->runs > 0 && ops->state_bytes != NULL ? ops->state_bytes(ensemble) : 0;
}

/* Copies the state of run m, so many bytes, by way of `state`. */
typedef enum gpumc_status copy_state(struct gpumc_ensemble *ensemble, void *file, size_t m,
                                     size_t bytes, uint8_t *state, struct gpumc_error *error);

static enum gpumc_status copy_generators(struct gpumc_ensemble *ensemble, copy_state *copy,
                                         void *file, size_t bytes, struct gpumc_error *error)
{
  uint8_t *state = NULL;
  enum gpumc_status status = gpumc_allocate_array(&state, bytes, "state of generators", error);
  for (size_t m = 0; m < ensemble->runs && status == GPUMC_OK; m++)
    status = copy(ensemble, file, m, bytes, state, error);
  free(state);
  return status;
}

static enum gpumc_status save_state(struct gpumc_ensemble *ensemble, void *writer, size_t m,
                                    size_t bytes, uint8_t *state, struct gpumc_error *error)
{
  (void)bytes;
  GPUMC_TRY(ensemble->ops->get_state(ensemble, m, state, error));
  return gpumc_checkpoint_put_rows(writer, "ensemble/generators", m, 1, state, error);
}

static enum gpumc_status load_state(struct gpumc_ensemble *ensemble, void *reader, size_t m,
                                    size_t bytes, uint8_t *state, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "ensemble/generators", GPUMC_UINT8, m, 1, bytes,
                                      state, error));
  return ensemble->ops->set_state(ensemble, m, state, error);
}

static enum gpumc_status save_generators(struct gpumc_ensemble *ensemble,
                                         struct gpumc_checkpoint_writer *writer,
                                         struct gpumc_error *error)
{
  const size_t bytes = state_bytes(ensemble);
  if (bytes == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_checkpoint_declare(writer, "ensemble/generators", GPUMC_UINT8, ensemble->runs,
                                     bytes, error));
  return copy_generators(ensemble, save_state, writer, bytes, error);
}

enum gpumc_status gpumc_ensemble_save(struct gpumc_ensemble *ensemble,
                                      struct gpumc_checkpoint_writer *writer,
                                      struct gpumc_error *error)
{
  GPUMC_TRY(transfer_replicas(ensemble, save_sizes, save_slice, writer, error));
  return save_generators(ensemble, writer, error);
}

enum gpumc_status gpumc_ensemble_load(struct gpumc_ensemble *ensemble,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  const size_t bytes = state_bytes(ensemble);
  GPUMC_TRY(transfer_replicas(ensemble, load_sizes, load_slice, reader, error));
  return bytes > 0 ? copy_generators(ensemble, load_state, reader, bytes, error) : GPUMC_OK;
}
