"""Exact pressures of hard disks, and small runs that measure them.

Near close packing Z = [1 + (N - 1) (2/a + 1.90 + 0.67 a)] / N, a = V/V_0 - 1 (Alder, Hoover and Young, J. Chem. Phys. 49,
3688 (1968)). Two disks in a box have Z_2 = V (V - pi). For three, with one at the origin and one at u, the third is free
in V - 2 pi + sum over images of the lens in which two circles of radius 1 at the distance u overlap: Z_3 is one integral,
and both pressures are the derivative of ln Z_N by V at constant shape.
"""
import math

import h5py
import numpy as np
from scipy import integrate

from support import device
from support.program import OK, ProgramCase

CONFIG = """\
gpumc: 1
seed: {seed}
model: {{name: hard_disks, {model}}}
algorithm: {{name: mpmc, {times}, replicas: {replicas}}}
kernel: {{move_size: {size}}}
output: r.h5
"""
CLOSEST = math.pi / math.sqrt(12)


def free_volume(fraction, disks):
    a = CLOSEST / fraction - 1
    return (1 + (disks - 1) * (2 / a + 1.90 + 0.67 * a)) / disks * fraction * 4 / math.pi


def lens(distance):
    """Returns the area in which two circles of radius 1 overlap."""
    return 2 * math.acos(distance / 2) - distance / 2 * math.sqrt(4 - distance**2)


def missing(distance, image):
    """Returns the angle, at a distance from a disk, that is within 1 of its image so far away."""
    if image - distance >= 1:
        return 0.0
    return 2 * math.acos(min(1.0, (image**2 + distance**2 - 1) / (2 * image * distance)))


def states(disks, width, height):
    """Returns Z_N of two or three disks."""
    volume, across = width * height, math.hypot(width, height)
    if disks == 2:
        return volume * (volume - math.pi)

    def ring(r):
        return r * lens(r) * (2 * math.pi - 2 * missing(r, width) - 2 * missing(r, height) - 4 * missing(r, across))
    ends = [1, *sorted({d - 1 for d in (width, height, across) if 1 < d - 1 < 2}), 2]
    lenses = sum(integrate.quad(ring, a, b, epsabs=1e-12, limit=200)[0] for a, b in zip(ends, ends[1:]))
    return volume * ((volume - math.pi) * (volume - 2 * math.pi) + lenses)


def pressure(disks, box, step=1e-4):
    """The derivative of ln Z_N by V, from above, since sides must be at least 2."""
    at = [math.log(states(disks, *(side * math.sqrt(1 + k * step) for side in box))) for k in range(5)]
    return (-25 * at[0] + 48 * at[1] - 36 * at[2] + 16 * at[3] - 3 * at[4]) / 12 / (step * box[0] * box[1])


class PressureCase(ProgramCase):
    def summary(self, model, times, size, replicas=8, seed=48):
        """Returns the summary's numbers and attributes, with `contact` and `scaling`, the extrapolations over 0.02."""
        text = CONFIG.format(model=model, times=times, size=size, replicas=replicas, seed=seed)
        self.gpumc("run", "--fresh", "--quiet", "--device", device.NAME, self.write("c.yaml", text), code=OK)
        with h5py.File(self.path("r.h5")) as file:
            summary = file["summary"]
            found = {name: float(value[()]) for name, value in summary.items() if isinstance(value, h5py.Dataset)}
            for name in ("contact", "scaling"):
                of_replicas = file["runs/0000/replicas"][name][()]
                found[name], found[name + "_error"] = of_replicas.mean(), of_replicas.std(ddof=1) / np.sqrt(len(of_replicas))
            return found, dict(summary.attrs)


def off_by(found, exact):
    """Returns the deviations of both pressures in errors."""
    return {name: (found[name] - exact) / found[name + "_error"] for name in ("pressure", "pressure_scaling")}
