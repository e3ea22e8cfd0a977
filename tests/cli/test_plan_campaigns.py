"""`gpumc plan` of campaigns: what differs in cost is timed, and nothing else."""
import json
import pathlib
import resource
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import terminal
from support.device import PROGRAM
from support.program import OK, SMALL, ProgramCase

GLASS = """\
gpumc: 1
seed: 1
model: {name: ea, shape: [6, 6], couplings: bimodal}
algorithm: {name: pa, population: 64, sweeps: 1, beta: {from: 0, to: 0.5, step: 0.1}}
output: out/{seed}-{model.disorder_seed}-{model.sample}.h5
campaign: {seed: [1, 2, 3], model.disorder_seed: [5, 6, 7], model.sample: [0, 1, 2]}
"""


def campaign(**keys):
    """A configuration whose output names every key."""
    lines = "".join(f"  {key.replace('__', '.')}: {values}\n" for key, values in keys.items())
    names = "-".join("{" + key.replace("__", ".") + "}" for key in keys)
    return SMALL.replace("small.h5", f"out/{names}.h5") + "campaign:\n" + lines


def seconds():
    """Of processors, by all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Campaigns(ProgramCase):
    def plan(self, text):
        return json.loads(self.gpumc("plan", self.write("c.yaml", text), "--json", "--threads", "1", code=OK).out)["tasks"]

    def test_seeds_are_planned_once(self):
        """A task takes 0.28 s to be timed: 10,000 of them most of an hour."""
        before = seconds()
        tasks = self.plan(campaign(seed=list(range(1, 10001))))
        self.assertLess(seconds() - before, 30)
        self.assertEqual(len(tasks), 10000)
        for number, task in enumerate(tasks):
            self.assertEqual((task["task"], task["label"], task["output"]), (number, f"seed={number + 1}", f"out/{number + 1}.h5"))
        for task in tasks:
            for name in "task", "label", "output":
                del task[name]
            self.assertEqual(task, tasks[0])

    def test_temperatures_are_timed_once(self):
        before = seconds()
        tasks = self.plan(campaign(algorithm__beta__step=[0.01 + 0.0001 * k for k in range(200)]))
        self.assertLess(seconds() - before, 10)
        self.assertEqual(len(tasks), 200)
        self.assertEqual(len({task["estimated_updates_per_second"] for task in tasks}), 1)

    def test_longer_runs_take_longer(self):
        """Times follow from the operations that were timed and from how often each run makes them."""
        tasks = self.plan(campaign(algorithm__sweeps=[20, 40, 80]))
        self.assertEqual(len({task["estimated_updates_per_second"] for task in tasks}), 1)
        self.assertEqual([task["updates"] / tasks[0]["updates"] for task in tasks], [1, 2, 4])
        self.assertTrue(tasks[0]["estimated_seconds"] < tasks[1]["estimated_seconds"] < tasks[2]["estimated_seconds"])

    def test_samples_and_their_seeds_are_timed_once(self):
        tasks = self.plan(GLASS)
        self.assertEqual(len(tasks), 27)
        self.assertEqual(len({task["estimated_updates_per_second"] for task in tasks}), 1)

    def test_what_differs_in_cost_is_timed(self):
        for keys in {"model__shape": [[8, 8], [16, 16], [8, 32]]}, {"model__h": [0, 0.5]}, {"kernel__variant": ["multispin", "spin"]}:
            tasks = self.plan(campaign(seed=[1, 2], **keys))
            with self.subTest(keys):
                self.assertEqual(len({task["estimated_updates_per_second"] for task in tasks}), len(tasks) // 2)

    def test_remarks_on_samples_of_many_tasks(self):
        """Those of tasks that were not prepared themselves, too."""
        config = GLASS.replace("name: pa, population: 64, sweeps: 1, beta: {from: 0, to: 0.5, step: 0.1}",
                               "name: pt, samples: 2, replicas: 2, sweeps: 64, beta: {from: 0.1, to: 0.5, count: 3}")
        config = config.replace("[5, 6, 7]", "[5]").replace("[1, 2, 3]", "[1, 2]").replace("[0, 1, 2]", "[0, 1]")
        plan = json.loads(self.gpumc("plan", self.write("c.yaml", config), "--json").out)
        self.assertIn("have sample 1 of the disorder in common (and 1 more with another task)", "".join(plan["remarks"]))

    def test_a_bar_on_a_terminal(self):
        shapes = [[8, 4 * k] for k in range(2, 11)]
        config = self.write("c.yaml", campaign(model__shape=shapes))
        shown = terminal.Terminal([PROGRAM, "plan", config], self.directory).end()
        self.assertIn(f"of {len(shapes)} tasks planned", shown)
        self.assertNotIn("tasks planned", self.gpumc("plan", config).err)


if __name__ == "__main__":
    unittest.main()
