"""Multicanonical runs whose weights begin with a density of states from a file: a result, exact values as text, values
of some levels only. The file is part of a run's identity: one that changed, or cannot be used, is refused.

Bounds are exact or an order of magnitude wide. Negative control: a density of states that is wrong by a logarithm per
level takes many iterations, while a good one takes a few.

CTest: long, cases 3 s
"""
import json
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration
from support.program import INVALID, ProgramCase, STOPPED

SHAPE = (4, 4)
CONFIG = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: muca, walkers: 640}
output: run.h5
"""
FEW = 5  # iterations from good weights; from flat ones it takes more than 30


def exact_levels():
    """Energies of the lattice with ln of their number of states."""
    value, count = np.unique(enumeration.energies(SHAPE, np.ones((16, 2)), np.zeros(16)).astype(int), return_counts=True)
    return value, np.log(count)


class Start(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", CONFIG)
        self.value, self.log_dos = exact_levels()

    def text(self, name, value, log_dos):
        lines = [f"{v} {w!r} # a level\n" for v, w in zip(value.tolist(), log_dos.tolist())]
        return self.write(name, "# value, ln Omega\n\n" + "".join(lines))

    def from_file(self, name):
        return ["--set", "algorithm.iteration.start=file", "--set", f"algorithm.iteration.file={name}"]

    def iterations(self, *arguments):
        self.gpumc("run", self.config, "--quiet", *arguments)
        with h5py.File(self.path("run.h5")) as file:
            self.summary = {name: data[()] for name, data in file["summary"].items() if isinstance(data, h5py.Dataset)}
            self.provenance = dict(file["provenance"].attrs)
            self.assertEqual(file["summary"].attrs["converged"], 1)
            return len(file["runs/0000/iterations/levels"])

    def refused(self, name, *says, options=()):
        for command in ["validate"], ["plan"], ["run"]:
            error = self.gpumc(*command, self.config, *self.from_file(name), *options, code=INVALID).err
            for text in says:
                self.assertIn(text, error)
        self.assertFalse(self.path("run.h5").exists())

    def test_good_weights_take_few_iterations(self):
        flat = self.iterations()
        self.path("run.h5").rename(self.path("before.h5"))
        self.assertGreater(flat, 6 * FEW)
        self.text("exact.txt", self.value, self.log_dos)
        self.text("reversed.txt", self.value[::-1], self.log_dos[::-1] + 1000)
        for name in "before.h5", "exact.txt", "reversed.txt":
            with self.subTest(name):
                self.assertLessEqual(self.iterations("--fresh", *self.from_file(name)), FEW)
                self.assertEqual(self.summary["level_energy"].tolist(), self.value.tolist())
                self.assertLess(np.abs(self.summary["log_dos"] - self.log_dos).max(), 0.5)
                self.assertRegex(self.provenance["read_checksum"].decode(), "^[0-9a-f]{16}$")

    def test_weights_of_production_are_written(self):
        """ln Omega follows from them and from the visits, and iterations end with them."""
        self.iterations("--set", "algorithm.iteration.write_weights=true")
        follows = np.log(self.summary["visits"]) - self.summary["log_weight"]
        self.assertLess(np.ptp(self.summary["log_dos"] - follows), 1e-9)
        with h5py.File(self.path("run.h5")) as file:
            last = file["runs/0000/iterations/log_weight"][-1][np.isin(np.arange(-32, 33, 4), self.value)]
        self.assertLess(np.ptp(self.summary["log_weight"] - last), 0.5)
        self.assertGreater(np.ptp(self.summary["log_weight"]), 5)

    def test_wrong_weights_are_mended(self):
        self.text("wrong.txt", self.value, self.log_dos + np.linspace(0, len(self.value), len(self.value)))
        self.assertGreater(self.iterations(*self.from_file("wrong.txt")), FEW)
        self.assertLess(np.abs(self.summary["log_dos"] - self.log_dos).max(), 0.5)

    def test_missing_levels(self):
        """Between levels of the file weights are interpolated, beyond them they are extended, and nothing is left
        out."""
        self.text("some.txt", self.value[2:-2:2], self.log_dos[2:-2:2])
        for extrapolate in "true", "false":
            with self.subTest(extrapolate):
                self.iterations("--fresh", *self.from_file("some.txt"), "--set",
                                f"algorithm.iteration.extrapolate={extrapolate}")
                self.assertEqual(self.summary["level_energy"].tolist(), self.value.tolist())

    def test_files_that_cannot_serve(self):
        self.refused("missing.txt", "cannot read missing.txt: No such file", "; give a finished result of muca")
        self.write("words.txt", "# value\n-32 0.7\n-24 many\n")
        self.refused("words.txt", "words.txt:3: expected two numbers", "'-24 many'")
        self.write("three.txt", "-32 0.7 1\n")
        self.refused("three.txt", "three.txt:1: expected two numbers")
        self.write("infinite.txt", "-32 -inf\n")
        self.refused("infinite.txt", "infinite.txt:1: expected two numbers")
        self.write("empty.txt", "# nothing\n")
        self.refused("empty.txt", "empty.txt has no levels")
        self.write("twice.txt", "-32 1\n-32 2\n")
        self.refused("twice.txt", "two lines for the level -32")
        self.write("large.txt", "-32 1e9\n32 0\n")
        self.refused("large.txt", "differs by 1e+09")
        self.write("beyond.txt", "100 1\n200 2\n")
        self.refused("beyond.txt", "levels from 100 to 200, none of which belongs to this run, from -32 to 32", "whole system")

    def test_results_that_cannot_serve(self):
        field = ["--set", "algorithm.control={name: h, beta: 0.3, from: -0.1, to: 0.1, step: 0.1}"]
        self.gpumc("run", self.config, "--quiet", "-o", "field.h5", *field)
        self.refused("field.h5", "of the magnetization, but the weights of this run depend on the energy")
        self.gpumc("run", self.config, "--quiet", "-o", "pa.h5", "--set",
                   "algorithm={name: pa, population: 32, sweeps: 1, beta: {to: 0.1, step: 0.1}}")
        self.refused("pa.h5", "pa.h5 has no density of states, so it is not a result of muca")
        self.gpumc("run", self.config, "--quiet", "-o", "energy.h5")
        damaged = bytearray(self.path("energy.h5").read_bytes())
        damaged[len(damaged) // 2] ^= 1
        self.path("damaged.h5").write_bytes(damaged)
        self.refused("damaged.h5", "damaged.h5", "give a finished result of muca")
        self.gpumc("run", self.config, "-o", "long.h5", "--max-time", "1 ms", "--set",
                   "algorithm.production.updates=1e9", code=STOPPED)
        self.refused("long.h5.partial", "has not finished: finish that run")

    def test_keys_that_contradict(self):
        self.assertIn("needs the key 'file'", self.gpumc(
            "validate", self.config, "--set", "algorithm.iteration.start=file", code=INVALID).err)
        self.assertIn("read with start: file only", self.gpumc(
            "validate", self.config, "--set", "algorithm.iteration.file=x", code=INVALID).err)

    def test_walkers_auto_is_what_leaving_them_out_is(self):
        def resolved(*options):
            self.gpumc("run", self.config, "--quiet", "--fresh", "--set", "algorithm.production.updates=100", *options)
            with h5py.File(self.path("run.h5")) as file:
                return json.loads(file["config/resolved"][()])

        left_out = resolved("--set", "algorithm.walkers=null")
        self.assertEqual(left_out["algorithm"]["walkers"], 1024)
        self.assertEqual(resolved("--set", "algorithm.walkers=auto"), left_out)
        campaign = self.write("both.yaml", CONFIG.replace("run.h5", "'w{algorithm.walkers}.h5'")
                              + "campaign: {algorithm.walkers: [auto, 64]}\n")
        plan = json.loads(self.gpumc("plan", campaign, "--json").out)
        self.assertEqual([(task["replicas"], task["output"]) for task in plan["tasks"]],
                         [(1024, "w1024.h5"), (64, "w64.h5")])
        self.assertIn("or auto, found text 'automatic'",
                      self.gpumc("validate", self.config, "--set", "algorithm.walkers=automatic", code=INVALID).err)

    def test_plan_says_how_many_walkers_fill_the_device(self):
        for name, threads in ("cpu", 1), ("cpu", 2):
            options = [self.config, "--device", name, "--threads", str(threads)]
            task = json.loads(self.gpumc("plan", *options, "--json").out)["tasks"][0]
            self.assertEqual(task["replicas_to_fill_device"], 32 * threads)
            self.assertTrue(task["estimated_by_walks"])
            self.assertGreater(task["estimated_updates_per_second"], 0)
            text = self.gpumc("plan", *options).out
            self.assertIn(f"{32 * threads} keep the device busy", text)
            self.assertIn("(estimate: walks at", text)
        sweeping = ["--set", "algorithm={name: pa, population: 32, sweeps: 1, beta: {to: 0.1, step: 0.1}}"]
        task = json.loads(self.gpumc("plan", self.config, *sweeping, "--json").out)["tasks"][0]
        self.assertNotIn("replicas_to_fill_device", task)
        self.assertFalse(task["estimated_by_walks"])

    def test_plan_counts_the_time_of_curves(self):
        """For 64 x 64 with blocks of 100 groups of walkers: 2049 levels, 101 sums over them at each temperature."""
        def seconds(step):
            keys = ("{name: muca, walkers: 3200, iteration: {maximum: 1}, production: {updates: 100, measurements: 100}, "
                    f"beta: {{to: 1, from: 0, step: {step}}}}}")
            task = json.loads(self.gpumc("plan", self.config, "--threads", "1", "--json", "--set", "model.shape=[64, 64]",
                                         "--set", f"algorithm={keys}").out)["tasks"][0]
            return task["estimated_seconds"]
        terms = 2049 * 101 * 5e4
        self.assertTrue(terms * 0.5e-9 < seconds(2e-5) - seconds(1) < terms * 20e-9)

    def test_is_no_output(self):
        self.gpumc("run", self.config, "--quiet")
        before = self.path("run.h5").read_bytes()
        for command in ["validate"], ["run"], ["run", "--fresh"]:
            error = self.gpumc(*command, self.config, *self.from_file("run.h5"), code=INVALID).err
            self.assertIn("output: 'run.h5' is the file 'run.h5' that algorithm.iteration.file names, which would be "
                          "lost", error)
        self.assertEqual(self.path("run.h5").read_bytes(), before)

    def state(self, *options):
        return json.loads(self.gpumc("status", self.config, *options, "--json").out)["tasks"][0]

    def test_changed_file_is_refused_on_resume_and_of_a_result(self):
        options = [*self.from_file("exact.txt"), "--set", "algorithm.production.updates=1e6"]
        self.text("exact.txt", self.value, self.log_dos)
        self.gpumc("run", self.config, "--max-time", "1 ms", *options, code=STOPPED)
        self.text("exact.txt", self.value, self.log_dos * 1.001)
        self.assertEqual(self.state(*options)["state"], "refused")
        error = self.gpumc("run", self.config, *options, code=INVALID).err
        self.assertIn("run.h5.ckpt: a file that the task reads has changed since the checkpoint was made",
                      error)
        self.text("exact.txt", self.value[::-1], self.log_dos[::-1])  # the same levels in another order
        self.assertEqual(self.state(*options)["state"], "resumable")
        self.gpumc("run", self.config, "--quiet", *options)
        with h5py.File(self.path("run.h5")) as file:
            resumed = file["summary/log_dos"][()]
        self.assertIn("already complete", self.gpumc("run", self.config, *options).err)
        self.gpumc("run", self.config, "--quiet", "--fresh", *options)
        with h5py.File(self.path("run.h5")) as file:
            self.assertEqual(file["summary/log_dos"][()].tolist(), resumed.tolist())
        self.text("exact.txt", self.value, self.log_dos * 1.001)
        self.assertEqual(self.state(*options)["state"], "refused")
        self.assertIn("run.h5: a file that the task reads has changed since the result was made",
                      self.gpumc("run", self.config, *options, code=INVALID).err)
        self.path("exact.txt").unlink()
        self.assertIn("cannot read exact.txt", self.state(*options)["message"])


if __name__ == "__main__":
    device.require()
    cases.main()
