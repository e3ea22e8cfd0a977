"""Multicanonical runs give the same numbers on two devices, however each of them works: every numeric dataset of the
result files, bit for bit. Control: another seed gives others.

CTest: cases 40 s
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, two_devices

CONFIG = """\
gpumc: 1
seed: 281474976710655
model: {model}
algorithm:
  name: muca
  walkers: {walkers}
  {keys}
  structure_factor: true
  iteration: {{start: {start}, divergence: 1e-2, write_weights: true}}
  production: {{updates: {updates}, measurements: 100}}
output: out.h5
"""

USUAL = dict(walkers=700, keys="beta: {from: 0, to: 1, step: 0.1}", start="flat", updates=4000)
SQUARE = "{name: ising2d, shape: [8, 6]}"
CASES = {
    "square": dict(model=SQUARE),
    "24 walkers": dict(model=SQUARE, walkers=24, updates=40000),
    "from Wang and Landau's weights": dict(model=SQUARE, start="wang_landau"),
    "window": dict(model="{name: ising2d, shape: [16, 16]}", keys="range: {from: -1.5, to: 0}"),
    "bins of a spectrum": dict(model=SQUARE, keys="bin: 8"),
    "cubic": dict(model="{name: ising3d, shape: [4, 4, 4]}"),
    "magnetization": dict(model=SQUARE, keys="control: {name: h, beta: 0.4, from: -0.5, to: 0.5, step: 0.1}"),
    "samples of the glass": dict(model="{name: ea, shape: [4, 4, 4]}"),
    "windows": dict(model="{name: ising2d, shape: [8, 8]}", keys="windows: {count: 2}"),
    "windows of a range": dict(model="{name: ising2d, shape: [8, 8]}",
                               keys="range: {from: -1.8, to: 0}\n  windows: {count: 2, overlap: 0.5}"),
    "several samples": dict(model="{name: ea, shape: [4, 4, 4]}", keys="samples: 3"),
    "several samples of Gaussian couplings": dict(model="{name: ea, shape: [4, 4], couplings: gaussian}",
                                                  keys="bin: 1\n  samples: 3"),
    "Heisenberg spins": dict(model="{name: heisenberg, shape: [4, 4]}", keys="bin: 0.5"),
    "XY spins in double precision": dict(model="{name: heisenberg, shape: [4, 2, 2], components: 2, h: 0.3}\n"
                                               "kernel: {variant: double}", keys="bin: 1\n  windows: {count: 2}"),
    "magnetization of Heisenberg spins": dict(model="{name: heisenberg, shape: [6]}", keys="bin: 0.25\n  control: "
                                              "{name: h, beta: 0.4, from: -0.5, to: 0.5, step: 0.1}"),
    "Gaussian couplings in bins": dict(model="{name: ea, shape: [4, 4], couplings: gaussian}", keys="bin: 1"),
}


class Multicanonical(two_devices.TwoDevices):
    def test_every_case(self):
        for title, case in cases.of(CASES.items()):
            with self.subTest(title):
                self.compare(self.write("c.yaml", CONFIG.format(**{**USUAL, **case})), title=title)


if __name__ == "__main__":
    two_devices.require()
    unittest.main(verbosity=2)
