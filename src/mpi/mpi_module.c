/* Messages between processes by MPI: a module that core/processes opens. Compiled once for each
 * available MPI; it needs nothing of the program but two headers.
 *
 * Processes that wait for long sleep: they may have less to do than others for seconds, and would
 * keep cores busy that the others compute on. */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "core/base/module_note.h"
#include "core/processes/processes_module.h"

#ifdef OPEN_MPI
static const char mpi_name[] = "Open MPI";
#else
static const char mpi_name[] = "MPICH";
#endif

GPUMC_MODULE_NOTE(GPUMC_NOTE_MPI, GPUMC_MODULE_INTERFACE);

struct own {
  int rank, size;
  size_t message_bytes; /* of the longest message */
};

/* ---- the end ---- */

/* Time for a launcher to forward the message: what it has not forwarded when the processes end is
 * lost. */
static const struct timespec forwarding = {.tv_nsec = 300000000};

static void say_and_abort(const char *message, int code)
{
  char host[65] = "an unknown host";
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  (void)gethostname(host, sizeof host - 1);
  fprintf(stderr, "gpumc: error: process %d of %d on %s: %s\n", rank, size, host, message);
  fflush(stderr);
  nanosleep(&forwarding, NULL);
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

static void on_error(MPI_Comm *communicator, int *code, ...)
{
  char text[MPI_MAX_ERROR_STRING] = "MPI failed", message[MPI_MAX_ERROR_STRING + 8];
  int length = 0;
  (void)communicator;
  MPI_Error_string(*code, text, &length);
  text[strcspn(text, "\n")] = '\0';
  snprintf(message, sizeof message, "MPI: %s", text);
  say_and_abort(message, 1);
}

static void abandon(void *own, int code, const char *message)
{
  (void)own;
  say_and_abort(message, code);
}

/* ---- waiting ---- */

/* Set when the module is opened: there are more processes on this host than processors. */
static bool is_crowded;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A nap takes 50 us longer than requested, and steps of a GPU would wait for it: a process stays
 * awake for the time of many steps before it sleeps, unless others need the processor. */
static void wait_for(int count, MPI_Request *requests)
{
  static const long longest_nap = 250000; /* ns */
  const double awake_until = seconds() + (is_crowded ? 0.0002 : 0.02);
  struct timespec nap = {.tv_nsec = 1000};
  MPI_Status status;
  for (int ended = 0, done = 0; ended < count; ended += done) {
    MPI_Test(&requests[ended], &done, &status);
    if (done)
      continue;
    if (seconds() < awake_until) {
      sched_yield();
    } else {
      nanosleep(&nap, NULL);
      nap.tv_nsec = nap.tv_nsec < longest_nap / 2 ? 2 * nap.tv_nsec : longest_nap;
    }
  }
}

/* ---- operations ---- */

/* Returns how many elements of `element` bytes are sent at once. */
static size_t piece(const struct own *own, size_t left, size_t element)
{
  const size_t most = own->message_bytes / element > 0 ? own->message_bytes / element : 1;
  return left < most ? left : most;
}

static void
reduce(const struct own *own, void *values, size_t count, MPI_Datatype type, MPI_Op operation)
{
  for (size_t done = 0, n; done < count; done += n) {
    MPI_Request request;
    n = piece(own, count - done, sizeof(uint64_t));
    MPI_Iallreduce(MPI_IN_PLACE, (uint64_t *)values + done, (int)n, type, operation, MPI_COMM_WORLD,
                   &request);
    wait_for(1, &request);
  }
}

static void sum(void *own, uint64_t *values, size_t count)
{
  reduce(own, values, count, MPI_UINT64_T, MPI_SUM);
}

/* The order of signed numbers is that of unsigned ones with the highest bit inverted. Maxima of
 * unsigned numbers are those of signed ones in MPICH 4.0.2 (pmodels/mpich #6083) and in Open MPI
 * 4.1.2 (open-mpi/ompi #10276). */
static void largest(void *own, uint64_t *values, size_t count)
{
  const uint64_t highest = UINT64_C(1) << 63;
  for (size_t i = 0; i < count; i++)
    values[i] ^= highest;
  reduce(own, values, count, MPI_INT64_T, MPI_MAX);
  for (size_t i = 0; i < count; i++)
    values[i] ^= highest;
}

static void broadcast(void *own, void *bytes, size_t count, int from)
{
  for (size_t done = 0, n; done < count; done += n) {
    MPI_Request request;
    n = piece(own, count - done, 1);
    MPI_Ibcast((char *)bytes + done, (int)n, MPI_BYTE, from, MPI_COMM_WORLD, &request);
    wait_for(1, &request);
  }
}

/* Messages between this process and others. */
struct traffic {
  const struct own *own;
  MPI_Request *requests;
  size_t count, capacity;
};

static MPI_Request *next_request(struct traffic *traffic)
{
  if (traffic->count == traffic->capacity) {
    traffic->capacity = 2 * traffic->capacity + 16;
    MPI_Request *more = realloc(traffic->requests, traffic->capacity * sizeof *traffic->requests);
    if (more == NULL)
      say_and_abort("out of memory: messages between processes", 1);
    traffic->requests = more;
  }
  return &traffic->requests[traffic->count++];
}

static void start_send(struct traffic *traffic, int to, const void *bytes, size_t count)
{
  for (size_t done = 0, n; done < count; done += n) {
    n = piece(traffic->own, count - done, 1);
    MPI_Isend((const char *)bytes + done, (int)n, MPI_BYTE, to, 0, MPI_COMM_WORLD,
              next_request(traffic));
  }
}

static void start_receive(struct traffic *traffic, int from, void *bytes, size_t count)
{
  for (size_t done = 0, n; done < count; done += n) {
    n = piece(traffic->own, count - done, 1);
    MPI_Irecv((char *)bytes + done, (int)n, MPI_BYTE, from, 0, MPI_COMM_WORLD,
              next_request(traffic));
  }
}

static void finish_traffic(struct traffic *traffic)
{
  wait_for((int)traffic->count, traffic->requests);
  free(traffic->requests);
}

static void send_bytes(void *own, int to, const void *bytes, size_t count)
{
  struct traffic traffic = {.own = own};
  start_send(&traffic, to, bytes, count);
  finish_traffic(&traffic);
}

static void receive_bytes(void *own, int from, void *bytes, size_t count)
{
  struct traffic traffic = {.own = own};
  start_receive(&traffic, from, bytes, count);
  finish_traffic(&traffic);
}

/* Copies a process's message to itself. */
static void copy_own(char *in, const char *out, size_t count)
{
  if (count > 0 && in != out)
    memcpy(in, out, count);
}

static void trade(void *own, const void *out, const size_t *n_out, void *in, const size_t *n_in)
{
  const struct own *me = own;
  struct traffic traffic = {.own = me};
  const char *from = out;
  char *to = in;
  for (int p = 0; p < me->size; to += n_in[p++])
    if (p != me->rank)
      start_receive(&traffic, p, to, n_in[p]);
  to = in;
  for (int p = 0; p < me->rank; p++)
    to += n_in[p];
  for (int p = 0; p < me->size; from += n_out[p++])
    if (p != me->rank)
      start_send(&traffic, p, from, n_out[p]);
    else
      copy_own(to, from, n_out[p]);
  finish_traffic(&traffic);
}

/* Gathers for all through process 0, since counts of MPI's own operation have 31 bits for all
 * processes together. */
static void gather(void *own, const void *bytes, void *all, const size_t *counts, int to)
{
  const struct own *me = own;
  const int receiver = to < 0 ? 0 : to;
  struct traffic traffic = {.own = me};
  size_t total = 0;
  for (int p = 0; p < me->size; total += counts[p++])
    if (me->rank == receiver && p != receiver)
      start_receive(&traffic, p, (char *)all + total, counts[p]);
    else if (me->rank == receiver)
      copy_own((char *)all + total, bytes, counts[p]);
  if (me->rank != receiver)
    start_send(&traffic, receiver, bytes, counts[me->rank]);
  finish_traffic(&traffic);
  if (to < 0)
    broadcast(own, all, total, receiver);
}

static void barrier(void *own)
{
  MPI_Request request;
  (void)own;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  wait_for(1, &request);
}

/* ---- life ---- */

static void close_mpi(void *own)
{
  MPI_Finalize();
  free(own);
}

static const struct gpumc_processes_ops ops = {.sum = sum,
                                               .largest = largest,
                                               .broadcast = broadcast,
                                               .gather = gather,
                                               .trade = trade,
                                               .send = send_bytes,
                                               .receive = receive_bytes,
                                               .barrier = barrier,
                                               .abandon = abandon,
                                               .close = close_mpi};

/* Both "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n..." have it as their first
 * number. */
static void name_library(char *name, size_t bytes)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const char *version = text + strcspn(text, "0123456789");
  snprintf(name, bytes, "%s %.*s", mpi_name, (int)strspn(version, "0123456789."), version);
}

/* Exchanges the first messages. A process whose MPI was initialised without the memory that it
 * needs may neither send nor fail, and all would wait for it for ever. */
static void meet(void)
{
  static const double longest = 60; /* s */
  const struct timespec nap = {.tv_nsec = 1000000};
  const double end = seconds() + longest;
  MPI_Request request;
  int ready = 1, done = 0;
  MPI_Iallreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done && seconds() < end;
       MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    nanosleep(&nap, NULL);
  if (!done)
    say_and_abort("MPI: another process has not answered for 60 s: it may lack memory, or the "
                  "network connection to it may be broken",
                  1);
}

/* Finds the processes of this host. With equal keys, ranks are in the order of those of all. */
static void find_local(struct gpumc_module *module)
{
  MPI_Comm local;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &module->local_rank);
  MPI_Comm_size(local, &module->local_size);
  module->host = module->rank;
  MPI_Bcast(&module->host, 1, MPI_INT, 0, local);
  MPI_Comm_free(&local);
}

#if defined(MPIX_CUDA_AWARE_SUPPORT) ||                                                            \
    (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && !defined(I_MPI_VERSION))
/* Open MPI 4 knows from its build; others ask the machine, once they are started. */
static enum gpumc_module_cuda ask_for_cuda(void)
{
  int started = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT) && OMPI_MAJOR_VERSION < 5
  started = 1;
#else
  MPI_Initialized(&started);
#endif
  if (!started)
    return GPUMC_MODULE_CUDA_UNKNOWN;
  return MPIX_Query_cuda_support() ? GPUMC_MODULE_CUDA_YES : GPUMC_MODULE_CUDA_NO;
}
#else
static enum gpumc_module_cuda ask_for_cuda(void)
{
  return GPUMC_MODULE_CUDA_UNKNOWN;
}
#endif

__attribute__((visibility("default"))) gpumc_module_cuda_support gpumc_mpi_cuda;

enum gpumc_module_cuda gpumc_mpi_cuda(void)
{
  return ask_for_cuda();
}

__attribute__((visibility("default"))) gpumc_module_open gpumc_mpi_open;

int gpumc_mpi_open(struct gpumc_module *module, size_t message_bytes)
{
  int level = 0;
  MPI_Errhandler handler;
  if (module->interface != GPUMC_MODULE_INTERFACE)
    return 1;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
    say_and_abort("MPI cannot be initialised", 1);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_rank(MPI_COMM_WORLD, &module->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &module->size);
  meet();
  find_local(module);
  is_crowded = module->local_size > sysconf(_SC_NPROCESSORS_ONLN);
  name_library(module->name, sizeof module->name);
  module->cuda = ask_for_cuda();
  struct own *own = calloc(1, sizeof *own);
  if (own == NULL)
    say_and_abort("out of memory: MPI", 1);
  *own = (struct own){.rank = module->rank, .size = module->size, .message_bytes = message_bytes};
  module->ops = &ops;
  module->own = own;
  return 0;
}
