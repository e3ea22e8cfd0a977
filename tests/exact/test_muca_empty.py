"""Multicanonical sampling with windows that contain no states: glasses of 4 x 4 with Gaussian couplings, those of the
first sample twice as large as those of the others, whose spectrum therefore ends sooner.

Windows beyond the ends of a sample's spectrum are left out of it, and its density of states is that of all its states,
as in test_muca_small; a run continues without samples that have no states in its range, and names them. Bounds as
there.

Control: numbers of another sample. Seeds are fixed; bounds were set before these runs.

CTest: release (resume_test_resume_muca), cases 4 s
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc  # noqa: E402

SHAPE, SITES, SCALES, BIN = (4, 4), 16, (2, 1, 1), 0.5
LIMIT = 6.0
CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ea, shape: [4, 4], couplings: file, file: {couplings}, sample: {first}}}
algorithm:
  name: muca
  walkers: 640
  bin: {bin}
  samples: {samples}
  beta: {{from: 0, to: 0.4, step: 0.1}}
  iteration: {{divergence: 1e-2}}
  production: {{updates: 3000, measurements: 100}}
  {keys}
output: {output}
"""


class Glasses(unittest.TestCase):
    def run_muca(self, folder, keys, samples=len(SCALES), first=0, expect=0, bin=BIN):
        path, output = pathlib.Path(folder) / "couplings.txt", pathlib.Path(folder) / "run.h5"
        lines = [f"shape {SHAPE[0]} {SHAPE[1]}"]
        for values in self.couplings:
            lines += ["couplings", *(f"{a} {b}" for a, b in values)]
        path.write_text("\n".join(lines) + "\n")
        text = CONFIG.format(couplings=path, keys=keys, samples=samples, first=first, bin=bin, output=output)
        self.said = gpumc.run_config(text, folder, expect=expect).stderr
        return output


class Empty(Glasses):
    @classmethod
    def setUpClass(cls):
        numbers = np.random.default_rng(7)
        cls.couplings = [(scale * numbers.standard_normal((SITES, 2))).round(6) for scale in SCALES]
        cls.energies = [enumeration.energies(SHAPE, values, np.zeros(SITES)) for values in cls.couplings]

    def read(self, output):
        with h5py.File(output) as file:
            self.attributes = dict(file["summary"].attrs)
            return {name: file["samples"][name][:] for name in file["samples"]}

    def mean_square(self, found, row, sample):
        """Compares a row of /samples with the states of a sample; infinite if levels differ."""
        level = found["energy_bin"]
        energies = self.energies[sample]
        counts = np.histogram(energies, np.append(level - BIN / 2, level[-1] + BIN / 2))[0]
        known = ~np.isnan(found["log_dos"][row])
        if (known != (counts > 0)).any():
            return np.inf
        exact = np.log(counts[known] / counts.sum())
        log_dos = found["log_dos"][row][known]
        return (((log_dos - np.logaddexp.reduce(log_dos) - exact) / found["log_dos_error"][row][known])**2).mean()

    def test_windows_beyond_the_ends_of_a_spectrum(self):
        with gpumc.folder() as folder:
            found = self.read(self.run_muca(folder, "range: {from: -2.6, to: 2.6}\n  windows: {count: 5, overlap: 0.3}"))
        self.assertEqual(self.attributes["converged"], 1)
        self.assertNotIn("entering_warning", self.attributes)
        self.assertEqual(found["empty_windows"].tolist(), [0, 2, 2])
        self.assertEqual(found["converged"].tolist(), [1, 1, 1])
        self.assertEqual(found["tilted_joins"].tolist(), [0, 0, 0])
        self.assertGreater(found["round_trips"].min(), 100)
        for row in range(3):
            self.assertLess(self.mean_square(found, row, row), LIMIT, row)
            self.assertGreater(self.mean_square(found, row, (row + 1) % 3), LIMIT, row)
        for row, energies in enumerate(self.energies):
            for t, beta in enumerate(found["beta"]):
                weight = np.exp(-beta * energies)
                z = (found["energy"][row, t] - weight @ energies / weight.sum() / SITES) / found["energy_error"][row, t]
                self.assertLess(abs(z), 5, (row, beta))

    def test_windows_of_one_sample_say_which_are_empty(self):
        keys = "range: {from: -2.6, to: 2.6}\n  windows: {count: 5, overlap: 0.3}"
        with gpumc.folder() as folder, h5py.File(self.run_muca(folder, keys, samples=1, first=1)) as file:
            windows = {name: file["summary/windows"][name][:] for name in file["summary/windows"]}
            self.assertEqual(file["summary"].attrs["converged"], 1)
        has_states = [((self.energies[1] > first - BIN / 2) & (self.energies[1] < last + BIN / 2)).any()
                      for first, last in zip(windows["from"], windows["to"])]
        self.assertEqual(windows["empty"].tolist(), [int(not has) for has in has_states])
        self.assertEqual(windows["converged"].tolist(), [int(has) for has in has_states])
        self.assertEqual(windows["empty"].sum(), 2)

    def test_windows_that_may_have_states_are_not_called_empty(self):
        with gpumc.folder() as folder:
            found = self.read(self.run_muca(folder, "range: {from: -2.0, to: -1.25}\n  windows: {count: 2, overlap: 0.5}"))
        self.assertEqual(found["converged"].tolist(), [1, 0, 0])
        self.assertEqual(found["empty_windows"].tolist(), [0, 0, 0])
        self.assertIn("in 4 of 6 windows of all samples", str(self.attributes["entering_warning"]))

    def test_samples_without_states_in_the_range(self):
        with gpumc.folder() as folder:
            found = self.read(self.run_muca(folder, "range: {from: -2.0, to: -1.25}"))
        for text in (self.said, str(self.attributes["entering_warning"])):
            self.assertIn("walkers of sample 1 reached the range from -1.98", text)
            self.assertIn("or narrow the range if no state has such values", text)
        self.assertIn("the first case in 2 of 3 samples", str(self.attributes["entering_warning"]))
        self.assertIn("walkers of sample 2 reached the range", self.said)
        self.assertEqual((self.attributes["converged"], self.attributes["trusted"]), (0, 0))
        self.assertEqual(found["converged"].tolist(), [1, 0, 0])
        known = ~np.isnan(found["log_dos"])
        self.assertEqual(known[1:].sum(), 0)
        level = found["energy_bin"]
        counts = np.histogram(self.energies[0], np.append(level - BIN / 2, level[-1] + BIN / 2))[0]
        self.assertEqual(known[0].tolist(), (counts > 0).tolist())
        exact = np.log(counts[known[0]] / counts.sum())
        square = (((found["log_dos"][0][known[0]] - exact) / found["log_dos_error"][0][known[0]])**2).mean()
        self.assertLess(square, LIMIT)

    def test_a_run_without_any_state_ends(self):
        with gpumc.folder() as folder:
            output = self.run_muca(folder, "range: {from: -2.0, to: -1.25}", samples=2, first=1, expect=1)
            self.assertFalse(output.exists())
        self.assertIn("walkers of sample 2 reached the range", self.said)
        with gpumc.folder() as folder:
            self.run_muca(folder, "range: {from: -2.0, to: -1.25}", samples=1, first=1, expect=1)
        self.assertIn("0 of 640 walkers reached the range from", self.said)


class Gap(Glasses):
    """No state in the common part of two windows, some beyond: not an empty window, and not trusted."""
    @classmethod
    def setUpClass(cls):
        cls.couplings = [np.random.default_rng(26).standard_normal((SITES, 2)).round(6)]

    def test_states_beyond_a_gap(self):
        keys = "windows: {count: 16, overlap: 0.05}"
        with gpumc.folder() as folder, h5py.File(self.run_muca(folder, keys, samples=1, bin=0.1)) as file:
            summary = file["summary"]
            self.assertEqual((summary.attrs["trusted"], summary["windows/empty"][0]), (0, 0))
            self.assertIn("entering_warning", summary.attrs)


if __name__ == "__main__":
    device.require()
    cases.main()
