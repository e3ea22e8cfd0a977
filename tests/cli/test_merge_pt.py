"""gpumc merge of parallel tempering: one file gives its own summary again, bit for bit, several give that of all
samples, and files that do not belong together are refused.

CTest: long, cases 4 s
"""
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.attributes import attributes
from support.edited_result import edited
from support.merging import MergeCase
from support.program import FAILURE, INVALID

sys.path.insert(0, str(device.ROOT / "tools/python"))
import gpumc  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 5
model: {{{model}}}
algorithm: {{name: pt, beta: {{values: [0.3, 0.5, 0.8]}}, samples: 24, sweeps: 1280, {more}}}
output: {output}
"""
CANONICAL = """\
gpumc: 1
seed: 5
model: {{name: ea, shape: [2, 4], couplings: file, file: same.txt}}
algorithm: {{name: canonical, beta: {{values: [0.3]}}, {}, thermalization: 64, sweeps: 640}}
output: c.h5
"""
SPIN_GLASS = "name: ea, shape: [4, 4, 6], disorder_seed: 2"
GAUSSIAN = "name: ea, shape: [4, 6], couplings: gaussian"
FERROMAGNET = "name: ising2d, shape: [8, 4]"


class Merge(MergeCase):
    def make(self, name, model=SPIN_GLASS, more="structure_factor: true", **keys):
        path = self.write(name + ".yaml", CONFIG.format(model=model, more=more, output=name + ".h5"))
        sets = [word for key, value in keys.items()
                for word in ("--set", f"{key.replace('__', '.')}={value}")]
        self.gpumc("run", path, *sets)
        return self.path(name + ".h5")

    def test_one_file_gives_its_own_summary(self):
        for model in (SPIN_GLASS, GAUSSIAN, FERROMAGNET):
            with self.subTest(model=model):
                merged = self.merge(self.make("one", model, "replicas: 2, structure_factor: true, "
                                              "cluster_exchange: {kind: houdayer, every: 3, min_beta: 0.4}"))
                with h5py.File(self.path("one.h5")) as original:
                    for group in ("summary", "summary/overlap_distribution", "samples"):
                        for name, item in original[group].items():
                            if not isinstance(item, h5py.Dataset):
                                continue
                            np.testing.assert_array_equal(merged[group][name][...], item[...], f"{group}/{name}")
                            self.assertEqual(attributes(merged[group][name])["units"], attributes(item)["units"])
                    self.assertEqual(attributes(merged["summary"]),
                                     dict(attributes(original["summary"]), files=1))
                self.path("one.h5").unlink()

    def test_walkers_of_several_files(self):
        paths = [self.make(f"part{i}", model__sample=30 * i, algorithm__samples=10 + 10 * i)
                 for i in range(3)]
        merged = self.merge(*paths)["summary"]
        parts = [h5py.File(path)["summary"] for path in paths]
        weights = np.array([10, 20, 30]) / 60
        for name in ("flow", "acceptance"):
            values = sum(weight * part[name][:] for weight, part in zip(weights, parts))
            np.testing.assert_allclose(merged[name][:], values, 1e-13)
        self.assertEqual(merged.attrs["measurements"], parts[0].attrs["measurements"])
        trips = sum(part.attrs["round_trips"] for part in parts)
        self.assertGreater(trips, 0)
        self.assertEqual(merged.attrs["round_trips"], trips)
        self.assertAlmostEqual(merged.attrs["round_trips_per_walker"], trips / (60 * 2 * 3), 12)
        expected = np.average([part["flow"][1] for part in parts[1:]], weights=[2, 3])
        parts[0].file.close()
        with edited(paths[0]) as file:  # no walker there has been at an end
            file["summary/flow"][1] = np.nan
        self.assertAlmostEqual(self.merge(*paths)["summary/flow"][1], expected, 12)

    def test_configurations_stay_in_the_files(self):
        """Of those with them, without, and of other times: the same summary, and a reader who is told why."""
        plain = [self.make(f"plain{i}", model__sample=24 * i) for i in range(2)]
        kinds = "{every: 320}", "{times: [40], temperatures: [2]}"
        paths = [self.make(f"with{i}", f"{SPIN_GLASS}, sample: {24 * i}",
                           f"structure_factor: true, configurations: {kind}") for i, kind in enumerate(kinds)]
        expected = {name: item[...] for name, item in self.merge(*plain)["summary"].items()
                    if isinstance(item, h5py.Dataset)}
        for some in paths, [plain[0], paths[1]]:
            merged = self.merge(*some)
            self.assertNotIn("configurations", merged)
            for name, values in expected.items():
                np.testing.assert_array_equal(merged["summary"][name][...], values, name)
        with self.assertRaisesRegex(gpumc.ResultError, "gpumc merge leaves them in the files that it merges"):
            gpumc.configurations(self.path("merged.h5"))

    def test_warnings_are_those_of_all_samples(self):
        """That there are few samples is said of the files, and not of all together."""
        # Many blocks, of which the program can tell that they are long enough for errors.
        few = [self.make(f"few{i}", model__sample=4 * i, algorithm__samples=4, algorithm__sweeps=81920,
                         algorithm__beta__values="[0.2, 0.3, 0.4]", algorithm__blocks=1024)
               for i in range(2)]
        for path in few:
            warning = attributes(h5py.File(path)["summary"])["warning"]
            self.assertIn("use 8 samples or more", warning)
            self.assertNotIn("equilibrium", warning)
        merged = attributes(self.merge(*few)["summary"])
        self.assertNotIn("warning", merged)
        self.assertEqual(merged["trusted"], 1)
        cold = {"algorithm__beta__values": "[0.1, 9.0]", "algorithm__sweeps": 20}
        bad = [self.make(f"bad{i}", model__sample=24 * i, **cold) for i in range(2)]
        merged = attributes(self.merge(*bad)["summary"])
        self.assertEqual(merged["trusted"], 0)
        self.assertIn("not known to be in equilibrium at 2 of 2 temperatures, the coldest beta = 9: "
                      "the last 3 bins of time disagree or are too short for errors, or samples or copies stay apart; "
                      "use more sweeps", merged["warning"])
        self.assertIn("% of the exchanges are accepted: use more temperatures", merged["warning"])

    def test_files_that_contradict_each_other(self):
        """By eight errors, as of one that was simulated at another temperature; a shift by one error is none."""
        paths = [self.make(f"part{i}", model__sample=80 * i, algorithm__samples=80, algorithm__sweeps=20480) for i in range(3)]
        self.assertEqual(self.merge(*paths)["summary"].attrs["trusted"], 1)
        for errors, trusted in (1, 1), (7, 0):
            with edited(paths[1]) as file:
                file["summary/energy"][1] += errors * file["summary/energy_error"][1]
            merged = attributes(self.merge(*paths)["summary"])
            self.assertEqual(merged["trusted"], trusted)
        self.assertIn("the files contradict each other: energy at beta = 0.5", merged["contradiction_warning"])

    def test_walkers_that_do_not_return(self):
        paths = [self.make(f"part{i}", model__sample=24 * i) for i in range(2)]
        for path in paths:
            with edited(path) as file:
                file["samples/round_trips"][...] = 0
        merged = attributes(self.merge(*paths)["summary"])
        self.assertEqual(merged["trusted"], 0)
        self.assertIn("0 round trips of a walker", merged["warning"])

    def test_warnings_of_one_file(self):
        """Whatever the program knew against the task of one file from the start."""
        paths = [self.make(f"part{i}", model__sample=80 * i, algorithm__samples=80, algorithm__sweeps=20480) for i in range(2)]
        self.assertEqual(self.merge(*paths)["summary"].attrs["trusted"], 1)
        for path, name in zip(paths, ("generator_warning", "ergodicity_warning")):
            with edited(path) as file:
                file["provenance"].attrs[name] = "not every state"
            merged = attributes(self.merge(*paths)["summary"])
            self.assertEqual((merged["trusted"], merged[name]), (0, "not every state"))

    def test_the_gaussian_identity_of_all_samples(self):
        """Short runs that cannot tell each by itself that they violate it."""
        paths = [self.make(f"part{i}", GAUSSIAN, model__sample=80 * i, algorithm__samples=80, algorithm__sweeps=20480)
                 for i in range(2)]
        self.assertNotIn("warning", self.merge(*paths)["summary"].attrs)
        for path in paths:
            with edited(path) as file:
                error = file["summary/gaussian_identity_error"][1]
                file["samples/energy"][:, 1] += 3.5 * error
        merged = self.merge(*paths)["summary"]
        self.assertEqual(list(merged["equilibrated"][:]), [1, 0, 1])
        self.assertEqual(merged.attrs["trusted"], 0)
        self.assertIn("at 1 of 3 temperatures, the coldest beta = 0.5: the last 3 bins of time "
                      "disagree, or violate the Gaussian identity", attributes(merged)["warning"])

    def test_equilibrium_is_judged_by_all_samples(self):
        """A flag of a file by chance does not stay, a drift that no file shows by itself is found, and files
        without bins to compare cannot tell."""
        paths = [self.make(f"part{i}", model__sample=30 * i, algorithm__samples=30, algorithm__sweeps=20480) for i in range(4)]
        def edit(change):
            for path in paths:
                with edited(path) as file:
                    change(file)
        def clear(file):
            file["summary/equilibrated"][...] = 0
        edit(clear)
        merged = self.merge(*paths)
        self.assertEqual(merged["summary"].attrs["trusted"], 1)
        for back in "1", "2":
            for name, item in merged["earlier_bins"][back].items():
                parts = [h5py.File(path)[f"earlier_bins/{back}/{name}"][:] for path in paths]
                np.testing.assert_array_equal(item[:], np.concatenate(parts))
        def drift(file):  # by three errors of the difference in each file
            before, after = file["earlier_bins/1/energy"], file["samples/energy"][:]
            change = before[:] - after
            before[...] = after + (change - change.mean(0)) + 3 * change.std(0, ddof=1) / np.sqrt(24)
        edit(drift)
        self.assertTrue(self.merge(paths[0])["summary/equilibrated"][:].all())
        merged = self.merge(*paths)["summary"]
        self.assertFalse(merged["equilibrated"][:].any())
        self.assertEqual(merged.attrs["trusted"], 0)
        def forget(file):
            del file["earlier_bins"]
        edit(forget)
        merged = self.merge(*paths)["summary"]
        self.assertFalse(merged["equilibrated"][:].any())
        self.assertIn("not known to be in equilibrium at 3 of 3", attributes(merged)["warning"])

    def test_couplings_of_all_samples(self):
        model = SPIN_GLASS + ", random_field: {distribution: gaussian, width: 1}, write_couplings: true"
        paths = [self.make(f"part{i}", model, model__sample=10 * i, algorithm__samples=8 + i)
                 for i in range(2)]
        merged = self.merge(*paths)
        parts = [h5py.File(path)["disorder"] for path in paths]
        for name in ("couplings", "fields"):
            values = np.concatenate([part[name][...] for part in parts])
            self.assertEqual(len(values), 17)
            np.testing.assert_array_equal(merged["disorder"][name][...], values)
            self.assertEqual(*(attributes(item[name])["units"] for item in (merged["disorder"], parts[0])))
        np.testing.assert_array_equal(merged["disorder/shape"][...], [4, 4, 6])
        read = self.make("read", "name: ea, shape: [4, 4, 6], couplings: file, file: merged.h5",
                         algorithm__samples=17)
        np.testing.assert_array_equal(h5py.File(read)["samples/checksum"][:],
                                      merged["samples/checksum"][:])
        paths[1] = self.make("without", model, model__sample=50, model__write_couplings="false")
        self.assertNotIn("disorder", self.merge(*paths))

    def test_several_files_give_all_samples(self):
        paths = [self.make(f"part{i}", seed=i, model__sample=30 * i,
                           algorithm__samples=24 + i)
                 for i in range(3)]
        merged = self.merge(*paths)
        samples = np.concatenate([h5py.File(path)["samples/energy"][:] for path in paths])
        self.assertEqual(merged["summary"].attrs["samples"], 75)
        np.testing.assert_allclose(merged["summary/energy"][:], samples.mean(0), 1e-12)
        plain = samples.std(0, ddof=1) / np.sqrt(75)
        ratio = merged["summary/energy_error"][:] / plain  # Student's t: a few percent more
        self.assertTrue(((ratio > 1) & (ratio < 1.06)).all(), ratio)
        width = np.diff(merged["summary/overlap_distribution/q"][:2])
        self.assertTrue(np.allclose(
            merged["summary/overlap_distribution/probability"][:].sum(1) * width, 1))

    def test_errors_of_distributions(self):
        """Of samples: those of the files added up, and as large as of one run of all samples with other random
        numbers. Over 20 other seeds the ratio of their squares was 1.015 on average, with a standard deviation of
        0.043."""
        counts = [24, 72, 48]
        paths = [self.make(f"part{i}", model__sample=sum(counts[:i]), algorithm__samples=count)
                 for i, count in enumerate(counts)]
        merged = self.merge(*paths)["summary/overlap_distribution/probability_error"][:]
        parts = [h5py.File(path)["summary/overlap_distribution/probability_error"][:] for path in paths]
        weights = np.array(counts) / 144
        parts = np.nan_to_num(parts)  # unknown where a file counted nothing, and 0 then
        expected = np.sqrt(np.tensordot(weights ** 2, np.square(parts), 1))
        np.testing.assert_allclose(merged, np.where(expected > 0, expected, np.nan), 1e-12)
        merged = np.nan_to_num(merged)
        whole = self.make("whole", seed=6, algorithm__samples=144)
        with h5py.File(whole) as file:
            single = np.nan_to_num(file["summary/overlap_distribution/probability_error"][:])
        ratio = (merged ** 2).sum() / (single ** 2).sum()
        self.assertTrue(0.8 < ratio < 1.2, ratio)

    def test_merged_files_are_merged_again(self):
        paths = [self.make(f"part{i}", seed=i, model__sample=24 * i) for i in range(3)]
        direct = self.merge(*paths)
        expected = {name: item[...] for name, item in direct["samples"].items()}
        energy, error = direct["summary/energy"][:], direct["summary/energy_error"][:]
        direct.close()
        self.merge(*paths[:2]).close()
        pair = self.path("pair.h5")
        self.path("merged.h5").rename(pair)
        again = self.merge(pair, paths[2])
        for name, values in expected.items():
            np.testing.assert_array_equal(again["samples"][name][...], values, name)
        self.assertEqual(list(again["samples/sample"][:]), list(range(72)))
        seeds = [h5py.File(path)["provenance"].attrs["thermal_seed"] for path in paths]
        self.assertEqual(seeds[0], 0)
        self.assertEqual(len(set(seeds)), 3)
        self.assertEqual(list(again["samples/seed"][:]), [seed for seed in seeds for _ in range(24)])
        np.testing.assert_allclose(again["summary/energy"][:], energy, 1e-13)
        np.testing.assert_allclose(again["summary/energy_error"][:], error, 1e-12)
        self.assertEqual(again["summary"].attrs["files"], 3)
        self.merge(pair, paths[1], refused="also has")
        self.merge(pair, self.make("same", seed=9, model__sample=30), refused="also has")
        other = self.make("seed", seed=1, model__sample=24, model__disorder_seed=3)
        self.merge(pair, other, refused="has the same seed and first sample as")
        self.assertEqual(self.merge(pair, self.make("new", seed=1, model__sample=100))["summary"]
                         .attrs["files"], 3)

    def test_a_campaign_over_the_first_sample(self):
        """Of one seed, as the tutorial says."""
        self.make("unused", output="c{model.sample}.h5",
                  campaign__model__sample="[0, 24, 48]")
        paths = [self.path(f"c{first}.h5") for first in (0, 24, 48)]
        merged = self.merge(*paths)
        self.assertEqual(merged["summary"].attrs["samples"], 72)
        self.assertEqual(list(merged["samples/sample"][:]), list(range(72)))
        seeds = [h5py.File(path)["provenance"].attrs["thermal_seed"] for path in paths]
        self.assertEqual(seeds[0], 5)
        self.assertEqual(len(set(seeds)), 3)

    def test_random_numbers_depend_on_the_first_sample(self):
        """The same couplings, as samples 0 to 7 and 8 to 15 of a file."""
        drawn = self.make("drawn", SPIN_GLASS + ", write_couplings: true", algorithm__samples=8)
        with h5py.File(drawn) as file, h5py.File(self.path("twice.h5"), "w") as twice:
            twice["shape"] = file["disorder/shape"][...]
            twice["couplings"] = np.concatenate([file["disorder/couplings"][...]] * 2)
        read = "name: ea, shape: [4, 4, 6], couplings: file, file: twice.h5"
        first, second = (self.make(f"from{i}", read, model__sample=i, algorithm__samples=8)
                         for i in (0, 8))
        with h5py.File(drawn) as one, h5py.File(first) as same, h5py.File(second) as other:
            np.testing.assert_array_equal(one["samples/energy"], same["samples/energy"])
            np.testing.assert_array_equal(one["samples/checksum"], other["samples/checksum"])
            self.assertTrue((one["samples/energy"][...] != other["samples/energy"][...]).all())

    def test_random_numbers_of_canonical_runs(self):
        """As those of `pt`, of several samples and of replicas of one."""
        def energies(samples, first):
            path = self.write("c.yaml", CANONICAL.format(samples))
            self.gpumc("run", path, "--fresh", "--set", f"model.sample={first}")
            with h5py.File(self.path("c.h5")) as file:
                return file["runs/0000/replicas/energy"][...]
        couplings = " 1 -1  1 1  -1 1  1 1  1 1  -1 -1  1 -1  1 1"
        self.write("same.txt", "shape 2 4\n" + 16 * f"couplings {couplings}\n")
        for kind in "samples: 8", "replicas: 8":
            self.assertTrue((energies(kind, 0) != energies(kind, 8)).any())

    def test_samples_are_known_by_their_couplings(self):
        """Whatever file they are read from."""
        first = self.make("first", model=SPIN_GLASS + ", write_couplings: true",
                          algorithm__samples=8)
        self.path("copy.h5").write_bytes(first.read_bytes())
        read = "name: ea, shape: [4, 4, 6], couplings: file, file: "
        named = self.make("named", read + "first.h5", seed=6, algorithm__samples=8)
        with h5py.File(first) as one, h5py.File(named) as other:
            np.testing.assert_array_equal(one["samples/checksum"][:], other["samples/checksum"][:])
            self.assertEqual(len(set(one["samples/checksum"][:])), 8)
        for i, path in enumerate(("first.h5", "copy.h5")):
            other = self.make(f"other{i}", read + path, seed=7 + i, algorithm__samples=8)
            self.merge(named, other, refused="also has")

    def test_the_program_reads_merged_files(self):
        self.merge(self.make("one"))
        text = self.gpumc("info", self.path("merged.h5")).out
        self.assertIn("merged_from        one.h5", text)
        self.assertIn("energy", text)

    def test_an_output_is_whole_or_not_there(self):
        path = self.make("one")
        self.write("merged.h5", "mine")
        self.assertIn("exists already", self.gpumc("merge", "merged.h5", path, code=INVALID).err)
        self.gpumc("merge", "merged.h5", path, "--fresh", code=INVALID)  # not a result: left alone
        self.assertEqual(self.path("merged.h5").read_text(), "mine")
        self.assertIn("is both the output, which comes first, and one of the files", self.gpumc("merge", "one.h5", path, code=INVALID).err)
        self.gpumc("merge", "again.h5", path)
        before = self.path("again.h5").read_bytes()
        self.assertIn("exists already", self.gpumc("merge", "again.h5", path, code=INVALID).err)
        self.assertEqual(self.path("again.h5").read_bytes(), before)
        self.gpumc("merge", "again.h5", path, "--fresh")
        with edited(path) as file:  # what is missing shows while the output is written
            del file["summary"].attrs["measurements"]
        before = self.path("again.h5").read_bytes()
        self.gpumc("merge", "again.h5", path, "--fresh", code=FAILURE)
        self.assertEqual(self.path("again.h5").read_bytes(), before)
        self.merge(path, refused="/summary does not contain measurements", code=FAILURE)
        self.assertEqual([name for name in self.names() if ".partial" in name or ".lock" in name], [])

    def test_a_run_does_not_take_a_merged_file_for_its_own(self):
        path = self.make("one")
        self.gpumc("merge", "two.h5", path)
        told = self.gpumc("run", self.path("one.yaml"), "-o", "two.h5", code=INVALID).err
        self.assertIn("two.h5 was merged from several results", told)

    def test_refusals(self):
        first = self.make("first")
        self.merge(first, first, refused="also has")
        self.merge(first, self.make("overlap", seed=6, model__sample=23), refused="also has")
        self.merge(first, self.make("seed", model__disorder_seed=3),
                   refused="has the same seed and first sample as")
        self.merge(first, self.make("size", model__sample=24, algorithm__sweeps=2560),
                   refused="algorithm.sweeps: 1280 -> 2560")
        keys = self.make("keys", model__sample=24, algorithm__update="heat_bath",
                         algorithm__structure_factor="false")
        self.merge(first, keys, refused='algorithm.update: "metropolis" -> "heat_bath"')
        self.merge(first, keys, refused="algorithm.structure_factor: true -> (not set)")
        self.merge(first, self.make("tuned", model__sample=24, algorithm__tune__sweeps=640),
                   refused="tuned.h5: cannot be merged: tuned temperatures differ from run to run")
        self.merge(first, self.make("beta", model__sample=24, algorithm__beta__values="[0.3, 0.5, 0.9]"),
                   refused="algorithm.beta.values: [0.3,0.5,0.8] -> [0.3,0.5,0.9]")
        self.merge(self.make("few", algorithm__samples=3), refused="3 samples together, but errors need at least 8")
        self.merge(self.path("nowhere.h5"), refused="nowhere.h5: cannot open: No such file", code=FAILURE)
        self.merge(first, self.write("text.h5", "text"), refused="text.h5: is not a result of gpumc", code=FAILURE)
        with h5py.File(self.path("empty.h5"), "w"):
            pass
        self.merge(first, self.path("empty.h5"), refused="empty.h5: is an HDF5 file, but not a result of gpumc",
                   code=FAILURE)
        data = bytearray(first.read_bytes())
        data[len(data) // 2] ^= 1
        self.path("damaged.h5").write_bytes(data)
        self.merge(first, self.path("damaged.h5"), refused="damaged.h5: is damaged", code=FAILURE)
        with edited(first) as file:
            file.attrs["complete"] = np.int64(0)
        self.merge(first, refused="first.h5: is unfinished")

    def test_in_a_field(self):
        """Values of a control other than the temperature, which has other axes."""
        more = "control: {{name: h, beta: 0.4, values: [0, 0.5, 1]}}"
        text = CONFIG.replace("beta: {{values: [0.3, 0.5, 0.8]}}, samples: 24", more + ", samples: 12")
        paths = []
        for seed in 1, 2:
            config = self.write("field.yaml", text.format(model=FERROMAGNET, more="", output=f"h{seed}.h5"))
            self.gpumc("run", config, "--set", f"seed={seed}")
            paths.append(self.path(f"h{seed}.h5"))
        merged = self.merge(*paths)
        samples = np.concatenate([h5py.File(path)["samples/magnetization"][:] for path in paths])
        np.testing.assert_allclose(merged["summary/magnetization"][:], samples.mean(0), 1e-12)
        np.testing.assert_array_equal(merged["summary/h"][:], [0, 0.5, 1])

    def test_provenance_of_all_sources(self):
        paths = [self.make(f"part{i}", model__sample=24 * i) for i in range(3)]
        self.merge(*paths[:2]).close()
        self.path("merged.h5").rename(self.path("pair.h5"))
        sources = self.merge(self.path("pair.h5"), paths[2])["provenance/sources"]
        self.assertEqual([attributes(group)["file"] for group in sources.values()],
                         ["part0.h5", "part1.h5", "part2.h5"])
        for path, group in zip(paths, sources.values()):
            with h5py.File(path) as file:
                for name, value in attributes(file["provenance"]).items():
                    self.assertEqual(attributes(group)[name], value, name)

    def test_plot_and_reader_take_merged_files(self):
        self.merge(*(self.make(f"part{i}", model__sample=24 * i) for i in range(2)))
        result = gpumc.read(self.path("merged.h5"))
        self.assertEqual(result.samples["overlap2"].shape, (48, 3))
        self.assertEqual(len(result.summary["energy"]), 3)


if __name__ == "__main__":
    device.require()
    cases.main()
