"""Plugins: shared objects built against an installed gpumc, found by name or path, checked before anything of them runs,
and recorded in results."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import h5py
import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import mpi  # noqa: E402
from support.attributes import attributes  # noqa: E402
from support.embedding import EMBEDDING  # noqa: E402
from support.gpumc_program import numeric_datasets  # noqa: E402
from support.installed import (ABI, EXAMPLES, LAYOUT, MODELS, build_plugin, compile_plugin, edited, install,  # noqa: E402
                               output)
from support.program import INVALID, PROGRAM, SMALL, STOPPED, ProgramCase  # noqa: E402

POTTS = """\
gpumc: 1
seed: 7
model: {name: potts, shape: [6, 6], q: 3}
algorithm: {name: pa, population: 200, sweeps: 2, runs: 2, beta: {from: 0, to: 1.2, step: 0.1}}
kernel: {device: cpu}
output: potts.h5
"""
BY_PATH = POTTS + "plugins: [./plugins/potts.so]\n"
WALK = """\
gpumc: 1
seed: 7
model: {name: ising2d, shape: [8, 8]}
algorithm: {name: random_walk, steps: 50, step: 0.1, most: 1}
kernel: {device: cpu}
output: walk.h5
"""
# Says that it runs before anybody can ask it not to.
LOUD = """
#include <stdio.h>
__attribute__((constructor)) static void shout(void) { FILE *f = fopen("it-ran", "w"); if (f) fclose(f); }
"""


def end_of_segments(data):
    """The length from which on a shared object has all that is loaded of it (Elf64_Ehdr, Elf64_Phdr)."""
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return max(sum(struct.unpack_from("<QQQQ", data, table + i * size + 8)[::3]) for i in range(count))


def provenance(path):
    with h5py.File(path) as file:
        return attributes(file["provenance"])


class Outside(ProgramCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="gpumc-test-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.prefix = install(cls.folder / "prefix")
        cls.program, = cls.prefix.rglob("bin/gpumc")
        cls.built = {}
        for name in "potts", "random_walk", "rods":
            shutil.copytree(EXAMPLES / name, cls.folder / "own" / name)
            cls.built[name] = build_plugin(cls.prefix, cls.folder / "own" / name, cls.folder / "build" / name)
        loud = cls.folder / "loud"
        shutil.copytree(EXAMPLES / "potts", loud)
        (loud / "loud.c").write_text(LOUD)
        cls.built["loud"] = compile_plugin(cls.prefix, "loud", loud, loud / "potts.c", loud / "frozen.c", loud / "loud.c")
        other = cls.folder / "other"  # the same by other words, and of another version
        shutil.copytree(EXAMPLES / "potts", other)
        cls.built["other"] = compile_plugin(cls.prefix, "potts", other, other / "potts.c", other / "frozen.c", version="2.0")
        kernels = cls.folder / "kernels"  # a kernel for a model of another plugin, and nothing else
        kernels.mkdir()
        (kernels / "still.c").write_text((EXAMPLES / "potts/frozen.c").read_text().replace("frozen", "still"))
        (kernels / "kernels.def").write_text("GPUMC_KERNEL(potts, potts_still)\n")
        cls.built["still"] = compile_plugin(cls.prefix, "still", kernels, kernels / "still.c")

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

    # ---- found, run, recorded ----

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
            done = subprocess.run([self.program, "validate", "c.yaml"], cwd=self.directory, env=self.environment,
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
        self.refused("not known here", "before it", config=both.replace("./plugins/potts.so, ", ""))
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

    # ---- versions ----

    def test_another_version_does_not_continue(self):
        plugin = self.put("potts")
        config = BY_PATH.replace("sweeps: 2", "sweeps: 200")
        self.write("c.yaml", config)
        self.write("whole.yaml", config.replace("potts.h5", "whole.h5"))
        self.gpumc("run", "whole.yaml", "--quiet")
        self.gpumc("run", "c.yaml", "--max-time", "1 ms", code=STOPPED)
        self.put("other")
        said = self.gpumc("run", "c.yaml", code=INVALID).err
        self.assertIn("version 1.0 of plugin potts, this is version 2.0", said)
        self.assertIn("refused", self.gpumc("status", "c.yaml").out)
        self.put("potts")
        with open(plugin, "ab") as file:  # built again, as it were: another checksum of the same version
            file.write(b"\0")
        self.gpumc("run", "c.yaml", "--quiet")
        self.assertEqual(numeric_datasets(self.path("potts.h5")), numeric_datasets(self.path("whole.h5")))
        self.put("other")
        said = self.gpumc("run", "c.yaml", code=INVALID).err
        self.assertIn("version 1.0 of plugin potts, this is version 2.0", said)
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

    # ---- refused ----

    def test_files_that_were_cut_off(self):
        plugin = self.path("plugins/potts.so")
        whole = self.built["loud"].read_bytes()
        end = end_of_segments(whole)
        words = "damaged: the file was cut off: copy or build it again"
        for size in *(end * k // 8 for k in range(1, 8)), end - 1:
            with self.subTest(size=size):
                plugin.write_bytes(whole[:size])
                self.refused(f"{plugin.resolve()}: {words}")
                said = self.gpumc("describe", "potts", "--plugin", plugin, code=INVALID).err
                self.assertIn(words, said)
                self.assertEqual(len(said.splitlines()), 1, said)
                searched = self.environment | {"GPUMC_PLUGIN_PATH": str(plugin.parent)}
                self.assertEqual(json.loads(self.gpumc("list", "--json", env=searched).out)["plugins"], [])
        plugin.write_bytes(self.built["potts"].read_bytes()[:end_of_segments(self.built["potts"].read_bytes())])
        self.write("c.yaml", BY_PATH)
        self.gpumc("validate", "c.yaml")  # nothing is missing that is loaded

    def test_a_name_twice_in_one_plugin(self):
        folder = self.path("twice")
        shutil.copytree(EXAMPLES / "potts", folder)
        (folder / "models.def").write_text("GPUMC_MODEL(potts)\nGPUMC_MODEL(potts)\n")
        compile_plugin(self.prefix, "twice", folder, folder / "potts.c", folder / "frozen.c")
        self.refused("it has model 'potts' twice", config=POTTS + "plugins: [./twice/twice.so]\n")

    def test_a_plugin_that_names_do_not_find(self):
        """One that follows in the search path another that has its names and cannot be used."""
        self.path("first").mkdir()
        first = edited(self.built["potts"], self.path("first/potts.so"), (ABI, b"\x63\0\0\0"))
        second = self.put("potts", "second")
        self.environment["GPUMC_PLUGIN_PATH"] = f"{first.parent}:{second.parent}"
        self.refused("ABI 99", config=POTTS)
        listed = json.loads(self.gpumc("list", "--json").out)
        self.assertEqual([plugin["usable"] for plugin in listed["plugins"]], [False, False])
        self.assertIn("ABI 99", listed["plugins"][0]["why_not"])
        self.assertIn(f"shadowed: names find {first.resolve()} first", listed["plugins"][1]["why_not"])
        self.assertNotIn("potts", [model["name"] for model in listed["models"]])
        first.unlink()
        listed = json.loads(self.gpumc("list", "--json").out)
        self.assertEqual([plugin["usable"] for plugin in listed["plugins"]], [True])

    def test_its_constructor_runs_where_it_is_accepted(self):
        self.put("loud")
        self.write("c.yaml", BY_PATH.replace("potts.so", "loud.so"))
        self.gpumc("validate", "c.yaml")
        self.assertTrue(self.path("it-ran").exists())

    def test_another_abi_is_refused_before_anything_runs(self):
        loud, plugin = self.built["loud"], self.path("plugins/potts.so")
        edited(loud, plugin, (ABI, b"\x63\0\0\0"))
        self.refused("ABI 99", "ABI 1", "build it against the headers")
        edited(loud, plugin, (LAYOUT, b"\xff\xff\0\0"))
        self.refused("other headers", "struct gpumc_algorithm_ops differs", "build it")
        edited(loud, plugin, (LAYOUT + 4 * 300, b"\xff\xff\0\0"))
        self.refused("other headers, where struct ")
        edited(loud, plugin, (ABI + 4, b"\1\0\0\0"))
        self.refused("other headers")
        # By name, the message is that of the plugin that would have it.
        self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
        edited(loud, plugin, (ABI, b"\x63\0\0\0"))
        self.refused("ABI 99", config=POTTS)
        listed = json.loads(self.gpumc("list", "--json").out)
        self.assertEqual([(p["usable"], "ABI 99" in p["why_not"]) for p in listed["plugins"]], [(False, True)])
        self.assertFalse(self.path("it-ran").exists())

    def test_no_plugins(self):
        plugin = self.path("plugins/potts.so")
        self.refused("No such file", "potts.so")
        plugin.write_text("hello")
        self.refused("not a shared object")
        plugin.write_text("")
        self.refused("empty")
        whole = self.built["loud"].read_bytes()
        for size in 3, 40, 100, 600, 2000:
            plugin.write_bytes(whole[:size])
            self.refused(str(plugin.resolve()))
        shutil.copy(PROGRAM, plugin)
        self.refused("no note of gpumc")
        plugin.write_bytes(whole[:18] + b"\xb7\0" + whole[20:])  # e_machine: AArch64
        self.refused("another kind of processor")
        edited(self.built["loud"], plugin, (MODELS, b"\x1b[31m"))
        self.refused("damaged")
        plugin.unlink()
        plugin.mkdir()
        self.refused("directory")
        plugin.rmdir()
        os.mkfifo(plugin)
        self.refused("FIFO")
        self.refused("there is no plugin 'potts.so'", "with a slash", config=POTTS + "plugins: [potts.so]\n")
        self.refused("there is no plugin ''", config=POTTS + "plugins: ['']\n")
        self.refused("plugins", "expected", config=SMALL + "plugins: {a: 1}\n")

    def test_names_that_are_taken(self):
        folder = self.path("ising")
        folder.mkdir()
        source = (EXAMPLES / "potts/potts.c").read_text()
        (folder / "ising.c").write_text(source.replace("gpumc_model_potts", "gpumc_model_ising2d")
                                        .replace('.name = "potts"', '.name = "ising2d"'))
        (folder / "frozen.c").write_text((EXAMPLES / "potts/frozen.c").read_text())
        (folder / "models.def").write_text("GPUMC_MODEL(ising2d)\n")
        compile_plugin(self.prefix, "ising", folder, folder / "ising.c", folder / "frozen.c")
        self.refused("model 'ising2d' is built into this gpumc", config=POTTS + "plugins: [./ising/ising.so]\n")
        self.put("potts")
        self.put("loud")
        self.refused("model 'potts' is in the plugin", "potts.so already",
                     config=BY_PATH.replace("potts.so]", "potts.so, ./plugins/loud.so]"))
        self.put("other", "others")
        self.refused("a plugin named 'potts' is in use already",
                     config=BY_PATH.replace("potts.so]", "potts.so, ./others/potts.so]"))
        self.write("c.yaml", BY_PATH.replace("potts.so]", "potts.so, ./plugins/potts.so]"))
        self.gpumc("validate", "c.yaml")

    def test_tables_with_a_flaw(self):
        folder = self.path("flawed")
        shutil.copytree(EXAMPLES / "potts", folder)
        good = (EXAMPLES / "potts/potts.c").read_text()
        config = POTTS + "plugins: [./flawed/flawed.so]\n"
        for old, new, words in [(".watch = GPUMC_WATCH_ALWAYS", ".watch = GPUMC_WATCH_NEVER", "no mean that is watched"),
                                ('.name = "potts"', '.name = "potz"', "not the one in models.def"),
                                ("model->samples = 1;", "model->samples = 0;", "no sites, portable_bytes or samples")]:
            with self.subTest(words):
                self.assertIn(old, good)
                (folder / "potts.c").write_text(good.replace(old, new))
                compile_plugin(self.prefix, "flawed", folder, folder / "potts.c", folder / "frozen.c")
                self.refused(words, "docs/adding-a-model.md", config=config)

    def test_what_the_headers_do_not_declare_cannot_be_called(self):
        folder = self.path("reaching")
        shutil.copytree(EXAMPLES / "potts", folder)
        (folder / "more.c").write_text("int ising_instance(void); int reach(void); int (*reached)(void) = ising_instance;\n"
                                       "__attribute__((visibility(\"default\"))) int reach(void) { return reached(); }\n")
        compile_plugin(self.prefix, "reaching", folder, folder / "potts.c", folder / "frozen.c", folder / "more.c")
        self.refused("undefined symbol: ising_instance", "installed headers", config=POTTS + "plugins: [./reaching/reaching.so]\n")

    # ---- what plugins may call ----

    def test_exported_is_what_the_installed_headers_declare(self):
        exported = set(re.findall(r" [TDRBV] (\w+)@@GPUMC_PLUGIN_1", output("nm", "-D", "--defined-only", PROGRAM)))
        headers = "".join(path.read_text() for path in (self.prefix / "include").rglob("*.h"))
        declared = set(re.findall(r"\b(?:gpumc|lattice)_\w+\b", headers))
        self.assertEqual(exported - declared, set())
        self.assertEqual({"gpumc_recorder_number", "gpumc_update_choices", "lattice_cpu_create"} - exported, set())
        own = {name for name in re.findall(r" [TDRB] (\w+)", output("nm", "-D", "--defined-only", PROGRAM))
               if name.startswith(("gpumc_", "lattice_", "cli_", "ising", "main"))}
        self.assertEqual({name for name in own - exported if name not in ("main",)}, set())
        # All functions that the headers declare are there, those too that the program does not use.
        functions = set(re.findall(r"\b((?:gpumc|lattice)_\w+)\(", re.sub(r"(?s)/\*.*?\*/", "", headers)))
        library, = self.prefix.rglob("libgpumc.a")
        defined = set(re.findall(r" T (\w+)", output("nm", "--defined-only", library)))
        self.assertEqual(functions & defined - exported, set())


if __name__ == "__main__":
    unittest.main()
