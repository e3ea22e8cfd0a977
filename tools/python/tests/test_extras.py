"""What works without the extras, and what is said where one is missing."""
import subprocess
import sys

ALL = "h5netcdf", "matplotlib", "pandas", "scipy", "xarray"


def python(words, *missing):
    hidden = "".join(f"sys.modules[{name!r}] = None\n" for name in missing)
    return subprocess.run([sys.executable, "-c", f"import sys\n{hidden}{words}"], capture_output=True, text=True)


def test_nothing_but_numpy_and_h5py():
    done = python("import gpumc, gpumc.program, gpumc.analysis", *ALL)
    assert done.returncode == 0, done.stderr


def test_pictures_need_matplotlib_alone():
    done = python("import gpumc.plot.main, gpumc.report", *(name for name in ALL if name != "matplotlib"))
    assert done.returncode == 0, done.stderr


def test_a_command_names_its_extra():
    for command, package, extra in [("plot", "matplotlib", "plot"), ("critical", "scipy", "analysis")]:
        done = python(f"from gpumc import commands; sys.argv[1:] = ['none.h5']; sys.exit(commands.{command}())", package)
        assert done.returncode == 1
        assert done.stderr == f"gpumc-{command}: there is no {package} here: pip install 'gpumc[{extra}]'\n"
