"""Quantities that show how states were computed, such as the rounding of lengths (`norm_drift`), decide nothing: with
them a run has the verdict, the averages and the errors that it has without.

Null: in double precision the largest deviation of a length changes by rare steps, or never, whatever the spins do. Rings
of eight spins by moves that keep it for long, 10 seeds each, in `canonical`, and `pt` and `pa` once.
Control: a run that is too short for its slowest spins is not trusted, with the diagnostic or without.

CTest: release (cli_test_heisenberg_keys)
"""
import pathlib
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402

MODEL = "gpumc: 1\nmodel: {{name: heisenberg, shape: {shape}, components: {components}, h: {h}}}\n"
RUNS = """\
kernel: {{variant: double}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""
CANONICAL = MODEL + """
algorithm: {{name: canonical, beta: {{values: [{beta}]}}, replicas: 8, update: {update}, thermalization: 200, sweeps: {sweeps},
            norm_drift: {norm_drift}}}
""" + RUNS
ANNEALED = MODEL + """
algorithm: {{name: pa, beta: {{from: 0, to: 2, step: 0.25}}, population: 2000, sweeps: 10, runs: 4, update: metropolis,
            norm_drift: {norm_drift}}}
""" + RUNS
TEMPERED = MODEL + """
algorithm: {{name: pt, beta: {{from: 0.25, to: 2, count: 4}}, samples: 16, sweeps: 4096, exchange_every: 4, update: metropolis,
            norm_drift: {norm_drift}}}
""" + RUNS


class Diagnostics(unittest.TestCase):
    def summaries(self, text, seeds, norm_drift, **values):
        """For each seed whether it is trusted, and the numbers of its summary by name."""
        found = []
        with gpumc.folder() as folder:
            gpumc.run_config(text.format(folder=folder, seeds=", ".join(map(str, range(1, seeds + 1))),
                                         norm_drift=str(norm_drift).lower(), **values), folder)
            for seed in range(1, seeds + 1):
                with h5py.File(f"{folder}/{seed}.h5") as file:
                    numbers = {name: item[...].tobytes() for name, item in file["summary"].items()
                               if isinstance(item, h5py.Dataset)}
                    found.append((int(file["summary"].attrs["trusted"]), numbers))
        return found

    def compare(self, text, seeds, trusted, **values):
        plain = self.summaries(text, seeds, False, **values)
        with_drift = self.summaries(text, seeds, True, **values)
        for (verdict, numbers), (verdict_with, numbers_with) in zip(plain, with_drift):
            self.assertIn("norm_drift", numbers_with)
            self.assertEqual(verdict_with, verdict)
            self.assertEqual({name: numbers_with[name] for name in numbers}, numbers)
        print(values, "trusted:", sum(verdict for verdict, _ in with_drift), "of", seeds)
        self.assertEqual([verdict for verdict, _ in with_drift], [trusted] * seeds)

    def test_chains(self):
        for components, beta, h, update in ((2, 1.0, 0, "metropolis"), (2, 1.0, 0, "swendsen_wang"), (2, 0.5, 1, "metropolis"),
                                            (3, 0.5, 0, "metropolis")):
            self.compare(CANONICAL, 10, 1, shape="[8]", components=components, beta=beta, h=h, update=update, sweeps=4000)

    def test_annealing_and_tempering(self):
        for text in ANNEALED, TEMPERED:
            self.compare(text, 1, 1, shape="[8]", components=2, h=0)

    def test_slow_spins_still_decide(self):
        self.compare(CANONICAL, 3, 0, shape="[8, 8]", components=2, beta=4.0, h=0, update="metropolis", sweeps=500)


if __name__ == "__main__":
    unittest.main(verbosity=2)
