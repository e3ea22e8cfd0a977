"""benchmarks/results.json: the numbers of each release, as tools/benchmark writes them.

A row is one case on one machine, and of one version of gpumc: a later measurement of that version takes its place, so the
file keeps the last numbers of each release and Git what came before. It has one line for each row, in a fixed order.

    case, device, machine        as in benchmark_cases.py; "cpu" or "cuda"; name of the processor or card
    isa, threads                 of the CPU only
    version, commit, date        of the program that was measured, and the day
    unit, median, spread         spread: the lowest and the highest value
    repeats, values              values in the order in which they were measured
    compiler                     of the program
    source, note                 of rows that tools/benchmark has not measured: where the number stood, and what is special about it.
                                 Commit and date are then those of the line, and spread, values and compiler are missing.
"""
import datetime
import json
import math
import os
import re
import statistics

from benchmark_cases import UNITS

FORMAT = 1
DIGITS = 4  # of values
ORDER = ("case", "device", "machine", "isa", "threads", "version", "unit", "median", "spread", "repeats", "values", "commit",
         "date", "compiler", "source", "note")
ALWAYS = {"case", "device", "machine", "version", "unit", "median", "commit", "date"}
MEASURED, CARRIED = {"spread", "repeats", "values", "compiler"}, {"source"}
TYPES = {"threads": int, "repeats": int, "median": (int, float), "spread": list, "values": list}  # all others: str
PATTERNS = {"version": r"\d+\.\d+\.\d+", "commit": r"(v[\d.]*-\d*-g)?[0-9a-f]{7,40}|v\d+\.\d+\.\d+",
            "device": "cpu|cuda", "isa": r"x86-64-v\d|portable"}


class ResultsError(Exception):
    """The file is not what it should be; the message says where and why."""


def key(row):
    """What a later measurement takes the place of, and the order of the file."""
    return row["case"], row["device"], row["machine"], row.get("isa", ""), row.get("threads", 0), numbers(row["version"])


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def short(commit):
    """The hash of a commit, as far as tables have it; of v0.2.0-5-g0123abcd what follows the g."""
    return commit.rpartition("-g")[2][:8]


def is_measured(row):
    return "source" not in row


def rounded(value):
    """Fewer digits than a measurement has are readable, and more than it is good for are kept."""
    return float(f"{value:.{DIGITS}g}")


def measured_row(values, **of):
    """A row from the values of one case; `of` has the rest."""
    values = [rounded(value) for value in values]
    return {**of, "median": rounded(statistics.median(values)), "spread": [min(values), max(values)], "repeats": len(values),
            "values": values}


def read(path):
    """The rows; none where there is no file yet."""
    if not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except ValueError as reason:
        raise ResultsError(f"{path}: no JSON: {reason}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("rows"), list):
        raise ResultsError(f"{path}: expected an object with \"format\": {FORMAT} and a list \"rows\"")
    seen = {}
    for number, row in enumerate(data["rows"], 1):
        for mistake in mistakes(row):
            raise ResultsError(f"{path}: row {number}{_named(row)}: {mistake}")
        if key(row) in seen:
            raise ResultsError(f"{path}: row {number}{_named(row)}: the same case, machine and version as row {seen[key(row)]}")
        seen[key(row)] = number
    return data["rows"]


def _named(row):
    return f" ({row['case']})" if isinstance(row, dict) and isinstance(row.get("case"), str) else ""


def mistakes(row):
    """Yields what is wrong with a row, the first thing that matters first."""
    if not isinstance(row, dict):
        yield "expected an object"
        return
    carried = "source" in row
    missing = (ALWAYS | (set() if carried else MEASURED) | ({"isa", "threads"} if row.get("device") == "cpu" else set())) - set(row)
    foreign = set(row) - set(ORDER) | (set(row) & {"isa", "threads"} if row.get("device") == "cuda" else set())
    if not carried:
        foreign |= set(row) & {"note"}
    for name in (name for name in ORDER if name in missing):
        yield f"lacks \"{name}\""
    for name in sorted(foreign):
        yield f"has \"{name}\", which does not belong there"
    for name in ORDER:
        if name in row and (not isinstance(row[name], TYPES.get(name, str)) or isinstance(row[name], bool)):
            yield f"\"{name}\" has the wrong type: {json.dumps(row[name])}"
            return
        if name in PATTERNS and name in row and not re.fullmatch(PATTERNS[name], row[name]):
            yield f"\"{name}\" is {json.dumps(row[name])}, expected {PATTERNS[name]}"
    if missing or foreign:
        return
    if row["unit"] not in UNITS:
        yield f"\"unit\" is {json.dumps(row['unit'])}, expected one of {', '.join(UNITS)}"
    try:
        datetime.date.fromisoformat(row["date"])
    except ValueError:
        yield f"\"date\" is {json.dumps(row['date'])}, expected YYYY-MM-DD"
    for value in [row["median"], *row.get("spread", []), *row.get("values", [])]:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
            yield f"{json.dumps(value)} is no positive number"
            return
    if "values" in row:
        again = measured_row(row["values"]) if row["values"] else {"repeats": 0}
        for name in ("repeats", "spread", "median"):
            if row[name] != again.get(name, row[name]):
                yield f"\"{name}\" is {row[name]}, but the values give {again[name]}"


def merged(rows, new):
    """Rows with new ones in the place of those that they repeat, in the order of the file."""
    return sorted({key(row): row for row in [*rows, *new]}.values(), key=key)


def text(rows):
    lines = [json.dumps({name: row[name] for name in ORDER if name in row}, ensure_ascii=False) for row in sorted(rows, key=key)]
    return f'{{"format": {FORMAT}, "rows": [\n' + ",\n".join(lines) + "\n]}\n"


def write(path, rows):
    """In one step, so that nothing is lost where this ends in the middle."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    aside = os.path.join(folder, f".{os.path.basename(path)}.{os.getpid()}")
    with open(aside, "w", encoding="utf-8") as file:
        file.write(text(rows))
    os.replace(aside, path)


def find(rows, case, where):
    """The row of the newest version for a case at a place (benchmark_tables.Where), or None."""
    found = [row for row in rows if row["case"] == case and (row["device"], row["machine"]) == (where.device, where.machine)
             and row.get("isa", "") == where.isa and row.get("threads", 0) == where.threads]
    return max(found, key=lambda row: numbers(row["version"]), default=None)
