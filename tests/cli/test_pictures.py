"""Every kind of picture, drawn from short runs with fixed seeds and compared with the reference in tests/cli/pictures.

Words and what is drawn are compared one by one, since the room that words need differs between versions of Matplotlib and FreeType:
words as they are (pictures/words.json), the rest as an image on a plain grid. Matplotlib 3.6 (Debian) drew the references; with 3.11
no image of curves differs from them, and maps, whose pixels it rounds differently, do by up to 8.5 steps of 255.

`test_pictures.py --write` draws the references again; look at them before they are committed.

CTest: release (a tool of Python alone)
"""
import itertools
import json
import pathlib
import sys
import unittest

import matplotlib.colors
import matplotlib.image
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCES = pathlib.Path(__file__).resolve().parent / "pictures"
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import analysis, plot  # noqa: E402
from gpumc.plot import style  # noqa: E402
from support import cases, pictures  # noqa: E402
from support.program import ProgramCase  # noqa: E402

# Name -> (kind, runs, options).
PICTURES = {
    "summary": ("summary", ["pa"], {"exact": True, "quantities": ["energy", "specific_heat"]}),
    "summary-T": ("summary", ["pa"], {"x": "T", "zoom": (2.0, 2.6), "quantities": ["specific_heat"]}),
    "several": ("summary", ["glass-4", "glass-6"], {"quantities": ["energy", "binder_overlap"]}),
    "transition": ("transition", ["glass-4", "glass-6"], {}),
    "helicity": ("helicity", ["xy-small", "xy"], {}),
    "slowing-down": ("slowing-down", ["clusters-4", "clusters-8", "clusters-16"], {}),
    "series": ("series", ["series"], {"temperature": 1}),
    "bins": ("series", ["disks"], {}),
    "equilibration": ("series", ["pt"], {}),
    "families": ("families", ["pa"], {}),
    "tempering": ("tempering", ["pt"], {}),
    "iterations": ("iterations", ["muca"], {}),
    "density": ("density", ["muca"], {"exact": True}),
    "profiles": ("profiles", ["glass-4"], {}),
    "configurations": ("configurations", ["series"], {}),
    "xy": ("configurations", ["xy"], {"x": "T"}),
    "heisenberg": ("configurations", ["heisenberg"], {}),
    "bond-order": ("bond-order", ["disks"], {}),
    "equation-of-state": ("equation-of-state", ["disks", "disks-dilute"], {}),
    "collapse": ("collapse", ["critical-8", "critical-12", "critical-16"], {}),
}

# Root mean square, in steps of 255. One curve a tenth of its panel too high makes 1.9 or more, a map moved by one site 22 or more.
TOLERANCE, MAPS = 1.0, 12.0
OF_MAPS = ("configurations", "xy", "heisenberg")


def tolerance(name):
    return MAPS if name in OF_MAPS else TOLERANCE


def drawn(folder, name, disturbed=False):
    """The words of a picture, and the rest of it as an array."""
    kind, runs, options = PICTURES[name]
    results = [gpumc.read(folder / f"{run}.h5") for run in runs]
    path = folder / f"{name}.png"
    with plot.used():
        figure = collapse_of(results) if kind == "collapse" else plot.draw(kind, results, **options)
        words = pictures.words_of(figure)
        pictures.strip_words(figure)
        if disturbed:
            pictures.disturb(figure)
        plot.save(figure, path, pictures.DPI)
    return words, matplotlib.image.imread(path)


def collapse_of(results):
    """What gpumc-critical draws, of few replicates."""
    return plot.collapse.of(analysis.critical_point(results, omega=1.75, replicates=40))


class Pictures(ProgramCase):
    def setUp(self):
        super().setUp()
        for name in pictures.CONFIGS:
            self.gpumc("run", self.write(f"{name}.yaml", pictures.config(name, f"{name}.h5")), "--quiet")

    def test_they_are_those_of_the_references(self):
        """And a control: with one curve a tenth of the panel too high they are not."""
        expected = json.loads((REFERENCES / "words.json").read_text())
        self.assertEqual(sorted(expected), sorted(PICTURES))
        self.assertEqual({kind for kind, *_ in PICTURES.values()}, {*plot.KINDS, "collapse"})
        for name in cases.of(PICTURES, seconds=6):
            with self.subTest(picture=name):
                reference = matplotlib.image.imread(REFERENCES / f"{name}.png")
                words, picture = drawn(self.directory, name)
                self.assertEqual(words, expected[name])
                self.assertLess(pictures.distance(picture, reference), tolerance(name))
                _, other = drawn(self.directory, name, disturbed=True)
                self.assertGreater(pictures.distance(other, reference), tolerance(name))


class Colours(unittest.TestCase):
    def test_the_colour_blind_tell_curves_apart(self):
        """Every two of the colours are at least 10 steps of CIE L*a*b* apart for trichromats and, of those, as protanopes and
        deuteranopes see them (F. Vienot, H. Brettel, J. D. Mollon, Color Res. Appl. 24, 243 (1999)). Control: red and green of
        Matplotlib's own cycle are nearer."""
        for blind in EYES:
            apart = [separation(one, other, EYES[blind]) for one, other in itertools.combinations(style.COLOURS, 2)]
            self.assertGreater(min(apart), 10, blind)
        self.assertLess(min(separation("#2ca02c", "#d62728", EYES[blind]) for blind in EYES), 25)
        self.assertLess(separation("#00a000", "#b06000", EYES["deuteranope"]), 10)

    def test_many_curves_are_in_the_order_of_their_lightness(self):
        for count in 7, 12:
            with plot.used():
                light = [lab(colour, EYES["trichromat"])[0] for colour in style.colours(count)]
            self.assertEqual(light, sorted(light))


# Linear RGB as dichromats see it.
EYES = {"trichromat": np.eye(3),
        "protanope": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
        "deuteranope": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])}


def lab(colour, eye):
    """CIE L*a*b* of a colour."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = eye @ np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = np.cbrt(np.clip(xyz / [0.9505, 1.0, 1.0890], 1e-6, None))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def separation(one, other, eye):
    return float(np.linalg.norm(lab(one, eye) - lab(other, eye)))


def write():
    """The references anew."""
    case = Pictures("test_they_are_those_of_the_references")
    case.setUp()
    REFERENCES.mkdir(exist_ok=True)
    words = {}
    for name in PICTURES:
        words[name], _ = drawn(case.directory, name)
        (REFERENCES / f"{name}.png").write_bytes((case.directory / f"{name}.png").read_bytes())
    (REFERENCES / "words.json").write_text(json.dumps(words, indent=1, ensure_ascii=False) + "\n")
    case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main(verbosity=2)
