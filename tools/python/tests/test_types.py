"""The package says of its public functions which types they take and give, and mypy finds no contradiction."""
import dataclasses
import inspect
import pathlib
import subprocess
import sys

import pytest

import gpumc
from gpumc import hard_disks, measured, report

PACKAGE = pathlib.Path(gpumc.__file__).parent


def test_public_functions_are_annotated_and_documented():
    public = [getattr(gpumc, name) for name in gpumc.__all__] + [hard_disks.read, measured.text, report.write]
    for item in public:
        if inspect.isfunction(item):
            signature = inspect.signature(item)
            assert signature.return_annotation is not signature.empty, item
            assert all(argument.annotation is not argument.empty for argument in signature.parameters.values()), item
            assert item.__doc__, item
        elif dataclasses.is_dataclass(item):
            assert item.__doc__ and all(field.type for field in dataclasses.fields(item)), item
    assert (PACKAGE / "py.typed").exists()


def test_mypy():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=/dev/null", "--config-file", PACKAGE.parent / "pyproject.toml",
                           PACKAGE], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
