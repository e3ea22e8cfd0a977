"""C sources that only a build with CUDA uses (host code for GPUs and its tests) also compile without CUDA, with the
same warnings as the others: a function missing from one of them is found on machines without nvcc."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = shlex.split(os.environ.get("CC", "cc"))
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


def libraries():
    """Returns the folders of library headers outside the compiler's own folders."""
    done = subprocess.run(["pkg-config", "--cflags-only-I", "hdf5", "libcjson"], capture_output=True, text=True)
    return [f"-isystem{path.removeprefix('-I')}" for path in done.stdout.split()]


def sources(tree):
    """Returns the sources that cmake/cuda.cmake chooses."""
    return sorted({*tree.glob("src/**/*_gpu.c"), *tree.glob("src/**/cuda_*.c"), *tree.glob("tests/support/*_gpu.c"),
                   *tree.glob("tests/cuda/*.c")})


def mistakes(tree, source):
    """Returns the compiler's output, or None if it lacks CUDA's headers."""
    done = subprocess.run([*COMPILER, "-fsyntax-only", "-fopenmp", "-D_GNU_SOURCE", *WARNINGS, f"-I{tree / 'src'}",
                           f"-I{tree / 'tests'}", *libraries(), str(source)], capture_output=True, text=True)
    if re.search(r"cuda\w*\.h: No such file", done.stderr):
        return None
    return done.stderr if done.returncode != 0 else ""


class Sources(unittest.TestCase):
    def test_they_compile(self):
        found = sources(ROOT)
        self.assertGreater(len(found), 15)
        for source in found:
            with self.subTest(str(source.relative_to(ROOT))):
                self.assertIn(mistakes(ROOT, source), ("", None))

    def test_a_lost_function_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            (tree / "src").mkdir()
            source = tree / "src" / "a_gpu.c"
            source.write_text("int used(void);\nint used(void)\n{\n  return lost();\n}\n")
            self.assertEqual(sources(tree), [source])
            self.assertIn("lost", mistakes(tree, source))
            source.write_text("int used(void);\nint used(void)\n{\n  return 0;\n}\n")
            self.assertEqual(mistakes(tree, source), "")
            source.write_text("#include <cuda_toolkit_only.h>\nint x;\n")
            self.assertIsNone(mistakes(tree, source))


if __name__ == "__main__":
    unittest.main()
