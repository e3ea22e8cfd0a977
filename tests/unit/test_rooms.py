"""The house: rooms in their order, no circles, a core that knows no plugin, and folders of a size to be read.

Four rules hold for src/ (CONTRIBUTING.md):
  includes  an include goes down the list of rooms, models and algorithms don't include each other, and headers make no
            circle. Only the lists of plugins, *.def, may be included from anywhere.
  objects   object files that call each other make no circle. The registry may name every plugin: its table is the only
            way up.
  words     src/core has no word of a model, a kernel or an algorithm, in code or in comments.
  folders   a folder has at most thirty files.

What breaks a rule today stands in rooms_known.py, which may only shrink: what is new fails, and so does a line that is
no longer needed. `test_rooms.py --known` prints what that file has to say about the tree as it is.
"""
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("GPUMC_BUILD", ROOT / "build/release"))

# From the ground up. Rooms of one line stand side by side: neither includes the other.
STOREYS = [["core/base"], ["core/processes"], ["core/numerics"], ["core/config"], ["core/statistics"], ["core/device"],
           ["core/storage"], ["core/simulation"], ["core/plugins"], ["core/run"], ["models/lattice", "algorithms/chains"], ["models", "algorithms"], ["cli", "mpi", "nccl", "plugin"]]
GENERATED = {"build_info.h"}  # written by cmake
SUFFIXES = {".c", ".h", ".cu", ".cuh", ".def"}
FILES_OF_A_FOLDER = 30

# Words of models, kernels and algorithms; names of plugins come from the .def lists.
WORDS = {
    "ising": "ising", "spin": "spins?", "bond": "bonds?", "potts": "potts", "heisenberg": "heisenberg",
    "disk": "disks?", "overlap": "overlap(?:s|ped|ping)?", "tile": "til(?:e|es|ed|ing|ings)",
    "multispin": "multispin", "packed": "packed", "checkerboard": "checkerboards?",
    "metropolis": "metropolis", "heat bath": r"heat[\s_*-]*baths?",
    "family": "famil(?:y|ies)", "population": "populations?", "resample": "resampl(?:e|es|ed|ing)",
    "annealing": "anneal(?:s|ed|ing)?", "tempering": "tempering(?:s)?", "walker": "walkers?",
}
# Ordinary uses of those words: the medium of storage, what a library does at exit, the halves of a vector,
# the one way in which a text is written, and notes in ELF files.
ORDINARY = {
    "disk": [r"the disk\b", r"disk_plan(?![a-z])"],
    "spin": [r"(?:crashes|complains) or spins\b"],
    "packed": [r"halves are packed\b"],
    "canonical": [r"canonical json\b"],
    "pt": [r"pt_(?:note|load|dynamic|tls|gnu_relro|gnu_eh_frame|gnu_property|phdr)\b"],
}


def sources(tree):
    return sorted(p for p in (tree / "src").rglob("*") if p.suffix in SUFFIXES)


def name(tree, path):
    return path.relative_to(tree / "src").as_posix()


def storey(file):
    """The storey of a file of src/ and its room; the longest prefix decides."""
    rooms = [(room, n) for n, rooms in enumerate(STOREYS) for room in rooms if file.startswith(room + "/")]
    return max(rooms, key=lambda r: len(r[0]))[::-1] if rooms else (None, None)


def circles(edges):
    """The strongly connected components of more than one node, by Tarjan's algorithm without recursion."""
    index, low, stack, found = {}, {}, [], []
    for root in sorted(edges):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = stack[stack.index(node):]
                    del stack[len(stack) - len(members):]
                    if len(members) > 1:
                        found.append(" ".join(sorted(members)))
    return sorted(found)


def check_includes(tree):
    """{"core/a/x.c includes core/b/y.h": 1}: includes that go up or across, and circles of headers."""
    found, edges = {}, collections.defaultdict(set)
    for path in sources(tree):
        file = name(tree, path)
        level, room = storey(file)
        if level is None:
            if path.suffix != ".def":
                found[f"{file} is in no room"] = 1
            continue
        for include in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', path.read_text(), re.M):
            if include in GENERATED or include.endswith(".def"):
                continue
            target = next((t.resolve() for t in (path.parent / include, tree / "src" / include) if t.is_file()), None)
            if target is None or not target.is_relative_to((tree / "src").resolve()):
                found[f"{file} includes {include}, which is not in src"] = 1
                continue
            other = name(tree.resolve(), target)
            below, its_room = storey(other)
            if below is None or below > level or (below == level and its_room != room):
                found[f"{file} includes {other}"] = 1
            edges[file].add(other)
    found.update({f"circle of includes: {c}": 1 for c in circles(edges)})
    return found


def symbols(objects):
    """What the objects define and what they need: {symbol: source}, {source: symbols}."""
    defined, needed = {}, collections.defaultdict(set)
    paths = sorted(objects)
    text = subprocess.run(["nm", "-A", *map(str, paths)], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        match = re.match(r"(.*\.o):\s*(?:[0-9a-fA-F]+)?\s+(\w) (\S+)", line)
        if match is None:
            continue
        source, kind, symbol = objects[pathlib.Path(match[1])], match[2], match[3]
        if kind == "U":
            needed[source].add(symbol)
        elif kind in "TDBRCG":
            defined[symbol] = source
    return defined, needed


def objects_of(tree, build):
    """The objects of the library and of the program: {path: source}. Those of removed sources may still lie there."""
    found = {}
    for path in build.glob("CMakeFiles/gpumc*.dir/src/**/*.o"):
        source = path.as_posix().split(".dir/src/", 1)[1].removesuffix(".o")
        if (tree / "src" / source).is_file():
            found[path] = source
    return found


def objects_for_gpus(tree, objects, folder):
    """The objects of a build with CUDA, as far as the C compiler makes them: of a build without, those that stand in for
    GPUs left out, and host code for GPUs compiled into `folder`. What is in *.cu is not seen."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    found = {path: source for path, source in objects.items() if not source.endswith("_without_cuda.c")}
    for number, path in enumerate(sorted([*(tree / "src").rglob("*_gpu.c"), *(tree / "src").rglob("cuda_*.c")])):
        source = name(tree, path)
        if source not in objects.values():
            made = pathlib.Path(folder) / f"{number}.o"
            done = subprocess.run([*compiler, "-D_GNU_SOURCE", "-O1", "-w", "-I", str(tree / "src"), "-c", str(path), "-o",
                                   str(made)], capture_output=True, text=True)
            if done.returncode == 0:  # some include the toolkit's headers, which may not be here
                found[made] = source
            elif not re.search(r"cuda\w*\.h: No such file", done.stderr):
                raise AssertionError(done.stderr)
    return found


def check_objects(tree, build):
    """{"a.c b.c": 1}: circles of object files, in the build as it is and with CUDA; the levels of an instruction set
    count as one file."""
    objects = objects_of(tree, build)
    if not objects:
        raise AssertionError(f"{build} has no object files: build gpumc_program first")
    with tempfile.TemporaryDirectory() as folder:
        return circles_of_objects(objects) | circles_of_objects(objects_for_gpus(tree, objects, folder))


def circles_of_objects(objects):
    defined, needed = symbols(objects)
    edges = collections.defaultdict(set)
    for source, wanted in needed.items():
        for symbol in wanted:
            other = defined.get(symbol, source)
            up = source == "core/simulation/registry.c" and other.startswith(("models/", "algorithms/"))
            if other != source and not up:
                edges[source].add(other)
    return {c: 1 for c in circles(edges)}


def words_of(tree):
    """The words that the core may not have, with the names of the plugins in the tree."""
    words = dict(WORDS)
    for listed in (tree / "src").glob("*/*.def"):
        for plugin in re.findall(r"^GPUMC_\w+\((\w+)\)", listed.read_text(), re.M):
            words.setdefault(plugin, plugin)
    return words


def check_words(tree):
    """{"core/a/x.c: spin": 3}: how often a file of the core has a word of a plugin, its name included."""
    found = collections.Counter()
    # Between words stand anything but letters and digits, underscores included.
    patterns = {word: re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", re.I)
                for word, pattern in words_of(tree).items()}
    ordinary = {word: re.compile("|".join(phrases), re.I) for word, phrases in ORDINARY.items()}
    for path in sources(tree):
        file = name(tree, path)
        if not file.startswith("core/"):
            continue
        lines = re.sub(r'^[ \t]*#[ \t]*include[ \t]*"[^"]+\.def"', "", path.read_text(), flags=re.M)
        text = path.name + "\n" + re.sub(r"[ \t\n]+(?:\*[ \t]+)?", " ", lines)  # comments run on over lines
        for word, pattern in patterns.items():
            rest = ordinary[word].sub(" ", text) if word in ordinary else text
            count = len(pattern.findall(rest))
            if count:
                found[f"{file}: {word}"] = count
    return dict(found)


def check_folders(tree):
    """{"core/storage": 45}: folders with too many files."""
    count = collections.Counter(pathlib.PurePosixPath(name(tree, p)).parent.as_posix() for p in sources(tree))
    return {folder: n for folder, n in count.items() if n > FILES_OF_A_FOLDER}


CHECKS = {"includes": lambda: check_includes(ROOT), "objects": lambda: check_objects(ROOT, BUILD),
          "words": lambda: check_words(ROOT), "folders": lambda: check_folders(ROOT)}


def compare(known, found, may_be_absent=lambda entry: False, within=lambda entry, known: False):
    """What a developer has to do, one line a difference; none where `known` says what was found. What is
    `within` a known entry is not new."""
    lines = [f"new: {entry} ({n}, known {known.get(entry, 0)})" for entry, n in sorted(found.items())
             if n > known.get(entry, 0) and not any(within(entry, other) for other in known)]
    lines += [f"better than rooms_known.py says, lower it there: {entry} ({found.get(entry, 0)}, known {n})"
              for entry, n in sorted(known.items()) if found.get(entry, 0) < n and not may_be_absent(entry)]
    return lines


def part_of_circle(circle, larger):
    return set(circle.split()) < set(larger.split())


def print_known():
    print('"""What breaks the rules of test_rooms.py today. Remove lines and lower numbers, never the reverse."""')
    print("KNOWN = {")
    for rule, check in CHECKS.items():
        print(f'    "{rule}": {{')
        for entry, n in sorted(check().items()):
            parts = entry.split(" ") if rule == "objects" else [entry]
            for part in parts[:-1]:
                print(f'        "{part} "')
            print(f'        "{parts[-1]}": {n},')
        print("    },")
    print("}")


class Rooms(unittest.TestCase):
    maxDiff = None

    def hold(self, rule, *exceptions):
        from rooms_known import KNOWN
        lines = compare(KNOWN[rule], CHECKS[rule](), *exceptions)
        self.assertEqual(lines, [], "\n" + "\n".join(lines))

    def test_includes_go_down(self):
        self.hold("includes")

    def test_objects_make_no_circle(self):
        # Without CUDA no *.cu is compiled, so that some circles are smaller or not seen.
        built = set(objects_of(ROOT, BUILD).values())
        self.hold("objects", lambda entry: not built.issuperset(entry.split()), part_of_circle)

    def test_core_has_no_word_of_a_plugin(self):
        self.hold("words")

    def test_folders_are_small(self):
        self.hold("folders")


class Planted(unittest.TestCase):
    """Each rule finds what breaks it, in a tree that is sound before."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name).resolve()
        self.build = self.tree / "build"
        self.write("core/base/error.h", "/* Brings it to the disk. */\nint base_error(void);\n")
        self.write("core/base/error.c", '#include "core/base/error.h"\nint base_error(void) { return 0; }\n')
        self.write("core/run/run.h", "int run(void);\n")
        self.write("core/run/run.c", '#include "core/base/error.h"\n#include "core/run/run.h"\n'
                   "int run(void) { return base_error(); }\n")
        self.write("models/models.def", "GPUMC_MODEL(gas)\n")
        self.write("models/lattice/lattice.h", "")
        self.write("models/gas/gas.h", '#include "models/lattice/lattice.h"\n')
        self.write("models/gas/gas.c", '#include "core/base/error.h"\n#include "models/gas/gas.h"\n'
                   "int plugin(void) { return base_error(); }\n")
        self.write("algorithms/chains/chains.h", "")
        self.write("algorithms/walk/walk.h", '#include "algorithms/chains/chains.h"\n')
        self.write("core/simulation/registry.c", '#include "models/models.def"\nint plugin(void);\n'
                   "int registry(void) { return plugin(); }\n")
        self.assertEqual([check_includes(self.tree), check_words(self.tree), check_folders(self.tree)], [{}, {}, {}])

    def write(self, file, text):
        path = self.tree / "src" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def compile(self):
        for source in (self.tree / "src").rglob("*.c"):
            if source.name.endswith("_gpu.c"):
                continue  # as in a build without CUDA
            folder = self.build / "CMakeFiles/gpumc.dir" / source.relative_to(self.tree).parent
            folder.mkdir(parents=True, exist_ok=True)
            text = source.read_text().replace('#include "models/models.def"', "")
            done = subprocess.run([os.environ.get("CC", "cc"), "-I", str(self.tree / "src"), "-x", "c", "-c", "-", "-o",
                                   str(folder / (source.name + ".o"))], input=text, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        return check_objects(self.tree, self.build)

    def test_include_upwards(self):
        self.write("core/base/error.c", '#include "core/run/run.h"\n')
        self.assertEqual(check_includes(self.tree), {"core/base/error.c includes core/run/run.h": 1})

    def test_include_upwards_by_a_relative_path(self):
        self.write("core/base/error.c", '  #  include "../run/run.h"\n')
        self.assertEqual(check_includes(self.tree), {"core/base/error.c includes core/run/run.h": 1})

    def test_core_includes_a_model(self):
        self.write("core/run/run.c", '#include "models/lattice/lattice.h"\n')
        self.assertEqual(check_includes(self.tree), {"core/run/run.c includes models/lattice/lattice.h": 1})

    def test_lattice_includes_a_model(self):
        self.write("models/lattice/grid.c", '#include "models/gas/gas.h"\n')
        self.assertEqual(check_includes(self.tree), {"models/lattice/grid.c includes models/gas/gas.h": 1})

    def test_chains_include_an_algorithm(self):
        self.write("algorithms/chains/series.c", '#include "algorithms/walk/walk.h"\n')
        self.assertEqual(check_includes(self.tree), {"algorithms/chains/series.c includes algorithms/walk/walk.h": 1})

    def test_models_and_algorithms_include_each_other(self):
        self.write("models/gas/gas.c", '#include "algorithms/walk/walk.h"\n')
        self.write("algorithms/walk/walk.c", '#include "models/gas/gas.h"\n')
        self.assertEqual(check_includes(self.tree), {"models/gas/gas.c includes algorithms/walk/walk.h": 1,
                                                     "algorithms/walk/walk.c includes models/gas/gas.h": 1})

    def test_circle_of_headers(self):
        self.write("core/base/a.h", '#include "core/base/b.h"\n')
        self.write("core/base/b.h", '#include "core/base/a.h"\n')
        self.assertEqual(check_includes(self.tree), {"circle of includes: core/base/a.h core/base/b.h": 1})

    def test_include_of_no_file_and_file_of_no_room(self):
        self.write("core/base/error.c", '#include "core/base/lost.h"\n')
        self.write("core/attic/old.c", "")
        self.assertEqual(check_includes(self.tree), {
            "core/base/error.c includes core/base/lost.h, which is not in src": 1, "core/attic/old.c is in no room": 1})

    def test_circle_of_objects(self):
        self.assertEqual(self.compile(), {})
        self.write("core/base/error.c", "int third(void);\nint base_error(void) { return third(); }\n")
        self.write("core/base/third.c", "int run(void);\nint third(void) { return run(); }\n")
        self.assertEqual(self.compile(), {"core/base/error.c core/base/third.c core/run/run.c": 1})

    def test_circle_through_data(self):
        self.write("core/base/error.c", "extern const int *const table;\nint base_error(void) { return *table; }\n")
        self.write("core/base/table.c", "int base_error(void);\nstatic const int n = 1;\nconst int *const table = &n;\n"
                   "int (*const calls)(void) = base_error;\n")
        self.assertEqual(self.compile(), {"core/base/error.c core/base/table.c": 1})

    def test_circle_that_only_a_build_with_cuda_has(self):
        self.write("core/base/error.c", "int device(void);\nint base_error(void) { return device(); }\n")
        self.write("core/base/device_without_cuda.c", "int device(void) { return 0; }\n")
        self.write("core/base/device_gpu.c", "int base_error(void);\nint device(void) { return base_error(); }\n")
        self.assertEqual(self.compile(), {"core/base/device_gpu.c core/base/error.c": 1})

    def test_host_code_for_gpus_that_does_not_compile(self):
        self.write("core/base/device_gpu.c", "#include <cuda_toolkit_only.h>\n")
        self.assertEqual(self.compile(), {})
        self.write("core/base/device_gpu.c", "int device(void) { return unknown; }\n")
        with self.assertRaisesRegex(AssertionError, "unknown"):
            self.compile()

    def test_only_the_registry_names_plugins(self):
        self.write("models/gas/gas.c", "int registry(void);\nint plugin(void) { return registry(); }\n")
        self.write("core/simulation/registry.c", "int plugin(void);\nint registry(void) { return plugin(); }\n")
        self.assertEqual(self.compile(), {})
        self.write("core/simulation/other.c", "int plugin(void);\nint other(void) { return plugin(); }\n")
        self.write("models/gas/gas.c", "int other(void);\nint plugin(void) { return other(); }\n")
        self.assertEqual(self.compile(), {"core/simulation/other.c models/gas/gas.c": 1})

    def test_words_of_plugins(self):
        for text, word in [("int n_spins;", "spin"), ("GPUMC_TILED", "tile"), ("/* of a heat\n * bath */", "heat bath"),
                           ("heat_bath()", "heat bath"), ("/* Hard disks. */", "disk"), ("/* a disk */", "disk"),
                           ("#include \"models/ising/x.h\"", "ising"), ("resampling", "resample"),
                           ("FAMILIES", "family"), ("/* an ideal gas */", "gas"), ("overlap[2]", "overlap"),
                           ("packed", "packed"), ("/* waits or spins */", "spin")]:
            self.write("core/run/word.c", text)
            self.assertEqual(check_words(self.tree), {f"core/run/word.c: {word}": 1}, text)

    def test_every_word_is_found(self):
        self.assertEqual(set(WORDS) & {"gas"}, set())
        for word in WORDS:
            self.write("core/run/word.c", f"/* One {word}. */\nint gpumc_{word.replace(' ', '_')}_of;\n")
            self.assertEqual(check_words(self.tree), {f"core/run/word.c: {word}": 2}, word)

    def test_word_in_the_name_of_a_file(self):
        self.write("core/run/tiling.c", "")
        self.assertEqual(check_words(self.tree), {"core/run/tiling.c: tile": 1})

    def test_ordinary_words(self):
        self.write("core/run/word.c", "spinning SPINCOUNT temperature(s) forced to the disk, crashes or spins\n"
                   "/* believes it and complains\n * or spins */ sample, tolerant, unpacked, similarly, textile\n"
                   "canonical JSON\n")
        self.write("algorithms/algorithms.def", "GPUMC_ALGORITHM(canonical)\n")
        self.assertEqual(check_words(self.tree), {})

    def test_large_folder(self):
        for i in range(FILES_OF_A_FOLDER + 1):
            self.write(f"algorithms/many/file{i}.c", "")
        self.assertEqual(check_folders(self.tree), {"algorithms/many": FILES_OF_A_FOLDER + 1})

    def test_known_only_shrinks(self):
        self.assertEqual(compare({"a": 2}, {"a": 2}), [])
        for known, found in [({}, {"a": 1}), ({"a": 2}, {"a": 3}), ({"a": 2}, {"a": 1}), ({"a": 2}, {})]:
            self.assertEqual(len(compare(known, found)), 1)
        self.assertEqual(compare({"a": 1}, {}, lambda entry: True), [])
        for larger, lines in [("a b c", 1), ("a b", 0), ("a c d", 2)]:  # smaller now, as it was, another one
            self.assertEqual(len(compare({larger: 1}, {"a b": 1}, lambda entry: False, part_of_circle)), lines, larger)


if __name__ == "__main__":
    if sys.argv[1:] == ["--known"]:
        print_known()
    else:
        unittest.main()
