"""Square and cubic lattices of Heisenberg and XY spins: energies at high temperature against the series, and single
against double precision at the transition.

Null: averages are those of the canonical ensemble, the same in both precisions. The series has all loops of up to six
bonds; the rest is below 2e-5 here. Bounds are four reported standard errors: 20 comparisons, false alarm 0.1 %.
Negative controls: the series without loops, and a temperature off by 1 %.

CTest: release
"""
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import hot_energy  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: heisenberg, shape: {shape}, components: {components}}}
algorithm: {{name: canonical, beta: {{values: [{beta}]}}, replicas: 16, update: {update}, thermalization: {thermalization},
            sweeps: {sweeps}, interval: {interval}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
SHAPES = {2: "[32, 32]", 3: "[12, 12, 12]"}


class Lattices(unittest.TestCase):
    def simulate(self, **values):
        with gpumc.folder() as folder:
            gpumc.run_config(CONFIG.format(folder=folder, **values), folder)
            return gpumc.summary(f"{folder}/out.h5")

    def test_high_temperature(self):
        """K so small that terms of order K^7 do not matter, and so large that loops do: these add 4e-3."""
        for components, dimension, K, update, variant in (
                (3, 2, 0.3, "heat_bath", "float"), (3, 2, 0.3, "metropolis", "double"), (3, 3, 0.2, "metropolis", "float"),
                (3, 3, 0.2, "mixed", "float"), (2, 2, 0.2, "metropolis", "float"), (2, 2, 0.2, "heat_bath", "double"),
                (2, 3, 0.14, "metropolis", "float"), (2, 3, 0.14, "mixed", "double")):
            interval = 3 if update == "mixed" else 1
            found = self.simulate(seed=41, components=components, shape=SHAPES[dimension], beta=K, update=update,
                                  variant=variant, thermalization=100, sweeps=1600 * interval, interval=interval)
            value, error = found["energy"][0], found["energy_error"][0]
            right, wrong = ((value - hot_energy(components, dimension, K, longest)) / error for longest in (6, 0))
            where = f"O({components}) in {dimension} dimensions, K = {K}, {update}, {variant}"
            print(f"{where}: {right:+.2f} errors of {error:.2g}, without loops {wrong:+.2f}")
            self.assertLess(abs(right), 4, where)
            self.assertGreater(abs(wrong), 4, where)

    def test_without_interactions(self):
        """At beta = 0 multiples of beta are 0, without error; control: slightly above they have one."""
        for components in (3, 2):
            found = self.simulate(seed=43, components=components, shape="[4, 4]", beta="0, 0.1", update="heat_bath",
                                  variant="float", thermalization=10, sweeps=200, interval=1)
            for name in ("susceptibility", "specific_heat"):
                self.assertEqual((found[name][0], found[name + "_error"][0]), (0, 0), name)
                self.assertGreater(found[name + "_error"][1], 0, name)

    def test_precisions_agree_at_the_transition(self):
        """The runs have different seeds, since their random numbers differ anyway."""
        names = "energy", "specific_heat", "abs_magnetization", "magnetization2", "binder_parameter", "susceptibility"
        found = {}
        for seed, variant, beta in (51, "float", 0.693), (52, "double", 0.693), (53, "double", 0.70):
            found[seed] = self.simulate(seed=seed, components=3, shape="[8, 8, 8]", beta=beta, update="mixed",
                                        variant=variant, thermalization=1000, sweeps=20000, interval=5)
        largest = 0
        for name in names:
            off = [(found[51][name][0] - found[k][name][0]) / math.hypot(found[51][name + "_error"][0],
                                                                         found[k][name + "_error"][0]) for k in (52, 53)]
            print(f"{name} in float and double: {off[0]:+.2f} errors, at another temperature {off[1]:+.2f}")
            self.assertLess(abs(off[0]), 4, name)
            largest = max(largest, abs(off[1]))
        self.assertGreater(largest, 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
