"""compare(): whether two results agree within their errors, as `gpumc compare` finds it."""
from __future__ import annotations

import dataclasses
import json
import os
import typing

from . import program as programs

if typing.TYPE_CHECKING:
    import pandas

DIFFERENT = 1  # exit code: the results are not compatible


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two results beside each other. `p`: probability of such differences by chance, of all quantities together (Bonferroni);
    `compatible`: whether it is above `alpha`; `remarks` on the files, `configuration`: keys that differ. `quantities` is a
    pandas.DataFrame with a row for each quantity (points, chi_square, p), `points` one with a row for each point
    (control, a, a_error, b, b_error, and the difference in standard errors; of profiles also the place along their axis)."""
    compatible: bool
    identical: bool
    p: float
    alpha: float
    remarks: list[str]
    configuration: list[str]
    quantities: pandas.DataFrame
    points: pandas.DataFrame


def compare(a: str | os.PathLike[str], b: str | os.PathLike[str], *, alpha: float | None = None, group: str | None = None,
            program: str | os.PathLike[str] | None = None) -> Comparison:
    """Compare two results: what both have, at the values of the control that both have (docs/statistics.md#comparing).

    alpha   results count as different where all differences together are less probable than this; 0.01 without
    group   curves of a group of the summary, such as "reweighted"

    Raises ProgramError with the program's message if there is nothing to compare, or a file is none.
    """
    import pandas

    options = [f"--{name}={value}" for name, value in (("alpha", alpha), ("group", group)) if value is not None]
    done = programs.called(programs.find(program), "compare", os.fspath(a), os.fspath(b), "--json", *options)
    if done.returncode not in (0, DIFFERENT) or not done.stdout.startswith("{"):
        raise programs.ProgramError(done.stderr.strip() or f"gpumc exited with code {done.returncode}", done.returncode)
    found = json.loads(done.stdout)
    columns = ("control", "place", "a", "a_error", "b", "b_error", "difference")
    points = [pandas.DataFrame({"quantity": one["name"], **{name: one[name] for name in columns if name in one}})
              for one in found["quantities"]]
    quantities = pandas.DataFrame([{name: value for name, value in one.items() if name not in columns} for one in found["quantities"]])
    return Comparison(found["compatible"], found["identical"], found["p"], found["alpha"], found["remarks"], found["configuration"],
                      quantities.set_index("name"), pandas.concat(points, ignore_index=True))
