"""The pictures of the documents: each is in the table of docs/images/README.md, on its page and made by a command of today.
test_docs_pictures_drawn.py draws them again.

`test_docs_pictures.py --write FOLDER` writes them anew from FOLDER/results; what is missing there is run first."""
import contextlib
import io
import pathlib
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
from gpumc.plot import main  # noqa: E402
from support import device  # noqa: E402


def rows(columns):
    """Rows of the tables in docs/images/README.md with so many columns, texts without backticks."""
    found = []
    for line in (IMAGES / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == columns:
            found.append([cell.strip("| `") for cell in cells])
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


class Table(unittest.TestCase):
    def test_every_picture_is_in_it(self):
        named = [row[0] for row in [*rows(4), *rows(3)]]
        self.assertEqual(sorted(named), sorted(path.name for path in IMAGES.glob("*.png")))

    def test_every_picture_is_on_its_page_with_its_command(self):
        for name, page, *rest in rows(4):
            with self.subTest(picture=name):
                text = (ROOT / page).read_text(encoding="utf-8")
                self.assertIn(f"images/{name})", text)
                self.assertIn(f"tools/plot {rest[1]}", text)
                self.assertIn(rest[0], text)
        for name, page, _ in rows(3):
            self.assertIn(f"images/{name})", (ROOT / page).read_text(encoding="utf-8"))

    def test_configurations_and_options_are_those_of_today(self):
        for name, _, config, command in rows(4):
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
    for row in rows(4):
        path = draw(row, folder)
        (IMAGES / row[0]).write_bytes(path.read_bytes())
        print(row[0], path.stat().st_size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2])
    else:
        unittest.main(verbosity=2)
