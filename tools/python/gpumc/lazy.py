"""Arrays of a file that xarray reads when they are used. Imported where a tree is opened: importing xarray takes longer than
all else that the tools begin with."""
from __future__ import annotations

import contextlib
import json

import h5py
import numpy

from . import decoded
from .files import ResultError, remedy, scalar_text

try:
    from xarray.backends import BackendArray
    from xarray.core import indexing
except ImportError:  # open() says so; what the classes read needs no xarray
    BackendArray = object  # type: ignore[misc, assignment]


def lazily(array):
    return indexing.LazilyIndexedArray(array)


class Lazy(BackendArray):
    """What is read of a dataset long after its file was opened."""

    def __init__(self, dataset, shape, dtype):
        self.dataset, self.path, self.shape, self.dtype = dataset, dataset.file.filename, shape, numpy.dtype(dtype)

    @contextlib.contextmanager
    def numbers(self):
        """Code that reads them: what HDF5 cannot read is the fault of the file, all else that of the caller."""
        try:
            yield
        except OSError as reason:
            raise ResultError(f"{self.path}: damaged: numbers of it cannot be read ({reason}); {remedy(self.path)}") from None


class Stored(Lazy):
    """A dataset, which is read when it is indexed."""

    def __init__(self, dataset):
        super().__init__(dataset, dataset.shape, dataset.dtype)

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read)

    def _read(self, key):
        with self.numbers():
            return self.dataset[key]


class Decoded(Lazy):
    """Rows of bytes as an array [..., inner axes]: `decode(bytes)` makes [row, inner axes] of rows. `rows` holds, over
    the outer axes, the numbers of the rows. Only the rows that are indexed are read."""

    def __init__(self, dataset, rows, decode, inner, dtype):
        super().__init__(dataset, rows.shape + inner, dtype)
        self.rows, self.decode = rows, decode

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key):
        outer, inner = key[:self.rows.ndim], key[self.rows.ndim:]
        wanted = self.rows[outer]
        with self.numbers():
            values = self.decode(decoded.read_rows(self.dataset, wanted.ravel()))
        return values.reshape(wanted.shape + values.shape[1:])[(...,) + inner]


def configurations(group):
    """The group `configurations` as variables and coordinates of an xarray.Dataset."""
    import xarray

    config = json.loads(scalar_text(group.file, "config/resolved"))
    stored = group["bytes"]
    found = decoded.forms(config, stored.shape[1])
    columns = {name: item for name, item in group.items() if isinstance(item, h5py.Dataset) and name != "bytes"}
    if config["algorithm"]["name"] == "pa" or not found:
        count = min(len(item) for item in group.values())
        rows, dims = numpy.arange(count), ("configuration",)
        coordinates = {name: (dims, item[:count]) for name, item in columns.items()}
    else:
        rows, dims, coordinates = decoded.axes(decoded.grid(group.file, config))
    if not found:
        return {"bytes": (dims + ("byte",), lazily(Stored(stored)))}, coordinates
    made = {form.name: xarray.Variable(dims + form.dims, lazily(Decoded(stored, rows, form.decode, form.shape, form.dtype)),
                                       {"long_name": form.long_name, "units": form.units}) for form in found}
    return made, coordinates
