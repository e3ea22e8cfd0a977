"""A campaign under a real Slurm of one node: cut off by its time limit more than once, it requeues itself and ends with
the numbers of an uninterrupted run. Skipped with a reason if Slurm cannot be started.

CTest: validate (cli_test_submit; time limits on a busy machine are not those of a test)
"""
import json
import os
import pathlib
import re
import resource
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, slurm
from support.gpumc_program import numeric_datasets
from support.program import ProgramCase

TASKS = 20
CANCELLED, KILLED = 7, 8  # when they run for the second time
SECONDS = 3.0  # of one processor, per task
# slurmctld checks time limits now and then and sends the signal at the last check before it is due. A job that starts
# shortly before a check, with a limit of a minute and a signal half a minute ahead, is cut off by it.
AHEAD = 9
LIMIT = ["--time=1", "--signal=TERM@30", "--output=%a.log"]
COMMENT = "--comment=it's #1 \"of\" \\1"
CAMPAIGN = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [16, 16]}
algorithm: {name: pa, population: 500, sweeps: SWEEPS, beta: {from: 0.0, to: 0.5, step: 0.002}}
kernel: {device: cpu}
checkpoint: {every: 1 h}
output: "FOLDER/{seed}.h5"
campaign: {seed: SEEDS}
"""


class Campaign(ProgramCase):
    def setUp(self):
        super().setUp()
        try:
            self.slurm = self.enterContext(slurm.Slurm(processors=TASKS, at_once=2))
        except slurm.Unavailable as reason:
            self.skipTest(reason)

    def gpumc(self, *arguments, **options):
        return super().gpumc(*arguments, env=self.slurm.environment, **options)

    def config(self, name, folder, sweeps):
        text = CAMPAIGN.replace("SWEEPS", str(sweeps)).replace("FOLDER", folder)
        return self.write(name, text.replace("SEEDS", str(list(range(1, TASKS + 1)))))

    def choose_sweeps(self):
        """Enough that a task takes as long as it should here."""
        def used():
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        before = used()
        self.gpumc("run", self.config("short.yaml", "short", 40), "--task", 0, "--threads", 1)
        return max(20, round(40 * SECONDS / (used() - before)))

    def states(self):
        """Returns the jobs by the number of their task, as `gpumc status` reports them."""
        report = json.loads(self.gpumc("status", "campaign.yaml", "--json").out)
        self.assertNotIn("squeue", report)
        return {task["task"]: task["job"] for task in report["tasks"] if "job" in task}

    def wait_for(self, condition, seconds, what):
        if not slurm.wait_until(condition, seconds):
            self.fail(f"{what}: {self.states()}\n{self.slurm.messages()}")

    def release(self):
        """Requeued jobs wait two minutes; not here."""
        for job in self.states().values():
            if job["state"] == "PENDING":
                self.slurm.run("scontrol", "update", f"JobId={job['id']}", "StartTime=now")

    def cuts(self):
        """Returns how often each task was stopped by time."""
        return [len(re.findall("stopped; the same command continues the run", self.path(f"{task}.log").read_text()))
                for task in range(TASKS)]

    def test_twenty_tasks_cut_off_by_the_time_limit(self):
        sweeps = self.choose_sweeps()
        config = self.config("campaign.yaml", "results", sweeps)
        reference = [self.start("run", self.config("reference.yaml", "reference", sweeps), "--quiet", "--threads", 1)
                     for _ in range(2)]
        self.slurm.wait_until_before_a_look(AHEAD)

        job = int(self.gpumc("submit", config, "--slurm", "--", *LIMIT).out)
        self.assertEqual({task: job["id"] for task, job in self.states().items()},
                         {task: f"{job}_{task}" for task in range(TASKS)})
        again = self.gpumc("submit", config, "--slurm", "--", *LIMIT)
        self.assertEqual((again.out, again.err), ("", f"gpumc: nothing to submit: {TASKS} in the queue\n"))

        def waiting():
            return [job.get("reason") for job in self.states().values()].count("BeginTime")

        self.wait_for(lambda: any(job["state"] == "RUNNING" for job in self.states().values()), 30, "no task runs")
        self.wait_for(lambda: waiting() == TASKS, 90, "not all of the tasks are back in the queue")
        self.slurm.wait_until_before_a_look(AHEAD)
        self.release()
        self.wait_for(lambda: waiting() == 0, 30, "tasks are not begun again")
        for task in CANCELLED, KILLED:
            self.wait_for(lambda: "resuming" in self.path(f"{task}.log").read_text(), 30, "a task does not go on")
        self.assertEqual(self.slurm.run("scancel", f"{job}_{CANCELLED}").returncode, 0)
        process = int(self.path(f"results/{KILLED + 1}.h5.lock").read_text().split()[1])
        os.kill(process, signal.SIGKILL)

        end = time.monotonic() + 400
        while self.states() and time.monotonic() < end:
            if waiting() > 0:
                self.release()
            time.sleep(1)
        self.assertEqual(self.states(), {}, self.slurm.messages())
        cuts = self.cuts()
        print(f"{sweeps} sweeps; the tasks were stopped {cuts} times")
        self.assertEqual([cuts.pop(KILLED), cuts.pop(CANCELLED)], [1, 2])
        self.assertGreaterEqual(min(cuts), 1)
        self.assertGreaterEqual(max(cuts), 2)

        states = [task["state"] for task in json.loads(self.gpumc("status", config, "--json").out)["tasks"]]
        self.assertEqual([states.pop(KILLED), states.pop(CANCELLED)], ["resumable"] * 2)  # and not requeued
        self.assertEqual(states, ["done"] * (TASKS - 2))
        bundle = ["submit", config, "--slurm", "--bundle", TASKS, "--", "--time=2", "--signal=TERM@10",
                  "--output=rest.log", COMMENT]
        process = self.gpumc(*bundle)
        self.assertEqual(process.err, f"gpumc: 2 of {TASKS} tasks submitted: {TASKS - 2} done\n")
        self.assertIn(COMMENT.partition("=")[2] + "\n", self.slurm.run("squeue", "-h", "-o", "%k").stdout)
        self.wait_for(lambda: not self.states(), 120, "the last tasks do not end")
        self.assertEqual(self.gpumc(*bundle).err, f"gpumc: nothing to submit: {TASKS} done\n")

        for process in reference:
            process.communicate(timeout=300)
        for seed in range(1, TASKS + 1):
            self.assertEqual(numeric_datasets(self.path(f"results/{seed}.h5")),
                             numeric_datasets(self.path(f"reference/{seed}.h5")), f"seed {seed}")

    def test_a_script_that_is_wrong_is_refused(self):
        self.config("campaign.yaml", "results", 1)
        process = self.gpumc("submit", "campaign.yaml", "--slurm", "--", "--partition=none", code=1)
        self.assertIn("gpumc: error: nothing was submitted: sbatch: error:", process.err)
        process = self.gpumc("submit", "campaign.yaml", "--slurm", "--", "--no-such-option", code=1)
        self.assertIn("no-such-option", process.err)
        self.assertEqual(self.states(), {})


if __name__ == "__main__":
    cases.main()
