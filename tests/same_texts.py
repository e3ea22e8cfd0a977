"""Compares what two programs say, command by command.

    tests/same_texts.py --base OLD/gpumc --program build/release/gpumc [--only REGEX] [--verbose]

Runs `list`, `describe`, `schema`, `doctor`, `bench`, and over configs/ `validate`, `plan` and `status`, also for a GPU that is
not here; then `run`, `info` and `status` of small results, finished and unfinished. Text on either stream must be the same
byte for byte, and whatever the base has in its JSON must stand in that of the program, which may say more. What is measured
(times, rates, memory that is free) and what names the build is masked.

Exit code 0: all the same.
"""
import argparse
import glob
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.shortened import shortened  # noqa: E402

MASKS = [
    (r"\d[\d.e+]* (Ki|Mi|Gi|Ti)?B ((are|is) )?available", "SIZE available"),
    (r"that fits is \d+", "that fits is NUMBER"),
    (r"(?m)^  seconds_\w+ .*\n", ""),  # which stages there are is the algorithm's matter
    (r"about [\d.]+ \w+( \d+ \w+)? (\(estimate: sweeps|one after)", r"about TIME \2"),
    (r"[\d.e+-]+ flips/ns", "RATE flips/ns"),
    (r"commit \w+(-dirty)?", "commit COMMIT"),
    (r"(?m)^(  (git_commit|host|start|end|seconds\w*|update_rate|command_line|updated) +).*$", r"\1MASKED"),
    (r"gpumc-same-\w+", "FOLDER"),
]
MEASURED = re.compile(r"available_bytes$|^estimated_seconds$|updates_per_second$|flips_per_ns$|^commit$|^seconds|^git_commit$|"
                      r"^(host|start|end|update_rate|command_line|remaining_seconds)$")
SMALL = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: pa, population: 100, sweeps: 1, runs: 2, beta: {from: 0, to: 0.6, step: 0.02}, reweight: {from: 0.1, to: 0.5, step: 0.1}}
output: small.h5
"""
SAMPLES = """\
gpumc: 1
title: "samples of \\"spin\\" glasses"
seed: 5
model: {name: ea, shape: [4, 4, 4], write_couplings: true}
algorithm: {name: pt, samples: 3, replicas: 2, sweeps: 64, beta: {values: [0.1, 0.5]}, configurations: {every: 32}}
campaign: {model.sample: [0, 2, 4]}
output: samples-{model.sample}.h5
"""
CHAINS = """\
gpumc: 1
model: {name: ising2d, shape: [16, 8], h: 0.5}
algorithm: {name: canonical, thermalization: 10, sweeps: 100, replicas: 2, beta: {values: [0.1, 0.2]}, series: true}
kernel: {variant: tiled, generator: lcg32_random}
output: chains.h5
"""


def masked(text):
    for pattern, stand_in in MASKS:
        text = re.sub(pattern, stand_in, text)
    # Columns of measured numbers are as wide as these.
    return re.sub(r" +", " ", text)


def without_measurements(command, text):
    """Without the last columns of the table that `gpumc bench` prints, and the times in that of `gpumc plan`."""
    if command == "bench":
        return re.sub(r"(?m)( [\d.e+-]+){3} *$", " RATES", text)
    return re.sub(r" [\d.]+ (ms|s|min|h|d) ", " TIME ", text) if command == "plan" else text


def missing(base, new, place=""):
    """What the base's JSON has and the other lacks."""
    if isinstance(base, dict) and isinstance(new, dict):
        return [line for key, value in base.items() if not MEASURED.search(key)
                for line in (missing(value, new[key], f"{place}/{key}") if key in new else [f"{place}/{key} is missing"])]
    if isinstance(base, list) and isinstance(new, list) and len(base) == len(new):
        return [line for i, pair in enumerate(zip(base, new)) for line in missing(*pair, f"{place}/{i}")]
    return [] if base == new else [f"{place}: {base!r} and {new!r}"]


def say(program, folder, words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def differences(words, base, new):
    if base[0] != new[0]:
        return [f"exit code {base[0]} and {new[0]}: {new[2] or base[2]}"]
    lines = []
    if "--json" in words and base[0] == 0:
        lines = missing(json.loads(base[1]), json.loads(new[1]))
    else:
        texts = [masked(out[1]) for out in (base, new)]
        texts = [without_measurements(words[0], text) for text in texts]
        lines = [f"'{a}' and '{b}'" for a, b in zip(texts[0].splitlines() + [""], texts[1].splitlines() + [""]) if a != b]
        if not lines and texts[0] != texts[1]:
            lines = [f"text of {len(texts[0])} and of {len(texts[1])} characters"]
    if masked(base[2]) != masked(new[2]):
        lines.append(f"on stderr '{base[2]}' and '{new[2]}'")
    return lines


def either(*words):
    return [[*words], [*words, "--json"]]


def general():
    names = ["ising2d", "ising3d", "ea", "pa", "pt", "canonical", "config", "kernel", "isnig2d"]
    yield from either("list")
    for name in names:
        yield from either("describe", name)
    yield from [["describe", "--markdown"], ["schema"], ["--help"], ["help", "bench"], ["describe"], ["info"], ["plan"]]
    yield from either("doctor")
    yield from either("bench", "--seconds", "0", "--population", "64", "--threads", "1", "--hits", "1,2", "--shape", "64x64", "--rng")
    yield from either("bench", "--seconds", "0", "--population", "8", "--model", "ea", "--set", "model.couplings=gaussian")
    yield ["bench", "--kernel", "packed", "--shape", "9x9"]


def of_configs():
    paths = sorted(glob.glob(str(ROOT / "configs/**/*.yaml"), recursive=True))
    yield from either("validate", *paths)
    for path in paths:
        few = shortened(yaml.safe_load(pathlib.Path(path).read_text()))[1]
        few = [word for word in few if word == "--set" or "=" in word]
        for words in (["plan", path, *few], ["plan", path, "--gpu", "H200"], ["plan", path, "--gpu", "1 GiB"], ["status", path]):
            yield from either(*words)


def of_results():
    for name in "small.yaml", "samples.yaml", "chains.yaml":
        yield from either("plan", name)
        yield from either("status", name)
        yield ["run", name, "--quiet"]
        yield from either("status", name)
        yield from either("validate", name)
    for name in "small.h5", "samples-2.h5", "chains.h5", "none.h5":
        yield from either("info", name)
    yield ["run", "small.yaml", "-o", "stopped.h5", "--max-time", "1 ms", "--quiet"]
    yield from either("info", "stopped.h5.partial")
    yield from either("status", "small.yaml", "-o", "stopped.h5")
    yield from either("status", "small.yaml", "--set", "seed=7")
    yield from either("validate", "small.yaml", "--set", "model.shape=[3,x]")
    yield ["plan", "small.yaml", "--set", "algorithm.population=1000000000"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true", help="name every command")
    arguments = parser.parse_args()
    programs = [str(pathlib.Path(path).resolve()) for path in (arguments.base, arguments.program)]
    count = bad = 0
    with tempfile.TemporaryDirectory(prefix="gpumc-same-") as folder:
        folders = [pathlib.Path(folder) / name / "x" for name in ("base", "new")]
        for one in folders:
            one.mkdir(parents=True)
            for name, text in ("small", SMALL), ("samples", SAMPLES), ("chains", CHAINS):
                (one / f"{name}.yaml").write_text(text)
        for words in [*general(), *of_configs(), *of_results()]:
            if not re.search(arguments.only, " ".join(words)):
                continue
            base, new = (say(program, one, words) for program, one in zip(programs, folders))
            lines = differences(words, base, new)
            count += 1
            bad += bool(lines)
            if arguments.verbose or lines:
                print("gpumc " + " ".join(words[:6]), *lines, sep="\n    ", flush=True)
    print(f"{count} commands compared: {'all the same' if not bad else f'{bad} differ'}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
