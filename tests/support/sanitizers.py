"""Whether the build under test, GPUMC_BUILD, has sanitizers, which need more memory and time."""
import os
import pathlib
import re

from support.device import ROOT

_CACHE = pathlib.Path(os.environ.get("GPUMC_BUILD", ROOT / "build/release")) / "CMakeCache.txt"
SANITIZED = _CACHE.exists() and re.search(r"^GPUMC_SANITIZE:\w+=.", _CACHE.read_text(), re.M) is not None
