"""gpumc doctor: what the program and the machine have, and what `device: auto` takes."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import DEVICE, SMALL, ProgramCase


class Doctor(ProgramCase):
    device = None

    def setUp(self):
        super().setUp()
        self.found = json.loads(self.gpumc("doctor", "--json").out)

    def test_text(self):
        text = self.gpumc("doctor").out
        for words in ["program     gpumc ", "build       ", "processor   ", "kernels     ",
                      "memory      ", "libraries   HDF5 ", "plugins     ABI 1-"]:
            self.assertIn(words, text)
        self.assertTrue(text.endswith(f"\n`device: auto` selects {self.found['auto']}\n"))
        self.assertEqual("without CUDA" in text, not self.found["cuda"]["built"])

    def test_the_program(self):
        version = self.gpumc("--version").out
        for key in ["version", "commit", "compiler", "build_type"]:
            self.assertIn(self.found["program"][key], version)
        self.assertIn(f"HDF5 {self.found['libraries']['hdf5']}", version)

    def test_the_machine(self):
        processor, memory = self.found["processor"], self.found["memory"]
        self.assertEqual(processor["logical_processors"], os.cpu_count())
        self.assertLessEqual(processor.get("cores", 0), processor["logical_processors"])
        self.assertIn(processor["isa"], processor["isa_compiled"])
        self.assertGreater(memory["bytes"], 0)
        self.assertGreater(memory["available_bytes"], 0)

    def test_either_gpus_or_why_there_are_none(self):
        cuda = self.found["cuda"]
        self.assertEqual("refusal" in cuda, self.found["auto"] == "cpu")
        self.assertEqual(cuda["toolkit"] != "", cuda["built"])
        for device in cuda["devices"]:
            self.assertRegex(device["compute_capability"], r"^\d+\.\d$")
            self.assertGreater(device["multiprocessors"], 0)
            self.assertGreater(device["bytes"], 0)

    def test_the_refusal_is_that_of_a_run(self):
        if self.found["auto"] != "cpu":
            self.skipTest("there is a GPU")
        process = self.gpumc("run", self.write("c.yaml", SMALL), "--device", "cuda", code=DEVICE)
        self.assertIn(self.found["cuda"]["refusal"], process.err)

    def test_auto_takes_what_it_says(self):
        plan = json.loads(self.gpumc("plan", self.write("c.yaml", SMALL), "--json").out)
        self.assertEqual(plan["tasks"][0]["device"], self.found["auto"].split(":")[0])


if __name__ == "__main__":
    unittest.main()
