"""Instructions that CPU kernels take for an update, counted by valgrind: at most 2 % more than benchmarks/instructions.json has.
`tools/count-instructions --record` keeps other counts. CTest: cases 6 s, release"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from support import cases  # noqa: E402
from support.device import PROGRAM  # noqa: E402
from support.sanitizers import SANITIZED  # noqa: E402

TOOL = ROOT / "tools/count-instructions"
loader = importlib.machinery.SourceFileLoader("count_instructions", str(TOOL))
counting = importlib.util.module_from_spec(importlib.util.spec_from_loader("count_instructions", loader))
loader.exec_module(counting)
CONTROL = "multispin", "x86-64-v2"


def why_not():
    """Why nothing can be compared here, or an empty text."""
    if SANITIZED:
        return "sanitizers add instructions"
    if not shutil.which("valgrind"):
        return "valgrind is missing"
    try:
        compiler, levels = counting.build_of(PROGRAM)
    except (counting.CountError, counting.called_gpumc.CallError) as reason:
        return str(reason)
    recorded = counting.read(counting.RECORD)
    return "" if any(key[1] in levels and key[2] == compiler for key in recorded) else f"no counts are recorded for {compiler}"


class Counts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if why_not():
            raise unittest.SkipTest(why_not())
        compiler, levels = counting.build_of(PROGRAM)
        cls.recorded = {key[:2]: count for key, count in counting.read(counting.RECORD).items() if key[1] in levels and key[2] == compiler}

    def test_no_kernel_takes_more(self):
        for name, isa in cases.of(sorted(self.recorded)):
            with self.subTest(case=name, isa=isa):
                found, before = counting.count(PROGRAM, name, isa), self.recorded[name, isa]
                self.assertFalse(counting.is_too_many(found, before), f"{found} instructions an update, recorded are {before}")

    def test_other_lengths_of_the_runs_give_the_same(self):
        """What is counted is an update, not the start of the program; and the control: of a record that is 3 % lower, the same program takes too many."""
        name, isa = CONTROL
        config, _ = counting.CASES[name]
        lengths = [{"algorithm.sweeps": sweeps, "algorithm.interval": sweeps} for sweeps in (20, 120)]
        with unittest.mock.patch.dict(counting.CASES, {name: (config, lengths)}):
            found = counting.count(PROGRAM, name, isa)
        self.assertAlmostEqual(found / self.recorded[CONTROL], 1, delta=0.005)
        self.assertTrue(counting.is_too_many(found, 0.97 * self.recorded[CONTROL]))


class Record(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = os.path.join(holder.name, "counts.json")

    def test_is_of_known_cases_and_in_order(self):
        counts = counting.read(counting.RECORD)
        self.assertEqual({name for name, _, _ in counts}, set(counting.CASES))
        self.assertEqual({isa for _, isa, _ in counts}, set(counting.LEVELS))
        counting.write(self.path, counts)
        self.assertEqual(pathlib.Path(self.path).read_text(), pathlib.Path(counting.RECORD).read_text())

    def test_bounds(self):
        self.assertFalse(counting.is_too_many(1.019, 1.0))
        self.assertTrue(counting.is_too_many(1.021, 1.0))

    def test_damaged_files(self):
        row = {"case": "spin", "isa": "x86-64-v3", "compiler": "GNU 12.2.0", "instructions": 3.0}
        for data in [], {"format": 2, "counts": []}, {"format": 1, "counts": [{}]}, {"format": 1, "counts": [row, row]}, \
                {"format": 1, "counts": [dict(row, instructions=-1)]}:
            pathlib.Path(self.path).write_text(json.dumps(data))
            with self.assertRaisesRegex(counting.CountError, "counts.json: "):
                counting.read(self.path)

    def test_the_tool_records_and_fails(self):
        """With counts that it is given."""
        def tool(count, *words):
            output = io.StringIO()
            with unittest.mock.patch.multiple(counting, count=lambda *_: count, find_program=lambda _: "gpumc", build_of=lambda _: ("GNU 1.0", counting.LEVELS)), \
                    unittest.mock.patch.object(sys, "argv", [str(TOOL), "muca", "--record-file", self.path, *words]), \
                    contextlib.redirect_stdout(output):
                return int(counting.main()), output.getvalue()
        self.assertEqual(tool(100.0)[0], 0, "nothing is recorded yet")
        self.assertEqual(tool(100.0, "--record")[0], 0)
        self.assertEqual(counting.read(self.path), {("muca", isa, "GNU 1.0"): 100.0 for isa in counting.LEVELS})
        self.assertEqual(tool(101.0)[0], 0)
        code, text = tool(103.0)
        self.assertEqual((code, text.count("+3.0 %  too many")), (1, 2), text)


if __name__ == "__main__":
    os.chdir(ROOT)
    program = unittest.main(exit=False)
    if why_not():
        print(f"no instructions were counted: {why_not()}", file=sys.stderr)
    sys.exit(1 if not program.result.wasSuccessful() else 77 if why_not() else 0)
