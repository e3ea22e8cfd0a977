"""The wheel that GPUMC_WHEEL names: what it needs of a system, what is in it, and that an environment with nothing else runs it.
Its numbers are those of the build under test, bit for bit, at each level of the instruction set. Skipped without a wheel.

CTest: release
"""
import ctypes
import json
import math
import os
import pathlib
import random
import re
import shutil
import struct
import sys
import unittest
import venv
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM, ROOT, SKIPPED  # noqa: E402
from support.gpumc_program import numeric_datasets  # noqa: E402
from support import mpi  # noqa: E402
from support.installed import EXAMPLES, build_plugin, class_folder, compile_plugin, output  # noqa: E402
from support.program import SMALL  # noqa: E402
from test_cells import ALGORITHMS, CONFIG, MODELS, keys_of  # noqa: E402

WHEEL = pathlib.Path(os.environ.get("GPUMC_WHEEL", "")).resolve()
GLIBC = 2, 28
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
LEVELS = "x86-64-v2", "x86-64-v3", "x86-64-v4"
PARTS = ["bin/gpumc", "lib/gpumc/libgomp.so.1", "include/gpumc/core/run/run.h", "include/gpumc/third-party/cjson/cJSON.h",
         "include/gpumc/third-party/Random123/philox.h", "lib/cmake/gpumc/gpumc-config.cmake", "lib/pkgconfig/gpumc.pc",
         "share/gpumc/plugin/plugin_entry.c", "share/gpumc/modules/mpi_module.c", "share/gpumc/configs/ising2d/first.yaml",
         "share/gpumc/schemas/gpumc.schema.json", "share/man/man1/gpumc-run.1", "share/bash-completion/completions/gpumc"]
LICENCES = ["HDF5", "Random123", "cJSON", "libgomp", "libgomp-GPL-3", "libyaml", "zlib"]
# Beside the cells of models, algorithms and kernels: moves, and functions of the C library that few cells call.
# Of a move by Wolff the thermalization tunes the number of clusters.
MOVED = ALGORITHMS["canonical"].replace("thermalization: 2", "thermalization: 40")
MOVES = {"ising2d": ["heat_bath", "swendsen_wang", "wolff"], "heisenberg": ["heat_bath", "over_relaxation", "wolff"], "ea": ["heat_bath"]}


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = class_folder(cls)
        cls.prefix = cls.folder / "environment"
        venv.create(cls.prefix, with_pip=True)
        output(cls.prefix / "bin/pip", "install", "--quiet", f"{WHEEL}[plot]")
        cls.program = cls.prefix / "bin/gpumc"

    def run_in(self, folder, program, *words):
        """Runs a program of an environment without variables that lead elsewhere."""
        return output(program, *words, cwd=folder, env={"PATH": f"{self.prefix}/bin:/usr/bin:/bin", "HOME": str(self.folder)})

    def binaries(self):
        return [self.program, self.prefix / "lib/gpumc/libgomp.so.1"]

    def test_needs_the_c_library_alone(self):
        libraries = set(re.findall(r"^\s*(\S+\.so\S*)", output("ldd", self.program), re.M))
        self.assertLessEqual({pathlib.Path(name).name for name in libraries} - {"linux-vdso.so.1"}, SYSTEM | {"libgomp.so.1"})
        self.assertIn(f"libgomp.so.1 => {self.prefix}", re.sub(r"/bin/\.\./", "/", output("ldd", self.program)))

    @unittest.skipUnless(shutil.which("objdump"), "there is no objdump")
    def test_needs_no_newer_c_library(self):
        for file in self.binaries():
            found = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", output("objdump", "-T", file))}
            self.assertLessEqual(max(found), GLIBC, file)
            self.assertEqual(re.findall("GLIBCXX|CXXABI|GCC_", output("objdump", "-T", file)), [], file)

    def test_is_named_for_that_library(self):
        self.assertRegex(WHEEL.name, rf"-py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64\.whl$")
        if shutil.which("auditwheel"):
            self.assertIn(f"manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64", output("auditwheel", "show", WHEEL))

    def test_is_complete(self):
        for part in PARTS:
            self.assertTrue((self.prefix / part).is_file(), part)
        names = zipfile.ZipFile(WHEEL).namelist()
        for licence in ["LICENSE", *(f"third-party/{name}.txt" for name in LICENCES)]:
            self.assertTrue([name for name in names if name.endswith(f".dist-info/licenses/{licence}")], licence)

    def test_names_no_folder_of_the_build(self):
        for name in "lib/cmake/gpumc/gpumc-config.cmake", "lib/pkgconfig/gpumc.pc":
            self.assertNotIn(str(ROOT), (self.prefix / name).read_text(), name)
        self.assertFalse(str(ROOT / "build").encode() in self.program.read_bytes())  # errors of CUDA name sources

    def test_the_program_and_the_commands(self):
        config = self.prefix / "share/gpumc/configs/ising2d/first.yaml"
        self.run_in(self.folder, "gpumc", "run", config, "--quiet")
        self.assertIn("complete", self.run_in(self.folder, "gpumc", "info", "results/ising2d-first.h5"))
        self.run_in(self.folder, "gpumc-plot", "results/ising2d-first.h5", "--exact", "-o", "first.png")
        self.assertGreater((self.folder / "first.png").stat().st_size, 10000)
        self.assertIn("ising2d", self.run_in(self.folder, "gpumc", "list"))
        self.assertIn(f"{self.prefix}", self.run_in(self.folder, "python", "-c", "import gpumc.program as p; print(p.find())"))

    def test_first_words_of_the_readme(self):
        block = re.search(r"^## Two commands\n.*?```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.M | re.S).group(1).splitlines()
        self.assertIn(WHEEL.name, block[0])
        for line in block[1:]:
            self.run_in(self.folder, "sh", "-c", line)
        self.assertIn("complete", self.run_in(self.folder, "gpumc", "info", "results/ising2d-pa-1.h5"))

    def test_knows_its_commit(self):
        found = json.loads(self.run_in(self.folder, "gpumc", "doctor", "--json"))
        self.assertRegex(found["program"]["commit"], "[0-9a-f]{7}")

    @unittest.skipUnless(mpi.LAUNCHERS, "there is no MPI")
    def test_modules_for_mpi_are_compiled_as_doctor_says(self):
        (self.folder / "c.yaml").write_text(SMALL)
        output(PROGRAM, "run", "c.yaml", "--quiet", "--fresh", "-o", "alone.h5", cwd=self.folder)
        for kind in mpi.LAUNCHERS:
            said = json.loads(self.run_in(self.folder, "gpumc", "doctor", "--json"))["processes"]["missing"]
            missing, = (one for one in said if one["of"] == kind)
            compiler = shutil.which("mpicc.openmpi" if kind == "Open MPI" else "mpicc.mpich") or "mpicc"
            with self.subTest(kind):
                output("sh", "-c", missing["command"].replace("mpicc", compiler, 1))
                self.addCleanup((self.prefix / "lib/gpumc" / missing["module"]).unlink)
                output(*mpi.command(kind, 2, self.program), "run", "c.yaml", "--quiet", "--fresh", "-o", "two.h5", cwd=self.folder, env=mpi.environment())
                self.assertEqual(*(numeric_datasets(self.folder / f"{count}.h5") for count in ("alone", "two")))

    def test_plugins_are_built_with_it(self):
        for name, build in [("cmake", lambda source: build_plugin(self.prefix, source, self.folder / "potts-built")),
                            ("pkg-config", lambda source: compile_plugin(self.prefix, "potts", source, source / "potts.c", source / "frozen.c"))]:
            if shutil.which(name) is None:
                continue
            with self.subTest(name):
                plugin = build(shutil.copytree(EXAMPLES / "potts", self.folder / f"potts-{name}"))
                self.assertIn("Number of states", self.run_in(self.folder, "gpumc", "describe", "potts", "--plugin", plugin))
                config = self.folder / f"{name}.yaml"
                config.write_text((EXAMPLES / "potts/potts.yaml").read_text() + f"plugins: [{plugin}]\n")
                self.run_in(self.folder, "gpumc", "run", config, "--quiet", "-o", f"{name}.h5")

    # --- the same numbers ---

    def same_numbers(self, config):
        """The wheel's numbers at each level that this machine has, and the build's at that which it takes itself."""
        with self.subTest(config):
            (self.folder / "c.yaml").write_text(config)
            output(PROGRAM, "run", "c.yaml", "--quiet", "--fresh", "--device", "cpu", "-o", "built.h5", cwd=self.folder)
            expected = numeric_datasets(self.folder / "built.h5")
            for level in self.levels():
                self.run_in(self.folder, "gpumc", "run", "c.yaml", "--quiet", "--fresh", "--device", "cpu", "-o", "wheel.h5", "--set",
                            f"kernel.isa={level}")
                self.assertEqual(numeric_datasets(self.folder / "wheel.h5"), expected, level)

    def levels(self):
        """Those up to that of this machine."""
        highest = json.loads(self.run_in(self.folder, "gpumc", "doctor", "--json"))["processor"]["isa"]
        return LEVELS[:LEVELS.index(highest) + 1]

    def test_numbers_of_every_cell(self):
        listed = json.loads(output(PROGRAM, "list", "--json"))
        count = 0
        for model in listed["models"]:
            for kernel in model["kernels"]:
                for algorithm, cell in kernel["algorithms"].items():
                    if kernel["device"] != "cpu" or not cell["serves"]:
                        continue
                    self.same_numbers(CONFIG.format(
                        model=model["name"], model_keys=MODELS[model["name"]], algorithm=algorithm, device="cpu",
                        algorithm_keys=keys_of(model["name"], algorithm, ALGORITHMS[algorithm]), variant=kernel["variant"]))
                    count += 1
        print(f"{count} cells at {', '.join(self.levels())}")
        self.assertGreater(count, 20)

    def test_numbers_of_moves(self):
        for model, moves in MOVES.items():
            for move in moves:
                self.same_numbers(CONFIG.format(model=model, model_keys=MODELS[model] + ", J: 0.7, h: 0.3" * (model != "ea"), algorithm="canonical",
                                                algorithm_keys=f"{MOVED}, update: {move}, structure_factor: true",
                                                device="cpu", variant="auto"))

    def test_older_functions_give_the_same_values(self):
        """The wheel calls exp and others by the version that glibc 2.28 had, a build from source by the newest."""
        libm = ctypes.CDLL("libm.so.6")
        libm.dlvsym.restype, libm.dlvsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        draw = random.Random(1)
        special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -3.0, 5e-324, math.inf, -math.inf, math.nan, 709.78, 709.79, -745.2, 1e300]
        anything = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(50000)]
        usual = [draw.uniform(-750, 750) for _ in range(50000)]
        for name, arguments in [("exp", 1), ("exp2", 1), ("log", 1), ("log2", 1), ("pow", 2)]:
            signature = ctypes.CFUNCTYPE(*[ctypes.c_double] * (1 + arguments))
            old, new = (signature(libm.dlvsym(libm._handle, name.encode(), version)) for version in (b"GLIBC_2.2.5", b"GLIBC_2.29"))
            values = special + anything + usual
            values = [(x,) for x in values] if arguments == 1 else [(x, y) for x in special for y in special] + list(zip(values, reversed(values)))
            for value in values:
                a, b = old(*value), new(*value)
                if struct.pack("d", a) != struct.pack("d", b) and not (math.isnan(a) and math.isnan(b)):
                    self.fail(f"{name}{value}: {a!r}, {b!r}")

    def test_other_numbers_are_found(self):
        config = CONFIG.format(model="ising2d", model_keys=MODELS["ising2d"], algorithm="pa", algorithm_keys=ALGORITHMS["pa"], device="cpu",
                               variant="auto")
        (self.folder / "c.yaml").write_text(config)
        for name, seed in ("one.h5", 1), ("two.h5", 2):
            self.run_in(self.folder, "gpumc", "run", "c.yaml", "--quiet", "-o", name, "--set", f"seed={seed}")
        self.assertNotEqual(*(numeric_datasets(self.folder / name) for name in ("one.h5", "two.h5")))


if __name__ == "__main__":
    if not WHEEL.is_file():
        print("skipped: GPUMC_WHEEL names no wheel (tools/packaging/wheel makes one)")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
