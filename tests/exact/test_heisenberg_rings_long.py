"""Rings of 8, 16 and 32 Heisenberg and XY spins against their exact partition functions, to 1e-5 of the energy.

Null: averages are those of the canonical ensemble (support/heisenberg_exact.py), whatever the precision. For each
number of components, ring, move and precision, with random numbers of their own, since those of one seed would be the
same for all rings, the error of the energy is at most 4e-5; for each ring all together have about 1e-5. Bounds are four
standard errors: 24 energies and as many specific heats, 6 energies of rings, and the differences between single and
double precision of all O(3) and of all O(2) together, 56 comparisons, false alarm 0.4 %. Controls: every energy breaks
the bound at a temperature wrong by 0.1 %, and every precision if its energies were off by 1e-4.

CTest: validate everywhere (exact_test_heisenberg_rings)
"""
import concurrent.futures
import itertools
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import exact  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: heisenberg, shape: [{sites}], components: {components}}}
algorithm: {{name: canonical, beta: {{values: [{beta}]}}, replicas: 1024, update: {update}, thermalization: 400,
            sweeps: {sweeps}, interval: 2}}
kernel: {{variant: {variant}{kernel}}}
output: {folder}/out.h5
"""
RINGS, PRECISIONS = (8, 16, 32), ("float", "double")
# Inverse temperature, and sweeps times sites: the smaller the ring, the longer its run.
MOVES = {"mixed": (3.0, 1600000), "metropolis": (1.0, 1200000)}
CASES = list(itertools.product((3, 2), RINGS, MOVES, PRECISIONS))
ERROR, ERROR_OF_RING, OFF = 4e-5, 1.5e-5, 1e-4


def simulate(case):
    components, sites, update, variant = case
    beta, length = MOVES[update]
    with gpumc.folder() as folder:
        gpumc.run_config(CONFIG.format(folder=folder, seed=20120605 + CASES.index(case), components=components,
                                       sites=sites, update=update, variant=variant, beta=beta,
                                       kernel=", over_relaxation: 1" if update == "mixed" else "",
                                       sweeps=length // sites), folder, timeout=3000)
        return gpumc.summary(f"{folder}/out.h5")


def together(deviations):
    """The weighted mean of (value - exact, error), and its own error."""
    off, error = np.array(deviations).T
    weight = error ** -2
    return (weight * off).sum() / weight.sum(), weight.sum() ** -0.5


class Rings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Longest first."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cls.found = dict(zip(CASES, pool.map(simulate, CASES)))

    def deviation(self, case, factor=1.0):
        found, beta = self.found[case], MOVES[case[2]][0]
        return found["energy"][0] - exact(case[0], case[1], factor * beta)[0], found["energy_error"][0]

    def test_every_case(self):
        for case in CASES:
            with self.subTest(case=case):
                found, beta = self.found[case], MOVES[case[2]][0]
                heat = exact(case[0], case[1], beta)[1]
                (off, error), (wrong, _) = self.deviation(case), self.deviation(case, 1.001)
                of_heat = (found["specific_heat"][0] - heat) / found["specific_heat_error"][0]
                print(f"{case}: energy {off / error:+.2f} errors of {error:.2g}, specific heat {of_heat:+.2f} of "
                      f"{found['specific_heat_error'][0]:.2g}")
                self.assertLess(error, ERROR)
                self.assertLess(abs(off), 4 * error)
                self.assertLess(abs(of_heat), 4)
                self.assertGreater(abs(wrong), 4 * error)

    def test_all_of_a_ring(self):
        for components, sites in itertools.product((3, 2), RINGS):
            off, error = together([self.deviation(case) for case in CASES if case[:2] == (components, sites)])
            print(f"O({components}), {sites} spins: energy {off / error:+.2f} errors of {error:.2g}")
            self.assertLess(error, ERROR_OF_RING)
            self.assertLess(abs(off), 4 * error)

    def test_precisions(self):
        for components in 3, 2:
            single, double = (together([self.deviation(case) for case in CASES
                                        if case[0] == components and case[3] == variant]) for variant in PRECISIONS)
            off, error = single[0] - double[0], np.hypot(single[1], double[1])
            print(f"O({components}), float less double: {off:+.2g}({error:.1g})")
            self.assertLess(abs(off), 4 * error)
            self.assertGreater(abs(off + OFF), 4 * error)


if __name__ == "__main__":
    device.require()
    cases.main()
