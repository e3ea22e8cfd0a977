"""`gpumc compare`: the rates at which it calls results different that are of one system, and of two.

Null: pairs of short runs of one 2D Ising system, with other seeds. A right probability is below p in a share p of
them, one of correlated points (pa, pt) in no more. Bounds are four standard deviations of the number of pairs, which
a right program exceeds in one of 30,000 cases. The control is a system in a weak field, which must be told apart, and the
plain chi-square of correlated points, which must be seen to be wrong.

CTest: validate (cli_test_compare)
"""
import json
import math
import pathlib
import sys

from scipy.stats import chi2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.program import ProgramCase

PAIRS, WRONG_PAIRS = 60, 10
CONFIG = """\
gpumc: 1
seed: 1
model: {{name: ising2d, shape: [8, 8], h: {field}}}
algorithm: {{{algorithm}}}
output: "{name}-{{seed}}.h5"
campaign:
  seed: {seeds}
"""
ALGORITHMS = {
    "canonical": "name: canonical, thermalization: 100, sweeps: 2000, replicas: 32, temperature: {values: [3.5, 2.6, 2.2]}",
    "pa": "name: pa, population: 2000, sweeps: 5, temperature: {from: 10, to: 2, step: 0.5}",
    "pt": "name: pt, samples: 32, sweeps: 500, temperature: {from: 4, to: 2, count: 8}",
    "copies": "name: pt, samples: 32, replicas: 2, sweeps: 500, temperature: {from: 4, to: 2, count: 8}",
}


def most(pairs, rate):
    """The largest number of pairs with an event of this rate that is no alarm."""
    return math.floor(pairs * rate + 4 * math.sqrt(pairs * rate * (1 - rate)))


class Compare(ProgramCase):
    def results(self, name, count, field=0.0, first=1):
        seeds = list(range(first, first + count))
        text = CONFIG.format(field=field, algorithm=ALGORITHMS[name], name=f"{name}-{field}", seeds=seeds)
        self.gpumc("run", self.write(f"{name}.yaml", text), "--quiet")
        return [f"{name}-{field}-{seed}.h5" for seed in seeds]

    def compare(self, a, b, *options):
        process = self.start("compare", a, b, "--json", *options)
        out, messages = process.communicate(timeout=60)
        found = json.loads(out)
        self.assertEqual(process.returncode, 0 if found["compatible"] else 1, messages)
        return found

    def pairs(self, name, *options):
        files = self.results(name, 2 * PAIRS)
        return [self.compare(a, b, *options) for a, b in zip(files[::2], files[1::2])]

    def check_rates(self, name, *options):
        found = self.pairs(name, *options)
        for alpha in (0.1, 0.01):
            different = sum(one["p"] < alpha for one in found)
            self.assertLessEqual(different, most(PAIRS, alpha), f"{name}: {different} of {PAIRS} at alpha = {alpha}")
            for k, quantity in enumerate(found[0]["quantities"]):
                low = sum(one["quantities"][k]["p"] < alpha for one in found)
                self.assertLessEqual(low, most(PAIRS, alpha), f"{name}, {quantity['name']}: {low} of {PAIRS} below {alpha}")
        return found

    def check_wrong(self, name, *options):
        """A field of 0.05, a fortieth of the bond energy of a spin, is seen in each pair."""
        right, wrong = self.results(name, WRONG_PAIRS, first=1001), self.results(name, WRONG_PAIRS, field=0.05, first=2001)
        for a, b in zip(right, wrong):
            found = self.compare(a, b, *options)
            self.assertFalse(found["compatible"], found["p"])
            self.assertTrue(any(line.startswith("model.h: 0 -> 0.05") for line in found["configuration"]))

    def test_canonical(self):
        """Independent points: the probability of the energy is uniform."""
        found = self.check_rates("canonical")
        energy = [one["quantities"][0] for one in found]
        self.assertEqual(energy[0]["name"], "energy")
        self.assertTrue(all(one["independent"] for one in energy))
        mean = sum(one["p"] for one in energy) / PAIRS
        self.assertLess(abs(mean - 0.5), 4 * math.sqrt(1 / 12 / PAIRS), mean)
        for one in energy:
            self.assertAlmostEqual(one["p"], chi2.sf(one["chi_square"], one["points"]), delta=1e-10)
        self.check_wrong("canonical")

    def test_pa(self):
        found = self.check_rates("pa")
        self.assertFalse(found[0]["quantities"][0]["independent"])
        self.check_wrong("pa")
        self.check_plain_chi_square(found)

    def check_plain_chi_square(self, found):
        """What takes correlated points for independent cannot be trusted: the mean of chi-square is right, its variance is not."""
        free = [one["quantities"][k] for one in found for k, q in enumerate(one["quantities"]) if q["name"] == "beta_free_energy"]
        points = free[0]["points"]
        mean = sum(one["chi_square"] for one in free) / PAIRS
        variance = sum((one["chi_square"] - mean) ** 2 for one in free) / (PAIRS - 1)
        # 2 points of independent points; the sample variance of 60 of them is within 4 sqrt(2/59 + 12/(60 points)).
        self.assertGreater(variance / (2 * points), 1 + 4 * math.sqrt(2 / (PAIRS - 1) + 12 / points / PAIRS))

    def test_pt(self):
        self.check_rates("pt")
        self.check_wrong("pt")

    def test_profiles(self):
        found = self.check_rates("copies", "--group", "overlap_distribution")
        self.assertEqual([quantity["profile_axis"] for quantity in found[0]["quantities"]], ["q"])
        self.check_wrong("copies", "--group", "overlap_distribution")


if __name__ == "__main__":
    cases.main()
