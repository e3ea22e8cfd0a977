"""Results of every algorithm, small, made once by the program (GPUMC_PROGRAM)."""
import json
import subprocess

import pytest

from gpumc import program

PT = {"name": "pt", "beta": {"from": 0.5, "to": 1.25, "count": 5}, "samples": 8, "replicas": 2, "sweeps": 512,
      "exchange_every": 8, "configurations": {"every": 256}}
CONFIGS = {
    "canonical": {
        "model": {"name": "ising3d", "shape": [6, 4, 4]},
        "algorithm": {"name": "canonical", "replicas": 3, "sweeps": 400, "thermalization": 50, "series": True,
                      "beta": {"from": 0.1, "to": 0.3, "count": 4}, "configurations": {"every": 100}}},
    "pt": {"model": {"name": "ea", "shape": [4, 4, 4], "couplings": "bimodal", "disorder_seed": 1}, "algorithm": PT},
    "pa": {
        "model": {"name": "ising2d", "shape": [8, 8]},
        "algorithm": {"name": "pa", "population": 300, "runs": 2, "sweeps": 4, "beta": {"to": 0.5, "step": 0.05},
                      "reweight": {"from": 0.1, "to": 0.4, "step": 0.01}, "configurations": {"every": 5}}},
    "muca": {
        "model": {"name": "ising2d", "shape": [4, 4]},
        "algorithm": {"name": "muca", "walkers": 64, "beta": {"from": 0, "to": 1, "step": 0.1}}},
    "xy": {
        "model": {"name": "heisenberg", "shape": [4, 6], "components": 2},
        "algorithm": {"name": "canonical", "replicas": 2, "sweeps": 200, "thermalization": 50,
                      "beta": {"from": 0.5, "to": 1.0, "count": 3}, "configurations": {"every": 100}},
        "kernel": {"variant": "float"}},
    "heisenberg_glass": {"model": {"name": "heisenberg", "shape": [4, 4, 4], "couplings": "gaussian", "disorder_seed": 1},
                         "algorithm": PT},
    "disks": {
        "model": {"name": "hard_disks", "lattice": [8, 8], "packing_fraction": 0.7},
        "algorithm": {"name": "mpmc", "replicas": 2, "sweeps": 400, "thermalization": 50, "configurations": {"every": 200}}},
    "disks_at_pressure": {
        "model": {"name": "hard_disks", "particles": 100, "packing_fraction": 0.5},
        "algorithm": {"name": "canonical", "control": {"name": "beta_pressure", "values": [2.5, 3]}, "replicas": 2,
                      "sweeps": 400, "thermalization": 50, "configurations": {"every": 200}}},
}


def config_of(name, output):
    return {"gpumc": 1, "seed": 1, **CONFIGS[name], "output": str(output)}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="session")
def result_of(folder):
    """result_of(NAME): the path of that result, made when it is asked for the first time."""
    def made(name):
        path = folder / f"{name}.h5"
        if not path.exists():
            config = folder / f"{name}.yaml"
            config.write_text(json.dumps(config_of(name, path)))
            done = subprocess.run([program.find(), "run", config, "--quiet", "--device=cpu"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return path
    return made
