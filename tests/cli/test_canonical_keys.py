"""Combinations of the keys of `canonical` that cannot be are told with their place and a remedy.

CTest: cases 6 s
"""
import json
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.gpumc_program import attributes, numeric_datasets, resolved, summary
from support.program import INVALID, OK, ProgramCase

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [8, 8]}}
algorithm:
  name: canonical
  thermalization: 10
  sweeps: 100
  beta: {beta}
  {more}
output: x.h5
"""


class Keys(ProgramCase):
    device = None

    def refuse(self, message, line, beta="{values: [0.4]}", more=""):
        config = self.write("c.yaml", CONFIG.format(beta=beta, more=more))
        process = self.gpumc("validate", config, code=INVALID)
        self.assertIn(message, process.err)
        self.assertIn(f"c.yaml:{line}:", process.err)
        self.assertEqual(process.err.count("c.yaml:"), 1, process.err)

    def test_tiles(self):
        """A mistake is told once, at the key that has to change."""
        for keys, message in (
                ("hits: 3, order: symmetrised", "32: kernel tiled: with kernel.order: symmetrised the "
                 "number kernel.hits must be even"),
                ("order: symmetrised", "33: kernel tiled: with kernel.order: symmetrised the number "
                 "kernel.hits must be even"),
                ("tile: 3, hits: 2", "32: kernel.tile: expected an integer from 0 to 64, a multiple of 2, "
                 "found the number 3"),
                ("hits: 2, tile: 8", "41: kernel tiled: every side of the lattice must be a multiple of "
                 "twice kernel.tile")):
            with self.subTest(keys):
                config = self.write("c.yaml", CONFIG.format(beta="{values: [0.4]}", more="") +
                                    f"kernel: {{variant: tiled, {keys}}}\n")
                message = f"{config}:11:{message}\n"
                self.assertEqual(self.gpumc("validate", config, code=INVALID).err, message)

    def test_an_unsafe_generator_is_told_everywhere(self):
        """By every command that sees the configuration, and in a result that is as good as others otherwise."""
        text = CONFIG.format(beta="{values: [0.1]}", more="").replace("sweeps: 100", "sweeps: 6400")
        config = self.write("c.yaml", text + "kernel: {variant: tiled, generator: lcg32_random}\n")
        warning = ("kernel.generator = lcg32_random is UNSAFE: results with such generators are known to be "
                   "wrong; use kernel.generator: philox")
        for command in "validate", "plan":
            self.assertEqual(self.gpumc(command, config).err, f"{config}: warning: {warning}\n")
        self.assertEqual(json.loads(self.gpumc("validate", config, "--json").out)[0]["warnings"], [warning])
        plan = json.loads(self.gpumc("plan", config, "--json").out)
        self.assertEqual(plan["tasks"][0]["generator_warning"], warning)
        self.assertEqual(self.gpumc("run", config, "--quiet").err, f"gpumc: warning: {warning}\n")
        with h5py.File(self.path("x.h5")) as file:
            self.assertTrue(file["summary/converged"][...].all())
            self.assertEqual(file["summary"].attrs["trusted"], 0)
            for group in "summary", "provenance":
                self.assertEqual(attributes(file[group])["generator_warning"], warning)
        self.assertIn(warning, self.gpumc("info", "x.h5").out)

    def test_philox_is_not_warned_of(self):
        text = CONFIG.format(beta="{values: [0.1]}", more="").replace("sweeps: 100", "sweeps: 6400")
        config = self.write("c.yaml", text + "kernel: {variant: tiled}\n")
        self.assertEqual(self.gpumc("plan", config).err, "")
        self.assertEqual(json.loads(self.gpumc("validate", config, "--json").out)[0]["warnings"], [])
        self.assertEqual(self.gpumc("run", config, "--quiet").err, "")
        with h5py.File(self.path("x.h5")) as file:
            self.assertEqual(file["summary"].attrs["trusted"], 1)
            self.assertNotIn("generator_warning", file["summary"].attrs)

    def test_unsafe_generators_of_a_campaign(self):
        """Once each, with the number of tasks."""
        text = CONFIG.format(beta="{values: [0.1]}", more="").replace("x.h5", "x-{kernel.generator}-{seed}.h5")
        config = self.write("c.yaml", text + "kernel: {variant: tiled}\ncampaign:\n  seed: [1, 2]\n"
                            "  kernel.generator: [philox, lcg32, lcg64]\n")
        lines = self.gpumc("validate", config).err.splitlines()
        self.assertEqual([line.split(" is UNSAFE")[0] for line in lines],
                         [f"{config}: warning: 2 of 6 tasks: kernel.generator = {name}"
                          for name in ("lcg32", "lcg64")])

    def test_what_is_right_is_accepted(self):
        for beta in ("{values: [0.1, 0.4]}", "{from: 0.4, to: 0.4, step: 1}",
                     "{from: 0.1, to: 0.4, count: 5}"):
            config = self.write("c.yaml", CONFIG.format(beta=beta, more="interval: 100"))
            self.gpumc("validate", config, code=OK)

    def test_infinite_temperature(self):
        """Metropolis sweeps turn all spins over there and leave the energy as it is; heat bath draws it anew."""
        for beta in ("{values: [0]}", "{from: 0, to: 0.4, count: 5, spacing: linear}",
                     "{from: 0, to: 0.4, step: 0.1}"):
            self.refuse("at beta = 0 Metropolis accepts every flip", 8, beta)
        text = CONFIG.format(beta="{values: [0]}", more="update: heat_bath").replace("sweeps: 100", "sweeps: 4000")
        self.gpumc("run", self.write("c.yaml", text))
        found = summary(self.path("x.h5"))
        self.assertLess(abs(found["energy"][0]), 5 * found["energy_error"][0])
        # 2 bonds a site, 32 replicas: the error is sqrt(2/64/(32 x 4000)).
        self.assertAlmostEqual(found["energy_error"][0] / (2 / 64 / (32 * 4000)) ** 0.5, 1, delta=0.2)

    def test_temperatures(self):
        self.refuse("beta.step needs both beta.from and beta.to", 8, "{from: 0.1, step: 0.1}")
        self.refuse("beta.from = 0.5 must not exceed beta.to = 0.4", 8,
                    "{from: 0.5, to: 0.4, step: 0.1}")
        self.refuse("more than 65535 inverse temperatures", 8, "{from: 0, to: 1, step: 1e-5}")
        self.refuse("leave out beta.from", 8, "{from: 0.1, values: [0.2]}")
        self.refuse("exactly one of", 8, "{from: 0.1, to: 0.2}")
        self.refuse("beta.from = 0.4 must be below beta.to = 0.4", 8, "{from: 0.4, to: 0.4, count: 2}")
        self.refuse("leave out beta.spacing", 8, "{from: 0, to: 1, step: 0.5, spacing: linear}")

    def test_ways_to_give_the_same_temperatures(self):
        """Counted ones give what the list of them gives."""
        betas = []
        for beta in ("{from: 0.125, to: 0.5, count: 4, spacing: linear}",
                     "{from: 0.125, to: 0.5, step: 0.125}", "{values: [0.125, 0.25, 0.375, 0.5]}"):
            config = self.write("c.yaml", CONFIG.format(beta=beta, more="replicas: 2"))
            self.gpumc("run", config, "--quiet", "--fresh")
            betas.append(numeric_datasets(self.path("x.h5")))
        self.assertEqual(betas[0], betas[1])
        self.assertEqual(betas[0], betas[2])

    def test_defaults_stand_in_the_configuration(self):
        """Those that depend on other keys as well: written down they are the same configuration."""
        for model, more, replicas in (("ising2d", "", 32), ("ea", "samples: 3", 1)):
            text = CONFIG.format(beta="{from: 0.3, to: 0.4, count: 2}", more=more)
            config = self.write("c.yaml", text.replace("ising2d", model))
            self.gpumc("run", config, "--quiet", "--fresh")
            for effective in (f"replicas={replicas}", "beta.spacing=geometric"):
                process = self.gpumc("run", config, "--set", f"algorithm.{effective}")
                self.assertIn("already complete", process.err)
            self.assertEqual(resolved(self.path("x.h5"))["algorithm"]["replicas"], replicas)
        self.refuse("each sample has one replica", 10, more="samples: 3\n  replicas: 2")

    def test_a_default_thermalization_in_which_nothing_is_tuned(self):
        """Wolff's clusters have one sweep in five of the 100 by default, and 32 are needed. Control: of 200 they have 40."""
        text = CONFIG.format(beta="{values: [0.4]}", more="update: [{heat_bath: 4}, {wolff: 1}]").replace("  thermalization: 10\n", "")
        done = self.gpumc("validate", self.write("c.yaml", text), code=INVALID)
        self.assertIn("wolff tunes its clusters during at least the first 32 sweeps that it makes in the thermalization: set a longer "
                      "algorithm.thermalization, or kernel.clusters", done.err)
        for more in ["algorithm.thermalization=200"], ["algorithm.sweeps=1000"], ["kernel.clusters=3"]:
            self.gpumc("validate", self.path("c.yaml"), "--set", *more)

    def test_thermalization(self):
        """By default a fifth of the sweeps, rounded up, at least 100; written down it is the same configuration."""
        for sweeps, expected in ((8, 100), (500, 100), (501, 101), (2000, 400)):
            text = CONFIG.format(beta="{values: [0.4]}", more="").replace("  thermalization: 10\n", "")
            config = self.write("c.yaml", text.replace("sweeps: 100", f"sweeps: {sweeps}"))
            self.gpumc("run", config, "--quiet", "--fresh")
            self.assertEqual(resolved(self.path("x.h5"))["algorithm"]["thermalization"], expected)
            process = self.gpumc("run", config, "--set", f"algorithm.thermalization={expected}")
            self.assertIn("already complete", process.err)
        config = self.write("c.yaml", text.replace("sweeps: 100", "sweeps: 4000000000"))
        self.assertIn("4000000000 sweeps after 800000000 of thermalization exceed", self.gpumc("validate", config, code=INVALID).err)

    def test_times(self):
        self.refuse("sweeps = 100 must be a multiple of interval = 30", 7, more="interval: 30")
        config = self.write("c.yaml", CONFIG.format(beta="{values: [0.4]}", more="").replace(
            "thermalization: 10", "thermalization: 4294967200"))
        self.assertIn("exceed the limit of 4294967295", self.gpumc("validate", config, code=INVALID).err)

    def test_configurations(self):
        for moments in "{every: 15}", "{times: [10, 15]}", "{every: 110}":
            self.refuse("must be a multiple of interval = 10 and at most sweeps = 100", 9,
                        more=f"configurations: {moments}, interval: 10".replace(", i", "\n  i"))

    def test_temperatures_of_configurations(self):
        chosen = "configurations: {every: 10, temperatures: %s}"
        self.refuse("there is no temperature 1: the 1 of `beta` are numbered from 0, the hottest, to 0", 9,
                    more=chosen % "[0, 1]")
        self.refuse("expected ascending values, but 0 does not exceed 1", 9, beta="{values: [0.1, 0.2]}",
                    more=chosen % "[1, 0]")
        self.refuse("from 0 to 65534", 9, more=chosen % "[-1]")
        self.refuse("exactly one of", 9, more="configurations: {temperatures: [0]}")
        self.gpumc("validate", self.write("c.yaml", CONFIG.format(
            beta="{values: [0.1, 0.2]}", more=chosen % "[1]")), code=OK)

    def test_samples_need_disorder(self):
        self.refuse("model ising2d has no quenched disorder", 9, more="samples: 10")

    def test_samples_of_random_fields(self):
        """What has disorder is an instance, not a model."""
        cubic = "model: {name: ising3d, shape: [4, 4, 4]%s}"
        text = CONFIG.format(beta="{values: [0.4]}", more="samples: 10")
        text = text.replace("model: {name: ising2d, shape: [8, 8]}", cubic)
        self.assertIn("model ising3d has no quenched disorder as configured",
                      self.gpumc("validate", self.write("c.yaml", text % ""), code=INVALID).err)
        field = ", random_field: {distribution: bimodal, width: 1}"
        self.gpumc("validate", self.write("c.yaml", text % field), code=OK)

    def test_symmetrised_order_is_not_cut_off(self):
        """Detailed balance between measurements needs whole palindromes of hits."""
        text = CONFIG.format(beta="{values: [0.4]}", more="interval: %d") + "kernel:\n  variant: tiled\n"
        text += "  hits: 4\n  order: %s\n"
        for interval, order, refused in ((5, "symmetrised", True), (2, "symmetrised", True),
                                         (4, "symmetrised", False), (20, "symmetrised", False),
                                         (5, "forward", False)):
            with self.subTest(interval=interval, order=order):
                config = self.write("c.yaml", text % (interval, order))
                process = self.gpumc("validate", config, code=INVALID if refused else OK)
                if refused:
                    self.assertIn("c.yaml:14:10: kernel.order: symmetrised has detailed balance only if",
                                  process.err)
                    self.assertIn(f"algorithm.interval = {interval}", process.err)
                    self.assertEqual(process.err.count("c.yaml:"), 1, process.err)

    def test_units_of_work_cut_off_no_hits(self):
        """Of 48 replicas five sweeps are a unit of work, of one all six: the first replica is the same."""
        text = CONFIG.format(beta="{values: [0.4]}", more="interval: 6\n  series: true")
        text = text.replace("[8, 8]", "[1024, 1024]").replace("thermalization: 10", "thermalization: 0")
        text = text.replace("sweeps: 100", "sweeps: 6") + "kernel: {variant: tiled, hits: 6}\n"
        config = self.write("c.yaml", text)
        found = []
        for replicas in 1, 48:
            self.gpumc("run", config, "--quiet", "--fresh", "--set", f"algorithm.replicas={replicas}")
            with h5py.File(self.path("x.h5")) as file:
                found.append(file["runs/0000/energy"][...].reshape(-1)[0])
        self.assertEqual(found[0], found[1])

    def test_grid(self):
        self.refuse("reweight.from = 0.5 must not exceed reweight.to = 0.4", 9,
                    more="reweight: {from: 0.5, to: 0.4, step: 0.01}")

    def test_replicas_that_do_not_fit(self):
        """The refusal names what would."""
        config = self.write("c.yaml", CONFIG.format(beta="{values: [0.4]}",
                                                    more="replicas: 2000000000"))
        self.assertIn("the largest algorithm.replicas that fits is",
                      self.gpumc("run", config, "--device", "cpu", code=1).err)
        text = CONFIG.format(beta="{values: [0.4]}", more="samples: 2000000000")
        config = self.write("c.yaml", text.replace("ising2d", "ea"))
        self.assertIn("the largest algorithm.samples that fits is",
                      self.gpumc("run", config, "--device", "cpu", code=1).err)


if __name__ == "__main__":
    cases.main()
