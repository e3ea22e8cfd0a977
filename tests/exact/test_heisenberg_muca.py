"""Multicanonical sampling of rings of two and four Heisenberg and XY spins: the density of states in bins of the
energy, curves derived from it, in a field, by the magnetization, in a range and in windows.

Exact:

E/J of two spins, which have two bonds, is -2 cos(angle): uniform for O(3), an arcsine for O(2). Of four it is -(S_1 +
S_3) . (S_2 + S_4). O(3): |S_1 + S_3| = a has the density a/2, and the product with either of the others is uniform from
-a to a, so that |E|/J = x has the density (4 - x - x ln(4/x))/4. O(2): the mean over a and one of the products of the
arcsine that the other gives. Curves: support/heisenberg_exact.py.

Null: ln Omega has the reported errors. Deviations over the levels of a run are correlated, so a run is judged by their
mean square, which is below LIMIT except for one run in a thousand or fewer (of 80 runs of other seeds, 20 of each kind,
the mean was 1.0 and the largest 1.6). Curves are within five errors, as in test_muca_small.py. Seeds are fixed; bounds
were set before these runs.

Negative controls: a density of states that is tilted by a twentieth of a logarithm over its range; that of spins whose
polar angle, not its cosine, is uniform; and other temperatures and fields.

CTest: release (exact_test_heisenberg_walk, resume_test_resume_heisenberg), cases 3 s
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import exact, ring_in_field  # noqa: E402

LIMIT = 6.0
TILT = 0.05
CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: heisenberg, shape: [{sites}], components: {components}, {more}}}
algorithm:
  name: muca
  walkers: 1024
  {keys}
  iteration: {{divergence: 5e-4}}
  production: {{updates: {updates}, measurements: 400}}
kernel: {{variant: {variant}}}
output: {output}
"""
BETA = "beta: {from: 0, to: 2, step: 0.25}"


def below(components, sites, x):
    """Returns the share of all states with an energy below x, J = 1."""
    if sites == 2 and components == 3:
        return np.clip((x + 2) / 4, 0, 1)
    if sites == 2:
        return 0.5 + np.arcsin(np.clip(x / 2, -1, 1)) / np.pi
    if components == 3:
        y = np.clip(np.abs(x), 1e-300, 4)
        return 0.5 + np.sign(x) * (4 * y - 0.75 * y**2 - 0.5 * y**2 * np.log(4 / y)) / 8
    angle = np.pi * (np.arange(1000) + 0.5) / 1000
    length, product = np.meshgrid(2 * np.cos(angle / 2), np.cos(angle))
    return np.array([0.5 + np.arcsin(np.clip(e / length - product, -1, 1)).mean() / np.pi for e in x])


def log_densities(found, axis, parts):
    """Returns ln of the share of all states in each bin, from the shares below its edges, up to a constant."""
    level = found[axis]
    width = level[1] - level[0]
    edges = np.append(level - width / 2, level[-1] + width / 2)
    return np.log(np.diff(parts(edges)))


def mean_square(found, expected, errors):
    """Returns the mean square of deviations in units of the errors, up to a constant that both have."""
    weight = 1 / errors**2
    deviation = found - expected
    deviation -= (weight * deviation).sum() / weight.sum()
    return float(((deviation / errors)**2).mean())


def uniform_in_polar_angle(rng, count):
    """Returns spins that a wrong proposal would give."""
    polar, azimuth = np.pi * rng.random(count), 2 * np.pi * rng.random(count)
    return np.array([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)])


class Rings(unittest.TestCase):
    def run_muca(self, sites, components, variant, keys, more="J: 1.0", seed=1, updates=0):
        with gpumc.folder() as folder:
            output = pathlib.Path(folder) / "run.h5"
            gpumc.run_config(CONFIG.format(seed=seed, sites=sites, components=components, variant=variant, more=more,
                                           keys=keys, updates=updates, output=output), folder)
            with h5py.File(output) as file:
                said = dict(file["summary"].attrs)
            # A range that cuts averages off leaves them unknown, and that alone speaks against a result.
            self.assertEqual({name for name in said if name.endswith("warning")},
                             {"range_warning", "undetermined_warning"} if "range_warning" in said else set())
            self.assertEqual(int(said["trusted"]), "range_warning" not in said)
            return gpumc.summary(output)

    def check_levels(self, found, expected, axis="energy_bin"):
        errors = found["log_dos_error"]
        self.assertLess(mean_square(found["log_dos"], expected, errors), LIMIT)
        tilted = expected + np.linspace(-TILT, TILT, len(expected))
        self.assertGreater(mean_square(found["log_dos"], tilted, errors), LIMIT)

    def check_curves(self, found, axis, curve, shift):
        """curve(x): the expected value at x of the axis; control: `shift` further, at the end."""
        def deviation(i, off):
            return max(abs(found[name][i] - value) / found[name + "_error"][i]
                       for name, value in curve(found[axis][i] + off).items())
        for i, x in enumerate(found[axis]):
            if axis != "beta" or x > 0:
                self.assertLess(deviation(i, 0), 5, (axis, x))
        self.assertGreater(deviation(-1, shift), 5)

    def check(self, sites, components, variant, keys="", **more):
        found = self.run_muca(sites, components, variant, f"bin: {0.05 * sites}\n  {BETA}\n  {keys}", **more)
        expected = log_densities(found, "energy_bin", lambda x: below(components, sites, x))
        self.check_levels(found, expected)
        # All states were counted, each as often as it should be: exactly only for the sum.
        self.assertAlmostEqual(np.logaddexp.reduce(found["log_dos"]),
                               sites * math.log((4 if components == 3 else 2) * math.pi), places=9)

        def curve(beta):
            energy, heat = exact(components, sites, beta)
            return dict(energy=energy, specific_heat=heat)
        self.check_curves(found, "beta", curve, 0.02)
        return found

    def test_pairs(self):
        for components in (3, 2):
            for variant in ("float", "double"):
                with self.subTest(components=components, variant=variant):
                    self.check(2, components, variant, updates=20000)

    def test_four(self):
        for components in (3, 2):
            for variant in ("float", "double"):
                with self.subTest(components=components, variant=variant):
                    self.check(4, components, variant, updates=0 if components == 3 else 20000)

    def test_proposals_uniform_in_the_polar_angle_are_noticed(self):
        found = self.run_muca(2, 3, "float", f"bin: 0.1\n  {BETA}", updates=20000)
        rng = np.random.default_rng(1)
        energies = -2 * (uniform_in_polar_angle(rng, 10**6) * uniform_in_polar_angle(rng, 10**6)).sum(axis=0)
        wrong = log_densities(found, "energy_bin", lambda x: np.searchsorted(np.sort(energies), x) / len(energies))
        self.assertGreater(mean_square(found["log_dos"], wrong, found["log_dos_error"]), 2 * LIMIT)

    def test_antiferromagnet_in_windows(self):
        found = self.check(4, 3, "float", "windows: {count: 2}", more="J: -1.0")
        self.assertEqual(len(found["energy_bin"]), 41)

    def test_range(self):
        found = self.run_muca(4, 3, "double", f"bin: 0.2\n  range: {{from: -0.9, to: 0}}\n  {BETA}")
        self.assertTrue(np.isnan(found["energy"]).any())
        self.assertLess(found["energy_bin"].max(), 0.05)
        self.assertGreater(found["energy_bin"].min(), -3.65)
        self.check_levels(found, log_densities(found, "energy_bin", lambda x: below(3, 4, x)))

    def test_field(self):
        """Compares an instance in a field with one that is weighted by the magnetization and reweighted to any
        field."""
        for components in (3, 2):
            found = self.run_muca(4, components, "float", "bin: 0.2\n  range: {from: -1.5, to: 0.5}\n  "
                                  "beta: {from: 2, to: 3, step: 1}", more="h: 0.5")
            self.check_curves(found, "beta", lambda beta: {
                name: value for name, value in ring_in_field(components, 4, beta, 1.0, 0.5).items()
                if name in ("energy", "specific_heat", "magnetization_x")}, 0.1)
            keys = "bin: 0.2\n  control: {name: h, beta: 0.8, from: -0.5, to: 1, step: 1.5}"
            found = self.run_muca(4, components, "double", keys)
            self.check_curves(found, "h", lambda h: {
                name: value for name, value in ring_in_field(components, 4, 0.8, 1.0, h).items()
                if name in ("magnetization_x", "susceptibility_x")}, 0.02)


if __name__ == "__main__":
    device.require()
    cases.main()
