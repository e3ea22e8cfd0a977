"""gpumc-critical and the functions of gpumc.analysis on small results: what they print, draw and refuse.

T_c of L = 8, 16 and 24 with the corrections of the square Ising model is within four of its errors of 2.269185 (false alarm 1e-4), and
these are below 0.005. Control: temperatures wrong by 2 %.

CTest: release (a tool of Python alone), cases 4 s
"""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import unittest
from unittest import mock

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tools/python"
sys.path[:0] = [str(ROOT / "tests"), str(PACKAGE)]
import gpumc as reader  # noqa: E402
from gpumc import analysis, measured  # noqa: E402
from gpumc.analysis import transition  # noqa: E402
from support import cases, device, gpumc_program as gpumc, simulated_sizes  # noqa: E402

T_C = 2.269185314213022
CONFIG = """\
gpumc: 1
seed: 31
model: {{name: ising2d, shape: [8, 8]}}
algorithm: {algorithm}
output: "{folder}/{{model.shape}}.h5"
campaign: {{model.shape: [[8, 8], [16, 16], [24, 24]]}}
"""
CANONICAL = "{name: canonical, beta: {from: 0.42, to: 0.46, count: 9}, replicas: 32, thermalization: 1000, sweeps: 6000, interval: 5, " \
            "structure_factor: true}"
TEMPERING = "{name: pt, beta: {from: 0.42, to: 0.46, count: 9}, samples: 16, thermalization: 400, sweeps: 2000, exchange_every: 5}"
ANNEALING = "{name: pa, beta: {from: 0.0, to: 0.46, step: 0.02}, population: 2000, sweeps: 20, blocks: 32}"

GLASS = """\
gpumc: 1
seed: 31
model: {{name: ea, shape: [4, 4, 4], couplings: bimodal, disorder_seed: 7}}
algorithm: {{name: pt, beta: {{from: 0.5, to: 1.1, count: 7}}, samples: 256, replicas: 2, sweeps: 2048, exchange_every: 8}}
output: "{folder}/{{model.shape}}.h5"
campaign: {{model.shape: [[4, 4, 4], [6, 6, 6], [8, 8, 8]]}}
"""

OF_A_MODEL = """\
gpumc: 1
seed: 31
model: {{{model}}}
algorithm: {{name: canonical, beta: {{values: [0.5, 1.0]}}, replicas: 8, thermalization: 10, sweeps: 100, update: heat_bath}}
output: "{folder}/r.h5"
"""


def critical(*arguments):
    return subprocess.run([sys.executable, "-m", "gpumc.analysis", "critical", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)}, stdin=subprocess.DEVNULL, check=False)


NUMBER = re.compile(r"-?[0-9.]+\([0-9.]+\)|chi2/dof = [0-9./]+|p = [0-9.e-]+[0-9]")


def texts_of(item):
    """What the program prints of the numbers in its JSON."""
    if isinstance(item, dict):
        if {"value", "error"} <= item.keys() and None not in (item["value"], item["error"]):
            yield measured.text(item["value"], item["error"])
        if "chi2" in item:
            yield from NUMBER.findall(f"chi2/dof = {item['chi2']:.1f}/{item['freedom']:.1f}, p = {item['p']:.2g}")
    for part in item.values() if isinstance(item, dict) else item if isinstance(item, list) else ():
        yield from texts_of(part)


def background(path):
    """Of a picture: 0 is black, 1 white."""
    import matplotlib.image
    return matplotlib.image.imread(path)[0, 0, :3].mean()


class Critical(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = gpumc.folder()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.paths = {}
        for name, algorithm in (("canonical", CANONICAL), ("pt", TEMPERING), ("pa", ANNEALING)):
            folder = pathlib.Path(cls.folder.name) / name
            folder.mkdir()
            gpumc.run_config(CONFIG.format(folder=folder, algorithm=algorithm), folder)
            cls.paths[name] = [folder / f"{side}x{side}.h5" for side in (8, 16, 24)]

    def test_program(self):
        picture = pathlib.Path(self.folder.name) / "collapse.png"
        done = critical("--omega", 1.75, *self.paths["canonical"], "-o", picture)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        for words in ("T_c  = 2.2", "nu   = ", "beta/nu = 0.1", "gamma/nu = 1.7", "fits of T_c and nu:", "quotients at the crossing of xi/L, not extrap",
                      "L = 8 and 16: T = 2.2", "errors by bootstrap over replicas, with corrections L^-1.75"):
            self.assertIn(words, done.stdout)
        warnings, _, numbers = done.stdout.partition("\n\n")
        self.assertTrue(warnings.startswith("what is not to be trusted:\n"), warnings)
        self.assertIn("T_c, nu, beta/nu, gamma/nu: L = 8, 16, 24 cannot tell corrections to scaling from powers of the size", warnings)
        self.assertTrue(numbers.startswith("T_c  = "))
        self.assertNotIn("trusted", numbers)
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(background(picture), 0.9)
        found = analysis.critical_point(self.paths["canonical"], omega=1.75)
        self.assertIn(found.text(), done.stdout)
        self.assertLess(found.best.t_c_error, 0.005)
        self.assertLess(abs(found.best.t_c - T_C), 4 * found.best.t_c_error)
        self.assertGreater(abs(1.02 * found.best.t_c - T_C), 4 * found.best.t_c_error)

    def test_json_has_every_number(self):
        """Each number with an error that is printed, each chi2 and each p. Control: without one of the exponents they are not all there."""
        path = pathlib.Path(self.folder.name) / "numbers.json"
        done = critical("--omega", 1.75, *self.paths["canonical"], "--json", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        self.assertTrue(done.stdout.endswith(f"\n\n{path}\n"))
        found = json.loads(path.read_text())
        printed = set(NUMBER.findall(done.stdout))
        lines = [line for line in done.stdout.partition("\n\n")[2].splitlines() if " = " in line]
        self.assertEqual(len(lines), 3 + sum(len(found[name]) for name in ("exponents", "fits", "quotients")))  # T_c, nu, their collapse
        self.assertEqual([line for line in lines if not NUMBER.search(line)], [])
        self.assertLessEqual(printed, set(texts_of(found)))
        for fit, words in zip(found["fits"], done.stdout.partition("fits of T_c and nu:\n")[2].splitlines()):
            self.assertIn(f"{fit['quantity']}, L = {', '.join(map(str, fit['sides']))}", words)
            self.assertEqual(fit["drift"] is not None, "drift" in words)
        for warnings in found["doubts"], found["open_questions"]:
            self.assertEqual([words in done.stdout for words in warnings], [True] * len(warnings))
        del found["exponents"]["beta/nu"]
        self.assertFalse(printed <= set(texts_of(found)))

    def test_style_and_progress_on_a_terminal(self):
        """Control: test_program, without a style nor a terminal."""
        picture = pathlib.Path(self.folder.name) / "dark.png"
        terminal, other = pty.openpty()
        done = subprocess.run([sys.executable, "-m", "gpumc.analysis", "critical", "--omega", "1.75", *self.paths["canonical"], "-o", picture,
                               "--style", "dark_background"], stdout=subprocess.PIPE, stderr=other, stdin=subprocess.DEVNULL, text=True,
                              env={**os.environ, "PYTHONPATH": str(PACKAGE), "COLUMNS": "60"}, check=False)
        os.close(other)
        shown = os.read(terminal, 1 << 16).decode().split("\r\x1b[K")
        os.close(terminal)
        self.assertEqual(done.returncode, 0, shown)
        self.assertEqual((shown[0], shown[-1]), ("", ""))
        self.assertEqual([line.partition(":")[0] for line in shown[1:-1]], [f"{number} of 6" for number in range(1, 7)])
        self.assertLess(max(map(len, shown)), 60)
        self.assertNotIn("\x1b", done.stdout)
        self.assertLess(background(picture), 0.1)

    def test_same_numbers_again(self):
        first, second = (analysis.collapse(self.paths["canonical"], "xi/L", analytic=True) for _ in range(2))
        self.assertEqual((first.t_c, first.t_c_error, first.nu_error), (second.t_c, second.t_c_error, second.nu_error))

    def test_groups_of_each_algorithm(self):
        for name, groups, is_joint in (("canonical", "replicas", False), ("pt", "samples", True), ("pa", "blocks of families", True)):
            curves = analysis.curves_of(reader.read(self.paths[name][1]), ["binder_parameter", "abs_magnetization", "susceptibility"])
            self.assertEqual((curves.groups, curves.is_joint), (groups, is_joint))
            place = int(np.argmin(np.abs(curves.beta - 0.44)))
            drawn = {quantity: curves.replicates(quantity, 4000)[:, place] for quantity in curves.values}
            for quantity, numbers in drawn.items():
                self.assertAlmostEqual(numbers.std() / curves.errors[quantity][place], 1, delta=0.06)
                self.assertLess(abs(numbers.mean() - curves.values[quantity][place]), 5 * curves.errors[quantity][place] / np.sqrt(4000))
            self.assertGreater(np.corrcoef(drawn["abs_magnetization"], drawn["susceptibility"])[0, 1], 0.9)
            self.assertGreater(np.corrcoef(drawn["abs_magnetization"], drawn["binder_parameter"])[0, 1], 0.2)

    def test_tempering_and_annealing(self):
        found = analysis.collapse(self.paths["pt"], "binder_parameter", smallest=16)
        print("pt", found.text())
        self.assertLess(abs(found.t_c - T_C), 4 * found.t_c_error)
        self.assertEqual(found.groups, "samples")
        self.assertTrue(any("few groups" in remark for remark in found.remarks))  # 16 of nine temperatures
        annealed = analysis.collapse(self.paths["pa"], "binder_parameter", smallest=16, t_c=T_C, nu=1.0, x_max=5.0)
        self.assertEqual(annealed.groups, "blocks of families")
        self.assertGreater(annealed.left_out, 0)  # temperatures far above T_c; that of beta = 0 has no T
        self.assertLess(max(map(abs, annealed.x_range)), 5)
        self.assertTrue(np.isfinite(annealed.quality.p))

    def test_a_glass_orders_in_its_overlaps(self):
        """The magnetization of a glass, whose Binder parameter is 0 at all temperatures, takes no part."""
        folder = pathlib.Path(self.folder.name) / "glass"
        folder.mkdir()
        gpumc.run_config(GLASS.format(folder=folder), folder)
        found = analysis.critical_point(sorted(folder.glob("*.h5")), replicates=20)
        self.assertEqual({fit.found.quantity for fit in found.fits}, {"binder_overlap", "xi_overlap/L"})
        self.assertEqual({one.quantity for one in found.exponents.values()}, {"abs_overlap", "chi_overlap"})

    def result(self, model):
        """A result of a few sweeps, with all keys of a resolved configuration."""
        with gpumc.folder() as folder:
            gpumc.run_config(OF_A_MODEL.format(model=model, folder=folder), folder)
            return reader.read(pathlib.Path(folder) / "r.h5")

    def test_transitions_without_powers_are_refused(self):
        """Control: the same models as cubic lattices."""
        for model, words in (("name: heisenberg, components: 2", "Kosterlitz-Thouless transition.*--helicity"),
                             ("name: heisenberg, components: 2, couplings: bimodal", "do not order above T = 0"),
                             ("name: heisenberg, components: 3", "do not order above T = 0"),
                             ("name: ea", "transition at T = 0"), ("name: ea, p: 0.2", "transition at T = 0"),
                             ("name: ea, couplings: gaussian", "transition at T = 0")):
            with self.subTest(model=model):
                for shape, reason in ("[4, 4]", words), ("[4, 4, 4]", "one size does not give a critical point"):
                    with self.assertRaisesRegex(transition.NotComparable, reason):
                        analysis.critical_point([self.result(f"{model}, shape: {shape}")])

    def test_square_lattices_of_ea_may_order(self):
        """With couplings that are mostly of one sign, and those of a file, which may be so and get a warning."""
        couplings = pathlib.Path(self.folder.name) / "J.txt"
        couplings.write_text(f"shape 4 4\ncouplings {'1 ' * 32}\n")
        for model in "name: ea, p: 0.95", f"name: ea, couplings: file, file: {couplings}":
            with self.subTest(model=model), self.assertRaisesRegex(transition.NotComparable, "one size does not give a critical point"):
                analysis.critical_point([self.result(f"{model}, shape: [4, 4]")])
        opened = [reader.read(path) for path in self.paths["canonical"]]
        of_known = analysis.critical_point(opened, omega=1.75, replicates=20)
        for result in opened:
            result.config["model"].update(name="ea", couplings="file")
        of_files = analysis.critical_point(opened, omega=1.75, replicates=20)
        self.assertEqual(len(of_files.doubts), len(of_known.doubts) + 1)
        self.assertEqual(sum("couplings are not known" in doubt for doubt in of_files.doubts), 1)

    def test_crossings(self):
        found = analysis.crossings(self.paths["canonical"])
        self.assertEqual(list(found), ["binder", "xi/L", "all"])
        panels = transition.panels([reader.read(path) for path in self.paths["canonical"]])
        self.assertEqual(found["binder"], transition.statements(panels[0]))
        self.assertEqual(found["all"], transition.common(panels))
        self.assertEqual(list(analysis.crossings(self.paths["canonical"][:2], "xi/L")), ["xi/L"])
        with self.assertRaisesRegex(ValueError, "'energy'"):
            analysis.crossings(self.paths["canonical"], "energy")

    def test_refusals(self):
        one = self.paths["canonical"][0]
        for arguments, words in ((["--style", "none-such", "-o", "a.png"], "no style 'none-such'"), (["--json", "/none/such.json"], "/none/such.json")):
            done = critical("--smallest", 16, *self.paths["canonical"], *arguments)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(critical(one, "--style", "classic").returncode, 2)
        for paths, words in (([one], "one size"), ([one, one], "same size"), ([one, ROOT / "README.md"], "not an HDF5 file")):
            done = critical(*paths)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn("gpumc-critical: ", done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual(critical("--no-such-option", one).returncode, 2)
        with self.assertRaisesRegex(transition.NotComparable, "structure_factor: true"):
            analysis.collapse(self.paths["pa"], "xi/L")
        with self.assertRaisesRegex(ValueError, "three|3 sizes"):
            analysis.collapse(self.paths["canonical"][:2], "xi/L", omega=2)
        with self.assertRaisesRegex(transition.NotComparable, "series: true"):
            analysis.reweight(one, [2.3])

    def test_known_numbers_are_held(self):
        found = analysis.collapse(self.paths["canonical"], "susceptibility", t_c=T_C, nu=1.0)
        self.assertEqual((found.t_c, found.t_c_error, found.nu, found.nu_error), (T_C, 0, 1, 0))
        self.assertLess(abs(found.exponent - 1.75), 0.1)
        fixed = analysis.collapse(self.paths["canonical"], "susceptibility", exponent=1.75)
        self.assertEqual((fixed.exponent, fixed.exponent_error), (1.75, 0))
        self.assertGreater(fixed.t_c_error, 0)
        narrow = analysis.collapse(self.paths["canonical"], "binder_parameter", x_max=0.6)
        self.assertGreater(narrow.left_out, 0)
        self.assertLess(max(map(abs, narrow.x_range)), 0.65)


def of_another_library(matrix):
    """numpy's eigh() as another library of linear algebra might have it: every second eigenvector has the other sign, and all numbers other
    rounding."""
    values, vectors = EIGH(matrix)
    signs = np.where(np.arange(len(values)) % 2, -1.0, 1.0)
    return values + 1e-15 * np.max(np.abs(values)) * signs, vectors * signs


EIGH = np.linalg.eigh
REPRODUCED = 1e-4  # relative; other draws of a bootstrap of 400 differ by 3.5 %


class Reproduced(unittest.TestCase):
    """Bootstraps do not depend on what libraries of linear algebra are free to choose. Control: roots made of eigenvectors do."""
    def errors(self):
        of_groups = simulated_sizes.sizes(9000, noise=1e-3)
        near = np.exp(-((simulated_sizes.BETA[:, None] - simulated_sizes.BETA) / 0.01) ** 2)
        of_correlations = [analysis.from_arrays(size.side, size.temperature, size.values, size.errors, dict.fromkeys(size.values, near))
                           for size in of_groups]
        found = [*analysis.quotients(of_groups), *analysis.quotients(of_correlations)]
        return np.array([[pair.temperature_error, *(error for _, error in pair.exponents.values())] for pair in found])

    def away(self):
        own = self.errors()
        with mock.patch("numpy.linalg.eigh", of_another_library):
            return np.max(np.abs(self.errors() / own - 1))

    def test_errors_of_quotients(self):
        self.assertLess(self.away(), REPRODUCED)

        def of_eigenvectors(covariance):
            values, vectors = np.linalg.eigh(covariance)
            return (vectors * np.sqrt(np.maximum(values, 0))).T

        with mock.patch("gpumc.analysis.correlation.root", of_eigenvectors):
            self.assertGreater(self.away(), 100 * REPRODUCED)


if __name__ == "__main__":
    device.require()
    cases.main()
