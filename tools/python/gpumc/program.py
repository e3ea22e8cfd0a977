"""run(), plan(), validate(), status() and describe(): the program gpumc, called from Python."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import typing
import warnings

from . import progress
from .version import __version__

if typing.TYPE_CHECKING:
    import xarray

MISTAKE = 2  # exit code: the configuration has mistakes, or an option has
STOPPED = 75  # exit code: stopped by a signal or the time limit, resumable
LOOK_SECONDS = 0.5


class ProgramError(Exception):
    """gpumc ended with an error, whose message this has; `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclasses.dataclass(frozen=True)
class Mistake:
    """One mistake in a configuration: `message`, and its place in the file, None where the configuration is a dictionary."""
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.message if self.file is None else f"{self.file}:{self.line}:{self.column}: {self.message}"


class ConfigError(ProgramError):
    """The configuration has mistakes: `mistakes`, all that were found."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__("\n".join(map(str, mistakes)), MISTAKE)
        self.mistakes = mistakes


@dataclasses.dataclass(frozen=True)
class Job:
    """What run() has done: `outputs`, a path for each task; `stopped` if the time limit or an interrupt ended it before it
    was done (the same call continues it); `warnings`, what the program said."""
    outputs: list[str]
    stopped: bool
    warnings: str = dataclasses.field(repr=False)

    def open(self) -> xarray.DataTree | xarray.Dataset:
        """gpumc.open() of the result, of the working file where the run was stopped; of several tasks gpumc.open_campaign()."""
        from .campaign import open_campaign
        from .tree import open as open_tree
        if len(self.outputs) > 1:
            return open_campaign(self.outputs)
        return open_tree(self.outputs[0] + ".partial" if self.stopped else self.outputs[0])


def find(program: str | os.PathLike[str] | None = None) -> str:
    """Path of the program: `program`, the environment variable GPUMC_PROGRAM, the one that was installed with this package, the
    first in PATH, or build/release/gpumc of a source tree: that in which this package stands, or the working directory."""
    named = program or os.environ.get("GPUMC_PROGRAM")
    above = pathlib.Path(__file__).resolve().parents
    trees = [folder / "build/release/gpumc" for folder in (above[3], pathlib.Path.cwd())]
    # A wheel's package is in PREFIX/lib/python3.N/site-packages, and the program of the wheel in PREFIX/bin.
    wheel = [above[4] / "bin/gpumc"] if above[1].name.endswith("-packages") else []
    for path in [named] if named else [*wheel, shutil.which("gpumc"), *trees]:
        if path and shutil.which(os.fspath(path)):
            return os.fspath(path)
    raise FileNotFoundError(f"{named}: no such program" if named else
                            "no program gpumc in PATH; build it (tools/quickstart build), or set GPUMC_PROGRAM to its path")


def run(config: str | os.PathLike[str] | dict[str, typing.Any], *, output: str | os.PathLike[str] | None = None, device: str | None = None,
        threads: int | None = None, max_time: str | None = None, task: str | int | None = None, fresh: bool = False,
        show: bool | None = None, program: str | os.PathLike[str] | None = None, **overrides: typing.Any) -> Job:
    """Run a configuration, or continue it, as `gpumc run` does; returns a Job, whose open() gives the result.

    config      path of a YAML file, or a dictionary of its contents
    overrides   values of keys: model__shape=[16, 16], or **{"model.shape": [16, 16]}; None leaves a key out
    output, device, threads, max_time, task, fresh
                the options of that name: device="cuda", max_time="2 h", task="0-3"
    show        whether progress is shown: in a notebook as a bar, otherwise as a line of the terminal; None: if there
                is one of the two
    program     path of gpumc (find())

    A complete result is left alone. An interrupt (the stop button of a notebook) makes the program write a checkpoint
    and end; the same call continues. Raises ConfigError with the mistakes of the configuration, ProgramError with the program's message if it
    fails otherwise, and FileNotFoundError where there is no program.
    """
    with _file_of(config) as path:
        options = _options(overrides, output, device)
        tasks = _told(find(program), "plan", path, *options, needed="tasks", config=config)["tasks"]
        outputs = [tasks[number]["output"] for number in _numbers(task, len(tasks))]
        more = [f"--{name}={value}" for name, value in (("task", task), ("threads", threads), ("max-time", max_time))
                if value is not None]
        command = [find(program), "run", path, "--quiet", *options, *more, *["--fresh"] * bool(fresh)]
        with progress.shown(outputs, show) as look:
            code, said = _watched(command, look)
    if code not in (0, STOPPED):
        raise _error(said.strip() or f"gpumc exited with code {code}", code, config)
    if said.strip():
        warnings.warn(said.strip(), stacklevel=2)
    return Job(outputs, code == STOPPED, said)


def plan(config: str | os.PathLike[str] | dict[str, typing.Any], *, output: str | os.PathLike[str] | None = None, device: str | None = None,
         program: str | os.PathLike[str] | None = None, **overrides: typing.Any) -> dict[str, typing.Any]:
    """What `gpumc plan --json` says: "tasks", each with its output, memory and time. Arguments and errors as of run()."""
    with _file_of(config) as path:
        return _told(find(program), "plan", path, *_options(overrides, output, device), needed="tasks", config=config)


def status(config: str | os.PathLike[str] | dict[str, typing.Any], *, output: str | os.PathLike[str] | None = None,
           program: str | os.PathLike[str] | None = None, **overrides: typing.Any) -> dict[str, typing.Any]:
    """What `gpumc status --json` says: "tasks", each with its output and its "state" ("done", "running", "resumable", "failed", "refused",
    "not started"), and "counts" of the states. Arguments and errors as of run()."""
    with _file_of(config) as path:
        return _told(find(program), "status", path, *_options(overrides, output, None), needed="tasks", config=config)


def validate(config: str | os.PathLike[str] | dict[str, typing.Any], *, output: str | os.PathLike[str] | None = None, device: str | None = None,
             program: str | os.PathLike[str] | None = None, **overrides: typing.Any) -> list[str]:
    """Check a configuration without running it. Returns the warnings, of results that would not be trusted and the like; arguments and
    errors as of run(): ConfigError has the mistakes."""
    with _file_of(config) as path:
        found = _told(find(program), "validate", path, *_options(overrides, output, device), needed="mistakes", config=config)
    if not found["valid"]:
        raise _error("\n".join(found["mistakes"]), MISTAKE, config)
    return list(found["warnings"])


def describe(name: str, *, plugin: str | os.PathLike[str] | None = None, program: str | os.PathLike[str] | None = None) -> dict[str, typing.Any]:
    """What `gpumc describe NAME --json` says of a model or an algorithm ("config" and "kernel": of those keys): "keys" with types, units, ranges
    and defaults, "observables", ... `plugin`: its name or path. Raises ProgramError for a name that is not known."""
    more = [] if plugin is None else [f"--plugin={os.fspath(plugin)}"]
    return _told(find(program), "describe", name, *more, needed="keys")


def _told(program, command, *words, needed, config=None):
    """What a command says in JSON, of one file where it says that of each: an object that has `needed`."""
    _compare_versions(program)
    done = called(program, command, *words, "--json")
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError:
        found = None
    if isinstance(found, list) and len(found) == 1:
        found, = found
    if isinstance(found, dict) and needed in found:
        return found
    if said := done.stderr.strip():
        raise _error(said, done.returncode, config)
    raise ProgramError(f"{program}: it printed {done.stdout[:60]!r} instead of what {command} says; is it gpumc?", done.returncode)


def _error(said, code, config):
    """ConfigError where every line has the place of a mistake, else ProgramError. A dictionary's places are those of a file that is gone."""
    places = [re.fullmatch(r"(?:gpumc: error: )?(.+?):(\d+):(\d+): (.*)", line) for line in said.splitlines()]
    if code != MISTAKE or not places or not all(places):
        return ProgramError(said, code)
    return ConfigError([Mistake(place[4]) if isinstance(config, dict) else Mistake(place[4], place[1], int(place[2]), int(place[3])) for place in places])


def called(program, *arguments):
    """The finished process of a command of the program."""
    try:
        return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as reason:
        raise ProgramError(f"{program} cannot be started: {reason.strerror}", 1) from None


def _numbers(task, count):
    """Of the tasks that a list names, as "0,3-8"; the program refuses one that names others."""
    if task is None:
        return range(count)
    spans = [part.partition("-") for part in str(task).split(",")]
    named = [number for first, _, last in spans if first.strip().isdigit()
             for number in range(int(first), int(last if last.strip().isdigit() else first) + 1)]
    return list(dict.fromkeys(number for number in named if number < count))


def _options(overrides, output, device):
    """Options that `run` and `plan` share."""
    chosen = [f"--set={key.replace('__', '.')}={'null' if value is None else _json(value)}"
              for key, value in overrides.items()]
    chosen += [f"--output={os.fspath(output)}"] if output is not None else []
    return chosen + ([f"--device={device}"] if device is not None else [])


@contextlib.contextmanager
def _file_of(config):
    """The path of a configuration, that of a temporary file for a dictionary."""
    if not isinstance(config, dict):
        yield os.fspath(config)
        return
    text = _json(config)  # JSON is YAML
    with tempfile.TemporaryDirectory(prefix="gpumc-") as folder:
        path = os.path.join(folder, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield path


def _json(value):
    """With numbers and arrays of numpy as those of Python."""
    return json.dumps(value, default=lambda other: other.tolist())


def _watched(command, look):
    """Exit code and messages of the program; look() is called while it works. An interrupt, and any error here, makes it write
    a checkpoint and end; a second interrupt kills it."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                                   start_new_session=True)
        interrupts = 0
        while process.poll() is None:
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_SECONDS)
                look()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGKILL if interrupts else signal.SIGINT)
                interrupts += 1
            except BaseException:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
        said.seek(0)
        return process.returncode, said.read()


def _compare_versions(program):
    """The package is made for the program of its version."""
    if program in _compared:
        return
    _compared.add(program)
    words = called(program, "--version").stdout.split()
    version = words[1] if len(words) > 1 and words[0] == "gpumc" else "unknown"
    if version.split(".")[:2] != __version__.split(".")[:2]:
        warnings.warn(f"{program} is version {version}, and this package is {__version__}", stacklevel=4)


_compared: set[str] = set()
