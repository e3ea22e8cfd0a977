"""Read gpumc result files from Python.

    import gpumc_reader

    result = gpumc_reader.read("results/ising2d-pa.h5")
    result.is_complete                    # False while the run is going on or was stopped
    beta = result.summary["beta"]         # numpy arrays: axes, quantities and their errors
    energy = result.summary["energy"]
    error = result.summary["energy_error"]
    result.labels["energy"]               # long_name, units, symbol, axes
    result.config["model"]["shape"]       # the resolved configuration
    result.provenance["host"]             # who, when, with what
    result.remarks                        # {"trusted": 1, "rho_t_maximum": 12.3, ...}
    result.runs[0]["families"]            # curves of one independent run
    result.samples["overlap2"]            # of pt: averages of each disorder sample, [sample, beta]
    sweeps, spins = gpumc_reader.configurations("results/ea-pt.h5", temperature=19)

A working file, OUTPUT.partial, can be read while the program writes it; its summary is empty.
Finished results end in a checksum of the whole file, which is verified before HDF5 sees the file; who
changes one on purpose calls seal(path) afterwards. A file is verified once in a process, and again when it has
changed. `with opened(path) as file` gives the h5py.File itself, verified, and `attributes(file["summary"])` what is
beside its numbers, with texts as str. Needs numpy and h5py. The format itself is in docs/file-format.md.
"""
import contextlib
import dataclasses
import json
import math
import os
import stat
import struct
import subprocess
import sys
import time
import unicodedata
import zlib

import h5py
import numpy

FORMAT = "gpumc-results"
VERSIONS = (1, 2, 3)
SEALED_SINCE = 2  # version of the format
LONGEST_FIXED_TEXT = 3072  # bytes of an attribute; longer ones are of variable length
REMEDY = "restore it from a copy, or make it again with 'gpumc run --fresh'"

# The end of a sealed file, as src/core/base/checksum.h has it: magic, bytes before the seal, CRC-32 of these
# bytes, CRC-32 of the seal up to there.
_MAGIC = b"gpumc-sealed-1\0\0"
_SEAL = struct.Struct("<16sQII")
_BLOCK = 1 << 22
_PROBE_SECONDS = 300  # and the time of reading at _PROBE_BYTES a second
_PROBE_BYTES = 1e7
_SETTLED_SECONDS = 2  # a file that changed just now may change again without another time of change

# What was found of which state of a file: (path's _state(), question) -> answer.
_known = {}
_is_probe = False  # this process only tries whether HDF5 survives


def printable(text):
    """`text` for a terminal: characters that do not print are escaped, as \\x1b."""
    def shown(character):
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            return character.encode("unicode_escape", "surrogatepass").decode()
        return character
    return "".join(map(shown, str(text)))


class ResultError(Exception):
    """The file cannot be read, or is no result of gpumc; the message says why, for a terminal."""

    def __str__(self):
        return printable(super().__str__())


@dataclasses.dataclass(frozen=True)
class Label:
    """What a dataset says of itself. `axes`: names in the same table, one for each dimension."""
    long_name: str
    units: str
    symbol: str
    axes: tuple


@dataclasses.dataclass(frozen=True)
class Result:
    """A result file in memory.

    `summary` and each of `runs` map names to arrays; what stands in a group below the summary has the
    group's name in front: "reweighted/energy". `labels` are those of the summary, `run_labels` those of
    each run. `remarks`: what the summary says beside its curves (`trusted`, `warning`, `rho_t_maximum`
    for pa). `samples` is what stands in the group of that name; it and `config` are empty where the
    file holds none.
    """
    path: str
    title: str
    is_complete: bool
    format_version: int
    summary: dict
    labels: dict
    remarks: dict
    runs: list
    run_labels: list
    samples: dict
    config: dict
    source: str
    provenance: dict

    def quantities(self):
        """Names in the summary that are neither an axis nor the error of another."""
        axes = {axis for label in self.labels.values() for axis in label.axes}
        return [name for name in self.summary
                if name not in axes and not (name.endswith("_error") and name[:-6] in self.summary)]


def read(path):
    """The result at `path` as a Result; ResultError if it is none."""
    with _opened(path, ["read"]) as file, reading(path):
        config = json.loads(_scalar_text(file, "config/resolved") or "{}")
        summary, labels = _table(file.get("summary"))
        _check_structure(config, summary)
        runs = [_table(group) for _, group in sorted(file.get("runs", {}).items())]
        return Result(
            path=str(path),
            title=printable(_text(file.attrs.get("title", ""))),
            is_complete=bool(file.attrs.get("complete", 0)),
            format_version=int(file.attrs["format_version"]),
            summary=summary,
            labels=labels,
            remarks=attributes(file.get("summary")),
            runs=[arrays for arrays, _ in runs],
            run_labels=[run_labels for _, run_labels in runs],
            samples=_table(file.get("samples"))[0],
            config=config,
            source=_scalar_text(file, "config/source"),
            provenance=attributes(file.get("provenance")))


def _check_structure(config, summary):
    """What those who draw and average a result rely on."""
    if not isinstance(config, dict) or not all(isinstance(config.get(key, {}), dict)
                                               for key in ("model", "algorithm", "kernel")):
        raise ValueError("config/resolved is no configuration")
    for name, values in summary.items():
        if numpy.asarray(values).dtype.kind not in "fiu":
            raise ValueError(f"summary/{name} holds no numbers")
        if name + "_error" in summary and numpy.shape(summary[name + "_error"]) != numpy.shape(values):
            raise ValueError(f"summary/{name}_error has another shape than summary/{name}")


def configurations(path, sweep=None, temperature=None, beta=None, run=None):
    """The configurations that a run has written (its key `configurations`), Ising spins as int8, +1 and -1;
    other models have other portable forms, which are refused.

    Of `canonical` and `pt`: `sweeps`, when they were taken, counted from the end of the thermalization, and
    `spins`, an array: spins[k] is of sweeps[k]. Its axes are

        canonical   [time, temperature, replica, (z,) y, x]
        pt          [time, temperature, copy, sample, (z,) y, x], after the exchange at that time

    with temperatures, replicas and samples as everywhere else in the file; where another control than beta is
    moved (algorithm.control), its values stand for temperatures and for `betas`. Where the configuration names
    `temperatures`, the file has those alone, in that order.

    Of `pa`: `betas`, `spins` and `families`, where spins[k][m] is the population of run m at the inverse
    temperature betas[k], an array [replica, (z,) y, x], and families[k][m] are the initial replicas from which
    its replicas descend. Populations differ in size. The number of a replica is its place: it says nothing of
    its place at another temperature.

    Large files can be read in parts: of canonical and pt `sweep`, only those of that time, and `temperature`, only
    those of the temperature with that number, from 0, the hottest; of pa `beta`, only those of that inverse
    temperature, and `run`, only those of that run, which is spins[k][0] then. What a stopped run has not written
    at all temperatures of a time, or of all of a population, is left out.
    """
    chosen = [None if value is None else float(value) for value in (sweep, temperature, beta, run)]
    with _opened(path, ["configurations", json.dumps(chosen)]) as file, reading(path):
        if "configurations" not in file:
            raise ResultError(f"{path}: no configurations; algorithm.configurations asks for them, and "
                              "gpumc merge leaves them in the files that it merges")
        config = json.loads(_scalar_text(file, "config/resolved"))
        _check_bits(path, file["configurations/bytes"], config["model"])
        if config["algorithm"]["name"] == "pa":
            if sweep is not None or temperature is not None:
                raise ResultError(f"{path}: populations of pa are chosen by beta and run")
            return _populations(path, file, config, beta, run)
        if beta is not None or run is not None:
            raise ResultError(f"{path}: only populations of pa are chosen by beta and run; here by sweep and "
                              "temperature")
        return _grid(path, file, config, sweep, temperature)


def _check_bits(path, portable, model):
    sites = math.prod(model.get("shape", ()))
    if "shape" not in model or portable.shape[1] != (sites + 7) // 8:
        raise ResultError(f"{path}: replicas of model {model['name']} are not stored as one bit a site; read "
                          "configurations/bytes, whose form is in docs/file-format.md")


def _populations(path, file, config, beta, run):
    """A row for each replica, population behind population, in batches of runs."""
    group = file["configurations"]
    count = len(group["configuration"])  # the axis: the other datasets have as many rows at least
    first = numpy.flatnonzero(group["replica"][:count] == 0)
    end = numpy.append(first[1:], count)[:len(first)]
    moved = config["algorithm"].get("control", {}).get("name", "beta")
    steps, betas, runs = (group[name][:count][first] for name in ("step", moved, "run"))
    chosen = numpy.ones(len(first), bool)
    if not file.attrs["complete"]:
        chosen[-1:] = False  # may be a part of a population
    if beta is not None:
        chosen &= numpy.isclose(betas, beta, rtol=1e-9, atol=0)
    if run is not None:
        chosen &= runs == run
    if (beta is not None or run is not None) and not chosen.any():
        wanted = " and ".join(f"{name} {value}" for name, value in ((moved, beta), ("run", run))
                              if value is not None)
        raise ResultError(f"{path}: no configurations of {wanted}; there are those of {moved} "
                          f"{_some(numpy.unique(betas))} and run {_some(numpy.unique(runs))}")
    shape = tuple(reversed(config["model"]["shape"]))
    spins, families, found = [], [], []
    for p in sorted(numpy.flatnonzero(chosen), key=lambda p: (steps[p], runs[p])):
        if not found or betas[p] != found[-1]:
            found.append(betas[p])
            spins.append([])
            families.append([])
        spins[-1].append(numpy.empty((end[p] - first[p], *shape), numpy.int8))
        _unpack(group["bytes"][first[p]:end[p]], spins[-1][-1])
        families[-1].append(group["family"][first[p]:end[p]])
    return numpy.array(found), spins, families


def _grid(path, file, config, sweep, temperature):
    """Configurations of the same replicas at every time: a row for each time, temperature and replica, and
    the replicas copy by copy where there are any."""
    group = file["configurations"]
    algorithm = config["algorithm"]
    if algorithm["name"] == "pt":
        runs = file["runs/0000"]
        all_temperatures = len(runs["temperature" if "temperature" in runs else "value"])
        replicas = algorithm["replicas"], algorithm["samples"]
    else:
        all_temperatures = len(file["runs"])
        replicas = (max(algorithm["replicas"], algorithm["samples"]),)
    temperatures = algorithm["configurations"].get("temperatures", list(range(all_temperatures)))
    rows = math.prod(replicas)  # of a temperature
    per_time = len(temperatures) * rows
    count = len(group["configuration"])  # the axis: the other datasets have as many rows at least
    times = group["sweep"][:count - count % per_time:per_time]
    chosen = range(len(times)) if sweep is None else numpy.flatnonzero(times == sweep)
    if sweep is not None and len(chosen) == 0:
        raise ResultError(f"{path}: no configurations of sweep {sweep}; there are those of {_some(times)}")
    first, height = 0, len(temperatures)
    if temperature is not None:
        if temperature not in temperatures:
            raise ResultError(f"{path}: no configurations of temperature {temperature}; there are those of "
                              f"{_some(temperatures)}")
        first, height = temperatures.index(temperature), 1
    shape = tuple(reversed(config["model"]["shape"]))
    spins = numpy.empty((len(chosen), height, *replicas, *shape), numpy.int8)
    for k, time in enumerate(chosen):
        begin = time * per_time + first * rows
        _unpack(group["bytes"][begin:begin + height * rows], spins[k])
    return times[chosen], spins


def _some(values):
    """A few of them, for a message."""
    shown = [f"{value:.9g}" for value in values[:8]]
    return ", ".join(shown + ["..."] * (len(values) > 8)) or "none"


def _unpack(portable, spins):
    """Replicas in portable form, [replica, bytes], into `spins`, as many of them along its first axes."""
    bits = numpy.unpackbits(portable, axis=1, bitorder="little", count=spins.size // len(portable))
    spins[...] = (2 * bits.view(numpy.int8) - 1).reshape(spins.shape)


# --- opening --------------------------------------------------------------------------------------

@contextlib.contextmanager
def opened(path, result=True):
    """The h5py.File at `path`, verified: its checksum if it has one, that all of it is in this one file
    and, of a `result`, its format. ResultError if not. What the `with` block raises is left as it is; reading()
    is for errors of the file."""
    with _opened(path, ["everything"], result) as file:
        yield file


@contextlib.contextmanager
def reading(path):
    """Code that reads the file at `path` and does nothing else: what it raises is the fault of the file, and
    becomes a ResultError that says so."""
    try:
        yield
    except MemoryError:
        raise ResultError(f"{path}: not enough memory to read it") from None
    except (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError) as reason:
        raise ResultError(f"{path}: not as gpumc writes it ({type(reason).__name__}: {reason}); {REMEDY}") from None


def _opened(path, trial, result=True):
    """The open file, verified. `trial`: arguments of _probe(), what is going to be read."""
    path = os.fspath(path)
    sealed = _verify(path)
    if not sealed:
        _survives(path, trial)
    with reading(path), contextlib.ExitStack() as stack:
        file = stack.enter_context(_open(path))
        if result:
            _check_format(path, file, sealed)
        _check_members(path, file, set())
        stack.pop_all()
        return file


def seal(path):
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
    now = os.stat(path)
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
    if sys.executable and not _is_probe:
        _once(path, tuple(trial), lambda: _try(path, trial))


def _try(path, trial):
    limit = _PROBE_SECONDS + os.path.getsize(path) / _PROBE_BYTES
    try:
        code = subprocess.run([sys.executable, os.path.abspath(__file__), "--probe", path, *trial],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        raise ResultError(f"{path}: it has no checksum, and the process that reads such files first was not done after "
                          f"{limit:.0f} s; try again, or read it in parts") from None
    if code < 0:
        raise ResultError(f"{path}: damaged: HDF5 crashes when it reads it (signal {-code}); {REMEDY}")


def _probe(path, what="everything", chosen="[]"):
    """Reads what read(), configurations() with the arguments `chosen`, or anybody can read."""
    global _is_probe
    _is_probe = True
    if what == "read":
        read(path)
    elif what == "configurations":
        configurations(path, *json.loads(chosen))
    else:
        _probe_everything(path)


def _probe_everything(path):
    def visit(_, item):
        dict(item.attrs)
        if isinstance(item, h5py.Dataset):
            _axes(item.parent, item)
            for first in range(0, item.shape[0], 1024) if item.shape else [()]:
                item[first:first + 1024] if item.shape else item[()]

    with _open(path) as file:
        dict(file.attrs)
        _check_members(path, file, set())
        file.visititems(visit)


def _open(path):
    if not h5py.is_hdf5(path):
        raise ResultError(f"{path}: not an HDF5 file")
    try:
        return h5py.File(path, "r")
    except OSError:
        pass
    try:  # being written: one writer, many readers
        return h5py.File(path, "r", libver="latest", swmr=True)
    except OSError as reason:
        raise ResultError(f"{path}: not a finished file: another program writes it, or was killed while it did, or "
                          f"it is damaged ({reason})") from None


def _check_format(path, file, sealed):
    if _text(file.attrs.get("format", "")) != FORMAT:
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


def _check_members(path, group, seen):
    """Refuses numbers that are in other files, or nowhere: HDF5 reads them as zeros."""
    for name in group:
        link, where = group.get(name, getlink=True), f"{group.name.rstrip('/')}/{name}"
        if not isinstance(link, h5py.HardLink):
            raise ResultError(f"{path}: {where} is a link to another place, which is not followed")
        item = group[name]
        address = h5py.h5o.get_info(item.id).addr
        if address in seen:
            continue
        seen.add(address)
        if isinstance(item, h5py.Group):
            _check_members(path, item, seen)
        elif isinstance(item, h5py.Dataset):
            creation = item.id.get_create_plist()
            if creation.get_layout() == h5py.h5d.VIRTUAL:
                raise ResultError(f"{path}: {where} is a virtual dataset, whose numbers are stored elsewhere")
            if creation.get_external_count() > 0:
                raise ResultError(f"{path}: {where} has external storage, numbers in other files")


# --- reading --------------------------------------------------------------------------------------

def _table(group):
    """All datasets below a group by relative name: their arrays, and their labels."""
    arrays, labels = {}, {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]
            labels[name] = Label(*(printable(_text(item.attrs.get(key, "")))
                                   for key in ("long_name", "units", "symbol")),
                                 axes=_axes(group, item))

    if group is not None:
        group.visititems(visit)
    return arrays, labels


def _axes(group, dataset):
    if h5py.h5ds.is_scale(dataset.id):
        return ()
    prefix = group.name.rstrip("/") + "/"
    names = [_axis(dataset, references) for references in dataset.attrs.get("DIMENSION_LIST", [()] * dataset.ndim)]
    return tuple(name[len(prefix):] if name.startswith(prefix) else name for name in names)


def _axis(dataset, references):
    """Where the scale of a dimension is; "" without one, and where it was deleted, which crashes HDF5's own
    iteration over scales."""
    try:
        return dataset.file[references[0]].name or "" if len(references) else ""
    except (KeyError, OSError, ValueError):
        return ""


def attributes(item):
    """The attributes of an h5py.File, group or dataset, texts as str and scalars as numbers of Python; none of None."""
    values = {}
    for name, value in ({} if item is None else item.attrs).items():
        if isinstance(value, (bytes, str)):
            values[name] = _text(value)
        else:
            values[name] = value.item() if getattr(value, "size", 0) == 1 else value
    return values


def _scalar_text(file, name):
    return _text(file[name][()]) if name in file else ""


def _text(value):
    """Of fixed length (h5py gives bytes) or of variable length (str), with what is no UTF-8 kept as surrogates."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        _probe(*sys.argv[2:])
