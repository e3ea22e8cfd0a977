"""The pictures of the documents: each is in the table of docs/images/README.md, on its page and made by a command of today.
test_docs_pictures_drawn.py draws them again.

`test_docs_pictures.py --write FOLDER` writes them anew from FOLDER/results; what is missing there is run first."""
import collections
import contextlib
import io
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
PLOTTED, OTHERS = "tools/plot", "command"
PICTURES = {".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".webp"}
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc.plot import main  # noqa: E402
from support import device  # noqa: E402


def rows(table, tree=ROOT):
    """Rows of that table in docs/images/README.md: PLOTTED or OTHERS, the heading of its last column. Four texts without backticks each."""
    found, heading = [], ""
    for line in (tree / "docs/images/README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.replace("`", "").strip() for cell in line.split("|")[1:-1]]
        if line.startswith("| picture |"):
            heading = cells[-1]
        elif line.startswith("| `") and heading == table:
            found.append(cells)
    return found


def mistakes(tree):
    """What is wrong with the tables of a tree: pictures of its documents that no row has, rows without a file, a page that shows the picture and
    its command, or a configuration."""
    table = [*rows(PLOTTED, tree), *rows(OTHERS, tree)]
    pages = [tree / "README.md", *sorted((tree / "docs").rglob("*.md"))]
    shown = {(page.parent / link).resolve() for page in pages
             for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")) if "://" not in link}
    stored = {path.resolve() for path in (tree / "docs").rglob("*") if path.suffix in PICTURES}
    named = collections.Counter((tree / "docs/images" / row[0]).resolve() for row in table)
    found = [f"{path.relative_to(tree.resolve())}: {problem}" for problem, paths in (
        ("in no table", (stored | shown) - set(named)), ("no such file", set(named) - stored),
        ("in two rows", {path for path, count in named.items() if count > 1})) for path in sorted(paths)]
    for name, page, configs, command in table:
        text = " ".join((tree / page).read_text(encoding="utf-8").split())
        if f"images/{name})" not in text:
            found.append(f"{name}: not on {page}")
        if command[command.find("--"):] not in text:  # pages leave out the name of a program that they speak of
            found.append(f"{name}: {page} lacks {command}")
        found += [f"{name}: no {config}" for config in filter(None, configs.split(", ")) if not (tree / config).is_file()]
    return found


def draw(row, folder, changed=lambda command: command):
    """The picture of a row as a file, from folder/results, which are run where they are missing; its command may be `changed`."""
    name, _, config, command = row
    run = subprocess.run([device.PROGRAM, "run", ROOT / config, "--quiet", "--device", "cpu"], cwd=folder, capture_output=True,
                         text=True)
    if run.returncode != 0:
        raise AssertionError(f"{config}: {run.stderr}")
    path = pathlib.Path(folder) / "drawn" / name
    path.parent.mkdir(exist_ok=True)
    done = subprocess.run(f"{shlex.quote(str(ROOT / 'tools/plot'))} {changed(command)} -o {shlex.quote(str(path))}", shell=True, cwd=folder,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"tools/plot {command}: {done.stderr}")
    return path


PLANTED = """\
| picture | page | `gpumc run` | `tools/plot` |
| --- | --- | --- | --- |
| `a.png` | README.md | `a.yaml` | `a.h5 --exact -o a.png` |
| `b.png` | README.md | `gone.yaml` | `tools/plot b.h5 --log-x` |

| picture | page | configurations | command |
| --- | --- | --- | --- |
| `b.png` | docs/page.md | `a.yaml` | `tools/paper --only b` |
| `c.png` | docs/page.md | | `tools/paper --only b` |
"""


class Table(unittest.TestCase):
    def test_all_pictures_are_in_it(self):
        self.assertEqual(mistakes(ROOT), [])
        self.assertGreater(len(rows(PLOTTED)), 15)
        self.assertGreater(len(rows(OTHERS)), 4)

    def test_mistakes_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "docs/images").mkdir(parents=True)
            (tree / "docs/images/README.md").write_text(PLANTED)
            (tree / "README.md").write_text("![a](docs/images/a.png) ![web](https://x.y/z.png)\n```sh\ntools/plot a.h5 --exact -o\n  a.png\n```\n")
            (tree / "docs/page.md").write_text("![b](images/b.png) with `--only b` ![lost](images/lost.png)")
            (tree / "a.yaml").write_text("")
            for name in ("a.png", "b.png", "page.svg"):
                (tree / "docs/images" / name).write_text("")
            self.assertEqual(mistakes(tree), [
                "docs/images/lost.png: in no table", "docs/images/page.svg: in no table", "docs/images/c.png: no such file",
                "docs/images/b.png: in two rows", "b.png: not on README.md", "b.png: README.md lacks tools/plot b.h5 --log-x",
                "b.png: no gone.yaml", "c.png: not on docs/page.md"])

    def test_pages_show_the_whole_command_and_its_configuration(self):
        for name, page, config, command in rows(PLOTTED):
            with self.subTest(picture=name):
                text = (ROOT / page).read_text(encoding="utf-8")
                self.assertIn(f"tools/plot {command}", text)
                self.assertIn(config, text)

    def test_configurations_and_options_are_those_of_today(self):
        for name, _, config, command in rows(PLOTTED):
            with self.subTest(picture=name):
                self.assertTrue((ROOT / config).exists(), config)
                main.make_parser().parse_args(shlex.split(command))
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            main.make_parser().parse_args(["file.h5", "--no-such-option"])

    def test_no_picture_is_large(self):
        for path in IMAGES.glob("*.png"):
            self.assertLess(path.stat().st_size, 400_000, path.name)


def write(folder):
    """The pictures of the documents anew."""
    for row in rows(PLOTTED):
        path = draw(row, folder)
        (IMAGES / row[0]).write_bytes(path.read_bytes())
        print(row[0], path.stat().st_size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2])
    else:
        unittest.main(verbosity=2)
