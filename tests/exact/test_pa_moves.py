"""Population annealing by a chosen move, or by moves in turn; steps of moves are tuned from temperature to temperature.

Null: the estimates are those of the exact partition function. Bounds are in reported errors, stated with each test; seeds
are fixed. Negative controls: references that are wrong by 1 %, and replicas that make no sweeps.

CTest: methods 5 s
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: {model}}}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  {control}
  runs: {runs}
  {update}
kernel: {{variant: {variant}{more}}}
output: {folder}/out.h5
"""
L4 = "ising2d, shape: [4, 4], h: {}"
NAMES = ["beta_free_energy", "energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"]


def anneal(folder, *options, update=None, expect=0, **changed):
    values = dict(seed=5, model=L4.format(0), population=20000, sweeps=4, control="beta: {to: 0.6, step: 0.05}", runs=1,
                  update="" if update is None else f"update: {update}", variant="spin", more="", folder=folder)
    values.update(changed)
    done = gpumc.run_config(CONFIG.format(**values), folder, *options, expect=expect)
    return done.stderr if expect else f"{folder}/out.h5"


def steps_of(path, run=0):
    """Returns clusters in a sweep and the spins that they turned over, per site, of each temperature."""
    with h5py.File(path) as file:
        group = file[f"runs/{run:04d}/steps"]
        return group["clusters"][...], group["updated"][...]


class Moves(unittest.TestCase):
    def test_observables_of_4_by_4(self):
        """Six quantities at twelve temperatures, with and without a field: within 4.5 errors (72 comparisons a case, false
        alarm 5e-4 each). Control: exact values at 1 % larger beta."""
        for update, field in (("swendsen_wang", 0), ("wolff", 0), ("wolff", 0.2), ("[{metropolis: 3}, {wolff: 2}]", 0),
                              ("[swendsen_wang, heat_bath]", 0.2)):
            with self.subTest(update=update, field=field), gpumc.folder() as folder:
                found = gpumc.summary(anneal(folder, update=update, model=L4.format(field)))
                exact = gpumc.enumerate_ising(4, 4, field, found["beta"])
                wrong = gpumc.enumerate_ising(4, 4, field, 1.01 * found["beta"])
                exact[0], wrong[0] = -exact[0], -wrong[0]
                off = [np.abs(gpumc.in_errors(found, name, value, slice(1, None))).max()
                       for name, value in zip(NAMES, exact)]
                control = max(np.abs(gpumc.in_errors(found, name, value, slice(1, None))).max()
                              for name, value in zip(NAMES, wrong))
                print(f"{update}, h = {field}: {max(off):.2f} errors, control {control:.2f}")
                self.assertLess(max(off), 4.5)
                self.assertGreater(control, 4.5)

    def test_sweeps_are_by_the_move(self):
        """One step from beta = 0 to 0.6, and 60 sweeps there, which alone decide what is found: the energy of 20000
        replicas of 4 x 4 is then that of independent states. Bound: 4.5 standard errors, false alarms below 3e-5. Controls:
        the exact energy at 3 % larger beta, 11 standard errors away, and replicas that make no sweeps, of a few families."""
        for update, sweeps in ("swendsen_wang", 60), ("wolff", 60), ("wolff", 0):
            with self.subTest(update=update, sweeps=sweeps), gpumc.folder() as folder:
                found = gpumc.summary(anneal(folder, update=update, sweeps=sweeps, control="beta: {values: [0.6]}"))
                off = []
                for factor in 1, 1.03:
                    _, energy, heat = (x[0] for x in gpumc.enumerate_ising(4, 4, 0.0, np.array([factor * 0.6]))[:3])
                    off.append((found["energy"][1] - energy) / np.sqrt(heat / 0.6 ** 2 / 16 / 20000))
                print(f"{update}, {sweeps} sweeps: {off[0]:.2f} errors, control {off[1]:.2f}")
                self.assertEqual(abs(off[0]) < 4.5, sweeps > 0)
                self.assertGreater(abs(off[1]), 4.5)

    def test_clusters_follow_the_temperature(self):
        """As many clusters as turn over all spins, by their mean size at the temperature before; one at the first."""
        with gpumc.folder() as folder:
            path = anneal(folder, update="wolff", model="ising2d, shape: [16, 16]", population=500, runs=3,
                          control="beta: {to: 0.5, step: 0.02}")
            for run in range(3):
                clusters, updated = steps_of(path, run)
                self.assertTrue(np.isnan(clusters[0]) and np.isnan(updated[0]))
                self.assertEqual(clusters[1], 1)
                np.testing.assert_array_equal(clusters[2:], np.maximum(1, np.rint(clusters[1:-1] / updated[1:-1])))
                self.assertLess(np.abs(np.log(updated[2:])).max(), np.log(2.2))
                self.assertGreater(clusters[2], 200)
                self.assertLess(clusters[-1], 3)

    def test_given_clusters_stay(self):
        with gpumc.folder() as folder:
            clusters, updated = steps_of(anneal(folder, update="wolff", more=", clusters: 7", population=100))
        np.testing.assert_array_equal(clusters[1:], 7)
        self.assertGreater(updated[-1], updated[1])

    def test_runs_do_not_know_of_each_other(self):
        """Each run has its own clusters: they are those of fewer runs side by side, and of any number of threads."""
        found = []
        for runs, threads in (1, 1), (3, 1), (3, 3):
            with gpumc.folder() as folder:
                path = anneal(folder, "--threads", threads, update="wolff", population=60, runs=runs,
                              model="ising2d, shape: [8, 8]")
                with h5py.File(path) as file:
                    found.append({name: values[...] for name, values in file["runs/0000"].items()
                                  if isinstance(values, h5py.Dataset)} | {"steps": steps_of(path)})
        for other in found[1:]:
            for name, values in found[0].items():
                np.testing.assert_array_equal(values, other[name], name)

    def test_another_control_is_tuned_in_the_thermalization(self):
        with gpumc.folder() as folder:
            path = anneal(folder, update="wolff", population=200, model="ising2d, shape: [16, 16]",
                          control="control: {name: h, beta: 0.3, from: 0, to: 0.1, step: 0.02, thermalization: 40}")
            clusters, updated = steps_of(path)
        self.assertGreater(clusters[0], 10)
        self.assertLess(np.abs(np.log(updated[1:])).max(), np.log(2.2))

    def test_merged_runs_keep_their_steps(self):
        with gpumc.folder() as folder:
            paths, steps = [f"{folder}/{seed}.h5" for seed in (1, 2)], []
            for seed, path in zip((1, 2), paths):
                pathlib.Path(anneal(folder, update="wolff", variant="auto", population=60, seed=seed)).rename(path)
                steps.append(steps_of(path))
            done = gpumc.run("merge", f"{folder}/all.h5", *paths)
            self.assertEqual(done.returncode, 0, done.stderr)
            for run in range(2):
                np.testing.assert_array_equal(steps_of(f"{folder}/all.h5", run), steps[run])

    def test_without_the_key_nothing_changes(self):
        """The task does not have it, and the result no steps; `update: metropolis` gives the same numbers."""
        with gpumc.folder() as folder:
            path = anneal(folder, population=100, variant="multispin")
            self.assertNotIn("update", gpumc.resolved(path)["algorithm"])
            before = gpumc.numeric_datasets(path)
        self.assertFalse([name for name in before if "steps" in name])
        with gpumc.folder() as folder:
            path = anneal(folder, population=100, variant="multispin", update="metropolis")
            self.assertEqual(gpumc.resolved(path)["algorithm"]["update"], "metropolis")
            self.assertEqual(gpumc.numeric_datasets(path), before)
        with gpumc.folder() as folder:
            other = gpumc.numeric_datasets(anneal(folder, population=100, variant="multispin", update="heat_bath"))
            self.assertNotEqual(other, before)

    def test_auto_takes_a_kernel_that_has_the_move(self):
        with gpumc.folder() as folder:
            path = anneal(folder, population=100, variant="auto", update="[{metropolis: 2}, {swendsen_wang: 1}]")
            self.assertEqual(gpumc.resolved(path)["kernel"]["variant"], "spin")

    def test_refusals(self):
        pressed = "control: {name: beta_pressure, from: 1, to: 2, step: 0.5, thermalization: 2}"
        for words, case in (
                ("multispin cannot do update: wolff", dict(update="wolff", variant="multispin")),
                ("serial cannot do update: swendsen_wang",
                 dict(update="swendsen_wang", model="hard_disks, particles: 8, packing_fraction: 0.3", variant="auto",
                      control=pressed)),
                ("kernel.clusters has no effect with update: swendsen_wang",
                 dict(update="swendsen_wang", more=", clusters: 3"))):
            with self.subTest(words), gpumc.folder() as folder:
                self.assertIn(words, anneal(folder, population=100, expect=2, **case))


if __name__ == "__main__":
    cases.main()
