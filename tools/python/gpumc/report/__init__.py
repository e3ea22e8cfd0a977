"""One page that says what a run was, whether it is trusted, and what came out: gpumc-report, or report.write()."""
from .main import NotAPage, main, write

__all__ = ["NotAPage", "main", "write"]
