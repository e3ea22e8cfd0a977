"""Combinations of the keys of `pt` that cannot be are told with their place and a remedy, and a run says
what its summary cannot be trusted for.

CTest: long, methods 6 s
"""
import json
import pathlib
import sys
import time

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, gpumc_program
from support.gpumc_program import numeric_datasets, resolved
from support.edited_result import edited
from support.program import INVALID, OK, STOPPED, ProgramCase

CONFIG = """\
gpumc: 1
seed: 1
model: {{{model}}}
algorithm:
  name: pt
  sweeps: {sweeps}
  beta: {beta}
  {more}
output: x.h5
"""
FERROMAGNET = "name: ising2d, shape: [8, 8]"


class Keys(ProgramCase):
    device = None

    def config(self, beta="{values: [0.3, 0.4]}", more="", sweeps=100, model=FERROMAGNET):
        return self.write("c.yaml", CONFIG.format(beta=beta, more=more, sweeps=sweeps, model=model))

    def refuse(self, message, line, **keys):
        process = self.gpumc("validate", self.config(**keys), code=INVALID)
        self.assertIn(message, process.err)
        self.assertIn(f"c.yaml:{line}:", process.err)
        self.assertEqual(process.err.count("c.yaml:"), 1, process.err)

    def test_what_is_right_is_accepted(self):
        for beta in "{values: [0.1, 0.4]}", "{from: 0.1, to: 0.4, count: 5}":
            self.gpumc("validate", self.config(beta), code=OK)

    def test_infinite_temperature(self):
        """Metropolis sweeps turn all spins over there and leave the energy as it is."""
        for beta in ("{values: [0, 0.4]}", "{from: 0, to: 0.4, count: 5, spacing: linear}",
                     "{from: 0, to: 0.4, step: 0.1}"):
            self.refuse("at beta = 0 Metropolis accepts every flip", 7, beta=beta)
            self.gpumc("validate", self.config(beta, more="update: heat_bath"), code=OK)

    def test_ways_to_give_the_same_temperatures(self):
        """Steps give what the list of their values gives."""
        found = []
        for beta in "{from: 0.125, to: 0.375, step: 0.125}", "{values: [0.125, 0.25, 0.375]}":
            self.gpumc("run", self.config(beta), "--quiet", "--fresh")
            found.append(numeric_datasets(self.path("x.h5")))
        self.assertEqual(found[0], found[1])

    def test_another_control(self):
        """The block `control` in place of `beta`: mistakes with their place, and what cannot be moved."""
        config = CONFIG.replace("  beta: {beta}\n", "  control: {beta}\n")

        def refuse(message, control, more="", model=FERROMAGNET, line=7):
            path = self.write("c.yaml", config.format(beta=control, more=more, sweeps=100, model=model))
            process = self.gpumc("validate", path, code=INVALID)
            self.assertIn(message, process.err)
            self.assertIn(f"c.yaml:{line}:", process.err)
            self.assertEqual(process.err.count("c.yaml:"), 1, process.err)
        good = "{name: h, beta: 0.5, values: [-1, 1]}"
        path = self.write("c.yaml", config.format(beta=good, more="", sweeps=100, model=FERROMAGNET))
        self.gpumc("validate", path, code=OK)
        refuse("no control 'x' that can be moved: expected h", "{name: x, beta: 0.5, values: [-1, 1]}")
        refuse("beta is moved by the block `beta`", "{name: beta, beta: 0.5, values: [0.1, 1]}")
        refuse("missing key 'beta' or 'temperature' in algorithm.control", "{name: h, values: [-1, 1]}")
        refuse("expected a number greater than 0", "{name: h, beta: 0, values: [-1, 1]}")
        refuse("control.count needs both control.from and control.to", "{name: h, beta: 0.5, from: 0, count: 4}")
        refuse("control.from = 1 must be below control.to = 0", "{name: h, beta: 0.5, from: 1, to: 0, count: 3}")
        refuse("values in a constant ratio cannot begin at control.from = -1",
               "{name: h, beta: 0.5, from: -1, to: 1, count: 3, spacing: geometric}")
        refuse("'beta' and 'control' exclude each other", good, more="beta: {values: [0.1, 0.2]}")
        refuse("there is no value 2: the 2 of `control` are numbered from 0, to 1", good, line=8,
               more="configurations: {every: 10, temperatures: [0, 2]}")
        refuse("h cannot be moved: model.h gives it a value of its own; leave model.h out", good,
               model=FERROMAGNET + ", h: 0.1")
        glass = "name: ea, shape: [8, 8], "
        refuse("h cannot be moved: couplings are other than +J and -J", good, model=glass + "couplings: gaussian")
        refuse("h cannot be moved: there are random fields", good,
               model=glass + "random_field: {distribution: bimodal, width: 1}")
        path = self.write("c.yaml", config.format(beta=good, more="", sweeps=100, model=FERROMAGNET)
                          + "kernel: {variant: tiled}\n")
        self.assertIn("tiled cannot exchange replicas", self.gpumc("validate", path, code=INVALID).err)

    def test_steps_through_zero(self):
        """Steps of 0.01 from -0.12 meet 0, and not its rounding."""
        config = CONFIG.replace("  beta: {beta}\n", "  control: {beta}\n")
        for steps in "step: 0.01", "count: 25":
            path = self.write("c.yaml", config.format(beta="{name: h, beta: 0.4, from: -0.12, to: 0.12, " + steps + "}",
                                                      more="", sweeps=100, model=FERROMAGNET))
            self.gpumc("run", path, "--quiet", "--fresh")
            with h5py.File(self.path("x.h5")) as file:
                self.assertEqual(file["summary/h"][12], 0)
                self.assertEqual(len(file["summary/h"]), 25)

    def test_samples_that_do_not_fit(self):
        config = self.config(more="samples: 1000000000\n  replicas: 2")
        self.assertIn("the largest algorithm.samples that fits is",
                      self.gpumc("run", config, "--device", "cpu", code=1).err)

    def test_temperatures(self):
        self.refuse("beta.count needs both beta.from and beta.to", 7, beta="{from: 0.1, count: 5}")
        self.refuse("beta.from = 0.4 must be below beta.to = 0.3", 7,
                    beta="{from: 0.4, to: 0.3, count: 5}")
        self.refuse("beta.spacing: linear", 7, beta="{from: 0, to: 0.3, count: 5}")
        for beta in ("{from: 1.0e-310, to: 0.5, count: 4}", "{from: 0, to: 0.3, count: 5}"):
            self.refuse("in a constant ratio cannot begin at", 7, beta=beta)
        for beta in ("{from: 0.5, to: 0.5000000000000001, count: 5}",
                     "{from: 0.5, to: 0.5000000000000001, count: 5, spacing: linear}",
                     "{from: 3.0e-308, to: 1.0e+6, count: 20}"):
            self.refuse("are not all different, finite numbers", 7, beta=beta)
        self.refuse("leave out beta.from", 7, beta="{from: 0.1, values: [0.2, 0.3]}")
        self.refuse("leave out beta.spacing", 7, beta="{spacing: linear, values: [0.2, 0.3]}")
        self.refuse("exactly one of", 7, beta="{from: 0.1, to: 0.2}")
        self.refuse("gives 1 inverse temperature, and at least 2 are needed", 7, beta="{from: 0.1, to: 0.4, step: 0.4}")
        self.refuse("more than 4096 inverse temperatures", 7, beta="{from: 0, to: 1, step: 2e-4}")
        self.refuse("exceeds the limit of 65535", 7, beta="{from: 0.1, to: 0.2, count: 4096}",
                    more="replicas: 64")

    def test_times(self):
        self.refuse("sweeps = 105 must be a multiple of exchange_every = 10", 6, sweeps=105,
                    more="exchange_every: 10")
        self.refuse("sweeps = 105 must be a multiple of measure_every = 20", 6, sweeps=105,
                    more="exchange_every: 10\n  measure_every: 20")
        self.refuse("measure_every = 15 must be a multiple of exchange_every = 10", 9,
                    more="exchange_every: 10\n  measure_every: 15", sweeps=150)
        self.refuse("exchange_every must not be 0", 8,
                    more="tune: {sweeps: 100}\n  exchange_every: 0")
        self.refuse("to round them up, exceed the limit of 4294967295", 6, sweeps=4294967290)

    def test_clusters(self):
        """They need copies, rounds, a kernel that exchanges them, and a temperature."""
        glass = "name: ea, shape: [8, 8]"
        clusters = "cluster_exchange: {kind: houdayer}"
        self.gpumc("validate", self.config(model=glass, more=clusters), code=OK)
        self.gpumc("validate", self.config(more="replicas: 3\n  cluster_exchange: {kind: joerg, every: 2}"), code=OK)
        self.refuse("there is one: set replicas: 2 or more", 8, more=clusters)
        self.refuse("exchange_every must not be 0", 8, model=glass, more=clusters + "\n  exchange_every: 0")
        self.refuse("expected one of houdayer, joerg", 8, model=glass, more="cluster_exchange: {kind: wolff}")
        self.refuse("missing key 'kind' in algorithm.cluster_exchange", 8, model=glass, more="cluster_exchange: {every: 2}")
        self.refuse("the last beta is 0.4, below 0.5", 8, model=glass,
                    more="cluster_exchange: {kind: joerg, min_beta: 0.5}")
        self.refuse("no temperature is that cold", 8, model=glass,
                    more="cluster_exchange: {kind: joerg, max_temperature: 2}")
        self.refuse("cannot exchange clusters between replicas", 5,
                    model="name: heisenberg, shape: [4, 4, 4], couplings: gaussian", more=clusters)
        path = self.write("c.yaml", CONFIG.format(beta="{values: [0.3, 0.4]}", sweeps=100, more="replicas: 2\n  " + clusters,
                                                  model="name: ising2d, shape: [64, 8]") + "kernel: {variant: packed}\n")
        self.assertIn("packed cannot exchange clusters between replicas", self.gpumc("validate", path, code=INVALID).err)
        path = self.write("c.yaml", CONFIG.replace("  beta: {beta}\n", "  control: {beta}\n").format(
            beta="{name: h, beta: 0.5, values: [-1, 1]}", sweeps=100, model=FERROMAGNET,
            more="replicas: 2\n  cluster_exchange: {kind: joerg, min_beta: 0.1}"))
        self.assertIn("leave out cluster_exchange.min_beta", self.gpumc("validate", path, code=INVALID).err)

    def test_sizes_of_clusters(self):
        """Curves of the summary, from the coldest temperatures on that are asked for; and a note where clusters of a
        hot, three-dimensional glass percolate."""
        config = self.config(beta="{values: [0.2, 0.4, 1]}", sweeps=2000, model="name: ea, shape: [8, 8, 8]",
                             more="samples: 33\n  cluster_exchange: {kind: houdayer, max_temperature: 2.5}")
        for threads in 1, 2, 3:
            process = self.gpumc("run", config, "--fresh", "--threads", threads)
            found = numeric_datasets(self.path("x.h5"))
            self.assertEqual(found, found if threads == 1 else first)
            first = found
        self.assertIn("clusters percolate at 2 of 3 temperatures", process.err)
        with h5py.File(self.path("x.h5")) as file:
            summary = file["summary"]
            self.assertIn(b"percolate", summary.attrs["percolation"])
            curves = np.array([summary["cluster_" + name][:] for name in ("exchanges", "differing", "size", "share")])
        self.assertTrue(np.isnan(curves[:, 0]).all())
        exchanges, differing, size, share = curves[:, 1:]
        np.testing.assert_array_equal(exchanges, 1)
        self.assertLess(abs(differing - 0.5).max(), 0.1)
        self.assertTrue((size <= differing).all() and (size > 0).all())
        self.assertGreater(share[0], 0.95)

    def test_short_tuning(self):
        """All neighbours exchange in every iteration."""
        beta = "{from: 0.3, to: 0.45, count: 6}"
        for more, least in (("tune: {sweeps: 10}", 120), ("tune: {sweeps: 119}", 120),
                            ("tune: {sweeps: 5, iterations: 1}\n  exchange_every: 5", 10)):
            self.refuse(f"at least {least}", 8, beta=beta, more=more)
        for sweeps in 120, 500:
            self.gpumc("run", self.config(beta, f"tune: {{sweeps: {sweeps}}}"), "--quiet", "--fresh")
            with h5py.File(self.path("x.h5")) as file:
                acceptance = file["runs/0000/tuning/acceptance"][:, :-1]
                self.assertEqual(acceptance.shape, (6, 5))
                self.assertTrue(np.isfinite(acceptance).all(), acceptance)
                self.assertTrue((file["runs/0000/tuning/sweeps"][:] >= 20).all())

    def test_configurations(self):
        """Times are ends of rounds, whether with an exchange or without."""
        for moments in "every: 15", "times: [10, 15]", "times: [10, 110]", "every: 110":
            self.refuse("must be a multiple of exchange_every = 10 and at most sweeps = 100", 8,
                        more=f"configurations: {{{moments}}}")
        self.refuse("25 must be a multiple of measure_every = 20 and at most sweeps = 100", 8,
                    more="configurations: {every: 25}\n  exchange_every: 0\n  measure_every: 20")
        for moments in "every: 5", "times: [5, 20, 100]", "every: 100, temperatures: [1]":
            self.gpumc("validate", self.config(more=f"configurations: {{{moments}}}\n  exchange_every: 5"), code=OK)
        self.refuse("there is no temperature 2: the 2 of `beta` are numbered from 0, the hottest, to 1", 8,
                    more="configurations: {every: 10, temperatures: [0, 2]}")
        self.refuse("exclude each other", 8, more="configurations: {every: 10, times: [10]}")

    def test_blocks_of_many_samples(self):
        self.refuse("leave out blocks", 9, more="samples: 8\n  blocks: 256")
        self.gpumc("validate", self.config(more="samples: 7\n  blocks: 256"), code=OK)

    def test_errors_of_overlaps_that_do_not_scatter(self):
        """In a strong field all copies are alike at all times: the scatter gives no error, not even a tiny one, of
        overlaps that were seen or were not, nor of energies of one sample."""
        for samples in 1, 8:
            config = self.config(more=f"samples: {samples}", sweeps=12800, beta="{values: [2, 3]}",
                                 model="name: ea, shape: [4, 4, 4], h: 100")
            self.gpumc("run", config, "--quiet", "--fresh")
            with h5py.File(self.path("x.h5")) as file:
                density, error = (file[f"summary/overlap_distribution/probability{name}"][:]
                                  for name in ("", "_error"))
                remarks = gpumc_program.attributes(file["summary"])
                energy_error, determined = file["summary/energy_error"][:], file["summary/determined"][:]
            np.testing.assert_array_equal(density > 0, [[False] * 64 + [True]] * 2)
            self.assertTrue(np.isnan(error).all())
            if samples == 1:  # energies of several samples differ
                self.assertTrue(np.isnan(energy_error).all())
                self.assertFalse(determined.any())
                self.assertEqual(remarks["trusted"], 0)
                self.assertIn("hardly anything fluctuates", remarks["warning"])

    def test_too_many_places(self):
        self.refuse("divide them among several runs", 8, more="samples: 1e9\n  replicas: 3")

    def test_samples_that_a_file_does_not_have(self):
        """Told by `validate` already; the same for canonical."""
        self.write("c.txt", "shape 2 2 couplings 1 1 1 1 1 1 1 1 couplings 1 1 1 1 1 1 1 -1")
        model = "name: ea, shape: [2, 2], couplings: file, file: c.txt"
        message = "2 samples requested, but only 1 exist from the model's `sample` on"
        self.refuse(message, 8, more="samples: 2", model=model + ", sample: 1")
        self.gpumc("validate", self.config(more="samples: 2", model=model), code=OK)

    def test_memory_that_is_not_there(self):
        process = self.gpumc("run", self.config(more="samples: 1e9"), "--device", "cpu", code=1)
        self.assertIn("not enough memory", process.err)


class Defaults(ProgramCase):
    """Those that depend on other keys or on the model stand in the configuration of a result."""
    EFFECTIVE = {"replicas": 2, "measure_every": 10, "blocks": 256, "beta.spacing": "geometric"}

    def make(self):
        return self.write("c.yaml", CONFIG.format(beta="{from: 0.3, to: 0.5, count: 3}", more="samples: 2",
                                                  sweeps=1280, model="name: ea, shape: [4, 4]"))

    def test_written_down_they_are_the_same_configuration(self):
        config = self.make()
        self.gpumc("run", config)
        for key, value in self.EFFECTIVE.items():
            with self.subTest(key=key):
                process = self.gpumc("run", config, "--set", f"algorithm.{key}={value}")
                self.assertIn("already complete", process.err)
        process = self.gpumc("run", config, "--set", "algorithm.replicas=1", code=INVALID)
        self.assertIn("algorithm.replicas: 2 -> 1", process.err)
        algorithm = resolved(self.path("x.h5"))["algorithm"]
        self.assertEqual(algorithm["beta"]["spacing"], "geometric")
        self.assertEqual([algorithm[key] for key in ("replicas", "measure_every", "blocks")], [2, 10, 256])

    def test_resolved_configuration_is_one(self):
        for more in "samples: 2", "samples: 8", "samples: 8\n  exchange_every: 0":
            with self.subTest(more):
                text = CONFIG.format(beta="{from: 0.3, to: 0.5, count: 3}", more=more, sweeps=80,
                                     model=FERROMAGNET)
                self.gpumc("run", self.write("c.yaml", text), "--fresh")
                found = resolved(self.path("x.h5"))
                del found["checkpoint"]  # a time without unit
                again = self.write("again.yaml", json.dumps(found))
                self.assertIn("already complete", self.gpumc("run", again).err)

    def test_results_without_them_count_as_having_them(self):
        config = self.make()
        self.gpumc("run", config)
        earlier = resolved(self.path("x.h5"))
        for key in "replicas", "measure_every", "blocks":
            del earlier["algorithm"][key]
        del earlier["algorithm"]["beta"]["spacing"]
        with edited(self.path("x.h5")) as file:
            text = json.dumps(earlier).encode()
            del file["config/resolved"]
            kind = h5py.string_dtype("utf-8", len(text) + 1)
            file["config"].create_dataset("resolved", data=text, dtype=kind)
        self.assertIn("already complete", self.gpumc("run", config).err)
        process = self.gpumc("run", config, "--set", "algorithm.replicas=3", code=INVALID)
        self.assertIn("algorithm.replicas: 2 -> 3", process.err)

    def test_checkpoints_too(self):
        config = self.write("c.yaml", CONFIG.format(
            beta="{from: 0.3, to: 0.6, count: 16}", sweeps=10000000, more="samples: 64",
            model="name: ising2d, shape: [64, 64]"))
        self.gpumc("run", config, "--max-time", "1 s", code=STOPPED)
        self.gpumc("run", config, "--max-time", "1 s", "--set", "algorithm.replicas=1", code=STOPPED)


class Stops(ProgramCase):
    def test_amid_a_long_round(self):
        """A round of minutes does not keep the run from stopping."""
        config = self.write("c.yaml", CONFIG.format(
            beta="{from: 0.3, to: 0.6, count: 16}", sweeps=1000000,
            more="samples: 64\n  exchange_every: 1000000", model="name: ising2d, shape: [64, 64]"))
        begin = time.monotonic()
        self.gpumc("run", config, "--max-time", "1 s", code=STOPPED)
        self.assertLess(time.monotonic() - begin, 15)


class Warnings(ProgramCase):
    def warning(self, more, sweeps, beta, model=FERROMAGNET):
        text = CONFIG.format(beta=beta, more=more, sweeps=sweeps, model=model)
        process = self.gpumc("run", self.write("c.yaml", text), "--fresh")
        with h5py.File(self.path("x.h5")) as file:
            remarks = gpumc_program.attributes(file["summary"])
        if "warning" in remarks:
            self.assertIn(remarks["warning"].split("; ")[0], process.err)
        return remarks

    def test_too_short(self):
        found = self.warning("samples: 32", 20, "{values: [0.3, 0.4]}")
        self.assertEqual(found["trusted"], 0)
        self.assertIn("not known to be in equilibrium at 2 of 2", found["warning"])

    def test_still_relaxing(self):
        """A glass that is cooled at once keeps falling."""
        found = self.warning("samples: 64\n  exchange_every: 0", 640, "{values: [1.5, 3.0]}",
                             "name: ea, shape: [6, 6, 6]")
        self.assertEqual(found["trusted"], 0)

    def test_no_exchanges(self):
        found = self.warning("samples: 32", 2560, "{values: [0.1, 1.0]}",
                             "name: ising2d, shape: [16, 16]")
        self.assertIn("of the exchanges are accepted: use more temperatures, or `tune`", found["warning"])

    def test_no_exchanges_although_tuned(self):
        model = "name: ising2d, shape: [16, 16]"
        tuned = "samples: 32\n  tune: {sweeps: 1280}"
        found = self.warning(tuned, 2560, "{values: [0.1, 1.0]}", model)
        self.assertIn("accepted: use more temperatures or a narrower range", found["warning"])
        short = self.warning("samples: 32\n  tune: {sweeps: 20, iterations: 1}", 2560,
                             "{values: [0.1, 0.99, 1.0]}", model)
        self.assertIn("accepted: others are far more frequent, so use more `tune.sweeps`",
                      short["warning"])

    def test_too_few_round_trips(self):
        """Eight samples of a glass, too few to tell that they still fall."""
        found = self.warning("samples: 8", 160, "{from: 0.5, to: 1.6, count: 10}",
                             "name: ea, shape: [6, 6, 6]")
        self.assertLess(found["round_trips_per_walker"], 0.1)
        self.assertEqual(found["trusted"], 0)
        self.assertIn("round trips of a walker between the hottest and the coldest", found["warning"])

    def test_frozen_in_different_states(self):
        """Stripes and ground states, or copies in different valleys: nothing moves, all errors are small."""
        for model, samples in cases.of([("name: ising2d, shape: [24, 24]", 4),
                                        ("name: ising2d, shape: [24, 24]", 32),
                                        ("name: ea, shape: [6, 6, 6], couplings: gaussian", 1),
                                        ("name: ea, shape: [6, 6, 6], couplings: gaussian", 16)]):
            with self.subTest(model=model, samples=samples):
                found = self.warning(f"samples: {samples}\n  exchange_every: 0", 20480,
                                     "{values: [8.0, 12.0]}", model)
                self.assertEqual(found["trusted"], 0)
                self.assertIn("stay apart", found["warning"])
                self.assertNotIn("round trips", found["warning"])

    def test_correlated_blocks(self):
        """The last bin is some ten autocorrelation times long."""
        for seed in cases.of(range(3)):
            found = self.warning(f"samples: 1\n  thermalization: {100 * seed}", 6400,
                                 "{from: 0.42, to: 0.46, count: 5}", "name: ising2d, shape: [64, 64]")
            self.assertEqual(found["trusted"], 0)

    def test_too_few_disorder_samples(self):
        found = self.warning("samples: 3", 20480, "{values: [0.3, 0.5]}", "name: ea, shape: [4, 4, 4]")
        self.assertEqual(found["trusted"], 0)
        self.assertIn("how other disorder samples than these 3 would differ", found["warning"])
        found = self.warning("samples: 1", 20480, "{values: [0.15, 0.3, 0.5]}", "name: ea, shape: [4, 4, 4]")
        self.assertEqual(found["trusted"], 1)
        self.assertNotIn("warning", found)

    def test_samples_that_carry_an_average(self):
        """[<m^4>] rests on the few samples with a large m, of which eight show none, or one."""
        for samples, trusted in (8, 0), (256, 1):
            found = self.warning(f"samples: {samples}\n  update: heat_bath", 8192, "{values: [0.25, 0.6, 0.9, 1.2]}",
                                 "name: ea, shape: [2, 4], disorder_seed: 1000")
            self.assertEqual(found["trusted"], trusted, found)
            self.assertEqual("samples are too few for errors" in found.get("warning", ""), not trusted)

    def test_few_simulations_of_cold_temperatures(self):
        """They fall into one of two phases and stay there, unless the ladder begins where there is one."""
        model = "name: ising2d, shape: [4, 4], h: 0.05"
        for values, more, trusted in (("0.8, 0.9", "samples: 1", 0), ("0.2, 0.4, 0.6, 0.8", "samples: 1", 1),
                                      ("0.8, 0.9", "samples: 7", 0)):
            found = self.warning(more, 20480, f"{{values: [{values}]}}", model)
            self.assertEqual("replicas_warning" in found, not trusted, found)
            self.assertEqual(found["trusted"], trusted, found)
        self.assertIn("7 independent simulations are too few", found["replicas_warning"])
        self.assertIn("use algorithm.samples: 8", found["replicas_warning"])
        found = self.warning("samples: 8", 20480, "{values: [0.8, 0.9]}", model)
        self.assertNotIn("replicas_warning", found)
        found = self.warning("samples: 1\n  replicas: 2", 20480, "{values: [2, 3]}", "name: ea, shape: [4, 4]")
        self.assertIn("use algorithm.replicas: 8", found["replicas_warning"])

    def test_nothing_to_warn_of(self):
        found = self.warning("samples: 32", 5120, "{values: [0.3, 0.35]}")
        self.assertEqual(found["trusted"], 1)
        self.assertNotIn("warning", found)


if __name__ == "__main__":
    cases.main()
