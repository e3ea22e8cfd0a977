"""Keys of hard disks: boxes, starts and positions that are not possible are mistakes at their place; runs from every start,
and runs that are stopped and resumed in another number of threads, give what they should.

CTest: methods 6 s
"""
import json
import re
import sys
import pathlib

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.program import INVALID, OK, ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 3
model: {{name: hard_disks, {model}}}
algorithm: {{name: mpmc, thermalization: 20, sweeps: 400{more}}}
kernel: {{device: cpu{kernel}}}
output: {output}
"""
# The model's keys, and the mistake behind "c.yaml:3:".
MISTAKES = {
    "particles: 6, packing_fraction: 0.55": r"59: packing_fraction: a box of 2.927111 x 2.927111 cannot be divided",
    "particles: 6, lattice: [2, 2], packing_fraction: 0.5": r"\d+: 'particles' and 'lattice' in model exclude each other",
    "particles: 60": r"1: give exactly one of 'packing_fraction', 'box' in model",
    "lattice: [4, 3], packing_fraction: 0.5": r"36: lattice: 3 rows do not fit",
    "particles: 60, packing_fraction: 0.85": r"60: packing_fraction: compression from a random state does not reach",
    "particles: 60, box: [7.5, 7.5]": r"47: box: compression from a random state does not reach",
    "particles: 60, packing_fraction: 0.85, start: compressed": r"73: start: compression from a random state does not reach",
    "particles: 60, packing_fraction: 0.9, start: lattice": r"72: start: no triangular lattice of 60 disks fits",
    "particles: 5, packing_fraction: 0.8": r"59: packing_fraction: 5 disks .* do not fit into a square .*: the densest state has 0.7854",
    "particles: 6, packing_fraction: 0.756, start: lattice": r"59: packing_fraction: 6 disks .* do not fit into a square .*: the densest state has 0.7555",
    "particles: 7, packing_fraction: 0.7375": r"59: packing_fraction: 7 disks .* do not fit into a square .*: the densest state has 0.7366",
    "particles: 5, box: [2.2, 2.2]": r"46: box: 5 disks .* do not fit into a square",
    "particles: 60, box: [3, 20]": r"47: box: a box of 3 x 20 cannot be divided",
    "particles: 60, box: [5, 8]": r"47: box: 60 disks in a box of 5 x 8 have a packing fraction of 1.178",
    "particles: 2, packing_fraction: 0.9": r"59: packing_fraction: a box of 1.321109 x 1.321109 is too small",
    "particles: 60, packing_fraction: 0.5, file: x": r"\d+: file is read with start: file only",
    "particles: 60, packing_fraction: 0.5, start: file": r"\d+: start: file needs the key 'file'",
    "particles: 60, box: [10, 10], aspect: 2": r"\d+: aspect is not used: `box` gives both sides",
    "lattice: [8, 8], packing_fraction: 0.5, aspect: 2": r"\d+: aspect is not used: the box has the aspect ratio",
}
# Of three disks in a box of 5 x 5.
FILES = {
    "0 0\n1.5 0.2 4.5 0\n": "pos.txt: disks 1 and 3, counted from 1, overlap",
    "0 0\n1.5 0.2 4.5\n": "pos.txt: the file ends after 5 coordinates, but 3 disks have 6",
    "0 0\n1.5 0.2 3 x": "pos.txt:2: expected a coordinate",
    "0 0 # first\n1.5 0.2 3 3\n1 ": "pos.txt:3: more coordinates than the 6 of 3 disks",
}
PRESSED = """\
gpumc: 1
seed: 3
model: {{name: hard_disks, {model}}}
algorithm: {{{algorithm}, control: {{name: beta_pressure, {values}}}}}
kernel: {{device: cpu{kernel}}}
output: r.h5
"""
ISING = """\
gpumc: 1
seed: 3
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: canonical, beta: {values: [0.3]}, thermalization: 10, sweeps: 100}
output: i.h5
"""
CHAINS = "name: canonical, thermalization: 20, sweeps: 100"


class HardDisksKeys(ProgramCase):
    def config(self, model, more="", kernel="", output="r.h5"):
        return self.write("c.yaml", CONFIG.format(model=model, more=more, kernel=kernel, output=output))

    def test_mistakes_stand_at_their_keys(self):
        for model, mistake in MISTAKES.items():
            with self.subTest(model):
                self.assertRegex(self.gpumc("validate", self.config(model), code=INVALID).err, "c.yaml:3:" + mistake)

    def pressed(self, values, algorithm=CHAINS, kernel="", model="particles: 60, packing_fraction: 0.5"):
        return self.write("c.yaml", PRESSED.format(values=values, algorithm=algorithm, kernel=kernel, model=model))

    def refusal(self, config, key):
        """What follows the place of the key's value, which the mistake stands at."""
        refused = self.gpumc("validate", config, code=INVALID).err
        line = pathlib.Path(config).read_text().splitlines()[3]
        start = line.index("beta_pressure") if key == "name" else line.index(f" {key}: ") + len(f" {key}: ")
        self.assertIn(f"c.yaml:4:{start + 1}: ", refused)
        self.assertEqual(refused.count("c.yaml:"), 1)
        return refused

    def test_pressures_that_no_box_has_are_refused_at_their_values(self):
        for values, key in (("values: [1e6]", "values"), ("values: [2, 3, 1e6]", "values"), ("values: [-1, 2]", "values"),
                            ("values: [0, 2]", "values"), ("from: 0, to: 2, step: 1", "from"), ("from: 1, to: 1e6, count: 3", "to")):
            with self.subTest(values):
                self.assertRegex(self.refusal(self.pressed(values), key),
                                 r"control\.\w+: at beta_pressure = \S+ .*use pressures (above 0|up to \S+)\n")
        for algorithm, values in (("name: pt, samples: 2, sweeps: 64", "values: [-1, 2]"),
                                  ("name: pa, population: 64, sweeps: 1", "thermalization: 2, values: [1, 1e6]")):
            with self.subTest(algorithm):
                self.assertIn("use pressures", self.refusal(self.pressed(values, algorithm), "values"))

    def test_boxes_at_the_end_of_their_grid_have_no_pressure(self):
        side = 4 * 2 ** 0.5 - 1e-6
        for box, code in ((side, INVALID), (side - 1e-3, OK)):
            config = self.pressed("values: [1]", model=f"particles: 10, box: [{box:.6f}, 7]")
            with self.subTest(box):
                if code == INVALID:
                    self.assertRegex(self.refusal(config, "name"),
                                     "beta_pressure cannot be moved: a side of the box .* change model.box a little")
                self.gpumc("run", "--fresh", config, code=code)

    def test_the_highest_pressure_that_is_advised_runs(self):
        """As does a little more by a larger step."""
        refused = self.refusal(self.pressed("values: [1e6]"), "values")
        highest = float(re.search(r"pressures up to (\S+)", refused).group(1))
        self.gpumc("run", "--fresh", self.pressed(f"values: [{highest}]"), code=OK)
        self.assertIn("cannot be moved", self.refusal(self.pressed(f"values: [{1.02 * highest}]"), "values"))
        self.gpumc("run", "--fresh", self.pressed(f"values: [{1.02 * highest}]", kernel=", volume_step: 2.1"), code=OK)
        self.gpumc("run", "--fresh", self.pressed("values: [5]", kernel=", variant: serial"), code=OK)
        self.refusal(self.pressed("values: [1e6]", kernel=", variant: serial"), "values")
        small = self.refusal(self.pressed(f"values: [{highest}]", kernel=", volume_step: 1"), "values")
        self.assertRegex(small, r"use pressures up to \S+, or a larger volume_step")

    def test_too_small_boxes_of_lattices_come_with_one_that_would_do(self):
        for model, advice, given in (
                ("particles: 60, {}", r"a packing fraction of (\S+) would do, or `lattice`", "packing_fraction: 0.9"),
                ("particles: 6, {}", r"a packing fraction of (\S+) would do", "packing_fraction: 0.63"),
                ("particles: 200, aspect: 0.3, {}", r"a packing fraction of (\S+) would do", "packing_fraction: 0.906"),
                ("particles: 60, {}", r"a box of (\S+) x (\S+) would do", "box: [7.3, 7.3]"),
                ("lattice: [8, 8], {}", r"a box of (\S+) x (\S+) would do", "box: [8, 6.95]")):
            with self.subTest(model.format(given)):
                refused = self.gpumc("validate", self.config(model.format(given) + ", start: lattice"), code=INVALID).err
                numbers = re.search(advice, refused).groups()
                mended = f"packing_fraction: {numbers[0]}" if len(numbers) == 1 else f"box: [{', '.join(numbers)}]"
                self.gpumc("validate", self.config(model.format(mended) + ", start: lattice"), code=OK)

    def test_files_that_are_no_state_are_refused(self):
        config = self.config("particles: 3, box: [5, 5], start: file, file: pos.txt")
        for text, mistake in FILES.items():
            with self.subTest(text):
                self.write("pos.txt", text)
                self.assertIn(mistake, self.gpumc("validate", config, code=INVALID).err)

    def test_strained_solids_are_warned_of(self):
        """A lattice that starts in a box it does not fit by more than 1 %, with the advice, which does not; controls:
        boxes that fit with rows along x or along y, a liquid, and a start that is compressed."""
        warned = {"particles: 1024, packing_fraction: 0.72, start: lattice": ("7.2 %", "[30, 34]"),
                  "particles: 1024, packing_fraction: 0.72, aspect: 0.88, start: lattice": ("1.6 %", "[32, 32]"),
                  "lattice: [32, 32], box: [33.2, 32], start: lattice": ("10.7 %", "[30, 34]")}
        fits = ["lattice: [30, 34], packing_fraction: 0.72, start: lattice",
                "particles: 1024, packing_fraction: 0.72, aspect: 0.87, start: lattice",
                "particles: 1024, packing_fraction: 0.72, aspect: 1.154, start: lattice",
                "particles: 1024, packing_fraction: 0.69, start: lattice", "particles: 1024, packing_fraction: 0.72"]
        for model, (strain, advice) in warned.items():
            with self.subTest(model):
                said = self.gpumc("validate", self.config(model)).err
                self.assertIn("warning: model.start: the triangular lattice ", said)
                self.assertIn(f"strained by {strain}", said)
                self.assertIn(f"model.lattice: {advice} and model.packing_fraction alone", said)
                fits.append(f"lattice: {advice}, packing_fraction: 0.72, start: lattice")
        for model in fits:
            with self.subTest(model):
                for line in self.gpumc("validate", self.config(model)).err.splitlines():  # on one side of the transition
                    self.assertIn("warning: model.start: all replicas begin ", line)
        self.assertEqual(self.gpumc("validate", self.config("lattice: [32, 32], box: [32.8, 28.4], start: lattice")).err, "")
        config = self.config("particles: 100, packing_fraction: 0.72, start: lattice")
        self.assertIn("strained by", self.gpumc("run", "--fresh", config).err)
        with h5py.File(self.path("r.h5")) as file:
            self.assertIn(b"strained by", file["summary"].attrs["strain_warning"])
            self.assertEqual(file["summary"].attrs["trusted"], 0)

    def test_starts_on_one_side_are_warned_of(self):
        """Where fluid and solid may both outlive a run; controls: fluids and crystals, and starts on both sides, which are
        the advice, and the default where a lattice fits; tempering, which crosses the transition."""
        places = [f"{1.05 * (i % 8):.2f} {1.05 * (i // 8):.2f}" for i in range(64)]
        self.write("pos.txt", "\n".join(places) + "\n")
        lattice, square = "lattice: [16, 16], packing_fraction: {}, start: {}", "particles: 256, packing_fraction: {}, start: {}"
        one_sided = [(lattice.format(at, start), words) for at in (0.69, 0.7, 0.71, 0.72)
                     for start, words in (("lattice", "in a lattice"), ("compressed", "compressed from a fluid"))]
        one_sided += [(square.format(0.71, start), "compressed from a fluid") for start in ("compressed", "auto")]
        one_sided += [("particles: 64, box: [8.4, 8.4], start: file, file: pos.txt", "in the state of one file")]
        right = [lattice.format(at, start) for at in (0.3, 0.68, 0.73, 0.8) for start in ("lattice", "compressed", "auto")]
        right += [lattice.format(0.9, "lattice"), "particles: 4, packing_fraction: 0.7, start: compressed", square.format(0.6, "auto"), "lattice: [16, 16], packing_fraction: 0.71"]
        right += [lattice.format(at, start) for at in (0.69, 0.71, 0.72) for start in ("mixed", "auto")]
        for model, words in one_sided:
            with self.subTest(model):
                said = self.gpumc("validate", self.config(model)).err
                self.assertIn(f"model.start: all replicas begin {words}", said)
                self.assertIn("use model.start: mixed", said)
        for model in sorted(set(right)):
            with self.subTest(model):
                self.assertEqual(self.gpumc("validate", self.config(model)).err, "")
        tempering = self.pressed("from: 8, to: 10, count: 5", algorithm="name: pt, samples: 8, thermalization: 100, sweeps: 400",
                                 model=lattice.format(0.71, "lattice"))
        self.assertEqual(self.gpumc("validate", tempering).err, "")
        self.gpumc("run", "--fresh", self.config(lattice.format(0.71, "lattice")))
        with h5py.File(self.path("r.h5")) as file:
            self.assertIn(b"all replicas begin in a lattice", file["summary"].attrs["ergodicity_warning"])
            self.assertEqual(file["summary"].attrs["trusted"], 0)

    def test_runs_begin_with_every_start(self):
        self.write("pos.txt", "-0.1 0\n1.5 0.2 # a comment\n3 3\n")
        for model in ("particles: 3, box: [5, 5], start: file, file: pos.txt", "lattice: [8, 8], packing_fraction: 0.85, start: lattice",
                      "particles: 100, packing_fraction: 0.7", "particles: 50, packing_fraction: 0.4, aspect: 0.5, start: lattice"):
            with self.subTest(model):
                self.gpumc("run", "--fresh", self.config(model, more=", bond_order: true"), code=OK)
                with h5py.File(self.path("r.h5")) as file:
                    self.assertTrue(0 < file["summary/pressure"][()] < 100)
                    self.assertTrue(0 < file["summary/move_acceptance"][()] < 1)

    def test_work_is_counted_in_trials(self):
        """By the plan, in advance, and by the result, which has those that were made: with one trial of each disk a sweep the
        plan would be 3.9 times too low."""
        for moves, at_most in (4, 4.0), (8, 8.0):
            config = self.config("particles: 200, packing_fraction: 0.6", more=", replicas: 1",
                                 kernel=f", moves_per_cell: {moves}")
            plan = self.gpumc("plan", config).out
            planned = json.loads(self.gpumc("plan", config, "--json").out)["tasks"][0]
            self.assertRegex(plan, r"updates +[\d.e+]+ trials\n")
            self.assertRegex(plan, r"sweeps at [\d.e+]+ trials/s")
            self.gpumc("run", "--fresh", config)
            with h5py.File(self.path("r.h5")) as file:
                provenance = dict(file["provenance"].attrs)
            self.assertEqual(provenance["update_unit"], b"trials")
            self.assertAlmostEqual(provenance["updates"] / planned["updates"], 1, delta=0.02)
            self.assertTrue(0.9 * at_most < provenance["updates"] / (420 * 200) < at_most)
            self.assertAlmostEqual(provenance["update_rate"], provenance["updates"] / provenance["seconds"])
        config = self.pressed("values: [5.5]", algorithm="name: canonical, replicas: 4, thermalization: 20, sweeps: 400",
                              model="particles: 400, packing_fraction: 0.65")
        planned = json.loads(self.gpumc("plan", config, "--json").out)["tasks"][0]
        self.gpumc("run", "--fresh", config)
        with h5py.File(self.path("r.h5")) as file:  # the cells of constant volume would have a fifth more
            self.assertAlmostEqual(file["provenance"].attrs["updates"] / planned["updates"], 1, delta=0.04)
        spins = self.write("i.yaml", "{gpumc: 1, seed: 1, model: {name: ising2d, shape: [16, 16]}, output: i.h5, kernel: {device: cpu},\n"
                                     "algorithm: {name: canonical, beta: {values: [0.4]}, thermalization: 10, sweeps: 90}}")
        self.gpumc("run", spins)
        with h5py.File(self.path("i.h5")) as file:
            self.assertNotIn("update_unit", file["provenance"].attrs)
            self.assertEqual(file["provenance"].attrs["updates"], 100 * 32 * 256)

    def test_devices_without_the_kernel_are_refused(self):
        """By validate as by run, at the device; kernels of another build are no mistake."""
        config = self.config("particles: 60, packing_fraction: 0.5", kernel=", variant: serial")
        text = pathlib.Path(config).read_text()
        says = "kernel variant 'serial' of model hard_disks runs on cpu, not on cuda"
        for device in "cuda", "cuda:0":
            pathlib.Path(config).write_text(text.replace("device: cpu", f"device: {device}"))
            self.assertEqual(self.gpumc("validate", config, code=INVALID).err.strip(), f"{config}:5:18: {says}")
            for command in "run", "plan":
                self.assertIn(says, self.gpumc(command, config, "--device", device, code=INVALID).err)
        pathlib.Path(config).write_text(text)
        self.assertIn(says, self.gpumc("plan", config, "--gpu", "H200", "--device", "cuda", code=INVALID).err)
        for variant, device in ("serial", "cpu"), ("serial", "auto"), ("checkerboard", "cuda"), ("auto", "cuda"):
            self.gpumc("validate", config, "--set", f"kernel.variant={variant}", "--set", f"kernel.device={device}")

    def test_plans_call_them_disks(self):
        """And nothing a lattice; control: those of a lattice model have sites."""
        plan = self.gpumc("plan", self.pressed("values: [4, 5]")).out
        self.assertRegex(plan, r"model +hard_disks, 60 disks\n")
        self.assertRegex(plan, r"expected to be the fastest for this model and number of replicas")
        self.assertRegex(plan, r"replicas +\d+ in each of 2 runs at once: \d+ in all; room")
        self.assertNotRegex(plan, "site|lattice")
        self.assertIn(" 16 sites\n", self.gpumc("plan", self.write("i.yaml", ISING)).out)
        self.assertEqual(json.loads(self.gpumc("plan", "i.yaml", "--json").out)["tasks"][0]["site_word"], "site")

    def test_labels_say_what_is_measured(self):
        """Of every control: that of pa holds at constant pressure, too, where there is no temperature."""
        self.gpumc("run", self.pressed("from: 4, to: 5, step: 0.5, thermalization: 20", "name: pa, population: 64, sweeps: 2"))
        with h5py.File(self.path("r.h5")) as file:
            label = file["summary/beta_free_energy_difference"].attrs["long_name"].decode()
            self.assertIn("free energy over kT per site or particle, -ln(Z)/N, minus that at the first value", label)
            self.assertNotIn("inverse temperature", label)
        described = self.gpumc("describe", "hard_disks").out
        self.assertRegex(described, r"volume_moved.*\n?.*1 where the last volume move, however long ago, was accepted")
        for words in "last sweep", "share of sweeps", "density of disks that overlap":
            self.assertNotIn(words, described)

    def test_profiles_are_planned(self):
        """What the host does for a profile takes three times as long as the sweeps, and the plan says so. It times both, to which
        other work on the machine only adds: the shortest of some times is judged."""
        shortest = [np.inf, np.inf]
        for _ in range(5):
            for i, more in enumerate(("", ", pair_correlation: true, bond_order_correlation: true")):
                plan = self.gpumc("plan", self.config("particles: 400, packing_fraction: 0.6", more=more), "--json").out
                shortest[i] = min(shortest[i], json.loads(plan)["tasks"][0]["estimated_seconds"])
        self.assertGreater(shortest[1], 2 * shortest[0])

    def test_broken_checkerboards_are_named_in_the_result(self):
        for key in ("shuffle", "shift", "confine"):
            with self.subTest(key):
                ran = self.gpumc("run", "--fresh", self.config("particles: 64, packing_fraction: 0.3", kernel=f", {key}: false"))
                self.assertIn(f"kernel.{key}: false", ran.err)
        ran = self.gpumc("run", "--fresh", self.config("particles: 64, packing_fraction: 0.3", kernel=", shuffle: false, shift: false"))
        self.assertIn("kernel.shuffle: false", ran.err)
        self.assertIn("kernel.shift: false", ran.err)

    def test_both_kernels_have_the_same_pressure(self):
        found = []
        for variant in ("serial", "checkerboard"):
            self.gpumc("run", "--fresh", self.config("particles: 64, packing_fraction: 0.4", more=", replicas: 32",
                                                     kernel=f", variant: {variant}"))
            with h5py.File(self.path("r.h5")) as file:
                found.append((file["summary/pressure"][()], file["summary/pressure_error"][()]))
        (one, error), (other, of_other) = found
        self.assertLess(abs(one - other), 4.5 * np.hypot(error, of_other))  # false alarm 7e-6


if __name__ == "__main__":
    cases.main()
