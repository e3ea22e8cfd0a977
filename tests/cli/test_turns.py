"""Moves that take turns, from a configuration to results: what is resolved and recorded, which results are the same, what
is refused and warned of, campaigns, merging and comparing."""
import json
import pathlib
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import gpumc_program as gpumc  # noqa: E402

TURNS = "[{metropolis: 2}, {heat_bath: 1}]"
CANONICAL = """\
gpumc: 1
seed: 11
model: {{name: ising2d, shape: [8, 8]}}
algorithm: {{name: canonical, beta: {{values: [0.3, 0.44]}}, replicas: 32, thermalization: 20, sweeps: 640, interval: 4,
  update: {update}}}
output: {folder}/{name}.h5
"""
PT = """\
gpumc: 1
seed: 11
model: {{name: heisenberg, shape: [4, 4]}}
algorithm: {{name: pt, beta: {{values: [0.5, 1.0]}}, samples: 32, sweeps: 640, exchange_every: 10, thermalization: 96,
  update: {update}}}
output: {folder}/{name}.h5
"""
DISKS = """\
gpumc: 1
seed: 11
model: {{name: hard_disks, particles: 64, packing_fraction: 0.3}}
algorithm: {{name: mpmc, replicas: 4, thermalization: 20, sweeps: 320, update: {update}}}
output: {folder}/{name}.h5
"""


def energies(path):
    return gpumc.summary(path)["energy"].tolist()


def resolved(path):
    return gpumc.resolved(path)["algorithm"]["update"]


def call(*arguments, expect=0):
    done = gpumc.run(*arguments)
    if done.returncode != expect:
        raise AssertionError(f"{arguments}: exit {done.returncode}, expected {expect}:\n{done.stderr}")
    return done


class Turns(unittest.TestCase):
    def run_update(self, folder, update, name="out", text=CANONICAL, expect=0, more=""):
        return gpumc.run_config(text.format(folder=folder, name=name, update=update) + more, folder, expect=expect)

    def mistake(self, update, text=CANONICAL, more=""):
        with gpumc.folder() as folder:
            return self.run_update(folder, update, text=text, expect=2, more=more).stderr

    def test_numbers_and_records(self):
        """A list is recorded as it is made; of one move it is that move, also for a result that is there."""
        with gpumc.folder() as folder:
            for name, update, recorded in (("alone", "metropolis", "metropolis"), ("one", "[{metropolis: 3}]", "metropolis"),
                                           ("both", TURNS, [{"metropolis": 2}, {"heat_bath": 1}]),
                                           ("short", "[metropolis, metropolis, heat_bath]", [{"metropolis": 2}, {"heat_bath": 1}]),
                                           ("other", "[{heat_bath: 1}, {metropolis: 2}]", [{"heat_bath": 1}, {"metropolis": 2}])):
                self.run_update(folder, update, name)
                self.assertEqual(resolved(f"{folder}/{name}.h5"), recorded)
            found = {name: energies(f"{folder}/{name}.h5") for name in ("alone", "one", "both", "short", "other")}
            self.assertEqual(found["alone"], found["one"])
            self.assertEqual(found["both"], found["short"])
            self.assertEqual(len({tuple(values) for values in found.values()}), 3)
            self.run_update(folder, "[metropolis]", "alone")
            self.assertIn('update: "metropolis" -> [{"metropolis":2},{"heat_bath":1}]',
                          self.run_update(folder, TURNS, "alone", expect=2).stderr)

    def test_every_algorithm(self):
        with gpumc.folder() as folder:
            self.run_update(folder, "[{heat_bath: 2}, {over_relaxation: 3}]", "pt", PT)
            self.assertEqual(resolved(f"{folder}/pt.h5"), [{"heat_bath": 2}, {"over_relaxation": 3}])
            self.run_update(folder, "[{displacement: 3}]", "disks", DISKS)
            self.assertEqual(resolved(f"{folder}/disks.h5"), "displacement")

    def test_steps_and_keys_of_moves(self):
        small = "[{mixed: 5}, {metropolis_small: 2}]"
        with gpumc.folder() as folder:
            self.run_update(folder, small, text=PT)
            found = gpumc.summary(f"{folder}/out.h5")
            self.assertGreater(found["move_acceptance"][0], 0.3)
            self.run_update(folder, small, "given", text=PT, more="kernel: {width: 0.25, over_relaxation: 2}\n")
            self.assertEqual(gpumc.summary(f"{folder}/given.h5")["width"].tolist(), [0.25, 0.25])
        self.assertIn("kernel.width has no effect with update: [{heat_bath: 1}, {mixed: 5}], only with metropolis_small: set "
                      "algorithm.update to that, or leave kernel.width out",
                      self.mistake("[{heat_bath: 1}, {mixed: 5}]", PT, "kernel: {width: 0.25}\n"))
        self.assertIn("metropolis_small tunes its width during at least the first 8 sweeps that it makes in the thermalization",
                      self.mistake("[{heat_bath: 90}, {metropolis_small: 2}]", PT))

    def test_mistakes_have_a_place_and_a_remedy(self):
        for update, words in (
                ("[{metropolis: 2}, {heatbath: 1}]", "found text 'heatbath'; did you mean 'heat_bath'?"),
                ("[{mixed: 2}, {heat_bath: 1}]", "no kernel of model ising2d on cpu can run"),
                ("[]", "or a list of up to 8 that take turns, such as [{metropolis: 2}, {heat_bath: 1}], found a list of 0"),
                ("[{metropolis: 0}]", "algorithm.update.metropolis: expected an integer from 1 to 1000000, found the number 0"),
                ("[{metropolis: 2, heat_bath: 1}]", "this block has 2: begin a new one for each, [{metropolis: 1}, ...]"),
                ("[" + ", ".join(["metropolis", "heat_bath"] * 4 + ["metropolis"]) + "]", "found a list of 9")):
            with self.subTest(update):
                self.assertIn(words, self.mistake(update))
        self.assertIn("do update: mixed", self.mistake("[{mixed: 2}, {heat_bath: 1}]"))

    def test_weaknesses_of_all_moves_count(self):
        small = CANONICAL.replace("[8, 8]", "[4, 4]").replace("0.3, 0.44", "0.5, 1.0")
        hot = CANONICAL.replace("0.3, 0.44", "0, 0.44")
        for update, weak in ("metropolis", True), ("[{metropolis: 2}, {metropolis: 1}]", True), (TURNS, False):
            with self.subTest(update), gpumc.folder() as folder:
                self.assertEqual("at beta = 0 Metropolis" in self.run_update(folder, update, text=hot, expect=2 if weak else 0).stderr,
                                 weak)
                self.run_update(folder, update, "small", small)
                with h5py.File(f"{folder}/small.h5") as file:
                    self.assertEqual("ergodicity_warning" in gpumc.attributes(file["summary"]), weak)

    def test_campaigns_assignments_and_names_of_files(self):
        with gpumc.folder() as folder:
            text = CANONICAL.format(folder=folder, name="{algorithm.update}", update="metropolis")
            config = pathlib.Path(folder, "campaign.yaml")
            config.write_text(text + f"campaign: {{algorithm.update: [heat_bath, {TURNS}]}}\n")
            call("run", str(config))
            for name in "heat_bath", "metropolis-2xheat_bath-1":
                self.assertTrue(pathlib.Path(folder, f"{name}.h5").exists(), name)
            config.write_text(text)
            call("run", str(config), "--set", f"algorithm.update={TURNS}", "-o", f"{folder}/set.h5")
            self.assertEqual(energies(f"{folder}/set.h5"), energies(f"{folder}/metropolis-2xheat_bath-1.h5"))
            plan = json.loads(call("plan", str(config), "--set", f"algorithm.update={TURNS}", "--json").stdout)
            self.assertGreater(plan["tasks"][0]["updates"], 0)
            self.assertIn("metropolis-2", call("plan", str(config), "--set", f"algorithm.update={TURNS}").stdout)

    def test_merged_and_compared(self):
        with gpumc.folder() as folder:
            for seed in 1, 2:
                gpumc.run_config(CANONICAL.format(folder=folder, name=seed, update=TURNS).replace("seed: 11", f"seed: {seed}"), folder)
            call("merge", f"{folder}/merged.h5", f"{folder}/1.h5", f"{folder}/2.h5")
            self.assertEqual(resolved(f"{folder}/merged.h5"), [{"metropolis": 2}, {"heat_bath": 1}])
            call("compare", f"{folder}/1.h5", f"{folder}/merged.h5")
            self.run_update(folder, "heat_bath", "3")
            self.assertIn("update", call("merge", f"{folder}/no.h5", f"{folder}/1.h5", f"{folder}/3.h5", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
