"""scikit-build-core as a build backend that also writes the commit into source archives: cmake/commit.txt, from which a build
without the repository knows it (cmake/write_build_info.cmake)."""
import pathlib
import subprocess

from scikit_build_core import build
from scikit_build_core.build import *  # noqa: F403 - the other hooks are its own

NOTE = pathlib.Path("cmake/commit.txt")  # hooks run in the root of the tree


def build_sdist(sdist_directory, config_settings=None):
    if not pathlib.Path(".git").exists():  # made of a source archive, which has the file
        return build.build_sdist(sdist_directory, config_settings)
    described = subprocess.run(["git", "--no-optional-locks", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    NOTE.write_text(described.stdout)
    try:
        return build.build_sdist(sdist_directory, config_settings)
    finally:
        NOTE.unlink()
