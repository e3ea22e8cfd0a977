"""Heisenberg and XY spins in a field against the exact transfer matrix, as the model's own field and as a moved one.

Null: averages are those of the canonical ensemble. Two spins so weakly coupled that they are free, a pair with two
bonds, and rings: energy, specific heat, magnetization along the field and, if the field is moved, its susceptibility.
Bounds are four reported standard errors: under 110 comparisons, false alarm 0.7 %. Negative control: in a field wrong by
2 % the same bound is broken.

CTest: release (exact_test_heisenberg_kernels, cli_test_heisenberg_keys)
"""
import math
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import bessel, log_states, log_states_in_field, ring_in_field  # noqa: E402

MODEL = "gpumc: 1\nseed: 31\nmodel: {{name: heisenberg, shape: [{sites}], components: {components}, J: {J}, h: {h}}}\n"
CANONICAL = MODEL + """
algorithm: {{name: canonical, beta: {{values: [0.5, 1.5]}}, replicas: 64, update: {update}, thermalization: 200,
            sweeps: {sweeps}, interval: {interval}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
TEMPERED = MODEL + """
algorithm: {{name: pt, control: {{name: h, beta: 1.5, values: [0, 0.4, 0.8]}}, samples: 64, sweeps: 20480, exchange_every: 10,
            update: {update}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
FREE = 1e-12


class Reference(unittest.TestCase):
    def test_limits(self):
        """Without a field the ring's formula, for free spins Langevin's function or the ratio of Bessel functions, and
        for a pair its expansion in spherical or circular harmonics."""
        for n in 2, 3:
            self.assertAlmostEqual(log_states_in_field(n, 8, 2.0, 0), log_states(n, 8, 2.0), delta=1e-12)
            for H in 0.3, 2.0:
                free = 1 / math.tanh(H) - 1 / H if n == 3 else bessel(1, H) / bessel(0, H)
                self.assertAlmostEqual(ring_in_field(n, 2, H, FREE, 1.0)["magnetization_x"], free, delta=1e-9)
                if n == 3:
                    terms = [(2 * l + 1) * math.sqrt(math.pi / 6) * bessel(l + 0.5, 3.0) *
                             math.pi / (2 * H) * bessel(l + 0.5, H) ** 2 for l in range(40)]
                else:
                    terms = [(1 if m == 0 else 2) * bessel(m, 3.0) * bessel(m, H) ** 2 for m in range(40)]
                self.assertAlmostEqual(log_states_in_field(n, 2, 1.5, H), math.log(math.fsum(terms)) / 2, delta=1e-12)


class Fields(unittest.TestCase):
    def simulate(self, text, **values):
        with gpumc.folder() as folder:
            gpumc.run_config(text.format(folder=folder, **values), folder)
            return gpumc.summary(f"{folder}/out.h5")

    def check(self, found, names, exact, wrong, where):
        """`exact` and `wrong` take the number of the row. Returns the largest deviation from the wrong ones."""
        largest = 0
        for row in range(len(found["energy"])):
            right, control = exact(row), wrong(row)
            for name in names:
                error = found[name + "_error"][row]
                deviation = (found[name][row] - right[name]) / error
                print(f"{where} {row} {name:16s} {deviation:+.2f} errors of {error:.2g}")
                self.assertLess(abs(deviation), 4, (where, row, name))
                largest = max(largest, abs(found[name][row] - control[name]) / error)
        return largest

    def test_a_field_of_the_model(self):
        rings = [(3, 2, FREE, 1.0, "heat_bath", "float"), (2, 2, FREE, 1.0, "heat_bath", "double"),
                 (3, 2, FREE, -1.0, "metropolis", "float"), (2, 2, 1.0, 0.8, "mixed", "float"),
                 (3, 2, 1.0, 0.8, "mixed", "double"), (3, 8, 1.0, 0.5, "mixed", "float"),
                 (3, 8, -1.0, 1.5, "metropolis", "double"), (2, 8, 1.0, -0.5, "metropolis", "float"),
                 (2, 8, -1.0, 1.5, "heat_bath", "float"), (3, 8, 1.0, 0.3, "swendsen_wang", "double"),
                 (2, 8, 1.0, -0.3, "wolff", "float"), (3, 8, -1.0, 0.5, "wolff", "float")]
        for components, sites, J, h, update, variant in cases.of(rings):
            where = f"O({components}) N = {sites} J = {J} h = {h} {update} {variant}"
            with self.subTest(where):
                interval = 5 if update == "mixed" else 1
                found = self.simulate(CANONICAL, components=components, sites=sites, J=J, h=h, update=update,
                                      variant=variant, sweeps=8000 * interval, interval=interval)
                largest = self.check(
                    found, ("energy", "specific_heat", "magnetization_x"),
                    lambda row: ring_in_field(components, sites, found["beta"][row], J, h),
                    lambda row: ring_in_field(components, sites, found["beta"][row], J, 1.02 * h), where)
                self.assertGreater(largest, 4)

    def test_a_moved_field(self):
        """Energies do not include the moved field."""
        for components, variant, update in cases.of(((3, "float", "mixed"), (2, "double", "mixed"), (3, "double", "swendsen_wang"))):
            found = self.simulate(TEMPERED, components=components, sites=8, J=1.0, h=0, variant=variant, update=update)
            def exact(row, factor=1.0):
                h = factor * found["h"][row]
                values = ring_in_field(components, 8, 1.5, 1.0, h)
                return dict(values, energy_in_field=values["energy"], energy=values["energy"] + h * values["magnetization_x"])
            largest = self.check(found, ("energy_in_field", "magnetization_x", "susceptibility_x"), exact,
                                 lambda row: exact(row, 1.02), f"pt O({components})")
            self.assertGreater(largest, 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
