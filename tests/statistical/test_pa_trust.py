"""What population annealing trusts: energies that hardly fluctuate are not trusted, and errors of trusted results are
right; several runs are judged by their families together.

Null: (value - exact)/error has variance 1 where a temperature is determined. Over the seeds the sum of squares is below
the bound of 3.9 standard deviations (false alarm 1e-4 per comparison), and for trusted runs above the lower one; if few
events decide, Student's factor makes errors larger. Control: a quarter of the replicas.

CTest: release, methods 6 s
"""
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: pa, population: {population}, sweeps: 3, runs: {runs}, blocks: {blocks}, beta: {{to: {to}, step: {step}}},
  reweight: {{from: 0, to: {to}, step: {step}}}}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""


def repeat(seeds, blocks=64, **values):
    """Returns the results of the configuration: by name [seeds, ...], reweighted curves as r_NAME, attributes of the
    summary."""
    found = []
    with gpumc.folder() as folder:
        gpumc.run_config(CONFIG.format(folder=folder, blocks=blocks,
                                       seeds=", ".join(map(str, range(1, seeds + 1))), **values),
                         folder)
        for seed in range(1, seeds + 1):
            path = os.path.join(folder, f"{seed}.h5")
            one = gpumc.summary(path)
            reweighted = gpumc.summary(path, "summary/reweighted")
            one.update({f"r_{name}": reweighted[name] for name in ("beta", "energy_error", "specific_heat_error")})
            with h5py.File(path) as file:
                one.update({name: gpumc.attributes(file["summary"]).get(name, "") for name in
                            ("trusted", "rho_t_maximum", "warning")})
            found.append(one)
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def exact(side, beta):
    log_z, energy, heat = gpumc.exact().kaufman(side, side, np.asarray(beta, float))
    return {"energy": energy, "specific_heat": heat, "beta_free_energy": -log_z,
            "entropy": beta * energy + log_z}


class Trust(unittest.TestCase):
    def test_nothing_fluctuates(self):
        """4 x 4 down to beta = 1.5, where all replicas are in the ground state or nearly so."""
        found = repeat(100, side=4, population=3000, runs=1, to=1.5, step=0.1)
        beta = found["beta"][0]
        known = exact(4, beta)
        self.assertFalse(found["trusted"].any())
        self.assertFalse(found["determined"][:, -1].any())
        self.assertTrue(all("fluctuates in too few families" in text for text in found["warning"]))
        still = found["energy"][:, -1] == -2
        self.assertTrue(still.any())
        for name in "energy", "specific_heat", "binder_parameter", "abs_magnetization":
            self.assertTrue(np.isnan(found[name + "_error"][still, -1]).all(), name)
            self.assertFalse((found[name + "_error"][:, 1:] < 1e-13).any(), name)
        for name in "beta_free_energy", "entropy", "specific_heat":  # known at beta = 0
            self.assertFalse(found[name + "_error"][:, 0].any(), name)
        for name in "energy", "specific_heat":
            errors = found[f"r_{name}_error"][:, 1:]
            self.assertFalse((errors < 1e-13).any(), name)
        self.assertFalse(found["r_specific_heat_error"][:, 0].any())
        for t in range(1, len(beta)):
            good = found["determined"][:, t] == 1
            if good.sum() < 20:
                continue
            for name, values in known.items():
                z = (found[name] - values)[good, t] / found[name + "_error"][good, t]
                bound = gpumc.chi_square_bounds(int(good.sum()), 3.9)[1]
                with self.subTest(name=name, beta=beta[t]):
                    self.assertLess(np.mean(z ** 2), bound)

    def test_few_events_do_not_pass(self):
        """If one replica in 3000 is above the ground state on average, and one in 900: with few blocks, in which one
        event counts like five in many, and with many runs, in which the blocks and the runs see the same events. At
        beta = 1.3 and 1.4 at most 3 % are determined, one in 100 by the rule and four standard deviations."""
        for runs, population, blocks in cases.of([(1, 3000, 8), (1, 3000, 16), (16, 190, 64)]):
            found = repeat(100, blocks=blocks, side=4, population=population, runs=runs, to=1.5, step=0.1)
            fraction = found["determined"].mean(0)
            print(f"{runs} runs, {blocks} blocks: determined at beta = 1.2 to 1.5", fraction[-4:])
            with self.subTest(runs=runs, blocks=blocks):
                self.assertFalse(found["trusted"].any())
                self.assertLessEqual(fraction[-3:].max(), 0.05)
                self.assertEqual(fraction[-1], 0)
                if blocks < 16:
                    self.assertFalse(fraction.any())

    def test_runs_together(self):
        """Four runs of a quarter of the replicas are trusted about as often as one; runs of half that size are not. The
        former rule required R > 100 rho_t for every run."""
        found = repeat(60, side=16, population=1000, runs=4, to=0.6, step=0.02)
        families = found["effective_families"].min(1)
        self.assertFalse((1000 > 100 * found["rho_t_maximum"]).any())
        trusted = found["trusted"] == 1
        print(f"{trusted.sum()} of 60 trusted, {np.median(families):.0f} families")
        self.assertGreater(trusted.sum(), 20)
        np.testing.assert_array_equal(trusted & (families <= 100), False)
        known = exact(16, found["beta"][0])
        least, bound = gpumc.chi_square_bounds(int(trusted.sum()), 3.9)
        for t in (16, 22, 24, 30):
            for name, values in known.items():
                z = (found[name] - values)[trusted, t] / found[name + "_error"][trusted, t]
                print(f"beta {found['beta'][0][t]:.2f} {name:17s} <z^2> = {np.mean(z ** 2):.2f} < {bound:.2f}")
                with self.subTest(name=name, t=t):
                    self.assertLess(np.mean(z ** 2), bound)
                    self.assertGreater(np.mean(z ** 2), least)
        few = repeat(20, side=16, population=250, runs=4, to=0.6, step=0.02)
        self.assertFalse(few["trusted"].any(), "control")

    def test_runs_that_do_not_contradict_each_other(self):
        """At most 1 % of correct campaigns say so: of 200, ten or more with a chance of 5e-5. The control, runs that do
        contradict each other, is in test_pa_runs.c."""
        for runs in cases.of([2, 4, 16]):
            found = repeat(200, side=8, population=500, runs=runs, to=0.5, step=0.05)
            flagged = sum("contradict each other" in text for text in found["warning"])
            print(f"{runs} runs: {flagged} of 200 campaigns contradict themselves")
            with self.subTest(runs=runs):
                self.assertLess(flagged, 10)


if __name__ == "__main__":
    device.require()
    cases.main()
