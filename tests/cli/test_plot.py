"""tools/plot and the Python package on files written by hand in the documented format.

CTest: first, release (cli_test_configs, cli_test_transition of the release build), long, cases 4 s
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tools"),
                os.path.join(ROOT, "tools", "python")]
import gpumc  # noqa: E402
from gpumc import ising2d_exact  # noqa: E402
from gpumc.plot import axes as view, curves, draw, labels  # noqa: E402
import result_file  # noqa: E402
from support import cases  # noqa: E402


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def plot(self, *arguments):
        environment = dict(os.environ, MPLCONFIGDIR=self.folder)
        return subprocess.run([sys.executable, os.path.join(ROOT, "tools", "plot"), *arguments],
                              capture_output=True, text=True, env=environment)

    def assert_picture(self, path, least_width):
        with open(path, "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(struct.unpack(">I", head[16:20])[0], least_width)


class Plot(Files):
    def test_everything_beside_the_exact_curves(self):
        file = result_file.write(self.path("run.h5"), reweighted=True)
        result = self.plot(file, "--exact")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.strip(), self.path("run.png"))
        self.assert_picture(self.path("run.png"), 1500)

    def test_density_of_states_beside_the_exact_one(self):
        """Of all levels, of those of a range, and not of bins, which are at the means of their values: with a picture."""
        levels = np.arange(-32.0, 33.0, 4.0)[[0, *range(2, 15), 16]]
        exact = np.log([count for count in ising2d_exact.density_of_states(4, 4) if count > 0])
        for name, keys, part in (("all", {}, slice(None)), ("range", {"range": {"from": -1.5, "to": 0}}, slice(1, 8)),
                                 ("bin", {"bin": 4}, slice(None))):
            with self.subTest(name):
                file = result_file.write(self.path(f"{name}.h5"), shape=(4, 4))
                expected = exact[part] - (np.logaddexp.reduce(exact[part]) if "range" in keys else 0)
                with h5py.File(file, "r+") as opened:
                    config = json.loads(opened["config/resolved"][()])
                    config["algorithm"] = {"name": "muca", **keys}
                    del opened["config/resolved"]
                    opened["config/resolved"] = json.dumps(config)
                    columns = {"log_dos": expected + 0.05, "log_dos_error": np.full(expected.size, 0.1)}
                    means = {"energy_bin_mean": levels + np.linspace(0.5, 1, levels.size)} if name == "bin" else {}
                    axis = "energy_bin" if name == "bin" else "level_energy"
                    result_file.table(opened, "summary", levels[part], {**columns, **means}, axis)
                read = gpumc.read(file)
                np.testing.assert_array_equal(view.level_values(read, axis), means.get("energy_bin_mean", levels[part]))
                self.assertNotIn("energy_bin_mean", curves.choose_panels([read]))
                known = curves.exact_curves(read)
                self.assertEqual("log_dos" in known, name != "bin")
                if name != "bin":
                    np.testing.assert_allclose(known["log_dos"](levels[part]), expected, atol=1e-12)
                result = self.plot(file, "--exact", "--quantities", "log_dos")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assert_picture(self.path(f"{name}.png"), 300)

    def test_the_same_over_another_axis_is_no_twin(self):
        """A quantity by temperature, its reweighted twin, and the same by level, which has a panel of its own."""
        file = result_file.write(self.path("run.h5"), reweighted=True)
        with h5py.File(file, "r+") as opened:
            result_file.table(opened, "summary/microcanonical", np.arange(-16.0, 4.0, 4.0),
                              {"energy": np.zeros(5), "energy_error": np.ones(5)}, "level_energy")
        panels = curves.curves(gpumc.read(file))
        self.assertEqual(sorted(panels["energy"]), ["energy", "reweighted/energy"])
        self.assertEqual(panels["microcanonical/energy"], ["microcanonical/energy"])

    def test_groups_that_say_different_things_have_panels_of_their_own(self):
        """Times of a series of which the summary has no mean: beside neither its drift nor its number of samples, and those are
        drawn on request only. Control: two groups that say the same share a panel."""
        file = result_file.write(self.path("run.h5"))
        beta = np.array([0.1, 0.2, 0.3])
        with h5py.File(file, "r+") as opened:
            for group, what, more in (("autocorrelation_time", "time", {"psi6_error": np.ones(3)}), ("drift", "excess", {}),
                                      ("effective_samples", "number", {})):
                result_file.table(opened, f"summary/{group}", beta, {"psi6": np.arange(3.0), **more})
                opened[f"summary/{group}/psi6"].attrs["long_name"] = f"{what} of psi6"
        result = gpumc.read(file)
        panels = curves.curves(result)
        for group in "autocorrelation_time", "drift", "effective_samples":
            self.assertEqual(panels[f"{group}/psi6"], [f"{group}/psi6"])
        self.assertEqual([name for name in curves.choose_panels([result], None) if "psi6" in name],
                         ["autocorrelation_time/psi6"])
        with h5py.File(file, "r+") as opened:
            opened["summary/drift/psi6"].attrs["long_name"] = "number of psi6"
            del opened["summary/autocorrelation_time"]
        self.assertEqual(curves.curves(gpumc.read(file))["psi6"], ["drift/psi6", "effective_samples/psi6"])

    def test_what_was_given_is_drawn_on_request_only(self):
        """One value everywhere without an error, or with unknown ones, which are no reason for a warning of NumPy."""
        file = result_file.write(self.path("run.h5"))
        with h5py.File(file, "r+") as opened:
            for name, change in (("abs_magnetization", None), ("entropy", np.nan)):
                values = opened[f"summary/{name}"]
                values[:] = 0.16
                if change is None:
                    del opened[f"summary/{name}_error"]
                else:
                    opened[f"summary/{name}_error"][:] = change
            opened["summary/specific_heat_error"][3] = np.nan
        drawn = curves.choose_panels([gpumc.read(file)], None)
        self.assertEqual([name for name in ("abs_magnetization", "entropy", "specific_heat") if name in drawn],
                         ["specific_heat"])
        for names in [], ["--quantities", "entropy,abs_magnetization"]:
            result = self.plot(file, *names)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_ticks_and_labels_keep_to_the_picture(self):
        """Without symbols, and with a long name of the axis."""
        file = result_file.write(self.path("run.h5"))
        names = ["energy", "specific_heat", "abs_magnetization", "entropy", "beta_free_energy"]
        with h5py.File(file, "r+") as opened:
            opened["summary/beta"].attrs["long_name"] = "a long name of what is moved in this run of all"
            for name in names:
                opened[f"summary/{name}"].attrs.update({"symbol": "", "units": "1"})
        figure = draw("summary", gpumc.read(file), quantities=names)
        figure.canvas.draw()
        for axes in figure.axes:
            box = axes.get_tightbbox()
            self.assertGreaterEqual(box.x0, 0)
            self.assertLessEqual(box.x1, figure.bbox.width)

    def test_labels_of_axes(self):
        for symbol, units, expected in (("V", "diameters2", "$V$ [diameters$^2$]"), ("", "sweeps", "sweeps"), ("φ", "1", "$\\phi$"),
                                        ("<m>", "1", r"$\langle m\rangle$"), ("", "1", "")):
            self.assertEqual(labels.quantity(gpumc.Label("", units, symbol, ())), expected)

    def test_files_overlay(self):
        files = [result_file.write(self.path(f"{side}.h5"), shape=(side, side)) for side in (8, 16)]
        result = self.plot(*files, "-o", self.path("both.png"), "--quantities",
                           "energy,specific_heat")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assert_picture(self.path("both.png"), 1000)

    def test_any_title_is_drawn(self):
        """Control characters, which would reach the terminal in Matplotlib's warnings, and what looks like a
        formula and is none."""
        for number, title in enumerate(["a\x1b[31mb\x9bc", "from $\\frac{ to $", "50 $"]):
            with self.subTest(title=title):
                file = result_file.write(self.path(f"{number}.h5"), title=title)
                result = self.plot(file, "--quantities", "energy")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assert_picture(self.path(f"{number}.png"), 300)

    def test_passes_on_a_warning(self):
        file = result_file.write(self.path("run.h5"), trusted=0)
        result = self.plot(file, "--quantities", "energy")
        self.assertEqual(result.returncode, 0)
        self.assertIn("run.h5: warning: the population is too small", result.stderr)

    def test_passes_on_all_warnings(self):
        file = result_file.write(self.path("run.h5"), trusted=0)
        with h5py.File(file, "r+") as opened:
            opened["summary"].attrs["samples_warning"] = "errors are unknown"
        found = self.plot(file, "--quantities", "energy").stderr
        self.assertEqual(found.count("run.h5: warning: "), 2)
        self.assertIn("errors are unknown", found)

    def test_titles_keep_to_their_panels(self):
        names = ["energy", "specific_heat", "abs_magnetization", "entropy"]
        file = result_file.write(self.path("run.h5"))
        with h5py.File(file, "r+") as opened:
            for name in names:
                opened[f"summary/{name}"].attrs["long_name"] = "twelve words " * 6
        figure = draw("summary", gpumc.read(file), quantities=names)
        figure.canvas.draw()
        titles = [axes._left_title.get_window_extent() for axes in figure.axes]
        self.assertLess(max(title.x1 for title in titles), figure.bbox.width)
        self.assertFalse(titles[0].overlaps(titles[1]))

    def assert_refused(self, expected, *arguments):
        result = self.plot(*arguments)
        self.assertEqual(result.returncode, 1)
        self.assertIn(expected, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_refusals(self):
        good = result_file.write(self.path("good.h5"))
        self.assert_refused("No such file", self.path("none.h5"))
        self.assert_refused("no curve 'enregy' in the summary; choose from: abs_magnetization", good,
                            "--quantities", "enregy")
        self.assert_refused("no curve 'scalar'", good, "--quantities", "scalar")
        self.assert_refused("bad.xyz", good, "-o", self.path("bad.xyz"))
        with open(self.path("text.h5"), "w") as file:
            file.write("energy 1.0\n")
        self.assert_refused("not an HDF5 file", self.path("text.h5"))
        with h5py.File(self.path("other.h5"), "w") as file:
            file["energy"] = 1.0
        self.assert_refused("not a result of gpumc", self.path("other.h5"))
        with h5py.File(self.path("other.h5"), "w", libver="latest") as file:
            file.attrs["format"], file.attrs["format_version"] = "gpumc-results", 3
            file.flush()
            shutil.copy(self.path("other.h5"), self.path("open.h5"))
        self.assert_refused("it does not say whether it is complete", self.path("other.h5"))
        self.assert_refused("not a finished file: another program is writing it", self.path("open.h5"))
        self.assert_refused("not complete, and the curves are written at its end",
                            result_file.write(self.path("half.h5"), complete=0))
        self.assert_refused("only ising2d with h = 0", "--exact", result_file.write(self.path("field.h5"), h=0.1))
        with h5py.File(good, "r+") as file:
            file.attrs["format_version"] = 9
        self.assert_refused("format version 9", good)


class Reader(Files):
    def test_what_it_reads(self):
        result = gpumc.read(result_file.write(self.path("run.h5"), reweighted=True))
        self.assertTrue(result.is_complete)
        self.assertEqual(result.title, "2D Ising")
        self.assertEqual(result.config["model"]["shape"], [16, 16])
        self.assertEqual(result.source, "gpumc: 1\n")
        self.assertEqual(result.provenance, {"host": "node", "resumes": 2})
        self.assertEqual(result.remarks, {"trusted": 1, "rho_t_maximum": 12.5})
        self.assertEqual(result.summary["energy"].shape, (41,))
        self.assertTrue(np.all(result.summary["energy_error"] > 0))
        self.assertEqual(result.labels["energy"],
                         gpumc.Label("energy per site", "J", "e", ("beta",)))
        self.assertEqual(result.labels["reweighted/energy"].axes, ("reweighted/beta",))
        self.assertEqual(len(result.runs), 2)
        self.assertEqual(result.run_labels[1]["entropy"].axes, ("beta",))
        self.assertEqual(float(result.summary["scalar"]), 3.5)
        self.assertEqual([name for name in result.quantities() if "/" not in name],
                         ["abs_magnetization", "beta_free_energy", "energy", "entropy", "scalar",
                          "specific_heat"])

    def test_unfinished(self):
        result = gpumc.read(result_file.write(self.path("half.h5"), complete=0))
        self.assertFalse(result.is_complete)
        self.assertEqual(result.summary, {})
        self.assertEqual(result.runs[0]["energy"].shape, (41,))

    def test_while_it_is_written(self):
        path = result_file.write(self.path("live.h5.partial"), complete=0, libver="latest")
        with h5py.File(path, "r+", libver="latest") as writer:
            writer.swmr_mode = True
            code = f"import gpumc; print(len(gpumc.read({path!r}).runs))"
            result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                                    cwd=os.path.join(ROOT, "tools", "python"))
        self.assertEqual((result.stdout, result.stderr), ("2\n", ""))


if __name__ == "__main__":
    cases.main()
