"""python -m gpumc.analysis critical RESULT...: gpumc-critical."""
import sys

from . import critical

if __name__ == "__main__":
    if sys.argv[1:2] != ["critical"]:
        sys.exit("usage: python -m gpumc.analysis critical RESULT... (--help for its options)")
    sys.exit(critical.main(sys.argv[2:]))
