"""Every configuration under configs/ is valid as it stands, and runs, shortened, to a complete file.

CTest: long, cases 4 s
"""
import glob
import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import yaml

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CONFIGS = sorted(glob.glob(os.path.join(ROOT, "configs", "**", "*.yaml"), recursive=True))
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import gpumc as package  # noqa: E402
from support import cases, device  # noqa: E402
from support.shortened import POPULATION, shortened  # noqa: E402


def gpumc(*arguments, folder=ROOT):
    return subprocess.run([device.PROGRAM, *arguments], capture_output=True, text=True, cwd=folder,
                          stdin=subprocess.DEVNULL)


# Correlation lengths, with N times which average and which structure factor they compare.
LENGTHS = [("correlation_length", "magnetization2", "structure_factor"),
           ("correlation_length_overlap", "overlap2", "overlap_structure_factor")]


def levels_seen_once(result):
    """Levels of energy of which the histograms of all temperatures have one count, by eq. 9 backwards: no
    second block of families can have seen them."""
    energy, log_dos = (result.summary["reweighted/" + name] for name in ("level_energy", "log_dos"))
    beta, sites = result.summary["beta"], math.prod(result.config["model"]["shape"])
    replicas = sum(run["population"] for run in result.runs)
    log_weight = sites * result.summary["beta_free_energy"] - np.outer(energy, beta)
    counts = np.exp(log_dos) * (replicas * np.exp(log_weight)).sum(axis=1)
    np.testing.assert_allclose(counts, np.rint(counts), rtol=1e-6)
    assert counts.min() > 0.5 and counts.sum() < 1.000001 * replicas.sum()
    return np.rint(counts) == 1


# What no longer fluctuates once every replica is in a ground state of a ferromagnet.
GROUND_STATE_AVERAGES = ("energy", "specific_heat", "abs_magnetization", "magnetization2",
                         "magnetization4", "binder_parameter")


class Configs(unittest.TestCase):
    maxDiff = None

    def test_there_are_some(self):
        self.assertGreaterEqual(len(CONFIGS), 5)

    def test_valid_as_they_stand(self):
        result = gpumc("validate", *CONFIGS)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_editors_find_the_schema(self):
        mark = "# yaml-language-server: $schema="
        for path in CONFIGS:
            with self.subTest(os.path.relpath(path, ROOT)), open(path) as file:
                first = file.readline().rstrip("\n")
                self.assertTrue(first.startswith(mark), first)
                schema = os.path.normpath(os.path.join(os.path.dirname(path), first[len(mark):]))
                self.assertEqual(schema, os.path.join(ROOT, "schemas", "gpumc.schema.json"))
                self.assertTrue(os.path.exists(schema), schema)

    def test_run_shortened(self):
        for path in cases.of(CONFIGS):
            with self.subTest(os.path.relpath(path, ROOT)), tempfile.TemporaryDirectory() as folder:
                self.run_shortened(path, folder)

    def run_shortened(self, path, folder):
        with open(path) as file:
            config = yaml.safe_load(file)
        changes, options = shortened(config)
        result = gpumc("run", path, *options, "--device", device.NAME, "--quiet", folder=folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        tasks = math.prod(len(values) for values in changes.get("campaign", {}).values())
        files = glob.glob(os.path.join(folder, "results", "**", "*.h5"), recursive=True)
        self.assertEqual(len(files), tasks, files)
        for file in files:
            self.check_result(package.read(file), config)

    def check_result(self, result, config):
        self.assertTrue(result.is_complete)
        self.assertEqual(result.title, config["title"])
        self.assertEqual(result.config["model"]["name"], config["model"]["name"])
        self.assertEqual(result.config["algorithm"].get("population"),
                         POPULATION if "population" in config["algorithm"] else None)
        for name in result.quantities():
            if name + "_error" not in result.summary:
                continue
            error = result.summary[name + "_error"]
            with self.subTest(name):
                unknown = self.unknown_errors(result, name)
                np.testing.assert_array_equal(np.isnan(error), unknown)
                self.assertTrue((error[~unknown] >= 0).all(), error)

    def unknown_errors(self, result, name):
        """Where the error must be NaN, by docs/statistics.md and docs/file-format.md."""
        if name == "reweighted/log_dos":
            return levels_seen_once(result)
        for length, second, factor in LENGTHS:
            if name == length:
                return self.undetermined_lengths(result, length, second, factor)
        values = result.summary[name]
        if name.endswith("_distribution/probability"):
            return values == 0
        if name.startswith("microcanonical/"):  # of levels that no two blocks of so short a run have measured
            error = result.summary[name + "_error"]
            self.assertFalse(np.isnan(error[~np.isnan(values)]).all())
            return np.isnan(error)
        if name.endswith("_bin_mean"):  # of bins with no state that was measured, or with one energy
            error = result.summary[name + "_error"]
            self.assertFalse(np.isnan(error).all())
            self.assertTrue(np.isnan(error[np.isnan(values)]).all())
            return np.isnan(error)
        if name == "volume_beyond":  # what did not fluctuate is undetermined
            return values == 0
        if {"range_warning", "bin_warning"} & set(result.remarks) or name == "windows/tilt":
            return np.isnan(values)
        # Samples of a glass have ground states of different energies.
        frozen = ("specific_heat",) if result.config["model"]["name"] == "ea" else GROUND_STATE_AVERAGES
        if name in frozen and "specific_heat" in result.summary:
            return (result.summary["specific_heat"] == 0) & (result.summary["beta"] > 0)
        return np.zeros(values.shape, bool)

    def undetermined_lengths(self, result, length, second, factor):
        """xi is NaN where S(k) exceeds N <m^2>, and nowhere else; so is its error there, and where this
        happens in a jackknife sample, which is no farther off than about one error."""
        summary = result.summary
        m2, s = (summary[name] for name in (second, factor))
        m2_error, s_error = (summary[name + "_error"] for name in (second, factor))
        sites = math.prod(result.config["model"]["shape"])
        undetermined = sites * m2 < s
        np.testing.assert_array_equal(np.isnan(summary[length]), undetermined)
        near = sites * (m2 - 2 * m2_error) < s + 2 * s_error
        return undetermined | near & np.isnan(summary[length + "_error"])


if __name__ == "__main__":
    device.require()
    unittest.main()
