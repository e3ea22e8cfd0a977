"""A campaign of two processes that see its folder through mounts of their own, each under a host name of its own.

Bind mounts share the files and locks of one kernel. Two mounts of one folder by bindfs (FUSE) have caches and locks of
their own: flock does not reach from one to the other, and tasks can only be continued there one after the other.
Neither is a network file system. Skipped with a reason if there are no such mounts.

CTest: validate (resume_test_killed_beside)
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.device import PROGRAM
from support.gpumc_program import numeric_datasets
from support.program import OK, STOPPED, ProgramCase, stop, wait_for

TASKS = 3
CONFIG = f"""\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [16, 16]}}
algorithm: {{name: pa, population: 500, sweeps: 800, beta: {{from: 0.0, to: 0.5, step: 0.002}}}}
kernel: {{device: cpu}}
checkpoint: {{every: 50 ms}}
output: "out/{{seed}}.h5"
campaign: {{seed: {list(range(1, TASKS + 1))}}}
"""
# Runs the words that follow under another host name, which others do not see.
HOST = ["unshare", "--uts", "sh", "-c", 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"']


class MountCase(ProgramCase):
    def mount(self, kind, *names):
        """Shows the folder `shared` at these names as well."""
        for name in names:
            self.path(name).mkdir()
            words = ["mount", "--bind"] if kind == "bind" else [kind]
            done = subprocess.run([*words, self.path("shared"), self.path(name)], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                self.skipTest(f"no mounts of {kind} here: {done.stderr.strip()}")
            self.addCleanup(subprocess.run, ["umount", "--lazy", self.path(name)], check=False)

    def setUp(self):
        super().setUp()
        missing = [name for name in ["unshare", "mount", "umount"] if shutil.which(name) is None]
        if missing:
            self.skipTest(f"not installed: {', '.join(missing)}")
        if os.geteuid() != 0 or subprocess.run([*HOST, "a", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("names of hosts cannot be set here")
        self.write("shared/c.yaml", CONFIG)

    def on(self, name, *words):
        """Runs gpumc in the mount of that name, on a host of that name."""
        return subprocess.Popen([*HOST, f"host-{name}", PROGRAM, *words], cwd=self.path(name), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process, code=OK):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, err)
        return out + err

    def states(self, name):
        report = json.loads(self.finish(self.on(name, "status", "c.yaml", "--json")))
        return [task["state"] for task in report["tasks"]]

    def check_results(self):
        self.gpumc("run", self.write("reference/c.yaml", CONFIG), "-q", "-o", "reference/{seed}.h5")
        self.assertEqual(self.names("shared/out/*"), [f"shared/out/{seed}.h5" for seed in range(1, TASKS + 1)])
        for seed in range(1, TASKS + 1):
            self.assertEqual(numeric_datasets(self.path(f"shared/out/{seed}.h5")),
                             numeric_datasets(self.path(f"reference/{seed}.h5")), f"seed {seed}")


class Bind(MountCase):
    def setUp(self):
        super().setUp()
        self.mount("bind", "one", "two")

    def test_a_campaign_is_shared(self):
        """Two processes, the second started while the first is at work, do each task once."""
        words = ["run", "c.yaml", "--threads", "1"]
        first = self.on("one", *words)
        self.assertTrue(wait_for(self.path("shared/out/1.h5.status"), first))
        second = self.on("two", *words)
        said = self.finish(first), self.finish(second)
        done = [sum(f"task {task}: out/{task + 1}.h5: complete after" in text for text in said) for task in range(TASKS)]
        self.assertEqual(done, [1] * TASKS, said)
        self.finish(self.on("two", "run", "c.yaml", "--threads", "1"))
        self.assertRegex(said[1], r"task \d: out/\d\.h5 is being worked on by process \d+ on host-one: skipped")
        self.check_results()

    def test_what_is_worked_on_is_seen(self):
        """An onlooker from the other mount sees that a task is being worked on, and gets a message."""
        long = ["run", "c.yaml", "--task", "2", "--threads", "1", "--set", "algorithm.sweeps=20000"]
        process = self.on("one", *long)
        self.assertTrue(wait_for(self.path("shared/out/3.h5.status"), process))
        time.sleep(3)  # the status is written anew, and seen by the other
        self.assertEqual(self.states("two")[2], "running")
        self.assertIn("on host-one", self.finish(self.on("two", *long), code=1))
        self.finish(process) if process.poll() is not None else stop(process)
        self.assertEqual(process.returncode, STOPPED)


class Fuse(MountCase):
    def setUp(self):
        super().setUp()
        if shutil.which("bindfs") is None:
            self.skipTest("bindfs is not installed")
        self.mount("bindfs", "one", "two")

    def test_a_run_goes_on_through_the_other_mount(self):
        names = ["one", "two"]
        for turn in range(200):
            process = self.on(names[turn % 2], "run", "c.yaml", "--threads", "1", "--max-time", f"{150 + 10 * turn} ms")
            self.finish(process, code=process.wait(300))
            if process.returncode == OK:
                break
            self.assertEqual(process.returncode, STOPPED)
        self.assertGreater(turn, 3)
        self.check_results()


if __name__ == "__main__":
    cases.main()
