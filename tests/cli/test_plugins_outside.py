"""Plugins: shared objects built against an installed gpumc, found by name or path, used as what is built in, and recorded
in results.

CTest: cases 4 s
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, mpi  # noqa: E402
from support.embedding import EMBEDDING  # noqa: E402
from support.gpumc_program import numeric_datasets  # noqa: E402
from support.installed import EXAMPLES, output  # noqa: E402
from support.outside import BY_PATH, POTTS, Outside, provenance  # noqa: E402
from support.program import INVALID, PROGRAM, SMALL  # noqa: E402

WALK = """\
gpumc: 1
seed: 7
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: random_walk, steps: 50, step: 0.1, most: 1}
kernel: {device: cpu}
output: walk.h5
"""


class Used(Outside):
    def test_by_path_beside_the_configuration(self):
        self.put("potts", "configs/plugins")
        self.write("configs/c.yaml", BY_PATH)
        self.gpumc("validate", "configs/c.yaml")
        self.assertIn("plain on cpu", self.gpumc("plan", "configs/c.yaml").out)
        self.gpumc("run", "configs/c.yaml", "--quiet")
        self.assertIn("specific_heat", self.gpumc("info", "potts.h5").out)
        self.assertIn("already complete", self.gpumc("run", "configs/c.yaml").err)
        self.assertIn("done", self.gpumc("status", "configs/c.yaml").out)
        recorded, = json.loads(provenance(self.path("potts.h5"))["plugins"])
        plugin = self.path("configs/plugins/potts.so")
        listed = json.loads(self.gpumc("list", "--json", "--plugin", f"{plugin}").out)
        self.assertEqual(recorded["abi"], listed["plugin_abi"])
        self.assertEqual((recorded["name"], recorded["version"]), ("potts", "1.0"))
        self.assertEqual(recorded["path"], os.path.realpath(plugin))
        self.assertRegex(recorded["checksum"], "^[0-9a-f]{16}$")

    def test_a_run_without_plugins_records_none(self):
        self.write("c.yaml", SMALL)
        self.gpumc("run", "c.yaml", "--quiet")
        self.assertNotIn("plugins", provenance(self.path("small.h5")))

    def test_by_name_in_each_folder_of_the_search_path(self):
        self.write("c.yaml", POTTS)
        said = self.gpumc("validate", "c.yaml", code=INVALID).err
        self.assertIn("found text 'potts', which no plugin in ", said)
        self.assertIn("GPUMC_PLUGIN_PATH", said)
        places = {"variable": {"GPUMC_PLUGIN_PATH": f"/nowhere:{self.path('variable')}"},
                  "data/gpumc/plugins": {"XDG_DATA_HOME": str(self.path("data"))},
                  ".local/share/gpumc/plugins": {}}
        for place, variables in places.items():
            with self.subTest(place):
                plugin = self.put("potts", place)
                self.gpumc("validate", "c.yaml", env=self.environment | variables)
                plugin.unlink()
        with self.subTest("installed"):
            folder = self.prefix / "lib/gpumc/plugins" if (self.prefix / "lib/gpumc/plugins").is_dir() else \
                next(self.prefix.rglob("gpumc/plugins"))
            plugin = pathlib.Path(shutil.copy(self.built["potts"], folder))
            self.addCleanup(plugin.unlink)
            program, = self.prefix.rglob("bin/gpumc")
            done = subprocess.run([program, "validate", "c.yaml"], cwd=self.directory, env=self.environment,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_first_folder_wins(self):
        self.put("potts", ".local/share/gpumc/plugins")
        self.put("other", "first")
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("first"))
        self.write("c.yaml", POTTS)
        self.gpumc("run", "c.yaml", "--quiet")
        self.assertIn('"version":"2.0"', provenance(self.path("potts.h5"))["plugins"])

    def test_algorithms_and_athermal_models(self):
        for name in "random_walk", "rods":
            self.put(name)
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        self.write("walk.yaml", WALK)
        self.gpumc("run", "walk.yaml", "--quiet")
        shutil.copy(EXAMPLES / "rods/rods.yaml", self.path("rods.yaml"))
        self.gpumc("validate", "rods.yaml")
        self.assertIn("random_walk", self.gpumc("list").out)

    def test_described_listed_measured_and_in_the_schema(self):
        plugin = self.put("potts")
        for options in ["--plugin", plugin], []:
            self.assertIn("Number of states", self.gpumc("describe", "potts", *options).out)
            self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        listed = json.loads(self.gpumc("list", "--json").out)
        self.assertLessEqual({"ising2d", "potts"}, {model["name"] for model in listed["models"]})
        self.assertIn("did you mean 'potts'?", self.gpumc("describe", "pots", code=INVALID).err)
        self.assertIn("plain", self.gpumc("bench", "--model", "potts", "--shape", "8x8", "--set", "model.q=3", "--seconds",
                                          "0.01", "--threads", "1").out)
        document = {"gpumc": 1, "seed": 7, "model": {"name": "potts", "shape": [6, 6], "q": 3}, "output": "x.h5",
                    "algorithm": {"name": "pa", "population": 200, "sweeps": 2, "beta": {"from": 0, "to": 1, "step": 0.1}}}
        with_it = json.loads(self.gpumc("schema", "--plugin", "potts").out)
        jsonschema.validate(document, with_it)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(document | {"model": {"name": "potts", "shape": [6, 6], "q": "three"}}, with_it)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(document, json.loads(self.gpumc("schema").out))
        self.assertIn("## Model `potts`", self.gpumc("describe", "--markdown", "--plugin", "potts").out)
        self.assertNotIn("potts", self.gpumc("describe", "--markdown").out)

    def test_a_configuration_to_begin_with(self):
        """Of a model of the search path, of one by its path, and of an algorithm."""
        plugin = self.put("potts", "elsewhere")
        self.gpumc("init", "potts", "pa", "-o", "configs/c.yaml", "--plugin", f"elsewhere/{plugin.name}")
        self.assertIn(f"plugins: ['{plugin.resolve()}']\n", self.path("configs/c.yaml").read_text())
        self.gpumc("run", "configs/c.yaml", "--quiet")
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        for name in "potts", "rods", "random_walk":
            self.put(name)
        for pair in ["potts", "canonical"], ["rods", "mpmc"], ["rods", "pt"], ["ising2d", "random_walk"]:
            self.gpumc("init", *pair)
            self.gpumc("validate", f"{pair[0]}-{pair[1]}.yaml")
        self.assertIn("potts runs with ", self.gpumc("init", "potts", code=INVALID).err)

    def test_its_keys_are_checked(self):
        self.put("potts")
        self.refused(":3:40:", "model.q", "from 2 to 256", config=BY_PATH.replace("q: 3", "q: 1"))
        self.refused("did you mean 'shape'", config=BY_PATH.replace("shape", "shap").replace("[6, 6]", "[6, 6], shape: [6, 6]"))

    def test_a_name_that_is_nearly_right(self):
        """The plugin that has the right one is suggested, and nothing of it runs."""
        plugin = self.put("loud")
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        suggestion = f"unknown model 'pots'; did you mean 'potts'? It is in the plugin {plugin.resolve()}"
        self.refused(suggestion, config=POTTS.replace("name: potts", "name: pots"))
        for words in ["describe", "pots"], ["init", "pots", "pa"], ["bench", "--model", "pots", "--seconds", "0.01"]:
            with self.subTest(words):
                self.assertIn(suggestion, self.gpumc(*words, code=INVALID).err)
        self.assertFalse(self.path("it-ran").exists())
        self.write("c.yaml", POTTS)
        self.gpumc("validate", "c.yaml")
        self.assertTrue(self.path("it-ran").exists())

    def test_both_ways_of_building_give_the_same_numbers(self):
        self.put("potts")
        self.put("other", "others")
        self.write("c.yaml", BY_PATH)
        self.write("d.yaml", BY_PATH.replace("plugins/potts", "others/potts").replace("potts.h5", "other.h5"))
        self.gpumc("run", "c.yaml", "--quiet")
        self.gpumc("run", "d.yaml", "--quiet", "--threads", 1)
        self.assertEqual(numeric_datasets(self.path("potts.h5")), numeric_datasets(self.path("other.h5")))

    def test_kernels_for_a_model_of_another_plugin(self):
        self.put("still")
        self.put("potts")
        asked = BY_PATH.replace("device: cpu", "device: cpu, variant: still")
        self.refused("no kernel variant 'still'", config=asked)
        both = asked.replace("potts.so]", "potts.so, ./plugins/still.so]")
        self.write("c.yaml", both)
        self.gpumc("run", "c.yaml", "--quiet")
        recorded = provenance(self.path("potts.h5"))
        self.assertEqual((recorded["kernel"], recorded["trajectory"]), ("still", "potts-still-1"))
        self.assertEqual([plugin["name"] for plugin in json.loads(recorded["plugins"])], ["potts", "still"])
        self.refused("unknown here", "before this one", config=both.replace("./plugins/potts.so, ", ""))
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        self.write("c.yaml", asked.replace("[./plugins/potts.so]", "[still]"))
        self.gpumc("validate", "c.yaml")
        # Nobody gets a kernel that is not asked for.
        self.assertNotIn("  still ", re.sub(r"(?s)Plugins.*", "", self.gpumc("list").out))

    def test_merged(self):
        self.put("potts")
        for seed in 1, 2:
            self.write("c.yaml", BY_PATH.replace("seed: 7", f"seed: {seed}").replace("potts.h5", f"{seed}.h5"))
            self.gpumc("run", "c.yaml", "--quiet")
        self.gpumc("merge", "all.h5", "1.h5", "2.h5")
        self.assertIn('"potts"', provenance(self.path("all.h5"))["plugins"])
        shutil.move(self.path("plugins"), self.path("moved"))
        said = self.gpumc("merge", "again.h5", "1.h5", "2.h5", code=INVALID).err
        self.assertIn("GPUMC_PLUGIN_PATH", said)
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("moved"))
        self.gpumc("merge", "again.h5", "1.h5", "2.h5")
        self.assertEqual(numeric_datasets(self.path("all.h5")), numeric_datasets(self.path("again.h5")))

    def test_merged_without_the_plugin_of_their_kernel(self):
        """It is not found by name: nothing of it is needed to merge."""
        self.put("potts")
        self.put("still")
        config = BY_PATH.replace("device: cpu", "device: cpu, variant: still").replace("potts.so]", "potts.so, ./plugins/still.so]")
        for seed in 1, 2:
            self.write("c.yaml", config.replace("seed: 7", f"seed: {seed}").replace("potts.h5", f"{seed}.h5"))
            self.gpumc("run", "c.yaml", "--quiet")
        shutil.move(self.path("plugins"), self.path("moved"))
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("moved"))
        self.gpumc("merge", "all.h5", "1.h5", "2.h5")

    def test_in_a_program_that_embeds_the_library(self):
        self.put("potts")
        self.write("c.yaml", BY_PATH)
        pc, = self.prefix.rglob("gpumc.pc")
        flags = output("pkg-config", "--cflags", "--libs", "gpumc", env=dict(os.environ, PKG_CONFIG_PATH=str(pc.parent)))
        library = ["-L", next(self.prefix.rglob("libgpumc.a")).parent]
        output("cc", "-std=c11", self.write("embedding.c", EMBEDDING), "-o", self.path("embedding"), *library,
               "-Wl,--whole-archive", "-lgpumc", "-Wl,--no-whole-archive", "-rdynamic", *flags.split())
        self.assertEqual(output(self.path("embedding"), "c.yaml", cwd=self.directory), "no error: 2 runs\n")

    def test_all_processes_load_it(self):
        # Rank 1 has a search path of its own, as a host may.
        starter = self.path("start")
        starter.write_text(f"""#!/bin/sh
case "$OMPI_COMM_WORLD_RANK$PMI_RANK" in 1) folder=other ;; *) folder=plugins ;; esac
GPUMC_PLUGIN_PATH={self.directory}/$folder exec {PROGRAM} run c.yaml --quiet
""")
        starter.chmod(0o755)
        self.put("potts")
        self.write("c.yaml", POTTS)
        self.gpumc("run", "c.yaml", "--quiet", "-o", "alone.h5",
                   env=self.environment | {"GPUMC_PLUGIN_PATH": str(self.path("plugins"))})
        for kind in mpi.LAUNCHERS:
            for other, code, words in [("potts", 0, ""), ("other", INVALID, "the list of plugins differs"),
                                       (None, INVALID, "model.name")]:
                with self.subTest(kind, other=other):
                    shutil.rmtree(self.path("other"), ignore_errors=True)
                    if other:
                        self.put(other, "other")
                    done = subprocess.run(mpi.command(kind, 2, starter), cwd=self.directory, env=mpi.environment(),
                                          capture_output=True, text=True, timeout=300)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertIn(words, done.stderr)
                    if code == 0:
                        self.assertEqual(*(numeric_datasets(self.path(name)) for name in ("potts.h5", "alone.h5")))
                        self.path("potts.h5").unlink()


if __name__ == "__main__":
    cases.main()
