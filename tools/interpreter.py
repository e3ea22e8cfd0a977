"""A Python that has the modules which the tools need. The one that runs may be of a user's environment (pyenv, conda,
venv), while tools/quickstart installs them for the system's; or the other way round. The package `gpumc` beside the
tools is found without being installed."""
import importlib.util
import os
import shutil
import subprocess
import sys

MODULES = "numpy", "h5py"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "python"))
TRIED = "GPUMC_INTERPRETERS_TRIED"  # environment: so that no two start each other for ever


def lacks(modules):
    return [name for name in modules if importlib.util.find_spec(name) is None]


def candidates():
    """By the user's word, the system's, the first of PATH."""
    named = os.environ.get("GPUMC_PYTHON"), "/usr/bin/python3", shutil.which("python3")
    return [path for path in named if path and os.access(path, os.X_OK)]


def has(python, modules):
    test = "import importlib.util as u, sys; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"
    return subprocess.run([python, "-c", test, *modules], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def find(modules=MODULES):
    """Path of a Python with these modules; ends the program with a message where there is none."""
    if not lacks(modules):
        return sys.executable
    for python in candidates():
        if TRIED not in os.environ and has(python, modules):
            return python
    sys.exit(f"{os.path.basename(sys.argv[0])}: no Python here has {', '.join(modules)} ({sys.executable} lacks "
             f"{', '.join(lacks(modules))}); `tools/quickstart install --tests` installs them, or set GPUMC_PYTHON to a "
             "Python that has them")


def need(*modules):
    """Restarts in a Python that has these modules, with the same arguments, if this one lacks any."""
    if lacks(modules):
        python = find(modules)
        os.environ[TRIED] = sys.executable
        os.execv(python, [python, *sys.argv])
    os.environ.pop(TRIED, None)
