"""gpumc compare: what it compares, what it says, and its exit codes. Its rates are in statistical/test_compare.py.

CTest: methods 5 s
"""
import json
import pathlib
import shutil
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.edited_result import edited
from support import cases, device
from support.program import SMALL, ProgramCase
from support.device import PROGRAM
from support.gpumc_program import summary

CANONICAL = """\
gpumc: 1
seed: 3
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: canonical, thermalization: 20, sweeps: 400, temperature: {values: [3, 2.5, 2]}, reweight_temperature: {values: [2.4, 2.1]}}
output: a.h5
"""

GLASS = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 4]}
algorithm: {name: pt, samples: 16, replicas: 2, sweeps: 1000, temperature: {values: [3, 2, 1]}}
output: a.h5
"""
DISKS = """\
gpumc: 1
seed: 5
model: {name: hard_disks, particles: 36, packing_fraction: 0.5}
algorithm: {name: mpmc, thermalization: 200, sweeps: 1000, interval: 10, replicas: 4, pair_correlation: true, structure_factor: true}
output: a.h5
"""


class Compare(ProgramCase):
    def result(self, name, text, *options):
        self.gpumc("run", self.write("c.yaml", text), "-o", name, "--quiet", *options)
        return name

    def compare(self, a, b, *options, code=0):
        return json.loads(self.gpumc("compare", a, b, "--json", *options, code=code).out)

    def test_numbers(self):
        """Values, errors, differences and chi-square are those of the files, at the controls that both have."""
        a = self.result("a.h5", CANONICAL)
        b = self.result("b.h5", CANONICAL, "--set", "seed=4", "--set", "algorithm.temperature.values=[4, 3, 2.2, 2]")
        found = self.compare(a, b)
        one, other = summary(self.path(a)), summary(self.path(b))
        names = [quantity["name"] for quantity in found["quantities"]]
        self.assertEqual(names, [n for n in one if n + "_error" in one])
        self.assertEqual(names[0], "energy")
        for quantity in found["quantities"]:
            name = quantity["name"]
            self.assertEqual(quantity["control"], [1 / 3, 0.5])
            self.assertEqual(quantity["a"], one[name][[0, 2]].tolist())
            self.assertEqual(quantity["b"], other[name][[1, 3]].tolist())
            errors = one[name + "_error"][[0, 2]], other[name + "_error"][[1, 3]]
            self.assertEqual([quantity["a_error"], quantity["b_error"]], [e.tolist() for e in errors])
            difference = (one[name][[0, 2]] - other[name][[1, 3]]) / np.hypot(*errors)
            np.testing.assert_allclose(quantity["difference"], difference, rtol=1e-12)
            self.assertAlmostEqual(quantity["chi_square"], (difference ** 2).sum())
            self.assertTrue(quantity["independent"])
        self.assertAlmostEqual(found["p"], min(1, len(names) * min(q["p"] for q in found["quantities"])))
        self.assertIn("seed: 3 -> 4", found["configuration"])

    def test_text(self):
        a = self.result("a.h5", CANONICAL)
        b = self.result("b.h5", CANONICAL, "--set", "seed=4")
        out = self.gpumc("compare", a, b).out
        self.assertIn("seed: 3 -> 4", out)
        self.assertIn("points are independent", out)
        self.assertIn("beta = 0.", out)
        self.assertRegex(out, "\ncompatible: p = .* alpha = 0.01\n")
        out = self.gpumc("compare", a, b, "--points", "-T").out
        self.assertIn("T = 2.5", out)
        self.assertNotIn("beta =", out.replace("beta = 1/T", ""))
        out = self.gpumc("compare", a, b, "--group", "reweighted", "-T").out
        self.assertIn("reweighted/energy", out)
        self.assertIn("a bound that holds for any correlations", out)

    def test_identical(self):
        a = self.result("a.h5", SMALL)
        b = self.result("b.h5", SMALL, "--threads", "1")
        found = self.compare(a, b)
        self.assertTrue(found["identical"] and found["compatible"])
        self.assertEqual(found["remarks"], [r for r in found["remarks"] if "not trusted" in r])
        self.assertIn("identical: all compared values and errors are the same, bit for bit", self.gpumc("compare", a, b).out)

    def test_different(self):
        """Another field is found, and alpha decides."""
        a = self.result("a.h5", CANONICAL)
        b = self.result("b.h5", CANONICAL, "--set", "model.h=0.1")
        found = self.compare(a, b, code=1)
        self.assertFalse(found["compatible"])
        self.assertLess(found["p"], 1e-6)
        self.assertTrue(any("both have seed 3" in remark for remark in found["remarks"]))
        self.assertIn("NOT compatible", self.gpumc("compare", a, b, code=1).out)
        c = self.result("c.h5", CANONICAL, "--set", "seed=4")
        p = self.compare(a, c)["p"]
        self.assertGreater(p, 0.01)
        if p < 0.99:
            self.compare(a, c, "--alpha", str(min(0.999, p + 0.005)), code=1)

    def test_algorithms_agree(self):
        """Of different algorithms what they have in common is compared."""
        a = self.result("a.h5", CANONICAL.replace("sweeps: 400", "sweeps: 4000"))
        b = self.result("b.h5", CANONICAL.replace(
            CANONICAL.split("\n")[3], "algorithm: {name: pt, samples: 64, sweeps: 1000, temperature: {values: [3, 2.5, 2]}}"))
        found = self.compare(a, b, code=0)
        self.assertIn("energy", [q["name"] for q in found["quantities"]])
        self.assertFalse(found["quantities"][0]["independent"])

    def without_errors(self, name, points):
        """Errors of the summary become unknown at these points."""
        with edited(self.path(name)) as file:
            for dataset in file["summary"]:
                if dataset.endswith("_error") and file["summary"][dataset].ndim == 1:
                    values = file["summary"][dataset][()]
                    values[points] = np.nan
                    file["summary"][dataset][...] = values

    def test_points_without_errors(self):
        """They are counted, and where there are no others there is no comparison."""
        a = self.result("a.h5", CANONICAL)
        b = self.result("b.h5", CANONICAL, "--set", "seed=4")
        self.assertEqual(self.compare(a, b)["compared"], 3 * len(self.compare(a, b)["quantities"]))
        self.without_errors(b, [0, 2])
        found = self.compare(a, b)
        n = len(found["quantities"])
        self.assertEqual(found["compared"], n)
        self.assertTrue(all((q["points"], q["unknown"], q["common"]) == (1, 2, 3) for q in found["quantities"]))
        self.assertIn(f"at {2 * n} points an error is unknown: they are not compared", found["remarks"])
        self.assertIn(f"little is compared: {n} of {3 * n} points", found["remarks"])
        self.assertRegex(self.gpumc("compare", a, b).out, r"\n  energy +1 of 3 ")
        self.without_errors(b, [1])
        self.assertIn("no point of a.h5 and b.h5 can be compared", self.gpumc("compare", a, b, code=2).err)

    def test_quantities_of_one_result(self):
        a = self.result("a.h5", SMALL)
        b = self.result("b.h5", SMALL)
        with edited(self.path(b)) as file:
            del file["summary/energy"]
        found = self.compare(a, b)
        self.assertEqual((found["only_a"], found["only_b"]), (["energy"], []))
        self.assertTrue(found["identical"])
        out = self.gpumc("compare", a, b).out
        self.assertIn("only in A:\n  energy\n", out)
        self.assertIn("identical: all compared values", out)

    def test_values_near_0(self):
        """A value that is 0 but for rounding is the same."""
        text = CANONICAL.replace(CANONICAL.split("sweeps: 400, ")[1].split("\n")[0], "control: {name: h, beta: 0.3, values: [HERE]}}")
        a = self.result("a.h5", text.replace("HERE", "-0.1, 0, 0.1"))
        b = self.result("b.h5", text.replace("HERE", "-0.1, 1.0e-17, 0.1"), "--set", "seed=4")
        self.assertEqual(self.compare(a, b)["quantities"][0]["control"], [-0.1, 0, 0.1])
        c = self.result("c.h5", text.replace("HERE", "-0.1, 1.0e-5, 0.1"), "--set", "seed=4")
        self.assertEqual(self.compare(a, c)["quantities"][0]["control"], [-0.1, 0.1])

    def test_profiles(self):
        """A distribution at each temperature: the points are those of the temperatures and of the places that both have."""
        a = self.result("a.h5", GLASS)
        b = self.result("b.h5", GLASS, "--set", "seed=4", "--set", "algorithm.temperature.values=[4, 3, 1.5, 1]")
        group = ["--group", "overlap_distribution"]
        one, = self.compare(a, b, *group)["quantities"]
        with h5py.File(self.path(a)) as first, h5py.File(self.path(b)) as second:
            first, second = first["summary/overlap_distribution"], second["summary/overlap_distribution"]
            q = first["q"][()]
            for side, rows, letter in (first, [0, 2], "a"), (second, [1, 3], "b"):
                np.testing.assert_array_equal(one[letter], side["probability"][()][rows].ravel())
                errors = [np.nan if error is None else error for error in one[f"{letter}_error"]]
                np.testing.assert_array_equal(errors, side["probability_error"][()][rows].ravel())
        self.assertEqual((one["axis"], one["profile_axis"]), ("beta", "q"))
        self.assertEqual(one["control"], [1 / 3] * len(q) + [1] * len(q))
        self.assertEqual(one["place"], [*q, *q])
        self.assertEqual((one["common"], one["total"], one["independent"]), (2 * len(q), 3 * len(q), False))
        self.assertIn("T = 1, q = 0.5 ", self.gpumc("compare", a, b, *group, "--points", "-T").out)
        self.assertTrue(self.compare(a, a, *group)["identical"])
        other = self.result("c.h5", GLASS, "--set", "model.p=1", "--set", "seed=4")  # a ferromagnet
        self.assertLess(self.compare(a, other, *group, code=1)["p"], 1e-6)

    def test_each_profile_has_its_own_axis(self):
        a, b = self.result("a.h5", DISKS), self.result("b.h5", DISKS, "--set", "seed=6")
        axes = {quantity["name"]: quantity.get("axis") for quantity in self.compare(a, b)["quantities"]}
        self.assertEqual((axes["pair_correlation"], axes["structure_factor"], axes["pressure"]), ("distance", "wave_number", None))
        # Where only the axis tells two curves apart, there is nothing to compare.
        with edited(self.path(b)) as file:
            file["summary/distance"][...] += 0.005
        found = self.compare(a, b)
        self.assertNotIn("pair_correlation", [quantity["name"] for quantity in found["quantities"]])
        self.assertIn("structure_factor", [quantity["name"] for quantity in found["quantities"]])

    def test_keys_that_decide_no_number(self):
        """They are not among the differences of the configurations."""
        a = self.result("a.h5", CANONICAL)
        idle = {"title": "another", "checkpoint.every": "1 min", "kernel.isa": device.lowest_level(), "kernel.block_threads": "64"}
        b = self.result("b.h5", CANONICAL, *(f"--set={key}={value}" for key, value in idle.items()))
        self.assertEqual(self.compare(a, b)["configuration"], [])
        c = self.result("c.h5", CANONICAL, "--set", "title=another", "--set", "kernel.variant=spin")
        self.assertEqual([line.split(":")[0] for line in self.compare(a, c)["configuration"]], ["kernel.variant"])

    def test_output_that_cannot_be_written(self):
        a = self.result("a.h5", SMALL)
        for options in [], ["--json"]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, "compare", a, a, *options], cwd=self.directory, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2)

    def test_trouble(self):
        a = self.result("a.h5", CANONICAL)
        b = self.result("b.h5", CANONICAL, "--set", "algorithm.temperature.values=[4, 3.5]", "--set", "algorithm.reweight_temperature=null")
        for words, message in ((["compare", a], "two results are compared"), (["compare", a, b, a], "is a third"),
                               (["compare", a, "none.h5"], "none.h5"), (["compare", a, b], "no quantity with errors in common"),
                               (["compare", a, a, "--alpha", "2"], "--alpha: expected a number between 0 and 1"),
                               (["compare", a, a, "--group", "none"], "has no group 'none'; it has "),
                               (["compare", a, a, "--group", "none"], "reweighted")):
            with self.subTest(words=words):
                self.assertIn(message, self.gpumc(*words, code=2).err)
        shutil.copy(self.path(a), self.path("torn.h5"))
        with open(self.path("torn.h5"), "r+b") as file:
            file.seek(3000)
            file.write(b"torn")
        self.assertIn("torn.h5", self.gpumc("compare", a, "torn.h5", code=2).err)


if __name__ == "__main__":
    cases.main()
