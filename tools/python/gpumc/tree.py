"""open(): a result file as an xarray DataTree, numbers read when they are used."""
from . import files


def open(path):  # noqa: A001 - gpumc.open, as xarray.open_dataset
    """The groups of a result file as an xarray.DataTree: `summary`, `runs/0000`, ..., and what else it has.

    Numbers are read when they are used. Every quantity has its error beside it (`energy`, `energy_error`), and its unit,
    name and symbol as attributes (`units`, `long_name`, `symbol`); axes are coordinates. The attributes of the group
    `summary` say whether the result is trusted (`trusted`, `..._warning`), those of `provenance` how it was made.
    The working file of a run, OUTPUT.partial, opens as well; its summary is made at the end. Close the tree when it is
    no longer needed: `with gpumc.open(path) as tree:`.

    Raises ResultError if the file is damaged or not a result of gpumc, and ImportError without h5netcdf and xarray
    2024.10 or newer; read() needs neither.
    """
    import h5netcdf
    import xarray

    if not hasattr(xarray, "DataTree"):
        raise ImportError(f"gpumc.open needs xarray 2024.10 or newer, and this is {xarray.__version__}; "
                          "gpumc.read works without it")
    with files.reading(path):
        file = files.verified(path, ["everything"])
        groups = h5netcdf.File(file, "r", phony_dims="sort")
        datasets = {name: _dataset(groups, name) for name in _names(file)}
        tree = xarray.DataTree.from_dict({name: _aligned(datasets, name) for name in datasets})
    tree.set_close(lambda: (groups.close(), file.close()))
    return tree


def _names(file):
    import h5py

    found = ["/"]
    file.visititems(lambda name, item: found.append("/" + name) if isinstance(item, h5py.Group) else None)
    return found


def _dataset(groups, name):
    import xarray

    store = xarray.backends.H5NetCDFStore(groups, group=None if name == "/" else name, lock=False)
    return xarray.open_dataset(store)


def _aligned(datasets, name):
    """The rows that all of a line of groups have: a run that is writing adds them group after group."""
    def is_of_line(other):
        return (other + "/").startswith(name + "/") or (name + "/").startswith(other + "/")

    line = [dataset for other, dataset in datasets.items() if is_of_line(other)]
    shortest = {dim: min(dataset.sizes[dim] for dataset in line if dim in dataset.sizes) for dim in datasets[name].sizes}
    return datasets[name].isel({dim: slice(size) for dim, size in shortest.items() if size < datasets[name].sizes[dim]})
