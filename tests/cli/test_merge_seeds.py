"""gpumc merge of runs of other seeds, canonical, mpmc, pa and muca: one file gives its own summary again, averages are those of
all replicas and runs, errors shrink as they should, small systems are as enumeration says, and what does not fit is
refused.

Null: merged averages are those of the canonical ensemble. Bounds are four reported standard errors, chosen before
looking; seeds are fixed. Negative controls: references at a temperature that is wrong by 1 %, the same file twice, and
a file that is off by seven errors.

CTest: long, cases 4 s
"""
import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program  # noqa: E402
from support.attributes import attributes  # noqa: E402
from support.edited_result import edited  # noqa: E402
from support.merging import MergeCase  # noqa: E402
from support.program import INVALID  # noqa: E402

BETAS = [0.2, 0.4]
CANONICAL = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [4, 4]}
algorithm:
  {name: canonical, beta: {values: [0.2, 0.4]}, replicas: 4, update: heat_bath, thermalization: 200, sweeps: 20000,
   structure_factor: true}
output: x.h5
"""
DISKS = """\
gpumc: 1
seed: 5
model: {name: hard_disks, particles: 64, packing_fraction: 0.4}
algorithm: {name: mpmc, replicas: 2, thermalization: 1000, sweeps: 8000, interval: 4, pair_correlation: true}
output: x.h5
"""
ANNEALING = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: pa, beta: {to: 0.5, step: 0.05}, population: 2000, sweeps: 10, runs: 2}
output: x.h5
"""
MULTICANONICAL = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: muca, beta: {from: 0, to: 0.5, step: 0.1}, walkers: 64}
output: x.h5
"""
SEEDS = 31, 32, 33, 34, 35, 36


def walk(group, path=""):
    """All datasets by name."""
    for name, item in group.items():
        if isinstance(item, h5py.Group):
            yield from walk(item, f"{path}{name}/")
        else:
            yield path + name, item[...]


class MergeSeeds(MergeCase):
    def make(self, text, seeds=SEEDS, *sets):
        """Results of these seeds, the names of which have them."""
        config = self.write("c.yaml", text)
        words = [word for assignment in sets for word in ("--set", assignment)]
        for seed in seeds:
            self.gpumc("run", config, "-q", "-o", f"{seed}.h5", "--set", f"seed={seed}", *words)
        return [self.path(f"{seed}.h5") for seed in seeds]

    def summaries(self, paths):
        """Datasets of the summaries of all files, [files, ...]."""
        found = []
        for path in paths:
            with h5py.File(path) as file:
                found.append(dict(walk(file["summary"])))
        return {name: np.array([summary[name] for summary in found]) for name in found[0]}

    def hold_alone(self, text, but=()):
        """One file gives itself again, sums of floats that go back and forth but for rounding."""
        path = self.make(text, SEEDS[:1])[0]
        with self.merge(path) as merged, h5py.File(path) as single:
            again = dict(walk(merged))
            for name, values in walk(single):
                if name.startswith(("config/", "provenance/")) or name in but:
                    continue
                np.testing.assert_allclose(again[name], values, 1e-12, 1e-15, err_msg=name)
            expected = dict(attributes(single["summary"]), files=1)
            self.assertEqual(attributes(merged["summary"]), expected)
            self.assertEqual(list(merged["runs"]), list(single["runs"]))
            of_merged, of_single = (json.loads(file["config/resolved"][()]) for file in (merged, single))
            for block in "model", "algorithm", "kernel":
                self.assertLessEqual(of_merged[block].items(), of_single[block].items())

    def hold_exact(self, merged, betas, names):
        known = "log_z", "energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"
        exact, wrong = (dict(zip(known, gpumc_program.enumerate_ising(4, 4, 0.0, factor * np.array(betas))))
                        for factor in (1, 1.01))
        off = 0
        for name in names:
            found, error = (merged[f"summary/{name}{end}"][:] for end in ("", "_error"))
            at = [int(np.argmin(np.abs(merged["summary/beta"][:] - beta))) for beta in betas]
            deviation = (found[at] - exact[name]) / error[at]
            self.assertLess(np.abs(deviation).max(), 4, name)
            off = max(off, np.abs((found[at] - wrong[name]) / error[at]).max())
        self.assertGreater(off, 4)

    def hold_seeds(self, text, first, again, but=(), within=1e-9):
        """What has random numbers twice, or is not the same system, is refused; a pair counts as its sources."""
        paths = self.make(text, SEEDS[:3])
        self.merge(paths[0], paths[0], refused="has the same seed and first sample as")
        self.path("copy.h5").write_bytes(paths[1].read_bytes())
        self.merge(paths[0], paths[1], self.path("copy.h5"), refused="or their data are the same")
        self.merge(*paths[:2]).close()
        self.path("merged.h5").rename(self.path("pair.h5"))
        self.merge(self.path("pair.h5"), paths[1], refused="has the same seed and first sample as")
        parts = dict(walk(self.merge(self.path("pair.h5"), paths[2])["summary"]))
        for name, values in walk(self.merge(*paths)["summary"]):
            if name not in but:
                np.testing.assert_allclose(parts[name], values, within, 1e-12, err_msg=name)
        self.make(text, [90], *first)
        self.merge(paths[0], self.path("90.h5"), refused=again)

    def hold_contradiction(self, text, name):
        paths = self.make(text, SEEDS[:3])
        self.assertNotIn("contradiction_warning", self.merge(*paths)["summary"].attrs)
        with edited(paths[2]) as file:
            file[f"summary/{name}"][...] += 7 * np.nan_to_num(file[f"summary/{name}_error"][...])
        merged = attributes(self.merge(*paths)["summary"])
        self.assertEqual(merged["trusted"], 0)
        self.assertIn(f"the files contradict each other: {name}", merged["contradiction_warning"])

    def test_canonical_alone(self):
        self.hold_alone(CANONICAL)

    def test_canonical_seeds(self):
        paths = self.make(CANONICAL)
        merged, parts = self.merge(*paths), self.summaries(paths)
        for name in ("energy", "abs_magnetization", "magnetization2", "structure_factor"):
            np.testing.assert_allclose(merged[f"summary/{name}"][:], parts[name].mean(0), 1e-12)
            expected = np.sqrt((parts[name + "_error"] ** 2).sum(0)) / len(paths)
            np.testing.assert_allclose(merged[f"summary/{name}_error"][:], expected, 1e-12)
        for name in ("specific_heat", "binder_parameter", "correlation_length"):
            ratio = merged[f"summary/{name}_error"][:] / np.sqrt((parts[name + "_error"] ** 2).mean(0) / len(paths))
            self.assertTrue((np.abs(np.log(ratio)) < np.log(1.35)).all(), (name, ratio))
        for name in ("energy", "abs_magnetization"):
            np.testing.assert_allclose(merged[f"summary/effective_samples/{name}"][:],
                                       parts[f"effective_samples/{name}"].sum(0), 1e-12)
        self.assertEqual(merged["summary"].attrs["trusted"], 1)
        self.assertEqual(merged["runs/0000/replicas/energy"].shape, (24,))
        self.assertEqual(merged["runs/0000/bins/energy"].shape, h5py.File(paths[0])["runs/0000/bins/energy"].shape)
        self.hold_exact(merged, BETAS, ["energy", "specific_heat", "abs_magnetization", "magnetization2"])

    def test_canonical_refusals(self):
        self.hold_seeds(CANONICAL, ["algorithm.sweeps=10000"], "algorithm.sweeps: 20000 -> 10000")
        paths = self.make(CANONICAL, SEEDS[:1])
        self.make(CANONICAL, [91], "model.h=0.1")
        self.merge(paths[0], self.path("91.h5"), refused="model.h: 0 -> 0.1")
        glass = CANONICAL.replace("name: ising2d", "name: ea").replace("replicas: 4", "samples: 8")
        samples = self.make(glass, [92], "algorithm.sweeps=200")
        self.merge(*samples, refused="averages over samples are corrected with the halves of the run")
        self.merge(paths[0], samples[0], refused="92.h5")

    def test_canonical_samples_are_not_mixed(self):
        """Replicas of other disorder are not more replicas of one."""
        glass = CANONICAL.replace("name: ising2d", "name: ea").replace("sweeps: 20000", "sweeps: 2000")
        one = self.make(glass, [1])[0]
        other = self.make(glass, [2], "model.sample=1")[0]
        same = self.make(glass, [3])[0]
        self.merge(one, other, refused="model.sample: 0 -> 1")
        self.assertEqual(self.merge(one, same)["runs/0001/replicas/energy"].shape, (8,))

    def test_canonical_contradiction(self):
        self.hold_contradiction(CANONICAL, "energy")

    def test_canonical_in_parts_of_unequal_size(self):
        """Two replicas and six, with bins that are not a whole number of the time."""
        few = self.make(CANONICAL, [1], "algorithm.replicas=2", "algorithm.sweeps=3001")[0]
        many = self.make(CANONICAL, [2], "algorithm.replicas=6", "algorithm.sweeps=3001")[0]
        merged, parts = self.merge(few, many), self.summaries([few, many])
        for name in ("energy", "magnetization4"):
            np.testing.assert_allclose(merged[f"summary/{name}"][:], np.average(parts[name], 0, [2, 6]), 1e-12)

    def test_a_result_stays_until_its_successor_is_whole(self):
        """Files may not become larger than a number of kibibytes, from 8 to where they may be as large as the result."""
        paths, output = self.make(CANONICAL, SEEDS[:2], "algorithm.sweeps=400"), self.path("merged.h5")
        self.gpumc("merge", output, *paths)
        before, failed = output.read_bytes(), 0
        for limit in range(8, 4 + len(before) // 1024, 4):
            done = subprocess.run(["bash", "-c", f'ulimit -f {limit}; exec "$0" "$@"', gpumc_program.PROGRAM, "merge", "--fresh", output,
                                   *paths], capture_output=True, text=True)
            failed += done.returncode == 1
            if done.returncode == 1:
                self.assertEqual(output.read_bytes(), before, f"{limit} KiB: {done.stderr}")
        self.assertGreater(failed, 3)
        self.assertEqual(self.names("merged.h5*"), ["merged.h5"])
        self.gpumc("merge", "", *paths, code=INVALID)

    def test_what_is_not_merged_is_left_out(self):
        more = ["algorithm.series=true", "algorithm.reweight={from: 0.2, to: 0.4, step: 0.05}",
                "algorithm.configurations={every: 1000}", "algorithm.sweeps=2000"]
        merged = self.merge(*self.make(CANONICAL, SEEDS[:2], *more))
        self.assertNotIn("configurations", merged)
        self.assertNotIn("reweighted", merged["summary"])
        self.assertNotIn("magnetization", merged["runs/0000"])

    def test_disks_alone(self):
        """Errors of profiles are by bins alone, since results have no profiles of single replicas."""
        self.hold_alone(DISKS, ("summary/pair_correlation_error", "summary/move_size", "summary/move_acceptance"))

    def test_disks_seeds(self):
        paths = self.make(DISKS)
        merged, parts = self.merge(*paths), self.summaries(paths)
        np.testing.assert_allclose(merged["summary/pressure"][()], parts["pressure"].mean(), 1e-12)
        ratio = merged["summary/pressure_error"][()] / np.sqrt((parts["pressure_error"] ** 2).mean() / len(paths))
        self.assertTrue(1 / 1.35 < ratio < 1.35, ratio)
        np.testing.assert_allclose(merged["summary/pair_correlation"][:], parts["pair_correlation"].mean(0), 1e-10)
        ratio = (np.nanmean(merged["summary/pair_correlation_error"][:] ** 2)
                 / np.nanmean(parts["pair_correlation"].var(0, ddof=1) / len(paths)))
        self.assertTrue(0.6 < ratio < 1.6, ratio)
        self.assertIn("psi6", merged["summary/autocorrelation_time"])
        np.testing.assert_allclose(merged["summary/psi6"][()], parts["psi6"].mean(), 1e-12)
        np.testing.assert_allclose(merged["summary/psi6_error"][()],
                                   np.sqrt((parts["psi6_error"] ** 2).sum()) / len(paths), 1e-12)
        self.assertIn("pressure", self.gpumc("info", "merged.h5").out)

    def test_disks_refusals(self):
        self.hold_seeds(DISKS, ["model.packing_fraction=0.41"], "model.packing_fraction: 0.4 -> 0.41",
                        ["pair_correlation_error"])  # from the scatter of two files, or of three

    def test_disks_contradiction(self):
        self.hold_contradiction(DISKS, "pressure")

    def test_annealing_alone(self):
        """Bit for bit: results have all rows of all runs."""
        path = self.make(ANNEALING, SEEDS[:1])[0]
        with self.merge(path) as merged, h5py.File(path) as single:
            for group in "summary", "runs":
                again = dict(walk(merged[group]))
                for name, values in walk(single[group]):
                    np.testing.assert_array_equal(again[name], values, name)
                self.assertEqual(attributes(merged["summary"]), dict(attributes(single["summary"]), files=1))

    def test_annealing_seeds(self):
        """Runs weigh as much as their estimates of the partition function say."""
        paths = self.make(ANNEALING)
        merged, parts = self.merge(*paths), self.summaries(paths)
        log_z = -16 * np.concatenate([[h5py.File(path)[f"runs/{run:04}/beta_free_energy"][:] for run in range(2)]
                                      for path in paths])
        weight = np.exp(log_z - log_z.max(0))
        energy = np.concatenate([[h5py.File(path)[f"runs/{run:04}/energy"][:] for run in range(2)] for path in paths])
        np.testing.assert_allclose(merged["summary/energy"][:], (weight * energy).sum(0) / weight.sum(0), 1e-12)
        mean_z = np.log(np.exp(log_z - log_z.max(0)).mean(0)) + log_z.max(0)
        np.testing.assert_allclose(merged["summary/beta_free_energy"][:], -mean_z / 16, 1e-12)
        np.testing.assert_allclose(merged["summary/effective_families"][:], parts["effective_families"].sum(0), 0.05)
        for name in "energy", "beta_free_energy":
            ratio = merged[f"summary/{name}_error"][-1] / np.sqrt((parts[name + "_error"][:, -1] ** 2).mean() / 6)
            self.assertTrue(1 / 1.35 < ratio < 1.35, (name, ratio))
        self.assertEqual(len(merged["runs"]), 12)
        self.hold_exact(merged, [0.2, 0.4], ["energy", "specific_heat", "abs_magnetization", "magnetization2"])

    def test_annealing_refusals(self):
        self.hold_seeds(ANNEALING, ["algorithm.sweeps=5"], "algorithm.sweeps: 10 -> 5")
        paths = self.make(ANNEALING.replace("step: 0.05", "overlap: 0.85"), [51, 52])
        self.merge(paths[0]).close()
        self.merge(*paths, refused="has other values of beta than the files before it, because adaptive steps depend on the seed")

    def test_annealing_contradiction(self):
        self.hold_contradiction(ANNEALING, "energy")

    def test_multicanonical_alone(self):
        path = self.make(MULTICANONICAL, SEEDS[:1])[0]
        with self.merge(path) as merged, h5py.File(path) as single:
            again, expected = (dict(walk(file["summary"])) for file in (merged, single))
            del expected["log_weight"]  # several runs have none in common
            for name, values in expected.items():
                np.testing.assert_allclose(again[name], values, 1e-12, 1e-15, err_msg=name)
            self.assertEqual(again.keys(), expected.keys())
            self.assertEqual(attributes(merged["summary"]), dict(attributes(single["summary"]), files=1))

    def test_multicanonical_seeds(self):
        paths = self.make(MULTICANONICAL)
        merged, parts = self.merge(*paths), self.summaries(paths)
        spins = 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1).reshape(-1, 4, 4).astype(int) - 1
        energy = -sum((spins * np.roll(spins, 1, axis)).sum((1, 2)) for axis in (1, 2))
        levels, states = np.unique(energy, return_counts=True)
        np.testing.assert_array_equal(merged["summary/level_energy"][:], levels)
        deviation = (merged["summary/log_dos"][:] - np.log(states)) / merged["summary/log_dos_error"][:]
        self.assertLess(np.abs(deviation).max(), 4)
        self.assertGreater(np.abs((merged["summary/log_dos"][:] - 1.01 * np.log(states))
                                  / merged["summary/log_dos_error"][:]).max(), 4)
        np.testing.assert_array_equal(merged["summary/visits"][:], parts["visits"].sum(0))
        self.assertEqual(merged["summary"].attrs["round_trips"],
                         sum(h5py.File(path)["summary"].attrs["round_trips"] for path in paths))
        for name in ("log_dos", "energy", "abs_magnetization", "microcanonical/abs_magnetization"):
            expected = np.sqrt((parts[name + "_error"] ** 2).mean(0) / len(paths))
            error = merged[f"summary/{name}_error"][:]
            np.testing.assert_array_equal(np.isnan(error), np.isnan(expected))  # of what does not fluctuate
            ratio = (error / expected)[expected > 0]
            self.assertTrue((np.abs(np.log(ratio)) < np.log(1.1)).all(), (name, ratio))
        self.assertEqual(merged["summary"].attrs["trusted"], 1)
        self.hold_exact(merged, BETAS, ["energy", "specific_heat", "abs_magnetization", "magnetization2"])

    def test_multicanonical_refusals(self):
        self.hold_seeds(MULTICANONICAL, ["algorithm.walkers=128"], "algorithm.walkers: 64 -> 128",
                        within=1e-4)  # the density of a pair is normalised by itself; its errors are 1e-3 and more
        windows = self.make(MULTICANONICAL, [93], "algorithm.windows={count: 2, overlap: 0.6}",
                            "model.shape=[8, 8]", "algorithm.iteration={maximum: 2}")
        self.merge(*windows, refused="results do not record how windows are joined")

    def test_multicanonical_contradiction(self):
        self.hold_contradiction(MULTICANONICAL, "energy")

    def test_starts_from_a_merged_density(self):
        self.merge(*self.make(MULTICANONICAL, SEEDS[:2])).close()
        self.make(MULTICANONICAL, [94], "algorithm.iteration={start: file, file: merged.h5}")
        with h5py.File(self.path("94.h5")) as file:
            self.assertLessEqual(file["summary"].attrs["iterations"], 3)

    def test_other_algorithms(self):
        canonical, annealing = self.make(CANONICAL, [70], "algorithm.sweeps=200")[0], self.make(ANNEALING, [71])[0]
        self.merge(canonical, annealing, refused="71.h5")


if __name__ == "__main__":
    device.require()
    cases.main()
