"""`gpumc submit` and what else of the program speaks with Slurm, against squeue, sbatch, scontrol and srun that are
scripts of the test; resume/test_slurm.py has the real ones.

CTest: methods 6 s
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.device import PROGRAM
from support.program import CAMPAIGN, FAILURE, INVALID, LONG, OK, SMALL, STOPPED, ProgramCase, stop, wait_for

SEVEN = CAMPAIGN.replace("[1, 2, 3]", "[1, 2, 3, 4, 5, 6, 7]")
TWO_LONG = LONG.replace("small.h5", "s{seed}.h5") + "campaign:\n  seed: [1, 2]\n"
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=NAME
#SBATCH --array=0,2-6
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --time=8:00:00 -p gpu "--comment=two words"
tasks=$SLURM_ARRAY_TASK_ID
threads=${SLURM_CPUS_PER_TASK:-$((SLURM_CPUS_ON_NODE / ${SLURM_TASKS_PER_NODE%%[!0-9]*}))}
[ "$threads" -ge 1 ] || threads=1
[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
cd 'FOLDER' || exit 1
srun 'PROGRAM' run 'FOLDER/c.yaml' --task "$tasks" --threads "$threads" --max-time job
code=$?
# Stopped before the time limit, with a checkpoint: to be continued.
[ $code -ne 75 ] || scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
exit $code
"""


class SlurmCase(ProgramCase):
    """PATH is a folder of its own; `install` puts a program there."""

    def setUp(self):
        super().setUp()
        self.bin = self.path("bin")
        self.bin.mkdir()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment["PATH"] = str(self.bin)

    def install(self, name, text):
        program = self.bin / name
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)

    def start(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return super().start(*arguments, **options)

    def queue(self, *jobs):
        """squeue answers with these lines."""
        self.path("queue").write_text("".join(f"{job}\n" for job in jobs))
        self.install("squeue", f'echo "$@" > {self.path("squeue.words")}; exec /bin/cat {self.path("queue")}')

    def script(self, *options):
        return self.gpumc("submit", "c.yaml", "--slurm", "--dry-run", *options).out

    def name(self, *options):
        """The name of jobs with these options of the program."""
        return next(line for line in self.script(*options).splitlines() if "job-name" in line).partition("=")[2]

    def elements(self, *options):
        return next(line for line in self.script(*options).splitlines() if "--array" in line).partition("=")[2]

    def refuse(self, *arguments, says, code=INVALID):
        process = self.gpumc("submit", *arguments, code=code)
        self.assertTrue(process.err.startswith("gpumc: error: "), process.err)
        self.assertIn(says, process.err)
        self.assertEqual(process.out, "")


class Script(SlurmCase):
    def test_the_whole_text(self):
        self.write("c.yaml", SEVEN)
        self.gpumc("run", "c.yaml", "--task", 1)
        script = self.script("--", "--time=8:00:00", "-p", "gpu", "--comment=two words")
        for word, text in [("NAME", self.name()), ("FOLDER", str(self.directory.resolve())),
                           ("PROGRAM", str(pathlib.Path(PROGRAM).resolve()))]:
            script = script.replace(text, word)
        self.assertEqual(script, SCRIPT)

    def test_names_follow_the_file_and_the_options_that_change_it(self):
        self.write("c.yaml", SEVEN)
        self.assertRegex(self.name(), r"^gpumc-[0-9a-f]{12}-1$")
        self.assertEqual(self.name(), self.name("--", "--time=3"))
        self.assertEqual(self.name("--bundle", 3), self.name()[:-1] + "3")
        names = {self.name(), self.name("--set", "algorithm.sweeps=3"), self.name("-o", "other/{seed}.h5")}
        self.write("d/c.yaml", SEVEN)
        names.add(self.gpumc("submit", "d/c.yaml", "--slurm", "--dry-run").out.splitlines()[1].partition("=")[2])
        self.assertEqual(len(names), 4)

    def test_bundles_are_those_with_a_task_to_do(self):
        self.write("c.yaml", SEVEN)
        self.gpumc("run", "c.yaml", "--task", "0,3-5")
        self.assertEqual(self.elements(), "1-2,6")
        self.assertEqual(self.elements("--bundle", 3), "0,2")
        self.assertEqual(self.elements("--bundle", 7), "0")
        self.assertEqual(self.elements("--bundle", 100), "0")

    def test_words_with_any_character_arrive(self):
        folder = self.path("it's a \"place\" $HOME `#`")
        folder.mkdir()
        (folder / "c.yaml").write_text(SMALL)
        process = self.gpumc("submit", folder / "c.yaml", "--slurm", "--dry-run", "--set", "title=it's $5 # \\",
                             "--threads", 3, "--", "--comment=a\\b 'c' \"d\" #e")
        self.assertIn("#SBATCH \"--comment=a\\\\b 'c' \\\"d\\\" #e\"\n", process.out)
        self.assertIn("threads=3\n", process.out)
        line = next(line for line in process.out.splitlines() if line.startswith("srun"))
        words = shlex.split(line)
        self.assertEqual(words[2:6], ["run", str(folder.resolve() / "c.yaml"), "--set", "title=it's $5 # \\"])

    def run_script(self, script, **variables):
        """As Slurm would run it, with an srun that works here."""
        self.install("srun", f'echo "$@" >> {self.path("srun.words")}; exec "$@"')
        self.install("scontrol", f'echo "$@" >> {self.path("scontrol.words")}')
        environment = {**self.environment, "SLURM_JOB_ID": "77", "SLURM_ARRAY_JOB_ID": "70", "SLURM_CPUS_ON_NODE": "6",
                       "SLURM_TASKS_PER_NODE": "2(x3)", "SLURM_ARRAY_TASK_ID": "0", **variables}
        return subprocess.run(["/bin/bash"], input=script, text=True, env=environment, capture_output=True,
                              timeout=120, check=False).returncode

    def test_the_script_runs_its_tasks_to_the_end(self):
        self.write("c.yaml", SEVEN)
        self.queue("1:00:00")
        script = self.script("--bundle", 3, "--device", "cpu")
        self.assertEqual(self.run_script(script, SLURM_ARRAY_TASK_ID="2"), OK)
        self.assertEqual(self.names("*.h5"), ["out/7.h5"])
        self.assertEqual(self.run_script(script, SLURM_ARRAY_TASK_ID="0", SLURM_CPUS_PER_TASK="4"), OK)
        self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/2.h5", "out/3.h5", "out/7.h5"])
        words = self.path("srun.words").read_text().splitlines()
        self.assertTrue(words[0].endswith("--task 6-6 --threads 3 --max-time job"), words)
        self.assertTrue(words[1].endswith("--task 0-2 --threads 4 --max-time job"), words)
        self.assertFalse(self.path("scontrol.words").exists())

    def test_the_script_requeues_what_stops_by_time(self):
        self.write("c.yaml", LONG)
        self.queue("0:02")
        script = self.script("--device", "cpu")
        self.assertEqual(self.run_script(script), STOPPED)
        self.assertEqual(self.path("scontrol.words").read_text(), "requeue 70_0\n")
        self.write("c.yaml", SMALL.replace("small.h5", "there/small.h5"))
        self.write("there", "a file")
        self.assertEqual(self.run_script(script), FAILURE)
        self.assertEqual(self.path("scontrol.words").read_text(), "requeue 70_0\n")


class Submitting(SlurmCase):
    def install_sbatch(self, text='echo "4242;cluster"'):
        self.install("sbatch", f'echo "$@" > {self.path("sbatch.words")}; /bin/cat > {self.path("sbatch.in")}; {text}')

    def test_sbatch_gets_the_script_and_its_number_is_printed(self):
        self.write("c.yaml", SEVEN)
        self.gpumc("run", "c.yaml", "--task", "0-1")
        self.install_sbatch()
        process = self.gpumc("submit", "c.yaml", "--slurm", "--", "--time=5")
        self.assertEqual(process.out, "4242\n")
        self.assertEqual(process.err, "gpumc: 5 of 7 tasks submitted: 2 done\n")
        self.assertEqual(self.path("sbatch.words").read_text(), "--parsable\n")
        self.assertEqual(self.path("sbatch.in").read_text(), self.script("--", "--time=5"))

    def test_nothing_is_submitted_twice(self):
        self.write("c.yaml", SEVEN)
        self.install_sbatch()
        name = self.name("--bundle", 2)
        self.queue(f"5_0|{name}|RUNNING|None", f"5_2|{name}|PENDING|Priority", f"6_1|{name}x|RUNNING|None",
                   "7_1|gpumc-0123456789ab-2|RUNNING|None", "8|mine|RUNNING|None", "no line of ours")
        self.assertEqual(self.elements(), "2-3,6")
        self.assertIn(f"--user {os.getuid()} ", self.path("squeue.words").read_text())
        self.gpumc("run", "c.yaml", "--task", "2-3,6")
        process = self.gpumc("submit", "c.yaml", "--slurm")
        self.assertEqual((process.out, process.err), ("", "gpumc: nothing to submit: 3 done, 4 in the queue\n"))
        self.gpumc("run", "c.yaml")
        self.assertEqual(self.gpumc("submit", "c.yaml", "--slurm").err, "gpumc: nothing to submit: 7 done\n")
        self.assertFalse(self.path("sbatch.in").exists())

    def test_tasks_that_are_worked_on_here_are_left_out(self):
        self.write("c.yaml", TWO_LONG)
        process = self.start("run", "c.yaml", "--task", 1, "--threads", 1)
        self.assertTrue(wait_for(self.path("s2.h5.status"), process))
        self.assertEqual(self.elements(), "0")
        stop(process)
        self.assertEqual(self.elements(), "0-1")

    def test_nothing_is_submitted_where_the_queue_cannot_be_read(self):
        self.write("c.yaml", SEVEN)
        self.install("squeue", "echo 'squeue: error: no controller' >&2; exit 1")
        process = self.gpumc("submit", "c.yaml", "--slurm", "--dry-run")
        self.assertIn("--array=0-6\n", process.out)
        self.assertEqual(process.err, "gpumc: warning: it is unknown which tasks are already in the queue: "
                                      "squeue: error: no controller\n")
        process = self.gpumc("submit", "c.yaml", "--slurm", code=FAILURE)
        self.assertEqual((process.out, process.err), (
            "", "gpumc: error: nothing was submitted, since it is unknown which tasks are already in the queue: "
                "squeue: error: no controller\n"))

    def test_errors(self):
        self.write("c.yaml", SEVEN)
        self.write("bad.yaml", SEVEN.replace("population", "popluation"))
        self.refuse("--slurm", says="no configuration file given")
        self.refuse("c.yaml", says="no scheduler given: use --slurm")
        self.refuse("c.yaml", "--slrum", says="did you mean '--slurm'?")
        self.refuse("c.yaml", "--slurm", "--bundle", 0, says="--bundle must be an integer from 1")
        for word in ["--array=1-2", "-a3", "--arr"]:
            self.refuse("c.yaml", "--slurm", "--", word, says=f"'{word}': gpumc submit sets --array itself")
        self.refuse("c.yaml", "--slurm", "--", "--time=1\n", says="must not be empty or contain line breaks")
        self.refuse("c.yaml", "--slurm", "--", "8:00:00", says="'8:00:00' after -- is not an option of sbatch")
        self.refuse("c.yaml", "d.yaml", "--slurm", says="one configuration at a time")
        self.assertIn("did you mean 'population'", self.gpumc("submit", "bad.yaml", "--slurm", code=INVALID).err)
        self.refuse("none.yaml", "--slurm", says="none.yaml", code=FAILURE)
        self.refuse("c.yaml", "--slurm", says="sbatch is not on the PATH", code=FAILURE)
        self.install_sbatch("echo 'sbatch: error: Invalid partition' >&2; exit 1")
        self.refuse("c.yaml", "--slurm", says="nothing was submitted: sbatch: error: Invalid partition\n", code=FAILURE)
        self.install_sbatch("exit 1")
        self.refuse("c.yaml", "--slurm", says="nothing was submitted: sbatch exited with code 1\n", code=FAILURE)

    def test_a_task_that_would_be_refused(self):
        self.write("c.yaml", SEVEN)
        self.gpumc("run", "c.yaml", "--task", 3, "--set", "algorithm.sweeps=3")
        self.refuse("c.yaml", "--slurm", says="task 3 would be refused: out/4.h5")

    def test_more_elements_than_slurm_allows(self):
        self.write("c.yaml", SEVEN)
        self.install("scontrol", "echo 'MaxArraySize            = 4'")
        self.refuse("c.yaml", "--slurm", says="element 6 of the array is beyond the 4 that a job can have here "
                                               "(MaxArraySize): use --bundle 2 or more")
        self.assertEqual(self.elements("--bundle", 2), "0-3")
        self.gpumc("run", "c.yaml", "--task", "4-6")
        self.assertEqual(self.elements(), "0-3")


class Status(SlurmCase):
    def test_jobs_stand_beside_their_tasks(self):
        self.write("c.yaml", SEVEN)
        self.gpumc("run", "c.yaml", "--task", 2)
        plain = self.gpumc("status", "c.yaml").out
        self.assertNotIn("job", plain)
        one, three = self.name(), self.name("--bundle", 3)
        self.queue(f"5_0|{one}|RUNNING|None", f"5_1|{one}|PENDING|Resources", f"6_2|{three}|CONFIGURING|None")
        report = json.loads(self.gpumc("status", "c.yaml", "--json").out)
        self.assertEqual([task.get("job") for task in report["tasks"]],
                         [{"id": "5_0", "state": "RUNNING"},
                          {"id": "5_1", "state": "PENDING", "reason": "Resources"}] + [None] * 4 +
                         [{"id": "6_2", "state": "CONFIGURING"}])
        lines = self.gpumc("status", "c.yaml").out.splitlines()
        self.assertRegex(lines[0], r"left +job +output +parameters$")
        self.assertRegex(lines[2], r"not started +5_1 PENDING \(Resources\) +out/2.h5 +seed=2$")
        self.assertRegex(lines[3], r"done +100 % +out/3.h5")
        self.queue()
        self.assertEqual(self.gpumc("status", "c.yaml").out, plain)

    def test_a_running_element_counts_before_one_that_waits(self):
        self.write("c.yaml", SEVEN)
        name = self.name()
        lines = ["5_0|{}|RUNNING|None", "6_0|{}|PENDING|Priority"]
        for lines in [lines, lines[::-1]]:
            self.queue(*[line.format(name) for line in lines])
            task = json.loads(self.gpumc("status", "c.yaml", "--json").out)["tasks"][0]
            self.assertEqual(task["job"], {"id": "5_0", "state": "RUNNING"})

    def test_squeue_that_fails(self):
        self.write("c.yaml", SMALL)
        self.install("squeue", "echo first >&2; echo 'squeue: error: last' >&2; exit 1")
        process = self.gpumc("status", "c.yaml")
        self.assertTrue(process.out.endswith("\nThe Slurm jobs are unknown: squeue: error: last\n"), process.out)
        self.assertEqual(json.loads(self.gpumc("status", "c.yaml", "--json").out)["squeue"], "squeue: error: last")
        self.install("squeue", "echo 'squeue: fatal: Could not establish a configuration source' >&2; exit 1")
        self.assertNotIn("jobs", self.gpumc("status", "c.yaml").out)


class Lists(SlurmCase):
    def test_tasks_are_done_once_each_in_their_order(self):
        self.write("c.yaml", SEVEN)
        process = self.gpumc("run", "c.yaml", "--task", "5,0-2,1-2,5-5")
        said = [line.split(":")[1] for line in process.err.splitlines() if "complete after" in line]
        self.assertEqual(said, [" task 0", " task 1", " task 2", " task 5"])
        self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/2.h5", "out/3.h5", "out/6.h5"])

    def test_mistakes(self):
        self.write("c.yaml", SEVEN)
        for text in ["", "1,", ",1", "1-", "-1", "2-1", "1 2", "0x1", "+1", "1--2", "1-2-3", "99999999999", "a"]:
            process = self.gpumc("run", "c.yaml", f"--task={text}", code=INVALID)
            self.assertIn(f"--task must be a non-negative integer, a range or a list such as '0,3-8', not '{text}'",
                          process.err)
        process = self.gpumc("run", "c.yaml", "--task", "0,5-7", code=INVALID)
        self.assertEqual(process.err, "gpumc: error: --task 0,5-7: c.yaml has tasks 0 to 6\n")
        self.assertEqual(self.names("*.h5*"), [])

    def test_a_task_of_a_list_that_is_taken_is_left_to_the_other(self):
        self.write("c.yaml", TWO_LONG)
        process = self.start("run", "c.yaml", "--task", 0, "--threads", 1)
        self.assertTrue(wait_for(self.path("s1.h5.status"), process))
        listed = self.gpumc("run", "c.yaml", "--task", "0-1", "--max-time", "1 ms", code=STOPPED)
        self.assertIn("task 0: s1.h5 is being worked on", listed.err)
        self.assertIn("1 task is being worked on elsewhere", listed.err)
        self.gpumc("run", "c.yaml", "--task", "0", code=FAILURE)
        stop(process)


class EndOfJob(SlurmCase):
    def limited(self, **variables):
        """A long run; the seconds that it took to stop by itself, and what it said."""
        begin = time.monotonic()
        process = self.gpumc("run", "c.yaml", "--max-time", "job", "--threads", 1, code=STOPPED,
                             env={**self.environment, "SLURM_JOB_ID": "12", **variables})
        return time.monotonic() - begin, process.err

    def test_half_of_a_short_time_is_used(self):
        self.write("c.yaml", LONG)
        for answer in ["0:06", "6", "00:00:06", "0-00:00:06"]:
            self.queue(answer)
            seconds, _ = self.limited()
            self.assertGreater(seconds, 2.9)
            self.assertIn("--jobs 12", self.path("squeue.words").read_text())

    def test_the_end_in_the_environment_is_asked_first(self):
        self.write("c.yaml", LONG)
        self.queue("UNLIMITED")
        seconds, _ = self.limited(SLURM_JOB_END_TIME=str(int(time.time()) + 6))
        self.assertGreater(seconds, 1.9)
        self.assertFalse(self.path("squeue.words").exists())

    def test_a_minute_is_kept_of_a_long_time(self):
        self.write("c.yaml", LONG)
        self.queue("2:03")
        process = self.start("run", "c.yaml", "--max-time", "job", "--threads", 1,
                             env={**self.environment, "SLURM_JOB_ID": "12"})
        time.sleep(4)
        self.assertIsNone(process.poll())
        stop(process)

    def test_a_job_that_is_over_advances_by_a_unit(self):
        self.write("c.yaml", LONG)
        self.limited(SLURM_JOB_END_TIME=str(int(time.time()) - 100))
        self.assertTrue(self.path("small.h5.ckpt").exists())

    def test_where_slurm_does_not_tell(self):
        self.write("c.yaml", SMALL)
        warning = "gpumc: warning: --max-time job: the end of the job is unknown"
        for text, says in [(None, "squeue is not on the PATH"),
                           ("echo 'squeue: error: none' >&2; exit 1", "squeue: error: none"),
                           ("echo INVALID", "squeue reports no remaining time for job 12"),
                           ("exit 3", "squeue exited with code 3")]:
            if text is not None:
                self.install("squeue", text)
            process = self.gpumc("run", "c.yaml", "--max-time", "job", "--fresh",
                                 env={**self.environment, "SLURM_JOB_ID": "12"})
            self.assertIn(warning, process.err)
            self.assertIn(says, process.err)
        self.queue("UNLIMITED")
        process = self.gpumc("run", "c.yaml", "--max-time", "job", "--fresh",
                             env={**self.environment, "SLURM_JOB_ID": "12"})
        self.assertNotIn(warning, process.err)

    def test_outside_of_a_job(self):
        self.write("c.yaml", SMALL)
        process = self.gpumc("run", "c.yaml", "--max-time", "job", code=INVALID)
        self.assertIn("--max-time job: this is not a Slurm job", process.err)
        self.assertFalse(self.path("small.h5").exists())


if __name__ == "__main__":
    cases.main()
