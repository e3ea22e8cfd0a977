"""What a run does about a finished file that stands in its place already."""
import json
import pathlib
import signal
import sys
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import faults
from support.attributes import attributes
from support.edited_result import edited
from support.gpumc_program import resolved
from support.program import FAILURE, INVALID, OK, SMALL, ProgramCase


class StoredConfiguration(ProgramCase):
    def make(self):
        """Run SMALL; return its file and the configuration in small.h5."""
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        return config, resolved(self.path("small.h5"))

    def store(self, text):
        """Put `text` in the place of the configuration that made small.h5."""
        with edited(self.path("small.h5")) as file:
            del file["config/resolved"]
            kind = h5py.string_dtype("utf-8", len(text.encode()) + 1)
            file["config"].create_dataset("resolved", data=text.encode(), dtype=kind)


class ForeignConfiguration(StoredConfiguration):
    def test_is_told_from_ours_and_left_alone(self):
        config, found = self.make()
        odd = [dict(found, model=7), dict(found, model=dict(found["model"], name=7)),
               dict(found, algorithm=[]), dict(found, algorithm={"name": None}),
               dict(found, model={"name": "ising2d"}, kernel=3, seed=[1, {}]),
               {"model": {"name": "ising2d"}, "algorithm": {"name": "pa"}}, [], 7, None]
        for text in [*map(json.dumps, odd), "no JSON", ""]:
            with self.subTest(text):
                self.store(text)
                before = self.path("small.h5").read_bytes()
                process = self.gpumc("run", config, code=INVALID)
                self.assertIn("small.h5 is the result of another configuration", process.err)
                task = json.loads(self.gpumc("status", config, "--json").out)["tasks"][0]
                self.assertEqual(task["state"], "refused")
                self.assertEqual(self.path("small.h5").read_bytes(), before)


class EarlierConfiguration(StoredConfiguration):
    def test_a_switch_that_is_off_need_not_be_there(self):
        """An earlier program did not have it. Control: one that was on makes a difference."""
        config, found = self.make()
        algorithm = found["algorithm"]
        self.assertIs(algorithm.pop("structure_factor"), False)
        self.store(json.dumps(found))
        self.assertIn("already complete", self.gpumc("run", config).err)
        algorithm["structure_factor"] = True
        self.store(json.dumps(found))
        self.assertIn("algorithm.structure_factor: true -> (not set)", self.gpumc("run", config, code=INVALID).err)


class ReadOnlyDirectory(ProgramCase):
    def test_complete_result_is_complete(self):
        faults.require(self)
        config = self.write("c.yaml", SMALL)
        refusing = faults.environment("open:from=1:errno=EROFS")
        process = self.gpumc("run", config, env=refusing, code=FAILURE)
        self.assertIn("Read-only file system", process.err)
        self.gpumc("run", config)
        self.assertIn("already complete", self.gpumc("run", config, env=refusing).err)
        process = self.gpumc("run", config, "--set", "seed=12", env=refusing, code=FAILURE)
        self.assertIn("Read-only file system", process.err)
        self.assertEqual(self.names(), ["c.yaml", "small.h5"])


class ReadOnce(ProgramCase):
    def openings(self, *arguments):
        """How often the program opens small.h5 for reading; each attempt is killed at the next one."""
        count = 0
        while True:
            process = self.start(*arguments, env=faults.environment(
                f"open_read:nth={count + 1}:end=small.h5:action=kill"))
            process.communicate()
            if process.returncode == OK:
                return count
            self.assertEqual(process.returncode, -signal.SIGKILL)
            count += 1

    def test_a_complete_result_is_read_once(self):
        faults.require(self)
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        once = self.openings("status", config)
        self.assertGreater(once, 1)
        self.assertEqual(self.openings("run", config), once)


class AnotherTrajectory(ProgramCase):
    def test_is_no_result_of_this_program(self):
        config = self.write("c.yaml", SMALL)
        self.gpumc("run", config)
        with edited(self.path("small.h5")) as file:
            now = attributes(file["provenance"])["trajectory"]
            file["provenance"].attrs["trajectory"] = "earlier"
        process = self.gpumc("run", config, code=INVALID)
        self.assertIn(f"made with trajectory earlier, but this program has {now}:", process.err)
        self.assertIn("--fresh", process.err)
        with edited(self.path("small.h5")) as file:
            file["provenance"].attrs["trajectory"] = now
            file["provenance"].attrs["kernel_device"] = "a device of another machine"
        self.assertIn("already complete", self.gpumc("run", config).err)


if __name__ == "__main__":
    unittest.main()
