"""What `gpumc status` says of a task is what `gpumc run` does with it, whatever is at its names."""
import json
import os
import pathlib
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import FAILURE, INVALID, OK, SMALL, STOPPED, ProgramCase

CODES = {"done": OK, "resumable": OK, "not started": OK, "refused": INVALID, "failed": FAILURE}
SAYS = {"done": "already complete", "resumable": "resuming at"}
GLASS = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 6], couplings: file, file: couplings.txt}
algorithm: {name: pa, population: 32, sweeps: 1, beta: {to: 1.0, step: 0.1}}
output: small.h5
"""


def couplings(values, samples=1):
    return "shape 4 6\n" + f"couplings {values * 24}\n" * samples


class StatusCase(ProgramCase):
    def status(self, *options):
        task, = json.loads(self.gpumc("status", self.config, *options, "--json").out)["tasks"]
        return task

    def check(self, expected, *options):
        """`status` says `expected`, and then `run` does it, for the reason that `status` gave."""
        before = self.names()
        task = self.status(*options)
        self.assertEqual(task["state"], expected, task)
        self.assertEqual(self.names(), before)
        process = self.gpumc("run", self.config, *options, code=CODES[expected])
        for state, said in SAYS.items():
            self.assertEqual(said in process.err, state == expected, process.err)
        if expected in ("refused", "failed"):
            said = process.err.removeprefix("gpumc: error: ").strip()
            self.assertEqual(said[:400], task["message"][:400])
        return task


class Files(StatusCase):
    def test_of_everything_that_there_can_be(self):
        self.config = self.write("c.yaml", SMALL)
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        good = self.path("small.h5.ckpt").read_bytes()
        self.check("refused", "--set", "seed=12")
        self.check("refused", "--set", "kernel.variant=spin")
        for spoiled in [b"", good[:100], good[:-1], b"mine"]:
            self.path("small.h5.ckpt").write_bytes(spoiled)
            self.check("failed")
        identity = good.index(b'"algorithm"')
        self.path("small.h5.ckpt").write_bytes(good[:identity] + b"'" + good[identity + 1:])
        self.check("failed")
        self.path("small.h5.ckpt").write_bytes(good)
        self.check("resumable", "--set", "title=other", "--set", "checkpoint.every=1 h")
        self.check("done")
        self.check("refused", "--set", "seed=12")
        self.path("small.h5.ckpt").write_bytes(good)
        self.check("done")
        self.path("small.h5").write_bytes(b"mine")
        self.check("refused")
        self.path("small.h5").unlink()
        self.check("not started")

    def test_the_arrays_of_a_checkpoint_are_not_read(self):
        """Which may be many gigabytes; docs/cli.md says so."""
        self.config = config = self.write("c.yaml", SMALL)
        self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
        sizes = {}
        with h5py.File(self.path("small.h5.ckpt")) as file:
            file.visititems(lambda name, item: sizes.update({name: (item.nbytes, item.id.get_offset())})
                            if isinstance(item, h5py.Dataset) and item.id.get_offset() else None)
        size, offset = max(sizes.values())
        spoiled = bytearray(self.path("small.h5.ckpt").read_bytes())
        spoiled[offset + size // 2] ^= 1
        self.path("small.h5.ckpt").write_bytes(spoiled)
        self.assertEqual(self.status()["state"], "resumable")
        self.assertIn("its checksum is wrong", self.gpumc("run", config, code=FAILURE).err)

    def test_a_failure_beside_a_checkpoint(self):
        """It goes on; what failed last time is told."""
        self.config = self.write("c.yaml", SMALL)
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        self.write("small.h5.status", '{"state": "failed", "fraction": 0.5, "seconds": 1, '
                   '"remaining_seconds": null, "message": "no space left", "updated": 1}')
        text = self.gpumc("status", self.config).out
        self.assertIn("1 resumable, 0 failed", text)
        self.assertIn("task 0 resumable: the last run failed: no space left", text)
        self.assertEqual(self.check("resumable")["message"], "the last run failed: no space left")

    def test_places_where_nothing_can_be_written(self):
        self.config = self.write("c.yaml", SMALL)
        self.write("file", "mine")
        self.path("taken.h5").mkdir()
        self.path("nowhere").symlink_to("missing")
        for output, why in (("file/x.h5", "file is not a directory"),
                            ("file/deeper/x.h5", "cannot create the directory file/deeper: Not a directory"),
                            ("nowhere/x.h5", "cannot create the directory nowhere: No such file"),
                            ("taken.h5", "taken.h5: is a directory")):
            with self.subTest(output=output):
                self.assertIn(why, self.check("failed", "-o", output)["message"])
        self.check("not started", "-o", "new/and/deeper/x.h5")
        self.check("done", "-o", "new/and/deeper/x.h5")

    @unittest.skipIf(os.getuid() == 0, "root writes anywhere")
    def test_a_directory_without_permission(self):
        self.config = self.write("c.yaml", SMALL)
        self.path("closed").mkdir(mode=0o555)
        self.check("failed", "-o", "closed/x.h5")
        self.check("failed", "-o", "closed/deeper/x.h5")

    def test_several_obstacles_at_once(self):
        """Of several reasons `status` gives that of the run."""
        self.config = self.write("c.yaml", SMALL)
        self.gpumc("run", self.config, "--quiet")
        self.write("small.h5.lock", "mine")
        self.check("failed", "--set", "seed=12")
        self.assertIn("small.h5.lock: not a lock", self.status("--set", "seed=12")["message"])
        self.assertEqual(self.status()["state"], "done")
        self.path("small.h5").write_bytes(b"mine")
        self.check("failed")


class Couplings(StatusCase):
    """In a file that changed, or went, after a result or a checkpoint was made from it."""

    def setUp(self):
        super().setUp()
        self.config = self.write("c.yaml", GLASS)
        self.write("couplings.txt", couplings("1 -1 "))

    def spoil(self, state, fraction_of_refused):
        for text, fraction in ((None, fraction_of_refused), ("no couplings", fraction_of_refused),
                               (couplings("-1 1 "), None), (couplings("0.5 2 "), None)):
            with self.subTest(text=text):
                self.path("couplings.txt").unlink(missing_ok=True)
                if text is not None:
                    self.write("couplings.txt", text)
                task = self.check("refused")
                if fraction is not None:
                    self.assertEqual(task["fraction"], fraction)
        self.write("couplings.txt", "# the same, and one more\n" + couplings("1 -1 ", samples=2))
        self.check(state)

    def test_after_a_checkpoint(self):
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        self.spoil("resumable", self.status()["fraction"])

    def test_after_the_result(self):
        self.gpumc("run", self.config, "--quiet")
        self.spoil("done", 1)

    def test_before_either(self):
        self.path("couplings.txt").unlink()
        self.check("refused")
        self.assertIn("cannot read couplings.txt: No such file", self.gpumc("status", self.config).out)

    def test_of_one_task_keeps_a_campaign_from_running(self):
        """As `run` refuses the whole configuration; what is done is told, and why once."""
        campaign = (GLASS.replace("couplings.txt", "x").replace("small.h5", "'{model.file}.h5'") +
                    "campaign: {model.file: [a.txt, b.txt, c.txt]}\n")
        self.config = self.write("c.yaml", campaign)
        for name in "abc":
            self.write(f"{name}.txt", couplings("1 -1 "))
        self.gpumc("run", self.config, "--quiet")
        self.path("b.txt").unlink()
        self.gpumc("run", self.config, "--quiet", code=INVALID)
        report = json.loads(self.gpumc("status", self.config, "--json").out)["tasks"]
        self.assertEqual([(task["state"], task["fraction"]) for task in report], [("refused", 1)] * 3)
        self.assertEqual(self.gpumc("status", self.config).out.count("cannot read"), 1)


if __name__ == "__main__":
    unittest.main()
