"""Hard disks at constant pressure by canonical runs, parallel tempering and population annealing in the pressure.

Two disks in a square box have Z_2 = V (V - pi), so in the range of volumes of the grid, 4 to 8, all averages and the
Gibbs free energy are known. For 64 and 256 disks, from a dilute gas to a crystal near close packing, the pressure in
boxes of constant volume, averaged over the volumes of the constant-pressure run (three of them, Gauss and Hermite), is
the imposed pressure.

Null: deviations over errors are standard normal. Bound 4.5, about 60 numbers, one run in 2500 fails by chance; seeds
are fixed. Negative controls: averages of samplers that count ln V, or do not look for overlaps; the pressure at volumes
larger by two percent.

CTest: release (resume_test_resume_hard_disks), long, cases 1 s, methods 6 s
"""
import functools
import itertools
import pathlib
import sys

import h5py
import numpy as np
from scipy import integrate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device  # noqa: E402
from support.program import INVALID, OK, ProgramCase  # noqa: E402

BOUND = 4.5
CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: hard_disks, {model}}}
algorithm: {{name: {algorithm}}}
kernel: {{variant: {variant}, {kernel}}}
output: r.h5
"""
PRESSURES = [0.4, 0.7, 1.0, 1.3, 1.6]
TWO = "particles: 2, packing_fraction: 0.28, start: lattice"
ALGORITHMS = {
    "canonical": "canonical, thermalization: 500, sweeps: 40000, interval: 10, replicas: 16, control: {name: beta_pressure, "
                 f"values: {PRESSURES}}}",
    "pt": f"pt, samples: 16, thermalization: 500, sweeps: 30000, exchange_every: 5, control: {{name: beta_pressure, values: {PRESSURES}}}",
    "pa": "pa, population: 4000, sweeps: 20, runs: 4, control: {name: beta_pressure, from: 0.4, to: 1.6, step: 0.1, thermalization: 500}"}
RANGE = 4.0, 8.0
VARIANTS = ("checkerboard", "serial") if device.NAME == "cpu" else ("checkerboard",)


def right(volume):
    return volume * (volume - np.pi)


def of_log_volume(volume):
    return right(volume) * volume


def with_overlaps(volume):
    return volume**2


@functools.lru_cache(maxsize=None)
def moment(weight, power, pressure):
    return integrate.quad(lambda v: weight(v) * v**power * np.exp(-pressure * v), *RANGE)[0]


def exact(weight, pressures):
    """Returns averages of two disks, by name, at each pressure."""
    mean = np.array([moment(weight, 1, p) / moment(weight, 0, p) for p in pressures])
    square = np.array([moment(weight, 2, p) / moment(weight, 0, p) for p in pressures])
    return {"volume": mean / 2, "density": 2 / mean, "packing_fraction": np.pi / 2 / mean,
            "compressibility": 2 * (square - mean**2) / mean**2}


def exact_gibbs(weight, pressures):
    """Returns -ln of the partition function per disk, from the first pressure on."""
    found = np.array([-np.log(moment(weight, 0, p)) / 2 for p in pressures])
    return found - found[0]


class HardDisksAtPressure(ProgramCase):
    def summary(self, model, algorithm, variant="checkerboard", kernel="move_size: 0.3", seed=7, options=()):
        text = CONFIG.format(model=model, algorithm=algorithm, variant=variant, kernel=kernel, seed=seed)
        self.gpumc("run", "--fresh", "--quiet", "--device", device.NAME, self.write("c.yaml", text), *options, code=OK)
        with h5py.File(self.path("r.h5")) as file:
            return ({name: value[()] for name, value in file["summary"].items() if isinstance(value, h5py.Dataset)},
                    dict(file["summary"].attrs))

    def off(self, summary, weight):
        """Returns the largest deviation from the averages of a sampler that counts in this way, in errors, by name."""
        return {name: float(np.max(np.abs((summary[name] - value) / summary[name + "_error"])))
                for name, value in exact(weight, summary["beta_pressure"].tolist()).items()}

    def test_two_disks_are_exact(self):
        for variant, algorithm in cases.of(itertools.product(VARIANTS, ALGORITHMS)):
            with self.subTest(algorithm, variant=variant):
                summary, attributes = self.summary(TWO, ALGORITHMS[algorithm], variant)
                off = self.off(summary, right)
                print(algorithm, variant, {name: round(z, 2) for name, z in off.items()})
                self.assertLess(max(off.values()), BOUND)
                self.assertNotIn("pressure", summary)  # that of histograms is for constant volumes
                self.assertTrue(np.all(summary["volume_acceptance"] > 0.2))
                # Z_2 extends beyond the range of this small box: it is exact within it, but the result is not to be
                # trusted.
                self.assertEqual(attributes["trusted"], 0)
                self.assertIn("volume_beyond exceeds 0.001",
                              str(attributes.get("volume_beyond_warning", attributes.get("warning"))))
                for wrong in of_log_volume, with_overlaps:
                    self.assertGreater(max(self.off(summary, wrong).values()), BOUND)
                if algorithm != "pa":
                    continue
                found, error = (summary["beta_free_energy_difference" + of] for of in ("", "_error"))
                pressures = summary["beta_pressure"].tolist()
                gibbs = np.abs(found - exact_gibbs(right, pressures))[1:] / error[1:]
                print("Gibbs", np.round(gibbs, 2))
                self.assertLess(np.max(gibbs), BOUND)
                self.assertGreater(np.max(np.abs(found - exact_gibbs(of_log_volume, pressures))[1:] / error[1:]), BOUND)

    def test_moves_count_whichever_sweeps_are_measured(self):
        """About half of all moves of two disks go beyond the range: that is seen both if measured sweeps end with a
        move of the volume and if none does; properties of moves are not reweighted."""
        control = "control: {name: beta_pressure, values: [0.4], reweight: {from: 0.38, to: 0.42, step: 0.01}}"
        for thermalization, variant in cases.of(itertools.product((1000, 1001), VARIANTS)):
            with self.subTest(variant, thermalization=thermalization):
                summary, attributes = self.summary(
                    TWO, f"canonical, thermalization: {thermalization}, sweeps: 20000, interval: 10, replicas: 8, {control}",
                    variant, "move_size: 0.3, sweeps_per_volume_move: 2")
                accepted, beyond = float(summary["volume_acceptance"][0]), float(summary["volume_beyond"][0])
                print(variant, thermalization, "accepted", round(accepted, 3), "beyond", round(beyond, 3))
                self.assertLess(abs(beyond - 0.5), 0.05)
                self.assertGreater(accepted, 0.2)
                self.assertEqual(attributes["trusted"], 0)
                with h5py.File(self.path("r.h5")) as file:
                    curves = set(file["summary/reweighted"])
                self.assertLessEqual({"volume", "density", "packing_fraction", "compressibility"}, curves)
                self.assertFalse([name for name in curves if name.startswith(("volume_acceptance", "volume_beyond"))])

    def test_the_pressure_at_constant_volume_is_the_same(self):
        for particles, pressure, fraction, size in cases.of(((64, 3.0, 0.5, 0.2), (256, 6.0, 0.62, 0.2), (64, 296.4, 0.9, 0.004),
                                                             (256, 0.0705, 0.05, 0.4))):
            with self.subTest(fraction):
                disks = "lattice: [8, 8]" if fraction == 0.9 else f"particles: {particles}"  # a crystal needs a box that fits
                times = "thermalization: 4000, sweeps: 60000, interval: 10, replicas: 8"
                summary, attributes = self.summary(
                    f"{disks}, packing_fraction: {fraction}, start: lattice",
                    f"canonical, {times}, control: {{name: beta_pressure, values: [{pressure}]}}", kernel=f"move_size: {size}")
                mean, error = float(summary["volume"][0]), float(summary["volume_error"][0])
                sigma = mean * np.sqrt(float(summary["compressibility"][0]) / particles)
                found = []
                for volume in mean - np.sqrt(3) * sigma, mean, mean + np.sqrt(3) * sigma:
                    at, _ = self.summary(f"{disks}, packing_fraction: {np.pi / 4 / volume:.9f}, start: lattice",
                                         "mpmc, thermalization: 2000, sweeps: 20000, interval: 2, replicas: 8", kernel=f"move_size: {size}")
                    found.append((float(at["pressure"]), float(at["pressure_error"])))
                value = (found[0][0] + 4 * found[1][0] + found[2][0]) / 6
                slope = (found[2][0] - found[0][0]) / (2 * np.sqrt(3) * sigma)
                noise = np.sqrt((found[0][1]**2 + 16 * found[1][1]**2 + found[2][1]**2) / 36 + (slope * error)**2)
                print(particles, pressure, "pressure", round(value, 5), "+-", round(noise, 5), "at the mean volume", round(found[1][0], 5))
                self.assertLess(abs(value - pressure), BOUND * noise)
                self.assertGreater(abs(value + slope * 0.02 * mean - pressure), BOUND * noise)
                self.assertLess(noise, 0.01 * pressure)
                self.assertEqual(float(summary["volume_beyond"][0]), 0)
                self.assertNotIn("volume_beyond_warning", attributes)
                print("trusted" if attributes["trusted"] else attributes["warning"])
                if particles == 64:  # larger boxes take longer: the volume diffuses
                    self.assertEqual(attributes["trusted"], 1)

    def test_any_number_of_threads_has_the_same_bits(self):
        text = "canonical, thermalization: 100, sweeps: 400, interval: 10, bond_order: true, control: {name: beta_pressure, values: [3, 6]}"
        model = "particles: 5200, packing_fraction: 0.5, start: lattice"
        one, _ = self.summary(model, text, options=["--threads", 1])
        other, _ = self.summary(model, text, options=["--threads", 3])
        self.assertIn("psi6_correlation_length", one)
        for name, value in one.items():
            self.assertTrue(np.array_equal(other[name], value, equal_nan=True), name)

    def test_what_does_not_go_together_is_refused(self):
        def refused(algorithm, message, kernel="move_size: 0.3", model=TWO):
            text = CONFIG.format(model=model, algorithm=algorithm, variant="checkerboard", kernel=kernel, seed=1)
            self.assertIn(message, self.gpumc("validate", self.write("bad.yaml", text), code=INVALID).err)
        times = "thermalization: 10, sweeps: 100"
        refused(f"canonical, {times}, beta: {{values: [1]}}", "model hard_disks has no temperature")
        refused(f"mpmc, {times}, update: volume", "update")
        for profile in "contact_histogram", "pair_correlation", "bond_order_correlation", "structure_factor":
            refused(f"canonical, {times}, {profile}: true, control: {{name: beta_pressure, values: [1]}}",
                    f"model hard_disks has {profile} only where no control is moved: leave {profile} out")
        refused(f"mpmc, {times}", "kernel.volume_step has no effect", kernel="volume_step: 1")


if __name__ == "__main__":
    device.require()
    cases.main()
