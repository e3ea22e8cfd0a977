"""Which kernel `variant: auto` is: what the configuration says decides, never the device."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, STOPPED, ProgramCase

CANONICAL = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [32, 32]}
algorithm: {name: canonical, beta: {values: [0.4]}, thermalization: 100, sweeps: 1000, replicas: 1}
output: c.h5
"""
TEMPERING = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [4, 4, 4]}
algorithm: {name: pt, beta: {values: [0.5, 0.6]}, samples: 1, sweeps: 40960, measure_every: 10}
output: t.h5
"""
SHORT = "algorithm.sweeps=10"
PACKED = ["model.shape=[1024,1024]", SHORT]
SQUARE_256 = ["model.shape=[256,256]", SHORT]
SQUARE_512 = ["model.shape=[512,512]", SHORT]
CUBE = ["model.name=ising3d", "model.shape=[64,64,64]", SHORT]


class AutomaticKernel(ProgramCase):
    def kernel(self, config, *keys):
        sets = [word for key in keys for word in ("--set", key)]
        plan = json.loads(self.gpumc("plan", config, "--json", *sets).out)
        return plan["tasks"][0]["kernel"]

    def test_follows_lattice_and_replicas(self):
        canonical = self.write("c.yaml", CANONICAL)
        tempering = self.write("t.yaml", TEMPERING)
        for expected, config, *keys in [
                ("spin", canonical), ("spin", canonical, "algorithm.replicas=4"),
                ("multispin", canonical, "algorithm.replicas=32"),
                ("multispin", canonical, "algorithm.replicas=33"),
                ("packed", canonical, *PACKED),
                ("packed", canonical, *PACKED, "algorithm.replicas=4"),
                ("multispin", canonical, *PACKED, "algorithm.replicas=64"),
                ("spin", canonical, "model.shape=[1022,1022]", "algorithm.sweeps=10"),
                ("packed", canonical, *SQUARE_256), ("spin", canonical, "model.shape=[128,128]", SHORT),
                # The borders that the documentation names.
                ("spin", canonical, "algorithm.replicas=9"), ("multispin", canonical, "algorithm.replicas=10"),
                ("packed", canonical, "model.shape=[192,128]", SHORT, "algorithm.replicas=11"),
                ("multispin", canonical, "model.shape=[192,128]", SHORT, "algorithm.replicas=12"),
                ("packed", canonical, *SQUARE_256, "algorithm.replicas=15"),
                ("multispin", canonical, *SQUARE_256, "algorithm.replicas=16"),
                ("packed", canonical, *CUBE, "algorithm.replicas=18"),
                ("multispin", canonical, *CUBE, "algorithm.replicas=19"),
                ("packed", canonical, *SQUARE_512, "algorithm.replicas=37"),
                ("multispin", canonical, *SQUARE_512, "algorithm.replicas=38"),
                ("packed", canonical, *CUBE), ("packed", canonical, *CUBE, "algorithm.replicas=8"),
                ("packed", canonical, *CUBE, "model.shape=[128,128,128]"),
                ("multispin", canonical, *CUBE, "algorithm.replicas=32"),
                ("spin", canonical, *CUBE, "model.shape=[64,8,8]"),
                ("spin", canonical, *CUBE, "model.shape=[66,64,64]"),
                ("spin", tempering, "model.shape=[64,64,64]"),
                ("spin", tempering), ("multispin", tempering, "algorithm.samples=1000"),
                ("spin", tempering, "algorithm.samples=1000", "model.couplings=gaussian"),
                ("multispin", canonical, "kernel.variant=multispin")]:
            with self.subTest(config=config, keys=keys):
                self.assertEqual(self.kernel(config, *keys), expected)

    def test_does_not_continue_what_another_kernel_began(self):
        """`auto` was `multispin` for one replica once; a checkpoint holds what it was."""
        config = self.write("t.yaml", TEMPERING)
        multispin = ["--set", "kernel.variant=multispin"]
        self.gpumc("run", config, *multispin, "--max-time", "1 ms", code=STOPPED)
        before = self.path("t.h5.ckpt").read_bytes()
        process = self.gpumc("run", config, code=INVALID)
        self.assertIn('kernel.variant: "multispin" -> "spin"', process.err)
        self.assertEqual(self.path("t.h5.ckpt").read_bytes(), before)
        self.gpumc("run", config, *multispin)


if __name__ == "__main__":
    unittest.main()
