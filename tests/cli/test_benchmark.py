"""tools/benchmark: the tables of docs/performance.md are those of benchmarks/results.json, every case is one that the program accepts, and
measurements are kept, continued and reported as the tool says. CTest: cases 6 s, release"""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
import benchmark_cases  # noqa: E402
import benchmark_results as results  # noqa: E402
import benchmark_tables as tables  # noqa: E402
from support import cases  # noqa: E402
from support.program import PROGRAM, ProgramCase  # noqa: E402

TOOL, PAGE, FILE = ROOT / "tools/benchmark", ROOT / "docs/performance.md", ROOT / "benchmarks/results.json"
ROW = {"case": "multispin-64", "device": "cpu", "machine": "A processor", "isa": "x86-64-v3", "threads": 1, "version": "0.2.0",
       "unit": "flips/ns", "median": 2.0, "spread": [1.0, 4.0], "repeats": 3, "values": [4.0, 1.0, 2.0], "commit": "0123abcd",
       "date": "2026-12-01", "compiler": "GNU 12.2.0"}
CARRIED = {name: value for name, value in ROW.items() if name not in results.MEASURED} | {"source": "docs/performance.md"}

HIGHEST = json.loads(subprocess.run([PROGRAM, "doctor", "--json"], check=True, capture_output=True, text=True).stdout)["processor"]["isa"]

# A program with the answers of gpumc: each call of bench is a little faster than the one before, but kernel `spin` fails.
FAKE = """\
#!{python}
import json, pathlib, sys
words, folder = sys.argv[1:], pathlib.Path(__file__).parent
with open(folder / "calls", "a") as file:
    print(*words, file=file)
if words[0] == "doctor":
    print(json.dumps({{"program": {{"version": "0.3.0", "commit": "{commit}", "compiler": "GNU 1.0", "build_type": "{build}"}},
                      "processor": {{"name": "Fake", "isa": "x86-64-v3", "threads": 1}}, "cuda": {{"devices": [], "refusal": "no GPU here"}}}}))
elif words[0] == "run":
    pathlib.Path(words[words.index("-o") + 1]).touch()
elif words[0] == "info":
    print(json.dumps({{"provenance": {{"updates": 6e9, "seconds": 2, "seconds_units": 1, "seconds_iteration": 1}}}}))
elif "spin" in words:
    sys.exit("gpumc: error: spin is out of order")
else:
    count = len((folder / "calls").read_text().splitlines())
    print(json.dumps({{"rates": [{{"rng": "philox4x32-10", "median_flips_per_ns": 1 + count / 100}}]}}))
"""


class Page(unittest.TestCase):
    text = PAGE.read_text(encoding="utf-8")

    def test_its_tables_are_those_of_the_file(self):
        """tools/benchmark --write-tables brings them up to date."""
        self.assertEqual(tables.fill(self.text, results.read(FILE)), self.text)

    def test_another_number_makes_another_page(self):
        rows = results.read(FILE)
        for name in "multispin-64", "packed-65536-R1":
            changed = [dict(row, median=row["median"] * 1.1) if row["case"] == name else row for row in rows]
            self.assertNotEqual(tables.fill(self.text, changed), self.text, name)

    def test_an_edited_table_is_found(self):
        mark = next(mark for mark in tables.MARK.finditer(self.text) if mark[2] == "summary")
        edited = self.text.replace(mark[0], re.sub(r"\d", "7", mark[0]))
        self.assertNotEqual(edited, self.text)
        self.assertEqual(tables.fill(edited, results.read(FILE)), self.text)

    def test_marks_that_are_lost(self):
        for text, message in ((self.text.replace("<!-- table: summary -->\n", ""), "summary"),
                              (self.text + "<!-- table: summary -->\n<!-- end -->\n", "summary"),
                              (self.text + "<!-- table: unknown -->\n<!-- end -->\n", "unknown"),
                              (self.text.replace("<!-- end -->\n", "", 1), "summary has no line <!-- end -->")):
            with self.assertRaisesRegex(tables.TableError, message):
                tables.fill(text, [])

    def test_numbers(self):
        for value, digits, known, text in ((4119.4, 3, None, "4119"), (17.84, 3, None, "17.8"), (0.73, 3, 0.73, "0.73"), (0.999, 2, None, "1.00"),
                                           (16.6, 2, 16.6, "17"), (2.26, 3, None, "2.26")):
            self.assertEqual(tables.number(value, digits, known), text)

    def test_the_newest_version_is_shown_with_its_note(self):
        where = tables.core("A processor", "x86-64-v3")
        table = tables.Table(("", "rate"), (("a", tables.Cell("multispin-64", where)), ("b", tables.Cell("spin-64", where))))
        old, new = dict(CARRIED, version="0.9.0", note="before"), dict(CARRIED, version="0.10.0", median=3.0)
        self.assertEqual(table.text([old]), "| | rate |\n| --- | --- |\n| a | 2.0 \\* |\n| b | |\n\n\\* before\n")
        self.assertEqual(table.text([new, old]), "| | rate |\n| --- | --- |\n| a | 3.0 |\n| b | |\n")


class Results(ProgramCase):
    def read(self, *rows):
        return results.read(self.write("r.json", json.dumps({"format": 1, "rows": rows})))

    def test_the_file_is_in_order_and_of_known_cases(self):
        rows = results.read(FILE)
        self.assertEqual(results.text(rows), FILE.read_text(encoding="utf-8"))
        for row in rows:
            self.assertIn(row["case"], benchmark_cases.BY_NAME)
            self.assertEqual(row["unit"], benchmark_cases.BY_NAME[row["case"]].unit, row["case"])

    def test_mistakes_are_named(self):
        self.assertEqual(self.read(ROW, dict(CARRIED, threads=2)), [ROW, dict(CARRIED, threads=2)])
        for change, message in (
                ({"median": 3.0}, '"median" is 3.0, but the values give 2.0'), ({"spread": [1.0, 3.0]}, r'"spread" is'),
                ({"repeats": 2}, '"repeats" is 2, but the values give 3'), ({"values": []}, '"repeats" is 3, but the values give 0'),
                ({"values": [1.0, -2.0, 4.0]}, "-2.0 is no positive number"), ({"median": "2"}, '"median" has the wrong type'),
                ({"commit": "0123abcd-dirty"}, '"commit" is "0123abcd-dirty"'), ({"unit": "flips"}, '"unit" is "flips", expected one of flips/ns'),
                ({"date": "2026-13-01"}, "expected YYYY-MM-DD"), ({"device": "cuda"}, 'has "isa", which does not belong there'),
                ({"hostname": "x"}, 'has "hostname", which does not belong'), ({"note": "x"}, 'has "note", which does not'),
                ({"version": "0.2"}, '"version" is "0.2"'), ({"threads": True}, '"threads" has the wrong type')):
            with self.assertRaisesRegex(results.ResultsError, rf"r\.json: row 1 \(multispin-64\): .*{message}"):
                self.read(dict(ROW, **change))
        for name in ROW:
            with self.assertRaisesRegex(results.ResultsError, f'row 1.* lacks "{name}"'):
                self.read({key: value for key, value in ROW.items() if key != name})
        with self.assertRaisesRegex(results.ResultsError, "row 2 .*the same case, machine and version as row 1"):
            self.read(ROW, CARRIED)
        for text in "{", "[]", '{"format": 2, "rows": []}':
            with self.assertRaises(results.ResultsError):
                results.read(self.write("r.json", text))

    def test_a_row_replaces_those_of_its_version_only(self):
        old, other = dict(CARRIED, version="0.1.0"), dict(CARRIED, case="a")
        self.assertEqual(results.merged([CARRIED, old, other], [ROW]), [other, old, ROW])
        self.assertEqual(results.measured_row([3.00001, 1, 2])["values"], [3.0, 1, 2])


class Cases(ProgramCase):
    def test_their_names_differ(self):
        self.assertEqual(len(benchmark_cases.BY_NAME), len(benchmark_cases.CASES))
        self.assertEqual([name for name in tables.MAIN if name not in benchmark_cases.BY_NAME], [])

    def test_the_program_measures_them(self):
        """Those that a CPU can do in a moment."""
        quick = [case for case in benchmark_cases.CASES if isinstance(case, benchmark_cases.Bench) and case.cpu is not None]
        for case in cases.of(quick):
            with self.subTest(case=case.name):
                words = [*case.arguments.split(), *case.cpu.split(), "--isa", HIGHEST, "--threads", "1", "--seconds", "0", "--json"]
                self.assertGreater(case.value(json.loads(self.gpumc("bench", *words).out)), 0)

    def test_whole_runs_are_configurations(self):
        for case in benchmark_cases.CASES:
            for extra in (case.cpu, case.cuda) if isinstance(case, benchmark_cases.Run) else ():
                if extra is not None:
                    words = [word for name, value in extra.items() for word in ("--set", f"{name}={value}")]
                    self.gpumc("validate", self.write("c.yaml", json.dumps(case.config)), *words)

    def test_a_short_run_has_what_quantities_need(self):
        config = json.loads(json.dumps(benchmark_cases.BY_NAME["pa-64-R20000-theta-1"].config))
        config["algorithm"].update(population=64)
        self.gpumc("run", self.write("c.yaml", json.dumps(config)), "--quiet", "--threads", 1)
        provenance = json.loads(self.gpumc("info", "result.h5", "--json").out)["provenance"]
        for name in "units", "file", "sweeps", "process":
            self.assertGreater(benchmark_cases.QUANTITIES[name](provenance, 1.0), 0)
        with self.assertRaises(benchmark_cases.CaseError):
            benchmark_cases.BY_NAME["muca-32-converged"].value(provenance, 1.0)


class Tool(ProgramCase):
    def fake(self, commit="0123abcd", build="Release"):
        path = pathlib.Path(self.write("gpumc", FAKE.format(python=sys.executable, commit=commit, build=build)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def tool(self, *words, code=0, program=None):
        done = subprocess.run([sys.executable, TOOL, "--program", program or self.path("gpumc"), "--results", self.path("r.json"), *words],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def calls(self):
        path = self.path("calls")
        found = [line for line in path.read_text().splitlines() if not line.startswith("doctor")] if path.exists() else []
        path.unlink(missing_ok=True)
        return found

    def test_measures_in_turn_keeps_and_continues(self):
        self.fake()
        names = ["multispin-cube-8", "multispin-ea-8"]
        message = self.tool("--only", *names, "--repeats", "3")
        self.assertIn("2 measurements to do on Fake", message)
        self.assertIn("multispin-cube-8, x86-64-v3, threads: 1: 1.04 flips/ns (1.02 to 1.06)", message)
        shapes = [re.search("--model (\\w+)", line)[1] for line in self.calls()]
        self.assertEqual(shapes, ["ising3d", "ea"] * 3, "in turn")
        rows = results.read(self.path("r.json"))
        self.assertEqual([row["case"] for row in rows], names)
        self.assertEqual((rows[0]["values"], rows[0]["version"], rows[0]["commit"]), ([1.02, 1.04, 1.06], "0.3.0", "0123abcd"))
        self.assertTrue(rows[0]["machine"].startswith("Fake"))
        self.assertIn("0 measurements to do", self.tool("--only", *names))
        self.fake("4567abcd")
        self.calls()
        self.assertIn("; before 1.04 at 0123abcd", self.tool("--only", names[0]))
        self.assertEqual([row["commit"] for row in results.read(self.path("r.json"))], ["4567abcd", "0123abcd"])

    def test_a_failure_does_not_lose_the_others(self):
        self.fake()
        message = self.tool("--only", "64-R1", "--repeats", "2", code=1)
        self.assertIn("spin-64-R1, x86-64-v3, 1 thread: failed: exit 1: gpumc: error: spin is out of order", message)
        self.assertEqual([row["case"] for row in results.read(self.path("r.json"))],
                         ["multispin-64-R1", "multispin-cube-64-R1", "multispin-cube-64-R16", "packed-64-R1", "packed-cube-64-R1", "packed-cube-64-R16"])

    def test_whole_runs(self):
        self.fake()
        self.tool("--only", "pa-64-R20000-theta-100", "pt-ea-8-exchange", "muca-32-rate")
        rows = results.read(self.path("r.json"))
        self.assertEqual([(row["case"], row["values"]) for row in rows], [
            ("muca-32-rate", [6.0] * 3), ("pa-64-R20000-theta-100", [3.0] * 3), ("pt-ea-8-exchange-0", [6.0] * 3), ("pt-ea-8-exchange-10", [6.0] * 3)])
        runs = [line.split() for line in self.calls() if line.startswith("run ")]
        self.assertIn("algorithm.iteration.maximum=30", next(words for words in runs if "algorithm.walkers=1024" in words))
        self.assertTrue(all("kernel.isa=x86-64-v3" in words and words[words.index("--threads") + 1] == "1" for words in runs))

    def test_time_is_up(self):
        self.fake()
        self.assertIn("are left for the next call", self.tool("--minutes", "0", code=75))
        self.assertFalse(self.path("r.json").exists())

    def test_only_releases_of_committed_sources_are_kept(self):
        for of, message in (({"commit": "0123abcd-dirty"}, 'is of commit "0123abcd-dirty": numbers are kept of committed sources only'),
                            ({"commit": "unknown"}, 'is of commit "unknown"'), ({"build": "Debug"}, "build of type Debug")):
            self.fake(**of)
            self.assertIn(message, self.tool("--only", "multispin-ea-8", code=1))
            self.assertIn("flips/ns", self.tool("--only", "multispin-ea-8", "--print", "--repeats", "1"))
            self.assertFalse(self.path("r.json").exists())

    def test_what_is_not_there(self):
        self.fake()
        self.assertIn("--device cuda: no GPU here", self.tool("--device", "cuda", code=1))
        self.assertIn("--device gpu: expected cpu, cuda or cuda:N", self.tool("--device", "gpu", code=1))
        self.assertIn("no case has nothing in its name", self.tool("--only", "nothing", code=1))
        self.assertIn("no program", self.tool(program=self.path("none"), code=1))
        self.write("r.json", "[]")
        self.assertIn("r.json: expected an object", self.tool("--only", "multispin-ea-8", code=1))

    def test_rows_of_another_machine(self):
        self.fake()
        self.tool("--only", "multispin-ea-8")
        other = self.write("other.json", results.text([dict(ROW, machine="Another")]))
        self.tool("--merge", other)
        self.assertEqual([row["case"] for row in results.read(self.path("r.json"))], ["multispin-64", "multispin-ea-8"])
        self.assertIn("none.json: no such file", self.tool("--merge", "none.json", code=1))

    def test_tables_of_a_page(self):
        page = self.path("page.md")
        page.write_text(re.sub(r"\d+ \|$", "7 |", PAGE.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
        subprocess.run([sys.executable, TOOL, "--write-tables", page], check=True, capture_output=True)
        marks = {mark[2]: mark[3] for mark in tables.MARK.finditer(page.read_text(encoding="utf-8"))}
        self.assertEqual(marks, {mark[2]: mark[3] for mark in tables.MARK.finditer(PAGE.read_text(encoding="utf-8"))})

    def test_with_the_program_itself(self):
        message = self.tool("--only", "multispin-64-R1", "--seconds", "0.01", "--repeats", "2", "--print", program=PROGRAM)
        self.assertRegex(message, r"multispin-64-R1, \S+, threads: 1: [\d.e-]+ flips/ns \([\d.e-]+ to [\d.e-]+\)")


if __name__ == "__main__":
    os.chdir(ROOT)
    unittest.main()
