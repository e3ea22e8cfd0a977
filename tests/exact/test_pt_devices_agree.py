"""Parallel tempering gives the same numbers on two devices, however each of them works: every numeric
dataset of the result files, bit for bit; and a run begun on one is finished on the other. Control: another
seed gives others.

CTest: cases 25 s
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, two_devices
from support.results import assert_same_numbers

CONFIG = """\
gpumc: 1
seed: 281474976710655
model: {{{model}}}
algorithm: {{name: pt, {algorithm}}}
kernel: {{variant: {variant}}}
output: out.h5
"""

CASES = {
    "one sample": dict(variant="multispin", model="name: ising2d, shape: [6, 4]",
                       algorithm="beta: {from: 0.2, to: 0.6, count: 4}, sweeps: 2560, "
                                 "update: heat_bath"),
    "few samples, tuned": dict(variant="spin", model="name: ising2d, shape: [8, 8], h: 0.1",
                               algorithm="beta: {from: 0.2, to: 0.6, count: 5}, samples: 5, "
                                         "tune: {sweeps: 500}, replicas: 2, sweeps: 640, "
                                         "exchange_every: 2, measure_every: 4, thermalization: 9"),
    "three copies": dict(variant="multispin", model="name: ising3d, shape: [4, 6, 8]",
                         algorithm="beta: {values: [0.1, 0.2, 0.25]}, samples: 33, replicas: 3, "
                                   "sweeps: 640, exchange_every: 5, structure_factor: true"),
    "spin glass": dict(variant="multispin", model="name: ea, shape: [8, 8, 8], disorder_seed: 7",
                       algorithm="beta: {from: 0.4, to: 1.2, count: 20}, samples: 100, "
                                 "tune: {sweeps: 300}, sweeps: 1280, structure_factor: true"),
    "an exchange after every sweep": dict(
        variant="multispin", model="name: ea, shape: [8, 8, 8], disorder_seed: 2",
        algorithm="beta: {from: 0.4, to: 1.2, count: 9}, samples: 77, replicas: 2, sweeps: 320, exchange_every: 1, "
                  "measure_every: 5"),
    "odd rows": dict(variant="multispin", model="name: ea, shape: [10, 10, 10]",
                     algorithm="beta: {from: 0.4, to: 1.2, count: 5}, samples: 40, replicas: 2, "
                               "sweeps: 320, exchange_every: 2, structure_factor: true"),
    "odd rows, random fields": dict(
        variant="multispin", algorithm="beta: {values: [0.4, 0.8]}, samples: 40, sweeps: 320, update: heat_bath",
        model="name: ea, shape: [6, 6, 6], random_field: {distribution: bimodal, width: 0.5}"),
    # As many groups as let a thread of a large GPU take four at once (groups_at_once), the last two of a run too.
    "many small lattices": dict(variant="multispin", model="name: ea, shape: [4, 4, 4]",
                                algorithm="beta: {from: 0.4, to: 1.2, count: 30}, samples: 8000, sweeps: 64, "
                                          "exchange_every: 8, measure_every: 32"),
    "many small lattices of odd rows": dict(
        variant="multispin", model="name: ising3d, shape: [6, 6, 6]",
        algorithm="beta: {from: 0.1, to: 0.25, count: 30}, samples: 8000, sweeps: 64, exchange_every: 8, "
                  "measure_every: 32"),
    "two dimensions, random fields": dict(
        variant="multispin", algorithm="beta: {from: 0.4, to: 1.2, count: 6}, samples: 64, sweeps: 640",
        model="name: ea, shape: [16, 8], p: 0.8, random_field: {distribution: bimodal, width: 0.5}"),
    "gaussian": dict(variant="spin", model="name: ea, shape: [6, 6, 6], couplings: gaussian",
                     algorithm="beta: {from: 0.4, to: 1.6, count: 7}, samples: 40, sweeps: 320, "
                               "exchange_every: 1, structure_factor: true"),
    "gaussian, random fields": dict(
        variant="spin", model="name: ea, shape: [10, 4, 6], couplings: gaussian, "
                              "random_field: {distribution: gaussian, width: 2}",
        algorithm="beta: {from: 0.4, to: 1.6, count: 5}, samples: 40, sweeps: 320, update: heat_bath, "
                  "exchange_every: 2"),
    "gaussian, one large sample": dict(
        variant="spin", model="name: ea, shape: [16, 16, 16], couplings: gaussian, sample: 3",
        algorithm="beta: {from: 0.4, to: 1.6, count: 4}, sweeps: 160"),
    "packed": dict(variant="packed", model="name: ising3d, shape: [64, 4, 6]",
                   algorithm="beta: {values: [0.15, 0.2, 0.22]}, sweeps: 320, exchange_every: 2, "
                             "structure_factor: true"),
    "configurations": dict(variant="multispin", model="name: ea, shape: [6, 4, 4], disorder_seed: 3",
                           algorithm="beta: {from: 0.4, to: 1.2, count: 6}, samples: 70, sweeps: 640, "
                                     "replicas: 3, configurations: {every: 160}"),
    "configurations of some": dict(variant="spin", model="name: ea, shape: [4, 8], couplings: gaussian",
                                   algorithm="beta: {from: 0.4, to: 1.2, count: 6}, samples: 40, sweeps: 640, "
                                             "tune: {sweeps: 500}, "
                                             "configurations: {times: [10, 640], temperatures: [3, 5]}"),
    "Heisenberg spins": dict(variant="float", model="name: heisenberg, shape: [8, 8, 8]",
                             algorithm="beta: {from: 0.6, to: 0.75, count: 4}, samples: 9, sweeps: 640, exchange_every: 5, "
                                       "thermalization: 7, helicity_modulus: true"),
    "XY spins in a moved field": dict(variant="float", model="name: heisenberg, shape: [16, 6], components: 2",
                                      algorithm="control: {name: h, beta: 0.8, values: [-0.3, 0, 0.2, 0.5]}, "
                                                "samples: 17, sweeps: 640, exchange_every: 2, update: heat_bath"),
    "Heisenberg spins in double": dict(variant="double", model="name: heisenberg, shape: [6, 10], J: -1",
                                       algorithm="beta: {values: [0.5, 1, 1.5]}, samples: 5, sweeps: 320, "
                                                 "exchange_every: 1, update: metropolis, configurations: {every: 160}"),
    "clusters of words": dict(variant="multispin", model="name: ea, shape: [6, 4, 4], disorder_seed: 3",
                              algorithm="beta: {from: 0.4, to: 1.2, count: 6}, samples: 70, sweeps: 640, replicas: 3, "
                                        "cluster_exchange: {kind: joerg}, configurations: {every: 160}"),
    "clusters": dict(variant="spin", model="name: ea, shape: [16, 8], couplings: gaussian",
                     algorithm="beta: {from: 0.4, to: 3, count: 6}, samples: 40, sweeps: 640, "
                               "cluster_exchange: {kind: houdayer, every: 2, min_beta: 0.8}"),
    "without exchange": dict(variant="spin", model="name: ea, shape: [4, 4]",
                             algorithm="beta: {values: [0.5, 1]}, samples: 9, exchange_every: 0, "
                                       "sweeps: 320, measure_every: 5"),
}


class Agreement(two_devices.TwoDevices):
    def check(self, title, case):
        config = self.write("c.yaml", CONFIG.format(**case))
        followed = "cluster_exchange" not in case["algorithm"]  # which only spin and multispin have
        expected = self.compare(config, case["variant"] if followed else None, title)
        with self.subTest(title, options="in turn"):
            self.in_turn(config)
            assert_same_numbers(self, expected, self.path("out.h5"))
            self.path("out.h5").unlink()

    def in_turn(self, config):
        """One unit on one device, the next on the other, from checkpoint to checkpoint."""
        for turn in range(1000):
            if not self.one_unit(config, "--device", (two_devices.A, two_devices.B)[turn % 2]):
                return
        self.fail("no end after 1000 units")

    def test_every_case(self):
        for title, case in cases.of(CASES.items()):
            with self.subTest(title):
                self.check(title, case)


if __name__ == "__main__":
    two_devices.require()
    unittest.main(verbosity=2)
