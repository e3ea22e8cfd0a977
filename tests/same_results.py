"""Compares the results of two programs, number by number.

    tests/same_results.py --base OLD/gpumc --program build/release/gpumc [--device cuda] [--only REGEX]
                          [--allow FILE] [--jobs N] [--list] [--verbose]

Runs every configuration under configs/, shortened as cli_test_configs does, with every kernel that takes it,
and a set of small jobs that reach what those leave out (kernels' own keys, disorder of every kind, series, configurations,
reweighting, adaptive steps), with both programs. Then it compares all numeric datasets and attributes of the two results bit
for bit, apart from timings and /provenance. A job that the base refuses must be refused by the program too.

A change that is known and explained stands in the file given by --allow, one a line: a pattern of names (CASE/DATASET as in
fnmatch), the largest relative difference (`inf`: any), and the reason. What no pattern covers fails; so does a pattern that
nothing needed.

Exit code 0: all the same. Used at every step of a change that must not move a number.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.shortened import shortened  # noqa: E402

REFUSED = 2
# Of what differs between two runs of one program.
TIMINGS = re.compile(r"^/provenance(/|@|$)|@(seconds|start|end|host|created|updated|program_version|checksum)\b|seconds")

MODELS = {
    "square": "{name: ising2d, shape: [64, 8]}",
    "field": "{name: ising2d, shape: [64, 8], J: -1.5, h: 0.25}",
    "cubic": "{name: ising3d, shape: [64, 4, 4], h: -0.3}",
    "glass": "{name: ea, shape: [4, 4, 4], disorder_seed: 3, sample: 2}",
    "glass-2d": "{name: ea, shape: [8, 4], p: 0.8, h: 0.2}",
    "gaussian": "{name: ea, shape: [4, 4, 4], couplings: gaussian}",
    "random-field": "{name: ea, shape: [4, 4, 4], p: 1, random_field: {distribution: bimodal, width: 0.7}}",
    "gaussian-field": "{name: ea, shape: [6, 4], random_field: {distribution: gaussian, width: 0.5}, write_couplings: true}",
}
BETA = "beta: {values: [0.1, 0.25, 0.4, 0.6]}"
ALGORITHMS = {
    "pa": "{name: pa, population: 200, sweeps: 2, runs: 2, beta: {from: 0, to: 0.6, step: 0.1}, structure_factor: true}",
    "pa-adaptive": "{name: pa, population: 200, sweeps: 1, runs: 3, beta: {from: 0, to: 0.6, overlap: 0.8}, "
                   "resampling: systematic}",
    "pa-reweight": "{name: pa, population: 200, sweeps: 1, runs: 3, beta: {from: 0, to: 0.6, step: 0.05}, "
                   "reweight: {from: 0.1, to: 0.5, step: 0.1}}",
    "canonical": f"{{name: canonical, thermalization: 20, sweeps: 400, interval: 2, {BETA}, replicas: 33, structure_factor: true, "
                 "series: true, reweight: {from: 0.1, to: 0.6, step: 0.1}, configurations: {every: 100}}",
    "canonical-samples": f"{{name: canonical, samples: 40, thermalization: 20, sweeps: 200, {BETA}}}",
    "canonical-heat": "{name: canonical, update: heat_bath, thermalization: 10, sweeps: 300, replicas: 1, "
                      "beta: {from: 0, to: 0.5, count: 3, spacing: linear}}",
    "pt": f"{{name: pt, samples: 33, replicas: 2, sweeps: 128, exchange_every: 2, {BETA}, structure_factor: true}}",
    "pt-tune": "{name: pt, samples: 3, replicas: 3, sweeps: 600, thermalization: 20, exchange_every: 1, measure_every: 2, update: "
               "heat_bath, tune: {sweeps: 400, iterations: 3}, beta: {from: 0.1, to: 0.8, count: 5}, configurations: {times: [10, 600]}}",
}
TILED = {
    "plain": "{variant: tiled}", "hits": "{variant: tiled, hits: 10, tile: 4}",
    "palindrome": "{variant: tiled, hits: 2, order: symmetrised}",
    "lcg": "{variant: tiled, hits: 5, generator: lcg32_random}",
    "fibonacci": "{variant: tiled, generator: lagged_fibonacci_521}",
}


def lists(program):
    return json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)


def variants(base, model, device):
    """Kernels of the base: what came later has nothing to be compared with."""
    kernels, = (m["kernels"] for m in lists(base)["models"] if m["name"] == model)
    return [k["variant"] for k in kernels if k["device"] == device and not k["absent"]]


def cases(base, device):
    """name -> (configuration's text, options)."""
    found = {}
    known = {a["name"] for a in lists(base)["algorithms"]}
    kind = device.split(":")[0]
    for path in sorted(glob.glob(str(ROOT / "configs/**/*.yaml"), recursive=True)):
        text = pathlib.Path(path).read_text()
        config = yaml.safe_load(text)
        if config["algorithm"]["name"] not in known:
            continue
        name = os.path.relpath(path, ROOT / "configs")[:-len(".yaml")]
        options = shortened(config)[1]
        own = config.get("kernel", {}).get("variant", "auto")
        for variant in [None] + variants(base, config["model"]["name"], kind):
            if variant and (variant == own or "kernel.variant" in config.get("campaign", {})):
                continue
            choice = ["--set", f"kernel.variant={variant}"] if variant else []
            found[f"configs/{name}/{variant or 'as-it-is'}"] = (text, options + choice)
    for model, keys in MODELS.items():
        for algorithm, settings in ALGORITHMS.items():
            for variant in variants(base, yaml.safe_load(keys)["name"], kind):
                if variant != "tiled":
                    found[f"small/{model}/{algorithm}/{variant}"] = small(keys, settings, f"{{variant: {variant}}}")
        for tiling, kernel in TILED.items():
            if "ising" in keys and "tiled" in variants(base, "ising2d", kind):
                settings = f"{{name: canonical, thermalization: 20, sweeps: 400, interval: 20, replicas: 2, {BETA}, structure_factor: true}}"
                found[f"small/{model}/tiled-{tiling}"] = small(keys.replace("8]", "16]").replace("4, 4]", "16, 16]"), settings, kernel)
    return found


def small(model, algorithm, kernel):
    return f"gpumc: 1\nseed: 11\nmodel: {model}\nalgorithm: {algorithm}\nkernel: {kernel}\noutput: r.h5\n", []


def run(program, device, text, options, folder):
    """Exit code, messages, and what the results hold: name -> array."""
    folder.mkdir()
    (folder / "c.yaml").write_text(text)
    done = subprocess.run([program, "run", "c.yaml", *options, "--device", device, "--quiet", "--threads", "1"], cwd=folder,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    numbers = {}
    for path in sorted(folder.rglob("*.h5")):
        prefix = "" if path.parent == folder else str(path.relative_to(folder))
        with h5py.File(path) as file:
            collect(file, prefix, numbers)
    return done.returncode, done.stderr.strip(), numbers


def collect(file, prefix, numbers):
    def visit(name, item):
        name = "/" + name.strip("/")
        for key, value in item.attrs.items():
            value = np.asarray(value)
            if value.dtype.kind in "iufb" and not TIMINGS.search(f"{name}@{key}"):
                numbers[f"{prefix}{name}@{key}"] = value
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "iufb" and not TIMINGS.search(name):
            numbers[prefix + name] = item[()]
    visit("/", file)
    file.visititems(visit)


def difference(one, other):
    """0 where the bits are the same, else the largest relative difference; inf where that is not defined."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.inf
    if one.tobytes() == other.tobytes():
        return 0.0
    one, other = np.atleast_1d(one).astype(float), np.atleast_1d(other).astype(float)
    if (np.isnan(one) != np.isnan(other)).any():
        return np.inf
    here = ~np.isnan(one) & (one != other)
    if not here.any():
        return 1e-300  # NaN of another sign, or -0
    with np.errstate(all="ignore"):
        relative = np.abs(one - other) / np.maximum(np.abs(one), np.abs(other))
    return float(relative[here].max()) if np.isfinite(relative[here]).all() else np.inf


def compare(name, case, arguments):
    """Lines about what differs: (name of the number, relative difference)."""
    with tempfile.TemporaryDirectory(prefix="gpumc-same-") as folder:
        folder = pathlib.Path(folder)
        base = run(arguments.base, arguments.device, *case, folder / "base")
        new = run(arguments.program, arguments.device, *case, folder / "new")
    if base[0] != new[0]:
        return [(f"{name}: exit code {base[0]} and {new[0]}: {new[1] or base[1]}", np.inf)], 0, False
    if base[0] == REFUSED:
        return [], 0, True
    if base[0] != 0:
        return [(f"{name}: exit code {base[0]}: {base[1]}", np.inf)], 0, False
    odd = sorted(set(base[2]) ^ set(new[2]))
    lines = [(f"{name}{n}: only in the {'base' if n in base[2] else 'new one'}", np.inf) for n in odd]
    for number in sorted(set(base[2]) & set(new[2])):
        far = difference(base[2][number], new[2][number])
        if far:
            lines.append((name + number, far))
    return lines, len(base[2]), False


def allowances(path):
    rows = []
    for line in pathlib.Path(path).read_text().splitlines() if path else []:
        if line.strip() and not line.startswith("#"):
            pattern, bound, *reason = line.split(None, 2)
            if not reason:
                sys.exit(f"{path}: no reason: {line}")
            rows.append({"pattern": pattern, "bound": float(bound), "reason": reason[0], "seen": 0.0})
    return rows


def allowed(number, far, rows):
    for row in rows:
        if fnmatch.fnmatch(number, row["pattern"]) and far <= row["bound"]:
            row["seen"] = max(row["seen"], far)
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="")
    parser.add_argument("--allow")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="only name the cases")
    parser.add_argument("--verbose", action="store_true", help="name the cases that both refuse")
    arguments = parser.parse_args()
    arguments.base, arguments.program = (str(pathlib.Path(p).resolve()) for p in (arguments.base, arguments.program))
    todo = {n: c for n, c in cases(arguments.base, arguments.device).items() if re.search(arguments.only, n)}
    if arguments.list:
        print("\n".join(todo))
        return 0
    rows, bad, compared, refused, numbers = allowances(arguments.allow), 0, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(lambda item: compare(*item, arguments), todo.items())
        for name, (lines, count, was_refused) in zip(todo, outcomes):
            if was_refused and arguments.verbose:
                print(f"refused by both: {name}")
            refused += was_refused
            compared += not was_refused
            numbers += count
            for number, far in lines:
                if not allowed(number, far, rows):
                    bad += 1
                    print(f"differs by {far:.2g}: {number}", flush=True)
    for row in rows:
        print(f"allowed: {row['pattern']} up to {row['bound']:g}, largest seen {row['seen']:.2g}: {row['reason']}")
        if not row["seen"] and not arguments.only:
            bad += 1
            print(f"nothing needs this: {row['pattern']}")
    print(f"{compared} cases of {numbers} datasets and attributes compared, {refused} refused by both: "
          f"{'all the same' if not bad else f'{bad} differ'}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
