"""The commands gpumc-critical, gpumc-plot and gpumc-report: where a package is missing, they name the extra that brings it."""
import importlib
import sys

EXTRAS = {"matplotlib": "plot", "h5netcdf": "analysis", "pandas": "analysis", "scipy": "analysis", "xarray": "analysis"}


def critical() -> int:
    return _main("critical", "gpumc.analysis.critical")


def plot() -> int:
    return _main("plot", "gpumc.plot.main")


def report() -> int:
    return _main("report", "gpumc.report.main")


def _main(name: str, module: str) -> int:
    try:
        code: int = importlib.import_module(module).main()
        return code
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        print(f"gpumc-{name}: there is no {package} here: pip install 'gpumc[{EXTRAS[package]}]'", file=sys.stderr)
        return 1
