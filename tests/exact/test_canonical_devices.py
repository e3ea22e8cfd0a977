"""Canonical runs give the same numbers on two devices, however each of them works, and may switch from one to the other
at every stop: every numeric dataset of the result files, bit for bit. Control: another seed gives others.

CTest: cases 40 s
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, two_devices
from support.results import assert_same_numbers, numbers

CONFIG = """\
gpumc: 1
seed: 281474976710655
model: {model}
algorithm:
  name: canonical
  beta: {beta}
  {size}
  update: {update}
  thermalization: 33
  sweeps: {sweeps}
  interval: 4
  {request}
  series: true
  reweight: {{from: 0.1, to: 0.5, step: 0.05}}
  configurations: {{every: 40}}
kernel: {{variant: {variant}}}
output: out.h5
"""

LARGE = dict(size="replicas: 2", sweeps=40)
USUAL = dict(request="structure_factor: true", beta="{values: [0.2, 0.31, 0.44]}", update="metropolis", variant="multispin", sweeps=400,
             size="replicas: 33")

CASES = {
    "square": dict(model="{name: ising2d, shape: [8, 12]}"),
    "square, a number a spin": dict(model="{name: ising2d, shape: [16, 16], h: 0.1}", variant="spin"),
    "square, heat bath": dict(model="{name: ising2d, shape: [64, 64]}", update="heat_bath", sweeps=40),
    "one large lattice": dict(model="{name: ising2d, shape: [512, 512]}", variant="spin", sweeps=40,
                              size="replicas: 1"),
    "cubic, heat bath": dict(model="{name: ising3d, shape: [8, 6, 4]}", variant="spin",
                             update="heat_bath"),
    "samples": dict(model="{name: ea, shape: [6, 6, 6]}", size="samples: 70"),
    "Gaussian samples": dict(model="{name: ea, shape: [4, 4, 4], couplings: gaussian}", variant="spin",
                             size="samples: 9", update="heat_bath"),
    "packed": dict(model="{name: ising2d, shape: [128, 6]}", variant="packed", **LARGE),
    "packed, cubic": dict(model="{name: ising3d, shape: [64, 4, 6], h: 0.2}", variant="packed",
                          update="heat_bath", **LARGE),
    "tiles": dict(model="{name: ising2d, shape: [64, 32]}", variant="tiled", **LARGE),
    "tiles, cubic": dict(model="{name: ising3d, shape: [16, 8, 8]}", update="heat_bath",
                         variant="tiled, hits: 4, order: symmetrised", **LARGE),
    **{f"tiles, {generator}": dict(model="{name: ising2d, shape: [64, 64]}", **LARGE,
                                   variant=f"tiled, hits: 2, generator: {generator}")
       for generator in ["lcg32", "lcg64_random", "lagged_fibonacci_1279"]},
    **{f"O({components}) spins, {update}, {variant}, {shape}":
       dict(model=f"{{name: heisenberg, shape: {shape}, components: {components}}}", update=update, variant=variant,
            request="helicity_modulus: true", size="replicas: 5", sweeps=80)
       for components, update, variant, shape in [
           (3, "mixed", "float", "[16, 16]"), (3, "metropolis", "float", "[64, 64]"), (2, "heat_bath", "float", "[12, 6]"),
           (2, "mixed", "float", "[8, 8, 8]"), (3, "heat_bath", "float", "[100]"), (2, "metropolis", "float", "[22]"),
           (3, "over_relaxation", "float", "[6, 10, 4]"), (3, "mixed", "double", "[12, 10]"),
           (2, "metropolis", "double", "[8, 6, 4]"), (3, "heat_bath", "double", "[34]"),
           (3, "metropolis", "float", "[128, 96]"), (2, "mixed", "float", "[98, 96]"),
           (3, "mixed", "double", "[20, 18, 16]"), (3, "over_relaxation", "float", "[32, 20, 20]")]},
    "O(3) spins in a field": dict(model="{name: heisenberg, shape: [10, 8], J: -1, h: 0.7}", variant="float",
                                  update="mixed", request="", size="replicas: 5"),
}

# Units of 2^28 updates: 8192 sweeps.
UNITS = CONFIG.format(model="{name: ising2d, shape: [32, 32]}", **{**USUAL, "size": "replicas: 16",
                                                                   "beta": "{values: [0.2, 0.44]}",
                                                                   "sweeps": 40000})
UNITS = UNITS.replace("{every: 40}", "{every: 10000}")
SPINS = UNITS.replace("ising2d", "heisenberg").replace("structure_factor", "helicity_modulus").replace(
    "multispin", "float").replace("update: metropolis", "update: mixed")


class Canonical(two_devices.TwoDevices):
    def test_every_case(self):
        for title, case in cases.of(CASES.items()):
            with self.subTest(title):
                case = {**USUAL, **case}
                self.compare(self.write("c.yaml", CONFIG.format(**case)), case["variant"], title)

    def test_from_one_to_the_other(self):
        for title, config in cases.of([("multispin", UNITS), ("spins", SPINS),
                                       ("tiled", UNITS.replace("multispin", "tiled, generator: lagged_fibonacci_521"))], seconds=10):
            with self.subTest(title):
                self.change_devices(self.write("c.yaml", config))

    def change_devices(self, config):
        self.gpumc("run", config, "--quiet", "--device", two_devices.A, "-o", "whole.h5")
        for stops in range(100):
            if not self.one_unit(config, "--device", (two_devices.A, two_devices.B)[stops % 2]):
                break
        self.assertGreater(stops, 2)
        assert_same_numbers(self, numbers(self.path("whole.h5")), self.path("out.h5"))
        self.path("whole.h5").unlink()
        self.path("out.h5").unlink()


if __name__ == "__main__":
    two_devices.require()
    unittest.main(verbosity=2)
