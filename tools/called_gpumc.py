"""The gpumc that tools start: which one, a call of it, and a run whose numbers they want.

    program = called_gpumc.find(options.program)
    doctor = json.loads(called_gpumc.call([program, "doctor", "--json"]).stdout)
    done = called_gpumc.run(program, {"gpumc": 1, ...}, ["--device", "cpu"], {"algorithm.sweeps": 100})
    done.provenance["updates"] / done.seconds
"""
import collections
import json
import os
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
LIMIT = 1800  # seconds of one call

Done = collections.namedtuple("Done", "provenance seconds said")  # of the result; from start to exit; its standard error


class CallError(Exception):
    """A call that failed; the message has what the program said."""


def find(path=None):
    """The absolute path of a program: of `path`, else of the one in build/release, else of the one in PATH. Raises FileNotFoundError."""
    for candidate in [path] if path else [os.path.join(ROOT, "build", "release", "gpumc"), "gpumc"]:
        found = shutil.which(candidate)
        if found:
            return os.path.abspath(found)
    raise FileNotFoundError(f"{path}: no program" if path else "gpumc is neither built nor in PATH")


def call(command, environment=None):
    """Calls it and returns the subprocess.CompletedProcess. Raises CallError."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT, env=environment)
    except subprocess.TimeoutExpired:
        raise CallError(f"not finished after {LIMIT} s") from None
    if done.returncode:
        said = "; ".join(done.stderr.strip().splitlines())
        raise CallError(f"exit {done.returncode}: {said}" if done.returncode > 0 else f"killed by signal {-done.returncode}: {said}")
    return done


def run(program, config, words, keys, before=(), environment=None):
    """Runs a configuration, a dictionary, with options and keys for --set, and discards the result. `before`: a command that starts the
    program. Raises CallError."""
    with tempfile.TemporaryDirectory(prefix="gpumc-run-") as folder:
        path, output = os.path.join(folder, "config.yaml"), os.path.join(folder, "result.h5")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)  # JSON is YAML too
        settings = [word for name, value in keys.items() for word in ("--set", f"{name}={value}")]
        begin = time.perf_counter()
        done = call([*before, program, "run", path, *words, "--quiet", "-o", output, *settings], environment)
        seconds = time.perf_counter() - begin
        return Done(json.loads(call([program, "info", output, "--json"]).stdout)["provenance"], seconds, done.stderr)
