"""gpumc run: outputs, overrides, resuming, refusing, stopping; every exit code.

CTest: first
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.attributes import attributes
from support.device import MISSING, without_gpus
from support.program import (CAMPAIGN, DEVICE, FAILURE, INVALID, LONG, PROGRAM, SMALL, STOPPED,
                             ProgramCase, stop, wait_for)
from support.results import assert_same_numbers, numbers


def fill_pipe(write):
    """To the last byte, and close it here; whoever else has it will wait."""
    # Not blocking as opened here alone: others share the descriptor that was given.
    filler = os.open(f"/proc/self/fd/{write}", os.O_WRONLY | os.O_NONBLOCK)
    os.close(write)
    for size in [4096, 1]:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(filler, b"." * size)
    os.close(filler)


class SingleRun(ProgramCase):
    def test_result_and_nothing_else_is_left(self):
        config = self.write("c.yaml", SMALL)
        process = self.gpumc("run", config)
        self.assertEqual(self.names(), ["c.yaml", "small.h5"])
        self.assertIn("small.h5: complete after", process.err)
        self.assertEqual(process.out, "")

    def test_result_says_where_it_comes_from(self):
        self.gpumc("run", self.write("c.yaml", SMALL), "--threads", 1)
        with h5py.File(self.path("small.h5")) as file:
            self.assertEqual(file.attrs["complete"], 1)
            self.assertEqual(attributes(file)["title"], "a small run")
            source = file["config/source"][()]
            self.assertEqual(source.decode() if isinstance(source, bytes) else source, SMALL)
            resolved = json.loads(file["config/resolved"][()])
            self.assertEqual(resolved["algorithm"]["population"], 200)
            provenance = attributes(file["provenance"])
        for name in ["git_commit", "compiler", "hdf5_version", "libyaml_version", "cjson_version",
                     "host", "device", "kernel", "trajectory", "command_line", "start", "end"]:
            self.assertTrue(str(provenance[name]), name)
        self.assertEqual(provenance["threads"], 1)
        self.assertEqual(provenance["resumes"], 0)
        self.assertGreater(provenance["updates"], 0)
        self.assertGreater(provenance["update_rate"], 0)
        self.assertIn("--threads 1", provenance["command_line"])
        self.assertRegex(provenance["start"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_started_anew_as_the_same_process(self):
        """For a shorter busy waiting of the threads, unless the environment decides about it."""
        name = shutil.copy(PROGRAM, self.path("gpumc-copy"))
        config = self.write("c.yaml", LONG)
        for decided in [{}, {"OMP_WAIT_POLICY": "passive"}, {"GOMP_SPINCOUNT": "77"}]:
            environment = {key: value for key, value in os.environ.items()
                           if key not in ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"]} | decided
            process = subprocess.Popen([name, "run", config, "--quiet", "--fresh"], text=True,
                                       cwd=self.directory, env=environment, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            self.assertTrue(wait_for(self.path("small.h5.lock"), process))
            self.assertTrue(wait_for(self.path("small.h5.partial"), process))
            self.assertEqual(self.path("small.h5.lock").read_text().split()[1], str(process.pid))
            of_process = pathlib.Path(f"/proc/{process.pid}")
            self.assertEqual((of_process / "comm").read_text().strip(), "gpumc-copy")
            variables = dict(variable.split("=", 1) for variable in
                             (of_process / "environ").read_text().split("\0") if variable)
            expected = decided or {"GOMP_SPINCOUNT": "1000"}
            self.assertEqual({key: variables[key] for key in variables
                              if key in ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT"]}, expected)
            self.assertEqual(stop(process).returncode, STOPPED)
            info = subprocess.run([PROGRAM, "info", "small.h5.partial", "--json"], text=True,
                                  cwd=self.directory, stdout=subprocess.PIPE, check=True)
            self.assertEqual(json.loads(info.stdout)["provenance"]["command_line"],
                             f"gpumc run {config} --quiet --fresh")
            self.path("small.h5.partial").unlink()

    def test_quiet_leaves_only_warnings(self):
        process = self.gpumc("run", self.write("c.yaml", SMALL), "--quiet")
        self.assertEqual(process.out, "")
        for line in process.err.splitlines():
            self.assertTrue(line.startswith("gpumc: warning: "), line)

    def test_terminal_gets_a_progress_bar(self):
        try:
            ours, theirs = pty.openpty()
        except OSError as problem:
            self.skipTest(f"no pseudo-terminal: {problem}")
        process = self.start("run", self.write("c.yaml", LONG), stderr=theirs)
        os.close(theirs)
        self.addCleanup(process.kill)
        shown = b""
        while b"flips/ns" not in shown:
            shown += os.read(ours, 4096)
        process.terminate()
        process.communicate(timeout=60)
        os.close(ours)
        self.assertEqual(process.returncode, STOPPED)
        self.assertRegex(shown.decode(), r"\r\x1b\[K\[#*\.*\] +\d+ %  beta = [\d.]+  .* flips/ns")

    def test_output_option_takes_any_name(self):
        config = self.write("c.yaml", SMALL)
        for name in ["other.h5", "deep/er/result.h5", "it's a: \"name\" # 1.h5"]:
            with self.subTest(name=name):
                self.gpumc("run", config, "-o", name)
                self.assertTrue(self.path(name).exists())
        self.assertFalse(self.path("small.h5").exists())

    def test_set_overrides_a_key(self):
        self.gpumc("run", self.write("c.yaml", SMALL), "--set", "algorithm.population=100")
        with h5py.File(self.path("small.h5")) as file:
            resolved = json.loads(file["config/resolved"][()])
        self.assertEqual(resolved["algorithm"]["population"], 100)

    def test_mistakes_are_told_with_their_place(self):
        config = self.write("c.yaml", SMALL.replace("sweeps: 2", "sweps: 2"))
        process = self.gpumc("run", config, code=INVALID)
        self.assertTrue(process.err.startswith(f"{config}:10:3: "), process.err)
        self.assertIn("sweeps", process.err)
        self.assertEqual(self.names(), ["c.yaml"])

    def test_mistake_of_an_override(self):
        process = self.gpumc("run", self.write("c.yaml", SMALL), "--set", "algorithm.popluation=1",
                             code=INVALID)
        self.assertIn("algorithm.popluation=1", process.err)
        self.assertIn("population", process.err)

    def test_missing_configuration(self):
        self.assertIn("No such file", self.gpumc("run", "missing.yaml", code=FAILURE).err)

    def test_threads_do_not_change_the_numbers(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "-o", "one.h5", "--threads", 1)
        self.gpumc("run", config, "-o", "two.h5", "--threads", 2)
        assert_same_numbers(self, numbers(self.path("one.h5")), self.path("two.h5"))


class AgainstWhatIsThere(ProgramCase):
    def test_already_complete(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        left_behind = self.path("small.h5.ckpt").read_bytes()
        self.gpumc("run", config)
        before = self.path("small.h5").read_bytes()
        self.path("small.h5.ckpt").write_bytes(left_behind)
        process = self.gpumc("run", config)
        self.assertIn("small.h5: already complete", process.err)
        self.assertEqual(self.path("small.h5").read_bytes(), before)
        self.assertEqual(self.names(), ["c.yaml", "small.h5"])

    def test_incidental_keys_may_change(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        process = self.gpumc("run", config, "--set", "checkpoint.every=1 h", "--set", "title=other")
        self.assertIn("already complete", process.err)

    def test_changed_configuration_is_refused_with_the_difference(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        before = self.path("small.h5").read_bytes()
        process = self.gpumc("run", config, "--set", "algorithm.population=300", code=INVALID)
        self.assertIn("algorithm.population: 200 -> 300", process.err)
        self.assertIn("--fresh", process.err)
        self.assertEqual(self.path("small.h5").read_bytes(), before)

    def test_fresh_starts_over(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        self.gpumc("run", config, "--set", "algorithm.population=300", "--fresh")
        with h5py.File(self.path("small.h5")) as file:
            resolved = json.loads(file["config/resolved"][()])
        self.assertEqual(resolved["algorithm"]["population"], 300)

    def test_fresh_keeps_the_result_when_the_run_cannot_start(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        # 2^52 spins: more than any machine holds.
        self.gpumc("run", config, "--fresh", "--set", "algorithm.population=1073741824",
                   "--set", "model.shape=[2048, 2048]", code=FAILURE)
        self.assertIn("already complete", self.gpumc("run", config).err)

    def test_a_file_that_is_no_result_is_never_touched(self):
        config = self.write("c.yaml", SMALL)
        self.write("small.h5", "my thesis")
        for options in [[], ["--fresh"]]:
            process = self.gpumc("run", config, *options, code=INVALID)
            self.assertIn("small.h5", process.err)
            self.assertEqual(self.path("small.h5").read_text(), "my thesis")

    def test_changed_configuration_against_a_checkpoint(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        before = self.path("small.h5.ckpt").read_bytes()
        process = self.gpumc("run", config, "--set", "seed=12", code=INVALID)
        self.assertIn("seed: 11 -> 12", process.err)
        self.assertIn("--fresh", process.err)
        self.assertEqual(self.path("small.h5.ckpt").read_bytes(), before)
        self.gpumc("run", config, "--set", "seed=12", "--fresh")

    def test_two_runs_of_the_same_output(self):
        config = self.write("c.yaml", LONG)
        first = self.start("run", config)
        self.addCleanup(first.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), first))
        process = self.gpumc("run", config, code=FAILURE)
        self.assertIn(f"small.h5 is being worked on by process {first.pid} on ", process.err)
        self.assertEqual(stop(first).returncode, STOPPED)


class Refusals(ProgramCase):
    def test_population_that_does_not_fit(self):
        config = self.write("c.yaml", SMALL)
        process = self.gpumc("run", config, "--set", "algorithm.population=2147483647",
                             "--set", "model.shape=[64, 64]", code=FAILURE)
        self.assertIn("not enough memory", process.err)
        self.assertRegex(process.err, r"the largest algorithm\.population that fits is \d+")
        self.assertFalse(self.path("small.h5.partial").exists())
        status = self.gpumc("status", config).out
        self.assertIn("1 failed, 0 not started", status)
        self.assertIn("task 0 failed: not enough memory", status)
        self.gpumc("run", config)
        self.assertEqual(self.names(), ["c.yaml", "small.h5"])

    def test_refused_for_the_files_of_another_configuration(self):
        """Its status record is that of the other configuration, and stays."""
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        self.gpumc("run", config, "--set", "seed=12", code=INVALID)
        self.assertIn("1 resumable, 0 failed", self.gpumc("status", config).out)

    def test_a_fresh_start_that_cannot_be(self):
        """The result is complete as before; a record of the failure, were there one, does not hold."""
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        self.gpumc("run", config, "--fresh", "--device", MISSING, code=DEVICE)
        self.assertEqual(self.names(), ["c.yaml", "small.h5"])
        self.write("small.h5.status", '{"state": "failed", "fraction": null, "seconds": null, '
                   '"remaining_seconds": null, "message": "no such device", "updated": 1}')
        status = self.gpumc("status", config).out
        self.assertIn("1 done", status)
        self.assertNotIn("no such device", status)

    def test_refused_by_the_algorithm(self):
        """A combination that only the instance shows is a mistake of the file, with its place."""
        config = self.write("c.yaml", SMALL.replace("  runs: 2", """\
  runs: 2
  reweight: {from: 0.1, to: 0.4, step: 0.1}""").replace("[8, 8]", "[8, 8]\n  h: 0.123456789"))
        process = self.gpumc("run", config, code=INVALID)
        self.assertRegex(process.err, r"c\.yaml:14:13: reweight needs a model with a discrete spectrum")
        self.assertEqual(self.names(), ["c.yaml"])

    def test_cuda_that_is_not_there(self):
        config = self.write("c.yaml", SMALL)
        for name, environment in [(MISSING, os.environ), ("cuda", without_gpus())]:
            with self.subTest(name=name):
                process = self.gpumc("run", config, "--device", name, code=DEVICE, env=environment)
                self.assertIn(name, process.err)
                self.gpumc("run", config, "--set", f"kernel.device={name}", code=DEVICE,
                           env=environment)

    def test_unknown_device_is_a_mistake(self):
        config = self.write("c.yaml", SMALL)
        process = self.gpumc("run", config, "--device", "cdua", code=INVALID)
        self.assertIn("kernel.device", process.err)

    def test_unknown_variant_names_the_nearest(self):
        config = self.write("c.yaml", SMALL)
        process = self.gpumc("run", config, "--set", "kernel.variant=multipsin", code=INVALID)
        self.assertIn("multispin", process.err)

    def test_directory_that_cannot_be_made(self):
        config = self.write("c.yaml", SMALL)
        self.write("file", "")
        process = self.gpumc("run", config, "-o", "file/result.h5", code=FAILURE)
        self.assertIn("file", process.err)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_directory_that_cannot_be_written(self):
        config = self.write("c.yaml", SMALL)
        self.path("closed").mkdir(mode=0o500)
        process = self.gpumc("run", config, "-o", "closed/result.h5", code=FAILURE)
        self.assertIn("Permission denied", process.err)


class Stopping(ProgramCase):
    def interrupt(self, number):
        config = self.write("c.yaml", LONG)
        process = self.start("run", config)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        stop(process, number)
        self.assertEqual(process.returncode, STOPPED, process.err)
        self.assertIn("checkpoint written", process.err)
        self.assertTrue(self.path("small.h5.ckpt").exists())
        self.assertFalse(self.path("small.h5").exists())

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM)

    def test_sigint(self):
        self.interrupt(signal.SIGINT)

    def test_two_sigints_at_once_are_one(self):
        """As timeout -s INT sends them, to the program and to its group."""
        process = self.start("run", self.write("c.yaml", LONG))
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        process.send_signal(signal.SIGINT)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while f"ShdPnd:\t{1 << signal.SIGINT - 1:016x}" in status.read_text():
            pass
        stop(process, signal.SIGINT)
        self.assertEqual(process.returncode, STOPPED, process.err)
        self.assertIn("checkpoint written", process.err)

    def test_later_sigint_ends_at_once(self):
        """Sent while the program waits to say, into a full pipe, that it wrote its checkpoint."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        process = self.start("run", self.write("c.yaml", LONG),
                             stdout=subprocess.DEVNULL, stderr=write)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        fill_pipe(write)
        process.send_signal(signal.SIGINT)
        self.assertTrue(wait_for(self.path("small.h5.ckpt"), process))
        time.sleep(1.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), -signal.SIGINT)

    def test_time_limit_and_going_on(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "-o", "whole.h5")
        stops = 0
        while True:
            process = self.start("run", config, "--max-time", "1 ms")
            process.out, process.err = process.communicate(timeout=60)
            if process.returncode == 0:
                break
            self.assertEqual(process.returncode, STOPPED, process.err)
            stops += 1
            self.assertLess(stops, 1000, "no progress")
        self.assertGreater(stops, 0)
        self.assertRegex(process.err, r"resuming at \d+ %")
        assert_same_numbers(self, numbers(self.path("whole.h5")), self.path("small.h5"))
        with h5py.File(self.path("small.h5")) as file:
            self.assertEqual(file["provenance"].attrs["resumes"], stops)
        self.assertEqual(self.names("small.h5*"), ["small.h5"])

    def test_long_output_pipe_may_close(self):
        config = self.write("c.yaml", SMALL)
        read, write = os.pipe()
        os.close(read)
        process = self.start("run", config, stderr=write)
        os.close(write)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(self.path("small.h5").exists())


class Campaigns(ProgramCase):
    def test_every_task(self):
        config = self.write("c.yaml", CAMPAIGN)
        process = self.gpumc("run", config)
        self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/2.h5", "out/3.h5"])
        self.assertIn("task 2: out/3.h5: complete", process.err)

    def test_one_task(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--task", 1)
        self.assertEqual(self.names("*.h5"), ["out/2.h5"])

    def test_task_out_of_range(self):
        process = self.gpumc("run", self.write("c.yaml", CAMPAIGN), "--task", 3, code=INVALID)
        self.assertIn("has tasks 0 to 2", process.err)

    def test_task_of_a_campaign_has_the_numbers_of_the_single_run(self):
        self.gpumc("run", self.write("c.yaml", CAMPAIGN), "--task", 1)
        self.gpumc("run", self.write("s.yaml", SMALL), "--set", "seed=2", "-o", "single.h5")
        assert_same_numbers(self, numbers(self.path("single.h5")), self.path("out/2.h5"))

    def test_complete_tasks_are_skipped(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--task", 1)
        before = os.stat(self.path("out/2.h5")).st_mtime_ns
        process = self.gpumc("run", config)
        self.assertIn("out/2.h5: already complete", process.err)
        self.assertEqual(os.stat(self.path("out/2.h5")).st_mtime_ns, before)

    def test_a_failed_task_does_not_stop_the_others(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.write("out/2.h5.ckpt", "no checkpoint at all")
        process = self.gpumc("run", config, code=FAILURE)
        self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/3.h5"])
        self.assertIn("1 of 3 tasks failed", process.err)
        self.assertIn("task 1 (seed=2)", process.err)
        self.assertEqual(self.path("out/2.h5.ckpt").read_text(), "no checkpoint at all")

    def test_a_task_that_another_process_works_on_is_left_to_it(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.path("out").mkdir()
        holder = self.write("out/2.h5.lock", "gpumc 4711 elsewhere\n")
        with open(holder) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = self.gpumc("run", config)
            self.assertIn("task 1: out/2.h5 is being worked on by process 4711 on elsewhere: skipped",
                          process.err)
            self.assertIn("1 task is being worked on elsewhere", process.err)
            self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/3.h5"])
            self.assertEqual(self.gpumc("run", config, "--quiet").err, "")
            self.gpumc("run", config, "--task", 1, code=FAILURE)
        self.gpumc("run", config)
        self.assertEqual(self.names("*.h5"), ["out/1.h5", "out/2.h5", "out/3.h5"])

    def test_two_processes_share_a_campaign(self):
        config = self.write("c.yaml", CAMPAIGN.replace("[1, 2, 3]", str(list(range(1, 13)))))
        processes = [self.start("run", config) for _ in range(2)]
        for process in processes:
            _, messages = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, messages)
        self.assertEqual(len(self.names("*.h5")), 12)
        self.assertEqual(self.names("out/*.*.*"), [])

    def test_the_single_kind_of_failure_is_the_exit_code(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--device", MISSING, code=DEVICE)

    def test_time_limit_is_of_the_whole_invocation(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        self.assertEqual(self.names("*.h5"), [])
        self.assertEqual(self.names("*.ckpt"), ["out/1.h5.ckpt"])
        self.gpumc("run", config)
        self.assertEqual(self.names("*.ckpt"), [])

    def test_sigterm_stops_the_campaign(self):
        config = self.write("c.yaml", LONG.replace("small.h5", "out/{seed}.h5") +
                            "campaign:\n  seed: [1, 2, 3]\n")
        process = self.start("run", config)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("out/1.h5.partial"), process))
        self.assertEqual(stop(process).returncode, STOPPED)
        self.assertEqual(self.names("*.ckpt"), ["out/1.h5.ckpt"])


if __name__ == "__main__":
    unittest.main()
