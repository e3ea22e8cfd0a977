"""Population annealing of lattices small enough to enumerate.

Null: the estimates are those of the exact partition function. Every bound is four or five standard
errors, stated with each test; seeds are fixed. Negative controls: references that are wrong by 1 %.

CTest: release (cli_test_configs, cli_test_pa_keys, statistical_test_pa_runs), cases 4 s
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

L4_DOS = [2, 0, 32, 64, 424, 1728, 6688, 13568, 20524]
L4_DOS += L4_DOS[-2::-1]

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: ising2d, shape: [{rows}, {rows}], h: {field}}}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  beta: {beta}
  runs: {runs}
  resampling: {resampling}
{more}
kernel: {{variant: {variant}}}
output: {output}
"""


def served(*cases):
    """Returns the cases whose kernel, the first member, the device under test has."""
    there = device.variants()
    return [case for case in cases if case[0] in there]


def largest(found, name, exact):
    """Returns the largest deviation of a curve, in errors; at beta = 0 it has none."""
    return np.abs(gpumc.in_errors(found, name, exact, slice(1, None))).max()


class Small(unittest.TestCase):
    def anneal(self, folder, **changed):
        values = dict(seed=1, rows=4, field=0.0, population=1000, sweeps=4, runs=1,
                      beta="{to: 0.6, step: 0.1}", resampling="nearest_integer", more="",
                      variant="multispin", output=f"{folder}/out.h5")
        values.update(changed)
        gpumc.run_config(CONFIG.format(**values), folder)
        return values["output"]

    def test_mean_partition_function_is_exact_for_a_population_of_50(self):
        """The mean of exp(ln Z) over runs equals Z for any population: 1500 runs of 50 replicas, one sweep per step.
        Bound: 4 standard errors of the mean over the runs at each of six beta, false alarms below 4e-4. Control: a Z of
        beta 1 % higher is rejected."""
        for variant, resampling in served(("multispin", "nearest_integer"), ("spin", "systematic"),
                                          ("walker", "nearest_integer")):
            with self.subTest(variant=variant), gpumc.folder() as folder:
                path = self.anneal(folder, population=50, sweeps=1, runs=1500, variant=variant,
                                   resampling=resampling)
                with h5py.File(path) as file:
                    beta = file["summary/beta"][...]
                    log_z = np.array([-16 * file[f"runs/{m:04d}/beta_free_energy"][...]
                                      for m in range(1500)])
                exact = 16 * gpumc.enumerate_ising(4, 4, 0.0, beta)[0]
                ratio = np.exp(log_z - exact)
                error = ratio.std(axis=0, ddof=1) / np.sqrt(1500)
                deviation = (ratio.mean(axis=0) - 1)[1:] / error[1:]
                self.assertLess(np.abs(deviation).max(), 4, deviation)
                wrong = 16 * gpumc.enumerate_ising(4, 4, 0.0, 1.01 * beta)[0]
                ratio = np.exp(log_z - wrong)
                self.assertGreater(np.abs((ratio.mean(axis=0) - 1)[1:] / error[1:]).max(), 8)

    def test_family_sizes_of_one_step_without_sweeps(self):
        """One step 0 -> beta without sweeps: nearest-integer copies of weights tau known from the
        density of states, so that rho_t = <r^2>/<r>, at a step small enough for the two ground
        states not to carry the mean. 100 runs of 2000 replicas; bound 4 standard errors over runs,
        false alarm 6e-5. Control: a family size 1 % larger is rejected."""
        beta = 0.05
        with gpumc.folder() as folder:
            path = self.anneal(folder, population=2000, sweeps=0, runs=100,
                               beta=f"{{to: {beta}, values: [{beta}]}}")
            with h5py.File(path) as file:
                rho = np.array([file[f"runs/{m:04d}/rho_t"][1] for m in range(100)])
        energy = -32 + 4 * np.arange(17)
        share = np.array(L4_DOS) / 2 ** 16
        tau = np.exp(-beta * energy)
        tau /= (share * tau).sum()
        whole, fraction = np.floor(tau), tau % 1
        square = whole ** 2 + fraction * (2 * whole + 1)
        expected = (share * square).sum()
        error = rho.std(ddof=1) / 10
        self.assertLess(abs(rho.mean() - expected), 4 * error, (rho.mean(), expected, error))
        self.assertGreater(abs(rho.mean() - 1.01 * expected), 4 * error)

    def test_observables_with_and_without_field(self):
        """20000 replicas of 4 x 4 at h = 0 and 0.2, all kernels: every quantity of the summary
        within 4.5 reported errors at each beta (72 comparisons each, false alarm 5e-4 each).
        Control: exact values at 1 % larger beta are rejected."""
        names = ["beta_free_energy", "energy", "specific_heat", "abs_magnetization",
                 "magnetization2", "magnetization4"]
        for variant, field in served(("multispin", 0.0), ("multispin", 0.2), ("spin", 0.2),
                                     ("walker", 0.2)):
            with self.subTest(field=field, variant=variant), gpumc.folder() as folder:
                path = self.anneal(folder, population=20000, field=field, variant=variant,
                                   beta="{to: 0.6, step: 0.05}", seed=5)
                found = gpumc.summary(path)
                exact = gpumc.enumerate_ising(4, 4, field, found["beta"])
                wrong = gpumc.enumerate_ising(4, 4, field, 1.01 * found["beta"])
                exact[0], wrong[0] = -exact[0], -wrong[0]
                worst = 0
                for name, value, control in zip(names, exact, wrong):
                    self.assertLess(largest(found, name, value), 4.5, name)
                    worst = max(worst, largest(found, name, control))
                self.assertGreater(worst, 4.5)

    def test_density_of_states_by_reweighting(self):
        """ln Omega(E) of 4 x 4 at all 15 levels that exist, and e, C, beta F on a grid between the
        temperatures, within 4.5 reported errors (levels: of at least 1 % besides); the two levels
        next to the ends of the spectrum stay empty."""
        with gpumc.folder() as folder:
            path = self.anneal(
                folder, population=20000, beta="{to: 1.0, step: 0.05}", runs=2,
                more="  reweight: {from: 0.0, to: 1.0, step: 0.01}")
            found = gpumc.summary(path, "summary/reweighted")
        energy = -32 + 4 * np.arange(17)
        dos = dict(zip(energy, L4_DOS))
        self.assertNotIn(-28, found["level_energy"])
        self.assertGreaterEqual(len(found["level_energy"]), 13)
        for e, log_dos, error in zip(found["level_energy"], found["log_dos"],
                                     found["log_dos_error"]):
            self.assertLess(abs(log_dos - np.log(dos[e])), 4.5 * max(error, 0.01), e)
        # a density wrong by 10 % at one level in the middle is rejected
        middle = list(found["level_energy"]).index(0)
        self.assertGreater(abs(found["log_dos"][middle] - np.log(1.1 * dos[0])),
                           4.5 * max(found["log_dos_error"][middle], 0.01))
        exact = gpumc.enumerate_ising(4, 4, 0.0, found["beta"])
        for name, value in (("energy", exact[1]), ("specific_heat", exact[2]),
                            ("beta_free_energy", -exact[0])):
            self.assertLess(largest(found, name, value), 4.5, name)

    def test_antiferromagnet_and_other_couplings(self):
        """J = -1.5 on the bipartite lattice: e(beta, J) = |J| e(beta |J|, 1)."""
        with gpumc.folder() as folder:
            path = self.anneal(folder, population=20000, beta="{to: 0.4, step: 0.04}",
                               more="  blocks: 100", rows="4", field="0.0, J: -1.5")
            found = gpumc.summary(path)
            with h5py.File(path) as file:
                self.assertEqual(gpumc.attributes(file["summary/energy"])["units"], "|J|/1.5")
        exact = gpumc.enumerate_ising(4, 4, 0.0, found["beta"], -1.5)
        for name, value in (("energy", exact[1]), ("beta_free_energy", -exact[0]),
                            ("magnetization2", exact[4])):
            self.assertLess(largest(found, name, value), 4.5, name)
        wrong = gpumc.enumerate_ising(4, 4, 0.0, found["beta"], -1.51)[1]
        self.assertGreater(largest(found, "energy", wrong), 4.5)

    def test_ground_states_are_found(self):
        with gpumc.folder() as folder:
            path = self.anneal(folder, population=1000, beta="{to: 1.0, step: 0.1}")
            with h5py.File(path) as file:
                attributes = gpumc.attributes(file["summary"])
        self.assertEqual(attributes["lowest_energy"], -2.0)
        self.assertGreater(attributes["lowest_energy_replicas"], 900)
        self.assertGreater(attributes["lowest_energy_families"], 50)

    def test_adaptive_steps_keep_the_overlap(self):
        """Every step but the last of the first run has the requested overlap to 1e-3; the second run keeps the
        temperatures."""
        with gpumc.folder() as folder:
            path = self.anneal(folder, rows=16, population=2000, runs=2,
                               beta="{to: 0.6, overlap: 0.8}")
            with h5py.File(path) as file:
                first, second = file["runs/0000"], file["runs/0001"]
                self.assertTrue(np.array_equal(first["beta"][...], second["beta"][...]))
                self.assertEqual(first["beta"][-1], 0.6)
                self.assertLess(np.abs(first["overlap"][1:-1] - 0.8).max(), 1e-3)
                self.assertGreaterEqual(first["overlap"][-1], 0.799)

    def test_adaptive_steps_of_small_populations(self):
        """The population fluctuates around the target; the steps must not depend on that."""
        for seed in range(20):
            with self.subTest(seed=seed), gpumc.folder() as folder:
                path = self.anneal(folder, seed=seed, rows=16, population=100,
                                   beta="{to: 0.3, overlap: 0.95}")
                with h5py.File(path) as file:
                    steps = np.diff(file["runs/0000/beta"][...])
                self.assertGreater(steps[:-1].min(), 0.2 * np.median(steps))

    def test_errors_are_unknown_where_few_families_are_left(self):
        """A population that descends from a handful of families has no error, reweighted or not."""
        with gpumc.folder() as folder:
            path = self.anneal(folder, rows=16, population=50, sweeps=1,
                               beta="{to: 0.7, step: 0.02}",
                               more="  reweight: {from: 0.02, to: 0.68, step: 0.02}")
            direct, grid = gpumc.summary(path), gpumc.summary(path, "summary/reweighted")
        self.assertTrue(np.isnan(direct["energy_error"][-1]))
        self.assertTrue(np.isnan(grid["energy_error"][-1]))
        self.assertTrue(np.isfinite(grid["energy_error"][1]))


if __name__ == "__main__":
    device.require()
    cases.main()
