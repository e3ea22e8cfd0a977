"""Plugins that are refused, before anything of them runs where their file tells; and what plugins may call.

CTest: methods 5 s
"""
import json
import os
import pathlib
import random
import re
import shutil
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases  # noqa: E402
from support.installed import ABI, EXAMPLES, LAYOUT, MODELS, compile_plugin, edited, output  # noqa: E402
from support.outside import BY_PATH, POTTS, Outside  # noqa: E402
from support.program import INVALID, PROGRAM, SMALL  # noqa: E402


def end_of_segments(data):
    """The length from which on a shared object has all that is loaded of it (Elf64_Ehdr, Elf64_Phdr)."""
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    return max(sum(struct.unpack_from("<QQQQ", data, table + i * size + 8)[::3]) for i in range(count))


class Refused(Outside):
    def test_files_that_were_cut_off(self):
        plugin = self.path("plugins/potts.so")
        whole = self.built["loud"].read_bytes()
        end = end_of_segments(whole)
        words = "damaged: the file was cut off; copy or build it again"
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

    def test_damaged_segments(self):
        """The loader follows program headers without a look: it never gets to see damaged ones. What is not refused is whole enough to
        be loaded."""
        plugin, whole = self.path("plugins/potts.so"), self.built["potts"].read_bytes()
        table, = struct.unpack_from("<Q", whole, 32)
        count, = struct.unpack_from("<H", whole, 56)
        self.write("c.yaml", BY_PATH)
        taken = refused = 0
        for number in cases.of(range(120)):
            taken += 1
            rng = random.Random(f"48 {number}")
            damaged = bytearray(whole)
            for _ in range(rng.choice([1, 1, 2, 8])):
                damaged[table + rng.randrange(56 * count)] = rng.randrange(256)
            plugin.write_bytes(damaged)
            process = self.start("validate", "c.yaml", env=self.environment)
            _, err = process.communicate(timeout=60)
            with self.subTest(number=number):
                self.assertIn(process.returncode, [0, INVALID], err)
                if process.returncode != 0:
                    refused += 1
                    self.assertEqual(len(err.splitlines()), 1, err)
                    self.assertIn("potts.so: ", err)
        if taken >= 10:  # one in eight is not refused, and any few may be that
            self.assertGreater(refused, 0)

    def test_what_everyone_can_write_to(self):
        """A plugin, its folder or one above: not loaded, as ssh does not use such keys."""
        plugin = self.put("loud")
        config = BY_PATH.replace("potts.so", "loud.so")
        for path in plugin, self.path("plugins"), self.directory:
            before = path.stat().st_mode
            os.chmod(path, before | 0o002)
            with self.subTest(path=path):
                self.refused(f"everyone can write to {path.resolve()} and so", f"; run chmod o-w {path.resolve()}", config=config)
                self.environment["GPUMC_PLUGIN_PATH"] = str(self.path("plugins"))
                self.refused("everyone can write to", config=POTTS)
                listed = json.loads(self.gpumc("list", "--json").out)["plugins"]
                self.assertEqual([(one["usable"], "everyone can write" in one["why_not"]) for one in listed], [(False, True)])
                del self.environment["GPUMC_PLUGIN_PATH"]
            os.chmod(path, before)
        os.chmod(self.path("plugins"), 0o1777)  # as /tmp: nobody takes away what is another's
        self.write("c.yaml", config)
        self.gpumc("validate", "c.yaml")

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
        self.assertIn(f"shadowed by {first.resolve()}, which is found first", listed["plugins"][1]["why_not"])
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
        self.refused("other headers, in which struct ")
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
        self.refused("no gpumc note")
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
        self.refused("model 'ising2d' is already built into this gpumc", config=POTTS + "plugins: [./ising/ising.so]\n")
        self.put("potts")
        self.put("loud")
        self.refused("model 'potts' is already in the plugin", "potts.so: leave one of them out",
                     config=BY_PATH.replace("potts.so]", "potts.so, ./plugins/loud.so]"))
        self.put("other", "others")
        self.refused("a plugin named 'potts' is already in use",
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


class Exported(Outside):
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
    cases.main()
