"""The Debian package that CPack makes of a build: what it depends on, what is in it, and that the program in it runs.

CTest: release (cli_test_package of the release build, cli_test_install), cases 4 s
"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.device import ROOT, SKIPPED  # noqa: E402
from support.installed import BUILD, EXAMPLES, build_plugin, class_folder, output  # noqa: E402
from support.program import SMALL  # noqa: E402

NEEDED = ["cpack", "dpkg-deb", "dpkg-shlibdeps"]
PARTS = ["bin/gpumc", "include/gpumc/core/run/run.h", "include/gpumc/models/lattice/replicas_cpu.h", "include/gpumc/plugin/layout.def",
         "lib/*/libgpumc.a", "lib/*/pkgconfig/gpumc.pc", "lib/*/cmake/gpumc/gpumc-config.cmake", "lib/*/gpumc/plugins",
         "share/gpumc/plugin/plugin_entry.c", "share/gpumc/schemas/gpumc.schema.json", "share/gpumc/configs/ising2d/first.yaml",
         "share/gpumc/tools/plot", "share/doc/gpumc/copyright", "share/doc/gpumc/cli.md", "share/doc/gpumc/examples/potts/potts.c"]


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = class_folder(cls)
        # Of what is built already: another generator, so that CPack makes nothing while other tests run.
        output("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", cls.folder, "-D", "CPACK_CMAKE_GENERATOR=Ninja",
               "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")  # users get xz, which takes 20 CPU s
        cls.package, = cls.folder.glob("*.deb")
        cls.root = cls.folder / "root"
        output("dpkg-deb", "-x", cls.package, cls.root)

    def field(self, name):
        return output("dpkg-deb", "-f", self.package, name).strip()

    def test_name_and_version(self):
        version = re.search(r"^project\(gpumc VERSION ([0-9.]+) ", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        self.assertEqual(self.package.name, f"gpumc_{version}_{output('dpkg', '--print-architecture').strip()}.deb")
        self.assertEqual((self.field("Package"), self.field("Version")), ("gpumc", version))

    def test_depends_on_the_libraries_of_the_program_alone(self):
        depends = self.field("Depends")
        for library in "libc6", "libhdf5", "libyaml", "libcjson", "libgomp", "zlib1g", "python3":
            self.assertIn(library, depends)
        for module in "libopenmpi", "libmpich", "nccl", "-dev":
            self.assertNotIn(module, depends)
        if (BUILD / "gpumc_openmpi.so").exists():
            self.assertIn("libopenmpi", self.field("Suggests"))

    def test_is_complete(self):
        for part in PARTS:
            found = list((self.root / "usr").glob(part)) + list((self.root / "usr").glob(part.replace("lib/*/", "lib/")))
            self.assertTrue(found, part)
        modules = {path.name for path in BUILD.glob("gpumc_*.so")}
        self.assertLessEqual(modules, {path.name for path in self.root.rglob("*.so")})

    def test_names_no_folder_of_the_build(self):
        for path in [*self.root.rglob("*.cmake"), *self.root.rglob("*.pc")]:
            text = path.read_text()
            for folder in ROOT, BUILD, self.folder:
                self.assertNotIn(str(folder), text, path)

    def test_its_program_runs_and_opens_plugins(self):
        program = self.root / "usr/bin/gpumc"
        (self.folder / "c.yaml").write_text(SMALL)
        output(program, "run", "c.yaml", "--quiet", cwd=self.folder)
        self.assertIn("complete", output(program, "info", "small.h5", cwd=self.folder))
        plugin = build_plugin(self.root / "usr", shutil.copytree(EXAMPLES / "potts", self.folder / "potts"), self.folder / "built")
        self.assertIn("Number of states", output(program, "describe", "potts", "--plugin", plugin))


if __name__ == "__main__":
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        print(f"skipped: there is no {', '.join(missing)} here")
        sys.exit(SKIPPED)
    if subprocess.run(["dpkg-query", "-W", "libc6"], capture_output=True, check=False).returncode != 0:
        print("skipped: the libraries here are not those of Debian packages")
        sys.exit(SKIPPED)
    cases.main()
