"""Mutated configurations: `gpumc validate` rejects or accepts them, and never anything else.

Every file with an unknown key must be rejected; every line on stderr must name a place.
support/fuzz.py has the number of files and the seed.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, fuzz
from support.device import PROGRAM

FILES = fuzz.files(10000)
BATCH = 250
ENOUGH = 1000  # files of which some pass: 3 % do, so that all of a batch or two may be rejected
TIMEOUT_SECONDS = 120
PLACE = re.compile(r"^[^:]+:\d+:\d+: .")

BASES = [
    b"""# a comment
gpumc: 1
title: "2D Ising, population annealing"
seed: 20170801
model:
  name: ising2d
  shape: [64, 64]
algorithm:
  name: pa
  population: 20000
  sweeps: 10
  beta: {from: 0.0, to: 1.0, step: 0.005}
  runs: 4
kernel:
  device: auto
  variant: auto
output: results/ising2d-pa.h5
checkpoint: {every: 10 min}
""",
    b"""gpumc: 1
seed: 1
model: &m {name: ising2d, shape: &shape [16, 16]}
algorithm: {name: pa, population: 1e3, beta: {to: 1.0, overlap: 0.86}}
output: r/{model.shape}-{seed}.h5
campaign:
  model.shape: [*shape, [32, 32]]
  seed: [1, 2, 3]
""",
    b"""gpumc: 1
seed: 1
model: {name: ising2d, shape: [16, 16]}
algorithm:
  name: pt
  control: {name: h, beta: 0.4, from: -0.5, to: 0.5, count: 5}
  samples: 8
  sweeps: 1000
output: pt.h5
""",
    b"""gpumc: 1
seed: 1
model: {name: ea, shape: [4, 4, 4]}
algorithm: {name: pa, population: 100, control: {name: h, beta: 0.1, values: [-1, 0, 1], thermalization: 10}}
output: pa.h5
""",
]

TOKENS = [
    b"1e999", b"-1", b"99999999999999999999999999", b"0x10", b"0o17", b"010", b".nan", b".inf", b"~",
    b"null", b"", b"''", b"'5'", b"[", b"]", b"{", b"}", b"[]", b"{}", b"&a *a", b"*shape", b"*nowhere",
    b"&m [*m]", b"!!int 3", b"!!python/object:os.system x", b"? [a]\n: b", b"<<: *m", b"---", b"...",
    b"\0", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\t", b"\r", b'"\\0"', b'"\\n"',
    b'"\\x9b"', b"%YAML 9.9", b"|\n  text", b">\n  text", b"1:30", b"2017-08-01", b"true", b"1_000",
    b"10 min", b"4 GiB", b"a" * 5000, b"9" * 5000, b"{" * 200, b"[" * 2000, b"- " * 500,
]


def flip_bytes(rng, text):
    text = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text)


def delete_bytes(rng, text):
    start = rng.randrange(len(text))
    return text[:start] + text[start + rng.randint(1, 12):]


def duplicate_line(rng, text):
    lines = text.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def swap_lines(rng, text):
    lines = text.splitlines(keepends=True)
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"".join(lines)


def misspell_key(rng, text):
    keys = list(re.finditer(rb"[A-Za-z_.]+(?=:)", text))
    if not keys:
        return text
    key = rng.choice(keys)
    at = rng.randrange(key.start(), key.end())
    return text[:at] + rng.choice([b"", b"x", b"_", text[at:at + 1] * 2]) + text[at + 1:]


def replace_value(rng, text):
    values = list(re.finditer(rb"(?<=: )[^\n,}\]]+", text))
    if not values:
        return text
    value = rng.choice(values)
    return text[:value.start()] + rng.choice(TOKENS) + text[value.end():]


def swap_values(rng, text):
    values = list(re.finditer(rb"(?<=: )[^\n]+", text))
    if len(values) < 2:
        return text
    first, second = sorted(rng.sample(values, 2), key=lambda value: value.start())
    return (text[:first.start()] + second.group() + text[first.end():second.start()]
            + first.group() + text[second.end():])


def insert_token(rng, text):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(TOKENS) + text[at:]


def laugh(rng, text):
    levels = rng.randint(2, 12)
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        lines.append(b"a%d: &a%d [%s]" % (level, level, b", ".join([b"*a%d" % (level - 1)] * 10)))
    return text + b"\n".join(lines) + b"\n"


def nest(rng, text):
    depth = rng.choice([5, 31, 32, 33, 100, 1000, 20000])
    return text + b"title: " + rng.choice([b"[", b"{a: "]) * depth


MUTATIONS = [flip_bytes, delete_bytes, duplicate_line, swap_lines, misspell_key, replace_value,
             swap_values, insert_token, laugh, nest]


def mutate(rng):
    """A mutated file, and whether it must be rejected."""
    text = rng.choice(BASES)
    if rng.random() < 0.1:
        lines = text.splitlines(keepends=True)
        tops = [i for i, line in enumerate(lines) if line[:1].isalpha()]
        lines.insert(rng.choice(tops), b"unheard_of: 1\n")
        return b"".join(lines), True
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(MUTATIONS)(rng, text) or b"\n"
    return text, False


def said(paths):
    """Exit code and lines."""
    result = subprocess.run([PROGRAM, "validate", *paths], capture_output=True,
                            timeout=TIMEOUT_SECONDS, check=False)
    errors = result.stderr.decode("utf-8", errors="strict")
    assert result.returncode in (0, 2), f"exit {result.returncode} on {paths[0]} ...:\n{errors}"
    return result.returncode, [line for line in errors.split("\n") if line]


def validate(paths):
    code, lines = said(paths)
    # Warnings are of tasks, in configurations without a mistake, and have no place.
    lines = [line for line in lines if ".yaml: warning: " not in line]
    for line in lines:
        assert PLACE.match(line), f"no place in: {line!r}"
    assert (code == 2) == bool(lines), f"exit {code}, {len(lines)} lines"
    return lines


def main():
    taken = rejected = 0
    with tempfile.TemporaryDirectory() as folder:
        for base in BASES:
            path = pathlib.Path(folder, "base.yaml")
            path.write_bytes(base)
            assert said([str(path)]) == (0, []), "a base does not pass without a word; nothing would be tested"
        for start in cases.of(range(0, FILES, BATCH)):
            wrong, paths = [], []
            for i in range(start, min(start + BATCH, FILES)):
                text, is_wrong = mutate(fuzz.generator(20170801, i))
                path = pathlib.Path(folder, f"{i}.yaml")
                path.write_bytes(text)
                paths.append(str(path))
                if is_wrong:
                    wrong.append(str(path))
            named = {line.split(":", 1)[0] for line in validate(paths)}
            taken += len(paths)
            rejected += len(named)
            for path in wrong:
                assert path in named, f"an unknown key was accepted:\n{open(path).read()}"
            for path in paths:
                os.remove(path)
    assert taken // 2 < rejected, f"{rejected} of {taken} rejected: the mutations are dull"
    assert rejected < taken or taken < min(FILES, ENOUGH), f"all {taken} rejected: the mutations are dull"
    print(f"{taken} files, {rejected} rejected")


if __name__ == "__main__":
    sys.exit(main())
