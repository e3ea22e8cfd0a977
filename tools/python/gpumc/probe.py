"""Reads a file that has no checksum, in a process of its own: HDF5 may crash on a damaged one (files.py). It gives a sign of
life on standard output when it begins, and at each step."""
import ctypes
import json
import os
import signal
import sys

import h5py

from . import files, reader, spin_configurations


_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


def begin(caller):
    """Makes this process one that ends with the process `caller`, which waits for its signs of life."""
    _end_with(caller)
    _give_signs()


def main(path, what="everything", chosen="[]"):
    """Reads what read() reads, configurations() with the arguments `chosen`, or all that there is."""
    files.is_probe = True
    if what == "read":
        reader.read(path)
    elif what == "configurations":
        spin_configurations.configurations(path, *json.loads(chosen))
    else:
        _read_everything(path)


def _end_with(caller):
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != caller:  # it ended before
        sys.exit(1)


def _give_signs():
    """One now, and one for each dataset, or part of one, that is read."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signs, read = os.dup(1), h5py.Dataset.__getitem__

    def read_with_sign(dataset, *chosen, **options):
        os.write(signs, b".")
        return read(dataset, *chosen, **options)

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.write(signs, b".")
    h5py.Dataset.__getitem__ = read_with_sign


def _read_everything(path):
    def visit(_, item):
        dict(item.attrs)
        if isinstance(item, h5py.Dataset):
            scales.axes("/", item)
            for first in range(0, item.shape[0], 1024) if item.shape else [()]:
                item[first:first + 1024] if item.shape else item[()]

    with files.unverified(path) as file:
        dict(file.attrs)
        files.check_members(path, file)
        scales = reader.Scales(file)
        file.visititems(visit)
