"""Combinations of the keys of `pa` that cannot be are told with their place and a remedy."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.program import INVALID, OK, ProgramCase

CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [8, 8]}}
algorithm:
  name: pa
  population: 100
  beta: {beta}
  {more}
output: x.h5
"""


class Keys(ProgramCase):
    device = None

    def validate(self, code, beta, more):
        return self.gpumc("validate", self.write("c.yaml", CONFIG.format(beta=beta, more=more)), code=code)

    def refuse(self, message, line, beta="{to: 1, step: 0.1}", more=""):
        process = self.validate(INVALID, beta, more)
        self.assertIn(message, process.err)
        self.assertIn(f"c.yaml:{line}:", process.err)
        self.assertEqual(process.err.count("c.yaml:"), 1, process.err)

    def test_another_control(self):
        """The block `control` in place of `beta`."""
        good = "{name: h, beta: 0.4, from: -1, to: 1, step: 0.1, thermalization: 10}"

        def refuse(message, control, more="", line=7):
            text = CONFIG.replace("  beta: {beta}\n", "  control: {beta}\n")
            process = self.gpumc("validate", self.write("c.yaml", text.format(beta=control, more=more)), code=INVALID)
            self.assertIn(message, process.err)
            self.assertIn(f"c.yaml:{line}:", process.err)
            self.assertEqual(process.err.count("c.yaml:"), 1, process.err)
        refuse("control.from = 1 must be below control.to = -1", good.replace("-1, to: 1", "1, to: -1"))
        refuse("missing key 'thermalization'", good.replace(", thermalization: 10", ""))
        refuse("missing key 'from'", good.replace(" from: -1,", ""))
        refuse("more than 1000000 values", good.replace("0.1, th", "1.0e-7, th"))
        refuse("control.values holds all values", good.replace("to: 1, step: 0.1", "values: [0, 1]"))
        refuse("expected a list of 2 to 10000 ascending values", good.replace("from: -1, to: 1, step: 0.1", "values: [1]"))
        refuse("'beta' and 'control' exclude each other", good, more="beta: {to: 1, step: 0.1}")
        refuse("reweight applies to inverse temperatures", good, more="reweight: {from: 0, to: 1, step: 0.1}", line=8)
        refuse("use configurations.every", good, more="configurations: {betas: [0.1]}", line=8)

    def test_configurations(self):
        none = "is not one of the %d inverse temperatures of `beta`; the nearest is %s"
        for beta, betas, message in (
                ("{to: 1, step: 0.1}", "[0.1, 0.36]", "0.36 " + none % (11, "0.4")),
                ("{to: 1, step: 0.1}", "[1.0e-12]", none % (11, 0)),
                ("{from: 0.5, to: 1, step: 0.3}", "[0.5, 0.81]", none % (4, "0.8")),
                ("{to: 1, values: [0.25, 1]}", "[0.3, 1]", none % (3, "0.25")),
                ("{to: 1, step: 0.1}", "[1, 1.5]", "1.5 is beyond the last inverse temperature, 1"),
                ("{to: 1, overlap: 0.8}", "[0.3, 1.5]", "1.5 is beyond the last inverse temperature, 1")):
            with self.subTest(beta=beta, betas=betas):
                self.refuse(message, 8, beta, f"configurations: {{betas: {betas}}}")
        self.refuse("exactly one of", 8, more="configurations: {}")
        self.refuse("exclude each other", 8, more="configurations: {every: 1, betas: [1]}")
        self.refuse("unknown key 'times'", 8, more="configurations: {every: 1, times: [1]}")

    def test_a_mistake_of_the_temperatures_is_told_alone(self):
        self.refuse("must be below beta.to", 7, "{from: 1, to: 0.5, step: 0.1}", "configurations: {betas: [0.3]}")

    def test_configurations_that_are_accepted(self):
        """Temperatures of equal steps as they are written, whatever the rounding of their sums."""
        steps = ", ".join(f"{0.01 * i:.2f}" for i in range(101))
        thirds = ", ".join(f"{i / 3:.12g}" for i in range(3))
        for beta, more in (("{to: 1, step: 0.01}", f"betas: [{steps}]"), ("{to: 1, step: 0.1}", "every: 7"),
                           (f"{{to: {2 / 3!r}, step: {1 / 3!r}}}", f"betas: [{thirds}]"),
                           ("{from: 0.35, to: 1, step: 0.1}", "betas: [0, 0.35, 0.85, 0.95, 1]"),
                           ("{to: 1, overlap: 0.8}", "betas: [0.123, 1]"),
                           ("{to: 1, values: [0.25, 1]}", "betas: [0, 0.25]")):
            with self.subTest(beta=beta, more=more):
                self.validate(OK, beta, f"configurations: {{{more}}}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
