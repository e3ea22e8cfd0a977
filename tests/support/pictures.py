"""Short runs with fixed seeds whose results have everything that gpumc.plot draws, and the comparison of a picture with a reference."""
import numpy as np

# Of the blur in pixels: letters are drawn a little differently by every version of Matplotlib and FreeType.
BLUR = 3
DPI = 40

HEAD = "gpumc: 1\nseed: 20\n"
CONFIGS = {
    "pa": """\
title: 2D Ising, population annealing
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: pa, population: 1000, sweeps: 5, beta: {from: 0, to: 0.6, step: 0.02}, runs: 2,
            reweight: {from: 0.40, to: 0.48, step: 0.01}}
""",
    "muca": """\
title: 2D Ising, density of states
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: muca, walkers: 256, beta: {from: 0, to: 1, step: 0.02}, iteration: {divergence: 1e-3}}
""",
    "pt": """\
title: 2D Ising, parallel tempering
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: pt, beta: {from: 0.3, to: 0.6, count: 8}, tune: {sweeps: 2000}, samples: 16, thermalization: 100, sweeps: 4000,
            exchange_every: 10}
""",
    "series": """\
title: 2D Ising, time series
model: {name: ising2d, shape: [16, 16]}
algorithm: {name: canonical, beta: {values: [0.3, 0.42, 0.5]}, replicas: 4, update: metropolis, thermalization: 200, sweeps: 4000,
            interval: 2, series: true, configurations: {every: 4000}}
""",
    "xy": """\
title: XY model
model: {name: heisenberg, components: 2, shape: [16, 16]}
algorithm: {name: canonical, beta: {from: 0.9, to: 1.25, count: 6}, replicas: 2, thermalization: 100, sweeps: 2000, interval: 5,
            helicity_modulus: true, configurations: {every: 2000}}
""",
    "xy-small": """\
title: XY model
model: {name: heisenberg, components: 2, shape: [8, 8]}
algorithm: {name: canonical, beta: {from: 0.9, to: 1.25, count: 6}, replicas: 2, thermalization: 100, sweeps: 2000, interval: 5,
            helicity_modulus: true}
""",
    "heisenberg": """\
title: 3D Heisenberg
model: {name: heisenberg, shape: [8, 8, 8]}
algorithm: {name: canonical, beta: {values: [0.5, 1.2]}, replicas: 1, thermalization: 100, sweeps: 200, interval: 5,
            configurations: {every: 200}}
""",
    "disks": """\
title: Hard disks
model: {name: hard_disks, particles: 64, packing_fraction: 0.7}
algorithm: {name: mpmc, replicas: 2, thermalization: 200, sweeps: 1000, interval: 10, configurations: {every: 1000}}
""",
    "disks-dilute": """\
title: Hard disks
model: {name: hard_disks, particles: 64, packing_fraction: 0.65}
algorithm: {name: mpmc, replicas: 2, thermalization: 200, sweeps: 1000, interval: 10}
""",
    "glass-4": """\
title: +-J spin glass
model: {name: ea, shape: [4, 4, 4], disorder_seed: 7}
algorithm: {name: pt, beta: {from: 0.4, to: 1.0, count: 8}, samples: 64, replicas: 2, sweeps: 2048, exchange_every: 8,
            measure_every: 8}
""",
    "glass-6": """\
title: +-J spin glass
model: {name: ea, shape: [6, 6, 6], disorder_seed: 7}
algorithm: {name: pt, beta: {from: 0.4, to: 1.0, count: 8}, samples: 64, replicas: 2, sweeps: 2048, exchange_every: 8,
            measure_every: 8}
""",
    **{f"critical-{side}": f"""\
title: 2D Ising, L = {side}
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: canonical, beta: {{from: 0.42, to: 0.46, count: 9}}, replicas: 32, thermalization: 1000, sweeps: 4000, interval: 5}}
""" for side in (8, 12, 16)},
    **{f"clusters-{side}": f"""\
title: 2D Ising, clusters
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: canonical, beta: {{values: [0.44068679350977]}}, replicas: 8, update: swendsen_wang, thermalization: 100, sweeps: 2000}}
""" for side in (4, 8, 16)},
}


def config(name, output):
    return f"{HEAD}{CONFIGS[name]}output: {output}\n"


def distance(one, other):
    """Root mean square of the difference of two pictures, arrays [height, width, channels] of 0 to 1, in steps of 255, after a blur;
    infinite if their sizes differ by more than a fiftieth."""
    if any(abs(a - b) > max(a, b) / 50 + 1 for a, b in zip(one.shape, other.shape)):
        return np.inf
    height, width = (min(pair) for pair in list(zip(one.shape, other.shape))[:2])
    away = 255 * (one[:height, :width, :3].astype(float) - other[:height, :width, :3])
    return float(np.sqrt(np.mean(blurred(away) ** 2)))


def blurred(values):
    """Means over squares of BLUR pixels."""
    for axis in (0, 1):
        sums = np.cumsum(values, axis=axis)
        values = (np.take(sums, range(BLUR, sums.shape[axis]), axis) -
                  np.take(sums, range(sums.shape[axis] - BLUR), axis)) / BLUR
    return values


# --- pictures without words ---------------------------------------------------------------------------

def words_of(figure):
    """The texts of a figure, in the order of its axes: titles, labels, legends, annotations, without numbers of ticks."""
    found = [figure._suptitle.get_text()] if figure._suptitle else []
    for axes in figure.axes:
        legend = axes.get_legend()
        texts = [axes.get_title(loc=where) for where in ("left", "center", "right")] + [axes.get_xlabel(), axes.get_ylabel()]
        texts += [text.get_text() for text in (legend.get_texts() if legend else [])] + [text.get_text() for text in axes.texts]
        found += [text for text in texts if text]
    return found


def strip_words(figure):
    """Takes texts, legends and colour bars out of a figure and puts its axes on a plain grid: the room that texts need depends on the
    versions of Matplotlib and FreeType, what is left does not."""
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text
    from matplotlib.ticker import NullFormatter
    figure.set_layout_engine("none")
    if hasattr(figure, "panels_width"):  # without the room for legends
        figure.set_figwidth(figure.panels_width)
    figure.set_size_inches((np.round(figure.get_size_inches() * DPI) + 0.01) / DPI)  # whole pixels
    for axes in list(figure.axes):
        if axes.get_label() == "<colorbar>":
            axes.remove()
        elif axes.get_subplotspec() is not None:
            axes.set_position(axes.get_subplotspec().get_position(figure))
    for axes in figure.findobj(lambda artist: hasattr(artist, "xaxis")):
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(NullFormatter())
            axis.set_minor_formatter(NullFormatter())
        if axes.get_legend():
            axes.get_legend().remove()
    for text in figure.findobj(Text):
        text.set_text("")
    for axes in figure.axes:  # lines from a part to its larger view, which versions place differently
        for mark in list(axes.get_children()):
            if type(mark).__name__ in ("ConnectionPatch", "InsetIndicator") or (isinstance(mark, Rectangle) and
                                                                                mark.get_alpha() == 0.9):
                mark.remove()


def disturb(figure):
    """What a comparison has to see: of each panel one curve by a tenth of its height too high, of maps all sites by one place."""
    for axes in figure.axes:
        for image in axes.get_images():
            image.set_data(np.roll(image.get_array(), 1, axis=1))
        for collection in axes.collections:
            if collection.get_array() is not None:
                collection.set_array(np.roll(collection.get_array(), 1))
        lines = [line for line in axes.get_lines() if line.get_transform() is axes.transData and len(line.get_xdata()) > 2]
        for line in lines[:1]:
            low, high = axes.transData.transform([(1, end) for end in axes.get_ylim()])[:, 1]
            places = axes.transData.transform(np.column_stack([np.asarray(part, dtype=float) for part in line.get_data()]))
            line.set_ydata(axes.transData.inverted().transform(places + [0, 0.1 * (high - low)])[:, 1])
