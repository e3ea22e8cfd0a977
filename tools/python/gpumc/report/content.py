"""The parts of a report: what ran, whether it is trusted, pictures, numbers, provenance, works to cite."""
from __future__ import annotations

import csv
import io
import json
import math

import numpy

from .. import measured
from . import bibliography, page, trust

MOST_ROWS = 25  # of a table; all are in the file that it offers
MOST_BYTES = 2000000  # of a file to save in the page
TABLES = ("reweighted",)  # groups of the summary that are shown as tables; others are in the files to save
MOST_COLUMNS = 5  # quantities of a table, so that it fits on paper
FIRST = ("energy", "specific_heat", "abs_magnetization", "magnetization2", "binder_parameter", "abs_overlap", "overlap2", "binder_overlap",
         "correlation_length_overlap", "pressure", "density", "packing_fraction", "psi6", "beta_free_energy", "entropy")
BOOKKEEPING = ("converged", "determined", "equilibrated", "effective_families", "visits", "log_weight")
UNITS_OF_TIME = ((86400, "d"), (3600, "h"), (60, "min"))


def what_ran(result):
    """Model, algorithm and machine in a table, and the configuration as it was written."""
    model, algorithm, provenance = (result.config.get("model", {}), result.config.get("algorithm", {}), result.provenance)
    rows = [("model", f"<b>{page.text(model.get('name', ''))}</b>{details(model)}"),
            ("algorithm", f"<b>{page.text(algorithm.get('name', ''))}</b>{details(algorithm)}"),
            ("kernel", page.text(f"{provenance.get('kernel', '')} on {provenance.get('device', '')}")),
            *([("runs", page.text(algorithm["runs"]))] if "runs" in algorithm else []),
            ("seed", page.text(result.config.get("seed", "")))]
    if "seconds" in provenance:
        unit = provenance.get("update_unit", "flips")
        rate = provenance.get("update_rate")
        rows.append(("computed", page.text(f"{provenance.get('start', '')} to {provenance.get('end', '')}: {time(provenance['seconds'])}")
                     + (f", {provenance.get('updates', 0):.3g} {page.text(unit)}, {rate:.3g} a second" if rate else "")))
    rows.append(("file", f"<code>{page.text(result.path)}</code>"))
    source = result.source or json.dumps(result.config, indent=2)
    return (page.facts(rows) + page.folded("The configuration as it was written", f"<pre>{page.text(source)}</pre>") +
            page.folded("With every default", f"<pre>{page.text(json.dumps(result.config, indent=2))}</pre>"))


def details(block):
    """The keys of a block that hold plain values, in one line."""
    kept = [f"{name} {value if not isinstance(value, list) else ' x '.join(map(str, value))}" for name, value in block.items()
            if name != "name" and not isinstance(value, (dict, bool)) and value not in (None, "")
            and not (isinstance(value, list) and len(value) > 4)]
    spans = [f"{name} {value['from']} to {value['to']}" for name, value in block.items()
             if isinstance(value, dict) and {"from", "to"} <= set(value)]
    return f"<br><span class=\"soft\">{page.text(', '.join(kept + spans))}</span>" if kept or spans else ""


def time(seconds):
    for size, unit in UNITS_OF_TIME:
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def is_it_trusted(result):
    kind, headline, reasons = trust.verdict(result)
    body = "".join(f"<p>{page.text(reason[:1].upper() + reason[1:])}.</p>" if not reason.endswith(".") else f"<p>{page.text(reason)}</p>"
                   for reason in reasons)
    rows = trust.evidence(result)
    return (f'<div class="verdict {kind}"><b>{headline}</b>{body}</div>' +
            (page.facts([(name, f"{page.text(value)} <span class=\"soft\">{page.text(meaning)}</span>") for name, value, meaning in rows])
             if rows else ""))


# --- numbers ------------------------------------------------------------------------------------------------

def numbers(result):
    """Tables of the summary and of the groups in it, one for each axis, with as many quantities as fit beside each other."""
    axes = {}
    for name in result.summary:
        label = result.labels[name]
        if numpy.ndim(result.summary[name]) == 1 and label.axes and label.axes[0] in result.summary and name.removesuffix("_error") == name:
            axes.setdefault((name.rpartition("/")[0], label.axes[0]), []).append(name)
    parts = [scalars(result)]
    for (group, axis), names in axes.items():
        rows = chosen_rows(len(result.summary[axis]))
        shown = sorted((name for name in names if own_name(name) not in BOOKKEEPING and not own_name(name).endswith("_bin_width")), key=place)
        shown = shown if not group or group in TABLES else []
        for first in range(0, len(shown), MOST_COLUMNS):
            parts.append(table(result, group, axis, shown[first:first + MOST_COLUMNS], rows))
        parts.append(under_tables(result, group, axis, names, rows if shown else None))
    return "".join(parts)


def under_tables(result, group, axis, names, rows):
    """How many rows are shown, and all of them to save."""
    text = as_csv(result, axis, names)
    count = len(result.summary[axis])
    where = f"{group}, over {own_name(axis)}: " if group else ""
    if rows is None:
        words = f"{page.text(where)}{count} rows. "
    else:
        words = (f"{len(rows)} of {count} rows are shown. " if len(rows) < count else "") + \
            "Digits in parentheses are the standard error of the last digits, (?) is an unknown one. "
    if len(text) > MOST_BYTES:
        return f'<p class="soft">{words}All rows are too many for this page: <code>gpumc export {page.text(result.path)} --csv</code>.</p>'
    name = f"{group}-{own_name(axis)}.csv".lstrip("-").replace("/", "-")
    return f'<p class="soft">{words}{page.download(name, text, "All rows in full precision (CSV)")}</p>'


def own_name(name):
    """Without its group."""
    return name.rpartition("/")[2]


def scalars(result):
    """Quantities without an axis."""
    found = [name for name in result.quantities() if "/" not in name and numpy.ndim(result.summary[name]) == 0 and name not in BOOKKEEPING]
    found.sort(key=place)
    return page.facts([(result.labels[name].long_name or name, value(result, name, ())) for name in found]) if found else ""


def place(name):
    """Of a quantity among the others."""
    return FIRST.index(own_name(name)) if own_name(name) in FIRST else len(FIRST), name


def chosen_rows(count):
    """Rows at equal distances, with both ends."""
    if count <= MOST_ROWS:
        return list(range(count))
    return sorted({round(k * (count - 1) / (MOST_ROWS - 1)) for k in range(MOST_ROWS)})


def table(result, group, axis, names, rows):
    labels = [result.labels[name] for name in [axis] + names]
    heads = [f"{page.symbol(label.symbol or name)}{unit(label)}" for name, label in zip([axis] + names, labels)]
    body = [[page.text(f"{result.summary[axis][row]:.6g}")] + [value(result, name, row) for name in names] for row in rows]
    caption = ", ".join(label.long_name.split(",")[0] or name for name, label in zip(names, labels[1:]))
    return page.table(f"{group}: {caption}" if group else caption, heads, body)


def unit(label):
    return f" <span class=\"soft\">[{page.symbol(label.units)}]</span>" if label.units not in ("", "1") else ""


def value(result, name, row):
    number = numpy.asarray(result.summary[name])[row]
    error = result.summary.get(name + "_error")
    if error is None:
        return page.text(f"{number:.7g}")
    error = numpy.asarray(error)[row]
    return "\u2013" if math.isnan(number) else page.text(measured.text(number, error))


def as_csv(result, axis, names):
    columns = [axis] + [column for name in names for column in (name, name + "_error") if column in result.summary]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(own_name, columns))
    writer.writerows(zip(*([repr(float(x)) for x in result.summary[column]] for column in columns)))
    return out.getvalue()


# --- provenance ---------------------------------------------------------------------------------------------

def provenance(result):
    rows = [(name, page.text(f"{value:.6g}" if isinstance(value, float) else value)) for name, value in sorted(result.provenance.items())
            if name != "citations" and not isinstance(value, numpy.ndarray)]
    return page.facts(rows)


def works(results):
    """What to cite: the papers of the models and algorithms, and the program."""
    bibtex = list(dict.fromkeys(entry for result in results for entry in split(result.provenance.get("citations", ""))))
    found = [entry for text in bibtex for entry in bibliography.entries(text)]
    if not found:
        return ""
    versions = sorted({str(result.provenance.get("program_version", "")) for result in results})
    items = "".join(f"<li>{bibliography.reference(entry, page.text)}</li>" for entry in found)
    return (f'<p>The methods of these results, and gpumc {page.text(", ".join(versions))} itself (its file CITATION.cff).</p>'
            f'<ol class="works">{items}</ol>' + page.folded("BibTeX", f"<pre>{page.text(chr(10).join(bibtex))}</pre>"))


def split(bibtex):
    """Entries of a BibTeX text."""
    return [("@" + entry).strip() for entry in str(bibtex).split("@") if entry.strip()]
