"""Attributes of results as users of tools/gpumc_reader.py see them: texts as str, of fixed length or not."""
import sys

from support.device import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from gpumc_reader import attributes  # noqa: E402, F401
