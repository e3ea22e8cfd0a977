"""Crossings of curves and transitions of the helicity modulus, as numbers: what tools/plot --transition and --helicity draw."""
import dataclasses

from .. import reader
from . import curves, helicity, transition


@dataclasses.dataclass(frozen=True)
class Jump:
    """T_KT and its error from two sizes of an XY model; NaN where it is not within the temperatures."""
    sides: tuple
    temperature: float
    error: float


def read_if_path(results):
    """Results and Curves, those given as paths read."""
    return [item if isinstance(item, curves.Curves) or hasattr(item, "summary") else reader.read(item) for item in results]


def crossings(results, quantity: str | None = None) -> dict:
    """Where curves of neighbouring sizes cross: {name: [transition.Crossing, ...]}, in the order of the sizes.

    `results`: one for each size, of gpumc.read() or paths. `quantity`: "binder" or "xi/L"; None: both, as far as the files have
    them. Each crossing has a `temperature` and the interval `lower` to `upper`, which holds the true one with `level` percent:
    68 where noise leaves both ends closed at two errors, otherwise a limit, or two, at 95 (docs/analysis.md). The name "all" has
    what is said of one temperature for all pairs together, if there are several.

    Raises transition.NotComparable if the files have no such curves in common."""
    names = {"Binder parameter": "binder", "correlation length over L": "xi/L"}
    if quantity not in (None, *names.values()):
        raise ValueError(f"quantity is {quantity!r}, but must be 'binder' or 'xi/L'")
    panels = [panel for panel in transition.panels(read_if_path(results)) if quantity in (None, names[panel.title])]
    if not panels:
        raise transition.NotComparable(f"not all files have {quantity}")
    found = {names[panel.title]: transition.statements(panel) for panel in panels}
    if sum(map(len, found.values())) > 1:
        found["all"] = transition.common(panels)
    return found


def helicity_transitions(results) -> list[Jump]:
    """T_KT of square XY models by the logarithmic corrections of Weber and Minnhagen (Phys. Rev. B 37, 5986 (1988)): a Jump for
    each pair of neighbouring sizes. `results` as for crossings()."""
    sizes = helicity.sizes(read_if_path(results))
    return [Jump((small.side, large.side), *map(float, helicity.transition_of(small, large)))
            for small, large in zip(sizes, sizes[1:])]
