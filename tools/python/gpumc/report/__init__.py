"""One page that says what a run was, whether it is trusted, and what came out: gpumc-report, or report.write()."""
from .main import main, write

__all__ = ["main", "write"]
