"""gpumc bench: rates of the kernels of a device, as a table and as JSON."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import device
from support.program import DEVICE, INVALID, ProgramCase


class Bench(ProgramCase):
    small = ["--shape", "16x16", "--population", 256, "--sweeps", 1, "--seconds", 0.01]

    def test_table(self):
        text = self.gpumc("bench", *self.small, "--threads", 1, "--isa", device.lowest_level()).out
        self.assertIn("flips/ns", text)
        self.assertEqual(set(re.findall(r"x86-64-v\d", text)), {device.lowest_level()})
        for kernel in ["multispin", "spin"]:
            self.assertRegex(text, rf"(?m)^{kernel} +{device.lowest_level()} +philox4x32-10 +1 +[\d.e+-]+ ")

    def test_trials(self):
        """Kernels whose sweeps are other than an update of each site are rated by what they propose."""
        disks = ["--model", "hard_disks", "--set", "model.particles=100", "--set", "model.packing_fraction=0.6", "--population", 4,
                 "--sweeps", 1, "--seconds", 0.01, "--threads", 1]
        text = self.gpumc("bench", *disks).out
        self.assertIn("trials/s", text)
        self.assertNotIn("flips", text)
        for rate in json.loads(self.gpumc("bench", *disks, "--json").out)["rates"]:
            self.assertNotIn("flips_per_ns", rate)
            self.assertLess(0, rate["median_trials_per_second"])
            self.assertLessEqual(rate["median_trials_per_second"], rate["trials_per_second"])

    def test_the_control_has_its_name(self):
        """That of the model's first control; none where the moves are under no control."""
        disks = ["--model", "hard_disks", "--set", "model.particles=100", "--set", "model.packing_fraction=0.6", "--population", 4,
                 "--sweeps", 1, "--seconds", 0.01, "--threads", 1, "--beta", 3.5]
        for arguments, name in (disks + ["--update", "volume"], "beta_pressure"), (disks, None), \
                (self.small + ["--beta", 3.5, "--threads", 1], "beta"):
            title = self.gpumc("bench", *arguments).out.splitlines()[0]
            report = json.loads(self.gpumc("bench", *arguments, "--json").out)
            with self.subTest(name=name):
                self.assertEqual(report.get("control"), name)
                self.assertEqual({n: report[n] for n in ("beta", "beta_pressure") if n in report}, {name: 3.5} if name else {})
                self.assertEqual(title.split(", ")[4:-1], [f"{name} = 3.5"] if name else [])

    def test_keys_of_the_model(self):
        report = json.loads(self.gpumc("bench", *self.small, "--threads", 1, "--isa", device.lowest_level(),
                                       "--set", "model.J=-1", "--set", "model.shape=[8, 8]",
                                       "--json").out)
        self.assertEqual(report["sites"], 64)

    def test_a_move(self):
        small = ["--model", "heisenberg", "--shape", "8x8", "--population", 4, "--sweeps", 1, "--seconds", 0.01,
                 "--device", device.NAME]
        report = json.loads(self.gpumc("bench", *small, "--update", "over_relaxation", "--json").out)
        self.assertEqual(report["update"], "over_relaxation")
        self.assertGreaterEqual({r["kernel"] for r in report["rates"]}, {"double", "float"})
        message = self.gpumc("bench", *small, "--update", "volume", code=INVALID).err
        self.assertIn("can be measured with update volume", message)

    def test_one_kernel(self):
        packed = ["--kernel", "packed", "--population", 4, "--sweeps", 1, "--seconds", 0.01]
        report = json.loads(self.gpumc("bench", *packed, "--shape", "64x16", "--device",
                                       device.NAME, "--json").out)
        self.assertEqual({r["kernel"] for r in report["rates"]}, {"packed"})
        message = self.gpumc("bench", *packed, "--shape", "66x16", "--device", device.NAME,
                             code=INVALID).err
        self.assertRegex(message, rf"no kernel packed of model ising2d on {device.NAME} .*multiple of 64")

    def test_kernels_that_are_not_there(self):
        for model, kernel in ("ea", "tiled"), ("ising2d", "packd"):
            message = self.gpumc("bench", "--model", model, "--kernel", kernel, "--device", "cpu",
                                 code=INVALID).err
            self.assertIn(f"model {model} has no kernel variant '{kernel}' on cpu; its variants are: "
                          "multispin, spin", message)
        self.assertIn("did you mean 'packed'?", message)

    def test_json(self):
        report = json.loads(self.gpumc("bench", *self.small, "--threads", "1,2", "--rng",
                                       "--json").out)
        self.assertEqual(report["sites"], 256)
        kinds = {(r["kernel"], r["threads"], r["rng"]) for r in report["rates"]}
        self.assertIn(("multispin", 2, "philox4x32-7"), kinds)
        self.assertTrue(all(r["flips_per_ns"] > 0 for r in report["rates"]))

    def test_fastest_and_median(self):
        rates = json.loads(self.gpumc("bench", *self.small, "--device", device.NAME,
                                      "--json").out)["rates"]
        self.assertEqual({rate["kernel"] for rate in rates}, set(device.variants()) - {"packed"},
                         "all that can take 16 x 16")
        for rate in rates:
            self.assertEqual(rate["device"].split(":")[0], device.NAME)
            self.assertLessEqual(rate["median_flips_per_ns"], rate["flips_per_ns"])

    def test_devices(self):
        self.assertIn("unknown device 'gpu'", self.gpumc("bench", "--device", "gpu", code=INVALID).err)
        self.assertIn("device cuda:999: ",
                      self.gpumc("bench", "--device", "cuda:999", code=DEVICE).err)

    def test_mistakes(self):
        self.assertIn("ising2d", self.gpumc("bench", "--model", "isng2d", code=INVALID).err)
        self.assertIn("--shape must be sides such as 64x64, not '7x'",
                      self.gpumc("bench", "--shape", "7x", code=INVALID).err)
        message = self.gpumc("bench", "--shape", "0x8", code=INVALID).err
        self.assertRegex(message, r"\Agpumc: error: --shape 0x8: .*shape.*\n\Z")
        self.gpumc("bench", "--isa", "x86-64-v9", code=INVALID)
        self.assertIn("--set must be model.KEY=VALUE here, not 'J=-1'",
                      self.gpumc("bench", "--set", "J=-1", code=INVALID).err)
        message = self.gpumc("bench", "--set", "model.shpae=[8, 8]", code=INVALID).err
        self.assertRegex(message, r"\Agpumc: error: --set model.shpae=\[8, 8\]: .*shape.*\n\Z")
        self.gpumc("bench", "--threads", "0", code=INVALID)
        many = ",".join(["1"] * 33)
        self.assertIn("at most 32", self.gpumc("bench", "--threads", many, code=INVALID).err)
        self.gpumc("bench", "--threads", "0" * 40 + "1", code=INVALID)


if __name__ == "__main__":
    device.require()
    unittest.main()
