"""Standard output that cannot be written, text of others on a terminal, and signals that come early.

CTest: methods 5 s
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.edited_result import edited
from support.program import FAILURE, INVALID, LONG, OK, PROGRAM, SMALL, STOPPED, ProgramCase, stop, wait_for

HOSTILE = "a\x1b[31mred\x07\x7f\u009b2J\r\nsecond"
# What a terminal obeys: C0 but line end and tab, DEL, C1 in UTF-8.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f]")


class StandardOutput(ProgramCase):
    COMMANDS = [["--help"], ["--version"], ["help", "run"], ["run", "--help"], ["info", "--usage"], ["list"],
                ["list", "--json"], ["describe", "pa"], ["schema"], ["doctor"], ["validate", "c.yaml"],
                ["status", "c.yaml"], ["plan", "c.yaml"], ["info", "small.h5"], ["info", "small.h5", "--json"],
                ["init", "-o", "-"], ["man"], ["completion", "bash"], ["bench", "--seconds", "0.01", "--kernel", "spin", "--population", "8", "--shape", "8x8"]]

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", SMALL)
        self.gpumc("run", self.config, "--quiet")

    def test_that_is_full_or_closed_is_told(self):
        for command in self.COMMANDS:
            with self.subTest(command), open("/dev/full", "w") as full:
                process = self.gpumc(*command, code=FAILURE, stdout=full)
                self.assertIn("gpumc: error: cannot write to standard output", process.err)
                self.gpumc(*command, code=FAILURE, preexec_fn=lambda: os.close(1))
                self.gpumc(*command, code=OK)

    def test_a_mistake_keeps_its_code(self):
        with open("/dev/full", "w") as full:
            self.gpumc("validate", self.config, "--json", "--set", "seed=x", code=INVALID, stdout=full)

    def test_a_run_says_nothing_there(self):
        with open("/dev/full", "w") as full:
            self.gpumc("run", self.config, "--fresh", code=OK, stdout=full)

    def test_closed_streams_are_no_files_of_ours(self):
        """Messages would go into the file that gets the number of standard error."""
        def close():
            for number in (0, 1, 2):
                os.close(number)

        before = self.gpumc("info", "small.h5").out.split("provenance")[0]
        self.gpumc("run", self.config, "--fresh", code=OK, preexec_fn=close)
        self.assertEqual(self.gpumc("info", "small.h5").out.split("provenance")[0], before)


class TextOfOthers(ProgramCase):
    """Titles, attributes and names of files command no terminal, in no command."""

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", SMALL)
        self.gpumc("run", self.config, "--quiet")

    def said(self, *arguments, code=OK):
        words = self.with_device([str(argument) for argument in arguments])
        process = subprocess.Popen([PROGRAM, *words], cwd=self.directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, err)
        for stream in (out, err):
            self.assertIsNone(OBEYED.search(stream.decode()), (arguments, stream))
        return out.decode() + err.decode()

    def test_in_a_result(self):
        with edited(self.path("small.h5")) as file:
            file.attrs["title"] = HOSTILE
            file.attrs["program_version"] = HOSTILE
            file["provenance"].attrs["host"] = HOSTILE.replace("\n", "")
            file["provenance"].attrs["x\x1b[2J"] = "y"
            file["summary"].attrs["note"] = "\x1b]0;title\x07"
            file["summary"]["z\x1b[2J"] = 1.5
            resolved = json.loads(file["config/resolved"][()])
            del file["config/resolved"]
            text = json.dumps(dict(resolved, title="\u009b\x7f"), ensure_ascii=False).encode()
            file["config"].create_dataset("resolved", data=text, dtype=h5py.string_dtype("utf-8", len(text) + 1))
        self.assertIn(r"title: a\x1b[31mred\x07\x7f\x9b2J\x0d\x0asecond", self.said("info", "small.h5"))
        read = json.loads(self.said("info", "small.h5", "--json"))
        self.assertEqual(read["title"], HOSTILE)
        self.assertEqual(read["config"]["title"], "\u009b\x7f")
        self.said("run", self.config, "--set", "seed=12", code=INVALID)
        self.said("status", self.config, "--set", "seed=12")

    def test_in_names_of_files(self):
        for name in ["a\x1b[31m", "b\x07\x7f", b"c\xff\x9b2J", "d\u009bm", "e\nf"]:
            with self.subTest(name):
                name = os.fsdecode(name)
                config = self.path(name + ".yaml")
                config.write_text(SMALL.replace("small.h5", "out/x.h5"))
                self.said("validate", config)
                self.said("validate", config, "--set", "seed=x", code=INVALID)
                self.said("info", config, code=FAILURE)
                self.said("run", config, "--set", "algorithm.population=-1", code=INVALID)
                os.rename(config, self.path("d.yaml"))
                self.said("info", name, code=FAILURE)
                output = ["-o", name + ".h5"]
                if re.search("[\x7f-\x9f\udc00-\udfff]", name):
                    self.said("run", "d.yaml", *output, code=INVALID)  # YAML allows no such key
                    continue
                for command in ["plan", "run", "run", "status"]:
                    self.said(command, "d.yaml", *output)
                self.said("status", "d.yaml", *output, "--json")
                self.said("run", "d.yaml", *output, "--set", "seed=77", code=INVALID)

    def test_on_the_command_line(self):
        for words in [["run", "--set", "\x1b[2J"], ["\x1b[2J"], ["run", "--x\x1b[2J"], ["list", "\x1b[2J"],
                      ["run", "a\x1b", "b\x1b"], ["describe", "\x1b[2J"], ["run", "c.yaml", "--set", "a\x1b=1"],
                      ["bench", "--kernel", "\x1b[2J"], ["bench", "--model", "\x1b[2J"]]:
            with self.subTest(words):
                self.said(*words, code=INVALID)


class Signals(ProgramCase):
    def test_that_wait_when_the_program_starts(self):
        """Sent before its first instruction; nothing is begun, and the code is that of a stop."""
        config = self.write("c.yaml", SMALL)
        for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]:
            def send():
                signal.pthread_sigmask(signal.SIG_BLOCK, [number])
                os.kill(os.getpid(), number)

            with self.subTest(number):
                self.gpumc("run", config, code=STOPPED, preexec_fn=send, timeout=60)
                self.assertEqual(self.names(), ["c.yaml"])
                process = self.start("status", config, preexec_fn=send)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number)

    def test_at_any_instant_after_the_start(self):
        """Once the program is loaded every code is that of a stop, however early the signal is."""
        config = self.write("c.yaml", LONG)
        for i in range(20):
            process = self.start("run", config, "--quiet")
            self.addCleanup(process.kill)
            held = 1 << (signal.SIGTERM - 1)
            end = time.monotonic() + 60
            while time.monotonic() < end:  # until it holds or handles the signal
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                masks = [int(re.search(rf"^{name}:\s*(\w+)", status, re.M).group(1), 16) for name in ("SigBlk", "SigCgt")]
                if pathlib.Path(f"/proc/{process.pid}/comm").read_text() == "gpumc\n" and any(mask & held for mask in masks):
                    break
            time.sleep(0.003 * i)
            stop(process)
            self.assertEqual(process.returncode, STOPPED, process.err)

    def test_before_the_program_is_loaded(self):
        """The code may be that of the signal then; nothing is begun, and the same command runs."""
        config = self.write("c.yaml", SMALL)
        for i in range(20):
            for name in self.names():
                if name != "c.yaml":
                    self.path(name).unlink()
            process = self.start("run", config, "--quiet")
            self.addCleanup(process.kill)
            time.sleep(0.0005 * i)
            stop(process)
            self.assertIn(process.returncode, [STOPPED, -signal.SIGTERM, OK], process.err)
            if process.returncode == -signal.SIGTERM:
                self.assertEqual(self.names(), ["c.yaml"])
        self.gpumc("run", config, "--quiet")

    def test_hang_up_leaves_a_checkpoint(self):
        config = self.write("c.yaml", LONG)
        process = self.start("run", config)
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        time.sleep(0.3)
        stop(process, signal.SIGHUP)
        self.assertEqual(process.returncode, STOPPED, process.err)
        self.assertTrue(self.path("small.h5.ckpt").exists())

    def test_under_nohup_a_run_goes_on(self):
        config = self.write("c.yaml", LONG)
        process = self.start("run", config, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(process.kill)
        self.assertTrue(wait_for(self.path("small.h5.partial"), process))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        stop(process)
        self.assertEqual(process.returncode, STOPPED, process.err)


if __name__ == "__main__":
    cases.main()
