"""tools/docs: the site is built without a warning, and a broken link fails the build. Skipped where Sphinx is not installed:
neither the tests' Python has what docs/requirements.txt lists, nor build/docs-env, which `tools/docs` makes.

CTest: release (a tool of Python alone)
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sphinx_python():
    """A Python with all that the site needs, or None."""
    for python in [sys.executable, ROOT / "build/docs-env/bin/python"]:
        have = [python, "-c", "import sphinx, myst_parser, furo, sphinx_copybutton; exit(sphinx.version_info < (8, 1))"]
        if pathlib.Path(python).exists() and subprocess.run(have, check=False, capture_output=True).returncode == 0:
            return python
    return None


class Site(unittest.TestCase):
    def build(self, tree, out):
        return subprocess.run([tree / "tools/docs", out], check=False, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "SPHINX_PYTHON": str(sphinx_python())})

    def test_every_page_is_in_the_site(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.build(ROOT, pathlib.Path(folder, "site"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("README.html", pathlib.Path(folder, "site/index.html").read_text())
            for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
                html = pathlib.Path(folder, "site", page.relative_to(ROOT).with_suffix(".html"))
                self.assertTrue(html.exists(), html)
            start = pathlib.Path(folder, "site/README.html").read_text()
            self.assertIn('href="docs/tutorial.html"', start)

    def test_a_broken_link_anchor_or_file_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder, "tree")
            for name in ["docs", "tools/docs", "CMakeLists.txt", "CITATION.cff", "LICENSE", *(p.name for p in ROOT.glob("*.md"))]:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tree / name)
            with open(tree / "docs/gpu.md", "a", encoding="utf-8") as page:
                page.write("\n[page](none.md) [anchor](cluster.md#none) [file](../configs/none.yaml)\n")
            done = self.build(tree, pathlib.Path(folder, "site"))
            self.assertEqual(done.returncode, 1, done.stderr)
            for target in ["none.md", "'none'", "../configs/none.yaml"]:
                self.assertIn(target, done.stderr)


if __name__ == "__main__":
    if sphinx_python() is None:
        print("skipped: Sphinx is not installed; `tools/docs` installs it into build/docs-env")
        sys.exit(77)
    unittest.main()
