"""All mistakes that can be known are reported at once, and defaults do not conflict with given values."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.gpumc_program import resolved
from support.program import INVALID, OK, ProgramCase

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: {model}, {keys}}}
algorithm: {{name: {algorithm}}}
output: x.h5
"""

PT = "pt, beta: {values: [0.1, 0.2]}, "
CANONICAL = "canonical, thermalization: 10, sweeps: 100, "


class AllAtOnce(ProgramCase):
    device = None

    def validate(self, code=OK, model="ising2d", keys="shape: [8, 8]", algorithm="", more=""):
        text = CONFIG.format(model=model, keys=keys, algorithm=algorithm) + more
        return self.gpumc("validate", self.write("c.yaml", text), code=code)

    def refuse(self, *messages, **where):
        process = self.validate(code=INVALID, **where)
        for message in messages:
            self.assertIn(message, process.err)
        self.assertEqual(process.err.count("c.yaml:"), len(messages), process.err)

    def test_keys_of_a_misspelt_model(self):
        self.refuse("did you mean 'ising2d'?", "unknown key 'K' in model", "model.shape: expected",
                    "sweeps = 101 must be a multiple of interval = 10",
                    model="isin2d", keys="shape: [7, 8], K: 1",
                    algorithm="canonical, thermalization: 0, sweeps: 101, interval: 10, beta: {values: 0.4}")

    def test_the_dimension_decides_between_models_equally_near(self):
        self.refuse("did you mean", model="ising", keys="shape: [8, 8, 8]", algorithm=CANONICAL + "beta: {values: 0.2}")

    def test_keys_of_a_misspelt_algorithm(self):
        self.refuse("did you mean 'canonical'?", "unknown key 'sweps' in algorithm; did you mean 'sweeps'?",
                    "beta.from = 0.5 must be below beta.to = 0.4",
                    algorithm="canonicl, thermalization: 0, sweps: 10, beta: {from: 0.5, to: 0.4, count: 3}")

    def test_an_unknown_model_is_compared_with_all(self):
        self.refuse("expected one of", "unknown key 'temperature' in model: no model has it", "model.J: expected",
                    model="potts", keys="shape: [8, 8], J: one, temperature: 3",
                    algorithm=CANONICAL + "beta: {values: 0.4}")

    def test_independent_checks(self):
        self.refuse("the unit is missing", "must be a multiple of interval = 7", "J must not be 0", "model.h: expected",
                    "beta.from = 0.5 must be below", keys="shape: [8, 8], J: 0, h: x",
                    algorithm="canonical, thermalization: 0, sweeps: 100, interval: 7, "
                              "beta: {from: 0.5, to: 0.4, count: 3}", more="checkpoint: {every: 3}\n")

    def test_a_key_is_missing_once(self):
        self.refuse("unknown key 'populations' in algorithm; did you mean 'population'?",
                    algorithm="pa, populations: 100, beta: {to: 1, step: 0.1}")
        self.refuse("unknown key 'steps' in algorithm.beta; did you mean 'step'?",
                    algorithm="pa, population: 100, beta: {to: 1, steps: 0.1}")
        self.refuse("unknown key 'vlues' in algorithm.beta; did you mean 'values'?",
                    algorithm="pa, population: 100, beta: {vlues: [0.1, 0.2]}")
        self.refuse("missing key 'to' in algorithm.beta", algorithm="pa, population: 100, beta: {step: 0.1}")
        self.refuse("beta.to = 2 must be the last of beta.values, 1: leave it out",
                    algorithm="pa, population: 100, beta: {to: 2, values: [0.5, 1]}")

    def test_the_variant_of_a_misspelt_model_or_algorithm(self):
        wrong = "kernel: {variant: tiledd}\n"
        self.refuse("did you mean 'ising2d'?", "no kernel variant 'tiledd' on cpu", model="isng2d",
                    algorithm=CANONICAL + "beta: {values: 0.4}", more=wrong)
        self.refuse("did you mean 'canonical'?", "no kernel variant 'tiledd' on cpu", more=wrong,
                    algorithm="canonica, thermalization: 10, sweeps: 100, beta: {values: 0.4}")
        self.refuse("expected one of", "no model has a kernel variant 'tiledd'; did you mean 'tiled'?", model="potts",
                    algorithm=CANONICAL + "beta: {values: 0.4}", more=wrong)

    def test_a_known_variant_of_a_misspelt_model_is_no_mistake(self):
        for variant in ("auto", "tiled", "walker"):
            for model in ("isng2d", "potts"):
                self.refuse("model.name", model=model, algorithm=CANONICAL + "beta: {values: 0.4}",
                            more=f"kernel: {{variant: {variant}}}\n")

    def test_no_name_is_near_another_without_a_common_letter(self):
        process = self.validate(INVALID, "ea", "shape: [4, 4], J: 1", CANONICAL + "beta: {values: 0.4}")
        self.assertIn("unknown key 'J' in model; known keys: name, shape,", process.err)


class Defaults(ProgramCase):
    device = None

    def run_one(self, algorithm, name, more=""):
        text = CONFIG.format(model="ising2d", keys="shape: [8, 8]", algorithm=algorithm) + more
        path = self.write("c.yaml", text)
        self.gpumc("run", path, "-o", self.path(name), "--quiet", "--fresh")
        return resolved(self.path(name))["algorithm"]

    def test_exchanges_fit_any_number_of_sweeps(self):
        for sweeps, more, every, measure in ((100, "", 10, 10), (8192, "", 8, 8), (13, "", 1, 1),
                                             (8192, "measure_every: 16, ", 8, 16),
                                             (60, "measure_every: 15, ", 5, 15),
                                             (8192, "exchange_every: 0, ", 0, 8),
                                             (100, "exchange_every: 0, ", 0, 10)):
            with self.subTest(sweeps=sweeps, more=more):
                found = self.run_one(f"{PT}{more}sweeps: {sweeps}", "pt.h5")
                self.assertEqual((found["exchange_every"], found["measure_every"]), (every, measure))

    def test_values_hold_the_last_temperature(self):
        found = self.run_one("pa, population: 50, beta: {values: [0.1, 0.3]}", "pa.h5")
        self.assertEqual(found["beta"]["to"], 0.3)
        text = CONFIG.format(model="ising2d", keys="shape: [8, 8]",
                             algorithm="pa, population: 50, beta: {to: 0.3, values: [0.1, 0.3]}")
        again = self.gpumc("run", self.write("d.yaml", text), "-o", self.path("pa.h5"))
        self.assertIn("already complete", again.out + again.err)

    def test_a_value_is_a_list_of_one(self):
        found = self.run_one(CANONICAL + "beta: {values: 0.3}", "one.h5")
        self.assertEqual(found["beta"]["values"], [0.3])
        text = CONFIG.format(model="ising2d", keys="shape: [8, 8]", algorithm=CANONICAL + "beta: {values: [0.3]}")
        again = self.gpumc("run", self.write("d.yaml", text), "-o", self.path("one.h5"))
        self.assertIn("already complete", again.out + again.err)
        campaign = self.gpumc("validate", self.write("e.yaml", text + "campaign: {seed: 3}\n"))
        self.assertIn("ok (1 task)", campaign.out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
