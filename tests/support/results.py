"""Comparing result files as users read them."""
import h5py
import numpy


def numbers(path):
    """Every numeric dataset outside /provenance, as bytes with dtype and shape, by name."""
    found = {}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or name.startswith("provenance"):
            return
        if numpy.issubdtype(item.dtype, numpy.number):
            values = item[()]
            found[name] = (str(item.dtype), item.shape, numpy.asarray(values).tobytes())

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return found


def assert_same_numbers(case, reference, path):
    """Byte for byte; the message names the datasets that differ."""
    other = numbers(path)
    case.assertEqual(sorted(reference), sorted(other), f"datasets of {path}")
    differing = [name for name in reference if reference[name] != other[name]]
    case.assertEqual(differing, [], f"{path}: these datasets differ from the uninterrupted run")
    case.assertGreater(len(reference), 5, "the result holds almost nothing")
