"""The documents: links lead to files and sections that exist, and files named in them exist; the README names every
model, algorithm and kernel of the program; every page is in a menu of the site (docs/conf.py);
sections of the changelog are short."""
import collections
import json
import os
import pathlib
import re
import runpy
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GPUMC_PROGRAM", ROOT / "build/release/gpumc")
# Words that represent any name in paths such as src/models/NAME.
ANY = re.compile(r"\b[A-Z]{4,}\b")


def documents(tree):
    return sorted(p for p in [*tree.glob("*.md"), *(tree / "docs").rglob("*.md")])


def without_code(path):
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def sections(path):
    """Returns the anchors of headings, as GitHub forms them."""
    found = collections.Counter()
    for heading in re.findall(r"^#+ (.*)$", without_code(path), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found[re.sub(r"[^\w\- ]", "", text).replace(" ", "-")] += 1
    return {f"{anchor}-{k}" if k > 0 else anchor for anchor, count in found.items() for k in range(count)}


def broken_links(tree):
    found = []
    for document in documents(tree):
        for link in re.findall(r"\]\(([^)\s]+)\)", without_code(document)):
            path, _, section = link.partition("#")
            target = document.parent / path if path else document
            if re.match(r"[a-z]+:", link):
                continue
            if not target.exists() or (section and section not in sections(target)):
                found.append(f"{document.relative_to(tree)}: {link}")
    return found


def lost_paths(tree):
    """Returns names in backticks that begin with a folder of the tree; they may end within a name. The changelog names
    files of its time."""
    found = []
    for document in documents(tree):
        if document.name == "CHANGELOG.md":
            continue
        for path in re.findall(r"`((?:benchmarks|cmake|configs|docs|src|tests|tools)/[\w./*-]+)`", without_code(document)):
            if not ANY.search(path) and not any(tree.glob(path.rstrip("/*") + "*")):
                found.append(f"{document.relative_to(tree)}: {path}")
    return found


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        self.assertEqual(broken_links(ROOT), [])

    def test_named_files_exist(self):
        self.assertEqual(lost_paths(ROOT), [])

    def test_every_page_is_in_a_menu(self):
        site = runpy.run_path(str(ROOT / "docs/conf.py"))
        entries = ["README", *(entry for menus in site["menus"].values() for pages in menus.values() for entry in pages)]
        pages = [document.relative_to(ROOT).with_suffix("").as_posix() for document in documents(ROOT)]
        self.assertEqual(sorted(entries), sorted(pages), "docs/conf.py has the menus")

    def test_the_changelog_is_read_in_minutes(self):
        for section in re.split(r"^(?=## )", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M):
            lines = section.splitlines()
            self.assertLessEqual(len(lines), 140, lines[0])
            self.assertEqual([line for line in lines if len(line) > 200], [])

    def test_the_readme_names_all_plugins(self):
        done = subprocess.run([PROGRAM, "list", "--json"], check=True, capture_output=True, text=True)
        listed = json.loads(done.stdout)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        ours = {name for listing in (ROOT / "src").glob("*/*.def")  # a build may also have others
                for name in re.findall(r"^GPUMC_\w+\((\w+)\)", listing.read_text(), re.M)}
        names = ours | {kernel["variant"] for model in listed["models"] if model["name"] in ours
                        for kernel in model["kernels"]}
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in readme], [])
        self.assertGreater(len(names), 15)


class Planted(unittest.TestCase):
    def test_what_is_broken_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "docs").mkdir()
            (tree / "docs" / "a.md").write_text("# One, two\n## Twice\n## Twice\n[b](../b.md) [self](#twice-1) "
                                                "[web](https://x.y/#z) [lost](c.md)\n```\n# [code](d.md)\n```\n")
            (tree / "b.md").write_text("[a](docs/a.md#one-two) [lost](docs/a.md#code) `docs/a.md` `docs/NAME.md` `docs/x.md`")
            (tree / "CHANGELOG.md").write_text("`docs/gone.md`")
            self.assertEqual(broken_links(tree), ["b.md: docs/a.md#code", "docs/a.md: c.md"])
            self.assertEqual(lost_paths(tree), ["b.md: docs/x.md"])


if __name__ == "__main__":
    unittest.main()
