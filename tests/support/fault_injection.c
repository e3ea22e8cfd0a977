/* Calls that fail on command: a library for LD_PRELOAD, which the environment configures.
 *
 *   GPUMC_FAULT="CALL:option=value:option=value; CALL:..."
 *
 * CALL     write (write, pwrite), fsync (fsync, fdatasync), rename (rename, renameat2), rename_new
 *          (renameat2), link, unlink, ftruncate, open (for writing), open_read, malloc (malloc,
 *          calloc, realloc, aligned_alloc, posix_memalign), thread (pthread_create)
 *
 * options  nth=N           the N-th matching call (from 1) fails, only that one
 *          from=N          the N-th and every later one fail (default from=1)
 *          after_bytes=N   write: every call that would bring the bytes written past N fails; the
 *                          part that fits is written first, as a full disk does
 *          path=TEXT       only files whose path contains TEXT (rename, link: the old name)
 *          end=TEXT        only files whose path ends with TEXT
 *          errno=NAME      ENOSPC (default; ENOMEM for malloc, EAGAIN for thread), EIO, EDQUOT,
 *                          EFBIG, EACCES, EROFS, EINVAL, EPERM
 *          action=kill     no error: the process kills itself with SIGKILL before the call
 *          action=stop     no error: it stops itself with SIGSTOP before the call
 *          action=stall    no error: the call does not return, and a file `stalled` says so
 *
 * Example: GPUMC_FAULT="write:after_bytes=100000:errno=ENOSPC:path=.ckpt"
 *          LD_PRELOAD=build/tests/libgpumc_faults.so gpumc run config.yaml
 *
 * Counts are per process, from its start. Allocations count from main() on, those of the program
 * alone: CUDA's static runtime makes thousands before, one or more for each kernel, and does not
 * survive the loss of any. The malloc family is left alone in sanitizer builds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum call {
  CALL_WRITE,
  CALL_FSYNC,
  CALL_RENAME,
  CALL_FTRUNCATE,
  CALL_OPEN,
  CALL_OPEN_READ,
  CALL_MALLOC,
  CALL_RENAME_NEW,
  CALL_LINK,
  CALL_UNLINK,
  CALL_THREAD,
  N_CALLS
};
static const char *const call_names[N_CALLS] = {"write", "fsync",     "rename", "ftruncate",
                                                "open",  "open_read", "malloc", "rename_new",
                                                "link",  "unlink",    "thread"};

enum { MOST_FAULTS = 8, LONGEST_PATH = 256 };

/* `first` .. `last`: which of the matching calls fail; `bytes_left`: for after_bytes, otherwise
 * -1. */
struct fault {
  enum call call;
  unsigned long first, last, seen;
  long long bytes_left;
  char path[LONGEST_PATH], end[LONGEST_PATH];
  int code;
  int signal; /* sent instead of an error; 0: none */
  bool stalls;
};

static struct fault faults[MOST_FAULTS];
static size_t n_faults;
/* The current allocation. Another kind of thread-local variable may allocate at its first use. */
static _Thread_local bool from_library __attribute__((tls_model("initial-exec")));

static int code_of(const char *name)
{
  static const struct {
    const char *name;
    int code;
  } codes[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"ENOMEM", ENOMEM},
               {"EDQUOT", EDQUOT}, {"EFBIG", EFBIG},   {"EACCES", EACCES},
               {"EROFS", EROFS},   {"EINVAL", EINVAL}, {"EPERM", EPERM}};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(name, codes[i].name) == 0)
      return codes[i].code;
  return EIO;
}

static bool value_of(const char *option, const char *name, const char **value)
{
  size_t length = strlen(name);
  if (strncmp(option, name, length) != 0 || option[length] != '=')
    return false;
  *value = option + length + 1;
  return true;
}

static void read_option(struct fault *fault, const char *option)
{
  const char *value;
  if (value_of(option, "nth", &value))
    fault->first = fault->last = strtoul(value, NULL, 10);
  else if (value_of(option, "from", &value))
    fault->first = strtoul(value, NULL, 10);
  else if (value_of(option, "after_bytes", &value))
    fault->bytes_left = strtoll(value, NULL, 10);
  else if (value_of(option, "path", &value))
    snprintf(fault->path, sizeof fault->path, "%s", value);
  else if (value_of(option, "end", &value))
    snprintf(fault->end, sizeof fault->end, "%s", value);
  else if (value_of(option, "errno", &value))
    fault->code = code_of(value);
  else if (value_of(option, "action", &value)) {
    fault->signal = strcmp(value, "kill") == 0 ? SIGKILL : strcmp(value, "stop") == 0 ? SIGSTOP : 0;
    fault->stalls = strcmp(value, "stall") == 0;
  }
}

static void read_fault(char *text)
{
  char *rest = NULL;
  char *name = strtok_r(text, ": ", &rest);
  size_t call = 0;
  while (name != NULL && call < N_CALLS && strcmp(name, call_names[call]) != 0)
    call++;
  if (name == NULL || call == N_CALLS || n_faults == MOST_FAULTS)
    return;
  struct fault fault = {(enum call)call, 1, ULONG_MAX, 0, -1, "", "", ENOSPC, 0, false};
  if (call == CALL_MALLOC)
    fault.code = ENOMEM;
  if (call == CALL_THREAD)
    fault.code = EAGAIN;
  for (char *option = strtok_r(NULL, ":", &rest); option != NULL;
       option = strtok_r(NULL, ":", &rest))
    read_option(&fault, option);
  faults[n_faults++] = fault;
}

__attribute__((constructor)) static void read_environment(void)
{
  static char text[1024];
  const char *given = getenv("GPUMC_FAULT");
  char *rest = NULL;
  if (given == NULL)
    return;
  snprintf(text, sizeof text, "%s", given);
  for (char *one = strtok_r(text, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest))
    read_fault(one);
}

static bool ends_with(const char *path, const char *end)
{
  const size_t length = strlen(path), wanted = strlen(end);
  return length >= wanted && strcmp(path + length - wanted, end) == 0;
}

/* As on a disk that does not answer, where handlers do not run before it does. */
static void stall(void)
{
  const int made = creat("stalled", 0666);
  if (made >= 0)
    close(made);
  for (;;)
    pause();
}

/* Counts the call and returns the fault that applies to it, or NULL. `count`: bytes to be written,
 * otherwise 0. */
static struct fault *strike(enum call call, const char *path, size_t count)
{
  struct fault *striking = NULL;
  for (size_t i = 0; i < n_faults; i++) {
    struct fault *fault = &faults[i];
    if (fault->call != call || (fault->path[0] != '\0' && strstr(path, fault->path) == NULL))
      continue;
    if (!ends_with(path, fault->end))
      continue;
    if (call == CALL_MALLOC && from_library)
      continue;
    fault->seen++;
    bool strikes = fault->seen >= fault->first && fault->seen <= fault->last;
    if (fault->bytes_left >= 0) {
      strikes = (long long)count > fault->bytes_left;
      if (!strikes)
        fault->bytes_left -= (long long)count;
    }
    if (strikes && striking == NULL)
      striking = fault;
  }
  if (striking != NULL && striking->stalls)
    stall();
  if (striking == NULL || striking->signal == 0)
    return striking;
  kill(getpid(), striking->signal);
  return NULL;
}

static struct fault *strike_descriptor(enum call call, int descriptor, size_t count)
{
  char link[64];
  char path[PATH_MAX] = "";
  if (n_faults == 0)
    return NULL;
  int code = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  errno = code;
  return strike(call, path, count);
}

/* dlsym returns an object pointer for a function; POSIX specifies this conversion. */
#define NEXT(type, name)                                                                           \
  static type next;                                                                                \
  if (next == NULL)                                                                                \
  *(void **)&next = dlsym(RTLD_NEXT, name)

typedef ssize_t (*write_function)(int, const void *, size_t);
typedef ssize_t (*pwrite_function)(int, const void *, size_t, off_t);
typedef int (*descriptor_function)(int);
typedef int (*rename_function)(const char *, const char *);
typedef int (*renameat2_function)(int, const char *, int, const char *, unsigned);
typedef int (*ftruncate_function)(int, off_t);
typedef int (*unlink_function)(const char *);
typedef int (*open_function)(const char *, int, ...);
typedef int (*thread_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Returns how many of `count` bytes a full disk still takes; 0 if the call must fail outright. */
static size_t part_that_fits(struct fault *fault)
{
  if (fault->bytes_left <= 0)
    return 0;
  size_t part = (size_t)fault->bytes_left;
  fault->bytes_left = 0;
  return part;
}

ssize_t write(int descriptor, const void *bytes, size_t count)
{
  NEXT(write_function, "write");
  struct fault *fault = strike_descriptor(CALL_WRITE, descriptor, count);
  if (fault == NULL)
    return next(descriptor, bytes, count);
  size_t part = part_that_fits(fault);
  if (part > 0)
    return next(descriptor, bytes, part);
  errno = fault->code;
  return -1;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset)
{
  NEXT(pwrite_function, "pwrite");
  struct fault *fault = strike_descriptor(CALL_WRITE, descriptor, count);
  if (fault == NULL)
    return next(descriptor, bytes, count, offset);
  size_t part = part_that_fits(fault);
  if (part > 0)
    return next(descriptor, bytes, part, offset);
  errno = fault->code;
  return -1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset)
{
  return pwrite(descriptor, bytes, count, (off_t)offset);
}

int fsync(int descriptor)
{
  NEXT(descriptor_function, "fsync");
  struct fault *fault = strike_descriptor(CALL_FSYNC, descriptor, 0);
  if (fault == NULL)
    return next(descriptor);
  errno = fault->code;
  return -1;
}

int fdatasync(int descriptor)
{
  NEXT(descriptor_function, "fdatasync");
  struct fault *fault = strike_descriptor(CALL_FSYNC, descriptor, 0);
  if (fault == NULL)
    return next(descriptor);
  errno = fault->code;
  return -1;
}

int rename(const char *from, const char *to)
{
  NEXT(rename_function, "rename");
  struct fault *fault = strike(CALL_RENAME, from, 0);
  if (fault == NULL)
    return next(from, to);
  errno = fault->code;
  return -1;
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to,
              unsigned flags)
{
  NEXT(renameat2_function, "renameat2");
  struct fault *fault = strike(CALL_RENAME, from, 0);
  if (fault == NULL)
    fault = strike(CALL_RENAME_NEW, from, 0);
  if (fault == NULL)
    return next(from_directory, from, to_directory, to, flags);
  errno = fault->code;
  return -1;
}

int link(const char *from, const char *to)
{
  NEXT(rename_function, "link");
  struct fault *fault = strike(CALL_LINK, from, 0);
  if (fault == NULL)
    return next(from, to);
  errno = fault->code;
  return -1;
}

int unlink(const char *path)
{
  NEXT(unlink_function, "unlink");
  struct fault *fault = strike(CALL_UNLINK, path, 0);
  if (fault == NULL)
    return next(path);
  errno = fault->code;
  return -1;
}

int ftruncate(int descriptor, off_t length)
{
  NEXT(ftruncate_function, "ftruncate");
  struct fault *fault = strike_descriptor(CALL_FTRUNCATE, descriptor, 0);
  if (fault == NULL)
    return next(descriptor, length);
  errno = fault->code;
  return -1;
}

int open(const char *path, int flags, ...)
{
  NEXT(open_function, "open");
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  enum call call = (flags & (O_WRONLY | O_RDWR)) != 0 ? CALL_OPEN : CALL_OPEN_READ;
  struct fault *fault = strike(call, path, 0);
  if (fault == NULL)
    return next(path, flags, mode);
  errno = fault->code;
  return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
  NEXT(thread_function, "pthread_create");
  struct fault *fault = strike(CALL_THREAD, "", 0);
  return fault == NULL ? next(thread, attributes, begin, argument) : fault->code;
}

#if !defined(__SANITIZE_ADDRESS__) && defined(__GLIBC__)
/* glibc's own names, because dlsym allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* The addresses of the program itself, which dl_iterate_phdr reports first. */
static uintptr_t program_begin, program_end;

static int note_program(struct dl_phdr_info *info, size_t size, void *state)
{
  (void)size;
  (void)state;
  program_begin = UINTPTR_MAX;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD)
      continue;
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    uintptr_t end = begin + info->dlpi_phdr[i].p_memsz;
    program_begin = begin < program_begin ? begin : program_begin;
    program_end = end > program_end ? end : program_end;
  }
  return 1;
}

static int (*program_main)(int, char **, char **);
static atomic_bool in_main;

static int noted_main(int argc, char **argv, char **environment)
{
  in_main = true;
  return program_main(argc, argv, environment);
}

/* glibc's function that runs the constructors and main(). */
typedef int (*start_function)(int (*)(int, char **, char **), int, char **, void (*)(void),
                              void (*)(void), void (*)(void), void *);

int __libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
                      void (*construct)(void), void (*destruct)(void), void (*unload)(void),
                      void *stack);
int __libc_start_main(int (*begin)(int, char **, char **), int argc, char **argv,
                      void (*construct)(void), void (*destruct)(void), void (*unload)(void),
                      void *stack)
{
  NEXT(start_function, "__libc_start_main");
  program_main = begin;
  return next(noted_main, argc, argv, construct, destruct, unload, stack);
}

static bool allocation_fails(const void *caller)
{
  static bool noted;
  if (n_faults == 0 || !in_main)
    return false;
  if (!noted) {
    noted = true;
    dl_iterate_phdr(note_program, NULL);
  }
  uintptr_t address = (uintptr_t)caller;
  from_library = address < program_begin || address >= program_end;
  struct fault *fault = strike(CALL_MALLOC, "", 0);
  if (fault != NULL)
    errno = fault->code;
  return fault != NULL;
}

void *malloc(size_t size)
{
  return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
  return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
  if (allocation_fails(__builtin_return_address(0)))
    return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory != NULL ? 0 : ENOMEM;
}
#endif
