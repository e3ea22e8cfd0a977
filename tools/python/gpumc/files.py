"""Result files, opened only after their checksum is verified, so that HDF5 never sees a damaged one."""
from __future__ import annotations

import collections.abc
import contextlib
import ctypes
import os
import select
import stat
import struct
import subprocess
import sys
import time
import typing
import unicodedata
import zlib

import h5py

FORMAT = "gpumc-results"
VERSIONS = (1, 2, 3)
SEALED_SINCE = 2  # version of the format
LONGEST_FIXED_TEXT = 3072  # bytes of an attribute; longer ones are of variable length
WORKING_REMEDY = "a run may have just written it: try again in a moment; if none is at work, 'gpumc run' continues from its checkpoint and makes it anew"
REMEDY = "restore it from a copy, or make it again with 'gpumc run --fresh'"

# The end of a sealed file, as src/core/base/checksum.h has it: magic, bytes before the seal, CRC-32 of these
# bytes, CRC-32 of the seal up to there.
_MAGIC = b"gpumc-sealed-1\0\0"
_SEAL = struct.Struct("<16sQII")
_BLOCK = 1 << 22
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # where gpumc is
_PROBE = ("import sys; sys.path.insert(0, sys.argv[1]); import gpumc.probe; gpumc.probe.begin(int(sys.argv[2])); "
          "gpumc.probe.main(*sys.argv[3:])")
_BEGIN_SECONDS = 60  # for a probe to begin, which has to load this package
_STEP_SECONDS = 2  # for each of its steps, and the time of reading the file at _STEP_BYTES a second
_STEP_BYTES = 1e7
_SETTLED_SECONDS = 2  # a file that changed just now may change again without another time of change

# What was found of which state of a file: (path's _state(), question) -> answer.
_known: dict[tuple, typing.Any] = {}
is_probe = False  # this process only tries whether HDF5 survives


def printable(text: object) -> str:
    """`text` for a terminal: characters that do not print are escaped, as \\x1b."""
    def shown(character):
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return character.encode("unicode_escape", "surrogatepass").decode()
        return character
    return "".join(map(shown, str(text)))


class ResultError(Exception):
    """The file cannot be read, or is no result of gpumc; the message says why, for a terminal."""

    def __str__(self) -> str:
        return printable(super().__str__())


# --- opening --------------------------------------------------------------------------------------

@contextlib.contextmanager
def opened(path: str | os.PathLike[str], result: bool = True) -> collections.abc.Iterator[h5py.File]:
    """The h5py.File at `path`, verified: its checksum if it has one, that all of it is in this one file
    and, of a `result`, its format. ResultError if not. What the `with` block raises is left as it is; reading()
    is for errors of the file."""
    with verified(path, ["everything"], result) as file:
        yield file


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> collections.abc.Iterator[None]:
    """Code that reads the file at `path` and does nothing else: what it raises is the fault of the file, and
    becomes a ResultError that says so."""
    try:
        yield
    except MemoryError:
        raise ResultError(f"{path}: not enough memory to read it") from None
    except (OSError, RuntimeError) as reason:  # what HDF5 says
        raise ResultError(f"{path}: damaged ({reason}); {remedy(path)}") from None
    except (AttributeError, LookupError, TypeError, ValueError) as reason:
        raise ResultError(f"{path}: not in the form that gpumc writes ({type(reason).__name__}: {reason}); {remedy(path)}") from None


def remedy(path: str | os.PathLike[str]) -> str:
    """What to do about a file that cannot be read."""
    return WORKING_REMEDY if os.fspath(path).endswith(".partial") else REMEDY


def verified(path: str | os.PathLike[str], trial: list[str], result: bool = True) -> h5py.File:
    """The open file, verified. `trial`: arguments of probe.main(), what is going to be read."""
    path = os.fspath(path)
    sealed = _verify(path)
    if not sealed:
        with reading(path):
            _is_live(path)
        _survives(path, trial)
    with reading(path), contextlib.ExitStack() as stack:
        file = stack.enter_context(unverified(path, sealed))
        if result:
            _check_format(path, file, sealed)
        check_members(path, file)
        stack.pop_all()
        return file


def seal(path: str | os.PathLike[str]) -> None:
    """Append the checksum to a finished file, in place of one that is there."""
    with open(path, "r+b") as file:
        size = _size_without_seal(file)
        file.truncate(size)
        head = _SEAL.pack(_MAGIC, size, _sum(file, size), 0)[:-4]
        file.seek(size)
        file.write(head + struct.pack("<I", zlib.crc32(head)))


def _size_without_seal(file):
    size = file.seek(0, os.SEEK_END)
    if size < _SEAL.size:
        return size
    file.seek(size - _SEAL.size)
    return size - _SEAL.size if file.read(len(_MAGIC)) == _MAGIC else size


def _sum(file, size):
    """CRC-32 of the first `size` bytes."""
    value = 0
    file.seek(0)
    while size > 0:
        block = file.read(min(_BLOCK, size))
        if not block:
            break  # it has become shorter: the sum will not fit
        value = zlib.crc32(block, value)
        size -= len(block)
    return value


def _state(path):
    """Another one where the file at `path` is another or has changed; None where that could not be seen."""
    try:
        now = os.stat(path)
    except OSError:  # a working file has got its final name
        return None
    is_settled = max(now.st_mtime, now.st_ctime) + _SETTLED_SECONDS <= time.time()
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) if is_settled else None


def _once(path, question, answer):
    """What answer() says of the file, called once for each of its states."""
    state = _state(path)
    if state is not None and (state, question) in _known:
        return _known[state, question]
    found = answer()
    if state is not None and _state(path) == state:
        _known[state, question] = found
    return found


def _verify(path):
    """Whether the file is sealed; ResultError where the seal does not fit, before HDF5 sees the file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ResultError(f"{path}: not a regular file")
        return _once(path, "sealed", lambda: _has_seal(path))
    except OSError as reason:
        raise ResultError(f"{path}: {reason.strerror}") from None


def _has_seal(path):
    """As _verify(), by reading all of the file."""
    with open(path, "rb") as file:
        size = _size_without_seal(file)
        file.seek(size)
        found = file.read()
        if len(found) != _SEAL.size:
            return False
        _, length, total, own = _SEAL.unpack(found)
        if (length, total, own) == (size, _sum(file, size), zlib.crc32(found[:-4])):
            return True
    raise ResultError(f"{path}: damaged: its contents do not match the checksum at its end; {REMEDY}")


def _survives(path, trial):
    """A damaged file without a checksum can crash HDF5, and everything with it, so another process
    reads first what is going to be read. What else is wrong with it is found here afterwards."""
    if sys.executable and not is_probe:
        _once(path, tuple(trial), lambda: _try(path, trial))


def _try(path, trial):
    try:
        size = os.path.getsize(path)
    except OSError as reason:
        raise ResultError(f"{path}: {reason.strerror}") from None
    probe = subprocess.Popen([sys.executable, "-c", _PROBE, _PACKAGE, str(os.getpid()), path, *trial],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        _follow(probe, path, _STEP_SECONDS + size / _STEP_BYTES)
        code = probe.wait()
    finally:
        probe.kill()  # nothing where it has ended
        probe.wait()
        probe.stdout.close()
    if code < 0:
        raise ResultError(f"{path}: damaged: HDF5 crashes when it reads it (signal {-code}); {remedy(path)}")


def _follow(probe, path, step):
    """Waits for its end as long as there are signs of life: one when it begins, and one for each step of `step` seconds at most."""
    limit = _BEGIN_SECONDS
    while select.select([probe.stdout], [], [], limit)[0]:
        if not os.read(probe.stdout.fileno(), 4096):
            return
        limit = step
    raise ResultError(f"{path}: it has no checksum, and the process that reads such files first got no further for {limit:.0f} s; "
                      f"try again, and if that does not help, {remedy(path)}")


# The begin of a file of version 3 of the superblock, as gpumc writes them: signature, version, sizes of addresses and lengths,
# flags; base, extension, end of the file. HDF5 File Format Specification, II.A.
_SUPERBLOCK = struct.Struct("<8sBBBBQQQ")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_WRITING, _ONE_WRITER = 1, 4

# HDF5 reads metadata of a live file again while their checksum is wrong, after waits of 1 ns, 2 ns, 4 ns, ...: in all 17 ms,
# where its default of 100 attempts would never end. As in src/core/storage/hdf5_file.c.
_READ_ATTEMPTS = 24


def _is_live(path):
    """Whether a run writes the file, or was killed while it did; ResultError where its own marks say that it cannot be read."""
    with open(path, "rb") as file:
        begin = file.read(_SUPERBLOCK.size)
    if len(begin) < _SUPERBLOCK.size or not begin.startswith(_SIGNATURE):
        return False
    _, version, addresses, _, flags, _, _, end = _SUPERBLOCK.unpack(begin)
    if version != 3 or addresses != 8:
        return False
    if flags & _ONE_WRITER:
        return True
    if flags & _WRITING:
        raise ResultError(f"{path}: not a finished file: another program is writing it, or was killed while writing; try again in "
                          f"a moment; {remedy(path)}")
    if os.path.getsize(path) < end:
        raise ResultError(f"{path}: damaged: its end is missing; {remedy(path)}")
    return False


def unverified(path, sealed=False):
    """The open file. A sealed one is finished, whatever its marks say."""
    if not h5py.is_hdf5(path):
        raise ResultError(f"{path}: not an HDF5 file")
    live = not sealed and _is_live(path)
    try:
        return _open_live(path) if live else h5py.File(path, "r")
    except OSError as reason:
        what = "damaged, or a run is writing it" if live else "damaged"
        raise ResultError(f"{path}: {what} ({reason}); {remedy(path)}") from None


def _open_live(path):
    """One writer, many readers."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    _limit_attempts(access)
    return h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, access))


def _limit_attempts(access):
    """h5py has no name for it, but the library that h5py is linked with has. Where it cannot be found, only the probe is safe
    from damaged files."""
    try:
        limit = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts
    except (AttributeError, OSError):
        return
    limit.argtypes, limit.restype = [ctypes.c_int64, ctypes.c_uint], ctypes.c_int
    with h5py._hl.base.phil:  # HDF5 takes one call at a time
        limit(access.id, _READ_ATTEMPTS)


def _check_format(path, file, sealed):
    if text_of(file.attrs.get("format", "")) != FORMAT:
        raise ResultError(f"{path}: an HDF5 file, but not a result of gpumc")
    version = int(file.attrs.get("format_version", 0))
    if "complete" not in file.attrs:
        raise ResultError(f"{path}: not a result of gpumc, or a damaged one: it does not say whether it is complete")
    if version not in VERSIONS:
        raise ResultError(f"{path}: format version {version}; this reader knows "
                          f"{' and '.join(map(str, VERSIONS))}")
    if version >= SEALED_SINCE and file.attrs.get("complete") and not sealed:
        raise ResultError(f"{path}: damaged: its checksum, the last {_SEAL.size} bytes, is missing; the file was "
                          f"cut off, or changed by another program: {REMEDY}")


def check_members(path, group, place="", seen=None):
    """Refuses numbers that are in other files, or nowhere: HDF5 reads them as zeros. `place`: that of the group."""
    seen = set() if seen is None else seen
    for name in group:
        link, where = group.get(name, getlink=True), f"{place}/{name}"
        if not isinstance(link, h5py.HardLink):
            raise ResultError(f"{path}: {where} is a link to another place, which is not followed")
        item = group[name]
        address = h5py.h5o.get_info(item.id).addr
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, h5py.Group):
            check_members(path, item, where, seen)
        elif isinstance(item, h5py.Dataset):
            creation = item.id.get_create_plist()
            if creation.get_layout() == h5py.h5d.VIRTUAL:
                raise ResultError(f"{path}: {where} is a virtual dataset, whose numbers are stored elsewhere")
            if creation.get_external_count() > 0:
                raise ResultError(f"{path}: {where} has external storage, numbers in other files")
            if item.file.id.get_intent() & h5py.h5f.ACC_SWMR_READ and not _is_whole(path, item):
                raise ResultError(f"{path}: damaged: its end, with numbers of {where}, is missing; {remedy(path)}")


def _is_whole(path, dataset):
    """Whether its last numbers are in the file: HDF5 reads what is beyond the end of a live file as zeros. A writer stores them
    before it says where they are."""
    if dataset.chunks:
        if not dataset.size:
            return True
        last = dataset.id.get_chunk_info_by_coord(tuple((n - 1) // c * c for n, c in zip(dataset.shape, dataset.chunks)))
        begin, length = last.byte_offset, last.size
    else:
        begin, length = dataset.id.get_offset(), dataset.id.get_storage_size()
    return begin is None or begin + length <= os.path.getsize(path)


# --- attributes and texts ---

def attributes(item: h5py.HLObject | None) -> dict[str, typing.Any]:
    """The attributes of an h5py.File, group or dataset, texts as str and scalars as numbers of Python; none of None."""
    values = {}
    for name, value in ({} if item is None else item.attrs).items():
        if isinstance(value, (bytes, str)):
            values[name] = text_of(value)
        else:
            values[name] = value.item() if getattr(value, "size", 0) == 1 else value
    return values


def scalar_text(file: h5py.Group, name: str) -> str:
    return text_of(file[name][()]) if name in file else ""


def text_of(value: bytes | str) -> str:
    """Of fixed length (h5py gives bytes) or of variable length (str), with what is no UTF-8 kept as surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


