"""Files that are written for the user: beside the name, on the disk, and named when they are whole.

A name that is taken is refused, a symbolic link or what is no regular file always, a regular file unless it is one that the same tool wrote
before. A full disk or an interrupt leaves nothing under the name. The program does the same (src/core/base/user_file.h)."""
from __future__ import annotations

import contextlib
import errno
import os
import stat
import typing

READ_BYTES = 1 << 26  # of a file that is looked at whether it is our own


class Taken(FileExistsError):
    """Another file has the name, and was left alone; the message says which and what can be done."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def check(path: str | os.PathLike[str], own: typing.Callable[[bytes], bool] | None = None) -> bool:
    """Whether a file has this name that may be replaced, since own(contents) says that it is one of ours. Raises Taken where another has it."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISLNK(found.st_mode):
        what = "is a symbolic link"
    elif not stat.S_ISREG(found.st_mode):
        what = "is not a regular file"
    else:
        if own is not None:
            with open(path, "rb") as file:
                if own(file.read(READ_BYTES)):
                    return True
        what = "already exists and was not written by this program" if own else "already exists"
    raise Taken(errno.EEXIST, f"{what}, so it was left alone: choose another name with -o, or move it away", os.fspath(path))


@contextlib.contextmanager
def whole(path: str | os.PathLike[str], own: typing.Callable[[bytes], bool] | None = None) -> typing.Iterator[str]:
    """The name of an empty file to write; at the end of the block it becomes `path`. Raises Taken, or OSError with the name `path`."""
    path = os.fspath(path)
    is_there = check(path, own)
    unfinished = f"{path}.{os.getpid()}.new"
    made = False
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        made = True
        yield unfinished
        _sync(unfinished)
        if is_there:
            os.replace(unfinished, path)
        else:
            _give_free_name(unfinished, path)
        made = False
    except OSError as reason:
        if isinstance(reason, Taken):
            raise
        raise OSError(reason.errno, reason.strerror or str(reason), path) from None
    finally:
        if made:
            with contextlib.suppress(OSError):
                os.remove(unfinished)


def _sync(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _give_free_name(unfinished, path):
    """A link never replaces a file; file systems that have none are asked first."""
    try:
        os.link(unfinished, path)
    except FileExistsError:
        check(path)
    except OSError:
        check(path)
        os.rename(unfinished, path)
    else:
        os.remove(unfinished)
