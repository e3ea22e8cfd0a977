#!/usr/bin/env python3
"""Finds the place of every test of an earlier commit among those of this one: functions of cmocka and methods of unittest and pytest.

    tests/same_tests.py --since v0.2.0 [--list]

A test is where it was, or has moved: one with its name that was not there before. Those that have become a case of another, or were
replaced, stand in tests/same_tests_known.txt with their new place, which must exist. So do files in which fewer assertions, of tables, take the place
of more. Bounds and cases are not compared. --list prints every test with its place. Exit code 0: every test has one.
"""
import argparse
import ast
import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support.ctest import ROOT, output  # noqa: E402

KNOWN = ROOT / "tests/same_tests_known.txt"
ASSERTION = re.compile(r"\b(?:self\.assert\w+|assert_\w+|np\.testing\.assert\w+|self\.fail|fail_msg)\(|^\s+assert ", re.M)


def methods(text):
    """`Class.test_name`, and test_name outside of classes."""
    for node in ast.parse(text).body:
        inside = [(f"{node.name}.", one) for one in node.body] if isinstance(node, ast.ClassDef) else [("", node)]
        for prefix, one in inside:
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test"):
                yield prefix + one.name


def tests_of(texts):
    """The tests as "path name", and the number of assertions of each file."""
    tests, assertions = set(), collections.Counter()
    for path, text in texts.items():
        assertions[path] = len(ASSERTION.findall(text))
        names = methods(text) if path.endswith(".py") else re.findall(r"cmocka_unit_test(?:_\w+)?\(\s*(\w+)", text)
        tests.update(f"{path} {name}" for name in names)
    return tests, assertions


def texts_at(revision):
    paths = output("git", "ls-tree", "-r", "--name-only", revision, "tests", "tools/python/tests").split()
    return {path: output("git", "show", f"{revision}:{path}") for path in paths if re.search(r"/test_[^/]*\.(py|c)$", path)}


def texts_now():
    paths = [*ROOT.glob("tests/*/test_*.c"), *ROOT.glob("tests/*/test_*.py"), *ROOT.glob("tools/python/tests/test_*.py")]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def places(old, new, known):
    """test -> its place, None where it has none."""
    added = collections.defaultdict(list)
    for test in sorted(new - old):
        added[test.split()[1].split(".")[-1]].append(test)
    found = {}
    for test in sorted(old):
        place = test if test in new else known.get(test)
        if place is None and added[test.split()[1].split(".")[-1]]:
            place = added[test.split()[1].split(".")[-1]].pop(0)  # it has moved: one test for each
        found[test] = place if place in new else None
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", required=True, metavar="REVISION", help="a tag or commit")
    parser.add_argument("--list", action="store_true", help="every test with its place")
    chosen = parser.parse_args()
    try:
        old, before = tests_of(texts_at(chosen.since))
    except subprocess.CalledProcessError as error:
        sys.exit(f"tests/same_tests.py: {error.stderr.strip()}")
    new, after = tests_of(texts_now())
    known = dict(line.split(" -> ") for line in KNOWN.read_text().splitlines())
    found = places(old, new, known)
    for test, place in found.items():
        if chosen.list or place is None:
            print(f"{test} -> {place or 'NOWHERE'}")
    fewer = [path for path in sorted(before) if path in after and after[path] < int(known.get(f"{path} assertions", before[path]))]
    for path in fewer:
        print(f"{path}: {after[path]} assertions, there were {before[path]}")
    stayed, lost = sum(place == test for test, place in found.items()), sum(place is None for place in found.values())
    print(f"{len(old)} tests at {chosen.since}: {stayed} where they were, {len(old) - stayed - lost} elsewhere, {lost} nowhere; now there are {len(new)}")
    print(f"assertions: {sum(before.values())} then, {sum(after.values())} now")
    return lost > 0 or bool(fewer)


if __name__ == "__main__":
    sys.exit(main())
