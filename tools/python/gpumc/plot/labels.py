"""Words of a picture: symbols and units set as mathematics, titles, and what tells several files apart.

Results declare the symbol of every quantity as plain text, such as `<m^2>`, `U_4` or `βF/N` (docs/file-format.md). Pictures
set it as a formula of Matplotlib's mathtext, without LaTeX.
"""
import json
import math
import os
import re
import textwrap

from .. import files

TITLE_WIDTH = 46  # characters of a panel's title
LEGEND_WIDTH = 40  # characters of a legend's entry; longer ones give way to shorter ones, then to file names

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "κ": "kappa", "λ": "lambda",
          "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi",
          "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma",
          "Υ": "Upsilon", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"}
_WORDS = {"ln": r"\ln", "log": r"\log", "max": r"\max", "min": r"\min", "sum": r"\sum", "exp": r"\exp", "Re": r"\mathrm{Re}",
          "Im": r"\mathrm{Im}", "kT": r"k_\mathrm{B}T"}
_TOKEN = re.compile(r"(?P<script>[_^](?:\{[^{}]*\}|[A-Za-z]+|\d+|[^\W\d_]))|(?P<word>[A-Za-z]{2,})|(?P<greek>[" + "".join(_GREEK) +
                    r"])|(?P<space>\s+)|(?P<star>\*)|(?P<other>.)")
_POWER = re.compile(r"(?<=[A-Za-z])([2-9])\b")


# --- symbols and units -----------------------------------------------------------------------------

def symbol(text):
    """A declared symbol as mathematics: "<m^2>" becomes "$\\langle m^2\\rangle$". Text that makes no formula stays as it is."""
    text = text.strip()
    if not text:
        return ""
    return drawable(f"${_formula(text)}$", otherwise=text)


def _formula(text):
    parts = []
    for match in _TOKEN.finditer(text):
        kind, found = match.lastgroup, match.group()
        parts.append(_of_kind(kind, found, parts))
    return "".join(parts).strip()


def _of_kind(kind, found, before):
    if kind == "script":
        return found[0] + "{" + _script(found[1:].strip("{}")) + "}"
    if kind == "word":
        return _WORDS.get(found, rf"\mathrm{{{found}}}") + " "
    if kind == "greek":
        return f"\\{_GREEK[found]} "
    if kind == "space":
        return r"\," if before else ""
    if kind == "star":
        return "^{*}"
    return {"<": r"\langle ", ">": r"\rangle ", "%": r"\%", "#": r"\#", "&": r"\&"}.get(found, found)


def _script(text):
    if text in _GREEK:
        return "\\" + _GREEK[text]
    return text if len(text) == 1 or not text.isalpha() else rf"\mathrm{{{text}}}"


def units(label):
    """The units of a Label for brackets, "" where it has none: diameters2 becomes a square, k_B has its index set."""
    if label.units in ("", "1"):
        return ""
    text = _POWER.sub(r"$^\1$", label.units.replace("(J)^2", "J$^2$"))
    return drawable(text.replace("k_B", r"$k_\mathrm{B}$").replace("kT", r"$k_\mathrm{B}T$"), otherwise=label.units)


def quantity(label):
    """Symbol and units of a Label, for an axis: "⟨e⟩ [J]"; the units alone where it has no symbol."""
    parts = symbol(label.symbol), units(label)
    return f"{parts[0]} [{parts[1]}]" if all(parts) else "".join(parts)


def axis(label):
    """Name, symbol and units of a Label, for the axis that others are drawn over."""
    name = prose(until_comma(label.long_name))
    return wrapped(" ".join(dict.fromkeys(part for part in (name, quantity(label)) if part)))


def heading(label):
    """The long name of a Label without what follows its first comma, in lines, for the title of a panel."""
    return wrapped(prose(until_comma(label.long_name)) or symbol(label.symbol))


def until_comma(text):
    """What stands before the first comma that is in no brackets: the name, without its definition."""
    return re.split(r",\s(?![^()]*\))", text)[0]


def wrapped(text):
    """In lines of TITLE_WIDTH characters, none of which ends within a formula."""
    formulas = re.findall(r"(?<!\\)\$[^$]*(?<!\\)\$", text)
    for formula in formulas:  # a stand-in of about the width that is seen
        width = len(re.sub(r"\\[a-z]+|[\s{}$^_]", "", formula)) + len(re.findall(r"\\(?!mathrm|,)[a-z]+", formula))
        text = text.replace(formula, "\0" * max(width, 1), 1)
    found = iter(formulas)
    return re.sub("\0+", lambda _: next(found), textwrap.fill(text, TITLE_WIDTH, break_long_words=not formulas))


def prose(text):
    """Words of a configuration or a result with the formulas in them set: "+-J" and "±J", psi_6, q_i, <m^2>."""
    if "$" in text:
        return drawable(text)
    text = re.sub(r"(?:\+-|±|\+/-)\s?J\b", r"$\\pm J$", text)
    text = re.sub(r"<[^<>\s]+>(?:\^\d)?", lambda match: symbol(match.group()), text)
    words = re.split(r"(\$[^$]*\$)", text)
    words[::2] = [re.sub(r"(?<!\w)(?:psi|[^\W\d_])_\w\b", lambda match: symbol(match.group().replace("psi", "ψ")), part)
                  for part in words[::2]]
    return drawable("".join(words))


def drawable(text, otherwise=None):
    """`text` as Matplotlib can draw it; else `otherwise`, or the text with its dollar signs standing for themselves."""
    from matplotlib.mathtext import MathTextParser
    try:
        MathTextParser("agg").parse(text)
    except ValueError:
        return (text if otherwise is None else otherwise).replace("$", r"\$")
    return text


# --- titles and legends -----------------------------------------------------------------------------

def title_of(results):
    """The title of a picture: that of the configuration, else the file's name."""
    title = prose(results[0].title or files.printable(os.path.basename(results[0].path)))
    return title + " and others" if len({result.title for result in results}) > 1 else title


def of_files(results):
    """An entry of the legend for each of several files: the keys in which their configurations differ, as "$L = 16$", else the
    file names."""
    flat = [flatten(result.config) for result in results]
    keys = sorted({key for config in flat for key in config} - {"output", "title"}, key=_rank)
    differing = [key for key in keys if len({json.dumps(config.get(key)) for config in flat}) > 1]
    for chosen in (differing, _fewest(flat, differing)):
        labels = [", ".join(setting(key, config.get(key)) for key in chosen) for config in flat]
        if len(set(labels)) == len(results) and max(map(len, labels)) <= LEGEND_WIDTH:
            return labels
    return [drawable(files.printable(os.path.basename(result.path))) for result in results]


def _rank(key):
    """Sizes first, then the model, the algorithm, and seeds last."""
    first = ["model.name", "model.shape", "model.particles", "model.lattice", "model.packing_fraction"]
    rooms = ["model", "algorithm", "kernel"]
    room = key.split(".")[0]
    return (first.index(key) if key in first else len(first), rooms.index(room) if room in rooms else len(rooms), key)


def _fewest(flat, differing):
    """Keys, in their order, each of which tells some files apart that those before it do not."""
    chosen, known = [], 1
    for key in differing:
        count = len({json.dumps([config.get(k) for k in [*chosen, key]]) for config in flat})
        if count > known:
            chosen, known = [*chosen, key], count
    return chosen


def flatten(tree, prefix=""):
    """{"model.shape": [16, 16], ...} of a configuration."""
    flat = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, prefix + key + "."))
        else:
            flat[prefix + key] = value
    return flat


def setting(key, value):
    """One key of a configuration with its value, for a legend or a caption."""
    name = key.split(".")[-1]
    if name == "shape" and value:
        return f"$L = {value[0]}$" if len(set(value)) == 1 else "$" + r" \times ".join(map(str, value)) + "$"
    if name == "lattice" and value:
        return f"$N = {math.prod(value)}$"
    if name == "couplings":
        return {"bimodal": r"$\pm J$", "gaussian": "Gaussian"}.get(value, f"couplings {value}")
    if name == "update" and isinstance(value, list):
        value = " + ".join(f"{sweeps} {move}" for turn in value for move, sweeps in turn.items())
    symbols = {"particles": "N", "packing_fraction": r"\phi", "components": "n", "h": "h", "J": "J", "population": "R",
               "sweeps": r"\theta" if "population" in key else None}
    if symbols.get(name) and isinstance(value, (int, float)):
        return f"${symbols[name]} = {value:g}$" if isinstance(value, float) else f"${symbols[name]} = {value}$"
    return drawable(f"{name} {'not set' if value is None else value}")


def size_of(result):
    """The size of a result's system: "$L = 16$", "$N = 256$", "" where the model has another way to say it."""
    model = result.config.get("model", {})
    for key in ("shape", "particles", "lattice"):
        if model.get(key):
            return setting("model." + key, model[key])
    return ""
