"""Two mistakes at a time over all keys of every model, algorithm and kernel: `gpumc validate` reports
them with their places, and never does anything else.

The keys come from `gpumc describe`, so that those of new plugins are drawn as well. support/fuzz.py
has the number of configurations and the seed.
"""
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, fuzz
from support.device import PROGRAM

FILES = fuzz.files(2000)
BATCH = 50
ENOUGH = 1000  # configurations of which some pass: 3 % do, so that all of a few batches may be rejected
TIMEOUT_SECONDS = 120
PLACE = re.compile(r"^[^:]+:\d+:\d+: .")

MODELS = {"ising2d": {"shape": "[64, 32]"}, "ising3d": {"shape": "[64, 8, 8]"},
          "ea": {"shape": "[16, 16, 16]"}}
ALGORITHMS = {
    "canonical": {"thermalization": "10", "sweeps": "840", "beta.values": "[0.1, 0.2, 0.3]"},
    "pa": {"population": "100", "beta.to": "1.0", "beta.step": "0.1"},
    "pt": {"sweeps": "840", "beta.from": "0.1", "beta.to": "0.4", "beta.count": "4"},
}
# `tiled` has keys of its own, so that it is drawn more often; none is called `spinn`.
KERNELS = ["auto", "tiled", "tiled", "auto", "tiled", "multispin", "spin", "packed", "walker", "spinn"]

# Of any type: most are mistakes wherever they stand, and some are not.
ANYTHING = ["0", "-1", "1", "2", "3", "7", "1e999", "1e18", "2147483647", "4294967295", "0.5", "-0.5",
            "two", "''", "~", "[]", "{}", "[1, x]", "[2, 1]", "[0, 0]", "[0]", "[2, 2]", "{a: 1}", "true",
            "[[1]]", "10 min", "4 GiB", "0x10", "1e-300", "[1e-300, 1e6]", "file", "gaussian", "nan"]


def described(name):
    done = subprocess.run([PROGRAM, "describe", name, "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)["keys"]


def flat(keys, prefix=""):
    for key in keys:
        yield prefix + key["name"], key
        yield from flat(key.get("children", []), prefix + key["name"] + ".")


def edge_of(rng, key, beyond):
    """The least or the largest number that the key takes, or one that is just beyond."""
    lowest = rng.random() < 0.7
    edge = key["minimum"] if lowest else key.get("maximum", 1e9)  # temperatures have none
    if not isinstance(edge, (int, float)):
        return rng.choice(ANYTHING)
    step = max(key.get("multiple_of", 1), abs(edge) * 1e-3 if key["type"] == "real" else 1)
    number = edge + (step if lowest != beyond else -step) * (beyond or rng.random() < 0.7)
    text = repr(int(number)) if key["type"] == "integer" else repr(float(number))
    return f"[{text}]" if "list_minimum" in key and rng.random() < 0.5 else text


def right_value(rng, key):
    """One that the key takes by itself, mostly; it may not go together with others."""
    if "choices" in key:
        return rng.choice(key["choices"])
    if key["type"] == "boolean":
        return rng.choice(["true", "false"])
    if "minimum" in key and rng.random() < 0.5:
        return edge_of(rng, key, beyond=False)
    return rng.choice(["1", "2", "4", "10", "20", "0.2", "[0.1, 0.2]", "true"])


def wrong_value(rng, key):
    if "minimum" in key and rng.random() < 0.4:
        return edge_of(rng, key, beyond=True)
    return rng.choice(ANYTHING)


def value_for(rng, key):
    return rng.choice([right_value, wrong_value])(rng, key)


def nested(flat_values):
    """Dotted keys as a tree of blocks; a value given to a block itself wins."""
    tree = {}
    for name, value in flat_values.items():
        node = tree
        *blocks, last = name.split(".")
        for block in blocks:
            node = node.setdefault(block, {})
            if not isinstance(node, dict):
                break
        else:
            node[last] = value
    return tree


def flow(tree):
    if not isinstance(tree, dict):
        return tree
    return "{" + ", ".join(f"{name}: {flow(value)}" for name, value in tree.items()) + "}"


# A value that was divided by, though its mistake was known.
FOUND = [("{variant: tiled, hits: 0, order: symmetrised}", "canonical"),
         ("{variant: tiled, hits: two, order: symmetrised}", "canonical"),
         ("{variant: tiled, order: symmetrised}\ncampaign: {kernel.hits: [2, x]}", "canonical"),
         ("{hits: 0, order: symmetrised}\ncampaign: {kernel.variant: [tiled]}", "canonical")]


class Fuzzer:
    def __init__(self):
        self.rng = None  # of a configuration
        self.keys = {name: list(flat(described(name))) for name in [*MODELS, *ALGORITHMS, "kernel"]}
        self.cells = list(itertools.product(MODELS, ALGORITHMS, KERNELS))

    def found(self, kernel, algorithm):
        keys = flow({"name": algorithm, **nested(ALGORITHMS[algorithm]), "interval": "10"})
        return (f"gpumc: 1\nseed: 1\noutput: o.h5\nmodel: {{name: ising2d, shape: [64, 64]}}\n"
                f"algorithm: {keys}\nkernel: {kernel}\n")

    def config(self, number, changes=2):
        self.rng = fuzz.generator(20261123, number)
        model, algorithm, kernel = self.cells[number % len(self.cells)]
        blocks = {"model": dict(MODELS[model]), "algorithm": dict(ALGORITHMS[algorithm]),
                  "kernel": {"variant": kernel}}
        campaign = {}
        tables = {"model": model, "algorithm": algorithm, "kernel": "kernel"}
        for _ in range(changes):
            block = self.rng.choice(["model", "algorithm", "algorithm", "kernel", "kernel"])
            name, key = self.rng.choice(self.keys[tables[block]])
            value = value_for(self.rng, key)
            action = self.rng.random()
            if action < 0.1:
                blocks[block].pop(name, None)
            elif action < 0.2 and key.get("sweepable"):
                campaign[f"{block}.{name}"] = f"[{value}, {value_for(self.rng, key)}]"
            elif action < 0.25:
                blocks[block][name + "x"] = value
            else:
                blocks[block][name] = value
        names = {"model": model, "algorithm": algorithm}
        if changes > 0 and self.rng.random() < 0.05:
            block = self.rng.choice(["model", "algorithm"])
            names[block] = self.rng.choice([names[block][:-1], names[block] + "x", "zzz", "~"])
        lines = ["gpumc: 1", f"seed: {self.rng.choice(['1'] * 20 + ['x'])}", "output: out-{seed}.h5"]
        for block, values in blocks.items():
            tree = nested(values)
            if block in names:
                tree = {"name": names[block], **tree}
            lines.append(f"{block}: {flow(tree)}")
        if campaign:
            lines.append("campaign: " + flow(campaign))
        return "\n".join(lines) + "\n"


def validate(paths):
    done = subprocess.run([PROGRAM, "validate", *paths], capture_output=True, timeout=TIMEOUT_SECONDS,
                          check=False)
    errors = done.stderr.decode("utf-8", errors="strict")
    if done.returncode not in (0, 2):
        for path in paths if len(paths) > 1 else []:
            validate([path])
        raise AssertionError(f"exit {done.returncode}:\n{errors}\n{pathlib.Path(paths[0]).read_text()}")
    lines = [line for line in errors.split("\n") if line and ": warning: " not in line]
    for line in lines:
        assert PLACE.match(line), f"no place in: {line!r}"
    assert (done.returncode == 2) == bool(lines), f"exit {done.returncode}, {len(lines)} lines"
    return {line.split(":", 1)[0] for line in lines}


def main():
    fuzzer, taken, rejected = Fuzzer(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(0, len(fuzzer.cells), len(KERNELS)):
            path = pathlib.Path(folder, f"base{number}.yaml")
            path.write_text(fuzzer.config(number, changes=0).replace("seed: x", "seed: 1"))
            assert not validate([str(path)]), "a base does not pass; nothing would be tested"
        for number, (keys, algorithm) in enumerate(FOUND):
            path = pathlib.Path(folder, f"found{number}.yaml")
            path.write_text(fuzzer.found(keys, algorithm))
            assert validate([str(path)]), f"accepted: {keys}"
        for start in cases.of(range(0, FILES, BATCH)):
            paths = []
            for number in range(start, min(start + BATCH, FILES)):
                path = pathlib.Path(folder, f"{number}.yaml")
                path.write_text(fuzzer.config(number))
                paths.append(str(path))
            taken += len(paths)
            rejected += len(validate(paths))
            for path in paths:
                os.remove(path)
    assert taken // 2 < rejected, f"{rejected} of {taken} rejected: the mutations are dull"
    assert rejected < taken or taken < min(FILES, ENOUGH), f"all {taken} rejected: the mutations are dull"
    print(f"{taken} pairs, {rejected} rejected")


if __name__ == "__main__":
    sys.exit(main())
