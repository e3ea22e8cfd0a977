"""A moved field: canonical runs, parallel tempering and population annealing in h at one inverse temperature, on
lattices small enough to enumerate.

Null: replicas have the Boltzmann distribution of their field. Bounds are stated with each test and were set before any
run; seeds are fixed. Negative controls: exchanges with the wrong sign, fields wrong by a few percent, weights with the
wrong sign.

CTest: release (unit_test_controls, cli_test_configs), cases 1 s, methods 6 s
"""
import functools
import itertools
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np
from scipy import stats

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, enumeration, gpumc_program as gpumc, splitmix_couplings  # noqa: E402
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
import gpumc as reader  # noqa: E402

SHAPE, SITES, BETA = (4, 4), 16, 0.5
FERROMAGNET = np.ones((SITES, 2))
GLASS_SEED = 2
GLASS = np.array(splitmix_couplings.couplings(SHAPE, GLASS_SEED), dtype=float).reshape(SITES, 2)
FIELDS = [-0.9, -0.3, 0.1, 0.5, 1.0]
SAMPLES = 4000
RUNS = 600
P_MINIMUM = 1e-5  # for one chi-square; ten of them in all, so one run in 10000 fails by chance

PT = """\
gpumc: 1
seed: 15
model: {model}
algorithm:
  name: pt
  control: {{name: h, beta: {beta}, values: {fields}}}
  samples: {samples}
  replicas: 1
  sweeps: {sweeps}
  thermalization: 400
  exchange_every: 4
  update: {update}
  configurations: {{times: [{sweeps}]}}
kernel: {{variant: {variant}}}
output: {output}
"""


def kernels(*variants):
    """Each of these kernels with a ferromagnet and with a glass."""
    return itertools.product(device.served(*variants), (False, True))


@functools.cache
def spins():
    return enumeration.states(SITES).astype(float)


@functools.cache
def levels(glass):
    """Returns energies without the field, and magnetizations, of all states."""
    couplings = GLASS if glass else FERROMAGNET
    return enumeration.energies(SHAPE, couplings, np.zeros(SITES)), spins().sum(axis=1)


def weights(glass, field):
    """Returns probabilities of all states."""
    energy, magnetization = levels(glass)
    exponent = -BETA * (energy - field * magnetization)
    weight = np.exp(exponent - exponent.max())
    return weight / weight.sum()


def cells(glass):
    """Returns the number of a pair of energy and magnetization, for every state, and these pairs."""
    pairs, number = np.unique(np.stack(levels(glass), axis=1), axis=0, return_inverse=True)
    return pairs, number.ravel()


def chance(glass, field, observed):
    """Returns the probability of a chi-square at least as large: pairs (energy, magnetization) of independent replicas
    against their distribution; pairs expected less than ten times form one cell."""
    pairs, number = cells(glass)
    expected = np.bincount(number, weights(glass, field)) * len(observed)
    index = {tuple(pair): i for i, pair in enumerate(pairs)}
    counts = np.bincount([index[tuple(pair)] for pair in observed], minlength=len(pairs))
    rare = expected < 10
    expected = np.append(expected[~rare], expected[rare].sum())
    counts = np.append(counts[~rare], counts[rare].sum())
    kept = expected > 0
    return stats.chisquare(counts[kept], expected[kept]).pvalue


def observe(replicas, couplings):
    """Returns energy without the field, and magnetization, of replicas [..., sites]."""
    following = enumeration.neighbours(SHAPE)
    energy = -sum((replicas * replicas[..., following[:, d]]) @ couplings[:, d] for d in range(2))
    return np.stack([energy, replicas.sum(axis=-1)], axis=-1)


def tempered(sign, samples, couplings, rounds=200):
    """Parallel tempering in these few lines, with exchanges by the weight to the power `sign`."""
    random = np.random.default_rng(3)
    replicas = random.choice([-1.0, 1.0], (samples, len(FIELDS), SITES))
    following = enumeration.neighbours(SHAPE)
    field = np.array(FIELDS)
    for number in range(rounds):
        for _ in range(2):
            for site in range(SITES):
                local = field + sum(replicas[..., following[site, d]] * couplings[site, d] for d in range(2))
                for d in range(2):
                    before = int(np.flatnonzero(following[:, d] == site)[0])
                    local = local + replicas[..., before] * couplings[before, d]
                up = random.random(local.shape) < 1 / (1 + np.exp(-2 * BETA * local))
                replicas[..., site] = np.where(up, 1, -1)
        for t in range(number % 2, len(FIELDS) - 1, 2):
            m = replicas.sum(axis=-1)
            gain = -BETA * (field[t + 1] - field[t]) * (m[:, t + 1] - m[:, t])
            swap = random.random(samples) < np.exp(np.minimum(sign * gain, 0))
            replicas[swap, t:t + 2] = replicas[swap, t:t + 2][:, ::-1]
    return replicas


class Tempering(unittest.TestCase):
    """4000 independent simulations, one configuration of each: chi-square of energies and
    magnetizations at every field."""

    def run_pt(self, folder, glass, **keys):
        path = os.path.join(folder, "pt.h5")
        model = "{name: ising2d, shape: [4, 4]}"
        if glass:
            couplings = os.path.join(folder, "couplings.txt")
            pathlib.Path(couplings).write_text(
                splitmix_couplings.text_file(SHAPE, [GLASS_SEED] * SAMPLES))
            model = f"{{name: ea, shape: [4, 4], couplings: file, file: {couplings}}}"
        values = dict(model=model, beta=BETA, fields=FIELDS, samples=SAMPLES, sweeps=200, variant="multispin",
                      update="heat_bath", output=path)
        values.update(keys)
        gpumc.run_config(PT.format(**values), folder)
        return path

    def check(self, glass, path):
        couplings = GLASS if glass else FERROMAGNET
        _, found = reader.configurations(path)
        found = found[0].reshape(len(FIELDS), SAMPLES, SITES).astype(float)
        wrong = []
        for t, field in enumerate(FIELDS):
            p = chance(glass, field, observe(found[t], couplings))
            wrong.append(chance(glass, field + 0.1, observe(found[t], couplings)))
            print(f"h = {field:+.1f}: p = {p:.3g}; of h + 0.1 {wrong[-1]:.2g}")
            self.assertGreater(p, P_MINIMUM)
        self.assertLess(min(wrong), P_MINIMUM, "control: another field")

    def test_every_kernel(self):
        for variant, glass in cases.of(kernels("multispin", "spin", *device.on_gpus("walker"))):
            with self.subTest(variant=variant, glass=glass), gpumc.folder() as folder:
                print(variant, "glass" if glass else "ferromagnet")
                path = self.run_pt(folder, glass, variant=variant)
                self.check(glass, path)
                accepted = gpumc.summary(path)["acceptance"]
                self.assertGreater(np.nanmin(accepted), 0.05)
                self.assertLess(np.nanmax(accepted), 0.95)

    def test_wrong_sign_of_the_exchange_is_rejected(self):
        """The same test with a simulation of its own: it accepts the right sign and rejects the other."""
        for glass in False, True:
            for sign, accepted in (1, True), (-1, False):
                replicas = tempered(sign, SAMPLES // 2, GLASS if glass else FERROMAGNET)
                least = min(chance(glass, field, observe(replicas[:, t], GLASS if glass else FERROMAGNET))
                            for t, field in enumerate(FIELDS))
                print(f"glass {glass}, sign {sign:+d}: p = {least:.2g}")
                self.assertEqual(least > P_MINIMUM, accepted)

    def test_summary(self):
        """Averages of 64 long simulations within 4.5 errors, at 5 fields; 6 quantities: false alarms 2e-4."""
        with gpumc.folder() as folder:
            path = self.run_pt(folder, False, samples=64, sweeps=40960)
            found = gpumc.summary(path)
            with h5py.File(path) as file:
                axis = file["summary/h"]
                self.assertEqual(gpumc.attributes(axis)["long_name"], "magnetic field")
                self.assertEqual(gpumc.attributes(axis)["units"], "J")
                self.assertIs(list(file["summary/magnetization"].dims[0].keys())[0] == "h", True)
        self.assertNotIn("specific_heat", found)
        self.assertNotIn("beta", found)
        np.testing.assert_array_equal(found["h"], FIELDS)
        for name, value in exact_curves(False, FIELDS).items():
            off = gpumc.in_errors(found, name, value)
            print(f"{name:18s} {np.abs(off).max():.2f} errors")
            self.assertLess(np.abs(off).max(), 4.5, name)
        wrong = exact_curves(False, [1.05 * h for h in FIELDS])["magnetization"]
        self.assertGreater(np.abs(gpumc.in_errors(found, "magnetization", wrong)).max(), 4.5, "control")


CANONICAL = """\
gpumc: 1
seed: 4
model: {{name: ising2d, shape: [4, 4]}}
algorithm:
  name: canonical
  control: {{name: h, beta: {beta}, values: {fields}, reweight: {{from: -1, to: 1, step: 0.125}}}}
  replicas: 64
  thermalization: 200
  sweeps: 20000
  interval: 5
  update: heat_bath
kernel: {{variant: {variant}}}
output: {output}
"""


class Canonical(unittest.TestCase):
    def test_every_quantity(self):
        """7 quantities at 5 fields, and reweighted to 17, within 4.5 errors if these are known (false alarm 2e-3 per
        case); between fields, susceptibilities may rest on a few measurements with the other sign of the magnetization,
        and errors are unknown if there were none (docs/statistics.md). Controls: fields wrong by 5 %, and the
        reweighted curves at the negative fields."""
        for variant in cases.of(device.served("multispin", "spin")):
            with self.subTest(variant=variant), gpumc.folder() as folder:
                path = os.path.join(folder, "canonical.h5")
                gpumc.run_config(CANONICAL.format(beta=BETA, fields=FIELDS, variant=variant, output=path), folder)
                found = gpumc.summary(path)
                with h5py.File(path) as file:
                    unknown = any(np.isnan(curve[...]).any() for curve in file["summary/reweighted"].values())
                    self.assertEqual(file["summary"].attrs["trusted"], int(not unknown))
                    self.assertEqual([file[f"runs/{m:04d}"].attrs["h"] for m in range(len(FIELDS))], FIELDS)
                    group = file["summary/reweighted"]
                    everywhere = {name: group[name][...] for name in group}
                self.assertNotIn("beta", found)
                self.assertNotIn("specific_heat", found)
                np.testing.assert_allclose(everywhere["h"], np.linspace(-1, 1, 17), atol=1e-12)
                nearest = np.abs(everywhere["h"][:, None] - np.array(FIELDS)).argmin(axis=1)
                np.testing.assert_array_equal(everywhere["from_h"], np.array(FIELDS)[nearest])
                known = np.isfinite(everywhere["susceptibility_error"])
                self.assertTrue(known[np.isin(everywhere["h"], FIELDS)].all())
                self.assertGreaterEqual(known.sum(), 8)
                reweighted = everywhere
                for curves in found, reweighted:
                    for name, value in exact_curves(False, curves["h"]).items():
                        off = np.nanmax(np.abs(gpumc.in_errors(curves, name, value)))
                        print(f"{variant} {len(curves['h'])} fields {name:20s} {off:.2f} errors")
                        self.assertLess(off, 4.5, name)
                wrong = exact_curves(False, 1.05 * found["h"])["magnetization"]
                self.assertGreater(np.abs(gpumc.in_errors(found, "magnetization", wrong)).max(), 4.5, "control")
                wrong = exact_curves(False, -reweighted["h"])["magnetization"]
                self.assertGreater(np.nanmax(np.abs(gpumc.in_errors(reweighted, "magnetization", wrong))), 4.5, "control")

    def test_states_that_were_not_seen(self):
        """At h = -0.9 one measurement in 165,000 has the other sign of the magnetization; at -0.625, reweighted from
        there, such states are 8 % of the susceptibility and 98 % of the variance of its estimate, so 1.5 measurements
        in a run decide. Over 32 seeds: known errors are right, by 5 errors at 17 fields and for 7 quantities (false
        alarm 2e-3), and in the mean square of all known ones at -0.625, and all between -0.5 and 0.5 are known. The
        mean of all values is right by 4.5 errors; control: the mean of those whose errors are unknown is not, and
        low."""
        seeds = 32
        with gpumc.folder() as folder:
            config = CANONICAL.format(beta=BETA, fields=FIELDS, variant="multispin",
                                      output=f'"{folder}/{{seed}}.h5"')
            gpumc.run_config(config + f"campaign: {{seed: {list(range(1, seeds + 1))}}}\n", folder)
            found = []
            for seed in range(1, seeds + 1):
                with h5py.File(os.path.join(folder, f"{seed}.h5")) as file:
                    group = file["summary/reweighted"]
                    found.append({name: group[name][...] for name in group})
                    unknown = np.isnan(found[-1]["susceptibility_error"]).any()
                    self.assertEqual("reweight_errors_warning" in file["summary"].attrs, unknown)
        fields = found[0]["h"]
        exact = exact_curves(False, fields)
        for name, value in exact.items():
            off = np.array([gpumc.in_errors(curves, name, value) for curves in found])
            print(f"{name:18s} {np.nanmax(np.abs(off)):.2f} errors, {np.isfinite(off).mean():.3f} known")
            self.assertLess(np.nanmax(np.abs(off)), 5, name)
        known = np.array([np.isfinite(curves["susceptibility_error"]) for curves in found])
        value = np.array([curves["susceptibility"] for curves in found])
        self.assertTrue(known[:, (fields > -0.51) & (fields < 0.51)].all(), "many such states were seen")
        at = np.flatnonzero(fields == -0.625)[0]
        deviations = value[:, at] / exact["susceptibility"][at] - 1
        low = deviations[~known[:, at]]
        self.assertGreater(len(low), 1)
        in_all, in_low = (d.mean() / (d.std(ddof=1) / len(d) ** 0.5) for d in (deviations, low))
        squares = np.mean([gpumc.in_errors(curves, "susceptibility", exact["susceptibility"])[at] ** 2
                           for curves in itertools.compress(found, known[:, at])])
        print(f"-0.625: {len(low)} unknown, on average {low.mean():+.3f}, {in_low:.1f} errors; all {in_all:.1f} errors; "
              f"<z^2> of the known {squares:.2f}")
        self.assertLess(abs(in_all), 4.5)
        self.assertLess(in_low, -4.5, "control")
        self.assertLess(squares, 2)


PA = """\
gpumc: 1
seed: {seed}
model: {model}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  runs: {runs}
  resampling: {resampling}
  control: {{name: h, beta: {beta}, thermalization: 200, {schedule}}}
{more}
kernel: {{variant: {variant}}}
output: {output}
"""


def log_partition(glass, fields):
    energy, magnetization = levels(glass)
    return np.array([np.log(np.exp(-BETA * (energy - h * magnetization) - 40).sum()) + 40 for h in fields])


class Annealing(unittest.TestCase):
    """From a negative field through 0 to a positive one, all replicas in equilibrium at the first."""

    def anneal(self, folder, glass=False, **keys):
        values = dict(seed=3, model="{name: ising2d, shape: [4, 4]}", population=2000, sweeps=4, runs=1, beta=BETA,
                      resampling="nearest_integer", schedule="from: -0.95, to: 0.75, step: 0.1", more="",
                      variant="multispin", output=os.path.join(folder, "pa.h5"))
        if glass:
            couplings = os.path.join(folder, "couplings.txt")
            pathlib.Path(couplings).write_text(splitmix_couplings.text_file(SHAPE, [GLASS_SEED]))
            values["model"] = f"{{name: ea, shape: [4, 4], couplings: file, file: {couplings}}}"
        values.update(keys)
        gpumc.run_config(PA.format(**values), folder)
        return values["output"]

    def test_mean_partition_ratio_is_exact_for_small_populations(self):
        """The mean of Z(h)/Z(h_0) over 600 runs of 50 replicas is exact. Bound: 4.5 standard errors at each of 17
        fields, false alarms 1e-4 a case. Controls: weights with the wrong sign, and fields wrong by 3 %."""
        resampling = {"spin": "systematic"}
        for variant, glass in cases.of(kernels("multispin", "spin", "walker")):
            with self.subTest(variant=variant, glass=glass), gpumc.folder() as folder:
                path = self.anneal(folder, glass, population=50, sweeps=1, runs=RUNS, variant=variant,
                                   resampling=resampling.get(variant, "nearest_integer"))
                with h5py.File(path) as file:
                    fields = file["summary/h"][...]
                    found = np.array([-SITES * file[f"runs/{m:04d}/beta_free_energy_difference"][...]
                                      for m in range(RUNS)])
                def worst(reference):
                    ratio = np.exp(found - reference + reference[0])[:, 1:]
                    return np.abs((ratio.mean(axis=0) - 1) / (ratio.std(axis=0, ddof=1) / RUNS ** 0.5)).max()
                exact = log_partition(glass, fields)
                off = worst(exact)
                print(f"{variant} glass {glass}: {off:.2f} errors; wrong sign {worst(-exact):.0f}, wrong fields "
                      f"{worst(log_partition(glass, 1.03 * fields)):.0f}")
                self.assertLess(off, 4.5)
                self.assertGreater(worst(-exact), 8, "control")
                self.assertGreater(worst(log_partition(glass, 1.03 * fields)), 8, "control")

    def test_every_quantity(self):
        """Populations of 20000: 8 quantities at 18 fields within 4.5 reported errors (false alarm 1e-3 a case).
        Control: fields wrong by 5 %. Weights are bounded for any order of fields, so nothing overflows or dies out."""
        for variant, glass in cases.of(kernels("multispin", "spin", *device.on_gpus("walker"))):
            with self.subTest(variant=variant, glass=glass), gpumc.folder() as folder:
                path = self.anneal(folder, glass, population=20000, runs=2, variant=variant)
                found = gpumc.summary(path)
                for absent in "beta", "specific_heat", "entropy", "beta_free_energy":
                    self.assertNotIn(absent, found)
                curves = exact_curves(glass, found["h"])
                z = log_partition(glass, found["h"])
                curves["beta_free_energy_difference"] = (z[0] - z) / SITES
                for name, value in curves.items():
                    at = slice(1, None) if name == "beta_free_energy_difference" else slice(None)
                    off = np.abs(gpumc.in_errors(found, name, value, at)).max()
                    print(f"{variant} glass {glass} {name:28s} {off:.2f} errors")
                    self.assertLess(off, 4.5, name)
                self.assertEqual(found["beta_free_energy_difference"][0], 0)
                self.assertEqual(found["beta_free_energy_difference_error"][0], 0)
                wrong = exact_curves(glass, 1.05 * found["h"])
                self.assertGreater(max(np.abs(gpumc.in_errors(found, name, value)).max()
                                       for name, value in wrong.items()), 4.5, "control")

    def test_adaptive_steps(self):
        """Steps keep the requested overlap, and the second run keeps the steps of the first."""
        with gpumc.folder() as folder:
            path = self.anneal(folder, population=4000, runs=2, schedule="from: -0.9, to: 0.9, overlap: 0.8")
            with h5py.File(path) as file:
                first, second = file["runs/0000"], file["runs/0001"]
                np.testing.assert_array_equal(first["h"][...], second["h"][...])
                self.assertEqual((first["h"][0], first["h"][-1]), (-0.9, 0.9))
                self.assertLess(np.abs(first["overlap"][1:-1] - 0.8).max(), 1e-3)
                self.assertGreater(len(first["h"]), 5)

    def test_populations_in_the_result(self):
        with gpumc.folder() as folder:
            path = self.anneal(folder, population=1000, more="  configurations: {every: 5}")
            fields, found, _ = reader.configurations(path)
            with h5py.File(path) as file:
                measured = dict(zip(file["runs/0000/h"][...], file["runs/0000/magnetization"][...]))
        self.assertEqual(len(fields), 4)
        for field, populations in zip(fields, found):
            self.assertAlmostEqual(populations[0].mean(), measured[field], places=12)


def exact_curves(glass, fields):
    energy, magnetization = levels(glass)
    names = ("energy", "magnetization", "abs_magnetization", "magnetization2", "magnetization4",
             "susceptibility", "energy_in_field")
    curves = {name: np.empty(len(fields)) for name in names}
    for i, field in enumerate(fields):
        weight = weights(glass, field)
        m, e = weight @ magnetization / SITES, weight @ energy / SITES
        square = weight @ (magnetization / SITES) ** 2
        values = (e, m, weight @ np.abs(magnetization) / SITES, square,
                  weight @ (magnetization / SITES) ** 4, BETA * SITES * (square - m * m), e - field * m)
        for name, value in zip(names, values):
            curves[name][i] = value
    return curves


if __name__ == "__main__":
    device.require()
    cases.main()
