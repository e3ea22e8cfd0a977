"""Canonical runs against exact results, and the contents of a result against each other.

Null: averages are those of the canonical ensemble. Bounds are four reported standard errors, whose size is confirmed by
tests/statistical/test_canonical_errors.py; seeds are fixed. Negative controls: references at a temperature that is
wrong by 1 %.

CTest: release (cli_test_configs, cli_test_canonical_keys), long, cases 3 s
"""
import pathlib
import shutil
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device, gpumc_program as gpumc  # noqa: E402
from support.edited_result import edited  # noqa: E402

sys.path.insert(0, str(device.ROOT / "tools/python"))
import gpumc as reader  # noqa: E402

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: ising2d, shape: {shape}, h: {field}}}
algorithm:
  name: canonical
  beta: {beta}
  update: {update}
  thermalization: 500
  sweeps: {sweeps}
  interval: {interval}
{more}
kernel: {{variant: {variant}}}
output: {folder}/out.h5
"""


def simulate(folder, **changed):
    values = dict(seed=1, shape="[8, 8]", field=0.0, beta="{values: [0.3, 0.4, 0.44]}",
                  update="metropolis", sweeps=10000, interval=1, more="", variant="multispin",
                  folder=folder)
    values.update(changed)
    gpumc.run_config(CONFIG.format(**values), folder)
    return f"{folder}/out.h5"


class Canonical(unittest.TestCase):
    def variants(self, update):
        """Returns the kernels of the device under test that have such updates."""
        found = []
        for variant in device.variants():
            with gpumc.folder() as folder:
                text = CONFIG.format(seed=1, shape="[4, 4]", field=0.0, beta="{values: [0.1]}",
                                     update=update, sweeps=10, interval=1, more="",
                                     variant=variant, folder=folder)
                path = pathlib.Path(folder) / "config.yaml"
                path.write_text(text)
                done = gpumc.run("run", path, "--quiet", "--device", device.NAME)
                if done.returncode == 2:
                    self.assertRegex(done.stderr, "has no heat-bath updates|cannot simulate this model")
                else:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    found.append(variant)
        self.assertTrue(found)
        return found

    def check_kaufman(self, found, side, where):
        """Energy and specific heat within four errors. Returns the largest deviation in errors."""
        kaufman = gpumc.exact().kaufman
        worst = 0
        for row, beta in enumerate(found["beta"]):
            for factor in 1, 1.01:
                _, energy, heat = (float(x[0]) for x in kaufman(side, side, factor * beta))
                for name, exact in ("energy", energy), ("specific_heat", heat):
                    error = found[name + "_error"][row]
                    deviation = (found[name][row] - exact) / error
                    if factor == 1:
                        print(f"{where} beta = {beta:.4f} {name:13s} {deviation:+.2f} errors of "
                              f"{error:.2g}")
                        self.assertLess(abs(deviation), 4, (where, beta, name))
                    else:
                        worst = max(worst, abs(deviation))
        return worst

    def test_kaufman(self):
        """Both updates and every kernel, at 8 x 8 and 16 x 16: at most 120 comparisons, false alarm below 1 %. Control:
        1 % in beta is detected."""
        for update in "metropolis", "heat_bath":
            for variant in self.variants(update):
                for side in 8, 16:
                    with self.subTest(update=update, variant=variant, side=side), \
                            gpumc.folder() as folder:
                        path = simulate(folder, update=update, variant=variant,
                                             shape=[side, side])
                        where = f"{side} {update} {variant}"
                        self.assertGreater(self.check_kaufman(gpumc.summary(path), side, where), 4)

    def test_reweighted(self):
        """Between and beyond the temperatures of the run, as far as 10 % of the measurements count;
        what is further away is NaN, and a warning says so."""
        with gpumc.folder() as folder:
            path = simulate(folder, beta="{values: [0.32, 0.44]}",
                                 more="  reweight: {from: 0.2, to: 0.6, step: 0.02}")
            found = gpumc.summary(path, "summary/reweighted")
            remarks = reader.read(path).remarks
        known = found["share"] >= 0.1
        self.assertTrue((np.isnan(found["energy"]) == ~known).all())
        self.assertTrue(known[0.3 < found["beta"]][:5].all())
        self.assertIn("are NaN" if not known.all() else "", remarks.get("reweight_warning", ""))
        self.check_kaufman({name: values[known] for name, values in found.items()}, 8, "reweighted")

    def test_reweighting_needs_no_discrete_spectrum(self):
        """4 x 4 in a field, enumerated; 5 points of 6 quantities, false alarm 0.2 %."""
        with gpumc.folder() as folder:
            path = simulate(folder, shape="[4, 4]", field=0.137, beta="{values: [0.3]}",
                                 more="  reweight: {from: 0.2, to: 0.4, step: 0.05}")
            direct = gpumc.summary(path)
            found = gpumc.summary(path, "summary/reweighted")
        self.check_enumerated(direct, 0.137)
        self.check_enumerated(found, 0.137)
        for name in "energy", "abs_magnetization", "specific_heat":
            self.assertAlmostEqual(found[name][2], direct[name][0], delta=1e-12)

    def test_enumerated_with_heat_bath(self):
        """4 x 4 without field, where sequential Metropolis is not ergodic but heat bath is."""
        with gpumc.folder() as folder:
            path = simulate(folder, shape="[4, 4]", update="heat_bath",
                                 beta="{values: [0.2, 0.4, 0.5]}", sweeps=20000,
                                 variant=self.variants("heat_bath")[0])
            self.check_enumerated(gpumc.summary(path), 0.0)

    def test_what_is_too_short_is_flagged(self):
        """A series of a few autocorrelation times; replicas stuck in different states, for which a longer time is no
        remedy; and a series that is long enough and is not flagged."""
        for short, beta, more in ((True, 0.44, "  replicas: 1"), (True, 2.0, "  replicas: 8"),
                                  (True, 2.0, "  replicas: 31"), (False, 0.25, "  replicas: 1")):
            with self.subTest(beta=beta, more=more), gpumc.folder() as folder:
                path = simulate(folder, shape="[16, 16]", beta=f"{{values: [{beta}]}}", more=more,
                                sweeps=100 if beta == 0.44 else 10000)
                result = reader.read(path)
                self.assertEqual(result.remarks["trusted"], 0 if short else 1)
                self.assertEqual(list(result.summary["converged"]), [0 if short else 1])
                self.assertEqual("warning" in result.remarks, short)
                if short:
                    self.assertIn("1 of 1 temperatures", result.remarks["warning"])

    def check_enumerated(self, found, field):
        names = ["energy", "specific_heat", "abs_magnetization", "magnetization2", "magnetization4"]
        exact = gpumc.enumerate_ising(4, 4, field, found["beta"])[1:]
        for name, values in zip(names, exact):
            deviation = gpumc.in_errors(found, name, values)
            self.assertLess(np.abs(deviation).max(), 4, (name, deviation))
        if "binder_parameter" in found:
            binder = 1 - exact[4] / (3 * exact[3] ** 2)
            deviation = gpumc.in_errors(found, "binder_parameter", binder)
            self.assertLess(np.abs(deviation).max(), 4, deviation)


class File(unittest.TestCase):
    """The contents of a result are consistent."""

    MORE = "  replicas: 6\n  series: true\n  configurations: {times: [40, 200, 1000]}"

    def setUp(self):
        self.holder = gpumc.folder()
        self.path = simulate(self.holder.name, shape="[8, 6]", sweeps=1000, interval=20,
                                  more=self.MORE, beta="{values: [0.2, 0.5]}")
        self.result = reader.read(self.path)

    def tearDown(self):
        self.holder.cleanup()

    def test_series_give_the_averages(self):
        for m, run in enumerate(self.result.runs):
            self.assertEqual(list(run["sweep"]), list(range(20, 1001, 20)))
            energy, magnetization = run["energy"], run["magnetization"]
            self.assertEqual(energy.shape, (50, 6))
            summary = self.result.summary
            for name, values in (("energy", energy), ("abs_magnetization", np.abs(magnetization)),
                                 ("magnetization2", magnetization ** 2),
                                 ("magnetization4", magnetization ** 4)):
                self.assertAlmostEqual(summary[name][m], values.mean(), delta=1e-13)
                np.testing.assert_allclose(run["replicas/" + name], values.mean(axis=0), atol=1e-13)
            np.testing.assert_allclose(run["replicas/energy2"], (energy ** 2).mean(axis=0),
                                       atol=1e-13)
            beta = summary["beta"][m]
            heat = beta ** 2 * 48 * ((energy ** 2).mean() - energy.mean() ** 2)
            self.assertAlmostEqual(summary["specific_heat"][m], heat, delta=1e-11)

    def test_bins_are_averages_of_the_series(self):
        for run in self.result.runs:
            ends = run["bins/sweep"] // 20
            self.assertGreater(len(ends), 20)
            length = ends[0]
            for b, end in enumerate(ends):
                self.assertEqual(end, (b + 1) * length)
                self.assertAlmostEqual(run["bins/energy"][b],
                                       run["energy"][end - length:end].mean(), delta=1e-13)

    def test_configurations_are_those_of_the_series(self):
        sweeps, spins = reader.configurations(self.path)
        self.assertEqual(list(sweeps), [40, 200, 1000])
        self.assertEqual(spins.shape, (3, 2, 6, 6, 8))  # time, temperature, replica, y, x
        self.assertEqual(set(np.unique(spins)), {-1, 1})
        bonds = sum((spins * np.roll(spins, 1, axis)).sum(axis=(3, 4)) for axis in (3, 4))
        for k, sweep in enumerate(sweeps):
            for m, run in enumerate(self.result.runs):
                row = list(run["sweep"]).index(sweep)
                np.testing.assert_allclose(-bonds[k, m] / 48, run["energy"][row], atol=1e-13)
                np.testing.assert_allclose(spins[k, m].mean(axis=(1, 2)), run["magnetization"][row],
                                           atol=1e-13)

    def test_configurations_of_one_time(self):
        sweeps, spins = reader.configurations(self.path)
        one, chosen = reader.configurations(self.path, sweep=200)
        self.assertEqual(list(one), [200])
        self.assertTrue((chosen[0] == spins[1]).all())
        with self.assertRaisesRegex(reader.ResultError, "no configurations of sweep 201"):
            reader.configurations(self.path, sweep=201)

    def test_configurations_that_are_no_bits_are_refused(self):
        """As for a model with a byte per site."""
        with gpumc.folder() as folder:
            other = shutil.copy(self.path, folder)
            with edited(other) as file:
                rows = len(file["configurations/bytes"])
                del file["configurations/bytes"]
                file["configurations/bytes"] = np.zeros((rows, 48), dtype=np.uint8)
            with self.assertRaisesRegex(reader.ResultError, "ising2d are not stored as one bit"):
                reader.configurations(other)

    def test_configurations_of_one_temperature(self):
        sweeps, spins = reader.configurations(self.path)
        same, chosen = reader.configurations(self.path, temperature=1)
        np.testing.assert_array_equal(same, sweeps)
        np.testing.assert_array_equal(chosen, spins[:, 1:])
        one, chosen = reader.configurations(self.path, sweep=40, temperature=0)
        np.testing.assert_array_equal(one, [40])
        np.testing.assert_array_equal(chosen, spins[:1, :1])
        with self.assertRaisesRegex(reader.ResultError, "no configurations of temperature 2"):
            reader.configurations(self.path, temperature=2)

    def test_configurations_of_chosen_temperatures(self):
        """Only these are written, and they are the same as among the others."""
        sweeps, spins = reader.configurations(self.path)
        more = self.MORE.replace("1000]", "1000], temperatures: [1]")
        with gpumc.folder() as folder:
            path = simulate(folder, shape="[8, 6]", sweeps=1000, interval=20, more=more,
                            beta="{values: [0.2, 0.5]}")
            with h5py.File(path) as file:
                self.assertEqual(set(file["configurations/run"][:]), {1})
                self.assertEqual(len(file["configurations/bytes"]), 3 * 6)
            for keys in {}, {"temperature": 1}:
                same, chosen = reader.configurations(path, **keys)
                np.testing.assert_array_equal(same, sweeps)
                np.testing.assert_array_equal(chosen, spins[:, 1:])
            with self.assertRaisesRegex(reader.ResultError, "no configurations of temperature 0"):
                reader.configurations(path, temperature=0)

    def test_series_and_configurations_change_no_number(self):
        with gpumc.folder() as folder:
            plain = simulate(folder, shape="[8, 6]", sweeps=1000, interval=20,
                                  more="  replicas: 6", beta="{values: [0.2, 0.5]}")
            with h5py.File(plain) as a, h5py.File(self.path) as b:
                for name in a["summary"]:
                    if isinstance(a["summary"][name], h5py.Dataset):
                        self.assertEqual(a["summary"][name][...].tobytes(),
                                         b["summary"][name][...].tobytes(), name)
            with self.assertRaisesRegex(reader.ResultError, "no configurations"):
                reader.configurations(plain)

    def test_temperatures_do_not_know_of_each_other(self):
        """Run m is drawn by its own random numbers: the first one is the same without the second."""
        with gpumc.folder() as folder:
            alone = simulate(folder, shape="[8, 6]", sweeps=1000, interval=20,
                                  more=self.MORE, beta="{values: [0.2]}")
            run = reader.read(alone).runs[0]
        for name, values in run.items():
            self.assertEqual(values.tobytes(), self.result.runs[0][name].tobytes(), name)


if __name__ == "__main__":
    device.require()
    cases.main()
