"""compare(): the table of `gpumc compare`."""
import conftest
import numpy
import pytest

import gpumc


def test_two_seeds_and_another_model(result_of, folder):
    other, field = folder / "other_seed.h5", folder / "field.h5"
    long = {"device": "cpu", "show": False, "algorithm__population": 3000}
    gpumc.run({**conftest.config_of("pa", other), "seed": 2}, **long)
    gpumc.run({**conftest.config_of("pa", field), "seed": 3}, model__h=0.2, algorithm__reweight=None, **long)
    same = gpumc.compare(result_of("pa"), other)
    assert same.compatible and not same.identical and same.p > same.alpha == 0.01
    a, b = gpumc.read(result_of("pa")), gpumc.read(other)
    energy = same.points[same.points.quantity == "energy"]
    numpy.testing.assert_array_equal(energy.a, a.summary["energy"])
    numpy.testing.assert_array_equal(energy.b_error, b.summary["energy_error"])
    assert same.quantities.loc["energy"].points == len(energy)
    different = gpumc.compare(other, field)
    assert not different.compatible and different.p < 1e-4
    assert any("model.h" in line for line in different.configuration)
    assert gpumc.compare(other, other).identical


def test_nothing_in_common(result_of):
    with pytest.raises(gpumc.ProgramError):
        gpumc.compare(result_of("pa"), result_of("disks"))
