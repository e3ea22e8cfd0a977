"""Canonical runs of disordered models: one replica for each sample, and many replicas of one sample.

Null: averages are exact. Bounds are four reported standard errors unless stated; seeds are fixed. Negative controls:
couplings of another sample, a temperature 3 % off the Nishimori line.

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
seed: 3
model: {model}
algorithm:
  name: canonical
  beta: {{values: {betas}}}
  {replicas}
  update: {update}
  thermalization: {thermalization}
  sweeps: {sweeps}
  interval: {interval}
  structure_factor: true
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


GLASS = "name: ea, shape: [4, 4], "
BIMODAL_FIELD = "name: ising3d, shape: [4, 2, 2], random_field: {distribution: bimodal, width: 2}"
GAUSSIAN_FIELD = ("name: ising3d, shape: [2, 4, 2], disorder_seed: 5, "
                  "random_field: {distribution: gaussian, width: 2}")


def simulate(folder, **changed):
    values = dict(betas=[0.5], update="heat_bath", thermalization=2000, sweeps=20000, interval=5,
                  variant="multispin", folder=folder)
    values.update(changed)
    gpumc.run_config(CONFIG.format(**values), folder)
    return f"{folder}/out.h5"


class Samples(unittest.TestCase):
    """40 samples of 16 sites by enumeration: every sample's own averages, and the averages over them."""

    BETAS = [0.3, 0.7]
    SAMPLES = 40
    SWEEPS = 20000
    CASES = (("multispin", GLASS + "disorder_seed: 5", 0), ("spin", GLASS + "p: 0.7, h: 0.2", 0.2),
             ("spin", GLASS + "couplings: gaussian", 0))

    def simulate(self, folder, variant, model, replicas=f"samples: {SAMPLES}"):
        return simulate(folder, variant=variant, betas=self.BETAS, replicas=replicas,
                        sweeps=self.SWEEPS, model=f"{{{model}, write_couplings: true}}")

    def enumerate(self, file, field):
        """Returns [samples] of exact curves."""
        couplings = file["disorder/couplings"][...]
        self.assertEqual(len(couplings), self.SAMPLES)
        fields = (file["disorder/fields"][...] if "fields" in file["disorder"]
                  else np.zeros(couplings.shape[:2]))
        shape = tuple(file["disorder/shape"][...])
        return [enumeration.averages(shape, couplings[r], fields[r] + field, self.BETAS)
                for r in range(self.SAMPLES)]

    def check_samples(self, file, exact):
        """Replica r has the r-th sample. 20,000 sweeps of 40 samples at two temperatures: errors of the energies are
        below 0.004 at an autocorrelation time of 20 sweeps or less, so differences are below 0.02; other samples differ
        by 0.05 and more in the mean."""
        for m in range(len(self.BETAS)):
            found = file[f"runs/{m:04d}/replicas/energy"][...]
            energies = np.array([curves["energy"][m] for curves in exact])
            self.assertLess(np.abs(found - energies).max(), 0.02)
        self.assertGreater(np.abs(found - np.roll(energies, 1)).mean(), 0.05)

    def check_averages(self, summary, exact):
        """The averages are over these 40 samples: they differ from the exact ones by less than the reported errors,
        which include the scatter of the samples."""
        mean = {name: np.mean([curves[name] for curves in exact], axis=0) for name in exact[0]}
        mean["binder_parameter"] = 1 - mean["magnetization4"] / (3 * mean["magnetization2"] ** 2)
        for name in ("energy", "abs_magnetization", "magnetization2", "magnetization4",
                     "structure_factor", "binder_parameter"):
            self.assertTrue((np.abs(summary[name] - mean[name]) < summary[name + "_error"]).all(),
                            f"{name}: {summary[name]} instead of {mean[name]}")
        scatter = np.std([curves["energy"] for curves in exact], axis=0, ddof=1)
        ratio = summary["energy_error"] / (scatter / np.sqrt(self.SAMPLES))
        self.assertTrue((np.abs(ratio - 1) < 0.1).all(), ratio)

    def test_each_sample(self):
        for variant, model, field in cases.of(self.CASES):
            if variant not in device.variants():
                continue
            with self.subTest(variant=variant, model=model), gpumc.folder() as folder:
                path = self.simulate(folder, variant, model)
                with h5py.File(path) as file:
                    exact = self.enumerate(file, field)
                    self.check_samples(file, exact)
                    self.check_averages(gpumc.summary(path), exact)

    def test_specific_heat_is_connected_in_each_sample(self):
        with gpumc.folder() as folder:
            path = simulate(folder, variant=device.served("multispin", "spin")[0], betas=self.BETAS,
                            replicas=f"samples: {self.SAMPLES}\n  series: true", sweeps=2000,
                            model="{name: ea, shape: [4, 4], disorder_seed: 5}")
            with h5py.File(path) as file:
                for m, beta in enumerate(self.BETAS):
                    energy = file[f"runs/{m:04d}/energy"][...]
                    self.assertEqual(energy.shape, (400, self.SAMPLES))
                    squares = energy[:200].mean(0) * energy[200:].mean(0)
                    heat = 16 * beta ** 2 * ((energy ** 2).mean() - squares.mean())
                    self.assertAlmostEqual(file["summary/specific_heat"][m], heat, delta=1e-11)


class ShortSeries(unittest.TestCase):
    """The variance in a sample's time series is low by 2 tau/n; the specific heat must not be. All samples are the
    ferromagnet (p: 1), so the exact value is known. Control: without the correction."""

    def simulate(self, folder, samples, sweeps, beta=0.4):
        path = simulate(folder, model="{name: ea, shape: [4, 4], p: 1}", betas=[beta], interval=1,
                        sweeps=sweeps, thermalization=500, replicas=f"samples: {samples}",
                        variant=device.served("multispin", "spin")[0])
        with h5py.File(path) as file:
            replicas = file["runs/0000/replicas"]
            variance = (replicas["energy2"][...] - replicas["energy"][...] ** 2).mean()
            return 16 * beta ** 2 * variance, gpumc.summary(path), gpumc.attributes(file["summary"])

    def test_specific_heat(self):
        exact = gpumc.enumerate_ising(4, 4, 0.0, [0.4])[2][0]
        for sweeps in 400, 401:
            with self.subTest(sweeps=sweeps), gpumc.folder() as folder:
                plain, found, remarks = self.simulate(folder, 4000, sweeps)
                error = found["specific_heat_error"][0]
                deviations = [(value - exact) / error for value in (found["specific_heat"][0], plain)]
                print(f"{sweeps} sweeps: {deviations[0]:+.2f} errors, uncorrected {deviations[1]:+.2f}")
                self.assertLess(abs(deviations[0]), 3)
                self.assertLess(deviations[1], -4)
                self.assertNotIn("specific_heat_warning", remarks)

    def test_too_short_a_series_is_flagged(self):
        with gpumc.folder() as folder:
            _, _, remarks = self.simulate(folder, 4000, 40)
        self.assertEqual(remarks["trusted"], 0)
        self.assertIn("1 of 1 temperatures", remarks["specific_heat_warning"])

    def test_too_few_samples_are_flagged(self):
        """So hot that one replica of each sample meets no barrier; the colder run is not trusted for that reason."""
        for samples, beta in (2, 0.25), (3, 0.25), (16, 0.25), (16, 0.4):
            with self.subTest(samples=samples, beta=beta), gpumc.folder() as folder:
                _, found, remarks = self.simulate(folder, samples, 4000, beta)
                self.assertEqual(np.isnan(found["energy_error"][0]), samples < 16)
                self.assertEqual(remarks["trusted"], int(samples == 16 and beta == 0.25))
                self.assertEqual("samples_warning" in remarks, samples < 16)
                self.assertEqual("replicas_warning" in remarks, beta == 0.4)


class RandomFields(Samples):
    """For ising3d. Energies scatter four times as much as those of the glass: ten times the sweeps; no colder than beta
    = 0.3, where 16 spins still flip often."""

    BETAS = [0.15, 0.3]
    SWEEPS = 200000
    CASES = (("multispin", BIMODAL_FIELD, 0), ("spin", GAUSSIAN_FIELD + ", h: 0.2", 0.2))

    def test_samples_of_a_random_field_are_those_of_runs_of_one(self):
        """Fields bit for bit; energies less than 0.02 apart, see check_samples."""
        with gpumc.folder() as several, gpumc.folder() as one:
            with h5py.File(self.simulate(several, "spin", GAUSSIAN_FIELD)) as file:
                fields = file["disorder/fields"][...]
                energies = file["runs/0001/replicas/energy"][...]
            for sample in range(2):
                path = self.simulate(one, "spin", f"{GAUSSIAN_FIELD}, sample: {sample}",
                                     "replicas: 32")
                with h5py.File(path) as file:
                    np.testing.assert_array_equal(file["disorder/fields"][...],
                                                  fields[sample:sample + 1])
                    self.assertLess(abs(file["summary/energy"][1] - energies[sample]), 0.02)
                pathlib.Path(path).unlink()
            self.assertGreater(abs(energies[0] - energies[1]), 0.05)


class KnownSamples(unittest.TestCase):
    """4^3, PHYSICS.md: by seed of splitmix64 e at beta = 0.5 and 1; ising3d at two temperatures."""

    SAMPLES = {1: [-1.29637048709690, -1.64755701573054], 2: [-1.37872890048442, -1.69513902171966]}

    def compare(self, path, energies):
        """Errors below 2e-4."""
        summary = gpumc.summary(path)
        self.assertLess(summary["energy_error"].max(), 2e-4)
        deviation = gpumc.in_errors(summary, "energy", energies)
        print(path, deviation, summary["energy_error"])
        self.assertLess(np.abs(deviation).max(), 4, deviation)
        return deviation

    def test_spin_glass_of_64_sites(self):
        for variant in cases.of(device.served("multispin", "spin")):
            with self.subTest(variant=variant), gpumc.folder() as folder:
                path = pathlib.Path(folder) / "couplings.txt"
                path.write_text(splitmix_couplings.text_file([4, 4, 4], self.SAMPLES))
                for sample, (_, energies) in enumerate(self.SAMPLES.items()):
                    model = (f"{{name: ea, shape: [4, 4, 4], couplings: file, file: {path}, "
                             f"sample: {sample}}}")
                    result = simulate(folder, model=model, betas=[0.5, 1.0], variant=variant,
                                      replicas="replicas: 128", sweeps=100000, interval=10)
                    self.compare(result, energies)
                    pathlib.Path(result).unlink()
                with self.assertRaises(AssertionError):
                    self.compare(simulate(folder, model=model, betas=[0.5, 1.0], variant=variant,
                                          replicas="replicas: 128", sweeps=100000, interval=10),
                                 self.SAMPLES[1])

    def test_ising_model_of_64_sites(self):
        for variant, update in cases.of([("multispin", "metropolis"), ("spin", "heat_bath")]):
            if variant not in device.variants():
                continue
            with self.subTest(variant=variant, update=update), gpumc.folder() as folder:
                self.compare(simulate(folder, model="{name: ising3d, shape: [4, 4, 4]}",
                                      betas=[0.22165463, 0.3], variant=variant, update=update,
                                      replicas="replicas: 1024", sweeps=100000, interval=10),
                             [-1.29322802048205, -2.51507346281203])


class NishimoriLine(unittest.TestCase):
    """p = 1/(1 + exp(-2 beta)): the mean of e over the samples is -d tanh(beta), at any size, with the reported error.
    1000 samples; a beta 3 % off is rejected."""

    def check(self, shape, beta, variant):
        probability = 1 / (1 + np.exp(-2 * beta))
        with gpumc.folder() as folder:
            summary = gpumc.summary(simulate(
                folder, variant=variant, betas=[beta], replicas="samples: 1000", sweeps=2000,
                interval=10, model=f"{{name: ea, shape: {list(shape)}, p: {float(probability)!r}}}"))
        energy, error = summary["energy"][0], summary["energy_error"][0]
        exact = -len(shape) * np.tanh(beta)
        print(f"Nishimori line {shape} {variant}: {energy:.5f} +- {error:.5f}, exact {exact:.5f}")
        self.assertLess(abs(energy - exact), 4 * error)
        self.assertGreater(abs(energy + len(shape) * np.tanh(1.03 * beta)), 4 * error)

    def test_two_and_three_dimensions(self):
        for shape, beta in ((16, 16), 0.6), ((6, 6, 6), 0.4):
            for variant in device.served("multispin", "spin"):
                with self.subTest(shape=shape, variant=variant):
                    self.check(shape, beta, variant)


if __name__ == "__main__":
    device.require()
    cases.main()
