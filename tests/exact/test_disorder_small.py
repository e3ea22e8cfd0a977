"""Models with quenched disorder against exact results: all states enumerated, known samples of 4^3, the Nishimori line.

Null: the estimates are exact averages. Bounds are stated with each test; seeds are fixed. Negative controls: a flipped
bond, temperatures 1 % wrong, a temperature 2 % off the Nishimori line.

CTest: release, long, cases 1 s, methods 6 s
"""
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {model}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  beta: {beta}
  runs: {runs}
  structure_factor: {structure_factor}
kernel: {{variant: {variant}}}
output: {output}
campaign: {campaign}
"""

# 4^3: by seed of splitmix64 the ground state, and by beta ln Z / N and e.
SAMPLES = {1: (-112, {0.5: (1.04605038775732, -1.29637048709690),
                      1.0: (1.80896667654758, -1.64755701573054)}),
           2: (-114, {0.5: (1.05870271767372, -1.37872890048442),
                      1.0: (1.85290272092118, -1.69513902171966)}),
           3: (-104, {1.0: (1.75335616811581, -1.56580855628011)})}

ISING3D = {0.22165463: (0.78793348202032, -1.29322802048205),
           0.3: (0.94546461051256, -2.51507346281203)}


def run(folder, model, campaign="{}", **changed):
    values = dict(seed=1, population=10000, sweeps=10, runs=1, beta="{to: 1.0, step: 0.05}",
                  variant="multispin", structure_factor="false")
    values.update(changed)
    if campaign == "{}":
        values["output"] = f"{folder}/out.h5"
        text = CONFIG.replace("campaign: {campaign}\n", "")
    else:
        values["output"] = f"{folder}/{{model.sample}}.h5"
        text = CONFIG
    gpumc.run_config(text.format(model=model, campaign=campaign, **values), folder)
    return values["output"]


def deviations(summary, curves, at=slice(1, None)):
    """Returns deviations by name, in standard errors; 0 if neither error nor difference is above rounding."""
    found = {}
    for name, exact in curves.items():
        difference = (summary[name] - exact)[at]
        error = summary[name + "_error"][at]
        found[name] = np.where(np.abs(difference) < 1e-12, 0, difference / np.maximum(error, 1e-14))
    return found


class Enumerated(unittest.TestCase):
    """16 sites with every kind of disorder. Six quantities at 20 temperatures, neighbouring ones correlated: 5 standard
    errors, false alarms below 1e-4 a case. Control: the energy of the sample with one flipped bond is off by 8 errors
    at least."""

    CASES = [
        ("multispin", "{name: ea, shape: [4, 4], disorder_seed: 7, sample: 3"),
        ("multispin", "{name: ea, shape: [4, 4], p: 0.8, h: 0.3, sample: 1"),
        ("multispin", "{name: ea, shape: [4, 4], random_field: "
                      "{distribution: bimodal, width: 0.7}"),
        ("multispin", "{name: ea, shape: [2, 4, 2], disorder_seed: 5"),
        ("multispin", "{name: ea, shape: [4, 2, 2], h: -0.2"),
        ("spin", "{name: ea, shape: [4, 4], disorder_seed: 7, sample: 3"),
        ("spin", "{name: ea, shape: [4, 4], couplings: gaussian, sample: 4"),
        ("spin", "{name: ea, shape: [2, 2, 4], couplings: gaussian, h: 0.4, random_field: "
                 "{distribution: gaussian, width: 0.5}"),
        ("spin", "{name: ea, shape: [4, 4], h: 0.3, random_field: "
                 "{distribution: bimodal, width: 1}"),
    ]

    def test_averages_are_those_of_all_states(self):
        for variant, model in cases.of([case for case in self.CASES if case[0] in device.variants()]):
            with self.subTest(variant=variant, model=model), gpumc.folder() as folder:
                path = run(folder, model + ", write_couplings: true}", variant=variant, runs=2,
                           structure_factor="true")
                with h5py.File(path) as file:
                    shape = tuple(file["disorder/shape"][...])
                    couplings = file["disorder/couplings"][0]
                    fields = (file["disorder/fields"][0] if "fields" in file["disorder"]
                              else np.zeros(len(couplings)))
                uniform = float(model.split(" h: ")[1].split(",")[0]) if " h: " in model else 0.0
                summary = gpumc.summary(path)
                exact = enumeration.averages(shape, couplings, fields + uniform, summary["beta"])
                for name, found in deviations(summary, exact).items():
                    self.assertLess(np.abs(found).max(), 5, f"{name}: {found}")
                couplings[0, 0] *= -1
                wrong = enumeration.averages(shape, couplings, fields + uniform, summary["beta"])
                seen = np.abs(deviations(summary, wrong)["energy"]).max()
                print(f"{variant} {model}: one bond wrong, {seen:.0f} errors")
                self.assertGreater(seen, 8, "control")


class KnownSamples(unittest.TestCase):
    """4 standard errors at each temperature, the error of the energy below 2e-4, for every kernel.
    Control: a temperature wrong by 1 %."""

    def variants(self):
        return device.served("multispin", "spin", *device.on_gpus("walker"))

    def compare(self, path, known):
        summary = gpumc.summary(path)
        for beta, (log_z, energy) in known.items():
            at = int(np.argmin(np.abs(summary["beta"] - beta)))
            self.assertLess(abs(summary["beta"][at] - beta), 1e-9)
            error, heat = summary["energy_error"][at], summary["specific_heat"][at]
            self.assertLess(error, 2e-4)
            self.assertLess(abs(summary["energy"][at] - energy), 4 * error)
            self.assertGreater(abs(summary["energy"][at] - energy + 0.01 * heat / beta), 4 * error,
                               "control")
            self.assertLess(abs(-summary["beta_free_energy"][at] - log_z),
                            4 * summary["beta_free_energy_error"][at])

    def test_spin_glass_of_64_sites(self):
        """Five energies, five free energies: false alarms below 7e-4."""
        for variant in cases.of(self.variants()):
            with self.subTest(variant=variant), gpumc.folder() as folder:
                path = pathlib.Path(folder) / "couplings.txt"
                path.write_text(splitmix_couplings.text_file([4, 4, 4], SAMPLES))
                run(folder, f"{{name: ea, shape: [4, 4, 4], couplings: file, file: {path}}}",
                    "{model.sample: [0, 1, 2]}", variant=variant, population=200000, sweeps=8,
                    runs=4, beta="{to: 1.0, step: 0.0625}")
                for sample, (seed, (ground, known)) in enumerate(SAMPLES.items()):
                    with self.subTest(seed=seed):
                        self.compare(f"{folder}/{sample}.h5", known)
                        with h5py.File(f"{folder}/{sample}.h5") as file:
                            lowest = 64 * file["summary"].attrs["lowest_energy"]
                        self.assertAlmostEqual(lowest, ground)

    def test_ising_model_of_64_sites(self):
        """Two energies, two free energies: false alarms below 3e-4."""
        for variant in cases.of(self.variants()):
            with self.subTest(variant=variant), gpumc.folder() as folder:
                path = run(folder, "{name: ising3d, shape: [4, 4, 4]}", variant=variant,
                           runs=9, population=1000000, sweeps=5,
                           beta="{to: 0.3, values: [0.08, 0.16, 0.2, 0.22165463, 0.25, 0.275, "
                           "0.3]}")
                self.compare(path, ISING3D)


class NishimoriLine(unittest.TestCase):
    """p = 1/(1 + exp(-2 beta)): the mean of e over the samples is -d tanh(beta), at any size. 250
    samples; the error is that of their scatter. 4 standard errors, false alarms below 7e-5 each; a
    beta 2 % off is rejected."""

    def check(self, shape, beta, variant):
        dimension, samples = len(shape), 250
        with gpumc.folder() as folder:
            probability = 1 / (1 + np.exp(-2 * beta))
            run(folder, f"{{name: ea, shape: {list(shape)}, p: {float(probability)!r}, "
                f"disorder_seed: 20}}",
                f"{{model.sample: {list(range(samples))}}}", population=500, variant=variant,
                beta=f"{{to: {beta}, step: {beta / 8}}}")
            energy = np.array([gpumc.summary(f"{folder}/{s}.h5")["energy"][-1]
                               for s in range(samples)])
        error = energy.std(ddof=1) / np.sqrt(samples)
        deviation = (energy.mean() + dimension * np.tanh(beta)) / error
        self.assertLess(abs(deviation), 4, f"{energy.mean()} +- {error}")
        wrong = (energy.mean() + dimension * np.tanh(1.02 * beta)) / error
        self.assertGreater(abs(wrong), 4, "the test would not see a wrong energy")

    def test_two_dimensions(self):
        for variant in device.served("multispin", "spin", *device.on_gpus("walker")):
            with self.subTest(variant=variant):
                self.check((16, 16), 0.6, variant)

    def test_three_dimensions(self):
        for variant in device.served("multispin", "spin", *device.on_gpus("walker")):
            with self.subTest(variant=variant):
                self.check((6, 6, 6), 0.4, variant)


if __name__ == "__main__":
    device.require()
    cases.main()
