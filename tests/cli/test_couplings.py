"""Couplings of a spin glass: written into a result and read back, files that are refused, kernels
that cannot take them.

CTest: methods 5 s
"""
import json
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.gpumc_program import attributes, numeric_datasets  # noqa: E402
from support.program import INVALID, STOPPED, ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: ea, shape: [4, 6], {model}}}
algorithm: {{name: pa, population: 200, sweeps: 2, beta: {{to: 0.5, step: 0.1}}}}
kernel: {{variant: {variant}}}
output: {output}
"""


class Couplings(ProgramCase):
    def config(self, model, output="out.h5", variant="auto"):
        return self.write("c.yaml", CONFIG.format(model=model, output=output, variant=variant))

    def run_model(self, model, output):
        self.gpumc("run", self.config(model, output), "--quiet")
        return self.path(output)

    def refused(self, model, variant="auto"):
        """Without the place of the model's block."""
        config = self.config(model, variant=variant)
        message = self.gpumc("validate", config, code=INVALID).err.strip()
        self.assertTrue(message.startswith("gpumc: ") or "c.yaml:" in message, message)
        return message.split("c.yaml:", 1)[-1]

    def test_signs_that_were_written_give_the_same_run(self):
        first = self.run_model("disorder_seed: 2, write_couplings: true", "first.h5")
        with h5py.File(first) as file:
            self.assertEqual(list(file["disorder/shape"][...]), [4, 6])
            self.assertEqual(file["disorder/couplings"].shape, (1, 24, 2))
            self.assertEqual(set(np.abs(file["disorder/couplings"][...]).ravel()), {1.0})
            self.assertNotIn("fields", file["disorder"])
            self.assertEqual(attributes(file["disorder/couplings"])["units"], "J")
        second = self.run_model("couplings: file, file: first.h5, write_couplings: true",
                                "second.h5")
        self.assertEqual(numeric_datasets(first), numeric_datasets(second))

    def test_the_thermal_seed(self):
        """As documented; the numbers are those of the draw with seed 1 at the samples 4096 and 8192."""
        for sample, seed in ((0, 1), (4096, 274255960581154), (8192, 22267784462142)):
            self.gpumc("run", self.config("couplings: gaussian"), "--quiet", "--fresh", "--set", "seed=1",
                       "--set", f"model.sample={sample}")
            with h5py.File(self.path("out.h5")) as file:
                self.assertEqual(file["provenance"].attrs["thermal_seed"], seed)

    def test_samples_that_are_written_in_pieces(self):
        """Those of 2.3 MB and fields of 0.8 MB, by a mebibyte: each is that of its number."""
        algorithm = "{name: pt, beta: {values: [0.5, 1.0]}, samples: 24, sweeps: 320}"
        model = ("{{name: ea, shape: [16, 16, 16], sample: {}, write_couplings: true, "
                 "random_field: {{distribution: bimodal, width: 0.5}}}}")
        text = "gpumc: 1\nseed: 3\nmodel: {}\nalgorithm: {}\noutput: {}.h5\n"
        self.gpumc("run", self.write("all.yaml", text.format(model.format(5), algorithm, "all")),
                   "--quiet")
        with h5py.File(self.path("all.h5")) as file:
            couplings, fields = (file[f"disorder/{name}"][...] for name in ("couplings", "fields"))
        self.assertEqual(couplings.shape, (24, 4096, 3))
        self.assertEqual(fields.shape, (24, 4096))
        one = "{name: pa, population: 32, sweeps: 1, beta: {to: 0.1, step: 0.1}}"
        for sample in (0, 10, 11, 23):
            self.gpumc("run", self.write("one.yaml", text.format(model.format(5 + sample), one,
                                                                 f"one{sample}")), "--quiet")
            with h5py.File(self.path(f"one{sample}.h5")) as file:
                self.assertTrue((file["disorder/couplings"][0] == couplings[sample]).all())
                self.assertTrue((file["disorder/fields"][0] == fields[sample]).all())

    def test_nothing_is_written_unless_asked_for(self):
        with h5py.File(self.run_model("sample: 2", "out.h5")) as file:
            self.assertNotIn("disorder", file)

    def test_gaussian_values_come_back_as_they_were(self):
        """Random fields too, without the uniform field, which is a key of its own."""
        keys = "h: 0.3, write_couplings: true"
        fields = "random_field: {distribution: gaussian, width: 0.5}"
        first = self.run_model(f"couplings: gaussian, {fields}, {keys}", "first.h5")
        second = self.run_model(f"couplings: file, file: first.h5, {keys}", "second.h5")
        with h5py.File(first) as one, h5py.File(second) as other:
            for name in ("couplings", "fields", "shape"):
                np.testing.assert_array_equal(one["disorder"][name], other["disorder"][name])
            spread = one["disorder/fields"][...].std()
            self.assertTrue(0.3 < spread < 0.7, spread)

    def test_a_file_that_changes_between_stop_and_resume_is_refused(self):
        signs = "1 -1 " * 24
        self.write("couplings.txt", f"shape 4 6\ncouplings {signs}\n")
        config = self.config("couplings: file, file: couplings.txt")
        self.gpumc("run", config, "--quiet", "--max-time", "1 ms", code=STOPPED)
        self.write("couplings.txt", f"shape 4 6\ncouplings -1 {signs[2:]}\n")
        message = self.gpumc("run", config, "--quiet", code=INVALID).err
        self.assertIn("has changed since the checkpoint was made", message)
        self.write("couplings.txt", f"# the same once more\nshape 4 6\ncouplings\n{signs}\n")
        self.gpumc("run", config, "--quiet")

    def test_a_file_that_changes_behind_a_result_is_told(self):
        """What was computed from other couplings is not the result of these; samples behind those
        that the run took may come and go."""
        signs = "1 -1 " * 24
        good = f"shape 4 6\ncouplings {signs}\n"
        self.write("couplings.txt", good)
        config = self.config("couplings: file, file: couplings.txt")
        self.gpumc("run", config, "--quiet")
        self.write("couplings.txt", f"shape 4 6\ncouplings -1 {signs[2:]}\n")
        before = self.path("out.h5").read_bytes()
        message = self.gpumc("run", config, code=INVALID).err
        self.assertIn("out.h5: a file that the task reads has changed since the result was made", message)
        self.assertEqual(self.path("out.h5").read_bytes(), before)
        task = json.loads(self.gpumc("status", config, "--json").out)["tasks"][0]
        self.assertEqual(task["state"], "refused")
        for text in good, good + f"couplings {signs}\n", "# comment\n" + good:
            self.write("couplings.txt", text)
            self.assertIn("already complete", self.gpumc("run", config).err)
        self.write("couplings.txt", f"shape 4 6\ncouplings -1 {signs[2:]}\n")
        self.gpumc("run", config, "--quiet", "--fresh")
        self.assertIn("already complete", self.gpumc("run", config).err)

    def test_status_of_a_result_whose_file_has_gone_or_changed(self):
        """A run would be refused; how far the result is, is told where the file cannot be read, and
        automatic kernels are then that of the result."""
        for first, now in ("1 -1 ", "0.5 2 "), ("0.5 2 ", "1 -1 "):
            for variant in "auto", "spin":
                with self.subTest(first=first, variant=variant):
                    self.write("couplings.txt", f"shape 4 6\ncouplings {first * 24}\n")
                    config = self.config("couplings: file, file: couplings.txt", variant=variant)
                    self.gpumc("run", config, "--quiet", "--fresh")
                    for text in None, "no couplings", f"shape 4 6\ncouplings {now * 24}\n":
                        self.path("couplings.txt").unlink(missing_ok=True)
                        if text is not None:
                            self.write("couplings.txt", text)
                        self.gpumc("run", config, "--quiet", code=INVALID)
                        readable = text is not None and text.startswith("shape")
                        self.assertEqual(self.states(config), [("refused", None if readable else 1)])
                        self.assertEqual(self.states(config, "--set", "seed=4"), [("refused", None)])
                        self.assertEqual(self.states(config, "-o", "other.h5"),
                                         [("not started" if readable else "refused", None)])

    def states(self, config, *words):
        report = json.loads(self.gpumc("status", config, "--json", *words).out)
        return [(task["state"], task.get("fraction")) for task in report["tasks"]]

    def test_samples_of_a_text_file(self):
        """A sweep over `sample`; integers and decimals, comments, lines of any length."""
        values = np.where(np.arange(96) % 5 == 0, -1, 1).reshape(2, 48)
        byte_order_mark = "\ufeff"
        text = byte_order_mark + "# two samples\nshape 4 6\n" + "".join(
            "couplings\n" + " ".join(f"{v}.0" for v in sample) + "\n" for sample in values)
        self.write("couplings.txt", text)
        config = self.config("couplings: file, file: couplings.txt, write_couplings: true",
                             "'{model.sample}.h5'")
        self.write("c.yaml", pathlib.Path(config).read_text() +
                   "campaign: {model.sample: [0, 1]}\n")
        self.gpumc("run", config, "--quiet")
        for sample in range(2):
            with h5py.File(self.path(f"{sample}.h5")) as file:
                found = file["disorder/couplings"][0].ravel()
                np.testing.assert_array_equal(found, values[sample])

    def test_files_of_hdf5_that_are_refused(self):
        good = {"shape": [4, 6], "couplings": np.ones((1, 24, 2))}
        bad = np.ones((1, 24, 2))
        bad[0, 3, 1] = np.nan
        wanted = ("the dataset couplings must hold numbers [samples][sites][dimension], "
                  "here [any][24][2]")
        cases = [
            ({"shape": None}, "holds no dataset shape"),
            ({"couplings": None}, "holds no dataset couplings"),
            ({"shape": [6, 4]}, "the dataset shape does not match the lattice of the model, 4 x 6"),
            ({"shape": [4, 6, 2]}, "the dataset shape must hold numbers [dimension], here [2], but "
             "holds numbers [3]"),
            ({"shape": 4}, "the dataset shape must hold numbers [dimension], here [2], but holds "
             "a single number"),
            ({"couplings": np.ones((24, 2))}, f"{wanted}, but holds numbers [24][2]"),
            ({"couplings": np.ones((0, 24, 2))}, f"{wanted}, but holds numbers [0][24][2]"),
            ({"couplings": np.ones((1, 1, 24, 2))}, f"{wanted}, but holds numbers [1][1][24][2]"),
            ({"couplings": np.full((1, 24, 2), b"x")}, f"{wanted}, but holds other values [1][24][2]"),
            ({"couplings": h5py.Empty("f8")}, f"{wanted}, but holds nothing"),
            ({"couplings": bad}, "element 7 of the dataset couplings is nan, beyond +-1e+06"),
            ({"fields": np.ones((2, 24))}, "the dataset fields must hold numbers "
             "[samples][sites], here [1][24], but holds numbers [2][24]"),
        ]
        for changed, message in cases:
            with self.subTest(message):
                with h5py.File(self.path("bad.h5"), "w") as file:
                    for name, value in {**good, **changed}.items():
                        if value is not None:
                            file[name] = value
                self.assertEqual(self.refused("couplings: file, file: bad.h5"),
                                 f"3:57: bad.h5: {message}")

    def test_types_of_numbers(self):
        """Those of numpy are read; HDF5 would convert any others too, but nobody writes them, and a damaged
        type gives other numbers."""
        real, whole = h5py.h5t.IEEE_F64LE.copy(), h5py.h5t.STD_I16LE.copy()
        real.set_fields(62, 51, 11, 0, 51)
        real.set_precision(63)
        whole.set_precision(12)
        biased = h5py.h5t.IEEE_F64LE.copy()
        biased.set_ebias(1022)
        usual = [h5py.h5t.py_create(np.dtype(name)) for name in
                 ("f2", "<f4", ">f4", "<f8", ">f8", "longdouble", "i1", "<i4", ">i8", "u1")]
        for number, kind in enumerate([*usual, real, whole, biased]):
            with self.subTest(number=number):
                with h5py.File(self.path("types.h5"), "w") as file:
                    file["shape"] = [4, 6]
                    space = h5py.h5s.create_simple((1, 24, 2))
                    data = h5py.h5d.create(file.id, b"couplings", kind, space)
                    data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ones((1, 24, 2)))
                if number < len(usual):
                    self.gpumc("validate", self.config("couplings: file, file: types.h5"))
                else:
                    self.assertIn("but holds other values [1][24][2]",
                                  self.refused("couplings: file, file: types.h5"))

    def test_text_files_that_are_refused(self):
        for text, message in (("", ": the file is empty; it must begin with 'shape'"),
                              ("shape 4 6\ncouplings 1 1e7", ":2: number 2 of the 48 couplings of sample 0 "
                               "is 1e7, beyond +-1e+06"),
                              ("shape 4 6\ncouplings 1 1\0 1 1", ":2:14: a zero byte: this is not a text file")):
            self.write("c.txt", text)
            self.assertEqual(self.refused("couplings: file, file: c.txt"), f"3:57: c.txt{message}")

    def test_a_damaged_file_is_refused(self):
        first = self.run_model("write_couplings: true", "first.h5")
        self.path("short.h5").write_bytes(first.read_bytes()[:600])
        self.assertIn("3:57: short.h5: cannot open the file: ",
                      self.refused("couplings: file, file: short.h5"))

    def test_combinations_of_keys(self):
        self.assertEqual(self.refused("couplings: file"), "3:45: couplings: file needs the key "
                         "'file', the path of the couplings")
        self.assertEqual(self.refused("couplings: file, file: ''"),
                         "3:57: file must be the path of the couplings")
        self.assertEqual(self.refused("couplings: file, file: absent.txt"),
                         "3:57: cannot read absent.txt: No such file or directory")
        self.assertEqual(self.refused("couplings: file, file: /dev/zero"),
                         "3:57: cannot read /dev/zero: not a regular file but a device")
        config = self.path(self.config("couplings: file, file: absent.txt"))
        config.write_text(config.read_text().replace("sweeps: 2", "sweeps: -2"))
        message = self.gpumc("validate", config, code=INVALID).err
        self.assertIn("3:57: cannot read absent.txt", message)
        self.assertIn("sweeps", message)
        self.assertEqual(self.refused("file: c.txt"), "3:40: file is read with couplings: file "
                         "only; the couplings are bimodal")
        self.assertEqual(self.refused("couplings: gaussian, p: 0.7"),
                         "3:58: p applies to bimodal couplings only; these are Gaussian")
        self.assertEqual(self.refused("random_field: {width: 1}"),
                         "3:56: random_field.width = 1 needs a random_field.distribution, bimodal "
                         "or gaussian")
        self.assertEqual(self.refused("random_field: {distribution: gaussian}"),
                         "3:63: a gaussian random field needs a random_field.width above 0")

    def test_keys_that_would_change_nothing(self):
        self.write("c.txt", "shape 4 6 couplings " + "1 " * 48)
        self.assertEqual(self.refused("couplings: file, file: c.txt, disorder_seed: 3"),
                         "3:79: disorder_seed = 3 would change nothing: the couplings are read "
                         "from a file, and there is no random_field")
        config = pathlib.Path(self.config("")).read_text()
        for key, message in (
                ("sample: 3", "sample = 3 would change nothing: there is no random_field"),
                ("disorder_seed: 3", "disorder_seed = 3 would change nothing: there is no "
                 "random_field"),
                ("write_couplings: true", "write_couplings needs a random_field: without one all "
                 "couplings are J")):
            with self.subTest(key):
                cubic = f"name: ising3d, shape: [4, 4, 4], {key}"
                path = self.write("c.yaml", config.replace("name: ea, shape: [4, 6], ", cubic))
                self.assertIn(message, self.gpumc("validate", path, code=INVALID).err)
                field = ", random_field: {distribution: bimodal, width: 1}"
                path = self.write("c.yaml",
                                  config.replace("name: ea, shape: [4, 6], ", cubic + field))
                self.gpumc("validate", path)

    def test_kernels_that_cannot_take_the_model(self):
        """Asked for, they are refused with what does; `auto` takes the next."""
        cases = [("couplings: gaussian", "a coupling as one bit, but not all of these are +1 or -1"),
                 ("random_field: {distribution: gaussian, width: 1}",
                  "a random field as one bit, but these differ in size"),
                 ("h: 1, random_field: {distribution: bimodal, width: 1}",
                  "a field as one bit, but random fields with a uniform one differ in size")]
        for model, reason in cases:
            with self.subTest(model):
                self.assertEqual(
                    self.refused(model, variant="multispin"),
                    "5:19: no kernel of model ea on cpu can run algorithm pa: multispin cannot simulate "
                    f"this model: it stores {reason}; kernels that can: {self.kernels_but_multispin()}")
                plan = json.loads(self.gpumc("plan", self.config(model), "--json").out)
                self.assertEqual(plan["tasks"][0]["kernel"], "spin")

    def test_couplings_of_one_size_and_fields_of_none(self):
        """Fields that are all 0 count as none; multispin takes such a file, and not couplings 2."""
        text = "shape 4 6 couplings {} fields " + "0 " * 24
        model = "couplings: file, file: c.txt"
        self.write("c.txt", text.format("1 -1 " * 24))
        self.gpumc("validate", self.config(model, variant="multispin"))
        field = ", random_field: {distribution: bimodal, width: 1}"
        self.gpumc("validate", self.config(model + field, variant="multispin"))
        self.write("c.txt", text.format("2 -2 " * 24))
        self.assertIn("all of these have another size: give their signs, and multiply "
                      "beta by the size", self.refused(model, variant="multispin"))

    def kernels_but_multispin(self):
        models = json.loads(self.gpumc("list", "--json").out)["models"]
        kernels = next(m["kernels"] for m in models if m["name"] == "ea")
        return ", ".join(f"{k['variant']} on {k['device']}" for k in kernels
                         if k["variant"] != "multispin" and not k["absent"])


if __name__ == "__main__":
    cases.main()
