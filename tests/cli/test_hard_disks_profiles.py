"""Profiles of hard disks in results: the pressure is what a polynomial through the recorded histogram extrapolates to, bond order
is what follows from its means, and what was not asked for is not there.

CTest: methods 5 s
"""
import json
import sys
import pathlib
import time

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.program import INVALID, OK, STOPPED, ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 5
model: {{name: hard_disks, particles: 100, packing_fraction: 0.66{model}}}
algorithm: {{name: mpmc, thermalization: 300, sweeps: 4000, interval: 10{more}}}
kernel: {{device: cpu, variant: {variant}}}
output: r.h5
"""
PROFILES = {"contact_histogram": "contact_distance", "pair_correlation": "distance", "bond_order_correlation": "distance",
            "structure_factor": "wave_number"}
# Where disks begin to overlap (docs/kernels/checkerboard.md).
CONTACT = 1 + 0.72 / 2**23


class HardDisksProfiles(ProgramCase):
    def test_a_run_stops_between_measurements_that_take_long(self):
        """A unit of sweeps alone would have 2700 measurements of 20 ms and more."""
        config = CONFIG.format(model="", more=", replicas: 1, bond_order_correlation: true", variant="checkerboard")
        config = config.replace("particles: 100", "particles: 4900").replace("interval: 10", "interval: 1")
        began = time.monotonic()
        self.gpumc("run", self.write("c.yaml", config), "--max-time", "1 s", code=STOPPED)
        self.assertLess(time.monotonic() - began, 15)

    def summary(self, keys=(), model="", variant="checkerboard", replicas=4, options=()):
        more = f", replicas: {replicas}" + "".join(f", {key}: true" for key in keys)
        self.gpumc("run", "--fresh", self.write("c.yaml", CONFIG.format(model=model, more=more, variant=variant)), *options, code=OK)
        with h5py.File(self.path("r.h5")) as file:
            return {name: value[()] for name, value in file["summary"].items() if isinstance(value, h5py.Dataset)}

    def test_the_pressure_is_extrapolated_from_the_histogram(self):
        for variant in ("checkerboard", "serial"):
            with self.subTest(variant):
                summary = self.summary(["contact_histogram"], variant=variant)
                r, g = summary["contact_distance"] - CONTACT, summary["contact_histogram"]
                self.assertEqual(len(r), 200)
                at_contact = [np.polyval(np.polyfit(r / 0.02, g, degree), 0) for degree in (5, 4)]
                density = 4 / np.pi * 0.66
                pressure, wrong = (density * (1 + np.pi / 2 * density * value) for value in at_contact)
                # The box is rounded to 1e-7 or so.
                self.assertLess(abs(pressure / summary["pressure"] - 1), 5e-7)
                self.assertGreater(abs(wrong / summary["pressure"] - 1), 5e-6)

    def test_profiles_stand_over_their_axes_with_errors(self):
        summary = self.summary(PROFILES)
        for name, axis in PROFILES.items():
            with self.subTest(name):
                self.assertEqual(summary[name].shape, summary[axis].shape)
                self.assertEqual(summary[name].shape, summary[name + "_error"].shape)
                self.assertTrue(np.all(np.isfinite(summary[name])))
        far = summary["distance"] > 3
        self.assertLess(abs(np.mean(summary["pair_correlation"][far]) - 1), 0.05)
        ratio = np.sum(summary["bond_order_correlation"]) / np.sum(summary["pair_correlation"])
        self.assertTrue(0 < ratio < 1)
        # Pairs in bins of 1e-2 and 1e-4 overlap in the first two of these.
        first = np.sum(summary["pair_correlation"][:2] * summary["distance"][:2]) / 2
        fine = np.sum(summary["contact_histogram"] * summary["contact_distance"]) / 200
        self.assertLess(abs(fine / first - 1), 1e-3)
        length = np.sqrt(100 * np.pi / 4 / 0.66)
        self.assertTrue(np.allclose(summary["wave_number"], 2 * np.pi / length * np.repeat(np.arange(1, 65), 2), rtol=1e-6))

    def test_any_number_of_threads_has_the_same_bits(self):
        one = self.summary([*PROFILES, "bond_order"], options=["--threads", 1])
        other = self.summary([*PROFILES, "bond_order"], options=["--threads", 3])
        for name, value in one.items():
            self.assertTrue(np.array_equal(other[name], value, equal_nan=True), name)

    def test_wave_vectors_may_be_chosen(self):
        summary = self.summary(["structure_factor"], model=", wave_vectors: [2, 1, -2, -1, 0, 3]")
        length = np.sqrt(100 * np.pi / 4 / 0.66)
        self.assertTrue(np.allclose(summary["wave_number"] * length / (2 * np.pi), [5**0.5, 5**0.5, 3], rtol=1e-6))
        s = summary["structure_factor"]
        self.assertLess(abs(s[0] - s[1]), 1e-9)  # S(k) = S(-k)
        for vectors, message in (("[2, 1, 3]", "wave_vectors: 3 numbers do not form pairs"),
                                 ("[2, 1, 0, 0]", "wave_vectors: leave out 0, 0, where the structure factor is the number of disks")):
            bad = CONFIG.format(model=f", wave_vectors: {vectors}", more="", variant="checkerboard")
            self.assertRegex(self.gpumc("validate", self.write("bad.yaml", bad), code=INVALID).err, message)

    def test_bond_order_follows_from_its_means(self):
        summary = self.summary(["bond_order"], replicas=1)
        second, psi6 = summary["psi6_2"], summary["psi6"]
        length2 = 100 * np.pi / 4 / 0.66
        excess = second / summary["psi6_wave_x"] + second / summary["psi6_wave_y"] - 2
        self.assertLess(abs(summary["psi6_correlation_length"] / np.sqrt(excess * length2 / (8 * np.pi**2)) - 1), 1e-6)
        self.assertLess(abs(summary["psi6_binder"] - (1 - summary["psi6_4"] / (3 * second**2))), 1e-9)
        self.assertLess(abs(summary["psi6_susceptibility"] / (100 * (second - psi6**2)) - 1), 1e-6)
        self.assertTrue(0 < psi6 < summary["psi6_local"] < 1)
        times = json.loads(self.gpumc("info", "r.h5", "--json").out)
        self.assertTrue(times["complete"])

    def test_profiles_have_bins(self):
        """Averages of bins are the profiles, and those of two seeds the average of both: so files can be merged. With bins a
        polynomial of any degree has an error: that of degree 5 is the error of the pressure, that of degree 2 is smaller."""
        summary = self.summary(PROFILES)
        with h5py.File(self.path("r.h5")) as file:
            bins = {name: value[()] for name, value in file["runs/0000/bins"].items()}
            self.assertEqual([axis[0].name.split("/")[-1] for axis in file["runs/0000/bins/pair_correlation"].dims], ["sweep", "distance"])
        for name, axis in PROFILES.items():
            self.assertEqual(bins[name].shape, (len(bins["sweep"]), len(summary[axis])))
            np.testing.assert_array_equal(bins[axis], summary[axis])
            np.testing.assert_allclose(bins[name].mean(axis=0), summary[name], rtol=1e-12, atol=1e-12)
            self.assertFalse(np.allclose(bins[name][:-1].mean(axis=0), summary[name], rtol=1e-12, atol=1e-12))
        r = bins["contact_distance"] - CONTACT
        error = {}
        for degree in 2, 5:
            at_contact = np.polyfit(r / 0.02, bins["contact_histogram"].T, degree)[-1]
            error[degree] = 4 / np.pi * 0.66 * np.pi / 2 * 4 / np.pi * 0.66 * at_contact.std() / np.sqrt(len(at_contact))
        self.assertLess(error[2], 0.8 * error[5])
        self.assertTrue(0.5 < error[5] / summary["pressure_error"] < 2, f"{error} {summary['pressure_error']}")

    def test_only_what_is_asked_for_is_there(self):
        summary = self.summary(["pair_correlation"])
        for name in (set(PROFILES) | {"psi6_2", "psi6_correlation_length", "contact_distance", "wave_number"}) - {"pair_correlation"}:
            self.assertNotIn(name, summary)


if __name__ == "__main__":
    cases.main()
