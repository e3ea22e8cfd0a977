"""The version of the package, that of the program (CMakeLists.txt; tests/unit/test_versions.py compares them)."""
__version__ = "0.2.0"
