"""Compares result files as users read them."""
from support.gpumc_program import numeric_datasets as numbers


def assert_same_numbers(case, reference, path):
    """Compares byte for byte; the message names the datasets that differ."""
    other = numbers(path)
    case.assertEqual(sorted(reference), sorted(other), f"datasets of {path}")
    differing = [name for name in reference if reference[name] != other[name]]
    case.assertEqual(differing, [], f"{path}: these datasets differ from the uninterrupted run")
    case.assertGreater(len(reference), 5, "the result holds almost nothing")
