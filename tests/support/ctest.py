"""CTest, as tests/validate, tests/slowest and tests/cuda/run use it: which tests there are, a run of some of them, slowest first, and what they took."""
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
STOPPED = 75  # exit code of a script that left tests for its next call

Run = collections.namedtuple("Run", "code cpu wall")  # exit code; seconds


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def names(build, *options):
    """Names of the tests of a build folder that options such as -L select."""
    listed = json.loads(output("ctest", "--test-dir", str(build), "--show-only=json-v1", *options))
    return [test["name"] for test in listed["tests"]]


def runs(build, begin=0):
    """name -> Run, the last one of each; tests/support/measured.c adds a line for each. `begin`: bytes to leave out."""
    found, file = {}, pathlib.Path(build) / "test-times.tsv"
    if file.exists():
        with file.open() as lines:
            lines.seek(begin)
            for line in lines:
                name, code, cpu, wall = line.rstrip("\n").split("\t")
                found[name] = Run(int(code), float(cpu), float(wall))
    return found


def run(build, chosen, seconds, jobs, minutes=None, environment=None):
    """Runs tests and returns name -> Run of those that ended by themselves. seconds: name -> what it took before; minutes: those that are still at
    work then are ended, and the others are not begun. Those that `seconds` does not know come first."""
    build = pathlib.Path(build).absolute()
    threads = max(1, (os.cpu_count() or 1) // jobs)  # of each, so that they do not wait for one another
    command = ["ctest", "--test-dir", str(build), "-R", f"^({'|'.join(map(re.escape, chosen))})$", "-j", str(jobs), "--output-on-failure"]
    tell_costs(build / "Testing/Temporary/CTestCostData.txt", {name: seconds.get(name, 3600) for name in chosen})
    if minutes:
        command += ["--stop-time", (datetime.datetime.now() + datetime.timedelta(minutes=minutes)).strftime("%H:%M:%S")]
    times = build / "test-times.tsv"
    begin = times.stat().st_size if times.exists() else 0
    try:
        subprocess.run(command, check=False, env={"OMP_NUM_THREADS": str(threads), **os.environ, **(environment or {})})
    except KeyboardInterrupt:
        pass  # those that ended have passed all the same
    return {name: ended for name, ended in runs(build, begin).items() if name in chosen}


def tell_costs(file, seconds):
    """CTest begins with the longest; what it knows of other tests stays."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known = file.read_text().partition("---")[0].splitlines() if file.exists() else []
    others = [line for line in known if line.split()[0] not in seconds]
    file.write_text("".join(f"{line}\n" for line in [*others, *(f"{name} 1 {taken}" for name, taken in seconds.items())]) + "---\n")


def commit():
    """Short hash of the checkout, with + where files other than the tables of what passed have changed since."""
    changed = output("git", "status", "--porcelain", "--", ".", ":!docs/gpu-tests.md", ":!tests/validated.tsv")
    return output("git", "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
