"""What tools/benchmark measures: CASES, one list for all devices.

A `Bench` is a call of `gpumc bench`, a `Run` a whole `gpumc run`. `cpu` and `cuda` are what a device adds: options of the
bench, or keys of the configuration; None where a case is not for that device. On CPUs each of `settings` is measured, an
instruction set ("best": the highest of the machine) and a number of threads. A case keeps its name and its work: numbers of two
releases are compared by it. One whose work changes gets another name.
"""
import dataclasses
import json

ONE, TWO = ("best", 1), ("best", 2)
LEVELS = (("x86-64-v4", 1), ("x86-64-v3", 1), ("x86-64-v2", 1))
LEVELS_AND_TWO = (*LEVELS, *((isa, 2) for isa, _ in LEVELS))
CRITICAL, CRITICAL_3D = "0.44068679", "0.2216546"
UNITS = {"flips/ns": "more", "trials/ns": "more", "s": "less"}  # which is better


class CaseError(Exception):
    """The program answered something else than was asked for."""


@dataclasses.dataclass(frozen=True)
class Bench:
    name: str
    what: str
    arguments: str
    cpu: str | None = None
    cuda: str | None = None
    settings: tuple = (ONE,)
    unit: str = "flips/ns"
    rng: str = "philox4x32-10"
    repeats: int = 5

    def value(self, report):
        """The median rate of one call, from what it printed as JSON."""
        rates = [rate for rate in report["rates"] if rate["rng"] == self.rng]
        key, scale = ("median_flips_per_ns", 1) if self.unit == "flips/ns" else ("median_trials_per_second", 1e-9)
        if len(rates) != 1 or key not in rates[0]:
            raise CaseError(f"expected one rate in {self.unit}, found {json.dumps(report['rates'])}")
        return rates[0][key] * scale


QUANTITIES = {  # of the result's provenance and the seconds from start to exit
    "units": lambda provenance, _: provenance["updates"] / provenance["seconds_units"] * 1e-9,  # first temperature to last
    "file": lambda provenance, _: provenance["updates"] / provenance["seconds"] * 1e-9,  # to the closed file
    "sweeps": lambda provenance, _: provenance["updates"] / provenance["seconds_sweep"] * 1e-9,
    "walks": lambda provenance, _: provenance["updates"] / provenance["seconds_iteration"] * 1e-9,  # where a production is short
    "iterations": lambda provenance, _: provenance["seconds_iteration"],
    "process": lambda _, seconds: seconds,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    name: str
    what: str
    config: dict
    quantity: str
    cpu: dict | None = None
    cuda: dict | None = None
    settings: tuple = (ONE,)
    unit: str = "flips/ns"
    repeats: int = 3

    def value(self, provenance, seconds):
        try:
            return QUANTITIES[self.quantity](provenance, seconds)
        except (KeyError, ZeroDivisionError):
            raise CaseError(f"its provenance does not give the quantity `{self.quantity}`") from None


def _pa(length, population, theta, step=0.02):
    return {"gpumc": 1, "seed": 1, "model": {"name": "ising2d", "shape": [length, length]},
            "algorithm": {"name": "pa", "population": population, "sweeps": theta, "beta": {"from": 0, "to": 1, "step": step}},
            "output": "result.h5"}


def _pt(exchange_every, length=8, samples=1024):
    return {"gpumc": 1, "seed": 1, "model": {"name": "ea", "shape": [length] * 3},
            "algorithm": {"name": "pt", "samples": samples, "replicas": 2, "sweeps": 2000, "exchange_every": exchange_every,
                          "measure_every": 100, "beta": {"from": 0.5, "to": 1.2, "count": 20}}, "output": "result.h5"}


def _muca(length, **keys):
    return {"gpumc": 1, "seed": 5, "model": {"name": "ising2d", "shape": [length, length]},
            "algorithm": {"name": "muca", "production": {"updates": 1000, "measurements": 100}, **keys}, "output": "result.h5"}


def _multispin_and_spin():
    """The square lattice: temperatures, a field, seven rounds."""
    variants = {"": ("beta = 0.44", ""), "-beta-0.2": ("beta = 0.2", "--beta 0.2"), "-beta-1": ("beta = 1", "--beta 1"),
                "-field": ("h = 0.3", "--set model.h=0.3"), "-7-rounds": ("seven rounds of Philox", "--rng")}
    for kernel, many in ("multispin", 100000), ("spin", 65536):
        for suffix, (what, words) in variants.items():
            yield Bench(f"{kernel}-64{suffix}", f"`ising2d`, 64^2, `{kernel}`, {what}", f"--kernel {kernel} --shape 64x64 {words}",
                        cpu="--population 8192", cuda=f"--population {many}" if suffix in ("", "-7-rounds") else None,
                        settings=LEVELS_AND_TWO if suffix == "" else LEVELS,
                        rng="philox4x32-7" if suffix == "-7-rounds" else "philox4x32-10")


def _few_replicas():
    for length in 64, 128, 256, 1024:
        for kernel in "multispin", "spin", "packed":
            yield Bench(f"{kernel}-{length}-R1", f"one lattice of {length}^2, `{kernel}`",
                        f"--kernel {kernel} --shape {length}x{length} --population 1", cpu="", cuda="" if kernel != "multispin" else None)
    for length in 512, 2048, 4096, 8192, 65536:
        for kernel in ("spin", "packed") if length == 512 else ("packed",):
            yield Bench(f"{kernel}-{length}-R1", f"one lattice of {length}^2, `{kernel}`",
                        f"--kernel {kernel} --shape {length}x{length} --population 1", cuda="")
    yield Bench("packed-65536-R1-7-rounds", "one lattice of 65536^2, `packed`, seven rounds of Philox",
                "--kernel packed --shape 65536x65536 --population 1 --rng", cuda="", rng="philox4x32-7")
    for replicas in 5, 20, 60, 100:
        for kernel in "spin", "packed":
            yield Bench(f"{kernel}-256-R{replicas}", f"{replicas} lattices of 256^2, `{kernel}`",
                        f"--kernel {kernel} --shape 256x256 --population {replicas}", cuda="")
    cubes = {16: (1, 8), 32: (1, 8), 48: (1, 8), 64: (1, 4, 16, 32), 96: (1, 8), 128: (1, 4, 16), 192: (1, 8)}
    for length, of_replicas in cubes.items():
        for replicas in of_replicas:
            for kernel in "multispin", "spin", "packed":
                if kernel == "packed" and length % 64 != 0 or kernel == "spin" and (length, replicas) == (48, 1):
                    continue
                yield Bench(f"{kernel}-cube-{length}-R{replicas}", f"`ising3d`, {length}^3, R = {replicas}, `{kernel}`",
                            f"--model ising3d --kernel {kernel} --shape {length}x{length}x{length} --population {replicas} --beta 0.22",
                            cpu="" if (length, replicas) in ((64, 1), (64, 4), (64, 16), (128, 1), (128, 16)) else None, cuda="")


def _three_dimensions():
    for length in 8, 16:
        shape = f"--shape {length}x{length}x{length}"
        yield Bench(f"multispin-cube-{length}", f"`ising3d`, {length}^3, `multispin`", f"--model ising3d --kernel multispin {shape} --beta 0.22",
                    cpu="--population 8192", cuda="--population 65536", settings=(ONE, TWO))
        yield Bench(f"multispin-ea-{length}", f"`ea`, +-J, {length}^3, `multispin`", f"--model ea --kernel multispin {shape} --beta 0.9",
                    cpu="--population 8192", cuda="--population 65536", settings=(ONE, TWO))
    for name, what, words, kernels in (
            ("ea-8", "`ea`, +-J, 8^3", "--model ea --shape 8x8x8 --beta 0.9 --population 65536", "spin walker"),
            ("gaussian-8", "`ea`, Gaussian couplings, 8^3",
             "--model ea --set model.couplings=gaussian --shape 8x8x8 --beta 0.9 --population 65536", "spin walker"),
            ("gaussian-16", "`ea`, Gaussian couplings, 16^3",
             "--model ea --set model.couplings=gaussian --shape 16x16x16 --beta 0.9 --population 8192", "spin"),
            ("gaussian-64-square", "`ea`, Gaussian couplings, 64^2",
             "--model ea --set model.couplings=gaussian --shape 64x64 --beta 0.9 --population 8192", "spin"),
            ("cube-16", "`ising3d`, 16^3", "--model ising3d --shape 16x16x16 --beta 0.22 --population 65536", "spin walker"),
            ("square-64", "`ising2d`, 64^2", "--shape 64x64 --population 65536", "walker")):
        for kernel in kernels.split():
            yield Bench(f"{kernel}-{name}", f"{what}, `{kernel}`", f"--kernel {kernel} {words}", cuda="")


def _tiles_and_clusters():
    for hits in 1, 2, 5, 10, 20, 50, 100:
        yield Bench(f"tiled-16384-{hits}-hits", f"one lattice of 16384^2, `tiled`, hits: {hits}",
                    f"--kernel tiled --shape 16384x16384 --population 1 --hits {hits} --sweeps 100", cuda="")
    for hits in 1, 10:
        yield Bench(f"tiled-1024-{hits}-hits", f"one lattice of 1024^2, `tiled`, hits: {hits}",
                    f"--kernel tiled --shape 1024x1024 --population 1 --hits {hits}", cpu="", settings=LEVELS)
        yield Bench(f"tiled-cube-64-{hits}-hits", f"one lattice of 64^3, `tiled`, hits: {hits}",
                    f"--model ising3d --kernel tiled --shape 64x64x64 --population 1 --hits {hits} --beta 0.22", cpu="", settings=LEVELS)
    of_cuda = {"64x64": 20000, "128x128": 5000, "1024x1024": 132, "4096x4096": 1, "64x64x64": 256, "256x256x256": 1}
    of_cpu = {"32x32": 32, "64x64": 64, "128x128": 32, "4096x4096": 1, "64x64x64": 4}
    for move, short in ("swendsen_wang", "sw"), ("wolff", "wolff"):
        for shape in sorted({*of_cuda, *of_cpu}, key=lambda shape: [int(side) for side in shape.split("x")]):
            model = f"--model ising3d --beta {CRITICAL_3D}" if shape.count("x") == 2 else f"--beta {CRITICAL}"
            on_gpu = dict(of_cuda, **{"128x128": 2048}) if move == "wolff" else of_cuda
            skipped = move == "wolff" and shape in ("4096x4096", "64x64x64", "256x256x256")
            yield Bench(f"{short}-{shape}", f"`{move}`, {shape}, `spin`", f"--kernel spin --update {move} {model} --shape {shape}",
                        cpu=f"--population {of_cpu[shape]}" if shape in of_cpu and not (move, shape) == ("wolff", "4096x4096") else None,
                        cuda=f"--population {on_gpu[shape]}" if shape in of_cuda and not skipped else None)
    for name, words in (("heisenberg-16", "--beta 0.693 --shape 16x16x16 --population 4096"),
                        ("heisenberg-64", "--beta 0.693 --shape 64x64x64 --population 64"),
                        ("xy-64", "--set model.components=2 --beta 1.12 --shape 64x64 --population 4096"),
                        ("xy-1024", "--set model.components=2 --beta 1.12 --shape 1024x1024 --population 1")):
        for move, short in ("swendsen_wang", "sw"), ("wolff", "wolff"):
            if (move, name) != ("wolff", "xy-1024"):
                yield Bench(f"{short}-{name}", f"`{move}`, {name.replace('-', ' ')}, `float`",
                            f"--model heisenberg --kernel float --update {move} {words}", cuda="")


def _vectors_and_disks():
    for move in "metropolis", "heat_bath", "over_relaxation":
        yield Bench(f"heisenberg-16-{move}", f"`heisenberg`, 16^3, `float`, `{move}`",
                    f"--model heisenberg --kernel float --update {move} --shape 16x16x16",
                    cpu="--population 64 --beta 0.69", cuda="--population 8192 --beta 1")
        yield Bench(f"heisenberg-64-{move}", f"`heisenberg`, 64^2, `float`, `{move}`",
                    f"--model heisenberg --kernel float --update {move} --shape 64x64 --beta 1 --sweeps 50", cuda="--population 8192")
    for length, replicas in (256, 1), (256, 64), (1024, 1):
        yield Bench(f"disks-{length}-R{replicas}", f"hard disks, {replicas} of {length}^2, `checkerboard`",
                    f"--model hard_disks --kernel checkerboard --set model.particles={length ** 2} --set model.packing_fraction=0.698 "
                    f"--population {replicas}", cpu="" if (length, replicas) == (256, 1) else None, cuda="", unit="trials/ns")


def _whole_runs():
    for theta in 1, 10, 100:
        yield Run(f"pa-64-R20000-theta-{theta}", f"`pa`, 64^2, R = 20000, theta = {theta}, to the closed file", _pa(64, 20000, theta), "file",
                  cpu={}, settings=(ONE, TWO))
        yield Run(f"pa-64-R100000-theta-{theta}", f"`pa`, 64^2, R = 100000, theta = {theta}, first temperature to last",
                  _pa(64, 100000, theta), "units", cuda={}, repeats=5)
        yield Run(f"pa-128-R50000-theta-{theta}", f"`pa`, 128^2, R = 50000, theta = {theta}, first temperature to last",
                  _pa(128, 50000, theta), "units", cuda={})
        yield Run(f"pa-64-R50000-theta-{theta}-spin", f"`pa`, 64^2, R = 50000, theta = {theta}, `spin`, first temperature to last",
                  _pa(64, 50000, theta) | {"kernel": {"variant": "spin"}}, "units", cuda={})
    yield Run("pa-64-R100000-theta-500", "`pa`, 64^2, R = 100000, theta = 500, first temperature to last", _pa(64, 100000, 500), "units", cuda={})
    yield Run("pa-default-job", "the paper's default job of `pa`, start to exit", _pa(64, 20000, 100, 0.005), "process", cuda={}, unit="s", repeats=5)
    for every in 0, 10:
        yield Run(f"pt-ea-8-exchange-{every}", f"`pt` of `ea`, +-J, 8^3, 1024 samples, `exchange_every: {every}`", _pt(every), "units",
                  cpu={}, cuda={"algorithm.sweeps": 100000}, settings=(ONE, TWO))
        for length, samples in (8, 4096), (16, 512):
            yield Run(f"pt-ea-{length}-S{samples}-exchange-{every}", f"`pt` of `ea`, +-J, {length}^3, {samples} samples, `exchange_every: {every}`",
                      _pt(every, length, samples), "units", cuda={"algorithm.sweeps": 20000})
    short = {"algorithm.walkers": 1024, "algorithm.iteration.maximum": 30}
    yield Run("muca-32-rate", "`muca`, L = 32, `walker`, updates in iterations", _muca(32, walkers=270336), "walks", cpu=short, cuda={})
    yield Run("muca-32-converged", "`muca`, L = 32, default walkers, iterations to convergence", _muca(32), "iterations", cuda={}, unit="s")
    for length, windows, walkers in (32, 6, 8192), (64, 9, 16384):
        yield Run(f"muca-{length}-{windows}-windows", f"`muca`, L = {length}, {windows} windows, iterations to convergence",
                  _muca(length, walkers=walkers, windows={"count": windows}), "iterations", cuda={}, unit="s")


CASES = (*_multispin_and_spin(), *_few_replicas(), *_three_dimensions(), *_tiles_and_clusters(), *_vectors_and_disks(), *_whole_runs())
BY_NAME = {case.name: case for case in CASES}
