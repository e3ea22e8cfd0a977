"""CTest, as tests/validate, tests/slowest and tests/cuda/run use it: which tests there are, a run of some of them, slowest first, and what they took."""
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
STOPPED = 75  # exit code of what was not ended: a test, or a script that left tests for its next call

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
    """Runs tests and returns name -> Run of those that ended, with code STOPPED where GPUMC_STOP_AFTER had them stopped. seconds: name ->
    what it took before; minutes: those that are still at work then are ended, and the others are not begun. Those that `seconds` does
    not know come first."""
    build = pathlib.Path(build).absolute()
    threads = max(2, (os.cpu_count() or 1) // jobs)  # of each: all cores would wait for one another
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


WITHOUT_TABLES = ":/", ":!/docs/gpu-tests.md", ":!/tests/validated.tsv"  # of what passed


def commit():
    """Short hash of the last commit that changed more than the tables of what passed, with + where files have changed since."""
    changed = output("git", "status", "--porcelain", "--", *WITHOUT_TABLES)
    return output("git", "log", "-1", "--format=%h", "--abbrev=12", "--", *WITHOUT_TABLES) + ("+" if changed else "")


def rotation(commit=None):
    """Which cases and tests have their turn, as support/measured.c has it: the number of commits, or one from the hash, of a commit without
    Git or of a shallow clone, which does not know how many there were. 0: not a checkout of Git."""
    if commit is not None:
        return int(commit[:6], 16)
    if os.environ.get("GPUMC_ROTATION"):
        return int(os.environ["GPUMC_ROTATION"])
    try:
        if output("git", "rev-parse", "--is-shallow-repository") == "true":
            return int(output("git", "rev-parse", "HEAD")[:6], 16)
        return int(output("git", "rev-list", "--count", "HEAD"))
    except (OSError, subprocess.CalledProcessError):
        return 0
