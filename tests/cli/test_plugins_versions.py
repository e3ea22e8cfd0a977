"""Plugins of another version, another name or none: a run is not continued with them, nor is its result taken for theirs."""
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.gpumc_program import numeric_datasets  # noqa: E402
from support.installed import EXAMPLES, compile_plugin  # noqa: E402
from support.outside import BY_PATH, Outside  # noqa: E402
from support.program import INVALID, SMALL, STOPPED  # noqa: E402


class Versions(Outside):
    def test_another_version_does_not_continue(self):
        plugin = self.put("potts")
        config = BY_PATH.replace("sweeps: 2", "sweeps: 200")
        self.write("c.yaml", config)
        self.write("whole.yaml", config.replace("potts.h5", "whole.h5"))
        self.gpumc("run", "whole.yaml", "--quiet")
        self.gpumc("run", "c.yaml", "--max-time", "1 ms", code=STOPPED)
        self.put("other")
        said = self.gpumc("run", "c.yaml", code=INVALID).err
        self.assertIn("version 1.0 of plugin potts, but this is version 2.0", said)
        self.assertIn("refused", self.gpumc("status", "c.yaml").out)
        self.put("potts")
        with open(plugin, "ab") as file:  # built again, as it were: another checksum of the same version
            file.write(b"\0")
        self.gpumc("run", "c.yaml", "--quiet")
        self.assertEqual(numeric_datasets(self.path("potts.h5")), numeric_datasets(self.path("whole.h5")))
        self.put("other")
        said = self.gpumc("run", "c.yaml", code=INVALID).err
        self.assertIn("version 1.0 of plugin potts, but this is version 2.0", said)
        self.assertIn("--fresh", said)
        self.gpumc("run", "c.yaml", "--quiet", "--fresh")

    def test_another_plugin_does_not_continue(self):
        """One of another name that has the same model."""
        replaced = self.path("replaced")
        shutil.copytree(EXAMPLES / "potts", replaced)
        built = compile_plugin(self.prefix, "another", replaced, replaced / "potts.c", replaced / "frozen.c", version="9.9")
        plugin = self.put("potts")
        config = BY_PATH.replace("sweeps: 2", "sweeps: 200")
        self.write("c.yaml", config)
        self.gpumc("run", "c.yaml", "--max-time", "1 ms", code=STOPPED)
        shutil.copy(built, plugin)
        words = "version 1.0 of plugin potts, which is not in use here"
        self.assertIn(words, self.gpumc("run", "c.yaml", code=INVALID).err)
        self.put("potts")
        self.put("random_walk")
        # More plugins than before change nothing.
        self.write("c.yaml", config.replace("potts.so]", "potts.so, ./plugins/random_walk.so]"))
        self.gpumc("run", "c.yaml", "--quiet")
        shutil.copy(built, plugin)
        said = self.gpumc("run", "c.yaml", code=INVALID).err
        self.assertIn(words, said)
        self.assertIn("--fresh", said)

    def test_a_run_does_not_continue_without_its_plugin(self):
        """Nor is its result complete: what else the plugin did to the numbers is not known."""
        self.put("random_walk")
        without = SMALL.replace("sweeps: 2", "sweeps: 200")
        self.assertNotEqual(without, SMALL)
        self.write("with.yaml", without + "plugins: [./plugins/random_walk.so]\n")
        self.write("c.yaml", without)
        words = "version 1.0 of plugin random_walk, which is not in use here"
        self.gpumc("run", "with.yaml", "--max-time", "1 ms", code=STOPPED)
        self.assertIn(words, self.gpumc("run", "c.yaml", code=INVALID).err)
        self.assertIn("refused", self.gpumc("status", "c.yaml").out)
        self.gpumc("run", "with.yaml", "--quiet")
        self.assertIn(words, self.gpumc("run", "c.yaml", code=INVALID).err)
        self.gpumc("run", "c.yaml", "--fresh", "--max-time", "1 ms", code=STOPPED)
        self.gpumc("run", "c.yaml", "--quiet")
        self.gpumc("run", "with.yaml", "--quiet")  # more plugins than before change nothing


if __name__ == "__main__":
    unittest.main()
