"""Multicanonical runs that are killed or stopped, in iterations and in production, end with the numbers of the
uninterrupted run.

CTest: long, cases 1 s, methods 6 s
"""
import pathlib
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.program import OK, STOPPED
from support.resume import ResumeCase
from support.results import assert_same_numbers

CONFIG = """\
gpumc: 1
seed: 20180802
model: {name: ising2d, shape: [8, 8]}
algorithm:
  name: muca
  walkers: 700
  structure_factor: true
  iteration: {write_weights: true}
  production: {updates: 5e5}
output: run.h5
checkpoint: {every: 20 ms}
"""
UNIT = 2**26  # updates of all walkers together, on a CPU
# Walkers in a range, in which production has blocks of time.
FEW = CONFIG.replace("walkers: 700", "walkers: 40\n  range: {from: -1.9, to: 0.1}")
# The first units are those of Wang and Landau's scheme.
STARTED = CONFIG.replace("iteration: {", "iteration: {start: wang_landau, thermalization: 60, divergence: 1e-3, ")
STARTED = STARTED.replace("5e5", "1e4")
# Tables that are in different phases, including entering their windows.
TABLES = CONFIG.replace("model: {name: ising2d, shape: [8, 8]}", "model: {name: ea, shape: [8, 8]}")
TABLES = TABLES.replace("walkers: 700", "walkers: 96\n  samples: 2\n  range: {from: -1.0, to: 0.5}\n"
                        "  windows: {count: 2, overlap: 0.4}").replace("5e5", "3e5")
TABLES = TABLES.replace("iteration: {", "iteration: {divergence: 1e-2, ")
# Windows of both samples without states.
EMPTY = CONFIG.replace("model: {name: ising2d, shape: [8, 8]}", "model: {name: ea, shape: [4, 4], couplings: gaussian}")
EMPTY = EMPTY.replace("walkers: 700", "walkers: 96\n  samples: 2\n  bin: 1\n  windows: {count: 6}").replace("5e5", "3e4")
EMPTY = EMPTY.replace("iteration: {", "iteration: {divergence: 1e-2, ")
# Curves over a grid so long that they take several units of work, for one sample and for two.
CURVES = CONFIG.replace("  structure_factor: true\n", "  beta: {from: 0, to: 1, step: 1.25e-5}\n").replace("5e5", "1e3")
OF_SAMPLES = CURVES.replace("model: {name: ising2d, shape: [8, 8]}", "model: {name: ea, shape: [8, 8]}")
OF_SAMPLES = OF_SAMPLES.replace("walkers: 700", "walkers: 96\n  samples: 2\n  range: {from: -1.0, to: 0.5}")
OF_SAMPLES = OF_SAMPLES.replace("iteration: {", "iteration: {divergence: 1e-2, ")
# The same in bins, of which samples have means.
OF_BINS = OF_SAMPLES.replace("samples: 2", "samples: 2\n  bin: 4").replace("1.25e-5", "1e-4")
# Iterations that are longer than units.
COUNTING = CONFIG.replace("iteration: {", "iteration: {updates: 3e4, divergence: 1e-2, ").replace("5e5", "1e3")
COUNT = 3  # enum muca_phase


class Resumed(ResumeCase):
    def setUp(self):
        super().setUp()
        self.use(CONFIG)

    def test_reference_has_everything(self):
        for name in ("runs/0000/iterations/log_weight", "summary/log_dos", "summary/log_dos_error",
                     "summary/visits", "summary/correlation_length", "summary/entropy"):
            self.assertIn(name, self.reference)

    def test_tells_another_run_apart(self):
        self.tell_another_seed_apart()

    def test_killed_at_random_instants(self):
        for run in cases.of(self.KILLED):
            self.kill_at_random_instants(run)

    def test_stopped_after_every_unit(self):
        self.stop_after_every_unit(3)

    def test_few_walkers_in_a_range(self):
        self.use(FEW)
        self.stop_after_every_unit(1)

    def test_windows_and_samples(self):
        self.use(TABLES)
        self.stop_after_every_unit(1)

    def test_windows_without_states(self):
        self.use(EMPTY)
        with h5py.File(self.path("whole.h5")) as file:
            self.assertTrue((file["samples/empty_windows"][:] > 0).all())
        self.stop_after_every_unit(1)

    def stop_between_curves(self, text, samples, points=80001):
        """Continues from a checkpoint that has all walks and no curves: one unit after the other, each kept."""
        self.use(text)
        for stops in range(1000):
            process = self.start("run", self.config, "--max-time", "1 ms", "--threads", 1)
            process.communicate(timeout=300)
            if process.returncode == OK:
                break
            self.assertEqual(process.returncode, STOPPED)
            with h5py.File(self.path("run.h5.ckpt")) as file:
                reweighted = int(file["muca/reweighted"][0, 0])
                ends = len(file["muca/curves_value"]) if reweighted > 0 else 0
            self.assertEqual(reweighted, ends)
            self.seen.append(reweighted)
        assert_same_numbers(self, self.reference, self.path("run.h5"))
        between = sorted(set(self.seen) - {0, samples * points})
        self.assertGreaterEqual(len(between), 2)
        self.assertEqual(self.seen, sorted(self.seen))

    def test_stopped_between_curves(self):
        self.seen = []
        self.stop_between_curves(CURVES, 1)

    def test_stopped_between_curves_of_samples(self):
        self.seen = []
        self.stop_between_curves(OF_SAMPLES, 2)

    def test_stopped_between_curves_in_bins(self):
        self.seen = []
        self.stop_between_curves(OF_BINS, 2, 10001)
        self.assertIn("samples/energy_bin_mean", self.reference)

    def test_from_wang_and_landaus_weights(self):
        self.use(STARTED)
        with h5py.File(self.path("whole.h5")) as file:
            updates = file["runs/0000/start/updates"][-1]
        self.assertGreater(updates, 2.5 * UNIT / 700)
        self.stop_after_every_unit(1)

    def test_checkpoint_of_before_curves_were_in_them(self):
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        with h5py.File(self.path("run.h5.ckpt"), "r+") as file:
            self.assertEqual(file["muca/reweighted"][0, 0], 0)
            del file["muca/reweighted"]
        self.seal()
        self.finish()

    def stop_while_counting(self):
        for _ in range(100):
            self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
            with h5py.File(self.path("run.h5.ckpt")) as file:
                phase, left, *_ = file["muca/progress"][0]
                if phase == COUNT and file["muca/visits"][0].sum() > 0:
                    self.assertEqual(file["muca/visits"][1:].sum(), 0)
                    return
        self.fail("no iteration was interrupted")

    def change_visits(self, change):
        with h5py.File(self.path("run.h5.ckpt"), "r+") as file:
            file["muca/visits"][:] = change(file["muca/visits"][:])
        self.seal()

    def test_visits_of_an_iteration_in_several_parts(self):
        """As left by programs that also counted blocks of walkers separately in iterations; control: a part that is
        lost."""
        def spread(visits):
            parts = len(visits)
            shares = [visits[0] // parts + (visits[0] % parts > part) for part in range(parts)]
            self.assertEqual(sum(shares).tolist(), visits[0].tolist())
            return shares

        for lost in (False, True):
            with self.subTest(lost=lost):
                self.use(COUNTING)
                self.stop_while_counting()
                self.change_visits(lambda visits: spread(visits)[:-1] + [0 * visits[0]] if lost else spread(visits))
                self.gpumc("run", self.config)
                if lost:
                    with self.assertRaises(AssertionError):
                        assert_same_numbers(self, self.reference, self.path("run.h5"))
                else:
                    assert_same_numbers(self, self.reference, self.path("run.h5"))
                self.path("run.h5").unlink()

    def test_more_curves_than_there_are(self):
        self.use(CURVES)
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        self.change("muca/reweighted", (0, 0), 10**9)
        self.assertIn("more curves than the run", self.gpumc("run", self.config, code=1).err)

    def test_checkpoint_that_contradicts_itself(self):
        self.gpumc("run", self.config, "--max-time", "1 ms", code=STOPPED)
        self.change("muca/progress", (0, 2), 999)
        self.assertIn("are inconsistent", self.gpumc("run", self.config, code=1).err)


if __name__ == "__main__":
    device.require()
    cases.main()
