"""Result files made by hand with h5py in the documented format, for tests of the Python tools."""
import json
import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "python"))
import gpumc  # noqa: E402
from gpumc import ising2d_exact  # noqa: E402

LABELS = {
    "beta": ("inverse temperature", "1/J", "β"),
    "energy": ("energy per site", "J", "e"),
    "specific_heat": ("specific heat per site", "k_B", "C"),
    "abs_magnetization": ("absolute magnetization per site", "1", "<|m|>"),
    "beta_free_energy": ("free energy over kT per site or particle", "1", "βF/N"),
    "entropy": ("entropy per site", "k_B", "S/N"),
    "level_energy": ("energy of the whole system", "J", "E"),
    "energy_bin": ("middle of a bin of the energy of the whole system", "J", "E"),
    "energy_bin_mean": ("mean energy of the states in a bin, of the whole system", "J", "E"),
    "psi6": ("|psi_6|", "1", "|Ψ_6|"),
    "log_dos": ("logarithm of the density of states", "1", "ln Ω"),
}


def write(path, shape=(16, 16), h=0.0, complete=1, seed=1, reweighted=False, trusted=1,
          title="2D Ising", libver=None):
    """Writes a population-annealing result: exact curves of the finite lattice, with Gaussian noise as large as the
    errors it states."""
    betas = np.linspace(0.0, 1.0, 41)
    noise = np.random.default_rng(seed)
    config = {"gpumc": 1, "seed": seed, "model": {"name": "ising2d", "shape": list(shape), "J": 1.0,
                                                  "h": h}, "algorithm": {"name": "pa"},
              "output": str(path)}
    with h5py.File(path, "w", libver=libver) as file:
        file.attrs.update({"format": "gpumc-results", "format_version": 1, "program_version": "0.2.0",
                           "title": title, "complete": complete})
        file["config/source"] = "gpumc: 1\n"
        file["config/resolved"] = json.dumps(config)
        file.create_group("provenance").attrs.update({"host": "node", "resumes": 2})
        for index in range(2):
            table(file, f"runs/{index:04d}", betas, curves(betas, shape, noise, with_errors=False))
        if complete:
            table(file, "summary", betas, curves(betas, shape, noise))
            file["summary/scalar"] = 3.5
            file["summary"].attrs.update({"trusted": trusted, "rho_t_maximum": 12.5})
            if not trusted:
                file["summary"].attrs["warning"] = "the population is too small"
            if reweighted:
                fine = np.linspace(0.40, 0.48, 81)
                table(file, "summary/reweighted", fine, curves(fine, shape, noise, noisy=False))
                density = np.array(ising2d_exact.density_of_states(4, 4)[4:9], dtype=float)
                table(file, "summary/reweighted", np.arange(-16.0, 4.0, 4.0),
                      {"log_dos": np.log(density), "log_dos_error": np.full(5, 0.1)},
                      "level_energy")
    gpumc.seal(path)
    return path


def curves(betas, shape, noise, with_errors=True, noisy=True):
    log_z, energy, heat = ising2d_exact.kaufman(*shape, betas)
    values = {"energy": (energy, 0.01), "specific_heat": (heat, 0.03),
              "beta_free_energy": (-log_z, 0.002), "entropy": (betas * energy + log_z, 0.004),
              "abs_magnetization": (1 / (1 + np.exp(-20 * (betas - 0.44))), 0.01)}
    columns = {}
    for name, (exact, scale) in values.items():
        error = scale * (0.2 + np.exp(-60 * (betas - 0.44) ** 2))
        columns[name] = exact + (error * noise.standard_normal(betas.size) if noisy else 0)
        if with_errors:
            columns[name + "_error"] = error
    return columns


def table(file, group, axis, columns, axis_name="beta"):
    scale = dataset(file, group, axis_name, axis)
    scale.make_scale(axis_name)
    for name, values in columns.items():
        dataset(file, group, name, values).dims[0].attach_scale(scale)


def dataset(file, group, name, values):
    item = file.create_dataset(f"{group}/{name}", data=values)
    for key, text in zip(("long_name", "units", "symbol"), LABELS[name.removesuffix("_error")]):
        item.attrs[key] = text
    return item
