"""Heisenberg and XY spins with quenched couplings on rings, which have exact partition functions.

Null: averages are those of the canonical ensemble of the couplings J_i of the bonds. O(3):  Z/(4 pi)^N = sum over l of
(2l + 1) prod_i lambda_l(beta J_i), O(2):  Z/(2 pi)^N = sum over all m of prod_i I_m(beta J_i); correlations from matrix
elements between neighbouring orders. Bounds are four reported standard errors: 8 comparisons of pa, 48 of canonical
runs (72 on a GPU), 4 of +-J rings, 12 and 20 of overlaps: false alarm 0.6 % (0.7 %). Negative controls: with the sign
of one coupling flipped, for +-J rings with an odd number of negative bonds, and for overlaps at a temperature wrong by
3 % and with the other number of components, the same bound is broken.

CTest: release (cli_test_heisenberg_keys, unit_test_heisenberg_quenched), cases 10 s, methods 6 s
"""
import itertools
import math
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.heisenberg_exact import exact, log_ring, log_states, ring, ring_correlations  # noqa: E402

COUPLINGS = [0.7, -1.3, 1.9, 0.4, -0.8, 1.1, -2.6, 0.9]
MODEL = "model: {{name: heisenberg, shape: [{sites}], components: {components}, couplings: file, file: {folder}/ring.txt}}"
CANONICAL = "gpumc: 1\nseed: 21\n" + MODEL + """
algorithm: {{name: canonical, beta: {{values: [0.6, 1.2]}}, replicas: 64, update: {update}, thermalization: 200,
            sweeps: {sweeps}, interval: {interval}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""
ANNEALED = "gpumc: 1\nseed: 22\n" + MODEL + """
algorithm: {{name: pa, population: 1000, sweeps: 5, runs: 16, beta: {{from: 0, to: 1.2, step: 0.1}}}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


def flipped(couplings):
    return [-couplings[0]] + couplings[1:]


def run(text, couplings, **values):
    values = dict(dict(sites=len(couplings), components=3, variant="double"), **values)
    with gpumc.folder() as folder:
        pathlib.Path(folder, "ring.txt").write_text(f"shape {len(couplings)}\ncouplings {' '.join(map(str, couplings))}\n")
        gpumc.run_config(text.format(folder=folder, **values), folder)
        return gpumc.summary(f"{folder}/out.h5")


class Reference(unittest.TestCase):
    def test_alike(self):
        for components in 3, 2:
            self.assertAlmostEqual(log_ring(components, [1.5] * 8) / 8, log_states(components, 8, 1.5), delta=1e-12)
            for found, known in zip(ring(components, [1.0] * 8, 1.5), exact(components, 8, 1.5)):
                self.assertAlmostEqual(found, known, delta=1e-6)

    def test_two_bonds_between_two_spins(self):
        """They act as one: Z = sinh K / K, and the modified Bessel function."""
        self.assertAlmostEqual(log_ring(3, [0.7, -2.1]), math.log(math.sinh(1.4) / 1.4), delta=1e-12)
        self.assertAlmostEqual(log_ring(2, [0.7, -2.1]), math.log(np.i0(1.4)), delta=1e-10)

    def test_correlations(self):
        """The energy from the correlations of neighbours."""
        for components in 3, 2:
            of = ring_correlations(components, [0.9 * J for J in COUPLINGS])
            e = -sum(J * of[i, (i + 1) % 8] for i, J in enumerate(COUPLINGS)) / 8
            self.assertAlmostEqual(e, ring(components, COUPLINGS, 0.9)[0], delta=1e-6)


class Rings(unittest.TestCase):
    def check(self, found, components, couplings, where):
        """Returns the largest deviation from the ring with one sign flipped."""
        wrong = 0
        for row, beta in enumerate(found["beta"]):
            for name, value, other in zip(("energy", "specific_heat"), ring(components, couplings, beta),
                                          ring(components, flipped(couplings), beta)):
                error = found[name + "_error"][row]
                deviation = (found[name][row] - value) / error
                print(f"{where} beta = {beta} {name:13s} {deviation:+.2f} errors of {error:.2g}")
                self.assertLess(abs(deviation), 4, (where, beta, name))
                wrong = max(wrong, abs(found[name][row] - other) / error)
        return wrong

    def test_every_move_and_precision(self):
        for components, update, variant in cases.of(itertools.product(
                (3, 2), ("metropolis", "heat_bath", "mixed"), ["double", "float"] + device.on_gpus("fast"))):
            where = f"O({components}) {update} {variant}"
            interval = 5 if update == "mixed" else 1
            with self.subTest(where):
                found = run(CANONICAL, COUPLINGS[:4], components=components, update=update, variant=variant,
                            sweeps=4000 * interval, interval=interval)
                self.assertGreater(self.check(found, components, COUPLINGS[:4], where), 4)

    def test_annealing(self):
        """ln Z and the energy."""
        for components in 3, 2:
            found = run(ANNEALED, COUPLINGS[:4], components=components)
            states, wrong = math.log((4 if components == 3 else 2) * math.pi), 0
            for row in -7, -1:
                beta = found["beta"][row]
                for name, value, other in (
                        ("beta_free_energy", *(-states - log_ring(components, [beta * J for J in of]) / 4
                                               for of in (COUPLINGS[:4], flipped(COUPLINGS[:4])))),
                        ("energy", *(ring(components, of, beta)[0] for of in (COUPLINGS[:4], flipped(COUPLINGS[:4]))))):
                    error = found[name + "_error"][row]
                    deviation = (found[name][row] - value) / error
                    print(f"pa O({components}) beta = {beta:.2f} {name} {deviation:+.2f} errors of {error:.2g}")
                    self.assertLess(abs(deviation), 4, (components, beta, name))
                    wrong = max(wrong, abs(found[name][row] - other) / error)
            self.assertGreater(wrong, 4)

    def test_gauge(self):
        """Flipping every spin between two negative bonds makes all bonds positive: rings with an even number of them
        have the energies of the ring without any. Control: those with an odd number do not."""
        for components in 3, 2:
            for signs in ([1, -1, 1, 1, -1, 1], [-1, 1, 1, 1, 1, 1]):
                found = run(CANONICAL, signs, components=components, update="heat_bath", sweeps=4000, interval=1)
                for row, beta in enumerate(found["beta"]):
                    deviation = (found["energy"][row] - exact(components, 6, beta)[0]) / found["energy_error"][row]
                    print(f"O({components}) {signs} beta = {beta} energy {deviation:+.2f} errors")
                    if math.prod(signs) > 0:
                        self.assertLess(abs(deviation), 4)
                    elif row == 1:
                        self.assertGreater(abs(deviation), 4)


PAIRED = """\
gpumc: 1
seed: 24
{model}
algorithm: {{name: pt, beta: {{values: {betas}}}, samples: 32, replicas: 2, thermalization: 100, sweeps: {sweeps},
            exchange_every: 5, update: heat_bath}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


def ring_overlaps(components, K):
    """<q^2>, the link overlap and |sum of S_i S_i exp(i k r_i)|^2 / N at the smallest k: copies are independent, so
    squares of correlations are summed."""
    square, sites = ring_correlations(components, K) ** 2, len(K)
    wave = np.cos(2 * np.pi / sites * (np.arange(sites)[:, None] - np.arange(sites)))
    return dict(overlap2=square.sum() / sites ** 2, link_overlap=np.mean([square[i, (i + 1) % sites] for i in range(sites)]),
                overlap_structure_factor=(square * wave).sum() / sites)


def hot_overlaps(components, sites):
    """At beta = 0 on a square lattice. <q^4>: of <S_i.S_j S_k.S_l>^2 those of i = j, k = l are 1, and those of two equal
    pairs of different sites 1/n^2, in two orders. Chiralities of O(3) have the variance 2/9 and are independent; those of
    O(2) have 1/4, and those of plaquettes with a common bond the covariance -1/16."""
    n2 = components ** 2
    chirality = (2 / 9) ** 2 / (2 * sites) if components == 3 else (1 / 16 + 4 / 256) / sites
    fourth = (1 + 2 * (sites - 1) / sites / n2) / sites ** 2
    return dict(overlap2=1 / sites, overlap4=fourth, link_overlap=0.0, chirality_overlap2=chirality,
                binder_overlap=(n2 + 2 - n2 * fourth * sites ** 2) / 2)


class Overlaps(unittest.TestCase):
    def deviations(self, found, row, values):
        return {name: (found[name][row] - value) / found[name + "_error"][row] for name, value in values.items()}

    def test_rings(self):
        """32 copies of the same sample, so that errors are those of time and of samples alike."""
        couplings = COUPLINGS[:6]
        for components, variant in (3, "double"), (2, "float"):
            with gpumc.folder() as folder:
                one = f"couplings {' '.join(map(str, couplings))}\n"
                pathlib.Path(folder, "ring.txt").write_text("shape 6\n" + 32 * one)
                model = MODEL.format(folder=folder, sites=6, components=components)
                gpumc.run_config(PAIRED.format(folder=folder, model=model, betas=[0.6, 1.2], sweeps=8000, variant=variant),
                                 folder)
                found = gpumc.summary(f"{folder}/out.h5")
            wrong = 0
            for row, beta in enumerate(found["beta"]):
                right = self.deviations(found, row, ring_overlaps(components, [beta * J for J in couplings]))
                print(f"O({components}) {variant} beta = {beta}", {name: round(d, 2) for name, d in right.items()})
                self.assertLess(max(map(abs, right.values())), 4)
                other = self.deviations(found, row, ring_overlaps(components, [1.03 * beta * J for J in couplings]))
                wrong = max(wrong, *map(abs, other.values()))
            self.assertGreater(wrong, 4)

    def test_infinite_temperature(self):
        for components, couplings in ((3, "bimodal"), (3, "gaussian"), (2, "bimodal"), (2, "gaussian")):
            with gpumc.folder() as folder:
                model = f"model: {{name: heisenberg, shape: [4, 4], components: {components}, couplings: {couplings}}}"
                gpumc.run_config(PAIRED.format(folder=folder, model=model, betas=[0.0, 0.1], sweeps=8000, variant="float"),
                                 folder)
                found = gpumc.summary(f"{folder}/out.h5")
            right = self.deviations(found, 0, hot_overlaps(components, 16))
            wrong = self.deviations(found, 0, hot_overlaps(5 - components, 16))
            print(f"O({components}) {couplings}", {name: round(d, 2) for name, d in right.items()})
            self.assertLess(max(map(abs, right.values())), 4)
            for name in "overlap4", "chirality_overlap2":
                self.assertGreater(abs(wrong[name]), 4, name)


UNIFORM = """\
gpumc: 1
seed: 23
model: {{name: heisenberg, shape: {shape}, components: {components}, h: 0.2, J: 0.75{more}}}
algorithm: {{name: canonical, beta: {{values: [0.5, 1.0]}}, replicas: 8, update: {update}, thermalization: 10, sweeps: 64,
            interval: 1}}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


class Uniform(unittest.TestCase):
    def test_bits(self):
        """Couplings that are all +J give the bits of unquenched ones."""
        for shape, components, variant, update in cases.of(itertools.product(
                ("[10]", "[6, 4]", "[4, 6, 34]"), (3, 2), ("double", "float"), ("metropolis", "mixed"))):
            found = []
            for more in "", ", couplings: bimodal, p: 1":
                with gpumc.folder() as folder:
                    gpumc.run_config(UNIFORM.format(folder=folder, shape=shape, components=components, more=more, variant=variant,
                                                    update=update), folder)
                    found.append(gpumc.summary(f"{folder}/out.h5"))
            for name in "energy", "magnetization2", "magnetization_x":
                np.testing.assert_array_equal(found[0][name], found[1][name], f"{shape} {variant} {name}")


if __name__ == "__main__":
    device.require()
    cases.main()
