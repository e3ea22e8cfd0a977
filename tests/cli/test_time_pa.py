"""tools/time-pa on the program, and its arithmetic on a stand-in that takes known times.

CTest: validate (cli_test_bench, cli_test_configs)
"""
import math
import os
import pathlib
import subprocess
import sys
import unittest

import h5py
import matplotlib.colors
import matplotlib.image
import numpy as np
import xarray

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import pa_published  # noqa: E402
from gpumc.plot import style  # noqa: E402
from support import cases  # noqa: E402
from support.program import PROGRAM, ProgramCase  # noqa: E402

# A gpumc whose runs take L*L ps a flip, half of it sweeps; every second repeat takes twice as long.
# Populations over 1000 do not fit.
STAND_IN = """\
#!{python}
import json, os, sys
import h5py
config = json.load(open(sys.argv[2]))
population = config["algorithm"]["population"]
area = config["model"]["shape"][0] ** 2
if sys.argv[1] == "plan":
    print(json.dumps({{"tasks": [{{"ensemble_bytes": 7 * population}}]}}))
    sys.exit(0)
if population > 1000:
    sys.exit("gpumc: error: it does not fit\\nthe largest is 1000")
marker = config["output"] + ".again"
factor = 2 if os.path.exists(marker) else 1
os.remove(marker) if factor == 2 else open(marker, "w").close()
updates = 50.0 * area * population * config["algorithm"]["sweeps"]
seconds = factor * area * 1e-12 * updates
with h5py.File(config["output"], "w") as file:
    file.attrs.update({{"format": "gpumc-results", "format_version": 1, "complete": 1}})
    file.create_group("provenance").attrs.update({{
        "updates": updates, "seconds": 2 * seconds, "seconds_units": seconds, "device": "stand-in", "program_version": "9.9.9",
        "seconds_sweep": 0.5 * seconds, "seconds_tally": 0.25 * seconds,
        "seconds_resample": 0.125 * seconds, "seconds_gather": 0.0625 * seconds}})
sys.path.insert(0, "{tools}/python")
import gpumc
gpumc.seal(config["output"])
"""


class TimePa(ProgramCase):
    def time_pa(self, *arguments, code=0, program=PROGRAM):
        environment = dict(os.environ, MPLCONFIGDIR=str(self.directory))
        if "--from" not in arguments:
            arguments = ("--program", program, "-o", "timings.h5", *arguments)
        process = subprocess.run([sys.executable, ROOT / "tools" / "time-pa", *map(str, arguments)],
                                 capture_output=True, text=True, cwd=self.directory,
                                 env=environment)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def stand_in(self, text=STAND_IN):
        path = self.write("stand-in", text.format(python=sys.executable, tools=ROOT / "tools"))
        os.chmod(path, 0o755)
        return path

    def lines(self, process, variant):
        return [line.split() for line in process.stdout.splitlines()
                if line.startswith(variant + " ")]

    def assert_picture(self, name):
        self.assertEqual(self.path(name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def assert_colours(self, name):
        """Curves and bars have the colours of gpumc.plot. Control: none has those of Matplotlib's own cycle."""
        pixels = np.round(255 * matplotlib.image.imread(self.path(name))[..., :3]).astype(int)
        shown = {f"#{number:06x}" for number in np.unique(pixels @ [1 << 16, 1 << 8, 1])}
        self.assertLessEqual({colour.lower() for colour in (*style.COLOURS[:2], style.COLOURS[4], style.COLOURS[5])}, shown)
        self.assertFalse({matplotlib.colors.to_hex(colour) for colour in ("tab:blue", "tab:orange")} & shown)


class OnTheProgram(TimePa):
    def test_table_file_and_plot(self):
        shown = self.time_pa("--length", 16, 8, "--population", 100, "--theta", 1, 2, "--repeat", 2,
                             "--plot", "timings.png")
        for variant in ("multispin", "spin"):
            lines = self.lines(shown, variant)
            self.assertEqual([" ".join(line[1:4]) for line in lines],
                             ["8 100 1", "8 100 2", "16 100 1", "16 100 2"])
            for line in lines:
                self.assertGreater(float(line[4]), 0)
                self.assertGreater(float(line[6]), float(line[4]), "wall-clock time is the longer")
        self.assert_picture("timings.png")
        self.check_file(xarray.open_dataset(self.path("timings.h5"), engine="h5netcdf"))
        again = self.time_pa("--from", "timings.h5", "--plot", "again.png")
        self.assertEqual(again.stdout, shown.stdout)
        self.assert_picture("again.png")

    def check_file(self, timings):
        self.assertEqual(timings.t_sf.dims, ("variant", "length", "population", "theta"))
        self.assertEqual(timings.seconds.dims, (*timings.t_sf.dims, "repeat"))
        self.assertTrue(np.all(timings.t_sf > 0))
        self.assertTrue(np.all(timings.t_sf_spread >= 0))
        self.assertTrue(np.all(timings.bytes_per_replica > 8 * 8 / 8))
        flips = timings.updates.sel(variant="spin", length=16, population=100, theta=2)
        self.assertAlmostEqual(float(flips[0]) / (16 * 16 * 2 * 50 * 100), 1, delta=0.1)
        for name in timings.variables:
            for key in ("long_name", "units", "symbol"):
                self.assertTrue(timings[name].attrs[key], f"{name} has no {key}")
        for key in ("device", "program_version", "git_commit", "rng", "step"):
            self.assertTrue(timings.attrs[key], key)

    def test_a_refused_point_is_reported_and_the_others_are_measured(self):
        shown = self.time_pa("--length", 16, "--population", 100, 2147483647, "--theta", 1,
                             "--variant", "spin", code=1)
        good, refused = self.lines(shown, "spin")
        self.assertGreater(float(good[4]), 0)
        self.assertEqual(refused[4], "-")
        self.assertIn("exit 1: gpumc: error:", " ".join(refused))
        self.assertEqual(self.time_pa("--from", "timings.h5").stdout, shown.stdout)

    def test_a_configuration_that_is_refused(self):
        shown = self.time_pa("--length", 8, "--population", 100, "--theta", 1, "--variant", "spni",
                             code=1)
        self.assertIn("exit 2: ", shown.stdout)


class OnAStandIn(TimePa):
    def test_medians_and_shares(self):
        self.time_pa("--length", 4, 8, "--population", 10, 100, "--theta", 1, 5, "--repeat", 2,
                     "--plot", "shares.png", program=self.stand_in())
        self.assert_picture("shares.png")
        self.assert_colours("shares.png")
        with h5py.File(self.path("timings.h5")) as file:
            expected = {"t_sf": 1.5 * 64, "t_sf_spread": 64, "flips_per_ns": 1e3 / 96,
                        "share_sweep": 50, "share_tally": 25, "share_resample": 12.5,
                        "share_gather": 6.25, "share_rest": 6.25, "bytes_per_replica": 7}
            for name, value in expected.items():
                np.testing.assert_allclose(file[name][:, 1], value, err_msg=name)
            self.assertEqual(file.attrs["device"], "stand-in")

    def test_a_stage_without_its_time_is_nan_and_so_is_the_rest(self):
        shown = self.time_pa("--length", 8, "--population", 100, "--theta", 1, "--variant", "spin",
                             program=self.stand_in(STAND_IN.replace("seconds_sweep", "other")))
        self.assertEqual(self.lines(shown, "spin")[0][8:13], ["-", "25.0", "12.5", "6.2", "-"])
        with h5py.File(self.path("timings.h5")) as file:
            self.assertTrue(np.isnan(file["share_sweep"][()]).all())
            self.assertTrue(np.isnan(file["share_rest"][()]).all())

    def test_what_does_not_fit(self):
        shown = self.time_pa("--length", 8, "--population", 1001, 10, "--theta", 1, "--variant",
                             "spin", code=1, program=self.stand_in())
        self.assertIn("exit 1: gpumc: error: it does not fit; the largest is 1000", shown.stdout)
        self.assertEqual(self.lines(shown, "spin")[0][4], "64.00")

    def test_points_beyond_the_budget_are_named(self):
        shown = self.time_pa("--length", 4, 8, "--population", 10, "--theta", 1, "--variant",
                             "spin", "--budget", 0.02, "--repeat", 2, program=self.stand_in())
        small, large = self.lines(shown, "spin")
        self.assertEqual(small[4], "16.00")
        self.assertIn("skipped 1 of 2: the budget", " ".join(small))
        self.assertEqual(large[4], "-")
        self.assertIn("skipped 2 of 2: the budget of 0.02 s is spent", " ".join(large))

    def test_a_program_that_is_not_there(self):
        shown = self.time_pa(code=1, program="nowhere")
        self.assertEqual(shown.stderr, "time-pa: nowhere: no program\n")

    def test_a_file_of_something_else(self):
        with h5py.File(self.path("other.h5"), "w") as file:
            file["energy"] = 1.0
        shown = self.time_pa("--from", "other.h5", code=1)
        self.assertIn("other.h5: holds no timings", shown.stderr)


class Published(unittest.TestCase):
    def test_figures_stand_where_the_paper_has_them(self):
        self.assertEqual(pa_published.published("multispin", 128, 50000, 500), 9.8)
        self.assertEqual(pa_published.published("spin", 16, 50000, 500), 94)
        self.assertEqual(pa_published.published_sweep_share("multispin", 128, 100000, 10), 35.9)
        self.assertEqual(pa_published.measured("multispin", 64, 100000, 1), 6.91)
        for figure in (pa_published.published, pa_published.measured):
            self.assertTrue(math.isnan(figure("walker", 64, 100000, 500)))
            self.assertTrue(math.isnan(figure("spin", 64, 20000, 10)))


if __name__ == "__main__":
    cases.main()
