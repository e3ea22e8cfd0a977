"""gpumc.open() of the results of every algorithm, against h5py and gpumc.configurations()."""
import json
import subprocess
import time

import conftest
import h5py
import numpy
import pytest

import gpumc
from gpumc import hard_disks, program


def moved_to_the_root(group):
    """Groups whose axes have other grids than those above them: reweighted curves, bins beside their series."""
    if group.endswith("/bins"):
        return f"bins/{group.split('/')[1]}"
    return "reweighted" if group == "summary/reweighted" else group


@pytest.mark.parametrize("name", conftest.CONFIGS)
def test_every_number_of_the_file(result_of, name):
    """All datasets are in the tree as they are in the file, with unit and name; each quantity beside its error."""
    path = result_of(name)
    compared = 0
    with gpumc.open(path) as tree, h5py.File(path) as file:
        def compare(where, item):
            nonlocal compared
            if not isinstance(item, h5py.Dataset) or where.startswith("configurations/") or not item.shape:
                return
            group, _, own = where.rpartition("/")
            node = tree[moved_to_the_root(group) if name in ("pa", "canonical") else group]
            numpy.testing.assert_array_equal(node[own].values, item[()], err_msg=where)
            assert node[own].attrs["units"] == item.attrs["units"].decode()
            assert node[own].attrs["long_name"]
            compared += 1

        file.visititems(compare)
        summary = tree["summary"].dataset
        quantity = "energy" if "energy" in summary else "psi6"
        assert summary[f"{quantity}_error"].dims == summary[quantity].dims
        assert tree["summary"].attrs["trusted"] in (0, 1)
        assert tree["provenance"].attrs["program_version"]
        assert json.loads(tree["config/resolved"].item())["seed"] == 1
    assert compared >= 3


def test_axes_are_coordinates(result_of):
    with gpumc.open(result_of("pa")) as tree:
        assert tree["summary"].energy.dims == ("beta",)
        assert tree["summary"].energy.sel(beta=0.3, method="nearest").ndim == 0
        assert tree["reweighted"].sizes["beta"] == 31 != tree["summary"].sizes["beta"]
        assert tree["runs/0001/blocks"].energy.dims == ("beta", "block")
    with gpumc.open(result_of("pt")) as tree:
        assert tree["samples"].energy.dims == ("sample", "beta")
        assert tree["runs/0000"].energy.dims == ("sweep", "temperature")


def test_numbers_that_turn_out_to_be_damaged(result_of, tmp_path):
    """The index of their chunks is read with them."""
    path, data = tmp_path / "damaged.h5", bytearray(result_of("canonical").read_bytes())
    with h5py.File(result_of("canonical")) as file:
        place = file["configurations/bytes"].id.get_chunk_info(0).byte_offset
    data[data.index(place.to_bytes(8, "little"))] ^= 1
    path.write_bytes(data)
    gpumc.seal(path)
    with gpumc.open(path) as tree, pytest.raises(gpumc.ResultError, match="damaged.h5: damaged: numbers of it cannot be read"):
        tree["configurations"].spins.values


def test_numbers_are_read_when_they_are_used(result_of, monkeypatch):
    read = []
    item = h5py.Dataset.__getitem__
    monkeypatch.setattr(h5py.Dataset, "__getitem__", lambda self, *key: read.append(self.name) or item(self, *key))
    with gpumc.open(result_of("canonical")) as tree:
        assert "/configurations/bytes" not in read and "/summary/energy" not in read
        tree["summary"].energy.values
        assert "/summary/energy" in read and "/summary/specific_heat" not in read


@pytest.mark.parametrize("name", ["canonical", "pt"])
def test_spins(result_of, name):
    path = result_of(name)
    sweeps, spins = gpumc.configurations(path)
    with gpumc.open(path) as tree:
        found = tree["configurations"]
        numpy.testing.assert_array_equal(found.spins.values, spins)
        numpy.testing.assert_array_equal(found.spins[1, 1:3, ..., 0].values, spins[1, 1:3, ..., 0])
        numpy.testing.assert_array_equal(found.spins.isel(sweep=-1, beta=[2, 0]).values, spins[-1, [2, 0]])
        numpy.testing.assert_array_equal(found.sweep, sweeps)
        one = found.spins.sel(sweep=sweeps[0]).sel(beta=tree["summary"].beta[1])
        numpy.testing.assert_array_equal(one.values, spins[0, 1])


def test_a_part_of_the_spins_reads_a_part_of_the_rows(result_of, monkeypatch):
    rows = []
    item = h5py.Dataset.__getitem__

    def spy(self, key):
        values = item(self, key)
        if self.name == "/configurations/bytes":
            rows.append(len(values))
        return values

    with gpumc.open(result_of("canonical")) as tree:
        monkeypatch.setattr(h5py.Dataset, "__getitem__", spy)
        tree["configurations"].spins[1, 2].values
    assert sum(rows) == 3  # replicas


def test_populations(result_of):
    path = result_of("pa")
    betas, spins, families = gpumc.configurations(path)
    with gpumc.open(path) as tree:
        found = tree["configurations"]
        of_run = found.spins.isel(configuration=numpy.flatnonzero((found.run == 1) & numpy.isclose(found.beta, betas[-1])))
        numpy.testing.assert_array_equal(of_run.values, spins[-1][1])
        numpy.testing.assert_array_equal(of_run.family, families[-1][1])


@pytest.mark.parametrize("name, components", [("xy", 2), ("heisenberg_glass", 3)])
def test_vectors_are_unit_vectors(result_of, name, components):
    with gpumc.open(result_of(name)) as tree:
        vectors = tree["configurations"].vectors
        assert vectors.sizes["component"] == components
        numpy.testing.assert_allclose((vectors**2).sum("component"), 1, atol=1e-5)
        assert abs(float(vectors.mean())) < 0.2


@pytest.mark.parametrize("name", ["disks", "disks_at_pressure"])
def test_disks(result_of, name):
    path = result_of(name)
    known = hard_disks.read(path)
    with gpumc.open(path) as tree:
        found = tree["configurations"]
        numpy.testing.assert_array_equal(found.positions.values.reshape(known.positions.shape), known.positions)
        assert (found.positions < found.box).all() and (found.positions >= 0).all()
    assert known.positions.shape[1] == (2 if name == "disks" else 4)  # replicas, at each pressure


def test_running_files(folder):
    """A stopped run's working file opens with the rows that all datasets have."""
    config = conftest.config_of("pt", folder / "stopped.h5")
    config["algorithm"] = {**config["algorithm"], "sweeps": 2**26}
    job = gpumc.run(config, max_time="2 s", device="cpu", show=False)
    assert job.stopped
    with gpumc.open(folder / "stopped.h5.partial") as tree:
        assert tree.attrs["complete"] == 0
        assert "summary" not in tree.children or "energy" not in tree["summary"]
        assert tree["runs/0000"].energy.sizes["sweep"] > 3
        assert numpy.isfinite(tree["runs/0000"].energy.values).all()
        assert tree["configurations"].spins.ndim == 7


def test_many_runs_take_time_in_proportion(folder):
    """A hundred runs are read in seconds (once, it was minutes)."""
    config = conftest.config_of("pa", folder / "many.h5")
    config["algorithm"] = {**config["algorithm"], "runs": 100, "population": 50}
    del config["algorithm"]["configurations"]
    gpumc.run(config, device="cpu", show=False)
    began = time.process_time()
    assert len(gpumc.read(folder / "many.h5").runs) == 100
    with gpumc.open(folder / "many.h5") as tree:
        assert len(tree["runs"].children) == 100
    assert time.process_time() - began < 30


def test_merged_files(folder, result_of):
    second, merged = folder / "second.h5", folder / "merged.h5"
    with pytest.warns(UserWarning, match="independent families"):  # of so small a population
        gpumc.run({**conftest.config_of("pa", second), "seed": 2}, device="cpu", show=False)
    done = subprocess.run([program.find(), "merge", merged, result_of("pa"), second], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with gpumc.open(merged) as tree:
        assert {"0000", "0001", "0002", "0003"} <= set(tree["runs"].children)
        assert (tree["summary"].energy_error > 0).all()


def test_what_is_no_result_is_refused(folder, result_of):
    damaged = folder / "damaged.h5"
    contents = bytearray(result_of("muca").read_bytes())
    contents[len(contents) // 2] ^= 1
    damaged.write_bytes(contents)
    with pytest.raises(gpumc.ResultError, match="damaged"):
        gpumc.open(damaged)
    with pytest.raises(gpumc.ResultError, match="No such file"):
        gpumc.open(folder / "none.h5")
