"""open_campaign() and to_pandas()."""
import json

import conftest
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


def test_grids_that_touch_or_overlap(campaign):
    """Neither order nor completeness depends on how the grids of sizes lie."""
    folder = campaign.parent
    for name, size, low, high in (("touch4", 4, 0.1, 0.2), ("touch6", 6, 0.2, 0.3), ("over6", 6, 0.15, 0.25)):
        gpumc.run({**BASE, "model": {"name": "ising2d", "shape": [size, size]}, "output": str(folder / f"{name}.h5"),
                   "algorithm": {"name": "canonical", "update": "heat_bath", "thermalization": 50, "sweeps": 400,
                                 "beta": {"from": low, "to": high, "step": 0.05}}}, device="cpu", show=False)
    for other, betas in (("touch6", [0.1, 0.15, 0.2, 0.25, 0.3]), ("over6", [0.1, 0.15, 0.2, 0.25])):
        table = gpumc.open_campaign([folder / "touch4.h5", folder / f"{other}.h5"])
        numpy.testing.assert_allclose(table.beta, betas)
        assert table.energy.dims == ("L", "beta") and table.complete.dims == table.trusted.dims == ("L",)
        assert table.complete.all() and numpy.isfinite(table.energy.sel(beta=0.2)).all()
        one = gpumc.read(folder / f"{other}.h5")
        found = table.energy.sel(L=6).dropna("beta")
        numpy.testing.assert_array_equal(found, one.summary["energy"])


def test_levels_of_several_sizes(folder, result_of):
    gpumc.run(conftest.config_of("muca", folder / "muca6.h5"), model__shape=[6, 6], device="cpu", show=False)
    table = gpumc.open_campaign([result_of("muca"), folder / "muca6.h5"])
    assert table.log_dos.dims == ("L", "level_energy")
    for size, path in ((4, result_of("muca")), (6, folder / "muca6.h5")):
        numpy.testing.assert_array_equal(table.log_dos.sel(L=size).dropna("level_energy"), gpumc.read(path).summary["log_dos"])


def test_a_seed_for_each_value_is_no_axis(campaign):
    """The axis is what physics varies; the seed is a coordinate along it."""
    folder = campaign.parent
    for seed, field in ((1, 0.0), (2, 0.1), (3, 0.3)):
        gpumc.run({**BASE, "seed": seed, "output": str(folder / f"h{seed}.h5"),
                   "model": {"name": "ising2d", "shape": [4, 4], "h": field}}, device="cpu", show=False)
    table = gpumc.open_campaign(str(folder / "h?.h5"))
    assert table.energy.dims == ("h", "beta")
    assert table.h.values.tolist() == [0.0, 0.1, 0.3]
    assert table.seed.dims == ("h",) and table.seed.values.tolist() == [1, 2, 3]


def test_a_task_that_is_alone_has_its_axes(campaign):
    folder = campaign.parent
    config = json.loads(campaign.read_text())
    config["output"] = str(folder / "alone-{model.shape}-{seed}.h5")
    path = folder / "alone.yaml"
    path.write_text(json.dumps(config))
    gpumc.run(path, task=2, device="cpu", show=False)
    table = gpumc.open_campaign(path)
    assert dict(table.sizes) == {"L": 2, "seed": 2, "beta": 5}
    assert table.complete.values.tolist() == [[False, False], [True, False]]
    assert len(table.attrs["missing"]) == 3


def test_other_models_and_groups_are_refused(campaign, result_of):
    with pytest.raises(gpumc.ResultError, match="different models or algorithms: .*ising2d"):
        gpumc.open_campaign([result_of("pa"), result_of("disks")])
    with pytest.raises(gpumc.ResultError, match="no group 'summary/nonsense'"):
        gpumc.open_campaign(campaign, group="summary/nonsense")
    with pytest.raises(gpumc.ResultError, match="no group 'nonsense'; choose from: .*summary"):
        gpumc.to_pandas(result_of("pa"), "nonsense")


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
