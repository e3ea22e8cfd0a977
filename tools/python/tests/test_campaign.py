"""open_campaign() and to_pandas()."""
import json

import numpy
import pytest

import gpumc

BASE = {"gpumc": 1, "seed": 1, "model": {"name": "ising2d", "shape": [4, 4]},
        "algorithm": {"name": "pa", "population": 2000, "sweeps": 2, "beta": {"to": 0.2, "step": 0.05}}}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """The configuration of sizes and seeds, all run but the last task."""
    folder = tmp_path_factory.mktemp("campaign")
    config = {**BASE, "output": str(folder / "{model.shape}-{seed}.h5"),
              "campaign": {"model.shape": [[4, 4], [8, 8]], "seed": [5, 6]}}
    path = folder / "campaign.yaml"
    path.write_text(json.dumps(config))
    job = gpumc.run(path, task="0-2", device="cpu", show=False)
    assert len(job.outputs) == 3
    return path


def test_axes_and_what_is_missing(campaign):
    table = gpumc.open_campaign(campaign)
    assert dict(table.sizes) == {"L": 2, "seed": 2, "beta": 5}
    assert table.attrs["missing"] == [str(campaign.parent / "8x8-6.h5")]
    assert table.complete.values.tolist() == [[True, True], [True, False]]
    assert numpy.isnan(table.energy.sel(L=8, seed=6)).all()
    one = gpumc.read(campaign.parent / "4x4-6.h5")
    numpy.testing.assert_array_equal(table.energy.sel(L=4, seed=6), one.summary["energy"])
    numpy.testing.assert_array_equal(table.energy_error.sel(L=4, seed=6), one.summary["energy_error"])
    assert table.rho_t_maximum.sel(L=4, seed=6) == one.remarks["rho_t_maximum"]
    assert table.energy.attrs["units"] == "J"


def test_of_files(campaign):
    of_pattern = gpumc.open_campaign(str(campaign.parent / "4x4-*.h5"))
    assert dict(of_pattern.sizes) == {"seed": 2, "beta": 5}
    of_list = gpumc.open_campaign([campaign.parent / "4x4-5.h5", campaign.parent / "8x8-5.h5"])
    assert dict(of_list.sizes) == {"L": 2, "beta": 5}
    assert dict(gpumc.open_campaign([campaign.parent / "4x4-5.h5"]).sizes) == {"beta": 5}


def test_other_grids_are_joined(campaign):
    folder = campaign.parent
    for name, shape, step in (("a", [6, 4], 0.1), ("b", [4, 6], 0.05)):
        config = {**BASE, "model": {"name": "ising2d", "shape": shape}, "output": str(folder / f"{name}.h5")}
        gpumc.run(config, algorithm__beta__step=step, device="cpu", show=False)
    table = gpumc.open_campaign([folder / "a.h5", folder / "b.h5"])
    assert sorted(table["shape"].values.tolist()) == ["4x6", "6x4"]
    assert table.sizes["beta"] == 5
    assert numpy.isnan(table.energy.sel(shape="6x4", beta=0.05))


def test_refused(campaign):
    with pytest.raises(gpumc.ResultError, match="no such file"):
        gpumc.open_campaign("nowhere/*.h5")
    with pytest.raises(gpumc.ResultError, match="of one configuration"):
        gpumc.open_campaign([campaign.parent / "4x4-5.h5"] * 2)


def test_pandas(campaign, result_of):
    frame = gpumc.to_pandas(gpumc.open_campaign(campaign))
    row = frame[(frame.L == 4) & (frame.seed == 5)].iloc[2]
    one = gpumc.read(campaign.parent / "4x4-5.h5")
    assert (row.energy, row.energy_error) == (one.summary["energy"][2], one.summary["energy_error"][2])
    curves = gpumc.to_pandas(result_of("muca"))  # curves over beta, and not the levels of the density of states
    assert "energy" in curves and "log_dos" not in curves and len(curves) == 11
    assert len(gpumc.to_pandas(result_of("pa"), "summary/reweighted")) == 31
    assert len(gpumc.to_pandas(result_of("disks"))) == 1
