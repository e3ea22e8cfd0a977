"""Reads a file that has no checksum, in a process of its own: HDF5 may crash on a damaged one (files.py)."""
import json

import h5py

from . import files, reader, spin_configurations


def main(path, what="everything", chosen="[]"):
    """Reads what read() reads, configurations() with the arguments `chosen`, or all that there is."""
    files.is_probe = True
    if what == "read":
        reader.read(path)
    elif what == "configurations":
        spin_configurations.configurations(path, *json.loads(chosen))
    else:
        _read_everything(path)


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
