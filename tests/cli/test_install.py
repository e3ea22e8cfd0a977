"""What is installed: a program elsewhere can be built with it; and what the build says of its commit.

CTest: cases 4 s
"""
import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.embedding import EMBEDDING  # noqa: E402
from support.installed import BUILD, install, output  # noqa: E402
from support.program import SMALL, ProgramCase  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Install(ProgramCase):
    def setUp(self):
        super().setUp()
        self.prefix = install(self.path("prefix"))

    def test_modules_for_mpi_are_found(self):
        program, = self.prefix.rglob("bin/gpumc")
        text = output(program, "doctor", "--json")
        built = {path.name for path in BUILD.glob("gpumc_*.so")}
        found = {pathlib.Path(module["path"]).resolve() for module in json.loads(text)["processes"]["modules"]}
        self.assertEqual({path.name for path in found}, built)
        for path in found:
            self.assertEqual(path.parent.name, "gpumc")
            self.assertIn(self.prefix.resolve(), path.parents)

    def test_a_program_is_built_with_it(self):
        pc, = self.prefix.rglob("gpumc.pc")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
        flags = output("pkg-config", "--cflags", "--libs", "gpumc", env=environment).split()
        source = self.write("embedding.c", EMBEDDING)
        output("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o",
               self.path("embedding"), *flags)
        self.write("c.yaml", SMALL)
        self.assertEqual(output(self.path("embedding"), "c.yaml", cwd=self.directory),
                         "no error: 2 runs\n")

    def test_every_header_stands_alone(self):
        pc, = self.prefix.rglob("gpumc.pc")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
        flags = output("pkg-config", "--cflags", "gpumc", env=environment).split()
        if nvcc := shutil.which("nvcc"):  # whose own headers are for those of GPUs; nvcc finds them itself
            flags += ["-isystem", pathlib.Path(nvcc).resolve().parents[1] / "include"]
        folder = self.prefix / "include/gpumc"
        headers = sorted(path.relative_to(folder) for path in folder.rglob("*.h"))
        self.assertTrue(headers)
        sources = []
        for header in headers:
            self.assertNotIn("internal", header.name)
            sources.append(self.write(f"{'-'.join(header.with_suffix('').parts)}.c", f'#include "{header}"\n'))
        output("cc", "-std=c11", "-fsyntax-only", *sources, *flags)

    def test_manual_pages_and_completions(self):
        share = self.prefix / "share"
        program = self.prefix / "bin/gpumc"
        for shell, name in [("bash", "bash-completion/completions/gpumc"), ("zsh", "zsh/site-functions/_gpumc"),
                            ("fish", "fish/vendor_completions.d/gpumc.fish")]:
            self.assertEqual((share / name).read_text(), output(program, "completion", shell))
        self.assertEqual((share / "man/man1/gpumc-run.1").read_text(), output(program, "man", "run"))
        self.assertEqual((share / "man/man5/gpumc.yaml.5").read_text(), output(program, "man", "gpumc.yaml"))

    def test_tools_and_documents(self):
        share = self.prefix / "share"
        for name in ["gpumc/tools/python/gpumc/__init__.py", "gpumc/tools/python/pyproject.toml", "gpumc/tools/plot",
                     "gpumc/configs", "gpumc/schemas", "doc/gpumc/cli.md", "doc/gpumc/LICENSE"]:
            self.assertTrue((share / name).exists(), name)
        self.assertIn("usage: ", output(share / "gpumc/tools/plot", "--help",
                                        env=dict(os.environ, MPLCONFIGDIR=str(self.directory))))
        self.assertIn("| GPUs |", output(share / "gpumc/tools/predict-scaling", "pa-weak"))
        self.assertIn("usage: ", output(share / "gpumc/tools/simulate-balance", "--help"))
        self.assertIn("gpumc ", output(self.prefix / "bin/gpumc", "--version"))


class BuildInfo(ProgramCase):
    def setUp(self):
        super().setUp()
        self.source = self.path("source")
        self.source.mkdir()
        self.git_program = shutil.which("git") or self.skipTest("no git")

    def git(self, *arguments, directory=None):
        return output(self.git_program, "-C", directory or self.source, "-c", "user.name=n", "-c",
                      "user.email=e", *arguments)

    def header(self, git=None):
        output("cmake", f"-DHEADER={self.path('build_info.h')}", f"-DSOURCE={self.source}",
               f"-DGIT={self.git_program if git is None else git}", "-DVERSION=1.2.3",
               "-DCOMPILER=GNU 12", "-DBUILD_TYPE=Release", "-P",
               ROOT / "cmake/write_build_info.cmake")
        return self.path("build_info.h").read_text()

    def commit(self):
        self.git("commit", "-q", "--allow-empty", "-m", "one more")
        return self.git("describe", "--always").strip()

    def test_follows_the_commits(self):
        self.git("init", "-q")
        first = self.commit()
        self.assertIn(f'GPUMC_COMMIT "{first}"', self.header())
        before = os.stat(self.path("build_info.h")).st_mtime_ns
        self.header()
        self.assertEqual(os.stat(self.path("build_info.h")).st_mtime_ns, before)
        second = self.commit()
        self.assertIn(f'GPUMC_COMMIT "{second}"', self.header())
        self.assertIn('GPUMC_COMPILER "GNU 12"', self.header())

    def test_without_git(self):
        self.assertIn('GPUMC_COMMIT "unknown"', self.header(git=""))
        self.assertIn('GPUMC_COMMIT "unknown"', self.header(git="/nowhere/git"))

    def test_outside_a_repository(self):
        self.assertIn('GPUMC_COMMIT "unknown"', self.header())

    def test_inside_another_repository(self):
        self.git("init", "-q", directory=self.directory)
        self.git("commit", "-q", "--allow-empty", "-m", "theirs", directory=self.directory)
        self.assertIn('GPUMC_COMMIT "unknown"', self.header())

    def test_in_a_source_archive(self):
        (self.source / "cmake").mkdir()
        (self.source / "cmake/commit.txt").write_text("v1-2-gabcdef\n")
        self.assertIn('GPUMC_COMMIT "v1-2-gabcdef"', self.header())
        self.git("init", "-q")
        self.assertIn(f'GPUMC_COMMIT "{self.commit()}', self.header())


if __name__ == "__main__":
    cases.main()
