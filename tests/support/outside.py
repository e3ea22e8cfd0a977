"""Plugins of the examples and of tests, built against an installed gpumc, and what their tests share."""
import os
import pathlib
import re
import shutil

import h5py

from support.attributes import attributes
from support.installed import EXAMPLES, build_plugin, class_folder, compile_plugin, install
from support.program import INVALID, ProgramCase

POTTS = """\
gpumc: 1
seed: 7
model: {name: potts, shape: [6, 6], q: 3}
algorithm: {name: pa, population: 200, sweeps: 2, runs: 2, beta: {from: 0, to: 1.2, step: 0.1}}
kernel: {device: cpu}
output: potts.h5
"""
BY_PATH = POTTS + "plugins: [./plugins/potts.so]\n"
# Says that it runs before anybody can ask it not to.
LOUD = """
#include <stdio.h>
__attribute__((constructor)) static void shout(void) { FILE *f = fopen("it-ran", "w"); if (f) fclose(f); }
"""


def provenance(path):
    with h5py.File(path) as file:
        return attributes(file["provenance"])


class Built:
    """Plugins by name, each built where it is first asked for."""

    def __init__(self, folder, prefix):
        self.folder, self.prefix, self.plugins = folder, prefix, {}

    def __getitem__(self, name):
        if name not in self.plugins:
            self.plugins[name] = getattr(self, name, lambda: self.example(name))()
        return self.plugins[name]

    def example(self, name):
        return build_plugin(self.prefix, self.copy(name, name), self.folder / "build" / name)

    def copy(self, example, name):
        return pathlib.Path(shutil.copytree(EXAMPLES / example, self.folder / "own" / name))

    def loud(self):
        """The potts plugin, which leaves a file where its code runs."""
        loud = self.copy("potts", "loud")
        (loud / "loud.c").write_text(LOUD)
        return compile_plugin(self.prefix, "loud", loud, loud / "potts.c", loud / "frozen.c", loud / "loud.c")

    def other(self):
        """The same by other words, and of another version."""
        other = self.copy("potts", "other")
        return compile_plugin(self.prefix, "potts", other, other / "potts.c", other / "frozen.c", version="2.0")

    def still(self):
        """A kernel for a model of another plugin, and nothing else."""
        kernels = self.folder / "kernels"
        kernels.mkdir()
        (kernels / "still.c").write_text((EXAMPLES / "potts/frozen.c").read_text().replace("frozen", "still"))
        (kernels / "kernels.def").write_text("GPUMC_KERNEL(potts, potts_still)\n")
        return compile_plugin(self.prefix, "still", kernels, kernels / "still.c")


class Outside(ProgramCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = class_folder(cls)
        cls.prefix = install(cls.folder / "prefix")
        cls.built = Built(cls.folder, cls.prefix)

    def setUp(self):
        super().setUp()
        self.path("plugins").mkdir()
        self.environment = {name: value for name, value in os.environ.items() if name not in
                            ("GPUMC_PLUGIN_PATH", "XDG_DATA_HOME")} | {"HOME": str(self.directory)}

    def put(self, name, to="plugins"):
        """A plugin in a folder of the test."""
        self.path(to).mkdir(parents=True, exist_ok=True)
        return pathlib.Path(shutil.copy(self.built[name], self.path(to) / self.built[name].name))

    def gpumc(self, *arguments, **options):
        options.setdefault("env", self.environment)
        return super().gpumc(*arguments, **options)

    def refused(self, *words, config=BY_PATH):
        """The one line with which a configuration is refused."""
        self.write("c.yaml", config)
        said = self.gpumc("validate", "c.yaml", code=INVALID).err
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertTrue(re.match(r"c\.yaml:\d+:\d+: ", said), said)
        for word in words:
            self.assertIn(word, said)
        self.assertFalse(self.path("it-ran").exists())
