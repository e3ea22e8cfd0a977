"""The tables of docs/performance.md that come from benchmarks/results.json, each between its marks:

    <!-- table: NAME -->
    ...
    <!-- end -->

A table is rows of text and of cells that look a number up, of the newest version that has it, on one machine. What no machine
has measured is empty. A number with a note in the file gets a star, and the note stands below the table.
"""
import dataclasses
import json
import math
import os
import re

import benchmark_results as results
from benchmark_cases import BY_NAME

MARK = re.compile(r"^(<!-- table: ([\w-]+) -->\n)(.*?)^(<!-- end -->)$", re.S | re.M)
EPYC, XEON, H200, H100 = "AMD EPYC (Zen 5)", "Intel(R) Xeon(R) Processor (family 6, model 207)", "NVIDIA H200", "NVIDIA H100"
FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "benchmarks")
SETS = {"x86-64-v4": "AVX-512", "x86-64-v3": "AVX2", "x86-64-v2": "SSE4"}
COUNTED = "x86-64-v3", "x86-64-v2"  # valgrind has no AVX-512
DIGITS = 3


class TableError(Exception):
    """A page asks for a table that there is not, or lacks one."""


@dataclasses.dataclass(frozen=True)
class Where:
    """A place where cases are measured."""
    device: str
    machine: str
    isa: str = ""
    threads: int = 0


def core(machine, isa="x86-64-v4", threads=1):
    return Where("cpu", machine, isa, threads)


ON_H200, ON_H100 = Where("cuda", H200), Where("cuda", H100)


@dataclasses.dataclass(frozen=True)
class Cell:
    """The median of a case. `per`: this divided by the rate, a time."""
    case: str
    where: Where
    per: float = 0.0
    digits: int = DIGITS

    def row(self, rows):
        return results.find(rows, self.case, self.where)

    def text(self, rows):
        row = self.row(rows)
        if row is None:
            return ""
        value = self.per / row["median"] if self.per else row["median"]
        return number(value, self.digits, None if self.per or results.is_measured(row) else row["median"])

    def notes(self, rows):
        row = self.row(rows)
        return [row["note"]] if row and "note" in row else []


@dataclasses.dataclass(frozen=True)
class Gain:
    """By how much a case is faster than another."""
    case: str
    other: str
    where: Where

    def text(self, rows):
        found = [results.find(rows, name, self.where) for name in (self.case, self.other)]
        return f"{100 * (found[0]['median'] / found[1]['median'] - 1):+.0f} %" if all(found) else ""

    def notes(self, _):
        return []


def number(value, digits=DIGITS, known=None):
    """So many digits, but no more than a number has that was carried over, `known`."""
    decimals = max(0, digits - 1 - math.floor(math.log10(value)))
    text = f"{value:.{decimals}f}"
    return text if known is None else min(text, f"{known}", key=len)


def line(cells):
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


@dataclasses.dataclass(frozen=True)
class Table:
    head: tuple
    rows: tuple  # of text, Cell and Gain
    stars: bool = True

    def text(self, rows):
        notes, lines = [], [line(self.head), line(["---"] * len(self.head))]
        lines += [line([self._cell(cell, rows, notes) for cell in row]) for row in self.rows]
        if notes:
            lines += ["", *("\\*" * place + f" {note}" for place, note in enumerate(notes, 1))]
        return "\n".join(lines) + "\n"

    def _cell(self, cell, rows, notes):
        if isinstance(cell, str):
            return cell
        text = cell.text(rows)
        for note in cell.notes(rows) if self.stars else ():
            if note not in notes:
                notes.append(note)
            text += " " + "\\*" * (1 + notes.index(note))
        return text


# --- the tables -------------------------------------------------------------------------------------

def _summary():
    one = core(EPYC)

    def row(what, kernel, cpu, cuda):
        return what, f"`{kernel}`", Cell(cpu, one, digits=2) if cpu else "", Cell(cuda, ON_H200) if cuda else ""

    return Table(("what you simulate", "kernel", "one core", "one H200"), (
        row("2D Ising, many replicas of 64^2 (`pa`, theta = 100)", "multispin", "pa-64-R20000-theta-100", "pa-64-R100000-theta-100"),
        row("3D Ising, many replicas of 16^3", "multispin", "multispin-cube-16", "multispin-cube-16"),
        row("spin glass, ±J, 16^3, a sample in each bit", "multispin", "multispin-ea-16", "multispin-ea-16"),
        row("spin glass, Gaussian couplings, 8^3", "spin", None, "spin-gaussian-8"),
        row("`pt` of ±J glasses 8^3, an exchange every ten sweeps", "multispin", "pt-ea-8-exchange-10", "pt-ea-8-exchange-10"),
        row("one large 2D Ising lattice (1024^2 on a core, 65536^2 on the H200)", "packed", "packed-1024-R1", "packed-65536-R1"),
        row("Swendsen-Wang, 2D Ising, many replicas of 64^2", "spin", None, "sw-64x64"),
        row("Heisenberg spins, 16^3, Metropolis", "float", "heisenberg-16-metropolis", "heisenberg-16-metropolis"),
        row("hard disks, 256^2 on a core, 1024^2 on the H200", "checkerboard", "disks-256-R1", "disks-1024-R1"),
        row("`muca`, 2D Ising, L = 32", "walker", "muca-32-rate", "muca-32-rate")), stars=False)


def _square(machine):
    variants = ["-beta-0.2", "", "-beta-1", "-field", "-7-rounds"]
    return Table(("kernel", "level", "beta = 0.2", "0.44", "1.0", "h = 0.3", "7 rounds", "two threads"), tuple(
        (kernel, f"{isa} ({SETS[isa]})" if kernel == "multispin" else isa,
         *(Cell(f"{kernel}-64{variant}", core(machine, isa)) for variant in variants), Cell(f"{kernel}-64", core(machine, isa, 2)))
        for kernel in ("multispin", "spin") for isa in SETS))


def _annealing(machine):
    return Table(("theta", "one thread", "two threads"), tuple(
        (str(theta), *(Cell(f"pa-64-R20000-theta-{theta}", core(machine, threads=threads)) for threads in (1, 2))) for theta in (1, 10, 100)))


def _few(machine):
    sizes = [("`ising2d`, 64^2", "64", "1"), ("128^2", "128", "1"), ("256^2", "256", "1"), ("1024^2", "1024", "1"), ("`ising3d`, 64^3", "cube-64", "1"),
             ("", "cube-64", "4"), ("", "cube-64", "16"), ("128^3", "cube-128", "1"), ("", "cube-128", "16")]
    return Table(("", "R", "multispin", "spin", "packed"), tuple(
        (label, replicas, *(Cell(f"{kernel}-{name}-R{replicas}", core(machine)) for kernel in ("multispin", "spin", "packed")))
        for label, name, replicas in sizes))


def _cubes(machine):
    lines = [("`ising3d`, beta = 0.22", "8^3", "multispin-cube-8"), ("", "16^3", "multispin-cube-16"),
             ("`ea` +-J, one sample, beta = 0.9", "8^3", "multispin-ea-8"), ("", "16^3", "multispin-ea-16"),
             ("`pt` of `ea`, whole runs, 1024 samples, two copies, 20 temperatures, no exchange", "8^3", "pt-ea-8-exchange-0"),
             ("the same, one exchange in ten sweeps", "8^3", "pt-ea-8-exchange-10")]
    return Table(("", "lattice", "one thread", "two"), tuple(
        (label, lattice, *(Cell(name, core(machine, threads=threads)) for threads in (1, 2))) for label, lattice, name in lines))


def _levels(machine, names):
    return Table(("", *SETS), tuple((BY_NAME[name].what, *(Cell(name, core(machine, isa)) for isa in SETS)) for name in names))


def _others(machine):
    names = [case.name for case in BY_NAME.values() if case.cpu is not None and re.match(r"(sw|wolff|heisenberg|disks|muca)-", case.name)]
    return Table(("", "one core", "unit"), tuple((BY_NAME[name].what, Cell(name, core(machine)), BY_NAME[name].unit) for name in names))


def _few_on_gpu():
    def rate_and_time(kernel, length):
        cells = [Cell(f"{kernel}-{length}-R1", ON_H200, per=per) for per in (0, length ** 2 / 1000)]
        return [dataclasses.replace(cells[0], digits=2 if length < 1024 else 3), dataclasses.replace(cells[1], digits=2)]

    return Table(("`ising2d`, R = 1", "packed", "us", "spin", "us"), tuple(
        (f"{length}^2", *rate_and_time("packed", length), *(rate_and_time("spin", length) if length <= 1024 else ("", "")))
        for length in (64, 128, 256, 512, 1024, 2048, 4096, 8192)))


def _many_on_gpu():
    replicas = 1, 5, 20, 60, 100
    return Table(("256^2", "R = 1", *map(str, replicas[1:])), tuple(
        (kernel, *(Cell(f"{kernel}-256-R{count}", ON_H200) for count in replicas)) for kernel in ("packed", "spin")))


def _cubes_on_gpu():
    cubes = {16: (1, 8), 32: (1, 8), 48: (1, 8), 64: (1, 4, 16, 32), 96: (1, 8), 128: (1, 4, 16), 192: (1, 8)}
    return Table(("", "R", "multispin", "spin", "packed"), tuple(
        (f"{length}^3" if place == 0 else "", str(count),
         *(Cell(f"{kernel}-cube-{length}-R{count}", ON_H200) for kernel in ("multispin", "spin", "packed")))
        for length, counts in cubes.items() for place, count in enumerate(counts)))


def _annealing_on_gpu():
    goals = {("64", 1): "1.2", ("64", 10): "0.40", ("64", 100): "0.30", ("64", 500): "0.28", ("128", 1): "1.2", ("128", 10): "0.40",
             ("128", 100): "0.30", ("spin", 100): "1.5"}
    rivals = {("64", 1): "6.91", ("64", 10): "1.09", ("64", 100): "0.479", ("64", 500): "0.420", ("spin", 10): "3.71", ("spin", 100): "3.05"}
    lines = []
    for label, (kernel, length, replicas), thetas in (("64", ("multispin", "64", "100000"), (1, 10, 100, 500)),
                                                      ("128", ("", "128", "50000"), (1, 10, 100)), ("spin", ("spin", "64", "50000"), (1, 10, 100))):
        for theta in thetas:
            name = f"pa-{length}-R{replicas}-theta-{theta}" + ("-spin" if label == "spin" else "")
            lines.append((*((kernel, length, replicas) if theta == 1 else ("", "", "")), str(theta), Cell(name, ON_H200, per=1000),
                          Cell(name, ON_H200), goals.get((label, theta), ""), rivals.get((label, theta), "")))
    return Table(("kernel", "L", "R", "theta", "ps/flip", "flips/ns", "goal", "PAising"), tuple(lines))


def _tempering_on_gpu():
    lines = [("8^3, 1024", "pt-ea-8"), ("8^3, 4096", "pt-ea-8-S4096"), ("16^3, 512", "pt-ea-16-S512")]
    return Table(("lattice, samples", "ps/flip, no exchange", "one exchange in ten sweeps", "more"), tuple(
        (label, *(Cell(f"{name}-exchange-{every}", ON_H200, per=1000) for every in (0, 10)),
         Gain(f"{name}-exchange-0", f"{name}-exchange-10", ON_H200)) for label, name in lines))


def _seven_rounds():
    lines = [("`multispin`, H200", "64^2, 100,000", "multispin-64", ON_H200), ("`packed`, H200", "65536^2, 1", "packed-65536-R1", ON_H200),
             ("`multispin`, one core with AVX-512", "64^2, 8192", "multispin-64", core(EPYC)),
             ("`spin`, one core with AVX-512", "64^2, 8192", "spin-64", core(EPYC))]
    return Table(("kernel", "lattice, replicas", "ten rounds", "seven", ""), tuple(
        (label, work, Cell(name, where), Cell(f"{name}-7-rounds", where), Gain(f"{name}-7-rounds", name, where))
        for label, work, name, where in lines))


def _other_kernels():
    lines = [("`ea`, ±J, 8^3", "ea-8"), ("`ea`, Gaussian couplings, 8^3, one sample", "gaussian-8"), ("the same, 16^3, 8192 replicas", "gaussian-16"),
             ("the same, 64^2, 8192 replicas", "gaussian-64-square"), ("`ising3d`, 16^3", "cube-16"), ("`ising2d`, 64^2", "square-64")]
    return Table(("", "`spin`", "`walker`"), tuple(
        (label, Cell("spin-64" if name == "square-64" else f"spin-{name}", ON_H200), Cell(f"walker-{name}", ON_H200)) for label, name in lines))


def _large():
    packed = [(65536, "65536^2"), (8192, "8192^2, in strips"), (4096, "4096^2"), (2048, "2048^2"), (1024, "1024^2")]
    lines = [("`packed`" if length == 65536 else "", label, f"packed-{length}-R1") for length, label in packed]
    lines += [("`tiled`, k = 1 hit" if hits == 1 else f"k = {hits}", "16384^2" if hits == 1 else "", f"tiled-16384-{hits}-hits")
              for hits in (1, 2, 5, 10, 20, 50, 100)]
    return Table(("kernel", "lattice", "flips/ns", "ps/flip"), tuple(
        (kernel, lattice, Cell(name, ON_H200), Cell(name, ON_H200, per=1000)) for kernel, lattice, name in lines))


def _clusters(short):
    lines = [("Ising, `spin`", "64^2", "20,000", "64x64"), ("", "128^2", "2048" if short == "wolff" else "5000", "128x128"),
             ("", "1024^2", "132", "1024x1024"), ("", "4096^2", "1", "4096x4096"), ("", "64^3", "256", "64x64x64"), ("", "256^3", "1", "256x256x256"),
             ("Heisenberg, `float`", "16^3", "4096", "heisenberg-16"), ("", "64^3", "64", "heisenberg-64"),
             ("XY, `float`, beta = 1.12", "64^2", "4096", "xy-64"), ("", "1024^2", "1", "xy-1024")]
    lines = [line for line in lines if getattr(BY_NAME.get(f"{short}-{line[3]}"), "cuda", None) is not None]
    places = (ON_H200, ON_H100) if short == "sw" else (ON_H200,)
    return Table(("spins", "lattice", "replicas", *("H200", "H100")[:len(places)]), tuple(
        (*line[:3], *(Cell(f"{short}-{line[3]}", place) for place in places)) for line in lines))


MAIN = ("multispin-64", "spin-64", "multispin-cube-16", "multispin-ea-16", "packed-1024-R1", "packed-65536-R1", "tiled-1024-1-hits", "sw-64x64",
        "wolff-64x64", "heisenberg-16-metropolis", "disks-256-R1", "disks-1024-R1", "pa-64-R20000-theta-1", "pa-64-R20000-theta-10",
        "pa-64-R20000-theta-100", "pa-64-R100000-theta-1", "pa-64-R100000-theta-10", "pa-64-R100000-theta-100", "pa-default-job",
        "pt-ea-8-exchange-10", "muca-32-rate", "muca-32-converged")


class Releases:
    """The main cases on every machine, a column for each version: median, lowest to highest, commit."""

    def text(self, rows):
        shown = [row for row in rows if row["case"] in MAIN and row.get("threads", 1) == 1]
        shown = [row for row in shown if row.get("isa", "") == self._best(shown, row)]
        versions = sorted({row["version"] for row in shown}, key=results.numbers)
        lines = [line(("case", "on", "unit", *versions)), line(["---"] * (3 + len(versions)))]
        for case in MAIN:
            for machine in sorted({row["machine"] for row in shown if row["case"] == case}):
                of = {row["version"]: row for row in shown if (row["case"], row["machine"]) == (case, machine)}
                cells = (self._of(of[version]) if version in of else "" for version in versions)
                lines.append(line((BY_NAME[case].what, machine, BY_NAME[case].unit, *cells)))
        return "\n".join(lines) + "\n"

    def _best(self, rows, row):
        return max(other.get("isa", "") for other in rows if (other["case"], other["machine"]) == (row["case"], row["machine"]))

    def _of(self, row):
        spread = f" ({row['spread'][0]:g} to {row['spread'][1]:g})" if results.is_measured(row) else ""
        return f"{row['median']:g}{spread}, `{results.short(row['commit'])}`" + ("" if results.is_measured(row) else " \\*")


class Instructions:
    """Of an update, as tools/count-instructions has recorded them."""

    def text(self, _):
        with open(os.path.join(FOLDER, "instructions.json"), encoding="utf-8") as file:
            counts = json.load(file)["counts"]
        compilers = sorted({row["compiler"] for row in counts})
        of = {(row["case"], row["compiler"], row["isa"]): f"{row['instructions']:g}" for row in counts}
        lines = [line(("instructions of an update", *(f"{SETS[isa]}, {compiler}" for compiler in compilers for isa in COUNTED))),
                 line(["---"] * (1 + len(COUNTED) * len(compilers)))]
        lines += [line((f"`{case}`", *(of.get((case, compiler, isa), "") for compiler in compilers for isa in COUNTED)))
                  for case in dict.fromkeys(row["case"] for row in counts)]
        return "\n".join(lines) + "\n"


TABLES = {
    "summary": _summary(), "releases": Releases(), "instructions": Instructions(),
    "square-epyc": _square(EPYC), "annealing-epyc": _annealing(EPYC), "few-epyc": _few(EPYC), "cubes-epyc": _cubes(EPYC),
    "square-xeon": _square(XEON), "annealing-xeon": _annealing(XEON), "few-xeon": _few(XEON), "cubes-xeon": _cubes(XEON),
    "tiled-xeon": _levels(XEON, [name for name in BY_NAME if re.match(r"tiled-(1024|cube)", name)]), "others-xeon": _others(XEON),
    "few-h200": _few_on_gpu(), "many-h200": _many_on_gpu(), "few-cubes-h200": _cubes_on_gpu(), "annealing-h200": _annealing_on_gpu(),
    "tempering-h200": _tempering_on_gpu(), "seven-rounds": _seven_rounds(), "other-kernels-h200": _other_kernels(), "large-h200": _large(),
    "swendsen-wang": _clusters("sw"), "wolff": _clusters("wolff"),
}


def fill(text, rows):
    """The page with its tables."""
    marks = list(MARK.finditer(text))
    for mark in marks:
        if "<!-- table: " in mark[3]:
            raise TableError(f"table {mark[2]} has no line <!-- end -->")
    found = [mark[2] for mark in marks]
    wrong = {name for name in {*found, *TABLES} if found.count(name) != 1 or name not in TABLES}
    if wrong:
        raise TableError(f"tables that the page should have once, or that tools/benchmark_tables.py lacks: {', '.join(sorted(wrong))}")
    return MARK.sub(lambda mark: mark[1] + TABLES[mark[2]].text(rows) + mark[4], text)
