"""Pictures of results.

    import gpumc
    from gpumc import plot

    result = gpumc.read("results/ising2d-first.h5")
    for picture in plot.catalogue(result):                   # what can be drawn of this file
        print(picture.kind, picture.title, picture.caption)
    figure = plot.draw("summary", [result], x="T")           # a matplotlib Figure
    plot.save(figure, "summary.pdf")

The program is `gpumc-plot`, and tools/plot in the sources (docs/pictures.md).
"""
from . import collapse
from .axes import Options
from .kinds import KINDS, Picture, catalogue, draw
from .refusal import Refusal
from .style import save, used

__all__ = ["KINDS", "Options", "Picture", "Refusal", "catalogue", "collapse", "draw", "save", "used"]
