"""Improved estimators in canonical, pt and pa: they agree with the plain ones, with smaller errors; whichever move has its
turn; a request without a cluster move is refused; they are not reweighted.

Null: both estimate the same average. Bounds are four errors of the difference, taken as independent, which is too wide,
since both see the same states: false alarms below 6e-5 for each of the comparisons. Negative control: the plain ones at a
temperature 2 % off. Errors are smaller, far above T_c by a factor that is proportional to L: M^2 fluctuates by its own
size in a lattice of any size, while the sum over clusters is one over many of them. At least 1.5 times as much is asked for
at twice the size.

CTest: release (exact_test_ising_improved, resume_test_resume_clusters), cases 4 s
"""
import math
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program as gpumc  # noqa: E402

CRITICAL = math.log(1 + math.sqrt(2)) / 2
NAMES = "magnetization2", "structure_factor", "correlation_length"

CONFIG = """\
gpumc: 1
seed: 5
model: {{name: {model}}}
algorithm:
  name: canonical
  beta: {{values: {beta}}}
  update: {update}
  replicas: 4
  thermalization: 500
  sweeps: {sweeps}
  interval: 1
  structure_factor: true
  improved_estimators: true
{more}output: {folder}/out.h5
"""
PT = """\
gpumc: 1
seed: 5
model: {{name: ising2d, shape: [16, 16]}}
algorithm: {{name: pt, beta: {{values: [0.3, 0.35, 0.4, 0.44]}}, samples: 4, sweeps: 4000, exchange_every: 2,
  thermalization: 100, structure_factor: true, improved_estimators: true, update: {update}}}
output: {folder}/out.h5
"""
PA = """\
gpumc: 1
seed: 5
model: {{name: ising2d, shape: [16, 16]}}
algorithm: {{name: pa, population: 2000, beta: {{from: {first}, to: 0.4, step: 0.025}}, sweeps: 3,
  structure_factor: true, improved_estimators: true, update: {update}}}
output: {folder}/out.h5
"""


def simulate(folder, text=CONFIG, expect=0, **changed):
    values = dict(model="ising2d, shape: [32, 32]", beta=[CRITICAL], update="swendsen_wang", sweeps=8000, more="",
                  folder=folder)
    values.update(changed)
    return gpumc.run_config(text.format(**values), folder, expect=expect)


class ImprovedEstimators(unittest.TestCase):
    def differences(self, found, plain=None):
        """In errors, of all quantities at all temperatures."""
        plain = found if plain is None else plain
        off = [(found["improved_" + name] - plain[name]) /
               np.hypot(found[f"improved_{name}_error"], plain[f"{name}_error"]) for name in NAMES if f"improved_{name}" in found]
        print("errors:", np.round(off, 2).tolist())
        return np.abs(off)

    def test_agree_with_plain_ones(self):
        gains = []
        for length in 32, 64:
            with self.subTest(length=length), gpumc.folder() as folder:
                simulate(folder, model=f"ising2d, shape: [{length}, {length}]", beta=[0.3, CRITICAL])
                found = gpumc.summary(f"{folder}/out.h5")
                self.assertLess(self.differences(found).max(), 4)
                gains.append(np.array([found[f"{name}_error"] / found[f"improved_{name}_error"] for name in NAMES[:2]]))
                print(f"L = {length}: errors of {NAMES[:2]} at beta = 0.3 and T_c are smaller by {gains[-1].round(2).tolist()}")
                self.assertGreater(gains[-1].min(), 1)
                chi = found["beta"] * length**2 * found["improved_magnetization2"]
                np.testing.assert_allclose(found["improved_susceptibility"], chi, rtol=1e-12)
        self.assertGreater((gains[1] / gains[0])[:, 0].min(), 1.5)

    def test_control_is_rejected(self):
        with gpumc.folder() as folder:
            simulate(folder, beta=[0.4])
            right = gpumc.summary(f"{folder}/out.h5")
            simulate(folder, CONFIG.replace("out.h5", "off.h5"), beta=[0.98 * 0.4])
            self.assertGreater(self.differences(right, gpumc.summary(f"{folder}/off.h5")).max(), 4)

    def test_other_models_and_moves(self):
        """In turns with moves of one spin, of which each is measured after; by Wolff; in a field; with disorder."""
        for case in (dict(update="[{metropolis: 2}, {swendsen_wang: 1}]", beta=[0.42]),
                     dict(update="wolff", more="kernel: {clusters: 4}\n"),
                     dict(model="ising2d, shape: [16, 16], h: 0.05", beta=[0.3]),
                     dict(model="ising3d, shape: [8, 8, 8], J: -1", beta=[0.2]),
                     dict(model="ea, shape: [12, 12], couplings: gaussian", beta=[0.5]),
                     dict(model="heisenberg, shape: [24]", beta=[2.0]),
                     dict(model="heisenberg, shape: [16, 16], components: 2", beta=[0.8]),
                     dict(model="heisenberg, shape: [8, 8, 8]", beta=[0.6, 0.693], update="[{heat_bath: 1}, {swendsen_wang: 1}]"),
                     dict(model="heisenberg, shape: [8, 8, 8], components: 2, J: -1", beta=[0.4], update="wolff"),
                     dict(model="heisenberg, shape: [10, 10], h: 0.2", beta=[0.8], more="kernel: {variant: double}\n"),
                     dict(model="heisenberg, shape: [6, 6, 6], couplings: gaussian", beta=[0.5])):
            with self.subTest(**case), gpumc.folder() as folder:
                simulate(folder, **case)
                found = gpumc.summary(f"{folder}/out.h5")
                self.assertEqual("improved_susceptibility" in found, "h:" not in case.get("model", ""))
                self.assertLess(self.differences(found)[:2].max(), 4)

    def test_components_of_spins(self):
        """Of one axis for all n components: errors are smaller where correlations are short. The mean of a chain of O(3) spins is known
        (Fisher, Am. J. Phys. 32, 343 (1964)), of N = 64 sites in a ring up to u^N = 1e-15: N <m^2> = (1 + u)/(1 - u), u = coth K - 1/K.
        Control: one component alone."""
        u = 1 / math.tanh(1.5) - 1 / 1.5
        with gpumc.folder() as folder:
            simulate(folder, model="heisenberg, shape: [64]", beta=[1.5])
            found = gpumc.summary(f"{folder}/out.h5")
            value, error = (found["improved_magnetization2" + of][0] for of in ("", "_error"))
            exact = (1 + u) / (1 - u) / 64
            print(f"off by {(value - exact) / error:.2f} errors; errors smaller by {found['magnetization2_error'][0] / error:.2f}")
            self.assertLess(abs(value - exact), 4 * error)
            self.assertGreater(abs(value / 3 - exact), 4 * error)
            for name in NAMES:
                self.assertGreater(found[f"{name}_error"][0] / found[f"improved_{name}_error"][0], 1, name)
            np.testing.assert_allclose(found["improved_susceptibility"], 1.5 * 64 / 3 * found["improved_magnetization2"], rtol=1e-12)

    def test_parallel_tempering(self):
        with gpumc.folder() as folder:
            simulate(folder, PT)
            found = gpumc.summary(f"{folder}/out.h5")
            self.assertLess(self.differences(found)[:2].max(), 4)
            self.assertIn("improved_susceptibility", found)

    def test_population_annealing(self):
        """From infinite temperature, where no bond is active and nothing is swept: then M^2 = N has no error."""
        with gpumc.folder() as folder:
            simulate(folder, PA, first=0)
            found = gpumc.summary(f"{folder}/out.h5")
            self.assertEqual(found["improved_magnetization2"][0], 1 / 256)
            self.assertLess(self.differences({name: values[1:] for name, values in found.items()})[:2].max(), 4)

    def test_refused_without_a_cluster_move(self):
        needs = ("improved_estimators is measured with the help of the move swendsen_wang or wolff: set algorithm.update to "
                 "that, alone or in turn with others, or leave improved_estimators out")
        for text, update, model, words in ((CONFIG, "heat_bath", "ising2d, shape: [8, 8]", needs),
                                           (PT, "metropolis", "", needs),
                                           (CONFIG, "heat_bath", "heisenberg, shape: [8, 8]", needs),
                                           (CONFIG.replace("beta: {{values: {beta}}}", "control: {{name: beta_pressure, values: [1]}}"),
                                            "volume", "hard_disks, particles: 16, packing_fraction: 0.3",
                                            "model hard_disks has no improved_estimators")):
            with self.subTest(model=model), gpumc.folder() as folder:
                done = simulate(folder, text, expect=2, update=update, model=model)
                self.assertEqual(done.stderr.count(words), 1, done.stderr)

    def test_not_reweighted(self):
        with gpumc.folder() as folder:
            text = CONFIG.replace("  interval: 1\n", "  interval: 1\n  reweight: {{values: [0.3, 0.305, 0.31]}}\n")
            simulate(folder, text, beta=[0.3, 0.31], sweeps=2000)
            with h5py.File(f"{folder}/out.h5") as file:
                groups = [name for name, item in file["summary"].items() if isinstance(item, h5py.Group)
                          and "magnetization2" in item and "beta" in item and len(item["beta"]) == 3]
                self.assertTrue(groups)
                for name in groups:
                    self.assertFalse([key for key in file["summary"][name] if key.startswith("improved")])


if __name__ == "__main__":
    cases.main()
