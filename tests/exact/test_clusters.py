"""Canonical runs with cluster moves: the exact energy and specific heat at the critical point, and the same result for
any number of threads.

Null: averages are those of the canonical ensemble. Bounds are four reported standard errors, whose size is confirmed by
tests/statistical/test_canonical_errors.py; seeds are fixed. Negative control: the reference at a temperature that is
wrong by 1 %.

CTest: release (resume_test_resume_clusters, exact_test_ising_clusters)
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

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: {model}}}
algorithm:
  name: canonical
  beta: {{values: [{beta}]}}
  update: {update}
  replicas: {replicas}
  thermalization: {thermalization}
  sweeps: {sweeps}
  interval: 1
  improved_estimators: {improved}
kernel: {{variant: spin{more}}}
output: {folder}/out.h5
"""


def simulate(folder, *options, **changed):
    values = dict(model="ising2d, shape: [64, 64]", beta=CRITICAL, update="swendsen_wang", replicas=4, thermalization=500, sweeps=20000,
                  more="", improved="false", folder=folder)
    values.update(changed)
    gpumc.run_config(CONFIG.format(**values), folder, *options)
    return f"{folder}/out.h5"


class Clusters(unittest.TestCase):
    def check_kaufman(self, found):
        for factor in 1, 1.01:
            _, energy, heat = (float(x[0]) for x in gpumc.exact().kaufman(64, 64, factor * CRITICAL))
            off = [(found[name][0] - exact) / found[name + "_error"][0]
                   for name, exact in (("energy", energy), ("specific_heat", heat))]
            print(f"{factor} beta_c: {off[0]:+.2f}, {off[1]:+.2f} errors")
            if factor == 1:
                self.assertLess(max(map(abs, off)), 4)
            else:
                self.assertGreater(max(map(abs, off)), 4, "control")

    def test_kaufman_at_the_critical_point(self):
        """Two quantities, two moves: false alarms below 3e-4."""
        for update, more in cases.of((("swendsen_wang", ""), ("wolff", ", clusters: 3"))):
            with self.subTest(update=update), gpumc.folder() as folder:
                self.check_kaufman(gpumc.summary(simulate(folder, update=update, more=more)))

    def test_any_number_of_threads(self):
        """One lattice that threads share, with and without a field; Wolff's clusters, a replica a thread."""
        runs = (dict(model="ising2d, shape: [128, 130]", replicas=1),
                dict(model="ising3d, shape: [32, 32, 34], h: 0.01", beta=0.2216, replicas=1),
                dict(model="ea, shape: [64, 64], couplings: gaussian", replicas=5, update="wolff"))
        for case in cases.of(runs):
            found = []
            for threads in 1, 2, 3:
                with gpumc.folder() as folder:
                    path = simulate(folder, "--threads", str(threads), thermalization=40, sweeps=40, improved="true", **case)
                    with h5py.File(path) as file:
                        found.append({name: values[...] for name, values in file["summary"].items()
                                      if isinstance(values, h5py.Dataset)})
            with self.subTest(case=case):
                for other in found[1:]:
                    for name, values in found[0].items():
                        np.testing.assert_array_equal(values, other[name], name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
