"""The trust in results of hard disks also depends on psi_6, the slowest observable, which the model has watched without
a request.

Runs whose replicas all begin in a lattice and do not leave it may agree with each other and look converged, although they
are far from equilibrium: nothing but their start speaks against them, and they are not trusted for that. With `start: mixed`
they contradict themselves. A crystal that is stable is trusted from a lattice.

Dense systems: 64^2 disks near the transition, from a lattice, in chains that are short against the time in which psi_6
relaxes. None may be trusted, although by the pressures alone (the control) all would be: their series are long compared
to their own times and do not drift. Dilute ones must be trusted, except for the false alarms of the tests of drifts and
of agreement, at most one in a hundred each: of 12 runs one may fail (probability of two: 3 %, seeds are fixed). The
time of psi_6 from looks is that of the requested one: in a dense liquid, where it spans many looks, within three of its
errors; looks are fewer than measurements there, and so the mean of psi_6 has an error like that of the requested one;
no other quantity of it is in the result.

CTest: validate (statistical_test_canonical_trust, exact_test_hard_disks_measured)
"""
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: hard_disks, {model}}}
algorithm: {{name: mpmc, thermalization: {thermalization}, sweeps: {sweeps}, interval: {interval}{more}}}
kernel: {{device: cpu}}
output: r.h5
"""
DENSE = {"model": "lattice: [64, 64], packing_fraction: 0.71, start: lattice", "thermalization": 1500, "sweeps": 6000, "interval": 4}
DILUTE = {"model": "particles: 400, packing_fraction: 0.3", "thermalization": 200, "sweeps": 4000, "interval": 2}
# Short runs that start from a lattice that does not melt in their time.
METASTABLE = {"model": "lattice: [32, 32], packing_fraction: 0.715, start: lattice", "thermalization": 3000, "sweeps": 6000, "interval": 20,
              "more": ", replicas: 4"}
CRYSTAL = {"model": "lattice: [16, 16], packing_fraction: 0.75, start: lattice", "thermalization": 1000, "sweeps": 6000, "interval": 10,
           "more": ", replicas: 8"}
LIQUID = {"model": "particles: 256, packing_fraction: 0.66", "thermalization": 1000, "sweeps": 40000, "interval": 1,
          "more": ", replicas: 1"}
# Minimum length of a series in autocorrelation times (core/statistics/series.h), and normal deviates of a drift.
LEAST, LARGEST_DRIFT = 500, 4.5


class HardDisksTrust(ProgramCase):
    def run_with(self, seed, more="", **keys):
        ran = self.gpumc("run", "--fresh", self.write("c.yaml", CONFIG.format(seed=seed, more=more, **keys)))
        with h5py.File(self.path("r.h5")) as file:
            summary = file["summary"]
            times = {name: value[()] for name, value in summary["autocorrelation_time"].items()}
            drifts = {name: value[()] for name, value in summary["drift"].items()}
            return {"trusted": bool(summary.attrs["trusted"]), "times": times,
                    "doubted": "warning" in summary.attrs or "drift_warning" in summary.attrs,
                    "drifts": drifts, "said": ran.err, "summary": list(summary),
                    "psi6": (summary["psi6"][()], summary["psi6_error"][()])}

    def test_dense_systems_are_not_trusted(self):
        for seed in (20131210, 20131211, 20131212):
            with self.subTest(seed):
                found = self.run_with(seed, **DENSE)
                self.assertFalse(found["trusted"])
                self.assertRegex(found["said"], r"\(psi6\)|psi6 is (higher|lower)")
                for name in ("contact", "scaling"):
                    self.assertGreater(DENSE["sweeps"], LEAST * found["times"][name])
                    self.assertLess(abs(found["drifts"][name]), LARGEST_DRIFT)

    def test_states_that_were_never_left_are_found_by_another_start(self):
        """Control: if all replicas begin in the lattice, nothing in some of these runs speaks against them."""
        mixed = {**METASTABLE, "model": METASTABLE["model"].replace("start: lattice", "start: mixed")}
        found = {start: [self.run_with(seed, **keys) for seed in range(1, 9)] for start, keys in (("lattice", METASTABLE), ("mixed", mixed))}
        many = self.run_with(1, **{**mixed, "more": ", replicas: 16"})["said"]  # in chains of two
        alike = {start: sum(not run["doubted"] for run in runs) for start, runs in found.items()}
        print(f"\nundoubted by their series, of 8: {alike}")
        self.assertIn("the replicas contradict each other", many)
        self.assertGreater(alike["lattice"], 0)
        self.assertEqual(alike["mixed"], 0)
        for run in found["lattice"]:
            self.assertFalse(run["trusted"])
            self.assertIn("all replicas begin in a lattice", run["said"])

    def test_crystals_are(self):
        """From a lattice at densities at which nothing else is stable; one of the eight may be a false alarm."""
        trusted = [self.run_with(seed, **CRYSTAL)["trusted"] for seed in range(1, 9)]
        self.assertGreaterEqual(sum(trusted), 7)

    def test_dilute_systems_are(self):
        trusted = [self.run_with(20131220 + k, **DILUTE)["trusted"] for k in range(12)]
        self.assertGreaterEqual(sum(trusted), 11)

    def test_looks_find_the_time_of_psi_6(self):
        looked = self.run_with(20131230, **LIQUID)
        requested = self.run_with(20131230, **{**LIQUID, "more": ", replicas: 1, bond_order: true"})
        of_looks, times = looked["times"], requested["times"]
        print(f"\nsweeps: psi6 {times['psi6']:.1f}({times['psi6_error']:.1f}), by looks {of_looks['psi6']:.1f}"
              f"({of_looks['psi6_error']:.1f}), contact {times['contact']:.2f}")
        self.assertLess(abs(of_looks["psi6"] - times["psi6"]), 3 * np.hypot(of_looks["psi6_error"], times["psi6_error"]))
        self.assertGreater(times["psi6"], 5 * times["contact"])
        self.assertEqual(of_looks["contact"], times["contact"])
        (by_looks, error), (mean, error_of_mean) = looked["psi6"], requested["psi6"]
        print(f"mean: {mean:.4f}({error_of_mean:.4f}), by looks {by_looks:.4f}({error:.4f})")
        self.assertLess(abs(by_looks - mean), 3 * np.hypot(error, error_of_mean))
        self.assertTrue(0.7 < error / error_of_mean < 1.5)
        self.assertNotIn("psi6_2", looked["summary"])
        self.assertIn("psi6_2", requested["summary"])


if __name__ == "__main__":
    cases.main()
