"""An installed gpumc, and plugins built against it."""
import os
import pathlib
import struct
import subprocess
import tempfile

from support.device import ROOT

BUILD = pathlib.Path(os.environ.get("GPUMC_BUILD", "build/release")).resolve()
EXAMPLES = ROOT / "docs/examples"


def output(*command, **options):
    """Returns the output of a command, which must succeed."""
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def class_folder(case):
    """Returns a folder that the tests of a class share, and that goes with the last of them."""
    holder = tempfile.TemporaryDirectory(prefix="gpumc-test-")
    case.addClassCleanup(holder.cleanup)
    return pathlib.Path(holder.name)


def install(prefix):
    """Installs the build at `prefix`, and returns that."""
    output("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def build_plugin(prefix, source, build):
    """Returns the plugin of a folder with a CMakeLists.txt, built in `build` against the installation at `prefix`."""
    output("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    output("cmake", "--build", build)
    plugin, = build.glob("*.so")
    return plugin


def compile_plugin(prefix, name, folder, *sources, version="1.0", flags=()):
    """Builds FOLDER/NAME.so with the compiler's options in gpumc.pc."""
    pc, = prefix.rglob("gpumc.pc")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))

    def pkg_config(*words):
        return output("pkg-config", *words, "gpumc", env=environment).split()

    plugin = folder / f"{name}.so"
    output("cc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-I", folder,
           *pkg_config("--cflags"), *pkg_config("--variable=plugin_cflags"), f'-DGPUMC_PLUGIN_NAME="{name}"',
           f'-DGPUMC_PLUGIN_VERSION="{version}"', *flags, *sources, *pkg_config("--variable=plugin_entry"), "-o", plugin, "-lm")
    return plugin


def edited(plugin, path, *changes):
    """Returns a copy of a plugin with some bytes of its note changed: (offset in the contents of the note, bytes)."""
    data = bytearray(plugin.read_bytes())
    note = data.index(b"gpumc\0\0\0" + struct.pack("<I", 1)) + 8
    for offset, new in changes:
        data[note + offset:note + offset + len(new)] = new
    path.write_bytes(data)
    return path


# Offsets in the note (core/plugins/plugin.h).
ABI, NAME, VERSION, MODELS, LAYOUT = 0, 8, 72, 136, 904
