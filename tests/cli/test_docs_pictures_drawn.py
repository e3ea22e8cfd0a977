"""Each picture of the first table of docs/images/README.md, drawn again from results of its configuration, is the one in docs/images.

They were drawn with Matplotlib 3.6. Other versions leave other room for words, and there the test asks only that pictures are drawn, and of
nearly the same size; test_pictures.py compares what they show.

CTest: validate (cli_test_pictures, cli_test_docs_pictures)
"""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

import matplotlib
import matplotlib.image

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import test_docs_pictures as documents  # noqa: E402
from support import cases, device, pictures  # noqa: E402

DRAWN_WITH = "3.6."
TOLERANCE = 1.0  # root mean square, in steps of 255


def away(path, name):
    """Distance of a picture from that of the documents."""
    return pictures.distance(matplotlib.image.imread(path), matplotlib.image.imread(documents.IMAGES / name))


class Drawn(unittest.TestCase):
    def test_they_are_drawn_again(self):
        """Control: with the results of another seed one of them is not."""
        with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
            for row in documents.rows(documents.PLOTTED):
                with self.subTest(picture=row[0]):
                    most = TOLERANCE if matplotlib.__version__.startswith(DRAWN_WITH) else 255
                    self.assertLess(away(documents.draw(row, folder), row[0]), most)
            sizes, = (row for row in documents.rows(documents.PLOTTED) if row[0] == "sizes.png")
            other = documents.draw(sizes, folder, lambda command: command.replace("seed1", "seed2"))
            self.assertGreater(away(other, "sizes.png"), TOLERANCE)

    def test_the_collapse_is_drawn_again(self):
        """Control: without the corrections to scaling it is not."""
        name, _, config, command = next(row for row in documents.rows(documents.OTHERS) if row[0] == "critical-collapse.png")
        with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
            run = subprocess.run([device.PROGRAM, "run", documents.ROOT / config, "--quiet", "--device", "cpu"], cwd=folder, capture_output=True,
                                 text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            most = TOLERANCE if matplotlib.__version__.startswith(DRAWN_WITH) else 255
            self.assertLess(away(self.collapse(folder, command), name), most)
            self.assertGreater(away(self.collapse(folder, command.replace("--omega 1.75", "")), name), TOLERANCE)

    def collapse(self, folder, command):
        """What gpumc-critical draws, as the module of this tree."""
        done = subprocess.run(f"{shlex.quote(sys.executable)} -m gpumc.analysis critical {command.partition(' ')[2]}", shell=True, cwd=folder,
                              capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(documents.ROOT / "tools/python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return pathlib.Path(folder) / "critical.png"

    def test_one_of_the_papers_is_drawn_again(self):
        """The one that shows neither times nor results of a GPU."""
        name, *_, command = next(row for row in documents.rows(documents.OTHERS) if row[0] == "gross2018-quick.png")
        with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
            done = subprocess.run([sys.executable, documents.ROOT / command.split()[0], *command.split()[1:], "--program",
                                   device.PROGRAM, "--device", "cpu"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            most = TOLERANCE if matplotlib.__version__.startswith(DRAWN_WITH) else 255
            self.assertLess(away(pathlib.Path(folder) / "results/quick/gross2018/comparison.png", name), most)


if __name__ == "__main__":
    cases.main()
