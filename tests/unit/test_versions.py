"""The version of gpumc stands in CMake's project(): every other file that states it states the same. Those that describe gpumc to
people who cite, archive or install it agree, and so do the wheel and the Python package alone."""
import json
import pathlib
import re
import subprocess
import tomllib
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"([0-9]+\.[0-9]+\.[0-9]+)"
VERSION = re.search(rf"^project\(gpumc VERSION {NUMBER} ", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]

# Files with the pattern of each version in them; recipes for packages need not be there.
NAMED = {"CHANGELOG.md": rf"(?s:\A.*?)^## \[(?:Unreleased\]\n\nThe work towards )?{NUMBER}",
         "CITATION.cff": rf"^version: {NUMBER}$",
         "codemeta.json": rf'^  "version": "{NUMBER}",$',
         ".zenodo.json": rf'^  "version": "{NUMBER}",$',
         "tools/python/gpumc/version.py": rf'^__version__ = "{NUMBER}"$'}
OPTIONAL = {"tools/packaging/spack/package.py": rf'^    version\("{NUMBER}"|gpumc-{NUMBER}\.tar\.gz',
            "tools/packaging/conda/recipe.yaml": rf"^  version: \"?{NUMBER}\"?$",
            "tools/packaging/container/gpumc.def": rf"^    Version {NUMBER}$",
            "tools/packaging/container/Dockerfile": rf'^LABEL org.opencontainers.image.version="{NUMBER}"$'}
OF_MEASUREMENTS = {"benchmarks/results.json", "docs/performance.md"}  # of the program that was measured
IN_DOCUMENTS = rf"\bgpumc[-_ ]{NUMBER}"  # what the program prints, and names of packages
OF_OTHERS = "peapods "  # programs whose versions documents name


def named(file, pattern):
    """Returns the versions in a file."""
    found = re.finditer(pattern, (ROOT / file).read_text(), re.M)
    return {number for match in found for number in match.groups() if number}


def documents():
    """Returns the documents that name a version of gpumc."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("tools/*/README.md")]
    names = [page.relative_to(ROOT).as_posix() for page in pages if page.name != "CHANGELOG.md"]
    return {name: IN_DOCUMENTS for name in names if named(name, IN_DOCUMENTS)}


def description(file):
    """Returns what a file says of gpumc, as all of them can say it."""
    said = (yaml.safe_load if file.endswith(".cff") else json.loads)((ROOT / file).read_text())
    authors = said.get("authors") or said.get("author") or said.get("creators")
    return {"title": said.get("title") or said.get("name"), "description": said.get("abstract") or said.get("description"),
            "version": said["version"], "licence": said["license"].removeprefix("https://spdx.org/licenses/"),
            "authors": [author["name"] for author in authors], "keywords": said["keywords"]}


class Version(unittest.TestCase):
    def test_is_the_same_everywhere(self):
        there = {file: pattern for file, pattern in OPTIONAL.items() if (ROOT / file).is_file()}
        found = {file: named(file, pattern) for file, pattern in (NAMED | there | documents()).items()}
        self.assertEqual(found, dict.fromkeys(found, {VERSION}))
        self.assertIn("docs/cli.md", found)

    def test_another_one_is_found(self):
        self.assertEqual(named("CITATION.cff", rf"^cff-version: {NUMBER}$"), {"1.2.0"})
        self.assertEqual(named("CITATION.cff", rf"^revision: {NUMBER}$"), set())

    @unittest.skipUnless((ROOT / ".git").exists(), "not a repository")
    def test_stands_in_no_file_that_is_not_compared(self):
        """Tests and the changelog may name any version."""
        listed = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split()
        stated = re.compile(rf"(?<![\w.])(?<!{OF_OTHERS}){re.escape(VERSION)}(?!\w|\.\d)")
        found = {file for file in listed if not file.startswith("tests/") and (ROOT / file).is_file()
                 and stated.search((ROOT / file).read_bytes().decode("utf-8", "replace"))}
        self.assertEqual(found - set(NAMED) - set(OPTIONAL) - set(documents()) - OF_MEASUREMENTS, {"CMakeLists.txt"})


class Descriptions(unittest.TestCase):
    def test_agree(self):
        for file in "codemeta.json", ".zenodo.json":
            self.assertEqual(description(file), description("CITATION.cff"), file)
        for folder in ".", "tools/python":
            said = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["license"]
            self.assertEqual(said["text"] if isinstance(said, dict) else said, description("CITATION.cff")["licence"], folder)

    def test_have_what_their_formats_require(self):
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
        self.assertLessEqual({"cff-version", "message", "title", "authors"}, set(citation))
        meta = json.loads((ROOT / "codemeta.json").read_text())
        self.assertEqual((meta["@context"], meta["@type"]), ("https://w3id.org/codemeta/3.0", "SoftwareSourceCode"))
        record = json.loads((ROOT / ".zenodo.json").read_text())
        self.assertEqual((record["upload_type"], record["access_right"]), ("software", "open"))


class Packages(unittest.TestCase):
    def test_the_wheel_and_the_package_alone_are_the_same_to_python(self):
        both = [tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"] for folder in (".", "tools/python")]
        for key in ["name", "requires-python", "dependencies", "optional-dependencies", "scripts"]:
            self.assertEqual(both[0][key], both[1][key], key)


if __name__ == "__main__":
    unittest.main()
