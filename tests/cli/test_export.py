"""gpumc export: CSV as Python's csv reads it has the numbers of the file as h5py reads them, bit for bit.

CTest: methods 5 s
"""
import csv
import os
import pathlib
import signal
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.program import FAILURE, INVALID, LONG, ProgramCase, stop, wait_for

CONFIG = """\
gpumc: 1
seed: 3
model: {model}
algorithm: {{{algorithm}}}
output: a.h5
"""
ISING = "{name: ising2d, shape: [8, 8]}"
CASES = {
    "pa": (ISING, "name: pa, population: 200, sweeps: 2, runs: 2, beta: {to: 0.5, step: 0.1}, reweight: {from: 0.1, to: 0.5, step: 0.1}"),
    "canonical": (ISING, "name: canonical, thermalization: 20, sweeps: 200, replicas: 4, series: true, beta: {values: [0.3, 0.4]}"),
    "pt": ("{name: ea, shape: [4, 4, 4]}", "name: pt, samples: 8, sweeps: 128, beta: {from: 0.3, to: 1, count: 3}"),
    "muca": (ISING.replace("8, 8", "4, 4"), "name: muca, walkers: 64, production: {updates: 20000}, beta: {from: 0, to: 1, step: 0.25}"),
    "mpmc": ("{name: hard_disks, particles: 64, packing_fraction: 0.3}", "name: mpmc, thermalization: 50, sweeps: 400, replicas: 2"),
    "field": (ISING, "name: canonical, thermalization: 20, sweeps: 200, control: {name: h, beta: 0.3, from: 0, to: 1, count: 3}"),
}


def read(text):
    """Titles, names and columns of a CSV text."""
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    titles = rows[0]
    assert all(len(row) == len(titles) for row in rows), "rows differ in length"
    names = [title.split(" [")[0] for title in titles]
    assert len(set(names)) == len(names), names
    return titles, {name: np.array([float(row[i]) for row in rows[1:]]) for i, name in enumerate(names)}


def is_axis(item):
    return item.attrs.get("CLASS") == b"DIMENSION_SCALE"


def numeric(item):
    return isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf" and item.dtype.itemsize > 1


class Export(ProgramCase):
    def result(self, name):
        model, algorithm = CASES[name]
        self.gpumc("run", self.write("c.yaml", CONFIG.format(model=model, algorithm=algorithm)), "--quiet", "--fresh")
        return self.path("a.h5")

    def same(self, dataset, column, name):
        values = dataset[()].astype(float).ravel()
        self.assertEqual(np.nan_to_num(values, nan=-1e300).tobytes(), np.nan_to_num(column, nan=-1e300).tobytes(), name)

    def check(self, file, tables):
        """Every dataset of numbers, axes too, stands in a table; errors stand after their values."""
        seen = set()
        for text in tables:
            group = text.split(":")[0]
            titles, columns = read(tables[text])
            names = list(columns)
            strangers, axes = set(), []
            for place, name in enumerate(names):
                item = file.get(f"{group}/{name}")
                if item is None:
                    strangers.add(name)
                    continue
                seen.add(item.name)
                units = item.attrs["units"]
                units = units.decode() if isinstance(units, bytes) else units
                self.assertEqual(titles[place], name if units in ("", "1") else f"{name} [{units}]")
                if is_axis(item):
                    continue
                axes = [item.dims[d] for d in range(item.ndim)]
                self.same(item, columns[name], f"{text} {name}")
                if name + "_error" in names:
                    self.assertEqual(names[place + 1], name + "_error")
                grids = np.meshgrid(*[axis[0][()].astype(float) if len(axis) else np.arange(n) for axis, n in
                                      zip(axes, item.shape)], indexing="ij") if item.ndim else []
                for axis, grid in zip(axes, grids):
                    if len(axis):
                        self.assertEqual(grid.ravel().tobytes(), columns[axis[0].name.split("/")[-1]].tobytes())
            # Axes of other groups, and those that dimensions lack.
            self.assertLessEqual({n for n in strangers if not n.startswith("index")},
                                 {axis[0].name.split("/")[-1] for axis in axes if len(axis)}, text)
        wanted = set()

        def visit(name, item):
            if numeric(item) and not name.startswith(("provenance", "configurations")) and not is_axis(item):
                wanted.add(item.name)
        file.visititems(visit)
        self.assertEqual(wanted - seen, set())

    def tables(self, path, *options):
        self.gpumc("export", path, "-o", "tables", "--fresh", *options)
        listed = [line.rsplit(": ", 1)[0] for line in self.gpumc("export", path, "--list").out.splitlines()]
        files = {name: self.path("tables") / (name.replace("/", "-").replace(":", "-").replace(",", "-") + ".csv") for name in listed}
        return {name: path.read_bytes().decode() for name, path in files.items()}

    def test_every_algorithm(self):
        for name in CASES:
            with self.subTest(algorithm=name):
                path = self.result(name)
                with h5py.File(path) as file:
                    tables = self.tables(path)
                    self.check(file, tables)
                    self.assertTrue(all(text.endswith("\r\n") for text in tables.values()))
                summary = [table for table in tables if table.split(":")[0] == "summary"]
                if len(summary) == 1:
                    self.assertEqual(self.stdout(path), tables["summary"])

    def stdout(self, *words):
        with open(self.path("out"), "wb") as out:
            process = self.start("export", *words, stdout=out)
            process.communicate(timeout=60)
        return self.path("out").read_bytes().decode()

    def test_control_is_seen(self):
        """The comparison finds a number that differs in its last bit."""
        path = self.result("field")
        tables = self.tables(path)
        name, text = next((n, t) for n, t in tables.items() if n == "summary")
        number = text.splitlines()[1].split(",")[2]
        changed = f"{np.nextafter(float(number), 1e9):.17g}"
        self.assertNotEqual(number, changed)
        tables[name] = text.replace(number, changed, 1)
        with h5py.File(path) as file, self.assertRaises(AssertionError):
            self.check(file, tables)

    def test_temperatures(self):
        path = self.result("pa")
        titles, columns = read(self.stdout(path, "-T"))
        self.assertEqual(titles[:2], ["beta [1/J]", "temperature [J]"])
        with np.errstate(divide="ignore"):
            self.assertEqual((1 / columns["beta"]).tobytes(), columns["temperature"].tobytes())
        self.assertEqual(columns["temperature"][0], np.inf)

    def test_merged(self):
        model, algorithm = CASES["canonical"]
        config = self.write("c.yaml", CONFIG.format(model=model, algorithm=algorithm.replace(", series: true", "")))
        for seed in (1, 2):
            self.gpumc("run", config, "-o", f"s{seed}.h5", "--set", f"seed={seed}", "--quiet")
        self.gpumc("merge", "all.h5", "s1.h5", "s2.h5")
        with h5py.File(self.path("all.h5")) as file:
            self.check(file, self.tables(self.path("all.h5")))

    def test_running(self):
        """A working file is read as far as it is, while the run writes it and after it was killed."""
        process = self.start("run", self.write("c.yaml", LONG), "--quiet")
        wait_for(self.path("small.h5.partial"), process)
        rows = 0
        for _ in range(200):
            done = self.start("export", "small.h5.partial", "runs/0000")
            out, _ = done.communicate(timeout=60)
            if done.returncode == 0:
                rows = len(out.splitlines()) - 1
            if rows > 0:
                break
        stop(process, signal.SIGKILL)
        self.assertGreater(rows, 0)
        out = self.gpumc("export", "small.h5.partial", "runs/0000").out
        _, columns = read(out)
        with h5py.File(self.path("small.h5.partial"), "r", swmr=True) as file:
            n = len(file["runs/0000/beta"])
            self.assertEqual(len(columns["energy"]), n)
            self.assertEqual(columns["energy"].tobytes(), file["runs/0000/energy"][:n].tobytes())
        self.assertIn("no table 'summary'", self.gpumc("export", "small.h5.partial", code=INVALID).err)

    def test_index_of_temperatures(self):
        """Beside temperatures it has another name than they."""
        path = self.result("pt")
        name = "runs/0000:sweep,temperature"
        self.assertEqual(read(self.stdout(path, name))[0][1], "temperature")
        self.assertEqual(read(self.stdout(path, name, "-T"))[0][1], "temperature_index")

    def test_only_regular_files_are_replaced(self):
        path = self.result("field")
        before = path.read_bytes()
        self.path("out").mkdir()
        os.symlink("../a.h5", self.path("out/summary.csv"))
        self.assertIn("a symbolic link", self.gpumc("export", path, "-o", "out", "--fresh", code=FAILURE).err)
        self.assertEqual(path.read_bytes(), before)
        self.path("out/summary.csv").unlink()
        os.mkfifo(self.path("out/summary.csv"))
        self.assertIn("not a regular file", self.gpumc("export", path, "-o", "out", "--fresh", code=FAILURE, timeout=20).err)
        self.assertEqual(self.names("out/*"), ["out/summary.csv"])

    def test_all_files_or_none(self):
        path = self.result("field")
        listed = self.gpumc("export", path, "--list").out.splitlines()
        self.assertGreater(len(listed), 1)
        self.assertIn("no table 'none'", self.gpumc("export", path, "summary", "none", "-o", "out", code=INVALID).err)
        self.assertIn("'summary' is named twice", self.gpumc("export", path, "summary", "summary", "-o", "out", code=INVALID).err)
        self.assertFalse(self.path("out").exists())
        self.gpumc("export", path, "summary", "-o", "out")
        self.gpumc("export", path, "-o", "out", code=FAILURE)
        self.assertEqual(self.names("out/*"), ["out/summary.csv"])
        self.gpumc("export", path, "-o", "out", "--fresh")
        self.assertEqual(len(self.names("out/*")), len(listed))

    def test_mistakes(self):
        path = self.result("field")
        self.assertIn("no table 'sumary'; it has", self.gpumc("export", path, "sumary", code=INVALID).err)
        self.assertIn("-o DIR for several", self.gpumc("export", path, "summary", "runs/0000/bins", code=INVALID).err)
        self.gpumc("export", path, "summary", "-o", "out")
        self.assertIn("--fresh replaces regular files", self.gpumc("export", path, "summary", "-o", "out", code=FAILURE).err)
        self.assertEqual(self.names("out/*"), ["out/summary.csv"])
        self.assertIn("no result file given", self.gpumc("export", code=INVALID).err)


if __name__ == "__main__":
    cases.main()
