"""Attributes of results as users of the Python package see them: texts as str, of fixed length or not."""
import sys

from support.device import ROOT

sys.path.insert(0, str(ROOT / "tools/python"))
from gpumc import attributes  # noqa: E402, F401
