"""Every file that names the version of gpumc names the one in CMake's project(); the wheel and the Python package alone
agree in what they need and install."""
import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(gpumc VERSION ([0-9.]+) ", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]

# Files with the pattern of a version in them; recipes for packages need not be there.
NAMED = {"CHANGELOG.md": r"^## \[Unreleased\]\n\nThe work towards ([0-9.]+),|^## \[([0-9.]+)\]",
         "CITATION.cff": r"^version: ([0-9.]+)$",
         "docs/cli.md": r"^program     gpumc ([0-9.]+), commit",
         "tools/python/gpumc/version.py": r'^__version__ = "([0-9.]+)"$'}
OPTIONAL = {"tools/packaging/spack/package.py": r'^    version\("([0-9.]+)"',
            "tools/packaging/conda/recipe.yaml": r"^  version: \"?([0-9.]+)\"?$",
            "tools/packaging/gpumc.def": r"^    Version ([0-9.]+)$",
            "tools/packaging/Dockerfile": r'^LABEL org.opencontainers.image.version="([0-9.]+)"$'}


def named(file, pattern):
    """Returns the version in the first match, or what is there instead."""
    found = re.search(pattern, (ROOT / file).read_text(), re.M)
    return next(group for group in found.groups() if group) if found else "no version"


class Version(unittest.TestCase):
    def test_is_the_same_everywhere(self):
        there = {file: pattern for file, pattern in OPTIONAL.items() if (ROOT / file).is_file()}
        found = {file: named(file, pattern) for file, pattern in (NAMED | there).items()}
        self.assertEqual(found, dict.fromkeys(found, VERSION))

    def test_another_one_is_found(self):
        self.assertNotEqual(named("CITATION.cff", r"^cff-version: ([0-9.]+)$"), VERSION)
        self.assertEqual(named("CITATION.cff", r"^revision: ([0-9.]+)$"), "no version")


class Packages(unittest.TestCase):
    def test_the_wheel_and_the_package_alone_are_the_same_to_python(self):
        both = [tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"] for folder in (".", "tools/python")]
        for key in ["name", "requires-python", "dependencies", "optional-dependencies", "scripts"]:
            self.assertEqual(both[0][key], both[1][key], key)


if __name__ == "__main__":
    unittest.main()
