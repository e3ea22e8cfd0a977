"""Runs of one job go side by side, in batches; each has the rows of the run with that number in a job of fewer runs,
and rows are complete whenever the job is stopped. Control: another run has other rows. However many runs there are, a
batch is small enough to stop soon and to fit into memory.

CTest: long, methods 6 s
"""
import json
import os
import pathlib
import resource
import sys
import time

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.program import STOPPED, ProgramCase
from support.results import numbers

CONFIG = """\
gpumc: 1
seed: 12
model: {{name: ising2d, shape: {shape}}}
algorithm:
  name: pa
  population: {population}
  sweeps: {sweeps}
  beta: {beta}
  runs: {runs}
  resampling: {resampling}
kernel: {{variant: {variant}}}
output: out.h5
checkpoint: {{every: 1 h}}
"""

USUAL = dict(shape="[8, 10]", population=201, sweeps=1, runs=5,
             beta="{to: 0.5, step: 0.05}", resampling="nearest_integer", variant="multispin")

# Approximate limits of one batch: updates of a temperature step, and bytes.
UPDATES, BYTES = 2 ** 35, 2 ** 28


class Batches(ProgramCase):
    def write_config(self, **changed):
        return self.write("c.yaml", CONFIG.format(**{**USUAL, **changed}))

    def rows(self, **changed):
        """Returns the numbers in runs/, by run."""
        self.gpumc("run", self.write_config(**changed), "--quiet")
        found = {}
        for name, values in numbers(self.path("out.h5")).items():
            if name.startswith("runs/"):
                _, run, table = name.split("/", 2)
                found.setdefault(run, {})[table] = values
        self.path("out.h5").unlink()
        return found

    def check(self, counts, **changed):
        many = self.rows(runs=max(counts), **changed)
        self.assertEqual(len(many), max(counts))
        self.assertNotEqual(many["0000"], many["0001"])
        for runs in counts:
            few = self.rows(runs=runs, **changed)
            self.assertEqual(len(few), runs)
            for run, tables in few.items():
                self.assertEqual(tables, many[run], f"run {run} of {runs}")

    def test_a_run_does_not_depend_on_those_beside_it(self):
        for variant in device.variants():
            if variant == "tiled":  # does not serve pa
                continue
            shape = "[64, 4]" if variant == "packed" else USUAL["shape"]
            for resampling in ["nearest_integer", "systematic"]:
                with self.subTest(variant=variant, resampling=resampling):
                    self.check([1, 2, 3, 5], variant=variant, shape=shape, resampling=resampling)

    def test_adaptive_runs(self):
        self.check([1, 2, 4], beta="{to: 0.5, overlap: 0.8}")

    def test_jobs_of_several_batches(self):
        """Two runs of this many replicas fill a batch, so the third is in another one."""
        self.check([1, 3], shape="[256, 256]", population=7000, beta="{to: 0.1, step: 0.1}")

    def test_rows_are_whole_at_every_stop(self):
        """A stopped job has as many rows as temperatures were done, in every run of the batch, and they are those of
        the finished job."""
        for beta in ["{to: 0.5, step: 0.1}", "{to: 0.4, overlap: 0.75}"]:
            with self.subTest(beta=beta):
                # The first adaptive run is alone.
                self.check_stops(self.write_config(runs=3, beta=beta), int("overlap" in beta))

    def check_stops(self, config, alone):
        self.gpumc("run", config, "-o", "whole.h5")
        whole = self.tables_of("whole.h5")
        units, before = 0, 0
        while self.one_unit(config):
            units += 1
            partial = self.tables_of("out.h5.partial")
            found = [len(tables["beta"]) for tables in partial]
            self.assertGreater(sum(found), before)
            before = sum(found)
            self.assertEqual(len(set(found[alone:])), 1, found)
            for m, tables in enumerate(partial):
                for name, values in tables.items():
                    expected = whole[m][name][:found[m]]
                    self.assertTrue(np.array_equal(values, expected, equal_nan=True), (m, name))
        self.assertGreaterEqual(units, 3)
        self.assertEqual(numbers(self.path("out.h5")), numbers(self.path("whole.h5")))
        self.path("out.h5").unlink()
        self.path("whole.h5").unlink()

    def plan(self, config):
        task, = json.loads(self.gpumc("plan", config, "--json").out)["tasks"]
        return task

    def test_batches_are_bounded(self):
        for shape, population, sweeps, runs in [
                ([2, 2], 100, 1, 65535), ([2, 2], 20, 0, 65535), ([4, 4], 10000, 1, 10000),
                ([4, 4], 10000, 10000, 10000), ([64, 64], 1000, 500, 300),
                ([64, 64], 100, 1, 10000), ([256, 256], 1000, 1, 20),
                ([1024, 1024], 1000, 100, 3)]:
            with self.subTest(shape=shape, population=population, sweeps=sweeps, runs=runs):
                task = self.plan(self.write_config(shape=shape, population=population, runs=runs,
                                                   sweeps=sweeps, beta="{to: 0.1, step: 0.1}"))
                sites = shape[0] * shape[1]
                self.check_batch(task, runs, sites, population * sites * sweeps)

    def check_batch(self, task, runs, sites, updates):
        together = task["runs_at_once"]
        # Twice in portable form, two channels of 8 bytes and 24 of bookkeeping.
        replicas = task["capacity"] * (2 * ((sites + 7) // 8) + 40)
        self.assertGreaterEqual(together, 1)
        self.assertLess(together, runs)
        if together > 1:
            self.assertLessEqual(together * updates, UPDATES)
            self.assertLessEqual(together * replicas, BYTES)
            self.assertLessEqual(task["ensemble_bytes"], 2 * BYTES)
        # No fewer than that: if there are few replicas, the sums of 64 blocks take the most memory.
        block_sums = 3 * 64 * 168
        self.assertTrue((together + 1) * updates > UPDATES or
                        (together + 1) * (replicas + block_sums) > BYTES)

    def test_many_runs_stop_soon(self):
        """One second of work, then the step in progress, of at most UPDATES; five for the rest."""
        config = self.write_config(shape=[64, 64], population=1000, sweeps=500, runs=300,
                                   beta="{to: 0.5, step: 0.01}")
        task = self.plan(config)
        unit = task["runs_at_once"] * 1000 * 500 * 64 * 64
        self.assertLessEqual(unit, UPDATES)
        longest = 1 + 4 * unit / task["estimated_updates_per_second"] + 5
        self.assertLess(self.seconds_of("run", config, "--max-time", "1 s", code=STOPPED), longest)

    def seconds_of(self, *arguments, **options):
        """Measured as the rate is estimated: on the CPU, all of which it uses, by the processors' time."""
        begin, worked = time.monotonic(), processor_seconds()
        self.gpumc(*arguments, **options)
        if device.NAME == "cpu":
            return (processor_seconds() - worked) / len(os.sched_getaffinity(0))
        return time.monotonic() - begin

    def tables_of(self, name):
        with h5py.File(self.path(name)) as file:
            return [columns(file, m) for m in range(3)]


def processor_seconds():
    """For all commands that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def columns(file, m):
    """Returns the tables of one run, by name of the column; without the axis of blocks."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and name != "blocks/block":
            found[name] = item[...]

    file[f"runs/{m:04d}"].visititems(visit)
    return found


if __name__ == "__main__":
    device.require()
    cases.main()
