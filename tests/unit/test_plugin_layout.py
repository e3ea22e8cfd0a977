"""src/plugin/layout.def lists every struct that plugins share with the program, as in the headers; a field that is
missing there or in another place is detected."""
import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tool():
    loader = importlib.machinery.SourceFileLoader("plugin_layout", str(ROOT / "tools/plugin-layout"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plugin_layout", loader))
    loader.exec_module(module)
    return module


class Layout(unittest.TestCase):
    def test_is_current(self):
        self.assertEqual((ROOT / "src/plugin/layout.def").read_text(), tool().layout(),
                         "write it anew: tools/plugin-layout > src/plugin/layout.def")

    def test_a_struct_is_read_with_its_fields(self):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "x.h"
            header.write_text("struct gpumc_inner { int a, b[3]; };\n"
                              "struct gpumc_x { struct { int deep; } unnamed; struct gpumc_inner i; void (*call)(int c); };\n"
                              "struct gpumc_opaque; struct other { int o; };\n")
            found = tool().structs(tool().debugging_information([header], []))
        self.assertEqual(found, {"gpumc_inner": ["a", "b"], "gpumc_x": ["unnamed", "i", "call"]})


if __name__ == "__main__":
    unittest.main()
