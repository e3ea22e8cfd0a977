"""Files on a disk or a file server that does not answer: every command waits for them, and a signal ends it.

CTest: methods 5 s
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults
from support.program import LONG, PROGRAM, SMALL, STOPPED, ProgramCase, wait_for

SECONDS = 20  # for a command to end, on a busy machine too


class StalledCase(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", LONG)
        self.gpumc("run", self.write("small.yaml", SMALL.replace("small.h5", "done.h5")), "--quiet")
        self.gpumc("run", self.config, "--quiet", "--max-time", "1 ms", code=STOPPED)

    def end(self, process, number, code):
        process.send_signal(number)
        try:
            process.out, process.err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail(f"signal {number} does not end it")
        self.assertEqual(process.returncode, code, process.err)


class OneCall(StalledCase):
    """The call that opens the file does not return."""

    # What is opened, and the codes of the signals: gpumc run says that the same command continues.
    COMMANDS = [
        (["run", "c.yaml"], ["c.yaml", "small.h5.partial", "small.h5.ckpt"]),
        (["run", "small.yaml"], ["done.h5"]),
        (["status", "c.yaml"], ["c.yaml", "small.h5.partial", "small.h5.ckpt", "small.h5.status"]),
        (["status", "c.yaml", "--watch=0.1"], ["small.h5.partial", "small.h5.status"]),
        (["info", "small.h5.partial"], ["small.h5.partial"]),
        (["export", "done.h5"], ["done.h5"]),
        (["compare", "done.h5", "done.h5"], ["done.h5"]),
        (["merge", "merged.h5", "done.h5", "done.h5"], ["done.h5"]),
        (["validate", "c.yaml"], ["c.yaml"]),
        (["plan", "c.yaml"], ["c.yaml"]),
    ]

    def setUp(self):
        super().setUp()
        faults.require(self)

    def check(self, number):
        for words, files in self.COMMANDS:
            for name in files:
                with self.subTest(" ".join(words), file=name):
                    process = self.start(*words, env=faults.environment(f"open_read:end={name}:action=stall"))
                    self.assertTrue(wait_for(self.path("stalled"), process), "it does not open the file")
                    time.sleep(0.1)
                    self.path("stalled").unlink()
                    self.end(process, number, STOPPED if words[0] == "run" else -number)
                    if words[0] == "run":
                        self.assertIn("the same command continues the run", process.err)

    def test_ends_by_sigterm(self):
        self.check(signal.SIGTERM)

    def test_ends_by_sigint(self):
        self.check(signal.SIGINT)

    def test_ends_without_a_thread_that_listens(self):
        """Handlers and a timer stand in for it."""
        for words, code in [(["run", "c.yaml"], STOPPED), (["status", "c.yaml", "--watch=0.1"], -signal.SIGTERM)]:
            with self.subTest(" ".join(words)):
                process = self.start(*words, env=faults.environment("thread:nth=1; open_read:end=.partial:action=stall"))
                self.assertTrue(wait_for(self.path("stalled"), process), "it does not open the file")
                self.path("stalled").unlink()
                self.end(process, signal.SIGTERM, code)

    def test_the_lock_is_free_afterwards(self):
        process = self.start("run", self.config, env=faults.environment("open_read:end=.partial:action=stall"))
        self.assertTrue(wait_for(self.path("stalled"), process))
        self.end(process, signal.SIGTERM, STOPPED)
        self.assertIn("resumable", self.gpumc("status", self.config).out)
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)

    def test_a_run_at_work_keeps_its_work(self):
        """It is asked to stop, not ended, however long a unit or the disk takes; Ctrl-C twice ends it."""
        process = self.start("run", self.config, "--set", "checkpoint.every=1 ms",
                             env=faults.environment("fsync:path=.ckpt:action=stall"))
        self.assertTrue(wait_for(self.path("stalled"), process))
        process.send_signal(signal.SIGTERM)
        time.sleep(4)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        time.sleep(1.5)
        self.end(process, signal.SIGINT, -signal.SIGINT)


class Disk(StalledCase):
    """A whole file system that stands still: bindfs, stopped. The threads that wait for it run no handlers."""

    def setUp(self):
        super().setUp()
        if shutil.which("bindfs") is None:
            self.skipTest("bindfs is not installed")
        self.path("mount").mkdir()
        server = subprocess.Popen(["bindfs", "-f", self.path("."), self.path("mount")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(self.unmount, server)
        end = time.monotonic() + SECONDS
        while not os.path.ismount(self.path("mount")) and time.monotonic() < end:
            if server.poll() is not None:
                self.skipTest("bindfs cannot mount here")
            time.sleep(0.01)
        self.server = server

    def unmount(self, server):
        server.send_signal(signal.SIGCONT)
        subprocess.run(["umount", "-l", self.path("mount")], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["fusermount", "-uz", self.path("mount")], check=False, stderr=subprocess.DEVNULL)
        server.kill()
        server.wait()

    def on_the_disk(self, *words):
        return subprocess.Popen([PROGRAM, *words], cwd=self.directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_ends_by_a_signal(self):
        self.server.send_signal(signal.SIGSTOP)
        for number in (signal.SIGTERM, signal.SIGINT):
            for words in (["run", "c.yaml", "-o", "mount/small.h5"], ["status", "c.yaml", "-o", "mount/small.h5"],
                          ["status", "c.yaml", "-o", "mount/small.h5", "--watch=0.1"], ["info", "mount/done.h5"],
                          ["run", "mount/c.yaml"]):
                with self.subTest(" ".join(words), signal=number):
                    process = self.on_the_disk(*words)
                    time.sleep(0.5)
                    self.assertIsNone(process.poll())
                    self.end(process, number, STOPPED if words[0] == "run" else -number)

    def test_a_run_that_was_working_continues(self):
        process = self.on_the_disk("run", "c.yaml", "-o", "mount/other.h5", "--set", "checkpoint.every=1 ms", "--device", "cpu")
        self.assertTrue(wait_for(self.path("other.h5.ckpt"), process))
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        self.server.send_signal(signal.SIGCONT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, STOPPED)


if __name__ == "__main__":
    cases.main()
