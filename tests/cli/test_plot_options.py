"""Options of tools/plot: axes, styles, formats, campaigns, running tasks; and the catalogue of what a file has.

CTest: release (a tool of Python alone), cases 4 s
"""
import os
import pathlib
import subprocess
import sys
import time
import types

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/support"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import plot  # noqa: E402
from gpumc.plot import axes, labels, style  # noqa: E402
from gpumc.plot.refusal import NotYet, lacking  # noqa: E402
import result_file  # noqa: E402
from support import cases, pictures  # noqa: E402
from support.program import CAMPAIGN, LONG, SMALL, STOPPED, ProgramCase, stop, wait_for  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n"


class Case(ProgramCase):
    def setUp(self):
        super().setUp()
        self.file = str(self.path("run.h5"))
        result_file.write(self.file, reweighted=True)

    def plot(self, *arguments, code=0):
        process = subprocess.run([sys.executable, ROOT / "tools/plot", *map(str, arguments)], capture_output=True, text=True,
                                 cwd=self.directory, env=os.environ)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def figure(self, kind="summary", **options):
        return plot.draw(kind, gpumc.read(self.file), **options)


class Axes(Case):
    def test_temperatures(self):
        """1/beta, without beta = 0, up to five times the lowest; fields and levels are no temperatures."""
        panel, = self.figure(x="T", quantities=["energy"]).axes
        points = panel.get_lines()[0]
        beta = gpumc.read(self.file).summary["beta"]
        np.testing.assert_allclose(points.get_xdata()[1:], 1 / beta[1:])
        self.assertTrue(np.isnan(points.get_xdata()[0]))
        self.assertEqual(panel.get_xlabel(), "temperature $T$ [J]")
        self.assertAlmostEqual(panel.get_xlim()[1], 5)
        levels, = self.figure(x="T", quantities=["log_dos"]).axes
        self.assertIn("energy of the whole system", levels.get_xlabel())
        np.testing.assert_array_equal(axes.over([0, 0.1], "h", axes.Options(x="T")), [0, 0.1])

    def test_limits_fit_the_height(self):
        """To what lies between them, with its errors; an end may be left out."""
        panel, = self.figure(quantities=["specific_heat"], xlim=(0.8, None)).axes
        result = gpumc.read(self.file).summary
        inside = result["beta"] >= 0.8
        low = (result["specific_heat"] - result["specific_heat_error"])[inside].min()
        high = (result["specific_heat"] + result["specific_heat_error"])[inside].max()
        self.assertEqual(panel.get_xlim()[0], 0.8)
        np.testing.assert_allclose(panel.get_ylim(), (low - 0.05 * (high - low), high + 0.05 * (high - low)), rtol=1e-6)
        fixed, = self.figure(quantities=["specific_heat"], xlim=(0.8, 0.9), ylim=(0, 3)).axes
        self.assertEqual((*fixed.get_xlim(), *fixed.get_ylim()), (0.8, 0.9, 0, 3))

    def test_logarithms(self):
        panel, = self.figure(quantities=["abs_magnetization"], log_x=True, log_y=True).axes
        self.assertEqual((panel.get_xscale(), panel.get_yscale()), ("log", "log"))
        with self.assertRaisesRegex(plot.Refusal, "no value of .* is above 0"):
            self.figure(quantities=["beta_free_energy"], log_y=True)
        with self.assertRaisesRegex(plot.Refusal, "--log-y: an end of --ylim is not above 0"):
            self.figure(quantities=["abs_magnetization"], log_y=True, ylim=(0, None))

    def test_a_part_is_shown_larger_where_nothing_lies(self):
        panel, = self.figure(quantities=["specific_heat"], zoom=(0.40, 0.48)).axes
        inset, = panel.child_axes
        self.assertEqual(inset.get_xlim(), (0.40, 0.48))
        self.assertGreater(inset.get_ylim()[0], 0.5)
        self.assertEqual(len(inset.get_lines()), 2)
        box, places = inset.get_window_extent(), style.occupied_places(panel)
        covered = ((places > [box.x0, box.y0]) & (places < [box.x1, box.y1])).all(axis=1)
        self.assertLess(covered.mean(), 0.05)
        nothing, = self.figure(quantities=["specific_heat"], zoom=(7, 8)).axes
        self.assertEqual(nothing.child_axes, [])

    def test_what_is_no_limit(self):
        for words, says in ((["--xlim", "3,2"], "the first must be the smaller"), (["--zoom", "1"], "2 or 4 numbers"),
                            (["--ylim", "a,b"], "is not LOW,HIGH"), (["--watch", "0"], "not a number of seconds")):
            self.assertIn(says, self.plot(self.file, *words, code=2).stderr)


class Looks(Case):
    def test_formats_and_the_same_bytes(self):
        starts = {"png": PNG, "svg": b"<?xml", "pdf": b"%PDF"}
        for suffix, start in starts.items():
            with self.subTest(suffix):
                for name in "one", "two":
                    self.plot(self.file, "--quantities", "energy", "-o", f"{name}.{suffix}")
                one, two = (self.path(f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
                self.assertEqual(one[:len(start)], start)
                self.assertEqual(one, two)
        self.assertEqual(self.names("*.new"), [])

    def test_styles(self):
        """A name, a style sheet; and none of both."""
        self.write("talk.mplstyle", "axes.facecolor: 112233\naxes.prop_cycle: cycler('color', ['ff0000', '00ff00'])\n")
        with plot.used(str(self.path("talk.mplstyle"))):
            figure = self.figure(user_style=str(self.path("talk.mplstyle")), quantities=["energy"])
        self.assertEqual(figure.axes[0].get_facecolor()[:3], (0x11 / 255, 0x22 / 255, 0x33 / 255))
        self.assertEqual(figure.axes[0].get_lines()[0].get_color(), "#ff0000")
        self.plot(self.file, "--style", "dark_background", "--quantities", "energy", "--size", "3,2", "--dpi", "100", "-o", "a.png")
        import matplotlib.image
        picture = matplotlib.image.imread(self.path("a.png"))
        self.assertEqual(picture.shape[0], 200)
        self.assertLess(picture[2, 2, :3].max(), 0.1)
        self.assertIn("no style 'nosuch'", self.plot(self.file, "--style", "nosuch", code=1).stderr)

    def test_drawing_leaves_matplotlib_as_it_was(self):
        import matplotlib
        before = dict(matplotlib.rcParams)
        self.figure(quantities=["energy"])
        self.assertEqual(dict(matplotlib.rcParams), before)

    def test_curves_are_above_points_and_errors_above_markers(self):
        panel, = self.figure(quantities=["energy"], exact=True).axes[:1]
        marks = panel.containers[0]
        curves = [line for line in panel.get_lines() if line is not marks[0]]
        self.assertTrue(all(curve.get_zorder() > marks[0].get_zorder() for curve in curves))
        self.assertGreater(marks[2][0].get_zorder(), marks[0].get_zorder())

    def test_symbols(self):
        for text, expected in (("U_4", "$U_{4}$"), ("<m^2>", r"$\langle m^{2}\rangle$"), ("βF/N", r"$\beta F/N$"),
                               ("n_fam", r"$n_{\mathrm{fam}}$"), ("ln Ω", r"$\ln \,\Omega$"), ("P*", "$P^{*}$"), ("", "")):
            self.assertEqual(labels.symbol(text), expected)
        self.assertEqual(labels.prose("the +-J model, psi_6 and <q_i>"), r"the $\pm J$ model, $\psi _{6}$ and $\langle q_{i}\rangle$")
        self.assertEqual(labels.symbol("$_{"), r"\$_{")

    def test_legends_say_what_differs(self):
        def of(**model):
            return type("Result", (), {"config": {"model": model, "seed": model.pop("seed", 1)}, "path": "f.h5"})
        self.assertEqual(labels.of_files([of(shape=[16, 16]), of(shape=[16, 8])]), ["$L = 16$", r"$16 \times 8$"])
        self.assertEqual(labels.of_files([of(shape=[8], seed=1), of(shape=[8], seed=2)]), ["seed 1", "seed 2"])
        self.assertEqual(labels.of_files([of(couplings="bimodal"), of(couplings="gaussian")]), [r"$\pm J$", "Gaussian"])
        self.assertEqual(labels.of_files([of(h=0.5), of(h=0.5)]), ["f.h5", "f.h5"])


class Sources(Case):
    def test_a_campaign(self):
        """A configuration stands for its results: for those that are there."""
        config = self.write("job.yaml", CAMPAIGN)
        self.assertIn("none of its 3 results exists yet", self.plot(config, code=1).stderr)
        self.gpumc("run", config, "--quiet", "--task", "0,2")
        shown = self.plot(config, "--quantities", "energy")
        self.assertIn("2 of its 3 results exist", shown.stderr)
        self.assertEqual(self.path("job.png").read_bytes()[:8], PNG)
        refused = self.plot(self.write("bad.yaml", "gpumc: 1\n"), code=1).stderr
        self.assertRegex(refused, r"^plot: .*bad\.yaml: .*\n$")

    def test_the_list(self):
        self.gpumc("run", self.write("job.yaml", SMALL), "--quiet")
        self.assertRegex(self.plot("small.h5", "--list").stdout, r"(?s)small\.h5\n  --kind summary .*--kind families ")
        refused = self.plot("small.h5", "--kind", "tempering", code=1).stderr
        self.assertIn("only parallel tempering of two temperatures or more has them", refused)
        self.assertNotIn("Traceback", refused)

    def test_kinds_refuse_what_they_cannot_draw(self):
        for kind in plot.KINDS:
            if kind not in ("summary", "density", "families"):
                with self.subTest(kind), self.assertRaises(Exception) as caught:
                    self.figure(kind)
                self.assertIn(type(caught.exception).__name__, ("Refusal", "NotComparable", "NotDisks", "ResultError"))
        with self.assertRaisesRegex(plot.Refusal, "no kind of picture 'x'; choose from: summary"):
            self.figure("x")

    def test_the_catalogue(self):
        """Of each algorithm what its files have, and each picture can be made; of an unfinished one no summary."""
        expected = {"pa": ["summary", "families", "density"], "muca": ["summary", "iterations", "density"],
                    "pt": ["summary", "series", "tempering"], "series": ["summary", "series", "configurations"],
                    "disks": ["series", "bond-order"]}
        for name, kinds in expected.items():
            with self.subTest(name):
                self.gpumc("run", self.write(f"{name}.yaml", pictures.config(name, f"{name}.h5")), "--quiet")
                found = plot.catalogue(gpumc.read(self.path(f"{name}.h5")))
                self.assertEqual([picture.kind for picture in found], kinds)
                for kind, title, caption, make in found:
                    self.assertTrue(title and caption.endswith("."))
                    self.assertGreater(len(make().axes), 0)
        half = gpumc.read(result_file.write(str(self.path("half.h5")), complete=0))
        self.assertNotIn("summary", [picture.kind for picture in plot.catalogue(half)])


SERIES = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [32, 32]}
algorithm: {name: canonical, beta: {values: [0.3, 0.44]}, replicas: 2, thermalization: 100, sweeps: 1000000000, interval: 10, series: true}
output: series.h5
"""


class Running(ProgramCase):
    def test_series_so_far(self):
        """The working file has the rows of algorithm.series. Control: without it there are none before the end, and the plot says so."""
        config = self.write("series.yaml", SERIES)
        self.gpumc("run", config, "--quiet", "--max-time", "3 s", code=STOPPED)
        result = gpumc.read(self.path("series.h5.partial"))
        for run in result.runs:
            self.assertGreater(len(run["sweep"]), 10)
            self.assertGreaterEqual(run["energy"].shape, (len(run["sweep"]), 2))
        self.assertEqual([picture.kind for picture in plot.catalogue(result)], ["series"])
        self.assertEqual(len(plot.draw("series", result).axes), 6)
        self.gpumc("run", config, "--quiet", "--max-time", "3 s", "--set", "algorithm.series=false", "-o", "without.h5", code=STOPPED)
        without = gpumc.read(self.path("without.h5.partial"))
        self.assertEqual(plot.catalogue(without), [])
        with self.assertRaisesRegex(NotYet, "no time series yet: .* bins of time are written at its end"):
            plot.draw("series", without)

    def test_a_running_task_is_drawn_as_far_as_it_is(self):
        process = self.start("run", self.write("long.yaml", LONG), "--quiet")
        try:
            self.assertTrue(wait_for(self.path("small.h5.partial"), process))
            end = time.monotonic() + 60
            while time.monotonic() < end:
                try:
                    found = [picture for picture in plot.catalogue(gpumc.read(self.path("small.h5.partial")))]
                except gpumc.ResultError:
                    found = []
                if found:
                    break
                time.sleep(0.2)
        finally:
            stop(process)
        self.assertEqual([picture.kind for picture in found], ["families"])
        self.assertGreater(len(found[0].make().axes), 3)
        shown = subprocess.run([sys.executable, ROOT / "tools/plot", "small.h5"], capture_output=True, text=True, cwd=self.directory)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("--kind families draws what there is", shown.stderr)

    def test_what_may_come(self):
        """A running file of the algorithm that has such pictures is waited for. Controls: another algorithm, a finished file."""
        for name, complete, waits in ("pa", False, True), ("canonical", False, False), ("pa", True, False):
            result = types.SimpleNamespace(path="x.h5", is_complete=complete, config={"algorithm": {"name": name}})
            self.assertEqual(isinstance(lacking(result, "no families", "pa"), NotYet), waits)

    def test_watching_ends_with_the_run(self):
        """The picture is there while the run goes on, and is that of the finished result at the end."""
        config = self.write("job.yaml", SMALL.replace("step: 0.05", "step: 0.001").replace("population: 200", "population: 20000"))
        watcher = subprocess.Popen([sys.executable, ROOT / "tools/plot", "job.yaml", "--kind", "families", "--watch", "0.2", "-o",
                                    "live.png"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.directory)
        try:
            self.gpumc("run", config, "--quiet")
            out, err = watcher.communicate(timeout=120)
        finally:
            watcher.kill()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("live.png", out)
        self.assertEqual(self.path("live.png").read_bytes()[:8], PNG)


if __name__ == "__main__":
    cases.main()
