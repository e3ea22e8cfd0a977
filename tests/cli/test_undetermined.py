"""A result in which a value or an error of the summary is no number is not trusted, in any algorithm, and says which.

Each run is made twice: with points that it cannot determine, and, as the control, without them, when it is trusted.
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: ising2d, {model}}}
algorithm: {{name: {algorithm}}}
kernel: {{device: cpu}}
output: r.h5
"""
CANONICAL = "canonical, beta: {values: [0.2]}, update: heat_bath, replicas: 8, sweeps: 4000"
MUCA = "muca, range: {from: -1.2, to: 1.2}, walkers: 256, beta: "


class Undetermined(ProgramCase):
    def summary(self, model, algorithm):
        self.gpumc("run", "--fresh", "--quiet", "--threads", "1", self.write("c.yaml", CONFIG.format(model=model, algorithm=algorithm)))
        with h5py.File(self.path("r.h5")) as file:
            summary = file["summary"]
            numbers = [group[name][...] for group in (summary, summary.get("reweighted", {})) for name in group
                       if f"{name.removesuffix('_error')}_error" in group and group[name].shape == group["beta"].shape]
            return summary.attrs["trusted"], dict(summary.attrs), any(np.isnan(array).any() for array in numbers)

    def test_missing_numbers(self):
        for model, algorithm, missing in (
                ("shape: [32, 32]", CANONICAL, False),
                ("shape: [32, 32]", f"{CANONICAL}, reweight: {{from: 0.19, to: 0.21, step: 0.01}}", False),
                ("shape: [32, 32]", f"{CANONICAL}, reweight: {{from: 0.2, to: 0.5, step: 0.1}}", True),
                ("shape: [8, 8]", MUCA + "{values: [0.05, 0.1]}", False),
                ("shape: [8, 8]", MUCA + "{values: [0.05, 0.1, 0.6]}", True)):
            with self.subTest(model=model, algorithm=algorithm):
                trusted, said, found = self.summary(model, algorithm)
                self.assertEqual(found, missing)
                self.assertEqual(trusted, int(not missing), said)
                self.assertEqual("undetermined_warning" in said, missing)
                if missing:
                    self.assertIn("undetermined (NaN)", said["undetermined_warning"].decode())


if __name__ == "__main__":
    unittest.main()
