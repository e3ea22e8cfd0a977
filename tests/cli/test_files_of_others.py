"""Files that look like gpumc's own, or come at the worst moment: none is removed or replaced that is not the task's own.

CTest: methods 5 s
"""
import json
import os
import pathlib
import shutil
import signal
import sys
import time

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, faults
from support.program import FAILURE, INVALID, OK, SMALL, STOPPED, ProgramCase

SEAL = 32
LOGGED = SMALL.replace("  runs: 2\n", "  runs: 2\n  configurations: {betas: [0, 0.2]}\n")


class Others(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", LOGGED)

    def clear(self):
        for path in self.directory.glob("small.h5*"):
            path.unlink()

    def contents(self, pattern="small.h5*"):
        return {name: self.path(name).read_bytes() for name in self.names(pattern)}

    def left_alone(self, name, says, seconds=60):
        before = self.contents()
        for fresh in [[], ["--fresh"]]:
            process = self.gpumc("run", self.config, *fresh, code=FAILURE, timeout=seconds)
            self.assertIn(f"{name}: {says}", process.err)
            self.assertIn("left alone: move it away or choose another output", process.err)
            self.assertEqual(self.contents(), before)
        task, = json.loads(self.gpumc("status", self.config, "--json").out)["tasks"]
        self.assertEqual(task["state"], "failed")
        self.assertIn(name, task["message"])


class WorkingFile(Others):
    """Of the attribute `format` of the root group alone a file is known."""

    def hdf5(self, name, fill, **options):
        with h5py.File(self.path(name), "w", libver="latest", **options) as file:
            fill(file)

    def test_the_words_elsewhere(self):
        def source(file):
            file.attrs["source"] = "averages of gpumc-results of 2017"

        def another_format(file):
            file.attrs["format"] = "gpumc-results of mine"

        def of_a_group(file):
            file.create_group("copied").attrs["format"] = "gpumc-results"

        def numbers(file):
            file["gpumc-results"] = np.arange(10)

        def many(file):
            for i in range(20):
                file.attrs[f"note{i}"] = "gpumc-results"
        for fill in [source, another_format, of_a_group, numbers, many]:
            for suffix in [".partial", ".partial.new"]:
                with self.subTest(fill=fill.__name__, suffix=suffix):
                    self.clear()
                    self.hdf5("small.h5" + suffix, fill)
                    self.left_alone("small.h5" + suffix, "not a working file of gpumc")

    def test_finished_results(self):
        """Of another task, or of this one but copied; whole, damaged, cut off, of another version of the format."""
        self.gpumc("run", self.config, "-o", "other.h5", "--set", "seed=12", "--quiet")
        whole = self.path("other.h5").read_bytes()
        middle = len(whole) // 2
        shutil.copy(self.path("other.h5"), self.path("changed.h5"))
        with h5py.File(self.path("changed.h5"), "r+") as file:
            file.attrs.modify("format_version", np.int64(9))
        later = self.path("changed.h5").read_bytes()
        with h5py.File(self.path("changed.h5"), "r+") as file:
            file.attrs.modify("format_version", np.int64(1))
        first = self.path("changed.h5").read_bytes()
        contents = {"whole": whole, "damaged": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:],
                    "without its seal": whole[:-SEAL], "cut off": whole[:-200], "later": later, "first": first,
                    "first, cut off": first[:-200]}
        for suffix in [".partial", ".partial.new"]:
            for kind, content in contents.items():
                with self.subTest(suffix=suffix, kind=kind):
                    self.clear()
                    self.path("small.h5" + suffix).write_bytes(content)
                    self.left_alone("small.h5" + suffix, "not a working file but a finished or damaged result")
        self.clear()
        self.gpumc("run", self.config, "--quiet")
        os.replace(self.path("small.h5"), self.path("small.h5.partial.new"))
        self.left_alone("small.h5.partial.new", "not a working file but a finished or damaged result")

    def test_killed_before_the_seal_is_whole(self):
        """What is left is the run's own, and the next one needs no help."""
        faults.require(self)
        self.gpumc("run", self.config, "-o", "undisturbed.h5", "--quiet")
        calls = 0
        for call in ["fsync", "rename"]:
            for nth in range(1, 20):
                process = self.start("run", self.config, env=faults.environment(
                    f"{call}:nth={nth}:path=.partial:action=kill"))
                process.communicate(timeout=60)
                if process.returncode == OK:
                    break
                self.assertEqual(process.returncode, -signal.SIGKILL)
                calls += 1
                self.gpumc("run", self.config, "--quiet")
                self.clear()
            self.clear()
        self.assertGreaterEqual(calls, 4)  # fsync before and behind the seal; both names


class Lock(Others):
    def test_what_is_no_lock(self):
        for text in ["gpumc notes on this lock", "gpumc 2017 results of mine\n", "gpumc 12 host\nand more\n", "gpumc 12\n",
                     "gpumc  host\n", "gpumc 12 host", "gpumc 12 host\0\n"]:
            with self.subTest(text):
                self.clear()
                self.path("small.h5.lock").write_text(text)
                self.left_alone("small.h5.lock", "not a lock of gpumc")

    def test_locks_that_are_left_behind(self):
        for text in ["", "gpumc 12 \n", "gpumc 12 host.domain-1\n"]:
            with self.subTest(text):
                self.clear()
                self.path("small.h5.lock").write_text(text)
                self.gpumc("run", self.config, "--quiet")
                self.assertEqual(self.names("small.h5*"), ["small.h5"])

    def test_half_a_line_is_never_left(self):
        faults.require(self)
        for size in range(0, 24, 4):
            process = self.start("run", self.config, env=faults.environment(
                f"write:after_bytes={size}:path=.lock; rename:nth=1:path=.partial:action=kill"))
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGKILL)
            self.gpumc("run", self.config, "--quiet")
            self.clear()


class AnotherConfiguration(Others):
    """Its unfinished work beside a result that is complete already."""

    def begin(self, *arguments):
        self.gpumc("run", self.config, "--set", "seed=12", "--max-time", "1 ms", *arguments, code=STOPPED)

    def setUp(self):
        super().setUp()
        self.gpumc("run", self.config, "-o", "kept.h5", "--quiet")

    def complete(self, says):
        before = self.contents("small.h5.*")
        shutil.copy(self.path("kept.h5"), self.path("small.h5"))
        process = self.gpumc("run", self.config)
        self.assertIn("already complete", process.err)
        self.assertIn(says, process.err)
        self.assertEqual(self.contents("small.h5.*"), before)

    def test_that_can_be_resumed(self):
        self.begin()
        self.assertEqual(self.names("small.h5.*"), [f"small.h5.{end}" for end in ("ckpt", "log", "partial", "status")])
        self.complete("small.h5.ckpt: belongs to another configuration or is damaged; it was left alone")
        self.path("small.h5").unlink()
        self.assertIn("resuming", self.gpumc("run", self.config, "--set", "seed=12").err)

    def test_that_has_no_checkpoint_yet(self):
        self.begin()
        self.path("small.h5.ckpt").unlink()
        self.complete("small.h5.partial: belongs to another configuration or is damaged; it was left alone")

    def test_that_is_damaged(self):
        self.begin()
        content = bytearray(self.path("small.h5.ckpt").read_bytes())
        content[-100] ^= 1
        self.path("small.h5.ckpt").write_bytes(content)
        self.complete("small.h5.ckpt: belongs to another configuration or is damaged; it was left alone")

    def test_its_own_are_removed(self):
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        shutil.copy(self.path("kept.h5"), self.path("small.h5"))
        process = self.gpumc("run", self.config)
        self.assertIn("already complete", process.err)
        self.assertNotIn("left alone", process.err)
        self.assertEqual(self.names("small.h5*"), ["small.h5"])


class AtTheLastMoment(Others):
    """A file that comes to OUTPUT while the result gets its checksum is not replaced."""

    def stopped(self, fault):
        """A run that stops itself before the last step."""
        process = self.start("run", self.config, env=faults.environment(fault))
        state = pathlib.Path(f"/proc/{process.pid}/stat")
        end = time.monotonic() + 60
        while time.monotonic() < end and state.read_text().rsplit(")", 1)[1].split()[0] != "T":
            self.assertIsNone(process.poll())
            time.sleep(0.005)
        return process

    def finish(self, process, code):
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        return err

    # As file systems have it: renames that replace nothing, links only, neither.
    SYSTEMS = {"rename": "", "link": "rename_new:errno=EINVAL; ",
               "neither": "rename_new:errno=EINVAL; link:errno=EPERM; "}

    def test_is_kept(self):
        faults.require(self)
        for system, setting in self.SYSTEMS.items():
            with self.subTest(system):
                # The second fsync of .partial is that behind the seal; renames come after it.
                process = self.stopped(setting + "fsync:nth=2:path=.partial:action=stop")
                self.assertFalse(self.path("small.h5").exists())
                self.path("small.h5").write_text("mine\n")
                self.assertIn("small.h5: appeared", self.finish(process, FAILURE))
                self.assertEqual(self.path("small.h5").read_text(), "mine\n")
                self.gpumc("run", self.config, code=INVALID)
                self.path("small.h5").unlink()
                self.gpumc("run", self.config)
                self.assertEqual(self.names("small.h5*"), ["small.h5"])
                self.clear()

    def test_results_come_to_be_everywhere(self):
        faults.require(self)
        for system, setting in self.SYSTEMS.items():
            for fresh in [[], ["--fresh"]]:
                with self.subTest(system, fresh=fresh):
                    self.gpumc("run", self.config, "--quiet", *fresh, env=faults.environment(setting))
                    self.assertEqual(self.names("small.h5*"), ["small.h5"])
                    self.gpumc("info", "small.h5")

    def test_killed_while_it_has_both_names(self):
        faults.require(self)
        for fresh in [[], ["--fresh"]]:
            process = self.start("run", self.config, env=faults.environment(
                self.SYSTEMS["link"] + "unlink:path=.partial:action=kill"))
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -signal.SIGKILL)
            self.assertTrue(os.path.samefile(self.path("small.h5"), self.path("small.h5.partial")))
            self.gpumc("run", self.config, *fresh)
            self.assertEqual(self.names("small.h5*"), ["small.h5"])
            self.clear()


class Unknown(Others):
    def test_the_reason_is_told(self):
        faults.require(self)
        for suffix in [".partial", ".ckpt", ".log", ".status", ".lock"]:
            with self.subTest(suffix):
                self.clear()
                self.path("small.h5" + suffix).write_bytes(b"")
                process = self.gpumc("run", self.config, code=FAILURE, env=faults.environment(
                    f"open_read:path=small.h5{suffix}:errno=EACCES"))
                self.assertIn(f"small.h5{suffix}: cannot examine it: Permission denied", process.err)
                self.assertNotIn("not a", process.err)


if __name__ == "__main__":
    cases.main()
