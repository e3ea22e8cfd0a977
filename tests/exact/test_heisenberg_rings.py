"""Rings of Heisenberg and XY spins against their exact partition functions (Fisher, 1964).

Null: averages are those of the canonical ensemble. O(3):  Z/(4 pi)^N = sum over l of (2l + 1) lambda_l^N, lambda_l =
sqrt(pi/2K) I_{l+1/2}(K); O(2):  Z/(2 pi)^N = sum over all m of I_m(K)^N. The energy and the specific heat follow by
numerical derivatives, correlations from matrix elements between neighbouring orders. Bounds are four reported standard
errors: 168 comparisons on a CPU, 224 on a GPU, false alarm 1.1 and 1.4 %. Negative control: at a temperature wrong by 1
% the same bound is broken, in every test except two that have others. ln Z of pa: the mean of exp(ln Z) over runs.

CTest: release (exact_test_heisenberg_kernels, exact_test_heisenberg_clusters), cases 4 s
"""
import itertools
import math
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import correlations, exact, helicity, log_states, waves  # noqa: E402

MODEL = "model: {{name: heisenberg, shape: [{sites}], components: {components}, J: {J}}}"
CANONICAL = "gpumc: 1\nseed: 17\n" + MODEL + """
algorithm: {{name: canonical, beta: {{values: [1.0, 2.0]}}, replicas: 64, update: {update}, thermalization: 200,
            sweeps: {sweeps}, interval: {interval}{more}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
ANNEALED = "gpumc: 1\nseed: 18\n" + MODEL + """
algorithm: {{name: pa, population: 1000, sweeps: 5, runs: 16, beta: {{from: 0, to: 2, step: 0.1}}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
TEMPERED = "gpumc: 1\nseed: 19\n" + MODEL + """
algorithm: {{name: pt, beta: {{values: [1.0, 1.5, 2.0]}}, samples: 64, sweeps: 20480, exchange_every: 10, update: mixed}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


class Reference(unittest.TestCase):
    def test_known_values(self):
        for components, sites, K, log_z, e, heat in (
                (3, 8, 1.0, 0.161473933137, -0.3132790494, 0.277355), (3, 8, 2.0, 0.597799963215, -0.5439327242, 0.740566),
                (3, 16, 3.0, 1.206079360052, -0.6724071778, 0.922199), (2, 8, 1.0, 0.236307887199, -0.4488851448, 0.366582),
                (2, 8, 2.0, 0.837323735794, -0.7216281226, 0.717347), (2, 16, 3.0, 1.589458070840, -0.8158509728, 0.693890)):
            self.assertAlmostEqual(log_states(components, sites, K), log_z, delta=1e-11)
            found = exact(components, sites, K)
            self.assertAlmostEqual(found[0], e, delta=1e-9)
            self.assertAlmostEqual(found[1], heat, delta=1e-5)
            self.assertAlmostEqual(correlations(components, sites, K)[0], 1, delta=1e-12)
            self.assertAlmostEqual(correlations(components, sites, K)[1], -e, delta=1e-9)


PLANE = """\
gpumc: 1
seed: {seed}
model: {{name: heisenberg, shape: {shape}, components: {components}}}
algorithm: {{name: canonical, beta: {{values: {betas}}}, replicas: 64, update: {update}, thermalization: 100,
            sweeps: 2000, interval: 5}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


@unittest.skipIf(device.NAME == "cpu", "a kernel of GPUs")
class Fast(unittest.TestCase):
    """`fast` has the energies of `float`: on lattices that use different code, at four standard errors of the
    difference, 48 comparisons, false alarm 0.3 %. Control: `float` at temperatures wrong by 1 % breaks the bound."""
    def energies(self, variant, seed, factor=1.0, **keys):
        betas = [factor * 0.5, factor * 0.9]
        with gpumc.folder() as folder:
            gpumc.run_config(PLANE.format(folder=folder, variant=variant, seed=seed, betas=betas, **keys), folder)
            found = gpumc.summary(f"{folder}/out.h5")
        return found["energy"], found["energy_error"]

    def test_energies(self):
        worst = 0
        for components in 3, 2:
            for shape in "[16, 16]", "[6, 10]", "[8, 8, 8]", "[128, 96]":
                for update in "metropolis", "heat_bath", "mixed":
                    keys = dict(shape=shape, components=components, update=update)
                    with self.subTest(**keys):
                        value, error = self.energies("fast", 1, **keys)
                        for factor in 1.0, 1.01:
                            other, other_error = self.energies("float", 2, factor, **keys)
                            deviation = np.abs(value - other) / np.hypot(error, other_error)
                            print(keys, factor, "deviations", deviation)
                            if factor == 1.0:
                                self.assertLess(deviation.max(), 4)
                            else:
                                worst = max(worst, deviation.max())
        self.assertGreater(worst, 4)


class Rings(unittest.TestCase):
    def simulate(self, text, **values):
        values = dict(dict(sites=8, components=3, J=1.0, variant="double", more=""), **values)
        with gpumc.folder() as folder:
            gpumc.run_config(text.format(folder=folder, **values), folder)
            return gpumc.summary(f"{folder}/out.h5")

    def check(self, found, components, sites, where):
        """Returns the largest deviation from temperatures that are wrong by 1 %."""
        wrong = 0
        for row, beta in enumerate(found["beta"]):
            for factor in 1, 1.01:
                for name, value in zip(("energy", "specific_heat"), exact(components, sites, factor * beta)):
                    deviation = (found[name][row] - value) / found[name + "_error"][row]
                    if factor == 1:
                        print(f"{where} beta = {beta} {name:13s} {deviation:+.2f} errors of {found[name + '_error'][row]:.2g}")
                        self.assertLess(abs(deviation), 4, (where, beta, name))
                    else:
                        wrong = max(wrong, abs(deviation))
        return wrong

    def test_every_move_and_precision(self):
        for components in 3, 2:
            for update in ("metropolis", "metropolis_small", "heat_bath", "mixed", "swendsen_wang", "wolff",
                           "[{heat_bath: 1}, {wolff: 1}]"):
                for variant in ["double", "float"] + device.on_gpus("fast"):
                    where = f"O({components}) {update} {variant}"
                    interval = 5 if update == "mixed" else 1
                    with self.subTest(where):
                        found = self.simulate(CANONICAL, components=components, update=update, variant=variant,
                                              sweeps=8000 * interval, interval=interval)
                        self.assertGreater(self.check(found, components, 8, where), 4)

    def test_antiferromagnet_on_a_longer_ring(self):
        """An even ring has the same energies for both signs of J."""
        for components in 3, 2:
            found = self.simulate(CANONICAL, components=components, sites=16, J=-1.0, update="heat_bath",
                                  variant="float", sweeps=4000, interval=1)
            self.assertGreater(self.check(found, components, 16, f"O({components}) J = -1"), 4)

    def test_helicity_modulus(self):
        """Four comparisons. Control: that of the other number of components."""
        for components in 3, 2:
            found = self.simulate(CANONICAL, components=components, update="heat_bath", variant="float", sweeps=8000,
                                  interval=1, more=", helicity_modulus: true")
            for row, beta in enumerate(found["beta"]):
                right, wrong = ((found["helicity_modulus"][row] - helicity(n, 8, beta)) /
                                found["helicity_modulus_error"][row] for n in (components, 5 - components))
                print(f"O({components}) beta = {beta} helicity modulus {right:+.2f} errors")
                self.assertLess(abs(right), 4)
                self.assertGreater(abs(wrong), 4)

    def test_correlations(self):
        """24 comparisons. Control: those of the other number of components."""
        names = "magnetization2", "structure_factor", "correlation_length"
        for components, variant in itertools.product((3, 2), ("double", "float")):
            found = self.simulate(CANONICAL, components=components, update="heat_bath", variant=variant, sweeps=4000,
                                  interval=1, more=", structure_factor: true")
            wrong = 0
            for row, beta in enumerate(found["beta"]):
                for name, right, other in zip(names, waves(components, 8, beta), waves(5 - components, 8, beta)):
                    error = found[name + "_error"][row]
                    deviation = (found[name][row] - right) / error
                    print(f"O({components}) {variant} beta = {beta} {name} {deviation:+.2f} errors of {error:.2g}")
                    self.assertLess(abs(deviation), 4, (components, variant, beta, name))
                    wrong = max(wrong, abs(found[name][row] - other) / error)
            self.assertGreater(wrong, 4)

    def test_over_relaxation_alone_is_wrong(self):
        """It keeps the energy of the starting states, those of beta = 0: the bound is broken by far."""
        found = self.simulate(CANONICAL, update="over_relaxation", variant="double", sweeps=200, interval=1)
        for row, beta in enumerate(found["beta"]):
            self.assertGreater(found["energy"][row] - exact(3, 8, beta)[0], 0.2)

    def test_tempering(self):
        for components in 3, 2:
            found = self.simulate(TEMPERED, components=components, variant="float")
            self.assertGreater(self.check(found, components, 8, f"pt O({components})"), 4)

    def test_annealing(self):
        """beta_free_energy is beta F/N = -ln Z/N, from ln Z = N ln 4 pi, or N ln 2 pi, at beta = 0. 8 comparisons."""
        for components in 3, 2:
            found = self.simulate(ANNEALED, components=components)
            states, wrong = math.log((4 if components == 3 else 2) * math.pi), 0
            self.assertAlmostEqual(found["beta_free_energy"][0], -states, delta=1e-12)
            for row in -11, -1:
                beta = found["beta"][row]
                for name, (value, other) in (
                        ("beta_free_energy", [-states - log_states(components, 8, at) for at in (beta, 1.01 * beta)]),
                        ("energy", [exact(components, 8, at)[0] for at in (beta, 1.01 * beta)])):
                    error = found[name + "_error"][row]
                    deviation = (found[name][row] - value) / error
                    print(f"pa O({components}) beta = {beta:.2f} {name} {deviation:+.2f} errors")
                    self.assertLess(abs(deviation), 4, (components, beta, name))
                    wrong = max(wrong, abs(found[name][row] - other) / error)
            self.assertGreater(wrong, 4)


if __name__ == "__main__":
    device.require()
    cases.main()
