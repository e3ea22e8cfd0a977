"""Runs of few chains where states may be metastable: what no chain visited leaves no trace, so such a run is not trusted
unless there are eight chains from different starts, or a proof that its moves meet no barrier.

4 x 4 spins at beta = 0.8 in a field of 0.05 stay in the phase that they fell into: of single chains nearly all are wrong
by more than four errors, though each by itself has relaxed (the control: `converged`). Of runs of eight chains at most
as many are trusted and wrong as a rate of 1/128 explains in one of 10,000 tests. Where there is a proof single chains are
trusted and right, false alarms of 1 % aside.

CTest: release (cli_test_canonical_keys), methods 5 s
"""
import json
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, chance, enumeration, splitmix_couplings  # noqa: E402
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 1
model: {{{model}}}
algorithm: {{name: {algorithm}}}
kernel: {{device: cpu}}
output: r-{{seed}}.h5
campaign: {{seed: [{seeds}]}}
"""
SEEDS = 24
FERROMAGNET = "name: ising2d, shape: [4, 4]"
PHASES = "canonical, beta: {values: [0.8]}, sweeps: 10000, update: "
CHAINS = 8


class OnePhase(ProgramCase):
    def config(self, model, algorithm, seeds=SEEDS):
        return self.write("c.yaml", CONFIG.format(model=model, algorithm=algorithm, seeds=", ".join(map(str, range(1, seeds + 1)))))

    def runs(self, model, algorithm, exact, seeds=SEEDS):
        """Returns of each run whether it is trusted, whether it is converged, and whether it is off by more than four
        errors."""
        self.gpumc("run", "--quiet", "--fresh", "--threads", "1", self.config(model, algorithm, seeds))
        found = []
        for seed in range(1, seeds + 1):
            with h5py.File(self.path(f"r-{seed}.h5")) as file:
                summary = file["summary"]
                off = [np.abs(summary[name][...] - curve) > 4 * summary[f"{name}_error"][...] for name, curve in exact.items()]
                found.append((bool(summary.attrs["trusted"]), bool(summary["converged"][...].all()), bool(np.any(off))))
        return np.array(found).T

    def exact(self, beta=0.8, h=0.05, couplings=None):
        J = np.ones((16, 2)) if couplings is None else np.array(couplings).reshape(16, 2)
        curves = enumeration.averages((4, 4), J, [h] * 16, [beta])
        return {name: curves[name] for name in ("energy", "abs_magnetization")}

    def assert_hardly_missed(self, trusted, wrong):
        self.assertLessEqual(np.sum(trusted & wrong), chance.most_by_chance(len(trusted), 2.0 ** (1 - CHAINS)))

    def test_a_phase_that_no_chain_entered(self):
        for update in "metropolis", "heat_bath":
            for replicas in 1, 2, CHAINS:
                with self.subTest(update=update, replicas=replicas):
                    trusted, converged, wrong = self.runs(f"{FERROMAGNET}, h: 0.05", f"{PHASES}{update}, replicas: {replicas}",
                                                          self.exact())
                    print(f"{update}, {replicas}: {trusted.sum()} trusted, {np.sum(converged & wrong)} converged and wrong, of {SEEDS}")
                    if replicas < CHAINS:
                        self.assertEqual(trusted.sum(), 0)
                    if replicas == 1:  # control
                        self.assertGreater(np.sum(converged & wrong), SEEDS // 2)
                    self.assert_hardly_missed(trusted, wrong)

    def test_valleys_of_a_glass(self):
        self.write("glass.txt", splitmix_couplings.text_file((4, 4), [3]))
        exact = self.exact(3.0, 0.0, splitmix_couplings.couplings((4, 4), 3))
        for replicas in 1, CHAINS:
            trusted, _, wrong = self.runs("name: ea, shape: [4, 4], couplings: file, file: glass.txt",
                                          f"canonical, beta: {{values: [3]}}, sweeps: 10000, update: heat_bath, replicas: {replicas}",
                                          exact)
            if replicas == 1:
                self.assertEqual(trusted.sum(), 0)
            self.assert_hardly_missed(trusted, wrong)

    def test_single_chains_without_barriers(self):
        """Control: they would be right without the proof, too, and are not trusted a little colder."""
        for update, beta in (("swendsen_wang", 0.8), ("heat_bath", 0.25), ("[swendsen_wang, metropolis]", 0.8)):
            with self.subTest(update=update, beta=beta):
                trusted, _, wrong = self.runs(f"{FERROMAGNET}, h: 0.05", f"canonical, beta: {{values: [{beta}]}}, sweeps: 20000, "
                                              f"update: {update}, replicas: 1", self.exact(beta))
                most = chance.most_by_chance(SEEDS, 0.01)
                self.assertGreaterEqual(trusted.sum(), SEEDS - most)
                self.assertLessEqual(np.sum(trusted & wrong), most)


class WhatIsSaid(ProgramCase):
    """By `validate`, before any run: the rule for every model, algorithm and move. atanh(1/4) = 0.2554, atanh(1/6) =
    0.1682, atanh(1/2) = 0.5493."""

    RULES = [
        # model, algorithm, whether a single chain is warned of
        (FERROMAGNET, "canonical, beta: {values: [0.255]}, update: heat_bath", False),
        (FERROMAGNET, "canonical, beta: {values: [0.256]}, update: heat_bath", True),
        (FERROMAGNET, "canonical, beta: {values: [0.1, 0.5]}, update: heat_bath", True),
        (FERROMAGNET + ", J: 0.5", "canonical, beta: {values: [0.5]}, update: heat_bath", False),
        (FERROMAGNET + ", J: -1", "canonical, beta: {values: [2]}, update: swendsen_wang", False),
        (FERROMAGNET + ", J: -1, h: 0.1", "canonical, beta: {values: [2]}, update: swendsen_wang", True),
        (FERROMAGNET, "canonical, beta: {values: [2]}, update: wolff", True),
        (FERROMAGNET, "canonical, beta: {values: [2]}, update: [wolff, swendsen_wang]", False),
        (FERROMAGNET, "canonical, control: {name: h, beta: 0.2, values: [-1, 1]}, update: heat_bath", False),
        (FERROMAGNET, "canonical, control: {name: h, beta: 0.5, values: [-1, 1]}, update: heat_bath", True),
        (FERROMAGNET + ", J: -1", "canonical, control: {name: h, beta: 0.5, values: [0, 1]}, update: swendsen_wang", True),
        ("name: ising3d, shape: [4, 4, 4]", "canonical, beta: {values: [0.168]}, update: heat_bath", False),
        ("name: ising3d, shape: [4, 4, 4]", "canonical, beta: {values: [0.169]}, update: heat_bath", True),
        ("name: ea, shape: [4, 4]", "canonical, beta: {values: [0.25]}, update: heat_bath", False),
        ("name: ea, shape: [4, 4]", "canonical, beta: {values: [2]}, update: swendsen_wang", True),
        ("name: ea, shape: [4, 4], couplings: gaussian", "canonical, beta: {values: [0.25]}, update: heat_bath", True),
        ("name: ea, shape: [4, 4], couplings: gaussian", "canonical, beta: {values: [0.02]}, update: heat_bath", False),
        ("name: heisenberg, shape: [8], components: 2", "canonical, beta: {values: [0.549]}", False),
        ("name: heisenberg, shape: [8], components: 3", "canonical, beta: {values: [0.55]}", True),
        ("name: heisenberg, shape: [4, 4], components: 3", "canonical, beta: {values: [0.2]}, update: wolff", False),
        ("name: hard_disks, particles: 16, packing_fraction: 0.5", "mpmc", True),
        ("name: hard_disks, particles: 16, packing_fraction: 0.5", "canonical, control: {name: beta_pressure, values: [2]}", False),
        ("name: hard_disks, particles: 16, packing_fraction: 0.5", "canonical, control: {name: beta_pressure, values: [2, 7.5]}", True),
    ]

    def warned(self, model, algorithm):
        text = f"gpumc: 1\nseed: 1\nmodel: {{{model}}}\nalgorithm: {{name: {algorithm}, sweeps: 1000}}\noutput: r.h5\n"
        said = json.loads(self.gpumc("validate", "--json", self.write("c.yaml", text)).out)[0]["warnings"]
        return [one for one in said if "not trusted" in one]

    def test_single_chains(self):
        for model, algorithm, warned in self.RULES:
            with self.subTest(model=model, algorithm=algorithm):
                found = self.warned(model, algorithm + ", replicas: 1")
                self.assertEqual(len(found), int(warned), found)
                if warned:
                    self.assertIn("algorithm.replicas = 1 ", found[0])
                    self.assertIn("use 8 or more", found[0])

    def test_how_many_are_enough(self):
        for model, algorithm, _ in self.RULES:
            with self.subTest(model=model, algorithm=algorithm):
                self.assertEqual(self.warned(model, algorithm + ", replicas: 8"), [])
                self.assertEqual(self.warned(model, algorithm), [])  # the default

    def test_ladders_and_populations(self):
        """`pt` needs one value where moves reach all states, without exchanges all of them, or eight simulations; a population
        that does not begin at beta = 0 must begin there."""
        disks = "name: hard_disks, particles: 36, packing_fraction: 0.5"
        for model, algorithm, warned in (
                (FERROMAGNET, "pt, beta: {values: [0.8, 0.9]}", True),
                (FERROMAGNET, "pt, beta: {values: [0.8, 0.9]}, samples: 7", True),
                (FERROMAGNET, "pt, beta: {values: [0.8, 0.9]}, samples: 8", False),
                (FERROMAGNET, "pt, beta: {values: [0.25, 0.9]}", False),
                (FERROMAGNET, "pt, beta: {values: [0.25, 0.9]}, exchange_every: 0", True),
                (FERROMAGNET, "pt, beta: {values: [0.2, 0.25]}, exchange_every: 0", False),
                (FERROMAGNET, "pt, beta: {values: [0.8, 0.9]}, update: swendsen_wang", False),
                (FERROMAGNET, "pt, control: {name: h, beta: 0.8, values: [0, 1]}", True),
                ("name: ea, shape: [4, 4]", "pt, beta: {values: [1, 2]}", True),
                ("name: ea, shape: [4, 4]", "pt, beta: {values: [1, 2]}, replicas: 8", False),
                (FERROMAGNET, "pa, population: 100, beta: {to: 1, step: 0.1}", False),
                (FERROMAGNET, "pa, population: 100, control: {name: h, beta: 0.8, thermalization: 10, from: 0, to: 1, step: 0.1}", True),
                (FERROMAGNET, "pa, population: 100, control: {name: h, beta: 0.2, thermalization: 10, from: 0, to: 1, step: 0.1}", False),
                (FERROMAGNET, "pa, population: 100, control: {name: h, beta: 0.2, thermalization: 10, values: [0, 1]}", False),
                (FERROMAGNET, "pa, population: 100, control: {name: h, beta: 0.8, thermalization: 10, values: [0, 1]}", True),
                (disks, "pa, population: 100, control: {name: beta_pressure, thermalization: 10, from: 9.2, to: 10, step: 0.1}", True),
                (disks, "pa, population: 100, control: {name: beta_pressure, thermalization: 10, from: 3, to: 8, step: 0.1}", False)):
            with self.subTest(model=model, algorithm=algorithm):
                self.assertEqual(len(self.warned(model, algorithm)), int(warned))

    def test_one_replica_of_each_sample(self):
        for beta, warned in ((0.25, False), (0.5, True)):
            found = self.warned("name: ea, shape: [4, 4]", f"canonical, beta: {{values: [{beta}]}}, update: heat_bath, samples: 32")
            self.assertEqual(len(found), int(warned))
            if warned:
                self.assertIn("use algorithm pt", found[0])

    def test_merged_chains_count_together(self):
        """Eight results of one chain each; two of them are still too few."""
        text = CONFIG.format(model=FERROMAGNET, seeds="1, 2, 3, 4, 5, 6, 7, 8",
                             algorithm="canonical, beta: {values: [0.3]}, sweeps: 20000, update: heat_bath, replicas: 1")
        self.gpumc("run", "--quiet", "--threads", "1", self.write("c.yaml", text))
        for count in 2, 8:
            self.gpumc("merge", f"m{count}.h5", *[f"r-{seed}.h5" for seed in range(1, count + 1)])
            with h5py.File(self.path(f"m{count}.h5")) as file:
                self.assertEqual(file["summary"].attrs["trusted"], int(count == 8))
                self.assertEqual("replicas_warning" in file["summary"].attrs, count < 8)


if __name__ == "__main__":
    cases.main()
