"""The same configuration gives the same numbers on two devices, however each of them works: every
numeric dataset of the result files, bit for bit. Control: another seed gives others.

CTest: cases 25 s
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, two_devices
from support.results import numbers

CONFIG = """\
gpumc: 1
seed: 281474976710655
rng: philox4x32-{rounds}
model: {{name: {model}, shape: {shape}, J: {coupling}, h: {field}}}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  beta: {beta}
  runs: {runs}
  blocks: {blocks}
  resampling: {resampling}
{reweight}
kernel: {{variant: {variant}}}
output: out.h5
"""

USUAL = dict(model="ising2d", rounds=10, coupling=1.0, field=0.0, sweeps=2, runs=1, blocks=16, reweight="",
             beta="{to: 0.6, step: 0.1}", resampling="nearest_integer")


def reweight(first, last, step):
    return f"  reweight: {{from: {first}, to: {last}, step: {step}}}"


CASES = {
    "tiny": dict(variant="multispin", shape="[4, 4]", population=101),
    "tiny, seven runs": dict(variant="spin", shape="[4, 6]", population=99, runs=7, rounds=7,
                             resampling="systematic", reweight=reweight(0.1, 0.5, 0.1)),
    "small, many runs": dict(variant="multispin", shape="[8, 8]", population=50, runs=40, blocks=8,
                             resampling="systematic", reweight=reweight(0.2, 0.6, 0.1)),
    "small, no sweeps": dict(variant="spin", shape="[8, 2]", population=1000, sweeps=0, runs=2),
    "adaptive": dict(variant="multispin", shape="[16, 16]", population=1501, runs=3,
                     beta="{to: 0.6, overlap: 0.85}", reweight=reweight(0.1, 0.5, 0.05)),
    "adaptive in a field": dict(variant="spin", shape="[16, 16]", population=777, field=0.3, runs=2,
                                beta="{to: 0.5, overlap: 0.8}"),
    "antiferromagnet": dict(variant="multispin", shape="[12, 10]", population=640, coupling=-1.0,
                            field=-0.5, runs=2, resampling="systematic",
                            beta="{to: 0.5, overlap: 0.85}"),
    "other coupling": dict(variant="spin", shape="[34, 18]", population=333, coupling=-1.5, runs=2,
                           reweight=reweight(0.05, 0.4, 0.05)),
    "medium": dict(variant="multispin", shape="[64, 64]", population=1000, runs=2, sweeps=5),
    "medium, bytes": dict(variant="spin", shape="[64, 64]", population=129, runs=3, rounds=7,
                          beta="{to: 0.5, overlap: 0.7}"),
    "configurations": dict(variant="multispin", shape="[16, 12]", population=333, runs=3,
                           reweight="  configurations: {every: 2}"),
    "configurations, adaptive": dict(variant="spin", shape="[16, 16]", population=777, field=0.3, runs=3,
                                     beta="{to: 0.5, overlap: 0.8}", resampling="systematic",
                                     reweight="  configurations: {betas: [0, 0.2, 0.5]}"),
    "packed": dict(variant="packed", shape="[64, 64]", population=300, runs=3, sweeps=3,
                   reweight=reweight(0.1, 0.5, 0.1)),
    "packed antiferromagnet": dict(variant="packed", shape="[256, 32]", population=100, runs=2,
                                   coupling=-1.0, rounds=7, resampling="systematic"),
    "packed in a field": dict(variant="packed", shape="[128, 32]", population=100, field=0.2,
                              beta="{to: 0.5, overlap: 0.8}"),
    "large": dict(variant="multispin", shape="[256, 256]", population=70, runs=2,
                  beta="{to: 0.4, step: 0.01}", sweeps=1),
    "large, bytes": dict(variant="spin", shape="[256, 256]", population=33, runs=2,
                         beta="{to: 0.4, step: 0.01}", sweeps=1),
    "Heisenberg ring": dict(model="heisenberg", variant="float", shape="[6]", population=101, runs=3, sweeps=5),
    "XY square": dict(model="heisenberg", variant="float", shape="[16, 12], components: 2", population=200, runs=2,
                      rounds=7, sweeps=5, reweight="  configurations: {every: 2}"),
    "Heisenberg cubes, adaptive": dict(model="heisenberg", variant="float", shape="[8, 8, 8]", population=99, sweeps=5,
                                       beta="{to: 0.6, overlap: 0.85}", resampling="systematic"),
    "Heisenberg antiferromagnet in double": dict(model="heisenberg", variant="double", shape="[8, 4, 6]", population=77,
                                                 coupling=-0.8, field=0.4, runs=2, sweeps=5),
    "XY in double, beyond shared memory": dict(model="heisenberg", variant="double", shape="[90, 70], components: 2",
                                               population=10, runs=2, sweeps=5, beta="{to: 0.3, step: 0.1}"),
}


class Agreement(two_devices.TwoDevices):
    def run_on(self, name, config, *options):
        """Returns the numbers of the result, which is removed."""
        self.gpumc("run", config, "--quiet", "--device", name, *options)
        found = numbers(self.path("out.h5"))
        self.path("out.h5").unlink()
        return found

    def test_every_case(self):
        for title, case in cases.of(CASES.items()):
            with self.subTest(title):
                self.compare(self.write("c.yaml", CONFIG.format(**{**USUAL, **case})), title=title)

    def test_kernels_of_one_trajectory(self):
        """`walker` follows `spin`."""
        if "walker" not in device.variants(two_devices.B):
            missing = f"no kernel walker on {two_devices.B}"
            if device.REQUIRED:
                self.fail(missing)
            self.skipTest(missing)
        for title in cases.of(["tiny, seven runs", "adaptive in a field", "other coupling", "medium, bytes"]):
            config = self.write("c.yaml", CONFIG.format(**{**USUAL, **CASES[title]}))
            expected = self.run_on(two_devices.A, config)
            for options in two_devices.settings(two_devices.B):
                with self.subTest(title, options=options):
                    self.assertEqual(expected, self.run_on(two_devices.B, config, "--set",
                                                           "kernel.variant=walker", *options))


if __name__ == "__main__":
    two_devices.require()
    unittest.main(verbosity=2)
