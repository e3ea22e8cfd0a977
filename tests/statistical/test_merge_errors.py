"""The errors that tools/merge-pt gives to merged distributions are right: over 40000 simulated merges of
known files, mean/error has variance 1.

Null, where errors of the files are known and add up: mean/error is a Gaussian number of variance 1. Where the
scatter of the files tells the error: it is Student's t with one degree of freedom less than there are
files, scaled to variance 1; so the share of mean/error below 1 is tested, and its variance, from 12 files on,
where its own error exists and is small. Every number lies within 3.9 of its standard deviations (false alarm
1e-4). Controls: files that are equally exact though their numbers of samples are not equal, and Student's factor left out.
"""
import importlib.machinery
import importlib.util
import math
import pathlib
import sys
import types
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

REPEATS, DEVIATIONS = 40000, 3.9
COUNTS = [np.full(4, 8), np.array([4, 4, 8, 16]), np.full(5, 3), np.array([1, 2, 3, 4, 5, 6, 7]),
          np.full(12, 4), np.array([1, 2, 4, 8] * 3), np.full(20, 2), np.arange(1, 21)]


def merge_pt():
    """The program as a module."""
    loader = importlib.machinery.SourceFileLoader("merge_pt", str(ROOT / "tools" / "merge-pt"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("merge_pt", loader))
    loader.exec_module(module)
    return module


MERGE = merge_pt()


def merged(counts, errors, errors_from, noise):
    """mean/error of merges of files with so many samples and errors around 0: one for each bin."""
    parts = [types.SimpleNamespace(count=count, attributes={"errors_from": errors_from}, distributions={
        "overlap_distribution": {"probability": error * noise.normal(size=REPEATS),
                                 "probability_error": np.full(REPEATS, error)}})
        for count, error in zip(counts, errors)]
    found = MERGE.merge_distributions(parts)["overlap_distribution"]
    return found["probability"] / found["probability_error"]


def student_share(freedom):
    """Probability that a t of variance 1 is below 1."""
    end = math.sqrt(freedom / (freedom - 2))
    width = end / 10000
    t = (np.arange(10000) + 0.5) * width
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return 2 * scale * width * float(np.sum((1 + t ** 2 / freedom) ** (-(freedom + 1) / 2)))


class Merged(unittest.TestCase):
    def deviation(self, title, measured, expected, variance):
        """From what is expected, in standard deviations."""
        found = (measured - expected) / math.sqrt(variance / REPEATS)
        print(f"{title}: {measured:.4f}, expected {expected:.4f}, {found:+.2f} standard deviations")
        return found

    def share(self, counts, z):
        expected = student_share(len(counts) - 1)
        return self.deviation(f"scatter of {counts}: share", np.mean(np.abs(z) < 1), expected,
                              expected * (1 - expected))

    def test_files_that_do_not_scatter(self):
        """They give no error, not even that of a bin where nothing was counted."""
        parts = [types.SimpleNamespace(count=2, attributes={"errors_from": "time"}, distributions={
            "overlap_distribution": {"probability": np.array([0, 32, 1 + i]), "probability_error": np.zeros(3)}})
            for i in range(4)]
        error = MERGE.merge_distributions(parts)["overlap_distribution"]["probability_error"]
        np.testing.assert_array_equal(np.isnan(error), [True, True, False])
        self.assertTrue(error[2] > 0)

    def test_from_the_scatter_of_files(self):
        noise = np.random.default_rng(1)
        for counts in COUNTS:
            with self.subTest(counts=counts):
                z = merged(counts, counts ** -0.5, "time", noise)
                self.assertLess(abs(self.share(counts, z)), DEVIATIONS)
                if len(counts) >= 12:
                    spread = 2 + 6 / (len(counts) - 5)  # of the squares
                    self.assertLess(abs(self.deviation(f"scatter of {counts}: variance", np.mean(z ** 2), 1,
                                                       spread)), DEVIATIONS)

    def test_from_errors_of_samples(self):
        """Also where these are not as the number of samples says."""
        noise = np.random.default_rng(2)
        for counts in COUNTS + [np.array([8]), np.array([8, 24])]:
            for errors in counts ** -0.5, noise.uniform(0.5, 2, len(counts)):
                with self.subTest(counts=counts, errors=errors):
                    z = merged(counts, errors, "samples", noise)
                    self.assertLess(abs(self.deviation(f"errors of {counts}: variance", np.mean(z ** 2), 1, 2)),
                                    DEVIATIONS)

    def test_fewer_than_four_files_have_no_scatter(self):
        for count in 1, 2, 3:
            z = merged(np.full(count, 8), np.ones(count), "time", np.random.default_rng(3))
            self.assertTrue(np.isnan(z).all())

    def test_controls_are_rejected(self):
        noise, counts = np.random.default_rng(4), np.arange(1, 21)
        z = merged(counts, np.ones(20), "time", noise)
        self.assertGreater(abs(self.share(counts, z)), DEVIATIONS)
        z = merged(counts, counts ** -0.5, "time", noise) * math.sqrt(19 / 17)
        self.assertGreater(abs(self.share(counts, z)), DEVIATIONS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
